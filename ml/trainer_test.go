package ml_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// part is some rows of d as data of their own.
func part(d *dataset.Data, rows []int) *dataset.Data {
	p := &dataset.Data{Features: d.Features, Label: d.Label, Classes: d.Classes}
	p.X = mat.NewDense(len(rows), len(d.Features), nil)
	for a, i := range rows {
		p.X.SetRow(a, d.X.RawRowView(i))
		p.Y = append(p.Y, d.Y[i])
	}
	return p
}

// TestTrainerJudges compares every training of a trainer with Train on the same rows
// alone, for every kind of machine and of fitted preprocessing.
func TestTrainerJudges(t *testing.T) {
	t.Parallel()
	d := clouds(60, 3, 5)
	var train, test []int // and some rows that are neither
	for i := range d.Y {
		switch i % 7 {
		case 1, 3:
			test = append(test, i)
		case 5:
		default:
			train = append(train, i)
		}
	}
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, set...)
			if s.Learner == "svm" {
				s = s.With("tol", param.Of(1e-8))
			}
			trainer := require.Value(ml.NewTrainer(d, s))(t)
			cs := []float64{0.5, 1, 30}
			if s.Values.Switch("hard_margin") {
				cs = cs[:1]
			}
			judged, err := trainer.Judge(t.Context(), train, test, cs)
			require.Must(t, err == nil && len(judged) == len(cs), "%d results, %v", len(judged), err)
			for a, c := range cs {
				s = s.With("C", param.Of(c))
				res := trainOn(t, part(d, train), s)
				want := res.Model.Decisions(part(d, test).X)
				right := 0
				for b, i := range test {
					if f := judged[a].Scores.At(b, 0); math.Abs(f-want[b]) > 1e-4*(1+math.Abs(f)) {
						t.Errorf("C = %g: f of row %d is %g, trained by itself %g", c, i, f, want[b])
					}
					if (judged[a].Scores.At(b, 0) >= 0) == (d.Y[i] == 1) {
						right++
					}
				}
				if got := judged[a]; got.Status != trace.Converged || got.SupportVectors != res.Report.SupportVectors || got.Accuracy != float64(right)/float64(len(test)) || got.TrainAccuracy != *res.Report.TrainAccuracy {
					t.Errorf("C = %g: %s with %d support vectors, accuracy %g; want %d and %d of %d", c, got.Status, got.SupportVectors, got.Accuracy, res.Report.SupportVectors, right, len(test))
				}
			}
		})
	}
}

func trainOn(t *testing.T, d *dataset.Data, s ml.Spec) *ml.Result {
	t.Helper()
	return require.Value(ml.Train(t.Context(), d, s, nil))(t)
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
		alone := require.Value(ml.NewTrainer(d, s))(t)
		for a, want := range judge(alone, k) {
			for i, f := range want.Scores.RawMatrix().Data {
				if got[a].Scores.At(i, 0) != f {
					t.Fatalf("fold %d, C = %g: f is %g, alone %g", k, cs[a], got[a].Scores.At(i, 0), f)
				}
			}
		}
	}
}

func TestTrainerFails(t *testing.T) {
	t.Parallel()
	d := clouds(20, 2, 1)
	require.Fails(t, require.Err(ml.NewTrainer(d, spec(t, "positive", "z"))), "no class", "an unknown class")
	trainer := require.Value(ml.NewTrainer(d, spec(t)))(t)
	require.Fails(t, require.Err(trainer.Judge(t.Context(), []int{0, 1}, nil, []float64{1})), "no rows", "nothing to judge on")
	var a []int
	for i, y := range d.Y {
		if y > 0 {
			a = append(a, i)
		}
	}
	require.Fails(t, require.Err(trainer.Judge(t.Context(), a[1:], a[:1], []float64{1})), "held out", "one class to train on")
	for _, set := range [][]string{nil, {"learner", "mcm"}, {"standardize", "false"}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		trainer := require.Value(ml.NewTrainer(d, spec(t, set...)))(t)
		var rows []int
		for i := range d.Y[1:] {
			rows = append(rows, i+1)
		}
		_, err := trainer.Judge(ctx, rows, []int{0}, []float64{1})
		require.Check(t, errors.Is(err, context.Canceled), "%v with an ended context: %v", set, err)
	}
}
