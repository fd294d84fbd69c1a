package browser

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

// partNames are the parts of the slide, in their order.
const partNames = `[...document.querySelectorAll(".parts a.part")].filter((a) => a.offsetWidth).map((a) => a.hash.slice(1))`

// part shows a part of a slide, "" the last.
func (p *page) part(id string) {
	p.t.Helper()
	if id == "" {
		id = get[string](p, partNames+".at(-1)")
	}
	get[bool](p, "(location.replace('#"+id+"'), true)")
	p.wait(element(".parts a.current") + ".hash === " + quote("#"+id))
}

// writing is a function that returns the texts of a picture with their sizes, but for exponents,
// which are read with what they belong to. smallest will be the least share of the height of any, once its slide fits.
const writing = `globalThis.smallest = Infinity;
	globalThis.written = {};
	globalThis.writing = (src) => written[src] ??= (() => {
		let svg = decodeURIComponent(src.slice(src.indexOf(",") + 1));
		if (!src.startsWith("data:")) {
			const request = new XMLHttpRequest();
			request.open("GET", src, false);
			request.send();
			svg = request.responseText;
		}
		return [...new DOMParser().parseFromString(svg, "image/svg+xml").querySelectorAll("text")].map((e) => [e.textContent, Number(e.getAttribute("font-size"))]).filter(([text, size]) => size !== 9 || !/^[−0-9]+$/.test(text));
	})(), true`

// longest is the largest number of words that the arrow key adds to the slide, a formula counting as one.
const longest = `Math.max(0, ...[...document.querySelectorAll(".words :is(p, li)")].map((e) => {
	const words = e.cloneNode(true);
	for (const m of words.querySelectorAll("math")) m.replaceWith("x");
	return words.textContent.trim().split(/\s+/).length;
}))`

// slideFaults tells what of the part that is shown is not within the window, and what of
// its pictures is too small; null while the picture is still asked for.
const slideFaults = `(() => {
	const slide = document.querySelector("[data-slide]"), name = document.querySelector(".parts a.current").hash, out = [];
	let least = Infinity;
	if (document.querySelector("[data-asking]") || [...slide.querySelectorAll("img")].some((i) => i.offsetWidth && !(i.complete && i.naturalWidth))) return null;
	if (document.documentElement.scrollHeight > innerHeight || document.documentElement.scrollWidth > innerWidth) out.push("the page is larger than the window");
	for (const e of slide.querySelectorAll(".told, .sums, .words, .ask, .scroll, math[display=block]")) {
		if (e.clientHeight && e.scrollWidth > e.clientWidth + 2) out.push("wider than its place: " + e.className + e.textContent.slice(0, 40));
		if (e.clientHeight && !e.matches("math") && e.scrollHeight > e.clientHeight + 2) out.push("higher than its place: " + e.className);
	}
	const picture = [...slide.querySelectorAll(".figure")].find((f) => f.clientWidth), image = picture?.querySelector("img"), box = image?.getBoundingClientRect();
	for (const e of slide.querySelectorAll("h1, p, li, a, button, input, select, summary, label, th, td, img")) {
		const b = e.getBoundingClientRect();
		if (!b.width || e.closest("dialog, .visually-hidden, .handles, .folded:not([open]) .demo-controls")) continue;
		const what = e.tagName + " " + (e.textContent || e.name || "").trim().slice(0, 30);
		if (b.left < -1 || b.top < -1 || b.right > innerWidth + 1 || b.bottom > innerHeight + 1) out.push("outside of the window: " + what);
		else if (box && !picture.contains(e) && b.right > box.left + 1 && b.left < box.right - 1 && b.bottom > box.top + 1 && b.top < box.bottom - 1) out.push("over the picture: " + what);
	}
	const blocks = [...slide.querySelectorAll(".slide-head, .lead, .told, .words, .ask, .sums, .replay, .demo > .demo-controls, .parts")].map((e) => [e.className, e.getBoundingClientRect()]).filter(([, b]) => b.width && b.height);
	blocks.forEach(([one, a], k) => blocks.slice(k + 1).forEach(([other, b]) => {
		if (a.right > b.left + 1 && a.left < b.right - 1 && a.bottom > b.top + 1 && a.top < b.bottom - 1) out.push(one + " is over " + other);
	}));
	if (box) {
		const share = (box.width * box.height) / (innerWidth * innerHeight);
		if (name.startsWith("#picture") && share < 0.6) out.push("the picture has " + share.toFixed(3) + " of the window");
	} else if (name.startsWith("#picture")) out.push("there is no picture");
	for (const e of slide.querySelectorAll("img")) {
		if (!e.clientWidth || e.closest("dialog")) continue;
		for (const [text, size] of writing(e.currentSrc)) {
			const letters = (100 * size * Math.min(e.clientWidth / e.naturalWidth, e.clientHeight / e.naturalHeight)) / innerHeight;
			least = Math.min(least, letters);
			if (letters < 2.2) out.push("“" + text + "” of " + letters.toFixed(2) + " % of the height");
		}
	}
	for (const e of slide.querySelectorAll(".pictured, .help, figcaption")) {
		const size = parseFloat(getComputedStyle(e).fontSize);
		if (e.offsetHeight && e.textContent.trim() && !e.closest("dialog, .visually-hidden") && size < 0.0219 * innerHeight) out.push("a caption of " + (100 * size / innerHeight).toFixed(2) + " % of the height: " + e.className);
	}
	if (!out.length) smallest = Math.min(smallest, least);
	return [...new Set(out)];
})()`

