package runs_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/handlers"
	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
	"marginlab/web/jobs"
)

// What would change a run's result is led to from its page, shows what the library says, is then on
// the run's page in short, and the same under /api.
func TestChange(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	saved := func(body string) string {
		id := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/runs", body)).ID
		c.App.Jobs.Wait(t.Context(), 1e12, id)
		return "/runs/" + id
	}
	run := saved(`{"dataset":"moons","spec":{"C":7,"test_fraction":0.3}}`)
	b, _ := dataset.FindBuiltin("moons")
	d := require.Value(b.Load())(t)
	spec := ml.DefaultSpec()
	for name, value := range map[string]string{"C": "7", "test_fraction": "0.3"} {
		require.NoError(t, spec.Set(name, value))
	}
	want := require.Value(ml.Sense(t.Context(), d, spec, nil))(t)
	if at, _ := p.Page(200, run).Find("#h-change ~ p a").Attr("href"); at != run+"/change" {
		t.Errorf("the run leads to %q", at)
	}
	doc := p.Page(200, run+"/change")
	for at := doc; at.Find("#path").Length() > 0; at = doc { // as slow as the machine is
		doc = p.Page(200, at.Find("#path").AttrOr("data-follow", ""))
	}
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	for _, word := range []string{
		fmt.Sprintf("Without row %d the predicted class changes on", want.Removals[0].Row), "Under 30 bootstrap samples",
		fmt.Sprintf("%d of %d support vectors left out", len(want.Removals), want.SupportVectors), "60 held-out predictions", "4096 grid points",
	} {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in %s", word, text)
		}
	}
	for _, name := range []string{"band.svg", "band.png?dark=1"} {
		if a := p.Fetch("GET", run+"/change/figures/"+name, ""); a.Status != 200 || len(a.Body) < 1000 {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
	if a := p.Fetch("GET", run+"/change/figures/other.svg", ""); a.Status != 404 {
		t.Errorf("another figure: %d", a.Status)
	}
	if short := p.Page(200, run).Find(".change-answers").Text(); !strings.Contains(short, "Under 30 bootstrap samples") {
		t.Errorf("the run says %q", short)
	}
	got := handlerstest.Decode[ml.Sensitivity](c.Want(http.StatusOK, "POST", "/api"+run+"/change", ""))
	if diff := cmp.Diff(*want, got, cmpopts.IgnoreFields(ml.Sensitivity{}, "Model", "Sampled")); diff != "" {
		t.Error(diff)
	}

	other := saved(`{"dataset":"moons","spec":{"learner":"mcm"}}`)
	if p.Page(200, other).Find("#h-change").Length() != 0 {
		t.Error("an MCM leads to what would change it")
	}
	if text := p.Page(200, other+"/change").Find("[role=alert]").Text(); !strings.Contains(text, "take an SVM") {
		t.Errorf("an MCM is told %q", text)
	}
	c.Want(http.StatusNotFound, "POST", "/api/runs/nothing/change", "")
}

// What takes long goes on in the background: its page, /api and the running jobs tell how far it is
// and cancel it.
func TestChangeGoesOn(t *testing.T) {
	t.Parallel()
	s := handlerstest.ServeWith(t, true, handlers.Config{Limits: dataset.DefaultLimits, Log: slog.New(slog.DiscardHandler)}, jobs.Config{})
	told, ended := make(chan struct{}), make(chan struct{})
	s.App.Senses.Compute(func(ctx context.Context, _ *dataset.Data, _ ml.Spec, tell trace.Recorder) (*ml.Sensitivity, error) {
		tell(trace.Step{Phase: "without one support vector", Done: 20, Trainings: 80, Left: time.Minute})
		told <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	})
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	id := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"moons"}`)).ID
	c.App.Jobs.Wait(t.Context(), 1e12, id)
	at := "/api/runs/" + id + "/change"
	c.Want(http.StatusConflict, "GET", at, "")
	if a := c.Want(http.StatusAccepted, "POST", at, ""); a.Header.Get("Location") != at || a.Header.Get("Retry-After") == "" {
		t.Errorf("%v", a.Header)
	}
	<-told
	if now := handlerstest.Decode[api.Job](c.Want(http.StatusAccepted, "GET", at, "")); now.Kind != "sensitivity" || now.Done != 20 || now.Total != 80 || now.Text != "without one support vector: 20 of 80 trainings" {
		t.Errorf("programs are told %+v", now)
	}
	row := p.Page(200, "/jobs").Find(".jobs tbody tr")
	if text := row.Text(); row.Length() != 1 || !strings.Contains(text, "20 of 80 trainings") {
		t.Errorf("among the jobs: %q", text)
	}
	if text := p.Page(200, row.Find("th a").AttrOr("href", "")).Find("[data-progress]").Text(); !strings.Contains(text, "20 of 80") {
		t.Errorf("the job leads to %q", text)
	}
	p.Fetch("POST", row.Find("form").AttrOr("action", ""), "back=/jobs")
	<-ended
	if doc := p.Page(200, "/runs/"+id+"/change?follow=cancelled"); !strings.Contains(doc.Find("[role=alert]").Text(), "cancelled") || doc.Find("a.button").AttrOr("href", "") != "/runs/"+id+"/change" {
		t.Errorf("after it was cancelled: %s", doc.Find("main").Text())
	}
	c.Want(http.StatusAccepted, "POST", at, "")
	<-told
	c.Want(http.StatusNoContent, "DELETE", at, "")
	<-ended
}
