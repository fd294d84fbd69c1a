package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/rows"
	"marginlab/ml/simd"
)

// The loops of every level agree with those in Go. AVX2 and AVX-512 give the same numbers.
func TestLoopsAgree(t *testing.T) {
	t.Parallel()
	for _, l := range []simd.Level{simd.Plain, simd.AVX2, simd.AVX512} {
		t.Run(l.String(), func(t *testing.T) { loopsAgree(t, l) })
	}
}

// inSingle is the error of a value of at most 1 in single precision: half the largest spacing.
const inSingle = 0x1.4p-24

func loopsAgree(t *testing.T, l simd.Level) {
	t.Parallel()
	if !slices.Contains(simd.Levels(), l) {
		t.Skipf("%s does not run here", l)
	}
	r := rand.New(rand.NewPCG(8, 8))
	for _, d := range []int{0, 1, 2, 3, 7, 60, 100, 200, 1000} {
		for _, n := range []int{1, 31, 32, 33, 300} {
			raw := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
			for i := range raw.Data {
				if d <= 60 || r.IntN(max(10, d/10)) == 0 { // many coordinates are mostly 0
					raw.Data[i] = r.NormFloat64()
				}
				if d == 200 { // and whole
					raw.Data[i] = math.Round(3 * raw.Data[i])
				}
			}
			p, dense := pack(raw), listed{v: raw.Data}
			few, all := arrange(gaussian{1e9}, raw, true)
			ok := all.some != nil
			require.Must(t, ok == (compiled && (d >= 200 || d == 100 && n == 1)) && (few.norms != nil) == (ok && d == 200),
				"d = %d, n = %d: sparse %v, whole %v", d, n, ok, few.norms != nil)
			z := raw.Data[n/2*d:][:d] // a point, so that one distance is 0
			for _, gamma := range []float64{1e-300, 1e-6, 1, 30, 1e4} {
				got, want := make([]float64, n), make([]float64, n)
				gaussianRowsAt(l, got, p, listed{v: z}, 1, gamma)
				plainRow(want, p, z, gamma)
				require.Must(t, got[n/2] == 1, "d = %d, gamma %g: %g at distance 0", d, gamma, got[n/2])
				single, plain := make([]float32, n), make([]float32, n)
				gaussianRow32At(l, single, p, listed{v: z}, gamma)
				plainRow32(plain, p, z, gamma)
				for i := range got {
					// A rounding of the distance changes the logarithm by as much.
					if e := 1e-15 * (1 - math.Log(want[i])); math.Abs(got[i]-want[i]) > e*want[i]+1e-307 {
						t.Fatalf("d = %d, gamma %g: %g, plain %g", d, gamma, got[i], want[i])
					}
					require.Must(t, math.Abs(float64(single[i])-got[i]) <= inSingle && plain[i] == float32(want[i]),
						"d = %d, gamma %g: in single precision %g is %g, plain %g is %g", d, gamma, got[i], single[i], want[i], plain[i])
				}
				require.Must(t, single[n/2] == 1,
					"d = %d, gamma %g: in single precision %g at distance 0", d, gamma, single[n/2])
				w := []float64{-2, 0.5, 1, -0.25, 0.75, 1.5, -1}
				numbers := make([]int, len(w)) // so many that they are not a multiple of those processed together
				for j := range w {
					numbers[j] = (n/2 + 5*j) % n
				}
				several := dense.choose(d, numbers, listed{v: slices.Repeat([]float64{7}, len(w)*d)}).v
				chosen := all.choose(d, numbers, listed{})
				together, alone := make([]float64, len(w)*n), make([]float64, len(w)*n)
				gaussianRowsAt(l, together, p, listed{v: several}, len(w), gamma)
				for j := range w {
					gaussianRowsAt(l, alone[j*n:][:n], p, listed{v: several[j*d:][:d]}, 1, gamma)
				}
				require.Must(t, slices.Equal(together, alone), "d = %d, gamma %g: rows computed together differ", d, gamma)
				rough, exact, short := slices.Clone(got), slices.Clone(got), slices.Clone(got)
				gaussianSumAt(l, got, p, listed{v: several}, w, gamma)
				gaussianSum32At(l, rough, p, listed{v: several}, w, gamma)
				gaussianRowsAt(l, alone, few, chosen, len(w), gamma)
				gaussianRow32At(l, plain, few, all.part(d, n/2, n/2+1), gamma)
				gaussianSumAt(l, exact, few, chosen, w, gamma)
				gaussianSum32At(l, short, few, chosen, w, gamma)
				require.Must(t, slices.Equal(together, alone) && slices.Equal(single, plain) && slices.Equal(got, exact) && slices.Equal(rough, short),
					"d = %d, gamma %g: the zeros of sparse points change a value", d, gamma)
				if l == simd.AVX512 {
					same, alike := make([]float64, n), make([]float64, n)
					gaussianRowsAt(simd.AVX2, same, p, listed{v: z}, 1, gamma)
					copy(alike, same)
					gaussianSumAt(simd.AVX2, same, p, listed{v: several}, w, gamma)
					gaussianSum32At(simd.AVX2, alike, p, listed{v: several}, w, gamma)
					require.Must(t, slices.Equal(got, same) && slices.Equal(rough, alike), "d = %d, gamma %g: AVX2 and AVX-512 differ", d, gamma)
				}
				plainSum(want, p, several, w, gamma)
				for i := range got {
					require.Near(t, got[i], want[i], 1e-14, "d = %d, gamma %g: sum", d, gamma)
					require.Near(t, rough[i], want[i], 2.5*inSingle, "d = %d, gamma %g: sum in single precision", d, gamma)
				}
			}
			got, want := make([]float64, n), make([]float64, n)
			productRowAt(l, got, p, listed{v: z})
			plainProducts(want, p, z)
			some, _ := arrange(products{}, raw, true)
			for _, p := range []packed{p, some}[:min(2, 2*d)] {
				without := make([]float64, n)
				productRowAt(l, without, p, listed{v: z, some: differing(z, d)})
				require.Must(t, slices.Equal(without, got), "d = %d: the zeros of sparse points change a product", d)
			}
			for i := range got {
				dot := floats.Dot(raw.Data[i*d:][:d], z)
				require.Must(t, math.Abs(got[i]-dot) <= 1e-14*float64(1+d) && math.Abs(want[i]-dot) <= 1e-14*float64(1+d),
					"d = %d: product %g, plain %g, want %g", d, got[i], want[i], dot)
			}
		}
	}
}

