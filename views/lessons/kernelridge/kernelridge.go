// Package kernelridge is the lesson on kernel ridge regression and classification.
package kernelridge

import (
	"context"
	"embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/ridge"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls of the screens.
var (
	degree      = lessons.IntegerControl{Name: "degree", Label: "degree", Symbol: "p", Default: "3", Min: 1, Max: 7, Low: 1, High: 7, Help: "The features are the powers of x up to it."}
	squaresL    = lessons.NumberControl{Name: "lambda", Label: "price of the weights", Symbol: "λ", Default: "0.3", Min: 1e-4, Max: 1e3, Low: 1e-3, High: 1e3, Log: true}
	level       = lessons.NumberControl{Name: "level", Label: "raise all targets by", Default: "0", Min: -5, Max: 5, Low: -5, High: 5}
	dualL       = lessons.NumberControl{Name: "lambda", Label: "price of the weights", Symbol: "λ", Default: "0.5", Min: 1e-3, Max: 1e3, Low: 1e-2, High: 1e2, Log: true}
	lambda      = lessons.NumberControl{Name: "lambda", Label: "price of the weights", Symbol: "λ", Default: "0.1", Min: 1e-6, Max: 1e3, Low: 1e-4, High: 1e2, Log: true}
	gamma       = lessons.NumberControl{Name: "gamma", Label: "kernel width", Symbol: "γ", Default: "2", Min: 1e-2, Max: 1e3, Low: 0.05, High: 100, Log: true, Help: "Large: narrow bumps."}
	pulled      = lessons.NumberControl{Name: "pull", Label: "target of the marked point", Default: "0.6", Min: -3, Max: 3, Low: -3, High: 3, Folded: true}
	hidden      = lessons.IntegerControl{Name: "point", Label: "point to leave out", Default: "5", Min: 1, Max: 14, Low: 1, High: 14}
	pattern     = lessons.ChoiceControl{Name: "pattern", Label: "data", Default: "moons", Options: []param.Option{{Name: "moons", Label: "moons"}, {Name: "circles", Label: "circles"}, {Name: "blobs", Label: "blobs"}}}
	classGamma  = lessons.NumberControl{Name: "gamma", Label: "kernel width", Symbol: "γ", Default: "1", Min: 1e-2, Max: 1e3, Low: 0.05, High: 100, Log: true, Help: "Of both machines."}
	classLambda = lessons.NumberControl{Name: "lambda", Label: "ridge: price of the weights", Symbol: "λ", Default: "0.5", Min: 1e-4, Max: 1e3, Low: 1e-3, High: 1e2, Log: true}
	classC      = lessons.NumberControl{Name: "C", Label: "SVM: price of slack", Symbol: "C", Default: "1", Min: 1e-2, Max: 1e4, Low: 1e-2, High: 1e3, Log: true}
	draw        = lessons.IntegerControl{Name: "draw", Label: "draw", Default: "3", Min: 1, Max: 40, Low: 1, High: 40, Help: "Other points of the same source."}
	far         = lessons.NewPlace("fx", "far points x1", "fy", "far points x2", [2]float64{3.5, 0.8}, figure.Limits{XMin: 2.5, XMax: 12, YMin: -2, YMax: 3})
	farLambda   = lessons.NumberControl{Name: "lambda", Label: "ridge: price of the weights", Symbol: "λ", Default: "0.1", Min: 1e-3, Max: 1e2, Low: 1e-3, High: 1e2, Log: true}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "kernel-ridge",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{Slug: "squares", Demo: lessons.NewDemo(showSquares, degree, squaresL, level), Answers: map[string]lessons.Answer{"level": raised}},
			{
				Slug:    "dual",
				Demo:    lessons.NewDemo(showDual, dualL),
				Answers: map[string]lessons.Answer{"equations": lessons.Is(theory.Monomials(3, 2))},
			},
			{
				Slug:    "curve",
				Demo:    lessons.NewDemo(showCurve, lambda, gamma, pulled),
				Answers: map[string]lessons.Answer{"residual": lessons.Is(0.5 * -0.6), "share": share},
				Sketches: map[string]*lessons.Sketch{
					"narrow": {
						Of: "the curve", Over: "x", X: []float64{-2, -1.8, -1.6, -1.4, -1.1, -0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.35, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2}, Height: 4,
						Truth: func(ctx context.Context) figure.Curve {
							return lessons.CurveOf(-2, 2, 200, fit(ctx, five, rbf("60", "0.001")...).at)
						},
						Draw: lessons.SketchPlane("x", "t", figure.Limits{XMin: -2.1, XMax: 2.1, YMin: -1, YMax: 3}, five.dots()...),
					},
				},
			},
			{
				Slug: "freedom",
				Demo: lessons.NewDemo(showFreedom, gamma),
				Answers: map[string]lessons.Answer{
					"narrow": lessons.Is(floats.Sum(theory.Shrinkage(slices.Repeat([]float64{1}, 20), 1))),
				},
			},
			{
				Slug:    "leave-one-out",
				Demo:    lessons.NewDemo(showLeaveOut, hidden, lambda, gamma),
				Answers: map[string]lessons.Answer{"miss": lessons.Is(0.3 / (1 - 0.4))},
			},
			{
				Slug:    "path",
				Demo:    lessons.NewDemo(showPath, lambda, gamma),
				Answers: map[string]lessons.Answer{"narrow": narrow, "factorisations": lessons.Is(1)},
			},
			{
				Slug:    "classifier",
				Demo:    lessons.NewDemo(showClassifier, pattern, classGamma, classLambda, classC, draw),
				Answers: map[string]lessons.Answer{"beyond": beyond},
			},
			{
				Slug:    "tube",
				Demo:    lessons.NewDemo(showTube, tube, tubeMiss),
				Answers: map[string]lessons.Answer{"outside": lessons.Is(insensitive(20-12, 0.5))},
			},
			{
				Slug:    "too-right",
				Demo:    lessons.NewDemo(showTooRight, far, farLambda),
				Answers: map[string]lessons.Answer{"loss-at-six": lessons.Is(square(6)), "moves": moves},
			},
		},
	})
}

