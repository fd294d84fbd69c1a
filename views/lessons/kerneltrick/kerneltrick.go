// Package kerneltrick is the lesson on the kernel trick.
package kerneltrick

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
	lineSet = newSetControl("xor", "rings", "xor", "corners")
	best    = lessons.SwitchControl{Name: "best", Label: "show the best line", Default: "false", Help: "Try first."}
	ends    = lessons.EndsControl{
		A: lessons.PlaceControl{X: newCoordinate("ax", "first end x₁", "-1.9"), Y: newCoordinate("ay", "first end x₂", "1.2")},
		B: lessons.PlaceControl{X: newCoordinate("bx", "second end x₁", "1.9"), Y: newCoordinate("by", "second end x₂", "-0.8")},
	}
	liftSet    = newSetControl("rings", "rings", "xor")
	lifting    = lessons.ChoiceControl{Name: "z", Label: "new coordinate", Default: "squares", Options: liftOptions()}
	liftTurn   = lessons.TurnControl{Yaw: "30", Pitch: "14"}
	bumpsSet   = newSetControl("xor", "xor", "rings")
	bumpsGamma = lessons.NumberControl{Name: "gamma", Label: "γ", Symbol: "γ", Default: "0.6", Min: 0.05, Max: 10, Low: 0.05, High: 10, Log: true, Help: "γ = 1/(2s²): larger is narrower."}
	centres    = [2]lessons.PlaceControl{
		{X: newCoordinate("ax", "first centre x₁", "1"), Y: newCoordinate("ay", "first centre x₂", "1")},
		{X: newCoordinate("bx", "second centre x₁", "0.4"), Y: newCoordinate("by", "second centre x₂", "-0.9")},
	}
	bumpsTurn  = lessons.TurnControl{Yaw: "20", Pitch: "24"}
	xorTurn    = lessons.TurnControl{Yaw: "25", Pitch: "16"}
	featureMap = lessons.ChoiceControl{Name: "map", Label: "kernel", Default: "plane", Options: []param.Option{
		{Name: "plane", Label: "(1 + x·z)² in the plane", Help: "six features"},
		{Name: "space", Label: "(x·z)² in space", Help: "nine products"},
	}}
	x3           = lessons.NumberControl{Name: "x3", Label: "x₃ (in space)", Default: "1", Min: -2, Max: 2, Low: -2, High: 2, Folded: true}
	z3           = lessons.NumberControl{Name: "z3", Label: "z₃ (in space)", Default: "-0.5", Min: -2, Max: 2, Low: -2, High: 2, Folded: true}
	pointX       = lessons.PlaceControl{X: newCoordinate("x1", "x₁", "1.2"), Y: newCoordinate("x2", "x₂", "0.5")}
	pointZ       = lessons.PlaceControl{X: newCoordinate("z1", "z₁", "0.6"), Y: newCoordinate("z2", "z₂", "-1")}
	inputs       = lessons.IntegerControl{Name: "d", Label: "inputs d", Symbol: "d", Default: "4", Min: 2, Max: 300, Low: 2, High: 30, Help: "256 for a picture of 16 by 16 pixels."}
	degree       = lessons.IntegerControl{Name: "p", Label: "degree p", Symbol: "p", Default: "3", Min: 1, Max: 8, Low: 1, High: 8}
	coins        = lessons.IntegerControl{Name: "n", Label: "points M", Symbol: "M", Default: "60", Min: 4, Max: 400, Low: 4, High: 200, Help: "With labels drawn by tossing a coin."}
	endlessSet   = newSetControl("rings", "rings", "xor", "moons")
	endlessGamma = lessons.NumberControl{Name: "gamma", Label: "γ", Symbol: "γ", Default: "1", Min: 0.01, Max: 20, Low: 0.01, High: 20, Log: true}
	endlessC     = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 0.01, Max: 1000, Low: 0.01, High: 1000, Log: true}
	terms        = lessons.IntegerControl{Name: "terms", Label: "terms", Default: "4", Min: 1, Max: 30, Low: 1, High: 30}
	endlessTurn  = lessons.TurnControl{Yaw: "30", Pitch: "28"}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "kernel-trick",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{
				Slug: "line",
				Demo: lessons.NewDemo(showLine, lineSet, best, ends),
				Answers: map[string]lessons.Answer{
					"corners": func(context.Context) float64 {
						_, _, errors, err := theory.BestLine(corners.XY, corners.Y)
						lessons.Check(err)
						return float64(len(corners.Y) - errors - 2)
					},
				},
			},
			{Slug: "lift", Demo: lessons.NewDemo(showLift, liftSet, lifting, liftTurn), Answers: map[string]lessons.Answer{"xor": rightLift}},
			{
				Slug:    "bumps",
				Demo:    lessons.NewDemo(showBumps, bumpsSet, bumpsGamma, centres[0], centres[1], bumpsTurn),
				Answers: map[string]lessons.Answer{"ring": bumpsForRing},
			},
			{
				Slug: "xor",
				Demo: lessons.NewDemo(showXOR, xorTurn),
				Answers: map[string]lessons.Answer{
					"opposite": lessons.Is(theory.QuadraticPlane.Kernel.Eval([]float64{1, 1}, []float64{-1, -1})),
					"vectors": func(ctx context.Context) float64 {
						return float64(newXOR(ctx).vectors) - 2
					},
				},
			},
			{
				Slug: "trick",
				Demo: lessons.NewDemo(showTrick, featureMap, x3, z3, pointX, pointZ),
				Answers: map[string]lessons.Answer{
					"distinct": func(context.Context) float64 {
						phi := lessons.Must(theory.ProductsSpace.Rows(mat.NewDense(1, 3, []float64{2, 3, 5})))
						different := map[float64]bool{}
						for _, v := range phi.RawRowView(0) {
							different[v] = true
						}
						return float64(len(different))
					},
				},
			},
			{Slug: "representer", Demo: lessons.NewDemo(showRepresenter, outside, representerC), Answers: map[string]lessons.Answer{"outside": span}},
			{
				Slug: "cost",
				Demo: lessons.NewDemo(showCost, inputs, degree, coins),
				Answers: map[string]lessons.Answer{
					"coins": func(context.Context) float64 {
						for d := range 20 {
							if theory.CoverChance(20, d) == 0.5 {
								return float64(d)
							}
						}
						panic(lessons.Failf("no dimension gives one half"))
					},
				},
			},
			{
				Slug:    "endless",
				Demo:    lessons.NewDemo(showEndless, endlessSet, endlessGamma, endlessC, terms, endlessTurn),
				Answers: map[string]lessons.Answer{"rank": independent},
			},
		},
	})
}

