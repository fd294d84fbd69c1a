package dataset

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"marginlab/ml/param"
)

// An .xlsx workbook is a zip archive of XML, see ECMA-376, part 1, chapter 18. A sheet lists
// its nonempty cells; a cell holds a number or the index of its text among those that all
// sheets share, and names a style, which alone distinguishes a date from a number.
//
// The reader is our own because excelize 2.10.1 gives the style of a cell only after
// expanding the whole sheet, which took 6 GB for a file of 13 kB; opens a file in time
// quadratic in the number of sheets (3 kB: over a minute); and reads damaged parts as
// shorter ones.

const workbookFile = "xl/workbook.xml"

func isWorkbook(archive *zip.Reader) bool {
	return slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == workbookFile })
}

// mostUnpacked is how many times the maximum file size the unpacked parts of a workbook may
// take together: a cell takes some forty bytes there.
const mostUnpacked = 10

// Limits of a part. Spreadsheet programs allow 32 767 characters in a cell and 64 000 styles.
const (
	mostCell   = 4 * 32_767 // bytes
	mostSheets = 10_000     // including other parts that the workbook names
	mostStyles = 64_000

	mostSheetRows = 1 << 20 // the limit of the format
)

// workbook is a workbook being read.
type workbook struct {
	archive *zip.Reader
	lim     Limits
	left    int64           // bytes that may still be unpacked
	since   time.Time       // day 0 of serial dates
	texts   strings.Builder // texts that all sheets share, concatenated
	ends    []uint32        // where each of them ends
	times   []byte          // timeFormat of each style

	hiddenRows, hiddenColumns int // with cells, of the sheet read last
}

type sheet struct{ name, part string }

var errWorkbookTooLarge = fmt.Errorf("%w, uncompressed", ErrTooLarge)

func cellTooLong() *Error {
	return &Error{Message: "expected cells of at most " + Count(mostCell/4, "character") + ", the limit of spreadsheet programs, found a longer one", Err: ErrTooLarge}
}

// partReader reads the XML of a part token by token; no token takes much more than a cell.
type partReader struct {
	xml  *xml.Decoder
	in   *bufio.Reader
	left int64 // bytes that may still be read
	long int   // of the token so far
	deep int   // number of elements around it
}

// ReadByte makes the decoder read here rather than through a buffer of its own, which would
// hide the length of a token.
func (r *partReader) ReadByte() (byte, error) {
	if r.left--; r.left < 0 {
		return 0, errWorkbookTooLarge
	}
	if r.long++; r.long > 2*mostCell { // twice, because & and the like are escaped
		return 0, cellTooLong()
	}
	return r.in.ReadByte()
}

// Read makes r an io.Reader for the decoder, which uses ReadByte.
func (r *partReader) Read(p []byte) (n int, err error) { return r.in.Read(p) }

// token reads the next token. The parts of a workbook nest elements about ten deep.
func (r *partReader) token() (xml.Token, error) {
	r.long = 0
	token, err := r.xml.RawToken()
	switch token.(type) {
	case xml.StartElement:
		r.deep++
	case xml.EndElement:
		r.deep--
	}
	if r.deep > 100 {
		return nil, errors.New("its elements are nested more than 100 deep")
	}
	return token, err
}

func noWorkbook(file, sheet string) error {
	return &Error{File: file, Message: fmt.Sprintf("expected an .xlsx workbook with the sheet %s, found another kind of file", quote(sheet))}
}

