package dataset

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"marginlab/ml/lists"
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
	wrapped := false
	if !told {
		text, wrapped = unwrapRows(text)
		sep = guessSeparator(text, lim.Columns)
	}
	t, err := parseSeparated(text, sep, lim)
	if wrapped && err == nil {
		t.Notes = slices.Insert(t.Notes, 0, "quotes around each row removed")
	}
	return t, err
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
			return nil, &Error{Line: r.line, Message: fmt.Sprintf("expected at most %s, as in row %d, found %d: move what stands above or beside the table to another sheet", Count(len(t.Columns), "column"), t.first, r.count)}
		case r.count != len(t.Columns):
			fault := &Error{Line: r.line, Message: fmt.Sprintf("expected %s separated by %s, found %d", Count(len(t.Columns), "field"), sep.name, r.count)}
			if !remark {
				return nil, fault
			}
			below, ragged = below+1, cmp.Or(ragged, fault)
			continue
		}
		if len(t.Lines) > lim.Rows { // even if the first is a header
			return nil, beyond(r.line, lim.Rows, "row")
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
	if below += t.cutEnd(sep.char); below > 0 {
		t.Notes = append(t.Notes, Count(below, "line")+" below the table left out")
	}
	names := t.cutHeader(sep.char)
	if !t.Header && commented != nil {
		t.Header, names = true, commented
	}
	if len(t.Lines) > lim.Rows {
		return nil, beyond(t.Lines[lim.Rows], lim.Rows, "row")
	}
	names = t.dropEmpty(names)
	if err := noRows(t); err != nil {
		return nil, err
	}
	if t.Header {
		t.setNames(names)
	}
	return t, nil
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

// isRemark reports whether a cell holds a remark such as "Source: …" or, if words is set, several
// words without a colon.
func isRemark(cell string, words bool) bool {
	return strings.Contains(cell+" ", ": ") || words && strings.Contains(cell, " ") && !isAmount(cell) && !isDate(cell)
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

// setNames names the columns, tidied, shortened and made unique.
func (t *Table) setNames(names []string) {
	var long []string
	used := make(map[string]bool)
	for _, name := range names {
		used[tidy(name)] = true
	}
	taken := make(map[string]bool)
	for j := range t.Columns {
		name := cmp.Or(tidy(names[j]), unnamed(j))
		if utf8.RuneCountInString(name) > maxText {
			long = append(long, quote(name))
			name = strings.TrimSpace(string([]rune(name)[:maxText-1])) + "…"
		}
		base := name
		for k := 2; taken[name] || name != base && used[name]; k++ {
			suffix := fmt.Sprintf(" %d", k)
			cut := []rune(base)
			cut = cut[:min(len(cut), maxText-len(suffix))]
			name = strings.TrimSpace(string(cut)) + suffix
		}
		taken[name] = true
		t.Columns[j].Name = name
	}
	if long != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("names of more than %d characters shortened (%s)", maxText, list(long)))
	}
}

// cutHeader removes the first row if it names the columns, and returns the names.
func (t *Table) cutHeader(sep byte) []string {
	if len(t.Lines) == 0 {
		return nil
	}
	names := lists.Map(t.Columns, func(c Column) string { return c.Cell(0) })
	if t.Header = t.Header || t.Kind != "" || (isHeader(names, sep) || t.countsColumns(names, sep)) && !t.isRowOfWords(names, sep) && !t.beginsWithValues(); !t.Header {
		return nil
	}
	t.skipLine()
	if t.Kind == "" {
		t.cutRepeatedHeaders(names)
		if len(t.Lines) > 2 && strings.HasPrefix(t.Columns[0].Cell(1), `{"ImportId":`) { // in files of Qualtrics, below the questions
			t.skipLine()
			t.skipLine()
			t.Notes = append(t.Notes, "2 lines below the names left out")
		}
		names = t.cutSecondLine(t.cutOrange(names), sep)
	}
	return names
}

// orangeTypes lists the types of columns in files of Orange.
var orangeTypes = wordList(`continuous discrete string time c d s t`)

// orangeRole returns the role of a column in files of Orange, in full or as one letter.
func orangeRole(s string) (r role, known bool) {
	switch s {
	case "":
		return "", true
	case "class", "c":
		return roleLabel, true
	case "meta", "m", "ignore", "i", "weight", "w":
		return roleMeta, true
	}
	return "", false
}

