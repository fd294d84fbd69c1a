package lessons

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
	"marginlab/views"
	"marginlab/views/figure"
)

var Hardmargin = Lesson{
	Slug: "hard-margin", Title: "The hard margin: primal, dual, support vectors",
	Summary: "The widest margin as a quadratic programme, its dual step by step, and why only a few points matter.",
	Screens: []Screen{
		{
			Slug: "primal", Title: "The widest margin is the shortest w",
			Covers: []string{"001 4.1", "002 primal"},
			Words:  hardmarginPrimalWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "w1", Label: "w₁", Kind: param.Number, Default: "1.2", Min: -0.6, Max: 2, Low: -0.6, High: 2, Folded: true},
					{Name: "w2", Label: "w₂", Kind: param.Number, Default: "0.3", Min: -0.6, Max: 1.5, Low: -0.6, High: 1.5, Folded: true},
					{Name: "solver", Label: "show the solver's w", Kind: param.Switch, Default: "false", Help: "Try to find it first."},
				},
				Show: showHardmarginPrimal,
			},
			Questions: []Question{{
				Slug: "more", Ask: `One more training point is added; the classes are still separable. What can happen to the least value of $\frac12\lVert\mathbf w\rVert^2$?`,
				Options: []string{"It stays or falls: more data, better fit.", "It stays or grows.", "It can do either."},
				Answer:  hardmarginMore,
				Explain: `Every point is one more constraint. A smaller allowed region has no shorter $\mathbf w$: the margin of a hard-margin machine never grows with more data.`,
			}},
		},
		{
			Slug: "dual", Title: "From the Lagrange function to the dual",
			Covers: []string{"001 5.1", "001 5.2", "001 5.3", "001 5.4", "002 lagrangian", "002 weights", "002 dual"},
			Words:  hardmarginDualWords,
			Demo:   &Demo{Show: showHardmarginDual},
			Questions: []Question{{
				Slug: "unknowns", Ask: "Six points with 1000 features each. The primal problem has 1001 unknowns, the weights and the bias. How many has the dual?",
				Answer:  func(context.Context) (float64, error) { return float64(len(hardmarginSix.Y)), nil },
				Within:  1e-6,
				Explain: `%s: one $\alpha_i$ a point. The features enter through the inner products only, and that is the door through which kernels will come in.`,
			}},
		},
		{
			Slug: "by-hand", Title: "Six points, solved by hand",
			Covers: []string{"001 5.5", "002 weights"},
			Words:  hardmarginByHandWords,
			Demo:   &Demo{Show: showHardmarginByHand},
			Questions: []Question{{
				Slug: "units", Ask: `Measure the same six points in other units, so that all coordinates double. Which value do $\alpha_2$ and $\alpha_4$ have now?`,
				Within: 0.002,
				Answer: func(ctx context.Context) (float64, error) {
					double := Toy{Y: hardmarginSix.Y}
					for _, p := range hardmarginSix.XY {
						double.XY = append(double.XY, [2]float64{2 * p[0], 2 * p[1]})
					}
					m, err := TrainHard(ctx, double)
					if err != nil {
						return 0, err
					}
					return math.Round(1e6*m.Points[3].Weight) / 1e6, nil
				},
				Explain: `The distance of the pair doubles, so $\mathbf w$ is halved; $\mathbf w = a(\mathbf x_4 - \mathbf x_2)$ then needs a quarter of $a$: %s.`,
			}},
		},
		{
			Slug: "support", Title: "Only the support vectors matter",
			Covers: []string{"001 5.5", "002 support", "002 generalization", "002 summary-hard"},
			Words:  hardmarginSupportWords,
			Demo: &Demo{
				Old:  append(hardmarginPlaces(), param.Param{Name: "only", Label: "delete all other points", Kind: param.Switch, Default: "false", Help: "Train on the support vectors alone."}),
				Show: showHardmarginSupport,
			},
			Questions: []Question{
				{
					Slug: "delete", Ask: "You delete one point that is not a support vector and train again. What happens to the line?",
					Options: []string{"It turns a little.", "It moves towards the gap that the point leaves.", "Nothing."},
					Answer:  hardmarginDelete,
					Explain: `Its $\alpha$ is 0. The old $\alpha$ of the others still fulfil all KKT conditions, and those are sufficient.`,
				},
				{
					Slug: "corners", Ask: "The corners of a square, the two on the left against the two on the right: all four lie on the margin. How many of them are enough to give the same line?",
					Within: 1e-6, Answer: hardmarginCorners,
					Explain: `%s, one of each class, opposite each other. To lie on the margin is necessary for $\alpha > 0$, not sufficient, and the $\alpha$ of the square are not even unique.`,
				},
			},
		},
		{
			Slug: "duality", Title: "Two values that meet: strong duality",
			Covers: []string{"001 5.4", "002 dual"},
			Words:  hardmarginDualityWords,
			Demo:   &Demo{Show: showHardmarginDuality},
			Questions: []Question{{
				Slug: "sum", Ask: `The six points of the example by hand have $\alpha_2 + \alpha_4 = 0.5$, the others 0. How wide is the margin $1/\lVert\mathbf w\rVert$?`,
				Answer: func(ctx context.Context) (float64, error) {
					m, err := TrainHard(ctx, hardmarginSix)
					if err != nil {
						return 0, err
					}
					return 1 / math.Sqrt(m.AlphaSum()), nil
				},
				Explain: `Where both values meet, $\frac12\lVert\mathbf w\rVert^2 = \sum\alpha_i - \frac12\lVert\mathbf w\rVert^2$, so $\lVert\mathbf w\rVert^2 = \sum_i\alpha_i$ and the margin is $1/\sqrt{0.5} = $ %s.`,
			}},
		},
		{
			Slug: "only-hard", Title: "Three formulas that need the hard margin",
			Covers: []string{"001 5.5", "002 weights", "002 dual", "002 support"},
			Words:  hardmarginOnlyWords,
			Demo: &Demo{
				Old:  []param.Param{{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "0.2", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true, Help: "Large is as good as hard."}},
				Show: showHardmarginOnly,
			},
			Questions: []Question{{
				Slug: "sqrt", Ask: `With a small $C$ some points are inside the margin. Is $1/\sqrt{\sum_i\alpha_i}$ larger or smaller than the margin $1/\lVert\mathbf w\rVert$?`,
				Options: []string{"Larger.", "Equal.", "Smaller."},
				Answer:  hardmarginSqrt,
				Explain: `At the soft optimum $\sum_i\alpha_i = \lVert\mathbf w\rVert^2 + C\sum_i\xi_i$: the slacks make the sum larger than $\lVert\mathbf w\rVert^2$, and its root in the denominator makes the quotient smaller.`,
			}},
		},
	},
}

