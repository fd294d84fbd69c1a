// Package conformal is the lesson on kernel optimisation by conformal maps.
package conformal

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	mlconformal "marginlab/ml/conformal"
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
	steepness    = lessons.NumberControl{Name: "steepness", Label: "steepness", Symbol: "s", Default: "0.6", Min: 0, Max: 3, Low: 0, High: 3, Help: "0 is the identity map."}
	where        = lessons.NumberControl{Name: "where", Label: "steepest place", Symbol: "m", Default: "0", Min: -3, Max: 3, Low: -3, High: 3}
	metricKernel = lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: "rbf", Options: []param.Option{
		{Name: "rbf", Label: "RBF", Help: "exp(−γ |x − z|²)"},
		{Name: "poly", Label: "quadratic", Help: "(γ x·z + 1)²"},
		{Name: "linear", Label: "linear", Help: "x·z"},
	}}
	metricGamma  = lessons.NumberControl{Name: "gamma", Label: "kernel width", Symbol: "γ", Default: "0.2", Min: 0.05, Max: 5, Low: 0.05, High: 5, Log: true}
	height       = lessons.NumberControl{Name: "core_height", Label: "height of the core", Symbol: "α₁", Default: "1.5", Min: -3, Max: 3, Low: -3, High: 3, Help: "c(x) = 1 + α₁ exp(−½ |x − a|²); 0 leaves the kernel as it is."}
	core         = lessons.NewPlace("kx", "core x1", "ky", "core x2", [2]float64{-0.8, 0.3}, figure.Limits{XMin: -3, XMax: 3, YMin: -2, YMax: 2})
	probe        = lessons.NewPlace("px", "probe x1", "py", "probe x2", [2]float64{0.6, 0.9}, figure.Limits{XMin: -3, XMax: 3, YMin: -2, YMax: 2})
	fisherKernel = lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: "linear", Options: []param.Option{
		{Name: "linear", Label: "linear: φ(x) = x", Help: "Two features."},
		{Name: "quadratic", Label: "quadratic: (1 + x·z)²", Help: "Six features."},
	}}
	sorted           = lessons.SwitchControl{Name: "sorted", Label: "rows sorted by class", Default: "true", Help: "Of the matrices in the pictures."}
	point            = lessons.NewPlace("px", "point x1", "py", "point x2", [2]float64{0.9, -0.6}, figure.Limits{XMin: -2, XMax: 2, YMin: -1.5, YMax: 1.5})
	a0               = lessons.NumberControl{Name: "a0", Label: "constant", Symbol: "α₀", Default: "1", Min: -2, Max: 2, Low: -2, High: 2}
	a1               = lessons.NumberControl{Name: "a1", Label: "first core", Symbol: "α₁", Default: "1", Min: -3, Max: 3, Low: -3, High: 3}
	a2               = lessons.NumberControl{Name: "a2", Label: "second core", Symbol: "α₂", Default: "1", Min: -3, Max: 3, Low: -3, High: 3}
	coreGamma        = lessons.NumberControl{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Default: "1", Min: 0.05, Max: 10, Low: 0.05, High: 10, Log: true}
	solver           = lessons.SwitchControl{Name: "solver", Label: "show the best coefficients", Default: "false", Help: "Try first."}
	firstCore        = lessons.NewPlace("ux", "first core x1", "uy", "first core x2", [2]float64{0, 0.4}, figure.Limits{XMin: -2, XMax: 3, YMin: -1.5, YMax: 2})
	secondCore       = lessons.NewPlace("vx", "second core x1", "vy", "second core x2", [2]float64{1, 0.1}, figure.Limits{XMin: -2, XMax: 3, YMin: -1.5, YMax: 2})
	cores            = lessons.IntegerControl{Name: "cores", Label: "cores", Default: "8", Min: 1, Max: 30, Low: 1, High: 30}
	repeat           = lessons.SwitchControl{Name: "repeat", Label: "use every core twice", Default: "false"}
	eigenRidge       = lessons.NumberControl{Name: "ridge", Label: "ridge", Symbol: "D", Default: "1e-3", Min: 1e-6, Max: 1, Low: 1e-6, High: 1, Log: true}
	eigenCoreGamma   = lessons.NumberControl{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Default: "1", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true}
	rate             = lessons.NumberControl{Name: "rate", Label: "first step", Symbol: "η₀", Default: "0.1", Min: 0.005, Max: 1, Low: 0.005, High: 1, Log: true}
	data             = lessons.DataControl{Default: "moons"}
	learner          = lessons.ChoiceControl{Name: "learner", Label: "learner", Default: "mcm", Options: []param.Option{{Name: "svm", Label: "SVM", Help: "widest margin"}, {Name: "mcm", Label: "MCM", Help: "smallest h"}}}
	methodsGamma     = lessons.NumberControl{Name: "gamma", Label: "kernel width", Symbol: "γ", Default: "1", Min: 0.02, Max: 10, Low: 0.02, High: 10, Log: true}
	c                = lessons.NumberControl{Name: "C", Label: "price of slack", Symbol: "C", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	methodsCoreGamma = lessons.NumberControl{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Default: "1", Min: 0.02, Max: 10, Low: 0.02, High: 10, Log: true}
	seed             = lessons.IntegerControl{Name: "seed", Label: "split", Default: "1", Min: 1, Max: 20, Low: 1, High: 20, Help: "Which 30 % of the rows are held out."}
	methodsAverage   = lessons.SwitchControl{Name: "average", Label: "average over ten splits", Default: "false"}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "conformal",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{
				Slug: "magnify",
				Demo: lessons.NewDemo(showMagnify, steepness, where),
				Answers: map[string]lessons.Answer{
					"wrong-place": func(context.Context) float64 {
						before, after := ratio(identity), ratio(bend(1.5, -2))
						return float64(1 + lessons.Sign(after-before))
					},
				},
			},
			{
				Slug: "metric",
				Demo: lessons.NewDemo(showMetric, metricKernel, metricGamma, height, core, probe),
				Answers: map[string]lessons.Answer{
					"uniform": func(context.Context) float64 {
						return theory.Magnification(lessons.Must(theory.Metric(kernel.RBF(2), []float64{0.3, -1})))
					},
				},
			},
			{
				Slug: "fisher",
				Demo: lessons.NewDemo(showFisher, fisherKernel, sorted, point),
				Answers: map[string]lessons.Answer{
					"order": func(ctx context.Context) float64 {
						f := newTwoWays(ctx, theory.FeatureMap{}, six([2]float64{0.9, -0.6}))
						j := lessons.Must(mlconformal.J(ctx, kernel.NewGram(kernel.Kernel{Name: "linear"}, f.points.Matrix()), f.points.Y, ones(len(f.points.Y))))
						return lessons.First(math.Abs(j-f.scatter()) >= 1e-12 || math.Abs(j-f.matrices()) >= 1e-12)
					},
				},
			},
			{Slug: "empirical", Demo: lessons.NewDemo(showEmpirical, harmSet, harmKernel), Answers: map[string]lessons.Answer{"harm": harms}},
			{
				Slug: "factor",
				Demo: lessons.NewDemo(showFactor, a0, a1, a2, coreGamma, solver, firstCore, secondCore),
				Sketches: map[string]*lessons.Sketch{
					"factor": {
						Of: "the factor", Over: "x", X: []float64{-3, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3}, Height: 4,
						Truth: func(context.Context) figure.Curve {
							m := mlconformal.Map{Gamma: 2, Alpha0: 1, Alpha: []float64{1, -2}, Cores: [][]float64{{-1}, {1}}}
							return lessons.CurveOf(-3, 3, 120, func(x float64) float64 { return m.At([]float64{x}) })
						},
						Draw: lessons.SketchChart(figure.Axis{Name: "x", Min: -3, Max: 3}, figure.Axis{Name: "c(x)", Min: -1.5, Max: 2.5}, figure.Rule{Name: "α₀", At: 1}),
					},
				},
			},
			{
				Slug: "eigen",
				Demo: lessons.NewDemo(showEigen, cores, repeat, eigenRidge, eigenCoreGamma),
				Answers: map[string]lessons.Answer{
					"trap": func(ctx context.Context) float64 {
						p := moons()
						values := p.qValues(ctx, p.spread(8, true), 1, 1)
						return float64(lists.Count(values, func(v float64) bool { return math.Abs(v) <= 1e-12*values[len(values)-1] }))
					},
				},
			},
			{
				Slug: "gradient",
				Demo: lessons.NewDemo(showGradient, rate, cores, coreGamma),
				Answers: map[string]lessons.Answer{
					"above": func(ctx context.Context) float64 {
						p := moons()
						cores := p.spread(8, false)
						_, top := p.Best(ctx, cores, 1, ridge)
						for _, rate := range []float64{0.05, 0.2, 1} {
							path := p.climb(ctx, cores, 1, 1000, rate)
							for i := range path.Len() {
								if p.quotient(ctx, mapAt(path, i, cores, 1)) > top.Eigenvalue*(1+1e-9) {
									return 0
								}
							}
						}
						return 1
					},
				},
			},
			{
				Slug:    "methods",
				Demo:    lessons.NewDemo(showMethods, data, learner, methodsGamma, c, methodsCoreGamma, seed, methodsAverage),
				Answers: map[string]lessons.Answer{"best": alwaysBest},
			},
		},
	})
}

