package stepwise_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dense"
	"marginlab/ml/mltest/require"
	"marginlab/ml/multiclass"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// bunches returns m points in one bunch per class around the origin, the classes in turn.
func bunches(seed uint64, m, classes int) (*mat.Dense, []int) {
	r := random(seed)
	x, y := mat.NewDense(m, 2, nil), make([]int, m)
	for i := range m {
		y[i] = i % classes
		sin, cos := math.Sincos(2 * math.Pi * float64(y[i]) / float64(classes))
		x.SetRow(i, []float64{cos + 0.6*r.NormFloat64(), sin + 0.6*r.NormFloat64()})
	}
	return x, y
}

// least returns the smallest eigenvalue of a Gram matrix.
func least(t rapid.TB, k svm.Matrix) float64 {
	t.Helper()
	g := mat.NewSymDense(k.Len(), nil)
	row := make([]float64, k.Len())
	for i := range row {
		k.Row(row, i)
		for j, v := range row[:i+1] {
			g.SetSym(i, j, v)
		}
	}
	values, _, ok := dense.Eigen(g, false)
	require.Must(t, ok, "no eigenvalues")
	return values[0]
}

// The steps never lower the dual, stay feasible, and end at the solution of package multiclass.
// The number of steps depends on the flattest direction of the dual: with a smallest eigenvalue
// of 0.01 up to about 1500, and about twice as many with a quarter of that.
func TestCrammerSinger(t *testing.T) {
	t.Parallel()
	const steps, flat = 5_000, 0.01
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 5).Draw(t, "classes")
		m := rapid.IntRange(classes, 20).Draw(t, "points")
		c := rapid.SampledFrom([]float64{0.01, 0.5, 3}).Draw(t, "C")
		x, y := bunches(rapid.Uint64().Draw(t, "seed"), m, classes)
		if rapid.Bool().Draw(t, "a point at the origin") {
			x.SetRow(0, []float64{0, 0})
		}
		x.Scale(rapid.SampledFrom([]float64{1, 3, 10}).Draw(t, "spread"), x)
		k := gram(x, rapid.SampledFrom([]string{"linear", "rbf"}).Draw(t, "kernel"))
		want := require.Value(multiclass.Train(context.Background(), k, y, classes, multiclass.Settings{Formulation: multiclass.CrammerSinger, C: c, Tol: 1e-9}))(t)
		r := require.Value(stepwise.CrammerSinger(context.Background(), k, y, classes, stepwise.CrammerSingerSettings{C: c, Tol: 1e-7, MaxSteps: steps}))(t)
		dual := 0.0
		for i := range r.Len() {
			s := r.At(i)
			require.Must(t, s.Dual >= dual-1e-12*(1+dual) && s.Dual <= want.Objective*(1+1e-6)+1e-9 && s.Primal >= want.DualObjective*(1-1e-6)-1e-9,
				"step %d: dual %g after %g, primal %g, optimum between %g and %g", i, s.Dual, dual, s.Primal, want.DualObjective, want.Objective)
			dual = s.Dual
			for j, p := range s.Points {
				sum := 0.0
				for class, a := range p.Alpha {
					require.Must(t, a >= 0 && (class != y[j] || a == 0),
						"step %d: alpha of point %d is %v", i, j, p.Alpha)
					sum += a
				}
				require.Must(t, sum <= c*(1+1e-12), "step %d: alpha of point %d sum to %g", i, j, sum)
				require.Must(t, j != s.Looked || p.Violation <= 1e-9*(1+c),
					"step %d: point %d was solved for and violates by %g", i, j, p.Violation)
			}
		}
		if r.Status() != trace.Converged {
			v := least(t, k)
			require.Must(t, v < flat, "%s after %d steps with a smallest eigenvalue of %g", r.Status(), r.Len()-1, v)
			return
		}
		s := last(r)
		near(t, "dual", s.Dual, want.DualObjective, 1e-5)
		near(t, "primal", s.Primal, want.Objective, 1e-5)
		for class := range classes {
			for i, p := range s.Points {
				require.Near(t, p.F[class], want.F[class][i], 2e-2*(1+c), "f_%d of point %d", class, i)
			}
		}
	})
}

func TestCrammerSingerRefuses(t *testing.T) {
	t.Parallel()
	x, y := bunches(1, 6, 3)
	k := gram(x, "linear")
	for name, c := range map[string]struct {
		y       []int
		classes int
		s       stepwise.CrammerSingerSettings
	}{
		"no C":          {y, 3, stepwise.CrammerSingerSettings{}},
		"endless C":     {y, 3, stepwise.CrammerSingerSettings{C: math.Inf(1)}},
		"tolerance":     {y, 3, stepwise.CrammerSingerSettings{C: 1, Tol: -1}},
		"steps":         {y, 3, stepwise.CrammerSingerSettings{C: 1, MaxSteps: -1}},
		"labels":        {y[1:], 3, stepwise.CrammerSingerSettings{C: 1}},
		"empty class":   {y, 4, stepwise.CrammerSingerSettings{C: 1}},
		"class outside": {[]int{0, 1, 2, 0, 1, 3}, 3, stepwise.CrammerSingerSettings{C: 1}},
		"one class":     {make([]int, 6), 1, stepwise.CrammerSingerSettings{C: 1}},
	} {
		require.Fails(t, require.Err(stepwise.CrammerSinger(t.Context(), k, c.y, c.classes, c.s)), "", "%s: no error", name)
	}
	x.Set(2, 0, math.Inf(1))
	require.Fails(t, require.Err(stepwise.CrammerSinger(t.Context(), gram(x, "linear"), y, 3, stepwise.CrammerSingerSettings{C: 1})), "", "a kernel that is not finite: no error")
}
