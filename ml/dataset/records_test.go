package dataset

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// The same rows in every way that programs write them.
func TestSameRowsFromManyWriters(t *testing.T) {
	t.Parallel()
	const want = "x,y,class\n1,2.5,a\n3,,b\n-1,0,a\n0.5,1e3,b\n"
	read := func(text, file string) *Table {
		t.Helper()
		table := require.Value(ParseTable(strings.NewReader(text), file, Limits{}))(t, "%s", file)
		return table
	}
	base := read(want, "rows.csv")
	for name, text := range map[string]string{
		"records.json":      `[{"x":1,"y":2.5,"class":"a"},{"x":3,"y":null,"class":"b"},{"x":-1,"y":0,"class":"a"},{"x":0.5,"y":1e3,"class":"b"}]`,
		"indented.json":     "[\n  {\n    \"x\": 1, \"y\": 2.5,\n \"class\": \"a\"},\n {\"x\":3,\"class\":\"b\"}, {\"class\":\"a\",\"x\":-1,\"y\":0},{\"x\":0.5,\"y\":1e3,\"class\":\"b\"}\n]\n",
		"lines.jsonl":       "{\"x\":1,\"y\":2.5,\"class\":\"a\"}\n{\"x\":3,\"class\":\"b\"}\n{\"x\":-1,\"y\":0,\"class\":\"a\"}\n{\"x\":0.5,\"y\":1e3,\"class\":\"b\"}\n",
		"columns.json":      `{"x":[1,3,-1,0.5],"y":[2.5,null,0,1e3],"class":["a","b","a","b"]}`,
		"named.json":        `{"x":{"0":1,"1":3,"2":-1,"3":0.5},"y":{"0":2.5,"1":null,"2":0,"3":1e3},"class":{"0":"a","1":"b","2":"a","3":"b"}}`,
		"numbered.json":     `{"0":{"x":1,"y":2.5,"class":"a"},"1":{"x":3,"y":null,"class":"b"},"2":{"x":-1,"y":0,"class":"a"},"3":{"x":0.5,"y":1e3,"class":"b"}}`,
		"indexed.json":      `{"r1":{"x":1,"y":2.5,"class":"a"},"r2":{"x":3,"y":null,"class":"b"},"r3":{"x":-1,"y":0,"class":"a"},"r4":{"x":0.5,"y":1e3,"class":"b"}}`,
		"pandas.json":       `[{"x":1,"y":2.5,"class":"a"},{"x":3,"y":NaN,"class":"b"},{"x":-1,"y":0,"class":"a"},{"x":0.5,"y":1e3,"class":"b"}]`,
		"python.txt":        `[{'x': 1, 'y': 2.5, 'class': 'a'}, {'x': 3, 'y': None, 'class': "b"}, {'x': -1, 'y': 0, 'class': 'a'}, {'x': 0.5, 'y': 1e3, 'class': 'b'}]`,
		"python.json":       `{'x': [1, 3, -1, 0.5], 'y': [2.5, nan, 0, 1e3], 'class': ['a', 'b', 'a', 'b']}`,
		"lists.json":        `[["x","y","class"],[1,2.5,"a"],[3,null,"b"],[-1,0,"a"],[0.5,1e3,"b"]]`,
		"split.json":        `{"columns":["x","y","class"],"index":[0,1,2,3],"data":[[1,2.5,"a"],[3,null,"b"],[-1,0,"a"],[0.5,1e3,"b"]]}`,
		"wrapped.json":      `{"meta":{"by":["me"]},"links":[{"rel":"self"}],"data":[{"x":1,"y":2.5,"class":"a"},{"x":3,"class":"b"},{"x":-1,"y":0,"class":"a"},{"x":0.5,"y":1e3,"class":"b"}],"next":null}`,
		"beside.json":       `{"target":["a"],"class":["a","b","a","b"],"data":[[1,2.5],[3,null],[-1,0],[0.5,1e3]],"feature_names":["x","y"]}`,
		"records of no one": `[{"x":1,"y":2.5,"class":"a"},{"x":3,"y":null,"class":"b"},{"x":-1,"y":0,"class":"a"},{"x":0.5,"y":1e3,"class":"b"}]`,
		"rows.csv.gz":       gz(want),
		"records.json.gz":   gz(`{"x":[1,3,-1,0.5],"y":[2.5,null,0,1e3],"class":["a","b","a","b"]}`),
		"packed.csv":        gz(want),
	} {
		got := read(text, name)
		require.Must(t, len(got.Columns) == 3 && len(got.Lines) == 4, "%s: %d columns of %d rows", name, len(got.Columns), len(got.Lines))
		for j := range got.Columns {
			require.Check(t, got.Columns[j].Name == base.Columns[j].Name && got.Columns[j].Numeric == base.Columns[j].Numeric,
				"%s: column %d is %s", name, j, got.Columns[j].Name)
			for i, s := range got.Columns[j].all() {
				k := 0
				for a, want := range base.Columns[j].all() {
					require.Check(t, a != i || s == want,
						"%s: row %d of %s is %q, want %q", name, i+1, got.Columns[j].Name, s, want)
					k++
				}
			}
		}
	}
}

