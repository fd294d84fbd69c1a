package kernel

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/pace"
	"marginlab/ml/trace"
)

// gaussianCells is a fast Gauss transform: it sums m Gaussians at n points of the plane in about
// n + m steps instead of n·m (Greengard and Strain, "The fast Gauss transform", SIAM J. Sci. Stat.
// Comput. 12, 1991). The plane is divided into square cells, about as wide as the Gaussian. For a
// point with the coordinate s in one cell and a term with the coordinate t in another, both scaled
// to -1 to 1, the factor of this coordinate is a polynomial up to a small error:
//
//	exp(-gamma (s' - t')²) = sum_kl A_kl T_k(s) T_l(t),  T the Chebyshev polynomials,
//
// where A depends only on the distance of the two cells. The moments M_kl = sum_j w_j T_k(t_j)
// T_l(u_j) represent the terms of a cell, and their sum in another cell is the polynomial with the
// coefficients A M B', where B belongs to the other coordinate.
//
// The error has two parts: the allowed error, a multiple of sum |w_j|, and the rounding of the sums;
// with 2^-53 allowed, both together stay below 2^-49 sum |w_j| in tests. A interpolates both
// coordinates at the zeros of T_p. In one coordinate its error is at most e = 4 M r^(1-p) / (r - 1)
// for every r > 1, where M is the largest magnitude on the ellipse with foci ±1 and half axes that
// sum to r (Trefethen, "Approximation Theory and Approximation Practice", theorem 8.2):
// exp(a² (r - 1/r)² / 4) for cells of the width 2a/√gamma. In both coordinates it is at most
// e + (2/pi log p + 1) e, with the bound of the Lebesgue constant. p is the smallest number for
// which this is below a quarter of the allowed error. Each coordinate takes one quarter. The third
// covers the omitted pairs of cells, which are so far apart that all values are below it.
type gaussianCells struct {
	side  float64          // of a cell, a power of two, so that positions in it are exact
	p     int              // number of polynomials
	reach int              // distance in cells beyond which terms are omitted
	pairs []blas64.General // A for terms -reach to reach cells after the point
}

// newGaussianCells returns cells with a from 1/4 to 1/2 for sums with an error of at most
// tolerance·sum |w_j|.
func newGaussianCells(gamma, tolerance float64) gaussianCells {
	c := gaussianCells{side: math.Exp2(math.Floor(-math.Log2(gamma) / 2))}
	width := c.side * math.Sqrt(gamma)
	for bound := 1.0; bound > tolerance/4.01; {
		c.p++
		p, a := float64(c.p), width/2
		r := math.Sqrt(2*p)/a + 1 // near the minimum of the bound
		bound = (2/math.Pi*math.Log(p) + 2) * 4 * math.Exp(a*a*(r-1/r)*(r-1/r)/4+(1-p)*math.Log(r)) / (r - 1)
	}
	c.reach = 1 + int(math.Ceil(math.Sqrt(math.Log(4/tolerance))/width))
	zeros, toCoefficients := make([]float64, c.p), square(c.p)
	for i := range zeros {
		zeros[i] = math.Cos((float64(i) + 0.5) * math.Pi / float64(c.p))
		for k := range c.p {
			v := 2 / float64(c.p) * math.Cos(float64(k)*(float64(i)+0.5)*math.Pi/float64(c.p))
			if k == 0 {
				v /= 2
			}
			toCoefficients.Data[i*c.p+k] = v
		}
	}
	for apart := -c.reach; apart <= c.reach; apart++ {
		values, half, pair := square(c.p), square(c.p), square(c.p)
		for i, s := range zeros {
			for j, t := range zeros {
				d := width / 2 * (s - t - 2*float64(apart))
				values.Data[i*c.p+j] = math.Exp(-d * d)
			}
		}
		dense.Add(half, blas.Trans, toCoefficients, values)
		dense.Add(pair, blas.NoTrans, half, toCoefficients)
		c.pairs = append(c.pairs, pair)
	}
	return c
}

