package hardmargin

import (
	"context"
	"math"
	"strings"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// hulls returns the distance of disjoint convex hulls: of two points, or a point and a segment.
func hulls(t lessons.Toy) float64 {
	best := math.Inf(1)
	for i, p := range t.XY {
		for j, q := range t.XY {
			for k, r := range t.XY {
				if t.Y[j] == t.Y[i] || t.Y[k] != t.Y[j] {
					continue
				}
				d := [2]float64{r[0] - q[0], r[1] - q[1]}
				s := 0.0
				if l := d[0]*d[0] + d[1]*d[1]; l > 0 {
					s = math.Max(0, math.Min(1, ((p[0]-q[0])*d[0]+(p[1]-q[1])*d[1])/l))
				}
				best = math.Min(best, math.Hypot(p[0]-q[0]-s*d[0], p[1]-q[1]-s*d[1]))
			}
		}
	}
	return best
}

// For scikit-learn's six points u = (-1/4, 1/4) on points 2 and 4, b = 0, as by hand.
func TestSix(t *testing.T) {
	t.Parallel()
	m := lessons.TrainHard(t.Context(), six)
	for i, want := range []float64{0, -0.25, 0, 0.25, 0, 0} {
		require.Near(t, m.Points[i].Weight, want, 1e-7, "solver: u of point %d", i+1)
	}
	require.Check(t, math.Abs(m.B) <= 1e-7, "solver: b is %g, want 0", m.B)
	h, err := theory.NewPairMachine(six.XY[1][:], six.XY[3][:])
	require.Check(t, err == nil && h.Alpha == 0.25 && [2]float64(h.W) == [2]float64{0.5, 0.5} && h.B == 0 && h.Dual(h.Alpha) == 0.25,
		"by hand: %+v, %v", h, err)
	e := lessonstest.Show(t, Lesson(), "by-hand", "step", "99")
	for i, want := range []string{
		"1|(−2, −1)|−1|0|1.5|0", "2|(−1, −1)|−1|0.25|1|0.25", "3|(−1, −2)|−1|0|1.5|0",
		"4|(1, 1)|+1|0.25|1|0.25", "5|(1, 2)|+1|0|1.5|0", "6|(2, 1)|+1|0|1.5|0",
	} {
		require.Equal(t, strings.Join(e.Tables[0].Rows[i], "|"), want, "row")
	}
}

// TestMarginIsHalfTheGap: the margin is half the distance of the convex hulls.
func TestMarginIsHalfTheGap(t *testing.T) {
	t.Parallel()
	for name, pts := range map[string]lessons.Toy{"six": six, "eight": eight, "twelve": lessons.Separable} {
		m := lessons.TrainHard(t.Context(), pts)
		want := hulls(pts) / 2
		got := 1 / lessons.Norm(m.W)
		require.Check(t, math.Abs(got-want) <= 1e-6, "%s: margin %g, half the gap is %g", name, got, want)
		got = 1 / math.Sqrt(m.AlphaSum())
		require.Check(t, math.Abs(got-want) <= 1e-6, "%s: 1/sqrt(sum alpha) is %g, half the gap is %g", name, got, want)
	}
	// The upper bound of alpha in the run has no effect: the hard margin has the same solution.
	k := kernel.NewGram(kernel.Kernel{Name: "linear"}, lessons.Separable.Matrix())
	best := require.Value(stepwise.Optimum(t.Context(), k, lessons.Separable.Y, 1e4))(t)
	m := lessons.TrainHard(t.Context(), lessons.Separable)
	for i, p := range best.Points {
		require.Near(t, p.Alpha, math.Abs(m.Points[i].Weight), 1e-6, "alpha of point %d", i+1)
	}
	// Twice the solution satisfies every constraint strictly, as the text says.
	for name, pts := range map[string]lessons.Toy{"six": six, "eight": eight, "twelve": lessons.Separable} {
		m := lessons.TrainHard(t.Context(), pts)
		twice, err := theory.LinearMargins([]float64{2 * m.W[0], 2 * m.W[1]}, 2*m.B, pts.Matrix(), pts.Y)
		require.Check(t, err == nil && twice.FunctionalMargin() > 1.5,
			"%s: least y f = %g, %v", name, twice.FunctionalMargin(), err)
	}
}

// The optimum lies between floor and ceiling, the floor rises, and they meet at the end.
func TestDuality(t *testing.T) {
	t.Parallel()
	gap := hulls(lessons.Separable)
	optimum := 2 / gap / gap // |w|²/2 with |w| = 2/gap
	run := steps(t.Context())
	before := -1.0
	for k := range run.Len() {
		floor := run.At(k).Dual
		ceiling := ceilingOf(run.At(k))
		require.Check(t, floor <= optimum+1e-9 && ceiling >= optimum-1e-9 && floor >= before,
			"step %d: floor %g after %g, ceiling %g, optimum %g", k, floor, before, ceiling, optimum)
		before = floor
		require.Check(t, k != run.Len()-1 || ceiling-floor <= 1e-5, "at the end there is a gap of %g", ceiling-floor)
	}
	ceiling := ceilingOf(run.At(0))
	require.Check(t, math.IsInf(ceiling, 1), "w = 0 has the ceiling %g", ceiling)
}

// Far points change nothing, one inside the margin does; overlapping classes are reported.
func TestSupport(t *testing.T) {
	t.Parallel()
	numbers := func(values ...string) (s string) {
		e := lessonstest.Show(t, Lesson(), "support", values...)
		for _, label := range []string{"support vectors", `$\mathbf w$`, `$b$`} {
			s += lessonstest.Number(t, e, label) + " "
		}
		return s
	}
	start := numbers()
	require.Check(t, strings.HasPrefix(start, "3 of 8 "), "at first: %s", start)
	require.Equal(t, numbers("x7", "3.3", "y7", "-2.5"), start, "the line with a far point moved")
	require.Check(t, numbers("x7", "0.4") != start, "a point inside the margin does not move the line")
	e := lessonstest.Show(t, Lesson(), "support", "only", "true")
	require.Equal(t, lessonstest.Number(t, e, `change of $\mathbf w$ and $b$ by deleting`), "0", "deleting changes w and b by")
	e = lessonstest.Show(t, Lesson(), "support", "x7", "-3")
	require.Check(t, len(e.Numbers) == 0 && strings.Contains(strings.Join(e.Notes, " "), "No line separates"),
		"overlapping classes: %v", e.Notes)
}

// A picture shows every point's class, and the legend uses the labels of the points.
func TestShapes(t *testing.T) {
	t.Parallel()
	e := lessonstest.Show(t, Lesson(), "only-hard")
	p := require.Value(e.Figures[0].Draw(lessons.Look{Width: 600, Height: 400, Coarse: true}))(t)
	svg := require.Drawn(t, p.SVG)
	for _, class := range []string{">−1<", ">1<"} {
		require.Check(t, strings.Contains(svg, class), "the legend has no class %s", class)
	}
}

// The formulas of the slides agree for a hard margin, but not with points inside the margin.
func TestOnlyHard(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	hard := lessons.TrainHard(ctx, eight)
	b := biases(hard, eight)
	for name, got := range map[string]float64{"midpoint": b.Midpoint, "heaviest": b.Heaviest, "lowest": b.Low, "highest": b.High} {
		require.Check(t, math.Abs(got-hard.B) <= 1e-6, "hard margin: b by %s is %g, the solver has %g", name, got, hard.B)
	}
	soft := lessons.TrainLinear(ctx, eight, "C", "0.2", "tol", "1e-8")
	b = biases(soft, eight)
	require.Check(t, math.Abs(b.Midpoint-soft.B) >= 1e-2 && b.High-b.Low >= 1e-2,
		"C = 0.2: b %g, midpoint %g, over all SVs %g to %g: nothing to see", soft.B, b.Midpoint, b.Low, b.High)
	square := lessons.Norm(soft.W) * lessons.Norm(soft.W)
	if want := square + 0.2**soft.Report.SlackSum; math.Abs(soft.AlphaSum()-want) > 1e-6 || soft.AlphaSum() < square+1e-2 {
		t.Errorf("C = 0.2: sum alpha %g, |w|² + C sum xi %g, |w|² %g", soft.AlphaSum(), want, square)
	}
	e := lessonstest.Show(t, Lesson(), "only-hard", "C", "100")
	for _, row := range e.Tables[0].Rows {
		require.Check(t, row[1] == row[2], "C = 100 is no hard margin: %v", row)
	}
	require.Equal(t, e.Tables[0].Rows[0][1], views.Short(hulls(eight)/2), "margin")
}

// The line that eliminates w and b cites the lines with the sums by number, in their order.
func TestDualCitesItsLines(t *testing.T) {
	t.Parallel()
	const at = 4
	first, second := strings.Index(dualLines()[at-1].TeX, `\sum_i \alpha_i y_i\,\mathbf x_i`), strings.Index(dualLines()[at-1].TeX, `\sum_i \alpha_i y_i +`)
	require.Must(t, first >= 0 && second >= first, "the sums stand elsewhere: %s", dualLines()[at-1].TeX)
	if got := dualLines()[at].Why; !strings.Contains(got, `The first sum is $\mathbf w$ (line 2), the second is 0 (line 3)`) {
		t.Error(got)
	}
	got := dualLines()[2-1].TeX
	require.Check(t, strings.HasSuffix(got, `\mathbf w = \sum_i \alpha_i y_i\,\mathbf x_i`), "line 2: %s", got)
	require.Equal(t, dualLines()[3-1].TeX, `-\sum_i \alpha_i y_i = 0`, "line 3")
}

// TestBiasInterval: the screen shows the solver's b as the middle of the interval allowed by the
// KKT conditions: one number if a support vector is free, an interval if none is.
func TestBiasInterval(t *testing.T) {
	t.Parallel()
	for c, whole := range map[string]bool{"0.01": true, "0.2": false, "100": false} {
		rows := map[string]string{}
		e := lessonstest.Show(t, Lesson(), "only-hard", "C", c)
		for _, row := range e.Tables[0].Rows {
			rows[row[0]] = row[2]
		}
		got, want := rows["middle of all $b$ that fulfil KKT"], rows["$b$ of the solver"]
		require.Check(t, got == want && got != "", "C = %s: the middle is %s, the solver has %s", c, got, want)
		all := rows["all $b$ that fulfil KKT"]
		require.Check(t, strings.Contains(all, " to ") == whole && strings.Contains(e.Notes[0], "No support vector is free") == whole,
			"C = %s: b may be %s; %s", c, all, e.Notes[0])
	}
	m := lessons.TrainLinear(t.Context(), eight, "C", "0.01", "tol", "1e-8")
	low, high := biasInterval(m, eight, 0.01)
	require.Must(t, high > low+0.1 && *m.Report.Free == 0, "%g to %g with %d free", low, high, *m.Report.Free)
}

// Two corners of a side of a square give the line of all four, those of a diagonal another.
func TestCorners(t *testing.T) {
	t.Parallel()
	train := func(xy ...[2]float64) *lessons.LinearMachine {
		p := lessons.Toy{XY: xy}
		p.Y = lists.Map(xy, func(at [2]float64) float64 { return at[0] })
		return lessons.TrainHard(t.Context(), p)
	}
	all := train([2]float64{-1, -1}, [2]float64{-1, 1}, [2]float64{1, -1}, [2]float64{1, 1})
	side := change(train([2]float64{-1, -1}, [2]float64{1, -1}), all)
	require.Check(t, side <= 1e-5, "two of a side change the line by %g", side)
	diagonal := change(train([2]float64{-1, -1}, [2]float64{1, 1}), all)
	require.Check(t, diagonal >= 0.1, "two of a diagonal change the line by %g only", diagonal)
}
