// Package perceptron is the lesson on the perceptron in dual form.
package perceptron

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	label   = lessons.ChoiceControl{Name: "label", Label: "label", Symbol: "y", Default: "-1", Options: []param.Option{{Name: "-1", Label: "−1"}, {Name: "1", Label: "+1"}}}
	angle   = lessons.NumberControl{Name: "angle", Label: "direction of w", Default: "50", Min: -180, Max: 180, Low: -180, High: 180, Help: "Degrees from the horizontal axis."}
	point   = lessons.NewPlace("px", "point x₁", "py", "point x₂", [2]float64{1.5, -0.4}, figure.Limits{XMin: -3, XMax: 3, YMin: -2.3, YMax: 2.3})
	strict  = lessons.SwitchControl{Name: "strict", Label: "tests with < 0", Default: "false", Help: "Both tests < 0 in place of ≤ 0."}
	points  = lessons.ChoiceControl{Name: "points", Label: "points", Default: "sides", Options: []param.Option{{Name: "sides", Label: "two sides"}, {Name: "ring", Label: "a ring"}}}
	product = lessons.ChoiceControl{Name: "product", Label: "inner product", Default: "linear", Options: []param.Option{
		{Name: "linear", Label: "x·z"}, {Name: "poly", Label: "(1 + x·z)²"}, {Name: "rbf", Label: "exp(−|x − z|²)"},
	}}
	degrees = lessons.NumberControl{Name: "turn", Label: "turn all points", Default: "0", Min: -180, Max: 180, Low: -180, High: 180, Help: "Degrees about the origin."}
	gamma   = lessons.NumberControl{Name: "gamma", Label: "widest margin", Symbol: "γ", Default: "0.3", Min: 0.05, Max: 2, Low: 0.05, High: 2, Log: true}
	seed    = lessons.IntegerControl{Name: "seed", Label: "order of the points", Default: "1", Min: 1, Max: orders, Low: 1, High: orders, Help: "Which of the shuffles the thick line shows."}
	first   = lessons.NewPlace("px", "point 1, x₁", "py", "point 1, x₂", [2]float64{-1.1, -0.2}, figure.Limits{XMin: -2.6, XMax: 2.6, YMin: -2.1, YMax: 2.1})
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "perceptron",
		Task: "data=iris-sepal",
		Screens: []lessons.Screen{
			{
				Slug: "rule",
				Demo: lessons.NewDemo(showRule, label, angle, point),
				Answers: map[string]lessons.Answer{
					"sign": func(context.Context) float64 {
						switch w, x := [2]float64{1, 0}, [2]float64{0.5, 0.7}; update(w, x, -1) {
						case [2]float64{w[0] + x[0], w[1] + x[1]}:
							return 0
						case [2]float64{w[0] - x[0], w[1] - x[1]}:
							return 1
						}
						return 2
					},
					"gain": func(context.Context) float64 {
						x := [2]float64{0, 2}
						return dot(update([2]float64{1, -0.2}, x, 1), x)
					},
				},
			},
			{
				Slug: "dual",
				Demo: lessons.NewDemo(showDual, strict),
				Answers: map[string]lessons.Answer{
					"strict": func(ctx context.Context) float64 {
						r := train(ctx, toy, linear(), stepwise.PerceptronSettings{Strict: true})
						return float64(r.At(r.Len() - 1).Mistakes)
					},
					"rate": rate,
				},
			},
			{Slug: "gram", Demo: lessons.NewDemo(showGram, points, product, degrees), Answers: map[string]lessons.Answer{"turn": turned}},
			{Slug: "bound", Demo: lessons.NewDemo(showBound, gamma), Answers: map[string]lessons.Answer{"scale": scaled}},
			{Slug: "order", Demo: lessons.NewDemo(showOrder, seed), Answers: map[string]lessons.Answer{"best": bestOrder}},
			{Slug: "never", Demo: lessons.NewDemo(showNever, first), Answers: map[string]lessons.Answer{"counts": counts}},
		},
	})
}

// toy holds eight points separable by a line through the origin.
var toy = lessons.Toy{
	XY: [][2]float64{{2.1, 1.5}, {-0.9, -1.1}, {1.3, 1.9}, {0.5, -1.8}, {2.1, -0.6}, {1.9, -1.8}, {1.2, -0.2}, {-2.2, 1.0}},
	Y:  []float64{1, -1, 1, -1, 1, -1, 1, -1},
}

