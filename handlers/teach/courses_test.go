package teach_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"mime/multipart"
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

// Values of controls that the course has hidden or frozen are ignored.
func TestCourseFixesControls(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	code := s.Browse(t, handlerstest.Teacher).Course("/lab?data=moons&C=7&gamma=2&learner=svm&slack=true",
		"control.data=frozen&control.points=hidden&group.kernel=frozen&control.learner=hidden&control.slack=hidden&control.C=frozen&group.evaluation=hidden&control.gamma=free")
	c := s.Browse(t, handlerstest.Ada)
	forged := "course=" + strings.ToLower(code) + "&data=iris&points=0,0,a%0A1,1,b&C=99&gamma=50&kernel=poly&degree=2&learner=mcm&conformal=eigen&test_fraction=0.5&seed=9&slack=false&label=x1"

	doc := c.Page(200, "/lab?"+forged)
	require.Equal(t, doc.Find("h1").Text(), "Moons, noise 0.15", "the data")
	for name, want := range map[string]string{"C": "7", "gamma": "2", "kernel": "rbf", "data": "moons"} {
		f := doc.Find("fieldset.frozen[disabled] [name=" + name + "]")
		got, _ := f.Attr("value")
		got = cmp.Or(got, f.Find("option[selected]").AttrOr("value", ""))
		require.Check(t, got == want, "%s is frozen at %q, want %q", name, got, want)
	}
	for _, name := range []string{"points", "learner", "slack", "test_fraction", "seed"} {
		require.Check(t, doc.Find("#lab [name="+name+"]").Length() == 0, "%s is not hidden", name)
	}
	require.Check(t, doc.Find("[data-group=evaluation]").Length() == 0, "a heading without controls")
	if f := doc.Find("[name=conformal]"); f.Length() != 1 || f.Closest("[disabled]").Length() > 0 || f.Find("option[selected]").AttrOr("value", "") != "eigen" {
		t.Error("a free control is not as it was sent")
	}
	require.Says(t, doc.Find("fieldset.frozen legend").First().Text(), "set by your teacher", "frozen controls say")
	require.Check(t, doc.Find("[formaction='/compare/versions']").Length() == 0, "a comparison of learners is offered")
	c.Send(http.StatusForbidden, "/compare/versions", forged)

	live := handlerstest.Decode[struct{ Query string }](c.Send(200, "/lab/live", forged))
	q := require.Value(url.ParseQuery(live.Query))(t)
	want := url.Values{"course": {code}, "data": {"moons"}, "C": {"7"}, "gamma": {"2"}, "slack": {"true"}, "conformal": {"eigen"}, "test_fraction": {"0.3"}} // the share is the lab's own, as the course names none
	require.Check(t, q.Encode() == want.Encode(), "the live lab is at\n%s, want\n%s", q.Encode(), want.Encode())
	own, forgedPicture := c.Want(200, "GET", "/lab/figures/boundary.svg?"+want.Encode(), ""), c.Want(200, "GET", "/lab/figures/boundary.svg?"+forged, "")
	require.Check(t, string(own.Body) == string(forgedPicture.Body), "the picture obeys what was sent")

	c.Send(200, "/runs", forged)
	runs, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{})
	require.Must(t, err == nil && len(runs) == 1, "%v %v", runs, err)
	if r := runs[0]; r.Course != code || r.Spec.Values.Number("C") != 7 || r.Spec.Learner != "svm" || r.Spec.Kernel != "rbf" || r.Spec.Text("gamma") != "2" || r.Spec.TestFraction != 0.3 || r.Spec.Conformal != "eigen" || r.DatasetName != "Moons, noise 0.15" {
		t.Errorf("saved as %+v", r)
	}
}

