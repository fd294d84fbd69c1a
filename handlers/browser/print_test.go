package browser

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons/all"
)

// Widths of what margins leave of a page, in CSS pixels.
const onA4, onLetter = 688, 710

// Sizes of paper and a margin at its top and bottom, in inches.
const (
	inch                      = 25.4
	a4Width, a4Height         = 210 / inch, 297 / inch
	letterWidth, letterHeight = 8.5, 11
	margin                    = 12 / inch
)

// paper shows pages as those print them who prefer dark screens.
func (p *page) paper() {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
}

// sheets prints the document and tells how far down the two columns of every page are
// filled, as shares of its height, and how small its smallest letters are, in points.
func (p *page) sheets(width, height float64) (filled [][2]float64, smallest float64) {
	p.t.Helper()
	untagged := false
	pdf := call(p, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PaperWidth: width, PaperHeight: height, GenerateTaggedPDF: &untagged}).Data
	pages := require.Value(pageContents(pdf))(p.t)
	smallest = math.Inf(1)
	for _, content := range pages {
		var lowest [2]float64
		all := letters(content)
		for i, l := range all {
			column := lists.Either(l.x > width*72/2, 1, 0)
			down := (height - l.y/72 - margin) / (height - 2*margin)
			lowest[column] = max(lowest[column], down)
			if i == 0 || !l.raised(all[i-1]) {
				smallest = min(smallest, l.size)
			}
		}
		filled = append(filled, lowest)
	}
	return filled, smallest
}

var (
	pageObject   = regexp.MustCompile(`/Type\s*/Page\b[^s]`)
	contentsOf   = regexp.MustCompile(`/Contents (\d+) 0 R`)
	streamLength = regexp.MustCompile(`/Length (\d+)`)
)