// cutOrange reads the roles that files of Orange declare, below the names in a line of types (or of
// the values of a discrete column) and a line of roles, or in front of names, as in mS#patient. It
// returns the names.
func (t *Table) cutOrange(names []string) []string {
	roles, plain, words := make([]role, len(names)), slices.Clone(names), false
	below := len(t.Lines) > 2
	for j, name := range names {
		flags, after, _ := strings.Cut(name, "#")
		mark := strings.TrimRight(flags, "CDSTN")
		if r, known := orangeRole(mark); known && len(mark) < 2 && len(flags) < len(mark)+2 && flags != "" && after != "" {
			roles[j], plain[j] = r, after
		}
		if below {
			kind, mark := t.Columns[j].Cell(0), t.Columns[j].Cell(1)
			_, known := orangeRole(mark)
			below = known && (orangeTypes.has(kind) || strings.Contains(kind, " "))
			words = words || len(mark) > 1 || orangeTypes.has(kind) && len(kind) > 1
		}
	}
	switch {
	case below && words:
		for j := range roles {
			roles[j], _ = orangeRole(t.Columns[j].Cell(1))
		}
		t.skipLine()
		t.skipLine()
		t.Notes = append(t.Notes, "2 lines below the names read as types and roles of columns")
	case slices.Contains(roles, roleLabel):
		names = plain
	default:
		return names
	}
	for j := range roles {
		t.Columns[j].role = roles[j]
	}
	return names
}

// cutRepeatedHeaders removes rows that repeat the header, as in files that were joined.
func (t *Table) cutRepeatedHeaders(names []string) {
	rows := lists.Where(len(t.Lines), func(i int) bool {
		for j := range t.Columns {
			if c := &t.Columns[j]; c.decimal(i) != 0 || c.Cell(i) != names[j] {
				return false
			}
		}
		return true
	})
	if len(rows) > 0 {
		*t = *t.without(rows)
		t.Notes = append(t.Notes, Count(len(rows), "row")+" with the names of the columns left out")
	}
}

func (t *Table) skipLine() {
	for j := range t.Columns {
		t.Columns[j].skip()
	}
	t.Lines = t.Lines[1:]
}

// cutSecondLine removes a second header line: names below merged cells (length and width below
// Sepal), or units below names. It returns the names combined from both lines.
func (t *Table) cutSecondLine(names []string, sep byte) []string {
	if len(t.Lines) < 3 {
		return names
	}
	below, times := make([]string, len(t.Columns)), make(map[string]int)
	above := false // a word above numbers
	for j := range t.Columns {
		c := t.Columns[j]
		s := c.Cell(0)
		if s != "" && missing(s) || isNumber(s, sep) || isAmount(s) || isDate(s) {
			return names
		}
		below[j] = s
		times[s]++
		switch {
		case s == "":
		case c.numbersBelow(sep):
			above = true
		case c.repeats(s):
			return names
		}
	}
	if !above {
		return names
	}
	t.skipLine()
	if !slices.Contains(names, "") {
		t.Notes = append(t.Notes, "the line below the names has no numbers and is left out")
		return names
	}
	t.Notes = append(t.Notes, "two lines of names read as one")
	group := ""
	for j, name := range names {
		group = cmp.Or(name, group)
		switch {
		case name != "":
			below[j] = strings.TrimSpace(name + " " + below[j])
		case times[below[j]] > 1:
			below[j] = strings.TrimSpace(group + " " + below[j])
		}
	}
	return below
}

// numbersBelow reports whether all cells below the first row are numbers or missing.
func (c Column) numbersBelow(sep byte) bool {
	c.skip() // of this copy
	number := func(s string) bool { return isNumber(s, sep) || isAmount(s) }
	return c.any(number) && !c.any(func(s string) bool { return !number(s) && !missing(s) })
}

// isHeader reports whether none of the cells is a number or a missing value.
func isHeader(cells []string, sep byte) bool {
	return !slices.ContainsFunc(cells, func(s string) bool {
		return s == "?" || isNumber(s, sep) || notFinite(s)
	})
}

