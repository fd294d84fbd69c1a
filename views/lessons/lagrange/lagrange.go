// Package lagrange is the lesson on constraints and multipliers.
package lagrange

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md
var files embed.FS

// The controls of the screens.
var (
	probe = lessons.NewPlace("px", "probe x", "py", "probe y", [2]float64{0.8, -0.9}, figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8})
	// The two points that define the line of the constraint, initially x + 2y + 1 = 0.
	ends = lessons.EndsControl{
		A: lessons.NewPlace("ax", "first end of the line, x", "ay", "first end of the line, y", [2]float64{2, -1.5}, figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8}),
		B: lessons.NewPlace("bx", "second end of the line, x", "by", "second end of the line, y", [2]float64{-2.2, 0.6}, figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8}),
	}
	factorX    = lessons.IntegerControl{Name: "n1", Label: "coefficient of x", Default: "1", Min: -3, Max: 3, Low: -3, High: 3}
	factorY    = lessons.IntegerControl{Name: "n2", Label: "coefficient of y", Default: "2", Min: -3, Max: 3, Low: -3, High: 3}
	constant   = lessons.IntegerControl{Name: "o", Label: "constant", Default: "1", Min: -3, Max: 3, Low: -3, High: 3}
	other      = lessons.SwitchControl{Name: "other", Label: "allow the other side (example 4)", Default: "false", Help: "Changes the sign of h."}
	minimum    = lessons.NewPlace("cx", "free minimum x", "cy", "free minimum y", [2]float64{0, 0}, figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8})
	number     = lessons.ChoiceControl{Name: "example", Label: "example", Default: "3", Options: []param.Option{{Name: "3", Label: "3: x + 2y + o ≤ 0"}, {Name: "4", Label: "4: −x − 2y − o ≤ 0"}}}
	offset     = lessons.IntegerControl{Name: "o", Label: "constant o", Default: "1", Min: -3, Max: 3, Low: -3, High: 3, Help: "1 in the examples."}
	kktMinimum = lessons.NewPlace("cx", "free minimum x", "cy", "free minimum y", [2]float64{1.3, 1}, figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8})
	weight     = lessons.NumberControl{Name: "w", Label: "w", Default: "1.8", Min: -0.5, Max: 3, Low: -0.5, High: 3, Folded: true}
	bias       = lessons.NumberControl{Name: "b", Label: "b", Default: "-1.2", Min: -2.2, Max: 1.2, Low: -2.2, High: 1.2, Folded: true}
	solver     = lessons.SwitchControl{Name: "solver", Label: "show the solver's solution", Default: "false", Help: "Try to find it first."}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "lagrange",
		Task: "data=iris-sepal",
		Screens: []lessons.Screen{
			{
				Slug: "touch",
				Demo: lessons.NewDemo(showTouch, probe, ends),
				Answers: map[string]lessons.Answer{
					"through": func(context.Context) float64 {
						p := theory.LagrangeExamples[1]
						p.Offset = 0
						return lessons.Must(p.Minimise()).Multiplier
					},
				},
			},
			{Slug: "equality", Demo: lessons.NewDemo(showEquality, factorX, factorY, constant), Answers: map[string]lessons.Answer{"twice": twice}},
			{
				Slug: "inequality",
				Demo: lessons.NewDemo(showInequality, other, minimum, ends),
				Answers: map[string]lessons.Answer{
					"shift": func(context.Context) float64 {
						p := theory.LagrangeExamples[2]
						p.Offset = 2
						return lessons.Must(p.Minimise()).Multiplier
					},
					"inside": inside,
				},
			},
			{
				Slug: "cases",
				Demo: lessons.NewDemo(showCases, number, offset),
				Answers: map[string]lessons.Answer{
					"rejected": func(context.Context) float64 {
						s := lessons.Must(theory.LagrangeExamples[3].Minimise())
						return map[theory.Verdict]float64{theory.Infeasible: 0, theory.MultiplierSign: 1, theory.Accepted: 2}[s.Cases[1].Verdict]
					},
				},
			},
			{
				Slug: "kkt",
				Demo: lessons.NewDemo(showKKT, kktMinimum),
				Answers: map[string]lessons.Answer{
					"how-many": func(context.Context) float64 {
						two := lessons.Must(roundTo([2]float64{}).WallCases(walls))
						return math.Pow(float64(len(two)), 12/float64(len(walls)))
					},
					"slack": slack,
				},
			},
			{
				Slug: "svm",
				Demo: lessons.NewDemo(showSVM, weight, bias, solver),
				Answers: map[string]lessons.Answer{
					"walls": func(ctx context.Context) float64 {
						return float64(lessons.TrainHard(ctx, numbers).Report.SupportVectors)
					},
				},
			},
		},
	})
}

var limits = figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8}

