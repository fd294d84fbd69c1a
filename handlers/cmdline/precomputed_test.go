package cmdline_test

import (
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// gram writes what handlerstest.Gram returns to files.
func gram(t *testing.T, d *dataset.Data, train int) (libsvm, plain, test, self string) {
	t.Helper()
	libsvm, plain, test, self = handlerstest.Gram(d, kernel.RBF(0.5), train)
	return require.File(t, "K.libsvm", libsvm), require.File(t, "K.csv", plain), require.File(t, "test.libsvm", test), require.File(t, "test.csv", self)
}

// TestPrecomputed goes through fit, predict and cv with values of a kernel instead of
// points, and finds what it finds with the points.
func TestPrecomputed(t *testing.T) {
	t.Parallel()
	d, _ := moons(t, 80)
	libsvm, plain, test, self := gram(t, d, 60)
	part := lists.Make(60, func(i int) int { return i })
	points := require.File(t, "points.csv", require.Written(t, d.Subset(part).Encode))
	type report struct {
		N, D           *int
		Objective      float64
		SupportVectors int      `json:"support_vectors"`
		Test           *float64 `json:"test_accuracy"`
	}
	fit := func(args ...string) report {
		t.Helper()
		return printed[report](t, append([]string{"fit", "--tol", "1e-9", "--C", "3"}, args...)...)
	}
	dir := t.TempDir()
	model, mapped := filepath.Join(dir, "m.json"), filepath.Join(dir, "mapped.json")
	want := fit("--data", points, "--gamma", "0.5", "--standardize=false")
	for _, data := range []string{libsvm, plain} {
		got := fit("--kernel", "precomputed", "--data", data, "--test", test, "--out", model)
		if d := got.Objective - want.Objective; d > 1e-8 || d < -1e-8 || got.SupportVectors != want.SupportVectors || *got.N != 60 || got.D != nil || got.Test == nil {
			t.Errorf("%s: %+v, with points %+v", data, got, want)
		}
	}
	for line := range strings.Lines(must(t, "fit", "--kernel", "precomputed", "--data", libsvm)) {
		name, _, _ := strings.Cut(line, " ")
		require.Check(t, name != "d", "features of values of a kernel: %s", line)
	}
	predict := func(model, data string) [][]string {
		t.Helper()
		rows, err := csv.NewReader(strings.NewReader(must(t, "predict", "--model", model, "--data", data))).ReadAll()
		require.Must(t, err == nil && (len(rows) == 21 || len(rows) == 61) && cmp.Equal(rows[0], []string{"row", "label", "f", "true"}),
			"%v, %v", rows, err)
		return rows
	}
	if a, b := predict(model, test), predict(model, self); !cmp.Equal(a, b) {
		t.Errorf("predictions differ between the forms: %s", cmp.Diff(a, b))
	}
	predict(model, libsvm)

	o := run(t.Context(), "", "fit", "--kernel", "precomputed", "--data", libsvm, "--conformal", "eigen", "--out", mapped, "--plot", filepath.Join(dir, "p.svg"))
	require.Must(t, o.code == 0 && strings.Contains(o.err, "decision values"), "exit %d: %s", o.code, o.err)
	predict(mapped, self)
	o = run(t.Context(), "", "predict", "--model", mapped, "--data", test)
	require.Check(t, o.code == 1 && strings.Contains(o.err, "test.libsvm, row 1: the conformal map needs k(x, x)") && strings.Contains(o.err, "called self"), "a map without k(x, x): exit %d: %s", o.code, o.err)
	fails(t, 1, "points.csv: expected 60 values of the kernel in each row", "predict", "--model", model, "--data", points)
	for _, says := range []struct{ args, says string }{
		{"fit --data L", "kernel: rbf compares points with features, but these data are a kernel matrix, values k(x, z) instead of points; use precomputed"},
		{"fit --kernel precomputed --data P", "points.csv: expected a kernel matrix with as many columns as rows, not counting the label, found 60 rows and 2 columns"},
		{"cv --data L", "use precomputed"},
	} {
		fails(t, 1, says.says, strings.Fields(strings.NewReplacer("L", libsvm, "P", points).Replace(says.args))...)
	}

	accuracies := func(args ...string) (list []float64) {
		t.Helper()
		r := printed[struct {
			Cells []struct{ Accuracy float64 }
		}](t, append([]string{"cv", "--folds", "4", "--C", "0.3,3,30", "--tol", "1e-6"}, args...)...)
		for _, c := range r.Cells {
			list = append(list, c.Accuracy)
		}
		return list
	}
	a, b := accuracies("--data", points, "--gamma", "0.5", "--standardize=false"), accuracies("--data", plain, "--kernel", "precomputed")
	require.Check(t, cmp.Equal(a, b) && len(a) == 3, "cv: %v with points, %v with their kernel", a, b)
}
