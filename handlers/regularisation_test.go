package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/api"
	"marginlab/ml"
	"marginlab/ml/dataset"
)

// The path over C is led to from the lab and from a run, shows what the library says, and has
// the same under /api.
func TestPathOverC(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	b, _ := dataset.FindBuiltin("moons")
	d, err := b.Load()
	if err != nil {
		t.Fatal(err)
	}
	spec := ml.DefaultSpec()
	if err := spec.Set("C", "7"); err != nil {
		t.Fatal(err)
	}
	want, err := ml.Regularise(t.Context(), d, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := decode[ml.Regularisation](c.want(http.StatusOK, "POST", "/api/path", `{"dataset":"moons","spec":{"C":7}}`))
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Error(diff)
	}
	for body, word := range map[string]string{
		`{"dataset":"moons","spec":{"learner":"mcm"}}`: "take the SVM",
		`{"dataset":"iris"}`:                           "positive class",
		`{"dataset":"moons","C":1}`:                    "C",
	} {
		if a := c.fetch("POST", "/api/path", body); a.status < 400 || a.status >= 500 || !strings.Contains(string(a.body), word) {
			t.Errorf("%s: %d %s", body, a.status, a.body)
		}
	}

	p := s.browse(t, alice)
	if _, hidden := p.page(200, "/lab?data=moons").Find(`[data-path]`).Attr("hidden"); hidden {
		t.Error("the lab does not lead to the path")
	}
	if _, hidden := p.page(200, "/lab?data=moons&learner=mcm").Find(`[data-path]`).Attr("hidden"); !hidden {
		t.Error("the MCM has a path over C")
	}
	doc := p.page(200, "/path?data=moons&C=7&test_fraction=0")
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	if !strings.Contains(text, fmt.Sprintf("%d of them", len(want.Entries))) || !strings.Contains(text, "7 (here)") || doc.Find("h1").Text() != "Path over C of SVM rbf" {
		t.Error(text)
	}
	if href, _ := doc.Find("tbody th a").First().Attr("href"); !strings.HasPrefix(href, "/lab?C=0.001") {
		t.Errorf("a step leads to %q", href)
	}
	for _, name := range []string{"alphas.svg", "shares.png"} {
		if a := p.fetch("GET", "/path/figures/"+name+"?data=moons&C=7&test_fraction=0", ""); a.status != 200 || len(a.body) < 1000 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if a := p.fetch("GET", "/path/figures/others.svg?data=moons", ""); a.status != 404 {
		t.Errorf("%d", a.status)
	}
	if got := p.page(200, "/path?data=iris").Find("[role=alert]").Text(); !strings.Contains(got, "positive class") {
		t.Errorf("%q", got)
	}
	id := decode[api.RunStatus](c.want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"moons"}`)).ID
	c.app.Jobs.Wait(t.Context(), 1e12, id)
	href, _ := p.page(200, "/runs/"+id).Find(`a[href^="/path"]`).Attr("href")
	if doc := p.page(200, href); doc.Find(".figures img, .figures picture").Length() < 2 {
		t.Errorf("%q shows %s", href, doc.Find("main").Text())
	}
}