// The points of a teacher come along with the course, for nobody else.
func TestCourseBringsItsPoints(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc := s.Browse(t, handlerstest.Teacher)
	tc.Want(201, "POST", "/api/datasets?name=mine.csv", handlerstest.Square)
	sets, err := s.App.Store.Datasets(t.Context(), store.WorkspaceOf(handlerstest.Teacher))
	require.Must(t, err == nil && len(sets) == 1, "%v %v", sets, err)
	code := tc.Course("/lab?data="+sets[0].ID+"&C=3", "control.data=frozen")
	edited := tc.Course("/lab?data="+sets[0].ID+"&points="+url.QueryEscape("0,0,a\n1,0,a\n0,3,b\n1,3,b"), "")
	tc.Send(200, "/datasets/"+sets[0].ID+"/delete", "")

	c := s.Browse(t, handlerstest.Ada)
	if doc := c.Page(200, "/course/"+code); doc.Find("h1").Text() != "mine.csv" || doc.Find("#f-data option[selected]").Text() != "mine.csv" {
		t.Errorf("the course opens on %q", doc.Find("h1").Text())
	}
	if doc := c.Page(200, "/course/"+edited); doc.Find("h1").Text() != "mine.csv (edited)" {
		t.Errorf("the course with edited points opens on %q", doc.Find("h1").Text())
	}
	c.Want(404, "GET", "/lab?data="+sets[0].ID, "")
	c.Send(200, "/course/"+edited+"/handins", "course="+edited+"&who=Ada&data=course-"+edited)
	require.Slices(t, names(tc.Page(200, "/courses/"+edited)), []string{"Ada"}, "in the gallery")

	// Points that a student edited come along into the lab again.
	c.Send(200, "/course/"+code+"/handins", "course="+code+"&points="+url.QueryEscape("0,0,no\n1,0,no\n0,3,yes\n1,3,yes"))
	runs, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{Desc: true})
	require.NoError(t, err)
	back, _ := c.Page(200, "/runs/"+runs[0].ID).Find(".toolbar .primary").Attr("href")
	require.Says(t, c.Page(200, back).Find("#f-points").Text(), "0,3,yes", "%s opens with the points", back)

	tc.Send(200, "/courses/"+code+"/delete", "")
	c.Want(404, "GET", "/course/"+code, "")
	c.Want(404, "GET", "/lab?data=course-"+code, "")
	c.Page(200, "/runs/"+runs[0].ID)
}

func TestHandIn(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lab?data=moons&test_fraction=0.3", "control.data=frozen")
	handIn := func(c *handlerstest.Client, form string) *goquery.Document {
		t.Helper()
		return c.Send(200, "/course/"+code+"/handins", "course="+code+"&test_fraction=0.3&"+form).HTML()
	}
	handIn(a, "C=1&who=Ada")
	handIn(b, "C=1000&gamma=3")
	doc := handIn(a, "C=10&who=+Ada++")
	require.Equal(t, doc.Find("#f-who").AttrOr("value", ""), "Ada", "the name is asked for again")
	require.Slices(t, handlerstest.Texts(doc.Find(".handed-in a")), []string{"Ada"}, "Ada has handed in")

	gallery := tc.Page(200, "/courses/"+code+"?sort=created")
	require.Slices(t, names(gallery), []string{"anonymous 2", "Ada"}, "in the gallery")
	// The columns are what ranks, the time, the settings that differ, and no others.
	head := handlerstest.Texts(gallery.Find(".gallery thead th"))
	require.Check(t, slices.Equal(head, []string{"choose", "picture", "name", "Test accuracy", "handed in", "γ", "C", "Training accuracy", "SVs", "Margin 1/|w|"}),
		"columns %q", head)
	for query, want := range map[string][]string{"sort=C&desc=1": {"1000", "10"}, "sort=C": {"10", "1000"}} {
		got := handlerstest.Texts(tc.Page(200, "/courses/"+code+"?"+query).Find(".gallery tbody td:nth-child(7)"))
		require.Slices(t, got, want, "%s", query)
	}

	// All that the page shows is there, and without the secret in any address.
	picture := gallery.Find(".gallery-columns .figure img")
	require.Says(t, picture.AttrOr("alt", ""), "predict the same class the picture is hatched",
		"the overlay is described")
	overlay, _ := picture.Attr("src")
	if f := tc.Want(200, "GET", overlay, ""); f.Header.Get("Content-Type") != "image/svg+xml" || !strings.Contains(string(f.Body), "anonymous 2") {
		t.Error("the overlay does not name the hand-ins")
	}
	secret := tc.Secret(code)
	gallery.Find("a, img, form, button").Each(func(_ int, e *goquery.Selection) {
		for _, attr := range []string{"href", "src", "action", "formaction"} {
			require.Check(t, !strings.Contains(e.AttrOr(attr, ""), "teach/"),
				"an address holds the secret: %s", e.AttrOr(attr, ""))
		}
	})
	var ids []string
	gallery.Find("[name=run]").Each(func(_ int, e *goquery.Selection) { ids = append(ids, e.AttrOr("value", "")) })
	visitor := s.Browse(t, handlerstest.Bob)
	for _, base := range []string{secret, "/courses/" + code} {
		for _, path := range []string{"", "/runs/" + ids[0], "/runs/" + ids[0] + "/figures/boundary.svg", "/compare?run=" + ids[0] + "&run=" + ids[1], "/compare/figures/overlay.svg?run=" + ids[0] + "&run=" + ids[1], "/figures/overlay.png?run=" + ids[0] + "&run=" + ids[1]} {
			tc.Want(200, "GET", base+path, "")
			if base == secret {
				visitor.Want(200, "GET", base+path, "")
				continue
			}
			for _, c := range []*handlerstest.Client{visitor, a, b} {
				c.Want(404, "GET", base+path, "")
			}
		}
		wrong := strings.Replace(base, code, code[1:]+code[:1], 1)
		if base == secret {
			wrong = secret[:len(secret)-1] + map[bool]string{true: "b", false: "a"}[strings.HasSuffix(secret, "a")]
		}
		tc.Want(404, "GET", wrong, "")
	}
	for _, c := range []*handlerstest.Client{visitor, a} {
		for _, path := range []string{"/close", "/delete", "/runs/delete"} {
			c.Send(404, "/courses/"+code+path, "closed=1&run="+ids[0])
		}
		c.Want(404, "GET", "/runs/"+ids[0], "")
		c.Want(404, "GET", "/compare?run="+ids[0]+"&run="+ids[1], "")
		c.Send(404, "/course/"+code+"/withdraw", "handin="+ids[0])
	}
	// The pages of the gallery stay below its address.
	for _, path := range []string{"/runs/" + ids[0], "/compare?run=" + ids[0] + "&run=" + ids[1]} {
		tc.Page(200, secret+path).Find("main a[href^='/'], main img, main form").Each(func(_ int, e *goquery.Selection) {
			for _, attr := range []string{"href", "src", "action"} {
				at, ok := e.Attr(attr)
				require.Check(t, !ok || strings.HasPrefix(at, secret), "%s leads to %s", path, at)
			}
		})
	}

	// A student's own deletion changes nothing; a withdrawal does.
	runs, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ben), store.Filter{})
	require.Must(t, err == nil && len(runs) == 1, "%v %v", runs, err)
	b.Send(200, "/runs/"+runs[0].ID+"/delete", "")
	require.Equal(t, len(names(tc.Page(200, "/courses/"+code))), 2, "hand-ins after the student's deletion")
	lab := b.Page(200, "/course/"+code)
	handin, _ := lab.Find(".handed-in button").Attr("value")
	require.Check(t, lab.Find(".handed-in a").Length() == 0 && handin == ids[0],
		"the hand-in links to a run that is gone, or cannot be withdrawn")
	b.Send(200, "/course/"+code+"/withdraw", "course="+code+"&handin="+handin)
	require.Slices(t, names(tc.Page(200, "/courses/"+code)), []string{"Ada"}, "after the withdrawal")
	visitor.Send(200, secret+"/runs/delete", "run="+ids[1])
	require.Slices(t, names(tc.Page(200, "/courses/"+code)), nil, "after the teacher's deletion")
	runs, _, _ = s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{})
	require.Check(t, len(runs) == 2, "Ada has %d runs of her own, want 2", len(runs))
}

