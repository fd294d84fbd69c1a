package browser

import (
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestHome drags the C of the first picture: the picture follows, the way to the lab leads to
// the same C; a finger that scrolls the page over it leaves it alone; without a script the form does it. On return a browser finds its own work.
func TestHome(t *testing.T) {
	p := fresh(t)
	p.visit("/")
	p.picture(".alive img")
	shown := get[string](p, `document.querySelector(".alive img").currentSrc`)
	get[bool](p, `(document.querySelector("#f-home-c").focus(), true)`)
	for range 6 {
		p.keys(kb.ArrowRight)
	}
	p.wait(`(i => i.currentSrc.includes("C=316&") && i.complete && i.naturalWidth > 0)(document.querySelector(".alive img"))`)
	require.Check(t, get[string](p, `document.querySelector(".alive img").currentSrc`) != shown, "the picture is the same")
	require.Equal(t, p.text(".alive output"), "C = 316", "it says")
	p.follow(func() { p.click(".intro-picture") })
	require.Equal(t, p.query().Get("C"), "316", "the lab opens with C")

	phone := open(t, p.server)
	phone.do(chromedp.EmulateViewport(390, 500, chromedp.EmulateTouch, chromedp.EmulateMobile))
	phone.visit("/?c=-4")
	get[bool](phone, `(document.querySelector("#f-home-c").addEventListener("input", (e) => (document.body.dataset.moved = e.target.value)), true)`)
	phone.finger("#f-home-c", 0, -200)
	phone.wait("document.body.dataset.moved && scrollY > 0")
	phone.wait(`document.querySelector(".alive output").textContent === "C = 0.1"`)

	plain := open(t, p.server)
	plain.noScript()
	plain.visit("/?c=-4")
	plain.picture(".alive img")
	require.Equal(t, plain.text(".alive output"), "C = 0.1", "without a script")
	require.Says(t, plain.text("main"), "Used Margin Lab in another browser", "nothing says how to come back")
}

// At the widths between those at which pages are inspected, no parts of the header overlap and no
// page is wider than its window.
func TestWidthsBetween(t *testing.T) {
	p := fresh(t)
	for _, path := range []string{"/", "/lab", "/runs"} {
		p.visit(path)
		for width := int64(320); width < 1000; width += 40 {
			p.size(width, 800)
			p.fits(width)
			over := get[[]string](p, `((all) => all.flatMap((a, i) => all.slice(i + 1).filter((b) => {
				const [x, y] = [a, b].map((e) => e.getBoundingClientRect());
				return Math.min(x.right, y.right) > Math.max(x.left, y.left) + 0.5 && Math.min(x.bottom, y.bottom) > Math.max(x.top, y.top) + 0.5;
			}).map((b) => a.textContent + " over " + b.textContent)))([...document.querySelectorAll(".site a")])`)
			require.Check(t, len(over) == 0, "%s, %d px: %v", path, width, over)
		}
	}
	p.size(360, 800)
	p.visit("/lessons")
	screens := get[float64](p, "document.documentElement.scrollHeight / innerHeight")
	require.Check(t, screens < 6, "the lessons take %.1f screens of a phone", screens)
}

// TestJobsGoOn: neither a reply that breaks off nor a refused stream keeps the page of jobs from later
// changes.
func TestJobsGoOn(t *testing.T) {
	p := fresh(t)
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.streams = 0;
		window.EventSource = class extends EventTarget { constructor() { super(); window.stream = this; window.streams++; } close() {} };`})
	p.visit("/jobs")
	p.expect("broken off")
	get[bool](p, `(window.asked = 0, window.fetch = () => (window.asked++, Promise.resolve({ ok: true, text: () => Promise.reject(new TypeError("broken off")) })), true)`)
	for range 2 {
		get[bool](p, `window.stream.dispatchEvent(new MessageEvent("jobs", { data: '{"jobs": [{"id": "new", "status": "running"}]}' }))`)
	}
	p.wait(`window.asked === 2`)
	get[bool](p, `(window.stream.readyState = EventSource.CLOSED = 2, window.stream.dispatchEvent(new Event("error")))`)
	p.wait(`window.streams > 1`)
}
