package dataset

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

func read(t require.T, in string) *Data {
	t.Helper()
	return require.Value(Read(strings.NewReader(in), "f", Mapping{}, Limits{}))(t)
}

func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[a-zäß,;"'#\\ \-=+@0-9.|]{1,8}`).Filter(func(s string) bool { return checkText("", s) == nil })
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfNDistinct(text, 2, 5, rapid.ID).Draw(rt, "names")
		labels := rapid.SliceOfN(text, 1, 20).Draw(rt, "labels")
		d := len(names) - 1
		values := rapid.SliceOfN(rapid.Float64().Filter(func(v float64) bool {
			return !math.IsInf(v, 0) && !math.IsNaN(v)
		}), d*len(labels), d*len(labels)).Draw(rt, "values")
		data := &Data{Features: names[:d], Label: names[d], X: mat.NewDense(len(labels), d, values)}
		data.setLabels(labels)
		roundTrip(rt, data)
		back := require.Value(Decode(strings.NewReader(show(data))))(rt)
		for i, v := range values {
			got := back.X.At(i/d, i%d)
			require.Check(rt, math.Float64bits(got) == math.Float64bits(v), "value %d: %v became %v", i, v, got)
		}
	})
}

// What a spreadsheet would carry out stands behind an apostrophe, which reading removes again.
func TestNoFormulasInFiles(t *testing.T) {
	t.Parallel()
	const formula = `=cmd|'/c calc'!A0`
	data := &Data{Features: []string{"@sum", "-"}, Label: "'=y", X: mat.NewDense(4, 2, []float64{-1, 2, 3, 4, 5, 6, 7, 8})}
	data.setLabels([]string{formula, "+", "-x", "-1.5"})
	text := require.Written(t, data.Export)
	want := "'@sum,-,''=y\n-1,2,'" + formula + "\n3,4,+\n5,6,'-x\n7,8,-1.5\n"
	require.Equal(t, strings.ReplaceAll(text, `"`, ""), want, "the file")
	again := require.Value(Read(strings.NewReader(text), "again.csv", Mapping{Label: data.Label}, Limits{}))(t)
	decoded := require.Value(Decode(strings.NewReader(show(data))))(t)
	for _, d := range []*Data{again, decoded} {
		sameData(t, data, d)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	const in = "x,label\n1,A\n2,B\n"
	h := read(t, in).Hash()
	// printf 'x,label\n1,A\n2,B\n' | sha256sum
	require.Equal(t, h, "933e2ae225618cb614fb3b0e91c05d1119e374a8ce4019e85a0365c1d3632555", "h")
	require.Check(t, read(t, "x;label\n1,0;A\n2,0;B\n").Hash() == h,
		"the spelling of a file changes the hash of its data")
	for _, other := range []string{"x,label\n1,A\n2.0000000000000004,B\n", "y,label\n1,A\n2,B\n", "x,label\n2,B\n1,A\n"} {
		require.Check(t, read(t, other).Hash() != h, "%q has the hash of other data", other)
	}
	d := read(t, "x1,x2,y\n1,0,b\n2,1,a\n3,0,c\n4,1,b\n")
	s := d.Sample([]int{3, 2})
	require.NoError(t, s.Validate())
	sameData(t, s, read(t, "x1,x2,y\n4,1,b\n3,0,c\n"))
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"", "expected a header, found an empty file"},
		{"x\n1\n", "line 1: expected at least one feature and a label, found 1 column"},
		{"x,label\n", "expected at least one row of data, found only a header"},
		{"x,label\n1,A\nz,B\n", `line 3, column 1 (x): expected a finite number, found "z"`},
		{"x,label\nNaN,A\n", `line 2, column 1 (x): expected a finite number, found "NaN"`},
		{"x,label\n1\n", "line 2: wrong number of fields"},
		{"x,x\n1,A\n", `two columns are called "x": expected distinct names`},
		{"x,label\n1,\n", "expected a label, found nothing"},
	} {
		_, err := Decode(strings.NewReader(tt.in))
		require.Check(t, err != nil && err.Error() == tt.want, "%q: got %v, want %s", tt.in, err, tt.want)
	}
	const text = "x,label\n0,a\n1,b\n"
	d, err := DecodeUpTo(strings.NewReader(text), 2)
	require.Check(t, err == nil && d.Len() == 2, "%v %v", d, err)
	for _, wide := range []string{strings.Repeat("0,", mostFields) + "0\n", "x,label\n0,a\n" + strings.Repeat(",", mostFields)} {
		require.Is(t, require.Err(Decode(strings.NewReader(wide))), ErrTooLarge, "too wide")
	}
	if _, err := Decode(strings.NewReader("x,label\n\"" + strings.Repeat(",", mostFields) + "\",a\n")); err == nil || errors.Is(err, ErrTooLarge) { // one field
		t.Error(err)
	}
	_, err = DecodeUpTo(strings.NewReader(text), 1)
	require.Check(t, errors.Is(err, ErrTooLarge) && err.Error() == "expected at most 1 row", "%v", err)
}

