package handlers_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"marginlab/ml/mltest/require"
)

// bombBytes is the most that a bomb weighs.
const bombBytes = 1 << 20

// bomb is a request whose body unfolds to much more than it weighs.
type bomb struct {
	name, kind string
	body       body
}

// body makes the body of a request. Few of all bombs are thrown, so they are made then, and what
// takes long to pack is packed once.
type body func() string

// fill repeats a piece as often as fits between before and after.
func fill(before, piece, after string) body {
	return func() string {
		return unfold(before + times((bombBytes-4096-len(before)-len(after))/len(piece), piece) + after)
	}
}

// repeats surrounds what unfold repeats. It occurs in no packed file.
const repeats = "<repeated>"

// times stands for a piece n times. Few of all long texts are thrown, so they are unfolded then.
func times(n int, piece string) string { return fmt.Sprint(repeats, n, " ", piece, repeats) }

func unfold(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, repeats) {
		n, piece := 1, part
		if i%2 == 1 {
			number, of, _ := strings.Cut(part, " ")
			n, _ = strconv.Atoi(number)
			piece = of
		}
		b.Grow(n*len(piece) + 4096)
		for range n {
			b.WriteString(piece)
		}
	}
	return b.String()
}

// verbatim makes a text the body.
func verbatim(text string) body { return func() string { return text } }

// zipBomb packs files, of names and texts in turn.
func zipBomb(t testing.TB, files ...string) body {
	return sync.OnceValue(func() string {
		t.Helper()
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := 0; i < len(files); i += 2 {
			w, err := z.Create(files[i])
			if err == nil {
				_, err = io.WriteString(w, unfold(files[i+1]))
			}
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		return b.String()
	})
}

// gzipBomb packs a text.
func gzipBomb(t testing.TB, text string) body {
	return sync.OnceValue(func() string {
		t.Helper()
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, unfold(text))
		require.NoError(t, errors.Join(err, z.Close()))
		return b.String()
	})
}

// manyFiles packs files until the archive is full.
func manyFiles(t testing.TB) body {
	var files []string
	for i := range 8000 {
		files = append(files, fmt.Sprintf("%x/a", i), "")
	}
	return zipBomb(t, files...)
}

// sheetBomb is a workbook of one sheet, and other parts.
func sheetBomb(t testing.TB, sheet string, parts ...string) body {
	return zipBomb(t, append(
		parts, "xl/workbook.xml", `<workbook><sheets><sheet name="S" id="1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="1" Target="s.xml"/></Relationships>`,
		"xl/s.xml", "<worksheet><sheetData>"+sheet+"</sheetData></worksheet>",
	)...)
}

