package kernel

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// reference returns a kernel by its formula. The test fails for a kernel without one here.
func reference(t testing.TB, k Kernel) func(x, z []float64) float64 {
	t.Helper()
	gamma, coef0 := k.Values.Number("gamma"), k.Values.Number("coef0")
	switch k.Name {
	case "linear":
		return dot
	case "poly":
		return func(x, z []float64) float64 { return math.Pow(gamma*dot(x, z)+coef0, k.Values.Number("degree")) }
	case "rbf":
		return func(x, z []float64) float64 { return math.Exp(-gamma * squared(x, z)) }
	case "rational_quadratic":
		shape := k.Values.Number("shape")
		return func(x, z []float64) float64 { return math.Pow(1+gamma*squared(x, z)/shape, -shape) }
	case "laplacian":
		return func(x, z []float64) float64 { return math.Exp(-gamma * floats.Distance(x, z, 1)) }
	case "sigmoid":
		return func(x, z []float64) float64 { return math.Tanh(gamma*dot(x, z) + coef0) }
	case "fisher":
		return func(x, z []float64) float64 { return referenceFisher(k.Fitted[0], x, z) }
	case "combined":
		e := require.Value(k.expression())(t)
		return func(x, z []float64) float64 { return referenceNode(t, e, e.root, x, z) }
	}
	t.Fatalf("kernel %s: no reference value: add its formula to reference in kernel_test.go", k.Name)
	return nil
}

// dot returns the inner product of x and z, summed from the first coordinate to the last.
func dot(x, z []float64) (s float64) {
	for i := range x {
		s += x[i] * z[i]
	}
	return s
}

// squared returns the squared distance of x and z, summed like dot.
func squared(x, z []float64) (d2 float64) {
	for i := range x {
		d2 += (x[i] - z[i]) * (x[i] - z[i])
	}
	return d2
}

// samples returns settings of the named kernel for which it is positive semidefinite if
// it can be: for a kernel that is not spelt out, over the ranges of its parameters.
func samples(name string) []Kernel {
	switch name {
	case "poly":
		return []Kernel{Polynomial(0.5, 1, 2), Polynomial(1, 0, 3), Polynomial(0.1, 2, 7), Polynomial(1, 0.5, 1)}
	case "rbf":
		return []Kernel{RBF(1e-4), RBF(1), RBF(1e4)}
	case "sigmoid":
		return []Kernel{Sigmoid(0.5, -1), Sigmoid(2, 1)}
	case "combined":
		return []Kernel{
			combine("0.5*linear + rbf(gamma=2)*poly(gamma=0.5, coef0=1, degree=2)"),
			combine("fisher(components=3, starts=1)*laplacian(gamma=0.3) + 2*(linear + 0.25)*rbf(gamma=0.1) + fisher(information=false, starts=1)"),
			combine("rbf(gamma=0.5)"),
		}
	}
	row, _ := Lookup(name)
	if len(row.Params) == 0 {
		return []Kernel{{Name: name}}
	}
	var ks []Kernel
	if name == "rational_quadratic" { // whole and half shapes have ways of their own
		for _, shape := range []float64{0.5, 1, 2, 3.5, 8, 9} {
			ks = append(ks, Kernel{Name: name, Values: param.Values{"gamma": param.Of(0.7), "shape": param.Of(shape)}})
		}
	}
	for i, share := range []float64{0.1, 0.5, 0.9} {
		k := Kernel{Name: name}
		for a, p := range row.Params {
			if (i+a)%3 == 0 { // not all together
				share = 1 - share
			}
			v := p.Low + share*(p.High-p.Low)
			if p.Log {
				v = p.Low * math.Pow(p.High/p.Low, share)
			}
			if p.Kind == param.Integer {
				v = math.Round(v)
			}
			k.Values = k.Values.With(p.Name, param.Of(v))
			if p.Kind == param.Switch {
				k.Values = k.Values.With(p.Name, param.Of(share > 0.4))
			}
		}
		ks = append(ks, k)
	}
	return ks
}

