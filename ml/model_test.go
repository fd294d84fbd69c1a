package ml_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// TestModels checks models of every learner, kernel and conformal method, trained in d dimensions on the
// features or on their principal components.
func TestModels(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		for _, k := range kernel.Table {
			if k.Takes != dataset.KindVectors || !k.PSD && set[3] != "none" {
				continue // a conformal map need not exist
			}
			for _, d := range []int{1, 2, 5} {
				for _, more := range [][]string{{"standardize", "true"}, {"standardize", "false"}, {"project", "pca"}} {
					if d == 1 && more[0] == "project" {
						continue
					}
					// A small scale keeps powers of unscaled features in range, and
					// what is indefinite close to linear.
					s := spec(t, append(append(set, more...), "kernel", k.Name, "gamma", "0.01", "coef0", "1", "test_fraction", "0.2")...)
					pts := clouds(40, d, uint64(d))
					m := train(t, pts, s).Model
					roundTrips(t, pts, m)
					surfaceAgrees(t, pts, s, m)
					linearAgrees(t, pts, s, m)
				}
			}
		}
	})
}

// roundTrips checks that JSON keeps a model to the last bit.
func roundTrips(t *testing.T, d *dataset.Data, m *ml.Model) {
	t.Helper()
	text := asJSON(t, m)
	back, err := ml.ReadModel(strings.NewReader(text))
	require.Must(t, err == nil, "%v in %s", err, text)
	require.Equal(t, asJSON(t, back), text, "was written again")
	a, b := m.Decisions(d.X), back.Decisions(d.X)
	for i := range a {
		require.Must(t, math.Float64bits(a[i]) == math.Float64bits(b[i]), "row %d: f = %v before, %v after", i, a[i], b[i])
	}
}

func TestModelOfNoVectors(t *testing.T) {
	t.Parallel()
	m := require.Value(ml.ReadModel(strings.NewReader(`{"features":["x"],"label":"y","positive":"a","negative":"b","kernel":{"name":"linear"},"rows":null,"vectors":null,"coef":null,"b":-2}`)))(t)
	got := m.Predict([]float64{7})
	require.Check(t, got == "b" && m.Decision([]float64{1}) == -2, "predicts %s", got)
	f, _, err := m.Surface(t.Context(), dataset.View{Center: []float64{0}, To: [2][]float64{{1}, {0}}, Axes: [2][]float64{{1}, {0}}}, []float64{1, 2}, []float64{0})
	require.Check(t, err == nil && len(f) == 1 && slices.Equal(f[0], []float64{-2, -2}), "surface %v", f)
	w, b, ok := m.Linear()
	require.Check(t, ok && len(w) == 1 && w[0] == 0 && b == -2, "linear %v %g %v", w, b, ok)
	text := asJSON(t, m)
	require.Check(t, !strings.Contains(text, "null") && strings.Contains(text, `"rows":[]`), "lists without elements are written as %s", text)
}

// magnitude is the sum of the moduli of the terms of f, on which rounding depends.
func magnitude(m *ml.Model, x []float64) float64 {
	abs, machine := *m, m.Machines[0]
	if machine.Map != nil { // c is a sum of its own
		c := *machine.Map
		c.Alpha0, c.Alpha = math.Abs(c.Alpha0), slices.Clone(c.Alpha)
		for j, a := range c.Alpha {
			c.Alpha[j] = math.Abs(a)
		}
		machine.Map = &c
	}
	sum := math.Abs(machine.B)
	for k := range machine.Coef {
		abs.Supports.Vectors = m.Supports.Vectors[k : k+1]
		abs.Machines = []ml.Machine{{Coef: machine.Coef[k : k+1], Map: machine.Map}}
		sum += math.Abs(abs.Decision(x))
	}
	return sum
}

// surfaceAgrees checks a model's values on planes against its decisions.
func surfaceAgrees(t *testing.T, d *dataset.Data, s ml.Spec, m *ml.Model) {
	t.Helper()
	_, cols := d.X.Dims()
	views := []dataset.View{dataset.PCAView(d)}
	names := []string{"x1", ""}
	if cols > 1 {
		names[1] = "x2"
		views = append(views, require.Value(dataset.ColumnView(d, d.Features[cols-1], "x1"))(t))
	}
	views = append(views, require.Value(dataset.ColumnView(d, names[0], names[1]))(t))

	rng := rand.New(rand.NewPCG(1, 2))
	for _, v := range views {
		s0, t0 := v.Point(d.X.RawRowView(0))
		s1, t1 := v.Point(d.X.RawRowView(1))
		ss, ts := grid(rng, s0, s1, 7), grid(rng, t0, t1, 5)
		fs, cs, err := m.Surface(t.Context(), v, ss, ts)
		require.NoError(t, err)
		require.Must(t, len(fs) == 1 && len(cs) == 1, "%d grids of f, %d of c", len(fs), len(cs))
		f, c := fs[0], cs[0]
		require.Must(t, len(f) == 35 && (c != nil) == (s.Conformal != "none") && (c == nil || len(c) == 35),
			"%d values of f, %d of c", len(f), len(c))
		x := make([]float64, cols)
		for j, tv := range ts {
			for i, sv := range ss {
				for k := range x {
					x[k] = v.Center[k] + sv*v.Axes[0][k] + tv*v.Axes[1][k]
				}
				want, got := m.Decision(x), f[j*len(ss)+i]
				if off := math.Abs(got - want); off > 1e-9*math.Abs(want) && off > 1e-9*magnitude(m, x) { // which is the larger and takes longer
					t.Fatalf("%s: f(%v) = %g, on the surface %g", asJSON(t, s), x, want, got)
				}
			}
		}
	}
}

