package ridge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/ridge"
	"marginlab/ml/trace"
)

// gaussian returns the matrix of exp(-gamma |x - z|^2) between the rows of x.
func gaussian(x *mat.Dense, gamma float64) mltest.Matrix {
	m, _ := x.Dims()
	return mltest.Symmetric(m, func(i, j int) float64 {
		d := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
		return math.Exp(-gamma * d * d)
	})
}

func points(m, d int, seed uint64) (x *mat.Dense, t []float64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	x = mat.NewDense(m, d, nil)
	for i := range m {
		sum := 0.0
		for j := range d {
			v := rng.NormFloat64()
			x.Set(i, j, v)
			sum += v
		}
		t = append(t, math.Sin(sum)+0.3*rng.NormFloat64())
	}
	return x, t
}

// without returns k and t without point i.
func without(k mltest.Matrix, t []float64, i int) (mltest.Matrix, []float64) {
	at := func(a int) int {
		if a >= i {
			return a + 1
		}
		return a
	}
	less := mltest.Symmetric(k.Len()-1, func(a, b int) float64 { return k.At(at(a), at(b)) })
	return less, slices.Delete(slices.Clone(t), i, i+1)
}

func train(t testing.TB, k ridge.Matrix, targets []float64, lambda float64) *ridge.Result {
	t.Helper()
	return require.Value(ridge.Train(context.Background(), k, targets, ridge.Settings{Lambda: lambda}))(t)
}

// independent solves (K + lambda I) a = t by LU factorisation.
func independent(t testing.TB, k mltest.Matrix, targets []float64, lambda float64) []float64 {
	t.Helper()
	m := k.Len()
	system := mat.DenseCopyOf(k.Dense)
	for i := range m {
		system.Set(i, i, system.At(i, i)+lambda)
	}
	var a mat.VecDense
	require.NoError(t, a.SolveVec(system, mat.NewVecDense(m, targets)))
	return a.RawVector().Data
}

func TestTrainSolvesTheSystem(t *testing.T) {
	t.Parallel()
	for _, m := range []int{1, 2, 31, 64, 65, 130, 300} {
		for _, lambda := range []float64{1e-3, 1, 1e3, 1e12} {
			x, targets := points(m, 3, uint64(m))
			k := gaussian(x, 0.3)
			res, want := train(t, k, targets, lambda), independent(t, k, targets, lambda)
			d := floats.Distance(res.A, want, 2)
			require.Check(t, d <= 1e-10*floats.Norm(want, 2), "%d points, lambda %g: coefficients are %g apart", m, lambda, d)
			require.Check(t, res.Status == trace.Converged && res.Shift == 0 && res.Gap <= 1e-20,
				"%d points, lambda %g: status %s, shift %g, gap %g", m, lambda, res.Status, res.Shift, res.Gap)
			// At the solution the objective is half lambda a't, and the errors are lambda a.
			dual := lambda * floats.Dot(want, targets) / 2
			require.Check(t, math.Abs(res.Objective-dual) <= 1e-10*math.Abs(dual), "%d points, lambda %g: objective %.12g, dual %.12g", m, lambda, res.Objective, dual)
			misses := lambda * floats.Norm(want, 2)
			mse := misses * misses / float64(m)
			require.Check(t, math.Abs(res.MSE-mse) <= 1e-9*mse, "%d points, lambda %g: mean squared error %.12g, want %.12g", m, lambda, res.MSE, mse)
		}
	}
}

// TestObjectiveIsTheMinimum compares with other coefficients.
func TestObjectiveIsTheMinimum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 12).Draw(t, "m")
		x, targets := points(m, 2, rapid.Uint64().Draw(t, "seed"))
		k, lambda := gaussian(x, 1), rapid.Float64Range(1e-3, 10).Draw(t, "lambda")
		res := require.Value(ridge.Train(context.Background(), k, targets, ridge.Settings{Lambda: lambda}))(t)
		a := lists.Make(m, func(i int) float64 { return res.A[i] + rapid.Float64Range(-1, 1).Draw(t, "by") })
		var f mat.VecDense
		f.MulVec(k, mat.NewVecDense(m, a))
		d := floats.Distance(f.RawVector().Data, targets, 2)
		other := d*d/2 + lambda/2*floats.Dot(a, f.RawVector().Data)
		require.Check(t, other >= res.Objective*(1-1e-9), "other coefficients have %g, the minimum is said to be %g", other, res.Objective)
	})
}

