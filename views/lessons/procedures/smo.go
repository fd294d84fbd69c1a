package procedures

import (
	"context"
	"fmt"
	"slices"

	"marginlab/ml/lists"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// box draws a step in the plane of the two multipliers; while an answer is pending, only its
// start.
func box(p stepwise.PairDual, s stepwise.Pair, names [2]string) func(lessons.Look) (*figure.Picture, error) {
	start, end := [2]float64{s.BeforeI, s.BeforeJ}, [2]float64{s.AlphaI, s.AlphaJ}
	on := func(a2 float64) [2]float64 { return [2]float64{p.First(s.BeforeI, s.BeforeJ, a2), a2} }
	room := 0.25 * p.C
	marks := []figure.Mark{figure.Contours{F: p.At, Plain: true, Name: "dual"}}
	corners := [][2]float64{{0, 0}, {p.C, 0}, {p.C, p.C}, {0, p.C}, {0, 0}}
	for i := range 4 {
		marks = append(marks, figure.Segment{From: corners[i], To: corners[i+1], Pen: figure.Pen{Thin: true}, Name: "the box"})
	}
	marks = append(marks,
		figure.Line{A: [2]float64{p.Y1, p.Y2}, C: p.Y1*s.BeforeI + p.Y2*s.BeforeJ, Pen: figure.Pen{Color: figure.Green, Dash: figure.Dashed, Thin: true}, Name: "equality"},
		figure.Dot{At: start, Class: -1, Hollow: true, Held: true, Label: "start"},
	)
	step := []figure.Mark{
		figure.Segment{From: on(s.L), To: on(s.H), Pen: figure.Pen{Color: figure.Green}, Name: "allowed"},
		figure.Arrow{From: start, To: end, Pen: figure.Pen{Color: figure.Magenta}, Name: "the step"},
	}
	if s.Unclipped != s.AlphaJ {
		step = append(step, figure.Dot{At: on(s.Unclipped), Class: -1, Hollow: true, Label: "without the box"})
	}
	step = append(step, figure.Dot{At: end, Class: -1, Label: "new"})
	return lessons.Draws(2, figure.Plane{
		X: names[0], Y: names[1], Limits: figure.Limits{XMin: -room, XMax: p.C + room, YMin: -room, YMax: p.C + room}, Marks: slices.Concat(marks, step), Hidden: len(step),
	})
}

// pairLines derives the step of SMO line by line.
var pairLines = lessons.Lines(files, "pair")

func showPair(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p := stepwise.PairDual{Y1: 1, Y2: -1, K11: 1, K22: 1, K12: k12.Of(in), H1: 0.75, H2: -0.5, C: 1}
	if same.Of(in) == "equal" {
		p.Y2, p.H2 = 1, 0.2
	}
	from := alpha.Of(in)
	s := p.Step(from[0], from[1])
	curve := lessons.CurveOf(-0.3, 1.3, 80, func(a2 float64) float64 { return p.At(p.First(s.BeforeI, s.BeforeJ, a2), a2) })
	curve.Name = "dual on the line"
	note := fmt.Sprintf(`The top of the parabola, $\alpha_2 = $ %s, lies on the allowed segment: the step goes there.`, lessons.Short(s.Unclipped))
	switch {
	case s.Curvature < 0:
		note = `$\eta < 0$: along the line the dual is a valley. The guard $\tau$ sends the step to the end that lies uphill.`
	case s.Curvature == 0:
		note = `$\eta = 0$: along the line the dual is straight. The guard $\tau$ sends the step to the end that lies uphill.`
	case s.AlphaJ != s.Unclipped:
		note = fmt.Sprintf(`The top, $\alpha_2 = $ %s, lies outside the box: the step stops at the edge.`, lessons.Short(s.Unclipped))
	}
	return (&lessons.Exhibit{
		After:   []string{note},
		Handles: []lessons.Handle{alpha.Handle("start of the step", in)},
		Figures: []lessons.Figure{
			{Name: "box", Caption: `The box $[0, C]^2$ with $C = 1$ over the level lines of the dual. ~Drag the start.~`, Asks: `The box $[0, C]^2$ with $C = 1$ over the level lines of the dual. ~Drag the start.~ Which part of the line is allowed, and where does the step end?`, Draw: box(p, s, [2]string{"α₁", "α₂"})},
			{Name: "line", Wide: true, After: true, Caption: "The dual along the line of the equality, with the ends of the allowed segment and the new place.", Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "α₂", Min: -0.3, Max: 1.3}, Y: figure.Axis{Name: "dual"}, Curves: []figure.Curve{curve},
				Rules: []figure.Rule{{Name: "L", At: s.L, Upright: true}, {Name: "H", At: s.H, Upright: true}}, Here: &s.AlphaJ,
			})},
		},
		Numbers: []lessons.Number{
			{Label: `$\eta$`, Value: lessons.Short(s.Curvature), Help: `$K_{11} + K_{22} - 2K_{12}$`},
			{Label: "$L$, $H$", Value: lessons.Short(s.L) + ", " + lessons.Short(s.H), Help: `ends of the segment in $\alpha_2$`, After: true},
			{Label: `$y_1\alpha_1 + y_2\alpha_2$`, Value: lessons.Short(p.Y1*s.AlphaI + p.Y2*s.AlphaJ), Help: "after the step as before: " + lessons.Short(p.Y1*s.BeforeI+p.Y2*s.BeforeJ)},
			{Label: `$(\alpha_1, \alpha_2)$`, Value: lessons.Pair([2]float64{s.AlphaI, s.AlphaJ}), Help: "from " + lessons.Pair([2]float64{s.BeforeI, s.BeforeJ}), After: true},
			{Label: "gain of the dual", Value: lessons.Short(s.Gain), After: true},
		},
	}).Derive(in, pairLines())
}

