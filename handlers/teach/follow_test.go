package teach_test

import (
	"bufio"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// present sends what a teacher's slide shows.
func present(c *handlerstest.Client, status int, base, path, query, part string, open bool) {
	c.T.Helper()
	form := url.Values{"path": {path}, "query": {query}, "part": {part}}
	if open {
		form.Set("open", "1")
	}
	c.Send(status, base+"/present", form.Encode())
}

// Students see the slide, the part and the state that their teacher shows, and nothing that
// gives an answer away before the teacher does.
func TestFollow(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lessons/margins", "")
	base, path := "/courses/"+code, "/course/"+code+"/follow"
	follow := func() *goquery.Document { t.Helper(); return a.Page(200, path) }
	require.Equal(t, follow().Find("h1").Text(), "Waiting for the teacher", "before anything is presented")
	require.Check(t, strings.Contains(follow().Find(".follow-foot").Text(), "(code "+code+")"), "the page does not name its course")

	stream := bufio.NewReader(a.Open(t.Context(), "GET", path+"/events", nil).Body)
	type place struct {
		Version     int64
		Slide, Part string
		Point       *[2]float64
	}
	next := func() place {
		t.Helper()
		e, ok := handlerstest.NextEvent(t, stream)
		require.Must(t, ok && e.Name == "place", "event %+v, %v", e, ok)
		return require.JSON[place](t, e.Data)
	}
	tc.Send(204, base+"/point", "x=0.5&y=0.5") // at nothing
	p := next()
	require.Check(t, p.Version == 0, "at first the stream says %+v", p)
	present(tc, 204, base, "/lessons/margins/line", "course="+code, "picture", false)
	first := next()
	require.Check(t, first.Version != 0 && first.Slide == "/lessons/margins/line" && first.Part == "picture",
		"the stream says %+v", first)
	tc.Send(204, base+"/point", "x=0.25&y=1")
	if p := next(); p.Version != first.Version || p.Point == nil || *p.Point != [2]float64{0.25, 1} {
		t.Errorf("pointing, the stream says %+v", p)
	}
	tc.Send(204, base+"/point", "")
	p = next()
	require.Check(t, p.Version == first.Version && p.Point == nil, "no longer pointing, the stream says %+v", p)
	for _, wrong := range []string{"x=2&y=0", "x=0.5", "x=NaN&y=0"} {
		tc.Send(422, base+"/point", wrong)
	}
	a.Send(404, base+"/point", "x=0&y=0")
	doc := follow()
	require.Check(t, doc.Find(".follow.shows-picture .figure").Length() != 0 && doc.Find(".demo-controls, .question, .words").Length() == 0,
		"the picture is not shown alone")
	present(tc, 204, base, "/lessons/margins/line", "", "ask-distance", false)
	if doc := follow(); doc.Find(".follow .question").Length() != 1 || doc.Find("[data-folded]").Length() != 1 {
		t.Error("the question is not shown")
	}
	require.Check(t, next().Version > first.Version, "the version does not grow")
	present(tc, 204, base, "/lessons/margins/line", "", "ask-distance", false) // as before: nobody is told
	present(tc, 204, base, "/lessons/margins/line", "", "words", true)
	p = next()
	require.Check(t, p.Part == "words", "after the words came %+v", p)
	if doc := follow(); doc.Find(".follow .words").Length() != 1 || doc.Find("[data-folded]").Length() != 0 {
		t.Error("the words are not shown, or still folded")
	}

	// Students move the controls when they may.
	tc.Send(204, base+"/present", "free=1")
	require.Check(t, follow().Find(".follow .demo-controls").Length() == 1, "the controls are not there")
	require.Check(t, require.Value(s.App.Store.Course(t.Context(), code))(t).Free, "a restarted server does not know that they may")

	// Opening the course leads to the slide.
	doc = a.Page(200, "/course/"+code)
	require.Check(t, doc.Find("[data-follow]").Length() == 1, "the code leads to %q", doc.Find("h1").Text())

	// Only the teacher presents, from any browser with the teacher's link.
	present(a, 404, base, "/lessons/margins/line", "", "picture", false)
	present(a, 204, tc.Secret(code), "/lessons/margins/line", "", "picture", false)
	present(tc, 422, base, "/lessons/nothing/line", "", "picture", false)
	present(tc, 422, base, "/lessons/margins/nothing", "", "picture", false)
	present(tc, 422, base, "/lessons/margins/line", strings.Repeat("x", 5000), "picture", false)
	present(tc, 422, base, "/lessons/margins/line", "a=%zz", "picture", false)
}

// The teacher's phone shows the notes of the slide and sends its keys to the slides.
func TestRemote(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lessons/margins", "")
	base, secret := "/courses/"+code, tc.Secret(code)
	require.NoError(t, s.App.Store.FreeControls(t.Context(), code, true)) // as before a restart
	require.Equal(t, a.Page(200, secret+"/remote").Find("h1").Text(), "Remote", "before anything is presented")
	e, ok := handlerstest.NextEvent(t, bufio.NewReader(tc.Open(t.Context(), "GET", base+"/remote/events", nil).Body))
	require.Check(t, ok && e.Name == "key" && e.Data == `"present"`, "slides that the server does not know are told %+v", e)
	present(tc, 204, base, "/lessons/margins/line", "", "picture", false)
	require.Check(t, a.Page(200, "/course/"+code+"/follow").Find(".demo-controls").Length() == 1, "students may no longer move the controls")
	doc := a.Page(200, secret+"/remote")
	require.Check(t, doc.Find("[data-free][checked]").Length() == 1, "the remote does not show that they may")
	require.Check(t, doc.Find("[data-remote='"+secret+"/remote'] .remote [data-key]").Length() >= 6 && doc.Find(".question").Length() != 0,
		"the remote has no keys, or no notes")
	stream := bufio.NewReader(tc.Open(t.Context(), "GET", base+"/remote/events", nil).Body)
	line, err := stream.ReadString('\n')
	require.Must(t, err == nil && strings.HasPrefix(line, ":"), "%v %v", line, err) // open: it listens
	for _, key := range []string{"PageDown", " "} {
		a.Send(204, secret+"/remote", url.Values{"key": {key}}.Encode())
		e, ok := handlerstest.NextEvent(t, stream)
		require.Check(t, ok && e.Name == "key" && e.Data == `"`+key+`"`, "the slides are told %+v", e)
	}
	a.Send(422, secret+"/remote", "key=")
	a.Send(404, base+"/remote", "key=b")
	a.Page(404, base+"/remote")
}