// parseWorkbook reads the named sheet of a workbook, or the first visible one that holds data, else
// the first with several columns, else the first that can be read. It reads the sheet as CSV.
func parseWorkbook(archive *zip.Reader, file, sheet string, lim Limits) (*Table, error) {
	b := &workbook{archive: archive, lim: lim, left: mostUnpacked * lim.Bytes}
	var fault *Error
	refuse := func(part string, err error) error {
		if errors.As(err, &fault) {
			fault.File = inside(file, part)
			return fault
		}
		if errors.Is(err, errWorkbookTooLarge) {
			return &Error{File: file, Message: fmt.Sprintf("expected a workbook of at most %s as text and %s uncompressed", param.Bytes(lim.Bytes), param.Bytes(mostUnpacked*lim.Bytes)), Err: ErrTooLarge}
		}
		return &Error{File: file, Message: fmt.Sprintf("expected a workbook, found a damaged one (%s): %s: save it again as .xlsx or CSV", part, strings.TrimPrefix(err.Error(), "zip: "))}
	}
	sheets, err := b.sheets()
	if err != nil {
		return nil, refuse(workbookFile, err)
	}
	names := make([]string, len(sheets))
	for i, s := range sheets {
		names[i] = s.name
	}
	if sheet != "" {
		same := func(s string) bool { return strings.EqualFold(s, sheet) }
		if slices.Contains(names, sheet) {
			same = func(s string) bool { return s == sheet }
		}
		i := slices.IndexFunc(names, same)
		if i < 0 {
			return nil, &Error{File: file, Message: fmt.Sprintf("no sheet %s: expected one of %s", quote(sheet), list(names))}
		}
		sheets = sheets[i : i+1]
	}
	for _, read := range []struct {
		part string
		read func(string) error
	}{{"xl/sharedStrings.xml", b.sharedTexts}, {"xl/styles.xml", b.styles}} {
		if err := read.read(read.part); err != nil {
			return nil, refuse(read.part, err)
		}
	}
	var first error
	var best *Table
	for _, s := range sheets {
		text, err := b.csv(s.part, nil)
		var wrong *Error
		if err != nil && (!errors.As(err, &wrong) || wrong.Err != nil) {
			return nil, refuse(s.name, err)
		}
		if text == "" && wrong == nil {
			continue
		}
		var t *Table
		if wrong == nil {
			t, wrong = parseSeparated(text, separator{char: ','}, lim)
		}
		if wrong != nil {
			first = cmp.Or(first, refuse(s.name, wrong)) // perhaps remarks before the data
			continue
		}
		t.Format, t.File = "xlsx", inside(file, s.name)
		if t.Sheet, t.Sheets = s.name, names; len(names) > 1 {
			t.Notes = append(t.Notes, fmt.Sprintf("sheet %s of %d", quote(s.name), len(names)))
		}
		if b.hiddenRows > 0 {
			t.Notes = append(t.Notes, Count(b.hiddenRows, "hidden row")+" included")
		}
		if b.hiddenColumns > 0 {
			t.Notes = append(t.Notes, Count(b.hiddenColumns, "hidden column")+" included")
		}
		if t, err = t.finish(lim); err != nil || t.holdsData() {
			return t, err
		}
		if best == nil || len(best.Columns) == 1 && len(t.Columns) > 1 {
			best = t
		}
	}
	if best != nil {
		return best, nil
	}
	if first != nil {
		return nil, first
	}
	if sheet != "" {
		file = inside(file, sheets[0].name)
	}
	return nil, &Error{File: file, Message: "expected a sheet with at least one row of data, found none"}
}

// holdsData reports whether a sheet looks like data rather than a legend or remarks: it has several
// columns of numbers, or words that repeat, with a column of numbers or several columns and many rows.
func (t *Table) holdsData() bool {
	numbers, again := 0, false
	for j := range t.Columns {
		f := factsOf(&t.Columns[j])
		switch f.holds {
		case holdsNumbers, holdsMostlyNumbers:
			numbers++
		case holdsWords:
			again = again || f.repeats()
		}
	}
	return numbers > 1 || again && (numbers > 0 || len(t.Columns) > 1 && len(t.Lines) >= leastKnown)
}

