package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

type psd struct{ mltest.Matrix }

func (psd) Definite() bool { return true }

// largest returns max K_ii, at least the smallest positive number.
func largest(k Matrix) float64 {
	return max(math.SmallestNonzeroFloat64, floats.Max(lists.Make(k.Len(), k.Diag)))
}

// extent returns the largest squared distance of two points in feature space.
func extent(k mltest.Matrix) (v float64) {
	for i := range k.Len() {
		for j := range i {
			v = max(v, k.Diag(i)+k.Diag(j)-2*k.At(i, j))
		}
	}
	return v
}

func full(k Matrix) mltest.Matrix {
	m := k.Len()
	all := mltest.NewMatrix(m)
	for i := range m {
		k.Row(all.RawRowView(i), i)
	}
	return all
}

// moons returns two interleaved half circles with Gaussian noise.
func moons(n int, noise float64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a := math.Pi * r.Float64()
		u, v := math.Cos(a), math.Sin(a)
		y[i] = 1
		if i%2 == 0 {
			u, v, y[i] = 1-u, 0.5-v, -1
		}
		x.SetRow(i, []float64{u + noise*r.NormFloat64(), v + noise*r.NormFloat64()})
	}
	return x, y
}

// problem draws a small problem, including degenerate ones.
func problem(t *rapid.T) (x *mat.Dense, k kernel.Kernel, y []float64, c float64) {
	m := rapid.IntRange(2, 40).Draw(t, "m")
	d := rapid.IntRange(1, 4).Draw(t, "d")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	x, y = mat.NewDense(m, d, nil), make([]float64, m)
	lonely := rapid.Bool().Draw(t, "one point in one class")
	copies := rapid.Bool().Draw(t, "copies")
	constant := rapid.Bool().Draw(t, "constant column")
	for i := range m {
		for j := range d {
			x.Set(i, j, r.NormFloat64())
		}
		if constant {
			x.Set(i, 0, 3)
		}
		if copies && i > 0 && r.IntN(2) == 0 {
			x.SetRow(i, x.RawRowView(r.IntN(i))) // possibly with another label
		}
		y[i] = 1
		if i == 0 || !lonely && i > 1 && r.IntN(2) == 0 {
			y[i] = -1
		}
	}
	k = rapid.SampledFrom([]kernel.Kernel{
		{Name: "linear"},
		kernel.Polynomial(0.5, 1, 3),
		kernel.RBF(1e-4),
		kernel.RBF(1),
		kernel.RBF(1e4),
		kernel.Sigmoid(0.5, -1),
	}).Draw(t, "kernel")
	return x, k, y, rapid.SampledFrom([]float64{1e-3, 1, 100, 1e4}).Draw(t, "C")
}

// TestKKT checks solutions against the KKT conditions, computed from the full matrix.
func TestKKT(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, kern, y, c := problem(t)
		k := full(kernel.NewGram(kern, x))
		const tol = 1e-6
		r := require.Value(Train(t.Context(), k, y, Settings{C: c, Tol: tol}))(t)
		require.Must(t, r.Status == trace.Converged, "status %s, violation %g", r.Status, r.KKTViolation)
		verify(t, r, k, y, c, tol)
		require.Must(t, kern.Name == "sigmoid" || r.Gap >= -1e-9 && r.Primal-r.Dual <= 2*tol*c*float64(len(y))+1e-9,
			"primal %g, dual %g, gap %g", r.Primal, r.Dual, r.Gap)

		// Flipped labels flip the sign.
		minus := floats.ScaleTo(make([]float64, len(y)), -1, y)
		f := require.Value(Train(t.Context(), k, minus, Settings{C: c, Tol: tol}))(t)
		if kern.Name == "sigmoid" {
			return // stationary points may differ
		}
		require.Near(t, f.Dual, r.Dual, 2*tol*c*float64(len(y))+1e-9, "dual with labels flipped")
		// A gap of e determines |w| within sqrt(2e), and hence f and b.
		reach := math.Sqrt(2*max(0, r.Primal-r.Dual)) + math.Sqrt(2*max(0, f.Primal-f.Dual))
		require.Must(t, r.Free <= 0 || f.Free <= 0 || math.Abs(f.B+r.B) <= reach*math.Sqrt(largest(k))+2*tol+1e-9*(1+c),
			"labels flipped: b %g, was %g", f.B, r.B)
	})
}