// line holds points on a line with targets.
type line struct{ X, T []float64 }

// five holds five points far apart.
var five = line{X: []float64{-1.6, -0.9, -0.1, 0.8, 1.6}, T: []float64{2.2, 1.5, 2, 2.5, 1.7}}

// dots draws the points of a line.
func (l line) dots() []figure.Mark {
	return lists.Make(len(l.X), func(i int) figure.Mark { return figure.Dot{At: [2]float64{l.X[i], l.T[i]}, Class: -1} })
}

// deviation is the standard deviation of the noise in the targets.
const deviation = 0.25

// truth is the function around which the targets scatter.
func truth(x float64) float64 { return math.Sin(2*x) + 0.3*x }

// drawn returns n points from -2 to 2, evenly spaced with some jitter, with noisy targets of
// truth, rounded to two decimals.
func drawn(n int, seed uint64) line {
	rng := rand.New(rand.NewPCG(seed, 15))
	l := line{}
	for i := range n {
		x := -2 + 4*(float64(i)+0.2+0.6*rng.Float64())/float64(n)
		l.X = append(l.X, hundredths(x))
		l.T = append(l.T, hundredths(truth(x)+deviation*rng.NormFloat64()))
	}
	return l
}

func hundredths(v float64) float64 { return math.Round(100*v) / 100 }

// without returns the line without point i.
func (l line) without(i int) line {
	return line{slices.Concat(l.X[:i], l.X[i+1:]), slices.Concat(l.T[:i], l.T[i+1:])}
}

// column returns the points as a matrix with one column.
func (l line) column() *mat.Dense { return mat.NewDense(len(l.X), 1, slices.Clone(l.X)) }

// csv returns the points as lab input.
func (l line) csv() string {
	var b strings.Builder
	for i, x := range l.X {
		fmt.Fprintf(&b, "%g,%g\n", x, l.T[i])
	}
	return b.String()
}

func settings(pairs ...string) []string {
	return append([]string{"learner", "ridge", "target", "value"}, pairs...)
}

// rbf returns the settings with the Gaussian kernel.
func rbf(gamma, lambda string) []string {
	return settings("kernel", "rbf", "gamma", gamma, "lambda", lambda)
}

// curve is a regression on a line.
type curve struct {
	*lessons.Fitted
	line
}

func fit(ctx context.Context, l line, pairs ...string) *curve {
	rows, labels := make([][]float64, len(l.X)), make([]string, len(l.X))
	for i, x := range l.X {
		rows[i], labels[i] = []float64{x}, lessons.Setting(l.T[i])
	}
	return &curve{lessons.Fit(ctx, lessons.Must(dataset.FromRows([]string{"x"}, rows, labels)), pairs...), l}
}

// figure returns the picture of the curve with its residuals. For zero limits it uses those of
// the scene.
func (c *curve) figure(name, caption string, limits figure.Limits) lessons.Figure {
	return lessons.Figure{Name: name, Caption: caption, Draw: func(l lessons.Look) (*figure.Picture, error) {
		s := figure.CurveScene(c.Model, c.Points(), "x", "t")
		s.Format = l.Format(1)
		if limits != (figure.Limits{}) {
			s.Limits = limits
		}
		return figure.ValueCurve(s)
	}}
}

// frame holds the limits of the plots of a line.
var frame = figure.Limits{XMin: -2.1, XMax: 2.1, YMin: -2.4, YMax: 2.4}

// both draws the fit to all points and the fit without point i.
func both(all, less *curve, i int) lessons.Figure {
	way := func(c *curve, pen figure.Pen, name string) figure.Path {
		p := figure.Path{Plain: true, Pen: pen, Name: name}
		for x := frame.XMin; x <= frame.XMax; x += 0.02 {
			p.Points = append(p.Points, [2]float64{x, c.at(x)})
		}
		return p
	}
	at := [2]float64{all.X[i], all.T[i]}
	marks := []figure.Mark{
		figure.Segment{From: at, To: [2]float64{at[0], less.at(at[0])}, Pen: figure.Pen{Color: figure.Magenta}, Name: "miss when left out"},
		way(all, figure.Pen{}, "fit to all"),
		way(less, figure.Pen{Color: figure.Magenta, Dash: figure.Dashed}, "fit to the others"),
	}
	for k, x := range all.X {
		marks = append(marks, figure.Dot{At: [2]float64{x, all.T[k]}, Class: -1, Hollow: k == i, Ring: k == i})
	}
	return lessons.Figure{Name: "both", Caption: "The fit to all points, and the one without the ringed point.", Draw: lessons.Draws(1, figure.Plane{
		X: "x", Y: "t", Limits: frame, Stretched: true, Marks: marks,
	})}
}

