package lessons

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
)

var Kerneltrick = Lesson{
	Slug: "kernel-trick", Title: "Feature spaces and the kernel trick",
	Summary: "XOR by hand in six dimensions, bumps that lift a ring, and inner products without the features.",
	Screens: []Screen{
		{
			Slug: "line", Title: "Where every line fails",
			Covers: []string{"001 8.1", "002 feature-space"},
			Words:  kerneltrickLineWords,
			Demo: &Demo{
				Old: []param.Param{
					kerneltrickData("xor", "rings", "xor", "corners"),
					{Name: "best", Label: "show the best line", Kind: param.Switch, Default: "false", Help: "Try first."},
					kerneltrickPlace("ax", "first end x1", "-1.9"), kerneltrickPlace("ay", "first end x2", "1.2"),
					kerneltrickPlace("bx", "second end x1", "1.9"), kerneltrickPlace("by", "second end x2", "-0.8"),
				},
				Show: showKerneltrickLine,
			},
			Questions: []Question{{
				Slug: "corners", Ask: "Four corners of a square, opposite corners in one class. How many of the four can a line get right at best?",
				Options: []string{"two", "three", "all four"},
				Answer: func(context.Context) (float64, error) {
					_, _, errors := kerneltrickBestLine(kerneltrickCorners)
					return float64(len(kerneltrickCorners.Y) - errors - 2), nil
				},
				Explain: `The answer is %s: a line can cut off one corner. For all four, the half-plane of a class would hold both ends of a diagonal, hence also the middle of the square; the other half-plane would hold the middle as well.`,
			}},
		},
		{
			Slug: "lift", Title: "One more coordinate, and a plane will do",
			Covers: []string{"001 8.2", "002 feature-space"},
			Words:  kerneltrickLiftWords,
			Demo: &Demo{
				Old: append([]param.Param{
					kerneltrickData("rings", "rings", "xor"),
					{Name: "z", Label: "new coordinate", Kind: param.Choice, Default: "squares", Options: kerneltrickLiftOptions()},
				}, turnParams("30", "14")...),
				Show: showKerneltrickLift,
			},
			Questions: []Question{{
				Slug: "xor", Ask: "Which third coordinate lets a plane separate the XOR clouds without an error?",
				Options: []string{"$z = x_1^2 + x_2^2$", "$z = x_1 x_2$", "$z = x_1 + x_2$"},
				Answer:  kerneltrickRightLift,
				Explain: `%s is positive for one class and negative for the other. The squares have about the same size in all four clouds, and a sum of the old coordinates is nothing new: $(x_1, x_2, x_1 + x_2)$ lies in a plane already, and what cuts it is a line again.`,
			}},
		},
		{
			Slug: "bumps", Title: "Bumps: similarity to a few centres",
			Covers: []string{"001 9.1"},
			Words:  kerneltrickBumpsWords,
			Demo: &Demo{
				Old: append([]param.Param{
					kerneltrickData("xor", "xor", "rings"),
					{Name: "gamma", Label: "γ of the bumps", Symbol: "γ", Kind: param.Number, Default: "0.6", Min: 0.05, Max: 10, Low: 0.05, High: 10, Log: true, Help: "γ = 1/(2s²): larger is narrower."},
					kerneltrickPlace("ax", "first centre x1", "1"), kerneltrickPlace("ay", "first centre x2", "1"),
					kerneltrickPlace("bx", "second centre x1", "0.4"), kerneltrickPlace("by", "second centre x2", "-0.9"),
				}, turnParams("20", "24")...),
				Show: showKerneltrickBumps,
			},
			Questions: []Question{{
				Slug: "ring", Ask: "How many bumps does it take, at least, to separate the ring from what lies inside it?",
				Options: []string{"one", "two", "one for each point of the ring"},
				Answer:  kerneltrickBumpsForRing,
				Explain: `It takes %s, in the middle: $\exp(-\gamma\lVert\mathbf x - \mathbf c\rVert^2)$ is large inside, small on the ring, and one threshold parts them.`,
			}},
		},
		{
			Slug: "xor", Title: "XOR by hand, in six dimensions",
			Covers: []string{"001 10.1", "001 10.2", "001 12.2"},
			Words:  kerneltrickXORWords,
			Demo:   &Demo{Old: turnParams("25", "16"), Show: showKerneltrickXOR},
			Questions: []Question{
				{
					Slug: "opposite", Ask: `What is $k(\mathbf x, \mathbf z) = (1 + \mathbf x^\top\mathbf z)^2$ for the opposite corners $(1, 1)$ and $(-1, -1)$?`,
					Answer: func(context.Context) (float64, error) {
						return theory.QuadraticPlane.Kernel.Eval([]float64{1, 1}, []float64{-1, -1}), nil
					},
					Explain: `$(1 + (-2))^2 = $ %s, as much as for two neighbouring corners, $(1 + 0)^2$. A corner with itself has $(1 + 2)^2$.`,
				},
				{
					Slug: "vectors", Ask: "How many of the four points are support vectors in the six-dimensional space?",
					Options: []string{"two, one of each class", "three", "all four"},
					Answer: func(ctx context.Context) (float64, error) {
						x, err := newKerneltrickXOR(ctx)
						if err != nil {
							return 0, err
						}
						return float64(x.vectors()) - 2, nil
					},
					Explain: `The answer: %s. Turning the square by a right angle only swaps the classes, so no corner can matter more than another.`,
				},
			},
		},
		{
			Slug: "trick", Title: "The same number, without the features",
			Covers: []string{"001 10.3", "001 11.1", "001 11.2", "001 11.3", "001 12.1", "001 12.2", "002 kernel", "002 polynomial"},
			Words:  kerneltrickTrickWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "map", Label: "kernel", Kind: param.Choice, Default: "plane", Options: []param.Option{
						{Name: "plane", Label: "(1 + x·z)² in the plane", Help: "six features"},
						{Name: "space", Label: "(x·z)² in space", Help: "nine products"},
					}},
					{Name: "x3", Label: "x₃", Kind: param.Number, Default: "1", Min: -2, Max: 2, Low: -2, High: 2, Help: "In space only."},
					{Name: "z3", Label: "z₃", Kind: param.Number, Default: "-0.5", Min: -2, Max: 2, Low: -2, High: 2, Help: "In space only."},
					kerneltrickPlace("x1", "x₁", "1.2"), kerneltrickPlace("x2", "x₂", "0.5"),
					kerneltrickPlace("z1", "z₁", "0.6"), kerneltrickPlace("z2", "z₂", "-1"),
				},
				Show: showKerneltrickTrick,
			},
			Questions: []Question{{
				Slug: "distinct", Ask: `The nine products $x_i x_j$ of a point in space: how many *different* numbers are among them?`,
				Answer: func(context.Context) (float64, error) {
					phi, err := theory.ProductsSpace.Rows(mat.NewDense(1, 3, []float64{2, 3, 5})) // prime, so that equal products are equal monomials
					if err != nil {
						return 0, err
					}
					different := map[float64]bool{}
					for _, v := range phi.RawRowView(0) {
						different[v] = true
					}
					return float64(len(different)), nil
				},
				Explain: `Three squares, and $x_1x_2$, $x_1x_3$, $x_2x_3$ twice each: %s.`,
			}},
		},
		{
			Slug: "cost", Title: "What many features cost, and what they buy",
			Covers: []string{"001 9.2", "001 10.3", "002 polynomial"},
			Words:  kerneltrickCostWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "d", Label: "inputs d", Symbol: "d", Kind: param.Integer, Default: "4", Min: 2, Max: 300, Low: 2, High: 30, Help: "256 for a picture of 16 by 16 pixels."},
					{Name: "p", Label: "degree p", Symbol: "p", Kind: param.Integer, Default: "3", Min: 1, Max: 8, Low: 1, High: 8},
					{Name: "n", Label: "points M", Symbol: "M", Kind: param.Integer, Default: "60", Min: 4, Max: 400, Low: 4, High: 200, Help: "With labels drawn by tossing a coin."},
				},
				Show: showKerneltrickCost,
			},
			Questions: []Question{{
				Slug: "coins", Ask: "20 points in general position get labels by tossing a coin. In how many dimensions (the bias comes on top) are they separable with a chance of exactly one half?",
				Answer: func(context.Context) (float64, error) {
					for d := range 20 {
						if theory.CoverCount(20, d) == math.Exp2(19) {
							return float64(d), nil
						}
					}
					return 0, fmt.Errorf("no dimension gives one half")
				},
				Explain: `Half of the labellings are separable when there are twice as many points as free numbers: $20 = 2(d + 1)$, so $d = $ %s.`,
			}},
		},
		{
			Slug: "endless", Title: "A space without end",
			Covers: []string{"001 12.3", "001 11.3", "002 svm-definition"},
			Words:  kerneltrickEndlessWords,
			Demo: &Demo{
				Old: append([]param.Param{
					kerneltrickData("rings", "rings", "xor", "moons"),
					{Name: "gamma", Label: "γ", Symbol: "γ", Kind: param.Number, Default: "1", Min: 0.01, Max: 20, Low: 0.01, High: 20, Log: true},
					{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "1", Min: 0.01, Max: 1000, Low: 0.01, High: 1000, Log: true},
					{Name: "terms", Label: "terms of the series", Kind: param.Integer, Default: "4", Min: 1, Max: 30, Low: 1, High: 30},
				}, turnParams("30", "28")...),
				Show: showKerneltrickEndless,
			},
			Questions: []Question{{
				Slug: "rank", Ask: `48 different points of the plane, RBF kernel. How many of the vectors $\phi(\mathbf x_1), \dots, \phi(\mathbf x_{48})$ are linearly independent?`,
				Options: []string{"2, as the points lie in a plane", "6, as for the quadratic kernel", "all 48"},
				Answer:  kerneltrickIndependent,
				Explain: `The answer: %s. The Gram matrix has only positive eigenvalues, so no combination of the vectors is 0. It is so for any number of different points, and no finite dimension has room for that.`,
			}},
		},
	},
}

