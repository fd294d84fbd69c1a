// Package conformal fits conformal transformations of kernels: k~(x, z) = c(x) c(z) k0(x, z) with
//
//	c(x) = alpha_0 + sum_j alpha_j exp(-gamma |x - a_j|²)
//
// over cores a_j, usually the support vectors of a first fit. The new kernel matrix is D K D with
// D = diag c(x_i), so it remains positive semidefinite for any signs of c.
//
// The criterion is the Fisher scalar of the classes in feature space, J = tr S_b / tr S_w, which
// for the new kernel is
//
//	J(c) = c'B0c / c'W0c,
//	B0 = blockdiag(K11/M1, K22/M2, ...) - K/M,
//	W0 = diag(k_ii) - blockdiag(K11/M1, K22/M2, ...)
//
// where a block holds the rows of one of two or more classes; rows may come in any order. With
// the M x (n+1) matrix K1 = [1, exp(-gamma |x_i - a_j|²)] of n cores, c = K1 alpha.
//
// For objects without coordinates, |x - a| is the distance of their images in feature space,
//
//	|x - a|² = k(x, x) + k(a, a) - 2 k(x, a),
//
// which requires k(x, x) for every x. A negative value, possible for an indefinite kernel, counts as
// 0.
//
// Sources: the lecture notes on minimal complexity machines and conformal
// kernels, section "Kernel optimisation"; Amari and Wu, Neural Networks 12 (1999);
// Xiong, Swamy and Ahmad, IEEE Transactions on Neural Networks 16 (2005); Badge,
// Soman, Chandra and Jayadeva, Engineering Applications of Artificial
// Intelligence 106 (2021).
package conformal

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

// Map is the conformal factor c(x). It round-trips through JSON exactly.
type Map struct {
	Gamma  float64     `json:"core_gamma"`
	Alpha0 float64     `json:"alpha0"`
	Alpha  []float64   `json:"alpha"`           // one per core
	Cores  [][]float64 `json:"cores,omitempty"` // in the scaled space of the kernel
	Self   []float64   `json:"self,omitempty"`  // k(a_j, a_j), for cores without coordinates
}

// At returns c(x) for a point x with the dimension of the cores.
func (m *Map) At(x []float64) float64 {
	c := m.Alpha0
	for j, a := range m.Cores {
		c += m.Alpha[j] * core(m.Gamma, x, a)
	}
	return c
}

// Factors returns c at every row of x.
func (m *Map) Factors(x *mat.Dense) []float64 {
	n, _ := x.Dims()
	return lists.Make(n, func(i int) float64 { return m.At(x.RawRowView(i)) })
}

// Gradient returns c(x) and its gradient.
func (m *Map) Gradient(x []float64) (c float64, grad []float64) {
	grad = make([]float64, len(x))
	for j, a := range m.Cores {
		slope := -2 * m.Gamma * m.Alpha[j] * core(m.Gamma, x, a)
		for i, v := range a {
			grad[i] += slope * (x[i] - v)
		}
	}
	return m.At(x), grad
}

// Normalize scales m so that over the rows of x the mean of |c| is 1 and the sum of c is not
// negative, and reports whether c takes both signs there. J does not depend on the scale, but the
// effect of C in a fit on the new kernel does. It returns an error if c is 0 on all rows or not
// finite.
func (m *Map) Normalize(x *mat.Dense) (signChange bool, err error) {
	return m.normalize(m.Factors(x))
}

// normalize is Normalize for given values of c.
func (m *Map) normalize(c []float64) (signChange bool, err error) {
	sum, abs, lo, hi := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for _, v := range c {
		sum += v
		abs += math.Abs(v)
		lo, hi = min(lo, v), max(hi, v)
	}
	f := math.Copysign(float64(len(c)), sum) / abs
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return false, param.Refuse("use another core_gamma or a larger core_ridge", "the fitted map is zero or not finite on the training rows")
	}
	m.Alpha0 *= f
	for j := range m.Alpha {
		m.Alpha[j] *= f
	}
	return lo < 0 && hi > 0, nil
}

// CoreMatrix returns K1 = [1, exp(-gamma |x_i - a_j|²)], M x (n+1), for the rows of x (M x d) and
// n cores a_j of length d, so that c = K1 alpha at the rows.
func CoreMatrix(x *mat.Dense, cores [][]float64, gamma float64) *mat.Dense {
	return columns(x, cores, gamma, 0, len(cores)+1)
}

