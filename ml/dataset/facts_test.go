package dataset

import (
	"fmt"
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
		require.Equal(t, cmp.Diff(want, got, cmp.AllowUnexported(facts{})), "", "facts (-of rows +of texts)")
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
