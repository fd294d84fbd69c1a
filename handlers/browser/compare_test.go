package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// brush drags along the middle of an element, between shares of its height from the top.
func (p *page) brush(css string, from, to float64) {
	p.t.Helper()
	p.reach(css)
	type box struct{ X, Top, Height float64 }
	b := get[box](p, `(() => { const r = document.querySelector(`+quote(css)+`).getBoundingClientRect(); return { X: r.left + r.width / 2, Top: r.top + 10, Height: r.height - 20 }; })()`)
	at := func(share float64) point { return point{b.X, b.Top + share*b.Height} }
	p.drag(at(from), at((from+to)/2), at(to))
}

// fourCompared opens the comparison of two RBF and two linear kernels, with rising C.
func fourCompared(t *testing.T) *page {
	t.Helper()
	s := start(t)
	p, c := open(t, s), s.client()
	ids := ""
	for i, query := range []string{"kernel=rbf&C=0.1", "kernel=rbf&C=1", "kernel=linear&C=10", "kernel=linear&C=100"} {
		run := c.post(t, "/runs", "data=moons&test_fraction=0.3&name="+fmt.Sprint(i+1)+"&"+query)
		ids += "&run=" + strings.TrimPrefix(run, "/runs/")
	}
	c.settle(t)
	p.use(c)
	p.visit("/compare?axes=kernel,C,test_accuracy" + ids)
	return p
}

// TestRunsAreBrushed: a drag along an axis of the parallel coordinates highlights the runs that
// pass there, in the filter beside, which can be typed as well, and in the address; axes
// move and change their scale in place.
func TestRunsAreBrushed(t *testing.T) {
	t.Parallel()
	p := fourCompared(t)
	strip := func(axis int) string { return fmt.Sprintf(".strips > div:nth-child(%d)", axis) }
	p.wait(`document.querySelector(` + quote(strip(3)) + `)?.clientHeight > 100`)
	p.brush(strip(2), 0.45, -0.05) // the upper half of C
	p.wait(`document.querySelector(".quantities [role=status]").textContent.includes("2 of 4 runs")`)
	where := get[string](p, `document.querySelector("#f-where").value`)
	require.Check(t, strings.HasPrefix(where, "C >= ") && strings.HasSuffix(where, "and C <= 100") && strings.Contains(get[string](p, `location.search`), "where=C"),
		"the filter is %q", where)
	p.wait(`document.querySelector(".strips > div").clientHeight > 100`)
	p.brush(strip(1), 0.05, -0.05) // rbf alone
	p.wait(`document.querySelector(".quantities [role=status]").textContent.includes("0 of 4 runs")`)
	p.wait(`document.querySelector(".strips > div").clientHeight > 100`)
	p.brush(strip(2), 0.5, 0.5) // a click takes it off
	p.wait(`document.querySelector("#f-where").value === "kernel = rbf"`)
	p.wait(`document.querySelector(".quantities [role=status]").textContent.includes("2 of 4 runs")`)

	p.click("#axes summary")
	p.click(`a[aria-label="linear scale of C"]`)
	p.wait(`document.querySelector('a[aria-label="log scale of C"]') === document.activeElement`)
	p.click(`a[aria-label="move C to the left"]`)
	p.wait(`document.querySelector("#axes li span").textContent === "C"`)
	p.wait(`new URLSearchParams(location.search).get("axes") === "C,kernel,test_accuracy"`)
	p.visit(get[string](p, `location.pathname + location.search`)) // the link shows the same
	got := get[string](p, `document.querySelector("#f-where").value + document.querySelector("#axes li span").textContent`)
	require.Check(t, got == "kernel = rbfC", "the link shows %q", got)
	n := get[int](p, `[...document.querySelectorAll(".compare thead .cut")].filter((c) => { c.textContent = "a name of many letters ".repeat(4); return c.getBoundingClientRect().right > c.parentElement.getBoundingClientRect().right; }).length`)
	require.Check(t, n <= 0, "%d names reach into the next column", n)
}

// TestBrushedByKeys: each axis takes a brush from the keyboard, several narrow down together and
// stay where they are when the page comes anew; an axis is moved by Shift and an arrow, and by
// dragging its name.
func TestBrushedByKeys(t *testing.T) {
	t.Parallel()
	p := fourCompared(t)
	drawn := func(want string) {
		t.Helper()
		p.wait(`document.querySelector(".quantities [role=status]").textContent.includes(` + quote(want) + `)`)
		p.wait(`document.querySelector(".strips > div")?.clientHeight > 100`)
	}
	p.wait(`document.querySelector("#brush-C")?.clientHeight > 100`)
	get[bool](p, `(document.querySelector("#brush-C").focus(), true)`)
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	drawn("2 of 4 runs are drawn: 1, 2;")
	p.wait(`document.activeElement.id === "brush-C" && document.activeElement.getAttribute("aria-valuetext") === "0.1 to 3.16"`)
	p.do(chromedp.KeyEvent(kb.ArrowLeft))
	p.do(chromedp.KeyEvent(kb.ArrowUp)) // rbf, above linear
	drawn("2 of 4 runs are drawn: 1, 2;")
	p.wait(`document.activeElement.getAttribute("aria-valuetext") === "rbf"`)
	p.do(chromedp.KeyEvent(kb.ArrowDown)) // linear has no small C
	drawn("0 of 4 runs")
	p.do(chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierShift))) // both
	drawn("2 of 4 runs are drawn: 1, 2;")
	p.visit(get[string](p, `location.pathname + location.search`))
	p.wait(`document.querySelectorAll(".brush").length === 2 && document.querySelector("#brush-kernel").getAttribute("aria-valuetext") === "linear, rbf"`)
	get[bool](p, `(document.querySelector("#brush-kernel").focus(), true)`)
	p.do(chromedp.KeyEvent(kb.Delete))
	p.wait(`document.querySelector("#f-where").value === "C >= 0.1 and C <= 3.163"`)
	p.wait(`document.querySelectorAll(".brush").length === 1 && document.activeElement.id === "brush-kernel"`)

	order := func(want string) {
		t.Helper()
		p.wait(`new URLSearchParams(location.search).get("axes") === ` + quote(want))
		p.wait(`document.querySelector(".movers > div")?.clientHeight > 10`)
	}
	p.do(chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	order("C,kernel,test_accuracy")
	p.reach(".movers > div")
	type spot struct{ X, Y, Apart float64 }
	at := get[spot](p, `(() => { const r = document.querySelector(".movers > div").getBoundingClientRect(); return { X: r.left + r.width / 2, Y: r.top + r.height / 2, Apart: r.width }; })()`)
	p.drag(point{at.X, at.Y}, point{at.X + at.Apart, at.Y}, point{at.X + 2*at.Apart, at.Y})
	order("kernel,test_accuracy,C")
}
