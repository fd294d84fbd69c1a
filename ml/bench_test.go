package ml_test

import (
	"context"
	"fmt"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// BenchmarkTrain measures a training from the data to the report.
func BenchmarkTrain(b *testing.B) {
	for _, set := range [][]string{
		{"learner", "svm"},
		{"learner", "svm", "C", "1000"},
		{"learner", "svm", "conformal", "eigen"},
		{"learner", "mcm"},
		{"learner", "mcm", "rho", "0.01"},
	} {
		for _, n := range []int{100, 300, 1000, 3000} {
			b.Run(fmt.Sprintf("%v/n=%d", set[1:], n), func(b *testing.B) {
				d, err := dataset.Generate("moons", n, 0.3, 1)
				if err != nil {
					b.Fatal(err)
				}
				s := spec(b, set...)
				for b.Loop() {
					if _, err := ml.Train(context.Background(), d, s, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