var limits = figure.Limits{XMin: -2.8, XMax: 2.8, YMin: -2.3, YMax: 2.3}

func linear() kernel.Kernel { return kernel.Kernel{Name: "linear"} }

// train runs the dual perceptron on a toy.
func train(ctx context.Context, t lessons.Toy, k kernel.Kernel, s stepwise.PerceptronSettings) *trace.Replay[stepwise.PerceptronState] {
	return lessons.Must(stepwise.Perceptron(ctx, kernel.NewGram(k, t.Matrix()), t.Y, s))
}

// dot returns the inner product of two vectors.
func dot(a, b [2]float64) float64 { return a[0]*b[0] + a[1]*b[1] }

// update returns w after visiting the point x with label y.
func update(w, x [2]float64, y float64) [2]float64 {
	stepwise.PerceptronUpdate(w[:], x[:], y, 1)
	return w
}

func showRule(_ context.Context, in lessons.Input) *lessons.Exhibit {
	a, y := angle.Of(in)*math.Pi/180, lists.Either(label.Of(in) == "-1", -1, 1.0)
	const length = 1.2
	w := [2]float64{length * math.Cos(a), length * math.Sin(a)}
	x := point.Of(in)
	next := update(w, x, y)
	margin, after := y*dot(w, x), y*dot(next, x)
	mine := figure.Dot{At: x, Class: lessons.Class(y), Ring: true, Held: true, Label: "x", Name: lessons.ClassName(y)}
	const asks = "The weights, the line at a right angle to them, and one point. ~Drag it to either side.~ What becomes of the weights?"
	before := lessons.Plane("rule", asks, limits, 2, lessons.Sides(w, 0), []figure.Mark{figure.Arrow{To: w, Label: "w"}, mine})
	marks := lessons.Sides(lists.Either(lessons.Norm(next) > 1e-9, next, w), 0)
	note := "The point is on its right side: nothing changes."
	if next != w {
		marks = append(marks,
			figure.Line{A: w, C: 0, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dashed}, Name: "line before"},
			figure.Arrow{To: w, Pen: figure.Pen{Color: figure.Muted}, Label: "w before"},
			figure.Arrow{From: w, To: next, Pen: figure.Pen{Color: figure.Magenta}, Name: "y x, added"},
		)
		note = "A mistake: the point is added to the weights with its sign."
		if after <= 0 {
			note += " One update was not enough: it is still on the wrong side."
		} else {
			note += " Now it is on its right side."
		}
	}
	marks = append(marks, figure.Arrow{To: next, Label: "w"}, mine)
	return &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("rule", "The weights, the line at a right angle to them, and one point. ~Drag it to either side.~", limits, 2, marks).Instead(before, asks)},
		Handles: []lessons.Handle{point.Handle("the point", in)},
		After:   []string{note},
		Numbers: []lessons.Number{
			{Label: `$y\,\mathbf w^\top\mathbf x$ before`, Value: lessons.Short(margin), Help: "a mistake where it is 0 or less"},
			{Label: `$y\,\mathbf w^\top\mathbf x$ after`, Value: lessons.Short(after), After: true},
			{Label: `$\lVert\mathbf x\rVert^2$`, Value: lessons.Short(dot(x, x)), Help: "the squared length of the point"},
			{Label: `$\mathbf w$ after`, Value: lessons.Pair(next), After: true},
		},
	}
}

// countsTable lists the points with their counts.
func countsTable(s stepwise.PerceptronState) lessons.Table {
	t := lessons.Table{
		Caption: "One row per point, after the step. Marked: the point that was looked at.",
		Head:    []string{"point", "$y$", `mistakes $\alpha$`, `$y f(\mathbf x)$`, ""},
	}
	for i, p := range s.Points {
		verdict := lists.Either(p.Margin > 0, "right", "wrong")
		t.Rows = append(t.Rows, []string{strconv.Itoa(i + 1), lessons.Signed(p.Y), lessons.Short(p.Alpha), lessons.Short(p.Margin), verdict})
	}
	if s.Looked >= 0 {
		t.Marked = []int{s.Looked}
	}
	return t
}

