// Package mcm is the lesson on the minimal complexity machine.
package mcm

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
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
	hyperplane   = lessons.NumberControl{Name: "t", Label: "hyperplane", Default: "0.7", Min: -2, Max: 2, Low: -2, High: 2}
	origin       = lessons.NumberControl{Name: "o", Label: "origin", Default: "0", Min: -5, Max: 5, Low: -5, High: 5, Help: "Origin of the coordinates."}
	zero         = lessons.NumberControl{Name: "t", Label: "zero of f", Default: "0.7", Min: -2, Max: 2, Low: -2, High: 2}
	slope        = lessons.NumberControl{Name: "u", Label: "slope u", Symbol: "u", Default: "2.5", Min: 0.3, Max: 4, Low: 0.3, High: 4}
	price        = lessons.NumberControl{Name: "C", Label: "price of slack", Symbol: "C", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	yourPoint    = lessons.NewPlace("px", "your point x1", "py", "your point x2", [2]float64{-0.7, 0.2}, figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.6, YMax: 2.6})
	simplexPrice = lessons.NumberControl{Name: "C", Label: "price of slack", Symbol: "C", Default: "1", Min: 0.1, Max: 10, Low: 0.1, High: 10, Log: true}
	set          = lessons.ChoiceControl{Name: "set", Label: "data", Default: "iris-versicolor-virginica", Options: []param.Option{
		{Name: "overlap", Label: "fourteen points"},
		{Name: "separable", Label: "twelve separable points"},
		{Name: "iris-versicolor-virginica", Label: "Iris: versicolor and virginica"},
		{Name: "moons", Label: "sixty points, moons"},
	}}
	kernels = lessons.ChoiceControl{Name: "with", Label: "kernel", Default: "linear", Options: []param.Option{
		{Name: "linear", Label: "linear"}, {Name: "poly", Label: "polynomial, degree 2"}, {Name: "rbf", Label: "RBF, γ = 1"},
	}}
	svmPrice = lessons.NumberControl{Name: "svm", Label: "C of the SVM", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	mcmPrice = lessons.NumberControl{Name: "mcm", Label: "C of the MCM", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	gamma    = lessons.NumberControl{Name: "gamma", Label: "kernel width", Symbol: "γ", Default: "3", Min: 0.03, Max: 100, Low: 0.03, High: 100, Log: true}
	rankTol  = lessons.NumberControl{Name: "rank_tol", Label: "rank cut", Default: "1e-8", Min: 1e-8, Max: 0.5, Low: 1e-8, High: 0.1, Log: true, Help: "Used while ρ = 0."}
	rho      = lessons.NumberControl{Name: "rho", Label: "sparsity", Symbol: "ρ", Default: "0", Min: 0, Max: 10, Low: 1e-4, High: 1, Log: true, Help: "0: the original machine."}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "mcm",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{Slug: "ratio", Demo: lessons.NewDemo(showRatio, hyperplane), Answers: map[string]lessons.Answer{"smallest": smallest}},
			{
				Slug:    "bound",
				Demo:    lessons.NewDemo(showBound, hyperplane, origin),
				Answers: map[string]lessons.Answer{"shift": shift, "follows": follows},
			},
			{
				Slug:    "charnes-cooper",
				Demo:    lessons.NewDemo(showFraction, zero, slope),
				Answers: map[string]lessons.Answer{"value": lessons.Is(4 / 0.5)},
			},
			{Slug: "soft", Demo: lessons.NewDemo(showSoft, price, yourPoint), Answers: map[string]lessons.Answer{"nothing": nothing}},
			{Slug: "simplex", Demo: lessons.NewDemo(showSimplex, simplexPrice), Answers: map[string]lessons.Answer{"degenerate": zeroStep}},
			{
				Slug:    "beside",
				Demo:    lessons.NewDemo(showBeside, set, kernels, svmPrice, mcmPrice),
				Answers: map[string]lessons.Answer{"sparse": sparse},
			},
			{
				Slug:    "interpolation",
				Demo:    lessons.NewDemo(showInterpolation, gamma, price, rankTol, rho),
				Answers: map[string]lessons.Answer{"price": priceIdle},
			},
		},
	})
}

// six holds points on the real line with their labels.
var six = struct{ x, y []float64 }{
	[]float64{-2.5, -1.7, -0.8, 1.2, 1.9, 4},
	[]float64{-1, -1, -1, 1, 1, 1},
}

// line holds the quantities of the notes for f(x) = x - t with coordinates relative to o.
type line struct {
	theory.Capacity
	near, far, last int     // points nearest to and farthest from t, and farthest from o
	min, max        float64 // their distances from t
}