// at returns f at x.
func (c *curve) at(x float64) float64 { return c.Model.Decision([]float64{x}) }

// lambdas returns values of lambda from 10⁻⁴ to 100, four per decade.
func lambdas() []float64 { return lessons.Logspace(1e-4, 100, 25) }

func squared(v []float64) float64 { return floats.Dot(v, v) }

func showSquares(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	l := lifted(level.Of(in))
	p := degree.Of(in)
	c := fit(ctx, l, powers(p, squaresL.Text(in))...)
	features := lessons.Must(theory.Powers(p))
	phi := lessons.Must(features.Rows(l.column()))
	price := squaresL.Of(in)
	w := lessons.Must(theory.RidgeWeights(phi, l.T, price))
	parts := lessons.CurvesOf(lessons.Logspace(1e-3, 1e3, 49), func(v float64) []float64 {
		at := lessons.Must(theory.RidgeWeights(phi, l.T, v))
		return []float64{squared(residuals(phi, at, l.T)) / 2, squared(at) / 2}
	}, "Σ (t − f)²/2", "|w|²/2")
	weights := lessons.Table{Caption: "Every feature and its weight", Head: []string{"feature", "weight"}}
	for k, name := range features.Coordinates {
		weights.Rows = append(weights.Rows, []string{name, lessons.Short(w[k])})
	}
	r := residuals(phi, w, l.T)
	raised := level.Of(in) != 0 // the question's setting: the curve is hidden until the answer
	weights.After = raised
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			c.figure("fit", `The fit, and the residual of every point. ~Move $\lambda$ from end to end; then raise the targets.~`, figure.Limits{}),
			{Name: "parts", Wide: true, Caption: `The two wishes against $\lambda$: short weights, small misses.`, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "λ", Log: true}, Y: figure.Axis{Log: true}, Curves: parts, Here: &price,
			})},
		},
		Numbers: []lessons.Number{
			{Label: `$\tfrac12\sum_i(t_i - f(x_i))^2$`, Value: lessons.Short(squared(r) / 2), After: raised},
			{Label: `$\tfrac\lambda2\lVert\mathbf w\rVert^2$`, Value: lessons.Short(price * squared(w) / 2)},
			{Label: `$J(\mathbf w)$`, Value: lessons.Short((squared(r) + price*squared(w)) / 2), Help: "their sum, which is as small as can be", After: raised},
			{Label: "mean of the targets", Value: lessons.Short(mean(l.T))},
			{Label: "mean of f at the points", Value: lessons.Short(mean(l.T) - mean(r)), Help: "would be the same with a bias that costs nothing", After: true},
		},
		Tables: []lessons.Table{weights},
		Lab:    c.lab(powers(p, squaresL.Text(in))...),
	}
	if raised {
		points := lessons.Figure{Draw: lessons.Draws(1, figure.Plane{X: "x", Y: "t", Stretched: true, Marks: c.dots()})}
		e.Figures[0] = e.Figures[0].Instead(points, "All targets are raised. Where does the curve go?")
	}
	return e
}

// lifted returns the points of the first screen with all targets raised.
func lifted(by float64) line {
	l := drawn(14, 1)
	for i := range l.T {
		l.T[i] = hundredths(l.T[i] + by)
	}
	return l
}

// powers returns the settings of a polynomial of a degree.
func powers(degree int, lambda string) []string {
	return settings("kernel", "poly", "gamma", "1", "coef0", "1", "degree", strconv.Itoa(degree), "lambda", lambda)
}

// residuals returns t - phi w.
func residuals(phi *mat.Dense, w, t []float64) []float64 {
	r := mat.NewVecDense(len(t), nil)
	r.MulVec(phi, mat.NewVecDense(len(w), w))
	r.SubVec(mat.NewVecDense(len(t), t), r)
	return r.RawVector().Data
}

func mean(v []float64) float64 { return floats.Sum(v) / float64(len(v)) }

// raised computes the effect on the first screen's fit of raising the targets by 5.
func raised(ctx context.Context) float64 {
	var means [2]float64
	least := math.Inf(1)
	var before []float64
	for k, by := range []float64{0, 5} {
		c := fit(ctx, lifted(by), powers(3, "0.3")...)
		f := make([]float64, len(c.X))
		for i, x := range c.X {
			f[i] = c.at(x)
			if k == 1 {
				least = min(least, f[i]-before[i])
			}
		}
		before, means[k] = f, mean(f)
	}
	rise := means[1] - means[0]
	return lessons.First(least > 5-1e-6, rise > 0.1 && rise < 5-1e-3)
}

// dualLines derives the dual.
var dualLines = lessons.Lines(files, "dual")

// square returns the squared loss at the margin m = y f, with the target y.
func square(m float64) float64 { return (1 - m) * (1 - m) }

// few returns the points of the screen about the dual.
func few() line { return drawn(8, 3) }