// dots draws the points with their numbers and counts; one may be ringed, and one draggable.
func dots(t lessons.Toy, it stepwise.Iterate, ringed, held int) (marks []figure.Mark) {
	for i, p := range t.XY {
		dot := figure.Dot{At: p, Class: lessons.Class(t.Y[i]), Ring: i == ringed, Held: i == held, Label: strconv.Itoa(i + 1)}
		if n := int(it.Points[i].Alpha); n > 0 {
			dot.Label += fmt.Sprintf(" (%d×)", n)
		}
		if !dot.Ring {
			dot.Name = lessons.ClassName(t.Y[i])
		}
		marks = append(marks, dot)
	}
	return marks
}

// picture draws the line of a state with its points, one of which may be draggable, with or
// without their counts and weights.
func picture(name, caption string, t lessons.Toy, s stepwise.PerceptronState, held int, counted bool) lessons.Figure {
	w := t.Weights(s.U())
	if !counted {
		s.Points = make([]stepwise.Point, len(s.Points))
	}
	var line []figure.Mark
	if lessons.Norm(w) > 1e-9 {
		n := 1.4 / lessons.Norm(w)
		line = append(lessons.Sides(w, 0), figure.Arrow{To: [2]float64{n * w[0], n * w[1]}, Label: "w"})
	}
	return lessons.Plane(name, caption, limits, 2, line, dots(t, s.Iterate, s.Looked, held))
}

// describe describes a step in words.
func describe(s stepwise.PerceptronState) string {
	switch {
	case s.Looked < 0:
		return `Start: all counts are 0, $\mathbf w = 0$, and $f$ is 0 everywhere.`
	case s.Updated:
		return fmt.Sprintf(`Pass %d, point %d: $y f = $ %s is a mistake. Its count rises to %s.`, s.Pass, s.Looked+1, lessons.Short(s.Margin), lessons.Short(s.Points[s.Looked].Alpha))
	}
	return fmt.Sprintf(`Pass %d, point %d: $y f = $ %s, no mistake.`, s.Pass, s.Looked+1, lessons.Short(s.Margin))
}

func showDual(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, strict := toy, strict.Of(in)
	r := train(ctx, t, linear(), stepwise.PerceptronSettings{Strict: strict, MaxSteps: 200})
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	note := describe(s)
	if step == r.Len()-1 {
		if strict {
			note += ` The pass is over, no margin is below 0: the algorithm stops, having learned nothing.`
		} else {
			note += ` The pass is over and every margin is above 0: done.`
		}
	}
	w := t.Weights(s.U())
	e := &lessons.Exhibit{
		Steps: r.Len(), Step: step, Notes: []string{note}, Tables: []lessons.Table{countsTable(s)},
		Lab:     t.Lab("learner", "svm", "kernel", "linear", "hard_margin", "true"),
		Figures: []lessons.Figure{picture("line", "The line so far; the point being looked at is ringed, “3×” counts mistakes. The arrow has the direction of w, not its length.", t, s, -1, true)},
		Numbers: []lessons.Number{
			{Label: "mistakes", Value: strconv.Itoa(s.Mistakes), Help: `the sum of all $\alpha$`},
			{Label: "pass", Value: strconv.Itoa(s.Pass), Help: "through all points"},
			{Label: `$\mathbf w = \sum_j\alpha_j y_j\mathbf x_j$`, Value: lessons.Pair(w)},
			{Label: `$\min_i y_i f(\mathbf x_i)$`, Value: lessons.Short(s.Worst), Help: "above 0: separated"},
		},
	}
	if strict { // the question is how many mistakes it counts
		const asks = "The points. What do tests with < 0 make of them?"
		e.Figures[0] = e.Figures[0].Instead(lessons.Plane("line", asks, limits, 2, t.Dots(nil)), asks)
		e.Notes, e.After, e.Tables[0].After = nil, e.Notes, true
		for i := range e.Numbers {
			e.Numbers[i].After = true
		}
	}
	return e
}

// rate compares the mistakes with half the step size.
func rate(ctx context.Context) float64 {
	var mistakes [2]int
	for i, eta := range []float64{1, 0.5} {
		r := lessons.Must(stepwise.PrimalPerceptron(ctx, toy.Matrix(), toy.Y, stepwise.PrimalPerceptronSettings{Rate: eta}))
		mistakes[i] = r.At(r.Len() - 1).Mistakes
	}
	one, half := mistakes[0], mistakes[1]
	return lessons.First(half > one, half == one)
}