func ones(n int) []float64 {
	v := make([]float64, n)
	floats.AddConst(1, v)
	return v
}

// line holds points on the real line, with a class on each side of 0.
var line = lessons.Toy{
	XY: [][2]float64{{-3}, {-2.4}, {-1.9}, {-1.2}, {-0.6}, {0.5}, {1.1}, {1.6}, {2.3}, {3}},
	Y:  []float64{-1, -1, -1, -1, -1, 1, 1, 1, 1, 1},
}

const end = 3 // ends of the line, fixed by every map

// identity is the identity map of the line.
func identity(x float64) float64 { return x }

// bend is theory.Bend for this line.
func bend(steepness, at float64) func(x float64) float64 {
	return theory.Bend(steepness, at, end)
}

// gap returns the images of the two points next to the gap.
func gap(bend func(float64) float64) (left, right float64) {
	bent := lists.Map(line.XY, func(p [2]float64) [2]float64 { return [2]float64{bend(p[0])} })
	return lessons.Toy{XY: bent, Y: line.Y}.Edges([2]float64{1})
}

// ratio returns R/Δ of the images: half their extent over half the gap.
func ratio(bend func(float64) float64) float64 {
	left, right := gap(bend)
	return 2 * end / (right - left)
}

func showMagnify(_ context.Context, in lessons.Input) *lessons.Exhibit {
	s, m := steepness.Of(in), where.Of(in)
	bent := bend(s, m)
	const floor = -3.8 // position of the points next to the axes
	var curve [][2]float64
	for i := range 121 {
		x := end * (float64(i)/60 - 1)
		curve = append(curve, [2]float64{x, bent(x)})
	}
	left, right := gap(bent)
	l0, r0 := gap(identity)
	thin := figure.Pen{Color: figure.Muted, Dash: figure.Dotted, Thin: true}
	gap := figure.Pen{Color: figure.Magenta}
	marks := []figure.Mark{
		figure.Line{A: [2]float64{1, -1}, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dashed, Thin: true}, Name: "identity map"},
		figure.Path{Points: curve, Plain: true, Name: "the map"},
		figure.Segment{From: [2]float64{l0, floor}, To: [2]float64{r0, floor}, Pen: gap, Name: "gap 2Δ", Label: "before"},
	}
	images := []figure.Mark{
		figure.Segment{From: [2]float64{l0, floor}, To: [2]float64{l0, left}, Pen: thin},
		figure.Segment{From: [2]float64{r0, floor}, To: [2]float64{r0, right}, Pen: thin},
		figure.Segment{From: [2]float64{floor, left}, To: [2]float64{l0, left}, Pen: thin},
		figure.Segment{From: [2]float64{floor, right}, To: [2]float64{r0, right}, Pen: thin},
		figure.Segment{From: [2]float64{floor, left}, To: [2]float64{floor, right}, Pen: gap, Name: "gap 2Δ", Label: "after"},
	}
	for i, p := range line.XY {
		name := lessons.ClassName(line.Y[i])
		marks = append(marks, figure.Dot{At: [2]float64{p[0], floor}, Class: lessons.Class(line.Y[i]), Name: name})
		images = append(images, figure.Dot{At: [2]float64{floor, bent(p[0])}, Class: lessons.Class(line.Y[i]), Name: name})
	}
	astray := m < l0 || m > r0 // the question's setting: the gap is hidden until the answer
	before, after := ratio(identity), ratio(bent)
	slope := func(x float64) float64 { return (bent(x+1e-5) - bent(x-1e-5)) / 2e-5 }
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{{Name: "map", Caption: "The points stand below; their images stand at the left. Compare the two gaps. ~Drag the steepest place out of the gap and see what becomes of it.~", Draw: lessons.Draws(2, figure.Plane{
			X: "x", Y: "image of x", Limits: figure.Limits{XMin: floor - 0.2, XMax: 3.3, YMin: floor - 0.2, YMax: 3.3}, Marks: slices.Concat(marks, images), Hidden: len(images),
		})}},
		Handles: []lessons.Handle{{Label: "steepest place", X: m, Y: bent(m), XControl: where}},
		Numbers: []lessons.Number{
			{Label: `$R/\Delta$ before`, Value: views.Short(before), Help: "half the extent of all points over half the gap"},
			{Label: `$R/\Delta$ after`, Value: views.Short(after), Help: "the same, of the images", After: astray},
			{Label: `$\lceil R^2/\Delta^2\rceil + 1$`, Value: views.Short(theory.MarginVCDim(before, 1, math.Inf(1))) + " → " + views.Short(theory.MarginVCDim(after, 1, math.Inf(1))), Help: "the bound of the VC dimension, where there are dimensions enough", After: astray},
			{Label: "slope in the gap", Value: views.Short(slope((l0 + r0) / 2)), Help: "the magnification there; 1 for the identity map", After: astray},
			{Label: "slope at the ends", Value: fmt.Sprintf("%.2f and %.2f", slope(-end), slope(end))},
		},
	}
	switch d := after - before; {
	case lessons.Sign(d) < 0:
		e.Notes = []string{fmt.Sprintf(`The gap has grown, the extent has not: $R/\Delta$ is %.0f %% of what it was.`, 100*after/before)}
	case lessons.Sign(d) > 0:
		e.Notes = []string{fmt.Sprintf(`Steep in the wrong place: the gap has shrunk, and $R/\Delta$ is %s times what it was.`, lessons.Typeset(views.Short(after/before)))}
	default:
		e.Notes = []string{"This is the identity map: nothing is magnified. ~Raise the steepness.~"}
	}
	if astray {
		e.Figures[0].Asks = "The map is steepest inside a class. Where do the two points beside the gap go?"
		e.Notes, e.After = nil, e.Notes
	}
	return e
}

