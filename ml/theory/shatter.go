package theory

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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
	// space for a kernel; 0 when not realisable, +Inf when all labels are equal,
	// since f = 0 can then be as far away as one likes.
	Margin float64
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

// ShatterLines goes through all labellings of 1 to MaxShatter points of the plane
// and decides for each whether a straight line separates the classes. The
// decision is exact, for collinear and coinciding points as well: it is taken in
// rational arithmetic. Coordinates are at most 1e100 in size. When all labels are
// equal, the witness is a line beside the points.
func ShatterLines(points [][2]float64) (Shattering, error) {
	n := len(points)
	if err := checkShatter(n); err != nil {
		return Shattering{}, err
	}
	for i, p := range points {
		if !(math.Abs(p[0]) <= 1e100 && math.Abs(p[1]) <= 1e100) {
			return Shattering{}, fmt.Errorf("theory: point %d is (%g, %g); coordinates must be numbers up to 1e100 in size", i+1, p[0], p[1])
		}
	}
	dirs := directions(points)
	return newShattering(n, planeRank(points), lineBeside(points), func(y []float64) Dichotomy {
		return separateByLine(dirs, y)
	}), nil
}

// direction is a candidate normal of a separating line with the exact position of
// every point along it.
type direction struct {
	d  [2]*big.Rat
	at []*big.Rat
}

// directions returns the candidates among which the normal of the maximal margin
// line of every separable labelling is found: it joins the closest points of the
// two convex hulls, which are two corners, or a corner and the foot of its
// perpendicular on an edge. So it runs along or across the line through two of
// the points.
func directions(points [][2]float64) []direction {
	rats := make([][2]*big.Rat, len(points))
	for i, p := range points {
		rats[i] = [2]*big.Rat{new(big.Rat).SetFloat64(p[0]), new(big.Rat).SetFloat64(p[1])}
	}
	var dirs []direction
	for i := range rats {
		for j := range i {
			dx, dy := new(big.Rat).Sub(rats[i][0], rats[j][0]), new(big.Rat).Sub(rats[i][1], rats[j][1])
			if dx.Sign() == 0 && dy.Sign() == 0 {
				continue
			}
			for _, d := range [][2]*big.Rat{{dx, dy}, {new(big.Rat).Neg(dy), dx}} {
				at := make([]*big.Rat, len(rats))
				for k, p := range rats {
					s := new(big.Rat).Mul(d[0], p[0])
					at[k] = s.Add(s, new(big.Rat).Mul(d[1], p[1]))
				}
				dirs = append(dirs, direction{d, at})
			}
		}
	}
	return dirs
}

// separateByLine returns the maximal margin line for the labels y, both present.
func separateByLine(dirs []direction, y []float64) Dichotomy {
	var best Dichotomy
	for _, dir := range dirs {
		for _, side := range []float64{1, -1} { // the class that lies ahead
			// ahead: the hindmost of the class in front; behind: the foremost of the other
			var ahead, behind *big.Rat
			for i, at := range dir.at {
				switch {
				case y[i] == side && (ahead == nil || at.Cmp(ahead) < 0):
					ahead = at
				case y[i] != side && (behind == nil || at.Cmp(behind) > 0):
					behind = at
				}
			}
			if ahead.Cmp(behind) <= 0 {
				continue
			}
			// f = side · 2 (d·x - middle)/gap is ±1 at the nearest points.
			gap := new(big.Rat).Sub(ahead, behind)
			scale := new(big.Rat).Quo(new(big.Rat).SetFloat64(2*side), gap)
			w := []float64{float(scale, dir.d[0]), float(scale, dir.d[1])}
			margin := 1 / floats.Norm(w, 2)
			if best.Realisable && margin <= best.Margin {
				continue
			}
			middle := new(big.Rat).Add(ahead, behind)
			middle.Quo(middle, big.NewRat(-2, 1))
			best = Dichotomy{Realisable: true, W: w, B: float(scale, middle), Margin: margin}
		}
	}
	return best
}

// float is the product a b, rounded once.
func float(a, b *big.Rat) float64 {
	v, _ := new(big.Rat).Mul(a, b).Float64()
	return v
}