// kerneltrickSets are the data sets of this lesson.
var kerneltrickSets = []param.Option{
	{Name: "rings", Label: "Rings"},
	{Name: "xor", Label: "XOR, four clouds"},
	{Name: "corners", Label: "XOR, four points"},
	{Name: "moons", Label: "Blurred moons"},
}

// kerneltrickData is a control that offers some of the sets.
func kerneltrickData(start string, names ...string) param.Param {
	p := param.Param{Name: "set", Label: "points", Kind: param.Choice, Default: start}
	for _, name := range names {
		for _, o := range kerneltrickSets {
			if o.Name == name {
				p.Options = append(p.Options, o)
			}
		}
	}
	return p
}

// kerneltrickPlace is a coordinate that a handle moves.
func kerneltrickPlace(name, label, start string) param.Param {
	return param.Param{Name: name, Label: label, Kind: param.Number, Default: start, Min: -2.4, Max: 2.4, Low: -2, High: 2, Folded: true}
}

// kerneltrickCorners are the four points of XOR.
var kerneltrickCorners = Toy{[][2]float64{{1, 1}, {-1, -1}, {-1, 1}, {1, -1}}, []float64{1, 1, -1, -1}}

var kerneltrickLimits = figure.Limits{XMin: -2.2, XMax: 2.2, YMin: -2.1, YMax: 2.1}

// kerneltrickToy returns a set of kerneltrickSets. Coordinates have two decimals, so
// that the lab gets what the lesson shows.
func kerneltrickToy(name string) (Toy, error) {
	var (
		d     *dataset.Data
		err   error
		scale = 1.0
		shift = [2]float64{}
	)
	switch name {
	case "corners":
		return kerneltrickCorners, nil
	case "rings":
		d, err = dataset.Generate("circles", 48, 0.08, 1)
		scale = 1.6
	case "xor":
		d, err = dataset.Generate("xor", 48, 0.24, 3)
	case "moons":
		d, err = dataset.Generate("moons", 48, 0.25, 1)
		shift = [2]float64{-0.5, -0.25}
	default:
		return Toy{}, fmt.Errorf("no points are called %q", name)
	}
	if err != nil {
		return Toy{}, err
	}
	var t Toy
	for i, y := range d.Y {
		var p [2]float64
		for k := range p {
			p[k] = math.Round(100*scale*(d.X.At(i, k)+shift[k])) / 100
		}
		t.XY, t.Y = append(t.XY, p), append(t.Y, float64(2*y-1))
	}
	return t, nil
}

