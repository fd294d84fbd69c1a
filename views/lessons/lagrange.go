package lessons

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
)

var Lagrange = Lesson{
	Slug: "lagrange", Title: "Lagrange multipliers and the KKT conditions",
	Summary: "Minimise under a constraint: four worked examples with a line that can be moved, and what its multiplier says.",
	Screens: []Screen{
		{
			Slug: "touch", Title: "At the best place the line touches a level line",
			Covers: []string{"002 lagrange", "002 example1", "001 4.2"},
			Words:  lagrangeTouchWords,
			Demo:   &Demo{Old: append(lagrangeProbe, lagrangeEnds...), Show: showLagrangeTouch},
			Questions: []Question{{
				Slug: "through", Ask: `Move the line until it passes through the free minimum (0, 0). What is $\lambda$ at the best place then?`,
				Answer: func(context.Context) (float64, error) {
					p := theory.LagrangeExamples[1]
					p.Offset = 0
					s, err := p.Minimise()
					return s.Multiplier, err
				},
				Explain: `There $\nabla f = \mathbf 0$ already, and $\nabla f = -\lambda\nabla g$ asks for $\lambda = $ %s: a constraint that costs nothing.`,
			}},
		},
		{
			Slug: "equality", Title: "An equality adds one unknown and one equation",
			Covers: []string{"002 lagrange", "002 example2", "001 4.2"},
			Words:  lagrangeEqualityWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "n1", Label: "coefficient of x", Kind: param.Integer, Default: "1", Min: -3, Max: 3, Low: -3, High: 3},
					{Name: "n2", Label: "coefficient of y", Kind: param.Integer, Default: "2", Min: -3, Max: 3, Low: -3, High: 3},
					{Name: "o", Label: "constant", Kind: param.Integer, Default: "1", Min: -3, Max: 3, Low: -3, High: 3},
				},
				Show: showLagrangeEquality,
			},
			Questions: []Question{{
				Slug: "twice", Ask: `Write the same line as $2x + 4y + 2 = 0$. What happens to the solution?`,
				Options: []string{"Nothing changes.", `The point stays, $\lambda$ doubles.`, `The point stays, $\lambda$ is halved.`, "The point moves."},
				Answer:  lagrangeTwice,
				Explain: `The line is the same, so the point is. But $\nabla g$ is twice as long, and $\nabla f = -\lambda\nabla g$ has to hold: a multiplier belongs to the way the constraint is written.`,
			}},
		},
		{
			Slug: "inequality", Title: "A wall can push, but it cannot pull",
			Covers: []string{"002 lagrange", "001 4.2"},
			Words:  lagrangeInequalityWords,
			Demo: &Demo{
				Old: append([]param.Param{
					{Name: "other", Label: "allow the other side (example 4)", Kind: param.Switch, Default: "false", Help: "Changes the sign of h."},
					{Name: "cx", Label: "free minimum x", Kind: param.Number, Default: "0", Min: -2.4, Max: 2.4, Low: -2.4, High: 2.4, Folded: true},
					{Name: "cy", Label: "free minimum y", Kind: param.Number, Default: "0", Min: -1.8, Max: 1.8, Low: -1.8, High: 1.8, Folded: true},
				}, lagrangeEnds...),
				Show: showLagrangeInequality,
			},
			Questions: []Question{
				{
					Slug: "shift", Ask: `Example 3 has $\alpha = 2/5$. Move its wall away, to $x + 2y + 2 \le 0$. What is $\alpha$ now?`,
					Answer: func(context.Context) (float64, error) {
						p := theory.LagrangeExamples[2]
						p.Offset = 2
						s, err := p.Minimise()
						return s.Multiplier, err
					},
					Explain: `The pull $-\nabla f$ grows in proportion to the distance from the free minimum, and the wall has to balance it: $\alpha = $ %s.`,
				},
				{
					Slug: "inside", Ask: "The free minimum lies well inside the allowed side, and the wall moves a little. What happens to the solution?",
					Options: []string{"It moves along with the wall.", "It moves half as far.", "Nothing."},
					Answer:  lagrangeInside,
					Explain: `A free constraint has $\alpha = 0$ and drops out of all equations: the solution is the free minimum.`,
				},
			},
		},
		{
			Slug: "cases", Title: "Examples 3 and 4: two cases, one survives",
			Covers: []string{"002 example3", "002 example4", "001 4.3"},
			Words:  lagrangeCasesWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "example", Label: "example", Kind: param.Choice, Default: "3", Options: []param.Option{{Name: "3", Label: "3: x + 2y + o ≤ 0"}, {Name: "4", Label: "4: −x − 2y − o ≤ 0"}}},
					{Name: "o", Label: "constant o", Kind: param.Integer, Default: "1", Min: -3, Max: 3, Low: -3, High: 3, Help: "1 in the slides."},
				},
				Show: showLagrangeCases,
			},
			Questions: []Question{{
				Slug: "rejected", Ask: `In example 4 the case $\alpha > 0$ leads to the same point $(-\frac15, -\frac25)$ as in example 3. Why is it no solution there?`,
				Options: []string{"The point violates the constraint.", `Its multiplier is not positive.`, "It is a solution: there are two."},
				Answer: func(context.Context) (float64, error) {
					s, err := theory.LagrangeExamples[3].Minimise()
					if err != nil {
						return 0, err
					}
					return map[theory.Verdict]float64{theory.Infeasible: 0, theory.MultiplierSign: 1, theory.Accepted: 2}[s.Cases[1].Verdict], nil
				},
				Explain: `The point lies on the wall, so it is allowed. But $\alpha = -\frac25$ contradicts $\alpha > 0$: the wall would have to pull. Let go, and $f$ falls all the way to the free minimum.`,
			}},
		},
		{
			Slug: "kkt", Title: "Many constraints: the KKT conditions",
			Covers: []string{"002 generalized", "001 4.2", "001 4.3"},
			Words:  lagrangeKKTWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "cx", Label: "free minimum x", Kind: param.Number, Default: "1.3", Min: -2.4, Max: 2.4, Low: -2.4, High: 2.4, Folded: true},
					{Name: "cy", Label: "free minimum y", Kind: param.Number, Default: "1", Min: -1.8, Max: 1.8, Low: -1.8, High: 1.8, Folded: true},
				},
				Show: showLagrangeKKT,
			},
			Questions: []Question{
				{
					Slug: "how-many", Ask: "Two walls make four cases. How many do twelve inequalities make?",
					Answer: func(context.Context) (float64, error) {
						two := float64(len(lagrangeAll([2]float64{}, lagrangeWalls)))
						return math.Pow(two, 12/float64(len(lagrangeWalls))), nil
					},
					Explain: `Each wall is free or saturated, so there are $2^{12} = $ %s. A training set has one inequality a point: going through the cases is hopeless, and the next lesson finds another way.`,
				},
				{
					Slug: "slack", Ask: `At a solution the third multiplier is $\alpha_3 = 0.7$. What is $h_3$ there?`,
					Options: []string{"negative", "0", "positive", "unknown without more numbers"},
					Answer:  lagrangeSlack,
					Explain: `Complementary slackness, $\alpha_3 h_3 = 0$, leaves nothing else: a wall that pushes is touched.`,
				},
			},
		},
		{
			Slug: "svm", Title: "A classifier is such a problem: one wall a point",
			Covers: []string{"001 4.3", "001 4.1"},
			Words:  lagrangeSVMWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "w", Label: "w", Kind: param.Number, Default: "1.8", Min: -0.5, Max: 3, Low: -0.5, High: 3, Folded: true},
					{Name: "b", Label: "b", Kind: param.Number, Default: "-1.2", Min: -2.2, Max: 1.2, Low: -2.2, High: 1.2, Folded: true},
					{Name: "solver", Label: "show the solver's solution", Kind: param.Switch, Default: "false", Help: "Try to find it first."},
				},
				Show: showLagrangeSVM,
			},
			Questions: []Question{{
				Slug: "walls", Ask: "At the solution, how many of the four walls push?",
				Answer: func(ctx context.Context) (float64, error) {
					m, err := TrainHard(ctx, lagrangeNumbers)
					if err != nil {
						return 0, err
					}
					return float64(m.Report.SupportVectors), nil
				},
				Within:  0.001,
				Explain: `%s: the innermost point of each class. Their multipliers are positive; the outer points are free and might be left out.`,
			}},
		},
	},
}

