// Package procedures is the lesson on the ways to train a support vector machine.
package procedures

import (
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
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
	label = lessons.ChoiceControl{Name: "y", Label: "label", Symbol: "y", Default: "-1", Options: []param.Option{{Name: "-1", Label: "−1"}, {Name: "1", Label: "+1"}}}
	value = lessons.NumberControl{Name: "f", Label: "value", Symbol: "f(x)", Default: "-1.6", Min: -3, Max: 3, Low: -3, High: 3}

	descentC = newC("0.3")
	rate     = lessons.ChoiceControl{Name: "rate", Label: "step size", Symbol: "η", Default: "0.1", Options: []param.Option{
		{Name: "0.3", Label: "0.3, constant"}, {Name: "0.1", Label: "0.1, constant"}, {Name: "0.02", Label: "0.02, constant"}, {Name: "0", Label: "1/t in step t"},
	}}
	single     = lessons.SwitchControl{Name: "single", Label: "one point a step", Default: "false", Help: "In the order of the table, each counted M times."}
	unlabelled = lessons.SwitchControl{Name: "unlabelled", Label: "condition without the label", Default: "false", Help: "f < 1 without the label; all points in every step."}

	naiveToy = newToys("apart", "apart", "overlap", "ring")
	shift    = lessons.NumberControl{Name: "shift", Label: "shift", Default: "0", Min: -2, Max: 2, Low: -2, High: 2}

	chunkingKernel = newSimilarity("rbf")
	chunkingC      = newC("3")
	start          = lessons.IntegerControl{Name: "start", Label: "first points", Default: "6", Min: 2, Max: 20, Low: 2, High: 20}
	add            = lessons.IntegerControl{Name: "add", Label: "added", Symbol: "M", Default: "4", Min: 1, Max: 20, Low: 1, High: 20}

	same  = lessons.ChoiceControl{Name: "same", Label: "labels", Default: "differ", Options: []param.Option{{Name: "differ", Label: "differ"}, {Name: "equal", Label: "are equal"}}}
	k12   = lessons.NumberControl{Name: "k12", Label: "similarity", Symbol: "K₁₂", Default: "0.4", Min: -1, Max: 1.5, Low: -1, High: 1.5, Help: "K₁₁ = K₂₂ = 1. Above 1 no positive semidefinite kernel can be."}
	alpha = lessons.NewPlace("a1", "start α₁", "a2", "start α₂", [2]float64{0.1, 0.35}, figure.Limits{XMin: 0, XMax: 1, YMin: 0, YMax: 1})

	smoToy    = newToys("overlap", "apart", "overlap", "ring")
	selection = lessons.ChoiceControl{Name: "selection", Label: "the pair", Default: "first", Options: []param.Option{
		{Name: "first", Label: "violates most", Help: "Largest and smallest gradient."},
		{Name: "second", Label: "gains most", Help: "Largest gradient, and the partner of the largest gain to second order."},
	}}

	// shared by several screens
	linearToy = newToys("overlap", "apart", "overlap")
	similar   = newSimilarity("linear")
	c         = newC("1")
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "procedures",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{
				Slug: "hinge",
				Demo: lessons.NewDemo(showHinge, label, value),
				Answers: map[string]lessons.Answer{
					"negative": func(context.Context) float64 {
						return lessons.First(theory.Hinge(2) > 0)
					},
					"loss": lessons.Is(theory.Hinge(0.3)),
				},
				Sketches: map[string]*lessons.Sketch{
					"shape": {
						Of: "the loss", Over: "y f(x)", X: []float64{-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3}, Height: 4,
						Truth: func(context.Context) figure.Curve { return lessons.CurveOf(-2, 3, 100, theory.Hinge) },
						Draw:  lessons.SketchChart(figure.Axis{Name: "y f(x)", Min: -2, Max: 3}, figure.Axis{Name: "loss", Min: 0, Max: 4}),
					},
				},
			},
			{
				Slug:    "subgradient",
				Demo:    lessons.NewDemo(showDescent, linearToy, descentC, rate, single, unlabelled),
				Answers: map[string]lessons.Answer{"falls": descends, "settles": settles},
			},
			{
				Slug:    "naive",
				Demo:    lessons.NewDemo(showNaive, naiveToy, similar, c, shift),
				Answers: map[string]lessons.Answer{"objective": naiveEnds, "shift": shifted},
			},
			{
				Slug:    "chunking",
				Demo:    lessons.NewDemo(showChunking, chunkingKernel, chunkingC, start, add),
				Answers: map[string]lessons.Answer{"falls": chunkingRises},
			},
			{
				Slug: "pair",
				Demo: lessons.NewDemo(showPair, same, k12, alpha),
				Answers: map[string]lessons.Answer{
					"low": func(context.Context) float64 {
						low, _ := stepwise.PairDual{Y1: 1, Y2: -1, C: 1}.Ends(0.2, 0.5)
						return low
					},
					"twins": twins,
				},
			},
			{
				Slug:    "smo",
				Demo:    lessons.NewDemo(showSMO, smoToy, similar, c, selection),
				Answers: map[string]lessons.Answer{"first": firstStep, "monotone": monotone},
				Sketches: map[string]*lessons.Sketch{
					"gap": {
						Of: "the gap", Over: "step", X: []float64{2, 6, 10, 15, 20, 25, 30, 35, 40, 45}, Height: 3,
						Truth: gap,
						Draw:  lessons.SketchChart(figure.Axis{Name: "step", Min: 0, Max: 46}, figure.Axis{Name: "primal − dual", Min: 0, Max: 36}),
					},
				},
			},
			{
				Slug:    "summary",
				Demo:    lessons.NewDemo(showSummary, linearToy, c),
				Answers: map[string]lessons.Answer{"astray": astray, "memory": lessons.Is(gramBytes(300) / gramBytes(100))},
			},
		},
	})
}