// verify checks bounds, equality constraint, KKT conditions and every number of a result.
func verify(t require.T, r *Result, k mltest.Matrix, y []float64, c, tol float64) {
	t.Helper()
	m := len(y)
	var sum, square, terms, balance, slacks float64
	high, low := math.Inf(-1), math.Inf(1)
	var svs, free, inside, wrong int
	for i := range m {
		a := r.Alpha[i]
		require.Must(t, a >= 0 && a <= c, "alpha[%d] = %g is not in [0, %g]", i, a, c)
		sum += a
		balance += a * y[i]
		ku := 0.0
		for j := range m {
			ku += k.At(i, j) * r.Alpha[j] * y[j]
			terms += math.Abs(k.At(i, j)) * a * r.Alpha[j]
		}
		square += a * y[i] * ku
		f := ku + r.B
		require.Must(t, math.Abs(f-r.F[i]) <= 1e-9*(1+math.Abs(f)+c), "F[%d] = %g, want %g", i, r.F[i], f)
		slack := max(0, 1-y[i]*r.F[i])
		slacks += slack
		if y[i] > 0 && a < c || y[i] < 0 && a > 0 {
			high = max(high, y[i]-ku)
		}
		if y[i] > 0 && a > 0 || y[i] < 0 && a < c {
			low = min(low, y[i]-ku)
		}
		if a > 0 {
			svs++
			switch {
			case a < c:
				free++
			case slack > 1:
				wrong++
			default:
				inside++
			}
		}
	}
	require.Must(t, math.Abs(balance) <= 1e-12*(1+sum), "sum alpha_i y_i = %g", balance)
	require.Must(t, high-low <= tol*(1+1e-6)+1e-12*(1+c), "KKT violation %g", high-low)
	// The interval [m(a), M(a)] may be reversed.
	require.Must(t, r.B >= low-tol && r.B <= high+tol || r.B >= high-tol && r.B <= low+tol,
		"b = %g is outside [%g, %g]", r.B, high, low)
	got := [4]int{r.SupportVectors, r.Free, r.BoundedInside, r.BoundedMisclassified}
	require.Must(t, got == [4]int{svs, free, inside, wrong}, "counts %v, want %v", got, [4]int{svs, free, inside, wrong})
	rounding := 1e-15 * float64(m) * terms // of square, whose terms may cancel
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"Dual", r.Dual, sum - square/2},
		{"SlackSum", r.SlackSum, slacks},
		{"|w|²", r.WNorm * r.WNorm, max(0, square)},
	} {
		off := math.Abs(v.got-v.want) > 1e-9*(1+math.Abs(v.want)+sum)+rounding // false for the NaN of an indefinite kernel
		require.Must(t, !off, "%s = %g, want %g", v.name, v.got, v.want)
	}
}

