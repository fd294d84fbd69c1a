package cmdline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// moons is a data set and the file that holds it.
func moons(t *testing.T, n int) (d *dataset.Data, path string) {
	t.Helper()
	d = require.Value(dataset.Generate("moons", n, 0.3, 1))(t)
	return d, require.File(t, "moons.csv", require.Written(t, d.Encode))
}

func TestCVIsThatOfTheLibrary(t *testing.T) {
	t.Parallel()
	d, path := moons(t, 60)
	out := must(t, "cv", "--data", path, "--C", "100, 1", "--gamma", "0.5,auto", "--folds", "3", "--repeats", "2", "--seed", "4", "--nested", "--json")
	var got struct {
		N, D            int
		Classes         []string
		Positive        string
		Rule            ml.Rule
		Learner, Kernel string
		Folds, Repeats  int
		Seed            uint64
		Seconds         *float64
		OneError        *int `json:"one_standard_error"`
		eval.Result
	}
	dec := json.NewDecoder(strings.NewReader(out))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&got), "%s", out)
	spec := ml.DefaultSpec()
	want := require.Value(eval.CrossValidate(t.Context(), d, spec, eval.Grid{"C": {param.Of(1), param.Of(100)}, "gamma": {param.Of(0.5), param.Of("auto")}},
		eval.Scheme{Folds: 3, Repeats: 2, Seed: 4, Nested: true}, nil))(t)
	require.Equal(t, cmp.Diff(*want, got.Result), "", "diff")
	require.Check(t, got.N == 60 && got.D == 2 && len(got.Classes) == 2 && got.Positive == got.Classes[1] && got.Rule == ml.Sign && got.Learner == "svm" && got.Kernel == "rbf" &&
		got.Folds == 3 && got.Repeats == 2 && got.Seed == 4 && got.Seconds != nil &&
		got.OneError != nil && *got.OneError == want.WithinOneError(),
		"%s", out)
}

// A flag beside --folds=loo does not undo it.
func TestCVLeaveOneOut(t *testing.T) {
	t.Parallel()
	_, path := moons(t, 20)
	require.Says(t, must(t, "cv", "--data", path, "--folds", "loo", "--repeats", "1"), "over 20 folds", "cross-validation")
}

func TestCVTable(t *testing.T) {
	t.Parallel()
	d, path := moons(t, 60)
	out := must(t, "cv", "--data", path, "--C", "1,100", "--kernel", "linear", "--folds", "3", "--nested")
	res := require.Value(eval.CrossValidate(t.Context(), d, func() ml.Spec {
		s := ml.DefaultSpec()
		s.Kernel = "linear"
		return s
	}(), eval.Grid{"C": {param.Of(1), param.Of(100)}}, eval.Scheme{Folds: 3, Seed: 1, Nested: true}, nil))(t)
	lines := strings.Split(out, "\n")
	require.Must(t, len(lines) == 16 && strings.Contains(lines[0], "over 3 folds"), "%s", out)
	require.Check(t, !strings.Contains(lines[2], "gamma"), "line %q", lines[2]) // it applies to no setting
	for i, cell := range res.Settings {
		fields := strings.Fields(lines[3+i])
		want := []string{cell.Values.Text("C"), fmt.Sprintf("%.2f", 100*cell.Accuracy), fmt.Sprintf("%.2f", 100*cell.Deviation)}
		require.Check(t, len(fields) >= 5 && cmp.Equal(fields[:3], want) && fields[4] == "converged" && strings.Contains(lines[3+i], "best") == (i == res.Best) && strings.Contains(lines[3+i], "simplest") == (i == res.WithinOneError()),
			"line %q, want %v", lines[3+i], want)
	}
	require.Check(t, strings.HasPrefix(lines[6], fmt.Sprintf("Nested: %.2f %%", 100*res.Nested.Accuracy)),
		"line %q", lines[6])
	if out := must(t, "cv", "--data", path, "--folds", "2"); strings.Contains(out, "best") || strings.Contains(out, "Nested") {
		t.Errorf("one setting has nothing to choose from:\n%s", out)
	}
}