func showDual(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	l, price := few(), dualL.Of(in)
	features := lessons.Must(theory.Powers(2))
	phi := lessons.Must(features.Rows(l.column()))
	gram := kernel.NewGram(features.Kernel, l.column())
	dual := lessons.Must(ridge.Train(ctx, gram, l.T, ridge.Settings{Lambda: price}))
	w := lessons.Must(theory.RidgeWeights(phi, l.T, price))
	sum := lessons.Must(features.Weights(l.column(), dual.A))
	k := theory.Gram(gram)
	e := (&lessons.Exhibit{Lab: l.lab(powers(2, dualL.Text(in))...)}).Derive(in, dualLines())
	e.Figures = []lessons.Figure{twoReadings(e.Step, len(l.X), w), {Name: "gram", Caption: `$K$ for eight points from left to right and $k(x, z) = (1+xz)^2$: all that the dual sees of them.`, Draw: lessons.Draws(0, figure.Matrix{
		X: "point j", Y: "point i", Name: "K", Values: k,
	})}}
	e.Numbers = []lessons.Number{{Label: "points $M$ and features $D$", Value: fmt.Sprintf("%d and %d", len(l.X), len(w)), Help: "$1$, $x$ and $x^2$, with factors"}}
	if e.Step < 4 {
		return e
	}
	rank := rankOf(k)
	e.Numbers = []lessons.Number{
		{Label: "rank of $K$", Value: fmt.Sprintf("%d of %d", rank, len(l.X)), Help: `yet $K + \lambda I$ has an inverse`},
		{Label: `$\mathbf w$ by the three equations of line 7`, Value: lessons.Vector(w...)},
		{Label: `$\Phi^\top\mathbf a$ by the eight of line 5`, Value: lessons.Vector(sum...)},
		{Label: "largest difference", Value: views.Short(floats.Distance(w, sum, math.Inf(1))), Help: "rounding"},
	}
	t := lessons.Table{Caption: "The points and their coefficients", Head: []string{"point", "$x_i$", "$t_i$", "$f(x_i)$", "$a_i$", `$\lambda a_i$`, "$t_i - f(x_i)$"}}
	for i, a := range dual.A {
		values := []float64{l.X[i], l.T[i], dual.F[i], a, price * a, l.T[i] - dual.F[i]}
		t.Rows = append(t.Rows, append([]string{strconv.Itoa(i + 1)}, lists.Map(values, lessons.Short)...))
	}
	e.Tables = []lessons.Table{t}
	return e
}

// twoReadings draws the equation of line 2 with an arrow to each system derived from it, as far
// as the derivation has got, and the resulting common weights.
func twoReadings(step, points int, w []float64) lessons.Figure {
	box := func(x, y, half float64) figure.Mark {
		return figure.Path{Plain: true, Points: [][2]float64{{x - half, y - 0.45}, {x + half, y - 0.45}, {x + half, y + 0.45}, {x - half, y + 0.45}, {x - half, y - 0.45}}}
	}
	text := func(x, y float64, words string) figure.Mark { return figure.Text{At: [2]float64{x, y}, Text: words} }
	marks := []figure.Mark{text(5, 6.4, lists.Either(step == 0, "minimise J(w)", "the gradient is 0"))}
	if step >= 1 {
		marks = append(marks, box(5, 5.5, 2.6), text(5, 5.5, "λ w = Φᵀ(t − Φ w)"))
	}
	// read adds a system once its line is shown.
	read := func(x float64, line int, by, system, size string) {
		if step < line {
			return
		}
		marks = append(marks, figure.Arrow{From: [2]float64{5 + 0.3*(x-5), 4.95}, To: [2]float64{x, 3.35}, Pen: figure.Pen{Color: figure.Magenta}},
			text(x+0.25*(x-5), 4.4, by), box(x, 2.75, 2.3), text(x, 2.75, system), text(x, 1.9, size))
	}
	read(7.6, 3, "w = Φᵀa", "(K + λI) a = t", fmt.Sprintf("M = %d equations", points))
	read(2.4, 6, "for w", "(ΦᵀΦ + λI) w = Φᵀt", fmt.Sprintf("D = %d equations", len(w)))
	if step >= 6 {
		marks = append(marks, text(5, 0.8, "either way w = "+lessons.Vector(w...)))
	}
	return lessons.Figure{Name: "readings", Caption: "One equation, two readings: by the features at the left, by the points at the right.", Draw: lessons.Draws(0, figure.Plane{
		Bald: true, Stretched: true, Limits: figure.Limits{XMin: -0.2, XMax: 10.2, YMin: 0, YMax: 6.8}, Marks: marks,
	})}
}

// rankOf counts the eigenvalues of a Gram matrix that are non-zero beyond rounding.
func rankOf(k mat.Symmetric) int {
	s := lessons.Must(theory.Mercer(k))
	return lists.Count(s.Values, func(v float64) bool { return v > s.Zero() })
}

// marked is the index of the draggable point on the curve's screen.
const marked = 10

// withPulled returns the points of the curve's screen with target t for the marked one.
func withPulled(t float64) line {
	l := drawn(16, 2)
	l.T[marked] = t
	return l
}

