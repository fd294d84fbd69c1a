// Package softmargin is the lesson on the soft margin.
package softmargin

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls of the screens.
var (
	hardness = lessons.ChoiceControl{Name: "margin", Label: "margin", Default: "hard", Options: []param.Option{
		{Name: "hard", Label: "hard", Help: "No point inside the margin."},
		{Name: "soft", Label: "soft, C = 1", Help: "Points inside the margin have a price."},
	}}
	yourPoint = lessons.NewPlace("px", "your point x₁", "py", "your point x₂", [2]float64{0.7, 0.5}, figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.6, YMax: 2.6})
	label     = lessons.ChoiceControl{Name: "label", Label: "label of your point", Default: "-1", Options: []param.Option{{Name: "-1", Label: "y = −1"}, {Name: "1", Label: "y = +1"}}}
	probe     = lessons.NewPlace("px", "your point x₁", "py", "your point x₂", [2]float64{0.5, -1.4}, figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.6, YMax: 2.6})
	reach     = lessons.NumberControl{Name: "reach", Label: "margin", Symbol: "1/‖w‖", Default: "2.5", Min: 0.3, Max: 4, Low: 0.3, High: 4, Log: true, Help: "Distance from f = 0 to each dashed line."}
	priceC    = lessons.NumberControl{Name: "C", Label: "price of slack", Symbol: "C", Default: "0.3", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true}
	dualC     = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "2", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	pathC     = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 1e-3, Max: 1e4, Low: 1e-3, High: 1e4, Log: true}
	pathSet   = lessons.ChoiceControl{Name: "set", Label: "data", Default: "overlap", Options: []param.Option{
		{Name: "overlap", Label: "fourteen points"},
		{Name: "iris-versicolor-virginica", Label: "Iris: versicolor and virginica"},
		{Name: "iris-setosa-versicolor", Label: "Iris: setosa and versicolor"},
	}}
	machine   = lessons.ChoiceControl{Name: "with", Label: "kernel", Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF, γ = 1"}}}
	folds     = lessons.ChoiceControl{Name: "folds", Label: "folds", Symbol: "k", Default: "5", Options: []param.Option{{Name: "2", Label: "2"}, {Name: "5", Label: "5"}, {Name: "10", Label: "10"}}}
	seed      = lessons.IntegerControl{Name: "seed", Label: "deal", Default: "1", Min: 1, Max: 50, Low: 1, High: 50, Help: "Which points share a fold."}
	chooseSet = lessons.ChoiceControl{Name: "set", Label: "data", Default: "moons", Options: []param.Option{
		{Name: "moons", Label: "moons"},
		{Name: "iris", Label: "Iris: versicolor or not"},
		{Name: "iris-sepal", Label: "Iris: versicolor and virginica, sepal"},
	}}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "soft-margin",
		Task: "data=iris-sepal",
		Screens: []lessons.Screen{
			{
				Slug:    "one-point",
				Demo:    lessons.NewDemo(showOnePoint, hardness, yourPoint),
				Answers: map[string]lessons.Answer{"impossible": impossible},
			},
			{
				Slug:    "slack",
				Demo:    lessons.NewDemo(showSlack, label, probe),
				Answers: map[string]lessons.Answer{"wrong-side": lessons.Is(theory.Hinge(-1 * 0.4))},
			},
			{Slug: "price", Demo: lessons.NewDemo(showPrice, reach, priceC), Answers: map[string]lessons.Answer{"dearer": dearer}},
			{Slug: "dual", Demo: lessons.NewDemo(showDual, dualC), Answers: map[string]lessons.Answer{"inside": atBound}},
			{Slug: "kinds", Demo: lessons.NewDemo(showKinds, dualC), Answers: map[string]lessons.Answer{"leave-out": leaveOut}},
			{
				Slug:    "c",
				Demo:    lessons.NewDemo(showC, pathC, pathSet, machine),
				Answers: map[string]lessons.Answer{"count": count},
				Sketches: map[string]*lessons.Sketch{
					"sketch": {
						Of: "the number of support vectors", Over: "C", X: []float64{1e-3, 1e-2, 0.0316, 0.1, 0.316, 1, 10, 100, 1e3, 1e4}, Height: 15,
						Truth: vectors,
						Draw:  lessons.SketchChart(figure.Axis{Name: "C", Log: true, Min: 1e-3, Max: 1e4}, figure.Axis{Name: "support vectors", Min: 0, Max: 15}, figure.Rule{Name: "all points", At: 14}),
					},
				},
			},
			{
				Slug:    "choose",
				Demo:    lessons.NewDemo(showChoose, folds, seed, chooseSet),
				Answers: map[string]lessons.Answer{"cost": lessons.Is(float64(5*len(prices(2)) + 1))},
			},
		},
	})
}

