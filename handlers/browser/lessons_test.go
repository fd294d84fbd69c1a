package browser

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

// walked are the lessons that tests go through from end to end: with the build tag
// walks all of them, and otherwise one that has all kinds of parts: a handle, steps,
// questions to choose from and to calculate.
func walked() []lessons.Lesson {
	if walks {
		return all.Lessons()
	}
	return slices.DeleteFunc(slices.Clone(all.Lessons()), func(l lessons.Lesson) bool { return l.Slug != "lagrange" })
}

// TestLessonLooks looks at lessons: nothing wider than the window, nothing that axe-core
// finds serious.
func TestLessonLooks(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.client()
	courseOf(t, c)
	pages := []looked{
		{"lessons", "/lessons", c},
		{"lesson-index", "/lessons/index", c},
		{"guide", "/lessons/lagrange/guide", c},
		{"answers", "/lessons/mercer/worksheet/answers", c},
	}
	if walks {
		pages = append(pages, looked{"worksheet", "/lessons/lagrange/worksheet", c}, looked{"teachers", "/lessons/teachers", c})
	}
	for _, l := range walked() {
		pages = append(pages, looked{"lesson-" + l.Slug, "/lessons/" + l.Slug, c})
	}
	inspectAll(t, s, pages)
}

// TestLessonWalk teaches each lesson with the keyboard: from slide to slide by the
// arrow keys, through an algorithm's steps, every question answered wrong and right.
func TestLessonWalk(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := start(t)
	axe := accessibilityChecker(t)
	chosen := walked()
	for i := range 2 * len(chosen) {
		l, theme := &chosen[i/2], []string{"light", "dark"}[i%2]
		if theme == "dark" && !walks {
			continue
		}
		t.Run(l.Slug+"/"+theme, func(t *testing.T) {
			t.Parallel()
			p := open(t, s)
			p.use(s.client())
			p.theme(theme)
			p.size(1024, 768)
			p.visit("/lessons/" + l.Slug)
			p.follow(func() { p.clickText("a.button", "Present") })
			for k := range l.Screens {
				screen := &l.Screens[k]
				p.wait("location.pathname === " + quote("/lessons/"+l.Slug+"/"+screen.Slug))
				p.loaded()
				p.fits(1024)
				p.shoot("slide-" + l.Slug + "-" + screen.Slug + "-" + theme)
				if axe != "" && theme == "dark" { // the whole lesson is looked at in both
					p.accessible(axe, theme+", "+screen.Slug)
				}
				p.size(360, 740)
				p.fits(360)
				small := get[[]string](p, `[...document.querySelectorAll("main :is(td, th, p, caption, figcaption, label, button)")].filter((e) => e.offsetWidth && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => e.textContent)`)
				require.Check(t, len(small) == 0, "on a phone, smaller than 12 pixels: %q", small)
				p.size(1024, 768)
				if p.visible(".replay") {
					walkSteps(p)
				}
				for q := range screen.Questions {
					p.part("ask-" + screen.Questions[q].Slug)
					answerBoth(p, screen, &screen.Questions[q])
				}
				p.wait(answered) // which may bring numbers, and their part
				if k+1 < len(l.Screens) {
					p.part("")
					turn(p, kb.PageDown)
				}
			}
			if len(l.Screens) > 1 {
				p.part("")
				for range len(get[[]string](p, partNames)) {
					turn(p, kb.ArrowUp)
				}
				p.wait("location.pathname.endsWith(" + quote("/"+l.Screens[len(l.Screens)-2].Slug) + ")")
				p.wait("location.hash === '#' + " + partNames + ".at(-1)") // where one came from
			}
			turn(p, kb.Escape)
			p.follow(func() { p.clickText(".overview a", "The lesson as a page to read") })
			p.wait("location.pathname === " + quote("/lessons/"+l.Slug))
			asked := 0
			for _, s := range l.Screens {
				asked += len(s.Questions)
			}
			want := fmt.Sprintf("%d of %d questions answered, %d right", asked, asked, asked)
			got := p.text(".lesson-head")
			require.Check(t, asked <= 0 || strings.Contains(got, want), "%q does not say %q", got, want)
		})
	}
}