// Random data have a hard margin that meets the conditions, or an error.
func TestHardMargin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, kern, y, _ := problem(t)
		if kern.Name == "sigmoid" {
			return
		}
		k := psd{full(kernel.NewGram(kern, x))}
		const tol = 1e-5
		r, err := Train(t.Context(), k, y, Settings{C: math.Inf(1), Tol: tol, MaxIter: 200_000})
		if errors.Is(err, ErrNotSeparable) {
			soft := require.Value(Train(t.Context(), k, y, Settings{C: 1e3, Tol: tol}))(t)
			bound := soft.BoundedInside + soft.BoundedMisclassified
			require.Must(t, bound != 0 || soft.Status != trace.Converged,
				"not separable, but C = 1000 separates with margin %g", soft.Margin)
			return
		}
		if errors.Is(err, ErrRounding) {
			seen := extent(k.Matrix) / largest(k)
			require.Must(t, seen < 1e-7, "%v, but squared distances reach %g of the kernel values", err, seen)
			return
		}
		require.NoError(t, err)
		if r.Status != trace.Cancelled && r.WNorm*math.Sqrt(largest(k)) > 1e4 {
			return // a nearly negligible margin takes long or runs into rounding
		}
		require.Must(t, r.Status == trace.Converged && r.RelativeGap <= tol,
			"status %s after %d iterations, violation %g, gap %g, |w| %g", r.Status, r.Iterations, r.KKTViolation, r.RelativeGap, r.WNorm)
		verify(t, r, k.Matrix, y, math.Inf(1), tol+1e-15*r.WNorm*r.WNorm*largest(k))
	})
}

// The best over all assignments of alphas to 0, C and free, each a system of linear equations.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for trial := range 40 {
		m := 2 + r.IntN(4)
		x, y := mat.NewDense(m, 2, nil), make([]float64, m)
		for i := range m {
			x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64()})
			y[i] = float64(1 - 2*(i%2))
		}
		c := math.Pow(10, float64(r.IntN(4)-1))
		k := full(kernel.NewGram(kernel.RBF(0.5), x))
		got := train(t, k, y, Settings{C: c, Tol: 1e-9})
		want := enumerate(k, y, c)
		require.Near(t, got.Dual, want, 1e-7*(1+want), "trial %d: dual, and the dual by enumeration", trial)
	}
}

func enumerate(k mltest.Matrix, y []float64, c float64) float64 {
	m := len(y)
	best := 0.0
	state := make([]int, m) // 0: alpha = 0, 1: alpha = C, 2: free
	for code := 0; ; code++ {
		rest := code
		var free []int
		for i := range state {
			state[i] = rest % 3
			rest /= 3
			if state[i] == 2 {
				free = append(free, i)
			}
		}
		if rest > 0 {
			return best
		}
		u := make([]float64, m)
		for i, s := range state {
			if s == 1 {
				u[i] = c * y[i]
			}
		}
		// K_FF u_F + b 1 = y_F - K_FC u_C, 1'u_F = -1'u_C
		n := len(free)
		a, b := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
		for p, i := range free {
			a.Set(p, n, 1)
			a.Set(n, p, 1)
			b.SetVec(p, y[i])
			for q, j := range free {
				a.Set(p, q, k.At(i, j))
			}
			for j := range m {
				b.SetVec(p, b.AtVec(p)-k.At(i, j)*u[j])
			}
		}
		for j := range m {
			b.SetVec(n, b.AtVec(n)-u[j])
		}
		if n > 0 {
			var s mat.VecDense
			if s.SolveVec(a, b) != nil {
				continue
			}
			for p, i := range free {
				u[i] = s.AtVec(p)
			}
		}
		sum, square, balance, feasible := 0.0, 0.0, 0.0, true
		for i := range m {
			alpha := u[i] * y[i]
			feasible = feasible && alpha >= -1e-12 && alpha <= c*(1+1e-12)
			sum += alpha
			balance += u[i]
			for j := range m {
				square += u[i] * u[j] * k.At(i, j)
			}
		}
		if feasible && math.Abs(balance) < 1e-9*(1+c) {
			best = max(best, sum-square/2)
		}
	}
}

// TestLarge solves problems with many rounds of shrinking and a cache of few rows.
func TestLarge(t *testing.T) {
	t.Parallel()
	x, y := moons(500, 0.25)
	for _, tc := range []struct {
		gamma, c float64
		cache    int64
	}{
		{1, 10, 0},
		{1, 1000, 0},
		{0.1, 1000, 0},
		{1e-4, 1e6, 0},
		{1e4, 1e6, 0},
		{1, 100, 1},
		{1, 100, 200_000},
	} {
		t.Run(fmt.Sprintf("gamma=%g/C=%g/cache=%d", tc.gamma, tc.c, tc.cache), func(t *testing.T) {
			t.Parallel()
			gram := kernel.NewGram(kernel.RBF(tc.gamma), x)
			r := train(t, gram, y, Settings{C: tc.c, CacheBytes: tc.cache})
			verify(t, r, full(gram), y, tc.c, 1e-3)
			// A violation of tol costs up to tol in each slack, times C.
			require.Check(t, r.Gap >= -1e-9 && r.Primal-r.Dual <= 1e-3*tc.c*500, "primal %g, dual %g", r.Primal, r.Dual)
		})
	}
}