func newToys(start string, names ...string) lessons.ChoiceControl {
	labels := map[string]string{"apart": "separable", "overlap": "overlapping", "ring": "a ring"}
	c := lessons.ChoiceControl{Name: "toy", Label: "points", Default: start}
	c.Options = lists.Map(names, func(n string) param.Option { return param.Option{Name: n, Label: labels[n]} })
	return c
}

func newC(start string) lessons.NumberControl {
	return lessons.NumberControl{Name: "C", Label: "C", Default: start, Min: 0.01, Max: 100, Low: 0.05, High: 20, Log: true}
}

// gamma is the parameter of this lesson's RBF kernel.
const gamma = 0.7

func newSimilarity(start string) lessons.ChoiceControl {
	return lessons.ChoiceControl{Name: "similarity", Label: "kernel", Default: start, Options: []param.Option{
		{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF, γ = " + views.Short(gamma)},
	}}
}

// problem is a training problem: points, a kernel, C.
type problem struct {
	lessons.Toy
	kernel kernel.Kernel
	c      float64
}

// newProblem returns one of the toys with the named kernel.
func newProblem(toy, similarity string, c float64) problem {
	p := problem{Toy: lessons.StepToys[toy], kernel: kernel.Kernel{Name: "linear"}, c: c}
	if similarity == "rbf" {
		p.kernel = kernel.RBF(gamma)
	}
	return p
}

// moved returns the problem with all points shifted.
func (p problem) moved(dx float64) problem {
	p.XY = slices.Clone(p.XY)
	for i := range p.XY {
		p.XY[i][0] += dx
	}
	return p
}

func (p problem) gram() *kernel.Gram { return kernel.NewGram(p.kernel, p.Matrix()) }

// optimum returns the exact solution.
func (p problem) optimum(ctx context.Context) *stepwise.Iterate {
	return lessons.Must(stepwise.Optimum(ctx, p.gram(), p.Y, p.c))
}

// open returns the query for the same training in the lab.
func (p problem) open() string {
	return p.Lab("learner", "svm", "kernel", p.kernel.Name, "gamma", views.Short(gamma), "C", lessons.Setting(p.c))
}

func (p problem) function(it stepwise.Iterate) func(x, y float64) float64 {
	s := kernel.NewSum(p.kernel, p.Matrix(), it.U())
	return func(x, y float64) float64 { return s.At([]float64{x, y}) + it.B }
}

// picture draws the function of an iterate over the plane: sides, boundary and margin lines.
func (p problem) picture(it stepwise.Iterate) []figure.Mark {
	f := p.function(it)
	var marks []figure.Mark
	if it.WNorm > 1e-9 { // otherwise there is no machine yet
		marks = append(lessons.Halves(f),
			figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Thin: true}, Plain: true, Name: "f = 0"},
			figure.Contours{F: f, Levels: []float64{-1, 1}, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Plain: true, Name: "f = ±1"})
	}
	return marks
}

