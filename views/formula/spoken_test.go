package formula_test

import (
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/formula"
)

func TestSpoken(t *testing.T) {
	t.Parallel()
	for tex, want := range map[string]string{
		`\eta = 0.05`:                    "η = 0.05",
		`(w, b)`:                         "(w, b)",
		`\alpha_i > 0`:                   "α sub i > 0",
		`\phi(\mathbf x)^\top`:           "ϕ (x) to the ⊤",
		`R_{\text{emp}}`:                 "R sub emp",
		`h_{\text{MCM}}^2`:               "h sub MCM to the 2",
		`\frac{R}{\Delta}`:               "R over Δ",
		`1/\sqrt{\sum_i\alpha_i}`:        "1 / root of ∑ sub i α sub i",
		`\lVert\mathbf w\rVert^2`:        "‖ w ‖ to the 2",
		`\sum_{i=1}^n x_i \in \mathbb R`: "∑ sub i = 1 to the n x sub i ∈ R",
	} {
		got, err := formula.Spoken(tex)
		require.Check(t, err == nil && got == want, "%s: %q, %v; want %q", tex, got, err, want)
	}
	require.Fails(t, require.Err(formula.Spoken(`\nonsense`)), "nonsense", "an unknown command")
}
