package handlers_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers"
	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/web/jobs"
)

// Viewing a page counts as use of the workspace.
func TestUseIsNoted(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	s.App.Store.Now = func() time.Time { return now }
	c := s.As(t, handlerstest.Alice)
	c.Want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", twoPoints)
	seen := func() time.Time {
		return require.Value(s.App.Store.Holdings(t.Context(), store.WorkspaceOf(handlerstest.Alice)))(t).Seen
	}
	for _, hours := range []int{30, 100 * 24} {
		now = now.Add(time.Duration(hours) * time.Hour)
		c.Want(http.StatusOK, "GET", "/datasets", "")
		require.Check(t, seen().Equal(now), "last used %v, and looked at %v", seen(), now)
	}
}

// A server whose data directory was taken away promises nothing, and says that it is
// not well.
func TestDirectoryTakenAway(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	c.Want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", twoPoints)
	c.Want(http.StatusOK, "GET", "/healthz", "")
	require.NoError(t, os.RemoveAll(filepath.Dir(c.App.Store.Path())))
	c.Want(http.StatusInsufficientStorage, "POST", "/api/datasets?name=b.csv", twoPoints)
	c.Want(http.StatusInsufficientStorage, "GET", "/healthz", "")
	c.Want(http.StatusOK, "GET", "/", "") // pages can still be looked at
	c.Says(http.StatusInsufficientStorage, "Not saved", "POST", "/studies", "data=moons&learner=SVM&folds=3", "Content-Type", "application/x-www-form-urlencoded")
}

// On a disk that is nearly full the server is alive and not ready; large files are refused before they
// are read, and deleting and answering go on.
func TestLowDisk(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := handlerstest.ServeWith(t, false, handlers.Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Patience: time.Hour}, jobs.Config{})
	free := int64(900 << 20)
	s.App.Store.Disk = func() (int64, int64, error) { return free, 1 << 30, nil }
	c := s.As(t, handlerstest.Alice)
	set := handlerstest.Decode[handlerstest.Object](c.Want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", twoPoints))["id"].(string)
	c.Want(http.StatusOK, "GET", "/readyz", "")
	free = 1 << 20
	c.Want(http.StatusOK, "GET", "/healthz", "")
	c.Want(http.StatusInsufficientStorage, "GET", "/readyz", "")
	for _, body := range []string{twoPoints, strings.Repeat(twoPoints, 100_000)} {
		require.Says(t, string(c.Want(http.StatusInsufficientStorage, "POST", "/api/datasets?name=b.csv", body).Body), "nearly full", "the refusal")
	}
	c.Want(http.StatusInsufficientStorage, "POST", "/api/runs", `{"dataset":"moons","spec":{}}`)
	c.Want(http.StatusNoContent, "DELETE", "/api/datasets/"+set, "")
	c.Want(http.StatusOK, "GET", "/datasets", "")
	free = 900 << 20
	c.Want(http.StatusOK, "GET", "/readyz", "")
	s.Close() // all is logged
	require.Check(t, strings.Contains(log.String(), "nearly full") && !strings.Contains(log.String(), "does not answer"),
		"%v", log.String())
}

