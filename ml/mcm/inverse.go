package mcm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
)

// inverse is the dense inverse B^-1 of a basis: rows are positions in the basis, columns are rows of A. Exchanges
// of variables can be collected and applied together, as a product of matrices. Until then row i is rows[i], or zero if i
// is one of changed, plus the sum of u_ic rows[changed_c].
type inverse struct {
	rows    [][]float64
	norm    []float64 // squared norms of the rows, with all exchanges
	room    int       // capacity of a new row
	u       []float64 // panel numbers for each row, the first len(changed) in use
	changed []int
	top     []float64 // scratch of correct
	places  [2][]int  // scratch of mul
}

const (
	panel = 64  // exchanges applied together
	block = 256 // rows multiplied at a time
	large = 800 // rows from which the inverse outgrows the caches, and the simplex method collects exchanges
)

// reserve allocates room for n more rows.
func (v *inverse) reserve(n int) {
	v.room = len(v.rows) + n
	for k, row := range v.rows {
		v.rows[k] = append(make([]float64, 0, v.room), row...)
	}
}

// append adds a row and a column of the identity.
func (v *inverse) append() {
	v.apply()
	m := len(v.rows)
	for k := range v.rows {
		v.rows[k] = append(v.rows[k], 0)
	}
	if m == v.room {
		v.room = max(2*m, 16)
	}
	row := make([]float64, m+1, v.room)
	row[m] = 1
	v.rows, v.norm = append(v.rows, row), append(v.norm, 1)
	v.u = append(v.u, make([]float64, panel)...)
}

// drop removes row p and column i; the last ones take their places.
func (v *inverse) drop(p, i int) {
	v.apply()
	last := len(v.rows) - 1
	v.rows[p], v.norm[p] = v.rows[last], v.norm[last]
	v.rows, v.norm = v.rows[:last], v.norm[:last]
	v.u = v.u[:panel*last]
	for k, row := range v.rows {
		row[i] = row[last]
		v.rows[k] = row[:last]
	}
}

// reset sets the inverse to the identity.
func (v *inverse) reset() {
	v.changed = v.changed[:0]
	for i, row := range v.rows {
		clear(row)
		row[i], v.norm[i] = 1, 1
	}
}

// row sets dst to row i.
func (v *inverse) row(dst []float64, i int) {
	if slices.Contains(v.changed, i) {
		clear(dst)
	} else {
		copy(dst, v.rows[i])
	}
	for c, u := range v.terms(i) {
		if u != 0 {
			floats.AddScaled(dst, u, v.rows[v.changed[c]])
		}
	}
}

// terms returns the coefficients of row i.
func (v *inverse) terms(i int) []float64 { return v.u[i*panel : i*panel+len(v.changed)] }

// mul sets dst_t to B^-1 x_t for up to two vectors, in one pass.
func (v *inverse) mul(dst [][]float64, x ...[]float64) {
	for t := range x {
		v.places[t] = v.places[t][:0]
		for k, e := range x[t] {
			if e != 0 {
				v.places[t] = append(v.places[t], k)
			}
		}
	}
	part := func(from, to int) {
		for i, row := range v.rows[from:to] {
			for t, places := range v.places[:len(x)] {
				sum := 0.0
				if 4*len(places) > len(row) {
					sum = floats.Dot(row, x[t])
				} else {
					for _, k := range places {
						sum += row[k] * x[t][k]
					}
				}
				dst[t][from+i] = sum
			}
		}
	}
	if n := len(v.rows); n < large {
		part(0, n)
	} else {
		_ = dense.Parallel(context.Background(), n, part)
	}
	for _, y := range dst {
		v.correct(y)
	}
}

// correct turns y, the product of rows and a vector, into the product of the inverse and that vector.
func (v *inverse) correct(y []float64) {
	if len(v.changed) == 0 {
		return
	}
	v.top = v.top[:0]
	for _, r := range v.changed {
		v.top = append(v.top, y[r])
		y[r] = 0
	}
	for i := range y {
		y[i] += floats.Dot(v.terms(i), v.top)
	}
}

