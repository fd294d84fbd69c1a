// Package mercer is the lesson on kernels and Mercer's condition.
package mercer

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

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls of the screens.
var (
	gramKernel = newKernelControl("rbf", "1")
	point      = lessons.PlaceControl{
		X: lessons.NumberControl{Name: "px", Label: "point 1, x₁", Default: lessons.Setting(start[0]), Min: -2.8, Max: 2.8, Low: -2.6, High: 2.6, Folded: true},
		Y: lessons.NumberControl{Name: "py", Label: "point 1, x₂", Default: lessons.Setting(start[1]), Min: -1.4, Max: 1.4, Low: -1.2, High: 1.2, Folded: true},
	}

	testKernel = newKernelControl("sigmoid", "0.5",
		lessons.NumberControl{Name: "coef0", Label: "r", Symbol: "r", Default: "1", Min: -3, Max: 3, Low: -3, High: 3, Help: "Polynomial and sigmoid."},
		lessons.IntegerControl{Name: "degree", Label: "p (poly.)", Symbol: "p", Default: "3", Min: 1, Max: 8, Low: 1, High: 8, Help: "Polynomial."})
	testPoints = lessons.IntegerControl{Name: "n", Label: "points", Default: "2", Min: 1, Max: 40, Low: 1, High: 40}
	logHeights = lessons.SwitchControl{Name: "log", Label: "logarithmic heights", Default: "false", Help: "Shows small eigenvalues; those below zero are hatched."}

	sigmoidGamma = lessons.NumberControl{Name: "gamma", Label: "γ", Symbol: "γ", Default: "3", Min: 0.01, Max: 20, Low: 0.01, High: 20, Log: true}
	sigmoidCoef0 = lessons.NumberControl{Name: "coef0", Label: "r", Symbol: "r", Default: "0", Min: -3, Max: 3, Low: -3, High: 3}
	bound        = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "10", Min: 0.1, Max: 100, Low: 0.1, High: 100, Log: true}
	positive     = lessons.PlaceControl{
		X: lessons.NumberControl{Name: "ax", Label: "x₁ of the point +1", Default: "0.2", Min: -2.4, Max: 2.4, Low: -2, High: 2, Folded: true},
		Y: lessons.NumberControl{Name: "ay", Label: "x₂ of the point +1", Default: "0.3", Min: -2.4, Max: 2.4, Low: -2, High: 2, Folded: true},
	}
	negative = lessons.PlaceControl{
		X: lessons.NumberControl{Name: "bx", Label: "x₁ of the point −1", Default: "1.4", Min: -2.4, Max: 2.4, Low: -2, High: 2, Folded: true},
		Y: lessons.NumberControl{Name: "by", Label: "x₂ of the point −1", Default: "1.2", Min: -2.4, Max: 2.4, Low: -2, High: 2, Folded: true},
	}

	combineData  = lessons.DataControl{Default: "moons"}
	operation    = lessons.ChoiceControl{Name: "op", Label: "combination", Default: "sum", Options: combinationOptions()}
	combineGamma = lessons.NumberControl{Name: "gamma", Label: "γ of k₁", Symbol: "γ", Default: "1", Min: 0.01, Max: 20, Low: 0.01, High: 20, Log: true}
	combineRows  = lessons.IntegerControl{Name: "n", Label: "points", Default: "20", Min: 2, Max: 60, Low: 2, High: 60}

	property = lessons.ChoiceControl{Name: "property", Label: "property", Default: "product", Options: []param.Option{
		{Name: "sum", Label: "k₁ + k₂"}, {Name: "product", Label: "k₁ · k₂ (Schur)"}, {Name: "conformal", Label: "c(x) c(z) k₁"},
	}}
	seed = lessons.IntegerControl{Name: "seed", Label: "another vector v", Default: "1", Min: 1, Max: 1000, Low: 1, High: 40, Help: "Each number is a random vector."}

	pcaData   = lessons.DataControl{Default: "circles"}
	pcaKernel = newKernelControl("rbf", "0.1")
	turn      = lessons.TurnControl{Yaw: "30", Pitch: "14"}
)

