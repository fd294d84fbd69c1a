package runs

import (
	"runtime"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	runsview "marginlab/views/runs"
)

// TestExceeds: shares differ by percentage points, which are no per cent of anything.
func TestExceeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit    ml.Unit
		v, than float64
		want    string
	}{
		{ml.Share, 0.95, 0.9, "+5.0\u00a0pp"}, {ml.Share, 0.5, 0.505, "−0.5\u00a0pp"}, {ml.Share, 0.9, 0.9, ""}, {ml.Plain, 12, 20, "−8"},
	} {
		require.Equal(t, exceeds(c.unit, c.v, c.than), c.want, "%g against %g", c.v, c.than)
	}
}

// Names leave out the data set that all runs share, where that keeps different names apart.
func TestShortNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ data, names, want []string }{
		{[]string{"m", "m", "m"}, []string{"SVM · m", "mine", "MCM · m"}, []string{"SVM", "mine", "MCM"}},
		{[]string{"m", "m"}, []string{"SVM · m", "SVM · m"}, []string{"SVM", "SVM"}},
		{[]string{"m", "m"}, []string{"SVM · m", "SVM"}, []string{"SVM · m", "SVM"}},
		{[]string{"m", "n"}, []string{"SVM · m", "SVM · n"}, []string{"SVM · m", "SVM · n"}},
	} {
		runs := make([]store.Run, len(c.names))
		for i := range runs {
			runs[i].Name, runs[i].DatasetName = c.names[i], c.data[i]
		}
		require.Slices(t, shortNames(runs), c.want, "%q", c.names)
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		list     string
		i, least int
		want     []string // left, right, off
	}{
		{"a,b,c", 0, 1, []string{"", "b,a,c", "b,c"}},
		{"a,b,c", 1, 1, []string{"b,a,c", "a,c,b", "a,c"}},
		{"a,b,c", 2, 1, []string{"a,c,b", "", "a,b"}},
		{"a", 0, 1, []string{"", "", ""}},
		{"a,b", 0, 2, []string{"", "b,a", ""}},
		{"a,b,c", 2, 2, []string{"a,c,b", "", "a,b"}},
	} {
		left, right, off := moves(strings.Split(c.list, ","), c.i, c.least, func(list string) string { return list })
		require.Slices(t, []string{left, right, off}, c.want, "item %d of %s, %d kept", c.i, c.list, c.least)
	}
}

// Rows in JSON are refused at the first bad one, before a list of all takes many times their length.
func TestRowsOfJSONTakeLittleMemory(t *testing.T) {
	body := `{"rows":[` + strings.Repeat("0,", 2<<20) + `0]}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := rowsOfJSON(strings.NewReader(body), &ml.Model{Features: []string{"x"}})
	runtime.ReadMemStats(&after)
	require.Fails(t, err, "row 1: expected a list of numbers", "the first row")
	took := after.TotalAlloc - before.TotalAlloc
	require.Check(t, took < 16*uint64(len(body)), "%d MB for %d MB", took>>20, len(body)>>20)
	for body, says := range map[string]string{`{"rows":[[1e999]]}`: "found 1e999", `[[1]]`: "found array instead of an object"} {
		_, err := rowsOfJSON(strings.NewReader(body), &ml.Model{Features: []string{"x"}})
		require.Fails(t, err, says, "%s", body)
	}
}

// Rows in JSON keep features that numbers name.
func TestRowsOfJSONOfNumberedFeatures(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"rows":[[5,6],[7,8]]}`, `{"rows":[{"0":5,"1":6,"y":"a"},{"0":7,"1":8}]}`} {
		rows := require.Value(rowsOfJSON(strings.NewReader(body), &ml.Model{Features: []string{"0", "1"}, Label: "y"}))(t)
		x := require.Value(require.Value(dataset.ParseTable(rows, "", dataset.Limits{}))(t).Matrix([]string{"0", "1"}))(t)
		require.Slices(t, x.RawMatrix().Data, []float64{5, 6, 7, 8}, "%s", body)
	}
}

// A sentence says why an interval and its test disagree, and only then.
func TestDisputedIntervals(t *testing.T) {
	t.Parallel()
	runs := []store.Run{{Report: &ml.Report{}}, {Report: &ml.Report{}}, {Report: &ml.Report{}}}
	for _, tc := range []struct {
		wins, losses int
		holm         float64
		want         bool
	}{{5, 0, 0.0625, true}, {9, 0, 0.004, false}, {3, 2, 1, false}} {
		e := &runsview.Evidence{Names: []string{"a", "b", "c"}}
		pair := eval.HeldOutPair{First: 0, Second: 1, Disagreement: eval.Disagreement{OnlyFirst: tc.wins, OnlySecond: tc.losses}, Holm: tc.holm}
		held := onHeldOut(runs[:2], e, &eval.HeldOut{N: 60, Pairs: []eval.HeldOutPair{pair}})
		share, in := pair.Difference(60)
		folds := onFolds(runs, e, []eval.FoldPair{{First: 0, Second: 1, TTest: eval.TTest{Mean: share, Interval: in}, Holm: &tc.holm}})
		for _, h := range []*runsview.Hero{held, folds} {
			require.Check(t, strings.Contains(h.Sub, "the test decides") == tc.want, "%+v: %q", tc, h.Sub)
		}
	}
}
