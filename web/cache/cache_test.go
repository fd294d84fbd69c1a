package cache

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"marginlab/ml/mltest/require"
)

// Simultaneous requests for one thing compute it once.
func TestRecentComputesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New[int](2)
		var calls atomic.Int32
		release := make(chan struct{})
		slow := func(context.Context) (int, error) {
			calls.Add(1)
			<-release
			return 7, nil
		}
		got := make(chan int)
		for range 5 {
			go func() {
				v, err := c.Get(t.Context(), "a", slow)
				require.Equal(t, err, nil, "err")
				got <- v
			}()
		}
		synctest.Wait()
		close(release)
		for range 5 {
			require.Equal(t, <-got, 7, "<-got")
		}
		v, err := c.Get(t.Context(), "a", slow)
		require.Check(t, v == 7 && err == nil && calls.Load() == 1, "later: %d, %v; computed %d times", v, err, calls.Load())
	})
}

// One who leaves takes nothing away from the others; the last one ends the work.
func TestRecentEndsWithTheLastWaiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := New[int](2)
		ended := make(chan error, 1)
		slow := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return 1, nil // as solvers do: what they have so far
		}
		first, leave := context.WithCancel(t.Context())
		second, leaveToo := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		for _, ctx := range []context.Context{first, second} {
			go func() {
				_, err := c.Get(ctx, "a", slow)
				errs <- err
			}()
		}
		synctest.Wait()
		leave()
		require.Is(t, <-errs, context.Canceled, "who left")
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("the work ended (%v) while somebody waited", err)
		default:
		}
		leaveToo()
		require.Is(t, <-ended, context.Canceled, "the work ended")
		<-errs
		v, err := c.Get(t.Context(), "a", func(context.Context) (int, error) { return 2, nil })
		require.Check(t, v == 2 && err == nil, "what was given up is kept: %d, %v", v, err)
	})
}

// Errors are not kept, and everybody who waited gets the panic.
func TestRecentFaults(t *testing.T) {
	t.Parallel()
	c := New[int](2)
	wrong := errors.New("wrong")
	_, err := c.Get(t.Context(), "a", func(context.Context) (int, error) { return 0, wrong })
	require.Check(t, err == wrong, "error %v", err)
	func() {
		defer func() {
			v, _ := recover().(string)
			require.Check(t, strings.Contains(v, "index out of order") && strings.Contains(v, "cache_test.go"), "recovered %q", v)
		}()
		_, _ = c.Get(t.Context(), "a", func(context.Context) (int, error) { panic("index out of order") })
	}()
	if v, err := c.Get(t.Context(), "a", func(context.Context) (int, error) { return 3, nil }); v != 3 || err != nil {
		t.Errorf("afterwards: %d, %v", v, err)
	}
	// The latest two stay.
	for _, key := range []string{"b", "c"} {
		_, _ = c.Get(t.Context(), key, func(context.Context) (int, error) { return 1, nil })
	}
	v, _ := c.Get(t.Context(), "a", func(context.Context) (int, error) { return 4, nil })
	require.Check(t, v == 4, "the oldest is still there: %d", v)
	// What was forgotten is computed again, also if it was forgotten meanwhile.
	c.Forget("a")
	for _, key := range []string{"a", "d"} {
		_, _ = c.Get(t.Context(), key, func(context.Context) (int, error) { c.Forget("d"); return 5, nil })
		v, _ = c.Get(t.Context(), key, func(context.Context) (int, error) { return 6, nil })
		require.Check(t, v == map[string]int{"a": 5, "d": 6}[key], "%s: %d", key, v)
	}
}

// The oldest values go once all together weigh too much, one that is too heavy at once.
func TestRecentWeighs(t *testing.T) {
	t.Parallel()
	c := NewWeighed(10, func(v int) int { return v })
	computed := 0
	get := func(v int) {
		t.Helper()
		got, err := c.Get(t.Context(), strconv.Itoa(v), func(context.Context) (int, error) { computed++; return v, nil })
		require.Check(t, got == v && err == nil, "%d, %v", got, err)
	}
	for i, step := range []struct{ value, computed int }{
		{4, 1}, {5, 2}, {4, 2}, {3, 3}, {4, 3}, {5, 4}, {11, 5}, {11, 6}, {4, 7}, {1, 8},
	} {
		get(step.value)
		require.Check(t, computed == step.computed, "step %d: computed %d times, want %d", i, computed, step.computed)
	}
	require.Check(t, c.weight == 5 && c.order.Len() == 2 && len(c.byKey) == 2,
		"%d values weigh %d", c.order.Len(), c.weight)
}
