package kernel

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
)

// Components holds the coordinates of objects along the two leading principal components in a
// kernel's feature space.
type Components struct {
	At    [][2]float64 // coordinates of every object; those of the fitted objects have mean 0
	Share [2]float64   // explained share of the sum of |eigenvalues|, 0 to 1
}

// PrincipalComponents computes the components of the objects listed in fit, given the kernel
// matrix of all objects, and projects every object onto them. Signs are fixed so that the
// outermost object is positive; components beyond the rank are 0. It returns an error if values
// are not finite.
//
// With the centred kernel matrix K~ of the fitted objects and K~ v = l v, the coordinate of an
// object x along v is sum_i v_i k~(x, x_i) / sqrt(l).
//
// Source: Schölkopf, Smola and Müller, Neural Computation 10 (1998).
func PrincipalComponents(values mat.Matrix, fit []int) (Components, error) {
	n, _ := values.Dims()
	c := Components{At: make([][2]float64, n)}
	m := len(fit)
	if m == 0 {
		return c, nil
	}
	means := make([]float64, m) // of k(x_i, .) over the fitted objects
	mean := 0.0
	for a, i := range fit {
		for _, j := range fit {
			means[a] += values.At(i, j) / float64(m)
		}
		mean += means[a] / float64(m)
	}
	centred := mat.NewSymDense(m, nil)
	for a, i := range fit {
		for b := range a + 1 {
			centred.SetSym(a, b, values.At(i, fit[b])-means[a]-means[b]+mean)
		}
	}
	lambda, v, ok := dense.Eigen(centred, true)
	if !ok {
		return c, errors.New("principal components: the values of the kernel are not finite")
	}
	total := 0.0
	for _, l := range lambda {
		total += math.Abs(l)
	}
	for k := range min(2, m) {
		l := lambda[m-1-k]
		if !(l > 1e-12*total) {
			break
		}
		c.Share[k] = l / total
		far := 0.0
		for i := range n {
			own := 0.0 // mean of k(x_i, .)
			for _, j := range fit {
				own += values.At(i, j) / float64(m)
			}
			for b, j := range fit {
				c.At[i][k] += v.At(b, m-1-k) * (values.At(i, j) - own - means[b] + mean)
			}
			c.At[i][k] /= math.Sqrt(l)
			if math.Abs(c.At[i][k]) > math.Abs(far)*(1+1e-9) {
				far = c.At[i][k]
			}
		}
		for i := range c.At {
			c.At[i][k] *= math.Copysign(1, far)
		}
	}
	return c, nil
}