func showMetric(_ context.Context, in lessons.Input) *lessons.Exhibit {
	k := kernel.Kernel{Name: metricKernel.Of(in)}
	switch k.Name {
	case "rbf":
		k = kernel.RBF(metricGamma.Of(in))
	case "poly":
		k = kernel.Polynomial(metricGamma.Of(in), 1, 2)
	}
	a := core.Of(in)
	m := mlconformal.Map{Gamma: 0.5, Alpha0: 1, Alpha: []float64{height.Of(in)}, Cores: [][]float64{a[:]}}
	metric := func(x []float64) *mat.SymDense {
		c, grad := m.Gradient(x)
		return lessons.Must(theory.ConformalMetric(k, x, c, grad))
	}
	type ellipse struct {
		at     [2]float64
		axes   [2]float64
		across *mat.Dense // directions of the axes, as columns
	}
	measure := func(at [2]float64) (e ellipse) {
		var err error
		e.at = at
		e.axes, e.across, err = theory.Axes(metric(at[:]))
		lessons.Check(err)
		return e
	}
	var grid []ellipse
	largest := 0.0
	for i := range 9 {
		for j := range 9 { // a square grid, for square frames
			e := measure([2]float64{0.75 * float64(i-4), 0.75 * float64(j-4)})
			largest = math.Max(largest, e.axes[1])
			grid = append(grid, e)
		}
	}
	var marks []figure.Mark
	for _, e := range grid {
		var outline [][2]float64
		for i := range 33 {
			t := 2 * math.Pi * float64(i) / 32
			u, v := 0.36*e.axes[0]/largest*math.Cos(t), 0.36*e.axes[1]/largest*math.Sin(t)
			outline = append(outline, [2]float64{e.at[0] + u*e.across.At(0, 0) + v*e.across.At(0, 1), e.at[1] + u*e.across.At(1, 0) + v*e.across.At(1, 1)})
		}
		marks = append(marks, figure.Path{Points: outline, Plain: true, Pen: figure.Pen{Color: figure.Violet}, Name: "image of a small circle"})
	}
	p := probe.Of(in)
	g := metric(p[:])
	plain := lessons.Must(theory.Metric(k, p[:]))
	at := measure(p)
	marks = append(marks,
		figure.Dot{At: a, Class: -1, Ring: true, Held: true, Label: "core a"},
		figure.Dot{At: p, Class: -1, Held: true, Label: "probe"})
	shape := lists.Either(at.axes[0] > 0, views.Short(at.axes[1]/at.axes[0]), "–")
	return (&lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("metric", "Each ellipse is the image of a small circle at its centre, all on one scale: large where the kernel magnifies, round where it does not distort. ~Drag the core and the probe.~",
			figure.Limits{XMin: -3.4, XMax: 3.4, YMin: -2.6, YMax: 2.6}, 1, marks)},
		Handles: []lessons.Handle{
			core.Handle("core", in),
			probe.Handle("probe", in),
		},
		Numbers: []lessons.Number{
			{Label: `$c(\mathbf x)$ at the probe`, Value: views.Short(m.At(p[:]))},
			{Label: `$\sqrt{\det\mathbf g}$`, Value: views.Short(theory.Magnification(plain)), Help: "magnification of areas by the kernel alone", After: true},
			{Label: `$\sqrt{\det\tilde{\mathbf g}}$`, Value: views.Short(theory.Magnification(g)), Help: "with the factor", After: true},
			{Label: "long axis over short axis", Value: shape, Help: "at the probe; 1: no distortion"},
		},
	}).Derive(in, metricDerivation())
}

