// Package hardmargin is the lesson on the hard margin.
package hardmargin

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
	"marginlab/ml/theory"
	"marginlab/ml/trace"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls of the screens.
var (
	weights = lessons.NewPlace("w1", "w₁", "w2", "w₂", [2]float64{1.2, 0.3}, figure.Limits{XMin: -0.6, XMax: 2, YMin: -0.6, YMax: 1.5})
	solver  = lessons.SwitchControl{Name: "solver", Label: "show the solver's w", Default: "false", Help: "Try to find it first."}
	places  = lessons.NewPlaces(eight.XY, [2]float64{3.4, 2.6}, [2]float64{3.4, 2.6})
	only    = lessons.SwitchControl{Name: "only", Label: "delete all other points", Default: "false", Help: "Train on the support vectors alone."}
	c       = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "0.2", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true, Help: "Large is as good as hard."}
)

// stacked holds ten points with one class above the other.
var stacked = lessons.Toy{
	XY: [][2]float64{{-2.6, -1.5}, {-1.2, -2.1}, {0.3, -1.3}, {1.4, -0.2}, {2.7, -0.9}, {-2.3, 0.9}, {-0.9, 0.1}, {0.4, 2.0}, {1.1, 1.8}, {2.6, 2.2}},
	Y:  []float64{-1, -1, -1, -1, -1, 1, 1, 1, 1, 1},
}

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "hard-margin",
		Task: "data=iris-versicolor-virginica",
		Screens: []lessons.Screen{
			{
				Slug:    "primal",
				Demo:    lessons.NewDemo(showPrimal, weights, solver),
				Answers: map[string]lessons.Answer{"more": oneMore},
				Sketches: map[string]*lessons.Sketch{
					"place": {
						Of: "the line", Over: "x₁", X: []float64{-3, 3}, Height: 5.2,
						Truth: func(ctx context.Context) figure.Curve {
							m := lessons.TrainHard(ctx, stacked)
							return lessons.CurveOf(-3.5, 3.5, 1, func(x float64) float64 { return -(m.W[0]*x + m.B) / m.W[1] })
						},
						Draw: lessons.SketchPlane("x₁", "x₂", lessons.ToyLimits, stacked.Dots(nil)...),
					},
				},
			},
			{Slug: "dual", Demo: lessons.NewDemo(showDual), Answers: map[string]lessons.Answer{"unknowns": lessons.Is(float64(len(six.Y)))}},
			{
				Slug: "by-hand",
				Demo: lessons.NewDemo(showByHand),
				Answers: map[string]lessons.Answer{
					"units": func(ctx context.Context) float64 {
						double := lessons.Toy{Y: six.Y, XY: lists.Map(six.XY, func(p [2]float64) [2]float64 { return [2]float64{2 * p[0], 2 * p[1]} })}
						return math.Round(1e6*lessons.TrainHard(ctx, double).Points[3].Weight) / 1e6
					},
				},
			},
			{
				Slug:    "support",
				Demo:    lessons.NewDemo(showSupport, places, only),
				Answers: map[string]lessons.Answer{"delete": deletion, "corners": fewestCorners},
			},
			{
				Slug: "duality",
				Demo: lessons.NewDemo(showDuality),
				Answers: map[string]lessons.Answer{
					"sum": func(ctx context.Context) float64 {
						return 1 / math.Sqrt(lessons.TrainHard(ctx, six).AlphaSum())
					},
				},
			},
			{Slug: "only-hard", Demo: lessons.NewDemo(showOnly, c), Answers: map[string]lessons.Answer{"sqrt": hardFormula}},
		},
	})
}

// six holds scikit-learn's six points, with round numbers.
var six = lessons.Toy{
	XY: [][2]float64{{-2, -1}, {-1, -1}, {-1, -2}, {1, 1}, {1, 2}, {2, 1}},
	Y:  []float64{-1, -1, -1, 1, 1, 1},
}