// A hand-in is taken at once, before it is trained, and once however often it is sent; that
// others fill the queue is no reason to refuse it.
func TestHandInAtOnce(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits) // nothing is trained
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lab?data=moons", "")
	request := a.Page(200, "/course/"+code).Find("#hand-in [name=request]").AttrOr("value", "")
	again := a.Page(200, "/course/"+code).Find("#hand-in [name=request]").AttrOr("value", "")
	require.Check(t, request != "" && again != request, "two pages ask as %q and %q", request, again)
	form := "course=" + code + "&who=Ada&request=" + request
	var doc *goquery.Document
	for range 3 {
		doc = a.Send(200, "/course/"+code+"/handins", form).HTML()
	}
	runs, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{})
	require.Must(t, err == nil && len(runs) == 1, "%v %v", runs, err)
	mark := doc.Find(".handed-in [data-handed]")
	if got := handlerstest.Texts(mark); !slices.Equal(got, []string{"waits to be trained"}) || mark.AttrOr("data-handed", "") != "/runs/"+runs[0].ID+"/events" {
		t.Errorf("handed in: %q", got)
	}
	gallery := tc.Page(200, "/courses/"+code)
	h := handlerstest.Texts(gallery.Find("#gallery h2 [role=status]"))
	require.Check(t, slices.Equal(h, []string{"1 run handed in, 1 still in training"}) && len(names(gallery)) == 1, "the gallery says %q", h)

	a.Send(200, "/course/"+code+"/handins", "C=7&"+form) // something else from the same page
	runs, _, _ = s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{})
	require.Check(t, len(runs) == 2, "%d runs, want two", len(runs))
}

