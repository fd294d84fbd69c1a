package multiclass

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

var formulations = []Formulation{WestonWatkins, CrammerSinger}

// blobs returns points around the corners of a polygon, one corner per class.
func blobs(r *rand.Rand, n, classes int, spread float64) (*mat.Dense, []int) {
	x, y := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		y[i] = i % classes
		sin, cos := math.Sincos(2 * math.Pi * float64(y[i]) / float64(classes))
		x.SetRow(i, []float64{2*cos + spread*r.NormFloat64(), 2*sin + spread*r.NormFloat64()})
	}
	return x, y
}

func train(t testing.TB, k Matrix, y []int, classes int, s Settings) *Result {
	t.Helper()
	return require.Value(Train(t.Context(), k, y, classes, s))(t)
}

func close(t testing.TB, name string, got, want, most float64) {
	t.Helper()
	require.Near(t, got, want, most*max(1, math.Abs(want)), "%s", name)
}

// verify computes every number of a result from its coefficients and biases, by definition.
func verify(t testing.TB, r *Result, k Matrix, y []int, s Settings) {
	t.Helper()
	n, classes := k.Len(), len(r.Coef)
	row := make([]float64, n)
	f := lists.Make(classes, func(c int) []float64 { return make([]float64, n) })
	for i := range n {
		k.Row(row, i)
		for c := range f {
			f[c][i] = floats.Dot(row, r.Coef[c])
		}
	}
	var square, linear, slack, largest float64
	supports := 0
	for c := range f {
		square += floats.Dot(f[c], r.Coef[c])
		largest = max(largest, floats.Norm(r.Coef[c], 1))
		floats.AddConst(r.B[c], f[c])
	}
	for i, own := range y {
		worst, sum, share := 0.0, 0.0, r.Coef[own][i]
		any := false
		for c := range f {
			any = any || r.Coef[c][i] != 0
			if c == own {
				continue
			}
			a := -r.Coef[c][i]
			require.Check(t, a >= 0 && a <= s.C, "alpha of point %d and class %d is %g, C is %g", i, c, a, s.C)
			linear -= r.Coef[c][i]
			share += r.Coef[c][i]
			xi := max(0, 1-f[own][i]+f[c][i])
			worst, sum = max(worst, xi), sum+xi
		}
		if any {
			supports++
		}
		require.Check(t, math.Abs(share) <= 1e-12*s.C, "the coefficients of point %d sum up to %g", i, share)
		if s.Formulation == CrammerSinger {
			slack += worst
			require.Check(t, r.Coef[own][i] <= s.C, "coefficient of point %d is %g, C is %g", i, r.Coef[own][i], s.C)
		} else {
			slack += sum
		}
	}
	for c, b := range r.B {
		require.Check(t, s.Formulation != CrammerSinger || b == 0, "bias of class %d is %g", c, b)
		sum := floats.Sum(r.Coef[c])
		require.Check(t, s.Formulation != WestonWatkins || math.Abs(sum) <= 1e-9*max(1, largest), "the coefficients of class %d sum up to %g", c, sum)
		for i, v := range r.F[c] {
			require.Must(t, math.Abs(v-f[c][i]) <= 1e-9*max(1, largest), "f_%d(x_%d) is %g, want %g", c, i, v, f[c][i])
		}
	}
	close(t, "sum of biases", floats.Sum(r.B), 0, 1e-9*max(1, largest))
	noise := 0x1p-50 * largest * float64(n*classes) // rounding error of the slacks
	near := func(name string, got, want, noise float64) {
		require.Near(t, got, want, 1e-9*math.Abs(want)+noise, "%s", name)
	}
	near("sum of slacks", r.SlackSum, slack, noise)
	near("objective", r.Objective, square/2+s.C*slack, noise*max(s.C, largest))
	near("dual objective", r.DualObjective, linear-square/2, noise*max(1, largest))
	require.Equal(t, r.SupportVectors, supports, "support vectors")
	if r.Status != trace.Converged {
		return
	}
	tol := max(s.Tol, 1e-12)
	require.Check(t, r.KKTViolation <= tol, "converged with a violation of %g, tol %g", r.KKTViolation, tol)
	if r.Local {
		return
	}
	// Every variable adds at most C times the violation to the gap.
	most := float64(n*classes)*s.C*s.Tol + 1e-7*r.Objective
	require.Check(t, r.Objective-r.DualObjective <= most && r.Gap >= -1e-7, "gap %g, objective %g", r.Gap, r.Objective)
}

