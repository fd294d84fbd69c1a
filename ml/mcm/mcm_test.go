package mcm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

func gram(x [][]float64, k func(x, z []float64) float64) mltest.Matrix {
	return mltest.Symmetric(len(x), func(i, j int) float64 { return k(x[i], x[j]) })
}

var linear = kernel.Linear().Eval

func rbf(gamma float64) func(x, z []float64) float64 { return kernel.RBF(gamma).Eval }

func standardise(x [][]float64) {
	m := mat.NewDense(len(x), len(x[0]), slices.Concat(x...))
	mltest.Standardise(m)
	for i := range x {
		copy(x[i], m.RawRowView(i))
	}
}

// rel returns the difference of a and b relative to max(1, |b|).
func rel(a, b float64) float64 { return math.Abs(a-b) / max(1, math.Abs(b)) }

func TestReference(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Data, Learner string
		Kernel        struct {
			Type         string
			Gamma, Coef0 float64
			Degree       int
		}
		C, Rho   float64
		RankTol  float64 `json:"rank_tol"`
		Positive string
		N        int
		Expect   struct {
			Objective, H, L1 float64
			SlackSum         float64 `json:"slack_sum"`
			Rank             int
			Accuracy         float64 `json:"train_accuracy"`
		}
	}
	require.NoError(t, json.NewDecoder(mltest.OpenShared(t, "reference", "solutions.json")).Decode(&rows))
	seen := 0
	for _, c := range rows {
		if c.Learner != "mcm" {
			continue
		}
		seen++
		t.Run(fmt.Sprintf("%s/%s/gamma=%g/C=%g/rho=%g", c.Data, c.Kernel.Type, c.Kernel.Gamma, c.C, c.Rho), func(t *testing.T) {
			t.Parallel()
			x, y := mltest.TwoClasses(t, c.Data, c.Positive)
			mltest.Standardise(x)
			kern := kernel.Kernel{Name: c.Kernel.Type, Values: param.Values{
				"gamma": param.Of(c.Kernel.Gamma), "coef0": param.Of(c.Kernel.Coef0), "degree": param.Of(c.Kernel.Degree),
			}}
			k := mltest.Symmetric(len(y), func(i, j int) float64 { return kern.Eval(x.RawRowView(i), x.RawRowView(j)) })
			p := problem{"", k, y, mcm.Settings{C: c.C, Rho: c.Rho, RankTol: c.RankTol}}
			r := train(t, k, y, p.set)
			require.Check(t, r.Status == trace.Converged, "status %s, gap %g", r.Status, r.Gap)
			p.check(t, r)
			near := func(what string, got, want, tol float64) {
				t.Helper()
				require.Check(t, rel(got, want) <= tol, "%s %.10g, want %.10g", what, got, want)
			}
			near("objective", r.Objective, c.Expect.Objective, 1e-6)
			near("h", r.H, c.Expect.H, 1e-4)
			near("sum of slacks", r.SlackSum, c.Expect.SlackSum, 1e-4)
			if c.Rho > 0 {
				near("sum |lambda|", r.L1, c.Expect.L1, 1e-4)
			} else if r.Rank != c.Expect.Rank {
				t.Errorf("rank %d, want %d", r.Rank, c.Expect.Rank)
			}
			right := 0.0
			for i, f := range r.F {
				if (f >= 0) == (y[i] > 0) {
					right++
				}
			}
			near("accuracy", right/float64(len(y)), c.Expect.Accuracy, 1e-9)
		})
	}
	require.Check(t, seen != 0, "no reference rows")
}

// With a kernel near the identity the machine interpolates, which takes few steps rather than one per point.
func TestNearIdentity(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	const m = 300
	x := lists.Make(m, func(int) []float64 { return []float64{100 * r.NormFloat64(), 100 * r.NormFloat64()} })
	y := lists.Make(m, func(i int) float64 { return float64(1 - i%2*2) })
	for _, rho := range []float64{0.001, 0.05} {
		res, err := mcm.Train(t.Context(), gram(x, rbf(1)), y, mcm.Settings{C: 1, Rho: rho})
		require.NoError(t, err)
		require.Check(t, res.Status == trace.Converged && res.Gap <= 1e-9 && res.Iterations < m/5,
			"rho %g: %s after %d iterations, gap %g", rho, res.Status, res.Iterations, res.Gap)
	}
}