func square(n int) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
}

// cell holds rows of a matrix of points.
type cell struct {
	x, y   int
	points []int32
}

func (c cell) compare(d cell) int { return cmp.Or(cmp.Compare(c.x, d.x), cmp.Compare(c.y, d.y)) }

// split sorts points into at most most cells, in order. It returns nil if they need more cells or
// are too far from the origin.
func (c gaussianCells) split(x blas64.General, most int) []cell {
	const far = 1 << 52 // largest distance from the origin in cells
	at, number := map[[2]int]int32{}, make([]int32, x.Rows)
	var cells []cell
	var sizes []int
	for i := range number {
		place := [2]int{}
		for k, v := range x.Data[i*x.Stride:][:x.Cols] {
			v = math.Floor(v / c.side)
			if !(math.Abs(v) < far) { // or NaN
				return nil
			}
			place[k] = int(v)
		}
		n, ok := at[place]
		if !ok {
			if len(cells) >= most {
				return nil
			}
			n = int32(len(cells))
			at[place] = n
			cells, sizes = append(cells, cell{x: place[0], y: place[1]}), append(sizes, 0)
		}
		number[i] = n
		sizes[n]++
	}
	points := make([]int32, x.Rows)
	for n, size := range sizes {
		cells[n].points, points = points[:0:size], points[size:]
	}
	for i, n := range number {
		cells[n].points = append(cells[n].points, int32(i))
	}
	slices.SortFunc(cells, cell.compare)
	return cells
}

// polynomials writes T_0 to T_p-1 of the coordinates of the given points into the rows of tx and ty.
func (c gaussianCells) polynomials(tx, ty blas64.General, x blas64.General, points []int32) {
	for a, i := range points {
		for k, t := range [2]blas64.General{tx, ty} {
			s := 0.0
			if k < x.Cols {
				s = x.Data[int(i)*x.Stride+k] / c.side
			}
			s = 2*(s-math.Floor(s)) - 1
			row := t.Data[a*c.p:][:c.p]
			now, next := 1.0, s
			for j := range row {
				row[j] = now
				now, next = next, 2*s*next-now
			}
		}
	}
}

// cellBlock is the number of points of a cell that are processed together.
const cellBlock = 256

// each calls f for blocks of the points of a cell with their polynomials, until ctx ends.
func (c gaussianCells) each(ctx context.Context, x blas64.General, points []int32, f func(tx, ty blas64.General, points []int32)) {
	size := min(cellBlock, len(points)) * c.p
	memory := make([]float64, 2*size)
	for some := range slices.Chunk(points, cellBlock) {
		if pace.Look(ctx) != nil {
			return
		}
		tx := blas64.General{Rows: len(some), Cols: c.p, Stride: c.p, Data: memory[:size]}
		ty := tx
		ty.Data = memory[size:]
		c.polynomials(tx, ty, x, some)
		f(tx, ty, some)
	}
}

// sumInCells adds sum_j w_j exp(-gamma |x_i - z_j|²) to dst[i] for the rows x_i and z_j of two
// matrices, with an error of at most tolerance·sum |w_j|, until ctx ends. It returns its work in
// kernel values. If summing term by term is as fast, it returns 0 and leaves dst unchanged.
func sumInCells(ctx context.Context, dst []float64, x, z blas64.General, w []float64, gamma, tolerance float64) (work int) {
	if x.Cols > 2 || x.Rows*z.Rows < minCellValues {
		return 0
	}
	c := newGaussianCells(gamma, tolerance)
	if !(c.side > 0) || math.IsInf(c.side, 0) {
		return 0
	}
	// Cells must save a third of the work.
	cells := (x.Rows*z.Rows/3*2 - c.work(x.Rows+z.Rows, 0)) / c.work(0, 1)
	return c.sum(ctx, dst, x, z, w, min(cells, maxCells))
}

