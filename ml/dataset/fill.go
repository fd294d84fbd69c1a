package dataset

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
)

// Fill holds the values that replace missing ones: a number for each feature, in order.
type Fill []float64

// Apply returns x with NaN replaced by the fill; x itself is not modified.
func (f Fill) Apply(x *mat.Dense) *mat.Dense {
	if !gappy(x) {
		return x
	}
	y := mat.DenseCopyOf(x)
	n, _ := y.Dims()
	for i := range n {
		row := y.RawRowView(i)
		for j, v := range row {
			if math.IsNaN(v) {
				row[j] = f[j]
			}
		}
	}
	return y
}

// gappy reports whether a value of x is missing.
func gappy(x *mat.Dense) bool {
	n, _ := x.Dims()
	for i := range n {
		if slices.ContainsFunc(x.RawRowView(i), math.IsNaN) {
			return true
		}
	}
	return false
}

// FitFill fits the imputation to some rows: the median of each feature, or 0 if it has no value in
// these rows. Indicator features of one column get the most frequent word, the first among ties;
// see indicators. It returns nil if no value of d is missing.
func (d *Data) FitFill(rows []int) Fill {
	if d.Given == nil {
		return nil
	}
	fill := make(Fill, len(d.Features))
	values := make([]float64, 0, len(rows))
	for j := range fill {
		values = values[:0]
		for _, i := range rows {
			if v := d.Given.At(i, j); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		if n := len(values); n > 0 {
			slices.Sort(values)
			fill[j] = values[(n-1)/2]/2 + values[n/2]/2
		}
	}
	for _, words := range d.words() {
		d.fitWords(fill, words, rows)
	}
	return fill
}

// Filled returns d with missing values replaced by fill.
func (d *Data) Filled(fill Fill) *Data {
	if d.Given == nil {
		return d
	}
	filled := *d
	filled.X = fill.Apply(d.Given)
	return &filled
}

// words returns the indicator features by column: those with the same name before "=", values 0 or
// 1, at most one 1 per row, and missing in the same rows.
func (d *Data) words() [][]int {
	type column struct {
		name     string
		features []int
		has      []bool // whether each row has a word
	}
	var columns []*column
	for j, name := range d.Features {
		name, _, named := strings.Cut(name, "=")
		if !named {
			continue
		}
		// joins reports whether feature j belongs to the column, and adds it if so.
		joins := func(c *column) bool {
			first := append(c.features, j)[0]
			for i := range c.has {
				row := d.Given.RawRowView(i)
				switch v := row[j]; {
				case math.IsNaN(v) != math.IsNaN(row[first]):
					return false
				case v == 1 && !c.has[i], v == 0, math.IsNaN(v):
				default:
					return false
				}
			}
			for i := range c.has {
				c.has[i] = c.has[i] || d.Given.At(i, j) == 1
			}
			c.features = append(c.features, j)
			return true
		}
		if slices.ContainsFunc(columns, func(c *column) bool { return c.name == name && joins(c) }) {
			continue
		}
		if c := (&column{name: name, has: make([]bool, d.Len())}); joins(c) {
			columns = append(columns, c)
		}
	}
	return lists.Map(columns, func(c *column) []int { return c.features })
}

// fitWords fits the fill of a column's indicators. Rows in which all of them are 0 have another
// word, sorted first: the one of two words that has no feature.
func (d *Data) fitWords(fill Fill, words, rows []int) {
	counts, other := make([]int, len(words)), 0
	for _, i := range rows {
		row := d.Given.RawRowView(i)
		has := slices.IndexFunc(words, func(j int) bool { return row[j] == 1 })
		switch {
		case has >= 0:
			counts[has]++
		case !math.IsNaN(row[words[0]]):
			other++
		}
	}
	best, most := -1, other
	for k, j := range words {
		if fill[j] = 0; counts[k] > most {
			best, most = j, counts[k]
		}
	}
	if best >= 0 {
		fill[best] = 1
	}
}

// filled returns vectors of rows with NaN for missing values; for display these are
// imputed from all rows.
func filled(names []string, x *mat.Dense) vectors {
	if !gappy(x) {
		return vectors{names: names, x: x}
	}
	n, _ := x.Dims()
	all := Indices(n)
	d := &Data{Features: names, Given: x, Y: all} // FitFill needs its length
	return vectors{names, d.FitFill(all).Apply(x), x}
}
