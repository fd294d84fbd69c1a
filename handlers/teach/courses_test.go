package teach_test

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// names are those in the gallery, in its order.
func names(doc *goquery.Document) []string {
	return handlerstest.Texts(doc.Find(".gallery tbody th").Clone().Find(".twin, .with").Remove().End())
}

// What was handed in leaves as a table that a spreadsheet opens without computing.
func TestExportHandins(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lab?data=moons&test_fraction=0.3", "")
	send := func(c *handlerstest.Client, form string) {
		c.Send(200, "/course/"+code+"/handins", "course="+code+"&data=moons&test_fraction=0.3&"+form)
	}
	send(a, url.Values{"who": {`=cmd|' /C calc'!A0`}, "C": {"0.1"}}.Encode())
	send(b, "C=7&who=Ada,+the+second")
	send(a, url.Values{"who": {"-1+1"}, "learner": {"mcm"}}.Encode())
	sent := tc.Want(200, "GET", "/courses/"+code+"/handins.csv", "")
	kind, name := sent.Header.Get("Content-Type"), sent.Header.Get("Content-Disposition")
	require.Check(t, strings.HasPrefix(kind, "text/csv") && strings.Contains(name, "A course.csv"), "sent as %s, %s", kind, name)
	table, err := csv.NewReader(bytes.NewReader(sent.Body)).ReadAll()
	require.Must(t, err == nil && len(table) == 4, "%d lines, %v", len(table), err)
	names := slices.Sorted(slices.Values(table[0]))
	require.Check(t, len(slices.Compact(names)) == len(table[0]), "two columns of one name: %v", table[0])
	column := func(name string) (cells []string) {
		for _, line := range table[1:] {
			cells = append(cells, line[slices.Index(table[0], name)])
		}
		return cells
	}
	for name, want := range map[string][]string{
		"name":    {`'=cmd|' /C calc'!A0`, "Ada, the second", "'-1+1"},
		"student": {"1", "2", "1"},
		"status":  {"done", "done", "done"},
		"C":       {"0.1", "7", "1"},
		"learner": {"svm", "svm", "mcm"},

		"gamma":         {"auto", "auto", "auto"},
		"result_status": {"converged", "converged", "converged"},
		"result_C":      {"0.1", "7", "1"},
	} {
		require.Slices(t, column(name), want, "%s", name)
	}
	runs, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ben), store.Filter{})
	require.Must(t, err == nil && len(runs) == 1 && runs[0].Report.TestAccuracy != nil, "%v %v", runs, err)
	if got, err := strconv.ParseFloat(column("test_accuracy")[1], 64); err != nil || got != *runs[0].Report.TestAccuracy {
		t.Errorf("held out %v, want %v", got, *runs[0].Report.TestAccuracy)
	}
	_, err = time.Parse(time.RFC3339, column("handed_in")[0])
	require.Check(t, err == nil, "%v", err)
}

// A control on several screens is set once for all of them; one that is free begins so and
// can be changed, also to what the screen has by itself.
func TestCourseSetsAllScreens(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, c := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	const lesson = "/lessons/soft-margin"
	values := func(doc *goquery.Document) (list []string) {
		doc.Find(".demo [name=C]").Each(func(_ int, e *goquery.Selection) { list = append(list, e.AttrOr("value", "")) })
		return list
	}
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
				want := "2"
				if state == "frozen" {
					want = "0.3"
				}
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
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
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
	got := names(tc.Page(200, "/courses/"+code))
	require.Check(t, len(got) == store.MaxNames, "in the gallery: %q", got)
}

