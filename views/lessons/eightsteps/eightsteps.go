// Package eightsteps is the lesson on the conformal MCM in eight steps.
package eightsteps

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
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md derivations.md
var files embed.FS

// The controls, shared by all screens so that values carry over; those irrelevant to a screen are
// folded.
var (
	data         = lessons.DataControl{Default: "moons"}
	gamma        = lessons.NumberControl{Name: "gamma", Label: "kernel width", Symbol: "γ", Default: "0.5", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true}
	price        = lessons.NumberControl{Name: "C", Label: "price of slack", Symbol: "C", Default: "1", Min: 0.01, Max: 100, Low: 0.01, High: 100, Log: true}
	rankTol      = lessons.NumberControl{Name: "rank_tol", Label: "rank cut", Default: "0.01", Min: 1e-6, Max: 0.3, Low: 1e-6, High: 0.3, Log: true}
	coreGamma    = lessons.NumberControl{Name: "core_gamma", Label: "core width", Symbol: "γ_c", Default: "0.5", Min: 0.01, Max: 10, Low: 0.01, High: 10, Log: true}
	testFraction = lessons.NumberControl{Name: "test_fraction", Label: "held-out share", Default: "0.3", Min: 0, Max: 0.8, Low: 0, High: 0.8}
	seed         = lessons.IntegerControl{Name: "seed", Label: "split", Default: "1", Min: 1, Max: 50, Low: 1, High: 50}

	controls = about("")
)

// about returns the controls, all folded except for the named ones.
func about(names ...string) []lessons.Control {
	all := []lessons.Control{data}
	for _, c := range []lessons.NumberControl{gamma, price, rankTol, coreGamma, testFraction} {
		c.Folded = !slices.Contains(names, c.Name)
		all = append(all, c)
	}
	last := seed
	last.Folded = !slices.Contains(names, last.Name)
	return append(all, last)
}

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug:  "eight-steps",
		Task:  "data=checkerboard",
		Carry: true,
		Screens: []lessons.Screen{
			{
				Slug:    "standardise",
				Demo:    lessons.NewDemo(showStandardise, about("test_fraction", "seed")...),
				Answers: map[string]lessons.Answer{"unit": tenfold},
			},
			{
				Slug:    "first",
				Demo:    lessons.NewDemo(showFirst, about("gamma", "C", "rank_tol")...),
				Answers: map[string]lessons.Answer{"narrow": narrow},
			},
			{Slug: "scatter", Demo: lessons.NewDemo(showScatter, about("gamma")...), Answers: map[string]lessons.Answer{"sign": signed}},
			{
				Slug: "eigenproblem",
				Demo: lessons.NewDemo(showEigen, about("gamma", "core_gamma")...),
				Answers: map[string]lessons.Answer{
					"ridge": func(ctx context.Context) float64 {
						t := moons(ctx, nil)
						return []float64{2, 0, 1}[1+lessons.Sign(*t.report.JAfter-*t.report.Eigenvalue)]
					},
				},
			},
			{Slug: "factor", Demo: lessons.NewDemo(showFactor, about("gamma", "core_gamma")...), Answers: map[string]lessons.Answer{"few": few}},
			{
				Slug:    "kernel",
				Demo:    lessons.NewDemo(showKernel, about("gamma", "core_gamma")...),
				Answers: map[string]lessons.Answer{"between": between},
			},
			{
				Slug:    "second",
				Demo:    lessons.NewDemo(showSecond, about("gamma", "C", "rank_tol", "core_gamma")...),
				Answers: map[string]lessons.Answer{"double": double},
			},
			{
				Slug:    "test",
				Demo:    lessons.NewDemo(showTest, about("gamma", "C", "test_fraction", "seed")...),
				Answers: map[string]lessons.Answer{"ten": ten},
			},
		},
	})
}

// settings returns the chosen settings as pairs of name and value.
func settings(in lessons.Input) []string {
	return []string{
		"learner", "mcm", "conformal", "eigen", "gamma", gamma.Text(in), "C", price.Text(in), "rank_tol", rankTol.Text(in),
		"core_gamma", coreGamma.Text(in), "test_fraction", testFraction.Text(in), "seed", seed.Text(in),
	}
}

// training is the data set of a screen with both machines.
type training struct {
	data        *dataset.Data
	spec        ml.Spec
	y           []float64 // labels ±1 of all rows
	pos, neg    string
	train, test []int
	scaler      *dataset.Scaler
	p           *lessons.Reshaping // the standardised training rows with the basic kernel
	report      ml.Report          // of the second machine
	before      *ml.Model          // the first machine
	after       *ml.Model          // the second one, with its map
}

