package lessons_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

// TestLessonPages opens every lesson and every slide, and follows the chain of
// slides from the first to the last and back.
func TestLessonPages(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Alice)
	list := c.Page(200, "/lessons")
	if n := list.Find(".lessons li").Length(); n != len(all.Lessons) {
		t.Errorf("the list has %d lessons of %d", n, len(all.Lessons))
	}
	var chain []string
	for _, l := range all.Lessons {
		doc := c.Page(200, "/lessons/"+l.Slug)
		if n := doc.Find(".screen").Length(); n != len(l.Screens) {
			t.Errorf("%s shows %d screens of %d", l.Slug, n, len(l.Screens))
		}
		if problem := doc.Find(".problem").Text(); problem != "" {
			t.Errorf("%s: %s", l.Slug, problem)
		}
		ids := map[string]bool{}
		doc.Find("[id]").Each(func(_ int, e *goquery.Selection) {
			id, _ := e.Attr("id")
			if ids[id] {
				t.Errorf("%s has the id %q twice", l.Slug, id)
			}
			ids[id] = true
		})
		for _, screen := range l.Screens {
			chain = append(chain, "/lessons/"+l.Slug+"/"+screen.Slug)
		}
	}
	at := chain[0]
	for i := range chain {
		if at != chain[i] {
			t.Fatalf("slide %d is %s, not %s", i, at, chain[i])
		}
		doc := c.Page(200, at)
		if back := doc.Find(`a[rel="prev"]`).AttrOr("href", ""); i > 0 && back != chain[i-1] {
			t.Errorf("before %s comes %q", at, back)
		}
		at = doc.Find(`a[rel="next"]`).AttrOr("href", "")
	}
	if at != "" {
		t.Errorf("after the last slide comes %s", at)
	}
	for _, path := range []string{"/lessons/nothing", "/lessons/margins/nothing", "/lessons/margins/line/figures/nothing.svg", "/lessons/margins/line/figures/line.gif"} {
		c.Page(404, path)
	}
}

// TestLessonIndex: every section leads to a screen that is there.
func TestLessonIndex(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false, dataset.DefaultLimits).Browse(t, handlerstest.Alice)
	doc := c.Page(200, "/lessons/index")
	sections := 0
	for _, d := range lessons.Documents {
		sections += len(d.Sections)
	}
	rows := doc.Find(".index tbody tr")
	if rows.Length() != sections {
		t.Errorf("%d rows for %d sections", rows.Length(), sections)
	}
	routes := map[string]bool{}
	rows.Each(func(_ int, row *goquery.Selection) {
		if row.Find("a").Length() == 0 {
			t.Errorf("nothing for %s", strings.Join(strings.Fields(row.Text()), " "))
		}
		row.Find("a").Each(func(_ int, a *goquery.Selection) { routes[a.AttrOr("href", "")] = true })
	})
	for route := range routes {
		c.Page(200, route)
	}
}

func TestLessonDemo(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false, dataset.DefaultLimits).Browse(t, handlerstest.Alice)
	const path = "/lessons/margins/line"
	doc := c.Page(200, path+"?w1=2&w2=0&b=nonsense")
	if got := doc.Find(`input[name="w1"]`).AttrOr("value", ""); got != "2" {
		t.Errorf("w1 is %q", got)
	}
	if got := doc.Find(`[data-error-of="b"]`).Text(); !strings.Contains(got, "must be a number") {
		t.Errorf("what is wrong with b: %q", got)
	}
	src := doc.Find(".main-figure img").AttrOr("src", "")
	if q, _ := url.Parse(src); q == nil || q.Query().Get("w1") != "2" {
		t.Errorf("the picture is %s", src)
	}
	if a := c.Fetch(http.MethodGet, src, ""); a.Status != 200 || !strings.HasPrefix(string(a.Body), "<svg") && !strings.Contains(string(a.Body), "<svg") {
		t.Errorf("the picture: %d %.80s", a.Status, a.Body)
	}
	// In the lesson the controls belong to the screen that the query names.
	doc = c.Page(200, "/lessons/margins?screen=line&b=3")
	if got := doc.Find(`#line input[name="b"]`).AttrOr("value", ""); got != "3" {
		t.Errorf("b is %q", got)
	}
	type reply struct {
		HTML, Problem, Query string
		Errors               map[string]string
	}
	live := handlerstest.Decode[reply](c.Fetch(http.MethodPost, path+"/live", "w1=0&w2=0&b=1"))
	if !strings.Contains(live.HTML, "no boundary") || !strings.Contains(live.HTML, "data:image/svg+xml") || live.Query == "" {
		t.Errorf("live: %.300s, query %q", live.HTML, live.Query)
	}
}