// eight holds eight points with three support vectors.
var eight = lessons.Toy{
	XY: [][2]float64{{-2.3, 0.5}, {-1.1, -0.3}, {-1.7, -1.6}, {-1.4, 1.6}, {0.9, 1.3}, {1.2, -1.2}, {2.5, 0.2}, {2.1, 1.8}},
	Y:  []float64{-1, -1, -1, -1, 1, 1, 1, 1},
}

var sixLimits = figure.Limits{XMin: -3, XMax: 3, YMin: -2.4, YMax: 2.4}

func showPrimal(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := six
	w := weights.Of(in)
	b := t.Middle(w)
	low, high := t.Edges(w)
	half := (high - low) / 2 // smallest margin y f, for the best b
	marks := []figure.Mark{
		figure.Region{F: func(x, y float64) float64 {
			low, high := t.Edges([2]float64{x, y})
			return high - low - 2
		}, Color: figure.Green, Name: "some b fulfils all constraints"},
		figure.Contours{F: func(x, y float64) float64 { return (x*x + y*y) / 2 }, Levels: []float64{0.1, 0.25, 0.5, 1, 2}, Name: "level lines of ½|w|²"},
		figure.Dot{At: w, Class: -1, Held: true, Label: "w"},
	}
	e := &lessons.Exhibit{
		Handles: []lessons.Handle{weights.Handle("w", in)},
		Numbers: []lessons.Number{
			{Label: `$\frac12\lVert\mathbf w\rVert^2$`, Value: views.Short((w[0]*w[0] + w[1]*w[1]) / 2), Help: "to be made small"},
			{Label: `least $y_i f(\mathbf x_i)$`, Value: lessons.Short(half), Help: "has to be at least 1"},
			{Label: `$1/\lVert\mathbf w\rVert$`, Value: views.Short(1 / lessons.Norm(w)), Help: "the margin, as long as the line above holds"},
		},
		Lab: t.Lab("kernel", "linear", "hard_margin", "true"),
	}
	switch {
	case half <= 0:
		e.Notes = []string{`For this direction no $b$ separates the classes at all.`}
	case half < 1-1e-3:
		e.Notes = []string{`The line separates, but some point has $y_i f(\mathbf x_i) < 1$: this $\mathbf w$ is too short for its direction.`}
	default:
		e.Notes = []string{`Every constraint holds. Is there a shorter $\mathbf w$ in the shaded region?`}
	}
	if solver.Of(in) {
		m := lessons.TrainHard(ctx, t)
		marks = append(marks, figure.Dot{At: m.W, Class: -1, Ring: true, Label: "solver"})
		e.Numbers = append(e.Numbers, lessons.Number{Label: `the solver's $\frac12\lVert\mathbf w\rVert^2$`, Value: views.Short((m.W[0]*m.W[0] + m.W[1]*m.W[1]) / 2), Help: "at the place of the region nearest to the origin"})
	}
	points := []figure.Mark{}
	if lessons.Norm(w) > 1e-9 {
		points = append(append(points, lessons.Sides(w, b)...), lessons.MarginLines(w, b)...)
	}
	e.Figures = []lessons.Figure{
		{Name: "weights", Caption: `The plane of the weights $(w_1, w_2)$; the best $b$ goes with each. ~Drag $\mathbf w$ within the shaded region as near to the origin as you can.~`, Draw: lessons.Draws(1, figure.Plane{
			X: "w₁", Y: "w₂", Limits: figure.Limits{XMin: -0.6, XMax: 2, YMin: -0.6, YMax: 1.5}, Marks: marks,
		})},
		lessons.Plane("points", `The line that belongs to it, with $f = \pm 1$ dashed. No point may lie between the dashed lines.`, sixLimits, 1, points, t.Dots(nil)),
	}
	return e
}

// oneMore leaves out each point in turn and compares the minima.
func oneMore(ctx context.Context) float64 {
	all := lessons.TrainHard(ctx, eight)
	grows, falls := false, false
	for i := range eight.Y {
		fewer := lessons.TrainHard(ctx, eight.Without(i))
		grows = grows || lessons.Norm(all.W) > lessons.Norm(fewer.W)+1e-6
		falls = falls || lessons.Norm(all.W) < lessons.Norm(fewer.W)-1e-6
	}
	return lessons.First(falls && !grows, !falls)
}

