package eval_test

import (
	"encoding/json"
	"math"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// scipy holds results of SciPy, computed by testdata/statistics.py.
type scipy struct {
	Paired []struct {
		Differences                                              []float64
		Ratio, Rope, T, P, Low, High, Worse, Same, Better, Plain float64
	}
	Wilcoxon []struct {
		Differences []float64
		Least, P    float64
	}
	Friedman []struct {
		Scores [][]float64
		Ranks  []float64
		Chi    float64
		ChiP   float64 `json:"chi_p"`
		F, P   float64
	}
	Range []struct {
		K        int
		Level, Q float64
	}
	McNemar []struct {
		A, B int
		P    float64
	}
}

func ofSciPy(t *testing.T) scipy {
	t.Helper()
	return require.JSON[scipy](t, require.Value(os.ReadFile("testdata/statistics.json"))(t))
}

// near tells whether two numbers are the same but for so much of the larger or of 1e-3.
func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*max(1e-3, math.Abs(a), math.Abs(b))
}

func TestPairedTests(t *testing.T) {
	t.Parallel()
	for _, c := range ofSciPy(t).Paired {
		got := require.Value(eval.CorrectedT(c.Differences, c.Ratio))(t)
		require.Check(t, near(*got.T, c.T, 1e-9) && near(*got.P, c.P, 1e-9) && near(got.Interval.Low, c.Low, 1e-7) && near(got.Interval.High, c.High, 1e-7),
			"%d differences: %+v with t %g, want t %g, p %g, %g to %g", len(c.Differences), got, *got.T, c.T, c.P, c.Low, c.High)
		plain, err := eval.CorrectedT(c.Differences, 0)
		require.Check(t, err == nil && near(*plain.P, c.Plain, 1e-9),
			"%d differences, plain: %+v (%v), want p %g", len(c.Differences), plain, err, c.Plain)
		p, err := eval.Correlated(c.Differences, c.Ratio, c.Rope)
		require.Check(t, err == nil && near(p.Worse, c.Worse, 1e-9) && near(p.Same, c.Same, 1e-9) && near(p.Better, c.Better, 1e-9),
			"%d differences: %+v (%v), want %g, %g, %g", len(c.Differences), p, err, c.Worse, c.Same, c.Better)
		// Without a region the posterior and the test say the same of a mean above 0 or below.
		p, err = eval.Correlated(c.Differences, c.Ratio, 0)
		require.Check(t, err == nil && near(2*min(p.Worse, p.Better), *got.P, 1e-9) && p.Same <= 1e-12,
			"%d differences without a region: %+v (%v), and %+v", len(c.Differences), p, err, got)
	}
	require.Equal(t, eval.FoldRatio(10), 1./9, "ten folds")
}

