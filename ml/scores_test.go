package ml_test

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func TestConfusionByHand(t *testing.T) {
	t.Parallel()
	share := func(v float64) *float64 { return &v }
	got := ml.Confusion([]string{"a", "b", "c", "d"}, []int{0, 0, 0, 1, 1, 2, -1}, []int{0, 1, 0, 1, 0, 0, 1})
	want := []ml.ClassReport{
		{Class: "a", N: 3, Predicted: []int{2, 1, 0, 0}, Precision: share(0.5), Recall: share(2. / 3), F1: share(4. / 7)},
		{Class: "b", N: 2, Predicted: []int{1, 1, 0, 0}, Precision: share(1. / 3), Recall: share(0.5), F1: share(0.4)},
		{Class: "c", N: 1, Predicted: []int{1, 0, 0, 0}, Recall: share(0), F1: share(0)},
		{Class: "d", Predicted: []int{0, 0, 0, 0}},
	}
	require.Equal(t, cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)), "", "diff")
}

// The matrices of a report count what the points say of themselves.
func TestConfusionOfATraining(t *testing.T) {
	t.Parallel()
	d := three(90)
	for _, set := range [][]string{{"test_fraction", "0.3"}, {"multiclass", "ovr"}, {"positive", "elm", "test_fraction", "0.2"}, {"multiclass", "ww", "test_fraction", "0.2"}} {
		s := spec(t, set...)
		res := train(t, d, s)
		ps := require.Value(res.Model.Points(d, s))(t)
		for held, rows := range map[bool][]ml.ClassReport{false: res.Report.Confusion, true: res.Report.TestConfusion} {
			if held && s.TestFraction == 0 {
				require.Check(t, rows == nil, "%v: nothing is held out, and %+v", set, rows)
				continue
			}
			counts, vectors := map[[2]int]int{}, map[int]int{}
			for _, p := range ps {
				if p.Role != ml.None {
					vectors[res.Model.ClassOf(p.Label)]++
				}
				if p.HeldOut == held {
					predicted := res.Model.ClassOf(p.Predicted)
					counts[[2]int{res.Model.ClassOf(p.Label), predicted}]++
				}
			}
			all, right := 0, 0
			for c, r := range rows {
				require.Check(t, r.Class == res.Model.Classes[c],
					"%v: class %s, of the model %s", set, r.Class, res.Model.Classes[c])
				for p, n := range r.Predicted {
					require.Check(t, n == counts[[2]int{c, p}],
						"%v: %d of %s are predictions to be of class %d, counted %d", set, n, r.Class, p, counts[[2]int{c, p}])
				}
				if n := r.SupportVectors; held != (n == nil) || !held && *n != vectors[c] {
					t.Errorf("%v: support vectors of %s, held out %v: %v, counted %d", set, r.Class, held, n, vectors[c])
				}
				all += r.N
				right += r.Predicted[c]
			}
			accuracy := *res.Report.TrainAccuracy
			if held {
				accuracy = *res.Report.TestAccuracy
			}
			require.Near(t, accuracy, float64(right)/float64(all), 1e-12, "%v: %d of %d, accuracy", set, right, all)
		}
	}
}

// Every field of a report is explained, once, under its JSON name.
func TestQuantitiesCoverTheReport(t *testing.T) {
	t.Parallel()
	explained := map[string]int{}
	for _, q := range ml.Quantities {
		explained[q.Name]++
		require.Check(t, q.Label != "" && strings.HasSuffix(q.Help, "."),
			"%s: label %q, help %q", q.Name, q.Label, q.Help)
	}
	for i := range reflect.TypeFor[ml.Report]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[ml.Report]().Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue // the values: below
		}
		require.Equal(t, explained[name], 1, "%s is explained … times", name)
		delete(explained, name)
	}
	for _, p := range ml.Params {
		if p.Telling && p.Kind != param.Switch {
			require.Equal(t, explained[p.Name], 1, "%s is explained … times", p.Name)
			delete(explained, p.Name)
		}
	}
	require.Check(t, len(explained) == 0, "explained, but not in the report: %v", explained)
}