func TestHandInRefused(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code, other := tc.Course("/lab?data=xor", ""), tc.Course("/lab?data=xor", "")
	a.Send(409, "/course/"+code+"/handins", "course="+other)
	a.Send(409, "/course/"+code+"/handins", "data=xor")
	a.Send(404, "/course/XXXXXX/handins", "course=XXXXXX")
	long := a.Send(422, "/course/"+code+"/handins", "course="+code+"&who="+strings.Repeat("x", 61)).HTML()
	require.Check(t, long.Find("#hand-in .error").Length() == 1 && len(long.Find("#f-who").AttrOr("value", "")) == 61,
		"a name that is too long does not come back with a word beside it")
	a.Send(422, "/course/"+code+"/handins", "course="+code+"&C=-1")
	if runs, _, _ := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{}); len(runs) != 0 {
		t.Errorf("%d runs were saved all the same", len(runs))
	}

	// A run from its own page; one from outside of the course has no such button.
	a.Send(200, "/runs", "data=xor&course="+code)
	a.Send(200, "/runs", "data=xor")
	runs, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Ada), store.Filter{})
	require.Must(t, err == nil && len(runs) == 2, "%v %v", runs, err)
	inside, outside := "/runs/"+runs[0].ID, "/runs/"+runs[1].ID
	require.Check(t, a.Page(200, outside).Find("#hand-in").Length() == 0, "a run from outside can be handed in")
	a.Send(404, outside+"/handin", "who=x")
	if doc := a.Send(422, inside+"/handin", "who="+strings.Repeat("x", 61)).HTML(); doc.Find("#hand-in .error").Length() != 1 || len(doc.Find("#f-who").AttrOr("value", "")) != 61 {
		t.Error("a name that is too long does not come back with a word beside it")
	}
	s.Browse(t, handlerstest.Ben).Send(404, inside+"/handin", "who=x")
	doc := a.Send(200, inside+"/handin", "who=x").HTML()
	handin, _ := doc.Find("#hand-in .handed-in button").Attr("value")
	a.Send(200, "/course/"+code+"/withdraw", "run="+runs[0].ID+"&handin="+handin)

	tc.Send(200, "/courses/"+code+"/close", "closed=1")
	doc = a.Send(409, inside+"/handin", "who=x").HTML()
	if said := doc.Find("#hand-in [role=alert]").Text(); !strings.Contains(said, "Not handed in. This course is closed") || doc.Find(".run-view").Length() != 1 {
		t.Errorf("a refused hand-in of a saved run is told so by %q", said)
	}
	if doc := a.Send(409, "/course/"+code+"/handins", "course="+code+"&C=7").HTML(); doc.Find("[name=C]").AttrOr("value", "") != "7" || !strings.Contains(doc.Find(".course-banner [role=alert]").Text(), "Not handed in. This course is closed") {
		t.Errorf("a refused hand-in is told so by %q", doc.Find(".course-banner").Text())
	}
	if doc := a.Page(200, "/course/"+code); doc.Find("[formaction$=handins]").Length() > 0 || !strings.Contains(doc.Find("#hand-in").Text(), "no hand-ins") {
		t.Error("a closed course offers to hand in")
	}
	tc.Send(200, "/courses/"+code+"/close", "closed=0")
	a.Send(200, inside+"/handin", "who=x")
	require.Slices(t, names(tc.Page(200, "/courses/"+code)), []string{"x"}, "in the gallery")
}

// One workspace cannot fill a gallery, a name that is taken is marked, and the teacher
// removes and blocks.
func TestSabotage(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a, b := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada), s.Browse(t, handlerstest.Ben)
	code := tc.Course("/lab?data=xor", "")
	at, to := "/courses/"+code, "/course/"+code+"/handins"
	a.Send(200, to, "course="+code+"&who=Ada")
	for i := range store.MaxNames {
		b.Send(200, to, "course="+code+"&who="+[]string{"a+DA", "Mallory", ""}[i])
	}
	doc := b.Send(422, to, "course="+code+"&C=5&who=Ada+Lovelace").HTML()
	require.Check(t, strings.Contains(doc.Find("#hand-in .error").Text(), "3 names") && doc.Find("#f-C").AttrOr("value", "") == "5",
		"a fourth name does not come back with a word beside it")
	b.Send(200, to, "course="+code+"&C=5&who=Mallory")

	gallery := tc.Page(200, at)
	twins := handlerstest.Texts(gallery.Find(".gallery tbody tr:has(.twin) th a"))
	require.Check(t, slices.Equal(twins, []string{"Ada", "a DA"}), "marked are %q of %q", twins, names(gallery))
	with := handlerstest.Texts(gallery.Find(".gallery .with"))
	require.Check(t, slices.Equal(with, []string{"same student: anonymous 4, Mallory", "same student: a DA, Mallory", "same student: a DA, anonymous 4"}), "of one student: %q", with)
	workspace := string(store.WorkspaceOf(handlerstest.Ben))
	if html, _ := gallery.Html(); strings.Contains(html, workspace) || strings.Contains(html, handlerstest.Ben) {
		t.Error("the teacher is told the workspace")
	}

	id := func(name string) string {
		return tc.Page(200, at).Find(`.gallery tr:contains("`+name+`") [name=run]`).First().AttrOr("value", "")
	}
	for _, stranger := range []*handlerstest.Client{a, b} {
		stranger.Send(404, at+"/block", "run="+id("Ada"))
		stranger.Send(404, at+"/unblock", "block=1")
		stranger.Send(404, at+"/end", "lift=1")
		stranger.Want(404, "GET", at+"/handins.csv", "")
	}
	gallery = tc.Send(200, at+"/block", "run="+id("Mallory")+"&run=gone").HTML()
	require.Slices(t, names(gallery), []string{"Ada"}, "in the gallery")
	got := handlerstest.Texts(gallery.Find(".blocked li > span"))
	require.Check(t, len(got) == 1 && strings.HasPrefix(got[0], "Mallory, anonymous 4, a DA "), "blocked are %q", got)
	b.Send(409, to, "course="+code+"&who=Eve")
	if doc := b.Page(200, "/course/"+code); doc.Find("[formaction$=handins]").Length() > 0 || !strings.Contains(doc.Find("#hand-in").Text(), "blocked") {
		t.Error("who is blocked is not told")
	}
	a.Send(200, to, "course="+code+"&who=Ada")

	blocked := gallery.Find(".blocked button").AttrOr("value", "")
	tc.Send(404, at+"/unblock", "block=nobody")
	require.Check(t, tc.Send(200, at+"/unblock", "block="+blocked).HTML().Find(".blocked").Length() == 0,
		"still blocked")
	b.Send(200, to, "course="+code+"&who=Ben")
}