// metricDerivation shows how a factor changes the metric of a kernel.
var metricDerivation = lessons.Lines(files, "metric")

// six returns six points in arbitrary class order; one of them can be moved.
func six(at [2]float64) lessons.Toy {
	return lessons.Toy{XY: [][2]float64{{-1.3, 0.5}, at, {-0.5, -0.7}, {1.4, 0.4}, {0.4, 0.9}, {-0.9, -0.1}}, Y: []float64{-1, 1, -1, 1, 1, -1}}
}

// twoWays is a toy with its images in an explicit feature space and its scatter matrices.
type twoWays struct {
	points lessons.Toy
	phi    *mat.Dense // M x features
	b, w   *mat.SymDense

	between, within float64 // tr S_b and tr S_w, from the images
}

// newTwoWays uses the features of the map; for the zero map, the coordinates.
func newTwoWays(ctx context.Context, m theory.FeatureMap, points lessons.Toy) *twoWays {
	f := &twoWays{points: points, phi: points.Matrix()}
	k := kernel.Kernel{Name: "linear"}
	var err error
	if m.Inputs > 0 {
		f.phi = lessons.Must(m.Rows(points.Matrix()))
		k = m.Kernel
	}
	if f.between, f.within, err = theory.ScatterTraces(f.phi, points.Y); err != nil {
		return nil
	}
	f.b, f.w, err = mlconformal.Scatter(ctx, kernel.NewGram(k, points.Matrix()), points.Y, nil)
	lessons.Check(err)
	return f
}

// scatter returns J by the definition with scatter matrices.
func (f *twoWays) scatter() float64 { return f.between / f.within }

// matrices returns J by the kernel matrices alone.
func (f *twoWays) matrices() float64 { return mat.Sum(f.b) / mat.Sum(f.w) }

