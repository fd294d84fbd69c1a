package dataset

import (
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestTidyLabel(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"+1": "1", "1.0": "1", "-0": "0", "1e2": "100", "0.10": "0.1", "1000000": "1000000", "1e30": "1e+30", " a ": "a", "1e-7": "1e-07",
	} {
		require.Equal(t, tidyLabel(strings.TrimSpace(in)), want, "%q", in)
		require.Equal(t, tidyLabel(want), want, "%s is not settled", strconv.Quote(want))
	}
}
