package store

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
	"marginlab/store/storetest"
)

func TestUploads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.Open(t, t.TempDir(), Open)
	mine, other := WorkspaceOf("mine"), WorkspaceOf("other")
	body := []byte("a,b,c\n1,2,x\n")

	id := require.Value(s.SaveUpload(ctx, mine, "points\n.csv", bytes.NewReader(body)))(t)
	file, kept, err := s.Upload(ctx, mine, id)
	require.NoError(t, err)
	require.Check(t, kept.Len() == len(body), "the file tells of %d bytes instead of %d", kept.Len(), len(body))
	if got, err := io.ReadAll(kept); err != nil || file != "points .csv" || !bytes.Equal(got, body) {
		t.Fatalf("Upload = %q, %q, %v", file, got, err)
	}
	require.Is(t, require.Err3(s.Upload(ctx, other, id)), ErrNotFound, "another workspace reads the file")
	require.Is(t, s.DeleteUpload(ctx, other, id), ErrNotFound, "another workspace deletes the file")

	later := time.Now().Add(2 * uploadLife)
	s.Now = func() time.Time { return later }
	second := require.Value(s.SaveUpload(ctx, mine, "next.csv", bytes.NewReader(body)))(t)
	require.Is(t, require.Err3(s.Upload(ctx, mine, id)), ErrNotFound, "a file two days old is still kept")
	require.Equal(t, s.DeleteUpload(ctx, mine, second), nil, "s.DeleteUpload")
}