func showFisher(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	points := six(point.Of(in))
	var m theory.FeatureMap
	if fisherKernel.Of(in) == "quadratic" {
		m = theory.QuadraticPlane
	}
	f := newTwoWays(ctx, m, points)
	order := lists.Either(sorted.Of(in), lessons.ClassOrder(points.Y), dataset.Indices(len(points.Y)))
	marks := points.Dots(nil)
	caption := "The six points~; drag the one at the handle~. In the six-dimensional feature space of this kernel the means have no place in the plane."
	if m.Inputs == 0 {
		caption = "Dashed: from the points to the mean of their class, the scatter within. Solid: from the class means to the mean of all, the scatter between."
		marks = append(spokes(points), marks...)
	}
	n, mixed := float64(len(points.Y)), !sorted.Of(in)
	return (&lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Plane("points", caption, figure.Limits{XMin: -2, XMax: 2, YMin: -1.5, YMax: 1.5}, 2, marks),
			lessons.ClassMatrix("b", `$\mathbf B$: all entries together give $M\operatorname{tr}\mathbf S_b$.`, "B", f.b, points.Y, order, 0),
			lessons.ClassMatrix("w", `$\mathbf W$: all entries together give $M\operatorname{tr}\mathbf S_w$. It is 0 wherever the classes differ.`, "W", f.w, points.Y, order, 0),
		},
		Handles: []lessons.Handle{point.Handle("a point", in)},
		Numbers: []lessons.Number{
			{Label: `$\operatorname{tr}\mathbf S_b$ and $\operatorname{tr}\mathbf S_w$`, Value: views.Short(f.between) + ", " + views.Short(f.within), Help: "from the images themselves"},
			{Label: `$\tfrac1M\mathbf 1^\top\mathbf B\mathbf 1$ and $\tfrac1M\mathbf 1^\top\mathbf W\mathbf 1$`, Value: views.Short(mat.Sum(f.b)/n) + ", " + views.Short(mat.Sum(f.w)/n), Help: "from the kernel matrix alone", After: mixed},
			{Label: `$J$ by scatter matrices`, Value: views.Long(f.scatter())},
			{Label: `$J$ by $\mathbf B$ and $\mathbf W$`, Value: views.Long(f.matrices()), Help: "the same, though no feature was computed", After: mixed},
		},
	}).Derive(in, fisherDerivation())
}

// spokes join the points to their class means, and these to the overall mean.
func spokes(t lessons.Toy) (marks []figure.Mark) {
	var all [2]float64
	mean, n := map[float64][2]float64{}, map[float64]float64{}
	for i, p := range t.XY {
		m := mean[t.Y[i]]
		mean[t.Y[i]] = [2]float64{m[0] + p[0], m[1] + p[1]}
		n[t.Y[i]]++
		all = [2]float64{all[0] + p[0]/float64(len(t.XY)), all[1] + p[1]/float64(len(t.XY))}
	}
	for _, y := range []float64{-1, 1} {
		m := [2]float64{mean[y][0] / n[y], mean[y][1] / n[y]}
		for i, p := range t.XY {
			if t.Y[i] == y {
				marks = append(marks, figure.Segment{From: p, To: m, Pen: figure.Pen{Color: figure.ClassColor(lessons.Class(y)), Dash: figure.Dashed, Thin: true}, Name: "within"})
			}
		}
		marks = append(marks, figure.Segment{From: m, To: all, Pen: figure.Pen{Color: figure.Ink}, Name: "between"})
	}
	return append(marks, figure.Dot{At: all, Class: -1, Label: "mean of all"})
}

// fisherDerivation turns traces of scatter matrices into sums of a kernel matrix.
var fisherDerivation = lessons.Lines(files, "fisher")

// moons returns the points of the screens on cores, eigenvectors and gradients.
func moons() *problem {
	d := lessons.Must(dataset.Generate("moons", 60, 0.2, 3))
	y, _, _, err := d.Binary("")
	lessons.Check(err)
	return &problem{lessons.NewReshaping(d, kernel.RBF(1), d.X, y)}
}

// problem is a data set with a kernel to be transformed.
type problem struct{ *lessons.Reshaping }

// ridge is D for screens without a control for it.
const ridge = 1e-3

// evenly returns n rows, evenly spaced over the data set.
func (p *problem) evenly(n int) []int {
	return lists.Spaced(dataset.Indices(len(p.Y)), n)
}

// spread returns n rows as cores, evenly spaced over the data set, each twice if twice is set.
func (p *problem) spread(n int, twice bool) (cores [][]float64) {
	for _, i := range p.evenly(n) {
		core := p.X.RawRowView(i)
		cores = append(cores, core)
		if twice {
			cores = append(cores, core)
		}
	}
	return cores
}

var moonLimits = figure.Limits{XMin: -2, XMax: 3, YMin: -1.5, YMax: 2}

