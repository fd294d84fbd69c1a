package lessons

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
	"marginlab/views"
	"marginlab/views/figure"
)

var Procedures = Lesson{
	Slug: "procedures", Title: "Learning procedures",
	Summary: "Sub-gradients, naive ascent, chunking and SMO on the same points, one step at a time.",
	Screens: []Screen{
		{
			Slug: "hinge", Title: "Slacks become a hinge loss",
			Covers: []string{"002 primal-optimization", "002 hinge", "002 networks-regularization"},
			Words:  proceduresHingeWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "y", Label: "label", Symbol: "y", Kind: param.Choice, Default: "-1", Options: []param.Option{{Name: "-1", Label: "−1"}, {Name: "1", Label: "+1"}}},
					{Name: "f", Label: "value of the point", Symbol: "f(x)", Kind: param.Number, Default: "-1.6", Min: -3, Max: 3, Low: -3, High: 3},
				},
				Show: showProceduresHinge,
			},
			Questions: []Question{
				{
					Slug: "negative", Ask: `A point with $y = -1$ has $f(\mathbf x) = -2$. Does it push the weights in the next step of gradient descent?`,
					Options: []string{`Yes, $f < 1$.`, `No, its hinge is flat there.`, "Yes, all points of the training set do."},
					Answer: func(context.Context) (float64, error) {
						if proceduresHingeLoss(-1, -2) > 0 {
							return 0, nil
						}
						return 1, nil
					},
					Explain: `$y f = 2 \ge 1$: the point is beyond its margin, its loss is 0 and stays 0 nearby. The condition without the label would say yes.`,
				},
				{
					Slug: "loss", Ask: `What is the hinge loss of a point with $y = +1$ and $f(\mathbf x) = 0.3$, which is classified correctly?`,
					Answer:  func(context.Context) (float64, error) { return proceduresHingeLoss(1, 0.3), nil },
					Explain: `$1 - y f = $ %s. Being right is not enough: being right by at least 1 is what costs nothing.`,
				},
			},
		},
		{
			Slug: "subgradient", Title: "Down the primal, in zig-zag",
			Covers: []string{"002 hinge", "002 primal-optimization"},
			Words:  proceduresDescentWords,
			Demo: &Demo{
				Old: []param.Param{
					proceduresPoints("overlap", "apart", "overlap"),
					proceduresC("0.3"),
					{Name: "rate", Label: "step size", Symbol: "η", Kind: param.Choice, Default: "0.1", Options: []param.Option{
						{Name: "0.3", Label: "0.3, constant"}, {Name: "0.1", Label: "0.1, constant"}, {Name: "0.02", Label: "0.02, constant"}, {Name: "0", Label: "1/t in step t"},
					}},
					{Name: "single", Label: "one point a step", Kind: param.Switch, Default: "false", Help: "In the order of the table, each counted M times."},
					{Name: "printed", Label: "condition as printed", Kind: param.Switch, Default: "false", Help: "f < 1 without the label; all points in every step."},
				},
				Show: showProceduresDescent,
			},
			Questions: []Question{
				{
					Slug: "falls", Ask: `Sub-gradient descent with $\eta = 0.1$ on the overlapping points: does the objective fall in every step?`,
					Options: []string{"Yes, it is a descent.", "No, now and then it rises.", "No, it rises all the time."},
					Answer:  proceduresDescends,
					Explain: `Away from the kinks the step is one of steepest descent; across a kink the slope on the other side is another one, and a step of fixed length lands higher up.`,
				},
				{
					Slug: "settles", Ask: `The last 20 of 120 steps: which of the two is still moving more, a constant rate of 0.1 or $1/t$?`,
					Options: []string{"The constant rate.", "The shrinking rate.", "Neither moves any more."},
					Answer:  proceduresSettles,
					Explain: `The sub-gradient does not vanish at the minimum, which sits on a kink; only shorter steps can bring the iterate to rest.`,
				},
			},
		},
		{
			Slug: "naive", Title: "Up the dual, one at a time: another problem",
			Covers: []string{"002 dual-optimization", "002 naive"},
			Words:  proceduresNaiveWords,
			Demo: &Demo{
				Old: []param.Param{
					proceduresPoints("apart", "apart", "overlap", "ring"),
					proceduresKernel("linear"),
					proceduresC("1"),
					{Name: "shift", Label: "shift all points to the right", Kind: param.Number, Default: "0", Min: -2, Max: 2, Low: -2, High: 2},
				},
				Show: showProceduresNaive,
			},
			Questions: []Question{
				{
					Slug: "objective", Ask: `Where does the dual objective of naive ascent end, compared with the maximum of the SVM's dual?`,
					Options: []string{"Below it: the algorithm is only approximate.", "Exactly at it.", "Above it."},
					Answer:  proceduresNaiveEnds,
					Explain: `It maximises the same function over a larger set, the whole box instead of a slice of it. A higher value is no better machine: such an $\boldsymbol\alpha$ belongs to no SVM.`,
				},
				{
					Slug: "shift", Ask: `All points are moved by the same vector; linear kernel. Whose $\mathbf w$ changes?`,
					Options: []string{"That of both.", "Only that of the SVM.", "Only that of naive ascent.", "Neither."},
					Answer:  proceduresShifted,
					Explain: `The bias of the SVM takes up the shift. Without a bias the line has to pass through the origin, wherever the points are.`,
				},
			},
		},
		{
			Slug: "chunking", Title: "Chunking: guess the support vectors",
			Covers: []string{"002 chunking"},
			Words:  proceduresChunkingWords,
			Demo: &Demo{
				Old: []param.Param{
					proceduresKernel("rbf"),
					proceduresC("3"),
					{Name: "start", Label: "points to start with", Kind: param.Integer, Default: "6", Min: 2, Max: 20, Low: 2, High: 20},
					{Name: "add", Label: "violators added a round", Symbol: "M", Kind: param.Integer, Default: "4", Min: 1, Max: 20, Low: 1, High: 20},
				},
				Show: showProceduresChunking,
			},
			Questions: []Question{{
				Slug: "falls", Ask: `Points are thrown out of the working set after every round. Can the dual objective fall from one round to the next?`,
				Options: []string{"Yes, when a point is thrown out.", "Yes, when the new points are violators.", "No."},
				Answer:  proceduresChunkingRises,
				Explain: `What is thrown out has $\alpha = 0$ and adds nothing; the next round starts where the last one ended and can only climb.`,
			}},
		},
		{
			Slug: "pair", Title: "Two at a time: a line in a box",
			Covers: []string{"002 smo"},
			Words:  proceduresPairWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "same", Label: "labels", Kind: param.Choice, Default: "differ", Options: []param.Option{{Name: "differ", Label: "differ"}, {Name: "equal", Label: "are equal"}}},
					{Name: "k12", Label: "similarity of the two points", Symbol: "K₁₂", Kind: param.Number, Default: "0.4", Min: -1, Max: 1.5, Low: -1, High: 1.5, Help: "K₁₁ = K₂₂ = 1. Above 1 no positive semidefinite kernel can be."},
					{Name: "a1", Label: "start α₁", Kind: param.Number, Default: "0.1", Min: 0, Max: 1, Low: 0, High: 1, Folded: true},
					{Name: "a2", Label: "start α₂", Kind: param.Number, Default: "0.35", Min: 0, Max: 1, Low: 0, High: 1, Folded: true},
				},
				Show: showProceduresPair,
			},
			Questions: []Question{
				{
					Slug: "low", Ask: `$C = 1$, the labels differ, $\alpha_1 = 0.2$ and $\alpha_2 = 0.5$. How far down can $\alpha_2$ go?`,
					Answer: func(context.Context) (float64, error) {
						low, _ := proceduresTwo{y1: 1, y2: -1, c: 1}.ends(0.2, 0.5)
						return low, nil
					},
					Explain: `With different labels $\alpha_1 - \alpha_2$ is kept, so both fall together until $\alpha_1 = 0$; then $\alpha_2 = $ %s.`,
				},
				{
					Slug: "twins", Ask: `Two points with different labels lie in the same place, so that $\eta = 0$. Where does the step from inside the box end?`,
					Options: []string{"Nowhere: there is no step to make.", "At an end of the segment.", "In the middle of the segment."},
					Answer:  proceduresTwins,
					Explain: `The parabola is a straight line then; its highest place in the box is an end. The guard $\tau$ makes the formula say the same without a special case.`,
				},
			},
		},
		{
			Slug: "smo", Title: "SMO, step by step",
			Covers: []string{"002 smo"},
			Words:  proceduresSMOWords,
			Demo: &Demo{
				Old: []param.Param{
					proceduresPoints("overlap", "apart", "overlap", "ring"),
					proceduresKernel("linear"),
					proceduresC("1"),
					{Name: "selection", Label: "the pair", Kind: param.Choice, Default: "first", Options: []param.Option{
						{Name: "first", Label: "violates most", Help: "Largest and smallest gradient."},
						{Name: "second", Label: "gains most", Help: "Largest gradient, and the partner of the largest gain to second order."},
					}},
				},
				Show: showProceduresSMO,
			},
			Questions: []Question{
				{
					Slug: "first", Ask: `SMO starts with all $\alpha_i = 0$. How many are different from 0 after the first step?`,
					Answer:  proceduresFirstStep,
					Explain: `%s: one of each class, as $\sum_i \alpha_i y_i = 0$ has to be kept, and both get the same $\alpha$.`,
				},
				{
					Slug: "monotone", Ask: "What do the two objectives do from step to step, on the overlapping points?",
					Options: []string{"The dual rises and the primal falls in every step.", "The dual rises in every step, the primal goes up and down.", "Both go up and down."},
					Answer:  proceduresMonotone,
					Explain: `Each step maximises the dual on a segment that contains the place where it stands. Nothing of the kind is known of the primal, which sees $\mathbf w$ and $b$ jump.`,
				},
			},
		},
		{
			Slug: "summary", Title: "Which road, and what it costs",
			Covers: []string{"002 summary", "001 6.6"},
			Words:  proceduresSummaryWords,
			Demo: &Demo{
				Old: []param.Param{
					proceduresPoints("overlap", "apart", "overlap"),
					proceduresC("1"),
				},
				Show: showProceduresSummary,
			},
			Questions: []Question{
				{
					Slug: "astray", Ask: "Which of the four keeps a distance from the optimum, however long it runs?",
					Options: []string{"Sub-gradient descent with $1/t$.", "Naive ascent.", "Chunking.", "SMO."},
					Answer:  proceduresAstray,
					Explain: `It solves the problem without a bias. Sub-gradient descent is slow but on the way; the other two arrive.`,
				},
				{
					Slug: "memory", Ask: "You have three times as many points. How many times as much memory does the full Gram matrix take?",
					Answer: func(context.Context) (float64, error) {
						return proceduresGramBytes(300) / proceduresGramBytes(100), nil
					},
					Explain: `It has $N^2$ entries: %s times. That is why solvers compute rows when they need them.`,
				},
			},
		},
	},
}

