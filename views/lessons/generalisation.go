package lessons

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
)

var Generalisation = Lesson{
	Slug: "generalisation", Title: "Generalisation and fewer support vectors",
	Summary: "What the bounds say, what is measured, and what fewer support vectors do not prove.",
	Screens: []Screen{
		{
			Slug: "leave-one-out", Title: "Leave one out",
			Covers: []string{"002 generalization", "002 summary-hard"},
			Words:  generalisationLeaveOutWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "machine", Label: "machine", Kind: param.Choice, Default: "svm", Options: []param.Option{{Name: "svm", Label: "SVM"}, {Name: "mcm", Label: "MCM"}}},
					{Name: "kernel", Label: "kernel", Kind: param.Choice, Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF"}}},
					{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "1", Min: 1e-3, Max: 1e4, Low: 0.01, High: 1000, Log: true},
					{Name: "gamma", Label: "width of the RBF kernel", Symbol: "γ", Kind: param.Number, Default: "1", Min: 1e-3, Max: 1e3, Low: 0.01, High: 100, Log: true},
				},
				Show: showGeneralisationLeaveOut,
			},
			Questions: []Question{
				{
					Slug: "small-c", Ask: `You lower $C$ of the linear SVM from 10 to 0.01. What does the bound $N_{SV}/N$ do?`,
					Options: []string{"It falls: more regularisation, fewer support vectors.", "It rises: the margin widens and more points get caught in it.", "It stays."},
					Answer:  generalisationSmallC,
					Explain: `With a cheap slack almost every point lies inside the margin, and every one of them is a support vector. The machine may be none the worse for it.`,
				},
				{
					Slug: "mcm", Ask: `A linear MCM in the plane has two support vectors out of 30 points. At most two left-out points can be misclassified then. True?`,
					Options: []string{"True, as for the SVM.", "Not for an MCM."},
					Answer:  generalisationNotForMCM,
					Explain: `The two points *span* $f$; they do not hold it in place. Other points fix the linear programme, and to lose one of those changes the machine.`,
				},
			},
		},
		{
			Slug: "promises", Title: "Promises against reality",
			Covers: []string{"002 generalization"},
			Words:  generalisationPromisesWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "kernel", Label: "kernel", Kind: param.Choice, Default: "linear", Options: []param.Option{{Name: "linear", Label: "linear"}, {Name: "rbf", Label: "RBF, γ = 1"}}},
					{Name: "m", Label: "points", Symbol: "N", Kind: param.Integer, Default: "50", Min: 10, Max: 1000, Low: 10, High: 1000, Log: true},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40},
				},
				Show: showGeneralisationPromises,
			},
			Questions: []Question{{
				Slug: "sparse", Ask: `A hard-margin SVM has 3 support vectors and $\delta = 0.05$. From how many points on does the sparse bound promise less than 10 % errors? (10 % off is fine.)`,
				Within:  0.1,
				Answer:  func(context.Context) (float64, error) { return float64(generalisationEnough(3, 0.1)), nil },
				Explain: `From $N = $ %s on; with 50 points it is still far from that.`,
			}},
		},
		{
			Slug: "fewer", Title: "Fewer is not better by itself",
			Covers: []string{"002 generalization", "002 summary-hard", "000 steps"},
			Words:  generalisationFewerWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "pattern", Label: "pattern", Kind: param.Choice, Default: "moons", Options: []param.Option{
						{Name: "moons", Label: "moons"}, {Name: "blobs", Label: "blobs"}, {Name: "circles", Label: "circles"}, {Name: "checkerboard", Label: "checkerboard"},
					}},
					{Name: "rho", Label: "sparsity of the sparse MCM", Symbol: "ρ", Kind: param.Number, Default: "0.05", Min: 1e-3, Max: 10, Low: 0.005, High: 2, Log: true},
					{Name: "m", Label: "points", Symbol: "M", Kind: param.Integer, Default: "80", Min: 20, Max: 120, Low: 20, High: 120},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40},
				},
				Show: showGeneralisationFewer,
			},
			Questions: []Question{{
				Slug: "sparsest", Ask: "Of the ninety machines shown at first, take the one with the fewest support vectors and the one with the least error. Are they the same?",
				Options: []string{"Yes: fewer support vectors, better generalisation.", "No: the sparsest one is clearly worse."},
				Answer:  generalisationSparsest,
				Explain: `Few terms can be too few: a machine with two or three of them draws too simple a boundary. Sparseness is worth having for speed and memory, and it has to be judged together with the error.`,
			}},
		},
		{
			Slug: "tuning", Title: "Tune on points that will not be the judge",
			Covers: []string{"001 14.4", "000 steps"},
			Words:  generalisationTuningWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "noise", Label: "noise", Kind: param.Number, Default: "0.6", Min: 0, Max: 2, Low: 0.1, High: 2},
					{Name: "candidates", Label: "settings tried", Kind: param.Integer, Default: "12", Min: 1, Max: generalisationSettings, Low: 1, High: generalisationSettings},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40},
				},
				Show: showGeneralisationTuning,
			},
			Questions: []Question{{
				Slug: "flatter", Ask: "Twelve settings are tried and the one with the best accuracy on the test fold is kept. What does that accuracy tell about new points?",
				Options: []string{"It is about right: the test fold was not trained on.", "It is too good on average.", "It is too bad on average."},
				Answer:  generalisationFlatter,
				Explain: `The best of twelve numbers with noise in them owes part of its rank to the noise. It is the first screen of lesson “Risk” once more, with settings in place of functions.`,
			}},
		},
		{
			Slug: "study", Title: "A small honest study",
			Covers: []string{"000 steps", "001 14.4"},
			Words:  generalisationStudyWords,
			Demo: &Demo{
				Old: []param.Param{
					DataParam("iris-versicolor-virginica"),
					{Name: "folds", Label: "folds", Kind: param.Integer, Default: "5", Min: 3, Max: 8, Low: 3, High: 8},
					{Name: "draw", Label: "draw", Kind: param.Integer, Default: "1", Min: 1, Max: 40, Low: 1, High: 40, Help: "Another number, other folds."},
				},
				Show: showGeneralisationStudy,
			},
			Questions: []Question{{
				Slug: "conformal", Ask: "On the data shown at first, with settings chosen on training folds only: by how much does the conformal map raise the mean accuracy of the MCM?",
				Options: []string{"By more than twice the standard error of the difference.", "By nothing that stands out from the spread over the folds, or it lowers it."},
				Answer:  generalisationConformal,
				Explain: `A difference within two standard errors is what chance alone would show. That is no proof that the map never helps; it is what these data say.`,
			}},
		},
		{
			Slug: "summary", Title: "What to take home",
			Covers: []string{"002 summary", "002 summary-hard", "000 steps"},
			Words:  generalisationSummaryWords,
			Demo: &Demo{
				Old: []param.Param{
					{Name: "gamma", Label: "width", Symbol: "γ", Kind: param.Number, Default: "1", Min: 0.01, Max: 100, Low: 0.05, High: 30, Log: true},
					{Name: "C", Label: "C", Symbol: "C", Kind: param.Number, Default: "1", Min: 1e-3, Max: 1e4, Low: 0.01, High: 1000, Log: true},
				},
				Show: showGeneralisationSummary,
			},
			Questions: []Question{{
				Slug: "sparse-by-c", Ask: "You want an SVM with fewer support vectors. Which way do you turn $C$ at first?",
				Options: []string{"Down: regularisation makes the solution sparse.", "Up: a narrower margin catches fewer points."},
				Answer:  generalisationSparseByC,
				Explain: `And watch the held-out error while you do so: the fewest support vectors need not come with the least error.`,
			}},
		},
	},
}

