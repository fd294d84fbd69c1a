package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// kernelFile is the RBF kernel of moons, in LIBSVM's form and as CSV.
func kernelFile(t *testing.T, n int) (libsvm, plain string) {
	t.Helper()
	d, err := dataset.Generate("moons", n, 0.2, 3)
	if err != nil {
		t.Fatal(err)
	}
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
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	c.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	libsvm, plain := kernelFile(t, 40)
	set := c.upload("name=K.libsvm", libsvm)
	if set.Kind != "precomputed" || set.Rows != 40 || len(set.Features) != 0 {
		t.Fatalf("%+v", set)
	}
	if again := c.upload("kind=precomputed", plain); again.Hash != set.Hash {
		t.Error("the same matrix as CSV has another hash")
	}
	if guessed := c.upload("", plain); guessed.Kind != "vectors" || len(guessed.Features) != 40 {
		t.Errorf("nobody said that these are no points: %+v", guessed)
	}
	c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?kind=sounds", plain)
	c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?kind=precomputed", square)

	csv := string(c.want(200, "GET", "/api/datasets/"+set.ID+".csv", "").body)
	if again := c.upload("", csv); !strings.HasPrefix(csv, "#precomputed\n") || again.Hash != set.Hash {
		t.Error("what is downloaded is not what was uploaded")
	}

	// Kernels that do not take it are refused.
	if a := c.want(http.StatusUnprocessableEntity, "POST", "/api/runs", `{"dataset":"`+set.ID+`","spec":{}}`); !strings.Contains(string(a.body), "use precomputed") {
		t.Errorf("%s", a.body)
	}
	if a := c.want(http.StatusUnprocessableEntity, "POST", "/api/runs", `{"dataset":"moons","spec":{"kernel":"precomputed"}}`); !strings.Contains(string(a.body), "use linear") {
		t.Errorf("%s", a.body)
	}
	var ids []string
	for _, spec := range []string{`{"kernel":"precomputed","test_fraction":0.25}`, `{"kernel":"precomputed","conformal":"eigen","C":10}`} {
		id := c.train(`{"dataset":"` + set.ID + `","spec":` + spec + `}`)
		c.follow(id)
		run := decode[api.Run](c.want(200, "GET", "/api/runs/"+id, ""))
		if run.Status != "done" || run.Report == nil || *run.Report.TrainAccuracy < 0.8 || run.Report.D != 0 {
			t.Fatalf("%+v", run)
		}
		m, err := ml.ReadModel(strings.NewReader(string(c.want(200, "GET", "/api/runs/"+id+"/model.json", "").body)))
		if err != nil || m.Columns() != 40 {
			t.Errorf("%v", err)
		}
		ids = append(ids, id)
	}

	data := c.page(200, "/datasets/"+set.ID)
	if text := data.Text(); !strings.Contains(text, "kernel matrix of 40 objects") || !strings.Contains(text, "values of the kernel") || strings.Contains(text, "Edit rows") {
		t.Error(text)
	}
	c.pictures(data, 1)
	c.pictures(c.page(200, "/datasets"), 1)

	lab := c.page(200, "/lab?data="+set.ID)
	options := lab.Find("#f-kernel option").Map(func(_ int, o *goquery.Selection) string { v, _ := o.Attr("value"); return v })
	if fmt.Sprint(options) != "[precomputed combined]" || !strings.Contains(lab.Text(), "There is no boundary to draw") {
		t.Errorf("kernels %v: %s", options, lab.Find("main").Text())
	}
	c.pictures(lab, 3)
	c.pictures(c.page(200, "/lab?conformal=eigen&data="+set.ID), 5)
	c.pictures(c.page(200, "/lab?C=-1&data="+set.ID), 1) // nothing is trained
	points := c.page(200, "/lab?kernel=precomputed&data=moons")
	if v, _ := points.Find("#f-kernel option[selected]").Attr("value"); v != "rbf" || points.Find(`#f-kernel option[value="precomputed"]`).Length() != 0 {
		t.Errorf("points with the kernel %q", v)
	}
	for _, id := range ids {
		run := c.page(200, "/runs/"+id)
		if !strings.Contains(run.Text(), "There is no boundary to draw") {
			t.Error("no word about the boundary")
		}
		c.pictures(run, 3)
		if a := c.do("GET", "/runs/"+id+"/predictions.csv", ""); a.status != 200 || strings.Count(string(a.body), "\n") != 41 {
			t.Errorf("predictions: %d", a.status)
		}
	}
	compared := c.page(200, "/compare?"+url.Values{"run": ids}.Encode())
	if !strings.Contains(compared.Text(), "no boundaries to lay over each other") {
		t.Error(compared.Find("main").Text())
	}
	c.pictures(compared, 2)
	c.pictures(c.page(200, "/runs"), 2)
}