// sets lists the data sets of this lesson.
var sets = []param.Option{
	{Name: "rings", Label: "Rings"},
	{Name: "xor", Label: "XOR, four clouds"},
	{Name: "corners", Label: "XOR, four points"},
	{Name: "moons", Label: "Blurred moons"},
}

func newSetControl(start string, names ...string) lessons.ChoiceControl {
	c := lessons.ChoiceControl{Name: "set", Label: "points", Default: start}
	for _, name := range names {
		for _, o := range sets {
			if o.Name == name {
				c.Options = append(c.Options, o)
			}
		}
	}
	return c
}

// newCoordinate returns a coordinate moved by a handle.
func newCoordinate(name, label, start string) lessons.NumberControl {
	return lessons.NumberControl{Name: name, Label: label, Default: start, Min: -2.4, Max: 2.4, Low: -2, High: 2, Folded: true}
}

// corners holds the four points of XOR.
var corners = lessons.Toy{XY: [][2]float64{{1, 1}, {-1, -1}, {-1, 1}, {1, -1}}, Y: []float64{1, 1, -1, -1}}

var limits = figure.Limits{XMin: -2.2, XMax: 2.2, YMin: -2.1, YMax: 2.1}

// toy returns one of the sets. Coordinates have two decimals, so that the lab gets the displayed
// points.
func toy(name string) lessons.Toy {
	var (
		d     *dataset.Data
		scale = 1.0
		shift = [2]float64{}
	)
	switch name {
	case "corners":
		return corners
	case "rings":
		d = lessons.Must(dataset.Generate("circles", 48, 0.08, 1))
		scale = 1.6
	case "xor":
		d = lessons.Must(dataset.Generate("xor", 48, 0.24, 3))
	case "moons":
		d = lessons.Must(dataset.Generate("moons", 48, 0.25, 1))
		shift = [2]float64{-0.5, -0.25}
	default:
		panic(lessons.Failf("no points are called %q", name))
	}

	var t lessons.Toy
	for i, y := range d.Y {
		var p [2]float64
		for k := range p {
			p[k] = math.Round(100*scale*(d.X.At(i, k)+shift[k])) / 100
		}
		t.XY, t.Y = append(t.XY, p), append(t.Y, float64(2*y-1))
	}
	return t
}

// sides draws both sides of f = 0 for any function f, and the curve.
func sides(f func(x, y float64) float64) []figure.Mark {
	return append(lessons.Halves(f), figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Color: figure.Muted}, Plain: true, Name: "f = 0"})
}

// liftedFigure returns a drawing in three dimensions, rotated by its sliders.
func liftedFigure(in lessons.Input, turn lessons.TurnControl, name, caption string, l figure.Lifted) lessons.Figure {
	l.Yaw, l.Pitch = turn.Of(in)
	l.ClassNames = lessons.ClassNames()
	return lessons.Figure{Name: name, Caption: caption, Turns: true, Draw: lessons.Draws(2, l)}
}