// optimal draws the boundary of the exact machine for comparison.
func (p problem) optimal(best *stepwise.Iterate) figure.Mark {
	return figure.Contours{F: p.function(*best), Levels: []float64{0}, Pen: figure.Pen{Color: figure.Green, Dash: figure.LongDash}, Plain: true, Name: "the SVM's f = 0"}
}

// points draws the points with the numbers of the table: hollow while alpha is 0, ringed if
// visited by the step.
func (p problem) points(it stepwise.Iterate, ringed ...int) (marks []figure.Mark) {
	for i, q := range p.XY {
		dot := figure.Dot{At: q, Class: lessons.Class(p.Y[i]), Hollow: it.Points[i].Alpha == 0, Ring: slices.Contains(ringed, i), Label: strconv.Itoa(i + 1)}
		if !dot.Ring { // the legend explains the class
			dot.Name = lessons.ClassName(p.Y[i])
		}
		marks = append(marks, dot)
	}
	return marks
}

func kkt(it stepwise.Iterate, touched ...int) lessons.Table {
	demands := map[stepwise.Condition]string{
		stepwise.AtZero: `$y f \ge 1$`,
		stepwise.Free:   `$y f = 1$`,
		stepwise.AtC:    `$y f \le 1$`,
	}
	t := lessons.Table{
		Caption: `KKT table. What $y f$ must be follows from $\alpha$: at 0, between, or at $C$. Marked: what the step touched.`,
		Head:    []string{"point", "$y$", `$\alpha$`, "$y f$", `slack $\xi$`, "must be", "violated by"},
		Marked:  touched,
	}
	for i, p := range it.Points {
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i + 1), lessons.Signed(p.Y), lessons.Short(p.Alpha), lessons.Short(p.Margin), lessons.Short(p.Slack),
			demands[p.Condition], lessons.Brief(p.Violation),
		})
	}
	return t
}

// ascend runs naive ascent on a problem.
func ascend(ctx context.Context, p problem, steps int) *trace.Replay[stepwise.AscentState] {
	return lessons.Must(stepwise.NaiveAscent(ctx, p.gram(), p.Y, stepwise.AscentSettings{C: p.c, Order: stepwise.Descending, MaxSteps: steps}))
}

