package lessons

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	mlconformal "marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
)

var conformal = Lesson{
	Slug: "conformal", Title: "Kernel optimisation",
	Summary: "Magnify where the classes meet: what a conformal factor does to a kernel, how to judge it, and three ways to choose it.",
	Screens: []Screen{
		{
			Slug: "magnify", Title: "Steep between the classes, flat within",
			Covers: []string{"000 kernel-motivation"},
			Words:  conformalMagnifyWords,
			Demo: &Demo{
				Params: []param.Param{
					{Name: "steepness", Label: "steepness", Symbol: "s", Kind: param.Number, Default: "0.6", Min: 0, Max: 3, Low: 0, High: 3, Help: "0 is the identity map."},
					{Name: "where", Label: "steepest place", Symbol: "m", Kind: param.Number, Default: "0", Min: -3, Max: 3, Low: -3, High: 3},
				},
				Show: showConformalMagnify,
			},
			Questions: []Question{{
				Slug: "wrong-place", Ask: `The map is made steep inside a class instead ($m = -2$, $s = 1.5$). How does $R/\Delta$ compare with that of the identity map?`,
				Options: []string{"It is smaller: magnifying helps anywhere.", "It is the same.", "It is larger."},
				Answer: func(context.Context) (float64, error) {
					before, after := conformalRatio(conformalBend(0, 0)), conformalRatio(conformalBend(1.5, -2))
					return float64(1 + sign(after-before)), nil
				},
				Explain: `The ends stay where they are, so length that is given to the inside of a class is taken from the gap. To magnify, one must first know where the boundary is.`,
			}},
		},
		{
			Slug: "metric", Title: "A kernel measures the input plane",
			Covers: []string{"000 kernel"},
			Words:  conformalMetricWords,
			Demo: &Demo{
				Params: []param.Param{
					{Name: "kernel", Label: "kernel", Kind: param.Choice, Default: "rbf", Options: []param.Option{
						{Name: "rbf", Label: "RBF", Help: "exp(−γ |x − z|²)"},
						{Name: "poly", Label: "quadratic", Help: "(γ x·z + 1)²"},
						{Name: "linear", Label: "linear", Help: "x·z"},
					}},
					{Name: "gamma", Label: "kernel width", Symbol: "γ", Kind: param.Number, Default: "0.2", Min: 0.05, Max: 5, Low: 0.05, High: 5, Log: true},
					{Name: "height", Label: "height of the core", Symbol: "α₁", Kind: param.Number, Default: "1.5", Min: -3, Max: 3, Low: -3, High: 3, Help: "c(x) = 1 + α₁ exp(−½ |x − a|²); 0 leaves the kernel as it is."},
					{Name: "kx", Label: "core x1", Kind: param.Number, Default: "-0.8", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
					{Name: "ky", Label: "core x2", Kind: param.Number, Default: "0.3", Min: -2, Max: 2, Low: -2, High: 2, Folded: true},
					{Name: "px", Label: "probe x1", Kind: param.Number, Default: "0.6", Min: -3, Max: 3, Low: -3, High: 3, Folded: true},
					{Name: "py", Label: "probe x2", Kind: param.Number, Default: "0.9", Min: -2, Max: 2, Low: -2, High: 2, Folded: true},
				},
				Show: showConformalMetric,
			},
			Questions: []Question{{
				Slug: "uniform", Ask: `The RBF kernel with $\gamma = 2$, in the plane, without a factor. By how much does it enlarge a small area, $\sqrt{\det \mathbf g}$?`,
				Answer: func(context.Context) (float64, error) {
					g, err := theory.Metric(kernel.RBF(2), []float64{0.3, -1})
					return theory.Magnification(g), err
				},
				Explain: `$\mathbf g = 2\gamma\,\mathbf I$, so $\sqrt{\det\mathbf g} = 2\gamma = $ %s, at every place alike: by itself this kernel does not know where the boundary is.`,
			}},
		},
		{
			Slug: "fisher", Title: "One number for separation",
			Covers: []string{"000 kernel"},
			Words:  conformalFisherWords,
			Demo: &Demo{
				Params: []param.Param{
					{Name: "kernel", Label: "kernel", Kind: param.Choice, Default: "linear", Options: []param.Option{
						{Name: "linear", Label: "linear: φ(x) = x", Help: "Two features."},
						{Name: "quadratic", Label: "quadratic: (1 + x·z)²", Help: "Six features."},
					}},
					{Name: "sorted", Label: "rows sorted by class", Kind: param.Switch, Default: "true", Help: "Of the matrices in the pictures; nothing else changes."},
					{Name: "px", Label: "point x1", Kind: param.Number, Default: "0.9", Min: -2, Max: 2, Low: -2, High: 2, Folded: true},
					{Name: "py", Label: "point x2", Kind: param.Number, Default: "-0.6", Min: -1.5, Max: 1.5, Low: -1.5, High: 1.5, Folded: true},
				},
				Show: showConformalFisher,
			},
			Questions: []Question{{
				Slug: "order", Ask: `The formulas of $\mathbf B$ and $\mathbf W$ are written for rows sorted by class. What if they are not sorted?`,
				Options: []string{"J comes out wrong.", "J is the same, if “block” is read as “both points of the same class”.", "J changes its sign."},
				Answer: func(ctx context.Context) (float64, error) {
					f, err := newConformalTwoWays(theory.FeatureMap{}, conformalSix(0.9, -0.6))
					if err != nil {
						return 0, err
					}
					j, err := mlconformal.J(ctx, kernel.NewGram(kernel.Kernel{Name: "linear"}, f.points.matrix()), f.points.y, conformalOnes(len(f.points.y)))
					if math.Abs(j-f.scatter()) < 1e-12 && math.Abs(j-f.matrices()) < 1e-12 {
						return 1, err
					}
					return 0, err
				},
				Explain: `The six points of this screen are *not* sorted, and both computations agree. Exchanging two rows together with the same two columns changes no sum.`,
			}},
		},
		{
			Slug: "factor", Title: "Cores and coefficients, by hand",
			Covers: []string{"000 kernel"},
			Words:  conformalFactorWords,
			Demo: &Demo{
				Params: []param.Param{
					{Name: "a0", Label: "constant", Symbol: "α₀", Kind: param.Number, Default: "1", Min: -2, Max: 2, Low: -2, High: 2},
					{Name: "a1", Label: "first core", Symbol: "α₁", Kind: param.Number, Default: "1", Min: -3, Max: 3, Low: -3, High: 3},
					{Name: "a2", Label: "second core", Symbol: "α₂", Kind: param.Number, Default: "1", Min: -3, Max: 3, Low: -3, High: 3},
					{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Kind: param.Number, Default: "1", Min: 0.05, Max: 10, Low: 0.05, High: 10, Log: true},
					{Name: "solver", Label: "show the best coefficients", Kind: param.Switch, Default: "false", Help: "Try first."},
					{Name: "ux", Label: "first core x1", Kind: param.Number, Default: "0", Min: -2, Max: 3, Low: -2, High: 3, Folded: true},
					{Name: "uy", Label: "first core x2", Kind: param.Number, Default: "0.4", Min: -1.5, Max: 2, Low: -1.5, High: 2, Folded: true},
					{Name: "vx", Label: "second core x1", Kind: param.Number, Default: "1", Min: -2, Max: 3, Low: -2, High: 3, Folded: true},
					{Name: "vy", Label: "second core x2", Kind: param.Number, Default: "0.1", Min: -1.5, Max: 2, Low: -1.5, High: 2, Folded: true},
				},
				Show: showConformalFactor,
			},
			Questions: []Question{{
				Slug: "negative", Ask: `$c(\mathbf x)$ is negative at some points and positive at others. Is $c(\mathbf x)\,c(\mathbf z)\,k(\mathbf x, \mathbf z)$ still a valid kernel?`,
				Options: []string{"Yes, whatever the signs.", "No: it has negative entries.", "Only if k has negative entries as well."},
				Answer: func(context.Context) (float64, error) {
					p := conformalMoons()
					k := p.scaled((&mlconformal.Map{Gamma: 1, Alpha: []float64{1, -1}, Cores: [][]float64{{-1, 0.5}, {2, 0}}}).Factors(p.x))
					s, err := theory.Mercer(theory.Gram(k))
					return yes(s.PSD), err
				},
				Explain: `$\mathbf v^\top\mathbf D\mathbf K\mathbf D\,\mathbf v = (\mathbf D\mathbf v)^\top\mathbf K(\mathbf D\mathbf v) \ge 0$: a negative factor turns $\phi(\mathbf x)$ round in feature space, no more.`,
			}},
		},
		{
			Slug: "eigen", Title: "The best factor is an eigenvector",
			Covers: []string{"000 kernel"},
			Words:  conformalEigenWords,
			Demo: &Demo{
				Params: []param.Param{
					{Name: "cores", Label: "cores", Kind: param.Integer, Default: "8", Min: 1, Max: 30, Low: 1, High: 30},
					{Name: "repeat", Label: "use every core twice", Kind: param.Switch, Default: "false"},
					{Name: "ridge", Label: "ridge", Symbol: "D", Kind: param.Number, Default: "1e-3", Min: 1e-6, Max: 1, Low: 1e-6, High: 1, Log: true},
					{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Kind: param.Number, Default: "1", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true},
				},
				Show: showConformalEigen,
			},
			Questions: []Question{{
				Slug: "trap", Ask: `Every core is used twice. Does the ridge $D\,\mathbf I$ make $\mathbf Q = \mathbf K_1^\top(\mathbf W_0 + D\,\mathbf I)\mathbf K_1$ invertible?`,
				Options: []string{"Yes, that is what it is for.", "No: it stands inside, between the two K₁.", "Only if D is large enough."},
				Answer: func(context.Context) (float64, error) {
					p := conformalMoons()
					for _, d := range []float64{1e-3, 1, 1e3} {
						values, err := p.rayleigh(p.spread(8, true), 1, d).qValues()
						if err != nil {
							return 0, err
						}
						if values[0] > 1e-12*values[len(values)-1] {
							return 2, nil
						}
					}
					return 1, nil
				},
				Explain: `Two equal columns of $\mathbf K_1$ give a vector $\mathbf v$ with $\mathbf K_1\mathbf v = 0$, hence $\mathbf v^\top\mathbf Q\,\mathbf v = 0$ for every $D$.`,
			}},
		},
		{
			Slug: "gradient", Title: "Climbing instead of solving",
			Covers: []string{"000 kernel"},
			Words:  conformalGradientWords,
			Demo: &Demo{
				Params: []param.Param{
					{Name: "rate", Label: "first step", Symbol: "η₀", Kind: param.Number, Default: "0.1", Min: 0.005, Max: 1, Low: 0.005, High: 1, Log: true},
					{Name: "cores", Label: "cores", Kind: param.Integer, Default: "8", Min: 1, Max: 30, Low: 1, High: 30},
					{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Kind: param.Number, Default: "1", Min: 0.05, Max: 10, Low: 0.05, High: 10, Log: true},
				},
				Show: showConformalGradient,
			},
			Questions: []Question{{
				Slug: "above", Ask: "Same cores, same width, the ridge in both. Can the gradient method, with more steps, end above the largest eigenvalue?",
				Options: []string{"Yes, it is not restricted to eigenvectors.", "No, that is the maximum of the same quotient.", "Yes, if the first step is large enough."},
				Answer: func(ctx context.Context) (float64, error) {
					p := conformalMoons()
					top, err := p.rayleigh(p.spread(8, false), 1, conformalRidge).solve()
					if err != nil {
						return 0, err
					}
					for _, rate := range []float64{0.05, 0.2, 1} {
						r := p.rayleigh(p.spread(8, false), 1, conformalRidge)
						path := r.climb(ctx, 1000, rate)
						for i := range path.Len() {
							if r.quotient(path.At(i)) > top.values[0]*(1+1e-9) {
								return 0, nil
							}
						}
					}
					return 1, nil
				},
				Explain: `Every $\boldsymbol\alpha$ is a candidate for both, and the largest eigenvalue is the maximum over all of them. The gradient can only come close.`,
			}},
		},
		{
			Slug: "methods", Title: "No method wins everywhere",
			Covers: []string{"000 kernel"},
			Words:  conformalMethodsWords,
			Demo: &Demo{
				Params: []param.Param{
					DataParam("moons"),
					{Name: "learner", Label: "learner", Kind: param.Choice, Default: "mcm", Options: []param.Option{{Name: "svm", Label: "SVM", Help: "widest margin"}, {Name: "mcm", Label: "MCM", Help: "smallest h"}}},
					{Name: "gamma", Label: "kernel width", Symbol: "γ", Kind: param.Number, Default: "1", Min: 0.02, Max: 10, Low: 0.02, High: 10, Log: true},
					{Name: "C", Label: "price of slack", Symbol: "C", Kind: param.Number, Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true},
					{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Kind: param.Number, Default: "1", Min: 0.02, Max: 10, Low: 0.02, High: 10, Log: true},
					{Name: "seed", Label: "split", Kind: param.Integer, Default: "1", Min: 1, Max: 20, Low: 1, High: 20, Help: "Which 30 % of the rows are held out."},
					{Name: "average", Label: "average over ten splits", Kind: param.Switch, Default: "false"},
				},
				Show: showConformalMethods,
			},
			Questions: []Question{{
				Slug: "best", Ask: "The eigen method reaches the largest J of the three. Does it also have the best accuracy on held-out points, on moons, circles, XOR and checkerboard (the settings of this screen)?",
				Options: []string{"Yes, on all of them.", "Not on all of them."},
				Answer:  conformalAlwaysBest,
				Explain: `J is an average over all training rows. Accuracy is decided by the few rows near the boundary, and by rows that J has never seen.`,
			}},
		},
	},
}

// conformalOnes is a vector of n ones.
func conformalOnes(n int) []float64 {
	v := make([]float64, n)
	floats.AddConst(1, v)
	return v
}

// conformalLine are points of the real line, a class on each side of 0.
var conformalLine = toy{
	[][2]float64{{-3}, {-2.4}, {-1.9}, {-1.2}, {-0.6}, {0.5}, {1.1}, {1.6}, {2.3}, {3}},
	[]float64{-1, -1, -1, -1, -1, 1, 1, 1, 1, 1},
}

const conformalEnd = 3 // the ends of the line, which every map keeps

// conformalBend is a map of the line that is steepest at m and keeps the ends:
// tanh(s (x - m)), shifted and scaled. s = 0 is the identity.
func conformalBend(s, m float64) func(x float64) float64 {
	if s < 1e-6 {
		return func(x float64) float64 { return x }
	}
	lo, hi := math.Tanh(s*(-conformalEnd-m)), math.Tanh(s*(conformalEnd-m))
	return func(x float64) float64 {
		return conformalEnd * (2*(math.Tanh(s*(x-m))-lo)/(hi-lo) - 1)
	}
}

// conformalGap are the images of the two points beside the gap.
func conformalGap(bend func(float64) float64) (left, right float64) {
	left, right = math.Inf(-1), math.Inf(1)
	for i, p := range conformalLine.xy {
		if v := bend(p[0]); conformalLine.y[i] < 0 {
			left = math.Max(left, v)
		} else {
			right = math.Min(right, v)
		}
	}
	return left, right
}

// conformalRatio is R/Δ of the images: half their extent over half the gap.
func conformalRatio(bend func(float64) float64) float64 {
	left, right := conformalGap(bend)
	return 2 * conformalEnd / (right - left)
}

func showConformalMagnify(_ context.Context, in Input) (*Exhibit, error) {
	s, m := in.Number("steepness"), in.Number("where")
	bend := conformalBend(s, m)
	const floor = -3.8 // where the points stand beside the axes
	var curve [][2]float64
	for i := range 121 {
		x := conformalEnd * (float64(i)/60 - 1)
		curve = append(curve, [2]float64{x, bend(x)})
	}
	left, right := conformalGap(bend)
	l0, r0 := conformalGap(conformalBend(0, 0))
	thin := figure.Pen{Color: figure.Muted, Dash: figure.Dotted, Thin: true}
	gap := figure.Pen{Color: figure.Magenta}
	marks := []figure.Mark{
		figure.Line{A: [2]float64{1, -1}, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dashed, Thin: true}, Name: "identity map"},
		figure.Segment{From: [2]float64{l0, floor}, To: [2]float64{l0, left}, Pen: thin},
		figure.Segment{From: [2]float64{r0, floor}, To: [2]float64{r0, right}, Pen: thin},
		figure.Segment{From: [2]float64{floor, left}, To: [2]float64{l0, left}, Pen: thin},
		figure.Segment{From: [2]float64{floor, right}, To: [2]float64{r0, right}, Pen: thin},
		figure.Path{Points: curve, Plain: true, Name: "the map"},
		figure.Segment{From: [2]float64{l0, floor}, To: [2]float64{r0, floor}, Pen: gap, Name: "gap 2Δ", Label: "before"},
		figure.Segment{From: [2]float64{floor, left}, To: [2]float64{floor, right}, Pen: gap, Name: "gap 2Δ", Label: "after"},
	}
	for i, p := range conformalLine.xy {
		name := className(conformalLine.y[i])
		marks = append(marks,
			figure.Dot{At: [2]float64{p[0], floor}, Class: class(conformalLine.y[i]), Name: name},
			figure.Dot{At: [2]float64{floor, bend(p[0])}, Class: class(conformalLine.y[i]), Name: name})
	}
	before, after := conformalRatio(conformalBend(0, 0)), conformalRatio(bend)
	slope := func(x float64) float64 { return (bend(x+1e-5) - bend(x-1e-5)) / 2e-5 }
	e := &Exhibit{
		Figures: []Figure{{Name: "map", Caption: "The points stand below; their images stand at the left. Compare the two gaps. Drag the steepest place out of the gap and see what becomes of it.", Draw: func(l Look) (*figure.Picture, error) {
			return figure.Plane{Format: l.Format(2), X: "x", Y: "image of x", Limits: figure.Limits{XMin: floor - 0.2, XMax: 3.3, YMin: floor - 0.2, YMax: 3.3}, Marks: marks}.Picture()
		}}},
		Handles: []Handle{{Label: "steepest place", X: m, Y: bend(m), XParam: "where"}},
		Numbers: []Number{
			{Label: `$R/\Delta$ before`, Value: views.Short(before), Help: "half the extent of all points over half the gap"},
			{Label: `$R/\Delta$ after`, Value: views.Short(after), Help: "the same, of the images"},
			{Label: `$1 + (R/\Delta)^2$`, Value: views.Short(1+before*before) + " → " + views.Short(1+after*after), Help: "the bound of the VC dimension for data of high dimension"},
			{Label: "slope in the gap", Value: views.Short(slope((l0 + r0) / 2)), Help: "the magnification there; 1 for the identity map"},
			{Label: "slope at the ends", Value: fmt.Sprintf("%.2f, %.2f", slope(-conformalEnd), slope(conformalEnd))},
		},
	}
	switch d := after - before; {
	case sign(d) < 0:
		e.Notes = []string{fmt.Sprintf(`The gap has grown, the extent has not: $R/\Delta$ is %.0f %% of what it was.`, 100*after/before)}
	case sign(d) > 0:
		e.Notes = []string{fmt.Sprintf(`Steep in the wrong place: the gap has shrunk, and $R/\Delta$ is %.0f %% of what it was.`, 100*after/before)}
	default:
		e.Notes = []string{"This is the identity map: nothing is magnified. Raise the steepness."}
	}
	return e, nil
}