// start is the initial position of point 1 on the first screen.
var start = [2]float64{-0.2, 1.1}

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "mercer",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{Slug: "gram", Demo: lessons.NewDemo(showGram, gramKernel, point), Answers: map[string]lessons.Answer{"moved": moved}},
			{
				Slug:    "test",
				Demo:    lessons.NewDemo(showTest, testKernel, testPoints, logHeights),
				Answers: map[string]lessons.Answer{"origin": origin, "passed": passed},
			},
			{
				Slug:    "indefinite",
				Demo:    lessons.NewDemo(showIndefinite, sigmoidGamma, sigmoidCoef0, bound, positive, negative),
				Answers: map[string]lessons.Answer{"where": where},
			},
			{
				Slug:    "combine",
				Demo:    lessons.NewDemo(showCombine, combineData, operation, combineGamma, combineRows),
				Answers: map[string]lessons.Answer{"factor": factor},
			},
			{
				Slug: "why",
				Demo: lessons.NewDemo(showWhy, property, seed),
				Answers: map[string]lessons.Answer{
					"entries": func(context.Context) float64 {
						return lessons.First(lessons.Must(theory.Mercer(mat.NewSymDense(2, []float64{1, 2, 2, 1}))).PSD)
					},
				},
			},
			{
				Slug:    "side-by-side",
				Demo:    lessons.NewDemo(showSideBySide, sideSet, sideGamma, sideC),
				Answers: map[string]lessons.Answer{"worst": worst},
			},
			{Slug: "pca", Demo: lessons.NewDemo(showPCA, pcaData, pcaKernel, turn), Answers: map[string]lessons.Answer{"linear": linearShare}},
		},
	})
}

// kernelControl is a choice of kernels, with controls for some of their parameters. coef0 is 1
// unless it has a control; the others have their defaults.
type kernelControl struct {
	name   lessons.ChoiceControl
	values []valueControl
}

// valueControl is the control of a kernel parameter.
type valueControl interface {
	lessons.Control
	Text(in lessons.Input) string
}

// newKernelControl returns a choice of the vector kernels without fitted state, with initial
// kernel and gamma, and controls for further parameters.
func newKernelControl(start, gamma string, more ...valueControl) kernelControl {
	c := kernelControl{name: lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: start}}
	for _, r := range kernel.Table {
		if r.Takes == dataset.KindVectors && !r.Learns() {
			c.name.Options = append(c.name.Options, param.Option{Name: r.Name, Label: r.Label, Help: r.Formula})
		}
	}
	c.values = append([]valueControl{lessons.NumberControl{Name: "gamma", Label: "γ", Symbol: "γ", Default: gamma, Min: 0.01, Max: 20, Low: 0.01, High: 20, Log: true, Help: "Not for the linear kernel."}}, more...)
	return c
}

// Params returns the fields of the choice and the parameters.
func (c kernelControl) Params() []param.Param {
	return append(c.name.Params(), slices.Concat(lists.Map(c.values, valueControl.Params)...)...)
}

// Of returns the chosen kernel and its entry in the table.
func (c kernelControl) Of(in lessons.Input) (kernel.Kernel, kernel.Entry) {
	k := kernel.Kernel{Name: c.name.Of(in), Values: param.Values{"coef0": param.Of(1)}}
	row := lessons.Must(kernel.Lookup(k.Name))
	set := map[string]string{}
	for _, v := range c.values {
		set[v.Params()[0].Name] = v.Text(in)
	}
	for _, p := range row.Params {
		if text, ok := set[p.Name]; ok {
			k.Values = k.Values.With(p.Name, p.Read(text))
		} else if !k.Values.Has(p.Name) {
			k.Values = k.Values.With(p.Name, p.Read(p.Default))
		}
	}
	return k, row
}

// spec returns the kernel as pairs of name and value for the lab.
func spec(k kernel.Kernel, row kernel.Entry) []string {
	spec := []string{"kernel", k.Name}
	for _, p := range row.Params {
		spec = append(spec, p.Name, k.Values.Text(p.Name))
	}
	return spec
}

