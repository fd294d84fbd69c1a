package ml_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// spec is the default spec with some parameters set: "kernel", "linear", ...
func spec(t testing.TB, set ...string) ml.Spec {
	t.Helper()
	s := ml.DefaultSpec()
	for i := 0; i < len(set); i += 2 {
		require.NoError(t, s.Set(set[i], set[i+1]))
	}
	return s
}

func train(t testing.TB, d *dataset.Data, s ml.Spec) *ml.Result {
	t.Helper()
	return require.Value(ml.Train(context.Background(), d, s, nil))(t)
}

// data makes a data set of rows and labels; features are x1, x2, ...
func data(x [][]float64, labels ...string) *dataset.Data {
	d := &dataset.Data{Label: "label", X: mat.NewDense(len(x), len(x[0]), nil)}
	for j := range x[0] {
		d.Features = append(d.Features, "x"+string(rune('1'+j)))
	}
	d.Classes = slices.Clone(labels)
	dataset.SortLabels(d.Classes)
	d.Classes = slices.Compact(d.Classes)
	for i, row := range x {
		d.X.SetRow(i, row)
		d.Y = append(d.Y, slices.Index(d.Classes, labels[i]))
	}
	return d
}

// toy is the six points of scikit-learn's "Reference values", with a margin from (-1,-1) to (1,1).
func toy() *dataset.Data {
	return data([][]float64{{-2, -1}, {-1, -1}, {-1, -2}, {1, 1}, {1, 2}, {2, 1}}, "no", "no", "no", "yes", "yes", "yes")
}

// clouds draws two overlapping classes in d dimensions.
func clouds(n, d int, seed uint64) *dataset.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, labels := make([][]float64, n), make([]string, n)
	for i := range x {
		labels[i] = []string{"a", "b"}[i%2]
		x[i] = lists.Make(d, func(j int) float64 { return 10*float64(j) + float64(j+1)*(rng.NormFloat64()+1.5*float64(i%2)) })
	}
	return data(x, labels...)
}

func TestTrainFindsTheKnownSolutionOfTheToy(t *testing.T) {
	t.Parallel()
	res := train(t, toy(), spec(t, "kernel", "linear", "standardize", "false", "tol", "1e-9"))
	u := map[int]float64{}
	for k, row := range res.Model.Supports.Rows {
		u[row] = res.Model.Machines[0].Coef[k]
	}
	require.Check(t, len(u) == 2 && math.Abs(u[1]+0.25) <= 1e-8 && math.Abs(u[3]-0.25) <= 1e-8 && math.Abs(res.Model.Machines[0].B) <= 1e-8,
		"coefficients by row %v and b = %g, want -0.25 on row 1, 0.25 on row 3, b = 0", u, res.Model.Machines[0].B)
	r := res.Report
	require.Check(t, r.Status == trace.Converged && *r.TrainAccuracy == 1 && r.SupportVectors == 2 && *r.Free == 2 && *r.SlackSum <= 1e-8,
		"report %+v", r)
	require.Check(t, math.Abs(*r.Margin-math.Sqrt2) <= 1e-8 && math.Abs(*r.Objective-0.25) <= 1e-8,
		"margin %g, objective %g; want √2 and 0.25", *r.Margin, *r.Objective)
	diff := cmp.Diff([]string{"no", "yes"}, r.Classes)
	require.Check(t, diff == "" && r.Positive == "yes" && r.N == 6 && r.D == 2 && r.TrainN == 6, "%+v %s", r, diff)
	require.Equal(t, res.Model.Predict([]float64{3, 0.5}), "yes", "Predict")
	require.Equal(t, res.Model.LabelOf(0), "yes", "the label of f = 0")
}

// methods are the conformal methods, and none.
var methods = append([]string{"none"}, lists.Map(conformal.Table, func(r conformal.Entry) string { return r.Name })...)

// eachSetup runs a test for every learner, plain and with every conformal method.
func eachSetup(t *testing.T, test func(t *testing.T, set ...string)) {
	for _, l := range ml.Learners {
		for _, m := range methods {
			t.Run(l.Name+"/"+m, func(t *testing.T) {
				t.Parallel()
				test(t, "learner", l.Name, "conformal", m)
			})
		}
	}
}

