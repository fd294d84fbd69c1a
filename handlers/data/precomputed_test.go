package data_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
)

// kernelFile is the RBF kernel of moons, in LIBSVM's form and as CSV.
func kernelFile(t *testing.T, n int) (libsvm, plain string) {
	t.Helper()
	d := require.Value(dataset.Generate("moons", n, 0.2, 3))(t)
	k := kernel.RBF(2)
	var b, c strings.Builder
	for i, y := range d.Y {
		fmt.Fprintf(&b, "%s 0:%d", d.Classes[y], i+1)
		for j := range n {
			v := k.Eval(d.X.RawRowView(i), d.X.RawRowView(j))
			fmt.Fprintf(&b, " %d:%v", j+1, v)
			fmt.Fprintf(&c, "%v,", v)
		}
		fmt.Fprintln(&b)
		fmt.Fprintln(&c, d.Classes[y])
	}
	return b.String(), c.String()
}

// TestKernelMatrix goes with a kernel matrix through every door that points go through.
func TestKernelMatrix(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	libsvm, plain := kernelFile(t, 40)
	set := c.Upload("name=K.libsvm", libsvm)
	require.Must(t, set.Kind == "precomputed" && set.Rows == 40 && len(set.Features) == 0, "%+v", set)
	require.Check(t, c.Upload("kind=precomputed", plain).Hash == set.Hash, "the same matrix as CSV has another hash")
	if guessed := c.Upload("", plain); guessed.Kind != "vectors" || len(guessed.Features) != 40 {
		t.Errorf("nobody said that these are no points: %+v", guessed)
	}
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?kind=sounds", plain)
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?kind=precomputed", handlerstest.Square)

	csv := string(c.Want(200, "GET", "/api/datasets/"+set.ID+".csv", "").Body)
	require.Check(t, strings.HasPrefix(csv, "#precomputed\n") && c.Upload("", csv).Hash == set.Hash,
		"what is downloaded is not what was uploaded")

	// Kernels that do not take it are refused.
	a := c.Want(http.StatusUnprocessableEntity, "POST", "/api/runs", `{"dataset":"`+set.ID+`","spec":{}}`)
	require.Check(t, strings.Contains(string(a.Body), "use precomputed"), "%s", a.Body)
	a = c.Want(http.StatusUnprocessableEntity, "POST", "/api/runs", `{"dataset":"moons","spec":{"kernel":"precomputed"}}`)
	require.Check(t, strings.Contains(string(a.Body), "use linear"), "%s", a.Body)
	var ids []string
	for _, spec := range []string{`{"kernel":"precomputed","test_fraction":0.25}`, `{"kernel":"precomputed","conformal":"eigen","C":10}`} {
		id := c.Train(`{"dataset":"` + set.ID + `","spec":` + spec + `}`)
		c.Follow(id)
		run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
		require.Must(t, run.Status == "done" && run.Report != nil && *run.Report.TrainAccuracy >= 0.8 && run.Report.D == 0,
			"%+v", run)
		m, err := ml.ReadModel(strings.NewReader(string(c.Want(200, "GET", "/api/runs/"+id+"/model.json", "").Body)))
		require.Check(t, err == nil && m.Columns() == 40, "%v", err)
		ids = append(ids, id)
	}

	data := c.Page(200, "/datasets/"+set.ID)
	if text := data.Text(); !strings.Contains(text, "kernel matrix of 40 objects") || !strings.Contains(text, "kernel values") || strings.Contains(text, "Edit rows") {
		t.Error(text)
	}
	c.Pictures(data, 1)
	c.Pictures(c.Page(200, "/datasets"), 1)

	lab := c.Page(200, "/lab?data="+set.ID)
	options := lab.Find("#f-kernel option").Map(func(_ int, o *goquery.Selection) string { v, _ := o.Attr("value"); return v })
	if fmt.Sprint(options) != "[precomputed combined]" || !strings.Contains(lab.Text(), "There is no boundary to draw") {
		t.Errorf("kernels %v: %s", options, lab.Find("main").Text())
	}
	c.Pictures(lab, 3)
	c.Pictures(c.Page(200, "/lab?conformal=eigen&data="+set.ID), 5)
	c.Pictures(c.Page(200, "/lab?C=-1&data="+set.ID), 1) // nothing is trained
	points := c.Page(200, "/lab?kernel=precomputed&data=moons")
	if v, _ := points.Find("#f-kernel option[selected]").Attr("value"); v != "rbf" || points.Find(`#f-kernel option[value="precomputed"]`).Length() != 0 {
		t.Errorf("points with the kernel %q", v)
	}
	for _, id := range ids {
		run := c.Page(200, "/runs/"+id)
		require.Check(t, strings.Contains(run.Text(), "There is no boundary to draw"), "no word about the boundary")
		c.Pictures(run, 3)
		a := c.Do("GET", "/runs/"+id+"/predictions.csv", "")
		require.Check(t, a.Status == 200 && strings.Count(string(a.Body), "\n") == 41, "predictions: %d", a.Status)
	}
	compared := c.Page(200, "/compare?"+url.Values{"run": ids}.Encode())
	require.Says(t, compared.Text(), "no boundaries to lay over each other", "%v", compared.Find("main").Text())
	c.Pictures(compared, 2)
	c.Pictures(c.Page(200, "/runs"), 2)
}