func showLine(_ context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy(lineSet.Of(in))
	w, b, ok := ends.Line(in)
	e := &lessons.Exhibit{
		Handles: ends.Handles(in),
		Lab:     t.Lab("kernel", "linear", "C", "10"),
	}
	if !ok {
		e.Figures = []lessons.Figure{lessons.Plane("line", "", limits, 2, t.Dots(nil))}
		e.Notes = []string{lessons.NoLine}
		return e
	}
	yours := t.Errors(figure.Linear(w, -b))
	if turned := t.Errors(figure.Linear([2]float64{-w[0], -w[1]}, b)); turned < yours {
		w, b, yours = [2]float64{-w[0], -w[1]}, -b, turned
	}
	wrong := func(i int) bool { return t.Y[i]*(w[0]*t.XY[i][0]+w[1]*t.XY[i][1]+b) <= 0 }
	marks := t.Dots(wrong)
	line := func(caption string, more ...figure.Mark) lessons.Figure {
		return lessons.Plane("line", caption, limits, 2, lessons.Sides(w, b), marks, more)
	}
	const caption = "~Drag the two ends of the line.~ Ringed points are wrong. ~How few errors can you reach?~"
	e.Figures = []lessons.Figure{line(caption)}
	e.Numbers = []lessons.Number{{Label: "your errors", Value: fmt.Sprintf("%d of %d", yours, len(t.Y)), Help: "ringed points; the better of the two ways to name the sides"}}
	if best.Of(in) {
		bw, bb, fewest, err := theory.BestLine(t.XY, t.Y)
		lessons.Check(err)
		e.Figures[0] = line(caption+" With long dashes: a line with the fewest.", figure.Line{A: bw, C: -bb, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "a best line"}).Instead(e.Figures[0], caption)
		e.Numbers = append(e.Numbers, lessons.Number{Label: "fewest errors of any line", Value: fmt.Sprintf("%d of %d", fewest, len(t.Y)), Help: "every way in which a line can part the points has been tried", After: true})
		if fewest > 0 {
			e.After = []string{"No line does better than the dashed one, with any margin, any $C$, any amount of data."}
		}
	}
	return e
}

// lift is a third coordinate for points in the plane.
type lift struct {
	name, label, tex string
	z                func(x, y float64) float64
}

// lifts are in the order of the question's options.
var lifts = []lift{
	{"squares", "z = x₁² + x₂²", "x_1^2 + x_2^2", func(x, y float64) float64 { return x*x + y*y }},
	{"product", "z = x₁x₂", "x_1 x_2", func(x, y float64) float64 { return x * y }},
	{"sum", "z = x₁ + x₂", "x_1 + x_2", func(x, y float64) float64 { return x + y }},
}

func liftOptions() []param.Option {
	return lists.Map(lifts, func(l lift) param.Option { return param.Option{Name: l.name, Label: l.label} })
}

// plane trains a linear machine on features of the points (rows of phi) and returns its weights
// and bias.
func plane(ctx context.Context, phi *mat.Dense, y []float64, c string) (w []float64, b float64) {
	_, f := phi.Dims()
	d := &dataset.Data{Label: "label", X: phi, Y: lists.Map(y, lessons.Class), Classes: []string{"-1", "1"}}
	d.Features = lists.Make(f, func(k int) string { return "phi" + strconv.Itoa(k+1) })
	w, b, _ = lessons.Fit(ctx, d, "kernel", "linear", "C", c, "tol", "1e-4").Model.Linear()
	return w, b
}

// separate trains a plane on the lifted points and counts its errors.
func (l lift) separate(ctx context.Context, t lessons.Toy) (w []float64, b float64, errors int) {
	phi := mat.NewDense(len(t.Y), 3, nil)
	for i, p := range t.XY {
		phi.SetRow(i, []float64{p[0], p[1], l.z(p[0], p[1])})
	}
	w, b = plane(ctx, phi, t.Y, "100")
	return w, b, t.Errors(l.decision(w, b))
}

// decision returns f of weights in the feature space, as a function on the plane.
func (l lift) decision(w []float64, b float64) func(x, y float64) float64 {
	return func(x, y float64) float64 { return w[0]*x + w[1]*y + w[2]*l.z(x, y) + b }
}

// rightLift finds the coordinate with which a plane separates XOR.
func rightLift(ctx context.Context) float64 {
	t := toy("xor")
	for k, l := range lifts {
		_, _, errors := l.separate(ctx, t)
		if errors == 0 {
			return float64(k)
		}
	}
	panic(lessons.Failf("no coordinate separates the points"))
}

func showLift(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy(liftSet.Of(in))
	l := lifts[0]
	for _, k := range lifts {
		if k.name == lifting.Of(in) {
			l = k
		}
	}
	w, b, errors := l.separate(ctx, t)
	f := l.decision(w, b)
	box := figure.Lifted{
		X: "x₁", Y: "x₂", Z: strings.TrimPrefix(l.label, "z = "),
		Cut:     &figure.Cut{W: [3]float64{w[0], w[1], w[2]}, C: -b, Name: "plane"},
		Surface: l.z, SurfaceName: "surface of the map",
	}
	for i, p := range t.XY {
		miss := t.Y[i]*f(p[0], p[1]) <= 0
		box.Points = append(box.Points, figure.Dot3{At: [3]float64{p[0], p[1], l.z(p[0], p[1])}, Class: lessons.Class(t.Y[i]), Ring: miss})
	}
	note := lists.Either(errors > 0,
		fmt.Sprintf("This coordinate does not help: the plane with the largest soft margin still gets %d of %d points wrong.", errors, len(t.Y)),
		"The plane separates the lifted points. Where it meets the surface is a curve; seen from straight above (tilt 90) that curve is the boundary in the plane.")
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			liftedFigure(in, liftTurn, "lifted", fmt.Sprintf(`Every point is lifted to the height $z = %s$. ~Turn the box until you look along the plane.~`, l.tex), box),
			lessons.Plane("back", "The same boundary, back in the plane: no straight line any more.", limits, 2, sides(f), t.Dots(func(i int) bool { return t.Y[i]*f(t.XY[i][0], t.XY[i][1]) <= 0 })),
		},
		Notes: []string{note},
		Numbers: []lessons.Number{
			{Label: "errors of the plane", Value: fmt.Sprintf("%d of %d", errors, len(t.Y)), Help: "linear SVM on the three coordinates, $C = 100$"},
			{Label: `$\mathbf w$`, Value: fmt.Sprintf("(%s, %s, %s)", views.Short(w[0]), views.Short(w[1]), views.Short(w[2])), Help: "the last weight belongs to the new coordinate"},
			{Label: `$b$`, Value: views.Short(b)},
		},
		Lab: t.Lab("kernel", "poly", "degree", "2", "gamma", "1", "coef0", "1", "C", "100"),
	}
	if liftSet.Of(in) == "xor" { // the question is which coordinate helps
		box.Cut = nil
		for i := range box.Points {
			box.Points[i].Ring = false
		}
		asks := fmt.Sprintf(`Every point is lifted to the height $z = %s$. Would a plane part the classes? ~Turn the box and look.~`, l.tex)
		e.Figures[0] = e.Figures[0].Instead(liftedFigure(in, liftTurn, "lifted", asks, box), asks)
		const back = "The points in the plane. Where would the boundary be?"
		e.Figures[1] = e.Figures[1].Instead(lessons.Plane("back", back, limits, 2, t.Dots(nil)), back)
		e.Notes, e.After = nil, e.Notes
		for i := range e.Numbers {
			e.Numbers[i].After = true
		}
	}
	return e
}