// lagrangeEnds are the two places through which the line of the constraint goes;
// at first it is x + 2y + 1 = 0.
var lagrangeEnds = []param.Param{
	{Name: "ax", Label: "first end of the line, x", Kind: param.Number, Default: "2", Min: -2.4, Max: 2.4, Low: -2.4, High: 2.4, Folded: true},
	{Name: "ay", Label: "first end of the line, y", Kind: param.Number, Default: "-1.5", Min: -1.8, Max: 1.8, Low: -1.8, High: 1.8, Folded: true},
	{Name: "bx", Label: "second end of the line, x", Kind: param.Number, Default: "-2.2", Min: -2.4, Max: 2.4, Low: -2.4, High: 2.4, Folded: true},
	{Name: "by", Label: "second end of the line, y", Kind: param.Number, Default: "0.6", Min: -1.8, Max: 1.8, Low: -1.8, High: 1.8, Folded: true},
}

var lagrangeProbe = []param.Param{
	{Name: "px", Label: "probe x", Kind: param.Number, Default: "0.8", Min: -2.4, Max: 2.4, Low: -2.4, High: 2.4, Folded: true},
	{Name: "py", Label: "probe y", Kind: param.Number, Default: "-0.9", Min: -1.8, Max: 1.8, Low: -1.8, High: 1.8, Folded: true},
}

var lagrangeLimits = figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.8, YMax: 1.8}

// lagrangeLine is the constraint through the two ends, with a normal as long as
// that of the slides' examples, √5; false where the ends coincide.
func lagrangeLine(in Input) (theory.Problem, bool) {
	a, b := lineEnds(in)
	n := [2]float64{b[1] - a[1], a[0] - b[0]}
	length := Norm(n)
	if length < 1e-6 {
		return theory.Problem{}, false
	}
	for k := range n {
		n[k] *= math.Sqrt(5) / length
	}
	return theory.Problem{Scale: [2]float64{1, 1}, Kind: theory.Equality, Normal: n, Offset: -n[0]*a[0] - n[1]*a[1]}, true
}

