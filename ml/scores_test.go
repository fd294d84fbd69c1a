package ml_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// The scores come from scikit-learn, by testdata/scores.py.
func TestScores(t *testing.T) {
	t.Parallel()
	sklearn := require.JSON[struct {
		Classes []struct {
			K                 int
			Right, Told       []int
			Balanced, F1, MCC float64
		}
		ROC []struct {
			F             []float64
			Positive      []bool
			Area, Average float64
		}
	}](t, require.Value(os.ReadFile("testdata/scores.json"))(t))
	for _, c := range sklearn.Classes {
		m := &ml.Model{Rule: ml.Argmax, Classes: []string{"a", "b", "c", "d", "e"}[:c.K], Machines: make([]ml.Machine, c.K)}
		scores := mat.NewDense(len(c.Told), c.K, nil)
		for i, p := range c.Told {
			scores.Set(i, p, 1)
		}
		var r ml.Report
		r.Judge(m, c.Right, scores)
		for name, pair := range map[string][2]float64{
			"balanced accuracy": {*r.TestBalancedAccuracy, c.Balanced}, "F1": {*r.TestF1, c.F1}, "MCC": {*r.TestMCC, c.MCC},
		} {
			require.Near(t, pair[0], pair[1], 1e-12, "%d classes, %d points: %s", c.K, len(c.Told), name)
		}
		require.Check(t, r.TestN == len(c.Told) && r.TestAUC == nil && r.TestInterval.Low <= *r.TestAccuracy && r.TestInterval.High >= *r.TestAccuracy,
			"%d classes: %d points, area %v, accuracy %g in %v", c.K, r.TestN, r.TestAUC, *r.TestAccuracy, r.TestInterval)
	}
	for _, c := range sklearn.ROC {
		roc := ml.ROCOf(c.F, c.Positive)
		require.Check(t, math.Abs(roc.Area-c.Area) <= 1e-12 && math.Abs(roc.Average-c.Average) <= 1e-12,
			"%d points: area %g and average precision %g, want %g and %g", len(c.F), roc.Area, roc.Average, c.Area, c.Average)
	}
}

// The area is the share of the pairs of a positive and a negative point that f puts in
// their order, ties counting half; the curve rises from (0, 0) to (1, 1).
func TestROCCountsPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		f, positive := make([]float64, n), make([]bool, n)
		for i := range f {
			f[i] = float64(rapid.IntRange(-3, 3).Draw(t, "f"))
			positive[i] = rapid.Bool().Draw(t, "positive")
		}
		var pairs, won, above [2]float64
		for i := range f {
			k := lists.Either(positive[i], 1, 0)
			pairs[k]++
			if f[i] >= 0 {
				above[k]++
			}
			for j := range f {
				if positive[i] && !positive[j] {
					switch {
					case f[i] > f[j]:
						won[0]++
					case f[i] == f[j]:
						won[0] += 0.5
					}
				}
			}
		}
		roc := ml.ROCOf(f, positive)
		if pairs[0] == 0 || pairs[1] == 0 {
			require.Must(t, roc == nil, "one class: %+v", roc)
			return
		}
		want := won[0] / (pairs[0] * pairs[1])
		require.Must(t, math.Abs(roc.Area-want) <= 1e-12, "area %g, want %g", roc.Area, want)
		last := len(roc.False) - 1
		require.Must(t, roc.False[0] == 0 && roc.True[0] == 0 && roc.False[last] == 1 && roc.True[last] == 1 && slices.IsSorted(roc.False) && slices.IsSorted(roc.True),
			"%v over %v", roc.True, roc.False)
		require.Must(t, roc.False[roc.Here] == above[0]/pairs[0] && roc.True[roc.Here] == above[1]/pairs[1],
			"place %d of %v over %v: want %g over %g", roc.Here, roc.True, roc.False, above[1]/pairs[1], above[0]/pairs[0])
	})
	require.Equal(t, ml.ROCOf([]float64{1, math.NaN()}, []bool{true, false}), nil, "NaN")
}

func TestScoresOfOneClass(t *testing.T) {
	t.Parallel()
	m := &ml.Model{Rule: ml.Sign, Classes: []string{"no", "yes"}, Machines: make([]ml.Machine, 1)}
	var r ml.Report
	r.Judge(m, []int{1, 1}, mat.NewDense(2, 1, []float64{2, -1}))
	require.Check(t, r.TestMCC == nil && r.TestAUC == nil && *r.TestBalancedAccuracy == 0.5 && *r.TestAccuracy == 0.5 && *r.TestConfusion[0].F1 == 0,
		"only yes: %+v", r)
	r = ml.Report{}
	r.Judge(m, []int{1, 1, 0}, mat.NewDense(3, 1, []float64{2, 1, 3})) // always yes
	require.Check(t, *r.TestMCC == 0 && *r.TestBalancedAccuracy == 0.5 && *r.TestAUC == 0 && r.TestConfusion[0].Precision == nil && *r.TestConfusion[0].F1 == 0,
		"always yes: %+v", r)
}

// A report from before there were these scores has them when it is read: they follow from its matrix.
func TestScoresOfAnOlderReport(t *testing.T) {
	t.Parallel()
	d := clouds(60, 2, 4)
	r := train(t, d, spec(t, "test_fraction", "0.4")).Report
	require.Must(t, r.TestAUC != nil && r.TestMCC != nil, "%+v", r)
	fields := require.JSON[map[string]any](t, asJSON(t, r))
	for _, name := range []string{"test_interval", "test_balanced_accuracy", "test_f1", "test_mcc", "test_auc"} {
		_, ok := fields[name]
		require.Check(t, ok, "no %s in %v", name, fields)
		delete(fields, name)
	}
	for _, row := range fields["test_confusion"].([]any) {
		delete(row.(map[string]any), "f1")
	}
	old := require.JSON[ml.Report](t, asJSON(t, fields))
	require.Check(t, *old.TestInterval == *r.TestInterval && *old.TestBalancedAccuracy == *r.TestBalancedAccuracy && *old.TestF1 == *r.TestF1 && *old.TestMCC == *r.TestMCC && *old.TestConfusion[0].F1 == *r.TestConfusion[0].F1,
		"%+v, want %+v", old, r)
	require.Check(t, old.TestAUC == nil, "the area needs f: %+v", old)
	var ragged ml.Report // what was stored never panics
	require.Equal(t, json.Unmarshal([]byte(`{"test_accuracy":7,"test_n":3,"test_confusion":[{"n":2,"predicted":[1]},{"n":-1,"predicted":[0,0,9]}]}`), &ragged),
		nil, "the error")
}
