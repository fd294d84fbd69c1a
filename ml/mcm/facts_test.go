package mcm_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

func train(t *testing.T, k mcm.Matrix, y []float64, s mcm.Settings) *mcm.Result {
	t.Helper()
	return require.Value(mcm.Train(context.Background(), k, y, s))(t)
}

// With a kernel of full rank the machine interpolates the labels for every C.
func TestFullRankInterpolates(t *testing.T) {
	t.Parallel()
	x, y := moons(60, rand.New(rand.NewPCG(1, 1)))
	k := gram(x, rbf(20))
	for _, c := range []float64{1e-6, 0.1, 1, 1e3, 1e6, math.Inf(1)} {
		r := train(t, k, y, mcm.Settings{C: c, RankTol: 1e-10})
		require.Check(t, r.Status == trace.Converged && r.Rank == 60 && math.Abs(r.Objective-1) <= 1e-8,
			"C=%g: %s, rank %d, objective %.12g; want the full rank and 1", c, r.Status, r.Rank, r.Objective)
		for i, f := range r.F {
			require.Near(t, f, y[i], 1e-7, "C=%g: f_%d", c, i)
		}
		require.Check(t, r.SupportVectors >= 55, "C=%g: %d support vectors of 60", c, r.SupportVectors)
	}
}

// Points with both labels cost 2C for each of the rarer one, if the others can be interpolated.
func TestConflictingDuplicates(t *testing.T) {
	t.Parallel()
	var x [][]float64
	var y []float64
	rarer := 0
	for g, n := range [][2]int{{1, 0}, {3, 1}, {0, 2}, {2, 2}, {1, 4}, {0, 1}} {
		for side, count := range n {
			for range count {
				x, y = append(x, []float64{float64(g), float64(g * g)}), append(y, float64(1-2*side))
			}
		}
		rarer += min(n[0], n[1])
	}
	for _, c := range []float64{1e-3, 0.3, 1, 100, 1e5} {
		want := 1 + 2*c*float64(rarer)
		r := train(t, gram(x, rbf(1)), y, mcm.Settings{C: c, RankTol: 1e-9})
		require.Check(t, r.Status == trace.Converged && rel(r.Objective, want) <= 1e-8,
			"C=%g: %s with objective %.12g, want %.12g", c, r.Status, r.Objective, want)
	}
}

// For rho = 0 support vectors are at most the rank, and nearly so; lambda is 0 off the pivots.
func TestRank(t *testing.T) {
	t.Parallel()
	x, y := moons(200, rand.New(rand.NewPCG(2, 1)))
	for _, tol := range []float64{0.1, 1e-2, 1e-3} {
		r := train(t, gram(x, rbf(0.5)), y, mcm.Settings{C: 1, RankTol: tol})
		require.Check(t, r.SupportVectors <= r.Rank && r.SupportVectors >= r.Rank-2 && r.Rank <= 100,
			"rank_tol=%g: %d support vectors at rank %d", tol, r.SupportVectors, r.Rank)
	}
	// A coarser rank cut leaves fewer functions, hence a larger objective.
	x, y = moons(150, rand.New(rand.NewPCG(3, 1)))
	last := 0.0
	for _, tol := range []float64{1e-6, 1e-4, 1e-2, 0.1, 0.5} {
		r := train(t, gram(x, rbf(1)), y, mcm.Settings{C: 1, RankTol: tol})
		require.Check(t, r.Objective >= last*(1-1e-8),
			"rank_tol=%g: objective %g below %g of a finer cut", tol, r.Objective, last)
		last = r.Objective
	}
	// For rho = 0 only the rows of the pivots are asked for.
	x, y = moons(300, rand.New(rand.NewPCG(10, 1)))
	k := &counting{Matrix: gram(x, rbf(0.2)), rows: map[int]bool{}}
	r := train(t, k, y, mcm.Settings{C: 1})
	require.Check(t, len(k.rows) == r.Rank && r.Rank < 100, "%d rows asked for at rank %d", len(k.rows), r.Rank)
}

