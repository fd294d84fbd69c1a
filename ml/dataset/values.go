package dataset

import (
	"fmt"
	"math"
	"slices"

	"marginlab/ml/lists"
)

// Values returns the labels as numbers, the target of a regression. It returns an error for a
// label that is not a number.
func (d *Data) Values() ([]float64, error) {
	of := make([]float64, len(d.Classes))
	for i, label := range d.Classes {
		var ok bool
		if of[i], ok = parseNumber(label); !ok {
			return nil, fmt.Errorf("the label %s is not a number", quote(label))
		}
	}
	return lists.At(of, d.Y), nil
}

// Measured reports whether the distinct labels of the given number of rows look like measurements, which
// a regression fits, rather than names of classes: more than two numbers that are not
// all whole or are too many for classes. Too many is more than a hundred, or more than ten
// with fewer than two rows each on average, or more than twenty with fewer than five.
func Measured(labels []string, rows int) bool {
	of, ok := parseNumbers(labels)
	if !ok || len(of) <= 2 {
		return false
	}
	return tooManyNumbers(len(of), rows) || slices.ContainsFunc(of, func(v float64) bool { return v != math.Trunc(v) })
}

// tooManyNumbers reports whether there are too many distinct whole numbers, for the given number of
// rows, to be names of classes.
func tooManyNumbers(distinct, rows int) bool {
	return tooMany(distinct, rows) || distinct > mostWords && leastRows*distinct > rows
}

// Measured reports whether the labels of d look like measurements.
func (d *Data) Measured() bool { return Measured(d.Classes, len(d.Y)) }

// Scattered reports whether there are too many distinct labels for classes.
func (d *Data) Scattered() bool { return tooMany(len(d.Classes), len(d.Y)) }
