package eval_test

import (
	"testing"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
)

// TestRefineNested goes through two rounds within the points that train of every fold by
// hand, and has points held out moved, which must not change what is chosen for them.
func TestRefineNested(t *testing.T) {
	t.Parallel()
	d := moons(t, 72)
	spec := with(t, ml.DefaultSpec(), map[string]string{"gamma": "5"})
	grid := eval.Grid{"C": eval.Numbers(0.01, 0.1, 1, 30)}
	scheme := eval.Scheme{Folds: 3, Seed: 2, Nested: true}
	rounds, err := eval.Refine(t.Context(), d, spec, grid, scheme, 1, nil)
	if err != nil || len(rounds) != 2 || len(rounds[0].Nested.Chosen) != 3 {
		t.Fatalf("%v: %+v", err, rounds)
	}
	got := rounds[1].Nested
	plan, err := eval.NewPlan(d, spec, grid, scheme)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := ml.Param("C")
	var accuracies []float64
	differ := 0
	for i, outer := range plan.Splits {
		tried := grid["C"]
		var best param.Value
		for range 2 {
			top := -1.0
			for _, v := range tried {
				sum := 0.0
				for _, inner := range plan.Inner[i] {
					sum += byHand(t, d, with(t, spec, map[string]string{"C": v.Text()}), append(inner.Train[:len(inner.Train):len(inner.Train)], inner.Test...), inner.Test)
				}
				if sum > top+1e-9 {
					top, best = sum, v
				}
			}
			tried = eval.Around(c, tried, best)
		}
		if got.Settings[i]["C"] != best {
			t.Errorf("fold %d: %v was chosen, not %v", i+1, got.Settings[i], best.Text())
		}
		if best != rounds[1].Settings[rounds[1].Best].Values["C"] {
			differ++
		}
		accuracies = append(accuracies, byHand(t, d, with(t, spec, map[string]string{"C": best.Text()}), append(outer.Train[:len(outer.Train):len(outer.Train)], outer.Test...), outer.Test))
	}
	if mean := stat.Mean(accuracies, nil); got.Accuracy != mean || len(rounds[1].NestedFolds()) != 3 {
		t.Errorf("%g, not the mean of %v", got.Accuracy, accuracies)
	}
	if differ == 0 {
		t.Error("every fold chose what all points do: the test shows nothing")
	}

	spoilt := part(d, rangeOf(d.Len()))
	for _, row := range plan.Splits[1].Test {
		spoilt.X.SetRow(row, []float64{float64(100 * row), -3})
	}
	other, err := eval.Refine(t.Context(), spoilt, spec, grid, scheme, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if was, is := got.Settings[1]["C"], other[1].Nested.Settings[1]["C"]; was != is {
		t.Errorf("points held out change the choice from %v to %v", was, is)
	}
}

func rangeOf(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
