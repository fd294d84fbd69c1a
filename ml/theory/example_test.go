package theory_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/theory"
)

func ExampleShatterLines() {
	s, err := theory.ShatterLines([][2]float64{{1, 1}, {-1, -1}, {-1, 1}, {1, -1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d labellings, Cover counts %g\n", s.Realisable, len(s.Dichotomies), theory.CoverCount(4, 2))
	fmt.Println("shattered:", s.Shattered(), "largest shattered set:", s.Largest())
	for _, d := range s.Dichotomies {
		if !d.Realisable {
			fmt.Println(d.Labels, "the hulls meet in", d.Common)
		}
	}
	// Output:
	// 14 of 16 labellings, Cover counts 14
	// shattered: false largest shattered set: [0 1 2]
	// [1 1 -1 -1] the hulls meet in [0 0]
	// [-1 -1 1 1] the hulls meet in [0 0]
}

func ExampleProblem_Minimise() {
	for _, p := range theory.LagrangeExamples {
		s, err := p.Minimise()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("f(%.1f, %.1f) = %.1f, multiplier %.1f, saturated: %t\n", s.Point[0], s.Point[1], s.Objective, s.Multiplier, s.Saturated)
		for _, c := range s.Cases {
			fmt.Printf("  on the line: %t, multiplier %.1f: %v\n", c.OnLine, c.Multiplier, c.Verdict)
		}
	}
	// Output:
	// f(0.0, 0.0) = 0.0, multiplier 0.0, saturated: false
	//   on the line: false, multiplier 0.0: accepted
	// f(-0.2, -0.4) = 0.2, multiplier 0.4, saturated: true
	//   on the line: true, multiplier 0.4: accepted
	// f(-0.2, -0.4) = 0.2, multiplier 0.4, saturated: true
	//   on the line: false, multiplier 0.0: rejected: violates the constraint
	//   on the line: true, multiplier 0.4: accepted
	// f(0.0, 0.0) = 0.0, multiplier 0.0, saturated: false
	//   on the line: false, multiplier 0.0: accepted
	//   on the line: true, multiplier -0.4: rejected: the multiplier is not positive
}

func ExampleVapnikBound() {
	for _, m := range []int{50, 10_000, 1_000_000} {
		b := theory.VapnikBound(0.05, 1, 3, m, 0.05)
		fmt.Printf("M = %7d: R <= %.3f, vacuous: %t\n", m, b.Value, b.Vacuous)
	}
	// Output:
	// M =      50: R <= 1.419, vacuous: true
	// M =   10000: R <= 0.083, vacuous: false
	// M = 1000000: R <= 0.053, vacuous: false
}

// The machine for XOR depends only on the product of the coordinates.
func ExampleFeatureMap_Weights() {
	x := mat.NewDense(4, 2, []float64{1, 1, -1, -1, -1, 1, 1, -1})
	u := []float64{0.125, 0.125, -0.125, -0.125} // alpha_j y_j
	w, err := theory.QuadraticPlane.Weights(x, u)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, name := range theory.QuadraticPlane.Coordinates {
		fmt.Printf("%.3f  %s\n", w[i], name)
	}
	// Output:
	// 0.000  1
	// 0.000  √2 x₁
	// 0.000  √2 x₂
	// 0.000  x₁²
	// 0.000  x₂²
	// 0.707  √2 x₁x₂
}