// proceduresPoints is the control for the points, with some of the toys.
func proceduresPoints(start string, names ...string) param.Param {
	labels := map[string]string{"apart": "separable", "overlap": "overlapping", "ring": "a ring"}
	p := param.Param{Name: "toy", Label: "points", Kind: param.Choice, Default: start}
	for _, n := range names {
		p.Options = append(p.Options, param.Option{Name: n, Label: labels[n]})
	}
	return p
}

// proceduresC is the control for C.
func proceduresC(start string) param.Param {
	return param.Param{Name: "C", Label: "C", Kind: param.Number, Default: start, Min: 0.01, Max: 100, Low: 0.05, High: 20, Log: true}
}

// proceduresGamma is the parameter of the RBF kernel of this lesson.
const proceduresGamma = 0.7

// proceduresKernel is the control for the kernel.
func proceduresKernel(start string) param.Param {
	return param.Param{Name: "similarity", Label: "kernel", Kind: param.Choice, Default: start, Options: []param.Option{
		{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF, γ = " + views.Short(proceduresGamma)},
	}}
}

// proceduresProblem is what there is to train: points, a kernel, C.
type proceduresProblem struct {
	Toy
	kernel kernel.Kernel
	c      float64
}

// proceduresOf reads a problem from the controls; without one for the kernel it is
// linear.
func proceduresOf(in Input) proceduresProblem {
	p := proceduresProblem{Toy: StepToys[in.Text("toy")], kernel: kernel.Kernel{Name: "linear"}, c: in.Number("C")}
	if in.Text("similarity") == "rbf" {
		p.kernel = kernel.RBF(proceduresGamma)
	}
	return p
}

// moved is the problem with all points shifted.
func (p proceduresProblem) moved(dx float64) proceduresProblem {
	p.XY = slices.Clone(p.XY)
	for i := range p.XY {
		p.XY[i][0] += dx
	}
	return p
}

// gram is the Gram matrix of the points.
func (p proceduresProblem) gram() *kernel.Gram { return kernel.NewGram(p.kernel, p.Matrix()) }

// optimum is the exact solution.
func (p proceduresProblem) optimum(ctx context.Context) (*stepwise.Iterate, error) {
	return stepwise.Optimum(ctx, p.gram(), p.Y, p.c)
}

// open is the query that trains on the same in the lab.
func (p proceduresProblem) open() string {
	return p.Lab("learner", "svm", "kernel", p.kernel.Name, "gamma", views.Short(proceduresGamma), "C", Setting(p.c))
}

// function is f of an iterate.
func (p proceduresProblem) function(it stepwise.Iterate) func(x, y float64) float64 {
	s := kernel.NewSum(p.kernel, p.Matrix(), it.U())
	return func(x, y float64) float64 { return s.At([]float64{x, y}) + it.B }
}

// weights is w of an iterate of the linear machine.
func (p proceduresProblem) weights(it stepwise.Iterate) (w [2]float64) {
	for i, u := range it.U() {
		w[0] += u * p.XY[i][0]
		w[1] += u * p.XY[i][1]
	}
	return w
}

// picture is the function of an iterate over the plane: sides, boundary and margin
// lines.
func (p proceduresProblem) picture(it stepwise.Iterate) []figure.Mark {
	f := p.function(it)
	marks := Halves(f)
	if it.WNorm > 1e-9 {
		marks = append(marks,
			figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Thin: true}, Plain: true, Name: "f = 0"},
			figure.Contours{F: f, Levels: []float64{-1, 1}, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Plain: true, Name: "f = ±1"})
	}
	return marks
}

// optimal is the boundary of the exact machine, to be compared with.
func (p proceduresProblem) optimal(best *stepwise.Iterate) figure.Mark {
	return figure.Contours{F: p.function(*best), Levels: []float64{0}, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Plain: true, Name: "the SVM's f = 0"}
}

// points are the points, numbered as in the table: hollow while alpha is 0, ringed
// where the step looks.
func (p proceduresProblem) points(it stepwise.Iterate, ringed ...int) (marks []figure.Mark) {
	for i, q := range p.XY {
		dot := figure.Dot{At: q, Class: Class(p.Y[i]), Hollow: it.Points[i].Alpha == 0, Ring: slices.Contains(ringed, i), Label: strconv.Itoa(i + 1)}
		if !dot.Ring { // the legend explains the class
			dot.Name = ClassName(p.Y[i])
		}
		marks = append(marks, dot)
	}
	return marks
}

// proceduresKKT is the KKT table of an iterate.
func proceduresKKT(it stepwise.Iterate, touched ...int) Table {
	demands := map[stepwise.Condition]string{
		stepwise.AtZero: `$y f \ge 1$`,
		stepwise.Free:   `$y f = 1$`,
		stepwise.AtC:    `$y f \le 1$`,
	}
	t := Table{
		Caption: `KKT table. What $y f$ must be follows from $\alpha$: at 0, between, or at $C$. Marked: what the step touched.`,
		Head:    []string{"point", "$y$", `$\alpha$`, "$y f$", `slack $\xi$`, "must be", "violated by"},
		Marked:  touched,
	}
	for i, p := range it.Points {
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i + 1), Signed(p.Y), Short(p.Alpha), Short(p.Margin), Short(p.Slack),
			demands[p.Condition], Short(p.Violation),
		})
	}
	return t
}

