package conformal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

func gram(x *mat.Dense, k func(a, b []float64) float64) mltest.Matrix {
	n, _ := x.Dims()
	return mltest.Symmetric(n, func(i, j int) float64 { return k(x.RawRowView(i), x.RawRowView(j)) })
}

// cloud draws two overlapping classes; about the given share of the rows is +1, at least one.
func cloud(rng *rand.Rand, n, d int, share float64) (*mat.Dense, []float64) {
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		y[i] = -1
		if i == 0 || i > 1 && rng.Float64() < share {
			y[i] = 1
		}
		for j := range d {
			x.Set(i, j, rng.NormFloat64()+y[i]*0.7)
		}
	}
	return x, y
}

func every(n, step int) (cores []int) {
	for i := 0; i < n; i += step {
		cores = append(cores, i)
	}
	return cores
}

func fit(t *testing.T, method string, k Matrix, x *mat.Dense, y []float64, cores []int, s Settings) (*Map, Stats) {
	t.Helper()
	m, stats, err := Fit(t.Context(), method, k, x, y, cores, s)
	require.NoError(t, err)
	return m, stats
}

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	require.Check(t, math.Abs(got-want) <= rel*math.Abs(want),
		"%s = %.12g, want %.12g (relative %g)", what, got, want, rel)
}

func TestReference(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Data, Positive string
		Kernel         struct {
			Type         string
			Gamma, Coef0 float64
			Degree       int
		}
		CoreGamma float64 `json:"core_gamma"`
		D         float64
		CoreStep  int `json:"core_step"`
		Expect    struct {
			JBefore    float64 `json:"J_before"`
			JAfter     float64 `json:"J_after"`
			Eigenvalue float64 `json:"max_eigenvalue"`
			Rank       int     `json:"basis_rank"`
			Cores      int
		}
	}
	require.NoError(t, json.NewDecoder(mltest.OpenShared(t, "reference", "conformal.json")).Decode(&cases))
	require.Must(t, len(cases) != 0, "no reference values")
	for i, c := range cases {
		t.Run(fmt.Sprint(i, " ", c.Data, " ", c.Kernel.Type), func(t *testing.T) {
			t.Parallel()
			x, y := mltest.TwoClasses(t, c.Data, c.Positive)
			mltest.Standardise(x)
			k := map[string]kernel.Kernel{
				"linear": kernel.Linear(), "rbf": kernel.RBF(c.Kernel.Gamma), "poly": kernel.Polynomial(c.Kernel.Gamma, c.Kernel.Coef0, c.Kernel.Degree),
			}[c.Kernel.Type]
			g := gram(x, k.Eval)
			m, s := fit(t, "eigen", g, x, y, every(len(y), c.CoreStep), Settings{Gamma: c.CoreGamma, Ridge: c.D})
			near(t, "J before", s.JBefore, c.Expect.JBefore, 1e-6)
			near(t, "J after", s.JAfter, c.Expect.JAfter, 1e-6)
			near(t, "eigenvalue", s.Eigenvalue, c.Expect.Eigenvalue, 1e-6)
			require.Check(t, s.BasisRank == c.Expect.Rank && len(m.Cores) == c.Expect.Cores,
				"rank %d of %d cores, want %d of %d", s.BasisRank, len(m.Cores), c.Expect.Rank, c.Expect.Cores)
			require.Check(t, s.Residual <= 1e-10, "residual %g", s.Residual)
			// The numbers must hold for the c of the stored map.
			f := m.Factors(x)
			near(t, "ridged J of the stored map", ridged(g, y, f, c.D), c.Expect.Eigenvalue, 1e-6)
			near(t, "J of the stored map", require.Value(J(t.Context(), g, y, f))(t), c.Expect.JAfter, 1e-6)
		})
	}
}