// grid is n ascending values around a and b, not evenly spaced.
func grid(rng *rand.Rand, a, b float64, n int) []float64 {
	a, b = min(a, b), max(a, b)
	step := (b - a + 1) / float64(n)
	return lists.Make(n, func(i int) float64 { return a - 0.5 + step*(float64(i)+0.9*rng.Float64()) })
}

// linearAgrees checks that the weights of a linear model give its decisions.
func linearAgrees(t *testing.T, d *dataset.Data, s ml.Spec, m *ml.Model) {
	t.Helper()
	w, b, ok := m.Linear()
	require.Must(t, ok == (s.Kernel == "linear" && s.Conformal == "none"), "%s: Linear says %v", asJSON(t, s), ok)
	if !ok {
		return
	}
	for i, f := range m.Decisions(d.X) {
		x := d.X.RawRowView(i)
		v := b
		for j := range w {
			v += w[j] * x[j]
		}
		require.Must(t, math.Abs(v-f) <= 1e-9*magnitude(m, x), "%s: row %d: w·x + b = %g, f = %g", asJSON(t, s), i, v, f)
	}
}

func TestDecisionsPredictionsAndAccuracyAgree(t *testing.T) {
	t.Parallel()
	d := clouds(50, 3, 3)
	m := train(t, d, spec(t, "features", "x3,x2")).Model
	cols := require.Value(d.Columns(m.Features))(t)
	f := m.Decisions(cols.X)
	right := 0
	for i := range f {
		x := cols.X.RawRowView(i)
		require.Equal(t, m.Decision(x), f[i], "row %d: f alone and among others", i)
		label := m.Predict(x)
		require.Equal(t, label, m.LabelOf(f[i]), "row %d, f = %g: predicted", i, f[i])
		if label == d.Classes[d.Y[i]] {
			right++
		}
	}
	acc, err := m.Accuracy(d)
	require.Check(t, err == nil && acc == float64(right)/50, "accuracy %g (%v), counted %d of 50", acc, err, right)
	require.Fails(t, require.Err(m.Accuracy(toy())), "x3", "data without a feature of the model give")
}

func TestProjectionIsOrthonormalAndOfLargestVariance(t *testing.T) {
	t.Parallel()
	d := clouds(60, 4, 14)
	m := train(t, d, spec(t, "project", "pca", "standardize", "false")).Model
	p := m.Projection
	for a := range p.Components {
		for b := range p.Components {
			want := lists.Either(a == b, 1, 0.0)
			got := mat.Dot(mat.NewVecDense(4, p.Components[a]), mat.NewVecDense(4, p.Components[b]))
			require.Check(t, math.Abs(got-want) <= 1e-12, "components %d and %d have product %g", a, b, got)
		}
	}
	spread := func(w []float64) (s float64) {
		for i := range 60 {
			var v float64
			for j, x := range d.X.RawRowView(i) {
				v += w[j] * (x - p.Mean[j])
			}
			s += v * v
		}
		return s
	}
	first := spread(p.Components[0])
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w := lists.Make(4, func(j int) float64 { return rng.NormFloat64() })
		v := mat.NewVecDense(4, w)
		v.ScaleVec(1/v.Norm(2), v)
		got := spread(w)
		require.Check(t, got <= first*(1+1e-12), "direction %v has variance %g, the first component %g", w, got, first)
	}
	second := spread(p.Components[1])
	require.Check(t, second <= first, "the second component has variance %g, the first %g", second, first)
}

// Answers for many rows are those for each alone, ties included: f is 0 on an axis of symmetry.
func TestManyRowsAndOne(t *testing.T) {
	t.Parallel()
	const n, pairs = 6000, 2000
	r := rand.New(rand.NewPCG(4, 9))
	m := &ml.Model{Features: []string{"a", "b"}, Classes: []string{"-", "+"}, Kernel: kernel.RBF(0.05), Rule: ml.Sign}
	coef, size := make([]float64, 0, 2*pairs), 0.0
	for range pairs {
		a, b, w := r.NormFloat64(), r.NormFloat64(), r.ExpFloat64()
		m.Supports.Vectors = append(m.Supports.Vectors, []float64{a, b}, []float64{-a, b})
		coef, size = append(coef, w, -w), size+2*w
	}
	m.Machines = []ml.Machine{{Coef: coef}}
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{r.NormFloat64() * float64(min(1, i%10)), 3 * r.NormFloat64()})
	}
	many, same := m.Decisions(x), 0
	for i := 0; i < n; i += 3 {
		f := many[i]
		alone := m.Decision(x.RawRowView(i))
		require.Check(t, (f >= 0) == (alone >= 0), "row %d: f = %g among many, %g alone", i, f, alone)
		require.Near(t, f, alone, 0x1p-49*size, "f")
		if f == alone {
			same++
		}
	}
	require.Check(t, same >= n/30 && same < n/6, "%d of %d rows are the same to the last bit", same, n/3)
}
