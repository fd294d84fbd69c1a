package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// levers lists what the lab shows without scrolling: the picture, the numbers below it, the
// controls that one turns most, and what saves the run.
var levers = []string{
	".main-figure .stage", ".headline div:nth-child(1)", ".headline div:nth-child(2)", ".headline div:nth-child(3)",
	"#f-data", "#f-learner", "[data-field=C] input[type=range]", "#f-kernel", "[data-field=gamma] input[type=range]", "#f-name", "[data-save]",
}

// leversOfStrings lists what the lab of strings shows.
var leversOfStrings = append(levers[:8:8], "[data-field=k] input[type=range]", "#f-name", "[data-save]")

// levers checks that these are in a window of this size, and that the picture has its least
// share of it.
func (p *page) levers(path string, size [2]int64, these []string, least float64) {
	p.t.Helper()
	// The picture for another window comes a moment after it.
	p.wait(fmt.Sprintf(`(b => b.width * b.height)(document.querySelector(".stage").getBoundingClientRect()) / (innerWidth * innerHeight) >= %g`, least))
	for _, css := range these {
		cut := get[string](p, `(() => {
				const b = `+element(css)+`.getBoundingClientRect(), panel = `+element(css)+`.closest(".panels")?.getBoundingClientRect();
				const bottom = Math.min(innerHeight, panel?.bottom ?? innerHeight);
				return b.height > 0 && b.top >= 0 && b.bottom <= bottom + 0.5 ? "" : Math.round(b.top) + " to " + Math.round(b.bottom) + " of " + Math.round(bottom);
			})()`)
		require.Check(p.t, cut == "", "%s, %d x %d: %s is cut off: %s px", path, size[0], size[1], css, cut)
	}
}

func TestLabOnOneScreen(t *testing.T) {
	p := fresh(t)
	for _, path := range []string{"/lab?data=drawing&points=0,0,A%0A1,1,B%0A1,0,A%0A0,1,B", "/lab"} {
		p.visitStage(path)
		p.wait(element(levers[6]))
		get[bool](p, element("[data-fold=more]")+`.dispatchEvent(new Event("toggle"))`) // comes late of what a page opens, which is not remembered
		for _, size := range [][2]int64{{1366, 768}, {1440, 900}, {1920, 1080}} {
			p.size(size[0], size[1])
			p.fits(size[0])
			p.levers(path, size, levers, 0.34)
		}
	}

	const dna = "/lab?data=new-dna"
	p.visitStage(dna)
	p.wait(element("#f-conformal"))
	for _, size := range [][2]int64{{1366, 768}, {1920, 1080}} {
		p.size(size[0], size[1])
		p.fits(size[0])
		p.levers(dna, size, leversOfStrings, 0.34)
	}
	p.visitStage("/lab")

	help := func() string {
		return get[string](p, `[...document.querySelectorAll(".controls .help")].filter((e) => e.checkVisibility() && e.getClientRects().length && !e.closest("details:not([open])")).map((e) => e.textContent).join("|")`)
	}
	require.Equal(t, help(), "", "explanations without a question")
	get[bool](p, `(document.querySelector("#f-C").focus(), true)`)
	if shown := help(); !strings.HasPrefix(shown, "Price of a point") || strings.Contains(shown, "|") {
		t.Errorf("explanation of C: %q", shown)
	}
	before := p.where()
	p.click("[data-fold=evaluation] > summary")
	p.click("#explain")
	shown := help()
	require.Check(t, strings.Count(shown, "|") >= 5 && p.where() == before, "explanations of all controls: %q", shown)

	p.visit("/lab") // the fold is as it was left
	p.picture(".stage img")
	p.wait(`document.querySelector("[data-fold=evaluation]").open && document.querySelector("[data-field=C] input[type=range]")`)

	p.size(390, 844)
	p.levers("/lab on a phone", [2]int64{390, 844}, []string{".main-figure .stage", "[data-field=C] input[type=range]", "[data-save]"}, 0.3)
	p.size(360, 740)
	p.fits(360)
	get[bool](p, `(document.querySelector("[data-field=gamma] input[type=range]").scrollIntoView({ block: "end", behavior: "instant" }), true)`)
	top := get[float64](p, `document.querySelector(".main-figure .stage").getBoundingClientRect().top`)
	require.Check(t, top >= 0 && top <= 8, "on a phone the picture is at %g px beside the controls", top)
}

