package eval_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// TestRefineNested goes through two rounds within the training points of every fold by
// hand, and has points held out moved, which must not change what is chosen for them.
func TestRefineNested(t *testing.T) {
	t.Parallel()
	d := moons(t, 72)
	spec := with(t, ml.DefaultSpec(), map[string]string{"gamma": "5"})
	grid := eval.Grid{"C": eval.Numbers(0.01, 0.1, 1, 30)}
	scheme := eval.Scheme{Folds: 3, Seed: 2, Nested: true}
	rounds, err := eval.Refine(t.Context(), d, spec, grid, scheme, 1, nil)
	require.Must(t, err == nil && len(rounds) == 2 && len(rounds[0].Nested.Chosen) == 3, "%v: %+v", err, rounds)
	got := rounds[1].Nested
	plan := require.Value(eval.NewPlan(d, spec, grid, scheme))(t)
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
		require.Equal(t, got.Settings[i]["C"], best, "choice of fold %d", i+1)
		if best != rounds[1].Settings[rounds[1].Best].Values["C"] {
			differ++
		}
		accuracies = append(accuracies, byHand(t, d, with(t, spec, map[string]string{"C": best.Text()}), append(outer.Train[:len(outer.Train):len(outer.Train)], outer.Test...), outer.Test))
	}
	require.Check(t, got.Accuracy == stat.Mean(accuracies, nil) && len(rounds[1].NestedFolds()) == 3,
		"%g, not the mean of %v", got.Accuracy, accuracies)
	require.Check(t, differ != 0, "every fold chose what all points do: the test shows nothing")

	spoilt := d.Subset(all(d))
	spoilt.X = mat.DenseCopyOf(d.X)
	for _, row := range plan.Splits[1].Test {
		spoilt.X.SetRow(row, []float64{float64(100 * row), -3})
	}
	other := require.Value(eval.Refine(t.Context(), spoilt, spec, grid, scheme, 1, nil))(t)
	was, is := got.Settings[1]["C"], other[1].Nested.Settings[1]["C"]
	require.Check(t, was == is, "points held out change the choice from %v to %v", was, is)
}

// The plan of a search that goes on within the folds has every cell once, also as JSON, knows its
// settings before the folds have chosen, and takes no other result for its own.
func TestOnwardPlan(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	spec := ml.DefaultSpec()
	var design eval.Design = eval.Grid{"kernel": {param.Of("rbf"), param.Of("linear")}, "C": eval.Numbers(0.1, 1, 10), "gamma": eval.Numbers(0.1, 1, 10)}
	scheme := eval.Scheme{Folds: 3, Seed: 1, Nested: true}
	worker, known, computed := eval.NewWorker(d, 0), map[string]eval.CellResult{}, 0
	for round := range 4 {
		fresh := require.Value(eval.NewPlan(d, spec, design, scheme))(t)
		plan := require.Reread(t, fresh)
		names := require.Value(plan.Names())(t)
		if again, err := fresh.Names(); err != nil || !slices.Equal(names, again) {
			t.Fatalf("round %d: the plan has other cells once it was written: %v", round+1, err)
		}
		seen := map[string]bool{}
		var results []eval.CellResult
		for i, c := range plan.Cells() {
			if name, err := c.Name(); err != nil || name != names[i] || seen[name] {
				t.Fatalf("round %d: cell %d is called %.8s, not %.8s, or is there twice: %v", round+1, i, name, names[i], err)
			}
			seen[names[i]] = true
			if _, ok := known[names[i]]; !ok {
				known[names[i]] = require.Value(worker.Compute(t.Context(), c))(t)
				computed++
			}
			results = append(results, known[names[i]])
		}
		require.Must(t, len(plan.Cells()) == len(names), "%d cells, %d names", len(plan.Cells()), len(names))
		require.Fails(t, require.Err(plan.Reduce(results[:len(results)-1])), "",
			"round %d: a result without its last cell", round+1)
		res := require.Value(plan.Reduce(results))(t)
		reached, err := plan.Reached(results[:len(plan.Paths)*len(plan.Splits)])
		require.Check(t, err == nil && cmp.Equal(reached.Settings, res.Settings),
			"round %d: with the cells of the folds alone %d settings are judged of %d: %v", round+1, len(reached.Settings), len(res.Settings), err)
		if restored, err := plan.Restore(res); err != nil || !cmp.Equal(restored, res) {
			t.Errorf("round %d: restored %v: %s", round+1, err, cmp.Diff(restored, res))
		}
		if round > 0 {
			for what, spoil := range map[string]func(*eval.Nested){
				"nothing":           func(n *eval.Nested) { n.Settings, n.Folds = nil, nil },
				"one fold":          func(n *eval.Nested) { n.Settings, n.Folds = n.Settings[:1], n.Folds[:1] },
				"another setting":   func(n *eval.Nested) { n.Settings[1] = param.Values{"C": param.Of(77)} },
				"an impossible one": func(n *eval.Nested) { n.Folds[2].Shares = &eval.Shares{Accuracy: 3} },
			} {
				other := *res
				other.Nested = &eval.Nested{Settings: slices.Clone(res.Nested.Settings), Folds: slices.Clone(res.Nested.Folds)}
				spoil(other.Nested)
				require.Fails(t, require.Err(plan.Restore(&other)), "", "round %d: %s is taken for what was chosen", round+1, what)
			}
		}
		design, scheme = eval.Next(design, scheme, res)
		require.Must(t, design != nil && len(scheme.Onward) == 3, "round %d: %+v", round+1, scheme)
	}
	require.Fails(t, require.Err(eval.NewPlan(d, spec, design, eval.Scheme{Folds: 3, Seed: 1, Nested: true, Onward: scheme.Onward[:2]})),
		"", "two folds go on, of three")
	require.Fails(t, require.Err(eval.NewPlan(d, spec, design, eval.Scheme{Folds: 3, Seed: 1, Nested: true, Onward: make([]eval.Onward, 3)})),
		"", "folds go on with nothing")
	t.Logf("%d cells computed", computed)
}

// Where nothing is left to try within one fold, what was chosen there stands, and the others go on.
func TestOnwardEnds(t *testing.T) {
	t.Parallel()
	d := moons(t, 24)
	spec := with(t, ml.DefaultSpec(), map[string]string{"kernel": "poly", "C": "1", "gamma": "1"})
	ended := 0
	for seed := range uint64(30) {
		var design eval.Design = eval.Grid{"degree": eval.Numbers(1, 2, 5)}
		scheme := eval.Scheme{Folds: 3, Seed: seed, Nested: true}
		for design != nil {
			res := require.Value(eval.CrossValidate(t.Context(), d, spec, design, scheme, nil))(t)
			for i, on := range scheme.Onward {
				if on.Fold == nil {
					continue
				}
				ended++
				alone, err := eval.CrossValidate(t.Context(), d, with(t, spec, map[string]string{"degree": on.Values.Text("degree")}), eval.Grid{}, eval.Scheme{Folds: 3, Seed: seed}, nil)
				require.Check(t, err == nil && cmp.Equal(res.Nested.Settings[i], on.Values) && cmp.Equal(alone.Settings[0].Folds[i], res.Nested.Folds[i]),
					"seed %d, fold %d, %v: %v: %s", seed, i+1, on.Values, err, cmp.Diff(alone.Settings[0].Folds[i], res.Nested.Folds[i]))
			}
			design, scheme = eval.Next(design, scheme, res)
		}
	}
	require.Check(t, ended != 0, "no fold came to its end before the others: the test shows nothing")
}
