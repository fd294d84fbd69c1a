package frame

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/store/storetest"
)

// lookup is a context that delays a lookup in the store until all others have come as far.
type lookup struct {
	context.Context
	others *sync.WaitGroup
}

func (l lookup) Value(key any) any {
	if fmt.Sprintf("%T", key) == "store.transactionKey" {
		l.others.Done()
		l.others.Wait()
	}
	return l.Context.Value(key)
}

// Wrong codes that arrive at the same moment are limited like successive ones.
func TestWrongCodesAtOnce(t *testing.T) {
	t.Parallel()
	st := storetest.Open(t, t.TempDir(), store.Open)
	a := &Base{Store: st, codes: newCodes()}
	var told atomic.Int64
	var group, others sync.WaitGroup
	others.Add(2 * wrongCodes)
	for range 2 * wrongCodes {
		group.Go(func() {
			if _, err := a.FindCourse(lookup{t.Context(), &others}, "BCDFGH"); errors.Is(err, store.ErrNotFound) {
				told.Add(1)
			}
		})
	}
	group.Wait()
	require.Check(t, told.Load() <= wrongCodes+10, "%d of %d codes were called wrong, %d may be", told.Load(), 2*wrongCodes, wrongCodes) // one more every three seconds
}