// ridged returns c'B0c / c'(W0 + D I)c by the definition of B0 and W0.
func ridged(k mltest.Matrix, y, c []float64, ridge float64) float64 {
	count := map[float64]float64{}
	for _, v := range y {
		count[v]++
	}
	b, w := 0.0, 0.0
	for i := range c {
		w += c[i] * c[i] * (k.At(i, i) + ridge)
		for j := range c {
			kij := c[i] * c[j] * k.At(i, j)
			b -= kij / float64(len(c))
			if y[i] == y[j] {
				b += kij / count[y[i]]
				w -= kij / count[y[i]]
			}
		}
	}
	return b / w
}

// For the linear kernel J must be the ratio of the traces of the scatter of the points c_i x_i.
func TestJIsTheTraceRatio(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for trial := range 30 {
		n, d := 3+rng.IntN(200), 1+rng.IntN(5)
		x, y := cloud(rng, n, d, rng.Float64())
		k := gram(x, kernel.Linear().Eval)
		c := lists.Make(n, func(i int) float64 { return rng.NormFloat64() })
		if classes := 2 + trial%4; classes > 2 && n > 2*classes {
			for i := range y {
				y[i] = float64(1 + rng.IntN(classes))
			}
		}
		mean := map[float64][]float64{0: make([]float64, d)}
		count := map[float64]float64{0: float64(n)}
		for i := range n {
			if count[y[i]]++; count[y[i]] == 1 {
				mean[y[i]] = make([]float64, d)
			}
			floats.AddScaled(mean[0], c[i], x.RawRowView(i))
			floats.AddScaled(mean[y[i]], c[i], x.RawRowView(i))
		}
		for label, v := range mean {
			floats.Scale(1/count[label], v)
		}
		between, within := 0.0, 0.0
		for i := range n {
			z := floats.ScaleTo(make([]float64, d), c[i], x.RawRowView(i))
			within += math.Pow(floats.Distance(z, mean[y[i]], 2), 2)
			between += math.Pow(floats.Distance(mean[y[i]], mean[0], 2), 2)
		}
		got := require.Value(J(t.Context(), k, y, c))(t, "trial %d", trial)
		near(t, fmt.Sprintf("trial %d: J", trial), got, between/within, 1e-9)
	}
}

func TestNeitherOrderNorLabelsMatter(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	x, y := cloud(rng, 150, 3, 0.3)
	cores := every(150, 6)
	perm := rng.Perm(150)
	px, py := mat.NewDense(150, 3, nil), make([]float64, 150)
	at := make([]int, 150) // position of each row
	for i, from := range perm {
		px.SetRow(i, x.RawRowView(from))
		py[i] = y[from]
		at[from] = i
	}
	pcores := lists.Map(cores, func(c int) int { return at[c] })
	flipped := floats.ScaleTo(make([]float64, len(y)), -1, y)
	s := Settings{Gamma: 0.5, Ridge: 1e-3}
	for _, row := range Table {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			k, pk := gram(x, kernel.RBF(0.4).Eval), gram(px, kernel.RBF(0.4).Eval)
			m, want := fit(t, row.Name, k, x, y, cores, s)
			pm, got := fit(t, row.Name, pk, px, py, pcores, s)
			fm, flip := fit(t, row.Name, k, x, flipped, cores, s)
			for _, g := range []Stats{got, flip} {
				near(t, "J before", g.JBefore, want.JBefore, 1e-9)
				near(t, "J after", g.JAfter, want.JAfter, 1e-7)
			}
			for i, c := range m.Factors(x) {
				d := math.Abs(c - pm.At(x.RawRowView(i)))
				require.Must(t, d <= 1e-5, "row %d: permuting the rows moves c by %g", i, d)
				d = math.Abs(c - fm.At(x.RawRowView(i)))
				require.Must(t, d <= 1e-5, "row %d: flipping the labels moves c by %g", i, d)
			}
		})
	}
}

