package theory

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/kernel"
)

// GaussianMiss returns the probability that f(x) = w·x + b is negative for a normally distributed
// point with this centre and standard deviation spread > 0 in every direction: the risk on a
// class with label +1. For label -1 negate w and b. NaN for w = 0.
func GaussianMiss(w []float64, b float64, centre []float64, spread float64) float64 {
	z := -(floats.Dot(w, centre) + b) / (spread * floats.Norm(w, 2))
	return math.Erfc(-z/math.Sqrt2) / 2
}

// FeatureDim returns an upper bound on the dimension of the feature space of a kernel on d
// features: d for the linear kernel, the number of monomials for the polynomial kernel, +Inf
// otherwise.
func FeatureDim(k kernel.Kernel, d int) float64 {
	switch k.Name {
	case "linear":
		return float64(d)
	case "poly": // monomials of degree up to p
		n := 1.0
		for i := 1; i <= k.Values.Int("degree"); i++ {
			n = n * float64(d+i) / float64(i)
		}
		return math.Round(n)
	}
	return math.Inf(1)
}