// proceduresHingeLoss is max(0, 1 - y f).
func proceduresHingeLoss(y, f float64) float64 { return max(0, 1-y*f) }

// proceduresSubstitution is how the slacks go.
var proceduresSubstitution = []Line{
	{`The primal form: a slack and two constraints for every point.`, `\begin{aligned} &\min_{\mathbf w, b, \boldsymbol\xi}\ \tfrac12\lVert\mathbf w\rVert^2 + C\sum_i \xi_i \\ &\text{s.t.}\quad y_i f(\mathbf x_i) \ge 1 - \xi_i,\ \ \xi_i \ge 0 \end{aligned}`},
	{`Hold $\mathbf w$ and $b$. Each slack has two lower bounds and costs $C$, so it sinks to the larger one.`, `\xi_i = \max\bigl(0,\ 1 - y_i f(\mathbf x_i)\bigr)`},
	{`Insert. No constraint is left: gradient descent can be used.`, `\min_{\mathbf w, b}\ J = \tfrac12\lVert\mathbf w\rVert^2 + C\sum_i \max\bigl(0,\ 1 - y_i f(\mathbf x_i)\bigr)`},
	{`Its slope: one case for each side of the kink.`, `\frac{\partial\xi_i}{\partial\mathbf w} = \begin{cases} -y_i\mathbf x_i & \text{if } y_i f(\mathbf x_i) < 1 \\ 0 & \text{otherwise}\end{cases}`},
	{`Beside it the objective of a network with weight decay: loss + regulariser.`, `\min_\theta\ \tfrac{\lambda}{2}\lVert\theta\rVert^2 + \sum_i \ell\bigl(t_i, f_\theta(\mathbf x_i)\bigr)`},
}

func showProceduresHinge(_ context.Context, in Input) (*Exhibit, error) {
	f, y := in.Number("f"), in.Number("y")
	hinge := figure.Curve{Name: "hinge"}
	square := figure.Curve{Name: "squared error"}
	entropy := figure.Curve{Name: "cross-entropy"}
	for i := range 121 {
		m := -3 + float64(i)/20
		hinge.X, hinge.Y = append(hinge.X, m), append(hinge.Y, proceduresHingeLoss(1, m))
		square.X, square.Y = append(square.X, m), append(square.Y, (1-m)*(1-m)/2)
		entropy.X, entropy.Y = append(entropy.X, m), append(entropy.Y, math.Log1p(math.Exp(-m)))
	}
	margin := y * f
	active, printed := margin < 1, f < 1
	push := map[bool]string{true: "pushed", false: "left alone"}
	step := min(in.Step, len(proceduresSubstitution)-1)
	e := &Exhibit{
		Steps: len(proceduresSubstitution), Step: step, Body: Derivation(step, proceduresSubstitution...),
		Figures: []Figure{{
			Name: "losses", Wide: true,
			Caption: `Three losses over $y f$. The upright line is the point. The hinge is exactly 0 from $y f = 1$ on; the squared error punishes a point for being too right; cross-entropy never quite lets go.`,
			Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "y f(x)", Min: -3, Max: 3}, Y: figure.Axis{Name: "loss", Min: 0, Max: 4},
					Curves: []figure.Curve{hinge, square, entropy}, Here: &margin,
				}.Picture()
			},
		}},
		Numbers: []Number{
			{Label: "$y f$", Value: Short(margin)},
			{Label: "hinge loss", Value: Short(proceduresHingeLoss(y, f)), Help: "the slack of the point"},
			{Label: "$y f < 1$", Value: push[active], Help: "the right condition"},
			{Label: "$f < 1$", Value: push[printed], Help: "as printed in 002"},
		},
	}
	if active != printed {
		e.Notes = []string{"Here the printed condition is wrong: the point lies beyond its margin, its loss is 0, and yet it would be pushed on."}
	}
	return e, nil
}

// proceduresStep is a state of sub-gradient descent as the screen shows it.
type proceduresStep struct {
	w       [2]float64
	b, rate float64
	active  []int
}

// proceduresWalk is sub-gradient descent on a linear problem: that of package
// stepwise or, printed, with the condition of the slides.
func proceduresWalk(ctx context.Context, p proceduresProblem, rate float64, single, printed bool) ([]proceduresStep, error) {
	const steps = 120
	if printed {
		return proceduresPrinted(p, rate, steps), nil
	}
	r, err := stepwise.SubgradientDescent(ctx, p.Matrix(), p.Y, stepwise.SubgradientSettings{C: p.c, Batch: !single, Rate: rate, MaxSteps: steps})
	if err != nil {
		return nil, err
	}
	var walk []proceduresStep
	for i := range r.Len() {
		s := r.At(i)
		walk = append(walk, proceduresStep{[2]float64{s.W[0], s.W[1]}, s.B, s.Rate, s.Active})
	}
	return walk, nil
}

// proceduresPrinted is sub-gradient descent with all points in which a hinge counts
// as active where f < 1, as 002 prints it, rather than where y f < 1.
func proceduresPrinted(p proceduresProblem, rate float64, steps int) []proceduresStep {
	walk := make([]proceduresStep, 1, steps+1)
	for t := 1; t <= steps; t++ {
		s := walk[t-1]
		next := proceduresStep{rate: rate}
		if rate == 0 {
			next.rate = 1 / float64(t)
		}
		next.w, next.b = [2]float64{(1 - next.rate) * s.w[0], (1 - next.rate) * s.w[1]}, s.b
		for i, x := range p.XY {
			if s.w[0]*x[0]+s.w[1]*x[1]+s.b < 1 {
				push := next.rate * p.c * p.Y[i]
				next.w[0] += push * x[0]
				next.w[1] += push * x[1]
				next.b += push
				next.active = append(next.active, i)
			}
		}
		walk = append(walk, next)
	}
	return walk
}

// primal is the primal objective of a line.
func (p proceduresProblem) primal(w [2]float64, b float64) float64 {
	sum := 0.0
	for i, x := range p.XY {
		sum += proceduresHingeLoss(p.Y[i], w[0]*x[0]+w[1]*x[1]+b)
	}
	return (w[0]*w[0]+w[1]*w[1])/2 + p.c*sum
}

// valley is the primal objective of w with the b that is best for it, which is a
// kink of some hinge.
func (p proceduresProblem) valley(w1, w2 float64) float64 {
	best := math.Inf(1)
	for i, x := range p.XY {
		best = min(best, p.primal([2]float64{w1, w2}, p.Y[i]-w1*x[0]-w2*x[1]))
	}
	return best
}