func TestEigenIsTheMaximum(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for trial := range 6 {
		n := 60 + rng.IntN(100)
		x, y := cloud(rng, n, 2, 0.1+0.4*rng.Float64())
		k := gram(x, []func(a, b []float64) float64{kernel.Linear().Eval, kernel.RBF(0.5).Eval, kernel.Polynomial(1, 1, 3).Eval}[trial%3])
		cores := every(n, 4+trial)
		s := Settings{Gamma: math.Exp(rng.NormFloat64()), Ridge: []float64{0, 1e-3, 1}[trial/2]}
		m, stats := fit(t, "eigen", k, x, y, cores, s)
		near(t, "ridged J of the eigen map", ridged(k, y, m.Factors(x), s.Ridge), stats.Eigenvalue, 1e-6)
		limit := stats.Eigenvalue * (1 + 1e-9)
		for range 1000 {
			r := *m
			r.Alpha0, r.Alpha = rng.NormFloat64(), make([]float64, len(cores))
			for j := range r.Alpha {
				r.Alpha[j] = rng.NormFloat64()
			}
			j := ridged(k, y, r.Factors(x), s.Ridge)
			require.Must(t, j <= limit, "trial %d: random coefficients reach %g, eigen %g", trial, j, stats.Eigenvalue)
		}
		// Close competitors: perturbations of the map.
		for range 200 {
			r := *m
			r.Alpha = append([]float64(nil), m.Alpha...)
			r.Alpha[rng.IntN(len(cores))] *= 1 + 0.1*rng.NormFloat64()
			j := ridged(k, y, r.Factors(x), s.Ridge)
			require.Must(t, j <= limit, "trial %d: a neighbour reaches %g, eigen %g", trial, j, stats.Eigenvalue)
		}
		for _, other := range []string{"gradient", "amari"} {
			o, _ := fit(t, other, k, x, y, cores, s)
			j := ridged(k, y, o.Factors(x), s.Ridge)
			require.Check(t, j <= limit, "trial %d: %s reaches %g, eigen %g", trial, other, j, stats.Eigenvalue)
		}
	}
}

func TestGradientClimbs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for trial := range 8 {
		n := 40 + rng.IntN(120)
		x, y := cloud(rng, n, 2, 0.4)
		k := gram(x, []func(a, b []float64) float64{kernel.Linear().Eval, kernel.RBF(0.5).Eval}[trial%2])
		s := Settings{Gamma: []float64{0.1, 1}[trial/2%2], Ridge: []float64{1e-3, 100}[trial/4]}
		m, got := fit(t, "gradient", k, x, y, every(n, 5), s)
		_, top := fit(t, "eigen", k, x, y, every(n, 5), s)
		t.Logf("J %.4f -> %.4f in %d steps, eigen %.4f", got.JBefore, got.JAfter, got.Steps, top.JAfter)
		require.Check(t, got.JAfter >= got.JBefore, "trial %d: J fell from %g to %g", trial, got.JBefore, got.JAfter)
		require.Check(t, s.Ridge >= 1 || got.JAfter-got.JBefore >= 0.5*(top.JAfter-top.JBefore),
			"trial %d: J climbed from %g to %g only; the top is %g", trial, got.JBefore, got.JAfter, top.JAfter)
		again, _ := fit(t, "gradient", k, x, y, every(n, 5), s)
		require.Equal(t, cmp.Diff(m, again), "", "trial %d: not deterministic", trial)
		// The path is invariant to scaling kernel and ridge.
		big := mltest.NewMatrix(n)
		big.Scale(1024, k)
		s.Ridge *= 1024
		scaled, _ := fit(t, "gradient", big, x, y, every(n, 5), s)
		require.Equal(t, cmp.Diff(m, scaled), "", "trial %d: the unit of the kernel matters", trial)
	}
}

