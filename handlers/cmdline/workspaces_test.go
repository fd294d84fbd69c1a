package cmdline_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// The operator lists the workspaces of a server that runs, shuts one out, and lets it in again.
func TestWorkspaces(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	dir := filepath.Dir(s.App.Store.Path())
	alice, bob := s.As(t, handlerstest.Alice), s.As(t, handlerstest.Bob)
	alice.Upload("name=square", handlerstest.Square)
	bob.Upload("name=square", handlerstest.Square)
	bob.Train(`{"dataset":"moons"}`)
	lines := strings.Split(strings.TrimSpace(must(t, "workspaces", "--data-dir", dir)), "\n")
	require.Must(t, len(lines) == 2 && strings.Contains(lines[0], "1 data set, 1 run") && strings.Contains(lines[1], "1 data set, ") && !strings.Contains(lines[1], "run"),
		"the list says %q", lines)
	name, _, _ := strings.Cut(lines[0], ",")
	require.Says(t, must(t, "workspaces", "--block", name, "--data-dir", dir), name, "block")
	require.Says(t, must(t, "workspaces", "--data-dir", dir), ", blocked\n", "the list")
	alice.Want(http.StatusOK, "GET", "/api/runs", "") // the list of the server may be five seconds old for bob
	require.Says(t, must(t, "workspaces", "--unblock", name, "--block-address", "192.0.2.7", "--data-dir", dir), "192.0.2.7", "unblock")
	out := must(t, "workspaces", "--data-dir", dir)
	require.Check(t, !strings.Contains(out, "run, blocked") && strings.Contains(out, "address 192.0.2.7, blocked"), "the list says %q", out)
	for _, bad := range [][]string{{"--block", "abc"}, {"--block", "ffffffffffff"}, {"--block-address", "here"}} {
		o := run(t.Context(), "", append([]string{"workspaces", "--data-dir", dir}, bad...)...)
		require.Check(t, o.code == 1 && o.err != "", "%q: %d %s", bad, o.code, o.err)
	}
}
