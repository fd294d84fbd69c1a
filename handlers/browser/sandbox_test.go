package browser

import (
	"fmt"
	"net/http"
	"testing"
)

// TestSandbox: a demo runs in a frame with the sandbox attributes that learning platforms set,
// also where the frame has no origin: its script says its height.
func TestSandbox(t *testing.T) {
	p := fresh(t)
	frames := map[string]string{
		"platform": "allow-scripts allow-forms allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation",
		"strict":   "allow-scripts",
	}
	html := `<!doctype html><title>Platform</title><script>window.heights = {};
		addEventListener("message", (e) => { for (const f of document.querySelectorAll("iframe")) if (f.contentWindow === e.source && e.data.marginlabHeight) heights[f.id] = e.data.marginlabHeight; });</script>`
	for id, sandbox := range frames {
		html += fmt.Sprintf(`<iframe id=%s sandbox="%s" width=700 height=400 src="%s/embed/margins/line?b=0.5"></iframe>`, id, sandbox, p.base)
	}
	p.elsewhere(html)
	for id := range frames {
		p.wait(`heights.` + id + ` > 300`)
	}

	// The demo follows its controls without an origin, too.
	form := "b=-0.5&screen=line"
	a := p.server.client().do(t, "POST", "/embed/margins/line/live", form, func(r *http.Request) {
		r.Header.Set("Origin", "null")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	})
	if a.StatusCode != 200 || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("status %d, %v", a.StatusCode, a.Header)
	}
}