// prepare performs step 1 with the settings of a screen: it splits, and standardises by the mean
// and deviation of the training rows.
func prepare(d *dataset.Data, in lessons.Input) *training {
	t := &training{data: d, spec: lessons.NewSpec(append(settings(in), "standardize", "true")...)}
	t.spec.Positive = lessons.LastClass(d)
	var err error
	t.y, t.pos, t.neg, err = d.Binary(t.spec.Positive)
	lessons.Check(err)
	t.train, t.test = dataset.Split(t.y, t.spec.TestFraction, t.spec.Seed)
	x := dataset.PickRows(d.X, t.train)
	y := lists.Map(t.train, func(row int) float64 { return t.y[row] })
	t.scaler = dataset.FitScaler(x)
	t.p = lessons.NewReshaping(d, kernel.RBF(t.spec.Values.Number("gamma")), t.scaler.Apply(x), y)
	t.p.Scaler, t.p.Rows, t.p.Positive, t.p.Negative = t.scaler, t.train, t.pos, t.neg
	t.p.Settings = mcm.Settings{C: t.spec.Values.Number("C"), RankTol: t.spec.Values.Number("rank_tol")}
	return t
}

// moons trains both machines on the moons with the initial settings, as modified by change.
func moons(ctx context.Context, change map[string]string) *training {
	d := lessons.LoadData("moons")
	in, wrong := (&lessons.Demo{Controls: controls}).NewInput(func(name string) string { return change[name] }, nil)
	if len(wrong) > 0 {
		lessons.Check(wrong)
	}
	t := prepare(d, in)
	t.fit(ctx)
	return t
}

// fit trains both machines, as the lab does.
func (t *training) fit(ctx context.Context) {
	res := lessons.Train(ctx, t.data, t.spec)
	t.report, t.before, t.after = res.Report, res.Before, res.Model
}

// best returns the optimal factor for the cores of the second machine.
func (t *training) best(ctx context.Context) (*conformal.Map, conformal.Stats) {
	return t.p.Best(ctx, t.after.Machines[0].Map.Cores, t.after.Machines[0].Map.Gamma, t.spec.Values.Number("core_ridge"))
}

// scatter returns B0 and W0.
func (t *training) scatter(ctx context.Context) (b, w *mat.SymDense) {
	b, w, err := conformal.Scatter(ctx, t.p.Gram, t.p.Y, nil)
	lessons.Check(err)
	return b, w
}

// picture shows the boundary of one of the machines.
func (t *training) picture(name, caption string, m *ml.Model) lessons.Figure {
	return lessons.Figure{Name: name, Caption: caption, Draw: func(l lessons.Look) (*figure.Picture, error) {
		sc := lessons.ReshapedScene(m, t.data, t.spec, l)
		sc.Cores, sc.Waits = false, l.Asking
		return figure.Boundary(l.Context(), sc)
	}}
}

// start performs step 1 for a screen and begins its exhibit.
func start(ctx context.Context, in lessons.Input) (*training, *lessons.Exhibit) {
	_, d := data.Of(ctx, in)
	d, notes := lessons.Few(d)
	t := prepare(d, in)
	return t, &lessons.Exhibit{Notes: slices.Clone(notes), Lab: lessons.LabQuery(data.Text(in), append(settings(in), "positive", t.spec.Positive)...)}
}

// trained is start with both machines.
func trained(ctx context.Context, in lessons.Input) (*training, *lessons.Exhibit) {
	t, e := start(ctx, in)
	t.fit(ctx)
	return t, e
}

// moves is the number of steps that standardise the data: the first half shifts, the second half
// scales.
const moves = 6

// halves returns the completed fractions of the shift and the scaling.
func halves(step int) (shift, scale float64) {
	done := 2 * float64(step) / moves
	return min(1, done), max(0, done-1)
}