// TestCVOfAnyNumber searches numbers of other learners, kernels and maps, and shows them.
func TestCVOfAnyNumber(t *testing.T) {
	t.Parallel()
	d, path := moons(t, 40)
	args := []string{
		"cv", "--data", path, "--folds", "2", "--learner", "mcm", "--kernel", "poly", "--conformal", "gradient", "--core-step", "5",
		"--rho", "0.01,0", "--coef0", "0, 1", "--degree", "3", "--core-gamma", "0.1,1.0", "--rank-tol", "1e-9",
	}
	got := printed[struct {
		Cells []map[string]any
		Best  int
	}](t, args...)
	spec := ml.DefaultSpec()
	for name, text := range map[string]string{"learner": "mcm", "kernel": "poly", "conformal": "gradient", "core_step": "5", "degree": "3", "rank_tol": "1e-9"} {
		require.NoError(t, spec.Set(name, text))
	}
	res := require.Value(eval.CrossValidate(t.Context(), d, spec, eval.Grid{"rho": {param.Of(0.01), param.Of(0)}, "coef0": {param.Of(0), param.Of(1)}, "core_gamma": {param.Of(0.1), param.Of(1)}}, eval.Scheme{Folds: 2, Seed: 1}, nil))(t)
	require.Must(t, len(got.Cells) == 8 && got.Best == res.Best,
		"%d cells, the best is %d; want %+v", len(got.Cells), got.Best, res)
	for i, cell := range got.Cells { // the kernel's are outermost
		want := map[string]any{
			"C": 1.0, "gamma": "auto", "coef0": float64(i / 4), "rho": []float64{0.01, 0}[i/2%2], "core_gamma": []float64{0.1, 1}[i%2],
			"accuracy": res.Settings[i].Accuracy, "accuracy_sd": res.Settings[i].Deviation, "folds": cell["folds"],
		}
		for _, name := range []string{"balanced_accuracy", "f1", "mcc", "auc"} {
			want[name], want[name+"_sd"], _ = eval.RankedBy(name, false).Over(res.Settings[i].Folds)
		}
		require.Equal(t, cmp.Diff(want, cell), "", "cell %d", i)
	}
	lines := strings.Split(must(t, args...), "\n")
	want := []string{"C", "gamma", "coef0", "rho", "core_gamma", "accuracy", "sd", "support", "vectors", "status"}
	require.Check(t, cmp.Equal(strings.Fields(lines[2]), want), "head %q", lines[2])
	want = []string{"1", "auto", "1", "0.01", "1", fmt.Sprintf("%.2f", 100*res.Settings[5].Accuracy)}
	require.Check(t, cmp.Equal(strings.Fields(lines[3+5])[:6], want), "line %q, want %v", lines[3+5], want)
}

// TestCVOfARidge searches the parameter that a learner has in place of C.
func TestCVOfARidge(t *testing.T) {
	t.Parallel()
	d, path := moons(t, 60)
	out := must(t, "cv", "--data", path, "--folds", "3", "--learner", "ridge", "--lambda", "0.01,1,1e6")
	spec := ml.DefaultSpec()
	spec.Learner = "ridge"
	res := require.Value(eval.CrossValidate(t.Context(), d, spec, eval.Grid{"lambda": eval.Numbers(0.01, 1, 1e6)}, eval.Scheme{Folds: 3, Seed: 1}, nil))(t)
	lines := strings.Split(out, "\n")
	require.Check(t, cmp.Equal(strings.Fields(lines[2])[:3], []string{"gamma", "lambda", "accuracy"}), "head %q", lines[2])
	for i, lambda := range []string{"0.01", "1", "1000000"} {
		want := []string{"auto", lambda, fmt.Sprintf("%.2f", 100*res.Settings[i].Accuracy)}
		if fields := strings.Fields(lines[3+i]); len(fields) < 6 || !cmp.Equal(fields[:3], want) || fields[4] != "40.0" || fields[5] != "converged" {
			t.Errorf("line %q, want %v, 40 support vectors, converged", lines[3+i], want)
		}
	}
	require.Check(t, res.Settings[0].Accuracy != res.Settings[2].Accuracy, "lambda makes no difference")
	args := strings.Fields("--folds 3 --learner ridge --kernel linear --lambda 1,2")
	linear := printed[eval.Result](t, append([]string{"cv", "--data", path}, args...)...)
	require.Slices(t, linear.Searched, []string{"lambda"}, "neither C nor gamma applies")
}