func showNaive(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := newProblem(naiveToy.Of(in), similar.Of(in), c.Of(in)).moved(shift.Of(in))
	best := p.optimum(ctx)
	r := ascend(ctx, p, 200)
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	var looked []int
	note := `Start: all $\alpha_i = 0$.`
	if s.Looked >= 0 {
		looked = []int{s.Looked}
		note = fmt.Sprintf(`Pass %d, point %d: slope %s, rate $1/K_{ii} = $ %s, so $\alpha$ goes from %s to %s`, s.Pass, s.Looked+1, lessons.Typeset(lessons.Brief(s.Gradient)), lessons.Short(s.Rate), lessons.Short(s.Before), lessons.Short(s.Unclipped))
		if s.After != s.Unclipped {
			note += ", cut to " + lessons.Short(s.After)
		}
		note += "."
	}
	if step == r.Len()-1 && r.Status() == trace.Converged {
		note += fmt.Sprintf(` The end: every row of the table holds, and yet $\sum_i\alpha_i y_i = $ %s.`, lessons.Short(s.Residual))
	}
	limits := p.Limits()
	limits = limits.Union(figure.Limits{XMin: -0.3, XMax: 0.3, YMin: -0.3, YMax: 0.3})
	return &lessons.Exhibit{
		Steps: r.Len(), Step: step, Lab: p.open(), Notes: []string{note},
		Figures: []lessons.Figure{
			lessons.Plane("boundary", "Naive ascent now; filled points have $\\alpha > 0$, the ringed one was looked at. The long dashes are the exact SVM.", limits, 2,
				p.picture(s.Iterate), []figure.Mark{p.optimal(best), figure.Dot{Class: -1, Label: "origin"}}, p.points(s.Iterate, looked...)),
			lessons.StepChart("dual", "The dual objective, step by step, and the maximum of the SVM's.", step, figure.Chart{
				Y:      figure.Axis{Name: "dual objective"},
				Curves: []figure.Curve{lessons.StepCurve("dual objective", r, func(s stepwise.AscentState) float64 { return s.Dual })},
				Rules:  []figure.Rule{{Name: "the SVM's maximum", At: best.Dual}},
			}).Afterwards(),
			lessons.StepChart("residual", "What is neglected: it should be 0.", step, figure.Chart{
				Y:      figure.Axis{Name: "Σ α y"},
				Curves: []figure.Curve{lessons.StepCurve("Σ α y", r, func(s stepwise.AscentState) float64 { return s.Residual })},
				Rules:  []figure.Rule{{Name: "as it should be", At: 0}},
			}).Afterwards(),
		},
		Numbers: []lessons.Number{
			{Label: `$\sum_i\alpha_i y_i$`, Value: lessons.Short(s.Residual), Help: "0 for the SVM"},
			{Label: "dual objective", Value: lessons.Short(s.Dual), Help: "the SVM's maximum is " + lessons.Short(best.Dual), After: true},
			{Label: "primal objective", Value: lessons.Short(s.Primal), Help: "of $f$ with the $b$ computed afterwards; the SVM's minimum is " + lessons.Short(best.Primal), After: true},
			{Label: "$b$", Value: lessons.Short(math.Round(1e3*s.B) / 1e3), Help: "afterwards, from the free support vectors; the SVM's is " + lessons.Short(best.B)},
			{Label: "largest KKT violation", Value: lessons.Brief(s.Violation)},
		},
		Tables: []lessons.Table{kkt(s.Iterate, looked...)},
	}
}

// naiveProblem returns the problem of the questions about naive ascent.
func naiveProblem() problem {
	return newProblem("apart", "linear", 1)
}

// naiveEnds compares the result of naive ascent with the optimum.
func naiveEnds(ctx context.Context) float64 {
	p := naiveProblem()
	r := ascend(ctx, p, 200)
	d := r.At(r.Len()-1).Dual - p.optimum(ctx).Dual
	return lessons.First(d < -1e-3, d <= 1e-3)
}

// shifted finds whose weights change when all points are shifted.
func shifted(ctx context.Context) float64 {
	var naive, exact [2][2]float64
	for i, shift := range []float64{0, 1} {
		p := naiveProblem().moved(shift)
		r := ascend(ctx, p, 200)
		naive[i], exact[i] = p.Weights(r.At(r.Len()-1).U()), p.Weights(p.optimum(ctx).U())
	}
	moves := func(w [2][2]float64) bool {
		return lessons.Norm([2]float64{w[1][0] - w[0][0], w[1][1] - w[0][1]}) > 1e-3
	}
	return lessons.First(moves(exact) && moves(naive), moves(exact), moves(naive))
}

// cloud returns the larger problem of the screen on chunking.
func cloud(similarity string, c float64) problem {
	p := newProblem("", similarity, c)
	p.Toy = lessons.ToyOf(lessons.Must(dataset.Generate("moons", 50, 0.2, 3)))
	return p
}

