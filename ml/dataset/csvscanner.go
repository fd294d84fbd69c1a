package dataset

import (
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"marginlab/ml/lists"
)

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
	case '−', '－', '–':
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
			sc.err = &Error{Line: open, Column: sc.count + 1, Message: "expected a closing quote, found the end of the file: close it, or write a quote within a field twice"}
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
		sc.err = &Error{Line: sc.line, Column: sc.count + 1, Message: "expected a separator after the closing quote, found " + quote(firstRune(sc.text[sc.pos:])) + ": write a quote within a field twice"}
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
