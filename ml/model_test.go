package ml_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// eachModel runs a test on models of every learner, kernel and conformal method,
// trained in d dimensions on the features or on their principal components.
func eachModel(t *testing.T, test func(t *testing.T, d *dataset.Data, s ml.Spec, m *ml.Model)) {
	eachSetup(t, func(t *testing.T, set ...string) {
		for _, k := range kernel.Table {
			if !k.PSD && set[3] != "none" {
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
					test(t, pts, s, train(t, pts, s).Model)
				}
			}
		}
	})
}

func TestModelRoundTripsBitForBit(t *testing.T) {
	t.Parallel()
	eachModel(t, func(t *testing.T, d *dataset.Data, _ ml.Spec, m *ml.Model) {
		text := asJSON(t, m)
		back, err := ml.ReadModel(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if again := asJSON(t, back); again != text {
			t.Errorf("%s was written again as %s", text, again)
		}
		a, b := m.Decisions(d.X), back.Decisions(d.X)
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
				t.Fatalf("row %d: f = %v before, %v after", i, a[i], b[i])
			}
		}
	})
}

// magnitude is the sum of the moduli of the terms of f, on which rounding depends.
func magnitude(m *ml.Model, x []float64) float64 {
	abs := *m
	abs.Coef = make([]float64, len(m.Coef))
	if m.Map != nil { // c is a sum of its own
		c := *m.Map
		c.Alpha0, c.Alpha = math.Abs(c.Alpha0), slices.Clone(c.Alpha)
		for j, a := range c.Alpha {
			c.Alpha[j] = math.Abs(a)
		}
		abs.Map = &c
	}
	sum := math.Abs(m.B)
	for k := range m.Coef {
		abs.Vectors, abs.Coef, abs.B = m.Vectors[k:k+1], m.Coef[k:k+1], 0
		sum += math.Abs(abs.Decision(x))
	}
	return sum
}

func TestSurfaceAgreesWithDecisions(t *testing.T) {
	t.Parallel()
	eachModel(t, func(t *testing.T, d *dataset.Data, s ml.Spec, m *ml.Model) {
		_, cols := d.X.Dims()
		views := []dataset.View{dataset.PCAView(d)}
		names := []string{"x1", ""}
		if cols > 1 {
			names[1] = "x2"
			v, err := dataset.ColumnView(d, d.Features[cols-1], "x1")
			if err != nil {
				t.Fatal(err)
			}
			views = append(views, v)
		}
		v, err := dataset.ColumnView(d, names[0], names[1])
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, v)

		rng := rand.New(rand.NewPCG(1, 2))
		for _, v := range views {
			s0, t0 := v.Point(d.X.RawRowView(0))
			s1, t1 := v.Point(d.X.RawRowView(1))
			ss, ts := grid(rng, s0, s1, 7), grid(rng, t0, t1, 5)
			f, c := m.Surface(v, ss, ts)
			if len(f) != 35 || (c != nil) != (s.Conformal != "none") || c != nil && len(c) != 35 {
				t.Fatalf("%d values of f, %d of c", len(f), len(c))
			}
			x := make([]float64, cols)
			for j, tv := range ts {
				for i, sv := range ss {
					for k := range x {
						x[k] = v.Center[k] + sv*v.Axes[0][k] + tv*v.Axes[1][k]
					}
					want, got := m.Decision(x), f[j*len(ss)+i]
					if math.Abs(got-want) > 1e-9*magnitude(m, x) {
						t.Fatalf("%s: f(%v) = %g, on the surface %g", asJSON(t, s), x, want, got)
					}
				}
			}
		}
	})
}

// grid is n ascending values around a and b, not evenly spaced.
func grid(rng *rand.Rand, a, b float64, n int) []float64 {
	a, b = min(a, b), max(a, b)
	step := (b - a + 1) / float64(n)
	v := make([]float64, n)
	for i := range v {
		v[i] = a - 0.5 + step*(float64(i)+0.9*rng.Float64())
	}
	return v
}

