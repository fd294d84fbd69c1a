package lessons

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/views"
	"marginlab/views/figure"
)

var Softmargin = Lesson{
	Slug: "soft-margin", Title: "The soft margin",
	Summary: "Slack, the hinge loss and what C does, up to both extremes.",
	Screens: []Screen{
		{
			Slug: "one-point", Title: "One point can spoil a hard margin",
			Covers: []string{"001 6.1", "002 slack"},
			Words:  softmarginOnePointWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "margin", Label: "margin", Kind: param.Choice, Default: "hard", Options: []param.Option{
						{Name: "hard", Label: "hard", Help: "No point inside the margin."},
						{Name: "soft", Label: "soft, C = 1", Help: "Points inside the margin have a price."},
					}},
					{Name: "px", Label: "your point x1", Kind: param.Number, Default: "0.7", Min: -3.5, Max: 3.5, Low: -3.5, High: 3.5, Folded: true},
					{Name: "py", Label: "your point x2", Kind: param.Number, Default: "0.5", Min: -2.6, Max: 2.6, Low: -2.6, High: 2.6, Folded: true},
				},
				Show: showSoftmarginOnePoint,
			},
			Questions: []Question{{
				Slug: "impossible", Ask: `Drag your point ($y = -1$) into the middle of the other class, to $(1.8, 0.4)$. What does the *hard* margin machine do?`,
				Options: []string{"It makes one error, with the widest margin for the rest.", "Its margin becomes very small, but there is one.", "Nothing: its problem has no solution."},
				Answer:  softmarginImpossible,
				Explain: `No line has all points on their own side, so no $(\mathbf w, b)$ satisfies all constraints $y_i f(\mathbf x_i) \ge 1$ at once. The feasible region is empty.`,
			}},
		},
		{
			Slug: "slack", Title: "Slack is the hinge loss",
			Covers: []string{"001 6.2", "002 slack", "002 hinge"},
			Words:  softmarginSlackWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "label", Label: "label of your point", Kind: param.Choice, Default: "-1", Options: []param.Option{{Name: "-1", Label: "y = −1"}, {Name: "1", Label: "y = +1"}}},
					{Name: "px", Label: "your point x1", Kind: param.Number, Default: "0.5", Min: -3.5, Max: 3.5, Low: -3.5, High: 3.5, Folded: true},
					{Name: "py", Label: "your point x2", Kind: param.Number, Default: "-1.4", Min: -2.6, Max: 2.6, Low: -2.6, High: 2.6, Folded: true},
				},
				Show: showSoftmarginSlack,
			},
			Questions: []Question{{
				Slug: "wrong-side", Ask: `A point with $y = -1$ has $f(\mathbf x) = 0.4$. How large is its slack $\xi$?`,
				Answer:  func(context.Context) (float64, error) { return softmarginHinge(-1 * 0.4), nil },
				Explain: `$y f = -0.4$, so $\xi = 1 - (-0.4) = $ %s: more than 1, the point is misclassified.`,
			}},
		},
		{
			Slug: "price", Title: "Two wishes and a price",
			Covers: []string{"001 6.3", "002 primal-soft", "002 regularization"},
			Words:  softmarginPriceWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "width", Label: "margin", Symbol: "1/‖w‖", Kind: param.Number, Default: "2.5", Min: 0.3, Max: 4, Low: 0.3, High: 4, Log: true, Help: "Distance from f = 0 to each dashed line."},
					{Name: "C", Label: "price of slack", Symbol: "C", Kind: param.Number, Default: "0.3", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true},
				},
				Show: showSoftmarginPrice,
			},
			Questions: []Question{{
				Slug: "dearer", Ask: `You raise $C$ and solve again. What happens to the two parts of the minimum?`,
				Options: []string{`The margin $1/\lVert\mathbf w\rVert$ and $\sum\xi_i$ both fall, or stay.`, `The margin grows and $\sum\xi_i$ falls.`, `The margin falls and $\sum\xi_i$ grows.`},
				Answer:  softmarginDearer,
				Explain: `Slack has become dearer, so less of it is bought: $\sum\xi_i$ cannot grow. The price is paid with a longer $\mathbf w$, a narrower margin.`,
			}},
		},
		{
			Slug: "dual", Title: "The dual: every α gets a box",
			Covers: []string{"001 6.4", "002 dual-soft"},
			Words:  softmarginDualWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "2", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true},
				},
				Show: showSoftmarginDual,
			},
			Questions: []Question{{
				Slug: "inside", Ask: `A point has slack $\xi_i = 0.3$. What do you know about its $\alpha_i$?`,
				Options: []string{`$\alpha_i = 0$`, `$0 < \alpha_i < C$`, `$\alpha_i = C$`, "Nothing."},
				Answer:  softmarginAtBound,
				Explain: `$\mu_i \xi_i = 0$ and $\xi_i > 0$ leave $\mu_i = 0$, hence $\alpha_i = C - \mu_i = C$.`,
			}},
		},
		{
			Slug: "kinds", Title: "Free and bounded support vectors",
			Covers: []string{"001 6.5", "002 dual-soft"},
			Words:  softmarginKindsWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "2", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true},
				},
				Show: showSoftmarginKinds,
			},
			Questions: []Question{{
				Slug: "leave-out", Ask: `You leave the bounded support vectors out of the sum for $f$. What happens to the line?`,
				Options: []string{"It stays: they are inside the margin and do not count.", "It is only shifted: they enter b but not w.", "It turns: they are part of w."},
				Answer:  softmarginLeaveOut,
				Explain: `$\mathbf w = \sum_i \alpha_i y_i \mathbf x_i$ over all $\alpha_i > 0$, and bounded ones have the *largest* $\alpha$ of all.`,
			}},
		},
		{
			Slug: "c", Title: "What C does",
			Covers: []string{"001 6.3", "002 regularization", "002 dual-soft"},
			Words:  softmarginCWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "1", Min: 1e-3, Max: 1e4, Low: 1e-3, High: 1e4, Log: true},
					{Name: "set", Label: "data", Kind: param.Choice, Default: "overlap", Options: []param.Option{
						{Name: "overlap", Label: "fourteen points"},
						{Name: "iris-versicolor-virginica", Label: "Iris: versicolor and virginica"},
						{Name: "iris-setosa-versicolor", Label: "Iris: setosa and versicolor"},
					}},
					{Name: "with", Label: "kernel", Kind: param.Choice, Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF, γ = 1"}}},
				},
				Show: showSoftmarginC,
			},
			Questions: []Question{
				{
					Slug: "count", Ask: `$C$ falls from 100 to 0.01 on the fourteen points. What happens to the number of support vectors?`,
					Options: []string{"It falls: more regularisation, a simpler machine.", "It stays.", "It rises."},
					Answer:  softmarginCount,
					Explain: `A lower price widens the margin, and every point inside the margin is a support vector. A simpler function, but with more terms.`,
				},
				{
					Slug: "balanced", Ask: `Seven points of each class, $C = 0.001$. How many support vectors are there?`,
					Answer:  softmarginTiny,
					Explain: `All %s: $\mathbf w$ is so short that every point is inside the margin, and $\sum_i \alpha_i y_i = 0$ allows $\alpha_i = C$ for all when the classes are equally large.`,
				},
			},
		},
		{
			Slug: "choose", Title: "How C is chosen",
			Covers: []string{"001 6.6"},
			Words:  softmarginChooseWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "folds", Label: "folds", Symbol: "k", Kind: param.Choice, Default: "5", Options: []param.Option{{Name: "2", Label: "2"}, {Name: "5", Label: "5"}, {Name: "10", Label: "10"}}},
					{Name: "seed", Label: "another way to deal", Kind: param.Integer, Default: "1", Min: 1, Max: 50, Low: 1, High: 50, Help: "Which points share a fold."},
					{Name: "set", Label: "data", Kind: param.Choice, Default: "moons", Options: []param.Option{
						{Name: "moons", Label: "moons"},
						{Name: "iris", Label: "Iris: versicolor or not"},
						{Name: "iris-sepal", Label: "Iris: versicolor and virginica, sepal"},
					}},
				},
				Show: showSoftmarginChoose,
			},
			Questions: []Question{{
				Slug: "cost", Ask: `Five folds, and the fifteen values of $C$ in the picture. How many machines are trained, the final one included?`,
				Answer:  func(context.Context) (float64, error) { return float64(5*len(softmarginGrid(2)) + 1), nil },
				Explain: `Every value is tried once a fold, $5 \cdot 15 = 75$; then the winner is trained on all points: %s.`,
			}},
		},
	},
}