// Of differences that all equal some d there is no telling. The posterior is where they are.
func TestPairedTestsEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		each float64
		p    *float64
		want eval.Posterior
	}{
		{0, new(1.0), eval.Posterior{Same: 1}},
		{0.1, nil, eval.Posterior{Better: 1}},
		{-0.1, nil, eval.Posterior{Worse: 1}},
		{0.005, nil, eval.Posterior{Same: 1}}, // of no account
	} {
		d := slices.Repeat([]float64{c.each}, 10)
		d[7] += c.each * 1e-15
		got, err := eval.CorrectedT(d, 1./9)
		require.Check(t, err == nil && cmp.Equal(got.P, c.p) && got.T == nil && got.Mean == c.each && got.Interval == (ml.Interval{Low: c.each, High: c.each}),
			"all %g: %+v (%v)", c.each, got, err)
		p, err := eval.Correlated(d, 1./9, 0.01)
		require.Check(t, err == nil && p == c.want, "all %g: %+v (%v)", c.each, p, err)
		require.Equal(t, require.Err(json.Marshal(got)), nil, "the error")
	}
	for _, c := range []struct {
		d           []float64
		ratio, rope float64
	}{
		{nil, 0.1, 0},
		{[]float64{0.1}, 0.1, 0},
		{[]float64{0.1, math.NaN()}, 0.1, 0},
		{[]float64{0.1, math.Inf(1)}, 0.1, 0},
		{[]float64{0.1, 0.2}, -1, 0},
		{[]float64{0.1, 0.2}, math.NaN(), 0},
		{[]float64{0.1, 0.2}, math.Inf(1), 0},
		{[]float64{0.1, 0.2}, 0.1, -0.01},
		{[]float64{0.1, 0.2}, 0.1, math.NaN()},
	} {
		p, err := eval.Correlated(c.d, c.ratio, c.rope)
		require.Check(t, err != nil, "%v: %+v", c, p)
		got, err := eval.CorrectedT(c.d, c.ratio)
		require.Check(t, err != nil || c.rope != 0, "%v: %+v", c, got)
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	mu := func(shares ...float64) (folds []eval.Fold) {
		return lists.Map(shares, func(a float64) eval.Fold { return eval.Fold{Shares: &eval.Shares{Accuracy: a}} })
	}
	missed := func(mse ...float64) (folds []eval.Fold) {
		return lists.Map(mse, func(e float64) eval.Fold { return eval.Fold{Errors: &eval.Errors{Errors: ml.Errors{MSE: e}}} })
	}
	d, err := eval.Differences(mu(1, 0.5), mu(0.75, 0.75))
	require.Check(t, err == nil && slices.Equal(d, []float64{0.25, -0.25}), "accuracies: %v (%v)", d, err)
	d, err = eval.Differences(missed(1, 4), missed(3, 4))
	require.Check(t, err == nil && slices.Equal(d, []float64{2, 0}), "errors: %v (%v)", d, err)
	d, err = eval.Differences(mu(1, 1), mu(1))
	require.Check(t, err != nil, "two folds and one: %v", d)
	d, err = eval.Differences(mu(1), missed(1))
	require.Check(t, err != nil, "classes and values: %v", d)
}

func TestSignTest(t *testing.T) {
	t.Parallel()
	for _, c := range ofSciPy(t).McNemar {
		for _, got := range []float64{eval.SignTest(c.A, c.B), eval.SignTest(c.B, c.A)} {
			require.Check(t, near(got, c.P, 1e-9), "%d to %d: %g, want %g", c.A, c.B, got, c.P)
		}
	}
	require.Equal(t, eval.SignTest(0, 0), 1, "no throws")
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.02}, []float64{0.02}},
		{nil, nil},
	} {
		got := eval.Holm(c.p)
		require.Must(t, len(got) == len(c.want), "%v: %v", c.p, got)
		for i := range got {
			require.Check(t, near(got[i], c.want[i], 1e-12), "%v: %v, want %v", c.p, got, c.want)
		}
	}
}

func TestWilcoxon(t *testing.T) {
	t.Parallel()
	for _, c := range ofSciPy(t).Wilcoxon {
		got, err := eval.Wilcoxon(c.Differences)
		require.Check(t, err == nil && near(min(got.Plus, got.Minus), c.Least, 1e-12) && near(got.P, c.P, 1e-9) && got.Exact == (got.N <= 50) && got.N+got.Zeros == len(c.Differences),
			"%d differences: %+v (%v), want %g and p %g", len(c.Differences), got, err, c.Least, c.P)
	}
	for _, d := range [][]float64{nil, {0, 0, 0}} {
		got, err := eval.Wilcoxon(d)
		require.Check(t, err == nil && got.P == 1 && got.N == 0 && got.Zeros == len(d), "%v: %+v (%v)", d, got, err)
	}
	got, err := eval.Wilcoxon([]float64{0.3})
	require.Check(t, err == nil && got.P == 1, "one difference tells nothing: %+v (%v)", got, err)
	got, err = eval.Wilcoxon([]float64{1, math.NaN()})
	require.Check(t, err != nil, "NaN: %+v", got)
}

// The probability agrees with a count over all choices of signs, with and without ties.
func TestWilcoxonCounts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) }), 1, 9).Draw(t, "differences")
		got := require.Value(eval.Wilcoxon(d))(t)
		sizes := lists.Map(lists.Filter(d, func(v float64) bool { return v != 0 }), math.Abs)
		rank := func(i int) (r float64) {
			for _, v := range sizes {
				switch {
				case v < sizes[i]:
					r++
				case v == sizes[i]:
					r += 0.5
				}
			}
			return r + 0.5
		}
		n, uneven := len(sizes), 0
		whole := float64(n*(n+1)) / 2
		for signs := range 1 << n {
			var plus float64
			for rest := signs; rest != 0; rest &= rest - 1 {
				plus += rank(bits.TrailingZeros(uint(rest)))
			}
			if min(plus, whole-plus) <= min(got.Plus, got.Minus) {
				uneven++
			}
		}
		want := float64(uneven) / float64(int(1)<<n)
		require.Must(t, math.Abs(got.P-want) <= 1e-12, "%v: %g, want %g", d, got.P, want)
	})
}

