package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// separator is a field separator of CSV files.
type separator struct {
	char byte
	name string
}

// separators lists the separators of CSV files in order of preference; a blank stands for
// runs of spaces and tabs.
var separators = []separator{
	{'\t', "tab"},
	{';', "semicolon"},
	{',', "comma"},
	{' ', "spaces"},
	{'|', "vertical bar"},
}

// parseCSV reads separated values, detecting separator, decimal sign and header. More
// columns than lim allows are a kernel matrix or an error.
func parseCSV(text string, lim Limits) (*Table, *Error) {
	sep, told := toldSeparator(text)
	wrapped, ended, set, single := false, false, false, false
	if !told {
		text, set = plainQuotes(text, "“”„«»", "\n\r\t;,|", " ")
		text, wrapped = unwrapRows(text)
		text, ended = cutSemicolons(text)
		if sep = guessSeparator(text, lim.Columns); sep.char == ' ' {
			text, single = plainQuotes(text, "'", "\n\r\t ", "")
		}
	}
	t, err := parseSeparated(text, sep, lim)
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, n := range []struct {
		done bool
		note string
	}{
		{wrapped, "quotes around each row removed"},
		{ended, "semicolons at the ends of rows removed"},
		{set, "typographic quotes around cells removed"},
		{single, singleRemoved},
	} {
		if n.done {
			notes = append(notes, n.note)
		}
	}
	t.Notes = append(notes, t.Notes...)
	return t, nil
}

// unwrapRows removes the quotes around each row if every row, except perhaps the header, is one
// quoted cell with as many commas or other separators as the header. A spreadsheet writes this when
// it has not split a CSV file. Any other text is returned unchanged.
func unwrapRows(text string) (rows string, wrapped bool) {
	line, rest := cutLine(text)
	if len(line) > mostCell {
		return text, false
	}
	header, _ := unwrap(line)
	var b strings.Builder
	for rest != "" {
		line, rest = cutLine(rest)
		row, wrapped := unwrap(line)
		alike := func(sep separator) bool {
			n := strings.Count(header, string(sep.char))
			return n > 0 && n == strings.Count(row, string(sep.char))
		}
		first := b.Len() == 0
		if (first || row != "") && !(wrapped && slices.ContainsFunc(separators, alike)) {
			return text, false
		}
		if first {
			b.Grow(len(text))
			b.WriteString(header)
		}
		b.WriteByte('\n')
		b.WriteString(row)
	}
	if b.Len() == 0 {
		return text, false
	}
	return b.String(), true
}

// cutSemicolons removes the semicolon at the end of each row if no row has another, as in matrices of
// MATLAB. Any other text is returned unchanged.
func cutSemicolons(text string) (rows string, cut bool) {
	var b strings.Builder
	for line, rest := "", text; rest != ""; {
		line, rest = cutLine(rest)
		row := strings.TrimSpace(line)
		if row != "" && row[0] != '%' && row[0] != '#' {
			if strings.IndexByte(row, ';') != len(row)-1 {
				return text, false
			}
			row, cut = row[:len(row)-1], true
		}
		b.WriteString(row)
		b.WriteByte('\n')
	}
	return b.String(), cut
}

const singleRemoved = "single quotes around cells removed"

// plainQuotes writes quotes of another kind as plain ones if they come in pairs around cells, which
// one of the characters in apart separates, perhaps with padding. Any other text, or one with plain
// quotes or none of the other kind in its beginning, is returned unchanged.
func plainQuotes(text, quotes, apart, padding string) (plain string, changed bool) {
	const beginning = 1 << 16
	used := func(quote rune) bool { return strings.ContainsRune(text[:min(len(text), beginning)], quote) } // fifty times as fast as ContainsAny
	if !slices.ContainsFunc([]rune(quotes), used) || strings.IndexByte(text, '"') >= 0 {
		return text, false
	}
	var b strings.Builder
	from, within := 0, false
	for at, r := range text {
		if !strings.ContainsRune(quotes, r) {
			continue
		}
		beside := strings.TrimRight(text[:at], padding)
		beside = beside[max(0, len(beside)-1):]
		if within {
			beside = strings.TrimLeft(text[at+utf8.RuneLen(r):], padding)
			beside = beside[:min(1, len(beside))]
		}
		if !strings.Contains(apart, beside) {
			return text, false
		}
		b.WriteString(text[from:at])
		b.WriteByte('"')
		from, within = at+utf8.RuneLen(r), !within
	}
	if within {
		return text, false
	}
	b.WriteString(text[from:])
	return b.String(), true
}

