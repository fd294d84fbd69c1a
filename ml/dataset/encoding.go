package dataset

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf "golang.org/x/text/encoding/unicode"
)

// decodeText returns the content of a file in UTF-8 without byte order marks and other characters of
// zero width, or an error if it is not text. UTF-16 is recognised by its mark, or by every second byte
// being zero; other text is read in the legacy encoding that guessPage finds. The note names an encoding
// other than UTF-8.
func decodeText(raw string) (text, note string, fault *Error) {
	if isArchive(raw) {
		return "", "", &Error{Message: "expected a text file, found a zip archive or a workbook: unpack it first"}
	}
	head := raw
	if behind := raw[min(tarAt, len(raw)):]; strings.HasPrefix(behind, tarMagic) {
		head = behind
	}
	for _, b := range binaries {
		if strings.HasPrefix(head, b.begins) && strings.IndexByte(raw, 0) >= 0 { // text may begin in the same way
			return "", "", &Error{Message: "expected a text file or an .xlsx workbook, found " + b.found}
		}
	}
	if order, ok := isUTF16(raw); ok {
		text, err := utf.UTF16(order, utf.UseBOM).NewDecoder().String(raw)
		if i := strings.IndexAny(text, "\x00\ufffd"); i >= 0 || err != nil {
			return "", "", &Error{Line: 1 + lineEnds(text[:max(i, 0)]), Message: "expected text, found invalid UTF-16: save the file as UTF-8"}
		}
		return visible(text), "read as UTF-16", nil
	}
	raw = strings.TrimSuffix(visible(raw), "\x1a") // which ends a text in DOS
	line := func(at int) int { return 1 + lineEnds(raw[:at]) }
	if i := strings.IndexByte(raw, 0); i >= 0 {
		return "", "", &Error{Line: line(i), Message: "expected UTF-8 text, found a zero byte: this is a binary file or UTF-16"}
	}
	if utf8.ValidString(raw) {
		return raw, "", nil
	}
	var legacy, all strings.Builder
	for s := range strings.Lines(raw) {
		if !utf8.ValidString(s) {
			legacy.WriteString(s)
		}
	}
	p, sure := guessPage(legacy.String())
	at, mixed := 0, false
	for s := range strings.Lines(raw) { // files of several encodings may have been joined
		valid := utf8.ValidString(s)
		for i := range len(s) {
			c := s[i]
			if c < ' ' && (c < '\t' || c > '\r') || c == 0x7f || !valid && p.DecodeByte(c) == utf8.RuneError {
				fault := &Error{Line: line(at + i), Message: fmt.Sprintf("expected UTF-8 text, found byte 0x%02X: save the file as UTF-8", c)}
				if c >= utf8.RuneSelf {
					fault.Message += " (it may be in Shift-JIS or GBK)"
				}
				return "", "", fault
			}
			mixed = mixed || valid && c >= utf8.RuneSelf
		}
		at += len(s)
		if !valid {
			s, _ = p.NewDecoder().String(s) // all bytes are letters or signs
		}
		all.WriteString(s)
	}
	text = all.String()
	note = "read as " + p.name + " because it is not UTF-8"
	if mixed {
		note = "lines that are not UTF-8 read as " + p.name
	}
	if !sure {
		note += ": save it as UTF-8 if letters look wrong"
	}
	return text, note, nil
}

// visible removes characters of zero width; where files were joined, there is a byte order mark for each.
// It looks for them one by one, which is faster than a single scan for all.
func visible(s string) string {
	for _, r := range zeroWidth {
		s = strings.ReplaceAll(s, string(r), "")
	}
	return s
}

// page is a single-byte encoding.
type page struct {
	name string
	*charmap.Charmap
	letters string // non-ASCII letters of a language and its neighbours; for other scripts, the vowels
}

// latinPages lists encodings of Latin letters, in the order tried. Windows-1252, for Western Europe
// and America, contains Latin-1.
var latinPages = []page{
	{"Windows-1252", charmap.Windows1252, "äöüßàâæçéèêëîïôœùûÿìò"}, // German, French, Italian, Dutch
	{"Windows-1252", charmap.Windows1252, "áéíóúñüïàèòç"},          // Spanish, Catalan
	{"Windows-1252", charmap.Windows1252, "áâãàçéêíóôõúü"},         // Portuguese
	{"Windows-1252", charmap.Windows1252, "äöåæøéüßèêç"},           // Nordic languages
	{"Windows-1252", charmap.Windows1252, "õäöüšž"},                // Estonian
	{"Windows-1252", charmap.Windows1252, "áéíóúýšž"},              // same bytes in Windows-1250
	{"Windows-1254 (Turkish)", charmap.Windows1254, "çğıiöşüâîû"},
	{"Windows-1250 (Central European)", charmap.Windows1250, "ąćęłńóśźż"},         // Polish
	{"Windows-1250 (Central European)", charmap.Windows1250, "áčďéěíňóřšťúůýž"},   // Czech
	{"Windows-1250 (Central European)", charmap.Windows1250, "áäčďéíĺľňóôŕšťúýž"}, // Slovak
	{"Windows-1250 (Central European)", charmap.Windows1250, "áéíóöőúüű"},         // Hungarian
	{"Windows-1250 (Central European)", charmap.Windows1250, "čćđšž"},             // Croatian, Slovenian
	{"Windows-1250 (Central European)", charmap.Windows1250, "ăâîşţ"},             // Romanian
	{"Windows-1252", charmap.Windows1252, "áðéíóúýþæö"},                           // Icelandic
	{"code page 850", charmap.CodePage850, "äöüßàâæçéèêëîïôûùÿìò"},                // German, French and Italian at a Windows prompt
	{"code page 850", charmap.CodePage850, "áéíóúñü"},                             // Spanish
}

