package lessons

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

func TestDeckBuilds(t *testing.T) {
	t.Parallel()
	got := DeckBuilds(`<p>a <em>b</em></p><math display="block"><mi>x</mi></math><p class="on-screen">Drag.</p><h3>h</h3><ul><li>c</li><li><p>d</p></li></ul><p>e</p>`)
	first := `<p>a <em>b</em></p><math display="block"><mi>x</mi></math>`
	want := []string{
		first, first + `<h3>h</h3><ul><li>c</li></ul>`, first + `<h3>h</h3><ul><li>c</li><li><p>d</p></li></ul>`, first + `<h3>h</h3><ul><li>c</li><li><p>d</p></li></ul><p>e</p>`,
	}
	require.Equal(t, cmp.Diff(want, got), "", "diff")
}