func TestRandomProblems(t *testing.T) {
	t.Parallel()
	for trial := range 60 {
		r := rand.New(rand.NewPCG(3, uint64(trial)))
		classes := 2 + r.IntN(5)
		x, y := blobs(r, classes*(1+r.IntN(25)), classes, 0.3+r.Float64())
		k := kernel.RBF(math.Pow(10, 2*r.Float64()-1))
		if trial%3 == 0 {
			k = kernel.Linear()
		}
		gram := kernel.NewGram(k, x)
		for _, f := range formulations {
			s := Settings{Formulation: f, C: math.Pow(10, 5*r.Float64()-2), Tol: 1e-5}
			res := train(t, gram, y, classes, s)
			verify(t, res, gram, y, s)
			require.Equal(t, res.Status, trace.Converged, "trial %d, %s, C %g", trial, f, s.C)
		}
	}
}

// TestProjectedGradient compares with the simplest, slowest solver of the dual.
func TestProjectedGradient(t *testing.T) {
	t.Parallel()
	for trial := range 6 {
		r := rand.New(rand.NewPCG(8, uint64(trial)))
		classes := 2 + trial%3
		x, y := blobs(r, 4*classes, classes, 1)
		gram := kernel.NewGram(kernel.RBF(0.5), x)
		for _, f := range formulations {
			s := Settings{Formulation: f, C: []float64{0.1, 1, 5}[trial%3], Tol: 1e-9}
			close(t, string(f)+" dual objective", train(t, gram, y, classes, s).DualObjective, projectedGradient(gram, y, classes, s), 1e-6)
		}
	}
}

// projectedGradient alternates gradient steps and projections onto the feasible set.
func projectedGradient(k Matrix, y []int, classes int, s Settings) float64 {
	n := len(y)
	u, trace := mat.NewDense(n, classes, nil), 0.0
	rows := mat.NewDense(n, n, nil)
	for i := range n {
		k.Row(rows.RawRowView(i), i)
		trace += k.Diag(i)
	}
	var f mat.Dense
	objective := func() float64 {
		f.Mul(rows, u)
		d := 0.0
		for i, c := range y {
			d += u.At(i, c) - floats.Dot(u.RawRowView(i), f.RawRowView(i))/2
		}
		return d
	}
	for range 3000 {
		objective()
		for i, c := range y {
			floats.AddScaled(u.RawRowView(i), -1/trace, f.RawRowView(i))
			u.Set(i, c, u.At(i, c)+1/trace)
		}
		if s.Formulation == CrammerSinger {
			for i, c := range y {
				onShares(u.RawRowView(i), c, s.C)
			}
		} else {
			onFlows(u, y, s.C)
		}
	}
	return objective()
}

