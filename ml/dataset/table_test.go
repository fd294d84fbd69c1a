package dataset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
)

func TestMapping(t *testing.T) {
	t.Parallel()
	const in = "id,Y,x,Colour\na,1,0.5,red\nb,2,1.5,blue\nc,1,2.5,red\n"
	table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t)
	m, obvious := table.Guess()
	want := Mapping{Label: "Colour", Features: []string{"Y", "x"}}
	diff := cmp.Diff(want, m)
	require.Check(t, diff == "" && !obvious, "Guess leaves words out and is in doubt; obvious %v (-want +got):\n%s", obvious, diff)
	for _, tt := range []struct {
		m    Mapping
		want string
	}{
		{Mapping{Label: "Y", Features: []string{"x"}}, lines("x,Y", "0.5,1", "1.5,2", "2.5,1")},
		{Mapping{Label: "y", Features: []string{"X"}}, lines("x,Y", "0.5,1", "1.5,2", "2.5,1")},
		{Mapping{Features: []string{"x", "Y"}}, lines("x,Y,Colour", "0.5,1,red", "1.5,2,blue", "2.5,1,red")},
	} {
		d := require.Value(table.Data(tt.m))(t, "%v", tt.m)
		require.Equal(t, cmp.Diff(tt.want, show(d)), "", "%v (-want +got)", tt.m)
	}
}

// TestMatrix reads points that have no label, as prediction does.
func TestMatrix(t *testing.T) {
	t.Parallel()
	table := require.Value(ParseTable(strings.NewReader("b;a\n1,5;2\n3;4\n"), "f", Limits{}))(t)
	x := require.Value(table.Matrix([]string{"a", "b"}))(t)
	require.Check(t, mat.Equal(x, mat.NewDense(2, 2, []float64{2, 1.5, 4, 3})), "got %v", mat.Formatted(x))
	require.Check(t, table.DecimalComma && table.Separator == "semicolon" && table.Header,
		"table says %v %v %v", table.DecimalComma, table.Separator, table.Header)
}

// A search for a column changes nothing in the table, so that requests may share one.
func TestFindOnlyReads(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "x"}, {Name: "x"}, {Name: "Y"}}}
	for name, want := range map[string]int{"x": 0, "y": 2} {
		j, err := 0, error(nil)
		made := testing.AllocsPerRun(5, func() { j, err = table.find(name) })
		require.Check(t, err == nil && j == want, "%s is column %d (%v)", name, j, err)
		require.Equal(t, made, 0, "allocations")
	}
}