// solved draws the six points with their line, as far as a step has got.
func solved(name, caption string, more ...[]figure.Mark) lessons.Figure {
	return lessons.Plane(name, caption, sixLimits, 2, more...)
}

// dualLines derives the dual from the Lagrange function.
var dualLines = lessons.Lines(files, "dual")

func showDual(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := six
	m := lessons.TrainHard(ctx, t)
	e := (&lessons.Exhibit{}).Derive(in, dualLines())
	balance := 0.0
	for _, p := range m.Points {
		balance += p.Weight
	}
	square := m.W[0]*m.W[0] + m.W[1]*m.W[1]
	marks := [][]figure.Mark{t.Ringed("α > 0", m.Supports)}
	caption := `Six points; the solver has found an $\alpha_i$ for each. The two ringed ones are not 0.`
	if e.Step >= 1 {
		// w as the sum of its points, head to tail.
		at := [2]float64{}
		var arrows []figure.Mark
		for i, p := range t.XY {
			if u := m.Points[i].Weight; u != 0 {
				n, to := lessons.Subscript(i+1), [2]float64{at[0] + u*p[0], at[1] + u*p[1]}
				arrows = append(arrows, figure.Arrow{From: at, To: to, Pen: figure.Pen{Color: figure.Magenta}, Label: "α" + n + " y" + n + " x" + n})
				at = to
			}
		}
		marks = append(marks, arrows)
		caption = `The arrows $\alpha_i y_i \mathbf x_i$, head to tail from the origin, end at $\mathbf w$.`
		w := [2]float64{near(m.W[0]), near(m.W[1])}
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$\mathbf w = \sum_i\alpha_i y_i\mathbf x_i$`, Value: lessons.Pair(w), Help: "for the six points"})
	}
	if e.Step >= 2 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$\sum_i\alpha_i y_i$`, Value: views.Short(lessons.Flush(balance, 1e-6)), Help: "both classes pull equally hard"})
	}
	if e.Step >= 4 {
		e.Numbers = append(e.Numbers,
			lessons.Number{Label: `$\sum_i\alpha_i$`, Value: views.Short(near(m.AlphaSum()))},
			lessons.Number{Label: `$\frac12\lVert\mathbf w\rVert^2$`, Value: views.Short(near(square / 2))},
			lessons.Number{Label: `$W(\alpha)$`, Value: views.Short(near(m.AlphaSum() - square/2)), Help: "their difference"})
	}
	if e.Step >= 7 {
		marks = append([][]figure.Mark{lessons.Sides(m.W, m.B), lessons.MarginLines(m.W, m.B)}, marks...)
		caption = `The line of the solution. Only the two ringed points enter its formula.`
	}
	e.Figures = []lessons.Figure{solved("points", caption, marks...)}
	return e
}

// near rounds off the error of a solver with tolerance 1e-8.
func near(v float64) float64 { return math.Round(v*1e7) / 1e7 }

