package ml_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
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

// TestStringsOfSeveralClasses trains every rule for several classes on strings, and
// predicts those held out.
func TestStringsOfSeveralClasses(t *testing.T) {
	t.Parallel()
	motifs := []string{"GATTACA", "TTTTCCC", "ACGACGA"}
	r := rand.New(rand.NewPCG(3, 1))
	d := &dataset.Data{Label: "class", Classes: []string{"a", "b", "c"}}
	strung := &dataset.Strings{Name: "sequence"}
	for i := range 60 {
		b := make([]byte, 30)
		for j := range b {
			b[j] = "ACGT"[r.IntN(4)]
		}
		copy(b[r.IntN(20):], motifs[i%3])
		strung.Values, d.Y = append(strung.Values, string(b)), append(d.Y, i%3)
	}
	d.Objects = strung
	for _, rule := range []string{"ovr", "ovo", "ww", "cs"} {
		for _, method := range []string{"none", "amari"} {
			s := spec(t, "kernel", "spectrum", "k", "4", "multiclass", rule, "test_fraction", "0.25", "conformal", method)
			if !s.Applies("conformal") {
				continue
			}
			res, err := ml.Train(t.Context(), d, s, nil)
			if err != nil {
				t.Errorf("%s, %s: %v", rule, method, err)
				continue
			}
			a := res.Report.TestAccuracy
			require.Check(t, a != nil && *a >= 0.8, "%s, %s: accuracy %v", rule, method, a)
			back := require.Value(ml.ReadModel(strings.NewReader(asJSON(t, res.Model))))(t)
			acc, err := back.Accuracy(d)
			require.Check(t, err == nil && acc >= 0.9, "%s, %s: read again: accuracy %g, %v", rule, method, acc, err)
		}
	}
}