// generalisationToy are the points that are left out one by one.
func generalisationToy() (Toy, error) { return Drawn("blobs", 30, 1.5, 2) }

// generalisationWithout trains without point i and tells whether the machine gets it wrong.
func generalisationWithout(ctx context.Context, t Toy, i int, pairs ...string) (res *ml.Result, spec ml.Spec, d *dataset.Data, wrong bool, err error) {
	if d, err = t.Without(i).Data(); err != nil {
		return nil, spec, nil, false, err
	}
	if res, spec, err = Fit(ctx, d, pairs...); err != nil {
		return nil, spec, nil, false, err
	}
	return res, spec, d, (res.Model.Decision(t.XY[i][:]) >= 0) != (t.Y[i] > 0), nil
}

// generalisationEachOut trains once with all points and once without each of them.
func generalisationEachOut(ctx context.Context, t Toy, pairs ...string) (full *ml.Result, wrong []bool, err error) {
	d, err := t.Data()
	if err != nil {
		return nil, nil, err
	}
	if full, _, err = Fit(ctx, d, pairs...); err != nil {
		return nil, nil, err
	}
	wrong = make([]bool, len(t.Y))
	for i := range t.Y {
		if _, _, _, wrong[i], err = generalisationWithout(ctx, t, i, pairs...); err != nil {
			return nil, nil, err
		}
	}
	return full, wrong, nil
}

