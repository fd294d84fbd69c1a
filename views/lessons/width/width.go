// Package width is the lesson on the width of the RBF kernel.
package width

import (
	"context"
	"embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md
var files embed.FS

// The controls of the screens.
var (
	gamma      = lessons.NumberControl{Name: "gamma", Label: "width", Symbol: "γ", Default: "1", Min: 1e-4, Max: 1e4, Low: 1e-3, High: 1e3, Log: true, Help: "Large: narrow."}
	bubblesC   = lessons.NumberControl{Name: "C", Label: "C", Default: "1", Min: 1e-2, Max: 1e4, Low: 1e-2, High: 1e4, Log: true}
	curvesC    = lessons.NumberControl{Name: "C", Label: "C", Default: "10", Min: 1e-2, Max: 1e3, Low: 1e-2, High: 1e3, Log: true}
	curvesSeed = lessons.IntegerControl{Name: "seed", Label: "sample", Default: "1", Min: 1, Max: 50, Low: 1, High: 50, Help: "Another draw of the 100 training points."}
	choiceSeed = lessons.IntegerControl{Name: "seed", Label: "sample", Default: "1", Min: 1, Max: 50, Low: 1, High: 50, Help: "Another draw of the training points, and of the folds."}
	column     = lessons.IntegerControl{Name: "column", Label: "your cell, column", Default: "5", Min: 1, Max: 7, Low: 1, High: 7, Folded: true}
	row        = lessons.IntegerControl{Name: "row", Label: "your cell, row", Default: "2", Min: 1, Max: 5, Low: 1, High: 5, Folded: true}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "width",
		Task: "data=checkerboard",
		Screens: []lessons.Screen{
			{Slug: "reach", Demo: lessons.NewDemo(showReach, gamma), Answers: map[string]lessons.Answer{"s": lessons.Is(1 / (2 * 0.5 * 0.5))}},
			{Slug: "gram", Demo: lessons.NewDemo(showGram), Answers: map[string]lessons.Answer{"wide": largest}},
			{Slug: "bubbles", Demo: lessons.NewDemo(showBubbles, gamma, bubblesC), Answers: map[string]lessons.Answer{"vectors": vectors}},
			{
				Slug:    "curves",
				Demo:    lessons.NewDemo(showCurves, curvesC, curvesSeed),
				Answers: map[string]lessons.Answer{"training": training},
				Sketches: map[string]*lessons.Sketch{
					"fresh": {
						Of: "the error on new points", Over: "γ", X: []float64{0.001, 0.01, 0.03, 0.1, 1, 10, 30, 100, 300, 1000}, Height: 0.55,
						Truth: func(ctx context.Context) figure.Curve {
							gammas, _, fresh := errors(ctx, "10", 1)
							return figure.Curve{X: gammas, Y: fresh, Marks: true}
						},
						Draw: lessons.SketchChart(figure.Axis{Name: "γ", Log: true, Min: 1e-3, Max: 1e3}, figure.Axis{Name: "share of wrong predictions", Min: 0, Max: 0.55}, figure.Rule{Name: "best possible", At: noise}),
					},
				},
			},
			{Slug: "bias-variance", Demo: lessons.NewDemo(showResamples, gamma), Answers: map[string]lessons.Answer{"which": which}},
			{Slug: "choice", Demo: lessons.NewDemo(showChoice, choiceSeed, column, row), Answers: map[string]lessons.Answer{"flattered": flattered}},
		},
	})
}

// widths lists the widths of the curves, from narrow to wide in the replay, reversed on an axis.
var widths = []float64{1e3, 300, 100, 30, 10, 3, 1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3}

// points returns sixty points for the Gram matrix, sorted by class.
func points() (*dataset.Data, []int) {
	d := lessons.Must(dataset.Generate("moons", 60, 0.15, 1))
	order := dataset.Indices(len(d.Y))
	slices.SortStableFunc(order, func(a, b int) int { return d.Y[a] - d.Y[b] })
	d = d.Subset(order)
	return d, d.Y
}

