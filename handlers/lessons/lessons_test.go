package lessons_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

// TestEveryLesson goes through all lessons at one server, which computes demos and answers once.
func TestEveryLesson(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	for name, test := range map[string]func(*testing.T, *handlerstest.Server){
		"pages": pages, "index": index, "guides": guidesAndWorksheets, "replays": replaysOnPaper, "questions": questionFiles, "teachers": teachers,
		"kept": picturesAreKept, "long address": longAddress,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// pages opens every lesson and every slide, and follows the chain of slides from the first to
// the last and back.
func pages(t *testing.T, s *handlerstest.Server) {
	c := s.Browse(t, handlerstest.Ada)
	require.Equal(t, c.Page(200, "/lessons").Find(".lessons li").Length(), len(all.Lessons()), "lessons in the list")
	var chain []string
	for _, l := range all.Lessons() {
		doc := c.Page(200, "/lessons/"+l.Slug)
		require.Equal(t, doc.Find(".screen").Length(), len(l.Screens), "screens of %s", l.Slug)
		require.Equal(t, doc.Find(".problem").Text(), "", "%s", l.Slug)
		ids := map[string]bool{}
		doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
			id, _ := e.Attr("id")
			require.Check(t, !ids[id], "%s has the id %q twice", l.Slug, id)
			ids[id] = true
		})
		for _, screen := range l.Screens {
			chain = append(chain, "/lessons/"+l.Slug+"/"+screen.Slug)
		}
	}
	at := chain[0]
	for i := range chain {
		require.Must(t, at == chain[i], "slide %d is %s, not %s", i, at, chain[i])
		doc := c.Page(200, at)
		back := doc.Find(`a[rel="prev"]`).AttrOr("href", "")
		require.Check(t, i == 0 || back == chain[i-1], "before %s comes %q", at, back)
		at = doc.Find(`a[rel="next"]`).AttrOr("href", "")
	}
	require.Equal(t, at, "", "after the last slide comes")
	for _, path := range []string{"/lessons/nothing", "/lessons/margins/nothing", "/lessons/margins/line/figures/nothing.svg", "/lessons/margins/line/figures/line.gif"} {
		c.Page(404, path)
	}
}

// index: every section leads to a screen that is there.
func index(t *testing.T, s *handlerstest.Server) {
	doc := s.Browse(t, handlerstest.Ada).Page(200, "/lessons/index")
	sections := 0
	for _, d := range lessons.Documents() {
		sections += len(d.Sections)
	}
	rows := doc.Find(".index tbody tr")
	require.Check(t, rows.Length() == sections, "%d rows for %d sections", rows.Length(), sections)
	slides := map[string]bool{} // which pages opens
	for _, l := range all.Lessons() {
		for _, screen := range l.Screens {
			slides["/lessons/"+l.Slug+"/"+screen.Slug] = true
		}
	}
	rows.Each(func(_ int, row *goquery.Selection) {
		require.Check(t, row.Find("a").Length() != 0, "nothing for %s", strings.Join(strings.Fields(row.Text()), " "))
		row.Find("a").Each(func(_ int, a *goquery.Selection) {
			route := a.AttrOr("href", "")
			require.Check(t, slides[route], "%q is no slide", route)
		})
	})
}