// From its end on a course takes nothing, until the end is put off or lifted.
func TestCourseEnds(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lab?data=xor", "")
	at, to := "/courses/"+code, "/course/"+code+"/handins"
	for _, wrong := range []string{"", "tomorrow", "2030-13-01T00:00", "0001-01-01T00:00", "99999-01-01T00:00"} {
		tc.Send(422, at+"/end", "ends="+wrong)
	}
	tag := tc.Do("GET", at, "").Header.Get("ETag")
	doc := tc.Send(200, at+"/end", "ends=2001-02-03T04:05").HTML()
	if ends := doc.Find(".course-state > p time"); ends.AttrOr("datetime", "") != "2001-02-03T04:05:00Z" || !strings.Contains(ends.Text(), "UTC") || doc.Find("#f-ends").AttrOr("value", "") != "2001-02-03T04:05" {
		t.Errorf("the page says %q", doc.Find(".course-state").Text())
	}
	require.Check(t, tc.Do("GET", at, "").Header.Get("ETag") != tag, "the page does not tell that it has changed")
	a.Send(409, to, "course="+code)
	if doc := a.Page(200, "/course/"+code); doc.Find("[formaction$=handins]").Length() > 0 || !strings.Contains(doc.Find("#hand-in").Text(), "ended") {
		t.Error("a course that has ended offers to hand in")
	}
	doc = a.Page(200, "/lessons/margins?course="+code)
	if said := doc.Find(".course-banner").Text(); !strings.Contains(said, "has ended") || doc.Find(".course-name").Length() > 0 {
		t.Errorf("a lesson of a course that has ended says %q, and who sees the answers", said)
	}
	require.Slices(t, handlerstest.Texts(tc.Page(200, "/courses").Find(".course-list .value")), []string{"0 ended"}, "the list")
	tc.Send(200, at+"/end", "ends=2999-01-01T00:00")
	doc = a.Send(200, to, "course="+code).HTML()
	require.Check(t, doc.Find(".course-banner time").First().AttrOr("datetime", "") == "2999-01-01T00:00:00Z",
		"students are not told the end")
	tc.Send(200, at+"/end", "ends=2001-02-03T04:05")
	doc = tc.Send(200, at+"/end", "lift=1").HTML()
	require.Check(t, doc.Find(".course-state > p time, [name=lift]").Length() == 0, "the end is not lifted")
	a.Send(200, to, "course="+code)
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

// The gallery is ranked by what was held out; who learns by heart and holds nothing out
// does not come first.
func TestGalleryRanks(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc := s.Browse(t, handlerstest.Teacher)
	code := tc.Course("/lab?data=moons&test_fraction=0.3", "")
	at := "/courses/" + code
	tokens := []string{handlerstest.Ada, handlerstest.Ben, strings.Repeat("3", 32), strings.Repeat("4", 32)}
	handIn := func(i int, form string) {
		s.Browse(t, tokens[i]).Send(200, "/course/"+code+"/handins", "course="+code+"&data=moons&"+form)
	}
	handIn(0, "C=1000&gamma=100&who=By+heart&test_fraction=0")
	if doc := tc.Page(200, at); doc.Find("[aria-sort=descending]").Length() > 0 || !strings.Contains(doc.Find("#gallery").Text(), "Not ranked") {
		t.Error("ranked by something else")
	}
	handIn(1, "kernel=linear&C=0.001&who=Poor&test_fraction=0.3")
	handIn(2, "C=10&gamma=2&who=Good&test_fraction=0.3")
	ranked := tc.Page(200, at)
	if got := names(ranked); len(got) != 3 || !strings.HasPrefix(got[0], "Good") || !strings.HasPrefix(got[2], "By heart") {
		t.Errorf("ranked %q", got)
	}
	text := ranked.Find("#gallery").Text()
	head := strings.TrimSpace(ranked.Find("[aria-sort=descending]").Text())
	require.Check(t, head == "Test accuracy" && strings.Contains(text, "come last") && !strings.Contains(text, "same points"), "ranked by %q, in words: %q", head, text)
	handIn(3, "C=10&gamma=2&who=Other&test_fraction=0.3&seed=9")
	require.Says(t, tc.Page(200, at).Find("#gallery").Text(), "Not all held out the same points", "another split is not told")
	got := names(tc.Page(200, at+"?sort=created"))
	require.Check(t, strings.HasPrefix(got[0], "By heart"), "in the order of time: %q", got)
}

// A course of a page that holds nothing out is offered a share to hold out, and the lab
// does so for students who come from a lesson.
func TestHeldOutInCourses(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc := s.Browse(t, handlerstest.Teacher)
	offer := func(target string) *goquery.Selection {
		return tc.Page(200, "/courses/new?target="+url.QueryEscape(target)).Find("[name=holdout]")
	}
	f := offer("/lab?data=moons&test_fraction=0")
	require.Check(t, f.Length() == 1 && f.AttrOr("checked", "no") != "no", "nothing is offered")
	require.Check(t, offer("/lab?data=moons&test_fraction=0.2").Length()+offer("/lab?data=moons").Length()+offer("/lessons/margins").Length() == 0,
		"offered to a page that holds something out, or a lesson")
	share := func(path string) string {
		return tc.Page(200, path).Find("[name=test_fraction]").AttrOr("value", "")
	}
	taken, declined := tc.Course("/lab?data=moons&test_fraction=0", "holdout=true"), tc.Course("/lab?data=moons&test_fraction=0", "")
	lesson := tc.Course("/lessons/mercer", "")
	for path, want := range map[string]string{
		"/course/" + taken: "0.3", "/course/" + declined: "0", "/lab?course=" + lesson + "&C=5": "0.3", "/lab?course=" + lesson + "&C=5&test_fraction=0": "0",
	} {
		require.Equal(t, share(path), want, "%s holds out", path)
	}
	q := url.Values{"target": {"/lab?test_fraction=0"}, "title": {""}}.Encode()
	f = tc.Send(422, "/courses", q).HTML().Find("[name=holdout]")
	require.Check(t, f.AttrOr("checked", "no") == "no", "what was declined comes back as chosen")
}

// What waits is in the gallery at once, and fills in when it is trained.
func TestHandInBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lab?data=xor", "")
	a.Send(200, "/course/"+code+"/handins", "course="+code)
	doc := tc.Page(200, "/courses/"+code)
	got := handlerstest.Texts(doc.Find(".gallery tbody td.value"))
	require.Check(t, len(got) == 2 && got[1] == "queued", "the row says %q", got)
	require.Check(t, doc.Find(".gallery-columns .figure").Length() == 0 && doc.Find(".gallery tbody a, .gallery tbody img").Length() == 0,
		"something is shown of a run that has not ended")
	id, _ := doc.Find("[name=run]").Attr("value")
	doc = tc.Page(200, "/courses/"+code+"/runs/"+id)
	require.Check(t, doc.Find(".gallery").Length() == 1, "the page of a run that has not ended does not lead back")
}

