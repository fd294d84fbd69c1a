package risk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The counts equal a search over directions that put one class before the other.
func TestCountsLabellings(t *testing.T) {
	t.Parallel()
	count := func(places [][2]float64) (n int) {
		for m := range 1 << len(places) {
			for a := 0.0; a < 2*math.Pi; a += math.Pi / 1800 {
				top, bottom := math.Inf(-1), math.Inf(1) // of the classes - and +
				for i, p := range places {
					s := p[0]*math.Cos(a) + p[1]*math.Sin(a)
					if m>>i&1 == 1 {
						bottom = min(bottom, s)
					} else {
						top = max(top, s)
					}
				}
				if top < bottom-1e-9 {
					n++
					break
				}
			}
		}
		return n
	}
	for _, c := range []struct {
		name   string
		n      int
		move   []string
		places [][2]float64
		want   string
	}{
		{"three in general position", 3, nil, corners[:3], "8 of 8"},
		{"three on a line", 3, []string{"x3", "0.03", "y3", "-0.9"}, [][2]float64{{-2, -1}, {2, -1}, {0, -1}}, "6 of 8"},
		{"four in convex position", 4, nil, corners[:4], "14 of 16"},
		{"four, one inside", 4, []string{"x4", "0", "y4", "0"}, [][2]float64{{-2, -1}, {2, -1}, {0, 2}, {0, 0}}, "14 of 16"},
		{"five", 5, nil, corners, "22 of 32"},
	} {
		e := lessonstest.Show(t, Lesson(), "shattering", append(c.move, "n", strconv.Itoa(c.n))...)
		require.Equal(t, lessonstest.Number(t, e, "realised in all"), c.want, "%s", c.name)
		got := strconv.Itoa(count(c.places))
		require.Check(t, strings.HasPrefix(c.want, got+" of"), "%s: %s labellings by search, want %s", c.name, got, c.want)
		last := lessonstest.Show(t, Lesson(), "shattering", append(c.move, "n", strconv.Itoa(c.n), "step", "999")...)
		require.Equal(t, lessonstest.Number(t, last, "realised so far"), c.want, "%s: at the end", c.name)
	}
	for _, n := range []string{"3", "4", "5"} {
		e := lessonstest.Show(t, Lesson(), "shattering", "n", n, "family", "rbf")
		got := lessonstest.Number(t, e, "realised in all")
		require.Check(t, got == strconv.Itoa(e.Steps)+" of "+strconv.Itoa(e.Steps), "an RBF machine realises %s labellings of %s points", got, n)
	}
}

// Both bounds are as in the documents, with 2M for larger h.
func TestBoundNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ h, m, r, eta float64 }{{3, 200, 0.05, 0.05}, {10, 5000, 0.2, 0.01}, {50, 100, 0, 0.5}, {1000, 200, 0.05, 0.05}, {1000, 10, 0, 0.3}, {400, 200, 0.1, 0.05}} {
		e := lessonstest.Show(t, Lesson(), "bound", "h", lessons.Setting(c.h), "m", lessons.Setting(c.m), "remp", lessons.Setting(c.r), "eta", lessons.Setting(c.eta))
		h := math.Min(c.h, 2*c.m)
		eps := 4 * (h*(math.Log(2*c.m/h)+1) - math.Log(c.eta)) / c.m
		vapnik := c.r + eps/2*(1+math.Sqrt(1+4*c.r/eps))
		slide := c.r + math.Sqrt((h*(1+math.Log(2*c.m/h))-math.Log(c.eta/4))/c.m)
		for label, v := range map[string]float64{`$\bar h = \min(h, 2M)$`: h, `$\varepsilon$`: eps, "Vapnik's bound": vapnik, "additive bound": slide} {
			want := views.Short(v)
			if v >= 1 && strings.HasSuffix(label, "bound") {
				want += " (vacuous)"
			}
			require.Equal(t, lessonstest.Number(t, e, label), want, "%+v: %s", c, label)
		}
	}
}

