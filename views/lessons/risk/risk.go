// Package risk is the lesson on what can be promised about new points, and on capacity.
package risk

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
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
	riskM    = lessons.IntegerControl{Name: "m", Label: "points", Symbol: "M", Default: "40", Min: 2, Max: 500, Low: 4, High: 500, Log: true}
	riskDraw = lessons.IntegerControl{Name: "draw", Label: "draw", Default: "1", Min: 1, Max: 40, Low: 1, High: 40, Help: "Another number, another training set."}
	line     = lessons.EndsControl{
		A: lessons.NewPlace("ax", "first end x1", "ay", "first end x2", [2]float64{-2.5, 1.5}, figure.Limits{XMin: -4, XMax: 4, YMin: -3, YMax: 3}),
		B: lessons.NewPlace("bx", "second end x1", "by", "second end x2", [2]float64{2, -2}, figure.Limits{XMin: -4, XMax: 4, YMin: -3, YMax: 3}),
	}

	width     = lessons.NumberControl{Name: "gamma", Label: "width", Symbol: "γ", Default: "1", Min: 0.001, Max: 1000, Low: 0.01, High: 300, Log: true, Help: "Large: narrow bumps, a more flexible function."}
	trainingM = lessons.IntegerControl{Name: "m", Label: "points", Symbol: "M", Default: "60", Min: 10, Max: 200, Low: 10, High: 200, Log: true}

	calls = lessons.TextControl{Name: "calls", Label: "calls", Max: 20, Folded: true, Help: "y: a line does it; n: none does; a full stop turns to the next labelling."}

	number = lessons.IntegerControl{Name: "n", Label: "points", Default: "3", Min: 1, Max: 5, Low: 1, High: 5}
	family = lessons.ChoiceControl{Name: "family", Label: "functions", Default: "lines", Options: []param.Option{
		{Name: "lines", Label: "straight lines"}, {Name: "quadratic", Label: "quadratic curves"}, {Name: "rbf", Label: "RBF kernel machines"},
	}}
	spots = lessons.NewPlaces(corners, [2]float64{4, 4}, [2]float64{3, 3})

	boundH     = lessons.IntegerControl{Name: "h", Label: "VC dimension", Symbol: "h", Default: "3", Min: 1, Max: 1000, Low: 1, High: 1000, Log: true}
	boundM     = lessons.IntegerControl{Name: "m", Label: "points", Symbol: "M", Default: "200", Min: 1, Max: 10_000_000, Low: 10, High: 1_000_000, Log: true}
	boundError = lessons.NumberControl{Name: "remp", Label: "training error", Symbol: "R_emp", Default: "0.05", Min: 0, Max: 1, Low: 0, High: 0.5}
	eta        = lessons.NumberControl{Name: "eta", Label: "risk of being wrong", Symbol: "η", Default: "0.05", Min: 0, OpenMin: true, Max: 1, Low: 1e-6, High: 0.5, Log: true, Help: "The bound may fail with this probability; δ in the additive form."}

	structuralM     = lessons.IntegerControl{Name: "m", Label: "points", Symbol: "M", Default: "600", Min: 20, Max: 2500, Low: 50, High: 2500, Log: true}
	structuralNoise = lessons.NumberControl{Name: "noise", Label: "noise", Default: "0.2", Min: 0, Max: 1, Low: 0.05, High: 0.6}

	leastMargin = lessons.NumberControl{Name: "delta", Label: "margin", Symbol: "Δ", Default: "1.1", Min: 0.01, Max: 3, Low: 0.05, High: 2.5}
	triangle    = lessons.NewPlaces([][2]float64{{0, 2}, {-1.732, -1}, {1.732, -1}}, [2]float64{4, 3}, [2]float64{4, 3})

	run      lessons.RunControl
	runDoubt = lessons.NumberControl{Name: "delta", Label: "risk of being wrong", Symbol: "δ", Default: "0.05", Min: 0, OpenMin: true, Max: 1, Low: 1e-6, High: 0.5, Log: true}

	// shared by two screens
	draw = lessons.IntegerControl{Name: "draw", Label: "draw", Default: "1", Min: 1, Max: 40, Low: 1, High: 40}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "risk",
		Task: "data=iris-sepal",
		Screens: []lessons.Screen{
			{Slug: "risk", Demo: lessons.NewDemo(showRisk, riskM, riskDraw, line), Answers: map[string]lessons.Answer{"four-times": fourTimes}},
			{Slug: "training", Demo: lessons.NewDemo(showTraining, width, trainingM, draw), Answers: map[string]lessons.Answer{"perfect": perfect}},
			{Slug: "shatter", Demo: lessons.NewDemo(showShatter, calls), Answers: map[string]lessons.Answer{"square": beyondLines}},
			{
				Slug: "shattering",
				Demo: lessons.NewDemo(showShattering, number, family, spots),
				Answers: map[string]lessons.Answer{
					"four": func(context.Context) float64 {
						return float64(lessons.Must(theory.ShatterLines(corners[:4])).Realisable)
					},
					"dimension": func(context.Context) float64 {
						if lessons.Must(theory.ShatterLines([][2]float64{{-1, 0}, {0, 0}, {1, 0}})).Shattered() {
							return 0
						}
						return lessons.First(!lessons.Must(theory.ShatterLines(corners[:3])).Shattered())
					},
				},
			},
			{
				Slug: "bound",
				Demo: lessons.NewDemo(showBound, boundH, boundM, boundError, eta),
				Answers: map[string]lessons.Answer{
					"how-many": lessons.Is(float64(theory.SamplesFor(func(m int) theory.Bound { return theory.VapnikBound(0, 1, 3, m, 0.05) }))),
				},
				Sketches: map[string]*lessons.Sketch{
					"decay": {
						Of: "the bound", Over: "M", X: []float64{10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000}, Height: 5, Log: true,
						Truth: func(context.Context) figure.Curve {
							at := lists.Map(lessons.Logspace(10, 1e5, 81), math.Round)
							return figure.Curve{X: at, Y: lists.Map(at, func(m float64) float64 { return theory.VapnikBound(0, 1, 3, int(m), 0.05).Value })}
						},
						Draw: lessons.SketchChart(figure.Axis{Name: "M", Log: true, Min: 10, Max: 1e5}, figure.Axis{Name: "bound of the risk", Log: true, Min: 1e-4, Max: 10}, figure.Rule{Name: "vacuous above", At: 1}),
					},
				},
			},
			{
				Slug:    "structural",
				Demo:    lessons.NewDemo(showStructural, structuralM, structuralNoise, draw),
				Answers: map[string]lessons.Answer{"too-careful": tooCareful},
			},
			{Slug: "margin", Demo: lessons.NewDemo(showMargin, leastMargin, triangle), Answers: map[string]lessons.Answer{"units": units}},
			{Slug: "networks", Demo: lessons.NewDemo(showNetworks, hidden, begun)},
			{
				Slug: "your-run",
				Demo: lessons.NewDemo(showRun, run, runDoubt),
				Answers: map[string]lessons.Answer{
					"all-support": func(context.Context) float64 {
						b := theory.LeaveOneOutBound(100, 100)
						if b.Vacuous {
							return 2
						}
						return math.Round(b.Value)
					},
				},
			},
		},
	})
}

