package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

func python(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	t.Skip("there is no Python with NumPy")
	return ""
}

func relabelled(d *dataset.Data, classes ...string) *dataset.Data {
	other := *d
	other.Classes = classes
	return &other
}

// trained is a model with rows to evaluate.
type trained struct {
	name  string
	model *ml.Model
	x     *mat.Dense
}

func train(t testing.TB, name string, d *dataset.Data, settings ...string) trained {
	t.Helper()
	spec := ml.DefaultSpec()
	for i := 0; i < len(settings); i += 2 {
		require.NoError(t, spec.Set(settings[i], settings[i+1]), "%s", name)
	}
	res := require.Value(ml.Train(context.Background(), d, spec, nil))(t, "%s", name)
	x := lists.Either(d.Given == nil, d.X, d.Given)
	return trained{name, res.Model, x}
}

// overlapping returns d with noise on the features, so that machines err and votes differ.
func overlapping(d *dataset.Data, seed uint64) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 3))
	noisy := *d
	noisy.X = mat.DenseCopyOf(d.X)
	noisy.X.Apply(func(_, _ int, v float64) float64 { return v + rng.NormFloat64()*0.4 }, d.X)
	return &noisy
}

var kernels = [][]string{
	{"kernel", "linear"},
	{"kernel", "poly", "coef0", "1", "gamma", "0.3"},
	{"kernel", "rbf", "gamma", "0.4"},
	{"kernel", "sigmoid", "gamma", "0.05", "coef0", "-0.2"},
	{"kernel", "laplacian"},
	{"kernel", "rational_quadratic", "shape", "1.5"},
	{"kernel", "fisher", "components", "2"},
	{"kernel", "combined", "expression", "0.5*linear + rbf(gamma=0.3)*(poly(degree=2, coef0=1) + 0.25) + fisher(components=2)*0.1"},
}

// models returns models of every vector kernel, every rule and all preprocessing and post-processing.
func models(t testing.TB, name string, d *dataset.Data) (all []trained) {
	add := func(what string, d *dataset.Data, settings ...string) {
		all = append(all, train(t, name+" "+what, d, settings...))
	}
	for _, k := range kernels {
		for _, rule := range [][]string{{"multiclass", "ovo"}, {"multiclass", "ovr"}, {"positive", d.Classes[1]}} {
			add(k[1]+" "+rule[1], d, slices.Concat(k, rule)...)
		}
	}
	for _, rule := range []string{"ww", "cs"} {
		add(rule, d, "multiclass", rule, "C", "10")
	}
	for _, rule := range []string{"ovo", "ovr"} {
		add("conformal "+rule, d, "conformal", "eigen", "multiclass", rule)
		add("mcm "+rule, d, "learner", "mcm", "multiclass", rule)
		add("ridge "+rule, d, "learner", "ridge", "multiclass", rule)
	}
	add("raw", d, "standardize", "false", "multiclass", "ovo")
	add("calibrated", d, "positive", d.Classes[0], "calibration", "platt")
	add("projected", d, "project", "pca", "multiclass", "ovo")
	return all
}

func gaps(d *dataset.Data) *dataset.Data {
	rng := rand.New(rand.NewPCG(4, 4))
	var text bytes.Buffer
	fmt.Fprintln(&text, strings.Join(d.Features, ",")+",class")
	for i, y := range d.Y {
		for _, v := range d.X.RawRowView(i) {
			if rng.IntN(8) > 0 {
				fmt.Fprint(&text, v)
			}
			fmt.Fprint(&text, ",")
		}
		fmt.Fprintln(&text, d.Classes[y])
	}
	filled, err := dataset.Read(&text, "gaps.csv", dataset.Mapping{Missing: dataset.MissingMedian}, dataset.Limits{})
	if err != nil {
		panic(err)
	}
	return filled
}