// softmarginAt trains on the lesson's points with the price c.
func softmarginAt(ctx context.Context, c float64) (*LinearMachine, error) {
	return TrainLinear(ctx, Overlapping, "C", Setting(c))
}

// softmarginHinge is the slack of a point with the functional margin m.
func softmarginHinge(m float64) float64 { return math.Max(0, 1-m) }

func showSoftmarginOnePoint(ctx context.Context, in Input) (*Exhibit, error) {
	p := in.place("px", "py")
	t := Toy{append([][2]float64{p}, Separable.XY...), append([]float64{-1}, Separable.Y...)}
	e := &Exhibit{Handles: []Handle{{Label: "your point", X: p[0], Y: p[1], XParam: "px", YParam: "py"}}}
	soft := in.Text("margin") == "soft"
	settings := []string{"hard_margin", "true"}
	if soft {
		settings = []string{"C", "1"}
	}
	e.Lab = t.Lab(append([]string{"kernel", "linear"}, settings...)...)
	_, _, without, err := widest(ctx)
	if err != nil {
		return nil, err
	}
	caption := `Drag your point, the one with the label. Ringed points are support vectors.`
	mine := []figure.Mark{figure.Dot{At: p, Class: Class(-1), Label: "your point, y = −1"}}
	m, err := TrainLinear(ctx, t, settings...)
	if errors.Is(err, svm.ErrNotSeparable) {
		e.Figures = []Figure{Plane("points", caption, ToyLimits, 2, t.Dots(nil), mine)}
		e.Notes = []string{"No line separates these points: the hard-margin problem has no solution at all. Switch to the soft margin."}
		e.Numbers = []Number{{Label: "margin", Value: "none"}, {Label: "margin without your point", Value: views.Short(without)}}
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	marks := [][]figure.Mark{Sides(m.W, m.B), MarginLines(m.W, m.B)}
	if soft {
		marks = append(marks, Slacks(t, m.W, m.B))
	}
	e.Figures = []Figure{Plane("points", caption, ToyLimits, 2, append(marks, t.Dots(m.Supports), mine)...)}
	margin := 1 / Norm(m.W)
	e.Numbers = []Number{
		{Label: `margin $1/\lVert\mathbf w\rVert$`, Value: views.Short(margin)},
		{Label: "hard margin without your point", Value: views.Short(without), Help: "of the twelve others"},
	}
	if soft {
		e.Numbers = append(e.Numbers, Number{Label: `$\sum_i \xi_i$`, Value: views.Short(m.Report.SlackSum), Help: "how far all points together fall short of their margin line"})
	} else if margin < 0.995*without {
		e.Notes = []string{fmt.Sprintf("One point of thirteen has taken %.0f %% of the margin.", 100*(1-margin/without))}
	}
	return e, nil
}

// softmarginImpossible asks the solver for the hard margin with a point among the
// other class.
func softmarginImpossible(ctx context.Context) (float64, error) {
	t := Toy{append([][2]float64{{1.8, 0.4}}, Separable.XY...), append([]float64{-1}, Separable.Y...)}
	m, err := TrainLinear(ctx, t, "hard_margin", "true")
	switch {
	case errors.Is(err, svm.ErrNotSeparable):
		return 2, nil
	case err != nil:
		return 0, err
	case m.Report.TrainAccuracy < 1:
		return 0, nil
	}
	return 1, nil
}

func showSoftmarginSlack(ctx context.Context, in Input) (*Exhibit, error) {
	m, err := softmarginAt(ctx, 1)
	if err != nil {
		return nil, err
	}
	p, y := in.place("px", "py"), in.Number("label")
	f := m.W[0]*p[0] + m.W[1]*p[1] + m.B
	margin := y * f
	slack := softmarginHinge(margin)
	loss := 0.0
	verdict := "outside the margin, on its own side: no slack"
	switch {
	case margin < 0:
		loss, verdict = 1, "misclassified: slack above 1"
	case margin == 0:
		loss, verdict = 1, "exactly on the line: slack 1"
	case margin < 1:
		verdict = "on its own side, but inside the margin: slack between 0 and 1"
	}
	mine := []figure.Mark{}
	if slack > 0 {
		mine = append(mine, figure.Segment{From: p, To: Foot(m.W, m.B-y, p), Pen: figure.Pen{Color: figure.Magenta}, Name: "slack"})
	}
	mine = append(mine, figure.Dot{At: p, Class: Class(y), Label: "your point"})
	return &Exhibit{
		Figures: []Figure{
			Plane("points", `Drag your point across the three lines. It is not trained on: the line stays. Its slack is the way back to its *own* dashed line, in units of the margin.`, ToyLimits, 2,
				Sides(m.W, m.B), MarginLines(m.W, m.B), Overlapping.Dots(nil), mine),
			softmarginLosses("loss", `Both losses against $y f$; the upright line is your point. The hinge bends at 1, not at 0.`, margin),
		},
		Handles: []Handle{{Label: "your point", X: p[0], Y: p[1], XParam: "px", YParam: "py"}},
		Numbers: []Number{
			{Label: `$y f(\mathbf x)$`, Value: views.Short(margin), Help: "functional margin"},
			{Label: `$\xi = \max(0, 1 - y f)$`, Value: views.Short(slack), Help: "hinge loss"},
			{Label: `$\xi/\lVert\mathbf w\rVert$`, Value: views.Short(slack / Norm(m.W)), Help: "length of the way in the picture"},
			{Label: "0/1 loss", Value: views.Short(loss), Help: "1 for an error"},
		},
		Notes: []string{"Your point is " + verdict + "."},
	}, nil
}

// softmarginLosses draws hinge and 0/1 loss against the functional margin.
func softmarginLosses(name, caption string, here float64) Figure {
	return Figure{Name: name, Caption: caption, Wide: true, Draw: func(l Look) (*figure.Picture, error) {
		here := min(max(here, -3), 3)
		return figure.Chart{
			Format: l.Format(1), X: figure.Axis{Name: "y f(x)", Min: -3, Max: 3}, Y: figure.Axis{Name: "loss", Min: 0, Max: 4},
			Curves: []figure.Curve{
				{Name: "hinge loss", X: []float64{-3, 1, 3}, Y: []float64{4, 0, 0}},
				{Name: "0/1 loss", X: []float64{-3, 0, 1e-6, 3}, Y: []float64{1, 1, 0, 0}},
			},
			Here: &here,
		}.Picture()
	}}
}

func showSoftmarginPrice(ctx context.Context, in Input) (*Exhibit, error) {
	c, width := in.Number("C"), in.Number("width")
	m, err := softmarginAt(ctx, c)
	if err != nil {
		return nil, err
	}
	best := 1 / Norm(m.W)
	// parts of the objective for the same line with another margin
	parts := func(width float64) (short, slack float64) {
		for _, p := range m.Points {
			slack += softmarginHinge(p.Margin * best / width)
		}
		return 1 / (2 * width * width), slack
	}
	var xs, lengths, paid, sums []float64
	least := math.Inf(1)
	for _, x := range Logspace(0.3, 4, 121) {
		l, s := parts(x)
		xs, lengths, paid, sums = append(xs, x), append(lengths, l), append(paid, c*s), append(sums, l+c*s)
		least = min(least, l+c*s)
	}
	l, s := parts(width)
	w, b := [2]float64{m.W[0] * best / width, m.W[1] * best / width}, m.B*best/width
	e := &Exhibit{
		Figures: []Figure{
			Plane("points", `The line is the best one for this $C$; you choose how far its margin reaches. Each segment is a slack.`, ToyLimits, 2,
				Sides(w, b), MarginLines(w, b), Slacks(Overlapping, w, b), Overlapping.Dots(nil)),
			{Name: "sum", Wide: true, Caption: `The two parts and their sum against the margin. The solver stops at the lowest place of the sum.`, Draw: func(lk Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: lk.Format(1), X: figure.Axis{Name: "margin 1/‖w‖", Log: true, Min: 0.3, Max: 4}, Y: figure.Axis{Min: 0, Max: 3 * least},
					Curves: []figure.Curve{{Name: "sum", X: xs, Y: sums}, {Name: "½‖w‖²", X: xs, Y: lengths}, {Name: "C Σξ", X: xs, Y: paid}},
					Here:   &width,
				}.Picture()
			}},
		},
		Numbers: []Number{
			{Label: `$\tfrac12\lVert\mathbf w\rVert^2$`, Value: views.Short(l), Help: "small: a wide margin"},
			{Label: `$C\sum_i\xi_i$`, Value: views.Short(c * s), Help: "small: few points inside the margin"},
			{Label: "your sum", Value: views.Short(l + c*s)},
			{Label: "the solver's sum", Value: views.Short(*m.Report.PrimalObjective), Help: "reached at the margin " + views.Short(best)},
		},
		Lab: Overlapping.Lab("kernel", "linear", "C", in.Text("C")),
	}
	if over := (l + c*s) / *m.Report.PrimalObjective; over < 1.01 {
		e.Notes = []string{"You have found the minimum: a wider margin would cost more slack than it saves length, a narrower one the other way round."}
	}
	return e, nil
}