// A value that does not apply is nil, not a typed nil.
func TestQuantitiesOfAnEmptyReport(t *testing.T) {
	t.Parallel()
	for _, q := range ml.Quantities {
		v := q.Value(&ml.Report{})
		if v == nil {
			continue
		}
		k := reflect.ValueOf(v).Kind()
		require.Check(t, k != reflect.Pointer && k != reflect.Slice, "%s: %T", q.Name, v)
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	text := require.Value(os.ReadFile("eval/testdata/statistics.json"))(t)
	var scipy struct {
		Wilson []struct {
			Right, N         int
			Level, Low, High float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &scipy))
	for _, c := range scipy.Wilson {
		got, err := ml.Wilson(c.Right, c.N, c.Level)
		require.Check(t, err == nil && math.Abs(got.Low-c.Low) <= 1e-9 && math.Abs(got.High-c.High) <= 1e-9,
			"%d of %d at %g: %v (%v), want %g to %g", c.Right, c.N, c.Level, got, err, c.Low, c.High)
	}
	// Newcombe 1998, table I, method 3.
	for _, c := range []struct {
		right, n  int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		if got, err := ml.Wilson(c.right, c.n, 0.95); err != nil || math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: %v (%v), published %g to %g", c.right, c.n, got, err, c.low, c.high)
		}
	}
	got, err := ml.Wilson(0, 0, 0.95)
	require.Check(t, err == nil && got == (ml.Interval{Low: 0, High: 1}), "no points: %v (%v)", got, err)
	for _, c := range []struct {
		right, n int
		level    float64
	}{{-1, 3, 0.95}, {4, 3, 0.95}, {1, -1, 0.95}, {1, 3, 0}, {1, 3, 1}, {1, 3, math.NaN()}} {
		got, err := ml.Wilson(c.right, c.n, c.level)
		require.Check(t, err != nil, "%+v: %v", c, got)
	}
}

// The interval holds the share seen, lies within [0, 1], and mirrors.
func TestWilsonBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		right := rapid.IntRange(0, n).Draw(t, "right")
		in, err := ml.Wilson(right, n, 0.95)
		other, _ := ml.Wilson(n-right, n, 0.95)
		share := float64(right) / float64(n)
		require.Must(t, err == nil && in.Low >= 0 && in.High <= 1 && in.Low <= share && in.High >= share && in.High > in.Low,
			"%d of %d: %v (%v)", right, n, in, err)
		require.Must(t, math.Abs(in.Low-(1-other.High)) <= 1e-12,
			"%d of %d: %v, and of the wrong ones %v", right, n, in, other)
	})
}

// The scores come from scikit-learn, by testdata/scores.py.
func TestScores(t *testing.T) {
	t.Parallel()
	var sklearn struct {
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
	}
	require.NoError(t, json.Unmarshal(require.Value(os.ReadFile("testdata/scores.json"))(t), &sklearn))
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
			k := 0
			if positive[i] {
				k = 1
			}
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

// A report from before there were these scores has them when it is read: they follow from
// its matrix.
func TestScoresOfAnOlderReport(t *testing.T) {
	t.Parallel()
	d := clouds(60, 2, 4)
	res := train(t, d, spec(t, "test_fraction", "0.4"))
	r := res.Report
	require.Must(t, r.TestAUC != nil && r.TestMCC != nil, "%+v", r)
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(asJSON(t, r)), &fields))
	for _, name := range []string{"test_interval", "test_balanced_accuracy", "test_f1", "test_mcc", "test_auc"} {
		_, ok := fields[name]
		require.Check(t, ok, "no %s in %v", name, fields)
		delete(fields, name)
	}
	for _, row := range fields["test_confusion"].([]any) {
		delete(row.(map[string]any), "f1")
	}
	var old ml.Report
	require.NoError(t, json.Unmarshal([]byte(asJSON(t, fields)), &old))
	require.Check(t, *old.TestInterval == *r.TestInterval && *old.TestBalancedAccuracy == *r.TestBalancedAccuracy && *old.TestF1 == *r.TestF1 && *old.TestMCC == *r.TestMCC && *old.TestConfusion[0].F1 == *r.TestConfusion[0].F1,
		"%+v, want %+v", old, r)
	require.Check(t, old.TestAUC == nil, "the area needs f: %+v", old)
	var ragged ml.Report // what was stored never panics
	require.Equal(t, json.Unmarshal([]byte(`{"test_accuracy":7,"test_n":3,"test_confusion":[{"n":2,"predicted":[1]},{"n":-1,"predicted":[0,0,9]}]}`), &ragged),
		nil, "the error")
}
