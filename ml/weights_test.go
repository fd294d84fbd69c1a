package ml_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// What the symbols of a string add is f, for every learner, several machines and conformal maps.
func TestPartsAddUp(t *testing.T) {
	t.Parallel()
	d := spelt(clouds(45, 3, 5))
	three := *d
	three.Classes, three.Y = []string{"a", "b", "c"}, make([]int, d.Len())
	for i := range three.Y {
		three.Y[i] = i % 3
	}
	for _, kernel := range [][]string{{"kernel", "spectrum", "k", "2"}, {"kernel", "gap-subsequence", "k", "2", "decay", "0.6", "normalize", "true"}} {
		for _, set := range [][]string{{"test_fraction", "0.3"}, {"learner", "ridge"}, {"learner", "mcm", "rho", "0.1"}, {"conformal", "eigen"}, {"multiclass", "ovo"}, {"multiclass", "ww", "conformal", "amari"}} {
			of := lists.Either(set[0] == "multiclass", &three, d)
			res := train(t, of, spec(t, append(kernel, set...)...))
			for k, machine := range res.Model.Machines {
				for i, p := range require.Value(res.Model.Parts(t.Context(), k, of.Objects))(t) {
					if f := res.Scores.At(i, k); len(p) != len(of.Objects.Text(i)) || math.Abs(floats.Sum(p)+machine.B-f) > 1e-8*(1+math.Abs(f)) {
						t.Errorf("%v %v: machine %d, row %d: the symbols add up to %g, f is %g", kernel, set, k, i, floats.Sum(p)+machine.B, f)
					}
				}
			}
		}
	}
}

// The weights on strings of one letter equal the linear kernel's on their number.
func TestWeightsOfLetters(t *testing.T) {
	t.Parallel()
	points := clouds(40, 2, 7)
	for i := range points.Y {
		for j := range 2 {
			points.X.Set(i, j, 1+math.Round(math.Abs(points.X.At(i, j))))
		}
	}
	d := spelt(points)
	counts := mat.NewDense(40, 2, nil) // of A and of B: all are above 0
	for i := range points.Y {
		for _, c := range d.Objects.Text(i) {
			counts.Set(i, int(c-'A'), counts.At(i, int(c-'A'))+1)
		}
	}
	points.X = counts
	m := train(t, d, spec(t, "kernel", "spectrum", "k", "1", "learner", "ridge")).Model
	w := require.Value(m.Weights(t.Context(), 0))(t)
	linear, b, ok := train(t, points, spec(t, "kernel", "linear", "standardize", "false", "learner", "ridge")).Model.Linear()
	require.Check(t, ok && math.Abs(b-m.Machines[0].B) <= 1e-9, "b = %g, want %g", m.Machines[0].B, b)
	want := map[string]float64{"A": linear[0], "B": linear[1]}
	heaviest := w.Heaviest(9)
	require.Must(t, len(heaviest) == 2, "%v", heaviest)
	for _, f := range heaviest {
		require.Near(t, f.Weight, want[f.Name], 1e-8, "%s weighs", f.Name)
	}
}