// toy returns up to 40 points of two half circles, in random class order.
func toy(n int) lessons.Toy {
	d := lessons.Must(dataset.Generate("moons", 40, 0.12, 3))
	var t lessons.Toy
	for i := range min(n, len(d.Y)) {
		at := func(k int, shift float64) float64 { return math.Round(100*(1.2*d.X.At(i, k)-shift)) / 100 }
		t.XY, t.Y = append(t.XY, [2]float64{at(0, 0.6), at(1, 0.3)}), append(t.Y, float64(2*d.Y[i]-1))
	}
	return t
}

var limits = figure.Limits{XMin: -2.2, XMax: 2.2, YMin: -2.1, YMax: 2.1}

func gramOf(k kernel.Kernel, t lessons.Toy) *mat.SymDense {
	return theory.Gram(kernel.NewGram(k, t.Matrix()))
}

// matrix returns a picture of a Gram matrix with its classes.
func matrix(name, caption string, k mat.Matrix, classes []int, names []string) lessons.Figure {
	return lessons.Figure{Name: name, Caption: caption, Draw: lessons.Draws(2, figure.Matrix{X: "point j", Y: "point i", Name: "K", Values: k, Classes: classes, ClassNames: names})}
}

// bars draws eigenvalues as bars, without those that count as zero.
func bars(name, caption string, s theory.Spectrum, log bool) lessons.Figure {
	values := slices.Clone(s.Values)
	for i, v := range values {
		if math.Abs(v) <= s.Zero() {
			values[i] = 0
		}
	}
	return lessons.Figure{Name: name, Caption: caption, Wide: true, Draw: lessons.Draws(1, figure.Bars{X: "number", Y: "eigenvalue", Values: values, Log: log})}
}

// movable returns the toy of the first screen, sorted by class, with the first point at the
// handle.
func movable(p [2]float64) lessons.Toy {
	t := toy(16)
	t = t.ByClass(-1)
	t.XY[0] = p
	return t
}

func showGram(_ context.Context, in lessons.Input) *lessons.Exhibit {
	p := point.Of(in)
	t := movable(p)
	k, row := gramKernel.Of(in)
	g := gramOf(k, t)
	var within, between, n, m float64
	for i := range t.Y {
		for j := range i {
			if t.Y[i] == t.Y[j] {
				within, n = within+g.At(i, j), n+1
			} else {
				between, m = between+g.At(i, j), m+1
			}
		}
	}
	dots := t.Dots(func(i int) bool { return i == 0 })
	first := dots[0].(figure.Dot)
	first.Label, first.Held = "1", true
	dots[0] = first
	points := lessons.Plane("points", "Point 1 is ringed~: drag it among the others and watch the matrix~.", figure.Limits{XMin: -2.4, XMax: 2.4, YMin: -1.3, YMax: 1.3}, 1, dots)
	points.Wide = true // leaves room for the matrix
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			points,
			matrix("gram", "Every pair of points has one cell, rows sorted by class. Bright blocks on the diagonal: points of one class are alike to this kernel.", g, t.Classes(), lessons.ClassNames()),
		},
		Handles: []lessons.Handle{point.Handle("point 1", in)},
		Numbers: []lessons.Number{
			formula(row),
			{Label: "$K_{11}$", Value: views.Short(g.At(0, 0)), Help: `$\lVert\phi(\mathbf x_1)\rVert^2$, where there is a $\phi$`},
			{Label: "mean within classes", Value: views.Short(within / n), Help: "pairs of different points"},
			{Label: "mean between classes", Value: views.Short(between / m)},
		},
		Lab: t.Lab(spec(k, row)...),
	}
	if p != start { // the question is which entries change
		at := movable(start)
		const asks = "The Gram matrix with point 1 where it was at first, rows sorted by class. Which entries does moving it change?"
		e.Figures[1] = e.Figures[1].Instead(matrix("gram", asks, gramOf(k, at), at.Classes(), lessons.ClassNames()), asks)
	}
	return e
}

