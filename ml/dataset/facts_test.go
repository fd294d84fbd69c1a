package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// Rows that repeat are those that a map of whole rows finds, whether a column has few texts or many.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 600).Draw(t, "rows")
		few := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", ""}), n, n).Draw(t, "few")
		many := rapid.SliceOfN(rapid.StringMatching(`[0-9]{1,3}`), n, n).Draw(t, "many")
		table := &Table{Columns: []Column{column("few", few), column("many", many)}, Lines: make([]int, n)}
		var want []int
		seen := map[[2]string]bool{}
		for i := range n {
			row := [2]string{few[i], many[i]}
			if seen[row] {
				want = append(want, i)
			}
			seen[row] = true
		}
		require.Slices(t, table.duplicates([]facts{{holds: holdsWords}, {holds: holdsWords}}), want, "duplicates")
	})
}

// Of a column of few texts each is examined once, of others every row: the facts are the same.
func TestFactsOfFewTexts(t *testing.T) {
	t.Parallel()
	cell := rapid.OneOf(
		rapid.SampledFrom([]string{"", "NA", "?", "1", "1.0", "+1", "0", "-999", "x", "yes", "2020-01-31", "1,5", "7 %", "inf", "1e999", "12-A"}),
		rapid.StringMatching(`[0-9]{1,2}`),
		rapid.StringMatching(`-?[0-9]{1,2}\.[0-9]{1,2}`),
		rapid.StringMatching(`[a-c]{1,2}`),
	)
	fractions := lists.Make(maxClasses+2, func(k int) string { return fmt.Sprintf("%d.%02d", k%7-3, k) }) // more than are counted
	rapid.Check(t, func(t *rapid.T) {
		above := rapid.IntRange(0, len(fractions)).Draw(t, "fractions above")
		texts := append(fractions[:above:above], rapid.SliceOfN(cell, 1, 300).Draw(t, "texts")...)
		var few, rows Column // of an unknown number of rows
		for _, s := range texts {
			few.add(s)
			rows.add(s)
		}
		rows.spread()
		got, want := examine(&few), examine(&rows)
		gotN, gotAgain := got.count()
		wantN, wantAgain := want.count()
		require.Check(t, gotN == wantN && gotAgain == wantAgain, "%d differ, repeated %v; want %d, %v", gotN, gotAgain, wantN, wantAgain)
		a, b := got.grouped(), want.grouped()
		require.Check(t, a.spelling == b.spelling && a.likely == b.likely && (a.example == "") == (b.example == ""), "grouped as in %q, want %q", a.example, b.example)
		got.recount, want.recount, got.grouped, want.grouped = nil, nil, nil, nil
		diff := cmp.Diff(want, got, cmp.AllowUnexported(facts{}))
		require.Must(t, diff == "", "facts (-of rows +of texts):\n%s", diff)
	})
}

// Two spellings of one number in a label column are the same number.
func TestLabelsOfTwoSpellings(t *testing.T) {
	t.Parallel()
	for _, cells := range [][]string{{`"$1,000"`, "$1000", "$900"}, {"12 %", "12%", "30%"}, {"€5", "5 €", "€7"}, {`"1,234.5"`, "1234.5", "999.5"}} {
		text := "size,price\n1," + strings.Join(cells, "\n2,") + "\n"
		d := require.Value(Read(strings.NewReader(text), "x.csv", Mapping{Label: "price", Proposed: true}, DefaultLimits))(t)
		require.Check(t, !slices.Contains(d.Classes, "") && d.Y[0] == d.Y[1], "%s: classes %q, rows %v", text, d.Classes, d.Y)
	}
}

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
	require.Check(t, len(p.Words) == ProfileBins && p.Others == 6, "%d words and %d rows with others", len(p.Words), p.Others)
}

// TestProfileCountsEverything: whatever the numbers are, each is in one part, and those at the
// ends are in the first and the last.
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
