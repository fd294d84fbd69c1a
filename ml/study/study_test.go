package study_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/study"
)

var update = flag.Bool("update", false, "write the golden files")

const small = `# a small study
title = "small"
baseline = "MCM"

[scheme]
folds = 3
repeats = 2
seed = 5
max_rows = 40

[data.moons]
generator = "moons"
noise = 0.3
n = 60

[data."iris, sepal"]
builtin = "iris-sepal"

[shared]
kernel = "rbf"
rho = 0.1

[learner.SVM]
C = [10, 1]
gamma = [0.5, "auto"]

[learner.MCM]
learner = "mcm"
`

func parse(t *testing.T, text string) *study.Study {
	t.Helper()
	return require.Value(study.Parse(text, "small.toml"))(t)
}

// read reads a file like the command line, but without limits.
func read(path string) (*dataset.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return dataset.ParseTable(f, path, dataset.Limits{})
}

func load(t *testing.T, s *study.Study) []study.Sample {
	t.Helper()
	return require.Value(s.Load(read))(t)
}

// TestIsNestedCrossValidation compares a study with separate cross-validations.
func TestIsNestedCrossValidation(t *testing.T) {
	t.Parallel()
	s := parse(t, small)
	samples := load(t, s)
	res := require.Value(study.Run(t.Context(), s, samples, study.Keeper{}, nil))(t)
	specs := []ml.Spec{ml.DefaultSpec(), ml.DefaultSpec()}
	specs[1].Learner = "mcm"
	specs[1].Values = specs[1].Values.With("rho", param.Of(0.1))
	grids := []eval.Grid{{"C": eval.Numbers(1, 10), "gamma": {param.Of(0.5), param.Of("auto")}}, nil}
	for i, set := range res.Sets {
		require.Check(t, set.Rows == 40 && set.Of == []int{60, 100}[i] && set.Name == s.Sets[i].Name && set.SHA256 == samples[i].Hash() && set.Classes == 2 && set.Features == 2,
			"%+v", set)
		for j, spec := range specs {
			want := require.Value(eval.CrossValidate(t.Context(), samples[i].Data, spec, grids[j], eval.Scheme{Folds: 3, Repeats: 2, Seed: 5, Nested: j == 0}, nil))(t)
			got := set.Outcomes[j]
			var vectors []float64
			for f := range 6 {
				chosen := 0
				if want.Nested != nil {
					chosen = want.Nested.Chosen[f]
				}
				w := want.Settings[chosen].Folds[f]
				vectors = append(vectors, float64(w.SupportVectors))
				if g := got.Folds[f]; g.Accuracy != w.Accuracy || g.SupportVectors != w.SupportVectors || g.Trained < 26 || g.Trained > 27 || !cmp.Equal(g.Chosen, want.Settings[chosen].Values) {
					t.Errorf("%s, %s, fold %d: %+v, want %+v with %v", set.Name, got.Learner, f, g, w, want.Settings[chosen].Values)
				}
			}
			require.Check(t, (j != 0 || got.Accuracy == want.Nested.Accuracy && got.Deviation == want.Nested.Deviation) && (j != 1 || got.Accuracy == want.Settings[0].Accuracy),
				"%s, %s: %+v, want %+v", set.Name, got.Learner, got, want)
			if mean, sd := stat.MeanStdDev(vectors, nil); got.SupportVectors != mean || got.VectorsDeviation != sd {
				t.Errorf("%s, %s: %g ± %g support vectors, want %g ± %g", set.Name, got.Learner, got.SupportVectors, got.VectorsDeviation, mean, sd)
			}
			if want := []int{4 * (6 + 18), 6}[j]; got.Trainings != want || got.Seconds <= 0 || got.Unfinished != 0 {
				t.Errorf("%s, %s: %+v, want %d trainings", set.Name, got.Learner, got, want)
			}
		}
	}
	require.Check(t, res.Accuracy.Friedman != nil && res.Baseline == "MCM" && len(res.Accuracy.Against) == 1 && res.Accuracy.Against[0].Learner == "SVM",
		"%+v", res.Accuracy)
}