func showGeneralisationLeaveOut(ctx context.Context, in Input) (*Exhibit, error) {
	t, err := generalisationToy()
	if err != nil {
		return nil, err
	}
	n := len(t.Y)
	svm := in.Text("machine") == "svm"
	pairs := func(c float64) []string {
		return []string{"learner", in.Text("machine"), "kernel", in.Text("kernel"), "gamma", in.Text("gamma"), "C", Setting(c), "tol", "1e-5"}
	}
	c := in.Number("C")
	full, wrong, err := generalisationEachOut(ctx, t, pairs(c)...)
	if err != nil {
		return nil, err
	}
	e := &Exhibit{Steps: n + 1, Step: min(in.Step, n), Lab: t.Lab(pairs(c)...)}

	bound, missed := figure.Curve{Name: "N_SV / N"}, figure.Curve{Name: "left-out error"}
	for _, v := range Logspace(0.01, 1000, 9) {
		one, miss, err := generalisationEachOut(ctx, t, pairs(v)...)
		if err != nil {
			return nil, err
		}
		bound.X, bound.Y = append(bound.X, v), append(bound.Y, theory.LeaveOneOutBound(one.Report.SupportVectors, n).Value)
		missed.X, missed.Y = append(missed.X, v), append(missed.Y, float64(CountTrue(miss))/float64(n))
	}
	curves := []figure.Curve{missed}
	caption := "The left-out error of the MCM. Its support vectors give no bound, so none is drawn."
	if svm {
		curves, caption = append(curves, bound), "The left-out error stays below the bound, usually far below."
	}
	chart := Figure{Name: "against-c", Wide: true, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: "share of points", Min: 0, Max: 1.05}, Curves: curves, Here: &c}.Picture()
	}}

	all, err := t.Data()
	if err != nil {
		return nil, err
	}
	spec, err := NewSpec(pairs(c)...)
	if err != nil {
		return nil, err
	}
	points, err := full.Model.Points(all, spec)
	if err != nil {
		return nil, err
	}
	so := CountTrue(wrong[:e.Step])
	if e.Step == 0 {
		e.Figures = []Figure{Boundary("leave", "All points. Step leaves one out at a time.", full.Model, all, spec, nil), chart}
		e.Notes = []string{fmt.Sprintf("Trained on all %d points: %d support vectors (ringed).", n, full.Report.SupportVectors)}
	} else {
		i := e.Step - 1
		res, spec, d, miss, err := generalisationWithout(ctx, t, i, pairs(c)...)
		if err != nil {
			return nil, err
		}
		e.Figures = []Figure{generalisationOverlay(res.Model, full.Model, d, spec, points[i], miss), chart}
		e.Notes = []string{fmt.Sprintf("Point %d at %s is left out. It was %s. The machine without it gets it %s.", i+1, Pair(t.XY[i]),
			Either(points[i].Role != ml.None, "a support vector", Either(svm, "no support vector, so nothing changes", "no support vector, and still the machine may change")),
			Either(miss, "wrong", "right"))}
	}
	e.Numbers = []Number{{Label: "errors so far", Value: fmt.Sprintf("%d of %d left out", so, e.Step)}}
	e.Numbers = append(e.Numbers, Number{Label: "left-out error", Value: fmt.Sprintf("%d of %d", CountTrue(wrong), n), Help: Percent(float64(CountTrue(wrong)) / float64(n))})
	if svm {
		b := theory.LeaveOneOutBound(full.Report.SupportVectors, n)
		e.Numbers = append(e.Numbers, Number{Label: "bound $N_{SV}/N$", Value: Worth(b), Help: fmt.Sprintf("%d support vectors of %d points", full.Report.SupportVectors, n)})
	} else {
		few := CountTrue(wrong) > full.Report.SupportVectors
		e.Numbers = append(e.Numbers, Number{Label: "support vectors", Value: strconv.Itoa(full.Report.SupportVectors), Help: Either(few, "fewer than the errors: their number is no bound for an MCM", "their number is no bound for an MCM")})
	}
	return e, nil
}

// generalisationOverlay shows the machine without a point over that with it.
func generalisationOverlay(less, full *ml.Model, d *dataset.Data, spec ml.Spec, out ml.Point, wrong bool) Figure {
	return Figure{Name: "leave", Caption: "The boundary without the hollow point, over the one with it. Where only one line is seen, nothing has changed.", Draw: func(l Look) (*figure.Picture, error) {
		points, err := less.Points(d, spec)
		if err != nil {
			return nil, err
		}
		out.HeldOut, out.Wrong = true, wrong
		v, _ := less.View()
		scene := figure.Scene{Model: less, Points: append(points, out), View: v, Classes: d.Classes, Dark: l.Dark, Width: l.Width, Height: l.Height, LegendRows: 2, Grid: 80}
		whole := scene
		whole.Model = full
		return figure.Overlay([]figure.Layer{{Name: "without the point", Scene: scene}, {Name: "with all points", Scene: whole}})
	}}
}

// generalisationSmallC compares the numbers of support vectors at two prices.
func generalisationSmallC(ctx context.Context) (float64, error) {
	t, err := generalisationToy()
	if err != nil {
		return 0, err
	}
	d, err := t.Data()
	if err != nil {
		return 0, err
	}
	var sv [2]int
	for i, c := range []string{"10", "0.01"} {
		res, _, err := Fit(ctx, d, "kernel", "linear", "C", c)
		if err != nil {
			return 0, err
		}
		sv[i] = res.Report.SupportVectors
	}
	switch {
	case sv[1] < sv[0]:
		return 0, nil
	case sv[1] > sv[0]:
		return 1, nil
	}
	return 2, nil
}

// generalisationNotForMCM looks for more left-out errors than support vectors.
func generalisationNotForMCM(ctx context.Context) (float64, error) {
	t, err := generalisationToy()
	if err != nil {
		return 0, err
	}
	full, wrong, err := generalisationEachOut(ctx, t, "learner", "mcm", "kernel", "linear", "C", "1")
	if err != nil {
		return 0, err
	}
	return Yes(CountTrue(wrong) <= full.Report.SupportVectors), nil
}

// generalisationEnough is the number of points from which on the sparse bound of a
// machine with nsv support vectors is below a share of errors.
func generalisationEnough(nsv int, share float64) int {
	return sort.Search(1_000_000, func(n int) bool {
		return n > nsv && theory.SparseBound(nsv, n, 0.05).Value < share
	})
}