func showByHand(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := six
	const i, j = 1, 3
	h := lessons.Must(theory.NewPairMachine(t.XY[i][:], t.XY[j][:]))
	byHand := lessons.Must(theory.LinearMargins(h.W, h.B, t.Matrix(), t.Y))
	w := [2]float64(h.W)
	num := lessons.TeXFraction
	lines := []lessons.Line{
		{Why: `*Guess* that the closest pair, points 2 and 4, carries the line. $\sum_i\alpha_i y_i = 0$ makes their multipliers equal.`, TeX: `\alpha_2 = \alpha_4 = a, \qquad \text{all others } 0`},
		{Why: `So the weights point from one to the other.`, TeX: `\mathbf w = a\,(\mathbf x_4 - \mathbf x_2) = a\,` + lessons.TeXPoint([2]float64(h.Between))},
		{Why: `The dual is a parabola in $a$.`, TeX: `W(a) = 2a - \tfrac12\lVert\mathbf w\rVert^2 = ` + lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: "a"}, lessons.TeXTerm{Factor: -h.Square / 2, Of: "a^2"})},
		{Why: `Its top:`, TeX: `W'(a) = ` + lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: ""}, lessons.TeXTerm{Factor: -h.Square, Of: "a"}) + ` = 0 \quad\Rightarrow\quad a = ` + num(h.Alpha)},
		{Why: `Back to the weights and the margin.`, TeX: `\mathbf w = ` + lessons.TeXPoint(w) + `, \qquad \frac{1}{\lVert\mathbf w\rVert} = \sqrt{` + num(byHand.GeometricMargin()*byHand.GeometricMargin()) + `}`},
		{Why: `Point 4 is on the margin, $y_4 f(\mathbf x_4) = 1$, which gives $b$.`, TeX: `b = y_4 - \mathbf w^\top\mathbf x_4 = ` + num(t.Y[j]) + ` - ` + num(t.Y[j]-h.B) + ` = ` + num(h.B)},
		{Why: `*Check the guess:* no point is inside the margin (see the table), so all KKT conditions hold. They are sufficient: this is the solution.`, TeX: `\tfrac12\lVert\mathbf w\rVert^2 = W(a) = ` + num(h.Dual(h.Alpha))},
	}
	e := (&lessons.Exhibit{Lab: t.Lab("kernel", "linear", "hard_margin", "true")}).Derive(in, lines)
	pairMarks := []figure.Mark{figure.Segment{From: t.XY[i], To: t.XY[j], Pen: figure.Pen{Dash: figure.Dotted}, Name: "closest pair"}}
	pairMarks = append(pairMarks, t.Numbered(func(k int) bool { return k == i || k == j })...)
	marks := [][]figure.Mark{pairMarks}
	caption := `Six points. The closest pair is ringed.`
	if e.Step >= 5 {
		marks = [][]figure.Mark{lessons.Sides(w, h.B), lessons.MarginLines(w, h.B), pairMarks}
		caption = `The line found by hand stands half-way and at right angles on the dotted segment.`
	}
	e.Figures = []lessons.Figure{solved("points", caption, marks...)}
	if e.Step >= 2 && e.Step < 5 {
		dual := lessons.CurveOf(0, 2*h.Alpha, 100, h.Dual)
		dual.Name = "W(a)"
		chart := figure.Chart{X: figure.Axis{Name: "a"}, Y: figure.Axis{Name: "W(a)"}, Curves: []figure.Curve{dual}}
		if e.Step >= 3 {
			chart.Here = &h.Alpha
		}
		e.Figures = append(e.Figures, lessons.Figure{Name: "parabola", Wide: true, Caption: `The dual value over $a$; the vertical line is its top.`, Draw: lessons.Draws(1, chart)})
	}
	if e.Step >= 6 {
		m := lessons.TrainHard(ctx, t)
		table := lessons.Table{Caption: "Every KKT condition of the guess, and what the solver finds", Head: []string{"point", `$\mathbf x_i$`, `$y_i$`, `$\alpha_i$`, `$y_i f(\mathbf x_i)$`, `solver's $\alpha_i$`}, Marked: []int{i, j}}
		for k, p := range t.XY {
			alpha := lists.Either(k == i || k == j, h.Alpha, 0)
			table.Rows = append(table.Rows, []string{strconv.Itoa(k + 1), lessons.Pair(p), lessons.Signed(t.Y[k]), views.Short(alpha), views.Short(byHand.Functional[k]), views.Short(near(math.Abs(m.Points[k].Weight)))})
		}
		e.Tables = []lessons.Table{table}
		e.Numbers = []lessons.Number{{Label: "the solver's $b$", Value: views.Short(lessons.Flush(m.B, 1e-6))}}
	}
	return e
}