// pivot replaces the variable at position r by one whose column, in terms of the basis, is col.
func (v *inverse) pivot(r int, col []float64) {
	v.apply()
	row := v.rows[r]
	flush(row)
	floats.Scale(1/col[r], row)
	flush(col)
	for i, x := range col {
		if x == 0 {
			continue
		}
		if i != r {
			floats.AddScaled(v.rows[i], -x, row)
		}
		v.norm[i] = floats.Dot(v.rows[i], v.rows[i]) // while it is in the cache
	}
}

// collect does what pivot does, but the exchange is still to be applied. If it gets row r, it keeps norm up to date,
// but for changes of at most a thousandth.
func (v *inverse) collect(r int, col, row []float64) {
	flush(col)
	if row != nil {
		v.turn(r, col, row)
	}
	if !slices.Contains(v.changed, r) {
		v.changed = append(v.changed, r)
		for i := range v.rows {
			t := v.terms(i)
			t[len(t)-1] = 0
		}
		t := v.terms(r)
		t[len(t)-1] = 1
	}
	pivots := v.terms(r)
	floats.Scale(1/col[r], pivots)
	for i, x := range col {
		if x != 0 && i != r {
			floats.AddScaled(v.terms(i), -x, pivots)
		}
	}
	if len(v.changed) == panel {
		v.apply()
	}
}

// turn sets norm to the squared norms after the exchange at position r, whose row is row.
func (v *inverse) turn(r int, col, row []float64) {
	// A row that changes by less of its squared norm keeps its norm within a thousandth.
	const little = 2.5e-7
	next := floats.Dot(row, row) / (col[r] * col[r]) // of row r
	turned := lists.Where(len(col), func(i int) bool { return i != r && col[i]*col[i]*next > little*v.norm[i] })
	top := lists.Map(v.changed, func(c int) float64 { return floats.Dot(v.rows[c], row) })
	_ = dense.Parallel(context.Background(), len(turned), func(from, to int) {
		for _, i := range turned[from:to] {
			product := floats.Dot(v.terms(i), top)
			if !slices.Contains(v.changed, i) {
				product += floats.Dot(v.rows[i], row)
			}
			before, ratio := v.norm[i], col[i]/col[r]
			v.norm[i] += col[i]*col[i]*next - 2*ratio*product
			if v.norm[i] < 1e-6*before { // cancelled
				whole := make([]float64, len(row))
				v.row(whole, i)
				floats.AddScaled(whole, -ratio, row)
				v.norm[i] = floats.Dot(whole, whole)
			}
		}
	})
	v.norm[r] = next
}

// apply applies the collected exchanges to all rows and computes norm anew.
func (v *inverse) apply() {
	if len(v.changed) == 0 {
		return
	}
	for _, r := range v.changed {
		flush(v.rows[r])
	}
	// Columns that are zero in all changed rows stay as they are.
	cols := lists.Where(len(v.rows), func(k int) bool {
		return slices.ContainsFunc(v.changed, func(r int) bool { return v.rows[r][k] != 0 })
	})
	old := general(len(v.changed), len(cols))
	for c, r := range v.changed {
		gather(line(old, c), v.rows[r], cols)
		clear(v.rows[r])
	}
	rows := lists.Where(len(v.rows), func(i int) bool { return floats.Norm(v.terms(i), math.Inf(1)) != 0 })
	part, sum := general(min(block, len(rows)), len(v.changed)), general(min(block, len(rows)), len(cols))
	for rows := range slices.Chunk(rows, block) {
		part.Rows, sum.Rows = len(rows), len(rows)
		for a, i := range rows {
			copy(line(part, a), v.terms(i))
		}
		clear(sum.Data)
		dense.Add(sum, blas.NoTrans, part, old)
		for a, i := range rows {
			row := v.rows[i]
			for b, k := range cols {
				row[k] += sum.Data[a*sum.Stride+b]
			}
			v.norm[i] = floats.Dot(row, row)
		}
	}
	v.changed = v.changed[:0]
}

func line(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }

// gather sets dst to the elements of v at the given places.
func gather(dst, v []float64, places []int) {
	for t, k := range places {
		dst[t] = v[k]
	}
}

// flush sets numbers to zero that are far below the rounding error of the largest: between points far
// apart, many kernels are nearly zero, and zeros are skipped.
func flush(v []float64) {
	least := 1e-20 * floats.Norm(v, math.Inf(1))
	for i, x := range v {
		if math.Abs(x) < least {
			v[i] = 0
		}
	}
}