// squares lists labellings of the corners of a square.
var squares = []string{"++−−", "+−−+", "+−−−", "+−+−"}

// spread is the standard deviation of the clouds on the first screen, centred at ±(1, 1).
const spread = 0.9

var limits = figure.Limits{XMin: -4, XMax: 4, YMin: -3.1, YMax: 3.1}

// cloudErrors returns the probabilities that w·x + b misclassifies a point of the lower and of
// the upper cloud.
func cloudErrors(w [2]float64, b float64) (lower, upper float64) {
	return theory.GaussianMiss([]float64{-w[0], -w[1]}, -b, []float64{-1, -1}, spread), theory.GaussianMiss(w[:], b, []float64{1, 1}, spread)
}

func showRisk(_ context.Context, in lessons.Input) *lessons.Exhibit {
	w, b, ok := line.Line(in)
	e := &lessons.Exhibit{Handles: line.Handles(in)}
	m := riskM.Of(in)
	const most = 2000
	sample := lessons.Drawn("blobs", most, spread, uint64(riskDraw.Of(in)))
	shown := lessons.Toy{XY: sample.XY[:m], Y: sample.Y[:m]}
	if !ok {
		e.Figures = []lessons.Figure{lessons.Plane("risk", "The points without a line.", limits, 2, shown.Dots(nil))}
		e.Notes = []string{lessons.NoLine}
		return e
	}
	if w[0]+w[1] < 0 { // the upper cloud is the positive class
		w, b = [2]float64{-w[0], -w[1]}, -b
	}
	wrong := make([]float64, most) // errors among the first i+1
	count := 0.0
	for i, x := range sample.XY {
		if (w[0]*x[0]+w[1]*x[1]+b >= 0) != (sample.Y[i] > 0) {
			count++
		}
		wrong[i] = count
	}
	lower, upper := cloudErrors(w, b)
	r := (lower + upper) / 2
	stray := func(m int) float64 { return math.Sqrt((lower*(1-lower) + upper*(1-upper)) / 2 / float64(m)) }
	seen, truth := figure.Curve{Name: "errors of the first M points"}, figure.Curve{Name: "R ± 2 standard deviations"}
	last := 0
	for _, v := range lessons.Logspace(4, most, 160) {
		k := int(v)
		if k == last {
			continue
		}
		last = k
		seen.X, seen.Y = append(seen.X, float64(k)), append(seen.Y, wrong[k-1]/float64(k))
		truth.X, truth.Y = append(truth.X, float64(k)), append(truth.Y, r)
		truth.Lo, truth.Hi = append(truth.Lo, max(0, r-2*stray(k))), append(truth.Hi, r+2*stray(k))
	}
	here := float64(m)
	e.Figures = []lessons.Figure{
		lessons.Plane("risk", "~Drag the ends of the line: $R$ changes smoothly. Change the draw: only $R_{\\text{emp}}$ changes.~", limits, 2, lessons.Sides(w, b), shown.Dots(nil)),
		{Name: "components", Wide: true, Caption: "Who gives what to whom. The machine sees pairs of $\\mathbf x$ and $y$, and neither distribution.", Draw: lessons.Draws(0, components())},
		{Name: "average", Wide: true, After: true, Caption: "As points come in, the share of errors settles at the risk of this line; the band is where it lies about 19 times out of 20.", Draw: lessons.Draws(2, figure.Chart{
			X: figure.Axis{Name: "points M", Log: true}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: max(0.3, 1.6*r)}, Curves: []figure.Curve{seen, truth}, Here: &here,
		})},
	}
	e.Numbers = []lessons.Number{
		{Label: "risk $R$", Value: lessons.Fixed(r), Help: "exact: the lesson knows the two clouds"},
		{Label: `empirical risk $R_{\text{emp}}$`, Value: lessons.Fixed(wrong[m-1] / here), Help: fmt.Sprintf("%.0f of these %d points are on the wrong side", wrong[m-1], m)},
		{Label: "distance", Value: lessons.Fixed(wrong[m-1]/here - r), Help: "typically about " + lessons.Fixed(stray(m)) + " either way", After: true},
		{Label: "smallest possible risk", Value: lessons.Fixed(math.Erfc(1/spread) / 2), Help: "the clouds overlap: no function does better"},
	}
	return e
}