// moved draws the rows over two columns after some moves; held-out ones are hollow. One frame
// covers the shift. While the rows are scaled it follows them, since one unit may be a hundred
// times the other.
func (t *training) moved(step int, columns []int) lessons.Figure {
	held := map[int]bool{}
	for _, i := range t.test {
		held[i] = true
	}
	names := lessons.Named([]string{t.neg, t.pos})
	shift, scale := halves(step)
	var limits figure.Limits
	place := func(i int, shift, scale float64) (at [2]float64) {
		for k, c := range columns {
			at[k] = (t.data.X.At(i, c) - shift*t.scaler.Mean[c]) / (1 - scale + scale*t.scaler.Scale[c])
		}
		return at
	}
	var marks []figure.Mark
	first := math.Ceil(scale) // 0 while the rows are shifted
	for i, y := range t.y {
		for _, at := range [][2]float64{place(i, first, scale), place(i, 1, scale), {-2, -2}, {2, 2}} {
			limits = figure.Limits{XMin: min(limits.XMin, 1.1*at[0]), XMax: max(limits.XMax, 1.1*at[0]), YMin: min(limits.YMin, 1.1*at[1]), YMax: max(limits.YMax, 1.1*at[1])}
		}
		label := lists.Either(held[i], fmt.Sprintf("held out (%d)", len(t.test)), names[lessons.Class(y)])
		marks = append(marks, figure.Dot{At: place(i, shift, scale), Class: lessons.Class(y), Hollow: held[i], Name: label})
	}
	marks = append(marks, figure.Line{A: [2]float64{1, 0}, Pen: figure.Pen{Color: figure.Muted, Thin: true}}, figure.Line{A: [2]float64{0, 1}, Pen: figure.Pen{Color: figure.Muted, Thin: true}},
		figure.Circle{Radius: 1, Pen: figure.Pen{Color: figure.Magenta, Dash: figure.Dashed}, Name: lists.Either(step < moves, "radius 1", "one standard deviation")})
	return lessons.Figure{Name: "moved", Caption: "The mean of the training rows moves to the origin, then each column is divided by its standard deviation. Hollow points are held out. ~Step on.~", Draw: func(l lessons.Look) (*figure.Picture, error) {
		p := figure.Plane{Format: l.Format(2), X: figure.Below(t.data.Features[columns[0]]), Stretched: true, Limits: limits, Marks: marks}
		if len(columns) > 1 {
			p.Y = figure.Below(t.data.Features[columns[1]])
		}
		return p.Picture()
	}}
}

func showStandardise(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := start(ctx, in)
	columns := lessons.TellingColumns(t.data, t.spec.Positive)
	e.Steps, e.Step = moves+1, min(in.Step, moves)
	e.Figures = []lessons.Figure{t.moved(e.Step, columns)}
	shift, scale := halves(e.Step)
	mean, deviation := t.scaler.Mean[columns[0]], t.scaler.Scale[columns[0]]
	unit := 1 - scale + scale*deviation
	e.Numbers = []lessons.Number{
		{Label: "Mean and deviation, first axis", Value: lessons.Short(lessons.Flush((1-shift)*mean/unit, 1e-12)) + ", " + lessons.Short(deviation/unit)},
		{Label: "rows to train on", Value: strconv.Itoa(len(t.train))},
		{Label: "rows held out", Value: strconv.Itoa(len(t.test)), Help: "looked at in step 8 only"},
		{Label: "features", Value: strconv.Itoa(len(t.data.Features))},
	}
	table := lessons.Table{Caption: "Training rows: mean and deviation of every feature", Head: []string{"feature", "mean", "deviation", "as a sample", "mean after", "deviation after"}}
	z := t.p.X
	m := float64(len(t.train))
	for j, name := range t.data.Features {
		if j == 12 {
			e.Notes = append(e.Notes, fmt.Sprintf("The table shows the first %d of %d features.", j, len(t.data.Features)))
			break
		}
		mean, after := stat.PopMeanStdDev(mat.Col(nil, j, z), nil)
		sd, note := views.Short(t.scaler.Scale[j]), "–"
		if m > 1 {
			note = views.Short(t.scaler.Scale[j] * math.Sqrt(m/(m-1)))
		}
		if after == 0 {
			sd, note = "0, divisor 1", "–"
			e.Notes = append(e.Notes, lessons.Literal(name)+" is the same in every training row: its divisor is 1, and it becomes 0.")
		}
		if math.Abs(mean) < 1e-12 {
			mean = 0
		}
		table.Rows = append(table.Rows, []string{lessons.Literal(figure.Below(name)), views.Short(t.scaler.Mean[j]), sd, note, views.Short(mean), views.Short(after)})
	}
	e.Tables = []lessons.Table{table}
	return e
}

