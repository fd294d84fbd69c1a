package study_test

import (
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/study"
)

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
