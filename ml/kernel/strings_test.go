package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/simd"
	"marginlab/ml/trace"
)

func texts(values ...string) *dataset.Strings { return &dataset.Strings{Name: "text", Values: values} }

func ofStrings(name string, k int, decay float64, normal bool) Kernel {
	v := param.Values{"k": param.Of(k), "normalize": param.Of(normal)}
	if name == "gap-subsequence" {
		v = v.With("decay", param.Of(decay))
	}
	return Kernel{Name: name, Values: v}
}

func matrixOf(t testing.TB, k Kernel, x dataset.Objects) *mat.Dense {
	t.Helper()
	g := require.Value(GramOf(t.Context(), k, x, nil))(t)
	m := mat.NewDense(g.Len(), g.Len(), nil)
	for i := range g.Len() {
		g.Row(m.RawRowView(i), i)
		require.Check(t, g.Diag(i) == m.At(i, i), "%v: diagonal %g, in the row %g", k, g.Diag(i), m.At(i, i))
	}
	return m
}

// compareValues compares a kernel matrix with values to 1e-9 of 1 + their size.
func compareValues(t *testing.T, k Kernel, x dataset.Objects, want [][]float64) {
	t.Helper()
	got := matrixOf(t, k, x)
	for i, row := range want {
		for j, v := range row {
			require.Near(t, got.At(i, j), v, 1e-9*(1+v), "%v: %s with %s", k, x.Text(i), x.Text(j))
		}
	}
}

// The matrices were computed elsewhere, by enumeration.
func TestStringKernelsHaveTheKnownValues(t *testing.T) {
	t.Parallel()
	file := require.JSON[map[string][]struct {
		K       int
		Lam     float64
		Strings []string
		Gram    [][]float64
	}](t, require.Value(os.ReadFile("testdata/strings.json"))(t))
	require.Must(t, len(file["spectrum"]) != 0 && len(file["gap_subsequence"]) != 0, "it holds %d kinds", len(file))
	for name, rows := range file {
		for _, row := range rows {
			k := ofStrings(strings.ReplaceAll(name, "_", "-"), row.K, row.Lam, false)
			compareValues(t, k, texts(row.Strings...), row.Gram)
		}
	}

	// The notes leave the subsequence "at" out of cat and cart: 1 + λ + λ³ is the value.
	small := matrixOf(t, ofStrings("gap-subsequence", 2, 0.5, false), texts("cat", "cart", "bar"))
	require.Equal(t, small.At(0, 1), 1+0.5+0.125, "k(cat, cart)")
	require.Equal(t, small.At(1, 2), 1, "k(cart, bar)")
	// As printed by Lodhi et al.; a weight for all values alike leaves them as they are.
	for k, want := range []float64{.848679, .579814, .478455, .438871, .405745, .369156} {
		m := matrixOf(t, ofStrings("gap-subsequence", k+1, 0.5, true), texts("science is organized knowledge", "wisdom is organized life"))
		require.Near(t, m.At(0, 1), want, 1e-6, "k = %d", k+1)
	}
}

// occurrences calls each with every occurrence of a piece in s: the places of its symbols, its weight.
func occurrences(k Kernel, s []rune, each func(at []int, weight float64)) {
	n, decay := k.Values.Int("k"), k.Values.Number("decay")
	var extend func(at []int)
	extend = func(at []int) {
		if len(at) == n {
			if gaps := at[n-1] - at[0] + 1 - n; k.Name != "spectrum" || gaps == 0 {
				each(at, math.Pow(decay, float64(gaps)))
			}
			return
		}
		first := 0
		if len(at) > 0 {
			first = at[len(at)-1] + 1
		}
		for i := first; i < len(s); i++ {
			extend(append(slices.Clone(at), i))
		}
	}
	extend(nil)
}

// counted are the pieces of s with their weights.
func counted(k Kernel, s string) map[string]float64 {
	weights := map[string]float64{}
	symbols := []rune(s)
	occurrences(k, symbols, func(at []int, weight float64) {
		u := lists.Map(at, func(i int) rune { return symbols[i] })
		weights[string(u)] += weight
	})
	return weights
}

// inner is the sum over the patterns that two objects have in common.
func inner(a, b map[string]float64) (sum float64) {
	for u, w := range a {
		sum += w * b[u]
	}
	return sum
}

