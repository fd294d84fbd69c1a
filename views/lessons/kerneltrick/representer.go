package kerneltrick

import (
	"context"

	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// The controls of the representer theorem.
var (
	outside      = lessons.NumberControl{Name: "outside", Label: "part outside", Symbol: "‖v‖", Default: "1.2", Min: 0, Max: 3, Low: 0, High: 3, Help: "At a right angle to every training point."}
	representerC = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "0.3", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true}
)

// showRepresenter embeds the fourteen points of the plane in space and adds to the machine's
// weights a component orthogonal to that plane.
func showRepresenter(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	m := lessons.TrainLinear(ctx, lessons.Overlapping, "C", representerC.Text(in))
	v := outside.Of(in)
	within := lessons.Norm(m.W) * lessons.Norm(m.W) / 2
	slack := representerC.Of(in) * *m.Report.SlackSum
	parts := func(x float64) []float64 { return []float64{within + x*x/2 + slack, within + x*x/2, slack} }
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			fromTheSide(m.W, v),
			{
				Name: "price", Caption: "What a part of the weights outside of the span costs, and what it brings.",
				Asks: "The length of a part of the weights outside of the span. What does it cost, and what does it bring?",
				Draw: lessons.Draws(1, figure.Chart{
					X: figure.Axis{Name: "‖v‖", Min: 0, Max: 3}, Y: figure.Axis{Name: "objective", Min: 0, Max: within + slack + 4.7},
					Curves: lessons.CurvesOf(lessons.Linspace(0, 3, 61), parts, "sum", "½‖w + v‖²", "C Σξ"), Hidden: 3, Here: &v,
				}),
			},
		},
		Numbers: []lessons.Number{
			{Label: `$\tfrac12\lVert\mathbf w + \mathbf v\rVert^2$`, Value: views.Short(within + v*v/2), Help: "at least " + views.Short(within) + ", without v", After: true},
			{Label: `$C\sum_i\xi_i$`, Value: views.Short(slack), Help: "whatever v is", After: true},
			{Label: "values of f that change", Value: "0 of 14", Help: `as $\mathbf v^\top\mathbf x_i = 0$`, After: true},
		},
		Lab: lessons.Overlapping.Lab("kernel", "linear", "C", representerC.Text(in)),
	}
}

// fromTheSide views the points along the boundary, so that their horizontal position is along w
// and the orthogonal part v is vertical.
func fromTheSide(w [2]float64, v float64) lessons.Figure {
	length := lessons.Norm(w)
	marks := []figure.Mark{figure.Line{A: [2]float64{0, 1}, Pen: figure.Pen{Color: figure.Muted}, Name: "span of the points, from the side"}}
	for i, p := range lessons.Overlapping.XY {
		class := lessons.Class(lessons.Overlapping.Y[i])
		marks = append(marks, figure.Dot{At: [2]float64{(w[0]*p[0] + w[1]*p[1]) / length, 0}, Class: class, Name: lessons.ClassName(lessons.Overlapping.Y[i])})
	}
	foot, tip := [2]float64{length, 0}, [2]float64{length, v}
	marks = append(marks, figure.Arrow{To: foot, Label: "w"})
	if v > 0 {
		const corner = 0.15 // of the right-angle mark
		marks = append(marks,
			figure.Path{Plain: true, Pen: figure.Pen{Thin: true}, Points: [][2]float64{{length - corner, 0}, {length - corner, min(corner, v)}, {length, min(corner, v)}}},
			figure.Arrow{From: foot, To: tip, Pen: figure.Pen{Color: figure.Magenta}, Label: "v"},
			figure.Arrow{To: tip, Pen: figure.Pen{Dash: figure.Dashed}, Label: "w + v"},
		)
	}
	return lessons.Figure{Name: "side", Caption: `The span of the points, seen from the side, and the weights: $\mathbf w$ lies in it, $\mathbf v$ stands upright on it. ~Pull $\mathbf v$ to 0.~`, Draw: lessons.Draws(2, figure.Plane{
		X: "along w", Y: "outside", Limits: figure.Limits{XMin: -3, XMax: 3, YMin: -0.5, YMax: 3.2}, Marks: marks,
	})}
}

// span computes the effect of a component outside the span at the training points: they are
// embedded in space, and both machines are evaluated.
func span(ctx context.Context) float64 {
	m := lessons.TrainLinear(ctx, lessons.Overlapping, "C", representerC.Default)
	w, v := [3]float64{m.W[0], m.W[1], 0}, [3]float64{0, 0, 1.2}
	changed, longer := false, 0.0
	for _, p := range lessons.Overlapping.XY {
		x := [3]float64{p[0], p[1], 0}
		before, after := m.B, m.B
		for k := range x {
			before += w[k] * x[k]
			after += (w[k] + v[k]) * x[k]
		}
		changed = changed || before != after
	}
	for k := range w {
		longer += (w[k]+v[k])*(w[k]+v[k]) - w[k]*w[k]
	}
	if !changed && longer > 0 {
		return 2
	}
	return lessons.First(changed)
}
