package kernel

import (
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Parameters shared by several kernels.
var (
	gamma = param.Param{
		Name: "gamma", Label: "gamma", Symbol: "γ", Kind: param.Number, Default: "auto", Words: []string{"auto", "scale"},
		Min: 0, OpenMin: true, Max: 1e9, Low: 1e-3, High: 1e3, Log: true, Telling: true,
		Help: "Scale of the kernel. Large: each point has only local influence. auto is 1/d, scale is 1/(d·variance).",
	}
	coef0 = param.Param{
		Name: "coef0", Label: "coef0", Symbol: "r", Kind: param.Number, Default: "0",
		Min: -1e6, Max: 1e6, Low: -5, High: 5, Telling: true, Help: "Constant added to the scaled inner product.",
	}
)

// Width resolves a width such as gamma for the preprocessed rows of x (M x d): v itself if it is
// a number; for "scale" 1/(d·s) with s the population variance of all entries of x, or 1/d if s
// is 0 (scikit-learn's default); otherwise, as for "auto", 1/d (LIBSVM's default).
func Width(v param.Value, x *mat.Dense) float64 {
	if v.IsNumber() {
		return v.Number()
	}
	m, d := x.Dims()
	if v.Text() == "scale" {
		n := float64(m * d)
		var mean, variance float64
		for i := range m {
			for _, v := range x.RawRowView(i) {
				mean += v / n
			}
		}
		for i := range m {
			for _, v := range x.RawRowView(i) {
				variance += (v - mean) * (v - mean) / n
			}
		}
		if variance > 0 {
			return 1 / (float64(d) * variance)
		}
	}
	return 1 / float64(d)
}