// formula returns a kernel's formula as a number of an exhibit.
func formula(row kernel.Entry) lessons.Number {
	return lessons.Number{Label: `$k(\mathbf x, \mathbf z)$`, Value: strings.ReplaceAll(strings.TrimPrefix(row.Formula, "k(x, z) = "), " ", "\u00a0"), Help: row.Help}
}

// moved finds the entries of the Gram matrix that change with one point.
func moved(context.Context) float64 {
	k := kernel.Polynomial(1, 1, 2)
	var g [2]*mat.SymDense
	for i, p := range [][2]float64{{0.3, 1.6}, {-1, 0.2}} {
		g[i] = gramOf(k, movable(p))
	}
	n := g[0].SymmetricDim()
	changed := lists.Where(n*n, func(i int) bool { return g[0].At(i/n, i%n) != g[1].At(i/n, i%n) })
	switch len(changed) {
	case 1:
		return 0
	case 2*n - 1:
		return 1
	}
	return 2
}

// verdict describes what a spectrum shows about the kernel.
func verdict(s theory.Spectrum, n int) string {
	if !s.PSD {
		return fmt.Sprintf("*Refuted:* the Gram matrix of these %d points has an eigenvalue of %s, so no feature map can belong to this kernel.", n, views.Short(s.Values[len(s.Values)-1]))
	}
	return fmt.Sprintf("These %d points: no eigenvalue is below zero beyond rounding.", n)
}

// doubt explains what a spectrum leaves open.
func doubt(s theory.Spectrum) []string {
	if !s.PSD {
		return nil
	}
	return []string{"Other points might still refute the kernel."}
}

// form returns v'Kv.
func form(k mat.Symmetric, v []float64) float64 {
	x := mat.NewVecDense(len(v), v)
	return mat.Inner(x, k, x)
}

func showTest(_ context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy(testPoints.Of(in))
	k, row := testKernel.Of(in)
	g := gramOf(k, t)
	s := lessons.Must(theory.Mercer(g))
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{bars("spectrum", "The eigenvalues of the Gram matrix, largest first. Look for hatched bars, which point below zero.", s, logHeights.Of(in))},
		Notes:   []string{verdict(s, len(t.Y))},
		After:   doubt(s),
		Numbers: []lessons.Number{
			formula(row),
			{Label: "largest eigenvalue", Value: views.Short(s.Values[0])},
			{Label: "smallest eigenvalue", Value: views.Short(s.Values[len(s.Values)-1]), Help: "counts as zero below one part in $10^{10}$ of the largest"},
			{Label: "below zero", Value: fmt.Sprintf("%d of %d", s.Negative(), len(s.Values))},
		},
		Lab: t.Lab(spec(k, row)...),
	}
	if s.Witness != nil {
		e.Figures = append(e.Figures, lessons.Figure{Name: "witness", Wide: true, Caption: `The witness $\mathbf c$, one number per point: with these weights $\mathbf c^\top K\mathbf c$, which should be the squared length of $\sum_i c_i\phi(\mathbf x_i)$, is negative.`, Draw: lessons.Draws(1, figure.Bars{
			X: "point", Y: "c", Values: s.Witness, Classes: t.Classes(), ClassNames: lessons.ClassNames(),
		})})
		e.Numbers = append(e.Numbers, lessons.Number{Label: `$\mathbf c^\top K\mathbf c$`, Value: views.Short(form(g, s.Witness)), Help: `for the witness, $\lVert\mathbf c\rVert = 1$`})
	}
	return e
}

// origin finds the sign of r for which the origin refutes the sigmoid kernel.
func origin(context.Context) float64 {
	for k, r := range []float64{1, -1} {
		g := gramOf(kernel.Sigmoid(1, r), lessons.Toy{XY: [][2]float64{{}}, Y: []float64{1}})
		if !lessons.Must(theory.Mercer(g)).PSD {
			return float64(k)
		}
	}
	return 2
}

// passed looks for a number of points on which the screen's kernel passes although more of them
// refute it.
func passed(context.Context) float64 {
	k := kernel.Sigmoid(0.5, 1)
	passed := false
	for n := 1; n <= 40; n++ {
		s := lessons.Must(theory.Mercer(gramOf(k, toy(n))))
		if !s.PSD && passed {
			return 1
		}
		passed = passed || s.PSD
	}
	return 0
}