// Q = K1'(W0 + D I)K1 is singular if cores coincide; the map must not be affected.
func TestRepeatedCores(t *testing.T) {
	t.Parallel()
	x, y := cloud(rand.New(rand.NewPCG(5, 5)), 80, 2, 0.5)
	k := gram(x, kernel.RBF(0.5).Eval)
	s := Settings{Gamma: 1, Ridge: 1e-3}
	once := every(80, 8)
	m, want := fit(t, "eigen", k, x, y, once, s)
	m3, got := fit(t, "eigen", k, x, y, append(append(once, once...), once...), s)
	require.Equal(t, got.BasisRank, want.BasisRank, "rank with repeated cores")
	near(t, "J after", got.JAfter, want.JAfter, 1e-8)
	near(t, "eigenvalue", got.Eigenvalue, want.Eigenvalue, 1e-8)
	for i := range 80 {
		near(t, "c", m3.At(x.RawRowView(i)), m.At(x.RawRowView(i)), 1e-5)
	}
	for _, row := range Table {
		for name, cores := range map[string][]int{"one": {7}, "the same": {7, 7, 7, 7}, "more than rows": append(every(80, 1), every(80, 1)...)} {
			_, stats := fit(t, row.Name, k, x, y, cores, s)
			require.Check(t, !math.IsNaN(stats.JAfter) && !math.IsInf(stats.JAfter, 0),
				"%s, %s core: %+v", row.Name, name, stats)
		}
		// Cores so close that the columns of K1 agree up to rounding, or so narrow that they
		// vanish off the diagonal.
		for _, gamma := range []float64{1e-12, 1e-6, 1e9} {
			m, stats := fit(t, row.Name, k, x, y, every(80, 2), Settings{Gamma: gamma, Ridge: 1e-3})
			for _, c := range append(m.Factors(x), stats.JAfter, stats.Eigenvalue, stats.Residual) {
				require.Must(t, !math.IsNaN(c) && !math.IsInf(c, 0), "%s, gamma %g: %v, %+v", row.Name, gamma, m, stats)
			}
		}
	}
}

func TestConventions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	changes := 0
	for trial := range 10 {
		x, y := cloud(rng, 90, 2, 0.4)
		k := gram(x, kernel.RBF(0.3).Eval)
		for _, row := range Table {
			m, stats := fit(t, row.Name, k, x, y, every(90, 7), Settings{Gamma: 0.7, Ridge: 1e-4})
			c := m.Factors(x)
			if row.Name != "amari" {
				near(t, row.Name+": mean |c|", floats.Norm(c, 1)/90, 1, 1e-12)
			}
			require.Check(t, floats.Sum(c) > 0, "%s: sum c = %g", row.Name, floats.Sum(c))
			both := floats.Min(c) < 0 && floats.Max(c) > 0
			require.Equal(t, stats.SignChange, both, "%s: SignChange, c from %g to %g", row.Name, floats.Min(c), floats.Max(c))
			if !both {
				continue
			}
			changes++
			// D K D remains positive semidefinite.
			dkd := mat.NewSymDense(90, nil)
			for i := range 90 {
				for j := i; j < 90; j++ {
					dkd.SetSym(i, j, c[i]*c[j]*k.At(i, j))
				}
			}
			v, _, ok := dense.Eigen(dkd, false)
			require.Must(t, ok, "no eigenvalues")
			require.Check(t, v[0] >= -1e-12*v[89],
				"trial %d, %s: eigenvalue %g of D K D, largest %g", trial, row.Name, v[0], v[89])
		}
	}
	require.Check(t, changes != 0, "no map changed its sign: the test shows nothing")
}

