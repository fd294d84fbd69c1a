package cmdline

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"marginlab/ml/lists"
	"marginlab/views/manual"
)

// printer writes the help of a command, or a page of the manual, for a terminal or as roff.
type printer interface {
	manual.Printer
	Synopsis(text string)
	Term(term, text string) // a flag or a word of the command line
	Value(text string)      // a value of the preceding term
	Row(term, text string)  // a row of a short list
}

// terminal prints plain text wrapped to a width.
type terminal struct {
	w       io.Writer
	columns int
}

// columns returns the width to wrap text for w to: that of the terminal, up to a readable maximum;
// elsewhere 80.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, ok := terminalWidth(f); ok {
			return min(max(n, 40), 100)
		}
	}
	return 80
}

func (t terminal) Synopsis(text string) { fmt.Fprintf(t.w, "Usage: marginlab %s\n\n", text) }

func (t terminal) Heading(level int, text string) {
	if level > 1 {
		fmt.Fprintln(t.w)
	}
	fmt.Fprintln(t.w, text)
}

func (t terminal) Paragraph(text string) { t.wrap(t.w, "", text) }

func (t terminal) Term(term, text string) {
	fmt.Fprintf(t.w, "  %s\n", term)
	t.wrap(t.w, "      ", text)
}

func (t terminal) Row(term, text string) { fmt.Fprintf(t.w, "  %-11s %s\n", term, text) }

func (t terminal) Value(text string) { t.wrap(t.w, "        ", text) }

func (t terminal) Item(depth int, mark, text string) {
	indent := strings.Repeat("  ", depth)
	var lines strings.Builder
	t.wrap(&lines, indent+strings.Repeat(" ", len(mark)+1), text)
	fmt.Fprint(t.w, indent+mark+" "+strings.TrimLeft(lines.String(), " "))
}

func (t terminal) Code(text string) {
	fmt.Fprintln(t.w)
	for line := range strings.Lines(text) {
		fmt.Fprintln(t.w, strings.TrimRight("    "+line, " \n"))
	}
	fmt.Fprintln(t.w)
}

func (terminal) Strong(text string) string   { return text }
func (terminal) Emphasis(text string) string { return text }

// spaced prints a page of the manual, with empty lines between paragraphs.
type spaced struct{ terminal }

func (s spaced) Heading(level int, text string) {
	if level == 1 {
		text = strings.ToUpper(text)
	}
	s.terminal.Heading(level, text)
}

func (s spaced) Paragraph(text string) {
	fmt.Fprintln(s.w)
	s.terminal.Paragraph(text)
}

func (s spaced) Item(depth int, mark, text string) {
	if depth == 0 {
		fmt.Fprintln(s.w)
	}
	s.terminal.Item(depth, mark, text)
}

// roff prints a man page.
type roff struct {
	w    io.Writer
	name string // of the page, bold at its head
}

var roffFonts = strings.NewReplacer(strongOn, `\fB`, emphasisOn, `\fI`, fontOff, `\fP`)

// Placeholders of font changes until a text has been escaped.
const strongOn, emphasisOn, fontOff = "\x01", "\x02", "\x03"

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// text escapes a line.
func (r roff) text(s string) string {
	s = roffFonts.Replace(roffEscapes.Replace(s))
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

func (r roff) Heading(level int, text string) {
	macro := lists.Either(level > 2, ".SS", ".SH")
	fmt.Fprintf(r.w, "%s \"%s\"\n", macro, strings.ReplaceAll(r.text(text), `"`, `\(dq`))
}

func (r roff) Synopsis(text string) {
	fmt.Fprintf(r.w, ".SH SYNOPSIS\n.B marginlab\n%s\n.SH DESCRIPTION\n", r.text(text))
}

func (r roff) Paragraph(text string) { fmt.Fprintf(r.w, ".PP\n%s\n", r.text(text)) }

func (r roff) Term(term, text string) {
	fmt.Fprintf(r.w, ".TP\n\\fB%s\\fP\n%s\n", r.text(term), r.text(text))
}

func (r roff) Row(term, text string) { r.Term(term, text) }

func (r roff) Value(text string) { fmt.Fprintf(r.w, ".br\n%s\n", r.text(text)) }

func (r roff) Item(depth int, mark, text string) {
	if mark == "-" {
		mark = `\(bu`
	}
	fmt.Fprintf(r.w, "%s.IP %s 3\n%s\n%s", strings.Repeat(".RS 3\n", depth), mark, r.text(text), strings.Repeat(".RE\n", depth))
}

func (r roff) Code(text string) {
	fmt.Fprintln(r.w, ".PP\n.RS 4\n.nf")
	for line := range strings.Lines(text) {
		fmt.Fprintln(r.w, r.text(strings.TrimRight(line, "\n")))
	}
	fmt.Fprintln(r.w, ".fi\n.RE")
}

func (roff) Strong(text string) string   { return strongOn + text + fontOff }
func (roff) Emphasis(text string) string { return emphasisOn + text + fontOff }

func (t terminal) wrap(w io.Writer, indent, text string) {
	line := indent
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' }) { // not at a no-break space
		if len(line) > len(indent) && utf8.RuneCountInString(line+word) > t.columns {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = indent
		}
		line += word + " "
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

var blankLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n{3,}`) })

// printTopic writes a page of the manual to a terminal.
func printTopic(w io.Writer, t manual.Topic) {
	var b strings.Builder
	t.Print(spaced{terminal{&b, columns(w)}})
	fmt.Fprint(w, blankLines().ReplaceAllString(b.String(), "\n\n"))
}
