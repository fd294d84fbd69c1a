package mcm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// Both methods must find the same optimum with a certificate.
func TestInteriorAgainstSimplex(t *testing.T) {
	t.Parallel()
	const problems = 250
	numerical, inseparable := 0, 0
	for seed := range uint64(problems) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 11)), 50)
		p.set.Rho = 0
		simplex, err := mcm.Train(context.Background(), p.k, p.y, p.set)
		p.set = p.set.WithInterior(1)
		interior, other := mcm.Train(context.Background(), p.k, p.y, p.set)
		require.Must(t, errors.Is(other, err), "%s: %v, but %v from the interior", p.name, err, other)
		if err != nil {
			inseparable++
			continue
		}
		p.check(t, interior)
		if simplex.Status != trace.Converged || interior.Status != trace.Converged {
			numerical++
		} else if rel(interior.Objective, simplex.Objective) > 2e-8 {
			t.Errorf("%s: objective %.12g, %.12g by the simplex method", p.name, interior.Objective, simplex.Objective)
		}
		require.Must(t, !t.Failed(), "seed %d", seed)
	}
	require.Check(t, numerical <= problems/50 && inseparable != 0,
		"%d of %d problems ended in numerical trouble, %d not separable", numerical, problems, inseparable)
}

// Ranks near M and M/2, for both forms of the projection, and inseparable duplicates.
func TestInteriorForms(t *testing.T) {
	t.Parallel()
	x, y := moons(250, rand.New(rand.NewPCG(3, 1)))
	copy(x[0], x[1]) // labels alternate in moons
	for _, gamma := range []float64{2, 15, 150} {
		for _, c := range []float64{1e-3, 1, 1e6} {
			p := problem{fmt.Sprintf("gamma=%g C=%g", gamma, c), gram(x, rbf(gamma)), y, mcm.Settings{C: c, RankTol: 1e-3}}
			want := train(t, p.k, y, p.set.WithInterior(len(y)))
			p.set = p.set.WithInterior(1)
			r := train(t, p.k, y, p.set)
			p.check(t, r)
			require.Check(t, rel(r.Objective, want.Objective) <= 2e-8,
				"%s: objective %.12g, %.12g by the simplex method", p.name, r.Objective, want.Objective)
			again := train(t, p.k, y, p.set)
			require.Check(t, again.Objective == r.Objective && slices.Equal(again.Lambda, r.Lambda), "%s: another run gives another result", p.name)
		}
	}
}
