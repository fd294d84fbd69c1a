package mixture_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"marginlab/ml/mixture"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

func clusters(r *rand.Rand, n int, deviation float64, centres ...[]float64) *mat.Dense {
	x := mat.NewDense(n*len(centres), len(centres[0]), nil)
	for i := range n * len(centres) {
		for j, c := range centres[i%len(centres)] {
			x.Set(i, j, c+deviation*r.NormFloat64())
		}
	}
	return x
}

// drawn draws a mixture of one to three components.
func drawn(t *rapid.T) *mixture.Mixture {
	m := &mixture.Mixture{}
	k, d := rapid.IntRange(1, 3).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "d")
	sum := 0.0
	for range k {
		m.Weights = append(m.Weights, rapid.Float64Range(0.1, 1).Draw(t, "weight"))
		sum += m.Weights[len(m.Weights)-1]
		m.Means = append(m.Means, rapid.SliceOfN(rapid.Float64Range(-2, 2), d, d).Draw(t, "mean"))
		m.Variances = append(m.Variances, rapid.SliceOfN(rapid.Float64Range(0.2, 3), d, d).Draw(t, "variance"))
	}
	floats.Scale(1/sum, m.Weights)
	return m
}

// logDensity returns log p(x) by the formula. The weights need not sum to 1.
func logDensity(m *mixture.Mixture, x []float64) float64 {
	p := 0.0
	for k, w := range m.Weights {
		for j, xj := range x {
			w *= distuv.Normal{Mu: m.Means[k][j], Sigma: math.Sqrt(m.Variances[k][j])}.Prob(xj)
		}
		p += w
	}
	return math.Log(p)
}

// Score is the gradient of log p, by finite differences in each parameter, with free weights.
func TestScoreIsTheGradient(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		d := len(m.Means[0])
		x := rapid.SliceOfN(rapid.Float64Range(-3, 3), d, d).Draw(t, "x")
		p := m.Density()
		share := make([]float64, m.Len())
		if got, want := p.At(share, x), logDensity(m, x); math.Abs(got-want) > 1e-9 {
			t.Fatalf("log p = %g, want %g", got, want)
		}
		require.Must(t, math.Abs(floats.Sum(share)-1) <= 1e-12, "responsibilities %v do not add up to 1", share)
		got := make([]float64, p.Scores())
		p.Score(got, x)
		parameters := []*float64{}
		for k := range m.Weights {
			parameters = append(parameters, &m.Weights[k])
		}
		for _, rows := range [][][]float64{m.Means, m.Variances} {
			for _, row := range rows {
				for j := range row {
					parameters = append(parameters, &row[j])
				}
			}
		}
		require.Must(t, len(parameters) == len(got), "%d scores of %d parameters", len(got), len(parameters))
		for a, q := range parameters {
			const h = 1e-5
			v := *q
			*q = v + h
			above := logDensity(m, x)
			*q = v - h
			below := logDensity(m, x)
			*q = v
			want := (above - below) / (2 * h)
			require.Must(t, math.Abs(got[a]-want) <= 1e-5*max(1, math.Abs(want)), "score %d is %g, by differences %g", a, got[a], want)
		}
	})
}

