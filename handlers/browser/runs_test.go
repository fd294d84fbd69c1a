package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestFilterIsCompleted: the filter of the list of runs offers fields, operators and values,
// and takes them by keys; the runs that it finds are listed.
func TestFilterIsCompleted(t *testing.T) {
	p := fresh(t)
	for _, kernel := range []string{"rbf", "linear"} {
		p.visit("/lab?data=moons&kernel=" + kernel)
		p.fill("#f-name", kernel+" run")
		p.keep()
	}
	p.visit("/runs")
	p.click("#f-where")
	for _, c := range []struct{ typed, want string }{
		{"nam", "name "}, {"~", "name ~"}, {" run and ker", "name ~ run and kernel "}, {"=", "name ~ run and kernel ="}, {"lin", "name ~ run and kernel =linear "},
	} {
		p.keys(c.typed)
		if c.typed == "~" || c.typed == "=" {
			p.wait(`document.querySelector("#f-where").value === ` + quote(c.want))
			continue
		}
		p.wait(`!document.querySelector(".completions").hidden`)
		p.click(".completions li")
		p.wait(`document.querySelector("#f-where").value === ` + quote(c.want))
	}
	p.keys(kb.Escape)
	p.follow(func() { p.keys(kb.Enter) })
	got := get[int](p, `document.querySelectorAll(".runs tbody tr").length`)
	require.Check(t, got == 1 && p.text(".runs tbody th a") == "linear run", "%d rows, first %q", got, p.text(".runs tbody th a"))
}

// TestSavedInPlace: a run is named after its differing settings, the lab stays open, and the runs
// saved there are compared; a refusal reads the same as without scripts.
func TestSavedInPlace(t *testing.T) {
	p := fresh(t)
	p.visit("/lab?data=moons&gamma=2&C=10&test_fraction=0.3")
	p.keep()
	if name, at := p.text("[data-saved] a"), p.where(); name != "SVM, γ 2, C 10 · Moons, noise 0.15" || !strings.Contains(at, "/lab?") {
		t.Errorf("%q was saved, on %s", name, at)
	}
	require.Check(t, !p.visible("[data-saved] [data-compare]"), "one run is compared")
	p.fill("#f-name", "wider")
	p.change(func() { p.fill("#f-gamma", "0.5") })
	p.keep()
	name, left := p.text("[data-saved] a"), p.value("#f-name")
	require.Check(t, name == "wider" && left == "", "%q was saved, the next is called %q", name, left)
	p.follow(func() { p.clickText("[data-saved] a", "Compare the 2 saved here") })
	require.SaysAll(t, p.text("main"), []string{"wider", "γ 2, C 10"}, "the comparison is of")
	p.visitStage("/lab?data=" + p.generate("moons"))
	get[bool](p, `(window.real = window.fetch, window.fetch = () => Promise.reject(new TypeError("no network")), true)`)
	p.click("[data-save]")
	p.wait(`document.querySelector("[data-saved]").textContent === "Not saved: The server cannot be reached."`)
	p.expect("404")
	get[bool](p, `(window.real("/datasets/" + document.querySelector("#f-data").value + "/delete", { method: "POST" }).then(() => { window.fetch = window.real; }), true)`)
	p.wait(`window.fetch === window.real`)
	p.click("[data-save]")
	p.wait(`document.querySelector("[data-saved]").textContent.startsWith("Not saved: This is not in your workspace")`)
	p.visit("/lab?data=moons&C=-1")
	p.expect("422")
	p.follow(func() { p.clickText("button", "Save run") })
	require.Check(t, p.text("[data-error-of=C]") != "", "what is wrong with the run is not said")
}

// TestRunsAreChosenByShift: a click with Shift, and the space bar with Shift, choose all runs up
// to the one that was chosen last, or no longer.
func TestRunsAreChosenByShift(t *testing.T) {
	t.Parallel()
	s := start(t)
	p, c := open(t, s), s.client()
	for _, C := range []string{"1", "2", "3", "4", "5", "6"} {
		c.post(t, "/runs", "data=moons&C="+C)
	}
	c.settle(t)
	p.use(c)
	p.visit("/runs")
	box := func(row int) string { return fmt.Sprintf(`tbody tr:nth-child(%d) input[name="run"]`, row) }
	chosen := func(want string) {
		t.Helper()
		p.wait(`[...document.querySelectorAll("input[name=run]")].map((b) => (b.checked ? "x" : "-")).join("") === ` + quote(want))
	}
	press := func(row int, how ...chromedp.MouseOption) {
		t.Helper()
		p.reach(box(row))
		at := get[struct{ X, Y float64 }](p, `(() => { const r = document.querySelector(`+quote(box(row))+`).getBoundingClientRect(); return { X: r.left + r.width / 2, Y: r.top + r.height / 2 }; })()`)
		p.do(chromedp.MouseClickXY(at.X, at.Y, how...))
	}
	press(2)
	chosen("-x----")
	press(5, chromedp.ButtonModifiers(chromedp.ModifierShift))
	chosen("-xxxx-")
	p.wait(`document.querySelector("[data-count]").textContent === "4 selected"`)
	press(4)
	chosen("-xx-x-")
	get[bool](p, `(document.querySelector(`+quote(box(6))+`).focus(), true)`)
	p.do(chromedp.KeyEvent(" "))
	chosen("-xx-xx")
	get[bool](p, `(document.querySelector(`+quote(box(1))+`).focus(), true)`)
	p.do(chromedp.KeyEvent(" ", chromedp.KeyModifiers(chromedp.ModifierShift)))
	chosen("xxxxxx")

	// On a phone the runs come first, and what to do with those selected stays in sight.
	p.size(360, 800)
	p.visit("/runs")
	const tag = `document.querySelector("[data-needs]")`
	p.wait(`document.querySelector("tbody tr").getBoundingClientRect().top < 480 && !` + tag + `.checkVisibility()`)
	press(1)
	p.wait(tag + `.checkVisibility() && ` + tag + `.getBoundingClientRect().bottom < innerHeight`)
}