// turn rotates the toy about the origin by an angle in degrees.
func turn(t lessons.Toy, degrees float64) lessons.Toy {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return lessons.Toy{Y: t.Y, XY: lists.Map(t.XY, func(p [2]float64) [2]float64 {
		return [2]float64{cos*p[0] - sin*p[1], sin*p[0] + cos*p[1]}
	})}
}

func showGram(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	straight := lists.Either(points.Of(in) == "ring", lessons.StepToys["ring"], toy)
	t := turn(straight.ByClass(1), degrees.Of(in))
	k := map[string]kernel.Kernel{
		"linear": linear(), "poly": kernel.Polynomial(1, 1, 2), "rbf": kernel.RBF(1),
	}[product.Of(in)]
	g, unturned := theory.Gram(kernel.NewGram(k, t.Matrix())), theory.Gram(kernel.NewGram(k, straight.Matrix()))
	r := train(ctx, t, k, stepwise.PerceptronSettings{MaxSteps: 1000})
	s := r.At(r.Len() - 1)
	var difference mat.Dense
	difference.Sub(g, unturned)

	sum := kernel.NewSum(k, t.Matrix(), s.U())
	f := func(x, y float64) float64 { return sum.At([]float64{x, y}) }
	marks := append(lessons.Halves(f), figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Thin: true}, Plain: true, Name: "f = 0"})
	counts := lessons.Table{Caption: `How often each point was mistaken.`, Head: []string{"point"}, Rows: [][]string{{`$\alpha$`}}}
	for i, p := range s.Points {
		counts.Head, counts.Rows[0] = append(counts.Head, strconv.Itoa(i+1)), append(counts.Rows[0], lessons.Short(p.Alpha))
	}
	counts.After = true
	uncounted := s.Iterate
	uncounted.Points = make([]stepwise.Point, len(s.Points))
	const asks = "The points, numbered as in the matrix, and where the perceptron's f changes its sign. How often was each of them mistaken?"
	plane := func(caption string, it stepwise.Iterate) lessons.Figure {
		return lessons.Plane("points", caption, limits, 2, marks, dots(t, it, -1, -1))
	}
	ended := fmt.Sprintf("%s in %s", lessons.Count(s.Mistakes, "mistake", "mistakes"), lessons.Count(s.Pass, "pass", "passes"))
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "gram", Caption: "The Gram matrix, positive class first. Everything the algorithm knows of the points.", Draw: lessons.Draws(1, figure.Matrix{
				X: "point j", Y: "point i", Name: "G", Values: g, Classes: t.Classes(), ClassNames: []string{lessons.Signed(-1), lessons.Signed(1)},
			})},
			plane("The points, numbered as in the matrix, where the perceptron's f changes its sign, and how often each was mistaken.", s.Iterate).Instead(plane(asks, uncounted), asks),
		},
		Numbers: []lessons.Number{
			{Label: "largest change of $G$", Value: lessons.Short(max(mat.Max(&difference), -mat.Min(&difference))), Help: "by turning the points", After: true},
			{Label: "learned after", Value: ended, Help: "as the rows come; another order makes other mistakes", After: true},
		},
		Tables: []lessons.Table{counts},
		Lab:    t.Lab("learner", "svm", "kernel", k.Name, "gamma", "1", "coef0", "1", "degree", "2", "C", "100"),
	}
	if r.Status() != trace.Converged {
		e.Numbers[1].Value = "never; no end after " + ended
		e.Notes = []string{"With these inner products no function without a bias separates the classes: the loop goes round for ever. Choose another one."}
	}
	return e
}

// turned compares counts and line before and after rotating all points.
func turned(ctx context.Context) float64 {
	plain := train(ctx, toy, linear(), stepwise.PerceptronSettings{})
	t := turn(toy, 40)
	turned := train(ctx, t, linear(), stepwise.PerceptronSettings{})
	a, b := plain.At(plain.Len()-1).Iterate, turned.At(turned.Len()-1).Iterate
	counts := !slices.EqualFunc(a.Points, b.Points, func(p, q stepwise.Point) bool { return p.Alpha == q.Alpha })
	v, w := toy.Weights(a.U()), t.Weights(b.U())
	line := lessons.Norm([2]float64{v[0] - w[0], v[1] - w[1]}) > 1e-6
	switch {
	case counts && line:
		return 0
	case line:
		return 1
	case counts:
		return 2
	}
	return -1
}

