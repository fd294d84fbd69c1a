package ml_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// places are those at which Sense compares the boundaries of models on the rows of x, which span a
// plane.
func places(x *mat.Dense) *mat.Dense {
	const n = 64
	grid := mat.NewDense(n*n, 2, nil)
	a, b := mat.Col(nil, 0, x), mat.Col(nil, 1, x)
	for i := range n * n {
		at := func(v []float64, k int) float64 {
			return slices.Min(v) + (slices.Max(v)-slices.Min(v))*float64(k)/(n-1)
		}
		grid.SetRow(i, []float64{at(a, i%n), at(b, i/n)})
	}
	return grid
}

// differ is at how many rows of x two models predict different classes.
func differ(a, b *ml.Model, x *mat.Dense) int {
	f, g := a.Decisions(x), b.Decisions(x)
	return len(lists.Where(len(f), func(i int) bool { return (f[i] >= 0) != (g[i] >= 0) }))
}

// Removals and flips agree with separate trainings from scratch.
func TestSense(t *testing.T) {
	t.Parallel()
	d := clouds(70, 2, 5)
	set := []string{"standardize", "false", "gamma", "0.3", "C", "2", "tol", "1e-7", "positive", "b"}
	var steps []trace.Step
	s := require.Value(ml.Sense(t.Context(), d, spec(t, set...), func(s trace.Step) { steps = append(steps, s) }))(t)
	base := train(t, d, spec(t, set...))
	require.Must(t, s.Plane && s.Places == 64*64 && !s.HeldOut && s.Judged == 70 && s.SupportVectors == base.Report.SupportVectors && len(s.Removals) == s.SupportVectors,
		"plane %v, %d places, %d judged, %d of %d support vectors; the training has %d", s.Plane, s.Places, s.Judged, len(s.Removals), s.SupportVectors, base.Report.SupportVectors)
	grid := places(d.X)
	for _, r := range s.Removals {
		alone := train(t, require.Value(d.Drop(r.Row-1))(t), spec(t, set...)).Model
		if want := differ(base.Model, alone, grid); math.Abs(r.Moved*float64(s.Places)-float64(want)) > 2 {
			t.Errorf("without row %d the boundary moves by %g places, from nothing by %d", r.Row, r.Moved*float64(s.Places), want)
		}
		require.Equal(t, r.Changed, differ(base.Model, alone, d.X),
			"predictions that change without row %d", r.Row)
	}
	require.Check(t, slices.IsSortedFunc(s.Removals, func(a, b ml.Removal) int { return int(math.Copysign(1, b.Moved-a.Moved)) }) && s.Removals[0].Moved != 0,
		"removals are not by falling moves: %v", s.Removals)
	require.Must(t, len(s.Flips) == 4, "flips %+v", s.Flips)
	for _, f := range s.Flips {
		if f.Row == 0 {
			continue
		}
		there := train(t, d, spec(t, append(set, f.Parameter, param.Of(f.To).Text())...)).Model
		before := train(t, d, spec(t, append(set, f.Parameter, param.Of(f.To*math.Pow(f.From/f.To, 0.02)).Text())...)).Model
		n := differ(base.Model, there, d.X)
		require.Check(t, n == f.Rows && differ(base.Model, before, d.X) <= n, "%+v: from nothing %d predictions change", f, n)
		x := d.X.RawRowView(f.Row - 1)
		require.Check(t, base.Model.Predict(x) == f.Was && there.Predict(x) == f.Becomes && f.Was != f.Becomes,
			"%+v: row %d is predictions %s and then %s", f, f.Row, base.Model.Predict(x), there.Predict(x))
	}
	require.Must(t, len(s.Samples) == ml.Resamples && len(s.Sampled) == ml.Resamples && len(s.Agreement) == 70,
		"%d samples, %d machines, %d rows", len(s.Samples), len(s.Sampled), len(s.Agreement))
	for k, m := range s.Sampled {
		n := differ(base.Model, m, grid)
		require.Check(t, math.Abs(s.Samples[k]*float64(s.Places)-float64(n)) <= 2, "sample %d moves by %g, its machine by %d places", k, s.Samples[k], n)
	}
	for i, share := range s.Agreement {
		x := d.X.RawRowView(i)
		agree := lists.Count(s.Sampled, func(m *ml.Model) bool { return m.Predict(x) == base.Model.Predict(x) })
		require.Near(t, share*ml.Resamples, float64(agree), 1e-9, "samples that agree on row %d", i+1)
	}
	for k, step := range steps {
		require.Check(t, k == 0 || step.Done > steps[k-1].Done, "%v at %d of %v", step, k, steps)
	}
	last := steps[len(steps)-1]
	require.Check(t, last.Done == last.Trainings, "the last step is %v", last)
}

