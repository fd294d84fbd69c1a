package lessons

import (
	"errors"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestMemo computes again after an error and once after success, and keeps no more than its limit.
func TestMemo(t *testing.T) {
	t.Parallel()
	var m Memo[int, int]
	computed, fault := 0, errors.ErrUnsupported
	for key := range 2 * memoLimit {
		for range 3 {
			_, err := Caught(func() int { return m.Get(key, func() int { computed++; return Must(0, fault) }) })
			require.Must(t, errors.Is(err, fault) && len(m.kept) <= memoLimit,
				"error %v, %d results are kept", err, len(m.kept))
			fault = nil
		}
	}
	require.Equal(t, computed, 2*memoLimit+1, "computed … times, want once for each key and again after the fault")
}
