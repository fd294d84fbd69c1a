package theory_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// The geometric margin is the distance to the line, here to the nearest of many of its points.
func TestGeometricMarginIsADistance(t *testing.T) {
	t.Parallel()
	w, b := []float64{0.6, -1.4}, 0.5
	x := random(17, 10, 2)
	y := []float64{1, -1, 1, -1, 1, -1, 1, -1, 1, -1}
	m := require.Value(theory.LinearMargins(w, b, x, y))(t)
	norm := math.Hypot(w[0], w[1])
	right := true
	for i := range y {
		px, py := x.At(i, 0), x.At(i, 1)
		near(t, "functional margin", m.Functional[i], y[i]*(0.6*px-1.4*py+0.5), 1e-14)
		nearest := math.Inf(1)
		for s := -8.0; s <= 8; s += 1e-4 {
			lx, ly := -b*w[0]/norm/norm-s*w[1]/norm, -b*w[1]/norm/norm+s*w[0]/norm
			nearest = min(nearest, math.Hypot(px-lx, py-ly))
		}
		near(t, "distance", math.Abs(m.Geometric[i]), nearest, 1e-6)
		require.Check(t, m.Functional[i] >= m.FunctionalMargin() && math.Signbit(m.Functional[i]) == math.Signbit(m.Geometric[i]),
			"point %d: margins %g and %g, smallest %g", i+1, m.Functional[i], m.Geometric[i], m.FunctionalMargin())
		right = right && m.Functional[i] > 0
	}
	require.Check(t, m.Separates == right && !right, "Separates = %t", m.Separates)
	near(t, "|w|", m.Norm, norm, 1e-15)
}

func TestMarginsOfTheToy(t *testing.T) {
	t.Parallel()
	x, y, _ := toy()
	m := require.Value(theory.LinearMargins([]float64{0.5, 0.5}, 0, x, y))(t)
	require.Check(t, m.Worst == 1 && m.Separates, "worst point %d, separates %t", m.Worst, m.Separates)
	near(t, "functional margin", m.FunctionalMargin(), 1, 1e-15)
	near(t, "geometric margin", m.GeometricMargin(), math.Sqrt2, 1e-15)
	// Scaling changes only the functional margins, and Canonical undoes it.
	scaled := require.Value(theory.LinearMargins([]float64{5, 5}, 0, x, y))(t)
	near(t, "functional margin, scaled", scaled.FunctionalMargin(), 10, 1e-14)
	near(t, "geometric margin, scaled", scaled.GeometricMargin(), math.Sqrt2, 1e-14)
	w, b, err := theory.Canonical([]float64{5, 5}, 1, x, y)
	require.NoError(t, err)
	// f = 5 (x_1 + x_2) + 1 is closest to 0 at (-1, -1): -9
	require.Check(t, floats.EqualApprox(w, []float64{5.0 / 9, 5.0 / 9}, 1e-15) && math.Abs(b-1.0/9) <= 1e-15,
		"canonical (%v, %g)", w, b)
}

func TestMarginsRefuse(t *testing.T) {
	t.Parallel()
	x, y, _ := toy()
	require.Fails(t, require.Err(theory.LinearMargins([]float64{0, 0}, 1, x, y)), "", "w = 0 has a margin")
	require.Fails(t, require.Err(theory.LinearMargins([]float64{1}, 1, x, y)), "", "one weight in the plane")
	require.Fails(t, require.Err(theory.LinearMargins([]float64{1, math.NaN()}, 1, x, y)), "",
		"a weight that is no number")
	require.Fails(t, require.Err(theory.LinearMargins([]float64{1, 1}, 1, x, y[:5])), "", "five labels for six points")
	require.Fails(t, require.Err(theory.NewMargins([]float64{1}, []float64{0}, 1)), "", "a label of 0")
	require.Fails(t, require.Err(theory.NewMargins(nil, nil, 1)), "", "no points")
	require.Fails(t, require.Err3(theory.Canonical([]float64{1, -1}, 0, x, y)), "", "a canonical form of a line through the classes")
	// a point exactly on f = 0 is predicted +1, but not separated
	m, err := theory.LinearMargins([]float64{1}, 0, mat.NewDense(2, 1, []float64{0, -1}), []float64{1, -1})
	require.Check(t, err == nil && !m.Separates && m.Worst == 0, "a point on f = 0: %+v, %v", m, err)
	require.Fails(t, require.Err3(theory.Canonical([]float64{1}, 0, mat.NewDense(2, 1, []float64{0, -1}), []float64{1, -1})), "", "a canonical form of a line through a point")
}