// widest returns the widest line through the origin: the hard-margin SVM of the points and their
// reflections through the origin, whose bias is 0 by symmetry.
func widest(ctx context.Context, t lessons.Toy) (unit [2]float64, margin float64) {
	both := lessons.Toy{XY: slices.Clone(t.XY), Y: slices.Clone(t.Y)}
	for i, p := range t.XY {
		both.XY, both.Y = append(both.XY, [2]float64{-p[0], -p[1]}), append(both.Y, -t.Y[i])
	}
	m := lessons.TrainLinear(ctx, both, "hard_margin", "true", "tol", "1e-10")
	n := lessons.Norm(m.W)
	return [2]float64{m.W[0] / n, m.W[1] / n}, 1 / n
}

// withMargin returns the lesson's points, shifted along the best direction so that the widest
// margin is gamma.
func withMargin(ctx context.Context, gamma float64) (t lessons.Toy, unit [2]float64) {
	unit, margin := widest(ctx, toy)
	t.Y = toy.Y
	for i, p := range toy.XY {
		d := t.Y[i] * (gamma - margin)
		t.XY = append(t.XY, [2]float64{p[0] + d*unit[0], p[1] + d*unit[1]})
	}
	return t, unit
}

// novikoff returns the largest distance of a point from the origin, and the resulting bound for a
// margin.
func novikoff(t lessons.Toy, margin float64) (radius, mistakes float64) {
	radius = theory.MaxNorm(theory.Gram(kernel.NewGram(linear(), t.Matrix())))
	return radius, theory.MistakeBound(radius, margin)
}

// proof derives Novikoff's bound line by line.
var proof = lessons.Lines(files, "proof")

func showBound(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	gamma := gamma.Of(in)
	t, unit := withMargin(ctx, gamma)
	r := train(ctx, t, linear(), stepwise.PerceptronSettings{MaxSteps: 4000})
	radius, bound := novikoff(t, gamma)
	length := figure.Curve{Name: "|w|", Marks: true}
	for i := range r.Len() {
		if s := r.At(i); s.Updated {
			length.X, length.Y = append(length.X, float64(s.Mistakes)), append(length.Y, s.WNorm)
		}
	}
	end := max(2*bound, 4)
	bounds := lessons.CurvesOf(lessons.Logspace(1, end, 60), func(k float64) []float64 {
		return []float64{k * gamma, math.Sqrt(k) * radius}
	}, "k γ", "√k R")
	s := r.At(r.Len() - 1)
	return (&lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "race", Caption: `The length of $\mathbf w$ after $k$ mistakes lies between the two bounds (both axes logarithmic). Where they cross, at $k = (R/\gamma)^2$, there is no room left.`, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "mistakes k", Log: true, Min: 1, Max: end}, Y: figure.Axis{Name: "length", Log: true},
				Curves: append([]figure.Curve{length}, bounds...), Rules: []figure.Rule{{Name: "(R/γ)²", At: bound, Upright: true}},
			})},
			lessons.Plane("margin", "The points, the widest line through the origin with its margin, and the circle of radius R.", figure.Limits{XMin: -radius - 0.2, XMax: radius + 0.2, YMin: -radius - 0.2, YMax: radius + 0.2}, 2,
				lessons.Sides(unit, 0), []figure.Mark{
					figure.Line{A: unit, C: gamma, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Name: "margin γ"},
					figure.Line{A: unit, C: -gamma, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Name: "margin γ"},
					figure.Circle{Radius: radius, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "radius R"},
				}, t.Dots(nil)),
		},
		Numbers: []lessons.Number{
			{Label: "$R$", Value: lessons.Short(radius), Help: "farthest point from the origin"},
			{Label: `$\gamma$`, Value: lessons.Short(gamma), Help: "widest margin of a line through the origin"},
			{Label: `$(R/\gamma)^2$`, Value: lessons.Short(bound), Help: "no more mistakes than this"},
			{Label: "mistakes made", Value: strconv.Itoa(s.Mistakes), Help: fmt.Sprintf("in %s, in the order of the data", lessons.Count(s.Pass, "pass", "passes"))},
		},
	}).Derive(in, proof())
}

