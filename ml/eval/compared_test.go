package eval_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// held are points with these answers, all but the first held out and of class a.
func held(mu ...string) (ps []ml.Point) {
	for i, t := range mu {
		ps = append(ps, ml.Point{Row: i, Label: "a", Predicted: t, Wrong: t != "a", HeldOut: i > 0})
	}
	return ps
}

func TestOnHeldOut(t *testing.T) {
	t.Parallel()
	h := require.Value(eval.OnHeldOut([][]ml.Point{
		held("b", "a", "a", "a", "b", "c", "a", "a"),
		held("a", "a", "b", "b", "b", "b", "a", "b"),
		held("b", "a", "a", "a", "b", "c", "a", "b"),
	}))(t)
	want := &eval.HeldOut{N: 7, Differ: []int{2, 3, 5, 7}, Pairs: []eval.HeldOutPair{
		{First: 0, Second: 1, Disagreement: eval.Disagreement{Both: 2, OnlyFirst: 3, NeitherSame: 1, Neither: 1, P: 0.25}, FirstLeads: true, Holm: 0.75},
		{First: 0, Second: 2, Disagreement: eval.Disagreement{Both: 4, OnlyFirst: 1, NeitherSame: 2, P: 1}, FirstLeads: true, Holm: 1},
		{First: 1, Second: 2, Disagreement: eval.Disagreement{Both: 2, OnlySecond: 2, NeitherSame: 2, Neither: 1, P: 0.5}, Holm: 1},
	}}
	require.Equal(t, cmp.Diff(want, h, cmpopts.EquateApprox(1e-12, 0)), "", "diff")

	values := func(f ...float64) (ps []ml.Point) {
		for i, v := range f {
			ps = append(ps, ml.Point{Row: i, Y: 1, F: v, HeldOut: true})
		}
		return ps
	}
	h = require.Value(eval.OnHeldOut([][]ml.Point{values(1, 1.1, 1, 0, 1), values(2, 0.5, 1, 1.25, 1.125)}))(t)
	// Sizes 1, 0.4, 0.75 and 0.125 with ranks 4, 2, 3 and 1, of which the third is the second's.
	d := h.Pairs[0]
	require.Check(t, h.Differ == nil && d.OnlyFirst == 3 && d.OnlySecond == 1 && math.Abs(d.P-10./16) <= 1e-12, "values: %+v", h)

	// Closer to more points, by little, is not better than much closer to somewhat fewer.
	var little, much []float64
	for i := range 30 {
		little, much = append(little, 1+float64(i)/1000), append(much, 1+float64(i+1)/1000)
		if i < 28 {
			little, much = append(little, 9+float64(i)), append(much, 1)
		}
	}
	h = require.Value(eval.OnHeldOut([][]ml.Point{values(little...), values(much...)}))(t)
	if d := h.Pairs[0]; d.OnlyFirst != 30 || d.OnlySecond != 28 || d.P > 0.01 || d.FirstLeads {
		t.Errorf("the sum of ranks speaks for the second: %+v", d)
	}
}

func TestOnHeldOutRefuses(t *testing.T) {
	t.Parallel()
	none := held("a", "a", "b")
	for i := range none {
		none[i].HeldOut = false
	}
	other := held("a", "a", "b")
	other[0].HeldOut, other[1].HeldOut = true, false
	for words, points := range map[string][][]ml.Point{
		"not every run held out points": {held("a", "a", "b"), none},
		"held out different points":     {held("a", "a", "b"), other},
	} {
		h, err := eval.OnHeldOut(points)
		var refusal *param.Refusal
		require.Check(t, errors.As(err, &refusal) && strings.Contains(err.Error(), words),
			"%+v, %v: want %s", h, err, words)
	}
}

func TestOnFolds(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	scheme := eval.Scheme{Folds: 5, Repeats: 2, Seed: 3}
	judged := func(gamma float64, scheme eval.Scheme) eval.Setting {
		res := require.Value(eval.CrossValidate(t.Context(), d, ml.DefaultSpec().With("gamma", param.Of(gamma)), nil, scheme, nil))(t)
		return res.Settings[0]
	}
	wide, narrow := judged(0.5, scheme), judged(1e4, scheme)
	pairs := require.Value(eval.OnFolds([]eval.Setting{wide, narrow, wide}, 5, 0.01))(t)
	same := pairs[1]
	require.Check(t, same.First == 0 && same.Second == 2 && *same.P == 1 && *same.Holm == 1 && *same.Posterior == (eval.Posterior{Same: 1}),
		"a setting and itself: %+v", same)
	first := pairs[0]
	require.Check(t, first.Freedom == 9 && first.Mean >= 0.1 && *first.Holm <= 0.01 && first.Posterior.Better >= 0.95,
		"a kernel narrower than the points are apart is no worse: %+v", first)
	require.Near(t, first.Mean, wide.Accuracy-narrow.Accuracy, 1e-12, "mean")
	// The same difference on every fold has no spread: how sure it is cannot be mu.
	fixed := func(accuracy float64) (s eval.Setting) {
		for range 4 {
			s.Folds = append(s.Folds, eval.Fold{Shares: &eval.Shares{Accuracy: accuracy}})
		}
		s.Mean = &eval.Mean{Accuracy: accuracy}
		return s
	}
	if pairs, err := eval.OnFolds([]eval.Setting{fixed(0.9), fixed(0.8), fixed(0.8)}, 4, 0.01); err != nil ||
		pairs[0].P != nil || pairs[0].Posterior != nil || pairs[0].Holm != nil || pairs[2].P == nil || *pairs[2].P != 1 || pairs[2].Posterior.Same != 1 {
		t.Errorf("%+v, %v", pairs, err)
	}
	pairs, err := eval.OnFolds([]eval.Setting{wide, judged(0.5, eval.Scheme{Folds: 5})}, 5, 0.01)
	require.Check(t, err != nil, "ten folds and five: %+v", pairs)
}
