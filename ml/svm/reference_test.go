package svm

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

func TestReferenceSolutions(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Data, Learner, Positive string
		Kernel                  struct {
			Type         string
			Gamma, Coef0 float64
			Degree       int
		}
		C      float64
		Expect struct {
			Objective, B, WNorm, TrainAccuracy, SlackSum float64
			SupportVectors, Bounded                      int
		}
	}
	require.NoError(t, decodeSnake(mltest.OpenShared(t, "reference", "solutions.json"), &rows))
	solved := 0
	for _, row := range rows {
		if row.Learner != "svm" {
			continue
		}
		solved++
		k := kernel.Kernel{Name: row.Kernel.Type, Values: param.Values{
			"gamma": param.Of(row.Kernel.Gamma), "coef0": param.Of(row.Kernel.Coef0), "degree": param.Of(row.Kernel.Degree),
		}}
		t.Run(fmt.Sprintf("%s/%s/gamma=%g/C=%g", row.Data, k.Name, row.Kernel.Gamma, row.C), func(t *testing.T) {
			t.Parallel()
			x, y := mltest.TwoClasses(t, row.Data, row.Positive)
			mltest.Standardise(x)
			r := train(t, kernel.NewGram(k, x), y, Settings{C: row.C, Tol: 1e-6})
			want := row.Expect
			relative(t, "objective", r.Dual, want.Objective, 1e-8)
			relative(t, "w_norm", r.WNorm, want.WNorm, 1e-5)
			require.Near(t, r.SlackSum, want.SlackSum, 1e-4*max(1, want.SlackSum), "slack_sum")
			require.Near(t, r.B, want.B, 1e-4, "b")
			correct := 0
			for i, f := range r.F {
				if (f >= 0) == (y[i] > 0) {
					correct++
				}
			}
			require.Equal(t, float64(correct)/float64(len(y)), want.TrainAccuracy, "train_accuracy")
			if bounded := r.BoundedInside + r.BoundedMisclassified; r.SupportVectors != want.SupportVectors || bounded != want.Bounded {
				t.Errorf("%d support vectors, %d bounded; want %d, %d", r.SupportVectors, bounded, want.SupportVectors, want.Bounded)
			}
		})
	}
	require.Must(t, solved != 0, "no rows of the SVM among the reference solutions")
}

// decodeSnake decodes JSON with snake_case names.
func decodeSnake(f *os.File, v any) error {
	var raw []map[string]any
	if err := json.NewDecoder(f).Decode(&raw); err != nil {
		return err
	}
	for _, row := range raw {
		expect, _ := row["expect"].(map[string]any)
		for from, to := range map[string]string{"w_norm": "WNorm", "train_accuracy": "TrainAccuracy", "slack_sum": "SlackSum", "support_vectors": "SupportVectors"} {
			expect[to] = expect[from]
		}
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func relative(t *testing.T, name string, got, want, tol float64) {
	t.Helper()
	require.Check(t, math.Abs(got-want) <= tol*math.Abs(want),
		"%s %.12g, want %.12g (off by %.2g)", name, got, want, math.Abs(got-want)/math.Abs(want))
}

func train(t testing.TB, k Matrix, y []float64, s Settings) *Result {
	t.Helper()
	r := require.Value(Train(t.Context(), k, y, s))(t)
	require.Must(t, r.Status == trace.Converged,
		"status %s after %d iterations, violation %g", r.Status, r.Iterations, r.KKTViolation)
	return r
}

// TestToy solves the example in scikit-learn's documentation of SVC.
func TestToy(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(6, 2, []float64{-2, -1, -1, -1, -1, -2, 1, 1, 1, 2, 2, 1})
	y := []float64{-1, -1, -1, 1, 1, 1}
	r := train(t, kernel.NewGram(kernel.Kernel{Name: "linear"}, x), y, Settings{C: 1})
	for i, want := range []float64{0, 0.25, 0, 0.25, 0, 0} {
		require.Near(t, r.Alpha[i], want, 1e-12, "alpha[%d]", i)
	}
	require.Check(t, math.Abs(r.B) <= 1e-12, "b = %g, want 0", r.B)
}

// TestHeartAsLIBSVM compares with objectives and counts of LIBSVM on heart.csv, not standardised.
func TestHeartAsLIBSVM(t *testing.T) {
	t.Parallel()
	x, y := mltest.TwoClasses(t, "heart.csv", "1")
	for _, tc := range []struct {
		k         kernel.Kernel
		objective float64
		svs       int
	}{
		{kernel.RBF(1. / 13), 100.877292, 132},
		{kernel.Kernel{Name: "linear"}, 92.473359, 101},
		{kernel.Polynomial(0.1, 1, 3), 75.330138, 118},
	} {
		r := train(t, kernel.NewGram(tc.k, x), y, Settings{C: 1, Tol: 1e-6})
		relative(t, tc.k.Name, r.Dual, tc.objective, 1e-6)
		require.Equal(t, r.SupportVectors, tc.svs, "%s: support vectors", tc.k.Name)
		require.Check(t, tc.k.Name != "rbf" || r.BoundedInside+r.BoundedMisclassified == 107,
			"rbf: %d bounded, want 107", r.BoundedInside+r.BoundedMisclassified)
	}
}
