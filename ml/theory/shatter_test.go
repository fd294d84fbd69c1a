package theory_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

func TestShatterLinesKnownSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		points     [][2]float64
		realisable int
		rank       int
		largest    []int
	}{
		{"one point", [][2]float64{{1, 2}}, 2, 1, []int{0}},
		{"two points", [][2]float64{{1, 2}, {3, 4}}, 4, 2, []int{0, 1}},
		{"two that coincide", [][2]float64{{1, 2}, {1, 2}}, 2, 1, []int{0}},
		{"triangle", [][2]float64{{0, 0}, {1, 0}, {0, 1}}, 8, 3, []int{0, 1, 2}},
		{"three on a line", [][2]float64{{0, 0}, {1, 1}, {2, 2}}, 6, 2, []int{0, 1}},
		{"three nearly on a line", [][2]float64{{0, 0}, {1, 1}, {2, math.Nextafter(2, 3)}}, 8, 3, []int{0, 1, 2}},
		{"square", [][2]float64{{1, 1}, {-1, -1}, {-1, 1}, {1, -1}}, 14, 3, []int{0, 1, 2}},
		{"triangle with a point inside", [][2]float64{{0, 0}, {4, 0}, {0, 4}, {1, 1}}, 14, 3, []int{0, 1, 2}},
		{"four on a line", [][2]float64{{0, 0}, {1, 1}, {2, 2}, {3, 3}}, 8, 2, []int{0, 1}},
		{"triangle, one corner twice", [][2]float64{{0, 0}, {0, 0}, {1, 0}, {0, 1}}, 8, 3, []int{0, 2, 3}},
	} {
		s := require.Value(theory.ShatterLines(c.points))(t, "%s", c.name)
		require.Check(t, s.Realisable == c.realisable && s.Rank == c.rank && slices.Equal(s.Largest(), c.largest),
			"%s: %d realisable, rank %d, largest %v; want %d, %d, %v", c.name, s.Realisable, s.Rank, s.Largest(), c.realisable, c.rank, c.largest)
		got := s.Shattered()
		require.Check(t, got == (c.realisable == 1<<len(c.points)) && got == (s.Rank == len(c.points)), "%s: shattered = %t", c.name, got)
	}
}

// Unrealisable means that the hulls meet, in one of four ways that integers decide (Radon).
func TestShatterLinesAgainstHulls(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	for range 150 {
		n := 1 + rng.IntN(6)
		side := 2 + rng.IntN(5) // small grids: many collinear and coinciding points
		ints := make([][2]int, n)
		points := make([][2]float64, n)
		for i := range ints {
			ints[i] = [2]int{rng.IntN(side), rng.IntN(side)}
			points[i] = [2]float64{float64(ints[i][0]) / 4, float64(ints[i][1])/4 - 100}
		}
		s := require.Value(theory.ShatterLines(points))(t)
		count := 0
		for m, d := range s.Dichotomies {
			var a, b [][2]int
			for i, p := range ints {
				require.Must(t, (m>>i&1 == 1) == (d.Labels[i] == 1), "labels of dichotomy %d are %v", m, d.Labels)
				if d.Labels[i] == 1 {
					a = append(a, p)
				} else {
					b = append(b, p)
				}
			}
			want := !hullsMeet(a, b) && !hullsMeet(b, a)
			require.Must(t, d.Realisable == want, "points %v, labels %v: realisable = %t", ints, d.Labels, d.Realisable)
			if d.Realisable {
				count++
				witness(t, d, func(i int) float64 { return d.W[0]*points[i][0] + d.W[1]*points[i][1] + d.B })
				require.Must(t, d.Common == nil, "separated hulls meet in %v", d.Common)
				continue
			}
			require.Must(t, d.W == nil && d.Margin == 0 && len(d.Common) == 2,
				"impossible labelling with witness %v, margin %g, common point %v", d.W, d.Margin, d.Common)
			// No direction separates the common point from either class: it is in both hulls.
			for angle := 0.0; angle < 2*math.Pi; angle += 0.05 {
				cos, sin := math.Cos(angle), math.Sin(angle)
				reach := map[float64]float64{1: math.Inf(-1), -1: math.Inf(-1)}
				for i, p := range points {
					reach[d.Labels[i]] = max(reach[d.Labels[i]], cos*p[0]+sin*p[1])
				}
				require.Must(t, (cos*d.Common[0]+sin*d.Common[1]) <= min(reach[1], reach[-1])+1e-12,
					"points %v, labels %v: %v is not common to the hulls", points, d.Labels, d.Common)
			}
		}
		require.Must(t, count == s.Realisable, "Realisable = %d, counted %d", s.Realisable, count)
	}
}

