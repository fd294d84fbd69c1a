package lessons

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	mlconformal "marginlab/ml/conformal"
	"marginlab/ml/theory"
)

func conformalNear(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// A map that keeps the ends and is monotone cannot but take from the classes what it
// gives to the gap.
func TestConformalBend(t *testing.T) {
	t.Parallel()
	identity := conformalRatio(conformalBend(0, 0))
	conformalNear(t, "R/Δ of the identity", identity, 6/1.1, 1e-12)
	for s := 0.1; s <= 3; s += 0.1 {
		for m := -3.0; m <= 3; m += 0.5 {
			bend := conformalBend(s, m)
			conformalNear(t, "left end", bend(-3), -3, 1e-12)
			conformalNear(t, "right end", bend(3), 3, 1e-12)
		}
		if r := conformalRatio(conformalBend(s, 0)); r >= identity {
			t.Errorf("steepness %g in the gap: R/Δ = %g, the identity has %g", s, r, identity)
		}
	}
	if r := conformalRatio(conformalBend(1.5, -2)); r <= identity {
		t.Errorf("steep inside a class: R/Δ = %g, the identity has %g", r, identity)
	}
}

func TestConformalJTwoWays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for _, m := range []theory.FeatureMap{{}, theory.QuadraticPlane} {
		for range 20 {
			points := conformalSix(4*rng.Float64()-2, 3*rng.Float64()-1.5)
			f, err := newConformalTwoWays(m, points)
			if err != nil {
				t.Fatal(err)
			}
			between, within := f.traces()
			conformalNear(t, "1'B1/M", mat.Sum(f.b)/6, between, 1e-12)
			conformalNear(t, "1'W1/M", mat.Sum(f.w)/6, within, 1e-12)
			conformalNear(t, "J", f.matrices(), f.scatter(), 1e-12)
			// Sorting the rows, and the labels with them, changes no sum.
			order := conformalByClass(points.y)
			conformalNear(t, "sorted", mat.Sum(conformalReordered(f.b, order)), mat.Sum(f.b), 1e-12)
		}
	}
}