// hardmarginSix are scikit-learn's six points: a problem with round numbers.
var hardmarginSix = Toy{
	[][2]float64{{-2, -1}, {-1, -1}, {-1, -2}, {1, 1}, {1, 2}, {2, 1}},
	[]float64{-1, -1, -1, 1, 1, 1},
}

// hardmarginEight are eight points with three support vectors.
var hardmarginEight = Toy{
	[][2]float64{{-2.3, 0.5}, {-1.1, -0.3}, {-1.7, -1.6}, {-1.4, 1.6}, {0.9, 1.3}, {1.2, -1.2}, {2.5, 0.2}, {2.1, 1.8}},
	[]float64{-1, -1, -1, -1, 1, 1, 1, 1},
}

var hardmarginSixLimits = figure.Limits{XMin: -3, XMax: 3, YMin: -2.4, YMax: 2.4}

// hardmarginDots are the points of a toy; those with a ring have an entry of
// their own in the legend.
func hardmarginDots(t Toy, name string, ring func(i int) bool) []figure.Mark {
	marks := t.Dots(nil)
	for i, p := range t.XY {
		if ring(i) {
			marks = append(marks, figure.Dot{At: p, Class: Class(t.Y[i]), Ring: true, Name: name})
		}
	}
	return marks
}

func showHardmarginPrimal(ctx context.Context, in Input) (*Exhibit, error) {
	t := hardmarginSix
	w := in.place("w1", "w2")
	b := t.Middle(w)
	low, high := t.Edges(w)
	half := (high - low) / 2 // the least margin y f, with the best b
	marks := []figure.Mark{
		figure.Region{F: func(x, y float64) float64 {
			low, high := t.Edges([2]float64{x, y})
			return high - low - 2
		}, Color: figure.Green, Name: "some b fulfils all constraints"},
		figure.Contours{F: func(x, y float64) float64 { return (x*x + y*y) / 2 }, Levels: []float64{0.1, 0.25, 0.5, 1, 2}, Name: "level lines of ½|w|²"},
		figure.Dot{At: w, Class: -1, Label: "w"},
	}
	e := &Exhibit{
		Handles: []Handle{{Label: "w", X: w[0], Y: w[1], XParam: "w1", YParam: "w2"}},
		Numbers: []Number{
			{Label: `$\frac12\lVert\mathbf w\rVert^2$`, Value: views.Short((w[0]*w[0] + w[1]*w[1]) / 2), Help: "to be made small"},
			{Label: `least $y_i f(\mathbf x_i)$`, Value: Short(half), Help: "has to be at least 1"},
			{Label: `$1/\lVert\mathbf w\rVert$`, Value: views.Short(1 / Norm(w)), Help: "the margin, as long as the line above holds"},
		},
		Lab: t.Lab("kernel", "linear", "hard_margin", "true"),
	}
	switch {
	case half <= 0:
		e.Notes = []string{`For this direction no $b$ separates the classes at all.`}
	case half < 1-1e-3:
		e.Notes = []string{`The line separates, but some point has $y_i f(\mathbf x_i) < 1$: this $\mathbf w$ is too short for its direction.`}
	default:
		e.Notes = []string{`Every constraint holds. Is there a shorter $\mathbf w$ in the shaded region?`}
	}
	if in.On("solver") {
		m, err := TrainHard(ctx, t)
		if err != nil {
			return nil, err
		}
		marks = append(marks, figure.Dot{At: m.W, Class: -1, Ring: true, Label: "solver"})
		e.Numbers = append(e.Numbers, Number{Label: `the solver's $\frac12\lVert\mathbf w\rVert^2$`, Value: views.Short((m.W[0]*m.W[0] + m.W[1]*m.W[1]) / 2), Help: "at the place of the region nearest to the origin"})
	}
	points := []figure.Mark{}
	if Norm(w) > 1e-9 {
		points = append(append(points, Sides(w, b)...), MarginLines(w, b)...)
	}
	e.Figures = []Figure{
		{Name: "weights", Caption: `The plane of the weights $(w_1, w_2)$; the best $b$ goes with each. Drag $\mathbf w$ within the shaded region as near to the origin as you can.`, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Plane{Format: l.Format(1), X: "w₁", Y: "w₂", Limits: figure.Limits{XMin: -0.6, XMax: 2, YMin: -0.6, YMax: 1.5}, Marks: marks}.Picture()
		}},
		Plane("points", `The line that belongs to it, with $f = \pm 1$ dashed. No point may lie between the dashed lines.`, hardmarginSixLimits, 1, points, t.Dots(nil)),
	}
	return e, nil
}