// fourTimes computes the effect of four times as many points on the standard deviation of a mean.
func fourTimes(context.Context) float64 {
	const r = 0.2
	stray := func(m float64) float64 { return math.Sqrt(r * (1 - r) / m) }
	switch ratio := stray(400) / stray(100); {
	case math.Abs(ratio-0.25) < 0.01:
		return 1
	case math.Abs(ratio-0.5) < 0.01:
		return 2
	}
	return 0
}

const moonNoise = 0.3 // on the second screen

func showTraining(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	sample := lessons.Drawn("moons", trainingM.Of(in), moonNoise, uint64(draw.Of(in)))
	d := sample.Data()
	many := lessons.Either(in.Coarse, 600, 2000)
	fresh := lessons.FreshMoons(many, moonNoise)
	at := func(gamma float64) (res *lessons.Fitted, seen, truth float64) {
		res = lessons.Fit(ctx, d, "gamma", lessons.Setting(gamma), "C", "100")
		return res, 1 - *res.Report.TrainAccuracy, lessons.ErrorRate(res.Model, fresh)
	}
	gamma := width.Of(in)
	res, seen, truth := at(gamma)
	errors := lessons.CurvesOf(lessons.Logspace(0.01, 300, 16), func(g float64) []float64 {
		_, s, t := at(g)
		return []float64{s, t}
	}, "training error", "true error")
	doubt := 2 * math.Sqrt(truth*(1-truth)/float64(many))
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			res.Boundary("training", "~Move γ to the right: the boundary bends round single points.~", nil),
			{Name: "capacity", Wide: true, After: true, Caption: "The training error falls with the capacity. The true error falls and rises again.", Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "γ", Log: true}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 0.5}, Curves: errors, Here: &gamma,
			})},
		},
		Numbers: []lessons.Number{
			{Label: "training error", Value: lessons.Percent(seen), Help: "of the points in the picture"},
			{Label: "true error", Value: lessons.Percent(truth), After: true, Help: fmt.Sprintf("of %d new points; ± %s for their number", many, lessons.Percent(doubt))},
		},
		Notes: []string{"It errs on " + lessons.Percent(seen) + " of its training points. On how many new points? Bet, then move γ."},
		After: []string{"On new points it errs on " + lessons.Percent(truth) + ": the training error flatters by " + lessons.Percent(truth-seen) + "."},
		Lab:   sample.Lab("gamma", lessons.Setting(gamma), "C", "100"),
	}
}

// perfect compares the true errors of the narrow and the medium kernel.
func perfect(ctx context.Context) float64 {
	d := lessons.Drawn("moons", 60, moonNoise, 1).Data()
	fresh := lessons.FreshMoons(2000, moonNoise)
	var truth [2]float64
	for i, gamma := range []string{"300", "1"} {
		res := lessons.Fit(ctx, d, "gamma", gamma, "C", "100")
		truth[i] = lessons.ErrorRate(res.Model, fresh)
	}
	return lessons.First(truth[0] < truth[1]-0.02, truth[0] > truth[1]+0.02)
}

// corners holds the initial points to shatter: four corners and one inside.
var corners = [][2]float64{{-2, -1}, {2, -1}, {0, 2}, {0, -2}, {0.5, 0.25}}

// snap is the grid of the points, so that three can be made collinear by hand.
const snap = 0.25

// labellings computes the labellings of some points realised by a family of functions.
func labellings(family string, places [][2]float64) (theory.Shattering, kernel.Kernel, *mat.Dense) {
	x := lessons.Toy{XY: places}.Matrix()
	k := kernel.Kernel{Name: "linear"}
	switch family {
	case "quadratic":
		k = kernel.Polynomial(1, 1, 2)
	case "rbf":
		k = kernel.RBF(1)
	default:
		return lessons.Must(theory.ShatterLines(places)), k, x
	}
	return lessons.Must(theory.ShatterKernel(theory.Gram(kernel.NewGram(k, x)))), k, x
}

func showShattering(_ context.Context, in lessons.Input) *lessons.Exhibit {
	n, family := number.Of(in), family.Of(in)
	places := spots[:n].Of(in)
	for i, p := range places {
		places[i] = [2]float64{snap * math.Round(p[0]/snap), snap * math.Round(p[1]/snap)}
	}
	e := &lessons.Exhibit{Handles: spots.Handles(places)}
	s, k, x := labellings(family, places)
	e.Steps = len(s.Dichotomies)
	e.Step = min(in.Step, e.Steps-1)
	d := labelling(s, e.Step)
	done := len(lists.Where(e.Step+1, func(k int) bool { return labelling(s, k).Realisable }))
	marks := judged(d, places)
	if d.Realisable && family != "lines" {
		sum := kernel.NewSum(k, x, d.W)
		f := func(x, y float64) float64 { return sum.At([]float64{x, y}) + d.B }
		marks = []figure.Mark{
			figure.Region{F: func(x, y float64) float64 { return -f(x, y) }, Color: figure.ClassColor(0), Name: "f < 0"},
			figure.Region{F: f, Color: figure.ClassColor(1), Name: "f ≥ 0"},
			figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Dash: figure.LongDash}, Plain: true, Name: "f = 0"},
		}
	}
	e.Figures = []lessons.Figure{lessons.Plane("shattering", "One labelling at a time. ~Drag the points (they keep to a grid); Step or Run to see all labellings.~", placeLimits, 2, marks, numbered(places, d.Labels, false))}
	e.Notes = []string{shatterNote(d, family)}
	e.Numbers = []lessons.Number{
		{Label: "realised so far", After: n > 3, Value: fmt.Sprintf("%d of %d", done, e.Step+1)},
		{Label: "realised in all", After: true, Value: fmt.Sprintf("%d of %d", s.Realisable, e.Steps), Help: lessons.Either(s.Shattered(), "every labelling: these points are shattered", "not every labelling: these points are not shattered")},
		{Label: "rank", Value: strconv.Itoa(s.Rank), Help: fmt.Sprintf("independent directions of $(\\phi(\\mathbf x), 1)$; shattered exactly when it is %d, the number of points", n)},
	}
	t := lessons.Table{Caption: "The first points, one more in each row", Head: []string{"points", "labellings", "realised"}, Marked: []int{n - 1}}
	if family == "lines" {
		t.Head = append(t.Head, "Cover's count")
		if n > 2 && !theory.GeneralPosition(places) {
			t.Caption += " (two coincide or three lie on one line: Cover's count is for general position)"
		}
	}
	for size := 1; size <= n; size++ {
		part, _, _ := labellings(family, places[:size])
		row := []string{strconv.Itoa(size), strconv.Itoa(len(part.Dichotomies)), strconv.Itoa(part.Realisable)}
		if family == "lines" {
			row = append(row, views.Short(theory.CoverCount(size, 2)))
		}
		t.Rows = append(t.Rows, row)
	}
	t.After = true
	e.Tables = []lessons.Table{t}
	return e
}