// dual returns W(a) = 2a - eta a²/2, the dual of two points of opposite class.
func dual(eta, a float64) float64 { return 2*a - eta*a*a/2 }

func showIndefinite(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p, q := positive.Of(in), negative.Of(in)
	k := kernel.Sigmoid(sigmoidGamma.Of(in), sigmoidCoef0.Of(in))
	withQ := kernel.NewSum(k, mat.NewDense(1, 2, q[:]), []float64{1}).At
	eta := func(p [2]float64) float64 { // squared distance from q in a feature space that may not exist
		return k.Eval(p[:], p[:]) + withQ(q[:]) - 2*withQ(p[:])
	}
	t := lessons.Toy{XY: [][2]float64{p, q}, Y: []float64{1, -1}}
	d := t.Data()
	spec := []string{"kernel", "sigmoid", "gamma", sigmoidGamma.Text(in), "coef0", sigmoidCoef0.Text(in), "C", bound.Text(in)}
	res := lessons.Fit(ctx, d, spec...)
	alpha := 0.0
	for _, u := range res.Model.Machines[0].Coef {
		alpha = math.Max(alpha, math.Abs(u))
	}
	c, h := bound.Of(in), eta(p)
	curve := lessons.CurveOf(0, c, 100, func(a float64) float64 { return dual(h, a) })
	curve.Name = "dual objective"
	var after []string
	note := `$\eta > 0$: the dual is a hill with one top, at $a = 2/\eta$ or, where that is beyond, at $C$.`
	switch {
	case math.Abs(h) < 1e-12:
		note = `$\eta = 0$: the two points are one to this kernel, and no machine can tell them apart.`
	case h < 0:
		note = fmt.Sprintf(`$\eta$ = %s is not a squared distance.`, views.Short(h))
		after = []string{`The dual curves upwards, and the step to the zero of its slope would lead away from the maximum. The solver puts $\tau = 10^{-12}$ in place of $\eta$, goes uphill and stops at the bound $C$.`}
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Plane("points", `~Drag the two points.~ In the hatched part the point of class $+1$ would have a negative squared distance from the other.`, limits, 1,
				[]figure.Mark{figure.Region{F: func(x, y float64) float64 { return -eta([2]float64{x, y}) }, Color: figure.Magenta, Hatch: true, Name: "η ≤ 0"}}, t.Dots(nil)),
			{Name: "dual", Wide: true, After: true, Caption: `The dual over $a = \alpha_1 = \alpha_2$ up to $C$. The vertical line is where the solver stops.`, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "a", Min: 0, Max: c}, Y: figure.Axis{Name: "W(a)"}, Curves: []figure.Curve{curve}, Here: &alpha,
			})},
		},
		Handles: []lessons.Handle{
			positive.Handle("point of class +1", in),
			negative.Handle("point of class −1", in),
		},
		Notes: []string{note},
		After: after,
		Numbers: []lessons.Number{
			{Label: `$\eta = K_{11} + K_{22} - 2K_{12}$`, Value: views.Short(h), Help: `$\lVert\phi(\mathbf x_1) - \phi(\mathbf x_2)\rVert^2$ for a valid kernel`},
			{Label: `$K_{11},\ K_{22},\ K_{12}$`, Value: views.Short(k.Eval(p[:], p[:])) + ", " + views.Short(k.Eval(q[:], q[:])) + ", " + views.Short(k.Eval(p[:], q[:]))},
			{Label: `$\alpha$ of the solver`, Value: views.Short(alpha), Help: "both points have the same", After: true},
			{Label: "$f$ at the two points", Value: views.Short(res.Model.Decision(p[:])) + ", " + views.Short(res.Model.Decision(q[:])), Help: "should be $+1$ and $-1$ when neither is at the bound", After: true},
		},
		Lab: t.Lab(spec...),
	}
}