func showCurve(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	l := withPulled(pulled.Of(in))
	c := fit(ctx, l, rbf(gamma.Text(in), lambda.Text(in))...)
	here, ok := lessons.Must(ml.Path(ctx, c.Data, c.Spec)).At(lambda.Of(in))
	if !ok {
		lessons.Check(param.Refuse("raise lambda", "the kernel matrix is singular to working precision at lambda %s", lambda.Text(in)))
	}
	a := c.Coefficients()
	names := make([]string, len(a))
	names[marked] = "marked"
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			c.figure("curve", `Sixteen points and the curve fitted to them. ~Drag the marked one up or down.~`, figure.Limits{XMin: -2.1, XMax: 2.1, YMin: -3.2, YMax: 3.2}),
			{Name: "coefficients", Wide: true, Caption: `The coefficients $a_i$ of the points from left to right.`, Draw: lessons.Draws(1, figure.Bars{X: "point", Y: "a", Values: a, Names: names})},
		},
		Handles: []lessons.Handle{{Label: "the marked point", X: l.X[marked], Y: l.T[marked], YControl: pulled}},
		Numbers: []lessons.Number{
			{Label: "residual of the marked point", Value: lessons.Short(l.T[marked] - c.at(l.X[marked])), After: pulled.Text(in) != pulled.Default},
			{Label: `$\lambda a$ of the marked point`, Value: lessons.Short(lambda.Of(in) * a[marked]), Help: "the same number: each coefficient is its point's residual divided by $\\lambda$", After: true},
			{Label: "mean square of the residuals", Value: lessons.Short(here.MSE)},
			{Label: "the same, each point left out", Value: lessons.Short(here.LOOError), Help: "two screens further on"},
		},
		Lab: c.lab(rbf(gamma.Text(in), lambda.Text(in))...),
	}
}

// share compares the rises of the curve at the marked point.
func share(ctx context.Context) float64 {
	var f [3]float64
	for k := range f {
		c := fit(ctx, withPulled(0.6+float64(k)), rbf("2", "0.1")...)
		f[k] = c.at(c.X[marked])
	}
	first, second := f[1]-f[0], f[2]-f[1]
	less := first <= 1-1e-6
	return lessons.First(less && math.Abs(first-second) < 1e-6, less)
}

func showFreedom(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	l := drawn(16, 2)
	all := lessons.Logspace(1e3, 1e-4, 15)
	step := min(in.Step, len(all)-1)
	price := all[step]
	c := fit(ctx, l, rbf(gamma.Text(in), lessons.Setting(price))...)
	s := lessons.Must(theory.Mercer(theory.Gram(kernel.NewGram(kernel.RBF(gamma.Of(in)), l.column()))))
	shares := theory.Shrinkage(s.Values, price)
	freedom := func(prices []float64) (c figure.Curve) {
		c.Marks = true
		for _, v := range slices.Backward(prices) {
			c.X, c.Y = append(c.X, v), append(c.Y, floats.Sum(theory.Shrinkage(s.Values, v)))
		}
		return c
	}
	half := lists.Count(shares, func(v float64) bool { return v > 0.5 })
	m := len(l.X)
	return &lessons.Exhibit{
		Steps: len(all), Step: step,
		Figures: []lessons.Figure{
			c.figure("fit", `The fit at this step's $\lambda$.`, frame),
			{Name: "shares", Wide: true, Caption: `What is left of each direction of the targets, $m_k/(m_k+\lambda)$, the largest eigenvalue first.`, Grows: true, Draw: func(lk lessons.Look) (*figure.Picture, error) {
				values, name := shares, "share left"
				if lk.Paper { // some are full, others nearly empty
					values, name = theory.Shrinkage(s.Values, all[len(all)/2]), "share left, λ = "+views.Short(all[len(all)/2])
				}
				return figure.Bars{Format: lk.Format(0), X: "direction", Y: name, Values: values, Rules: []figure.Rule{{Name: "all of it", At: 1}}}.Picture()
			}},
			{Name: "freedom", Wide: true, Caption: "Their sum, the effective degrees of freedom~, so far~.", Grows: true, Draw: func(lk lessons.Look) (*figure.Picture, error) {
				soFar := freedom(all[:step+1])
				if lk.Paper {
					soFar = freedom(all)
				}
				return figure.Chart{
					Format: lk.Format(0), X: figure.Axis{Name: "λ", Log: true, Min: all[len(all)-1], Max: all[0]}, Y: figure.Axis{Name: "degrees of freedom", Min: 0, Max: float64(m)},
					Curves: []figure.Curve{soFar}, Here: &price,
				}.Picture()
			}},
		},
		Numbers: []lessons.Number{
			{Label: `$\lambda$`, Value: views.Short(price)},
			{Label: "effective degrees of freedom", Value: lessons.Short(floats.Sum(shares)), Help: fmt.Sprintf("of %d points", m)},
			{Label: "directions that keep more than half", Value: strconv.Itoa(half), Help: `those with $m_k > \lambda$`},
		},
		Lab: c.lab(rbf(gamma.Text(in), lessons.Setting(price))...),
	}
}

// lab links to the lab with the points and these settings.
func (l line) lab(pairs ...string) string {
	return lessons.LabQuery("drawing", append(pairs, "standardize", "false", "points", l.csv())...)
}

// leaveOutLines derives the leave-one-out error.
var leaveOutLines = lessons.Lines(files, "leave-out")