func showReach(_ context.Context, in lessons.Input) *lessons.Exhibit {
	d, _ := points()
	gamma := gamma.Of(in)
	s := 1 / math.Sqrt(2*gamma)
	k := kernel.RBF(gamma)
	value := lessons.CurveOf(0, 4, 200, func(r float64) float64 { return k.Eval([]float64{0}, []float64{r}) })
	value.Name = "k(x, z)"
	var distances []float64
	close := 0
	for i := range len(d.Y) {
		for j := range i {
			dx, dy := d.X.At(i, 0)-d.X.At(j, 0), d.X.At(i, 1)-d.X.At(j, 1)
			r := math.Hypot(dx, dy)
			if distances = append(distances, r); r <= s {
				close++
			}
		}
	}
	slices.Sort(distances)
	shares := lists.Make(len(distances), func(i int) float64 { return float64(i+1) / float64(len(distances)) })
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{
			Name: "reach", Caption: `The kernel against distance, and the share of the pairs of points in the data set that are closer than that. Where the second curve has hardly begun to rise when the first is down, the kernel is narrow for these data.`,
			Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "distance |x − z|", Min: 0, Max: 4}, Y: figure.Axis{Name: "k(x, z), and share of pairs", Min: 0, Max: 1.02},
				Curves: []figure.Curve{value, {Name: "share of pairs closer", X: distances, Y: shares}},
				Rules:  []figure.Rule{{Name: "s", At: math.Min(s, 4), Upright: true}},
			}),
		}},
		Numbers: []lessons.Number{
			{Label: `$s = 1/\sqrt{2\gamma}$`, Value: views.Short(s), Help: "in the units of the data"},
			{Label: "median distance", Value: views.Short(distances[len(distances)/2]), Help: "between two points of the data set"},
			{Label: `pairs closer than $s$`, Value: fmt.Sprintf("%.0f %%", 100*float64(close)/float64(len(distances)))},
		},
	}
}

func showGram(_ context.Context, in lessons.Input) *lessons.Exhibit {
	d, classes := points()
	step := min(in.Step, len(widths)-1)
	gamma := widths[step]
	k := theory.Gram(kernel.NewGram(kernel.RBF(gamma), d.X))
	near := lessons.Must(theory.NewCloseness(k))
	spectrum := lessons.Must(theory.Mercer(k))
	// The kernel is valid: none is negative.
	clean := lists.Map(spectrum.Values, func(v float64) float64 { return lessons.Flush(v, 1e-10*spectrum.Values[0]) })
	note := "Between the extremes: neighbours are alike, and the two classes are two blocks that shade into each other."
	switch {
	case near.MeanOffDiagonal < 0.02:
		note = "Nearly the identity: no point knows of another."
	case near.MeanOffDiagonal > 0.95:
		note = "Nearly all ones: the kernel no longer tells the points apart."
	}
	return &lessons.Exhibit{
		Steps: len(widths), Step: step, Notes: []string{fmt.Sprintf("$\\gamma = %s$. %s", strconv.FormatFloat(gamma, 'f', -1, 64), note)},
		Figures: []lessons.Figure{
			{Name: "gram", Caption: "The Gram matrix of sixty points of two moons, sorted by class.", Draw: lessons.Draws(1, figure.Matrix{
				Values: k, Scale: 1, Name: "k", Classes: classes, ClassNames: lessons.Named(d.Classes),
			})},
			{Name: "spectrum", Wide: true, After: true, Caption: `Its eigenvalues, largest first, on a logarithmic scale; those that are but rounding errors are left out. They sum to the number of points for every $\gamma$.`, Draw: lessons.Draws(0, figure.Bars{
				X: "number", Y: "eigenvalue", Values: clean, Log: true,
			})},
		},
		Numbers: []lessons.Number{
			{Label: "mean entry off the diagonal", Value: views.Short(near.MeanOffDiagonal), Help: "0 for the identity"},
			{Label: "largest eigenvalue", Value: views.Short(spectrum.Values[0]), After: true},
			{Label: "effective rank", Value: views.Short(spectrum.EffectiveRank()), Help: "exponential of the entropy of the eigenvalues' shares: directions that matter"},
		},
	}
}