// where finds the maximum of the dual of two points for eta < 0.
func where(context.Context) float64 {
	const c, eta = 10.0, -0.1
	best, at := math.Inf(-1), 0.0
	for i := range 1001 {
		if a := c * float64(i) / 1000; dual(eta, a) > best {
			best, at = dual(eta, a), a
		}
	}
	switch at {
	case 0:
		return 1
	case c:
		return 2
	}
	return 0
}

// combination combines kernels into a new one.
type combination struct {
	name, label, rule string // rule says whether it is valid whenever k1 and k2 are
	apply             func(k1, k2, ci, cj float64) float64
}

var combinations = []combination{
	{"sum", "k₁ + k₂", "always valid", func(a, b, _, _ float64) float64 { return a + b }},
	{"product", "k₁ · k₂", "always valid", func(a, b, _, _ float64) float64 { return a * b }},
	{"larger", "3 k₁", "always valid", func(a, _, _, _ float64) float64 { return 3 * a }},
	{"exponential", "exp(k₂)", "always valid", func(_, b, _, _ float64) float64 { return math.Exp(b) }},
	{"conformal", "c(x) c(z) k₁", "always valid", func(a, _, ci, cj float64) float64 { return ci * cj * a }},
	{"difference", "k₁ − k₂", "not in general", func(a, b, _, _ float64) float64 { return a - b }},
	{"negative", "−½ k₁", "never valid", func(a, _, _, _ float64) float64 { return -0.5 * a }},
}

// combinationOptions returns the combinations to choose from.
func combinationOptions() []param.Option {
	return lists.Map(combinations, func(c combination) param.Option { return param.Option{Name: c.name, Label: c.label} })
}

// signed is the factor of the conformal combination, with both signs.
func signed(x []float64) float64 { return math.Cos(3 * x[0]) }

// of combines the Gram matrices of the rows of x.
func (c combination) of(k1, k2 mat.Symmetric, x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			g.SetSym(i, j, c.apply(k1.At(i, j), k2.At(i, j), signed(x.RawRowView(i)), signed(x.RawRowView(j))))
		}
	}
	return g
}

// parts returns the Gram matrices of the two kernels to be combined: RBF with this gamma, and
// linear.
func parts(x *mat.Dense, gamma float64) (k1, k2 *mat.SymDense) {
	return theory.Gram(kernel.NewGram(kernel.RBF(gamma), x)), theory.Gram(kernel.NewGram(kernel.Kernel{Name: "linear"}, x))
}

// rows returns up to n evenly spaced rows of the data, standardised and sorted by class, with
// their classes.
func rows(d *dataset.Data, n int) (x *mat.Dense, classes []int) {
	rows := lists.Spaced(dataset.Indices(len(d.Y)), n)
	slices.SortStableFunc(rows, func(a, b int) int { return d.Y[a] - d.Y[b] })
	some := d.Subset(rows)
	return dataset.FitScaler(some.X).Apply(some.X), some.Y
}

func showCombine(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	name, d := combineData.Of(ctx, in)
	x, _ := rows(d, combineRows.Of(in))
	k1, k2 := parts(x, combineGamma.Of(in))
	n := k1.SymmetricDim()
	tab := lessons.Table{After: true, Caption: fmt.Sprintf("All combinations on %d rows of %s: smallest and largest eigenvalue, the verdict of these points, and the rule for all valid kernels", n, name), Head: []string{"kernel", "smallest", "largest", "here", "rule"}}
	var chosen theory.Spectrum
	label := ""
	for i, c := range combinations {
		s := lessons.Must(theory.Mercer(c.of(k1, k2, x)))
		here := lists.Either(s.PSD, "passes", "refuted")
		tab.Rows = append(tab.Rows, []string{c.label, views.Short(s.Values[n-1]), views.Short(s.Values[0]), here, c.rule})
		if c.name == operation.Of(in) {
			chosen, label, tab.Marked = s, c.label, []int{i}
		}
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{bars("after", "The eigenvalues of "+label+". Below, those of the two kernels it is made of, which have none below zero.", chosen, false)},
		Notes:   []string{verdict(chosen, n)},
		After:   doubt(chosen),
		Tables:  []lessons.Table{tab},
	}
	for i, k := range []*mat.SymDense{k1, k2} {
		s := lessons.Must(theory.Mercer(k))
		caption := []string{"k₁: RBF.", "k₂: linear."}[i]
		e.Figures = append(e.Figures, bars("before"+strconv.Itoa(i+1), caption, s, false))
	}
	if operation.Of(in) == "conformal" { // the question is whether it is valid
		asks := "Here come the eigenvalues of " + label + ". Will one be below zero?"
		e.Figures[0] = e.Figures[0].Instead(lessons.Figure{Name: "after", Wide: true, Caption: asks, Draw: lessons.Draws(1, figure.Chart{
			X: figure.Axis{Name: "number", Min: 1, Max: float64(max(n, 2))}, Y: figure.Axis{Name: "eigenvalue", Min: -1, Max: 1},
		})}, asks)
		e.Notes, e.After = nil, append(e.Notes, e.After...)
	}
	return e
}

