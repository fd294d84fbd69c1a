package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// others returns the points below m that are not held out.
func others(m int, held []int) []int {
	return lists.Where(m, func(i int) bool { return !slices.Contains(held, i) })
}

// Each C of a path is a training on the remaining points: KKT conditions, objective and f.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, kern, y, _ := problem(t)
		if rapid.IntRange(0, 9).Draw(t, "many") == 0 { // enough for single precision
			x, y = moons(520, 0.3)
			kern = kernel.RBF(rapid.SampledFrom([]float64{0.1, 1, 10, 100}).Draw(t, "gamma"))
		}
		k := kernel.NewGram(kern, x)
		m := len(y)
		held := rapid.SliceOfNDistinct(rapid.IntRange(0, m-1), 0, m/2, rapid.ID[int]).Draw(t, "held")
		rest := others(m, held)
		yr := lists.At(y, rest)
		tol := rapid.SampledFrom([]float64{1e-3, 1e-6}).Draw(t, "tol")
		cs := rapid.SampledFrom([][]float64{{0.01, 0.1, 1, 10, 100, 1000}, {1}, {1e-3, 1e3}, {2, 2, 3}}).Draw(t, "C")
		var matrix Matrix = k
		if rapid.Bool().Draw(t, "tabulated") {
			var err error
			matrix, err = Tabulated(context.Background(), k, 1<<30)
			require.NoError(t, err)
		}
		results, err := HeldOut(context.Background(), matrix, y, held, cs, Settings{Tol: tol})
		if !slices.Contains(yr, 1) || !slices.Contains(yr, -1) {
			require.Must(t, err != nil && strings.Contains(err.Error(), "held out"), "a class is missing: %v", err)
			return
		}
		require.Must(t, err == nil && len(results) == len(cs), "%d results for %d C, %v", len(results), len(cs), err)
		whole := full(k)
		sub := full(k.Subset(rest))
		for a, r := range results {
			require.Must(t, r.Status == trace.Converged, "C = %g: %s, violation %g", cs[a], r.Status, r.KKTViolation)
			alone := *r
			alone.Alpha, alone.F = make([]float64, len(rest)), make([]float64, len(rest))
			for b, i := range rest {
				alone.Alpha[b], alone.F[b] = r.Alpha[i], r.F[i]
			}
			verify(t, &alone, sub, yr, cs[a], tol)
			for _, i := range held {
				f := r.B
				for j, v := range r.Alpha {
					f += whole.At(i, j) * v * y[j]
				}
				require.Must(t, r.Alpha[i] == 0 && math.Abs(f-r.F[i]) <= 1e-9*(1+math.Abs(f)+cs[a]),
					"C = %g: point %d held out has alpha %g and f %g, want 0 and %g", cs[a], i, r.Alpha[i], r.F[i], f)
			}
			one := require.Value(Train(context.Background(), sub, yr, Settings{C: cs[a], Tol: tol}))(t)
			require.Must(t, kern.Name == "sigmoid" || math.Abs(one.Dual-r.Dual) <= 2*tol*cs[a]*float64(len(yr))+1e-9,
				"C = %g: objective %g, by itself %g", cs[a], r.Dual, one.Dual)
		}
	})
}

// f on held-out points equals f of a separate training, which a tight tol and a ridge determine.
func TestHeldOutDecisions(t *testing.T) {
	t.Parallel()
	x, y := moons(200, 0.3)
	g := kernel.NewGram(kernel.RBF(20), x)
	held := []int{3, 4, 50, 51, 52, 120, 199}
	rest, whole := others(len(y), held), full(g)
	yr := lists.At(y, rest)
	cs := []float64{0.1, 1, 10, 1000}
	results := require.Value(HeldOut(t.Context(), g, y, held, cs, Settings{Tol: 1e-9}))(t)
	for a, r := range results {
		one := train(t, g.Subset(rest), yr, Settings{C: cs[a], Tol: 1e-9})
		for _, i := range held {
			f := one.B
			for b, j := range rest {
				f += whole.At(i, j) * one.Alpha[b] * yr[b]
			}
			require.Near(t, r.F[i], f, 1e-5, "C = %g: f of point %d", cs[a], i)
		}
	}
}

// TestHeldOutMerged starts from merged points, some of which consist of held-out points only.
func TestHeldOutMerged(t *testing.T) {
	t.Parallel()
	x, y := moons(2400, 0.2)
	k := kernel.NewGram(kernel.RBF(1), x)
	held := lists.Where(len(y), func(i int) bool { return x.At(i, 0) > 1.2 || i%5 == 0 })
	rest := others(len(y), held)
	yr := lists.At(y, rest)
	results := require.Value(HeldOut(t.Context(), k, y, held, []float64{1, 50}, Settings{}))(t)
	for a, c := range []float64{1, 50} {
		one := train(t, k.Subset(rest), yr, Settings{C: c})
		require.Check(t, results[a].Status == trace.Converged && results[a].KKTViolation <= 1e-3,
			"C = %g: %s, violation %g", c, results[a].Status, results[a].KKTViolation)
		relative(t, "objective", results[a].Dual, one.Dual, 1e-4)
	}
}

