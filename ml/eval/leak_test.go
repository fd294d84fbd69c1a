package eval_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// leaky are trainings of which one part or another is fitted to points: what comes in the place of
// missing values (see holes), the scaling, the projection, the width of the kernel, the conformal map
// with its cores, the mixture of a Fisher kernel, Platt's sigmoid.
var leaky = map[string]map[string]string{
	"scaling":    {"standardize": "true", "gamma": "0.7"},
	"projection": {"project": "pca"},
	"width":      {"standardize": "false", "gamma": "scale"},
	"conformal":  {"conformal": "gradient", "standardize": "false", "gamma": "1"},
	"eigen":      {"conformal": "eigen", "standardize": "false", "gamma": "1"},
	"mixture":    {"kernel": "fisher", "standardize": "false", "tol": "1e-8"},
	"sigmoid":    {"calibration": "platt", "standardize": "false"},
	"mcm":        {"learner": "mcm"},
	"ridge":      {"learner": "ridge"},
	"fill":       {"standardize": "false", "gamma": "0.7"},
}

// holes is d without some values, where what leaks is to be the fill of these.
func holes(d *dataset.Data, name string) *dataset.Data {
	if name != "fill" {
		return d
	}
	gappy := *d
	gappy.Given = mat.DenseCopyOf(d.X)
	for i := range d.Len() {
		if i%3 > 0 {
			gappy.Given.Set(i, i%3-1, math.NaN())
		}
	}
	return gappy.Filled(gappy.FitFill(all(d)))
}

// leak compares a fold as judge judges it with the same after the points that it holds out
// have gone elsewhere, but for one, on which both are judged: what a machine says of that
// point depends on no other point held out, but that a kernel with large values of them has
// its rows kept in double precision. It says what differs, "" where nothing does.
func leak(t *testing.T, d *dataset.Data, spec ml.Spec, judge func(d *dataset.Data, spec ml.Spec, train, test []int) ml.Judged) string {
	t.Helper()
	target := require.Value(ml.TargetOf(d, spec))(t)
	folds := require.Value(eval.Folds(target.Strata(), 3, 1))(t)
	held := map[int]bool{}
	for _, i := range folds[0] {
		held[i] = true
	}
	train := lists.Where(len(d.Y), func(i int) bool { return !held[i] })
	one := folds[0][:1]
	moved := d.Subset(all(d))
	moved.X = mat.DenseCopyOf(d.X)
	if d.Given != nil {
		moved.Given = mat.DenseCopyOf(d.Given)
	}
	for _, i := range folds[0][1:] {
		for j, v := range d.X.RawRowView(i) {
			moved.X.Set(i, j, 40-9*v)
			if d.Given != nil {
				moved.Given.Set(i, j, 40-9*d.Given.At(i, j))
			}
		}
	}
	a, b := judge(d, spec, train, one), judge(moved, spec, train, one)
	return cmp.Diff(
		[]any{a.Scores.RawMatrix().Data, a.TrainAccuracy, a.SupportVectors, a.LogLoss},
		[]any{b.Scores.RawMatrix().Data, b.TrainAccuracy, b.SupportVectors, b.LogLoss},
		cmpopts.EquateApprox(0, 1e-6))
}

// judged is what a trainer on d makes of the rows of test.
func judged(t *testing.T, d *dataset.Data, spec ml.Spec, train, test []int) ml.Judged {
	t.Helper()
	all := require.Value(require.Value(ml.NewTrainer(d, spec))(t).Judge(t.Context(), train, test, []float64{1}))(t)
	require.Must(t, all[0].Fault == nil, "%v", all[0].Fault)
	return all[0]
}

func all(d *dataset.Data) []int { return dataset.Indices(len(d.Y)) }

// Whatever is fitted is fitted to the training points alone.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	d := moons(t, 90)
	for name, set := range leaky {
		spec := with(t, ml.DefaultSpec(), set)
		diff := leak(t, holes(d, name), spec, func(d *dataset.Data, spec ml.Spec, train, test []int) ml.Judged {
			return judged(t, d, spec, train, test)
		})
		require.Check(t, diff == "", "%s: points held out change the machine:\n%s", name, diff)
	}
	// Each of the leaky ones, fitted on purpose to all points but the one it is judged on, is caught.
	d = moons(t, 90)
	for name, set := range leaky {
		spec := with(t, ml.DefaultSpec(), set)
		diff := leak(t, holes(d, name), spec, func(d *dataset.Data, spec ml.Spec, _, test []int) ml.Judged {
			return judged(t, d, spec, slices.DeleteFunc(all(d), func(i int) bool { return slices.Contains(test, i) }), test)
		})
		require.Check(t, diff != "", "%s: what is fitted to points held out goes unnoticed", name)
	}
}

