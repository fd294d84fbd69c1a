//go:build unix

package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"marginlab/ml/mltest/require"
)

// The error for a directory without write permission names it. A read-only database can be checked.
func TestReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	dir, out := unwritable(t, "open")
	require.SaysAll(t, out, []string{dir, ErrReadOnly.Error()}, "opening")
	_, out = unwritable(t, "check")
	require.Equal(t, strings.TrimSpace(out), "whole", "checking")
}

// unwritable runs a command on a data directory as a user without write permission, and returns the
// output.
func unwritable(t *testing.T, does string) (dir, said string) {
	t.Helper()
	dir = require.Value(os.MkdirTemp("", "readonly"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, open(t, dir).Close())
	db := filepath.Join(dir, "marginlab.db")
	cmd := exec.Command(require.Value(os.Executable())(t))
	cmd.Env = append(os.Environ(), childEnv+"="+does+" "+dir)
	require.NoError(t, os.Chmod(db, 0o444))
	require.NoError(t, os.Chmod(dir, 0o555))
	if os.Geteuid() == 0 { // root may write anywhere: run as nobody
		cmd.Path = "/proc/self/exe"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if _, ok := err.(*exec.ExitError); !ok {
		t.Skipf("cannot run as another user: %v", err)
	}
	return dir, string(out)
}
