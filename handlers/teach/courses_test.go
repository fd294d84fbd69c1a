package teach_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// A control on several screens is set once for all of them; one that is free begins so and
// can be changed, also to what the screen has by itself.
func TestCourseSetsAllScreens(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	tc, c := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	const lesson = "/lessons/soft-margin"
	values := func(doc *goquery.Document) []string { return handlerstest.Attrs(doc.Find(".demo [name=C]"), "value") }
	own := values(c.Page(200, lesson))
	require.Must(t, len(own) >= 4 && own[0] != own[1], "the screens have C at %q", own)
	e := tc.Page(200, "/courses/new?target="+lesson).Find("[name='value.C']")
	require.Check(t, e.Length() == 1 && e.AttrOr("value", "") == "", "C is not asked for once, or has one value")
	v := tc.Page(200, "/courses/new?target="+url.QueryEscape(lesson+"?screen=slack&C=5")).Find("[name='value.C']").AttrOr("value", "")
	require.Check(t, v == "5", "C of the page is asked about at %q", v)
	for _, state := range []string{"free", "frozen"} {
		code := tc.Course(lesson, "value.C=0.3&control.C="+state)
		doc := c.Page(200, "/course/"+code)
		for i, v := range values(doc) {
			require.Equal(t, v, "0.3", "%s: screen %d has C at", state, i)
		}
		doc.Find(".demo").Each(func(_ int, demo *goquery.Selection) {
			if live := demo.AttrOr("data-live", ""); demo.Find("[name=C]").Length() > 0 {
				slide := strings.TrimSuffix(live, "/live")
				got := values(c.Page(200, slide+"?course="+code))
				require.Check(t, slices.Equal(got, []string{"0.3"}), "%s: the slide %s has C at %q", state, slide, got)
				query := handlerstest.Decode[struct{ Query string }](c.Send(200, live, "course="+code+"&C=2")).Query
				want := lists.Either(state == "frozen", "0.3", "2")
				require.Slices(t, values(c.Page(200, slide+"?"+query)), []string{want},
					"%s: %s leads to %s with C at", state, live, query)
			}
		})
	}
	code := tc.Course(lesson, "value.C=&control.C=frozen")
	require.Slices(t, values(c.Page(200, "/course/"+code)), own, "frozen as on each screen, C")
	bad := tc.Send(422, "/courses", url.Values{"target": {lesson}, "title": {"A"}, "value.C": {"much"}}.Encode()).HTML()
	require.Check(t, bad.Find(".error").Length() != 0 && bad.Find("[name='value.C']").AttrOr("value", "") == "much",
		"a value that is none is not asked about again")
}

// From a lesson's course one comes into the lab and hands in there.
func TestHandInFromALesson(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	tc, c := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lessons/soft-margin", "")
	doc := c.Page(200, "/course/"+code)
	links := map[string]bool{}
	doc.Find(".to-lab a, .course-banner a[href^='/lab']").Each(func(_ int, a *goquery.Selection) { links[a.AttrOr("href", "")] = true })
	require.Must(t, len(links) >= 4, "links to the lab: %v", links)
	n := 0
	for link := range links {
		form := c.Page(200, link).Find("#lab")
		require.Must(t, form.Find("[formaction='/course/"+code+"/handins']").Length() == 1, "%s does not take hand-ins", link)
		q := require.Value(url.Parse(link))(t)
		if n++; n <= store.MaxNames {
			c.Send(200, "/course/"+code+"/handins", q.RawQuery+"&who=Ada+"+strconv.Itoa(n))
		}
	}
	gallery := tc.Page(200, "/courses/"+code).Find(".gallery tbody th")
	got := handlerstest.Texts(gallery.Clone().Find(".twin, .with").Remove().End())
	require.Check(t, len(got) == store.MaxNames, "in the gallery: %q", got)
}

