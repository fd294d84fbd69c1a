package theory

import (
	"fmt"
	"math"
	"math/bits"

	"marginlab/ml/lists"
)

// MaxShatter is the largest number of points whose labellings, 2^6 = 64, are enumerated.
const MaxShatter = 6

// Dichotomy is one labelling of the points, and whether the family realises it: y_i f(x_i) > 0
// for all points.
type Dichotomy struct {
	Labels     []float64 // ±1, one per point
	Realisable bool
	// W and B are the realising function of largest margin, scaled so that the smallest y_i
	// f(x_i) is 1, up to rounding. Lines: f(x) = W_1 x_1 + W_2 x_2 + B. Kernel machines:
	// f(x) = sum_j W_j k(x_j, x) + B. W is nil if there is none.
	W []float64
	B float64
	// Margin is 1/|w|, the distance of f = 0 from the nearest point, in feature space for a
	// kernel; 0 if not realisable and +Inf if all labels are equal, as f = 0 can then be
	// arbitrarily far away.
	Margin float64
	// Common is a point in the convex hulls of both classes, which proves that no line separates
	// them. It is nil for separable classes and for kernels.
	Common []float64
}

// Shattering holds the dichotomies of a few points that a family of functions realises (slides,
// "Effect of the margin on the VC dimension"). If all are realisable, the points are shattered,
// and the VC dimension of the family is at least their number.
type Shattering struct {
	// Dichotomies has 2^n entries: in entry m, point i is +1 iff bit i of m is set.
	Dichotomies []Dichotomy
	Realisable  int // number of realisable dichotomies
	// Rank is 1 + the dimension of the affine hull of the points: their number if they are
	// affinely independent. Points are shattered by lines or by a kernel machine with bias iff
	// Rank is their number (Radon's theorem).
	Rank int
}

// Shattered reports whether every dichotomy is realisable.
func (s Shattering) Shattered() bool { return s.Realisable == len(s.Dichotomies) }

// Largest returns a largest shattered subset in ascending order: the first in the order of
// Dichotomies. Its size is the largest VC dimension that these points can prove.
func (s Shattering) Largest() []int {
	var best uint
	for set := range uint(len(s.Dichotomies)) {
		if bits.OnesCount(set) <= bits.OnesCount(best) {
			continue
		}
		seen := map[uint]bool{}
		for m, d := range s.Dichotomies {
			if d.Realisable {
				seen[uint(m)&set] = true
			}
		}
		if len(seen) == 1<<bits.OnesCount(set) {
			best = set
		}
	}
	return lists.Where(MaxShatter, func(i int) bool { return best&(1<<i) != 0 })
}

// newShattering enumerates the labellings of n points. separate returns the dichotomy for a
// labelling with both classes; beside is the one for all labels +1. A labelling and its opposite
// share a function up to sign.
func newShattering(n, rank int, beside Dichotomy, separate func(y []float64) Dichotomy) Shattering {
	s := Shattering{Dichotomies: make([]Dichotomy, 1<<n), Rank: rank}
	for m := range 1 << (n - 1) { // the last point is -1
		y := make([]float64, n)
		opposite := make([]float64, n)
		for i := range y {
			y[i] = float64(2*(m>>i&1) - 1)
			opposite[i] = -y[i]
		}
		var d Dichotomy
		if m == 0 {
			d = beside.negative()
		} else {
			d = separate(y)
		}
		d.Labels = y
		other := d.negative()
		other.Labels = opposite
		s.Dichotomies[m], s.Dichotomies[len(s.Dichotomies)-1-m] = d, other
		if d.Realisable {
			s.Realisable += 2
		}
	}
	return s
}

// negative returns the function for the opposite labelling.
func (d Dichotomy) negative() Dichotomy {
	if d.W != nil {
		d.W, d.B = lists.Map(d.W, func(v float64) float64 { return 0 - v }), 0-d.B // not -v, which makes -0
	}
	return d
}

func checkShatter(n int) error {
	if n < 1 || n > MaxShatter {
		return fmt.Errorf("theory: %d points to shatter; use 1 to %d", n, MaxShatter)
	}
	return nil
}

// CoverCount returns 2 sum_{k=0}^{d} C(n-1, k), the number of dichotomies of n points in general
// position in R^d realised by hyperplanes w·x + b = 0 (Cover 1965). It is exact for n up to 50,
// rounded beyond; NaN for n < 1 or d < 0.
func CoverCount(n, d int) float64 {
	if n < 1 || d < 0 {
		return math.NaN()
	}
	sum, term := 0.0, 1.0 // term is C(n-1, k)
	for k := 0; k <= d && k < n; k++ {
		sum += term
		term = math.Round(term * float64(n-1-k) / float64(k+1))
	}
	return 2 * sum
}

// CoverChance returns CoverCount(n, d)/2^n, the probability that n points in general position in
// R^d with random labels are separable, which is 1/2 at n = 2 (d + 1). It is NaN for n < 1, for
// n > 1023, where 2^n overflows, and for d < 0.
func CoverChance(n, d int) float64 {
	if n > 1023 {
		return math.NaN()
	}
	return CoverCount(n, d) / math.Exp2(float64(n))
}