// kerneltrickSides are the two sides of f = 0 for any function f, and the curve.
func kerneltrickSides(f func(x, y float64) float64) []figure.Mark {
	return append(Halves(f), figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Color: figure.Muted}, Plain: true, Name: "f = 0"})
}

// kerneltrickLifted is a drawing in three dimensions, turned by the sliders.
func kerneltrickLifted(in Input, name, caption string, l figure.Lifted) Figure {
	l.Yaw, l.Pitch = in.Number("yaw"), in.Number("pitch")
	l.ClassNames = ClassNames()
	return Figure{Name: name, Caption: caption, Draw: func(look Look) (*figure.Picture, error) {
		p := l
		p.Format = look.Format(2)
		return p.Picture()
	}}
}

// kerneltrickBestLine is a line w·x + b = 0 with the fewest errors, and their
// number, for points in general position. Whatever a line does to the points, a
// line does that passes two of them as closely as one likes: shift the line until it
// meets a point, turn it about that one until it meets another. So all pairs are
// tried, with the two points of the pair on the side that suits them.
func kerneltrickBestLine(t Toy) (w [2]float64, b float64, errors int) {
	const aside = 1e-6 // how far the line keeps from the pair
	errors = len(t.Y) + 1
	for i, p := range t.XY {
		for j, q := range t.XY[:i] {
			n := [2]float64{q[1] - p[1], p[0] - q[0]}
			if Norm(n) == 0 {
				continue
			}
			for _, sign := range []float64{1, -1} {
				u := [2]float64{sign * n[0] / Norm(n), sign * n[1] / Norm(n)}
				wrong := 0
				for k, r := range t.XY {
					if k != i && k != j && t.Y[k]*(u[0]*(r[0]-p[0])+u[1]*(r[1]-p[1])) <= 0 {
						wrong++
					}
				}
				if wrong >= errors {
					continue
				}
				errors = wrong
				from := [2]float64{p[0] - aside*t.Y[i]*u[0], p[1] - aside*t.Y[i]*u[1]}
				to := [2]float64{q[0] - aside*t.Y[j]*u[0], q[1] - aside*t.Y[j]*u[1]}
				w = [2]float64{sign * (to[1] - from[1]), sign * (from[0] - to[0])}
				b = -(w[0]*from[0] + w[1]*from[1])
			}
		}
	}
	return w, b, errors
}

func showKerneltrickLine(_ context.Context, in Input) (*Exhibit, error) {
	t, err := kerneltrickToy(in.Text("set"))
	if err != nil {
		return nil, err
	}
	p, q := lineEnds(in)
	e := &Exhibit{
		Handles: lineHandles(in),
		Lab:     t.Lab("kernel", "linear", "C", "10"),
	}
	w := [2]float64{q[1] - p[1], p[0] - q[0]}
	if Norm(w) < 1e-6 {
		e.Figures = []Figure{Plane("line", "", kerneltrickLimits, 2, t.Dots(nil))}
		e.Notes = []string{NoLine}
		return e, nil
	}
	b := -(w[0]*p[0] + w[1]*p[1])
	yours := t.Errors(figure.Linear(w, -b))
	if turned := t.Errors(figure.Linear([2]float64{-w[0], -w[1]}, b)); turned < yours {
		w, b, yours = [2]float64{-w[0], -w[1]}, -b, turned
	}
	wrong := func(i int) bool { return t.Y[i]*(w[0]*t.XY[i][0]+w[1]*t.XY[i][1]+b) <= 0 }
	marks := t.Dots(wrong)
	e.Numbers = []Number{{Label: "your errors", Value: fmt.Sprintf("%d of %d", yours, len(t.Y)), Help: "ringed points; the better of the two ways to name the sides"}}
	if in.On("best") {
		bw, bb, fewest := kerneltrickBestLine(t)
		marks = append(marks, figure.Line{A: bw, C: -bb, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "a best line"})
		e.Numbers = append(e.Numbers, Number{Label: "fewest errors of any line", Value: fmt.Sprintf("%d of %d", fewest, len(t.Y)), Help: "every way in which a line can part the points has been tried"})
		if fewest > 0 {
			e.Notes = []string{"No line does better than the dashed one, with any margin, any $C$, any amount of data."}
		}
	}
	e.Figures = []Figure{Plane("line", "Drag the two ends of the line; ringed points are wrong. How few errors can you reach?", kerneltrickLimits, 2, Sides(w, b), marks)}
	return e, nil
}

// kerneltrickLift is a third coordinate for points of the plane.
type kerneltrickLift struct {
	name, label, tex string
	z                func(x, y float64) float64
}

// kerneltrickLifts are offered in the order of the question's options.
var kerneltrickLifts = []kerneltrickLift{
	{"squares", "z = x₁² + x₂²", "x_1^2 + x_2^2", func(x, y float64) float64 { return x*x + y*y }},
	{"product", "z = x₁x₂", "x_1 x_2", func(x, y float64) float64 { return x * y }},
	{"sum", "z = x₁ + x₂", "x_1 + x_2", func(x, y float64) float64 { return x + y }},
}

// kerneltrickLiftOptions are the lifts to choose from.
func kerneltrickLiftOptions() (options []param.Option) {
	for _, l := range kerneltrickLifts {
		options = append(options, param.Option{Name: l.name, Label: l.label})
	}
	return options
}

// kerneltrickPlane trains a linear machine on features of the points (rows of phi)
// and returns its weights and bias.
func kerneltrickPlane(ctx context.Context, phi *mat.Dense, y []float64, c string) (w []float64, b float64, err error) {
	_, f := phi.Dims()
	d := &dataset.Data{Label: "label", X: phi, Classes: []string{"-1", "1"}}
	for k := range f {
		d.Features = append(d.Features, "phi"+strconv.Itoa(k+1))
	}
	for _, v := range y {
		d.Y = append(d.Y, Class(v))
	}
	res, _, err := Fit(ctx, d, "kernel", "linear", "C", c, "tol", "1e-4")
	if err != nil {
		return nil, 0, err
	}
	w, b, _ = res.Model.Linear()
	return w, b, nil
}

