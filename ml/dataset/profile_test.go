package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	table := require.Value(ParseTable(strings.NewReader("a,w,gaps,same,label\n0,x,1,7,A\n12,y,,7,B\n6,x,3,7,A\n11.5,,NA,7,B\n"), "f", Limits{}))(t)
	for j, want := range []Profile{
		{Least: 0, Most: 12, Counts: []int{1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2}},
		{Words: []string{"x", "y"}, Counts: []int{2, 1}},
		{Least: 1, Most: 3, Counts: []int{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		{Least: 7, Most: 7, Counts: []int{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		{Words: []string{"A", "B"}, Counts: []int{2, 2}},
	} {
		require.Equal(t, cmp.Diff(want, table.Columns[j].Profile()), "", "%s (-want +got)", table.Columns[j].Name)
	}
	var many strings.Builder
	many.WriteString("w,label\n")
	for i := range 30 {
		many.WriteString(strings.Repeat("z", 1+i%15) + ",A\n")
	}
	table = require.Value(ParseTable(strings.NewReader(many.String()), "f", Limits{}))(t)
	p := table.Columns[0].Profile()
	require.Check(t, len(p.Words) == ProfileBins && len(p.Counts) == ProfileBins, "%d words and %d counts", len(p.Words), len(p.Counts))
}

// Whatever the numbers are, each is in one part, and those at the ends are in the first and the last.
func TestProfileCountsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64), 1, 50).Draw(t, "values")
		p, n := ProfileOf(values), 0
		for _, c := range p.Counts {
			n += c
		}
		require.Check(t, n == len(values) && len(p.Counts) == ProfileBins && p.Counts[0] != 0 && (p.Least >= p.Most || p.Most-p.Least <= 1e-300 || p.Counts[ProfileBins-1] != 0),
			"%v: %+v", values, p)
	})
}