// lagrangeApart is what is shown where the two ends of a line coincide.
func lagrangeApart(p theory.Problem, in Input) *Exhibit {
	return &Exhibit{
		Figures: []Figure{lagrangePlane("plane", "Level lines of f.", lagrangeLevels(p))},
		Handles: lineHandles(in),
		Notes:   []string{NoLine},
	}
}

// lagrangePlane is a drawing over x and y.
func lagrangePlane(name, caption string, marks ...[]figure.Mark) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		p := figure.Plane{Format: l.Format(2), X: "x", Y: "y", Limits: lagrangeLimits}
		for _, m := range marks {
			p.Marks = append(p.Marks, m...)
		}
		return p.Picture()
	}}
}

// lagrangeLevels are level lines of the objective and its free minimum.
func lagrangeLevels(p theory.Problem) []figure.Mark {
	return []figure.Mark{
		figure.Contours{F: func(x, y float64) float64 { return p.F([2]float64{x, y}) }, Levels: []float64{0.5, 1, 2, 3, 4, 6, 8}, Name: "level lines of f"},
		figure.Dot{At: p.Center, Class: -1, Hollow: true, Label: "free minimum"},
	}
}

// lagrangeThrough is the level line of the objective through a place.
func lagrangeThrough(p theory.Problem, at [2]float64) figure.Mark {
	return figure.Contours{
		F: func(x, y float64) float64 { return p.F([2]float64{x, y}) }, Levels: []float64{p.F(at)}, Plain: true,
		Pen: figure.Pen{Color: figure.Green, Dash: figure.Dashed}, Name: "level line through the dot",
	}
}

// lagrangeWall is the line of the constraint.
func lagrangeWall(p theory.Problem, name string) figure.Mark {
	return figure.Line{A: p.Normal, C: -p.Offset, Name: name}
}

// lagrangeGradient is grad f at a place.
func lagrangeGradient(p theory.Problem, at [2]float64) [2]float64 {
	return [2]float64{2 * p.Scale[0] * (at[0] - p.Center[0]), 2 * p.Scale[1] * (at[1] - p.Center[1])}
}

// lagrangeArrows are the two gradients at a place, half as long as they are.
func lagrangeArrows(p theory.Problem, at [2]float64, constraint string) []figure.Mark {
	tip := func(v [2]float64) [2]float64 { return [2]float64{at[0] + v[0]/2, at[1] + v[1]/2} }
	marks := []figure.Mark{figure.Arrow{From: at, To: tip(p.Normal), Pen: figure.Pen{Color: figure.Magenta}, Label: "∇" + constraint}}
	if g := lagrangeGradient(p, at); Norm(g) > 1e-9 {
		marks = append(marks, figure.Arrow{From: at, To: tip(g), Label: "∇f"})
	}
	return marks
}

func showLagrangeTouch(_ context.Context, in Input) (*Exhibit, error) {
	p, ok := lagrangeLine(in)
	if !ok {
		return lagrangeApart(theory.Problem{Scale: [2]float64{1, 1}}, in), nil
	}
	at := Foot(p.Normal, p.Offset, in.place("px", "py"))
	g := lagrangeGradient(p, at)
	along := math.Abs(g[0]*p.Normal[1]-g[1]*p.Normal[0]) / Norm(p.Normal)
	note := "The dashed level line is *crossed*: on one side of the dot the line of the constraint runs through lower ground. Drag the dot there."
	touched := along < 0.1 // as near as a hand gets
	if touched {
		note = "The dashed level line is *touched*: the two gradients are parallel, and there is no lower place on the line."
	}
	e := &Exhibit{
		Figures: []Figure{lagrangePlane("plane", `Drag the dot along the line, and the ends of the line. The arrows are the gradients of $f$ and $g$ at the dot, drawn at half their length.`,
			lagrangeLevels(p), []figure.Mark{lagrangeThrough(p, at), lagrangeWall(p, "constraint g = 0")}, lagrangeArrows(p, at, "g"), []figure.Mark{figure.Dot{At: at, Class: -1}})},
		Handles: append([]Handle{{Label: "dot on the line", X: at[0], Y: at[1], XParam: "px", YParam: "py"}}, lineHandles(in)...),
		Numbers: []Number{
			{Label: `$f$ at the dot`, Value: views.Short(p.F(at)), Help: "make it as small as the line allows"},
			{Label: "slope along the line", Value: Short(along), Help: `part of $\nabla f$ in the direction of the line`},
		},
		Notes: []string{note},
	}
	if touched {
		lambda := -(g[0]*p.Normal[0] + g[1]*p.Normal[1]) / (p.Normal[0]*p.Normal[0] + p.Normal[1]*p.Normal[1])
		e.Numbers = append(e.Numbers, Number{Label: `$\lambda$`, Value: Short(lambda), Help: `from $\nabla f = -\lambda\nabla g$; $\lVert\nabla g\rVert$ is kept at $\sqrt 5$`})
	}
	if Norm(g) > 1e-6 {
		cos := (g[0]*p.Normal[0] + g[1]*p.Normal[1]) / Norm(g) / Norm(p.Normal)
		angle := math.Acos(math.Max(-1, math.Min(1, cos))) * 180 / math.Pi
		e.Numbers = append(e.Numbers, Number{Label: "angle between the gradients", Value: fmt.Sprintf("%.0f°", angle), Help: "0° or 180°: parallel"})
	}
	return e, nil
}

