package mcm_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/mcm"
	"marginlab/ml/trace"
)

// problem is a random training problem.
type problem struct {
	name string
	k    full
	y    []float64
	set  mcm.Settings
}

func randomProblem(rng *rand.Rand) problem {
	m := 2 + rng.IntN(40)
	d := 1 + rng.IntN(4)
	x := make([][]float64, m)
	y := make([]float64, m)
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			x[i][j] = rng.NormFloat64()
		}
		y[i] = 1
		if rng.IntN(2) == 0 {
			y[i] = -1
		}
		x[i][0] += rng.Float64() * 2 * y[i]
	}
	name := ""
	if rng.IntN(4) == 0 { // copies, some with the other label
		name += "duplicates "
		for i := range m / 2 {
			copy(x[i], x[m-1-rng.IntN(m/2+1)])
		}
	}
	if rng.IntN(6) == 0 {
		name += "constant column "
		for i := range x {
			x[i][d-1] = 3
		}
	}
	if rng.IntN(6) == 0 {
		name += "grid "
		for i := range x {
			for j := range x[i] {
				x[i][j] = math.Round(x[i][j])
			}
		}
	}
	if rng.IntN(5) == 0 {
		name += "one against all "
		for i := range y {
			y[i] = -1
		}
	}
	y[0], y[1] = 1, -1
	logUniform := func(lo, hi float64) float64 {
		return math.Exp(math.Log(lo) + rng.Float64()*math.Log(hi/lo))
	}
	gamma := logUniform(1e-4, 1e3)
	kernel := rbf(gamma)
	switch rng.IntN(6) {
	case 2:
		kernel = func(x, z []float64) float64 { return math.Tanh(0.5*dot(x, z) - 0.3) }
		name += "sigmoid"
	case 0:
		kernel = linear
		name += "linear"
	case 1:
		kernel = poly(0.5, 1, 2+rng.IntN(2))
		name += "poly"
	default:
		name += fmt.Sprintf("rbf %.2g", gamma)
	}
	if rng.IntN(3) > 0 {
		standardise(x)
	}
	set := mcm.Settings{C: logUniform(1e-6, 1e6), RankTol: logUniform(1e-6, 0.1)}
	if rng.IntN(2) == 0 {
		set.Rho = logUniform(1e-3, 10)
	}
	if rng.IntN(8) == 0 {
		set.C = math.Inf(1)
	}
	name += fmt.Sprintf(" M=%d C=%.2g rho=%.2g tol=%.2g", m, set.C, set.Rho, set.RankTol)
	return problem{name, gram(x, kernel), y, set}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	bad, nsep := 0, 0
	iter := 0
	for seed := range uint64(4000) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 7)))
		r, err := mcm.Train(context.Background(), p.k, p.y, p.set)
		if err != nil && math.IsInf(p.set.C, 1) {
			nsep++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		iter += r.Iterations
		if r.Status != trace.Converged {
			bad++
			t.Logf("seed %d %s: %s gap %.3g obj %g dual %g l1 %g rank %d iter %d", seed, p.name, r.Status, r.Gap, r.Objective, r.DualObjective, r.L1, r.Rank, r.Iterations)
		}
	}
	t.Log(bad, nsep, iter)
}