// TestLeaveOneOutIsThatOfRetraining retrains without every point.
func TestLeaveOneOutIsThatOfRetraining(t *testing.T) {
	t.Parallel()
	for _, m := range []int{2, 33, 129, 140} {
		for _, lambda := range []float64{1e-3, 1, 100} {
			x, targets := points(m, 2, uint64(m))
			k := gaussian(x, 0.7)
			res := train(t, k, targets, lambda)
			sum := 0.0
			for i := range m {
				less, others := without(k, targets, i)
				a := independent(t, less, others, lambda)
				f, b := 0.0, 0
				for j := range m {
					if j != i {
						f += a[b] * k.At(i, j)
						b++
					}
				}
				require.Near(t, res.LeftOut[i], f, 1e-8*math.Max(1, math.Abs(f)), "lambda %g: point %d left out", lambda, i)
				sum += (targets[i] - f) * (targets[i] - f)
			}
			want := sum / float64(m)
			require.Check(t, math.Abs(res.LOOError-want) <= 1e-8*want, "%d points, lambda %g: the error is %.12g, said to be %.12g", m, lambda, want, res.LOOError)
		}
	}
}

// TestLeaveOneOutKeepsTinyValues compares left-out values far below the rounding error of the
// targets with retraining: unless their relative error is small, their signs, and so the
// leave-one-out accuracy, are rounding.
func TestLeaveOneOutKeepsTinyValues(t *testing.T) {
	t.Parallel()
	const m = 97
	for _, lambda := range []float64{1e-3, 1, 108} {
		x, targets := points(m, 6, 7)
		for i, v := range targets {
			targets[i] = math.Copysign(1, v)
		}
		k := mltest.Symmetric(m, func(i, j int) float64 {
			return math.Exp(-19.9 * floats.Distance(x.RawRowView(i), x.RawRowView(j), 1))
		})
		res, tiny := train(t, k, targets, lambda), 0
		for i := range m {
			less, others := without(k, targets, i)
			a := independent(t, less, others, lambda)
			f, size, b := 0.0, 0.0, 0
			for j := range m {
				if j != i {
					f += a[b] * k.At(i, j)
					size += math.Abs(a[b] * k.At(i, j))
					b++
				}
			}
			if size < 1e-17 {
				tiny++
			}
			require.Near(t, res.LeftOut[i], f, 1e-10*size, "lambda %g: f at point %d left out", lambda, i)
		}
		require.Check(t, tiny >= m/4, "lambda %g: only %d values are below rounding", lambda, tiny)
	}
}

// TestConvergedMeansASmallShare fits so closely that the objective is tiny.
func TestConvergedMeansASmallShare(t *testing.T) {
	t.Parallel()
	ended := map[trace.Status]int{}
	for seed := range uint64(60) {
		x, targets := points(12, 4, seed)
		k := mltest.Symmetric(12, func(i, j int) float64 {
			v := 1 + 1e4*floats.Dot(x.RawRowView(i), x.RawRowView(j))
			return v * v * v
		})
		res := train(t, k, targets, []float64{1e-11, 1e-3}[seed%2])
		if ended[res.Status]++; res.Status == trace.Converged && res.RelativeGap > 1e-6 {
			t.Errorf("%d: objective %g, relative gap %g", seed, res.Objective, res.RelativeGap)
		}
	}
	require.Check(t, ended[trace.Converged] != 0, "%v", ended)
	// Two equal points with targets ±1 give f = 0, and each alone would mispredict the other.
	one := mltest.NewMatrix(2, 1, 1, 1, 1)
	for _, lambda := range []float64{1e-3, 1, 1e3} {
		res := train(t, one, []float64{1, -1}, lambda)
		alone := -1 / (1 + lambda) // at the first point, trained on the second
		require.Check(t, math.Abs(res.F[0]) <= 1e-9 && math.Abs(res.LeftOut[0]-alone) <= 1e-9 && math.Abs(res.LeftOut[1]+alone) <= 1e-9,
			"lambda %g: f = %g, left out %v, want ±%g", lambda, res.F, res.LeftOut, alone)
	}
}

func TestConditionIsThatOfTheSystem(t *testing.T) {
	t.Parallel()
	x, targets := points(90, 2, 4)
	k := gaussian(x, 0.5)
	for _, lambda := range []float64{1e-6, 1e-2, 1, 1e6} {
		system := mat.DenseCopyOf(k.Dense)
		for i := range 90 {
			system.Set(i, i, system.At(i, i)+lambda)
		}
		want := mat.Cond(system, 1)
		got := train(t, k, targets, lambda).Condition
		require.Check(t, got <= 1.01*want && got >= want/3, "lambda %g: condition number %g, said to be %g", lambda, want, got)
	}
}

