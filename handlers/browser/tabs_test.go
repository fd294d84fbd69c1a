package browser

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

// tabs are those that no test uses now. A new one costs two processes, and the second compiles
// all scripts again.
var tabs = make(chan target.ID, 100)

// open takes a tab to a server: one that another test has released, or else a new one. Without a
// browser it skips the test.
func open(t *testing.T, s *server) *page {
	t.Helper()
	needBrowser(t)
	var p *page
	select {
	case id := <-tabs:
		p = attach(t, s, chromedp.WithTargetID(id))
	default:
		p = attach(t, s, chromedp.WithNewBrowserContext())
	}
	t.Cleanup(func() {
		p.complain()
		if t.Failed() {
			p.close()
			return
		}
		tabs <- p.release()
	})
	return p
}

// attach begins a session with a tab.
func attach(t *testing.T, s *server, tab chromedp.ContextOption) *page {
	t.Helper()
	ctx, leave := chromedp.NewContext(chrome, tab, chromedp.WithDetachOnCancel())
	t.Cleanup(leave)
	p := &page{t: t, ctx: ctx, leave: leave, server: s, base: s.url}
	require.NoError(t, chromedp.Listen(ctx, p.listen))
	for _, command := range []cdp.Command[cdp.Empty, cdp.Empty]{
		cdppage.ResetNavigationHistory,
		dom.Disable, css.Disable, network.Disable, // reports of every node, style sheet and request, which chromedp asks for and no test reads
	} {
		call(p, command, cdp.Empty{})
	}
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return p
}

func (p *page) id() target.ID { return chromedp.FromContext(p.ctx).Target.TargetID }

// close ends a tab that no other test may have.
func (p *page) close() {
	chromedp.CallBrowser(p.ctx, target.CloseTarget, target.CloseTargetParams{TargetID: p.id()})
}

// release removes what pages have stored, and ends the session, with which goes what the protocol
// has set. It returns the tab.
func (p *page) release() target.ID {
	p.t.Helper()
	get[bool](p, `(() => { try { localStorage.clear(); sessionStorage.clear(); } catch {} return true; })()`) // some pages may not
	p.do(chromedp.Navigate("about:blank"))
	for _, clear := range []cdp.Command[cdp.Empty, cdp.Empty]{network.ClearBrowserCookies, network.ClearBrowserCache} {
		call(p, clear, cdp.Empty{})
	}
	p.leave()
	return p.id()
}

// A tab that was released is as a new one.
func TestTabsAreReleased(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := start(t)
	const state = `JSON.stringify([innerWidth, innerHeight, matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("(pointer: coarse)").matches, navigator.maxTouchPoints,
		history.length, document.cookie, localStorage.length, sessionStorage.length, globalThis.left ?? "", document.documentElement.dataset.left ?? ""])`
	p := attach(t, s, chromedp.WithNewBrowserContext())
	p.visit("/lab")
	fresh := get[string](p, state)

	p.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateTouch, chromedp.EmulateMobile))
	p.theme("dark")
	call(p, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `globalThis.left = "a script"`})
	p.visit("/")
	get[string](p, `document.cookie = localStorage.left = sessionStorage.left = "left=behind"`)
	p.visit("/lab")
	require.Check(t, get[string](p, state) != fresh, "nothing has changed: %s", fresh)
	p.noScript()

	p = attach(t, s, chromedp.WithTargetID(p.release()))
	p.visit("/lab")
	require.Equal(t, get[string](p, state), fresh, "a tab that was released")
	p.wait(element("[data-field=C] input[type=range]")) // which a script makes
	p.complain()
	p.close()
}
