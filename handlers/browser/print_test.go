package browser

import (
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
)

// Widths and a height of what margins leave of a page, in CSS pixels.
const onA4, onLetter, onA4High = 688, 710, 1032

// paper shows pages as they are printed.
func (p *page) paper() {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
}

// sheets is how many pages of A4 the document takes, and how many it would without breaks.
func (p *page) sheets() (taken int, content float64) {
	p.t.Helper()
	untagged := false
	pdf := call(p, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PaperWidth: 210 / 25.4, PaperHeight: 297 / 25.4, GenerateTaggedPDF: &untagged}).Data
	taken = len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1))
	return taken, get[float64](p, `document.body.scrollHeight`) / onA4High
}

// TestPrint: what is printed of a lesson fits its page, or browsers would make all of it
// smaller; figures are not drawn smaller than for paper, so that their letters stay above 9
// points, and captions are below the text; nothing is shown that only moves; breaks leave
// little of the pages empty.
func TestPrint(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	p.paper()
	for _, l := range walked() {
		for _, path := range []string{"/lessons/" + l.Slug, "/lessons/" + l.Slug + "/worksheet"} {
			p.run(path, func() {
				p.size(onLetter, 1000)
				p.visit(path)
				p.fits(onLetter)
				p.size(onA4, 1000)
				p.fits(onA4)
				for _, bad := range get[[]string](p, `(() => {
					const size = (e) => parseFloat(getComputedStyle(e).fontSize), bad = [];
					const text = size(document.querySelector(".lesson, .worksheet"));
					for (const i of document.querySelectorAll("main figure img, .worksheet-sketch")) {
						if (i.getClientRects().length && i.clientWidth < i.getAttribute("width")) bad.push("drawn smaller than for paper: " + i.src);
					}
					for (const c of document.querySelectorAll("main figcaption")) if (size(c) >= text) bad.push("as large as text: " + c.textContent);
					for (const e of document.querySelectorAll("main :is(input[type=range], button, select)")) if (e.getClientRects().length) bad.push("moves: " + e.outerHTML.slice(0, 100));
					return bad;
				})()`) {
					p.t.Error(bad)
				}
				if taken, content := p.sheets(); content < 0.75*float64(taken-1) {
					p.t.Errorf("%d pages are printed where %.1f would do", taken, content)
				}
			})
		}
	}
}
