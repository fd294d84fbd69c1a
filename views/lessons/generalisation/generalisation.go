// Package generalisation is the lesson on generalisation and fewer support vectors.
package generalisation

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md
var files embed.FS

// The controls of the screens.
var (
	learner           = lessons.ChoiceControl{Name: "machine", Label: "machine", Default: "svm", Options: []param.Option{{Name: "svm", Label: "SVM"}, {Name: "mcm", Label: "MCM"}}}
	leaveOneOutKernel = lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF"}}}
	price             = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 1e-3, Max: 1e4, Low: 0.01, High: 1000, Log: true}
	leaveOneOutGamma  = lessons.NumberControl{Name: "gamma", Label: "RBF width", Symbol: "γ", Default: "1", Min: 1e-3, Max: 1e3, Low: 0.01, High: 100, Log: true}
	promisesKernel    = lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF, γ = 1"}}}
	promisesPoints    = lessons.IntegerControl{Name: "m", Label: "points", Symbol: "N", Default: "50", Min: 10, Max: 1000, Low: 10, High: 1000, Log: true}
	draw              = lessons.IntegerControl{Name: "draw", Label: "draw", Default: "1", Min: 1, Max: 40, Low: 1, High: 40}
	pattern           = lessons.ChoiceControl{Name: "pattern", Label: "pattern", Default: "checkerboard", Options: []param.Option{
		{Name: "moons", Label: "moons"}, {Name: "blobs", Label: "blobs"}, {Name: "circles", Label: "circles"}, {Name: "checkerboard", Label: "checkerboard"},
	}}
	rho          = lessons.NumberControl{Name: "rho", Label: "sparsity of the sparse MCM", Symbol: "ρ", Default: "0.05", Min: 1e-3, Max: 10, Low: 0.005, High: 2, Log: true}
	fewerPoints  = lessons.IntegerControl{Name: "m", Label: "points", Symbol: "M", Default: "80", Min: 20, Max: 120, Low: 20, High: 120}
	tuningNoise  = lessons.NumberControl{Name: "noise", Label: "noise", Default: "0.6", Min: 0, Max: 2, Low: 0.1, High: 2}
	candidates   = lessons.IntegerControl{Name: "candidates", Label: "settings tried", Default: "12", Min: 1, Max: tried, Low: 1, High: tried}
	data         = lessons.DataControl{Default: "iris-versicolor-virginica"}
	folds        = lessons.IntegerControl{Name: "folds", Label: "folds", Default: "5", Min: 3, Max: 8, Low: 3, High: 8}
	studyDraw    = lessons.IntegerControl{Name: "draw", Label: "draw", Default: "1", Min: 1, Max: 40, Low: 1, High: 40, Help: "Another number, other folds."}
	bets         = lessons.TextControl{Name: "bets", Label: "bets", Max: 7, Folded: true, Help: "t: true as it stands; f: not. One letter for each claim."}
	summaryGamma = lessons.NumberControl{Name: "gamma", Label: "width", Symbol: "γ", Default: "1", Min: 0.01, Max: 100, Low: 0.05, High: 30, Log: true}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "generalisation",
		Task: "data=spiral",
		Screens: []lessons.Screen{
			{
				Slug:    "leave-one-out",
				Demo:    lessons.NewDemo(showLeaveOut, learner, leaveOneOutKernel, price, leaveOneOutGamma),
				Answers: map[string]lessons.Answer{"mcm": notForMCM},
			},
			{
				Slug:    "promises",
				Demo:    lessons.NewDemo(showPromises, promisesKernel, promisesPoints, draw),
				Answers: map[string]lessons.Answer{"sparse": lessons.Is(float64(theory.SparseBoundPoints(3, 0.05, 0.1)))},
			},
			{
				Slug:    "fewer",
				Demo:    lessons.NewDemo(showFewer, pattern, rho, fewerPoints, draw),
				Answers: map[string]lessons.Answer{"sparsest": sparsest},
			},
			{Slug: "tuning", Demo: lessons.NewDemo(showTuning, tuningNoise, candidates, draw), Answers: map[string]lessons.Answer{"flatter": flatter}},
			{Slug: "study", Demo: lessons.NewDemo(showStudy, data, folds, studyDraw), Answers: map[string]lessons.Answer{"conformal": conformal}},
			{
				Slug:    "summary",
				Demo:    lessons.NewDemo(showSummary, summaryGamma, price, bets),
				Answers: map[string]lessons.Answer{"claims": lessons.Is(0)},
			},
		},
	})
}

// toy returns the points for leave-one-out.
func toy() lessons.Toy { return lessons.Drawn("blobs", 30, 1.5, 2) }

// eachOut trains with all points and once without each of them.
func eachOut(ctx context.Context, t lessons.Toy, pairs ...string) (full *lessons.Fitted, wrong []bool) {
	full = lessons.Fit(ctx, t.Data(), pairs...)
	return full, lessons.Must(eval.LeaveOneOut(ctx, full.Data, full.Spec))
}