// softmarginDearer compares minima along rising C.
func softmarginDearer(ctx context.Context) (float64, error) {
	first, err := softmarginAt(ctx, 0.03)
	if err != nil {
		return 0, err
	}
	last, err := softmarginAt(ctx, 10)
	if err != nil {
		return 0, err
	}
	narrower, less := Norm(last.W) > Norm(first.W), last.Report.SlackSum < first.Report.SlackSum
	switch {
	case narrower && less:
		return 0, nil
	case less:
		return 1, nil
	}
	return 2, nil
}

var softmarginDualLines = []Line{
	{
		Why: `The primal has two kinds of constraints for every point. Each kind gets its own multipliers.`,
		TeX: `\begin{aligned}\min_{\mathbf w, b, \xi}\;& \tfrac12\lVert\mathbf w\rVert^2 + C\sum_i \xi_i\\ \text{s.t.}\;& y_i f(\mathbf x_i) \ge 1 - \xi_i,\quad \xi_i \ge 0\end{aligned}`,
	},
	{
		Why: `In the Lagrangian $\alpha_i \ge 0$ watches over the margin of point $i$, $\mu_i \ge 0$ over the sign of its slack.`,
		TeX: `\begin{aligned}L = {}& \tfrac12\lVert\mathbf w\rVert^2 + C\sum_i \xi_i - \sum_i \mu_i\xi_i\\ &- \sum_i \alpha_i\bigl[y_i(\mathbf w^\top\mathbf x_i + b) - 1 + \xi_i\bigr]\end{aligned}`,
	},
	{
		Why: `First condition, $\partial L/\partial\mathbf w = 0$, the same as for the hard margin: $\mathbf w$ is made of points.`,
		TeX: `\mathbf w = \sum_i \alpha_i y_i \mathbf x_i`,
	},
	{
		Why: `Second condition, $\partial L/\partial b = 0$, also the same: both classes pull equally hard.`,
		TeX: `\sum_i \alpha_i y_i = 0`,
	},
	{
		Why: `Third condition, $\partial L/\partial\xi_i = 0$, new, one for every point: its two multipliers always add up to $C$.`,
		TeX: `C - \alpha_i - \mu_i = 0 \;\;\Longrightarrow\;\; \alpha_i = C - \mu_i`,
	},
	{
		Why: `Because $\mu_i$ cannot be negative, $\alpha_i$ cannot pass $C$: the *box*. It is the only trace that the slack leaves.`,
		TeX: `\mu_i \ge 0 \;\;\Longrightarrow\;\; 0 \le \alpha_i \le C`,
	},
	{
		Why: `Put all this back into $L$. What contains $\xi_i$ vanishes by the third condition, whatever $\xi_i$ is.`,
		TeX: `\sum_i \xi_i\,(C - \alpha_i - \mu_i) = 0`,
	},
	{
		Why: `What is left is the dual of the hard margin again. The box is the only change.`,
		TeX: `\begin{aligned}\max_\alpha\;& \sum_i \alpha_i - \tfrac12\sum_{i,j} \alpha_i\alpha_j y_i y_j\,\mathbf x_i^\top\mathbf x_j\\ \text{s.t.}\;& \sum_i\alpha_i y_i = 0,\quad 0 \le \alpha_i \le C\end{aligned}`,
	},
	{
		Why: `At the optimum a multiplier and its constraint cannot both be slack. The second product says: only points with $\alpha_i = C$ can have $\xi_i > 0$. Check it in the table.`,
		TeX: `\alpha_i\bigl[y_i f(\mathbf x_i) - 1 + \xi_i\bigr] = 0,\qquad (C - \alpha_i)\,\xi_i = 0`,
	},
}

