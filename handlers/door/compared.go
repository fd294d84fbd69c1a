package door

import (
	"fmt"
	"slices"

	"marginlab/ml/param"
	"marginlab/store"
)

// MostCompared is how many runs one comparison takes: more columns cannot be taken in.
const MostCompared = 20

// ToCompare checks the ids of the runs to compare. Errors are param.Problems.
func ToCompare(ids []string) error {
	if len(ids) < 2 {
		return param.Problems{{Field: "run", Message: "a comparison needs at least two runs: choose them in the list of runs"}}
	}
	if len(ids) > MostCompared {
		return param.Problems{{Field: "run", Message: fmt.Sprintf("a comparison takes up to %d runs, not %d: leave some out", MostCompared, len(ids))}}
	}
	return nil
}

// Alike reports, as a *param.Refusal, why runs that are done were not asked the same of the
// same data, so that no test compares them.
func Alike(runs []store.Run) error {
	of := func(r store.Run) (string, []string) {
		classes := slices.Clone(r.Model.Classes)
		slices.Sort(classes)
		return r.Spec.Target, classes
	}
	target, classes := of(runs[0])
	for _, r := range runs {
		if r.Hash != runs[0].Hash {
			return param.Refuse("train both on the same data set", "no test tells whether the difference is real, because the runs were trained on different points")
		}
		switch t, c := of(r); {
		case t != target:
			return param.Refuse("compare runs with the same target", "no test tells which is better, because some of the runs tell classes apart and others fit values")
		case !slices.Equal(c, classes):
			return param.Refuse("compare runs with the same classes", "no test tells which is better, because the runs do not tell the same classes apart")
		}
	}
	return nil
}
