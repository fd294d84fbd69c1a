package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// page is a tab with cookies of its own. Errors on its console, exceptions and
// violations of the content security policy fail the test.
type page struct {
	t      *testing.T
	ctx    context.Context
	leave  context.CancelFunc
	server *server
	base   string
	as     *client // in whose workspace it works; nil: in its own

	mu       sync.Mutex
	faults   []string
	expected []string
	bare     bool // scripts are off
}

// run makes a subtest of what the tab does next.
func (p *page) run(name string, test func()) {
	p.t.Helper()
	p.t.Run(name, func(t *testing.T) { p.within(t, test) })
}

// within does something in a subtest, which fails for the faults of the tab meanwhile.
func (p *page) within(t *testing.T, test func()) {
	t.Helper()
	whole := p.t
	p.t = t
	defer func() { p.t = whole }()
	defer p.complain()
	test()
}

// complain fails the test for the faults since the last call that nobody expected.
func (p *page) complain() {
	for _, f := range p.takeFaults() {
		p.t.Errorf("console: %s", f)
	}
}

func needBrowser(t *testing.T) {
	t.Helper()
	if chrome == nil {
		missing(t, "no Chromium found: browser tests need chromium or google-chrome in PATH")
	}
}

func (p *page) listen(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		p.fault(text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			args, _ := json.Marshal(e.Args)
			p.fault(string(args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.fault(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *cdppage.EventJavascriptDialogOpening:
		go chromedp.Call(p.ctx, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: true})
	}
}

func (p *page) fault(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, text)
}

// expect takes complaints that contain text for what the test is about.
func (p *page) expect(text string) { p.expected = append(p.expected, text) }

// takeFaults returns the complaints since the last call that nobody expected.
func (p *page) takeFaults() (bad []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
faults:
	for _, f := range p.faults {
		for _, e := range p.expected {
			if strings.Contains(f, e) {
				continue faults
			}
		}
		bad = append(bad, f)
	}
	p.faults = nil
	return bad
}

// limited bounds a wait for what may never come, so that the test says what it
// waits for before go test ends all of them. It measures nothing: what comes is
// taken whenever it comes.
func (p *page) limited() (context.Context, context.CancelFunc) {
	patience := 3 * time.Minute
	if end, ok := p.t.Deadline(); ok {
		patience = min(patience, time.Until(end)-20*time.Second)
	}
	return context.WithTimeout(p.ctx, patience)
}

// do runs actions that must succeed.
func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	err := chromedp.Do(ctx, actions...)
	require.Must(p.t, err == nil, "%v\non %s", err, p.where())
}

// visit goes to a path, or to a place of the page that is open, and waits until it is loaded.
func (p *page) visit(path string) {
	p.t.Helper()
	there := func() { p.do(chromedp.Navigate(p.base + path)) }
	if page, _, place := strings.Cut(path, "#"); place && get[bool](p, "location.pathname + location.search === "+quote(page)) {
		there()
		return
	}
	p.follow(there) // the action alone takes a change of the former address by a script for the arrival
}

// try evaluates an expression and decodes its value. It does not look into
// promises, because those do not run on a page without scripts.
func try[T any](p *page, js string) (T, error) {
	ctx, cancel := p.limited()
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](js))
}

// get is try for what must work.
func get[T any](p *page, js string) T {
	p.t.Helper()
	v, err := try[T](p, js)
	require.Must(p.t, err == nil, "%s: %v", js, err)
	return v
}

func (p *page) where() string {
	at, _ := try[string](p, "location.href")
	return at
}

// query is the query of the address.
func (p *page) query() url.Values {
	p.t.Helper()
	return require.Value(url.ParseQuery(get[string](p, "location.search.slice(1)")))(p.t)
}

// wait looks again and again until a condition holds, also over the loading of a
// new page.
func (p *page) wait(js string) {
	p.t.Helper()
	p.until(js, func() (bool, error) { return try[bool](p, "Boolean("+js+")") })
}

