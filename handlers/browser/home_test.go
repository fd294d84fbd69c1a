package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestHome drags the C of the first picture: the picture follows, the way to the lab leads to
// the same C; without a script the form does it. On return a browser finds its own work.
func TestHome(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s)
	p.visit("/")
	p.picture(".alive img")
	shown := get[string](p, `document.querySelector(".alive img").currentSrc`)
	get[bool](p, `(document.querySelector("#f-home-c").focus(), true)`)
	for range 6 {
		p.keys(kb.ArrowRight)
	}
	p.wait(`(i => i.currentSrc.includes("C=316&") && i.complete && i.naturalWidth > 0)(document.querySelector(".alive img"))`)
	if now := get[string](p, `document.querySelector(".alive img").currentSrc`); now == shown {
		t.Error("the picture is the same")
	}
	if text := p.text(".alive output"); text != "C = 316" {
		t.Errorf("it says %q", text)
	}
	p.follow(func() { p.click(".intro-picture") })
	if c := p.query().Get("C"); c != "316" {
		t.Errorf("the lab opens with C = %s", c)
	}

	plain := open(t, s)
	plain.noScript()
	plain.visit("/?c=-4")
	plain.picture(".alive img")
	if text := plain.text(".alive output"); text != "C = 0.1" {
		t.Errorf("without a script: %q", text)
	}
	if text := plain.text("main"); !strings.Contains(text, "Used Margin Lab in another browser") {
		t.Error("nothing says how to come back")
	}
}