// Matrices dominated by rounding: every number is finite, and the status is honest.
func TestUglyMatrices(t *testing.T) {
	t.Parallel()
	x, _ := points(40, 2, 5)
	for i := range 20 {
		x.SetRow(20+i, x.RawRowView(i)) // every point twice
	}
	signs := lists.Make(40, func(i int) float64 { return float64(1 - 2*(i/20)) }) // the two disagree
	for name, c := range map[string]struct {
		k      mltest.Matrix
		lambda float64
		want   trace.Status
	}{
		"duplicates that disagree":          {gaussian(x, 1), 1, trace.Converged},
		"duplicates, next to no ridge":      {gaussian(x, 1), 1e-12, trace.Numerical},
		"duplicates, a ridge below epsilon": {gaussian(x, 1), 1e-300, trace.Numerical},
		"duplicates, a huge ridge":          {gaussian(x, 1), 1e12, trace.Converged},
		"no kernel":                         {mltest.Symmetric(40, func(int, int) float64 { return 0 }), 1e-12, trace.Converged},
		"a constant kernel":                 {mltest.Symmetric(40, func(int, int) float64 { return 1 }), 1e-3, trace.Converged},
		"a constant kernel, no ridge":       {mltest.Symmetric(40, func(int, int) float64 { return 1e20 }), 1e-12, trace.Numerical},
		"the identity":                      {mltest.Symmetric(40, func(i, j int) float64 { return map[bool]float64{true: 1}[i == j] }), 1e-12, trace.Converged},
		"large values":                      {mltest.Symmetric(40, func(i, j int) float64 { return 1e150 * (1 + float64(i*j)) }), 1, trace.Numerical},
		"indefinite, but the ridge exceeds": {mltest.Symmetric(40, func(i, j int) float64 { return map[bool]float64{true: -1}[i == j] }), 1.5, trace.Converged},
	} {
		res := require.Value(ridge.Train(context.Background(), c.k, signs, ridge.Settings{Lambda: c.lambda}))(t, "%s", name)
		require.Check(t, res.Status == c.want && (res.Shift <= 0 || res.Status != trace.Converged),
			"%s: status %s, want %s; shift %g, condition %g, gap %g", name, res.Status, c.want, res.Shift, res.Condition, res.Gap)
		for _, v := range append(append(res.A, res.F...), append(res.LeftOut, res.Objective, res.Gap, res.MSE, res.LOOError, res.WNorm)...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: a number is %g", name, v)
				break
			}
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	t.Parallel()
	two := mltest.NewMatrix(2, 1, 0.5, 0.5, 1)
	pm := []float64{1, -1}
	for name, c := range map[string]struct {
		k      ridge.Matrix
		t      []float64
		lambda float64
		says   string
		person bool
	}{
		"no points":                  {mltest.Matrix{Dense: new(mat.Dense)}, nil, 1, "no training points", false},
		"a target missing":           {two, pm[:1], 1, "1 targets for 2", false},
		"lambda 0":                   {two, pm, 0, "above 0", false},
		"lambda NaN":                 {two, pm, math.NaN(), "above 0", false},
		"lambda infinite":            {two, pm, math.Inf(1), "finite", false},
		"target NaN":                 {two, []float64{1, math.NaN()}, 1, "target 2", false},
		"an infinite entry":          {mltest.NewMatrix(2, 1, 0, 0, math.Inf(1)), pm, 1, "row 2", true},
		"an entry that is no number": {mltest.NewMatrix(2, 1, 0, 0, math.NaN()), pm, 1, "row 2", true},
		"indefinite":                 {mltest.NewMatrix(2, 0, 3, 3, 0), pm, 1, "not positive definite", true},
		"negative":                   {mltest.NewMatrix(2, -1e6, 0, 0, -1), pm, 1, "not positive definite", true},
		"too large":                  {huge{}, make([]float64, 20_000), 1, "20000 training points need 3.0 GiB, and the limit is 1.0 GiB or 11585 points", true},
	} {
		res, err := ridge.Train(context.Background(), c.k, c.t, ridge.Settings{Lambda: c.lambda})
		require.Must(t, err != nil && strings.Contains(err.Error(), c.says), "%s: %v, %v; want an error about %q", name, res, err, c.says)
		refusal := (*param.Refusal)(nil)
		require.Check(t, errors.As(err, &refusal) == c.person, "%s: %v is meant for a person: %t", name, err, !c.person)
	}
}

// huge is a matrix whose rows must not be requested.
type huge struct{}

func (huge) Len() int           { return 20_000 }
func (huge) Row([]float64, int) { panic("a row of a matrix beyond the limit") }

// TestTheRemedyWorks raises lambda to the value named in the error for an indefinite matrix.
func TestTheRemedyWorks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 40).Draw(t, "m")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		k, targets := mltest.Symmetric(m, func(int, int) float64 { return rng.NormFloat64() }), make([]float64, m)
		for i := range m {
			targets[i] = float64(1 - 2*(i%2))
		}
		lambda := 1e-3
		_, err := ridge.Train(context.Background(), k, targets, ridge.Settings{Lambda: lambda})
		eigenvalues, _, ok := dense.Eigen(mat.NewSymDense(m, k.RawMatrix().Data), false)
		require.Must(t, ok, "no eigenvalues")
		if smallest := eigenvalues[0]; smallest+lambda > 0 {
			require.Must(t, err == nil, "smallest eigenvalue %g: %v", smallest, err)
			return
		}
		require.Must(t, err != nil, "an indefinite system is solved")
		var enough float64
		refusal := (*param.Refusal)(nil)
		require.Must(t, errors.As(err, &refusal), "%v", err)
		_, err = fmt.Sscanf(refusal.Remedy, "raise lambda to %g", &enough)
		require.Must(t, err == nil, "%q: %v", refusal.Remedy, err)
		require.Equal(t, require.Err(ridge.Train(context.Background(), k, targets, ridge.Settings{Lambda: enough})), nil, "lambda raised to %g", enough)
	})
}

