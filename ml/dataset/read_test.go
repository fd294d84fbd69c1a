package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

// show writes data on one line a row, for comparison.
func show(d *Data) string {
	var b strings.Builder
	_ = d.write(&b, csvField)
	return b.String()
}

func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

func TestReadAccepts(t *testing.T) {
	t.Parallel()
	want := lines("x1,x2,label", "1.5,2,A", "-3,4e-05,B")
	accepts := func(name, file, in, want string, obvious bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := require.Value(ParseTable(strings.NewReader(in), file, Limits{}))(t)
			m, sure := table.Guess()
			require.Check(t, sure == obvious, "Guess: %v, obvious %v", m, sure)
			require.Equal(t, cmp.Diff(want, show(require.Value(table.Data(m))(t))), "", "guessed (-want +got)")
			d := require.Value(Read(strings.NewReader(in), file, Mapping{}, Limits{}))(t)
			require.Equal(t, cmp.Diff(want, show(d)), "", "Read (-want +got)")
			require.Equal(t, d.Validate(), nil, "d.Validate()")
		})
	}
	reads := func(name, in, want string) { accepts(name, "", in, want, true) }
	asks := func(name, in, want string) { accepts(name, "", in, want, false) } // which column is the label

	reads("names like statements and code", "Set = c(O2);y = f(x);label\n1.5;2;A\n-3;4e-5;B\n", lines("Set = c(O2),y = f(x),label", "1.5,2,A", "-3,4e-05,B"))
	reads("comma", "x1,x2,label\n1.5,2,A\n-3,4e-5,B\n", want)
	reads("no newline at the end", "x1,x2,label\n1.5,2,A\n-3,4e-5,B", want)
	reads("semicolon", "x1;x2;label\n1.5;2;A\n-3;4e-5;B\n", want)
	reads("tab", "x1\tx2\tlabel\n1.5\t2\tA\n-3\t4e-5\tB\n", want)
	reads("spaces", "  x1   x2 label\n 1.5   2   A \n\t-3 4e-5\tB\n", want)
	reads("no header, comma", "1.5,2,A\n-3,4e-5,B\n", want)
	reads("no header, spaces", "1.5 2 A\n-3 4e-5 B\n", want)
	reads("no header, label first", "A,1.5,2\nB,-3,4e-5\n", want)
	reads("CRLF", "x1,x2,label\r\n1.5,2,A\r\n-3,4e-5,B\r\n", want)
	reads("CR", "x1,x2,label\r1.5,2,A\r-3,4e-5,B\r", want)
	reads("byte order mark", "\ufeffx1,x2,label\n1.5,2,A\n-3,4e-5,B\n", want)
	reads("blank and comment lines", "# made by hand\n\nx1,x2,label\n \n1.5,2,A\n#-9,9,A\n-3,4e-5,B\n\n\n", want)
	reads("numpy header comment", "# x1 x2 label\n1.5 2 A\n-3 4e-5 B\n", want)
	reads("blanks around fields", "x1 , x2 ,label\n 1.5,  2, A\n-3 ,4e-5 ,\tB\n", want)
	reads("plus signs and short forms", "x1,x2,label\n+1.5,2.,A\n-3.0,.4E-4,B\n", want)
	reads("quoted", "\"x1\",\"x2\",\"label\"\n\"1.5\",2,\"A\"\n-3,\"4e-5\" ,B\n", want)
	reads("quoted, spaces", "\"x1\" \"x2\" \"label\"\n1.5 2 \"A\" \n-3 4e-5 \"B\"\n", want)
	reads("decimal comma, semicolon", "x1;x2;label\n1,5;2;A\n-3;4e-5;B\n", want)
	reads("decimal comma, tab", "1,5\t2\tA\n-3\t4e-5\tB\n", want)
	reads("decimal comma, spaces", "x1 x2 label\n1,5 2,0 A\n-3 0,4e-4 B\n", want)
	reads("semicolons at the ends, spaces", "% x1 x2 label\n1.5 2 A;\n -3 4e-5 B;\n", want)
	reads("semicolons at the ends, comma", "1.5, 2, A;\n-3, 4e-5, B;\n\n", want)
	reads("end of file in DOS", "x1,x2,label\r\n1.5,2,A\r\n-3,4e-5,B\r\n\x1a", want)
	reads("decimal comma, two columns", "1,5;A\n2,5;B\n", lines("x1,label", "1.5,A", "2.5,B"))
	reads("separator at every end", "1.5,2,A,\n-3,4e-5,B,\n", want)
	reads("separator at every end, header", "x1;x2;label;\n1.5;2;A;\n-3;4e-5;B;\n", want)
	reads("empty rows of a spreadsheet", "x1,x2,label\n1.5,2,A\n-3,4e-5,B\n,,\n,,\n", want)
	reads("long line", "x1,x2,label\n1.5"+strings.Repeat(" ", 100_000)+",2,A\n-3,4e-5,B\n", want)

	reads("label called class", "class,x1,x2\n3,1,2\n4,5,6\n", lines("x1,x2,class", "1,2,3", "5,6,4"))
	reads("label in front, ±1", "side,x1,x2\n+1,1,2\n-1,5,6\n", lines("x1,x2,side", "1,2,1", "5,6,-1"))
	reads("label in front, 0-1", "0 1 2\n1 5 6\n", lines("x1,x2,label", "1,2,0", "5,6,1"))
	asks("both ends may be labels", "a,x,b\n0,1,0\n1,5,1\n", lines("a,x,b", "0,1,0", "1,5,1"))
	asks("no end looks like a label", "1,2,7\n3,4,8\n", lines("x1,x2,label", "1,2,7", "3,4,8"))
	reads("coded classes under a header", "a,b,kind\n1,2,1\n3,4,1\n5,6,2\n7,8,2\n",
		lines("a,b,kind", "1,2,1", "3,4,1", "5,6,2", "7,8,2"))
	reads("one number, many spellings", "x,label\n1,+1\n2,1.0\n3,-1\n4.0D-01,1e0\n",
		lines("x,label", "1,1", "2,1", "3,-1", "0.4,1"))
	reads("text labels keep their spelling", "x,label\n1,1.0\n2,1\n3,one\n", lines("x,label", "1,1.0", "2,1", "3,one"))
	reads("quotes, separators and line ends in names", "\"a, \"\"b\"\"\",\"c\nd\",label\n1,2,\"yes, sir\"\n3,4,\"n\t\"\"o\"\n",
		lines(`"a, ""b""",c d,label`, `1,2,"yes, sir"`, `3,4,"n ""o"`))
	reads("the same name twice", "x,x,,x 2,x,label\n1,2,3,4,5,A\n1,2,3,4,5,B\n",
		lines("x,x 3,column 3,x 2,x 4,label", "1,2,3,4,5,A", "1,2,3,4,5,B"))
	asks("row numbers without a name", ",x1,x2,label\n0,1.5,2,A\n1,-3,4e-5,B\n", want)
	reads("header that numbers the features", "0,1,label\n1.5,2,A\n-3,4e-5,B\n",
		lines("0,1,label", "1.5,2,A", "-3,4e-05,B"))
	asks("header that numbers the features, with row numbers", ",0,1,label\n0,1.5,2,A\n1,-3,4e-5,B\n",
		lines("0,1,label", "1.5,2,A", "-3,4e-05,B"))
	reads("a first row that only counts", "1,2,A\n3,4,B\n", lines("x1,x2,label", "1,2,A", "3,4,B"))
	reads("text in other scripts", "größe,高さ,Ответ\n1,2,да\n3,4,нет\n", lines("größe,高さ,Ответ", "1,2,да", "3,4,нет"))
	reads("negative zero", "x,label\n-0,A\n0,B\n", lines("x,label", "0,A", "0,B"))
	reads("numbers too small for float64", "x,label\n1e-999,A\n1,B\n", lines("x,label", "0,A", "1,B"))

	reads("libsvm", "+1 1:0.5 3:2\n-1 2:-1\n1\n", lines("x1,x2,x3,label", "0.5,0,2,1", "0,-1,0,-1", "0,0,0,1"))
	reads("libsvm with comments", "# from svm_learn\n+1.0 1:0.5 # first\n\n-1 1:2\r\n",
		lines("x1,label", "0.5,1", "2,-1"))
	reads("libsvm with text labels", "cat 1:1\ndog 1:2\n", lines("x1,label", "1,cat", "2,dog"))
	accepts("libsvm, first line without pairs, by extension", "a.libsvm", "1\n-1 1:2\n",
		lines("x1,label", "0,1", "2,-1"), true)
	reads("libsvm, first line without pairs", "-1\n+1 1:0.5 3:2\n", lines("x1,x2,x3,label", "0,0,0,-1", "0.5,0,2,1"))
	reads("libsvm, first lines without pairs", "# from a sparse matrix\n0\n1 # of zeros\n\n2\r\n1 1:2 2:0.5\n", lines("x1,x2,label", "0,0,0", "0,0,1", "0,0,2", "2,0.5,1"))
	for _, in := range []string{"2020-01-31 16:02:00,1\n", "2020-01-31 16:02;0,5\n", "1\n2\n3\n", "1\n", "-1\n1", "1\n@data\n", "1\n>2\n"} {
		require.Equal(t, detect(in, ""), "csv", "format of %q", in)
	}
	reads("arff", "% comment\n@RELATION toy\n\n@attribute 'the x' REAL\n@attribute y integer\n@attribute class {A, 'B b'}\n@DATA\n1.5, 2,A\n% more\n-3,4e-5,'B b'\n",
		lines("the x,y,class", "1.5,2,A", "-3,4e-05,B b"))
	reads("arff, comments behind types", "@relation toy % a\n@attribute x numeric % cm\n@attribute k {A,B} % kinds\n@data\n1,A\n2,B\n",
		lines("x,k", "1,A", "2,B"))
	reads("arff, comments behind rows", "@attribute x numeric\n@attribute k {'A','50 %'}\n@data\n1,50 %\n2,'A'\t% c\n3,A % one, two\n",
		lines("x,k", "1,50 %", "2,A", "3,A"))
	reads("arff, between tabs", "@attribute x\tnumeric\n@attribute k {'A b',B}\n@attribute y real\n@data\n1\t'A b'\t 3\n2\t,\tB,\t4\n",
		lines("x,y,k", "1,3,A b", "2,4,B"))
	reads("arff of KEEL", "@relation r\n@attribute x real [0, 9]\n@attribute k {A,B}\n@attribute z {0,1}\n@inputs x, z\n@outputs k\n@data\n1, A, 0\n2, B, 1\n",
		lines("x,z,k", "1,0,A", "2,1,B"))
	reads("arff, class not last", "@relation toy\n@attribute kind{0,1}\n@attribute x numeric\n@attribute y numeric\n@data\n0,1,2\n1,3,4\n",
		lines("x,y,kind", "1,2,0", "3,4,1"))
	reads("arff, quoted braces and escapes", "@relation toy\n@attribute \"a\\\"b\" numeric\n@attribute k {'}','it\\'s'}\n@data\n1,'}'\n2,'it\\'s'\n",
		lines(`"a""b",k`, "1,}", `2,"it's"`))
	reads("arff, line ends and tabs in texts", "@attribute x real\n@attribute k {'a\\nb','c\\td'}\n@data\n1,'a\\nb'\n2,'c\\td'\n",
		lines("x,k", "1,a b", "2,c d"))
	reads("arff, sparse rows", "@attribute x real\n@attribute y real\n@attribute k {B,A,'c, d'}\n@data\n{0 1.5}\n{ 1 -3 , 2 'c, d' }\n{}\n{0 1,1 2,2 A}\n",
		lines("x,y,k", "1.5,0,B", `0,-3,"c, d"`, "0,0,B", "1,2,A"))
	table := require.Value(ParseTable(strings.NewReader("@attribute colour {'',red}\n@attribute note string\n@attribute k {A,B}\n@data\n{1 ''}\n{0 red, 1 'x', 2 B}\n"), "f", Limits{}))(t)
	require.Slices(t, slices.Concat(table.Columns[0].list(), table.Columns[1].list(), table.Columns[2].list()), []string{"", "red", "", "x", "A", "B"}, "sparse rows of empty texts")
	long := strings.Repeat("b", 100)
	require.Equal(t, strings.Join(require.Value(ParseTable(strings.NewReader(long+"c,label\n1,A\n2,B\n"), "f", Limits{}))(t).Notes, "; "), `names of more than 100 characters shortened ("`+long[:40]+`"…)`, "notes")
	reads("long names", long+"c,"+long+"d,label\n1,2,A\n3,4,B\n", lines(long[:99]+"…,"+long[:98]+" 2,label", "1,2,A", "3,4,B"))
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("1,", 201) + "1\n"
	spoiled := "" // numbers but for one
	for i := range 20 {
		spoiled += fmt.Sprintf("1,%d.5\n", i)
	}
	spoiled = strings.Replace(spoiled, "1,6.5", "1,7a", 1)
	many := "x,label\n"
	for i := range 101 {
		many += fmt.Sprintf("1,c%d\n1,c%d\n1,c%d\n", i, i, i)
	}
	arff := "@relation r\n@attribute x numeric\n@attribute k {A,B}\n"
	tests := []struct {
		name, in, want string
		m              Mapping
		tooLarge       bool
	}{
		{name: "text among numbers", in: "x1,x2,label\n1,2,A\n1,2,A\n\n\n1,2,A\n1,abc,B\n", want: `f, line 7, column 2 (x2): expected a number, found "abc": correct it or remove the row`},
		{name: "the first of several faults", in: "x1,x2,label\n1,2,A\n1,bad,B\nworse,2,B\n", want: `f, line 3, column 2 (x2): expected a number, found "bad": correct it or remove the row`},
		{name: "text in the first line", in: "1,abc,A\n3,4,B\n", want: `f, line 1, column 2 (x2): expected a number, found "abc": correct it or remove the row`},
		{name: "column of words", in: "x,name,label\n1,Ann,A\n2,Bob,B\n", want: `f, line 2, column 2 (name): expected a number, found "Ann": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		{name: "no numbers at all", in: "a,b\nu,v\nw,x\n", m: Mapping{Kind: KindVectors}, want: `f, line 2, column 1 (a): expected a number, found "u": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		{name: "long text is cut", in: "x,label\n1,A\n" + strings.Repeat("z", 50) + ",B\n", want: `f, line 3, column 1 (x): expected a number, found "` + strings.Repeat("z", 40) + `"…: correct it or remove the row`},
		{name: "hexadecimal", in: "x,label\n1,A\n0x10,B\n", want: `f, line 3, column 1 (x): expected a number, found "0x10": correct it or remove the row`},
		{name: "thousands", in: "x,label\n1,A\n\"1,234\",B\n", want: `f, line 3, column 1 (x): expected a number with a decimal point, found "1,234": write all numbers of the column alike`},
		{name: "decimal point and comma", in: "x;label\n1.5;A\n2,5;B\n", want: `f, line 3, column 1 (x): expected a number with a decimal point, found "2,5": write all numbers of the column alike`},
		{name: "missing value", in: "x,y,label\n1,2,A\n1,,B\n", want: `f, line 3, column 2 (y): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row`},
		{name: "missing value, NA", in: "x,y,label\n1,NA,A\n1,2,B\n", want: `f, line 2, column 2 (y): expected a number, found "NA": choose how to handle missing values (missing: drop or median), or remove the row`},
		{name: "missing value, first line of no header", in: "?,2,A\n1,2,B\n", want: `f, line 1, column 1 (x1): expected a number, found "?": choose how to handle missing values (missing: drop or median), or remove the row`},
		{name: "missing value in every row", in: "x,y,label\n?,2,A\n?,2,B\n", want: `f, line 2, column 1 (x): expected a number, found "?": choose how to handle missing values (missing: drop or median), or remove the row`},
		{name: "NaN", in: "x,label\n1,A\nNaN,B\n", want: `f, line 3, column 1 (x): expected a number, found "NaN": choose how to handle missing values (missing: drop or median), or remove the row`},
		{name: "Inf", in: "x,label\n1,A\n-Inf,B\n", want: `f, line 3, column 1 (x): expected a finite number, found "-Inf": correct it or remove the row`},
		{name: "beyond float64", in: "x,label\n1,A\n1e999,B\n", want: `f, line 3, column 1 (x): expected a finite number, found "1e999": correct it or remove the row`},
		{name: "missing label", in: "x,label\n1,A\n2,\n3,B\n", want: `f, line 3, column 2 (label): expected a label, found nothing: fill it in, or leave the row out (missing: drop)`},
		{name: "NaN label", in: "x,label\n1,1\n2,nan\n3,-1\n", want: `f, line 3, column 2 (label): expected a label, found "nan", a missing value: fill it in, or leave the row out (missing: drop)`},
		{name: "infinite label", in: "x,label\n1,1\n2,inf\n3,-1\n", want: `f, line 3, column 2 (label): expected a finite label, found "inf": correct it or remove the row`},
		{name: "long label", in: "x,label\n1,A\n2," + strings.Repeat("b", 101) + "\n", want: `f, line 3, column 2 (label): expected a label of at most 100 characters, found "` + strings.Repeat("b", 40) + `"…`},
		{name: "a single class", in: "x,label\n1,A\n2,A\n", want: `f, column 2 (label): expected at least two classes, found only "A"`},
		{name: "one class spelt twice", in: "x,label\n1,1\n2,1.0\n", want: `f, column 2 (label): expected at least two classes, or two values to fit, found only "1"`},
		{name: "a word among measurements", in: "x,y\n" + spoiled, want: `f, line 8, column 2 (y): expected a number, as in most rows, found "7a": correct it or remove the row`},
		{name: "too many classes", in: many, want: `f, column 2 (label): expected a label, found 101 distinct values in 303 rows: these look like names; choose another label column`},
		{name: "empty file", in: "", want: `f: expected at least one row of data, found an empty file`},
		{name: "blank file", in: "\n \n# nothing\n", want: `f: expected at least one row of data, found an empty file`},
		{name: "only a header", in: "x,y,label\n", want: `f: expected at least one row of data, found only a header`},
		{name: "a single column", in: "x\n1\n2\n", want: `f: expected a label and at least one feature, found a single column: separate fields by comma, semicolon, tab or spaces`},
		{name: "short row", in: "x,y,label\n1,2,A\n1,2\n", want: `f, line 3: expected 3 fields separated by comma, found 2: complete the row, with NA for a missing value`},
		{name: "long row", in: "1;2;A\n1;2;A;4\n1;2;B\n", want: `f, line 2: expected 3 fields separated by semicolon, found 4: put quotes around a field that contains the separator`},
		{name: "short row after a quoted line end", in: "x,\"y\nz\",label\n1,2,A\n1,2\n", want: `f, line 4: expected 3 fields separated by comma, found 2: complete the row, with NA for a missing value`},
		{name: "missing cell among spaces", in: "x y label\n1 2 A\n1 B\n3 4 B\n", want: `f, line 3: expected 3 fields separated by spaces, found 2: complete the row, with NA for a missing value`},
		{name: "open quote", in: "x,label\n1,A\n2,\"B\n3,A\n", want: `f, line 3, column 2: expected a closing quote, found the end of the file: close it, or write a quote within a field twice`},
		{name: "text after a quote", in: "x,label\n1,\"A\"b\n2,B\n", want: `f, line 2, column 2: expected a separator after the closing quote, found "b": write a quote within a field twice`},
		{name: "broken UTF-16", in: "\xff\xfex\x00\x00\xdc", want: `f, line 1: expected text, found invalid UTF-16: save the file as UTF-8`},
		{name: "binary", in: "x,label\n1,\x00\n", want: `f, line 2: expected UTF-8 text, found a zero byte: this is a binary file or UTF-16`},
		{name: "SQL", in: "-- dump\nCREATE TABLE t (x REAL, k TEXT);\nINSERT INTO t VALUES (1,'a');\n", want: `f: expected a table, found SQL statements: export the table or the result of a query as CSV`},
		{name: "LaTeX", in: "\\begin{tabular}{ll}\na & k \\\\\n1 & a \\\\\n\\end{tabular}\n", want: `f: expected a table, found LaTeX: save the table as CSV`},
		{name: "libffm", in: "1 0:1:0.5 1:2:1\n0 0:1:1.5 1:3:1\n", want: `f: expected a table, found lines of libffm, label field:index:value: remove the fields and their colons to make it LIBSVM`},
		{name: "pairs", in: "1 height:0.5 b_2:-1e3\n0 b_2:1\n", want: `f: expected a table, found pairs name:value: write them as CSV, or as LIBSVM with a number for each name, label index:value`},
		{name: "conflict of Git", in: "x,y,c\n1,2,a\n<<<<<<< HEAD\n2,3,b\n=======\n2,4,b\n>>>>>>> main\n4,5,a\n", want: `f, line 3: expected a row, found a conflict mark of Git: resolve the conflict, keeping the rows of one side`},
		{name: "conflict of Git, first", in: "<<<<<<< HEAD\nx,c\n=======\ny,c\n>>>>>>> main\n1,a\n2,b\n", want: `f: expected a table, found a conflict mark of Git: resolve the conflict, keeping the rows of one side`},
		{name: "list of Stata", in: "\n     +--------+\n     | x    k |\n     |--------|\n  1. | 1    a |\n  2. | 2    b |\n     +--------+\n", want: `f: expected a table, found a frame without bars between the columns, as Stata lists data: save the table as CSV, in Stata with export delimited`},
		{name: "GeoJSON", in: `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"k":"a"}}]}`, want: `f: expected rows of numbers and words, found GeoJSON: export the points as CSV, with columns for their coordinates`},
		{name: "GeoJSON, sorted keys", in: "{\n \"features\": [{\"geometry\": {\"coordinates\": [[[1, 2]]], \"type\": \"Polygon\"}, \"type\": \"Feature\"}],\n \"type\": \"FeatureCollection\"}", want: `f: expected rows of numbers and words, found GeoJSON: export the points as CSV, with columns for their coordinates`},
		{name: "record with coordinates", in: `[{"geometry": {"coordinates": [1, 2]}, "k": "a"}]`, want: `f: record 1: "geometry.coordinates" is a list: expected a number or a string, each under its own key`},
		{name: "YAML", in: "- a: 1\n  k: a\n- a: 2\n  k: b\n", want: `f: expected a table, found YAML: save the rows as CSV or JSON`},
		{name: "SAS", in: "data a;\ninput x y k $;\ncards;\n1 2 A\n3 4 B\n;\nrun;\n", want: `f: expected a table, found statements of SAS, SPSS or Stata: save the data as CSV`},
		{name: "SPSS", in: "DATA LIST FREE / x y k.\nBEGIN DATA\n1 2 1\n3 4 0\nEND DATA.\n", want: `f: expected a table, found statements of SAS, SPSS or Stata: save the data as CSV`},
		{name: "Stata", in: "dictionary using a.raw {\n float x\n str1 k\n}\n1 A\n2 B\n", want: `f: expected a table, found statements of SAS, SPSS or Stata: save the data as CSV`},
		{name: "Matrix Market", in: "%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 5\n1 2 1\n2 1 4\n", want: `f: expected a table, found a Matrix Market file: save the matrix with its labels as CSV or LIBSVM`},
		{name: "Git LFS", in: "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 12345\n", want: `f: expected a table, found a pointer of Git LFS in place of the data: fetch them with git lfs pull`},
		{name: "a printed data frame", in: "   x  y  k\n0  1  2  a\n1  3  4  b\n.. ..  ...  ...\n9  5  6  b\n", want: `f, line 4: expected values, found ".." in place of rows that a program did not print: save the whole table as CSV`},
		{name: "a tibble", in: "# A tibble: 2 x 2\n      a k    \n  <dbl> <chr>\n1     1 a    \n2     2 b    \n", want: `f: expected a table, found a table as R prints it: save it with write.csv(…, "table.csv")`},
		{name: "SQL without a table", in: "INSERT INTO `t` VALUES (1,2.5,'a');\nINSERT INTO `t` VALUES (2,3.5,'b');\n", want: `f: expected a table, found SQL statements: export the table or the result of a query as CSV`},
		{name: "R", in: "# data\nd <- data.frame(x=c(1,2), k=c('a','b'))\n", want: `f: expected a table, found R code: save the table with write.csv(…, "table.csv")`},
		{name: "Python", in: "X = [[1,2],[3,4]]\ny = [0,1]\n", want: `f: expected a table, found program code: save the table as CSV`},
		{name: "another table below", in: "x,y,label\n1,2,A\n2,3,B\n\nname,unit\nx,cm\n", want: `f, line 5: expected 3 fields separated by comma, found 2: if another table begins here, move it to a file of its own`},
		{name: "another table of as many columns", in: "x,y,label\n1,2,A\n2,3,B\n\np,q,kind\n1,2,A\n", want: `f, line 5: expected values, as above, found what looks like names of columns (p, q, kind): move the second table to a file of its own`},
		{name: "a word below an empty line", in: "x,label\n1,A\n2,B\n\nlow,A\n1,B\n", want: `f, line 5, column 1 (x): expected a number, found "low": correct it or remove the row`},
		{name: "Vowpal Wabbit", in: "1 |f a:0.5 b:1\n-1 |f a:2\n", want: `f: expected a format that Margin Lab reads, found lines of Vowpal Wabbit: write them as CSV, or as LIBSVM with a number for each name, label index:value`},
		{name: "Vowpal Wabbit without values", in: "1 | cheap red\n-1 | old\n", want: `f: expected a format that Margin Lab reads, found lines of Vowpal Wabbit: write them as CSV, or as LIBSVM with a number for each name, label index:value`},
		{name: "words behind bars", in: "1 | dark red | A\n0 | light red | B\n", want: `f, line 1, column 2 (x2): expected a number, found "dark red": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		{name: "archive", in: "PK\x03\x04\x14\x00", want: `f: expected a zip archive, found a damaged one: not a valid zip file: save or upload the file again`},
		{name: "no encoding", in: "x,label\r\n1,gr\x81\x9dn\r\n2,rot\r\n", want: `f, line 2: expected UTF-8 text, found byte 0x81: save the file as UTF-8 (it may be in Shift-JIS or GBK)`},
		{name: "too many columns", in: wide + wide, want: `f, line 1: expected at most 201 columns, found 202`, tooLarge: true},

		{name: "unknown label", in: "x,y,label\n1,2,A\n3,4,B\n", m: Mapping{Label: "colour"}, want: `f: no column "colour": expected one of x, y, label`},
		{name: "unknown feature", in: "x,y,label\n1,2,A\n3,4,B\n", m: Mapping{Features: []string{"z"}}, want: `f: no column "z": expected one of x, y, label`},
		{name: "label as feature", in: "x,y,label\n1,2,A\n3,4,B\n", m: Mapping{Features: []string{"x", "label"}}, want: `f, column 3 (label): is the label and cannot be a feature as well`},
		{name: "feature twice", in: "x,y,label\n1,2,A\n3,4,B\n", m: Mapping{Features: []string{"x", "x"}}, want: `f, column 1 (x): chosen as a feature twice`},
		{name: "no features", in: "x,y,label\n1,2,A\n3,4,B\n", m: Mapping{Features: []string{}}, want: `f: expected at least one column of numbers besides the label`},

		{name: "libsvm: value", in: "1 1:2\n-1 1:2 2:abc\n", want: `f, line 2, column 3 (x2): expected a number, found "abc": correct it or remove the row`},
		{name: "libsvm: decimal comma", in: "1 1:2,5 2:0,25\n-1 1:2 2:1\n", want: `f, line 1, column 2 (x1): expected a number with a decimal point, found "2,5": correct it or remove the row`},
		{name: "libsvm: value NaN", in: "1 1:2\n-1 1:nan\n", want: `f, line 2, column 2 (x1): expected a finite number, found "nan": correct it or remove the row`},
		{name: "libsvm: index 0", in: "1 0:2\n-1 1:2\n", want: "f, line 2, column 2: expected 0: and an object number, as in the kernel matrix that begins on line 1; indices of features begin at 1 (scikit-learn: zero_based=False)"},
		{name: "libsvm: index 0 later", in: "1 1:2\n-1 0:2\n", want: `f, line 2, column 2: expected an index of at least 1, found "0": indices of features begin at 1 (scikit-learn: zero_based=False)`},
		{name: "libsvm: descending", in: "1 1:2\n-1 2:2 1:1\n", want: `f, line 2, column 3: expected an index above 2, found 1: indices must increase within a line`},
		{name: "libsvm: no pair", in: "1 1:2\n-1 7\n", want: `f, line 2, column 2: expected index:value, found "7"`},
		{name: "libsvm: no label", in: "1 1:2\n1:2 2:3\n", want: `f, line 2, column 1: expected a label, found "1:2"`},
		{name: "libsvm: several labels", in: "1 1:2\n1,3 1:0.5\n", want: `f, line 2, column 1: expected one label, found "1,3": keep one label of each row, or make a file for each label that says whether a row has it`},
		{name: "libsvm: qid", in: "1 qid:3 1:2\n-1 1:2\n", want: `f, line 1, column 2: expected index:value, found "qid:3": remove query ids, which belong to ranking`},
		{name: "libsvm: wide", in: "1 1:2\n-1 201:2\n", want: `f, line 2, column 2: expected at most 201 columns with the label, found index 201: leave out features, or number those in use from 1`, tooLarge: true},
		{name: "libsvm: single class", in: "1 1:2\n1.0 1:3\n", want: `f, column 2 (label): expected at least two classes, or two values to fit, found only "1"`},

		{name: "arff: missing", in: arff + "@data\n1,A\n?,B\n", want: `f, line 6, column 1 (x): expected a number, found "?": choose how to handle missing values (missing: drop or median), or remove the row`},
		{name: "arff: number", in: arff + "@data\n1,A\nz,B\n", want: `f, line 6, column 1 (x): expected a number, found "z": correct it or remove the row`},
		{name: "arff: undeclared", in: arff + "@data\n1,C\n", want: `f, line 5, column 2 (k): expected a value that the attribute declares, found "C"`},
		{name: "arff: ragged", in: arff + "@data\n1\n", want: `f, line 5: expected 2 fields separated by comma, found 1: complete the row, with ? for a missing value`},
		{name: "arff: ragged, longer", in: arff + "@data\n1,A,2,3\n", want: `f, line 5: expected 2 fields separated by comma, found more: put quotes around a value that contains a comma`},
		{name: "arff: weight", in: arff + "@data\n1,A,{3}\n", want: `f, line 5: expected 2 fields separated by comma, found the weight {3}: remove the weights, all rows count equally`},
		{name: "arff: sparse", in: arff + "@data\n{0 1, 1 A}\n", want: `f, column 2 (k): expected at least two classes, found only "A"`},
		{name: "arff: sparse, open", in: arff + "@data\n{0 1\n", want: `f, line 5: expected a closing } after the sparse row`},
		{name: "arff: sparse, order", in: arff + "@data\n{1 A, 0 2}\n", want: `f, line 5: expected an index and a value, the indices in ascending order up to 1, found "0 2"`},
		{name: "arff: sparse, index", in: arff + "@data\n{0 1, 2 A}\n", want: `f, line 5: expected an index and a value, the indices in ascending order up to 1, found "2 A"`},
		{name: "arff: sparse, string", in: "@attribute s string\n@attribute k {A,B}\n@data\n{1 A}\n", want: `f, line 4: expected a value of the attribute with index 0, a string or a date: sparse rows omit only numbers and nominal values`},
		{name: "arff: sparse, undeclared", in: arff + "@data\n{1 C}\n", want: `f, line 5, column 2 (k): expected a value that the attribute declares, found "C"`},
		{name: "arff: no rows", in: arff + "@data\n", want: `f: expected at least one row of data after @data, found none`},
		{name: "arff: no data", in: arff, want: `f: expected @data and rows after it, found the end of the file`},
		{name: "arff: no attributes", in: "@relation r\n@data\n1\n", want: `f, line 2: expected an @attribute before @data`},
		{name: "arff: keyword", in: "@relation r\n@atribute x real\n", want: `f, line 2: expected @relation, @attribute or @data, found "@atribute"`},
		{name: "arff: type", in: "@attribute x relational\n", want: `f, line 1: expected numeric, real, integer, string, date or {value, …} as the type of attribute "x", found "relational"`},
		{name: "arff: open brace", in: "@attribute x {a,b\n", want: `f, line 1: expected {value, …} after the name of attribute "x"`},
		{name: "arff: open quote", in: "@attribute 'x numeric\n", want: `f, line 1: expected a closing '`},
		{name: "arff: no name", in: "@attribute\n", want: `f, line 1: expected a name after @attribute`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := Read(strings.NewReader(tt.in), "f", tt.m, Limits{})
			if err == nil {
				t.Fatalf("accepted as\n%s", show(d))
			}
			require.Equal(t, cmp.Diff(tt.want, err.Error()), "", "message (-want +got)")
			var e *Error
			require.Check(t, errors.As(err, &e), "%T is no *Error", err)
			require.Check(t, errors.Is(err, ErrTooLarge) == tt.tooLarge,
				"ErrTooLarge: %v, want %v", !tt.tooLarge, tt.tooLarge)
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	rows := "x,y,label\n1,2,A\n3,4,B\n"
	for _, tt := range []struct {
		in   string
		lim  Limits
		want string
	}{
		{rows, Limits{Bytes: int64(len(rows)), Rows: 2, Columns: 3}, ""},
		{rows, Limits{Bytes: int64(len(rows)) - 1}, "f: expected at most 21\u00a0bytes"},
		{rows + strings.Repeat(" ", 1<<20), Limits{Bytes: 1 << 20}, "f: expected at most 1\u00a0MB"},
		{rows, Limits{Rows: 1}, "f, line 3: expected at most 1 row"},
		{rows + "5,6,A\n", Limits{Rows: 1}, "f, line 3: expected at most 1 row"},
		{"1,2,A\n3,4,B\n", Limits{Rows: 1}, "f, line 2: expected at most 1 row"},
		{rows, Limits{Columns: 2}, "f, line 1: expected at most 2 columns, found 3"},
		{"1 1:1\n2 1:1\n", Limits{Rows: 1}, "f, line 2: expected at most 1 row"},
		{"@attribute x real\n@attribute k {a,b}\n@data\n1,a\n2,b\n", Limits{Rows: 1}, "f, line 5: expected at most 1 row"},
		{"@attribute x real\n@attribute k {a,b}\n@data\n1,a\n2,b\n", Limits{Columns: 1}, "f, line 2: expected at most 1 column"},
		{strings.Repeat("1\n", 99) + "-1 199:1\n", Limits{Bytes: 1000}, "f, line 100: expected at most 501 values, counting zeros, found 100 rows of 200 up to here: leave out rows, or features that few of them have"},
		{strings.Repeat("1\n", 9) + "-1 90000:1\n", Limits{Bytes: 40000, Columns: 100000}, ""},
		{"@attribute x real\n@attribute k {" + strings.Repeat("a", 24) + ",b}\n@data\n" + strings.Repeat("{}\n", 20), Limits{Bytes: 300}, "f, line 15: expected at most 300\u00a0bytes, counting the values that sparse rows omit"},
	} {
		file := "f"
		if strings.HasPrefix(tt.in, "1\n") {
			file = "f.svm"
			tt.want = strings.Replace(tt.want, "f,", "f.svm,", 1)
		}
		_, err := Read(strings.NewReader(tt.in), file, Mapping{}, tt.lim)
		if tt.want == "" {
			require.Equal(t, err, nil, "err")
			continue
		}
		require.Check(t, err != nil && err.Error() == tt.want && errors.Is(err, ErrTooLarge),
			"got %v, want %s wrapping ErrTooLarge", err, tt.want)
	}
}

func TestReadFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("line cut")
	_, err := Read(io.MultiReader(strings.NewReader("x,label\n"), iotest.ErrReader(broken)), "f", Mapping{}, Limits{})
	var e *Error
	require.Check(t, errors.Is(err, broken) && errors.As(err, &e), "got %v, want an *Error that wraps the cause", err)
}

func TestReadReference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		n, d    int
		classes []string
	}{
		{"heart", 270, 13, []string{"-1", "1"}},
		{"sonar", 208, 60, []string{"M", "R"}},
		{"ripley_train", 250, 2, []string{"0", "1"}},
	} {
		raw := require.Value(os.ReadFile(filepath.Join("..", "testdata", tt.name+".csv")))(t)
		table := require.Value(ParseTable(bytes.NewReader(raw), tt.name, Limits{}))(t)
		m, obvious := table.Guess()
		d := require.Value(table.Data(m))(t)
		n, cols := d.X.Dims()
		require.Check(t, n == tt.n && cols == tt.d && obvious, "%s: %d x %d, obvious %v", tt.name, n, cols, obvious)
		require.Equal(t, cmp.Diff(tt.classes, d.Classes), "", "diff")
		require.Check(t, strings.EqualFold(show(d), string(raw)),
			"%s: the canonical form differs from the file, which is in it", tt.name)
	}
}

