package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// searches are plans that differ in what their cells share.
var searches = map[string]struct {
	spec   map[string]string
	grid   eval.Grid
	scheme eval.Scheme
}{
	"svm": {
		map[string]string{"standardize": "false"},
		eval.Grid{"C": {param.Of(100), param.Of(1)}, "gamma": {param.Of(0.5), param.Of("scale")}},
		eval.Scheme{Folds: 3, Repeats: 2, Seed: 7, Nested: true},
	},
	"svm standardised": {nil, eval.Grid{"C": {param.Of(1), param.Of(10)}, "kernel": {param.Of("linear"), param.Of("rbf")}}, eval.Scheme{Folds: 3, Seed: 2}},
	"hard or soft":     {map[string]string{"gamma": "50"}, eval.Grid{"C": {param.Of(1), param.Of(10)}, "hard_margin": {param.Of(true), param.Of(false)}}, eval.Scheme{Folds: 2}},
	"sparse mcm": {
		map[string]string{"learner": "mcm", "kernel": "poly", "conformal": "gradient", "core_step": "5"},
		eval.Grid{"rho": {param.Of(0), param.Of(0.01)}, "coef0": {param.Of(0), param.Of(1)}, "degree": {param.Of(2), param.Of(3)}, "core_gamma": {param.Of(0.1), param.Of(1)}, "rank_tol": {param.Of(1e-06), param.Of(1e-9)}},
		eval.Scheme{Folds: 2, Seed: 3},
	},
}

// throughJSON is v after a journey as text.
func throughJSON[T any](t *testing.T, v T) T {
	t.Helper()
	same := require.Reread(t, v)
	require.Equal(t, cmp.Diff(v, same), "", "JSON changes it")
	return same
}

// The cells of a plan as other processes would compute them: from text, out of order, some twice.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	for name, s := range searches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := moons(t, 60)
			spec := with(t, ml.DefaultSpec(), s.spec)
			before := spec
			want := require.Value(eval.CrossValidate(t.Context(), d, spec, s.grid, s.scheme, nil))(t)
			plan := require.Value(eval.NewPlan(d, spec, s.grid, s.scheme))(t)
			require.Equal(t, cmp.Diff(before, spec), "", "planning changed the spec")
			again, err := eval.NewPlan(d, spec, s.grid, s.scheme)
			require.Check(t, err == nil && cmp.Equal(plan, again),
				"planned again it differs: %v: %s", err, cmp.Diff(plan, again))

			var results []eval.CellResult
			cells := plan.Cells()
			r := rand.New(rand.NewPCG(1, 2))
			order := append(r.Perm(len(cells)), r.Perm(len(cells))[:len(cells)/3]...)
			text := require.Written(t, d.Encode)
			for _, i := range order {
				theirs := require.Value(dataset.Decode(strings.NewReader(text)))(t)
				result := require.Value(eval.NewWorker(theirs, 0).Compute(t.Context(), throughJSON(t, cells[i])))(t)
				results = append(results, throughJSON(t, result))
			}
			require.Equal(t, cmp.Diff(want, throughJSON(t, require.Value(throughJSON(t, plan).Reduce(results))(t))), "", "diff")
			names := map[string]bool{}
			for _, c := range cells {
				name := require.Value(c.Name())(t)
				names[name] = true
			}
			require.Check(t, len(names) == len(cells), "%d names of %d cells", len(names), len(cells))
		})
	}
}

