package cmdline_test

import (
	"path/filepath"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
)

// What generate writes is what fit reads, whatever the generator.
func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, g := range dataset.Generators {
		path := filepath.Join(t.TempDir(), g.Name+".csv")
		must(t, "generate", g.Name, "--n", "24", "--seed", "3", "--out", path)
		fit := []string{"fit", "--kernel", kernel.For(g.Kind).Name, "--data"}
		if g.Name == "sine" || g.Name == "hill" {
			fit = []string{"fit", "--target", "value", "--learner", "ridge", "--data"}
		}
		must(t, append(fit, path)...)
		o := run(t.Context(), must(t, "generate", g.Name, "--n", "24"), append(fit, "-")...)
		require.Check(t, o.code == 0, "%s: %s", g.Name, o.err)
	}
	require.Says(t, must(t, "generate", "--help"), "dna", "help of generate")
}
