package severalclasses

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/multiclass"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The draggable points start at the interesting positions mentioned in the text.
func TestStartsInDoubt(t *testing.T) {
	t.Parallel()
	for screen, want := range map[string]string{"rest": "Nobody claims your point", "pairs": "The votes are tied, 3 classes have 1 vote each"} {
		e := lessonstest.Show(t, Lesson(), screen, "step", map[string]string{"rest": "0", "pairs": "3"}[screen]) // after the duels
		require.Check(t, len(e.Notes) == 1 && strings.HasPrefix(e.Notes[0], want), "%s: %q", screen, e.Notes)
		p := require.Value(e.Figures[0].Draw(lessons.Look{Width: 400, Height: 320}))(t)
		for _, kind := range map[string][]string{"rest": {"nobody claims it", "several claim it"}, "pairs": {"votes are tied"}}[screen] {
			require.Check(t, strings.Contains(p.Caption, kind), "%s: %q does not tell of %q", screen, p.Caption, kind)
		}
	}
	e := lessonstest.Show(t, Lesson(), "rest", "px", "0.5", "py", "2.4")
	require.Check(t, (len(e.Notes) == 0 || !strings.HasPrefix(e.Notes[0], "Nobody")) && lessonstest.Number(t, e, "answer") == "A", "far up: %q, %+v", e.Notes, e.Numbers)
	// Every duel adds its winner's vote, and the result is a tie.
	for step := range 4 {
		e := lessonstest.Show(t, Lesson(), "pairs", "step", strconv.Itoa(step))
		votes := 0
		for _, class := range []string{"A", "B", "C"} {
			n := require.Value(strconv.Atoi(strings.Fields(lessonstest.Number(t, e, class))[0]))(t)
			votes += n
		}
		want := min(step+1, 3)
		require.Check(t, votes == want && e.Steps == 4, "after step %d of %d there are %d votes; want %d", step, e.Steps, votes, want)
	}
}

// The machine of every step equals the solver's on the points of its pair.
func TestPairsAreTrainedAlone(t *testing.T) {
	t.Parallel()
	all := fit(t.Context(), "three", "kernel", "linear", "multiclass", "ovo")
	for k := range all.Model.Machines {
		positive, negative := all.Model.Sides(k)
		d := three.of(positive + negative).load()
		w, b, _ := lessons.Fit(t.Context(), d, "kernel", "linear", "tol", "1e-5", "positive", positive).Model.Linear()
		got, bias, _ := all.Model.Alone(k).Linear()
		require.Check(t, math.Abs(w[0]-got[0])+math.Abs(w[1]-got[1])+math.Abs(b-bias) <= 1e-9,
			"%s against %s: %v, %g; alone %v, %g", positive, negative, got, bias, w, b)
	}
}

// A scaled machine claims the same points, but the joint prediction changes.
func TestScale(t *testing.T) {
	t.Parallel()
	const own, all = "machine A: points on their own side", "all three: points right"
	as, loud := lessonstest.Show(t, Lesson(), "scale", "factor", "1"), lessonstest.Show(t, Lesson(), "scale")
	require.Check(t, lessonstest.Number(t, as, own) == lessonstest.Number(t, loud, own) && lessonstest.Number(t, as, all) != lessonstest.Number(t, loud, all),
		"%+v\n%+v", as.Numbers, loud.Numbers)
	var hatched []string
	for _, e := range []*lessons.Exhibit{as, loud} {
		p := require.Value(e.Figures[0].Draw(lessons.Look{Width: 400, Height: 320}))(t)
		_, h, _ := strings.Cut(p.Caption, "Hatched")
		hatched = append(hatched, h)
	}
	require.Check(t, hatched[0] != "" && hatched[0] == hatched[1], "hatched: %q", hatched)
}

// The middle cloud with linear functions, as in the text, and with nonlinear ones.
func TestMiddleCloud(t *testing.T) {
	t.Parallel()
	right := func(kern string) map[string]int {
		all := fourWays(t.Context(), "cross", "kernel", kern, "gamma", "0.5")
		n := map[string]int{}
		for i, m := range all {
			n[ml.Multiclass[i].Name] = m.Report.Confusion[0].Predicted[0]
		}
		return n
	}
	if n := right("linear"); n["ovo"] != 12 || n["ww"] != 12 || n["ovr"] < 7 || n["ovr"] > 11 || n["cs"] != 0 {
		t.Errorf("linear: %v of 12", n)
	}
	n := right("rbf")
	require.Check(t, n["ovo"] == 12 && n["ww"] == 12 && n["ovr"] == 12 && n["cs"] == 12, "rbf: %v of 12", n)
	require.Equal(t, claimedByMiddle(t.Context()), 0, "points that the machine of the middle claims")
}

// The picture of the joint machines shows the slack penalised by the solver.
func TestSlackIsPaid(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"ww", "cs"} {
		m := fit(t.Context(), "three", "kernel", "linear", "multiclass", way)
		f, total := spread(m.Model), 0.0
		for i, p := range three.xy {
			_, sum, largest := theory.ClassSlacks(f(p[0], p[1]), m.data.Y[i])
			if way == "ww" {
				total += sum
			} else {
				total += largest
			}
		}
		lessonstest.Near(t, way, total, *m.Report.SlackSum, 1e-6)
	}
}

// The ascent ends at the solver's optimum, except for the largest C, where the screen says so.
func TestClimb(t *testing.T) {
	t.Parallel()
	for _, c := range []float64{0.01, 1, 10} {
		m := fit(t.Context(), "three", "kernel", "linear", "multiclass", string(multiclass.CrammerSinger), "C", lessons.Setting(c))
		r := climbed(t.Context(), c)
		s := r.At(r.Len() - 1)
		if want := *m.Report.Objective; s.Dual > want*(1+1e-6) || s.Primal < want*(1-1e-6) || s.Primal-s.Dual > 0.01*want {
			t.Errorf("C = %g: dual %g, primal %g, optimum %g", c, s.Dual, s.Primal, want)
		}
	}
	short := lessonstest.Show(t, Lesson(), "climb", "C", "100", "step", "9999")
	require.Check(t, strings.Contains(short.Notes[0], "not at its end"), "%q", short.Notes)
}

// No rule is best on all sets.
func TestNoRuleIsBest(t *testing.T) {
	t.Parallel()
	var winners [][]int
	for _, o := range asked.Options {
		reached := lists.Map(judged(t.Context(), o.Name, "linear"), func(r *eval.Result) float64 { return r.Settings[r.Best].Accuracy })
		winners = append(winners, lists.Where(len(reached), func(i int) bool { return reached[i] == slices.Max(reached) }))
	}
	for i := range ml.Multiclass {
		require.Check(t, slices.ContainsFunc(winners, func(won []int) bool { return !slices.Contains(won, i) }),
			"%s wins on all sets: %v", ml.Multiclass[i].Name, winners)
	}
}

// The text says which factor is worse than the trained machines, and which is better.
func TestFactorsOfTheWords(t *testing.T) {
	t.Parallel()
	m := fit(t.Context(), "three", "kernel", "linear", "multiclass", "ovr")
	right := map[float64]float64{}
	for _, by := range []float64{0.25, 1, 4} {
		right[by] = require.Value(louder(m.Model, 0, by).Accuracy(m.data))(t)
	}
	require.Check(t, (right[0.25] > right[1] && right[1] > right[4]), "right answers by factor: %v", right)
}
