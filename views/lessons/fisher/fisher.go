// Package fisher is the lesson on Fisher kernels.
package fisher

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mixture"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/ml/trace"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md
var files embed.FS

// The controls of the screens.
var (
	set = lessons.ChoiceControl{Name: "set", Label: "data", Default: "xor", Options: []param.Option{
		{Name: "xor", Label: "four clouds"}, {Name: "moons", Label: "two moons"}, {Name: "blobs", Label: "two clouds"},
	}}
	moonsFirst = lessons.ChoiceControl{Name: "set", Label: "data", Default: "moons", Options: set.Options}
	components = lessons.IntegerControl{Name: "components", Label: "components", Symbol: "K", Default: "4", Min: 1, Max: 5, Low: 1, High: 5}
	atLeastTwo = lessons.IntegerControl{Name: "components", Label: "components", Symbol: "K", Default: "4", Min: 2, Max: 5, Low: 2, High: 5}
	start      = lessons.IntegerControl{Name: "start", Label: "start", Default: "2", Min: 1, Max: starts, Low: 1, High: starts, Help: "Other first means."}
	probe      = lessons.NewPlace("px", "probe x1", "py", "probe x2", [2]float64{0.2, 0.9}, figure.Limits{XMin: -2.4, XMax: 2.2, YMin: -2.2, YMax: 2.2})
	floor      = lessons.NumberControl{Name: "floor", Label: "variance floor", Default: "0.0001", Min: 1e-10, Max: 0.01, Low: 1e-10, High: 0.01, Log: true, Help: "As a fraction of the variance of the column."}
	pulled     = lessons.IntegerControl{Name: "component", Label: "component", Symbol: "k", Default: "1", Min: 1, Max: 4, Low: 1, High: 4}
	unit       = lessons.NumberControl{Name: "unit", Label: "x1 is multiplied by", Default: "1", Min: 0.01, Max: 100, Low: 0.1, High: 10, Log: true, Help: "Another unit of measurement."}
	with       = lessons.SwitchControl{Name: "information", Label: "with the inverse Fisher matrix", Default: "true"}
	price      = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 1e-2, Max: 1e3, Low: 1e-2, High: 1e3, Log: true}
)

// starts is the number of starts of EM.
const starts = 20

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "fisher-kernel",
		Task: "data=dna&kernel=spectrum",
		Screens: []lessons.Screen{
			{Slug: "model", Demo: lessons.NewDemo(showModel, probe), Answers: map[string]lessons.Answer{"opposite": opposite, "half-way": halfWay}},
			{Slug: "em", Demo: lessons.NewDemo(showEM, set, atLeastTwo, start), Answers: map[string]lessons.Answer{"falls": falls, "one": single}},
			{Slug: "restarts", Demo: lessons.NewDemo(showRestarts, moonsFirst, components, start), Answers: map[string]lessons.Answer{"more": more}},
			{Slug: "collapse", Demo: lessons.NewDemo(showCollapse, floor), Answers: map[string]lessons.Answer{"gain": gain}},
			{
				Slug:    "scores",
				Demo:    lessons.NewDemo(showScores, start, pulled),
				Answers: map[string]lessons.Answer{"length": entries, "weights": weightMean},
			},
			{Slug: "kernel", Demo: lessons.NewDemo(showKernel, unit), Answers: map[string]lessons.Answer{"unit": unitChange}},
			{Slug: "svm", Demo: lessons.NewDemo(showSVM, set, components, with, price), Answers: map[string]lessons.Answer{"one": tooFew}},
		},
	})
}

// noises lists the spreads of the data sets.
var noises = map[string]float64{"xor": 0.35, "moons": 0.15, "blobs": 0.8}

// points returns the eighty points of a data set.
func points(set string) lessons.Toy { return lessons.Drawn(set, 80, noises[set], 1) }

// settings returns the EM settings of all screens.
func settings(k int) mixture.Settings {
	return mixture.Settings{Components: k, Floor: 1e-3, Seed: 1, MaxIter: 80, Tol: 1e-6}
}

// climb runs EM from a start, numbered from 1.
func climb(ctx context.Context, x *mat.Dense, k, start int) *trace.Replay[mixture.State] {
	s := settings(k)
	return lessons.Must(stepwise.EM(ctx, x, mixture.Begin(x, s, start-1), s))
}

