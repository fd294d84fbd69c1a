package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/simd"
)

// vectors draws the padded vectors of a loop over n points.
func vectors[T Real](r *rand.Rand, n int) (g, up, low, diag []float64, ki, kj []T) {
	size := Padded(n)
	g, up, low, diag = make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	ki, kj = make([]T, size), make([]T, size)
	for i := range size {
		g[i], diag[i] = r.NormFloat64(), 1+r.Float64()
		ki[i], kj[i] = T(r.Float64()), T(r.Float64())
		if i%3 == 1 || i >= n {
			up[i] = math.Inf(-1)
		}
		if i%3 == 2 || i >= n {
			low[i] = math.Inf(1)
		}
		if i > 0 && i%7 == 0 { // ties
			g[i], diag[i], ki[i], kj[i], up[i], low[i] = g[i-1], diag[i-1], ki[i-1], kj[i-1], up[i-1], low[i-1]
		}
		if i%11 == 0 {
			diag[i] = -1 // negative curvature
		}
	}
	return g, up, low, diag, ki, kj
}

// TestSweepsAgree compares all loops that this machine supports with those in Go.
func TestSweepsAgree(t *testing.T) {
	t.Parallel()
	for _, l := range []simd.Level{simd.Plain, simd.AVX2, simd.AVX512} {
		t.Run(l.String()+"/single", func(t *testing.T) { sweepsAgree[float32](t, l) })
		t.Run(l.String()+"/double", func(t *testing.T) { sweepsAgree[float64](t, l) })
	}
}

func sweepsAgree[T Real](t *testing.T, l simd.Level) {
	t.Parallel()
	if !slices.Contains(simd.Levels(), l) {
		t.Skipf("%s does not run here", l)
	}
	rounding := 1e-13
	if _, single := any(T(0)).(float32); single {
		rounding = 1e-6
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 2, 15, 16, 17, 100, 1000} {
		for range 50 {
			g, up, low, diag, ki, kj := vectors[T](r, n)
			gain := func(j int, gi float64) float64 {
				d := gi - g[j] - low[j]
				return d * d / Guarded(1+diag[j]-2*float64(ki[j]))
			}
			for _, gi := range []float64{3, 0, -10} { // -10: nothing gains
				j, violation := partnerAt(l, g, low, diag, ki, gi, 1)
				wantJ, want := plainPartner(g, low, diag, ki, gi, 1)
				require.Must(t, violation == want && (j < 0) == (wantJ < 0) && (j == wantJ || math.Abs(gain(j, gi)/gain(wantJ, gi)-1) <= 1e-13),
					"n = %d: partner %d, violation %g; plain %d, %g", n, j, violation, wantJ, want)
			}
			if s, want := sumAt(l, ki), plainSum(ki); math.Abs(s-want) > rounding*float64(n+1) {
				t.Fatalf("n = %d: sum %g, plain %g", n, s, want)
			}
			both, want := append(slices.Clone(g), g...), append(slices.Clone(g), g...)
			addEachAt(l, both, []float64{-0.2, 0.4}, ki)
			plainAddEach(want, []float64{-0.2, 0.4}, ki)
			for k, v := range want {
				require.Near(t, both[k], v, 1e-14*(1+math.Abs(v)), "n = %d: one of two", n)
			}
			other := append([]float64{}, g...)
			addScaledAt(l, g, 0.3, ki)
			plainAddScaled(other, 0.3, ki)
			i, wantI := updateAt(l, g, up, ki, kj, 0.7), plainUpdate(other, up, ki, kj, 0.7)
			for k := range n {
				require.Near(t, other[k], g[k], 1e-14*(1+math.Abs(g[k])), "n = %d: gradient", n)
			}
			require.Must(t, i < n && (i == wantI || math.Abs(g[i]-g[wantI]) <= 1e-13),
				"n = %d: next is %d, plain %d", n, i, wantI)
		}
	}
}

// TestClassSweepsAgree does the same for the loops over class functions.
func TestClassSweepsAgree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{0, 1, 3, 7, 8, 9, 15, 16, 17, 100, 1001} {
		for round := range 50 {
			own, f, u := make([]float64, n), make([]float64, n), make([]float64, n)
			most, least := make([]float64, n), make([]float64, n)
			for i := range n {
				own[i], f[i] = r.NormFloat64(), r.NormFloat64()
				u[i] = []float64{0, -1, -0.5}[r.IntN(3)]
				least[i] = []float64{0, math.Inf(1)}[r.IntN(2)]
				if i > 0 && i%5 == 0 { // ties
					own[i], f[i], u[i] = own[i-1], f[i-1], u[i-1]
				}
				if round == 0 {
					u[i] = 1 // none in
				}
			}
			wantMost, wantLeast := slices.Clone(most), slices.Clone(least)
			plainBracket(wantMost, wantLeast, own, f, u)
			wantOut, wantIn, wantOutAt, wantInAt := plainLook(own, f, u, 1)
			for _, l := range simd.Levels() {
				out, in, outAt, inAt := lookAt(l, own, f, u, 1)
				require.Must(t, out == wantOut && in == wantIn && outAt == wantOutAt && inAt == wantInAt,
					"%s, n = %d: %g at %d, %g at %d; plain %g at %d, %g at %d", l, n, out, outAt, in, inAt, wantOut, wantOutAt, wantIn, wantInAt)
				for _, sign := range []float64{1, -1} {
					var got, want [3][]float64
					for v := range got {
						got[v], want[v] = make([]float64, n), make([]float64, n)
					}
					plainPair(want[0], want[1], want[2], own, f, u, sign, 1)
					pairAt(l, got[0], got[1], got[2], own, f, u, sign, 1)
					for v := range got {
						require.Must(t, slices.Equal(got[v], want[v]),
							"%s, n = %d, sign %g: %v, plain %v", l, n, sign, got, want)
					}
				}
				gotMost, gotLeast := slices.Clone(most), slices.Clone(least)
				bracketAt(l, gotMost, gotLeast, own, f, u)
				require.Must(t, slices.Equal(gotMost, wantMost) && slices.Equal(gotLeast, wantLeast),
					"%s, n = %d: %v to %v; plain %v to %v", l, n, gotLeast, gotMost, wantLeast, wantMost)
			}
		}
	}
}

func BenchmarkSweeps(b *testing.B) {
	for _, n := range []int{300, 4000} {
		g, up, low, diag, ki, kj := vectors[float32](rand.New(rand.NewPCG(3, 3)), n)
		b.Run(fmt.Sprintf("partner/%d", n), func(b *testing.B) {
			for b.Loop() {
				Partner(g, low, diag, ki, 3, 1)
			}
		})
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
			for b.Loop() {
				Update(g, up, ki, kj, 1e-9)
			}
		})
	}
}