// turn presses a key while nothing has the focus.
func turn(p *page, key string) {
	p.t.Helper()
	get[bool](p, "(document.activeElement?.blur(), true)")
	p.keys(key)
}

// space presses the space bar as a keyboard does: without the character that
// scrolls where the page has taken the key for itself.
func space(p *page, held int64) {
	p.t.Helper()
	get[bool](p, "(document.activeElement?.blur(), true)")
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: " ", Code: "Space", WindowsVirtualKeyCode: 32, Modifiers: held})
	}
}

// walkSteps goes a step on and back by the keyboard, then to the end and to the start.
func walkSteps(p *page) {
	p.t.Helper()
	count := func(want string) {
		p.t.Helper()
		p.wait(answered + " && " + element("[data-count]") + ".textContent.startsWith(" + quote(want+" ") + ")")
	}
	state := func() string { // all that is written, also where another part of the slide shows it
		return get[string](p, `(() => {
			const e = document.querySelector(".exhibit").cloneNode(true);
			e.querySelectorAll(".later").forEach((l) => l.remove());
			return e.textContent.replace(/\s+/g, ""); // spaces between elements differ where a script has put them
		})()`)
	}
	before, after := "step 0", "step 1"
	if p.visible("[data-lines]") {
		before, after = "line 1", "line 2"
	}
	count(before)
	first := state()
	space(p, 0)
	count(after)
	require.Check(p.t, state() != first, "%s: the first step changes nothing that is written", p.where())
	space(p, int64(chromedp.ModifierShift))
	count(before)
	require.Equal(p.t, state(), first, "%s: after a step back", p.where())
	p.click("[data-go=end]")
	p.wait(element("[data-go=step]") + ".disabled")
	p.click("[data-go=start]")
	count(before)
	require.Equal(p.t, state(), first, "%s: from the end to the start", p.where())
}

// answerBoth answers a question wrong, then right.
func answerBoth(p *page, s *lessons.Screen, q *lessons.Question) {
	p.t.Helper()
	truth := require.Value(q.Solve(p.ctx))(p.t)
	form := "#q-" + s.Slug + "-" + q.Slug
	give := func(given, verdict string) {
		p.t.Helper()
		p.wait(answered) // a picture that loads late moves the click target
		p.loaded()
		switch {
		case q.Sketch != nil: // what the strokes of TestSketch leave
			get[bool](p, "("+element(form+" input[name=answer]")+".value = "+quote(given)+", true)")
		case len(q.Options) > 0:
			p.click(fmt.Sprintf("%s input[value=%q]", form, given))
		default:
			p.fill(form+" input[name=answer]", given)
		}
		get[bool](p, "("+element(form+" .verdict")+"?.setAttribute('data-old', ''), true)") // to take it away would move the button
		if q.Sketch != nil {
			get[bool](p, "("+element(form+" button[type=submit]")+".hidden = false, true)")
		}
		p.click(form + " button")
		p.wait(element(form+" .verdict:not([data-old]) strong") + "?.textContent.includes(" + quote(verdict) + ")")
	}
	switch {
	case q.Sketch != nil:
		give(strings.Repeat("1e9 ", len(q.Sketch.X)), "Not quite")
		give(q.Given(truth), "Right")
	case len(q.Options) > 0:
		give(strconv.Itoa((int(truth.Value)+1)%len(q.Options)), "Not quite")
		give(number(truth.Value), "Right")
	default:
		give(number(3*truth.Value+7), "Not quite")
		give(number(truth.Value), "Right")
	}
}