// TestNames names alike what is to give the same, and nothing else.
func TestNames(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	first := func(d *dataset.Data, spec ml.Spec, grid eval.Grid, scheme eval.Scheme) string {
		t.Helper()
		plan := require.Value(eval.NewPlan(d, spec, grid, scheme))(t)
		return require.Value(plan.Cells()[0].Name())(t)
	}
	spec, grid, scheme := ml.DefaultSpec(), eval.Grid{"C": {param.Of(1), param.Of(10)}, "gamma": {param.Of(0.5), param.Of(1)}}, eval.Scheme{Folds: 4, Seed: 1}
	name := first(d, spec, grid, scheme)
	require.Check(t, len(name) == 64, "name %q", name)
	nested, more := scheme, scheme
	nested.Nested, more.Repeats = true, 3
	idle := spec
	idle.CacheBytes = 1 << 20
	for what, same := range map[string]string{
		"the order of C":                  first(d, spec, eval.Grid{"C": {param.Of(10), param.Of(1)}, "gamma": {param.Of(0.5), param.Of(1)}}, scheme),
		"values elsewhere in the grid":    first(d, spec, eval.Grid{"C": {param.Of(1), param.Of(10)}, "gamma": {param.Of(0.5), param.Of(7)}}, scheme),
		"nesting":                         first(d, spec, grid, nested),
		"more repeats":                    first(d, spec, grid, more),
		"what folds replace":              first(d, with(t, spec, map[string]string{"test_fraction": "0.3", "seed": "9", "label": d.Label}), grid, scheme),
		"values that do not apply":        first(d, with(t, spec, map[string]string{"degree": "5", "rho": "1"}), grid, scheme),
		"a C that is searched anyway":     first(d, with(t, spec, map[string]string{"C": "77"}), grid, scheme),
		"the memory of the machine":       first(d, idle, grid, scheme),
		"the same points read once more":  first(moons(t, 40), spec, grid, scheme),
		"a seed of the spec, which folds": first(d, with(t, spec, map[string]string{"seed": "3"}), grid, scheme),
	} {
		require.Check(t, same == name, "%s changes the name", what)
	}
	other := scheme
	other.Seed = 2
	for what, differs := range map[string]string{
		"the data":     first(moons(t, 42), spec, grid, scheme),
		"the seed":     first(d, spec, grid, other),
		"gamma":        first(d, spec, eval.Grid{"C": {param.Of(1), param.Of(10)}, "gamma": {param.Of(0.6), param.Of(1)}}, scheme),
		"C":            first(d, spec, eval.Grid{"C": {param.Of(1), param.Of(11)}, "gamma": {param.Of(0.5), param.Of(1)}}, scheme),
		"tol":          first(d, with(t, spec, map[string]string{"tol": "1e-4"}), grid, scheme),
		"preparations": first(d, with(t, spec, map[string]string{"standardize": "false"}), grid, scheme),
	} {
		require.Check(t, differs != name, "%s does not change the name", what)
	}
}

// TestGridOfAnything searches numbers of other learners, and choices.
func TestGridOfAnything(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	s := searches["sparse mcm"]
	res := require.Value(eval.CrossValidate(t.Context(), d, with(t, ml.DefaultSpec(), s.spec), s.grid, s.scheme, nil))(t)
	require.Slices(t, res.Searched, []string{"C", "gamma", "coef0", "degree", "rho", "rank_tol", "core_gamma"},
		"searched")
	got := lists.Map(res.Settings, func(s eval.Setting) string { return strings.Join(lists.Map(res.Searched, s.Values.Text), " ") })
	var want []string
	for _, gamma := range []string{"auto"} {
		for _, coef0 := range []string{"0", "1"} {
			for _, degree := range []string{"2", "3"} {
				for _, rho := range []string{"0 1e-06", "0 1e-09", "0.01 "} { // no rank tolerance beside rho > 0
					for _, core := range []string{"0.1", "1"} {
						want = append(want, strings.Join([]string{"1", gamma, coef0, degree, rho, core}, " "))
					}
				}
			}
		}
	}
	require.Equal(t, cmp.Diff(want, got), "", "diff")
	// One of the settings, fold by fold.
	y, _, _, err := d.Binary("")
	require.NoError(t, err)
	folds := require.Value(eval.Folds(y, 2, 3))(t)
	for _, at := range []int{0, 17} {
		spec := with(t, ml.DefaultSpec(), s.spec)
		for name, v := range res.Settings[at].Values {
			spec = spec.With(name, v)
		}
		for k, f := range folds {
			got, want := res.Settings[at].Folds[k].Accuracy, byHand(t, d, spec, all(d), f)
			require.Check(t, got == want, "setting %d, fold %d: accuracy %g, by hand %g", at, k, got, want)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := eval.Rows(slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 0, 40, rapid.ID[int]).Draw(t, "rows"))))
		require.Slices(t, require.Reread(t, rows), rows, "read again")
	})
	for _, bad := range []eval.Rows{{-1}, {3, 2}, {4, 4}} {
		text, err := json.Marshal(bad)
		require.Check(t, err != nil, "%v became %s", bad, text)
	}
	require.Check(t, json.Unmarshal([]byte(`"AQ*="`), new(eval.Rows)) != nil, "a star is not base64")
}

