package lessons

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
)

var Margins = Lesson{
	Slug: "margins", Title: "Linear classifiers and their margins",
	Summary: "A line, the side a point is on, and how far it is from trouble. Find the widest margin by hand before a solver does.",
	Screens: []Screen{
		{
			Slug: "classifier", Title: "A function whose sign is the answer",
			Covers: []string{"001 1.1", "001 1.2", "001 1.3", "001 1.4", "002 linear", "000 slt"},
			Words:  marginsClassifierWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "px", Label: "probe x1", Kind: param.Number, Default: "0.3", Min: -3.5, Max: 3.5, Low: -3.5, High: 3.5, Folded: true},
					{Name: "py", Label: "probe x2", Kind: param.Number, Default: "-1.2", Min: -2.5, Max: 2.5, Low: -2.5, High: 2.5, Folded: true},
				},
				Show: showMarginsClassifier,
			},
			Questions: []Question{{
				Slug: "sign", Ask: `A point with label $y = -1$ has $f(\mathbf x) = -0.2$. Is it classified correctly?`,
				Options: []string{"Yes.", "No, its value is negative.", "No, it is too close to the line."},
				Answer: func(context.Context) (float64, error) {
					m, err := theory.NewMargins([]float64{-0.2}, []float64{-1}, 1)
					return Yes(m.Separates), err
				},
				Explain: `The prediction is $-1$ because $f < 0$, and $y f = (-1)(-0.2) = 0.2 > 0$. That $\lvert f\rvert$ is small does not make it wrong.`,
			}},
		},
		{
			Slug: "line", Title: "w turns the line, b shifts it",
			Covers: []string{"001 2.1", "001 2.2", "002 linear"},
			Words:  marginsLineWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "w1", Label: "w₁", Kind: param.Number, Default: "1", Min: -3, Max: 3, Low: -3, High: 3},
					{Name: "w2", Label: "w₂", Kind: param.Number, Default: "0.5", Min: -3, Max: 3, Low: -3, High: 3},
					{Name: "b", Label: "b", Kind: param.Number, Default: "-1", Min: -4, Max: 4, Low: -4, High: 4},
				},
				Show: showMarginsLine,
			},
			Questions: []Question{{
				Slug: "distance", Ask: `$\mathbf w = (3, 4)$ and $b = -10$. How far is the boundary from the origin?`,
				Answer:  func(context.Context) (float64, error) { return 10 / Norm([2]float64{3, 4}), nil },
				Explain: `$\lvert b\rvert / \lVert\mathbf w\rVert = 10/5 = $ %s.`,
			}},
		},
		{
			Slug: "two-margins", Title: "Functional and geometric margin",
			Covers: []string{"001 3.1", "001 3.2", "002 functional"},
			Words:  marginsTwoWords,
			Demo: &Demo{
				Old: []param.Param{{
					Name: "scale", Label: "multiply w and b by c", Symbol: "c", Kind: param.Number, Default: "1", Min: 0.1, Max: 10, Low: 0.1, High: 10, Log: true,
					Help: "The dashed lines are f = ±1.",
				}},
				Show: showMarginsTwo,
			},
			Questions: []Question{{
				Slug: "double", Ask: `You double $\mathbf w$ and $b$. What happens to the worst margins?`,
				Options: []string{"Both double.", "The functional one doubles, the geometric one stays.", "The geometric one is halved, the functional one stays.", "Both stay."},
				Answer:  marginsDoubling,
				Explain: `$y_i f(\mathbf x_i)$ is proportional to the scale; divided by $\lVert\mathbf w\rVert$, which doubles too, it is not.`,
			}},
		},
		{
			Slug: "canonical", Title: "The canonical scale",
			Covers: []string{"001 3.3", "001 3.4", "002 maximal"},
			Words:  marginsCanonicalWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "angle", Label: "direction of w", Kind: param.Number, Default: "15", Min: -60, Max: 60, Low: -60, High: 60, Help: "Degrees from the horizontal axis. The line is kept half-way between the classes."},
				},
				Show: showMarginsCanonical,
			},
			Questions: []Question{{
				Slug: "width", Ask: `In canonical form $\lVert\mathbf w\rVert = 0.5$. How far apart are the two margin lines?`,
				Answer:  func(context.Context) (float64, error) { return 2 / 0.5, nil },
				Explain: `Each margin line is $1/\lVert\mathbf w\rVert = 2$ from the boundary, so they are %s apart.`,
			}},
		},
		{
			Slug: "by-hand", Title: "The widest margin, by hand",
			Covers: []string{"001 2.3", "001 3.5", "002 margins", "002 maximal"},
			Words:  marginsByHandWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "ax", Label: "first end x1", Kind: param.Number, Default: "-1.5", Min: -3.5, Max: 3.5, Low: -3.5, High: 3.5, Folded: true},
					{Name: "ay", Label: "first end x2", Kind: param.Number, Default: "2.2", Min: -2.5, Max: 2.5, Low: -2.5, High: 2.5, Folded: true},
					{Name: "bx", Label: "second end x1", Kind: param.Number, Default: "0.6", Min: -3.5, Max: 3.5, Low: -3.5, High: 3.5, Folded: true},
					{Name: "by", Label: "second end x2", Kind: param.Number, Default: "-2.2", Min: -2.5, Max: 2.5, Low: -2.5, High: 2.5, Folded: true},
					{Name: "solver", Label: "show the solver's line", Kind: param.Switch, Default: "false", Help: "Try first."},
				},
				Show: showMarginsByHand,
			},
			Questions: []Question{
				{
					Slug: "how-many", Ask: "Which points hold the widest line in place?",
					Options: []string{"The two class means.", "All points, each a little.", "A few closest points, at least one of each class."},
					Answer:  marginsHolders,
					Explain: `If all closest points were of one class, the line could move away from them and the worst margin would grow.`,
				},
				{
					Slug: "best", Ask: "What is the widest geometric margin of these twelve points? Your own best attempt is a good estimate (5 % off is fine).",
					Within: 0.05,
					Answer: func(ctx context.Context) (float64, error) {
						_, _, margin, err := widest(ctx)
						return margin, err
					},
					Explain: `The solver finds $1/\lVert\mathbf w\rVert = $ %s.`,
				},
			},
		},
	},
}

