package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/dense"
)

// View is a two-dimensional picture of R^d. It maps x to (s, t) = To·(x - Center), and
// (s, t) back to x = Center + s Axes[0] + t Axes[1]. Mapping a point (s, t) back and
// forward again returns the same point.
//
// With a single feature, To[1] and Axes[1] are zero, every point has t = 0, and nothing
// depends on t.
type View struct {
	Labels [2]string    `json:"labels"`
	Center []float64    `json:"center"`
	To     [2][]float64 `json:"to"`
	Axes   [2][]float64 `json:"axes"`
	Exact  bool         `json:"exact"` // d <= 2: the picture shows the whole space
}

// newView returns a view of R^d with every vector zero.
func newView(d int) View {
	zero := func() []float64 { return make([]float64, d) }
	return View{Center: zero(), To: [2][]float64{zero(), zero()}, Axes: [2][]float64{zero(), zero()}, Exact: d <= 2}
}

// ColumnView returns a view of columns a and b with the other columns at their means, so
// (s, t) are the values of a and b themselves. For data with one feature, b is empty. It
// returns an error for an unknown name and for equal columns.
func ColumnView(d *Data, a, b string) (View, error) {
	n, cols := d.X.Dims()
	v := newView(cols)
	for j := range cols {
		var mean float64
		for i := range n {
			mean += (d.X.At(i, j) - mean) / float64(i+1)
		}
		v.Center[j] = mean
	}
	names := []string{a, b}
	if cols == 1 && b == "" {
		names = names[:1]
	}
	for k, name := range names {
		j := slices.Index(d.Features, name)
		if j < 0 {
			return View{}, fmt.Errorf("no feature %s: expected one of %s", quote(name), list(d.Features))
		}
		if k == 1 && a == b {
			return View{}, fmt.Errorf("feature %s on both axes: expected two features", quote(name))
		}
		v.Labels[k] = name
		v.Center[j] = 0
		v.To[k][j], v.Axes[k][j] = 1, 1
	}
	return v, nil
}

// PCAView returns a view of the two leading principal components of the standardised rows,
// that is, the leading eigenvectors of their correlation matrix. (0, 0) is the mean; the
// largest loading of each component is positive; labels give the share of the variance,
// as in "PC 1 (73 %)".
func PCAView(d *Data) View {
	n, cols := d.X.Dims()
	v := newView(cols)
	scaler := FitScaler(d.X)
	copy(v.Center, scaler.Mean)
	z := scaler.Apply(d.X)
	var corr mat.SymDense
	corr.SymOuterK(1/float64(n), z.T())
	values, vectors, ok := dense.Eigen(&corr, true) // ascending
	if !ok {
		// Not reached for finite data; show the first two columns instead.
		values, vectors = make([]float64, cols), mat.NewDense(cols, cols, nil)
		for j := range cols {
			vectors.Set(j, cols-1-j, 1)
		}
	}
	var total float64
	for _, l := range values {
		total += max(l, 0)
	}
	for k := range min(2, cols) {
		w := mat.Col(nil, cols-1-k, vectors)
		share := 0.0
		if total > 0 {
			share = max(values[cols-1-k], 0) / total
		}
		v.Labels[k] = fmt.Sprintf("PC %d (%.0f %%)", k+1, 100*share)
		sign := signOfLargest(w)
		for j, l := range w {
			v.To[k][j] = sign * l / scaler.Scale[j]
			v.Axes[k][j] = sign * l * scaler.Scale[j]
		}
	}
	return v
}

// signOfLargest returns the sign of the entry of largest magnitude, the first among
// those equal up to rounding.
func signOfLargest(w []float64) float64 {
	best := 0.0
	for _, l := range w {
		if math.Abs(l) > math.Abs(best)*(1+1e-9) {
			best = l
		}
	}
	return math.Copysign(1, best)
}

// Point projects a row of R^d.
func (v View) Point(x []float64) (s, t float64) {
	for j, c := range v.Center {
		s += v.To[0][j] * (x[j] - c)
		t += v.To[1][j] * (x[j] - c)
	}
	return s, t
}

// Separating returns the two features that, each by itself, separate the labels best, in the
// order of the columns: those with the largest share of variance between the classes or, for
// numeric labels, the largest squared correlation with them. Features with few distinct
// values, whose points would overlap, come after all others, and constant ones last. If there
// is only one feature, b is "".
func Separating(d *Data) (a, b string) {
	n, cols := d.X.Dims()
	values, err := d.Values()
	if err != nil || !d.Measured() {
		values = nil
	}
	type rated struct {
		column int
		rank   int // 2: many values, 1: few values, 0: constant
		share  float64
	}
	all := make([]rated, cols)
	x := make([]float64, n)
	for j := range all {
		mat.Col(x, j, d.X)
		distinct := map[float64]bool{}
		for _, v := range x {
			if distinct[v] = true; len(distinct) >= fewValues {
				break
			}
		}
		all[j] = rated{j, min(len(distinct)-1, 1), shareBetween(x, d.Y, values)}
		if len(distinct) >= fewValues {
			all[j].rank = 2
		}
	}
	slices.SortStableFunc(all, func(p, q rated) int {
		return cmp.Or(cmp.Compare(q.rank, p.rank), cmp.Compare(q.share, p.share))
	})
	if cols == 1 {
		return d.Features[0], ""
	}
	first, second := all[0].column, all[1].column
	return d.Features[min(first, second)], d.Features[max(first, second)]
}

// fewValues is the number of distinct values from which on a feature fills an axis.
const fewValues = 8

// shareBetween returns the share of the variance of x between the classes y or, if values is
// not nil, the share that a linear fit to values explains; 0 for constant data.
func shareBetween(x []float64, y []int, values []float64) float64 {
	if values != nil {
		r := stat.Correlation(x, values, nil)
		if math.IsNaN(r) {
			return 0
		}
		return r * r
	}
	mean, variance := stat.PopMeanVariance(x, nil)
	if !(variance > 0) || math.IsInf(variance, 0) {
		return 0
	}
	classes := slices.Max(y) + 1
	sum, count := make([]float64, classes), make([]float64, classes)
	for i, c := range y {
		sum[c] += x[i] - mean
		count[c]++
	}
	between := 0.0
	for c, s := range sum {
		if count[c] > 0 {
			between += s * s / count[c]
		}
	}
	return between / float64(len(x)) / variance
}