// bumpsForRing returns the index of the smallest number of bumps, one or two, that separate the
// rings, with the first in the centre.
func bumpsForRing(ctx context.Context) float64 {
	t := toy("rings")
	for k, centres := range []*mat.Dense{mat.NewDense(1, 2, nil), mat.NewDense(2, 2, []float64{0, 0, 1, 0})} {
		phi := lessons.Must(theory.GaussianBasis(centres, 1).Rows(t.Matrix()))
		w, b := plane(ctx, phi, t.Y, "1000")
		wrong := lists.Where(len(t.Y), func(i int) bool { return t.Y[i]*(floats.Dot(w, phi.RawRowView(i))+b) <= 0 })
		if len(wrong) == 0 {
			return float64(k)
		}
	}
	return 2
}

func showBumps(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy(bumpsSet.Of(in))
	c := [2][2]float64{centres[0].Of(in), centres[1].Of(in)}
	at := mat.NewDense(2, 2, []float64{c[0][0], c[0][1], c[1][0], c[1][1]})
	phi := lessons.Must(theory.GaussianBasis(at, bumpsGamma.Of(in)).Rows(t.Matrix()))
	w, b := plane(ctx, phi, t.Y, "100")
	bumps := kernel.NewSum(kernel.RBF(bumpsGamma.Of(in)), at, w)
	f := func(x, y float64) float64 { return bumps.At([]float64{x, y}) + b }
	miss := func(i int) bool { return t.Y[i]*f(t.XY[i][0], t.XY[i][1]) <= 0 }
	// The higher bump has height 1, whatever the scale of f.
	scale := max(math.Abs(w[0]), math.Abs(w[1]), 1e-9)
	height := func(x, y float64) float64 { return (f(x, y) - b) / scale }
	box := figure.Lifted{
		X: "x₁", Y: "x₂", Z: "height", Surface: height, SurfaceName: "w·φ(x)",
		Min: [3]float64{-2, -2, -1.1}, Max: [3]float64{2, 2, 1.1},
		Cut: &figure.Cut{W: [3]float64{0, 0, 1}, C: -b / scale, Name: "plane f = 0"},
	}
	space := lessons.Toy{Y: t.Y}
	for i, p := range t.XY {
		space.XY = append(space.XY, [2]float64{phi.At(i, 0), phi.At(i, 1)})
		box.Points = append(box.Points, figure.Dot3{At: [3]float64{p[0], p[1], height(p[0], p[1])}, Class: lessons.Class(t.Y[i]), Ring: miss(i)})
	}
	if w[0] >= 0 && w[1] >= 0 {
		box.Min[2] = 0
	}
	if w[0] <= 0 && w[1] <= 0 {
		box.Max[2] = 0
	}
	marks := []figure.Mark{
		figure.Dot{At: c[0], Class: -1, Held: true, Label: "c₁", Name: "centre"},
		figure.Dot{At: c[1], Class: -1, Held: true, Label: "c₂", Name: "centre"},
	}
	errors := t.Errors(f)
	note := lists.Either(errors > 0, "Not yet: no line parts the classes in the new coordinates.", "Separated: in the new coordinates a straight line does it.")
	var straight []figure.Mark
	if w[0] != 0 || w[1] != 0 {
		straight = lessons.Sides([2]float64{w[0], w[1]}, b)
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Plane("bumps", `~Drag the two centres.~ The curve is where $w_1\phi_1 + w_2\phi_2 + b = 0$; ringed points are wrong.`, limits, 2, sides(f), t.Dots(miss), marks),
			{Name: "space", Caption: `The new coordinates: similarity to $\mathbf c_1$ and to $\mathbf c_2$. Here the boundary is a line.`, Draw: lessons.Draws(2, figure.Plane{
				X: "φ₁", Y: "φ₂", Limits: figure.Limits{XMin: -0.05, XMax: 1.05, YMin: -0.05, YMax: 1.05}, Marks: append(straight, space.Dots(miss)...),
			})},
			liftedFigure(in, bumpsTurn, "lifted", `The bumps, added up with their weights (a negative one is a hollow). The level plane cuts them at $f = 0$.`, box),
		},
		Handles: []lessons.Handle{
			centres[0].Handle("first centre", in),
			centres[1].Handle("second centre", in),
		},
		Notes: []string{note},
		Numbers: []lessons.Number{
			{Label: "errors", Value: fmt.Sprintf("%d of %d", errors, len(t.Y)), Help: `linear SVM on $(\phi_1, \phi_2)$, $C = 100$`},
			{Label: `$w_1,\ w_2$`, Value: views.Short(w[0]) + ", " + views.Short(w[1])},
			{Label: `$b$`, Value: views.Short(b)},
			{Label: `$s = 1/\sqrt{2\gamma}$`, Value: views.Short(1 / math.Sqrt(2*bumpsGamma.Of(in))), Help: "reach of a bump, in units of the picture"},
		},
		Lab: t.Lab("kernel", "rbf", "gamma", bumpsGamma.Text(in), "C", "100"),
	}
}

