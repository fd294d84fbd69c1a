package theory_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/theory"
)

func features(t rapid.TB, text string, k int) map[string]theory.GapPolynomial {
	return require.Value(theory.SubsequenceFeatures(text, k))(t)
}

// TestSubsequenceFeaturesOfTheLecture is the table of SVM notes 19.2 with the feature missing
// there: "at" occurs in cat without a gap and in cart with one.
func TestSubsequenceFeaturesOfTheLecture(t *testing.T) {
	t.Parallel()
	cat, cart, bar := features(t, "cat", 2), features(t, "cart", 2), features(t, "bar", 2)
	for _, c := range []struct {
		of   map[string]theory.GapPolynomial
		u    string
		want string
	}{
		{cat, "ca", "1"},
		{cat, "ct", `\lambda`},
		{cat, "at", "1"},
		{cart, "ca", "1"},
		{cart, "ct", `\lambda^{2}`},
		{cart, "cr", `\lambda`},
		{cart, "ar", "1"},
		{cart, "rt", "1"},
		{cart, "at", `\lambda`},
		{bar, "ar", "1"},
		{bar, "ba", "1"},
		{bar, "br", `\lambda`},
		{bar, "ct", "0"},
	} {
		require.Equal(t, c.of[c.u].TeX(), c.want, "the feature %s", c.u)
	}
	for name, c := range map[string][2]string{
		"cat, cart": {theory.SubsequenceKernel(cat, cart).TeX(), `1 + \lambda + \lambda^{3}`},
		"cat, bar":  {theory.SubsequenceKernel(cat, bar).TeX(), "0"},
		"cart, bar": {theory.SubsequenceKernel(cart, bar).TeX(), "1"},
	} {
		require.Equal(t, c[0], c[1], "k(%s)", name)
	}
	require.Equal(t, features(t, "aaa", 2)["aa"].TeX(), `2 + \lambda`, "the feature aa of aaa")
}

// The inner product of the listed features equals the kernel, which is computed without listing.
func TestSubsequenceKernelIsThatOfTheTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abü]{0,9}`)
		x, z := text.Draw(t, "x"), text.Draw(t, "z")
		k, decay := rapid.IntRange(1, 4).Draw(t, "k"), rapid.Float64Range(0.05, 1).Draw(t, "decay")
		value := func(v param.Values, name string) float64 {
			g, err := kernel.Cross(context.Background(), kernel.Kernel{Name: name, Values: v}, &dataset.Strings{Values: []string{x}}, &dataset.Strings{Values: []string{z}})
			require.NoError(t, err)
			return g.At(0, 0)
		}
		v := param.Values{"k": param.Of(k), "normalize": param.Of(false)}
		fx, fz := features(t, x, k), features(t, z, k)
		got, want := theory.SubsequenceKernel(fx, fz).At(decay), value(v.With("decay", param.Of(decay)), "gap-subsequence")
		require.Must(t, math.Abs(got-want) <= 1e-10*(1+want), "%q, %q: %.15g, the kernel %.15g", x, z, got, want)
		contiguous := 0.0
		for u := range fx {
			if len(fz[u]) > 0 {
				contiguous += float64(fx[u][0] * fz[u][0])
			}
		}
		want = value(v, "spectrum")
		require.Must(t, contiguous == want, "%q, %q: without gaps %g, the spectrum kernel %g", x, z, contiguous, want)
	})
}

// TestFeatureTable: the inner products of its rows equal the kernels.
func TestFeatureTable(t *testing.T) {
	t.Parallel()
	texts := &dataset.Strings{Values: []string{"banana", "bandana", "né", "", "cabana"}}
	for name, c := range map[string]struct {
		of     theory.StringFeatures
		kernel kernel.Kernel
	}{
		"counted":  {theory.Counted(2), kernel.Kernel{Name: "spectrum", Values: param.Values{"k": param.Of(2), "normalize": param.Of(false)}}},
		"weighted": {theory.Weighted(3, 0.3), kernel.Kernel{Name: "gap-subsequence", Values: param.Values{"k": param.Of(3), "decay": param.Of(0.3), "normalize": param.Of(false)}}},
	} {
		names, phi, err := theory.FeatureTable(texts.Values, c.of)
		require.Must(t, err == nil && slices.IsSorted(names), "%v %v", names, err)
		g := require.Value(kernel.Cross(t.Context(), c.kernel, texts, texts))(t)
		var product mat.Dense
		product.Mul(phi, phi.T())
		require.Check(t, mat.EqualApprox(&product, g, 1e-12),
			"%s: %v, the kernel %v", name, mat.Formatted(&product), mat.Formatted(g))
	}
	names, phi, err := theory.FeatureTable([]string{"banana", "nab"}, theory.Present(2))
	require.Check(t, err == nil && slices.Equal(names, []string{"ab", "an", "ba", "na"}) && mat.Equal(phi, mat.NewDense(2, 4, []float64{0, 1, 1, 1, 1, 0, 0, 1})),
		"present: %v %v, %v", names, phi, err)
	names, phi, err = theory.FeatureTable([]string{"", "a"}, theory.Counted(2))
	require.Check(t, err == nil && len(names) == 1 && mat.Sum(phi) == 0, "without features: %v %v, %v", names, phi, err)
}

// TestLongestPiece compares with all substrings, and shows that the length is not a kernel.
func TestLongestPiece(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abé]{0,8}`)
		x, z := text.Draw(t, "x"), text.Draw(t, "z")
		want := 0
		for k := 1; k <= 8; k++ {
			for u := range kernel.KMers(x, k) {
				if strings.Contains(z, u) {
					want = k
				}
			}
		}
		require.Equal(t, theory.LongestPiece(x, z), want, "longest piece of %q and %q", x, z)
	})
	words := strings.Fields("car arca cat rat arc carat")
	k := mat.NewSymDense(len(words), nil)
	for i, x := range words {
		for j, z := range words {
			k.SetSym(i, j, float64(theory.LongestPiece(x, z)))
		}
	}
	s, err := theory.Mercer(k)
	require.Check(t, err == nil && !s.PSD, "the matrix of %v has no negative eigenvalue: %v, %v", words, s.Values, err)
}

func TestSubsequenceFeaturesOfShortText(t *testing.T) {
	t.Parallel()
	f, err := theory.SubsequenceFeatures("ab", 3)
	require.Check(t, err == nil && len(f) == 0, "a text that is too short has %v, %v", f, err)
}