// newLine measures f(x) = x - t with coordinates relative to o.
func newLine(t, o float64) line {
	l := line{min: math.Inf(1)}
	out := 0.0
	column := mat.NewDense(len(six.x), 1, nil)
	for i, x := range six.x {
		column.Set(i, 0, x-o)
		if d := math.Abs(x - t); d < l.min {
			l.near, l.min = i, d
		}
		if d := math.Abs(x - t); d > l.max {
			l.far, l.max = i, d
		}
		if d := math.Abs(x - o); d > out {
			l.last, out = i, d
		}
	}
	l.Capacity = lessons.Must(theory.LinearCapacity([]float64{1}, o-t, column, six.y))
	return l
}

// sixDots draws the points at the given positions.
func sixDots(at func(i int) [2]float64) []figure.Mark {
	return lists.Make(len(six.x), func(i int) figure.Mark {
		return figure.Dot{At: at(i), Class: lessons.Class(six.y[i]), Name: lessons.ClassName(six.y[i])}
	})
}

// band draws a band from t to x at height y, with marks at multiples of length.
func band(t, x, y, length float64, pen figure.Pen, label string) []figure.Mark {
	marks := []figure.Mark{
		figure.Segment{From: [2]float64{t, y}, To: [2]float64{x, y}, Pen: pen},
		figure.Text{At: [2]float64{(t + x) / 2, y + math.Copysign(0.17, y)}, Text: label, Color: pen.Color},
	}
	const most = 60 // marks
	n := math.Abs(x-t) / length
	for k := 0.0; k <= n+1e-9 && n < most; k++ {
		at := t + math.Copysign(k*length, x-t)
		marks = append(marks, figure.Segment{From: [2]float64{at, y - 0.07}, To: [2]float64{at, y + 0.07}, Pen: pen})
	}
	return marks
}

// between is the axis of the hyperplane's places between the classes.
var between = figure.Axis{Name: "hyperplane", Min: -0.8, Max: 1.2}

// places returns the places on the axis at which curves are drawn.
func places() []float64 {
	return lists.Make(199, func(k int) float64 { return between.Min + 2*float64(k+1)/200 })
}

// visible returns the place of a hyperplane on the axis, nil outside of it.
func visible(t float64) *float64 {
	if t <= between.Min || t >= between.Max {
		return nil
	}
	return &t
}

// The two bands.
var (
	nearPen = figure.Pen{Color: figure.Magenta}
	farPen  = figure.Pen{Color: figure.Green}
)

func showRatio(_ context.Context, in lessons.Input) *lessons.Exhibit {
	t := hyperplane.Of(in)
	l := newLine(t, 0)
	x := six.x
	marks := slices.Concat([]figure.Mark{
		figure.Line{A: [2]float64{0, 1}, Pen: figure.Pen{Thin: true, Color: figure.Muted}},
		figure.Segment{From: [2]float64{t, -0.47}, To: [2]float64{t, 0.8}, Label: "hyperplane"}, // above the short band's label
	}, band(t, x[l.far], 0.4, l.min, farPen, "farthest: "+views.Short(l.max)), band(t, x[l.near], -0.4, l.min, nearPen, "nearest: "+views.Short(l.min)),
		sixDots(func(i int) [2]float64 { return [2]float64{x[i], 0} }))
	chart := figure.Chart{X: between, Y: figure.Axis{Name: "ratio", Min: 1, Max: 40}, Here: visible(t)}
	chart.Curves = lessons.CurvesOf(places(), func(at float64) []float64 { return []float64{newLine(at, 0).HMCM} }, "h of the MCM")
	moved := in.Text(param.Param(hyperplane)) != hyperplane.Default // the question's setting
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "bands", Wide: true, Caption: `Two rubber bands at the hyperplane, to the farthest point and to the nearest. ~Drag the hyperplane: how often does the short one fit into the long one?~`, Draw: lessons.Draws(1, figure.Plane{
				X: "x", Stretched: true, Limits: figure.Limits{XMin: -3, XMax: 4.5, YMin: -1, YMax: 1}, Marks: marks,
			})},
			{Name: "ratios", Wide: true, After: true, Caption: `The ratio of the bands against the place of the hyperplane between the classes.`, Draw: lessons.Draws(0, chart)},
		},
		Handles: []lessons.Handle{{Label: "hyperplane", X: t, Y: 0.8, XControl: hyperplane}}, // above the points
		Numbers: []lessons.Number{{Label: `$h_{\text{MCM}}$`, Value: views.Short(l.HMCM), Help: "farthest over nearest: " + views.Short(l.max) + " / " + views.Short(l.min), After: moved}},
		Notes:   l.doubts("A point lies on the hyperplane: the short band has no length.", "The hyperplane does not separate the classes: the ratio uses $\\lvert f\\rvert$, so it means nothing here."),
	}
}

// doubts returns a screen's note for a point on the hyperplane or classes that are not separated.
func (l *line) doubts(on, mixed string) []string {
	switch {
	case l.min == 0:
		return []string{on}
	case !l.Separates:
		return []string{mixed}
	}
	return nil
}

