package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// A parameter that a request does not have is an error at every route, before anything is done.
func TestUnknownParameters(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	n := 0
	for method, pattern := range routes(t, c.App) {
		if !strings.HasPrefix(pattern, "/api/") || pattern == "/api/openapi.json" || pattern == "/api/workspaces" {
			continue
		}
		n++
		path := strings.NewReplacer("{id}", "x", "{figure}", "boundary.svg", "{code}", "BCDFGH", "{token}", "x", "{file}", "x.csv").Replace(pattern)
		c.Says(422, "nonsense is not a parameter of this request", method, path+"?nonsense=1", "{}")
	}
	require.Check(t, n >= 50, "only %d routes", n)
	c.Says(422, "row is not a parameter of this request: expected limit, offset", "GET", "/api/datasets?row=1", "")
	c.Says(422, "row is not a field of this request; /api/docs lists its fields", "POST", "/api/runs", `{"row":1}`)
	c.Says(422, "limit is given more than once", "GET", "/api/runs?limit=1&limit=2", "")
	c.Says(422, "runs expects a list, not string", "POST", "/api/runs/tags", `{"runs":"x"}`)
	c.Says(422, "this one has 1000: "+strings.Repeat("ä", 40)+"…", "POST", "/api/runs/tags", `{"where":"","add":["`+strings.Repeat("ä", 1000)+`"]}`)
	c.Says(404, "There is no run x in this workspace", "POST", "/api/runs/delete", `{"runs":["x"]}`)
	c.Says(422, "folds expects a whole number, not 2.5", "POST", "/api/searches", `{"dataset":"moons","folds":2.5}`)
	c.Says(422, `"field":"runs"`, "GET", "/api/comparison?runs=x", "")
	c.Says(422, `"field":"page"`, "POST", "/api/courses", `{"format":1,"title":"a","page":"/runs"}`)
}

// A request that waits is answered at the end of the work, or after its time.
func TestWaiting(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	type job struct {
		ID     string
		Status store.Status
		Cells  []any
	}
	get := func(path string) job {
		t.Helper()
		return handlerstest.Decode[job](c.Want(http.StatusOK, "GET", path, ""))
	}
	run := get("/api/runs/" + c.Train(`{"dataset":"moons"}`) + "?wait=60")
	require.Check(t, run.Status == store.Done, "a run that was waited for is %s", run.Status)
	search := handlerstest.Decode[job](c.Want(http.StatusAccepted, "POST", "/api/searches", `{"dataset":"moons","spec":{},"grid":{"C":[1,10,100]},"folds":3}`))
	none := get("/api/searches/" + search.ID + "?wait=60&cells=none")
	require.Check(t, none.Status == store.Done && len(none.Cells) == 0,
		"a search that was waited for is %s, with %d cells", none.Status, len(none.Cells))
	all := get("/api/searches/" + search.ID)
	require.Check(t, len(all.Cells) == 3, "%d cells", len(all.Cells))
	long := c.Train(handlerstest.LongRun)
	begun := time.Now()
	if run := get("/api/runs/" + long + "?wait=0.2"); run.Status.Ended() || time.Since(begun) < 200*time.Millisecond {
		t.Errorf("a long run is %s, after %v", run.Status, time.Since(begun))
	}
	ended := make(chan job)
	go func() { ended <- get("/api/runs/" + long + "?wait=60") }()
	c.Want(http.StatusAccepted, "POST", "/api/runs/"+long+"/cancel", "")
	run = <-ended
	require.Check(t, run.Status == store.Cancelled, "a cancelled run is %s", run.Status)
	for _, bad := range []string{"61", "-1", "x", "NaN"} {
		c.Says(422, "0 to 60", "GET", "/api/runs/"+c.Train(handlerstest.LongRun)+"?wait="+bad, "")
	}
	require.Equal(t, c.Do("GET", "/api/searches/"+search.ID+"?cells=some", "").Status, 422, "cells=some")
}