// separate trains a plane on the lifted points and counts its errors.
func (l kerneltrickLift) separate(ctx context.Context, t Toy) (w []float64, b float64, errors int, err error) {
	phi := mat.NewDense(len(t.Y), 3, nil)
	for i, p := range t.XY {
		phi.SetRow(i, []float64{p[0], p[1], l.z(p[0], p[1])})
	}
	w, b, err = kerneltrickPlane(ctx, phi, t.Y, "100")
	if err != nil {
		return nil, 0, 0, err
	}
	return w, b, t.Errors(l.decision(w, b)), nil
}

// decision is f of weights in the feature space, over the plane.
func (l kerneltrickLift) decision(w []float64, b float64) func(x, y float64) float64 {
	return func(x, y float64) float64 { return w[0]*x + w[1]*y + w[2]*l.z(x, y) + b }
}

// kerneltrickRightLift finds the coordinate under which a plane separates XOR.
func kerneltrickRightLift(ctx context.Context) (float64, error) {
	t, err := kerneltrickToy("xor")
	if err != nil {
		return 0, err
	}
	for k, l := range kerneltrickLifts {
		_, _, errors, err := l.separate(ctx, t)
		if err != nil {
			return 0, err
		}
		if errors == 0 {
			return float64(k), nil
		}
	}
	return 0, fmt.Errorf("no coordinate separates the points")
}

func showKerneltrickLift(ctx context.Context, in Input) (*Exhibit, error) {
	t, err := kerneltrickToy(in.Text("set"))
	if err != nil {
		return nil, err
	}
	l := kerneltrickLifts[0]
	for _, k := range kerneltrickLifts {
		if k.name == in.Text("z") {
			l = k
		}
	}
	w, b, errors, err := l.separate(ctx, t)
	if err != nil {
		return nil, err
	}
	f := l.decision(w, b)
	lifted := figure.Lifted{
		X: "x1", Y: "x2", Z: strings.TrimPrefix(l.label, "z = "),
		Cut:     &figure.Cut{W: [3]float64{w[0], w[1], w[2]}, C: -b, Name: "plane"},
		Surface: l.z, SurfaceName: "surface of the map",
	}
	for i, p := range t.XY {
		miss := t.Y[i]*f(p[0], p[1]) <= 0
		lifted.Points = append(lifted.Points, figure.Dot3{At: [3]float64{p[0], p[1], l.z(p[0], p[1])}, Class: Class(t.Y[i]), Ring: miss})
	}
	note := "The plane separates the lifted points. Where it meets the surface is a curve; seen from straight above (tilt 90) that curve is the boundary in the plane."
	if errors > 0 {
		note = fmt.Sprintf("This coordinate does not help: the plane with the largest soft margin still gets %d of %d points wrong.", errors, len(t.Y))
	}
	return &Exhibit{
		Figures: []Figure{
			kerneltrickLifted(in, "lifted", fmt.Sprintf(`Every point is lifted to the height $z = %s$. Turn the box until you look along the plane.`, l.tex), lifted),
			Plane("back", "The same boundary, back in the plane: no straight line any more.", kerneltrickLimits, 2, kerneltrickSides(f), t.Dots(func(i int) bool { return t.Y[i]*f(t.XY[i][0], t.XY[i][1]) <= 0 })),
		},
		Notes: []string{note},
		Numbers: []Number{
			{Label: "errors of the plane", Value: fmt.Sprintf("%d of %d", errors, len(t.Y)), Help: "linear SVM on the three coordinates, $C = 100$"},
			{Label: `$\mathbf w$`, Value: fmt.Sprintf("(%s, %s, %s)", views.Short(w[0]), views.Short(w[1]), views.Short(w[2])), Help: "the last weight belongs to the new coordinate"},
			{Label: `$b$`, Value: views.Short(b)},
		},
		Lab: t.Lab("kernel", "poly", "degree", "2", "gamma", "1", "coef0", "1", "C", "100"),
	}, nil
}

// kerneltrickBumpsForRing is the index of the smallest number of bumps, one or two,
// that separate the rings, with the first in the middle.
func kerneltrickBumpsForRing(ctx context.Context) (float64, error) {
	t, err := kerneltrickToy("rings")
	if err != nil {
		return 0, err
	}
	for k, centres := range []*mat.Dense{mat.NewDense(1, 2, nil), mat.NewDense(2, 2, []float64{0, 0, 1, 0})} {
		phi, err := theory.GaussianBasis(centres, 1).Rows(t.Matrix())
		if err != nil {
			return 0, err
		}
		w, b, err := kerneltrickPlane(ctx, phi, t.Y, "1000")
		if err != nil {
			return 0, err
		}
		wrong := 0
		for i, y := range t.Y {
			if y*(floats.Dot(w, phi.RawRowView(i))+b) <= 0 {
				wrong++
			}
		}
		if wrong == 0 {
			return float64(k), nil
		}
	}
	return 2, nil
}