// TestSketch draws a prediction on a slide, with the mouse and with the arrow keys; it is
// judged, and the curve itself comes over it.
func TestSketch(t *testing.T) {
	p := openAt(t, 1280, 720, "/lessons/procedures/hinge#ask-shape")
	const form, layer, box = "#q-hinge-shape", "#q-hinge-shape .sketch-layer", "#q-hinge-shape [name=answer]"
	p.wait(element(layer) + " && " + element(form+" img") + ".complete")
	src := get[string](p, element(form+" img")+".src")
	require.Check(t, !strings.Contains(src, "drawn"), "the picture %s shows the curve", src)
	at := func(share [2]float64) point {
		return get[point](p, fmt.Sprintf("(({left, top, width, height}) => ({X: left + %g * width, Y: top + %g * height}))(%s.getBoundingClientRect())", share[0], share[1], element(layer)))
	}
	p.click(form + " button") // with nothing drawn
	p.wait(element(form+" .error") + " && " + element(layer))
	from, to := at([2]float64{0.06, 0.1}), at([2]float64{0.99, 0.5})
	p.drag(from, to)
	heights := func() (all []float64) {
		p.t.Helper()
		for _, text := range strings.Fields(p.value(box)) {
			all = append(all, require.Value(strconv.ParseFloat(text, 64))(p.t))
		}
		return all
	}
	drawn := heights()
	require.Must(t, len(drawn) == 11 && drawn[0] > drawn[10], "a stroke down across the picture is %v", drawn)
	p.tabTo(form + " .knot")
	p.keys(kb.ArrowUp)
	p.keys(kb.ArrowRight)
	p.keys(kb.ArrowDown)
	keyed := heights()
	require.Check(t, keyed[0] > drawn[0] && keyed[1] < drawn[1] && keyed[2] == drawn[2], "the arrow keys make %v of %v", keyed, drawn)
	p.click(form + " button")
	p.wait(element(form+" .verdict") + "?.textContent.includes('off by') && " + element(form+" img") + ".src.includes('drawn') && !" + element(layer))
	p.click(form + " [data-clear]")
	p.wait(element(layer) + " && !" + element(form+" .verdict") + " && " + element(box) + ".value === ''")
}

// TestLessonHandle drags the end of a line, by the mouse and by the keyboard.
func TestLessonHandle(t *testing.T) {
	p := openAt(t, 1280, 900, "/lessons/margins/by-hand")
	p.loaded()
	margin := func() string { return get[string](p, element(".exhibit-numbers .value")+".textContent") }
	first := margin()
	from := p.reach(".handle")
	p.drag(from, point{from.X + 12, from.Y + 3}, point{from.X + 24, from.Y + 6}, point{from.X + 40, from.Y + 10})
	p.wait(element(".exhibit-numbers .value") + ".textContent !== " + quote(first))
	p.wait("location.search.includes('ax=')")
	x := p.value("input[name=ax]")
	require.Check(t, x != "-1.5", "the end of the line is still at x1 = %s", x)
	at := p.reach(".handle")
	require.Check(t, at.X >= from.X+30 && at.X <= from.X+50, "the handle went from %v to %v, not 40 px to the right", from, at)
	dragged := p.value("input[name=ay]")
	p.tabTo(".handle")
	p.keys(kb.ArrowDown)
	p.wait(element("input[name=ay]") + ".value !== " + quote(dragged))
	require.Check(t, get[bool](p, "document.activeElement.matches('.handle')"), "the keyboard has left the handle")
	p.wait(answered)
	p.clickText("[data-move]", "Keep this line")
	p.wait("location.search.includes('kept=') && document.querySelector('.exhibit').textContent.includes('Best try')")
	turn(p, "e") // the margin of the solver comes with the answers
	p.wait("document.querySelector('.exhibit').textContent.includes(\"the solver's margin\")")
}

