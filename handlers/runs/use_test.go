package runs_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

func TestPredictNewRowsOnThePage(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	id := c.Done(`{"dataset":"iris"}`)
	page := c.Page(200, "/runs/"+id)
	require.Must(t, page.Find(`form[action^="/runs/`+id+`/predict"]`).Length() == 1,
		"the page has no form for new rows")
	model := handlerstest.Decode[struct {
		Features []string
		Label    string
	}](c.Want(200, "GET", "/api/runs/"+id+"/model.json", ""))
	rows := strings.Join(model.Features, ",") + "," + model.Label + "\n5.1,3.5,1.4,0.2,setosa\n6.7,3.0,5.2,2.3,setosa\n"
	send := func(status int, fields ...string) string {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for i := 0; i < len(fields); i += 2 {
			require.NoError(t, form.WriteField(fields[i], fields[i+1]))
		}
		form.Close()
		return string(c.Want(status, "POST", "/runs/"+id+"/predict", body.String(), "Content-Type", form.FormDataContentType()).Body)
	}
	doc := require.Value(goquery.NewDocumentFromReader(strings.NewReader(send(200, "text", rows))))(t)
	table := doc.Find(`[aria-label="Predictions"] table`)
	if n := table.Find("tbody tr").Length(); n != 2 || !strings.Contains(doc.Text(), "2 rows · accuracy 50.0\u00a0%") || !strings.Contains(table.Text(), "virginica") {
		t.Errorf("%d rows: %s", n, table.Text())
	}
	require.Says(t, send(200, "text", rows+"6,3,5,2,lily\n"), "1 label unknown to the model: lily", "a label is counted as wrong without a note")
	csv := send(200, "text", rows, "as", "csv")
	require.Check(t, strings.HasPrefix(csv, "row,label,"), "CSV: %s", csv)
	require.Says(t, send(422, "text", "a,b\n1,2\n"), "no column", "rows without the columns are not refused")
	require.Check(t, strings.Contains(send(422), "Choose a file or paste rows first."), "an empty form is not refused")
}

// The code for the client runs as it stands, for any learner: what is trained again is the same.
func TestCopiedClientCodeRuns(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("there is no NumPy: %s", out)
	}
	c := handlerstest.Serve(t, true).As(t, handlerstest.Alice)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "marginlab.py"), c.Want(200, "GET", "/client.py", "").Body, 0o600))
	for _, body := range []string{
		`{"dataset":"moons","spec":{"C":10,"gamma":2,"test_fraction":0.3}}`,
		`{"dataset":"iris","spec":{"positive":"virginica","learner":"mcm","standardize":false}}`,
		`{"dataset":"sine","spec":{"learner":"ridge","target":"value","lambda":0.1}}`,
		`{"dataset":"dna","spec":{"kernel":"spectrum","k":3}}`,
	} {
		code := c.Page(200, "/runs/"+c.Done(body)).Find(`textarea[aria-label="Code: Python client"]`).Text()
		code += "a, b = dict(run.report), dict(again.report)\nprint(a.pop('fit_seconds') > 0 < b.pop('fit_seconds'), a == b)\n"
		cmd := exec.Command(python, "-c", code)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MARGINLAB_TOKEN="+handlerstest.Alice)
		out, err := cmd.CombinedOutput()
		require.Check(t, err == nil && strings.HasSuffix(string(out), "True True\n"), "%s: %v\n%s\n%s", body, err, out, code)
	}
}

// The code to copy runs: scikit-learn reaches the same accuracy on the same rows.
func TestCopiedCodeRuns(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import importlib.util as u; u.find_spec('sklearn').name").CombinedOutput(); err != nil {
		t.Skipf("there is no scikit-learn: %s", out)
	}
	c := handlerstest.Serve(t, true).As(t, handlerstest.Alice)
	drawn := handlerstest.Decode[api.Dataset](c.Want(201, "POST", "/api/datasets/generate", `{"generator":"moons","parameters":{"noise":0.3}}`))
	csv := string(c.Want(200, "GET", "/api/datasets/"+drawn.ID+".csv", "").Body)
	set := c.Upload("name=my%20moons.csv", csv)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my moons.csv"), []byte(csv), 0o600))
	args := []string{"-c", "import sys\nfor code in sys.argv[1:]: exec(code, {})"} // one after the other, as sklearn takes long to load
	var got, want []float64
	for _, spec := range []string{`{}`, `{"kernel":"linear","C":10}`, `{"kernel":"poly","coef0":1,"degree":2}`, `{"kernel":"laplacian"}`, `{"standardize":false,"gamma":2}`} {
		id := c.Done(`{"dataset":"` + set.ID + `","spec":` + spec + `}`)
		page := c.Page(200, "/runs/"+id)
		args = append(args, page.Find(`textarea[aria-label="Code: scikit-learn"]`).Text())
		report := handlerstest.Decode[struct{ Report ml.Report }](c.Want(200, "GET", "/api/runs/"+id, "")).Report
		want = append(want, *report.TrainAccuracy)
		line := page.Find(`textarea[aria-label="Code: Terminal"]`).Text()
		require.Check(t, strings.HasPrefix(line, "marginlab fit --data 'my moons.csv'"), "terminal: %s", line)
	}
	cmd := exec.Command(python, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		err = json.Unmarshal([]byte("["+strings.Join(strings.Fields(string(out)), ",")+"]"), &got)
	}
	require.Check(t, err == nil && slices.Equal(got, want), "scikit-learn: %v, %s; ours: %v\n%s", err, out, want, strings.Join(args, "\n"))
}

// watched calls look before each part of a response.
type watched struct {
	http.ResponseWriter
	look func()
}

func (w watched) Write(b []byte) (int, error) {
	w.look()
	return w.ResponseWriter.Write(b)
}

// Predictions are sent after the memory for their rows has been released, because the client may be
// slow.
func TestPredictionsAreSentWithoutMemory(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	run := c.Done(`{"dataset":"iris-setosa-versicolor"}`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/runs/"+run+"/predictions", strings.NewReader(strings.Repeat("1.4,0.2\n", 30_000)))
	r.Header.Set("Authorization", "Bearer "+handlerstest.Alice)
	answer := httptest.NewRecorder()
	c.App.Handler().ServeHTTP(watched{answer, func() {
		free := c.App.Budget.TryAcquire(256 << 20)
		require.Must(t, free, "sent while memory is held")
		c.App.Budget.Release(256 << 20)
	}}, r)
	require.Equal(t, answer.Code, http.StatusOK, "status")
}