var placeLimits = figure.Limits{XMin: -3.4, XMax: 3.4, YMin: -2.6, YMax: 2.6}

// judged draws the line of a labelling, or shows why there is none.
func judged(d theory.Dichotomy, places [][2]float64) (marks []figure.Mark) {
	if d.Realisable {
		return lessons.Sides([2]float64{d.W[0], d.W[1]}, d.B)
	}
	for i := range places {
		for j := range i {
			if d.Labels[i] == d.Labels[j] {
				marks = append(marks, figure.Segment{From: places[j], To: places[i], Pen: figure.Pen{Color: figure.ClassColor(lessons.Class(d.Labels[i]))}})
			}
		}
	}
	if d.Common != nil {
		marks = append(marks, figure.Dot{At: [2]float64{d.Common[0], d.Common[1]}, Class: -1, Ring: true, Label: "in both hulls"})
	}
	return marks
}

// game returns the labellings of the first three corners, then of four, to be judged one by one:
// one of each pair of opposites, which have the same line, and none with equal labels.
func game() (rounds []theory.Dichotomy) {
	for n := 3; n <= 4; n++ {
		s := lessons.Must(theory.ShatterLines(corners[:n]))
		rounds = append(rounds, s.Dichotomies[1:len(s.Dichotomies)/2]...)
	}
	return rounds
}

func showShatter(_ context.Context, in lessons.Input) *lessons.Exhibit {
	rounds := game()
	said, done, right, verdict := "", 0, 0, ""
	for _, c := range calls.Of(in) {
		switch {
		case c == '.' && done > 0 && !strings.HasSuffix(said, "."):
		case (c == 'y' || c == 'n') && done < len(rounds):
			verdict = "Wrong. "
			if (c == 'y') == rounds[done].Realisable {
				right++
				verdict = "Right. "
			}
			done++
		default:
			continue // not valid
		}
		said += string(c)
	}
	at, asking := done, done == 0 || strings.HasSuffix(said, ".") && done < len(rounds)
	if !asking {
		at--
	}
	d := rounds[at]
	places := corners[:len(d.Labels)]
	e := &lessons.Exhibit{Notes: []string{fmt.Sprintf("%s%s Score: %d of %d.", verdict, shatterNote(d, "lines"), right, done)}}
	marks := judged(d, places)
	switch {
	case asking:
		marks = nil
		e.Notes = []string{fmt.Sprintf("%d points, labelling %d of %d. Is there a line with one class on each side?", len(places), at+1, len(rounds))}
		e.Moves = []lessons.Move{{Label: "A line does it", Control: calls, Value: said + "y"}, {Label: "No line does", Control: calls, Value: said + "n"}}
	case done < len(rounds):
		e.Moves = []lessons.Move{{Label: "Next labelling", Control: calls, Value: said + "."}}
	default:
		e.Moves = []lessons.Move{{Label: "Play again", Control: calls}}
	}
	e.Figures = []lessons.Figure{lessons.Plane("shatter", "Call it before the line is drawn. The opposite labelling has the same line.", placeLimits, 2, marks, numbered(places, d.Labels, true))}
	return e
}

// beyondLines finds the option that no line realises, for the corners of a square.
func beyondLines(context.Context) float64 {
	s := lessons.Must(theory.ShatterLines([][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}}))
	beyond := slices.IndexFunc(s.Dichotomies, func(d theory.Dichotomy) bool { return !d.Realisable && d.Labels[0] > 0 })
	return float64(slices.Index(squares, signs(s.Dichotomies[beyond])))
}

// labelling returns the labelling of a step: those with both classes first, as equal labels are
// not interesting.
func labelling(s theory.Shattering, step int) theory.Dichotomy {
	return s.Dichotomies[(step+1)%len(s.Dichotomies)]
}

// signs returns the labels in the order of the points.
func signs(d theory.Dichotomy) (signs string) {
	for _, y := range d.Labels {
		signs += lessons.Either(y > 0, "+", "−")
	}
	return signs
}