// factor tests the conformal combination, whose factor takes both signs.
func factor(context.Context) float64 {
	t := toy(40)
	k1, k2 := parts(t.Matrix(), 1)
	c, _ := lists.Find(combinations, func(c combination) bool { return c.name == "conformal" })
	return lessons.First(lessons.Must(theory.Mercer(c.of(k1, k2, t.Matrix()))).PSD)
}

// The derivations of the closure properties.
var (
	sumLines       = lessons.Lines(files, "sum")
	productLines   = lessons.Lines(files, "product")
	conformalLines = lessons.Lines(files, "conformal")
)

func showWhy(_ context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy(12)
	x := t.Matrix()
	k1, k2 := parts(x, 1)
	rng := rand.New(rand.NewPCG(uint64(seed.Of(in)), 7))
	v := lists.Make(len(t.Y), func(int) float64 { return rng.NormFloat64() })
	combine := func(name string) *mat.SymDense {
		if c, ok := lists.Find(combinations, func(c combination) bool { return c.name == name }); ok {
			return c.of(k1, k2, x)
		}
		return k1
	}
	bars := func(caption string, b figure.Bars) lessons.Figure {
		return lessons.Figure{Name: "terms", Wide: true, Caption: caption, Draw: lessons.Draws(1, b)}
	}
	which := property.Of(in)
	whole := form(combine(which), v)
	e := &lessons.Exhibit{Lab: t.Lab("kernel", "rbf", "gamma", "1")}
	var lines []lessons.Line
	switch which {
	case "sum":
		one, two := form(k1, v), form(k2, v)
		lines = sumLines()
		e.Figures = []lessons.Figure{bars(`The forms of the parts and of the sum for a random vector $\mathbf v$. Try others: none is below zero.`, figure.Bars{Y: "v'Kv", Values: []float64{one, two, whole}, Names: []string{"k₁", "k₂", "k₁ + k₂"}})}
		e.Numbers = []lessons.Number{
			{Label: `$\mathbf v^\top K_1\mathbf v$`, Value: views.Short(one)},
			{Label: `$\mathbf v^\top K_2\mathbf v$`, Value: views.Short(two)},
			{Label: `$\mathbf v^\top (K_1 + K_2)\mathbf v$`, Value: views.Short(whole), Help: "the sum of the two"},
		}
	case "conformal":
		dv := lists.Make(len(v), func(i int) float64 { return v[i] * signed(x.RawRowView(i)) })
		lines = conformalLines()
		e.Figures = []lessons.Figure{bars(`Entries of $D\mathbf v$, with $c(\mathbf x) = \cos 3x_1$. Some signs differ from those of $\mathbf v$, which does no harm.`, figure.Bars{X: "point", Y: "Dv", Values: dv})}
		e.Numbers = []lessons.Number{
			{Label: `$\mathbf v^\top \tilde K\mathbf v$`, Value: views.Short(whole), Help: "from the matrix with the factors"},
			{Label: `$(D\mathbf v)^\top K_1 (D\mathbf v)$`, Value: views.Short(form(k1, dv)), Help: "from the matrix without"},
		}
	default:
		terms := lessons.Must(theory.SchurTerms(k1, k2, v))
		lines = productLines()
		e.Figures = []lessons.Figure{bars(`The terms of the sum over $m$ for a random vector $\mathbf v$, largest first. Try others: none is below zero.`, figure.Bars{X: "term", Y: "value", Values: terms})}
		e.Numbers = []lessons.Number{
			{Label: `$\mathbf v^\top (K_1 \circ K_2)\mathbf v$`, Value: views.Short(whole), Help: "from the matrix of products"},
			{Label: "sum of the terms", Value: views.Short(floats.Sum(terms)), Help: "from eigenvalues and eigenvectors"},
			{Label: "smallest term", Value: views.Short(slices.Min(terms))},
		}
	}
	return e.Derive(in, lines)
}

