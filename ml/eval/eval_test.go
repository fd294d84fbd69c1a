package eval_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

func TestFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SliceOfN(rapid.SampledFrom([]float64{-1, 1, 1, 1, 2}), 1, 60).Draw(t, "y")
		k := rapid.IntRange(2, 7).Draw(t, "k")
		seed := rapid.Uint64().Draw(t, "seed")
		total := map[float64]int{}
		for _, c := range y {
			total[c]++
		}
		folds, err := eval.Folds(y, k, seed)
		for _, n := range total {
			if n < k {
				require.Must(t, err != nil && strings.Contains(err.Error(), "use fewer folds"),
					"%d points of a class for %d folds: %v", n, k, err)
				return
			}
		}
		require.Must(t, err == nil && len(folds) == k, "%d folds, %v", len(folds), err)
		all := slices.Concat(folds...)
		slices.Sort(all)
		for i, r := range all {
			require.Must(t, i == r, "folds %v are not the rows once each", folds)
		}
		require.Must(t, len(all) == len(y), "%d of %d rows", len(all), len(y))
		for _, f := range folds {
			require.Must(t, slices.IsSorted(f) && (len(f) == len(y)/k || len(f) == len(y)/k+1),
				"fold %v of %d rows in %d", f, len(y), k)
			held := map[float64]int{}
			for _, i := range f {
				held[y[i]]++
			}
			for c, n := range total {
				require.Must(t, held[c] == n/k || held[c] == n/k+1,
					"%d rows of class %g, %d of them in one of %d folds", n, c, held[c], k)
			}
		}
		same, err := eval.Folds(lists.Map(y, func(c float64) float64 { return -c }), k, seed)
		require.Must(t, err == nil && cmp.Equal(folds, same),
			"the names of the classes change the folds: %v, %v", same, err)
	})
}

func TestFoldsSeeds(t *testing.T) {
	t.Parallel()
	y := lists.Make(60, func(i int) float64 { return float64(i % 2) })
	deal := func(seed uint64) [][]int {
		return require.Value(eval.Folds(y, 3, seed))(t)
	}
	require.Equal(t, cmp.Diff(deal(1), deal(1)), "", "diff")
	// Every row has its chance in each fold: 100 ± 8 times of 300.
	first := make([]int, len(y))
	for seed := range uint64(300) {
		for _, i := range deal(seed)[0] {
			first[i]++
		}
	}
	require.Check(t, slices.Min(first) >= 60 && slices.Max(first) <= 140,
		"rows are in the first fold %d to %d times, expected about 100", slices.Min(first), slices.Max(first))
	require.Fails(t, require.Err(eval.Folds(y, 1, 1)), "", "a single fold is no fold")
}

func moons(t testing.TB, n int) *dataset.Data {
	t.Helper()
	return require.Value(dataset.Generate("moons", n, 0.3, 3))(t)
}

// byHand is the accuracy on the rows of test of a training on the others among rows.
func byHand(t *testing.T, d *dataset.Data, spec ml.Spec, rows, test []int) float64 {
	t.Helper()
	train := lists.Filter(rows, func(i int) bool { return !slices.Contains(test, i) })
	res := require.Value(ml.Train(t.Context(), d.Subset(train), spec, nil))(t)
	return require.Value(res.Model.Accuracy(d.Subset(test)))(t)
}

func with(t *testing.T, spec ml.Spec, values map[string]string) ml.Spec {
	t.Helper()
	for name, text := range values {
		require.NoError(t, spec.Set(name, text))
	}
	return spec
}

