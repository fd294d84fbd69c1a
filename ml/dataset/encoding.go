package dataset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// decodeText returns the content of a file in UTF-8 without byte order mark, or an error if it
// is not text. UTF-16 is recognised by its mark, or by every second byte being zero;
// text that is not UTF-8 is read as Windows-1252, the encoding of older programs in Western
// Europe and America, which contains Latin-1. A note names the assumed encoding.
func decodeText(raw string) (text, note string, fault *Error) {
	if isArchive(raw) {
		return "", "", &Error{Message: "expected a text file, found a zip archive or a workbook: unpack it first"}
	}
	for _, b := range binaries {
		if strings.HasPrefix(raw, b.begins) && strings.IndexByte(raw, 0) >= 0 { // a text may begin so
			return "", "", &Error{Message: "expected a text file or an .xlsx workbook, found " + b.found}
		}
	}
	if order, ok := isUTF16(raw); ok {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().String(raw)
		if i := strings.IndexAny(text, "\x00\ufffd"); i >= 0 || err != nil {
			return "", "", &Error{Line: 1 + lineEnds(text[:max(i, 0)]), Message: "expected text, found invalid UTF-16: save the file as UTF-8"}
		}
		return text, "read as UTF-16", nil
	}
	raw = strings.ReplaceAll(raw, "\xef\xbb\xbf", "") // one per file where several were joined
	line := func(at int) int { return 1 + lineEnds(raw[:at]) }
	if i := strings.IndexByte(raw, 0); i >= 0 {
		return "", "", &Error{Line: line(i), Message: "expected UTF-8 text, found a zero byte: this is a binary file or UTF-16"}
	}
	if utf8.ValidString(raw) {
		return raw, "", nil
	}
	for i := range len(raw) {
		if noWindows1252(raw[i]) {
			return "", "", &Error{Line: line(i), Message: fmt.Sprintf("expected UTF-8 text, found byte 0x%02X: save the file as UTF-8", raw[i])}
		}
	}
	text, err := charmap.Windows1252.NewDecoder().String(raw)
	if err != nil {
		return "", "", &Error{Message: "expected text in Windows-1252, " + err.Error()}
	}
	return text, "read as Windows-1252 because it is not UTF-8", nil
}

// binaries lists unsupported formats by their first bytes, with a remedy. Parquet is among them
// because its Go readers unpack a page of any size at once.
var binaries = []struct{ begins, found string }{
	{"\xd0\xcf\x11\xe0", "a document in an older format, such as .xls, or with a password: save the sheet as .xlsx without a password, or as CSV"},
	{gzipMagic, "a file compressed with gzip: decompress it first"},
	{"PAR1", "a Parquet file: save it as CSV, for example with pandas: read_parquet(…).to_csv(…, index=False)"},
	{"ARROW1", "an Arrow file: save it as CSV, for example with pandas: read_feather(…).to_csv(…, index=False)"},
	{"\x93NUMPY", "a NumPy array: save it as CSV with numpy.savetxt(…, delimiter=\",\")"},
	{"\x89HDF", "an HDF5 file: save the table as CSV"},
	{"RDX", "an R workspace: save the table as CSV with write.csv(…, row.names = FALSE)"},
	{"X\n\x00", "an R object: save the table as CSV with write.csv(…, row.names = FALSE)"},
	{"BZh", "a file compressed with bzip2: decompress it, or use gzip"},
	{"\xfd7zXZ", "a file compressed with xz: decompress it, or use gzip"},
	{"\x28\xb5\x2f\xfd", "a file compressed with zstd: decompress it, or use gzip"},
	{"SQLite format 3\x00", "an SQLite database: export the table as CSV"},
	{"$FL2@(#)", "an SPSS file: save it as CSV"},
	{"<stata_dta>", "a Stata file: save it as CSV with export delimited"},
	{"MATLAB 5.0 MAT-file", "a MATLAB file: save it as CSV with writematrix or writetable"},
	{"\x89PNG", "an image: type its numbers into a spreadsheet and save it as CSV"},
	{"\xff\xd8\xff", "an image: type its numbers into a spreadsheet and save it as CSV"},
	{"%PDF-", "a PDF document: copy the table into a spreadsheet and save it as CSV"},
}

// isUTF16 reports whether a text is UTF-16, and its byte order.
func isUTF16(raw string) (order unicode.Endianness, ok bool) {
	switch {
	case strings.HasPrefix(raw, "\xff\xfe"):
		return unicode.LittleEndian, true
	case strings.HasPrefix(raw, "\xfe\xff"):
		return unicode.BigEndian, true
	case len(raw) < 4 || len(raw)%2 != 0:
		return unicode.LittleEndian, false
	}
	var zeros [2]int // at even and at odd places, of the beginning
	beginning := min(len(raw), 1000)
	for i := range beginning {
		if raw[i] == 0 {
			zeros[i%2]++
		}
	}
	most := beginning / 2 * 3 / 4 // letters of other scripts have no zero
	switch {
	case zeros[0] == 0 && zeros[1] > most:
		return unicode.LittleEndian, true
	case zeros[1] == 0 && zeros[0] > most:
		return unicode.BigEndian, true
	}
	return unicode.LittleEndian, false
}

// noWindows1252 reports whether a byte cannot occur in Windows-1252 text: control characters and
// its five undefined bytes.
func noWindows1252(c byte) bool {
	switch c {
	case '\t', '\n', '\v', '\f', '\r':
		return false
	case 0x7f, 0x81, 0x8d, 0x8f, 0x90, 0x9d:
		return true
	}
	return c < ' '
}
