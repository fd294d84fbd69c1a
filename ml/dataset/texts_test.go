package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

func TestReadTexts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []string
		want  []string // label and text in turn
	}{
		{
			"folders are classes, in the order of names",
			[]string{"neg/b.txt", "bad", "pos/a.txt", "\ufeffvery\r\ngood\n", "neg/a.txt", " so\tso\n\n"},
			[]string{"neg", "so so", "neg", "bad", "pos", "very good"},
		},
		{
			"the folder around all, hidden files, folders alone and backslashes say nothing",
			[]string{"all/", "", "all/neg/", "", `all\neg\1`, "bad", "all/pos/2.md", "good", "__MACOSX/all/pos/._2.md", "\x00", "all/.DS_Store", "\x00", "all/pos/Thumbs.db", "\x00"},
			[]string{"neg", "bad", "pos", "good"},
		},
		{
			"the folder next to the text counts",
			[]string{"train/pos/1.txt", "good", "test/neg/1.txt", "bad", "test/pos/2.txt", "fine"},
			[]string{"neg", "bad", "pos", "fine", "pos", "good"},
		},
		{
			"a table of labels beside the texts",
			[]string{"reviews/1.txt", "good", "reviews/2.txt", "bad", "reviews/labels.csv", "file,class\n2.txt,neg\n1.txt,pos\n"},
			[]string{"pos", "good", "neg", "bad"},
		},
		{
			"a table without a header or extensions, in another folder, the names last",
			[]string{"meta/l.tsv", "1\tx\ttexts/1\n0\ty\ttexts/2\n", "texts/1.txt", "good", "texts/2.txt", "bad"},
			[]string{"x", "good", "y", "bad"},
		},
		{
			"a text of numbers, and the same text twice",
			[]string{"a/1", "12", "a/2", "12", "b/3", "3"},
			[]string{"a", "12", "a", "12", "b", "3"},
		},
		{
			"a table alone is read as if it were no archive",
			[]string{"points.csv", "text,label\ncat,a\ncart,b\n"},
			[]string{"a", "cat", "b", "cart"},
		},
	} {
		d := require.Value(Read(strings.NewReader(require.Zip(t, tt.files...)), "t.zip", Mapping{}, Limits{}))(t, "%s", tt.name)
		var got []string
		for i, s := range d.Objects.(*Strings).Values {
			got = append(got, d.Classes[d.Y[i]], s)
		}
		require.Equal(t, cmp.Diff(tt.want, got), "", "%s (-want +got)", tt.name)
		roundTrip(t, d)

		// The same files in a folder are the same data.
		folder := fstest.MapFS{}
		for i := 0; i < len(tt.files); i += 2 {
			if name := strings.ReplaceAll(tt.files[i], `\`, "/"); !strings.HasSuffix(name, "/") {
				folder[name] = &fstest.MapFile{Data: []byte(tt.files[i+1])}
			}
		}
		table := require.Value(ParseFolder(folder, "t", Limits{}))(t, "%s", tt.name)
		m, obvious := table.Guess()
		require.Check(t, obvious, "%s: in doubt about %v", tt.name, m)
		again, err := table.Data(Mapping{})
		require.Check(t, err == nil && again.Hash() == d.Hash(), "%s: other data in a folder: %v", tt.name, err)
	}
}

func TestReadTextsRefuses(t *testing.T) {
	t.Parallel()
	whole := require.Zip(t, "a/1", "x", "b/2", "y")
	damaged := []byte(whole)
	damaged[strings.LastIndex(whole, "PK\x01\x02")+16] ^= 1 // of the sum of b/2
	locked := []byte(whole)
	locked[strings.Index(whole, "PK\x01\x02")+8] |= 1
	var bomb bytes.Buffer
	w := zip.NewWriter(&bomb)
	for _, name := range []string{"a/1", "b/1"} {
		f := require.Value(w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate}))(t)
		_, _ = f.Write(bytes.Repeat([]byte("a"), 700_000))
	}
	w.Close()
	many := map[string]string{}
	for _, n := range strings.Fields("1 2 3 4 5 6 7") {
		many["a/"+n], many["b/"+n] = n, n
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(many)) {
		list = append(list, name, many[name])
	}
	for _, tt := range []struct {
		name, raw, want string
		large           bool
	}{
		{name: "empty", raw: require.Zip(t), want: "t.zip: expected texts, found no files"},
		{name: "cut", raw: whole[:40], want: "t.zip: expected a zip archive, found a damaged one: not a valid zip file: save or upload the file again"},
		{name: "checksum", raw: string(damaged), want: "t.zip, b/2: reading failed: checksum error"},
		{name: "password", raw: string(locked), want: "t.zip, a/1: expected an unencrypted file, found an encrypted one: create the archive without a password"},
		{name: "document", raw: require.Zip(t, "[Content_Types].xml", "", "word/document.xml", ""), want: "t.zip: expected a text file, an .xlsx workbook or a zip archive of texts, found another kind of document: save the sheet as .xlsx or CSV"},
		{name: "document of Numbers", raw: require.Zip(t, "Index/Document.iwa", "\x00"), want: "t.zip: expected a text file, an .xlsx workbook or a zip archive of texts, found another kind of document: save the sheet as .xlsx or CSV"},
		{name: "a name", raw: require.Zip(t, "a/\xff", "x", "b/1", "y"), want: `t.zip: expected file names in UTF-8, found "a/\xff"`},
		{name: "twice", raw: require.Zip(t, "a/1", "x", "b/1", "y", "a/./1", "z"), want: "t.zip, a/1: expected distinct names, found this one twice"},
		{name: "bytes", raw: bomb.String(), want: "t.zip, b/1: expected at most 1\u00a0MB in all files, uncompressed", large: true},
		{name: "files", raw: require.Zip(t, list...), want: "t.zip: expected at most 10 texts", large: true},
		{name: "empty text", raw: require.Zip(t, "a/1", "x", "b/2", " \r\n"), want: "t.zip, b/2: expected a string, found nothing"},
		{name: "binary", raw: require.Zip(t, "a/1", "x", "b/2", "\x00\x01"), want: "t.zip, b/2, line 1: expected UTF-8 text, found a zero byte: this is a binary file or UTF-16"},
		{name: "no encoding", raw: require.Zip(t, "a/1", "x", "b/2", "na\nn\x81\x9dve"), want: "t.zip, b/2, line 2: expected UTF-8 text, found byte 0x81: save the file as UTF-8 (it may be in Shift-JIS or GBK)"},
		{name: "broken UTF-16", raw: require.Zip(t, "a/1", "\xff\xfe\n\x00\x00\xd8", "b/2", "y"), want: "t.zip, a/1, line 2: expected text, found invalid UTF-16: save the file as UTF-8"},
		{name: "nested", raw: require.Zip(t, "a/1", "x", "b/2", require.Zip(t, "c", "d")), want: "t.zip, b/2: expected a text file, found a zip archive or a workbook: unpack it first"},
		{name: "packed", raw: require.Zip(t, "x.csv.gz", "\x1f\x8b\b\x00"), want: "t.zip, x.csv.gz: expected a text file or an .xlsx workbook, found a file compressed with gzip: decompress it first"},
		{name: "beside", raw: require.Zip(t, "a/1", "x", "b/2", "y", "README", "z"), want: "t.zip, README: expected the file in the folder of its class, found it next to the folders"},
		{name: "one folder", raw: require.Zip(t, "a/1", "x", "a/2", "y"), want: "t.zip: expected a folder for each class, or a CSV with the names of the texts and their labels; found one folder of texts: take a table out of the archive to read it"},
		{name: "one class", raw: require.Zip(t, "x/a/1", "x", "y/a/2", "y"), want: `t.zip, column 3 (label): expected at least two classes, found only "a"`},
		{name: "two tables", raw: require.Zip(t, "1.csv", "x", "2.csv", "y", "3", "z"), want: `t.zip: expected one table, alone or with the texts that it labels, found "1.csv" and "2.csv": take one out of the archive`},
		{name: "no names", raw: require.Zip(t, "l.csv", "f,l\nx,a\ny,b\n", "1", "x", "2", "y"), want: `t.zip, l.csv: expected a column with the names of the texts, such as "1", found none: to read only the table, take it out of the archive`},
		{name: "no labels", raw: require.Zip(t, "l.csv", "file\n1\n2\n", "1", "x", "2", "y"), want: "t.zip, l.csv: expected a column of labels next to the names of the texts, found a single column"},
		{name: "not there", raw: require.Zip(t, "l.csv", "f,l\n1,a\n3,b\n", "1", "x", "2", "y"), want: `t.zip, l.csv, line 3, column 1 (f): expected the name of a text, found "3", which does not exist`},
		{name: "more rows than texts", raw: require.Zip(t, "l.csv", "f,l\n1,a\n2,b\n3,b\n", "1", "x", "2", "y"), want: `t.zip, l.csv, line 4, column 1 (f): expected the name of a text, found "3", which does not exist`},
		{name: "named twice", raw: require.Zip(t, "l.csv", "f,l\n1,a\n1.txt,b\n", "1.txt", "x", "2", "y"), want: `t.zip, l.csv, line 3, column 1 (f): expected each text once, found "1.txt" also on line 2`},
		{name: "not named", raw: require.Zip(t, "l.csv", "f,l\n1,a\n", "1", "x", "2", "y"), want: `t.zip, l.csv, column 1 (f): expected a row for each text, found none for "2"`},
		{name: "table at fault", raw: require.Zip(t, "l.csv", "f,l\n1,a\n2\n", "1", "x", "2", "y"), want: "t.zip, l.csv, line 3: expected 2 fields separated by comma, found 1: complete the row, with NA for a missing value"},
	} {
		_, err := Read(strings.NewReader(tt.raw), "t.zip", Mapping{}, Limits{Bytes: 1 << 20, Rows: 10})
		require.Check(t, err != nil && err.Error() == tt.want && errors.Is(err, ErrTooLarge) == tt.large,
			"%s: %v\nwant %s", tt.name, err, tt.want)
	}
}

// Strings are not taken for their names, though those differ and strings may not.
func TestEqualSequences(t *testing.T) {
	t.Parallel()
	d := require.Value(Read(strings.NewReader(">a x\nACGT\n>b y\nACGT\n>c y\nAC\n"), "f", Mapping{}, Limits{}))(t)
	require.Equal(t, cmp.Diff([]string{"ACGT", "ACGT", "AC"}, d.Objects.(*Strings).Values), "", "diff")
}

// FuzzTexts reads archives of files whose names and texts stand between signs.
func FuzzTexts(f *testing.F) {
	f.Add("a/1\x01cat\x02b/1\x01cart\x02")
	f.Add("l.csv\x01f,l\n1,a\n2,b\n\x021.txt\x01cat\x022\x01cart")
	f.Add("a/b/../1\x01cat\x02/b\\1\x01cart\x02..\x01x\x02")
	f.Add("x.csv\x01text,label\ncat,a\ncart,b\n")
	f.Fuzz(func(t *testing.T, in string) {
		var files []string
		for file := range strings.SplitSeq(in, "\x02") {
			name, text, _ := strings.Cut(file, "\x01")
			if len(name) > 1000 {
				return
			}
			if strings.HasSuffix(name, "/") {
				text = "" // a folder, which the writer refuses to fill
			}
			files = append(files, name, text)
		}
		d, err := Read(strings.NewReader(require.Zip(t, files...)), "t.zip", Mapping{}, fuzzLimits)
		isRead(t, d, err)
	})
}