// onShares projects onto u_c <= C for the own class, u_c <= 0 for others, sum 0, by bisection.
func onShares(u []float64, own int, c float64) {
	bound := func(k int) float64 { return lists.Either(k == own, c, 0) }
	low, high := slices.Min(u)-2*c-1, slices.Max(u)+2*c+1
	for range 50 {
		mid, sum := (low+high)/2, 0.0
		for k, x := range u {
			sum += min(bound(k), x-mid)
		}
		if sum > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	for k, x := range u {
		u[k] = min(bound(k), x-low)
	}
}

// onFlows projects onto u_c in [-C, 0] for c != y, sums 0, by Dykstra's alternating projections.
func onFlows(u *mat.Dense, y []int, c float64) {
	n, classes := u.Dims()
	left, sums := mat.NewDense(n, classes, nil), make([]float64, classes)
	for range 25 {
		for i, own := range y {
			row, before := u.RawRowView(i), left.RawRowView(i)
			for k, x := range row {
				if k != own {
					row[k] = min(0, max(-c, x+before[k]))
					before[k] += x - row[k]
				}
			}
			floats.AddConst(-floats.Sum(row)/float64(classes), row)
		}
		clear(sums)
		for i := range n {
			floats.Add(sums, u.RawRowView(i))
		}
		for i := range n {
			floats.AddScaled(u.RawRowView(i), -1/float64(n), sums)
		}
	}
}

// TestTwoClasses: f_1 - f_0 is the function of the binary machine with twice the C.
func TestTwoClasses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for _, c := range []float64{0.1, 1, 50} {
		x, y := blobs(r, 60, 2, 1.2)
		// With every point's negative in the other class the bias is 0.
		both, sides := mat.NewDense(120, 2, nil), slices.Clone(y)
		for i, class := range y {
			both.SetRow(i, x.RawRowView(i))
			both.SetRow(60+i, []float64{-x.At(i, 0), -x.At(i, 1)})
			sides = append(sides, 1-class)
		}
		for _, p := range []struct {
			f Formulation
			x *mat.Dense
			y []int
		}{{WestonWatkins, x, y}, {WestonWatkins, both, sides}, {CrammerSinger, both, sides}} {
			gram := kernel.NewGram(kernel.RBF(0.7), p.x)
			labels := lists.Map(p.y, func(class int) float64 { return float64(2*class - 1) })
			want := require.Value(svm.Train(t.Context(), gram, labels, svm.Settings{C: 2 * c, Tol: 1e-8}))(t)
			got := train(t, gram, p.y, 2, Settings{Formulation: p.f, C: c, Tol: 1e-8})
			close(t, string(p.f)+" objective", got.Objective, want.Primal/2, 1e-6)
			for i, f := range want.F {
				close(t, string(p.f)+" f", got.F[1][i]-got.F[0][i], f, 1e-5)
			}
		}
	}
}

// Neither the numbering of the classes nor the order of the points affects the minimum.
func TestNames(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	x, y := blobs(r, 80, 4, 1)
	order, names := r.Perm(80), r.Perm(4)
	other, z := mat.NewDense(80, 2, nil), make([]int, 80)
	for i, at := range order {
		other.SetRow(i, x.RawRowView(at))
		z[i] = names[y[at]]
	}
	for _, f := range formulations {
		s := Settings{Formulation: f, C: 10, Tol: 1e-8}
		a, b := train(t, kernel.NewGram(kernel.RBF(0.5), x), y, 4, s), train(t, kernel.NewGram(kernel.RBF(0.5), other), z, 4, s)
		close(t, string(f)+" objective", b.Objective, a.Objective, 1e-8)
		for i, at := range order {
			for c := range 4 {
				close(t, string(f)+" f", b.F[names[c]][i], a.F[c][at], 1e-4)
			}
		}
	}
}

// TestDeterministic also trains with a cache for the rows of one step only.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	x, y := blobs(rand.New(rand.NewPCG(2, 2)), 300, 5, 1)
	for _, f := range formulations {
		var results []*Result
		for _, bytes := range []int64{0, 0, 1} {
			results = append(results, train(t, kernel.NewGram(kernel.RBF(1), x), y, 5, Settings{Formulation: f, C: 10, CacheBytes: bytes}))
		}
		for _, r := range results[1:] {
			require.Check(t, reflect.DeepEqual(r, results[0]),
				"%s: two results, %d and %d iterations, objectives %v and %v", f, r.Iterations, results[0].Iterations, r.Objective, results[0].Objective)
		}
	}
}

