package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"

	"marginlab/ml/simd"
)

// TestGaps compares the loops of every level of this machine with those in Go, whole and
// in parts, and a string alone with one among others.
func TestGaps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	text := func(n int) []float64 {
		s := lists.Make(n, func(i int) float64 { return float64("ACGT∑"[r.IntN(4)]) })
		return s
	}
	for k := 2; k <= 6; k++ {
		var some, others [][]float64
		for l := range wide - 1 {
			some, others = append(some, text(3*l)), append(others, text(50-2*l))
		}
		x, z := packTexts(others, endOfX), packTexts(some, endOfZ)
		for _, decay := range []float64{0.3, 1} {
			var want [wide]float64
			plainGaps(&want, make([]float64, (k-1)*len(z)), x, z, k, decay)
			for _, level := range simd.Levels() {
				for _, first := range []int{0, 1, 20} {
					var got [wide]float64
					b := make([]float64, (k-1)*len(z))
					gapsAt(level, &got, b, x[:first*wide], z, k, decay)
					gapsAt(level, &got, b, x[first*wide:], z, k, decay)
					for l, v := range want {
						require.Check(t, math.Abs(got[l]-v) <= 1e-12*v,
							"%v, k = %d, decay = %g, string %d: %g, want %g", level, k, decay, l, got[l], v)
					}
				}
				alone := packTexts(some[9:10], endOfZ)
				var one, all [wide]float64
				gapsAt(level, &one, make([]float64, (k-1)*len(alone)), packTexts(others[9:10], endOfX), alone, k, decay)
				gapsAt(level, &all, make([]float64, (k-1)*len(z)), x, z, k, decay)
				require.Check(t, one[0] == all[9] && one[0] != 0,
					"%v, k = %d: %g alone, %g among others", level, k, one[0], all[9])
			}
		}
	}
}