// everyday returns the models of the tests that always run.
func everyday(t testing.TB) []trained {
	iris := overlapping(mltest.Builtin(t, "iris"), 1)
	all := models(t, "iris", iris)
	two := overlapping(mltest.Builtin(t, "iris-versicolor-virginica"), 2)
	for _, classes := range [][]string{{"0", "1"}, {"1", "0"}, {"-1", "1"}, {"1", "-1"}, {"2.0", "+1"}, {`"quoted"\`, "grün"}} {
		for _, k := range []string{"linear", "rbf", "laplacian"} {
			all = append(all, train(t, fmt.Sprintf("two %q %s", classes, k), relabelled(two, classes...), "kernel", k))
		}
	}
	for _, classes := range [][]string{{"3", "1", "2"}, {"10", "-2", "7"}} {
		all = append(all, train(t, fmt.Sprintf("three %q", classes), relabelled(iris, classes...), "kernel", "rbf"))
	}
	all = append(all, train(t, "missing", gaps(iris), "multiclass", "ovo"))
	values := *iris
	values.Classes, values.Y = nil, nil
	for i := range iris.X.RawMatrix().Rows {
		values.Classes = append(values.Classes, strconv.FormatFloat(iris.X.At(i, 0)-2*iris.X.At(i, 2)+float64(i)*1e-6, 'g', -1, 64))
		values.Y = append(values.Y, i)
	}
	for _, k := range kernels {
		all = append(all, train(t, "regression "+k[1], &values, append([]string{"target", "value", "learner", "ridge", "lambda", "50"}, k...)...))
	}
	return all
}

func TestEveryKernelOfVectorsIsTried(t *testing.T) {
	t.Parallel()
	for _, k := range kernel.Table {
		require.Check(t, k.Takes != dataset.KindVectors && k.Takes != "" || slices.ContainsFunc(kernels, func(tried []string) bool { return tried[1] == k.Name }),
			"%s is not tried", k.Name)
	}
}

// asked holds the questions to a peer and our answers.
type asked struct {
	Name   string
	File   string
	X      [][]*float64 // null: missing
	F      [][]float64
	Labels []string // nil: a regression
	Size   float64  // of the terms that cancel in f, at least 1
}

func (m trained) asked(file string) asked {
	a := asked{Name: m.name, File: file, Size: 1}
	for _, machine := range m.model.Machines {
		size := 0.0
		for _, u := range machine.Coef {
			size += math.Abs(u)
		}
		if c := machine.Map; c != nil {
			factor := math.Abs(c.Alpha0)
			for _, v := range c.Alpha {
				factor += math.Abs(v)
			}
			size *= factor
		}
		a.Size = max(a.Size, size)
	}
	scores := m.model.Scores(m.x)
	n, _ := m.x.Dims()
	for i := range n {
		row := make([]*float64, len(m.x.RawRowView(i)))
		for j, v := range m.x.RawRowView(i) {
			if v == v {
				row[j] = &v
			}
		}
		a.X, a.F = append(a.X, row), append(a.F, scores.RawRowView(i))
		if m.model.Rule != ml.Value {
			a.Labels = append(a.Labels, m.model.LabelOf(scores.RawRowView(i)...))
		}
	}
	return a
}

func write(t testing.TB, dir, format string, i int, m *ml.Model) string {
	t.Helper()
	f := require.Value(Find(format))(t)
	var text bytes.Buffer
	require.NoError(t, f.Write(&text, m))
	file := filepath.Join(dir, fmt.Sprintf("model_%d%s", i, f.Extension))
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	return file
}

// comparePython has NumPy agree to 1e-12 of the largest f or of the terms that cancel in it.
func comparePython(t *testing.T, all []trained) {
	interpreter, dir := python(t), t.TempDir()
	var questions []asked
	for i, m := range all {
		questions = append(questions, m.asked(write(t, dir, "python", i, m.model)))
	}
	var text bytes.Buffer
	require.NoError(t, json.NewEncoder(&text).Encode(questions))
	cmd := exec.Command(interpreter, "-W", "error", "-c", `
import json, sys, importlib.util
import numpy as np
for a in json.load(sys.stdin):
    spec = importlib.util.spec_from_file_location("model", a["File"])
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    X, want = np.array(a["X"], dtype=float), np.array(a["F"])
    f = model.decision_function(X)
    wrong = X.copy()
    wrong[0, 0] = np.inf if hasattr(model, "FILL") else np.nan
    try:
        print(a["Name"], "accepts", wrong[0, 0], "as", model.predict(wrong)[0])
    except ValueError:
        pass
    error = np.abs(f.reshape(want.shape) - want).max() / max(a["Size"], np.abs(want).max())
    if not error <= 1e-12:
        print(a["Name"], "f differs by", error)
    if a["Labels"] is None:
        assert (model.predict(X) == f).all()
        continue
    labels = [str(c) for c in model.predict(X)]
    plain = [c if str(model.CLASSES.dtype).startswith("<U") else str(int(float(c))) for c in a["Labels"]]
    if labels != plain:
        print(a["Name"], "labels differ:", sum(a != b for a, b in zip(labels, plain)))
`)
	cmd.Stdin = &text
	out, err := cmd.CombinedOutput()
	require.Check(t, err == nil && len(out) == 0, "%v\n%s", err, out)
}

func TestPythonSaysTheSame(t *testing.T) {
	t.Parallel()
	all := everyday(t)
	far := slices.IndexFunc(all, func(m trained) bool { return m.name == "iris fisher ovo" })
	all[far].x = mat.NewDense(2, 4, []float64{0, 1e160, 0, 0, 1e300, 1e300, 1e300, 1e300}) // squared distances overflow
	comparePython(t, all)
}

// Features of few whole numbers: rounding alone tells many rows from a tie.
func TestPythonDecidesTiesAlike(t *testing.T) {
	t.Parallel()
	var all []trained
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		n, d, k := 40+rng.IntN(50), 1+rng.IntN(3), 2+rng.IntN(3)
		data := &dataset.Data{Features: []string{"a", "b", "c"}[:d], Label: "class", Classes: []string{"x", "y", "z", "w"}[:k], X: mat.NewDense(n, d, nil)}
		for i := range n {
			for j := range d {
				data.X.Set(i, j, float64(rng.IntN(4)))
			}
			data.Y = append(data.Y, i%k)
		}
		pick := func(words ...string) string { return words[rng.IntN(len(words))] }
		all = append(all, train(t, fmt.Sprint("seed ", seed), data, "kernel", pick("linear", "linear", "poly", "rbf", "sigmoid"), "learner", pick("svm", "ridge"),
			"multiclass", pick("ovo", "ovo", "ovr"), "standardize", pick("true", "false"), "C", pick("1", "100"), "lambda", "50", "max_iter", "20000"))
	}
	comparePython(t, all)
}

// compareLIBSVM classifies the scaled rows with svm-predict, which prints f for a regression.
func compareLIBSVM(t *testing.T, all []trained) (compared int) {
	if _, err := exec.LookPath("svm-predict"); err != nil {
		t.Skip("there is no svm-predict")
	}
	dir := t.TempDir()
	format, _ := Find("libsvm")
	for i, m := range all {
		if format.Check(m.model) != nil {
			continue
		}
		compared++
		file, rows := write(t, dir, "libsvm", i, m.model), filepath.Join(dir, "rows")
		var data bytes.Buffer
		want := m.asked("")
		require.NoError(t, WriteLIBSVMData(&data, m.model, m.x, want.Labels))
		require.NoError(t, os.WriteFile(rows, data.Bytes(), 0o600))
		if out, err := exec.Command("svm-predict", rows, file, rows+".out").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", m.name, err, out)
		}
		out := require.Value(os.ReadFile(rows + ".out"))(t)
		numbers, wrong := LIBSVMLabels(m.model), 0
		for i, said := range strings.Fields(string(out)) {
			v := require.Value(strconv.ParseFloat(said, 64))(t)
			if want.Labels == nil {
				if d := v - want.F[i][0]; d > 1e-5 || d < -1e-5 {
					wrong++
				}
			} else if !same(v, numbers[slices.Index(m.model.Classes, want.Labels[i])]) && !tied(m.model, want.F[i]) {
				wrong++
			}
		}
		require.Check(t, wrong <= 0, "%s: %d of %d rows differ", m.name, wrong, len(want.F))
	}
	return compared
}

func same(v float64, text string) bool { return fmt.Sprint(v) == text }

// tied reports whether several classes have the most votes; LIBSVM then takes the first.
func tied(m *ml.Model, f []float64) bool {
	if m.Rule != ml.OneVsOne {
		return false
	}
	votes, _ := ml.Votes(len(m.Classes), f)
	slices.Sort(votes)
	return votes[len(votes)-1] == votes[len(votes)-2]
}

func TestLIBSVMSaysTheSame(t *testing.T) {
	t.Parallel()
	n := compareLIBSVM(t, everyday(t))
	require.Check(t, n >= 30, "only %d models could be written", n)
}