// witness checks that f has every point on its side, with smallest margin 1.
func witness(t *testing.T, d theory.Dichotomy, f func(i int) float64) {
	t.Helper()
	margins := lists.Make(len(d.Labels), func(i int) float64 { return d.Labels[i] * f(i) })
	near(t, "smallest margin of the witness", slices.Min(margins), 1, 1e-5)
}

// hullsMeet tells if the hulls of a and b meet: a point of a in one of b, or two segments crossing.
func hullsMeet(a, b [][2]int) bool {
	area := func(p, q, r [2]int) int { return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0]) }
	within := func(p, q, r [2]int) bool { // p between q and r on their line
		return area(q, r, p) == 0 &&
			min(q[0], r[0]) <= p[0] && p[0] <= max(q[0], r[0]) && min(q[1], r[1]) <= p[1] && p[1] <= max(q[1], r[1])
	}
	for _, p := range a {
		for _, q := range b {
			for _, r := range b {
				if within(p, q, r) {
					return true
				}
				for _, s := range b {
					if area(q, r, s) > 0 && area(q, r, p) >= 0 && area(r, s, p) >= 0 && area(s, q, p) >= 0 {
						return true
					}
				}
				for _, o := range a {
					if area(p, o, q)*area(p, o, r) < 0 && area(q, r, p)*area(q, r, o) < 0 {
						return true
					}
				}
			}
		}
	}
	return false
}

func TestCover(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	for n := 1; n <= theory.MaxShatter; n++ {
		points := lists.Make(n, func(i int) [2]float64 { return [2]float64{rng.NormFloat64(), rng.NormFloat64()} })
		s := require.Value(theory.ShatterLines(points))(t)
		require.Check(t, theory.GeneralPosition(points) && float64(s.Realisable) == theory.CoverCount(n, 2),
			"%d points: %d realisable, Cover counts %g", n, s.Realisable, theory.CoverCount(n, 2))
	}
	for n := range int64(50) {
		for d := range int64(50) {
			sum := new(big.Int)
			for k := range d + 1 {
				sum.Add(sum, new(big.Int).Binomial(n, k))
			}
			want, _ := new(big.Float).SetInt(sum.Lsh(sum, 1)).Float64()
			require.Equal(t, theory.CoverCount(int(n+1), int(d)), want, "CoverCount(%d, %d)", n+1, d)
		}
	}
	require.Check(t, math.IsNaN(theory.CoverCount(0, 2)) && math.IsNaN(theory.CoverCount(2, -1)),
		"a count for no points or no dimension")
	// Half of all labellings at 2(d + 1) points, all up to d + 1 points, hardly any for very many.
	for d := range 8 {
		near(t, "chance of 2(d + 1) points", theory.CoverChance(2*(d+1), d), 0.5, 0)
		near(t, "chance of d + 1 points", theory.CoverChance(d+1, d), 1, 0)
	}
	p := theory.CoverChance(400, 20)
	require.Check(t, (p > 0 && p < 1e-30), "chance of 400 points in 20 dimensions: %g", p)
	require.Check(t, math.IsNaN(theory.CoverChance(0, 1)) && math.IsNaN(theory.CoverChance(1024, 3)) && math.IsNaN(theory.CoverChance(1, -1)),
		"a chance of no points, of too many, or in -1 dimensions")
	for _, c := range []struct {
		points [][2]float64
		want   bool
	}{
		{[][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}}, true},
		{[][2]float64{{0, 0}, {1, 0}, {0, 1}, {0.5, 0.5}}, false},
		{[][2]float64{{0, 0}, {0, 0}}, false},
		{[][2]float64{{0.1, 0.1}, {0.2, 0.2}, {0.3, 0.3}}, false},
		{[][2]float64{{0, 0}, {math.NaN(), 0}}, false},
		{[][2]float64{{0, math.Inf(1)}}, false},
	} {
		require.Equal(t, theory.GeneralPosition(c.points), c.want, "GeneralPosition(%v)", c.points)
	}
}

