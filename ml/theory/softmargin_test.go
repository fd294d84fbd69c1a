package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func TestHinge(t *testing.T) {
	t.Parallel()
	for m, want := range map[float64]float64{-0.4: 1.4, 0: 1, 0.25: 0.75, 1: 0, 7: 0, math.Inf(1): 0, math.Inf(-1): math.Inf(1)} {
		require.Equal(t, theory.Hinge(m), want, "margin %g", m)
	}
}

// The terms equal those of the scaled weights.
func TestSoftParts(t *testing.T) {
	t.Parallel()
	x := random(3, 20, 3)
	y := lists.Make(20, func(i int) float64 { return float64(1 - 2*(i%2)) })
	w, b := []float64{0.7, -1.1, 0.4}, 0.3
	m := require.Value(theory.LinearMargins(w, b, x, y))(t)
	for _, width := range []float64{0.1, 0.8, 5} {
		scale := 1 / (width * floats.Norm(w, 2))
		v := make([]float64, 3)
		floats.ScaleTo(v, scale, w)
		slack := 0.0
		for i := range y {
			slack += max(0, 1-y[i]*(floats.Dot(v, x.RawRowView(i))+scale*b))
		}
		gotHalf, gotSlack := m.SoftParts(width)
		near(t, "|w|²/2", gotHalf, floats.Dot(v, v)/2, 1e-12)
		near(t, "slack", gotSlack, slack, 1e-12)
	}
}

func TestPartialMachine(t *testing.T) {
	t.Parallel()
	// Two points on the margin of the machine x_1 = 0, one left out.
	x := mat.NewDense(3, 2, []float64{1, 0, -1, 0, 4, 4})
	y := []float64{1, -1, 1}
	u := []float64{0.5, -0.5, 1}
	w, b, err := theory.PartialMachine(x, y, u, []bool{true, true, false})
	require.Check(t, err == nil && w[0] == 1 && w[1] == 0 && b == 0,
		"two of three points: w = %v, b = %g, %v", w, b, err)
	w, b, err = theory.PartialMachine(x, y, u, []bool{true, true, true})
	// w = (5, 4), so w·x is 5, -5 and 36
	require.Check(t, err == nil && w[0] == 5 && w[1] == 4 && math.Abs(b-(-4+4-35)/3.0) <= 1e-12,
		"all points: w = %v, b = %g, %v", w, b, err)
	w, b, err = theory.PartialMachine(x, y, u, make([]bool, 3))
	require.Check(t, err == nil && w[0] == 0 && w[1] == 0 && b == 0, "no points: w = %v, b = %g, %v", w, b, err)
	require.Fails(t, require.Err3(theory.PartialMachine(x, y[:2], u, make([]bool, 3))), "", "two labels for three points are no error")
	require.Fails(t, require.Err3(theory.PartialMachine(x, y, u[:2], make([]bool, 3))), "", "two coefficients for three points are no error")
	require.Fails(t, require.Err3(theory.PartialMachine(x, y, u, make([]bool, 2))), "", "two marks for three points are no error")
}