// TestGoesOn interrupts a study, resumes it, and gets the same result.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	s := parse(t, small)
	samples := load(t, s)
	whole := require.Value(study.Run(t.Context(), s, samples, study.Keeper{}, nil))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	kept := make(map[string]eval.CellResult)
	keeper := study.Keeper{Keep: func(c eval.CellResult) error {
		text, err := json.Marshal(c) // as in a file
		if err != nil {
			return err
		}
		var back eval.CellResult
		if err := json.Unmarshal(text, &back); err != nil {
			return err
		}
		if _, twice := kept[c.Cell]; twice {
			return errors.New("computed twice")
		}
		if kept[c.Cell] = back; len(kept) == 20 {
			stop()
		}
		return nil
	}}
	_, err := study.Run(ctx, s, samples, keeper, nil)
	require.Must(t, errors.Is(err, context.Canceled), "interrupted: %v", err)
	before := len(kept)
	keeper.Known = make(map[string]eval.CellResult)
	for name, c := range kept {
		keeper.Known[name] = c
	}
	var last [3]int
	res := require.Value(study.Run(t.Context(), s, samples, keeper, func(done, known, total int) { last = [3]int{done, known, total} }))(t)
	const total = 2 * (2*24 + 6)
	require.Check(t, before != 0 && before < total && last == [3]int{total, before, total},
		"%d of %d cells before, then %v", before, total, last)
	require.Equal(t, cmp.Diff(whole, res, cmpopts.IgnoreFields(study.Outcome{}, "Seconds"), cmpopts.IgnoreUnexported(eval.Ranking{})), "", "diff")
}