// A planted leak is caught: data that are scaled, or filled, as a whole before they are dealt.
func TestPlantedLeakIsCaught(t *testing.T) {
	t.Parallel()
	d := moons(t, 90)
	spec := with(t, ml.DefaultSpec(), leaky["fill"])
	for name, plant := range map[string]func(d *dataset.Data) *dataset.Data{
		"scaling": func(d *dataset.Data) *dataset.Data {
			scaled := d.Subset(all(d))
			scaled.X = dataset.FitScaler(d.X).Apply(d.X)
			return scaled
		},
		"fill": func(d *dataset.Data) *dataset.Data {
			whole := d.Filled(d.FitFill(all(d)))
			whole.Given = nil
			return whole
		},
	} {
		diff := leak(t, holes(d, name), spec, func(d *dataset.Data, spec ml.Spec, train, test []int) ml.Judged {
			return judged(t, plant(d), spec, train, test)
		})
		require.Says(t, diff, "float64", "%s of all points", name)
	}
}

// table reads rows of a number, a word and a class, the last thirty of them as they are given,
// and judges the last one by a machine that the first sixty have trained.
func table(t *testing.T, held func(i int) string, missing dataset.Missing) (*dataset.Data, ml.Judged) {
	t.Helper()
	var text strings.Builder
	text.WriteString("size,colour,class\n")
	for i := range 90 {
		row := fmt.Sprintf("%d,%s,%s", (7*i)%31, []string{"red", "green", "blue"}[i%3], []string{"a", "b"}[(7*i)%31/16])
		switch {
		case i == 3 && missing == dataset.MissingMedian:
			row = ",red,a"
		case i >= 60 && i < 89:
			row = held(i)
		}
		fmt.Fprintln(&text, row)
	}
	d := require.Value(dataset.Read(strings.NewReader(text.String()), "rows.csv", dataset.Mapping{Features: []string{"size", "colour"}, Missing: missing}, dataset.DefaultLimits))(t)
	return d, judged(t, d, with(t, ml.DefaultSpec(), map[string]string{"gamma": "0.5"}), all(d)[:60], []int{89})
}

// A word that only points held out have makes a column of 0 for all that train: nothing changes.
func TestWordsDoNotLeak(t *testing.T) {
	t.Parallel()
	d, a := table(t, func(int) string { return "3,red,a" }, dataset.MissingError)
	wide, b := table(t, func(i int) string { return fmt.Sprintf("%d,%s,b", i, []string{"violet", "white"}[i%2]) }, dataset.MissingError)
	require.Must(t, len(wide.Features) == len(d.Features)+2, "%v, then %v", d.Features, wide.Features)
	require.Equal(t, cmp.Diff(a.Scores.RawMatrix().Data, b.Scores.RawMatrix().Data, cmpopts.EquateApprox(0, 1e-9)), "", "diff")
	// Training uses the median of the training rows; the data shown have the median of all rows, with a note.
	d, a = table(t, func(int) string { return "3,red,a" }, dataset.MissingMedian)
	all, b := table(t, func(int) string { return "30,red,b" }, dataset.MissingMedian)
	require.Equal(t, cmp.Diff(a.Scores.RawMatrix().Data, b.Scores.RawMatrix().Data, cmpopts.EquateApprox(0, 1e-9)), "", "diff")
	require.Check(t, d.X.At(3, 0) != all.X.At(3, 0), "both show %g in place of the missing value", d.X.At(3, 0))
	require.Says(t, strings.Join(d.Notes, " "), "computed on the training rows only", "nothing says so")
}