// files are bombs in every format that a data set is read from. Packed ones unfold to unpacked
// bytes or so.
func fileBombs(t testing.TB, unpacked int) []bomb {
	t.Helper()
	long := func(piece string) string { return times(unpacked/len(piece), piece) }
	var wide strings.Builder // a matrix with a row for each column
	for range 700 {
		wide.WriteString(strings.Repeat("1,", 700) + "a\n")
	}
	counted := func(n int, piece func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(piece(i))
		}
		return b.String()
	}
	edge := func(i int) string { return fmt.Sprintf("%d,%d\n", i%97+1, i/97+98) } // no two alike
	list := []bomb{
		{"one long line.csv", "", fill("", "a", "")},
		{"columns.csv", "", fill("", ",", "\n")},
		{"columns of numbers.csv", "", fill("", "1;", "\n")},
		{"matrix.csv", "", verbatim(wide.String())},
		{"rows.csv", "", fill("", "1\n", "")},
		{"points.csv", "", fill("x,label\n", "1,a\n0,b\n", "")},
		{"words.csv", "", fill("x,label\n", "a b c d e f g,a\n", "")},
		{"quotes.csv", "", fill(`"`, `""`, "\"\n")},
		{"cell.csv", "", fill("x,label\n1,", "b", "\n")},
		{"title.csv", "", fill("", "title\n", "x,y\n1,2\n")},
		{"utf16.csv", "", fill("\xff\xfe", "1\x00,\x00a\x00\n\x00", "")},
		{"windows.csv", "", fill("x,label\n", "1,\xe4\n", "")},
		{"index.libsvm", "", fill("+1 1:1\n", "-1 2000000000:1\n", "")},
		{"sparse.libsvm", "", fill("+1 200:1\n", "-1 200:1\n", "")},
		{"precomputed.libsvm", "", fill("1 0:1 1:1 2:1\n", "-1 0:2 1:1 2:1\n", "")},
		{"attributes.arff", "", fill("@relation r\n", "@attribute a numeric\n", "@data\n1\n")},
		{"values.arff", "", fill("@relation r\n@attribute c {", "a,", "b}\n@data\na\n")},
		{"many.fasta", "", fill("", ">a|b\nA\n", "")},
		{"long.fasta", "", fill(">a|b\n", "A", "\n>b|c\nA\n")},
		{"nodes.jsonl", "", fill(`{"n":1000000000,"label":"a"}`+"\n", `{"n":100000,"label":"b"}`+"\n", "")},
		{"edges.jsonl", "", fill(`{"n":3,"label":"a","edges":[`, `[0,1],`, `[0,1]]}`)},
		{"empty edges.jsonl", "", fill(`{"n":3,"label":"a","edges":[`, `[],`, `[]]}`)},
		{"labels.jsonl", "", fill(`{"n":3,"label":"a","labels":[`, `"",`, `""]}`)},
		{"deep.jsonl", "", fill(`{"n":3,"edges":`, `[`, `]}`)},
		{"graphs.jsonl", "", fill("", `{"n":1,"label":1}`+"\n", "")},
		{"entities.graphml", "", fill(`<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "`, "&a;", `">]><graphml><graph id="&b;"/></graphml>`)},
		{"deep.graphml", "", fill("<graphml>", "<a>", "")},
		{"keys.graphml", "", fill("<graphml>", `<key id="a" for="node"/>`, "</graphml>")},
		{"nodes.graphml", "", fill("<graphml><graph>", "<node/>", "</graph></graphml>")},
		{"data.graphml", "", fill(`<graphml><key id="k" for="node"><default>`+strings.Repeat("x", 1000)+`</default></key><graph>`, `<node id="a"/>`, "</graph></graphml>")},
		{"edges.graphml", "", fill(`<graphml><key id="k" for="edge"><default>`+strings.Repeat("x", 90)+`</default></key><graph><node id="a"/><node id="b"/>`, `<edge source="a" target="b"/>`, "</graph></graphml>")},
		{"edge keys.graphml", "", func() string {
			return "<graphml>" + counted(8000, func(i int) string {
				return fmt.Sprintf(`<key id="%x" for="edge"><default>a</default></key>`, i)
			}) + "<graph>" + counted(1000, func(i int) string {
				return fmt.Sprintf(`<node id="%d"/>`, i)
			}) + counted(15_000, func(i int) string {
				return fmt.Sprintf(`<edge source="%d" target="%d"/>`, i%97, 97+i/97)
			}) + "</graph></graphml>"
		}},
		{"attributes.graphml", "", fill("<graphml ", `a="" `, "></graphml>")},
		{"records.json", "", fill("[", `{"a":1},`, `{"b":2}]`)},
		{"empty records.json", "", fill("[", `{},`, `{"b":2}]`)},
		{"keys.json", "", fill(`[{"a`, `":1,"a`, `":1}]`)},
		{"columns.json", "", fill(`{"a":[`, `1,`, `1]}`)},
		{"deep.json", "", fill(`{"a":`, `[`, ``)},
		{"rows.csv.gz", "", gzipBomb(t, "x,label\n"+long("1,a\n0,b\n"))},
		{"records.json.gz", "", gzipBomb(t, "["+long(`{"a":1},`)+`{"b":2}]`)},
		{"zip.gz", "", gzipBomb(t, zipBomb(t, "a.csv", "x,label\n"+long("1,a\n0,b\n"))())},
		{"ratio.zip", "", zipBomb(t, "a.csv", long("0,"))},
		{"rows.zip", "", zipBomb(t, "a.csv", "x,label\n"+long("1,a\n0,b\n"))},
		{"nested.zip", "", zipBomb(t, "a.zip", zipBomb(t, "a.csv", long("0"))())},
		{"files.zip", "", manyFiles(t)},
		{"tu.zip", "", zipBomb(t, "G/G_A.txt", counted(400_000, edge), "G/G_edge_labels.txt", times(400_000, "1\n"), "G/G_graph_indicator.txt", times(9097, "1\n"), "G/G_graph_labels.txt", "1\n")},
		{"tu edges.zip", "", zipBomb(t, "G/G_A.txt", times(1_400_000, "1, 2\n"), "G/G_edge_labels.txt", times(1_400_000, "1\n"), "G/G_graph_indicator.txt", "1\n1\n", "G/G_graph_labels.txt", "1\n")},
		{"tu nodes.zip", "", zipBomb(t, "G/G_A.txt", "1, 2000000000\n", "G/G_graph_indicator.txt", "2000000000\n", "G/G_graph_labels.txt", "1\n")},
		{"cell.xlsx", "", sheetBomb(t, `<row r="1"><c><v>`+long("a")+`</v></c></row>`)},
		{"cells.xlsx", "", sheetBomb(t, `<row r="1">`+long(`<c><v>1</v></c>`)+`</row>`)},
		{"rows.xlsx", "", sheetBomb(t, long(`<row><c><v>1</v></c><c><v>2</v></c></row>`))},
		{"far.xlsx", "", sheetBomb(t, `<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`)},
		{"texts.xlsx", "", sheetBomb(t, "", "xl/sharedStrings.xml", "<sst>"+long("<si/>")+"</sst>")},
		{"long text.xlsx", "", sheetBomb(t, "", "xl/sharedStrings.xml", "<sst><si><t>"+long("a")+"</t></si></sst>")},
		{"repeated text.xlsx", "", sheetBomb(t, long(`<row><c t="s"><v>0</v></c></row>`), "xl/sharedStrings.xml", "<sst><si><t>"+times(30_000, "a")+"</t></si></sst>")},
		{"styles.xlsx", "", sheetBomb(t, "", "xl/styles.xml", "<styleSheet><cellXfs>"+long("<xf/>")+"</cellXfs></styleSheet>")},
		{"deep.xlsx", "", sheetBomb(t, long("<a>"))},
		{"sheets.xlsx", "", zipBomb(t, "xl/workbook.xml", "<workbook><sheets>"+long(`<sheet name="S" id="1"/>`)+"</sheets></workbook>")},
	}
	for i := range list {
		list[i].kind = "application/octet-stream"
	}
	return list
}

