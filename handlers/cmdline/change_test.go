package cmdline_test

import (
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
	want := require.Value(ml.Sense(t.Context(), d, ml.DefaultSpec(), nil))(t)
	band := filepath.Join(t.TempDir(), "band.svg")
	got := printed[ml.Sensitivity](t, "change", file, "--plot", band)
	require.Equal(t, cmp.Diff(want, &got, cmpopts.IgnoreFields(ml.Sensitivity{}, "Model", "Sampled")), "", "diff")
	svg, err := os.ReadFile(band)
	require.Check(t, err == nil && strings.Contains(string(svg), "30 bootstrap samples"), "%v: %.100s", err, svg)
	text := must(t, "change", file)
	for _, word := range []string{"gamma", fmt.Sprintf("%d of %d tried", len(want.Removals), want.SupportVectors), fmt.Sprintf("\n%d ", want.Removals[0].Row), "Under 30 bootstrap samples"} {
		require.Says(t, strings.ReplaceAll(text, "\n ", "\n"), word, "the table")
	}
}