// fitted waits until the part that is shown fits the window.
func (p *page) fitted() {
	p.t.Helper()
	p.until("the slide to fit", func() (bool, error) {
		faults, err := try[*[]string](p, slideFaults)
		if err == nil && faults != nil && len(*faults) > 0 {
			err = errors.New(strings.Join(*faults, "; "))
		}
		return err == nil && faults != nil, err
	})
}

// TestSlidesFit goes through the parts of slides by the keys of a clicker: at the sizes of
// projectors each is one window, with a large picture and large letters, at the first and at
// the last step, and every question is one of them. The largest size has the shape of the
// second, and is left to the walks.
func TestSlidesFit(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := start(t)
	sizes := [][2]int64{{1024, 768}, {1280, 720}}
	if walks {
		sizes = append(sizes, [2]int64{1920, 1080})
	}
	table := make([]string, len(walked()))
	t.Cleanup(func() {
		t.Logf("smallest text in pictures in %% of the height, most words a build, right answers at A, B, C, …\n%s", strings.Join(table, "\n"))
	})
	for i, l := range walked() {
		t.Run(l.Slug, func(t *testing.T) {
			t.Parallel()
			p := open(t, s)
			least, most, places := math.Inf(1), 0, [6]int{}
			defer func() { table[i] = fmt.Sprintf("%-16s %.2f %3d %v", l.Slug, least, most, places) }()
			sizes := slices.Clone(sizes)
			fit := func() {
				t.Helper()
				for _, size := range sizes {
					p.size(size[0], size[1])
					p.fitted()
				}
				slices.Reverse(sizes) // the next look begins with the size at which this one ends
			}
			for _, screen := range l.Screens {
				p.run(screen.Slug, func() {
					p.size(1024, 768)
					p.visit("/lessons/" + l.Slug + "/" + screen.Slug)
					p.wait(element(".parts a.current"))
					get[bool](p, writing)
					names := get[[]string](p, partNames)
					for _, q := range screen.Questions {
						if len(q.Options) > 0 {
							truth := require.Value(q.Solve(t.Context()))(t)
							places[slices.Index(lessons.Asked{Lesson: &l, Screen: &screen, Question: &q}.Order(), int(truth.Value))]++
						}
						require.Check(t, slices.Contains(names, "ask-"+q.Slug),
							"%s: the question %s is none of the parts %v", screen.Slug, q.Slug, names)
					}
					for k, name := range names {
						if k > 0 {
							turn(p, kb.ArrowDown)
						}
						p.wait(element(".parts a.current") + ".hash === " + quote("#"+name))
						fit()
					}
					p.size(1024, 768)
					if turn(p, "e"); len(screen.Questions) > 0 {
						p.wait(answered + " && !" + element("[data-folded]"))
						for _, name := range get[[]string](p, partNames) {
							if p.part(name); !slices.Contains(names, name) {
								fit()
							}
						}
						p.size(1024, 768)
					}
					if p.part(names[0]); p.visible("[data-go=end]:enabled") {
						p.click("[data-go=end]")
						p.wait(answered + " && " + element("[data-go=step]") + ".disabled")
						for _, name := range get[[]string](p, partNames) {
							p.part(name)
							fit()
						}
					}
					least, most = min(least, get[float64](p, "smallest")), max(most, get[int](p, longest))
				})
			}
		})
	}
}

