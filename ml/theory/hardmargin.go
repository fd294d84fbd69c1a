package theory

import (
	"fmt"
	"math"

	"marginlab/ml/lists"
	"marginlab/ml/param"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// PairMachine is the hard-margin machine of two points, one per class, in closed form. It also
// solves a larger set if no other point has a functional margin below 1: then all KKT conditions
// hold, which is sufficient (SVM notes 5.5).
type PairMachine struct {
	Between []float64 // x_+ - x_-, from the negative to the positive point
	Square  float64   // |Between|²
	Alpha   float64   // multiplier of both points, 2/Square, which maximises Dual
	W       []float64 // Alpha times Between
	B       float64
}

// NewPairMachine returns the machine of two distinct points of equal dimension.
func NewPairMachine(negative, positive []float64) (PairMachine, error) {
	if len(negative) != len(positive) {
		return PairMachine{}, fmt.Errorf("theory: points of %d and %d coordinates", len(negative), len(positive))
	}
	p := PairMachine{Between: make([]float64, len(positive)), W: make([]float64, len(positive))}
	floats.SubTo(p.Between, positive, negative)
	p.Square = floats.Dot(p.Between, p.Between)
	p.Alpha = 2 / p.Square
	if !(p.Square > 0) || math.IsInf(p.Square, 1) || math.IsInf(p.Alpha, 1) {
		return PairMachine{}, param.Refuse("use distinct points of moderate size", "the squared distance of the two points is %g", p.Square)
	}
	floats.ScaleTo(p.W, p.Alpha, p.Between)
	p.B = 1 - floats.Dot(p.W, positive)
	return p, nil
}

// Dual returns the dual objective W(a) = 2a - a² Square/2 for both multipliers equal to a.
func (p PairMachine) Dual(a float64) float64 { return 2*a - a*a*p.Square/2 }

// HardCeiling returns |w|²/2 for w scaled so that the smallest y_i (w·x_i + b) over the rows of x
// (M x d) is 1 for the best b. It is an upper bound on the primal optimum of the hard margin, and
// +Inf if w, of length d, separates the classes for no b. Labels y are ±1, both present.
func HardCeiling(w []float64, x *mat.Dense, y []float64) (float64, error) {
	at, err := projections(w, x, y)
	if err != nil {
		return 0, err
	}
	low, high := edges(at, y)
	if high-low < 1e-9 { // rounding can cause such a gap
		return math.Inf(1), nil
	}
	length := floats.Norm(w, 2) * 2 / (high - low)
	return length * length / 2, nil
}

// Biases holds the bias of a weight vector by the formulas in the lecture documents. They agree
// for a hard margin; if a support vector is at the bound C, inside the margin, they are wrong:
// see BiasInterval.
type Biases struct {
	Midpoint  float64 // midpoint between the classes (slides, "The weight vector depends on the data")
	Heaviest  float64 // from the positive support vector with the largest alpha (slides, "Support vectors"); NaN if there is none
	Low, High float64 // smallest and largest y_k - w·x_k over all support vectors (SVM notes 5.5)
}

// NewBiases returns the biases for weights w (length d) and coefficients u = alpha y of the rows
// of x (M x d) with labels y (±1), both present; u must not be zero.
func NewBiases(w []float64, x *mat.Dense, y, u []float64) (Biases, error) {
	at, err := projections(w, x, y)
	if err != nil {
		return Biases{}, err
	}
	if len(u) != len(y) {
		return Biases{}, fmt.Errorf("theory: %d coefficients for %d points", len(u), len(y))
	}
	low, high := edges(at, y)
	r := Biases{Midpoint: -(low + high) / 2, Heaviest: math.NaN(), Low: math.Inf(1), High: math.Inf(-1)}
	heaviest := 0.0
	for k := range u {
		if u[k] == 0 {
			continue
		}
		b := y[k] - at[k]
		r.Low, r.High = min(r.Low, b), max(r.High, b)
		if u[k] > heaviest+1e-9 { // equal up to rounding: keep the first
			heaviest, r.Heaviest = u[k], b
		}
	}
	if math.IsInf(r.Low, 1) {
		return Biases{}, param.Refuse("train first", "the bias needs support vectors")
	}
	return r, nil
}

// BiasInterval returns the ends of the interval of all b that satisfy the KKT conditions with
// weights w (length d) and coefficients u = alpha y of the rows of x (M x d) with labels y (±1),
// both present: y_i f(x_i) >= 1 if alpha_i < c, <= 1 if alpha_i > 0. For the w of a machine they
// are the b with the least total slack. With a free support vector, 0 < alpha_i < c, both ends
// equal its y_i - w·x_i up to the tolerance of the solver, which may reverse them. c > 0 is +Inf
// for a hard margin. An end may be infinite if a class has no support vector.
func BiasInterval(w []float64, x *mat.Dense, y, u []float64, c float64) (low, high float64, err error) {
	at, err := projections(w, x, y)
	if err != nil {
		return 0, 0, err
	}
	if len(u) != len(y) {
		return 0, 0, fmt.Errorf("theory: %d coefficients for %d points", len(u), len(y))
	}
	low, high = math.Inf(-1), math.Inf(1)
	for k := range u {
		alpha, b := u[k]*y[k], y[k]-at[k]
		if y[k] > 0 && alpha < c || y[k] < 0 && alpha > 0 {
			low = max(low, b)
		}
		if y[k] > 0 && alpha > 0 || y[k] < 0 && alpha < c {
			high = min(high, b)
		}
	}
	return low, high, nil
}

// projections returns w·x_i for points of both classes.
func projections(w []float64, x *mat.Dense, y []float64) ([]float64, error) {
	n, d := x.Dims()
	if len(w) != d {
		return nil, fmt.Errorf("theory: %d weights for points of %d coordinates", len(w), d)
	}
	if err := checkLabels(y, n); err != nil {
		return nil, err
	}
	if floats.Max(y) == floats.Min(y) {
		return nil, param.Refuse("add points of the other class", "the gap needs points of two classes")
	}
	at := lists.Make(n, func(i int) float64 { return floats.Dot(w, x.RawRowView(i)) })
	return at, checkFinite("w·x", at)
}

// edges returns the largest value of the negative class and the smallest of the positive.
func edges(at, y []float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for i, v := range at {
		if y[i] > 0 {
			high = min(high, v)
		} else {
			low = max(low, v)
		}
	}
	return low, high
}
