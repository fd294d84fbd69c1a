package cmdline

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// The progress of a plot names scoring and drawing, and an interrupted one leaves no file.
func TestPlotIsFollowed(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 40, 0.1, 1))(t)
	spec := ml.DefaultSpec()
	res := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
	std, path := Streams{Out: io.Discard, Err: io.Discard}, filepath.Join(t.TempDir(), "p.svg")
	var b strings.Builder
	clock := time.Unix(0, 0)
	p := &progress{w: &b, now: func() time.Time { clock = clock.Add(time.Second); return clock }}
	for looks := int64(0); ; looks++ {
		err := plot(mltest.NewLooks(t.Context(), looks), std, p, path, &paper{}, d, spec, res)
		if err == nil {
			break
		}
		require.Is(t, err, context.Canceled, "after %d looks", looks)
		_, err = os.Stat(path)
		require.Check(t, os.IsNotExist(err), "a file after %d looks", looks)
	}
	require.Says(t, b.String(), "Scoring: 0 of 40 rows", "progress")
	require.Says(t, b.String(), "Drawing: 0 of ", "progress")
}
