package rows

// Matrix is a symmetric M x M kernel matrix given row by row. That is all a solver needs;
// optional methods offer more.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// Definite reports whether k is known to be positive semidefinite, by its method Definite.
// Otherwise results are marked Local.
func Definite(k Matrix) bool {
	d, ok := k.(interface{ Definite() bool })
	return ok && d.Definite()
}

// Subset returns the matrix of some of the points, in the given order. It uses the method Subset
// of k if there is one, to compute parts of rows, and otherwise selects from whole rows.
func Subset(k Matrix, points []int) Matrix {
	if s, ok := k.(interface{ Subset(points []int) Matrix }); ok {
		return s.Subset(points)
	}
	return &picked{whole: k, points: points, row: make([]float64, k.Len())}
}

// Row writes row i in either precision. The method Row32 of k, if there is one, computes it in
// single precision, faster than rounding a row.
func Row[T Real](k Matrix, dst []T, i int) {
	switch dst := any(dst).(type) {
	case []float64:
		k.Row(dst, i)
	case []float32:
		if r, ok := k.(interface{ Row32(dst []float32, i int) }); ok {
			r.Row32(dst, i)
			return
		}
		row := make([]float64, len(dst))
		k.Row(row, i)
		Round(dst, row)
	}
}

// Round writes row in single precision.
func Round(dst []float32, row []float64) {
	dst = dst[:len(row)]
	for j, v := range row {
		dst[j] = float32(v)
	}
}

// picked is the matrix of some of the points, selected from whole rows.
type picked struct {
	whole  Matrix
	points []int
	row    []float64 // scratch, if whole does not hold its rows
}

// Len returns the number of points.
func (p *picked) Len() int { return len(p.points) }

// Diag returns the kernel of the point with itself.
func (p *picked) Diag(i int) float64 { return p.whole.Diag(p.points[i]) }

// Definite reports whether the whole matrix is definite.
func (p *picked) Definite() bool { return Definite(p.whole) }

// Row writes row i.
func (p *picked) Row(dst []float64, i int) {
	row, dst := p.from(i), dst[:len(p.points)]
	for k, j := range p.points {
		dst[k] = row[j]
	}
}

// Row32 writes row i in single precision.
func (p *picked) Row32(dst []float32, i int) {
	row, dst := p.from(i), dst[:len(p.points)]
	for k, j := range p.points {
		dst[k] = float32(row[j])
	}
}

// from returns the row of whole for row i, without copying if whole has a method Held.
func (p *picked) from(i int) []float64 {
	if h, ok := p.whole.(interface{ Held(i int) []float64 }); ok {
		return h.Held(p.points[i])
	}
	p.whole.Row(p.row, p.points[i])
	return p.row
}

// Subset selects from the same rows.
func (p *picked) Subset(points []int) Matrix {
	s := &picked{whole: p.whole, points: make([]int, len(points)), row: p.row}
	for k, j := range points {
		s.points[k] = p.points[j]
	}
	return s
}