// softmarginKind names what a point is.
func softmarginKind(r ml.Role) string {
	switch r {
	case ml.Free:
		return "free"
	case ml.Inside:
		return "bounded, inside"
	case ml.Misclassified:
		return "bounded, wrong side"
	}
	return "no support vector"
}

func showSoftmarginDual(ctx context.Context, in Input) (*Exhibit, error) {
	c := in.Number("C")
	m, err := softmarginAt(ctx, c)
	if err != nil {
		return nil, err
	}
	e := &Exhibit{Steps: len(softmarginDualLines), Step: min(in.Step, len(softmarginDualLines)-1), Figures: []Figure{softmarginBars(m, c)}}
	e.Body = Derivation(e.Step, softmarginDualLines...)
	e.Numbers = []Number{
		{Label: `$\sum_i \alpha_i y_i$`, Value: views.Short(softmarginBalance(m.Points)), Help: "second condition"},
		{Label: "dual and primal objective", Value: views.Short(m.Report.Objective) + " and " + views.Short(*m.Report.PrimalObjective), Help: "they meet at the optimum"},
	}
	if e.Step < e.Steps-1 {
		return e, nil
	}
	t := Table{Caption: "Every point at the optimum; marked: those with slack", Head: []string{"point", `$y_i$`, `$y_i f$`, `$\xi_i$`, `$\alpha_i$`, `$\mu_i$`, "kind"}}
	for i, p := range m.Points {
		alpha := math.Abs(p.Weight)
		row := []string{strconv.Itoa(i + 1), views.Short(p.Y)}
		for _, v := range []float64{p.Margin, p.Slack, alpha, c - alpha} {
			row = append(row, views.Short(math.Round(1e3*v)/1e3))
		}
		t.Rows = append(t.Rows, append(row, softmarginKind(p.Role)))
		if p.Slack > 1e-4 {
			t.Marked = append(t.Marked, i)
		}
	}
	e.Tables = []Table{t}
	return e, nil
}

