package reports

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

// TestSplit reads the lines that place items among others.
func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n\n![The run](/runs/abc)\n\nb":                          "a|The run=/runs/abc|b",
		"![](https://lab.example/runs/abc/figures/roc.svg?dark=1)": "=/runs/abc/figures/roc",
		"![s](/searches/abc)  \r\n![t](/studies/x1)":               "s=/searches/abc|t=/studies/x1",
		"![c](/compare?run=a&diff=1&run=b&base=b)":                 "c=/compare?base=b&run=a&run=b",
		"![one](/compare?run=a)":                                   "![one](/compare?run=a)",
		"![x](/settings)":                                          "![x](/settings)",
		"![x](javascript:alert(1))":                                "![x](javascript:alert(1))",
		"in a line ![x](/runs/abc)":                                "in a line ![x](/runs/abc)",
		"```\n![x](/runs/abc)\n```":                                "```\n![x](/runs/abc)\n```",
		"~~~\n![x](/runs/abc)\n```\n~~~\n![y](/runs/abc)":          "~~~\n![x](/runs/abc)\n```\n~~~|y=/runs/abc",
		"```x``` is code\n![x](/runs/abc)":                         "```x``` is code|x=/runs/abc",
		"![x](/runs/../settings)":                                  "![x](/runs/../settings)",
		"":                                                         "",
	} {
		var got []string
		for _, p := range split(text) {
			if p.address != "" {
				got = append(got, p.caption+"="+p.address)
			} else {
				got = append(got, p.prose)
			}
		}
		require.Equal(t, strings.Join(got, "|"), want, "%q", text)
	}
}

// FuzzSplit checks that a line that is placed is read back, that no text is lost, and that the HTML
// of prose has nothing that could run.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"![x](/runs/abc)", "# a\n<script>alert(1)</script>", "[a](javascript:alert(1))", "![a](/runs/a)\n$x^2$", "a <img src=x onerror=alert(1)>", "![<b>](data:text/html,x)", "$\\href{javascript:x}{y}$", "```\n![x](/runs/a)", "&lt;script&gt;", "[a](<java\nscript:x>)", "$$\n<b>$$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range split(text) {
			if p.address != "" {
				again := split(placed(p.caption, p.address))
				require.Check(t, len(again) == 1 && again[0] == p, "%+v is read back as %+v", p, again)
				continue
			}
			html, err := lessons.Prose(p.prose)
			if err != nil {
				continue
			}
			doc := require.Value(goquery.NewDocumentFromReader(strings.NewReader(html)))(t)
			n := doc.Find("script, img, iframe, object, embed, form, input, link, meta, style, svg, base").Length()
			require.Check(t, n <= 0, "%q has %d elements that do not belong there: %s", p.prose, n, html)
			doc.Find("*").Each(func(_ int, s *goquery.Selection) {
				for _, a := range s.Nodes[0].Attr {
					value := strings.ToLower(strings.TrimSpace(a.Val))
					require.Check(t, !strings.HasPrefix(a.Key, "on") && a.Key != "style" && (a.Key != "href" && a.Key != "src" || !strings.HasPrefix(value, "javascript:") && !strings.HasPrefix(value, "vbscript:") && !strings.HasPrefix(value, "data:")),
						"%q has %s=%q", p.prose, a.Key, a.Val)
				}
			})
			_, err = lessons.ProseLaTeX(p.prose)
			require.Check(t, err == nil, "%q is shown and not exported: %v", p.prose, err)
		}
	})
}
