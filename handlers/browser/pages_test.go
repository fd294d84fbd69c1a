package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

// screenshots is the folder to write pictures of every page to; empty: none.
var screenshots = os.Getenv("MARGINLAB_SCREENSHOTS")

// heights of windows by their width.
var heights = map[int64]int64{360: 740, 1280: 800, 1920: 1080}

// use leaves the page, which would ask the server without a cookie and be given another, and works
// in the workspace of a client, and in no other. A tab that does so already stays as it is.
func (p *page) use(c *client) {
	p.t.Helper()
	if p.as == c {
		return
	}
	p.as = c
	p.do(chromedp.Navigate("about:blank"))
	c.get(p.t, "/settings")
	at := require.Value(url.Parse(c.server.url))(p.t)
	p.server, p.base = c.server, c.server.url
	call(p, network.ClearBrowserCookies, cdp.Empty{})
	for _, k := range c.http.Jar.Cookies(at) {
		call(p, network.SetCookie, network.SetCookieParams{Name: k.Name, Value: k.Value, URL: c.server.url, HTTPOnly: new(true)})
	}
}

// TestPages looks at pages: nothing wider than the window, nothing that axe-core finds
// serious. With the build tag walks these are all, and otherwise one of each template.
func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.client()
	const conformal = "data=iris-versicolor-virginica&conformal=gradient&C=10&test_fraction=0.3"
	set := c.post(t, "/datasets/generate", "generator=spiral&n=120&noise=0.1&seed=1")
	dna := c.post(t, "/datasets/generate", "generator=dna&n=40&length=60&classes=2&motif=6&copies=2&noise=0.1&share=1&seed=1")
	iris := c.post(t, "/runs", "data=iris&on=all&x=petal_length&y=petal_width&test_fraction=0.3&name=Iris+by+all+features")
	run := c.post(t, "/runs", conformal+"&name=Reshaped+kernel")
	c.post(t, run, "name=Reshaped+kernel&tags=demo,iris&note=Held-out+accuracy+looks+better.%0AIs+it%3F")
	c.post(t, run+"/share", "")
	_, shared, _ := strings.Cut(c.get(t, run).body, s.url+"/shared/")
	shared, _, _ = strings.Cut(shared, `"`)
	plain := c.post(t, "/runs", "data=moons&C=10&gamma=2&test_fraction=0.3")
	search := c.post(t, "/searches", "data=moons&search.C=0.01,0.1,1,10,100,1000,10000&search.gamma=0.1,1,1000&search.nested=true")
	study := c.post(t, "/studies", "data=moons&data=xor&learner=SVM&learner=MCM&folds=3&max_rows=40")
	c.settle(t)
	c.get(t, search+"/events")
	report := strings.TrimSuffix(c.post(t, "/reports/add", "address="+run), "/edit")
	c.post(t, report, "title=Findings&text=Is+$x^2$+enough?+"+strings.Repeat("long", 20)+"%0A%0A![Reshaped]("+run+")%0A%0A![]("+search+")")
	c.post(t, "/links", "data=moons&C=3")
	mapping := c.upload(t, "people.csv", "name,height,weight,age,member\nAda,1.65,55,31,yes\nBob,1.80,82,44,no\nCyd,1.71,60,27,yes\n")

	pages := []looked{
		{"home", "/", c},
		{"lab", "/lab?data=moons&C=10&gamma=2", c},
		{"lab-wrong", "/lab?data=moons&C=-1&gamma=two", c},
		{"drawing", "/lab?data=drawing", c},
		{"datasets", "/datasets", c},
		{"dataset", set, c},
		{"dataset-strings", dna + "?row=3", c},
		{"lab-strings", "/lab?data=dna&k=4&try=GATTACA", c},
		{"mapping", mapping, c},
		{"runs", "/runs", c},
		{"runs-empty", "/runs", s.client()},
		{"run", run, c},
		{"searches", "/searches", c},
		{"search", search, c},
		{"change", plain + "/change", c},
		{"path", "/path?data=moons&C=10&gamma=2", c},
		{"studies", "/studies", c},
		{"study-new", "/studies/new", c},
		{"study", study, c},
		{"reports", "/reports", c},
		{"report", report, c},
		{"report-edit", report + "/edit", c},
		{"compare", "/compare?run=" + run[6:] + "&run=" + iris[6:] + "&diff=1", c},
		{"settings", "/settings", c},
		{"links", "/links", c},
		{"api-docs", "/api/docs", c},
		{"shared", "/shared/" + shared, s.client()},
		{"error", "/runs/nothing", c},
	}
	if walks {
		versions := c.post(t, "/compare/versions", "data=moons&gamma=2&C=10&test_fraction=0.3")
		learning := c.post(t, "/searches", "data=moons&search.learning=true")
		drawn := c.post(t, "/searches", "data=moons&kernel=poly&search.C=0.01..1000&search.degree=1..5&search.kernel=poly&search.kernel=rbf&search.design=random&search.points=20&search.folds=2")
		c.settle(t)
		c.get(t, learning+"/events")
		c.get(t, drawn+"/events")
		pages = append(pages, []looked{
			{"lab-heat", "/lab?data=circles&show=heat&slack=true", c},
			{"lab-ridge", "/lab?data=moons&learner=ridge&lambda=0.01", c},
			{"lab-values", "/lab?data=hill&lambda=0.1&test_fraction=0.3", c},
			{"lab-conformal", "/lab?" + conformal, c},
			{"lab-features", "/lab?data=iris&x=pca", c},
			{"datasets-empty", "/datasets", s.client()},
			{"run-features", iris, c},
			{"learning", learning, c},
			{"search-drawn", drawn, c},
			{"study-file", "/studies/new?as=file&data=moons&learner=SVM", c},
			{"compare-versions", versions, c},
		}...)
	}
	inspectAll(t, s, pages)
}

