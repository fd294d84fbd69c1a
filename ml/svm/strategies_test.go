package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// The strategies, each with the setting that disables it.
var turnedOff = []struct {
	name string
	off  without
}{
	{"all on", without{}},
	{"single", without{single: true}},
	{"wide", without{wide: true}},
	{"parts", without{parts: true}},
	{"start", without{start: true}},
	{"newton", without{newton: true}},
	{"near", without{near: true}},
	{"none on", without{true, true, true, true, true, true}},
}

// Optional methods used by package rows.
type (
	definer   interface{ Definite() bool }
	rounder   interface{ Row32(dst []float32, i int) }
	subsetter interface{ Subset(points []int) Matrix }
)

// lacking returns the matrix with all optional methods and with all but one.
func lacking(g *kernel.Gram) map[string]Matrix {
	return map[string]Matrix{
		"everything": g,
		"Row32": struct {
			Matrix
			definer
			subsetter
			multiplier
			multiplier32
			merger
		}{g, g, g, g, g, g},
		"Subset": struct {
			Matrix
			definer
			rounder
			multiplier
			multiplier32
			merger
		}{g, g, g, g, g, g},
		"AddProduct": struct {
			Matrix
			definer
			rounder
			subsetter
			merger
		}{g, g, g, g, g},
		"AddProduct32": struct {
			Matrix
			definer
			rounder
			subsetter
			multiplier
			merger
		}{g, g, g, g, g, g},
		"Merged": struct {
			Matrix
			definer
			rounder
			subsetter
			multiplier
			multiplier32
		}{g, g, g, g, g, g},
		"all": struct {
			Matrix
			definer
		}{g, g},
	}
}

// TestEachStrategyOff disables one strategy at a time: the solution is the same.
func TestEachStrategyOff(t *testing.T) {
	t.Parallel()
	x, y := moons(2400, 0.3)
	g := kernel.NewGram(kernel.RBF(2), x)
	const c, tol = 100, 1e-3
	want := train(t, g, y, Settings{C: c, Tol: tol})
	same := func(t *testing.T, r *Result) {
		t.Helper()
		if bound := tol * c * 2400; math.Abs(r.Dual-want.Dual) > bound || r.Primal-r.Dual > bound || r.KKTViolation > tol {
			t.Errorf("dual %g, primal %g, violation %g; want %g", r.Dual, r.Primal, r.KKTViolation, want.Dual)
		}
		relative(t, "dual", r.Dual, want.Dual, 1e-4)
	}
	for _, s := range turnedOff {
		t.Run("without "+s.name, func(t *testing.T) {
			t.Parallel()
			same(t, train(t, g, y, Settings{C: c, Tol: tol, without: s.off}))
		})
	}
	for name, k := range lacking(g) {
		t.Run("without the method "+name, func(t *testing.T) {
			t.Parallel()
			same(t, train(t, k, y, Settings{C: c, Tol: tol}))
		})
	}
}

// TestWide trains on points of many columns: the solution equals the one from rows computed one by
// one, the table has its memory from the row cache, and a cancelled context ends it.
func TestWide(t *testing.T) {
	t.Parallel()
	const m, columns = 560, 300
	r := rand.New(rand.NewPCG(9, 1))
	x, y := mat.NewDense(m, columns, nil), make([]float64, m)
	x.Apply(func(int, int, float64) float64 { return r.NormFloat64() }, x)
	for i := range y {
		y[i] = math.Copysign(1, x.At(i, 0)+x.At(i, 1)*x.At(i, 2)+0.3*r.NormFloat64())
	}
	for _, k := range []kernel.Kernel{kernel.RBF(0.003), kernel.Linear(), kernel.Sigmoid(0.003, -0.5)} {
		g := kernel.NewGram(k, x)
		for _, c := range []float64{0.1, 100} {
			got, want := train(t, g, y, Settings{C: c}), train(t, g, y, Settings{C: c, without: without{wide: true}})
			verify(t, got, full(g), y, c, 1e-3)
			if rows.Definite(g) {
				relative(t, "dual", got.Dual, want.Dual, 1e-4)
			}
		}
	}
	g := kernel.NewGram(kernel.RBF(0.003), x)
	testTogether[float32](t, g, y)
	testTogether[float64](t, g, y)
	res := require.Value(Train(mltest.Ended(), g, y, Settings{C: 1}))(t)
	require.Equal(t, res.Status, trace.Cancelled, "status in an ended context")
	x.Set(3, 0, 1e170)
	require.Fails(t, require.Err(Train(t.Context(), kernel.NewGram(kernel.Polynomial(1, 1, 3), x), y, Settings{C: 1})), "scale the inputs", "an infinite value")
}