func end(r *trace.Replay[mixture.State]) mixture.State { return r.At(r.Len() - 1) }

// ends returns the last states of all starts.
func ends(ctx context.Context, x *mat.Dense, k int) []mixture.State {
	return lists.Make(starts, func(i int) mixture.State { return end(climb(ctx, x, k, i+1)) })
}

// best returns the state with the largest likelihood, the first in a tie.
func best(all []mixture.State) int {
	return floats.MaxIdx(lists.Map(all, func(s mixture.State) float64 { return s.LogLikelihood }))
}

// claimed is the responsibility above which a point is assigned to a component.
const claimed = 0.9

// owned draws the points in the colour of the component with the largest responsibility.
func owned(t lessons.Toy, m *mixture.Mixture) (marks []figure.Mark) {
	r := theory.Responsibilities(m, t.Matrix())
	for i, p := range t.XY {
		share := r.RawRowView(i)
		k := floats.MaxIdx(share)
		marks = append(marks, figure.Dot{At: p, Class: figure.Series(k), Hollow: share[k] < claimed})
	}
	return marks
}

// ellipses draws every component at one and two standard deviations, with its number at the mean.
func ellipses(m *mixture.Mixture) []figure.Mark {
	return append(outlines(m, figure.Pen{}, 1, 2), names(m)...)
}

// outlines draws ellipses at the given standard deviations for each component, in its colour.
func outlines(m *mixture.Mixture, pen figure.Pen, at ...float64) (marks []figure.Mark) {
	for k, mean := range m.Means {
		for i, r := range at {
			pen.Color, pen.Thin = figure.ClassColor(figure.Series(k)), i > 0
			path := figure.Path{Plain: true, Pen: pen}
			for a := range 73 {
				sin, cos := math.Sincos(float64(a) * math.Pi / 36)
				path.Points = append(path.Points, [2]float64{mean[0] + r*cos*math.Sqrt(m.Variances[k][0]), mean[1] + r*sin*math.Sqrt(m.Variances[k][1])})
			}
			marks = append(marks, path)
		}
	}
	return marks
}

// names draws the numbers of the components at their means.
func names(m *mixture.Mixture) []figure.Mark {
	return lists.Make(len(m.Means), func(k int) figure.Mark {
		return figure.Dot{At: place(m.Means[k]), Class: -1, Label: strconv.Itoa(k + 1)}
	})
}

func place(v []float64) [2]float64 { return [2]float64{v[0], v[1]} }

func table(caption string, m *mixture.Mixture) lessons.Table {
	t := lessons.Table{Caption: caption, Head: []string{"component", `$\pi_k$`, `$\mu_{k1}$`, `$\mu_{k2}$`, `$\sigma_{k1}^2$`, `$\sigma_{k2}^2$`}}
	t.Rows = lists.Make(m.Len(), func(k int) []string {
		return append([]string{strconv.Itoa(k + 1)}, lists.Map(slices.Concat([]float64{m.Weights[k]}, m.Means[k], m.Variances[k]), tidy)...)
	})
	return t
}

// tidy formats a number with four decimals, or a small one with its leading digits.
func tidy(v float64) string {
	if rounded := math.Round(1e4*v) / 1e4; math.Abs(rounded) >= 0.01 {
		return views.Short(rounded)
	}
	return lessons.Short(v)
}

// four returns the four clouds with the fitted mixture of the screen on the model.
func four(ctx context.Context) (lessons.Toy, mixture.State) {
	t := points("xor")
	return t, end(climb(ctx, t.Matrix(), 4, 1))
}