// unwrap returns the content of a line that is one quoted cell, or any other line without
// surrounding blanks.
func unwrap(line string) (row string, wrapped bool) {
	cell := strings.TrimSpace(line)
	inner, head := strings.CutPrefix(cell, `"`)
	inner, tail := strings.CutSuffix(inner, `"`)
	if !head || !tail || len(cell) > mostCell || strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
		return cell, false
	}
	return strings.ReplaceAll(inner, `""`, `"`), true
}

// inner returns the content of a cell in single quotes, or any other cell unchanged.
func inner(cell string) string {
	if s, head := strings.CutPrefix(cell, "'"); head && strings.HasSuffix(s, "'") {
		return s[:len(s)-1]
	}
	return cell
}

// toldSeparator returns the separator named by a first line such as sep=; written for
// spreadsheets.
func toldSeparator(text string) (sep separator, told bool) {
	line, _ := cutLine(text)
	sign, told := strings.CutPrefix(strings.ToLower(strings.Trim(line, `" `)), "sep=")
	k := slices.IndexFunc(separators, func(s separator) bool { return sign == string(s.char) })
	if !told || k < 0 {
		return sep, false
	}
	return separators[k], true
}

// NamesBelow is a first line of CSV that marks the next line as column names, even if they are
// numbers.
const NamesBelow = "#" + string(KindVectors)