// Rationals and linear systems agree on separability and margin for the linear kernel.
func TestShatterKernelAgreesWithLines(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 12 {
		n := 1 + rng.IntN(6)
		points := make([][2]float64, n)
		x := mat.NewDense(n, 2, nil)
		for i := range points {
			p := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
			if round%2 == 0 {
				p = [2]float64{float64(rng.IntN(4)) + 1000, float64(rng.IntN(4))} // far from the origin
			}
			points[i] = p
			x.SetRow(i, p[:])
		}
		lines := require.Value(theory.ShatterLines(points))(t)
		machines := require.Value(theory.ShatterKernel(gram(linear, x)))(t)
		require.Must(t, lines.Rank == machines.Rank && lines.Realisable == machines.Realisable,
			"%v: rank %d and %d, realisable %d and %d", points, lines.Rank, machines.Rank, lines.Realisable, machines.Realisable)
		for m, d := range machines.Dichotomies {
			line := lines.Dichotomies[m]
			require.Equal(t, d.Realisable, line.Realisable, "%v labelled %v: for a machine", points, d.Labels)
			if math.IsInf(line.Margin, 1) && math.IsInf(d.Margin, 1) {
				continue
			}
			near(t, "margin", d.Margin, line.Margin, 1e-5)
			if d.Realisable {
				near(t, "b", d.B, line.B, 1e-4)
			}
		}
	}
}

func TestShatterKernelRank(t *testing.T) {
	t.Parallel()
	six := random(21, 6, 2)
	circle := mat.NewDense(6, 2, nil)
	for i := range 6 {
		circle.SetRow(i, []float64{math.Cos(float64(i)), math.Sin(float64(i))})
	}
	for _, c := range []struct {
		name string
		k    *mat.SymDense
		rank int
	}{
		{"six points, all conics", gram(quadratic, six), 6},
		{"six points of one conic", gram(quadratic, circle), 5},
		{"RBF", gram(rbf(1), six), 6},
		{"points that coincide", gram(rbf(1), mat.NewDense(3, 2, []float64{1, 1, 1, 1, 2, 0})), 2},
	} {
		s := require.Value(theory.ShatterKernel(c.k))(t, "%s", c.name)
		n := c.k.SymmetricDim()
		require.Check(t, s.Rank == c.rank && s.Shattered() == (c.rank == n),
			"%s: rank %d, %d of %d realisable; want rank %d", c.name, s.Rank, s.Realisable, len(s.Dichotomies), c.rank)
		for _, d := range s.Dichotomies {
			if d.Realisable && !math.IsInf(d.Margin, 1) {
				witness(t, d, func(i int) float64 {
					f := d.B
					for j, w := range d.W {
						f += w * c.k.At(i, j)
					}
					return f
				})
			}
		}
	}
}

// The quadratic kernel solves XOR with alpha = 1/8 for all points.
func TestShatterXOR(t *testing.T) {
	t.Parallel()
	x, y := xor()
	s := require.Value(theory.ShatterKernel(gram(quadratic, x)))(t)
	d := s.Dichotomies[0b0011]
	require.Must(t, d.Realisable && slices.Equal(d.Labels, y), "dichotomy %v, realisable %t", d.Labels, d.Realisable)
	for i, w := range d.W {
		near(t, "alpha y", w, y[i]/8, 1e-12)
	}
	near(t, "b", d.B, 0, 1e-12)
	near(t, "margin", d.Margin, math.Sqrt2, 1e-12)
	// XOR is the labelling of the square that no line realises.
	s = require.Value(theory.ShatterLines([][2]float64{{1, 1}, {-1, -1}, {-1, 1}, {1, -1}}))(t)
	for m, d := range s.Dichotomies {
		require.Equal(t, d.Realisable, m != 0b0011 && m != 0b1100, "labels %v: realisable", d.Labels)
		require.Check(t, d.Realisable || slices.Equal(d.Common, []float64{0, 0}), "the diagonals meet in %v", d.Common)
	}
}

// Coordinates at the ends of the range do not change a decision.
func TestShatterLinesExtremeSizes(t *testing.T) {
	t.Parallel()
	for _, unit := range []float64{1e-290, 1e-150, 1, 1e99} {
		s, err := theory.ShatterLines([][2]float64{{0, 0}, {unit, 0}, {0, unit}, {unit, unit}, {3 * unit, unit}})
		require.Must(t, err == nil && s.Realisable == 20, "unit %g: %d realisable, %v", unit, s.Realisable, err)
		for _, d := range s.Dichotomies {
			if d.Realisable && !math.IsInf(d.Margin, 1) {
				near(t, "margin in units", d.Margin/unit, 1/math.Hypot(unit*d.W[0], unit*d.W[1]), 1e-12)
			}
		}
	}
}