// TestPath solves problems that need millions of steps on pairs alone.
func TestPath(t *testing.T) {
	t.Parallel()
	x, y := moons(600, 0.4)
	for _, tc := range []struct {
		k kernel.Kernel
		c float64
	}{
		{kernel.Kernel{Name: "linear"}, 1e4},
		{kernel.Kernel{Name: "linear"}, 1e6},
		{kernel.Polynomial(0.5, 1, 3), 1e4},
		{kernel.RBF(0.01), 1e4},
	} {
		t.Run(fmt.Sprintf("%s/C=%g", tc.k.Name, tc.c), func(t *testing.T) {
			t.Parallel()
			gram := kernel.NewGram(tc.k, x)
			r := train(t, gram, y, Settings{C: tc.c, MaxIter: 300_000})
			verify(t, r, full(gram), y, tc.c, 1e-3)
			require.Check(t, r.Gap >= -1e-9 && r.Gap <= 1e-4, "gap %g", r.Gap)
		})
	}
}

// The lecture's "margin = 1/sqrt(sum alpha)" holds for the hard margin only.
func TestMarginFromAlpha(t *testing.T) {
	t.Parallel()
	x, y := moons(60, 0.05)
	k := kernel.NewGram(kernel.RBF(2), x)
	fromAlpha := func(r *Result) float64 { return 1 / math.Sqrt(floats.Sum(r.Alpha)) }
	hard := train(t, k, y, Settings{C: math.Inf(1), Tol: 1e-9})
	relative(t, "hard margin", fromAlpha(hard), hard.Margin, 1e-8)
	margins := floats.MulTo(make([]float64, len(y)), y, hard.F)
	relative(t, "least functional margin", floats.Min(margins), 1, 1e-8)
	require.Check(t, hard.Gap >= -1e-12 && hard.Gap <= 1e-8, "gap of the hard margin is %g", hard.Gap)
	verify(t, hard, full(k), y, math.Inf(1), 1e-9)
	soft := train(t, k, y, Settings{C: 0.1})
	require.Check(t, math.Abs(fromAlpha(soft)/soft.Margin-1) >= 0.1,
		"soft margin %g is 1/sqrt(sum alpha) = %g", soft.Margin, fromAlpha(soft))
}

func TestHardMarginNotSeparable(t *testing.T) {
	t.Parallel()
	overlap, labels := moons(300, 0.4)
	for _, tc := range []struct {
		name string
		k    kernel.Kernel
		x    *mat.Dense
		y    []float64
	}{
		{"overlap", kernel.Kernel{Name: "linear"}, overlap, labels},
		{"overlap, cubic", kernel.Polynomial(1, 1, 3), overlap, labels},
		{"xor", kernel.Kernel{Name: "linear"}, mat.NewDense(4, 2, []float64{1, 1, -1, -1, 1, -1, -1, 1}), []float64{1, 1, -1, -1}},
		{"conflicting copies", kernel.RBF(1), mat.NewDense(3, 1, []float64{0, 1, 1}), []float64{1, 1, -1}},
		{"between", kernel.Kernel{Name: "linear"}, mat.NewDense(3, 1, []float64{0, 1, 2}), []float64{1, -1, 1}},
		// Without a look at the growth after each step, alphas of 1e19 lost the balance of the classes.
		{
			"in a row",
			kernel.Kernel{Name: "linear"},
			mat.NewDense(4, 2, []float64{3, 0.6871233309236869, 3, 1.1917415539569736, 3, -0.8806110746593472, 3, 0.19295039728633065}),
			[]float64{-1, 1, 1, 1},
		},
		{"all alike", kernel.Kernel{Name: "linear"}, mat.NewDense(4, 2, nil), []float64{1, 1, -1, -1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := Train(t.Context(), kernel.NewGram(tc.k, tc.x), tc.y, Settings{C: math.Inf(1), MaxIter: 2_000_000})
			require.Check(t, errors.Is(err, ErrNotSeparable), "%v, %v; want ErrNotSeparable", r, err)
		})
	}
}

