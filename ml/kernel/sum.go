package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
)

// Sum is the function x -> sum_j w_j k(z_j, x), ready to be evaluated often and
// from several goroutines at once.
type Sum struct {
	k   Kernel
	row Row
	z   blas64.General // n x d
	p   packed         // the rows of z
	w   []float64
}

// NewSum returns the function sum_j w_j k(z_j, ·) over the rows z_j of z (n x d).
// No weights is the zero function, and z is then not looked at. z and w are kept,
// not copied.
func NewSum(k Kernel, z *mat.Dense, w []float64) *Sum {
	s := &Sum{k: k, row: of(k), w: w}
	if len(w) > 0 {
		s.z = z.RawMatrix()
		s.p = pack(s.z)
	}
	return s
}

// At returns the sum at x (length d).
func (s *Sum) At(x []float64) float64 {
	v := make([]float64, len(s.w))
	return s.at(x, v)
}

// at is At with v (length n) for the values of the kernel.
func (s *Sum) at(x, v []float64) float64 {
	s.row.values(s.k, v, s.p, x)
	return floats.Dot(s.w, v)
}

// Plane is the affine map (s, t) -> Origin + s U + t V into R^d.
type Plane struct{ Origin, U, V []float64 }

// point writes the point (s, t) of the plane into dst.
func (p Plane) point(dst []float64, s, t float64) {
	for i, o := range p.Origin {
		dst[i] = o + s*p.U[i] + t*p.V[i]
	}
}

// Grid writes the sum at every point (s_i, t_j) of the plane into dst, row-major
// with t as the row: dst[j*len(ss)+i], length len(ss)·len(ts). The RBF kernel is
// evaluated by two tables of exponentials and a matrix product, the polynomial
// ones as polynomials in s; other kernels, and the RBF kernel on a plane whose
// axes are not orthogonal, point by point.
func (s *Sum) Grid(dst []float64, p Plane, ss, ts []float64) {
	clear(dst)
	switch {
	case len(s.w) == 0 || len(ss) == 0 || len(ts) == 0:
	case s.row.grid != nil:
		s.row.grid(s, dst, p, ss, ts)
	default:
		s.gridDirect(dst, p, ss, ts)
	}
}

// gridDirect evaluates every point by itself.
func (s *Sum) gridDirect(dst []float64, p Plane, ss, ts []float64) {
	x := make([]float64, len(p.Origin))
	v := make([]float64, len(s.w))
	for j, tj := range ts {
		row := dst[j*len(ss):][:len(ss)]
		for i, si := range ss {
			p.point(x, si, tj)
			row[i] = s.at(x, v)
		}
	}
}

// gridGaussian uses that on a plane with orthogonal axes the squared distance to
// z splits: |o + s u + t v - z|² = |u|²(s-a)² + |v|²(t-b)² + r, where (a, b) is
// the foot of z on the plane and r its squared distance from it. Every summand
// is at least 0, so no exponential exceeds 1.
func (s *Sum) gridGaussian(dst []float64, p Plane, ss, ts []float64) {
	uu, vv, uv := floats.Dot(p.U, p.U), floats.Dot(p.V, p.V), floats.Dot(p.U, p.V)
	if math.Abs(uv) > 1e-14*math.Sqrt(uu*vv) {
		s.gridDirect(dst, p, ss, ts)
		return
	}
	// In blocks of terms, so that the tables stay small however many there are.
	const block = 256
	size := min(block, len(s.w))
	left := blas64.General{Rows: len(ts), Cols: size, Stride: size, Data: make([]float64, len(ts)*size)}
	right := blas64.General{Rows: size, Cols: len(ss), Stride: len(ss), Data: make([]float64, size*len(ss))}
	out := blas64.General{Rows: len(ts), Cols: len(ss), Stride: len(ss), Data: dst}
	a, b, off := make([]float64, size), make([]float64, size), make([]float64, size)
	rest := make([]float64, len(p.Origin))
	for start := 0; start < len(s.w); start += block {
		w := s.w[start:min(start+block, len(s.w))]
		n := len(w)
		left.Cols, right.Rows = n, n
		a, b, off := a[:n], b[:n], off[:n]
		for j := range w {
			z := s.z.Data[(start+j)*s.z.Stride:][:s.z.Cols]
			floats.SubTo(rest, z, p.Origin)
			a[j], b[j] = foot(rest, p.U, uu), foot(rest, p.V, vv)
			floats.AddScaled(rest, -a[j], p.U)
			floats.AddScaled(rest, -b[j], p.V)
			off[j] = floats.Dot(rest, rest)
		}
		expScaled(off, -s.k.Gamma)
		floats.Mul(off, w)
		for i, t := range ts {
			row := left.Data[i*left.Stride:][:n]
			for j := range row {
				row[j] = (t - b[j]) * (t - b[j])
			}
			expScaled(row, -s.k.Gamma*vv)
			floats.Mul(row, off)
		}
		for j := range w {
			row := right.Data[j*right.Stride:][:len(ss)]
			for i, si := range ss {
				row[i] = (si - a[j]) * (si - a[j])
			}
			expScaled(row, -s.k.Gamma*uu)
		}
		dense.Add(out, blas.NoTrans, left, right)
	}
}

// foot returns the coordinate of x along an axis with squared length aa, 0 when
// the axis has none.
func foot(x, axis []float64, aa float64) float64 {
	if aa == 0 {
		return 0
	}
	return floats.Dot(x, axis) / aa
}

// gridPolynomial uses that (gamma z·x + coef0)^p is a polynomial in s on each
// line t = const. With q = base + h·slope, h = s - mid measured from the middle
// of the range of s, the binomial terms never exceed in sum the largest |q|^p on
// the line, so that the expansion loses no digits of the values it replaces.
func (s *Sum) gridPolynomial(dst []float64, p Plane, ss, ts []float64) {
	scale, coef0, degree := s.k.Gamma, s.k.Coef0, s.k.Degree
	if s.k.Name == "linear" {
		scale, coef0, degree = 1, 0, 1
	}
	n := len(s.w)
	base, slope, rise := make([]float64, n), make([]float64, n), make([]float64, n)
	productRow(slope, s.p, p.U)
	productRow(rise, s.p, p.V)
	middle := make([]float64, len(p.Origin))
	mid := (floats.Min(ss) + floats.Max(ss)) / 2
	p.point(middle, mid, 0)
	productRow(base, s.p, middle)
	for j := range base {
		base[j] = scale*base[j] + coef0
		slope[j] *= scale
		rise[j] *= scale
	}
	binomial := make([]float64, degree+1)
	binomial[0] = 1
	for m := 1; m <= degree; m++ {
		binomial[m] = binomial[m-1] * float64(degree-m+1) / float64(m)
	}
	coef, power := make([]float64, degree+1), make([]float64, degree+1)
	for j, t := range ts {
		clear(coef)
		for i, w := range s.w {
			q, b := base[i]+t*rise[i], slope[i]
			power[degree] = w
			for m := degree; m > 0; m-- {
				power[m-1] = power[m] * q
			}
			sm := 1.0
			for m := range coef {
				coef[m] += power[m] * sm
				sm *= b
			}
		}
		floats.Mul(coef, binomial)
		row := dst[j*len(ss):][:len(ss)]
		for i, si := range ss {
			h := si - mid
			f := coef[degree]
			for m := degree - 1; m >= 0; m-- {
				f = f*h + coef[m]
			}
			row[i] = f
		}
	}
}