// until calls holds until it returns true; what names the awaited condition.
func (p *page) until(what string, holds func() (bool, error)) {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		ok, err := holds()
		if ok {
			return
		}
		select {
		case <-time.After(pause): // leaves the processor to the awaited work
		case <-ctx.Done():
			body, _ := try[string](p, `document.body.innerText.replace(/\s+/g, " ").slice(0, 1500)`)
			p.t.Fatalf("waited in vain for %s (%v)\non %s\npictures missing: %v\n%s\nend of the server's log:\n%s", what, err, p.where(), p.missing(), body, tail(p.server.log, 2000))
		}
	}
}

// missing are the pictures that are not there.
func (p *page) missing() []string {
	list, _ := try[[]string](p, "[...document.images].filter((i) => !(i.complete && i.naturalWidth > 0)).map((i) => i.currentSrc.slice(0, 200))")
	return list
}

// follow does something that leads to another page and waits until that is loaded.
func (p *page) follow(act func()) {
	p.t.Helper()
	get[bool](p, "document.documentElement.dataset.left = 'yes', true")
	act()
	p.wait("document.readyState === 'complete' && document.documentElement.dataset.left === undefined && location.protocol.startsWith('http')")
}

// number makes a JavaScript number.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// quote makes a JavaScript string.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// element is the JavaScript of the first element that matches a selector.
func element(css string) string { return "document.querySelector(" + quote(css) + ")" }

// text returns the text of an element.
func (p *page) text(css string) string {
	p.t.Helper()
	p.wait(element(css))
	return get[string](p, element(css)+".textContent.trim().replace(/\\s+/g, ' ')")
}

// value returns the value of a field.
func (p *page) value(css string) string {
	p.t.Helper()
	return get[string](p, element(css)+".value")
}

// visible reports whether an element takes up room.
func (p *page) visible(css string) bool {
	p.t.Helper()
	return get[bool](p, "Boolean("+element(css)+"?.getClientRects().length)")
}

// point is a place in the window.
type point struct{ X, Y float64 }

// frame is longer than a page takes from one picture to the next: what moves does so in each.
const frame = 17 * time.Millisecond

// reach scrolls to an element, as little as need be, and returns its middle once
// that rests and nothing else covers it.
func (p *page) reach(css string) point {
	p.t.Helper()
	p.wait(element(css) + "?.getClientRects().length")
	type place struct {
		point
		Cover string
	}
	var at place
	var since time.Time
	p.until(css+" at rest", func() (bool, error) {
		was := at
		var err error
		at, err = try[place](p, `(() => {
			const e = `+element(css)+`;
			const middle = () => { const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; };
			const over = () => { const o = document.elementFromPoint(...middle()); return o === e || e.contains(o) || o?.closest("label")?.control === e ? "" : o ? o.outerHTML.slice(0, 200) : "the edge of the window"; };
			if (over()) e.scrollIntoView({ block: "center", behavior: "instant" });
			const [X, Y] = middle();
			return { X, Y, Cover: over() };
		})()`)
		if err == nil && at.Cover != "" {
			err = fmt.Errorf("covered by %s", at.Cover)
		}
		if at != was {
			since = time.Now()
		}
		return err == nil && at == was && time.Since(since) > frame, err
	})
	return at.point
}

// click presses the mouse on an element. Where what came in the meantime has moved the
// element from under the mouse, it presses again, as people do.
func (p *page) click(css string) {
	p.t.Helper()
	for range 3 {
		at := p.reach(css)
		get[bool](p, `((e, all) => {
			all.dataset.missed = "";
			addEventListener("pointerdown", (press) => {
				const [met] = press.composedPath();
				if (met === e || e.contains(met) || met.closest?.("label")?.control === e) delete all.dataset.missed;
			}, { capture: true, once: true });
		})(`+element(css)+`, document.documentElement), true`)
		p.do(chromedp.MouseClickXY(at.X, at.Y))
		if missed, err := try[bool](p, `document.documentElement.dataset.missed !== undefined`); p.bare || err != nil || !missed {
			return
		}
	}
	p.t.Logf("the mouse missed %s three times", css)
}

