package cmdline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// What would change a result is on the terminal what the library says.
func TestChange(t *testing.T) {
	t.Parallel()
	d, file := moons(t, 40)
	want, err := ml.Sense(t.Context(), d, ml.DefaultSpec(), nil)
	require.NoError(t, err)
	band := filepath.Join(t.TempDir(), "band.svg")
	var got ml.Sensitivity
	require.NoError(t, json.Unmarshal([]byte(must(t, "change", file, "--json", "--plot", band)), &got))
	require.Equal(t, cmp.Diff(want, &got, cmpopts.IgnoreFields(ml.Sensitivity{}, "Model", "Sampled")), "", "diff")
	svg, err := os.ReadFile(band)
	require.Check(t, err == nil && strings.Contains(string(svg), "30 bootstrap samples"), "%v: %.100s", err, svg)
	text := must(t, "change", file)
	for _, word := range []string{"gamma", fmt.Sprintf("%d of %d tried", len(want.Removals), want.SupportVectors), fmt.Sprintf("\n%d ", want.Removals[0].Row), "Under 30 bootstrap samples"} {
		if !strings.Contains(strings.ReplaceAll(text, "\n ", "\n"), word) {
			t.Errorf("%q is missing in %s", word, text)
		}
	}
	for args, word := range map[string]string{"--learner mcm": "take an SVM", "--plot a.eps": "ends in .svg, .png or .pdf"} {
		o := run(t.Context(), "", append([]string{"change", file}, strings.Fields(args)...)...)
		require.Check(t, o.code != 0 && strings.Contains(o.err, word), "%s: %d %s", args, o.code, o.err)
	}
}