// TestCrossValidate repeats cells with Train, fold by fold.
func TestCrossValidate(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]map[string]string{
		"svm":              {"standardize": "false", "tol": "1e-6"},
		"svm standardised": {"tol": "1e-6"},
		"mcm":              {"learner": "mcm"},
		"conformal":        {"conformal": "gradient"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := moons(t, 81)
			spec := with(t, ml.DefaultSpec(), set)
			gammas := []param.Value{param.Of("auto"), param.Of(3)}
			res, err := eval.CrossValidate(t.Context(), d, spec, eval.Grid{"C": {param.Of(20), param.Of(1)}, "gamma": gammas}, eval.Scheme{Folds: 4, Repeats: 2, Seed: 5}, nil)
			require.NoError(t, err)
			y, _, _, err := d.Binary("")
			require.NoError(t, err)
			folds := require.Value(eval.Folds(y, 4, 5))(t)
			require.Must(t, len(res.Settings) == 4, "%d settings", len(res.Settings))
			for i, cell := range res.Settings {
				values := param.Values{"C": param.Of([]int{1, 20}[i%2]), "gamma": gammas[i/2]}
				spec := spec.With("C", values["C"]).With("gamma", values["gamma"])
				require.Must(t, cmp.Equal(cell.Values, values) && len(cell.Folds) == 8 && cell.Converged(),
					"setting %d is %+v", i, cell)
				accuracies := lists.Map(cell.Folds, func(f eval.Fold) float64 { return f.Accuracy })
				for k, f := range folds {
					require.Equal(t, accuracies[k], byHand(t, d, spec, all(d), f),
						"setting %d, fold %d: accuracy by hand and found", i, k)
				}
				mean, sd := stat.MeanStdDev(accuracies, nil)
				require.Check(t, cell.Accuracy == mean && cell.Deviation == sd, "setting %d: %g ± %g, want %g ± %g", i, cell.Accuracy, cell.Deviation, mean, sd)
				if best := res.Settings[res.Best]; cell.Accuracy > best.Accuracy+1e-12 || i < res.Best && cell.Accuracy > best.Accuracy-1e-12 {
					t.Errorf("setting %d is as good as the best, %d", i, res.Best)
				}
			}
		})
	}
}

// When the points of an outer fold move, the choice does not, and the score is the chosen cell's.
func TestNested(t *testing.T) {
	t.Parallel()
	d := moons(t, 90)
	spec := ml.DefaultSpec()
	grid := eval.Grid{"C": {param.Of(0.01), param.Of(1), param.Of(100)}, "gamma": {param.Of(0.1), param.Of(1), param.Of(100)}}
	s := eval.Scheme{Folds: 3, Seed: 1, Nested: true}
	res := require.Value(eval.CrossValidate(t.Context(), d, spec, grid, s, nil))(t)
	s.Nested = false
	plain := require.Value(eval.CrossValidate(t.Context(), d, spec, grid, s, nil))(t)
	require.Equal(t, cmp.Diff(plain.Settings, res.Settings), "", "the settings are not those of the plain grid")
	var accuracies []float64
	for k, cell := range res.Nested.Chosen {
		accuracies = append(accuracies, res.Settings[cell].Folds[k].Accuracy)
	}
	if mean, sd := stat.MeanStdDev(accuracies, nil); len(accuracies) != 3 || res.Nested.Accuracy != mean || res.Nested.Deviation != sd {
		t.Errorf("%+v, want mean %g and deviation %g of %v", res.Nested, mean, sd, accuracies)
	}

	y, _, _, err := d.Binary("")
	require.NoError(t, err)
	folds := require.Value(eval.Folds(y, 3, 1))(t)
	// The points of the fold go elsewhere; the labels, and with them the deal, stay.
	spoilt := d.Subset(all(d))
	spoilt.X = mat.DenseCopyOf(d.X)
	for _, i := range folds[1] {
		spoilt.X.SetRow(i, []float64{100 * y[i], -3})
	}
	s.Nested = true
	other := require.Value(eval.CrossValidate(t.Context(), spoilt, spec, grid, s, nil))(t)
	require.Equal(t, other.Nested.Chosen[1], res.Nested.Chosen[1], "choice after the held-out fold has changed")
}