func TestAmariIsTheFormula(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(4, 1, []float64{0, 1, 2, 5})
	m, _ := fit(t, "amari", gram(x, kernel.RBF(1).Eval), x, []float64{-1, 1, -1, 1}, []int{0, 3}, Settings{Gamma: 0.5})
	for _, z := range []float64{0, 1, 2.5, 5, 9} {
		near(t, "c", m.At([]float64{z}), math.Exp(-z*z/2)+math.Exp(-(z-5)*(z-5)/2), 1e-15)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(4, 1, []float64{0, 1, 2, 5})
	k := gram(x, kernel.RBF(1).Eval)
	y := []float64{-1, 1, -1, 1}
	nan := math.NaN()
	same := mat.NewDense(4, 1, []float64{3, 3, 3, 3})
	ok := Settings{Gamma: 1, Ridge: 1e-3}
	for name, c := range map[string]struct {
		k     Matrix
		x     *mat.Dense
		y     []float64
		cores []int
		s     Settings
		want  string
	}{
		"no cores":        {k, x, y, nil, ok, "no cores"},
		"core outside":    {k, x, y, []int{4}, ok, "core row 4"},
		"negative core":   {k, x, y, []int{-1}, ok, "core row -1"},
		"one class":       {k, x, []float64{1, 1, 1, 1}, []int{0}, ok, "one class"},
		"other class":     {k, x, []float64{-1, -1, -1, -1}, []int{0}, ok, "one class"},
		"label":           {k, x, []float64{-1, 1, nan, 1}, []int{0}, ok, "labels must be"},
		"labels short":    {k, x, y[:3], []int{0}, ok, "3 labels"},
		"rows short":      {k, mat.NewDense(3, 1, nil), y, []int{0}, ok, "3 rows of inputs"},
		"gamma 0":         {k, x, y, []int{0}, Settings{}, "core_gamma"},
		"gamma negative":  {k, x, y, []int{0}, Settings{Gamma: -1}, "core_gamma"},
		"gamma NaN":       {k, x, y, []int{0}, Settings{Gamma: nan}, "core_gamma"},
		"ridge negative":  {k, x, y, []int{0}, Settings{Gamma: 1, Ridge: -1}, "core_ridge"},
		"ridge NaN":       {k, x, y, []int{0}, Settings{Gamma: 1, Ridge: nan}, "core_ridge"},
		"steps":           {k, x, y, []int{0}, Settings{Gamma: 1, Steps: -1}, "steps"},
		"rate":            {k, x, y, []int{0}, Settings{Gamma: 1, Rate: nan}, "step"},
		"input NaN":       {k, mat.NewDense(4, 1, []float64{0, 1, nan, 5}), y, []int{0}, ok, "row 3 column 1"},
		"kernel NaN":      {gram(x, func(a, b []float64) float64 { return a[0] * b[0] * nan }), x, y, []int{0}, ok, "not finite"},
		"kernel infinite": {gram(x, func(a, b []float64) float64 { return 1e308 * (1 + a[0]*b[0]) }), x, y, []int{0}, ok, "not finite"},
		"equal rows":      {gram(same, kernel.RBF(1).Eval), same, y, []int{0}, ok, "coincide"},
		"equal, linear":   {gram(same, kernel.Linear().Eval), same, y, []int{0}, ok, "coincide"},
		"zero kernel":     {gram(x, func(a, b []float64) float64 { return 0 }), x, y, []int{0}, ok, "coincide"},
		"not PSD":         {gram(x, func(a, b []float64) float64 { return -kernel.RBF(1).Eval(a, b) }), x, y, []int{0}, ok, "positive semidefinite"},
	} {
		for _, row := range Table {
			m, stats, err := Fit(t.Context(), row.Name, c.k, c.x, c.y, c.cores, c.s)
			require.Fails(t, err, c.want, "%s, %s", name, row.Name)
			require.Check(t, m == nil && reflect.DeepEqual(stats, Stats{}),
				"%s, %s: an error and a result", name, row.Name)
		}
	}

	for want, core := range map[string][]float64{"2 coordinates": {1, 2}, "core 2 is NaN": {nan}} {
		require.Fails(t, require.Err3(FitAt(t.Context(), "eigen", k, x, y, [][]float64{{0}, core}, ok)), want, "core %v", core)
	}
	require.Fails(t, require.Err3(Scatter(t.Context(), k, y, mat.NewDense(3, 1, nil))), "3 rows", "scatter of 3 rows for 4 labels")
	require.Fails(t, require.Err3(Fit(t.Context(), "magic", k, x, y, []int{0}, ok)), "eigen, gradient, amari", "unknown method")
	// A class of one row that is a core: W0 is singular in range(K1).
	alone := []float64{-1, -1, -1, 1}
	require.Fails(t, require.Err3(Fit(t.Context(), "eigen", k, x, alone, every(4, 1), Settings{Gamma: 1})), "raise core_ridge", "singular scatter without ridge")
	require.Fails(t, require.Err(J(t.Context(), k, y, make([]float64, 3))), "", "J took three factors for four rows")
	j, err := J(t.Context(), k, y, make([]float64, 4))
	require.Check(t, err != nil, "J of c = 0 is %g", j)

	for _, alpha0 := range []float64{0, math.Inf(1), nan} {
		m := &Map{Gamma: 1, Alpha0: alpha0, Alpha: []float64{0}, Cores: [][]float64{{0}}}
		_, err := m.Normalize(x)
		require.Fails(t, err, "zero or not finite on the training rows", "c = %g on all rows", alpha0)
	}

	ctx := mltest.Ended()
	for _, row := range Table {
		require.Is(t, require.Err3(Fit(ctx, row.Name, k, x, y, []int{0}, ok)), context.Canceled, "%s after cancel", row.Name)
	}
}

// A narrow core on a class of one row makes J arbitrarily large. No method may return NaN or Inf.
func TestClassOfOneRow(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(10, 10))
	fitted := 0
	for trial := range 40 {
		n := 5 + rng.IntN(60)
		x, y := cloud(rng, n, 2, 0)
		for _, row := range Table {
			s := Settings{Gamma: math.Exp(4 * rng.NormFloat64()), Ridge: []float64{0, 1e-3, 1}[trial%3]}
			m, stats, err := Fit(t.Context(), row.Name, gram(x, kernel.RBF(1).Eval), x, y, every(n, 1+trial%3), s)
			if err != nil {
				require.Check(t, strings.Contains(err.Error(), "no scatter") || strings.Contains(err.Error(), "raise core_ridge"),
					"%s: %v", row.Name, err)
				continue
			}
			fitted++
			for _, v := range append(m.Factors(x), m.Alpha0, stats.JBefore, stats.JAfter, stats.Eigenvalue, stats.Residual) {
				require.Must(t, !math.IsNaN(v) && !math.IsInf(v, 0),
					"%s, gamma %g, ridge %g: %+v", row.Name, s.Gamma, s.Ridge, stats)
			}
			require.Check(t, stats.JBefore >= 0 && stats.JAfter >= 0, "%s: negative J: %+v", row.Name, stats)
		}
	}
	t.Logf("%d of 120 have a map", fitted)
	require.Check(t, fitted >= 40, "only %d of 120 have a map", fitted)
}

