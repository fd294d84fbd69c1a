package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"marginlab/ml/mltest/require"
)

// Files as people's programs write them, with the columns proposed, those with gaps twice more.
func TestSpreadsheets(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/spreadsheets/*")
	require.Must(t, err == nil && len(files) >= 50, "%d files (%v)", len(files), err)
	for _, path := range files {
		name := filepath.Base(path)
		_, ok := spreadsheets[name]
		require.Check(t, ok, "%s: nothing is expected of it", name)
	}
	for name, want := range spreadsheets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := require.Value(os.Open(filepath.Join("testdata/spreadsheets", name)))(t)
			defer file.Close()
			table, err := ParseTable(file, name, Limits{})
			if err != nil {
				checkFault(t, err)
				require.Equal(t, err.Error(), want, "refused as")
				return
			}
			m, obvious := table.Guess()
			lines := []string{told(table, m)}
			if !obvious {
				lines[0] = "asks: " + lines[0]
			}
			if rows, _ := table.Incomplete(m.Label, m.Features); len(rows) > 0 {
				for _, m.Missing = range []Missing{MissingDrop, MissingMedian} {
					lines = append(lines, string(m.Missing)+": "+told(table, m))
				}
			}
			require.Equal(t, strings.Join(lines, "\n"), want, "what is drawn")
		})
	}
}

// told says in a line what a mapping makes of a table.
func told(table *Table, m Mapping) string {
	d, err := table.Data(m)
	if err != nil {
		return err.Error()
	}
	if d.X == nil {
		return fmt.Sprintf("%s ~ %s", d.Label, d.Kind())
	}
	s := fmt.Sprintf("%s ~ %s %v, %d rows, the last %v", d.Label, strings.Join(d.Features, " "), d.Classes, d.Len(), d.X.RawRowView(d.Len()-1))
	for _, n := range d.Notes {
		s += "; " + n
	}
	return s
}

// spreadsheets holds the expected result for each file: the label, the features, the classes, the last
// row and the notes; or why it is refused. In doubtful cases the page asks, and
// the lines below give the result for either answer about missing values.
var spreadsheets = map[string]string{
	"beyond-numbers.csv": `beyond-numbers.csv, line 2, column 1 (x): expected a finite number, found "1e400": correct it or remove the row`,
	"currency.csv":       `label ~ price share [a b], 4 rows, the last [1000 0.07]; currency signs removed (price); thousands separators removed (price); 12 % read as 0.12 (share)`,
	"currency-euro.csv": `asks: currency-euro.csv, line 4, column 2 (Fläche): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row
drop: Klasse ~ Preis Fläche [a b], 3 rows, the last [1000 7.5]; currency signs removed (Preis); thousands separators removed (Preis); 1 of 4 rows left out because a value is missing (line 4)
median: Klasse ~ Preis Fläche [a b], 4 rows, the last [1000 7.5]; currency signs removed (Preis); thousands separators removed (Preis); 1 missing value filled with the column's median (Fläche), computed on the training rows only`,
	"currency-decimal-comma.csv": `Klasse ~ Preis Alter [a b], 3 rows, the last [27.1 50]; currency signs removed (Preis)`,
	"currency-code-gaps.csv": `asks: currency-code-gaps.csv, line 4, column 1 (netto): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row
drop: label ~ netto x [a b], 3 rows, the last [7 4]; currency signs removed (netto); thousands separators removed (netto); 1 of 4 rows left out because a value is missing (line 4)
median: label ~ netto x [a b], 4 rows, the last [7 4]; currency signs removed (netto); thousands separators removed (netto); 1 missing value filled with the column's median (netto), computed on the training rows only`,
	"currency-two.csv":     `asks: label ~ x [a b], 4 rows, the last [4]`,
	"booleans.csv":         `asks: label ~ x member=True [a b], 4 rows, the last [4 0]; "member" encoded as 0 and 1, "member=True"`,
	"header-merged.csv":    `asks: species ~ Sepal length Sepal width Petal length Petal width [a b], 4 rows, the last [6.4 3.2 4.5 1.5]; two lines of names read as one`,
	"names-twice.csv":      `asks: label ~ x x 2 label 2=r [a b], 4 rows, the last [4 5 1]; "label 2" encoded as 0 and 1, "label 2=r"`,
	"quoted-line-ends.csv": `the label ~ x y [a b c], 4 rows, the last [4 1]`,
	"spaces-around.csv":    `label ~ x y [a b], 4 rows, the last [4567 5.5]; thousands separators removed (x)`,
	"title-units-total.csv": `asks: kind ~ length [cm] width [cm] [a b], 4 rows, the last [4 5]; 3 lines above the table left out; 1 row of totals left out (line 9)
drop: kind ~ length [cm] width [cm] [a b], 4 rows, the last [4 5]; 3 lines above the table left out; 1 row of totals left out (line 9)
median: kind ~ length [cm] width [cm] [a b], 4 rows, the last [4 5]; 3 lines above the table left out; 1 row of totals left out (line 9)`,
	"told-separator.csv":          `Gruppe ~ Größe Gewicht [A B], 4 rows, the last [999.9 55]; read as Windows-1252 because it is not UTF-8; thousands separators removed (Größe)`,
	"typographic-minus-plain.csv": `label ~ x y [a b], 4 rows, the last [4 -5]`,
	"vertical-bar.csv":            `c ~ a b [x y], 4 rows, the last [7 8]`,
	"workbook-booleans.xlsx":      `asks: ill ~ smokes=TRUE age [FALSE TRUE], 8 rows, the last [0 27]; "smokes" encoded as 0 and 1, "smokes=TRUE"`,
	"workbook-errors.xlsx": `asks: workbook-errors.xlsx, S1, line 5, column 2 (y): expected a number, found "#DIV/0!": choose how to handle missing values (missing: drop or median), or remove the row
drop: label ~ x y [a b], 7 rows, the last [7 49]; 1 of 8 rows left out because a value is missing (line 5)
median: label ~ x y [a b], 8 rows, the last [7 49]; 1 missing value filled with the column's median (y), computed on the training rows only`,
	"workbook-gaps-between.xlsx":    `label ~ x y [a b], 8 rows, the last [7 49]`,
	"workbook-numbers-as-text.xlsx": `label ~ x y [a b], 8 rows, the last [7.5 49]; 1,5 read as 1.5 (x)`,
	"workbook-offset.xlsx":          `label ~ x y [a b], 8 rows, the last [7 49]`,
	"workbook-truncated.xlsx":       `workbook-truncated.xlsx: expected a zip archive, found a damaged one: not a valid zip file: save or upload the file again`,
	"zero-byte.csv":                 `zero-byte.csv, line 3: expected UTF-8 text, found a zero byte: this is a binary file or UTF-16`,
	"ambiguous-thousand.csv":        `ambiguous-thousand.csv, line 3, column 1 (x): expected a number with a decimal point, found "1,234": write all numbers of the column alike`,
	"constant.csv":                  `asks: label ~ x [A B], 3 rows, the last [3]`,
	"dates-german.csv":              `asks: Regen ~ Temperatur [ja nein], 3 rows, the last [-1]`,
	"dates-last.csv":                `asks: kind ~ x [A B], 3 rows, the last [3]`,
	"dates-us.csv":                  `asks: label ~ x [A B], 3 rows, the last [3]`,
	"dates.csv":                     `asks: rain ~ temperature [no yes], 4 rows, the last [0.5]`,
	"german-utf8.csv":               `Farbe ~ Länge Breite [blau grün rot], 6 rows, the last [5.4 3.9]`,
	"german-windows.csv":            `Farbe ~ Länge Breite [blau grün rot], 6 rows, the last [5.4 3.9]; read as Windows-1252 because it is not UTF-8`,
	"half-utf16.txt":                `half-utf16.txt, line 3: expected text, found invalid UTF-16: save the file as UTF-8`,
	"id.csv":                        `asks: label ~ x [A B], 12 rows, the last [5.5]`,
	"missing-column.csv":            `asks: label ~ x [A B], 3 rows, the last [3]`,
	"missing-empty.csv": `asks: missing-empty.csv, line 3, column 1 (age): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row
drop: group ~ age height [a b], 2 rows, the last [28 1.6]; 2 of 4 rows left out because a value is missing (lines 3, 4)
median: group ~ age height [a b], 4 rows, the last [28 1.6]; 2 missing values filled with the column's median (age, height), computed on the training rows only`,
	"missing-errors.csv": `asks: missing-errors.csv, line 3, column 1 (ratio): expected a number, found "#DIV/0!": choose how to handle missing values (missing: drop or median), or remove the row
drop: label ~ ratio x [A B], 3 rows, the last [0.75 5]; 2 of 5 rows left out because a value is missing (lines 3, 5)
median: label ~ ratio x [A B], 5 rows, the last [0.75 5]; 2 missing values filled with the column's median (ratio), computed on the training rows only`,
	"missing-na.csv": `asks: missing-na.csv, line 3, column 2 (age): expected a number, found "NA": choose how to handle missing values (missing: drop or median), or remove the row
drop: group ~ age height [a b], 3 rows, the last [33 1.75]; 2 of 5 rows left out because a value is missing (lines 3, 5)
median: group ~ age height [a b], 4 rows, the last [33 1.75]; 1 of 5 rows left out because the label is missing (line 5); 1 missing value filled with the column's median (age), computed on the training rows only`,
	"missing-percent.csv": `asks: missing-percent.csv, line 3, column 1 (share): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row
drop: label ~ share x [A B], 3 rows, the last [0.1 4]; 12 % read as 0.12 (share); 1 of 4 rows left out because a value is missing (line 3)
median: label ~ share x [A B], 4 rows, the last [0.1 4]; 12 % read as 0.12 (share); 1 missing value filled with the column's median (share), computed on the training rows only`,
	"missing-question.data": `asks: missing-question.data, line 2, column 1 (x1): expected a number, found "?": choose how to handle missing values (missing: drop or median), or remove the row
drop: label ~ x1 x2 [a b], 2 rows, the last [28 1.6]; 2 of 4 rows left out because a value is missing (lines 2, 3)
median: label ~ x1 x2 [a b], 4 rows, the last [28 1.6]; 2 missing values filled with the column's median (x1, x2), computed on the training rows only`,
	"mixed-percent.csv":     `mixed-percent.csv, line 2, column 1 (share): expected a number, found "50%": correct it or remove the row`,
	"number-too-large.csv":  `number-too-large.csv, line 2, column 1 (x): expected a finite number, found "1e999": correct it or remove the row`,
	"numbered.csv":          `asks: Klasse ~ x [A B], 12 rows, the last [5.5]`,
	"old-mac.csv":           `label ~ x y [A B], 3 rows, the last [5 6]`,
	"one-class.csv":         `one-class.csv, column 3 (label): expected at least two classes, found only "A"`,
	"only-header.csv":       `only-header.csv: expected at least one row of data, found only a header`,
	"open-document.ods":     `open-document.ods: expected a text file, an .xlsx workbook or a zip archive of texts, found another kind of document: save the sheet as .xlsx or CSV`,
	"open-quote.csv":        `open-quote.csv, line 2, column 2: expected a closing quote, found the end of the file: close it, or write a quote within a field twice`,
	"page.html.csv":         `page.html.csv, line 2: expected a table, found a web page, which some programs save with a spreadsheet's extension: open it in a spreadsheet program and save it as .xlsx or CSV`,
	"pandas-index.csv":      `asks: label ~ x y [A B], 12 rows, the last [5.5 -8]`,
	"percent-german.csv":    `Gruppe ~ Anteil [a b], 3 rows, the last [-0.0325]; 12 % read as 0.12 (Anteil)`,
	"percent.csv":           `group ~ share growth [a b], 4 rows, the last [0 0.0325]; 12 % read as 0.12 (share, growth)`,
	"quotes-and-dashes.csv": `asks: kind ~ weight [A B], 3 rows, the last [3]; read as Windows-1252 because it is not UTF-8; typographic quotes around cells removed`,
	"ragged.csv":            `ragged.csv, line 3: expected 3 fields separated by comma, found 2: complete the row, with NA for a missing value`,
	"spreadsheet.xls":       `spreadsheet.xls: expected a text file or an .xlsx workbook, found a document in an older format, such as .xls, or with a password: save the sheet as .xlsx without a password, or as CSV`,
	"sum-below.csv": `asks: label ~ x y [A B], 2 rows, the last [3 4]; 1 row of totals left out (line 4)
drop: label ~ x y [A B], 2 rows, the last [3 4]; 1 row of totals left out (line 4)
median: label ~ x y [A B], 2 rows, the last [3 4]; 1 row of totals left out (line 4)`,
	"thousands-few-german.csv":   `Region ~ Anteil Einkommen [n s], 3 rows, the last [0.5 812.25]; thousands separators removed (Einkommen)`,
	"thousands-few-swiss.csv":    `Region ~ Einkommen [n s], 3 rows, the last [812.25]; thousands separators removed (Einkommen)`,
	"thousands-few-us.csv":       `region ~ rank income [n s], 3 rows, the last [3 2100]; thousands separators removed (income)`,
	"thousands-few-us-whole.csv": `region ~ rank income [n s], 3 rows, the last [3 2100]; thousands separators removed (income)`,
	"thousands-french.csv":       `région ~ population revenu [n s], 3 rows, the last [812 41000.25]; thousands separators removed (population, revenu)`,
	"thousands-german.csv":       `Region ~ Einwohner Einkommen [n s], 3 rows, the last [812 41000.25]; thousands separators removed (Einwohner, Einkommen)`,
	"thousands-swiss.csv":        `Region ~ Einwohner Einkommen [n s], 3 rows, the last [812 41000.25]; thousands separators removed (Einwohner, Einkommen)`,
	"thousands-us.csv":           `region ~ population income [n s], 3 rows, the last [812 41000.25]; thousands separators removed (population, income)`,
	"title-above.csv":            `label ~ x y [A B], 2 rows, the last [3 4]; 2 lines above the table left out`,
	"trailing-commas.csv":        `label ~ x y [A B], 2 rows, the last [3 4]`,
	"two-decimal-signs.csv":      `two-decimal-signs.csv, line 3, column 1 (x): expected a number with a decimal point, found "2,5": write all numbers of the column alike`,
	"typographic-minus.csv":      `label ~ x y [a b], 3 rows, the last [-7250 6]; thousands separators removed (x)`,
	"unbalanced-group.csv":       `unbalanced-group.csv, line 2, column 1 (x): expected a number, found "1.234.56": correct it or remove the row`,
	"unicode-big-endian.txt":     `Farbe ~ Länge Breite [blau grün rot], 6 rows, the last [5.4 3.9]; read as UTF-16`,
	"unicode-text.txt":           `Farbe ~ Länge Breite [blau grün rot], 6 rows, the last [5.4 3.9]; read as UTF-16`,
	"unicode-without-mark.csv":   `colour ~ length width [blue red], 6 rows, the last [5.4 3.9]; read as UTF-16`,
	"units-below.csv":            `label ~ x y [A B], 2 rows, the last [3 4]; the line below the names has no numbers and is left out`,
	"workbook-1904.xlsx":         `asks: label ~ x [A B], 2 rows, the last [2]`,
	"workbook-bomb.xlsx":         "workbook-bomb.xlsx, xl/sharedStrings.xml: expected cells of at most 32\u202f767 characters, the limit of spreadsheet programs, found a longer one",
	"workbook-cut.xlsx":          `workbook-cut.xlsx: expected a workbook, found a damaged one (S): EOF: save it again as .xlsx or CSV`,
	"workbook-damaged.xlsx":      `workbook-damaged.xlsx: expected a workbook, found a damaged one (S): a cell refers to text "99" of 6: save it again as .xlsx or CSV`,
	"workbook-dates.xlsx":        `asks: label ~ share stay [FALSE TRUE], 3 rows, the last [1 1.25]`,
	"workbook-empty.xlsx":        `workbook-empty.xlsx: expected a sheet with at least one row of data, found none`,
	"workbook-far.xlsx":          `workbook-far.xlsx, S, line 1: expected at most 201 columns, found column 16384`,
	"workbook-inline.xlsx":       `Farbe ~ Länge Breite [blau grün rot], 6 rows, the last [5.4 3.9]`,
	"workbook-missing.xlsx": `asks: workbook-missing.xlsx, S, line 2, column 2 (y): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row
drop: label ~ x y [A B], 3 rows, the last [2 7]; 2 of 5 rows left out because a value is missing (lines 2, 4)
median: label ~ x y [A B], 5 rows, the last [2 7]; 2 missing values filled with the column's median (x, y), computed on the training rows only`,
	"workbook-sheets.xlsx":     `label ~ x y [A B], 3 rows, the last [5 1e-07]; sheet "Data & more" of 2`,
	"workbook-two-tables.xlsx": `kind ~ weight age [siamese tabby], 3 rows, the last [5 7]; sheet "Cats" of 3`,

	"workbook-text-in-numbers.xlsx": `asks: workbook-text-in-numbers.xlsx, S, line 4, column 1 (x): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row`,
	"workbook.xlsx":                 `Farbe ~ Länge Breite [blau grün rot], 6 rows, the last [5.4 3.9]`,
}

// TestDatesOfWorkbooks compares with what spreadsheet programs show.
func TestDatesOfWorkbooks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		since int
		days  float64
		want  string
	}{
		{1900, 1, "1900-01-01"},
		{1900, 59, "1900-02-28"},
		{1900, 61, "1900-03-01"},
		{1900, 45292, "2024-01-01"},
		{1900, 45292.75, "2024-01-01 18:00:00"},
		{1900, 0.3125, "07:30:00"},
		{1900, 2958465, "9999-12-31"},
		{1900, 2958466, "2.958466e+06"},
		{1900, -1, "-1"},
		{1904, 0.5, "12:00:00"},
		{1904, 43830, "2024-01-01"},
	} {
		b := &workbook{since: time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)}
		if tt.since == 1904 {
			b.since = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		require.Equal(t, b.date(tt.days), tt.want, "day %g since %d", tt.days, tt.since)
	}
	for code, want := range map[string]byte{
		"General": 0, "0.00": 0, `0.0" days"`: 0, `0\d`: 0, "[Red]0.00": 0, "#,##0.00;[Red]-#,##0.00": 0, "0_m": 0,
		"dd/mm/yyyy;@": 'd', "[$-409]mmm yy": 'd', "[h]:mm": 'h', "[MM]:ss": 'm', "[s].00": 's', "hh:mm": 'd', `yyyy"-"mm`: 'd', `0;"d`: 0,
	} {
		require.Equal(t, timeFormat(code), want, "%s", code)
	}
}

// TestSheets reads the sheet of a workbook that is asked for, and names those there are.
func TestSheets(t *testing.T) {
	t.Parallel()
	raw := require.Value(os.ReadFile("testdata/spreadsheets/workbook-two-tables.xlsx"))(t)
	for sheet, rows := range map[string]int{"": 3, "Read me": 2, "Cats": 3, "dogs": 4} {
		table := require.Value(ParseSheet(bytes.NewReader(raw), "w.xlsx", sheet, Limits{}))(t)
		require.Check(t, len(table.Lines) == rows && strings.Join(table.Sheets, ", ") == "Read me, Cats, Dogs" && (strings.EqualFold(table.Sheet, sheet) || sheet == ""),
			"%q: %d rows of %q among %q", sheet, len(table.Lines), table.Sheet, table.Sheets)
	}
	for file, text := range map[string]string{"w.xlsx": string(raw), "p.csv": "x,label\n1,a\n2,b\n", "t.zip": require.Zip(t, "a/1", "cat", "b/2", "cart")} {
		want := file + `: expected an .xlsx workbook with the sheet "Birds", found another kind of file`
		if file == "w.xlsx" {
			want = `w.xlsx: no sheet "Birds": expected one of Read me, Cats, Dogs`
		}
		_, err := ParseSheet(strings.NewReader(text), file, "Birds", Limits{})
		require.Check(t, err != nil && err.Error() == want, "%v, want %s", err, want)
	}
}

// What is neither a workbook nor text is refused by its name; text is read under any.
func TestNoWorkbook(t *testing.T) {
	t.Parallel()
	const rows, noise = "x,label\n1,a\n2,b\n", "\x8f\x02\x00q\x90\xfe\n\x11"
	for file, want := range map[string]string{
		"x.xlsx": "expected a workbook, found a file that is neither a zip archive nor text: save the sheet again as .xlsx or CSV",
		"x.ODS":  "expected a workbook, found",
		"x.csv":  "line 1: expected UTF-8 text, found a zero byte",
	} {
		_, err := ParseTable(strings.NewReader(noise), file, Limits{})
		require.Fails(t, err, want, "%s", file)
		require.NoError(t, require.Err(ParseTable(strings.NewReader(rows), file, Limits{})))
	}
	require.Fails(t, require.Err(ParseTable(strings.NewReader("\xd0\xcf\x11\xe0\x00"), "x.xls", Limits{})), "an older format", "a workbook of before 2007")
}

// Files that programs export, or people join and annotate, are read as a careful person would.
func TestExports(t *testing.T) {
	t.Parallel()
	many := func(row string) string { return strings.Repeat(row, 12) }
	for name, test := range map[string]struct{ file, want string }{
		"full-width digits":           {"x,y,label\n１．５,－２,a\n２．５,３,b\n", "label ~ x y [a b], 2 rows, the last [2.5 3]"},
		"full-width first row":        {"１;２，５;a\n３;４，５;b\n", "label ~ x1 x2 [a b], 2 rows, the last [3 4.5]"},
		"Arabic digits":               {"x;y;label\n٣٫٥;١٬٢٣٤٫٥;a\n٤;٢٬٣٤٥;b\n", "label ~ x y [a b], 2 rows, the last [4 2345]; thousands separators removed (y)"},
		"Persian digits, a share":     {"x,y,label\n۱۲٪,۱,نه\n۱۴٪,۲,بله\n", "label ~ x y [بله نه], 2 rows, the last [0.14 2]; 12 % read as 0.12 (x)"},
		"digits in words":             {"x,label\n1,第１組\n2,第２組\n", "label ~ x [第１組 第２組], 2 rows, the last [2]"},
		"numbers in formulas":         {"x,y,label\n1,=\"01.5\",a\n2,\"=\"\"2,345\"\"\",b\n3,=\"7\",b\n", "label ~ x y [a b], 3 rows, the last [3 7]; thousands separators removed (y)"},
		"formulas of words":           {"x,label\n1,=\"a\"\n2,b\n", `label ~ x [="a" b], 2 rows, the last [2]`},
		"R, row names without a name": {"\"x\",\"label\"\n\"1\",1.5,\"a\"\n\"2\",2,\"b\"\n", "label ~ x [a b], 2 rows, the last [2]; the first line has one name fewer than the rows have fields: the first column is read as row names"},
		"decimal commas":              {"x,label\n1,5,a\n2,5,b\n", "f.csv, line 2: expected 2 fields separated by comma, found 3: put quotes around a field that contains a comma, or separate all fields by semicolon"},
		"a separator after each row":  {"x,y,label\n1,2,a,\n3,4,b,\n", "label ~ x y [a b], 2 rows, the last [3 4]"},
		"null of databases":           {"x,label\n1,a\n\\N,a\n3,<NA>\n4,b\n", `f.csv, line 3, column 1 (x): expected a number, found "\\N": choose how to handle missing values (missing: drop or median), or remove the row`},
		"Markdown":                    {"| x | label |\n|--:|:----|\n| 1 | a |\n| 2 | b |\n", "label ~ x [a b], 2 rows, the last [2]"},
		"table of a terminal":         {"+---+-------+\n| x | label |\n+---+-------+\n| 1 | a     |\n| 2 | b     |\n+---+-------+\n", "label ~ x [a b], 2 rows, the last [2]"},
		"no rule":                     {"x|label\n-1|a\n2|b\n", "label ~ x [a b], 2 rows, the last [2]"},
		"joined files":                {"x,label\n1,a\n2,b\n\ufeffx,label\n3,a\n", "label ~ x [a b], 3 rows, the last [3]; 1 row with the names of the columns left out (line 4)"},
		"zero width":                  {"\u200bx,y\u200b,\u2060label\n1\u200b,2,a\n3,\u200b4,b\u200b\n5,6,\ufeffa\n", "label ~ x y [a b], 3 rows, the last [5 6]"},
		"comments between rows":       {"# c\nx,label\n1,a\n#2,a\n3,b\n# end\n", "label ~ x [a b], 2 rows, the last [3]; 2 lines beginning with # left out"},
		"column too narrow":           {"x,label\n1,a\n#####,a\n3,b\n", `f.csv, line 3, column 1 (x): expected a number, found "#####": correct it or remove the row`},
		"blanks between tabs":         {"x\ty\tlabel\n1 234\t1.5\ta\n2 345\t2.5\tb\n", "label ~ x y [a b], 2 rows, the last [2345 2.5]; thousands separators removed (x)"},
		"comments with blanks":        {"### c ###\nx label\n1 a\n2 b\n", "label ~ x [a b], 2 rows, the last [2]"},
		"rows in quotes":              {"\"x;y;label\"\r\n\"1,5;2;\"\"a b\"\"\"\r\n\"2,5;3;b\"\r\n", "label ~ x y [a b b], 2 rows, the last [2.5 3]; quotes around each row removed"},
		"rows in quotes, no names":    {"\"1,2,a\"\n\"3,4,b\"\n", "label ~ x1 x2 [a b], 2 rows, the last [3 4]; quotes around each row removed"},
		"one quoted text a row":       {"text\n\"yes, it is\"\n\"no, never\"\n", "f.csv: expected a label and at least one feature, found a single column: separate fields by comma, semicolon, tab or spaces"},
		"single quotes":               {"'x','label'\n'1.5','a'\n'2','b'\n", "label ~ x [a b], 2 rows, the last [2]; single quotes around cells removed"},
		"single quotes and blanks":    {"x 'the label'\n1.5 'a b'\n2 'c d'\n", "the label ~ x [a b c d], 2 rows, the last [2]; single quotes around cells removed"},
		"feet, and blanks":            {"x label\n1.5 5'\n2 6'\n", "label ~ x [5' 6'], 2 rows, the last [2]"},
		"typographic quotes":          {"“x”,“y, cm”,“label”\n1,2,“a”\n3,4, ”b”\n", "label ~ x y, cm [a b], 2 rows, the last [3 4]; typographic quotes around cells removed"},
		"quotes of Germany, France":   {"„x“;«\u00a0label\u00a0»\n1,5;„a“\n2,5;«b»\n", "label ~ x [a b], 2 rows, the last [2.5]; typographic quotes around cells removed"},
		"typographic quotes, within":  {"x,label\n1,“a” b\n2,“c”\n", "label ~ x [“a” b “c”], 2 rows, the last [2]"},
		"typographic quotes, open":    {"x,label\n1,“a\n2,b\n", "label ~ x [b “a], 2 rows, the last [2]"},
		"C4.5":                        {"1.5,2,no.\n2.5,3,yes.\n", "label ~ x1 x2 [no yes], 2 rows, the last [2.5 3]; dots at the ends of rows removed"},
		"a dot behind some":           {"x,label\n1,no.\n2,yes\n", "label ~ x [no. yes], 2 rows, the last [2]"},
		"years above two columns":     {"country,2019,2020,kind\nDE,1,5,u\nFR,2,4,v\n", `f.csv, line 2, column 1 (country): expected a number, found "DE": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		"two years":                   {"2019,2020,cat\n1.5,2,a\n2.5,3,b\n", "cat ~ 2019 2020 [a b], 2 rows, the last [2.5 3]"},
		"years below years":           {"2019,2020,cat\n1998,2001,dog\n", "label ~ x1 x2 [cat dog], 2 rows, the last [1998 2001]"},
		"notes in words":              {"note,x,y,cat\n" + many("ok,1,2,a\nlate,2,1,a\nok,3,4,b\n"), `f.csv, line 2, column 1 (note): expected a number, found "ok": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		"notes in numbers":            {"x,y,note\n" + many("1.5,2,1\n2.5,1,2\n3.5,4,3\n"), "note ~ x y [1 2 3], 36 rows, the last [3.5 4]"},
		"Indian thousands":            {"x,y,label\n\"1,23,456.5\",1,a\n\"12,345\",2,b\n", "label ~ x y [a b], 2 rows, the last [12345 2]; thousands separators removed (x)"},
		"only rows behind a hash":     {"x,label\n#1,a\n#2,b\n", "f.csv: expected at least one row of data, found only a header and 2 lines beginning with #: put quotes around a value that begins with #"},
		"comments of another program": {"// made by A, B and C\n// in 2024\nx,label\n1,a\n2,b\n", "label ~ x [a b], 2 rows, the last [2]; 2 lines above the table left out"},
		"names in a comment":          {"% made by A, B and C\n% x,label\n1,a\n2,b\n", "label ~ x [a b], 2 rows, the last [2]; 1 line above the table left out"},
		"comment above numbers":       {"% made by A\n1,a\n2,b\n", "label ~ x1 [a b], 2 rows, the last [2]; 1 line above the table left out"},
		"names behind slashes":        {"// x,label\n1,a\n2,b\n", "label ~ x [a b], 2 rows, the last [2]"},
		"names behind a hash":         {"# made by A, B\n#x,label\n\n1,a\n2,b\n", "label ~ x [a b], 2 rows, the last [2]"},
		"numpy.savetxt":               {"# cm kind\n1.5 0\n2.5 1\n", "kind ~ cm [0 1], 2 rows, the last [2.5]"},
		"thousands beside decimals":   {"x;y;label\n1,5;993.687;a\n2,5;1.204;b\n", "label ~ x y [a b], 2 rows, the last [2.5 1204]; thousands separators removed (y)"},
		"columns that pandas counts":  {"0,1,2\n0.5,1.5,0\n1,2.5,1\n", "2 ~ 0 1 [0 1], 2 rows, the last [1 2.5]"},
		"a row that counts":           {"0,1,2\n1,4,0\n3,2,1\n2,2,0\n5,4,1\n", "label ~ x1 x2 [0 1 2], 5 rows, the last [5 4]"},
		"Qualtrics":                   {"Q1,Q2\nHow old?,Ill?\n\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID2\"\"}\"\n31,yes\n42,no\n", "Q2 ~ Q1 [no yes], 2 rows, the last [42]; 2 lines below the names left out"},
		"Orange":                      {"a\tkind\tb\nc\tyes no\tcontinuous\n\tclass\t\n1.5\tyes\t2\n2.5\tno\t3\n3.5\tno\t1\n", "kind ~ a b [no yes], 3 rows, the last [3.5 1]; 2 lines below the names read as types and roles of columns"},
		"Orange, in the names":        {"C#a,cD#kind,D#b\n1.5,yes,2\n2.5,no,3\n3.5,no,1\n", "kind ~ a b [no yes], 3 rows, the last [3.5 1]"},
		"names with #":                {"C#1,D#1,label\n1,4,a\n2,5,b\n", "label ~ C#1 D#1 [a b], 2 rows, the last [2 5]"},
		"negatives in brackets":       {"x,y,label\n(3.51),\"$(1,200.50)\",a\n2.25,\"$3,000.00\",b\n(4),\"$(7.00)\",b\n", "label ~ x y [a b], 3 rows, the last [-4 -7]; (1.5) or 1.5- read as −1.5 (x, y); currency signs removed (y); thousands separators removed (y)"},
		"grades":                      {"x,label\n1.5,1-\n2.5,2-\n3,2\n", "label ~ x [1- 2 2-], 3 rows, the last [3]"},
		"losses to predict":           {"x;loss\n1,5;1,25-\n2,5;2,5\n3;1\n", "loss ~ x [-1.25 1 2.5], 3 rows, the last [3]; (1.5) or 1.5- read as −1.5 (loss)"},
		"minus behind":                {"x;y;label\n3,51-;1-;a\n2,25;2;b\n1.004,00-;(3);b\n", "label ~ x y [a b], 3 rows, the last [-1004 -3]; (1.5) or 1.5- read as −1.5 (x, y); thousands separators removed (x)"},
		"brackets around all":         {"x,y,label\n(3),1,a\n(4),2,b\n", `f.csv, line 2, column 1 (x): expected a number, found "(3)": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		"thousands and a word":        {"x;y;label\n1,5;993.687;a\n2,5;1.204;b\n2,5;7;b\n2,5;k.A.;b\n", `f.csv, line 5, column 2 (y): expected a number, found "k.A.": correct it or remove the row`},
		"thousands beside quotes":     {"x,y,label\n\"1,5\",993.687,a\n\"2,5\",1.204,b\n", "label ~ x y [a b], 2 rows, the last [2.5 1204]; thousands separators removed (y); 1,5 read as 1.5 (x)"},
		"thousands beside points":     {"x\ty\tlabel\n1.5\t993,687\ta\n2.5\t1,204\tb\n", "label ~ x y [a b], 2 rows, the last [2.5 1204]; thousands separators removed (y)"},
		"decimals beside thousands":   {"x;y;label\n1.234.567;3,125;a\n1;1,204;b\n", "label ~ x y [a b], 2 rows, the last [1 1.204]; thousands separators removed (x)"},
		"thousands in one column":     {"y;label\n993.687;a\n1.204,5;b\n", "label ~ y [a b], 2 rows, the last [1204.5]; thousands separators removed (y)"},
		"a column with points":        {"x;y;z;label\n1,5;9.5;993.687;a\n2,5;1.204;1.204;b\n", "label ~ x y z [a b], 2 rows, the last [2.5 1.204 1.204]; 1,5 read as 1.5 (x)"},
		"only in doubt":               {"y;label\n993.687;a\n1.204;b\n", "label ~ y [a b], 2 rows, the last [1.204]"},
		"prices of fuel":              {"price,x,label\n$3.459,0.5,a\n$2.999,2,b\n", "label ~ price x [a b], 2 rows, the last [2.999 2]; currency signs removed (price)"},
		"addresses":                   {"x;ip;label\n5.125;192.168.100.138;a\n2.250;192.168.100.139;b\n", `f.csv, line 2, column 2 (ip): expected a number, found "192.168.100.138": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		"days beside decimals":        {"x;day;label\n1,5;01.02.2024;a\n2,5;02.02.2024;b\n", `f.csv, line 2, column 2 (day): expected a number, found the date or time "01.02.2024": choose feature columns without this one`},
		"title above numbers":         {"My data\n\n1,2,a\n3,4,b\n", "label ~ x1 x2 [a b], 2 rows, the last [3 4]; 1 line above the table left out"},
		"names by another separator":  {"x;y;label\n95 100,50 u;38;a\n12 200,50 u;7;b\n", `f.csv, line 2, column 1 (x): expected a number, found "95 100,50 u": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		"reais":                       {"x;y;label\nR$ 1.079,78;38;a\n-R$ 2,50;7;b\n", "label ~ x y [a b], 2 rows, the last [-2.5 7]; currency signs removed (x); thousands separators removed (x)"},
		"crowns":                      {"x;y;label\n95 100,50 kr;38;a\n12 200,50 kr;7;b\n", "label ~ x y [a b], 2 rows, the last [12200.5 7]; currency signs removed (x); thousands separators removed (x)"},
		"dashes for minuses":          {"x,label\n–1.5,a\n2,10–20\n", "label ~ x [10–20 a], 2 rows, the last [2]"},
		"one name above numbers":      {"x,\n1,a\n2,b\n", "column 2 ~ x [a b], 2 rows, the last [2]"},
		"rows that begin with //":     {"//a/b,1,u\n//a/c,2,v\n/d,3,u\n", `f.csv, line 1, column 1 (x1): expected a number, found "//a/b": choose feature columns without this one, or name it as a feature to one-hot encode it`},
		"two kinds of comments":       {"% by A\n% x,label\n# nothing\n1,a\n2,b\n", "label ~ x1 [a b], 2 rows, the last [2]; 2 lines above the table left out"},
		"a comment of a number":       {"# in May, 2024\n1,a\n2,b\n", "label ~ x1 [a b], 2 rows, the last [2]"},
		"VCF":                         {"##format=4\n#POS\tREF\tlabel\n1\t0.5\ta\n7\t2.5\tb\n", "label ~ POS REF [a b], 2 rows, the last [7 2.5]"},
		"a name above row names":      {"#\tx\tlabel\n1\t0.5\ta\n2\t2.5\tb\n", "label ~ x [a b], 2 rows, the last [2.5]"},
		"title, comment, names":       {"Birds\n// by A, B\nx,label\n1,a\n2,b\n", "label ~ x [a b], 2 rows, the last [2]; 2 lines above the table left out"},
		"comment above a column":      {"# all in cm\nx;label\n1;a\n2;b\n", "label ~ x [a b], 2 rows, the last [2]"},
		"percent among blanks":        {"% by A\n1.5 2 a\n2.5 3 b\n", "label ~ x1 x2 [a b], 2 rows, the last [2.5 3]; 1 line above the table left out"},
		"percent in several names":    {"%fat %oil label\n1 2 a\n2 3 b\n", "label ~ %fat %oil [a b], 2 rows, the last [2 3]"},
		"name with a percent sign":    {"% fat,label\n1,a\n2,b\n", "label ~ % fat [a b], 2 rows, the last [2]"},
		"numbered columns":            {",0,1,2,species\n0,1.5,2,3,a\n1,2,3,4,b\n2,2,3,4,a\n3,2,5,4,b\n", "species ~ 0 1 2 [a b], 4 rows, the last [2 5 4]"},
		"row numbers and two":         {",0,1,species\n0,1.5,2,a\n1,2,3,b\n2,2,3,a\n3,2,5,b\n", "species ~ 0 1 [a b], 4 rows, the last [2 5]"},
		"wavelengths":                 {"400,410,420,kind\n1,2,3,a\n2,3,5,b\n2,3,1,a\n2,5,1,b\n", "kind ~ 400 410 420 [a b], 4 rows, the last [2 5 1]"},
		"uneven numbers before words": {"4,5,7,c\n1,2,3,a\n2,3,5,b\n2,3,1,a\n2,5,1,b\n", "label ~ x1 x2 x3 [a b c], 5 rows, the last [2 5 1]"},
		"years":                       {"country,2019,2020,2021,gdp\nch,1.5,2,3,10\nde,2,3,4,11.5\n", "country ~ 2019 2020 2021 gdp [ch de], 2 rows, the last [2 3 4 11.5]"},
		"ratings below names":         {"Ann,1,2,3\nBob,3,3,2\nCid,2,1,4\n", "label ~ x1 x2 x3 [Ann Bob Cid], 3 rows, the last [2 1 4]"},
		"ratings before classes":      {"1,2,3,a\n3,3,2,b\n2,1,4,a\n", "label ~ x1 x2 x3 [a b], 3 rows, the last [2 1 4]"},
		"blanks in names and cells":   {"my size;weight;label\n" + many("1.5 cm;2 kg;a\n2 cm;3 kg;b\n"), "label ~ my size weight [a b], 24 rows, the last [2 3]; units removed (my size, weight)"},
		"blanks in names and texts":   {"my text,label\n" + many("5 stars,good\n4 stars,bad\n"), "label ~ strings"},
		"title above tabs":            {"My data\n\n\"label\"\t\"y\"\n\"a\"\t\"1.5\"\n\"b\"\t\"2.5\"\n", "label ~ y [a b], 2 rows, the last [2.5]; 1 line above the table left out"},
		"a comment with its key":      {"# Author: Ann, Bob\n1,a\n2,b\n", "label ~ x1 [a b], 2 rows, the last [2]"},
		"commas among blanks":         {"x kind\n1 a,b\n2 c\n3 c\n", "kind ~ x [a,b c], 3 rows, the last [3]"},
		"psql":                        {" x | y | label\n---+---+-------\n 1 | 2 | a\n 3 | 4 | b\n(2 rows)\n\n", "label ~ x y [a b], 2 rows, the last [3 4]; 1 line below the table left out"},
		"source and remarks below":    {"x,y,label\n1,2,a\n3,4,b\n\nSource: Ann, Bob, 2024, pp\n* all in cm\n", "label ~ x y [a b], 2 rows, the last [3 4]; 2 lines below the table left out"},
		"source right below":          {"x y label\n1 2 a\n3 4 b\nQuelle: Amt\n", "label ~ x y [a b], 2 rows, the last [3 4]; 1 line below the table left out"},
		"remark and its separators":   {"x;y;label\n1;2;a\n3;4;b\n;;\nall in cm;;\n", "label ~ x y [a b], 2 rows, the last [3 4]; 1 line below the table left out"},
		"only its name":               {"label,x,y\nred cat,2,1\nblue dog,4,3\nred cat,,\n", `f.csv, line 4, column 2 (x): expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row`},
		"remark above rows":           {"x,y,label\n1,2,a\n3,4,b\nafter lunch\n5,6,a\n", "f.csv, line 4: expected 3 fields separated by comma, found 1: complete the row, with NA for a missing value"},
		"a row cut off":               {"x,y,label\n1,2,a\n3,4,b\n5\n", "f.csv, line 4: expected 3 fields separated by comma, found 1: complete the row, with NA for a missing value"},
		"keys and values above":       {"Instrument;XY 2\nDate;2024-01-31\nBy: Ann\n\nx;y;label\n1,5;2;a\n2,5;4;b\n", "label ~ x y [a b], 2 rows, the last [2.5 4]; 3 lines above the table left out"},
		"keys and their separators":   {"Instrument,XY,,\nBy,Ann,,\nx,y,z,label\n1,2,3,a\n3,4,5,b\n", "label ~ x y z [a b], 2 rows, the last [3 4 5]; 2 lines above the table left out"},
		"names below merged cells":    {"kind,Sepal,\n,length,width\na,1,2\nb,3,4\n", "kind ~ Sepal length width [a b], 2 rows, the last [3 4]; two lines of names read as one"},
		"keys with colons above":      {"Sample: 12, 13\nBy: Ann, Bob, Eve\nx,y,label\n1,2,a\n3,4,b\n", "label ~ x y [a b], 2 rows, the last [3 4]; 2 lines above the table left out"},
		"keys above numbers":          {"Instrument;XY\n1;2;a\n3;4;b\n5;6;a\n", "f.csv, line 2: expected 2 fields separated by semicolon, found 3: put quotes around a field that contains the separator"},
		"units in the cells":          {"size,weight,label\n" + many("1.5 cm,2kg,a\n2 cm,3kg,b\n"), "label ~ size weight [a b], 24 rows, the last [2 3]; units removed (size, weight)"},
		"two units in a column":       {"size,weight,label\n" + many("1.5 cm,2kg,a\n2 mm,3kg,b\n"), "f.csv, line 2, column 1 (size): expected a number, found \"1.5 cm\": choose feature columns without this one, or name it as a feature to one-hot encode it"},
		"three decimals and a unit":   {"x;y;label\n1.200 kg;5 m²;a\n2.250 kg;6 m²;b\n", "label ~ x y [a b], 2 rows, the last [2.25 6]; units removed (x, y)"},
		"names with units":            {"100 m,200 m,label\n11,23 s,a\n12,24 s,b\n", "label ~ 100 m 200 m [a b], 2 rows, the last [12 24]; units removed (200 m)"},
	} {
		table, err := ParseTable(strings.NewReader(test.file), "f.csv", Limits{})
		if err != nil {
			checkFault(t, err)
			require.Equal(t, err.Error(), test.want, "%s", name)
			continue
		}
		require.Equal(t, told(table, Mapping{}), test.want, "%s", name)
	}
	comments := "x,label\n" + strings.Repeat("1,a\n2,b\n# no\n", blockSize)
	table := require.Value(ParseTable(strings.NewReader(comments), "f.csv", Limits{}))(t)
	require.Equal(t, strings.Join(table.Notes, "; "), Count(blockSize, "line")+" beginning with # left out", "in many blocks")
}

// Separator and names of columns are those that a person would see.
func TestSeparators(t *testing.T) {
	t.Parallel()
	many := func(row string) string { return strings.Repeat(row, 12) }
	for name, test := range map[string]struct{ file, want string }{
		"points of commas":          {"point;class\n" + many("1,2,3;a\n4,5,6;b\n"), "semicolon: point class, 24 rows"},
		"points of semicolons":      {"point,class\n" + many("1;2;3,a\n4;5;6,b\n"), "comma: point class, 24 rows"},
		"lists between tabs":        {"items\tlabel\n" + many("1,2\ta\n1,2,3\tb\n"), "tab: items label, 24 rows"},
		"one decimal comma a row":   {"x;note;label\n" + many("1,5;Köln;a\n2,5;Bonn;b\n"), "semicolon: x note label, 24 rows"},
		"decimal commas, bars":      {many("1,5|Köln|a\n2,5|Bonn|b\n"), "vertical bar: x1 x2 label, 24 rows"},
		"times between tabs":        {many("1,5\t2024-01-01 10:00:00\t28 Nov 2022\ta\n2,5\t2024-01-02 11:00:00\t3 May 2022\tb\n"), "tab: x1 x2 x3 label, 24 rows"},
		"title above quoted cells":  {"My data\n\"label\",\"y\"\n\"a\",\"n/a\"\n\"b\",\"n/a\"\n", "comma: label y, 2 rows"},
		"title above dates":         {"My data\n2024-01-01 10:00:00,low\n2024-01-02 11:00:00,high\n", "comma: x1 label, 2 rows"},
		"commas with blanks":        {many("0, n/a, 5\n1, 2, 3\n"), "comma: x1 x2 x3, 24 rows"},
		"a comment with dates":      {"# date: 2024-01-01\n\"2024-02-01\" \"low\"\n\"2024-02-02\" \"low\"\n", "spaces: x1 label, 2 rows"},
		"percent above percentages": {"% fat,label\n12%,a\n14%,b\n", "comma: % fat label, 2 rows"},
		"percent in quotes":         {"\"%fat\" \"y\" \"label\"\n\"1 234,5\" NA \"a\"\n\"2 345,5\" NA \"b\"\n", "spaces: %fat y label, 2 rows"},
		"separators at every end":   {"% fat\tlabel\t\n1\ta\t\n2\tb\t\n", "tab: % fat label, 2 rows"},
	} {
		table := require.Value(ParseTable(strings.NewReader(test.file), "f.csv", Limits{}))(t, "%s", name)
		require.Equal(t, fmt.Sprintf("%s: %s, %d rows", table.Separator, strings.Join(table.names(), " "), len(table.Lines)), test.want, "%s", name)
	}
}

// A file with far more columns than its limits allow is refused before they are compared.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("a,", 50_000) + "b\n"
	err := require.Err(ParseTable(strings.NewReader(row+row+row), "f.csv", Limits{}))
	require.Check(t, errors.Is(err, ErrTooLarge) && err.Error() == "f.csv, line 1: expected at most 201 columns, found 50001", "%v", err)
}

// Of several visible sheets, the first one that holds data is read, not a legend or one with a fault before it.
func TestFirstSheetOfData(t *testing.T) {
	t.Parallel()
	row := func(cells ...string) (s string) {
		for _, c := range cells {
			if _, number := parseNumber(c); number || c[0] == '<' {
				s += `<c><v>` + c + `</v></c>`
			} else {
				s += `<c t="str"><v>` + c + `</v></c>`
			}
		}
		return `<row>` + s + `</row>`
	}
	legend := row("code", "meaning", "unit") + row("1", "length", "mm") + row("2", "width", "cm") + row("3", "mass", "kg")
	remarks := row("Author", "Meier") + row("Note", "All in mm") + row("Room", "Note")
	texts := row("text", "label") + strings.Repeat(row("a b", "x")+row("c d", "y"), leastKnown)
	data := row("x", "label") + row("1.5", "a") + row("2", "b") + row("3", "a")
	unsaved := row("x", "label") + `<row><c r="A2"><f>1+1</f></c></row>` + data
	for name, test := range map[string]struct {
		sheets []string
		want   string
	}{
		"legend":        {[]string{legend, data}, "B"},
		"remarks":       {[]string{remarks, data}, "B"},
		"faulty":        {[]string{unsaved, data}, "B"},
		"hidden":        {[]string{"hidden", data, data}, "B"},
		"texts":         {[]string{texts, data}, "A"},
		"data":          {[]string{data, texts}, "A"},
		"only legends":  {[]string{row("remark") + row("all in mm"), remarks, legend}, "B"},
		"only one list": {[]string{row("remark") + row("all in mm"), row("x")}, "A"},
	} {
		files := []string{}
		list, parts := "", ""
		for k, s := range test.sheets {
			state := ""
			if s == "hidden" {
				state, s = ` state="hidden"`, data
			}
			name := string(rune('A' + k))
			list += `<sheet name="` + name + `" id="` + name + `"` + state + `/>`
			parts += `<Relationship Id="` + name + `" Target="` + name + `.xml"/>`
			files = append(files, "xl/"+name+".xml", `<worksheet><sheetData>`+s+`</sheetData></worksheet>`)
		}
		files = append(files, workbookFile, `<workbook><sheets>`+list+`</sheets></workbook>`, "xl/_rels/workbook.xml.rels", `<Relationships>`+parts+`</Relationships>`)
		table, err := ParseTable(strings.NewReader(require.Zip(t, files...)), "w.xlsx", Limits{})
		require.Must(t, err == nil && table.Sheet == test.want, "%s: %v", name, err)
	}
}

// A duration is read as the number that its format counts, so that 36:30 is 36.5 hours or minutes.
func TestDurations(t *testing.T) {
	t.Parallel()
	book := require.Zip(
		t, workbookFile, `<workbook><sheets><sheet name="S" id="1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="1" Target="s.xml"/></Relationships>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[mm]:ss"/><numFmt numFmtId="165" formatCode="[s]"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="46"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
		"xl/s.xml", `<worksheet><sheetData><row><c t="str"><v>x</v></c><c t="str"><v>y</v></c><c t="str"><v>z</v></c><c t="str"><v>start</v></c><c t="str"><v>label</v></c></row>
			<row><c s="1"><v>1.5208333333333333</v></c><c s="2"><v>0.025347222222222222</v></c><c s="3"><v>0.1</v></c><c s="4"><v>0.3125</v></c><c t="str"><v>a</v></c></row>
			<row><c s="1"><v>0.1</v></c><c s="2"><v>0.1</v></c><c s="3"><v>1</v></c><c s="4"><v>0.5</v></c><c t="str"><v>b</v></c></row></sheetData></worksheet>`,
	)
	table := require.Value(ParseTable(strings.NewReader(book), "w.xlsx", Limits{}))(t)
	var got []string
	for _, c := range table.Columns {
		got = append(got, c.list()...)
	}
	require.Equal(t, strings.Join(got, " "), "36.5 2.4 36.5 144 8640 86400 07:30:00 12:00:00 a b", "the cells")
}

// book returns a workbook of one sheet, which is the named part.
func book(t *testing.T, part, sheet, texts string) string {
	return require.Zip(
		t, workbookFile, `<workbook><sheets><sheet name="S" id="1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="1" Target="s.xml"/></Relationships>`,
		part, `<worksheet><sheetData>`+sheet+`</sheetData></worksheet>`, "xl/sharedStrings.xml", `<sst>`+texts+`</sst>`,
	)
}

// Workbooks that other programs or hurried people write are read, or refused with a remedy.
func TestAwkwardWorkbooks(t *testing.T) {
	t.Parallel()
	const names = `<row r="1"><c r="A1" t="str"><v>x</v></c><c r="B1" t="str"><v>label</v></c></row>`
	row := func(n, x, label, more string) string {
		return `<row r="` + n + `"><c r="A` + n + `">` + x + `</c><c r="B` + n + `" t="str"><v>` + label + `</v></c>` + more + `</row>`
	}
	rows := row("2", "<v>1.5</v>", "a", "") + row("3", "<v>2</v>", "b", "")
	for name, test := range map[string]struct{ part, sheet, want string }{
		"part by another case":  {"xl/S.xml", names + rows, "label ~ x [a b], 2 rows, the last [2]"},
		"part with a backslash": {`xl\s.xml`, names + rows, "label ~ x [a b], 2 rows, the last [2]"},
		"numbers beside texts":  {"xl/s.xml", names + row("2", "<v>993.687</v>", "1,5", "") + row("3", "<v>1.204</v>", "2,5", ""), "label ~ x [1.5 2.5], 2 rows, the last [1.204]; 1,5 read as 1.5 (label)"},
		"saved formula":         {"xl/s.xml", names + rows + row("4", "<f>A2+A3</f><v>3.5</v>", "b", ""), "label ~ x [a b], 3 rows, the last [3.5]"},
		"empty formula":         {"xl/s.xml", names + rows + row("4", "<v>3</v>", "b", `<c r="C4" t="str"><f>""</f><v></v></c>`), "label ~ x [a b], 3 rows, the last [3]"},
		"formula without value": {"xl/s.xml", names + rows + row("4", "<f>A2+A3</f>", "b", ""), "w.xlsx, S: expected a saved value of the formula in cell A4, found none: open the workbook in a spreadsheet program and save it"},
		"merged cells": {
			"xl/s.xml", `<row r="1"><c r="A1" t="str"><v>Mice, 2024</v></c></row><row r="2"/>
				<row r="3"><c r="A3" t="str"><v>x</v></c><c r="B3" t="str"><v>size</v></c><c r="D3" t="str"><v>label</v></c></row>
				<row r="4"><c r="B4" t="str"><v>length</v></c><c r="C4" t="str"><v>width</v></c></row>
				<row r="5"><c r="A5"><v>1</v></c><c r="B5"><v>5</v></c><c r="C5"><v>2</v></c><c r="D5" t="str"><v>a</v></c></row>
				<row r="6"><c r="A6"><v>2</v></c><c r="C6"><v>3</v></c><c r="D6"/></row>
				<row r="7"><c r="A7"><v>3</v></c><c r="B7"><v>7</v></c><c r="C7"><v>4</v></c><c r="D7" t="str"><v>b</v></c></row>
				<row r="8"><c r="A8"><v>4</v></c><c r="B8"><v>8</v></c><c r="C8"><v>6</v></c></row>
				<row r="9"/></sheetData><mergeCells><mergeCell ref="A1:D2"/><mergeCell ref="A3:A4"/><mergeCell ref="B3:C3"/><mergeCell ref="D3:D4"/><mergeCell ref="B5:B6"/><mergeCell ref="D5:D6"/><mergeCell ref="D7:D9"/></mergeCells><sheetData>`,
			"label ~ x size length width [a b], 4 rows, the last [4 8 6]; 1 line above the table left out; two lines of names read as one",
		},
		"hidden rows and columns": {
			"xl/s.xml", `</sheetData><cols><col min="1" max="1"/><col min="2" max="16384" hidden="1"/></cols><sheetData>` + names + strings.Replace(rows, `<row r="3"`, `<row r="3" hidden="1"`, 1) + `<row r="4" hidden="1"/>`,
			"label ~ x [a b], 2 rows, the last [2]; 1 hidden row included; 1 hidden column included",
		},
		"note beside the table": {"xl/s.xml", names + rows + row("4", "<v>3</v>", "b", `<c r="D4" t="str"><v>check</v></c>`), "w.xlsx, S, line 4: expected at most 2 columns, as in row 1, found 4: move what stands above, below or beside the table to another sheet"},
	} {
		table, err := ParseTable(strings.NewReader(book(t, test.part, test.sheet, "")), "w.xlsx", Limits{})
		if err != nil {
			require.Equal(t, err.Error(), test.want, "%s", name)
			continue
		}
		require.Equal(t, told(table, Mapping{Proposed: true}), test.want, "%s", name)
	}
	for text, want := range map[string]string{
		"x,y,label\n\"0,658\",1.5,a\n\"1,034\",2.5,b\n":                                   "label ~ x y [a b], 2 rows, the last [1.034 2.5]; 1,5 read as 1.5 (x)",
		"2019,2020,label\n1.5,2,a\n3,0.5,b\n":                                             "label ~ 2019 2020 [a b], 2 rows, the last [3 0.5]",
		"when,label\n2024-01-01,a\n2024-01-02,b\n":                                        `x.csv, line 2, column 1 (when): expected a number, found the date or time "2024-01-01": choose feature columns without this one`,
		"<?xml version=\"1.0\"?>\n<Workbook><Worksheet><Table/></Worksheet></Workbook>\n": "x.csv, line 2: expected a table, found an XML spreadsheet, which some programs save with a spreadsheet's extension: open it in a spreadsheet program and save it as .xlsx or CSV",
	} {
		table, err := ParseTable(strings.NewReader(text), "x.csv", Limits{})
		if err != nil {
			require.Equal(t, err.Error(), want, "%s", text)
			continue
		}
		require.Equal(t, told(table, Mapping{Proposed: true}), want, "%s", text)
	}
}

// A small workbook that unfolds to much is refused before it does.
func TestWorkbookBombs(t *testing.T) {
	t.Parallel()
	book := func(sheet, texts string) string { return book(t, "xl/s.xml", sheet, texts) }
	long := strings.Repeat("a", mostCell+1)
	const tooLong = "expected cells of at most 32\u202f767 characters, the limit of spreadsheet programs, found a longer one"
	for name, test := range map[string]struct{ sheet, texts, want string }{
		"cell":       {`<row r="1"><c><v>` + long + `</v></c></row>`, "", "w.xlsx, S: " + tooLong},
		"pieces":     {`<row r="1"><c><v>` + strings.Repeat("a<!---->", mostCell+1) + `</v></c></row>`, "", "w.xlsx, S: " + tooLong},
		"inline":     {`<row r="1"><c t="inlineStr"><is><t>` + long + `</t></is></c></row>`, "", "w.xlsx, S: " + tooLong},
		"shared":     {``, `<si><t>` + long + `</t></si>`, "w.xlsx, xl/sharedStrings.xml: " + tooLong},
		"runs":       {``, `<si>` + strings.Repeat(`<r><t>`+long[:1000]+`</t></r>`, 200) + `</si>`, "w.xlsx, xl/sharedStrings.xml: " + tooLong},
		"attributes": {`<row r="` + strings.Repeat("1", 3*mostCell) + `"/>`, "", "w.xlsx, S: " + tooLong},
		"CDATA":      {`<row r="1"><c><v><![CDATA[` + strings.Repeat("<>", 3*mostCell) + `]]></v></c></row>`, "", "w.xlsx, S: " + tooLong},
		"texts":      {``, strings.Repeat(`<si/>`, 3<<19), "w.xlsx: expected a workbook of at most 1\u00a0MB as text and 10\u00a0MB uncompressed"},
	} {
		_, err := ParseTable(strings.NewReader(book(test.sheet, test.texts)), "w.xlsx", Limits{Bytes: 1 << 20})
		require.Check(t, errors.Is(err, ErrTooLarge) && err.Error() == test.want,
			"%s: %v, want %s", name, err, test.want)
	}
	deep := require.Err(ParseTable(strings.NewReader(book(strings.Repeat("<a>", 200), "")), "w.xlsx", Limits{}))
	require.Fails(t, deep, "w.xlsx: expected a workbook, found a damaged one (S): its elements are nested more than 100 deep: save it again as .xlsx or CSV", "deep")
	fits := book(`<row r="1"><c t="inlineStr"><is><t>`+long[:32_767]+`</t></is></c><c t="inlineStr"><is><t>label</t></is></c></row><row r="2"><c><v>1</v></c><c t="inlineStr"><is><t>a</t></is></c></row>`, "")
	_, err := ParseTable(strings.NewReader(fits), "w.xlsx", Limits{})
	require.Check(t, err == nil || !strings.Contains(err.Error(), "found a longer one"), "%v", err)
}

// Text that is not UTF-8 is read in the encoding of its language. What may be Windows-1252 remains so.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const central, turkish, cyrillic, greek, prompt = "Windows-1250 (Central European)", "Windows-1254 (Turkish)", "Windows-1251 (Cyrillic)", "Windows-1253 (Greek)", "code page 850"
	pages := map[string]*charmap.Charmap{"Windows-1252": charmap.Windows1252, central: charmap.Windows1250, turkish: charmap.Windows1254, cyrillic: charmap.Windows1251, greek: charmap.Windows1253, prompt: charmap.CodePage850}
	const unsure = ": save it as UTF-8 if letters look wrong"
	for text, want := range map[string]string{
		"Größe;Prüfung;Straße\n1;2;Ärger":                               "Windows-1252",
		"Größe;élève;naïf;Ergebnis\n5 m³;10 µm;20 °C;1½":                "Windows-1252",
		"âge;sexe;cœur;août;élève\n1;2;où;ça;à":                         "Windows-1252",
		"edad;año;¿Cuántos?;sí;Nº;nºCliente\n1;2;3;corazón;pingüino;1º": "Windows-1252",
		"idade;coração;não;três;você;ônibus\n1;2;ações;avó;pé;à":        "Windows-1252",
		"età;città;più;perché;però;così;è":                              "Windows-1252",
		"år;køn;største;Søren;Hélène;Müller":                            "Windows-1252",
		"ålder;kön;ärende":                                              "Windows-1252",
		"öö;õhtu;päev;šokk":                                             "Windows-1252",
		"ár;kyn;það;þú;ýmis;kvæði;sjónvarp":                             "Windows-1252",
		"“name”;price in £;it’s;€ – 5;m³gas":                            "Windows-1252",
		"Grün;Peña;João;Søren;Zoë":                                      "Windows-1252" + unsure,
		"wiek;płeć;długość;źródło;żółty\n1;mężczyzna;2;tak;nie":         central,
		"miasto;wynik\nŁódź;dobry\nGdańsk;zły\nKraków;słaby":            central,
		"věk;pohlaví;řeka;délka;žlutý\n1;muž;2;příliš;kůň":              central,
		"vek;pohlavie;dĺžka;kôň;ľahký;mäkký;štvrť;číslo":                central,
		"életkor;nő;férfi;betű;gyűrű;hőmérséklet;ügyfél":                central,
		"vârstă;bărbat;înălţime;şcoală":                                 central,
		"dob;spol;količina;ženska;ćud;učenik":                           central,
		"yaş;cinsiyet;kadın;sınıf;doğum;İzmir;ölçüm;Türkçe":             turkish,
		"возраст;пол;класс\n1;мужской;да\n2;женский;нет":                cyrillic + unsure,
		"age;label\n1;да\n2;нет":                                        cyrillic + unsure,
		"ВОЗРАСТ;ПОЛ;КГ/М2\n1;2;3":                                      cyrillic + unsure,
		"вік;стать;їжа;об’єм\n1;чоловік;є;ні":                           cyrillic + unsure,
		"ηλικία;φύλο;τάξη\n1;άνδρας;ναι\n2;γυναίκα;όχι":                 greek + unsure,
		"age;label\n1;ναι\n2;όχι":                                       greek + unsure,
		"ΗΛΙΚΙΑ;ΦΥΛΟ\n1;2":                                              greek + unsure,
		"Länge;Höhe\n1;2":                                               prompt + unsure,
		"Größe;Prüfung;Straße\n10 µm;½":                                 prompt + unsure,
		"âge;température;français;où":                                   prompt + unsure,
		"edad;año;sí;corazón":                                           prompt + unsure,
	} {
		name, doubt := strings.CutSuffix(want, unsure)
		got, note, fault := decodeText(require.Value(pages[name].NewEncoder().String(text))(t))
		require.Check(t, fault == nil && got == text && strings.HasPrefix(note, "read as "+name+" because") && strings.HasSuffix(note, unsure) == doubt,
			"want %s: %q (%s) %v", want, got, note, fault)
	}
	got, note, fault := decodeText("Stra\xdfe;Z\xfcrich\nStraße;Ávila\n")
	require.Check(t, fault == nil && got == "Straße;Zürich\nStraße;Ávila\n" && note == "lines that are not UTF-8 read as Windows-1252", "joined: %q (%s) %v", got, note, fault)
}