func showModel(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, s := four(ctx)
	m, at := &s.Mixture, probe.Of(in)
	share := make([]float64, m.Len())
	logp := m.Density().At(share, at[:])
	u := tug(m, at)
	opinion := lessons.Table{Caption: "Where the probe comes from, by the model, and its tug at each mean", Head: []string{"component", `$\pi_k$`, `$p(k\mid\mathbf x)$`, "tug"}}
	var arrows []figure.Mark
	for k, r := range share {
		opinion.Rows = append(opinion.Rows, []string{strconv.Itoa(k + 1), lessons.Fixed(m.Weights[k]), lessons.Fixed(r), lessons.Fixed(lessons.Norm(u[k]))})
		if from := place(m.Means[k]); lessons.Norm(u[k]) > 0.1 {
			arrows = append(arrows, figure.Arrow{From: from, To: [2]float64{from[0] + 0.15*u[k][0], from[1] + 0.15*u[k][1]}, Name: "tug of the probe"})
		}
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Plane("tug", `Four ellipses, fitted to eighty points without labels. Dashed: where one round of fitting would move them, were the probe twenty points. ~Drag the probe.~`, t.Limits(), 1,
			owned(t, m), outlines(m, figure.Pen{}, 2), outlines(tugged(m, float64(len(t.Y)), at, share), figure.Pen{Dash: figure.Dashed}, 2), names(m), arrows, []figure.Mark{figure.Dot{At: at, Class: -1, Ring: true, Held: true, Label: "probe"}})},
		Handles: []lessons.Handle{probe.Handle("the probe", in)},
		Numbers: []lessons.Number{
			{Label: `$p(\mathbf x\mid\theta)$ at the probe`, Value: lessons.Short(math.Exp(logp))},
			{Label: `$\log p(\mathbf x\mid\theta)$`, Value: lessons.Short(logp)},
		},
		Tables: []lessons.Table{opinion},
	}
}

// tug returns the score of a point for every mean.
func tug(m *mixture.Mixture, at [2]float64) [][2]float64 {
	row := theory.Scores(m, mat.NewDense(1, 2, at[:])).RawRowView(0)
	return lists.Make(m.Len(), func(k int) [2]float64 { return place(row[m.Len()+2*k:]) })
}

// crowd is the weight of the probe, in points, when the ellipses follow it.
const crowd = 20

// tugged returns the mixture of n points after one more round of EM that includes the probe with
// weight crowd; share holds its responsibilities. EM has converged, so the mixture gives
// the sums over the n points.
func tugged(m *mixture.Mixture, n float64, at [2]float64, share []float64) *mixture.Mixture {
	next := &mixture.Mixture{}
	for k, w := range m.Weights {
		own, more := n*w, crowd*share[k]
		mean, variance := make([]float64, 2), make([]float64, 2)
		for j := range mean {
			mu := m.Means[k][j]
			mean[j] = (own*mu + more*at[j]) / (own + more)
			variance[j] = (own*(m.Variances[k][j]+mu*mu)+more*at[j]*at[j])/(own+more) - mean[j]*mean[j]
		}
		next.Weights = append(next.Weights, (own+more)/(n+crowd))
		next.Means, next.Variances = append(next.Means, mean), append(next.Variances, variance)
	}
	return next
}

// opposite compares the scores of two points on opposite sides of a mean.
func opposite(ctx context.Context) float64 {
	_, s := four(ctx)
	m, k := &s.Mixture, 3
	at, by := place(m.Means[k]), math.Sqrt(m.Variances[k][0])/2
	u, v := tug(m, [2]float64{at[0] - by, at[1]})[k], tug(m, [2]float64{at[0] + by, at[1]})[k]
	return float64(1 - lessons.Sign(u[0]*v[0]+u[1]*v[1]))
}

// halfWay computes a responsibility in a mixture of two components.
func halfWay(context.Context) float64 {
	m := mixture.Mixture{Weights: []float64{0.8, 0.2}, Means: [][]float64{{-1, 0}, {1, 0}}, Variances: [][]float64{{1, 1}, {1, 1}}}
	share := make([]float64, 2)
	m.Density().At(share, []float64{0, 0.7})
	return share[0]
}

func showEM(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := points(set.Of(in))
	r := climb(ctx, t.Matrix(), atLeastTwo.Of(in), start.Of(in))
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	note := "The start: means at points, variances those of all points together, equal weights."
	switch {
	case step == r.Len()-1 && r.Status() == trace.Converged:
		note = "The end: another step would raise $\\log L$ by less than one part in a million for each point."
	case step == r.Len()-1:
		note = fmt.Sprintf("After %d steps it still rises a little; the replay ends here.", step)
	case step > 0:
		note = fmt.Sprintf("Step %d: responsibilities of the mixture before, then averages with them.", step)
	}
	return &lessons.Exhibit{
		Steps: r.Len(), Step: step, Notes: []string{note},
		Figures: []lessons.Figure{
			lessons.Plane("mixture", `Every component at one and two deviations. A point has the colour of the component that is most responsible for it; hollow: by less than 90 %.`, t.Limits(), 0, owned(t, &s.Mixture), ellipses(&s.Mixture)),
			soFar(r, step),
		},
		Numbers: []lessons.Number{
			{Label: `$\log L(\theta)$`, Value: views.Short(s.LogLikelihood), Help: "of all eighty points"},
			{Label: "change in this step, by point", Value: lists.Either(step == 0, "none yet", views.Short(s.Rise))},
		},
		Tables: []lessons.Table{table("The mixture", &s.Mixture)},
		Lab:    t.Lab("kernel", "fisher", "components", atLeastTwo.Text(in)),
	}
}

