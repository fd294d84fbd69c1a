package lessons

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
)

var Risk = Lesson{
	Slug: "risk", Title: "Risk, shattering and bounds",
	Summary: "What can be promised about new points, what capacity is, and when a promise is empty.",
	Screens: []Screen{
		{
			Slug: "risk", Title: "The risk, and the errors that we see",
			Covers: []string{"000 slt"},
			Words:  riskRiskWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "m", Label: "points", Symbol: "M", Kind: param.Integer, Default: "40", Min: 2, Max: 500, Low: 4, High: 500, Log: true},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40, Help: "Another number, another training set."},
					{Name: "ax", Label: "first end x1", Kind: param.Number, Default: "-2.5", Min: -4, Max: 4, Low: -4, High: 4, Folded: true},
					{Name: "ay", Label: "first end x2", Kind: param.Number, Default: "1.5", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
					{Name: "bx", Label: "second end x1", Kind: param.Number, Default: "2", Min: -4, Max: 4, Low: -4, High: 4, Folded: true},
					{Name: "by", Label: "second end x2", Kind: param.Number, Default: "-2", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
				},
				Show: showRiskRisk,
			},
			Questions: []Question{{
				Slug: "four-times", Ask: `The line stays where it is and you draw four times as many points. How large is the typical distance between $R_{\text{emp}}$ and $R$ then, as a share of what it was?`,
				Options: []string{"The same: the line has not changed.", "A quarter.", "A half."},
				Answer:  riskFourTimes,
				Explain: `An average of $M$ independent values strays from its mean by $\sqrt{R(1-R)/M}$: the root halves it. Ten times closer needs a hundred times the points.`,
			}},
		},
		{
			Slug: "training", Title: "The training error flatters",
			Covers: []string{"000 slt", "002 networks"},
			Words:  riskTrainingWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "gamma", Label: "width", Symbol: "γ", Kind: param.Number, Default: "1", Min: 0.001, Max: 1000, Low: 0.01, High: 300, Log: true, Help: "Large: narrow bumps, a more flexible function."},
					{Name: "m", Label: "points", Symbol: "M", Kind: param.Integer, Default: "60", Min: 10, Max: 200, Low: 10, High: 200, Log: true},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40},
				},
				Show: showRiskTraining,
			},
			Questions: []Question{{
				Slug: "perfect", Ask: `With $\gamma = 300$ the machine makes no error on its 60 training points. How often is it wrong on new ones?`,
				Options: []string{"Hardly ever: it has learnt the pattern.", "More often than with $\\gamma = 1$, where it makes training errors.", "As often as with $\\gamma = 1$."},
				Answer:  riskPerfect,
				Explain: `It has learnt the points by heart. Between them it falls back on the constant $b$.`,
			}},
		},
		{
			Slug: "shattering", Title: "Capacity is counted by labellings",
			Covers: []string{"000 slt", "002 vc-margin"},
			Words:  riskShatteringWords,
			Demo:   &Demo{Old: riskShatterParams(), Show: showRiskShattering},
			Questions: []Question{
				{
					Slug: "four", Ask: "Four points in general position have 16 labellings. How many of them can a straight line realise?",
					Answer: func(context.Context) (float64, error) {
						s, err := theory.ShatterLines(riskPoints[:4])
						return float64(s.Realisable), err
					},
					Explain: `%s: two labellings, opposite to each other, are beyond lines. For points at the corners of a quadrilateral they are those of XOR; for one point inside the triangle of the others, the point against the three.`,
				},
				{
					Slug: "dimension", Ask: `Three points on one line are *not* shattered by straight lines. Is the VC dimension of lines therefore smaller than 3?`,
					Options: []string{"Yes.", "No: three points somewhere else are shattered, and that is enough."},
					Answer: func(context.Context) (float64, error) {
						row, err := theory.ShatterLines([][2]float64{{-1, 0}, {0, 0}, {1, 0}})
						if err != nil || row.Shattered() {
							return 0, err
						}
						corner, err := theory.ShatterLines(riskPoints[:3])
						return 1 - Yes(corner.Shattered()), err
					},
					Explain: `$h$ is the size of the *best* set of points. To show $h < 4$, on the other hand, every set of four must fail.`,
				},
			},
		},
		{
			Slug: "bound", Title: "A promise, and when it is empty",
			Covers: []string{"000 slt", "000 mcm-motivation", "002 svm"},
			Words:  riskBoundWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "h", Label: "VC dimension", Symbol: "h", Kind: param.Integer, Default: "3", Min: 1, Max: 1000, Low: 1, High: 1000, Log: true},
					{Name: "m", Label: "points", Symbol: "M", Kind: param.Integer, Default: "200", Min: 1, Max: 10_000_000, Low: 10, High: 1_000_000, Log: true},
					{Name: "remp", Label: "training error", Symbol: "R_emp", Kind: param.Number, Default: "0.05", Min: 0, Max: 1, Low: 0, High: 0.5},
					{Name: "eta", Label: "risk of being wrong", Symbol: "η", Kind: param.Number, Default: "0.05", Min: 0, OpenMin: true, Max: 1, Low: 1e-6, High: 0.5, Log: true, Help: "The bound may fail with this probability; the slides call it δ."},
				},
				Show: showRiskBound,
			},
			Questions: []Question{{
				Slug: "how-many", Ask: `Lines in the plane ($h = 3$), no training error, $\eta = 0.05$. From how many points on does the first bound promise a risk below 1? (Use the sliders; 5 % off is fine.)`,
				Within: 0.05,
				Answer: func(context.Context) (float64, error) {
					return float64(riskEnough(func(m int) theory.Bound { return theory.VapnikBound(0, 1, 3, m, 0.05) })), nil
				},
				Explain: `From $M = $ %s on; and below 1 is not yet much of a promise.`,
			}},
		},
		{
			Slug: "structural", Title: "Structural risk minimisation",
			Covers: []string{"000 slt", "000 mcm-motivation", "002 networks"},
			Words:  riskStructuralWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "m", Label: "points", Symbol: "M", Kind: param.Integer, Default: "600", Min: 20, Max: 2500, Low: 50, High: 2500, Log: true},
					{Name: "noise", Label: "noise", Kind: param.Number, Default: "0.2", Min: 0, Max: 1, Low: 0.05, High: 0.6},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40},
				},
				Show: showRiskStructural,
			},
			Questions: []Question{{
				Slug: "too-careful", Ask: "The degree with the smallest bound, and the degree with the smallest true error: how do they compare on the points shown at first?",
				Options: []string{"The bound picks a simpler machine than the truth.", "They are the same.", "The bound picks a more flexible machine than the truth."},
				Answer:  riskTooCareful,
				Explain: `The bound holds for every distribution and every function at once, so it charges far more for capacity than these points would ask for.`,
			}},
		},
		{
			Slug: "margin", Title: "A margin limits capacity",
			Covers: []string{"000 slt", "000 mcm-motivation", "001 3.1", "002 vc-margin", "002 brilliant"},
			Words:  riskMarginWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "delta", Label: "margin", Symbol: "Δ", Kind: param.Number, Default: "1.1", Min: 0.01, Max: 3, Low: 0.05, High: 2.5},
					{Name: "x1", Label: "point 1 x1", Kind: param.Number, Default: "0", Min: -4, Max: 4, Low: -4, High: 4, Folded: true},
					{Name: "y1", Label: "point 1 x2", Kind: param.Number, Default: "2", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
					{Name: "x2", Label: "point 2 x1", Kind: param.Number, Default: "-1.732", Min: -4, Max: 4, Low: -4, High: 4, Folded: true},
					{Name: "y2", Label: "point 2 x2", Kind: param.Number, Default: "-1", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
					{Name: "x3", Label: "point 3 x1", Kind: param.Number, Default: "1.732", Min: -4, Max: 4, Low: -4, High: 4, Folded: true},
					{Name: "y3", Label: "point 3 x2", Kind: param.Number, Default: "-1", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
				},
				Show: showRiskMargin,
			},
			Questions: []Question{{
				Slug: "units", Ask: `The same points are written in centimetres instead of metres: every coordinate is multiplied by 100. What does the slides' $\max\lVert\mathbf x_i-\mathbf x_j\rVert^2/(2\gamma)$ do?`,
				Options: []string{"It stays: capacity has no unit.", "It is multiplied by 100.", "It is multiplied by 10 000."},
				Answer:  riskUnits,
				Explain: `A squared length over a length is a length. With $\gamma^2$ below, the units cancel, as they must.`,
			}},
		},
		{
			Slug: "your-run", Title: "All bounds, on a run of your own",
			Covers: []string{"000 slt", "002 svm", "002 brilliant"},
			Words:  riskRunWords,
			Demo: &Demo{
				Old: []param.Param{
					RunParam(),
					{Name: "delta", Label: "risk of being wrong", Symbol: "δ", Kind: param.Number, Default: "0.05", Min: 0, OpenMin: true, Max: 1, Low: 1e-6, High: 0.5, Log: true},
				},
				Show: showRiskRun,
			},
			Questions: []Question{{
				Slug: "all-support", Ask: "A narrow RBF kernel makes every one of 100 training points a support vector. What does the leave-one-out bound promise?",
				Options: []string{"At most 1 % errors.", "At most 50 % errors.", "Nothing."},
				Answer: func(context.Context) (float64, error) {
					b := theory.LeaveOneOutBound(100, 100)
					if b.Vacuous {
						return 2, nil
					}
					return math.Round(b.Value), nil
				},
				Explain: `$N_{SV}/N = 1$: the bound says that at most every point is misclassified. The true error may still be small.`,
			}},
		},
	},
}

