package procedures

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"marginlab/ml/lists"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// substitution eliminates the slacks.
var substitution = lessons.Lines(files, "substitution")

func showHinge(_ context.Context, in lessons.Input) *lessons.Exhibit {
	f, y := value.Of(in), lists.Either(label.Of(in) == "1", 1, -1.0)
	losses := lessons.CurvesOf(lessons.Linspace(-3, 3, 121), func(m float64) []float64 {
		return []float64{theory.Hinge(m), (1 - m) * (1 - m) / 2, math.Log1p(math.Exp(-m))}
	}, "hinge", "squared error", "cross-entropy")
	margin := y * f
	active, printed := margin < 1, f < 1
	push := map[bool]string{true: "pushed", false: "left alone"}
	e := (&lessons.Exhibit{
		Figures: []lessons.Figure{{
			Name: "losses", Wide: true,
			Asks:    `The vertical line is the point. Three losses over $y f$ belong here: draw the hinge when you are asked for it.`,
			Caption: `Three losses over $y f$. The vertical line is the point. The hinge is exactly 0 from $y f = 1$ on; the squared error punishes a point for being too right; cross-entropy never quite lets go.`,
			Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "y f(x)", Min: -3, Max: 3}, Y: figure.Axis{Name: "loss", Min: 0, Max: 4},
				Curves: losses, Hidden: 3, Here: &margin,
			}),
		}},
		Numbers: []lessons.Number{
			{Label: "$y f$", Value: lessons.Short(margin)},
			{Label: "hinge loss", Value: lessons.Short(theory.Hinge(margin)), Help: "the slack of the point", After: true},
			{Label: "$y f < 1$", Value: push[active], Help: "the right condition", After: true},
			{Label: "$f < 1$", Value: push[printed], Help: "the condition without the label", After: true},
		},
	}).Derive(in, substitution())
	if active != printed {
		e.After = []string{"Here the condition without the label is wrong: the point lies beyond its margin, its loss is 0, and yet it would be pushed on."}
	}
	return e
}

// descend returns the states of sub-gradient descent on a linear problem; with the printed
// condition, without the label, every step uses all points.
func descend(ctx context.Context, p problem, rate float64, single, printed bool) []stepwise.SubgradientState {
	r := lessons.Must(stepwise.SubgradientDescent(ctx, p.Matrix(), p.Y, stepwise.SubgradientSettings{C: p.c, Batch: !single || printed, Rate: rate, MaxSteps: 120, Printed: printed}))
	return lists.Make(r.Len(), r.At)
}

// place returns the weights of a step as a point in the plane.
func place(s stepwise.SubgradientState) [2]float64 { return [2]float64{s.W[0], s.W[1]} }

// valley returns the primal objective of weights with the best b.
func (p problem) valley() func(w1, w2 float64) float64 {
	x := p.Matrix()
	return func(w1, w2 float64) float64 { return stepwise.LowestPrimal(x, p.Y, p.c, []float64{w1, w2}) }
}

