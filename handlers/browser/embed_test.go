package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

// The HTML that a lesson gives shows its demo as it is, in a page of another site, and
// there it follows its controls.
func TestEmbed(t *testing.T) {
	p := fresh(t)
	p.visit("/lessons/margins")
	p.picture("#line .stage img")
	p.fill("#f-line-b", "0.5")
	p.wait(`document.querySelector("#line .embed textarea").value.includes("b=0.5")`)
	p.click("#line .embed summary")
	p.click("#line .embed button")
	p.wait(`document.querySelector("#line .embed [role=status]").textContent === "copied"`)
	html := get[string](p, `document.querySelector("#line .embed textarea").value`)
	require.Check(t, !strings.Contains(html, `height="900"`), "it was copied before its height was known")
	require.Must(t, strings.Contains(html, "/embed/margins/line?b=0.5"), "the HTML is %s", html)

	p.elsewhere(fmt.Sprintf(`<!doctype html><title>Elsewhere</title><img src="%s/embed/margins/line/figures/first.svg">%s`, p.base, html)) // a refusal to be framed is a fault of the page
	p.wait(`document.querySelector("img").naturalWidth > 0`)

	// It says its height, and the page follows, also when that changes with the width.
	for _, width := range []int64{1000, 420} {
		p.size(width, 700)
		get[bool](p, `(document.querySelector("iframe").height = 50, document.querySelector("iframe").style.width = "`+strconv.FormatInt(width-40, 10)+`px", true)`)
		p.wait(`document.querySelector("iframe").height > 300`)
	}

	// The frame is as high as its content.
	_, text, _ := strings.Cut(html, `height="`)
	text, _, _ = strings.Cut(text, `"`)
	height, err := strconv.Atoi(text)
	require.Must(t, err == nil, "the HTML is %s", html)
	for _, width := range []int64{640, 1000} {
		p.size(width, int64(height))
		p.visitStage("/embed/margins/line?b=0.5")
		over := get[float64](p, `document.documentElement.scrollHeight - innerHeight`)
		require.Check(t, over <= 0, "in a frame of %d by %d pixels %g are out of sight", width, height, over)
		bottom := get[float64](p, `document.querySelector("main").getBoundingClientRect().bottom`)
		require.Check(t, bottom >= float64(height)*0.8, "in a frame of %d by %d pixels the page ends at %g", width, height, bottom)
	}
	src := get[string](p, `document.querySelector(".stage img").src`)
	p.change(func() { p.fill("#f-line-b", "-0.5") })
	p.wait(fmt.Sprintf(`document.querySelector(".stage img").src !== %q && location.search === "?b=-0.5"`, src))
	p.run("embed", func() { p.inspect("embed", "/embed/margins/line?b=0.5", p.server.client()) })
}

// elsewhere shows a page of another site.
func (p *page) elsewhere(html string) {
	p.t.Helper()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/favicon.ico" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = io.WriteString(w, html)
	}))
	p.t.Cleanup(other.Close)
	p.do(chromedp.Navigate(strings.Replace(other.URL, "127.0.0.1", "localhost", 1)))
}