// throughEnds returns the constraint through the two points, with a normal of length √5 as in the
// examples; false if the points coincide.
func throughEnds(in lessons.Input) (theory.Problem, bool) {
	n, b, ok := ends.Line(in)
	if !ok {
		return theory.Problem{}, false
	}
	scale := math.Sqrt(5) / lessons.Norm(n)
	n = [2]float64{scale * n[0], scale * n[1]}
	return theory.Problem{Scale: [2]float64{1, 1}, Kind: theory.Equality, Normal: n, Offset: scale * b}, true
}

// noLine returns the exhibit for two coinciding points.
func noLine(p theory.Problem, in lessons.Input) *lessons.Exhibit {
	return &lessons.Exhibit{
		Figures: []lessons.Figure{plane("Level lines of f.", levels(p))},
		Handles: ends.Handles(in),
		Notes:   []string{lessons.NoLine},
	}
}

// plane returns a drawing over x and y.
func plane(caption string, marks ...[]figure.Mark) lessons.Figure {
	return lessons.Figure{Name: "plane", Caption: caption, Draw: lessons.Draws(2, figure.Plane{X: "x", Y: "y", Limits: limits, Marks: slices.Concat(marks...)})}
}

// levels draws level lines of the objective and its unconstrained minimum.
func levels(p theory.Problem) []figure.Mark {
	return []figure.Mark{
		figure.Contours{F: func(x, y float64) float64 { return p.F([2]float64{x, y}) }, Levels: []float64{0.5, 1, 2, 3, 4, 6, 8}, Name: "level lines of f"},
		figure.Dot{At: p.Center, Class: -1, Hollow: true, Held: true, Label: "free minimum"},
	}
}

// through draws the level line of the objective through a point.
func through(p theory.Problem, at [2]float64) figure.Mark {
	return figure.Contours{
		F: func(x, y float64) float64 { return p.F([2]float64{x, y}) }, Levels: []float64{p.F(at)}, Plain: true,
		Pen: figure.Pen{Color: figure.Green, Dash: figure.Dashed}, Name: "level line through the dot",
	}
}

// wall draws the line of the constraint.
func wall(p theory.Problem, name string) figure.Mark {
	return figure.Line{A: p.Normal, C: -p.Offset, Name: name}
}

// arrows draws the two gradients at a point, at half length.
func arrows(p theory.Problem, at [2]float64, constraint string) []figure.Mark {
	tip := func(v [2]float64) [2]float64 { return [2]float64{at[0] + v[0]/2, at[1] + v[1]/2} }
	marks := []figure.Mark{figure.Arrow{From: at, To: tip(p.Normal), Pen: figure.Pen{Color: figure.Magenta}, Label: "∇" + constraint}}
	if g := p.Gradient(at); lessons.Norm(g) > 1e-9 {
		marks = append(marks, figure.Arrow{From: at, To: tip(g), Label: "∇f"})
	}
	return marks
}