func showLeaveOut(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := toy()
	n := len(t.Y)
	svm := learner.Of(in) == "svm"
	pairs := func(c float64) []string {
		return []string{"learner", learner.Of(in), "kernel", leaveOneOutKernel.Of(in), "gamma", leaveOneOutGamma.Text(in), "C", lessons.Setting(c), "tol", "1e-5"}
	}
	c := price.Of(in)
	full, wrong := eachOut(ctx, t, pairs(c)...)
	e := &lessons.Exhibit{Steps: n + 1, Step: min(in.Step, n), Lab: t.Lab(pairs(c)...)}

	curves := lessons.CurvesOf(lessons.Logspace(0.01, 1000, 9), func(v float64) []float64 {
		one, miss := eachOut(ctx, t, pairs(v)...)
		bound := theory.LeaveOneOutBound(one.Report.SupportVectors, n).Value
		return []float64{float64(lists.CountTrue(miss...)) / float64(n), bound}
	}, "left-out error", "share of support vectors")
	caption := "The left-out error stays below the bound, usually far below."
	if !svm {
		curves, caption = curves[:1], "The left-out error of the MCM. Its support vectors give no bound, so none is drawn."
	}
	chart := lessons.Figure{Name: "against-c", Wide: true, After: true, Caption: caption, Draw: lessons.Draws(1, figure.Chart{
		X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: "share of points", Min: 0, Max: 1.05}, Curves: curves, Here: &c,
	})}

	points := full.Points()
	so := lists.CountTrue(wrong[:e.Step]...)
	if e.Step == 0 {
		e.Figures = []lessons.Figure{full.Boundary("leave", "All points. ~Step leaves one out at a time.~", nil), chart}
		e.Notes = []string{fmt.Sprintf("Trained on all %d points: %d support vectors (ringed).", n, full.Report.SupportVectors)}
	} else {
		i := e.Step - 1
		less := lessons.Fit(ctx, t.Without(i).Data(), pairs(c)...)
		e.Figures = []lessons.Figure{overlay(less, full.Model, points[i], wrong[i]), chart}
		e.Notes = []string{fmt.Sprintf("Point %d at %s is left out. It was %s. The machine without it gets it %s.", i+1, lessons.Pair(t.XY[i]),
			lists.Either(points[i].Role != ml.None, "a support vector", lists.Either(svm, "no support vector, so nothing changes", "no support vector")),
			lists.Either(wrong[i], "wrong", "right"))}
	}
	if !svm {
		e.After = []string{"Here the machine may change even if the point left out is not a support vector."}
	}
	e.Numbers = []lessons.Number{{Label: "errors so far", Value: fmt.Sprintf("%d of %d", so, e.Step), Help: "points left out so far", After: !svm}}
	e.Numbers = append(e.Numbers, lessons.Number{Label: "left-out error", Value: fmt.Sprintf("%d of %d", lists.CountTrue(wrong...), n), Help: lessons.Percent(float64(lists.CountTrue(wrong...)) / float64(n)), After: !svm})
	turned := svm && price.Text(in) != price.Default // the question's setting
	if svm {
		b := theory.LeaveOneOutBound(full.Report.SupportVectors, n)
		e.Numbers = append(e.Numbers, lessons.Number{Label: "bound $N_{SV}/N$", Value: lessons.Worth(b), Help: fmt.Sprintf("%d support vectors of %d points", full.Report.SupportVectors, n), After: turned})
	} else {
		e.Numbers = append(e.Numbers, lessons.Number{Label: "support vectors", Value: strconv.Itoa(full.Report.SupportVectors), Help: "$\\lambda_j \\ne 0$"})
	}
	if turned && e.Step == 0 {
		e.Figures[0] = e.Figures[0].Instead(lessons.Plane("leave", "", t.Limits(), 2, t.Dots(nil)), "The points, with another $C$. Are there more support vectors, or fewer?")
		e.Notes, e.After = nil, e.Notes
	}
	return e
}

// overlay draws the machine without a point over the one with it.
func overlay(less *lessons.Fitted, full *ml.Model, out ml.Point, wrong bool) lessons.Figure {
	return lessons.Figure{Name: "leave", Caption: "The boundary without the hollow point, over the one with it. Where only one line is seen, nothing has changed.", Draw: func(l lessons.Look) (*figure.Picture, error) {
		out.HeldOut, out.Wrong = true, wrong
		v, _ := less.Model.View()
		scene := l.Scene(less.Model, append(less.Points(), out), v, less.Data.Classes, 2)
		scene.Hollow, scene.Grid = "left out", 80
		whole := scene
		whole.Model = full
		return figure.Overlay(l.Context(), []figure.Layer{{Name: "without the point", Scene: scene}, {Name: "with all points", Scene: whole}})
	}}
}

