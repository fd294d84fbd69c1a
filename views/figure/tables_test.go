package figure_test

import (
	"fmt"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

func ExampleTables() {
	fmt.Println(golden("tables", must(entries().Picture())))
	// Output: as testdata/tables.svg
}

// entries are three tables of two strings, of which the second is being filled.
func entries() figure.Tables {
	rows, cols := strings.Split("cat", ""), strings.Split("cart", "")
	return figure.Tables{
		Now: &figure.Cell{Table: 1, Row: 1, Col: 2}, From: []figure.Cell{{Table: 0, Row: 1, Col: 2}, {Table: 1, Row: 0, Col: 1}, {Table: 1, Row: 0, Col: 2}, {Table: 1, Row: 1, Col: 1}},
		Tables: []figure.Grid{
			{Name: "first", Rows: rows, Cols: cols, Values: [][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, -1}}},
			{Name: "second", Rows: rows, Cols: cols, Values: [][]float64{{1, 1. / 3, 1e-7, 0.125}, {0.5, 1.25, 0.625, nan}, {nan, nan, nan, nan}}},
			{Name: "third", Rows: rows, Cols: cols, Values: [][]float64{{nan, nan, nan, nan}, {nan, nan, nan, nan}, {nan, nan, nan, nan}}},
		},
	}
}

// TestTablesSayTheirEntries: those who do not see the picture are told what is filled.
func TestTablesSayTheirEntries(t *testing.T) {
	t.Parallel()
	p := require.Value(entries().Picture())(t)
	for _, want := range []string{"first: cc 1, ca 0,", "tt −1,", "ar 0.625 (this step),", "third: empty."} {
		require.Check(t, strings.Contains(p.Caption, want), "%q is not in %q", want, p.Caption)
	}
}