func showKerneltrickBumps(ctx context.Context, in Input) (*Exhibit, error) {
	t, err := kerneltrickToy(in.Text("set"))
	if err != nil {
		return nil, err
	}
	c := [2][2]float64{{in.Number("ax"), in.Number("ay")}, {in.Number("bx"), in.Number("by")}}
	g := in.Number("gamma")
	phi, err := theory.GaussianBasis(mat.NewDense(2, 2, []float64{c[0][0], c[0][1], c[1][0], c[1][1]}), g).Rows(t.Matrix())
	if err != nil {
		return nil, err
	}
	w, b, err := kerneltrickPlane(ctx, phi, t.Y, "100")
	if err != nil {
		return nil, err
	}
	bump := func(k int, x, y float64) float64 {
		dx, dy := x-c[k][0], y-c[k][1]
		return math.Exp(-g * (dx*dx + dy*dy))
	}
	f := func(x, y float64) float64 { return w[0]*bump(0, x, y) + w[1]*bump(1, x, y) + b }
	miss := func(i int) bool { return t.Y[i]*f(t.XY[i][0], t.XY[i][1]) <= 0 }
	// The higher bump gets height 1, whatever the scale of f.
	scale := max(math.Abs(w[0]), math.Abs(w[1]), 1e-9)
	height := func(x, y float64) float64 { return (f(x, y) - b) / scale }
	lifted := figure.Lifted{
		X: "x1", Y: "x2", Z: "height", Surface: height, SurfaceName: "w·φ(x)",
		Min: [3]float64{-2, -2, -1.1}, Max: [3]float64{2, 2, 1.1},
		Cut: &figure.Cut{W: [3]float64{0, 0, 1}, C: -b / scale, Name: "plane f = 0"},
	}
	space := Toy{Y: t.Y}
	for i, p := range t.XY {
		space.XY = append(space.XY, [2]float64{phi.At(i, 0), phi.At(i, 1)})
		lifted.Points = append(lifted.Points, figure.Dot3{At: [3]float64{p[0], p[1], height(p[0], p[1])}, Class: Class(t.Y[i]), Ring: miss(i)})
	}
	if w[0] >= 0 && w[1] >= 0 {
		lifted.Min[2] = 0
	}
	if w[0] <= 0 && w[1] <= 0 {
		lifted.Max[2] = 0
	}
	centres := []figure.Mark{
		figure.Dot{At: c[0], Class: -1, Label: "c₁", Name: "centre"},
		figure.Dot{At: c[1], Class: -1, Label: "c₂", Name: "centre"},
	}
	errors := t.Errors(f)
	note := "Separated: in the new coordinates a straight line does it."
	if errors > 0 {
		note = "Not yet. Where would a centre have to be, so that nearness to it tells the classes apart?"
	}
	var straight []figure.Mark
	if w[0] != 0 || w[1] != 0 {
		straight = Sides([2]float64{w[0], w[1]}, b)
	}
	return &Exhibit{
		Figures: []Figure{
			Plane("bumps", `Drag the two centres. The curve is where $w_1\phi_1 + w_2\phi_2 + b = 0$; ringed points are wrong.`, kerneltrickLimits, 2, kerneltrickSides(f), t.Dots(miss), centres),
			{Name: "space", Caption: `The new coordinates: similarity to $\mathbf c_1$ and to $\mathbf c_2$. Here the boundary is a line.`, Draw: func(l Look) (*figure.Picture, error) {
				p := figure.Plane{Format: l.Format(2), X: "φ₁", Y: "φ₂", Limits: figure.Limits{XMin: -0.05, XMax: 1.05, YMin: -0.05, YMax: 1.05}}
				p.Marks = append(append(p.Marks, straight...), space.Dots(miss)...)
				return p.Picture()
			}},
			kerneltrickLifted(in, "lifted", `The bumps, added up with their weights (a negative one is a hollow). The level plane cuts them at $f = 0$.`, lifted),
		},
		Handles: []Handle{
			{Label: "first centre", X: c[0][0], Y: c[0][1], XParam: "ax", YParam: "ay"},
			{Label: "second centre", X: c[1][0], Y: c[1][1], XParam: "bx", YParam: "by"},
		},
		Notes: []string{note},
		Numbers: []Number{
			{Label: "errors", Value: fmt.Sprintf("%d of %d", errors, len(t.Y)), Help: `linear SVM on $(\phi_1, \phi_2)$, $C = 100$`},
			{Label: `$w_1,\ w_2$`, Value: views.Short(w[0]) + ", " + views.Short(w[1])},
			{Label: `$b$`, Value: views.Short(b)},
			{Label: `$s = 1/\sqrt{2\gamma}$`, Value: views.Short(1 / math.Sqrt(2*g)), Help: "reach of a bump, in units of the picture"},
		},
		Lab: t.Lab("kernel", "rbf", "gamma", in.Text("gamma"), "C", "100"),
	}, nil
}

// kerneltrickXOR is the worked example of the SVM notes, 12.2.
type kerneltrickXOR struct {
	phi     *mat.Dense // 4 x 6
	gram    *mat.SymDense
	model   *ml.Model
	alpha   []float64
	w       []float64 // in the six dimensions
	b, norm float64
}

// newKerneltrickXOR trains a hard-margin machine on the four corners with the
// quadratic kernel and carries it over into the six dimensions.
func newKerneltrickXOR(ctx context.Context) (*kerneltrickXOR, error) {
	t := kerneltrickCorners
	d, err := t.Data()
	if err != nil {
		return nil, err
	}
	res, _, err := Fit(ctx, d, "kernel", "poly", "gamma", "1", "coef0", "1", "degree", "2", "hard_margin", "true", "tol", "1e-9")
	if err != nil {
		return nil, err
	}
	x := &kerneltrickXOR{model: res.Model, alpha: make([]float64, len(t.Y)), b: res.Model.Machines[0].B}
	u := make([]float64, len(t.Y))
	for k, i := range res.Model.Supports.Rows {
		u[i] = res.Model.Machines[0].Coef[k]
		x.alpha[i] = u[i] * t.Y[i]
	}
	if x.phi, err = theory.QuadraticPlane.Rows(t.Matrix()); err != nil {
		return nil, err
	}
	if x.w, err = theory.QuadraticPlane.Weights(t.Matrix(), u); err != nil {
		return nil, err
	}
	x.norm = floats.Norm(x.w, 2)
	x.gram = theory.Gram(kernel.NewGram(theory.QuadraticPlane.Kernel, t.Matrix()))
	return x, nil
}

// vectors counts the support vectors.
func (x *kerneltrickXOR) vectors() (n int) {
	for _, a := range x.alpha {
		if a > 1e-9 {
			n++
		}
	}
	return n
}

// quadratic is y'Ky: with equal multipliers a the dual is 4a - a²/2 times it.
func (x *kerneltrickXOR) quadratic() (s float64) {
	y := kerneltrickCorners.Y
	for i := range y {
		for j := range y {
			s += y[i] * y[j] * x.gram.At(i, j)
		}
	}
	return s
}

// The states of the replay.
const (
	kerneltrickXORPoints = iota
	kerneltrickXORMap
	kerneltrickXORGram
	kerneltrickXORAlpha
	kerneltrickXORWeights
	kerneltrickXORBack
	kerneltrickXORSteps
)