// AtKernel returns c(x) for an object without coordinates, with self = k(x, x) and k holding k(x,
// a_j) for every core.
func (m *Map) AtKernel(self float64, k []float64) float64 {
	c := m.Alpha0
	for j, a := range m.Alpha {
		c += a * math.Exp(-m.Gamma*distance(self, m.Self[j], k[j]))
	}
	return c
}

// distance returns k(x, x) + k(a, a) - 2 k(x, a), or 0 if that is negative.
func distance(xx, aa, xa float64) float64 {
	if d2 := (xx - xa) + (aa - xa); d2 > 0 {
		return d2
	}
	return 0
}

// core returns exp(-gamma |x - a|²).
func core(gamma float64, x, a []float64) float64 {
	d2 := 0.0
	for i, v := range a {
		d := x[i] - v
		d2 += d * d
	}
	return math.Exp(-gamma * d2)
}

// Matrix is a symmetric M x M kernel matrix given row by row.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // writes row i into dst, which has length M
}

// Settings configures Fit.
type Settings struct {
	Gamma float64 // gamma of the cores, > 0
	Ridge float64 // D >= 0, added to W0; the default in the form is 1e-3
	Steps int     // gradient: number of steps N; default 200
	Rate  float64 // gradient: initial step eta0, relative to |alpha|; default 0.1

	// Visit, if not nil, is called with the coefficients alpha of every iterate of gradient,
	// including the start, normalised to length one. It may keep them.
	Visit func(alpha []float64)
}

// Stats describes the result of Fit. J never includes the ridge.
type Stats struct {
	JBefore, JAfter float64   // Fisher scalar c'B0c / c'W0c for c = 1 and for the fitted c
	Eigenvalue      float64   // eigen: largest g of P alpha = g Q alpha, J with the ridge in its denominator
	Spectrum        []float64 // eigen: all g in descending order, one per dimension of range(K1)
	Residual        float64   // eigen: |P alpha - g Q alpha| / |P alpha| in the orthonormal basis of range(K1)
	BasisRank       int       // eigen: rank of range(K1)
	Steps           int       // gradient: steps taken
	SignChange      bool      // c takes both signs on the training rows
}

// Fit finds the map by the named method ("eigen", "gradient", "amari") for the M x M kernel
// matrix k of the rows of x (M x d), labels y (a number per class, at least two classes) and the
// cores, given as row indices of x. Repeated cores are allowed. Rows of k are read one at a time
// and not kept. For objects without coordinates x is nil, and the map uses the kernel distance.
//
// It returns an error for an unknown method, no cores, a single class, mismatched lengths,
// settings out of range, values that are not finite, classes without any scatter (J is
// undefined), a singular within-class scatter with Ridge = 0, and ctx.Err() if ctx ends.
func Fit(ctx context.Context, method string, k Matrix, x *mat.Dense, y []float64, cores []int, s Settings) (*Map, Stats, error) {
	if len(cores) == 0 {
		return nil, Stats{}, param.Refuse("use every N-th row as a core (core_step)", "there are no cores, because the first fit has no support vectors")
	}
	rows := k.Len()
	if x != nil {
		rows, _ = x.Dims()
	}
	places := make([][]float64, len(cores))
	for j, i := range cores {
		if i < 0 || i >= rows {
			return nil, Stats{}, fmt.Errorf("conformal: core row %d is outside the %d rows of the inputs", i, rows)
		}
		if x != nil {
			places[j] = x.RawRowView(i)
		}
	}
	if x != nil {
		return FitAt(ctx, method, k, x, y, places, s)
	}
	g, err := group(k, y)
	if err != nil {
		return nil, Stats{}, err
	}
	if err := s.check(); err != nil {
		return nil, Stats{}, err
	}
	p := &problem{grouped: g, rows: cores, Settings: s}
	p.self = lists.Map(cores, k.Diag)
	return p.fit(ctx, method)
}

// FitAt is Fit for arbitrary cores, each of length d. Without cores, c is constant.
func FitAt(ctx context.Context, method string, k Matrix, x *mat.Dense, y []float64, cores [][]float64, s Settings) (*Map, Stats, error) {
	p, err := newProblem(k, x, y, cores, s)
	if err != nil {
		return nil, Stats{}, err
	}
	return p.fit(ctx, method)
}

