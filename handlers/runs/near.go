package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
)

const (
	nearRows  = 12 // neighbours shown
	wrongRows = 12 // misclassified rows offered

	lineHeight = 180 // of the picture of one string

	thumbWidth, thumbHeight = 160, 100 // of the picture of a neighbour
)

// near returns the objects of a run nearest to the requested row, if any, with a picture of it if
// possible. figures is the base URL of the run's figures.
func (a *Reader) near(ctx context.Context, r figure.Run, asked, figures string) (*runsview.Near, error) {
	m := r.Result.Model
	points, err := r.Result.Points(ctx, m, r.Data, r.Spec)
	if err != nil {
		return nil, err
	}
	n := &runsview.Near{
		Row: asked, Total: len(points), Classes: m.Rule != ml.Value, F: len(m.Machines) == 1,
		Mapped: slices.ContainsFunc(m.Machines, func(m ml.Machine) bool { return m.Map != nil }),
	}
	for _, p := range points {
		if p.Wrong && len(n.Wrong) < wrongRows {
			n.Wrong = append(n.Wrong, p.Row+1)
		}
	}
	if asked == "" {
		return n, nil
	}
	row, err := strconv.Atoi(asked)
	if err != nil || row < 1 || row > len(points) {
		n.Error = fmt.Sprintf("The data have rows 1 to %d.", len(points))
		return n, nil
	}
	small := "" // figure that replaces the text of a graph
	for _, f := range r.Figures() {
		if f.Parts() {
			title := fmt.Sprintf("%s, row %d", f.Title, row)
			height := lineHeight
			if r.Data.Kind() == dataset.KindGraphs {
				height = pictures.SmallHeight
				small = cmp.Or(small, f.Name)
			}
			n.Drawn = append(n.Drawn, pictures.Linked(figures, f.Name, "near="+asked, pictures.SmallWidth, height, title, title))
		}
	}
	type found struct {
		near  []ml.Neighbour
		among int
	}
	f, err := limiter.Within(ctx, a.Patience, "Train with a faster kernel.", func(ctx context.Context) (f found, err error) {
		f.near, f.among, err = ml.Nearest(ctx, m.Kernel, r.Data, row-1, nearRows)
		return f, err
	})
	if err != nil {
		n.Error, err = results.UserMessage(err)
		return n, err
	}
	told := func(i int, distance float64) views.NearRow {
		p := points[i]
		row := views.NearRow{
			Row: i + 1, Text: pictures.Clipped(r.Data.Objects.Text(i)), Label: param.ClassText(p.Label), Predicted: param.ClassText(p.Predicted),
			F: views.Short(p.F), Distance: views.Short(distance), Role: pictures.RoleText(p), Wrong: p.Wrong,
		}
		if small != "" {
			row.Drawn = pictures.Linked(figures, small, "near="+strconv.Itoa(i+1), thumbWidth, thumbHeight, "the graph of row "+strconv.Itoa(i+1), "")
			row.Drawn.Lazy = true
		}
		return row
	}
	n.Of = told(row-1, 0)
	n.Rows = lists.Map(f.near, func(z ml.Neighbour) views.NearRow { return told(z.Row, z.Distance) })
	if f.among < len(points)-1 {
		n.Among = fmt.Sprintf("Among %d of the others, from every class: comparing all takes too long.", f.among)
	}
	return n, nil
}