// at trains on the lesson's points with C = c.
func at(ctx context.Context, c float64) *lessons.LinearMachine {
	return lessons.TrainLinear(ctx, lessons.Overlapping, "C", lessons.Setting(c))
}

// joined returns the separable points with one more of the negative class.
func joined(p [2]float64) lessons.Toy {
	return lessons.Toy{XY: append([][2]float64{p}, lessons.Separable.XY...), Y: append([]float64{-1}, lessons.Separable.Y...)}
}

func showOnePoint(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := yourPoint.Of(in)
	t := joined(p)
	e := &lessons.Exhibit{Handles: []lessons.Handle{yourPoint.Handle("your point", in)}}
	soft := hardness.Of(in) == "soft"
	settings := lists.Either(soft, []string{"C", "1"}, []string{"hard_margin", "true"})
	e.Lab = t.Lab(append([]string{"kernel", "linear"}, settings...)...)
	without := 1 / lessons.Norm(lessons.TrainHard(ctx, lessons.Separable).W)
	caption := `~Drag your point, the one with the label.~ Ringed points are support vectors.`
	mine := []figure.Mark{figure.Dot{At: p, Class: lessons.Class(-1), Held: true, Label: "your point, y = −1"}}
	m, err := lessons.Caught(func() *lessons.LinearMachine { return lessons.TrainLinear(ctx, t, settings...) })
	if errors.Is(err, svm.ErrNotSeparable) {
		points := lessons.Plane("points", caption, lessons.ToyLimits, 2, t.Dots(nil), mine)
		e.Figures = []lessons.Figure{points.Instead(points, "~Drag your point, the one with the label.~ What does the hard margin make of it here?")}
		e.After = []string{"No line separates these points: the hard-margin problem has no solution at all. Switch to the soft margin."}
		e.Numbers = []lessons.Number{{Label: "margin", Value: "none", After: true}, {Label: "margin without your point", Value: views.Short(without)}}
		return e
	}
	lessons.Check(err)
	marks := [][]figure.Mark{lessons.Sides(m.W, m.B), lessons.MarginLines(m.W, m.B)}
	if soft {
		marks = append(marks, lessons.Slacks(t, m.W, m.B))
	}
	e.Figures = []lessons.Figure{lessons.Plane("points", caption, lessons.ToyLimits, 2, append(marks, t.Dots(m.Supports), mine)...)}
	margin := 1 / lessons.Norm(m.W)
	e.Numbers = []lessons.Number{
		{Label: `margin $1/\lVert\mathbf w\rVert$`, Value: views.Short(margin)},
		{Label: "hard margin without your point", Value: views.Short(without), Help: "of the twelve others"},
	}
	if soft {
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$\sum_i \xi_i$`, Value: views.Short(*m.Report.SlackSum), Help: "how far all points together fall short of their margin line"})
	} else if margin < 0.995*without {
		e.Notes = []string{fmt.Sprintf("One point of thirteen has taken %.0f %% of the margin.", 100*(1-margin/without))}
	}
	return e
}

// impossible trains a hard margin with a point inside the other class.
func impossible(ctx context.Context) float64 {
	m, err := lessons.Caught(func() *lessons.LinearMachine {
		return lessons.TrainLinear(ctx, joined([2]float64{1.8, 0.4}), "hard_margin", "true")
	})
	if errors.Is(err, svm.ErrNotSeparable) {
		return 2
	}
	lessons.Check(err)
	return lessons.First(*m.Report.TrainAccuracy < 1)
}

func showSlack(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	m := at(ctx, 1)
	p, y := probe.Of(in), lists.Either(label.Of(in) == "-1", -1, 1.0)
	f := m.W[0]*p[0] + m.W[1]*p[1] + m.B
	margin := y * f
	slack := theory.Hinge(margin)
	loss := 0.0
	verdict := "outside the margin, on its own side: no slack"
	switch {
	case margin < 0:
		loss, verdict = 1, "misclassified: slack above 1"
	case margin == 0:
		loss, verdict = 1, "exactly on the line: slack 1"
	case margin < 1:
		verdict = "on its own side, but inside the margin: slack between 0 and 1"
	}
	mine := []figure.Mark{}
	if slack > 0 {
		mine = append(mine, figure.Segment{From: p, To: lessons.Foot(m.W, m.B-y, p), Pen: figure.Pen{Color: figure.Magenta}, Name: "slack"})
	}
	mine = append(mine, figure.Dot{At: p, Class: lessons.Class(y), Held: true, Label: "your point"})
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Plane("points", `~Drag your point across the three lines. It is not trained on: the line stays.~ The slack of a point is the way back to its *own* dashed line, in units of the margin.`, lessons.ToyLimits, 2,
				lessons.Sides(m.W, m.B), lessons.MarginLines(m.W, m.B), lessons.Overlapping.Dots(nil), mine),
			losses("loss", `Both losses against $y f$; the vertical line is your point. The hinge bends at 1, not at 0.`, margin),
		},
		Handles: []lessons.Handle{probe.Handle("your point", in)},
		Numbers: []lessons.Number{
			{Label: `$y f(\mathbf x)$`, Value: views.Short(margin), Help: "functional margin"},
			{Label: `$\xi = \max(0, 1 - y f)$`, Value: views.Short(slack), Help: "hinge loss"},
			{Label: `$\xi/\lVert\mathbf w\rVert$`, Value: views.Short(slack / lessons.Norm(m.W)), Help: "length of the way in the picture"},
			{Label: "0/1 loss", Value: views.Short(loss), Help: "1 for an error"},
		},
		Notes: []string{"Your point is " + verdict + "."},
	}
}

// losses plots hinge and 0/1 loss over the functional margin.
func losses(name, caption string, here float64) lessons.Figure {
	here = min(max(here, -3), 3)
	return lessons.Figure{Name: name, Caption: caption, Wide: true, Draw: lessons.Draws(1, figure.Chart{
		X: figure.Axis{Name: "y f(x)", Min: -3, Max: 3}, Y: figure.Axis{Name: "loss", Min: 0, Max: 4}, Here: &here,
		Curves: []figure.Curve{
			{Name: "hinge loss", X: []float64{-3, 1, 3}, Y: []float64{4, 0, 0}},
			{Name: "0/1 loss", X: []float64{-3, 0, 1e-6, 3}, Y: []float64{1, 1, 0, 0}},
		},
	})}
}

func showPrice(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	c, width := priceC.Of(in), reach.Of(in)
	m := at(ctx, c)
	best := 1 / lessons.Norm(m.W)
	margins := lessons.Must(theory.LinearMargins(m.W[:], m.B, lessons.Overlapping.Matrix(), lessons.Overlapping.Y))
	least := math.Inf(1)
	parts := lessons.CurvesOf(lessons.Logspace(0.3, 4, 121), func(x float64) []float64 {
		l, s := margins.SoftParts(x)
		least = min(least, l+c*s)
		return []float64{l, c * s, l + c*s}
	}, "½‖w‖²", "C Σξ", "sum")
	l, s := margins.SoftParts(width)
	w, b := [2]float64{m.W[0] * best / width, m.W[1] * best / width}, m.B*best/width
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Plane("points", `The line is the best one for this $C$; you choose how far its margin reaches. Each segment is a slack.`, lessons.ToyLimits, 2,
				lessons.Sides(w, b), lessons.MarginLines(w, b), lessons.Slacks(lessons.Overlapping, w, b), lessons.Overlapping.Dots(nil)),
			{Name: "sum", Wide: true, Caption: `The two parts and their sum against the margin. The solver stops at the lowest place of the sum.`, Asks: "The two parts against the margin. Where is their sum lowest, and where at a larger $C$?", Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "margin 1/‖w‖", Log: true, Min: 0.3, Max: 4}, Y: figure.Axis{Min: 0, Max: 3 * least},
				Curves: parts, Hidden: 1, Here: &width,
			})},
		},
		Numbers: []lessons.Number{
			{Label: `$\tfrac12\lVert\mathbf w\rVert^2$`, Value: views.Short(l), Help: "small: a wide margin"},
			{Label: `$C\sum_i\xi_i$`, Value: views.Short(c * s), Help: "small: few points inside the margin"},
			{Label: "your sum", Value: views.Short(l + c*s)},
			{Label: "the solver's sum", Value: views.Short(*m.Report.PrimalObjective), Help: "reached at the margin " + views.Short(best), After: true},
		},
		Lab: lessons.Overlapping.Lab("kernel", "linear", "C", priceC.Text(in)),
	}
	if over := (l + c*s) / *m.Report.PrimalObjective; over < 1.01 {
		e.Notes = []string{"You have found the minimum: a wider margin would cost more slack than it saves length, a narrower one the other way round."}
	}
	return e
}

// dearer compares the minima for increasing C.
func dearer(ctx context.Context) float64 {
	first := at(ctx, 0.03)
	last := at(ctx, 10)
	narrower, less := lessons.Norm(last.W) > lessons.Norm(first.W), *last.Report.SlackSum < *first.Report.SlackSum
	return lessons.First(narrower && less, less)
}

var dualLines = lessons.Lines(files, "dual")

// kind returns the name of a point's role.
func kind(r ml.Role) string {
	switch r {
	case ml.Free:
		return "free"
	case ml.Inside:
		return "bounded, inside"
	case ml.Misclassified:
		return "bounded, wrong side"
	}
	return "no support vector"
}

func showDual(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	c := dualC.Of(in)
	m := at(ctx, c)
	e := (&lessons.Exhibit{Figures: []lessons.Figure{bars(m, c)}}).Derive(in, dualLines())
	e.Numbers = []lessons.Number{
		{Label: `$\sum_i \alpha_i y_i$`, Value: views.Short(balance(m.Points)), Help: "second condition"},
		{Label: "dual and primal objective", Value: views.Short(*m.Report.Objective) + " and " + views.Short(*m.Report.PrimalObjective), Help: "they meet at the optimum"},
	}
	if e.Step < e.Steps-1 {
		return e
	}
	t := lessons.Table{Caption: "Every point at the optimum; marked: those with slack", Head: []string{"point", `$y_i$`, `$y_i f$`, `$\xi_i$`, `$\alpha_i$`, `$\mu_i$`, "kind"}}
	for i, p := range m.Points {
		alpha := math.Abs(p.Weight)
		short := func(v float64) string { return lessons.Short(math.Round(1e3*v) / 1e3) }
		t.Rows = append(t.Rows, []string{strconv.Itoa(i + 1), lessons.Signed(p.Y), short(p.Margin), short(p.Slack), short(alpha), short(c - alpha), kind(p.Role)})
		if p.Slack > 1e-4 {
			t.Marked = append(t.Marked, i)
		}
	}
	e.Tables = []lessons.Table{t}
	return e
}

// bars draws alpha of all points in the colours of their classes, with the upper bound of the
// box.
func bars(m *lessons.LinearMachine, c float64) lessons.Figure {
	alphas := lists.Map(m.Points, func(p ml.Point) float64 { return math.Abs(p.Weight) })
	return lessons.Figure{Name: "alpha", Wide: true, Caption: `$\alpha_i$ of the fourteen points. No bar can exceed the line at $C$; the gap below it is $\mu_i$. The bars of both classes have the same total height.`, Draw: lessons.Draws(1, figure.Bars{
		X: "point", Y: "α", Values: alphas, Classes: lessons.Overlapping.Classes(), ClassNames: lessons.ClassNames(),
		Rules: []figure.Rule{{Name: "C", At: c}},
	})}
}

// balance returns the sum of alpha_i y_i.
func balance(points []ml.Point) (sum float64) {
	for _, p := range points {
		sum += p.Weight
	}
	return math.Round(1e9*sum) / 1e9
}

// atBound examines alpha of all points with slack.
func atBound(ctx context.Context) float64 {
	for _, p := range at(ctx, 1).Points {
		if p.Slack > 1e-4 && math.Abs(p.Weight) < 1-1e-9 {
			return 3
		}
	}
	return 2
}

// freeOnly returns the line given by the free support vectors alone; ok is false if there are
// none.
func freeOnly(m *lessons.LinearMachine) (w [2]float64, b float64, ok bool) {
	y, u, free := make([]float64, len(m.Points)), make([]float64, len(m.Points)), make([]bool, len(m.Points))
	for i, p := range m.Points {
		y[i], u[i], free[i] = p.Y, p.Weight, p.Role == ml.Free
	}
	v, b, err := theory.PartialMachine(m.Data.X, y, u, free)
	lessons.Check(err)
	w = [2]float64(v)
	return w, b, lessons.Norm(w) > 1e-9
}

func showKinds(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	m := at(ctx, dualC.Of(in))
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{m.Boundary("kinds", `Rings mark the support vectors; their shape distinguishes free from bounded, their size grows with $\alpha_i$. Segments are slacks.`, func(s *figure.Scene) { s.Slack, s.Limits, s.LegendRows = true, lessons.ToyLimits, 3 })},
		Lab:     lessons.Overlapping.Lab("kernel", "linear", "C", dualC.Text(in), "slack", "true"),
	}
	r := m.Report
	t := lessons.Table{Caption: "Points in the sum", Head: []string{"kind", "condition", "points", `$\sum\alpha_i$`}}
	sums := map[ml.Role]float64{}
	for _, p := range m.Points {
		sums[p.Role] += math.Abs(p.Weight)
	}
	for _, k := range []struct {
		role      ml.Role
		condition string
		n         int
	}{
		{ml.None, `$\alpha_i = 0,\; \xi_i = 0$`, r.N - r.SupportVectors},
		{ml.Free, `$0 < \alpha_i < C,\; \xi_i = 0$`, *r.Free},
		{ml.Inside, `$\alpha_i = C,\; \xi_i \le 1$`, *r.BoundedInside},
		{ml.Misclassified, `$\alpha_i = C,\; \xi_i > 1$`, *r.BoundedMisclassified},
	} {
		t.Rows = append(t.Rows, []string{kind(k.role), k.condition, strconv.Itoa(k.n), views.Short(sums[k.role])})
	}
	e.Tables = []lessons.Table{t}
	marks := [][]figure.Mark{lessons.Sides(m.W, m.B), lessons.MarginLines(m.W, m.B)}
	e.Numbers = []lessons.Number{{Label: "errors with all support vectors", Value: strconv.Itoa(lessons.Overlapping.Errors(figure.Linear(m.W, -m.B)))}}
	w, b, ok := freeOnly(m)
	if ok {
		marks = append(marks, []figure.Mark{figure.Line{A: w, C: -b, Pen: figure.Pen{Color: figure.Magenta, Dash: figure.LongDash}, Name: "free ones alone"}})
		cos := (w[0]*m.W[0] + w[1]*m.W[1]) / (lessons.Norm(w) * lessons.Norm(m.W))
		e.Numbers = append(e.Numbers,
			lessons.Number{Label: "errors with the free ones alone", Value: strconv.Itoa(lessons.Overlapping.Errors(figure.Linear(w, -b))), After: true},
			lessons.Number{Label: `angle between the two $\mathbf w$`, Value: fmt.Sprintf("%.0f°", 180/math.Pi*math.Acos(min(1, max(-1, cos)))), After: true})
	} else {
		e.Notes = append(e.Notes, "At this $C$ no support vector is free: a sum over the free ones alone has no terms.")
	}
	marks = append(marks, lessons.Overlapping.Dots(func(i int) bool { return m.Points[i].Role == ml.Free }))
	alone := lessons.Plane("free-only", `Solid: the right line. Long dashes: what the free support vectors (ringed) would give alone.`, lessons.ToyLimits, 2, marks...)
	e.Figures = append(e.Figures, alone.Afterwards())
	return e
}

// leaveOut compares the line with and without the bounded support vectors.
func leaveOut(ctx context.Context) float64 {
	m := at(ctx, 2)
	w, b, ok := freeOnly(m)
	turned := math.Abs(w[0]*m.W[1]-w[1]*m.W[0]) > 1e-3*lessons.Norm(w)*lessons.Norm(m.W)
	alike := ok && !turned
	return lessons.First(alike && math.Abs(b/lessons.Norm(w)-m.B/lessons.Norm(m.W)) <= 1e-3, alike)
}

// prices returns values of C from 0.001 to 10 000, perDecade per decade.
func prices(perDecade int) []float64 {
	return lists.Make(7*perDecade+1, func(k int) float64 { return math.Pow(10, float64(k)/float64(perDecade)-3) })
}

// data loads a data set of the lesson.
func data(set string) *dataset.Data {
	if set == "moons" {
		return lessons.Must(dataset.Generate("moons", 100, 0.25, 4))
	}
	return lessons.LoadData(set)
}

// row holds the results for a value of C.
type row struct {
	all, free, bounded, errors float64
	margin, hard               float64 // 1/|w| and 1/sqrt(sum alpha)
}

// marginOf returns 1/|w|, +Inf for w = 0.
func marginOf(r ml.Report) float64 {
	if r.Margin == nil {
		return math.Inf(1)
	}
	return *r.Margin
}

// path trains along C.
func path(ctx context.Context, d *dataset.Data, kernel string) (cs []float64, rows []row) {
	cs = prices(4)
	for _, c := range cs {
		res := lessons.Fit(ctx, d, settings(kernel, c)...)
		r := res.Report
		rows = append(rows, row{
			all: float64(r.SupportVectors), free: float64(*r.Free), bounded: float64(*r.BoundedInside + *r.BoundedMisclassified),
			errors: math.Round((1 - *r.TrainAccuracy) * float64(r.N)), margin: marginOf(r), hard: 1 / math.Sqrt(floats.Norm(res.Model.Machines[0].Coef, 1)),
		})
	}
	lessons.Check(ctx.Err())
	return cs, rows
}

// settings returns the parameters of the screen on C.
func settings(kernel string, c float64) []string {
	return []string{"kernel", kernel, "gamma", "1", "C", lessons.Setting(c), "tol", "1e-5"}
}

func showC(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	set, kern, c := pathSet.Of(in), machine.Of(in), pathC.Of(in)
	d := data(set)
	res := lessons.Fit(ctx, d, settings(kern, c)...)
	cs, rows := path(ctx, d, kern)
	r := res.Report
	hard := 1 / math.Sqrt(floats.Norm(res.Model.Machines[0].Coef, 1))
	axis := figure.Axis{Name: "C", Log: true, Min: cs[0], Max: cs[len(cs)-1]}
	chart := func(name, caption string, y figure.Axis, curves ...figure.Curve) lessons.Figure {
		for i := range curves {
			curves[i].X = cs
		}
		return lessons.Figure{Name: name, Caption: caption, After: true, Draw: lessons.Draws(2, figure.Chart{X: axis, Y: y, Curves: curves, Here: &c})}
	}
	model := res.Boundary("model", `The machine at your $C$. Ringed points are support vectors; the margin lies between the dashed lines.`, func(s *figure.Scene) { s.Slack, s.LegendRows = true, 3 })
	model.Asks = `The machine at your $C$; the margin lies between the dashed lines. Which points are support vectors?`
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			model,
			chart("counts", "Numbers of points against $C$. From right to left the machine softens.", figure.Axis{Name: "points", Min: 0, Max: float64(r.N) * 1.04},
				figure.Curve{Name: "support vectors", Y: lists.Map(rows, func(r row) float64 { return r.all })},
				figure.Curve{Name: "bounded", Y: lists.Map(rows, func(r row) float64 { return r.bounded })},
				figure.Curve{Name: "free", Y: lists.Map(rows, func(r row) float64 { return r.free })},
				figure.Curve{Name: "errors", Y: lists.Map(rows, func(r row) float64 { return r.errors })}),
			chart("margin", `The margin $1/\lVert\mathbf w\rVert$ and the hard margin's formula $1/\sqrt{\sum\alpha_i}$. They agree only where no point is bounded.`, figure.Axis{Log: true},
				figure.Curve{Name: "1/‖w‖", Y: lists.Map(rows, func(r row) float64 { return r.margin })},
				figure.Curve{Name: "1/√Σα", Y: lists.Map(rows, func(r row) float64 { return r.hard })}),
		},
		Numbers: []lessons.Number{
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", r.SupportVectors, r.N), After: true},
			{Label: "free / bounded inside / bounded wrong", Value: fmt.Sprintf("%d / %d / %d", *r.Free, *r.BoundedInside, *r.BoundedMisclassified), After: true},
			{Label: `margin $1/\lVert\mathbf w\rVert$`, Value: views.Short(marginOf(r)), Help: `$1/\sqrt{\sum\alpha_i}$ would be ` + views.Short(hard)},
			{Label: `$\sum_i\xi_i$`, Value: views.Short(*r.SlackSum)},
		},
	}
	if set == "overlap" {
		e.Lab = lessons.Overlapping.Lab("kernel", kern, "gamma", "1", "C", pathC.Text(in))
	} else {
		e.Lab = lessons.LabQuery(set, "kernel", kern, "gamma", "1", "C", pathC.Text(in), "standardize", "false")
	}
	switch bounded := *r.BoundedInside + *r.BoundedMisclassified; {
	case bounded == r.N:
		e.After = []string{`Every point is bounded: $\alpha_i = C$ for all, so $\mathbf w = C\sum_i y_i\boldsymbol\phi(\mathbf x_i)$. A smaller $C$ only makes $\mathbf w$ shorter; the line depends on the class means alone.`}
	case bounded == 0:
		e.Notes = []string{"No point is bounded: this is the hard margin, and a larger $C$ changes nothing any more."}
	}
	return e
}

