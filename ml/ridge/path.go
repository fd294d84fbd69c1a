package ridge

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/param"
)

// MaxPath is the largest number of points of a Path. Its eigendecomposition cannot be interrupted,
// and takes as long as 15 trainings on 500 points or 90 on 2000.
const MaxPath = 400

// Path computes kernel ridge regression for any lambda from one eigendecomposition: with
// K = Q diag(m) Q', lambda enters only through 1 / (m_k + lambda).
type Path struct {
	values []float64  // m, ascending
	q      *mat.Dense // eigenvectors in columns
	w, t   []float64  // Q't, t

	Null float64 // mean t_i^2, the MSE of f = 0, the limit for large lambda
}

// NewPath decomposes k for targets t. It returns the errors of Train, and an error for more than
// MaxPath points.
func NewPath(ctx context.Context, k Matrix, t []float64) (*Path, error) {
	if err := check(k, t, Settings{Lambda: 1}); err != nil {
		return nil, err
	}
	m := len(t)
	if m > MaxPath {
		return nil, param.Refuse("train on fewer rows", "the path over lambda decomposes the kernel matrix: it is computed for at most %d training points, not %d", MaxPath, m)
	}
	full := factor{}
	full.u.Rows, full.u.Cols, full.u.Stride, full.u.Data = m, m, m, make([]float64, m*m)
	if err := full.fill(ctx, k, 0); err != nil {
		return nil, err
	}
	values, q, ok := dense.Eigen(mat.NewSymDense(m, full.u.Data), true)
	if !ok {
		return nil, fmt.Errorf("ridge: the eigenvalues of the kernel matrix of %d points did not converge", m)
	}
	p := &Path{values: values, q: q, w: make([]float64, m), t: t, Null: floats.Dot(t, t) / float64(m)}
	mat.NewVecDense(m, p.w).MulVec(p.q.T(), mat.NewVecDense(m, t))
	return p, ctx.Err()
}

// Point describes the fit at one lambda.
type Point struct {
	Lambda   float64
	MSE      float64 // mean (t_i - f(x_i))^2
	LOOError float64 // leave-one-out mean squared error
	Freedom  float64 // effective degrees of freedom, sum m_k / (m_k + lambda), 0 to M
}

// At returns the fit at lambda. ok is false if K + lambda I is not positive definite to working
// precision.
func (p *Path) At(lambda float64) (at Point, ok bool) {
	m := len(p.t)
	norm := max(math.Abs(p.values[0]), math.Abs(p.values[m-1]))
	if !(p.values[0]+lambda > float64(m)*epsilon*norm) {
		return Point{}, false
	}
	at = Point{Lambda: lambda}
	scale, a := make([]float64, m), mat.NewVecDense(m, nil)
	weighted := make([]float64, m)
	for k, v := range p.values {
		scale[k] = 1 / (v + lambda)
		weighted[k] = scale[k] * p.w[k]
		at.Freedom += v * scale[k]
	}
	a.MulVec(p.q, mat.NewVecDense(m, weighted))
	for i := range m {
		row := p.q.RawRowView(i)
		inverse := 0.0
		for k, v := range row {
			inverse += v * v * scale[k]
		}
		residual := a.AtVec(i) / inverse
		at.LOOError += residual * residual / float64(m)
	}
	floats.Scale(lambda, a.RawVector().Data) // t - f
	at.MSE = floats.Dot(a.RawVector().Data, a.RawVector().Data) / float64(m)
	return at, true
}
