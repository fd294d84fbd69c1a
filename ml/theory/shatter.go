package theory

import (
	"fmt"
	"math"
	"math/bits"
)

// MaxShatter is the largest number of points whose labellings are gone through:
// 2^6 = 64 of them.
const MaxShatter = 6

// Dichotomy is one labelling of the points, and whether the family realises it:
// y_i f(x_i) > 0 for all points, strictly.
type Dichotomy struct {
	Labels     []float64 // ±1, one per point
	Realisable bool
	// The function of largest margin that realises it, scaled so that the smallest
	// y_i f(x_i) is 1, to rounding. Lines: f(x) = W_1 x_1 + W_2 x_2 + B. Kernel
	// machines: f(x) = sum_j W_j k(x_j, x) + B. W is nil when there is none.
	W []float64
	B float64
	// Margin is 1/|w|, the distance of f = 0 from the nearest point, in feature
	// space for a kernel; 0 when not realisable and +Inf when all labels are equal,
	// since f = 0 can then be as far away as one likes.
	Margin float64
	// Common is a point of the plane that lies in the convex hulls of both classes,
	// the reason why no line comes between them. Only for lines, nil otherwise.
	Common []float64
}

// Shattering lists what a family of functions can do on a few points (slides,
// "Effect of the margin on the VC dimension"). The points are shattered, and the
// VC dimension of the family is at least their number, when every dichotomy is
// realisable.
type Shattering struct {
	// Dichotomies has 2^n entries: in entry m, point i is +1 iff bit i of m is set.
	Dichotomies []Dichotomy
	Realisable  int // how many of them are realisable
	// Rank is 1 + the dimension of the smallest flat through all points: their
	// number when they are affinely independent. Points are shattered by lines or
	// by a kernel machine with bias iff Rank is their number (Radon's theorem).
	Rank int
}

// Shattered tells whether every dichotomy is realisable.
func (s Shattering) Shattered() bool { return s.Realisable == len(s.Dichotomies) }

// Largest returns a largest set of the points that is shattered, in ascending
// order: the first such set in the order of Dichotomies. Its size is the largest
// VC dimension that these points can prove.
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
	points := make([]int, 0, bits.OnesCount(best))
	for i := range MaxShatter {
		if best&(1<<i) != 0 {
			points = append(points, i)
		}
	}
	return points
}

// newShattering goes through the labellings of n points. separate finds the
// witness for a labelling of both classes; beside is the one for all labels +1.
// A labelling and its opposite share a witness up to sign.
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

// negative is the witness of the opposite labelling.
func (d Dichotomy) negative() Dichotomy {
	if d.W != nil {
		w := make([]float64, len(d.W))
		for i, v := range d.W {
			w[i] = 0 - v // not -v, which makes -0
		}
		d.W, d.B = w, 0-d.B
	}
	return d
}

func checkShatter(n int) error {
	if n < 1 || n > MaxShatter {
		return fmt.Errorf("theory: %d points to shatter; give 1 to %d", n, MaxShatter)
	}
	return nil
}

// CoverCount returns 2 sum_{k=0}^{d} C(n-1, k): the number of dichotomies of n
// points in general position in R^d that hyperplanes w·x + b = 0 realise (Cover
// 1965). Exact for n up to 50, rounded beyond; NaN for n < 1 or d < 0.
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

// CoverChance returns CoverCount(n, d)/2^n: the chance that n points in general
// position in R^d with labels drawn by tossing a coin are separable, 1/2 at
// n = 2 (d + 1). NaN for n < 1, for n > 1023, where 2^n has no float64, and for d < 0.
func CoverChance(n, d int) float64 {
	if n > 1023 {
		return math.NaN()
	}
	return CoverCount(n, d) / math.Exp2(float64(n))
}