// lagrangeTwice compares example 2 with the same line written twice as large.
func lagrangeTwice(context.Context) (float64, error) {
	p := theory.LagrangeExamples[1]
	one, err := p.Minimise()
	if err != nil {
		return 0, err
	}
	p.Normal, p.Offset = [2]float64{2 * p.Normal[0], 2 * p.Normal[1]}, 2*p.Offset
	two, err := p.Minimise()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	switch ratio := two.Multiplier / one.Multiplier; {
	case !near(one.Point[0], two.Point[0]) || !near(one.Point[1], two.Point[1]):
		return 3, err
	case near(ratio, 2):
		return 1, err
	case near(ratio, 0.5):
		return 2, err
	}
	return 0, err
}

// lagrangeInside moves the wall of example 4.
func lagrangeInside(context.Context) (float64, error) {
	p := theory.LagrangeExamples[3]
	before, err := p.Minimise()
	if err != nil {
		return 0, err
	}
	p.Offset -= 0.1
	after, err := p.Minimise()
	if before.Point == after.Point {
		return 2, err
	}
	return 0, err
}

// lagrangeConstraint writes g(x, y) in TeX.
func lagrangeConstraint(p theory.Problem) string {
	return TeXSum(TeXTerm{p.Normal[0], "x"}, TeXTerm{p.Normal[1], "y"}, TeXTerm{p.Offset, ""})
}

// lagrangeRay are the places where the gradient of the Lagrange function of
// x² + y² vanishes, one for each multiplier.
func lagrangeRay(p theory.Problem, multiplier string) figure.Mark {
	return figure.Line{A: [2]float64{-p.Normal[1], p.Normal[0]}, Pen: figure.Pen{Color: figure.Blue, Dash: figure.DashDot}, Name: "∇L = 0, one place for each " + multiplier}
}

func showLagrangeEquality(_ context.Context, in Input) (*Exhibit, error) {
	p := theory.Problem{Scale: [2]float64{1, 1}, Kind: theory.Equality, Normal: in.place("n1", "n2"), Offset: in.Number("o")}
	const steps = 7
	e := &Exhibit{Steps: steps, Step: min(in.Step, steps-1)}
	if p.Normal == ([2]float64{}) {
		e.Figures = []Figure{lagrangePlane("plane", "Level lines of f.", lagrangeLevels(p))}
		e.Notes = []string{"With both coefficients 0 there is no line. Give one of them a value."}
		return e, nil
	}
	s, err := p.Minimise()
	if err != nil {
		return nil, err
	}
	n, g := p.Normal, lagrangeConstraint(p)
	sum := (n[0]*n[0] + n[1]*n[1]) / 2
	e.Body = Derivation(e.Step, []Line{
		{"Minimise $f$ on the line $g = 0$.", `f = x^2 + y^2, \qquad g = ` + g + ` = 0`},
		{"One multiplier for the constraint gives the Lagrange function.", `\mathcal L(x, y, \lambda) = x^2 + y^2 + \lambda\,(` + g + `)`},
		{"Its derivative in $x$ must vanish.", TeXSum(TeXTerm{2, "x"}, TeXTerm{n[0], `\lambda`}) + ` = 0 \quad\Rightarrow\quad x = ` + TeXSum(TeXTerm{-n[0] / 2, `\lambda`})},
		{"So must the one in $y$: both together describe the line of dashes and dots.", TeXSum(TeXTerm{2, "y"}, TeXTerm{n[1], `\lambda`}) + ` = 0 \quad\Rightarrow\quad y = ` + TeXSum(TeXTerm{-n[1] / 2, `\lambda`})},
		{`The derivative in $\lambda$ is the constraint itself.`, `\frac{\partial\mathcal L}{\partial\lambda} = ` + g + ` = 0`},
		{`Put $x$ and $y$ into it: one equation for $\lambda$.`, TeXSum(TeXTerm{-sum, `\lambda`}, TeXTerm{p.Offset, ""}) + ` = 0 \quad\Rightarrow\quad \lambda^* = ` + TeXFraction(s.Multiplier)},
		{"And back: the only solution.", `(x^*,\ y^*) = ` + TeXPoint(s.Point) + `, \qquad f^* = ` + TeXFraction(s.Objective)},
	}...)
	marks := []figure.Mark{lagrangeWall(p, "constraint g = 0")}
	caption := `Level lines of $f$ and the line $g = 0$. Step on to see what the equations say about the solution.`
	if e.Step >= 3 {
		marks = append(marks, lagrangeRay(p, "λ"))
		caption = `On the line of dashes and dots the gradients of $f$ and $g$ are parallel. The solution lies on it *and* on $g = 0$.`
	}
	if e.Step >= 5 {
		e.Numbers = []Number{{Label: `$\lambda^*$`, Value: views.Short(s.Multiplier), Help: "any sign: an equality holds from both sides"}}
	}
	if e.Step >= 6 {
		marks = append(append(marks, lagrangeThrough(p, s.Point)), append(lagrangeArrows(p, s.Point, "g"), figure.Dot{At: s.Point, Class: -1})...)
		e.Numbers = append(e.Numbers,
			Number{Label: `$(x^*, y^*)$`, Value: Pair(s.Point)},
			Number{Label: `$f(x^*, y^*)$`, Value: views.Short(s.Objective)},
			Number{Label: `$g(x^*, y^*)$`, Value: Short(p.G(s.Point)), Help: "as demanded"})
	}
	e.Figures = []Figure{lagrangePlane("plane", caption, lagrangeLevels(p), marks)}
	return e, nil
}

