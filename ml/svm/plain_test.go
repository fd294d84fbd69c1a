package svm

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

type bare struct{ Matrix }

// plainSolver is a textbook solver of the dual: full matrix in double precision, most violating
// pair, no shrinking, and only the gradient is updated. It returns the dual objective.
func plainSolver(k mltest.Matrix, y []float64, c, tol float64) float64 {
	m := len(y)
	u, g := make([]float64, m), append([]float64{}, y...)
	for {
		i, j := -1, -1
		for p := range m {
			if u[p] < max(0, c*y[p]) && (i < 0 || g[p] > g[i]) {
				i = p
			}
			if u[p] > min(0, c*y[p]) && (j < 0 || g[p] < g[j]) {
				j = p
			}
		}
		if i < 0 || j < 0 || g[i]-g[j] <= tol {
			break
		}
		step := (g[i] - g[j]) / max(k.At(i, i)+k.At(j, j)-2*k.At(i, j), 1e-12)
		step = min(step, max(0, c*y[i])-u[i], u[j]-min(0, c*y[j]))
		u[i] += step
		u[j] -= step
		for p := range m {
			g[p] -= step * (k.At(p, i) - k.At(p, j))
		}
	}
	var sum float64
	for p := range m {
		sum += u[p] * (y[p] + g[p]) / 2
	}
	return sum
}

// The plain solver agrees on problems large enough for single precision and shrinking.
func TestPlainSolver(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		m := rapid.SampledFrom([]int{10, 20, 20, 60, 60, 150, 520}).Draw(t, "m")
		copies := rapid.Bool().Draw(t, "copies")
		scaled := rapid.Bool().Draw(t, "scaled")
		x, y, c := mat.NewDense(m, 2, nil), make([]float64, m), make([]float64, m)
		for i := range m {
			y[i] = float64(2*(i%2) - 1)
			x.SetRow(i, []float64{r.NormFloat64() + 0.7*y[i], r.NormFloat64()})
			if copies && i > 0 && r.IntN(3) == 0 {
				x.SetRow(i, x.RawRowView(r.IntN(i)))
			}
			c[i] = 0.5 + r.Float64()
		}
		g := kernel.NewGram(kernel.RBF(rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "gamma")), x)
		if scaled {
			g = g.Scaled(c)
		}
		price := rapid.SampledFrom([]float64{0.1, 1, 10}).Draw(t, "C")
		const tol = 1e-3
		k := full(g)
		want := plainSolver(k, y, price, tol/10)
		for name, matrix := range map[string]Matrix{"fast": g, "rows only": bare{g}} {
			res, err := Train(t.Context(), matrix, y, Settings{C: price, Tol: tol, CacheBytes: 1 << 20})
			require.Must(t, err == nil && res.Status == trace.Converged, "%s: %v, %v", name, res, err)
			verify(t, res, k, y, price, tol)
			require.Near(t, res.Dual, want, 1e-4*want, "%s: objective, and the plain solver's", name)
		}
	})
}

// TestHandOver continues in double precision after single precision has failed.
func TestHandOver(t *testing.T) {
	t.Parallel()
	x, y := moons(600, 0.3)
	k := kernel.NewGram(kernel.RBF(1), x)
	want := train(t, k, y, Settings{C: 10, Tol: 1e-9})
	s := Settings{C: 10, Tol: 1e-9}
	require.NoError(t, check(k, y, &s))
	o := newState(k, y, s.C, &monitor{Monitor: trace.Monitor{Context: t.Context(), Limit: s.MaxIter}, total: len(y)})
	rough := s
	rough.Tol = 0.1
	if status, err := path[float32](k, o, rough); err != nil || status != trace.Converged {
		t.Fatalf("single precision: %s, %v", status, err)
	}
	status, err := path[float64](k, o, s)
	require.Must(t, err == nil && status == trace.Converged, "double precision: %s, %v", status, err)
	relative(t, "objective", o.result(status).Dual, want.Dual, 1e-10)
}