// twins computes the step for two coinciding points.
func twins(context.Context) float64 {
	s := stepwise.PairDual{Y1: 1, Y2: -1, K11: 1, K22: 1, K12: 1, H1: 0.1, H2: 0.1, C: 1}.Step(0.1, 0.35)
	switch s.AlphaJ {
	case s.BeforeJ:
		return 0
	case s.L, s.H:
		return 1
	}
	return 2
}

func showSMO(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := newProblem(smoToy.Of(in), similar.Of(in), c.Of(in))
	settings := stepwise.SMOSettings{C: p.c, MaxSteps: 200}
	if selection.Of(in) == "second" {
		settings.Selection = stepwise.SecondOrder
	}
	r := lessons.Must(stepwise.SMO(ctx, p.gram(), p.Y, settings))
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	e := &lessons.Exhibit{
		Steps: r.Len(), Step: step, Lab: p.open(),
		Numbers: []lessons.Number{
			{Label: "dual objective", Value: lessons.Short(s.Dual), Help: "a lower bound of the optimum", After: true},
			{Label: "primal objective", Value: lessons.Short(s.Primal), Help: "an upper bound", After: true},
			{Label: "gap", Value: lessons.Short(s.Gap), Help: "0 at the optimum, and only there", After: true},
			{Label: `$\max g - \min g$`, Value: lessons.Short(s.High - s.Low), Help: fmt.Sprintf(`over $I_{\text{up}}$ and $I_{\text{low}}$; stop at %s`, views.Short(1e-3))},
			{Label: "$b$", Value: lessons.Short(s.B), Help: "half-way between the two"},
		},
	}
	bounded := func(s stepwise.SMOState) float64 { return min(s.Primal, 4*r.At(0).Primal) }
	objectives := lessons.StepChart("objectives", "The two objectives, step by step.", step, figure.Chart{
		Y: figure.Axis{Name: "objective"},
		Curves: []figure.Curve{
			lessons.StepCurve("primal", r, bounded),
			lessons.StepCurve("dual", r, func(s stepwise.SMOState) float64 { return s.Dual }),
			lessons.StepCurve("gap", r, func(s stepwise.SMOState) float64 { return bounded(s) - s.Dual }),
		},
	}).Afterwards()
	caption := `The machine at this step. Filled points have $\alpha > 0$.`
	machine := func(box lessons.Figure, marks ...[]figure.Mark) lessons.Figure {
		return lessons.Plane("boundary", caption, p.Limits(), 3, marks...).Beside(0.6, false, box)
	}
	if s.Pair == nil {
		e.Notes = []string{`Start: all $\alpha_i = 0$, so $f$ is constant and no side is better than the other.`}
		limits := figure.Limits{XMin: -0.25 * p.c, XMax: 1.25 * p.c, YMin: -0.25 * p.c, YMax: 1.25 * p.c}
		box := figure.Text{At: [2]float64{p.c / 2, p.c / 2}, Text: "the pair's box"}
		empty := lessons.Figure{Draw: lessons.Draws(0, figure.Plane{X: "α of one", Y: "α of the other", Limits: limits, Marks: []figure.Mark{box}})}
		e.Figures = []lessons.Figure{machine(empty, p.picture(s.Iterate), p.points(s.Iterate)), objectives}
		e.Tables = []lessons.Table{kkt(s.Iterate)}
		return e
	}
	i, j := s.Pair.I, s.Pair.J
	two := stepwise.NewPairDual(p.gram(), r.At(step-1).Iterate, p.c, i, j)
	link := figure.Segment{From: p.XY[i], To: p.XY[j], Pen: figure.Pen{Color: figure.Magenta, Dash: figure.Dotted}, Name: "the pair"}
	caption += fmt.Sprintf(` The pair is ringed and joined. Beside it the box $[0, C]^2$ of points %d and %d: from the start along the allowed segment to the best place.`, i+1, j+1)
	inset := lessons.Figure{Draw: box(two, *s.Pair, [2]string{fmt.Sprintf("α of point %d", i+1), fmt.Sprintf("α of point %d", j+1)})}
	e.Figures = []lessons.Figure{machine(inset, p.picture(s.Iterate), []figure.Mark{link}, p.points(s.Iterate, i, j)), objectives}
	note := fmt.Sprintf(`Points %d and %d: allowed is $\alpha_{%d}$ from %s to %s, the top of the parabola is at %s`, i+1, j+1, j+1, lessons.Short(s.Pair.L), lessons.Short(s.Pair.H), lessons.Short(s.Pair.Unclipped))
	if s.Pair.AlphaJ != s.Pair.Unclipped {
		note += ", outside"
	}
	note += fmt.Sprintf(`. So $\alpha_{%d}$ goes from %s to %s and $\alpha_{%d}$ from %s to %s; the dual gains %s.`, j+1, lessons.Short(s.Pair.BeforeJ), lessons.Short(s.Pair.AlphaJ), i+1, lessons.Short(s.Pair.BeforeI), lessons.Short(s.Pair.AlphaI), lessons.Typeset(lessons.Brief(s.Pair.Gain)))
	if step == r.Len()-1 && r.Status() == trace.Converged {
		note += " All conditions hold: this is the SVM."
	}
	e.Notes = []string{note}
	e.Tables = []lessons.Table{kkt(s.Iterate, min(i, j), max(i, j))}
	return e
}

// smoRun runs SMO on the problem of the questions.
func smoRun(ctx context.Context) *trace.Replay[stepwise.SMOState] {
	p := overlapping(1)
	return lessons.Must(stepwise.SMO(ctx, p.gram(), p.Y, stepwise.SMOSettings{C: p.c}))
}

// gap returns the duality gap over the steps.
func gap(ctx context.Context) figure.Curve {
	return lessons.StepCurve("gap", smoRun(ctx), func(s stepwise.SMOState) float64 { return s.Gap })
}

// firstStep counts the alpha that are positive after the first step.
func firstStep(ctx context.Context) float64 {
	return float64(lists.Count(smoRun(ctx).At(1).Points, func(q stepwise.Point) bool { return q.Alpha != 0 }))
}

// monotone finds which of the two objectives are monotone.
func monotone(ctx context.Context) float64 {
	r := smoRun(ctx)
	dual, primal := true, true
	for i := 1; i < r.Len(); i++ {
		dual = dual && r.At(i).Dual >= r.At(i-1).Dual-1e-12
		primal = primal && r.At(i).Primal <= r.At(i-1).Primal+1e-12
	}
	return lessons.First(dual && primal, dual)
}
