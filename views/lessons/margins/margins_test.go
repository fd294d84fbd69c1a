package margins

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// From any separating line the margin can grow monotonically to the best one, as the text says.
func TestNoSecondSummit(t *testing.T) {
	t.Parallel()
	best := lessons.TrainHard(t.Context(), lessons.Separable)
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
			require.Must(t, m.GeometricMargin() >= before-1e-12,
				"from %v, %g: the margin falls from %g to %g", w, b, before, m.GeometricMargin())
			before = m.GeometricMargin()
		}
	}
	require.Check(t, separating >= 50, "%d lines separate: too few to say much", separating)
}

// A worse line does not replace the stored one, the widest gets the full score, others nothing.
func TestKeepsTheBestLine(t *testing.T) {
	t.Parallel()
	first := lessonstest.Show(t, Lesson(), "by-hand")
	require.Must(t, len(first.Moves) == 1, "a line that separates cannot be kept: %q", first.Notes)
	best := lessons.TrainHard(t.Context(), lessons.Separable)
	widest := fmt.Sprint(best.W[0], " ", best.W[1], " ", best.B)
	for kept, want := range map[string]string{first.Moves[0].Value: "your best try ", widest: "your best try 100.0 %", "0 0 1": "", "1 Inf 2": "", "x": ""} {
		e := lessonstest.Show(t, Lesson(), "by-hand", "kept", kept)
		require.Check(t, strings.Contains(e.After[0], "best try") == (want != "") && strings.Contains(e.After[0], want),
			"with %q kept: %s", kept, e.After[0])
		require.Check(t, (len(e.Moves) == 0) == (want != ""), "with %q kept there are the moves %v", kept, e.Moves)
		for _, n := range e.Asking().Notes {
			require.Check(t, !strings.Contains(n, "%"), "with the margin it gives the widest away: %s", n)
		}
	}
	ends := []string{"ax", "-1.32", "ay", "2.05", "bx", "-0.0909", "by", "-1.87"} // stored with fewer digits
	e := lessonstest.Show(t, Lesson(), "by-hand", ends...)
	e = lessonstest.Show(t, Lesson(), "by-hand", append(ends, "kept", e.Moves[0].Value)...)
	require.Check(t, len(e.Moves) == 0, "a line that is kept can be kept again: %v", e.Moves)
}
