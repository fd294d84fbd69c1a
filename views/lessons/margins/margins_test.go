package margins

import (
	"math/rand/v2"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
)

// TestNoSecondSummit: from any line that separates the margin grows all the way to the
// best one, as the words say.
func TestNoSecondSummit(t *testing.T) {
	t.Parallel()
	best := require.Value(lessons.TrainHard(t.Context(), lessons.Separable))(t)
	x, y := lessons.Separable.Matrix(), lessons.Separable.Y
	r := rand.New(rand.NewPCG(1, 2))
	separating := 0
	for range 3000 {
		w, b := [2]float64{r.NormFloat64(), r.NormFloat64()}, 2*r.NormFloat64()
		start := require.Value(theory.LinearMargins(w[:], b, x, y))(t)
		if !start.Separates {
			continue
		}
		separating++
		before := start.GeometricMargin()
		for k := 1; k <= 20; k++ {
			s := float64(k) / 20
			v := []float64{(1-s)*w[0] + s*best.W[0], (1-s)*w[1] + s*best.W[1]}
			m := require.Value(theory.LinearMargins(v, (1-s)*b+s*best.B, x, y))(t)
			if m.GeometricMargin() < before-1e-12 {
				t.Fatalf("from %v, %g: the margin falls from %g to %g", w, b, before, m.GeometricMargin())
			}
			before = m.GeometricMargin()
		}
	}
	if separating < 50 {
		t.Errorf("%d lines separate: too few to say much", separating)
	}
}