// softmarginBars draws alpha of all points below the box's upper end.
func softmarginBars(m *LinearMachine, c float64) Figure {
	alphas, kinds := make([]float64, len(m.Points)), make([]int, len(m.Points))
	for i, p := range m.Points {
		alphas[i] = math.Abs(p.Weight)
		if p.Role == ml.Inside || p.Role == ml.Misclassified {
			kinds[i] = 1
		}
	}
	return Figure{Name: "alpha", Wide: true, Caption: `$\alpha_i$ of the fourteen points. No bar can pass the rule, $C$; what is missing up to it is $\mu_i$.`, Draw: func(l Look) (*figure.Picture, error) {
		return figure.Bars{
			Format: l.Format(1), X: "point", Y: "α", Values: alphas, Classes: kinds, ClassNames: []string{"α < C", "α = C"},
			Rules: []figure.Rule{{Name: "C", At: c}},
		}.Picture()
	}}
}

// softmarginBalance is the sum of alpha_i y_i, to rounding.
func softmarginBalance(points []ml.Point) (sum float64) {
	for _, p := range points {
		sum += p.Weight
	}
	return math.Round(1e9*sum) / 1e9
}

// softmarginAtBound looks at alpha of all points with slack.
func softmarginAtBound(ctx context.Context) (float64, error) {
	m, err := softmarginAt(ctx, 1)
	if err != nil {
		return 0, err
	}
	for _, p := range m.Points {
		if p.Slack > 1e-4 && math.Abs(p.Weight) < 1-1e-9 {
			return 3, nil
		}
	}
	return 2, nil
}