// beginsWithValues reports whether the first row has a percentage, date or the like above
// another one, so that it is not a header.
func (t *Table) beginsWithValues() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool {
		if c.Len() < 2 {
			return false
		}
		a, b := c.Cell(0), c.Cell(1)
		_, plain := parseNumber(a)
		_, unit := cutCurrency(a)
		_, below := cutCurrency(b) // differs from unit below a name such as 100 m
		return !plain && isAmount(a) && isAmount(b) && (unit == below || !slices.Contains(units, unit)) || isDate(a) && isDate(b)
	})
}

// isRowOfWords reports whether the first row of a file without numbers is data rather than a
// header: a cell is too long for a name or occurs again below.
func (t *Table) isRowOfWords(first []string, sep byte) bool {
	again := false
	for j, c := range t.Columns {
		again = again || utf8.RuneCountInString(first[j]) > maxText || first[j] != "" && c.repeats(first[j])
		c.skip() // of this copy
		if c.any(func(s string) bool { return isNumber(s, sep) }) {
			return false
		}
	}
	return again
}

// countsColumns reports whether a header names features by numbers, as in 0,1,2,label or
// sample,400,410,420,kind: ascending numbers and the name of the label, or evenly spaced numbers
// and names, one of them above numbers or words that repeat. Two numbers suffice with no other name
// than the label, or after an unnamed first column. Without names, 0,1,2 above decimals is a header
// written by pandas.
func (t *Table) countsColumns(names []string, sep byte) bool {
	var numbers []float64
	label, named, others := false, false, false
	for j, name := range names {
		v, ok := parseNumber(name)
		switch c := t.Columns[j]; {
		case ok:
			numbers = append(numbers, v)
		case name == "":
		case c.repeats(name):
			return false
		case namesLabel(name):
			label = true
		default:
			others = true
			c.skip() // of this copy
			named = named || factsOf(&c).category() || t.Columns[j].numbersBelow(sep)
		}
	}
	least := 3
	if label && !others || names[0] == "" {
		least = 2
	}
	even := true
	for k := 2; k < len(numbers); k++ {
		even = even && numbers[k]-numbers[k-1] == numbers[1]-numbers[0]
	}
	if len(numbers) < least || !slices.IsSorted(numbers) {
		return false
	}
	if !label && !others && even && numbers[0] == 0 && numbers[1] == 1 {
		return slices.ContainsFunc(t.Columns, func(c Column) bool {
			c.skip() // of this copy
			return factsOf(&c).pointed
		})
	}
	return label && !others || (label || named) && even
}

// repeats reports whether a text occurs below the first row.
func (c Column) repeats(text string) bool {
	c.skip() // of this copy
	return c.any(func(s string) bool { return s == text })
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
	const records = 50
	best, bestScore := separators[2], 0.0 // a comma, if nothing separates
	tabbed := 0                           // fields per record with tabs, if equal in all but a title or header
	even, absent := false, false          // best has equally many fields in all records; only one in the first
	for _, sep := range separators {
		if strings.IndexByte(text, sep.char) < 0 && (sep.char != ' ' || strings.IndexByte(text, '\t') < 0) {
			continue // separates nothing
		}
		sc := &csvScanner{text: text, sep: sep.char, line: 1, most: most}
		widths := make(map[int]int)
		n, first, within, size, numbers := 0, 0, false, 0, 0
		for ; n < records && sc.next(); n++ {
			widths[sc.count]++
			if n == 0 {
				first = sc.count
			}
			if n < 2 { // a title may be first
				within = within || slices.ContainsFunc(sc.fields, func(f field) bool {
					return strings.ContainsAny(f.text, ",;|") && !f.quoted() && !isNumber(f.text, sep.char) && !isAmount(f.text)
				})
			}
			if n == 0 && isHeader(sc.texts(), sep.char) {
				continue
			}
			for _, s := range sc.texts() {
				if size += len(s) + 1; isNumber(s, sep.char) || isAmount(s) {
					numbers += len(s) + 1
				}
			}
		}
		if sc.err != nil {
			n++
		}
		width := 0 // the commonest
		for w, times := range widths {
			if w > 1 && (times > widths[width] || times == widths[width] && w > width || width == 0) {
				width = w
			}
		}
		if width == 0 {
			continue
		}
		if others := n - widths[width]; sep.char == '\t' && n > 1 && others < widths[width] && (others <= 1 || others == widths[1]) {
			tabbed = width
		}
		score := float64(widths[width]) / float64(n) * (0.1 + float64(numbers)/float64(max(size, 1)))
		if sep.char == ' ' && (within || tabbed == width || 0 < tabbed && tabbed < width && (tabbed > 2 || widths[first] < widths[width])) {
			score /= 10 // for blanks within cells, as in 1.5 cm and 1 234
		}
		same := widths[width] == n && n > 1 && sep.char != ' '
		if same && absent || score > bestScore && (!even || first > 1) { // in doubt, the one that is also in the header
			best, bestScore, even, absent = sep, score, same, first == 1
		}
	}
	return best
}

