package theory

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Hinge returns the slack max(0, 1 - m) of a point with the functional margin
// m = y f(x), its hinge loss: above 1 exactly when the point is misclassified (slides,
// "Hinge loss").
func Hinge(m float64) float64 { return max(0, 1-m) }

// SoftParts returns the two parts of the soft-margin objective
//
//	|w|²/2 + C sum xi_i,  xi_i = Hinge(y_i f(x_i)),
//
// of the same hyperplane when (w, b) is scaled so that f = ±1 lies width > 0 away
// from it, which makes |w| = 1/width: |w|²/2 and the sum of the slacks.
func (m Margins) SoftParts(width float64) (halfSquare, slack float64) {
	for _, distance := range m.Geometric {
		slack += Hinge(distance / width)
	}
	return 1 / (2 * width * width), slack
}

// PartialMachine returns what would become of a linear machine f(x) = w·x + b with
// coefficients u_i = alpha_i y_i (length M) if only some of the points counted:
//
//	w = sum u_i x_i,  b = mean of y_i - w·x_i,  both over the points with part[i]
//
// for the rows x_i of x (M x d) and labels y (±1); 0 where no point counts. With the
// free support vectors alone it is the machine only as long as no other point has
// alpha > 0: bounded ones are part of w (SVM notes 6.5).
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