// Keys of objects within a record are columns, and lists without names have columns by place.
func TestNestedRecords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"size":{"w":1,"h":2},"class":"a"},{"size":{"w":3,"h":1},"class":"b"}]`:      "size.w size.h class",
		"{\"size\":{\"w\":1},\"class\":\"a\"}\n{\"size\":{\"w\":3},\"class\":\"b\"}\n": "size.w class",
		`[{"n":1,"class":"a"},{"n":2,"class":"b"}]`:                                    "n class",
		`[{"edges":1,"class":"a"},{"edges":2,"class":"b"}]`:                            "edges class",
		`[[1,2,"a"],[3,4,"b"]]`:                      "x1 x2 label",
		`{"y":["a","b"],"X":[[1,2],[3,4]]}`:          "x1 x2 y",
		`[["text","kind"],["good","a"],["bad","a"]]`: "text kind",
		`{"0":{"0":1,"1":2},"1":{"0":"a","1":"b"}}`:  "0 1",
	} {
		table, err := ParseTable(strings.NewReader(text), "r.json", Limits{})
		require.Check(t, err == nil && strings.Join(table.names(), " ") == want && len(table.Lines) == 2,
			"%s: %v, want the columns %s", text, err, want)
	}
}

func TestListsBesideRows(t *testing.T) {
	t.Parallel()
	table := require.Value(ParseTable(strings.NewReader(`{"train":[{"x":1},{"x":2}],"test":[{"x":3}],"y":["a","b","a"],"k":["a","b"],"none":[]}`), "r.json", Limits{}))(t)
	require.Equal(t, strings.Join(table.names(), " ")+"; "+strings.Join(table.Notes, "; "), `x k; rows read from "train"; test, y left out`, "lists of other lengths")
	// R's write.table leaves the name of the first column out.
	for name, text := range map[string]string{
		"numbers": "\"hp\" \"wt\" \"am\"\n\"1\" 21 2.62 \"a\"\n\"2\" 22.8 2.32 \"b\"\n\"3\" 18 3.1 \"a\"\n\"4\" 21.5 2.7 \"b\"\n\"5\" 17 3.4 \"a\"\n\"6\" 22 2.2 \"b\"\n\"7\" 17.5 3.3 \"a\"\n\"8\" 23.5 2.1 \"b\"\n",
		"names":   "hp\twt\tam\nMazda RX4\t21\t2.62\ta\nDatsun 710\t22.8\t2.32\tb\nValiant\t18.1\t3.46\ta\nDuster 360\t14.3\t3.57\tb\nMerc 240D\t24.4\t3.19\ta\nMerc 230\t22.8\t3.15\tb\nFiat 128\t32.4\t2.2\ta\nHonda Civic\t30.4\t1.615\tb\n",
	} {
		table := require.Value(ParseTable(strings.NewReader(text), "cars.txt", Limits{}))(t, "%s", name)
		m := table.Propose(Mapping{}).Mapping
		require.Check(t, m.Label == "am" && strings.Join(m.Features, " ") == "hp wt",
			"%s: label %s of %q", name, m.Label, m.Features)
	}
	require.Fails(t, require.Err(ParseTable(strings.NewReader("x y\n1 2\n3 4 5\n"), "x.txt", Limits{})), "", "a row with a field too many is taken")
}

func TestRecordsFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"x":1,"y":[1,2]}]`:              `record 1: "y" is a list`,
		`{"x":[1,2],"y":[1,2],"y":[3,4]}`:  `column "y" occurs twice`,
		`[{"x":1,"y":2,"x":3}]`:            `record 1: expected each key once, found "x" twice`,
		`[{"a.b":1,"a":{"b":2}}]`:          `record 1: expected each key once, found "a.b" twice`,
		"[[ 1.2  3.4]\n [ 2.  5. ]]":       "r.json: expected a table, found a printed NumPy array: save it as CSV with numpy.savetxt(",
		"[1.5 2.5 3.5\n 4.5 inf]":          "expected a table, found a printed NumPy array",
		"array([1.5, 2.5])":                "expected a table, found a printed NumPy array",
		"array([[1, 2],\n       [3, 4]])":  "expected a table, found a printed NumPy array",
		"[[1, 2],\n [3 4]]":                "line 2: found no JSON",
		"{\"x\":1}\n# more\n{\"x\":2}":     `line 2: expected JSON, found a comment: remove it, since JSON has none`,
		`[{x: 1, y: 2}]`:                   "line 1: found no JSON: invalid character 'x' after [{",
		`[{'x': 1, 'y': 2]`:                "line 1: found no JSON",
		`{"data":[[1,2],[3,x]]}`:           `line 1: found no JSON: invalid character 'x' looking for beginning of value after {"data":[[1,2],[3,`,
		"[{\"x\":1},\n{\"x\":b}]":          `line 2: found no JSON: invalid character 'b' looking for beginning of value after {"x":`,
		`[{'x': 1, 'y: 2}]`:                "expected a closing bracket",
		`[{"x":1},7]`:                      "record 2: expected an object",
		`[{"x":1}`:                         "expected a closing bracket",
		`[{"x":1}] 5`:                      "nothing after the last bracket",
		`{"x":[1,2],"y":[1]}`:              `column "y": expected 2 values`,
		`{"x":[1,2],"y":3}`:                `column "y": expected a list`,
		`{"x":1,"y":[1]}`:                  `record 1: "y" is a list`,
		"{\"x\":1}\n{\"x\":2,}":            `line 2: expected no comma before }, found one after {"x":2: remove it`,
		"[{\"x\":1},\n{\"x\":2},\n]\n":     `line 2: expected no comma before ], found one after {"x":2}: remove it`,
		`[{}]`:                             "empty ones",
		`[{"x":{"y":[1]},"z":1}]`:          `record 1: "x.y" is a list`,
		`[[1,2],[1]]`:                      "record 2: expected 2 values as in the first, found 1",
		`[[1,[2]],[1,2]]`:                  `record 1: "column 2" is a list`,
		`[[1,2],{"x":1}]`:                  "record 2: expected an object",
		`{"columns":["x"],"data":[[1,2]]}`: "expected a name for each of 2 columns, found 1",
		`{"columns":3,"data":[[1,2]]}`:     `a list of names under "columns"`,
		"[\n]":                             "at least one row",
		"[]":                               "at least one row",
		`"[{\"x\":1}]"`:                    `expected records such as [{"x": 1, "class": "a"}], found "[{\"x\":1}]"`,
	} {
		require.Fails(t, require.Err(ParseTable(strings.NewReader(text), "r.json", Limits{})), want, "%s", text)
	}
	small := Limits{Rows: 3, Columns: 2, Bytes: 1000}
	for _, text := range []string{
		`[{"x":1},{"x":1},{"x":1},{"x":1}]`, `{"x":[1,2,3,4]}`, "{\"x\":1}\n{\"x\":1}\n{\"x\":1}\n{\"x\":1}\n", `[{"a":1,"b":2,"c":3}]`,
		`[[1],[2],[3],[4]]`, `[[1,2,3]]`, `{"data":[{"x":1},{"x":1},{"x":1},{"x":1}]}`, `[{"a":{"b":1,"c":1,"d":1}}]`,
	} {
		require.Is(t, require.Err(ParseTable(strings.NewReader(text), "r.json", small)), ErrTooLarge, "%s", text)
	}
	large := strings.NewReader(gz(strings.Repeat("1,2\n", 1000)))
	require.Is(t, require.Err(ParseTable(large, "b.csv.gz", small)), ErrTooLarge, "a packed file that is too large")
	require.Fails(t, require.Err(ParseTable(strings.NewReader("\x1f\x8bnothing"), "b.csv.gz", Limits{})), "damaged", "a damaged one")
}