// otherPages lists encodings of other scripts.
var otherPages = []page{
	{"Windows-1251 (Cyrillic)", charmap.Windows1251, "аеиоуыэюяёіїє"},
	{"Windows-1253 (Greek)", charmap.Windows1253, "αεηιουωάέήίόύώ"},
}

// guessPage returns the encoding of a text that is not UTF-8: Windows-1252 unless the letters fit
// none of its languages but one of another encoding. sure reports whether they fit a language.
func guessPage(raw string) (p page, sure bool) {
	var times, within [256]int // occurrences of each byte, and those between letters
	inWord := func(c byte) bool { return c >= 0xc0 || 'a' <= c|' ' && c|' ' <= 'z' }
	pairs, mixed := 0, 0 // neighbouring letters, both non-ASCII and only one of them
	for i := range len(raw) {
		c := raw[i]
		times[c]++
		if i == 0 || !inWord(raw[i-1]) {
			continue
		}
		switch before := raw[i-1]; {
		case c >= 0xc0 && before >= 0xc0:
			pairs++
		case inWord(c) && (c >= 0xc0 || before >= 0xc0):
			mixed++
		case i+1 < len(raw) && inWord(raw[i+1]) && before != 'm': // as in m³
			within[c]++
		}
	}
	if pairs > 2 && pairs > 10*mixed { // words without Latin letters
		p, most := page{}, 0
		for _, q := range otherPages {
			n, signs := 0, 0
			for c := range times {
				switch r := q.DecodeByte(byte(c)); {
				case strings.ContainsRune(q.letters, unicode.ToLower(r)):
					n += times[c]
				case c >= utf8.RuneSelf && !unicode.IsLetter(r):
					signs += within[c]
				}
			}
			if n > most && 20*signs < pairs { // otherwise a double-byte encoding
				p, most = q, n
			}
		}
		if most > 0 {
			return p, false // may be KOI8-R or a double-byte encoding as well
		}
	}
	for _, p := range latinPages {
		if p.fits(&times, &within) {
			return p, p.Charmap != charmap.CodePage850 // may be Mac Roman as well
		}
	}
	return latinPages[0], false
}

// fits reports whether the non-ASCII letters of a text belong to p's language, and none of its
// signs stands within a word where Windows-1250 has a letter or is one that no word contains, such
// as „ and ”, which are ä and ö in code page 850. Lines of boxes are no signs of a table.
func (p page) fits(times, within *[256]int) bool {
	for c := utf8.RuneSelf; c < len(times); c++ {
		r := p.DecodeByte(byte(c))
		switch {
		case times[c] == 0, strings.ContainsRune("ªºµƒ", r):
		case unicode.IsLetter(r):
			if !strings.ContainsRune(p.letters, unicode.ToLower(r)) {
				return false
			}
		case r == utf8.RuneError, '─' <= r && r <= '▟', c >= 0xc0 && r != '×' && r != '÷', within[c] > 0 && (strings.ContainsRune("„”‚‡¶¤¢", r) || unicode.IsLetter(charmap.Windows1250.DecodeByte(byte(c)))):
			return false
		}
	}
	return true
}

// pickled describes files that Python's pickle and joblib write.
const pickled = "a pickled Python object: save the table as CSV, for example with pandas: read_pickle(…).to_csv(…, index=False)"

// tarMagic stands at tarAt in tar archives, behind the name of the first file and its numbers.
const (
	tarMagic = "ustar"
	tarAt    = 257
)

// binaries lists unsupported formats by their first bytes, with a remedy. Parquet is among them
// because its Go readers unpack a page of any size at once.
var binaries = []struct{ begins, found string }{
	{"\xd0\xcf\x11\xe0", "a document in an older format, such as .xls, or with a password: save the sheet as .xlsx without a password, or as CSV"},
	{gzipMagic, "a file compressed with gzip: decompress it first"},
	{"PAR1", "a Parquet file: save it as CSV, for example with pandas: read_parquet(…).to_csv(…, index=False)"},
	{"ARROW1", "an Arrow file: save it as CSV, for example with pandas: read_feather(…).to_csv(…, index=False)"},
	{"\x80\x04\x95", pickled},
	{"\x80\x05\x95", pickled},
	{"\x93NUMPY", "a NumPy array: " + saveArray},
	{"\x89HDF", "an HDF5 file: save the table as CSV"},
	{"RDX", "an R workspace: save the table as CSV with write.csv(…, row.names = FALSE)"},
	{"X\n\x00", "an R object: save the table as CSV with write.csv(…, row.names = FALSE)"},
	{tarMagic, "a tar archive: unpack it, and upload the table in it"},
	{"7z\xbc\xaf", "a 7z archive: unpack it first"},
	{"Rar!\x1a", "a RAR archive: unpack it first"},
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
func isUTF16(raw string) (order utf.Endianness, ok bool) {
	switch {
	case strings.HasPrefix(raw, "\xff\xfe"):
		return utf.LittleEndian, true
	case strings.HasPrefix(raw, "\xfe\xff"):
		return utf.BigEndian, true
	case len(raw) < 4 || len(raw)%2 != 0:
		return utf.LittleEndian, false
	}
	var zeros [2]int // at even and odd offsets of the beginning
	beginning := min(len(raw), 1000)
	for i := range beginning {
		if raw[i] == 0 {
			zeros[i%2]++
		}
	}
	most := beginning / 2 * 3 / 4 // letters of other scripts have no zero byte
	switch {
	case zeros[0] == 0 && zeros[1] > most:
		return utf.LittleEndian, true
	case zeros[1] == 0 && zeros[0] > most:
		return utf.BigEndian, true
	}
	return utf.LittleEndian, false
}