// TestTapsACell: a tap on the picture moves what alone can be dragged there.
func TestTapsACell(t *testing.T) {
	p := openAt(t, 1280, 720, "/lessons/width/choice")
	p.wait(element(".parts a.current"))
	p.loaded()
	from := p.reach(".handle")
	p.do(chromedp.MouseClickXY(from.X-150, from.Y))
	p.wait(answered + " && location.search.includes('column=')")
	at := p.reach(".handle")
	require.Check(t, at.X <= from.X-75, "the handle went from %v to %v", from, at)
	before := p.value("input[name=row]")
	p.tabTo(".handle")
	for _, key := range []string{kb.ArrowUp, kb.ArrowDown} { // a cell up, and back
		p.keys(key)
		p.wait(answered + " && (" + element("input[name=row]") + ".value === " + quote(before) + ") === " + strconv.FormatBool(key == kb.ArrowDown))
	}
}

// TestLessonTurn drags a picture in space: its angles follow, and the picture.
func TestLessonTurn(t *testing.T) {
	p := openAt(t, 1280, 900, "/lessons/kernel-trick/lift")
	p.wait(element(".parts a.current"))
	p.loaded()
	before := get[string](p, element(".turns img")+".currentSrc")
	at := p.reach(".turns picture")
	p.drag(at, point{at.X + 40, at.Y + 30})
	p.wait(answered + " && location.search.includes('yaw=10') && location.search.includes('pitch=29')")
	p.wait(element(".turns img") + ".currentSrc !== " + quote(before))
}

// TestLessonWords points at a symbol in the words: the control and the number that it means
// light up, and dragging the symbol moves the control.
func TestLessonWords(t *testing.T) {
	p := openAt(t, 1280, 900, "/lessons/soft-margin")
	p.loaded()
	const symbol = "#price .words math[data-test]"
	get[bool](p, `([...document.querySelectorAll("#price .words math")].find((m) => m.textContent.trim() === "C").dataset.test = "", true)`)
	at := p.reach(symbol)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y))
	p.wait(element("#price .meant") + "?.dataset.field === 'C'")
	before := p.value("#price input[name=C]")
	p.drag(at, point{at.X + 60, at.Y})
	p.wait(answered + " && new URLSearchParams(location.search).get('C') > " + before)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, 5, 5))
	p.wait("!" + element("#price .meant"))

	// A part of the picture, for the keyboard as well; it stays as long as the focus.
	p.wait("!" + element(".pointed"))
	get[bool](p, `([...document.querySelectorAll("#slack .words .explorable")].find((m) => m.textContent.replace(/\s/g, "") === "ξi").focus(), true)`)
	p.wait(element("#slack .stage .pointed polyline.core") + "?.getTotalLength() > 5")
	get[bool](p, "(document.activeElement.blur(), true)")
	p.wait("!" + element(".pointed"))

	// A number in the words that is a control.
	const number = "#price .words data[role=slider]"
	said, value := p.text(number), p.value("#price input[name=C]")
	require.Check(t, said == value, "the words say C = %s, the control %s", said, value)
	before = p.value("#price input[name=C]")
	get[bool](p, "("+element(number)+".focus(), true)")
	p.keys(kb.ArrowRight)
	p.wait(answered + " && Number(" + element(number) + ".textContent) > " + before + " && " + element(number) + ".textContent === " + element("#price input[name=C]") + ".value")

	// In every picture that shows it.
	p.visit("/lessons/soft-margin?everything=1")
	p.wait(element("#kinds .words .explorable"))
	get[bool](p, `([...document.querySelectorAll("#kinds .words .explorable")].find((m) => m.textContent.replace(/\s/g, "") === "yif(𝐱i)=1").focus(), true)`)
	p.wait("document.querySelectorAll('#kinds .stage .pointed polyline.core').length >= 4 && document.querySelectorAll('#kinds .figure:has(.pointed)').length === 2")
}