// parseSeparated is parseCSV with a known separator; the separator has no name for the rows of a
// sheet.
func parseSeparated(text string, sep separator, lim Limits) (*Table, *Error) {
	first, _ := cutLine(text)
	t := &Table{Format: "csv", Header: first == NamesBelow}
	for _, k := range kinds {
		if k.Kind != KindVectors && strings.TrimSpace(first) == kindLine(k.Kind) {
			t.Kind = k.Kind
		}
	}
	if t.Kind == KindGraphs {
		t.graphs = 1
	}
	if t.Kind == KindStrings || t.Kind == KindGraphs { // cells may contain anything, and the canonical form uses commas
		sep = separators[2]
	}
	t.Separator = sep.name
	most := max(lim.Columns, lim.Rows+besides)
	sc := &csvScanner{text: text, sep: sep.char, line: 1, most: most, typeset: t.Kind == ""}
	if _, told := toldSeparator(text); told {
		_, rest := cutLine(text)
		sc.pos, sc.line = len(text)-len(rest), 2
	}
	var commented []string // names of columns
	if t.Kind == "" {
		above := 0
		if above, commented = sc.skipTitle(); above > 0 {
			t.Notes = append(t.Notes, Count(above, "line")+" above the table left out")
		}
	}
	sc.skipLines()
	sc.comments = new(atomic.Int64)
	below, ragged := 0, (*Error)(nil) // remarks below the table, and the error if the first is a row after all
	for r := range sc.records() {
		remark := r.count != len(t.Columns) && len(t.Lines) > 1 && t.Kind == "" && isRemark(r.fields[0].text, r.count == 1)
		switch {
		case ragged != nil && !remark:
			return nil, ragged
		case r.count > most, r.count > lim.Columns && t.Columns != nil && len(t.Columns) <= lim.Columns:
			return nil, tooWide(r.line, r.count, lim)
		case t.Columns == nil:
			t.first = r.line
			// An upper bound: a field takes at least one byte, the separator behind it.
			rows := min(lineEnds(text), lim.Rows, len(text)/r.count) + 1
			t.Lines = make([]int, 0, rows)
			t.Columns = make([]Column, r.count)
			for j := range t.Columns {
				t.Columns[j].cells = cells{expected: rows, file: text}
			}
		case r.count == len(t.Columns)+1 && r.fields[r.count-1].text == "": // a separator at the end of the row
			r.fields = r.fields[:len(t.Columns)]
		case len(t.Lines) == 1 && r.count == len(t.Columns)+1 && r.count > 2 && (sep.char == ' ' || sep.char == '\t' || text[0] == '"' && r.fields[0].quoted()):
			t.addRowNames()
		case r.count != len(t.Columns) && sep.name == "":
			return nil, &Error{Line: r.line, Message: fmt.Sprintf("expected at most %s, as in row %d, found %d: move what stands above, below or beside the table to another sheet", Count(len(t.Columns), "column"), t.first, r.count)}
		case r.count != len(t.Columns):
			if ragged == nil {
				ragged = t.ragged(text, r.line, r.count)
			}
			if !remark {
				return nil, ragged
			}
			below++
			continue
		}
		if len(t.Lines) > lim.Rows { // even if the first is a header
			return nil, beyond(r.line, lim.Rows, "row")
		}
		if t.Kind == "" && isElision(r.fields) {
			return nil, &Error{Line: r.line, Message: fmt.Sprintf("expected values, found %s in place of rows that a program did not print: save the whole table as CSV", quote(r.fields[0].text))}
		}
		for j, f := range r.fields {
			t.Columns[j].put(f)
		}
		t.Lines = append(t.Lines, r.line)
	}
	if sc.err != nil {
		return nil, sc.err
	}
	if n := int(sc.comments.Load()); n > 0 {
		t.Notes = append(t.Notes, Count(n, "line")+" beginning with # left out")
	}
	if t.Kind == "" && t.Columns != nil && !slices.ContainsFunc(t.Columns, func(c Column) bool { return inner(c.Cell(0)) == c.Cell(0) }) {
		for j := range t.Columns {
			t.Columns[j].rewrite(inner)
		}
		t.Notes = append(t.Notes, singleRemoved)
	}
	if below += t.cutEnd(sep.char); below > 0 {
		t.Notes = append(t.Notes, Count(below, "line")+" below the table left out")
	}
	t.cutDots(sep.char)
	names := t.cutHeader(sep.char)
	if !t.Header && commented != nil {
		t.Header, names = true, append(commented, make([]string, max(0, len(t.Columns)-len(commented)))...) // a later row may have more
	}
	if i := t.secondTable(sep.char); i > 0 {
		return nil, &Error{Line: t.Lines[i], Message: fmt.Sprintf("expected values, as above, found what looks like names of columns (%s): move the second table to a file of its own", list(t.row(i)))}
	}
	if len(t.Lines) > lim.Rows {
		return nil, beyond(t.Lines[lim.Rows], lim.Rows, "row")
	}
	names = t.dropEmpty(names)
	if err := noRows(t); err != nil {
		if n := int(sc.comments.Load()); n > 0 {
			err.Message += " and " + Count(n, "line") + " beginning with #: put quotes around a value that begins with #"
		}
		return nil, err
	}
	if t.Header {
		t.setNames(names)
	}
	return t, nil
}

// ragged returns the error for a row with another number of fields than the first.
func (t *Table) ragged(text string, line, found int) *Error {
	remedy := "put quotes around a field that contains the separator"
	switch {
	case found < len(t.Columns):
		remedy = "complete the row, with NA for a missing value"
	case t.Separator == "comma" && t.Kind == "":
		remedy = "put quotes around a field that contains a comma, or separate all fields by semicolon"
	}
	above := ""
	for range line - 1 {
		above, text = cutLine(text)
	}
	if strings.Trim(above, " \t,;|") == "" {
		remedy = "if another table begins here, move it to a file of its own"
	}
	if strings.HasPrefix(text, conflictMark) {
		return &Error{Line: line, Message: "expected a row, found " + conflictFound}
	}
	return &Error{Line: line, Message: fmt.Sprintf("expected %s separated by %s, found %d: %s", Count(len(t.Columns), "field"), t.Separator, found, remedy)}
}