// scaled compares mistakes and bound after scaling all points by ten.
func scaled(ctx context.Context) float64 {
	var mistakes [2]int
	var bounds [2]float64
	for i, c := range []float64{1, 10} {
		t := lessons.Toy{Y: toy.Y, XY: lists.Map(toy.XY, func(p [2]float64) [2]float64 { return [2]float64{c * p[0], c * p[1]} })}
		r := train(ctx, t, linear(), stepwise.PerceptronSettings{})
		_, margin := widest(ctx, t)
		mistakes[i] = r.At(r.Len() - 1).Mistakes
		_, bounds[i] = novikoff(t, margin)
	}
	same := math.Abs(bounds[1]/bounds[0]-1) < 1e-6
	switch {
	case same && mistakes[1] == mistakes[0]:
		return 2
	case same && mistakes[1] > mistakes[0]:
		return 1
	case bounds[1] > bounds[0]:
		return 0
	}
	return 3
}

// orders is the number of orders tried.
const orders = 24

// outcome is the final line for one order of the points.
type outcome struct {
	w         [2]float64
	b, margin float64
	mistakes  int
}

// apart holds the points of the screen about orders. The origin does not lie between their
// classes, so a bias is needed.
var apart = lessons.StepToys["apart"]

// outcomes returns the results of all orders, by seed from 1.
func outcomes(ctx context.Context) []outcome {
	var ends []outcome
	for seed := range orders {
		r := train(ctx, apart, linear(), stepwise.PerceptronSettings{Bias: true, Order: stepwise.Shuffled, Seed: uint64(seed + 1), MaxSteps: 5000})
		s := r.At(r.Len() - 1)
		w := apart.Weights(s.U())
		m := lessons.Must(theory.LinearMargins(w[:], s.B, apart.Matrix(), apart.Y))
		ends = append(ends, outcome{w, s.B, m.GeometricMargin(), s.Mistakes})
	}
	return ends
}

func showOrder(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	ends := outcomes(ctx)
	svm := lessons.TrainHard(ctx, apart)
	margin := 1 / lessons.Norm(svm.W)
	mine := seed.Of(in) - 1
	var thin []figure.Mark
	best := 0
	shares := make([]float64, len(ends))
	for i, e := range ends {
		thin = append(thin, figure.Line{A: e.w, C: -e.b, Pen: figure.Pen{Color: figure.Muted, Thin: true, Pale: true}, Name: "other orders"})
		shares[i] = 100 * e.margin / margin
		if e.margin > ends[best].margin {
			best = i
		}
	}
	m := lessons.Must(theory.LinearMargins(ends[mine].w[:], ends[mine].b, apart.Matrix(), apart.Y))
	worst := apart.XY[m.Worst]
	names := make([]string, len(ends))
	names[mine] = "this order"
	sides := lessons.Sides(ends[mine].w, ends[mine].b)
	lines := func(caption string, more ...figure.Mark) lessons.Figure {
		return lessons.Plane("lines", caption, apart.Limits(), 2, sides[:2], thin, sides[2:], more,
			[]figure.Mark{figure.Segment{From: worst, To: lessons.Foot(ends[mine].w, ends[mine].b, worst), Pen: figure.Pen{Color: figure.Magenta}, Name: "worst margin"}},
			apart.Dots(func(i int) bool { return i == m.Worst }))
	}
	const asks = "The end of this order (thick, with its worst margin), and of the others (thin)."
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			lines("The end of this order (thick, with its worst margin), of the others (thin), and the widest line (long dashes).",
				figure.Line{A: svm.W, C: -svm.B, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "widest (SVM)"}).Instead(lines(asks), asks),
			{Name: "shares", Wide: true, After: true, Caption: "Worst margin of every order as a share of the widest, largest first.", Draw: lessons.Draws(1, figure.Bars{
				X: "order", Y: "% of the widest margin", Values: shares, Names: names, Sorted: true,
				Rules: []figure.Rule{{Name: "the SVM", At: 100}},
			})},
		},
		Numbers: []lessons.Number{
			{Label: "this order", Value: views.Short(ends[mine].margin), Help: fmt.Sprintf("worst margin, after %d mistakes", ends[mine].mistakes)},
			{Label: "the best order", Value: views.Short(ends[best].margin), Help: fmt.Sprintf("number %d", best+1), After: true},
			{Label: "hard-margin SVM", Value: views.Short(margin), Help: `$1/\lVert\mathbf w\rVert$, whatever the order`, After: true},
		},
		Lab: apart.Lab("learner", "svm", "kernel", "linear", "hard_margin", "true"),
	}
}

