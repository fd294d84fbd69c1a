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
	"marginlab/ml/param"
)

// held are points with these answers, all but the first held out and of class a.
func held(told ...string) (ps []ml.Point) {
	for i, t := range told {
		ps = append(ps, ml.Point{Row: i, Label: "a", Predicted: t, Wrong: t != "a", HeldOut: i > 0})
	}
	return ps
}

func TestOnHeldOut(t *testing.T) {
	t.Parallel()
	h, err := eval.OnHeldOut([][]ml.Point{
		held("b", "a", "a", "a", "b", "c", "a", "a"),
		held("a", "a", "b", "b", "b", "b", "a", "b"),
		held("b", "a", "a", "a", "b", "c", "a", "b"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &eval.HeldOut{N: 7, Differ: []int{2, 3, 5, 7}, Pairs: []eval.HeldOutPair{
		{First: 0, Second: 1, Disagreement: eval.Disagreement{Both: 2, OnlyFirst: 3, NeitherSame: 1, Neither: 1, P: 0.25}, Holm: 0.75},
		{First: 0, Second: 2, Disagreement: eval.Disagreement{Both: 4, OnlyFirst: 1, NeitherSame: 2, P: 1}, Holm: 1},
		{First: 1, Second: 2, Disagreement: eval.Disagreement{Both: 2, OnlySecond: 2, NeitherSame: 2, Neither: 1, P: 0.5}, Holm: 1},
	}}
	if diff := cmp.Diff(want, h, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}

	values := func(f ...float64) (ps []ml.Point) {
		for i, v := range f {
			ps = append(ps, ml.Point{Row: i, Y: 1, F: v, HeldOut: true})
		}
		return ps
	}
	h, err = eval.OnHeldOut([][]ml.Point{values(1, 1.1, 1, 0, 1), values(2, 0.5, 1, 1.25, 1.125)})
	if err != nil {
		t.Fatal(err)
	}
	// Sizes 1, 0.4, 0.75 and 0.125 with ranks 4, 2, 3 and 1, of which the third is the second's.
	if d := h.Pairs[0]; h.Differ != nil || d.OnlyFirst != 3 || d.OnlySecond != 1 || math.Abs(d.P-10./16) > 1e-12 {
		t.Errorf("values: %+v", h)
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
		"not every run held points out": {held("a", "a", "b"), none},
		"held out different points":     {held("a", "a", "b"), other},
	} {
		h, err := eval.OnHeldOut(points)
		var refusal *param.Refusal
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v, %v: want %s", h, err, words)
		}
	}
}

func TestCompareOnFolds(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	narrow, wide := ml.DefaultSpec(), ml.DefaultSpec()
	narrow, wide = narrow.With("gamma", param.Of(1e4)), wide.With("gamma", param.Of(0.5))
	wide.TestFraction = 0.5 // which folds do not use
	scheme := eval.Scheme{Folds: 5, Repeats: 2, Seed: 3}
	o, err := eval.CompareOnFolds(t.Context(), d, []ml.Spec{wide, narrow, wide}, scheme, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	same := o.Pairs[1]
	if same.First != 0 || same.Second != 2 || same.P != 1 || same.Holm != 1 || *same.Posterior != (eval.Posterior{Same: 1}) {
		t.Errorf("a spec and itself: %+v", same)
	}
	alone, err := eval.CrossValidate(t.Context(), d, narrow, nil, scheme, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(alone.Settings[0], o.Settings[1]); diff != "" {
		t.Errorf("alone and compared: %s", diff)
	}
	first := o.Pairs[0]
	if len(o.Settings[0].Folds) != 10 || first.Mean < 0.1 || first.Holm > 0.01 || first.Posterior.Better < 0.95 {
		t.Errorf("a kernel as narrow as the points are apart is no worse: %+v, %+v", first, o.Settings)
	}
	if math.Abs(first.Mean-(o.Settings[0].Accuracy-o.Settings[1].Accuracy)) > 1e-12 {
		t.Errorf("mean %g of %g and %g", first.Mean, o.Settings[0].Accuracy, o.Settings[1].Accuracy)
	}
	if _, err := eval.CompareOnFolds(t.Context(), d, []ml.Spec{wide, narrow}, eval.Scheme{Folds: 60}, 0.01); err == nil {
		t.Error("more folds than points of a class")
	}
}
