package lessons

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"marginlab/views/formula"
)

// Text renders prose with formulas between dollar signs and emphasis between asterisks: "the
// *margin* $1/\lVert w\rVert$". Text between tildes is a hint that only helps where pictures move,
// and is not printed: "The *probe* has no label. ~Drag it.~" A sign without its partner is an error
// when it is rendered.
func Text(s string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, out io.Writer) error {
		w := &strings.Builder{}
		parts := strings.Split(s, "$")
		if len(parts)%2 == 0 {
			return fmt.Errorf("a $ is missing in “%s”; put $ on both sides of a formula", s)
		}
		for i, part := range parts {
			var err error
			switch {
			case i%2 == 0:
				err = prose(w, part)
			case marks(parts[i+1]) == 0:
				err = formula.Inline(part).Render(ctx, w)
			default: // punctuation stays on the formula's line
				n := marks(parts[i+1])
				err = errors.Join(write(w, `<span class="nowrap">`), formula.Inline(part).Render(ctx, w), prose(w, parts[i+1][:n]), write(w, "</span>"))
				parts[i+1] = parts[i+1][n:]
			}
			if err != nil {
				return err
			}
		}
		html, err := hints(w.String())
		if err != nil {
			return err
		}
		return write(out, html)
	})
}

// wholeHint matches a paragraph that is a hint, hint one within a line.
var (
	wholeHint = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<p>~([^~]*)~</p>`) })
	hint      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`~([^~]*)~`) })
)

// hints marks text between tildes in HTML as shown on screen only.
func hints(html string) (string, error) {
	html = wholeHint().ReplaceAllString(html, `<p class="on-screen">$1</p>`)
	html = hint().ReplaceAllString(html, `<span class="on-screen">$1</span>`)
	if at := strings.IndexByte(html, '~'); at >= 0 {
		return "", fmt.Errorf("a ~ is missing after “%s”; put ~ on both sides of a hint", html[at:])
	}
	return html, nil
}

// Printed returns a Text without its hints.
func Printed(s string) string { return strings.TrimSpace(hint().ReplaceAllString(s, "")) }

// Spoken returns a Text as plain text, without emphasis and with formulas in words, for names
// that can only be text; a formula that Text would refuse stays as it is.
func Spoken(s string) string {
	parts := strings.Split(s, "$")
	for i, part := range parts {
		if i%2 == 0 {
			parts[i] = strings.NewReplacer("*", "", "~", "").Replace(part)
		} else if words, err := formula.Spoken(part); err == nil {
			parts[i] = words
		}
	}
	return strings.Join(parts, "")
}

// marks returns the number of bytes of punctuation at the beginning of a text.
func marks(s string) int { return len(s) - len(strings.TrimLeft(s, ".,;:!?)")) }

func write(w io.Writer, s string) error {
	_, err := io.WriteString(w, s)
	return err
}

// Literal returns foreign text with look-alikes for the characters that mark formulas and emphasis.
func Literal(s string) string {
	return strings.NewReplacer("$", "＄", "*", "∗", "~", "∼").Replace(s)
}

// prose writes text without formulas.
func prose(w io.Writer, s string) error {
	parts := strings.Split(templ.EscapeString(s), "*")
	if len(parts)%2 == 0 {
		return fmt.Errorf("a * is missing in “%s”; put * on both sides of emphasis", s)
	}
	for i, part := range parts {
		if i%2 == 1 {
			part = "<em>" + part + "</em>"
		}
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// ReadNumber parses numbers such as 0.25, 0,25, 1/4 and −3e-2.
func ReadNumber(s string) (float64, error) {
	s = strings.NewReplacer("−", "-", ",", ".", " ", "").Replace(s)
	over, under, fraction := strings.Cut(s, "/")
	v, err := strconv.ParseFloat(over, 64)
	if err == nil && fraction {
		var u float64
		u, err = strconv.ParseFloat(under, 64)
		v /= u
	}
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}