func showConformalMetric(_ context.Context, in Input) (*Exhibit, error) {
	k := kernel.Kernel{Name: in.Text("kernel")}
	switch k.Name {
	case "rbf":
		k = kernel.RBF(in.Number("gamma"))
	case "poly":
		k = kernel.Polynomial(in.Number("gamma"), 1, 2)
	}
	core, height := []float64{in.Number("kx"), in.Number("ky")}, in.Number("height")
	metric := func(x []float64) (g *mat.SymDense, c float64, err error) {
		c, grad, err := theory.ConformalFactor(x, 1, []float64{height}, [][]float64{core}, 0.5)
		if err != nil {
			return nil, 0, err
		}
		g, err = theory.ConformalMetric(k, x, c, grad)
		return g, c, err
	}
	type ellipse struct {
		at     [2]float64
		axes   [2]float64 // square roots of the eigenvalues
		across mat.Dense  // eigenvectors, as columns
	}
	measure := func(at [2]float64) (e ellipse, err error) {
		g, _, err := metric(at[:])
		if err != nil {
			return e, err
		}
		var es mat.EigenSym
		if !es.Factorize(g, true) {
			return e, errors.New("the metric has no eigenvalues: its entries are not finite")
		}
		for i, v := range es.Values(nil) {
			e.axes[i] = math.Sqrt(math.Max(0, v))
		}
		es.VectorsTo(&e.across)
		e.at = at
		return e, nil
	}
	var grid []ellipse
	largest := 0.0
	for i := range 9 {
		for j := range 7 {
			e, err := measure([2]float64{0.75 * float64(i-4), 0.75 * float64(j-3)})
			if err != nil {
				return nil, err
			}
			largest = math.Max(largest, e.axes[1])
			grid = append(grid, e)
		}
	}
	var marks []figure.Mark
	for _, e := range grid {
		var p [][2]float64
		for i := range 33 {
			t := 2 * math.Pi * float64(i) / 32
			a, b := 0.36*e.axes[0]/largest*math.Cos(t), 0.36*e.axes[1]/largest*math.Sin(t)
			p = append(p, [2]float64{e.at[0] + a*e.across.At(0, 0) + b*e.across.At(0, 1), e.at[1] + a*e.across.At(1, 0) + b*e.across.At(1, 1)})
		}
		marks = append(marks, figure.Path{Points: p, Plain: true, Pen: figure.Pen{Color: figure.Blue}, Name: "image of a small circle"})
	}
	probe := in.place("px", "py")
	g, c, err := metric(probe[:])
	if err != nil {
		return nil, err
	}
	plain, err := theory.Metric(k, probe[:])
	if err != nil {
		return nil, err
	}
	at, err := measure(probe)
	if err != nil {
		return nil, err
	}
	marks = append(marks,
		figure.Dot{At: [2]float64{core[0], core[1]}, Class: -1, Ring: true, Label: "core a"},
		figure.Dot{At: probe, Class: -1, Label: "probe"})
	shape := "–"
	if at.axes[0] > 0 {
		shape = views.Short(at.axes[1] / at.axes[0])
	}
	step := min(in.Step, len(conformalMetricDerivation)-1)
	return &Exhibit{
		Steps: len(conformalMetricDerivation), Step: step, Body: Derivation(step, conformalMetricDerivation...),
		Figures: []Figure{plane("metric", "Each ellipse is what becomes of a small circle at its centre, all on one scale: large where the kernel magnifies, round where it does not distort. Drag the core and the probe.",
			figure.Limits{XMin: -3.4, XMax: 3.4, YMin: -2.65, YMax: 2.65}, 1, marks)},
		Handles: []Handle{
			{Label: "core", X: core[0], Y: core[1], XParam: "kx", YParam: "ky"},
			{Label: "probe", X: probe[0], Y: probe[1], XParam: "px", YParam: "py"},
		},
		Numbers: []Number{
			{Label: `$c(\mathbf x)$ at the probe`, Value: views.Short(c)},
			{Label: `$\sqrt{\det\mathbf g}$`, Value: views.Short(theory.Magnification(plain)), Help: "magnification of areas by the kernel alone"},
			{Label: `$\sqrt{\det\tilde{\mathbf g}}$`, Value: views.Short(theory.Magnification(g)), Help: "with the factor"},
			{Label: "long axis over short axis", Value: shape, Help: "at the probe; 1: no distortion"},
		},
	}, nil
}