// Both points lie on the margin, which is half their distance, and the dual is maximal at alpha,
// where it equals the primal.
func TestPairMachine(t *testing.T) {
	t.Parallel()
	x := random(5, 12, 3)
	for i := 0; i < 12; i += 2 {
		pair := x.Slice(i, i+2, 0, 3).(*mat.Dense)
		p := require.Value(theory.NewPairMachine(pair.RawRowView(0), pair.RawRowView(1)))(t)
		m := require.Value(theory.LinearMargins(p.W, p.B, pair, []float64{-1, 1}))(t)
		near(t, "margin of the negative point", m.Functional[0], 1, 1e-12)
		near(t, "margin of the positive point", m.Functional[1], 1, 1e-12)
		near(t, "geometric margin", m.GeometricMargin(), floats.Distance(pair.RawRowView(0), pair.RawRowView(1), 2)/2, 1e-12)
		near(t, "W(alpha)", p.Dual(p.Alpha), floats.Dot(p.W, p.W)/2, 1e-12)
		for _, a := range []float64{0, 0.9 * p.Alpha, 1.1 * p.Alpha, 2 * p.Alpha} {
			require.Check(t, p.Dual(a) < p.Dual(p.Alpha),
				"W(%g) = %g, at alpha %g only %g", a, p.Dual(a), p.Alpha, p.Dual(p.Alpha))
		}
	}
	for name, q := range map[string][]float64{"itself": {1, 2}, "a point in space": {1, 2, 3}, "a point at no place": {math.NaN(), 0}} {
		require.Fails(t, require.Err(theory.NewPairMachine([]float64{1, 2}, q)), "", "a machine of a point and %s", name)
	}
}

// No w of the toy data has a ceiling below the optimum 1/4; the length of w does not matter, and
// its best bias attains the ceiling's margin.
func TestHardCeiling(t *testing.T) {
	t.Parallel()
	x, y, _ := toy()
	separating := 0
	for k := range 360 {
		sin, cos := math.Sincos(float64(k) * math.Pi / 180)
		w := []float64{3 * cos, 3 * sin}
		got := require.Value(theory.HardCeiling(w, x, y))(t)
		longer := require.Value(theory.HardCeiling([]float64{70 * cos, 70 * sin}, x, y))(t)
		if math.IsInf(got, 1) {
			require.Check(t, math.IsInf(longer, 1), "at %d degrees: none, but %g for a longer w", k, longer)
			continue
		}
		separating++
		near(t, "ceiling of a longer w", longer, got, 1e-9*got)
		require.Check(t, got >= 0.25-1e-12, "at %d degrees: %g, below the optimum", k, got)
		b := require.Value(theory.NewBiases(w, x, y, y))(t)
		m := require.Value(theory.LinearMargins(w, b.Midpoint, x, y))(t)
		near(t, "|w|²/2 by the margin", 1/(2*m.GeometricMargin()*m.GeometricMargin()), got, 1e-9*got)
	}
	require.Check(t, separating != 0 && separating != 360, "%d of 360 directions separate", separating)
	best := require.Value(theory.HardCeiling([]float64{1, 1}, x, y))(t)
	near(t, "ceiling of the solution", best, 0.25, 1e-15)
	got, err := theory.HardCeiling([]float64{0, 0}, x, y)
	require.Check(t, err == nil && math.IsInf(got, 1), "w = 0 has the ceiling %g, %v", got, err)
}

// For the solution of the toy data all formulas give its bias; for a shorter w, as with a small
// C, those from single points do not.
func TestBiases(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	for i := range y { // away from the origin, so that b is not 0
		x.Set(i, 0, x.At(i, 0)+3)
	}
	b, err := theory.NewBiases([]float64{0.5, 0.5}, x, y, u)
	require.NoError(t, err)
	for name, got := range map[string]float64{"midpoint": b.Midpoint, "heaviest": b.Heaviest, "low": b.Low, "high": b.High} {
		near(t, name, got, -1.5, 1e-14)
	}
	b, err = theory.NewBiases([]float64{0.25, 0.25}, x, y, u)
	require.NoError(t, err)
	near(t, "midpoint, short w", b.Midpoint, -0.75, 1e-14)
	near(t, "heaviest, short w", b.Heaviest, -0.25, 1e-14)
	near(t, "low, short w", b.Low, -1.25, 1e-14)
	near(t, "high, short w", b.High, -0.25, 1e-14)

	one := make([]float64, len(y))
	one[1] = -1
	b, err = theory.NewBiases([]float64{0.5, 0.5}, x, y, one)
	require.Check(t, err == nil && math.IsNaN(b.Heaviest) && b.Low == b.High, "one negative support vector: %+v, %v", b, err)
}