// largest returns the largest eigenvalue for a very wide kernel.
func largest(context.Context) float64 {
	d, _ := points()
	return lessons.Must(theory.Mercer(theory.Gram(kernel.NewGram(kernel.RBF(1e-4), d.X)))).Values[0]
}

func showBubbles(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	d := lessons.Must(dataset.Generate("moons", 100, 0.3, 1))
	fresh := lessons.Must(dataset.Generate("moons", 1000, 0.3, 2))
	res := lessons.Fit(ctx, d, "gamma", gamma.Text(in), "C", bubblesC.Text(in))
	accuracy := lessons.Must(res.Model.Accuracy(fresh))
	r := res.Report
	boundary := res.Boundary("boundary", "One hundred points of two noisy moons. Ringed points are support vectors. ~Move the width from end to end.~", nil)
	boundary.Asks = "One hundred points of two noisy moons. ~Move the width from end to end.~ How many points are support vectors?"
	return &lessons.Exhibit{
		Figures: []lessons.Figure{boundary},
		Numbers: []lessons.Number{
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", r.SupportVectors, r.TrainN), After: true},
			{Label: "right on the training points", Value: lessons.Percent(*r.TrainAccuracy)},
			{Label: "right on 1000 new points", Value: lessons.Percent(accuracy), Help: "from the same generator"},
		},
		Lab: lessons.LabQuery("moons", "gamma", gamma.Text(in), "C", bubblesC.Text(in), "standardize", "false"),
	}
}

// vectors compares the numbers of support vectors.
func vectors(ctx context.Context) float64 {
	d := lessons.Must(dataset.Generate("moons", 100, 0.3, 1))
	count := func(gamma string) int {
		return lessons.Fit(ctx, d, "gamma", gamma, "C", "1").Report.SupportVectors
	}
	before := count("1")
	after := count("1000")
	return lessons.First(after < before*9/10 && after <= 90, after <= 90)
}

// noise is the fraction of wrong labels in ring.
const noise = 0.1

// ring returns n points of the square [-2, 2]²: +1 inside the circle of radius 1.3, but with one
// label in ten flipped. It also returns P(y = +1 | x).
func ring(n int, seed uint64) (d *dataset.Data, posterior []float64) {
	r := rand.New(rand.NewPCG(seed, 8))
	t := lessons.Toy{}
	for range n {
		p := [2]float64{4*r.Float64() - 2, 4*r.Float64() - 2}
		y, post := -1.0, noise
		if lessons.Norm(p) < 1.3 {
			y, post = 1, 1-noise
		}
		if r.Float64() < noise {
			y = -y
		}
		t.XY, t.Y, posterior = append(t.XY, p), append(t.Y, y), append(posterior, post)
	}
	d = t.Data()
	return d, posterior
}

// errors returns the training and test error of a machine for every width, ascending in gamma.
func errors(ctx context.Context, c string, seed uint64) (gammas, train, fresh []float64) {
	d, _ := ring(100, seed)
	test, _ := ring(2000, 1000)
	for _, g := range slices.Backward(widths) {
		res := lessons.Fit(ctx, d, "gamma", lessons.Setting(g), "C", c)
		a := lessons.Must(res.Model.Accuracy(test))
		gammas, train, fresh = append(gammas, g), append(train, 1-*res.Report.TrainAccuracy), append(fresh, 1-a)
	}
	return gammas, train, fresh
}

