package mcm

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// The quantities of the real line follow their definitions, and the Cauchy-Schwarz inequality.
func TestMCMRatio(t *testing.T) {
	t.Parallel()
	for _, o := range []float64{-5, -1.8, 0, 1.2, 5} {
		for _, at := range []float64{-2, -0.5, 0.2, 0.7, 1.8} {
			l := newLine(at, o)
			radius, near, far, right := 0.0, math.Inf(1), 0.0, true
			for i, x := range six.x {
				radius = max(radius, math.Hypot(x-o, 1))
				near, far = min(near, math.Abs(x-at)), max(far, math.Abs(x-at))
				right = right && (x > at) == (six.y[i] > 0)
			}
			margin := near / math.Hypot(1, at-o)
			for _, pair := range [][2]float64{{l.HMCM, far / near}, {l.Radius, radius}, {l.Margin, margin}} {
				require.Near(t, pair[0], pair[1], 1e-9*pair[1], "t = %g, o = %g", at, o)
			}
			require.Check(t, l.HMCM <= l.Radius/l.Margin*(1+1e-12) && l.Separates == right,
				"t = %g, o = %g: h = %g, R/Delta = %g, separates: %v", at, o, l.HMCM, l.Radius/l.Margin, l.Separates)
		}
	}
}

// Without the appended 1 the inequality fails here, so the screen uses augmented points only.
func TestRatioNeedsTheOne(t *testing.T) {
	t.Parallel()
	const at, o = 1.1, 0.75
	l := newLine(at, o)
	plain := max(slices.Max(six.x)-o, o-slices.Min(six.x)) / l.min
	require.Check(t, plain < l.HMCM, "R/Delta = %g without the 1, h = %g: nothing to say", plain, l.HMCM)
	e := lessonstest.Show(t, Lesson(), "bound", "t", "1.1", "o", "0.75")
	if got, want := lessonstest.Number(t, e, `$\hat R/\hat\Delta$`), views.Short(l.Radius/l.Margin); got != want || l.Radius/l.Margin < l.HMCM {
		t.Errorf("%s is printed, want %s, at least h = %g", got, want, l.HMCM)
	}
	q := l.Radius / l.Margin
	got, want := lessonstest.Number(t, e, `$\lceil(\hat R/\hat\Delta)^2\rceil + 1$`), views.Short(math.Ceil(q*q)+1)
	require.Check(t, got == want, "the bound is %s, want %s", got, want)
}

// TestMCMBound: neither side of the two-sided bound has a constant. Thresholds have VC dimension
// 2 and any h_MCM; the RBF machine has h_MCM = 1 and shatters.
func TestMCMBound(t *testing.T) {
	t.Parallel()
	require.Equal(t, shatteredByThresholds(), 2, "points that thresholds label in every way")
	h, n := rbfOnLine(t.Context())
	require.Check(t, math.Abs(h-1) <= 1e-9 && n == len(six.x),
		"RBF: h = %g, %d points; want 1 and all %d", h, n, len(six.x))
	near := newLine(1.1999, 0)
	require.Check(t, near.HMCM >= 1e4, "close to a point h = %g", near.HMCM)
}

// The program finds the smallest ratio, mid-gap, which no step of the derivation changes.
func TestMCMFraction(t *testing.T) {
	t.Parallel()
	least, where := math.Inf(1), 0.0
	for at := -0.79; at < 1.19; at += 1e-3 {
		if l := newLine(at, 0); l.HMCM < least {
			least, where = l.HMCM, at
		}
	}
	res := lessons.Fit(t.Context(), sixData(), "learner", "mcm", "kernel", "linear", "hard_margin", "true")
	w, b, _ := res.Model.Linear()
	require.Check(t, math.Abs(*res.Report.H-least) <= 0.01 && math.Abs(-b/w[0]-where) <= 0.01 && math.Abs(-b/w[0]-0.2) <= 1e-9,
		"h = %g at %g; by trying %g at %g", *res.Report.H, -b/w[0], least, where)
}

// The objective equals the form without h and q, and no nearby line has a smaller one.
func TestMCMSoft(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"0.1", "1", "10"} {
		m := lessons.TrainLinear(t.Context(), lessons.Overlapping, "learner", "mcm", "C", c)
		price := m.Report.Values.Number("C")
		objective := func(w [2]float64, b float64) float64 {
			top, slack := 1.0, 0.0
			for i, p := range lessons.Overlapping.XY {
				g := lessons.Overlapping.Y[i] * (w[0]*p[0] + w[1]*p[1] + b)
				top, slack = max(top, g), slack+max(0, 1-g)
			}
			return top + price*slack
		}
		best := objective(m.W, m.B)
		require.Near(t, *m.Report.Objective, best, 1e-7*best, "C = %s: objective", c)
		r := rand.New(rand.NewPCG(1, 2))
		for range 3000 {
			size := math.Pow(10, -4*r.Float64())
			w := [2]float64{m.W[0] + size*r.NormFloat64(), m.W[1] + size*r.NormFloat64()}
			v := objective(w, m.B+size*r.NormFloat64())
			require.Must(t, v >= best-1e-7, "C = %s: %g at another line, %g here", c, v, best)
		}
	}
}