func showSupport(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := lessons.Toy{Y: eight.Y}
	e := &lessons.Exhibit{}
	for i, place := range places {
		t.XY = append(t.XY, place.Of(in))
		e.Handles = append(e.Handles, place.Handle(fmt.Sprintf("point %d", i+1), in))
	}
	e.Lab = t.Lab("kernel", "linear", "hard_margin", "true")
	m, err := lessons.Caught(func() *lessons.LinearMachine { return lessons.TrainHard(ctx, t) })
	if errors.Is(err, svm.ErrNotSeparable) {
		e.Figures = []lessons.Figure{lessons.Plane("points", "No line separates these points.", lessons.ToyLimits, 2, t.Dots(nil))}
		e.Notes = []string{`No line separates the classes now: the constraints contradict each other, and there is no hard margin. ~Drag the point back. (The soft margin, two lessons on, can live with this.)~`}
		return e
	}
	lessons.Check(err)
	start := lessons.TrainHard(ctx, eight)
	shown := m
	dots := t.Ringed("support vector", m.Supports)
	if only.Of(in) {
		for i := range t.Y {
			if !m.Supports(i) {
				d := dots[i].(figure.Dot)
				d.Hollow, d.Name = true, "deleted"
				dots[i] = d
			}
		}
		few := t.Where(m.Supports)
		alone := lessons.TrainHard(ctx, few)
		shown = alone
		e.Numbers = append(e.Numbers, lessons.Number{Label: `change of $\mathbf w$ and $b$ by deleting`, Value: views.Short(lessons.Flush(change(alone, m), 1e-6)), Help: "largest difference to training on all eight"})
		e.Notes = append(e.Notes, fmt.Sprintf("Trained on %d points out of %d: the same line.", len(few.Y), len(t.Y)))
	}
	if change(shown, start) > 1e-4 {
		e.Notes = append(e.Notes, "The line has left its first place (long dashes): a support vector was moved, or a point has reached the margin and become one.")
	} else {
		e.Notes = append(e.Notes, "The line is where it was at first.")
		e.After = []string{"~Drag a point that is not ringed: nothing moves until it touches the nearer dashed line.~"}
	}
	w, b := shown.W, shown.B
	ghost := []figure.Mark{figure.Line{A: start.W, C: -start.B, Pen: figure.Pen{Color: figure.Magenta, Dash: figure.LongDash}, Name: "line at first"}}
	const asks = "The line at first, and the points that are left. Does training on them find another line?"
	e.Figures = []lessons.Figure{lessons.Plane("points", `~Drag the points.~ Ringed are the support vectors; the dashed lines are the margin $f = \pm 1$.`, lessons.ToyLimits, 3, lessons.Sides(w, b), lessons.MarginLines(w, b), ghost, dots)}
	count := 0
	table := lessons.Table{Caption: "Every point: its multiplier, and how far beyond the margin it is", Head: []string{"point", `$y_i$`, `$\alpha_i$`, `$y_i f(\mathbf x_i)$`}}
	for i, p := range m.Points {
		if m.Supports(i) {
			count++
			table.Marked = append(table.Marked, i)
		}
		table.Rows = append(table.Rows, []string{strconv.Itoa(i + 1), lessons.Signed(p.Y), views.Short(math.Abs(p.Weight)), views.Short(p.Margin)})
	}
	e.Numbers = append(e.Numbers,
		lessons.Number{Label: "support vectors", Value: fmt.Sprintf("%d of %d", count, len(t.Y))},
		lessons.Number{Label: `$\mathbf w$`, Value: lessons.Pair(w)},
		lessons.Number{Label: `$b$`, Value: views.Short(lessons.Flush(b, 1e-6))},
		lessons.Number{Label: `$1/\lVert\mathbf w\rVert$`, Value: views.Short(1 / lessons.Norm(w)), Help: "margin"})
	e.Tables = []lessons.Table{table}
	if only.Of(in) { // the question is about deleting
		e.Figures[0] = e.Figures[0].Instead(lessons.Plane("points", asks, lessons.ToyLimits, 3, ghost, dots), asks)
		e.Notes, e.After = nil, append(e.Notes, e.After...)
		for i := range e.Numbers {
			e.Numbers[i].After = true
		}
	}
	return e
}

