package conformal_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
)

// rbf is the kernel matrix exp(-|x_i - x_j|²) of points on a line.
type rbf []float64

func (x rbf) Len() int         { return len(x) }
func (x rbf) Diag(int) float64 { return 1 }
func (x rbf) Row(dst []float64, i int) {
	for j := range x {
		dst[j] = math.Exp(-(x[i] - x[j]) * (x[i] - x[j]))
	}
}

// The two points next to the boundary, near 0, are cores; the best map shrinks space around them.
func ExampleFit() {
	points := []float64{-2, -1.5, -0.5, 0.5, 1.5, 2}
	labels := []float64{-1, -1, -1, 1, 1, 1}
	cores := []int{2, 3}

	m, stats, err := conformal.Fit(context.Background(), "eigen",
		rbf(points), mat.NewDense(6, 1, points), labels, cores,
		conformal.Settings{Gamma: 1, Ridge: 1e-3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("J before %.3f, after %.3f\n", stats.JBefore, stats.JAfter)
	for _, x := range []float64{-2, -0.5, 0, 0.5, 2} {
		fmt.Printf("c(%4.1f) = %.3f\n", x, m.At([]float64{x}))
	}
	// Output:
	// J before 0.729, after 0.829
	// c(-2.0) = 1.284
	// c(-0.5) = 0.587
	// c( 0.0) = 0.482
	// c( 0.5) = 0.587
	// c( 2.0) = 1.284
}
