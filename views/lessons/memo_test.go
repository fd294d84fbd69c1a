package lessons

import (
	"errors"
	"testing"
)

// TestMemo computes once for each key, again after an error, and keeps no more than its limit.
func TestMemo(t *testing.T) {
	t.Parallel()
	var m Memo[int, int]
	computed := 0
	get := func(key int, fault error) (int, error) {
		return m.Get(key, func() (int, error) {
			computed++
			return 2 * key, fault
		})
	}
	if _, err := get(1, errors.ErrUnsupported); err == nil {
		t.Error("the fault is lost")
	}
	for range 3 {
		if v, err := get(1, nil); v != 2 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
	}
	if computed != 2 {
		t.Errorf("computed %d times, want once more than it failed", computed)
	}
	for key := range 2 * memoLimit {
		_, _ = get(key, nil)
		if len(m.kept) > memoLimit {
			t.Fatalf("%d results are kept", len(m.kept))
		}
	}
}
