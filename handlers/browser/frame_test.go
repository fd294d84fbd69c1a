package browser

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// edges holds the edges of the frame of the lab's picture: left, right, bottom, top.
func (p *page) edges() []float64 {
	p.t.Helper()
	return get[[]float64](p, `(() => {
		const stage = document.querySelector(".stage"), { limits: l } = JSON.parse(stage.dataset.stage).frames[stage.querySelector("img").naturalWidth];
		return [l.x_min, l.x_max, l.y_min, l.y_max];
	})()`)
}

// box returns the position of the picture in the window, and of the frame in it.
func (p *page) box() string {
	p.t.Helper()
	return get[string](p, `(() => {
		const stage = document.querySelector(".stage"), image = stage.querySelector("img"), b = image.getBoundingClientRect();
		return JSON.stringify([b.x, b.y, b.width, b.height, JSON.parse(stage.dataset.stage).frames[image.naturalWidth]]);
	})()`)
}

func near(a, b []float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-3*(1+math.Abs(b[i])) {
			return false
		}
	}
	return len(a) == len(b)
}

// settle waits until the address has the frame that is shown, which nothing changes any more.
func (p *page) settle() {
	p.t.Helper()
	p.wait(answered + ` && document.querySelector("#answer details.points") && ((l, q) => l === "" ? !q.has("limits") : q.get("limits")?.split(",").every((v, i) => Math.abs(v - l.split(",")[i]) < 1e-6))(document.querySelector("[name=limits]").value, new URLSearchParams(location.search))`)
}