// smallest finds where between the classes the ratio is smallest.
func smallest(context.Context) float64 {
	least, where := math.Inf(1), 0.0
	for at := -0.795; at < 1.2; at += 0.005 {
		l := newLine(at, 0)
		if l.HMCM < least {
			least, where = l.HMCM, at
		}
	}
	for k, between := range [][2]float64{{-0.8, 1.2}, {-2.5, 4}} { // the nearest two, the outermost two
		if math.Abs(where-(between[0]+between[1])/2) < 0.01 {
			return float64(k)
		}
	}
	return 2
}

// shift moves the origin 10 to the left.
func shift(context.Context) float64 {
	before := newLine(0.7, 0)
	after := newLine(0.7, -10)
	same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*math.Abs(b) }
	h, r := same(after.HMCM, before.HMCM), same(after.Radius/after.Margin, before.Radius/before.Margin)
	return lessons.First(h && r, h)
}

// onLine returns the points of the real line in the plane.
func onLine() [][2]float64 {
	return lists.Map(six.x, func(x float64) [2]float64 { return [2]float64{x, 0} })
}

// rbfOnLine returns h of an RBF machine on the points of the real line, and how many of them it
// shatters.
func rbfOnLine(ctx context.Context) (h float64, shattered int) {
	t := lessons.Toy{Y: six.y, XY: onLine()}
	res := lessons.Fit(ctx, t.Data(), "learner", "mcm", "kernel", "rbf", "gamma", "2")
	s := lessons.Must(theory.ShatterKernel(theory.Gram(kernel.NewGram(kernel.RBF(2), t.Matrix()))))
	return *res.Report.H, len(s.Largest())
}

// shatteredByThresholds returns the number of points on the real line that thresholds shatter.
func shatteredByThresholds() int {
	return len(lessons.Must(theory.ShatterLines(onLine())).Largest())
}

func showBound(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, o := hyperplane.Of(in), origin.Of(in)
	l := newLine(t, o)
	thresholds := shatteredByThresholds()
	h, shattered := rbfOnLine(ctx)
	curves := lessons.CurvesOf(places(), func(at float64) []float64 {
		p := newLine(at, o)
		return []float64{theory.MarginVCDim(p.Radius, p.Margin, math.Inf(1)), p.HMCM * p.HMCM, float64(thresholds)}
	}, "bound by margin, with the 1", "h of the MCM, squared", "VC dimension of thresholds")
	x := six.x
	at := func(v float64) [2]float64 { return [2]float64{v, 1} } // with a 1 appended
	normal := [2]float64{1, o - t}
	foot := func(p [2]float64) [2]float64 { return lessons.Foot(normal, -o, p) }
	marks := slices.Concat([]figure.Mark{
		figure.Line{A: normal, C: o, Name: "hyperplane"},
		figure.Segment{From: [2]float64{o, 0}, To: at(x[l.last]), Pen: figure.Pen{Dash: figure.Dashed}, Name: "radius, with the 1"},
		figure.Segment{From: at(x[l.far]), To: foot(at(x[l.far])), Pen: farPen, Name: "farthest from it"},
		figure.Segment{From: at(x[l.near]), To: foot(at(x[l.near])), Pen: nearPen, Name: "margin, with the 1"},
	}, sixDots(func(i int) [2]float64 { return at(x[i]) }), []figure.Mark{figure.Dot{At: [2]float64{o, 0}, Class: -1, Label: "origin"}})
	moved := o != 0 // the setting of the question about the shift
	return &lessons.Exhibit{
		Handles: []lessons.Handle{{Label: "hyperplane", X: t, Y: 1, XControl: hyperplane}, {Label: "origin", X: o, Y: 0, XControl: origin}},
		Notes:   l.doubts("A point lies on the hyperplane: both ratios are infinite.", "The hyperplane does not separate the classes: both ratios use $\\lvert f\\rvert$, so they mean nothing here."),
		Figures: []lessons.Figure{{
			Name: "augmented", Wide: true, Caption: `The six points with a 1 appended; every hyperplane now passes through the origin. $\hat R$ is the longest vector, $\hat\Delta$ the nearest point's distance. ~Drag hyperplane and origin.~`, Draw: lessons.Draws(2, figure.Plane{
				X: "x", Y: "appended 1", Limits: figure.Limits{XMin: min(-3, o-0.5), XMax: max(4.5, o+0.5), YMin: -0.5, YMax: 1.6}, Marks: marks,
			}),
		}, {Name: "bounds", After: moved, Caption: `Everything against the place of the hyperplane between the classes, for your origin. ~Move the origin: one curve moves, the others stay.~`, Asks: `The upper bound and $h_{\text{MCM}}^2$ against the place of the hyperplane between the classes. Where is the VC dimension?`, Draw: lessons.Draws(1, figure.Chart{
			X: between, Y: figure.Axis{Log: true, Min: 1, Max: 1e4}, Curves: curves, Hidden: 1, Here: visible(t),
		})}},
		Tables: []lessons.Table{{
			After: true, Caption: `Two families of functions on these six points`, Head: []string{"family", `$h_{\text{VC}}$`, `$h_{\text{MCM}}^2$`, `$h_{\text{VC}}/h_{\text{MCM}}^2$`},
			Rows: [][]string{
				{"thresholds", strconv.Itoa(thresholds), views.Short(l.HMCM * l.HMCM), views.Short(float64(thresholds) / (l.HMCM * l.HMCM))},
				{`RBF kernel, $\gamma = 2$`, fmt.Sprintf("≥ %d", shattered), views.Short(h * h), "≥ " + views.Short(float64(shattered)/(h*h))},
			},
		}},
		Numbers: []lessons.Number{
			{Label: `$h_{\text{MCM}}$`, Value: views.Short(l.HMCM), After: moved},
			{Label: `$\hat R/\hat\Delta$`, Value: views.Short(l.Radius / l.Margin), Help: "with the 1 appended: " + views.Short(l.Radius) + " / " + views.Short(l.Margin), After: moved},
			{After: moved, Label: `$\lceil(\hat R/\hat\Delta)^2\rceil + 1$`, Value: views.Short(theory.MarginVCDim(l.Radius, l.Margin, math.Inf(1))), Help: "an upper bound of both"},
		},
	}
}