func showCurves(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	gammas, train, fresh := errors(ctx, curvesC.Text(in), uint64(curvesSeed.Of(in)))
	best := 0
	for i, e := range fresh {
		if e < fresh[best] {
			best = i
		}
	}
	caption := "Wide kernels on the left, narrow ones on the right."
	switch {
	case parted(train, fresh):
		caption += " The curves part where the machine begins to learn the noise."
	case slices.Max(train)-slices.Min(train) < 0.02:
		caption += " At this $C$ slack is so cheap that no width learns more than which class is larger."
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{
			Name: "errors", Caption: caption,
			Asks: "Wide kernels on the left, narrow ones on the right. Two curves belong here, one for each error: draw them in your mind, then answer.",
			Draw: lessons.Draws(1, figure.Chart{
				X: figure.Axis{Name: "γ", Log: true, Min: gammas[0], Max: gammas[len(gammas)-1]}, Y: figure.Axis{Name: "share of wrong predictions", Min: 0, Max: 0.55},
				Curves: []figure.Curve{{Name: "training points", X: gammas, Y: train, Marks: true}, {Name: "new points", X: gammas, Y: fresh, Marks: true}}, Hidden: 2,
				Rules: []figure.Rule{{Name: "best possible", At: noise}},
			}),
		}},
		Numbers: []lessons.Number{
			{Label: `$\gamma$ with the fewest errors on new points`, Value: views.Short(gammas[best]), After: true},
			{Label: "its error on new points", Value: lessons.Percent(fresh[best]), Help: "the labels' noise alone makes 10 %", After: true},
			{Label: "its error on the training points", Value: lessons.Percent(train[best]), After: true},
		},
	}
}

// parted reports whether for some width the error on new points clearly exceeds the training
// error.
func parted(train, fresh []float64) bool {
	for i := range train {
		if fresh[i] > train[i]+0.05 {
			return true
		}
	}
	return false
}

// training finds the end at which the training error is lowest.
func training(ctx context.Context) float64 {
	_, train, fresh := errors(ctx, "10", 1)
	lowest := slices.Min(train)
	switch {
	case train[len(train)-1] == lowest:
		return 2
	case train[0] == lowest:
		return 0
	case train[slices.Index(fresh, slices.Min(fresh))] == lowest:
		return 1
	}
	panic(lessons.Failf("the lowest training error is at neither end"))
}

// resamples is the number of machines compared, each on its own sample.
const resamples = 15

// machines trains on resamples and tests on one set of points.
func machines(ctx context.Context, gamma string) (theory.BiasVariance, []*ml.Model, []*dataset.Data) {
	test, posterior := ring(500, 2000)
	f := mat.NewDense(resamples, len(posterior), nil)
	var models []*ml.Model
	var samples []*dataset.Data
	for r := range resamples {
		d, _ := ring(80, uint64(r+1))
		res := lessons.Fit(ctx, d, "gamma", gamma, "C", "10")
		f.SetRow(r, res.Model.Decisions(test.X))
		models, samples = append(models, res.Model), append(samples, d)
	}
	return lessons.Must(theory.NewBiasVariance(f, posterior)), models, samples
}

func showResamples(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	bv, models, samples := machines(ctx, gamma.Text(in))
	names := lists.Make(6, func(i int) string { return "sample " + strconv.Itoa(i+1) })
	const caption = "Boundaries of six machines, each trained on its own 80 points. Where they disagree the plane is hatched."
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{lessons.Overlay("boundaries", caption, names, func(l lessons.Look, i int) figure.Scene {
			v, _ := models[i].View()
			sc := l.Scene(models[i], nil, v, samples[i].Classes, 1)
			sc.Limits = figure.Limits{XMin: -2, XMax: 2, YMin: -2, YMax: 2}
			return sc
		})},
		Numbers: []lessons.Number{
			{Label: "error", Value: lessons.Percent(bv.Error), Help: fmt.Sprintf("expected, of one of these %d machines", resamples)},
			{Label: "noise", Value: lessons.Percent(bv.Noise), Help: "no rule can avoid it"},
			{Label: "bias", Value: lessons.Percent(bv.Bias), Help: "the main prediction is wrong", After: true},
			{Label: "variance", Value: lessons.Percent(bv.Variance), Help: "machines disagree with it; below 0 where that helps", After: true},
		},
	}
	if in.Coarse {
		return e
	}
	gammas, bias, variance, whole := decomposition(ctx)
	e.Figures = append(e.Figures, lessons.Figure{Name: "parts", Wide: true, After: true, Caption: `Too wide: bias. Narrower: variance. Narrower still, every machine is its own constant almost everywhere: the main prediction is wrong in the ring, bias is back, and variance helps against it.`, Draw: lessons.Draws(1, figure.Chart{
		X: figure.Axis{Name: "γ", Log: true}, Y: figure.Axis{Name: "part of the error"},
		Curves: []figure.Curve{{Name: "bias", X: gammas, Y: bias, Marks: true}, {Name: "variance", X: gammas, Y: variance, Marks: true}, {Name: "noise + bias + variance", X: gammas, Y: whole, Marks: true}},
		Here:   new(gamma.Of(in)),
	})})
	return e
}