// soFar plots the log-likelihood up to a step, in the frame of the whole replay.
func soFar(r *trace.Replay[mixture.State], step int) lessons.Figure {
	whole := lessons.StepCurve("", r, func(s mixture.State) float64 { return s.LogLikelihood })
	low, high := floats.Min(whole.Y), floats.Max(whole.Y)
	room := max(0.05*(high-low), 0.5)
	whole.Marks = true
	f := lessons.StepChart("likelihood", "The log-likelihood so far.", step, figure.Chart{
		X: figure.Axis{Name: "step", Min: -0.5, Max: float64(r.Len()) - 0.5}, Y: figure.Axis{Name: "log L", Min: low - room, Max: high + room}, Curves: []figure.Curve{whole},
	})
	f.Wide = true
	return f
}

// falls counts the steps, over all starts, that lower the log-likelihood.
func falls(ctx context.Context) float64 {
	t := points("xor")
	n := 0
	for i := range starts {
		r := climb(ctx, t.Matrix(), 4, i+1)
		for k := 1; k < r.Len(); k++ {
			if before := r.At(k - 1).LogLikelihood; r.At(k).LogLikelihood < before-1e-9*math.Abs(before) {
				n++
			}
		}
	}
	return float64(n)
}

// single returns the first step after which a single component no longer changes.
func single(ctx context.Context) float64 {
	r := climb(ctx, points("xor").Matrix(), 1, 1)
	for k := range r.Len() {
		if math.Abs(r.At(k).LogLikelihood-end(r).LogLikelihood) < 1e-9 {
			return float64(k)
		}
	}
	return 0
}

func showRestarts(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := points(moonsFirst.Of(in))
	all := ends(ctx, t.Matrix(), components.Of(in))
	mine, top := start.Of(in)-1, best(all)
	heights := lists.Map(all, func(s mixture.State) float64 { return s.LogLikelihood })
	low := floats.Min(heights)
	lost := lists.Map(heights, func(h float64) float64 { return heights[top] - h })
	below := make([]string, starts)
	below[mine] = "yours"
	reached := lists.Count(lost, func(v float64) bool { return v < 0.01 })
	of := func(name, caption string, s mixture.State) lessons.Figure {
		return lessons.Plane(name, caption, t.Limits(), 0, owned(t, &s.Mixture), ellipses(&s.Mixture))
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			of("mine", "Where EM ends from your start.", all[mine]),
			of("best", "The best end of all twenty.", all[top]),
			{Name: "ends", Wide: true, Caption: "By how much the log-likelihood of every start ends below the best.", Draw: lessons.Draws(1, figure.Bars{
				X: "start", Y: "below the best", Values: lost, Names: below,
			})},
		},
		Numbers: []lessons.Number{
			{Label: "your start ends at", Value: views.Short(heights[mine])},
			{Label: "the best", Value: views.Short(heights[top]), Help: fmt.Sprintf("start %d; %s within 0.01 of it", top+1, lessons.Count(reached, "start ends", "starts end"))},
			{Label: "the worst", Value: views.Short(low)},
		},
		Lab: t.Lab("kernel", "fisher", "components", components.Text(in), "starts", strconv.Itoa(starts)),
	}
}

// more compares four and five components on training and new points.
func more(ctx context.Context) float64 {
	t := points("xor")
	fresh := lessons.Drawn("xor", 1000, noises["xor"], lessons.FreshSeed)
	var trained, unseen [2]float64
	for i, k := range []int{4, 5} {
		all := ends(ctx, t.Matrix(), k)
		s := all[best(all)]
		trained[i] = s.LogLikelihood
		p, share := s.Mixture.Density(), make([]float64, s.Mixture.Len())
		for _, q := range fresh.XY {
			unseen[i] += p.At(share, q[:])
		}
	}
	learns := trained[1] > trained[0]
	return lessons.First(learns && unseen[1] > unseen[0], learns)
}

