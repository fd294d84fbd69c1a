package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	alice, bob := WorkspaceOf("alice"), WorkspaceOf("bob")
	save := func(ws Workspace, question, given string, right bool) {
		t.Helper()
		require.NoError(t, s.SaveAnswer(t.Context(), ws, question, Answer{Given: given, Right: right}))
	}
	want := func(ws Workspace, want map[string]Answer) {
		t.Helper()
		got, err := s.Answers(t.Context(), ws)
		diff := cmp.Diff(want, got)
		require.Check(t, err == nil && diff == "", "%v %s", err, diff)
	}
	save(alice, "margins/line/distance", "2", true)
	save(alice, "margins/line/distance", "3", false) // the last answer counts
	save(alice, "margins/canonical/width", "4", true)
	save(alice, "margins-of-error/a/b", "0", true)
	save(bob, "margins/line/distance", "2", true)
	want(alice, map[string]Answer{
		"margins/line/distance": {"3", false}, "margins/canonical/width": {"4", true}, "margins-of-error/a/b": {"0", true},
	})
	require.NoError(t, s.ForgetAnswers(t.Context(), alice, "margins"))
	want(alice, map[string]Answer{"margins-of-error/a/b": {"0", true}})
	want(bob, map[string]Answer{"margins/line/distance": {"2", true}})
	want(WorkspaceOf("nobody"), map[string]Answer{})

	require.NoError(t, s.Close())
	s = open(t, dir)
	want(bob, map[string]Answer{"margins/line/distance": {"2", true}})
}