func showMarginsClassifier(_ context.Context, in Input) (*Exhibit, error) {
	w, b := [2]float64{1, 0.4}, 0.1
	p := in.place("px", "py")
	f := w[0]*p[0] + w[1]*p[1] + b
	return &Exhibit{
		Figures: []Figure{Plane("boundary", `The line is $f(\mathbf x) = 0$. The probe is the dot in ink.`, ToyLimits, 2,
			Sides(w, b), Separable.Dots(nil), []figure.Mark{figure.Dot{At: p, Class: -1, Label: "probe"}})},
		Handles: []Handle{{Label: "probe", X: p[0], Y: p[1], XParam: "px", YParam: "py"}},
		Numbers: []Number{
			{Label: `$f(\mathbf x)$`, Value: views.Short(f), Help: "value of the classifier at the probe"},
			{Label: "prediction", Value: Either(f < 0, "−1", "+1"), Help: `$+1$ where $f \ge 0$`},
			{Label: `$y f$ if its label is $+1$`, Value: views.Short(f), Help: "positive: classified correctly"},
			{Label: `$y f$ if its label is $-1$`, Value: views.Short(-f)},
		},
	}, nil
}

func showMarginsLine(_ context.Context, in Input) (*Exhibit, error) {
	w, b := in.place("w1", "w2"), in.Number("b")
	n := Norm(w)
	if n < 1e-9 {
		return &Exhibit{
			Figures: []Figure{Plane("line", "", ToyLimits, 2, Separable.Dots(nil))},
			Notes:   []string{`With $\mathbf w = 0$ the function is the constant $b$: every point gets the same answer and there is no boundary.`},
		}, nil
	}
	near := Foot(w, b, [2]float64{})
	tip := [2]float64{near[0] + w[0]/n, near[1] + w[1]/n}
	return &Exhibit{
		Figures: []Figure{Plane("line", `The arrow has the direction of $\mathbf w$ (drawn with length 1). The dashed segment is the distance of the line from the origin.`, ToyLimits, 2,
			Sides(w, b), Separable.Dots(nil), []figure.Mark{
				figure.Segment{From: [2]float64{}, To: near, Pen: figure.Pen{Dash: figure.Dashed}, Name: "distance from the origin"},
				figure.Arrow{From: near, To: tip, Label: "w"},
				figure.Dot{Class: -1, Label: "origin"},
			})},
		Numbers: []Number{
			{Label: `$\lVert\mathbf w\rVert$`, Value: views.Short(n), Help: "length of the weight vector"},
			{Label: `$\lvert b\rvert / \lVert\mathbf w\rVert$`, Value: views.Short(math.Abs(b) / n), Help: "distance of the line from the origin"},
			{Label: "nearest place", Value: Pair(near), Help: `$-b\,\mathbf w/\lVert\mathbf w\rVert^2$`},
		},
	}, nil
}