// collapse is EM from the mixture of the four clouds with a small fifth component at the point
// with the lowest density.
type collapse struct {
	lessons.Toy
	point  int
	replay *trace.Replay[mixture.State]
}

// collapsing runs the collapse with the given variance floor.
func collapsing(ctx context.Context, floor float64) *collapse {
	t, s := four(ctx)
	c := &collapse{Toy: t}
	p, share := s.Mixture.Density(), make([]float64, 4)
	lowest := math.Inf(1)
	for i, q := range t.XY {
		if v := p.At(share, q[:]); v < lowest {
			lowest, c.point = v, i
		}
	}
	const weight, variance = 0.02, 0.1
	at := t.XY[c.point]
	begin := mixture.Mixture{Weights: []float64{weight}, Means: [][]float64{at[:]}, Variances: [][]float64{{variance, variance}}}
	for k, w := range s.Mixture.Weights {
		begin.Weights = append(begin.Weights, (1-weight)*w)
		begin.Means, begin.Variances = append(begin.Means, s.Mixture.Means[k]), append(begin.Variances, s.Mixture.Variances[k])
	}
	how := settings(5)
	how.Floor, how.Tol = floor, 1e-9
	c.replay = lessons.Must(stepwise.EM(ctx, t.Matrix(), begin, how))
	return c
}

// along plots the density of a mixture on the line through the mean of its first component
// parallel to x1.
func (c *collapse) along(s mixture.State) lessons.Figure {
	p, share, limits, mean := s.Mixture.Density(), make([]float64, s.Mixture.Len()), c.Limits(), s.Mixture.Means[0]
	xs := floats.Span(make([]float64, 300), limits.XMin, limits.XMax)
	for _, at := range floats.Span(make([]float64, 61), -6, 6) { // the peak is narrow
		xs = append(xs, mean[0]+at*math.Sqrt(s.Mixture.Variances[0][0]))
	}
	slices.Sort(xs)
	curve := figure.Curve{X: xs}
	curve.Y = lists.Map(xs, func(x float64) float64 { return math.Exp(p.At(share, []float64{x, mean[1]})) })
	last := end(c.replay).Mixture
	top := math.Exp(last.Density().At(share, last.Means[0]))
	return lessons.Figure{Draw: lessons.Draws(0, figure.Chart{
		X: figure.Axis{Name: "x₁", Min: limits.XMin, Max: limits.XMax}, Y: figure.Axis{Name: "density", Max: 1.1 * top}, Curves: []figure.Curve{curve},
	})}
}

// floors returns the values of the control, largest first.
func floors() []float64 { return lessons.Logspace(1e-10, 1e-2, 9) }

