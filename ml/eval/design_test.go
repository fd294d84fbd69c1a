package eval_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func axes(t *testing.T, text string) eval.Axes {
	t.Helper()
	return require.JSON[eval.Axes](t, text)
}

func drawn(t *testing.T, text, design string, points int, seed uint64) *eval.Drawn {
	t.Helper()
	return require.Value(axes(t, text).Design(design, points, seed))(t).(*eval.Drawn)
}

// The points lie in their ranges, are the same under a seed, others under another, and a
// longer list begins with the shorter one. What is drawn in equal proportions is as often
// below the geometric mean of the range as above.
func TestDrawn(t *testing.T) {
	t.Parallel()
	const text = `{"C": [0.01, 1, 100], "gamma": "0.1..10/log", "coef0": "-2..2", "degree": "2..5", "kernel": ["poly", "rbf"], "tol": 0.001}`
	for _, design := range []string{eval.OfRandom, eval.OfSobol} {
		settings := func(points int, seed uint64) []param.Values {
			return require.Value(drawn(t, text, design, points, seed).Settings())(t)
		}
		all := settings(512, 3)
		require.Check(t, len(all) == 512 && cmp.Equal(all[:64], settings(64, 3)) && !cmp.Equal(all, settings(512, 4)),
			"%s: %d settings, or others under the same seed, or the same under another", design, len(all))
		low, polys := 0, 0
		degrees := map[int]int{}
		for _, s := range all {
			c, gamma, coef0 := s.Number("C"), s.Number("gamma"), s.Number("coef0")
			require.Must(t, c >= 0.01 && c <= 100 && gamma >= 0.1 && gamma <= 10 && coef0 >= -2 && coef0 <= 2 && s.Number("tol") == 0.001,
				"%s: %v", design, s)
			if c < 1 {
				low++
			}
			if s.Text("kernel") == "poly" {
				polys++
			}
			degrees[s.Int("degree")]++
		}
		slack := 60 // five standard deviations of 512 fair coins
		if design == eval.OfSobol {
			slack = 1 // rounding at the edge
		}
		require.Check(t, math.Abs(float64(low-256)) <= float64(slack) && math.Abs(float64(polys-256)) <= float64(slack),
			"%s: %d of 512 below the geometric mean, %d of one of two kernels", design, low, polys)
		for degree := 2; degree <= 5; degree++ {
			require.Near(t, float64(degrees[degree]), 128, float64(slack), "%s: degrees %v", design, degrees)
		}
	}
}

// Settings that differ in C alone are one path, and drawn cells have the names of a grid.
func TestDrawnCellsAreThoseOfAGrid(t *testing.T) {
	t.Parallel()
	d := moons(t, 60)
	draw := drawn(t, `{"C": "0.1..10"}`, eval.OfSobol, 5, 1)
	settings := require.Value(draw.Settings())(t)
	grid := eval.Grid{}
	for _, s := range settings {
		grid["C"] = append(grid["C"], s["C"])
	}
	scheme := eval.Scheme{Folds: 3, Seed: 1}
	a := require.Value(eval.NewPlan(d, ml.DefaultSpec(), draw, scheme))(t)
	b := require.Value(eval.NewPlan(d, ml.DefaultSpec(), grid, scheme))(t)
	diff := cmp.Diff(a, b)
	require.Check(t, diff == "" && len(a.Paths) == 1 && len(a.Paths[0].C) == 5, "%v %v", diff, a.Paths)
	// In several parameters each point is a path, and what a kernel does not take makes none.
	several := require.Value(drawn(t, `{"C": "0.1..10", "degree": "2..3", "kernel": ["rbf", "poly"]}`, eval.OfRandom, 40, 1).Paths(ml.DefaultSpec()))(t)
	n := 0
	for _, p := range several {
		n += p.Settings()
		require.Check(t, slices.IsSorted(p.C) && (p.Spec.Kernel != "rbf" || p.Spec.Text("degree") == ml.DefaultSpec().Text("degree")),
			"%v", p)
	}
	require.Check(t, n == 40 && len(several) == 3, // rbf, poly of degree 2 and of degree 3
		"%d settings in %d paths", n, len(several))
}