// vectors returns the number of support vectors of the overlapping points over C.
func vectors(ctx context.Context) figure.Curve {
	cs, rows := path(ctx, data("overlap"), "linear")
	return figure.Curve{X: cs, Y: lists.Map(rows, func(r row) float64 { return r.all })}
}

// count compares numbers of support vectors.
func count(ctx context.Context) float64 {
	dear := at(ctx, 100)
	cheap := at(ctx, 0.01)
	a, b := dear.Report.SupportVectors, cheap.Report.SupportVectors
	return lessons.First(b < a, b == a)
}

func showChoose(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	set := chooseSet.Of(in)
	k := lessons.Must(strconv.Atoi(folds.Of(in)))
	d := data(set)
	positive := lists.Either(set == "iris", "versicolor", "")
	spec := lessons.NewSpec("gamma", "2", "positive", positive, "max_iter", "20000")
	cs := prices(2)
	grid := lessons.Must(eval.CrossValidate(ctx, d, spec, eval.Grid{"C": eval.Numbers(cs...)}, eval.Scheme{Folds: k, Seed: uint64(seed.Of(in))}, nil))
	mean, low, high, train := make([]float64, len(cs)), make([]float64, len(cs)), make([]float64, len(cs)), make([]float64, len(cs))
	best := grid.Best
	for i, cell := range grid.Settings {
		mean[i], low[i] = cell.Accuracy, 1
		for _, f := range cell.Folds {
			low[i], high[i] = min(low[i], f.Accuracy), max(high[i], f.Accuracy)
			train[i] += f.TrainAccuracy / float64(k)
		}
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{Name: "accuracy", Caption: "Accuracy of an RBF machine ($\\gamma = 2$) against $C$. The band reaches from the worst to the best fold; the vertical line is the chosen $C$.", Draw: lessons.Draws(1, figure.Chart{
			X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: "share of right answers", Min: 0.4, Max: 1},
			Curves: []figure.Curve{{Name: "held out", X: cs, Y: mean, Lo: low, Hi: high, Marks: true}, {Name: "trained on", X: cs, Y: train}},
			Here:   &cs[best],
		})}},
		Numbers: []lessons.Number{
			{Label: "chosen C", Value: views.Short(cs[best]), Help: "best mean of the held-out folds; of equal ones the smallest"},
			{Label: "mean, held out", Value: lessons.Percent(mean[best]), Help: fmt.Sprintf("folds from %.0f to %.0f %%", 100*low[best], 100*high[best])},
			{Label: "mean, trained on", Value: lessons.Percent(train[best]), Help: "says nothing about new points"},
			{Label: "machines trained", Value: fmt.Sprintf("%d · %d + 1 = %d", k, len(cs), k*len(cs)+1), After: true, Help: "and one more on all points with the chosen C"},
		},
		Notes: []string{"Deal again: does the same $C$ win? Compare the differences between neighbouring values with the height of the band."},
	}
}