// clicker presses a key as a clicker does, wherever the focus is.
func clicker(p *page, key, code string, number int64, held int64) {
	p.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code, WindowsVirtualKeyCode: number, Modifiers: held})
	}
}

// TestSlideKeys presents: after the mouse has moved a control the keys are still the
// presenter's, and each does what the help says.
func TestSlideKeys(t *testing.T) {
	p := openAt(t, 1024, 768, "/lessons/perceptron/bound")
	p.wait(element(".parts a.current"))
	count := func(want string) {
		p.t.Helper()
		p.wait(answered + " && " + element("[data-count]") + ".textContent.startsWith(" + quote(want) + ")")
	}
	current := func(want string) { p.t.Helper(); p.wait(element(".parts a.current") + ".hash === " + quote("#"+want)) }

	at := p.reach("[data-field=gamma] input[type=range]")
	p.drag(at, point{at.X + 20, at.Y})
	p.wait("document.activeElement === document.body && " + answered)
	gamma := p.value("input[name=gamma]")
	clicker(p, " ", "Space", 32, 0)
	count("line 2 ")
	clicker(p, "ArrowRight", "ArrowRight", 39, 0)
	count("line 3 ")
	clicker(p, "PageDown", "PageDown", 34, 0)
	count("line 4 ")
	clicker(p, "PageUp", "PageUp", 33, 0)
	count("line 3 ")
	p.keys("r")
	p.wait(element("[data-go=run]") + ".textContent === 'Pause'")
	p.keys("r")
	p.wait(element("[data-go=run]") + ".textContent === 'Run'")
	require.Equal(t, p.value("input[name=gamma]"), gamma, "the keys have moved the slider to")

	p.clickText(".parts a", "Picture") // after the mouse has gone to a part, too
	current("picture")
	p.clickText(".parts a", "Derivation")
	current("derivation")
	clicker(p, "Home", "Home", 36, 0)
	count("line 1 ")
	clicker(p, " ", "Space", 32, 0)
	count("line 2 ")
	p.click("[data-go=back]")
	count("line 1 ")
	clicker(p, " ", "Space", 32, 0)
	count("line 2 ")
	const list = "[data-speed]"
	speed := p.value(list)
	p.click(list) // a list of choices is opened, and left as it is
	p.wait("document.activeElement === " + element(list) + " && " + element(list) + ".matches(':open')")
	p.keys(kb.Escape)
	p.wait("!" + element(list) + ".matches(':open')")
	clicker(p, "ArrowRight", "ArrowRight", 39, 0)
	count("line 3 ")
	require.Equal(t, p.value(list), speed, "the speed that the keys have chosen")

	get[bool](p, "("+element("input[name=gamma]")+".focus(), true)")
	turn(p, kb.Tab) // what the keyboard comes to has the arrows, but not the keys of a clicker
	get[bool](p, "("+element("input[name=gamma]")+".focus(), true)")
	p.part("derivation")
	clicker(p, "End", "End", 35, 0)
	for range 8 { // the remaining lines, then the parts, from a field as well
		clicker(p, "PageDown", "PageDown", 34, 0)
		p.wait(answered)
	}
	p.wait("!location.pathname.endsWith('/bound') || " + element(".parts a.current") + ".hash !== '#derivation'")

	p.visit("/lessons/margins/canonical")
	p.wait(element(".parts a.current"))
	clicker(p, "ArrowDown", "ArrowDown", 40, 0)
	current("ask-width")
	for key, shows := range map[string]string{"b": ".blank", ".": ".blank", "p": ".spot", "o": ".overview[open]", "?": ".keys[open]"} {
		turn(p, key)
		p.wait(element(shows))
		turn(p, key)
		p.wait("!" + element(shows))
	}
	clicker(p, "Escape", "Escape", 27, 0)
	p.wait("document.activeElement === " + element(".overview[open] [aria-current]"))
	clicker(p, "PageDown", "PageDown", 34, 0)
	p.wait("document.activeElement.textContent.includes('The widest margin, by hand')")
	p.keys(kb.Enter)
	p.wait("location.pathname === '/lessons/margins/by-hand' && " + element(".parts a.current"))
	turn(p, "o")
	p.clickText(".overview[open] a", "The canonical scale")
	p.wait("location.pathname === '/lessons/margins/canonical'")
}

