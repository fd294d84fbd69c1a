package figure

import (
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// TestLead is above 0 where the own class is predicted, under every rule.
func TestLead(t *testing.T) {
	t.Parallel()
	machines := make([]ml.Machine, 3)
	for _, rule := range []ml.Rule{ml.OneVsRest, ml.OneVsOne, ml.Argmax} {
		m := &ml.Model{Classes: []string{"a", "b", "c"}, Machines: machines, Rule: rule}
		for _, f := range [][]float64{{2, 1, -1}, {-1, 2, 3}, {0.5, -2, 0.1}, {-2, -1, -3}} {
			class := m.Class(f)
			ahead := 0
			for _, label := range m.Classes {
				l := leads(m)(ml.Point{Label: label, Scores: f})
				if l > 0 {
					ahead++
					require.Equal(t, label, m.Classes[class], "%s, %v: prediction where that class leads by %g", rule, f, l)
				}
			}
			require.Check(t, ahead == 1 || rule == ml.OneVsOne, // where all may beat each other in a ring
				"%s, %v: %d classes lead", rule, f, ahead)
		}
	}
}
