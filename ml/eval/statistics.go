package eval

import "gonum.org/v1/gonum/stat/distuv"

// SignTest returns the probability that a + b throws of a fair coin fall at least as
// unevenly as a to b, either way: the sign test of two classifiers of which, on the
// points that only one gets right, the first gets a and the second b (exact McNemar
// test). 1 for no throws. a and b are at least 0.
func SignTest(a, b int) float64 {
	coin := distuv.Binomial{N: float64(a + b), P: 0.5}
	return min(1, 2*coin.CDF(float64(min(a, b))))
}