// notForMCM looks for more leave-one-out errors than support vectors.
func notForMCM(ctx context.Context) float64 {
	full, wrong := eachOut(ctx, toy(), "learner", "mcm", "kernel", "linear", "C", "1")
	return lessons.First(lists.CountTrue(wrong...) <= full.Report.SupportVectors)
}

func showPromises(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	const depth = 0.8 // of both sides
	linear := promisesKernel.Of(in) == "linear"
	m := promisesPoints.Of(in)
	most := lessons.Drawn("separable", 1000, depth, uint64(draw.Of(in)))
	fresh := lessons.Drawn("separable", 2000, depth, lessons.FreshSeed).Data()
	pairs := []string{"kernel", promisesKernel.Of(in), "gamma", "1", "hard_margin", "true"}
	at := func(n int) (t lessons.Toy, res *lessons.Fitted, truth float64) {
		t = lessons.Toy{XY: most.XY[:n], Y: most.Y[:n]}
		res = lessons.Fit(ctx, t.Data(), pairs...)
		return t, res, lessons.ErrorRate(res.Model, fresh)
	}
	curves := []figure.Curve{{Name: "true error"}, {Name: "share of support vectors"}, {Name: "sparse bound"}}
	if linear {
		curves = append(curves, figure.Curve{Name: "VC bound, h = 3"})
	}
	for _, v := range lessons.Logspace(10, 1000, 10) {
		n := int(math.Round(v))
		_, res, truth := at(n)
		sv := res.Report.SupportVectors
		for i, y := range []float64{truth, theory.LeaveOneOutBound(sv, n).Value, theory.SparseBound(sv, n, 0.05).Value, theory.VCBound(0, 3, n, 0.05).Value}[:len(curves)] {
			curves[i].X, curves[i].Y = append(curves[i].X, float64(n)), append(curves[i].Y, y)
		}
	}
	t, res, truth := at(m)
	sv := res.Report.SupportVectors
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "promises", Caption: "Bounds and the true error of hard-margin machines as points come in. A share above 1 says nothing.", Asks: "The true error of hard-margin machines as points come in, and one of the bounds; the others come with the answer.", Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "points N", Log: true}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 1.5}, Curves: curves, Hidden: len(curves) - 2, Rules: []figure.Rule{{Name: "vacuous above", At: 1}}, Here: new(float64(m)),
			})},
			res.Boundary("machine", "The machine at this number of points.", func(s *figure.Scene) { s.Points = s.Points[:min(len(s.Points), 300)] }),
		},
		Numbers: []lessons.Number{
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", sv, m)},
			{Label: "true error", Value: lessons.Percent(truth), Help: "on 2000 new points"},
			{Label: "leave-one-out bound", Value: lessons.Worth(theory.LeaveOneOutBound(sv, m))},
			{Label: "sparse bound", Value: lessons.Worth(theory.SparseBound(sv, m, 0.05)), Help: `with $\delta = 0.05$`, After: true},
		},
	}
	if linear {
		e.Numbers = append(e.Numbers, lessons.Number{Label: "VC bound, additive form", Value: lessons.Worth(theory.VCBound(0, 3, m, 0.05)), Help: "$h = 3$ for lines"})
	}
	if m <= 200 {
		e.Lab = t.Lab(pairs...)
	}
	return e
}

// trial is one machine of a comparison.
type trial struct {
	machine string
	pairs   []string
	vectors int
	wrong   float64 // error rate on new points
	seen    float64 // training error rate
	gap     float64 // relative duality gap; NaN if there is none
}

// newTrial trains a machine on d and tests it on new points.
func newTrial(ctx context.Context, machine string, pairs []string, d, fresh *dataset.Data) trial {
	res := lessons.Fit(ctx, d, pairs...)
	gap := math.NaN()
	if g := res.Report.RelativeGap; g != nil {
		gap = *g
	}
	wrong := lessons.ErrorRate(res.Model, fresh)
	return trial{machine, pairs, res.Report.SupportVectors, wrong, 1 - *res.Report.TrainAccuracy, gap}
}

// machines lists the compared machines.
var machines = []string{"SVM", "MCM", "sparse MCM", "conformal MCM"}

func machineSettings(machine, rho, c, gamma string) []string {
	pairs := []string{"kernel", "rbf", "C", c, "gamma", gamma, "learner", "mcm"}
	switch machine {
	case "SVM":
		return append(pairs[:6:6], "learner", "svm")
	case "sparse MCM":
		return append(pairs, "rho", rho)
	case "conformal MCM":
		return append(pairs, "conformal", "eigen")
	}
	return pairs
}

// noise is the noise level of each pattern.
var noise = map[string]float64{"moons": 0.3, "blobs": 0.9, "circles": 0.2, "checkerboard": 0.05}