func showGeneralisationPromises(ctx context.Context, in Input) (*Exhibit, error) {
	const depth = 0.8 // of the two sides
	linear := in.Text("kernel") == "linear"
	m := in.Int("m")
	most, err := Drawn("separable", 1000, depth, uint64(in.Int("draw")))
	if err != nil {
		return nil, err
	}
	unseen, err := Drawn("separable", 2000, depth, FreshSeed)
	if err != nil {
		return nil, err
	}
	fresh, err := unseen.Data()
	if err != nil {
		return nil, err
	}
	pairs := []string{"kernel", in.Text("kernel"), "gamma", "1", "hard_margin", "true"}
	at := func(n int) (t Toy, d *dataset.Data, res *ml.Result, spec ml.Spec, truth float64, err error) {
		t = Toy{most.XY[:n], most.Y[:n]}
		if d, err = t.Data(); err != nil {
			return
		}
		if res, spec, err = Fit(ctx, d, pairs...); err != nil {
			return
		}
		truth, err = ErrorRate(res.Model, fresh)
		return
	}
	curves := []figure.Curve{{Name: "true error"}, {Name: "N_SV / N"}, {Name: "sparse bound"}}
	if linear {
		curves = append(curves, figure.Curve{Name: "VC bound, h = 3"})
	}
	for _, v := range Logspace(10, 1000, 10) {
		n := int(math.Round(v))
		_, _, res, _, truth, err := at(n)
		if err != nil {
			return nil, err
		}
		sv := res.Report.SupportVectors
		for i, y := range []float64{truth, theory.LeaveOneOutBound(sv, n).Value, theory.SparseBound(sv, n, 0.05).Value, theory.VCBound(0, 3, n, 0.05).Value}[:len(curves)] {
			curves[i].X, curves[i].Y = append(curves[i].X, float64(n)), append(curves[i].Y, y)
		}
	}
	t, d, res, spec, truth, err := at(m)
	if err != nil {
		return nil, err
	}
	sv := res.Report.SupportVectors
	here := float64(m)
	e := &Exhibit{
		Figures: []Figure{
			{Name: "promises", Caption: "Bounds and the true error of hard-margin machines as points come in. A share above 1 says nothing.", Draw: func(l Look) (*figure.Picture, error) {
				return figure.Chart{Format: l.Format(2), X: figure.Axis{Name: "points N", Log: true}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 1.5}, Curves: curves, Rules: []figure.Rule{{Name: "vacuous above", At: 1}}, Here: &here}.Picture()
			}},
			Boundary("machine", "The machine at this number of points.", res.Model, d, spec, func(s *figure.Scene) { s.Points = s.Points[:min(len(s.Points), 300)] }),
		},
		Numbers: []Number{
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", sv, m)},
			{Label: "true error", Value: Percent(truth), Help: "on 2000 new points"},
			{Label: "leave-one-out bound", Value: Worth(theory.LeaveOneOutBound(sv, m))},
			{Label: "sparse bound", Value: Worth(theory.SparseBound(sv, m, 0.05)), Help: `with $\delta = 0.05$`},
		},
	}
	if linear {
		e.Numbers = append(e.Numbers, Number{Label: "VC bound of 002", Value: Worth(theory.VCBound(0, 3, m, 0.05)), Help: "$h = 3$ for lines"})
	}
	if m <= 200 {
		e.Lab = t.Lab(pairs...)
	}
	return e, nil
}

// generalisationTrial is one machine of a comparison.
type generalisationTrial struct {
	machine string
	pairs   []string
	vectors int
	wrong   float64 // share of fresh points
}

// generalisationMachines are the names of the machines that are compared.
var generalisationMachines = []string{"SVM", "MCM", "sparse MCM", "conformal MCM"}