// The interval holds the b with the least total slack, found by trying all: an interval if all
// support vectors are at the bound, a point if one is free.
func TestBiasInterval(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	for name, c := range map[string]struct {
		w         []float64
		u         []float64
		c         float64
		low, high float64
	}{
		"hard":  {[]float64{0.5, 0.5}, u, math.Inf(1), 0, 0},
		"free":  {[]float64{0.5, 0.5}, u, 1, 0, 0},
		"bound": {[]float64{0.08, 0.08}, []float64{-0.01, -0.01, -0.01, 0.01, 0.01, 0.01}, 0.01, -0.76, 0.76},
	} {
		low, high, err := theory.BiasInterval(c.w, x, y, c.u, c.c)
		require.NoError(t, err)
		near(t, name+": low", low, c.low, 1e-12)
		near(t, name+": high", high, c.high, 1e-12)
		slack := func(b float64) (sum float64) {
			for i := range y {
				sum += max(0, 1-y[i]*(floats.Dot(c.w, x.RawRowView(i))+b))
			}
			return sum
		}
		for b := -2.0; b <= 2; b += 0.01 {
			require.Check(t, (b >= low-1e-9 && b <= high+1e-9) == (slack(b) < slack((low+high)/2)+1e-9),
				"%s: slack %g at b = %g, %g in the middle of %g to %g", name, slack(b), b, slack((low+high)/2), low, high)
		}
	}
}

func TestHardMarginRefuses(t *testing.T) {
	t.Parallel()
	x, y, u := toy()
	same := []float64{1, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct{ w, y, u []float64 }{
		"one weight in the plane": {[]float64{1}, y, u},
		"five labels":             {[]float64{1, 1}, y[:5], u},
		"one class":               {[]float64{1, 1}, same, u},
		"no number":               {[]float64{math.NaN(), 1}, y, u},
	} {
		require.Fails(t, require.Err(theory.HardCeiling(c.w, x, c.y)), "", "a ceiling with %s", name)
		require.Fails(t, require.Err(theory.NewBiases(c.w, x, c.y, c.u)), "", "biases with %s", name)
		require.Fails(t, require.Err3(theory.BiasInterval(c.w, x, c.y, c.u, 1)), "", "an interval with %s", name)
	}
	require.Fails(t, require.Err(theory.NewBiases([]float64{1, 1}, x, y, u[:5])), "", "biases with five coefficients")
	require.Fails(t, require.Err(theory.NewBiases([]float64{1, 1}, x, y, make([]float64, 6))), "", "biases without support vectors")
}

func TestHinge(t *testing.T) {
	t.Parallel()
	for m, want := range map[float64]float64{-0.4: 1.4, 0: 1, 0.25: 0.75, 1: 0, 7: 0, math.Inf(1): 0, math.Inf(-1): math.Inf(1)} {
		require.Equal(t, theory.Hinge(m), want, "margin %g", m)
	}
}

// The terms equal those of the scaled weights.
func TestSoftParts(t *testing.T) {
	t.Parallel()
	x := random(3, 20, 3)
	y := lists.Make(20, func(i int) float64 { return float64(1 - 2*(i%2)) })
	w, b := []float64{0.7, -1.1, 0.4}, 0.3
	m := require.Value(theory.LinearMargins(w, b, x, y))(t)
	for _, width := range []float64{0.1, 0.8, 5} {
		scale := 1 / (width * floats.Norm(w, 2))
		v := make([]float64, 3)
		floats.ScaleTo(v, scale, w)
		slack := 0.0
		for i := range y {
			slack += max(0, 1-y[i]*(floats.Dot(v, x.RawRowView(i))+scale*b))
		}
		gotHalf, gotSlack := m.SoftParts(width)
		near(t, "|w|²/2", gotHalf, floats.Dot(v, v)/2, 1e-12)
		near(t, "slack", gotSlack, slack, 1e-12)
	}
}

func TestPartialMachine(t *testing.T) {
	t.Parallel()
	// Two points on the margin of the machine x_1 = 0, one left out.
	x := mat.NewDense(3, 2, []float64{1, 0, -1, 0, 4, 4})
	y := []float64{1, -1, 1}
	u := []float64{0.5, -0.5, 1}
	w, b, err := theory.PartialMachine(x, y, u, []bool{true, true, false})
	require.Check(t, err == nil && w[0] == 1 && w[1] == 0 && b == 0,
		"two of three points: w = %v, b = %g, %v", w, b, err)
	w, b, err = theory.PartialMachine(x, y, u, []bool{true, true, true})
	// w = (5, 4), so w·x is 5, -5 and 36
	require.Check(t, err == nil && w[0] == 5 && w[1] == 4 && math.Abs(b-(-4+4-35)/3.0) <= 1e-12,
		"all points: w = %v, b = %g, %v", w, b, err)
	w, b, err = theory.PartialMachine(x, y, u, make([]bool, 3))
	require.Check(t, err == nil && w[0] == 0 && w[1] == 0 && b == 0, "no points: w = %v, b = %g, %v", w, b, err)
	require.Fails(t, require.Err3(theory.PartialMachine(x, y[:2], u, make([]bool, 3))), "", "two labels for three points are no error")
	require.Fails(t, require.Err3(theory.PartialMachine(x, y, u[:2], make([]bool, 3))), "", "two coefficients for three points are no error")
	require.Fails(t, require.Err3(theory.PartialMachine(x, y, u, make([]bool, 2))), "", "two marks for three points are no error")
}