func TestFriedman(t *testing.T) {
	t.Parallel()
	for _, c := range ofSciPy(t).Friedman {
		got := require.Value(eval.Friedman(c.Scores))(t)
		require.Check(t, near(got.ChiSquared, c.Chi, 1e-9) && near(got.ChiP, c.ChiP, 1e-8) && near(*got.F, c.F, 1e-9) && near(got.P, c.P, 1e-8),
			"%d sets: %+v, want %g (p %g), F %g (p %g)", len(c.Scores), got, c.Chi, c.ChiP, c.F, c.P)
		for j, r := range got.Ranks {
			require.Check(t, near(r, c.Ranks[j], 1e-12),
				"%d sets: ranks %v, want %v", len(c.Scores), got.Ranks, c.Ranks)
		}
	}
}

func TestFriedmanEnds(t *testing.T) {
	t.Parallel()
	same := [][]float64{{0.9, 0.9, 0.9}, {0.5, 0.5, 0.5}}
	if got, err := eval.Friedman(same); err != nil || got.ChiSquared != 0 || got.P != 1 || got.ChiP != 1 || *got.F != 0 || !slices.Equal(got.Ranks, []float64{2, 2, 2}) {
		t.Errorf("all equal: %+v (%v)", got, err)
	}
	got, err := eval.Friedman([][]float64{{0.9, 0.8, 0.7}, {0.5, 0.4, 0.1}, {1, 0.3, 0.2}})
	require.Check(t, err == nil && got.F == nil && got.P == 0 && slices.Equal(got.Ranks, []float64{1, 2, 3}) && near(got.ChiSquared, 6, 1e-12),
		"one order: %+v (%v)", got, err)
	require.Equal(t, require.Err(json.Marshal(got)), nil, "the error")
	for name, scores := range map[string][][]float64{
		"nothing": nil, "one data set": {{1, 2}}, "one machine": {{1}, {2}}, "ragged": {{1, 2}, {1}}, "NaN": {{1, 2}, {1, math.NaN()}}, "infinite": {{1, 2}, {math.Inf(-1), 1}},
	} {
		got, err := eval.Friedman(scores)
		require.Check(t, err != nil, "%s: %+v", name, got)
	}
}

func TestNemenyi(t *testing.T) {
	t.Parallel()
	critical := func(k, n int, level float64) float64 {
		scores := lists.Make(n, func(i int) []float64 { return make([]float64, k) })
		r := require.Value(eval.Friedman(scores))(t)
		return require.Value(r.Nemenyi(level))(t)
	}
	for _, c := range ofSciPy(t).Range {
		got, want := critical(c.K, 10, c.Level), c.Q/math.Sqrt2*math.Sqrt(float64(c.K*(c.K+1))/60)
		require.Check(t, near(got, want, 1e-6), "%d machines at %g: %.9g, want %.9g", c.K, c.Level, got, want)
	}
	// Demšar 2006: the factors of table 5(a), and the difference of his example, 1.25.
	for k, q := range map[int]float64{2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164} {
		got := critical(k, 10, 0.05) / math.Sqrt(float64(k*(k+1))/60)
		require.Check(t, math.Abs(got-q) <= 1.1e-3, "%d machines: %.4f, published %.3f", k, got, q)
	}
	got := critical(4, 14, 0.05)
	require.Check(t, math.Abs(got-1.25) <= 5e-3, "four machines, 14 data sets: %.4f, published 1.25", got)
	r := &eval.Ranking{Sets: 14, Ranks: []float64{1, 0, 3, 4}}
	for _, level := range []float64{0, 1, math.NaN(), -0.1} {
		cd, err := r.Nemenyi(level)
		require.Check(t, err != nil, "level %g: %g", level, cd)
	}
}