// archiveBombs are bombs of an archive of a workspace.
func archiveBombs(t testing.TB, unpacked int) []bomb {
	t.Helper()
	long := func(piece string) string { return times(unpacked/len(piece), piece) }
	half := func(piece string) string { return times(min(unpacked, 30<<20)/len(piece), piece) } // what one file may unfold to
	index := func(text string, more ...string) body {
		return zipBomb(t, append(more, "workspace.json", `{"format":3,`+text+`}`)...)
	}
	points := func(text string) body { // a data set of them
		return sync.OnceValue(func() string {
			sum := sha256.Sum256([]byte(unfold(text)))
			hash := hex.EncodeToString(sum[:])
			return index(`"datasets":[{"id":"a","name":"n","points":"`+hash+`"}]`, "points/"+hash+".csv", text)()
		})
	}
	const square = "x,y,label\n0,0,a\n1,1,b\n"
	sum := sha256.Sum256([]byte(square))
	hash := hex.EncodeToString(sum[:])
	model := func(text string) body { // a run with it
		return index(`"runs":[{"id":"r","name":"n","points":"`+hash+`","spec":{},"axes":["",""],"status":"done","report":{}}]`, "points/"+hash+".csv", square, "models/r.json", text)
	}
	list := []bomb{
		{"runs", "", index(`"runs":[` + long("{},") + `{}]`)},
		{"data sets", "", index(`"datasets":[` + long("{},") + `{}]`)},
		{"searches", "", index(`"searches":[` + long("{},") + `{}]`)},
		{"studies", "", index(`"studies":[` + long("{},") + `{}]`)},
		{"reports", "", index(`"reports":[` + long("{},") + `{}]`)},
		{"items of a report", "", index(`"reports":[{"id":"a","title":"t"}]`, "reports/a.json", `{"items":[`+half("{},")+`{}]}`)},
		{"figures of a report", "", index(`"reports":[{"id":"a","title":"t"}]`, "reports/a.json", `{"items":[{"figures":[`+half("{},")+`{}]}]}`)},
		{"answers", "", index(`"answers":[` + long("{},") + `{}]`)},
		{"tags", "", index(`"runs":[{"tags":[` + half(`"",`) + `""]}]`)},
		{"spec", "", index(`"runs":[{"id":"r","name":"n","points":"`+hash+`","spec":{`+half(`"a":0,`)+`"b":0}}]`, "points/"+hash+".csv", square)},
		{"report", "", index(`"runs":[{"report":{"machines":[` + half(`{},`) + `{}]}}]`)},
		{"values", "", index(`"runs":[{"report":{` + half(`"a":0,`) + `"b":0}}]`)},
		{"grid", "", index(`"searches":[{"grid":{"C":[` + half(`0,`) + `0]}}]`)},
		{"file of a study", "", index(`"studies":[{"id":"a","file":"` + half("a=[]\\n") + `"}]`)},
		{"sizes of a study", "", index(`"studies":[{"sizes":[` + half("0,") + `0]}]`)},
		{"deep", "", index(`"runs":` + half("["))},
		{"zeros", "", points(half("0,"))},
		{"rows", "", points("x,label\n" + half("0,a\n1,b\n"))},
		{"wide", "", points(strings.Repeat("x,", 100) + "label\n" + half(strings.Repeat("0,", 100)+"a\n"))},
		{"strings", "", points("#strings\nstring,label\n" + half(",a\n"))},
		{"graphs", "", points("#graphs\ngraph,label\n" + half("\"{\"\"n\"\":0}\",a\n"))},
		{"kernel", "", points("#precomputed\n" + half("0,"))},
		{"vectors", "", model(`{"format":2,"supports":{"vectors":[` + half("[],") + `[]]}}`)},
		{"numbers", "", model(`{"format":2,"supports":{"vectors":[[` + half("0,") + `0]]}}`)},
		{"machines", "", model(`{"format":2,"machines":[` + half("{},") + `{}]}`)},
		{"parameters", "", model(`{"format":2,"kernel":{` + half(`"a":0,`) + `"b":0}}`)},
		{"ratio", "", index(`"runs":[]`, "a", long("0"))},
		{"files", "", manyFiles(t)},
	}
	for i := range list {
		list[i].kind = "application/zip"
	}
	return list
}