// The clouds of the first screen stand at ±(1, 1) with this spread.
const riskSpread = 0.9

var riskLimits = figure.Limits{XMin: -4, XMax: 4, YMin: -3.1, YMax: 3.1}

// riskClouds are the chances that w·x + b puts a point of the lower and of the
// upper cloud on the wrong side.
func riskClouds(w [2]float64, b float64) (lower, upper float64) {
	normal := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	s, n := w[0]+w[1], riskSpread*Norm(w)
	return normal((b - s) / n), normal(-(b + s) / n)
}

func showRiskRisk(_ context.Context, in Input) (*Exhibit, error) {
	p, q := lineEnds(in)
	e := &Exhibit{Handles: lineHandles(in)}
	m := in.Int("m")
	const most = 2000
	sample, err := Drawn("blobs", most, riskSpread, uint64(in.Int("draw")))
	if err != nil {
		return nil, err
	}
	shown := Toy{sample.XY[:m], sample.Y[:m]}
	w := [2]float64{q[1] - p[1], p[0] - q[0]}
	if Norm(w) < 1e-6 {
		e.Figures = []Figure{Plane("risk", "The points without a line.", riskLimits, 2, shown.Dots(nil))}
		e.Notes = []string{NoLine}
		return e, nil
	}
	if w[0]+w[1] < 0 { // the upper cloud is the positive class
		w = [2]float64{-w[0], -w[1]}
	}
	b := -(w[0]*p[0] + w[1]*p[1])
	wrong := make([]float64, most) // errors among the first i+1
	count := 0.0
	for i, x := range sample.XY {
		if (w[0]*x[0]+w[1]*x[1]+b >= 0) != (sample.Y[i] > 0) {
			count++
		}
		wrong[i] = count
	}
	lower, upper := riskClouds(w, b)
	r := (lower + upper) / 2
	stray := func(m int) float64 { return math.Sqrt((lower*(1-lower) + upper*(1-upper)) / 2 / float64(m)) }
	seen, truth := figure.Curve{Name: "R_emp of the first M points"}, figure.Curve{Name: "R ± 2 standard deviations"}
	last := 0
	for _, v := range Logspace(4, most, 160) {
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
	e.Figures = []Figure{
		Plane("risk", "Drag the ends of the line: $R$ changes smoothly. Change the draw: only $R_{\\text{emp}}$ changes.", riskLimits, 2, Sides(w, b), shown.Dots(nil)),
		{Name: "average", Wide: true, Caption: "As points come in, the share of errors settles at the risk of this line; the band is where it lies 19 times out of 20.", Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{Format: l.Format(2), X: figure.Axis{Name: "points M", Log: true}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: max(0.3, 1.6*r)}, Curves: []figure.Curve{seen, truth}, Here: &here}.Picture()
		}},
	}
	e.Numbers = []Number{
		{Label: "risk $R$", Value: views.Short(r), Help: "exact: the lesson knows the two clouds"},
		{Label: `empirical risk $R_{\text{emp}}$`, Value: views.Short(wrong[m-1] / here), Help: fmt.Sprintf("%.0f of these %d points are on the wrong side", wrong[m-1], m)},
		{Label: "distance", Value: views.Short(wrong[m-1]/here - r), Help: "typically about " + views.Short(stray(m)) + " either way"},
		{Label: "smallest risk there is", Value: views.Short(math.Erfc(1/riskSpread) / 2), Help: "the clouds overlap: no function does better"},
	}
	return e, nil
}

