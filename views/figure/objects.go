package figure

import (
	"context"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// Maximum numbers of graphs and strings in the small picture of a data set.
const (
	sampledGraphs  = 6
	sampledStrings = 7
)

// Objects draws a few strings or graphs of a data set, alternating between classes. It returns nil
// for other kinds.
func Objects(d *dataset.Data, f Format) (*Picture, error) {
	switch objects := d.Objects.(type) {
	case *dataset.Graphs:
		x := Networks{Format: f, Labels: NodeLabels(objects.Values...)}
		x.Networks = lists.Map(inTurn(d, sampledGraphs), func(i int) Network { return Network{Graph: objects.Values[i]} })
		return x.Picture()
	case *dataset.Strings:
		return written(d, objects, f)
	}
	return nil, nil
}

func hasObjects(r Run) []int {
	return when(r.Data.Kind() == dataset.KindStrings || r.Data.Kind() == dataset.KindGraphs)
}

// drawObjects draws some objects of a run, or the requested graph.
func drawObjects(_ context.Context, r Run, _ int) (*Picture, error) {
	f := Format{Dark: r.Look.Dark, Grey: r.Look.Grey, Width: r.Look.Width, Height: r.Look.Height}
	if g, ok := r.Data.Objects.(*dataset.Graphs); ok && r.Object > 0 && r.Object <= len(g.Values) {
		return Networks{Format: f, Networks: []Network{{Graph: g.Values[r.Object-1]}}, Labels: NodeLabels(g.Values...)}.Picture()
	}
	return Objects(r.Data, f)
}

// inTurn returns the first rows of a data set, alternating between classes.
func inTurn(d *dataset.Data, most int) (rows []int) {
	byClass := make([][]int, len(d.Classes))
	for i, c := range d.Y {
		if len(byClass[c]) < most {
			byClass[c] = append(byClass[c], i)
		}
	}
	for round := 0; round < most; round++ {
		for _, of := range byClass {
			if round < len(of) && len(rows) < most {
				rows = append(rows, of[round])
			}
		}
	}
	return rows
}

// written draws strings below each other, each after the mark of its class.
func written(d *dataset.Data, objects *dataset.Strings, f Format) (*Picture, error) {
	sh, err := f.sheet()
	if err != nil {
		return nil, err
	}
	rows := inTurn(d, sampledStrings)
	texts := lists.Map(rows, func(i int) string { return objects.Text(i) + " (" + d.Classes[d.Y[i]] + ")" })
	sh.caption, sh.bald, sh.limits = "Strings: "+strings.Join(texts, ", "), [2]bool{true, true}, Limits{XMax: 1, YMax: 1}
	sh.add(func(c *draw.Canvas, _ mapping) {
		line := (c.Max.Y - c.Min.Y) / sampledStrings
		for n, i := range rows {
			y := c.Max.Y - (vg.Length(n)+0.5)*line
			marker{d.Y[i], sh.theme.class(d.Y[i]), sh.theme.Paper, false}.draw(c, vg.Point{X: c.Min.X + 12, Y: y}, 4)
			text(c, sh.theme.Ink, fontSize, false, vg.Point{X: c.Min.X + 24, Y: y - 4}, clip(objects.Text(i), fontSize, c.Max.X-c.Min.X-32))
		}
	})
	return sh.picture(), nil
}
