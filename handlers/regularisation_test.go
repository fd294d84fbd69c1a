package handlers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/api"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
	"marginlab/web/jobs"
)

// The path over C is led to from the lab and from a run, shows what the library says, and has
// the same under /api.
func TestPathOverC(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	b, _ := dataset.FindBuiltin("moons")
	d, err := b.Load()
	if err != nil {
		t.Fatal(err)
	}
	spec := ml.DefaultSpec()
	if err := spec.Set("C", "7"); err != nil {
		t.Fatal(err)
	}
	want, err := ml.Regularise(t.Context(), d, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := decode[ml.Regularisation](c.want(http.StatusOK, "POST", "/api/path", `{"dataset":"moons","spec":{"C":7}}`))
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Error(diff)
	}
	for body, word := range map[string]string{
		`{"dataset":"moons","spec":{"learner":"mcm"}}`: "take the SVM",
		`{"dataset":"iris"}`:                           "positive class",
		`{"dataset":"moons","C":1}`:                    "C",
	} {
		if a := c.fetch("POST", "/api/path", body); a.status < 400 || a.status >= 500 || !strings.Contains(string(a.body), word) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}

	p := s.browse(t, alice)
	if _, hidden := p.page(200, "/lab?data=moons").Find(`[data-path]`).Attr("hidden"); hidden {
		t.Error("the lab does not lead to the path")
	}
	if _, hidden := p.page(200, "/lab?data=moons&learner=mcm").Find(`[data-path]`).Attr("hidden"); !hidden {
		t.Error("the MCM has a path over C")
	}
	doc := p.page(200, "/path?data=moons&C=7&test_fraction=0")
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	if !strings.Contains(text, fmt.Sprintf("%d of them", len(want.Entries))) || !strings.Contains(text, "7 (here)") || doc.Find("h1").Text() != "Path over C of SVM rbf" {
		t.Error(text)
	}
	if href, _ := doc.Find("tbody th a").First().Attr("href"); !strings.HasPrefix(href, "/lab?C=0.001") {
		t.Errorf("a step leads to %q", href)
	}
	for _, name := range []string{"alphas.svg", "shares.png"} {
		if a := p.fetch("GET", "/path/figures/"+name+"?data=moons&C=7&test_fraction=0", ""); a.status != 200 || len(a.body) < 1000 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if a := p.fetch("GET", "/path/figures/others.svg?data=moons", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
	if got := p.page(200, "/path?data=iris").Find("[role=alert]").Text(); !strings.Contains(got, "positive class") {
		t.Errorf("%q", got)
	}
	id := decode[api.RunStatus](c.want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"moons"}`)).ID
	c.app.Jobs.Wait(t.Context(), 1e12, id)
	href, _ := p.page(200, "/runs/"+id).Find(`a[href^="/path"]`).Attr("href")
	doc = p.page(200, href)
	for at := doc; at.Find("#path").Length() > 0; at = doc { // as slow as the machine is
		doc = p.page(200, at.Find("#path").AttrOr("data-follow", ""))
	}
	if doc.Find(".figures img, .figures picture").Length() < 2 {
		t.Errorf("%q shows %s", href, doc.Find("main").Text())
	}
}

// A path that takes long goes on: its page and /api tell how far it is, show it once it is there,
// and cancel it.
func TestPathGoesOn(t *testing.T) {
	t.Parallel()
	s := serveWith(t, true, Config{Limits: dataset.DefaultLimits, Log: slog.New(slog.DiscardHandler)}, jobs.Config{})
	told, rest, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.app.Paths.Follow(func(ctx context.Context, d *dataset.Data, spec ml.Spec, tell trace.Recorder) (*ml.Regularisation, error) {
		tell(trace.Step{Phase: "entry points", C: 0.3, Done: 20, Trainings: 480, Left: time.Minute})
		told <- struct{}{}
		select {
		case <-rest:
			return ml.Regularise(ctx, d, spec, tell)
		case <-ctx.Done():
			ended <- struct{}{}
			return nil, ctx.Err()
		}
	})
	c, p := s.client(t, alice), s.browse(t, alice)
	const body = `{"dataset":"moons","spec":{"gamma":2}}`
	began := c.want(http.StatusAccepted, "POST", "/api/path", body)
	<-told
	at := began.header.Get("Location")
	if began.header.Get("Retry-After") == "" || !strings.HasPrefix(at, "/api/path?dataset=moons&spec=") {
		t.Errorf("%v", began.header)
	}
	for _, again := range []answer{c.want(http.StatusAccepted, "GET", at, ""), c.want(http.StatusAccepted, "POST", "/api/path", body)} {
		if now := decode[api.Job](again); now.Status != "running" || now.Done != 20 || now.Total != 480 || now.Step == nil || now.Step.C != 0.3 || now.Left == nil || now.Text != "entry points: C = 0.3, 20 of 480 trainings" {
			t.Errorf("programs are told %+v", now)
		}
	}
	if a := s.client(t, bob).fetch("GET", at, ""); a.status != http.StatusConflict {
		t.Errorf("somebody else looks at it: %d %s", a.status, a.body)
	}
	list := decode[struct{ Jobs []api.Job }](c.want(200, "GET", "/api/jobs", "")).Jobs
	if len(list) != 1 || list[0].Kind != "path" || list[0].Done != 20 || list[0].Left == nil || list[0].Dataset != "Moons" {
		t.Errorf("among the jobs: %+v", list)
	}
	c.want(http.StatusNoContent, "DELETE", "/api/path?id="+list[0].ID, "")
	<-ended
	c.want(http.StatusConflict, "GET", at, "")
	c.want(http.StatusAccepted, "POST", "/api/path", body)
	<-told
	row := p.page(200, "/jobs").Find(".jobs tbody tr")
	if text := row.Text(); row.Length() != 1 || !strings.Contains(text, "20 of 480 trainings") || !strings.Contains(text, "about") {
		t.Errorf("under way: %q", text)
	}
	if link := p.page(200, row.Find("th a").AttrOr("href", "")).Find("[data-progress]").Text(); !strings.Contains(link, "20 of 480") {
		t.Errorf("the path among the jobs leads to %q", link)
	}
	after := p.fetch("POST", row.Find("form").AttrOr("action", ""), "back=/jobs").html()
	<-ended
	if after.Find("h1").Text() != "Under way" || after.Find(".jobs").Length() > 0 {
		t.Errorf("after it was cancelled: %s", after.Find("main").Text())
	}
	c.want(http.StatusAccepted, "POST", "/api/path", body)
	<-told
	c.want(http.StatusNoContent, "DELETE", at, "")
	<-ended
	c.want(http.StatusConflict, "GET", at, "")
	for bad, word := range map[string]string{"dataset=moons&spec={": "spec", "dataset=moons&spec={%22c%22:1}": "c", "dataset=moons&C=1": "C", "spec={}": "dataset"} {
		if a := c.fetch("GET", "/api/path?"+bad, ""); a.status != 422 || !strings.Contains(string(a.body), word) {
			t.Errorf("%s: %d %s", bad, a.status, a.body)
		}
	}

	doc := p.page(200, "/path?data=moons&gamma=2&test_fraction=0")
	<-told
	follow := doc.Find("#path").AttrOr("data-follow", "")
	doc = p.page(200, follow)
	if refresh := doc.Find("head noscript").Text(); !strings.Contains(refresh, "follow=1") || doc.Find("progress").AttrOr("value", "") != "20" || !strings.Contains(doc.Find("#path").Text(), "C = 0.3") || !strings.Contains(doc.Find("[data-time]").Text(), "left") {
		t.Errorf("%q; %s", refresh, doc.Find("main").Text())
	}
	cancelled := p.fetch("POST", doc.Find("#path form").AttrOr("action", ""), "id="+doc.Find("#path [name=id]").AttrOr("value", ""))
	<-ended
	for _, doc := range []string{strings.Join(strings.Fields(cancelled.html().Find("main").Text()), " "), strings.Join(strings.Fields(p.page(200, follow).Find("main").Text()), " ")} {
		if !strings.Contains(doc, "cancelled") || !strings.Contains(doc, "Begin again") {
			t.Error(doc)
		}
	}
	again, _ := cancelled.html().Find("main a.button").Attr("href")
	follow = p.page(200, again).Find("#path").AttrOr("data-follow", "")
	<-told
	close(rest)
	for doc = p.page(200, follow); doc.Find("#path").Length() > 0; {
		doc = p.page(200, follow)
	}
	if doc.Find("h2").First().Text() != "Along C" || doc.Find("head noscript").Length() > 0 {
		t.Error(doc.Find("main").Text())
	}
	c.want(http.StatusOK, "GET", at, "")
}