// testTogether compares a table computed during a training, and its parts, with the kernel.
func testTogether[T rows.Real](t *testing.T, g Matrix, y []float64) {
	t.Helper()
	ctx, m, size := t.Context(), g.Len(), 8
	if _, ok := any(T(0)).(float32); ok {
		size = 4
	}
	start := func(room int) *smo[T] {
		memory := rows.NewMemory[T](nil, 2*m, int64(size*room*rows.Padded(m)))
		t.Cleanup(memory.Free)
		return newSMO(g, newState(g, y, 1, newMonitor(ctx, m, Settings{MaxIter: 1000, Tol: 1e-3})), memory)
	}
	require.Equal(t, start(m+m/32-1).together, math.MaxInt, "rows before a table without room for parts")
	o := start(m + m/32)
	status, err := o.climb(1e-3, 200)
	require.Must(t, err == nil && status == trace.IterationLimit && o.rows.Whole != nil && o.computed <= m/wideOf+2,
		"after 200 steps: %v, %v, %d rows computed by themselves", status, err, o.computed)
	points := []int{7, 500, 0, 130}
	single, double := make([]float32, m), make([]float64, m)
	check := func(k Matrix, points []int) {
		t.Helper()
		n := len(points)
		got, held, want := make([]float64, n), make([]float32, n), make([]float64, n)
		sum, all := make([]float64, n), make([]float64, n)
		for a, i := range points {
			g.Row(double, i)
			rows.Round(single, double)
			k.Row(got, a)
			rows.Row(k, held, a)
			for b, j := range points {
				want[b] = double[j]
				require.Must(t, got[b] == double[j] && held[b] == single[j], "entry %d, %d is %g and %g, want %g", i, j, got[b], held[b], double[j])
			}
			floats.AddScaled(all, float64(a)-2, want)
			_, err := addProduct32(ctx, k, sum, []int{a}, []float64{float64(a) - 2})
			require.NoError(t, err)
		}
		require.Check(t, floats.EqualApprox(sum, all, 1e-6*float64(n*n)), "product %v, want %v", sum[:3], all[:3])
	}
	whole := make([]int, m)
	for i, row := range o.rows.Whole {
		whole[i] = i
		g.Row(double, i)
		for j, v := range double {
			require.Must(t, row[j] == T(v), "row %d, entry %d", i, j)
		}
	}
	check(o.k, whole)
	part := rows.Subset(o.k, points)
	check(part, points)
	check(rows.Subset(part, []int{3, 1, 0}), []int{130, 500, 7})
}

// BenchmarkStrategies measures the benefit of each strategy where it is used.
func BenchmarkStrategies(b *testing.B) {
	for _, p := range []struct {
		n        int
		gamma, c float64
	}{{1000, 1, 10}, {1000, 1, 10000}, {4000, 1, 1}, {4000, 10, 100}} {
		x, y := moons(p.n, 0.3)
		g := kernel.NewGram(kernel.RBF(p.gamma), x)
		for _, s := range turnedOff {
			b.Run(fmt.Sprintf("n=%d/gamma=%g/C=%g/without %s", p.n, p.gamma, p.c, s.name), func(b *testing.B) {
				for b.Loop() {
					train(b, g, y, Settings{C: p.c, without: s.off})
				}
			})
		}
		bare := lacking(g)
		for _, name := range []string{"Row32", "Subset", "AddProduct", "Merged", "all"} {
			b.Run(fmt.Sprintf("n=%d/gamma=%g/C=%g/without the method %s", p.n, p.gamma, p.c, name), func(b *testing.B) {
				for b.Loop() {
					train(b, bare[name], y, Settings{C: p.c})
				}
			})
		}
	}
}