func showMarginsTwo(_ context.Context, in Input) (*Exhibit, error) {
	c := in.Number("scale")
	w, b := [2]float64{c * 0.8, c * 0.25}, c*0.1
	m, err := theory.LinearMargins(w[:], b, Separable.Matrix(), Separable.Y)
	if err != nil {
		return nil, err
	}
	worst := Separable.XY[m.Worst]
	return &Exhibit{
		Figures: []Figure{Plane("scale", `Scaling moves the lines $f = \pm 1$ but not the boundary. The segment is the worst geometric margin.`, ToyLimits, 2,
			Sides(w, b), MarginLines(w, b), Separable.Dots(func(i int) bool { return i == m.Worst }), []figure.Mark{figure.Segment{From: worst, To: Foot(w, b, worst), Pen: figure.Pen{Color: figure.Magenta}, Name: "worst margin"}})},
		Numbers: []Number{
			{Label: `$\hat\gamma = \min_i y_i f(\mathbf x_i)$`, Value: views.Short(m.FunctionalMargin()), Help: `worst functional margin: proportional to $c$`},
			{Label: `$\lVert\mathbf w\rVert$`, Value: views.Short(m.Norm), Help: `proportional to $c$`},
			{Label: `$\gamma = \hat\gamma / \lVert\mathbf w\rVert$`, Value: views.Short(m.GeometricMargin()), Help: "worst geometric margin: a distance in the picture"},
		},
	}, nil
}

// marginsDoubling finds, on the points of the lesson, what twice w and b do to the margins.
func marginsDoubling(context.Context) (float64, error) {
	one, err := theory.LinearMargins([]float64{0.8, 0.25}, 0.1, Separable.Matrix(), Separable.Y)
	if err != nil {
		return 0, err
	}
	two, err := theory.LinearMargins([]float64{1.6, 0.5}, 0.2, Separable.Matrix(), Separable.Y)
	functional := two.FunctionalMargin() / one.FunctionalMargin()
	geometric := two.GeometricMargin() / one.GeometricMargin()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	switch {
	case near(functional, 2) && near(geometric, 2):
		return 0, err
	case near(functional, 2) && near(geometric, 1):
		return 1, err
	case near(functional, 1) && near(geometric, 0.5):
		return 2, err
	}
	return 3, err
}

func showMarginsCanonical(_ context.Context, in Input) (*Exhibit, error) {
	a := in.Number("angle") * math.Pi / 180
	u := [2]float64{math.Cos(a), math.Sin(a)}
	b := Separable.Middle(u)
	cw, cb, err := theory.Canonical(u[:], b, Separable.Matrix(), Separable.Y)
	if err != nil {
		return &Exhibit{
			Figures: []Figure{Plane("canonical", "", ToyLimits, 2, Sides(u, b), Separable.Dots(nil))},
			Notes:   []string{"In this direction no line separates the classes: some point has a margin of 0 or less, and no scale turns that into 1."},
		}, nil
	}
	w := [2]float64{cw[0], cw[1]}
	m, err := theory.LinearMargins(cw, cb, Separable.Matrix(), Separable.Y)
	if err != nil {
		return nil, err
	}
	on := func(i int) bool { return m.Functional[i] < 1+1e-9 }
	step := min(in.Step, len(marginsDerivation)-1)
	return &Exhibit{
		Steps: len(marginsDerivation), Step: step, Body: Derivation(step, marginsDerivation...),
		Figures: []Figure{Plane("canonical", `In canonical form the closest points (ringed) lie on the dashed lines $f = \pm 1$.`, ToyLimits, 2, Sides(w, cb), MarginLines(w, cb), Separable.Dots(on))},
		Numbers: []Number{
			{Label: `$\mathbf w$`, Value: Pair(w)},
			{Label: `$b$`, Value: views.Short(cb)},
			{Label: `$\hat\gamma$`, Value: views.Short(m.FunctionalMargin()), Help: "by the choice of the scale"},
			{Label: `$\gamma = 1/\lVert\mathbf w\rVert$`, Value: views.Short(m.GeometricMargin()), Help: "turn the direction until it is largest"},
			{Label: `$2/\lVert\mathbf w\rVert$`, Value: views.Short(2 * m.GeometricMargin()), Help: "distance between the margin lines"},
		},
	}, nil
}