// bigCSV is a file with n points.
func bigCSV(b *testing.B, n int) []byte {
	b.Helper()
	d := require.Value(Generate("blobs", n, 0.5, 1))(b)
	return []byte(require.Written(b, d.Encode))
}

func BenchmarkDecode100k(b *testing.B) {
	raw := bigCSV(b, 100_000)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		require.Value(Decode(bytes.NewReader(raw)))(b)
	}
}

// A file of a format that is not read is named, with a way out; a text that begins alike is read.
func TestReadRefusesBinaries(t *testing.T) {
	t.Parallel()
	for begins, want := range map[string]string{
		"\x80\x04\x95\x00":   "f: expected a text file or an .xlsx workbook, found a pickled Python object: save the table as CSV, for example with pandas: read_pickle(…).to_csv(…, index=False)",
		"PAR1\x15\x04":       "f: expected a text file or an .xlsx workbook, found a Parquet file: save it as CSV, for example with pandas: read_parquet(…).to_csv(…, index=False)",
		"ARROW1":             "found an Arrow file: save it as CSV",
		"\xfd7zXZ":           "found a file compressed with xz: decompress it",
		"7z\xbc\xaf\x27\x1c": "found a 7z archive: unpack it first",
		"Rar!\x1a\a":         "found a RAR archive: unpack it first",
		"\xd0\xcf\x11\xe0":   "save the sheet as .xlsx",
		"k.csv" + strings.Repeat("\x00", 252) + "ustar": "found a tar archive: unpack it",
		"%PDF-1.7\n%\xb5\xb5\xb5\xb5\n":                 "found a PDF document",
		"SQLite format 3":                               "found an SQLite database: export the table as CSV",
		"$FL2@(#) SPSS DATA FILE":                       "found an SPSS file: save it as CSV",
		"<stata_dta><header>":                           "found a Stata file: save it as CSV",
		"MATLAB 5.0 MAT-file":                           "found a MATLAB file: save it as CSV with writematrix or writetable",
		"\x89PNG\r\n\x1a\n":                             "found an image: type its numbers into a spreadsheet",
	} {
		require.Fails(t, require.Err(ParseTable(strings.NewReader(begins+"\x00\x00\x02\xff"), "f", Limits{})), want, "%q", begins)
	}
	table, err := ParseTable(strings.NewReader("PAR1,PAR2,label\n1,2,a\n3,4,b\n"), "f.csv", Limits{})
	require.Check(t, err == nil && table.Columns[0].Name == "PAR1", "columns of parameters: %v", err)
}

// Among codes of countries, NA may be Namibia: a note says that it is read as missing.
func TestNoteNamesNA(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"x,country\n1,DE\n2,NA\n3,FR\n4,\n5,DE\n": true,
		"x,country\n1,DE\n2,FR\n3,FR\n":           false,
		"x,size\n1,XL\n2,NA\n3,S\n4,XL\n":         false,
	} {
		table, err := ParseTable(strings.NewReader(text), "f.csv", Limits{})
		require.NoError(t, err)
		noted := strings.Contains(strings.Join(table.Notes, "; "), "NA in country read as missing")
		require.Check(t, noted == want, "%q: %v", text, table.Notes)
	}
}