// pageContents are the drawing commands of the pages of a PDF that Chromium writes.
func pageContents(pdf []byte) (pages []string, err error) {
	for _, object := range bytes.Split(pdf, []byte("endobj")) {
		head, _, _ := bytes.Cut(object, []byte("stream"))
		if !pageObject.Match(head) {
			continue
		}
		contents := contentsOf.FindSubmatch(head)
		if contents == nil {
			return nil, fmt.Errorf("a page without contents: %.200s", head)
		}
		start := bytes.Index(pdf, append([]byte("\n"), append(contents[1], " 0 obj"...)...))
		if start < 0 {
			return nil, fmt.Errorf("the contents %s of a page are missing", contents[1])
		}
		head, stream, _ := bytes.Cut(pdf[start:], []byte("stream\n"))
		length := streamLength.FindSubmatch(head)
		if length == nil {
			return nil, fmt.Errorf("contents without a length: %.200s", head)
		}
		n, _ := strconv.Atoi(string(length[1]))
		commands := stream[:n]
		if bytes.Contains(head, []byte("/FlateDecode")) {
			r, err := zlib.NewReader(bytes.NewReader(commands))
			if err != nil {
				return nil, err
			}
			if commands, err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
		pages = append(pages, string(commands))
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("a PDF of %d bytes has no pages", len(pdf))
	}
	return pages, nil
}

// matrix maps (x, y) to (m[0] x + m[2] y + m[4], m[1] x + m[3] y + m[5]).
type matrix [6]float64

// then composes m and n, in this order.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// A letter of a page: where drawing commands begin to write, in points from the lower left
// corner, and the size of the type there.
type letter struct{ x, y, size float64 }

// raised reports whether the letter begins the exponent of what was written before it.
func (l letter) raised(before letter) bool {
	up := (l.y - before.y) / before.size
	return math.Abs(l.size/before.size-0.75) < 0.01 && up > 0.2 && up < 0.6
}

// letters are the first ones of all that drawing commands write.
func letters(commands string) (all []letter) {
	now, kept := matrix{1, 0, 0, 1, 0, 0}, []matrix(nil)
	var numbers []float64
	var size float64
	last := func() (m matrix) {
		if len(numbers) >= 6 {
			copy(m[:], numbers[len(numbers)-6:])
		}
		return m
	}
	for _, word := range strings.Fields(commands) {
		if x, err := strconv.ParseFloat(word, 64); err == nil {
			numbers = append(numbers, x)
			continue
		}
		switch word {
		case "q":
			kept = append(kept, now)
		case "Q":
			now, kept = kept[len(kept)-1], kept[:len(kept)-1]
		case "cm":
			now = last().then(now)
		case "Tf":
			size = numbers[len(numbers)-1]
		case "Tm":
			at := last().then(now)
			all = append(all, letter{at[4], at[5], size * math.Sqrt(math.Abs(at[0]*at[3]-at[1]*at[2]))})
		}
		numbers = numbers[:0]
	}
	return all
}

// TestLetters: positions and sizes are found through nested changes of scale.
func TestLetters(t *testing.T) {
	t.Parallel()
	got := letters(".24 0 0 -.24 0 842 cm q 3 0 0 3 100 200 cm BT /F4 12 Tf 1 0 0 -1 10 20 Tm <01> Tj ET Q BT /F5 50 Tf 0 1 1 0 50 0 Tm ET")
	want := []letter{{0.24 * 130, 842 - 0.24*260, 0.24 * 36}, {12, 842, 12}}
	require.Must(t, len(got) == len(want), "%v, want %v", got, want)
	for i, w := range want {
		g := got[i]
		require.Check(t, math.Abs(g.x-w.x) <= 1e-9 && math.Abs(g.y-w.y) <= 1e-9 && math.Abs(g.size-w.size) <= 1e-9, "letter %d: %v, want %v", i, g, w)
	}
}

// TestPrint: a printed lesson fits its page, or browsers would make all of it
// smaller; it is dark on white also for those who prefer dark screens; no letter is below 9
// points but in formulas and exponents, neither in figures nor in tables, and captions are below the text;
// nothing is shown that only moves; no page is half empty but the last one, and neither column
// of that is where the other one is full.
func TestPrint(t *testing.T) {
	p := fresh(t)
	p.teaches()
	p.paper()
	for _, l := range all.Lessons() {
		if !walks && l.Slug != "lagrange" && l.Slug != "margins" {
			continue
		}
		for _, kind := range []string{"", "/worksheet", "/worksheet/answers", "/guide"} {
			path := "/lessons/" + l.Slug + kind
			p.run(path, func() {
				p.size(onLetter, 1000)
				p.visit(path)
				p.fits(onLetter)
				p.size(onA4, 1000)
				p.fits(onA4)
				for _, bad := range get[[]string](p, `(() => {
					const size = (e) => parseFloat(getComputedStyle(e).fontSize), bad = [];
					const root = getComputedStyle(document.documentElement);
					if (root.colorScheme !== "light" || root.backgroundColor !== "rgb(255, 255, 255)") bad.push("printed on " + root.backgroundColor + ", " + root.colorScheme);
					for (const i of document.images) if (i.getClientRects().length && i.currentSrc.includes("dark=1")) bad.push("a picture for dark screens: " + i.currentSrc);
					const text = size(document.querySelector(".lesson, .worksheet"));
					if (text < 12) bad.push("text of " + text + " pixels, which are less than 9 points");
					for (const i of document.querySelectorAll("main figure img, .worksheet-sketch")) {
						if (i.getClientRects().length && i.clientWidth < i.getAttribute("width")) bad.push("drawn smaller than for paper: " + i.src);
					}
					for (const c of document.querySelectorAll("main figcaption")) if (size(c) >= text) bad.push("as large as text: " + c.textContent);
					for (const e of document.querySelectorAll("main :is(input[type=range], button, select)")) if (e.getClientRects().length) bad.push("moves: " + e.outerHTML.slice(0, 100));
					return bad;
				})()`) {
					p.t.Error(bad)
				}
				get[bool](p, `(document.querySelectorAll("img").forEach((i) => { i.loading = "eager" }), true)`)
				p.wait(`[...document.images].every((i) => i.complete)`)                                    // only drawn pictures have letters
				get[int](p, `document.styleSheets[0].insertRule("math, sub, sup { visibility: hidden }")`) // their indices are smaller
				p.printed("A4", a4Width, a4Height)
				if walks {
					p.printed("Letter", letterWidth, letterHeight)
				}
			})
		}
	}
}

// printed complains of small letters and half empty pages.
func (p *page) printed(size string, width, height float64) {
	p.t.Helper()
	pages, smallest := p.sheets(width, height)
	require.Check(p.t, smallest >= 8.99, "%s: letters of %.2f points", size, smallest)
	for i, f := range pages {
		left, right := math.Round(100*f[0]), math.Round(100*f[1])
		switch last := i == len(pages)-1; {
		case !last && left+right < 110:
			p.t.Errorf("%s, page %d of %d: the columns are filled to %v and %v %%", size, i+1, len(pages), left, right)
		case last && max(left, right) < 9 && len(pages) > 1: // one question of a worksheet
			p.t.Errorf("%s, the last page of %d: the columns are filled to %v and %v %% only", size, len(pages), left, right)
		case last && math.Abs(left-right) > 50:
			p.t.Errorf("%s, the last page of %d: one column is filled to %v %%, the other to %v %%", size, len(pages), left, right)
		}
	}
}

// TestSlideOnPaper: a slide is printed as one page, its words whole beside its picture.
func TestSlideOnPaper(t *testing.T) {
	p := fresh(t)
	p.paper()
	p.size(1032, 700) // A4 across, without its margins
	for _, l := range all.Lessons() {
		for _, s := range l.Screens {
			path := "/lessons/" + l.Slug + "/" + s.Slug
			if !walks && path != "/lessons/risk/bound" && path != "/lessons/kernel-trick/xor" {
				continue
			}
			p.visit(path)
			p.wait("document.readyState === 'complete'")
			cut := get[float64](p, `(() => { const a = document.querySelector(".slide-page"), top = a.getBoundingClientRect().top; return Math.max(...[...a.querySelectorAll(".words > *, .main-figure img")].map((e) => e.getBoundingClientRect().bottom - top)) - 180 * 96 / 25.4 })()`)
			require.Check(t, cut <= 1, "%s is %v pixels longer than a page", path, cut)
			require.Check(t, p.visible(".slide-page > .words") && (s.Demo == nil || p.visible(".slide-page .main-figure")) && !p.visible(".ask"),
				"%s: not its words and its picture alone", path)
		}
	}
}

// TestRunOnPaper: a run's first page ends below the machines of its three classes.
func TestRunOnPaper(t *testing.T) {
	p := fresh(t)
	c := p.server.client()
	run := c.post(t, "/runs", "data=iris&on=all&test_fraction=0.3")
	c.settle(t)
	p.use(c)
	p.paper()
	for width, height := range map[int64]float64{onA4: a4Height, onLetter: letterHeight} {
		p.size(width, 1000)
		p.visit(run)
		p.picture(".main-figure img")
		below := get[float64](p, `document.querySelector(".trio").lastElementChild.getBoundingClientRect().bottom`)
		require.Check(t, below < 96*(height-2*margin), "on paper %d pixels wide: at %v, below its end", width, below)
	}
}