// change returns the largest difference between w and b of two machines.
func change(a, b *lessons.LinearMachine) float64 {
	return floats.Distance(append(a.W[:], a.B), append(b.W[:], b.B), math.Inf(1))
}

// deletion trains without each point that is no support vector.
func deletion(ctx context.Context) float64 {
	all := lessons.TrainHard(ctx, eight)
	for i := range eight.Y {
		if all.Supports(i) {
			continue
		}
		if change(lessons.TrainHard(ctx, eight.Without(i)), all) > 1e-5 {
			return 0
		}
	}
	return 2
}

// fewestCorners finds the smallest set of corners of a square with the same line as all four.
func fewestCorners(ctx context.Context) float64 {
	square := lessons.Toy{XY: [][2]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}, Y: []float64{-1, -1, 1, 1}}
	all := lessons.TrainHard(ctx, square)
	fewest := len(square.Y)
	for set := range 1 << len(square.Y) {
		some := square.Where(func(i int) bool { return set>>i&1 == 1 })
		if len(some.Y) >= fewest || !slices.Contains(some.Y, -1) || !slices.Contains(some.Y, 1) {
			continue
		}
		if change(lessons.TrainHard(ctx, some), all) < 1e-5 {
			fewest = len(some.Y)
		}
	}
	return float64(fewest)
}

// steps solves the dual of the twelve points of the first lesson step by step.
func steps(ctx context.Context) *trace.Replay[stepwise.SMOState] {
	t := lessons.Separable
	// An upper bound that no alpha reaches has no effect.
	return lessons.Must(stepwise.SMO(ctx, kernel.NewGram(kernel.Kernel{Name: "linear"}, t.Matrix()), t.Y, stepwise.SMOSettings{C: 1e4, Selection: stepwise.SecondOrder, Tol: 1e-6}))
}

// weightsOf returns w for a step of steps.
func weightsOf(s stepwise.SMOState) [2]float64 {
	u := s.U()
	var w mat.VecDense
	w.MulVec(lessons.Separable.Matrix().T(), mat.NewVecDense(len(u), u))
	return [2]float64(w.RawVector().Data)
}

// ceilingOf returns the primal value of the line of a step of steps, +Inf if there is none.
func ceilingOf(s stepwise.SMOState) float64 {
	w := weightsOf(s)
	return lessons.Must(theory.HardCeiling(w[:], lessons.Separable.Matrix(), lessons.Separable.Y))
}

