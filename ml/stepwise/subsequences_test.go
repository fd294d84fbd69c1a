package stepwise_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// occurrences returns all choices of k out of n positions.
func occurrences(n, k int) (all [][]int) {
	var choose func(from int, chosen []int)
	choose = func(from int, chosen []int) {
		if len(chosen) == k {
			all = append(all, append([]int(nil), chosen...))
			return
		}
		for i := from; i < n; i++ {
			choose(i+1, append(chosen, i))
		}
	}
	choose(0, nil)
	return all
}

// pairs sums the weights of all pairs of equal occurrences of k symbols that end with x_i and
// z_j, over all i and j if these are negative.
func pairs(x, z []rune, k, i, j int, decay float64) (sum float64) {
	for _, a := range occurrences(len(x), k) {
		for _, b := range occurrences(len(z), k) {
			if i >= 0 && (a[k-1] != i || b[k-1] != j) {
				continue
			}
			equal := true
			for p := range a {
				equal = equal && x[a[p]] == z[b[p]]
			}
			if equal {
				gaps := a[k-1] - a[0] + 1 - k + b[k-1] - b[0] + 1 - k
				sum += math.Pow(decay, float64(gaps))
			}
		}
	}
	return sum
}

// TestSubsequencesFillWhatEnumerationFinds compares every entry of every A, and the final sum,
// with an enumeration of all occurrences, and the sum also with the kernel.
func TestSubsequencesFillWhatEnumerationFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[abcé]{0,6}`)
		x, z := text.Draw(t, "x"), text.Draw(t, "z")
		k, decay := rapid.IntRange(1, 3).Draw(t, "k"), rapid.Float64Range(0.1, 1).Draw(t, "decay")
		r := require.Value(stepwise.Subsequences(context.Background(), x, z, k, decay))(t)
		end := r.At(r.Len() - 1)
		want := 1 + len(end.X)*len(end.Z)*end.Tables()
		require.Must(t, r.Len() == want && r.Status() == trace.Converged, "%d states, %s; want %d", r.Len(), r.Status(), want)
		near := func(what string, got, want float64) {
			require.Near(t, got, want, 1e-12*(1+want), "%q, %q, k = %d: %s", x, z, k, what)
		}
		for n := range end.Tables() {
			p, isA := end.Level(n)
			for i := range end.X {
				for j := range end.Z {
					v, ok := end.At(n, i, j)
					require.Must(t, ok, "entry %d, %d of table %d is not filled", i, j, n)
					if isA {
						near("A", v, pairs(end.X, end.Z, p, i, j, decay))
						continue
					}
					want := 0.0
					for a := range i + 1 {
						for b := range j + 1 {
							u, _ := end.At(n-1, a, b)
							want += math.Pow(decay, float64(i-a+j-b)) * u
						}
					}
					near("B", v, want)
				}
			}
		}
		near("the sum", end.Sum(), pairs(end.X, end.Z, k, -1, -1, decay))
		kern := kernel.Kernel{Name: "gap-subsequence", Values: param.Values{"k": param.Of(k), "decay": param.Of(decay), "normalize": param.Of(false)}}
		g := require.Value(kernel.Cross(context.Background(), kern, &dataset.Strings{Values: []string{x}}, &dataset.Strings{Values: []string{z}}))(t)
		near("the kernel", end.Sum(), g.At(0, 0))
	})
}

// A state holds the entries filled by then, and each entry is the sum of its terms.
func TestSubsequencesKeepTheirStates(t *testing.T) {
	t.Parallel()
	r := require.Value(stepwise.Subsequences(t.Context(), "cat", "cart", 2, 0.5))(t)
	_, _, _, ok := r.At(0).Last()
	require.Check(t, !ok, "the start has filled an entry")
	for n := 1; n < r.Len(); n++ {
		s := r.At(n)
		table, i, j, ok := s.Last()
		v, filled := s.At(table, i, j)
		_, before := r.At(n-1).At(table, i, j)
		require.Must(t, ok && filled && !before, "step %d: entry %d of row %d of table %d: %v, %v, before %v", n, j, i, table, ok, filled, before)
		terms, sum := s.Terms(table, i, j)
		for _, u := range terms {
			sum += u.Factor * u.Value
		}
		require.Check(t, sum == v, "step %d: %g, of its terms %g", n, v, sum)
	}
	require.Equal(t, r.At(r.Len()-1).Sum(), 1+0.5+0.125, "k(cat, cart)")
}

func TestSubsequencesRefuse(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"no symbol":    require.Err(stepwise.Subsequences(t.Context(), "a", "a", 0, 0.5)),
		"no decay":     require.Err(stepwise.Subsequences(t.Context(), "a", "a", 1, 0)),
		"growth":       require.Err(stepwise.Subsequences(t.Context(), "a", "a", 1, 1.5)),
		"not a number": require.Err(stepwise.Subsequences(t.Context(), "a", "a", 1, math.NaN())),
		"too many":     require.Err(stepwise.Subsequences(t.Context(), string(make([]byte, 50)), string(make([]byte, 50)), 1, 1)),
	} {
		require.Check(t, err != nil, "%s is not refused", name)
	}
}