// From the top of the page C is twelve Tabs away, after all of the header, and its C in the objective grows with the slider.
func TestFewTabsToC(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab")
	p.wait(element("[data-field=C] input[type=range]"))
	for range 12 {
		p.keys(kb.Tab)
	}
	at := get[string](p, `document.activeElement.closest("[data-field]")?.dataset.field + " " + document.activeElement.type`)
	require.Check(t, at == "C range", "twelve Tabs lead to %s", at)
	size := func() float64 {
		return get[float64](p, `document.querySelector("[data-formula-of=learner] .price").getBoundingClientRect().height`)
	}
	before := size()
	p.change(func() { p.keys(kb.End) })
	after := size()
	require.Check(t, after > before, "the C of the objective is %g px high, was %g", after, before)
}

// Nothing jumps while a page comes alive, nor when its first answer comes, nor while it
// comes in pieces over a slow line.
func TestNothingJumps(t *testing.T) {
	t.Parallel()
	s := start(t)
	paths, sizes := []string{"/lab", "/lab?data=drawing"}, [][2]int64{{1366, 768}, {360, 740}}
	if walks {
		paths, sizes = append(paths, "/lab?data=iris"), append(sizes, [2]int64{1920, 1080})
	}
	for _, path := range paths {
		for _, size := range sizes {
			p := open(t, s)
			p.size(size[0], size[1])
			call(p, cdp.AddScriptToEvaluateOnNewDocument, cdp.AddScriptToEvaluateOnNewDocumentParams{Source: `
				window.jumps = [];
				new PerformanceObserver((l) => l.getEntries().forEach((e) => jumps.push(e.value + ": " + e.sources.map((s) => JSON.stringify([s.node?.outerHTML?.slice(0, 60), s.previousRect, s.currentRect])).join(", ")))).observe({ type: "layout-shift", buffered: true });`})
			if path == "/lab?data=drawing" {
				slow := network.Conditions{URLPattern: s.url + path, DownloadThroughput: 4_000, UploadThroughput: -1}
				call(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&slow}})
			}
			p.visitStage(path)
			p.wait(element(".slider input[type=range]"))
			frame := func() string {
				return get[string](p, `JSON.stringify((s => JSON.parse(s.dataset.stage).frames[s.querySelector("img").naturalWidth])(document.querySelector(".stage")))`)
			}
			before := frame()
			require.Equal(t, get[string](p, `jumps.join("\n")`), "", "%s at %v: what jumps", path, size)
			if path == "/lab?data=drawing" {
				continue
			}
			p.change(func() { p.fill("#f-C", "3") })
			require.Equal(t, frame(), before, "%s at %v: the frame is at", path, size)
		}
	}
}

// What the large number says is about points that were not trained on, until one chooses
// otherwise; a drawing is trained on as a whole.
func TestLabHoldsOut(t *testing.T) {
	p := fresh(t)
	for _, at := range [][]string{
		{"/lab?data=moons", "0.3", "Test accuracy", "of 60 points (95 % CI "},
		{"/lab?data=moons&C=10", "0.3", "of 60 points (95 % CI "},
		{"/lab?data=moons&test_fraction=0", "0", "no test set"},
	} {
		p.visit(at[0])
		require.Equal(t, p.value("#f-test_fraction"), at[1], "%s: the share held out", at[0])
		require.SaysAll(t, p.text(".headline div:first-child"), at[2:], "%s: the first number", at[0])
	}
	p.visit("/lab?data=drawing")
	require.Equal(t, p.value("#f-test_fraction"), "0", "of a drawing … is held out")
}