// csvScanner reads records one by one. Fields are trimmed and lose the apostrophe of Guard; quoted
// ones may hold separators, line ends and doubled quotes. It skips blank lines, lines that begin
// with # and, between vertical bars, rules of hyphens.
type csvScanner struct {
	text string
	sep  byte
	pos  int
	line int // of pos
	most int // fields kept of a record; all are counted

	typeset  bool          // numbers may have a typographic minus or digits of other scripts
	comments *atomic.Int64 // counts skipped lines that begin with #, unless nil
	comment  string        // the last of them

	start  int // line of the record
	fields []field
	count  int
	err    *Error
}

// texts returns the fields of the record.
func (sc *csvScanner) texts() []string {
	return lists.Map(sc.fields, func(f field) string { return f.text })
}

// records iterates over the remaining records. A long text without quotes is scanned in blocks,
// because its fields cannot span lines.
func (sc *csvScanner) records() iter.Seq[record[field]] {
	if len(sc.text)-sc.pos > blockSize && strings.IndexByte(sc.text[sc.pos:], '"') < 0 {
		return inBlocks(sc.text, sc.pos, sc.line, sc.scan)
	}
	return func(yield func(record[field]) bool) {
		for sc.next() && yield(record[field]{sc.start, sc.fields, sc.count}) {
		}
	}
}

// scan reads a block with a copy of the scanner of the file.
func (sc csvScanner) scan(b *block[field], text string, from int) {
	sc.text, sc.pos, sc.line = text, from, 1
	if b.fields == nil {
		b.fields = make([]field, 0, blockSize/2)
	}
	for sc.fields = b.fields; sc.next(); sc.fields = b.fields[len(b.fields):] {
		b.fields = append(b.fields, sc.fields...)
		b.end(sc.start, sc.count)
	}
	b.lines = sc.line - 1
}

// next reads a record and reports whether there is one.
func (sc *csvScanner) next() bool {
	if sc.err != nil || !sc.skipLines() {
		return false
	}
	sc.start, sc.fields, sc.count = sc.line, sc.fields[:0], 0
	for {
		sc.skipBlanks()
		if sc.sep == ' ' && sc.count > 0 && sc.atLineEnd() {
			break
		}
		if !sc.field() {
			return false
		}
		if sc.atLineEnd() {
			break
		}
		sc.pos++ // the separator
	}
	if strings.HasPrefix(sc.text[sc.pos:], "\r\n") {
		sc.pos++
	}
	sc.pos, sc.line = min(sc.pos+1, len(sc.text)), sc.line+1
	return true
}

// skipLines moves over blank lines and comments, and reports whether a line follows.
func (sc *csvScanner) skipLines() bool {
	for sc.pos < len(sc.text) {
		if c := sc.text[sc.pos]; c > ' ' && c < utf8.RuneSelf && c != '#' && sc.sep != '|' {
			return true // the usual case
		}
		line, rest := cutLine(sc.text[sc.pos:])
		switch s := strings.TrimSpace(line); {
		case s == "":
		case s[0] == '#' && !sc.beginsWithMissing(s):
			if sc.comment = strings.TrimLeft(line, " \t"); sc.comments != nil {
				sc.comments.Add(1)
			}
		case sc.sep == '|' && strings.Contains(s, "--") && strings.Trim(s, "+-:| \t") == "": // a rule below names
		default:
			return true
		}
		sc.pos = len(sc.text) - len(rest)
		sc.line++
	}
	return false
}

