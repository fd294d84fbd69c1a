package rows

import (
	"testing"

	"marginlab/ml/mltest/require"
)

// TestCacheGrows fills a small cache, requests rows again, and finds them unchanged.
func TestCacheGrows(t *testing.T) {
	t.Parallel()
	const m = 40
	fills := 0
	c := NewCache(m, NewMemory[float32](nil, m, 1<<20), func(dst []float32, i int) error {
		fills++
		for j := range dst {
			dst[j] = float32(i)
		}
		return nil
	})
	c.size = 10
	for round := range 8 {
		for i := range m {
			r, err := c.Row(i)
			require.Must(t, err == nil && r[0] == float32(i) && r[m-1] == float32(i),
				"round %d: row %d is %v, %v", round, i, r, err)
		}
	}
	require.Check(t, c.size == m && fills < 8*m, "room for %d rows of %d after %d fills", c.size, m, fills)
}