func TestUglyData(t *testing.T) {
	t.Parallel()
	x, y := blobs(rand.New(rand.NewPCG(4, 4)), 60, 3, 1)
	duplicates := mat.NewDense(60, 2, nil) // of the same class and of others
	for i := range 60 {
		duplicates.SetRow(i, x.RawRowView(i%7))
	}
	constant := mat.NewDense(60, 2, nil)
	same := mat.NewDense(60, 2, nil)
	for i := range 60 {
		same.SetRow(i, []float64{3, 3})
		constant.SetRow(i, []float64{x.At(i, 0), 7})
	}
	one := slices.Clone(y)
	for i := range one[1:] { // a single point of class 2
		one[1+i] %= 2
	}
	one[0] = 2
	for name, p := range map[string]struct {
		k kernel.Kernel
		x *mat.Dense
		y []int
	}{
		"duplicates":        {kernel.RBF(1), duplicates, y},
		"linear duplicates": {kernel.Linear(), duplicates, y},
		"constant column":   {kernel.Linear(), constant, y},
		"one place":         {kernel.RBF(1), same, y},
		"all zero":          {kernel.Linear(), mat.NewDense(60, 2, nil), y},
		"one of a class":    {kernel.RBF(1), x, one},
		"tiny gamma":        {kernel.RBF(1e-12), x, y},
		"huge gamma":        {kernel.RBF(1e12), x, y},
		"a point for each":  {kernel.RBF(1), x.Slice(0, 3, 0, 2).(*mat.Dense), y[:3]},
	} {
		for _, f := range formulations {
			for _, c := range []float64{1e-6, 1, 1e9} {
				s := Settings{Formulation: f, C: c, Tol: 1e-3, MaxIter: 100_000}
				gram := kernel.NewGram(p.k, p.x)
				res := train(t, gram, p.y, 3, s)
				verify(t, res, gram, p.y, s)
				require.Check(t, c >= 1e9 || res.Status == trace.Converged,
					"%s, %s, C %g: %s, violation %g", name, f, c, res.Status, res.KKTViolation)
				for _, v := range []float64{res.Objective, res.DualObjective, res.Gap, res.KKTViolation, res.SlackSum, floats.Sum(res.B)} {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s, %s, C %g: %+v", name, f, c, res)
						break
					}
				}
			}
		}
	}
}

// TestHugeC separates the classes, so that C has no effect.
func TestHugeC(t *testing.T) {
	t.Parallel()
	x, y := blobs(rand.New(rand.NewPCG(6, 6)), 90, 3, 0.2)
	for _, f := range formulations {
		a := train(t, kernel.NewGram(kernel.RBF(0.5), x), y, 3, Settings{Formulation: f, C: 1e9, Tol: 1e-6})
		b := train(t, kernel.NewGram(kernel.RBF(0.5), x), y, 3, Settings{Formulation: f, C: 1e4, Tol: 1e-6})
		require.Check(t, a.Status == trace.Converged && b.Status == trace.Converged,
			"%s: %s and %s", f, a.Status, b.Status)
		close(t, string(f)+" dual objective", a.DualObjective, b.DualObjective, 1e-6)
	}
	// Kernel values in the millions give coefficients of a millionth, which are not rounding.
	x.Scale(1000, x)
	k := kernel.NewGram(kernel.Linear(), x)
	for _, f := range formulations {
		a := train(t, k, y, 3, Settings{Formulation: f, C: 1e8})
		b := train(t, k, y, 3, Settings{Formulation: f, C: 1})
		require.Check(t, a.SupportVectors > 0, "%s: %s without support vectors", f, a.Status)
		close(t, string(f)+" dual objective", a.DualObjective, b.DualObjective, 1e-3)
	}
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	x, y := blobs(rand.New(rand.NewPCG(1, 1)), 9, 3, 1)
	gram := kernel.NewGram(kernel.RBF(1), x)
	broken := func(v float64) Matrix {
		return mltest.Symmetric(9, func(i, j int) float64 {
			if i == 4 && j == 2 {
				return v
			}
			return map[bool]float64{true: 1}[i == j]
		})
	}
	fine := Settings{Formulation: WestonWatkins, C: 1}
	with := func(change func(*Settings)) Settings { s := fine; change(&s); return s }
	for name, c := range map[string]struct {
		k       Matrix
		y       []int
		classes int
		s       Settings
		want    string
	}{
		"no points":        {mltest.Matrix{Dense: new(mat.Dense)}, nil, 3, fine, "no points"},
		"labels missing":   {gram, y[:8], 3, fine, "8 labels for 9 points"},
		"no formulation":   {gram, y, 3, with(func(s *Settings) { s.Formulation = "" }), "formulation"},
		"one class":        {gram, make([]int, 9), 1, fine, "same label"},
		"empty class":      {gram, y, 4, fine, "class 4 of 4 has no training point"},
		"class unknown":    {gram, y, 2, fine, "class of point 3 is 2"},
		"class negative":   {gram, []int{0, 1, 2, 0, -1, 2, 0, 1, 2}, 3, fine, "class of point 5 is -1"},
		"C zero":           {gram, y, 3, with(func(s *Settings) { s.C = 0 }), "C is 0"},
		"C not a number":   {gram, y, 3, with(func(s *Settings) { s.C = math.NaN() }), "C is NaN"},
		"hard margin":      {gram, y, 3, with(func(s *Settings) { s.C = math.Inf(1) }), "finite C"},
		"tol negative":     {gram, y, 3, with(func(s *Settings) { s.Tol = -1 }), "tol is -1"},
		"limit negative":   {gram, y, 3, with(func(s *Settings) { s.MaxIter = -1 }), "max_iter is -1"},
		"kernel NaN":       {broken(math.NaN()), y, 3, fine, "the kernel of points"},
		"kernel infinite":  {broken(math.Inf(-1)), y, 3, fine, "-Inf"},
		"diagonal no good": {mltest.NewMatrix(9, slices.Repeat([]float64{math.Inf(1)}, 81)...), y, 3, fine, "points 1 and 1 is +Inf"},
	} {
		require.Fails(t, require.Err(Train(t.Context(), c.k, c.y, c.classes, c.s)), c.want, "%s", name)
	}
	x, y = blobs(rand.New(rand.NewPCG(1, 1)), 9, 3, 1)
	_, err := Train(t.Context(), kernel.NewGram(kernel.RBF(1), x), y, 4, Settings{Formulation: CrammerSinger, C: 1})
	_, ok := param.ForPerson(err)
	require.Check(t, ok, "%v is not meant for people", err)
}