func showProceduresDescent(ctx context.Context, in Input) (*Exhibit, error) {
	p := proceduresOf(in)
	best, err := p.optimum(ctx)
	if err != nil {
		return nil, err
	}
	printed := in.On("printed")
	walk, err := proceduresWalk(ctx, p, in.Number("rate"), in.On("single"), printed)
	if err != nil {
		return nil, err
	}
	step := min(in.Step, len(walk)-1)
	now, goal := walk[step], p.weights(*best)

	above := figure.Curve{Name: "this step"}
	record := figure.Curve{Name: "best so far"}
	lowest := math.Inf(1)
	for t, s := range walk {
		a := p.primal(s.w, s.b) - best.Primal
		lowest = min(lowest, a)
		above.X, above.Y = append(above.X, float64(t)), append(above.Y, a)
		record.X, record.Y = append(record.X, float64(t)), append(record.Y, lowest)
	}
	path := figure.Path{Pen: figure.Pen{Color: figure.Magenta}, Name: "steps so far"}
	for _, s := range walk[:step+1] {
		path.Points = append(path.Points, s.w)
	}
	room := 0.45*Norm(goal) + 0.1
	limits := figure.Limits{XMin: min(0, goal[0]) - room, XMax: max(0, goal[0]) + room, YMin: min(0, goal[1]) - room, YMax: max(0, goal[1]) + room}
	for _, s := range walk { // all of the walk but its wildest steps, so that the frame stays
		if Norm([2]float64{s.w[0] - goal[0], s.w[1] - goal[1]}) < 3*Norm(goal) {
			limits = limits.Union(figure.Limits{XMin: s.w[0] - 0.05, XMax: s.w[0] + 0.05, YMin: s.w[1] - 0.05, YMax: s.w[1] + 0.05})
		}
	}
	var levels []float64
	for _, share := range []float64{0.02, 0.07, 0.15, 0.3, 0.5, 0.75, 1, 1.5, 2, 3} {
		levels = append(levels, best.Primal*(1+share))
	}

	e := &Exhibit{
		Steps: len(walk), Step: step, Lab: p.open(),
		Figures: []Figure{
			{
				Name: "weights", Caption: `The plane of the weights. Level lines: the objective with the best $b$ for each $\mathbf w$. The path starts at 0 (hollow); the cross-hair is the optimum.`,
				Draw: func(l Look) (*figure.Picture, error) {
					pen := figure.Pen{Color: figure.Green, Dash: figure.Dashed, Thin: true}
					return figure.Plane{
						Format: l.Format(1), X: "w1", Y: "w2", Limits: limits,
						Marks: []figure.Mark{
							figure.Contours{F: p.valley, Levels: levels, Plain: true, Name: "objective"},
							figure.Line{A: [2]float64{1, 0}, C: goal[0], Pen: pen, Name: "optimum"},
							figure.Line{A: [2]float64{0, 1}, C: goal[1], Pen: pen, Name: "optimum"},
							path,
						},
					}.Picture()
				},
			},
			Plane("line", "The line of this step. Ringed: points whose hinge pushed in the step.", p.Limits(), 2, proceduresLine(now), p.Dots(func(i int) bool { return slices.Contains(now.active, i) })),
			StepChart("objective", "Objective above its minimum (logarithmic).", step, figure.Chart{
				Y: figure.Axis{Name: "J − minimum", Log: true}, Curves: []figure.Curve{above, record},
			}),
		},
		Numbers: []Number{
			{Label: `$J$ now`, Value: Short(p.primal(now.w, now.b)), Help: "the primal objective"},
			{Label: "its minimum", Value: Short(best.Primal), Help: "by the exact solver"},
			{Label: `$\mathbf w$, $b$`, Value: Pair(now.w) + ", " + Short(now.b)},
			{Label: "at the optimum", Value: Pair(goal) + ", " + Short(best.B)},
		},
	}
	t := Table{
		Caption: `Marked: the points that pushed in this step. Values after it.`,
		Head:    []string{"point", "$y$", "$f$", "$y f$", "hinge", "$y f < 1$", "$f < 1$ (printed)"},
		Marked:  now.active,
	}
	mark := map[bool]string{true: "active", false: "–"}
	for i, x := range p.XY {
		f := now.w[0]*x[0] + now.w[1]*x[1] + now.b
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i + 1), Signed(p.Y[i]), Short(f), Short(p.Y[i] * f), Short(proceduresHingeLoss(p.Y[i], f)), mark[p.Y[i]*f < 1], mark[f < 1],
		})
	}
	e.Tables = []Table{t}
	switch {
	case step == 0:
		e.Notes = []string{`Start: $\mathbf w = 0$ and $b = 0$, so that every point has a hinge of 1.`}
	case printed:
		before, content := walk[step-1], 0
		for _, i := range now.active {
			if p.Y[i]*(before.w[0]*p.XY[i][0]+before.w[1]*p.XY[i][1]+before.b) >= 1 {
				content++
			}
		}
		e.Notes = []string{fmt.Sprintf(`As printed: %s in this step, %d of them with a margin of 1 or more that should have been left alone. The objective is %s above its minimum.`,
			Count(len(now.active), "active hinge", "active hinges"), content, Short(above.Y[step]))}
	default:
		word := "fell"
		if above.Y[step] > above.Y[step-1] {
			word = "*rose*"
		}
		e.Notes = []string{fmt.Sprintf(`Step %d, $\eta = $ %s: %s; the objective %s.`, step, Short(now.rate), Count(len(now.active), "active hinge", "active hinges"), word)}
	}
	return e, nil
}

// proceduresLine is the line of a step, with its sides and margins once it has any.
func proceduresLine(s proceduresStep) []figure.Mark {
	if Norm(s.w) < 1e-9 {
		return nil
	}
	return append(Sides(s.w, s.b), MarginLines(s.w, s.b)...)
}

// proceduresOverlapping is the problem of the questions.
func proceduresOverlapping(c float64) proceduresProblem {
	return proceduresProblem{Toy: StepToys["overlap"], kernel: kernel.Kernel{Name: "linear"}, c: c}
}

// proceduresDescends looks whether the objective rises or falls from step to step.
func proceduresDescends(ctx context.Context) (float64, error) {
	p := proceduresOverlapping(0.3)
	walk, err := proceduresWalk(ctx, p, 0.1, false, false)
	rises, falls := 0, 0
	for t := 1; t < len(walk); t++ {
		if p.primal(walk[t].w, walk[t].b) > p.primal(walk[t-1].w, walk[t-1].b) {
			rises++
		} else {
			falls++
		}
	}
	switch {
	case rises == 0:
		return 0, err
	case falls == 0:
		return 2, err
	}
	return 1, err
}

// proceduresSettles compares how far the last 20 steps go, at a constant and at a
// shrinking rate.
func proceduresSettles(ctx context.Context) (float64, error) {
	var way [2]float64
	for i, rate := range []float64{0.1, 0} {
		walk, err := proceduresWalk(ctx, proceduresOverlapping(0.3), rate, false, false)
		if err != nil {
			return 0, err
		}
		for t := len(walk) - 20; t < len(walk); t++ {
			way[i] += Norm([2]float64{walk[t].w[0] - walk[t-1].w[0], walk[t].w[1] - walk[t-1].w[1]})
		}
	}
	switch {
	case max(way[0], way[1]) < 1e-9:
		return 2, nil
	case way[1] > way[0]:
		return 1, nil
	}
	return 0, nil
}

// proceduresAscent is naive ascent on a problem.
func proceduresAscent(ctx context.Context, p proceduresProblem, steps int) (*trace.Replay[stepwise.AscentState], error) {
	return stepwise.NaiveAscent(ctx, p.gram(), p.Y, stepwise.AscentSettings{C: p.c, Order: stepwise.Descending, MaxSteps: steps})
}