// The teacher's page is asked for again and again, and answers only with news.
func TestGalleryTellsNews(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lab?data=xor", "")
	tag := ""
	changed := func(want bool, after string) {
		t.Helper()
		got := tc.Do("GET", "/courses/"+code, "", "If-None-Match", tag)
		require.Check(t, (got.Status == 200) == want && (want || got.Status == 304),
			"after %s: status %d", after, got.Status)
		tag = cmp.Or(got.Header.Get("ETag"), tag)
	}
	changed(true, "the first request")
	changed(false, "nothing")
	a.Send(200, "/course/"+code+"/handins", "course="+code+"&who=Ada")
	changed(true, "a hand-in")
	changed(false, "nothing")
	tc.Send(200, "/courses/"+code+"/close", "closed=1")
	changed(true, "closing")
	got := tc.Do("GET", "/courses/"+code+"?sort=name", "", "If-None-Match", tag)
	require.Check(t, got.Status == 200, "in another order: status %d", got.Status)
}

// A lesson's demos obey the course as the lab does, on its page and on its slides.
func TestCourseOfLesson(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, c := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	doc := tc.Page(200, "/courses/new?target="+url.QueryEscape("/lessons/margins?screen=line&b=0.5"))
	v := doc.Find("[name='control.b']").First().Closest("tr").Find(".value").Text()
	require.Check(t, strings.TrimSpace(v) == "0.5", "b is asked about at %q", v)
	code := tc.Course("/lessons/margins?screen=line&b=0.5", "control.b=frozen&control.w2=hidden&control.px=frozen")
	doc = c.Page(200, "/course/"+code)
	demo := doc.Find("#line .demo")
	require.Equal(t, demo.Find("fieldset.frozen[disabled] [name=b]").AttrOr("value", ""), "0.5", "b is frozen at")
	require.Check(t, demo.Find("[name=w2]").Length() == 0 && demo.Find("[name=w1]").Length() == 1 && demo.Find("[name=w1]").Closest("[disabled]").Length() == 0,
		"w2 is not hidden, or w1 is not free")
	require.Check(t, doc.Find(".course-banner").Length() == 1 && demo.Find("[name=course]").AttrOr("value", "") == code,
		"the page does not stay in the course")
	got := doc.Find("#classifier .stage").AttrOr("data-stage", "")
	require.Check(t, !strings.Contains(got, "px"), "what is frozen can be dragged: %s", got)
	const forged = "&b=3&w2=-2&w1=2"
	live := handlerstest.Decode[struct{ Query string }](c.Send(200, "/lessons/margins/line/live", "course="+code+forged))
	if q, _ := url.ParseQuery(live.Query); q.Get("b") != "0.5" || q.Has("w2") || q.Get("w1") != "2" || q.Get("course") != code {
		t.Errorf("the live demo is at %s", live.Query)
	}
	figure := func(query string) string {
		src := c.Page(200, "/lessons/margins/line?"+query).Find(".demo .stage img").AttrOr("src", "")
		path, _, _ := strings.Cut(src, "?")
		return string(c.Want(200, "GET", path+"?"+query, "").Body)
	}
	require.Check(t, figure("course="+code+forged) == figure("course="+code+"&w1=2"), "the picture obeys what was sent")
	next := c.Page(200, "/lessons/margins/line?course="+code).Find("[rel=next]").AttrOr("href", "")
	require.Check(t, strings.Contains(next, "course="+code), "the next screen is at %s", next)
	// In the lab the course fixes nothing, but takes hand-ins.
	lab := c.Page(200, "/lab?data=xor&C=3&course="+code)
	require.Check(t, lab.Find(".frozen").Length() == 0 && lab.Find("[formaction$=handins]").Length() == 1,
		"the course of a lesson changes the lab")
	c.Page(404, "/lessons/margins?course=XXXXXX")
	tc.Page(404, "/courses/new?target=/lessons/nothing")
	tc.Page(404, "/courses/new?target=/lessons/margins/nothing")
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

// A course can be edited and copied, and handed to a colleague as a file, with its points.
func TestCourseIsEditedCopiedAndSent(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	tc, colleague, c := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Bob), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lab?C=3&points="+url.QueryEscape("0,0,a\n1,0,a\n0,3,b\n1,3,b"), "control.C=frozen&control.learner=hidden")
	state := func(c *handlerstest.Client, path, control string) string {
		t.Helper()
		return c.Page(200, path).Find("[name='control."+control+"'][checked]").AttrOr("value", "")
	}
	require.Check(t, state(tc, "/courses/"+code+"/edit", "C") == "frozen" && state(tc, "/courses/"+code+"/edit", "learner") == "hidden" && state(tc, "/courses/"+code+"/copy", "learner") == "hidden",
		"the form does not begin as the course is")
	tag := tc.Do("GET", "/courses/"+code, "").Header.Get("ETag")
	doc := tc.Send(200, "/courses/"+code+"/edit", "title=Another+name&handins=true&control.C=free&control.gamma=frozen").HTML()
	if again := tc.Do("GET", "/courses/"+code, "", "If-None-Match", tag); again.Status != 200 || !strings.Contains(string(again.Body), "Another name") {
		t.Errorf("after an edit the browser is told (%d) to show the page that it has", again.Status)
	}
	require.Check(t, doc.Find("h1").Text() == "Another name" && doc.Find(".course-code").Text() == code,
		"edited: %s", doc.Find("h1").Text())
	lab := c.Page(200, "/course/"+code)
	require.Check(t, lab.Find(".frozen [name=gamma]").Length() == 1 && lab.Find(".frozen [name=C]").Length() == 0 && lab.Find("[name=C]").AttrOr("value", "") == "3" && lab.Find("[name=learner]").Length() != 0,
		"the page is not as it was edited")
	text := tc.Send(422, "/courses/"+code+"/edit", "title=").HTML().Find(".error").Text()
	require.Check(t, text != "", "a course without a title")

	target := tc.Page(200, "/courses/"+code+"/copy").Find("[name=target]").AttrOr("value", "")
	copied := tc.Send(200, "/courses", url.Values{"target": {target}, "title": {"A copy"}, "handins": {"true"}}.Encode()).HTML().Find(".course-code").Text()
	file := tc.Want(200, "GET", "/courses/"+code+"/course.json", "")
	tc.Send(200, "/courses/"+code+"/delete", "")
	bringIn := func(status int, body string) *goquery.Document {
		t.Helper()
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part := require.Value(w.CreateFormFile("file", "course.json"))(t)
		_, _ = part.Write([]byte(body))
		_ = w.Close()
		return colleague.Want(status, "POST", "/courses/import", form.String(), "Content-Type", w.FormDataContentType()).HTML()
	}
	doc = bringIn(200, string(file.Body))
	sent := doc.Find(".course-code").Text()
	require.Check(t, doc.Find("h1").Text() == "Another name" && sent != code,
		"brought in: %q, code %s", doc.Find("h1").Text(), sent)
	for what, code := range map[string]string{"copied": copied, "sent": sent} {
		doc := c.Page(200, "/course/"+code)
		if frozen := doc.Find(".frozen [name=gamma]").Length(); doc.Find("[name=C]").AttrOr("value", "") != "3" || frozen != map[string]int{"copied": 0, "sent": 1}[what] || !strings.Contains(doc.Find("#f-data option[selected]").Text(), "edited") {
			t.Errorf("the course that was %s: C %s, data %q, %d frozen", what, doc.Find("[name=C]").AttrOr("value", ""), doc.Find("#f-data option[selected]").Text(), frozen)
		}
	}
	for _, bad := range []string{
		"", "[]", "{}", `{"format":2}`, `{"format":1,"title":"","page":"/lab"}`, `{"format":1,"title":"A","page":"https://example.org"}`, `{"format":1,"title":"A","page":"/settings"}`,
		`{"format":1,"title":"A","page":"/lessons/nothing"}`, `{"format":1,"title":"A","page":"/lab","points":"x"}`, strings.Replace(string(file.Body), "0,3,b", "0,much,b", 1),
	} {
		require.Says(t, bringIn(422, bad).Find(".error").Text(), "was not taken", "%.60q", bad)
	}
	for _, path := range []string{"/edit", "/copy", "/course.json", "/screen"} {
		colleague.Want(404, "GET", "/courses/"+copied+path, "")
	}
	colleague.Send(404, "/courses/"+copied+"/edit", "title=Mine")
}