func TestLearnersSeparateTheSeparable(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		for _, k := range kernel.Table {
			if !k.PSD {
				continue
			}
			d := toy()
			switch k.Takes {
			case dataset.KindStrings:
				d = spelt(d)
			case dataset.KindGraphs:
				d = joined(d)
			}
			// One Gaussian, as two are the classes, and what tells the points apart is small.
			res := train(t, d, spec(t, append(set, "kernel", k.Name, "C", "100", "components", "1", "information", "false")...))
			r := res.Report
			require.Check(t, *r.TrainAccuracy == 1 && r.Status == trace.Converged, "%s: accuracy %g, status %s", k.Name, *r.TrainAccuracy, r.Status)
			acc, err := res.Model.Accuracy(d)
			require.Check(t, err == nil && acc == 1, "%s: the model's own accuracy is %g, %v", k.Name, acc, err)
		}
	})
}

// Every learner has a certificate: next to no relative gap to a bound of its objective.
func TestLearnersProveWhatTheyReport(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		r := train(t, clouds(80, 2, 3), spec(t, append(set, "core_step", "8")...)).Report
		require.Check(t, r.Status == trace.Converged && r.Gap != nil && math.Abs(*r.Gap) <= 1e-3,
			"status %s, gap %v", r.Status, r.Gap)
	})
}

func TestLearnersTreatTheClassesAlike(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		d := clouds(60, 2, 3)
		set = append(set, "test_fraction", "0.25", "core_step", "6")
		if set[1] == "svm" {
			set = append(set, "tol", "1e-8")
		}
		a, b := train(t, d, spec(t, append(set, "positive", "a")...)), train(t, d, spec(t, append(set, "positive", "b")...))
		require.Check(t, near(*a.Report.Objective, *b.Report.Objective, 1e-7),
			"objective %g one way, %g the other", *a.Report.Objective, *b.Report.Objective)
		require.Check(t, a.Report.Positive == "a" && b.Report.Positive == "b" && a.Report.TrainN == b.Report.TrainN,
			"positive %s, %s", a.Report.Positive, b.Report.Positive)
		require.Check(t, a.Report.JAfter == nil || near(*a.Report.JAfter, *b.Report.JAfter, 1e-7),
			"J one way and the other: %+v, %+v", a.Report, b.Report)
		if set[1] == "mcm" {
			return // the optimum of the linear program need not be unique
		}
		fa, fb := a.Model.Decisions(d.X), b.Model.Decisions(d.X)
		for i := range fa {
			require.Near(t, fb[i], -fa[i], 1e-5*(1+math.Abs(fa[i])), "f of row %d the other way", i)
		}
	})
}

// near tells whether a and b differ by at most tol, relative to the larger of 1 and |a|.
func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*math.Max(1, math.Abs(a)) }

func TestTrainIsDeterministic(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		once := func() string {
			res := train(t, clouds(80, 3, 4), spec(t, append(set, "test_fraction", "0.3", "seed", "7")...))
			res.Report.FitSeconds = 0
			return string(require.Value(json.Marshal(res))(t))
		}
		a, b := once(), once()
		require.Check(t, a == b, "two trainings differ:\n%s\n%s", a, b)
	})
	d := clouds(80, 2, 4)
	a := train(t, d, spec(t, "test_fraction", "0.5", "seed", "1"))
	b := train(t, d, spec(t, "test_fraction", "0.5", "seed", "2"))
	require.Check(t, *a.Report.Objective != *b.Report.Objective, "two seeds give the same objective")
	require.Check(t, a.Report.TrainN == 40 && a.Report.TestN == 40 && a.Report.TestAccuracy != nil,
		"trained on %d, tested on %d", a.Report.TrainN, a.Report.TestN)
}

func TestTrainHeedsTheContext(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		d := clouds(300, 2, 5)
		s := spec(t, append(set, "C", "1000", "gamma", "0.5")...)
		for _, k := range []int{0, 1, 2, 5, 20} {
			ctx := mltest.NewLooks(t.Context(), int64(k))
			res, err := ml.Train(ctx, d, s, nil)
			switch {
			case ctx.Over() <= 0:
				require.Check(t, err == nil && res.Report.Status == trace.Converged, "never cancelled, yet %v", err)
			case err != nil:
				require.Check(t, errors.Is(err, context.Canceled), "cancelled at look %d: %v", k, err)
			case res.Report.Status != trace.Cancelled && ctx.Over() > 1:
				t.Errorf("cancelled at look %d: status %s", k, res.Report.Status)
			}
			require.Check(t, ctx.Over() <= 11, "cancelled at look %d, and looked %d times more", k, ctx.Over()-1)
		}
	})
}