// trials trains SVM, MCM and sparse MCM over a grid of C and gamma.
func trials(ctx context.Context, pattern, rho string, m int, draw uint64) (lessons.Toy, []trial) {
	t := lessons.Drawn(pattern, m, noise[pattern], draw)
	d := t.Data()
	fresh := lessons.Drawn(pattern, 1000, noise[pattern], lessons.FreshSeed).Data()
	var all []trial
	for _, machine := range machines[:3] {
		for _, c := range []string{"0.1", "1", "10", "100", "1000"} {
			for _, gamma := range []string{"0.03", "0.1", "0.5", "2", "8", "30"} {
				all = append(all, newTrial(ctx, machine, machineSettings(machine, rho, c, gamma), d, fresh))
			}
		}
	}
	return t, all
}

// leastWrong returns the trial with the smallest error, in a tie with the fewest support vectors.
func leastWrong(all []trial) trial {
	return slices.MinFunc(all, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.wrong, b.wrong), cmp.Compare(a.vectors, b.vectors))
	})
}

// fewest returns the trial with the fewest support vectors, in a tie with the smallest error.
func fewest(all []trial) trial {
	return slices.MinFunc(all, func(a, b trial) int {
		return cmp.Or(cmp.Compare(a.vectors, b.vectors), cmp.Compare(a.wrong, b.wrong))
	})
}

func showFewer(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	m := fewerPoints.Of(in)
	t, all := trials(ctx, pattern.Of(in), rho.Text(in), m, uint64(draw.Of(in)))
	best := leastWrong(all)
	var marks []figure.Mark
	table := lessons.Table{Caption: "Of each machine the setting with the least error, then the one with the fewest support vectors", Head: []string{"machine", "least error", "SVs", "fewest SVs", "error", "rank corr."}, After: true}
	top := 0.0
	for i, machine := range machines[:3] {
		var mine []trial
		var sv, wrong []float64
		for _, tr := range all {
			if tr.machine == machine {
				mine, sv, wrong = append(mine, tr), append(sv, float64(tr.vectors)), append(wrong, tr.wrong)
				marks = append(marks, figure.Dot{At: [2]float64{float64(tr.vectors), 100 * tr.wrong}, Class: figure.Series(i), Name: machine, Ring: slices.Equal(tr.pairs, best.pairs)})
				top = max(top, 100*tr.wrong)
			}
		}
		b, s := leastWrong(mine), fewest(mine)
		correlation := lessons.Must(eval.RankCorrelation(sv, wrong))
		table.Rows = append(table.Rows, []string{
			machine, lessons.Percent(b.wrong), strconv.Itoa(b.vectors), strconv.Itoa(s.vectors), lessons.Percent(s.wrong),
			views.Short(math.Round(100*correlation) / 100),
		})
	}
	doubt := 200 * math.Sqrt(best.wrong*(1-best.wrong)/1000)
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{
			Name: "scatter", Caption: "Every mark is a machine with its own $C$ and $\\gamma$. If fewer were better, the marks would rise to the right. The ringed one has the least error.",
			Asks: "Every mark will be a machine with its own $C$ and $\\gamma$, more support vectors on the right, more error higher up. Where is the best, where the sparsest?", Draw: lessons.Draws(2, figure.Plane{
				X: "support vectors", Y: "error on 1000 new points, %", Stretched: true,
				Limits: figure.Limits{XMin: -2, XMax: float64(m) + 2, YMin: 0, YMax: top + 3}, Marks: marks, Hidden: len(marks),
			}),
		}},
		Tables: []lessons.Table{table},
		After:  []string{fmt.Sprintf("The lowest error, %s ± %.1f (ringed), belongs to the %s with C = %s, γ = %s and %d support vectors. (Picked by looking at the new points, so it flatters a little.)", lessons.Percent(best.wrong), doubt, best.machine, best.pairs[3], best.pairs[5], best.vectors)},
		Lab:    t.Lab(best.pairs...),
	}
}

// sparsest compares the sparsest machine with the most accurate one.
func sparsest(ctx context.Context) float64 {
	_, all := trials(ctx, pattern.Default, rho.Default, 80, 1)
	sparse, best := fewest(all), leastWrong(all)
	return lessons.First(slices.Equal(sparse.pairs, best.pairs), sparse.wrong > best.wrong+0.03)
}

// tuned holds the estimated and true errors of two ways to choose settings, for one random data
// set.
type tuned struct {
	claimed, truth         []float64 // smallest test error after k+1 settings, and the true error of that setting
	fairClaimed, fairTruth float64   // the same for cross-validation on the training points
}

const (
	tried   = 16 // number of settings, in random order
	repeats = 20 // data sets, for a standard error
)

