package all

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// explored returns the symbols and emphasised words in HTML, as compared by the page's script.
func explored(t *testing.T, html string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.Entity, d.AutoClose = false, xml.HTMLEntity, xml.HTMLAutoClose
	var open []string
	var from []int // start of the text of each open element
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			open, from = append(open, x.Name.Local), append(from, text.Len())
		case xml.CharData:
			text.Write(x)
		case xml.EndElement:
			k := len(open) - 1
			word := strings.Join(strings.Fields(norm.NFKC.String(text.String()[from[k]:])), "")
			switch open[k] {
			case "math", "mi", "mn", "msub", "msup", "mover":
				found[word] = true
			case "em":
				found[strings.ToLower(word)] = true
			}
			open, from = open[:k], from[:k]
		}
	}
}

// TestMeanings: every symbol of the table occurs in the text of a screen with a figure that shows
// its meaning; a number does not denote a point, as other formulas contain numbers.
func TestMeanings(t *testing.T) {
	t.Parallel()
	used := map[string]map[string]bool{}
	numeral := regexp.MustCompile(`^\d+$`)
	for i := range Lessons() {
		l := &Lessons()[i]
		for k := range l.Screens {
			s := &l.Screens[k]
			if s.Demo == nil {
				continue
			}
			var words strings.Builder
			render := func(text string) {
				require.NoError(t, lessons.Text(text).Render(t.Context(), &words))
			}
			require.NoError(t, s.Words().Render(t.Context(), &words))
			if s.After != nil {
				require.NoError(t, s.After().Render(t.Context(), &words))
			}
			for _, q := range s.Questions {
				render(q.Ask)
			}
			there := map[string]bool{}
			first := lessonstest.Show(t, l, s.Slug)
			for _, step := range slices.Compact([]int{0, first.Steps / 2, max(0, first.Steps-1)}) {
				e := lessonstest.Show(t, l, s.Slug, "step", strconv.Itoa(step))
				for _, note := range slices.Concat(e.Notes, e.After) {
					render(note)
				}
				if e.Body != nil {
					require.NoError(t, e.Body.Render(t.Context(), &words))
				}
				for _, f := range e.Figures {
					p := require.Value(f.Draw(lessons.Look{Width: 360, Height: 280, Coarse: true}))(t)
					for _, part := range p.Parts() {
						for _, name := range part.Names {
							there[name] = true
						}
					}
					for _, part := range lessons.Meant(p.Parts()) {
						for _, name := range part.Names {
							require.Check(t, !numeral.MatchString(name) && name != "",
								"%s/%s: %q is the name of a part", l.Slug, s.Slug, name)
						}
					}
				}
			}
			said := explored(t, words.String())
			for part, symbols := range lessons.Meanings {
				for _, symbol := range symbols {
					if there[part] && said[symbol] {
						if used[part] == nil {
							used[part] = map[string]bool{}
						}
						used[part][symbol] = true
					}
				}
			}
		}
	}
	for part, symbols := range lessons.Meanings {
		for _, symbol := range symbols {
			require.Check(t, used[part][symbol], "no screen has %q in its words and %q in a picture", symbol, part)
		}
	}
}