func showPCA(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	name, d := pcaData.Of(ctx, in)
	k, row := pcaKernel.Of(in)
	x, classes := rows(d, 120)
	g := theory.Gram(kernel.NewGram(k, x))
	components := lessons.Must(theory.KernelPCA(g, 5))
	s := lessons.Must(theory.Mercer(g))
	dots := func(at func(i int) [2]float64) []figure.Mark {
		return lists.Make(len(classes), func(i int) figure.Mark {
			return figure.Dot{At: at(i), Class: classes[i], Name: lessons.Named(d.Classes)[classes[i]]}
		})
	}
	_, found := components.Scores.Dims()
	score := func(i, j int) float64 {
		if j >= found {
			return 0
		}
		return components.Scores.At(i, j)
	}
	yaw, pitch := turn.Of(in)
	lifted := figure.Lifted{X: "component 1", Y: "component 2", Z: "component 3", Loose: true, Yaw: yaw, Pitch: pitch, ClassNames: lessons.Named(d.Classes)}
	for i, c := range classes {
		lifted.Points = append(lifted.Points, figure.Dot3{At: [3]float64{score(i, 0), score(i, 1), score(i, 2)}, Class: c})
	}
	flat := func(name, caption, xName, yName string, at func(i int) [2]float64) lessons.Figure {
		return lessons.Figure{Name: name, Caption: caption, Draw: lessons.Draws(1, figure.Plane{X: xName, Y: yName, Marks: dots(at)})}
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "space", Turns: true, Caption: "The points as the kernel sees them, along the three directions of the feature space in which they spread most. ~Turn the box.~ Would a plane part the classes?", Draw: lessons.Draws(1, lifted)},
			flat("components", "Seen from above: the first two components.", "component 1", "component 2", func(i int) [2]float64 { return [2]float64{score(i, 0), score(i, 1)} }),
		},
		Lab: lessons.LabQuery(pcaData.Text(in), append(spec(k, row), "standardize", "true")...),
	}
	if len(d.Features) > 1 {
		e.Figures = append(e.Figures, flat("data", "The data: the first two features, standardised.", figure.Below(d.Features[0]), figure.Below(d.Features[1]), func(i int) [2]float64 { return [2]float64{x.At(i, 0), x.At(i, 1)} }))
	}
	tab := lessons.Table{Caption: fmt.Sprintf("Leading components of %d rows of %s", len(classes), name), Head: []string{"component", "eigenvalue", "share of the variance"}}
	for i, v := range components.Values {
		tab.Rows = append(tab.Rows, []string{strconv.Itoa(i + 1), views.Short(v), lessons.Percent(components.Shares[i])})
	}
	e.Tables = []lessons.Table{tab}
	if !s.PSD {
		e.Notes = []string{"This Gram matrix has negative eigenvalues: there is no feature space, and the picture leaves out directions of negative squared length."}
	}
	return e
}

// linearShare returns the percentage of variance explained by two components for the linear
// kernel in the plane.
func linearShare(context.Context) float64 {
	c := lessons.Must(theory.KernelPCA(gramOf(kernel.Kernel{Name: "linear"}, toy(40)), 2))
	return math.Round(1e9*100*floats.Sum(c.Shares)) / 1e9
}
