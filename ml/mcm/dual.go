package mcm

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
)

// dual is the dual linear program of the machine over M points, for functions f(x_i) = sum_k
// w_k g_ki + b with features g_k in R^M:
//
//	minimise  sum n - sum p
//	   sum n           <= 1              multiplier h - 1
//	   sum y (p - n)    = 0              multiplier b
//	  |g_k'(y (p - n))| <= rho  for all k  multiplier w_k
//	   0 <= p <= C,  0 <= n <= 1
//
// (n <= 1 follows from the first row; it makes every variable boxed.) The reduced costs are y_i
// f_i - 1 for p_i and h - y_i f_i for n_i, so the iterates of the dual simplex are functions f,
// and its objective is the machine's. Features can be added and dropped between solves.
type dual struct {
	*simplex
	a     *columns
	y     []float64
	rho   float64
	scale []float64 // of each feature: the row holds g / scale
}

// newDual returns the program without features.
func newDual(y []float64, c, rho float64) *dual {
	m := len(y)
	cost, lo, up := make([]float64, 2*m), make([]float64, 2*m+2), make([]float64, 2*m+2)
	for i := range m {
		cost[i], up[i] = -1, c
		cost[m+i], up[m+i] = 1, 1
	}
	lo[2*m] = -1 // the slack of sum n is between -1 and 0
	a := &columns{m: m}
	a.add(slices.Repeat([]float64{1}, m), y, 1)
	return &dual{simplex: newSimplex(a, cost, lo, up, 2), a: a, y: y, rho: rho}
}

// setC changes the bound of p.
func (d *dual) setC(c float64) {
	for i := range d.y {
		d.setBox(i, 0, c)
	}
}

// setRho changes the ranges of the features.
func (d *dual) setRho(rho float64) {
	d.rho = rho
	for k, scale := range d.scale {
		d.setBox(d.n+k+2, -rho/scale, rho/scale)
	}
}

// reserve allocates room for n more features.
func (d *dual) reserve(n int) {
	d.inv.reserve(n)
	d.a.rows = append(make([]float64, 0, len(d.a.rows)+n*d.a.m), d.a.rows...) // exactly, which slices.Grow does not
}

// addFeature adds a copy of the feature g.
func (d *dual) addFeature(g []float64) {
	scale := floats.Norm(g, math.Inf(1))
	d.scale = append(d.scale, cmp.Or(scale, 1))
	d.a.add(g, d.y, 1/scale)
	d.addRow(-d.rho/scale, d.rho/scale)
}

// dropFeature removes feature k, whose weight must be zero with its slack basic; the last feature
// gets its index.
func (d *dual) dropFeature(k int) {
	last := len(d.scale) - 1
	d.a.drop(k + 1)
	d.scale[k] = d.scale[last]
	d.scale = d.scale[:last]
	d.dropRow(k + 2)
}

// idle reports whether the slack of feature k is basic, so that its weight is zero.
func (d *dual) idle(k int) bool { return d.pos[d.n+k+2] >= 0 }

// misfit returns the change of weights and bias that corrects, to first order, the residuals of the
// values f in the equations of the basis: y f = 1 where p is basic, y f = h where n is basic.
func (d *dual) misfit(f []float64) (w []float64, b float64) {
	m := len(d.y)
	h := 1 + d.d[d.n] // the reduced cost is zero if the slack is basic
	pi := make([]float64, d.m)
	d.inv.apply()
	for i, j := range d.head {
		switch {
		case j < m:
			floats.AddScaled(pi, d.y[j]*f[j]-1, d.inv.rows[i])
		case j < d.n:
			floats.AddScaled(pi, h-d.y[j-m]*f[j-m], d.inv.rows[i])
		}
	}
	return d.unscale(pi)
}

// weights returns the weights of the features and the bias.
func (d *dual) weights() (w []float64, b float64) { return d.unscale(d.multipliers()) }