// TestOverflow has kernel values whose sums overflow.
func TestOverflow(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(6, 1, []float64{1, -1, 2, -2, 3, -3})
	x.Scale(4e153, x)
	k := kernel.NewGram(kernel.Linear(), x)
	for _, f := range formulations {
		for _, c := range []float64{1, 1e9} {
			r, err := Train(t.Context(), k, []int{0, 0, 1, 1, 2, 2}, 3, Settings{Formulation: f, C: c, MaxIter: 10_000})
			require.Check(t, err != nil || !math.IsNaN(r.Objective) && !math.IsInf(r.Objective, 0) && !math.IsNaN(floats.Sum(r.B)),
				"%s, C = %g: %+v; want finite numbers or an error", f, c, r)
			require.Check(t, err == nil || errors.Is(err, ErrOverflow), "%v", err)
		}
	}
}

// TestIndefinite: an indefinite kernel gives a stationary point, marked local.
func TestIndefinite(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 4))
	for trial := range 60 {
		x, y := blobs(r, 12, 3, 1)
		gram := kernel.NewGram(kernel.Sigmoid(0.5, float64(trial%3-1)), x)
		for _, f := range formulations {
			s := Settings{Formulation: f, C: []float64{0.1, 1, 100}[trial%3], Tol: 1e-4, MaxIter: 100_000}
			ctx := mltest.NewLooks(t.Context(), 100_000)
			res, err := Train(ctx, gram, y, 3, s)
			require.Must(t, err == nil && ctx.Over() <= 0, "%s: %v, %d looks", f, err, ctx.Taken())
			require.Check(t, res.Local && res.Status == trace.Converged,
				"%s: local %v, %s, violation %g", f, res.Local, res.Status, res.KKTViolation)
			verify(t, res, gram, y, s)
		}
	}
	x, y := blobs(r, 12, 3, 1)
	res := train(t, kernel.NewGram(kernel.RBF(1), x), y, 3, Settings{Formulation: WestonWatkins, C: 1})
	require.Check(t, !res.Local, "a definite kernel has a local solution")
}

type counted struct {
	Matrix
	rows atomic.Int64
}

func (c *counted) Row(dst []float64, i int) {
	c.rows.Add(1)
	c.Matrix.Row(dst, i)
}

