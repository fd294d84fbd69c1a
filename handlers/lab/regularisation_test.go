package lab_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers"
	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
	"marginlab/web/jobs"
)

// The regularisation path is led to from the lab and from a run, shows what the library says, and has
// the same under /api.
func TestPathOverC(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	d := mltest.Builtin(t, "moons")
	spec := ml.DefaultSpec()
	require.NoError(t, spec.Set("C", "7"))
	want := require.Value(ml.Regularise(t.Context(), d, spec, nil))(t)
	got := handlerstest.Decode[ml.Regularisation](c.Want(http.StatusOK, "POST", "/api/path", `{"dataset":"moons","spec":{"C":7}}`))
	require.Equal(t, cmp.Diff(*want, got), "", "diff")
	for body, word := range map[string]string{
		`{"dataset":"moons","spec":{"learner":"mcm"}}`: "use the SVM",
		`{"dataset":"iris"}`:                           "positive class",
		`{"dataset":"moons","C":1}`:                    "C",
	} {
		a := c.Fetch("POST", "/api/path", body)
		require.Check(t, a.Status >= 400 && a.Status < 500 && strings.Contains(string(a.Body), word), "%s: %d %s", body, a.Status, a.Body)
	}

	p := c.Browse(t, handlerstest.Alice)
	_, hidden := p.Page(200, "/lab?data=moons").Find(`[data-path]`).Attr("hidden")
	require.Check(t, !hidden, "the lab does not lead to the path")
	_, hidden = p.Page(200, "/lab?data=moons&learner=mcm").Find(`[data-path]`).Attr("hidden")
	require.Check(t, hidden, "the MCM has a regularisation path")
	doc := p.Page(200, "/path?data=moons&C=7&test_fraction=0")
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	require.Check(t, strings.Contains(text, fmt.Sprintf("%d of them", len(want.Entries))) && strings.Contains(text, "7 (here)") && doc.Find("h1").Text() == "Regularisation path of SVM",
		"%v", text)
	if href, _ := doc.Find("tbody th a").First().Attr("href"); !strings.HasPrefix(href, "/lab?C=0.001") {
		t.Errorf("a step leads to %q", href)
	}
	for _, name := range []string{"alphas.svg", "shares.png"} {
		a := p.Fetch("GET", "/path/figures/"+name+"?data=moons&C=7&test_fraction=0", "")
		require.Check(t, a.Status == 200 && len(a.Body) >= 1000, "%s: %d", name, a.Status)
	}
	require.Equal(t, p.Fetch("GET", "/path/figures/others.svg?data=moons", "").Status, 404, "a.Status")
	require.Says(t, p.Page(200, "/path?data=iris").Find("[role=alert]").Text(), "positive class", "three classes")
	href, _ := p.Page(200, "/runs/"+c.Done(`{"dataset":"moons"}`)).Find(`a[href^="/path"]`).Attr("href")
	doc = p.Page(200, href)
	for at := doc; at.Find("#path").Length() > 0; at = doc { // as slow as the machine is
		doc = p.Page(200, at.Find("#path").AttrOr("data-follow", ""))
	}
	require.Check(t, doc.Find(".figures img, .figures picture").Length() >= 2,
		"%q shows %s", href, doc.Find("main").Text())
}