// hardmarginMore leaves out one point after the other and compares the minima.
func hardmarginMore(ctx context.Context) (float64, error) {
	all, err := TrainHard(ctx, hardmarginEight)
	if err != nil {
		return 0, err
	}
	grows, falls := false, false
	for i := range hardmarginEight.Y {
		fewer, err := TrainHard(ctx, hardmarginEight.Without(i))
		if err != nil {
			return 0, err
		}
		grows = grows || Norm(all.W) > Norm(fewer.W)+1e-6
		falls = falls || Norm(all.W) < Norm(fewer.W)-1e-6
	}
	switch {
	case falls && grows:
		return 2, nil
	case falls:
		return 0, nil
	}
	return 1, nil
}

// hardmarginSolved are the six points with their line, up to what a step has reached.
func hardmarginSolved(name, caption string, more ...[]figure.Mark) Figure {
	return Plane(name, caption, hardmarginSixLimits, 2, more...)
}

func showHardmarginDual(ctx context.Context, in Input) (*Exhibit, error) {
	t := hardmarginSix
	m, err := TrainHard(ctx, t)
	if err != nil {
		return nil, err
	}
	lines := []Line{
		{`A multiplier $\alpha_i \ge 0$ for every constraint $1 - y_i(\mathbf w^\top\mathbf x_i + b) \le 0$.`, `\mathcal L = \tfrac12\lVert\mathbf w\rVert^2 + \sum_i \alpha_i\bigl(1 - y_i(\mathbf w^\top\mathbf x_i + b)\bigr)`},
		{`The gradient in $\mathbf w$ vanishes: the weights are a sum of training points.`, `\mathbf w - \sum_i \alpha_i y_i\,\mathbf x_i = \mathbf 0 \quad\Rightarrow\quad \mathbf w = \sum_i \alpha_i y_i\,\mathbf x_i`},
		{`The derivative in $b$ vanishes: no value for $b$, but a condition on $\alpha$.`, `-\sum_i \alpha_i y_i = 0`},
		{`Now sort $\mathcal L$ by its unknowns.`, `\mathcal L = \tfrac12\mathbf w^\top\mathbf w - \mathbf w^\top\!\sum_i \alpha_i y_i\,\mathbf x_i - b\sum_i \alpha_i y_i + \sum_i \alpha_i`},
		{`The second sum is $\mathbf w$ (step 1), the third is 0 (step 2), and with it $b$ is gone.`, `\mathcal L = \tfrac12\mathbf w^\top\mathbf w - \mathbf w^\top\mathbf w + \sum_i \alpha_i = \sum_i \alpha_i - \tfrac12\lVert\mathbf w\rVert^2`},
		{`Write $\lVert\mathbf w\rVert^2$ out: points meet points in inner products only.`, `W(\alpha) = \sum_i \alpha_i - \tfrac12\sum_i\sum_j \alpha_i\alpha_j\,y_i y_j\,\mathbf x_i^\top\mathbf x_j`},
		{`The *dual problem*: the best such $\alpha$.`, `\begin{gathered} \max_\alpha\; W(\alpha) \quad\text{subject to} \\ \sum_i \alpha_i y_i = 0, \qquad \alpha_i \ge 0 \;\text{ for all } i \end{gathered}`},
		{`Its solution gives the classifier back, again with inner products only.`, `f(\mathbf x) = \sum_i \alpha_i y_i\,\mathbf x_i^\top\mathbf x + b`},
	}
	e := &Exhibit{Steps: len(lines), Step: min(in.Step, len(lines)-1)}
	e.Body = Derivation(e.Step, lines...)
	balance := 0.0
	for _, p := range m.Points {
		balance += p.Weight
	}
	square := m.W[0]*m.W[0] + m.W[1]*m.W[1]
	marks := [][]figure.Mark{hardmarginDots(t, "α > 0", m.Supports)}
	caption := `Six points; the solver has found an $\alpha_i$ for each. The two ringed ones are not 0.`
	if e.Step >= 1 {
		// w as the sum of the points that carry it, head to tail.
		at := [2]float64{}
		var arrows []figure.Mark
		for i, p := range t.XY {
			if u := m.Points[i].Weight; u != 0 {
				n, to := Subscript(i+1), [2]float64{at[0] + u*p[0], at[1] + u*p[1]}
				arrows = append(arrows, figure.Arrow{From: at, To: to, Pen: figure.Pen{Color: figure.Magenta}, Label: "α" + n + " y" + n + " x" + n})
				at = to
			}
		}
		marks = append(marks, arrows)
		caption = `The arrows $\alpha_i y_i \mathbf x_i$, head to tail from the origin, end at $\mathbf w$.`
		e.Numbers = append(e.Numbers, Number{Label: `$\mathbf w = \sum_i\alpha_i y_i\mathbf x_i$`, Value: Pair(hardmarginTidy(m.W)), Help: "for the six points"})
	}
	if e.Step >= 2 {
		e.Numbers = append(e.Numbers, Number{Label: `$\sum_i\alpha_i y_i$`, Value: views.Short(Flush(balance, 1e-6)), Help: "both classes pull equally hard"})
	}
	if e.Step >= 4 {
		e.Numbers = append(e.Numbers,
			Number{Label: `$\sum_i\alpha_i$`, Value: views.Short(hardmarginNear(m.AlphaSum()))},
			Number{Label: `$\frac12\lVert\mathbf w\rVert^2$`, Value: views.Short(hardmarginNear(square / 2))},
			Number{Label: `$W(\alpha)$`, Value: views.Short(hardmarginNear(m.AlphaSum() - square/2)), Help: "their difference"})
	}
	if e.Step >= 7 {
		marks = append([][]figure.Mark{Sides(m.W, m.B), MarginLines(m.W, m.B)}, marks...)
		caption = `The line of the solution. Only the two ringed points enter its formula.`
	}
	e.Figures = []Figure{hardmarginSolved("points", caption, marks...)}
	return e, nil
}

