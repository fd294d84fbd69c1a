package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// TestUndoWorksForADay: deleted items are not found; they can be restored for a day and are then
// purged.
func TestUndoWorksForADay(t *testing.T) {
	s, ctx, now := stopped(t)
	s.Quota = Quota{Datasets: 2, Runs: 3, Bytes: 1 << 30}
	set := require.Value(s.CreateDataset(ctx, alice, "set", "", sample(1)))(t)
	ofSet := require.Value(s.saveRun(ctx, alice, NewRun{Name: "of the set", Dataset: set.ID, Spec: ml.DefaultSpec(), Tags: []string{"x"}}, sampleResult(1, 1)))(t)
	waits := require.Value(s.CreateRun(ctx, alice, NewRun{Name: "waits", Data: sample(2), Spec: ml.DefaultSpec(), Request: Request{Key: "r"}}))(t)
	share := require.Value(s.ShareRun(ctx, alice, ofSet.ID))(t)
	course := require.Value(s.CreateCourse(ctx, alice, NewCourse{Title: "course", Target: "/lab"}))(t)

	before := require.Value(s.Run(ctx, alice, ofSet.ID))(t)
	require.NoError(t, s.DeleteRuns(ctx, alice, []string{ofSet.ID, waits.ID}))
	require.NoError(t, s.DeleteDataset(ctx, alice, set.ID)) // at the same moment: another deletion
	*now = now.Add(time.Hour)
	require.NoError(t, s.DeleteCourse(ctx, course.Code))

	// Deleted items are not found.
	for what, err := range map[string]error{
		"run":       require.Err(s.Run(ctx, alice, ofSet.ID)),
		"shared":    require.Err(s.SharedRun(ctx, share)),
		"data set":  require.Err(s.Dataset(ctx, alice, set.ID)),
		"course":    require.Err(s.Course(ctx, course.Code)),
		"its token": require.Err(s.TaughtCourse(ctx, course.Token)),
	} {
		require.Check(t, errors.Is(err, ErrNotFound), "%s: %v", what, err)
	}
	_, ok := s.claimRun(t, owner)
	require.Check(t, !ok, "a deleted run is trained")
	h := require.Value(s.Holdings(ctx, alice))(t)
	require.Check(t, h.Runs+h.Datasets+h.Courses == 0 && h.Bytes == 0, "holdings %v", h)
	require.Slices(t, require.Value(s.Tags(ctx, alice))(t), nil, "tags")

	list := require.Value(s.Deletions(ctx, alice))(t)
	require.Must(t, len(list) == 3 && list[0].Courses == 1 && list[1].Datasets == 1 && list[2].Runs == 2 && slices.Equal(list[2].Names, []string{"of the set", "waits"}),
		"deletions %+v", list)
	wantErr(t, require.Err(s.Restore(ctx, bob, list[2].At)), ErrNotFound)

	// The same request creates another run; restoring needs room.
	require.Value(s.CreateRun(ctx, alice, NewRun{Name: "waits", Data: sample(2), Spec: ml.DefaultSpec(), Request: Request{Key: "r"}}))(t)
	require.Value(s.CreateRun(ctx, alice, NewRun{Name: "third", Data: sample(2), Spec: ml.DefaultSpec()}))(t)
	var full *Error
	_, err := s.Restore(ctx, alice, list[2].At)
	require.Check(t, errors.As(err, &full) && full.Kind() == "storage", "over the quota: %v", err)
	s.Quota.Runs = 4
	d := require.Value(s.Restore(ctx, alice, list[2].At))(t)
	require.Check(t, d.Runs == 2, "restored %+v", d)
	wantErr(t, require.Err(s.Restore(ctx, alice, list[2].At)), ErrNotFound)
	got := require.Value(s.Run(ctx, alice, ofSet.ID))(t)
	require.Check(t, got.Dataset == "" && got.Share == share && got.Model != nil, "the run came back as %+v", got)
	r := require.Value(s.Run(ctx, alice, waits.ID))(t)
	require.Check(t, r.Status == Cancelled && !r.Finished.IsZero(), "the run that waited is %s, ended %v", r.Status, r.Finished)
	require.Value(s.Restore(ctx, alice, list[1].At))(t)
	got = require.Value(s.Run(ctx, alice, ofSet.ID))(t)
	require.Check(t, got.Dataset == before.Dataset, "its data set is %q, was %q", got.Dataset, before.Dataset)

	// A day later the course cannot be restored, and is then purged.
	*now = now.Add(UndoFor)
	wantErr(t, require.Err(s.Restore(ctx, alice, list[0].At)), ErrNotFound)
	n := require.Value(s.Forget(ctx, now.Add(-UndoFor+time.Millisecond)))(t)
	require.Check(t, n == 1 && count(t, s, "courses") == 0, "%d things forgotten", n)
}

// TestDeletedIsBounded: creating and deleting items never takes more than twice the quota; the oldest
// deleted items make room for new ones.
func TestDeletedIsBounded(t *testing.T) {
	s := fresh(t)
	s.Quota = Quota{Datasets: 3}
	for i := range 10 {
		set := require.Value(s.CreateDataset(t.Context(), alice, fmt.Sprint(i), "", sample(float64(i))))(t)
		require.NoError(t, s.DeleteDataset(t.Context(), alice, set.ID))
	}
	n, points := count(t, s, "datasets"), count(t, s, "points")
	require.Check(t, n == 3 && points == 3, "%d data sets and %d point sets are kept", n, points)
	list := require.Value(s.Deletions(t.Context(), alice))(t)
	require.Check(t, len(list) == 3 && list[0].Names[0] == "9" && list[2].Names[0] == "7", "deletions %+v", list)
	s.Quota = Quota{Bytes: 1}
	for i := range 10 {
		code := require.Value(s.CreateCourse(t.Context(), alice, NewCourse{Title: "c", Target: "/lab", Points: sample(float64(i)), Data: "d"}))(t).Code
		require.NoError(t, s.DeleteCourse(t.Context(), code))
	}
	n, points = count(t, s, "courses"), count(t, s, "points")
	require.Check(t, n == 1 && points == 1, "%d courses and %d point sets are kept", n, points)
	require.NoError(t, s.DeleteWorkspace(t.Context(), alice))
	require.Equal(t, count(t, s, "datasets")+count(t, s, "points"), 0, "… left of a deleted workspace")
}