func showFirst(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := start(ctx, in)
	s := t.spec
	s.Conformal = "none"
	res := lessons.Train(ctx, t.data, s)
	r := res.Report
	boundary := t.picture("boundary", "The first MCM. Rings: support vectors, which become the cores. Hollow points are held out.", res.Model)
	boundary.Asks = "The first MCM. Hollow points are held out. How many of the others are support vectors, and become the cores?"
	e.Figures = []lessons.Figure{
		boundary,
		{Name: "lambda", After: true, Caption: `$\lvert\lambda_j\rvert$ of the training rows, largest first, on a logarithmic scale. Rows without a bar have $\lambda_j = 0$.`, Draw: func(l lessons.Look) (*figure.Picture, error) {
			b := figure.Bars{Format: l.Format(1), X: "training row, sorted", Y: "|λ| (log scale)", Values: make([]float64, len(t.train)), Classes: make([]int, len(t.train)), Sorted: true, Log: true, ClassNames: lessons.Named([]string{t.neg, t.pos})}
			place := map[int]int{}
			for i, row := range t.train {
				place[row] = i
				b.Classes[i] = lessons.Class(t.p.Y[i])
			}
			for k, row := range res.Model.Supports.Rows {
				b.Values[place[row]] = math.Abs(res.Model.Machines[0].Coef[k])
			}
			return b.Picture()
		}},
	}
	e.Numbers = []lessons.Number{
		{Label: "support vectors", Value: fmt.Sprintf("%d of %d", r.SupportVectors, r.TrainN), Help: `$\lambda_j \ne 0$`, After: true},
		{Label: "rank of K at the cut", Value: strconv.Itoa(*r.Rank), Help: "an optimal vertex uses at most about so many", After: true},
		{Label: "h", Value: views.Short(*r.H), Help: "largest functional margin, at least 1"},
		{Label: "sum of slacks", Value: views.Short(*r.SlackSum), Help: `$\sum_i q_i$`},
		{Label: "accuracy, training", Value: views.Short(*r.TrainAccuracy)},
		{Label: "relative gap", Value: lessons.Brief(*r.Gap), Help: "to the dual bound: the certificate of the optimum"},
	}
	if *r.SlackSum < 1e-9 && *r.H < 1+1e-6 {
		e.Notes = append(e.Notes, `$h = 1$ and no slack: every training point has $y f = 1$ exactly, and no other $C$ would change it. Raise the rank cut or widen the kernel.`)
	}
	return e
}

// matrices holds the lines of step 3, one per matrix.
var matrices = lessons.Lines(files, "matrices")

func showScatter(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := start(ctx, in)
	step := min(in.Step, len(matrices())-1)
	b, w := t.scatter(ctx)
	k := theory.Gram(t.p.Gram)
	blocks := mat.NewSymDense(len(t.p.Y), nil)
	blocks.CopySym(k)
	blocks.ScaleSym(1/float64(len(t.p.Y)), blocks)
	blocks.AddSym(blocks, b) // B0 = blocks - K/M
	order := lessons.ClassOrder(t.p.Y)
	names := []string{"K₀", "blocks", "B₀", "W₀"}
	captions := []string{
		"Every pair of training rows, sorted by class for the eye only.",
		"Only pairs of one class are left.",
		`$\mathbf B_0$: one sign within the classes, the other between them.`,
		`$\mathbf W_0$: the scale of colours leaves out the diagonal, which is far larger.`,
	}
	shown := []*mat.SymDense{k, blocks, b, w}[step]
	scale := 0.0
	if step == 3 {
		for i := range t.p.Y {
			for j := range i {
				scale = math.Max(scale, math.Abs(shown.At(i, j)))
			}
		}
	}
	e.Steps, e.Step, e.Body = len(matrices()), step, lessons.Derivation(step, matrices()...)
	e.Figures = []lessons.Figure{lessons.ClassMatrix("matrix", captions[step], names[step], shown, t.p.Y, order, scale)}
	between, scatter := mat.Sum(b), mat.Sum(w)
	e.Numbers = []lessons.Number{
		{Label: `$\mathbf 1^\top\mathbf B_0\mathbf 1$`, Value: views.Short(between), Help: "M times the scatter between the classes"},
		{Label: `$\mathbf 1^\top\mathbf W_0\mathbf 1$`, Value: views.Short(scatter), Help: "M times the scatter within"},
		{Label: "J before", Value: views.Short(between / scatter), Help: "the quotient: the basic kernel as it is"},
	}
	return e
}

