// Package margins is the lesson on linear classifiers and their margins.
package margins

import (
	"context"
	"embed"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls of the screens.
var (
	probe = lessons.NewPlace("px", "probe x₁", "py", "probe x₂", [2]float64{0.3, -1.2}, figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.5, YMax: 2.5})
	w1    = lessons.NumberControl{Name: "w1", Label: "w₁", Default: "1", Min: -3, Max: 3, Low: -3, High: 3}
	w2    = lessons.NumberControl{Name: "w2", Label: "w₂", Default: "0.5", Min: -3, Max: 3, Low: -3, High: 3}
	bias  = lessons.NumberControl{Name: "b", Label: "b", Default: "-1", Min: -4, Max: 4, Low: -4, High: 4}
	scale = lessons.NumberControl{
		Name: "scale", Label: "w and b times", Symbol: "c", Default: "1", Min: 0.1, Max: 10, Low: 0.1, High: 10, Log: true,
		Help: "The dashed lines are f = ±1.",
	}
	angle = lessons.NumberControl{Name: "angle", Label: "direction of w", Default: "15", Min: -60, Max: 60, Low: -60, High: 60, Help: "Degrees from the horizontal axis. The line is kept half-way between the classes."}
	ends  = lessons.EndsControl{
		A: lessons.NewPlace("ax", "first end x₁", "ay", "first end x₂", [2]float64{-1.5, 2.2}, figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.5, YMax: 2.5}),
		B: lessons.NewPlace("bx", "second end x₁", "by", "second end x₂", [2]float64{0.6, -2.2}, figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.5, YMax: 2.5}),
	}
	kept = lessons.TextControl{Name: "kept", Label: "kept line", Max: 60, Folded: true, Help: "w₁, w₂ and b of your best try."}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "margins",
		Task: "data=iris-sepal",
		Screens: []lessons.Screen{
			{
				Slug: "classifier",
				Demo: lessons.NewDemo(showClassifier, probe),
				Answers: map[string]lessons.Answer{
					"sign": func(context.Context) float64 {
						return lessons.First(lessons.Must(theory.NewMargins([]float64{-0.2}, []float64{-1}, 1)).Separates)
					},
				},
			},
			{
				Slug:    "line",
				Demo:    lessons.NewDemo(showLine, w1, w2, bias),
				Answers: map[string]lessons.Answer{"distance": lessons.Is(10 / lessons.Norm([2]float64{3, 4}))},
			},
			{Slug: "two-margins", Demo: lessons.NewDemo(showTwo, scale), Answers: map[string]lessons.Answer{"double": doubling}},
			{Slug: "canonical", Demo: lessons.NewDemo(showCanonical, angle), Answers: map[string]lessons.Answer{"width": lessons.Is(2 / 0.5)}},
			{
				Slug:    "by-hand",
				Demo:    lessons.NewDemo(showByHand, ends, kept),
				Answers: map[string]lessons.Answer{"how-many": holders, "best": widestMargin},
			},
		},
	})
}

func showClassifier(_ context.Context, in lessons.Input) *lessons.Exhibit {
	w, b := [2]float64{1, 0.4}, 0.1
	p := probe.Of(in)
	f := w[0]*p[0] + w[1]*p[1] + b
	return &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("boundary", `The line is $f(\mathbf x) = 0$.`, lessons.ToyLimits, 2,
			lessons.Sides(w, b), lessons.Separable.Dots(nil), []figure.Mark{figure.Dot{At: p, Class: -1, Held: true, Label: "probe"}})},
		Handles: []lessons.Handle{probe.Handle("probe", in)},
		Numbers: []lessons.Number{
			{Label: `$f(\mathbf x)$`, Value: views.Short(f), Help: "value of the classifier at the probe"},
			{Label: "prediction", Value: lists.Either(f < 0, "−1", "+1"), Help: `$+1$ where $f \ge 0$`},
			{Label: `$y f$ if its label is $+1$`, Value: views.Short(f), Help: "positive: classified correctly"},
			{Label: `$y f$ if its label is $-1$`, Value: views.Short(-f)},
		},
	}
}

func showLine(_ context.Context, in lessons.Input) *lessons.Exhibit {
	w, b := [2]float64{w1.Of(in), w2.Of(in)}, bias.Of(in)
	n := lessons.Norm(w)
	if n < 1e-9 {
		return &lessons.Exhibit{
			Figures: []lessons.Figure{lessons.Plane("line", "", lessons.ToyLimits, 2, lessons.Separable.Dots(nil))},
			Notes:   []string{`With $\mathbf w = 0$ the function is the constant $b$: every point gets the same answer and there is no boundary.`},
		}
	}
	near := lessons.Foot(w, b, [2]float64{})
	tip := [2]float64{near[0] + w[0]/n, near[1] + w[1]/n}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("line", `The arrow has the direction of $\mathbf w$ (drawn with length 1). The dashed segment is the distance of the line from the origin.`, lessons.ToyLimits, 2,
			lessons.Sides(w, b), lessons.Separable.Dots(nil), []figure.Mark{
				figure.Segment{From: [2]float64{}, To: near, Pen: figure.Pen{Dash: figure.Dashed}, Name: "distance from the origin"},
				figure.Arrow{From: near, To: tip, Label: "w"},
				figure.Dot{Class: -1, Label: "origin"},
			})},
		Numbers: []lessons.Number{
			{Label: `$\lVert\mathbf w\rVert$`, Value: views.Short(n), Help: "length of the weight vector"},
			{Label: `$\lvert b\rvert / \lVert\mathbf w\rVert$`, Value: views.Short(math.Abs(b) / n), Help: "distance of the line from the origin"},
			{Label: "nearest place", Value: lessons.Pair(near), Help: `$-b\,\mathbf w/\lVert\mathbf w\rVert^2$`},
		},
	}
}