// A path that takes long goes on: its page and /api tell how far it is, show it once it is there,
// and cancel it.
func TestPathGoesOn(t *testing.T) {
	t.Parallel()
	s := handlerstest.ServeWith(t, true, handlers.Config{}, jobs.Config{})
	told, rest, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.App.Paths.Compute = func(ctx context.Context, d *dataset.Data, spec ml.Spec, tell trace.Recorder) (*ml.Regularisation, error) {
		tell(trace.Step{Phase: "entry points", C: 0.3, Done: 20, Trainings: 480, Left: time.Minute})
		told <- struct{}{}
		select {
		case <-rest:
			return ml.Regularise(ctx, d, spec, tell)
		case <-ctx.Done():
			ended <- struct{}{}
			return nil, ctx.Err()
		}
	}
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	const body = `{"dataset":"moons","spec":{"gamma":2}}`
	began := c.Want(http.StatusAccepted, "POST", "/api/path", body)
	<-told
	at := began.Header.Get("Location")
	require.Check(t, began.Header.Get("Retry-After") != "" && strings.HasPrefix(at, "/api/path?dataset=moons&spec="),
		"%v", began.Header)
	for _, again := range []handlerstest.Answer{c.Want(http.StatusAccepted, "GET", at, ""), c.Want(http.StatusAccepted, "POST", "/api/path", body)} {
		now := handlerstest.Decode[api.Job](again)
		require.Check(t, now.Status == "running" && now.Done == 20 && now.Total == 480 && now.Step != nil && now.Step.C == 0.3 && now.Left != nil && now.Text == "Entry points: C = 0.3, 20 of 480 trainings", "programs are told %+v", now)
	}
	a := s.As(t, handlerstest.Bob).Fetch("GET", at, "")
	require.Check(t, a.Status == http.StatusConflict, "somebody else looks at it: %d %s", a.Status, a.Body)
	list := handlerstest.Decode[struct{ Jobs []api.Job }](c.Want(200, "GET", "/api/jobs", "")).Jobs
	require.Check(t, len(list) == 1 && list[0].Kind == "path" && list[0].Done == 20 && list[0].Left != nil && list[0].Dataset == "Moons, noise 0.15",
		"among the jobs: %+v", list)
	c.Want(http.StatusNoContent, "DELETE", "/api/path?id="+list[0].ID, "")
	<-ended
	c.Want(http.StatusConflict, "GET", at, "")
	c.Want(http.StatusAccepted, "POST", "/api/path", body)
	<-told
	row := p.Page(200, "/jobs").Find(".jobs tbody tr")
	text := row.Text()
	require.Check(t, row.Length() == 1 && strings.Contains(text, "20 of 480 trainings") && strings.Contains(text, "about"), "under way: %q", text)
	link := p.Page(200, row.Find("th a").AttrOr("href", "")).Find("[data-progress]").Text()
	require.Check(t, strings.Contains(link, "20 of 480"), "the path among the jobs leads to %q", link)
	after := p.Fetch("POST", row.Find("form").AttrOr("action", ""), "back=/jobs").HTML()
	<-ended
	require.Check(t, after.Find("h1").Text() == "Running" && after.Find(".jobs").Length() == 0,
		"after it was cancelled: %s", after.Find("main").Text())
	c.Want(http.StatusAccepted, "POST", "/api/path", body)
	<-told
	c.Want(http.StatusNoContent, "DELETE", at, "")
	<-ended
	c.Want(http.StatusConflict, "GET", at, "")
	for bad, word := range map[string]string{"dataset=moons&spec={": "spec", "dataset=moons&spec={%22c%22:1}": "c", "dataset=moons&C=1": "C", "spec={}": "dataset"} {
		a := c.Fetch("GET", "/api/path?"+bad, "")
		require.Check(t, a.Status == 422 && strings.Contains(string(a.Body), word), "%s: %d %s", bad, a.Status, a.Body)
	}

	doc := p.Page(200, "/path?data=moons&gamma=2&test_fraction=0")
	<-told
	follow := doc.Find("#path").AttrOr("data-follow", "")
	doc = p.Page(200, follow)
	if refresh := doc.Find("head noscript").Text(); !strings.Contains(refresh, "follow=1") || doc.Find("progress").AttrOr("value", "") != "20" || !strings.Contains(doc.Find("#path").Text(), "C = 0.3") || !strings.Contains(doc.Find("[data-time]").Text(), "left") {
		t.Errorf("%q; %s", refresh, doc.Find("main").Text())
	}
	cancelled := p.Fetch("POST", doc.Find("#path form").AttrOr("action", ""), "id="+doc.Find("#path [name=id]").AttrOr("value", ""))
	<-ended
	for _, doc := range []string{strings.Join(strings.Fields(cancelled.HTML().Find("main").Text()), " "), strings.Join(strings.Fields(p.Page(200, follow).Find("main").Text()), " ")} {
		require.Check(t, strings.Contains(doc, "cancelled") && strings.Contains(doc, "Start again"), "%v", doc)
	}
	again, _ := cancelled.HTML().Find("main a.button").Attr("href")
	follow = p.Page(200, again).Find("#path").AttrOr("data-follow", "")
	<-told
	close(rest)
	for doc = p.Page(200, follow); doc.Find("#path").Length() > 0; {
		doc = p.Page(200, follow)
	}
	require.Check(t, doc.Find("h2").First().Text() == "Values along C" && doc.Find("head noscript").Length() == 0,
		"%v", doc.Find("main").Text())
	c.Want(http.StatusOK, "GET", at, "")
}