// lagrangeHalf are the two sides of a wall h <= 0.
func lagrangeHalf(p theory.Problem) []figure.Mark {
	n := p.Normal
	return []figure.Mark{
		figure.Region{F: figure.Linear([2]float64{-n[0], -n[1]}, p.Offset), Color: figure.Green, Name: "allowed: h ≤ 0"},
		lagrangeWall(p, "wall h = 0"),
	}
}

func showLagrangeInequality(_ context.Context, in Input) (*Exhibit, error) {
	p, ok := lagrangeLine(in)
	p.Scale, p.Center = [2]float64{1, 1}, in.place("cx", "cy")
	centre := Handle{Label: "free minimum", X: p.Center[0], Y: p.Center[1], XParam: "cx", YParam: "cy"}
	if !ok {
		e := lagrangeApart(p, in)
		e.Handles = append(e.Handles, centre)
		return e, nil
	}
	p.Kind = theory.Inequality
	if in.On("other") {
		p.Normal, p.Offset = [2]float64{-p.Normal[0], -p.Normal[1]}, -p.Offset
	}
	s, err := p.Minimise()
	if err != nil {
		return nil, err
	}
	line := s.Cases[1]
	state, note := "free", `The free minimum is allowed, so the wall is *free* and $\alpha = 0$. At the nearest place on the wall both gradients point the same way: only a wall that *pulls* could hold the solution there.`
	marks := append(lagrangeHalf(p), lagrangeArrows(p, line.Point, "h")...)
	ground, solved := lagrangeLevels(p), "solution"
	if s.Saturated {
		state, note = "saturated", `The free minimum is forbidden, so the solution leans on the wall, which is *saturated*. There the gradients point in opposite directions: the wall pushes back with $\alpha > 0$.`
		marks = append(marks, lagrangeThrough(p, s.Point))
	} else {
		ground, solved = ground[:1], "free minimum = solution"
		marks = append(marks, figure.Dot{At: line.Point, Class: -1, Hollow: true, Label: "rejected"})
	}
	if math.Abs(line.Multiplier) < 1e-9 {
		note = `The wall passes through the free minimum: it is touched, but need not push. $\alpha = 0$ *and* $h = 0$.`
	}
	return &Exhibit{
		Figures: []Figure{lagrangePlane("plane", `The shaded side is allowed. Drag the wall by its ends, or the free minimum across it; the black dot is the solution.`,
			ground, marks, []figure.Mark{figure.Dot{At: s.Point, Class: -1, Label: solved}})},
		Handles: append(lineHandles(in), centre),
		Notes:   []string{note},
		Numbers: []Number{
			{Label: "the constraint is", Value: state},
			{Label: `$\alpha$`, Value: Short(s.Multiplier), Help: `multiplier, for $\lVert\nabla h\rVert = \sqrt 5$ as in the examples`},
			{Label: `$h(x^*, y^*)$`, Value: Short(p.G(s.Point)), Help: `0 on the wall, negative within`},
			{Label: `$f(x^*, y^*)$`, Value: views.Short(s.Objective), Help: `0 at the free minimum`},
			{Label: `$\alpha$ on the wall`, Value: Short(line.Multiplier), Help: "what the equations give there; below 0: rejected"},
		},
	}, nil
}

// lagrangeExample is example 3 or 4 with another constant.
func lagrangeExample(in Input) theory.Problem {
	p := theory.LagrangeExamples[2]
	if in.Text("example") == "4" {
		p = theory.LagrangeExamples[3]
	}
	p.Offset *= in.Number("o")
	return p
}

