package mcm_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// moons returns two interleaved half circles with noise.
func moons(n int, rng *rand.Rand) (x [][]float64, y []float64) {
	for i := range n {
		t := math.Pi * rng.Float64()
		p, label := []float64{math.Cos(t), math.Sin(t)}, 1.0
		if i%2 == 1 {
			p, label = []float64{1 - math.Cos(t), 0.5 - math.Sin(t)}, -1
		}
		for j := range p {
			p[j] += 0.25 * rng.NormFloat64()
		}
		x, y = append(x, p), append(y, label)
	}
	standardise(x)
	return x, y
}

type lazy struct {
	x     [][]float64
	gamma float64
}

func (k lazy) Len() int         { return len(k.x) }
func (k lazy) Diag(int) float64 { return 1 }
func (k lazy) Row(dst []float64, i int) {
	f := rbf(k.gamma)
	for j := range dst {
		dst[j] = f(k.x[i], k.x[j])
	}
}

func BenchmarkTrain(b *testing.B) {
	for _, c := range []struct {
		n          int
		gamma, rho float64
	}{
		{250, 0.1, 0},
		{1000, 0.1, 0},
		{5000, 0.1, 0},
		{250, 1, 0},
		{1000, 1, 0},
		{5000, 1, 0},
		{250, 1, 0.01},
		{1000, 1, 0.01},
		{5000, 1, 0.01},
	} {
		b.Run(fmt.Sprintf("n=%d/gamma=%g/rho=%g", c.n, c.gamma, c.rho), func(b *testing.B) {
			x, y := moons(c.n, rand.New(rand.NewPCG(1, 1)))
			for b.Loop() {
				r, err := mcm.Train(context.Background(), lazy{x, c.gamma}, y, mcm.Settings{C: 1, Rho: c.rho})
				require.Must(b, err == nil && r.Status == trace.Converged, "%v %v", r, err)
				b.ReportMetric(float64(r.Iterations), "pivots")
				b.ReportMetric(float64(r.Rank), "rank")
				b.ReportMetric(float64(r.SupportVectors), "SVs")
			}
		})
	}
}