// Whichever check finds the context ended, few more rows are computed; the result is feasible.
func TestCancel(t *testing.T) {
	t.Parallel()
	x, y := blobs(rand.New(rand.NewPCG(7, 7)), 1500, 5, 1)
	for _, f := range formulations {
		s := Settings{Formulation: f, C: 100}
		for n := int64(0); n < 40; n += 1 + n/8 {
			ctx := mltest.NewLooks(t.Context(), n)
			k := &counted{Matrix: kernel.NewGram(kernel.RBF(0.5), x)}
			var after atomic.Int64
			res := require.Value(Train(&watched{ctx, func() { after.CompareAndSwap(0, 1+k.rows.Load()) }}, k, y, 5, s))(t)
			require.Must(t, res.Status == trace.Cancelled, "%s ended after %d looks: %s", f, n, res.Status)
			late := k.rows.Load() + 1 - after.Load()
			require.Check(t, late <= 100, "%s: %d rows after the end, at look %d", f, late, n)
			for i, c := range y {
				sum := 0.0
				for d := range res.Coef {
					sum += res.Coef[d][i]
					u := res.Coef[d][i]
					require.Must(t, d == c || u <= 0 && u >= -s.C, "%s: coefficient %g", f, u)
				}
				require.Must(t, math.Abs(sum) <= 1e-9, "%s: the coefficients of point %d sum up to %g", f, i, sum)
			}
		}
	}
}

// watched reports when its context has ended.
type watched struct {
	context.Context
	ended func()
}

func (w *watched) Err() error {
	err := w.Context.Err()
	if err != nil {
		w.ended()
	}
	return err
}

func TestLimitAndProgress(t *testing.T) {
	t.Parallel()
	x, y := blobs(rand.New(rand.NewPCG(7, 8)), 600, 4, 1.5)
	gram := kernel.NewGram(kernel.RBF(0.5), x)
	for _, f := range formulations {
		s := Settings{Formulation: f, C: 100, Tol: 1e-3, MaxIter: 700}
		r := train(t, gram, y, 4, s)
		require.Check(t, r.Status == trace.IterationLimit && r.Iterations >= 700 && r.Iterations <= 710,
			"%s: %s after %d iterations", f, r.Status, r.Iterations)
		verify(t, r, gram, y, s)
		var steps []trace.Step
		s.MaxIter, s.Recorder = 0, func(step trace.Step) { steps = append(steps, step) }
		r = train(t, gram, y, 4, s)
		require.Must(t, len(steps) != 0, "%s: no progress", f)
		for i, step := range steps {
			require.Check(t, step.Phase == string(f) && step.Violation > 0 && step.Objective <= r.Objective*(1+1e-9),
				"%s: %+v", f, step)
			if i > 0 && (step.Iteration < steps[i-1].Iteration+500 || step.Objective < steps[i-1].Objective*(1-1e-9)) {
				t.Errorf("%s: %+v after %+v", f, step, steps[i-1])
			}
		}
	}
}

// TestWorstCycle compares with all cycles among some of the classes.
func TestWorstCycle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 11))
	for range 300 {
		k := 2 + r.IntN(4)
		p := newWestonWatkins(emptyMachine[float64](1, k, 1, &monitor{}))
		for d := range k {
			for c := range k {
				p.edges[d][c] = edge{gain: r.NormFloat64()}
				if d == c || r.IntN(4) == 0 && d < c { // one of two directions is open
					p.edges[d][c].gain = math.Inf(-1)
				}
			}
		}
		classes := r.Perm(k)[:2+r.IntN(k-1)]
		slices.Sort(classes)
		want := math.Inf(-1)
		var extend func(path []int, sum float64)
		extend = func(path []int, sum float64) {
			last := path[len(path)-1]
			want = max(want, (sum+p.edges[last][path[0]].gain)/float64(len(path)))
			for _, c := range classes {
				if c > path[0] && !slices.Contains(path, c) {
					extend(append(slices.Clone(path), c), sum+p.edges[last][c].gain)
				}
			}
		}
		for _, c := range classes {
			extend([]int{c}, 0)
		}
		cycle, mean := p.worst(classes)
		if math.IsInf(want, -1) {
			require.Check(t, cycle == nil, "cycle %v where there is none", cycle)
			continue
		}
		close(t, "mean", mean, want, 1e-12)
		sum := 0.0
		for a, d := range cycle {
			sum += p.edges[d][cycle[(a+1)%len(cycle)]].gain
		}
		close(t, "mean of the cycle", sum/float64(len(cycle)), want, 1e-12)
	}
}