// tunings repeats: draw 50 training and 20 test points, try settings one by one and keep the one
// with the smallest test error; alternatively, of the first candidates, take the best by
// cross-validation on the training points.
func tunings(ctx context.Context, noise float64, candidates int, draw uint64, repeats int) []tuned {
	const training, testing = 50, 20
	fresh := lessons.FreshMoons(1000, noise)
	gammas := lessons.Logspace(0.02, 50, tried)
	out := make([]tuned, repeats)
	for r := range out {
		seed := 1000*draw + uint64(r)
		all := lessons.Drawn("moons", training+testing, noise, seed).Data()
		rows := dataset.Indices(training + testing)
		train, test := all.Subset(rows[:training]), all.Subset(rows[training:])
		o := &out[r]
		best, truth := 2.0, 0.0
		o.fairClaimed = 2
		for k, i := range rand.New(rand.NewPCG(seed, 0x0de)).Perm(tried) {
			spec := lessons.NewSpec("C", []string{"1", "100"}[i%2], "gamma", lessons.Setting(gammas[i]))
			res := lessons.Train(ctx, train, spec)
			onTest := lessons.ErrorRate(res.Model, test)
			inner := 2.0
			if k < candidates {
				cv := lessons.Must(eval.CrossValidate(ctx, train, spec, nil, eval.Scheme{Folds: 3, Seed: draw}, nil))
				inner = 1 - cv.Settings[0].Accuracy
			}
			if onTest < best || inner < o.fairClaimed {
				actual := lessons.ErrorRate(res.Model, fresh)
				if onTest < best {
					best, truth = onTest, actual
				}
				if inner < o.fairClaimed {
					o.fairClaimed, o.fairTruth = inner, actual
				}
			}
			o.claimed, o.truth = append(o.claimed, best), append(o.truth, truth)
		}
	}
	return out
}

// deal splits rows of d into stratified folds.
func deal(d *dataset.Data, rows []int, folds int, seed uint64) [][]int {
	out := lessons.Must(eval.Folds(lists.Map(rows, func(i int) float64 { return float64(d.Y[i]) }), folds, seed))
	for _, f := range out {
		for a, k := range f {
			f[a] = rows[k]
		}
	}
	return out
}

// others returns all rows of the folds except those of fold k.
func others(folds [][]int, k int) (rows []int) {
	rows = slices.Concat(slices.Delete(slices.Clone(folds), k, k+1)...)
	slices.Sort(rows)
	return rows
}

func showTuning(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	repeats := lists.Either(in.Coarse, 8, repeats)
	n := candidates.Of(in)
	draws := tunings(ctx, tuningNoise.Of(in), n, uint64(draw.Of(in)), repeats)
	curves := []figure.Curve{{Name: "error on the test fold that chose"}, {Name: "true error of that choice"}}
	top := 0.0
	for k := range tried {
		for j, at := range []func(tuned) float64{
			func(o tuned) float64 { return o.claimed[k] }, func(o tuned) float64 { return o.truth[k] },
		} {
			m, se := eval.MeanError(lists.Map(draws, at))
			c := &curves[j]
			c.X, c.Y = append(c.X, float64(k+1)), append(c.Y, m)
			c.Lo, c.Hi = append(c.Lo, m-se), append(c.Hi, m+se)
			top = max(top, m+se)
		}
	}
	cell := func(at func(tuned) float64) string {
		m, se := eval.MeanError(lists.Map(draws, at))
		return fmt.Sprintf("%s ± %.1f", param.Minus(fmt.Sprintf("%.1f", 100*m)), 100*se)
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{
			Name: "tuning", Caption: fmt.Sprintf("Means over %d repetitions, with a standard error to both sides. The error that the test fold claims of what it has chosen lies below the true one.", repeats),
			Asks: "The error on the test fold that chooses. Draw in your mind the true error of what it chooses, then answer.", Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "settings tried", Min: 1, Max: tried}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 1.15 * top}, Curves: curves, Hidden: 1, Here: new(float64(n)),
			}),
		}},
		Tables: []lessons.Table{{
			After: true, Caption: "Mean error in %, with its standard error", Head: []string{"chosen by", "claimed", "true", "flattery"},
			Rows: [][]string{
				{"test fold", cell(func(o tuned) float64 { return o.claimed[n-1] }), cell(func(o tuned) float64 { return o.truth[n-1] }), cell(func(o tuned) float64 { return o.truth[n-1] - o.claimed[n-1] })},
				{"inner folds", cell(func(o tuned) float64 { return o.fairClaimed }), cell(func(o tuned) float64 { return o.fairTruth }), cell(func(o tuned) float64 { return o.fairTruth - o.fairClaimed })},
			},
		}},
		After: []string{"The inner folds also make the choice, so their score is not the final word either: a study needs an outer test fold as well."},
	}
}

