package theory

import (
	"fmt"
	"math"

	"marginlab/ml/lists"
	"marginlab/ml/param"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Margins holds the margins of labelled points (slides, part 1; SVM notes 3.1). They are signed:
// negative for a misclassified point. The SVM notes use |f| instead, which treats a misclassified
// point as correct.
type Margins struct {
	Functional []float64 // y_i f(x_i); scales with |w|
	Geometric  []float64 // y_i f(x_i) / |w|, the signed distance from f = 0
	Norm       float64   // |w|
	Worst      int       // index of the first point with the smallest margin
	Separates  bool      // every margin is positive; a point on f = 0 is not correct
}

// FunctionalMargin returns the smallest functional margin, which is the margin of the whole set.
func (m Margins) FunctionalMargin() float64 { return m.Functional[m.Worst] }

// GeometricMargin returns the smallest geometric margin, which is the margin of the whole set.
func (m Margins) GeometricMargin() float64 { return m.Geometric[m.Worst] }

// NewMargins returns the margins for decision values f (length M) and labels y (±1), with a
// weight vector of length norm > 0 in input or feature space.
func NewMargins(f, y []float64, norm float64) (Margins, error) {
	if len(f) == 0 {
		return Margins{}, param.Refuse("add at least one", "the margin needs points")
	}
	if err := checkLabels(y, len(f)); err != nil {
		return Margins{}, err
	}
	if err := checkFinite("decision value", f); err != nil {
		return Margins{}, err
	}
	if !(norm > 0) || math.IsInf(norm, 1) {
		return Margins{}, param.Refuse("choose another w", "|w| is %g: without a normal there is no boundary and no margin", norm)
	}
	m := Margins{Functional: make([]float64, len(f)), Geometric: make([]float64, len(f)), Norm: norm}
	for i := range f {
		m.Functional[i] = y[i] * f[i]
		m.Geometric[i] = m.Functional[i] / norm
	}
	m.Worst = floats.MinIdx(m.Functional)
	m.Separates = m.Functional[m.Worst] > 0
	return m, nil
}

// LinearMargins returns the margins of the hyperplane w·x + b = 0 for the rows of
// x (M x d) with labels y (±1); w has length d and is not zero.
func LinearMargins(w []float64, b float64, x *mat.Dense, y []float64) (Margins, error) {
	n, d := x.Dims()
	if len(w) != d {
		return Margins{}, fmt.Errorf("theory: %d weights for points of %d coordinates", len(w), d)
	}
	f := lists.Make(n, func(i int) float64 { return floats.Dot(w, x.RawRowView(i)) + b })
	return NewMargins(f, y, floats.Norm(w, 2))
}

// Canonical returns the same hyperplane with (w, b) scaled so that the smallest functional margin
// is 1; the geometric margin is then 1/|w| (SVM notes 3.3). It returns an error if the hyperplane
// does not separate the points: no positive factor turns a margin of at most 0 into 1.
func Canonical(w []float64, b float64, x *mat.Dense, y []float64) (cw []float64, cb float64, err error) {
	m, err := LinearMargins(w, b, x, y)
	if err != nil {
		return nil, 0, err
	}
	if !m.Separates {
		return nil, 0, param.Refuse("choose a hyperplane that separates them", "point %d has functional margin %.3g: the canonical form needs every point on its own side", m.Worst+1, m.FunctionalMargin())
	}
	cw = make([]float64, len(w))
	floats.ScaleTo(cw, 1/m.FunctionalMargin(), w)
	return cw, b / m.FunctionalMargin(), nil
}
