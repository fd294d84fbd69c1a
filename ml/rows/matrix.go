package rows

// Matrix is a symmetric M x M kernel matrix given row by row. See Definite, Subset and Row for its
// optional methods.
type Matrix interface {
	Len() int                 // M
	Diag(i int) float64       // K_ii
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// ManyColumns is the number of columns from which points leave a processor's cache after one row of
// kernel values, so that several rows are computed together, and whole points may count as sparse.
const ManyColumns = 64

// Definite reports whether k is known to be positive semidefinite, by its optional method Definite.
// Results for other matrices are marked Local.
func Definite(k Matrix) bool {
	d, ok := k.(interface{ Definite() bool })
	return ok && d.Definite()
}

// Subset returns the matrix of some of the points, in the given order. It calls the optional method
// Subset of k, which can compute parts of rows, and otherwise selects from whole rows.
func Subset(k Matrix, points []int) Matrix {
	if s, ok := k.(interface{ Subset(points []int) Matrix }); ok {
		return s.Subset(points)
	}
	return &subset{whole: k, points: points, row: make([]float64, k.Len())}
}

// Row writes row i in either precision. For single precision it calls the optional method Row32 of
// k, which is faster than rounding a row.
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

// Round converts row to precision T.
func Round[T Real](dst []T, row []float64) {
	dst = dst[:len(row)]
	for j, v := range row {
		dst[j] = T(v)
	}
}

// subset is the matrix of some of the points of whole, selected from whole rows.
type subset struct {
	whole  Matrix
	points []int
	row    []float64 // scratch
}

// Len returns the number of points.
func (p *subset) Len() int { return len(p.points) }

// Diag returns the kernel of point i with itself.
func (p *subset) Diag(i int) float64 { return p.whole.Diag(p.points[i]) }

// Definite reports whether the whole matrix is definite.
func (p *subset) Definite() bool { return Definite(p.whole) }

// Row writes row i.
func (p *subset) Row(dst []float64, i int) {
	p.whole.Row(p.row, p.points[i])
	for k, j := range p.points {
		dst[k] = p.row[j]
	}
}

// Row32 writes row i in single precision.
func (p *subset) Row32(dst []float32, i int) {
	p.whole.Row(p.row, p.points[i])
	for k, j := range p.points {
		dst[k] = float32(p.row[j])
	}
}

// Subset selects from the same rows.
func (p *subset) Subset(points []int) Matrix {
	s := &subset{whole: p.whole, points: make([]int, len(points)), row: p.row}
	for k, j := range points {
		s.points[k] = p.points[j]
	}
	return s
}