// flatter reports whether the estimate is too optimistic by more than chance.
func flatter(ctx context.Context) float64 {
	const n = 12
	draws := tunings(ctx, 0.6, n, 1, repeats)
	m, se := eval.MeanError(lists.Map(draws, func(o tuned) float64 { return o.truth[n-1] - o.claimed[n-1] }))
	return lessons.First(math.Abs(m) <= 2*se, m > 0)
}

// fold is one outer fold of the study: by machine, the setting chosen on the training rows and
// its result on the test rows.
type fold struct {
	chosen   []ml.Spec
	accuracy []float64
	vectors  []float64
}

const (
	most     = 90 // maximal number of rows, so that a fold is instant
	studyRho = "0.05"
)

// choose selects C and gamma of a machine by cross-validation on the given rows; in a tie the
// first, with smaller gamma and C.
func choose(ctx context.Context, d *dataset.Data, machine string, rows []int, seed uint64) ml.Spec {
	spec := lessons.NewSpec(append(machineSettings(machine, studyRho, "1", "1"), "standardize", "true")...)
	cv := lessons.Must(eval.CrossValidate(ctx, d.Subset(rows), spec, eval.Grid{
		"C": eval.Numbers(1, 10, 100), "gamma": eval.Numbers(0.1, 0.5, 2.5),
	}, eval.Scheme{Folds: 3, Seed: seed}, nil))
	best := cv.Settings[cv.Best].Values
	return spec.With("C", best["C"]).With("gamma", best["gamma"])
}

// run computes the first outer folds.
func run(ctx context.Context, d *dataset.Data, folds, first int, seed uint64) []fold {
	parts := deal(d, sample(len(d.Y), seed), folds, seed)
	var out []fold
	for k := range first {
		var f fold
		train := others(parts, k)
		for _, machine := range machines {
			spec := choose(ctx, d, machine, train, seed)
			res := lessons.Train(ctx, d.Subset(train), spec)
			a := lessons.Must(res.Model.Accuracy(d.Subset(parts[k])))
			f.chosen, f.accuracy, f.vectors = append(f.chosen, spec), append(f.accuracy, a), append(f.vectors, float64(res.Report.SupportVectors))
		}
		out = append(out, f)
	}
	return out
}

// sample draws at most most of n rows.
func sample(n int, seed uint64) []int {
	rows := rand.New(rand.NewPCG(seed, 0x5a3)).Perm(n)
	rows = rows[:min(n, most)]
	slices.Sort(rows)
	return rows
}

func showStudy(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	_, d := data.Of(ctx, in)
	if len(d.Classes) != 2 {
		lessons.Check(param.Refuse("choose data with two", "the study compares machines on two classes, and these data have %d", len(d.Classes)))
	}
	folds := folds.Of(in)
	e := &lessons.Exhibit{Steps: folds, Step: min(in.Step, folds-1)}
	fs := run(ctx, d, folds, e.Step+1, uint64(studyDraw.Of(in)))
	with := func(mean, se float64) string {
		if math.IsNaN(se) {
			return param.Minus(fmt.Sprintf("%.1f", 100*mean))
		}
		return param.Minus(fmt.Sprintf("%.1f ± %.1f", 100*mean, 100*se))
	}
	t := lessons.Table{Caption: "Accuracy in % on test folds so far: mean and standard error, and the difference to the SVM fold by fold", Head: []string{"machine", "accuracy", "minus SVM", "SVs", "chosen in this fold"}}
	var curves []figure.Curve
	top, winner := -1.0, 0
	for j, machine := range machines {
		acc := lists.Map(fs, func(f fold) float64 { return f.accuracy[j] })
		curve := figure.Curve{Name: machine, Marks: true, Y: acc}
		for i := range acc {
			curve.X = append(curve.X, float64(i+1)+0.06*(float64(j)-1.5)) // side by side, as many are equal
		}
		curves = append(curves, curve)
		mean, se := eval.MeanError(acc)
		if mean > top {
			top, winner = mean, j
		}
		change := "–"
		if j > 0 {
			change = with(eval.MeanError(lists.Map(fs, func(f fold) float64 { return f.accuracy[j] - f.accuracy[0] })))
		}
		chosen := fs[e.Step].chosen[j]
		t.Rows = append(t.Rows, []string{
			machine, with(mean, se), change, views.Short(stat.Mean(lists.Map(fs, func(f fold) float64 { return f.vectors[j] }), nil)),
			"C = " + chosen.Text("C") + ", γ = " + chosen.Text("gamma"),
		})
	}
	rows := min(len(d.Y), most)
	low := 1.0
	for _, c := range curves {
		low = min(low, slices.Min(c.Y))
	}
	e.Figures = []lessons.Figure{{Name: "study", Caption: "Accuracy on the test fold, fold by fold. Lines that cross say that the order of the machines is a matter of the fold.", Asks: "Accuracy on the test fold, fold by fold. The conformal MCM joins in with the answer.", Draw: lessons.Draws(2, figure.Chart{
		X: figure.Axis{Name: "fold", Whole: true, Min: 0.8, Max: float64(folds) + 0.2}, Y: figure.Axis{Name: "accuracy", Min: math.Floor(10*low)/10 - 0.05, Max: 1.02}, Curves: curves, Hidden: 1,
	})}}
	t.After = true
	e.Tables = []lessons.Table{t}
	e.Notes = []string{fmt.Sprintf("Fold %d of %d is held out. On the other %d rows nine settings of each machine are judged by three inner folds; the best is trained again and meets the held-out rows once.", e.Step+1, folds, rows-rows/folds)}
	spec := fs[e.Step].chosen[winner]
	e.Lab = lessons.LabQuery(data.Text(in), append(machineSettings(machines[winner], studyRho, spec.Text("C"), spec.Text("gamma")), "test_fraction", "0.25")...)
	return e
}

