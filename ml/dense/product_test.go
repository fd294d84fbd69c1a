package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/simd"
)

// random returns a matrix within a larger one, whose other entries are NaN.
func random(rng *rand.Rand, rows, cols, more int) blas64.General {
	g := blas64.General{Rows: rows, Cols: cols, Stride: cols + more, Data: make([]float64, rows*(cols+more))}
	for i := range g.Data {
		g.Data[i] = math.NaN()
		if i%g.Stride < cols {
			g.Data[i] = rng.NormFloat64()
		}
	}
	return g
}

func TestAdd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := func(name string) int {
			if rapid.IntRange(0, 9).Draw(t, name+" is large") == 0 {
				return rapid.IntRange(90, 600).Draw(t, name)
			}
			return rapid.IntRange(0, 40).Draw(t, name)
		}
		m, n, k := size("m"), size("n"), size("k")
		if rapid.IntRange(0, 9).Draw(t, "shared") == 0 { // large enough for several goroutines
			m, n, k = 60+m, 250+n, 200
			if rapid.Bool().Draw(t, "tall") {
				m, n = n, m
			}
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		more := rapid.IntRange(0, 3).Draw(t, "more")
		trans := rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans}).Draw(t, "trans")
		sign := lists.Either(rapid.Bool().Draw(t, "subtracted"), -1, 1.0)
		a, b, dst := random(rng, m, k, more), random(rng, k, n, more), random(rng, m, n, more)
		at := func(i, p int) float64 { return a.Data[i*a.Stride+p] }
		if trans == blas.Trans {
			a = random(rng, k, m, more)
			at = func(i, p int) float64 { return a.Data[p*a.Stride+i] }
		}
		want := make([]float64, len(dst.Data))
		for i := range want {
			want[i] = dst.Data[i]
			if row, col := i/dst.Stride, i%dst.Stride; col < n {
				for p := range k {
					want[i] += sign * at(row, p) * b.Data[p*b.Stride+col]
				}
			}
		}
		switch l := simd.Level(rapid.IntRange(-1, len(simd.Levels())-1).Draw(t, "level")); {
		case l >= 0: // any supported by this machine
			multiply(l, dst, sign, trans, a, b)
		case sign > 0:
			Add(dst, trans, a, b)
		default:
			Sub(dst, trans, a, b)
		}
		for i, v := range dst.Data {
			in := i%dst.Stride < n
			require.Must(t, (!in || math.Abs(v-want[i]) <= 1e-12*float64(k+1)) && (in || math.IsNaN(v)), "%d x %d x %d: entry %d is %g, want %g", m, k, n, i, v, want[i])
		}
	})
}

func TestAddSizes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	defer func() {
		require.Check(t, recover() != nil, "2 x 3 times 4 x 5 passed")
	}()
	Add(random(rng, 2, 5, 0), blas.NoTrans, random(rng, 2, 3, 0), random(rng, 4, 5, 0))
}

func BenchmarkAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{200, 256, 200}, {256, 5000, 501}, {501, 256, 501}, {501, 5000, 64}} {
		m, k, n := s[0], s[1], s[2]
		x, xt, y, dst := random(rng, m, k, 0), random(rng, k, m, 0), random(rng, k, n, 0), random(rng, m, n, 0)
		for _, c := range []struct {
			name string
			add  func()
		}{
			{"ab", func() { Add(dst, blas.NoTrans, x, y) }},
			{"atb", func() { Add(dst, blas.Trans, xt, y) }},
			{"gonum ab", func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, x, y, 1, dst) }},
			{"gonum atb", func() { blas64.Gemm(blas.Trans, blas.NoTrans, 1, xt, y, 1, dst) }},
		} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", c.name, m, k, n), func(b *testing.B) {
				for b.Loop() {
					c.add()
				}
				b.ReportMetric(2*float64(m*k*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
			})
		}
	}
}