// A training that is cancelled once it has an iterate has a result, with rows held out too.
func TestCancelledHasAResult(t *testing.T) {
	t.Parallel()
	d, results := clouds(300, 2, 5), 0
	for k := range 60 {
		res, err := ml.Train(mltest.NewLooks(t.Context(), int64(k)), d, spec(t, "C", "1000", "gamma", "0.5", "test_fraction", "0.3"), nil)
		if err == nil && res.Report.Status == trace.Cancelled {
			require.Check(t, res.Report.TestAccuracy != nil, "no accuracy on the rows held out")
			results++
		}
	}
	require.Check(t, results > 0, "no cancelled training has a result")
}

func TestTrainRefuses(t *testing.T) {
	t.Parallel()
	one := data([][]float64{{1, 2}, {2, 3}, {3, 5}}, "a", "a", "a")
	three := data([][]float64{{1, 2}, {2, 3}, {3, 5}, {4, 4}}, "a", "b", "c", "a")
	line := data([][]float64{{1}, {2}, {3}}, "a", "b", "a")
	for _, l := range ml.Learners {
		type refused struct {
			d     *dataset.Data
			s     ml.Spec
			field string
			says  string
		}
		cases := map[string]refused{
			"single class":         {one, spec(t), "positive", "single class"},
			"no way that is known": {three, func() ml.Spec { s := spec(t); s.Multiclass = "round-robin"; return s }(), "multiclass", "ovo"},
			"unknown positive":     {toy(), spec(t, "positive", "maybe"), "positive", "maybe"},
			"unknown feature":      {toy(), spec(t, "features", "x1,x7"), "features", "x7"},
			"feature twice":        {toy(), spec(t, "features", "x1,x1"), "features", "twice"},
			"other label column":   {toy(), spec(t, "label", "species"), "label", "species"},
			"too few to project":   {line, spec(t, "project", "pca"), "project", "two"},
		}
		for _, p := range l.Params { // C, lambda
			if p.Kind != param.Number || !p.OpenMin || p.Min != 0 {
				continue
			}
			var set []string
			if p.When != "" {
				set = []string{p.When, p.Is}
			}
			cases[p.Name+" out of range"] = refused{toy(), spec(t, set...).With(p.Name, param.Of(-1)), p.Name, "above 0"}
		}
		for name, c := range cases {
			c.s.Learner = l.Name
			res, err := ml.Train(context.Background(), c.d, c.s, nil)
			if err == nil {
				t.Errorf("%s: %s: no error but %+v", l.Name, name, res.Report)
				continue
			}
			require.Says(t, problemFor(err, c.field), c.says, "%s: %s: the message for %s", l.Name, name, c.field)
		}
	}
}

func TestOneClassAgainstTheRest(t *testing.T) {
	t.Parallel()
	d := data([][]float64{{0, 0}, {0, 1}, {5, 0}, {5, 1}, {0, 9}, {1, 9}}, "a", "a", "b", "b", "c", "c")
	for _, l := range ml.Learners {
		res := train(t, d, spec(t, "learner", l.Name, "positive", "b", "C", "100"))
		if positive, negative := res.Model.Sides(0); positive != "b" || negative == "b" || *res.Report.TrainAccuracy != 1 {
			t.Errorf("%s: %s against %s, accuracy %g", l.Name, positive, negative, *res.Report.TrainAccuracy)
		}
		acc, err := res.Model.Accuracy(d)
		require.Check(t, err == nil && acc == 1, "%s: the model's own accuracy is %g, %v", l.Name, acc, err)
	}
}