// riskFourTimes is what four times the points do to the deviation of an average.
func riskFourTimes(context.Context) (float64, error) {
	const r = 0.2
	stray := func(m float64) float64 { return math.Sqrt(r * (1 - r) / m) }
	switch ratio := stray(400) / stray(100); {
	case math.Abs(ratio-0.25) < 0.01:
		return 1, nil
	case math.Abs(ratio-0.5) < 0.01:
		return 2, nil
	}
	return 0, nil
}

const riskNoise = 0.3 // of the moons

func showRiskTraining(ctx context.Context, in Input) (*Exhibit, error) {
	sample, err := Drawn("moons", in.Int("m"), riskNoise, uint64(in.Int("draw")))
	if err != nil {
		return nil, err
	}
	d, err := sample.Data()
	if err != nil {
		return nil, err
	}
	many := 2000
	if in.Coarse {
		many = 600
	}
	fresh, err := FreshMoons(many, riskNoise)
	if err != nil {
		return nil, err
	}
	at := func(gamma float64) (res *ml.Result, spec ml.Spec, seen, truth float64, err error) {
		res, spec, err = Fit(ctx, d, "gamma", Setting(gamma), "C", "100")
		if err != nil {
			return
		}
		truth, err = ErrorRate(res.Model, fresh)
		return res, spec, 1 - res.Report.TrainAccuracy, truth, err
	}
	gamma := in.Number("gamma")
	res, spec, seen, truth, err := at(gamma)
	if err != nil {
		return nil, err
	}
	training, actual := figure.Curve{Name: "training error"}, figure.Curve{Name: "true error"}
	for _, g := range Logspace(0.01, 300, 16) {
		_, _, s, t, err := at(g)
		if err != nil {
			return nil, err
		}
		training.X, training.Y = append(training.X, g), append(training.Y, s)
		actual.X, actual.Y = append(actual.X, g), append(actual.Y, t)
	}
	doubt := 2 * math.Sqrt(truth*(1-truth)/float64(many))
	return &Exhibit{
		Figures: []Figure{
			Boundary("training", "Move γ to the right: the boundary bends round single points.", res.Model, d, spec, nil),
			{Name: "capacity", Wide: true, Caption: "The training error falls with the capacity. The true error falls and rises again.", Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "γ", Log: true}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 0.5}, Curves: []figure.Curve{training, actual}, Here: &gamma}.Picture()
			}},
		},
		Numbers: []Number{
			{Label: "training error", Value: Percent(seen), Help: "of the points in the picture"},
			{Label: "true error", Value: Percent(truth), Help: fmt.Sprintf("of %d new points; ± %s for their number", many, Percent(doubt))},
			{Label: "flattery", Value: Percent(truth - seen), Help: "what the training error leaves out"},
		},
		Lab: sample.Lab("gamma", Setting(gamma), "C", "100"),
	}, nil
}

// riskPerfect compares the true errors of the narrow and of the middling kernel.
func riskPerfect(ctx context.Context) (float64, error) {
	sample, err := Drawn("moons", 60, riskNoise, 1)
	if err != nil {
		return 0, err
	}
	d, err := sample.Data()
	if err != nil {
		return 0, err
	}
	fresh, err := FreshMoons(2000, riskNoise)
	if err != nil {
		return 0, err
	}
	var truth [2]float64
	for i, gamma := range []string{"300", "1"} {
		res, _, err := Fit(ctx, d, "gamma", gamma, "C", "100")
		if err != nil {
			return 0, err
		}
		if truth[i], err = ErrorRate(res.Model, fresh); err != nil {
			return 0, err
		}
	}
	switch {
	case truth[0] < 0.02:
		return 0, nil
	case truth[0] > truth[1]+0.02:
		return 1, nil
	}
	return 2, nil
}

// riskPoints are the places to shatter at first: four corners and one inside.
var riskPoints = [][2]float64{{-2, -1}, {2, -1}, {0, 2}, {0, -2}, {0.5, 0.25}}

// riskSnap is the grid that the places keep to, so that three can be put on one
// line by hand.
const riskSnap = 0.25

// riskShatterParams are the controls of the screen on shattering.
func riskShatterParams() []param.Param {
	ps := []param.Param{
		{Name: "n", Label: "points", Kind: param.Integer, Default: "3", Min: 1, Max: 5, Low: 1, High: 5},
		{Name: "family", Label: "functions", Kind: param.Choice, Default: "lines", Options: []param.Option{
			{Name: "lines", Label: "straight lines"}, {Name: "quadratic", Label: "quadratic curves"}, {Name: "rbf", Label: "RBF kernel machines"},
		}},
	}
	for i, p := range riskPoints {
		for j, axis := range []string{"x", "y"} {
			ps = append(ps, param.Param{
				Name: fmt.Sprintf("%s%d", axis, i+1), Label: fmt.Sprintf("point %d x%d", i+1, j+1), Kind: param.Number,
				Default: Setting(p[j]), Min: -4, Max: 4, Low: -3, High: 3, Folded: true,
			})
		}
	}
	return ps
}

