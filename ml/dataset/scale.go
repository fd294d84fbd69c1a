package dataset

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Scaler standardises features: (x - Mean) / Scale, where Scale is the population standard
// deviation, or 1 for a constant column. Both slices have one entry per feature.
type Scaler struct {
	Mean  []float64 `json:"mean"`
	Scale []float64 `json:"scale"`
}

// FitScaler fits a Scaler to the rows of x, which must be finite.
func FitScaler(x *mat.Dense) *Scaler {
	n, d := x.Dims()
	s := &Scaler{Mean: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range n {
			lo, hi = min(lo, x.At(i, j)), max(hi, x.At(i, j))
		}
		// Sum (x - mid)/half, which lies in [-1, 1]: neither a large offset nor a huge
		// range then costs accuracy, and a constant column is exactly constant.
		mid, half := lo/2+hi/2, hi/2-lo/2
		if half == 0 {
			s.Mean[j], s.Scale[j] = lo, 1
			continue
		}
		var sum, squares float64
		for i := range n {
			sum += (x.At(i, j) - mid) / half
		}
		mean := sum / float64(n)
		for i := range n {
			z := (x.At(i, j)-mid)/half - mean
			squares += z * z
		}
		s.Mean[j] = mid + half*mean
		s.Scale[j] = half * math.Sqrt(squares/float64(n))
		if s.Scale[j] == 0 {
			s.Scale[j] = 1
		}
	}
	return s
}

// Apply returns a scaled copy of x, which must have the columns the scaler was fitted on.
func (s *Scaler) Apply(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	z := mat.NewDense(n, d, nil)
	for i := range n {
		from, to := x.RawRowView(i), z.RawRowView(i)
		for j, v := range from {
			to[j] = (v - s.Mean[j]) / s.Scale[j]
		}
	}
	return z
}
