package figure

import (
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

func TestObjectsAreOfEveryClass(t *testing.T) {
	t.Parallel()
	for _, b := range dataset.Builtins {
		d := require.Value(b.Load())(t)
		pic := require.Value(Objects(d, Format{Width: 228, Height: 171}))(t)
		drawn := b.Kind == dataset.KindStrings || b.Kind == dataset.KindGraphs
		require.Check(t, drawn == (pic != nil), "%s: a picture of objects: %v", b.Name, pic != nil)
		if b.Kind != dataset.KindStrings {
			continue
		}
		svg := require.Drawn(t, pic.SVG)
		for k, class := range d.Classes {
			row := inTurn(d, sampledStrings)[k]
			require.Check(t, d.Classes[d.Y[row]] == class && strings.Contains(svg, d.Objects.Text(row)[:3]),
				"%s: no string of class %s is drawn", b.Name, class)
		}
	}
}