func showFactor(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := moons()
	u, v := firstCore.Of(in), secondCore.Of(in)
	cores := [][]float64{u[:], v[:]}
	m := &mlconformal.Map{Gamma: coreGamma.Of(in), Alpha0: a0.Of(in), Alpha: []float64{a1.Of(in), a2.Of(in)}, Cores: cores}
	before := p.J(ctx, ones(len(p.Y)))
	e := &lessons.Exhibit{
		Handles: []lessons.Handle{
			firstCore.Handle("first core", in),
			secondCore.Handle("second core", in),
		},
		Numbers: []lessons.Number{{Label: "$J$ before", Value: views.Short(before), Help: `with $c = 1$ everywhere`}},
	}
	var best float64
	if solver.Of(in) {
		top, stats := p.Best(ctx, cores, m.Gamma, 1e-6)
		best = stats.JAfter
		e.Numbers = append(e.Numbers,
			lessons.Number{Label: "best $J$ of these cores", Value: views.Short(best), Help: "of the next screen"},
			lessons.Number{Label: `its $\alpha_0, \alpha_1, \alpha_2$`, Value: param.Minus(fmt.Sprintf("%.2f, %.2f, %.2f", top.Alpha0, top.Alpha[0], top.Alpha[1])), Help: "any multiple is as good; here the mean of |c| is 1"})
	}
	c := m.Factors(p.X)
	j, err := mlconformal.J(ctx, p.Gram, p.Y, c)
	if err != nil {
		e.Notes = []string{`With $c = 0$ at every point all images coincide, and $J$ has no value. Raise a coefficient.`}
		e.Figures = []lessons.Figure{lessons.Plane("factor", "The factor is zero everywhere.", moonLimits, 2, lessons.ToyOf(p.Data).Dots(nil))}
		return e
	}
	model := p.Machine(ctx, m)
	spectrum := lessons.Must(theory.Mercer(theory.Gram(p.Scaled(c))))
	e.Numbers = append([]lessons.Number{
		{Label: "$J$ by hand", Value: views.Short(j), Help: "make it large"},
	}, append(e.Numbers,
		lessons.Number{Label: `eigenvalues of $\mathbf D\mathbf K\mathbf D$`, Value: fmt.Sprintf("%s to %.1f", views.Short(lessons.Flush(floats.Min(spectrum.Values), spectrum.Zero())), floats.Max(spectrum.Values)), Help: "none is below 0, but for rounding: the kernel is valid", After: true},
	)...)
	if j < before {
		e.Notes = append(e.Notes, fmt.Sprintf("This factor lowers $J$ to %.0f %% of its value: it has widened the classes more than it has moved their means apart.", 100*j/before))
	}
	if lo, hi := floats.Min(c), floats.Max(c); lo < 0 && hi > 0 {
		e.Notes = append(e.Notes, `$c$ has both signs here; the dotted line is $c = 0$. Points on it all share one image, the origin of the feature space.`)
	}
	if solver.Of(in) {
		e.Notes = append(e.Notes, fmt.Sprintf("By hand you have %.0f %% of the best $J$ of these cores.", 100*j/best))
	}
	e.Figures = []lessons.Figure{lessons.FactorFigure("factor", "The factor c(x) as a heat map, with the boundary of an MCM trained on the new kernel. ~Drag the two cores.~", model, p.Data, ml.Spec{Learner: "mcm"}, func(s *figure.Scene) { s.Limits = moonLimits })}
	return e
}

// qValues returns the eigenvalues of Q for these cores, ascending.
func (p *problem) qValues(ctx context.Context, cores [][]float64, gamma, ridge float64) []float64 {
	return lessons.Must(theory.RidgeSpectrum(ctx, p.Gram, p.X, p.Y, cores, gamma, ridge))
}

// quotient returns the objective maximised by the eigenvector: the Fisher scalar of a map with
// the default ridge in its denominator.
func (p *problem) quotient(ctx context.Context, m *mlconformal.Map) float64 {
	return lessons.Must(theory.RidgedJ(ctx, p.Gram, p.Y, m.Factors(p.X), ridge))
}

func mapAt(path *trace.Replay[[]float64], step int, cores [][]float64, gamma float64) *mlconformal.Map {
	alpha := slices.Clone(path.At(step))
	return &mlconformal.Map{Gamma: gamma, Alpha0: alpha[0], Alpha: alpha[1:], Cores: cores}
}

// climb runs the gradient ascent from the original kernel, with the default ridge.
func (p *problem) climb(ctx context.Context, cores [][]float64, gamma float64, steps int, rate float64) *trace.Replay[[]float64] {
	return lessons.Must(stepwise.FisherAscent(ctx, p.Gram, p.X, p.Y, cores, mlconformal.Settings{Gamma: gamma, Ridge: ridge, Steps: steps, Rate: rate}))
}

