package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Without a key a program is refused, and gets no cookie; a new key opens a workspace of its own.
func TestKeysFailClosed(t *testing.T) {
	t.Parallel()
	server := handlerstest.ServeWith(t, false, handlers.Config{
		Patience: time.Hour, Keys: web.NewKeys([]byte("secret"), func(context.Context, string) bool { return false }),
	}, jobs.Config{})
	nobody := server.As(t, "")
	for _, path := range []string{"/api/runs", "/api/datasets", "/api/workspace"} {
		if a := server.As(t, handlerstest.Alice).Do("GET", path, ""); a.Status != 401 || a.Header.Get("Set-Cookie") != "" || !strings.Contains(string(a.Body), "POST /api/workspaces") {
			t.Errorf("%s with a key of nobody: %d %v %s", path, a.Status, a.Header, a.Body)
		}
		a := nobody.Do("GET", path, "")
		require.Check(t, a.Status == 401 && a.Header.Get("Set-Cookie") == "" && strings.Contains(string(a.Body), "POST /api/workspaces"),
			"%s without a key: %d %v %s", path, a.Status, a.Header, a.Body)
	}
	require.Equal(t, nobody.Do("POST", "/api/runs", `{"dataset":"moons"}`).Status, 401, "a run without a key")
	nobody.Want(http.StatusOK, "GET", "/api/openapi.json", "")
	made := handlerstest.Decode[struct{ ID, Key string }](nobody.Want(http.StatusCreated, "POST", "/api/workspaces", ""))
	require.Check(t, made.ID != "" && !strings.Contains(made.Key, made.ID), "%+v", made)
	own := server.As(t, made.Key)
	own.Upload("name=square", handlerstest.Square)
	cookie := nobody.Do("GET", "/settings", "").Header.Get("Set-Cookie") // of any page is a key as well
	_, key, _ := strings.Cut(strings.SplitN(cookie, ";", 2)[0], "=")
	server.As(t, key).Want(http.StatusOK, "GET", "/api/runs", "")
	a := own.Do("POST", "/settings/workspace", "token="+handlerstest.Alice, "Content-Type", "application/x-www-form-urlencoded")
	require.Check(t, a.Status == 422 && a.Header.Get("Set-Cookie") == "", "a key of nobody opens a workspace: %d", a.Status)
	other := handlerstest.Decode[struct{ Key string }](nobody.Want(http.StatusCreated, "POST", "/api/workspaces", ""))
	require.Check(t, other.Key != made.Key, "two workspaces have one key")
}

// The client's own examples run against a server, and its estimator inside scikit-learn.
func TestClient(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skip("there is no Python with NumPy")
	}
	server := handlerstest.Serve(t, true)
	module := server.As(t, "").Want(http.StatusOK, "GET", "/client.py", "").Body
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "marginlab.py"), module, 0o600))
	address, _ := json.Marshal(server.URL)
	manual := require.Value(os.ReadFile("../../views/manual/api.md"))(t)
	_, example, _ := strings.Cut(string(manual), "\nThen:\n")
	example, _, _ = strings.Cut(example, "\n## ")
	example = strings.ReplaceAll(strings.ReplaceAll(example, "\n    ", "\n"), "http://127.0.0.1:8080", server.URL)
	n := strings.Count(example, "\n")
	require.Check(t, n >= 25, "the example of the manual has %d lines", n)
	shown := exec.Command(python, "-c", example)
	shown.Dir = dir
	if out, err := shown.CombinedOutput(); err != nil || !strings.Contains(string(out), "refused: C must be") || !strings.Contains(string(out), "['a' 'b']") {
		t.Errorf("%v\n%s", err, out)
	}
	cmd := exec.Command(python, "-c", `
import doctest, marginlab
from marginlab import Lab, MarginClassifier, Problem
lab = Lab(`+string(address)+`)
failed, tried = doctest.testmod(marginlab, extraglobs={"url": lab.url, "key": lab.key})
assert tried > 4 and failed == 0
told = []
runs = [lab.fit("moons", C=c, test_fraction=0.3, progress=told.append) for c in (1, 10)]
assert "<svg" in runs[0].figure("boundary")._repr_svg_()
assert lab.compare(*runs)
found = lab.search("moons", {"C": [1, 10]}, folds=3)
assert len(found.cells) == 2
try:
    lab.fit("nothing")
    assert False
except Problem as e:
    assert e.status == 404 and "nothing" in str(e)
try:
    lab.upload("https://example.org/points.csv")
    assert False
except Problem as e:
    assert e.status == 403 and "--allow-url" in str(e)
assert len(runs[0].predict([[0, 0], [1, 1]])["predictions"]) == 2
try:
    from sklearn.base import clone
    from sklearn.datasets import load_iris
    from sklearn.model_selection import cross_val_score
except ImportError:
    print("without scikit-learn")
    raise SystemExit
X, y = load_iris(return_X_y=True)
scores = cross_val_score(MarginClassifier(lab, C=10), X, y, cv=3)
assert scores.min() > 0.9, scores
m = clone(MarginClassifier(lab, C=10)).set_params(C=2).fit(X, y)
assert m.get_params()["C"] == 2 and m.score(X, y) > 0.95 and m.predict(X).dtype == y.dtype
`)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.Check(t, err == nil, "%v\n%s", err, out)
	t.Logf("%s", out)
}
