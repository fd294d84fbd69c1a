package ml_test

import (
	"math"
	"strings"

	"marginlab/ml/dataset"
)

// spelt is the data with a string in the place of each point: of every coordinate a
// letter, a capital one where it is positive, the more often the larger it is.
func spelt(d *dataset.Data) *dataset.Data {
	s := &dataset.Strings{Name: "text"}
	for i := range d.Len() {
		var b strings.Builder
		for j, v := range d.X.RawRowView(i) {
			letter := rune('a' + j%26)
			if v > 0 {
				letter += 'A' - 'a'
			}
			b.WriteString(strings.Repeat(string(letter), 1+int(math.Round(math.Min(20, math.Abs(v))))))
		}
		s.Values = append(s.Values, b.String())
	}
	return &dataset.Data{Objects: s, Label: d.Label, Classes: d.Classes, Y: d.Y}
}