// The empty drawing, which the lab offers, is refused where a lesson needs points.
func TestLessonWithoutPoints(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false, dataset.DefaultLimits).Browse(t, handlerstest.Alice)
	for _, path := range []string{"/lessons/generalisation/study", "/lessons/mercer/pca", "/lessons/conformal/methods"} {
		doc := c.Page(200, path+"?data=drawing")
		if got := doc.Find("main").Text(); !strings.Contains(got, "Drawing has no points yet; choose others") {
			t.Errorf("%s does not say that there are no points", path)
		}
	}
}

func TestLessonQuestions(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Alice)
	const path = "/lessons/margins/line/questions/distance"
	progress := func(c *handlerstest.Client) string {
		t.Helper()
		return strings.Join(strings.Fields(c.Page(200, "/lessons/margins").Find(".lesson-head .toolbar .quiet").Text()), " ")
	}
	before := progress(c)

	// Without a script: the answer leads back to the question, revealed.
	a := c.Fetch(http.MethodPost, path, "answer=7")
	q := a.HTML().Find("#q-line-distance")
	if a.Status != 200 || q.Find(".verdict.right").Length() != 0 || !strings.Contains(q.Find(".verdict").Text(), "2") {
		t.Errorf("wrong answer: %d %s", a.Status, q.Text())
	}
	// With one: the question alone.
	a = c.Fetch(http.MethodPost, path, "answer=10/5&part=1&from=slide")
	if doc := a.HTML(); doc.Find(".verdict.right").Length() != 1 || doc.Find("h1").Length() != 0 {
		t.Errorf("right answer: %s", a.Body)
	}
	if got := progress(c); got == before || !strings.Contains(got, "1 right") {
		t.Errorf("progress was %q and is %q", before, got)
	}
	if got := progress(s.Browse(t, handlerstest.Bob)); got != before {
		t.Errorf("somebody else's progress is %q", got)
	}

	// An invalid answer is reported beside the question and not recorded.
	a = c.Fetch(http.MethodPost, path, "answer=far")
	if got := a.HTML().Find("#q-line-distance .error").Text(); a.Status != 422 || !strings.Contains(got, "Give a number") {
		t.Errorf("no number: %d %q", a.Status, got)
	}
	a = c.Fetch(http.MethodPost, path, "answer=&from=slide")
	if got := a.HTML().Find("#q-line-distance .error").Text(); a.Status != 422 || got == "" {
		t.Errorf("nothing: %d %q", a.Status, got)
	}
	if got := progress(c); !strings.Contains(got, "1 right") {
		t.Errorf("progress is %q", got)
	}
	if a := c.Fetch(http.MethodPost, "/lessons/margins/line/questions/nothing", "answer=1"); a.Status != 404 {
		t.Errorf("no such question: %d", a.Status)
	}
	c.Fetch(http.MethodPost, "/lessons/margins/forget", "")
	if got := progress(c); got != before {
		t.Errorf("forgotten, the progress is %q", got)
	}
}

// The pictures of lessons are the same for everybody: a browser keeps them for good, and
// a cache on the way may, because they carry nobody's workspace. Those of a course are
// asked for again, and not sent twice.
func TestPicturesOfLessonsAreKept(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Alice)
	code := s.Browse(t, handlerstest.Teacher).Course("/lessons/margins", "")
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
		images := c.Page(200, page).Find("main img").Map(func(_ int, img *goquery.Selection) string { return img.AttrOr("src", "") })
		if len(images) == 0 {
			t.Errorf("%s has no pictures", page)
		}
		for _, src := range images[:min(len(images), 2)] {
			first := c.Do("GET", src, "")
			if got := first.Header.Get("Cache-Control"); first.Status != 200 || got != policy {
				t.Errorf("%s: %d, %q", src, first.Status, got)
			}
			if cookie := first.Header.Get("Set-Cookie"); (cookie == "") != strings.HasPrefix(policy, "public") {
				t.Errorf("%s sets the cookie %q", src, cookie)
			}
			if again := s.Browse(t, handlerstest.Bob).Do("GET", src, "", "If-None-Match", first.Header.Get("ETag")); again.Status != 304 || len(again.Body) > 0 {
				t.Errorf("%s, asked again: %d", src, again.Status)
			}
		}
	}
}
