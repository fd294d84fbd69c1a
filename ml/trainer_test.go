package ml_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// TestTrainerJudges compares every training of a trainer with Train on the same rows
// alone, for every kind of machine and of fitted preprocessing, for every rule for several
// classes, and for values of a kernel.
func TestTrainerJudges(t *testing.T) {
	t.Parallel()
	d := clouds(60, 3, 5)
	for name, set := range map[string][]string{
		"svm":              {"standardize", "false", "gamma", "0.7"},
		"svm, auto":        {"standardize", "false"},
		"svm, scale":       {"standardize", "false", "gamma", "scale"},
		"svm standardised": {},
		"svm projected":    {"project", "pca"},
		"linear":           {"kernel", "linear"},
		"hard margin":      {"hard_margin", "true", "gamma", "10"},
		"conformal":        {"conformal", "gradient", "core_step", "6"},
		"mcm":              {"learner", "mcm"},
		"fisher":           {"kernel", "fisher", "standardize", "false"},
		"fisher, mcm":      {"kernel", "fisher", "learner", "mcm", "rho", "0.1"},
	} {
		t.Run(name, func(t *testing.T) { judgesAsTrained(t, d, set...) })
	}
	for _, way := range ml.Multiclass {
		for name, set := range map[string][]string{
			"svm": {"standardize", "false", "gamma", "0.7"}, "standardised": nil, "hard margin": {"hard_margin", "true", "gamma", "60"},
			"conformal": {"conformal", "gradient", "core_step", "6"}, "mcm": {"learner", "mcm"},
		} {
			if way.Rule == ml.Argmax && (name == "mcm" || name == "hard margin") {
				continue
			}
			t.Run(way.Name+" "+name, func(t *testing.T) { judgesAsTrained(t, three(90), append(set, "multiclass", way.Name)...) })
		}
	}
	for name, set := range map[string][]string{"svm": nil, "mcm": {"learner", "mcm"}, "amari": {"conformal", "amari"}} {
		t.Run("precomputed "+name, func(t *testing.T) {
			judgesAsTrained(t, given(clouds(60, 2, 8), kernel.RBF(0.1)), append(set, "kernel", "precomputed")...)
		})
	}
}

// judgesAsTrained compares a trainer with Train on the rows that it trains on alone.
func judgesAsTrained(t *testing.T, d *dataset.Data, set ...string) {
	t.Parallel()
	var fit, test []int // and some rows that are neither
	for i := range d.Y {
		switch i % 7 {
		case 1, 3:
			test = append(test, i)
		case 5:
		default:
			fit = append(fit, i)
		}
	}
	s := spec(t, set...)
	if s.Learner == "svm" {
		s = s.With("tol", param.Of(1e-8))
	}
	cs := []float64{0.5, 1, 30}
	if s.Values.Switch("hard_margin") {
		cs = cs[:1]
	}
	judged, err := require.Value(ml.NewTrainer(d, s))(t).Judge(t.Context(), fit, test, cs)
	require.Must(t, err == nil && len(judged) == len(cs), "%d results, %v", len(judged), err)
	held := d.Subset(test)
	for a, c := range cs {
		res := train(t, d.Subset(fit), s.With("C", param.Of(c)))
		var want *mat.Dense
		if held.Objects != nil {
			want = require.Value(res.Model.ScoresOf(t.Context(), held.Objects))(t)
		} else {
			want = res.Model.Scores(held.X)
		}
		for k, f := range want.RawMatrix().Data {
			require.Near(t, judged[a].Scores.RawMatrix().Data[k], f, 1e-4*(1+math.Abs(f)), "C = %g: score %d", c, k)
		}
		accuracy := require.Value(res.Model.Accuracy(held))(t)
		if got := judged[a]; got.Status != trace.Converged || got.SupportVectors != res.Report.SupportVectors || got.Accuracy != accuracy || got.TrainAccuracy != *res.Report.TrainAccuracy {
			t.Errorf("C = %g: %s with %d support vectors, accuracies %g and %g; want %d, %g and %g", c, got.Status, got.SupportVectors, got.Accuracy, got.TrainAccuracy, res.Report.SupportVectors, accuracy, *res.Report.TrainAccuracy)
		}
	}
}

// TestTrainerIsShared judges from several goroutines at once, which must not matter.
func TestTrainerIsShared(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 600, 0.3, 1))(t)
	s := spec(t, "standardize", "false", "gamma", "5")
	cs := []float64{1, 1000}
	judge := func(trainer *ml.Trainer, k int) []ml.Judged {
		var train, test []int
		for i := range d.Y {
			if i%4 == k {
				test = append(test, i)
			} else {
				train = append(train, i)
			}
		}
		judged, err := trainer.Judge(t.Context(), train, test, cs)
		require.Equal(t, err, nil, "err")
		return judged
	}
	trainer := require.Value(ml.NewTrainer(d, s))(t)
	var together [4][]ml.Judged
	var wait sync.WaitGroup
	for k := range together {
		wait.Go(func() { together[k] = judge(trainer, k) })
	}
	wait.Wait()
	for k, got := range together {
		for a, want := range judge(require.Value(ml.NewTrainer(d, s))(t), k) {
			for i, f := range want.Scores.RawMatrix().Data {
				require.Equal(t, got[a].Scores.At(i, 0), f, "fold %d, C = %g: f", k, cs[a])
			}
		}
	}
}

func TestTrainerFails(t *testing.T) {
	t.Parallel()
	d := clouds(20, 2, 1)
	require.Fails(t, require.Err(ml.NewTrainer(d, spec(t, "positive", "z"))), "no class", "an unknown class")
	trainer := require.Value(ml.NewTrainer(d, spec(t)))(t)
	require.Fails(t, require.Err(trainer.Judge(t.Context(), []int{0, 1}, nil, []float64{1})), "no test rows", "nothing to judge on")
	a := lists.Where(len(d.Y), func(i int) bool { return d.Y[i] > 0 })
	require.Fails(t, require.Err(trainer.Judge(t.Context(), a[1:], a[:1], []float64{1})), "held out", "one class to train on")
	for _, set := range [][]string{nil, {"learner", "mcm"}, {"standardize", "false"}} {
		ctx := mltest.Ended()
		trainer := require.Value(ml.NewTrainer(d, spec(t, set...)))(t)
		_, err := trainer.Judge(ctx, dataset.Indices(len(d.Y))[1:], []int{0}, []float64{1})
		require.Is(t, err, context.Canceled, "%v with an ended context", set)
	}
}