// riskShatter goes through the labellings of some places by a family of functions.
func riskShatter(family string, places [][2]float64) (theory.Shattering, kernel.Kernel, *mat.Dense, error) {
	x := Toy{XY: places}.Matrix()
	k := kernel.Kernel{Name: "linear"}
	switch family {
	case "quadratic":
		k = kernel.Polynomial(1, 1, 2)
	case "rbf":
		k = kernel.RBF(1)
	default:
		s, err := theory.ShatterLines(places)
		return s, k, x, err
	}
	s, err := theory.ShatterKernel(theory.Gram(kernel.NewGram(k, x)))
	return s, k, x, err
}

func showRiskShattering(_ context.Context, in Input) (*Exhibit, error) {
	n, family := in.Int("n"), in.Text("family")
	places := make([][2]float64, n)
	e := &Exhibit{}
	for i := range places {
		xp, yp := fmt.Sprintf("x%d", i+1), fmt.Sprintf("y%d", i+1)
		places[i] = [2]float64{riskSnap * math.Round(in.Number(xp)/riskSnap), riskSnap * math.Round(in.Number(yp)/riskSnap)}
		e.Handles = append(e.Handles, Handle{Label: fmt.Sprintf("point %d", i+1), X: places[i][0], Y: places[i][1], XParam: xp, YParam: yp})
	}
	s, k, x, err := riskShatter(family, places)
	if err != nil {
		return nil, err
	}
	e.Steps = len(s.Dichotomies)
	e.Step = min(in.Step, e.Steps-1)
	d := riskLabelling(s, e.Step)
	done := 0
	for k := range e.Step + 1 {
		if riskLabelling(s, k).Realisable {
			done++
		}
	}
	var marks []figure.Mark
	switch {
	case d.Realisable && family == "lines":
		marks = Sides([2]float64{d.W[0], d.W[1]}, d.B)
	case d.Realisable:
		sum := kernel.NewSum(k, x, d.W)
		f := func(x, y float64) float64 { return sum.At([]float64{x, y}) + d.B }
		marks = []figure.Mark{
			figure.Region{F: func(x, y float64) float64 { return -f(x, y) }, Color: figure.ClassColor(0), Name: "f < 0"},
			figure.Region{F: f, Color: figure.ClassColor(1), Name: "f ≥ 0"},
			figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Dash: figure.LongDash}, Plain: true, Name: "f = 0"},
		}
	default:
		for i := range places {
			for j := range i {
				if d.Labels[i] == d.Labels[j] {
					marks = append(marks, figure.Segment{From: places[j], To: places[i], Pen: figure.Pen{Color: figure.ClassColor(Class(d.Labels[i]))}})
				}
			}
		}
	}
	marks = append(marks, riskNumbered(places, d.Labels)...)
	if d.Common != nil {
		marks = append(marks, figure.Dot{At: [2]float64{d.Common[0], d.Common[1]}, Class: -1, Ring: true, Label: "in both hulls"})
	}
	e.Figures = []Figure{Plane("shattering", "One labelling at a time. Drag the points (they keep to a grid); Step or Run to see all labellings.", figure.Limits{XMin: -3.4, XMax: 3.4, YMin: -2.6, YMax: 2.6}, 2, marks)}
	e.Notes = []string{riskShatterNote(e.Step, d, family)}
	e.Numbers = []Number{
		{Label: "realised so far", Value: fmt.Sprintf("%d of %d", done, e.Step+1)},
		{Label: "realised in all", Value: fmt.Sprintf("%d of %d", s.Realisable, e.Steps), Help: Either(s.Shattered(), "every labelling: these points are shattered", "not every labelling: these points are not shattered")},
		{Label: "rank", Value: strconv.Itoa(s.Rank), Help: fmt.Sprintf("independent directions of $(\\phi(\\mathbf x), 1)$; shattered exactly when it is %d, the number of points", n)},
	}
	t := Table{Caption: "The first points, one more in each row", Head: []string{"points", "labellings", "realised"}, Marked: []int{n - 1}}
	if family == "lines" {
		t.Head = append(t.Head, "Cover's count")
		if n > 2 && !theory.GeneralPosition(places) {
			t.Caption += " (two coincide or three lie on one line: Cover's count is for general position)"
		}
	}
	for size := 1; size <= n; size++ {
		part, _, _, err := riskShatter(family, places[:size])
		if err != nil {
			return nil, err
		}
		row := []string{strconv.Itoa(size), strconv.Itoa(len(part.Dichotomies)), strconv.Itoa(part.Realisable)}
		if family == "lines" {
			row = append(row, views.Short(theory.CoverCount(size, 2)))
		}
		t.Rows = append(t.Rows, row)
	}
	e.Tables = []Table{t}
	return e, nil
}

// riskLabelling is the labelling of a step: those with both classes first, as all
// points alike are nothing to look at.
func riskLabelling(s theory.Shattering, step int) theory.Dichotomy {
	return s.Dichotomies[(step+1)%len(s.Dichotomies)]
}

// riskSigns are the labels in the order of the points.
func riskSigns(d theory.Dichotomy) (signs string) {
	for _, y := range d.Labels {
		signs += Either(y > 0, "+", "−")
	}
	return signs
}

// riskNumbered are the points of a labelling with their numbers.
func riskNumbered(places [][2]float64, labels []float64) (marks []figure.Mark) {
	for i, p := range places {
		marks = append(marks,
			figure.Dot{At: p, Class: Class(labels[i]), Name: ClassName(labels[i])},
			figure.Text{At: [2]float64{p[0] + 0.3, p[1] + 0.25}, Text: strconv.Itoa(i + 1)}) // beside the handle
	}
	return marks
}