func TestHardMargin(t *testing.T) {
	t.Parallel()
	for _, l := range ml.Learners {
		s := spec(t, "learner", l.Name, "kernel", "linear", "hard_margin", "true")
		if !s.Applies("hard_margin") {
			continue
		}
		if s.Applies("tol") {
			s = s.With("tol", param.Of(1e-8))
		}
		d := toy()
		res := train(t, d, s)
		if r := res.Report; r.Values.Has("C") || *r.SlackSum > 1e-6 || r.Status != trace.Converged {
			t.Errorf("%s: C %v, slack %g, status %s", l.Name, r.Values, *r.SlackSum, r.Status)
		}
		f := res.Model.Decisions(d.X)
		margins := lists.Make(len(f), func(i int) float64 { return f[i] * float64(2*d.Y[i]-1) })
		require.Near(t, slices.Min(margins), 1, 1e-6, "%s: the smallest functional margin", l.Name)
		soft := train(t, d, spec(t, "learner", l.Name, "kernel", "linear", "C", "1e6"))
		require.Check(t, near(*soft.Report.Objective, *res.Report.Objective, 1e-3),
			"%s: objective %g, with a huge C %g", l.Name, *res.Report.Objective, *soft.Report.Objective)
		mixed := data([][]float64{{0, 0}, {1, 0}, {2, 0}, {3, 0}}, "a", "b", "a", "b")
		require.Fails(t, require.Err(ml.Train(context.Background(), mixed, s, nil)), "separa",
			"%s: classes that no line separates give", l.Name)
	}
}