func showTwo(_ context.Context, in lessons.Input) *lessons.Exhibit {
	c := scale.Of(in)
	w, b := [2]float64{c * 0.8, c * 0.25}, c*0.1
	m := lessons.Must(theory.LinearMargins(w[:], b, lessons.Separable.Matrix(), lessons.Separable.Y))
	worst := lessons.Separable.XY[m.Worst]
	return &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("scale", `Scale $\mathbf w$ and $b$ and watch the lines $f = \pm 1$. The segment is the worst geometric margin.`, lessons.ToyLimits, 2,
			lessons.Sides(w, b), lessons.MarginLines(w, b), lessons.Separable.Dots(func(i int) bool { return i == m.Worst }), []figure.Mark{figure.Segment{From: worst, To: lessons.Foot(w, b, worst), Pen: figure.Pen{Color: figure.Magenta}, Name: "worst margin"}})},
		Numbers: []lessons.Number{
			{Label: `$\hat\gamma = \min_i y_i f(\mathbf x_i)$`, Value: views.Short(m.FunctionalMargin()), Help: "worst functional margin", After: true},
			{Label: `$\lVert\mathbf w\rVert$`, Value: views.Short(m.Norm)},
			{Label: `$\gamma = \hat\gamma / \lVert\mathbf w\rVert$`, Value: views.Short(m.GeometricMargin()), Help: "worst geometric margin: a distance in the picture", After: true},
		},
	}
}

// doubling computes the effect of doubling w and b on the margins of the lesson's points.
func doubling(context.Context) float64 {
	one := lessons.Must(theory.LinearMargins([]float64{0.8, 0.25}, 0.1, lessons.Separable.Matrix(), lessons.Separable.Y))
	two := lessons.Must(theory.LinearMargins([]float64{1.6, 0.5}, 0.2, lessons.Separable.Matrix(), lessons.Separable.Y))
	functional := two.FunctionalMargin() / one.FunctionalMargin()
	geometric := two.GeometricMargin() / one.GeometricMargin()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	return lessons.First(near(functional, 2) && near(geometric, 2), near(functional, 2) && near(geometric, 1), near(functional, 1) && near(geometric, 0.5))
}

func showCanonical(_ context.Context, in lessons.Input) *lessons.Exhibit {
	a := angle.Of(in) * math.Pi / 180
	u := [2]float64{math.Cos(a), math.Sin(a)}
	b := lessons.Separable.Middle(u)
	m := lessons.Must(theory.LinearMargins(u[:], b, lessons.Separable.Matrix(), lessons.Separable.Y))
	if !m.Separates {
		return &lessons.Exhibit{
			Figures: []lessons.Figure{lessons.Plane("canonical", "", lessons.ToyLimits, 2, lessons.Sides(u, b), lessons.Separable.Dots(nil))},
			Notes:   []string{"In this direction no line separates the classes: some point has a margin of 0 or less, and no scale turns that into 1."},
		}
	}
	cw, cb, err := theory.Canonical(u[:], b, lessons.Separable.Matrix(), lessons.Separable.Y)
	lessons.Check(err)
	m = lessons.Must(theory.LinearMargins(cw, cb, lessons.Separable.Matrix(), lessons.Separable.Y))
	w := [2]float64(cw)
	on := func(i int) bool { return m.Functional[i] < 1+1e-9 }
	return (&lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("canonical", `In canonical form the closest points (ringed) lie on the dashed lines $f = \pm 1$.`, lessons.ToyLimits, 2, lessons.Sides(w, cb), lessons.MarginLines(w, cb), lessons.Separable.Dots(on))},
		Numbers: []lessons.Number{
			{Label: `$\mathbf w$`, Value: lessons.Pair(w)},
			{Label: `$b$`, Value: views.Short(cb)},
			{Label: `$\hat\gamma$`, Value: views.Short(m.FunctionalMargin()), Help: "by the choice of the scale"},
			{Label: `$\gamma = 1/\lVert\mathbf w\rVert$`, Value: views.Short(m.GeometricMargin()), Help: "turn the direction until it is largest", After: true},
			{Label: `$2/\lVert\mathbf w\rVert$`, Value: views.Short(2 * m.GeometricMargin()), Help: "distance between the margin lines", After: true},
		},
	}).Derive(in, derivation())
}