// learnt is k with what it learns of some rows with d coordinates.
func learnt(t testing.TB, k Kernel, d int) Kernel {
	t.Helper()
	if k.Values.Has("starts") {
		k.Values = k.Values.With("starts", param.Of(1))
	}
	k, err := k.Fit(t.Context(), mltest.Normal(rand.New(rand.NewPCG(9, uint64(d))), 40, d), nil)
	if err == nil {
		err = k.Check(d)
	}
	require.Must(t, err == nil, "%+v: %v", k, err)
	return k
}

func ofVectors() []Entry {
	return slices.DeleteFunc(slices.Clone(Table), func(r Entry) bool { return r.Takes != dataset.KindVectors && r.Name != combined.Name })
}

func same(a, b Kernel) bool {
	return a.Name == b.Name && maps.Equal(a.Values, b.Values) && cmp.Equal(a.Fitted, b.Fitted)
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, row := range Table {
		got, err := Lookup(row.Name)
		require.Check(t, err == nil && got.Formula == row.Formula, "Lookup(%q) = %q, %v", row.Name, got.Formula, err)
		if vectors := row.bind != nil; row.Name != combined.Name && ((row.Takes == dataset.KindVectors) != vectors || (row.compare != nil && row.self != nil) == vectors) {
			t.Errorf("%s takes %q", row.Name, row.Takes)
		}
		for _, k := range samples(row.Name) {
			require.Equal(t, k.Validate(), nil, "%+v", k)
			for _, p := range row.Params {
				if p.Kind == param.Text { // see TestExpressionErrors
					continue
				}
				for _, outside := range []param.Value{param.Of(p.Min - 1), param.Of(math.Inf(1)), param.Of(math.NaN()), param.Of("wide"), param.Of(p.Kind != param.Switch)} {
					if outside == param.Of(false) { // which a switch may be
						outside = param.Of("maybe")
					}
					bad := Kernel{Name: k.Name, Values: k.Values.With(p.Name, outside)}
					require.Fails(t, bad.Validate(), p.Name, "%+v", bad)
				}
				if p.Kind == param.Switch || p.Check("0") == nil {
					continue // what is left out is 0 or off
				}
				bare := (Kernel{Name: k.Name, Values: k.Values.Without(p.Name)})
				require.Check(t, bare.Validate() != nil, "%+v: %s is missing", bare, p.Name)
			}
			if kind, _ := k.Takes(); kind == dataset.KindVectors {
				k = learnt(t, k, 2)
			}
			back := require.Reread(t, k)
			require.Check(t, same(back, k), "%+v came back from JSON as %+v", k, back)
		}
	}
	_, err := Lookup("cosine")
	for _, row := range Table {
		require.Fails(t, err, row.Name, "unknown kernel")
	}
	require.Check(t, (Kernel{Name: "cosine"}).Validate() != nil, "an unknown kernel is valid")
	v := (Kernel{Name: "cosine"}).Eval([]float64{1}, []float64{1})
	require.Check(t, math.IsNaN(v), "unknown kernel evaluates to %g, not NaN", v)
}

