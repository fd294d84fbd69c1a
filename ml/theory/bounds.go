package theory

import (
	"math"
	"sort"
)

// Bound is an upper bound on an error: a risk, or a share of wrong predictions.
// Value is NaN, and the bound vacuous, when an argument is outside its range.
type Bound struct {
	Value float64 // may be above what an error can be, up to +Inf
	// Vacuous means that the bound says nothing: the value is no smaller than the
	// largest error possible, which is 1 for shares.
	Vacuous bool
}

// newBound judges a value by the largest error possible; NaN is vacuous.
func newBound(value, largest float64) Bound {
	return Bound{Value: value, Vacuous: !(value < largest)}
}

// logGrowth is h (ln(2m/h) + 1), which bounds the logarithm of the number of
// dichotomies on 2m points by functions of VC dimension h. The expression falls
// beyond h = 2m and turns negative beyond 2em, where it bounds nothing; its value
// at 2m, above the 2m ln 2 of all dichotomies, is used from there on.
func logGrowth(h, m float64) float64 {
	if h == 0 {
		return 0
	}
	h = min(h, 2*m)
	return h * (math.Log(2*m/h) + 1)
}

// VapnikEpsilon returns eps = 4 (h (ln(2M/h) + 1) - ln eta)/M, the capacity term
// of VapnikBound (MCM notes, "Statistical learning theory"). It rises with h and
// stays at its value for h = 2M beyond; see VapnikBound for the ranges.
func VapnikEpsilon(h float64, m int, eta float64) float64 {
	if !(h >= 0) || m < 1 || !(eta > 0 && eta <= 1) {
		return math.NaN()
	}
	return 4 * (logGrowth(h, float64(m)) - math.Log(eta)) / float64(m)
}

// VapnikBound returns
//
//	R <= R_emp + (B eps/2) (1 + sqrt(1 + 4 R_emp/(B eps)))
//
// with eps = VapnikEpsilon(h, m, eta): with probability at least 1 - eta over the
// draw of m >= 1 samples it holds for all functions of a set of VC dimension
// h >= 0 at once, so also for the one that training picks. The loss lies between 0
// and top > 0 (B above; 1 for shares of errors), 0 <= empirical <= top, and
// 0 < eta <= 1. It is vacuous at top and above.
//
// Source: MCM notes, "Statistical learning theory", after Vapnik.
func VapnikBound(empirical, top, h float64, m int, eta float64) Bound {
	if !(top > 0) || !(empirical >= 0 && empirical <= top) {
		return newBound(math.NaN(), top)
	}
	be := top * VapnikEpsilon(h, m, eta)
	// be/2 (1 + sqrt(1 + 4 R/be)) without the quotient, which has no value at be = 0
	return newBound(empirical+(be+math.Sqrt(be*be+4*be*empirical))/2, top)
}

// VCBound returns
//
//	err <= err_emp + sqrt((h (1 + ln(2N/h)) - ln(delta/4))/N)
//
// for the share of errors, with probability at least 1 - delta: the form of the
// slides (page "Support-vector machines"). h >= 0 is the VC dimension, n >= 1 the
// number of samples, 0 <= empirical <= 1, 0 < delta <= 1. h above 2N counts as 2N.
// It is vacuous at 1 and above.
func VCBound(empirical, h float64, n int, delta float64) Bound {
	if !(empirical >= 0 && empirical <= 1) || !(h >= 0) || n < 1 || !(delta > 0 && delta <= 1) {
		return newBound(math.NaN(), 1)
	}
	return newBound(empirical+math.Sqrt((logGrowth(h, float64(n))-math.Log(delta/4))/float64(n)), 1)
}

// DecimalVCBound is VCBound with logarithms to the base of ten, a misreading of the
// slides that a lesson sets beside it: no theorem. Arguments are as for VCBound, and not
// checked.
func DecimalVCBound(empirical, h float64, n int, delta float64) float64 {
	m := float64(n)
	h = min(h, 2*m)
	return empirical + math.Sqrt((h*(1+math.Log10(2*m/h))-math.Log10(delta/4))/m)
}