// A parameter with one value has it everywhere; what is drawn of the others is the same.
func TestOneValueIsNotDrawn(t *testing.T) {
	t.Parallel()
	for _, design := range []string{eval.OfRandom, eval.OfSobol} {
		d := drawn(t, `{"C": "0.1..10", "gamma": "0.1..10", "kernel": "laplacian", "tol": 0.01}`, design, 6, 1)
		spec, left := eval.Settled(ml.DefaultSpec(), d)
		a := require.Value(d.Paths(ml.DefaultSpec()))(t)
		b, err := left.Paths(spec)
		require.Check(t, err == nil && cmp.Equal(a, b) && spec.Kernel == "laplacian" && spec.Text("tol") == "0.01",
			"%v: %s", err, cmp.Diff(a, b))
	}
	d := drawn(t, `{"C": "0.1..10", "gamma": ["auto", 1], "coef0": "0..1"}`, eval.OfRandom, 7, 9)
	d.Besides = param.Values{"C": param.Of(2)}
	throughJSON(t, d)
}

// What no design can be is refused by the name of the field.
func TestDesignsThatCannotBe(t *testing.T) {
	t.Parallel()
	wide := map[string]string{}
	for _, p := range ml.Params {
		if p.Kind == param.Number && p.Name != "test_fraction" {
			wide[p.Name] = "0.1..0.4"
		}
	}
	for _, p := range []string{"degree", "k", "rounds", "components", "starts", "core_step"} {
		wide[p] = "1..5"
	}
	many := require.Value(json.Marshal(wide))(t)
	for _, c := range []struct {
		text, design string
		points       int
		field, says  string
	}{
		{`{"C": "0.1..10"}`, "sobel", 8, "design", "one of grid, random, sobol"},
		{`{"C": "0.1..10"}`, "sobol", 0, "points", "from 1 to 10000"},
		{`{}`, "random", 8, "design", "no parameter has a range"},
		{`{"test_fraction": "0.1..0.5"}`, "random", 8, "test_fraction", "cannot be searched"},
		{`{"target": ["class", "value"]}`, "random", 8, "target", "cannot be searched"},
		{string(many), "sobol", 8, "design", "use random, or fewer parameters"},
	} {
		_, err := axes(t, c.text).Design(c.design, c.points, 1)
		problems, ok := err.(param.Problems)
		require.Check(t, ok && strings.Contains(problems.For(c.field), c.says),
			"%.40s, %s of %d: %v", c.text, c.design, c.points, err)
	}
	for text, says := range map[string]string{
		`{"c": [1]}`:             "c is not a parameter",
		`{"C": {}}`:              "expects a list of values, or a range",
		`{"C": []}`:              "expects a list of values, or a range",
		`{"C": ["10..1"]}`:       "increasing range",
		`{"C": "-1..10"}`:        "above 0",
		`{"coef0": "0..1/3log"}`: "must start above 0",
		`{"C": ["1"]}`:           "has another type",
	} {
		var a eval.Axes
		require.Fails(t, json.Unmarshal([]byte(text), &a), says, "%s", text)
	}
}

// The sequence without a shift is SciPy's, bit for bit (testdata/sobol.py).
func TestSobol(t *testing.T) {
	t.Parallel()
	want := require.JSON[[][]float64](t, require.Value(os.ReadFile("testdata/sobol.json"))(t)) // in parts of 128
	got := eval.Sobol(len(want), make([]uint32, len(want[0])))
	for i := range got {
		for j := range got[i] {
			got[i][j] *= 128
		}
	}
	require.Equal(t, cmp.Diff(want, got), "", "diff")
}

// However it is shifted, each of 2ᵏ intervals of every coordinate has one of 2ᵏ points, and of
// the first two coordinates each box of 2ᵃ by 2ᵇ parts has one of 2ᵃ⁺ᵇ.
func TestShiftedSobolIsEven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.SliceOfN(rapid.Uint32(), 16, 16).Draw(t, "shift")
		k := rapid.IntRange(0, 8).Draw(t, "k")
		n := 1 << k
		points := eval.Sobol(n, shift)
		for j := range shift {
			seen := make([]int, n)
			for _, x := range points {
				seen[int(x[j]*float64(n))]++
			}
			require.Must(t, slices.Min(seen) == 1, "coordinate %d of %d points: %v", j, n, seen)
		}
		a := rapid.IntRange(0, k).Draw(t, "a")
		seen := map[[2]int]int{}
		for _, x := range points {
			seen[[2]int{int(x[0] * float64(int(1)<<a)), int(x[1] * float64(n>>a))}]++
		}
		require.Must(t, len(seen) == n, "%d of %d boxes", len(seen), n)
	})
}

