package lagrange

import (
	"math/rand/v2"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The screens end with the results derived by hand in the slides for examples 2 to 4.
func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	want := func(e *lessons.Exhibit, numbers map[string]string) {
		t.Helper()
		for label, value := range numbers {
			require.Equal(t, lessonstest.Number(t, e, label), value, "%s", label)
		}
	}
	want(lessonstest.Show(t, Lesson(), "touch", "px", "-0.2", "py", "-0.4"),
		map[string]string{`$f$ at the dot`: "0.2", "slope along the line": "0", "angle between the gradients": "180°", `$\lambda$`: "0.4"})
	want(lessonstest.Show(t, Lesson(), "equality", "step", "99"),
		map[string]string{`$\lambda^*$`: "0.4", `$(x^*, y^*)$`: "(−0.2, −0.4)", `$f(x^*, y^*)$`: "0.2", `$g(x^*, y^*)$`: "0"})
	want(lessonstest.Show(t, Lesson(), "inequality"),
		map[string]string{"the constraint is": "saturated", `$\alpha$`: "0.4", `$h(x^*, y^*)$`: "0", `$f(x^*, y^*)$`: "0.2"})
	want(lessonstest.Show(t, Lesson(), "inequality", "other", "true"),
		map[string]string{"the constraint is": "free", `$\alpha$`: "0", `$h(x^*, y^*)$`: "−1", `$f(x^*, y^*)$`: "0", `$\alpha$ on the wall`: "−0.4"})

	for example, rows := range map[string][2]string{
		"3": {`$\alpha = 0$|(0, 0)|0|1|0|rejected: violates the constraint`, `$\alpha > 0$|(−0.2, −0.4)|0.4|0|0.2|accepted`},
		"4": {`$\alpha = 0$|(0, 0)|0|−1|0|accepted`, `$\alpha > 0$|(−0.2, −0.4)|−0.4|0|0.2|rejected: the multiplier is not positive`},
	} {
		e := lessonstest.Show(t, Lesson(), "cases", "example", example, "step", "99")
		for i, row := range rows {
			require.Equal(t, strings.Join(e.Tables[0].Rows[i], "|"), row, "example %s, case %d", example, i+1)
		}
	}
}

// TestDerivation: the last lines give the solution as fractions.
func TestDerivation(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"x + 2y + 1":             constraint(theory.LagrangeExamples[1]),
		"-x - 2y - 1":            constraint(theory.LagrangeExamples[3]),
		`(-\tfrac{1}{5},\ -2)`:   lessons.TeXPoint([2]float64{-0.2, -2}),
		`-\tfrac{5}{2}\lambda`:   lessons.TeXSum(lessons.TeXTerm{Factor: -2.5, Of: `\lambda`}, lessons.TeXTerm{Factor: 0, Of: "x"}),
		"0":                      lessons.TeXSum(lessons.TeXTerm{Factor: 0, Of: "x"}),
		"0.123":                  lessons.TeXFraction(0.12345678),
		`\tfrac{9}{26}`:          lessons.TeXFraction(9.0 / 26),
		`2x - \tfrac{1}{3}y - 3`: lessons.TeXSum(lessons.TeXTerm{Factor: 2, Of: "x"}, lessons.TeXTerm{Factor: -1.0 / 3, Of: "y"}, lessons.TeXTerm{Factor: -3, Of: ""}),
	} {
		require.Equal(t, got, want, "got")
	}
	// The derivation renders at every step for any line.
	for _, n1 := range []string{"-3", "0", "2"} {
		for _, n2 := range []string{"-1", "0", "3"} {
			for _, o := range []string{"-2", "0", "3"} {
				lessonstest.CheckExhibit(t, lessonstest.Show(t, Lesson(), "equality", "n1", n1, "n2", n2, "o", o, "step", "6"))
			}
		}
	}
}

// Exactly one of the four cases is accepted, and each of them can be.
func TestCases(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 3))
	kinds := map[[2]bool]int{}
	for range 200 {
		c := [2]float64{4*rng.Float64() - 2, 4*rng.Float64() - 2}
		cases := require.Value(roundTo(c).WallCases(walls))(t)
		var found []theory.WallCase
		for _, s := range cases {
			require.Equal(t, verdict(s) == "accepted", s.Verdict == theory.Accepted, "%q says accepted", verdict(s))
			if s.Verdict == theory.Accepted {
				found = append(found, s)
			}
		}
		require.Must(t, len(found) == 1, "%v: %d solutions", c, len(found))
		kinds[[2]bool(found[0].Touched)]++
	}
	require.Equal(t, len(kinds), 4, "only … of the four cases came up")
}

// On a line the widest margin is half the gap, which gives w, b and both multipliers.
func TestSVM(t *testing.T) {
	t.Parallel()
	e := lessonstest.Show(t, Lesson(), "svm", "solver", "true", "w", "1", "b", "-0.5")
	require.Equal(t, lessonstest.Number(t, e, `least $y_i(w x_i + b)$`), "1", "margin … at the solution")
	for i, want := range []string{"0|−1.5|0", "0.5|0|0", "0.5|0|0", "0|−1|0"} {
		require.Equal(t, strings.Join(e.Tables[1].Rows[i][1:], "|"), want, "point %d", i+1)
	}
}