func showLagrangeCases(_ context.Context, in Input) (*Exhibit, error) {
	p := lagrangeExample(in)
	s, err := p.Minimise()
	if err != nil {
		return nil, err
	}
	free, line := s.Cases[0], s.Cases[1]
	n, h := p.Normal, lagrangeConstraint(p)
	dx, dy := TeXSum(TeXTerm{2, "x"}, TeXTerm{n[0], `\alpha`}), TeXSum(TeXTerm{2, "y"}, TeXTerm{n[1], `\alpha`})
	lines := []Line{
		{"Minimise $f$ on the allowed side of the wall.", `f = x^2 + y^2, \qquad h = ` + h + ` \le 0`},
		{`One multiplier gives the generalised Lagrange function.`, `\mathcal L(x, y, \alpha) = x^2 + y^2 + \alpha\,(` + h + `)`},
		{"Its derivatives in $x$ and $y$ vanish. Mind the signs: they are those of $h$.", dx + ` = 0, \qquad ` + dy + ` = 0`},
		{`Three more conditions. The first holds if one factor is 0, which makes two cases.`, `\alpha\,h = 0, \qquad \alpha \ge 0, \qquad h \le 0`},
		{`*First case,* $\alpha = 0$: the wall is ignored.`, `x = 0, \quad y = 0, \qquad h(0, 0) = ` + TeXFraction(free.Constraint)},
		{Either(free.Verdict == theory.Accepted, "Is that place allowed? Yes: all conditions hold.", "Is that place allowed? No: the first case is rejected."), `h(0, 0) = ` + TeXFraction(free.Constraint) + Either(free.Verdict == theory.Accepted, ` \le 0`, ` > 0`)},
		{`*Second case,* $\alpha > 0$: then $h = 0$, a linear system as in example 2.`, `x = ` + TeXSum(TeXTerm{-n[0] / 2, `\alpha`}) + `, \quad y = ` + TeXSum(TeXTerm{-n[1] / 2, `\alpha`}) + ` \quad\Rightarrow\quad \alpha = ` + TeXFraction(line.Multiplier)},
		{Either(line.Verdict == theory.Accepted, "Is that multiplier positive, as supposed? Yes: all conditions hold.", "Is that multiplier positive, as supposed? No: the second case is rejected."), `\alpha = ` + TeXFraction(line.Multiplier) + Either(line.Verdict == theory.Accepted, ` > 0`, ` \not> 0`)},
		{Either(s.Saturated, "So the constraint is *saturated*.", "So the constraint is *free*."), `(x^*,\ y^*) = ` + TeXPoint(s.Point) + `, \quad \alpha^* = ` + TeXFraction(s.Multiplier) + `, \quad f^* = ` + TeXFraction(s.Objective)},
	}
	e := &Exhibit{Steps: len(lines), Step: min(in.Step, len(lines)-1)}
	e.Body = Derivation(e.Step, lines...)
	marks := lagrangeHalf(p)
	table := Table{Caption: "The two cases", Head: []string{"case", "place", `$\alpha$`, "$h$", "$f$", "verdict"}}
	candidate := func(c theory.Case, name string, judged bool) {
		verdict := "to be checked"
		if judged {
			verdict = c.Verdict.String()
		}
		table.Rows = append(table.Rows, []string{name, Pair(c.Point), views.Short(c.Multiplier), views.Short(c.Constraint), views.Short(c.Objective), verdict})
		table.Marked = []int{len(table.Rows) - 1}
		marks = append(marks, figure.Dot{At: c.Point, Class: -1, Hollow: judged && c.Verdict != theory.Accepted, Label: Either(judged, c.Verdict.String(), "candidate")})
	}
	if e.Step >= 4 {
		candidate(free, `$\alpha = 0$`, e.Step >= 5)
	}
	if e.Step >= 6 {
		marks = append(marks, lagrangeRay(p, "α"))
		marks = append(marks, lagrangeArrows(p, line.Point, "h")...)
		candidate(line, `$\alpha > 0$`, e.Step >= 7)
	}
	if len(table.Rows) > 0 {
		e.Tables = []Table{table}
	}
	levels := []figure.Mark{lagrangeLevels(p)[0]}
	e.Figures = []Figure{lagrangePlane("plane", `Allowed is the shaded side. Full dots are candidates, hollow ones rejected.`, levels, marks)}
	return e, nil
}

// lagrangeAll goes through the cases of minimising |x - c|² under any number of
// walls h_j <= 0: every set of walls that are touched.
func lagrangeAll(c [2]float64, walls []theory.Problem) (cases []lagrangeSet) {
	for set := range 1 << len(walls) {
		cs := lagrangeSet{at: c, alpha: make([]float64, len(walls)), touched: make([]bool, len(walls)), accepted: true}
		var on []int
		for j := range walls {
			if cs.touched[j] = set>>j&1 == 1; cs.touched[j] {
				on = append(on, j)
			}
		}
		if len(on) > 0 {
			// x = c - sum_j alpha_j n_j/2 and h_j(x) = 0 are (N N'/2) alpha = h(c).
			a, h := mat.NewSymDense(len(on), nil), mat.NewVecDense(len(on), nil)
			for r, j := range on {
				h.SetVec(r, walls[j].G(c))
				for q, k := range on {
					a.SetSym(r, q, (walls[j].Normal[0]*walls[k].Normal[0]+walls[j].Normal[1]*walls[k].Normal[1])/2)
				}
			}
			var alpha mat.VecDense
			if alpha.SolveVec(a, h) != nil {
				continue // parallel walls: no place is on both
			}
			for r, j := range on {
				cs.alpha[j] = alpha.AtVec(r)
				cs.at[0] -= cs.alpha[j] * walls[j].Normal[0] / 2
				cs.at[1] -= cs.alpha[j] * walls[j].Normal[1] / 2
			}
		}
		for j, w := range walls {
			h := w.G(cs.at)
			if cs.touched[j] {
				h = 0
			}
			cs.h = append(cs.h, h)
			cs.accepted = cs.accepted && h <= 1e-9 && (!cs.touched[j] || cs.alpha[j] > 1e-9)
		}
		cases = append(cases, cs)
	}
	return cases
}

