// Package risk is the lesson on what can be promised about new points, and on capacity.
package risk

import (
	"context"
	"embed"
	"fmt"
	"math"
	"strconv"

	"marginlab/ml/dataset"
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
	many := lists.Either(in.Coarse, 600, 2000)
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
		truth[i] = lessons.ErrorRate(lessons.Fit(ctx, d, "gamma", gamma, "C", "100").Model, fresh)
	}
	return lessons.First(truth[0] < truth[1]-0.02, truth[0] > truth[1]+0.02)
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
	d := lessons.Drawn("moons", structuralM.Of(in), structuralNoise.Of(in), uint64(draw.Of(in))).Data()
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
	all, best := polynomials(ctx, lessons.Drawn("moons", 600, 0.2, 1).Data(), degrees)
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
