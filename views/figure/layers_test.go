package figure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// A hidden layer is not drawn, but its entry stays in the legend, for the toggle over it.
func TestHiddenLayers(t *testing.T) {
	t.Parallel()
	draw := func(hidden ...string) (*figure.Picture, string, int) {
		s := scene()
		s.Layers, s.Hidden = true, hidden
		for i := range s.Points {
			s.Points[i].HeldOut = i%4 == 0
		}
		p := require.Value(figure.Boundary(context.Background(), s))(t)
		var svg, list bytes.Buffer
		require.NoError(t, p.SVG(t.Context(), &svg))
		require.NoError(t, p.DisplayList(t.Context(), &list, ""))
		told := require.JSON[struct{ Toggles json.RawMessage }](t, list.Bytes())
		want := require.Value(json.Marshal(p.Toggles))(t)
		require.Check(t, bytes.Equal(told.Toggles, want), "the display list has the toggles %s, not %s", told.Toggles, want)
		return p, svg.String(), list.Len()
	}
	whole, svg, list := draw()
	layers := lists.Map(whole.Toggles, func(g figure.Toggle) string { return g.Layer })
	for _, toggle := range whole.Toggles {
		require.Check(t, toggle.Left >= 0 && toggle.Left+toggle.Width <= 100 && toggle.Top >= 0 && toggle.Top+toggle.Height <= 100*whole.Frame.Top/float64(whole.Height),
			"%+v lies beside the legend", toggle)
		require.Says(t, svg, strings.Split(toggle.Name, " (")[0], "the legend does not name %+v", toggle)
	}
	for _, layer := range []string{"class0", "class1", "boundary", "margin", "regions", "held"} {
		require.Check(t, slices.Contains(layers, layer), "there is no toggle of %s among %v", layer, layers)
	}
	require.Check(t, slices.Equal(figure.LayerNames(strings.Join(layers, ",")+",other,class-1,class07,"), slices.Sorted(slices.Values(layers))),
		"of %v LayerNames reads %v", layers, figure.LayerNames(strings.Join(layers, ",")))
	for _, layer := range layers {
		p, without, short := draw(layer)
		require.Check(t, len(without) < len(svg)+400 && (layer == "boundary" || short < list+200) && without != svg,
			"without %s the picture has %d bytes instead of %d, its list %d instead of %d", layer, len(without), len(svg), short, list)
		require.Check(t, slices.Equal(p.Toggles, whole.Toggles) && p.Frame == whole.Frame,
			"without %s the legend or the frame moves", layer)
	}
	p, _, _ := draw(layers...)
	require.Check(t, len(p.Toggles) == len(whole.Toggles), "without all layers %d toggles are left", len(p.Toggles))
}
