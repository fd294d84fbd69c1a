package conformal

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	mlconformal "marginlab/ml/conformal"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// A monotone map that fixes the ends can widen the gap only at the expense of the classes.
func TestBend(t *testing.T) {
	t.Parallel()
	before := ratio(identity)
	lessonstest.Near(t, "R/Δ of the identity", before, 6/1.1, 1e-12)
	lessonstest.Near(t, "R/Δ at steepness 0", ratio(bend(0, 1)), before, 1e-12)
	for s := 0.1; s <= 3; s += 0.1 {
		for m := -3.0; m <= 3; m += 0.5 {
			bent := bend(s, m)
			lessonstest.Near(t, "left end", bent(-3), -3, 1e-12)
			lessonstest.Near(t, "right end", bent(3), 3, 1e-12)
		}
		r := ratio(bend(s, 0))
		require.Check(t, r < before, "steepness %g in the gap: R/Δ = %g, the identity has %g", s, r, before)
	}
	r := ratio(bend(1.5, -2))
	require.Check(t, r > before, "steep inside a class: R/Δ = %g, the identity has %g", r, before)
}

func TestJTwoWays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for _, m := range []theory.FeatureMap{{}, theory.QuadraticPlane} {
		for range 20 {
			points := six([2]float64{4*rng.Float64() - 2, 3*rng.Float64() - 1.5})
			f := newTwoWays(t.Context(), m, points)
			lessonstest.Near(t, "1'B1/M", mat.Sum(f.b)/6, f.between, 1e-12)
			lessonstest.Near(t, "1'W1/M", mat.Sum(f.w)/6, f.within, 1e-12)
			lessonstest.Near(t, "J", f.matrices(), f.scatter(), 1e-12)
			// Reordering rows and labels does not change the sums.
			order := lessons.ClassOrder(points.Y)
			lessonstest.Near(t, "sorted", mat.Sum(lessons.Reordered(f.b, order)), mat.Sum(f.b), 1e-12)
		}
	}
}

// The lesson's matrices, eigenvector and ascent agree with package conformal.
func TestAgreesWithTheProduct(t *testing.T) {
	t.Parallel()
	p := moons()
	rows := lists.Make(8, func(i int) int { return i * len(p.Y) / 8 })
	for _, gamma := range []float64{0.05, 1, 8} {
		cores := p.spread(8, false)
		best, top := p.Best(t.Context(), cores, gamma, ridge)
		quotient := func(m *mlconformal.Map) float64 {
			return p.quotient(t.Context(), m)
		}
		m, stats, err := mlconformal.Fit(t.Context(), "eigen", p.Gram, p.X, p.Y, rows, mlconformal.Settings{Gamma: gamma, Ridge: ridge})
		require.NoError(t, err)
		lessonstest.Near(t, "g", top.Spectrum[0], stats.Eigenvalue, 1e-9)
		require.Equal(t, len(top.Spectrum), stats.BasisRank, "rank")
		got, want := best.Factors(p.X), m.Factors(p.X)
		require.Check(t, floats.EqualApprox(got, want, 1e-6), "core width %g: c = %v, want %v", gamma, got[:4], want[:4])
		before := p.J(t.Context(), ones(len(p.Y)))
		lessonstest.Near(t, "J before", require.Value(theory.RidgedJ(t.Context(), p.Gram, p.Y, ones(len(p.Y)), 0))(t), before, 1e-10)
		lessonstest.Near(t, "J after", p.J(t.Context(), best.Factors(p.X)), stats.JAfter, 1e-9)

		path := p.climb(t.Context(), cores, gamma, steps, 0.1)
		highest := 0.0
		for i := range path.Len() {
			at := mapAt(path, i, cores, gamma)
			highest = math.Max(highest, p.J(t.Context(), at.Factors(p.X)))
			q := quotient(at)
			require.Check(t, q <= top.Eigenvalue*(1+1e-9), "step %d: the quotient %g is above the largest eigenvalue %g", i, q, top.Eigenvalue)
		}
		_, climbed, err := mlconformal.Fit(t.Context(), "gradient", p.Gram, p.X, p.Y, rows, mlconformal.Settings{Gamma: gamma, Ridge: ridge, Steps: steps, Rate: 0.1})
		require.NoError(t, err)
		lessonstest.Near(t, "J of the gradient", highest, climbed.JAfter, 1e-8)
		require.Equal(t, path.Len(), steps+1, "states")
		_, amari, err := mlconformal.Fit(t.Context(), "amari", p.Gram, p.X, p.Y, rows, mlconformal.Settings{Gamma: gamma})
		require.NoError(t, err)
		// All of them are candidates for the same quotient. With the ridge in the denominator the
		// eigenvector is the maximum; without it, it may be lower by at most the ridge.
		unit := &mlconformal.Map{Gamma: gamma, Alpha: ones(8), Cores: cores}
		q := quotient(unit)
		require.Check(t, q <= top.Eigenvalue*(1+1e-9), "Amari and Wu's factor has the quotient %g, the largest eigenvalue is %g", q, top.Eigenvalue)
		for what, j := range map[string]float64{"before": before, "gradient": climbed.JAfter, "amari": amari.JAfter} {
			require.Check(t, stats.JAfter >= j*(1-0.02),
				"core width %g: the eigenvector has J = %g, %s has %g", gamma, stats.JAfter, what, j)
		}
		require.Check(t, climbed.JAfter >= before, "the gradient fell from %g to %g", before, climbed.JAfter)
	}
}