// EM never lowers the likelihood, keeps variances above the bound and weights with sum 1, and
// ends where each parameter equals its mean under the responsibilities.
func TestClimb(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		d, n := rapid.IntRange(1, 3).Draw(t, "d"), rapid.IntRange(4, 40).Draw(t, "n")
		x := mat.NewDense(n, d, nil)
		coarse := rapid.Bool().Draw(t, "coarse") // many equal rows
		for i := range n {
			for j := range d {
				v := float64(i%3) + r.NormFloat64()
				if coarse {
					v = math.Round(v)
				}
				x.Set(i, j, v)
			}
		}
		s := mixture.Settings{Components: rapid.IntRange(1, 4).Draw(t, "k"), Floor: 1e-3, Seed: r.Uint64(), MaxIter: 3000, Tol: 1e-13}
		var last mixture.State
		status := mixture.Climb(t.Context(), x, mixture.Begin(x, s, 0), s, func(now mixture.State) bool {
			sum := 0.0
			for i := range n {
				sum += logDensity(&now.Mixture, x.RawRowView(i))
			}
			require.Near(t, now.LogLikelihood, sum, 1e-8*math.Abs(sum), "log-likelihood of iteration %d", now.Iteration)
			require.Must(t, now.Iteration == 0 || now.LogLikelihood >= last.LogLikelihood-1e-9*math.Abs(sum)-1e-5*float64(now.LeftOut-last.LeftOut),
				"iteration %d: from %.12g to %.12g", now.Iteration, last.LogLikelihood, now.LogLikelihood)
			err := now.Mixture.Check(d)
			require.Must(t, err == nil && math.Abs(floats.Sum(now.Mixture.Weights)-1) <= 1e-12, "iteration %d: %+v: %v", now.Iteration, now.Mixture, err)
			last = now
			return true
		})
		if status != trace.Converged {
			return // slow convergence
		}
		m, p := &last.Mixture, last.Mixture.Density()
		weights := make([]float64, m.Len())
		share := make([]float64, m.Len())
		for i := range n {
			p.At(share, x.RawRowView(i))
			floats.AddScaled(weights, 1/float64(n), share)
		}
		require.Must(t, floats.EqualApprox(weights, m.Weights, 1e-3),
			"at the end the weights are %v, the responsibilities make %v", m.Weights, weights)
	})
}

func TestFitFindsTheClusters(t *testing.T) {
	t.Parallel()
	x := clusters(rand.New(rand.NewPCG(1, 1)), 400, 0.5, []float64{0, 0}, []float64{4, 0}, []float64{0, 4})
	heard := 0
	s := mixture.Settings{Components: 3, Starts: 4, Floor: 1e-3, Seed: 1, Recorder: func(s trace.Step) {
		require.Check(t, s.Phase == "mixture" && s.Iteration == heard && s.Violation >= 0, "step %d is %+v", heard, s)
		heard++
	}}
	f, err := mixture.Fit(t.Context(), x, s)
	require.Must(t, err == nil && f.Status == trace.Converged && heard > f.Iteration,
		"%v, %+v, %d steps", err, f, heard)
	for _, want := range [][]float64{{0, 0}, {4, 0}, {0, 4}} {
		k := slices.IndexFunc(f.Mixture.Means, func(m []float64) bool { return floats.Distance(m, want, 2) < 0.1 })
		require.Must(t, k >= 0, "no component at %v: %v", want, f.Mixture.Means)
		for _, v := range f.Mixture.Variances[k] {
			require.Check(t, math.Abs(v-0.25) <= 0.05, "variance %g, want about 0.25", v)
		}
		require.Near(t, f.Mixture.Weights[k], 1./3, 0.01, "weight")
	}
	s.Recorder = nil
	again, err := mixture.Fit(t.Context(), x, s)
	diff := cmp.Diff(f, again)
	require.Check(t, diff == "" && err == nil, "the same again: %v %s", err, diff)
	s.Starts = 1
	if one, err := mixture.Fit(t.Context(), x, s); err != nil || one.LogLikelihood > f.LogLikelihood {
		t.Errorf("%v: one start reaches %g, four %g", err, one.LogLikelihood, f.LogLikelihood)
	}

	require.Equal(t, cmp.Diff(f.Mixture, require.Reread(t, f.Mixture)), "", "read again")
}

// One component is the mean and variance of the rows, after one step.
func TestOneComponent(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(4, 2, []float64{0, 7, 1, 7, 2, 7, 5, 7})
	f := require.Value(mixture.Fit(t.Context(), x, mixture.Settings{Components: 1, Starts: 1, Floor: 0.01}))(t)
	// The second column is constant: its lowest variance is relative to 1.
	want := mixture.Mixture{Weights: []float64{1}, Means: [][]float64{{2, 7}}, Variances: [][]float64{{3.5, 0.01}}}
	require.Equal(t, cmp.Diff(want, f.Mixture), "", "diff")
	require.Check(t, f.LeftOut == 0 && slices.Equal(f.AtFloor, []int{0}),
		"left out %d, at the lowest variance %v", f.LeftOut, f.AtFloor)
	// A point so far away that its distance overflows has score 0 and log p of -Inf.
	m := mixture.Mixture{Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {1}}, Variances: [][]float64{{1}, {2}}}
	p := m.Density()
	score := make([]float64, p.Scores())
	p.Score(score, []float64{1e200})
	require.Equal(t, cmp.Diff(make([]float64, 6), score), "", "diff")
	p.Score(score, []float64{1e100})
	require.Check(t, !slices.ContainsFunc(score, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }),
		"score %v", score)
}