func showCollapse(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	c := collapsing(ctx, floor.Of(in))
	r := c.replay
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	variances := s.Mixture.Variances[0]
	share := theory.Responsibilities(&s.Mixture, c.Matrix())
	other := floor.Text(in) != floor.Default // the question's setting
	sums := soFar(r, step)
	sums.After = other
	mixture := lessons.Figure{Name: "mixture", Caption: "Component 1 began as a circle about one point. Below: the density along the level of its mean. ~Step on.~", Draw: lessons.Draws(0, figure.Plane{
		X: "x₁", Y: "x₂", Stretched: true, Limits: c.Limits(), Marks: append(owned(c.Toy, &s.Mixture), ellipses(&s.Mixture)...),
	})}
	needle := mixture.Beside(0.62, true, c.along(s))
	if other {
		needle = needle.Instead(mixture, "Component 1 began as a circle about one point. With another floor, how high does the density rise at it? ~Step on.~")
	}
	e := &lessons.Exhibit{
		Steps: r.Len(), Step: step,
		Figures: []lessons.Figure{needle, sums},
		Numbers: []lessons.Number{
			{Label: `$\log L(\theta)$`, Value: views.Short(s.LogLikelihood), After: other},
			{Label: "variances of component 1", Value: views.Short(variances[0]) + " and " + views.Short(variances[1]), Help: lists.Either(slices.Contains(s.AtFloor, 0), "at the floor", "above the floor")},
			{Label: "its weight, in points", Value: views.Short(s.Mixture.Weights[0] * float64(len(c.Y))), Help: fmt.Sprintf("for its own point it is responsible to %s", lessons.Percent(share.At(c.point, 0)))},
		},
	}
	if step < r.Len()-1 {
		return e
	}
	at := lessons.Table{After: true, Caption: "The end at several floors", Head: []string{"floor", `$\log L$`, "more than the line before"}}
	curve := figure.Curve{Marks: true}
	before := math.NaN()
	for _, f := range slices.Backward(floors()) {
		now := end(collapsing(ctx, f).replay).LogLikelihood
		cells := []string{views.Short(f), views.Short(now), ""}
		if !math.IsNaN(before) {
			cells[2] = views.Short(now - before)
		}
		at.Rows, before = append(at.Rows, cells), now
		curve.X, curve.Y = append([]float64{f}, curve.X...), append([]float64{now}, curve.Y...)
	}
	e.Tables = []lessons.Table{at}
	e.Notes = []string{`The end: the component is on its point, and the floor holds it.`}
	e.Figures = append(e.Figures, lessons.Figure{Name: "floors", Wide: true, After: true, Caption: "The final log-likelihood against the floor: a straight line on a logarithmic axis, without an end to the left.", Draw: lessons.Draws(0, figure.Chart{
		X: figure.Axis{Name: "variance floor", Log: true}, Y: figure.Axis{Name: "final log L"}, Curves: []figure.Curve{curve}, Here: new(floor.Of(in)),
	})})
	return e
}

// gain compares the final likelihoods for two floors.
func gain(ctx context.Context) float64 {
	var at [2]float64
	for i, f := range []float64{1e-4, 1e-6} {
		at[i] = end(collapsing(ctx, f).replay).LogLikelihood
	}
	return at[1] - at[0]
}

func showScores(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := points("xor")
	x := t.Matrix()
	r := climb(ctx, x, 4, start.Of(in))
	step, k := min(in.Step, r.Len()-1), pulled.Of(in)-1
	s := r.At(step)
	pull := func(u *mat.Dense, i int) [2]float64 { return place(u.RawRowView(i)[4+2*k:]) }
	u := theory.Scores(&s.Mixture, x)
	mean := theory.ColumnMeans(u, false)
	toward := func(from, by [2]float64, scale float64) [2]float64 {
		return [2]float64{from[0] + scale*by[0], from[1] + scale*by[1]}
	}
	longest := slices.Max(lists.Make(len(t.XY), func(i int) float64 { return lessons.Norm(pull(u, i)) }))
	scale := 0.9 / longest
	var arrows []figure.Mark
	for i, p := range t.XY {
		if by := pull(u, i); scale*lessons.Norm(by) > 0.01 {
			arrows = append(arrows, figure.Arrow{From: p, To: toward(p, by, scale), Pen: figure.Pen{Color: figure.Muted}, Name: "pull of a point"})
		}
	}
	at := place(s.Mixture.Means[k])
	all := place(mean[4+2*k:])
	arrows = append(arrows, figure.Arrow{From: at, To: toward(at, all, 10*scale), Pen: figure.Pen{Color: figure.Magenta}, Name: "mean of all, tenfold"})
	gradient := lessons.Table{Caption: "The mean score of all points for every parameter: with free weights, and with weights that sum to 1", Head: []string{`$k$`, `$\pi_k$ free`, `$\pi_k$ held`, `$\mu_{k1}$`, `$\mu_{k2}$`, `$\sigma_{k1}^2$`, `$\sigma_{k2}^2$`}}
	for c := range 4 {
		scores := slices.Concat([]float64{mean[c], mean[c] - 1}, mean[4+2*c:][:2], mean[12+2*c:][:2])
		gradient.Rows = append(gradient.Rows, append([]string{strconv.Itoa(c + 1)}, lists.Map(scores, lessons.Fixed)...))
	}
	gradient.After = true
	gradient.Marked = []int{k}
	return &lessons.Exhibit{
		Steps: r.Len(), Step: step,
		Figures: []lessons.Figure{
			lessons.Plane("scores", fmt.Sprintf("The gradient of each point's log-likelihood in the mean of component %d. The longest arrow is always drawn equally long.", k+1), t.Limits(), 1, owned(t, &s.Mixture), outlines(&s.Mixture, figure.Pen{}, 1, 2)[2*k:2*k+2], arrows),
			soFar(r, step),
		},
		Numbers: []lessons.Number{
			{Label: "length of the sum of all arrows", Value: views.Short(math.Round(1e4*lessons.Norm(all)*float64(len(t.Y))) / 1e4), Help: `the gradient of $\log L$ in this mean`},
			{Label: "longest arrow", Value: tidy(longest), Help: "of a single point"},
		},
		Tables: []lessons.Table{gradient},
	}
}

