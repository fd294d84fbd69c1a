package lessons

import (
	"context"
	"testing"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// A boundary may be that of a large run of the workspace: it stops with its request.
func TestBoundaryStops(t *testing.T) {
	t.Parallel()
	f := TrainLinear(t.Context(), Separable).Boundary("boundary", "", nil)
	look := Look{Width: 160, Height: 120}
	require.Value(f.Draw(look.Within(t.Context())))(t)
	require.Is(t, require.Err(f.Draw(look.Within(mltest.Ended()))), context.Canceled, "an ended request")
}
