package softmargin

import (
	"math"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

// TestPrice: as C rises, the margin and the total slack both fall, as for minima of a weighted
// sum of two functions; and |w|² = sum alpha - C sum xi, so that the slides' margin holds only
// without bounded points.
func TestPrice(t *testing.T) {
	t.Parallel()
	d := data("iris-setosa-versicolor")
	hard, soft := 0, 0
	for _, data := range []*dataset.Data{d, lessons.Overlapping.Data()} {
		margin, slack := math.Inf(1), math.Inf(1)
		for _, c := range prices(2) {
			res := lessons.Fit(t.Context(), data, "kernel", "linear", "C", lessons.Setting(c), "tol", "1e-8")
			r := res.Report
			require.Check(t, *r.Margin <= margin*(1+1e-4) && *r.SlackSum <= slack*(1+1e-4)+1e-6,
				"C = %g: margin %g after %g, slack %g after %g", c, *r.Margin, margin, *r.SlackSum, slack)
			margin, slack = *r.Margin, *r.SlackSum
			sum := 0.0
			for _, u := range res.Model.Machines[0].Coef {
				sum += math.Abs(u)
			}
			want := sum - c**r.SlackSum
			require.Check(t, math.Abs(want-*r.WNorm**r.WNorm) <= 1e-4*(1+sum), "C = %g: |w|² = %g, sum alpha - C sum xi = %g", c, *r.WNorm**r.WNorm, want)
			same := math.Abs(1/math.Sqrt(sum)-*r.Margin) < 1e-4**r.Margin
			bounded := *r.BoundedInside+*r.BoundedMisclassified > 0
			require.Check(t, same != bounded,
				"C = %g: bounded points %v, margin %g, of the slides %g", c, bounded, *r.Margin, 1/math.Sqrt(sum))
			if bounded {
				soft++
			} else {
				hard++
			}
		}
	}
	require.Check(t, hard != 0 && soft != 0, "%d hard margins and %d soft ones: both are needed", hard, soft)
}

// With balanced classes and C near 0 all alpha are C: w is C times the difference of sums.
func TestSmallC(t *testing.T) {
	t.Parallel()
	const c = 1e-3
	m := at(t.Context(), c)
	var w [2]float64
	for i, p := range lessons.Overlapping.XY {
		w[0] += c * lessons.Overlapping.Y[i] * p[0]
		w[1] += c * lessons.Overlapping.Y[i] * p[1]
	}
	require.Check(t, math.Hypot(w[0]-m.W[0], w[1]-m.W[1]) <= 1e-9, "w = %v, want %v", m.W, w)
	r := m.Report
	require.Check(t, r.SupportVectors == 14 && *r.Free == 0, "%d support vectors, %d of them free; want all 14 bounded", r.SupportVectors, *r.Free)
}

// TestFreeOnly: the free support vectors alone give another line, unless none is bounded.
func TestFreeOnly(t *testing.T) {
	t.Parallel()
	angle := func(p lessons.Toy, pairs ...string) (degrees float64, bounded int) {
		m := lessons.TrainLinear(t.Context(), p, pairs...)
		w, _, ok := freeOnly(m)
		require.Must(t, ok, "no free support vectors")
		bounded = lists.Count(m.Points, func(q ml.Point) bool { return q.Role == ml.Inside || q.Role == ml.Misclassified })
		return 180 / math.Pi * math.Abs(math.Atan2(w[0]*m.W[1]-w[1]*m.W[0], w[0]*m.W[0]+w[1]*m.W[1])), bounded
	}
	a, n := angle(lessons.Overlapping, "C", "2")
	require.Check(t, n == 4 && a >= 20, "overlapping: %g degrees, %d bounded", a, n)
	a, n = angle(lessons.Separable, "C", "1e4")
	require.Check(t, n == 0 && a <= 1e-3, "separable: %g degrees, %d bounded", a, n)
}

// A point contributes at most C times itself to w: more than C beyond 1 from the origin.
func TestPull(t *testing.T) {
	t.Parallel()
	const c = 2.0
	m := at(t.Context(), c)
	above := 0
	for i, p := range m.Points {
		pull := math.Abs(p.Weight) * lessons.Norm(lessons.Overlapping.XY[i])
		require.Check(t, pull <= c*lessons.Norm(lessons.Overlapping.XY[i])*(1+1e-9),
			"point %d pulls with %g", i+1, pull)
		if pull > c {
			above++
		}
	}
	require.Check(t, above != 0, "no point pulls with more than C: nothing to say")
	// For two points alpha = 2/|x_1 - x_2|² = C, without slack.
	m = lessons.TrainLinear(t.Context(), lessons.Toy{XY: [][2]float64{{-1, 0}, {1, 0}}, Y: []float64{-1, 1}}, "C", "0.5", "tol", "1e-9")
	for i, p := range m.Points {
		require.Check(t, math.Abs(p.Weight) == 0.5 && math.Abs(p.Margin-1) <= 1e-9,
			"point %d: alpha %g, y f = %g; want C and 1", i+1, math.Abs(p.Weight), p.Margin)
	}
}

// A bar has the colour of its point's class, and the bars of both classes have the same total height.
func TestBarsHaveTheirClasses(t *testing.T) {
	t.Parallel()
	m := at(t.Context(), 2)
	p := require.Value(bars(m, 2).Draw(lessons.Look{Width: 600, Height: 300}))(t)
	svg := require.Drawn(t, p.SVG)
	for _, name := range lessons.ClassNames() {
		require.Check(t, strings.Contains(svg, ">"+name+"<"), "the legend does not name the class %s", name)
	}
	sums := map[float64]float64{}
	for _, q := range m.Points {
		sums[q.Y] += math.Abs(q.Weight)
	}
	require.Check(t, math.Abs(sums[-1]-sums[1]) <= 1e-6, "the bars add up to %g and %g", sums[-1], sums[1])
}