// conformalMetricDerivation is how a factor changes the metric of a kernel.
var conformalMetricDerivation = []Line{
	{`A point $\mathbf x$ has the image $\phi(\mathbf x)$. The new kernel $c(\mathbf x)c(\mathbf z)k(\mathbf x,\mathbf z)$ is the inner product of these images:`, `\tilde\phi(\mathbf x) = c(\mathbf x)\,\phi(\mathbf x)`},
	{`A small step in the input moves the image by the product rule.`, `d\tilde\phi = \phi\, dc + c\, d\phi`},
	{`Square the length; inner products of images are values of the kernel, and those of their derivatives are derivatives of it.`, `\lVert d\tilde\phi\rVert^2 = k\,dc^2 + 2c\,dc\,(\phi^\top d\phi) + c^2\,\lVert d\phi\rVert^2`},
	{`Written as a matrix, with $c_i = \partial c/\partial x_i$ and $k_i = \partial k(\mathbf x, \mathbf z)/\partial x_i$ at $\mathbf z = \mathbf x$:`, `\tilde g_{ij} = c_i c_j\,k + c\,(c_i k_j + c_j k_i) + c^2 g_{ij}`},
	{`For the RBF kernel $k(\mathbf x,\mathbf x) = 1$ and $k_i = 0$. Where $c$ is flat the magnification is $c^2$ times the old one in the plane; where it slopes, the second term stretches along the slope.`, `\tilde{\mathbf g} = c^2\, 2\gamma\,\mathbf I + \nabla c\,\nabla c^\top`},
}