// The tolerance of a single-precision solution holds for math.Exp and sums in double precision.
func TestToleranceInDouble(t *testing.T) {
	t.Parallel()
	const n, gamma, tol = 2400, 2, 1e-3
	x, y := moons(n, 0.3)
	k := mltest.Symmetric(n, func(i, j int) float64 {
		d := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
		return math.Exp(-gamma * d * d)
	})
	for _, c := range []float64{1, 100} {
		r := train(t, kernel.NewGram(kernel.RBF(gamma), x), y, Settings{C: c, Tol: tol})
		require.Must(t, singleSuits(n, 1) && c*0x1p-24 <= tol/100, "C = %g: steps are not in single precision", c)
		violation, gap, rounding := judge(t, k, y, c, r)
		require.Check(t, violation <= tol+rounding && gap <= tol*c*n,
			"C = %g: violation %g, primal minus dual %g", c, violation, gap)
	}
}

// TestScatteredPoints: where no alpha is at its bound, C neither takes steps nor needs rows in
// double precision, and large alphas do not either, unless the kernel matrix is nearly singular: of
// close points or of a linear kernel.
func TestScatteredPoints(t *testing.T) {
	t.Parallel()
	const n, tol = 2400, 1e-3
	r := rand.New(rand.NewPCG(3, 4))
	x, y := mat.NewDense(n, 10, nil), make([]float64, n)
	for i := range n {
		v := x.RawRowView(i)
		for j := range v {
			v[j] = r.NormFloat64()
		}
		y[i] = math.Copysign(1, v[0]*v[0]+v[1]*v[2]-1)
	}
	inSingle := func(f kernel.Kernel, x *mat.Dense, y []float64, c float64) (*state, trace.Status) {
		k, s := kernel.NewGram(f, x), Settings{C: c, Tol: tol}
		require.NoError(t, check(k, y, &s))
		o := newState(k, y, s.C, newMonitor(t.Context(), n, s))
		return o, require.Value(path[float32](k, o, s))(t)
	}
	solved := func(gamma, c float64) *Result {
		o, status := inSingle(kernel.RBF(gamma), x, y, c)
		require.Must(t, status == trace.Converged, "C = %g: %s", c, status)
		k := mltest.Symmetric(n, func(i, j int) float64 {
			d := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
			return math.Exp(-gamma * d * d)
		})
		res := o.result(status)
		violation, gap, rounding := judge(t, k, y, c, res)
		require.Check(t, violation <= tol+rounding && gap <= tol*res.Primal+rounding*c*n, "C = %g: violation %g, primal minus dual %g of %g", c, violation, gap, res.Primal)
		return res
	}
	steps := 0
	for _, c := range []float64{1e3, 1e6} {
		res := solved(0.5, c)
		require.Equal(t, res.BoundedInside+res.BoundedMisclassified, 0, "C = %g: points at the bound", c)
		require.Check(t, steps == 0 || res.Iterations <= steps+steps/20, "C = %g: %d steps, which were %d", c, res.Iterations, steps)
		steps = res.Iterations
	}
	for i := range n / 4 {
		y[i] = -y[i]
	}
	res := solved(0.1, 5e3)
	require.Check(t, floats.Max(res.Alpha) > 0x1p24*tol/100, "C = 5000: every alpha is small")
	_, status := inSingle(kernel.Linear(), x, y, 300)
	require.Equal(t, status, trace.Numerical, "a linear kernel, C = 300, in single precision")
	near, labels := moons(n, 0.3)
	o, status := inSingle(kernel.RBF(0.5), near, labels, 1e3)
	require.Check(t, status == trace.Numerical && o.Iterations == 0, "dense points, C = 1000, in single precision: %s after %d steps", status, o.Iterations)
}