// part calls each for every start element of a part, until it returns an error. A missing part
// has no elements.
func (b *workbook) part(name string, each func(d *partReader, e xml.StartElement) error) error {
	at := slices.IndexFunc(b.archive.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, name) })
	if at < 0 {
		return nil
	}
	r, err := b.archive.File[at].Open()
	if err != nil {
		return err
	}
	defer r.Close()
	d := &partReader{in: bufio.NewReader(r), left: b.left}
	defer func() { b.left = max(d.left, 0) }()
	d.xml = xml.NewDecoder(d)
	for {
		token, err := d.token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := each(d, e); err != nil {
				return err
			}
		}
	}
}

// sheets returns the visible sheets in order.
func (b *workbook) sheets() (list []sheet, err error) {
	b.since = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	parts := map[string]string{} // by relationship id
	err = b.part("xl/_rels/workbook.xml.rels", func(_ *partReader, e xml.StartElement) error {
		if e.Name.Local == "Relationship" {
			target := attribute(&e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join("/xl", target)
			}
			if parts[attribute(&e, "Id")] = target[1:]; len(parts) > mostSheets {
				return errWorkbookTooLarge
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = b.part(workbookFile, func(_ *partReader, e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			if isTrue(attribute(&e, "date1904")) {
				b.since = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		case "sheet":
			if state := attribute(&e, "state"); state == "" || state == "visible" {
				if len(list) == mostSheets {
					return errWorkbookTooLarge
				}
				list = append(list, sheet{tidy(attribute(&e, "name")), parts[attribute(&e, "id")]})
			}
		}
		return nil
	})
	return list, err
}

// sharedTexts reads the texts that all sheets share.
func (b *workbook) sharedTexts(part string) error {
	return b.part(part, func(d *partReader, e xml.StartElement) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := textWithin(d, "si")
		if int64(b.texts.Len()+len(text)+4*len(b.ends)) >= b.lim.Bytes { // empty texts take memory, too
			return errWorkbookTooLarge
		}
		b.texts.WriteString(text)
		b.ends = append(b.ends, uint32(b.texts.Len()))
		return err
	})
}

// textWithin joins the text of the elements t up to the end of the element end, without
// pronunciation hints (rPh).
func textWithin(d *partReader, end string) (string, error) {
	var text strings.Builder
	inside, spoken := false, false
	for {
		token, err := d.token()
		if err != nil {
			return "", err
		}
		switch e := token.(type) {
		case xml.StartElement:
			inside = e.Name.Local == "t"
			spoken = spoken || e.Name.Local == "rPh"
		case xml.EndElement:
			inside = false
			spoken = spoken && e.Name.Local != "rPh"
			if e.Name.Local == end {
				return text.String(), nil
			}
		case xml.CharData:
			if inside && !spoken {
				text.Write(e)
			}
			if text.Len() > mostCell {
				return "", cellTooLong()
			}
		}
	}
}

// styles determines which styles mark dates and durations.
func (b *workbook) styles(part string) error {
	formats := map[string]byte{"46": 'h'} // by number
	for _, k := range []int{14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 45, 47, 50, 51, 52, 53, 54, 55, 56, 57, 58} {
		formats[strconv.Itoa(k)] = 'd'
	}
	ofCells := false
	return b.part(part, func(_ *partReader, e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			if formats[attribute(&e, "numFmtId")] = timeFormat(attribute(&e, "formatCode")); len(formats) > mostStyles {
				return errWorkbookTooLarge
			}
		case "cellXfs":
			ofCells = true
		case "cellStyles", "dxfs":
			ofCells = false
		case "xf":
			if len(b.times) == mostStyles {
				return errWorkbookTooLarge
			}
			if ofCells {
				b.times = append(b.times, formats[attribute(&e, "numFmtId")])
			}
		}
		return nil
	})
}

// timeFormat returns 'd' for the format code of a date or time, such as dd/mm/yyyy but not
// 0.00 "days"; 'h', 'm' or 's' for a duration in that unit, such as [h]:mm; 0 for other codes.
func timeFormat(code string) byte {
	code = strings.ToLower(code)
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				return 0
			}
			i += end + 1
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return 0
			}
			if slices.Contains([]string{"h", "hh", "m", "mm", "s", "ss"}, code[i+1:i+end]) {
				return code[i+1]
			}
			i += end
		case '\\', '_', '*':
			i++
		case ';':
			return 0 // the first part is for positive numbers
		case 'd', 'm', 'y', 'h':
			return 'd'
		}
	}
	return 0
}

