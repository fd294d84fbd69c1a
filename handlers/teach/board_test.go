package teach

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// However many answer and watch, answers are counted five times a second, every change is
// told, and to students only what concerns them.
func TestBoardCountsSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var counted, answers atomic.Int64
		b := newBoard(func(_ context.Context, code string) (store.Tally, error) {
			counted.Add(1)
			return store.Tally{Poll: store.Poll{ID: 1, Course: code, Round: 1, Open: true}, Rounds: []map[string]int{{"0": int(answers.Load())}}}, nil
		})
		ctx, leave := context.WithCancel(t.Context())
		var seen [20]atomic.Int64
		var phases atomic.Int64
		for i := range seen {
			go func() {
				for tally := range b.watch(ctx, "A", true) {
					seen[i].Store(int64(tally.Total(1)))
				}
			}()
			go func() {
				for range b.watch(ctx, "A", false) {
					phases.Add(1)
				}
			}()
		}
		for range 200 {
			answers.Add(1)
			b.changed("A")
			b.changed("nobody watches")
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(countEvery)
		synctest.Wait()
		n := counted.Load()
		require.Check(t, n <= 55 && n >= 40, "counted %d times in ten seconds", n)
		for i := range seen {
			require.Equal(t, seen[i].Load(), 200, "watcher %d has seen … answers", i)
		}
		require.Check(t, phases.Load() == int64(len(seen)),
			"%d students were told %d times what had not changed", len(seen), phases.Load())
		leave()
		synctest.Wait()
		time.Sleep(countEvery)
		before := counted.Load()
		b.changed("A")
		synctest.Wait()
		require.Check(t, counted.Load() == before && len(b.courses) == 0, "it is counted for nobody")
	})
}