func showChunking(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := cloud(chunkingKernel.Of(in), chunkingC.Of(in))
	best := p.optimum(ctx)
	r := lessons.Must(stepwise.Chunking(ctx, p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Start: start.Of(in), Add: add.Of(in), MaxSteps: 100}))
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	t := lessons.Table{
		Caption: "The rounds so far.",
		Head:    []string{"round", "working set", "support vectors", "violators added", "steps of SMO"},
		Marked:  []int{step},
	}
	duals := lessons.Table{Caption: "The dual objective", Head: []string{"round"}, Rows: [][]string{{"dual"}}, After: true}
	largest := 0
	for i := range step + 1 {
		o := r.At(i)
		largest = max(largest, len(o.Working))
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i), strconv.Itoa(len(o.Working)), strconv.Itoa(len(o.SupportVectors)), strconv.Itoa(len(o.Violators)), strconv.Itoa(o.Pairs),
		})
		duals.Head, duals.Rows[0] = append(duals.Head, strconv.Itoa(i)), append(duals.Rows[0], lessons.Short(o.Dual))
	}
	note := fmt.Sprintf("A first working set of %d points is chosen; nothing is solved yet.", len(s.Working))
	if step > 0 {
		note = fmt.Sprintf("Round %d: solved on %d points, of which %d are support vectors and stay.", step, len(s.Working), len(s.SupportVectors))
		switch {
		case len(s.Violators) > 0 && s.Kept:
			note += fmt.Sprintf(" The dual did not rise, so nothing is left out; %s added.", join(s.Violators))
		case len(s.Violators) > 0:
			note += fmt.Sprintf(" Of the rest, those that violate most join: %s.", join(s.Violators))
		default:
			note += " No point of the rest violates its condition: this is the solution of the whole problem."
		}
	}
	var marks []figure.Mark
	for i, q := range p.XY {
		dot := figure.Dot{At: q, Class: lessons.Class(p.Y[i]), Hollow: !slices.Contains(s.Working, i), Ring: slices.Contains(s.SupportVectors, i)}
		if !dot.Ring {
			dot.Name = lessons.ClassName(p.Y[i])
		}
		marks = append(marks, dot)
	}
	for _, i := range s.Violators {
		marks = append(marks, figure.Circle{Center: p.XY[i], Radius: 0.09, Pen: figure.Pen{Color: figure.Magenta}, Name: "joins next"})
	}
	sizes := lessons.StepCurve("working set", r, func(s stepwise.ChunkingState) float64 { return float64(len(s.Working)) })
	sizes.Stairs = true
	return &lessons.Exhibit{
		Steps: r.Len(), Step: step, Lab: p.open(), Notes: []string{note},
		Figures: []lessons.Figure{
			lessons.Plane("working", "Filled: in the working set of this round; hollow: left out; ringed: support vectors of the round. The worst violators outside are circled: they join next.", p.Limits(), 2, p.picture(s.Iterate), marks),
			lessons.StepChart("size", "How many points are solved for at once.", step, figure.Chart{
				X: figure.Axis{Name: "round"}, Y: figure.Axis{Name: "points", Min: 0, Max: float64(len(p.Y)) * 1.05}, Curves: []figure.Curve{sizes},
				Rules: []figure.Rule{{Name: "all points", At: float64(len(p.Y))}},
			}),
			lessons.StepChart("dual", "The dual never falls.", step, figure.Chart{
				X: figure.Axis{Name: "round"}, Y: figure.Axis{Name: "dual objective"},
				Curves: []figure.Curve{lessons.StepCurve("dual objective", r, func(s stepwise.ChunkingState) float64 { return s.Dual })},
				Rules:  []figure.Rule{{Name: "maximum", At: best.Dual}},
			}).Afterwards(),
		},
		Numbers: []lessons.Number{
			{Label: "dual objective", Value: lessons.Short(s.Dual), Help: "its maximum is " + lessons.Short(best.Dual), After: true},
			{Label: "largest KKT violation", Value: lessons.Short(s.Violation), Help: "of all points"},
			{Label: "kernel values at once", Value: strconv.Itoa(largest * largest), Help: fmt.Sprintf("in the largest round so far; all of them are %d", len(p.Y)*len(p.Y))},
		},
		Tables: []lessons.Table{t, duals},
	}
}

