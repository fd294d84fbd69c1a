package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	cdp "github.com/chromedp/cdproto/page"
)

// levers are what the lab shows without scrolling: the picture, the numbers below it and
// the controls that one turns most.
var levers = []string{
	".main-figure .stage", ".headline div:nth-child(1)", ".headline div:nth-child(2)", ".headline div:nth-child(3)",
	"#f-data", "#f-kernel", "[data-field=gamma] input[type=range]", "#f-learner", "[data-field=C] input[type=range]",
	"#f-conformal", "#f-show", "[data-field=test_fraction] input[type=range]", "#f-name",
}

// leversOfStrings are those of strings, under the many that generate them.
var leversOfStrings = append(levers[:5:5], "#f-kernel", "[data-field=k] input[type=range]", "#f-learner", "[data-field=C] input[type=range]", "#f-conformal", "[data-field=test_fraction] input[type=range]", "#f-name")

// levers checks that these are in a window of this size, and the picture large.
func (p *page) levers(path string, size [2]int64, these []string) {
	p.t.Helper()
	for _, css := range these {
		cut := get[string](p, `(() => {
				const b = `+element(css)+`.getBoundingClientRect(), panel = `+element(css)+`.closest(".panels")?.getBoundingClientRect();
				const bottom = Math.min(innerHeight, panel?.bottom ?? innerHeight);
				return b.height > 0 && b.top >= 0 && b.bottom <= bottom + 0.5 ? "" : Math.round(b.top) + " to " + Math.round(b.bottom) + " of " + Math.round(bottom);
			})()`)
		if cut != "" {
			p.t.Errorf("%s, %d x %d: %s is cut off: %s px", path, size[0], size[1], css, cut)
		}
	}
	if share := get[float64](p, `(b => b.width * b.height)(document.querySelector(".stage").getBoundingClientRect()) / (innerWidth * innerHeight)`); share < 0.34 {
		p.t.Errorf("%s, %d x %d: the picture has %.2f of the window", path, size[0], size[1], share)
	}
}

func TestLabOnOneScreen(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	for _, path := range []string{"/lab?data=drawing&points=0,0,A%0A1,1,B%0A1,0,A%0A0,1,B", "/lab"} {
		p.visit(path)
		p.picture(".stage img")
		p.wait(element(levers[6]))
		for _, size := range [][2]int64{{1366, 768}, {1440, 900}, {1920, 1080}} {
			p.size(size[0], size[1])
			p.fits(size[0])
			p.levers(path, size, levers)
		}
	}

	const dna = "/lab?data=new-dna"
	p.visit(dna)
	p.picture(".stage img")
	p.wait(element("#f-conformal"))
	for _, size := range [][2]int64{{1366, 768}, {1920, 1080}} {
		p.size(size[0], size[1])
		p.fits(size[0])
		p.levers(dna, size, leversOfStrings)
	}
	p.visit("/lab")
	p.picture(".stage img")

	help := func() string {
		return get[string](p, `[...document.querySelectorAll(".controls .help")].filter((e) => e.checkVisibility() && e.getClientRects().length && !e.closest("details:not([open])")).map((e) => e.textContent).join("|")`)
	}
	if shown := help(); shown != "" {
		t.Errorf("explanations without a question: %s", shown)
	}
	get[bool](p, `(document.querySelector("#f-C").focus(), true)`)
	if shown := help(); !strings.HasPrefix(shown, "Price of a point") || strings.Contains(shown, "|") {
		t.Errorf("explanation of C: %q", shown)
	}
	before := p.where()
	p.click("#explain")
	if shown := help(); strings.Count(shown, "|") < 8 || p.where() != before {
		t.Errorf("explanations of all controls: %q", shown)
	}

	p.size(360, 740)
	p.fits(360)
	get[bool](p, `(document.querySelector("#f-conformal").scrollIntoView({ block: "end", behavior: "instant" }), true)`)
	if top := get[float64](p, `document.querySelector(".main-figure .stage").getBoundingClientRect().top`); top < 0 || top > 8 {
		t.Errorf("on a phone the picture is at %g px beside the controls", top)
	}
}

// Nothing jumps while a page comes alive, nor when its first answer comes, nor while it
// comes in pieces over a slow line.
func TestNothingJumps(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/lab", "/lab?data=iris", "/lab?data=drawing"} {
		for _, size := range [][2]int64{{1366, 768}, {1920, 1080}, {360, 740}} {
			p := open(t, s)
			p.size(size[0], size[1])
			call(p, cdp.AddScriptToEvaluateOnNewDocument, cdp.AddScriptToEvaluateOnNewDocumentParams{Source: `
				window.jumps = [];
				new PerformanceObserver((l) => l.getEntries().forEach((e) => jumps.push(e.value + ": " + e.sources.map((s) => s.node?.outerHTML?.slice(0, 60)).join(", ")))).observe({ type: "layout-shift", buffered: true });`})
			if path == "/lab?data=drawing" {
				slow := network.Conditions{URLPattern: s.url + path, DownloadThroughput: 4_000, UploadThroughput: -1}
				call(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&slow}})
			}
			p.visit(path)
			p.picture(".stage img")
			p.wait(element(".slider input[type=range]"))
			frame := func() string {
				return get[string](p, `JSON.stringify((s => JSON.parse(s.dataset.stage).frames[s.querySelector("img").naturalWidth])(document.querySelector(".stage")))`)
			}
			before := frame()
			if jumps := get[string](p, `jumps.join("\n")`); jumps != "" {
				t.Errorf("%s at %v: what jumps: %s", path, size, jumps)
			}
			if path == "/lab?data=drawing" {
				continue
			}
			p.change(func() { p.fill("#f-C", "3") })
			if now := frame(); now != before {
				t.Errorf("%s at %v: the frame was at %s, is at %s", path, size, before, now)
			}
		}
	}
}

// What the large number says is about points that were not trained on, until one chooses
// otherwise; a drawing is trained on as a whole.
func TestLabHoldsOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s)
	p.visit("/lab?data=moons")
	p.picture(".stage img")
	if v := p.value("#f-test_fraction"); v != "0.3" {
		t.Errorf("the share held out is %s", v)
	}
	held := p.text(".headline div:first-child")
	if !strings.Contains(held, "held out") || !strings.Contains(held, "of 60, 95 %: ") {
		t.Errorf("the first number is %q", held)
	}
	p.visit("/lab?data=moons&C=10") // a link from before
	if v, held := p.value("#f-test_fraction"), p.text(".headline div:first-child"); v != "0" || !strings.Contains(held, "nothing is held out") {
		t.Errorf("a link without a share holds out %s: %q", v, held)
	}
	p.visit("/lab?data=drawing")
	if v := p.value("#f-test_fraction"); v != "0" {
		t.Errorf("of a drawing %s is held out", v)
	}
}