func TestValidate(t *testing.T) {
	t.Parallel()
	ok := func() *Data {
		return &Data{
			Features: []string{"a", "b"}, Label: "label", X: mat.NewDense(2, 2, []float64{1, 2, 3, 4}),
			Classes: []string{"A", "B"}, Y: []int{1, 0},
		}
	}
	require.NoError(t, ok().Validate())
	for want, spoil := range map[string]func(d *Data){
		"data without points: expected at least one row and one feature": func(d *Data) { d.X = nil },
		"1 names for 2 features": func(d *Data) { d.Features = d.Features[:1] },
		"1 labels for 2 rows":    func(d *Data) { d.Y = d.Y[:1] },
		`two columns are called "label": expected distinct names`:                              func(d *Data) { d.Features[1] = "label" },
		"expected a column name, found nothing":                                                func(d *Data) { d.Label = "" },
		"expected a label, found nothing":                                                      func(d *Data) { d.Classes[0] = "" },
		"classes: expected distinct labels in sorted order":                                    func(d *Data) { d.Classes[0] = "C" },
		"row 1: class index 2, expected 0 to 1":                                                func(d *Data) { d.Y[0] = 2 },
		"row 2: class index -1, expected 0 to 1":                                               func(d *Data) { d.Y[1] = -1 },
		`class "B" has no rows`:                                                                func(d *Data) { d.Y[0] = 0 },
		"row 2, a: expected a finite number, found NaN":                                        func(d *Data) { d.X.Set(1, 0, math.NaN()) },
		"row 1, b: expected a finite number, found -Inf":                                       func(d *Data) { d.X.Set(0, 1, math.Inf(-1)) },
		`expected a column name without control characters or surrounding spaces, found "a\n"`: func(d *Data) { d.Features[0] = "a\n" },
	} {
		d := ok()
		spoil(d)
		err := d.Validate()
		require.Check(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
		require.Check(t, d.Encode(new(strings.Builder)) != nil, "Encode accepts data with %s", want)
	}
	d := ok()
	d.Validate()
	require.Check(t, len(d.Features) == 2 && d.Features[1] == "b", "Validate changes the data")
}

func TestFromRows(t *testing.T) {
	t.Parallel()
	d, err := FromRows([]string{"x"}, [][]float64{{1}, {3}}, []string{"+0.5", "-2"})
	require.Must(t, err == nil && d.X.At(1, 0) == 3 && d.Label == "label" && cmp.Equal(d.Classes, []string{"-2", "0.5"}) && cmp.Equal(d.Features, []string{"x"}),
		"%+v, %v", d, err)
	require.Fails(t, require.Err(FromRows([]string{"x"}, [][]float64{{1}, {3, 4}}, []string{"1", "2"})), "point 2 has 2 coordinates",
		"a point with a coordinate too many")
	d = require.Value(FromPoints([][2]float64{{1, 2}, {3, 4}, {5, 6}}, []string{"+1", "-1", "1.0"}))(t)
	require.Equal(t, cmp.Diff(lines("x1,x2,label", "1,2,1", "3,4,-1", "5,6,1"), show(d)), "", "diff")
	for _, tt := range []struct {
		points [][2]float64
		labels []string
	}{
		{nil, nil},
		{[][2]float64{{1, 2}}, []string{"A", "B"}},
		{[][2]float64{{1, math.NaN()}}, []string{"A"}},
		{[][2]float64{{1, 2}}, []string{" "}},
	} {
		require.Fails(t, require.Err(FromPoints(tt.points, tt.labels)), "", "%v %v accepted", tt.points, tt.labels)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	d := read(t, "a,b,c,label\n1,2,3,A\n4,5,6,B\n")
	c := require.Value(d.Columns([]string{"c", "a"}))(t)
	require.Equal(t, cmp.Diff(lines("c,a,label", "3,1,A", "6,4,B"), show(c)), "", "diff")
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "no features chosen: expected at least one of a, b, c"},
		{[]string{"a", "A"}, `no feature "A": expected one of a, b, c`},
		{[]string{"a", "a"}, `feature "a" is chosen twice`},
	} {
		_, err := d.Columns(tt.names)
		require.Check(t, err != nil && err.Error() == tt.want, "got %v, want %s", err, tt.want)
	}
}