func showProceduresNaive(ctx context.Context, in Input) (*Exhibit, error) {
	p := proceduresOf(in).moved(in.Number("shift"))
	best, err := p.optimum(ctx)
	if err != nil {
		return nil, err
	}
	r, err := proceduresAscent(ctx, p, 200)
	if err != nil {
		return nil, err
	}
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	var looked []int
	note := `Start: all $\alpha_i = 0$.`
	if s.Looked >= 0 {
		looked = []int{s.Looked}
		note = fmt.Sprintf(`Pass %d, point %d: slope %s, rate $1/K_{ii} = $ %s, so $\alpha$ goes from %s to %s`, s.Pass, s.Looked+1, Short(s.Gradient), Short(s.Rate), Short(s.Before), Short(s.Unclipped))
		if s.After != s.Unclipped {
			note += ", cut to " + Short(s.After)
		}
		note += "."
	}
	if step == r.Len()-1 && r.Status() == trace.Converged {
		note += fmt.Sprintf(` The end: every row of the table holds, and yet $\sum_i\alpha_i y_i = $ %s.`, Short(s.Residual))
	}
	limits := p.Limits()
	limits = limits.Union(figure.Limits{XMin: -0.3, XMax: 0.3, YMin: -0.3, YMax: 0.3})
	return &Exhibit{
		Steps: r.Len(), Step: step, Lab: p.open(), Notes: []string{note},
		Figures: []Figure{
			Plane("boundary", "Naive ascent now; filled points have $\\alpha > 0$, the ringed one was looked at. The long dashes are the exact SVM; they part from the other line.", limits, 2,
				p.picture(s.Iterate), []figure.Mark{p.optimal(best), figure.Dot{Class: -1, Label: "origin"}}, p.points(s.Iterate, looked...)),
			StepChart("dual", "The dual climbs past the SVM's maximum.", step, figure.Chart{
				Y:      figure.Axis{Name: "dual objective"},
				Curves: []figure.Curve{StepCurve("dual objective", r, func(s stepwise.AscentState) float64 { return s.Dual })},
				Rules:  []figure.Rule{{Name: "the SVM's maximum", At: best.Dual}},
			}),
			StepChart("residual", "What is neglected: it should be 0.", step, figure.Chart{
				Y:      figure.Axis{Name: "Σ α y"},
				Curves: []figure.Curve{StepCurve("Σ α y", r, func(s stepwise.AscentState) float64 { return s.Residual })},
				Rules:  []figure.Rule{{Name: "as it should be", At: 0}},
			}),
		},
		Numbers: []Number{
			{Label: `$\sum_i\alpha_i y_i$`, Value: Short(s.Residual), Help: "0 for the SVM"},
			{Label: "dual objective", Value: Short(s.Dual), Help: "the SVM's maximum is " + Short(best.Dual)},
			{Label: "primal objective", Value: Short(s.Primal), Help: "of $f$ with the $b$ computed afterwards; the SVM's minimum is " + Short(best.Primal)},
			{Label: "$b$", Value: Short(s.B), Help: "afterwards, from the free support vectors; the SVM's is " + Short(best.B)},
			{Label: "largest KKT violation", Value: Short(s.Violation)},
		},
		Tables: []Table{proceduresKKT(s.Iterate, looked...)},
	}, nil
}

// proceduresNaiveProblem is the problem of the questions about naive ascent.
func proceduresNaiveProblem() proceduresProblem {
	return proceduresProblem{Toy: StepToys["apart"], kernel: kernel.Kernel{Name: "linear"}, c: 1}
}

// proceduresNaiveEnds compares the end of naive ascent with the optimum.
func proceduresNaiveEnds(ctx context.Context) (float64, error) {
	p := proceduresNaiveProblem()
	r, err := proceduresAscent(ctx, p, 200)
	if err != nil {
		return 0, err
	}
	best, err := p.optimum(ctx)
	if err != nil {
		return 0, err
	}
	switch d := r.At(r.Len()-1).Dual - best.Dual; {
	case d < -1e-3:
		return 0, nil
	case d > 1e-3:
		return 2, nil
	}
	return 1, nil
}

// proceduresShifted looks whose weights change when all points are shifted.
func proceduresShifted(ctx context.Context) (float64, error) {
	var naive, exact [2][2]float64
	for i, shift := range []float64{0, 1} {
		p := proceduresNaiveProblem().moved(shift)
		r, err := proceduresAscent(ctx, p, 200)
		if err != nil {
			return 0, err
		}
		best, err := p.optimum(ctx)
		if err != nil {
			return 0, err
		}
		naive[i], exact[i] = p.weights(r.At(r.Len()-1).Iterate), p.weights(*best)
	}
	moves := func(w [2][2]float64) bool {
		return Norm([2]float64{w[1][0] - w[0][0], w[1][1] - w[0][1]}) > 1e-3
	}
	switch {
	case moves(exact) && moves(naive):
		return 0, nil
	case moves(exact):
		return 1, nil
	case moves(naive):
		return 2, nil
	}
	return 3, nil
}

// proceduresCloud is the larger problem of the screen on chunking.
func proceduresCloud(kernelName string, c float64) (proceduresProblem, error) {
	p := proceduresProblem{kernel: kernel.Kernel{Name: "linear"}, c: c}
	if kernelName == "rbf" {
		p.kernel = kernel.RBF(proceduresGamma)
	}
	d, err := dataset.Generate("moons", 50, 0.2, 3)
	if err != nil {
		return p, err
	}
	if p.Y, _, _, err = d.Binary("1"); err != nil {
		return p, err
	}
	for i := range p.Y {
		p.XY = append(p.XY, [2]float64{d.X.At(i, 0), d.X.At(i, 1)})
	}
	return p, nil
}

func showProceduresChunking(ctx context.Context, in Input) (*Exhibit, error) {
	p, err := proceduresCloud(in.Text("similarity"), in.Number("C"))
	if err != nil {
		return nil, err
	}
	best, err := p.optimum(ctx)
	if err != nil {
		return nil, err
	}
	r, err := stepwise.Chunking(ctx, p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Start: in.Int("start"), Add: in.Int("add"), MaxSteps: 100})
	if err != nil {
		return nil, err
	}
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	t := Table{
		Caption: "The rounds so far.",
		Head:    []string{"round", "working set", "support vectors", "violators added", "steps of SMO", "dual objective"},
		Marked:  []int{step},
	}
	largest := 0
	for i := range step + 1 {
		o := r.At(i)
		largest = max(largest, len(o.Working))
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i), strconv.Itoa(len(o.Working)), strconv.Itoa(len(o.SupportVectors)), strconv.Itoa(len(o.Violators)), strconv.Itoa(o.Pairs), Short(o.Dual),
		})
	}
	note := fmt.Sprintf("A first working set of %d points is chosen; nothing is solved yet.", len(s.Working))
	if step > 0 {
		note = fmt.Sprintf("Round %d: solved on %d points, of which %d are support vectors and stay.", step, len(s.Working), len(s.SupportVectors))
		switch {
		case len(s.Violators) > 0 && s.Kept:
			note += fmt.Sprintf(" The dual did not rise, so nothing is left out; %s added.", proceduresJoin(s.Violators))
		case len(s.Violators) > 0:
			note += fmt.Sprintf(" Of the rest, those that violate most join: %s.", proceduresJoin(s.Violators))
		default:
			note += " No point of the rest violates its condition: this is the solution of the whole problem."
		}
	}
	var marks []figure.Mark
	for i, q := range p.XY {
		dot := figure.Dot{At: q, Class: Class(p.Y[i]), Hollow: !slices.Contains(s.Working, i), Ring: slices.Contains(s.SupportVectors, i)}
		if !dot.Ring {
			dot.Name = ClassName(p.Y[i])
		}
		marks = append(marks, dot)
	}
	for _, i := range s.Violators {
		marks = append(marks, figure.Circle{Center: p.XY[i], Radius: 0.09, Pen: figure.Pen{Color: figure.Magenta}, Name: "joins next"})
	}
	sizes := StepCurve("working set", r, func(s stepwise.ChunkingState) float64 { return float64(len(s.Working)) })
	sizes.Stairs = true
	return &Exhibit{
		Steps: r.Len(), Step: step, Lab: p.open(), Notes: []string{note},
		Figures: []Figure{
			Plane("working", "Filled: in the working set of this round; hollow: left out; ringed: support vectors of the round. The worst violators outside are circled: they join next.", p.Limits(), 2, p.picture(s.Iterate), marks),
			StepChart("dual", "The dual never falls.", step, figure.Chart{
				X: figure.Axis{Name: "round"}, Y: figure.Axis{Name: "dual objective"},
				Curves: []figure.Curve{StepCurve("dual objective", r, func(s stepwise.ChunkingState) float64 { return s.Dual })},
				Rules:  []figure.Rule{{Name: "maximum", At: best.Dual}},
			}),
			StepChart("size", "How many points are solved for at once.", step, figure.Chart{
				X: figure.Axis{Name: "round"}, Y: figure.Axis{Name: "points", Min: 0, Max: float64(len(p.Y)) * 1.05}, Curves: []figure.Curve{sizes},
				Rules: []figure.Rule{{Name: "all points", At: float64(len(p.Y))}},
			}),
		},
		Numbers: []Number{
			{Label: "dual objective", Value: Short(s.Dual), Help: "its maximum is " + Short(best.Dual)},
			{Label: "largest KKT violation", Value: Short(s.Violation), Help: "of all points"},
			{Label: "kernel values at once", Value: strconv.Itoa(largest * largest), Help: fmt.Sprintf("in the largest round so far; all of them are %d", len(p.Y)*len(p.Y))},
		},
		Tables: []Table{t},
	}, nil
}