// Each machine has the medians of the rows that train it: in every split, nested ones as well.
func TestFillOfEverySplit(t *testing.T) {
	t.Parallel()
	d := holes(moons(t, 60), "fill")
	d.Features = append([]string{}, d.Features...)
	wide := *d
	wide.Features = append(wide.Features, "fold")
	wide.X, wide.Given = mat.NewDense(60, 3, nil), mat.NewDense(60, 3, nil)
	for i := range 60 {
		wide.X.SetRow(i, append(append([]float64{}, d.X.RawRowView(i)...), float64(i%4)))
		wide.Given.SetRow(i, append(append([]float64{}, d.Given.RawRowView(i)...), float64(i%4)))
	}
	spec := with(t, ml.DefaultSpec(), map[string]string{"gamma": "0.7", "C": "10", "standardize": "false"})
	for name, c := range map[string]struct {
		data   *dataset.Data
		scheme eval.Scheme
	}{
		"folds":    {d, eval.Scheme{Folds: 4, Repeats: 2}},
		"nested":   {d, eval.Scheme{Folds: 3, Nested: true}},
		"alone":    {d, eval.Scheme{LeaveOneOut: true}},
		"shares":   {d, eval.Scheme{HoldOut: 0.3, Repeats: 4}},
		"column":   {&wide, eval.Scheme{Column: "fold"}},
		"learning": {d, eval.Scheme{Folds: 3, Learning: []float64{0.3, 1}}},
	} {
		plan := require.Value(eval.NewPlan(c.data, spec, nil, c.scheme))(t, "%v", name)
		worker, fills := eval.NewWorker(c.data, 0), map[string]bool{}
		for _, cell := range plan.Cells() {
			got := require.Value(worker.Compute(t.Context(), cell))(t, "%v", name)
			fill := c.data.FitFill(cell.Split.Train)
			fills[fmt.Sprint(fill)] = true
			whole := c.data.Filled(fill)
			whole.Given = nil
			trainer := require.Value(ml.NewTrainer(whole, cell.Path.Spec))(t, "%v", name)
			want := require.Value(trainer.Judge(t.Context(), cell.Split.Train, cell.Split.Test, cell.Path.C))(t, "%v", name)
			if f := got.Folds[0]; f.Accuracy != want[0].Accuracy || f.TrainAccuracy != want[0].TrainAccuracy || f.SupportVectors != want[0].SupportVectors {
				t.Errorf("%s: %+v, by hand %+v", name, f, want[0])
			}
		}
		require.Check(t, len(fills) >= 2, "%s: all splits have the same medians", name)
	}
}

// A column of folds holds out its groups, and no machine sees it.
func TestFoldColumn(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	wide := d.Subset(all(d))
	wide.Features = append(append([]string{}, d.Features...), "fold")
	wide.X = mat.NewDense(60, 3, nil)
	for i := range 60 {
		wide.X.SetRow(i, append(append([]float64{}, d.X.RawRowView(i)...), float64(i/15)*2.5-1))
	}
	scheme := eval.Scheme{Column: "fold", Nested: true}
	grid := eval.Grid{"C": eval.Numbers(0.1, 10)}
	plan := require.Value(eval.NewPlan(wide, ml.DefaultSpec(), grid, scheme))(t)
	n, err := scheme.Count(wide)
	require.Check(t, err == nil && n == 4*(1+3) && len(plan.Splits) == 4 && len(plan.Inner[2]) == 3, "%d splits, %v", n, err)
	for g, s := range plan.Splits {
		for _, i := range s.Test {
			require.Check(t, i/15 == g, "row %d is in fold %d", i, g)
		}
		require.Check(t, len(s.Test) == 15 && len(s.Train) == 45, "%d and %d rows", len(s.Train), len(s.Test))
	}
	got := require.Value(eval.CrossValidate(t.Context(), wide, ml.DefaultSpec(), grid, scheme, nil))(t)
	for c, value := range []string{"0.1", "10"} {
		for g, f := range got.Settings[c].Folds {
			want := byHand(t, d, with(t, ml.DefaultSpec(), map[string]string{"C": value}), all(d), plan.Splits[g].Test)
			require.Check(t, f.Accuracy == want, "C = %s, fold %d: accuracy %g, without the column %g", value, g, f.Accuracy, want)
		}
	}
	// A fold that leaves nothing of a class to train on.
	for i := range 60 {
		wide.X.Set(i, 2, float64(wide.Y[i]))
	}
	require.Fails(t, require.Err(eval.NewPlan(wide, ml.DefaultSpec(), nil, eval.Scheme{Column: "fold"})), "none are left for training", "the error")
}

// Drawn shares hold out so much of every class, anew each time, and the same under a seed.
func TestHoldOut(t *testing.T) {
	t.Parallel()
	d := uneven(t)
	scheme := eval.Scheme{HoldOut: 0.25, Repeats: 8, Seed: 5}
	a := require.Value(eval.NewPlan(d, ml.DefaultSpec(), nil, scheme))(t)
	b, err := eval.NewPlan(d, ml.DefaultSpec(), nil, scheme)
	require.Check(t, err == nil && cmp.Equal(a, b), "%v: %s", err, cmp.Diff(a, b))
	seen := map[string]bool{}
	for _, s := range a.Splits {
		rare := 0
		for _, i := range s.Test {
			rare += d.Y[i]
		}
		require.Check(t, rare == 4 && len(s.Test) == 24, "%d points held out, %d of the rare class", len(s.Test), rare)
		text := require.Value(s.Test.MarshalJSON())(t)
		seen[string(text)] = true
	}
	require.Check(t, len(a.Splits) == 8 && len(seen) == 8, "%d draws, %d of them different", len(a.Splits), len(seen))
}