// riskShatterNote says what a labelling is and why it can or cannot be realised.
func riskShatterNote(step int, d theory.Dichotomy, family string) string {
	head := fmt.Sprintf("Labelling %d: %s. ", step+1, riskSigns(d))
	switch {
	case d.Realisable && math.IsInf(d.Margin, 1):
		return head + "All alike: a function that is on one side everywhere does it."
	case d.Realisable && family == "lines":
		return head + "Realised; this is the line with the widest margin."
	case d.Realisable:
		return head + "Realised; the curve is that of the widest margin in feature space."
	case d.Common != nil:
		return head + "Not realised: the ringed place lies between points of one class and between points of the other, so a line would have to have it on both sides."
	}
	return head + "Not realised: in feature space the hulls of the two classes meet."
}

// riskEnough is the smallest number of points from which on a bound that falls
// with it is not vacuous; 0 when there are none up to a thousand million.
func riskEnough(bound func(m int) theory.Bound) int {
	low, high := 0, 1_000_000_000
	if bound(high).Vacuous {
		return 0
	}
	for high-low > 1 {
		if mid := (low + high) / 2; bound(mid).Vacuous {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

func showRiskBound(_ context.Context, in Input) (*Exhibit, error) {
	h, m, remp, eta := in.Number("h"), in.Int("m"), in.Number("remp"), in.Number("eta")
	bound, slide := theory.VapnikBound(remp, 1, h, m, eta), theory.VCBound(remp, h, m, eta)
	curves := func(xs []float64, at func(x float64) (h float64, m int)) []figure.Curve {
		cs := []figure.Curve{{Name: "R_emp"}, {Name: "structural term"}, {Name: "bound (000)"}, {Name: "bound (002)"}}
		for _, x := range xs {
			h, m := at(x)
			a, b := theory.VapnikBound(remp, 1, h, m, eta).Value, theory.VCBound(remp, h, m, eta).Value
			for i, v := range []float64{remp, a - remp, a, b} {
				cs[i].X, cs[i].Y = append(cs[i].X, x), append(cs[i].Y, v)
			}
		}
		return cs
	}
	overH := curves(Logspace(1, 1000, 80), func(x float64) (float64, int) { return x, m })
	overM := curves(Logspace(10, 1e7, 80), func(x float64) (float64, int) { return h, int(x) })
	chart := func(name, caption, axis string, here float64, cs []figure.Curve, wide bool) Figure {
		return Figure{Name: name, Caption: caption, Wide: wide, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{
				Format: l.Format(2), X: figure.Axis{Name: axis, Log: true}, Y: figure.Axis{Name: "risk", Min: 0, Max: 2},
				Curves: cs, Rules: []figure.Rule{{Name: "vacuous above", At: 1}}, Here: &here,
			}.Picture()
		}}
	}
	enough := "none"
	if k := riskEnough(func(m int) theory.Bound { return theory.VapnikBound(remp, 1, h, m, eta) }); k > 0 {
		enough = strconv.Itoa(k)
	}
	n := float64(m)
	decimal := remp + math.Sqrt((h*(1+math.Log10(2*n/h))-math.Log10(eta/4))/n)
	return &Exhibit{
		Figures: []Figure{
			chart("over-h", "The bound against capacity. A share of errors is never above 1: there the bound says nothing.", "VC dimension h", h, overH, false),
			chart("over-m", "The same bound as points come in.", "points M", n, overM, true),
		},
		Numbers: []Number{
			{Label: `$\varepsilon$`, Value: views.Short(theory.VapnikEpsilon(h, m, eta))},
			{Label: "structural term", Value: views.Short(bound.Value - remp), Help: "what the bound adds to the training error"},
			{Label: "bound of 000", Value: Worth(bound)},
			{Label: "bound of 002", Value: Worth(slide), Help: "natural logarithms; with $\\log_{10}$ it would read " + Either(math.IsNaN(decimal), "nothing at all", views.Short(decimal)) + ", which is not the theorem"},
			{Label: "not vacuous from", Value: enough, Help: "points on, at this $h$ and training error"},
		},
	}, nil
}

// riskDegrees are the machines of structural risk minimisation, by degree.
const riskDegrees = 6

// riskMachine is one machine of the nested families.
type riskMachine struct {
	degree       int
	h            float64
	seen, excess float64
	bound        theory.Bound
	res          *ml.Result
	spec         ml.Spec
}

// riskMachines trains polynomials of degree 1 to degrees on points.
func riskMachines(ctx context.Context, d *dataset.Data, degrees int) (all []riskMachine, best int, err error) {
	for p := 1; p <= degrees; p++ {
		res, spec, err := Fit(ctx, d, "kernel", "poly", "degree", strconv.Itoa(p), "coef0", "1", "gamma", "0.5", "C", "1", "tol", "0.01")
		if err != nil {
			return nil, 0, err
		}
		s := riskMachine{degree: p, h: float64((p + 1) * (p + 2) / 2), seen: 1 - res.Report.TrainAccuracy, res: res, spec: spec}
		s.bound = theory.VapnikBound(s.seen, 1, s.h, len(d.Y), 0.05)
		s.excess = s.bound.Value - s.seen
		all = append(all, s)
		if s.bound.Value < all[best].bound.Value {
			best = p - 1
		}
	}
	return all, best, nil
}

func showRiskStructural(ctx context.Context, in Input) (*Exhibit, error) {
	sample, err := Drawn("moons", in.Int("m"), in.Number("noise"), uint64(in.Int("draw")))
	if err != nil {
		return nil, err
	}
	d, err := sample.Data()
	if err != nil {
		return nil, err
	}
	step := min(in.Step, riskDegrees) // the last one reveals the truth
	reveal := step == riskDegrees
	all, best, err := riskMachines(ctx, d, min(step+1, riskDegrees))
	if err != nil {
		return nil, err
	}
	now := all[len(all)-1]
	e := &Exhibit{Steps: riskDegrees + 1, Step: step}
	curves := []figure.Curve{{Name: "training error", Marks: true}, {Name: "structural term", Marks: true}, {Name: "bound", Marks: true}}
	t := Table{Caption: "Polynomials of rising degree, with $\\eta = 0.05$", Head: []string{"degree", "$h$", `$R_{\text{emp}}$`, "term", "bound"}, Marked: []int{len(all) - 1}}
	var fresh *dataset.Data
	if reveal {
		if fresh, err = FreshMoons(2000, in.Number("noise")); err != nil {
			return nil, err
		}
		curves = append(curves, figure.Curve{Name: "true error", Marks: true})
		t.Head, t.Marked = append(t.Head, "true error"), []int{best}
		now = all[best]
	}
	truths := make([]float64, len(all))
	least := 0
	for i, s := range all {
		row := []string{strconv.Itoa(s.degree), views.Short(s.h), Percent(s.seen), views.Short(s.excess), Worth(s.bound)}
		ys := []float64{s.seen, s.excess, s.bound.Value}
		if reveal {
			if truths[i], err = ErrorRate(s.res.Model, fresh); err != nil {
				return nil, err
			}
			if truths[i] < truths[least] {
				least = i
			}
			row, ys = append(row, Percent(truths[i])), append(ys, truths[i])
		}
		t.Rows = append(t.Rows, row)
		for j, y := range ys {
			curves[j].X, curves[j].Y = append(curves[j].X, float64(s.degree)), append(curves[j].Y, y)
		}
	}
	e.Tables = []Table{t}
	e.Figures = []Figure{
		{Name: "structure", Caption: "The training error falls from one family to the next and the structural term rises. The smallest sum is chosen.", Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{
				Format: l.Format(2), X: figure.Axis{Name: "degree", Min: 0.8, Max: riskDegrees + 0.2}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 1.2},
				Curves: curves, Rules: []figure.Rule{{Name: "vacuous above", At: 1}},
			}.Picture()
		}},
		Boundary("machine", fmt.Sprintf("The machine of degree %d, with the first of its points.", now.degree), now.res.Model, d, now.spec, func(s *figure.Scene) {
			s.Points = s.Points[:min(len(s.Points), 300)]
		}),
	}
	if reveal {
		e.Notes = []string{fmt.Sprintf("The bound chooses degree %d: %s true error. Degree %d has the least, %s. The bound is %s: valid, and far above the truth.", all[best].degree, Percent(truths[best]), all[least].degree, Percent(truths[least]), Worth(all[best].bound))}
	} else {
		e.Notes = []string{fmt.Sprintf("Degree %d: all curves with %.0f coefficients, so $h = %.0f$. The smallest bound so far is that of degree %d.", now.degree, now.h, now.h, all[best].degree)}
	}
	return e, nil
}

