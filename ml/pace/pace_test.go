package pace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml/mltest/require"
)

// work calls Look n times, each after a millisecond of work.
func work(ctx context.Context, n int) <-chan error {
	done := make(chan error, 1)
	go func() {
		for range n {
			time.Sleep(time.Millisecond)
			if err := Look(ctx); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	return done
}

// Work is paused as long as anything urgent runs.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		begin := time.Now()
		behind := work(g.Behind(t.Context(), 1), 100)
		free := work(t.Context(), 100)
		time.Sleep(50*time.Millisecond + time.Microsecond)
		first := g.Urgent()
		time.Sleep(20 * time.Millisecond)
		second := g.Urgent()
		first()
		time.Sleep(20 * time.Millisecond)
		second()
		if err := <-free; err != nil || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("what is behind no gate took %v: %v", time.Since(begin), err)
		}
		err := <-behind
		require.Check(t, err == nil && time.Since(begin).Round(time.Millisecond) == 139*time.Millisecond, "what is behind the gate took %v: %v", time.Since(begin), err)
	})
}

// Work makes progress however much is urgent, also if spread over goroutines.
func TestGetsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		defer g.Urgent()()
		begin := time.Now()
		ctx := g.Behind(t.Context(), 3)
		child, cancel := context.WithCancel(context.WithoutCancel(ctx)) // derived contexts as well
		defer cancel()
		one, two := work(ctx, 100), work(child, 100)
		<-one
		<-two
		took := time.Since(begin)
		require.Check(t, took >= 380*time.Millisecond && took <= 420*time.Millisecond, "100 ms of work took %v", took)
	})
}

// Cancelled work is no longer paused.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		defer g.Urgent()()
		ctx, cancel := context.WithCancel(t.Context())
		behind := g.Behind(ctx, 1)
		time.Sleep(time.Hour)
		w := work(behind, 1)
		time.Sleep(time.Second)
		cancel()
		begin := time.Now()
		err := <-w
		require.Check(t, err == context.Canceled && time.Since(begin) <= 0, "%v after %v", err, time.Since(begin))
	})
}

// Work behind two gates waits at both. Waiting at a strict one does not count as working time.
func TestTwoGates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var outer, inner Gate
		begin := time.Now()
		ctx := inner.Strictly(outer.Behind(t.Context(), 1))
		reopen := inner.Urgent()
		defer outer.Urgent()()
		w := work(ctx, 10)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Check(t, len(w) == 0, "a strict gate has let work pass")
		reopen()
		err := <-w
		require.Check(t, err == nil && time.Since(begin) >= time.Hour && time.Since(begin) <= time.Hour+25*time.Millisecond, "it took %v: %v", time.Since(begin), err)
	})
}