// follows tests both conclusions on examples.
func follows(ctx context.Context) float64 {
	h, shattered := rbfOnLine(ctx)
	thresholds := shatteredByThresholds()
	near := newLine(1.1, 0)
	return lessons.First(float64(shattered) <= 1+h*h, near.HMCM*near.HMCM <= float64(thresholds))
}

var fractionLines = lessons.Lines(files, "fraction")

func showFraction(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	u, t := slope.Of(in), zero.Of(in)
	e := (&lessons.Exhibit{}).Derive(in, fractionLines())
	if e.Step == e.Steps-1 {
		w, b, _ := lessons.Fit(ctx, sixData(), "learner", "mcm", "kernel", "linear", "hard_margin", "true").Model.Linear()
		u, t = w[0], -b/w[0]
	}
	v := -u * t
	m := lessons.Must(theory.LinearMargins([]float64{u}, v, mat.NewDense(len(six.x), 1, slices.Clone(six.x)), six.y))
	margins := m.Functional
	l, g := m.FunctionalMargin(), floats.Max(margins)
	if l <= 0 {
		e.Notes = append(e.Notes, `Your $f$ has a point on its wrong side: $l \le 0$, and $p = 1/l$ would turn the inequalities round. ~Move the zero of $f$ into the gap.~`)
	}
	p, floor, ceiling := 1.0, "l", "g"
	if e.Step >= 3 && l > 0 {
		p, floor, ceiling = 1/l, "1", "h"
	}
	marks := []figure.Mark{figure.Line{A: [2]float64{0, 1}, Pen: figure.Pen{Thin: true, Color: figure.Muted}}}
	if e.Step >= 2 {
		marks = append(marks,
			figure.Line{A: [2]float64{0, 1}, C: p * l, Pen: figure.Pen{Dash: figure.Dashed, Color: figure.Magenta}, Label: floor, Name: "floor"},
			figure.Line{A: [2]float64{0, 1}, C: p * g, Pen: figure.Pen{Dash: figure.DashDot, Color: figure.Green}, Label: ceiling, Name: "ceiling"})
	}
	marks = append(marks, sixDots(func(i int) [2]float64 { return [2]float64{six.x[i], p * margins[i]} })...)
	e.Figures = []lessons.Figure{{Name: "margins", Wide: true, Caption: `The six points of the line; their height is $y_i f(x_i)$.`, Draw: lessons.Draws(1, figure.Plane{
		X: "x", Y: "y f(x)", Stretched: true, Limits: figure.Limits{XMin: -3, XMax: 4.5, YMin: min(-1, 1.1*p*l), YMax: 1.15 * p * g}, Marks: marks,
	})}}
	quotient, parts := "none", ""
	if l > 0 {
		quotient, parts = views.Short(g/l), views.Short(p*g)+" / "+views.Short(p*l)+"; "
	}
	e.Numbers = []lessons.Number{{Label: `$\max_i y_i f$ over $\min_i y_i f$`, Value: quotient, Help: parts + lists.Either(e.Step == e.Steps-1, "the smallest that there is", "the same in every line until the solver's")}}
	if e.Step >= 3 && l > 0 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$p = 1/l$`, Value: views.Short(1 / l)}, lessons.Number{Label: `$w,\; b$`, Value: views.Short(u/l) + ", " + views.Short(v/l)})
	}
	return e
}

// sixData returns the points of the real line as a data set.
func sixData() *dataset.Data {
	var rows strings.Builder
	rows.WriteString("x,label\n")
	for i, x := range six.x {
		fmt.Fprintf(&rows, "%g,%g\n", x, six.y[i])
	}
	return lessons.Must(dataset.Read(strings.NewReader(rows.String()), "points.csv", dataset.Mapping{Label: "label"}, dataset.DefaultLimits))
}

// ceiling draws the lines f = ±h.
func ceiling(w [2]float64, b, h float64) []figure.Mark {
	pen := figure.Pen{Color: figure.Green, Dash: figure.DashDot, Thin: true}
	return []figure.Mark{
		figure.Line{A: w, C: h - b, Pen: pen, Name: "f = ±h"},
		figure.Line{A: w, C: -h - b, Pen: pen, Name: "f = ±h"},
	}
}

func showSoft(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := yourPoint.Of(in)
	last := len(lessons.Overlapping.XY) - 1
	t := lessons.Toy{XY: append(append([][2]float64{}, lessons.Overlapping.XY[:last]...), p), Y: lessons.Overlapping.Y}
	settings := []string{"learner", "mcm", "kernel", "linear", "C", price.Text(in)}
	m := lessons.TrainLinear(ctx, t, settings...)
	h := *m.Report.H
	e := &lessons.Exhibit{
		Handles: []lessons.Handle{yourPoint.Handle("your point", in)},
		Lab:     t.Lab(settings...),
		Numbers: []lessons.Number{
			{Label: `$h = \max(1, \max_i y_i f)$`, Value: views.Short(h), Help: "the ceiling"},
			{Label: `$\sum_i q_i$`, Value: views.Short(*m.Report.SlackSum), Help: "slack below the floor"},
			{Label: `$h + C\sum_i q_i$`, Value: views.Short(*m.Report.Objective), Help: "no better one: the dual has " + views.Short(*m.Report.DualObjective)},
			{Label: "support vectors", Value: strconv.Itoa(m.Report.SupportVectors), Help: `$\lambda_j \ne 0$`},
		},
	}
	mine := []figure.Mark{figure.Dot{At: p, Class: 1, Held: true, Label: "your point"}}
	if lessons.Norm(m.W) < 1e-9 {
		e.Figures = []lessons.Figure{lessons.Plane("points", "There is no line: f is constant.", lessons.ToyLimits, 2, t.Dots(nil), mine)}
		e.Notes = []string{"At this price no slope is worth its ceiling: $f$ is constant."}
		return e
	}
	onCeiling := func(i int) bool { return m.Points[i].Margin > h-1e-6 }
	e.Figures = []lessons.Figure{lessons.Plane("points", `Dashed: the floor $f = \pm 1$, below which slack is paid. Dash-dotted: the ceiling $f = \pm h$; ringed points touch it. ~Drag your point.~`, lessons.ToyLimits, 2,
		lessons.Sides(m.W, m.B), lessons.MarginLines(m.W, m.B), ceiling(m.W, m.B, h), lessons.Slacks(t, m.W, m.B), t.Dots(onCeiling), mine)}
	switch {
	case h < 1+1e-9:
		e.Notes = []string{"Slack is so cheap that the ceiling is on the floor, $h = 1$: all points but those on it pay."}
	case *m.Report.SlackSum < 1e-9:
		e.Notes = []string{"No slack: this is the hard machine, and a larger $C$ changes nothing."}
	}
	return e
}

// nothing returns the objective at the initial vertex of the simplex method.
func nothing(ctx context.Context) float64 {
	r := lessons.Must(stepwise.Simplex(ctx, lessons.Overlapping.Matrix(), lessons.Overlapping.Y, stepwise.SimplexSettings{C: 1}))
	return r.At(0).Objective
}

// four holds the points of the simplex screen.
var four = lessons.Toy{XY: [][2]float64{{-2, -1}, {-1, 1}, {1, -1}, {2, 2}}, Y: []float64{-1, -1, 1, 1}}

// replay runs the simplex method on the four points.
func replay(ctx context.Context, c float64) *trace.Replay[stepwise.SimplexState] {
	return lessons.Must(stepwise.Simplex(ctx, four.Matrix(), four.Y, stepwise.SimplexSettings{C: c}))
}

// entry formats a tableau entry with two decimals; zeros are dots, so that the others stand out.
func entry(v float64) string {
	if math.Abs(v) < 1e-12 {
		return "·"
	}
	return views.Short(math.Round(100*v) / 100)
}

func showSimplex(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	r := replay(ctx, simplexPrice.Of(in))
	e := &lessons.Exhibit{Steps: r.Len(), Step: min(in.Step, r.Len()-1)}
	s := r.At(e.Step)
	w := [2]float64{s.Weights[0], s.Weights[1]}
	limits := figure.Limits{XMin: -3.2, XMax: 3.2, YMin: -1.9, YMax: 2.6}
	var marks [][]figure.Mark
	if lessons.Norm(w) > 1e-12 {
		marks = append(marks, lessons.Sides(w, s.B), lessons.MarginLines(w, s.B), ceiling(w, s.B, s.H), lessons.Slacks(four, w, s.B))
	}
	for i := range four.XY {
		marks = append(marks, []figure.Mark{figure.Dot{At: four.XY[i], Class: lessons.Class(four.Y[i]), Name: lessons.ClassName(four.Y[i]), Label: strconv.Itoa(i + 1)}})
	}
	e.Numbers = []lessons.Number{
		{Label: `$h + C\sum_i q_i$`, Value: views.Short(s.Objective)},
		{Label: `$\mathbf w$ and $b$`, Value: lessons.Pair(w) + " and " + views.Short(s.B)},
		{Label: `$h$`, Value: views.Short(s.H)},
		{Label: `$q$`, Value: lessons.Vector(s.Q...)},
	}

	t := lessons.Table{Caption: "The tableau to two decimals: a row for each basic variable, a column for each that is 0 now. The arrow enters, the marked row leaves.", Head: []string{"basis", "value", "ratio"}}
	for c, name := range s.Nonbasic {
		if c == s.Entering {
			name += " ↑"
			if s.Direction < 0 {
				name = s.Nonbasic[c] + " ↓"
			}
		}
		t.Head = append(t.Head, name)
	}
	entries := func(row []string, values []float64) []string {
		return append(row, lists.Map(values, entry)...)
	}
	for i, name := range s.Basic {
		ratio := ""
		if s.Ratios != nil && !math.IsInf(s.Ratios[i], 1) {
			ratio = views.Short(math.Round(100*s.Ratios[i]) / 100)
		}
		if i == s.Leaving {
			t.Marked = append(t.Marked, i)
		}
		t.Rows = append(t.Rows, entries([]string{name, entry(s.Value[i]), ratio}, s.Table[i]))
	}
	t.Rows = append(t.Rows, entries([]string{"cost", entry(s.Objective), ""}, s.Cost))
	e.Tables = []lessons.Table{t}
	e.Figures = []lessons.Figure{lessons.Plane("line", `The line of this vertex and its tableau: the boxed column enters, the boxed row leaves. Dashed: the floor $f = \pm 1$, dash-dotted: the ceiling $f = \pm h$. Segments are slacks.`, limits, 2, marks...).Beside(0.48, true, tableau(t, s.Entering))}
	e.Notes = []string{pivot(s, e.Step == 0)}
	if s.Entering >= 0 && s.Ratios[s.Leaving] == 0 {
		e.After = []string{"The line stays where it is: only the basis changes."}
	}
	return e
}

// tableau draws the table of a vertex, with boxes around the entering column, if any, and the
// leaving row.
func tableau(t lessons.Table, entering int) lessons.Figure {
	rows, columns := float64(len(t.Rows)+1), float64(len(t.Head))
	var marks []figure.Mark
	box := func(x, y, width, height float64) {
		marks = append(marks, figure.Path{Plain: true, Pen: figure.Pen{Color: figure.Magenta}, Points: [][2]float64{{x, -y}, {x + width, -y}, {x + width, -y - height}, {x, -y - height}, {x, -y}}})
	}
	if entering >= 0 {
		box(3+float64(entering), 0.05, 1, rows-0.1)
	}
	for _, i := range t.Marked {
		box(0.05, 1+float64(i), columns-0.1, 1)
	}
	marks = append(marks, figure.Segment{From: [2]float64{0, -1}, To: [2]float64{columns, -1}, Pen: figure.Pen{Color: figure.Muted, Thin: true}})
	for i, row := range append([][]string{t.Head}, t.Rows...) {
		for k, cell := range row {
			marks = append(marks, figure.Text{At: [2]float64{float64(k) + 0.5, -float64(i) - 0.5}, Text: cell})
		}
	}
	return lessons.Figure{Draw: lessons.Draws(0, figure.Plane{
		Bald: true, Stretched: true, Limits: figure.Limits{XMax: columns, YMin: -rows}, Marks: marks, Caption: "The simplex tableau, as in the table.",
	})}
}

// pivot explains the choice of the pivot.
func pivot(s stepwise.SimplexState, first bool) string {
	if s.Entering < 0 {
		return "No cost promises a gain any more: this vertex is optimal, and its line is the MCM. The signs in the last row are the proof."
	}
	in, out, ratio := s.Nonbasic[s.Entering], s.Basic[s.Leaving], s.Ratios[s.Leaving]
	text := lists.Either(first, "Start: f = 0, every point pays 1. ", "")
	rule := lists.Either(s.Bland, "is the first with a promising cost (Bland's rule, after a step of length 0)", "has the cost of largest size")
	text += fmt.Sprintf("%s %s, %s per unit, and enters. ", in, rule, views.Short(s.Cost[s.Entering]))
	if ratio == 0 {
		return text + fmt.Sprintf("%s is 0 already and would fall below: the ratio is 0. %s leaves.", out, out)
	}
	return text + fmt.Sprintf("%s has the smallest ratio: it reaches 0 when %s has changed by %s, so %s leaves.", out, in, views.Short(ratio), out)
}

// zeroStep compares the states around a pivot of length 0.
func zeroStep(ctx context.Context) float64 {
	r := replay(ctx, 1)
	for k := range r.Len() - 1 {
		s, next := r.At(k), r.At(k+1)
		if s.Ratios[s.Leaving] != 0 {
			continue
		}
		line := floats.Distance(s.Weights, next.Weights, 2)+math.Abs(s.B-next.B) > 1e-12
		return lessons.First(line && math.Abs(s.Objective-next.Objective) > 1e-12, line)
	}
	panic(lessons.Failf("mcm: the four points have no step of length 0 any more"))
}

// load loads a data set of the lesson.
func load(set string) *dataset.Data {
	if set == "moons" {
		return lessons.Must(dataset.Generate("moons", 60, 0.3, 3))
	}
	return lessons.LoadData(set)
}

// freshMoons returns new points from the distribution of the moons.
func freshMoons() *dataset.Data { return lessons.Must(dataset.Generate("moons", 400, 0.3, 77)) }

// machine is a machine in the comparison, with its results.
type machine struct {
	*lessons.Fitted
	capacity theory.Capacity
	top      float64 // largest y f
}

// newMachine trains on d and measures the machine.
func newMachine(ctx context.Context, d *dataset.Data, pairs ...string) *machine {
	res := lessons.Fit(ctx, d, append([]string{"gamma", "1", "coef0", "1", "degree", "2", "tol", "1e-6"}, pairs...)...)
	y, _, _, err := d.Binary("")
	lessons.Check(err)
	m := &machine{Fitted: res}
	m.capacity = lessons.Must(theory.NewCapacity(theory.Gram(kernel.NewGram(res.Model.Kernel, d.X)), res.Coefficients(), res.Model.Machines[0].B, y))
	for i, f := range res.Model.Decisions(d.X) {
		m.top = max(m.top, y[i]*f)
	}
	return m
}

// overlay draws the boundaries of both machines.
func overlay(machines [2]*machine) lessons.Figure {
	return lessons.Overlay("both", `Both boundaries. Grey and hatched: where the two machines disagree.`, []string{"SVM", "MCM"}, func(l lessons.Look, i int) figure.Scene {
		m := machines[i]
		v, _ := m.Model.View()
		return l.Scene(m.Model, m.Points(), v, m.Data.Classes, 1)
	})
}

func showBeside(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	d := load(set.Of(in))
	var machines [2]*machine
	for i, c := range []string{svmPrice.Text(in), mcmPrice.Text(in)} {
		machines[i] = newMachine(ctx, d, "kernel", kernels.Of(in), "learner", []string{"svm", "mcm"}[i], "C", c)
	}
	t := lessons.Table{Caption: "The same points, the same kernel", Head: []string{"", "SVM", "MCM"}, After: true}
	row := func(name string, value func(*machine) string) {
		t.Rows = append(t.Rows, []string{name, value(machines[0]), value(machines[1])})
	}
	row("support vectors", func(m *machine) string { return fmt.Sprintf("%d of %d", m.Report.SupportVectors, m.Report.N) })
	row("training errors", func(m *machine) string { return fmt.Sprintf("%.0f", (1-*m.Report.TrainAccuracy)*float64(m.Report.N)) })
	row(`margin $1/\lVert\mathbf w\rVert$`, func(m *machine) string { return views.Short(1 / m.capacity.Norm) })
	row(`$\max_i y_i f(\mathbf x_i)$, kept small as $h$`, func(m *machine) string { return views.Short(m.top) })
	row("sum of slacks", func(m *machine) string { return views.Short(*m.Report.SlackSum) })
	ifSeparated := func(value func(*machine) float64) func(*machine) string {
		return func(m *machine) string {
			if !m.capacity.Separates {
				return "has errors"
			}
			return views.Short(value(m))
		}
	}
	row(`$h_{\text{MCM}}$`, ifSeparated(func(m *machine) float64 { return m.capacity.HMCM }))
	row(`$\hat R/\hat\Delta$`, ifSeparated(func(m *machine) float64 { return m.capacity.Radius / m.capacity.Margin }))
	if set.Of(in) == "moons" {
		fresh := freshMoons()
		var right [2]float64
		for i, m := range machines {
			right[i] = lessons.Must(m.Model.Accuracy(fresh))
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("right on %d fresh points", len(fresh.Y)), lessons.Percent(right[0]), lessons.Percent(right[1])})
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			overlay(machines),
			machines[0].Boundary("svm", "The SVM: ringed points have $\\alpha_i > 0$ and lie on the margin, inside it or on the wrong side.", nil),
			machines[1].Boundary("mcm", "The MCM: ringed points have $\\lambda_j \\ne 0$, and may lie anywhere.", nil).Afterwards(),
		},
		Tables: []lessons.Table{t},
	}
	settings := []string{"learner", "mcm", "kernel", kernels.Of(in), "gamma", "1", "coef0", "1", "degree", "2", "C", mcmPrice.Text(in), "standardize", "false"}
	switch set.Of(in) {
	case "iris-versicolor-virginica":
		e.Lab = lessons.LabQuery(set.Of(in), settings...)
	default:
		e.Lab = lessons.ToyOf(d).Lab(settings...)
	}
	return e
}

// sparse counts the support vectors of the MCM on the fourteen points.
func sparse(ctx context.Context) float64 {
	return float64(lessons.TrainLinear(ctx, lessons.Overlapping, "learner", "mcm", "C", "1").Report.SupportVectors)
}

// rbfSettings returns the settings of the last screen.
func rbfSettings(gamma, c, rankTol, rho string) []string {
	return []string{"learner", "mcm", "kernel", "rbf", "gamma", gamma, "C", c, "rank_tol", rankTol, "rho", rho}
}

func showInterpolation(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	d := load("moons")
	fresh := freshMoons()
	width, c, cut, sparsity := gamma.Text(in), price.Text(in), rankTol.Text(in), rho.Text(in)
	res := lessons.Fit(ctx, d, rbfSettings(width, c, cut, sparsity)...)
	accuracy := lessons.Must(res.Model.Accuracy(fresh))
	chart := func(name, label, caption string, values []float64, here float64, settings func(v string) []string) lessons.Figure {
		shares := func(v float64) []float64 {
			res := lessons.Fit(ctx, d, settings(lessons.Setting(v))...)
			right, vectors := lessons.Must(res.Model.Accuracy(fresh)), float64(res.Report.SupportVectors)/float64(res.Report.N)
			return []float64{right, *res.Report.TrainAccuracy, vectors}
		}
		ch := figure.Chart{
			X: figure.Axis{Name: label, Log: true}, Y: figure.Axis{Name: "share of the points", Min: 0, Max: 1.02},
			Curves: lessons.CurvesOf(values, shares, "right, fresh points", "right, training", "share of SVs"),
		}
		if here >= values[0] && here <= values[len(values)-1] {
			ch.Here = &here
		}
		return lessons.Figure{Name: name, Caption: caption, Draw: lessons.Draws(2, ch)}
	}
	hereRho := rho.Of(in)
	hereCut := lists.Either(hereRho > 0, 0, rankTol.Of(in))
	cuts := chart("rank", "rank cut", `Along the rank cut, with $\rho = 0$.`, []float64{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1}, hereCut,
		func(v string) []string { return rbfSettings(width, c, v, "0") })
	rhos := chart("rho", "ρ", `Along $\rho$, where no cut is needed.`, []float64{1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1}, hereRho,
		func(v string) []string { return rbfSettings(width, c, cut, v) })
	r := res.Report
	turned := hereRho == 0 && c != price.Default // the question's setting
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			res.Boundary("model", `Sixty points of two noisy moons. Ringed: $\lambda_j \ne 0$. Dashed: $f = \pm 1$.`, nil),
			cuts, rhos,
		},
		Numbers: []lessons.Number{
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", r.SupportVectors, r.N), After: turned},
			{Label: `$h$ and $\sum_i q_i$`, Value: views.Short(*r.H) + " and " + views.Short(math.Round(1e6**r.SlackSum)/1e6), After: true},
			{Label: "right on the training points", Value: lessons.Percent(*r.TrainAccuracy), After: turned},
			{Label: "right on fresh points", Value: lessons.Percent(accuracy), Help: fmt.Sprintf("%d points that were not trained on", len(fresh.Y))},
		},
	}
	if turned {
		bare := lessons.ToyOf(d)
		e.Figures[0] = e.Figures[0].Instead(lessons.Plane("model", "", bare.Limits(), 2, bare.Dots(nil)), "The points, with another $C$. What has it changed?")
	}
	if hereRho == 0 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: "rank used", Value: fmt.Sprintf("%d of %d", *r.Rank, r.N), Help: "columns of the kernel matrix that f may use"})
	}
	e.Lab = lessons.ToyOf(d).Lab(rbfSettings(width, c, cut, sparsity)...)
	switch {
	case *r.H < 1+1e-6 && *r.SlackSum < 1e-6:
		e.After = []string{"$h = 1$ without slack: $f$ takes the value $y_i$ at every point. Now look at the fresh points.", "The objective is as small as it can ever be, and $C$ has nothing to decide."}
	case r.Status == trace.Numerical:
		e.Notes = []string{"With a cut as small as this rounding keeps the solver from a certificate: the coefficients are huge."}
	}
	return e
}

// priceIdle compares two prices for a kernel matrix of full rank.
func priceIdle(ctx context.Context) float64 {
	d := load("moons")
	one := lessons.Fit(ctx, d, rbfSettings("10", "1", "1e-8", "0")...)
	two := lessons.Fit(ctx, d, rbfSettings("10", "100", "1e-8", "0")...)
	a, b := one.Report, two.Report
	return lessons.First(*b.TrainAccuracy > *a.TrainAccuracy, b.SupportVectors < a.SupportVectors, *b.H > *a.H+1e-9)
}