// looked is a page to inspect, in the workspace of a client.
type looked struct {
	name, path string
	as         *client
}

// inspectAll inspects pages of a server in two tabs, each in a subtest.
func inspectAll(t *testing.T, s *server, pages []looked) {
	t.Helper()
	free := make(chan *page, 2)
	for range cap(free) {
		free <- open(t, s)
	}
	for _, page := range pages {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			p := <-free
			defer func() { free <- p }()
			p.within(t, func() { p.inspect(page.name, page.path, page.as) })
		})
	}
}

func TestPagePending(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	c := start(t).client()
	id := strings.TrimPrefix(c.post(t, "/datasets/generate", "generator=checkerboard&n=20000&noise=0.4&seed=1"), "/datasets/")
	open(t, c.server).inspect("run-pending", c.post(t, "/runs", url.Values{"data": {id}, "name": {"A long one"}}.Encode()+"&"+long), c)
}

// inspect checks one page, which is loaded once: a window that changes its width and
// a theme that changes while somebody reads must serve as well as a new page. Themes
// differ in colours, which no width changes; the widest window and a second look at
// all that is no colour and no place are left to the walks.
func (p *page) inspect(name, path string, as *client) {
	p.t.Helper()
	p.use(as)
	p.expect("404")
	p.expect("422")
	axe := accessibilityChecker(p.t)
	widths := map[string][]int64{"light": {360}, "dark": {1280}}
	if walks || screenshots != "" {
		widths["light"] = []int64{1920, 360, 1280}
	}
	if screenshots != "" {
		widths["dark"] = widths["light"]
	}
	p.theme("light")
	p.size(widths["light"][0], heights[widths["light"][0]])
	p.visit(path)
	for _, theme := range []string{"light", "dark"} {
		p.switchTheme(theme)
		for _, width := range widths[theme] {
			p.size(width, heights[width])
			p.loaded()
			p.fits(width)
			p.shoot(fmt.Sprintf("%s-%d-%s", name, width, theme))
			if axe != "" && (theme == "light") == (width == 360) { // each theme and each arrangement once
				var rules []string
				if theme == "dark" && !walks {
					rules = []string{"color-contrast", "link-in-text-block", "target-size"}
				}
				p.accessible(axe, fmt.Sprintf("%s, %d px", theme, width), rules...)
			}
		}
	}
	if axe == "" {
		p.t.Skip("accessibility not checked: MARGINLAB_AXE must name the axe.min.js of axe-core (npm install axe-core)")
	}
}

// switchTheme changes the theme below a page, and waits until its scripts have seen and
// answered that.
func (p *page) switchTheme(theme string) {
	p.t.Helper()
	if get[bool](p, `((wanted) => {
		globalThis.turned = wanted.matches;
		wanted.addEventListener("change", () => globalThis.turned = wanted.matches);
		return turned;
	})(matchMedia("(prefers-color-scheme: `+theme+`)"))`) {
		return
	}
	p.theme(theme)
	p.wait("globalThis.turned && " + answered)
}

// accessibilityChecker is the source of axe-core; empty when there is none.
func accessibilityChecker(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MARGINLAB_AXE")
	if path == "" {
		require.Must(t, os.Getenv("CI") != "true", "MARGINLAB_AXE must name the axe.min.js of axe-core")
		return ""
	}
	return string(require.Value(os.ReadFile(path))(t))
}

