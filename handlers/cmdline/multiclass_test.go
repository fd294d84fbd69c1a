package cmdline_test

import (
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// TestSeveralClasses goes through fit, predict and cv with the three of iris.
func TestSeveralClasses(t *testing.T) {
	t.Parallel()
	data := require.File(t, "iris.csv", require.Written(t, mltest.Builtin(t, "iris").Encode))
	dir := t.TempDir()
	for way, rule := range map[string]ml.Rule{"ovo": ml.OneVsOne, "ovr": ml.OneVsRest} {
		model, picture := filepath.Join(dir, way+".json"), filepath.Join(dir, way+".svg")
		args := []string{"fit", "--data", data, "--kernel", "linear", "--multiclass", way, "--json", "--out", model, "--plot", picture}
		o := run(t.Context(), "", args...)
		require.Must(t, o.code == 0 && !strings.Contains(o.err, "multiclass"), "%s: exit %d: %s", way, o.code, o.err)
		r := require.JSON[ml.Report](t, o.out)
		require.Check(t, r.Rule == rule && len(r.Machines) == 3 && *r.TrainAccuracy >= 0.9, "%s: %s", way, o.out)
		if ks := keys(t, o.out); slices.Contains(ks, "b") || slices.Contains(ks, "objective") || slices.Contains(ks, "positive") || !slices.Contains(ks, "machines") {
			t.Errorf("%s: %v", way, ks)
		}
		table := must(t, args[:7]...)
		require.Check(t, strings.Contains(table, "machines         3 ") && !strings.Contains(table, "objective "), "%s", table)
		table = must(t, args[:7]...)
		require.Check(t, strings.Contains(table, "\n              setosa  versicolor  virginica  precision ") && strings.Contains(table, "  recall     F1  SVs\n") && strings.Contains(table, "\n  virginica        0 "), "%s", table)
		records, err := csv.NewReader(strings.NewReader(must(t, "predict", "--model", model, "--data", data))).ReadAll()
		require.Must(t, err == nil && len(records) == 151, "%d lines, %v", len(records), err)
		right := lists.Count(records[1:], func(rec []string) bool { return rec[1] == rec[len(rec)-1] })
		if got := float64(right) / 150; got != *r.TrainAccuracy || records[0][2] == "f" {
			t.Errorf("%s: predictions %v are right in %g, the report says %g", way, records[0], got, *r.TrainAccuracy)
		}

		cv := printed[struct {
			Rule     ml.Rule
			Positive *string
			eval.Result
		}](t, "cv", "--data", data, "--multiclass", way, "--C", "0.1,10", "--folds", "5", "--nested")
		require.Check(t, cv.Rule == rule && cv.Positive == nil && len(cv.Settings) == 2 && cv.Settings[1].Accuracy >= 0.9 && cv.Nested.Accuracy >= 0.9,
			"%s: %+v", way, cv)
	}
}