// TestBest compares the maximum for one point with random alternatives.
func TestBest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 12))
	for range 300 {
		k := 2 + r.IntN(5)
		c := math.Pow(10, 4*r.Float64()-2)
		m := emptyMachine[float64](1, k, c, &monitor{})
		m.diag[0] = []float64{1, 2.5, 0, -1}[r.IntN(4)]
		g := make([]float64, k)
		for class := range k {
			m.f[class][0] = 3 * r.NormFloat64()
			g[class] = -m.f[class][0]
		}
		g[0]++
		newCrammerSinger(m).best(0)
		value := func(u []float64) float64 { return floats.Dot(g, u) - m.diag[0]*floats.Dot(u, u)/2 }
		u := lists.Make(k, func(class int) float64 { return m.u[class][0] })
		require.Must(t, u[0] <= c && math.Abs(floats.Sum(u)) <= 1e-12*c && slices.Max(u[1:]) <= 0,
			"%v is not feasible, C %g", u, c)
		if m.diag[0] < 0 {
			continue // better than before, but not the maximum
		}
		for range 200 {
			v := make([]float64, k)
			sum := 0.0
			for class := range v[1:] {
				v[1+class] = -r.ExpFloat64()
				sum -= v[1+class]
			}
			v[0] = sum
			floats.Scale(c*r.Float64()/sum, v)
			// and close to u on the way there
			mid := slices.Clone(u)
			floats.AddScaled(mid, 1e-3, v)
			floats.AddScaled(mid, -1e-3, u)
			for _, w := range [][]float64{v, mid} {
				require.Must(t, value(w) <= value(u)+1e-9*max(1, math.Abs(value(u))),
					"%v has %g, more than %v with %g", w, value(w), u, value(u))
			}
		}
	}
}

// Where rounding prevents convergence, training ends as numerical long before its limit.
func TestRoundingEnds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	const n, d = 130, 5
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % 3
		for j := range d {
			x.Set(i, j, (r.NormFloat64()+float64(y[i]*(j%2)))*math.Pow(10, float64(3*(j%3)-3)))
		}
	}
	res, err := Train(t.Context(), kernel.NewGram(kernel.Polynomial(1, 1, 2), x), y, 3, Settings{C: 11.7, Formulation: CrammerSinger, MaxIter: 2_000_000})
	require.Check(t, err == nil && res.Status == trace.Numerical,
		"%v after %d steps, %v; want numerical", res.Status, res.Iterations, err)
}

// On unscaled features training ends soon, and converged results have a small relative gap.
func TestUnscaled(t *testing.T) {
	t.Parallel()
	ended := map[trace.Status]int{}
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 8))
		n, d, classes := 15+r.IntN(120), 1+r.IntN(5), 2+r.IntN(4)
		x, y := mat.NewDense(n, d, nil), make([]int, n)
		for j := range d {
			scale, spread := math.Pow(10, 5*r.Float64()-3), 3*r.NormFloat64()
			for i := range n {
				y[i] = i % classes
				x.Set(i, j, scale*(spread*math.Cos(float64((j+1)*y[i]))+r.NormFloat64()))
			}
		}
		k, c := kernel.Linear(), math.Pow(10, 6*r.Float64()-1)
		if degree := r.IntN(3); degree > 0 {
			k = kernel.Polynomial(1, float64(r.IntN(2)), degree)
		}
		for _, f := range formulations {
			res := train(t, kernel.NewGram(k, x), y, classes, Settings{Formulation: f, C: c, MaxIter: 1_500_000})
			ended[res.Status]++
			require.Check(t, (res.Status != trace.Converged || res.RelativeGap <= 1e-3) && res.Status != trace.IterationLimit,
				"%s, %s, %d points, C %.3g: %s after %d steps, violation %.3g, relative gap %.3g", f, k.Name, n, c, res.Status, res.Iterations, res.KKTViolation, res.RelativeGap)
		}
	}
	require.Check(t, ended[trace.Converged] >= 200, "%v", ended)
}