// riskTooCareful compares the choice of the bound with that of the truth.
func riskTooCareful(ctx context.Context) (float64, error) {
	sample, err := Drawn("moons", 600, 0.2, 1)
	if err != nil {
		return 0, err
	}
	d, err := sample.Data()
	if err != nil {
		return 0, err
	}
	all, best, err := riskMachines(ctx, d, riskDegrees)
	if err != nil {
		return 0, err
	}
	fresh, err := FreshMoons(2000, 0.2)
	if err != nil {
		return 0, err
	}
	least, low := 0, math.Inf(1)
	for i, s := range all {
		truth, err := ErrorRate(s.res.Model, fresh)
		if err != nil {
			return 0, err
		}
		if truth < low {
			least, low = i, truth
		}
	}
	switch {
	case best < least:
		return 0, nil
	case best == least:
		return 1, nil
	}
	return 2, nil
}

func showRiskMargin(_ context.Context, in Input) (*Exhibit, error) {
	delta := in.Number("delta")
	places := make([][2]float64, 3)
	e := &Exhibit{}
	for i := range places {
		xp, yp := fmt.Sprintf("x%d", i+1), fmt.Sprintf("y%d", i+1)
		places[i] = in.place(xp, yp)
		e.Handles = append(e.Handles, Handle{Label: fmt.Sprintf("point %d", i+1), X: places[i][0], Y: places[i][1], XParam: xp, YParam: yp})
	}
	s, _, x, err := riskShatter("lines", places)
	if err != nil {
		return nil, err
	}
	k := theory.Gram(kernel.NewGram(kernel.Kernel{Name: "linear"}, x))
	ball, err := theory.EnclosingBall(k)
	if err != nil {
		return nil, err
	}
	centre := [2]float64{}
	for i, a := range ball.Weights {
		centre[0] += a * places[i][0]
		centre[1] += a * places[i][1]
	}
	wide := func(delta float64) (n int) {
		for _, d := range s.Dichotomies {
			if d.Margin >= delta {
				n++
			}
		}
		return n
	}
	e.Steps = len(s.Dichotomies)
	e.Step = min(in.Step, e.Steps-1)
	d := riskLabelling(s, e.Step)
	var marks []figure.Mark
	note := fmt.Sprintf("Labelling %d: %s. ", e.Step+1, riskSigns(d))
	switch {
	case math.IsInf(d.Margin, 1):
		note += "All alike: a line far away leaves any margin."
	case !d.Realisable:
		note += "No line does it, whatever the margin."
	default:
		w := [2]float64{d.W[0], d.W[1]}
		n := Norm(w)
		b := d.B
		pen := figure.Pen{Dash: figure.Dashed, Thin: true}
		marks = append(Sides(w, b),
			figure.Line{A: w, C: n*delta - b, Pen: pen, Name: "Δ from the line"}, figure.Line{A: w, C: -n*delta - b, Pen: pen, Name: "Δ from the line"})
		note += fmt.Sprintf("The widest margin is %s: %s.", views.Short(d.Margin), Either(d.Margin >= delta, "enough", "too little, the strip holds a point"))
	}
	marks = append(marks, figure.Circle{Center: centre, Radius: ball.Radius, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dotted}, Name: "smallest circle, R"})
	marks = append(marks, riskNumbered(places, d.Labels)...)
	e.Notes = []string{note}

	counts := figure.Curve{Name: "labellings with margin Δ or more", Stairs: true}
	for v := 0.02; v <= 2.6; v += 0.01 {
		counts.X, counts.Y = append(counts.X, v), append(counts.Y, float64(wide(v)))
	}
	top := float64(len(s.Dichotomies))
	e.Figures = []Figure{
		Plane("fat", "The dashed lines are Δ from the line. Make Δ larger, drag the points, step through the labellings.", figure.Limits{XMin: -4, XMax: 4, YMin: -3, YMax: 3}, 2, marks),
		{Name: "counts", Wide: true, Caption: "How many of the eight labellings leave a margin of Δ. With all eight the three points are shattered.", Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "margin Δ", Min: 0, Max: 2.6}, Y: figure.Axis{Name: "labellings", Min: 0, Max: top + 1}, Curves: []figure.Curve{counts}, Here: &delta}.Picture()
		}},
	}
	lecture := riskWholePart(ball.Radius, delta, 2)
	all := wide(delta) == len(s.Dichotomies)
	e.Numbers = []Number{
		{Label: "realised with margin Δ", Value: fmt.Sprintf("%d of %d", wide(delta), len(s.Dichotomies)), Help: Either(all, "shattered with this margin", "not shattered with this margin")},
		{Label: `$R^2/\Delta^2$`, Value: views.Short(ball.Radius * ball.Radius / delta / delta), Help: "$R = " + views.Short(ball.Radius) + "$, the circle in the picture"},
		{Label: `bound on $h$`, Value: views.Short(theory.MarginVCDim(ball.Radius, delta, 2)), Help: "rounded up, and at most 3 in the plane"},
		{Label: "with the whole part", Value: views.Short(lecture), Help: Either(all && lecture < 3, "refuted in this picture: three points are shattered", "as 000 prints it, but for the order of square and whole part")},
	}
	e.Tables = []Table{riskUnitTable(ball.Radius, theory.Diameter(k), delta)}
	return e, nil
}