func TestTrainHeedsTheContext(t *testing.T) {
	t.Parallel()
	x, targets := points(300, 2, 6)
	ctx, cancel := context.WithCancel(context.Background())
	steps := 0
	_, err := ridge.Train(ctx, gaussian(x, 1), targets, ridge.Settings{Lambda: 1, Recorder: func(s trace.Step) {
		require.Check(t, s.Phase == "ridge" && s.Iteration == steps+1, "step %+v after %d", s, steps)
		steps++
		cancel()
	}})
	require.Check(t, errors.Is(err, context.Canceled) && steps != 0,
		"cancelled after the first of %d steps: %v", steps, err)
}

// TestPathIsThatOfTraining compares with training at every lambda.
func TestPathIsThatOfTraining(t *testing.T) {
	t.Parallel()
	for _, m := range []int{1, 2, 70, 200} {
		x, targets := points(m, 2, uint64(m))
		k := gaussian(x, 0.5)
		path := require.Value(ridge.NewPath(context.Background(), k, targets))(t)
		freedom := float64(m)
		for _, lambda := range []float64{1e-5, 1e-2, 1, 30, 1e4} {
			got, ok := path.At(lambda)
			want := train(t, k, targets, lambda)
			require.Must(t, ok && got.Lambda == lambda, "%d points, lambda %g: %+v, %t", m, lambda, got, ok)
			require.Check(t, math.Abs(got.MSE-want.MSE) <= 1e-7*want.MSE && math.Abs(got.LOOError-want.LOOError) <= 1e-7*want.LOOError,
				"%d points, lambda %g: %+v, trained %.12g and %.12g", m, lambda, got, want.MSE, want.LOOError)
			require.Check(t, got.Freedom < freedom && got.Freedom > 0,
				"%d points, lambda %g: %g degrees of freedom after %g", m, lambda, got.Freedom, freedom)
			freedom = got.Freedom
		}
	}
	// One point with k = 3: f = 3 t / (3 + lambda), and without it 0.
	path := require.Value(ridge.NewPath(context.Background(), mltest.NewMatrix(1, 3), []float64{2}))(t)
	got, ok := path.At(1)
	require.Check(t, ok && math.Abs(got.MSE-0.25) <= 1e-12 && math.Abs(got.LOOError-4) <= 1e-12 && math.Abs(got.Freedom-0.75) <= 1e-12, "one point: %+v, %t", got, ok)
}

func TestPathHasGapsAndLimits(t *testing.T) {
	t.Parallel()
	swap := mltest.NewMatrix(2, 0, 3, 3, 0) // eigenvalues ±3
	path := require.Value(ridge.NewPath(context.Background(), swap, []float64{1, -1}))(t)
	for lambda, want := range map[float64]bool{1e-3: false, 2.99: false, 3: false, 3.01: true, 10: true} {
		got, ok := path.At(lambda)
		require.Check(t, ok == want, "lambda %g: %+v, %t", lambda, got, ok)
	}
	x, targets := points(ridge.MaxPath+1, 1, 3)
	require.Fails(t, require.Err(ridge.NewPath(context.Background(), gaussian(x, 1), targets)), "401", "too many points")
	ctx := mltest.Ended()
	require.Is(t, require.Err(ridge.NewPath(ctx, swap, []float64{1, -1})), context.Canceled, "cancelled")
	bad := mltest.NewMatrix(2, 1, 0, 0, math.Inf(1))
	require.Fails(t, require.Err(ridge.NewPath(context.Background(), bad, []float64{1, -1})), "row 2", "an infinite entry")
}