// The pivots never increase the objective, some have length 0, and they end at the lab's solution.
func TestMCMSimplex(t *testing.T) {
	t.Parallel()
	r := replay(t.Context(), 1)
	zero := 0
	for k := range r.Len() - 1 {
		require.Check(t, r.At(k+1).Objective <= r.At(k).Objective+1e-12, "step %d goes uphill", k)
		if s := r.At(k); s.Ratios[s.Leaving] == 0 {
			zero++
		}
	}
	require.Check(t, zero != 0 && zero != r.Len()-1, "%d of %d steps have no length", zero, r.Len()-1)
	m := lessons.TrainLinear(t.Context(), four, "learner", "mcm", "C", "1")
	got, want := r.At(r.Len()-1).Objective, *m.Report.Objective
	require.Check(t, math.Abs(got-want) <= 1e-8, "objective %g, the solver has %g", got, want)
}

// With full rank f = y at every point whatever C; rank cut and rho give better machines.
func TestMCMInterpolation(t *testing.T) {
	t.Parallel()
	d := load("moons")
	fresh := freshMoons()
	train := func(gamma, c, cut, rho string) (*lessons.Fitted, float64) {
		res := lessons.Fit(t.Context(), d, rbfSettings(gamma, c, cut, rho)...)
		return res, require.Value(res.Model.Accuracy(fresh))(t)
	}
	y, _, _, err := d.Binary("")
	require.NoError(t, err)
	cheap, _ := train("10", "0.1", "1e-8", "0")
	dear, _ := train("10", "100", "1e-8", "0")
	a, b := cheap.Model.Decisions(d.X), dear.Model.Decisions(d.X)
	for i := range y {
		require.Check(t, math.Abs(a[i]-y[i]) <= 1e-6 && math.Abs(b[i]-y[i]) <= 1e-6,
			"point %d: f = %g and %g, y = %g", i, a[i], b[i], y[i])
	}
	n := dear.Report.SupportVectors
	require.Check(t, n >= 57, "%d of 60 support vectors, want nearly all", n)
	_, bare := train("1", "1", "1e-8", "0")
	cut, right := train("1", "1", "0.1", "0")
	require.Check(t, right >= bare+0.2 && cut.Report.SupportVectors == *cut.Report.Rank,
		"rank cut: %g right after %g, %d support vectors for rank %d", right, bare, cut.Report.SupportVectors, *cut.Report.Rank)
	sparse, right := train("1", "1", "1e-8", "0.1")
	require.Check(t, right >= bare+0.2 && sparse.Report.SupportVectors <= 20,
		"rho: %g right after %g, %d support vectors", right, bare, sparse.Report.SupportVectors)
}

// TestAtMostTheRank: the machines compared on the screen have at most as many support vectors as
// the rank of their kernel matrix; one whose w is a multiple of a single point has fewer.
func TestAtMostTheRank(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"overlap", "separable", "iris-versicolor-virginica", "moons"} {
		d := load(name)
		for _, c := range []string{"0.01", "1", "100"} {
			for _, kernel := range []string{"linear", "poly", "rbf"} {
				res := lessons.Fit(t.Context(), d, "learner", "mcm", "kernel", kernel, "gamma", "1", "degree", "2", "coef0", "1", "C", c)
				n, rank := res.Report.SupportVectors, *res.Report.Rank
				require.Check(t, n <= rank, "%s, %s, C = %s: %d support vectors, rank %d", name, kernel, c, n, rank)
			}
		}
	}
	along := lessons.Toy{XY: [][2]float64{{2, 0}, {1, 0.5}, {1, -0.5}, {-2, 0}, {-1, 0.5}, {-1, -0.5}}, Y: []float64{1, 1, 1, -1, -1, -1}}
	m := lessons.TrainLinear(t.Context(), along, "learner", "mcm", "C", "10")
	n, rank := m.Report.SupportVectors, *m.Report.Rank
	require.Check(t, n == 1 && rank == 2, "w along one point: %d support vectors, rank %d; want 1 and 2", n, rank)
}

// With a point on the hyperplane both ratios are infinite, and the derivation has no quotient.
func TestOnAPoint(t *testing.T) {
	t.Parallel()
	for screen, labels := range map[string][]string{
		"ratio":          {`$h_{\text{MCM}}$`},
		"bound":          {`$\hat R/\hat\Delta$`, `$\lceil(\hat R/\hat\Delta)^2\rceil + 1$`},
		"charnes-cooper": {`$\max_i y_i f$ over $\min_i y_i f$`},
	} {
		e := lessonstest.Show(t, Lesson(), screen, "t", "1.2")
		for _, l := range labels {
			got := lessonstest.Number(t, e, l)
			require.Check(t, got == "∞" || got == "none", "%s: %s is %q", screen, l, got)
		}
	}
}

// The marks on the long band are at multiples of the short one.
func TestBand(t *testing.T) {
	t.Parallel()
	l := newLine(0.7, 0)
	long := band(0.7, six.x[l.far], 0.4, l.min, farPen, "")
	got, want := len(long)-2, 1+int(l.HMCM)
	require.Check(t, got == want, "%d marks, want %d", got, want) // without band and label
	short := band(0.7, six.x[l.near], -0.4, l.min, nearPen, "")
	require.Check(t, len(short) == 4, "the short band has %d marks, want two", len(short)-2)
	// Each screen's note mentions the ratios of that screen.
	for _, at := range []string{"1.2", "1.5"} { // on a point; beyond one
		one, two := lessonstest.Show(t, Lesson(), "ratio", "t", at), lessonstest.Show(t, Lesson(), "bound", "t", at)
		require.Check(t, len(one.Notes) == 1 && len(two.Notes) == 1 && !strings.Contains(one.Notes[0], "both") && strings.Contains(two.Notes[0], "both"),
			"t = %s: %q and %q", at, one.Notes, two.Notes)
	}
}