// Without a plane the boundary moves by rows, and with rows held out it is their predictions that
// count. A second look finds the same.
func TestSenseOfRows(t *testing.T) {
	t.Parallel()
	d := clouds(60, 3, 5)
	sp := spec(t, "gamma", "scale", "test_fraction", "0.3", "positive", "a")
	s := require.Value(ml.Sense(t.Context(), d, sp, nil))(t)
	require.Check(t, !s.Plane && s.Places == 60 && s.HeldOut && s.Judged == 18 && s.Gamma != nil,
		"plane %v, %d places, held out %v, %d judged", s.Plane, s.Places, s.HeldOut, s.Judged)
	require.Check(t, len(s.Samples) == ml.Resamples && s.Sampled == nil,
		"%d samples, %d machines that no plane shows", len(s.Samples), len(s.Sampled))
	again, err := ml.Sense(t.Context(), d, sp, nil)
	require.Check(t, err == nil && slices.Equal(s.Removals, again.Removals) && slices.Equal(s.Samples, again.Samples) && slices.Equal(s.Flips, again.Flips),
		"a second look differs, %v", err)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err = ml.Sense(ctx, clouds(60, 2, 1), spec(t, "positive", "a"), func(trace.Step) {
		if n++; n == 5 {
			cancel()
		}
	})
	require.Check(t, errors.Is(err, context.Canceled) && n <= 6, "after %d trainings: %v", n, err)
	// Trainings that the iteration limit ends tell nothing of what moves.
	_, err = ml.Sense(t.Context(), clouds(60, 2, 1), spec(t, "positive", "a", "C", "100", "max_iter", "50"), nil)
	require.Check(t, errors.As(err, new(*param.Refusal)) && strings.Contains(err.Error(), "did not converge (iteration-limit)"),
		"an iteration limit that binds: %v", err)
}

func TestSenseAndRegulariseRefuse(t *testing.T) {
	t.Parallel()
	d := clouds(60, 3, 1)
	for _, set := range [][]string{
		{"learner", "mcm", "positive", "a"},
		{"positive", "a", "hard_margin", "true"},
		{"positive", "a", "conformal", "amari"},
		{"positive", "a", "kernel", "sigmoid"},
	} {
		for _, err := range []error{require.Err(ml.Sense(t.Context(), d, spec(t, set...), nil)), require.Err(ml.Regularise(t.Context(), d, spec(t, set...), nil))} {
			require.Check(t, errors.As(err, new(*param.Refusal)), "%v: %v", set, err)
		}
	}
	if _, err := ml.Sense(t.Context(), clouds(2*ml.MaxRegularise+2, 2, 1), spec(t, "positive", "a", "test_fraction", "0.6"), nil); !errors.As(err, new(*param.Refusal)) || !strings.Contains(err.Error(), "2000 rows, including test rows") {
		t.Errorf("too many rows in all: %v", err)
	}
	three := data([][]float64{{0}, {1}, {2}, {0.1}, {1.1}, {2.1}}, "a", "b", "c", "a", "b", "c")
	_, err := ml.Sense(t.Context(), three, spec(t), nil)
	require.Check(t, errors.As(err, new(*param.Refusal)), "three classes: %v", err)
}

// The only row of its class is not left out: without it there is no boundary.
func TestSenseAtItsEnds(t *testing.T) {
	t.Parallel()
	d := data([][]float64{{0, 0}, {1, 1}, {1.2, 0.9}, {0.8, 1.4}}, "a", "b", "b", "b")
	s := require.Value(ml.Sense(t.Context(), d, spec(t, "positive", "a"), nil))(t)
	first := s.Removals[0]
	require.Check(t, first.Row == 1 && first.Moved == 1 && first.Only && !s.Removals[1].Only, "the first removal is %+v", first)
	// A training that fails ends the search in its direction and nothing else: a polynomial of degree
	// 20 grows until rounding forbids the tolerance.
	d = data([][]float64{{1, 0}, {0.8, 0.6}, {0.6, 0.8}, {0, 1}, {-0.6, 0.8}, {-1, 0}}, "a", "a", "a", "b", "b", "b")
	sp := spec(t, "positive", "a", "kernel", "poly", "standardize", "false", "gamma", "1", "coef0", "0", "degree", "20")
	var last trace.Step
	s = require.Value(ml.Sense(t.Context(), d, sp, func(s trace.Step) { last = s }))(t)
	up := s.Flips[2]
	require.Check(t, up.Parameter == "gamma" && up.Row == 0 && (up.To >= 1 && up.To < 9), "as gamma grows: %+v", up)
	require.Check(t, len(s.Flips) == 4 && len(s.Samples) == ml.Resamples && last.Done == last.Trainings,
		"%d flips, %d samples, the last step is %v", len(s.Flips), len(s.Samples), last)
}