// gains keeps the result of gain.
var gains lessons.Memo[string, [2]float64]

// gain returns the increase of the MCM's mean accuracy due to the map in the study with initial
// settings, with its standard error.
func gain(ctx context.Context) [2]float64 {
	return gains.Get(data.Default, func() (gain [2]float64) {
		fs := run(ctx, lessons.LoadData(data.Default), 5, 5, 1)
		gain[0], gain[1] = eval.MeanError(lists.Map(fs, func(f fold) float64 { return f.accuracy[3] - f.accuracy[1] }))
		return gain
	})
}

// conformal compares the MCM with and without the map.
func conformal(ctx context.Context) float64 {
	g := gain(ctx)
	return lessons.First(g[0] > 2*g[1])
}

var summaries lessons.Memo[summaryKey, trial]

type summaryKey struct {
	machine  string
	c, gamma float64
}

func showSummary(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	const m = 80
	t := lessons.Drawn("moons", m, noise["moons"], 1)
	d := t.Data()
	fresh := lessons.FreshMoons(1000, noise["moons"])
	vectors, wrong := make([]figure.Curve, 3), make([]figure.Curve, 3)
	c, gamma := price.Of(in), summaryGamma.Of(in)
	of := func(machine string, c float64) trial {
		return summaries.Get(summaryKey{machine, c, gamma}, func() trial {
			return newTrial(ctx, machine, machineSettings(machine, studyRho, lessons.Setting(c), lessons.Setting(gamma)), d, fresh)
		})
	}
	var all []trial   // for the curves
	var here [3]trial // for the chosen C
	table := lessons.Table{Caption: "At the chosen C and γ", After: true, Head: []string{"machine", "support vectors", "training error", "held-out error"}}
	for j, machine := range machines[:3] {
		vectors[j].Name, wrong[j].Name = machine, machine
		for _, c := range lessons.Logspace(0.01, 1000, 11) {
			o := of(machine, c)
			vectors[j].X, vectors[j].Y = append(vectors[j].X, c), append(vectors[j].Y, float64(o.vectors))
			wrong[j].X, wrong[j].Y = append(wrong[j].X, c), append(wrong[j].Y, o.wrong)
			all = append(all, o)
		}
		here[j] = of(machine, c)
		table.Rows = append(table.Rows, []string{machine, strconv.Itoa(here[j].vectors), lessons.Percent(here[j].seen), lessons.Percent(here[j].wrong)})
	}
	chart := func(name, caption, axis string, top float64, cs []figure.Curve, wide bool) lessons.Figure {
		f := lessons.Figure{Name: name, Caption: caption, Wide: wide, After: wide, Draw: lessons.Draws(1, figure.Chart{
			X: figure.Axis{Name: "C", Log: true, Min: 0.01, Max: 1000}, Y: figure.Axis{Name: axis, Min: 0, Max: top}, Curves: cs, Hidden: len(cs), Here: &c,
		})}
		if !wide {
			f.Asks = "Support vectors against $C$, a curve for each machine. Which way does that of the SVM go?"
		}
		return f
	}
	g := gain(ctx)
	sparse, best := fewest(all), leastWrong(all)
	svm := here[0]
	svs := func(n int) string { return lessons.Count(n, "SV", "SVs") }
	bound := func(n int) string { return fmt.Sprintf("%.2f", theory.VCBound(0, 3, n, 0.05).Value) }
	cards := []claim{
		{"The dual finds the global optimum", "true", fmt.Sprintf("relative duality gap, here: %.5f", svm.gap)},
		{"It works in huge feature spaces", "true", "infinitely many dimensions, " + lessons.Percent(svm.wrong) + " errors"},
		{"Fewer SVs generalise better", "not alone", fmt.Sprintf("%s: %s errors; %s: %s", svs(sparse.vectors), lessons.Percent(sparse.wrong), svs(best.vectors), lessons.Percent(best.wrong))},
		{"The error is the share of SVs", "false", fmt.Sprintf("share %s, error %s", lessons.Percent(float64(svm.vectors)/m), lessons.Percent(svm.wrong))},
		{"MCMs are sparser than SVMs", "it depends", fmt.Sprintf("MCM %d SVs, SVM %d, sparse MCM %d", here[1].vectors, svm.vectors, here[2].vectors)},
		{"The conformal map wins", "measure it", "in the study by " + param.Minus(fmt.Sprintf("%.1f ± %.1f", 100*g[0], 100*g[1])) + " points"},
		{"With much data bounds matter less", "true", fmt.Sprintf("h = 3: %s at 100 points, %s at 100 000", bound(100), bound(100_000))},
	}
	said, right := "", 0
	for _, bet := range []byte(bets.Of(in)) {
		if bet == 't' || bet == 'f' {
			if cards[len(said)].holds(bet) {
				right++
			}
			said += string(bet)
		}
	}
	score := fmt.Sprintf("%d of 7 bets are right.", right)
	after, note := []string{score}, score+" Answer the question to see which."
	moves := []lessons.Move{{Label: "Bet again", Control: bets}}
	if k := len(said); k < len(cards) {
		after, note = nil, fmt.Sprintf("Bet %d of 7, for a valid kernel: “%s”.", k+1, cards[k].says)
		moves = []lessons.Move{{Label: "True as it stands", Control: bets, Value: said + "t"}, {Label: "Not true as it stands", Control: bets, Value: said + "f"}}
	}
	return &lessons.Exhibit{
		Asks: []string{note}, Bets: moves, After: after,
		Figures: []lessons.Figure{
			claims(cards, said),
			chart("vectors", "Support vectors against $C$. Those of the SVM fall as $C$ rises.", "support vectors of 80", m+4, vectors, false),
			chart("errors", "The held-out error of the same machines. The two pictures have different shapes.", "held-out error", 0.55, wrong, true),
		},
		Tables: []lessons.Table{table},
		Lab:    t.Lab(machineSettings("SVM", studyRho, lessons.Setting(c), lessons.Setting(gamma))...),
	}
}