// decomposition returns the decomposition for every second width.
func decomposition(ctx context.Context) (gammas, bias, variance, whole []float64) {
	for i := len(widths) - 1; i >= 0; i -= 2 {
		g := widths[i]
		bv, _, _ := machines(ctx, lessons.Setting(g))
		gammas, bias, variance, whole = append(gammas, g), append(bias, bv.Bias), append(variance, bv.Variance), append(whole, bv.Error)
	}
	return gammas, bias, variance, whole
}

// which finds the term that grows most from a moderate to a very narrow kernel.
func which(ctx context.Context) float64 {
	a, _, _ := machines(ctx, "1")
	b, _, _ := machines(ctx, "10")
	grown := []float64{b.Bias - a.Bias, b.Variance - a.Variance, b.Noise - a.Noise}
	return float64(slices.Index(grown, slices.Max(grown)))
}

// The search grid, from wide to narrow and from small to large C.
var (
	gridGammas = []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10}
	gridCs     = []float64{0.1, 1, 10, 100, 1000}
)

// choice is the grid for one random sample: errors in cross-validation and on new points.
type choice struct {
	wrong, fresh *mat.Dense // rows: C, columns: gamma
	best         int        // the selected cell, numbered by columns
}

// choices caches the grids by seed.
var choices lessons.Memo[uint64, choice]

func newChoice(ctx context.Context, seed uint64) choice {
	return choices.Get(seed, func() choice { return computeChoice(ctx, seed) })
}

func computeChoice(ctx context.Context, seed uint64) (c choice) {
	d, _ := ring(100, seed)
	test, _ := ring(2000, 1000)
	grid := lessons.Must(eval.CrossValidate(ctx, d, lessons.NewSpec(), eval.Grid{
		"C": eval.Numbers(gridCs...), "gamma": eval.Numbers(gridGammas...),
	}, eval.Scheme{Folds: 5, Seed: seed}, nil))
	n := len(gridCs) // cells per gamma
	c = choice{mat.NewDense(n, len(gridGammas), nil), mat.NewDense(n, len(gridGammas), nil), grid.Best}
	for k, cell := range grid.Settings {
		c.wrong.Set(k%n, k/n, 1-cell.Accuracy)
		res := lessons.Fit(ctx, d, "C", lessons.Setting(gridCs[k%n]), "gamma", lessons.Setting(gridGammas[k/n]))
		c.fresh.Set(k%n, k/n, 1-lessons.Must(res.Model.Accuracy(test)))
	}
	return c
}

// flattered compares the error of the best cell in cross-validation with that on new points.
func flattered(ctx context.Context) float64 {
	c := newChoice(ctx, 1)
	i, j := c.best%len(gridCs), c.best/len(gridCs)
	more := c.fresh.At(i, j) - c.wrong.At(i, j)
	return lessons.First(math.Abs(more) <= 0.005, more > 0)
}