func TestEncode(t *testing.T) {
	t.Parallel()
	lecture, ok := study.Builtin("lecture")
	require.Must(t, ok && len(lecture.Learners) == 6 && len(lecture.Sets) >= 8, "%+v", lecture)
	_, ok = study.Builtin("lecture.toml")
	require.Check(t, !ok, "a file is no study of the program")
	var all []*study.Study
	for _, ready := range study.Builtins {
		s, ok := study.Builtin(ready.Name)
		require.Must(t, ok && (len(s.Sets) == 0) == (ready.Name == "matrices"), "%s: %+v", ready.Name, s)
		for _, l := range s.Learners {
			require.Check(t, unicode.IsUpper(rune(l.Name[0])), "%s: %s begins in lower case", ready.Name, l.Name)
		}
		if len(s.Sets) > 0 {
			load(t, s)
			all = append(all, s)
		}
	}
	others := parse(t, strings.NewReplacer("[data.moons]", "[data.\"=1 \\\"x\\\"\"]\nsha256 = \"ab\"\npositive = \"1\"", "[shared]", "[data.f]\nfile = \"../d/f.csv\"\nlabel = \"class\"\nfeatures = [\"a, b\", \"c\"]\n\n[shared]\nconformal = [\"none\", \"eigen\"]\ncore_ridge = [0.1, 1e-7]").Replace(small))
	for _, s := range append(all, parse(t, small), others) {
		text := require.Value(s.Encode())(t)
		back, err := study.Parse(text, "again")
		require.Must(t, err == nil, "%v in\n%s", err, text)
		require.Equal(t, cmp.Diff(s, back, cmpopts.EquateEmpty()), "", "read back from\n%s\n", text)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	const head = "[data.a]\ngenerator = \"moons\"\n[learner.S]\n"
	for text, want := range map[string]string{
		"":                                  "s.toml: a study needs data",
		"[data.a]\ngenerator = \"moons\"\n": "s.toml: a study needs learners",
		"[data.a\n":                         "s.toml, line 1: expected",
		"a = 1\na = 2\n":                    "s.toml, line 2: Key 'a' has already been defined",
		"colour = 1\n":                      "s.toml, line 1: unknown key colour: expected one of baseline, data, learner, scheme, shared, title, version",
		"title = 1\n":                       "s.toml, line 1: expected a string in quotes, found 1",
		"\ndata = 3\n":                      "s.toml, line 2: data is not a table: expected [data]",
		"[[data]]\nfile = \"a\"\n":          "line 1: data is a list of tables: name each one, as in [data.first]",
		"[data]\na = 1\n":                   "line 2: data.a is not a table: expected [data.a]",
		"[scheme]\nfolds = 1\n":             "line 2: folds must be a whole number from 2 to 1000, not 1",
		"[scheme]\nfolds = \"5\"\n":         "line 2: folds must be a whole number",
		"[scheme]\nfolds = [5]\n":           "line 2: folds: expected a single value",
		"[scheme]\nrepeat = 1\n":            "line 2: unknown key repeat (did you mean repeats?): expected one of folds, repeats, seed, max_rows",
		"[data.a]\n":                        "line 1: data set a: expected one of file, generator and builtin",
		"[data.a]\nfile = \"x\"\nbuiltin = \"iris\"\n":     "line 1: data set a: expected one of file",
		"[data.a]\nbuiltin = \"rose\"\n":                   "line 2: no built-in data set \"rose\": expected one of iris",
		"[data.a]\ngenerator = \"rose\"\n":                 "line 2: no generator \"rose\": expected one of blobs",
		"[data.a]\ngenerator = \"moons\"\nlabel = \"x\"\n": "line 1: data set a: label, features and missing need a file",
		"[data.a]\nfile = \"x\"\nmissing = \"mean\"\n":     "line 1: data set a: missing expects error, drop or median, not \"mean\"",
		"[data.a]\ngenerator = \"moons\"\n\nn = 0.5\n":     "line 4: n must be a whole number",
		"[data.a]\ngenerator = \"moons\"\nlength = 9\n":    "line 3: unknown key length: expected one of file, generator, builtin, label, features, missing, positive, sha256, n, noise, seed",
		"[data.a]\nfile = \"x\"\nn = 9\n":                  "line 3: unknown key n",
		"[data.a]\nfile = \"x\"\nfeatures = \"a\"\n":       "line 3: features: expected a list of columns",
		"[data.a]\nfile = \"x\"\nfeatures = [1]\n":         "line 3: features: expected a list of columns",
		"[data.\" a\"]\nfile = \"x\"\n":                    "line 1: name \" a\": expected 1 to 60 characters",
		"[data.\"a\\nb\"]\nfile = \"x\"\n":                 "line 1: name \"a\\nb\"",
		head + "c = 1\n":                                   "line 4: c is not a parameter (did you mean C?)",
		head + "gama = 1\n":                                "line 4: gama is not a parameter (did you mean gamma?)",
		"[scheme\nfolds = 2\n":                             "line 1: expected '.' or ']' to end table name",
		"[scheme]\nfold = 2\n":                             "line 2: unknown key fold (did you mean folds?)",
		"[data.a]\nn = 9\ngenerator = \"mons\"\n":          "line 3: ",
		head + "C = -1\n":                                  "line 4: C must be a number above 0",
		head + "C = nan\n":                                 "line 4: C must be a number above 0",
		head + "C = \"1\"\n":                               "\"1\" has another type",
		head + "C = []\n":                                  "line 4: C: expected a value",
		head + "C = [1, 1.0]\n":                            "line 4: C names 1 twice",
		head + "gamma = [" + strings.Join(numbers(40), ",") + "]\nC = [" + strings.Join(numbers(40), ",") + "]\n": "line 3: learner S has more than 1000 settings",
		head + "C = [[1]]\n":                                                 "line 4: C: expected a single value",
		head + "C = 1979-05-27\n":                                            "line 4: C: expected a single value",
		head + "C = {a = 1}\n":                                               "line 4: C: expected a single value",
		head + "seed = 3\n":                                                  "line 4: seed cannot differ between learners",
		head + "target = \"value\"\n":                                        "line 4: target cannot differ between learners",
		head + "rho = 1\n":                                                   "line 3: learner S: rho has no effect with its other settings",
		"[shared]\nrho = 1\n" + head:                                         "[shared]: rho has no effect with any learner",
		"[shared]\nrho = \"a\"\n" + head:                                     "line 2: rho must be a number",
		"baseline = \"T\"\n" + head:                                          "line 1: baseline \"T\" is not a learner of the study: expected one of S",
		head + "C = [" + strings.Repeat("1.5,", 70000) + "]":                 "a study has at most 256 KB",
		head + "learner = \"mcm\"\nmulticlass = [\"ovo\", \"rose\"]\n":       "line 5: multiclass must be one of ovo",
		"[learner.S]\n[shared]\nC = 1\n[shared.x]\n[data.a]\nfile = \"x\"\n": "line 4: x is not a parameter",
	} {
		s, err := study.Parse(text, "s.toml")
		var fault *dataset.Error
		require.Check(t, errors.As(err, &fault) && strings.Contains(err.Error(), want),
			"%.80q: %v (%v), want %s", text, err, s, want)
	}
}

func numbers(n int) []string {
	return lists.Make(n, func(i int) string { return strconv.Itoa(i + 1) })
}

// FuzzParse looks for texts that crash the parser and for studies that change when parsed again.
func FuzzParse(f *testing.F) {
	lecture, _ := study.Builtin("lecture")
	text := require.Value(lecture.Encode())(f)
	for _, seed := range []string{text, small, "[[data]]", "a.b.c.d = {x = [1, {y = 2}]}", "[data.\"\"]", "[data.a]\nfile=\"x\"\nfeatures=[\"\\u0007\"]\n[learner.\"=1\"]\ngamma=[\"auto\",1e-300]", "data.a.builtin='iris'\nlearner.b.C=[1,2]\nlearner.b.hard_margin=[true,false]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := study.Parse(text, "f.toml")
		if err != nil {
			var fault *dataset.Error
			require.Must(t, errors.As(err, &fault), "%T: %v", err, err)
			return
		}
		first := require.Value(s.Encode())(t)
		back, err := study.Parse(first, "again")
		require.Must(t, err == nil, "%v in\n%s", err, first)
		second, err := back.Encode()
		require.Must(t, err == nil && second == first, "%v\n%s\nbecame\n%s", err, first, second)
	})
}