// TestIsExact compares the risk of a line with its error rate on very many points.
func TestIsExact(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("blobs", 100_000, spread, 7))(t)
	for _, c := range []struct {
		w [2]float64
		b float64
	}{{[2]float64{1, 1}, 0}, {[2]float64{2, 0.3}, -1}, {[2]float64{-0.2, 1}, 0.5}} {
		var wrong [2]float64
		for i, y := range d.Y {
			x := d.X.RawRowView(i)
			if (c.w[0]*x[0]+c.w[1]*x[1]+c.b >= 0) != (y == 1) {
				wrong[y] += 2.0 / 100_000
			}
		}
		lower, upper := cloudErrors(c.w, c.b)
		require.Check(t, math.Abs(lower-wrong[0]) <= 0.01 && math.Abs(upper-wrong[1]) <= 0.01,
			"%v: %g and %g, counted %v", c, lower, upper, wrong)
	}
}

// TestMarginIsRoundedUp: the initial corners are shattered with a margin that the floor of
// R²/Delta² excludes, and no random points are shattered with a margin that the ceiling excludes.
func TestMarginIsRoundedUp(t *testing.T) {
	t.Parallel()
	e := lessonstest.Show(t, Lesson(), "margin", "delta", "1.45")
	a, b, c := lessonstest.Number(t, e, "realised with margin Δ"), lessonstest.Number(t, e, "bound on $h$"), lessonstest.Number(t, e, "the same, rounded down")
	require.Check(t, a == "8 of 8" && b == "3" && c == "2", "at 1.45: %s, %s, %s", a, b, c)
	got := lessonstest.Number(t, lessonstest.Show(t, Lesson(), "margin", "delta", "1.55"), "realised with margin Δ")
	require.Check(t, got == "2 of 8", "at 1.55: %s", got)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		n := 2 + rng.IntN(5)
		x := mat.NewDense(n, 5, nil)
		x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
		k := theory.Gram(kernel.NewGram(kernel.Kernel{Name: "linear"}, x))
		s := require.Value(theory.ShatterKernel(k))(t)
		ball := require.Value(theory.EnclosingBall(k))(t)
		least := slices.Min(lists.Map(s.Dichotomies, func(d theory.Dichotomy) float64 { return d.Margin }))
		h := theory.MarginVCDim(ball.Radius, least, math.Inf(1))
		require.Check(t, !s.Shattered() || h >= float64(n), "%d points are shattered with margin %g in a ball of %g, the bound is %g", n, least, ball.Radius, h)
	}
}

// Each holds with probability 0.95 and is far from tight, so none of these few should fail.
func TestBoundsHoldOnTheScreen(t *testing.T) {
	t.Parallel()
	fresh := lessons.FreshMoons(4000, 0.2)
	for draw := range uint64(5) {
		d := lessons.Drawn("moons", 200, 0.2, draw+1).Data()
		all, _ := polynomials(t.Context(), d, degrees)
		for _, m := range all {
			truth := lessons.ErrorRate(m.res.Model, fresh)
			require.Check(t, truth <= m.bound.Value, "draw %d, degree %d: true error %g above the bound %g", draw+1, m.degree, truth, m.bound.Value)
		}
	}
}

// runSource is a workspace with one run.
type runSource struct {
	lessonstest.Builtins
	run *lessons.Run
}

func (s runSource) Run(context.Context, string) (*lessons.Run, error) { return s.run, nil }

