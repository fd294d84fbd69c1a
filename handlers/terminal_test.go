package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"marginlab/handlers/cmdline"
	"marginlab/ml/dataset"
)

// pointsFile holds n points of two moons.
func pointsFile(t *testing.T, name string, n int) string {
	t.Helper()
	d, err := dataset.Generate("moons", n, 0.3, 1)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := d.Encode(&text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fit runs `marginlab fit --json` and returns its object, messages and exit code.
func fit(t *testing.T, args ...string) (report object, message string, code int) {
	t.Helper()
	var out, notes bytes.Buffer
	code = cmdline.Run(t.Context(), cmdline.Commands, append([]string{"fit", "--json"}, args...), cmdline.Streams{In: strings.NewReader(""), Out: &out, Err: &notes})
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Errorf("%v: %s%s", err, &out, &notes)
	}
	return report, notes.String(), code
}

// TestFitOnServer uploads points once, whatever the file is called.
func TestFitOnServer(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	there := func(token, what string) int {
		t.Helper()
		list, _ := decode[object](s.client(t, token).want(http.StatusOK, "GET", "/api/"+what, ""))[what].([]any)
		return len(list)
	}
	moons := pointsFile(t, "moons.csv", 40)
	here, _, _ := fit(t, "--data", moons, "--C", "3")
	for i, c := range []struct {
		file string
		sets int
	}{{moons, 1}, {moons, 1}, {pointsFile(t, "copy.csv", 40), 1}, {pointsFile(t, "more.csv", 42), 2}, {moons, 2}} {
		got, message, code := fit(t, "--data", c.file, "--C", "3", "--server", s.URL, "--token", alice)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, message)
		}
		if c.file == moons && got["objective"] != here["objective"] {
			t.Errorf("objective %v there, %v here", got["objective"], here["objective"])
		}
		if n := there(alice, "datasets"); n != c.sets {
			t.Errorf("%d data sets after training number %d, want %d", n, i+1, c.sets)
		}
		if n := there(alice, "runs"); n != i+1 {
			t.Errorf("%d runs after training number %d", n, i+1)
		}
	}
	if _, message, code := fit(t, "--data", moons, "--server", s.URL, "--token", bob); code != 0 {
		t.Errorf("exit %d: %s", code, message)
	}
	if n := there(bob, "datasets"); n != 1 {
		t.Errorf("another workspace has %d data sets, not one of its own", n)
	}
}

// TestFitCancelledOnServer prints what is known of a run that never was.
func TestFitCancelledOnServer(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	moons := pointsFile(t, "moons.csv", 40)
	type outcome struct {
		report  object
		message string
		code    int
	}
	ended := make(chan outcome)
	go func() {
		var o outcome
		o.report, o.message, o.code = fit(t, "--data", moons, "--server", s.URL, "--token", alice)
		ended <- o
	}()
	c := s.client(t, alice)
	for {
		list := decode[struct{ Runs []struct{ ID string } }](c.want(http.StatusOK, "GET", "/api/runs", ""))
		if len(list.Runs) > 0 {
			c.want(http.StatusAccepted, "POST", "/api/runs/"+list.Runs[0].ID+"/cancel", "")
			break
		}
	}
	o := <-ended
	got, message, code := o.report, o.message, o.code
	if code != 1 || !strings.Contains(message, "cancelled on the server") || strings.Count(message, "\n") != 1 {
		t.Errorf("exit %d: %s", code, message)
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"classes", "d", "kernel", "learner", "n", "positive", "status"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if got["status"] != "cancelled" || got["n"] != 40.0 || got["d"] != 2.0 || got["positive"] == "" {
		t.Errorf("%v", got)
	}
}