func TestCVInterrupted(t *testing.T) {
	t.Parallel()
	_, path := moons(t, 300)
	for k := range int64(10) {
		ctx := &expiring{}
		ctx.Context, ctx.cancel = context.WithCancel(t.Context())
		ctx.left.Store(2*k + 1)
		o := run(ctx, "", "cv", "--data", path, "--C", "1,1000", "--gamma", "1,10")
		if o.code == 0 {
			break // it ended before it looked so often
		}
		require.Check(t, o.code == 1 && strings.Contains(o.err, "interrupted") && strings.Count(o.err, "\n") == 1 && o.out == "",
			"interrupted at look %d: exit %d: %s%s", 2*k+1, o.code, o.err, o.out)
	}
}

// TestCVDesigns: ranges in place of lists, drawn designs, and choices beside numbers, as the
// library has them.
func TestCVDesigns(t *testing.T) {
	t.Parallel()
	d, path := moons(t, 60)
	cells := func(args ...string) (all []param.Values) {
		got := printed[struct {
			Learner, Kernel string
			Cells           []eval.Setting
		}](t, append([]string{"cv", "--data", path, "--folds", "3"}, args...)...)
		for _, c := range got.Cells {
			all = append(all, c.Values)
		}
		return all
	}
	require.Equal(t, cmp.Diff(cells("--C", "0.1,1,10", "--gamma", "0.5"), cells("--C", "0.1..10/3", "--gamma", "0.5")), "", "a range and its values")
	axes := eval.Axes{}
	for name, text := range map[string]string{"C": "0.1..100", "gamma": "0.1..10"} {
		p, _ := ml.Param(name)
		require.NoError(t, axes.Add(name, p, text))
	}
	for _, design := range []string{eval.OfRandom, eval.OfSobol} {
		drawn := require.Value(axes.Design(design, 9, 4))(t)
		want := require.Value(eval.CrossValidate(t.Context(), d, ml.DefaultSpec(), drawn, eval.Scheme{Folds: 3, Seed: 4}, nil))(t)
		got := cells("--C", "0.1..100", "--gamma", "0.1..10", "--design", design, "--points", "9", "--seed", "4")
		require.Equal(t, len(got), 9, "%s: settings", design)
		for i, s := range want.Settings {
			require.Check(t, cmp.Equal(s.Values, got[i]), "%s: %v, want %v", design, got[i], s.Values)
		}
	}
	kinds := map[string]bool{}
	for _, v := range cells("--kernel", "linear,poly", "--learner", "svm,ridge", "--degree", "2,3", "--standardize=true,false") {
		kinds[v.Text("learner")+" "+v.Text("kernel")+" "+v.Text("degree")+" "+v.Text("standardize")] = true
	}
	require.Check(t, len(kinds) == 2*2*3, "%v", kinds)
}

// TestCVRefined: every round lies around the best of the one before, and is no worse.
func TestCVRefined(t *testing.T) {
	t.Parallel()
	_, path := moons(t, 60)
	for _, design := range [][]string{{"--C", "0.01,1,100", "--gamma", "0.1..10/3", "--kernel", "laplacian,rbf"}, {"--C", "0.01..100", "--gamma", "0.1..10", "--design", "sobol", "--points", "8"}} {
		args := append([]string{"cv", "--data", path, "--folds", "3", "--refine", "2"}, design...)
		got := printed[struct {
			eval.Result
			Warning string
			Rounds  []eval.Result
		}](t, args...)
		rounds := append(got.Rounds, got.Result)
		require.Must(t, len(rounds) == 3 && got.Warning == eval.NotNested, "%d rounds, %q", len(rounds), got.Warning)
		for i, r := range rounds[1:] {
			before := rounds[i].Settings[rounds[i].Best]
			require.Check(t, r.Settings[r.Best].Accuracy >= before.Accuracy,
				"round %d is worse than the one before", i+2)
			again := false
			for _, s := range r.Settings {
				again = again || cmp.Equal(s.Values, before.Values)
			}
			require.Check(t, again, "round %d does not have the best of the one before, %v", i+2, before.Values)
		}
		table := must(t, args...)
		for _, words := range []string{"Round 1\n", "Round 3\n", "simplest: fewest", "The score of the best setting is optimistic"} {
			require.Check(t, strings.Count(table, words) == 1,
				"%q is there %d times in\n%s", words, strings.Count(table, words), table)
		}
		table = must(t, append(args, "--nested")...)
		require.Check(t, !strings.Contains(table, "optimistic") && strings.Contains(table, "with the setting chosen anew, round by round, in every fold"), "%s", table)
	}
}