// TestMeasuresRuns measures several kinds of machines and compares with their reports.
func TestMeasuresRuns(t *testing.T) {
	t.Parallel()
	all := mltest.Builtin(t, "iris")
	plain := mltest.Builtin(t, "moons")
	for _, c := range []struct {
		name  string
		d     *dataset.Data
		pairs []string
		dim   float64
	}{
		{"rbf", plain, []string{"test_fraction", "0.3"}, math.Inf(1)},
		{"linear", plain, []string{"kernel", "linear"}, 2},
		{"cubic on four features", all, []string{"kernel", "poly", "degree", "3", "coef0", "1", "positive", "virginica"}, 35},
		{"projected", all, []string{"project", "pca", "positive", "setosa"}, math.Inf(1)},
		{"conformal", plain, []string{"conformal", "eigen"}, math.Inf(1)},
		{"mcm", plain, []string{"learner", "mcm", "rho", "0.1"}, math.Inf(1)},
	} {
		spec := ml.DefaultSpec()
		for i := 0; i < len(c.pairs); i += 2 {
			require.NoError(t, spec.Set(c.pairs[i], c.pairs[i+1]))
		}
		res := require.Value(ml.Train(t.Context(), c.d, spec, nil))(t)
		run := &lessons.Run{Name: "a*b$", Spec: spec, Data: c.d, Report: &res.Report, Model: res.Model}
		s := require.Value(measureRun(run))(t)
		require.Check(t, s.n == res.Report.TrainN && s.dim == c.dim && math.Abs(float64(s.n-s.wrong)/float64(s.n)-*res.Report.TrainAccuracy) <= 1e-9 && s.short >= s.wrong,
			"%s: %+v", c.name, s)
		w := res.Report.WNorm
		require.Check(t, w == nil || math.Abs(s.norm-*w) <= 1e-6**w, "%s: |w| is %g, not what the report says", c.name, s.norm)
		require.Check(t, c.name != "rbf" || s.radius <= 1 && s.radius >= 0.5,
			"an RBF kernel has all images within 1 of the origin; the ball has radius %g", s.radius)
		screen, _ := Lesson().Screen("your-run")
		in, _ := screen.Demo.NewInput(func(name string) string { return map[string]string{"run": "1"}[name] }, runSource{run: run})
		e := require.Value(screen.Demo.Show(t.Context(), in))(t)
		lessonstest.CheckExhibit(t, e)
		refused := lists.Count(e.Tables[0].Rows, func(row []string) bool { return slices.Contains(row, "not for an MCM") })
		three := *res.Model
		three.Rule = ml.Argmax
		if _, err := measureRun(&lessons.Run{Spec: spec, Data: c.d, Model: &three}); err == nil {
			t.Errorf("%s: a machine without two sides is measured", c.name)
		} else if _, ok := param.ForPerson(err); !ok {
			t.Errorf("%s: %v is not for people", c.name, err)
		}
		require.Equal(t, refused, map[bool]int{true: 2}[c.name == "mcm"], "%s: bounds are refused", c.name)
	}
}

// Each call is judged before the next labelling is shown; lines cannot realise one of the ten.
func TestShatterGame(t *testing.T) {
	t.Parallel()
	said, beyond := "", 0
	for k := range 10 {
		e := lessonstest.Show(t, Lesson(), "shatter", "calls", said)
		require.Must(t, len(e.Moves) == 2 && !strings.Contains(e.Notes[0], "ealised"),
			"before call %d there are the moves %v and the note %q", k+1, e.Moves, e.Notes[0])
		said = e.Moves[0].Value // a line realises it
		e = lessonstest.Show(t, Lesson(), "shatter", "calls", said)
		if strings.Contains(e.Notes[0], "Not realised") {
			beyond++
		}
		want := fmt.Sprintf("Score: %d of %d.", k+1-beyond, k+1)
		require.Check(t, strings.HasSuffix(e.Notes[0], want), "after call %d the note is %q, want %s", k+1, e.Notes[0], want)
		said = e.Moves[0].Value
	}
	require.Check(t, beyond == 1 && said == "", "%d labellings were beyond lines; the last move leads to %q", beyond, said)
	for said, next := range map[string]string{strings.Repeat("x", 20): "y", strings.Repeat(".", 20): "y", "y..?n": "y.n."} {
		e := lessonstest.Show(t, Lesson(), "shatter", "calls", said)
		require.Check(t, e.Moves[0].Value == next, "after %q the first move leads to %q, not %q", said, e.Moves[0].Value, next)
	}
}

// TestNetworksGetStuck checks the screen's statements on few and many hidden units.
func TestNetworksGetStuck(t *testing.T) {
	t.Parallel()
	for units, ok := range map[string]func(solved int) bool{
		"1":  func(n int) bool { return n == 0 }, // no single unit solves XOR
		"2":  func(n int) bool { return n > 0 && n < starts },
		"10": func(n int) bool { return n > starts-2 },
	} {
		for seed := range 5 {
			e := lessonstest.Show(t, Lesson(), "networks", "hidden", units, "seed", strconv.Itoa(seed+1))
			text := lessonstest.Number(t, e, "starts with all four points right")
			help := e.Numbers[0].Help
			require.Check(t, strings.Contains(help, "One unit cannot") == (units == "1"), "%s units: %s", units, help)
			n, err := strconv.Atoi(strings.TrimSuffix(text, " of 20"))
			require.Check(t, err == nil && ok(n), "%s units: %s starts", units, text)
		}
	}
}