// An archive downloaded from the page is imported over JSON into another workspace, and the
// other way round; deleting everything leaves nothing.
func TestWorkspaceAsAWhole(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	a, b := s.As(t, handlerstest.Alice), s.As(t, handlerstest.Bob)
	a.Want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", "x,y,c\n1,2,a\n3,4,b\n5,5,b\n0,0,a\n")
	a.Follow(a.Train(`{"dataset":"moons","name":"mine","tags":["t"]}`))
	asked := a.Ended(handlerstest.Decode[api.RunStatus](a.Want(http.StatusAccepted, "POST", "/api/studies", handlerstest.OrderOf("[scheme]\nfolds = 2\n[data.moons]\ngenerator = \"moons\"\nn = 20\n[learner.SVM]\n[learner.MCM]\nlearner = \"mcm\"\n"))).ID)
	search := handlerstest.Decode[api.RunStatus](a.Want(http.StatusAccepted, "POST", "/api/searches", `{"dataset":"moons","spec":{},"grid":{"C":[1,10]},"folds":3}`)).ID
	a.App.Jobs.Wait(t.Context(), time.Hour, search)
	a.Want(http.StatusCreated, "POST", "/api/reports", `{"title":"findings","text":"![the search](/searches/`+search+`)"}`)
	holds := func(c *handlerstest.Client) (datasets, runs float64) {
		o := handlerstest.Decode[handlerstest.Object](c.Want(http.StatusOK, "GET", "/api/workspace", ""))
		return o["datasets"].(float64), o["runs"].(float64)
	}
	archive := a.Want(http.StatusOK, "GET", "/settings/workspace.zip", "")
	kind := archive.Header.Get("Content-Type")
	require.Check(t, kind == "application/zip" && strings.Contains(archive.Header.Get("Content-Disposition"), "margin-lab-"), "%v", archive.Header)
	for _, want := range []string{`{"datasets":1,"runs":1,"searches":1,"studies":1,"reports":1,"present":0}`, `{"datasets":0,"runs":0,"searches":0,"studies":0,"reports":0,"present":5}`} {
		got := strings.TrimSpace(string(b.Want(http.StatusOK, "POST", "/api/workspace.zip", string(archive.Body)).Body))
		require.Check(t, got == want, "%s, want %s", got, want)
	}
	d, r := holds(b)
	require.Check(t, d == 1 && r == 1, "%v data sets, %v runs", d, r)
	run := handlerstest.Decode[struct{ Runs []handlerstest.Object }](b.Want(http.StatusOK, "GET", "/api/runs", "")).Runs[0]
	b.Want(http.StatusOK, "GET", "/runs/"+run["id"].(string), "")
	b.Want(http.StatusOK, "GET", "/api/runs/"+run["id"].(string)+"/figures/boundary.svg", "")
	b.Want(http.StatusUnprocessableEntity, "POST", "/api/workspace.zip", "no archive")
	there := handlerstest.Decode[struct{ Studies []api.Study }](b.Want(http.StatusOK, "GET", "/api/studies", "")).Studies[0]
	if there = b.Ended(there.ID); there.Status != store.Done || !cmp.Equal(there.Result, asked.Result) {
		t.Errorf("the study came back otherwise: %s", cmp.Diff(there.Result, asked.Result))
	}
	if text := b.Page(http.StatusOK, "/studies/"+there.ID).Find("main").Text(); !strings.Contains(text, "Imported from an archive") || !strings.Contains(text, "Accuracy in %") {
		t.Error(text)
	}
	b.Want(http.StatusOK, "GET", "/studies/"+there.ID+"/tests.csv", "")
	b.Want(http.StatusOK, "GET", "/studies", "")
	found := handlerstest.Decode[struct{ Searches []api.Search }](b.Want(http.StatusOK, "GET", "/api/searches", "")).Searches[0]
	n := b.Page(http.StatusOK, "/searches/"+found.ID).Find(".problem").Length()
	require.Check(t, n <= 0 && found.Status == store.Done && found.Done == 3, "the search came back otherwise: %+v", found)
	report := handlerstest.Decode[struct{ Reports []handlerstest.Object }](b.Want(http.StatusOK, "GET", "/api/reports", "")).Reports[0]["id"].(string)
	text := b.Page(http.StatusOK, "/reports/"+report).Find("main").Text()
	require.Check(t, strings.Contains(text, "the search") && strings.Contains(text, "Best of 2 settings"), "%v", text)
	b.Want(http.StatusOK, "GET", "/reports/"+report+"/figures/1-1.svg", "")
	b.Want(http.StatusNoContent, "DELETE", "/api/studies/"+there.ID, "")
	b.Want(http.StatusNoContent, "DELETE", "/api/searches/"+found.ID, "")

	b.Want(http.StatusUnprocessableEntity, "POST", "/settings/delete", "", form...)
	d, _ = holds(b)
	require.Check(t, d == 1, "deleted though the box was not ticked")
	page := string(b.Want(http.StatusOK, "POST", "/settings/delete", "sure=yes", form...).Body)
	d, r = holds(b)
	require.Check(t, d+r == 0 && strings.Contains(page, "was deleted"), "%v data sets, %v runs are left", d, r)
	imported := b.Attach("/settings/import", "a.zip", string(archive.Body))
	require.Equal(t, imported.Status, http.StatusOK, "the import")
	require.Says(t, string(imported.Body), "Imported: 1 data set, 1 run, 1 search, 1 study and 1 report.", "the import")
	wrong := b.Attach("/settings/import", "a.zip", "dear")
	require.Equal(t, wrong.Status, http.StatusUnprocessableEntity, "a file that is no archive")
	require.Says(t, string(wrong.Body), "not a complete zip file", "a file that is no archive")
	b.Want(http.StatusNoContent, "DELETE", "/api/workspace", "")
	d, r = holds(b)
	require.Check(t, d+r == 0, "%v data sets and %v runs are left", d, r)
	d, r = holds(a)
	require.Check(t, d == 1 && r == 1, "of the other workspace %v data sets and %v runs are left", d, r)
}

// A full workspace is told the limit and the remedy, in JSON and on a page.
func TestQuotaIsTold(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	s.App.Store.Quota = store.Quota{Datasets: 1, Runs: 1}
	c := s.As(t, handlerstest.Alice)
	c.Want(http.StatusCreated, "POST", "/api/datasets?name=a.csv", twoPoints)
	for path, body := range map[string]string{"/api/datasets?name=b.csv": twoPoints, "/datasets/generate": "generator=moons&n=20&noise=0.1&seed=1"} {
		var header []string
		if body != twoPoints {
			header = form
		}
		got := string(c.Want(http.StatusInsufficientStorage, "POST", path, body, header...).Body)
		require.Check(t, strings.Contains(got, "This workspace holds 1 data set, the maximum.") && strings.Contains(got, "Delete what you do not need"), "%s: %s", path, got)
	}
	require.Says(t, string(c.Want(http.StatusOK, "GET", "/settings", "").Body), "1 data sets and 1 runs", "the settings")
}

var form = []string{"Content-Type", "application/x-www-form-urlencoded"}

// Where somebody saves something, the page says after how long without a visit it is deleted,
// and nothing where that is never.
func TestRetentionIsTold(t *testing.T) {
	t.Parallel()
	for days, want := range map[int]bool{0: false, 45: true} {
		s := handlerstest.ServeWith(t, false, handlers.Config{Patience: time.Hour, Days: days}, jobs.Config{})
		c := s.Browse(t, handlerstest.Ada)
		for _, page := range []string{"/datasets", "/lab?data=moons", "/settings"} {
			says := strings.Contains(c.Want(http.StatusOK, "GET", page, "").HTML().Text(), "unused for 45 days")
			require.Check(t, says == want, "%s says so: %v, after %d days", page, says, days)
		}
	}
}
