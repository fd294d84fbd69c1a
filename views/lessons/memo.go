package lessons

import "sync"

// Memo caches small results shared by inputs of a demo. Computations that end with Must or Check
// are not cached. The zero value is ready to use.
type Memo[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

// memoLimit is the maximum number of results in a Memo.
const memoLimit = 4096

// Get returns the cached result of a key, or computes it. Callers do not wait for each other:
// concurrent ones may compute the same.
func (m *Memo[K, V]) Get(key K, compute func() V) V {
	m.mu.Lock()
	v, ok := m.kept[key]
	m.mu.Unlock()
	if ok {
		return v
	}
	v = compute()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= memoLimit {
		m.kept = make(map[K]V)
	}
	m.kept[key] = v
	return v
}