// entries returns the length of a score for the four clouds.
func entries(ctx context.Context) float64 {
	_, s := four(ctx)
	return float64(s.Mixture.Density().Scores())
}

// weightMean returns the mean score of a weight after EM.
func weightMean(ctx context.Context) float64 {
	t, s := four(ctx)
	return theory.ColumnMeans(theory.Scores(&s.Mixture, t.Matrix()), false)[0]
}

// scored is the kernel of the scores of four components on the four clouds, with x1 in some unit.
type scored struct {
	lessons.Toy
	mixture *mixture.Mixture
	gram    *mat.SymDense
}

// score computes the kernel with or without the inverse Fisher matrix.
func score(ctx context.Context, unit float64, information bool) *scored {
	t := points("xor")
	for i := range t.XY {
		t.XY[i][0] *= unit
	}
	res := lessons.Fit(ctx, t.Data(), "kernel", "fisher", "components", "4", "information", strconv.FormatBool(information))
	k := res.Model.Kernel
	return &scored{t, &k.Fitted[0].Mixture, theory.Gram(kernel.NewGram(k, t.Matrix()))}
}

// change returns the difference of two matrices, relative to the largest entry of the first.
func change(a, b *mat.SymDense) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return max(mat.Max(&d), -mat.Min(&d)) / max(mat.Max(a), -mat.Min(a))
}

// self returns the mean of k(x, x).
func (s *scored) self() float64 { return mat.Trace(s.gram) / float64(len(s.Y)) }

// order sorts the points by class, then by component.
func (s *scored) order() []int {
	r := theory.Responsibilities(s.mixture, s.Matrix())
	order := lessons.ClassOrder(s.Y)
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(s.Y[i], s.Y[j]), cmp.Compare(floats.MaxIdx(r.RawRowView(i)), floats.MaxIdx(r.RawRowView(j))))
	})
	return order
}

// outdone counts the points with a larger similarity to another point than to themselves.
func (s *scored) outdone() (n int) {
	for i := range s.Y {
		for j := range s.Y {
			if s.gram.At(i, j) > s.gram.At(i, i)*(1+1e-9) {
				n++
				break
			}
		}
	}
	return n
}

func showKernel(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	var now, before [2]*scored
	for i, information := range []bool{false, true} {
		now[i] = score(ctx, unit.Of(in), information)
		before[i] = score(ctx, 1, information)
	}
	simple, full := now[0], now[1]
	squares := theory.ColumnMeans(theory.Scores(simple.mixture, simple.Matrix()), true)
	shares := lessons.Table{Caption: "What the parameters contribute to the kernel of a point with itself, on average", Head: []string{"parameters", "entries", "simple", `with $F^{-1}$`}}
	for _, p := range []struct {
		name     string
		from, to int
	}{{"weights", 0, 4}, {"means", 4, 12}, {"variances", 12, 20}} {
		of := squares[p.from:p.to]
		shares.Rows = append(shares.Rows, []string{p.name, strconv.Itoa(len(of)), lessons.Percent(floats.Sum(of) / floats.Sum(squares)), lessons.Percent(float64(len(of)) / float64(len(squares)))})
	}
	picture := func(name, caption string, s *scored) lessons.Figure {
		return lessons.ClassMatrix(name, caption, "k", s.gram, s.Y, s.order(), s.self())
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			picture("simple", `$\mathbf u^\top\mathbf u$ among the eighty points, sorted by class and within it by component. Full colour: the mean of $k(\mathbf x, \mathbf x)$ and beyond.`, simple),
			picture("full", `$\mathbf u^\top F^{-1}\mathbf u$ among the same, coloured in the same way.`, full),
		},
		Numbers: []lessons.Number{
			{Label: "change of the simple kernel", Value: lessons.Percent(change(before[0].gram, simple.gram)), Help: "by the unit: of the entry that changes most, as a share of the largest entry", After: true},
			{Label: `change with $F^{-1}$`, Value: lessons.Percent(change(before[1].gram, full.gram)), Help: "the same", After: true},
			{Label: `points with $k(\mathbf x, \mathbf z) > k(\mathbf x, \mathbf x)$`, Value: fmt.Sprintf("%d and %d", simple.outdone(), full.outdone()), Help: fmt.Sprintf("of %d, for some other point; simple and full", len(simple.Y))},
		},
		Tables: []lessons.Table{shares},
		Lab:    simple.Lab("kernel", "fisher", "components", "4", "information", "false"),
	}
	if unit.Of(in) != 1 { // the question's setting
		e.Figures[0] = e.Figures[0].Instead(lessons.Plane("simple", "", simple.Limits(), 2, simple.Dots(nil)), "The points with $x_1$ in its new unit. Which of the two kernels stays as it was?")
		e.Figures[1].After, e.Tables[0].After, e.Numbers[2].After = true, true, true
	}
	return e
}