func showDescent(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := newProblem(linearToy.Of(in), "linear", descentC.Of(in))
	best := p.optimum(ctx)
	eta := lessons.Must(strconv.ParseFloat(rate.Of(in), 64))
	walk := descend(ctx, p, eta, single.Of(in), unlabelled.Of(in))
	step := min(in.Step, len(walk)-1)
	now, goal := walk[step], p.Weights(best.U())

	above := figure.Curve{Name: "this step"}
	record := figure.Curve{Name: "best so far"}
	lowest := math.Inf(1)
	for t, s := range walk {
		a := s.Primal - best.Primal
		lowest = min(lowest, a)
		above.X, above.Y = append(above.X, float64(t)), append(above.Y, a)
		record.X, record.Y = append(record.X, float64(t)), append(record.Y, lowest)
	}
	path := figure.Path{Points: lists.Map(walk[:step+1], place), Pen: figure.Pen{Color: figure.Magenta}, Name: "steps so far"}
	room := 0.45*lessons.Norm(goal) + 0.1
	limits := figure.Limits{XMin: min(0, goal[0]) - room, XMax: max(0, goal[0]) + room, YMin: min(0, goal[1]) - room, YMax: max(0, goal[1]) + room}
	for _, s := range walk { // all but the largest steps, so that the frame does not change
		w := place(s)
		if lessons.Norm([2]float64{w[0] - goal[0], w[1] - goal[1]}) < 3*lessons.Norm(goal) {
			limits = limits.Union(figure.Limits{XMin: w[0] - 0.05, XMax: w[0] + 0.05, YMin: w[1] - 0.05, YMax: w[1] + 0.05})
		}
	}
	shares := []float64{0.02, 0.07, 0.15, 0.3, 0.5, 0.75, 1, 1.5, 2, 3} // by which they exceed the best
	levels := lists.Map(shares, func(share float64) float64 { return best.Primal * (1 + share) })
	pen := figure.Pen{Color: figure.Green, Dash: figure.Dashed, Thin: true}
	e := &lessons.Exhibit{
		Steps: len(walk), Step: step, Lab: p.open(),
		Figures: []lessons.Figure{
			{
				Name: "weights", Caption: `The plane of the weights. Level lines: the objective with the best $b$ for each $\mathbf w$. The path starts at 0 (hollow); the cross-hair is the optimum.`,
				Draw: lessons.Draws(1, figure.Plane{X: "w₁", Y: "w₂", Limits: limits, Marks: []figure.Mark{
					figure.Contours{F: p.valley(), Levels: levels, Plain: true, Name: "objective"},
					figure.Line{A: [2]float64{1, 0}, C: goal[0], Pen: pen, Name: "optimum"},
					figure.Line{A: [2]float64{0, 1}, C: goal[1], Pen: pen, Name: "optimum"},
					path,
				}}),
			},
			lessons.Plane("line", "The line of this step. Ringed: points whose hinge pushed in the step.", p.Limits(), 2, drawn(now), p.Dots(func(i int) bool { return slices.Contains(now.Active, i) })),
			lessons.StepChart("objective", "Objective above its minimum (logarithmic).", step, figure.Chart{
				Y: figure.Axis{Name: "J − minimum", Log: true}, Curves: []figure.Curve{above, record},
			}).Afterwards(),
		},
		Numbers: []lessons.Number{
			{Label: `$J$ now`, Value: lessons.Short(now.Primal), Help: "the primal objective", After: true},
			{Label: "its minimum", Value: lessons.Short(best.Primal), Help: "by the exact solver"},
			{Label: `$\mathbf w$, $b$`, Value: lessons.Pair(place(now)) + ", " + lessons.Short(now.B)},
			{Label: "at the optimum", Value: lessons.Pair(goal) + ", " + lessons.Short(best.B)},
		},
	}
	t := lessons.Table{
		Caption: `Marked: the points that pushed in this step. Values after it.`,
		Head:    []string{"point", "$y$", "$f$", "$y f$", "hinge", "$y f < 1$", "$f < 1$"},
		Marked:  now.Active,
	}
	mark := map[bool]string{true: "active", false: "–"}
	for i, point := range now.Points {
		f := point.F
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i + 1), lessons.Signed(point.Y), lessons.Short(f), lessons.Short(point.Margin), lessons.Short(point.Slack), mark[point.Margin < 1], mark[f < 1],
		})
	}
	e.Tables = []lessons.Table{t}
	switch {
	case step == 0:
		e.Notes = []string{`Start: $\mathbf w = 0$ and $b = 0$, so that every point has a hinge of 1.`}
	case unlabelled.Of(in):
		before := walk[step-1]
		content := lists.Count(now.Active, func(i int) bool { return before.Points[i].Margin >= 1 })
		e.Notes = []string{fmt.Sprintf(`Without the label: %s in this step, %d of them with a margin of 1 or more that should have been left alone.`, lessons.Count(len(now.Active), "active hinge", "active hinges"), content)}
		e.After = []string{"The objective is " + lessons.Typeset(lessons.Short(above.Y[step])) + " above its minimum."}
	default:
		word := lists.Either(above.Y[step] > above.Y[step-1], "*rose*", "fell")
		e.Notes = []string{fmt.Sprintf(`Step %d, $\eta = $ %s: %s.`, step, lessons.Short(now.Rate), lessons.Count(len(now.Active), "active hinge", "active hinges"))}
		e.After = []string{"The objective " + word + "."}
	}
	return e
}

// drawn draws the line of a step with its sides and margins, once it is defined.
func drawn(s stepwise.SubgradientState) []figure.Mark {
	if lessons.Norm(place(s)) < 1e-9 {
		return nil
	}
	return append(lessons.Sides(place(s), s.B), lessons.MarginLines(place(s), s.B)...)
}

func overlapping(c float64) problem {
	return newProblem("overlap", "linear", c)
}

// descends reports whether the objective rises or falls from step to step.
func descends(ctx context.Context) float64 {
	walk := descend(ctx, overlapping(0.3), 0.1, false, false)
	rises, falls := 0, 0
	for t := 1; t < len(walk); t++ {
		if walk[t].Primal > walk[t-1].Primal {
			rises++
		} else {
			falls++
		}
	}
	return lessons.First(rises == 0, falls > 0)
}

// settles compares the length of the last 20 steps for a constant and a decreasing rate.
func settles(ctx context.Context) float64 {
	var way [2]float64
	for i, rate := range []float64{0.1, 0} {
		walk := descend(ctx, overlapping(0.3), rate, false, false)
		for t := len(walk) - 20; t < len(walk); t++ {
			way[i] += math.Hypot(walk[t].W[0]-walk[t-1].W[0], walk[t].W[1]-walk[t-1].W[1])
		}
	}
	moves := max(way[0], way[1]) >= 1e-9
	return lessons.First(moves && way[1] <= way[0], moves)
}