func (d *dual) unscale(pi []float64) (w []float64, b float64) {
	w = pi[2:]
	for k := range w {
		w[k] /= -d.scale[k]
	}
	return w, -pi[1]
}

// point returns v = p - n, which satisfies the equations up to rounding and the bounds up to the
// tolerance.
func (d *dual) point() []float64 {
	v := make([]float64, len(d.y))
	floats.SubTo(v, d.x[:len(v)], d.x[len(v):2*len(v)])
	return v
}

// points returns candidates for the dual point v = p - n of a certificate: the result of point,
// which may violate the bounds by rounding, and, if cut is set, a point with p and n clipped to
// their bounds, which may violate the equations.
func (d *dual) points(cut bool) [][]float64 {
	forms := [][]float64{d.point()}
	if cut {
		m := len(d.y)
		forms = append(forms, lists.Make(m, func(i int) float64 {
			return min(max(0, d.x[i]), d.up[i]) - min(max(0, d.x[m+i]), 1)
		}))
	}
	return forms
}

// columns is the matrix of the dual: row 0 is 0 for p and 1 for n; row k > 0 is rows[k-1] for p
// and its negative for n. Row 1 is y.
type columns struct {
	m     int
	rows  []float64   // rows of length m, concatenated
	few   [][]element // elements other than zero of each row that has few, nil for other rows
	index []int       // scratch of mul
}

type element struct {
	at    int
	value float64
}

// add appends the row g y scale.
func (a *columns) add(g, y []float64, scale float64) {
	k := len(a.rows)
	a.rows = append(a.rows, g...)
	row := a.rows[k:]
	for i, v := range y {
		row[i] *= v * scale
	}
	flush(row)
	filled := lists.Count(row, func(v float64) bool { return v != 0 })
	var few []element
	if 8*filled < a.m {
		few = make([]element, 0, filled)
		for i, v := range row {
			if v != 0 {
				few = append(few, element{i, v})
			}
		}
	}
	a.few = append(a.few, few)
}

// drop removes rows[k]; the last row takes its place.
func (a *columns) drop(k int) {
	last := len(a.few) - 1
	copy(a.row(k), a.row(last))
	a.few[k] = a.few[last]
	a.rows, a.few = a.rows[:last*a.m], a.few[:last]
}

func (a *columns) row(k int) []float64 { return a.rows[k*a.m : (k+1)*a.m] }

func (a *columns) mulT(dst, z []float64) {
	p, n := dst[:a.m], dst[a.m:]
	whole := 0 // rows added whole
	for k, few := range a.few {
		if few == nil && z[k+1] != 0 {
			whole++
		}
	}
	if 2*whole < len(z) {
		clear(p)
		for k, v := range z[1:] {
			switch {
			case v == 0:
			case a.few[k] == nil:
				floats.AddScaled(p, v, a.row(k))
			default:
				for _, e := range a.few[k] {
					p[e.at] += v * e.value
				}
			}
		}
	} else {
		blas64.Gemv(blas.Trans, 1, blas64.General{Rows: len(z) - 1, Cols: a.m, Stride: a.m, Data: a.rows},
			blas64.Vector{N: len(z) - 1, Inc: 1, Data: z[1:]}, 0, blas64.Vector{N: a.m, Inc: 1, Data: p})
	}
	for i, v := range p {
		n[i] = z[0] - v
	}
}

func (a *columns) mul(dst []float64, cols []int, x []float64) {
	dst[0] = 0
	a.index = a.index[:0]
	for t, j := range cols {
		if j >= a.m {
			dst[0] += x[t]
			j -= a.m
		}
		a.index = append(a.index, j)
	}
	for k := range dst[1:] {
		row := a.row(k)
		sum := 0.0
		for t, j := range a.index {
			v := row[j] * x[t]
			if cols[t] >= a.m {
				v = -v
			}
			sum += v
		}
		dst[k+1] = sum
	}
}