func showKerneltrickXOR(ctx context.Context, in Input) (*Exhibit, error) {
	x, err := newKerneltrickXOR(ctx)
	if err != nil {
		return nil, err
	}
	t := kerneltrickCorners
	step := min(in.Step, kerneltrickXORSteps-1)
	q := x.quadratic()
	short := func(v float64) string { return views.Short(math.Round(v*1e9) / 1e9) } // hides what the solver's tolerance leaves
	var weights []string
	for _, v := range x.w {
		weights = append(weights, short(v))
	}
	lines := []Line{
		{`Four points, and no line: this is the problem.`, ``},
		{`Map each point to six dimensions. Coordinates 1, 4 and 5 are the same for all four; the other three can be drawn.`, `\phi(\mathbf x) = (1,\ \sqrt2 x_1,\ \sqrt2 x_2,\ x_1^2,\ x_2^2,\ \sqrt2 x_1 x_2)^\top`},
		{`All the dual wants to know are inner products: the Gram matrix.`, `K_{ij} = \phi(\mathbf x_i)^\top\phi(\mathbf x_j) = (1 + \mathbf x_i^\top\mathbf x_j)^2`},
		{`By symmetry all multipliers are equal to one number $a$. The dual is a parabola in $a$; its top is where the slope is 0.`, fmt.Sprintf(`W(a) = %s a - \tfrac12\, %s\, a^2 \quad\Rightarrow\quad a = \frac{%s}{%s} = %s`, short(float64(len(t.Y))), short(q), short(float64(len(t.Y))), short(q), short(float64(len(t.Y))/q))},
		{`The weight vector has one entry that is not 0, and a plane at height 0 of that coordinate separates.`, fmt.Sprintf(`\mathbf w = \sum_i \alpha_i y_i \phi(\mathbf x_i) = (%s)^\top`, strings.ReplaceAll(strings.Join(weights, `,\ `), "−", "-"))},
		{`Back in the plane: the factors $1/\sqrt2$ and $\sqrt2$ cancel. The boundary is the pair of axes.`, fmt.Sprintf(`f(\mathbf x) = \mathbf w^\top\phi(\mathbf x) + b = %s\, x_1 x_2`, strings.Replace(short(x.w[5]*math.Sqrt2), "1", "", 1))},
	}
	e := &Exhibit{Steps: kerneltrickXORSteps, Step: step, Body: Derivation(step, lines...), Lab: t.Lab("kernel", "poly", "gamma", "1", "coef0", "1", "degree", "2", "hard_margin", "true")}
	lifted := figure.Lifted{X: "√2 x1", Y: "√2 x2", Z: "√2 x1x2"}
	for i := range t.Y {
		lifted.Points = append(lifted.Points, figure.Dot3{At: [3]float64{x.phi.At(i, 1), x.phi.At(i, 2), x.phi.At(i, 5)}, Class: Class(t.Y[i]), Label: strconv.Itoa(i + 1)})
	}
	dots := t.Dots(nil)
	for i := range dots {
		dot := dots[i].(figure.Dot)
		dot.Label = strconv.Itoa(i + 1)
		dots[i] = dot
	}
	switch step {
	case kerneltrickXORPoints:
		e.Figures = []Figure{Plane("points", "The four points of XOR with their numbers. Try to lay a line between the classes.", kerneltrickLimits, 2, dots)}
	case kerneltrickXORMap:
		e.Figures = []Figure{kerneltrickLifted(in, "lifted", "Coordinates 2, 3 and 6 of the feature space. The height, the last coordinate, is the same within a class. Turn the box.", lifted)}
	case kerneltrickXORGram:
		e.Figures = []Figure{{Name: "gram", Caption: `The Gram matrix. A point is most like itself, and equally like all others: the four feature vectors form a regular tetrahedron.`, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Matrix{Format: l.Format(2), X: "point j", Y: "point i", Name: "K", Values: x.gram, Classes: []int{1, 1, 0, 0}, ClassNames: ClassNames()}.Picture()
		}}}
	case kerneltrickXORAlpha:
		e.Figures = []Figure{x.dualFigure()}
	case kerneltrickXORWeights:
		lifted.Cut = &figure.Cut{W: [3]float64{x.w[1], x.w[2], x.w[5]}, C: -x.b - x.w[0] - x.w[3] - x.w[4], Name: "w·φ + b = 0"}
		e.Figures = []Figure{kerneltrickLifted(in, "plane", "The separating plane in the same three coordinates. All four points are equally far from it: all are support vectors.", lifted)}
	case kerneltrickXORBack:
		f := func(a, b float64) float64 { return x.model.Decision([]float64{a, b}) }
		margin := figure.Contours{F: f, Levels: []float64{-1, 1}, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Plain: true, Name: "f = ±1"}
		e.Figures = []Figure{Plane("back", `The plane of the feature space, seen in the plane of the points: the boundary is the pair of axes, the margins $f = \pm 1$ are hyperbolas through the four points.`, kerneltrickLimits, 3,
			kerneltrickSides(f), []figure.Mark{margin}, dots)}
	}
	head := []string{"point", "$y$"}
	caption := "The four points"
	if step >= kerneltrickXORMap {
		caption = "The four points and their images"
		for k := range theory.QuadraticPlane.Coordinates {
			head = append(head, `$\phi_`+strconv.Itoa(k+1)+`$`)
		}
	}
	if step >= kerneltrickXORAlpha {
		head = append(head, `$\alpha$`)
	}
	if step >= kerneltrickXORBack {
		head = append(head, `$f$`)
	}
	tab := Table{Caption: caption, Head: head}
	for i, p := range t.XY {
		row := []string{fmt.Sprintf("%d: %s", i+1, Pair(p)), fmt.Sprintf("%+.0f", t.Y[i])}
		if step >= kerneltrickXORMap {
			for _, v := range x.phi.RawRowView(i) {
				row = append(row, short(v))
			}
		}
		if step >= kerneltrickXORAlpha {
			row = append(row, short(x.alpha[i]))
		}
		if step >= kerneltrickXORBack {
			row = append(row, short(x.model.Decision(p[:])))
		}
		tab.Rows = append(tab.Rows, row)
	}
	e.Tables = []Table{tab}
	if step >= kerneltrickXORWeights {
		e.Numbers = []Number{
			{Label: `$\lVert\mathbf w\rVert$`, Value: short(x.norm)},
			{Label: `$b$`, Value: short(x.b)},
			{Label: `margin $1/\lVert\mathbf w\rVert$`, Value: short(1 / x.norm), Help: "a distance in the feature space, not in the plane"},
		}
	}
	return e, nil
}

