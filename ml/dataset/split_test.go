package dataset

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

func TestSplitIsStratified(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		y := rapid.SliceOf(rapid.SampledFrom([]float64{-1, 1, 1, 1, 2})).Draw(rt, "y")
		fraction := rapid.Float64Range(0, 1).Draw(rt, "fraction")
		seed := rapid.Uint64().Draw(rt, "seed")
		train, test := Split(y, fraction, seed)
		require.Check(rt, slices.IsSorted(train) && slices.IsSorted(test), "rows do not ascend")
		all := slices.Concat(train, test)
		slices.Sort(all)
		for i, r := range all {
			require.Must(rt, i == r, "rows %v and %v are not the rows once each", train, test)
		}
		require.Must(rt, len(all) == len(y), "%d of %d rows", len(all), len(y))
		total, held := map[float64]int{}, map[float64]int{}
		for _, c := range y {
			total[c]++
		}
		for _, i := range test {
			held[y[i]]++
		}
		for c, n := range total {
			want := min(int(math.Round(fraction*float64(n))), n-1)
			require.Check(rt, held[c] == want, "class %v: %d of %d held out, want %d", c, held[c], n, want)
		}
		flipped := lists.Map(y, func(c float64) float64 { return -c })
		_, same := Split(flipped, fraction, seed)
		require.Check(rt, slices.Equal(test, same), "the names of the classes change the split")
	})
}

func TestSplitSeeds(t *testing.T) {
	t.Parallel()
	y := lists.Make(100, func(i int) float64 { return float64(i % 2) })
	_, first := Split(y, 0.3, 1)
	_, again := Split(y, 0.3, 1)
	_, other := Split(y, 0.3, 2)
	require.Equal(t, cmp.Diff(first, again), "", "diff")
	require.Check(t, !slices.Equal(first, other), "two seeds draw the same rows")
	// Every row has its chance: over 400 seeds each of 100 is drawn 120 ± 9 times.
	times := make([]int, len(y))
	for seed := range uint64(400) {
		_, test := Split(y, 0.3, seed)
		for _, i := range test {
			times[i]++
		}
	}
	require.Check(t, slices.Min(times) >= 75 && slices.Max(times) <= 165,
		"rows are drawn %d to %d times, expected about 120", slices.Min(times), slices.Max(times))
	for _, fraction := range []float64{0, -1, math.NaN()} {
		train, test := Split(y, fraction, 1)
		require.Check(t, len(train) == 100 && len(test) == 0, "fraction %v holds out %d rows", fraction, len(test))
	}
	train, test := Split(y, math.Inf(1), 1)
	require.Check(t, len(train) == 2 && len(test) == 98, "an infinite fraction leaves %d rows", len(train))
}