// interrupted cancels the context at its fifth row.
type interrupted struct {
	mltest.Matrix
	cancel context.CancelFunc
	read   *int
}

func (k interrupted) Row(dst []float64, i int) {
	if *k.read++; *k.read == 5 {
		k.cancel()
	}
	k.Matrix.Row(dst, i)
}

func TestCancelWhileReading(t *testing.T) {
	t.Parallel()
	x, y := cloud(rand.New(rand.NewPCG(11, 11)), 100, 2, 0.5)
	for _, row := range Table {
		ctx, cancel := context.WithCancel(t.Context())
		k := interrupted{gram(x, kernel.RBF(1).Eval), cancel, new(int)}
		_, _, err := Fit(ctx, row.Name, k, x, y, every(100, 5), Settings{Gamma: 1, Ridge: 1e-3})
		require.Check(t, errors.Is(err, context.Canceled) && *k.read == 5,
			"%s: %v after %d rows, cancelled at 5", row.Name, err, *k.read)
	}
}

// Without cores the kernel is unchanged, and Visit gets every step of the ascent.
func TestFitAt(t *testing.T) {
	t.Parallel()
	x, y := cloud(rand.New(rand.NewPCG(12, 9)), 40, 2, 0.5)
	k := gram(x, kernel.RBF(0.5).Eval)
	m, stats := Map{}, Stats{}
	for _, method := range []string{"eigen", "gradient"} {
		got, s, err := FitAt(t.Context(), method, k, x, y, nil, Settings{Gamma: 1, Ridge: 1e-3, Steps: 5})
		require.NoError(t, err)
		if m, stats = *got, s; math.Abs(m.Alpha0-1) > 1e-12 || len(m.Alpha) > 0 || math.Abs(stats.JAfter-stats.JBefore) > 1e-12 {
			t.Errorf("%s without cores: %+v, %+v", method, m, stats)
		}
	}
	var path [][]float64
	cores := [][]float64{{0, 0}, {1, -1}, {1, -1}}
	s := Settings{Gamma: 1, Ridge: 1e-3, Steps: 30, Rate: 0.2}
	s.Visit = func(alpha []float64) { path = append(path, alpha) }
	_, stats, err := FitAt(t.Context(), "gradient", k, x, y, cores, s)
	require.NoError(t, err)
	require.Must(t, len(path) == stats.Steps+1, "%d iterates of %d steps", len(path), stats.Steps)
	best := 0.0
	for i, alpha := range path {
		near(t, "length", floats.Norm(alpha, 2), 1, 1e-12)
		require.Check(t, i != 0 || alpha[0] == 1, "the start is %v", alpha)
		at := Map{Gamma: 1, Alpha0: alpha[0], Alpha: alpha[1:], Cores: cores}
		j := require.Value(J(t.Context(), k, y, at.Factors(x)))(t)
		best = max(best, j)
	}
	near(t, "the best of the iterates", best, stats.JAfter, 1e-9)
	// The first value of the spectrum is the maximum, and there is one per direction.
	_, stats, err = FitAt(t.Context(), "eigen", k, x, y, cores, s)
	require.NoError(t, err)
	require.Check(t, len(stats.Spectrum) == stats.BasisRank && stats.BasisRank == 3 && stats.Spectrum[0] == stats.Eigenvalue && stats.Spectrum[1] <= stats.Spectrum[0],
		"spectrum %v, rank %d, eigenvalue %g", stats.Spectrum, stats.BasisRank, stats.Eigenvalue)
}