// dualFigure is the dual objective over the common value of the multipliers.
func (x *kerneltrickXOR) dualFigure() Figure {
	n, q := float64(len(x.alpha)), x.quadratic()
	var as, ws []float64
	for k := range 101 {
		a := 2 * n / q * float64(k) / 100
		as, ws = append(as, a), append(ws, n*a-q*a*a/2)
	}
	here := x.alpha[0]
	return Figure{Name: "dual", Caption: `The dual objective when all four multipliers are equal to $a$. The upright line is where the solver ends, which does not know of the symmetry.`, Draw: func(l Look) (*figure.Picture, error) {
		return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "a"}, Y: figure.Axis{Name: "W(a)"}, Curves: []figure.Curve{{Name: "dual objective", X: as, Y: ws}}, Here: &here}.Picture()
	}}
}

func showKerneltrickTrick(_ context.Context, in Input) (*Exhibit, error) {
	m, name := theory.QuadraticPlane, "(1 + x·z)²"
	x, z := []float64{in.Number("x1"), in.Number("x2")}, []float64{in.Number("z1"), in.Number("z2")}
	level := func(a, b float64) []float64 { return []float64{a, b} }
	caption := `Drag the two points. Along a grey line all points have the same kernel value with $\mathbf z$.`
	if in.Text("map") == "space" {
		m, name = theory.ProductsSpace, "(x·z)²"
		x, z = append(x, in.Number("x3")), append(z, in.Number("z3"))
		level = func(a, b float64) []float64 { return []float64{a, b, x[2]} }
		caption = `Drag the two points (their third coordinates are sliders). Along a grey line all points at the height of $\mathbf x$ have the same kernel value with $\mathbf z$.`
	}
	phi, err := m.Rows(mat.NewDense(2, m.Inputs, append(append([]float64(nil), x...), z...)))
	if err != nil {
		return nil, err
	}
	px, pz := phi.RawRowView(0), phi.RawRowView(1)
	k := m.Kernel.Eval(x, z)
	tab := Table{Caption: `The features, and their products, which add up to $\phi(\mathbf x)^\top\phi(\mathbf z)$`, Head: []string{"feature", `$\phi(\mathbf x)$`, `$\phi(\mathbf z)$`, "product"}}
	for i, c := range m.Coordinates {
		tab.Rows = append(tab.Rows, []string{c, views.Short(px[i]), views.Short(pz[i]), views.Short(px[i] * pz[i])})
	}
	features, direct := len(m.Coordinates), m.Inputs+m.Kernel.Values.Int("degree")-1
	dot := floats.Dot(px, pz)
	return &Exhibit{
		Figures: []Figure{Plane("points", caption, kerneltrickLimits, 1, []figure.Mark{
			figure.Contours{F: func(a, b float64) float64 { return m.Kernel.Eval(level(a, b), z) }, Name: "k(·, z)"},
			figure.Arrow{To: [2]float64{x[0], x[1]}, Pen: figure.Pen{Color: figure.Magenta}, Label: "x"},
			figure.Arrow{To: [2]float64{z[0], z[1]}, Pen: figure.Pen{Color: figure.Green}, Label: "z"},
		})},
		Handles: []Handle{
			{Label: "x", X: x[0], Y: x[1], XParam: "x1", YParam: "x2"},
			{Label: "z", X: z[0], Y: z[1], XParam: "z1", YParam: "z2"},
		},
		Numbers: []Number{
			{Label: `$\phi(\mathbf x)^\top\phi(\mathbf z)$`, Value: views.Long(dot), Help: fmt.Sprintf("sum of the %d products below", features)},
			{Label: "$k(\\mathbf x, \\mathbf z)$ = " + name, Value: views.Long(k), Help: fmt.Sprintf(`from $\mathbf x^\top\mathbf z = $ %s`, views.Short(floats.Dot(x, z)))},
			{Label: "difference", Value: fmt.Sprintf("%.1g", math.Abs(dot-k)), Help: "rounding of the computer's numbers"},
			{Label: "multiplications", Value: fmt.Sprintf("%d against %d", features, direct), Help: fmt.Sprintf(`inner product of features that are there already, against $d + p - 1 = %d + %d - 1$ for the kernel`, m.Inputs, m.Kernel.Values.Int("degree"))},
		},
		Tables: []Table{tab},
	}, nil
}

// kerneltrickChoose is the binomial coefficient C(n, k).
func kerneltrickChoose(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c = math.Round(c * float64(n-k+i) / float64(i))
	}
	return c
}

// kerneltrickChance is the share of the labellings of n points that a hyperplane
// f = w·phi realises, for f features one of which may be the constant.
func kerneltrickChance(n, f int) float64 { return theory.CoverCount(n, f-1) / math.Exp2(float64(n)) }

