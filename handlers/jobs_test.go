package handlers_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/web/jobs"
)

// TestJobs lists what is under way with how far it is, and cancels it there.
func TestJobs(t *testing.T) {
	t.Parallel()
	told := make(chan struct{}, 1)
	s := handlerstest.ServeWith(t, true, handlers.Config{Patience: time.Hour}, jobs.Config{Train: func(ctx context.Context, _ *dataset.Data, _ ml.Spec, report trace.Recorder) (*ml.Result, error) {
		report(trace.Step{Phase: "kernel matrix", Done: 30, Rows: 120})
		told <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	require.Says(t, b.Page(200, "/jobs").Find("main").Text(), "Nothing is running", "the page when nothing is under way")
	first := c.Train(`{"dataset":"moons","name":"first","spec":{}}`)
	<-told
	c.Train(`{"dataset":"moons","name":"second","spec":{}}`)
	rows := b.Page(200, "/jobs").Find(".jobs tbody tr")
	require.Must(t, rows.Length() == 2 && strings.Contains(rows.Eq(0).Text(), "Kernel matrix: 30 of 120 rows") && strings.Contains(rows.Eq(1).Text(), "Waiting for its turn"),
		"under way: %q", rows.Text())
	v, _ := rows.Eq(0).Find("progress").Attr("value")
	require.Check(t, v == "30", "the bar stands at %q", v)
	list := handlerstest.Decode[struct{ Jobs []api.Job }](c.Want(200, "GET", "/api/jobs", "")).Jobs
	require.Check(t, len(list) == 2 && list[0].ID == first && list[0].Total == 120 && list[0].Step != nil && list[1].Status == "queued" && list[1].Left == nil,
		"programs are told %+v", list)
	require.Equal(t, s.Browse(t, handlerstest.Bob).Page(200, "/jobs").Find(".jobs").Length(), 0, "jobs of others")
	form := rows.Eq(0).Find("form")
	to, _ := form.Attr("action")
	after := c.Fetch("POST", to, "back="+form.Find("input[name=back]").AttrOr("value", ""))
	if title := after.HTML().Find("h1").Text(); title != "Running" || strings.Contains(after.HTML().Find(".jobs").Text(), "first") {
		t.Errorf("after it was cancelled: %q, %q", title, after.HTML().Find(".jobs").Text())
	}
	<-told // the second one has begun
}

// Queued runs say how many go before them, and long ones that shorter runs do.
func TestPlaceInQueue(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice) // nobody works
	long := c.Train(`{"dataset":"moons"}`)
	owner := store.NewOwner()
	_, ok, err := c.App.Store.ClaimRun(t.Context(), owner, long)
	require.Must(t, ok && err == nil, "%v %v", ok, err)
	if err := c.App.Store.ReleaseRun(t.Context(), owner, long, store.Medium); err != nil { // it took longer than a turn
		t.Fatal(err)
	}
	c.As(t, handlerstest.Bob).Train(`{"dataset":"moons"}`)
	c.Train(`{"dataset":"moons"}`)
	want := []string{"Waiting for its turn; shorter runs go first; about 2 runs before it", "Waiting for its turn; 1 run before it"}
	jobs := handlerstest.Decode[struct{ Jobs []api.Job }](c.Want(200, "GET", "/api/jobs", "")).Jobs
	require.Slices(t, lists.Map(jobs, func(j api.Job) string { return j.Text }), want, "jobs")
	text := c.Browse(t, handlerstest.Alice).Page(200, "/runs/"+long).Find(".pending").Text()
	require.Check(t, strings.Contains(text, "shorter runs go first; about 2 runs before it"), "%v", text)
}

// A study is a job as well, which the stream of jobs follows until it has ended, and which is
// cancelled from the page of all jobs.
func TestStudyIsAJob(t *testing.T) {
	s := handlerstest.Fresh(t, false) // nobody works
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	id := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf(strings.Replace(handlerstest.SmallStudy, "[data.mine]\nfile = \"own points.csv\"\n", "", 1)))).ID
	list := handlerstest.Decode[struct{ Jobs []api.Job }](c.Want(200, "GET", "/api/jobs", "")).Jobs
	require.Check(t, len(list) == 1 && list[0].Kind == "study" && list[0].ID == id && list[0].Total != 0 && list[0].Text == "Waiting for its turn",
		"%+v", list)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	req := require.Value(http.NewRequestWithContext(ctx, "GET", s.URL+"/api/jobs/events", nil))(t)
	req.Header.Set("Authorization", "Bearer "+handlerstest.Alice)
	res := require.Value(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	next := func() []api.Job {
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return require.JSON[struct{ Jobs []api.Job }](t, data).Jobs
			}
		}
		t.Fatal("the stream has ended")
		return nil
	}
	first := next()
	require.Check(t, len(first) == 1 && first[0].ID == id, "the stream begins with %+v", first)
	to, _ := b.Page(200, "/jobs").Find(".jobs form").Attr("action")
	title := c.Fetch("POST", to, "back=/jobs").HTML().Find("h1").Text()
	require.Check(t, to == "/studies/"+id+"/cancel" && title == "Running", "after %s: %q", to, title)
	require.Slices(t, next(), nil, "cancelled, and the stream tells")
}
