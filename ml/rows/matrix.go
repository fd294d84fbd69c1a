package rows

// Matrix is a symmetric M x M kernel matrix given row by row. That is all a solver needs
// to know of a kernel and of the objects it compares; what more a matrix may be able to do
// is told by methods of its own.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// Definite reports whether k says that it is positive semidefinite, by a method of that
// name. One that is not, or does not say, gets results that are Local.
func Definite(k Matrix) bool {
	d, ok := k.(interface{ Definite() bool })
	return ok && d.Definite()
}

// Subset is the matrix of some of the points, in the order given. One with a method of that
// name computes parts of rows, of any other they are picked from whole rows.
func Subset(k Matrix, points []int) Matrix {
	if s, ok := k.(interface{ Subset(points []int) Matrix }); ok {
		return s.Subset(points)
	}
	return &picked{whole: k, points: points, row: make([]float64, k.Len())}
}

// Row writes row i in either precision. A method Row32 of k has it in single precision for
// less than rounding costs.
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

// picked is the matrix of some of the points, whose values are picked from whole rows.
type picked struct {
	whole  Matrix
	points []int
	row    []float64 // of whole, where that holds none; overwritten
}

// Len is the number of points.
func (p *picked) Len() int { return len(p.points) }

// Diag returns the kernel of the point with itself.
func (p *picked) Diag(i int) float64 { return p.whole.Diag(p.points[i]) }

// Definite reports the answer of the whole matrix.
func (p *picked) Definite() bool { return Definite(p.whole) }

// Row picks.
func (p *picked) Row(dst []float64, i int) {
	row, dst := p.from(i), dst[:len(p.points)]
	for k, j := range p.points {
		dst[k] = row[j]
	}
}

// Row32 rounds what it picks.
func (p *picked) Row32(dst []float32, i int) {
	row, dst := p.from(i), dst[:len(p.points)]
	for k, j := range p.points {
		dst[k] = float32(row[j])
	}
}

// from is the row of whole to pick row i from: itself where whole holds it, as a method
// Held tells.
func (p *picked) from(i int) []float64 {
	if h, ok := p.whole.(interface{ Held(i int) []float64 }); ok {
		return h.Held(p.points[i])
	}
	p.whole.Row(p.row, p.points[i])
	return p.row
}

// Subset picks from the same rows.
func (p *picked) Subset(points []int) Matrix {
	s := &picked{whole: p.whole, points: make([]int, len(points)), row: p.row}
	for k, j := range points {
		s.points[k] = p.points[j]
	}
	return s
}
