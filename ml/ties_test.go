package ml_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// What a report counts is what the model tells of the same rows, also where nothing but rounding
// tells classes apart: machines that are constant, classes whose functions are equal.
func TestReportCountsWhatTheModelTells(t *testing.T) {
	t.Parallel()
	tied, trained := 0, 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n, d, k := 20+rng.IntN(130), 1+rng.IntN(6), 2+rng.IntN(4)
		all := clouds(n, d, seed)
		all.Classes = []string{"a", "b", "c", "d", "e"}[:k]
		whole := rng.IntN(3) == 0
		for i := range n {
			all.Y[i] = i % k
			for j, v := range all.X.RawRowView(i) {
				if v += float64(all.Y[i]*(j%2)) * 0.7; whole {
					v = math.Round(v)
				}
				all.X.Set(i, j, v)
			}
		}
		if half := n / 2; rng.IntN(3) == 0 { // points again, and opposite ones
			for i := range half {
				for j, v := range all.X.RawRowView(i) {
					all.X.Set(half+i, j, v*float64(1-2*(i/2%2)))
				}
				all.Y[half+i] = (all.Y[i] + i%2) % k
			}
		}
		pick := func(words ...string) string { return words[rng.IntN(len(words))] }
		set := []string{
			"C", fmt.Sprint(math.Pow(10, rng.Float64()*8-4)), "gamma", fmt.Sprint(math.Pow(10, rng.Float64()*6-3)),
			"kernel", pick("rbf", "linear", "poly", "laplacian"), "learner", pick("svm", "svm", "mcm", "ridge"),
			"multiclass", pick("ww", "cs", "ovr", "ovo"), "conformal", pick("none", "none", "none", "amari", "eigen"),
			"test_fraction", "0", "max_iter", "20000",
		}
		s := ml.DefaultSpec()
		for i := 0; i < len(set); i += 2 {
			require.NoError(t, s.Set(set[i], set[i+1]))
		}
		res, err := ml.Train(context.Background(), all, s, nil)
		var refused *param.Refusal
		var problems param.Problems
		switch {
		case errors.As(err, &refused) || errors.As(err, &problems):
			continue
		case err != nil:
			t.Fatalf("%v: %v", set, err)
		}
		trained++
		if res.Report.Tied > 0 {
			tied++
		}
		saved := require.Value(ml.ReadModel(strings.NewReader(asJSON(t, res.Model))))(t)
		predictions, right := make([][]int, len(saved.Classes)), 0
		for c := range predictions {
			predictions[c] = make([]int, len(saved.Classes))
		}
		scores := saved.Scores(all.X)
		for i, y := range all.Y {
			c, predicted := saved.ClassOf(all.Classes[y]), saved.Class(scores.RawRowView(i))
			predictions[c][predicted]++
			if c == predicted {
				right++
			}
		}
		for c, row := range res.Report.Confusion {
			require.Check(t, slices.Equal(row.Predicted, predictions[c]) && float64(right)/float64(n) == *res.Report.TrainAccuracy,
				"%v on %d points of %d classes: of %s the report counts %v, the saved model tells %v; %d rows tied", set, n, k, row.Class, row.Predicted, predictions[c], res.Report.Tied)
		}
	}
	require.Check(t, trained >= 200 && tied >= 20,
		"of %d trainings %d have rows that tie: the test sees too few", trained, tied)
}

// Of classes whose scores differ by rounding alone, the first wins, whichever is larger.
func TestTiesGoToTheFirstClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule   ml.Rule
		scores []float64
		want   int
	}{
		{ml.Argmax, []float64{-1 - 4e-16, -1, -1 + 2e-16}, 0},
		{ml.OneVsRest, []float64{-2, 5, 5 + 1e-12}, 1},
		{ml.OneVsRest, []float64{-2, 5, 5 + 1e-6}, 2},
		{ml.Argmax, []float64{1e-30, 3e-30, 2e-30}, 1}, // small is not tied
		{ml.Argmax, []float64{0, 0, 0}, 0},
		{ml.OneVsOne, []float64{1, -1 - 1e-13, 1}, 0}, // a cycle: 0 over 2, 2 over 1, 1 over 0
		{ml.OneVsOne, []float64{1, -1, 1 + 1e-3}, 2},
	} {
		m := ml.Model{Rule: c.rule, Classes: []string{"a", "b", "c"}}
		require.Equal(t, m.Class(c.scores), c.want, "%s of %v", c.rule, c.scores)
	}
}
