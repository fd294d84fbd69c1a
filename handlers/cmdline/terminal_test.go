package cmdline_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/study"
	"marginlab/store"
)

// fit runs `marginlab fit --json` and returns its object, messages and exit code.
func fit(t *testing.T, args ...string) (report handlerstest.Object, message string, code int) {
	t.Helper()
	o := run(t.Context(), "", append([]string{"fit", "--json"}, args...)...)
	return require.JSON[handlerstest.Object](t, o.out, "%s", o.err), o.err, o.code
}

// TestFitOnServer uploads points once, whatever the file is called.
func TestFitOnServer(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	there := func(token, what string) int {
		t.Helper()
		list, _ := handlerstest.Decode[handlerstest.Object](s.As(t, token).Want(http.StatusOK, "GET", "/api/"+what, ""))[what].([]any)
		return len(list)
	}
	d, first := moons(t, 40)
	_, more := moons(t, 42)
	here, _, _ := fit(t, "--data", first, "--C", "3")
	for i, c := range []struct {
		file string
		sets int
	}{{first, 1}, {first, 1}, {require.File(t, "copy.csv", require.Written(t, d.Encode)), 1}, {more, 2}, {first, 2}} {
		got, message, code := fit(t, "--data", c.file, "--C", "3", "--server", s.URL, "--token", handlerstest.Alice)
		require.Must(t, code == 0, "exit %d: %s", code, message)
		require.Check(t, c.file != first || got["objective"] == here["objective"],
			"objective %v there, %v here", got["objective"], here["objective"])
		require.Equal(t, there(handlerstest.Alice, "datasets"), c.sets, "data sets after training number %d", i+1)
		require.Equal(t, there(handlerstest.Alice, "runs"), i+1, "runs after training number")
	}
	_, message, code := fit(t, "--data", first, "--server", s.URL, "--token", handlerstest.Bob)
	require.Check(t, code == 0, "exit %d: %s", code, message)
	require.Equal(t, there(handlerstest.Bob, "datasets"), 1, "another workspace has … data sets, not one of its own")
}

// A server that fails twice at every address, once after it has done what was asked, trains one run on
// one data set, once the time is over that it asks to wait.
func TestFitRetries(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	var mu sync.Mutex
	asked := map[string]int{}
	flaky := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method+r.URL.Path]++
		n := asked[r.Method+r.URL.Path]
		mu.Unlock()
		switch n {
		case 1:
			s.App.Handler().ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // closes the connection
		case 2:
			if r.Method == http.MethodPost {
				w.Header().Set("Retry-After", "1")
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			s.App.Handler().ServeHTTP(w, r)
		}
	}))
	defer flaky.Close()
	_, path := moons(t, 40)
	begin := time.Now()
	_, message, code := fit(t, "--data", path, "--server", flaky.URL, "--token", handlerstest.Alice)
	require.Check(t, code == 0 && time.Since(begin) > time.Second, "exit %d after %v: %s", code, time.Since(begin), message)
	notes := strings.Split(strings.TrimSpace(message), "\n")
	require.Check(t, strings.HasSuffix(notes[0], "EOF; trying again, at most 5 times"), "%s", message)
	require.Equal(t, len(notes), len(asked), "notes, one for each request: %s", message)
	for _, what := range []string{"datasets", "runs"} {
		list := handlerstest.Decode[handlerstest.Object](s.As(t, handlerstest.Alice).Want(http.StatusOK, "GET", "/api/"+what, ""))
		require.Check(t, len(list[what].([]any)) == 1, "%v", list)
	}
}

// TestMissingEverywhere: what a training fills in is fitted to the rows that train, whichever door
// the file comes through, and a run has it when it is read again from the disk: new rows in which
// a value is missing are told alike here and there. Rows edited as text keep their gaps.
func TestMissingEverywhere(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	rows.WriteString("age,height,sex,group\n")
	for i := range 30 {
		row := []string{strconv.Itoa(20 + 7*i%23), strconv.Itoa(150 + 11*i%37), []string{"f", "m"}[i%2], []string{"a", "b"}[7*i%23/12]}
		if i%5 == 2 {
			row[i%3] = ""
		}
		rows.WriteString(strings.Join(row, ",") + "\n")
	}
	folder := t.TempDir()
	data, model, fresh := filepath.Join(folder, "people.csv"), filepath.Join(folder, "model.json"), filepath.Join(folder, "new.csv")
	const unseen = "age,height,sex\n30,,f\n,170,m\n28,160,\n,,\n"
	for path, text := range map[string]string{data: rows.String(), fresh: unseen} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	args := []string{"--data", data, "--label", "group", "--features", "age,height,sex", "--missing", "median", "--test-fraction", "0.4", "--seed", "3"}
	here, message, code := fit(t, append(args, "--out", model)...)
	require.Must(t, code == 0 && strings.Contains(here["preprocessing"].(string), "of the training rows"),
		"exit %d: %s%v", code, message, here)
	s := handlerstest.Serve(t, true)
	there, message, code := fit(t, append(args, "--server", s.URL, "--token", handlerstest.Alice)...)
	require.Check(t, code == 0 && there["objective"] == here["objective"] && there["test_accuracy"] == here["test_accuracy"],
		"exit %d: %s%v, here %v", code, message, there, here)
	c := s.Browse(t, handlerstest.Alice)
	id := handlerstest.Decode[struct{ Runs []struct{ ID string } }](c.Want(http.StatusOK, "GET", "/api/runs", "")).Runs[0].ID
	told := run(t.Context(), "", "predict", "--model", model, "--data", fresh)
	require.Must(t, told.code == 0, "%v", told.err)
	got := string(c.Want(http.StatusOK, "POST", "/api/runs/"+id+"/predictions", unseen).Body)
	require.Equal(t, got, told.out, "there and here")
	file := require.Value(os.ReadFile(model))(t)
	var kept bytes.Buffer
	err := json.Compact(&kept, c.Want(http.StatusOK, "GET", "/runs/"+id+"/model.json", "").Body)
	require.Check(t, err == nil && strings.TrimSpace(kept.String()) == strings.TrimSpace(string(file)), "%v: model there\n%.300s\nhere\n%.300s", err, &kept, file)

	set := handlerstest.Decode[struct{ Datasets []api.Dataset }](c.Want(http.StatusOK, "GET", "/api/datasets", "")).Datasets[0]
	body := require.Value(json.Marshal(map[string]string{"study": "[scheme]\nfolds = 2\n[data.p]\nfile = \"people.csv\"\n[learner.SVM]\n[learner.ridge]\nlearner = \"ridge\"\n"}))(t)
	made := handlerstest.Decode[struct{ ID string }](c.Want(http.StatusAccepted, "POST", "/api/studies", string(body)))
	require.Says(t, string(c.Fetch("GET", "/studies/"+made.ID+"/study.toml", "").Body), `missing = "median"`,
		"a study that says nothing of missing values")

	text := c.Page(http.StatusOK, "/datasets/"+set.ID).Find("textarea[name=rows]").Text()
	require.Must(t, strings.Contains(text, ",,"), "to edit: %.200s", text)
	c.Send(http.StatusOK, "/datasets/"+set.ID+"/rows", url.Values{"hash": {set.Hash}, "rows": {text}}.Encode())
	now := handlerstest.Decode[struct{ Datasets []api.Dataset }](c.Want(http.StatusOK, "GET", "/api/datasets", "")).Datasets[0]
	require.Check(t, now.Hash == set.Hash, "text that nobody changed has changed the data: %s, %s", set.Hash, now.Hash)
}