func showEigen(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := trained(ctx, in)
	best, stats := t.best(ctx)
	columns := 1 + len(best.Alpha)
	const last = 8 // step of the replay, from a constant c to the optimum
	if t.uphill(ctx, best, 1.0/last) {
		e.Notes = append(e.Notes, "The replay runs to $-c$, by which $J$ climbs faster at first. Both give the same kernel.")
	}
	e.Steps, e.Step = last+1, min(in.Step, last)
	var steps, js []float64
	for k := range last + 1 {
		j := t.p.J(ctx, onTheWay(best, float64(k)/last).Factors(t.p.X))
		steps, js = append(steps, float64(k)), append(js, j)
	}
	model := t.p.Machine(ctx, onTheWay(best, float64(e.Step)/last))
	model.Machines[0].CoreRows = t.after.Machines[0].CoreRows
	climb := lessons.Figure{Draw: func(l lessons.Look) (*figure.Picture, error) {
		return figure.Chart{Format: l.Format(0), X: figure.Axis{Name: "step", Max: last}, Y: figure.Axis{Name: "J", Max: 1.1 * slices.Max(js)}, Curves: []figure.Curve{{X: steps, Y: js, Marks: true}}, Here: new(float64(e.Step)), SoFar: !l.Paper}.Picture()
	}}
	e.Figures = []lessons.Figure{
		lessons.FactorFigure("breath", "c(x) on its way from 1 everywhere to the best shape over the cores, with J at each step. ~Run it.~", model, t.data, t.spec, nil).Beside(0.64, true, climb),
		{Name: "spectrum", Caption: "All eigenvalues g, largest first, on a logarithmic scale. Only the first is used. Look how far it stands above the second.", Draw: lessons.Draws(0, figure.Bars{
			X: "eigenvalue", Y: "g (log scale)", Values: stats.Spectrum, Log: true,
		})},
	}
	e.Numbers = []lessons.Number{
		{Label: "J of the factor shown", Value: views.Short(js[e.Step]), After: e.Step == last},
		{Label: "cores and constant", Value: strconv.Itoa(columns), Help: `columns of $\mathbf K_1$`},
		{Label: `rank of $\mathbf K_1$`, Value: strconv.Itoa(len(stats.Spectrum)), Help: "rows of the problem that is solved"},
		{Label: "largest g", Value: views.Long(stats.Spectrum[0])},
		{Label: "J before", Value: views.Short(*t.report.JBefore)},
		{Label: "J after", Value: views.Long(*t.report.JAfter), Help: fmt.Sprintf(`g has $D = %s$ in its denominator, J has not`, lessons.TeX(t.spec.Values.Number("core_ridge"))), After: true},
	}
	if len(stats.Spectrum) > 1 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: "second g", Value: views.Short(stats.Spectrum[1])})
	}
	if len(stats.Spectrum) < columns {
		e.Notes = append(e.Notes, fmt.Sprintf(`%d columns, but rank %d: $\mathbf Q$ is singular, and only the orthonormal basis saves the day.`, columns, len(stats.Spectrum)))
	}
	return e
}

// uphill chooses the sign of m so that J is larger after a fraction share of the way from the
// constant 1, and so need not fall first. J and the kernel of m itself are independent of the
// sign.
func (t *training) uphill(ctx context.Context, m *conformal.Map, share float64) (turned bool) {
	var js [2]float64
	for k := range js {
		js[k] = t.p.J(ctx, onTheWay(m, share).Factors(t.p.X))
		if k == 0 || !(js[1] > js[0]) { // negate, and back
			m.Alpha0 *= -1
			floats.Scale(-1, m.Alpha)
		}
	}
	return js[1] > js[0]
}

// onTheWay interpolates between the constant 1 and m.
func onTheWay(m *conformal.Map, share float64) *conformal.Map {
	part := *m
	part.Alpha0 = 1 - share + share*m.Alpha0
	part.Alpha = floats.ScaleTo(make([]float64, len(m.Alpha)), share, m.Alpha)
	return &part
}

// ranked returns the indices of the cores in the map, by descending |lambda| in the first
// machine.
func (t *training) ranked() []int {
	size := map[int]float64{}
	for k, row := range t.before.Supports.Rows {
		size[row] = math.Abs(t.before.Machines[0].Coef[k])
	}
	order := dataset.Indices(len(t.after.Machines[0].CoreRows))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(size[t.after.Machines[0].CoreRows[b]], size[t.after.Machines[0].CoreRows[a]])
	})
	return order
}

// with returns the second machine with only the first n of the ranked cores, for which α is
// recomputed.
func (t *training) with(ctx context.Context, n int) *ml.Model {
	var cores [][]float64
	var rows []int
	for _, j := range t.ranked()[:n] {
		cores, rows = append(cores, t.after.Machines[0].Map.Cores[j]), append(rows, t.after.Machines[0].CoreRows[j])
	}
	best, _ := t.p.Best(ctx, cores, t.after.Machines[0].Map.Gamma, t.spec.Values.Number("core_ridge"))
	m := t.p.Machine(ctx, best)
	m.Machines[0].CoreRows = rows
	return m
}

