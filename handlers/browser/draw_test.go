package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// drawn are the points as the page would send them, one string each.
func (p *page) drawn() []string {
	p.t.Helper()
	return strings.Fields(p.value("#f-points"))
}

// expectClasses waits for the points to have these classes.
func (p *page) expectClasses(want string) {
	p.t.Helper()
	p.wait(`document.querySelector("#f-points").value.split("\n").filter(Boolean).map((l) => l.split(",")[2]).join(" ") === ` + quote(want))
}

// spot is a place on the picture, as shares of its width and height.
func (p *page) spot(x, y float64) point {
	p.t.Helper()
	return get[point](p, `((x, y) => {
		const b = document.querySelector(".stage img").getBoundingClientRect();
		return { X: b.left + x * b.width, Y: b.top + y * b.height };
	})(`+number(x)+", "+number(y)+")")
}

// press clicks on the picture.
func (p *page) press(x, y float64, held ...chromedp.Modifier) {
	p.t.Helper()
	at := p.spot(x, y)
	p.do(chromedp.MouseClickXY(at.X, at.Y, chromedp.ButtonModifiers(held...)))
}

// place returns the position of a drawn point in the window.
func (p *page) place(drawn string) point {
	p.t.Helper()
	var x, y float64
	require.Value(fmt.Sscanf(strings.ReplaceAll(drawn, ",", " "), "%g %g", &x, &y))(p.t)
	return p.pixel(x, y)
}

func (p *page) act(name string) { p.t.Helper(); p.click("[data-act=" + name + "]") }

// draw opens an empty drawing.
func draw(t *testing.T) *page {
	t.Helper()
	p := open(t, start(t))
	p.visitStage("/lab?data=drawing")
	p.wait(`document.querySelector(".stage.editing")`)
	return p
}

func TestDrawWithTheMouse(t *testing.T) {
	t.Parallel()
	p := draw(t)

	// A click adds the active class, with Shift the other one.
	p.press(0.3, 0.3)
	p.press(0.3, 0.6)
	p.press(0.7, 0.3, chromedp.ModifierShift)
	p.expectClasses("-1 -1 1")
	p.wait(`document.querySelector(".numbers")`) // two classes: there is a model
	p.keys("2")
	p.press(0.7, 0.6)
	p.expectClasses("-1 -1 1 1")

	// A third class comes with its key.
	p.keys("3")
	p.change(func() { p.press(0.5, 0.2) })
	p.expectClasses("-1 -1 1 1 3")

	// Ctrl-click removes the nearest. The key of the picture is shorter then, and its
	// axes taller: places are looked up once it is there.
	p.change(func() { p.press(0.5, 0.24, chromedp.ModifierCtrl) })
	p.expectClasses("-1 -1 1 1")

	// A drag moves a point; the picture follows.
	was := p.drawn()
	from, to := p.place(was[0]), p.spot(0.45, 0.45)
	p.change(func() { p.drag(from, point{(from.X + to.X) / 2, (from.Y + to.Y) / 2}, to) })
	p.expectClasses("-1 -1 1 1")
	moved := p.drawn()
	require.Check(t, moved[0] != was[0] && moved[1] == was[1], "the drag turned %v into %v", was, moved)

	// Undo and redo, by keys and by buttons.
	same := func(want []string) {
		t.Helper()
		p.wait(`document.querySelector("#f-points").value === ` + quote(strings.Join(want, "\n")))
	}
	p.keys("z", chromedp.ModifierCtrl)
	same(was)
	p.keys("Z", chromedp.ModifierCtrl, chromedp.ModifierShift)
	same(moved)
	p.act("undo")
	same(was)
	p.act("redo")
	same(moved)
	p.act("clear")
	same(nil)
	p.wait(`document.querySelector("#answer .note[role=status]")`) // what to do next
	p.act("undo")
	same(moved)
	p.wait(`document.querySelector(".numbers")`)

	// The address brings the drawing back, and it becomes a data set.
	p.wait(`new URLSearchParams(location.search).get("points") === document.querySelector("#f-points").value`)
	p.reload()
	same(moved)
	p.follow(func() { p.clickText("button", "Save points as a new data set") })
	p.picture(".stage img")
	id := p.query().Get("data")
	require.Must(t, id != "" && id != "drawing" && !p.query().Has("points"), "after saving the address says %v", p.query())
	p.visit("/datasets/" + id)
	n, c := p.number("points"), p.number("classes")
	require.Check(t, n == "4" && c == "-1: 2, 1: 2", "saved %s points: %s", n, c)
}

func TestDrawWithTheKeyboard(t *testing.T) {
	t.Parallel()
	p := draw(t)
	for tabs := 0; !get[bool](p, `document.activeElement.matches(".stage")`); tabs++ {
		require.Must(t, tabs <= 20, "the picture is not reached with the Tab key")
		p.keys(kb.Tab)
		if get[bool](p, `document.activeElement.matches("[href='#answer']")`) { // past the rest of the controls
			p.keys(kb.Enter)
		}
	}
	p.keys(strings.Repeat(kb.ArrowLeft, 6))
	p.wait(`document.querySelector(".ghost").getClientRects().length`)
	require.Says(t, p.text("[data-readout]"), "Enter adds class −1", "moving the cursor reads out")
	p.keys(kb.Enter)
	p.expectClasses("-1")
	p.keys(strings.Repeat(kb.ArrowRight, 12) + "2" + kb.Enter)
	p.expectClasses("-1 1")
	p.keys(strings.Repeat(kb.ArrowUp, 4) + kb.Enter)
	p.expectClasses("-1 1 1")
	p.wait(`document.querySelector(".numbers")`)
	p.keys(kb.Delete)
	p.expectClasses("-1 1")
	p.keys("z", chromedp.ModifierCtrl)
	p.expectClasses("-1 1 1")
}

func TestDrawWithAFinger(t *testing.T) {
	p := fresh(t)
	p.do(chromedp.EmulateViewport(390, 800, chromedp.EmulateTouch, chromedp.EmulateMobile))
	p.visitStage("/lab?data=drawing")
	// A button that an answer replaces between press and release loses its click.
	get[bool](p, element(`[data-class="1"]`)+".kept = true")
	for i, x := range []float64{0.3, 0.7} {
		if i == 1 {
			p.click(`[data-class="1"]`)
		}
		p.reach(".stage")
		at := p.spot(x, 0.5)
		p.do(chromedp.TapXY(at.X, at.Y))
	}
	p.expectClasses("-1 1")
	p.wait(`document.querySelector(".numbers")`)
	require.Check(t, get[bool](p, element(`[data-class="1"]`)+".kept === true"), "the buttons of the classes are other elements after an answer")
}

// A stored set is edited in place or next to itself.
func TestEditStoredPoints(t *testing.T) {
	p := fresh(t)
	p.upload(require.File(t, "four.csv", "a,b,label\n0,0,no\n1,0,no\n0,2,yes\n1,2,yes\n"))
	set := strings.TrimPrefix(p.where(), p.base)
	p.follow(func() { p.clickText(".button", "Edit points") })
	p.picture(".stage img")
	p.reach(".stage")
	at := p.pixel(0.5, 2)
	p.click(`[data-class="1"]`)
	p.do(chromedp.MouseClickXY(at.X, at.Y))
	p.wait(`document.querySelector("#f-points").value.split("\n").length === 5`)
	p.follow(func() { p.clickText("button", "Save points into four") })
	p.visit(set)
	n, f := p.number("points"), p.number("features")
	require.Check(t, n == "5" && f == "a, b", "%s points with features %s after saving", n, f)
}