func TestCollapse(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(12, 1, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 10, 11})
	f, err := mixture.Fit(t.Context(), x, mixture.Settings{Components: 2, Starts: 3, Floor: 1e-4})
	require.Must(t, err == nil && f.Status == trace.Converged && len(f.AtFloor) == 1, "%v: %+v", err, f)
	k := f.AtFloor[0]
	require.Check(t, math.Abs(f.Mixture.Means[k][0]) <= 1e-9 && math.Abs(f.Mixture.Weights[k]-0.75) <= 1e-9, "the component of nine equal points: %+v", f.Mixture)

	// All components share identical rows.
	same := mat.NewDense(5, 2, slices.Repeat([]float64{3}, 10))
	f, err = mixture.Fit(t.Context(), same, mixture.Settings{Components: 3, Starts: 2, Floor: 1e-3})
	require.Check(t, err == nil && f.Mixture.Len() == 3 && f.Mixture.Check(2) == nil, "%v: %+v", err, f)

	// A component far from all rows loses them and is removed.
	far := mixture.Mixture{Weights: []float64{0.5, 0.5}, Means: [][]float64{{5}, {1e4}}, Variances: [][]float64{{20}, {1}}}
	var last mixture.State
	status := mixture.Climb(t.Context(), x, far, mixture.Settings{Floor: 1e-3}, func(s mixture.State) bool { last = s; return true })
	require.Check(t, status == trace.Converged && last.LeftOut == 1 && last.Mixture.Len() == 1 && last.Mixture.Weights[0] == 1,
		"%s: %+v", status, last)
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	ended := mltest.Ended()
	few := mat.NewDense(2, 1, []float64{1, 2})
	for name, c := range map[string]struct {
		ctx  context.Context
		x    *mat.Dense
		want string
	}{
		"more components than rows": {t.Context(), few, "a mixture of 3 components needs at least as many rows, but there are only 2; use fewer components or more rows"},
		"huge":                      {t.Context(), mat.NewDense(4, 1, []float64{1e200, -1e200, 0, 3}), "the likelihood of a mixture of these rows is not finite; standardise the features, or leave out those with very large values"},
		"ended":                     {ended, mat.NewDense(4, 1, []float64{1, 2, 3, 4}), context.Canceled.Error()},
	} {
		f, err := mixture.Fit(c.ctx, c.x, mixture.Settings{Components: 3, Starts: 2, Floor: 1e-3})
		require.Check(t, f == nil && err != nil && err.Error() == c.want, "%s: %+v, %v", name, f, err)
		_, ok := param.ForPerson(err)
		require.Check(t, ok != errors.Is(err, context.Canceled), "%s: %v", name, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	good := func() mixture.Mixture {
		return mixture.Mixture{Weights: []float64{1}, Means: [][]float64{{1, 2}}, Variances: [][]float64{{1, 2}}}
	}
	m := good()
	require.NoError(t, m.Check(2))
	for name, spoil := range map[string]func(m *mixture.Mixture){
		"no component":    func(m *mixture.Mixture) { *m = mixture.Mixture{} },
		"no variances":    func(m *mixture.Mixture) { m.Variances = nil },
		"weight 0":        func(m *mixture.Mixture) { m.Weights[0] = 0 },
		"weight NaN":      func(m *mixture.Mixture) { m.Weights[0] = math.NaN() },
		"short mean":      func(m *mixture.Mixture) { m.Means[0] = m.Means[0][:1] },
		"infinite mean":   func(m *mixture.Mixture) { m.Means[0][1] = math.Inf(1) },
		"short variances": func(m *mixture.Mixture) { m.Variances[0] = m.Variances[0][:1] },
		"variance 0":      func(m *mixture.Mixture) { m.Variances[0][1] = 0 },
		"subnormal":       func(m *mixture.Mixture) { m.Variances[0][1] = 5e-324 },
	} {
		m := good()
		spoil(&m)
		require.Check(t, m.Check(2) != nil, "%s: nothing wrong with %+v", name, m)
	}
}