// proceduresJoin lists points by number.
func proceduresJoin(points []int) string {
	var names []string
	for _, i := range points {
		names = append(names, strconv.Itoa(i+1))
	}
	if len(names) == 1 {
		return "point " + names[0]
	}
	return "points " + strings.Join(names, ", ")
}

// proceduresChunkingRises looks whether the dual ever falls from round to round.
func proceduresChunkingRises(ctx context.Context) (float64, error) {
	p, err := proceduresCloud("rbf", 3)
	if err != nil {
		return 0, err
	}
	r, err := stepwise.Chunking(ctx, p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Start: 6})
	if err != nil {
		return 0, err
	}
	for i := 1; i < r.Len(); i++ {
		if r.At(i).Dual < r.At(i-1).Dual-1e-9 {
			return 0, nil
		}
	}
	return 2, nil
}

// proceduresTwo is the dual as a function of two multipliers, the others fixed.
type proceduresTwo struct {
	y1, y2        float64
	k11, k22, k12 float64
	h1, h2        float64 // what the others add to f at the two points
	c             float64
}

// q is the dual objective but for a constant.
func (p proceduresTwo) q(a1, a2 float64) float64 {
	return a1 + a2 - (p.k11*a1*a1+p.k22*a2*a2)/2 - p.y1*p.y2*p.k12*a1*a2 - p.y1*a1*p.h1 - p.y2*a2*p.h2
}

// ends are the smallest and the largest a2 on the line through a1, a2 in the box.
func (p proceduresTwo) ends(a1, a2 float64) (low, high float64) {
	if p.y1 == p.y2 {
		return max(0, a1+a2-p.c), min(p.c, a1+a2)
	}
	return max(0, a2-a1), min(p.c, p.c+a2-a1)
}

// first is alpha_1 on the line through a1, a2 where alpha_2 is at.
func (p proceduresTwo) first(a1, a2, at float64) float64 { return a1 + p.y1*p.y2*(a2-at) }

// solve maximises q on the line through a1, a2.
func (p proceduresTwo) solve(a1, a2 float64) stepwise.Pair {
	s := stepwise.Pair{BeforeI: a1, BeforeJ: a2, Curvature: p.k11 + p.k22 - 2*p.k12}
	s.L, s.H = p.ends(a1, a2)
	if s.Eta = s.Curvature; s.Eta <= 0 {
		s.Eta = 1e-12
	}
	g1 := p.y1 - p.k11*p.y1*a1 - p.k12*p.y2*a2 - p.h1
	g2 := p.y2 - p.k12*p.y1*a1 - p.k22*p.y2*a2 - p.h2
	s.Unclipped = a2 - p.y2*(g1-g2)/s.Eta
	s.AlphaJ = min(max(s.Unclipped, s.L), s.H)
	s.AlphaI = p.first(a1, a2, s.AlphaJ)
	s.Gain = p.q(s.AlphaI, s.AlphaJ) - p.q(a1, a2)
	return s
}

// box is the picture of a step in the plane of the two multipliers.
func (p proceduresTwo) box(s stepwise.Pair, names [2]string) func(Look) (*figure.Picture, error) {
	return func(l Look) (*figure.Picture, error) {
		start, end := [2]float64{s.BeforeI, s.BeforeJ}, [2]float64{s.AlphaI, s.AlphaJ}
		on := func(a2 float64) [2]float64 { return [2]float64{p.first(s.BeforeI, s.BeforeJ, a2), a2} }
		edge := figure.Pen{Thin: true}
		room := 0.25 * p.c
		marks := []figure.Mark{figure.Contours{F: p.q, Plain: true, Name: "dual"}}
		corners := [][2]float64{{0, 0}, {p.c, 0}, {p.c, p.c}, {0, p.c}, {0, 0}}
		for i := range 4 {
			marks = append(marks, figure.Segment{From: corners[i], To: corners[i+1], Pen: edge, Name: "the box"})
		}
		marks = append(marks,
			figure.Line{A: [2]float64{p.y1, p.y2}, C: p.y1*s.BeforeI + p.y2*s.BeforeJ, Pen: figure.Pen{Color: figure.Green, Dash: figure.Dashed, Thin: true}, Name: "equality"},
			figure.Segment{From: on(s.L), To: on(s.H), Pen: figure.Pen{Color: figure.Green}, Name: "allowed"},
			figure.Arrow{From: start, To: end, Pen: figure.Pen{Color: figure.Magenta}, Name: "the step"},
			figure.Dot{At: start, Class: -1, Hollow: true, Label: "start"},
		)
		if s.Unclipped != s.AlphaJ {
			marks = append(marks, figure.Dot{At: on(s.Unclipped), Class: -1, Hollow: true, Label: "without the box"})
		}
		marks = append(marks, figure.Dot{At: end, Class: -1, Label: "new"})
		return figure.Plane{
			Format: l.Format(2), X: names[0], Y: names[1], Limits: figure.Limits{XMin: -room, XMax: p.c + room, YMin: -room, YMax: p.c + room}, Marks: marks,
		}.Picture()
	}
}

// proceduresPairLines is the step of SMO, line by line.
var proceduresPairLines = []Line{
	{`Hold all multipliers but two. The equality says what the two have in common (002 writes $\xi$ for $\zeta$; it is no slack).`, `y_1\alpha_1 + y_2\alpha_2 = -\sum_{i \ge 3} \alpha_i y_i = \zeta`},
	{`So $\alpha_1$ follows $\alpha_2$.`, `\alpha_1 = y_1(\zeta - y_2\alpha_2)`},
	{`Insert: the dual is a parabola in $\alpha_2$. Its slope and its curvature, with $g_i = y_i - \sum_j \alpha_j y_j K_{ij}$:`, `\frac{dQ}{d\alpha_2} = -y_2(g_1 - g_2) \qquad \frac{d^2Q}{d\alpha_2^2} = -\eta`},
	{`Its top, the box left aside.`, `\alpha_2^{\text{top}} = \alpha_2 - \frac{y_2(g_1 - g_2)}{\eta}`},
	{`What the box leaves of the line.`, `\begin{aligned} y_1 \ne y_2:\ & L = \max(0,\ \alpha_2 - \alpha_1) \\ & H = \min(C,\ C + \alpha_2 - \alpha_1) \\ y_1 = y_2:\ & L = \max(0,\ \alpha_1 + \alpha_2 - C) \\ & H = \min(C,\ \alpha_1 + \alpha_2) \end{aligned}`},
	{`Clip, and let $\alpha_1$ give back what $\alpha_2$ took.`, `\begin{aligned} \alpha_2' &= \min\bigl(\max(\alpha_2^{\text{top}}, L), H\bigr) \\ \alpha_1' &= \alpha_1 + y_1 y_2(\alpha_2 - \alpha_2') \end{aligned}`},
}

