package theory

import (
	"math"
	"sort"
)

// Bound is an upper bound on an error: a risk or an error rate. Value is NaN, and the bound
// vacuous, if an argument is out of range.
type Bound struct {
	Value float64 // may exceed the largest possible error, up to +Inf
	// Vacuous means that the value is at least the largest possible error, which is 1 for error
	// rates.
	Vacuous bool
}

// newBound compares a value with the largest possible error; NaN is vacuous.
func newBound(value, largest float64) Bound {
	return Bound{Value: value, Vacuous: !(value < largest)}
}

// logGrowth returns h (ln(2m/h) + 1), which bounds the logarithm of the number of dichotomies of
// 2m points by functions of VC dimension h. The expression falls for h > 2m and is no bound once
// it is negative, for h > 2em; from h = 2m on it is therefore kept at its value there, which
// exceeds the 2m ln 2 of all dichotomies.
func logGrowth(h, m float64) float64 {
	if h == 0 {
		return 0
	}
	h = min(h, 2*m)
	return h * (math.Log(2*m/h) + 1)
}

// VapnikEpsilon returns eps = 4 (h (ln(2M/h) + 1) - ln eta)/M, the capacity term of VapnikBound
// (MCM notes, "Statistical learning theory"). It increases with h and is constant for h >= 2M;
// see VapnikBound for the ranges.
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
// with eps = VapnikEpsilon(h, m, eta). With probability at least 1 - eta over m >= 1 samples it
// holds simultaneously for all functions of a family of VC dimension h >= 0, including the one
// selected by training. The loss lies between 0 and top > 0 (B above; 1 for error rates),
// 0 <= empirical <= top, and 0 < eta <= 1. The bound is vacuous if it is at least top.
//
// Source: MCM notes, "Statistical learning theory", after Vapnik.
func VapnikBound(empirical, top, h float64, m int, eta float64) Bound {
	if !(top > 0) || !(empirical >= 0 && empirical <= top) {
		return newBound(math.NaN(), top)
	}
	be := top * VapnikEpsilon(h, m, eta)
	// be/2 (1 + sqrt(1 + 4 R/be)), rewritten to be defined at be = 0
	return newBound(empirical+(be+math.Sqrt(be*be+4*be*empirical))/2, top)
}

// VCBound returns
//
//	err <= err_emp + sqrt((h (1 + ln(2N/h)) - ln(delta/4))/N)
//
// for the error rate, with probability at least 1 - delta, as in the slides (page "Support-vector
// machines"). h >= 0 is the VC dimension, n >= 1 the number of samples, 0 <= empirical <= 1,
// 0 < delta <= 1. h above 2N counts as 2N. The bound is vacuous if it is at least 1.
func VCBound(empirical, h float64, n int, delta float64) Bound {
	if !(empirical >= 0 && empirical <= 1) || !(h >= 0) || n < 1 || !(delta > 0 && delta <= 1) {
		return newBound(math.NaN(), 1)
	}
	return newBound(empirical+math.Sqrt((logGrowth(h, float64(n))-math.Log(delta/4))/float64(n)), 1)
}

// DecimalVCBound is VCBound with decimal logarithms, a misreading of the slides that a lesson
// contrasts with it: it is not a theorem. The arguments are as for VCBound, but not checked.
func DecimalVCBound(empirical, h float64, n int, delta float64) float64 {
	m := float64(n)
	h = min(h, 2*m)
	return empirical + math.Sqrt((h*(1+math.Log10(2*m/h))-math.Log10(delta/4))/m)
}

// SamplesFor returns the smallest number of samples for which a bound that decreases in it is not
// vacuous, or 0 if there is none up to 10⁹.
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
// for a maximal margin classifier with nsv support vectors among n >= 1 samples, 0 <= nsv <= n,
// with probability at least 1 - delta, 0 < delta <= 1 (slides, "Maximal margin classifier:
// generalization"). It is +Inf for nsv = n and vacuous if at least 1. It requires that no
// training point is misclassified: the support vectors are a compressed form of all labels. It
// applies neither with misclassified bounded support vectors nor to an MCM (see
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

// SparseBoundPoints returns the smallest number of points for which SparseBound, with nsv support
// vectors and delta, is below share (above 0); the bound decreases with every point. It returns 0
// for arguments out of range, or if more than 2^40 points are needed.
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

