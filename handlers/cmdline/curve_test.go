package cmdline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
)

// TestLearningIsThatOfTheLibrary compares numbers and table with eval.LearningCurve.
func TestLearningIsThatOfTheLibrary(t *testing.T) {
	t.Parallel()
	d, path := moons(t, 60)
	plot := filepath.Join(t.TempDir(), "l.svg")
	args := []string{"cv", "--data", path, "--folds", "3", "--seed", "2", "--C", "10", "--learning", "1, 0.2"}
	want := require.Value(eval.LearningCurve(t.Context(), d, func() ml.Spec {
		s := ml.DefaultSpec()
		_ = s.Set("C", "10")
		return s
	}(), eval.Scheme{Folds: 3, Seed: 2}, []float64{0.2, 1}, nil))(t)
	got := printed[struct {
		Learning []eval.LearningStep
		Cells    any
		N        int
	}](t, append(args, "--plot", plot)...)
	diff := cmp.Diff(want, got.Learning)
	require.Check(t, diff == "" && got.Cells == nil && got.N == 60, "%s%+v", diff, got)
	picture, err := os.ReadFile(plot)
	require.Check(t, err == nil && strings.Contains(string(picture), "training points"), "%v: %.200s", err, picture)
	lines := strings.Split(must(t, args...), "\n")
	for i, s := range want {
		fields := strings.Fields(lines[3+i])
		first := []string{[]string{"0.2", "1"}[i], fmt.Sprint(s.N), fmt.Sprintf("%.2f", 100*s.Accuracy), fmt.Sprintf("%.2f", 100*s.Deviation)}
		require.Check(t, len(fields) == 8 && cmp.Equal(fields[:4], first) && fields[7] == "converged", "line %q, want %v", lines[3+i], first)
	}
}
