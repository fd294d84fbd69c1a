package store

import (
	"strings"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
)

// TestLinks: a link gives anyone its points, outlives the data set, and deletes the points with
// itself; a repeated request creates one link.
func TestLinks(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	d := sample(1)
	n := NewLink{Title: strings.Repeat("long ", 60), Target: "/lab?C=2", Points: d, Data: "mine"}
	l := require.Value(s.CreateLink(ctx, alice, n))(t)
	require.Check(t, len(l.Token) == 16 && len([]rune(l.Title)) <= maxName, "%+v", l)
	again, err := s.CreateLink(ctx, alice, n)
	require.Check(t, err == nil && again.Token == l.Token, "asked twice: %v, %v", again, err)
	other, err := s.CreateLink(ctx, bob, n)
	require.Check(t, err == nil && other.Token != l.Token, "of another workspace: %v, %v", other, err)
	got, err := s.Link(ctx, l.Token)
	require.Must(t, err == nil && got.Hash == d.Hash() && got.Target == "/lab?C=2", "%+v, %v", got, err)
	require.Is(t, s.DeleteLink(ctx, bob, l.Token), ErrNotFound, "deleted by another")
	require.NoError(t, s.DeleteLink(ctx, alice, l.Token))
	require.Is(t, require.Err(s.Link(ctx, l.Token)), ErrNotFound, "after deletion")
	require.Equal(t, require.Err(s.Data(ctx, d.Hash())), nil, "points of the other's link")
	require.NoError(t, s.DeleteWorkspace(ctx, bob))
	require.Is(t, require.Err(s.Data(ctx, d.Hash())), ErrNotFound, "points of nobody")
	links, err := s.Links(ctx, bob)
	require.Check(t, err == nil && len(links) == 0, "%v, %v", links, err)
	require.Fails(t, require.Err(s.CreateLink(ctx, alice, NewLink{Title: "x", Target: "//elsewhere"})), "",
		"a link leads elsewhere")

	public, err := s.CreateLink(ctx, alice, NewLink{Title: "x", Target: "/lab?data=moons"})
	require.Check(t, err == nil && public.Hash == "", "%+v, %v", public, err)
	unseen, err := s.Unseen(ctx, time.Now().Add(time.Hour))
	require.Check(t, err == nil && len(unseen) == 1, "workspaces with links: %v, %v", unseen, err)
}
