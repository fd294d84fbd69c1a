package web

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml/mltest/require"
)

// Each key has its burst, then one event per interval.
func TestLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(3, time.Minute)
		for range 3 {
			require.Equal(t, l.Take("a"), 0, "wait within the burst")
		}
		for range 2 { // a refusal does not count
			wait := l.Take("a")
			require.Check(t, wait == time.Minute && l.Wait("a") == wait, "beyond the burst: wait %v", wait)
		}
		require.Check(t, l.Wait("b") == 0 && l.Take("b") == 0, "another key waits")
		time.Sleep(40 * time.Second)
		require.Equal(t, l.Wait("a").Round(time.Second), 20*time.Second, "after 40 s: wait")
		time.Sleep(21 * time.Second)
		require.Check(t, l.Wait("a") == 0 && l.Take("a") == 0 && l.Take("a") != 0,
			"after a minute there is not one more")
	})
}

// If there are many keys, those with their full burst are forgotten; others are forgotten before
// memory grows without bound.
func TestLimiterForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(1, time.Minute)
		for i := range maxLimited {
			l.Take(fmt.Sprint(i))
		}
		time.Sleep(time.Minute)
		for i := range maxLimited {
			l.Take(fmt.Sprint("later ", i))
		}
		require.Check(t, l.Wait("later 0") != 0, "a key that has none left was forgotten for those that have")
		l.Take("one more")
		n := len(l.left)
		require.Check(t, n <= maxLimited, "%d keys are remembered", n)
	})
}