// With every core repeated Q is singular for any ridge, but g and c are unaffected.
func TestTrap(t *testing.T) {
	t.Parallel()
	p := moons()
	_, once := p.Best(t.Context(), p.spread(8, false), 1, ridge)
	m, twice := p.Best(t.Context(), p.spread(8, true), 1, ridge)
	lessonstest.Near(t, "g", twice.Spectrum[0], once.Spectrum[0], 1e-9)
	require.Check(t, twice.BasisRank == 9 && len(m.Alpha) == 16,
		"rank %d of %d columns, want 9 of 17", twice.BasisRank, len(m.Alpha)+1)
	for _, ridge := range []float64{0, 1e-3, 1, 100} {
		v := p.qValues(t.Context(), p.spread(8, true), 1, ridge)
		require.Check(t, v[0] <= 1e-12*v[len(v)-1],
			"D = %g: the smallest eigenvalue of Q is %g of the largest %g", ridge, v[0], v[len(v)-1])
	}
}

// The kernel remains positive semidefinite for a factor of both signs.
func TestSigns(t *testing.T) {
	t.Parallel()
	p := moons()
	m, _ := p.Best(t.Context(), p.spread(8, false), 1, ridge)
	c := m.Factors(p.X)
	require.Must(t, floats.Min(c) < 0 && floats.Max(c) > 0,
		"c from %g to %g: the example has to take both signs", floats.Min(c), floats.Max(c))
	lessonstest.Near(t, "mean |c|", floats.Norm(c, 1)/float64(len(c)), 1, 1e-12)
	require.Check(t, floats.Sum(c) >= 0, "the sum of c is negative")
	s := require.Value(theory.Mercer(theory.Gram(p.Scaled(c))))(t)
	require.Check(t, s.PSD, "smallest eigenvalue %g", floats.Min(s.Values))
}

// B0 is the kernel matrix with weights 1/M1 and -1/M2 on rows and columns, times M1 M2 / M, as
// stated in step 3, and so positive semidefinite like K.
func TestScatterBetween(t *testing.T) {
	t.Parallel()
	p := moons()
	p.Y[0], p.Y[1], p.Y[4] = 1, 1, 1 // classes of unequal size
	k := theory.Gram(p.Gram)
	b, w, err := mlconformal.Scatter(t.Context(), p.Gram, p.Y, nil)
	require.NoError(t, err)
	n := map[float64]float64{}
	for _, y := range p.Y {
		n[y]++
	}
	weight := func(i int) float64 { return p.Y[i] / n[p.Y[i]] }
	m := float64(len(p.Y))
	for i := range p.Y {
		for j := range p.Y {
			lessonstest.Near(t, "B0", b.At(i, j), n[-1]*n[1]/m*weight(i)*weight(j)*k.At(i, j), 1e-12)
			require.Check(t, p.Y[i] == p.Y[j] || w.At(i, j) == 0, "W0 is %g between the classes", w.At(i, j))
		}
	}
	require.Check(t, n[-1] != n[1], "the classes are of one size")
}