// teaches makes a course, as notes and answers are for those who have one.
func (p *page) teaches() {
	p.t.Helper()
	p.visit("/courses/new?target=/lessons/margins")
	p.fill("#f-title", "A course")
	p.follow(func() { p.clickText("button", "Create course") })
}

// TestSlidesTurnInPlace goes to the next slide and back without a new page, as a full
// screen would end with it, and back by the browser's button.
func TestSlidesTurnInPlace(t *testing.T) {
	p := openAt(t, 1280, 720, "/lessons/lagrange/touch")
	p.wait(element(".parts a.current"))
	get[bool](p, "document.documentElement.dataset.left = 'no', true")
	for range get[int](p, partNames+".length") {
		turn(p, kb.ArrowDown)
	}
	p.wait("location.pathname === '/lessons/lagrange/equality' && " + element("h1") + ".id === 'h-equality'")
	turn(p, kb.ArrowUp)
	p.wait("location.pathname === '/lessons/lagrange/touch' && location.hash === '#numbers'")
	get[bool](p, "(history.back(), true)")
	p.wait("location.pathname === '/lessons/lagrange/equality' && " + element("h1") + ".id === 'h-equality'")
	require.Check(t, get[string](p, "document.documentElement.dataset.left") == "no", "a slide came as a new page")
	turn(p, " ") // the demo of the new slide is alive
	p.wait(element("[data-count]") + ".textContent.startsWith('line 2 ')")

	p.size(1024, 768)
	p.visit("/lessons/lagrange/equality#picture") // as after loading it anew: the picture is drawn for the part that is shown
	p.wait("((i) => i.clientWidth > 600 && 12 * i.clientWidth / i.naturalWidth < 20)(" + element(".exhibit .figure img") + ")")
}

// TestMoves plays a game on a slide by its buttons and then by the keyboard: its state is in
// the address.
func TestMoves(t *testing.T) {
	p := openAt(t, 1280, 720, "/lessons/risk/shatter")
	p.wait(element(".parts a.current"))
	p.clickText("[data-move]", "No line does")
	p.wait("location.search === '?calls=n' && " + element(".note") + ".textContent.startsWith('Wrong')")
	p.wait("document.activeElement.textContent === 'Next labelling'")
	p.keys(kb.Enter)
	p.wait("location.search === '?calls=n.' && document.querySelectorAll('[data-move]').length === 2")

	p.visit("/lessons/generalisation?screen=summary#summary")
	p.wait(element("#summary form.live"))
	p.fill("#summary input[name=gamma]", "2")
	p.keys(kb.Enter) // no bet
	p.wait("location.search.includes('gamma=2') && " + answered)
	q := p.query()
	require.Check(t, !q.Has("bets"), "Enter in a field placed the bet %q", q.Get("bets"))
}

// TestStepsComeTogether steps through a replay whose states came together: no step asks
// the server.
func TestStepsComeTogether(t *testing.T) {
	p := openAt(t, 1280, 720, "/lessons/perceptron/dual")
	p.wait("performance.getEntriesByType('resource').some((e) => e.name.endsWith('/dual/states') && e.responseEnd)")
	for k := range 8 {
		turn(p, " ")
		p.wait(element("[data-count]") + ".textContent.startsWith(" + quote(fmt.Sprintf("step %d ", k+1)) + ")")
	}
	n := get[int](p, "performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/dual/live')).length")
	require.Check(t, n == 0, "eight steps asked the server %d times", n)
}