func TestLinearIsTheSameFunction(t *testing.T) {
	t.Parallel()
	eachModel(t, func(t *testing.T, d *dataset.Data, s ml.Spec, m *ml.Model) {
		w, b, ok := m.Linear()
		if want := s.Kernel == "linear" && s.Conformal == "none"; ok != want {
			t.Fatalf("%s: Linear says %v", asJSON(t, s), ok)
		}
		if !ok {
			return
		}
		for i, f := range m.Decisions(d.X) {
			x := d.X.RawRowView(i)
			v := b
			for j := range w {
				v += w[j] * x[j]
			}
			if math.Abs(v-f) > 1e-9*magnitude(m, x) {
				t.Fatalf("%s: row %d: w·x + b = %g, f = %g", asJSON(t, s), i, v, f)
			}
		}
	})
}

func TestDecisionsPredictionsAndAccuracyAgree(t *testing.T) {
	t.Parallel()
	d := clouds(50, 3, 3)
	m := train(t, d, spec(t, "features", "x3,x2")).Model
	cols, err := d.Columns(m.Features)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Decisions(cols.X)
	right := 0
	for i := range f {
		x := cols.X.RawRowView(i)
		if one := m.Decision(x); one != f[i] {
			t.Errorf("row %d: f = %v alone, %v among others", i, one, f[i])
		}
		label := m.Predict(x)
		if label != m.LabelOf(f[i]) {
			t.Errorf("row %d: predicted %s, f = %g", i, label, f[i])
		}
		if label == d.Classes[d.Y[i]] {
			right++
		}
	}
	acc, err := m.Accuracy(d)
	if err != nil || acc != float64(right)/50 {
		t.Errorf("accuracy %g (%v), counted %d of 50", acc, err, right)
	}
	if _, err := m.Accuracy(toy()); err == nil || !strings.Contains(err.Error(), "x3") {
		t.Errorf("data without a feature of the model give %v", err)
	}
}

