package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// uneven is a data set with a frequent class and a rare one, which overlap.
func uneven(t *testing.T) *dataset.Data {
	t.Helper()
	d := moons(t, 160)
	var rows []int
	rare := 0
	for i, c := range d.Y {
		if c == 0 || rare < 16 {
			rows = append(rows, i)
			rare += c
		}
	}
	return d.Subset(rows)
}

// By every score the best setting is the one whose folds have the best mean, computed here
// from what ml.Train says of the same splits; and so are the nested choices and the simplest.
func TestEveryScoreRanks(t *testing.T) {
	t.Parallel()
	d := uneven(t)
	grid := eval.Grid{"C": eval.Numbers(0.01, 1, 100), "gamma": eval.Numbers(0.05, 5)}
	spec := with(t, ml.DefaultSpec(), map[string]string{"calibration": "platt"})
	best := map[int]bool{}
	for _, score := range eval.ScoresFor(false) {
		res := require.Value(eval.CrossValidate(t.Context(), d, spec, grid, eval.Scheme{Folds: 4, Seed: 3, Nested: true, Score: score.Name}, nil))(t)
		sign := lists.Either(score.Larger, 1, -1.0)
		top := math.Inf(-1)
		at := -1
		for i, s := range res.Settings {
			mean, _, ok := score.Over(s.Folds)
			require.Must(t, ok, "%s: setting %d has none", score.Name, i)
			if sign*mean > top+1e-12 {
				top, at = sign*mean, i
			}
		}
		require.Check(t, res.Best == at && res.Score == score.Name && res.RankedBy().Name == score.Name,
			"%s: the best is %d by %s, want %d", score.Name, res.Best, res.Score, at)
		best[at] = true
		for k, f := range res.NestedFolds() {
			require.Equal(t, cmp.Diff(res.Settings[res.Nested.Chosen[k]].Folds[k], f), "", "diff")
		}
		// One standard error of the best's folds bounds what the simplest may lack.
		v := lists.Map(res.Settings[res.Best].Folds, func(f eval.Fold) float64 { return sign * *score.Of(f) })
		_, se := eval.MeanError(v)
		mean, _, _ := score.Over(res.Settings[res.WithinOneError()].Folds)
		require.Check(t, sign*mean >= top-se-1e-9, "%s: the simplest has %g, the best %g, one standard error is %g", score.Name, mean, top, se)
		n := 0
		for _, row := range res.Confusion {
			for c, mu := range row.Predicted {
				n += mu
				sum := 0
				for _, f := range res.Settings[res.Best].Folds {
					sum += f.Confusion[slices.IndexFunc(res.Confusion, func(r ml.ClassReport) bool { return r.Class == row.Class })][c]
				}
				require.Equal(t, mu, sum, "%s: rows of %s that are mu to be number %d", score.Name, row.Class, c)
			}
		}
		require.Check(t, n == d.Len(), "%s: %d points in the confusion matrix of %d", score.Name, n, d.Len())
		text := require.Value(json.Marshal(throughJSON(t, res)))(t)
		mu := require.JSON[struct {
			Cells  []map[string]any
			Nested map[string]any
		}](t, text)
		for _, other := range eval.ScoresFor(false) {
			mean, sd, _ := other.Over(res.Settings[1].Folds)
			require.Check(t, mu.Cells[1][other.Name] == mean && mu.Cells[1][other.Name+"_sd"] == sd && mu.Nested[other.Name] != nil,
				"%s is %v ± %v in JSON, want %g ± %g; nested %v", other.Name, mu.Cells[1][other.Name], mu.Cells[1][other.Name+"_sd"], mean, sd, mu.Nested[other.Name])
		}
	}
	require.Check(t, len(best) >= 2, "all scores choose setting %v: the test tells nothing", best)
}

