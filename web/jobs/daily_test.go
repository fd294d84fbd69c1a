package jobs

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/store/storetest"
)

// Only workspaces unused for the given time are deleted, a day after being marked.
func TestRetain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.Open(t, t.TempDir(), store.Open)
	d := require.Value(dataset.Generate("moons", 20, 0.1, 1))(t)
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	st.Now = func() time.Time { return now }
	old, young := store.WorkspaceOf("old"), store.WorkspaceOf("young")
	for _, ws := range []store.Workspace{old, young} {
		require.Value(st.CreateDataset(ctx, ws, "moons", "generated", d))(t)
		now = now.AddDate(0, 0, 20)
	}
	const month = 30 * 24 * time.Hour
	for _, want := range []int{1, 0, 0} { // marked, and deleted a day later
		retain(ctx, st, month, slog.New(slog.DiscardHandler))
		for ws, want := range map[store.Workspace]int{old: want, young: 1} {
			h, err := st.Holdings(ctx, ws)
			require.Check(t, h.Datasets == want && err == nil, "%v left, want %d; %v", h, want, err)
		}
		now = now.Add(store.UndoFor)
	}
	stopped := make(chan struct{})
	ending, stop := context.WithCancel(ctx)
	go func() { defer close(stopped); Daily(ending, st, month, slog.New(slog.DiscardHandler)) }()
	stop()
	<-stopped
}