// loaded waits for all pictures, including those that would load when scrolled to and those that
// an answer brings while it waits.
func (p *page) loaded() {
	p.t.Helper()
	var broken []string
	p.until("all pictures", func() (bool, error) {
		state, err := try[struct {
			Ready  bool
			Broken []string
		}](p, `(() => {
			document.querySelectorAll("img[loading=lazy]").forEach((i) => i.loading = "eager");
			const missing = [...document.images].filter((i) => i.getClientRects().length && !(i.complete && i.naturalWidth > 0));
			const broken = [];
			for (const i of missing) {
				if (!i.complete) continue; // under way
				if (i.dataset.again === i.currentSrc) broken.push(i.currentSrc.slice(0, 200) || i.outerHTML);
				i.dataset.again = i.currentSrc; // its request was dropped when window or theme changed under way
				i.src = i.src;
			}
			return { Ready: missing.length === 0, Broken: broken };
		})()`)
		broken = state.Broken
		return state.Ready || len(broken) > 0, err
	})
	if len(broken) > 0 {
		p.t.Fatalf("broken pictures on %s: %v\nend of the server's log:\n%s", p.where(), broken, tail(p.server.log, 2000))
	}
}

// fits fails when a page is wider than its window.
func (p *page) fits(width int64) {
	p.t.Helper()
	wide := get[[]string](p, `((root, out) => root.scrollWidth <= root.clientWidth ? [] : ["it scrolls to " + root.scrollWidth + " px", ...[...document.querySelectorAll("body *")].filter(out).slice(0, 5)
		.map((e) => Math.round(e.getBoundingClientRect().right) + " px: " + e.outerHTML.slice(0, 120))])(document.documentElement, (e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)`)
	require.Check(p.t, len(wide) <= 0, "wider than %d px:\n%s", width, strings.Join(wide, "\n"))
}

// shoot takes pictures of the window and of the whole page where that is asked for.
func (p *page) shoot(name string) {
	p.t.Helper()
	if screenshots == "" {
		return
	}
	p.write(filepath.Join(screenshots, name+"-top.png"), p.capture(chromedp.CaptureScreenshot()))
	p.write(filepath.Join(screenshots, name+".png"), p.capture(chromedp.FullScreenshot(100)))
}

func (p *page) capture(take chromedp.Action[[]byte]) []byte {
	p.t.Helper()
	ctx, cancel := p.limited()
	defer cancel()
	return require.Value(chromedp.Run(ctx, take))(p.t)
}

func (p *page) write(path string, content []byte) {
	p.t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644))
	require.Check(p.t, err == nil, "%v", err)
}

// accessible fails on what axe-core finds serious or critical, by these rules or by all.
func (p *page) accessible(axe, when string, rules ...string) {
	p.t.Helper()
	if !get[bool](p, "Boolean(globalThis.axe)") {
		get[bool](p, "(() => {"+axe+"\n})(), true")
	}
	which := `rules: { "target-size": { enabled: true } }`
	if rules != nil {
		which = `runOnly: ` + string(require.Value(json.Marshal(rules))(p.t))
	}
	report := require.Value(chromedp.Run(p.ctx, chromedp.Evaluate[string](
		`axe.run(document, { resultTypes: ["violations"], preload: false, `+which+` }).then((r) => JSON.stringify(r.violations))`, chromedp.EvalAwaitPromise)))(p.t)
	type node struct{ HTML, FailureSummary string }
	violations := require.JSON[[]struct {
		ID, Impact, Help string
		Nodes            []node
	}](p.t, report)
	for _, v := range violations {
		v.Nodes = slices.DeleteFunc(v.Nodes, func(n node) bool { // a control half below a bar that sticks comes out by scrolling
			return v.ID == "target-size" && strings.Contains(n.FailureSummary, "partially obscured")
		})
		if len(v.Nodes) == 0 {
			continue
		}
		if v.Impact == "serious" || v.Impact == "critical" {
			p.t.Errorf("%s: %s (%s): %d times, as in\n%s\n%s", when, v.Help, v.ID, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
		} else {
			p.t.Logf("%s: %s, %s (%s): %d times, as in %s", when, v.Impact, v.Help, v.ID, len(v.Nodes), v.Nodes[0].HTML)
		}
	}
}

// TestPictureForReadme takes the screenshot that the README shows, and writes it
// where pictures are asked for.
func TestPictureForReadme(t *testing.T) {
	p := fresh(t)
	p.size(1280, 800)
	p.theme("light")
	p.visit("/lab?data=moons&C=10&gamma=2&test_fraction=0.3")
	p.loaded()
	shot := p.capture(chromedp.CaptureScreenshot())
	if size, err := png.DecodeConfig(bytes.NewReader(shot)); err != nil || size.Width != 1280 || size.Height != 800 || len(shot) > 300_000 {
		t.Errorf("a picture of %d x %d in %d bytes (%v)", size.Width, size.Height, len(shot), err)
	}
	if screenshots != "" {
		p.write("../../static/lab.png", shot)
	}
}