// SamplesFor returns the smallest number of samples from which on a bound that falls
// with it is not vacuous; 0 when there is none up to a thousand million.
func SamplesFor(bound func(m int) Bound) int {
	low, high := 0, 1_000_000_000
	if bound(high).Vacuous {
		return 0
	}
	for high-low > 1 {
		if mid := (low + high) / 2; bound(mid).Vacuous {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// SparseBound returns
//
//	err <= (N_SV (1 - ln(N_SV/N)) + ln(N/delta)) / (N - N_SV)
//
// for a maximal margin classifier with nsv support vectors out of n >= 1 samples,
// 0 <= nsv <= n, with probability at least 1 - delta, 0 < delta <= 1 (slides,
// "Maximal margin classifier: generalization"). It is +Inf at nsv = n and vacuous
// at 1 and above. It presupposes that no training point is misclassified: the
// support vectors are a compressed form of the labels of all others. With bounded
// support vectors on the wrong side it does not apply, nor to an MCM (see
// LeaveOneOutBound).
func SparseBound(nsv, n int, delta float64) Bound {
	if n < 1 || nsv < 0 || nsv > n || !(delta > 0 && delta <= 1) {
		return newBound(math.NaN(), 1)
	}
	s, total := float64(nsv), float64(n)
	sum := math.Log(total / delta)
	if nsv > 0 {
		sum += s * (1 - math.Log(s/total))
	}
	return newBound(sum/(total-s), 1)
}

// SparseBoundPoints returns the number of points from which on SparseBound, for nsv
// support vectors and delta, is below share (above 0): the bound falls with every point.
// 0 for arguments out of range, and where more than 2^40 points would be needed.
func SparseBoundPoints(nsv int, delta, share float64) int {
	if nsv < 0 || !(delta > 0 && delta <= 1) || !(share > 0) {
		return 0
	}
	const most = 1 << 40
	n := nsv + 1 + sort.Search(most-nsv-1, func(k int) bool { return SparseBound(nsv, nsv+1+k, delta).Value < share })
	if n == most {
		return 0
	}
	return n
}

// LeaveOneOutBound returns N_SV/N, a bound on the share of points that are
// misclassified when each is left out of training in turn: an SVM does not change
// when it loses a point that is not a support vector. n >= 1, 0 <= nsv <= n. Its
// mean over samples bounds the mean error of machines trained on n - 1 points; the
// slides write "=" ("Maximal margin classifier: generalization"), but it is an
// upper bound. It is vacuous when every point is a support vector.
//
// It does not hold for the support vectors of an MCM, the points with
// lambda_j != 0: they span f, but other points hold it in place. There nsv has to
// count the points with lambda_j != 0 or a dual variable v_j != 0. The same is true
// of SparseBound.
func LeaveOneOutBound(nsv, n int) Bound {
	if n < 1 || nsv < 0 || nsv > n {
		return newBound(math.NaN(), 1)
	}
	return newBound(float64(nsv)/float64(n), 1)
}

// MarginVCDim bounds the VC dimension of hyperplanes with margin Delta (margin)
// on points inside a ball of the given radius in dim dimensions:
//
//	h <= min(ceil(R²/Delta²), dim) + 1
//
// dim is math.Inf(1) for the RBF kernel. The radius is at least 0; without a
// margin (0 or less) only dim + 1 is left. NaN for other arguments.
//
// The MCM notes ("Statistical learning theory") write [R/Delta]², the whole part.
// The square has to be taken first, and the whole part is one too small: for n
// points that are shattered with margin Delta, the mean of |sum y_i x_i|² over
// balanced labellings gives n-1 <= R²/Delta² for even n and (n-1)(1 - 1/n²) <=
// R²/Delta² for odd n, which the corners of an equilateral triangle reach. The
// theorem fixes Delta and the ball before the data are seen; to put in those of a
// trained machine is the usual illustration, not a proof.
func MarginVCDim(radius, margin, dim float64) float64 {
	return marginVCDim(radius, margin, dim, math.Ceil)
}

// WholeMarginVCDim is MarginVCDim with the whole part in place of the next whole number,
// as the MCM notes mean it, which is refuted by an equilateral triangle.
func WholeMarginVCDim(radius, margin, dim float64) float64 {
	return marginVCDim(radius, margin, dim, math.Floor)
}

func marginVCDim(radius, margin, dim float64, whole func(float64) float64) float64 {
	if !(radius >= 0) || math.IsNaN(margin) || !(dim >= 0) {
		return math.NaN()
	}
	if margin <= 0 {
		return dim + 1
	}
	q := radius / margin
	return min(whole(q*q), dim) + 1
}

// DiameterVCDim is MarginVCDim for points known by their largest distance D:
//
//	h <= min(floor(D²/(2 Delta²)), dim) + 1
//
// since n points of diameter D fit into a ball with R² <= D² (n-1)/(2n), whatever
// the dimension (Jung 1901), which with the means of MarginVCDim leaves n-1 <
// D²/(2 Delta²): here the whole part is enough. This is what SlideVCDim should
// read. All points count, not the support vectors alone.
func DiameterVCDim(diameter, margin, dim float64) float64 {
	return marginVCDim(diameter/math.Sqrt2, margin, dim, math.Floor)
}

// SlideVCDim returns the formula as the slides print it ("Maximal margin
// classifier: generalization"),
//
//	min(ceil(max |x_i - x_j|² / (2 gamma)), dim) + 1
//
// with gamma the geometric margin, so that a lesson can set it beside
// DiameterVCDim. Slip: a squared length over a length is a length, so the
// value changes when the data are measured in other units, which no VC dimension
// can do; gamma has to be squared. In the same way the slides' "approximately
// 1/gamma = sqrt(sum alpha)" is 1/gamma² = sum alpha. The maximum must run over
// all points rather than the support vectors, and "=" is "<=". Arguments as for
// MarginVCDim.
func SlideVCDim(diameter, gamma, dim float64) float64 {
	if !(diameter >= 0) || math.IsNaN(gamma) || !(dim >= 0) {
		return math.NaN()
	}
	if gamma <= 0 {
		return dim + 1
	}
	return min(math.Ceil(diameter*diameter/(2*gamma)), dim) + 1
}

// MistakeBound returns (R/gamma)², which bounds the mistakes of a perceptron without
// a bias on points of which none is farther than radius from the origin and which
// some hyperplane through it separates with margin gamma (Novikoff 1962; slides,
// "Dual form of the Perceptron algorithm"). It does not change when the data are
// scaled. The radius is at least 0; without a margin (0 or less) it is +Inf. NaN for
// other arguments.
func MistakeBound(radius, margin float64) float64 {
	switch {
	case !(radius >= 0) || math.IsNaN(margin):
		return math.NaN()
	case margin <= 0:
		return math.Inf(1)
	}
	return math.Pow(radius/margin, 2)
}