// For any cores, Q must be orthonormal and Q R must be K1.
func TestCoreFactors(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{5, 70, 300} {
		x, y := cloud(rng, n, 2, 0.5)
		k := gram(x, kernel.Linear().Eval)
		for _, gamma := range []float64{1e-12, 1e-6, 1e-3, 0.1, 10, 1e9} {
			cores := lists.Map(append(every(n, 1), rng.Perm(n)...), x.RawRowView)
			p := require.Value(newProblem(k, x, y, cores, Settings{Gamma: gamma}))(t)
			q, r, err := p.coreFactors(t.Context())
			require.NoError(t, err)
			rank, _ := r.Dims()
			var qq, qr mat.Dense
			qq.Mul(q.T(), q)
			for i := range rank {
				qq.Set(i, i, qq.At(i, i)-1)
			}
			e := mat.Norm(&qq, 2)
			require.Check(t, e <= 1e-12, "n = %d, gamma = %g: Q'Q is off by %g, rank %d", n, gamma, e, rank)
			qr.Mul(q, r)
			qr.Sub(&qr, CoreMatrix(p.x, cores, gamma))
			if e := mat.Norm(&qr, 2); e > 1e-10*math.Sqrt(float64(n)*float64(len(cores))) {
				t.Errorf("n = %d, gamma = %g: QR is off K1 by %g, rank %d", n, gamma, e, rank)
			}
		}
	}
}