func TestGram(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, row := range ofVectors() {
		t.Run(row.Name, func(t *testing.T) {
			for _, k := range samples(row.Name) {
				for _, d := range []int{1, 2, 3, 6, 60} {
					const m = 25
					k := learnt(t, k, d)
					x := mltest.Normal(r, m, d)
					x.SetRow(7, x.RawRowView(3)) // duplicates
					g, formula := NewGram(k, x), reference(t, k)
					c := lists.Make(m, func(i int) float64 { return r.NormFloat64() })
					scaled := g.Scaled(c)
					full := mat.NewDense(m, m, nil)
					dst, dstScaled := make([]float64, m), make([]float64, m)
					for i := range m {
						g.Row(dst, i)
						scaled.Row(dstScaled, i)
						full.SetRow(i, dst)
						for j := range m {
							xi, xj := x.RawRowView(i), x.RawRowView(j)
							want := formula(xi, xj)
							lost := 0.0 // an inner product near 0 has lost digits, a distance has not
							if slices.Contains([]string{"linear", "poly", "sigmoid", "fisher", "combined"}, k.Name) {
								lost = 1e-13 * math.Sqrt(math.Abs(formula(xi, xi)*formula(xj, xj)))
							}
							require.Must(t, (near(dst[j], want, 1e-12) || math.Abs(dst[j]-want) <= lost) && k.Eval(xi, xj) == dst[j],
								"%+v: row gives %g, Eval %g, want %g", k, dst[j], k.Eval(xi, xj), want)
							require.Must(t, near(dstScaled[j], c[i]*c[j]*dst[j], 1e-15),
								"%+v scaled: %g, want %g", k, dstScaled[j], c[i]*c[j]*dst[j])
						}
						require.Must(t, g.Diag(i) == dst[i] && near(scaled.Diag(i), dstScaled[i], 1e-13),
							"%+v: Diag %g, %g, rows say %g, %g", k, g.Diag(i), scaled.Diag(i), dst[i], dstScaled[i])
					}
					for i := range m {
						for j := range i {
							require.Equal(t, full.At(i, j), full.At(j, i), "%+v: K[%d,%d]", k, i, j)
						}
					}
					require.Must(t, k.Name != "rbf" || full.At(3, 7) == 1 && mat.Max(full) <= 1,
						"%+v: duplicates at %g, largest entry %g", k, full.At(3, 7), mat.Max(full))
					if k.Definite() {
						values, _, ok := dense.Eigen(symmetric(full), false)
						require.Must(t, ok, "%+v: no eigenvalues", k)
						require.Check(t, floats.Min(values) >= -1e-12*floats.Max(values),
							"%+v claims to be PSD, but has eigenvalues from %g to %g", k, floats.Min(values), floats.Max(values))
					}
				}
			}
		})
	}
}

func symmetric(a *mat.Dense) *mat.SymDense {
	m, _ := a.Dims()
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	return s
}

// near compares relatively, with subnormal numbers all alike.
func near(a, b, tol float64) bool {
	return a == b || math.Abs(a-b) <= tol*math.Abs(b)+1e-300
}

func TestGramRowAllocatesNothing(t *testing.T) {
	x := mltest.Normal(rand.New(rand.NewPCG(1, 1)), 50, 5)
	dst := make([]float64, 50)
	for _, row := range ofVectors() {
		g := NewGram(learnt(t, samples(row.Name)[0], 5), x).Scaled(make([]float64, 50))
		n := math.Inf(1)
		for range 10 { // the race detector takes from pools at random
			n = min(n, testing.AllocsPerRun(10, func() { g.Row(dst, 3) }))
		}
		require.Equal(t, n, 0, "%s: Row allocates … times", row.Name)
	}
}