// numbered draws the points of a labelling with their numbers; for points with handles large is
// false.
func numbered(places [][2]float64, labels []float64, large bool) (marks []figure.Mark) {
	for _, y := range []float64{-1, 1} { // fixed order of the legend
		for i, p := range places {
			if labels[i] == y {
				marks = append(marks, figure.Dot{At: p, Class: lessons.Class(y), Large: large, Name: lessons.ClassName(y)})
			}
		}
	}
	var middle [2]float64
	for _, p := range places {
		middle[0] += p[0] / float64(len(places))
		middle[1] += p[1] / float64(len(places))
	}
	for i, p := range places { // beside the handle, away from the others
		out := [2]float64{p[0] - middle[0], p[1] - middle[1]}
		if n := lessons.Norm(out); n > 1e-9 {
			out = [2]float64{0.55 * out[0] / n, 0.55 * out[1] / n}
		} else {
			out = [2]float64{0.4, 0.4}
		}
		marks = append(marks, figure.Text{At: [2]float64{p[0] + out[0], p[1] + out[1]}, Text: strconv.Itoa(i + 1)})
	}
	return marks
}

// shatterNote describes a labelling and why it is or is not realisable.
func shatterNote(d theory.Dichotomy, family string) string {
	head := "Labelling " + signs(d) + ". "
	switch {
	case d.Realisable && math.IsInf(d.Margin, 1):
		return head + "All alike: a function with no point on its other side does it."
	case d.Realisable && family == "lines":
		return head + "Realised; this is the line with the widest margin."
	case d.Realisable:
		return head + "Realised; the curve has the widest margin in feature space."
	case d.Common != nil:
		return head + "Not realised: the ringed place lies between points of one class and between points of the other, so a line would have to have it on both sides."
	}
	return head + "Not realised: in feature space the hulls of the two classes meet."
}

func showBound(_ context.Context, in lessons.Input) *lessons.Exhibit {
	h, m, remp, eta := float64(boundH.Of(in)), boundM.Of(in), boundError.Of(in), eta.Of(in)
	bound, slide := theory.VapnikBound(remp, 1, h, m, eta), theory.VCBound(remp, h, m, eta)
	curves := func(xs []float64, at func(x float64) (h float64, m int)) []figure.Curve {
		return lessons.CurvesOf(xs, func(x float64) []float64 {
			h, m := at(x)
			a, b := theory.VapnikBound(remp, 1, h, m, eta).Value, theory.VCBound(remp, h, m, eta).Value
			return []float64{remp, b, a, a - remp}
		}, "training error", "additive bound", "Vapnik's bound", "structural term")
	}
	overH := curves(lessons.Logspace(1, 1000, 80), func(x float64) (float64, int) { return x, m })
	overM := curves(lessons.Logspace(10, 1e7, 80), func(x float64) (float64, int) { return h, int(x) })
	chart := func(name, caption, axis string, here float64, cs []figure.Curve, wide bool) lessons.Figure {
		return lessons.Figure{Name: name, Caption: caption, Wide: wide, Draw: lessons.Draws(2, figure.Chart{
			X: figure.Axis{Name: axis, Log: true}, Y: figure.Axis{Name: "risk", Min: 0, Max: 2},
			Curves: cs, Hidden: len(cs) - 2, Rules: []figure.Rule{{Name: "vacuous above", At: 1}}, Here: &here,
		})}
	}
	enough := "none"
	if k := theory.SamplesFor(func(m int) theory.Bound { return theory.VapnikBound(remp, 1, h, m, eta) }); k > 0 {
		enough = strconv.Itoa(k)
	}
	n := float64(m)
	decimal := theory.DecimalVCBound(remp, h, m, eta)
	grows := chart("over-m", "The same bound as points come in.", "points M", n, overM, true).Afterwards()
	capacity := chart("over-h", "The bounds against capacity. A share of errors is never above 1: there a bound says nothing.", "VC dimension h", h, overH, false)
	capacity.Asks = "The additive bound against capacity; Vapnik's comes with the answers. A share of errors is never above 1: there a bound says nothing."
	return &lessons.Exhibit{
		Figures: []lessons.Figure{capacity, grows},
		Numbers: []lessons.Number{
			{Label: `$\bar h = \min(h, 2M)$`, Value: views.Short(min(h, 2*n)), Help: "what both bounds take for $h$"},
			{Label: `$\varepsilon$`, Value: views.Short(theory.VapnikEpsilon(h, m, eta)), After: true},
			{Label: "structural term", Value: views.Short(bound.Value - remp), Help: "what the bound adds to the training error", After: true},
			{Label: "Vapnik's bound", Value: lessons.Worth(bound), After: true},
			{Label: "additive bound", Value: lessons.Worth(slide), Help: "natural logarithms; with $\\log_{10}$ it would read " + views.Short(decimal) + ", which is not the theorem"},
			{Label: "not vacuous from", Value: enough, Help: "points on, at this $h$ and training error", After: true},
		},
	}
}

// degrees is the largest degree of the machines of structural risk minimisation.
const degrees = 6

// polynomial is one machine of the nested families.
type polynomial struct {
	degree       int
	h            float64
	seen, excess float64
	bound        theory.Bound
	res          *lessons.Fitted
}

// polynomials trains polynomials of degree 1 to degrees on points.
func polynomials(ctx context.Context, d *dataset.Data, degrees int) (all []polynomial, best int) {
	for p := 1; p <= degrees; p++ {
		res := lessons.Fit(ctx, d, "kernel", "poly", "degree", strconv.Itoa(p), "coef0", "1", "gamma", "0.5", "C", "1", "tol", "0.01")
		s := polynomial{degree: p, h: float64((p + 1) * (p + 2) / 2), seen: 1 - *res.Report.TrainAccuracy, res: res}
		s.bound = theory.VapnikBound(s.seen, 1, s.h, len(d.Y), 0.05)
		s.excess = s.bound.Value - s.seen
		all = append(all, s)
		if s.bound.Value < all[best].bound.Value {
			best = p - 1
		}
	}
	return all, best
}