// conformalSix are six points in no order of classes; one of them can be moved.
func conformalSix(x, y float64) toy {
	return toy{[][2]float64{{-1.3, 0.5}, {x, y}, {-0.5, -0.7}, {1.4, 0.4}, {0.4, 0.9}, {-0.9, -0.1}}, []float64{-1, 1, -1, 1, 1, -1}}
}

// conformalTwoWays is a toy with its images in an explicit feature space and its kernel
// matrices.
type conformalTwoWays struct {
	points toy
	phi    *mat.Dense // M x features
	b, w   *mat.SymDense
}

// newConformalTwoWays takes the features of the map; of the zero map, the coordinates.
func newConformalTwoWays(m theory.FeatureMap, points toy) (*conformalTwoWays, error) {
	f := &conformalTwoWays{points: points, phi: points.matrix()}
	k := kernel.Kernel{Name: "linear"}
	if m.Inputs > 0 {
		var err error
		if f.phi, err = m.Rows(points.matrix()); err != nil {
			return nil, err
		}
		k = m.Kernel
	}
	f.b, f.w = conformalScatter(theory.Gram(kernel.NewGram(k, points.matrix())), points.y)
	return f, nil
}

// traces are tr S_b and tr S_w, from the images and their means.
func (f *conformalTwoWays) traces() (between, within float64) {
	rows, d := f.phi.Dims()
	mean, n := map[float64][]float64{}, map[float64]float64{}
	all := make([]float64, d)
	for i, y := range f.points.y {
		if mean[y] == nil {
			mean[y] = make([]float64, d)
		}
		floats.Add(mean[y], f.phi.RawRowView(i))
		floats.Add(all, f.phi.RawRowView(i))
		n[y]++
	}
	floats.Scale(1/float64(rows), all)
	for y := range mean {
		floats.Scale(1/n[y], mean[y])
	}
	for i, y := range f.points.y {
		between += math.Pow(floats.Distance(mean[y], all, 2), 2)
		within += math.Pow(floats.Distance(f.phi.RawRowView(i), mean[y], 2), 2)
	}
	return between / float64(rows), within / float64(rows)
}