func showTouch(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p, ok := throughEnds(in)
	if !ok {
		return noLine(theory.Problem{Scale: [2]float64{1, 1}}, in)
	}
	at := lessons.Foot(p.Normal, p.Offset, probe.Of(in))
	g := p.Gradient(at)
	lambda, along := p.Balance(at)
	note := "The dashed level line is *crossed*: on one side of the dot the line of the constraint runs through lower ground. ~Drag the dot there.~"
	touched := along < 0.1 // close enough for a hand
	if touched {
		note = "The dashed level line is *touched*: the two gradients are parallel, and there is no lower place on the line."
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{plane(`~Drag the dot along the line, and the ends of the line.~ The arrows are the gradients of $f$ and $g$ at the dot, drawn at half their length.`,
			levels(p), []figure.Mark{through(p, at), wall(p, "constraint g = 0")}, arrows(p, at, "g"), []figure.Mark{figure.Dot{At: at, Class: -1}})},
		Handles: append([]lessons.Handle{{Label: "dot on the line", X: at[0], Y: at[1], XControl: probe.X, YControl: probe.Y}}, ends.Handles(in)...),
		Numbers: []lessons.Number{
			{Label: `$f$ at the dot`, Value: views.Short(p.F(at)), Help: "make it as small as the line allows"},
			{Label: "slope along the line", Value: lessons.Short(along), Help: `part of $\nabla f$ in the direction of the line`},
		},
		Notes: []string{note},
	}
	if touched {
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$\lambda$`, Value: lessons.Short(lambda), Help: `from $\nabla f = -\lambda\nabla g$; $\lVert\nabla g\rVert$ is kept at $\sqrt 5$`})
	}
	if lessons.Norm(g) > 1e-6 {
		cos := (g[0]*p.Normal[0] + g[1]*p.Normal[1]) / lessons.Norm(g) / lessons.Norm(p.Normal)
		angle := math.Acos(math.Max(-1, math.Min(1, cos))) * 180 / math.Pi
		e.Numbers = append(e.Numbers, lessons.Number{Label: "angle between the gradients", Value: fmt.Sprintf("%.0f°", angle), Help: "0° or 180°: parallel"})
	}
	return e
}

// twice compares example 2 with the same line given by twice the equation.
func twice(context.Context) float64 {
	p := theory.LagrangeExamples[1]
	one := lessons.Must(p.Minimise())
	p.Normal, p.Offset = [2]float64{2 * p.Normal[0], 2 * p.Normal[1]}, 2*p.Offset
	two := lessons.Must(p.Minimise())
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	switch ratio := two.Multiplier / one.Multiplier; {
	case !near(one.Point[0], two.Point[0]) || !near(one.Point[1], two.Point[1]):
		return 3
	case near(ratio, 2):
		return 1
	case near(ratio, 0.5):
		return 2
	}
	return 0
}

// inside moves the wall of example 4.
func inside(context.Context) float64 {
	p := theory.LagrangeExamples[3]
	before := lessons.Must(p.Minimise())
	p.Offset -= 0.1
	if before.Point == lessons.Must(p.Minimise()).Point {
		return 2
	}
	return 0
}

// constraint formats g(x, y) in TeX.
func constraint(p theory.Problem) string {
	return lessons.TeXSum(lessons.TeXTerm{Factor: p.Normal[0], Of: "x"}, lessons.TeXTerm{Factor: p.Normal[1], Of: "y"}, lessons.TeXTerm{Factor: p.Offset, Of: ""})
}

// ray draws the points where the gradient of the Lagrangian of x² + y² vanishes, one per
// multiplier.
func ray(p theory.Problem, multiplier string) figure.Mark {
	return figure.Line{A: [2]float64{-p.Normal[1], p.Normal[0]}, Pen: figure.Pen{Color: figure.Violet, Dash: figure.DashDot}, Name: "∇L = 0, one place for each " + multiplier}
}

func showEquality(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p := theory.Problem{Scale: [2]float64{1, 1}, Kind: theory.Equality, Normal: [2]float64{float64(factorX.Of(in)), float64(factorY.Of(in))}, Offset: float64(constant.Of(in))}
	const steps = 7
	e := &lessons.Exhibit{Steps: steps, Step: min(in.Step, steps-1)}
	if p.Normal == ([2]float64{}) {
		e.Figures = []lessons.Figure{plane("Level lines of f.", levels(p))}
		e.Notes = []string{"With both coefficients 0 there is no line. Give one of them a value."}
		return e
	}
	s := lessons.Must(p.Minimise())
	n, g := p.Normal, constraint(p)
	sum := (n[0]*n[0] + n[1]*n[1]) / 2
	e.Body = lessons.Derivation(e.Step, []lessons.Line{
		{Why: "Minimise $f$ on the line $g = 0$.", TeX: `f = x^2 + y^2, \qquad g = ` + g + ` = 0`},
		{Why: "One multiplier for the constraint gives the Lagrange function.", TeX: `\mathcal L(x, y, \lambda) = x^2 + y^2 + \lambda\,(` + g + `)`},
		{Why: "Its derivative in $x$ must vanish.", TeX: lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: "x"}, lessons.TeXTerm{Factor: n[0], Of: `\lambda`}) + ` = 0 \quad\Rightarrow\quad x = ` + lessons.TeXSum(lessons.TeXTerm{Factor: -n[0] / 2, Of: `\lambda`})},
		{Why: "So must the one in $y$: both together describe the line of dashes and dots.", TeX: lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: "y"}, lessons.TeXTerm{Factor: n[1], Of: `\lambda`}) + ` = 0 \quad\Rightarrow\quad y = ` + lessons.TeXSum(lessons.TeXTerm{Factor: -n[1] / 2, Of: `\lambda`})},
		{Why: `The derivative in $\lambda$ is the constraint itself.`, TeX: `\frac{\partial\mathcal L}{\partial\lambda} = ` + g + ` = 0`},
		{Why: `Put $x$ and $y$ into it: one equation for $\lambda$.`, TeX: lessons.TeXSum(lessons.TeXTerm{Factor: -sum, Of: `\lambda`}, lessons.TeXTerm{Factor: p.Offset, Of: ""}) + ` = 0 \quad\Rightarrow\quad \lambda^* = ` + lessons.TeXFraction(s.Multiplier)},
		{Why: "And back: the only solution.", TeX: `(x^*,\ y^*) = ` + lessons.TeXPoint(s.Point) + `, \qquad f^* = ` + lessons.TeXFraction(s.Objective)},
	}...)
	marks := []figure.Mark{wall(p, "constraint g = 0")}
	caption := `Level lines of $f$ and the line $g = 0$. ~Step on to see what the equations say about the solution.~`
	if e.Step >= 3 {
		marks = append(marks, ray(p, "λ"))
		caption = `On the line of dashes and dots the gradients of $f$ and $g$ are parallel. The solution lies on it *and* on $g = 0$.`
	}
	if e.Step >= 5 {
		e.Numbers = []lessons.Number{{Label: `$\lambda^*$`, Value: views.Short(s.Multiplier), Help: "any sign: an equality holds from both sides"}}
	}
	if e.Step >= 6 {
		marks = append(append(marks, through(p, s.Point)), append(arrows(p, s.Point, "g"), figure.Dot{At: s.Point, Class: -1})...)
		e.Numbers = append(e.Numbers,
			lessons.Number{Label: `$(x^*, y^*)$`, Value: lessons.Pair(s.Point)},
			lessons.Number{Label: `$f(x^*, y^*)$`, Value: views.Short(s.Objective)},
			lessons.Number{Label: `$g(x^*, y^*)$`, Value: lessons.Short(p.G(s.Point)), Help: "as demanded"})
	}
	e.Figures = []lessons.Figure{plane(caption, levels(p), marks)}
	return e
}

// half draws both sides of a wall h <= 0.
func half(p theory.Problem) []figure.Mark {
	n := p.Normal
	return []figure.Mark{
		figure.Region{F: figure.Linear([2]float64{-n[0], -n[1]}, p.Offset), Color: figure.Green, Name: "allowed: h ≤ 0"},
		wall(p, "wall h = 0"),
	}
}

func showInequality(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p, ok := throughEnds(in)
	p.Scale, p.Center = [2]float64{1, 1}, minimum.Of(in)
	centre := minimum.Handle("free minimum", in)
	if !ok {
		e := noLine(p, in)
		e.Handles = append(e.Handles, centre)
		return e
	}
	p.Kind = theory.Inequality
	if other.Of(in) {
		p.Normal, p.Offset = [2]float64{-p.Normal[0], -p.Normal[1]}, -p.Offset
	}
	s := lessons.Must(p.Minimise())
	line := s.Cases[1]
	state, note := "free", `The free minimum is allowed, so the wall is *free* and $\alpha = 0$. At the nearest place on the wall both gradients point the same way: only a wall that *pulls* could hold the solution there.`
	marks := append(half(p), arrows(p, line.Point, "h")...)
	ground, solved := levels(p), "solution"
	if s.Saturated {
		state, note = "saturated", `The free minimum is forbidden, so the solution leans on the wall, which is *saturated*. There the gradients point in opposite directions: the wall pushes back with $\alpha > 0$.`
		marks = append(marks, through(p, s.Point))
	} else {
		ground, solved = ground[:1], "free minimum = solution"
		marks = append(marks, figure.Dot{At: line.Point, Class: -1, Hollow: true, Label: "rejected"})
	}
	if math.Abs(line.Multiplier) < 1e-9 {
		note = `The wall passes through the free minimum: it is touched, but need not push. $\alpha = 0$ *and* $h = 0$.`
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{plane(`The shaded side is allowed. ~Drag the wall by its ends, or the free minimum across it.~`,
			ground, marks, []figure.Mark{figure.Dot{At: s.Point, Class: -1, Label: solved}})},
		Handles: append(ends.Handles(in), centre),
		Notes:   []string{note},
		Numbers: []lessons.Number{
			{Label: "the constraint is", Value: state},
			{Label: `$\alpha$`, Value: lessons.Short(s.Multiplier), Help: `multiplier, for $\lVert\nabla h\rVert = \sqrt 5$ as in the examples`, After: true},
			{Label: `$h(x^*, y^*)$`, Value: lessons.Short(p.G(s.Point)), Help: `0 on the wall, negative within`},
			{Label: `$f(x^*, y^*)$`, Value: views.Short(s.Objective), Help: `0 at the free minimum`},
			{Label: `$\alpha$ on the wall`, Value: lessons.Short(line.Multiplier), Help: "what the equations give there; below 0: rejected", After: true},
		},
	}
	if !s.Saturated { // the question is where the solution then lies
		const asks = "The shaded side is allowed. ~Drag the wall by its ends.~ Does the solution follow it?"
		e.Figures[0] = e.Figures[0].Instead(plane(asks, levels(p), half(p)), asks)
		e.Notes, e.After = nil, e.Notes
	}
	return e
}

// example returns example 3 or 4 with another constant.
func example(in lessons.Input) theory.Problem {
	p := theory.LagrangeExamples[lists.Either(number.Of(in) == "4", 3, 2)]
	p.Offset *= float64(offset.Of(in))
	return p
}

func showCases(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p := example(in)
	s := lessons.Must(p.Minimise())
	free, line := s.Cases[0], s.Cases[1]
	n, h := p.Normal, constraint(p)
	dx, dy := lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: "x"}, lessons.TeXTerm{Factor: n[0], Of: `\alpha`}), lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: "y"}, lessons.TeXTerm{Factor: n[1], Of: `\alpha`})
	lines := []lessons.Line{
		{Why: "Minimise $f$ on the allowed side of the wall.", TeX: `f = x^2 + y^2, \qquad h = ` + h + ` \le 0`},
		{Why: `One multiplier gives the generalised Lagrange function.`, TeX: `\mathcal L(x, y, \alpha) = x^2 + y^2 + \alpha\,(` + h + `)`},
		{Why: "Its derivatives in $x$ and $y$ vanish. Mind the signs, which $h$ decides.", TeX: dx + ` = 0, \qquad ` + dy + ` = 0`},
		{Why: `Three more conditions. The first holds if one factor is 0, which makes two cases.`, TeX: `\alpha\,h = 0, \qquad \alpha \ge 0, \qquad h \le 0`},
		{Why: `*First case,* $\alpha = 0$: the wall is ignored.`, TeX: `x = 0, \quad y = 0, \qquad h(0, 0) = ` + lessons.TeXFraction(free.Constraint)},
		{Why: lists.Either(free.Verdict == theory.Accepted, "Is that place allowed? Yes: all conditions hold.", "Is that place allowed? No: the first case is rejected."), TeX: `h(0, 0) = ` + lessons.TeXFraction(free.Constraint) + lists.Either(free.Verdict == theory.Accepted, ` \le 0`, ` > 0`)},
		{Why: `*Second case,* $\alpha > 0$: then $h = 0$, a linear system as in example 2.`, TeX: `x = ` + lessons.TeXSum(lessons.TeXTerm{Factor: -n[0] / 2, Of: `\alpha`}) + `, \quad y = ` + lessons.TeXSum(lessons.TeXTerm{Factor: -n[1] / 2, Of: `\alpha`}) + ` \quad\Rightarrow\quad \alpha = ` + lessons.TeXFraction(line.Multiplier)},
		{Slug: "sign", Why: lists.Either(line.Verdict == theory.Accepted, "Is that multiplier positive, as supposed? Yes: all conditions hold.", "Is that multiplier positive, as supposed? No: the second case is rejected."), TeX: `\alpha = ` + lessons.TeXFraction(line.Multiplier) + lists.Either(line.Verdict == theory.Accepted, ` > 0`, ` \not> 0`)},
		{Why: lists.Either(s.Saturated, "So the constraint is *saturated*.", "So the constraint is *free*."), TeX: `(x^*,\ y^*) = ` + lessons.TeXPoint(s.Point) + `, \quad \alpha^* = ` + lessons.TeXFraction(s.Multiplier) + `, \quad f^* = ` + lessons.TeXFraction(s.Objective)},
	}
	e := (&lessons.Exhibit{}).Derive(in, lines)
	marks := half(p)
	table := lessons.Table{Caption: "The two cases", Head: []string{"case", "place", `$\alpha$`, "$h$", "$f$", "verdict"}}
	candidate := func(c theory.Case, name string, judged bool) {
		verdict := lists.Either(judged, c.Verdict.String(), "to be checked")
		table.Rows = append(table.Rows, []string{name, lessons.Pair(c.Point), views.Short(c.Multiplier), views.Short(c.Constraint), views.Short(c.Objective), verdict})
		table.Marked = []int{len(table.Rows) - 1}
		label := "candidate"
		switch { // short, because of the arrows; the table names the failing condition
		case judged && c.Verdict == theory.Accepted:
			label = "accepted"
		case judged:
			label = "rejected"
		}
		marks = append(marks, figure.Dot{At: c.Point, Class: -1, Hollow: label == "rejected", Label: label})
	}
	if e.Step >= 4 {
		candidate(free, `$\alpha = 0$`, e.Step >= 5)
	}
	if e.Step >= 6 {
		marks = append(marks, ray(p, "α"))
		marks = append(marks, arrows(p, line.Point, "h")...)
		candidate(line, `$\alpha > 0$`, e.Step >= 7)
	}
	if len(table.Rows) > 0 {
		e.Tables = []lessons.Table{table}
	}
	levels := []figure.Mark{levels(p)[0]}
	e.Figures = []lessons.Figure{plane(`The shaded side is allowed. Filled dots are candidates, hollow ones are rejected.`, levels, marks)}
	return e
}

// verdict describes the outcome of a case.
func verdict(c theory.WallCase) string {
	switch c.Verdict {
	case theory.Infeasible:
		return fmt.Sprintf("violates $h_%d \\le 0$", c.Wall+1)
	case theory.MultiplierSign:
		return fmt.Sprintf(`$\alpha_%d$ not positive`, c.Wall+1)
	}
	return "accepted"
}

// walls holds the two constraints of the screen on the KKT conditions.
var walls = []theory.Wall{{Normal: [2]float64{1, 2}, Offset: -1}, {Normal: [2]float64{2, 0}, Offset: -1}}

// roundTo returns the objective of that screen, |x - c|².
func roundTo(c [2]float64) theory.Problem {
	return theory.Problem{Scale: [2]float64{1, 1}, Center: c}
}

// slack determines h for an active wall, whatever the unconstrained minimum.
func slack(context.Context) float64 {
	answer := 3.0
	for _, c := range [][2]float64{{1.3, 1}, {-1, 2}, {2, -1}} {
		for _, s := range lessons.Must(roundTo(c).WallCases(walls)) {
			for j, a := range s.Multipliers {
				if s.Verdict != theory.Accepted || a <= 0 {
					continue
				}
				found := 1.0
				switch h := walls[j].G(s.Point); {
				case h < -1e-9:
					found = 0
				case h > 1e-9:
					found = 2
				}
				if answer != 3 && answer != found {
					return 3
				}
				answer = found
			}
		}
	}
	return answer
}

func showKKT(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p := roundTo(kktMinimum.Of(in))
	inside := func(x, y float64) float64 {
		return -math.Max(walls[0].G([2]float64{x, y}), walls[1].G([2]float64{x, y}))
	}
	marks := append(levels(p)[:1], figure.Region{F: inside, Color: figure.Green, Name: "allowed by both walls"})
	table := lessons.Table{Caption: "Every wall is touched or ignored: four cases", Head: []string{"touched", "place", `$\alpha_1$`, `$\alpha_2$`, "$h_1$", "$h_2$", "verdict"}}
	names := []string{"none", "wall 1", "wall 2", "both"}
	e := &lessons.Exhibit{Handles: []lessons.Handle{kktMinimum.Handle("free minimum", in)}}
	var icons []lessons.Figure
	for j, w := range walls {
		label := []string{"wall 1: x + 2y − 1 ≤ 0", "wall 2: 2x − 1 ≤ 0"}[j]
		marks = append(marks, figure.Line{A: w.Normal, C: -w.Offset, Pen: figure.Pen{Dash: []figure.Dash{figure.Solid, figure.LongDash}[j]}, Name: label})
	}
	for i, c := range lessons.Must(p.WallCases(walls)) {
		table.Rows = append(table.Rows, []string{
			names[i], lessons.Pair(c.Point), lessons.Short(c.Multipliers[0]), lessons.Short(c.Multipliers[1]),
			lessons.Short(c.Constraints[0]), lessons.Short(c.Constraints[1]), verdict(c),
		})
		if c.Verdict != theory.Accepted {
			continue
		}
		table.Marked = append(table.Marked, i)
		solved := "solution"
		if pull := p.Gradient(c.Point); lessons.Norm(pull) < 1e-9 {
			solved = "free minimum = solution"
		} else {
			marks = append(marks, figure.Dot{At: p.Center, Class: -1, Hollow: true, Held: true, Label: "free minimum"})
			marks = append(marks, figure.Arrow{From: c.Point, To: [2]float64{c.Point[0] - pull[0]/2, c.Point[1] - pull[1]/2}, Label: "−∇f"})
		}
		for j, w := range walls {
			if c.Multipliers[j] > 0 {
				push := [2]float64{-c.Multipliers[j] * w.Normal[0], -c.Multipliers[j] * w.Normal[1]}
				marks = append(marks, figure.Arrow{From: c.Point, To: [2]float64{c.Point[0] + push[0]/2, c.Point[1] + push[1]/2}, Pen: figure.Pen{Color: figure.Magenta}, Label: "−α" + lessons.Subscript(j+1) + " ∇h" + lessons.Subscript(j+1)})
			}
		}
		marks = append(marks, figure.Dot{At: c.Point, Class: -1, Label: solved})
		icons = []lessons.Figure{fourConditions(p.Gradient(c.Point), c)}
	}
	e.Figures = append([]lessons.Figure{plane(`~Drag the free minimum around: into the allowed corner, behind one wall, behind both.~ The pull $-\nabla f$ and the pushes of the walls add up to nothing (half their length is drawn).`, marks)}, icons...)
	e.Tables = []lessons.Table{table}
	return e
}

// fourConditions illustrates the KKT conditions at a solution: the forces as a closed polygon,
// the walls free or touched, the multipliers as bars, and one of the two zero.
func fourConditions(pull [2]float64, c theory.WallCase) lessons.Figure {
	const across, down = 5, 3.4 // size of a quadrant
	corner := func(column, row int) [2]float64 { return [2]float64{across * float64(column), -down * float64(row)} }
	text := func(o [2]float64, x, y float64, s string) figure.Mark {
		return figure.Text{At: [2]float64{o[0] + x, o[1] - y}, Text: s}
	}
	segment := func(o [2]float64, x1, y1, x2, y2 float64, pen figure.Pen) figure.Mark {
		return figure.Segment{From: [2]float64{o[0] + x1, o[1] - y1}, To: [2]float64{o[0] + x2, o[1] - y2}, Pen: pen}
	}
	marks := []figure.Mark{
		segment([2]float64{}, across, 0, across, 2*down, figure.Pen{Color: figure.Muted, Thin: true}),
		segment([2]float64{}, 0, down, 2*across, down, figure.Pen{Color: figure.Muted, Thin: true}),
	}
	for i, s := range []string{"The forces cancel", "Every wall is kept: h ≤ 0", "Walls only push: α ≥ 0", "One of two is 0: α h = 0"} {
		marks = append(marks, text(corner(i%2, i/2), across/2, 0.35, s))
	}

	// The force polygon, centred in its quadrant and scaled to fit.
	forces := [][2]float64{{-pull[0], -pull[1]}}
	for j, w := range walls {
		if a := c.Multipliers[j]; a > 0 {
			forces = append(forces, [2]float64{-a * w.Normal[0], -a * w.Normal[1]})
		}
	}
	var at, low, high [2]float64
	for _, f := range forces {
		for k := range at {
			at[k] += f[k]
			low[k], high[k] = math.Min(low[k], at[k]), math.Max(high[k], at[k])
		}
	}
	if size := math.Max((high[0]-low[0])/(across-1.6), (high[1]-low[1])/(down-1.4)); size > 1e-9 {
		at = [2]float64{across/2 - (low[0]+high[0])/2/size, -(down+0.5)/2 - (low[1]+high[1])/2/size}
		for i, f := range forces {
			to := [2]float64{at[0] + f[0]/size, at[1] + f[1]/size}
			marks = append(marks, figure.Arrow{From: at, To: to, Pen: lists.Either(i == 0, figure.Pen{}, figure.Pen{Color: figure.Magenta})})
			at = to
		}
	} else {
		marks = append(marks, text(corner(0, 0), across/2, down/2, "nothing pulls"))
	}

	// A row per wall: the wall on the right, and the solution at the distance -h to its left.
	long := 0.0 // longest bar
	for j := range walls {
		long = math.Max(long, math.Max(c.Multipliers[j], -c.Constraints[j]))
	}
	long = math.Max(long, 1e-9)
	const room = 2.2 // for the longest
	for j := range walls {
		y := 1.2 + 1.1*float64(j)
		a, h := c.Multipliers[j], lessons.Flush(c.Constraints[j], 1e-9)
		names := [2]string{"α" + lessons.Subscript(j+1), "h" + lessons.Subscript(j+1)}
		o := corner(1, 0)
		marks = append(marks,
			text(o, 0.9, y, names[1]+" = "+lessons.Short(h)),
			segment(o, 4.5, y-0.4, 4.5, y+0.4, figure.Pen{}),
			segment(o, 4.5+room*h/long, y, 4.5, y, figure.Pen{Color: figure.Green}),
			figure.Dot{At: [2]float64{o[0] + 4.5 + room*h/long, o[1] - y}, Class: -1},
		)
		o = corner(0, 1)
		marks = append(marks,
			text(o, 0.9, y, names[0]+" = "+lessons.Short(a)),
			segment(o, 2, y-0.4, 2, y+0.4, figure.Pen{Color: figure.Muted}),
			segment(o, 2, y, 2+room*a/long, y, figure.Pen{Color: figure.Magenta}),
			figure.Dot{At: [2]float64{o[0] + 2 + room*a/long, o[1] - y}, Class: -1, Hollow: a == 0},
		)
		says := names[1] + " < 0, so " + names[0] + " = 0"
		switch {
		case a > 0:
			says = names[0] + " > 0, so " + names[1] + " = 0"
		case h == 0:
			says = names[0] + " and " + names[1] + " are 0"
		}
		marks = append(marks, text(corner(1, 1), across/2, y, says))
	}
	return lessons.Figure{Name: "conditions", Wide: true, After: true, Caption: "The four conditions at the solution. ~Drag the free minimum and see which bars vanish.~", Draw: lessons.Draws(0, figure.Plane{
		Bald: true, Limits: figure.Limits{XMax: 2 * across, YMin: -2 * down}, Marks: marks,
	})}
}

// numbers holds four points on a line, as points of the plane.
var numbers = lessons.Toy{XY: [][2]float64{{-2, 0}, {-0.5, 0}, {1.5, 0}, {2.5, 0}}, Y: []float64{-1, -1, 1, 1}}

func showSVM(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	w, b := weight.Of(in), bias.Of(in)
	pts := numbers
	margin := func(i int, w, b float64) float64 { return pts.Y[i] * (w*pts.XY[i][0] + b) }
	least := func(w, b float64) float64 {
		m := math.Inf(1)
		for i := range pts.Y {
			m = math.Min(m, margin(i, w, b))
		}
		return m
	}
	walls := []figure.Mark{
		figure.Region{F: func(w, b float64) float64 { return least(w, b) - 1 }, Color: figure.Green, Name: "allowed by all four"},
		figure.Contours{F: func(w, _ float64) float64 { return w * w / 2 }, Levels: []float64{0.5, 1, 2, 3, 4}, Name: "level lines of ½w²"},
	}
	for i, p := range pts.XY {
		// Wall i is y (w x + b) = 1, a line in the (w, b) plane.
		pen := figure.Pen{Thin: true, Color: figure.ClassColor(lessons.Class(pts.Y[i])), Dash: []figure.Dash{figure.Solid, figure.LongDash}[lessons.Class(pts.Y[i])]}
		walls = append(walls, figure.Line{A: [2]float64{p[0], 1}, C: pts.Y[i], Pen: pen, Label: strconv.Itoa(i + 1), Name: "walls, " + lessons.ClassName(pts.Y[i])})
	}
	walls = append(walls, figure.Dot{At: [2]float64{w, b}, Class: -1, Held: true, Label: "(w, b)"})
	note := lists.Either(least(w, b) < 1-1e-3,
		"Behind a wall: at least one point has a margin below 1. See which row of the table has $h > 0$.", "All four constraints hold. Can you go further left?")
	e := &lessons.Exhibit{
		Handles: []lessons.Handle{{Label: "w and b", X: w, Y: b, XControl: weight, YControl: bias}},
		Numbers: []lessons.Number{{Label: `$\frac12 w^2$`, Value: views.Short(w * w / 2), Help: "to be made small"}, {Label: `least $y_i(w x_i + b)$`, Value: views.Short(least(w, b)), Help: "has to be at least 1"}},
		Notes:   []string{note},
		Lab:     pts.Lab("kernel", "linear", "hard_margin", "true"),
	}
	table := lessons.Table{Caption: `The constraints at your $(w, b)$: a wall is violated where $h > 0$`, Head: []string{"point", "$x_i$", "$y_i$", `$h_i = 1 - y_i(w x_i + b)$`}}
	for i, p := range pts.XY {
		table.Rows = append(table.Rows, []string{strconv.Itoa(i + 1), views.Short(p[0]), lessons.Signed(pts.Y[i]), lessons.Short(1 - margin(i, w, b))})
	}
	drawn := func(marks []figure.Mark) lessons.Figure {
		return lessons.Figure{Name: "walls", Caption: `Every training point is a wall in the plane of $w$ and $b$. ~Drag $(w, b)$ within the shaded region as far to the left as you can.~`, Draw: lessons.Draws(3, figure.Plane{
			X: "w", Y: "b", Limits: figure.Limits{XMin: -0.4, XMax: 3, YMin: -2.2, YMax: 1.2}, Stretched: true, Marks: marks,
		})}
	}
	first := drawn(walls)
	e.Tables = []lessons.Table{table}
	if solver.Of(in) {
		m := lessons.TrainHard(ctx, pts)
		first = drawn(append(slices.Clip(walls), figure.Dot{At: [2]float64{m.W[0], m.B}, Class: -1, Ring: true, Label: "solver"})).
			Instead(first, "The solver's place comes with the answer. Until then: ~drag $(w, b)$ within the shaded region as far to the left as you can~.")
		solved := lessons.Table{Caption: `The constraints at the solver's $(w, b)$: multiplier, $h_i$, and their product`, Head: []string{"point", `$\alpha_i$`, `$h_i$`, `$\alpha_i h_i$`}, After: true}
		for i, r := range m.Points {
			h := lessons.Flush(1-r.Margin, 1e-6)
			alpha := math.Abs(r.Weight)
			solved.Rows = append(solved.Rows, []string{strconv.Itoa(i + 1), views.Short(alpha), views.Short(h), views.Short(lessons.Flush(alpha*h, 1e-6))})
			if alpha > 0 {
				solved.Marked = append(solved.Marked, i)
			}
		}
		e.Tables = append(e.Tables, solved)
		e.Numbers = append(e.Numbers, lessons.Number{Label: `the solver's $\frac12 w^2$`, Value: views.Short(m.W[0] * m.W[0] / 2), Help: "the least that all four walls allow", After: true})
	}
	line := []figure.Mark{
		figure.Line{A: [2]float64{w, -1}, C: -b, Name: "f(x) = w x + b"},
		figure.Line{A: [2]float64{0, 1}, C: 1, Pen: figure.Pen{Thin: true, Dash: figure.Dotted}},
		figure.Line{A: [2]float64{0, 1}, C: -1, Pen: figure.Pen{Thin: true, Dash: figure.Dotted}},
	}
	for i, p := range pts.XY {
		line = append(line, figure.Dot{At: [2]float64{p[0], pts.Y[i]}, Class: lessons.Class(pts.Y[i]), Name: lessons.ClassName(pts.Y[i]), Label: strconv.Itoa(i + 1)})
	}
	e.Figures = []lessons.Figure{
		first,
		{Name: "points", Wide: true, Caption: `The same seen by the points, at height $y_i$: $f$ must pass above $+1$ at the positive ones and below $-1$ at the negative ones.`, Draw: lessons.Draws(1, figure.Plane{
			X: "x", Y: "y, f(x)", Limits: figure.Limits{XMin: -2.5, XMax: 3, YMin: -2, YMax: 2}, Stretched: true, Marks: line,
		})},
	}
	return e
}