// softmarginFreeOnly is the line that the free support vectors alone would give,
// with b from them as well; ok tells whether there are any.
func softmarginFreeOnly(points []ml.Point) (w [2]float64, b float64, ok bool) {
	n := 0.0
	for _, p := range points {
		if p.Role == ml.Free {
			n++
			w[0] += p.Weight * p.X[0]
			w[1] += p.Weight * p.X[1]
		}
	}
	for _, p := range points {
		if p.Role == ml.Free {
			b += (p.Y - w[0]*p.X[0] - w[1]*p.X[1]) / n
		}
	}
	return w, b, Norm(w) > 1e-9
}

func showSoftmarginKinds(ctx context.Context, in Input) (*Exhibit, error) {
	m, err := softmarginAt(ctx, in.Number("C"))
	if err != nil {
		return nil, err
	}
	e := &Exhibit{
		Figures: []Figure{Boundary("kinds", `Rings mark the support vectors; their form tells free from bounded, their size grows with $\alpha_i$. Segments are slacks.`, m.Model, m.Data, m.Spec, func(s *figure.Scene) { s.Slack, s.Limits, s.LegendRows = true, ToyLimits, 3 })},
		Lab:     Overlapping.Lab("kernel", "linear", "C", in.Text("C"), "slack", "true"),
	}
	r := m.Report
	t := Table{Caption: "Who is in the sum", Head: []string{"kind", "condition", "points", `$\sum\alpha_i$`}}
	sums := map[ml.Role]float64{}
	for _, p := range m.Points {
		sums[p.Role] += math.Abs(p.Weight)
	}
	for _, k := range []struct {
		role      ml.Role
		condition string
		n         int
	}{
		{ml.None, `$\alpha_i = 0,\; \xi_i = 0$`, r.N - r.SupportVectors},
		{ml.Free, `$0 < \alpha_i < C,\; \xi_i = 0$`, *r.Free},
		{ml.Inside, `$\alpha_i = C,\; \xi_i \le 1$`, *r.BoundedInside},
		{ml.Misclassified, `$\alpha_i = C,\; \xi_i > 1$`, *r.BoundedMisclassified},
	} {
		t.Rows = append(t.Rows, []string{softmarginKind(k.role), k.condition, strconv.Itoa(k.n), views.Short(sums[k.role])})
	}
	e.Tables = []Table{t}
	marks := [][]figure.Mark{Sides(m.W, m.B), MarginLines(m.W, m.B)}
	e.Numbers = []Number{{Label: "errors with all support vectors", Value: strconv.Itoa(Overlapping.Errors(figure.Linear(m.W, -m.B)))}}
	if w, b, ok := softmarginFreeOnly(m.Points); ok {
		marks = append(marks, []figure.Mark{figure.Line{A: w, C: -b, Pen: figure.Pen{Color: figure.Magenta, Dash: figure.LongDash}, Name: "free ones alone"}})
		cos := (w[0]*m.W[0] + w[1]*m.W[1]) / (Norm(w) * Norm(m.W))
		e.Numbers = append(e.Numbers,
			Number{Label: "errors with the free ones alone", Value: strconv.Itoa(Overlapping.Errors(figure.Linear(w, -b)))},
			Number{Label: `angle between the two $\mathbf w$`, Value: fmt.Sprintf("%.0f°", 180/math.Pi*math.Acos(min(1, max(-1, cos))))})
	} else {
		e.Notes = append(e.Notes, "At this $C$ there is no free support vector at all: summing over the free ones alone would leave nothing.")
	}
	marks = append(marks, Overlapping.Dots(func(i int) bool { return m.Points[i].Role == ml.Free }))
	e.Figures = append(e.Figures, Plane("free-only", `Solid: the right line. Long dashes: what the free support vectors (ringed) would give alone.`, ToyLimits, 2, marks...))
	return e, nil
}