// addRowNames prepends an unnamed column to the header: R's write.table writes row names without
// a name for their column.
func (t *Table) addRowNames() {
	var names Column
	names.cells = cells{expected: t.Columns[0].expected, file: t.Columns[0].file}
	names.add("")
	t.Columns = append([]Column{names}, t.Columns...)
	t.Notes = append(t.Notes, "the first line has one name fewer than the rows have fields: the first column is read as row names")
}

func tooWide(line, found int, lim Limits) *Error {
	return &Error{Line: line, Message: fmt.Sprintf("expected at most %s, found %d", Count(lim.Columns, "column"), found), Err: ErrTooLarge}
}

// besides is the number of columns that a kernel matrix may have in addition to its values:
// label, object number, and k(x, x) or an empty one.
const besides = 3

// noRows returns an error if the table has no rows.
func noRows(t *Table) *Error {
	switch {
	case len(t.Lines) > 0:
		return nil
	case len(t.Columns) > 0:
		return &Error{Message: "expected at least one row of data, found only a header"}
	}
	return &Error{Message: "expected at least one row of data, found an empty file"}
}

// Count returns a number with its noun: "1 row", "100 000 rows".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && n >= 10_000; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits + " " + noun + "s"
}

// isNumber reports whether s is a number, allowing a decimal comma unless the comma is the
// separator.
func isNumber(s string, sep byte) bool {
	if _, ok := parseNumber(s); ok {
		return true
	}
	return sep != ',' && hasDecimalComma(s)
}

func hasDecimalComma(s string) bool {
	if !strings.Contains(s, ",") || strings.Contains(s, ".") || strings.HasSuffix(s, ",") {
		return false
	}
	_, ok := parseNumber(strings.Replace(s, ",", ".", 1))
	return ok
}

// guessSeparator returns the separator that suits the first records best. The score is the share of
// records with the commonest number of fields, two or more, times the share of the text in numbers,
// with a small constant added to the latter.
func guessSeparator(text string, most int) separator {
	best, bestScore := separators[2], 0.0 // a comma, if nothing separates
	tabbed := 0                           // fields per record with tabs, if equal in all but a title or header
	even, absent := false, false          // best has equally many fields in all records; only one in the first
	for _, sep := range separators {
		if strings.IndexByte(text, sep.char) < 0 && (sep.char != ' ' || strings.IndexByte(text, '\t') < 0) {
			continue // separates nothing
		}
		sc := &csvScanner{text: text, sep: sep.char, line: 1, most: most}
		w := widthsOf(sc)
		if w.common == 0 {
			continue
		}
		usual := w.times[w.common]
		if others := w.records - usual; sep.char == '\t' && w.records > 1 && others < usual && (others <= 1 || others == w.times[1]) {
			tabbed = w.common
		}
		score := float64(usual) / float64(w.records) * (0.1 + w.numbers)
		if sep.char == ' ' && (w.within || tabbed == w.common || 0 < tabbed && tabbed < w.common && (tabbed > 2 || w.times[w.first] < usual)) {
			score /= 10 // for blanks within cells, as in 1.5 cm and 1 234
		}
		same := usual == w.records && w.records > 1 && sep.char != ' '
		if same && absent || score > bestScore && (!even || w.first > 1) { // in doubt, the one that is also in the header
			best, bestScore, even, absent = sep, score, same, w.first == 1
		}
	}
	return best
}

// widths describes the first records of a text as one separator cuts them.
type widths struct {
	records int // a faulty one at the end included
	times   map[int]int
	first   int     // fields of the first record
	common  int     // commonest number of fields, two or more; 0: none
	within  bool    // there are other separators within fields of the first two records
	numbers float64 // share of the text in numbers
}