// hardmarginNear removes what a solver with tolerance 1e-8 leaves beside a round number.
func hardmarginNear(v float64) float64 { return math.Round(v*1e7) / 1e7 }

// hardmarginTidy is hardmarginNear of both components.
func hardmarginTidy(w [2]float64) [2]float64 {
	return [2]float64{hardmarginNear(w[0]), hardmarginNear(w[1])}
}

// hardmarginHand is the problem of the six points worked out by hand from the
// guess that points i and j alone carry the line.
type hardmarginHand struct {
	d      [2]float64 // x_j - x_i
	square float64    // |d|²
	a      float64    // alpha of both: maximum of W(a) = 2a - a²|d|²/2
	w      [2]float64
	b      float64
}

// newHardmarginHand solves for the pair i (negative) and j (positive).
func newHardmarginHand(t Toy, i, j int) hardmarginHand {
	h := hardmarginHand{d: [2]float64{t.XY[j][0] - t.XY[i][0], t.XY[j][1] - t.XY[i][1]}}
	h.square = h.d[0]*h.d[0] + h.d[1]*h.d[1]
	h.a = 2 / h.square
	h.w = [2]float64{h.a * h.d[0], h.a * h.d[1]}
	h.b = t.Y[j] - h.w[0]*t.XY[j][0] - h.w[1]*t.XY[j][1]
	return h
}

// dual is W(a).
func (h hardmarginHand) dual(a float64) float64 { return 2*a - a*a*h.square/2 }