func showFactor(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := trained(ctx, in)
	n := len(t.after.Machines[0].CoreRows)
	// The factor is built up core by core.
	e.Steps = n + 1
	e.Step = min(in.Step, n)
	used, model := e.Step, t.after
	if used < n {
		model = t.with(ctx, used)
	}
	c := model.Machines[0].Map.Factors(t.p.X)
	e.Figures = []lessons.Figure{lessons.FactorFigure("factor", "c(x) as a heat map, its cores, and the boundary of an MCM trained with it. Hollow points are held out.", model, t.data, t.spec, nil)}
	same := len(lists.Where(len(c), func(i int) bool { return c[i]*t.p.Y[i] > 0 }))
	share := math.Max(float64(same), float64(len(c)-same)) / float64(len(c))
	j := t.p.J(ctx, c)
	e.Numbers = []lessons.Number{
		{Label: "cores", Value: fmt.Sprintf("%d of %d", used, n), Help: `largest $\lvert\lambda_j\rvert$ first`},
		{Label: "c on the training rows", Value: views.Short(floats.Min(c)) + " to " + views.Short(floats.Max(c)), Help: `scaled: the mean of $\lvert c\rvert$ is 1`},
		{Label: "sign of c tells the class", Value: fmt.Sprintf("%.0f %%", 100*share), Help: "of the training rows, if one sign is read as one class"},
		{Label: "J", After: true, Value: views.Short(*t.report.JBefore) + " → " + views.Short(j), Help: fmt.Sprintf("with all cores %s", views.Short(*t.report.JAfter))},
	}
	if used == 0 {
		e.Notes = append(e.Notes, `No core: $c$ is constant, and the kernel is the basic one. ~Step on: core by core, the eigenproblem is solved anew each time.~`)
	} else {
		e.After = append(e.After, fmt.Sprintf("The best factor of %d of the cores reaches %.0f %% of the J of all of them.", used, 100*j / *t.report.JAfter))
	}
	if lo, hi := floats.Min(c), floats.Max(c); lo < 0 && hi > 0 {
		e.Notes = append(e.Notes, `$c$ takes both signs; the dotted line is $c = 0$. The kernel is still positive semidefinite.`)
	}
	return e
}