func showProceduresPair(_ context.Context, in Input) (*Exhibit, error) {
	p := proceduresTwo{y1: 1, y2: -1, k11: 1, k22: 1, k12: in.Number("k12"), h1: 0.75, h2: -0.5, c: 1}
	if in.Text("same") == "equal" {
		p.y2, p.h2 = 1, 0.2
	}
	s := p.solve(in.Number("a1"), in.Number("a2"))
	step := min(in.Step, len(proceduresPairLines)-1)
	curve := figure.Curve{Name: "dual on the line"}
	for i := range 81 {
		a2 := -0.3 + 1.6*float64(i)/80
		curve.X, curve.Y = append(curve.X, a2), append(curve.Y, p.q(p.first(s.BeforeI, s.BeforeJ, a2), a2))
	}
	note := fmt.Sprintf(`The top of the parabola, $\alpha_2 = $ %s, lies on the allowed segment: the step goes there.`, Short(s.Unclipped))
	switch {
	case s.Curvature < 0:
		note = `$\eta < 0$: along the line the dual is a valley. The guard $\tau$ sends the step to the end that lies uphill.`
	case s.Curvature == 0:
		note = `$\eta = 0$: along the line the dual is straight. The guard $\tau$ sends the step to the end that lies uphill.`
	case s.AlphaJ != s.Unclipped:
		note = fmt.Sprintf(`The top, $\alpha_2 = $ %s, lies outside the box: the step stops at the edge.`, Short(s.Unclipped))
	}
	return &Exhibit{
		Steps: len(proceduresPairLines), Step: step, Body: Derivation(step, proceduresPairLines...), Notes: []string{note},
		Handles: []Handle{{Label: "start of the step", X: s.BeforeI, Y: s.BeforeJ, XParam: "a1", YParam: "a2"}},
		Figures: []Figure{
			{Name: "box", Caption: `The box $[0, C]^2$ with $C = 1$ over the level lines of the dual. Drag the start.`, Draw: p.box(s, [2]string{"α1", "α2"})},
			{Name: "line", Wide: true, Caption: "The dual along the line of the equality, with the ends of the allowed segment and the new place.", Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "α2", Min: -0.3, Max: 1.3}, Y: figure.Axis{Name: "dual"}, Curves: []figure.Curve{curve},
					Rules: []figure.Rule{{Name: "L", At: s.L, Upright: true}, {Name: "H", At: s.H, Upright: true}}, Here: &s.AlphaJ,
				}.Picture()
			}},
		},
		Numbers: []Number{
			{Label: `$\eta$`, Value: Short(s.Curvature), Help: `$K_{11} + K_{22} - 2K_{12}$`},
			{Label: "$L$, $H$", Value: Short(s.L) + ", " + Short(s.H), Help: `ends of the segment in $\alpha_2$`},
			{Label: `$y_1\alpha_1 + y_2\alpha_2$`, Value: Short(p.y1*s.AlphaI + p.y2*s.AlphaJ), Help: "after the step as before: " + Short(p.y1*s.BeforeI+p.y2*s.BeforeJ)},
			{Label: `$(\alpha_1, \alpha_2)$`, Value: Pair([2]float64{s.AlphaI, s.AlphaJ}), Help: "from " + Pair([2]float64{s.BeforeI, s.BeforeJ})},
			{Label: "gain of the dual", Value: Short(s.Gain)},
		},
	}, nil
}

// proceduresTwins takes the step of two points in one place.
func proceduresTwins(context.Context) (float64, error) {
	s := proceduresTwo{y1: 1, y2: -1, k11: 1, k22: 1, k12: 1, h1: 0.1, h2: 0.1, c: 1}.solve(0.1, 0.35)
	switch s.AlphaJ {
	case s.BeforeJ:
		return 0, nil
	case s.L, s.H:
		return 1, nil
	}
	return 2, nil
}

// proceduresPairOf is the dual in the two multipliers of a pair, as it was before
// the step.
func proceduresPairOf(p proceduresProblem, before stepwise.Iterate, i, j int) proceduresTwo {
	k := func(a, b int) float64 { return p.kernel.Eval(p.XY[a][:], p.XY[b][:]) }
	t := proceduresTwo{y1: p.Y[i], y2: p.Y[j], k11: k(i, i), k22: k(j, j), k12: k(i, j), c: p.c}
	for n, u := range before.U() {
		if n != i && n != j {
			t.h1 += u * k(n, i)
			t.h2 += u * k(n, j)
		}
	}
	return t
}

func showProceduresSMO(ctx context.Context, in Input) (*Exhibit, error) {
	p := proceduresOf(in)
	settings := stepwise.SMOSettings{C: p.c, MaxSteps: 200}
	if in.Text("selection") == "second" {
		settings.Selection = stepwise.SecondOrder
	}
	r, err := stepwise.SMO(ctx, p.gram(), p.Y, settings)
	if err != nil {
		return nil, err
	}
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	e := &Exhibit{
		Steps: r.Len(), Step: step, Lab: p.open(),
		Numbers: []Number{
			{Label: "dual objective", Value: Short(s.Dual), Help: "a lower bound of the optimum"},
			{Label: "primal objective", Value: Short(s.Primal), Help: "an upper bound"},
			{Label: "gap", Value: Short(s.Gap), Help: "0 at the optimum, and only there"},
			{Label: `$\max g - \min g$`, Value: Short(s.High - s.Low), Help: fmt.Sprintf(`over $I_{\text{up}}$ and $I_{\text{low}}$; stop at %s`, views.Short(1e-3))},
			{Label: "$b$", Value: Short(s.B), Help: "half-way between the two"},
		},
	}
	bounded := func(s stepwise.SMOState) float64 { return min(s.Primal, 4*r.At(0).Primal) }
	objectives := StepChart("objectives", "The dual rises to meet the primal, which goes up and down; the gap between them closes.", step, figure.Chart{
		Y: figure.Axis{Name: "objective"},
		Curves: []figure.Curve{
			StepCurve("primal", r, bounded),
			StepCurve("dual", r, func(s stepwise.SMOState) float64 { return s.Dual }),
			StepCurve("gap", r, func(s stepwise.SMOState) float64 { return bounded(s) - s.Dual }),
		},
	})
	const caption = `The machine at this step. Filled points have $\alpha > 0$; the pair is ringed and joined.`
	if s.Pair == nil {
		e.Notes = []string{`Start: all $\alpha_i = 0$, so $f$ is constant and no side is better than the other.`}
		e.Figures = []Figure{Plane("boundary", caption, p.Limits(), 2, p.picture(s.Iterate), p.points(s.Iterate)), objectives}
		e.Tables = []Table{proceduresKKT(s.Iterate)}
		return e, nil
	}
	i, j := s.Pair.I, s.Pair.J
	two := proceduresPairOf(p, r.At(step-1).Iterate, i, j)
	link := figure.Segment{From: p.XY[i], To: p.XY[j], Pen: figure.Pen{Color: figure.Magenta, Dash: figure.Dotted}, Name: "the pair"}
	e.Figures = []Figure{
		Plane("boundary", caption, p.Limits(), 2, p.picture(s.Iterate), []figure.Mark{link}, p.points(s.Iterate, i, j)),
		{
			Name: "box", Caption: fmt.Sprintf(`The box $[0, C]^2$ of points %d and %d: from the start along the allowed segment to the best place.`, i+1, j+1),
			Draw: two.box(*s.Pair, [2]string{fmt.Sprintf("α of point %d", i+1), fmt.Sprintf("α of point %d", j+1)}),
		},
		objectives,
	}
	note := fmt.Sprintf(`Points %d and %d: allowed is $\alpha_{%d}$ from %s to %s, the top of the parabola is at %s`, i+1, j+1, j+1, Short(s.Pair.L), Short(s.Pair.H), Short(s.Pair.Unclipped))
	if s.Pair.AlphaJ != s.Pair.Unclipped {
		note += ", outside"
	}
	note += fmt.Sprintf(`. So $\alpha_{%d}$ goes from %s to %s and $\alpha_{%d}$ from %s to %s; the dual gains %s.`, j+1, Short(s.Pair.BeforeJ), Short(s.Pair.AlphaJ), i+1, Short(s.Pair.BeforeI), Short(s.Pair.AlphaI), Short(s.Pair.Gain))
	if step == r.Len()-1 && r.Status() == trace.Converged {
		note += " All conditions hold: this is the SVM."
	}
	e.Notes = []string{note}
	e.Tables = []Table{proceduresKKT(s.Iterate, min(i, j), max(i, j))}
	return e, nil
}