func showEigen(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := moons()
	ridge, gamma := eigenRidge.Of(in), eigenCoreGamma.Of(in)
	n := cores.Of(in)
	places := p.spread(n, repeat.Of(in))
	values := p.qValues(ctx, places, gamma, ridge)
	bare := p.qValues(ctx, places, gamma, 0)
	top, stats := p.Best(ctx, places, gamma, ridge)
	model := p.Machine(ctx, top)
	model.Machines[0].CoreRows = p.evenly(n)
	size, rank := len(values), stats.BasisRank
	relative := func(v []float64) float64 { return math.Abs(v[0]) / v[len(v)-1] }
	e := (&lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.FactorFigure("factor", "The factor of the largest eigenvalue. Look where it crosses 0.", model, p.Data, ml.Spec{Learner: "mcm"}, nil),
			{Name: "q", Caption: `Sizes of the eigenvalues of $\mathbf Q$, on a logarithmic scale: bars at $10^{-12}$ of the first and below are rounding. Use every core twice.`, Draw: lessons.Draws(0, figure.Bars{
				X: "eigenvalue", Y: "size (log scale)", Log: true, Sorted: true, Values: lists.Map(values, math.Abs),
			}), After: true},
		},
		Numbers: []lessons.Number{
			{Label: `rows of $\mathbf Q$`, Value: strconv.Itoa(size), Help: `cores and the constant`},
			{Label: `rank of $\mathbf K_1$`, Value: strconv.Itoa(rank), Help: "dimensions that the cores really span", After: true},
			{Label: `smallest over largest eigenvalue of $\mathbf Q$`, Value: fmt.Sprintf("%.1e", relative(values)), Help: fmt.Sprintf("%.1e without the ridge", relative(bare)), After: true},
			{Label: `largest $g$`, Value: views.Short(stats.Eigenvalue), Help: `from the orthonormal basis $\mathbf U$`},
			{Label: "$J$", Value: views.Short(stats.JBefore) + " → " + views.Short(stats.JAfter), Help: "without the ridge in the denominator"},
		},
	}).Derive(in, eigenDerivation())
	if relative(values) < 1e-12 {
		e.After = []string{fmt.Sprintf(`$\mathbf Q$ is singular to working precision although $D = %s$. In the basis $\mathbf U$ the problem has %d rows and its largest $g$ is found all the same.`, lessons.TeX(ridge), rank)}
	}
	return e
}

// eigenDerivation leads from the quotient to a problem that can be solved.
var eigenDerivation = lessons.Lines(files, "eigen")

const steps = 60

func showGradient(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := moons()
	places, gamma := p.spread(cores.Of(in), false), coreGamma.Of(in)
	first := rate.Of(in)
	path := p.climb(ctx, places, gamma, steps, first)
	_, top := p.Best(ctx, places, gamma, ridge)
	step := min(in.Step, path.Len()-1)
	var at, js []float64
	for i := range path.Len() {
		j := p.J(ctx, mapAt(path, i, places, gamma).Factors(p.X))
		at, js = append(at, float64(i)), append(js, j)
	}
	best, here := top.JAfter, float64(step)
	m := mapAt(path, step, places, gamma)
	if _, err := m.Normalize(p.X); err != nil {
		return nil
	}
	model := p.Machine(ctx, m)
	model.Machines[0].CoreRows = p.evenly(cores.Of(in))
	e := &lessons.Exhibit{
		Steps: path.Len(), Step: step,
		Figures: []lessons.Figure{
			lessons.FactorFigure("factor", "The factor at this step, and the boundary of an MCM trained with it.", model, p.Data, ml.Spec{Learner: "mcm"}, nil),
			{Name: "climb", Caption: "J over the steps. The level line is the J of the eigenvector of the same cores.", Asks: "J over the steps. The J of the eigenvector of the same cores comes with the answer.", Grows: true, Draw: func(l lessons.Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "step", Min: 0, Max: steps}, Y: figure.Axis{Name: "J"},
					Curves: []figure.Curve{{Name: "J", X: at, Y: js}}, Rules: []figure.Rule{{Name: "eigenvector", At: best, Hidden: true}}, SoFar: !l.Paper, Here: &here,
				}.Picture()
			}},
		},
		Numbers: []lessons.Number{
			{Label: "$J$ at the start", Value: views.Short(js[0]), Help: `$\boldsymbol\alpha = (1, 0, \ldots, 0)$: the kernel as it was`},
			{Label: "$J$ here", Value: views.Short(js[step])},
			{Label: "$J$ of the eigenvector", Value: views.Short(best), After: true},
			{Label: `step $\eta(t)$`, Value: views.Short(first * (1 - here/steps)), Help: `relative to the length of $\boldsymbol\alpha$`},
		},
	}
	switch {
	case step == 0:
		e.Notes = []string{"The factor is 1 everywhere. ~Step, and watch where it grows first.~"}
	case js[step] < js[step-1]:
		e.Notes = []string{fmt.Sprintf("This step was too long: $J$ fell by %.2g. The program keeps the best factor it has seen.", js[step-1]-js[step])}
	default:
		e.After = []string{fmt.Sprintf("$J$ has gone %.0f %% of the way from the start to the eigenvector.", 100*(js[step]-js[0])/(best-js[0]))}
	}
	return e
}

// names lists the methods compared, the plain kernel first.
var names = [][2]string{{"none", "no map"}, {"amari", "Amari–Wu"}, {"gradient", "gradient"}, {"eigen", "eigenvector"}}