// work estimates the work of a sum in kernel values: about 4/3 p² for a point and p³ for each pair
// of a cell (measured with AVX-512, where a value takes 0.27 ns of a processor).
func (c gaussianCells) work(points, cells int) int {
	return points*c.p*c.p/3*4 + cells*len(c.pairs)*c.p*c.p*c.p
}

// sum is sumInCells with at most most cells; it returns 0 if that is not enough.
func (c gaussianCells) sum(ctx context.Context, dst []float64, x, z blas64.General, w []float64, most int) (work int) {
	from := c.split(z, most)
	if from == nil {
		return 0
	}
	to := c.split(x, most)
	if to == nil {
		return 0
	}
	var done atomic.Int64
	report := func(points int) { // of x or z
		trace.Report(ctx, int(float64(done.Add(int64(points)))/float64(x.Rows+z.Rows)*float64(x.Rows)), x.Rows)
	}
	moments := make([]blas64.General, len(from))
	inParallel(ctx, len(from), len(from), func(k int) {
		moments[k] = square(c.p)
		c.each(ctx, z, from[k].points, func(tx, ty blas64.General, points []int32) {
			for a, j := range points {
				floats.Scale(w[j], tx.Data[a*c.p:][:c.p])
			}
			dense.Add(moments[k], blas.Trans, tx, ty)
		})
		report(len(from[k].points))
	})
	var columns [][]cell
	for first := 0; first < len(to); {
		last := first
		for last < len(to) && to[last].x == to[first].x {
			last++
		}
		columns, first = append(columns, to[first:last]), last
	}
	inParallel(ctx, len(columns), len(columns), func(k int) {
		c.column(ctx, dst, x, columns[k], from, moments, report)
	})
	return c.work(x.Rows+z.Rows, max(len(from), len(to)))
}

// column adds the sums at the points of the cells to, which have the same x. It reports the number
// of points after each cell.
func (c gaussianCells) column(ctx context.Context, dst []float64, x blas64.General, to, from []cell, moments []blas64.General, report func(points int)) {
	across := map[int]blas64.General{} // by y: A M of the cells with this y
	first, _ := slices.BinarySearchFunc(from, cell{x: to[0].x - c.reach, y: math.MinInt}, cell.compare)
	for k, f := range from[first:] {
		if f.x > to[0].x+c.reach || pace.Look(ctx) != nil {
			break
		}
		sum, ok := across[f.y]
		if !ok {
			sum = square(c.p)
			across[f.y] = sum
		}
		dense.Add(sum, blas.NoTrans, c.pairs[f.x-to[0].x+c.reach], moments[first+k])
	}
	v := blas64.General{Cols: c.p, Stride: c.p, Data: make([]float64, cellBlock*c.p)}
	for _, t := range to {
		if pace.Look(ctx) != nil {
			return
		}
		sum := square(c.p)
		for apart := -c.reach; apart <= c.reach; apart++ {
			if a, ok := across[t.y+apart]; ok { // times B', which is A for the opposite offset
				dense.Add(sum, blas.NoTrans, a, c.pairs[c.reach-apart])
			}
		}
		c.each(ctx, x, t.points, func(tx, ty blas64.General, points []int32) {
			v.Rows = len(points)
			clear(v.Data)
			dense.Add(v, blas.NoTrans, tx, sum)
			for a, i := range points {
				dst[i] += floats.Dot(v.Data[a*c.p:][:c.p], ty.Data[a*c.p:][:c.p])
			}
		})
		report(len(t.points))
	}
}

const (
	// doubleError bounds the relative error of a rounded value.
	doubleError = 0x1p-53
	// singleError is below the error of a sum of up to 2^16 values in single precision, whose
	// independent rounding errors add up to about 2^-24 sqrt(sum w_j²).
	singleError = 0x1p-32

	minCellValues = 1 << 24 // number of kernel values below which cells are not tried
	maxCells      = 1 << 14 // 50 MB of moments, and at most as much again for each processor
)