// riskWholePart is the bound with the whole part of R²/Delta², as 000 means it.
func riskWholePart(radius, margin, dim float64) float64 {
	return min(math.Floor(radius*radius/(margin*margin)), dim) + 1
}

// riskUnitTable sets the forms of the bound side by side, in these units and in
// units a hundred times smaller, without the cap by the dimension.
func riskUnitTable(radius, diameter, delta float64) Table {
	t := Table{Caption: "The printed forms without the cap by the dimension, and what a change of units does to them", Head: []string{"form", "as it is", "all lengths × 100"}}
	square := func(v float64) float64 { return v * v }
	for _, row := range []struct {
		form string
		at   func(r, d, m float64) float64
	}{
		{`$\lceil R^2/\Delta^2\rceil+1$`, func(r, _, m float64) float64 { return theory.MarginVCDim(r, m, math.Inf(1)) }},
		{`$[R/\Delta]^2+1$ (000)`, func(r, _, m float64) float64 { return square(math.Floor(r/m)) + 1 }},
		{`$\lceil D^2/(2\gamma)\rceil+1$ (002)`, func(_, d, m float64) float64 { return theory.SlideVCDim(d, m, math.Inf(1)) }},
		{`$[D^2/(2\gamma^2)]+1$`, func(_, d, m float64) float64 { return theory.DiameterVCDim(d, m, math.Inf(1)) }},
	} {
		t.Rows = append(t.Rows, []string{row.form, views.Short(row.at(radius, diameter, delta)), views.Short(row.at(100*radius, 100*diameter, 100*delta))})
	}
	return t
}

// riskUnits is what a hundredfold unit does to the slides' quotient.
func riskUnits(context.Context) (float64, error) {
	const diameter, margin = 300.0, 0.25 // large, so that rounding up does not show
	switch ratio := theory.SlideVCDim(100*diameter, 100*margin, math.Inf(1)) / theory.SlideVCDim(diameter, margin, math.Inf(1)); {
	case math.Abs(ratio-1) < 0.1:
		return 0, nil
	case math.Abs(ratio-100) < 1:
		return 1, nil
	}
	return 2, nil
}

// riskExample is the run that is shown to those who have none.
func riskExample(ctx context.Context) (*Run, string, error) {
	sample, err := Drawn("moons", 120, 0.2, 1)
	if err != nil {
		return nil, "", err
	}
	d, err := sample.Data()
	if err != nil {
		return nil, "", err
	}
	spec := ml.DefaultSpec()
	pairs := []string{"gamma", "1", "C", "10", "test_fraction", "0.25"}
	for i := 0; i < len(pairs); i += 2 {
		if err := spec.Set(pairs[i], pairs[i+1]); err != nil {
			return nil, "", err
		}
	}
	res, err := Train(ctx, d, spec)
	if err != nil {
		return nil, "", err
	}
	return &Run{Name: "an example: SVM, RBF kernel, on moons", Spec: spec, Data: d, Report: &res.Report, Model: res.Model}, LabQuery("drawing", append(pairs, "points", sample.CSV())...), nil
}

// riskSize is what the bounds need to know of a run, measured on its training
// rows in the feature space of its kernel.
type riskSize struct {
	n, vectors   int
	wrong, short int     // points with y f <= 0, and with y f < 1
	radius       float64 // of a ball that holds the images
	exact        bool    // the smallest such ball, not one about the origin
	norm         float64 // |w|
	dim          float64 // of the feature space
	spread       float64 // max|f| / min|f|
}