// derivation shows that the distance of the margin lines is 2/|w|.
var derivation = lessons.Lines(files, "margin")

// holders finds the points on the margin of the widest line.
func holders(ctx context.Context) float64 {
	widest := lessons.TrainHard(ctx, lessons.Separable)
	m := lessons.Must(theory.LinearMargins(widest.W[:], widest.B, lessons.Separable.Matrix(), lessons.Separable.Y))
	n := map[float64]int{}
	for i, f := range m.Functional {
		if f < m.FunctionalMargin()+1e-4 {
			n[lessons.Separable.Y[i]]++
		}
	}
	if n[1] > 0 && n[-1] > 0 && n[1]+n[-1] < len(lessons.Separable.Y)/2 {
		return 2
	}
	return 1
}

func widestMargin(ctx context.Context) float64 {
	return 1 / lessons.Norm(lessons.TrainHard(ctx, lessons.Separable).W)
}

// try is a line in the game with the margins of the points.
type try struct {
	w [2]float64
	b float64
	m theory.Margins
}

// newTry orients the line so that the side with more positive points is positive.
func newTry(w [2]float64, b float64) try {
	m := lessons.Must(theory.LinearMargins(w[:], b, lessons.Separable.Matrix(), lessons.Separable.Y))
	if floats.Sum(m.Functional) < 0 {
		return newTry([2]float64{-w[0], -w[1]}, -b)
	}
	return try{w, b, m}
}

// keptTry returns the stored line, false if there is none.
func keptTry(in lessons.Input) (t try, ok bool) {
	var w [2]float64
	var b float64
	if n, _ := fmt.Sscan(kept.Of(in), &w[0], &w[1], &b); n < 3 || !(lessons.Norm(w) > 1e-6 && lessons.Norm(w) < 1e6 && math.Abs(b) < 1e6) {
		return t, false
	}
	return newTry(w, b), true
}

func showByHand(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	w, b, ok := ends.Line(in)
	e := &lessons.Exhibit{
		Handles: ends.Handles(in),
		Lab:     lessons.Separable.Lab("kernel", "linear", "hard_margin", "true"),
	}
	if !ok {
		e.Figures = []lessons.Figure{lessons.Plane("hand", "", lessons.ToyLimits, 2, lessons.Separable.Dots(nil))}
		e.Notes = []string{lessons.NoLine}
		return e
	}
	t := newTry(w, b)
	before, any := keptTry(in)
	widest := lessons.TrainHard(ctx, lessons.Separable)
	best := 1 / lessons.Norm(widest.W)
	score := func(t try) string { return lessons.Percent(max(0, t.m.GeometricMargin()/best)) }
	worst := lessons.Separable.XY[t.m.Worst]
	marks := []figure.Mark{figure.Segment{From: worst, To: lessons.Foot(t.w, t.b, worst), Pen: figure.Pen{Color: figure.Magenta}, Name: "worst margin"}}
	e.Notes = []string{"Your worst margin: " + views.Short(t.m.GeometricMargin()) + "."}
	scores := "Your line has " + score(t) + " of the widest margin"
	if any {
		marks = append(marks, figure.Line{A: before.w, C: -before.b, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dashed}, Name: "best try"})
		e.Notes[0] += " Best try: " + views.Short(before.m.GeometricMargin()) + "."
		scores += ", your best try " + score(before)
	}
	e.After = []string{scores + "."}
	line := fmt.Sprintf("%.6g %.6g %.6g", t.w[0], t.w[1], t.b)
	if t.m.Separates && line != kept.Of(in) && (!any || t.m.GeometricMargin() > before.m.GeometricMargin()) {
		e.Moves = []lessons.Move{{Label: "Keep this line", Control: kept, Value: line}}
	}
	drawn := func(caption string, more ...figure.Mark) lessons.Figure {
		return lessons.Plane("hand", caption, lessons.ToyLimits, 2, lessons.Sides(t.w, t.b), lessons.Separable.Dots(func(i int) bool { return i == t.m.Worst }), marks, more)
	}
	e.Figures = []lessons.Figure{drawn("The line of the solver, over yours. ~Drag the ends of yours on it.~",
		figure.Line{A: widest.W, C: -widest.B, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "the solver's line"}).
		Instead(drawn(""), "~Drag the two ends of the line.~ The ringed point is the worst.")}
	wrong := lists.Count(t.m.Functional, func(g float64) bool { return g <= 0 })
	e.Numbers = []lessons.Number{
		{Label: "your worst margin", Value: views.Short(t.m.GeometricMargin()), Help: "a distance; negative while a point is on the wrong side"},
		{Label: "points on the wrong side", Value: strconv.Itoa(wrong)},
		{Label: "the solver's margin", Value: views.Short(best), Help: `$1/\lVert\mathbf w\rVert$ of the hard-margin SVM`, After: true},
	}
	return e
}
