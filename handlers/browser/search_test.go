package browser

import (
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// One press in the lab begins a search whose page fills by itself; its cells tell their
// numbers and lead back to the lab.
func TestSearchIsLive(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons&kernel=poly")
	p.choose("#f-kernel", "linear")
	p.wait(`document.querySelector("[data-search-title]").textContent === "Search C"`)
	p.choose("#f-kernel", "rbf")
	p.wait(`document.querySelector("[data-search-title]").textContent === "Search C and γ"`)
	p.clickText("summary", "Search")
	p.clickText("summary", "Search settings")
	p.fill("#f-search\\.gamma", "0.1, 1, 10")
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `(() => {
		const real = window.fetch;
		window.fetch = (...args) => {
			window.fetch = real;
			return Promise.resolve(new Response("", { status: 500 }));
		};
		addEventListener("unhandledrejection", (e) => { window.told = e.reason.message; });
	})()`})
	p.follow(func() { p.clickText("button", "Search C and γ") })
	require.Must(t, strings.Contains(p.where(), "/searches/"), "at %s", p.where())
	get[bool](p, `(window.kept = true)`)
	p.expect("The server answered 500.")
	p.wait(`window.told === "The server answered 500."`)
	p.wait(`document.querySelector(".heat-map .best") && !document.querySelector(".pending")`)
	require.Check(t, get[bool](p, `window.kept`), "the page was loaded anew")
	n := get[int](p, `document.querySelectorAll(".heat-map td a").length`)
	require.Check(t, n == 21 && strings.Contains(p.text("#search"), "This is the number to report."), "%d cells: %s", n, p.text("#search"))
	get[bool](p, `(document.querySelector(".heat-map .best a").focus(), true)`)
	require.SaysAll(t, p.text("[data-readout]"), []string{"accuracy", "support vectors"}, "the best cell says")
	place := func() [2]int {
		return get[[2]int](p, `(() => { const c = document.activeElement.closest(".heat-map td"); return [c.parentElement.sectionRowIndex, c.cellIndex]; })()`)
	}
	at := place()
	back := map[bool]string{true: kb.ArrowRight, false: kb.ArrowLeft}[at[1] == 1] // away from the end of the row
	p.keys(back)
	if to := place(); to[0] != at[0] || to[1] == at[1] || !strings.Contains(p.text("[data-readout]"), "accuracy") {
		t.Errorf("an arrow leads from %v to %v", at, to)
	}
	p.follow(func() { p.click(".heat-map .best a") })
	p.picture(".stage img")
	c := p.query().Get("C")
	require.Check(t, p.value("#f-C") == c || c == "" && p.value("#f-C") == "1", "the lab opens with C %s, the cell has %q", p.value("#f-C"), c)
}

// A page that follows the server says when it cannot, and no longer once the server is back.
func TestServerIsAway(t *testing.T) {
	p := fresh(t)
	p.expect("/jobs/events") // refused, or ended by the server
	p.visit("/jobs")
	p.server.stop()
	p.wait(`document.querySelector(".stale")?.checkVisibility()`)
	p.server.restart()
	p.wait(`!document.querySelector(".stale")`)
}

// A design is chosen in the lab, whose other fields follow the choices; its points come by
// themselves, tell their numbers, are reached by keyboard and lead back to the lab.
func TestDrawnSearchIsLive(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons")
	p.clickText("summary", "Search")
	p.clickText("summary", "Search settings")
	shown := func(css string) bool {
		return get[bool](p, `document.querySelector("`+css+`").checkVisibility()`)
	}
	require.Check(t, !shown(".of-points") && !shown(".of-share") && shown(".of-folds") && !shown(".of-column"),
		"fields are there that mean nothing yet")
	p.choose("#f-search-design", "sobol")
	p.choose("#f-search-held", "share")
	require.Check(t, shown(".of-points") && shown(".of-share") && !shown(".of-folds"), "the fields do not follow the choices")
	p.fill("#f-search-points", "12")
	p.fill("#f-search-draws", "3")
	p.fill("#f-search\\.gamma", "0.1..10")
	p.follow(func() { p.clickText("button", "Search C and γ") })
	get[bool](p, `(window.kept = true)`)
	p.wait(`document.querySelector(".cloud .best") && !document.querySelector(".pending")`)
	n := get[int](p, `document.querySelectorAll(".heat .cloud a").length`)
	require.Check(t, n == 12 && get[bool](p, `window.kept`), "%d points, or the page was loaded anew", n)
	say := p.text("main")
	require.Check(t, strings.Contains(say, "12 points of a Sobol sequence") && strings.Contains(say, "held out, drawn 3 times"), "%s", say)
	get[bool](p, `(document.querySelector(".heat .cloud .best").focus(), true)`)
	require.SaysAll(t, p.text("[data-readout]"), []string{"accuracy", "support vectors"}, "the best point says")
	p.follow(func() { p.clickText("button", "Search finer around the best") })
	p.wait(`document.querySelector(".cloud .best") && !document.querySelector(".pending")`)
	require.Equal(t, get[int](p, `document.querySelectorAll(".heat .cloud a").length`), 13, "points around the best")
	get[bool](p, `(document.querySelector(".heat .cloud .best").focus(), true)`)
	p.follow(func() { p.keys("\r") })
	p.picture(".stage img")
	require.Check(t, p.query().Get("gamma") != "" && strings.Contains(p.where(), "/lab"), "at %s", p.where())
}

// A study is clicked together and its page fills by itself.
func TestStudyIsLive(t *testing.T) {
	p := fresh(t)
	p.visit("/studies/new")
	get[bool](p, `(document.querySelectorAll("[name=data], [name=learner]").forEach((c) => { c.checked = ["moons, noise 0.3", "xor, noise 0.6", "SVM", "MCM"].includes(c.value); }), true)`)
	p.fill("#f-study-max_rows", "40")
	p.fill("#f-study-folds", "3")
	p.follow(func() { p.clickText("button", "Run study") })
	widths := `[...document.querySelectorAll("[data-searches] td")].every((c) => !c.offsetWidth || c.offsetWidth === 96)`
	require.Check(t, get[bool](p, widths), "columns move as searches begin and end")
	refuseLast(p)
	p.wait(`document.querySelector("#study img") && !document.querySelector(".pending")`)
	say := p.text("#study")
	require.Check(t, get[bool](p, `window.refused`) && strings.Contains(say, "Accuracy against SVM"), "the page says %s", say)
	p.follow(func() { p.clickText("a", "Edit and run again") })
	require.Says(t, p.value("#f-study"), "[learner.MCM]", "the file is")
}

// refuseLast makes the page's first request for itself fail that would show that nothing is pending.
func refuseLast(p *page) {
	get[bool](p, `((real) => {
		window.fetch = async (...args) => {
			const response = await real(...args);
			if (args[0] !== location.href || /class="[^"]*\bpending\b/.test(await response.clone().text())) return response;
			window.fetch = real;
			sessionStorage.refused = window.refused = true;
			throw new TypeError("no network");
		};
		return true;
	})(window.fetch)`)
}