// TestTangents compares with the library at all scales, at the ends of its range and in rows of any length.
func TestTangents(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 10))
	for _, l := range simd.Levels() {
		for n := range 40 {
			for range 200 {
				got := lists.Make(n, func(int) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(60)-50) })
				copy(got, []float64{0, math.Inf(1), math.Inf(-1), -1e300, math.NaN(), math.Sqrt(0.2), 354.1}[:min(n, 7)])
				want := slices.Clone(got)
				gamma, coef0 := 1., 0.
				if n%2 == 1 {
					gamma, coef0 = -3, 0.5
				}
				tangentsAt(l, got, gamma, coef0)
				for i, v := range want {
					v = math.Tanh(gamma*v + coef0)
					require.Must(t, near(got[i], v, 1e-15) || gamma == -3 && math.Abs(got[i]-v) <= 1e-16 || math.IsNaN(got[i]) && math.IsNaN(v),
						"%v: tanh(%g · %g + %g) is %g, want %g", l, gamma, want[i], coef0, got[i], v)
				}
			}
		}
	}
}

// TestGaussianExtremes looks at the ends of the range of exp.
func TestGaussianExtremes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	one := func(distance, gamma float64) float64 {
		p := pack(blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{distance}})
		var v [1]float64
		gaussianRowsAt(simd.Current(), v[:], p, listed{v: []float64{0}}, 1, gamma)
		return v[0]
	}
	worst := 0.0
	for range 200_000 {
		x := 708 * r.Float64()
		if r.IntN(3) == 0 {
			x = math.Ldexp(r.Float64(), -r.IntN(60))
		}
		worst = max(worst, math.Abs(one(1, x)/math.Exp(-x)-1))
	}
	require.Check(t, worst <= 5e-16, "relative error %g", worst)
	for _, x := range []float64{708.1, 740, 746, 1e300, math.Inf(1)} {
		v := one(1, x)
		require.Check(t, (v >= 0 && v <= 4e-308), "exp(-%g) = %g", x, v)
	}
	v := one(math.NaN(), 1)
	require.Check(t, math.IsNaN(v), "a coordinate that is no number gives %g", v)
}