// riskMeasure finds the size of a run's machine.
func riskMeasure(r *Run) (riskSize, error) {
	points, err := r.Model.Points(r.Data, r.Spec)
	if err != nil {
		return riskSize{}, err
	}
	s := riskSize{dim: riskFeatureDim(r.Model), vectors: len(r.Model.Machines[0].Coef)}
	var rows [][]float64
	low, high := math.Inf(1), 0.0
	for _, p := range points {
		if p.HeldOut {
			continue
		}
		rows = append(rows, p.X)
		if p.Wrong {
			s.wrong++
		}
		if p.Margin < 1-1e-3 {
			s.short++
		}
		low, high = min(low, math.Abs(p.F)), max(high, math.Abs(p.F))
	}
	s.n, s.spread = len(rows), high/low
	// |w|² = sum_j u_j w·phi(x_j), and w·phi(x_j) = f(x_j) - b.
	square := 0.0
	for k, i := range r.Model.Supports.Rows {
		square += r.Model.Machines[0].Coef[k] * (points[i].F - r.Model.Machines[0].B)
	}
	s.norm = math.Sqrt(max(0, square))
	g := kernel.NewGram(r.Model.Kernel, riskInputs(r.Model, rows))
	if m := r.Model.Machines[0].Map; m != nil {
		g = g.Scaled(m.Factors(riskInputs(r.Model, rows)))
	}
	const most = 400 // a larger matrix would hold up the page
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

// riskInputs are rows in original units as the kernel of a model sees them.
func riskInputs(m *ml.Model, rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(m.Features), nil)
	for i, r := range rows {
		x.SetRow(i, r)
	}
	if m.Scaler != nil {
		x = m.Scaler.Apply(x)
	}
	p := m.Projection
	if p == nil {
		return x
	}
	out := mat.NewDense(len(rows), len(p.Components), nil)
	for i := range rows {
		for k, c := range p.Components {
			v := 0.0
			for j, a := range c {
				v += a * (x.At(i, j) - p.Mean[j])
			}
			out.Set(i, k, v)
		}
	}
	return out
}

// riskFeatureDim is the dimension of a model's feature space, or a number above it.
func riskFeatureDim(m *ml.Model) float64 {
	d := len(m.Features)
	if m.Projection != nil {
		d = len(m.Projection.Components)
	}
	switch m.Kernel.Name {
	case "linear":
		return float64(d)
	case "poly": // monomials of degree up to p
		n := 1.0
		for i := 1; i <= m.Kernel.Values.Int("degree"); i++ {
			n = n * float64(d+i) / float64(i)
		}
		return math.Round(n)
	}
	return math.Inf(1)
}

func showRiskRun(ctx context.Context, in Input) (*Exhibit, error) {
	e := &Exhibit{}
	run, err := in.Run(ctx)
	if err != nil {
		return nil, err
	}
	if run == nil {
		if run, e.Lab, err = riskExample(ctx); err != nil {
			return nil, err
		}
	}
	delta := in.Number("delta")
	e.Figures = []Figure{Boundary("run", Literal(run.Name), run.Model, run.Data, run.Spec, nil)}
	s, err := riskMeasure(run)
	if err != nil {
		e.Notes = []string{"This run has no feature space to measure in (" + Literal(err.Error()) + "), so there are no bounds by capacity."}
		return e, nil
	}
	svm := run.Spec.Learner == "svm"
	n := float64(s.n)
	margin := 1 / s.norm
	h := theory.MarginVCDim(s.radius, margin, s.dim)
	wrong, short := float64(s.wrong)/n, float64(s.short)/n
	t := Table{Caption: "Every bound of the lecture on this run", Head: []string{"bound", "$h$", "value"}}
	add := func(name string, h float64, b theory.Bound) {
		t.Rows = append(t.Rows, []string{name, riskInfinite(h), Worth(b)})
	}
	add("000, by dimension", s.dim+1, theory.VapnikBound(wrong, 1, s.dim+1, s.n, delta))
	add("000, by margin", h, theory.VapnikBound(short, 1, h, s.n, delta))
	add("002, by dimension", s.dim+1, theory.VCBound(wrong, s.dim+1, s.n, delta))
	add("002, by margin", h, theory.VCBound(short, h, s.n, delta))
	switch {
	case !svm:
		t.Rows = append(t.Rows, []string{"002, sparse", "", "not for an MCM"}, []string{"leave-one-out", "", "not for an MCM"})
	case s.wrong > 0:
		t.Rows = append(t.Rows, []string{"002, sparse", "", "needs a training error of 0"}, []string{"leave-one-out $N_{SV}/N$", "", Worth(theory.LeaveOneOutBound(s.vectors, s.n))})
	default:
		t.Rows = append(t.Rows, []string{"002, sparse", "", Worth(theory.SparseBound(s.vectors, s.n, delta))}, []string{"leave-one-out $N_{SV}/N$", "", Worth(theory.LeaveOneOutBound(s.vectors, s.n))})
	}
	t.Rows = append(t.Rows, []string{"*measured:* training error", "", views.Short(wrong)})
	if a := run.Report.TestAccuracy; a != nil {
		t.Rows = append(t.Rows, []string{fmt.Sprintf("*measured:* error on %d held out", run.Report.TestN), "", views.Short(1 - *a)})
	}
	e.Tables = []Table{t}
	e.Numbers = []Number{
		{Label: "points, support vectors", Value: fmt.Sprintf("%d, %d", s.n, s.vectors), Help: fmt.Sprintf("%d points are inside the margin or on the wrong side; the bounds by margin count them as errors", s.short)},
		{Label: "$R$", Value: views.Short(s.radius), Help: Either(s.exact, "radius of the smallest ball in feature space", "radius of a ball about the origin of feature space")},
		{Label: `$\Delta = 1/\lVert\mathbf w\rVert$`, Value: views.Short(margin), Help: "$R^2/\\Delta^2$ is " + views.Short(s.radius*s.radius/margin/margin)},
	}
	if !svm {
		e.Numbers = append(e.Numbers, Number{Label: `$h_{MCM}$`, Value: views.Short(s.spread), Help: `$\max\lvert f\rvert/\min\lvert f\rvert$: what the MCM keeps small when it separates the points` + Either(s.wrong > 0, ", as it does not here", "") + "; no bound on $h$"})
	}
	return e, nil
}

// riskInfinite shows a dimension.
func riskInfinite(h float64) string {
	if math.IsInf(h, 1) {
		return "∞"
	}
	return views.Short(h)
}