// TestFitCancelledOnServer prints what is known of a run that never was.
func TestFitCancelledOnServer(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	_, path := moons(t, 40)
	ended := make(chan outcome)
	go func() {
		ended <- run(t.Context(), "", "fit", "--json", "--data", path, "--server", s.URL, "--token", handlerstest.Alice)
	}()
	c := s.As(t, handlerstest.Alice)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range look.C {
		list, _, err := s.App.Store.Runs(t.Context(), store.WorkspaceOf(handlerstest.Alice), store.Filter{})
		require.NoError(t, err)
		if len(list) > 0 {
			c.Want(http.StatusAccepted, "POST", "/api/runs/"+list[0].ID+"/cancel", "")
			break
		}
	}
	o := <-ended
	require.Check(t, o.code == 1 && strings.Contains(o.err, "cancelled on the server") && strings.Count(o.err, "\n") == 1,
		"exit %d: %s", o.code, o.err)
	require.Equal(t, strings.Join(keys(t, o.out), " "), "classes d kernel learner n positive status", "names")
	got := require.JSON[handlerstest.Object](t, o.out)
	require.Check(t, got["status"] == "cancelled" && got["n"] == 40.0 && got["d"] == 2.0 && got["positive"] != "",
		"%v", got)
}

// A study that a server computes, with its workers, comes to what one process does here; its
// files of data are uploaded once, and thinned out there as they are here.
func TestStudyOnServer(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	_, own := moons(t, 80)
	file := filepath.Join(filepath.Dir(own), "small.toml")
	const text = "[scheme]\nfolds = 3\nmax_rows = 50\n[data.own]\nfile = \"moons.csv\"\n[data.xor]\ngenerator = \"xor\"\nn = 40\n[learner.SVM]\nC = [1, 10]\n[learner.MCM]\nlearner = \"mcm\"\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	compare := func(args ...string) (res study.Result, message string, code int) {
		t.Helper()
		o := run(t.Context(), "", append([]string{"study", file, "--json"}, args...)...)
		if o.code == 0 {
			res = require.JSON[study.Result](t, o.out, "%s", o.out)
		}
		return res, o.err, o.code
	}
	want, _, _ := compare()
	folder := filepath.Join(t.TempDir(), "out")
	for range 2 {
		got, message, code := compare("--server", s.URL, "--token", handlerstest.Alice, "--out-dir", folder)
		diff := cmp.Diff(want, got, cmpopts.IgnoreFields(study.Outcome{}, "Seconds"), cmpopts.IgnoreFields(study.Result{}, "Study"))
		require.Check(t, code == 0 && diff == "", "exit %d, %s\n%s", code, message, diff)
	}
	for _, name := range []string{"study.toml", "tests.csv", "tables.tex", "accuracy.svg"} {
		_, err := os.Stat(filepath.Join(folder, name))
		require.Check(t, err == nil, "%v", err)
	}
	c := s.As(t, handlerstest.Alice)
	sets := handlerstest.Decode[struct{ Datasets []handlerstest.Object }](c.Want(http.StatusOK, "GET", "/api/datasets", "")).Datasets
	require.Check(t, len(sets) == 1 && sets[0]["rows"] == 80.0, "%v", sets)
	n := len(handlerstest.Decode[struct{ Studies []handlerstest.Object }](c.Want(http.StatusOK, "GET", "/api/studies", "")).Studies)
	require.Check(t, n == 2, "%d studies are kept", n)
	_, message, code := compare("--token", handlerstest.Alice)
	require.Check(t, code == 2 && strings.Contains(message, "--token needs --server"), "exit %d: %s", code, message)
	_, message, code = compare("--server", s.URL, "--token", "nobody")
	require.Check(t, code == 1 && message != "", "exit %d: %s", code, message)
}