func showLeaveOut(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	l, i := drawn(14, 1), hidden.Of(in)-1
	pairs := rbf(gamma.Text(in), lambda.Text(in))
	c := fit(ctx, l, pairs...)
	shares := influences(ctx, l, gamma.Of(in), lambda.Of(in))
	refits := refitted(ctx, l, pairs...)
	e := (&lessons.Exhibit{Figures: []lessons.Figure{both(c, refits[i], i)}, Lab: c.lab(pairs...)}).Derive(in, leaveOutLines())
	e.Numbers = []lessons.Number{{Label: "residual of the ringed point", Value: lessons.Short(l.T[i] - c.at(l.X[i])), Help: "in the fit to all points"}}
	if e.Step < 5 {
		return e
	}
	t := lessons.Table{Caption: "The miss at every point when it is left out, by the formula and by fitting again", Head: []string{"point", "residual", "$S_{ii}$", "formula", "fitted again"}, Marked: []int{i}}
	mse, loo, apart := 0.0, 0.0, 0.0
	for k, r := range refits {
		residual, really := l.T[k]-c.at(l.X[k]), l.T[k]-r.at(l.X[k])
		miss := residual / (1 - shares[k]) // line 6
		mse, loo, apart = mse+residual*residual/float64(len(refits)), loo+miss*miss/float64(len(refits)), max(apart, math.Abs(miss-really))
		t.Rows = append(t.Rows, []string{strconv.Itoa(k + 1), lessons.Short(residual), lessons.Short(shares[k]), lessons.Short(miss), lessons.Short(really)})
	}
	e.Tables = []lessons.Table{t}
	e.Numbers = []lessons.Number{
		{Label: "mean square of the residuals", Value: lessons.Short(mse)},
		{Label: "of the left-out misses", Value: lessons.Short(loo)},
		{Label: "largest difference between the two", Value: views.Short(apart), Help: "rounding"},
	}
	return e
}

// influences returns the S_ii: the value at point i of a fit to target 1 there and 0 elsewhere.
func influences(ctx context.Context, l line, gamma, lambda float64) []float64 {
	k := kernel.NewGram(kernel.RBF(gamma), l.column())
	s := make([]float64, len(l.X))
	for i := range s {
		target := make([]float64, len(l.X))
		target[i] = 1
		s[i] = lessons.Must(ridge.Train(ctx, k, target, ridge.Settings{Lambda: lambda})).F[i]
	}
	return s
}

// refitted returns the actual fits without each point.
func refitted(ctx context.Context, l line, pairs ...string) []*curve {
	return lists.Make(len(l.X), func(i int) *curve { return fit(ctx, l.without(i), pairs...) })
}

// errorsAt holds the errors at one lambda.
type errorsAt struct{ training, leftOut, fresh float64 }

// path returns the errors of l at several lambda: the first two from one factorisation, the third
// on new points from a separate fit each.
func path(ctx context.Context, l line, gamma string, all []float64) []errorsAt {
	new := drawn(500, lessons.FreshSeed) // points from the same distribution
	var follow *ridge.Path
	rows := make([]errorsAt, len(all))
	for k, v := range all {
		c := fit(ctx, l, rbf(gamma, lessons.Setting(v))...)
		if follow == nil {
			follow = lessons.Must(ml.Path(ctx, c.Data, c.Spec))
		}
		at, ok := follow.At(v)
		if !ok {
			lessons.Check(param.Refuse("raise lambda or gamma", "the kernel matrix is singular to working precision at lambda %g", v))
		}
		miss := floats.Distance(c.Model.Decisions(new.column()), new.T, 2)
		rows[k] = errorsAt{at.MSE, at.LOOError, miss * miss / float64(len(new.T))}
	}
	return rows
}

// lowest returns the lambda with the smallest error, the smallest lambda in a tie.
func lowest(all []float64, rows []errorsAt, value func(errorsAt) float64) (lambda float64, row errorsAt) {
	k := floats.MinIdx(lists.Map(rows, value))
	return all[k], rows[k]
}

// narrow computes both errors of a narrow kernel at the smallest lambda.
func narrow(ctx context.Context) float64 {
	rows := path(ctx, many(), "100", lambdas()[:1])
	const small = deviation * deviation / 4
	at := rows[0]
	return lessons.First(at.training < small && at.leftOut < small, at.training < small && at.leftOut > 4*deviation*deviation)
}

// many returns the points of the path.
func many() line { return drawn(30, 4) }

