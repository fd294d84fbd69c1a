package ml_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
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

// TestStringsAreTheirKernel trains on strings, and on the values of their kernel: the
// machines are the same, with a conformal map as without, and so are those that come back
// from JSON.
func TestStringsAreTheirKernel(t *testing.T) {
	t.Parallel()
	d := spelt(clouds(60, 3, 4))
	for _, k := range []struct {
		kernel kernel.Kernel
		set    []string
	}{
		{kernel.Kernel{Name: "spectrum", Values: param.Values{"k": param.Of(2)}}, []string{"kernel", "spectrum", "k", "2"}},
		{kernel.Kernel{Name: "spectrum", Values: param.Values{"k": param.Of(2), "normalize": param.Of(true)}}, []string{"kernel", "spectrum", "k", "2", "normalize", "true"}},
		{kernel.Kernel{Name: "gap-subsequence", Values: param.Values{"k": param.Of(2), "decay": param.Of(0.7), "normalize": param.Of(true)}}, []string{"kernel", "gap-subsequence", "k", "2", "decay", "0.7", "normalize", "true"}},
	} {
		g := require.Value(kernel.GramOf(t.Context(), k.kernel, d.Objects))(t)
		values := asGiven(d, g)
		for _, set := range [][]string{
			{"learner", "svm", "C", "2", "tol", "1e-9"},
			{"learner", "svm", "C", "2", "tol", "1e-9", "test_fraction", "0.3"},
			{"learner", "mcm", "C", "1", "rho", "0.1"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "amari", "core_step", "7", "test_fraction", "0.2"},
			{"learner", "svm", "C", "1", "tol", "1e-9", "conformal", "eigen"},
		} {
			at := strings.Join(append(k.set, set...), " ")
			s := spec(t, append(k.set, set...)...)
			got, want := train(t, d, s), train(t, values, spec(t, append([]string{"kernel", "precomputed"}, set...)...))
			a, b := got.Report, want.Report
			if math.Abs(*a.Objective-*b.Objective) > 1e-6*(1+math.Abs(*b.Objective)) || *a.TrainAccuracy != *b.TrainAccuracy || a.N != 60 || a.D != 0 {
				t.Errorf("%s: objective %g, accuracy %g; by its values %g, %g", at, *a.Objective, *a.TrainAccuracy, *b.Objective, *b.TrainAccuracy)
			}
			if (a.TestAccuracy == nil) != (b.TestAccuracy == nil) || a.TestAccuracy != nil && *a.TestAccuracy != *b.TestAccuracy {
				t.Errorf("%s: accuracy on held-out rows differs", at)
			}
			require.Check(t, a.Local == nil && a.Preprocessing == "none: strings as given",
				"%s: local %v, preprocessing %q", at, a.Local, a.Preprocessing)
			text := asJSON(t, got.Model)
			back := require.Value(ml.ReadModel(strings.NewReader(text)))(t)
			if again := asJSON(t, back); again != text || !strings.Contains(text, `"objects":"strings","column":"text"`) {
				t.Errorf("%s\n%s", text, again)
			}
			f := require.Value(back.ScoresOf(t.Context(), d.Objects))(t)
			ps := require.Value(got.Model.Points(d, s))(t)
			qs := require.Value(want.Model.Points(values, spec(t, append([]string{"kernel", "precomputed"}, set...)...)))(t)
			for i, p := range ps {
				if p.X != nil || p.F != f.At(i, 0) || math.Abs(p.F-qs[i].F) > 1e-4*(1+math.Abs(p.F)) {
					t.Errorf("%s: row %d: f = %g, read again %g, by its values %g", at, i, p.F, f.At(i, 0), qs[i].F)
				}
			}
		}
	}
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