// LeaveOneOutBound returns N_SV/N, an upper bound on the leave-one-out error: an SVM does not
// change when a point that is not a support vector is removed. n >= 1, 0 <= nsv <= n. Its mean
// over samples bounds the expected error of machines trained on n - 1 points; the slides write
// "=" ("Maximal margin classifier: generalization"), but it is only an upper bound. It is vacuous
// if every point is a support vector.
//
// It does not hold for the support vectors of an MCM, the points with lambda_j != 0: they span f,
// but other points also constrain it. There nsv must count the points with lambda_j != 0 or a
// dual variable v_j != 0. The same applies to SparseBound.
func LeaveOneOutBound(nsv, n int) Bound {
	if n < 1 || nsv < 0 || nsv > n {
		return newBound(math.NaN(), 1)
	}
	return newBound(float64(nsv)/float64(n), 1)
}

// MarginVCDim bounds the VC dimension of hyperplanes with margin Delta (margin) on points in a
// ball of the given radius in dim dimensions:
//
//	h <= min(ceil(R²/Delta²), dim) + 1
//
// dim is math.Inf(1) for the RBF kernel. The radius is at least 0; for margin <= 0 the result is
// dim + 1. It is NaN for other arguments.
//
// The MCM notes ("Statistical learning theory") write [R/Delta]² with the floor. The square must
// be taken first, and the floor is one too small: for n points shattered with margin Delta, the
// mean of |sum y_i x_i|² over balanced labellings gives n-1 <= R²/Delta² for even n and
// (n-1)(1 - 1/n²) <= R²/Delta² for odd n, attained by an equilateral triangle. The theorem fixes
// Delta and the ball before seeing the data; inserting the values of a trained machine is the usual
// illustration, not a proof.
func MarginVCDim(radius, margin, dim float64) float64 {
	return marginVCDim(radius, margin, dim, math.Ceil)
}

// WholeMarginVCDim is MarginVCDim with the floor instead of the ceiling, as the MCM notes intend,
// which an equilateral triangle refutes.
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

// DiameterVCDim is MarginVCDim for points with largest distance D:
//
//	h <= min(floor(D²/(2 Delta²)), dim) + 1
//
// since n points of diameter D fit into a ball with R² <= D² (n-1)/(2n) in any dimension (Jung
// 1901), which with the mean in MarginVCDim gives n-1 < D²/(2 Delta²), so that the floor
// suffices. This is the correct form of SlideVCDim. All points count, not only the support
// vectors.
func DiameterVCDim(diameter, margin, dim float64) float64 {
	return marginVCDim(diameter/math.Sqrt2, margin, dim, math.Floor)
}

// SlideVCDim returns the formula printed in the slides ("Maximal margin classifier:
// generalization"),
//
//	min(ceil(max |x_i - x_j|² / (2 gamma)), dim) + 1
//
// with gamma the geometric margin, for comparison with DiameterVCDim in a lesson. Slip: a squared
// length over a length is a length, so the value depends on the units of the data, which a VC
// dimension cannot; gamma must be squared. Likewise the slides' "approximately 1/gamma = sqrt(sum
// alpha)" should be 1/gamma² = sum alpha. The maximum must be over all points, not only the
// support vectors, and "=" should be "<=". The arguments are as for MarginVCDim.
func SlideVCDim(diameter, gamma, dim float64) float64 {
	if !(diameter >= 0) || math.IsNaN(gamma) || !(dim >= 0) {
		return math.NaN()
	}
	if gamma <= 0 {
		return dim + 1
	}
	return min(math.Ceil(diameter*diameter/(2*gamma)), dim) + 1
}

// MistakeBound returns (R/gamma)², which bounds the number of mistakes of a perceptron without
// bias on points within radius of the origin that some hyperplane through it separates with
// margin gamma (Novikoff 1962; slides, "Dual form of the Perceptron algorithm"). It is invariant
// to scaling of the data. The radius is at least 0; for margin <= 0 the result is +Inf. It is NaN
// for other arguments.
func MistakeBound(radius, margin float64) float64 {
	switch {
	case !(radius >= 0) || math.IsNaN(margin):
		return math.NaN()
	case margin <= 0:
		return math.Inf(1)
	}
	return math.Pow(radius/margin, 2)
}
