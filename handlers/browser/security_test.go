package browser

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

// savedRun trains on a built-in set and returns the path of the run.
func savedRun(t *testing.T, c *client, form string) string {
	t.Helper()
	run := c.post(t, "/runs", "data=xor&"+form)
	c.settle(t)
	return run
}

// ownDataset makes a small data set and returns its path.
func ownDataset(t *testing.T, c *client) string {
	t.Helper()
	return c.post(t, "/datasets/generate", "generator=moons&n=40&noise=0.1&seed=3")
}

func TestHeadersOfEveryPage(t *testing.T) {
	t.Parallel()
	c := start(t).client()
	run, set := savedRun(t, c, "C=10"), ownDataset(t, c)
	for path, status := range map[string]int{
		"/": 200, "/lab": 200, "/lab?C=x": 200, "/lab?data=drawing": 200, "/datasets": 200, set: 200, "/runs": 200, run: 200,
		"/compare?run=" + run[6:] + "&run=" + run[6:]: 200, "/compare": 422, "/settings": 200, "/nowhere": 404, "/runs/nothing": 404, "/lab?data=nothing": 404,
		"/api/openapi.json": 200, "/api/runs": 200, "/api/nowhere": 404,
	} {
		a := c.get(t, path)
		require.Equal(t, a.StatusCode, status, "%s: status", path)
		policy := a.Header.Get("Content-Security-Policy")
		for _, must := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			require.Check(t, strings.Contains(policy, must), "%s: policy %q without %s", path, policy, must)
		}
		require.Check(t, !strings.Contains(policy, "unsafe") && !strings.Contains(policy, "http"), "%s: policy %q", path, policy)
		require.Check(t, a.Header.Get("X-Content-Type-Options") == "nosniff", "%s: no nosniff", path)
		require.Check(t, strings.Contains(a.Header.Get("Cache-Control"), "private") || strings.Contains(a.Header.Get("Cache-Control"), "no-"),
			"%s: Cache-Control %q", path, a.Header.Get("Cache-Control"))
		page := require.Value(goquery.NewDocumentFromReader(strings.NewReader(a.body)))(t)
		n := page.Find("[style], [onclick], style, script:not([src])").Length()
		require.Check(t, n <= 0, "%s: %d inline styles or scripts", path, n)
	}
}

func TestAnotherWorkspaceSeesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	own, other := s.client(), s.client()
	run, set := savedRun(t, own, ""), ownDataset(t, own)
	paths := []string{
		run, run + "/figures/boundary.svg", run + "/figures/boundary.png", run + "/model.json", run + "/predictions.csv", "/api" + run, "/api" + run + "/model.json",
		set, set + ".csv", set + "/figures/points.svg", "/lab?data=" + set[10:], "/lab?data=run-" + run[6:], "/lab/figures/boundary.svg?data=" + set[10:],
		"/compare?run=" + run[6:] + "&run=" + run[6:], "/compare/figures/overlay.svg?run=" + run[6:] + "&run=" + run[6:], "/api" + set, "/api" + set + ".csv",
	}
	for _, path := range paths {
		require.Equal(t, own.get(t, path).StatusCode, 200, "the owner gets … for %s", path)
		require.Equal(t, other.get(t, path).StatusCode, 404, "another workspace gets … for %s", path)
	}
	require.Equal(t, other.get(t, run+"/events").StatusCode, 404, "another workspace gets … for the events")
	for _, path := range []string{run, run + "/delete", run + "/share", run + "/cancel", set, set + "/delete", set + "/rows"} {
		a := other.do(t, "POST", path, "name=mine&rows=x")
		require.Check(t, a.StatusCode == 404, "another workspace gets %d for POST %s", a.StatusCode, path)
	}
	other.do(t, "POST", "/runs/delete", "run="+run[6:])
	require.Equal(t, own.get(t, run).StatusCode, 200, "another workspace could delete a run")
	body := other.get(t, "/runs").body + other.get(t, "/datasets").body + other.get(t, "/").body
	require.Check(t, !strings.Contains(body, run) && !strings.Contains(body, set), "the lists of another workspace name the run or the data set")
}

func TestSharedLinkReadsOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.client()
	run := savedRun(t, c, "name=shown")
	c.post(t, run+"/share", "")
	page, err := goquery.NewDocumentFromReader(strings.NewReader(c.get(t, run).body))
	require.NoError(t, err)
	link, _ := page.Find("#h-share ~ p .share").Attr("value")
	shared, ok := strings.CutPrefix(link, s.url)
	require.Must(t, ok && strings.HasPrefix(shared, "/shared/") && len(shared) >= len("/shared/")+22, "the link is %q", link)
	require.Check(t, !strings.Contains(shared, run[6:]), "the link holds the id of the run")

	visitor := s.client()
	a := visitor.get(t, shared)
	require.Must(t, a.StatusCode == 200 && strings.Contains(a.body, "shown"), "the link answers %d", a.StatusCode)
	page = require.Value(goquery.NewDocumentFromReader(strings.NewReader(a.body)))(t)
	n := page.Find("form, button:not([type=button])").Length()
	require.Check(t, n <= 0, "%d forms and buttons that send something on a shared page", n)
	figure, _ := page.Find(".stage img").Attr("src")
	f := visitor.get(t, figure)
	require.Check(t, f.StatusCode == 200 && f.Header.Get("Content-Type") == "image/svg+xml", "its picture %s answers %d", figure, f.StatusCode)
	for _, path := range []string{shared, shared + "/delete", shared + "/share"} {
		a := visitor.do(t, "POST", path, "name=x")
		require.Check(t, a.StatusCode == 404 || a.StatusCode == 405, "POST %s answers %d", path, a.StatusCode)
	}
	require.Equal(t, visitor.get(t, run).StatusCode, 404, "with the link the run itself answers")
	c.post(t, run+"/unshare", "")
	require.Equal(t, visitor.get(t, shared).StatusCode, 404, "a withdrawn link answers")
}

// Everything a person types comes back as text.
func TestNamesAreEscaped(t *testing.T) {
	p := fresh(t)
	const evil = `"><script>document.title="pwned"</script><img src=x onerror='document.title="pwned"'>`
	p.upload(require.File(t, "evil.csv", "a,b,label\n0,0,<script>document.title='pwned'</script>\n1,0,no\n0,2,\"<b>\"\"yes\"\n1,2,no\n0,1,<script>document.title='pwned'</script>\n"))
	p.fill("#f-rename", evil)
	p.follow(func() { p.clickText("button", "Rename") })
	require.Equal(t, p.text("h1"), evil, "the data set is called")
	p.follow(func() { p.clickText(".button", "Open in lab") })
	p.picture(".stage img")
	run := p.save(evil)
	p.fill("#f-tags", "<b onclick=alert(1)>")
	p.fill("#f-note", evil)
	p.follow(func() { p.clickText("button", "Save changes") })
	require.Equal(t, p.value("#f-note"), evil, "the note came back as")
	for _, path := range []string{"/", "/runs", "/datasets", run, "/compare?run=" + run[6:] + "&run=" + run[6:], "/runs?q=%3Cscript%3Edocument.title=1%3C/script%3E"} {
		p.visit(path)
		n := get[int](p, `document.querySelectorAll("script:not([src]), img[onerror]").length`)
		require.Check(t, n <= 0 && get[string](p, "document.title") != "pwned", "%s: what was typed became part of the page", path)
	}
	p.expect("favicon.ico") // a picture names no icon
	for _, svg := range []string{"/runs/" + run[6:] + "/figures/boundary.svg", "/compare/figures/overlay.svg?run=" + run[6:] + "&run=" + run[6:]} {
		p.do(chromedp.Navigate(p.base + svg)) // opened by itself it is a document
		require.Check(t, get[int](p, `document.querySelectorAll("script").length`) <= 0, "%s holds a script", svg)
	}
}