// xor is the worked example.
type xor struct {
	phi     *mat.Dense // 4 x 6
	gram    *mat.SymDense
	model   *ml.Model
	alpha   []float64
	w       []float64 // in the six dimensions
	b, norm float64
	vectors int // support vectors
}

// newXOR trains a hard-margin machine on the four corners with the quadratic kernel and maps it
// to the six-dimensional feature space.
func newXOR(ctx context.Context) *xor {
	t := corners
	d := t.Data()
	res := lessons.Fit(ctx, d, "kernel", "poly", "gamma", "1", "coef0", "1", "degree", "2", "hard_margin", "true", "tol", "1e-9")
	u := res.Coefficients()
	x := &xor{model: res.Model, alpha: floats.MulTo(make([]float64, len(u)), u, t.Y), b: res.Model.Machines[0].B, vectors: res.Report.SupportVectors}
	x.phi = lessons.Must(theory.QuadraticPlane.Rows(t.Matrix()))
	x.w = lessons.Must(theory.QuadraticPlane.Weights(t.Matrix(), u))
	x.norm = floats.Norm(x.w, 2)
	x.gram = theory.Gram(kernel.NewGram(theory.QuadraticPlane.Kernel, t.Matrix()))
	return x
}

// decision returns f = wᵀφ + b at a point of the plane.
func (x *xor) decision(a, b float64) float64 {
	return x.w[0] + math.Sqrt2*(x.w[1]*a+x.w[2]*b+x.w[5]*a*b) + x.w[3]*a*a + x.w[4]*b*b + x.b
}

// quadratic returns y'Ky: with equal multipliers a the dual is 4a - a²/2 times it.
func (x *xor) quadratic() float64 {
	y := mat.NewVecDense(len(corners.Y), corners.Y)
	return mat.Inner(y, x.gram, y)
}

// The states of the replay.
const (
	xorPoints = iota
	xorMap
	xorGram
	xorAlpha
	xorWeights
	xorBack
	xorSteps
)

