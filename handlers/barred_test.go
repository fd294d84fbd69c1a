package handlers_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/httprate"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// Whom the operator has shut out gets 403 everywhere, and nobody else.
func TestBarred(t *testing.T) {
	t.Parallel()
	for _, address := range []bool{false, true} {
		s := handlerstest.Serve(t, false)
		bar := func() error { return s.App.Store.BarWorkspace(t.Context(), store.WorkspaceOf(handlerstest.Bob), true) }
		if address {
			bar = func() error {
				for _, ip := range []string{"127.0.0.1", "2001:db8:1:2:3::4", "::ffff:192.0.2.7"} {
					kept, err := s.App.Store.BarAddress(t.Context(), ip, true)
					if err != nil {
						return err
					}
					seen, err := httprate.KeyByIP(&http.Request{RemoteAddr: net.JoinHostPort(strings.TrimPrefix(ip, "::ffff:"), "1234")}) // what web.Address is
					require.Check(t, err == nil && kept == seen,
						"%s is kept as %s, and seen as %s (%v)", ip, kept, seen, err)
				}
				return nil
			}
		}
		require.NoError(t, bar())
		alice, bob := s.As(t, handlerstest.Alice), s.As(t, handlerstest.Bob)
		for _, path := range []string{"/", "/lab", "/runs", "/api/runs"} {
			bob.Says(http.StatusForbidden, "The operator of this server has blocked", "GET", path, "")
			want := lists.Either(address, http.StatusForbidden, http.StatusOK)
			alice.Want(want, "GET", path, "")
		}
		alice.Want(http.StatusOK, "GET", "/healthz", "")
	}
}

// The headings of error pages are in sentence case, also where they are the words of HTTP.
func TestErrorTitles(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	for _, test := range []struct{ method, path, title string }{
		{"GET", "/nothing", "Not found"}, {"DELETE", "/runs", "Method not allowed"},
	} {
		require.Equal(t, c.Do(test.method, test.path, "x").HTML().Find("h1").Text(), test.title, "%s %s", test.method, test.path)
	}
}
