package runs_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// What would change a run's result is led to from its page, shows what the library says, is then on
// the run's page in short, and the same under /api.
func TestChange(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	saved := func(body string) string {
		return "/runs/" + c.Done(body)
	}
	run := saved(`{"dataset":"moons","spec":{"C":7,"test_fraction":0.3}}`)
	d := mltest.Builtin(t, "moons")
	spec := ml.DefaultSpec()
	for name, value := range map[string]string{"C": "7", "test_fraction": "0.3"} {
		require.NoError(t, spec.Set(name, value))
	}
	want := require.Value(ml.Sense(t.Context(), d, spec, nil))(t)
	at, _ := p.Page(200, run).Find("#h-change ~ p a").Attr("href")
	require.Check(t, at == run+"/change", "the run leads to %q", at)
	doc := p.Page(200, run+"/change")
	for at := doc; at.Find("#path").Length() > 0; at = doc { // as slow as the machine is
		doc = p.Page(200, at.Find("#path").AttrOr("data-follow", ""))
	}
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	for _, word := range []string{
		fmt.Sprintf("Without row %d the predicted class changes on", want.Removals[0].Row), "Under 30 bootstrap samples",
		fmt.Sprintf("%d of %d support vectors left out", len(want.Removals), want.SupportVectors), "60 held-out predictions", "4096 grid points",
	} {
		require.Check(t, strings.Contains(text, word), "%q is missing in %s", word, text)
	}
	require.Check(t, doc.Find("td").FilterFunction(func(_ int, td *goquery.Selection) bool { return td.Text() == "−1" }).Length() > 0, "no label −1 in %s", text)
	for _, name := range []string{"band.svg", "band.png?dark=1"} {
		a := p.Fetch("GET", run+"/change/figures/"+name, "")
		require.Check(t, a.Status == 200 && len(a.Body) >= 1000, "%s: %d", name, a.Status)
	}
	tag := func(query string) string {
		return p.Fetch("GET", run+"/change/figures/band.svg?"+query, "").Header.Get("ETag")
	}
	require.Check(t, tag("") != "" && tag("") != tag("limits=0,1,0,1"),
		"of the whole plane and of a part the tag is %q", tag(""))
	require.Equal(t, p.Fetch("GET", run+"/change/figures/other.svg", "").Status, 404, "another figure")
	require.Says(t, p.Page(200, run).Find(".change-answers").Text(), "Under 30 bootstrap samples", "the run says")
	got := handlerstest.Decode[ml.Sensitivity](c.Want(http.StatusOK, "POST", "/api"+run+"/change", ""))
	require.Equal(t, cmp.Diff(*want, got, cmpopts.IgnoreFields(ml.Sensitivity{}, "Model", "Sampled")), "", "diff")

	other := saved(`{"dataset":"moons","spec":{"learner":"mcm"}}`)
	require.Check(t, p.Page(200, other).Find("#h-change").Length() == 0, "an MCM leads to what would change it")
	require.Says(t, p.Page(200, other+"/change").Find("[role=alert]").Text(), "Sensitivity is not computed for MCM", "an MCM is told")
	jumps := saved(`{"dataset":"moons","spec":{"kernel":"sigmoid"}}`)
	require.Check(t, p.Page(200, jumps).Find("#h-change").Length() == 0,
		"a kernel that is not positive semidefinite leads to what would change it")
	c.Want(http.StatusNotFound, "POST", "/api/runs/nothing/change", "")
}

