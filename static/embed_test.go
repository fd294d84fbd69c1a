package static

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestStyleSheetNests finds a brace that is missing or one too many: what begins in the first
// column stands in no other block.
func TestStyleSheetNests(t *testing.T) {
	t.Parallel()
	css := require.Value(Files.ReadFile("app.css"))(t)
	depth := 0
	for i, line := range strings.Split(string(css), "\n") {
		require.Must(t, line == "" || strings.ContainsAny(line[:1], " \t}/*") || depth == 0,
			"app.css, line %d: %q begins %d blocks deep; close the block above or indent the line", i+1, line, depth)
		depth += strings.Count(line, "{") - strings.Count(line, "}")
	}
	require.Equal(t, depth, 0, "app.css ends … blocks deep")
}