// TestHeldOutStops ends a path by its context and by the iteration limit.
func TestHeldOutStops(t *testing.T) {
	t.Parallel()
	x, y := moons(1200, 0.3)
	k := kernel.NewGram(kernel.RBF(1), x)
	cs := []float64{1, 10, 100}
	ctx, cancel := context.WithCancel(t.Context())
	results, err := HeldOut(ctx, k, y, []int{0}, cs, Settings{Tol: 1e-9, Recorder: func(trace.Step) { cancel() }})
	require.Check(t, err == nil && len(results) != 0 && len(results) != 3 && results[len(results)-1].Status == trace.Cancelled,
		"%d results, %v; want the last one cancelled", len(results), err)
	results, err = HeldOut(t.Context(), k, y, []int{0}, cs, Settings{Tol: 1e-9, MaxIter: 100})
	require.Must(t, err == nil && len(results) == 3, "%d results, %v", len(results), err)
	for a, r := range results {
		require.Check(t, r.Status == trace.IterationLimit && r.Iterations <= 100*(a+1),
			"C = %g: %s after %d iterations in all", cs[a], r.Status, r.Iterations)
		for i, v := range r.Alpha {
			require.Check(t, v <= cs[a], "alpha[%d] = %g is above C = %g", i, v, cs[a])
		}
	}
	for _, cs := range [][]float64{nil, {2, 1}, {1, math.Inf(1)}, {0, 1}, {math.NaN()}} {
		require.Fails(t, require.Err(HeldOut(t.Context(), k, y, nil, cs, Settings{})), "C is", "C %v", cs)
	}
}

// TestTabulated checks that all rows of the matrix are held, or none.
func TestTabulated(t *testing.T) {
	t.Parallel()
	for _, m := range []int{5, 520} {
		x, _ := moons(m, 0.3)
		k := kernel.NewGram(kernel.RBF(1), x)
		got := require.Value(Tabulated(t.Context(), k, 1<<30))(t)
		f, ok := got.(*table)
		require.Must(t, ok && (f.single != nil) == (m == 520),
			"%d points: %T, single precision %v", m, got, ok && f.single != nil)
		points := []int{3, 0, 4}
		sub := rows.Subset(f, points)
		want, row, part, single := make([]float64, m), make([]float64, m), make([]float64, 3), make([]float32, 3)
		for i := range m {
			k.Row(want, i)
			f.Row(row, i)
			require.Must(t, slices.Equal(row, want), "row %d is not that of the matrix", i)
		}
		for a, i := range points {
			k.Row(want, i)
			sub.Row(part, a)
			rows.Row(sub, single, a)
			for b, j := range points {
				require.Must(t, part[b] == want[j] && single[b] == float32(want[j]),
					"entry %d, %d of a part is %g and %g, want %g", a, b, part[b], single[b], want[j])
			}
		}
		sum, total := make([]float64, m), make([]float64, m)
		w := []float64{1, -2, 0.5}
		values := require.Value(k.AddProduct(t.Context(), sum, points, w))(t)
		added := require.Value(f.AddProduct(t.Context(), total, points, w))(t)
		require.Check(t, values == m*len(points) && added == values/2, "work %d and %d", values, added)
		for i, v := range sum {
			require.Must(t, math.Abs(v-total[i]) <= 1e-14, "product %d is %g, want %g", i, total[i], v)
		}
	}
	x, _ := moons(520, 0.3)
	k := kernel.NewGram(kernel.RBF(1), x)
	got, err := Tabulated(t.Context(), k, 1<<20)
	require.Check(t, err == nil && got == Matrix(k), "too little memory gives %T, %v", got, err)
	ctx := mltest.Ended()
	_, err = Tabulated(ctx, k, 1<<30)
	require.Check(t, err == context.Canceled, "an ended context gives %v", err)
	r := rand.New(rand.NewPCG(1, 1))
	large := mat.NewDense(3, 1, []float64{1e60 * r.Float64(), 2, 1e170})
	_, err = Tabulated(t.Context(), kernel.NewGram(kernel.Polynomial(1, 0, 3), large), 1<<30)
	require.Check(t, err != nil && strings.Contains(err.Error(), "scale the inputs"), "an infinite value gives %v", err)
}
