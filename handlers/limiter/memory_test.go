package limiter

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// TestAdmit fills the memory: small work is admitted; large work waits, and is refused after the
// time limit.
func TestAdmit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewMemory(0)
		leave, err := a.Admit(t.Context(), httptest.NewRecorder(), 2*largeMemory) // all of it
		require.NoError(t, err)
		_, err = a.Admit(t.Context(), httptest.NewRecorder(), smallMemory)
		require.Check(t, err == nil, "what is small: %v", err)
		w := httptest.NewRecorder()
		if _, err := a.Admit(t.Context(), w, 10<<20); err == nil || !strings.Contains(err.Error(), "this one waited for 40 seconds") || w.Header().Get("Retry-After") != "30" {
			t.Errorf("waited too long: %v, %v", err, w.Header())
		}
		require.Is(t, require.Err(a.Admit(mltest.Ended(), httptest.NewRecorder(), 10<<20)), context.Canceled, "gone")
		admitted := make(chan error)
		go func() {
			_, err := a.Admit(t.Context(), httptest.NewRecorder(), 10<<20)
			admitted <- err
		}()
		synctest.Wait()
		leave()
		require.Equal(t, <-admitted, nil, "when there is room again")
	})
}