// A search around the best keeps it, is narrower, and stays within what the parameters allow.
func TestFiner(t *testing.T) {
	t.Parallel()
	best := func(values param.Values) *eval.Result {
		return &eval.Result{Settings: []eval.Setting{{Values: values}}}
	}
	d := drawn(t, `{"C": "0.01..100", "coef0": "0..8", "degree": "1..9", "kernel": ["poly", "rbf"]}`, eval.OfSobol, 16, 5)
	next := eval.Finer(d, best(param.Values{"C": param.Of(0.01), "coef0": param.Of(3), "degree": param.Of(1), "kernel": param.Of("poly")}))
	want := &eval.Drawn{
		Design: eval.OfSobol, Points: 16, Seed: 5,
		Ranges:  map[string]eval.Range{"C": {Low: 0.001, High: 0.1, Log: true}, "coef0": {Low: 1, High: 5}, "degree": {Low: 1, High: 3}},
		Lists:   eval.Grid{"kernel": {param.Of("poly")}},
		Besides: param.Values{"C": param.Of(0.01), "coef0": param.Of(3), "degree": param.Of(1), "kernel": param.Of("poly")},
	}
	require.Equal(t, cmp.Diff(eval.Design(want), next), "", "diff")
	settings, err := next.(*eval.Drawn).Settings()
	require.Check(t, err == nil && len(settings) == 17 && cmp.Equal(settings[0], want.Besides),
		"%d settings, first %v, %v", len(settings), settings[0], err)
	// Of a grid the values of Around; nothing, where there is nothing between the values.
	next = eval.Finer(eval.Grid{"C": eval.Numbers(1, 10, 100), "degree": eval.Numbers(2, 3), "kernel": {param.Of("rbf"), param.Of("poly")}}, best(param.Values{"C": param.Of(10), "degree": param.Of(2), "kernel": param.Of("poly")}))
	diff := cmp.Diff(eval.Design(eval.Grid{"C": eval.Numbers(1, 2.15, 4.64, 10, 21.5, 46.4, 100), "degree": eval.Numbers(1, 2, 3), "kernel": {param.Of("poly")}}), next)
	require.Check(t, diff == "", "%v", diff)
	next = eval.Finer(eval.Grid{"kernel": {param.Of("rbf"), param.Of("poly")}}, best(param.Values{"kernel": param.Of("poly")}))
	require.Check(t, next == nil, "%v", next)
}

func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []float64
	}{
		{"C", "3", []float64{3}},
		{"C", "0.01..100", []float64{0.01, 0.1, 1, 10, 100}},
		{"C", "0.01..100/3", []float64{0.01, 1, 100}},
		{"C", "1..2/3lin", []float64{1, 1.5, 2}},
		{"gamma", "0.5..8/5log", []float64{0.5, 1, 2, 4, 8}},
		{"coef0", "0..1", []float64{0, 0.25, 0.5, 0.75, 1}},
		{"degree", "1..4/4", []float64{1, 2, 3, 4}},
		{"degree", "1..3/9", []float64{1, 2, 3}},
	} {
		p, _ := ml.Param(c.name)
		got, err := eval.Values(p, c.text)
		require.Check(t, err == nil && cmp.Equal(got, eval.Numbers(c.want...)),
			"%s %s: %v, %v", c.name, c.text, got, err)
	}
	for _, c := range []struct{ name, text, why string }{
		{"C", "10..1", "increasing range"},
		{"C", "1..10/1", "2 to 10000 values"},
		{"C", "1..10/x", "2 to 10000 values"},
		{"C", "1..10/20000", "2 to 10000 values"},
		{"C", "-1..10", "C"},
		{"coef0", "0..1/3log", "must start above 0"},
		{"gamma", "auto..1", "increasing range"},
		{"C", "1..", "C"},
	} {
		p, _ := ml.Param(c.name)
		got, err := eval.Values(p, c.text)
		require.Check(t, err != nil && strings.Contains(err.Error(), c.why), "%s %s: %v, %v", c.name, c.text, got, err)
	}
}
