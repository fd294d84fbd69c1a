package mcm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// Results of a Follower for ascending and descending C pass the checks and equal those of Train.
func TestFollower(t *testing.T) {
	t.Parallel()
	numerical, trained := 0, 0
	cold, warm := 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 11))
		p := randomProblem(rng, 40)
		c := math.Pow(10, -3+4*rng.Float64())
		interior := 0 // default
		if rng.IntN(3) == 0 {
			interior = 5
		}
		var f mcm.Follower
		for _, factor := range []float64{0.01, 0.1, 1, 2, 100, 1, 0.1} {
			p.set.C = c * factor
			set := p.set
			if interior > 0 {
				set = set.WithInterior(interior)
			}
			r, err := f.Train(t.Context(), p.k, p.y, set)
			require.Must(t, err == nil, "seed %d, %s, C = %g: %v", seed, p.name, p.set.C, err)
			p.check(t, r)
			one := require.Value(mcm.Train(t.Context(), p.k, p.y, set))(t)
			require.Check(t, math.Abs(r.Objective-one.Objective) <= 3e-8*max(1, one.Objective) || one.Status != trace.Converged,
				"C = %g: objective %.12g, by itself %.12g", p.set.C, r.Objective, one.Objective)
			cold, warm, trained = cold+one.Iterations, warm+r.Iterations, trained+1
			if r.Status == trace.Numerical {
				numerical++
			}
			require.Must(t, !t.Failed(), "seed %d, C = %g, interior %d: %s", seed, p.set.C, interior, p.name)
		}
	}
	require.Check(t, numerical <= trained/50 && warm < cold,
		"%d of %d in numerical trouble; %d iterations, %d without a basis to go on from", numerical, trained, warm, cold)
	t.Logf("%d iterations, %d by themselves; %d of %d in numerical trouble", warm, cold, numerical, trained)
}

// BenchmarkFollower trains at seven C, with a Follower and separately.
func BenchmarkFollower(b *testing.B) {
	for _, c := range []struct {
		n          int
		gamma, rho float64
	}{{250, 0.1, 0}, {1000, 0.1, 0}, {250, 1, 0}, {1000, 1, 0}, {250, 1, 0.01}, {1000, 1, 0.01}} {
		x, y := moons(c.n, rand.New(rand.NewPCG(1, 1)))
		k := gram(x, rbf(c.gamma))
		for _, how := range []string{"alone", "following"} {
			b.Run(fmt.Sprintf("n=%d/gamma=%g/rho=%g/%s", c.n, c.gamma, c.rho, how), func(b *testing.B) {
				for b.Loop() {
					pivots := 0
					var f mcm.Follower
					for e := -2.0; e <= 4; e++ {
						if how == "alone" {
							f = mcm.Follower{}
						}
						r, err := f.Train(b.Context(), k, y, mcm.Settings{C: math.Pow(10, e), Rho: c.rho})
						require.Must(b, err == nil && r.Status == trace.Converged, "%v %v", r, err)
						pivots += r.Iterations
					}
					b.ReportMetric(float64(pivots), "iterations")
				}
			})
		}
	}
}