// compareDefinition compares a kernel of objects, as it is and normalised, with the sum over the
// patterns that it counts in two of them, and returns its values.
func compareDefinition[T any](r *rapid.T, t *testing.T, k Kernel, x, z dataset.Objects, xs, zs []T, patterns func(Kernel, T) map[string]float64) *mat.Dense {
	product := func(a, b T) float64 { return inner(patterns(k, a), patterns(k, b)) }
	unit := Kernel{Name: k.Name, Values: k.Values.With("normalize", param.Of(true))}
	values := require.Value(Cross(t.Context(), k, x, z))(r)
	units := require.Value(Cross(t.Context(), unit, x, z))(r)
	for i, a := range xs {
		for j, b := range zs {
			want := product(a, b)
			require.Near(r, values.At(i, j), want, 1e-9*(1+want), "%v: %v, %v", k, a, b)
			if want > 0 {
				want /= math.Sqrt(product(a, a) * product(b, b))
			}
			require.Near(r, units.At(i, j), want, 1e-9, "%v: %v, %v", unit, a, b)
		}
	}
	semidefinite(r, t, k, z)
	semidefinite(r, t, unit, z)
	return values
}

// The kernels agree with enumeration, also for short strings and characters of several bytes.
func TestStringKernelsAreTheirDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("abcé∑")), 1, 9, -1)
		x, z := texts(rapid.SliceOfN(text, 1, 5).Draw(r, "x")...), texts(rapid.SliceOfN(text, 1, 20).Draw(r, "z")...)
		name := rapid.SampledFrom([]string{"spectrum", "gap-subsequence"}).Draw(r, "name")
		decay := rapid.Float64Range(0.05, 1).Draw(r, "decay")
		k := ofStrings(name, rapid.IntRange(1, 5).Draw(r, "k"), decay, false)
		compareDefinition(r, t, k, x, z, x.Values, z.Values, counted)
	})
}

// semidefinite checks that a Gram matrix is symmetric and positive semidefinite, and says so.
func semidefinite(r *rapid.T, t *testing.T, k Kernel, x dataset.Objects) {
	m := matrixOf(t, k, x)
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			require.Must(r, m.At(i, j) == m.At(j, i), "%v: %g and %g", k, m.At(i, j), m.At(j, i))
			s.SetSym(i, j, m.At(i, j))
		}
	}
	v, _, ok := dense.Eigen(s, false)
	require.Must(r, ok, "no eigenvalues")
	require.Check(r, v[0] >= -1e-9*(1+v[n-1]), "%v: eigenvalue %g", k, v[0])
	g, err := GramOf(t.Context(), k, x, nil)
	d, ok := g.(interface{ Definite() bool })
	require.Check(r, err == nil && ok && d.Definite(), "%v: not known to be positive semidefinite: %v", k, err)
}

func TestStringsWithoutPieces(t *testing.T) {
	t.Parallel()
	x := texts("ab", "abc", "é")
	for _, name := range []string{"spectrum", "gap-subsequence"} {
		for _, normal := range []bool{false, true} {
			m := matrixOf(t, ofStrings(name, 3, 0.5, normal), x)
			require.Check(t, m.At(1, 1) == 1 && mat.Sum(m) == 1, "%s: %v", name, mat.Formatted(m))
		}
	}
	long := texts("abc", strings.Repeat("a", 530))
	require.Fails(t, require.Err(GramOf(t.Context(), ofStrings("gap-subsequence", 265, 1, true), long, nil)), "row 2", "a value beyond all numbers")
	// To compare it, as much memory would be taken as crashes the program.
	huge := texts("abc", strings.Repeat("a", maxWorkBytes/(2*wide*8)+1)) // packed, and one column of the table
	work := ofStrings("gap-subsequence", 2, 0.5, false)
	_, gram := GramOf(t.Context(), work, huge, nil)
	_, cross := Cross(t.Context(), work, x, huge)
	for _, err := range []error{gram, cross} {
		require.Check(t, err != nil && strings.Contains(err.Error(), "row 2") && strings.Contains(err.Error(), "use a smaller k"),
			"a string too long to be compared: %v", err)
	}
	require.Fails(t, require.Err(Cross(t.Context(), ofStrings("spectrum", 3, 0, false), x, &dataset.Precomputed{})),
		"takes strings, not precomputed", "other objects")
}