func showStructural(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	sample := lessons.Drawn("moons", structuralM.Of(in), structuralNoise.Of(in), uint64(draw.Of(in)))
	d := sample.Data()
	step := min(in.Step, degrees) // the last one reveals the true error
	reveal := step == degrees
	all, best := polynomials(ctx, d, min(step+1, degrees))
	now := all[len(all)-1]
	e := &lessons.Exhibit{Steps: degrees + 1, Step: step}
	highest := theory.VapnikBound(0, 1, (degrees+1)*(degrees+2)/2, len(d.Y), 0.05).Value // including later steps
	curves := []figure.Curve{{Name: "training error", Marks: true}, {Name: "structural term", Marks: true}, {Name: "bound", Marks: true}}
	t := lessons.Table{Caption: "Polynomials of rising degree, with $\\eta = 0.05$", Head: []string{"degree", "$h$", `$R_{\text{emp}}$`, "term", "bound"}, Marked: []int{len(all) - 1}}
	var fresh *dataset.Data
	if reveal {
		fresh = lessons.FreshMoons(2000, structuralNoise.Of(in))
		curves = append(curves, figure.Curve{Name: "true error", Marks: true})
		t.Head, t.Marked = append(t.Head, "true error"), []int{best}
		now = all[best]
	}
	truths := make([]float64, len(all))
	least := 0
	for i, s := range all {
		row := []string{strconv.Itoa(s.degree), views.Short(s.h), lessons.Percent(s.seen), views.Short(s.excess), lessons.Worth(s.bound)}
		ys := []float64{s.seen, s.excess, s.bound.Value}
		if reveal {
			truths[i] = lessons.ErrorRate(s.res.Model, fresh)
			if truths[i] < truths[least] {
				least = i
			}
			row, ys = append(row, lessons.Percent(truths[i])), append(ys, truths[i])
		}
		t.Rows = append(t.Rows, row)
		for j, y := range ys {
			curves[j].X, curves[j].Y = append(curves[j].X, float64(s.degree)), append(curves[j].Y, y)
		}
	}
	t.After = reveal
	e.Tables = []lessons.Table{t}
	e.Figures = []lessons.Figure{
		{Name: "structure", Caption: "The training error tends to fall from one family to the next, the structural term rises. The smallest sum is chosen.", Draw: lessons.Draws(2, figure.Chart{
			X: figure.Axis{Name: "degree", Min: 0.8, Max: degrees + 0.2}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: max(1.2, 1.3*highest)},
			Curves: curves, Hidden: len(curves) - 3, Rules: []figure.Rule{{Name: "vacuous above", At: 1}},
		})},
		now.res.Boundary("machine", fmt.Sprintf("The machine of degree %d, with the first of its points.", now.degree), func(s *figure.Scene) {
			s.Points = s.Points[:min(len(s.Points), 300)]
		}),
	}
	if reveal {
		e.Figures[0].Asks = "Degree by degree, the training error, the structural term and their sum. The true errors come with the answer."
		e.Notes = []string{fmt.Sprintf("Degree %d has the smallest bound.", all[best].degree)}
		e.After = []string{fmt.Sprintf("Degree %d has %s true error. Degree %d has the least, %s. The bound is %s: valid, and far above the truth.", all[best].degree, lessons.Percent(truths[best]), all[least].degree, lessons.Percent(truths[least]), lessons.Worth(all[best].bound))}
	} else {
		e.Notes = []string{fmt.Sprintf("Degree %d: all curves with %.0f coefficients, so $h = %.0f$. Degree %d has the smallest bound so far.", now.degree, now.h, now.h, all[best].degree)}
	}
	return e
}

// tooCareful compares the choice by the bound with the best choice.
func tooCareful(ctx context.Context) float64 {
	sample := lessons.Drawn("moons", 600, 0.2, 1)
	all, best := polynomials(ctx, sample.Data(), degrees)
	fresh := lessons.FreshMoons(2000, 0.2)
	least, low := 0, math.Inf(1)
	for i, s := range all {
		truth := lessons.ErrorRate(s.res.Model, fresh)
		if truth < low {
			least, low = i, truth
		}
	}
	return lessons.First(best < least, best == least)
}

