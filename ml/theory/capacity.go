package theory

import (
	"fmt"
	"math"
	"slices"

	"marginlab/ml/lists"
	"marginlab/ml/param"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Capacity holds the quantities by which the notes bound the VC dimension of a machine
// f(x) = w·phi(x) + b, w = sum_j u_j phi(x_j) (MCM notes, "MCM formulations").
//
// The notes append a 1 to every point and b to w, so that the hyperplane passes through the
// origin: R, Delta and |w^| below refer to the augmented vectors. By Cauchy-Schwarz
// HMCM <= Radius/Margin. Slip: from this and the bound h <= (R/Delta)² (MarginVCDim) the notes
// conclude that h_MCM² bounds the VC dimension h from both sides up to two constants. For a
// single machine such constants always exist, as for any two positive numbers; and as
// h_MCM <= R/Delta, a small h_MCM does not imply a small R/Delta or h. It is a sensible objective
// to minimise, not a bound.
type Capacity struct {
	HMCM   float64 // h_MCM = max|f| / min|f| over the points, at least 1; +Inf if a point lies on f = 0
	Radius float64 // R = max sqrt(K_ii + 1), largest norm of an augmented vector
	Margin float64 // Delta = min|f| / |w^|, |w^|² = |w|² + b²
	Norm   float64 // |w| = sqrt(u'Ku), not augmented; 1/|w| is the margin of f = ±1
	// Ball is the radius of the smallest ball around the phi(x_i), not augmented:
	// MarginVCDim(Ball, 1/Norm, dim) is the bound for the machine itself.
	Ball float64
	// Separates reports whether y_i f(x_i) > 0 for all points. HMCM and Margin use |f| and have
	// the meaning in the notes only then.
	Separates bool
	Slack     []float64 // max(0, 1 - y_i f(x_i))
}

// NewCapacity returns the capacity quantities of the machine with coefficients u (length M, zeros
// included) and bias b on the points of the Gram matrix k (M x M, positive semidefinite) with
// labels y (±1). It returns an error if f is 0 everywhere or k is indefinite, so that there is no
// feature space.
func NewCapacity(k mat.Symmetric, u []float64, b float64, y []float64) (Capacity, error) {
	if err := checkGram(k); err != nil {
		return Capacity{}, err
	}
	n := k.SymmetricDim()
	if len(u) != n {
		return Capacity{}, fmt.Errorf("theory: %d coefficients for %d points", len(u), n)
	}
	if err := checkLabels(y, n); err != nil {
		return Capacity{}, err
	}
	if err := checkFinite("coefficient", append([]float64{b}, u...)); err != nil {
		return Capacity{}, err
	}
	f := mat.NewVecDense(n, nil)
	f.MulVec(k, mat.NewVecDense(n, u))
	norm := math.Sqrt(max(0, floats.Dot(u, f.RawVector().Data)))
	floats.AddConst(b, f.RawVector().Data)
	return capacity(k, f.RawVector().Data, norm, b, y)
}

// LinearCapacity returns the capacity quantities of the hyperplane w·x + b = 0 for the rows of x
// (M x d) with labels y (±1); w has length d. If w is known this is more accurate than using
// coefficients u. It returns the errors of [NewCapacity].
func LinearCapacity(w []float64, b float64, x *mat.Dense, y []float64) (Capacity, error) {
	n, d := x.Dims()
	if len(w) != d {
		return Capacity{}, fmt.Errorf("theory: %d weights for points of %d coordinates", len(w), d)
	}
	if n == 0 {
		return Capacity{}, param.Refuse("add at least one", "the capacity needs points")
	}
	var k mat.SymDense
	k.SymOuterK(1, x)
	if err := checkGram(&k); err != nil {
		return Capacity{}, err
	}
	if err := checkLabels(y, n); err != nil {
		return Capacity{}, err
	}
	if err := checkFinite("weight", append([]float64{b}, w...)); err != nil {
		return Capacity{}, err
	}
	f := lists.Make(n, func(i int) float64 { return floats.Dot(w, x.RawRowView(i)) + b })
	return capacity(&k, f, floats.Norm(w, 2), b, y)
}

// capacity returns the quantities for decision values f.
func capacity(k mat.Symmetric, f []float64, norm, b float64, y []float64) (Capacity, error) {
	ball, err := EnclosingBall(k)
	if err != nil {
		return Capacity{}, err
	}
	c := Capacity{Radius: math.Hypot(MaxNorm(k), 1), Norm: norm, Ball: ball.Radius, Separates: true, Slack: make([]float64, len(f))}
	low, high := math.Inf(1), 0.0
	for i, v := range f {
		low, high = min(low, math.Abs(v)), max(high, math.Abs(v))
		c.Separates = c.Separates && y[i]*v > 0
		c.Slack[i] = max(0, 1-y[i]*v)
	}
	if high == 0 {
		return Capacity{}, param.Refuse("choose another f", "f is 0 at every point, so h_MCM is undefined")
	}
	c.HMCM = high / low
	c.Margin = low / math.Hypot(c.Norm, b)
	return c, nil
}

// MaxNorm returns max |phi(x_i)| = max sqrt(K_ii), the radius of the smallest ball around the
// origin of feature space. For points augmented by a 1, as in the MCM notes, it is
// math.Hypot(MaxNorm(k), 1).
func MaxNorm(k mat.Symmetric) float64 {
	top := 0.0
	for i := range k.SymmetricDim() {
		top = max(top, k.At(i, i))
	}
	return math.Sqrt(top)
}

// Diameter returns the largest distance |phi(x_i) - phi(x_j)| in feature space. For a subset of
// the points, such as the support vectors, pass their part of the Gram matrix.
func Diameter(k mat.Symmetric) float64 {
	top := 0.0
	for i := range k.SymmetricDim() {
		for j := range i {
			top = max(top, apart(k, i, j))
		}
	}
	return math.Sqrt(top)
}

// apart returns |phi(x_i) - phi(x_j)|².
func apart(k mat.Symmetric, i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }

// Ball is the smallest ball in feature space that contains all points.
type Ball struct {
	Radius  float64   // every point lies inside, up to rounding
	Weights []float64 // a_i >= 0 with sum 1: the centre is sum_i a_i phi(x_i)
	// Gap is the relative certificate: no ball containing all points has a radius below (1 - Gap)
	// Radius. It is at most 1e-9, unless the search ended early after 20 000 steps or by
	// rounding, as for a thousand points under a narrow RBF kernel (1e-6).
	Gap float64
}

// EnclosingBall finds the smallest ball around the points of the Gram matrix k by its dual,
//
//	maximise  sum_i a_i K_ii - a'Ka  over  a >= 0, sum_i a_i = 1,
//
// whose value is R². Each step moves weight between two points, as in SMO: to the point farthest
// from the centre, from the one with the largest gain. A thousand points take up to half a
// second.
//
// It returns an error if two points have a negative squared distance, which proves that k is not
// positive semidefinite.
func EnclosingBall(k mat.Symmetric) (Ball, error) {
	if err := checkGram(k); err != nil {
		return Ball{}, err
	}
	const (
		tol      = 1e-9
		maxSteps = 20_000
	)
	n := k.SymmetricDim()
	scale := floats.Norm(lists.Make(n, func(i int) float64 { return k.At(i, i) }), math.Inf(1))
	for i := range n {
		for j := range i {
			if apart(k, i, j) < -1e-10*scale {
				return Ball{}, param.Refuse("choose a positive semidefinite kernel", "points %d and %d have a negative squared distance: the kernel is not positive semidefinite, so no ball encloses the points", j+1, i+1)
			}
		}
	}
	a := slices.Repeat([]float64{1 / float64(n)}, n)
	var product mat.VecDense
	product.MulVec(k, mat.NewVecDense(n, a))
	ka := product.RawVector().Data // Ka
	for step := 0; ; step++ {
		// The squared distance of point i from the centre is K_ii - 2 (Ka)_i + a'Ka.
		norm := floats.Dot(a, ka)
		dist := lists.Make(n, func(i int) float64 { return k.At(i, i) - 2*ka[i] + norm })
		far, dual := floats.MaxIdx(dist), -norm
		outer := dist[far]
		from, move, best := -1, 0.0, 0.0
		for j := range n {
			dual += a[j] * k.At(j, j)
			slope, curve := outer-dist[j], apart(k, far, j)
			if a[j] == 0 || slope <= 0 || curve <= 0 { // far has slope 0
				continue
			}
			t := min(a[j], slope/(2*curve))
			if gain := t * (slope - t*curve); gain > best {
				from, move, best = j, t, gain
			}
		}
		// dual <= R² <= outer; R has half the relative gap.
		if outer-dual <= 2*tol*outer || outer <= 1e-14*scale || from < 0 || step == maxSteps {
			if outer <= 1e-14*scale { // equal points, up to rounding
				outer = 0
			}
			r := math.Sqrt(outer)
			gap := 0.0
			if r > 0 {
				gap = max(0, 1-math.Sqrt(max(0, dual))/r)
			}
			return Ball{Radius: r, Weights: a, Gap: gap}, nil
		}
		if move == a[from] {
			a[from] = 0
		} else {
			a[from] -= move
		}
		a[far] += move
		for i := range n {
			ka[i] += move * (k.At(i, far) - k.At(i, from))
		}
	}
}