// What takes long goes on in the background: its page, /api and the running jobs tell how far it is
// and cancel it.
func TestChangeGoesOn(t *testing.T) {
	t.Parallel()
	s := handlerstest.ServeWith(t, true, handlers.Config{}, jobs.Config{})
	told, ended := make(chan struct{}), make(chan struct{})
	s.App.Senses.Compute = func(ctx context.Context, _ *dataset.Data, _ ml.Spec, tell trace.Recorder) (*ml.Sensitivity, error) {
		tell(trace.Step{Phase: "without one support vector", Done: 20, Trainings: 80, Left: time.Minute})
		told <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	}
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	id := c.Done(`{"dataset":"moons"}`)
	at := "/api/runs/" + id + "/change"
	c.Want(http.StatusConflict, "GET", at, "")
	a := c.Want(http.StatusAccepted, "POST", at, "")
	require.Check(t, a.Header.Get("Location") == at && a.Header.Get("Retry-After") != "", "%v", a.Header)
	<-told
	now := handlerstest.Decode[api.Job](c.Want(http.StatusAccepted, "GET", at, ""))
	require.Check(t, now.Kind == "sensitivity" && now.Done == 20 && now.Total == 80 && now.Text == "Without one support vector: 20 of 80 trainings", "programs are told %+v", now)
	row := p.Page(200, "/jobs").Find(".jobs tbody tr")
	text := row.Text()
	require.Check(t, row.Length() == 1 && strings.Contains(text, "20 of 80 trainings"), "among the jobs: %q", text)
	text = p.Page(200, row.Find("th a").AttrOr("href", "")).Find("[data-progress]").Text()
	require.Check(t, strings.Contains(text, "20 of 80"), "the job leads to %q", text)
	p.Fetch("POST", row.Find("form").AttrOr("action", ""), "back=/jobs")
	<-ended
	if doc := p.Page(200, "/runs/"+id+"/change?follow=cancelled"); !strings.Contains(doc.Find("[role=alert]").Text(), "cancelled") || doc.Find("a.button").AttrOr("href", "") != "/runs/"+id+"/change" {
		t.Errorf("after it was cancelled: %s", doc.Find("main").Text())
	}
	c.Want(http.StatusAccepted, "POST", at, "")
	<-told
	c.Want(http.StatusNoContent, "DELETE", at, "")
	<-ended
	for _, form := range []string{"back=/jobs", ""} { // of the jobs, of its own page
		id := c.Done(`{"dataset":"moons"}`)
		c.Want(http.StatusAccepted, "POST", "/api/runs/"+id+"/change", "")
		<-told
		page := "/runs/" + id + "/change"
		if form == "" {
			form = "id=" + p.Page(200, page).Find("#path input[name=id]").AttrOr("value", "")
		}
		c.Want(http.StatusNoContent, "DELETE", "/api/runs/"+id, "")
		p.Fetch("POST", page+"/cancel", form)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it goes on after its run was deleted", form)
		}
	}
	require.Equal(t, p.Fetch("POST", "/runs/nothing/change/cancel", "").Status, http.StatusNotFound, "of no run")
}

// What matters most is said as it is where several points matter as much, where none does, and where
// there is no boundary without one.
func TestChangeSaysWhatMatters(t *testing.T) {
	t.Parallel()
	s := handlerstest.ServeWith(t, true, handlers.Config{Patience: time.Hour}, jobs.Config{})
	tests := []struct {
		removals []ml.Removal
		want     string
		ring     bool
	}{
		{[]ml.Removal{{Row: 3, Moved: 0.5}, {Row: 4, Moved: 0.25}}, "Without row 3 the predicted class changes on 50.0\u00a0% of the plane, more than without any other support vector tried.", true},
		{[]ml.Removal{{Row: 3, Moved: 0.5}, {Row: 4, Moved: 0.5}}, "Without row 3 the predicted class changes on 50.0\u00a0% of the plane, as much as without row 4.", true},
		{[]ml.Removal{{Row: 3}, {Row: 4}}, "Leaving out any one of the support vectors tried changes the predicted class nowhere.", false},
		{[]ml.Removal{{Row: 3, Moved: 1, Only: true}, {Row: 4}}, "Row 3 is the only training row of its class: there is no boundary without it. Leaving out any one of the other support vectors tried changes the predicted class nowhere.", false},
	}
	s.App.Senses.Compute = func(ctx context.Context, d *dataset.Data, spec ml.Spec, tell trace.Recorder) (*ml.Sensitivity, error) {
		r, err := ml.Sense(ctx, d, spec, tell)
		if err == nil {
			r.Removals = tests[int(spec.Values.Number("C"))-1].removals
		}
		return r, err
	}
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	for k, test := range tests {
		id := c.Done(fmt.Sprintf(`{"dataset":"moons","spec":{"C":%d}}`, k+1))
		at := "/runs/" + id + "/change"
		c.Want(http.StatusOK, "POST", "/api"+at, "")
		doc := p.Page(200, at)
		require.Equal(t, doc.Find(".change-answers li").Eq(1).Text(), test.want, "Text")
		row := doc.Find("[aria-label='Support vectors left out'] tbody tr").First().Text()
		require.Check(t, strings.Contains(row, "no boundary without it") == test.removals[0].Only, "%q of %+v", row, test.removals[0])
		band := string(p.Fetch("GET", at+"/figures/band.svg", "").Body)
		require.Check(t, strings.Contains(band, "is ringed") == test.ring, "%+v: ring %v", test.removals, !test.ring)
	}
}