// The picture is zoomed and moved by wheel, pointer and keys; what it shows then is in the
// address, and one key shows the whole again.
func TestFrameIsMoved(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=moons&test_fraction=0.3")
	p.wait(`document.querySelector(".stage.movable")`)
	for _, size := range [][2]int64{{1366, 768}, {1920, 1080}} {
		p.size(size[0], size[1])
		p.reach(".stage")
		p.change(func() { p.keys("+") }) // to a picture of this size
		p.settle()
		p.change(func() { p.keys("0") })
		p.settle()
		whole := p.edges()
		at := p.spot(0.4, 0.4)
		under := func() []float64 {
			return get[[]float64](p, `(() => {
				const image = document.querySelector(".stage img"), b = image.getBoundingClientRect(), { limits: l, ...f } = JSON.parse(document.querySelector(".stage").dataset.stage).frames[image.naturalWidth];
				const k = image.clientWidth / image.naturalWidth;
				return [l.x_min + ((`+number(at.X)+` - b.left) / k - f.left) / f.width * (l.x_max - l.x_min), l.y_max - ((`+number(at.Y)+` - b.top) / k - f.top) / f.height * (l.y_max - l.y_min)];
			})()`)
		}
		place := under()

		p.change(func() {
			// A wheel without a share to the side is refused.
			call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: at.X, Y: at.Y, DeltaX: 0.01, DeltaY: -200})
		})
		p.settle()
		zoomed := p.edges()
		by := (zoomed[1] - zoomed[0]) / (whole[1] - whole[0])
		require.Check(t, math.Abs(by-0.64) <= 0.01, "%v: two notches of the wheel show %.3f of the width", size, by)
		now := under()
		require.Check(t, math.Abs(now[0]-place[0])+math.Abs(now[1]-place[1]) <= 0.02, "%v: under the pointer is %v, was %v", size, now, place)

		p.reload()
		p.wait(`document.querySelector(".stage.movable")`)
		again := p.edges()
		require.Check(t, near(again, zoomed), "%v: after a reload the frame is %v, was %v", size, again, zoomed)

		// Dragged by a tenth of the picture, to the right.
		p.reach(".stage")
		at = p.spot(0.5, 0.5)
		to := p.spot(0.6, 0.5)
		p.do(chromedp.MouseEvent(chromedp.MousePressed, at.X, at.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
		p.change(func() {
			p.do(chromedp.MouseEvent(chromedp.MouseMoved, (at.X+to.X)/2, at.Y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, to.X, to.Y, chromedp.ButtonLeft))
		})
		p.do(chromedp.MouseEvent(chromedp.MouseReleased, to.X, to.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
		p.settle()
		moved := p.edges()
		if by := (zoomed[0] - moved[0]) / (zoomed[1] - zoomed[0]); by < 0.08 || by > 0.14 || math.Abs(moved[2]-zoomed[2]) > 1e-6 {
			t.Errorf("%v: dragged from %v to %v", size, zoomed, moved)
		}

		// By keys, and by buttons.
		get[bool](p, `(document.querySelector(".stage").focus(), true)`)
		p.change(func() { p.keys(kb.ArrowUp, chromedp.ModifierShift) })
		p.settle()
		up := p.edges()
		require.Check(t, up[2] > moved[2] && up[0] == moved[0], "%v: Shift and an arrow lead from %v to %v", size, moved, up)
		p.change(func() { p.keys("+") })
		p.settle()
		in := p.edges()
		require.Check(t, in[1]-in[0] < moved[1]-moved[0], "%v: + leads from %v to %v", size, moved, in)
		p.change(func() { p.keys("0") })
		p.settle()
		if again := p.edges(); !near(again, whole) || p.query().Has("limits") {
			t.Errorf("%v: the whole is %v, was %v", size, again, whole)
		}
		p.change(func() { p.click("[data-do=farther]") })
		p.settle()
		out := p.edges()
		require.Check(t, out[1]-out[0] > whole[1]-whole[0], "%v: the button to zoom out leads to %v", size, out)
		p.change(func() { p.click("[data-do=reset]") })
		p.settle()
	}
}

// Two fingers zoom and move the picture, also while drawing, without a point of the first.
func TestFrameIsPinched(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/lab?data=moons", "/lab?data=drawing"} {
		p := open(t, s)
		p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateTouch, chromedp.EmulateMobile))
		p.visitStage(path)
		p.wait(`document.querySelector(".stage.movable")`)
		if path != "/lab?data=moons" {
			p.wait(`document.querySelector(".stage.editing")`)
		}
		p.reach(".stage")
		before := p.edges()
		touch := func(kind input.DispatchTouchEventType, at ...point) {
			var points []*input.TouchPoint
			for i, a := range at {
				points = append(points, &input.TouchPoint{X: a.X, Y: a.Y, ID: new(float64(i))})
			}
			call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		}
		a, b := p.spot(0.45, 0.5), p.spot(0.55, 0.5)
		touch(input.DispatchTouchEventTypeTouchStart, a)
		touch(input.DispatchTouchEventTypeTouchStart, a, b)
		touch(input.DispatchTouchEventTypeTouchMove, p.spot(0.4, 0.5), p.spot(0.6, 0.5))
		touch(input.DispatchTouchEventTypeTouchMove, p.spot(0.35, 0.5), p.spot(0.65, 0.5))
		touch(input.DispatchTouchEventTypeTouchEnd)
		p.wait(answered + ` && new URLSearchParams(location.search).has("limits")`)
		p.wait(`document.querySelector("[name=limits]").value !== ""`)
		after := p.edges()
		by := (after[1] - after[0]) / (before[1] - before[0])
		require.Check(t, by <= 0.5 && by >= 0.2, "%s: fingers three times as far apart show %.2f of the width", path, by)
		require.Equal(t, p.value("#f-points"), "", "%s: the fingers drew", path)
	}
}

// The model's output at the pointer is shown beside it everywhere, and agrees with its
// prediction for points at that place.
func TestPlacesTellAboutThemselves(t *testing.T) {
	p := fresh(t)
	for _, at := range []struct {
		path string
		want []string
	}{
		{"/lab?data=moons&kernel=linear", []string{"class ", "f(x) = "}},
		{"/lab?data=iris", []string{"class ", "f virginica vs setosa = "}},
		{"/lab?data=iris&on=shown&x=petal_length&positive=setosa", []string{"class ", "f(x) = "}},
	} {
		p.visitStage(at.path)
		p.wait(`document.querySelector(".stage.movable")`)
		p.reach(".stage")
		free := get[point](p, `(() => {
			const stage = document.querySelector(".stage"), image = stage.querySelector("img"), b = image.getBoundingClientRect();
			const d = JSON.parse(stage.dataset.stage), { limits: l, ...f } = d.frames[image.naturalWidth], k = image.clientWidth / image.naturalWidth;
			for (let v = 0.1; v < 0.9; v += 0.05) for (let u = 0.1; u < 0.9; u += 0.05) {
				const clear = d.points.every(([s, t]) => Math.hypot(((s - l.x_min) / (l.x_max - l.x_min) - u) * f.width * k, ((t - l.y_min) / (l.y_max - l.y_min) - v) * f.height * k) > 40);
				if (clear) return { X: b.left + k * (f.left + u * f.width), Y: b.top + k * (f.top + (1 - v) * f.height) };
			}
		})()`)
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, free.X, free.Y))
		p.wait(`document.querySelector(".tip").checkVisibility() && document.querySelector(".tip").textContent.includes("class ")`)
		tip := p.text(".tip")
		require.SaysAll(t, tip, at.want, "%s: a place shows", at.path)
		require.Check(t, !strings.Contains(tip, "Point "), "%s: a place far from points shows %q", at.path, tip)
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, 2, 2))
		p.wait(`!document.querySelector(".tip").getClientRects().length`)
	}
}