// Raising rho lowers sum |lambda|, raises the rest of the objective and reduces the support vectors.
func TestRhoMakesSparse(t *testing.T) {
	t.Parallel()
	x, y := moons(200, rand.New(rand.NewPCG(4, 1)))
	k := gram(x, rbf(1))
	l1, rest, first, last := math.Inf(1), 0.0, 0, 0
	for i, rho := range []float64{1e-4, 1e-3, 1e-2, 0.1, 1, 10} {
		r := train(t, k, y, mcm.Settings{C: 1, Rho: rho})
		require.Must(t, r.Status == trace.Converged, "rho=%g: %s", rho, r.Status)
		require.Check(t, r.L1 <= l1*(1+1e-7) && r.H+r.SlackSum >= rest*(1-1e-7),
			"rho=%g: sum |lambda| %g after %g, h + C sum q %g after %g", rho, r.L1, l1, r.H+r.SlackSum, rest)
		l1, rest, last = r.L1, r.H+r.SlackSum, r.SupportVectors
		if i == 0 {
			first = last
		}
	}
	require.Check(t, last < first/4, "%d support vectors at the largest rho, %d at the smallest", last, first)
}

// On unscaled features few steps suffice: with a linear term, where the columns of K are nearly parallel, as several are
// added at a time; where nearly all weights differ from zero, as the method begins with the function that equals the
// labels. Copies of points, some with another label, do not prevent that.
func TestUnscaledFeatures(t *testing.T) {
	t.Parallel()
	both := func(x, z []float64) float64 { return linear(x, z) + rbf(1)(x, z) }
	for _, c := range []struct {
		kernel              func(x, z []float64) float64
		rho, spread, copies int // of 1000, -, of 200
		steps               float64
	}{
		{both, 50, 30, 0, 2},
		{both, 1, 30, 0, 1},
		{rbf(1), 1, 30, 0, 0.1},
		{rbf(1), 50, 12, 0, 0.5},
		{rbf(1), 1, 12, 0, 0.5},
		{rbf(1), 1, 30, 20, 0.5},
	} {
		x, y := moons(200, rand.New(rand.NewPCG(4, 2)))
		for _, p := range x {
			floats.Scale(float64(c.spread), p)
		}
		for i := range c.copies {
			copy(x[i], x[199-i])
		}
		for _, cost := range []float64{1, 100} {
			r := train(t, gram(x, c.kernel), y, mcm.Settings{C: cost, Rho: float64(c.rho) / 1000})
			require.Check(t, r.Status == trace.Converged && float64(r.Iterations) < c.steps*float64(len(y)),
				"rho=%d/1000, spread %d, %d copies, C=%g: %s after %d steps", c.rho, c.spread, c.copies, cost, r.Status, r.Iterations)
		}
	}
}

// If rho is so large that no column pays, only the bias is left, and it is optimal.
func TestBiasOnly(t *testing.T) {
	t.Parallel()
	x, y := moons(30, rand.New(rand.NewPCG(5, 1)))
	y[0], y[2], y[4] = -1, -1, -1
	r := train(t, gram(x, rbf(1)), y, mcm.Settings{C: 1, Rho: 1e3})
	require.Check(t, r.SupportVectors == 0 && r.B == -1 && rel(r.Objective, 1+2*12) <= 1e-9,
		"%d support vectors, b = %g, objective %g; want 0, -1 and 25", r.SupportVectors, r.B, r.Objective)
	// Only the bias is left if the kernel vanishes, too.
	zero := gram(x, func(_, _ []float64) float64 { return 0 })
	for _, rho := range []float64{0, 0.1} {
		r := train(t, zero, y, mcm.Settings{C: 1, Rho: rho})
		require.Check(t, r.Status == trace.Converged && r.SupportVectors == 0 && rel(r.Objective, 25) <= 1e-9,
			"rho=%g, zero kernel: %s, %d support vectors, objective %g", rho, r.Status, r.SupportVectors, r.Objective)
	}
}

