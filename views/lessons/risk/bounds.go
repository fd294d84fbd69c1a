package risk

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

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
		note += fmt.Sprintf("The widest margin is %s: %s.", views.Short(d.Margin), lists.Either(d.Margin >= delta, "enough", "too little, the strip holds a point"))
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
		{Label: "realised with margin Δ", Value: fmt.Sprintf("%d of %d", wide(delta), len(s.Dichotomies)), Help: lists.Either(all, "shattered with this margin", "not shattered with this margin")},
		{Label: `$R^2/\Delta^2$`, Value: views.Short(ball.Radius * ball.Radius / delta / delta), Help: "$R = " + lessons.TeX(ball.Radius) + "$, the circle in the picture"},
		{Label: `bound on $h$`, Value: views.Short(theory.MarginVCDim(ball.Radius, delta, 2)), Help: "rounded up, and at most 3 in the plane"},
		{Label: "the same, rounded down", Value: views.Short(floor), Help: lists.Either(all && floor < 3, "refuted in this picture: three points are shattered", "a common slip")},
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
		{Label: "$R$", Value: views.Short(s.radius), Help: lists.Either(s.exact, "radius of the smallest ball in feature space", "radius of a ball about the origin of feature space")},
		{Label: `$\Delta = 1/\lVert\mathbf w\rVert$`, Value: views.Short(margin), Help: "$R^2/\\Delta^2$ is " + views.Short(s.radius*s.radius/margin/margin)},
	}
	if !svm {
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$h_{\text{MCM}}$`, Value: views.Short(s.spread), Help: `$\max\lvert f\rvert/\min\lvert f\rvert$: what the MCM keeps small when it separates the points` + lists.Either(s.wrong > 0, ", as it does not here", "") + "; no bound on $h$"})
	}
	return e
}