// join lists points by number.
func join(points []int) string {
	names := lists.Map(points, func(i int) string { return strconv.Itoa(i + 1) })
	if len(names) == 1 {
		return "point " + names[0]
	}
	return "points " + strings.Join(names, ", ")
}

// chunkingRises reports whether the dual ever falls from round to round.
func chunkingRises(ctx context.Context) float64 {
	p := cloud("rbf", 3)
	r := lessons.Must(stepwise.Chunking(ctx, p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Start: 6}))
	for i := 1; i < r.Len(); i++ {
		if r.At(i).Dual < r.At(i-1).Dual-1e-9 {
			return 0
		}
	}
	return 2
}

// road is one procedure on a problem: its primal objective by the number of updates of single
// multipliers, or of w.
type road struct {
	name      string
	work, cum []float64 // updates, primal objective
	status    trace.Status
}

// travel runs all four procedures.
func travel(ctx context.Context, p problem) []road {
	const steps = 300
	add := func(name string, n int, status trace.Status, at func(i int) (work int, primal float64)) road {
		r := road{name: name, status: status}
		total := 0
		for i := range n {
			work, primal := at(i)
			total += work
			r.work, r.cum = append(r.work, float64(total)), append(r.cum, primal)
		}
		return r
	}
	one := func(i int) int { return min(i, 1) }
	sub := lessons.Must(stepwise.SubgradientDescent(ctx, p.Matrix(), p.Y, stepwise.SubgradientSettings{C: p.c, Batch: true, MaxSteps: steps}))
	naive := ascend(ctx, p, steps)
	chunks := lessons.Must(stepwise.Chunking(ctx, p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Tol: 1e-6}))
	smo := lessons.Must(stepwise.SMO(ctx, p.gram(), p.Y, stepwise.SMOSettings{C: p.c, Selection: stepwise.SecondOrder, Tol: 1e-6, MaxSteps: steps}))
	return []road{
		add("sub-gradient, 1/t", sub.Len(), sub.Status(), func(i int) (int, float64) { return one(i), sub.At(i).Best }),
		add("naive ascent", naive.Len(), naive.Status(), func(i int) (int, float64) { return one(i), naive.At(i).Primal }),
		add("chunking", chunks.Len(), chunks.Status(), func(i int) (int, float64) { return chunks.At(i).Pairs, chunks.At(i).Primal }),
		add("SMO", smo.Len(), smo.Status(), func(i int) (int, float64) { return one(i), smo.At(i).Primal }),
	}
}

// gramBytes returns the size of the Gram matrix of n points.
func gramBytes(n float64) float64 { return 8 * n * n }