// methodsOn trains with every method.
func methodsOn(ctx context.Context, d *dataset.Data, s ml.Spec) (all []*ml.Result) {
	for _, m := range names {
		s.Conformal = m[0]
		all = append(all, lessons.Train(ctx, d, s))
	}
	return all
}

// alwaysBest reports on how many of four data sets no other method, nor the plain kernel, has a
// better test accuracy: all, some or none.
func alwaysBest(ctx context.Context) float64 {
	s := lessons.NewSpec("learner", "mcm", "standardize", "true", "gamma", "1", "core_gamma", "1", "rank_tol", "1e-2", "test_fraction", "0.3")
	sets, best := []string{"moons", "circles", "xor", "checkerboard"}, 0
	for _, name := range sets {
		b, _ := dataset.FindBuiltin(name)
		d := lessons.Must(b.Load())
		d, _ = lessons.Thin(d)
		all := methodsOn(ctx, d, s)
		beaten := slices.ContainsFunc(all[:3], func(other *ml.Result) bool {
			return *other.Report.TestAccuracy > *all[3].Report.TestAccuracy
		})
		if !beaten {
			best++
		}
	}
	switch best {
	case len(sets):
		return 0
	case 0:
		return 2
	}
	return 1
}

func showMethods(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	_, d := data.Of(ctx, in)
	d, notes := lessons.Few(d)
	s := lessons.NewSpec("learner", learner.Of(in), "standardize", "true", "gamma", methodsGamma.Text(in), "C", c.Text(in), "core_gamma", methodsCoreGamma.Text(in), "rank_tol", "1e-2", "test_fraction", "0.3", "seed", seed.Text(in))
	s.Positive = lessons.LastClass(d)
	all := methodsOn(ctx, d, s)
	table := lessons.Table{
		Caption: "One split: $J$ on the training rows, what is right on either side of it, and whether $c$ takes both signs",
		Head:    []string{"method", "$J$", "SVs", "training", "held out", "both signs"},
		After:   true,
	}
	for i, res := range all {
		r := res.Report
		row := []string{names[i][1], "", strconv.Itoa(r.SupportVectors), lessons.Percent(*r.TrainAccuracy), lessons.Percent(*r.TestAccuracy), "–"}
		if j := all[3].Report.JBefore; i == 0 && j != nil {
			row[1] = views.Short(*j)
		}
		if r.JAfter != nil {
			row[1], row[5] = views.Short(*r.JAfter), "no"
			if *r.SignChange {
				row[5] = "yes"
			}
		}
		table.Rows = append(table.Rows, row)
	}
	e := &lessons.Exhibit{Tables: []lessons.Table{table}, Notes: notes, Lab: lessons.LabQuery(data.Text(in), "learner", learner.Of(in), "conformal", "eigen", "gamma", methodsGamma.Text(in), "C", c.Text(in), "core_gamma", methodsCoreGamma.Text(in), "rank_tol", "1e-2", "test_fraction", "0.3", "seed", seed.Text(in), "positive", s.Positive)}
	const caption = "The boundaries without a map and with the eigenvector map; the other maps have pictures of their own. Grey and hatched: the two disagree. Hollow points are held out."
	last := len(all) - 1
	e.Figures = append(e.Figures, lessons.Overlay("overlay", caption, []string{names[0][1], names[last][1]}, func(l lessons.Look, i int) figure.Scene {
		sc := lessons.ReshapedScene(all[i*last].Model, d, s, l)
		sc.LegendRows, sc.Cores = 3, false
		return sc
	}))
	for i, res := range all[1:] {
		name := names[i+1]
		e.Figures = append(e.Figures, lessons.FactorFigure(name[0], "c(x): "+name[1], res.Model, d, s, nil))
	}
	if methodsAverage.Of(in) {
		e.Tables = append(e.Tables, average(ctx, d, s))
	}
	return e
}

// average repeats the comparison on ten random splits.
func average(ctx context.Context, d *dataset.Data, s ml.Spec) lessons.Table {
	const splits = 10
	gain := make([][]float64, len(names)) // test accuracy minus that without a map
	plain := make([]float64, splits)
	for k := range splits {
		s.Seed = uint64(k + 1)
		all := methodsOn(ctx, d, s)
		plain[k] = *all[0].Report.TestAccuracy
		for i, res := range all {
			gain[i] = append(gain[i], *res.Report.TestAccuracy-plain[k])
		}
	}
	t := lessons.Table{Caption: "Held-out accuracy over ten random splits; difference to no map on the same split, with its standard error (too small a one, for the splits share rows), and on how many splits it is better, equal, worse", Head: []string{"method", "mean", "difference", "error", "+ / = / −"}, After: true}
	for i, name := range names {
		mean, sd := stat.MeanStdDev(gain[i], nil)
		row := []string{name[1], views.Short(floats.Sum(plain)/splits + mean), "–", "–", "–"}
		if i > 0 {
			var count [3]int
			for _, g := range gain[i] {
				count[1-lessons.Sign(g)]++
			}
			row[2], row[3] = fmt.Sprintf("$%+.3f$", mean), fmt.Sprintf("%.3f", sd/math.Sqrt(splits))
			row[4] = fmt.Sprintf("%d / %d / %d", count[0], count[1], count[2])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
