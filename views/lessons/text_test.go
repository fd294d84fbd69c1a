package lessons

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestHints: the spoken form of a text includes its hints, without marks.
func TestHints(t *testing.T) {
	t.Parallel()
	const text = "The *probe*. ~Drag $x$.~"
	require.Equal(t, Spoken(text), "The probe. Drag x.", "spoken")
	require.Equal(t, Printed(text), "The *probe*.", "printed")
	require.Equal(t, Printed("~All of it.~"), "", "a hint printed")
	got, err := rendered(t, Text(Literal("a~b")))
	require.Check(t, err == nil && !strings.Contains(got, "~"), "a name: %q, %v", got, err)
}
