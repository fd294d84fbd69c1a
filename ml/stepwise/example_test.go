package stepwise_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/stepwise"
)

// A run is recorded once and can be replayed in either direction.
func ExampleSMO() {
	x := mat.NewDense(6, 2, []float64{-2, -1, -1, -1, -1, -2, 1, 1, 1, 2, 2, 1})
	y := []float64{-1, -1, -1, 1, 1, 1}
	gram := kernel.NewGram(kernel.Kernel{Name: "linear"}, x)
	run, err := stepwise.SMO(context.Background(), gram, y, stepwise.SMOSettings{C: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range run.Len() {
		s := run.At(i)
		if p := s.Pair; p != nil {
			fmt.Printf("%d: points %d and %d on [%.4f, %.4f]\n", i, p.I+1, p.J+1, p.L, p.H)
		}
		fmt.Printf("%d: dual %.4f, gap %.4f, largest violation %.4f\n", i, s.Dual, s.Gap, s.Violation)
	}
	fmt.Println(run.Status())
	for i, p := range run.At(run.Len() - 1).Points {
		fmt.Printf("point %d: alpha %.2f (%s), margin %.1f\n", i+1, p.Alpha, p.Condition, p.Margin)
	}
	// Output:
	// 0: dual 0.0000, gap 6.0000, largest violation 1.0000
	// 1: points 4 and 1 on [0.0000, 1.0000]
	// 1: dual 0.1538, gap 0.4615, largest violation 0.2308
	// 2: points 1 and 2 on [0.0000, 0.1538]
	// 2: dual 0.2130, gap 0.9586, largest violation 0.3846
	// 3: points 4 and 2 on [0.0000, 1.0000]
	// 3: dual 0.2500, gap 0.0000, largest violation 0.0000
	// converged
	// point 1: alpha 0.00 (zero), margin 1.5
	// point 2: alpha 0.25 (free), margin 1.0
	// point 3: alpha 0.00 (zero), margin 1.5
	// point 4: alpha 0.25 (free), margin 1.0
	// point 5: alpha 0.00 (zero), margin 1.5
	// point 6: alpha 0.00 (zero), margin 1.5
}

// The pivots of a Minimal Complexity Machine on three points.
func ExampleSimplex() {
	x := mat.NewDense(3, 1, []float64{-2, -1, 1})
	run, err := stepwise.Simplex(context.Background(), x, []float64{-1, -1, 1}, stepwise.SimplexSettings{C: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range run.Len() {
		s := run.At(i)
		fmt.Printf("objective %.2f at w = %.2f, b = %.2f, h = %.2f, q = %.2f\n", s.Objective, s.Weights[0], s.B, s.H, s.Q)
		if s.Entering >= 0 {
			fmt.Printf("%s enters, %s leaves\n", s.Nonbasic[s.Entering], s.Basic[s.Leaving])
		}
	}
	// Output:
	// objective 4.00 at w = 0.00, b = 0.00, h = 1.00, q = [1.00 1.00 1.00]
	// w1 enters, q1 leaves
	// objective 2.00 at w = 0.50, b = 0.00, h = 1.00, q = [0.00 0.50 0.50]
	// b enters, q3 leaves
	// objective 1.67 at w = 0.67, b = 0.33, h = 1.00, q = [0.00 0.67 0.00]
	// s1 enters, t1 leaves
	// objective 1.67 at w = 0.67, b = 0.33, h = 1.00, q = [0.00 0.67 0.00]
}
