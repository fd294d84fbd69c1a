// Package mixture fits mixtures of Gaussians with diagonal covariances,
//
//	p(x) = sum_k w_k prod_j N(x_j | mean_kj, variance_kj),
//
// to the rows of a matrix by expectation maximisation (EM), and computes Fisher scores of points:
// the gradient of log p(x) with respect to the parameters.
//
// Source of EM: Dempster, Laird and Rubin, Journal of the Royal Statistical Society B 39
// (1977). Source of the scores: Jaakkola and Haussler, NIPS 11 (1998).
package mixture

import (
	"fmt"
	"math"
	"slices"
)

// Mixture is a mixture of Gaussians. It round-trips through JSON exactly.
type Mixture struct {
	Weights   []float64   `json:"weights"`   // w_k > 0, with sum 1
	Means     [][]float64 `json:"means"`     // K x d
	Variances [][]float64 `json:"variances"` // K x d, > 0: variances of the coordinates, not standard deviations
}

// Len returns the number K of components.
func (m *Mixture) Len() int { return len(m.Weights) }

// Check returns an error if m is not a mixture of points with d coordinates.
func (m *Mixture) Check(d int) error {
	k := m.Len()
	if k == 0 || len(m.Means) != k || len(m.Variances) != k {
		return fmt.Errorf("mixture: expected equal numbers of weights, means and variances, at least one of each, found %d weights, %d means, %d variances", k, len(m.Means), len(m.Variances))
	}
	positive := func(what string, v []float64) error {
		if slices.ContainsFunc(v, func(x float64) bool { return !(x > 0) || math.IsInf(1/x, 1) || math.IsInf(x, 1) }) {
			return fmt.Errorf("mixture: %s: expected numbers above 0, found %v", what, v)
		}
		return nil
	}
	if err := positive("weights", m.Weights); err != nil {
		return err
	}
	for c := range k {
		if len(m.Means[c]) != d || len(m.Variances[c]) != d {
			return fmt.Errorf("mixture: component %d: expected %d means and variances, found %d and %d", c+1, d, len(m.Means[c]), len(m.Variances[c]))
		}
		if slices.ContainsFunc(m.Means[c], func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return fmt.Errorf("mixture: component %d: expected finite means, found %v", c+1, m.Means[c])
		}
		if err := positive(fmt.Sprintf("component %d: variances", c+1), m.Variances[c]); err != nil {
			return err
		}
	}
	return nil
}

// Density is p, prepared for repeated and concurrent evaluation.
type Density struct {
	m         *Mixture
	d         int
	offset    []float64   // log w_k - 1/2 sum_j log(2 pi variance_kj)
	precision [][]float64 // 1/variance_kj
}

// Density prepares m, which must pass Check and must not change afterwards.
func (m *Mixture) Density() *Density {
	p := &Density{m: m, d: len(m.Means[0]), offset: make([]float64, m.Len()), precision: make([][]float64, m.Len())}
	for k, w := range m.Weights {
		p.offset[k], p.precision[k] = math.Log(w), make([]float64, p.d)
		for j, v := range m.Variances[k] {
			p.offset[k] -= math.Log(2*math.Pi*v) / 2
			p.precision[k][j] = 1 / v
		}
	}
	return p
}

// At writes the responsibilities p(k | x) of the components for x to dst (length K) and returns
// log p(x). If x is so far away that its squared distances overflow, they are 0 and -Inf.
func (p *Density) At(dst, x []float64) (logp float64) {
	top := math.Inf(-1)
	for k, mean := range p.m.Means {
		s, precision := 0.0, p.precision[k]
		for j, xj := range x {
			xj -= mean[j]
			s += xj * xj * precision[j]
		}
		dst[k] = p.offset[k] - s/2
		top = max(top, dst[k])
	}
	if math.IsInf(top, -1) {
		clear(dst)
		return top
	}
	sum := 0.0
	for k, v := range dst {
		dst[k] = math.Exp(v - top)
		sum += dst[k]
	}
	for k := range dst {
		dst[k] /= sum
	}
	return top + math.Log(sum)
}

// Scores returns the length K (1 + 2d) of a Fisher score.
func (p *Density) Scores() int { return p.m.Len() * (1 + 2*p.d) }

// Score writes the Fisher score of x to dst: the derivatives of log p(x) with respect to
//
//	the weights     p(k|x) / w_k                                      k = 1..K
//	the means       p(k|x) (x_j - mean_kj) / variance_kj              all j of k = 1, then of 2, ...
//	the variances   p(k|x) ((x_j - mean_kj)²/variance_kj - 1) / (2 variance_kj)
//
// in this order. The parameters are the variances, not the standard deviations. The weights are
// treated as free, as in the lecture notes (001, section 21.5). Under the constraint that their sum
// is 1, the Lagrange multiplier subtracts 1 from each weight's score, which shifts the scores of
// all points by the same vector. The shift does not affect a machine with a bias and inner products
// of scores; it does if scores are scaled to length 1 or the kernel is a polynomial of them.
func (p *Density) Score(dst, x []float64) {
	k, d := p.m.Len(), p.d
	weights, means, variances := dst[:k], dst[k:k+k*d], dst[k+k*d:][:k*d]
	p.At(weights, x)
	for c, share := range weights {
		mean, precision := p.m.Means[c], p.precision[c]
		byMean, byVariance := means[c*d:][:d], variances[c*d:][:d]
		if share == 0 {
			clear(byMean)
			clear(byVariance)
			continue
		}
		for j, xj := range x {
			xj -= mean[j]
			byMean[j] = share * xj * precision[j]
			byVariance[j] = share * (xj*xj*precision[j] - 1) * precision[j] / 2
		}
		weights[c] = share / p.m.Weights[c]
	}
}