func showXOR(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	x := newXOR(ctx)
	t := corners
	step := min(in.Step, xorSteps-1)
	q := x.quadratic()
	short := func(v float64) string { return views.Short(math.Round(v*1e9) / 1e9) } // hides the solver's tolerance
	weights := lists.Map(x.w, short)
	lines := []lessons.Line{
		{Why: `Four points, and no line: this is the problem.`, TeX: ``},
		{Why: `Map each point to six dimensions. Coordinates 1, 4 and 5 are the same for all four; the other three can be drawn.`, TeX: `\phi(\mathbf x) = (1,\ \sqrt2 x_1,\ \sqrt2 x_2,\ x_1^2,\ x_2^2,\ \sqrt2 x_1 x_2)^\top`},
		{Slug: "gram", Why: `All the dual wants to know are inner products: the Gram matrix.`, TeX: `K_{ij} = \phi(\mathbf x_i)^\top\phi(\mathbf x_j) = (1 + \mathbf x_i^\top\mathbf x_j)^2`},
		{Slug: "equal", Why: `By symmetry all multipliers are equal to one number $a$. The dual is a parabola in $a$; its top is where the slope is 0.`, TeX: fmt.Sprintf(`W(a) = %s a - \tfrac12\, %s\, a^2 \quad\Rightarrow\quad a = \frac{%s}{%s} = %s`, short(float64(len(t.Y))), short(q), short(float64(len(t.Y))), short(q), short(float64(len(t.Y))/q))},
		{Why: `The weight vector has one entry that is not 0, and a plane at height 0 of that coordinate separates.`, TeX: fmt.Sprintf(`\mathbf w = \sum_i \alpha_i y_i \phi(\mathbf x_i) = (%s)^\top`, strings.ReplaceAll(strings.Join(weights, `,\ `), "−", "-"))},
		{Why: `Back in the plane: the factors $1/\sqrt2$ and $\sqrt2$ cancel. The boundary is the pair of axes.`, TeX: fmt.Sprintf(`f(\mathbf x) = \mathbf w^\top\phi(\mathbf x) + b = %s\, x_1 x_2`, strings.Replace(short(x.w[5]*math.Sqrt2), "1", "", 1))},
	}
	e := &lessons.Exhibit{Steps: xorSteps, Step: step, Body: lessons.Derivation(step, lines...), Lab: t.Lab("kernel", "poly", "gamma", "1", "coef0", "1", "degree", "2", "hard_margin", "true")}
	box := figure.Lifted{X: "√2 x₁", Y: "√2 x₂", Z: "√2 x₁x₂"}
	for i := range t.Y {
		box.Points = append(box.Points, figure.Dot3{At: [3]float64{x.phi.At(i, 1), x.phi.At(i, 2), x.phi.At(i, 5)}, Class: lessons.Class(t.Y[i]), Label: strconv.Itoa(i + 1)})
	}
	dots := t.Numbered(nil)
	const asks = "Coordinates 2, 3 and 6 of the feature space."
	images := liftedFigure(in, xorTurn, "images", asks, box)
	switch step {
	case xorPoints:
		e.Figures = []lessons.Figure{lessons.Plane("points", "The four points of XOR with their numbers. Try to draw a line between the classes.", limits, 2, dots)}
	case xorMap:
		e.Figures = []lessons.Figure{liftedFigure(in, xorTurn, "lifted", "Coordinates 2, 3 and 6 of the feature space. The height, the last coordinate, is the same within a class. ~Turn the box.~", box)}
	case xorGram:
		e.Figures = []lessons.Figure{{Name: "gram", Caption: `The Gram matrix. A point is most like itself, and equally like all others: the four feature vectors form a regular tetrahedron.`, Draw: lessons.Draws(2, figure.Matrix{
			X: "point j", Y: "point i", Name: "K", Values: x.gram, Classes: []int{1, 1, 0, 0}, ClassNames: lessons.ClassNames(),
		})}}
		e.Figures[0] = e.Figures[0].Instead(images, asks)
	case xorAlpha:
		e.Figures = []lessons.Figure{x.dualFigure().Instead(images, asks)}
	case xorWeights:
		box.Cut = &figure.Cut{W: [3]float64{x.w[1], x.w[2], x.w[5]}, C: -x.b - x.w[0] - x.w[3] - x.w[4], Name: "w·φ + b = 0"}
		e.Figures = []lessons.Figure{liftedFigure(in, xorTurn, "plane", "The separating plane in the same three coordinates. All four points are equally far from it: all are support vectors.", box).Instead(images, asks)}
	case xorBack:
		f := x.decision
		margin := figure.Contours{F: f, Levels: []float64{-1, 1}, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Plain: true, Name: "f = ±1"}
		e.Figures = []lessons.Figure{lessons.Plane("back", `The plane of the feature space, seen in the plane of the points: the boundary is the pair of axes, the margins $f = \pm 1$ are hyperbolas through the four points.`, limits, 3,
			sides(f), []figure.Mark{margin}, dots)}
	}
	head := []string{"point", "$y$"}
	caption := "The four points"
	if step >= xorMap {
		caption = "The four points and their images"
		for k := range theory.QuadraticPlane.Coordinates {
			head = append(head, `$\phi_`+strconv.Itoa(k+1)+`$`)
		}
	}
	solved := lessons.Table{Caption: "What the solver found", Head: []string{"point", `$\alpha$`}, After: true}
	if step >= xorBack {
		solved.Head = append(solved.Head, `$f$`)
	}
	tab := lessons.Table{Caption: caption, Head: head}
	for i, p := range t.XY {
		row := []string{fmt.Sprintf("%d: %s", i+1, lessons.Pair(p)), lessons.Signed(t.Y[i])}
		if step >= xorMap {
			row = append(row, lists.Map(x.phi.RawRowView(i), short)...)
		}
		found := []string{strconv.Itoa(i + 1), short(x.alpha[i])}
		if step >= xorBack {
			found = append(found, short(x.model.Decision(p[:])))
		}
		solved.Rows = append(solved.Rows, found)
		tab.Rows = append(tab.Rows, row)
	}
	e.Tables = []lessons.Table{tab}
	if step >= xorAlpha {
		e.Tables = append(e.Tables, solved)
	}
	if step >= xorWeights {
		e.Numbers = []lessons.Number{
			{Label: `$\lVert\mathbf w\rVert$`, Value: short(x.norm)},
			{Label: `$b$`, Value: short(x.b)},
			{Label: `margin $1/\lVert\mathbf w\rVert$`, Value: short(1 / x.norm), Help: "a distance in the feature space, not in the plane"},
		}
	}
	return e
}

// dualFigure plots the dual objective over the common value of the multipliers.
func (x *xor) dualFigure() lessons.Figure {
	n, q := float64(len(x.alpha)), x.quadratic()
	curve := lessons.CurveOf(0, 2*n/q, 100, func(a float64) float64 { return n*a - q*a*a/2 })
	curve.Name = "dual objective"
	return lessons.Figure{Name: "dual", Caption: `The dual objective when all four multipliers are equal to $a$. The vertical line is where the solver ends, which does not know about the symmetry.`, Draw: lessons.Draws(1, figure.Chart{
		X: figure.Axis{Name: "a"}, Y: figure.Axis{Name: "W(a)"}, Curves: []figure.Curve{curve}, Here: new(x.alpha[0]),
	})}
}