// TestSinglePrecision looks at exp in single precision all over its range, at all levels.
func TestSinglePrecision(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 9))
	x := blas64.General{Rows: 200_000, Cols: 1, Stride: 1, Data: make([]float64, 200_000)}
	for i := range x.Data {
		switch x.Data[i] = math.Sqrt(2 * r.Float64()); i % 4 {
		case 0:
			x.Data[i] *= 8
		case 1:
			x.Data[i] = math.Ldexp(x.Data[i], -r.IntN(30))
		}
	}
	ends := []float64{0, math.Sqrt(87.3), math.Sqrt(87.4), 1e10, 1e150, math.Inf(1), math.Inf(-1), math.NaN()}
	copy(x.Data[7:], ends)
	p := pack(x)
	for _, l := range simd.Levels() {
		v := make([]float32, x.Rows)
		gaussianRow32At(l, v, p, listed{v: []float64{0}}, 1)
		worst := 0.0
		for i, v := range v {
			switch d := x.Data[i]; {
			case math.IsNaN(d) != math.IsNaN(float64(v)):
				t.Errorf("%v: exp(-(%g)²) = %g", l, d, v)
			case d == 0 && v != 1 || math.Abs(d) > 1e3 && v != 0:
				t.Errorf("%v: exp(-(%g)²) = %g", l, d, v)
			case !math.IsNaN(d):
				worst = max(worst, math.Abs(float64(v)-math.Exp(-d*d)))
			}
		}
		require.Check(t, worst <= inSingle, "%v: error %g", l, worst)
		t.Logf("%v: error 2^%.2f", l, math.Log2(worst))
		gaussianRow32At(l, v[:9], p, listed{v: []float64{0}}, math.MaxFloat64)
		require.Check(t, v[7] == 1 && v[8] == 0, "%v: the largest gamma gives %g and %g", l, v[7], v[8])
	}
}

// TestSubsetAndProduct compares both with rows of the whole matrix. TestSubsetAndProduct compares
// millions of values, and so makes the arguments of a message only where it fails.
func TestSubsetAndProduct(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 10))
	const m = 700
	for _, row := range ofVectors() {
		for _, k := range samples(row.Name) {
			k := learnt(t, k, 3)
			x := mltest.Normal(r, m, 3)
			c := lists.Make(m, func(i int) float64 { return r.NormFloat64() })
			for _, g := range []*Gram{NewGram(k, x), NewGram(k, x).Scaled(c)} {
				points, w := r.Perm(m)[:m/2], make([]float64, m/2)
				s := g.Subset(points).(*Gram)
				whole, part, single, few := make([]float64, m), make([]float64, m/2), make([]float32, m), make([]float32, m/2)
				want, size := make([]float64, m), 0.0
				for a, i := range points {
					g.Row(whole, i)
					g.Row32(single, i)
					s.Row(part, a)
					s.Row32(few, a)
					w[a] = r.NormFloat64()
					for b, j := range points {
						if part[b] != whole[j] || few[b] != single[j] {
							t.Fatalf("%+v: row of a subset has %g and %g, the whole row %g and %g", k, part[b], few[b], whole[j], single[j])
						}
					}
					for j, v := range whole {
						if off := math.Abs(float64(single[j]) - v); !(off <= inSingle*math.Abs(v) || off <= inSingle) {
							t.Fatalf("%+v: %g in single precision is %g", k, v, single[j])
						}
						want[j] += w[a] * v
						size = max(size, math.Abs(w[a]*v))
					}
					require.Must(t, s.Diag(a) == g.Diag(i), "%+v: diagonal of a subset is %g, of the whole %g", k, s.Diag(a), g.Diag(i))
				}
				got, rough := make([]float64, m), make([]float64, m)
				require.Value(g.AddProduct(t.Context(), got, points, w))(t)
				require.Value(g.AddProduct32(t.Context(), rough, points, w))(t)
				for i := range got {
					require.Near(t, rough[i], want[i], inSingle*m*size, "%+v: product in single precision", k)
					require.Near(t, got[i], want[i], 1e-13*m*size, "%+v: product", k)
				}
			}
		}
	}
}

// Columns of one half, which add nothing to a distance, make points count as dense.
func TestSparseGram(t *testing.T) {
	t.Parallel()
	t.Run("whole", func(t *testing.T) { sparseGram(t, 500, 1, 0.05, 0) })
	t.Run("not whole", func(t *testing.T) { sparseGram(t, 800, 0.3, 5, 0) })
	t.Run("near", func(t *testing.T) { sparseGram(t, 800, 0.3, 0.05, 0x1p-46) })
}