func showMargin(_ context.Context, in lessons.Input) *lessons.Exhibit {
	delta, places := leastMargin.Of(in), triangle.Of(in)
	e := &lessons.Exhibit{Handles: triangle.Handles(places)}
	s, _, x := labellings("lines", places)
	k := theory.Gram(kernel.NewGram(kernel.Kernel{Name: "linear"}, x))
	ball := lessons.Must(theory.EnclosingBall(k))
	centre := [2]float64{}
	for i, a := range ball.Weights {
		centre[0] += a * places[i][0]
		centre[1] += a * places[i][1]
	}
	wide := func(delta float64) int {
		return lists.Count(s.Dichotomies, func(d theory.Dichotomy) bool { return d.Margin >= delta })
	}
	e.Steps = len(s.Dichotomies)
	e.Step = min(in.Step, e.Steps-1)
	d := labelling(s, e.Step)
	var marks []figure.Mark
	note := "Labelling " + signs(d) + ". "
	switch {
	case math.IsInf(d.Margin, 1):
		note += "All alike: a line far away leaves any margin."
	case !d.Realisable:
		note += "No line does it, whatever the margin."
	default:
		w := [2]float64{d.W[0], d.W[1]}
		n := lessons.Norm(w)
		b := d.B
		pen := figure.Pen{Dash: figure.Dashed, Thin: true}
		marks = append(lessons.Sides(w, b),
			figure.Line{A: w, C: n*delta - b, Pen: pen, Name: "Δ from the line"}, figure.Line{A: w, C: -n*delta - b, Pen: pen, Name: "Δ from the line"})
		note += fmt.Sprintf("The widest margin is %s: %s.", views.Short(d.Margin), lessons.Either(d.Margin >= delta, "enough", "too little, the strip holds a point"))
	}
	marks = append(marks, figure.Circle{Center: centre, Radius: ball.Radius, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dotted}, Name: "smallest circle, R"})
	marks = append(marks, numbered(places, d.Labels, false)...)
	e.Notes = []string{note}

	counts := lessons.CurveOf(0.02, 2.6, 258, func(v float64) float64 { return float64(wide(v)) })
	counts.Name, counts.Stairs = "labellings with margin Δ or more", true
	top := float64(len(s.Dichotomies))
	e.Figures = []lessons.Figure{
		lessons.Plane("fat", "The dashed lines are Δ from the line. ~Make Δ larger, drag the points, step through the labellings.~", figure.Limits{XMin: -4, XMax: 4, YMin: -3, YMax: 3}, 2, marks),
		{Name: "counts", Wide: true, Caption: "How many of the eight labellings leave a margin of Δ. With all eight the three points are shattered.", Draw: lessons.Draws(1, figure.Chart{
			X: figure.Axis{Name: "margin Δ", Min: 0, Max: 2.6}, Y: figure.Axis{Name: "labellings", Min: 0, Max: top + 1}, Curves: []figure.Curve{counts}, Here: &delta,
		})},
	}
	floor := theory.WholeMarginVCDim(ball.Radius, delta, 2)
	all := wide(delta) == len(s.Dichotomies)
	e.Numbers = []lessons.Number{
		{Label: "realised with margin Δ", Value: fmt.Sprintf("%d of %d", wide(delta), len(s.Dichotomies)), Help: lessons.Either(all, "shattered with this margin", "not shattered with this margin")},
		{Label: `$R^2/\Delta^2$`, Value: views.Short(ball.Radius * ball.Radius / delta / delta), Help: "$R = " + lessons.TeX(ball.Radius) + "$, the circle in the picture"},
		{Label: `bound on $h$`, Value: views.Short(theory.MarginVCDim(ball.Radius, delta, 2)), Help: "rounded up, and at most 3 in the plane"},
		{Label: "the same, rounded down", Value: views.Short(floor), Help: lessons.Either(all && floor < 3, "refuted in this picture: three points are shattered", "a common slip")},
	}
	e.Tables = []lessons.Table{unitTable(ball.Radius, theory.Diameter(k), delta)}
	return e
}

// unitTable compares the forms of the bound in the given units and in units a hundred times
// smaller, without the cap by the dimension.
func unitTable(radius, diameter, delta float64) lessons.Table {
	t := lessons.Table{After: true, Caption: "Four forms without the cap by the dimension, and what a change of units does to them", Head: []string{"form", "as it is", "all lengths × 100"}}
	square := func(v float64) float64 { return v * v }
	for _, row := range []struct {
		form string
		at   func(r, d, m float64) float64
	}{
		{`$\lceil R^2/\Delta^2\rceil+1$`, func(r, _, m float64) float64 { return theory.MarginVCDim(r, m, math.Inf(1)) }},
		{`$[R/\Delta]^2+1$`, func(r, _, m float64) float64 { return square(math.Floor(r/m)) + 1 }},
		{`$\lceil D^2/(2\gamma)\rceil+1$`, func(_, d, m float64) float64 { return theory.SlideVCDim(d, m, math.Inf(1)) }},
		{`$[D^2/(2\gamma^2)]+1$`, func(_, d, m float64) float64 { return theory.DiameterVCDim(d, m, math.Inf(1)) }},
	} {
		t.Rows = append(t.Rows, []string{row.form, views.Short(row.at(radius, diameter, delta)), views.Short(row.at(100*radius, 100*diameter, 100*delta))})
	}
	return t
}

// units computes the effect of a hundredfold unit on a quotient that depends on units.
func units(context.Context) float64 {
	const diameter, margin = 300.0, 0.25 // large, so that rounding up has no effect
	ratio := theory.SlideVCDim(100*diameter, 100*margin, math.Inf(1)) / theory.SlideVCDim(diameter, margin, math.Inf(1))
	return lessons.First(math.Abs(ratio-1) < 0.1, math.Abs(ratio-100) < 1)
}

// example returns the run shown to users without one.
func example(ctx context.Context) (*lessons.Run, string) {
	sample := lessons.Drawn("moons", 120, 0.2, 1)
	d := sample.Data()
	spec := ml.DefaultSpec()
	pairs := []string{"gamma", "1", "C", "10", "test_fraction", "0.25"}
	for i := 0; i < len(pairs); i += 2 {
		lessons.Check(spec.Set(pairs[i], pairs[i+1]))
	}
	res := lessons.Train(ctx, d, spec)
	return &lessons.Run{Name: "an example: SVM, RBF kernel, on moons", Spec: spec, Data: d, Report: &res.Report, Model: res.Model}, lessons.LabQuery("drawing", append(pairs, "points", sample.CSV())...)
}

// machineSize holds the quantities of a run that enter the bounds, measured on its training rows
// in feature space.
type machineSize struct {
	n, vectors   int
	wrong, short int     // points with y f <= 0, and with y f < 1
	radius       float64 // of a ball containing the images
	exact        bool    // the smallest such ball, not one around the origin
	norm         float64 // |w|
	dim          float64 // of the feature space
	spread       float64 // max|f| / min|f|
}