// csv writes a sheet as CSV, one line per row of the sheet, so line numbers are row numbers. The
// value of merged cells stands in all their rows. A sheet lists these cells below its rows, so csv then
// reads the sheet again, given the last row of each by its first cell.
func (b *workbook) csv(part string, merged map[string]int) (string, error) {
	var text strings.Builder
	line, width := 0, 0 // of the lines written
	var fields []string
	blank := true
	left, found := b.left, map[string]int{}
	type block struct {
		cell string
		last int // row
	}
	blocks := map[int]block{}                                // by column
	hiddenRow, hidden, described := false, map[int]bool{}, 0 // hidden columns without cells so far; columns described
	b.hiddenRows, b.hiddenColumns = 0, 0
	end := func() {
		if !blank {
			if hiddenRow {
				b.hiddenRows++
			}
			for at, m := range blocks {
				if line <= m.last {
					fields = append(fields, make([]string, max(0, at+1-len(fields)))...)
					fields[at] = cmp.Or(fields[at], m.cell)
				}
			}
			for len(fields) < width {
				fields = append(fields, "")
			}
			width = max(width, len(fields))
			text.WriteString(strings.Join(fields, ","))
		}
		fields, blank = fields[:0], true
	}
	err := b.part(part, func(d *partReader, e xml.StartElement) error {
		switch e.Name.Local {
		case "col":
			from, _ := strconv.Atoi(attribute(&e, "min"))
			to, _ := strconv.Atoi(attribute(&e, "max"))
			for described = max(described, from-1); described < min(to, b.lim.Columns+besides); described++ {
				if isTrue(attribute(&e, "hidden")) {
					hidden[described] = true
				}
			}
		case "row":
			end()
			hiddenRow = isTrue(attribute(&e, "hidden"))
			next := line + 1
			if r, err := strconv.Atoi(attribute(&e, "r")); err == nil {
				next = r
			}
			switch {
			case next <= line:
				return fmt.Errorf("row %s does not follow row %d", quote(attribute(&e, "r")), line)
			case next > mostSheetRows:
				return fmt.Errorf("row %s: a sheet has at most %d rows", quote(attribute(&e, "r")), mostSheetRows)
			}
			for ; line < next; line++ {
				if line > 0 {
					text.WriteByte('\n')
				}
			}
		case "c":
			at := len(fields)
			if r := attribute(&e, "r"); r != "" {
				j, ok := columnOf(r)
				if !ok || j < at {
					return fmt.Errorf("the cell %s does not follow column %d", quote(r), at)
				}
				at = j
			}
			cell, err := b.cell(d, &e)
			if err != nil {
				return err
			}
			if cell == "" {
				return nil
			}
			if at >= b.lim.Columns+besides {
				return &Error{Line: line, Message: fmt.Sprintf("expected at most %s, found column %d", Count(b.lim.Columns, "column"), at+1), Err: ErrTooLarge}
			}
			for len(fields) < at {
				fields = append(fields, "")
			}
			if fields, blank = append(fields, csvField(cell)), false; hidden[at] {
				hidden[at] = false
				b.hiddenColumns++
			}
			if last := merged[attribute(&e, "r")]; last > line {
				blocks[at] = block{fields[at], last}
			}
		case "mergeCell":
			first, last, _ := strings.Cut(attribute(&e, "ref"), ":")
			row := func(cell string) string { return strings.TrimLeft(cell, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") }
			if n, err := strconv.Atoi(row(last)); err == nil && row(first) != row(last) {
				found[first] = n
			}
			if len(found) > b.lim.Rows {
				return errWorkbookTooLarge
			}
		}
		if int64(text.Len()) > b.lim.Bytes {
			return errWorkbookTooLarge
		}
		return nil
	})
	if end(); merged == nil && len(found) > 0 && err == nil {
		b.left = left
		return b.csv(part, found)
	}
	if strings.TrimLeft(text.String(), "\n") == "" {
		return "", err
	}
	return text.String(), err
}

func isTrue(attribute string) bool { return attribute == "1" || attribute == "true" }

// columnOf returns the column index of a cell such as AB12, counted from 0.
func columnOf(cell string) (int, bool) {
	j := 0
	for i := range len(cell) {
		c := cell[i]
		if c < 'A' || c > 'Z' {
			return j - 1, i > 0
		}
		if j = 26*j + int(c-'A') + 1; j > 1<<20 {
			return 0, false
		}
	}
	return 0, false
}

// cell returns the content of a cell as text on one line.
func (b *workbook) cell(d *partReader, e *xml.StartElement) (string, error) {
	kind := attribute(e, "t")
	var written strings.Builder
	inline, in, formula, saved := "", "", false, false
	for done := false; !done; {
		token, err := d.token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if in = t.Name.Local; in == "is" {
				if inline, err = textWithin(d, "is"); err != nil {
					return "", err
				}
				in = ""
			}
			formula, saved = formula || in == "f", saved || in == "v"
		case xml.EndElement:
			in = ""
			done = t.Name.Local == "c"
		case xml.CharData:
			if in == "v" {
				written.Write(t)
			}
			if written.Len() > mostCell {
				return "", cellTooLong()
			}
		}
	}
	if formula && !saved {
		return "", &Error{Message: fmt.Sprintf("expected a saved value of the formula in cell %s, found none: open the workbook in a spreadsheet program and save it", attribute(e, "r"))}
	}
	value := written.String()
	switch kind {
	case "s":
		if value == "" {
			return "", nil
		}
		k, err := strconv.Atoi(value)
		if err != nil || k < 0 || k >= len(b.ends) {
			return "", fmt.Errorf("a cell refers to text %s of %d", quote(value), len(b.ends))
		}
		from := uint32(0)
		if k > 0 {
			from = b.ends[k-1]
		}
		return tidy(b.texts.String()[from:b.ends[k]]), nil
	case "inlineStr":
		return tidy(inline), nil
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE"}[value], nil
	case "", "n":
		style, _ := strconv.Atoi(attribute(e, "s"))
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || style < 0 || style >= len(b.times) {
			break
		}
		switch mark := b.times[style]; mark {
		case 0:
		case 'd':
			return b.date(v), nil
		default:
			v *= map[byte]float64{'h': 24, 'm': 24 * 60, 's': 24 * 60 * 60}[mark]
			return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'g', -1, 64), nil // removes the rounding error of fractions of a day
		}
	}
	return tidy(value), nil
}

// date formats a serial date: the day, with the time if any, or only the time.
func (b *workbook) date(days float64) string {
	if days < 0 || days >= 2_958_466 { // the year 10 000
		return strconv.FormatFloat(days, 'g', -1, 64)
	}
	seconds := math.Round(days * 24 * 60 * 60)
	at := b.since.AddDate(0, 0, int(seconds)/(24*60*60)).Add(time.Duration(int(seconds)%(24*60*60)) * time.Second)
	if days < 60 && b.since.Year() == 1899 {
		at = at.AddDate(0, 0, 1) // spreadsheet programs count a 29 February 1900
	}
	switch {
	case days < 1:
		return at.Format("15:04:05")
	case at.Hour()+at.Minute()+at.Second() == 0:
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02 15:04:05")
}