func showHardmarginByHand(ctx context.Context, in Input) (*Exhibit, error) {
	t := hardmarginSix
	const i, j = 1, 3
	h := newHardmarginHand(t, i, j)
	num := TeXFraction
	lines := []Line{
		{`*Guess* that the closest pair, points 2 and 4, carries the line. $\sum_i\alpha_i y_i = 0$ makes their multipliers equal.`, `\alpha_2 = \alpha_4 = a, \qquad \text{all others } 0`},
		{`So the weights point from one to the other.`, `\mathbf w = a\,(\mathbf x_4 - \mathbf x_2) = a\,` + TeXPoint(h.d)},
		{`The dual is a parabola in $a$.`, `W(a) = 2a - \tfrac12\lVert\mathbf w\rVert^2 = ` + TeXSum(TeXTerm{2, "a"}, TeXTerm{-h.square / 2, "a^2"})},
		{`Its top:`, `W'(a) = ` + TeXSum(TeXTerm{2, ""}, TeXTerm{-h.square, "a"}) + ` = 0 \quad\Rightarrow\quad a = ` + num(h.a)},
		{`Back to the weights and the margin.`, `\mathbf w = ` + TeXPoint(h.w) + `, \qquad \frac{1}{\lVert\mathbf w\rVert} = \sqrt{` + num(1/(h.w[0]*h.w[0]+h.w[1]*h.w[1])) + `}`},
		{`Point 4 is on the margin, $y_4 f(\mathbf x_4) = 1$, which gives $b$.`, `b = y_4 - \mathbf w^\top\mathbf x_4 = ` + num(t.Y[j]) + ` - ` + num(t.Y[j]-h.b) + ` = ` + num(h.b)},
		{`*Check the guess:* no point is inside the margin (see the table), so all KKT conditions hold. They are sufficient: this is the solution.`, `\tfrac12\lVert\mathbf w\rVert^2 = W(a) = ` + num(h.dual(h.a))},
	}
	e := &Exhibit{Steps: len(lines), Step: min(in.Step, len(lines)-1), Lab: t.Lab("kernel", "linear", "hard_margin", "true")}
	e.Body = Derivation(e.Step, lines...)
	pairMarks := []figure.Mark{figure.Segment{From: t.XY[i], To: t.XY[j], Pen: figure.Pen{Dash: figure.Dotted}, Name: "closest pair"}}
	for k, p := range t.XY {
		pairMarks = append(pairMarks, figure.Dot{At: p, Class: Class(t.Y[k]), Name: ClassName(t.Y[k]), Label: strconv.Itoa(k + 1)})
	}
	for _, k := range []int{i, j} {
		pairMarks = append(pairMarks, figure.Dot{At: t.XY[k], Class: Class(t.Y[k]), Ring: true})
	}
	marks := [][]figure.Mark{pairMarks}
	caption := `Six points. The closest pair is ringed.`
	if e.Step >= 5 {
		marks = [][]figure.Mark{Sides(h.w, h.b), MarginLines(h.w, h.b), pairMarks}
		caption = `The line found by hand stands half-way and at right angles on the dotted segment.`
	}
	e.Figures = []Figure{hardmarginSolved("points", caption, marks...)}
	if e.Step >= 2 && e.Step < 5 {
		e.Figures = append(e.Figures, Figure{Name: "parabola", Wide: true, Caption: `The dual value over $a$; the upright line is its top.`, Draw: func(l Look) (*figure.Picture, error) {
			c := figure.Curve{Name: "W(a)"}
			for k := range 101 {
				a := 2 * h.a * float64(k) / 100
				c.X, c.Y = append(c.X, a), append(c.Y, h.dual(a))
			}
			chart := figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "a"}, Y: figure.Axis{Name: "W(a)"}, Curves: []figure.Curve{c}}
			if e.Step >= 3 {
				chart.Here = &h.a
			}
			return chart.Picture()
		}})
	}
	if e.Step >= 6 {
		m, err := TrainHard(ctx, t)
		if err != nil {
			return nil, err
		}
		table := Table{Caption: "Every KKT condition of the guess, and what the solver finds", Head: []string{"point", `$\mathbf x_i$`, `$y_i$`, `$\alpha_i$`, `$y_i f(\mathbf x_i)$`, `solver's $\alpha_i$`}, Marked: []int{i, j}}
		for k, p := range t.XY {
			alpha := 0.0
			if k == i || k == j {
				alpha = h.a
			}
			f := h.w[0]*p[0] + h.w[1]*p[1] + h.b
			table.Rows = append(table.Rows, []string{strconv.Itoa(k + 1), Pair(p), views.Short(t.Y[k]), views.Short(alpha), views.Short(t.Y[k] * f), views.Short(hardmarginNear(math.Abs(m.Points[k].Weight)))})
		}
		e.Tables = []Table{table}
		e.Numbers = []Number{{Label: "the solver's $b$", Value: views.Short(Flush(m.B, 1e-6))}}
	}
	return e, nil
}

// hardmarginPlaces are the controls of the eight points.
func hardmarginPlaces() (ps []param.Param) {
	for i, p := range hardmarginEight.XY {
		for k, axis := range []string{"x", "y"} {
			reach := []float64{3.4, 2.6}[k]
			ps = append(ps, param.Param{
				Name: axis + strconv.Itoa(i+1), Label: fmt.Sprintf("point %d, x%d", i+1, k+1), Kind: param.Number,
				Default: Setting(p[k]), Min: -reach, Max: reach, Low: -reach, High: reach, Folded: true,
			})
		}
	}
	return ps
}