func showChoice(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	c := newChoice(ctx, uint64(choiceSeed.Of(in)))
	wrong, n := c.wrong, len(gridCs)
	bestC, bestG := c.best%n, c.best/n
	pair := func(k int) string {
		return "C = " + lessons.Setting(gridCs[k%n]) + ", γ = " + lessons.Setting(gridGammas[k/n])
	}
	best := tied(wrong, bestC, bestG)
	mine := [2]int{column.Of(in) - 1, row.Of(in) - 1}
	hold := lessons.Handle{Label: "your cell", X: float64(mine[0] + 1), Y: float64(mine[1] + 1), Down: 0.3, XControl: lessons.NumberControl(column), YControl: lessons.NumberControl(row)} // below the number
	table := lessons.Table{Caption: "The same in per cent; the least is set off, and the row of the pair that is taken is marked", After: true, Head: []string{`$C$ (rows), $\gamma$ (columns)`}, Marked: []int{bestC}}
	rows, columns := make([]string, n), make([]string, len(gridGammas))
	for j, g := range gridGammas {
		columns[j] = lessons.Setting(g)
	}
	table.Head = append(table.Head, columns...)
	for i, c := range gridCs {
		rows[i] = lessons.Setting(c)
		row := []string{rows[i]}
		for j := range gridGammas {
			mark := lists.Either(slices.Contains(best, j*n+i), "*", "")
			row = append(row, mark+fmt.Sprintf("%.0f", 100*wrong.At(i, j))+mark)
		}
		table.Rows = append(table.Rows, row)
	}
	note := "No other pair does as well in cross-validation."
	if len(best) > 1 {
		var others []string
		for _, k := range best {
			if k != c.best {
				others = append(others, pair(k))
			}
		}
		note = fmt.Sprintf("A tie: %s as good: %s. The folds do not tell which is better.", lessons.Count(len(others), "other pair is", "other pairs are"), strings.Join(others, "; "))
	}
	if bestC == 0 || bestC == n-1 || bestG == 0 || bestG == len(gridGammas)-1 {
		note += " The pair that is taken lies at the edge of the grid: a larger one might hold a better."
	}
	draw := func(name, caption string, errors *mat.Dense) lessons.Figure {
		return lessons.Figure{Name: name, Caption: caption, Draw: lessons.Draws(1, figure.Matrix{
			Values: errors, Name: "error", X: "γ, wide to narrow", Y: "C, small to large", Names: rows, Columns: columns, Stretched: true,
		})}
	}
	share := func(errors *mat.Dense, column, row int) string { return lessons.Percent(errors.At(row, column)) }
	return &lessons.Exhibit{
		Handles: []lessons.Handle{hold},
		Notes:   []string{"Your cell: " + pair(mine[0]*n+mine[1]) + ", " + share(wrong, mine[0], mine[1]) + " in cross-validation."},
		After:   []string{fmt.Sprintf("On new points yours errs on %s, the best pair, %s, on %s.", share(c.fresh, mine[0], mine[1]), pair(c.best), share(c.fresh, bestG, bestC)), note},
		Figures: []lessons.Figure{
			draw("grid", "Cross-validated error for every pair. ~Tap the cell that you would take.~", wrong),
			draw("fresh", "The error on 2000 new points; 10 % is the best possible. The valley stays, its luckiest cells do not.", c.fresh).Afterwards(),
		},
		Tables: []lessons.Table{table},
		Numbers: []lessons.Number{
			{Label: "best pair", Value: pair(c.best), After: true},
			{Label: "its cross-validated error", Value: share(wrong, bestG, bestC), Help: "flattered: it was chosen for it", After: true},
			{Label: "its error on 2000 new points", Value: share(c.fresh, bestG, bestC), Help: "trained on all 100 points; 10 % is the best possible", After: true},
		},
	}
}

// tied returns the cells of a grid of errors that tie with the given one, numbered by columns.
// Errors that differ only by rounding count as equal.
func tied(wrong mat.Matrix, row, column int) []int {
	rows, columns := wrong.Dims()
	return lists.Where(rows*columns, func(k int) bool { return wrong.At(k%rows, k/rows) < wrong.At(row, column)+1e-9 })
}