// Words of Python are values outside texts, and texts in either quotes are read as they are.
func TestRecordsOfPython(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"x":1,"ok":True,"k":"NaN's"},{"x":-2,"ok":False,"k":"None \"a\""}]`: `1 true NaN's -2 false None "a"`,
		`[{'x': 1, 'k': 'it\'s "True"'}, {'x': 2, 'k': "it's"}]`:               `1 it's "True" 2 it's`,
		"[{'x': Infinity,\n'k': 'a\\\\'}, {'x': -inf, 'k': 'b\\u00e4'}]":       `Infinity a\ -inf bä`,
	} {
		table := require.Value(ParseTable(strings.NewReader(text), "r.json", Limits{}))(t)
		var got []string
		for i := range table.Lines {
			for j := range table.Columns {
				got = append(got, table.Columns[j].Cell(i))
			}
		}
		require.Equal(t, strings.Join(got, " "), want, "%s", text)
	}
	for text, place := range map[string]string{"[{'x':1,'k':'a'},\n{'x':inf,'k':'b'}]": "line 2", "[{'x':1,'k':'a'},{'x':inf,'k':'b'}]": "record 2"} {
		_, err := Read(strings.NewReader(text), "r.json", Mapping{}, Limits{})
		require.Fails(t, err, "r.json, "+place+`, column 1 (x): expected a finite number, found "inf"`, "no number")
	}
}