// More strings than a matrix that is held has rows: the values are the same.
func TestGramOfManyIsComputed(t *testing.T) {
	t.Parallel()
	x := texts(make([]string, maxStored+1)...)
	for i := range x.Values {
		x.Values[i] = strings.Repeat("ab", 1+i%5) + strings.Repeat("c", i%7)
	}
	for _, normal := range []bool{false, true} {
		k := ofStrings("spectrum", 2, 0, normal)
		g := require.Value(GramOf(t.Context(), k, x, nil))(t)
		few := matrixOf(t, k, x.Subset([]int{0, 1, 2, 3, 4, 5, 6, 7}))
		row := make([]float64, g.Len())
		for i := range 8 {
			g.Row(row, i)
			for j := range 8 {
				require.Check(t, row[j] == few.At(i, j) && g.Diag(i) == few.At(i, i), "%d, %d: %g, want %g", i, j, row[j], few.At(i, j))
			}
		}
	}
}

// A recorder receives every row once, all in the end, and may end the work.
func TestGramReports(t *testing.T) {
	t.Parallel()
	x := texts(slices.Repeat([]string{"abcab", "bca"}, 15)...)
	k := ofStrings("spectrum", 2, 0, false)
	seen := 0
	g, err := GramOf(t.Context(), k, x, func(s trace.Step) {
		seen++
		require.Check(t, s.Phase == "kernel matrix" && s.Done == seen && s.Rows == 30, "step %d is %+v", seen, s)
	})
	require.Check(t, err == nil && seen == 30 && g.Len() == 30, "%d steps, %v", seen, err)
	// Of many it receives a row when that is first there.
	seen = 0
	many := require.Value(GramOf(t.Context(), k, texts(slices.Repeat(x.Values, maxStored/30+1)...), func(s trace.Step) { seen = s.Done }))(t)
	row := make([]float64, many.Len())
	for i := range 40 {
		many.Row(row, i/2)
	}
	require.Check(t, seen >= 16 && seen <= 20, "%d rows were reported, 20 computed", seen) // every few rows
	ctx, cancel := context.WithCancel(t.Context())
	seen = 0
	_, err = GramOf(ctx, k, x, func(trace.Step) { seen++; cancel() })
	require.Check(t, err == context.Canceled && seen <= runtime.GOMAXPROCS(0), "%v after %d rows", err, seen)
}

func TestGramOfObjectsIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := texts(strings.Repeat("ab", 500), strings.Repeat("ba", 500))
	_, err := GramOf(ctx, ofStrings("gap-subsequence", 3, 0.5, false), x, nil)
	require.Check(t, err == context.Canceled, "%v", err)
}

// The loops of every level agree with those in Go, whole and in parts; so do strings alone.
func TestGaps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	text := func(n int) []float64 {
		s := lists.Make(n, func(i int) float64 { return float64("ACGT∑"[r.IntN(4)]) })
		return s
	}
	for k := 2; k <= 6; k++ {
		var some, others [][]float64
		for l := range wide - 1 {
			some, others = append(some, text(3*l)), append(others, text(50-2*l))
		}
		x, z := packTexts(others, endOfX), packTexts(some, endOfZ)
		for _, decay := range []float64{0.3, 1} {
			var want [wide]float64
			plainGaps(&want, make([]float64, (k-1)*len(z)), x, z, k, decay)
			for _, level := range simd.Levels() {
				for _, first := range []int{0, 1, 20} {
					var got [wide]float64
					b := make([]float64, (k-1)*len(z))
					gapsAt(level, &got, b, x[:first*wide], z, k, decay)
					gapsAt(level, &got, b, x[first*wide:], z, k, decay)
					for l, v := range want {
						require.Near(t, got[l], v, 1e-12*v, "%v, k = %d, decay = %g, string %d", level, k, decay, l)
					}
				}
				alone := packTexts(some[9:10], endOfZ)
				var one, all [wide]float64
				gapsAt(level, &one, make([]float64, (k-1)*len(alone)), packTexts(others[9:10], endOfX), alone, k, decay)
				gapsAt(level, &all, make([]float64, (k-1)*len(z)), x, z, k, decay)
				require.Check(t, one[0] == all[9] && one[0] != 0,
					"%v, k = %d: %g alone, %g among others", level, k, one[0], all[9])
			}
		}
	}
}
