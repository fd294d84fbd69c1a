package ml_test

import (
	"context"
	"fmt"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

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