func showPath(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	l, all, price := many(), lambdas(), lambda.Of(in)
	rows := path(ctx, l, gamma.Text(in), all)
	pairs := rbf(gamma.Text(in), lambda.Text(in))
	c := fit(ctx, l, pairs...)
	training := func(e errorsAt) float64 { return e.training }
	left := func(e errorsAt) float64 { return e.leftOut }
	unseen := func(e errorsAt) float64 { return e.fresh }
	chosen, there := lowest(all, rows, left)
	best, least := lowest(all, rows, unseen)
	curves := []figure.Curve{{Name: "training", Y: lists.Map(rows, training)}, {Name: "each left out", Y: lists.Map(rows, left)}, {Name: "500 fresh points", Y: lists.Map(rows, unseen)}}
	bumps := gamma.Of(in) > 10 // a narrow kernel is the question's setting: leave-one-out errors are hidden until the answer
	top := 0.0
	for i := range curves {
		curves[i].X, top = all, max(top, floats.Max(curves[i].Y))
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "errors", Caption: `Mean squared misses against $\lambda$. The rule marks the $\lambda$ that leaving out chooses, the solid vertical line yours.`, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "λ", Log: true, Min: all[0], Max: all[len(all)-1]}, Y: figure.Axis{Name: "mean squared miss", Min: 0, Max: 1.05 * top},
				Curves: curves, Hidden: 2, Rules: []figure.Rule{{Name: "chosen", At: chosen, Upright: true, Hidden: true}}, Here: &price,
			})},
			c.figure("fit", `The fit at your $\lambda$.`, frame),
		},
		Numbers: []lessons.Number{
			{Label: `$\lambda$ that leaving out chooses`, Value: views.Short(chosen), Help: fmt.Sprintf("of the %d values of the picture", len(all)), After: bumps},
			{Label: "its left-out error", Value: lessons.Short(there.leftOut), Help: "chosen for being the smallest", After: bumps},
			{Label: "its error against fresh points", Value: lessons.Short(there.fresh), Help: fmt.Sprintf(`the noise alone makes $%s^2 = %s$`, lessons.TeX(deviation), lessons.TeX(deviation*deviation)), After: bumps},
			{Label: `the smallest error against fresh points`, Value: lessons.Short(least.fresh), Help: fmt.Sprintf(`at $\lambda = %s$, which nobody knows in practice`, lessons.TeX(best)), After: bumps},
		},
		Lab: c.lab(pairs...),
	}
	if bumps {
		e.Figures[0].Asks = "The misses in training against $\\lambda$, with narrow bumps. Where is the error with each point left out?"
	}
	return e
}

// duel holds kernel ridge and the SVM on the same data.
type duel struct {
	toy        lessons.Toy
	ridge, svm *lessons.Fitted
}

// compare trains both on a random pattern.
func compare(ctx context.Context, pattern string, draw int, gamma, lambda, c string) *duel {
	t := lessons.Drawn(pattern, 60, noises[pattern], uint64(draw))
	return &duel{
		toy:   t,
		ridge: lessons.Fit(ctx, t.Data(), "learner", "ridge", "gamma", gamma, "lambda", lambda),
		svm:   lessons.Fit(ctx, t.Data(), "gamma", gamma, "C", c),
	}
}

// noises lists the noise levels of the patterns.
var noises = map[string]float64{"moons": 0.25, "circles": 0.15, "blobs": 1.2}

func showClassifier(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	of := pattern.Of(in)
	d := compare(ctx, of, draw.Of(in), classGamma.Text(in), classLambda.Text(in), classC.Text(in))
	unseen := lessons.Drawn(of, 1000, noises[of], lessons.FreshSeed).Data()
	ridgeError := lessons.ErrorRate(d.ridge.Model, unseen)
	svmError := lessons.ErrorRate(d.svm.Model, unseen)
	sizes := func(name string, m *ml.Model) figure.Curve {
		c := figure.Curve{Name: name, Y: make([]float64, len(d.toy.Y))}
		for k, u := range m.Machines[0].Coef {
			c.Y[k] = math.Abs(u)
		}
		slices.SortFunc(c.Y, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		floats.Scale(1/c.Y[0], c.Y)
		for k := range c.Y {
			c.X = append(c.X, float64(k+1))
		}
		return c
	}
	wide := func(s *figure.Scene) { s.LegendRows = 3 }
	r, s := d.ridge.Report, d.svm.Report
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			d.ridge.Boundary("ridge", `Kernel ridge on the targets $\pm1$. Dashed: $f = \pm1$, where it wants all points to be.`, wide),
			d.svm.Boundary("svm", "The SVM on the same points, with its support vectors ringed.", wide).Afterwards(),
			{Name: "sizes", Wide: true, After: true, Caption: "The sizes of the coefficients, largest first, as shares of the largest.", Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "coefficient"}, Y: figure.Axis{Name: "size", Min: -0.02, Max: 1.02},
				Curves: []figure.Curve{sizes("kernel ridge", d.ridge.Model), sizes("SVM", d.svm.Model)},
			})},
		},
		Numbers: []lessons.Number{
			{Label: "points that kernel ridge needs", Value: fmt.Sprintf("%d of %d", r.SupportVectors, r.N)},
			{Label: "points that the SVM needs", Value: fmt.Sprintf("%d of %d", s.SupportVectors, s.N)},
			{Label: "kernel ridge: wrong on 1000 fresh points", Value: lessons.Percent(ridgeError), Help: fmt.Sprintf("on the training points %s; each left out %s, in closed form", lessons.Percent(1-*r.TrainAccuracy), lessons.Percent(1-*r.LOOAccuracy))},
			{Label: "SVM: wrong on 1000 fresh points", Value: lessons.Percent(svmError), Help: "on the training points " + lessons.Percent(1-*s.TrainAccuracy)},
		},
		Lab: d.toy.Lab("learner", "ridge", "gamma", classGamma.Text(in), "lambda", classLambda.Text(in)),
	}
}

// beyond counts the training points with y f > 1.
func beyond(ctx context.Context) float64 {
	d := compare(ctx, "moons", 3, "1", "0.5", "1")
	count := func(m *ml.Model) int {
		f := m.Decisions(d.svm.Data.X)
		return len(lists.Where(len(f), func(i int) bool { return d.toy.Y[i]*f[i] > 1 }))
	}
	ridge, svm := count(d.ridge.Model), count(d.svm.Model)
	return lessons.First(ridge > svm+5, svm > ridge+5)
}