func showHardmarginSupport(ctx context.Context, in Input) (*Exhibit, error) {
	t := Toy{Y: hardmarginEight.Y}
	e := &Exhibit{}
	for i := range t.Y {
		x, y := "x"+strconv.Itoa(i+1), "y"+strconv.Itoa(i+1)
		p := in.place(x, y)
		t.XY = append(t.XY, p)
		e.Handles = append(e.Handles, Handle{Label: fmt.Sprintf("point %d", i+1), X: p[0], Y: p[1], XParam: x, YParam: y})
	}
	e.Lab = t.Lab("kernel", "linear", "hard_margin", "true")
	m, err := TrainHard(ctx, t)
	if errors.Is(err, svm.ErrNotSeparable) {
		e.Figures = []Figure{Plane("points", "No line separates these points.", ToyLimits, 2, t.Dots(nil))}
		e.Notes = []string{`No line separates the classes now: the constraints contradict each other, and there is no hard margin. Drag the point back. (The soft margin, two lessons on, can live with this.)`}
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	start, err := TrainHard(ctx, hardmarginEight)
	if err != nil {
		return nil, err
	}
	w, b := m.W, m.B
	dots := hardmarginDots(t, "support vector", m.Supports)
	if in.On("only") {
		var few Toy
		for i := range t.Y {
			if m.Supports(i) {
				few.XY, few.Y = append(few.XY, t.XY[i]), append(few.Y, t.Y[i])
			} else {
				d := dots[i].(figure.Dot)
				d.Hollow, d.Name = true, "deleted"
				dots[i] = d
			}
		}
		alone, err := TrainHard(ctx, few)
		if err != nil {
			return nil, err
		}
		w, b = alone.W, alone.B
		shift := math.Max(math.Max(math.Abs(w[0]-m.W[0]), math.Abs(w[1]-m.W[1])), math.Abs(b-m.B))
		e.Numbers = append(e.Numbers, Number{Label: `change of $\mathbf w$ and $b$ by deleting`, Value: views.Short(Flush(shift, 1e-6)), Help: "largest difference to training on all eight"})
		e.Notes = append(e.Notes, fmt.Sprintf("Trained on %d points out of %d: the same line.", len(few.Y), len(t.Y)))
	}
	moved := math.Max(math.Max(math.Abs(w[0]-start.W[0]), math.Abs(w[1]-start.W[1])), math.Abs(b-start.B)) > 1e-4
	if moved {
		e.Notes = append(e.Notes, "The line has left its first place (long dashes): a support vector was moved, or a point has reached the margin and become one.")
	} else {
		e.Notes = append(e.Notes, "The line is where it was at first. Drag a point that is not ringed: nothing moves until it touches the nearer dashed line.")
	}
	ghost := []figure.Mark{figure.Line{A: start.W, C: -start.B, Pen: figure.Pen{Color: figure.Magenta, Dash: figure.LongDash}, Name: "line at first"}}
	e.Figures = []Figure{Plane("points", `Drag the points. Ringed are the support vectors; the dashed lines are the margin $f = \pm 1$.`, ToyLimits, 3, Sides(w, b), MarginLines(w, b), ghost, dots)}
	count := 0
	table := Table{Caption: "Every point: its multiplier, and how far beyond the margin it is", Head: []string{"point", `$y_i$`, `$\alpha_i$`, `$y_i f(\mathbf x_i)$`}}
	for i, p := range m.Points {
		if m.Supports(i) {
			count++
			table.Marked = append(table.Marked, i)
		}
		table.Rows = append(table.Rows, []string{strconv.Itoa(i + 1), views.Short(p.Y), views.Short(math.Abs(p.Weight)), views.Short(p.Margin)})
	}
	e.Numbers = append(e.Numbers,
		Number{Label: "support vectors", Value: fmt.Sprintf("%d of %d", count, len(t.Y))},
		Number{Label: `$\mathbf w$`, Value: Pair(w)},
		Number{Label: `$b$`, Value: views.Short(Flush(b, 1e-6))},
		Number{Label: `$1/\lVert\mathbf w\rVert$`, Value: views.Short(1 / Norm(w)), Help: "margin"})
	e.Tables = []Table{table}
	return e, nil
}

// hardmarginDelete trains without each point that is no support vector.
func hardmarginDelete(ctx context.Context) (float64, error) {
	all, err := TrainHard(ctx, hardmarginEight)
	if err != nil {
		return 0, err
	}
	for i := range hardmarginEight.Y {
		if all.Supports(i) {
			continue
		}
		fewer, err := TrainHard(ctx, hardmarginEight.Without(i))
		if err != nil || Norm([2]float64{all.W[0] - fewer.W[0], all.W[1] - fewer.W[1]})+math.Abs(all.B-fewer.B) > 1e-5 {
			return 0, err
		}
	}
	return 2, nil
}

// hardmarginCorners finds the smallest set of corners of a square that has the
// line of all four.
func hardmarginCorners(ctx context.Context) (float64, error) {
	square := Toy{[][2]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}, []float64{-1, -1, 1, 1}}
	all, err := TrainHard(ctx, square)
	if err != nil {
		return 0, err
	}
	fewest := len(square.Y)
	for set := range 1 << len(square.Y) {
		var some Toy
		classes := map[float64]bool{}
		for i := range square.Y {
			if set>>i&1 == 1 {
				some.XY, some.Y = append(some.XY, square.XY[i]), append(some.Y, square.Y[i])
				classes[square.Y[i]] = true
			}
		}
		if len(classes) < 2 || len(some.Y) >= fewest {
			continue
		}
		m, err := TrainHard(ctx, some)
		if err != nil {
			return 0, err
		}
		if Norm([2]float64{all.W[0] - m.W[0], all.W[1] - m.W[1]})+math.Abs(all.B-m.B) < 1e-5 {
			fewest = len(some.Y)
		}
	}
	return float64(fewest), nil
}

// hardmarginRun solves the dual of the twelve points of the first lesson step by step.
func hardmarginRun(ctx context.Context) (*trace.Replay[stepwise.SMOState], error) {
	t := Separable
	// An upper bound of alpha that none reaches is no bound.
	return stepwise.SMO(ctx, kernel.NewGram(kernel.Kernel{Name: "linear"}, t.Matrix()), t.Y, stepwise.SMOSettings{C: 1e4, Selection: stepwise.SecondOrder, Tol: 1e-6})
}

