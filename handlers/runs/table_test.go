package runs

import (
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// TestExceeds: shares differ by percentage points, which are no per cent of anything.
func TestExceeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit    ml.Unit
		v, than float64
		want    string
	}{
		{ml.Share, 0.95, 0.9, "+5.0\u00a0pp"}, {ml.Share, 0.5, 0.505, "−0.5\u00a0pp"}, {ml.Share, 0.9, 0.9, ""}, {ml.Plain, 12, 20, "−8"},
	} {
		require.Equal(t, exceeds(c.unit, c.v, c.than), c.want, "%g against %g", c.v, c.than)
	}
}