// Whatever r: U must be orthonormal, r alpha = U z, and alpha orthogonal to the null space of r.
func TestSpan(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(10, 9))
	for _, c := range []struct {
		rows, cols int
		smallest   float64 // of the factors of the rows
		rank       int
	}{{1, 1, 1, 1}, {20, 20, 1, 20}, {20, 20, 1e-5, 20}, {20, 20, 1e-12, 19}, {12, 20, 1, 12}, {12, 20, 1e-12, 11}} {
		r := mltest.Normal(rng, c.rows, c.cols)
		floats.Scale(c.smallest, r.RawRowView(0))
		u, shortest, err := span(r)
		require.NoError(t, err)
		_, rank := u.Dims()
		require.Must(t, rank == c.rank, "%+v: rank %d", c, rank)
		z := lists.Make(rank, func(i int) float64 { return rng.NormFloat64() })
		var uu mat.Dense
		uu.Mul(u.T(), u)
		for i := range rank {
			uu.Set(i, i, uu.At(i, i)-1)
		}
		alpha := require.Value(shortest(append([]float64(nil), z...)))(t)
		var miss, want, back mat.VecDense
		want.MulVec(u, mat.NewVecDense(rank, z))
		miss.MulVec(r, mat.NewVecDense(c.cols, alpha))
		miss.SubVec(&miss, &want)
		e := mat.Norm(&miss, 2)
		require.Check(t, e <= 1e-8 && mat.Norm(&uu, 2) <= 1e-12, "%+v: r alpha is off by %g, U'U by %g", c, e, mat.Norm(&uu, 2))
		// alpha is in the range of r': its least-squares fit there has no residual.
		var fit mat.Dense
		if rank == c.rows && fit.Solve(r.T(), mat.NewVecDense(c.cols, alpha)) == nil {
			back.MulVec(r.T(), fit.ColView(0))
			back.SubVec(&back, mat.NewVecDense(c.cols, alpha))
			e := mat.Norm(&back, 2)
			require.Check(t, e <= 1e-8*(1+floats.Norm(alpha, 2)), "%+v: alpha is longer than it need be, by %g of %g", c, e, floats.Norm(alpha, 2))
		}
	}
}

func BenchmarkEigen(b *testing.B) {
	x, y := cloud(rand.New(rand.NewPCG(8, 8)), 5000, 2, 0.4)
	k := kernel.NewGram(kernel.RBF(0.5), x)
	for _, gamma := range []float64{0.5, 50} {
		b.Run(fmt.Sprint("n=5000,cores=500,gamma=", gamma), func(b *testing.B) {
			for b.Loop() {
				_, s, err := Fit(context.Background(), "eigen", k, x, y, every(5000, 10), Settings{Gamma: gamma, Ridge: 1e-3})
				require.NoError(b, err)
				b.ReportMetric(float64(s.BasisRank), "rank")
			}
		})
	}
}

// The kernel distance of the linear kernel equals the distance of the points, so all maps are equal.
func TestKernelDistance(t *testing.T) {
	t.Parallel()
	x, y := cloud(rand.New(rand.NewPCG(3, 4)), 40, 3, 0.4)
	k, cores := gram(x, kernel.Linear().Eval), every(40, 3)
	for _, row := range Table {
		s := Settings{Gamma: 0.3, Ridge: 1e-3}
		want, wantStats := fit(t, row.Name, k, x, y, cores, s)
		got, stats := fit(t, row.Name, k, nil, y, cores, s)
		require.Check(t, got.Cores == nil && len(got.Self) == len(cores) && want.Self == nil,
			"%s: %d cores with coordinates, %d without", row.Name, len(got.Cores), len(got.Self))
		require.Near(t, stats.JAfter, wantStats.JAfter, 1e-8*wantStats.JAfter, "%s: J without coordinates", row.Name)
		near := make([]float64, len(cores))
		for i, c := range want.Factors(x) {
			for j, a := range cores {
				near[j] = k.At(i, a)
			}
			require.Near(t, got.AtKernel(k.Diag(i), near), c, 1e-6*(1+math.Abs(c)), "%s: c at row %d, and with coordinates", row.Name, i+1)
		}
		for _, m := range []*Map{got, want} {
			require.Equal(t, cmp.Diff(m, require.Reread(t, m)), "", "%s: read again", row.Name)
		}
	}
}

// TestKernelDistanceIndefinite has negative squared distances and overflowing sums.
func TestKernelDistanceIndefinite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ xx, aa, xa, want float64 }{
		{2, 3, 1, 3}, {1, 1, 4, 0}, {1, 1, 1, 0}, {math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, 0}, {math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, 0},
	} {
		require.Equal(t, distance(c.xx, c.aa, c.xa), c.want, "distance for %g, %g, %g", c.xx, c.aa, c.xa)
	}
}