func TestHardMargin(t *testing.T) {
	t.Parallel()
	x := [][]float64{{-2, -1}, {-1, -1}, {-1, -2}, {1, 1}, {1, 2}, {2, 1}}
	y := []float64{-1, -1, -1, 1, 1, 1}
	for _, rho := range []float64{0, 0.01} {
		r := train(t, gram(x, linear), y, mcm.Settings{C: math.Inf(1), Rho: rho})
		require.Check(t, r.Status == trace.Converged && r.SlackSum == 0,
			"rho=%g: %s with slack %g", rho, r.Status, r.SlackSum)
		soft := train(t, gram(x, linear), y, mcm.Settings{C: 1e4, Rho: rho})
		require.Near(t, r.Objective, soft.Objective, 1e-8*r.Objective, "rho=%g: hard objective", rho)
		y := []float64{-1, 1, -1, 1, -1, 1}
		_, err := mcm.Train(context.Background(), gram(x, linear), y, mcm.Settings{C: math.Inf(1), Rho: rho})
		require.Check(t, errors.Is(err, mcm.ErrNotSeparable), "rho=%g, not separable: error %v", rho, err)
	}
	// On the toy data h is 3/2 / 1: f = (x1 + x2)/2 has margins from 1 to 3/2.
	r := train(t, gram(x, linear), y, mcm.Settings{C: math.Inf(1)})
	require.Check(t, rel(r.Objective, 1.5) <= 1e-9, "objective %.10g, want 1.5", r.Objective)
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	x, y := moons(10, rand.New(rand.NewPCG(6, 1)))
	k := gram(x, rbf(1))
	broken := gram(x, rbf(1))
	broken.Set(3, 4, math.NaN())
	broken.Set(4, 3, math.NaN())
	infinite := gram(x, rbf(1))
	infinite.Set(2, 2, math.Inf(1))
	with := func(i int, v float64) []float64 {
		z := append([]float64(nil), y...)
		z[i] = v
		return z
	}
	one := lists.Make(10, func(i int) float64 { return 1 })
	for _, c := range []struct {
		name string
		k    mcm.Matrix
		y    []float64
		s    mcm.Settings
		want string
	}{
		{"no points", mltest.Matrix{Dense: new(mat.Dense)}, nil, mcm.Settings{C: 1}, "no training points"},
		{"lengths", k, y[:9], mcm.Settings{C: 1}, "9 labels for 10"},
		{"label", k, with(3, 2), mcm.Settings{C: 1}, "label 4 is 2"},
		{"label NaN", k, with(3, math.NaN()), mcm.Settings{C: 1}, "label 4"},
		{"one class", k, one, mcm.Settings{C: 1}, "another class"},
		{"C zero", k, y, mcm.Settings{}, "C must be above 0"},
		{"C NaN", k, y, mcm.Settings{C: math.NaN()}, "C must be above 0"},
		{"rho negative", k, y, mcm.Settings{C: 1, Rho: -1}, "rho"},
		{"rho infinite", k, y, mcm.Settings{C: 1, Rho: math.Inf(1)}, "rho"},
		{"rank_tol", k, y, mcm.Settings{C: 1, RankTol: 1}, "rank_tol"},
		{"iterations", k, y, mcm.Settings{C: 1, MaxIter: -1}, "iteration limit"},
		{"kernel NaN", broken, y, mcm.Settings{C: 1}, "kernel matrix"},
		{"kernel NaN, sparse", broken, y, mcm.Settings{C: 1, Rho: 1e-3}, "kernel matrix"},
		{"kernel infinite", infinite, y, mcm.Settings{C: 1}, "kernel matrix"},
	} {
		require.Fails(t, require.Err(mcm.Train(context.Background(), c.k, c.y, c.s)), c.want, "%s", c.name)
	}
}