func TestHardMarginOnSonar(t *testing.T) {
	t.Parallel()
	x, y := mltest.TwoClasses(t, "sonar.csv", "R")
	mltest.Standardise(x)
	k := kernel.NewGram(kernel.Polynomial(0.5, 1, 2), x)
	r := train(t, k, y, Settings{C: math.Inf(1), Tol: 1e-6})
	relative(t, "objective", r.Dual, 0.18703628855298834, 1e-7) // reference for C = 0.1, where no alpha reaches C
}

// The lecture's f uses the free support vectors only; without bounded ones it is another function.
func TestSupportVectors(t *testing.T) {
	t.Parallel()
	x, y := moons(200, 0.3)
	gram := kernel.NewGram(kernel.RBF(1), x)
	r, k := train(t, gram, y, Settings{C: 1}), full(gram)
	changed := 0.0
	for i := range y {
		all, free := r.B, r.B
		for j, a := range r.Alpha {
			all += a * y[j] * k.At(i, j)
			if a < 1 {
				free += a * y[j] * k.At(i, j)
			}
		}
		require.Near(t, all, r.F[i], 1e-9, "sum over all support vectors at x_%d", i)
		changed = max(changed, math.Abs(all-free))
	}
	require.Check(t, changed >= 1, "without bounded support vectors f changes by %g only", changed)
	// The lecture claims that regularisation reduces the number of support vectors.
	before := 0
	for _, c := range []float64{100, 10, 1, 0.1, 0.01} {
		n := train(t, gram, y, Settings{C: c}).SupportVectors
		require.Check(t, n >= before, "C = %g: %d support vectors, %d at the C before", c, n, before)
		before = n
	}
	// Two points, alpha = C = 0.1 for both: every b in [-0.8, 0.8] will do, and the middle is 0.
	x = mat.NewDense(2, 1, []float64{-1, 1})
	r = train(t, kernel.NewGram(kernel.Linear(), x), []float64{-1, 1}, Settings{C: 0.1})
	require.Check(t, r.Free == 0 && r.BoundedInside == 2 && math.Abs(r.B) <= 1e-15,
		"%d free, %d bounded inside, b = %g; want 0, 2, 0", r.Free, r.BoundedInside, r.B)
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	k := kernel.NewGram(kernel.Kernel{Name: "linear"}, mat.NewDense(2, 1, []float64{0, 1}))
	bad := kernel.NewGram(kernel.Kernel{Name: "linear"}, mat.NewDense(2, 1, []float64{0, math.NaN()}))
	huge := kernel.NewGram(kernel.Polynomial(1, 0, 20), mat.NewDense(2, 1, []float64{1, 1e30}))
	offDiagonal := mltest.NewMatrix(2, 1, math.NaN(), math.NaN(), 1)
	labels := []float64{1, -1}
	for _, tc := range []struct {
		k    Matrix
		y    []float64
		s    Settings
		want string
	}{
		{kernel.NewGram(kernel.Kernel{Name: "linear"}, &mat.Dense{}), nil, Settings{C: 1}, "no points"},
		{k, []float64{1}, Settings{C: 1}, "1 labels for 2 points"},
		{k, []float64{1, 0}, Settings{C: 1}, "label of point 2 is 0"},
		{k, []float64{1, 1}, Settings{C: 1}, "same label"},
		{k, labels, Settings{}, "C is 0"},
		{k, labels, Settings{C: math.NaN()}, "C is NaN"},
		{k, labels, Settings{C: 1, Tol: -1}, "tol is -1"},
		{k, labels, Settings{C: 1, MaxIter: -1}, "max_iter is -1"},
		{bad, labels, Settings{C: 1}, "kernel of points 2 and 2 is NaN"},
		{huge, labels, Settings{C: 1}, "kernel of points 2 and 2 is +Inf"},
		{offDiagonal, labels, Settings{C: 1}, "kernel of points 1 and 2 is NaN"},
	} {
		r, err := Train(t.Context(), tc.k, tc.y, tc.s)
		require.Check(t, err != nil && strings.Contains(err.Error(), tc.want), "%v, %v; want an error with %q", r, err, tc.want)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	x, y := moons(200, 0.3)
	gram := kernel.NewGram(kernel.RBF(1), x)
	for _, c := range []float64{100, math.Inf(1)} {
		r, err := Train(t.Context(), gram, y, Settings{C: c, MaxIter: 20})
		require.Must(t, err == nil && r.Status == trace.IterationLimit && r.Iterations == 20, "%+v, %v", r, err)
		verify(t, r, full(gram), y, c, math.Inf(1))
	}
	// A tolerance below the rounding error ends with status numerical.
	r, err := Train(t.Context(), gram, y, Settings{C: 1, Tol: 1e-300})
	require.Must(t, err == nil && (r.Status == trace.Numerical || r.Status == trace.Converged), "%v, %v", r.Status, err)
	require.Check(t, r.KKTViolation <= 1e-12, "violation %g", r.KKTViolation)
}

// cancelling ends the context when its n-th row is requested and counts later rows.
type cancelling struct {
	Matrix
	cancel   context.CancelFunc
	n, after int
}

func (c *cancelling) Row(dst []float64, i int) {
	if c.n--; c.n == 0 {
		c.cancel()
	} else if c.n < 0 {
		c.after++
	}
	c.Matrix.Row(dst, i)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	x, y := moons(3000, 0.4)
	ctx, cancel := context.WithCancel(t.Context())
	k := &cancelling{Matrix: kernel.NewGram(kernel.RBF(1), x), cancel: cancel, n: 100}
	r, err := Train(ctx, k, y, Settings{C: 100, Tol: 1e-9})
	require.Must(t, err == nil && r.Status == trace.Cancelled, "%v, %v", r, err)
	require.Check(t, k.after <= 1+trace.LookEvery/(16*3000),
		"%d rows were computed after the context had ended", k.after)
	balance := 0.0
	for i, a := range r.Alpha {
		balance += a * y[i]
		require.Must(t, a >= 0 && a <= 100, "alpha[%d] = %g", i, a)
	}
	require.Check(t, math.Abs(balance) <= 1e-9, "sum alpha_i y_i = %g", balance)
}

// TestCancelLate ends the context while shrinking is in effect.
func TestCancelLate(t *testing.T) {
	t.Parallel()
	x, y := moons(1000, 0.4)
	ctx, cancel := context.WithCancel(t.Context())
	reports := 0
	r, err := Train(ctx, kernel.NewGram(kernel.RBF(1), x), y, Settings{
		C: 1e5, Tol: 1e-9,
		Recorder: func(trace.Step) {
			if reports++; reports == 3 {
				cancel()
			}
		},
	})
	require.Must(t, err == nil && r.Status == trace.Cancelled && reports <= 4,
		"%v, %v after %d reports", r.Status, err, reports)
	require.Check(t, r.SupportVectors != 0 && r.Dual > 0, "%d support vectors, dual %g", r.SupportVectors, r.Dual)
}

func TestReport(t *testing.T) {
	t.Parallel()
	x, y := moons(1000, 0.4)
	var steps []trace.Step
	r := train(t, kernel.NewGram(kernel.RBF(1), x), y, Settings{
		C: 1000, Recorder: func(s trace.Step) { steps = append(steps, s) },
	})
	require.Must(t, len(steps) != 0 && steps[0].Phase == "svm", "reports: %v", steps)
	for i, s := range steps {
		require.Check(t, i == 0 || s.Iteration >= steps[i-1].Iteration+500 && s.Objective >= steps[i-1].Objective*(1-1e-12),
			"report %d of %+v", i, steps)
	}
	last := steps[len(steps)-1]
	require.Check(t, last.Objective <= r.Dual*(1+1e-9), "the last report says %g, the result %g", last.Objective, r.Dual)
}

// BenchmarkTrain trains as the live page does, computing kernel rows anew.
func BenchmarkTrain(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 3000} {
		x, y := moons(n, 0.25)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				train(b, kernel.NewGram(kernel.RBF(1), x), y, Settings{C: 10})
			}
		})
	}
}