// unitChange finds the kernel that is invariant to a change of unit.
func unitChange(ctx context.Context) float64 {
	var stays [2]bool
	for i, information := range []bool{false, true} {
		before := score(ctx, 1, information)
		stays[i] = change(before.gram, score(ctx, 10, information).gram) < 1e-6
	}
	return lessons.First(stays[0] && stays[1], stays[1], stays[0])
}

// machine is an SVM with its error on new points.
type machine struct {
	*lessons.Fitted
	wrong float64
}

// train trains on a data set and tests on 1000 new points.
func train(ctx context.Context, set string, pairs ...string) *machine {
	unseen := lessons.Drawn(set, 1000, noises[set], lessons.FreshSeed).Data()
	res := lessons.Fit(ctx, points(set).Data(), pairs...)
	return &machine{res, lessons.ErrorRate(res.Model, unseen)}
}

// fisherPairs returns the parameters of the SVM with the Fisher kernel.
func fisherPairs(components, information, c string) []string {
	return []string{"kernel", "fisher", "components", components, "information", information, "C", c}
}

func showSVM(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	pairs := fisherPairs(components.Text(in), strconv.FormatBool(with.Of(in)), price.Text(in))
	m := train(ctx, set.Of(in), pairs...)
	rbf := train(ctx, set.Of(in), "kernel", "rbf", "gamma", "1", "C", price.Text(in))
	t := points(set.Of(in))
	look := func(s *figure.Scene) { s.LegendRows = 3 }
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			m.Boundary("fisher", "The SVM with the Fisher kernel.", look),
			rbf.Boundary("rbf", `The SVM with the RBF kernel, $\gamma = 1$.`, look),
		},
		Numbers: []lessons.Number{
			{Label: "Fisher: wrong on 1000 fresh points", After: true, Value: lessons.Percent(m.wrong), Help: fmt.Sprintf("on the training points %s; %d support vectors", lessons.Percent(1-*m.Report.TrainAccuracy), m.Report.SupportVectors)},
			{Label: "RBF: wrong on 1000 fresh points", After: true, Value: lessons.Percent(rbf.wrong), Help: fmt.Sprintf("on the training points %s; %d support vectors", lessons.Percent(1-*rbf.Report.TrainAccuracy), rbf.Report.SupportVectors)},
		},
		Lab: t.Lab(pairs...),
	}
	if components.Of(in) == 1 { // the question's setting
		e.Figures[0] = e.Figures[0].Instead(lessons.Plane("fisher", "", t.Limits(), 2, t.Dots(nil)), "The points, for a mixture of one component. Where is the boundary?")
	}
	return e
}

// tooFew compares one component with four.
func tooFew(ctx context.Context) float64 {
	var wrong [2]float64
	for i, k := range []string{"1", "4"} {
		wrong[i] = train(ctx, "xor", fisherPairs(k, "true", "1")...).wrong
	}
	return lessons.First(wrong[0] < wrong[1]+0.02, wrong[0] < 0.4)
}