// The form of a new course asks about each control of the lab.
func TestNewCoursePage(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Teacher)
	doc := c.Send(200, "/courses/new", "data=iris&on=pca&kernel=poly&course=").HTML()
	names := handlerstest.Attrs(doc.Find(".control-table [value=frozen][type=radio]"), "name")
	require.Check(t, doc.Find(".unused [name='control.rho']").Length() != 0 && doc.Find(".unused [name='control.kernel']").Length() == 0, "the wrong rows are folded")
	lab := c.Page(200, "/lab?data=iris")
	for _, n := range names {
		n = strings.TrimPrefix(n, "control.")
		require.Check(t, lab.Find("#lab [name="+n+"]").Length() != 0 || n == "points", "the lab has no control %s", n)
	}
	for _, n := range handlerstest.Attrs(lab.Find("#lab [name]:not(button)"), "name") { // in a course nothing is searched
		require.Check(t, n == "name" || slices.Contains(names, "control."+n) || strings.HasPrefix(n, "search."), "nothing is asked about %s", n)
	}
	target, _ := doc.Find("[name=target]").Attr("value")
	q, err := url.ParseQuery(strings.TrimPrefix(target, "/lab?"))
	require.Check(t, err == nil && q.Get("on") == "pca" && q.Get("kernel") == "poly", "the course is made of %s", target)
}

// Addresses that people have kept from when courses were called classes still lead there.
func TestFormerAddresses(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Teacher)
	code := c.Course("/lab?data=moons&C=7", "control.C=frozen")
	direct := *c.Client()
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for from, to := range map[string]string{
		"/class?code=" + code: "/course?code=" + code,
		"/class/" + code:      "/course/" + code,
		"/classes":            "/courses",
		"/classes/new?target=%2Flab%3Fdata%3Diris":  "/courses/new?target=%2Flab%3Fdata%3Diris",
		"/classes/" + code + "/compare?run=a&run=b": "/courses/" + code + "/compare?run=a&run=b",
	} {
		for _, method := range []string{"GET", "POST"} {
			r := require.Value(http.NewRequestWithContext(t.Context(), method, c.URL+from, nil))(t)
			resp := require.Value(direct.Do(r))(t)
			resp.Body.Close()
			if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusPermanentRedirect || got != to {
				t.Errorf("%s %s: %d, to %q, want %q", method, from, resp.StatusCode, got, to)
			}
		}
	}
	doc := c.Send(200, "/classes", "title=From+an+old+page&target=/lab").HTML() // the form arrives
	require.Equal(t, doc.Find("h1").Text(), "From an old page", "the form of an old page made")
	for _, at := range []string{"/", "/lab", "/lessons", "/lessons/width", "/courses", "/courses/" + code} { // and no page leads there itself
		n := c.Page(200, at).Find(`[href^="/class"], [action^="/class"], [formaction^="/class"]`).Length()
		require.Check(t, n <= 0, "%s: %d former addresses of courses", at, n)
	}
	c.Browse(t, handlerstest.Ben).Send(200, "/lessons/several-classes/slack/live", "class=B") // a control of that name
	old := c.Browse(t, handlerstest.Ada).Page(200, "/lab?class="+code+"&C=99")
	require.Equal(t, old.Find("[name=C]").AttrOr("value", ""), "7", "C is … in an old link of the course")
}

// Who has lost the teacher's link gets it back in any browser by the key of the workspace.
func TestKeyRecoversTheTeachersLink(t *testing.T) {
	tc := handlerstest.Fresh(t, false).Browse(t, handlerstest.Teacher)
	code := tc.Course("/lab?data=moons", "")
	secret := tc.Secret(code)
	key := tc.Page(200, "/settings").Find(`[aria-label="Workspace key"]`).AttrOr("value", "")

	other := tc.Browse(t, handlerstest.Bob)
	other.Page(404, "/courses/"+code)
	r := require.Value(http.NewRequestWithContext(t.Context(), "POST", tc.URL+"/settings/workspace", strings.NewReader("token="+key)))(t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(other.Cookie)
	answer, err := tc.Client().Transport.RoundTrip(r) // its redirect would go on with the old cookie
	require.NoError(t, err)
	answer.Body.Close()
	other.Cookie, err = http.ParseSetCookie(answer.Header.Get("Set-Cookie"))
	require.Must(t, err == nil, "%v %v", answer.Status, err)
	require.Check(t, other.Page(200, "/courses").Find(`a[href="/courses/`+code+`"]`).Length() != 0,
		"the courses of the workspace are not listed")
	require.Equal(t, other.Secret(code), secret, "the teacher's link")
}
