package theory

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"marginlab/ml/lists"
	"marginlab/ml/param"

	"gonum.org/v1/gonum/floats"
)

// ShatterLines enumerates all labellings of 1 to MaxShatter points in the plane and decides for
// each whether a line separates the classes. The decision is exact, also for collinear and
// coinciding points, as it uses rational arithmetic. Coordinates are at most 1e100 in absolute
// value; for points closer than 1e-300 the function overflows, but the decision is correct. If
// all labels are equal, the function is a line beside the points.
func ShatterLines(points [][2]float64) (Shattering, error) {
	n := len(points)
	if err := checkShatter(n); err != nil {
		return Shattering{}, err
	}
	for i, p := range points {
		if !(math.Abs(p[0]) <= 1e100 && math.Abs(p[1]) <= 1e100) {
			return Shattering{}, param.Refuse("use numbers up to 1e100 in magnitude", "point %d is (%g, %g)", i+1, p[0], p[1])
		}
	}
	dirs, overlaps := directions(points), radonPartitions(points)
	return newShattering(n, planeRank(points), lineBeside(points), func(y []float64) Dichotomy {
		d := separateByLine(dirs, y)
		if !d.Realisable {
			d.Common = common(overlaps, y)
		}
		return d
	}), nil
}

// direction is a candidate normal of a separating line, with the exact position of every point
// along it.
type direction struct {
	d  [2]*big.Rat
	at []*big.Rat
}

// directions returns candidates that include the normal of the maximal margin line of every
// separable labelling: it joins the closest points of the two convex hulls, which are two
// vertices, or a vertex and its projection onto an edge. So it is parallel or perpendicular to
// the line through two of the points.
func directions(points [][2]float64) []direction {
	rats := lists.Map(points, func(p [2]float64) [2]*big.Rat {
		return [2]*big.Rat{new(big.Rat).SetFloat64(p[0]), new(big.Rat).SetFloat64(p[1])}
	})
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
		for _, side := range []float64{1, -1} { // label of the class in front
			// ahead: smallest position in the class in front; behind: largest in the other
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

// float returns the product a b, rounded once.
func float(a, b *big.Rat) float64 {
	v, _ := new(big.Rat).Mul(a, b).Float64()
	return v
}

// radonPartition is a minimal pair of disjoint point sets, as bits, whose convex hulls intersect
// in the point at.
type radonPartition struct {
	a, b uint
	at   []float64
}

// radonPartitions lists the minimal intersections of hulls: two points coincide, a point lies on
// a segment, two segments cross, a point lies in a triangle. A labelling is not realisable by
// lines iff it separates such a pair (Radon; Kirchberger 1903).
func radonPartitions(points [][2]float64) []radonPartition {
	sign := turns(points)
	between := func(p, q, r float64) bool { return min(q, r) <= p && p <= max(q, r) }
	bit := func(i int) uint { return 1 << i }

	var same, on, cross, inside []radonPartition
	for i, p := range points {
		for j, q := range points {
			if i != j && p == q {
				same = append(same, radonPartition{bit(i), bit(j), p[:]})
			}
			for k, r := range points[:j] {
				if i == j || i == k {
					continue
				}
				if sign[i][j][k] == 0 && between(p[0], q[0], r[0]) && between(p[1], q[1], r[1]) {
					on = append(on, radonPartition{bit(i), bit(j) | bit(k), p[:]})
				}
				for l := range k {
					if t := sign[i][j][k]; i != l && t != 0 && t == sign[i][k][l] && t == sign[i][l][j] {
						inside = append(inside, radonPartition{bit(i), bit(j) | bit(k) | bit(l), p[:]})
					}
				}
			}
		}
		for _, e := range triples(i) { // pairs of four, each four once
			if sign[i][e[0]][e[1]]*sign[i][e[0]][e[2]] < 0 && sign[e[1]][e[2]][i]*sign[e[1]][e[2]][e[0]] < 0 {
				at := crossing(p, points[e[0]], points[e[1]], points[e[2]])
				cross = append(cross, radonPartition{bit(i) | bit(e[0]), bit(e[1]) | bit(e[2]), at})
			}
		}
	}
	return slices.Concat(same, on, cross, inside)
}

// turns returns turn for each three of the points.
func turns(points [][2]float64) (sign [MaxShatter][MaxShatter][MaxShatter]int) {
	for i, p := range points {
		for j, q := range points {
			for k, r := range points {
				sign[i][j][k] = turn(p, q, r)
			}
		}
	}
	return sign
}

// triples lists the sets of three numbers below n, three times each: with each number in front.
func triples(n int) (all [][3]int) {
	for j := range n {
		for k := range j {
			for l := range k {
				all = append(all, [3]int{j, k, l}, [3]int{k, j, l}, [3]int{l, j, k})
			}
		}
	}
	return all
}

// crossing returns the intersection of the segments ab and cd, up to rounding.
func crossing(a, b, c, d [2]float64) []float64 {
	ex, ey, fx, fy := b[0]-a[0], b[1]-a[1], d[0]-c[0], d[1]-c[1]
	t := ((c[0]-a[0])*fy - (c[1]-a[1])*fx) / (ex*fy - ey*fx)
	t = min(max(t, 0), 1)
	return []float64{a[0] + t*ex, a[1] + t*ey}
}

// common returns the point of the first partition that the labels separate.
func common(overlaps []radonPartition, y []float64) []float64 {
	var plus, minus uint
	for i, v := range y {
		if v > 0 {
			plus |= 1 << i
		} else {
			minus |= 1 << i
		}
	}
	for _, o := range overlaps {
		if o.a&minus == 0 && o.b&plus == 0 || o.a&plus == 0 && o.b&minus == 0 {
			return o.at
		}
	}
	return nil
}

// lineBeside returns a line with all points on its positive side, a tenth of their spread away.
func lineBeside(points [][2]float64) Dichotomy {
	low, high := points[0], points[0]
	for _, p := range points {
		for k, v := range p {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	off := cmp.Or(0.1*max(high[0]-low[0], high[1]-low[1]), 1)
	return Dichotomy{Realisable: true, W: []float64{1 / off, 0}, B: 1 - low[0]/off, Margin: math.Inf(1)}
}

// turn returns the exact sign of the area of the triangle abc, 0 if the points are collinear.
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

// planeRank returns 1 if all points coincide, 2 if they are collinear, else 3.
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

// GeneralPosition reports whether no two points coincide and no three are collinear, exactly.
// Cover's count holds for such points. It is false for coordinates that are not finite.
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