// The scores of a fold are those that Train reports of a model that held the fold out.
func TestScoresAreThoseOfTheReport(t *testing.T) {
	t.Parallel()
	d := uneven(t)
	spec := with(t, ml.DefaultSpec(), map[string]string{"gamma": "2", "test_fraction": "0.3", "seed": "4", "calibration": "platt", "learner": "mcm"})
	whole := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
	target := require.Value(ml.TargetOf(d, spec))(t)
	train, test := dataset.Split(target.Strata(), 0.3, 4)
	j := require.Value(require.Value(ml.NewTrainer(d, spec))(t).Judge(t.Context(), train, test, []float64{1}))(t)[0]
	f := eval.Fold{Shares: &eval.Shares{Accuracy: j.Accuracy, Confusion: j.Confusion, AUC: j.AUC, LogLoss: j.LogLoss, Brier: j.Brier}}
	r := whole.Report
	for name, want := range map[string]*float64{
		"accuracy": r.TestAccuracy, "balanced_accuracy": r.TestBalancedAccuracy, "f1": r.TestF1, "mcc": r.TestMCC, "auc": r.TestAUC,
		"log_loss": r.TestLogLoss, "brier": r.TestBrier,
	} {
		got := eval.RankedBy(name, false).Of(f)
		require.Check(t, got != nil && want != nil && math.Abs(*got-*want) <= 1e-12, "%s: %v, the report has %v", name, got, want)
	}
}

// A score that cannot be is refused before anything is trained.
func TestScoresRefused(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	three := mltest.Builtin(t, "iris")
	for name, c := range map[string]struct {
		data  *dataset.Data
		spec  map[string]string
		score string
		says  string
	}{
		"no score":         {d, nil, "kappa", "score must be"},
		"values":           {d, nil, "mse", "use accuracy"},
		"uncalibrated":     {d, nil, "log_loss", "calibration platt"},
		"of one point":     {d, nil, "f1", "holds out only one class"},
		"classes":          {d, map[string]string{"target": "value", "learner": "ridge"}, "mcc", "use mse"},
		"area of three":    {three, nil, "auc", "use another score"},
		"three calibrated": {three, map[string]string{"calibration": "platt"}, "brier", "use another score"},
	} {
		scheme := eval.Scheme{Folds: 2, Score: c.score, LeaveOneOut: name == "of one point"}
		if _, err := eval.NewPlan(c.data, with(t, ml.DefaultSpec(), c.spec), nil, scheme); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want something about %q", name, err, c.says)
		} else if _, ok := param.ForPerson(err); !ok {
			t.Errorf("%s: %v is for nobody", name, err)
		}
	}
}

// A plan from before there were scores has its cells' stored names, and reduces what was computed.
func TestOlderPlans(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	plan := require.Value(eval.NewPlan(d, ml.DefaultSpec(), eval.Grid{"C": eval.Numbers(1, 10)}, eval.Scheme{Folds: 2}))(t)
	plan.Format, plan.Score, plan.Classes = 0, "", nil
	text := require.Value(json.Marshal(plan))(t)
	for _, word := range []string{"format", "score", "classes", "calibration"} {
		require.Check(t, !strings.Contains(string(text), word), "%s is in the plan: %s", word, text)
	}
	var results []eval.CellResult
	names := require.Value(plan.Names())(t)
	for i, c := range plan.Cells() {
		res, err := eval.NewWorker(d, 0).Compute(t.Context(), c)
		require.Must(t, err == nil && res.Cell == names[i], "%s, %v: want %s", res.Cell, err, names[i])
		if i == 0 { // computed then
			for k := range res.Folds {
				res.Folds[k].Shares = &eval.Shares{Accuracy: res.Folds[k].Accuracy, TrainAccuracy: res.Folds[k].TrainAccuracy}
			}
		}
		results = append(results, res)
	}
	res, err := plan.Reduce(results)
	require.Check(t, err == nil && res.Confusion == nil && res.RankedBy().Name == "accuracy" && res.Settings[0].Mean != nil,
		"%+v, %v", res, err)
	old := require.JSON[eval.Result](t, `{"searched":["C"],"cells":[{"C":1,"accuracy":0.5,"accuracy_sd":0.1,"folds":[{"accuracy":0.4,"train_accuracy":1,"status":"converged","support_vectors":3},{"accuracy":0.6,"train_accuracy":1,"status":"converged","support_vectors":3}]}],"best":0,"nested":{"accuracy":0.5,"accuracy_sd":0.1,"chosen":[0,0]}}`)
	mean, _, ok := old.RankedBy().Over(old.NestedFolds())
	require.Check(t, ok && mean == 0.5 && old.WithinOneError() == 0, "%+v", old)
}

