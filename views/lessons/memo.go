package lessons

import "sync"

// Memo keeps small results that inputs of a demo share. Errors are not kept. The zero value
// is ready to use.
type Memo[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

// memoLimit is how many results a Memo keeps at most.
const memoLimit = 4096

// Get returns the result that is kept under a key, or else computes it. Callers do not wait for
// each other: two at once may compute the same.
func (m *Memo[K, V]) Get(key K, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	v, ok := m.kept[key]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := compute()
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.kept == nil || len(m.kept) >= memoLimit {
			m.kept = make(map[K]V)
		}
		m.kept[key] = v
	}
	return v, err
}
