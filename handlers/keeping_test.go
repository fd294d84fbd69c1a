package handlers

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"marginlab/ml/dataset"
	"marginlab/store"
)

// Whoever only looks has used the workspace as well.
func TestUseIsNoted(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	s.app.Store.Now = func() time.Time { return now }
	c := s.client(t, alice)
	c.want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", "x,y,c\n1,2,a\n3,4,b\n")
	seen := func() time.Time {
		h, err := s.app.Store.Holdings(t.Context(), store.WorkspaceOf(alice))
		if err != nil {
			t.Fatal(err)
		}
		return h.Seen
	}
	for _, hours := range []int{30, 100 * 24} {
		now = now.Add(time.Duration(hours) * time.Hour)
		c.want(http.StatusOK, "GET", "/datasets", "")
		if !seen().Equal(now) {
			t.Errorf("last used %v, and looked at %v", seen(), now)
		}
	}
}

// A server whose data directory was taken away promises nothing, and says that it is
// not well.
func TestDirectoryTakenAway(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c := s.client(t, alice)
	const points = "x,y,c\n1,2,a\n3,4,b\n"
	c.want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", points)
	c.want(http.StatusOK, "GET", "/healthz", "")
	if err := os.RemoveAll(filepath.Dir(s.app.Store.Path())); err != nil {
		t.Fatal(err)
	}
	c.want(http.StatusInsufficientStorage, "POST", "/api/datasets?name=b.csv", points)
	c.want(http.StatusInsufficientStorage, "GET", "/healthz", "")
	c.want(http.StatusOK, "GET", "/", "") // pages can still be looked at
}