// TestLoad subsamples data by class, and rejects data other than those of the study.
func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("a,b,class\n")
	for i := range 90 {
		rows.WriteString(strings.Join([]string{string(rune('0' + i%7)), string(rune('0' + i%5)), string(rune('x' + lists.CountTrue(i%3 == 0)))}, ",") + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.csv"), []byte(rows.String()), 0o600))
	s := parse(t, "[scheme]\nmax_rows = 30\n[data.d]\nfile = \"d.csv\"\n[learner.S]\n")
	s.Dir = dir
	one := load(t, s)[0]
	number := make([]int, 2)
	for _, c := range one.Y {
		number[c]++
	}
	require.Check(t, one.Of == 90 && slices.Equal(number, []int{20, 10}), "%d of each class, of %d", number, one.Of)
	// A study in another folder has the same data.
	moved := require.Value(s.Moved(filepath.Join(dir, "out")))(t)
	moved.Sets[0].SHA256 = one.SHA256
	require.Check(t, load(t, moved)[0].SHA256 == one.SHA256 && moved.Sets[0].File == "../d.csv", "%+v", moved.Sets[0])
	moved.Seed++
	require.Fails(t, require.Err(moved.Load(read)), "data set d: the objects have the SHA-256", "others")
	s.Sets[0].Label = "colour"
	require.Fails(t, require.Err(s.Load(read)), "data set d: ", "no such column")
	require.Fails(t, s.Add("x/d.csv"), "already has a data set d", "twice")
	err := s.Add("x/e.csv")
	require.Check(t, err == nil && s.Sets[1].Name == "e" && filepath.IsAbs(s.Sets[1].File), "%v: %+v", err, s.Sets)
	err = s.Add("wine")
	require.Check(t, err == nil && s.Sets[2].Builtin == "wine" && s.Sets[2].File == "", "%v: %+v", err, s.Sets)
}

// A set states the treatment of missing values, also when encoded; each training fills them itself.
func TestMissing(t *testing.T) {
	t.Parallel()
	s := parse(t, "[data.d]\nfile = \"d.csv\"\n[learner.S]\n")
	s.Dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "d.csv"), []byte("a,b,class\n1,2,x\n,3,y\n4,5,x\n6,7,y\n"), 0o600))
	require.Fails(t, require.Err(s.Load(read)), "missing: drop or median", "the error")
	for missing, n := range map[dataset.Missing]int{dataset.MissingDrop: 3, dataset.MissingMedian: 4} {
		s.Sets[0].Missing = missing
		again := parse(t, require.Value(s.Encode())(t))
		again.Dir = s.Dir
		d := load(t, again)[0]
		require.Check(t, d.Len() == n && (d.Given != nil) == (missing == dataset.MissingMedian), "%s: %d rows, %v", missing, d.Len(), d.Given)
	}
}