// jsonBombs are bombs in every field of an object, beside what others must hold.
func jsonBombs(beside string, fields ...string) (list []bomb) {
	if beside != "" {
		beside += ","
	}
	for _, field := range fields {
		open := fmt.Sprintf("{%s%q:", beside, field)
		for _, of := range []bomb{
			{"objects", "", fill(open+"[", "{},", "{}]}")},
			{"lists", "", fill(open+"[", "[],", "[]]}")},
			{"texts", "", fill(open+"[", `"",`, `""]}`)},
			{"words", "", fill(open+"[", `"C",`, `"C"]}`)},
			{"numbers", "", fill(open+"[", `1,`, `1]}`)},
			{"points", "", fill(open+"[", `{"C":1},`, `{"C":1}]}`)},
			{"values", "", fill(open+`{"C":[`, `1,`, `1]}}`)},
			{"parameters", "", fill(open+`{`, `"C":1,`, `"gamma":1}}`)},
			{"text", "", fill(open+`"`, "a", `"}`)},
			{"text of lists", "", fill(open+`"`, "1,", `"}`)},
			{"range", "", verbatim(open + `{"C":"1e-300..1e300/1000000000"}}`)},
			{"number", "", verbatim(open + `1e15}`)},
			{"deep", "", fill(open, "[", "")},
			{"deep objects", "", fill(open, `{"a":`, "")},
		} {
			list = append(list, bomb{field + ": " + of.name, "application/json", of.body})
		}
	}
	return list
}

const urlencoded = "application/x-www-form-urlencoded"

// ofParts is the content type of forms that parts writes.
const ofParts = "multipart/form-data; boundary=x"

func parts(to io.Writer) *multipart.Writer {
	form := multipart.NewWriter(to)
	_ = form.SetBoundary("x")
	return form
}

// formBombs are bombs in every field of a form, and in forms themselves.
func formBombs(beside string, fields ...string) []bomb {
	list := []bomb{
		{"one key", urlencoded, fill("a", "&a", "")},
		{"keys", urlencoded, func() string {
			var keys strings.Builder
			for i := 0; keys.Len() < bombBytes-4096; i++ {
				fmt.Fprintf(&keys, "%x&", i)
			}
			return keys.String()
		}},
		{"parts", ofParts, func() string {
			var b bytes.Buffer
			form := parts(&b)
			for i := 0; b.Len() < bombBytes-4096; i++ {
				_ = form.WriteField(fmt.Sprintf("%x", i), "")
			}
			form.Close()
			return b.String()
		}},
		{"headers", ofParts, fill("--x\r\nContent-Disposition: form-data; name=a\r\n", "a:\r\n", "\r\n\r\n--x--\r\n")},
		{"open part", ofParts, fill("--x\r\nContent-Disposition: form-data; name=a\r\n\r\n", "a", "")},
	}
	for _, field := range fields {
		name := "&" + url.QueryEscape(field) + "="
		value := func(before, piece, after string) body {
			return fill(beside+name+url.QueryEscape(before), url.QueryEscape(piece), url.QueryEscape(after))
		}
		for _, of := range []bomb{
			{"text", "", value("", "a", "")},
			{"numbers", "", value("", "1,", "1")},
			{"rows", "", value("x,y,label\n", "1,2,a\n", "")},
			{"short rows", "", value("", "1 1\n", "")},
			{"brackets", "", value("", "(", "")},
			{"words", "", value("", "a ", "")},
			{"lists", "", value("a = [", "[],", "]")},
			{"number", "", verbatim(beside + name + "1e15")},
			{"many", "", fill(beside, name, "")},
		} {
			list = append(list, bomb{field + ": " + of.name, urlencoded, of.body})
		}
	}
	return list
}

// sent are files as a form sends them.
func sent(field string, files []bomb) (list []bomb) {
	for _, f := range files {
		list = append(list, bomb{f.name, ofParts, func() string {
			var b bytes.Buffer
			form := parts(&b)
			w, _ := form.CreateFormFile(field, f.name)
			_, _ = io.WriteString(w, f.body())
			form.Close()
			return b.String()
		}})
	}
	return list
}