type claim struct{ says, verdict, evidence string }

// holds reports whether a bet on the claim, t or f, is right.
func (c claim) holds(bet byte) bool { return (bet == 't') == (c.verdict == "true") }

// claims draws the seven claims in the text as cards, with the bets on them, t or f. The verdicts
// appear with the answer.
func claims(cards []claim, bets string) lessons.Figure {
	return lessons.Figure{
		Name: "claims", Caption: "Seven claims, and what became of them.", Asks: "Seven claims. True as they stand, for a valid kernel, or not? Bet on each before you read on.",
		Draw: func(l lessons.Look) (*figure.Picture, error) {
			p := figure.Plane{Format: l.Format(0), Bald: true, Stretched: true, Limits: figure.Limits{XMax: 10, YMin: -float64(len(cards)), YMax: 0.7}}
			fits := int(0.068 * float64(l.Height) / (float64(len(cards)) + 0.7)) // lines of text that fit a card
			stacked := l.Width < 420 && fits > 1
			for i, c := range cards {
				claim, verdicts, color := []string{fmt.Sprintf("%d  %s", i+1, c.says)}, []string{"?"}, figure.Muted
				if i < len(bets) {
					verdicts[0] = lists.Either(bets[i] == 't', "bet: true", "bet: false")
				}
				if !l.Asking {
					claim, verdicts[0] = append(claim, c.evidence), c.verdict
				}
				if !l.Asking && len(bets) == len(cards) {
					result := "bet: wrong"
					if color = figure.Magenta; c.holds(bets[i]) {
						result, color = "bet: right", figure.Green
					}
					verdicts = append(verdicts, result)
				}
				at, top, bottom := 4.2, -float64(i)-0.1, -float64(i)-0.9
				if stacked {
					at, top, bottom = 5, top+0.06, bottom-0.06
					claim, verdicts = append(claim, strings.Join(verdicts, " · ")), nil
				}
				if !l.Asking && len(claim) > fits {
					claim = slices.Delete(claim, 1, 2)
				}
				verdicts = verdicts[:min(len(verdicts), fits)]
				card := [][2]float64{{0.15, top}, {9.85, top}, {9.85, bottom}, {0.15, bottom}, {0.15, top}}
				p.Marks = append(p.Marks, figure.Path{Points: card, Plain: true, Pen: figure.Pen{Color: color}})
				write := func(x float64, lines []string) {
					for k, line := range lines {
						mark := figure.Text{At: [2]float64{x, top + (bottom-top)*(float64(k)+0.5)/float64(len(lines))}, Text: line}
						if line == c.evidence {
							mark.Color = figure.Muted
						}
						p.Marks = append(p.Marks, mark)
					}
				}
				write(at, claim)
				write(8.9, verdicts)
			}
			return p.Picture()
		},
	}
}
