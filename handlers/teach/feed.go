package teach

import (
	"context"
	"sync"
)

// feed broadcasts the events of a course to its current listeners. It stores nothing and is safe
// for concurrent use.
type feed[T any] struct {
	mu      sync.Mutex
	readers map[string]map[chan T]struct{} // by course code
}

// send sends v to the readers of a course. A reader that is behind misses the oldest value.
func (f *feed[T]) send(code string, v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for ch := range f.readers[code] {
		if len(ch) == cap(ch) {
			select {
			case <-ch:
			default:
			}
		}
		ch <- v
	}
}

// listen returns a channel of first and the values sent from now on. A reader may lag size values
// behind before it misses the oldest. The channel is closed when ctx ends.
func (f *feed[T]) listen(ctx context.Context, code string, size int, first ...T) <-chan T {
	ch := make(chan T, size)
	for _, v := range first {
		ch <- v
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == nil {
		f.readers = map[string]map[chan T]struct{}{}
	}
	if f.readers[code] == nil {
		f.readers[code] = map[chan T]struct{}{}
	}
	f.readers[code][ch] = struct{}{}
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers[code], ch)
		close(ch)
		if len(f.readers[code]) == 0 {
			delete(f.readers, code)
		}
	})
	return ch
}