func (p *problem) fit(ctx context.Context, method string) (*Map, Stats, error) {
	row, err := Lookup(method)
	if err != nil {
		return nil, Stats{}, err
	}
	alpha, stats, err := row.fit(ctx, p)
	if err != nil {
		return nil, Stats{}, err
	}
	return p.mapOf(alpha), stats, nil
}

// problem is a validated call of Fit. Its rows are in class order, the smallest label first.
type problem struct {
	*grouped
	x     *mat.Dense  // M x d, nil for objects without coordinates
	cores [][]float64 // n points
	rows  []int       // for objects without coordinates: row indices of the cores
	self  []float64   // for objects without coordinates: k(a_j, a_j)
	Settings
}

// check returns an error for settings out of range.
func (s Settings) check() error {
	switch {
	case !(s.Gamma > 0) || math.IsInf(s.Gamma, 1):
		return fmt.Errorf("conformal: core_gamma must be positive, not %g", s.Gamma)
	case !(s.Ridge >= 0) || math.IsInf(s.Ridge, 1):
		return fmt.Errorf("conformal: core_ridge must be 0 or more, not %g", s.Ridge)
	case s.Steps < 0:
		return fmt.Errorf("conformal: the number of gradient steps must be 0 or more, not %d", s.Steps)
	case !(s.Rate >= 0) || math.IsInf(s.Rate, 1):
		return fmt.Errorf("conformal: the first gradient step must be 0 or more, not %g", s.Rate)
	}
	return nil
}

func newProblem(k Matrix, x *mat.Dense, y []float64, cores [][]float64, s Settings) (*problem, error) {
	g, err := group(k, y)
	if err != nil {
		return nil, err
	}
	rows, d := x.Dims()
	if rows != len(y) {
		return nil, fmt.Errorf("conformal: %d rows of inputs for %d labels", rows, len(y))
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &problem{grouped: g, x: mat.NewDense(rows, d, nil), Settings: s}
	for a, i := range g.order {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, param.Refuse("use finite numbers", "row %d column %d of the inputs is %g", i+1, j+1, v)
			}
			p.x.Set(a, j, v)
		}
	}
	for j, a := range cores {
		if len(a) != d {
			return nil, fmt.Errorf("conformal: core %d has %d coordinates, the inputs have %d", j+1, len(a), d)
		}
		for i, v := range a {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("conformal: coordinate %d of core %d is %g; it must be finite", i+1, j+1, v)
			}
		}
		p.cores = append(p.cores, append([]float64(nil), a...))
	}
	return p, nil
}

// columns returns the columns from to to-1 of K1, in class order.
func (p *problem) columns(from, to int) *mat.Dense {
	if p.x != nil {
		return columns(p.x, p.cores, p.Gamma, from, to)
	}
	part := mat.NewDense(len(p.order), to-from, nil)
	row := make([]float64, len(p.order)) // of k
	for j := range to - from {
		at := from + j - 1 // among the cores
		if at >= 0 {
			p.k.Row(row, p.rows[at])
		}
		for a, i := range p.order {
			v := 1.0
			if at >= 0 {
				v = math.Exp(-p.Gamma * distance(p.k.Diag(i), p.self[at], row[i]))
			}
			part.Set(a, j, v)
		}
	}
	return part
}

// factors returns c for coefficients alpha, in class order.
func (p *problem) factors(alpha []float64) []float64 {
	if p.x != nil {
		return p.mapOf(alpha).Factors(p.x)
	}
	c := make([]float64, len(p.order))
	for j, a := range alpha {
		for i, v := range p.columns(j, j+1).RawMatrix().Data {
			c[i] += a * v
		}
	}
	return c
}

// number returns the number n of cores.
func (p *problem) number() int { return len(p.cores) + len(p.rows) }

// columns returns the columns from to to-1 of K1.
func columns(x *mat.Dense, cores [][]float64, gamma float64, from, to int) *mat.Dense {
	rows, _ := x.Dims()
	part := mat.NewDense(rows, to-from, nil)
	for i := range rows {
		x, dst := x.RawRowView(i), part.RawRowView(i)
		for j := range dst {
			if from+j == 0 {
				dst[j] = 1
			} else {
				dst[j] = core(gamma, x, cores[from+j-1])
			}
		}
	}
	return part
}