// A setting of which a training fails takes no part; the others go on.
func TestFailuresAreOfTheirSetting(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	spec := with(t, ml.DefaultSpec(), map[string]string{"learner": "mcm", "conformal": "eigen", "standardize": "false"})
	grid := eval.Grid{"rho": eval.Numbers(0, 1000)} // at which nothing is worth a support vector
	scheme := eval.Scheme{Folds: 3, Nested: true}
	res := require.Value(eval.CrossValidate(t.Context(), d, spec, grid, scheme, nil))(t)
	if s := res.Settings[1]; s.Failure() == "" || s.Mean != nil || s.Folds[0].Status != "failed" || s.Folds[0].Shares != nil {
		t.Fatalf("%+v: did not fail, so that the test tells nothing", s)
	}
	require.Check(t, res.Settings[0].Failure() == "" && res.Best == 0 && res.WithinOneError() == 0 && !slices.Contains(res.Nested.Chosen, 1),
		"%+v", res)
	throughJSON(t, res)
	if _, err := eval.CrossValidate(t.Context(), d, spec.With("rho", param.Of(1000)), nil, scheme, nil); err == nil || !strings.Contains(err.Error(), "no setting can be trained") {
		t.Errorf("all of them failed: %v", err)
	} else if _, ok := param.ForPerson(err); !ok {
		t.Errorf("%v is for nobody", err)
	}
}

// A regression is judged by its mean squared error, fold by fold: the least is the best.
func TestCrossValidateValues(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 60 {
		x := float64(i*37%60) / 10
		fmt.Fprintf(&b, "%g,%g\n", x, 3*math.Sin(x)+0.2*math.Cos(40*x))
	}
	d := require.Value(dataset.Read(strings.NewReader(b.String()), "wave.csv", dataset.Mapping{}, dataset.DefaultLimits))(t)
	spec := ml.DefaultSpec()
	for _, set := range [][2]string{{"target", "value"}, {"learner", "ridge"}, {"gamma", "2"}} {
		require.NoError(t, spec.Set(set[0], set[1]))
	}
	lambdas := []float64{1e3, 0.01, 30}
	res, err := eval.CrossValidate(t.Context(), d, spec, eval.Grid{"lambda": eval.Numbers(lambdas...)}, eval.Scheme{Folds: 4, Repeats: 2, Nested: true, Seed: 3}, nil)
	require.NoError(t, err)
	require.Check(t, res.Best == 1 && len(res.Nested.Chosen) == 8 && !slices.ContainsFunc(res.Nested.Chosen, func(c int) bool { return c != 1 }),
		"the best of %v is number %d, and nested %v", lambdas, res.Best, res.Nested.Chosen)
	got := res.Nested.MSE
	require.Check(t, got == res.Settings[1].MSE && res.Nested.Mean == nil, "nested: %g, want %g", got, res.Settings[1].MSE)
	values := require.Value(d.Values())(t)
	plan := require.Value(eval.NewPlan(d, spec, eval.Grid{"lambda": eval.Numbers(lambdas...)}, eval.Scheme{Folds: 4, Repeats: 2, Seed: 3}))(t)
	for i, s := range res.Settings {
		one := plan.Paths[i].Spec
		var sum float64
		for k, split := range plan.Splits {
			trained := require.Value(ml.Train(t.Context(), d.Subset(split.Train), one, nil))(t)
			var mse, mean, variance float64
			n := float64(len(split.Test))
			for _, r := range split.Test {
				miss := values[r] - trained.Model.Decision(d.X.RawRowView(r))
				mse, mean = mse+miss*miss/n, mean+values[r]/n
			}
			for _, r := range split.Test {
				variance += (values[r] - mean) * (values[r] - mean) / n
			}
			f := s.Folds[k]
			require.Check(t, f.Shares == nil && math.Abs(f.MSE-mse) <= 1e-9 && math.Abs(*f.R2-(1-mse/variance)) <= 1e-9 && f.TrainMSE == *trained.Report.MSE,
				"%s, fold %d: %+v, want %g", s.Values.Text("lambda"), k, *f.Errors, mse)
			sum += mse
		}
		require.Check(t, math.Abs(s.MSE-sum/8) <= 1e-9 && s.MSEDeviation > 0 && s.R2 != nil && s.Mean == nil,
			"%s: %+v, want %g", s.Values.Text("lambda"), s.MeanErrors, sum/8)
	}

	text := require.Value(json.Marshal(throughJSON(t, res)))(t)
	require.Check(t, !strings.Contains(string(text), "accuracy") && strings.Contains(string(text), `"mse":`),
		"%s", text)
	wrong, err := eval.LeaveOneOut(t.Context(), d, spec)
	require.Check(t, err != nil, "values are right or wrong: %v", wrong)
}
