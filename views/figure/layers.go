package figure

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/lists"
)

// Toggle is a legend entry that hides a layer of a picture. Its place is in per cent of the
// picture, from the top left corner.
type Toggle struct {
	Layer, Name              string
	Left, Top, Width, Height float64
}

// MarshalJSON encodes the fields as an array in their order, since every picture of a drag carries
// a list of toggles.
func (t Toggle) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{t.Layer, t.Name, t.Left, t.Top, t.Width, t.Height})
}

const regionsName = "regions"

// layerNames maps the beginnings of legend entries to layers other than classes.
var layerNames = []struct{ entry, layer string }{
	{"f = 0", "boundary"},
	{"boundary", "boundary"},
	{"f = ±1", "margin"},
	{regionsName, "regions"},
	{"SV on margin", string(ml.Free)},
	{"SV inside margin", string(ml.Inside)},
	{"SV misclassified", string(ml.Misclassified)},
	{"support vector", string(ml.Support)},
	{"wrong side", "wrong"},
	{"misclassified", "wrong"},
	{"held out", "held"},
	{"core", "cores"},
}

// LayerNames returns the known layers of a comma-separated list.
func LayerNames(list string) (layers []string) {
	for name := range strings.SplitSeq(list, ",") {
		number, class := strings.CutPrefix(name, "class")
		k, err := strconv.Atoi(number)
		known := slices.ContainsFunc(layerNames, func(l struct{ entry, layer string }) bool { return l.layer == name })
		if (known || class && err == nil && k >= 0 && k < mostRegions && name == classLayer(k)) && !slices.Contains(layers, name) {
			layers = append(layers, name)
		}
	}
	slices.Sort(layers)
	return layers
}

func classLayer(k int) string { return "class" + strconv.Itoa(k) }

// layer returns the layer of the i-th entry of the legend; the classes come first.
func (s *Scene) layer(i int, name string) string {
	if i < len(s.Classes) {
		return classLayer(i)
	}
	for _, l := range layerNames {
		if strings.HasPrefix(name, l.entry) {
			return l.layer
		}
	}
	return ""
}

func (s *Scene) hides(layer string) bool { return slices.Contains(s.Hidden, layer) }

// hidesPoint reports whether a point belongs to a hidden layer; class is the index of its label.
func (s *Scene) hidesPoint(p ml.Point, class int) bool {
	return s.Hidden != nil && (p.HeldOut && s.hides("held") || s.hides(classLayer(class)))
}

// visible returns the drawings of lines, unless their layer is hidden.
func (s *Scene) visible(layer string, lines ...level) []drawing {
	if s.hides(layer) {
		return nil
	}
	return lists.Map(lines, func(l level) drawing { return l.draw })
}

// hides reports whether the i-th legend entry belongs to a hidden layer.
func (s *sheet) hides(i int) bool {
	return len(s.hidden) > 0 && s.layer != nil && slices.Contains(s.hidden, s.layer(i, s.legend[i].name))
}

// fade marks the entry at a place as hidden.
func (s *sheet) fade(c *draw.Canvas, e entry, at vg.Point) {
	c.SetColor(translucent(s.theme.Paper, 0.6))
	c.Fill(vg.Rectangle{Min: vg.Point{X: at.X - 4, Y: at.Y - 9}, Max: vg.Point{X: at.X + e.width() - 14, Y: at.Y + 9}}.Path())
	line := polyline(nil, vg.Point{X: at.X + sampleWidth - 1, Y: at.Y}, vg.Point{X: at.X + e.width() - 16, Y: at.Y})
	stroke(c, draw.LineStyle{Color: s.theme.Muted, Width: 1}, line)
}

// toggles returns the toggles of the entries in these rows of a picture, whose legend begins at
// left.
func (s *sheet) toggles(rows [][]entry, left vg.Length, all vg.Rectangle) (list []Toggle) {
	if s.layer == nil {
		return nil
	}
	share := func(of, whole vg.Length) float64 { return brief(100 * float64(of/whole)) }
	i, y := 0, vg.Length(10)
	for _, row := range rows {
		x := left
		for _, e := range row {
			name := s.legend[i].name
			if layer := s.layer(i, name); layer != "" {
				list = append(list, Toggle{
					Layer: layer, Name: name, Left: share(x-4, all.Max.X), Top: share(y-1.5, all.Max.Y),
					Width: share(e.width()-8, all.Max.X), Height: share(lineStep, all.Max.Y),
				})
			}
			x += e.width()
			i++
		}
		y += lineStep
	}
	return list
}