// scatter is J by the definition with scatter matrices.
func (f *conformalTwoWays) scatter() float64 {
	between, within := f.traces()
	return between / within
}

// matrices is J by the kernel matrices alone.
func (f *conformalTwoWays) matrices() float64 { return mat.Sum(f.b) / mat.Sum(f.w) }

func showConformalFisher(ctx context.Context, in Input) (*Exhibit, error) {
	points := conformalSix(in.Number("px"), in.Number("py"))
	var m theory.FeatureMap
	if in.Text("kernel") == "quadratic" {
		m = theory.QuadraticPlane
	}
	f, err := newConformalTwoWays(m, points)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(points.y))
	for i := range order {
		order[i] = i
	}
	if in.On("sorted") {
		order = conformalByClass(points.y)
	}
	marks := points.dots(nil)
	caption := "The six points; drag the one at the handle. In the six-dimensional feature space of this kernel the means have no place in the plane."
	if m.Inputs == 0 {
		caption = "Dashed: from the points to the mean of their class, the scatter within. Solid: from the class means to the mean of all, the scatter between."
		marks = append(conformalSpokes(points), marks...)
	}
	between, within := f.traces()
	step := min(in.Step, len(conformalFisherDerivation)-1)
	n := float64(len(points.y))
	return &Exhibit{
		Steps: len(conformalFisherDerivation), Step: step, Body: Derivation(step, conformalFisherDerivation...),
		Figures: []Figure{
			plane("points", caption, figure.Limits{XMin: -2, XMax: 2, YMin: -1.5, YMax: 1.5}, 2, marks),
			conformalSquare("b", `$\mathbf B$: all entries together give $M\operatorname{tr}\mathbf S_b$.`, "B", f.b, points.y, order, 0),
			conformalSquare("w", `$\mathbf W$: all entries together give $M\operatorname{tr}\mathbf S_w$. It is 0 wherever the classes differ.`, "W", f.w, points.y, order, 0),
		},
		Handles: []Handle{{Label: "a point", X: points.xy[1][0], Y: points.xy[1][1], XParam: "px", YParam: "py"}},
		Numbers: []Number{
			{Label: `$\operatorname{tr}\mathbf S_b$ and $\operatorname{tr}\mathbf S_w$`, Value: views.Short(between) + ", " + views.Short(within), Help: "from the images themselves"},
			{Label: `$\tfrac1M\mathbf 1^\top\mathbf B\mathbf 1$ and $\tfrac1M\mathbf 1^\top\mathbf W\mathbf 1$`, Value: views.Short(mat.Sum(f.b)/n) + ", " + views.Short(mat.Sum(f.w)/n), Help: "from the kernel matrix alone"},
			{Label: `$J$ by scatter matrices`, Value: views.Long(f.scatter())},
			{Label: `$J$ by $\mathbf B$ and $\mathbf W$`, Value: views.Long(f.matrices()), Help: "the same, though no feature was computed"},
		},
	}, nil
}

// conformalSpokes join points to the mean of their class, and these to that of all.
func conformalSpokes(t toy) (marks []figure.Mark) {
	var all [2]float64
	mean, n := map[float64][2]float64{}, map[float64]float64{}
	for i, p := range t.xy {
		m := mean[t.y[i]]
		mean[t.y[i]] = [2]float64{m[0] + p[0], m[1] + p[1]}
		n[t.y[i]]++
		all = [2]float64{all[0] + p[0]/float64(len(t.xy)), all[1] + p[1]/float64(len(t.xy))}
	}
	for _, y := range []float64{-1, 1} {
		m := [2]float64{mean[y][0] / n[y], mean[y][1] / n[y]}
		for i, p := range t.xy {
			if t.y[i] == y {
				marks = append(marks, figure.Segment{From: p, To: m, Pen: figure.Pen{Color: figure.ClassColor(class(y)), Dash: figure.Dashed, Thin: true}, Name: "within"})
			}
		}
		marks = append(marks, figure.Segment{From: m, To: all, Pen: figure.Pen{Color: figure.Ink}, Name: "between"})
	}
	return append(marks, figure.Dot{At: all, Class: -1, Label: "mean of all"})
}

// conformalFisherDerivation turns traces of scatter matrices into sums of a kernel matrix.
var conformalFisherDerivation = []Line{
	{`The trace of $\mathbf v\mathbf v^\top$ is $\lVert\mathbf v\rVert^2$: traces of scatter are mean squared distances of images $\mathbf z_j$ and means.`, `\operatorname{tr}\mathbf S_b = \frac1M\sum_i M_i\lVert\bar{\mathbf z}_i - \bar{\mathbf z}\rVert^2`},
	{`Multiply out; the weighted class means add up to the mean of all.`, `M\operatorname{tr}\mathbf S_b = \sum_i M_i\lVert\bar{\mathbf z}_i\rVert^2 - M\lVert\bar{\mathbf z}\rVert^2`},
	{`A squared mean is a mean of inner products, which are entries of $\mathbf K$.`, `M_i\lVert\bar{\mathbf z}_i\rVert^2 = \frac{1}{M_i}\mathbf 1^\top\mathbf K_{ii}\mathbf 1 \qquad M\lVert\bar{\mathbf z}\rVert^2 = \frac1M\mathbf 1^\top\mathbf K\mathbf 1`},
	{`So the sum of all entries of $\mathbf B$ is the scatter between the classes.`, `M\operatorname{tr}\mathbf S_b = \mathbf 1^\top\mathbf B\,\mathbf 1`},
	{`Likewise within: squared lengths on the diagonal, less the squared class means.`, `M\operatorname{tr}\mathbf S_w = \sum_j\lVert\mathbf z_j\rVert^2 - \sum_i M_i\lVert\bar{\mathbf z}_i\rVert^2 = \mathbf 1^\top\mathbf W\,\mathbf 1`},
	{`With a factor, $K_{ij}$ becomes $c_i c_j K_{ij}$: the ones become $\mathbf c$, and $\mathbf B_0$, $\mathbf W_0$ belong to the kernel as it was.`, `J(\mathbf c) = \frac{\mathbf 1^\top\mathbf B\mathbf 1}{\mathbf 1^\top\mathbf W\mathbf 1} = \frac{\mathbf c^\top\mathbf B_0\,\mathbf c}{\mathbf c^\top\mathbf W_0\,\mathbf c}`},
}

