package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// TestFitFill against a count of how many values lie on either side, on rows drawn at random.
func TestFitFill(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n, d := 1+rng.IntN(30), 1+rng.IntN(4)
		x := mat.NewDense(n, d, nil)
		names := make([]string, d)
		for j := range d {
			names[j] = string(rune('a' + j))
			for i := range n {
				if x.Set(i, j, float64(rng.IntN(7))); rng.IntN(3) == 0 {
					x.Set(i, j, math.NaN())
				}
			}
		}
		x.Set(0, 0, math.NaN())
		data := &Data{Features: names, Given: x, Y: make([]int, n)}
		rows := lists.Where(n, func(int) bool { return rng.IntN(2) == 0 })
		fill := data.FitFill(rows)
		for j, m := range fill {
			var values []float64
			below, above := 0, 0
			for _, i := range rows {
				if v := x.At(i, j); !math.IsNaN(v) {
					values = append(values, v)
					below += lists.CountTrue(v < m)
					above += lists.CountTrue(v > m)
				}
			}
			if len(values) == 0 {
				require.Equal(t, m, 0, "of nothing")
				continue
			}
			slices.Sort(values)
			require.Check(t, 2*below <= len(values) && 2*above <= len(values) && (below == above || len(values)%2 != 0 || m == stat.Quantile(0.5, stat.Empirical, values, nil)),
				"%g of %v", m, values)
		}
		filled := data.Filled(fill).X
		for i := range n {
			for j := range d {
				want := x.At(i, j)
				if math.IsNaN(want) {
					want = fill[j]
				}
				require.Equal(t, filled.At(i, j), want, "row %d, %s", i, names[j])
			}
		}
	}
}

// A missing word becomes that of most of the rows asked, also where only some words are features.
func TestFillWords(t *testing.T) {
	t.Parallel()
	const file = "colour,sex,size,class\nred,m,1,A\nred,f,2,B\nblue,f,4,A\ngreen,m,8,B\nblue,m,16,A\nblue,f,,A\n,,32,B\n"
	d := require.Value(Read(strings.NewReader(file), "f", Mapping{Features: []string{"colour", "sex", "size"}, Missing: MissingMedian}, Limits{}))(t)
	want := []string{"colour=blue", "colour=green", "colour=red", "sex=m", "size"}
	require.Must(t, slices.Equal(want, d.Features), "%v", d.Features)
	for _, c := range []struct {
		rows []int
		want Fill
	}{
		{[]int{0, 1, 2, 3, 4, 5, 6}, Fill{1, 0, 0, 0, 6}},
		{[]int{0, 1, 3}, Fill{0, 0, 1, 1, 2}},
		{[]int{3, 0, 6}, Fill{0, 1, 0, 1, 8}}, // of as many the first
		{[]int{6}, Fill{0, 0, 0, 0, 32}},
		{nil, Fill{0, 0, 0, 0, 0}},
	} {
		got := d.FitFill(c.rows)
		require.Check(t, slices.Equal(c.want, got), "rows %v: %v, want %v", c.rows, got, c.want)
	}
	if got, want := d.X.RawRowView(6), []float64{1, 0, 0, 0, 32}; !slices.Equal(got, want) {
		t.Errorf("shown is %v, want %v", got, want)
	}
	some := require.Value(d.Columns([]string{"size", "colour=red"}))(t)
	// Of three rows two have another word than red, of the other three two are red.
	for want, rows := range map[float64][]int{0: {1, 2, 3}, 1: {0, 1, 2}} {
		got := some.FitFill(rows)
		require.Check(t, got[1] == want, "rows %v: %v", rows, got)
	}
	// A column that is called like a word but holds numbers has a median.
	odd := require.Value(Read(strings.NewReader("a=b,a=c,class\n1,0,A\n3,1,B\n7,,A\n,1,B\n"), "f", Mapping{Missing: MissingMedian}, Limits{}))(t)
	require.Slices(t, odd.FitFill([]int{0, 1, 2, 3}), Fill{3, 1}, "what fills odd columns")
}

// Data know what was missing: in canonical form, in parts of them, and read again from an export.
func TestGapsTravel(t *testing.T) {
	t.Parallel()
	const file = "sex,x,y,class\nm,1,,A\nf,,5,B\n,2,7,A\nm,4,6,B\n"
	m := Mapping{Features: []string{"sex", "x", "y"}, Missing: MissingMedian}
	d := require.Value(Read(strings.NewReader(file), "f", m, Limits{}))(t)
	roundTrip(t, d)
	text := require.Written(t, d.Encode)
	require.Equal(t, text, "sex=m,x,y,class\n1,1,,A\n0,,5,B\n,2,7,A\n1,4,6,B\n", "the file")
	whole := *d
	whole.Given = nil
	require.Check(t, whole.Hash() != d.Hash(), "data without gaps have the hash of those with them")
	again := require.Value(Read(strings.NewReader(text), "again.csv", Mapping{Label: "class", Missing: MissingMedian}, Limits{}))(t)
	sameData(t, d, again)
	require.Check(t, again.Hash() == d.Hash(), "what is read again has another hash")
	part := d.Subset([]int{3, 1})
	require.Check(t, cmp.Equal(mat.NewDense(2, 3, []float64{1, 4, 6, 0, math.NaN(), 5}).RawMatrix().Data, part.Given.RawMatrix().Data, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })),
		"%v", mat.Formatted(part.Given))
	some, err := d.Columns([]string{"y", "x"})
	require.Check(t, err == nil && math.IsNaN(some.Given.At(0, 0)) && some.X.At(0, 0) == 6 && some.Given.At(3, 1) == 4,
		"%v: %v", err, mat.Formatted(some.Given))
}