func TestNewCoursePage(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Teacher)
	doc := c.Send(200, "/courses/new", "data=iris&on=pca&kernel=poly&course=").HTML()
	var names []string
	doc.Find(".control-table [value=frozen][type=radio]").Each(func(_ int, e *goquery.Selection) {
		names = append(names, strings.TrimPrefix(e.AttrOr("name", ""), "control."))
	})
	lab := c.Page(200, "/lab?data=iris")
	for _, n := range names {
		require.Check(t, lab.Find("#lab [name="+n+"]").Length() != 0 || n == "points", "the lab has no control %s", n)
	}
	lab.Find("#lab [name]:not(button)").Each(func(_ int, e *goquery.Selection) {
		if n := e.AttrOr("name", ""); n != "name" && !slices.Contains(names, n) && !strings.HasPrefix(n, "search.") { // in a course nothing is searched
			t.Errorf("nothing is asked about %s", n)
		}
	})
	require.Check(t, c.Page(200, "/lab?data=moons&course="+s.Browse(t, handlerstest.Ada).Course("/lab?data=moons", "")).Find("[name^='search.']").Length() == 0,
		"in a course something is searched")
	target, _ := doc.Find("[name=target]").Attr("value")
	q, err := url.ParseQuery(strings.TrimPrefix(target, "/lab?"))
	require.Check(t, err == nil && q.Get("on") == "pca" && q.Get("kernel") == "poly", "the course is made of %s", target)

	c.Send(422, "/courses/new", "data=moons&C=-1")
	again := c.Send(422, "/courses", url.Values{"target": {target}, "title": {" "}, "control.C": {"frozen"}, "group.kernel": {"hidden"}}.Encode()).HTML()
	require.Check(t, again.Find(".error").Length() == 1 && again.Find("[name='control.C'][value=frozen][checked]").Length() == 1 && again.Find("[name='group.kernel'] [value=hidden][selected]").Length() == 1 && again.Find("[name=handins][checked]").Length() == 0,
		"the form does not come back as it was filled in")
	for _, target := range []string{"https://elsewhere.example/lab", "//elsewhere.example/lab", "/settings", "/lab/../settings", "lab", "/lab?C=-1", "javascript:alert(1)"} {
		for _, a := range []handlerstest.Answer{
			c.Do("GET", "/courses/new?target="+url.QueryEscape(target), ""),
			c.Do("POST", "/courses", "title=x&target="+url.QueryEscape(target), "Content-Type", "application/x-www-form-urlencoded"),
		} {
			require.Equal(t, a.Status, 422, "a course of %s: status", target)
		}
	}
	got := handlerstest.Texts(c.Page(200, "/courses").Find(".course-list th a"))
	require.Check(t, len(got) == 0, "courses %q", got)
	code := c.Course("/lessons/margins?screen=line&b=0.5", "control.b=frozen")
	require.Slices(t, handlerstest.Texts(c.Page(200, "/courses").Find(".course-list code")), []string{code}, "courses")
	link, _ := c.Page(200, "/courses/"+code).Find(".course-state a").Attr("href")
	require.Equal(t, link, "/lessons/margins?b=0.5&course="+code+"&screen=line", "the lesson is at")
}

func TestCourseCode(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=xor&C=5", "")
	c := s.Browse(t, handlerstest.Ada)
	for _, typed := range []string{code, strings.ToLower(code), code[:3] + " " + code[3:], code[:3] + "-" + code[3:]} {
		doc := c.Page(200, "/course?code="+url.QueryEscape(typed))
		require.Check(t, doc.Find("#f-C").AttrOr("value", "") == "5", "%q does not open the course", typed)
	}
	require.Check(t, c.Page(200, "/course/"+strings.ToLower(code)).Find(".course-banner").Length() == 1,
		"the address takes no small letters")
	doc := c.Want(404, "GET", "/course?code=wrong%3Cb%3E", "").HTML()
	require.Check(t, doc.Find("#f-code").AttrOr("value", "") == "wrong<b>" && doc.Find("#f-code-error").Length() == 1,
		"a wrong code does not come back with a word beside it")
	c.Want(404, "GET", "/course/XXXXXX", "")
	c.Want(404, "GET", "/lab?course=XXXXXX", "")
	require.Check(t, c.Page(200, "/").Find("form[action='/course'] [name=code]").Length() == 1,
		"the start page does not ask for a code")
	got := regexp.MustCompile(`/courses/[A-Z]{6}`).FindString(string(c.Want(200, "GET", "/courses", "").Body))
	require.Check(t, got == "", "a student's list of courses has %s", got)
}