// conformalMoons are the points of the screens on cores, eigenvectors and gradients.
func conformalMoons() *conformalProblem {
	d, err := dataset.Generate("moons", 60, 0.2, 3)
	if err != nil {
		panic(err) // a wrong number in the line above, not data
	}
	y, _, _, err := d.Binary("")
	if err != nil {
		panic(err)
	}
	return newConformalProblem(d, kernel.RBF(1), d.X, y)
}

// conformalRidge is D where a screen has no control for it.
const conformalRidge = 1e-3

// evenly are n rows, evenly over the data set.
func (p *conformalProblem) evenly(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i*len(p.y)/n)
	}
	return rows
}

// spread takes n rows as cores, evenly over the data set, every one twice if asked for.
func (p *conformalProblem) spread(n int, twice bool) (cores [][]float64) {
	for _, i := range p.evenly(n) {
		core := p.x.RawRowView(i)
		cores = append(cores, core)
		if twice {
			cores = append(cores, core)
		}
	}
	return cores
}

var conformalMoonLimits = figure.Limits{XMin: -2, XMax: 3, YMin: -1.5, YMax: 2}

func showConformalFactor(ctx context.Context, in Input) (*Exhibit, error) {
	p := conformalMoons()
	cores := [][]float64{{in.Number("ux"), in.Number("uy")}, {in.Number("vx"), in.Number("vy")}}
	r := p.rayleigh(cores, in.Number("core_gamma"), 1e-6)
	alpha := []float64{in.Number("a0"), in.Number("a1"), in.Number("a2")}
	before, err := p.j(ctx, conformalOnes(len(p.y)))
	if err != nil {
		return nil, err
	}
	e := &Exhibit{
		Handles: []Handle{
			{Label: "first core", X: cores[0][0], Y: cores[0][1], XParam: "ux", YParam: "uy"},
			{Label: "second core", X: cores[1][0], Y: cores[1][1], XParam: "vx", YParam: "vy"},
		},
		Numbers: []Number{{Label: "J before", Value: views.Short(before), Help: `with $c = 1$ everywhere`}},
	}
	var best float64
	if in.On("solver") {
		top, err := r.solve()
		if err != nil {
			return nil, err
		}
		if best, err = p.j(ctx, r.factors(top.top)); err != nil {
			return nil, err
		}
		e.Numbers = append(e.Numbers,
			Number{Label: "best J of these cores", Value: views.Short(best), Help: "of the next screen"},
			Number{Label: `its $\alpha_0, \alpha_1, \alpha_2$`, Value: fmt.Sprintf("%.2f, %.2f, %.2f", top.top[0], top.top[1], top.top[2]), Help: "any multiple is as good; here the mean of |c| is 1"})
	}
	c := r.factors(alpha)
	j, err := p.j(ctx, c)
	if err != nil {
		e.Notes = []string{`With $c = 0$ at every point all images coincide, and J has no value. Raise a coefficient.`}
		e.Figures = []Figure{plane("factor", "The factor is zero everywhere.", conformalMoonLimits, 2, conformalToy(p.d, p.y).dots(nil))}
		return e, nil
	}
	m := r.mapOf(alpha)
	model, err := p.machine(ctx, m)
	if err != nil {
		return nil, err
	}
	spectrum, err := theory.Mercer(theory.Gram(p.scaled(c)))
	if err != nil {
		return nil, err
	}
	e.Numbers = append([]Number{
		{Label: "J by hand", Value: views.Short(j), Help: "make it large"},
	}, append(e.Numbers,
		Number{Label: `eigenvalues of $\mathbf D\mathbf K\mathbf D$`, Value: fmt.Sprintf("%.0e to %.1f", floats.Min(spectrum.Values), floats.Max(spectrum.Values)), Help: "below 0 only by rounding: the kernel is valid"},
	)...)
	if j < before {
		e.Notes = append(e.Notes, fmt.Sprintf("This factor lowers J, to %.0f %% of what it was: what it magnifies has widened the classes more than it has moved their means apart.", 100*j/before))
	}
	if lo, hi := floats.Min(c), floats.Max(c); lo < 0 && hi > 0 {
		e.Notes = append(e.Notes, `$c$ has both signs here; the dotted line is $c = 0$. Points on it all share one image, the origin of the feature space.`)
	}
	if in.On("solver") {
		e.Notes = append(e.Notes, fmt.Sprintf("By hand you have %.0f %% of the best J of these cores.", 100*j/best))
	}
	e.Figures = []Figure{conformalFactorFigure("factor", "The factor c(x) as a heat map, with the boundary of an MCM trained on the new kernel. Drag the two cores.", model, p.d, ml.Spec{Learner: "mcm"}, func(s *figure.Scene) { s.Limits = conformalMoonLimits })}
	return e, nil
}

// conformalToy are the points of a data set in the plane.
func conformalToy(d *dataset.Data, y []float64) toy {
	t := toy{y: y}
	for i := range y {
		row := d.X.RawRowView(i)
		t.xy = append(t.xy, [2]float64{row[0], row[1]})
	}
	return t
}