func TestPreparationIsFittedOnTheTrainingRowsOnly(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{{"project", "none"}, {"project", "pca"}, {"kernel", "fisher", "components", "3"}} {
		eachSetup(t, func(t *testing.T, set ...string) {
			s := spec(t, append(append(set, more...), "test_fraction", "0.3", "seed", "11", "gamma", "scale")...)
			d := clouds(60, 3, 6)
			a := train(t, d, s)
			y, _, _, err := d.Binary("")
			require.NoError(t, err)
			_, held := dataset.Split(y, s.TestFraction, s.Seed)
			require.Must(t, len(held) == a.Report.TestN && len(held) != 0,
				"%d rows are held out, the report says %d", len(held), a.Report.TestN)
			for _, i := range held {
				for j, v := range d.X.RawRowView(i) {
					d.X.Set(i, j, 1000-7*v)
				}
			}
			b := train(t, d, s)
			require.Equal(t, cmp.Diff(asJSON(t, a.Model), asJSON(t, b.Model)), "", "held-out rows changed the model")
			require.Check(t, *a.Report.TrainAccuracy == *b.Report.TrainAccuracy && *a.Report.TestAccuracy != *b.Report.TestAccuracy,
				"accuracy %g and %g before, %g and %g after", *a.Report.TrainAccuracy, *a.Report.TestAccuracy, *b.Report.TrainAccuracy, *b.Report.TestAccuracy)
		})
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	return string(require.Value(json.Marshal(v))(t))
}

func TestStandardisingUndoesUnits(t *testing.T) {
	t.Parallel()
	d := clouds(60, 3, 8)
	e := clouds(60, 3, 8)
	e.X.Apply(func(_, j int, v float64) float64 { return 32*v*float64(j+1) - 1024 }, e.X)
	a, b := train(t, d, spec(t, "tol", "1e-8")), train(t, e, spec(t, "tol", "1e-8"))
	require.Check(t, near(*a.Report.Objective, *b.Report.Objective, 1e-6),
		"objective %g, in other units %g", *a.Report.Objective, *b.Report.Objective)
	c := train(t, e, spec(t, "standardize", "false"))
	require.Check(t, !near(*a.Report.Objective, *c.Report.Objective, 1e-6), "not standardising changes nothing")
	require.Check(t, a.Report.Preprocessing != c.Report.Preprocessing && c.Model.Scaler == nil,
		"preprocessing %q, without standardising %q", a.Report.Preprocessing, c.Report.Preprocessing)
	d = clouds(60, 3, 9)
	a = train(t, d, spec(t, "features", "x3,x1"))
	b = train(t, require.Value(d.Columns([]string{"x3", "x1"}))(t), spec(t))
	diff := cmp.Diff(asJSON(t, a.Model), asJSON(t, b.Model))
	require.Check(t, diff == "" && a.Report.D == 2, "d = %d %s", a.Report.D, diff)
}

func TestGammaIsReportedAsUsed(t *testing.T) {
	t.Parallel()
	d := clouds(60, 4, 10)
	for _, c := range []struct {
		gamma, standardize string
		want               float64
	}{
		{"auto", "true", 0.25},
		{"scale", "true", 0.25}, // the variance is 1
		{"0.7", "true", 0.7},
		{"scale", "false", 1 / (4 * stat.PopVariance(d.X.RawMatrix().Data, nil))},
	} {
		r := train(t, d, spec(t, "gamma", c.gamma, "standardize", c.standardize)).Report
		require.Check(t, near(r.Values.Number("gamma"), c.want, 1e-12),
			"gamma %s, standardize %s: %v, want %g", c.gamma, c.standardize, r.Values["gamma"], c.want)
	}
	require.Check(t, !train(t, d, spec(t, "kernel", "linear")).Report.Values.Has("gamma"), "a linear kernel reports a gamma")
}

func TestReportLeavesOutWhatDoesNotApply(t *testing.T) {
	t.Parallel()
	always := "n d classes positive rule learner kernel status objective gap relative_gap b support_vectors iterations train_n train_accuracy confusion preprocessing fit_seconds"
	for _, c := range []struct {
		set  []string
		more string
	}{
		{[]string{}, "dual_objective slack_sum gamma C primal_objective free bounded_inside bounded_misclassified kkt_violation w_norm margin"},
		{[]string{"kernel", "linear", "hard_margin", "true"}, "dual_objective slack_sum primal_objective free bounded_inside bounded_misclassified kkt_violation w_norm margin w b_original"},
		{[]string{"learner", "mcm", "kernel", "poly"}, "dual_objective slack_sum gamma coef0 degree C h l1 rank"},
		{[]string{"learner", "mcm", "test_fraction", "0.4"}, "dual_objective slack_sum gamma C h l1 rank test_n test_accuracy test_interval test_balanced_accuracy test_f1 test_mcc test_auc test_confusion"},
		{[]string{"learner", "ridge"}, "gamma lambda mse loo_error loo_accuracy condition w_norm"},
		{[]string{"learner", "ridge", "kernel", "linear"}, "lambda mse loo_error loo_accuracy condition w_norm w b_original"},
		{[]string{"learner", "mcm", "conformal", "eigen"}, "dual_objective slack_sum gamma C h l1 rank core_gamma cores j_before j_after eigenvalue sign_change"},
		{[]string{"learner", "mcm", "conformal", "amari"}, "dual_objective slack_sum gamma C h l1 rank core_gamma cores j_before j_after sign_change"},
	} {
		got := require.JSON[map[string]any](t, asJSON(t, train(t, toy(), spec(t, c.set...)).Report))
		want := strings.Fields(always + " " + c.more)
		slices.Sort(want)
		require.Slices(t, slices.Sorted(maps.Keys(got)), want, "%v", c.set)
	}
}

func TestConformalRunKeepsTheFirstFit(t *testing.T) {
	t.Parallel()
	d := clouds(80, 2, 12)
	for _, l := range ml.Learners {
		plain := train(t, d, spec(t, "learner", l.Name))
		require.Check(t, plain.Before == nil && plain.Report.JAfter == nil, "%s: a plain run has a first fit", l.Name)
		for _, r := range conformal.Table {
			res := train(t, d, spec(t, "learner", l.Name, "conformal", r.Name))
			require.Equal(t, cmp.Diff(asJSON(t, plain.Model), asJSON(t, res.Before)), "",
				"%s, %s: the first fit is not the plain one", l.Name, r.Name)
			rep := res.Report
			require.Check(t, *rep.Cores == plain.Report.SupportVectors && len(res.Model.Machines[0].CoreRows) == *rep.Cores,
				"%s, %s: %d cores (%d rows), %d support vectors before", l.Name, r.Name, *rep.Cores, len(res.Model.Machines[0].CoreRows), plain.Report.SupportVectors)
			require.Check(t, r.Name == "amari" || *rep.JAfter >= *rep.JBefore,
				"%s, %s: J fell from %g to %g", l.Name, r.Name, *rep.JBefore, *rep.JAfter)
			require.Check(t, rep.Values.Has("gamma") && rep.Values["core_gamma"] == rep.Values["gamma"],
				"%s, %s: core_gamma is %g, the kernel's %g", l.Name, r.Name, rep.Values.Number("core_gamma"), rep.Values.Number("gamma"))
		}
	}
	res := train(t, d, spec(t, "conformal", "eigen", "core_step", "9", "core_gamma", "2"))
	other := train(t, d, spec(t, "conformal", "eigen", "core_step", "9", "core_gamma", "2", "core_ridge", "0.5"))
	require.Check(t, *other.Report.Eigenvalue < *res.Report.Eigenvalue, "eigenvalue %g, under a larger ridge %g", *res.Report.Eigenvalue, *other.Report.Eigenvalue)
	diff := cmp.Diff([]int{0, 9, 18, 27, 36, 45, 54, 63, 72}, res.Model.Machines[0].CoreRows)
	require.Check(t, diff == "" && res.Report.Values.Number("core_gamma") == 2, "core_gamma %g, cores %s", res.Report.Values.Number("core_gamma"), diff)
}

// The support vectors as cores are all training rows there.
func TestCoresOfALearnerThatWeighsEveryPoint(t *testing.T) {
	t.Parallel()
	d := clouds(80, 2, 12)
	for step, cores := range map[string]int{"0": 56, "9": 7} {
		for _, method := range conformal.Table {
			s := spec(t, "learner", "ridge", "conformal", method.Name, "core_step", step, "test_fraction", "0.3")
			if !s.Applies("core_step") {
				continue
			}
			res := train(t, d, s)
			if r := res.Report; r.TrainN != 56 || *r.Cores != cores || r.SupportVectors != 56 || r.Status != trace.Converged {
				t.Errorf("%s, every %s: %d cores of %d rows, want %d; %d support vectors, %s", method.Name, step, *r.Cores, r.TrainN, cores, r.SupportVectors, r.Status)
			}
		}
	}
}

// Data that leave the system singular or nearly so, over the whole range of lambda.
func TestRidgeAcrossTheRange(t *testing.T) {
	t.Parallel()
	d := clouds(60, 3, 9)
	for i := range 30 {
		d.X.SetRow(30+i, d.X.RawRowView(i)) // every point twice, some with two labels
		d.X.Set(i, 2, 7)
		d.X.Set(30+i, 2, 7) // a constant column
		d.Y[30+i] = (d.Y[i] + lists.CountTrue(i%3 == 0)) % 2
	}
	for _, k := range []string{"linear", "rbf", "poly"} {
		for lambda, want := range map[string][]trace.Status{
			"1e-12": {trace.Numerical}, "1e-6": {trace.Converged}, "1": {trace.Converged}, "1e12": {trace.Converged},
		} {
			res := train(t, d, spec(t, "learner", "ridge", "kernel", k, "lambda", lambda))
			r := res.Report
			require.Check(t, slices.Contains(want, r.Status) && r.Condition != nil,
				"%s, lambda %s: status %s, condition %v", k, lambda, r.Status, r.Condition)
			require.Equal(t, require.Err(json.Marshal(r)), nil, "%s, lambda %s", k, lambda)
			for i, f := range res.Model.Decisions(d.X) {
				if math.IsNaN(f) || math.Abs(f) > 10 {
					t.Errorf("%s, lambda %s: f = %g at row %d", k, lambda, f, i)
					break
				}
			}
			require.Check(t, (lambda != "1e12" || *r.Objective >= 29.9) && *r.Objective <= 30, // f = 0 costs n/2
				"%s, lambda %s: objective %g", k, lambda, *r.Objective)
		}
	}
}

func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	phases := map[string]int{}
	last := map[string]int{}
	d := clouds(600, 2, 13)
	for _, l := range ml.Learners {
		require.Value(ml.Train(context.Background(), d, spec(t, "learner", l.Name, "C", "100000", "gamma", "2", "tol", "1e-6"), func(s trace.Step) {
			phases[s.Phase]++
			require.Check(t, s.Iteration >= last[s.Phase],
				"iteration %d of %s after %d", s.Iteration, s.Phase, last[s.Phase])
			last[s.Phase] = s.Iteration
		}))(t)
	}
	require.Check(t, phases["svm"] != 0, "the SVM reported nothing: %v", phases)
}

// BenchmarkTrain measures a training from the data to the report.
func BenchmarkTrain(b *testing.B) {
	for _, c := range []struct {
		name string
		set  []string
	}{
		{"svm", nil},
		{"svm_C=1000", []string{"C", "1000"}},
		{"svm_conformal", []string{"conformal", "eigen"}},
		{"mcm", []string{"learner", "mcm"}},
		{"mcm_rho=0.01", []string{"learner", "mcm", "rho", "0.01"}},
	} {
		for _, n := range []int{100, 300, 1000, 3000} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				d := require.Value(dataset.Generate("moons", n, 0.3, 1))(b)
				s := spec(b, c.set...)
				for b.Loop() {
					require.Value(ml.Train(context.Background(), d, s, nil))(b)
				}
			})
		}
	}
}