// TestComputeRefuses gets cells that no plan made.
func TestComputeRefuses(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	worker := eval.NewWorker(d, 0)
	for name, c := range map[string]struct {
		spoil func(*eval.Cell)
		says  string
	}{
		"other data":       {func(c *eval.Cell) { c.Data = "0123456789abcdef" }, "hash 0123456789ab,"},
		"a row too many":   {func(c *eval.Cell) { c.Split.Test = eval.Rows{40} }, "row 40 is out of range: the data have 40 rows"},
		"a negative row":   {func(c *eval.Cell) { c.Split.Test = eval.Rows{-1} }, "rows: -1"},
		"a leak":           {func(c *eval.Cell) { c.Split.Test = c.Split.Train[:3] }, "occurs twice"},
		"nothing to train": {func(c *eval.Cell) { c.Split.Train = nil }, "expected training rows"},
		"nothing to judge": {func(c *eval.Cell) { c.Split.Test = nil }, "expected training rows"},
		"one class":        {func(c *eval.Cell) { c.Split.Train = c.Split.Train[:1] }, "class"},
		"C that falls":     {func(c *eval.Cell) { c.Path.C = []float64{1, 0.5} }, "start at the C of the spec"},
		"another C":        {func(c *eval.Cell) { c.Path.C = []float64{2, 3} }, "start at the C of the spec"},
		"no C":             {func(c *eval.Cell) { c.Path.C = nil }, "start at the C of the spec"},
		"too large a C":    {func(c *eval.Cell) { c.Path.C = []float64{1, 1e300} }, "C must be"},
	} {
		cell := require.Value(eval.NewPlan(d, ml.DefaultSpec(), nil, eval.Scheme{Folds: 4}))(t).Cells()[0]
		c.spoil(&cell)
		require.Fails(t, require.Err(worker.Compute(t.Context(), cell)), c.says, "%s", name)
	}
}

// TestComputeAfterCancel finds nothing left of a training that was given up.
func TestComputeAfterCancel(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	spec := with(t, ml.DefaultSpec(), map[string]string{"standardize": "false"})
	cell := require.Value(eval.NewPlan(d, spec, nil, eval.Scheme{Folds: 4}))(t).Cells()[0]
	want := require.Value(eval.NewWorker(d, 0).Compute(t.Context(), cell))(t)
	worker := eval.NewWorker(d, 0)
	for looks := range int64(20) {
		_, err := worker.Compute(mltest.NewLooks(t.Context(), looks), cell)
		require.Must(t, err == nil || errors.Is(err, context.Canceled), "%v", err)
	}
	got, err := worker.Compute(t.Context(), cell)
	want.Seconds, got.Seconds = 0, 0 // by the clock
	require.Check(t, err == nil && cmp.Equal(want, got), "%v: %s", err, cmp.Diff(want, got))
}

func TestReduceRefuses(t *testing.T) {
	t.Parallel()
	d := moons(t, 40)
	plan := require.Value(eval.NewPlan(d, ml.DefaultSpec(), nil, eval.Scheme{Folds: 4}))(t)
	worker := eval.NewWorker(d, 0)
	results := lists.Map(plan.Cells(), func(c eval.Cell) eval.CellResult { return require.Value(worker.Compute(t.Context(), c))(t) })
	foreign := eval.CellResult{Cell: "of another plan"}
	require.Equal(t, require.Err(plan.Reduce(append([]eval.CellResult{foreign}, results...))), nil, "a result too many")
	differs := results[1]
	differs.Folds = slices.Clone(differs.Folds)
	differs.Folds[0].SupportVectors++
	short := eval.CellResult{Cell: results[2].Cell}
	for what, c := range map[string]struct {
		results []eval.CellResult
		says    string
	}{
		"cells missing":    {results[2:], "2 of 4 cells have no result"},
		"a contradiction":  {append(slices.Clone(results), differs), "two different results"},
		"a training short": {append(slices.Clone(results[3:]), short, results[0], results[1]), "has 0 trainings: expected 1"},
	} {
		require.Fails(t, require.Err(plan.Reduce(c.results)), c.says, "%s", what)
	}
	require.Fails(t, require.Err(new(eval.Plan).Reduce(nil)), "", "an empty plan has no result")
}