func showTrick(_ context.Context, in lessons.Input) *lessons.Exhibit {
	m, name := theory.QuadraticPlane, "(1 + x·z)²"
	px, pz := pointX.Of(in), pointZ.Of(in)
	x, z := px[:], pz[:]
	level := func(a, b float64) []float64 { return []float64{a, b} }
	caption := `~Drag the two points.~ Along a grey line all points have the same kernel value with $\mathbf z$.`
	if featureMap.Of(in) == "space" {
		m, name = theory.ProductsSpace, "(x·z)²"
		x, z = append(x, x3.Of(in)), append(z, z3.Of(in))
		level = func(a, b float64) []float64 { return []float64{a, b, x[2]} }
		caption = `~Drag the two points (their third coordinates are below, with the places as numbers).~ Along a grey line all points at the height of $\mathbf x$ have the same kernel value with $\mathbf z$.`
	}
	phi := lessons.Must(m.Rows(mat.NewDense(2, m.Inputs, append(append([]float64(nil), x...), z...))))
	phiX, phiZ := phi.RawRowView(0), phi.RawRowView(1)
	to := kernel.NewSum(m.Kernel, mat.NewDense(1, len(z), slices.Clone(z)), []float64{1})
	k := to.At(x)
	tab := lessons.Table{Caption: `The features, and their products, which add up to $\phi(\mathbf x)^\top\phi(\mathbf z)$`, Head: []string{"feature", `$\phi(\mathbf x)$`, `$\phi(\mathbf z)$`, "product"}}
	for i, c := range m.Coordinates {
		tab.Rows = append(tab.Rows, []string{c, views.Short(phiX[i]), views.Short(phiZ[i]), views.Short(phiX[i] * phiZ[i])})
	}
	features, direct := len(m.Coordinates), m.Inputs+m.Kernel.Values.Int("degree")-1
	dot := floats.Dot(phiX, phiZ)
	return &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("points", caption, limits, 1, []figure.Mark{
			figure.Contours{F: func(a, b float64) float64 { return to.At(level(a, b)) }, Name: "k(·, z)"},
			figure.Arrow{To: px, Pen: figure.Pen{Color: figure.Magenta}, Held: true, Label: "x"},
			figure.Arrow{To: pz, Pen: figure.Pen{Color: figure.Green}, Held: true, Label: "z"},
		})},
		Handles: []lessons.Handle{
			pointX.Handle("x", in),
			pointZ.Handle("z", in),
		},
		Numbers: []lessons.Number{
			{Label: `$\phi(\mathbf x)^\top\phi(\mathbf z)$`, Value: views.Long(dot), Help: fmt.Sprintf("sum of the %d products below", features)},
			{Label: "$k(\\mathbf x, \\mathbf z)$ = " + name, Value: views.Long(k), Help: fmt.Sprintf(`from $\mathbf x^\top\mathbf z = $ %s`, views.Short(floats.Dot(x, z)))},
			{Label: "difference", Value: fmt.Sprintf("%.1g", math.Abs(dot-k)), Help: "rounding of the computer's numbers"},
			{Label: "multiplications", Value: fmt.Sprintf("%d against %d", features, direct), Help: fmt.Sprintf(`inner product of features that are there already, against $d + p - 1 = %d + %d - 1$ for the kernel`, m.Inputs, m.Kernel.Values.Int("degree"))},
		},
		Tables: []lessons.Table{tab},
	}
}

func showCost(_ context.Context, in lessons.Input) *lessons.Exhibit {
	d, p, n := inputs.Of(in), degree.Of(in), coins.Of(in)
	f := theory.Monomials(d+1, p)
	chance := lessons.CurveOf(1, float64(n), n-1, func(k float64) float64 { return theory.CoverChance(n, int(k)-1) })
	chance.Name = fmt.Sprintf("%d points", n)
	here := math.Min(f, float64(n))
	whole := func(v float64) string {
		if v < 1e15 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return views.Short(v)
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			counter(d, p),
			{Name: "chance", Caption: "The probability that a hyperplane separates the points when each label is a coin toss. It turns from hopeless to certain around half as many features as points.", Asks: "Here comes the probability that a hyperplane separates the points when each label is a coin toss.", Wide: true, Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "features", Min: 1, Max: float64(n)}, Y: figure.Axis{Name: "chance", Min: 0, Max: 1.02}, Here: &here,
				Curves: []figure.Curve{chance}, Hidden: 1, Rules: []figure.Rule{{Name: "M/2", At: float64(n) / 2, Upright: true, Hidden: true}},
			})},
		},
		Numbers: []lessons.Number{
			{Label: `$\begin{pmatrix}d+p\\ p\end{pmatrix}$`, Value: whole(f), Help: `features of $(1 + \mathbf x^\top\mathbf z)^p$: monomials up to degree $p$`},
			{Label: `$\begin{pmatrix}d+p-1\\ p\end{pmatrix}$`, Value: whole(theory.Monomials(d, p)), Help: `features of $(\mathbf x^\top\mathbf z)^p$: monomials of degree $p$`},
			{Label: `$d^p$`, Value: whole(math.Pow(float64(d), float64(p))), Help: "products in every order, each counted anew"},
			{Label: "kernel", Value: whole(float64(d + p - 1)), Help: `multiplications for one value of $k$`},
			{Label: "chance", Value: views.Short(theory.CoverChance(n, int(here)-1)), Help: fmt.Sprintf("that random labels of %d points are separable with the features of $(1 + \\mathbf x^\\top\\mathbf z)^p$", n)},
		},
	}
}

