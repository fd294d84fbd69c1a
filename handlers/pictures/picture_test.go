package pictures

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

// Escaped text comes back, and nothing is left that HTML, JSON or a browser's reading of
// addresses would change.
func TestDataURI(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("<>&'\"%#+\\\n\t ax=/;")), 0, 200, -1)).Draw(t, "text")
		var uri dataURI
		require.Value(uri.Write([]byte(text)))(t)
		got := uri.text.String()
		back, err := url.PathUnescape(got)
		require.Must(t, err == nil && back == text, "%q became %q and %q, %v", text, got, back, err)
		i := strings.IndexFunc(got, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune("<>&'\"#+\\", c) })
		require.Must(t, i < 0, "%q has something to escape at %d", got, i)
	})
}

// Coarser pictures have fewer cells.
func TestCoarseGrid(t *testing.T) {
	t.Parallel()
	for coarse, want := range map[string]int{"": 0, "1": 80, "2": 56} {
		require.Equal(t, ReadOptions(url.Values{"coarse": {coarse}}).grid(), want, "coarse=%s", coarse)
	}
}

func TestPlaceIsNamed(t *testing.T) {
	t.Parallel()
	require.Fails(t, require.Err(ReadPlace(url.Values{"s": {"1"}, "t": {"x"}}, [2]string{"s", "t"})), "t must be a number", "a place")
}