// field reads a field, and reports whether there was no error.
func (sc *csvScanner) field() bool {
	from := sc.pos
	if from < len(sc.text) && sc.text[from] == '"' {
		sc.keep(field{text: sc.quoted()}, -1)
		return sc.err == nil
	}
	p, to, plain := cutDecimal(sc.text, from)
	for sc.pos = to; !sc.atSeparator() && !sc.atLineEnd(); sc.pos++ {
		plain = false
	}
	if f := sc.text[from:sc.pos]; plain {
		sc.keep(field{f, p}, from)
	} else {
		f = strings.TrimLeftFunc(f, unicode.IsSpace)
		sc.keep(field{text: strings.TrimRightFunc(f, unicode.IsSpace)}, sc.pos-len(f))
	}
	return true
}

// skipTitle skips what stands above a table: titles of a single cell of words, pairs of a key and
// its value, and program comments, which begin with // or %. It returns the number of lines
// skipped. If the first row holds numbers, a comment right above it, which may also begin with #,
// may name the columns.
func (sc *csvScanner) skipTitle() (lines int, names []string) {
	const most = 50
	comments, named := 0, false // the line above may hold names, perhaps with another separator
	for ahead := *sc; lines <= most && ahead.skipLines(); lines++ {
		at := ahead
		if !ahead.next() {
			break
		}
		line, _ := cutLine(sc.text[at.pos:])
		line = strings.TrimLeft(line, " \t")
		texts, next := ahead.texts(), ahead
		next.fields = nil
		values := haveValues(texts, sc.sep)
		alike := values && next.next() && next.count == ahead.count && haveValues(next.texts(), sc.sep)
		switch {
		case (strings.HasPrefix(line, "//") || strings.HasPrefix(line, "%")) && !alike: // unless it is a row like the next line
			ahead.comment = line
			if comments++; comments > 1 || sc.sep == ' ' && texts[0] == "%" { // otherwise % may belong to a name, as in % fat
				ahead.comment = strings.TrimLeft(line, " %")
			}
		case ahead.aboveTable():
			ahead.comment, named = "", false
		case values:
			if ahead.comment == "" && (lines == 0 || named || ahead.count == 1) {
				return 0, nil
			}
			*sc = at
			if names = sc.namesIn(ahead.comment, ahead.count); names != nil && ahead.comment[0] != '#' {
				lines-- // not left out
			}
			return lines, names
		case sc.sep == ' ', lists.Count(ahead.fields, func(f field) bool { return f.text != "" }) > 1: // with blanks, every word is a cell
			*sc = at
			return lines, nil
		default:
			ahead.comment, named = "", strings.ContainsAny(line, "\t;,|")
		}
	}
	return 0, nil
}

// aboveTable reports whether the record holds a key and its value, or a remark, above a table with
// more columns: a line of names and two rows, the first of which has numbers.
func (sc csvScanner) aboveTable() bool {
	key := func() bool {
		pair := sc.count <= 2 || !slices.ContainsFunc(sc.fields[2:], func(f field) bool { return f.text != "" })
		return pair && sc.sep != ' ' || isRemark(sc.fields[0].text, false)
	}
	if !key() || sc.count == 1 || haveValues(sc.texts()[:1], sc.sep) {
		return false
	}
	const most = 50
	sc.fields = slices.Clone(sc.fields)
	for n := 0; n < most && sc.next() && key(); n++ {
	}
	width, names := sc.count, !key() && !haveValues(sc.texts(), sc.sep) && !slices.Contains(sc.texts(), "")
	return names && sc.next() && sc.count == width && haveValues(sc.texts(), sc.sep) && sc.next() && sc.count == width
}

// namesIn returns the column names in a comment, or nil if it does not hold the given number of
// names.
func (sc csvScanner) namesIn(comment string, columns int) []string {
	sc.text, sc.pos = strings.TrimLeft(comment, " #/"), 0
	if columns < 2 || strings.Contains(comment, ": ") || !sc.next() || sc.count != columns || haveValues(sc.texts(), sc.sep) {
		return nil
	}
	return sc.texts()
}

// haveValues reports whether any cell is a number in any spelling, or a date.
func haveValues(cells []string, sep byte) bool {
	return !isHeader(cells, sep) || slices.ContainsFunc(cells, func(s string) bool { return isAmount(s) || isDate(s) })
}