// clickText clicks the first of the matching elements that reads text.
func (p *page) clickText(css, text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%s)].find((e) => e.textContent.trim() === %s)", quote(css), quote(text))
	p.wait(find)
	get[bool](p, `(document.querySelector("[data-wanted]")?.removeAttribute("data-wanted"), `+find+`.setAttribute("data-wanted", ""), true)`)
	p.click("[data-wanted]")
}

// keys presses keys, one after the other, with modifiers held down.
func (p *page) keys(keys string, held ...chromedp.Modifier) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(held...)))
}

// tabTo comes to an element by the Tab key: from the one behind it in the tab order, back.
func (p *page) tabTo(css string) {
	p.t.Helper()
	get[bool](p, "("+element(css)+".focus(), true)")
	p.keys(kb.Tab)
	p.keys(kb.Tab, chromedp.ModifierShift)
	p.wait(element(css) + " === document.activeElement")
}

// fill types into a field in place of what it holds.
func (p *page) fill(css, text string) {
	p.t.Helper()
	p.wait(element(css))
	get[bool](p, "("+element(css)+".focus(), "+element(css)+".select(), true)")
	if text == "" {
		p.keys("\b")
		return
	}
	p.keys(text)
}

// choose sets a select as the keyboard does.
func (p *page) choose(css, value string) {
	p.t.Helper()
	p.wait(element(css))
	if !get[bool](p, fmt.Sprintf(`(() => {
		const s = %s, before = s.value;
		s.focus();
		s.value = %s;
		if (s.value !== before) for (const kind of ["input", "change"]) s.dispatchEvent(new Event(kind, { bubbles: true }));
		return s.selectedIndex >= 0;
	})()`, element(css), quote(value))) {
		p.t.Fatalf("%s has no option %q", css, value)
	}
}

// size sets the window's inner size.
func (p *page) size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
	p.wait(fmt.Sprintf("innerWidth === %d && innerHeight === %d", width, height))
}

// theme prefers "light" or "dark".
func (p *page) theme(name string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// noScript turns scripts off for the pages to come.
func (p *page) noScript() {
	p.t.Helper()
	p.bare = true
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// picture waits until the picture that css matches is loaded.
func (p *page) picture(css string) {
	p.t.Helper()
	p.wait("(i => i?.complete && i.naturalWidth > 0)(" + element(css) + ")")
}

// visitStage visits a page and waits for its large picture.
func (p *page) visitStage(path string) {
	p.t.Helper()
	p.visit(path)
	p.picture(".stage img")
}

// reload loads the page again and waits for its large picture.
func (p *page) reload() {
	p.t.Helper()
	p.do(chromedp.Reload())
	p.picture(".stage img")
}

// fresh opens a tab on a server of its own, with more flags, for a parallel test.
func fresh(t *testing.T, flags ...string) *page {
	t.Helper()
	t.Parallel()
	return open(t, start(t, flags...))
}

// openAt visits a page of a fresh server in a window of this size.
func openAt(t *testing.T, width, height int64, path string) *page {
	t.Helper()
	p := fresh(t)
	p.size(width, height)
	p.visit(path)
	return p
}

// drag presses the mouse at a place, moves it over others and releases it at the last.
func (p *page) drag(from point, over ...point) {
	p.t.Helper()
	p.do(chromedp.MouseEvent(chromedp.MousePressed, from.X, from.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	for _, at := range over {
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y, chromedp.ButtonLeft))
		from = at
	}
	p.do(chromedp.MouseEvent(chromedp.MouseReleased, from.X, from.Y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
}

// finger drags with one finger from the middle of an element.
func (p *page) finger(css string, by, down float64) {
	p.t.Helper()
	at := p.reach(css)
	touch := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
	}
	touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: at.X, Y: at.Y})
	for k := range 5 {
		touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: at.X + by*float64(k+1)/5, Y: at.Y + down*float64(k+1)/5})
	}
	touch(input.DispatchTouchEventTypeTouchEnd)
}

// call sends a command of the protocol to the tab.
func call[P, R any](p *page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	require.Must(p.t, err == nil, "%s: %v", command.Method, err)
	return r
}