func widthsOf(sc *csvScanner) widths {
	const records = 50
	w, size, numbers := widths{times: make(map[int]int)}, 0, 0
	for ; w.records < records && sc.next(); w.records++ {
		w.times[sc.count]++
		if w.records == 0 {
			w.first = sc.count
		}
		if w.records < 2 { // a title may be first
			w.within = w.within || slices.ContainsFunc(sc.fields, func(f field) bool {
				return strings.ContainsAny(f.text, ",;|") && !f.quoted() && !isNumber(f.text, sc.sep) && !isAmount(f.text)
			})
		}
		if w.records == 0 && isHeader(sc.texts(), sc.sep) {
			continue
		}
		for _, s := range sc.texts() {
			if size += len(s) + 1; isNumber(s, sc.sep) || isAmount(s) {
				numbers += len(s) + 1
			}
		}
	}
	if sc.err != nil {
		w.records++
	}
	for n, times := range w.times {
		if usual := w.times[w.common]; n > 1 && (w.common == 0 || times > usual || times == usual && n > w.common) {
			w.common = n
		}
	}
	w.numbers = float64(numbers) / float64(max(size, 1))
	return w
}

// cutEnd removes empty rows at the end, which spreadsheets leave, and remarks in the first of
// several columns. It returns the number of remarks.
func (t *Table) cutEnd(sep byte) (remarks int) {
	n := len(t.Lines)
	for ; n > 0 && !slices.ContainsFunc(t.Columns[1:], func(c Column) bool { return c.Cell(n-1) != "" }); n-- {
		if s := t.Columns[0].Cell(n - 1); s != "" {
			if n < 4 || len(t.Columns) < 3 || t.Kind != "" || !isRemark(s, haveValues([]string{t.Columns[0].Cell(1)}, sep)) {
				break
			}
			remarks++
		}
	}
	t.Lines = t.Lines[:n]
	for j := range t.Columns {
		t.Columns[j].cut(n)
	}
	return remarks
}

// cutDots removes the dot behind the class at the end of every row, as in files of C4.5.
func (t *Table) cutDots(sep byte) {
	other := func(s string) bool {
		return len(s) < 2 || s[len(s)-1] != '.' || strings.Contains(s, " ") || isNumber(s, sep)
	}
	if t.Kind != "" || sep != ',' || len(t.Lines) < 2 || t.Columns[len(t.Columns)-1].any(other) {
		return
	}
	c := &t.Columns[len(t.Columns)-1]
	c.rewrite(func(s string) string { return s[:len(s)-1] })
	t.Notes = append(t.Notes, "dots at the ends of rows removed")
}

// isRemark reports whether a cell holds a remark such as "Source: …" or, if words is set, several
// words without a colon.
func isRemark(cell string, words bool) bool {
	return strings.Contains(cell+" ", ": ") || words && strings.Contains(cell, " ") && !isAmount(cell) && !isDate(cell)
}

// isElision reports whether every cell of a row holds only dots, as in long tables that are printed.
func isElision(cells []field) bool {
	return !slices.ContainsFunc(cells, func(f field) bool {
		return f.text != "…" && (len(f.text) < 2 || strings.Trim(f.text, ".") != "")
	})
}

// dropEmpty removes empty last columns, caused by trailing separators, and empty first columns of a
// table in the middle of a sheet. It returns the names of the remaining columns.
func (t *Table) dropEmpty(names []string) []string {
	empty := func(j int) bool {
		return len(t.Columns) > 1 && len(t.Lines) > 0 && (names == nil || names[j] == "") &&
			!t.Columns[j].any(func(s string) bool { return s != "" })
	}
	for empty(len(t.Columns) - 1) {
		t.Columns = t.Columns[:len(t.Columns)-1]
	}
	for empty(0) {
		if t.Columns = t.Columns[1:]; names != nil {
			names = names[1:]
		}
	}
	return names
}
