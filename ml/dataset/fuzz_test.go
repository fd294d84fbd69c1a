package dataset

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
)

// fuzzLimits are small, so that the fuzzer meets them.
var fuzzLimits = Limits{Bytes: 4096, Rows: 50, Columns: 10}

var fuzzSeeds = []string{
	"x1,x2,label\n1.5,2,A\n-3,4e-5,B\n",
	"1,5;2;A\r\n-3;4,25;B\r\n",
	"\ufeffx\ty\tk\n1\t2\t+1\n3\t4\t-1\n",
	"  1   2 A\n3 4 \"B b\" \n# end\n",
	"\"a \"\"q\"\"\",\"b\nc\",a\n1,2,\"x, y\"\n3,4,z\n",
	",x,y,label\n0,1,2,A\n1,3,4,B\n,,,\n",
	"x,y,label\n1,,A\n?,NaN,B\n1e999,-Inf,C\n",
	"+1 1:0.5 3:2 # note\n-1 2:-1\n1\n",
	"1 qid:1 1:0.5\n",
	"@relation r\n@attribute 'a b' real\n@attribute k {A,'B b'}\n@data\n1,A\n% c\n2,'B b'\n",
	"@attribute x {0,1}\n@attribute s string\n@data\n{0 1}\n{1 'a, b'}\n",
	"A,1\nB,2\n",
	"label\n1\n",
	"sequence,class\ncat,a\ncart,b\n",
	"#strings\nsequence,label\n1 2,3\n\"a,\"\"b\",4\n\"#c\",3\n",
	"#strings\ns,label\n,a\nb,b\n",
	">s1 plant\nACGT\nAC\n;c\n>s2 x y\nGT\n",
	">a\nAC\n>b\n",
	"class;text\na;science is organized\nb;wisdom is organized life\n",
	`{"n":3,"edges":[[0,1],[2,1],[1,0]],"labels":["C",6,"<O>"],"label":"a"}` + "\n\n" + ` {"class":2,"n":1}`,
	`{"n":2,"edges":[[0,1]]}` + "\n" + `{"n":2,"edges":[[0,2],[1,1]]}`,
	graphML,
	"<graphml><graph edgedefault='directed'/></graphml>",
	"<graphml><key id='k' for='edge'/><key id='c' for='graph'/><graph edgedefault='directed'><data key='c'>a</data><node id='1'/><node id='2'/><edge source='2' target='1'><data key='k'>x</data></edge></graph><graph><data key='c'>b</data><node/></graph></graphml>",
	`{"n":3,"directed":true,"edges":[[2,1],[0,1]],"edge_labels":["a",1],"label":"a"}` + "\n" + `{"n":1,"label":"b"}`,
	"#graphs\ngraph,label\n\"{\"\"n\"\":2,\"\"directed\"\":true,\"\"edges\"\":[[1,0]],\"\"edge_labels\"\":[\"\"x\"\"]}\",3\n{\"n\":1},4\n",
	"#graphs\ngraph,label\n\"{\"\"n\"\":2,\"\"edges\"\":[[0,1]]}\",3\n{\"n\":1},=1+1\n",
	"day;share;price;label\n1.2.2024;12 %;1.234.567;A\n2.2.2024;;1.000,5;B\n#N/A;3 %;?;A\n",
	"\xff\xfex\x00,\x00y\x00\n\x001\x00,\x00A\x00\n\x00",
	"x,y\n1,gr\xfcn\n2,\x93rot\x94\n",
	"#precomputed\nnumber,K1,K2,label\n1,1,0.5,a\n2,0.5,1,b\n",
}

// sameData compares all of d but for the sign of zero.
func sameData(t require.T, a, b *Data) {
	t.Helper()
	require.Equal(t, cmp.Diff([]any{a.Features, a.Label, a.Classes, a.Y}, []any{b.Features, b.Label, b.Classes, b.Y}), "", "(-a +b)")
	require.Must(t, a.Kind() == b.Kind(), "%s became %s", a.Kind(), b.Kind())
	p, ok := a.Objects.(*Precomputed)
	switch {
	case a.Kind() == KindStrings, a.Kind() == KindGraphs:
		require.Equal(t, cmp.Diff(a.Objects, b.Objects), "", "(-a +b)")
	case ok:
		q := b.Objects.(*Precomputed)
		diff := cmp.Diff(p.Number, q.Number)
		require.Check(t, diff == "" && mat.Equal(p.K, q.K), "the values differ, or the numbers: %s", diff)
	case !mat.Equal(a.X, b.X):
		t.Error("the values differ")
	}
}

// roundTrip checks that d is valid, that Decode undoes Encode and that the bytes are settled.
func roundTrip(t require.T, d *Data) {
	t.Helper()
	require.NoError(t, d.Validate())
	text := require.Written(t, d.Encode)
	back, err := Decode(strings.NewReader(text))
	require.Must(t, err == nil, "Decode: %v\n%s", err, text)
	sameData(t, d, back)
	require.Equal(t, require.Written(t, back.Encode), text, "encoded again")
	require.Check(t, d.Hash() == back.Hash(), "the hashes differ")
}