// hardmarginWeights is w of a step of hardmarginRun.
func hardmarginWeights(s stepwise.SMOState) (w [2]float64) {
	for i, u := range s.U() {
		w[0] += u * Separable.XY[i][0]
		w[1] += u * Separable.XY[i][1]
	}
	return w
}

// hardmarginCeiling is |w|²/2 for w made just long enough for all constraints
// under the best b; +Inf where its direction does not separate the classes.
func hardmarginCeiling(w [2]float64, t Toy) float64 {
	low, high := t.Edges(w)
	if high-low < 1e-9 {
		return math.Inf(1)
	}
	length := Norm(w) * 2 / (high - low)
	return length * length / 2
}

func showHardmarginDuality(ctx context.Context, in Input) (*Exhibit, error) {
	t := Separable
	run, err := hardmarginRun(ctx)
	if err != nil {
		return nil, err
	}
	e := &Exhibit{Steps: run.Len(), Step: min(in.Step, run.Len()-1), Lab: t.Lab("kernel", "linear", "hard_margin", "true")}
	var steps, floor, ceil []float64
	for k := range run.Len() {
		steps, floor, ceil = append(steps, float64(k)), append(floor, run.At(k).Dual), append(ceil, hardmarginCeiling(hardmarginWeights(run.At(k)), t))
	}
	s := run.At(e.Step)
	w := hardmarginWeights(s)
	total := 0.0
	for _, p := range s.Points {
		total += p.Alpha
	}
	here := float64(e.Step)
	top := 2.2 * run.At(run.Len()-1).Dual
	e.Figures = []Figure{{Name: "values", Caption: `Each step of a solver gives an $\alpha$, and with it a floor and a ceiling. The optimum is between the two.`, Draw: func(l Look) (*figure.Picture, error) {
		return figure.Chart{
			Format: l.Format(1), X: figure.Axis{Name: "step"}, Y: figure.Axis{Name: "value", Min: 0, Max: top},
			Curves: []figure.Curve{{Name: "ceiling: ½|w|²", X: steps, Y: ceil, Marks: true}, {Name: "floor: W(α)", X: steps, Y: floor, Marks: true}}, Here: &here,
		}.Picture()
	}}}
	gap := ceil[e.Step] - floor[e.Step]
	e.Figures = append(e.Figures, Figure{Name: "gap", Caption: "Ceiling minus floor, on a logarithmic axis.", Draw: func(l Look) (*figure.Picture, error) {
		c := figure.Curve{Name: "gap", X: steps, Marks: true}
		for k := range steps {
			c.Y = append(c.Y, ceil[k]-floor[k])
		}
		return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "step"}, Y: figure.Axis{Name: "gap", Log: true}, Curves: []figure.Curve{c}, Here: &here}.Picture()
	}})
	e.Numbers = []Number{
		{Label: `$W(\alpha)$`, Value: views.Long(s.Dual), Help: "dual value: a floor"},
		{Label: `$\frac12\lVert\mathbf w\rVert^2$`, Value: hardmarginFinite(ceil[e.Step]), Help: `primal value of this step's line, in canonical form: a ceiling`},
		{Label: "gap", Value: hardmarginFinite(Flush(gap, 1e-6)), Help: "none left (below a millionth) proves that both are optimal"},
		{Label: `$\sum_i\alpha_i$`, Value: views.Long(total), Help: `at the end $\lVert\mathbf w\rVert^2$`},
		{Label: `$1/\sqrt{\sum_i\alpha_i}$`, Value: hardmarginFinite(1 / math.Sqrt(total)), Help: "at the end the margin"},
		{Label: `$1/\lVert\mathbf w\rVert$`, Value: hardmarginFinite(1 / Norm(w))},
	}
	marks := [][]figure.Mark{hardmarginDots(t, "α > 0", func(i int) bool { return s.Points[i].Alpha > 1e-9 })}
	low, high := t.Edges(w)
	if high > low+1e-9 {
		scale := 2 / (high - low)
		cw := [2]float64{scale * w[0], scale * w[1]}
		cb := t.Middle(cw)
		marks = append([][]figure.Mark{Sides(cw, cb), MarginLines(cw, cb)}, marks...)
	}
	e.Figures = append(e.Figures, Plane("points", `The line of this step. Ringed: $\alpha_i > 0$.`, ToyLimits, 1, marks...))
	switch {
	case s.Pair == nil:
		e.Notes = []string{`At the start all $\alpha$ are 0. That is allowed, but the floor is 0, and $\mathbf w = \mathbf 0$ separates nothing.`}
	case e.Step == run.Len()-1:
		e.Notes = []string{`Floor and ceiling have met. Nobody needs to trust the solver: the two numbers are the proof.`}
	case math.IsInf(ceil[e.Step], 1):
		e.Notes = []string{fmt.Sprintf(`The multipliers of points %d and %d were changed. The line does not separate yet, so there is a floor but no ceiling.`, s.Pair.I+1, s.Pair.J+1)}
	default:
		e.Notes = []string{fmt.Sprintf(`The multipliers of points %d and %d were changed. The floor rises at every step; the ceiling may go up and down.`, s.Pair.I+1, s.Pair.J+1)}
	}
	return e, nil
}