// near holds the points of the last screen without the far ones.
var near = lessons.StepToys["apart"]

// afar adds five points of class +1 around a centre.
func afar(at [2]float64) lessons.Toy {
	t := lessons.Toy{XY: slices.Clone(near.XY), Y: slices.Clone(near.Y)}
	for _, d := range [][2]float64{{0, 0}, {0.5, 0.5}, {0.5, -0.5}, {-0.3, 0.6}, {-0.3, -0.6}} {
		t.XY, t.Y = append(t.XY, [2]float64{hundredths(at[0] + d[0]), hundredths(at[1] + d[1])}), append(t.Y, 1)
	}
	return t
}

// affine returns the line of kernel ridge with the kernel 1 + x·z.
func affine(t lessons.Toy, lambda float64) (w [2]float64, b float64) {
	phi := mat.NewDense(len(t.Y), 3, nil)
	for i, p := range t.XY {
		phi.SetRow(i, []float64{1, p[0], p[1]})
	}
	v := lessons.Must(theory.RidgeWeights(phi, t.Y, lambda))
	return [2]float64{v[1], v[2]}, v[0]
}

func showTooRight(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	at := far.Of(in)
	t := afar(at)
	w, b := affine(t, farLambda.Of(in))
	s := lessons.TrainLinear(ctx, t, "C", "1")
	f := figure.Linear(w, -b)
	margin := f(at[0], at[1])
	away := at[0] > 4 // the question's setting: the lines are hidden until the answer
	charged := func(m float64) []float64 { return []float64{square(m), theory.Hinge(m)} }
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "lines", Caption: `~Drag the five far points of the class $+1$ to the right.~ Thick: the line of ridge; dashed: the SVM, its support vectors ringed.`, Draw: func(l lessons.Look) (*figure.Picture, error) {
				plane := figure.Plane{Format: l.Format(2), X: "x₁", Y: "x₂", Stretched: true, Limits: figure.Limits{XMin: -1.6, XMax: 13, YMin: -3, YMax: 4}, Marks: t.Dots(nil)}
				if !l.Asking {
					plane.Marks = slices.Concat(lessons.Sides(w, b), []figure.Mark{figure.Line{A: s.W, C: -s.B, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "SVM"}}, t.Dots(s.Supports))
				}
				return plane.Picture()
			}},
			{Name: "losses", Wide: true, Caption: `What either machine charges at $y f$. The vertical line: the middle of the far points, at the line of ridge.`, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "y f(x)", Min: -2, Max: 4}, Y: figure.Axis{Name: "loss", Min: 0, Max: 9}, Here: &margin,
				Curves: lessons.CurvesOf(lessons.Linspace(-2, 4, 121), charged, "square", "hinge"),
			})},
		},
		Handles: []lessons.Handle{far.Handle("the far points", in)},
		Numbers: []lessons.Number{
			{Label: "ridge: errors", Value: strconv.Itoa(t.Errors(f)), Help: fmt.Sprintf("of %d points", len(t.Y)), After: away},
			{Label: "SVM: errors", Value: strconv.Itoa(t.Errors(figure.Linear(s.W, -s.B))), After: away},
			{Label: "ridge: $f = 0$ on the axis $x_2 = 0$ at", Value: "x₁ = " + lessons.Short(-b/w[0]), After: away},
			{Label: "SVM: the same", Value: "x₁ = " + lessons.Short(-s.B/s.W[0]), After: away},
			{Label: "ridge: $f$ at the middle of the far points", Value: lessons.Short(margin), Help: "the square charges " + lessons.Short(square(margin)), After: away},
		},
		Lab: t.Lab("learner", "ridge", "kernel", "poly", "degree", "1", "gamma", "1", "coef0", "1", "lambda", farLambda.Text(in)),
	}
	switch n := t.Errors(f); {
	case n == 0:
	case -b/w[0] < -s.B/s.W[0]: // the line is farther from the far points than that of the SVM
		e.Notes = []string{fmt.Sprintf("Weights are so dear that $f$ stays small everywhere, and ridge gets %s wrong.", lessons.Count(n, "point", "points"))}
	default:
		e.Notes = []string{fmt.Sprintf("Ridge has moved its line towards the far points, to make their $f$ smaller, and gets %s wrong. The SVM does not stir: the far points are no support vectors.", lessons.Count(n, "point", "points"))}
	}
	if away {
		e.Figures[0].Asks = "The far points are farther. Which of the two lines moves, and where to?"
		e.Notes, e.After = nil, e.Notes
	}
	return e
}

// moves compares both machines with the far points near and far.
func moves(ctx context.Context) float64 {
	var crossings, lines [2]float64
	var wrong [2]int
	for k, x := range []float64{3.5, 12} {
		t := afar([2]float64{x, 0.8})
		w, b := affine(t, 0.1)
		s := lessons.TrainLinear(ctx, t, "C", "1")
		crossings[k], lines[k], wrong[k] = -b/w[0], -s.B/s.W[0], t.Errors(figure.Linear(w, -b))
	}
	stays := math.Abs(lines[1]-lines[0]) < 1e-3
	return lessons.First(stays && math.Abs(crossings[1]-crossings[0]) < 1e-3, stays && crossings[1] > crossings[0] && wrong[1] > wrong[0])
}