// softmarginLeaveOut compares the line with and without the bounded ones.
func softmarginLeaveOut(ctx context.Context) (float64, error) {
	m, err := softmarginAt(ctx, 2)
	if err != nil {
		return 0, err
	}
	w, b, ok := softmarginFreeOnly(m.Points)
	turned := math.Abs(w[0]*m.W[1]-w[1]*m.W[0]) > 1e-3*Norm(w)*Norm(m.W)
	switch {
	case !ok || turned:
		return 2, nil
	case math.Abs(b/Norm(w)-m.B/Norm(m.W)) > 1e-3:
		return 1, nil
	}
	return 0, nil
}

// softmarginGrid is C from 0.001 to 10 000 with so many values a decade.
func softmarginGrid(perDecade int) (cs []float64) {
	for k := range 7*perDecade + 1 {
		cs = append(cs, math.Pow(10, float64(k)/float64(perDecade)-3))
	}
	return cs
}

// softmarginData loads a data set of the lesson.
func softmarginData(set string) (*dataset.Data, error) {
	if set == "moons" {
		return dataset.Generate("moons", 100, 0.25, 4)
	}
	return LoadData(set)
}

// softmarginRow is what a value of C leads to.
type softmarginRow struct {
	all, free, bounded, errors float64
	margin, slides             float64 // 1/|w| and 1/sqrt(sum alpha)
}

// softmarginWidth is the margin 1/|w|, without end for w = 0.
func softmarginWidth(r ml.Report) float64 {
	if r.Margin == nil {
		return math.Inf(1)
	}
	return *r.Margin
}

// softmarginPath trains along C.
func softmarginPath(ctx context.Context, d *dataset.Data, kernel string) (cs []float64, rows []softmarginRow, err error) {
	cs = softmarginGrid(4)
	for _, c := range cs {
		res, _, err := Fit(ctx, d, softmarginSettings(kernel, c)...)
		if err != nil {
			return nil, nil, err
		}
		r := res.Report
		rows = append(rows, softmarginRow{
			all: float64(r.SupportVectors), free: float64(*r.Free), bounded: float64(*r.BoundedInside + *r.BoundedMisclassified),
			errors: math.Round((1 - r.TrainAccuracy) * float64(r.N)), margin: softmarginWidth(r), slides: 1 / math.Sqrt(floats.Norm(res.Model.Machines[0].Coef, 1)),
		})
	}
	return cs, rows, ctx.Err()
}

// softmarginSettings are the parameters of the screen on C.
func softmarginSettings(kernel string, c float64) []string {
	return []string{"kernel", kernel, "gamma", "1", "C", Setting(c), "tol", "1e-5"}
}

func showSoftmarginC(ctx context.Context, in Input) (*Exhibit, error) {
	set, kern, c := in.Text("set"), in.Text("with"), in.Number("C")
	d, err := softmarginData(set)
	if err != nil {
		return nil, err
	}
	res, spec, err := Fit(ctx, d, softmarginSettings(kern, c)...)
	if err != nil {
		return nil, err
	}
	cs, rows, err := softmarginPath(ctx, d, kern)
	if err != nil {
		return nil, err
	}
	r := res.Report
	slides := 1 / math.Sqrt(floats.Norm(res.Model.Machines[0].Coef, 1))
	axis := figure.Axis{Name: "C", Log: true, Min: cs[0], Max: cs[len(cs)-1]}
	chart := func(name, caption string, y figure.Axis, curves ...figure.Curve) Figure {
		for i := range curves {
			curves[i].X = cs
		}
		return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{Format: l.Format(2), X: axis, Y: y, Curves: curves, Here: &c}.Picture()
		}}
	}
	e := &Exhibit{
		Figures: []Figure{
			Boundary("model", `The machine at your $C$: the dashed margin lines move apart as $C$ falls, and more points get a ring.`, res.Model, d, spec, func(s *figure.Scene) { s.Slack, s.LegendRows = true, 3 }),
			chart("counts", "Numbers of points against $C$. From right to left the machine softens.", figure.Axis{Name: "points", Min: 0, Max: float64(r.N) * 1.04},
				figure.Curve{Name: "support vectors", Y: Column(rows, func(r softmarginRow) float64 { return r.all })},
				figure.Curve{Name: "bounded", Y: Column(rows, func(r softmarginRow) float64 { return r.bounded })},
				figure.Curve{Name: "free", Y: Column(rows, func(r softmarginRow) float64 { return r.free })},
				figure.Curve{Name: "errors", Y: Column(rows, func(r softmarginRow) float64 { return r.errors })}),
			chart("margin", `The margin, and what the slides' formula makes of it. They agree only where no point is bounded.`, figure.Axis{Log: true},
				figure.Curve{Name: "1/‖w‖", Y: Column(rows, func(r softmarginRow) float64 { return r.margin })},
				figure.Curve{Name: "1/√Σα", Y: Column(rows, func(r softmarginRow) float64 { return r.slides })}),
		},
		Numbers: []Number{
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", r.SupportVectors, r.N)},
			{Label: "free / bounded inside / bounded wrong", Value: fmt.Sprintf("%d / %d / %d", *r.Free, *r.BoundedInside, *r.BoundedMisclassified)},
			{Label: `margin $1/\lVert\mathbf w\rVert$`, Value: views.Short(softmarginWidth(r)), Help: `$1/\sqrt{\sum\alpha_i}$ would be ` + views.Short(slides)},
			{Label: `$\sum_i\xi_i$`, Value: views.Short(r.SlackSum)},
		},
	}
	if set == "overlap" {
		e.Lab = Overlapping.Lab("kernel", kern, "gamma", "1", "C", in.Text("C"))
	} else {
		e.Lab = LabQuery(set, "kernel", kern, "gamma", "1", "C", in.Text("C"), "standardize", "false")
	}
	switch bounded := *r.BoundedInside + *r.BoundedMisclassified; {
	case bounded == r.N:
		e.Notes = []string{`Every point is bounded: $\alpha_i = C$ for all, so $\mathbf w = C\sum_i y_i\boldsymbol\phi(\mathbf x_i)$. A smaller $C$ only makes $\mathbf w$ shorter; the line depends on the class means alone.`}
	case bounded == 0:
		e.Notes = []string{"No point is bounded: this is the hard margin, and a larger $C$ changes nothing any more."}
	}
	return e, nil
}

