package lessons_test

import (
	"math"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

func TestTeX(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 0.5: "0.5", -3: "-3", 1e-12: "0", 5.961e-8: `5.961 \cdot 10^{-8}`, -2.5e7: `-2.5 \cdot 10^{7}`,
		math.Inf(1): `\infty`, math.Inf(-1): `-\infty`,
	} {
		require.Equal(t, lessons.TeX(v), want, "TeX(%v)", v)
	}
	for v, want := range map[float64]string{2: "2", -0.25: `-\tfrac{1}{4}`, 0.6789: "0.679", 1.23456e-7: `1.23 \cdot 10^{-7}`} {
		require.Equal(t, lessons.TeXFraction(v), want, "TeXFraction(%v)", v)
	}
}
