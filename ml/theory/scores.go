package theory

import (
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mixture"
)

// Scores returns the Fisher scores of the rows of x (M x d) under a mixture of K Gaussians as the
// rows of an M x K(1+2d) matrix, in the order of mixture.Density.Score: weights, means,
// variances.
func Scores(m *mixture.Mixture, x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	p := m.Density()
	u := mat.NewDense(n, p.Scores(), nil)
	for i := range n {
		p.Score(u.RawRowView(i), x.RawRowView(i))
	}
	return u
}

// Responsibilities returns p(k | x_i) for the rows of x (M x d) and the K components of a
// mixture, M x K.
func Responsibilities(m *mixture.Mixture, x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	p := m.Density()
	r := mat.NewDense(n, m.Len(), nil)
	for i := range n {
		p.At(r.RawRowView(i), x.RawRowView(i))
	}
	return r
}

// ColumnMeans returns the mean of every column of u, or of its squares if squared. For scores
// these are the mean gradient of the log-likelihood and the diagonal of the empirical Fisher
// matrix.
func ColumnMeans(u *mat.Dense, squared bool) []float64 {
	n, d := u.Dims()
	mean := make([]float64, d)
	for i := range n {
		for j, v := range u.RawRowView(i) {
			if squared {
				v *= v
			}
			mean[j] += v / float64(n)
		}
	}
	return mean
}