// coreFactors returns K1 = Q R with orthonormal Q (M x r) and R (r x (n+1)). r is the numerical
// rank of K1, which for wide cores is far below n: all later costs depend on r, not n, and K1
// itself is never stored.
//
// It processes 64 columns at a time: it projects out the directions already in Q and adds the leading
// remaining directions to Q until none exceeds rounding. Each direction is orthogonalised against Q
// and normalised twice, since the second pass restores the digits that small directions lost in the
// first.
func (p *problem) coreFactors(ctx context.Context) (q, r *mat.Dense, err error) {
	const width = 64
	m, n := len(p.order), p.number()+1
	// Directions below cut are far below rankCut: the largest singular value of K1 is at least the
	// norm of its column of ones, sqrt(M).
	cut := 1e-3 * rankCut * math.Sqrt(float64(m))
	var basis []*mat.Dense         // Q by blocks of columns
	var coordinates [][]*mat.Dense // R by blocks of columns, each by blocks of rows
	for from := 0; from < n; from += width {
		rest := p.columns(from, min(from+width, n))
		c := orthogonalize(rest, basis...)
		for range width + 1 { // each pass but the last takes at least one direction
			if err := pace.Look(ctx); err != nil {
				return nil, nil, err
			}
			part, err := leadingDirections(rest, cut)
			if err != nil {
				return nil, nil, err
			}
			if part == nil {
				break
			}
			orthogonalize(part, basis...)
			if part, err = leadingDirections(part, cut); err != nil {
				return nil, nil, err
			}
			basis = append(basis, part)
			c = append(c, orthogonalize(rest, part)...)
		}
		coordinates = append(coordinates, c)
	}
	rank := 0
	for _, b := range basis {
		rank += b.RawMatrix().Cols
	}
	q, r = mat.NewDense(m, rank, nil), mat.NewDense(rank, n, nil)
	row := 0
	for k, b := range basis {
		end := row + b.RawMatrix().Cols
		q.Slice(0, m, row, end).(*mat.Dense).Copy(b)
		for i, c := range coordinates {
			if k < len(c) {
				r.Slice(row, end, i*width, min((i+1)*width, n)).(*mat.Dense).Copy(c[k])
			}
		}
		row = end
	}
	return q, r, nil
}

// orthogonalize subtracts from a its projection onto the orthonormal columns of each block and
// returns the coordinates of the projections.
func orthogonalize(a *mat.Dense, blocks ...*mat.Dense) (coordinates []*mat.Dense) {
	for _, b := range blocks {
		c := product(blas.Trans, b, a)
		coordinates = append(coordinates, c)
		dense.Sub(a.RawMatrix(), blas.NoTrans, b.RawMatrix(), c.RawMatrix())
	}
	return coordinates
}

// leadingDirections returns the left singular vectors of a whose singular values exceed cut and are
// at least 1e-4 of the largest, or nil. It computes them from the eigenvectors of a'a, which do not
// resolve smaller singular values. They are orthonormal to about six digits, or to all digits if the
// columns of a are nearly orthonormal.
func leadingDirections(a *mat.Dense, cut float64) (*mat.Dense, error) {
	_, n := a.Dims()
	values, v, ok := dense.Eigen(symmetric(product(blas.Trans, a, a)), true)
	if !ok {
		return nil, errNoSVD
	}
	first := 0
	for first < n && !(values[first] > max(cut*cut, 1e-8*values[n-1])) {
		first++
	}
	if first == n {
		return nil, nil
	}
	for j := first; j < n; j++ {
		scale := 1 / math.Sqrt(values[j])
		for i := range n {
			v.Set(i, j, v.At(i, j)*scale)
		}
	}
	return product(blas.NoTrans, a, v.Slice(0, n, first, n).(*mat.Dense)), nil
}

// mapOf returns the map with coefficients alpha = (alpha_0, ..., alpha_n).
func (p *problem) mapOf(alpha []float64) *Map {
	return &Map{Gamma: p.Gamma, Alpha0: alpha[0], Alpha: alpha[1:], Cores: p.cores, Self: p.self}
}

// normalize normalises the map of alpha on the training rows.
func (p *problem) normalize(alpha []float64) (signChange bool, err error) {
	m := p.mapOf(alpha)
	signChange, err = m.normalize(p.factors(alpha))
	alpha[0] = m.Alpha0
	return signChange, err
}