// The screen for the projector has the code and counts, no names, and nothing that leads
// into the course's other pages.
func TestCourseScreen(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	code := tc.Course("/lab?data=xor", "")
	a.Send(200, "/course/"+code+"/handins", "course="+code+"&who=Ada+Lovelace")
	got := tc.Want(200, "GET", "/courses/"+code+"/screen", "")
	doc := got.HTML()
	require.Check(t, doc.Find(".course-code").Text() == code && doc.Find(".course-qr").Length() == 1 && strings.Contains(doc.Find("[data-count]").Text(), "1 run handed in"),
		"the screen says %q", doc.Find("article").Text())
	if text := string(got.Body); strings.Contains(text, "Lovelace") || strings.Contains(text, "/teach/") || doc.Find("nav").Length() > 0 {
		t.Error("the screen shows too much")
	}
	again := tc.Do("GET", "/courses/"+code+"/screen", "", "If-None-Match", got.Header.Get("ETag"))
	require.Check(t, again.Status == http.StatusNotModified, "asked again: %d", again.Status)
	page := tc.Page(200, "/courses/"+code)
	require.Check(t, page.Find(".course-qr").Length() == 0 && slices.Equal(names(page), []string{"Ada Lovelace"}),
		"the page with the names is also for the projector")
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

// Whatever is got is asked about, too, also on the pages below a course.
func TestHeadOfCourses(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false, dataset.DefaultLimits).Browse(t, handlerstest.Teacher)
	code := c.Course("/lab?data=moons", "")
	for _, path := range []string{"/courses/" + code, "/courses/" + code + "/edit", "/courses", "/course/" + code} {
		a := c.Fetch("HEAD", path, "")
		require.Check(t, a.Status == 200 && len(a.Body) == 0, "HEAD %s: %d and %d bytes", path, a.Status, len(a.Body))
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