// generalisationPairs are the settings of a machine.
func generalisationPairs(machine, rho, c, gamma string) []string {
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

// generalisationNoise is how much each pattern is blurred.
var generalisationNoise = map[string]float64{"moons": 0.3, "blobs": 0.9, "circles": 0.2, "checkerboard": 0.05}

// generalisationTrials trains SVM, MCM and sparse MCM over a grid of C and gamma.
func generalisationTrials(ctx context.Context, pattern, rho string, m int, draw uint64) (Toy, []generalisationTrial, error) {
	t, err := Drawn(pattern, m, generalisationNoise[pattern], draw)
	if err != nil {
		return t, nil, err
	}
	d, err := t.Data()
	if err != nil {
		return t, nil, err
	}
	unseen, err := Drawn(pattern, 1000, generalisationNoise[pattern], FreshSeed)
	if err != nil {
		return t, nil, err
	}
	fresh, err := unseen.Data()
	if err != nil {
		return t, nil, err
	}
	var all []generalisationTrial
	for _, machine := range generalisationMachines[:3] {
		for _, c := range []string{"0.1", "1", "10", "100", "1000"} {
			for _, gamma := range []string{"0.03", "0.1", "0.5", "2", "8", "30"} {
				pairs := generalisationPairs(machine, rho, c, gamma)
				res, _, err := Fit(ctx, d, pairs...)
				if err != nil {
					return t, nil, err
				}
				wrong, err := ErrorRate(res.Model, fresh)
				if err != nil {
					return t, nil, err
				}
				all = append(all, generalisationTrial{machine, pairs, res.Report.SupportVectors, wrong})
			}
		}
	}
	return t, all, nil
}

// generalisationBest has the least error, and of equal ones the fewest support vectors.
func generalisationBest(all []generalisationTrial) generalisationTrial {
	return slices.MinFunc(all, func(a, b generalisationTrial) int {
		return cmp.Or(cmp.Compare(a.wrong, b.wrong), cmp.Compare(a.vectors, b.vectors))
	})
}

// generalisationFewest has the fewest support vectors, and of equal ones the least error.
func generalisationFewest(all []generalisationTrial) generalisationTrial {
	return slices.MinFunc(all, func(a, b generalisationTrial) int {
		return cmp.Or(cmp.Compare(a.vectors, b.vectors), cmp.Compare(a.wrong, b.wrong))
	})
}

func showGeneralisationFewer(ctx context.Context, in Input) (*Exhibit, error) {
	m := in.Int("m")
	t, all, err := generalisationTrials(ctx, in.Text("pattern"), in.Text("rho"), m, uint64(in.Int("draw")))
	if err != nil {
		return nil, err
	}
	best := generalisationBest(all)
	var marks []figure.Mark
	table := Table{Caption: "Of each machine the setting with the least error, then the one with the fewest support vectors", Head: []string{"machine", "least error", "SVs", "fewest SVs", "error", "rank corr."}}
	top := 0.0
	for i, machine := range generalisationMachines[:3] {
		var mine []generalisationTrial
		var sv, wrong []float64
		for _, tr := range all {
			if tr.machine == machine {
				mine, sv, wrong = append(mine, tr), append(sv, float64(tr.vectors)), append(wrong, tr.wrong)
				marks = append(marks, figure.Dot{At: [2]float64{float64(tr.vectors), 100 * tr.wrong}, Class: i, Name: machine, Ring: slices.Equal(tr.pairs, best.pairs)})
				top = max(top, 100*tr.wrong)
			}
		}
		b, s := generalisationBest(mine), generalisationFewest(mine)
		table.Rows = append(table.Rows, []string{
			machine, Percent(b.wrong), strconv.Itoa(b.vectors), strconv.Itoa(s.vectors), Percent(s.wrong),
			views.Short(math.Round(100*generalisationCorrelation(sv, wrong)) / 100),
		})
	}
	doubt := 200 * math.Sqrt(best.wrong*(1-best.wrong)/1000)
	return &Exhibit{
		Figures: []Figure{{Name: "scatter", Caption: "Every mark is a machine with its own $C$ and $\\gamma$. If fewer were better, the marks would rise to the right. The ringed one has the least error.", Draw: func(l Look) (*figure.Picture, error) {
			return figure.Plane{
				Format: l.Format(2), X: "support vectors", Y: "error on 1000 new points, %", Stretched: true,
				Limits: figure.Limits{XMin: -2, XMax: float64(m) + 2, YMin: 0, YMax: top + 3}, Marks: marks,
			}.Picture()
		}}},
		Tables: []Table{table},
		Notes:  []string{fmt.Sprintf("The least error, %s ± %.1f, is that of the %s with C = %s, γ = %s and %d support vectors. (Picked by looking at the new points, so it flatters a little.)", Percent(best.wrong), doubt, best.machine, best.pairs[3], best.pairs[5], best.vectors)},
		Lab:    t.Lab(best.pairs...),
	}, nil
}

// generalisationCorrelation is Spearman's, with mean ranks for ties; 0 where one side is
// constant.
func generalisationCorrelation(a, b []float64) float64 {
	r := stat.Correlation(generalisationRanks(a), generalisationRanks(b), nil)
	if math.IsNaN(r) {
		return 0
	}
	return r
}

// generalisationRanks are the places of the values in ascending order, equal ones sharing theirs.
func generalisationRanks(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, a := range v {
		for _, b := range v {
			switch {
			case b < a:
				out[i]++
			case b == a:
				out[i] += 0.5
			}
		}
	}
	return out
}

// generalisationSparsest tells whether the sparsest machine is clearly worse.
func generalisationSparsest(ctx context.Context) (float64, error) {
	_, all, err := generalisationTrials(ctx, "moons", "0.05", 80, 1)
	if err != nil {
		return 0, err
	}
	return Yes(generalisationFewest(all).wrong < generalisationBest(all).wrong+0.03), nil
}

// generalisationTuned is what two ways to choose among settings claim and get in
// one draw of the data.
type generalisationTuned struct {
	claimed, truth         []float64 // best on the test fold, after k+1 settings, and its true error
	fairClaimed, fairTruth float64   // best in a cross-validation of the training points
}

const (
	generalisationSettings = 16 // that are tried, in an order drawn anew each time
	generalisationRepeats  = 20 // of the draw, which a standard error needs
)

// generalisationDraws repeats: draw 50 training and 20 test points, try settings
// one after the other, keep the best on the test points; or, of the first
// candidates, the best in a cross-validation of the training points.
func generalisationDraws(ctx context.Context, noise float64, candidates int, draw uint64, repeats int) ([]generalisationTuned, error) {
	const training, testing = 50, 20
	fresh, err := FreshMoons(1000, noise)
	if err != nil {
		return nil, err
	}
	gammas := Logspace(0.02, 50, generalisationSettings)
	out := make([]generalisationTuned, repeats)
	for r := range out {
		seed := 1000*draw + uint64(r)
		t, err := Drawn("moons", training+testing, noise, seed)
		if err != nil {
			return nil, err
		}
		all, err := t.Data()
		if err != nil {
			return nil, err
		}
		train, test := SelectRows(all, generalisationRange(0, training)), SelectRows(all, generalisationRange(training, training+testing))
		o := &out[r]
		best, truth := 2.0, 0.0
		o.fairClaimed = 2
		for k, i := range rand.New(rand.NewPCG(seed, 0x0de)).Perm(generalisationSettings) {
			spec, err := NewSpec("C", []string{"1", "100"}[i%2], "gamma", Setting(gammas[i]))
			if err != nil {
				return nil, err
			}
			res, err := Train(ctx, train, spec)
			if err != nil {
				return nil, err
			}
			onTest, err := ErrorRate(res.Model, test)
			if err != nil {
				return nil, err
			}
			inner := 2.0
			if k < candidates {
				cv, err := eval.CrossValidate(ctx, train, spec, nil, eval.Scheme{Folds: 3, Seed: draw}, nil)
				if err != nil {
					return nil, err
				}
				inner = 1 - cv.Settings[0].Accuracy
			}
			if onTest < best || inner < o.fairClaimed {
				actual, err := ErrorRate(res.Model, fresh)
				if err != nil {
					return nil, err
				}
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
	return out, nil
}

// generalisationRange are the numbers from a to b, without b.
func generalisationRange(a, b int) []int {
	s := make([]int, b-a)
	for i := range s {
		s[i] = a + i
	}
	return s
}

// generalisationFolds deals rows of d out into folds, each class evenly.
func generalisationFolds(d *dataset.Data, rows []int, folds int, seed uint64) ([][]int, error) {
	y := make([]float64, len(rows))
	for k, i := range rows {
		y[k] = float64(d.Y[i])
	}
	out, err := eval.Folds(y, folds, seed)
	for _, f := range out {
		for a, k := range f {
			f[a] = rows[k]
		}
	}
	return out, err
}

// generalisationOthers are all rows of the folds but those of fold k.
func generalisationOthers(folds [][]int, k int) (rows []int) {
	for i, f := range folds {
		if i != k {
			rows = append(rows, f...)
		}
	}
	slices.Sort(rows)
	return rows
}

// generalisationMean is the mean with its standard error, not a number for one value.
func generalisationMean(v []float64) (mean, standardError float64) {
	if len(v) < 2 {
		return stat.Mean(v, nil), math.NaN()
	}
	mean, sd := stat.MeanStdDev(v, nil)
	return mean, sd / math.Sqrt(float64(len(v)))
}

func showGeneralisationTuning(ctx context.Context, in Input) (*Exhibit, error) {
	repeats := generalisationRepeats
	if in.Coarse {
		repeats = 8
	}
	n := in.Int("candidates")
	draws, err := generalisationDraws(ctx, in.Number("noise"), n, uint64(in.Int("draw")), repeats)
	if err != nil {
		return nil, err
	}
	column := func(at func(generalisationTuned) float64) []float64 {
		v := make([]float64, len(draws))
		for i, o := range draws {
			v[i] = at(o)
		}
		return v
	}
	curves := []figure.Curve{{Name: "error on the test fold that chose"}, {Name: "true error of that choice"}}
	top := 0.0
	for k := range generalisationSettings {
		for j, at := range []func(generalisationTuned) float64{
			func(o generalisationTuned) float64 { return o.claimed[k] }, func(o generalisationTuned) float64 { return o.truth[k] },
		} {
			m, se := generalisationMean(column(at))
			c := &curves[j]
			c.X, c.Y = append(c.X, float64(k+1)), append(c.Y, m)
			c.Lo, c.Hi = append(c.Lo, m-se), append(c.Hi, m+se)
			top = max(top, m+se)
		}
	}
	cell := func(at func(generalisationTuned) float64) string {
		m, se := generalisationMean(column(at))
		return fmt.Sprintf("%s ± %.1f", Minus(fmt.Sprintf("%.1f", 100*m)), 100*se)
	}
	here := float64(n)
	return &Exhibit{
		Figures: []Figure{{Name: "tuning", Caption: fmt.Sprintf("Means over %d repetitions, with a standard error to both sides. Each further setting lets the test fold claim less error; the truth does not follow.", repeats), Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{Format: l.Format(2), X: figure.Axis{Name: "settings tried", Min: 1, Max: generalisationSettings}, Y: figure.Axis{Name: "share of errors", Min: 0, Max: 1.15 * top}, Curves: curves, Here: &here}.Picture()
		}}},
		Tables: []Table{{
			Caption: "Mean error in %, with its standard error", Head: []string{"chosen by", "claimed", "true", "flattery"},
			Rows: [][]string{
				{"test fold", cell(func(o generalisationTuned) float64 { return o.claimed[n-1] }), cell(func(o generalisationTuned) float64 { return o.truth[n-1] }), cell(func(o generalisationTuned) float64 { return o.truth[n-1] - o.claimed[n-1] })},
				{"inner folds", cell(func(o generalisationTuned) float64 { return o.fairClaimed }), cell(func(o generalisationTuned) float64 { return o.fairTruth }), cell(func(o generalisationTuned) float64 { return o.fairTruth - o.fairClaimed })},
			},
		}},
		Notes: []string{"Inner folds do the choosing as well, so their own claim is no final judge either: a study needs an outer test fold besides."},
	}, nil
}

// generalisationFlatter asks whether the claim is too good by more than chance.
func generalisationFlatter(ctx context.Context) (float64, error) {
	const n = 12
	draws, err := generalisationDraws(ctx, 0.6, n, 1, generalisationRepeats)
	if err != nil {
		return 0, err
	}
	var v []float64
	for _, o := range draws {
		v = append(v, o.truth[n-1]-o.claimed[n-1])
	}
	switch m, se := generalisationMean(v); {
	case m > 2*se:
		return 1, nil
	case m < -2*se:
		return 2, nil
	}
	return 0, nil
}

// generalisationFold is one outer fold of the study: by machine what was chosen on the
// training rows, and how it did on the test rows.
type generalisationFold struct {
	chosen   []ml.Spec
	accuracy []float64
	vectors  []float64
}

const (
	generalisationMost = 90 // at most, so that a fold takes no longer than a blink
	generalisationRho  = "0.05"
)

// generalisationChoose picks C and gamma of a machine by cross-validation on these rows
// alone; of equal settings the first, with the smaller gamma and C.
func generalisationChoose(ctx context.Context, d *dataset.Data, machine string, rows []int, seed uint64) (ml.Spec, error) {
	spec, err := NewSpec(append(generalisationPairs(machine, generalisationRho, "1", "1"), "standardize", "true")...)
	if err != nil {
		return spec, err
	}
	cv, err := eval.CrossValidate(ctx, SelectRows(d, rows), spec, eval.Grid{
		"C": eval.Numbers(1, 10, 100), "gamma": eval.Numbers(0.1, 0.5, 2.5),
	}, eval.Scheme{Folds: 3, Seed: seed}, nil)
	if err != nil {
		return spec, err
	}
	best := cv.Settings[cv.Best].Values
	return spec.With("C", best["C"]).With("gamma", best["gamma"]), nil
}

// generalisationRun runs the first outer folds.
func generalisationRun(ctx context.Context, d *dataset.Data, folds, first int, seed uint64) ([]generalisationFold, error) {
	parts, err := generalisationFolds(d, generalisationSample(len(d.Y), seed), folds, seed)
	if err != nil {
		return nil, err
	}
	var out []generalisationFold
	for k := range first {
		var f generalisationFold
		train := generalisationOthers(parts, k)
		for _, machine := range generalisationMachines {
			spec, err := generalisationChoose(ctx, d, machine, train, seed)
			if err != nil {
				return nil, err
			}
			res, err := Train(ctx, SelectRows(d, train), spec)
			if err != nil {
				return nil, err
			}
			a, err := res.Model.Accuracy(SelectRows(d, parts[k]))
			if err != nil {
				return nil, err
			}
			f.chosen, f.accuracy, f.vectors = append(f.chosen, spec), append(f.accuracy, a), append(f.vectors, float64(res.Report.SupportVectors))
		}
		out = append(out, f)
	}
	return out, nil
}

// generalisationSample draws at most generalisationMost of n rows.
func generalisationSample(n int, seed uint64) []int {
	rows := rand.New(rand.NewPCG(seed, 0x5a3)).Perm(n)
	rows = rows[:min(n, generalisationMost)]
	slices.Sort(rows)
	return rows
}

func showGeneralisationStudy(ctx context.Context, in Input) (*Exhibit, error) {
	_, d, err := in.Data(ctx)
	if err != nil {
		return nil, err
	}
	if len(d.Classes) != 2 {
		return nil, param.Refuse("choose data with two", "this study compares machines on two classes")
	}
	folds := in.Int("folds")
	e := &Exhibit{Steps: folds, Step: min(in.Step, folds-1)}
	fs, err := generalisationRun(ctx, d, folds, e.Step+1, uint64(in.Int("draw")))
	if err != nil {
		return nil, err
	}
	with := func(mean, se float64) string {
		if math.IsNaN(se) {
			return Minus(fmt.Sprintf("%.1f", 100*mean))
		}
		return Minus(fmt.Sprintf("%.1f ± %.1f", 100*mean, 100*se))
	}
	t := Table{Caption: "Accuracy in % on test folds so far: mean and standard error, and the difference to the SVM fold by fold", Head: []string{"machine", "accuracy", "minus SVM", "SVs", "chosen in this fold"}}
	var curves []figure.Curve
	top, winner := -1.0, 0
	for j, machine := range generalisationMachines {
		acc := Column(fs, func(f generalisationFold) float64 { return f.accuracy[j] })
		curve := figure.Curve{Name: machine, Marks: true, Y: acc}
		for i := range acc {
			curve.X = append(curve.X, float64(i+1)+0.06*(float64(j)-1.5)) // beside each other, as many are equal
		}
		curves = append(curves, curve)
		mean, se := generalisationMean(acc)
		if mean > top {
			top, winner = mean, j
		}
		change := "–"
		if j > 0 {
			change = with(generalisationMean(Column(fs, func(f generalisationFold) float64 { return f.accuracy[j] - f.accuracy[0] })))
		}
		chosen := fs[e.Step].chosen[j]
		t.Rows = append(t.Rows, []string{
			machine, with(mean, se), change, views.Short(stat.Mean(Column(fs, func(f generalisationFold) float64 { return f.vectors[j] }), nil)),
			"C = " + chosen.Text("C") + ", γ = " + chosen.Text("gamma"),
		})
	}
	rows := min(len(d.Y), generalisationMost)
	low := 1.0
	for _, c := range curves {
		low = min(low, slices.Min(c.Y))
	}
	e.Figures = []Figure{{Name: "study", Caption: "Accuracy on the test fold, fold by fold. Lines that cross say that the order of the machines is a matter of the fold.", Draw: func(l Look) (*figure.Picture, error) {
		return figure.Chart{Format: l.Format(2), X: figure.Axis{Name: "fold", Min: 0.8, Max: float64(folds) + 0.2}, Y: figure.Axis{Name: "accuracy", Min: math.Floor(10*low)/10 - 0.05, Max: 1.02}, Curves: curves}.Picture()
	}}}
	e.Tables = []Table{t}
	e.Notes = []string{fmt.Sprintf("Fold %d of %d is held out. On the other %d rows nine settings of each machine are judged by three inner folds; the best is trained again and meets the held-out rows once.", e.Step+1, folds, rows-rows/folds)}
	spec := fs[e.Step].chosen[winner]
	e.Lab = LabQuery(in.Text("data"), append(generalisationPairs(generalisationMachines[winner], generalisationRho, spec.Text("C"), spec.Text("gamma")), "test_fraction", "0.25")...)
	return e, nil
}

// generalisationConformal compares the MCM with and without the map.
func generalisationConformal(ctx context.Context) (float64, error) {
	b, ok := dataset.FindBuiltin("iris-versicolor-virginica")
	if !ok {
		return 0, errors.New("the data set iris-versicolor-virginica is missing")
	}
	d, err := b.Load()
	if err != nil {
		return 0, err
	}
	fs, err := generalisationRun(ctx, d, 5, 5, 1)
	if err != nil {
		return 0, err
	}
	mean, se := generalisationMean(Column(fs, func(f generalisationFold) float64 { return f.accuracy[3] - f.accuracy[1] }))
	return Yes(mean > 2*se), nil
}

func showGeneralisationSummary(ctx context.Context, in Input) (*Exhibit, error) {
	const m = 80
	t, err := Drawn("moons", m, generalisationNoise["moons"], 1)
	if err != nil {
		return nil, err
	}
	d, err := t.Data()
	if err != nil {
		return nil, err
	}
	fresh, err := FreshMoons(1000, generalisationNoise["moons"])
	if err != nil {
		return nil, err
	}
	vectors, wrong := make([]figure.Curve, 3), make([]figure.Curve, 3)
	table := Table{Caption: "At the chosen C and γ", Head: []string{"machine", "support vectors", "training error", "held-out error"}}
	for j, machine := range generalisationMachines[:3] {
		vectors[j].Name, wrong[j].Name = machine, machine
		for _, c := range Logspace(0.01, 1000, 11) {
			res, _, err := Fit(ctx, d, generalisationPairs(machine, generalisationRho, Setting(c), in.Text("gamma"))...)
			if err != nil {
				return nil, err
			}
			miss, err := ErrorRate(res.Model, fresh)
			if err != nil {
				return nil, err
			}
			vectors[j].X, vectors[j].Y = append(vectors[j].X, c), append(vectors[j].Y, float64(res.Report.SupportVectors))
			wrong[j].X, wrong[j].Y = append(wrong[j].X, c), append(wrong[j].Y, miss)
		}
		res, _, err := Fit(ctx, d, generalisationPairs(machine, generalisationRho, in.Text("C"), in.Text("gamma"))...)
		if err != nil {
			return nil, err
		}
		miss, err := ErrorRate(res.Model, fresh)
		if err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, []string{machine, strconv.Itoa(res.Report.SupportVectors), Percent(1 - res.Report.TrainAccuracy), Percent(miss)})
	}
	here := in.Number("C")
	chart := func(name, caption, axis string, top float64, cs []figure.Curve, wide bool) Figure {
		return Figure{Name: name, Caption: caption, Wide: wide, Draw: func(l Look) (*figure.Picture, error) {
			return figure.Chart{Format: l.Format(1), X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: axis, Min: 0, Max: top}, Curves: cs, Here: &here}.Picture()
		}}
	}
	return &Exhibit{
		Figures: []Figure{
			chart("vectors", "Support vectors against $C$. Those of the SVM fall as $C$ rises.", "support vectors of 80", m+4, vectors, false),
			chart("errors", "The held-out error of the same machines. The two pictures have different shapes.", "held-out error", 0.55, wrong, true),
		},
		Tables: []Table{table},
		Lab:    t.Lab(generalisationPairs("SVM", generalisationRho, in.Text("C"), in.Text("gamma"))...),
	}, nil
}

// generalisationSparseByC finds which way of turning C leaves fewer support vectors.
func generalisationSparseByC(ctx context.Context) (float64, error) {
	t, err := Drawn("moons", 80, generalisationNoise["moons"], 1)
	if err != nil {
		return 0, err
	}
	d, err := t.Data()
	if err != nil {
		return 0, err
	}
	var sv [2]int
	for i, c := range []string{"0.1", "10"} {
		res, _, err := Fit(ctx, d, generalisationPairs("SVM", generalisationRho, c, "1")...)
		if err != nil {
			return 0, err
		}
		sv[i] = res.Report.SupportVectors
	}
	return Yes(sv[0] < sv[1]), nil
}