// beginsWithMissing reports whether the first field of a line is a missing value, such as the #N/A
// or #### of spreadsheets.
func (sc *csvScanner) beginsWithMissing(line string) bool {
	field, _, more := strings.Cut(line, string(sc.sep))
	field = strings.TrimSpace(field)
	return missing(field) || more && sc.sep != ' ' && len(field) > 2 && strings.Trim(field, "#") == ""
}

// keep appends a field; at is the offset of its text in the file, or -1.
func (sc *csvScanner) keep(f field, at int) {
	if sc.count++; sc.count > sc.most {
		return
	}
	if f.packed == 0 {
		before := len(f.text)
		if number := onKeyboard(f.text); number != f.text && sc.typeset {
			f.text = number
		} else if f.text = unguard(f.text); at >= 0 {
			f.packed = pack(f.text, at+before-len(f.text))
		}
	}
	sc.fields = append(sc.fields, f)
}

// onKeyboard returns a number in ASCII if it has digits or signs of other scripts, or stands in a
// formula such as ="01234", which keeps its zeros in a spreadsheet. It returns any other text
// unchanged.
func onKeyboard(s string) string {
	number := s
	if text, formula := strings.CutPrefix(s, `="`); formula {
		number = strings.TrimSuffix(text, `"`)
	} else if s != "" && (s[0] >= utf8.RuneSelf || s[len(s)-1] >= utf8.RuneSelf) {
		number = strings.Map(keyboard, s)
	}
	if number != s && isAmount(number) {
		return number
	}
	return s
}

// keyboard returns the ASCII form of a digit or sign in a number, and any other character
// unchanged.
func keyboard(r rune) rune {
	for _, zero := range "٠۰०০０" { // Arabic, Persian, Devanagari, Bengali and full-width
		if zero <= r && r <= zero+9 {
			return '0' + r - zero
		}
	}
	switch r {
	case '−', '－':
		return '-'
	case '٫', '．':
		return '.'
	case '٬', '，':
		return ','
	case '٪', '％':
		return '%'
	}
	return r
}

// quoted reads a field in quotes up to the separator or line end after it.
func (sc *csvScanner) quoted() string {
	open, from := sc.line, sc.pos+1
	doubled := false
	for sc.pos = from; ; sc.pos += 2 {
		i := strings.IndexByte(sc.text[sc.pos:], '"')
		if i < 0 {
			sc.err = &Error{Line: open, Column: sc.count + 1, Message: "expected a closing quote, found the end of the file"}
			return ""
		}
		sc.pos += i
		if !strings.HasPrefix(sc.text[sc.pos:], `""`) {
			break
		}
		doubled = true
	}
	field := sc.text[from:sc.pos]
	sc.line += lineEnds(field)
	sc.pos++
	sc.skipBlanks()
	if !sc.atLineEnd() && !sc.atSeparator() && (sc.sep != ' ' || !strings.ContainsRune(" \t", rune(sc.text[sc.pos-1]))) {
		sc.err = &Error{Line: sc.line, Column: sc.count + 1, Message: "expected a separator after the closing quote, found " + quote(firstRune(sc.text[sc.pos:]))}
		return ""
	}
	if sc.sep == ' ' && !sc.atLineEnd() {
		sc.pos-- // the blanks just skipped are the separator
	}
	if doubled {
		field = strings.ReplaceAll(field, `""`, `"`)
	}
	return tidy(field)
}

func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// skipBlanks skips blanks that have no meaning at this place.
func (sc *csvScanner) skipBlanks() {
	for sc.pos < len(sc.text) && (sc.text[sc.pos] == ' ' || sc.text[sc.pos] == '\t' && sc.sep != '\t') {
		sc.pos++
	}
}

func (sc *csvScanner) atSeparator() bool {
	return sc.pos < len(sc.text) && (sc.text[sc.pos] == sc.sep || sc.sep == ' ' && sc.text[sc.pos] == '\t')
}

func (sc *csvScanner) atLineEnd() bool {
	return sc.pos >= len(sc.text) || sc.text[sc.pos] == '\n' || sc.text[sc.pos] == '\r'
}