// lineBeside has all points on its positive side, a tenth of their spread away.
func lineBeside(points [][2]float64) Dichotomy {
	low, high := points[0], points[0]
	for _, p := range points {
		for k, v := range p {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	off := 0.1 * max(high[0]-low[0], high[1]-low[1])
	if off == 0 {
		off = 1
	}
	return Dichotomy{Realisable: true, W: []float64{1 / off, 0}, B: 1 - low[0]/off, Margin: math.Inf(1)}
}

// turn is the sign of the area of the triangle abc, exactly: 0 when the three
// points lie on one line.
func turn(a, b, c [2]float64) int {
	diff := func(u, v float64) *big.Rat {
		r := new(big.Rat).SetFloat64(u)
		return r.Sub(r, new(big.Rat).SetFloat64(v))
	}
	left := diff(b[0], a[0])
	left.Mul(left, diff(c[1], a[1]))
	right := diff(b[1], a[1])
	return left.Cmp(right.Mul(right, diff(c[0], a[0])))
}

// planeRank is 1 when all points coincide, 2 when they lie on a line, else 3.
func planeRank(points [][2]float64) int {
	rank, second := 1, points[0]
	for _, p := range points {
		switch {
		case rank == 1 && p != points[0]:
			rank, second = 2, p
		case rank == 2 && turn(points[0], second, p) != 0:
			return 3
		}
	}
	return rank
}

// GeneralPosition tells whether no two of the points coincide and no three lie on
// one line, exactly. Cover's count holds for such points. Coordinates are finite;
// points that are not are in no general position.
func GeneralPosition(points [][2]float64) bool {
	for i, p := range points {
		if !(math.Abs(p[0]) <= math.MaxFloat64 && math.Abs(p[1]) <= math.MaxFloat64) {
			return false
		}
		for j := range i {
			if p == points[j] {
				return false
			}
			for k := range j {
				if turn(p, points[j], points[k]) == 0 {
					return false
				}
			}
		}
	}
	return true
}

// ShatterKernel goes through all labellings of the 1 to MaxShatter points of the
// Gram matrix k and decides for each whether some f = sum_j u_j k(x_j, ·) + b
// realises it, that is, whether a hyperplane separates the classes in feature
// space. The points of largest margin on f = ±1 determine f, so the sets of
// points are tried; numbers are floating point, and systems of condition above
// 1e10 count as singular: a kernel so wide that its points nearly coincide is
// taken for one in which they do. It is an error when k is not positive
// semidefinite.
func ShatterKernel(k mat.Symmetric) (Shattering, error) {
	n := k.SymmetricDim()
	if err := checkShatter(n); err != nil {
		return Shattering{}, err
	}
	s, err := Mercer(k)
	if err != nil {
		return Shattering{}, err
	}
	if !s.PSD {
		return Shattering{}, errors.New("theory: the Gram matrix has a negative eigenvalue; without a feature space there is nothing to separate, choose a positive semidefinite kernel")
	}
	rank := 1
	if c, err := Mercer(centred(k)); err == nil {
		for _, v := range c.Values {
			if v > 1e-10*s.Values[0] {
				rank++
			}
		}
	}
	beside := Dichotomy{Realisable: true, W: make([]float64, n), B: 1, Margin: math.Inf(1)}
	return newShattering(n, rank, beside, func(y []float64) Dichotomy {
		return separateByKernel(k, s.Values[0], y)
	}), nil
}

// separateByKernel returns the maximal margin machine for the labels y, both
// present, by trying every set of points as those on f = ±1; scale is the size of
// the entries of k.
func separateByKernel(k mat.Symmetric, scale float64, y []float64) Dichotomy {
	n := len(y)
	var best Dichotomy
	if scale == 0 {
		return best
	}
	for set := 1; set < 1<<n; set++ {
		var on []int
		for i := range n {
			if set>>i&1 == 1 {
				on = append(on, i)
			}
		}
		// [K 1; 1' 0] (u, b) = (y, 0), with K scaled to entries of order 1
		m := len(on)
		a := mat.NewDense(m+1, m+1, nil)
		rhs := mat.NewVecDense(m+1, nil)
		for r, i := range on {
			for c, j := range on {
				a.Set(r, c, k.At(i, j)/scale)
			}
			a.Set(r, m, 1)
			a.Set(m, r, 1)
			rhs.SetVec(r, y[i])
		}
		var lu mat.LU
		lu.Factorize(a)
		if !(lu.Cond() < 1e10) {
			continue
		}
		var sol mat.VecDense
		if lu.SolveVecTo(&sol, false, rhs) != nil {
			continue
		}
		d := Dichotomy{Realisable: true, W: make([]float64, n), B: sol.AtVec(m)}
		for r, i := range on {
			d.W[i] = sol.AtVec(r) / scale
		}
		norm := 0.0
		for i := range n {
			f := d.B
			for _, j := range on {
				f += k.At(i, j) * d.W[j]
			}
			norm += d.W[i] * (f - d.B)
			d.Realisable = d.Realisable && y[i]*f >= 1-1e-6
		}
		d.Margin = 1 / math.Sqrt(norm)
		if d.Realisable && d.Margin > best.Margin {
			best = d
		}
	}
	return best
}

// CoverCount returns 2 sum_{k=0}^{d} C(n-1, k): the number of dichotomies of n
// points in general position in R^d that hyperplanes w·x + b = 0 realise (Cover
// 1965). Divided by 2^n it is the chance that random labels are separable, 1/2
// at n = 2 (d + 1). Exact for n up to 50, rounded beyond; NaN for n < 1 or d < 0.
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