// TestWithoutGrid leaves out what does not apply.
func TestWithoutGrid(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	two := eval.Scheme{Folds: 2}
	spec := with(t, ml.DefaultSpec(), map[string]string{"kernel": "linear"})
	res, err := eval.CrossValidate(t.Context(), d, spec, eval.Grid{"C": {param.Of(1), param.Of(2)}, "gamma": {param.Of(1), param.Of(2)}}, two, nil)
	require.Check(t, err == nil && len(res.Settings) == 2 && cmp.Equal(res.Settings[1].Values, param.Values{"C": param.Of(2)}),
		"linear: %+v, %v", res, err)
	spec = with(t, ml.DefaultSpec(), map[string]string{"hard_margin": "true", "gamma": "100"})
	res, err = eval.CrossValidate(t.Context(), d, spec, eval.Grid{"C": {param.Of(1), param.Of(2)}}, two, nil)
	require.Check(t, err == nil && len(res.Settings) == 1 && cmp.Equal(res.Settings[0].Values, param.Values{"gamma": param.Of(100)}),
		"hard margin: %+v, %v", res, err)
	spec = with(t, ml.DefaultSpec(), map[string]string{"max_iter": "1"})
	res, err = eval.CrossValidate(t.Context(), d, spec, nil, two, nil)
	require.Check(t, err == nil && len(res.Settings) == 1 && !res.Settings[0].Converged() && res.Settings[0].Folds[0].Status == trace.IterationLimit,
		"one iteration: %+v, %v", res, err)
}

func TestCrossValidateFails(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	lonely := d.Subset(all(d)[:8])
	for i := range lonely.Y {
		lonely.Y[i] = min(i, 1)
	}
	two := eval.Scheme{Folds: 2}
	many := lists.Make(101, func(i int) param.Value { return param.Of(i + 1) })
	for name, c := range map[string]struct {
		data *dataset.Data
		grid eval.Grid
		s    eval.Scheme
		says string
	}{
		"one point of a class": {lonely, nil, two, "class -1 has only 1"},
		"too many folds":       {d, nil, eval.Scheme{Folds: 21}, "class -1 has only 20"},
		"too many to nest":     {d, nil, eval.Scheme{Folds: 20, Nested: true}, "nested, in the training set"},
		"no folds":             {d, nil, eval.Scheme{}, "at least 2"},
		"C":                    {d, eval.Grid{"C": {param.Of(-1)}}, two, "C must be"},
		"gamma":                {d, eval.Grid{"gamma": {param.Of(1), param.Of(-2)}}, two, "gamma must be"},
		"NaN":                  {d, eval.Grid{"C": eval.Numbers(1, math.NaN())}, two, "C must be"},
		"no parameter":         {d, eval.Grid{"sigma": {param.Of(1)}}, two, "sigma is not a parameter"},
		"other points":         {d, eval.Grid{"test_fraction": {param.Of(0.1), param.Of(0.2)}}, two, "test_fraction cannot be searched"},
		"other classes":        {d, eval.Grid{"positive": {param.Of("a")}}, two, "positive cannot be searched"},
		"too many settings":    {d, eval.Grid{"C": many, "gamma": many}, two, "C: the grid has more than 10000 settings"},
	} {
		require.Fails(t, require.Err(eval.CrossValidate(t.Context(), c.data, ml.DefaultSpec(), c.grid, c.s, nil)), c.says,
			"%s", name)
	}
	ctx := mltest.Ended()
	require.Is(t, require.Err(eval.CrossValidate(ctx, d, ml.DefaultSpec(), nil, two, nil)), context.Canceled, "an ended context gives")
}

// TestProgress receives every cell once, and cancels when half of them are done.
func TestProgress(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	grid, scheme := eval.Grid{"gamma": {param.Of(0.1), param.Of(1), param.Of(10)}, "C": {param.Of(1), param.Of(10)}}, eval.Scheme{Folds: 4}
	var heard []int
	_, err := eval.CrossValidate(t.Context(), d, ml.DefaultSpec(), grid, scheme, func(done, total int) {
		require.Check(t, total == 12, "%d of %d", done, total) // all C of a path are one cell
		heard = append(heard, done)
	})
	want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	require.Check(t, err == nil && slices.Equal(heard, want), "heard %v, %v", heard, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := 0
	_, err = eval.CrossValidate(ctx, d, ml.DefaultSpec(), grid, eval.Scheme{Folds: 4, Repeats: 50}, func(done, _ int) {
		if last = done; done == 6 {
			cancel()
		}
	})
	// A cell that is being computed when the context ends may still be done.
	require.Check(t, errors.Is(err, context.Canceled) && last >= 6 && last <= 6+runtime.GOMAXPROCS(0),
		"cancelled after 6 cells: %d were done, %v", last, err)
}