// TestImpossible reports impossible combinations of set and learner before any work.
func TestImpossible(t *testing.T) {
	t.Parallel()
	s := parse(t, "[scheme]\nfolds = 60\n"+strings.Replace(small, "[scheme]\nfolds = 3\n", "", 1)[strings.Index(small, "[data.moons]")-len("[scheme]\nfolds = 3\n"):])
	require.Fails(t, require.Err(study.Run(t.Context(), s, load(t, s), study.Keeper{}, func(int, int, int) { t.Error("work began") })), "data set moons, learner SVM: ", "the error")
}

// made returns a result made by hand: three sets, three learners, two folds, with awkward names.
func made() *study.Result {
	r := &study.Result{Title: "ugly", Baseline: "=1+1", Folds: 2, Repeats: 1, Seed: 1, Learners: []string{"=1+1", `50%_{x}|*\`, "[c] & <d>"}}
	for i, name := range []string{"@a", "b#~^$", "c"} {
		set := study.SetResult{Name: name, Rows: 100, Of: 100 + 50*i, Features: 2, Classes: 2, SHA256: "0123"}
		for j, l := range r.Learners {
			o := study.Outcome{Learner: l, Trainings: 2, Seconds: 0.001 * float64(j+1), Unfinished: lists.CountTrue(i+j == 3)}
			for f := range 2 {
				a, n := 0.8+0.05*float64(j)-0.01*float64(i)+0.02*float64(f)+0.001*float64(j*(2*f-1)), 30-10*j+i+f
				if i == 2 && j > 0 {
					a = 0.8 // equal, and worse than the first
				}
				if i == 2 && j == 0 {
					a = 0.9
				}
				o.Folds = append(o.Folds, study.FoldOutcome{Accuracy: a, SupportVectors: n, Trained: 50, Chosen: param.Values{"C": param.Of(1)}})
			}
			x, y := o.Folds[0], o.Folds[1]
			o.Accuracy, o.Deviation = stat.MeanStdDev([]float64{x.Accuracy, y.Accuracy}, nil)
			o.SupportVectors, o.VectorsDeviation = stat.MeanStdDev([]float64{float64(x.SupportVectors), float64(y.SupportVectors)}, nil)
			o.Share = o.SupportVectors / 50
			set.Outcomes = append(set.Outcomes, o)
		}
		r.Sets = append(r.Sets, set)
	}
	return r
}

func TestComparison(t *testing.T) {
	t.Parallel()
	r := made()
	require.NoError(t, r.Compare())
	// Ranks 3 2 1, 3 2 1 and 1 2.5 2.5; fewer support vectors from left to right.
	require.Equal(t, cmp.Diff([]float64{7. / 3, 6.5 / 3, 4.5 / 3}, r.Accuracy.Friedman.Ranks, cmpopts.EquateApprox(0, 1e-12)), "", "diff")
	require.Equal(t, cmp.Diff([]float64{3, 2, 1}, r.Vectors.Friedman.Ranks), "", "diff")
	a := r.Accuracy.Against[1]
	if a.Learner != "[c] & <d>" || a.Better != 2 || a.SurelyBetter != 2 || a.Worse != 1 || a.SurelyWorse != 0 || math.Abs(a.Difference-(0.1+0.1-0.1)/3) > 1e-12 {
		t.Errorf("%+v", a) // with equal differences in all folds, nothing is significant
	}
	v := r.Vectors.Against[0]
	require.Check(t, v.Better == 3 && v.Worse == 0 && math.Abs(v.Difference+0.2) <= 1e-12 && v.Wilcoxon.P == 0.25 && v.Holm == 0.5, "%+v", v)
	one := made()
	one.Sets = one.Sets[:1]
	if err := one.Compare(); err != nil || one.Accuracy.Friedman != nil || len(one.Accuracy.Against) != 2 || one.Accuracy.CriticalDifference != 0 {
		t.Errorf("%v: %+v", err, one.Accuracy)
	}
	alone := made()
	alone.Learners = alone.Learners[:1]
	for i := range alone.Sets {
		alone.Sets[i].Outcomes = alone.Sets[i].Outcomes[:1]
	}
	err := alone.Compare()
	require.Check(t, err == nil && alone.Accuracy.Against == nil, "%v: %+v", err, alone.Accuracy)
	for _, r := range []*study.Result{one, alone} { // with tables, too
		require.Equal(t, study.Text(&bytes.Buffer{}, r.Tables()), nil, "study.Text")
	}
}

func TestExports(t *testing.T) {
	t.Parallel()
	r := made()
	require.NoError(t, r.Compare())
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"tables.txt":  func(b *bytes.Buffer) error { return study.Text(b, r.Tables()) },
		"tables.md":   func(b *bytes.Buffer) error { return study.Markdown(b, r.Tables()) },
		"tables.tex":  func(b *bytes.Buffer) error { return study.LaTeX(b, r.Tables()) },
		"results.csv": func(b *bytes.Buffer) error { return r.CSV(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
		}
		require.Equal(t, cmp.Diff(string(require.Value(os.ReadFile(path))(t)), b.String()), "", "%s", path)
		if name == "results.csv" {
			rows, err := csv.NewReader(&b).ReadAll()
			require.Check(t, err == nil && len(rows) == 10 && rows[1][0] == "'@a" && rows[1][1] == "'=1+1",
				"%v: %q", err, rows)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	sets := []study.SetResult{{Outcomes: []study.Outcome{{SupportVectors: 50}, {SupportVectors: 20}, {SupportVectors: 60}}}}
	for name, tc := range map[string]struct {
		first, second study.Versus
		want          string
	}{
		"none":   {study.Versus{Difference: 0.1, Holm: 0.2}, study.Versus{Difference: -0.1, Holm: 0.05}, "No learner is significantly better than SVM, and none is worse."},
		"one":    {study.Versus{Difference: 0.1, Holm: 0.01}, study.Versus{Difference: 0.2, Holm: 0.3}, "Better than SVM: MCM."},
		"both":   {study.Versus{Difference: 0.1, Holm: 0.01}, study.Versus{Difference: -0.2, Holm: 0.03}, "Better than SVM: MCM. Worse: ridge."},
		"worse":  {study.Versus{Difference: -0.1, Holm: 0.01}, study.Versus{Difference: 0.2, Holm: 0.3}, "No learner is significantly better than SVM; worse: MCM."},
		"losers": {study.Versus{Difference: -0.1, Holm: 0.01}, study.Versus{Difference: -0.2, Holm: 0.01}, "SVM is better than MCM and ridge."},
	} {
		tc.first.Learner, tc.second.Learner = "MCM", "ridge"
		r := study.Result{Baseline: "SVM", Learners: []string{"SVM", "MCM", "ridge"}, Sets: sets, Accuracy: study.Comparison{Against: []study.Versus{tc.first, tc.second}}}
		require.Equal(t, r.Verdict(), tc.want+" On average MCM needs 20 support vectors, SVM 50.", "%s", name)
		r.Target, r.Left = "value", study.Comparison{Against: []study.Versus{{Learner: "MCM", Difference: -0.1, Holm: 0.01}}}
		require.Equal(t, r.Verdict(), "Better than SVM: MCM.", "%s, of values", name)
	}
	require.Equal(t, (&study.Result{Learners: []string{"SVM"}}).Verdict(), "", "nothing compared")
}