func sparseGram(t *testing.T, d int, unit, gamma, by float64) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 9))
	const n = 600 // a product computes 512 points at a time
	words, dense := mat.NewDense(n, d, nil), mat.NewDense(n, 2*d, nil)
	for i := range n {
		for range i % 12 {
			words.Set(i, r.IntN(d), unit*float64(1+r.IntN(3)))
		}
		dense.SetRow(i, slices.Concat(words.RawRowView(i), slices.Repeat([]float64{0.5}, d)))
	}
	c := make([]float64, n)
	for i := range c {
		c[i] = 0.5 + r.Float64()
	}
	points := []int{5, 0, 7, 150, 12, 299}
	for _, scaled := range []bool{false, true} {
		a, b := NewGram(RBF(gamma), words), NewGram(RBF(gamma), dense)
		require.Must(t, (a.z.some != nil) == compiled && b.z.some == nil && (a.p.norms != nil) == (compiled && gamma < 1),
			"sparse %v and %v, norms %v", a.z.some != nil, b.z.some != nil, a.p.norms != nil)
		if scaled {
			a, b = a.Scaled(c), b.Scaled(c)
		}
		values := func(g *Gram) (all []float64) {
			for _, g := range []*Gram{g, g.Subset(points).(*Gram)} {
				row, single, tile, sum := make([]float64, g.Len()), make([]float32, g.Len()), make([]float64, 5*6), make([]float64, g.Len())
				g.Row(row, 3)
				g.Row32(single, 3)
				g.Tile(tile, 1, 0, 5)
				_, err := g.AddProduct(t.Context(), sum, []int{4, 0, 2}, []float64{1, -2, 0.5})
				require.NoError(t, err)
				_, err = g.AddProduct32(t.Context(), sum, []int{3, 3, 0}, []float64{1, 0.3, 0.5})
				require.NoError(t, err)
				all = slices.Concat(all, row, lists.Map(single, func(v float32) float64 { return float64(v) }), tile, sum)
			}
			return all
		}
		got, want := values(a), values(b)
		for i, v := range got {
			require.Near(t, v, want[i], 4*by, "scaled %v: zeros left out change value %d", scaled, i)
		}
	}
	var elsewhere mat.Dense // not whole, the first points not sparse
	elsewhere.Apply(func(i, _ int, v float64) float64 { return 0.7*v + float64(max(0, 3-i)) }, words)
	s, got := NewSum(RBF(gamma), words, c), make([]float64, n)
	require.Check(t, (s.p.some != nil) == compiled, "the points of a sum are not sparse")
	s.AtRows(t.Context(), got, &elsewhere)
	for i, v := range got {
		require.Equal(t, v, s.At(elsewhere.RawRowView(i)), "zeros left out change the sum at row %d", i)
	}
}

// Sums computed together are the sums computed one by one, for every kernel.
func TestSumsTogether(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 9))
	const n, d = 40, rows.ManyColumns
	z, x := mltest.Normal(r, n, d), mltest.Normal(r, 3, d)
	w := lists.Make(3, func(k int) []float64 { return lists.Make(n, func(j int) float64 { return float64((j + k) % 4) }) })
	for _, row := range ofVectors() {
		for _, k := range samples(row.Name) {
			k = learnt(t, k, d)
			together := NewSums(k, z, w)
			require.Check(t, together != nil || row.Name == "linear" || row.Name == "fisher" || row.Name == "combined", "%+v: not together", k)
			if together == nil {
				continue
			}
			got, want := mat.NewDense(3, len(w), nil), make([]float64, 3)
			together.AtRows(t.Context(), got, x)
			for a, w := range w {
				used := lists.Where(n, func(j int) bool { return w[j] != 0 })
				some := mat.NewDense(len(used), d, nil)
				for b, j := range used {
					some.SetRow(b, z.RawRowView(j))
				}
				NewSum(k, some, lists.At(w, used)).AtRows(t.Context(), want, x)
				require.Check(t, slices.Equal(mat.Col(nil, a, got), want), "%+v: sum %d is %v, alone %v", k, a, mat.Col(nil, a, got), want)
			}
		}
	}
}

func TestProductIsCancelled(t *testing.T) {
	t.Parallel()
	g := NewGram(RBF(1), mat.NewDense(3, 1, []float64{1, 2, 3}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.AddProduct(ctx, make([]float64, 3), []int{0}, []float64{1})
	require.Is(t, err, context.Canceled, "cancelled")
}

func BenchmarkGaussianRow(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	g := NewGram(RBF(1), mltest.Normal(r, 10_000, 2))
	points := r.Perm(g.Len())[:100]
	w, dst, single := make([]float64, len(points)), make([]float64, g.Len()), make([]float32, g.Len())
	b.Run("row", func(b *testing.B) {
		for b.Loop() {
			g.Row(dst, 0)
		}
	})
	b.Run("row32", func(b *testing.B) {
		for b.Loop() {
			g.Row32(single, 0)
		}
	})
	b.Run("product of 100", func(b *testing.B) {
		for b.Loop() {
			require.Value(g.AddProduct(b.Context(), dst, points, w))(b)
		}
	})
	b.Run("product32 of 100", func(b *testing.B) {
		for b.Loop() {
			require.Value(g.AddProduct32(b.Context(), dst, points, w))(b)
		}
	})
}