// bestOrder compares the best of all orders with the widest margin.
func bestOrder(ctx context.Context) float64 {
	ends := outcomes(ctx)
	best, margin := 0.0, 1/lessons.Norm(lessons.TrainHard(ctx, apart).W)
	for _, e := range ends {
		best = max(best, e.margin)
	}
	return lessons.First(math.Abs(best-margin) <= 1e-3*margin, best < margin)
}

// spoilt returns the lesson's points with the first one moved.
func spoilt(at [2]float64) lessons.Toy {
	t := lessons.Toy{XY: slices.Clone(toy.XY), Y: toy.Y}
	t.XY[0] = at
	return t
}

func showNever(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := spoilt(first.Of(in))
	r := train(ctx, t, linear(), stepwise.PerceptronSettings{MaxSteps: 20 * len(t.Y)})
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	// The counts of the points with the most mistakes at the end.
	end := r.At(r.Len() - 1)
	order := dataset.Indices(len(t.Y))
	slices.SortStableFunc(order, func(a, b int) int { return int(end.Points[b].Alpha - end.Points[a].Alpha) })
	var curves []figure.Curve
	for _, i := range order[:3] {
		c := lessons.StepCurve(fmt.Sprintf("point %d", i+1), r, func(s stepwise.PerceptronState) float64 { return s.Points[i].Alpha })
		c.Stairs = true
		curves = append(curves, c)
	}
	note, _, _ := strings.Cut(describe(s), " Its count")
	if step == r.Len()-1 {
		if r.Status() == trace.Converged {
			note += " All margins are positive: done. Put point 1 among the others to make it impossible."
		} else {
			note += fmt.Sprintf(" %d passes and no end.", s.Pass)
		}
	}
	tab := countsTable(s)
	tab.After = true
	const asks = "~Drag point 1 and run.~ While the classes can be separated the line comes to rest, otherwise it keeps jumping. What do the counts do?"
	return &lessons.Exhibit{
		Steps: r.Len(), Step: step, Notes: []string{note}, Tables: []lessons.Table{tab},
		Handles: []lessons.Handle{first.Handle("point 1", in)},
		Figures: []lessons.Figure{
			picture("line", "~Drag point 1.~ While the classes can be separated the line comes to rest, otherwise it keeps jumping. The counts are in parentheses.", t, s, 0, true).Instead(picture("line", asks, t, s, 0, false), asks),
			lessons.StepChart("counts", "The three largest counts, step by step.", step, figure.Chart{Y: figure.Axis{Name: "mistakes α"}, Curves: curves}).Afterwards(),
			lessons.StepChart("length", `The length of $\mathbf w$: bounded, even if the algorithm never stops.`, step, figure.Chart{
				Y: figure.Axis{Name: "|w|"}, Curves: []figure.Curve{lessons.StepCurve("|w|", r, func(s stepwise.PerceptronState) float64 { return s.WNorm })},
			}).Afterwards(),
		},
		Numbers: []lessons.Number{
			{Label: "mistakes", Value: strconv.Itoa(s.Mistakes), Help: fmt.Sprintf("in %d looks", step), After: true},
			{Label: `$\mathbf w$`, Value: lessons.Pair(t.Weights(s.U()))},
		},
		Lab: t.Lab("learner", "svm", "kernel", "linear", "C", "1"),
	}
}

// counts examines the counts in the second half of an endless run.
func counts(ctx context.Context) float64 {
	r := train(ctx, spoilt([2]float64{-1.1, -0.2}), linear(), stepwise.PerceptronSettings{})
	middle, end := r.At(r.Len()/2), r.At(r.Len()-1)
	grown, same := 0, true
	for i, p := range end.Points {
		if p.Alpha >= 1.5*middle.Points[i].Alpha && p.Alpha > 10 {
			grown++
		}
		same = same && p.Alpha == end.Points[0].Alpha
	}
	return lessons.First(same, grown > 0 && grown < len(end.Points))
}