// The interior point method checks its context in every block, and stops when it has ended.
func TestCancelInBlocks(t *testing.T) {
	t.Parallel()
	x, y := moons(300, rand.New(rand.NewPCG(4, 1)))
	for _, gamma := range []float64{3, 10} { // normal equations with a row per pivot and with a row per other point
		p := problem{k: gram(x, rbf(gamma)), y: y, set: mcm.Settings{C: 1, RankTol: 1e-3}.WithInterior(1)}
		all := mltest.NewLooks(context.Background(), math.MaxInt64)
		r, err := mcm.Train(all, p.k, p.y, p.set)
		require.Must(t, err == nil && r.Status == trace.Converged, "%v %v", r, err)
		rows := min(r.Rank, len(y)-r.Rank)
		each := all.Taken() / int64(r.Iterations)
		require.Check(t, each >= int64(rows/32), "gamma=%g: %d looks a step with %d rows", gamma, each, rows)
		for i := range int64(40) {
			last := i * all.Taken() / 40
			end := mltest.NewLooks(context.Background(), last)
			r, err := mcm.Train(end, p.k, p.y, p.set)
			if more := end.Over(); err != nil || r.Status != trace.Cancelled || more > 20 {
				t.Fatalf("gamma=%g: over at look %d: %d more, %v, %v", gamma, last, more, r.Status, err)
			}
			require.Must(t, math.Abs(p.objective(r.Lambda, r.B)-r.Objective) <= 1e-9*r.Objective,
				"gamma=%g: over at look %d: objective %g, that of lambda is %g", gamma, last, r.Objective, p.objective(r.Lambda, r.B))
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	x, y := moons(400, rand.New(rand.NewPCG(7, 1)))
	for _, set := range []mcm.Settings{{C: 1}, {C: 1, Rho: 0.001}, mcm.Settings{C: 1}.WithInterior(1)} {
		p, rho := problem{"cancelled", gram(x, rbf(5)), y, set}, set.Rho
		best := train(t, p.k, y, p.set)

		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		s := p.set
		s.Recorder = func(step trace.Step) {
			reports++
			require.Check(t, step.Phase == "mcm" && step.Iteration != 0 && step.Objective >= 1, "rho=%g: report %+v", rho, step)
			cancel()
		}
		r, err := mcm.Train(ctx, p.k, y, s)
		require.Must(t, err == nil && r.Status == trace.Cancelled && reports == 1,
			"rho=%g: %+v after %d reports, error %v", rho, r, reports, err)
		if obj := p.objective(r.Lambda, r.B); rel(r.Objective, obj) > 1e-9 || r.Objective < best.Objective || r.DualObjective > best.Objective {
			t.Errorf("rho=%g: objective %g, that of lambda and b %g, dual %g, optimum %g", rho, r.Objective, obj, r.DualObjective, best.Objective)
		}
		// The context ends before training.
		r, err = mcm.Train(ctx, p.k, y, p.set)
		require.Check(t, err == nil && r.Status == trace.Cancelled && len(r.Lambda) == 400 && len(r.F) == 400,
			"rho=%g, ended before: %v, error %v", rho, r.Status, err)
	}
}

func TestIterationLimit(t *testing.T) {
	t.Parallel()
	x, y := moons(200, rand.New(rand.NewPCG(8, 1)))
	for _, rho := range []float64{0, 0.01} {
		p := problem{"limited", gram(x, rbf(1)), y, mcm.Settings{C: 1, Rho: rho}}
		best := train(t, p.k, y, p.set)
		p.set.MaxIter = best.Iterations / 2
		r := train(t, p.k, y, p.set)
		require.Check(t, r.Status == trace.IterationLimit && r.Iterations == p.set.MaxIter && r.Gap > 1e-8,
			"rho=%g: %s after %d of %d, gap %g", rho, r.Status, r.Iterations, p.set.MaxIter, r.Gap)
		if obj := p.objective(r.Lambda, r.B); rel(r.Objective, obj) > 1e-9 || obj < best.Objective {
			t.Errorf("rho=%g: objective %g, that of lambda and b %g, optimum %g", rho, r.Objective, obj, best.Objective)
		}
	}
	x, y = moons(150, rand.New(rand.NewPCG(9, 1)))
	for _, rho := range []float64{0, 0.01} {
		s := mcm.Settings{C: 3, Rho: rho}
		a, b := train(t, gram(x, rbf(2)), y, s), train(t, gram(x, rbf(2)), y, s)
		require.Check(t, reflect.DeepEqual(a, b), "rho=%g: two runs differ", rho)
	}
}

type counting struct {
	mcm.Matrix
	rows map[int]bool
}

func (c *counting) Row(dst []float64, i int) {
	c.rows[i] = true
	c.Matrix.Row(dst, i)
}