// counter draws a dot per monomial in d inputs, a row per degree up to p, and below them one per
// multiplication of the kernel.
func counter(d, p int) lessons.Figure {
	const most = 30 // dots per row
	number := func(n float64) string {
		if n >= 1e6 { // which does not fit
			return strconv.FormatFloat(n, 'g', 2, 64)
		}
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	var marks []figure.Mark
	row := func(y float64, name string, n float64, dot func(at [2]float64) figure.Mark) {
		marks = append(marks, figure.Text{At: [2]float64{-5.5, y}, Text: name}, figure.Text{At: [2]float64{most + 6.3, y}, Text: number(n)})
		for i := range int(math.Min(n, most)) {
			marks = append(marks, dot([2]float64{float64(i), y}))
		}
		if n > most {
			marks = append(marks, figure.Arrow{From: [2]float64{most, y}, To: [2]float64{most + 2, y}, Pen: figure.Pen{Color: figure.Muted}})
		}
	}
	for k := range p + 1 {
		row(-float64(k), "degree "+strconv.Itoa(k), theory.Monomials(d, k), func(at [2]float64) figure.Mark { return figure.Dot{At: at, Class: -1} })
	}
	row(-float64(p)-1.5, "kernel", float64(d+p-1), func(at [2]float64) figure.Mark { return figure.Dot{At: at, Class: -1, Hollow: true} })
	return lessons.Figure{Name: "counter", Caption: "One dot for each feature, a row for each degree; below, hollow, the multiplications of the kernel. ~Raise $p$.~", Draw: lessons.Draws(0, figure.Plane{
		Bald: true, Stretched: true, Limits: figure.Limits{XMin: -9, XMax: most + 9, YMin: -float64(p) - 2.5, YMax: 1}, Marks: marks,
		Title: fmt.Sprintf("%s features, %s", number(theory.Monomials(d+1, p)), lessons.Count(d+p-1, "multiplication", "multiplications")),
	})}
}

// independent counts independent feature vectors of the RBF kernel.
func independent(context.Context) float64 {
	t := toy("xor")
	s := lessons.Must(theory.Mercer(theory.Gram(kernel.NewGram(kernel.RBF(10), t.Matrix()))))
	rank := lists.Count(s.Values, func(v float64) bool { return v > 1e-9*s.Values[0] })
	for k, n := range []int{2, 6, len(t.Y)} {
		if n == rank {
			return float64(k)
		}
	}
	panic(lessons.Failf("the Gram matrix has rank %d", rank))
}

func showEndless(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy(endlessSet.Of(in))
	res := lessons.Fit(ctx, t.Data(), "kernel", "rbf", "gamma", endlessGamma.Text(in), "C", endlessC.Text(in))
	f := func(x, y float64) float64 { return res.Model.Decision([]float64{x, y}) }
	u := res.Coefficients()
	box := figure.Lifted{
		X: "x₁", Y: "x₂", Z: "f(x)", Loose: true, Surface: f, SurfaceName: "f", Min: [3]float64{-2, -2, 0}, Max: [3]float64{2, 2, 0},
		Cut: &figure.Cut{W: [3]float64{0, 0, 1}, Name: "f = 0"},
	}
	for i, p := range t.XY {
		box.Points = append(box.Points, figure.Dot3{At: [3]float64{p[0], p[1], f(p[0], p[1])}, Class: lessons.Class(t.Y[i]), Ring: u[i] != 0})
	}
	g, terms := endlessGamma.Of(in), terms.Of(in)
	worst := 0.0
	series := lessons.CurvesOf(lessons.Linspace(-2, 2, 101), func(x float64) []float64 {
		exact, cut := math.Exp(-g*(x-1)*(x-1)), theory.RBFSeries(g, x, 1, terms)
		worst = max(worst, math.Abs(exact-cut))
		return []float64{exact, cut}
	}, "RBF kernel", "first terms only")
	errors := t.Errors(f)
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			liftedFigure(in, endlessTurn, "surface", `The decision function of an RBF SVM as a surface. It crosses the level plane $f = 0$ at the boundary; ringed points are support vectors, where the surface is held up or down.`, box),
			{Name: "series", Wide: true, Caption: fmt.Sprintf("In one dimension, $k(x, 1)$ against $x$, and what the first %d features make of it.", terms), Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "x", Min: -2, Max: 2}, Y: figure.Axis{Name: "k(x, 1)", Min: -0.3, Max: 1.1}, Curves: series,
			})},
		},
		Numbers: []lessons.Number{
			{Label: "training errors", Value: fmt.Sprintf("%d of %d", errors, len(t.Y)), Help: "at a finite $C$ nothing forbids them"},
			{Label: "support vectors", Value: strconv.Itoa(res.Report.SupportVectors), Help: `bumps that $f$ is made of`},
			{Label: "largest error of the series", Value: views.Short(worst), Help: fmt.Sprintf("with %d terms, between $x = -2$ and $2$", terms)},
		},
		Lab: t.Lab("kernel", "rbf", "gamma", endlessGamma.Text(in), "C", endlessC.Text(in)),
	}
}
