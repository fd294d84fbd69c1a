package lessons

import (
	"context"
	"math"
	"strings"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/stepwise"
	"marginlab/views"
)

// hardmarginHulls is the distance of the convex hulls of the two classes, which do
// not overlap: that of two points, or of a point and a segment between two others.
func hardmarginHulls(t Toy) float64 {
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

// TestHardmarginSix: scikit-learn's six points, as the solver and the hand find
// them: u = (-1/4, 1/4) on points 2 and 4, b = 0.
func TestHardmarginSix(t *testing.T) {
	t.Parallel()
	m, err := TrainHard(t.Context(), hardmarginSix)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0, -0.25, 0, 0.25, 0, 0} {
		if got := m.Points[i].Weight; math.Abs(got-want) > 1e-7 {
			t.Errorf("solver: u of point %d is %g, want %g", i+1, got, want)
		}
	}
	if math.Abs(m.B) > 1e-7 {
		t.Errorf("solver: b is %g, want 0", m.B)
	}
	h := newHardmarginHand(hardmarginSix, 1, 3)
	if h.a != 0.25 || h.w != [2]float64{0.5, 0.5} || h.b != 0 || h.dual(h.a) != 0.25 {
		t.Errorf("by hand: %+v", h)
	}
	e := showScreen(t, &Hardmargin, "by-hand", "step", "99")
	for i, want := range []string{
		"1|(−2, −1)|−1|0|1.5|0", "2|(−1, −1)|−1|0.25|1|0.25", "3|(−1, −2)|−1|0|1.5|0",
		"4|(1, 1)|1|0.25|1|0.25", "5|(1, 2)|1|0|1.5|0", "6|(2, 1)|1|0|1.5|0",
	} {
		if got := strings.Join(e.Tables[0].Rows[i], "|"); got != want {
			t.Errorf("row %s, want %s", got, want)
		}
	}
}

// TestHardmarginIsHalfTheGap: the margin is half the distance of the convex hulls.
func TestHardmarginIsHalfTheGap(t *testing.T) {
	t.Parallel()
	for name, pts := range map[string]Toy{"six": hardmarginSix, "eight": hardmarginEight, "twelve": Separable} {
		m, err := TrainHard(t.Context(), pts)
		if err != nil {
			t.Fatal(err)
		}
		want := hardmarginHulls(pts) / 2
		if got := 1 / Norm(m.W); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: margin %g, half the gap is %g", name, got, want)
		}
		if got := 1 / math.Sqrt(m.AlphaSum()); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: 1/sqrt(sum alpha) is %g, half the gap is %g", name, got, want)
		}
	}
}

// TestHardmarginDuality: floor and ceiling hold the optimum between them at every
// step, the floor rises, and at the end they meet.
func TestHardmarginDuality(t *testing.T) {
	t.Parallel()
	gap := hardmarginHulls(Separable)
	optimum := 2 / gap / gap // |w|²/2 with |w| = 2/gap
	run, err := hardmarginRun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := -1.0
	for k := range run.Len() {
		floor, ceiling := run.At(k).Dual, hardmarginCeiling(hardmarginWeights(run.At(k)), Separable)
		if floor > optimum+1e-9 || ceiling < optimum-1e-9 || floor < before {
			t.Errorf("step %d: floor %g after %g, ceiling %g, optimum %g", k, floor, before, ceiling, optimum)
		}
		before = floor
		if k == run.Len()-1 && ceiling-floor > 1e-5 {
			t.Errorf("at the end there is a gap of %g", ceiling-floor)
		}
	}
	if ceiling := hardmarginCeiling([2]float64{}, Separable); !math.IsInf(ceiling, 1) {
		t.Errorf("w = 0 has the ceiling %g", ceiling)
	}
}