// images draws the training rows in the two leading directions of feature space, each multiplied
// by its factor, interpolated from 1.
func (t *training) images(k *mat.SymDense, c []float64, share float64) lessons.Figure {
	var eigen mat.EigenSym
	if !eigen.Factorize(k, true) {
		panic(lessons.Failf("eight steps: the kernel matrix has no eigenvalues; choose another width"))
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	n := len(c)
	far := 0.0
	at := make([][2]float64, n)
	for j := range min(2, n) {
		v, size := q.ColView(n-1-j), math.Sqrt(max(0, eigen.Values(nil)[n-1-j]))
		up := size * float64(1-2*lessons.Class(-mat.Sum(v)))
		for i := range n {
			at[i][j] = up * v.AtVec(i)
			far = max(far, math.Abs(at[i][j])*max(1, math.Abs(c[i])))
		}
	}
	return lessons.Figure{
		Name:    "images",
		Caption: "The images of the training rows, in the two directions of feature space in which they are longest. Each is multiplied by its factor. ~Run it.~",
		Asks:    "The images of the training rows in two directions of feature space, without their classes. Each is multiplied by its factor. ~Run it:~ which class goes where?",
		Draw: func(l lessons.Look) (*figure.Picture, error) {
			p := figure.Plane{Format: l.Format(1), X: "first direction", Y: "second direction", Limits: figure.Limits{XMin: -1.1 * far, XMax: 1.1 * far, YMin: -1.1 * far, YMax: 1.1 * far}}
			names := lessons.Named([]string{t.neg, t.pos})
			for i, v := range at {
				by := 1 - share + share*c[i]
				d := figure.Dot{At: [2]float64{by * v[0], by * v[1]}, Class: figure.Series(0)}
				if !l.Asking {
					d.Class, d.Name = lessons.Class(t.p.Y[i]), names[lessons.Class(t.p.Y[i])]
				}
				p.Marks = append(p.Marks, d)
			}
			p.Marks = append(p.Marks, figure.Dot{Class: -1, Label: "origin"})
			return p.Picture()
		},
	}
}

func showKernel(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := trained(ctx, in)
	c := t.after.Machines[0].Map.Factors(t.p.X)
	before, after := theory.Gram(t.p.Gram), theory.Gram(t.p.Scaled(c))
	order := lessons.ClassOrder(t.p.Y)
	const last = 8 // step of the replay, from the basic kernel to the new one
	e.Steps, e.Step = last+1, min(in.Step, last)
	images := t.images(before, c, float64(e.Step)/last)
	e.Figures = []lessons.Figure{
		images,
		lessons.ClassMatrix("after", `The new matrix $\mathbf D\mathbf K_0\mathbf D$. Compare the blocks between the classes with those of $\mathbf K_0$ in step 3.`, "new K", after, t.p.Y, order, 0).Afterwards(),
	}
	spectrum := lessons.Must(theory.Mercer(after))
	means := func(k *mat.SymDense) string {
		within, between, err := theory.MeanEntries(k, t.p.Y)
		lessons.Check(err)
		return views.Short(within) + ", " + views.Short(between)
	}
	meansBefore := means(before)
	e.Numbers = []lessons.Number{
		{Label: "Share of the factor applied", Value: lessons.Percent(float64(e.Step) / last)},
		{Label: "mean entry within, between, before", Value: meansBefore, Help: "off the diagonal"},
		{Label: "the same, after", Value: means(after), Help: "negative between: images that point apart", After: true},
		{Label: "smallest eigenvalue over largest", Value: lessons.Brief(spectrum.Values[len(spectrum.Values)-1] / spectrum.Values[0]), Help: "0 up to rounding: the kernel is valid"},
		{Label: "J", Value: views.Short(*t.report.JBefore) + " → " + views.Short(*t.report.JAfter)},
	}
	return e
}

func showSecond(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := trained(ctx, in)
	s := t.spec
	s.Conformal = "none"
	first := lessons.Train(ctx, t.data, s)
	e.Figures = []lessons.Figure{
		t.picture("after", "After: the MCM on the new kernel. Rings: its own support vectors.", t.after),
		t.picture("before", "Before: the first MCM, on the basic kernel.", t.before),
	}
	table := lessons.Table{Caption: "The two machines on the training rows", Head: []string{"", "before", "after"}}
	row := func(label string, value func(r *ml.Report) string) {
		table.Rows = append(table.Rows, []string{label, value(&first.Report), value(&t.report)})
	}
	row("support vectors", func(r *ml.Report) string { return strconv.Itoa(r.SupportVectors) })
	row("rank at the cut", func(r *ml.Report) string { return strconv.Itoa(*r.Rank) })
	row("h", func(r *ml.Report) string { return views.Short(*r.H) })
	row("sum of slacks", func(r *ml.Report) string { return views.Short(*r.SlackSum) })
	row("objective", func(r *ml.Report) string { return views.Short(*r.Objective) })
	row("accuracy, training", func(r *ml.Report) string { return views.Short(*r.TrainAccuracy) })
	e.Tables = []lessons.Table{table}
	return e
}

func showTest(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, e := trained(ctx, in)
	e.Figures = []lessons.Figure{
		t.picture("after", "After. Hollow points are held out; crosses mark what is wrong.", t.after),
		t.picture("before", "Before, on the same split.", t.before),
	}
	if len(t.test) == 0 {
		e.Notes = append(e.Notes, "Nothing is held out. Raise the held-out fraction: accuracy on training rows says nothing about new points.")
		return e
	}
	before, after := t.compare()
	table := lessons.Table{Caption: "Held-out rows by true class and prediction", Head: []string{"true class", "rows", "right before", "right after"}}
	var better, worse int
	for _, y := range []float64{-1, 1} {
		name := lessons.Named([]string{t.neg, t.pos})[lessons.Class(y)]
		var n, rb, ra int
		for k, row := range t.test {
			if t.y[row] != y {
				continue
			}
			n++
			if before[k] {
				rb++
			}
			if after[k] {
				ra++
			}
			switch {
			case after[k] && !before[k]:
				better++
			case before[k] && !after[k]:
				worse++
			}
		}
		table.Rows = append(table.Rows, []string{lessons.Literal(name), strconv.Itoa(n), strconv.Itoa(rb), strconv.Itoa(ra)})
	}
	chance := eval.SignTest(better, worse)
	often := lists.Either(chance > 0.995, "always", fmt.Sprintf("%.0f %% of the time", 100*chance))
	table.After = true
	e.Tables = []lessons.Table{table}
	e.Numbers = []lessons.Number{
		{Label: "accuracy, held out, before", Value: views.Short(share(before)), After: true},
		{Label: "accuracy, held out, after", Value: views.Short(share(after)), After: true},
		{Label: "rows only one machine gets right", Value: strconv.Itoa(better + worse), Help: fmt.Sprintf("%d only after, %d only before", better, worse), After: true},
		{Label: "a coin would be as uneven", Value: often, Help: "sign test on those rows", After: true},
	}
	switch {
	case better+worse == 0:
		e.After = append(e.After, "Both machines get the same held-out rows right: on this split there is nothing to choose between them.")
	case chance > 0.05:
		e.After = append(e.After, "A difference that small may well be chance. ~Move the split and watch it change.~")
	default:
		e.After = append(e.After, "On this split the difference is more than chance explains easily. It is one split all the same: try others.")
	}
	return e
}

// compare reports which held-out rows each of the two machines classifies correctly.
func (t *training) compare() (before, after []bool) {
	right := func(m *ml.Model) []bool {
		return lists.Map(t.test, func(row int) bool { return (m.Decision(t.data.X.RawRowView(row)) >= 0) == (t.y[row] > 0) })
	}
	return right(t.before), right(t.after)
}

// share returns the fraction of right answers.
func share(right []bool) float64 {
	return float64(lists.CountTrue(right...)) / float64(len(right))
}

// tenfold computes the effect of another unit for a column on the standardised data.
func tenfold(ctx context.Context) float64 {
	t := moons(ctx, nil)
	x := mat.DenseCopyOf(dataset.PickRows(t.data.X, t.train))
	for i := range t.train {
		x.Set(i, 0, 10*x.At(i, 0))
	}
	ratio := mat.Norm(dataset.FitScaler(x).Apply(x).ColView(0), 2) / mat.Norm(t.p.X.ColView(0), 2)
	return float64([]int{2, 0, 1}[1+lessons.Sign(math.Round(1e6*ratio)-1e6)])
}

// signed computes the numerator of J for a factor with one sign per class.
func signed(ctx context.Context) float64 {
	t := moons(ctx, nil)
	b, _ := t.scatter(ctx)
	y := mat.NewVecDense(len(t.p.Y), t.p.Y)
	return float64(1 + lessons.Sign(mat.Sum(b)-mat.Inner(y, b, y)))
}

// few counts the cores needed for four fifths of the J of all.
func few(ctx context.Context) float64 {
	t := moons(ctx, nil)
	n := len(t.after.Machines[0].CoreRows)
	for used := range n {
		if t.p.J(ctx, t.with(ctx, used).Machines[0].Map.Factors(t.p.X)) >= 0.8**t.report.JAfter {
			return min(max(math.Round(4*float64(used)/float64(n))-1, 0), 2)
		}
	}
	return 2
}

// between computes the effect on the entries between the classes.
func between(ctx context.Context) float64 {
	t := moons(ctx, nil)
	_, before, err := theory.MeanEntries(theory.Gram(t.p.Gram), t.p.Y)
	lessons.Check(err)
	_, after, err := theory.MeanEntries(theory.Gram(t.p.Scaled(t.after.Machines[0].Map.Factors(t.p.X))), t.p.Y)
	lessons.Check(err)
	return lessons.First(after >= before, after >= -before/10)
}

// narrow compares the support vectors of a wide and a narrow kernel.
func narrow(ctx context.Context) float64 {
	vectors := func(gamma string) float64 {
		return float64(len(moons(ctx, map[string]string{"gamma": gamma}).before.Machines[0].Coef))
	}
	return float64(1 + lessons.Sign(vectors("5")-vectors("0.5")))
}

// double trains the second machine with c and with 2c.
func double(ctx context.Context) float64 {
	t := moons(ctx, nil)
	twice := *t.after.Machines[0].Map
	twice.Alpha0 *= 2
	twice.Alpha = floats.ScaleTo(make([]float64, len(twice.Alpha)), 2, twice.Alpha)
	one, two := t.after.Decisions(t.data.X), t.p.Machine(ctx, &twice).Decisions(t.data.X)
	four := floats.ScaleTo(make([]float64, len(one)), 4, one)
	return lessons.First(floats.EqualApprox(four, two, 1e-6), floats.EqualApprox(one, two, 1e-6))
}

// ten counts on how many of ten splits the second machine is better.
func ten(ctx context.Context) float64 {
	wins := 0
	for k := range 10 {
		before, after := moons(ctx, map[string]string{"seed": strconv.Itoa(k + 1)}).compare()
		if share(after) > share(before) {
			wins++
		}
	}
	return lessons.First(wins == 10, wins > 5)
}