func TestLessonDemo(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	const path = "/lessons/margins/line"
	doc := c.Page(200, path+"?w1=2&w2=0&b=nonsense")
	require.Equal(t, doc.Find(`input[name="w1"]`).AttrOr("value", ""), "2", "w1")
	require.Says(t, doc.Find(`[data-error-of="b"]`).Text(), "must be a number", "what is wrong with b")
	src := doc.Find(".main-figure img").AttrOr("src", "")
	q, _ := url.Parse(src)
	require.Check(t, q != nil && q.Query().Get("w1") == "2", "the picture is %s", src)
	if a := c.Fetch(http.MethodGet, src, ""); a.Status != 200 || !strings.HasPrefix(string(a.Body), "<svg") && !strings.Contains(string(a.Body), "<svg") {
		t.Errorf("the picture: %d %.80s", a.Status, a.Body)
	}
	// In the lesson the controls belong to the screen that the query names.
	doc = c.Page(200, "/lessons/margins?screen=line&b=3")
	require.Equal(t, doc.Find(`#line input[name="b"]`).AttrOr("value", ""), "3", "b")
	labels := c.Page(200, "/lessons/soft-margin").Find(`label[for="f-c-C"], label[for="f-c-set"]`)
	require.Equal(t, labels.Text(), "CData", "labels")
	type reply struct {
		HTML, Problem, Query string
		Errors               map[string]string
	}
	live := handlerstest.Decode[reply](c.Fetch(http.MethodPost, path+"/live", "w1=0&w2=0&b=1"))
	require.Check(t, strings.Contains(live.HTML, "no boundary") && strings.Contains(live.HTML, "data:image/svg+xml") && live.Query != "",
		"live: %.300s, query %q", live.HTML, live.Query)
}

// The empty drawing, which the lab offers, is refused where a lesson needs points.
func TestLessonWithoutPoints(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	for _, path := range []string{"/lessons/generalisation/study", "/lessons/mercer/pca", "/lessons/conformal/methods"} {
		doc := c.Page(200, path+"?data=drawing")
		require.Check(t, strings.Contains(doc.Find("main").Text(), "Drawing has no points yet; choose other data"),
			"%s does not say that there are no points", path)
	}
}

// The pictures of lessons are the same for everybody: a browser keeps them for good, and
// a cache on the way may, because they carry nobody's workspace. Those of a course are
// asked for again, and not sent twice.
func picturesAreKept(t *testing.T, s *handlerstest.Server) {
	c := s.Browse(t, handlerstest.Ada)
	code := c.Browse(t, handlerstest.Teacher).Course("/lessons/margins", "")
	for page, policy := range map[string]string{
		"/":                                      "public, max-age=31536000, immutable",
		"/lessons":                               "public, max-age=31536000, immutable",
		"/lessons/margins":                       "public, max-age=31536000, immutable",
		"/lessons/margins/line?w1=2":             "public, max-age=31536000, immutable",
		"/datasets":                              "public, max-age=31536000, immutable",
		"/lab?data=moons":                        "public, max-age=31536000, immutable",
		"/lab?data=drawing&points=0,0,a%0A1,1,b": "private, no-cache",
		"/lessons/margins?course=" + code:        "private, no-cache",
	} {
		images := handlerstest.Attrs(c.Page(200, page).Find("main img"), "src")
		require.Check(t, len(images) != 0, "%s has no pictures", page)
		for _, src := range images[:min(len(images), 2)] {
			first := c.Do("GET", src, "")
			got := first.Header.Get("Cache-Control")
			require.Check(t, first.Status == 200 && got == policy, "%s: %d, %q", src, first.Status, got)
			cookie := first.Header.Get("Set-Cookie")
			require.Check(t, (cookie == "") == strings.HasPrefix(policy, "public"), "%s sets the cookie %q", src, cookie)
			again := c.Browse(t, handlerstest.Bob).Do("GET", src, "", "If-None-Match", first.Header.Get("ETag"))
			require.Check(t, again.Status == 304 && len(again.Body) == 0, "%s, asked again: %d", src, again.Status)
		}
	}
	sketch := c.Page(200, "/lessons/procedures/worksheet").Find(".worksheet-sketch").First().AttrOr("src", "")
	require.Says(t, c.Do("GET", sketch, "").Header.Get("Cache-Control"), "public", "%s", sketch)
}

// The page of a question would have a query longer than addresses can be in every link.
func longAddress(t *testing.T, s *handlerstest.Server) {
	c := s.Browse(t, handlerstest.Ada)
	const path, form = "/lessons/procedures/naive/questions/objective", "answer=x&query=b%3D"
	c.Send(422, path, form+strings.Repeat("1", 60<<10))
	refused := c.Send(413, path, form+strings.Repeat("1", 64<<10))
	require.Check(t, strings.Contains(string(refused.Body), "longer than any address") && len(refused.Body) < 32<<10, "%.300s", refused.Body)
}