// The upper bound of alpha in the run is none: the hard margin has the same end.
func TestHardmarginRunIsHard(t *testing.T) {
	t.Parallel()
	k := kernel.NewGram(kernel.Kernel{Name: "linear"}, Separable.Matrix())
	best, err := stepwise.Optimum(t.Context(), k, Separable.Y, 1e4)
	if err != nil {
		t.Fatal(err)
	}
	m, err := TrainHard(t.Context(), Separable)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range best.Points {
		if math.Abs(p.Alpha-math.Abs(m.Points[i].Weight)) > 1e-6 {
			t.Errorf("alpha of point %d: %g, hard margin %g", i+1, p.Alpha, m.Points[i].Weight)
		}
	}
}

// TestHardmarginSupport: far points may move or go, nothing changes; a point in
// the margin changes the line; classes that overlap are told.
func TestHardmarginSupport(t *testing.T) {
	t.Parallel()
	numbers := func(values ...string) (s string) {
		e := showScreen(t, &Hardmargin, "support", values...)
		for _, label := range []string{"support vectors", `$\mathbf w$`, `$b$`} {
			s += numberOf(t, e, label) + " "
		}
		return s
	}
	start := numbers()
	if !strings.HasPrefix(start, "3 of 8 ") {
		t.Errorf("at first: %s", start)
	}
	if got := numbers("x7", "3.3", "y7", "-2.5"); got != start {
		t.Errorf("a far point moves the line: %s, before %s", got, start)
	}
	if got := numbers("x7", "0.4"); got == start {
		t.Error("a point inside the margin does not move the line")
	}
	e := showScreen(t, &Hardmargin, "support", "only", "true")
	if got := numberOf(t, e, `change of $\mathbf w$ and $b$ by deleting`); got != "0" {
		t.Errorf("deleting changes w and b by %s", got)
	}
	e = showScreen(t, &Hardmargin, "support", "x7", "-3")
	if len(e.Numbers) > 0 || !strings.Contains(strings.Join(e.Notes, " "), "No line separates") {
		t.Errorf("overlapping classes: %v", e.Notes)
	}
}

// TestHardmarginOnly: the formulas of the slides agree with a hard margin, and do
// not with points inside the margin.
func TestHardmarginOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	hard, err := TrainHard(ctx, hardmarginEight)
	if err != nil {
		t.Fatal(err)
	}
	b := newHardmarginBiases(hard, hardmarginEight)
	for name, got := range map[string]float64{"midpoint": b.midpoint, "positive": b.positive, "lowest": b.low, "highest": b.high} {
		if math.Abs(got-hard.B) > 1e-6 {
			t.Errorf("hard margin: b by %s is %g, the solver has %g", name, got, hard.B)
		}
	}
	soft, err := TrainLinear(ctx, hardmarginEight, "C", "0.2", "tol", "1e-8")
	if err != nil {
		t.Fatal(err)
	}
	b = newHardmarginBiases(soft, hardmarginEight)
	if math.Abs(b.midpoint-soft.B) < 1e-2 || b.high-b.low < 1e-2 {
		t.Errorf("C = 0.2: b %g, midpoint %g, over all SVs %g to %g: nothing to see", soft.B, b.midpoint, b.low, b.high)
	}
	square := Norm(soft.W) * Norm(soft.W)
	if want := square + 0.2*soft.Report.SlackSum; math.Abs(soft.AlphaSum()-want) > 1e-6 || soft.AlphaSum() < square+1e-2 {
		t.Errorf("C = 0.2: sum alpha %g, |w|² + C sum xi %g, |w|² %g", soft.AlphaSum(), want, square)
	}
	e := showScreen(t, &Hardmargin, "only-hard", "C", "100")
	for _, row := range e.Tables[0].Rows {
		if row[1] != row[2] {
			t.Errorf("C = 100 is no hard margin: %v", row)
		}
	}
	if got, want := e.Tables[0].Rows[0][1], views.Short(hardmarginHulls(hardmarginEight)/2); got != want {
		t.Errorf("margin %s, want %s", got, want)
	}
}