// TestQuickSteps presses a key three times before any state has arrived: as soon as the states are
// there the third step is shown, even while other requests are pending.
func TestQuickSteps(t *testing.T) {
	p := fresh(t)
	p.size(1280, 720)
	call(p, cdp.AddScriptToEvaluateOnNewDocument, cdp.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const real = window.fetch;
		globalThis.late = {};
		for (const name of ["states", "live"]) late[name] = new Promise((come) => (late["let" + name] = come));
		window.fetch = async (url, options) => {
			const name = ["states", "live"].find((n) => String(url).endsWith("/" + n));
			if (name) await Promise.race([late[name], new Promise((_, end) => options.signal?.addEventListener("abort", () => end(options.signal.reason)))]);
			return real(url, options);
		};`})
	p.visit("/lessons/perceptron/dual")
	p.wait(element(".parts a.current"))
	for range 3 {
		clicker(p, " ", "Space", 32, 0)
	}
	got := p.text("[data-count]")
	require.Check(t, strings.HasPrefix(got, "step 0 "), "before anything has arrived it is %s", got)
	const third = `document.querySelector("[data-count]").textContent.startsWith("step 3 ")`
	get[bool](p, "(late.letstates(), true)")
	p.wait(third + " && " + answered)
	get[bool](p, "(late.letlive(), true)")
	clicker(p, " ", "Space", 32, 0)
	p.wait(`document.querySelector("[data-count]").textContent.startsWith("step 4 ")`)
	require.Equal(t, p.text("[data-status]"), "", "the page says")
}

// TestNotes speaks to slides as the second window with the notes does, and to that as the
// slides do: the notes follow the slides, and turn them.
func TestNotes(t *testing.T) {
	p := fresh(t)
	p.size(1280, 720)
	other := func() {
		get[bool](p, `(window.other = new BroadcastChannel("marginlab-slides"), window.told = {}, other.onmessage = (e) => (window.told = e.data), true)`)
	}
	p.teaches()
	p.visit("/lessons/lagrange/touch")
	p.wait(element(".parts a.current"))
	other()
	turn(p, kb.ArrowDown)
	p.wait("told.part === 'words' && told.notes === '/lessons/lagrange/touch/notes'")
	get[bool](p, "(other.postMessage({ key: 'PageDown' }), true)")
	p.wait(element(".parts a.current") + ".hash.startsWith('#ask-')")
	p.part("")
	turn(p, kb.ArrowDown)
	p.wait("told.notes === '/lessons/lagrange/equality/notes' && told.part === 'derivation' && told.step === 'line 1 of 7' && !told.numbers")
	get[bool](p, "(other.postMessage({ key: 'PageDown' }), other.postMessage({ begun: 1 }), true)")
	p.wait(element("[data-count]") + ".textContent.startsWith('line 2 ') && told.step === 'line 2 of 7' && sessionStorage.begun === '1'")

	p.visit("/lessons/lagrange/touch/notes")
	require.Says(t, p.text(".question"), "Answer:", "the notes do not tell the answer")
	other()
	get[bool](p, "(other.postMessage({ notes: location.pathname, part: 'words' }), true)")
	p.wait(element(".shown .current") + "?.dataset.part === 'words'")
	get[bool](p, "(other.postMessage({ notes: location.pathname, part: 'picture', step: 'step 3 of 9', numbers: false }), true)")
	p.wait(element("[data-state]") + ".textContent === 'On the screen: Picture, step 3 of 9'")
	require.Check(t, !p.visible("[data-part=numbers]"), "the notes list numbers where the slide has none")
	p.click("[data-key=PageDown]")
	p.wait("told.key === 'PageDown'")
	clicker(p, " ", "Space", 32, 8)
	p.wait("told.key === ' ' && told.shift")
	get[bool](p, "(other.postMessage({ notes: '/lessons/lagrange/equality/notes', part: 'derivation' }), true)")
	p.wait("location.pathname === '/lessons/lagrange/equality/notes'")
}

// The folded controls of a slide lie over the picture: Escape folds them again, from wherever the focus is in them.
func TestEscapeFoldsControls(t *testing.T) {
	p := openAt(t, 1366, 768, "/lessons/margins/classifier")
	p.wait(element(".folded .slider input[type=range]")) // a script has come
	p.tabTo(".folded summary")
	p.keys(" ")
	p.wait(element(".folded[open]"))
	p.keys(kb.Tab)
	p.wait(`document.activeElement.matches(".folded :is(input, select)")`)
	p.keys(kb.Escape)
	p.wait("!" + element(".folded[open]") + " && document.activeElement === " + element(".folded summary"))
}

// TestPredictionFirst: what gives answers away is folded until the questions of its screen
// are answered, in words and in pictures; a switch shows everything, and without scripts
// the order alone does it.
func TestPredictionFirst(t *testing.T) {
	p := fresh(t)
	p.size(1280, 900)
	p.visit("/lessons/width")
	const words, picture = "#curves [data-after]", "#curves .main-figure img"
	require.Check(t, !p.visible(words), "the words give the answer away")
	require.Says(t, get[string](p, element(picture)+".src"), "asking=1", "the picture gives the answer away")
	require.Check(t, !p.visible("#curves .exhibit-numbers"), "the numbers give the answer away")
	p.click("#curves [data-question] input[value='0']")
	p.click("#curves [data-question] button")
	p.wait(element("#curves .verdict"))
	require.Check(t, !p.visible(words), "the first of two answers unfolds what the second asks for")
	const sketch = "#q-curves-fresh"
	get[bool](p, "("+element(sketch+" [name=answer]")+".value = '0.4 0.4 0.3 0.2 0.1 0.1 0.1 0.2 0.3 0.3', true)")
	p.click(sketch + " button")
	p.wait(element(sketch + " .verdict"))
	p.wait(answered + " && !" + element("#curves [name=asking]") + " && !" + element(picture) + ".src.includes('asking')")
	p.wait("!" + element("#curves[data-folded]"))
	require.Check(t, p.visible(words) && p.visible("#curves .exhibit-numbers"), "after the answer the rest is still folded")
	require.Check(t, !p.visible("#gram [data-after]"), "an answer unfolds another screen")
	p.follow(func() { p.click("[data-switch]") })
	p.wait("location.search.includes('everything=1') && document.readyState === 'complete'")
	require.Check(t, p.visible("#gram [data-after]"), "the switch does not show everything")
	p.follow(func() { p.click("[data-switch]") })
	p.wait("!location.search.includes('everything=1') && document.readyState === 'complete'")
	require.Check(t, !p.visible("#gram [data-after]"), "the switch does not fold again")

	p.visit("/lessons/width/gram")
	p.wait(element(".parts a.current"))
	require.Check(t, !p.visible(".parts [data-after]"), "the slide has a part that gives the answer away")
	turn(p, "e")
	p.wait("!" + element("[data-folded]"))
	p.part("after")
	require.Check(t, p.visible(".words [data-after]"), "the key does not show what is folded")

	plain := open(t, p.server)
	plain.noScript()
	plain.visit("/lessons/width")
	require.Check(t, get[string](plain, element("#gram .afterwards [data-after]")+".textContent") == "" && plain.visible("#gram .fold-note"),
		"without scripts the answer is given away")
	plain.visit("/lessons/width?everything=1")
	require.Check(t, plain.visible("#gram [data-after]"), "without scripts the words are lost")
}

// TestLinesComeAfterTheirQuestions: a clicker reaches a question before the line that answers
// it, and the line after it; on the page to read the line comes up with the answer.
func TestLinesComeAfterTheirQuestions(t *testing.T) {
	p := fresh(t)
	p.size(1024, 768)
	p.visit("/lessons/kernel-trick/xor?step=5")
	p.wait(element(".parts a.current"))
	names := []string{"derivation", "ask-opposite", "ask-vectors", "picture", "words", "numbers"}
	require.Slices(t, get[[]string](p, partNames), names, "the parts are")
	at := func(part, line string) {
		p.t.Helper()
		p.wait(answered + " && " + element(".parts a.current") + ".hash === " + quote("#"+part) + " && " + element("[data-count]") + ".textContent.startsWith(" + quote("line "+line+" ") + ")")
	}
	onward := func() { p.t.Helper(); clicker(p, "PageDown", "PageDown", 34, 0) }
	back := func() { p.t.Helper(); clicker(p, "PageUp", "PageUp", 33, 0) }
	const note = ".derivation .waits .fold-note"
	at("derivation", "2") // the address asks for more than may be seen
	require.Check(t, p.visible(note) && get[bool](p, element("[data-go=end]")+".disabled"), "nothing tells that a line waits")
	onward()
	at("ask-opposite", "2")
	onward() // the room has said its answer
	at("derivation", "3")
	onward()
	at("ask-vectors", "3")
	p.click("#ask-vectors input[value='2']")
	p.click("#ask-vectors button")
	p.wait(element("#ask-vectors .verdict"))
	at("ask-vectors", "4")
	onward()
	at("derivation", "4")
	back()
	at("ask-vectors", "4")
	back()
	at("derivation", "3")
	for _, line := range []string{"3", "4", "5", "6"} {
		if line == "4" {
			onward() // past the question
			at("ask-vectors", "3")
		}
		if line != "3" {
			onward()
		}
		at("derivation", line)
		require.Equal(t, p.visible(".main-figure.turns img"), line == "5", "line %s: the picture can be turned", line)
	}
	p.part("ask-vectors") // a link to a question does not pass the lines before it
	clicker(p, "Home", "Home", 36, 0)
	at("ask-vectors", "1")
	onward()
	at("derivation", "2")
	for range 2 {
		onward()
	}
	at("derivation", "3")
	p.click("[data-go=end]")
	at("derivation", "6")
	onward()
	at("picture", "6")
	back()
	at("derivation", "6")

	p.visit("/lessons/kernel-trick")
	const screen = "#xor"
	step := screen + " [data-go=step]"
	p.wait(element(screen + " .demo.live"))
	count := func(line string) {
		p.t.Helper()
		p.wait(answered + " && " + element(screen+" [data-count]") + ".textContent.startsWith(" + quote("line "+line+" ") + ")")
	}
	p.click(step)
	count("2")
	require.Check(t, get[bool](p, element(step)+".disabled") && p.visible(screen+" .waits .fold-note") && !p.visible(screen+" [data-line=gram] math"),
		"the line does not wait for the answer")
	p.fill("#q-xor-opposite [name=answer]", "1")
	p.click("#q-xor-opposite button")
	const top = "Math.round(document.querySelector('#q-xor-opposite').getBoundingClientRect().top)"
	p.wait(element("#q-xor-opposite .verdict"))
	before := get[int](p, top)
	count("3")
	after := get[int](p, top)
	require.Check(t, after >= before-2 && after <= before+2, "the answer has gone from %d to %d while its line came", before, after)
	require.Check(t, p.visible(screen+" [data-line=gram] math"), "the line has not come with the answer")
	p.click(step) // the second question was answered on the slide
	count("4")

	plain := open(t, p.server)
	plain.noScript()
	plain.visit("/lessons/kernel-trick/xor?step=5")
	require.Check(t, plain.visible(note) && !plain.visible("[data-line=gram] math"), "without scripts the line does not wait")
}

// TestAfresh: after a rehearsal a key folds the questions of a lesson again, and from
// the window with the notes.
func TestAfresh(t *testing.T) {
	p := fresh(t)
	p.size(1280, 720)
	answer := func() {
		p.t.Helper()
		p.part("ask-vectors")
		p.click("#ask-vectors input[value='0']")
		p.click("#ask-vectors button")
		p.wait(element("#ask-vectors .verdict") + " && !" + element("[data-folded]"))
	}
	p.teaches()
	p.visit("/lessons/width/bubbles")
	p.wait(element(".parts a.current"))
	answer()
	turn(p, "a")
	p.wait(element("[data-folded]") + " && !" + element(".verdict") + " && " + element(".parts a.current") + " === " + element(".parts a.part"))

	answer()
	p.visit("/lessons/width/bubbles/notes")
	get[bool](p, `(window.other = new BroadcastChannel("marginlab-slides"), other.onmessage = (e) => (window.told ||= e.data.afresh), true)`)
	p.click("[data-afresh] button")
	p.wait("window.told")
	p.visit("/lessons/width/bubbles")
	p.wait(element(".parts a.current") + " && " + element("[data-folded]") + " && !" + element(".verdict"))
	get[bool](p, "(location.hash = '#ask-vectors', true)")
	answer()
	get[bool](p, `(new BroadcastChannel("marginlab-slides").postMessage({ afresh: true }), true)`)
	p.wait(element(".parts a.current") + ".hash !== '#ask-vectors'")
}