// hardmarginFinite shows a value, or that there is none.
func hardmarginFinite(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "none"
	}
	return views.Long(v)
}

// hardmarginBiases are the formulas for b under a machine's w.
type hardmarginBiases struct {
	midpoint  float64 // 002, "The weight vector depends on the data"
	positive  float64 // 002, "Support vectors": from the heaviest positive support vector
	low, high float64 // 001 5.5, smallest and largest over all support vectors
}

// newHardmarginBiases computes them for a machine on its points.
func newHardmarginBiases(m *LinearMachine, t Toy) hardmarginBiases {
	r := hardmarginBiases{midpoint: t.Middle(m.W), low: math.Inf(1), high: math.Inf(-1)}
	heaviest := 0.0
	for i, p := range m.Points {
		if !m.Supports(i) {
			continue
		}
		b := p.Y - (p.F - m.B) // y_k - w·x_k
		r.low, r.high = math.Min(r.low, b), math.Max(r.high, b)
		if p.Weight > heaviest+1e-9 {
			heaviest, r.positive = p.Weight, b
		}
	}
	return r
}

func showHardmarginOnly(ctx context.Context, in Input) (*Exhibit, error) {
	t := hardmarginEight
	hard, err := TrainHard(ctx, t)
	if err != nil {
		return nil, err
	}
	c := strconv.FormatFloat(in.Number("C"), 'g', -1, 64)
	soft, err := TrainLinear(ctx, t, "C", c, "tol", "1e-8")
	if err != nil {
		return nil, err
	}
	hb, sb := newHardmarginBiases(hard, t), newHardmarginBiases(soft, t)
	short := func(v float64) string { return views.Short(Flush(v, 1e-6)) }
	between := func(b hardmarginBiases) string {
		if b.high-b.low < 1e-5 {
			return short((b.low + b.high) / 2)
		}
		return short(b.low) + " to " + short(b.high)
	}
	square := func(m *LinearMachine) float64 { return Norm(m.W) * Norm(m.W) }
	bounded := 0
	for _, p := range soft.Points {
		if p.Role == ml.Inside || p.Role == ml.Misclassified {
			bounded++
		}
	}
	note := fmt.Sprintf("With this C, %d points stand inside the margin, held at the bound. The margin is %s, the formula of 002 says %s.", bounded, short(1/Norm(soft.W)), short(1/math.Sqrt(soft.AlphaSum())))
	if bounded == 0 {
		note = "C is so large that no multiplier reaches it: the two columns agree, this *is* the hard margin."
	}
	return &Exhibit{
		Figures: []Figure{Boundary("boundary", `The machine with the chosen $C$. Full rings: on the margin; dashed rings: inside it, $\alpha_i = C$.`, soft.Model, soft.Data, soft.Spec, func(s *figure.Scene) { s.Slack, s.LegendRows = true, 2 })},
		Notes:   []string{note},
		Tables: []Table{{
			Caption: "The same formulas, hard and soft", Head: []string{"formula", "hard margin", "with C"},
			Rows: [][]string{
				{`margin $1/\lVert\mathbf w\rVert$`, short(1 / Norm(hard.W)), short(1 / Norm(soft.W))},
				{`$1/\sqrt{\sum_i\alpha_i}$ (002)`, short(1 / math.Sqrt(hard.AlphaSum())), short(1 / math.Sqrt(soft.AlphaSum()))},
				{`$\sum_i\alpha_i$`, short(hard.AlphaSum()), short(soft.AlphaSum())},
				{`$\lVert\mathbf w\rVert^2 + C\sum_i\xi_i$`, short(square(hard)), short(square(soft) + in.Number("C")*soft.Report.SlackSum)},
				{`$b$ of the solver`, short(hard.B), short(soft.B)},
				{`$b$ by the midpoint (002)`, short(hb.midpoint), short(sb.midpoint)},
				{`$b$ by the heaviest positive SV (002)`, short(hb.positive), short(sb.positive)},
				{`$b = y_k - \mathbf w^\top\mathbf x_k$ over all SVs`, between(hb), between(sb)},
			},
		}},
		Lab: t.Lab("kernel", "linear", "C", c),
	}, nil
}

// hardmarginSqrt compares the slides' formula for the margin with the margin, at a small C.
func hardmarginSqrt(ctx context.Context) (float64, error) {
	m, err := TrainLinear(ctx, hardmarginEight, "C", "0.05", "tol", "1e-8")
	if err != nil {
		return 0, err
	}
	switch formula, margin := 1/math.Sqrt(m.AlphaSum()), 1/Norm(m.W); {
	case formula > margin*(1+1e-6):
		return 0, nil
	case formula < margin*(1-1e-6):
		return 2, nil
	}
	return 1, nil
}
