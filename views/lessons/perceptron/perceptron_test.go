package perceptron

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/ml/trace"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// Two points solved by hand; the points of the lesson need some mistakes more.
func TestByHand(t *testing.T) {
	t.Parallel()
	// (1, 2) is +1: w = (1, 2). (2, 1) is -1 with margin -4: w = (-1, 1). Margins 1 and 1.
	pen := lessons.Toy{XY: [][2]float64{{1, 2}, {2, 1}}, Y: []float64{1, -1}}
	r := train(t.Context(), pen, linear(), stepwise.PerceptronSettings{})
	if end := r.At(r.Len() - 1); r.Len() != 3 || r.At(2).Margin != -4 || pen.Weights(end.U()) != [2]float64{-1, 1} || end.Worst != 1 || r.Status() != trace.Converged {
		t.Errorf("after %d steps: %+v", r.Len()-1, end)
	}

	r = train(t.Context(), toy, linear(), stepwise.PerceptronSettings{})
	require.Check(t, r.At(r.Len()-1).Mistakes >= 5, "%d mistakes are too few to be worth showing", r.At(r.Len()-1).Mistakes)
}

func TestStrictLearnsNothing(t *testing.T) {
	t.Parallel()
	for _, row := range lessonstest.Show(t, Lesson(), "dual", "strict", "true", "step", "1000").Tables[0].Rows {
		require.Check(t, row[2] == "0" && row[3] == "0" && row[4] == "wrong", "point %s: %v", row[0], row)
	}
}

// TestWidest searches all directions for the widest line through the origin.
func TestWidest(t *testing.T) {
	t.Parallel()
	for _, want := range []float64{0.05, 0.3, 1, 2} {
		points, unit := withMargin(t.Context(), want)
		best := math.Inf(-1)
		for k := range 36_000 {
			sin, cos := math.Sincos(float64(k) * math.Pi / 18_000)
			worst := math.Inf(1)
			for i, p := range points.XY {
				worst = math.Min(worst, points.Y[i]*(cos*p[0]+sin*p[1]))
			}
			best = math.Max(best, worst)
		}
		m := require.Value(theory.LinearMargins(unit[:], 0, points.Matrix(), points.Y))(t)
		require.Check(t, math.Abs(best-want) <= 1e-3 && math.Abs(m.GeometricMargin()-want) <= 1e-6,
			"the widest margin is to be %v; all directions give %v, the one shown %v", want, best, m.GeometricMargin())
	}
}

// No order makes more than (R/gamma)² mistakes, and |w| stays within the proof's bounds.
func TestBound(t *testing.T) {
	t.Parallel()
	for _, gamma := range []float64{0.05, 0.1, 0.3, 0.8, 2} {
		points, unit := withMargin(t.Context(), gamma)
		radius, bound := novikoff(points, gamma)
		for seed := range uint64(10) {
			r := train(t.Context(), points, linear(), stepwise.PerceptronSettings{Order: stepwise.Shuffled, Seed: seed, MaxSteps: 40_000})
			end := r.At(r.Len() - 1)
			require.Check(t, r.Status() == trace.Converged && float64(end.Mistakes) <= bound*(1+1e-6),
				"gamma %v, seed %d: %s with %d mistakes, bound %v", gamma, seed, r.Status(), end.Mistakes, bound)
			for i := range r.Len() {
				s := r.At(i)
				k := float64(s.Mistakes)
				w := points.Weights(s.U())
				if along := dot(unit, w); along < k*gamma-1e-6 || lessons.Norm(w) > math.Sqrt(k)*radius+1e-9 {
					t.Fatalf("gamma %v, seed %d, after %v mistakes: u·w = %v, |w| = %v; bounds %v and %v", gamma, seed, k, along, lessons.Norm(w), k*gamma, math.Sqrt(k)*radius)
				}
			}
		}
	}
}

// TestOrders: all results separate the classes, they differ, and none is as wide as the SVM's.
func TestOrders(t *testing.T) {
	t.Parallel()
	ends := outcomes(t.Context())
	svm := lessons.TrainHard(t.Context(), apart)
	margin := 1 / lessons.Norm(svm.W)
	m, err := theory.LinearMargins(svm.W[:], svm.B, apart.Matrix(), apart.Y)
	require.Check(t, err == nil && math.Abs(m.GeometricMargin()-margin) <= 1e-4,
		"the SVM's margin is %v, measured %v, %v", margin, m.GeometricMargin(), err)
	different := map[string]bool{}
	for i, e := range ends {
		require.Check(t, e.margin > 0 && e.margin <= margin,
			"order %d has the margin %v; the widest is %v", i+1, e.margin, margin)
		different[strconv.FormatFloat(e.margin, 'g', 6, 64)] = true
	}
	require.Check(t, len(different) >= 5, "%d different lines from %d orders", len(different), len(ends))
}

// With the first point among the others the run never ends, and at its original position it does.
func TestNever(t *testing.T) {
	t.Parallel()
	home := toy.XY[0]
	for _, tc := range []struct {
		at   [2]float64
		want trace.Status
	}{{home, trace.Converged}, {[2]float64{-1.1, -0.2}, trace.IterationLimit}} {
		r := train(t.Context(), spoilt(tc.at), linear(), stepwise.PerceptronSettings{MaxSteps: 20_000})
		require.Check(t, r.Status() == tc.want, "point 1 at %v: %v; want %v", tc.at, r.Status(), tc.want)
	}
	require.Check(t, toy.XY[0] == home, "the lesson's points were moved")
	for _, product := range []string{"linear", "poly", "rbf"} {
		var counts []string
		for _, turn := range []string{"0", "73", "-180"} {
			now := lessonstest.Show(t, Lesson(), "gram", "product", product, "turn", turn).Tables[0].Rows[0]
			for i := range counts {
				require.Check(t, counts[i] == now[i], "%s turned by %s: counts %v, want %v", product, turn, now, counts)
			}
			counts = now
		}
	}
}

// TestOrderIsNamed: the bar of this order is labelled, and no bar has the colour of a class.
func TestOrderIsNamed(t *testing.T) {
	t.Parallel()
	for _, f := range lessonstest.Show(t, Lesson(), "order").Figures {
		if f.Name != "shares" {
			continue
		}
		p := require.Value(f.Draw(lessons.Look{Width: 600, Height: 300}))(t)
		svg := require.Drawn(t, p.SVG)
		require.Check(t, strings.Count(svg, ">this order<") == 1 && !strings.Contains(svg, "other orders"),
			"the bar of this order is not named, or the others are")
		return
	}
	t.Error("no picture of the shares")
}