func showKerneltrickCost(_ context.Context, in Input) (*Exhibit, error) {
	d, p, n := in.Int("d"), in.Int("p"), in.Int("n")
	const most = 8
	var ps, printed, homogeneous, all, direct []float64
	for k := 1; k <= most; k++ {
		ps = append(ps, float64(k))
		printed = append(printed, math.Pow(float64(d), float64(k)))
		homogeneous = append(homogeneous, kerneltrickChoose(d+k-1, k))
		all = append(all, kerneltrickChoose(d+k, k))
		direct = append(direct, float64(d+k-1))
	}
	f := all[p-1]
	var fs, chance []float64
	for k := 1; k <= n; k++ {
		fs, chance = append(fs, float64(k)), append(chance, kerneltrickChance(n, k))
	}
	here, at := math.Min(f, float64(n)), float64(p)
	whole := func(v float64) string {
		if v < 1e15 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		return views.Short(v)
	}
	return &Exhibit{
		Figures: []Figure{
			{Name: "features", Caption: "Features against the degree, and what the kernel needs instead. The vertical scale is logarithmic: the gap is a factor.", Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(2), X: figure.Axis{Name: "degree p", Min: 1, Max: most}, Y: figure.Axis{Name: "number", Log: true}, Here: &at,
					Curves: []figure.Curve{
						{Name: "ordered products", X: ps, Y: printed, Marks: true},
						{Name: "monomials up to p", X: ps, Y: all, Marks: true},
						{Name: "monomials of degree p", X: ps, Y: homogeneous, Marks: true},
						{Name: "kernel: multiplications", X: ps, Y: direct, Marks: true},
					},
				}.Picture()
			}},
			{Name: "chance", Caption: "The chance that a hyperplane separates the points when their labels are coins. It turns from hopeless to certain around half as many features as points.", Wide: true, Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "features", Min: 1, Max: float64(n)}, Y: figure.Axis{Name: "chance", Min: 0, Max: 1.02}, Here: &here,
					Curves: []figure.Curve{{Name: fmt.Sprintf("%d points", n), X: fs, Y: chance}}, Rules: []figure.Rule{{Name: "M/2", At: float64(n) / 2, Upright: true}},
				}.Picture()
			}},
		},
		Numbers: []Number{
			{Label: `$\begin{pmatrix}d+p\\ p\end{pmatrix}$`, Value: whole(f), Help: `features of $(1 + \mathbf x^\top\mathbf z)^p$: monomials up to degree $p$`},
			{Label: `$\begin{pmatrix}d+p-1\\ p\end{pmatrix}$`, Value: whole(homogeneous[p-1]), Help: `features of $(\mathbf x^\top\mathbf z)^p$: monomials of degree $p$`},
			{Label: `$d^p$`, Value: whole(printed[p-1]), Help: "products in every order, as the slides count"},
			{Label: "kernel", Value: whole(direct[p-1]), Help: `multiplications for one value of $k$`},
			{Label: "chance", Value: views.Short(kerneltrickChance(n, int(math.Min(f, float64(n))))), Help: fmt.Sprintf("that random labels of %d points are separable with the features of $(1 + \\mathbf x^\\top\\mathbf z)^p$", n)},
		},
	}, nil
}

// kerneltrickIndependent counts independent feature vectors of the RBF kernel.
func kerneltrickIndependent(context.Context) (float64, error) {
	t, err := kerneltrickToy("xor")
	if err != nil {
		return 0, err
	}
	s, err := theory.Mercer(theory.Gram(kernel.NewGram(kernel.RBF(10), t.Matrix())))
	if err != nil {
		return 0, err
	}
	rank := 0
	for _, v := range s.Values {
		if v > 1e-9*s.Values[0] {
			rank++
		}
	}
	for k, n := range []int{2, 6, len(t.Y)} {
		if n == rank {
			return float64(k), nil
		}
	}
	return 0, fmt.Errorf("the Gram matrix has rank %d", rank)
}

func showKerneltrickEndless(ctx context.Context, in Input) (*Exhibit, error) {
	t, err := kerneltrickToy(in.Text("set"))
	if err != nil {
		return nil, err
	}
	d, err := t.Data()
	if err != nil {
		return nil, err
	}
	res, _, err := Fit(ctx, d, "kernel", "rbf", "gamma", in.Text("gamma"), "C", in.Text("C"))
	if err != nil {
		return nil, err
	}
	f := func(x, y float64) float64 { return res.Model.Decision([]float64{x, y}) }
	vector := map[int]bool{}
	for _, i := range res.Model.Supports.Rows {
		vector[i] = true
	}
	lifted := figure.Lifted{
		X: "x1", Y: "x2", Z: "f(x)", Loose: true, Surface: f, SurfaceName: "f", Min: [3]float64{-2, -2, 0}, Max: [3]float64{2, 2, 0},
		Cut: &figure.Cut{W: [3]float64{0, 0, 1}, Name: "f = 0"},
	}
	for i, p := range t.XY {
		lifted.Points = append(lifted.Points, figure.Dot3{At: [3]float64{p[0], p[1], f(p[0], p[1])}, Class: Class(t.Y[i]), Ring: vector[i]})
	}
	g, terms := in.Number("gamma"), in.Int("terms")
	var xs, exact, cut []float64
	worst := 0.0
	for k := range 101 {
		x := -2 + 4*float64(k)/100
		xs = append(xs, x)
		exact = append(exact, math.Exp(-g*(x-1)*(x-1)))
		cut = append(cut, kerneltrickSeries(g, x, 1, terms))
		worst = max(worst, math.Abs(exact[k]-cut[k]))
	}
	errors := t.Errors(f)
	return &Exhibit{
		Figures: []Figure{
			kerneltrickLifted(in, "surface", `The decision function of an RBF SVM as a surface. It crosses the level plane $f = 0$ at the boundary; ringed points are support vectors, where the surface is held up or down.`, lifted),
			{Name: "series", Wide: true, Caption: fmt.Sprintf("In one dimension, $k(x, 1)$ against $x$, and what the first %d features make of it.", terms), Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "x", Min: -2, Max: 2}, Y: figure.Axis{Name: "k(x, 1)", Min: -0.3, Max: 1.1},
					Curves: []figure.Curve{{Name: "RBF kernel", X: xs, Y: exact}, {Name: "first terms only", X: xs, Y: cut}},
				}.Picture()
			}},
		},
		Numbers: []Number{
			{Label: "training errors", Value: fmt.Sprintf("%d of %d", errors, len(t.Y)), Help: "at a finite $C$ nothing forbids them"},
			{Label: "support vectors", Value: strconv.Itoa(res.Report.SupportVectors), Help: `bumps that $f$ is made of`},
			{Label: "largest error of the series", Value: views.Short(worst), Help: fmt.Sprintf("with %d terms, between $x = -2$ and $2$", terms)},
		},
		Lab: t.Lab("kernel", "rbf", "gamma", in.Text("gamma"), "C", in.Text("C")),
	}, nil
}

// kerneltrickSeries is exp(-g x²) exp(-g z²) times the first terms of the series of
// exp(2 g x z): the inner product of so many features of the RBF kernel on a line.
func kerneltrickSeries(g, x, z float64, terms int) float64 {
	sum, term := 0.0, 1.0
	for k := range terms {
		sum += term
		term *= 2 * g * x * z / float64(k+1)
	}
	return math.Exp(-g*(x*x+z*z)) * sum
}