func TestShortcutsAreListed(t *testing.T) {
	p := fresh(t)
	axe := accessibilityChecker(t)
	p.visitStage("/lab?data=moons")
	for _, size := range [][2]int64{{1366, 768}, {360, 740}} {
		p.size(size[0], size[1])
		p.keys("?")
		p.wait(`document.querySelector("[data-shortcuts]").open`)
		require.SaysAll(t, p.text("[data-shortcuts]"), []string{"undo and redo", "zoom"}, "the panel says")
		p.fits(size[0])
		if axe != "" {
			p.accessible(axe, "keys and gestures")
		}
		p.keys(kb.Escape)
		p.wait(`!document.querySelector("[data-shortcuts]").open`)
	}
	p.click("[data-do=help]")
	p.wait(`document.querySelector("[data-shortcuts]").open`)
	p.click("[data-do=close]")
	p.wait(`!document.querySelector("[data-shortcuts]").open`)
}

// The first thing drawn moves neither the picture nor its frame; the class that somebody chose
// to be positive stays so while there are no points of it yet, and when there are more.
func TestFirstPointsMoveNothing(t *testing.T) {
	t.Parallel()
	p := draw(t)
	p.size(1366, 768)
	p.choose("#f-positive", "-1")
	p.wait(answered)
	p.reach(".stage")
	empty := p.box()
	classes := []string{"1", "-1", "3"}
	for i, class := range classes {
		p.choose("[data-tool]", "point")
		p.click(`[data-class="` + strconv.Itoa(map[string]int{"-1": 0, "1": 1, "3": 2}[class]) + `"]`)
		p.press(0.3+0.2*float64(i), 0.4)
		p.expectClasses(strings.Join(classes[:i+1], " "))
		p.wait(answered)
		require.Equal(t, p.box(), empty, "with %d points the picture is at", i+1)
		require.Equal(t, p.value("#f-positive"), "-1", "with %d points the positive class", i+1)
	}
	limits := p.edges()
	p.reload()
	v, now := p.value("#f-positive"), p.edges()
	require.Check(t, v == "-1" && near(now, limits), "after a reload: positive class %q, frame %v, was %v", v, now, limits)
}

