package theory

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Hinge returns the hinge loss max(0, 1 - m), the slack of a point with functional margin m = y
// f(x). It exceeds 1 exactly if the point is misclassified (slides, "Hinge loss").
func Hinge(m float64) float64 { return max(0, 1-m) }

// SoftParts returns the two terms |w|²/2 and sum xi_i of the soft-margin objective
//
//	|w|²/2 + C sum xi_i,  xi_i = Hinge(y_i f(x_i)),
//
// with (w, b) scaled so that the distance of f = ±1 from f = 0 is width > 0, so that
// |w| = 1/width.
func (m Margins) SoftParts(width float64) (halfSquare, slack float64) {
	for _, distance := range m.Geometric {
		slack += Hinge(distance / width)
	}
	return 1 / (2 * width * width), slack
}

// PartialMachine returns the linear machine f(x) = w·x + b that results from using only part of
// the coefficients u_i = alpha_i y_i (length M):
//
//	w = sum u_i x_i,  b = mean of y_i - w·x_i,  both over the points with part[i]
//
// for the rows x_i of x (M x d) and labels y (±1); 0 if no point is used. The free support
// vectors alone give the machine only if no other point has alpha > 0: bounded ones contribute to
// w (SVM notes 6.5).
func PartialMachine(x *mat.Dense, y, u []float64, part []bool) (w []float64, b float64, err error) {
	n, d := x.Dims()
	if err := checkLabels(y, n); err != nil {
		return nil, 0, err
	}
	if len(u) != n || len(part) != n {
		return nil, 0, fmt.Errorf("theory: %d coefficients and %d marks for %d points", len(u), len(part), n)
	}
	w = make([]float64, d)
	count := 0.0
	for i := range n {
		if part[i] {
			count++
			floats.AddScaled(w, u[i], x.RawRowView(i))
		}
	}
	for i := range n {
		if part[i] {
			b += (y[i] - floats.Dot(w, x.RawRowView(i))) / count
		}
	}
	return w, b, nil
}