func showConformalEigen(ctx context.Context, in Input) (*Exhibit, error) {
	p := conformalMoons()
	ridge, gamma := in.Number("ridge"), in.Number("core_gamma")
	cores := p.spread(in.Int("cores"), in.On("repeat"))
	r := p.rayleigh(cores, gamma, ridge)
	values, err := r.qValues()
	if err != nil {
		return nil, err
	}
	bare, err := p.rayleigh(cores, gamma, 0).qValues()
	if err != nil {
		return nil, err
	}
	top, err := r.solve()
	if err != nil {
		return nil, err
	}
	before, err := p.j(ctx, conformalOnes(len(p.y)))
	if err != nil {
		return nil, err
	}
	after, err := p.j(ctx, r.factors(top.top))
	if err != nil {
		return nil, err
	}
	model, err := p.machine(ctx, r.mapOf(top.top))
	if err != nil {
		return nil, err
	}
	model.CoreRows = p.evenly(in.Int("cores"))
	size, rank := len(values), len(top.values)
	relative := func(v []float64) float64 { return math.Abs(v[0]) / v[len(v)-1] }
	step := min(in.Step, len(conformalEigenDerivation)-1)
	e := &Exhibit{
		Steps: len(conformalEigenDerivation), Step: step, Body: Derivation(step, conformalEigenDerivation...),
		Figures: []Figure{
			conformalFactorFigure("factor", "The factor of the largest eigenvalue. Look where it crosses 0.", model, p.d, ml.Spec{Learner: "mcm"}, nil),
			{Name: "q", Caption: `Sizes of the eigenvalues of $\mathbf Q$, on a logarithmic scale: bars at $10^{-12}$ of the first and below are rounding. Use every core twice.`, Draw: func(l Look) (*figure.Picture, error) {
				b := figure.Bars{Format: l.Format(0), X: "eigenvalue", Y: "size (log scale)", Log: true, Sorted: true}
				for _, v := range values {
					b.Values = append(b.Values, math.Abs(v))
				}
				return b.Picture()
			}},
		},
		Numbers: []Number{
			{Label: `rows of $\mathbf Q$`, Value: strconv.Itoa(size), Help: `cores and the constant`},
			{Label: `rank of $\mathbf K_1$`, Value: strconv.Itoa(rank), Help: "dimensions that the cores really span"},
			{Label: `smallest over largest eigenvalue of $\mathbf Q$`, Value: fmt.Sprintf("%.1e", relative(values)), Help: fmt.Sprintf("%.1e without the ridge", relative(bare))},
			{Label: `largest $g$`, Value: views.Long(top.values[0]), Help: `from the orthonormal basis $\mathbf U$`},
			{Label: "J", Value: views.Short(before) + " → " + views.Short(after), Help: "without the ridge in the denominator"},
		},
	}
	if relative(values) < 1e-12 {
		e.Notes = []string{fmt.Sprintf(`$\mathbf Q$ is singular to working precision although $D = %g$. In the basis $\mathbf U$ the problem has %d rows and its largest $g$ is found all the same.`, ridge, rank)}
	}
	return e, nil
}

// conformalEigenDerivation leads from the quotient to a problem that can be solved.
var conformalEigenDerivation = []Line{
	{`At the top the gradient of the quotient is zero. By the quotient rule:`, `\nabla J = \frac{2\,(\mathbf B_0\mathbf c - J\,\mathbf W_0\mathbf c)}{\mathbf c^\top\mathbf W_0\,\mathbf c} = 0`},
	{`That is a generalised eigenproblem, and $J$ itself is the eigenvalue: take the largest. (The notes call it $\gamma$; here $\gamma$ is a kernel width.)`, `\mathbf B_0\,\mathbf c = g\,\mathbf W_0\,\mathbf c`},
	{`A free number for every training point is no function of $\mathbf x$. So $\mathbf c$ must come from the cores.`, `\mathbf c = \mathbf K_1\boldsymbol\alpha \qquad \mathbf K_1 = [\,\mathbf 1,\ k_1(\mathbf x_i, \mathbf a_j)\,]`},
	{`Put it in, with a small $D$ to keep the denominator from 0.`, `\underbrace{\mathbf K_1^\top\mathbf B_0\mathbf K_1}_{\mathbf P}\,\boldsymbol\alpha = g\,\underbrace{\mathbf K_1^\top(\mathbf W_0 + D\,\mathbf I)\mathbf K_1}_{\mathbf Q}\,\boldsymbol\alpha`},
	{`The trap: where columns of $\mathbf K_1$ depend on each other, some $\mathbf v \ne 0$ has $\mathbf K_1\mathbf v = 0$, so both sides vanish for every $g$.`, `\mathbf K_1\mathbf v = 0 \ \Rightarrow\ \mathbf P\mathbf v = 0 = g\,\mathbf Q\mathbf v`},
	{`The way out: an orthonormal basis $\mathbf U$ of the range of $\mathbf K_1$, from its singular values, and $\mathbf c = \mathbf U\mathbf z$. Now the right-hand matrix is at least $D\,\mathbf I$.`, `\mathbf U^\top\mathbf B_0\mathbf U\,\mathbf z = g\,(\mathbf U^\top\mathbf W_0\mathbf U + D\,\mathbf I)\,\mathbf z`},
	{`A Cholesky factor $\mathbf L$ of the right-hand side makes it an ordinary symmetric problem; $\boldsymbol\alpha$ follows by least squares.`, `\mathbf L^{-1}(\mathbf U^\top\mathbf B_0\mathbf U)\,\mathbf L^{-\top}\mathbf y = g\,\mathbf y \qquad \mathbf K_1\boldsymbol\alpha = \mathbf U\mathbf L^{-\top}\mathbf y`},
}

const conformalSteps = 60

func showConformalGradient(ctx context.Context, in Input) (*Exhibit, error) {
	p := conformalMoons()
	r := p.rayleigh(p.spread(in.Int("cores"), false), in.Number("core_gamma"), conformalRidge)
	path := r.climb(ctx, conformalSteps, in.Number("rate"))
	top, err := r.solve()
	if err != nil {
		return nil, err
	}
	step := min(in.Step, path.Len()-1)
	var at, js []float64
	for i := range path.Len() {
		j, err := p.j(ctx, r.factors(path.At(i)))
		if err != nil {
			return nil, err
		}
		at, js = append(at, float64(i)), append(js, j)
	}
	best, err := p.j(ctx, r.factors(top.top))
	if err != nil {
		return nil, err
	}
	alpha := r.normed(path.At(step))
	model, err := p.machine(ctx, r.mapOf(alpha))
	if err != nil {
		return nil, err
	}
	model.CoreRows = p.evenly(in.Int("cores"))
	here := float64(step)
	e := &Exhibit{
		Steps: path.Len(), Step: step,
		Figures: []Figure{
			conformalFactorFigure("factor", "The factor at this step, and the boundary of an MCM trained with it.", model, p.d, ml.Spec{Learner: "mcm"}, nil),
			{Name: "climb", Caption: "J over the steps. The level line is the J of the eigenvector of the same cores.", Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "step", Min: 0, Max: conformalSteps}, Y: figure.Axis{Name: "J"},
					Curves: []figure.Curve{{Name: "J", X: at, Y: js}}, Rules: []figure.Rule{{Name: "eigenvector", At: best}}, Here: &here,
				}.Picture()
			}},
		},
		Numbers: []Number{
			{Label: "J at the start", Value: views.Short(js[0]), Help: `$\boldsymbol\alpha = (1, 0, \ldots, 0)$: the kernel as it was`},
			{Label: "J here", Value: views.Short(js[step])},
			{Label: "J of the eigenvector", Value: views.Short(best)},
			{Label: `step $\eta(t)$`, Value: views.Short(in.Number("rate") * (1 - here/conformalSteps)), Help: `relative to the length of $\boldsymbol\alpha$`},
		},
	}
	switch {
	case step == 0:
		e.Notes = []string{"The factor is 1 everywhere. Step, and watch where it grows first."}
	case js[step] < js[step-1]:
		e.Notes = []string{fmt.Sprintf("This step was too long: J fell by %s. The product keeps the best factor it has seen.", views.Short(js[step-1]-js[step]))}
	default:
		e.Notes = []string{fmt.Sprintf("J rose by %s; %.0f %% of the way from the start to the eigenvector is done.", views.Short(js[step]-js[step-1]), 100*(js[step]-js[0])/(best-js[0]))}
	}
	return e, nil
}

