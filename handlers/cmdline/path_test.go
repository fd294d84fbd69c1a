package cmdline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// The path on the terminal equals the library's, in numbers, lines and pictures.
func TestPath(t *testing.T) {
	t.Parallel()
	d, file := moons(t, 40)
	want := require.Value(ml.Regularise(t.Context(), d, ml.DefaultSpec(), nil))(t)
	dir := t.TempDir()
	alphas, shares := filepath.Join(dir, "alphas.svg"), filepath.Join(dir, "shares.png")
	got := printed[ml.Regularisation](t, "path", "--data", file, "--plot", alphas, "--plot-shares", shares)
	require.Equal(t, cmp.Diff(want, &got), "", "diff")
	svg, err := os.ReadFile(alphas)
	require.Check(t, err == nil && strings.Contains(string(svg), "alpha / C"), "%v: %.100s", err, svg)
	png, err := os.ReadFile(shares)
	require.Check(t, err == nil && strings.HasPrefix(string(png), "\x89PNG"), "%v: %.10q", err, png)
	text := must(t, "path", "--data", file)
	require.Check(t, strings.Contains(text, fmt.Sprintf("Entry points: %d.", len(want.Entries))) && strings.Contains(text, fmt.Sprintf("  %d ", want.Entries[0].Row)),
		"%v", text)
}