// Addresses that people have kept from when courses were called classes still lead there.
func TestFormerAddresses(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Teacher)
	code := c.Course("/lab?data=moons&C=7", "control.C=frozen")
	direct := *s.Client()
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for from, to := range map[string]string{
		"/class?code=" + code: "/course?code=" + code,
		"/class/" + code:      "/course/" + code,
		"/classes":            "/courses",
		"/classes/new?target=%2Flab%3Fdata%3Diris":  "/courses/new?target=%2Flab%3Fdata%3Diris",
		"/classes/" + code + "/compare?run=a&run=b": "/courses/" + code + "/compare?run=a&run=b",
	} {
		for _, method := range []string{"GET", "POST"} {
			r := require.Value(http.NewRequestWithContext(t.Context(), method, s.URL+from, nil))(t)
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
		doc := c.Page(200, at)
		n := doc.Find(`[href^="/class"], [action^="/class"], [formaction^="/class"]`).Length()
		require.Check(t, n <= 0, "%s: %d former addresses of courses", at, n)
	}
	s.Browse(t, handlerstest.Ben).Send(200, "/lessons/several-classes/slack/live", "class=B") // a control of that name
	old := s.Browse(t, handlerstest.Ada).Page(200, "/lab?class="+code+"&C=99")
	require.Equal(t, old.Find("[name=C]").AttrOr("value", ""), "7", "C is … in an old link of the course")
}

// TestSharedControlsHoldEverywhere: what a course sets for several screens is refused where
// one of them cannot have it, and choices are those that all of them offer.
func TestSharedControlsHoldEverywhere(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false, dataset.DefaultLimits).Browse(t, handlerstest.Teacher)
	doc := c.Send(422, "/courses", "title=Bounds&target=/lessons/risk&value.m=600").HTML()
	if text := doc.Text(); !strings.Contains(text, "from 2 to 500") || !strings.Contains(text, "The risk, and the errors that we see") {
		t.Errorf("600 points on all screens of risk: %s", text)
	}
	choices := func(lesson, control string) string {
		options := c.Page(200, "/courses/new?target=/lessons/"+lesson).Find("[name='value." + control + "'] option")
		return strings.Join(options.Map(func(_ int, o *goquery.Selection) string { return o.AttrOr("value", "") }), " ")
	}
	require.Equal(t, choices("graph-kernels", "graph"), " path ring paw house", "graphs for all screens")
	require.Equal(t, choices("soft-margin", "set"), "", "data for all screens of the soft margin")

	// Data that only one screen offers: the others keep their own, without a word of error.
	const iris = "iris-versicolor-virginica"
	lesson := "/lessons/soft-margin?screen=c&set=" + iris
	said := c.Page(200, "/courses/new?target="+url.QueryEscape(lesson)).Find(".control-table tr:contains(data)").Text()
	require.Check(t, strings.Contains(said, "where it is offered"), "said of the data: %q", said)
	for _, state := range []string{"free", "frozen", "hidden"} {
		page := c.Page(200, "/course/"+c.Course(lesson, "control.set="+state))
		got := page.Find(".demo [name=set] option[selected]").Map(func(_ int, o *goquery.Selection) string { return o.AttrOr("value", "") })
		want := []string{iris, "moons"}
		require.Check(t, state == "hidden" || slices.Equal(got, want), "%s: data %q, not %q", state, got, want)
		page.Find(".demo [data-error-of]").Each(func(_ int, e *goquery.Selection) {
			require.Equal(t, e.Text(), "", "%s", state)
		})
		require.Says(t, page.Find("#c .stage img").AttrOr("src", ""), iris, "%s: the picture", state)
	}
}

// Who has lost the teacher's link gets it back in any browser by the key of the workspace.
func TestKeyRecoversTheTeachersLink(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc := s.Browse(t, handlerstest.Teacher)
	code := tc.Course("/lab?data=moons", "")
	secret := tc.Secret(code)
	key := tc.Page(200, "/settings").Find(`[aria-label="Workspace key"]`).AttrOr("value", "")

	other := s.Browse(t, handlerstest.Bob)
	other.Page(404, "/courses/"+code)
	r := require.Value(http.NewRequestWithContext(t.Context(), "POST", s.URL+"/settings/workspace", strings.NewReader("token="+key)))(t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(other.Cookie)
	answer, err := s.Client().Transport.RoundTrip(r) // its redirect would go on with the old cookie
	require.NoError(t, err)
	answer.Body.Close()
	other.Cookie, err = http.ParseSetCookie(answer.Header.Get("Set-Cookie"))
	require.Must(t, err == nil, "%v %v", answer.Status, err)
	require.Check(t, other.Page(200, "/courses").Find(`a[href="/courses/`+code+`"]`).Length() != 0,
		"the courses of the workspace are not listed")
	require.Equal(t, other.Secret(code), secret, "the teacher's link")
}