// A converged result is close to the optimum relative to its objective, however small that is.
func TestGapIsASmallShareOfTheObjective(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		kind := []string{"banana", "rings", "chess", "spiral", "moons"}[seed%5]
		c, gamma := math.Pow(10, rng.Float64()*12-5), math.Pow(10, rng.Float64()*5-3)
		x, y := plane(kind, 20+rng.IntN(200))
		r := require.Value(Train(t.Context(), kernel.NewGram(kernel.RBF(gamma), x), y, Settings{C: c}))(t)
		if share := (r.Primal - r.Dual) / r.Primal; r.Status != trace.Converged || share > 1e-3 || share != r.RelativeGap && r.Primal != r.Dual {
			t.Errorf("%s of %d points, C %.3g, gamma %.3g: %s, primal %g, dual %g, a share of %.2g between them (%.2g told)", kind, len(y), c, gamma, r.Status, r.Primal, r.Dual, share, r.RelativeGap)
		}
	}
}

// Low-rank kernels on unscaled features with any C: the tolerance fails only because of rounding,
// both outcomes come soon, and converged results have a small relative gap.
func TestUnscaled(t *testing.T) {
	t.Parallel()
	ended := map[trace.Status]int{}
	// In the last, C times rounding exceeded the gap.
	for _, seed := range append(dataset.Indices(293), 499, 539, 1073, 1684, 1704, 1909, 2291) {
		r := rand.New(rand.NewPCG(uint64(seed), 77))
		n, d, noise := 10+r.IntN(250), 1+r.IntN(6), 3*float64(r.IntN(3))*r.Float64()
		c, shift, whole := math.Pow(10, 9*r.Float64()), 5*max(0, r.Float64()-0.6), r.IntN(4) == 0
		x, y := mat.NewDense(n, d, nil), make([]float64, n)
		for j := range d {
			scale := math.Pow(10, 5*r.Float64()-2)
			for i := range n {
				v := r.NormFloat64()
				if whole {
					v = math.Round(2 * v)
				}
				x.Set(i, j, scale*(v+shift))
				y[i] += v
			}
		}
		for i := range y {
			y[i] = math.Copysign(1, y[i]+noise*r.NormFloat64())
		}
		y[0], y[1] = 1, -1
		k := kernel.Linear()
		if degree := r.IntN(4); degree > 0 {
			k = kernel.Polynomial(math.Pow(10, 3*r.Float64()-2), float64(r.IntN(3)), degree)
		}
		res := require.Value(Train(t.Context(), kernel.NewGram(k, x), y, Settings{C: c, MaxIter: 3_000_000}))(t)
		ended[res.Status]++
		require.Check(t, (res.Status != trace.Converged || res.RelativeGap <= 1e-3) && res.Status != trace.IterationLimit,
			"%s, %d points, C %.3g: %s after %d steps, violation %.3g, relative gap %.3g", k.Name, n, c, res.Status, res.Iterations, res.KKTViolation, res.RelativeGap)
	}
	require.Check(t, ended[trace.Numerical] != 0 && ended[trace.Converged] >= 150, "%v", ended)
}