// A brush paints along the way, a spray around the pointer, jitter moves everything; each is
// one step to undo, also after the page was loaded again.
func TestBrushAndSpray(t *testing.T) {
	t.Parallel()
	p := draw(t)
	p.size(1366, 768)
	p.reach(".stage")
	stroke := func(from, to point, drawn string) {
		t.Helper()
		p.do(chromedp.MouseEvent(chromedp.MousePressed, from.X, from.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
		for i := range 4 {
			part := float64(i+1) / 4
			p.do(chromedp.MouseEvent(chromedp.MouseMoved, from.X+part*(to.X-from.X), from.Y+part*(to.Y-from.Y), chromedp.ButtonLeft))
		}
		p.wait(drawn)
		p.do(chromedp.MouseEvent(chromedp.MouseReleased, to.X, to.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
		p.wait(answered + ` && new URLSearchParams(location.search).get("points") === document.querySelector("#f-points").value`)
	}
	count := `document.querySelector("#f-points").value.split("\n").length`
	p.choose("[data-tool]", "brush")
	from, to := p.spot(0.3, 0.3), p.spot(0.3, 0.3)
	to.X += 160.5
	stroke(from, to, count+" === 11") // one at each 16 pixels
	brushed := p.value("#f-points")
	p.choose("[data-tool]", "spray")
	p.click(`[data-class="1"]`)
	stroke(p.spot(0.6, 0.6), p.spot(0.61, 0.6), count+" >= 18")
	sprayed := p.value("#f-points")
	p.change(func() { p.act("jitter") })
	jittered := p.value("#f-points")
	require.Check(t, strings.Count(jittered, "\n") == strings.Count(sprayed, "\n") && strings.Split(jittered, "\n")[0] != strings.Split(brushed, "\n")[0],
		"jitter made %q of %q", jittered, sprayed)
	p.wait(`new URLSearchParams(location.search).get("points") === document.querySelector("#f-points").value`)

	p.reload()
	p.wait(`document.querySelector(".stage.movable")`)
	for _, want := range []string{sprayed, brushed, ""} {
		p.keys("z", chromedp.ModifierCtrl)
		p.wait(`document.querySelector("#f-points").value === ` + quote(want))
	}
	p.keys("Z", chromedp.ModifierCtrl, chromedp.ModifierShift)
	p.wait(`document.querySelector("#f-points").value === ` + quote(brushed))
}

// A point that is dragged out of the frame lies there, and the frame grows once it is let go.
func TestOutlier(t *testing.T) {
	t.Parallel()
	p := draw(t)
	p.size(1366, 768)
	p.reach(".stage")
	p.press(0.5, 0.5)
	p.expectClasses("-1")
	before := p.edges()
	from, to := p.place(p.drawn()[0]), p.spot(1.2, 0.5)
	p.change(func() { p.drag(from, point{(from.X + to.X) / 2, to.Y}, to) })
	p.wait(`new URLSearchParams(location.search).get("points") === document.querySelector("#f-points").value`)
	x, err := strconv.ParseFloat(strings.Split(p.drawn()[0], ",")[0], 64)
	if after := p.edges(); err != nil || x <= before[1] || after[1] <= x || after[0] != before[0] {
		t.Errorf("%v: dragged to %v beyond %v, the frame is %v", err, x, before, after)
	}
}

// The picture of a saved run is zoomed and moved as that of the lab is, and tells of places;
// so does its read-only page.
func TestFrameOfARun(t *testing.T) {
	p := fresh(t)
	p.visitStage("/lab?data=iris&on=shown&x=petal_length&y=petal_width&test_fraction=0.3")
	p.click("[data-save]")
	p.wait(element("[data-saved] a"))
	p.visit(get[string](p, `document.querySelector("[data-saved] a").getAttribute("href")`))
	p.wait(`document.querySelector(".stage.movable")`)
	p.follow(func() { p.click(`form[action$="/share"] button`) })
	for _, path := range []string{p.where(), get[string](p, `document.querySelector(".share")?.value ?? document.querySelector("a[href*='/shared/']").href`)} {
		p.do(chromedp.Navigate(path))
		p.wait(`document.querySelector(".stage.movable")`)
		p.picture(".stage img")
		p.reach(".stage")
		whole := p.edges()
		p.keys("+")
		p.wait(`new URLSearchParams(location.search).has("limits") && document.querySelector("[data-do=reset]:enabled")`)
		zoomed := p.edges()
		require.Near(t, (zoomed[1]-zoomed[0])/(whole[1]-whole[0]), 0.8, 0.01, "%s: + shows … of the width", path)
		first := get[string](p, `performance.getEntriesByType("resource").map((r) => r.name).filter((r) => r.includes("limits=")).map((r) => r.includes("/figures/") ? "picture" : r.includes("coarse=1") ? "coarse" : "fine").filter((r, i, all) => r !== all[i - 1]).join(" ")`)
		require.Check(t, first == "coarse fine picture", "%s: asked for are %s", path, first)
		p.reload()
		p.wait(`document.querySelector(".stage.movable")`)
		again := p.edges()
		require.Check(t, near(again, zoomed), "%s: after a reload the frame is %v, was %v", path, again, zoomed)
		said := get[string](p, `document.querySelector("[data-at]").dataset.at`)
		require.Check(t, strings.HasSuffix(said, "/at"), "%s: places are asked about at %q", path, said)
		p.click("[data-do=reset]")
		p.wait(`!new URLSearchParams(location.search).has("limits")`)
		again = p.edges()
		require.Check(t, near(again, whole), "%s: the whole is %v, was %v", path, again, whole)

		// A reply that breaks off is told, and not the last.
		get[bool](p, `(window.real = window.fetch, window.fetch = () => Promise.resolve({ ok: true, text: () => Promise.reject(new TypeError("broken off")) }), true)`)
		p.keys("+")
		p.wait(`document.querySelector(".stale")?.textContent === "No answer: broken off"`)
		get[bool](p, `(window.fetch = window.real, true)`)
		p.keys("+")
		p.wait(`new URLSearchParams(location.search).has("limits") && !document.querySelector(".stale")`)
	}
}