func showDuality(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := lessons.Separable
	run := steps(ctx)
	e := &lessons.Exhibit{Steps: run.Len(), Step: min(in.Step, run.Len()-1), Lab: t.Lab("kernel", "linear", "hard_margin", "true")}
	floor := lessons.StepCurve("floor: W(α)", run, func(s stepwise.SMOState) float64 { return s.Dual })
	ceiling := lessons.StepCurve("ceiling: ½|w|²", run, ceilingOf)
	apart := figure.Curve{Name: "gap", X: floor.X, Y: floats.SubTo(make([]float64, run.Len()), ceiling.Y, floor.Y), Marks: true}
	floor.Marks, ceiling.Marks = true, true
	s := run.At(e.Step)
	w := weightsOf(s)
	total := 0.0
	for _, p := range s.Points {
		total += p.Alpha
	}
	top := 2.2 * run.At(run.Len()-1).Dual
	e.Figures = []lessons.Figure{{Name: "values", Caption: `Each step of a solver gives an $\alpha$, and with it a floor and a ceiling. The optimum is between the two.`, Grows: true, Draw: func(l lessons.Look) (*figure.Picture, error) {
		return figure.Chart{
			Format: l.Format(1), X: figure.Axis{Name: "step"}, Y: figure.Axis{Name: "value", Min: 0, Max: top},
			Curves: []figure.Curve{ceiling, floor}, SoFar: !l.Paper, Here: new(float64(e.Step)),
		}.Picture()
	}}}
	now, gap := ceiling.Y[e.Step], apart.Y[e.Step]
	e.Figures = append(e.Figures, lessons.Figure{Name: "gap", Caption: "Ceiling minus floor, on a logarithmic axis.", Grows: true, Draw: func(l lessons.Look) (*figure.Picture, error) {
		return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "step"}, Y: figure.Axis{Name: "gap", Log: true}, Curves: []figure.Curve{apart}, SoFar: !l.Paper, Here: new(float64(e.Step))}.Picture()
	}})
	e.Numbers = []lessons.Number{
		{Label: `$W(\alpha)$`, Value: views.Long(s.Dual), Help: "dual value: a floor"},
		{Label: `$\frac12\lVert\mathbf w\rVert^2$`, Value: finite(now), Help: `primal value of this step's line, in canonical form: a ceiling`},
		{Label: "gap", Value: finite(lessons.Flush(gap, 1e-6)), Help: "none left (below a millionth) proves that both are optimal"},
		{Label: `$\sum_i\alpha_i$`, Value: views.Long(total), Help: `at the end $\lVert\mathbf w\rVert^2$`},
		{Label: `$1/\sqrt{\sum_i\alpha_i}$`, Value: finite(1 / math.Sqrt(total)), Help: "at the end the margin", After: true},
		{Label: `$1/\lVert\mathbf w\rVert$`, Value: finite(1 / lessons.Norm(w))},
	}
	marks := [][]figure.Mark{t.Ringed("α > 0", func(i int) bool { return s.Points[i].Alpha > 1e-9 })}
	if !math.IsInf(now, 1) {
		cw, b, err := theory.Canonical(w[:], t.Middle(w), t.Matrix(), t.Y)
		lessons.Check(err)
		w := [2]float64(cw)
		marks = append([][]figure.Mark{lessons.Sides(w, b), lessons.MarginLines(w, b)}, marks...)
	}
	e.Figures = append(e.Figures, lessons.Plane("points", `The line of this step. Ringed: $\alpha_i > 0$.`, lessons.ToyLimits, 1, marks...))
	switch {
	case s.Pair == nil:
		e.Notes = []string{`At the start all $\alpha$ are 0. That is allowed, but the floor is 0, and $\mathbf w = \mathbf 0$ separates nothing.`}
	case e.Step == run.Len()-1:
		e.Notes = []string{`Floor and ceiling have met. Nobody needs to trust the solver: the two numbers are the proof.`}
	case math.IsInf(now, 1):
		e.Notes = []string{fmt.Sprintf(`The multipliers of points %d and %d were changed. The line does not separate yet, so there is a floor but no ceiling.`, s.Pair.I+1, s.Pair.J+1)}
	default:
		e.Notes = []string{fmt.Sprintf(`The multipliers of points %d and %d were changed. The floor rises at every step; the ceiling may go up and down.`, s.Pair.I+1, s.Pair.J+1)}
	}
	return e
}

// finite formats a value, or none if it is not finite.
func finite(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "none"
	}
	return views.Long(v)
}

// biases returns the formulas for b with the weights of a machine on a toy.
func biases(m *lessons.LinearMachine, t lessons.Toy) theory.Biases {
	return lessons.Must(theory.NewBiases(m.W[:], t.Matrix(), t.Y, lists.Map(m.Points, func(p ml.Point) float64 { return p.Weight })))
}

// biasInterval returns the ends of the interval allowed for b by the KKT conditions under an
// upper bound of alpha; with a free support vector they are equal.
func biasInterval(m *lessons.LinearMachine, t lessons.Toy, c float64) (low, high float64) {
	low, high, err := theory.BiasInterval(m.W[:], t.Matrix(), t.Y, lists.Map(m.Points, func(p ml.Point) float64 { return p.Weight }), c)
	lessons.Check(err)
	if high-low < 1e-5 { // the tolerance of the solver
		low = (low + high) / 2
		high = low
	}
	return low, high
}