// softmarginCount compares numbers of support vectors.
func softmarginCount(ctx context.Context) (float64, error) {
	dear, err := softmarginAt(ctx, 100)
	if err != nil {
		return 0, err
	}
	cheap, err := softmarginAt(ctx, 0.01)
	if err != nil {
		return 0, err
	}
	switch a, b := dear.Report.SupportVectors, cheap.Report.SupportVectors; {
	case b < a:
		return 0, nil
	case b == a:
		return 1, nil
	}
	return 2, nil
}

// softmarginTiny counts the support vectors at a very small C.
func softmarginTiny(ctx context.Context) (float64, error) {
	m, err := softmarginAt(ctx, 0.001)
	if err != nil {
		return 0, err
	}
	return float64(m.Report.SupportVectors), nil
}

func showSoftmarginChoose(ctx context.Context, in Input) (*Exhibit, error) {
	set, k := in.Text("set"), in.Int("folds")
	d, err := softmarginData(set)
	if err != nil {
		return nil, err
	}
	positive := ""
	if set == "iris" {
		positive = "versicolor"
	}
	spec, err := NewSpec("gamma", "2", "positive", positive, "max_iter", "20000")
	if err != nil {
		return nil, err
	}
	cs := softmarginGrid(2)
	grid, err := eval.CrossValidate(ctx, d, spec, eval.Grid{"C": eval.Numbers(cs...)}, eval.Scheme{Folds: k, Seed: uint64(in.Int("seed"))}, nil)
	if err != nil {
		return nil, err
	}
	mean, low, high, train := make([]float64, len(cs)), make([]float64, len(cs)), make([]float64, len(cs)), make([]float64, len(cs))
	best := grid.Best
	for i, cell := range grid.Settings {
		mean[i], low[i] = cell.Accuracy, 1
		for _, f := range cell.Folds {
			low[i], high[i] = min(low[i], f.Accuracy), max(high[i], f.Accuracy)
			train[i] += f.TrainAccuracy / float64(k)
		}
	}
	return &Exhibit{
		Figures: []Figure{{Name: "accuracy", Caption: "Accuracy of an RBF machine ($\\gamma = 2$) against $C$. The band reaches from the worst to the best fold; the upright line is the chosen $C$.", Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{
				Format: l.Format(1), X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: "share of right answers", Min: 0.4, Max: 1},
				Curves: []figure.Curve{{Name: "held out", X: cs, Y: mean, Lo: low, Hi: high, Marks: true}, {Name: "trained on", X: cs, Y: train}},
				Here:   &cs[best],
			}.Picture()
		}}},
		Numbers: []Number{
			{Label: "chosen C", Value: views.Short(cs[best]), Help: "best mean of the held-out folds; of equal ones the smallest"},
			{Label: "mean, held out", Value: Percent(mean[best]), Help: fmt.Sprintf("folds from %.0f to %.0f %%", 100*low[best], 100*high[best])},
			{Label: "mean, trained on", Value: Percent(train[best]), Help: "says nothing about new points"},
			{Label: "machines trained", Value: fmt.Sprintf("%d · %d + 1 = %d", k, len(cs), k*len(cs)+1), Help: "and one more on all points with the chosen C"},
		},
		Notes: []string{"Deal again: does the same $C$ win? Compare the differences between neighbouring values with the height of the band."},
	}, nil
}