// conformalNames are the methods of the comparison with their names, the plain
// kernel first.
var conformalNames = [][2]string{{"none", "no map"}, {"amari", "Amari–Wu"}, {"gradient", "gradient"}, {"eigen", "eigenvector"}}

// conformalMethodsOn trains with every method.
func conformalMethodsOn(ctx context.Context, d *dataset.Data, s ml.Spec) (all []*ml.Result, err error) {
	for _, m := range conformalNames {
		s.Conformal = m[0]
		res, err := trained(ctx, d, s)
		if err != nil {
			return nil, err
		}
		all = append(all, res)
	}
	return all, nil
}

// conformalAlwaysBest looks for a data set on which another method, or none, has the
// better accuracy on held-out rows.
func conformalAlwaysBest(ctx context.Context) (float64, error) {
	s, err := newSpec("learner", "mcm", "standardize", "true", "gamma", "1", "core_gamma", "1", "rank_tol", "1e-2", "test_fraction", "0.3")
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"moons", "circles", "xor", "checkerboard"} {
		b, _ := dataset.FindBuiltin(name)
		d, err := b.Load()
		if err != nil {
			return 0, err
		}
		if d, _, err = conformalThin(d); err != nil {
			return 0, err
		}
		all, err := conformalMethodsOn(ctx, d, s)
		if err != nil {
			return 0, err
		}
		for _, other := range all[:3] {
			if *other.Report.TestAccuracy > *all[3].Report.TestAccuracy {
				return 1, nil
			}
		}
	}
	return 0, nil
}

func showConformalMethods(ctx context.Context, in Input) (*Exhibit, error) {
	d, notes, err := conformalLoad(ctx, in)
	if err != nil {
		return nil, err
	}
	s, err := newSpec("learner", in.Text("learner"), "standardize", "true", "gamma", in.Text("gamma"), "C", in.Text("C"), "core_gamma", in.Text("core_gamma"), "rank_tol", "1e-2", "test_fraction", "0.3", "seed", in.Text("seed"))
	if err != nil {
		return nil, err
	}
	s.Positive = conformalPositive(d)
	all, err := conformalMethodsOn(ctx, d, s)
	if err != nil {
		return nil, err
	}
	table := Table{
		Caption: "One split: J on the training rows, accuracy on both; whether c takes both signs",
		Head:    []string{"method", "J", "cores", "SVs", "training", "held out", "both signs"},
	}
	for i, res := range all {
		r := res.Report
		row := []string{conformalNames[i][1], "", "–", strconv.Itoa(r.SupportVectors), views.Short(r.TrainAccuracy), views.Short(*r.TestAccuracy), "–"}
		if j := all[3].Report.JBefore; i == 0 && j != nil {
			row[1] = views.Short(*j)
		}
		if r.JAfter != nil {
			row[1], row[2], row[6] = views.Short(*r.JAfter), strconv.Itoa(*r.Cores), "no"
			if *r.SignChange {
				row[6] = "yes"
			}
		}
		table.Rows = append(table.Rows, row)
	}
	e := &Exhibit{Tables: []Table{table}, Notes: notes, Lab: labQuery(in.Text("data"), "learner", in.Text("learner"), "conformal", "eigen", "gamma", in.Text("gamma"), "C", in.Text("C"), "core_gamma", in.Text("core_gamma"), "rank_tol", "1e-2", "test_fraction", "0.3", "seed", in.Text("seed"), "positive", s.Positive)}
	e.Figures = append(e.Figures, Figure{Name: "overlay", Caption: "The four boundaries. Grey and hatched: the machines disagree. Hollow points are held out.", Draw: func(l Look) (*figure.Picture, error) {
		var layers []figure.Layer
		for i, res := range all {
			sc, err := conformalScene(res.Model, d, s, l)
			if err != nil {
				return nil, err
			}
			sc.LegendRows, sc.Cores = 3, false
			layers = append(layers, figure.Layer{Name: conformalNames[i][1], Scene: sc})
		}
		return figure.Overlay(layers)
	}})
	for i, res := range all[1:] {
		name := conformalNames[i+1]
		e.Figures = append(e.Figures, conformalFactorFigure(name[0], "c(x): "+name[1], res.Model, d, s, nil))
	}
	if in.On("average") {
		t, err := conformalAverage(ctx, d, s)
		if err != nil {
			return nil, err
		}
		e.Tables = append(e.Tables, t)
	}
	return e, nil
}

// conformalAverage repeats the comparison on the splits of ten seeds.
func conformalAverage(ctx context.Context, d *dataset.Data, s ml.Spec) (Table, error) {
	const splits = 10
	gain := make([][]float64, len(conformalNames)) // held-out accuracy less that without a map
	plain := make([]float64, splits)
	for k := range splits {
		s.Seed = uint64(k + 1)
		all, err := conformalMethodsOn(ctx, d, s)
		if err != nil {
			return Table{}, err
		}
		plain[k] = *all[0].Report.TestAccuracy
		for i, res := range all {
			gain[i] = append(gain[i], *res.Report.TestAccuracy-plain[k])
		}
	}
	t := Table{Caption: "Held-out accuracy over ten random splits; difference to no map on the same split, with its standard error (too small a one, for the splits share rows), and on how many splits it is better, equal, worse", Head: []string{"method", "mean", "difference", "error", "+ / = / −"}}
	for i, name := range conformalNames {
		mean, sd := stat.MeanStdDev(gain[i], nil)
		row := []string{name[1], views.Short(floats.Sum(plain)/splits + mean), "–", "–", "–"}
		if i > 0 {
			var count [3]int
			for _, g := range gain[i] {
				count[1-sign(g)]++
			}
			row[2], row[3] = fmt.Sprintf("$%+.3f$", mean), fmt.Sprintf("%.3f", sd/math.Sqrt(splits))
			row[4] = fmt.Sprintf("%d / %d / %d", count[0], count[1], count[2])
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