// lagrangeSet is one of the cases of lagrangeAll.
type lagrangeSet struct {
	touched  []bool // per wall: supposes h = 0, otherwise alpha = 0
	alpha, h []float64
	at       [2]float64
	accepted bool
}

// verdict says what decides the case.
func (c lagrangeSet) verdict() string {
	for j, h := range c.h {
		if h > 1e-9 {
			return fmt.Sprintf("violates $h_%d \\le 0$", j+1)
		}
	}
	for j, on := range c.touched {
		if on && c.alpha[j] <= 1e-9 {
			return fmt.Sprintf(`$\alpha_%d$ not positive`, j+1)
		}
	}
	return "accepted"
}

// lagrangeWalls are the two constraints of the screen on the KKT conditions.
var lagrangeWalls = []theory.Problem{
	{Scale: [2]float64{1, 1}, Kind: theory.Inequality, Normal: [2]float64{1, 2}, Offset: -1},
	{Scale: [2]float64{1, 1}, Kind: theory.Inequality, Normal: [2]float64{2, 0}, Offset: -1},
}

// lagrangeSlack finds what a wall that pushes has for h, wherever the free minimum is.
func lagrangeSlack(context.Context) (float64, error) {
	answer := 3.0
	for _, c := range [][2]float64{{1.3, 1}, {-1, 2}, {2, -1}} {
		for _, s := range lagrangeAll(c, lagrangeWalls) {
			for j, a := range s.alpha {
				if !s.accepted || a <= 0 {
					continue
				}
				found := 1.0
				switch h := lagrangeWalls[j].G(s.at); {
				case h < -1e-9:
					found = 0
				case h > 1e-9:
					found = 2
				}
				if answer != 3 && answer != found {
					return 3, nil
				}
				answer = found
			}
		}
	}
	return answer, nil
}

func showLagrangeKKT(_ context.Context, in Input) (*Exhibit, error) {
	p := theory.Problem{Scale: [2]float64{1, 1}, Center: in.place("cx", "cy")}
	inside := func(x, y float64) float64 {
		return -math.Max(lagrangeWalls[0].G([2]float64{x, y}), lagrangeWalls[1].G([2]float64{x, y}))
	}
	marks := append(lagrangeLevels(p)[:1], figure.Region{F: inside, Color: figure.Green, Name: "allowed by both walls"})
	table := Table{Caption: "Every wall is touched or ignored: four cases", Head: []string{"touched", "place", `$\alpha_1$`, `$\alpha_2$`, "$h_1$", "$h_2$", "verdict"}}
	names := []string{"none", "wall 1", "wall 2", "both"}
	e := &Exhibit{Handles: []Handle{{Label: "free minimum", X: p.Center[0], Y: p.Center[1], XParam: "cx", YParam: "cy"}}}
	for j, w := range lagrangeWalls {
		label := []string{"wall 1: x + 2y − 1 ≤ 0", "wall 2: 2x − 1 ≤ 0"}[j]
		marks = append(marks, figure.Line{A: w.Normal, C: -w.Offset, Pen: figure.Pen{Dash: []figure.Dash{figure.Solid, figure.LongDash}[j]}, Name: label})
	}
	for i, c := range lagrangeAll(p.Center, lagrangeWalls) {
		table.Rows = append(table.Rows, []string{
			names[i], Pair(c.at), Short(c.alpha[0]), Short(c.alpha[1]),
			Short(c.h[0]), Short(c.h[1]), c.verdict(),
		})
		if !c.accepted {
			continue
		}
		table.Marked = append(table.Marked, i)
		solved := "solution"
		if pull := lagrangeGradient(p, c.at); Norm(pull) < 1e-9 {
			solved = "free minimum = solution"
		} else {
			marks = append(marks, figure.Dot{At: p.Center, Class: -1, Hollow: true, Label: "free minimum"})
			marks = append(marks, figure.Arrow{From: c.at, To: [2]float64{c.at[0] - pull[0]/2, c.at[1] - pull[1]/2}, Label: "−∇f"})
		}
		for j, w := range lagrangeWalls {
			if c.alpha[j] > 0 {
				push := [2]float64{-c.alpha[j] * w.Normal[0], -c.alpha[j] * w.Normal[1]}
				marks = append(marks, figure.Arrow{From: c.at, To: [2]float64{c.at[0] + push[0]/2, c.at[1] + push[1]/2}, Pen: figure.Pen{Color: figure.Magenta}, Label: "−α" + Subscript(j+1) + " ∇h" + Subscript(j+1)})
			}
		}
		marks = append(marks, figure.Dot{At: c.at, Class: -1, Label: solved})
	}
	e.Figures = []Figure{lagrangePlane("plane", `Drag the free minimum around: into the allowed corner, behind one wall, behind both. The pull $-\nabla f$ and the pushes of the walls add up to nothing (half their length is drawn).`, marks)}
	e.Tables = []Table{table}
	return e, nil
}