func TestExpScaled(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	worst := 0.0
	for range 300_000 {
		x := 1416*r.Float64() - 708
		if r.IntN(3) == 0 {
			x = math.Ldexp(r.NormFloat64(), -r.IntN(60))
		}
		v := []float64{x}
		expScaled(v, 1)
		worst = max(worst, math.Abs(v[0]/math.Exp(x)-1))
	}
	require.Check(t, worst <= 5e-16, "relative error %g", worst)
	for _, x := range []float64{0, math.Copysign(0, -1), -708, 708, -708.1, -740, -746, -1e300, 709, 710, math.Inf(-1), math.Inf(1), math.NaN()} {
		v := []float64{x}
		expScaled(v, 1)
		want := math.Exp(x)
		require.Check(t, near(v[0], want, 5e-16) || math.IsNaN(want) && math.IsNaN(v[0]), "exp(%g) = %g, want %g", x, v[0], want)
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for _, row := range ofVectors() {
		for _, k := range samples(row.Name) {
			dimensions := []int{1, 2, 5}
			if row.Name == rbf.Name {
				dimensions = append(dimensions, 70) // rows are computed together
			}
			for _, d := range dimensions {
				k := learnt(t, k, d)
				for _, n := range []int{0, 1, 17, 300} {
					z := mltest.Normal(r, n+1, d)
					w := lists.Make(n, func(i int) float64 { return r.NormFloat64() })
					s := NewSum(k, z, w)
					for _, orthogonal := range []bool{true, false} {
						p := plane(r, d, orthogonal)
						compareGrid(t, k, s, z, w, p)
					}
					compareGrid(t, k, s, z, w, parallel(r, d))
					x, got := mltest.Normal(r, 20, d), make([]float64, 20)
					s.AtRows(t.Context(), got, x)
					for i, v := range got {
						require.Equal(t, v, s.At(x.RawRowView(i)), "%+v: sum at row %d", k, i)
					}
				}
			}
		}
	}
	require.Equal(t, NewSum(RBF(1), nil, nil).At([]float64{1, 2}), 0, "the empty sum")
}

// plane returns a random plane, its second axis orthogonal if asked: in one dimension, zero.
func plane(r *rand.Rand, d int, orthogonal bool) Plane {
	p := mltest.Normal(r, 3, d)
	o, u, v := p.RawRowView(0), p.RawRowView(1), p.RawRowView(2)
	if orthogonal {
		for range 2 {
			floats.AddScaled(v, -floats.Dot(u, v)/floats.Dot(u, u), u)
		}
		if d == 1 {
			v[0] = 0
		}
	}
	return Plane{o, u, v}
}

// parallel returns a plane along two axes of the space, of different lengths; the second may be zero.
func parallel(r *rand.Rand, d int) Plane {
	p := Plane{mltest.Normal(r, 1, d).RawRowView(0), make([]float64, d), make([]float64, d)}
	axes := r.Perm(d)
	p.U[axes[0]] = r.NormFloat64()
	if d > 1 {
		p.V[axes[1]] = r.NormFloat64()
	}
	return p
}

func compareGrid(t *testing.T, k Kernel, s *Sum, z *mat.Dense, w []float64, p Plane) {
	t.Helper()
	formula := reference(t, k)
	ss, ts := []float64{-3, -1, 0.5, 2, 2.5}, []float64{-2, 0, 0.25, 4}
	dst := make([]float64, len(ss)*len(ts))
	floats.AddConst(99, dst)
	require.NoError(t, s.Grid(t.Context(), dst, p, ss, ts))
	// Rounding in a sum is measured against its terms, here the largest of
	// a line of the grid.
	for j, tj := range ts {
		size := 0.0
		want := make([]float64, len(ss))
		for i, si := range ss {
			x := make([]float64, len(p.Origin))
			p.point(x, si, tj)
			terms := 0.0
			for a, wa := range w {
				v := wa * formula(z.RawRowView(a), x)
				want[i] += v
				terms += math.Abs(v)
			}
			size = max(size, terms)
			at := s.At(x)
			require.Must(t, math.Abs(at-want[i]) <= 1e-12*terms+1e-300, "%+v: At = %g, want %g", k, at, want[i])
		}
		for i := range ss {
			got := dst[j*len(ss)+i]
			require.Must(t, math.Abs(got-want[i]) <= 1e-12*size+1e-300,
				"%+v n=%d d=%d: grid[%d,%d] = %g, want %g (off by %g of the terms)", k, len(w), len(p.Origin), j, i, got, want[i], math.Abs(got-want[i])/size)
		}
	}
}

func TestGridFarFromOrigin(t *testing.T) {
	t.Parallel()
	// Raw coordinates of a map: completing the square per axis keeps exp in range.
	z := mat.NewDense(2, 2, []float64{5e5, 4e5, 5e5 + 1, 4e5 + 2})
	s := NewSum(RBF(0.5), z, []float64{1, -2})
	p := Plane{Origin: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}}
	got := make([]float64, 1)
	require.NoError(t, s.Grid(t.Context(), got, p, []float64{5e5 + 0.5}, []float64{4e5 + 1}))
	require.Near(t, got[0], -math.Exp(-0.625), 1e-12, "got[0]")
	// The diagonal equals that of the rows bit by bit, even for points near the limits of numbers.
	x := mat.NewDense(5, 2, []float64{math.MaxFloat64, -math.MaxFloat64, 5e-324, 0, math.Inf(1), 1, 1, math.NaN(), -0.3, 1e300})
	g, row := NewGram(RBF(1e9), x), make([]float64, 5)
	for i := range row {
		g.Row(row, i)
		require.Check(t, math.Float64bits(g.Diag(i)) == math.Float64bits(row[i]) || math.IsNaN(g.Diag(i)) && math.IsNaN(row[i]), "point %d: %g, in the row %g", i, g.Diag(i), row[i])
	}
}