// marginsDerivation is why the margin lines are 2/|w| apart.
var marginsDerivation = []Line{
	{`Take a point on each margin line.`, `\mathbf w^\top\mathbf x_+ + b = +1 \qquad \mathbf w^\top\mathbf x_- + b = -1`},
	{`Subtract: the bias goes.`, `\mathbf w^\top(\mathbf x_+ - \mathbf x_-) = 2`},
	{`Project the difference on the unit vector across the lines.`, `\frac{\mathbf w^\top}{\lVert\mathbf w\rVert}(\mathbf x_+ - \mathbf x_-) = \frac{2}{\lVert\mathbf w\rVert}`},
	{`The boundary is half-way, so the margin is half of that.`, `\gamma = \frac{1}{\lVert\mathbf w\rVert}`},
	{`To maximise it is to minimise the length of $\mathbf w$; squared and halved, for a smooth objective.`, `\min_{\mathbf w, b}\ \tfrac12\lVert\mathbf w\rVert^2 \quad\text{subject to}\quad y_i(\mathbf w^\top\mathbf x_i + b) \ge 1`},
}

// widest is the hard-margin line of the lesson's points with its margin.
func widest(ctx context.Context) (w [2]float64, b, margin float64, err error) {
	m, err := TrainHard(ctx, Separable)
	if err != nil {
		return w, 0, 0, err
	}
	return m.W, m.B, 1 / Norm(m.W), nil
}

// marginsHolders finds who is on the margin of the widest line.
func marginsHolders(ctx context.Context) (float64, error) {
	w, b, _, err := widest(ctx)
	if err != nil {
		return 0, err
	}
	m, err := theory.LinearMargins(w[:], b, Separable.Matrix(), Separable.Y)
	n := map[float64]int{}
	for i, f := range m.Functional {
		if f < m.FunctionalMargin()+1e-4 {
			n[Separable.Y[i]]++
		}
	}
	if n[1] > 0 && n[-1] > 0 && n[1]+n[-1] < len(Separable.Y)/2 {
		return 2, err
	}
	return 1, err
}

func showMarginsByHand(ctx context.Context, in Input) (*Exhibit, error) {
	p, q := lineEnds(in)
	e := &Exhibit{
		Handles: lineHandles(in),
		Lab:     Separable.Lab("kernel", "linear", "hard_margin", "true"),
	}
	w := [2]float64{q[1] - p[1], p[0] - q[0]} // at a right angle to the line
	if Norm(w) < 1e-6 {
		e.Figures = []Figure{Plane("hand", "", ToyLimits, 2, Separable.Dots(nil))}
		e.Notes = []string{NoLine}
		return e, nil
	}
	// The side with more points of the positive class is the positive one.
	b := -(w[0]*p[0] + w[1]*p[1])
	m, err := theory.LinearMargins(w[:], b, Separable.Matrix(), Separable.Y)
	if err != nil {
		return nil, err
	}
	if floats.Sum(m.Functional) < 0 {
		w, b = [2]float64{-w[0], -w[1]}, -b
		if m, err = theory.LinearMargins(w[:], b, Separable.Matrix(), Separable.Y); err != nil {
			return nil, err
		}
	}
	worst := Separable.XY[m.Worst]
	marks := []figure.Mark{figure.Segment{From: worst, To: Foot(w, b, worst), Pen: figure.Pen{Color: figure.Magenta}, Name: "worst margin"}}
	wrong := 0
	for _, g := range m.Functional {
		if g <= 0 {
			wrong++
		}
	}
	e.Numbers = []Number{
		{Label: "your worst margin", Value: views.Short(m.GeometricMargin()), Help: "a distance; negative while a point is on the wrong side"},
		{Label: "points on the wrong side", Value: strconv.Itoa(wrong)},
	}
	if in.On("solver") {
		sw, sb, best, err := widest(ctx)
		if err != nil {
			return nil, err
		}
		marks = append(marks, figure.Line{A: sw, C: -sb, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Name: "the solver's line"})
		e.Numbers = append(e.Numbers, Number{Label: "the solver's margin", Value: views.Short(best), Help: `$1/\lVert\mathbf w\rVert$ of the hard-margin SVM`})
		e.Notes = append(e.Notes, fmt.Sprintf("Your line has %.0f %% of the widest margin.", 100*math.Max(0, m.GeometricMargin()/best)))
	}
	e.Figures = []Figure{Plane("hand", "Drag the two ends of the line. The ringed point is the worst.", ToyLimits, 2,
		Sides(w, b), Separable.Dots(func(i int) bool { return i == m.Worst }), marks)}
	return e, nil
}