func showOnly(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := eight
	hard := lessons.TrainHard(ctx, t)
	soft := lessons.TrainLinear(ctx, t, "C", c.Text(in), "tol", "1e-8")
	hb := biases(hard, t)
	sb := biases(soft, t)
	hardLow, hardHigh := biasInterval(hard, t, math.Inf(1))
	softLow, softHigh := biasInterval(soft, t, c.Of(in))
	short := func(v float64) string { return views.Short(lessons.Flush(v, 1e-6)) }
	between := func(low, high float64) string {
		if high-low < 1e-5 {
			return short((low + high) / 2)
		}
		return short(low) + " to " + short(high)
	}
	square := func(m *lessons.LinearMachine) float64 { return lessons.Norm(m.W) * lessons.Norm(m.W) }
	bounded := lists.Count(soft.Points, func(p ml.Point) bool { return p.Role == ml.Inside || p.Role == ml.Misclassified })
	note := fmt.Sprintf("With this C, %d points stand inside the margin, held at the bound.", bounded)
	after := []string{fmt.Sprintf("The margin is %s; $1/\\sqrt{\\sum_i\\alpha_i}$ says %s.", short(1/lessons.Norm(soft.W)), short(1/math.Sqrt(soft.AlphaSum())))}
	if bounded == 0 {
		note = "C is so large that no multiplier reaches it: the two columns agree, this *is* the hard margin."
		after = nil
	}
	if softHigh > softLow {
		note += " No support vector is free: the line may be moved within the interval of the last row, and costs the same."
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{soft.Boundary("boundary", `The machine with the chosen $C$. Full rings: on the margin; dashed rings: inside it, $\alpha_i = C$.`, func(s *figure.Scene) { s.Slack, s.LegendRows = true, 2 })},
		Notes:   []string{note},
		After:   after,
		Tables: []lessons.Table{{
			After: true, Caption: "The same formulas, hard and soft", Head: []string{"formula", "hard margin", "with C"},
			Rows: [][]string{
				{`margin $1/\lVert\mathbf w\rVert$`, short(1 / lessons.Norm(hard.W)), short(1 / lessons.Norm(soft.W))},
				{`$1/\sqrt{\sum_i\alpha_i}$`, short(1 / math.Sqrt(hard.AlphaSum())), short(1 / math.Sqrt(soft.AlphaSum()))},
				{`$\sum_i\alpha_i$`, short(hard.AlphaSum()), short(soft.AlphaSum())},
				{`$\lVert\mathbf w\rVert^2 + C\sum_i\xi_i$`, short(square(hard)), short(square(soft) + c.Of(in)**soft.Report.SlackSum)},
				{`$b$ of the solver`, short(hard.B), short(soft.B)},
				{`$b$ by the innermost points`, short(hb.Midpoint), short(sb.Midpoint)},
				{`$b$ by the heaviest SV`, short(hb.Heaviest), short(sb.Heaviest)},
				{`$y_k - \mathbf w^\top\mathbf x_k$ over all SVs`, between(hb.Low, hb.High), between(sb.Low, sb.High)},
				{`middle of all $b$ that fulfil KKT`, short((hardLow + hardHigh) / 2), short((softLow + softHigh) / 2)},
				{`all $b$ that fulfil KKT`, between(hardLow, hardHigh), between(softLow, softHigh)},
			},
		}},
		Lab: t.Lab("kernel", "linear", "C", c.Text(in)),
	}
}

// hardFormula compares the hard-margin formula with the margin, for a small C.
func hardFormula(ctx context.Context) float64 {
	m := lessons.TrainLinear(ctx, eight, "C", "0.05", "tol", "1e-8")
	formula, margin := 1/math.Sqrt(m.AlphaSum()), 1/lessons.Norm(m.W)
	return lessons.First(formula > margin*(1+1e-6), formula >= margin*(1-1e-6))
}