// The lesson's own matrices, eigenvector and ascent are those of package conformal.
func TestConformalAgreesWithTheProduct(t *testing.T) {
	t.Parallel()
	p := conformalMoons()
	var rows []int
	for i := range 8 {
		rows = append(rows, i*len(p.y)/8)
	}
	for _, gamma := range []float64{0.05, 1, 8} {
		r := p.rayleigh(p.spread(8, false), gamma, conformalRidge)
		top, err := r.solve()
		if err != nil {
			t.Fatal(err)
		}
		m, stats, err := mlconformal.Fit(t.Context(), "eigen", p.gram, p.x, p.y, rows, mlconformal.Settings{Gamma: gamma, Ridge: conformalRidge})
		if err != nil {
			t.Fatal(err)
		}
		conformalNear(t, "g", top.values[0], stats.Eigenvalue, 1e-9)
		if len(top.values) != stats.BasisRank {
			t.Errorf("rank %d, want %d", len(top.values), stats.BasisRank)
		}
		if got, want := r.factors(top.top), m.Factors(p.x); !floats.EqualApprox(got, want, 1e-6) {
			t.Errorf("core width %g: c = %v, want %v", gamma, got[:4], want[:4])
		}
		before, err := p.j(t.Context(), conformalOnes(len(p.y)))
		if err != nil {
			t.Fatal(err)
		}
		conformalNear(t, "J before", p.quotientOf(conformalOnes(len(p.y))), before, 1e-10)
		after, err := p.j(t.Context(), r.factors(top.top))
		if err != nil {
			t.Fatal(err)
		}
		conformalNear(t, "J after", after, stats.JAfter, 1e-9)

		path := r.climb(t.Context(), conformalSteps, 0.1)
		best := 0.0
		for i := range path.Len() {
			best = math.Max(best, p.quotientOf(r.factors(path.At(i))))
			if q := r.quotient(path.At(i)); q > top.values[0]*(1+1e-9) {
				t.Errorf("step %d: the quotient %g is above the largest eigenvalue %g", i, q, top.values[0])
			}
		}
		_, climbed, err := mlconformal.Fit(t.Context(), "gradient", p.gram, p.x, p.y, rows, mlconformal.Settings{Gamma: gamma, Ridge: conformalRidge, Steps: conformalSteps, Rate: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		conformalNear(t, "J of the gradient", best, climbed.JAfter, 1e-8)
		if path.Len() != conformalSteps+1 {
			t.Errorf("%d states, want %d", path.Len(), conformalSteps+1)
		}
		_, amari, err := mlconformal.Fit(t.Context(), "amari", p.gram, p.x, p.y, rows, mlconformal.Settings{Gamma: gamma})
		if err != nil {
			t.Fatal(err)
		}
		// All of them are candidates of the same quotient. With the ridge in the
		// denominator the eigenvector is its maximum; without, it can lose by no more
		// than the ridge.
		unit := append([]float64{0}, conformalOnes(8)...)
		if q := r.quotient(unit); q > top.values[0]*(1+1e-9) {
			t.Errorf("Amari and Wu's factor has the quotient %g, the largest eigenvalue is %g", q, top.values[0])
		}
		for what, j := range map[string]float64{"before": before, "gradient": climbed.JAfter, "amari": amari.JAfter} {
			if stats.JAfter < j*(1-0.02) {
				t.Errorf("core width %g: the eigenvector has J = %g, %s has %g", gamma, stats.JAfter, what, j)
			}
		}
		if climbed.JAfter < before {
			t.Errorf("the gradient fell from %g to %g", before, climbed.JAfter)
		}
	}
}

// Every core twice: Q is singular for any ridge, and neither g nor c notices.
func TestConformalTrap(t *testing.T) {
	t.Parallel()
	p := conformalMoons()
	once, err := p.rayleigh(p.spread(8, false), 1, conformalRidge).solve()
	if err != nil {
		t.Fatal(err)
	}
	r := p.rayleigh(p.spread(8, true), 1, conformalRidge)
	twice, err := r.solve()
	if err != nil {
		t.Fatal(err)
	}
	conformalNear(t, "g", twice.values[0], once.values[0], 1e-9)
	if len(twice.values) != 9 || len(twice.top) != 17 {
		t.Errorf("rank %d of %d columns, want 9 of 17", len(twice.values), len(twice.top))
	}
	for _, ridge := range []float64{0, 1e-3, 1, 100} {
		v, err := p.rayleigh(p.spread(8, true), 1, ridge).qValues()
		if err != nil {
			t.Fatal(err)
		}
		if v[0] > 1e-12*v[len(v)-1] {
			t.Errorf("D = %g: the smallest eigenvalue of Q is %g of the largest %g", ridge, v[0], v[len(v)-1])
		}
	}
}

// The kernel stays positive semidefinite for a factor of both signs.
func TestConformalSigns(t *testing.T) {
	t.Parallel()
	p := conformalMoons()
	r := p.rayleigh(p.spread(8, false), 1, conformalRidge)
	top, err := r.solve()
	if err != nil {
		t.Fatal(err)
	}
	c := r.factors(top.top)
	if floats.Min(c) >= 0 || floats.Max(c) <= 0 {
		t.Fatalf("c from %g to %g: the example has to take both signs", floats.Min(c), floats.Max(c))
	}
	conformalNear(t, "mean |c|", floats.Norm(c, 1)/float64(len(c)), 1, 1e-12)
	if floats.Sum(c) < 0 {
		t.Error("the sum of c is negative")
	}
	s, err := theory.Mercer(theory.Gram(p.scaled(c)))
	if err != nil {
		t.Fatal(err)
	}
	if !s.PSD {
		t.Errorf("smallest eigenvalue %g", floats.Min(s.Values))
	}
}

// B0 is the kernel matrix with the weights 1/M1 and -1/M2 on rows and columns, times
// M1 M2 / M, as step 3 says: so it is positive semidefinite as K is.
func TestConformalScatterBetween(t *testing.T) {
	t.Parallel()
	p := conformalMoons()
	p.y[0], p.y[1], p.y[4] = 1, 1, 1 // classes of unequal size
	k := theory.Gram(p.gram)
	b, w := conformalScatter(k, p.y)
	n := map[float64]float64{}
	for _, y := range p.y {
		n[y]++
	}
	weight := func(i int) float64 { return p.y[i] / n[p.y[i]] }
	m := float64(len(p.y))
	for i := range p.y {
		for j := range p.y {
			conformalNear(t, "B0", b.At(i, j), n[-1]*n[1]/m*weight(i)*weight(j)*k.At(i, j), 1e-12)
			if p.y[i] != p.y[j] && w.At(i, j) != 0 {
				t.Errorf("W0 is %g between the classes", w.At(i, j))
			}
		}
	}
	if n[-1] == n[1] {
		t.Error("the classes are of one size")
	}
}