func TestWidth(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(2, 2, []float64{0, 2, 4, 6}) // variance 5
	for _, tc := range []struct {
		text, json string
		want       float64
	}{
		{"auto", `"auto"`, 0.5},
		{"scale", `"scale"`, 0.1},
		{"0.30000000000000004", "0.30000000000000004", 0.30000000000000004},
		{"1e-05", "0.00001", 1e-5},
	} {
		g := require.Value(gamma.Parse(tc.text))(t)
		require.Check(t, g.Text() == tc.text && Width(g, x) == tc.want, "%q: Text %q, Width %g, want %g", tc.text, g, Width(g, x), tc.want)
		data, err := json.Marshal(g)
		require.Check(t, err == nil && string(data) == tc.json, "%q as JSON: %s, %v", tc.text, data, err)
		require.Equal(t, cmp.Diff(g, require.JSON[param.Value](t, data)), "", "%s read again", data)
	}
	require.Equal(t, Width(param.Value{}, x), 0.5, "no value")
	require.Equal(t, Width(param.Of("scale"), mat.NewDense(2, 4, nil)), 0.25, "scale of constant data")
	for _, bad := range []string{"", "0", "-1", "NaN", "Inf", "big", "2e9"} {
		require.Fails(t, require.Err(gamma.Parse(bad)), "", "%q passed as gamma", bad)
	}
	for _, bad := range []string{"0", "true", "null", `"x"`, "[1]", `"0.5"`, `"auto"`, "-1", "1e400", "{}"} {
		var k Kernel
		err := json.Unmarshal([]byte(`{"name":"rbf","gamma":`+bad+`}`), &k)
		require.Check(t, err != nil || k.Validate() != nil, "JSON %s passed as gamma", bad)
	}
}

func BenchmarkRow(b *testing.B) {
	for _, d := range []int{2, 60} {
		x := mltest.Normal(rand.New(rand.NewPCG(1, 1)), 1000, d)
		dst := make([]float64, 1000)
		for _, row := range ofVectors() {
			g := NewGram(learnt(b, samples(row.Name)[1%len(samples(row.Name))], d), x)
			b.Run(row.Name+map[int]string{2: "/d=2", 60: "/d=60"}[d], func(b *testing.B) {
				for b.Loop() {
					g.Row(dst, 3)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/value")
			})
		}
	}
}

// A grid ends within a block of its work after its context: at the second look, the third is for
// the error, and each term of a sum of kernels takes as many at most.
func TestGridEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	z, w := mltest.Normal(r, 2000, 2), make([]float64, 2000)
	floats.AddConst(1, w)
	axis := floats.Span(make([]float64, 150), -3, 3)
	dst := make([]float64, len(axis)*len(axis))
	for _, p := range []Plane{
		{Origin: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}},
		{Origin: []float64{0, 0}, U: []float64{1, 0}, V: []float64{1, 1}}, // without a faster way for most kernels
	} {
		for _, row := range ofVectors() {
			s := NewSum(learnt(t, samples(row.Name)[0], 2), z, w)
			ctx := mltest.NewLooks(t.Context(), 1)
			require.Is(t, s.Grid(ctx, dst, p, axis, axis), context.Canceled, "%s", row.Name)
			require.Check(t, ctx.Taken() <= 3*int64(max(1, len(s.terms))), "%s: %d looks", row.Name, ctx.Taken())
			require.Is(t, s.Grid(mltest.NewLooks(t.Context(), 0), dst, p, axis, axis), context.Canceled, "%s, ended before", row.Name)
		}
	}
}

// BenchmarkGrid is a picture's worth: 200 x 200 points, 150 terms.
func BenchmarkGrid(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	z, w := mltest.Normal(r, 150, 2), make([]float64, 150)
	for i := range w {
		w[i] = r.NormFloat64()
	}
	axis := floats.Span(make([]float64, 200), -3, 3)
	dst := make([]float64, len(axis)*len(axis))
	p := Plane{Origin: []float64{0, 0}, U: []float64{1, 0}, V: []float64{0, 1}}
	for _, row := range ofVectors() {
		k := learnt(b, samples(row.Name)[1%len(samples(row.Name))], 2)
		b.Run(row.Name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, NewSum(k, z, w).Grid(b.Context(), dst, p, axis, axis))
			}
		})
	}
}