func TestProjectionIsOrthonormalAndOfLargestVariance(t *testing.T) {
	t.Parallel()
	d := clouds(60, 4, 14)
	m := train(t, d, spec(t, "project", "pca", "standardize", "false")).Model
	p := m.Projection
	for a := range p.Components {
		for b := range p.Components {
			want := 0.0
			if a == b {
				want = 1
			}
			if got := mat.Dot(mat.NewVecDense(4, p.Components[a]), mat.NewVecDense(4, p.Components[b])); math.Abs(got-want) > 1e-12 {
				t.Errorf("components %d and %d have product %g", a, b, got)
			}
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
		w := make([]float64, 4)
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		v := mat.NewVecDense(4, w)
		v.ScaleVec(1/v.Norm(2), v)
		if got := spread(w); got > first*(1+1e-12) {
			t.Errorf("direction %v has variance %g, the first component %g", w, got, first)
		}
	}
	if second := spread(p.Components[1]); second > first {
		t.Errorf("the second component has variance %g, the first %g", second, first)
	}
}

// aModel is the JSON of a small model with every part: scaler, conformal map.
func aModel(t testing.TB) string {
	return asJSON(t, train(t, toy(), spec(t, "conformal", "eigen")).Model)
}

func TestReadModelRefuses(t *testing.T) {
	t.Parallel()
	good := aModel(t)
	if _, err := ml.ReadModel(strings.NewReader(good + "\n")); err != nil {
		t.Fatal(err)
	}
	projected := asJSON(t, train(t, toy(), spec(t, "project", "pca")).Model)
	// change replaces one field of the model, "a.b" for a field inside another.
	change := func(text, path, value string) string {
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		in := m
		keys := strings.Split(path, ".")
		for _, k := range keys[:len(keys)-1] {
			in = in[k].(map[string]any)
		}
		in[keys[len(keys)-1]] = json.RawMessage(value)
		return asJSON(t, m)
	}
	for name, c := range map[string]struct{ text, says string }{
		"nothing":             {"", "EOF"},
		"not JSON":            {"x1,x2\n1,2\n", "not a model"},
		"null":                {"null", "null"},
		"a list":              {"[]", "not a model"},
		"an empty object":     {"{}", "no features"},
		"two models":          {good + good, "follows"},
		"cut":                 {good[:len(good)/2], "not a model"},
		"unknown field":       {change(good, "colour", `"red"`), "colour"},
		"unknown inner field": {change(good, "kernel.width", "1"), "width"},
		"infinite":            {change(good, "b", "1e999"), "not a model"},
		"no features":         {change(good, "features", "[]"), "no features"},
		"feature twice":       {change(good, "features", `["x1","x1"]`), "x1"},
		"more features":       {change(good, "features", `["x1","x2","x3"]`), "expected 3"},
		"one class":           {change(good, "negative", `"yes"`), "two classes"},
		"unknown kernel":      {change(good, "kernel.name", `"cubic"`), "cubic"},
		"no gamma":            {change(good, "kernel.gamma", "0"), "gamma"},
		"negative gamma":      {change(good, "kernel.gamma", "-1"), "gamma"},
		"short scaler":        {change(good, "scaler.mean", "[1]"), "scaler"},
		"zero scale":          {change(good, "scaler.scale", "[1,0]"), "above 0"},
		"no vectors":          {change(good, "vectors", "null"), "vectors"},
		"short vector":        {change(change(change(good, "vectors", "[[1]]"), "coef", "[1]"), "rows", "[0]"), "expected 2"},
		"coefficients":        {change(good, "coef", "[1,2]"), "coefficients"},
		"rows":                {change(good, "rows", "[1]"), "rows"},
		"negative rows":       {change(good, "core_rows", "[-1]"), "from 0"},
		"cores":               {change(good, "conformal.cores", "[[1,2]]"), "conformal"},
		"core of other size":  {change(change(good, "conformal.cores", "[[1,2,3]]"), "conformal.alpha", "[1]"), "cores"},
		"core gamma":          {change(good, "conformal.core_gamma", "0"), "core_gamma"},
		"one component":       {change(projected, "projection.components", "[[1,0]]"), "2 components"},
		"short component":     {change(projected, "projection.components", "[[1,0],[1]]"), "projection"},
	} {
		m, err := ml.ReadModel(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want something about %q", name, err, c.says)
		}
		if err != nil && m != nil {
			t.Errorf("%s: a model beside an error", name)
		}
	}
}

func TestModelWithoutVectorsIsConstant(t *testing.T) {
	t.Parallel()
	m, err := ml.ReadModel(strings.NewReader(`{"features":["x"],"label":"y","positive":"a","negative":"b","kernel":{"name":"linear"},"rows":null,"vectors":null,"coef":null,"b":-2}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Predict([]float64{7}); got != "b" || m.Decision([]float64{1}) != -2 {
		t.Errorf("predicts %s", got)
	}
	f, _ := m.Surface(dataset.View{Center: []float64{0}, To: [2][]float64{{1}, {0}}, Axes: [2][]float64{{1}, {0}}}, []float64{1, 2}, []float64{0})
	if len(f) != 2 || f[0] != -2 || f[1] != -2 {
		t.Errorf("surface %v", f)
	}
	if w, b, ok := m.Linear(); !ok || len(w) != 1 || w[0] != 0 || b != -2 {
		t.Errorf("linear %v %g %v", w, b, ok)
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add(aModel(f))
	f.Add(asJSON(f, train(f, toy(), spec(f, "kernel", "poly", "project", "pca")).Model))
	f.Add(`{"features":["x"],"positive":"a","negative":"b","kernel":{"name":"linear"},"b":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ml.ReadModel(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := ml.ReadModel(strings.NewReader(asJSON(t, m)))
		if err != nil {
			t.Fatalf("written again, %v", err)
		}
		d := len(m.Features)
		x := mat.NewDense(2, d, nil)
		for j := range d {
			x.Set(1, j, float64(j)-0.5)
		}
		a, b := m.Decisions(x), again.Decisions(x)
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
				t.Fatalf("f = %v, read again %v", a[i], b[i])
			}
		}
		v := dataset.View{Center: make([]float64, d), To: [2][]float64{make([]float64, d), make([]float64, d)}, Axes: [2][]float64{make([]float64, d), make([]float64, d)}}
		v.Axes[0][0] = 1
		m.Surface(v, []float64{0, 1}, []float64{0})
		m.Linear()
	})
}