func showSummary(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	p := newProblem(linearToy.Of(in), "linear", c.Of(in))
	best := p.optimum(ctx)
	roads := travel(ctx, p)
	t := lessons.Table{Caption: "The four on these points, linear kernel; the last column is the primal objective at the end.", After: true, Head: []string{"procedure", "works on", "updates", "ended as", "above the minimum"}}
	on := []string{`$\mathbf w$, $b$`, `one $\alpha$`, "a working set", `two $\alpha$`}
	const last, every = 120, 10 // updates shown, and updates per step of the replay
	steps := last/every + 1
	step := min(in.Step, steps-1)
	chart := figure.Chart{X: figure.Axis{Name: "updates", Min: 0, Max: last}, Y: figure.Axis{Name: "J − minimum", Log: true, Min: 1e-6, Max: 100}}
	for i, r := range roads {
		c := figure.Curve{Name: r.name, X: r.work}
		c.Y = lists.Map(r.cum, func(v float64) float64 { return max(v-best.Primal, 1e-6) })
		chart.Curves = append(chart.Curves, c)
		end := len(r.cum) - 1
		t.Rows = append(t.Rows, []string{r.name, on[i], strconv.Itoa(int(r.work[end])), string(r.status), lessons.Short(max(0, r.cum[end]-best.Primal))})
	}
	grown := grow(ctx)
	g := lessons.Table{Caption: "The lab's own solver on moons of growing number (RBF, $C = 1$).", Head: []string{"$N$", "support vectors", "steps", `steps $\times N$`, "Gram matrix, MB"}}
	work := figure.Curve{Name: "steps × N of the solver", Marks: true}
	square, cube := figure.Curve{Name: "N²"}, figure.Curve{Name: "N³"}
	for _, r := range grown {
		n, w := float64(r.n), float64(r.steps*r.n)
		g.Rows = append(g.Rows, []string{strconv.Itoa(r.n), strconv.Itoa(r.vectors), strconv.Itoa(r.steps), strconv.Itoa(r.steps * r.n), lessons.Short(gramBytes(n) / 1e6)})
		scale := n / float64(grown[0].n)
		start := float64(grown[0].steps * grown[0].n)
		work.X, work.Y = append(work.X, n), append(work.Y, w)
		square.X, square.Y = append(square.X, n), append(square.Y, start*scale*scale)
		cube.X, cube.Y = append(cube.X, n), append(cube.Y, start*scale*scale*scale)
	}
	return &lessons.Exhibit{
		Lab:   p.open(),
		Steps: steps, Step: step,
		Figures: []lessons.Figure{
			{
				Name: "roads", Grows: true, Caption: "A race down to the minimum: who arrives, who creeps, who stays away? The axis is logarithmic. ~Run it.~",
				Asks: "A race down to the minimum. ~Run it:~ which runner is which procedure?", Draw: func(l lessons.Look) (*figure.Picture, error) {
					c := chart
					c.Format, c.Here, c.SoFar = l.Format(2), new(float64(step*every)), !l.Paper
					if l.Asking { // without their names
						c.Curves = slices.Clone(chart.Curves)
						for i, n := range []int{3, 1, 4, 2} {
							c.Curves[i].Name = "runner " + strconv.Itoa(n)
						}
					}
					return c.Picture()
				},
			},
			{Name: "growth", Wide: true, Caption: "Work of the lab's solver on growing data, both axes logarithmic, beside $N^2$ and $N^3$ from the same start. On such easy data the steps themselves hardly grow.", Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "points N", Log: true}, Y: figure.Axis{Name: "steps × N", Log: true}, Curves: []figure.Curve{work, square, cube},
			})},
		},
		Numbers: []lessons.Number{{Label: "updates so far", Value: strconv.Itoa(step * every), Help: "of " + strconv.Itoa(last)}},
		Tables:  []lessons.Table{t, g},
	}
}

// size holds the number of support vectors and steps of the lab's solver for n points.
type size struct{ n, vectors, steps int }

// grow runs the lab's solver on increasing numbers of moons.
func grow(ctx context.Context) (sizes []size) {
	for _, n := range []int{100, 200, 400, 800, 1600} {
		d := lessons.Must(dataset.Generate("moons", n, 0.25, 1))
		y, _, _, err := d.Binary("1")
		lessons.Check(err)
		r := lessons.Must(svm.Train(ctx, kernel.NewGram(kernel.RBF(1), d.X), y, svm.Settings{C: 1}))
		sizes = append(sizes, size{n, r.SupportVectors, r.Iterations})
	}
	return sizes
}

// astray finds the procedure that ends away from the optimum.
func astray(ctx context.Context) float64 {
	p := overlapping(1)
	best := p.optimum(ctx)
	roads := travel(ctx, p)
	// Among the converged ones, the one that is not at the optimum.
	for i, r := range roads {
		if r.status == trace.Converged && r.cum[len(r.cum)-1] > best.Primal*(1+1e-3) {
			return float64(i)
		}
	}
	return -1
}