// measureRun computes the machineSize of a run.
func measureRun(r *lessons.Run) (machineSize, error) {
	m := r.Model
	if m.Rule != ml.Sign {
		return machineSize{}, param.Refuse("choose a run with two classes", "this run does not separate two classes by the sign of f")
	}
	points, err := m.Points(r.Data, r.Spec)
	if err != nil {
		return machineSize{}, err
	}
	s := machineSize{vectors: len(m.Machines[0].Coef)}
	var rows []float64
	low, high := math.Inf(1), 0.0
	for _, p := range points {
		if p.HeldOut {
			continue
		}
		s.n++
		rows = append(rows, p.X...)
		if p.Wrong {
			s.wrong++
		}
		if p.Margin < 1-1e-3 {
			s.short++
		}
		low, high = min(low, math.Abs(p.F)), max(high, math.Abs(p.F))
	}
	s.spread = high / low
	// |w|² = sum_j u_j w·phi(x_j), and w·phi(x_j) = f(x_j) - b.
	square := 0.0
	for k, i := range m.Supports.Rows {
		square += m.Machines[0].Coef[k] * (points[i].F - m.Machines[0].B)
	}
	s.norm = math.Sqrt(max(0, square))
	x := m.Inputs(mat.NewDense(s.n, len(m.Features), rows))
	_, d := x.Dims()
	s.dim = theory.FeatureDim(m.Kernel, d)
	g := kernel.NewGram(m.Kernel, x)
	if c := m.Machines[0].Map; c != nil {
		g = g.Scaled(c.Factors(x))
	}
	const most = 400 // a larger matrix would delay the page
	if s.exact = s.n <= most; s.exact {
		ball, err := theory.EnclosingBall(theory.Gram(g))
		s.radius = ball.Radius
		return s, err
	}
	for i := range s.n {
		s.radius = max(s.radius, math.Sqrt(max(0, g.Diag(i))))
	}
	return s, nil
}

func showRun(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	e := &lessons.Exhibit{}
	run := run.Of(ctx, in)
	if run == nil {
		run, e.Lab = example(ctx)
	}
	delta := runDoubt.Of(in)
	e.Figures = []lessons.Figure{lessons.Boundary("run", lessons.Literal(run.Name), run.Model, run.Data, run.Spec, nil)}
	s, err := measureRun(run)
	if said, ok := param.ForPerson(err); ok {
		e.Notes = []string{"This run has no feature space to measure in (" + lessons.Literal(said) + "), so there are no bounds by capacity."}
		return e
	}
	lessons.Check(err)
	svm := run.Spec.Learner == "svm"
	n := float64(s.n)
	margin := 1 / s.norm
	h := theory.MarginVCDim(s.radius, margin, s.dim)
	wrong, short := float64(s.wrong)/n, float64(s.short)/n
	t := lessons.Table{Caption: "Every bound on this run", Head: []string{"bound", "$h$", "value"}, After: true}
	all, empty, least := 0, 0, 1.0 // bounds, vacuous ones, the smallest of the others
	add := func(name, h string, b theory.Bound) {
		t.Rows = append(t.Rows, []string{name, h, lessons.Worth(b)})
		all++
		if b.Vacuous {
			empty++
		} else {
			least = min(least, b.Value)
		}
	}
	add("Vapnik, by dimension", views.Short(s.dim+1), theory.VapnikBound(wrong, 1, s.dim+1, s.n, delta))
	add("Vapnik, by margin", views.Short(h), theory.VapnikBound(short, 1, h, s.n, delta))
	add("additive, by dimension", views.Short(s.dim+1), theory.VCBound(wrong, s.dim+1, s.n, delta))
	add("additive, by margin", views.Short(h), theory.VCBound(short, h, s.n, delta))
	switch {
	case !svm:
		t.Rows = append(t.Rows, []string{"sparse", "", "not for an MCM"}, []string{"leave-one-out", "", "not for an MCM"})
	case s.wrong > 0:
		t.Rows = append(t.Rows, []string{"sparse", "", "needs a training error of 0"})
		add("leave-one-out $N_{SV}/N$", "", theory.LeaveOneOutBound(s.vectors, s.n))
	default:
		add("sparse", "", theory.SparseBound(s.vectors, s.n, delta))
		add("leave-one-out $N_{SV}/N$", "", theory.LeaveOneOutBound(s.vectors, s.n))
	}
	e.Notes = []string{fmt.Sprintf("Bet first: how many of the %d bounds on this run are below 1?", all)}
	said := fmt.Sprintf("%d of %d bounds are vacuous.", empty, all)
	if empty < all {
		said += " The smallest is " + views.Short(least) + "."
	}
	t.Rows = append(t.Rows, []string{"*measured:* training error", "", views.Short(wrong)})
	if a := run.Report.TestAccuracy; a != nil {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("*measured:* error on %d held out", run.Report.TestN), "", views.Short(1 - *a)})
		said += " Measured on held-out points: " + views.Short(1-*a) + "."
	}
	e.After = []string{said}
	e.Tables = []lessons.Table{t}
	e.Numbers = []lessons.Number{
		{Label: "points, support vectors", Value: fmt.Sprintf("%d, %d", s.n, s.vectors), Help: fmt.Sprintf("%d points are inside the margin or on the wrong side; the bounds by margin count them as errors", s.short)},
		{Label: "$R$", Value: views.Short(s.radius), Help: lessons.Either(s.exact, "radius of the smallest ball in feature space", "radius of a ball about the origin of feature space")},
		{Label: `$\Delta = 1/\lVert\mathbf w\rVert$`, Value: views.Short(margin), Help: "$R^2/\\Delta^2$ is " + views.Short(s.radius*s.radius/margin/margin)},
	}
	if !svm {
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$h_{\text{MCM}}$`, Value: views.Short(s.spread), Help: `$\max\lvert f\rvert/\min\lvert f\rvert$: what the MCM keeps small when it separates the points` + lessons.Either(s.wrong > 0, ", as it does not here", "") + "; no bound on $h$"})
	}
	return e
}