// isRead reports whether a file was read. It checks the data, or the error.
func isRead(t *testing.T, d *Data, err error) bool {
	t.Helper()
	if err != nil {
		checkFault(t, err)
		return false
	}
	roundTrip(t, d)
	return true
}

// checkFault checks that err is an *Error with a message.
func checkFault(t *testing.T, err error) {
	t.Helper()
	var e *Error
	require.Check(t, errors.As(err, &e) && e.Message != "" && e.Line >= 0 && e.Column >= 0,
		"%T %v: expected an *Error with a message", err, err)
}

func FuzzParseTable(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s), "points.csv")
	}
	f.Add([]byte("1\n-1 1:2\n"), "points.svm")
	f.Add([]byte("1,2\n"), "points.arff")
	f.Add([]byte(`[{"x":1,"y":null,"class":"a"},{"x":2.5,"z":true,"class":"b"}]`), "records.json")
	f.Add([]byte(`{"x":[1,2],"class":["a","b"]}`), "columns.json")
	f.Add([]byte(`{"x":{"0":1,"1":2},"class":{"0":"a","1":"b"}}`), "named.json")
	f.Add([]byte(`[["x","class"],[1,"a"],[2,"b"]]`), "lists.json")
	f.Add([]byte(`{"columns":["x","class"],"index":[0,1],"data":[[1,"a"],[2,"b"]]}`), "split.json")
	f.Add([]byte(`{"n":2,"rows":[{"a":{"x":1},"class":"a"},{"a":{"x":2},"class":"b"}]}`), "wrapped.json")
	f.Add([]byte("\"hp\" \"wt\"\n\"1\" 2 a\n\"2\" 3 b\n"), "r.txt")
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4a\xd4\x49\xe2\x32\xd4\x31\xe4\x02\x04\x00\x00\xff\xff"), "points.csv.gz")
	f.Add([]byte(require.Zip(f, "a/1", "cat", "b/2", "cart")), "texts.zip")
	for _, name := range []string{"workbook.xlsx", "workbook-dates.xlsx", "workbook-sheets.xlsx"} {
		raw := require.Value(os.ReadFile("testdata/spreadsheets/" + name))(f)
		f.Add(raw, name)
	}
	f.Fuzz(func(t *testing.T, raw []byte, file string) {
		if s, err := ReadLines(bytes.NewReader(raw), file, fuzzLimits); err != nil {
			checkFault(t, err)
		} else if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		table, err := ParseTable(bytes.NewReader(raw), file, fuzzLimits)
		if err != nil {
			checkFault(t, err)
			return
		}
		require.Must(t, len(table.Columns) != 0 && len(table.Columns) <= fuzzLimits.Columns && len(table.Lines) != 0 && len(table.Lines) <= fuzzLimits.Rows,
			"%d columns, %d rows", len(table.Columns), len(table.Lines))
		names := make(map[string]bool)
		for _, c := range table.Columns {
			require.Must(t, c.Len() == len(table.Lines) && !names[c.Name] && checkText("name", c.Name) == nil,
				"column %q: %d cells for %d rows, or not a name of its own", c.Name, c.Len(), len(table.Lines))
			names[c.Name] = true
		}
		last := 0
		for _, l := range table.Lines {
			require.Must(t, l >= last && (l != last || table.Format == "graphml" || table.Format == "json") && l <= 1+lineEnds(string(raw)) || isArchive(string(raw)) || bytes.HasPrefix(raw, []byte(gzipMagic)),
				"lines %v of %d", table.Lines, 1+lineEnds(string(raw)))
			last = l
		}
		m, obvious := table.Guess()
		all := Mapping{Kind: KindVectors, Label: m.Label, Missing: MissingMedian} // words among them
		for _, c := range table.Columns {
			if c.Name != m.Label {
				all.Features = append(all.Features, c.Name)
			}
		}
		d, err := table.Data(all)
		isRead(t, d, err)
		for _, m.Missing = range []Missing{MissingDrop, MissingMedian} {
			d, err := table.Data(m)
			isRead(t, d, err)
		}
		m.Missing = MissingError
		if d, err := table.Data(m); isRead(t, d, err) {
			// The canonical form is a file like any other, unless names are numbers.
			if d.Kind() != KindPrecomputed && !isHeader(append(slices.Clip(d.objects().header()), d.Label), ',') {
				return
			}
			again, err := Read(strings.NewReader(require.Written(t, d.Export)), "again.csv", Mapping{Label: d.Label}, Limits{})
			require.Must(t, err == nil, "the canonical form is not read: %v", err)
			sameData(t, d, again)
		}
		require.Check(t, !obvious || m.Kind != "" || len(m.Features) == len(table.Columns)-1,
			"obvious without all columns: %v", m)
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Decode(bytes.NewReader(raw))
		isRead(t, d, err)
	})
}