func TestBinary(t *testing.T) {
	t.Parallel()
	two := read(t, "x,label\n1,-1\n2,10\n3,-1\n")
	three := read(t, "x,label\n1,A\n2,B\n3,C\n")
	for _, tt := range []struct {
		d        *Data
		positive string
		y        []float64
		pos, neg string
		err      string
	}{
		{two, "", []float64{-1, 1, -1}, "10", "-1", ""},
		{two, "+10.0", []float64{-1, 1, -1}, "10", "-1", ""},
		{two, "-1", []float64{1, -1, 1}, "-1", "10", ""},
		{two, "2", nil, "", "", `no class "2": expected the positive class to be one of -1, 10`},
		{three, "B", []float64{-1, 1, -1}, "B", "not B", ""},
		{three, "", nil, "", "", "3 classes: choose the positive class (positive) among A, B, C"},
		{&Data{Classes: []string{"A"}, Y: []int{0}}, "", nil, "", "", "a single class (A): expected two or more"},
	} {
		y, pos, neg, err := tt.d.Binary(tt.positive)
		message := ""
		if err != nil {
			message = err.Error()
		}
		require.Equal(t, cmp.Diff([]any{tt.y, tt.pos, tt.neg, tt.err}, []any{y, pos, neg, message}), "", "Binary(%q) (-want +got)", tt.positive)
	}
}

func TestSortLabels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"10 2 -1 -2 1e3 0.5", "-2 -1 0.5 2 10 1e3"},
		{"10 2 x", "10 2 x"},
		{"b a B", "B a b"},
	} {
		got := strings.Fields(tt.in)
		SortLabels(got)
		require.Equal(t, strings.Join(got, " "), tt.want, "%s", tt.in)
	}
}

// A name or a string with which another format begins is read back from an exported file.
func TestExportsBeginLikeNoOtherFormat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{">", "@", "<", "{", "[{", "[[", "//", "% fat", "#>", "1:2", "sep=;", "５", "'−1", `="1"`} {
		vectors := require.Value(FromRows([]string{name}, [][]float64{{1}, {2}}, []string{"a", "b"}))(t)
		words := &Data{Label: "l", Classes: vectors.Classes, Y: vectors.Y, Objects: &Strings{Name: name, Values: []string{name, "two"}}}
		for _, d := range []*Data{vectors, words} {
			again := require.Value(Read(strings.NewReader(require.Written(t, d.Export)), "again.csv", Mapping{Label: d.Label}, Limits{}))(t)
			require.Equal(t, again.Hash(), d.Hash(), "%s named %q", d.Kind(), name)
		}
	}
}