// lagrangeNumbers are four points on a line, as points of the plane.
var lagrangeNumbers = Toy{[][2]float64{{-2, 0}, {-0.5, 0}, {1.5, 0}, {2.5, 0}}, []float64{-1, -1, 1, 1}}

func showLagrangeSVM(ctx context.Context, in Input) (*Exhibit, error) {
	w, b := in.Number("w"), in.Number("b")
	pts := lagrangeNumbers
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
		// Wall i is y (w x + b) = 1, a line over w and b.
		pen := figure.Pen{Thin: true, Color: figure.ClassColor(Class(pts.Y[i])), Dash: []figure.Dash{figure.Solid, figure.LongDash}[Class(pts.Y[i])]}
		walls = append(walls, figure.Line{A: [2]float64{p[0], 1}, C: pts.Y[i], Pen: pen, Label: strconv.Itoa(i + 1), Name: "walls, " + ClassName(pts.Y[i])})
	}
	walls = append(walls, figure.Dot{At: [2]float64{w, b}, Class: -1, Label: "(w, b)"})
	note := "All four constraints hold. Can you go further left?"
	if worst := least(w, b); worst < 1-1e-3 {
		note = "Behind a wall: at least one point has a margin below 1. See which row of the table has $h > 0$."
	}
	e := &Exhibit{
		Handles: []Handle{{Label: "w and b", X: w, Y: b, XParam: "w", YParam: "b"}},
		Numbers: []Number{{Label: `$\frac12 w^2$`, Value: views.Short(w * w / 2), Help: "to be made small"}, {Label: `least $y_i(w x_i + b)$`, Value: views.Short(least(w, b)), Help: "has to be at least 1"}},
		Notes:   []string{note},
		Lab:     pts.Lab("kernel", "linear", "hard_margin", "true"),
	}
	table := Table{Caption: `The constraints at your $(w, b)$: a wall is violated where $h > 0$`, Head: []string{"point", "$x_i$", "$y_i$", `$h_i = 1 - y_i(w x_i + b)$`}}
	for i, p := range pts.XY {
		table.Rows = append(table.Rows, []string{strconv.Itoa(i + 1), views.Short(p[0]), views.Short(pts.Y[i]), Short(1 - margin(i, w, b))})
	}
	if in.On("solver") {
		m, err := TrainHard(ctx, pts)
		if err != nil {
			return nil, err
		}
		walls = append(walls, figure.Dot{At: [2]float64{m.W[0], m.B}, Class: -1, Ring: true, Label: "solver"})
		table.Caption = `The constraints at your $(w, b)$, and the solver's: its multiplier $\alpha_i$, its $h_i$, and their product`
		table.Head = append(table.Head, `$\alpha_i$`, `$h_i$ there`, `$\alpha_i h_i$`)
		for i, r := range m.Points {
			h := Flush(1-r.Margin, 1e-6)
			alpha := math.Abs(r.Weight)
			table.Rows[i] = append(table.Rows[i], views.Short(alpha), views.Short(h), views.Short(Flush(alpha*h, 1e-6)))
			if alpha > 0 {
				table.Marked = append(table.Marked, i)
			}
		}
		e.Numbers = append(e.Numbers, Number{Label: `the solver's $\frac12 w^2$`, Value: views.Short(m.W[0] * m.W[0] / 2), Help: "the least that all four walls allow"})
	}
	e.Tables = []Table{table}
	line := []figure.Mark{
		figure.Line{A: [2]float64{w, -1}, C: -b, Name: "f(x) = w x + b"},
		figure.Line{A: [2]float64{0, 1}, C: 1, Pen: figure.Pen{Thin: true, Dash: figure.Dotted}},
		figure.Line{A: [2]float64{0, 1}, C: -1, Pen: figure.Pen{Thin: true, Dash: figure.Dotted}},
	}
	for i, p := range pts.XY {
		line = append(line, figure.Dot{At: [2]float64{p[0], pts.Y[i]}, Class: Class(pts.Y[i]), Name: ClassName(pts.Y[i]), Label: strconv.Itoa(i + 1)})
	}
	e.Figures = []Figure{
		{Name: "walls", Caption: `Every training point is a wall in the plane of $w$ and $b$. Drag $(w, b)$ within the shaded region as far to the left as you can.`, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Plane{Format: l.Format(3), X: "w", Y: "b", Limits: figure.Limits{XMin: -0.4, XMax: 3, YMin: -2.2, YMax: 1.2}, Stretched: true, Marks: walls}.Picture()
		}},
		{Name: "points", Wide: true, Caption: `The same seen by the points, at height $y_i$: $f$ must pass above $+1$ at the positive ones and below $-1$ at the negative ones.`, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Plane{Format: l.Format(1), X: "x", Y: "y, f(x)", Limits: figure.Limits{XMin: -2.5, XMax: 3, YMin: -2, YMax: 2}, Stretched: true, Marks: line}.Picture()
		}},
	}
	return e, nil
}