// TestLessonFinger drags a number, a symbol and a picture in space with a finger that goes
// sideways: each follows it to the end, and the page stays where it is. A finger that goes up over a
// slider scrolls the page and leaves the slider where it was.
func TestLessonFinger(t *testing.T) {
	p := fresh(t)
	p.do(chromedp.EmulateViewport(390, 800, chromedp.EmulateTouch, chromedp.EmulateMobile))
	p.visit("/lessons/soft-margin?everything=1")
	p.loaded()
	p.wait(element("#price .words data[role=slider]"))
	get[bool](p, `([...document.querySelectorAll("#price .words math")].find((m) => m.textContent.trim() === "C").dataset.test = "", true)`)
	share := func() float64 {
		return get[float64](p, `(() => { const r = document.querySelector("#price [data-field=C] input[type=range]"); return r.value / r.max; })()`)
	}
	for css, by := range map[string]float64{"#price .words data[role=slider]": -60, "#price .words math[data-test]": 60} {
		before := share()
		p.finger(css, by, 0)
		moved := share() - before
		require.Check(t, math.Abs(moved-by/300) <= 0.02, "%s: a finger moved the slider by %g, not by %g", css, moved, by/300)
		p.wait(answered)
	}
	const field = "#price input[name=C]"
	get[bool](p, "("+element(field)+`.addEventListener("input", (e) => (document.body.dataset.moved += " " + e.target.value)), document.body.dataset.moved = "", true)`)
	was := get[string](p, element(field)+".value")
	p.finger("#price [data-field=C] input[type=range]", 0, -200)
	p.wait("document.body.dataset.moved.split(' ').length > 2")
	require.Equal(t, get[string](p, element(field)+".value"), was, "C after scrolling over its slider")
	p.wait(answered)

	p.visit("/lessons/kernel-trick")
	p.wait(element("#lift form.live .turns img"))
	p.loaded()
	p.finger("#lift .turns img", -60, 0)
	p.wait(answered + " && location.search.includes('yaw=60') && " + element("#lift input[name=pitch]") + ".value === '14'")
}

// TestLessonRun lets an algorithm run to its end and stops it on the way.
func TestLessonRun(t *testing.T) {
	p := openAt(t, 1280, 900, "/lessons/margins?screen=canonical#canonical")
	p.choose("#canonical [data-speed]", "25")
	p.click("#canonical [data-go=run]")
	p.wait(element("#canonical [data-go=step]") + ".disabled")
	p.wait(element("#canonical [data-go=run]") + ".textContent === 'Run'")
	p.choose("#canonical [data-speed]", "1000")
	p.click("#canonical [data-go=run]") // from the start again
	p.wait(element("#canonical [data-count]") + ".textContent.startsWith('line 2 ')")
	turn(p, "r")
	p.wait(element("#canonical [data-go=run]") + ".textContent === 'Run'")
	q := p.query()
	require.Check(t, q.Get("screen") == "canonical" && q.Get("step") != "", "the address does not hold the step: %v", q)
}

// TestLessonWithoutScript reads, steps and answers without JavaScript.
func TestLessonWithoutScript(t *testing.T) {
	p := fresh(t)
	p.noScript()
	p.size(1280, 900)
	p.visit("/lessons/margins")
	p.follow(func() { p.click("#canonical [data-go=step]") })
	require.Equal(t, p.text("#canonical [data-count]"), "line 2 of 5", "after a step")
	p.fill("#canonical input[name=angle]", "20")
	p.follow(func() { p.click("#canonical .update") })
	if got := p.text("#canonical [data-count]"); got != "line 2 of 5" || p.value("#canonical input[name=angle]") != "20" {
		t.Errorf("with another angle: %s, %s", got, p.value("#canonical input[name=angle]"))
	}
	p.fill("#q-canonical-width input[name=answer]", "4")
	p.follow(func() { p.click("#q-canonical-width button") })
	got := p.text("#q-canonical-width .verdict")
	require.Check(t, strings.HasPrefix(got, "✓ Right."), "the verdict is %q", got)
	require.Check(t, !p.visible(".handle") && !p.visible("#canonical [data-go=run]"), "controls that need a script are shown")
}