// proceduresSMORun is SMO on the problem of the questions.
func proceduresSMORun(ctx context.Context) (*trace.Replay[stepwise.SMOState], error) {
	p := proceduresOverlapping(1)
	return stepwise.SMO(ctx, p.gram(), p.Y, stepwise.SMOSettings{C: p.c})
}

// proceduresFirstStep counts the alpha that the first step leaves positive.
func proceduresFirstStep(ctx context.Context) (float64, error) {
	r, err := proceduresSMORun(ctx)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for _, q := range r.At(1).Points {
		if q.Alpha != 0 {
			n++
		}
	}
	return n, nil
}

// proceduresMonotone looks which of the two objectives are monotone.
func proceduresMonotone(ctx context.Context) (float64, error) {
	r, err := proceduresSMORun(ctx)
	if err != nil {
		return 0, err
	}
	dual, primal := true, true
	for i := 1; i < r.Len(); i++ {
		dual = dual && r.At(i).Dual >= r.At(i-1).Dual-1e-12
		primal = primal && r.At(i).Primal <= r.At(i-1).Primal+1e-12
	}
	switch {
	case dual && primal:
		return 0, nil
	case dual:
		return 1, nil
	}
	return 2, nil
}

// proceduresRoad is one procedure on a problem: its primal objective after as many
// updates of single multipliers, or of w.
type proceduresRoad struct {
	name      string
	work, cum []float64 // updates, primal objective
	status    trace.Status
}

// proceduresRoads runs all four.
func proceduresRoads(ctx context.Context, p proceduresProblem) ([]proceduresRoad, error) {
	const steps = 300
	add := func(name string, n int, status trace.Status, at func(i int) (work int, primal float64)) proceduresRoad {
		r := proceduresRoad{name: name, status: status}
		total := 0
		for i := range n {
			work, primal := at(i)
			total += work
			r.work, r.cum = append(r.work, float64(total)), append(r.cum, primal)
		}
		return r
	}
	one := func(i int) int { return min(i, 1) }
	sub, err := stepwise.SubgradientDescent(ctx, p.Matrix(), p.Y, stepwise.SubgradientSettings{C: p.c, Batch: true, MaxSteps: steps})
	if err != nil {
		return nil, err
	}
	naive, err := proceduresAscent(ctx, p, steps)
	if err != nil {
		return nil, err
	}
	chunks, err := stepwise.Chunking(ctx, p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Tol: 1e-6})
	if err != nil {
		return nil, err
	}
	smo, err := stepwise.SMO(ctx, p.gram(), p.Y, stepwise.SMOSettings{C: p.c, Selection: stepwise.SecondOrder, Tol: 1e-6, MaxSteps: steps})
	if err != nil {
		return nil, err
	}
	return []proceduresRoad{
		add("sub-gradient, 1/t", sub.Len(), sub.Status(), func(i int) (int, float64) { return one(i), sub.At(i).Best }),
		add("naive ascent", naive.Len(), naive.Status(), func(i int) (int, float64) { return one(i), naive.At(i).Primal }),
		add("chunking", chunks.Len(), chunks.Status(), func(i int) (int, float64) { return chunks.At(i).Pairs, chunks.At(i).Primal }),
		add("SMO", smo.Len(), smo.Status(), func(i int) (int, float64) { return one(i), smo.At(i).Primal }),
	}, nil
}

// proceduresGramBytes is the size of the Gram matrix of n points.
func proceduresGramBytes(n float64) float64 { return 8 * n * n }

func showProceduresSummary(ctx context.Context, in Input) (*Exhibit, error) {
	p := proceduresOf(in)
	best, err := p.optimum(ctx)
	if err != nil {
		return nil, err
	}
	roads, err := proceduresRoads(ctx, p)
	if err != nil {
		return nil, err
	}
	t := Table{Caption: "The four on these points, linear kernel; the last column is the primal objective at the end.", Head: []string{"procedure", "works on", "updates", "ended as", "above the minimum"}}
	on := []string{`$\mathbf w$, $b$`, `one $\alpha$`, "a working set", `two $\alpha$`}
	chart := figure.Chart{X: figure.Axis{Name: "updates", Min: 0, Max: 120}, Y: figure.Axis{Name: "J − minimum", Log: true, Min: 1e-6, Max: 100}}
	for i, r := range roads {
		c := figure.Curve{Name: r.name, X: r.work}
		for _, v := range r.cum {
			c.Y = append(c.Y, max(v-best.Primal, 1e-6))
		}
		chart.Curves = append(chart.Curves, c)
		last := len(r.cum) - 1
		t.Rows = append(t.Rows, []string{r.name, on[i], strconv.Itoa(int(r.work[last])), string(r.status), Short(max(0, r.cum[last]-best.Primal))})
	}
	grown, err := proceduresGrowth(ctx)
	if err != nil {
		return nil, err
	}
	g := Table{Caption: "The lab's own solver on moons of growing number (RBF, $C = 1$).", Head: []string{"$N$", "support vectors", "steps", `steps $\times N$`, "Gram matrix, MB"}}
	work := figure.Curve{Name: "steps × N of the solver", Marks: true}
	square, cube := figure.Curve{Name: "N²"}, figure.Curve{Name: "N³"}
	for _, r := range grown {
		n, w := float64(r.n), float64(r.steps*r.n)
		g.Rows = append(g.Rows, []string{strconv.Itoa(r.n), strconv.Itoa(r.vectors), strconv.Itoa(r.steps), strconv.Itoa(r.steps * r.n), Short(proceduresGramBytes(n) / 1e6)})
		scale := n / float64(grown[0].n)
		start := float64(grown[0].steps * grown[0].n)
		work.X, work.Y = append(work.X, n), append(work.Y, w)
		square.X, square.Y = append(square.X, n), append(square.Y, start*scale*scale)
		cube.X, cube.Y = append(cube.X, n), append(cube.Y, start*scale*scale*scale)
	}
	return &Exhibit{
		Lab: p.open(),
		Figures: []Figure{
			{Name: "roads", Caption: "The primal objective above its minimum after so many updates (logarithmic). Who arrives, who creeps, who stays away?", Draw: func(l Look) (*figure.Picture, error) {
				c := chart
				c.Format = l.Format(2)
				return c.Picture()
			}},
			{Name: "growth", Wide: true, Caption: "Work of the lab's solver on growing data, both axes logarithmic, beside $N^2$ and $N^3$ from the same start. On such easy data the steps themselves hardly grow.", Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{
					Format: l.Format(1), X: figure.Axis{Name: "points N", Log: true}, Y: figure.Axis{Name: "steps × N", Log: true}, Curves: []figure.Curve{work, square, cube},
				}.Picture()
			}},
		},
		Tables: []Table{t, g},
	}, nil
}

// proceduresSize is what the lab's solver needed for n points.
type proceduresSize struct{ n, vectors, steps int }

// proceduresGrowth runs the lab's solver on moons of growing number.
func proceduresGrowth(ctx context.Context) (sizes []proceduresSize, err error) {
	for _, n := range []int{100, 200, 400, 800, 1600} {
		d, err := dataset.Generate("moons", n, 0.25, 1)
		if err != nil {
			return nil, err
		}
		y, _, _, err := d.Binary("1")
		if err != nil {
			return nil, err
		}
		r, err := svm.Train(ctx, kernel.NewGram(kernel.RBF(1), d.X), y, svm.Settings{C: 1})
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, proceduresSize{n, r.SupportVectors, r.Iterations})
	}
	return sizes, nil
}

// proceduresAstray finds the procedure that ends away from the optimum.
func proceduresAstray(ctx context.Context) (float64, error) {
	p := proceduresOverlapping(1)
	best, err := p.optimum(ctx)
	if err != nil {
		return 0, err
	}
	roads, err := proceduresRoads(ctx, p)
	if err != nil {
		return 0, err
	}
	// Of those that say they are done, the one that is not at the optimum.
	for i, r := range roads {
		if r.status == trace.Converged && r.cum[len(r.cum)-1] > best.Primal*(1+1e-3) {
			return float64(i), nil
		}
	}
	return -1, nil
}
