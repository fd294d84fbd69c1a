package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/ml/dataset"
	"marginlab/web"
)

// Strings are generated from a program as from the page, and trained on.
func TestGenerateStrings(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	c.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	set := decode[api.Dataset](c.want(http.StatusCreated, "POST", "/api/datasets/generate", `{"generator":"dna","parameters":{"n":40,"length":30}}`))
	if set.Name != "DNA with motifs, 40 strings" || set.Kind != "strings" || set.Rows != 40 || len(set.Classes) != 2 || !strings.HasPrefix(set.Origin, "generated: dna, n = 40, length = 30, classes = 2") {
		t.Errorf("%+v", set)
	}
	c.follow(c.train(`{"dataset":"` + set.ID + `","spec":{"kernel":"spectrum"}}`))
	form := url.Values{"generator": {"dna"}, "n": {"40"}, "length": {"30"}, "classes": {"2"}, "motif": {"6"}, "copies": {"2"}, "noise": {"0.1"}, "share": {"1"}, "seed": {"1"}}
	c.send(http.StatusOK, "/datasets/generate", form.Encode())
	sets := decode[struct{ Datasets []api.Dataset }](c.want(200, "GET", "/api/datasets", "")).Datasets
	if len(sets) != 2 || sets[0].Hash != sets[1].Hash || sets[0].Name != sets[1].Name || sets[0].Origin != sets[1].Origin {
		t.Errorf("%+v", sets)
	}
	form.Set("length", "5")
	if refused := c.send(http.StatusUnprocessableEntity, "/datasets/generate", form.Encode()).html(); !strings.Contains(refused.Find("#f-dna-length-error").Text(), "at least 12") || refused.Find("details[open] #f-dna-length").AttrOr("value", "") != "5" {
		t.Error(refused.Find(".generator").Text())
	}
	for body, field := range map[string]string{
		`{}`:                  "generator",
		`{"generator":"rna"}`: "generator",
		`{"generator":"dna","parameters":{"n":1}}`:                      "n",
		`{"generator":"dna","parameters":{"length":5}}`:                 "length",
		`{"generator":"dna","parameters":{"n":2.5}}`:                    "n",
		`{"generator":"moons","parameters":{"length":5}}`:               "length",
		`{"generator":"dna","parameters":{"noise":"0.1"}}`:              "noise",
		`{"generator":"dna","name":"` + strings.Repeat("x", 121) + `"}`: "name",
	} {
		if p := decode[web.Problem](c.want(422, "POST", "/api/datasets/generate", body)); p.Errors.For(field) == "" {
			t.Errorf("%s: %+v", body, p)
		}
	}
}

// A form that is sent twice, by a double click or after a line broke, makes one data set; the
// page that is opened anew makes another.
func TestFormsAreSentTwice(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c := s.browse(t, alice)
	for path, form := range map[string]url.Values{
		"/datasets":          {"text": {square}, "name": {"typed"}},
		"/datasets/generate": {"generator": {"moons"}, "n": {"100"}, "noise": {"0.1"}, "seed": {"1"}},
	} {
		before := len(decode[struct{ Datasets []api.Dataset }](c.want(200, "GET", "/api/datasets", "")).Datasets)
		for range 2 {
			requests := c.page(http.StatusOK, "/datasets").Find("form[action='" + path + "'] input[name=request]")
			form.Set("request", requests.First().AttrOr("value", ""))
			for range 3 {
				c.send(http.StatusOK, path, form.Encode())
			}
		}
		if made := len(decode[struct{ Datasets []api.Dataset }](c.want(200, "GET", "/api/datasets", "")).Datasets) - before; made != 2 {
			t.Errorf("%s: %d data sets, want 2", path, made)
		}
	}
}

// TestGeneratedInTheLab: points are made by the controls of the lab, the address says all of
// it, and whoever has it has the same points.
func TestGeneratedInTheLab(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c, other := s.browse(t, alice), s.browse(t, bob)
	lab := func(c *client, query string) *goquery.Document { t.Helper(); return c.page(200, "/lab?"+query) }
	doc := lab(c, "data=new-moons&gen.n=40&gen.noise=0,5&gen.seed=3&C=7")
	const id = "new-moons,n=40,noise=0.5,seed=3"
	if got := doc.Find("select[name=data] option[selected]").AttrOr("value", ""); got != id {
		t.Errorf("the data are %q", got)
	}
	if n := doc.Find("input[name='gen.n']").AttrOr("value", ""); n != "40" {
		t.Errorf("n is %q", n)
	}
	if h := doc.Find("h1").Text(); h != "moons, 40 points, noise=0.5, seed=3" {
		t.Errorf("they are called %q", h)
	}
	src := doc.Find(".stage img").AttrOr("src", "")
	if src == "" || src != lab(other, "data="+id+"&C=7").Find(".stage img").AttrOr("src", "") {
		t.Error("the same address shows another picture to others")
	}
	if src == lab(c, "data="+id+"&gen.seed=4&C=7").Find(".stage img").AttrOr("src", "") {
		t.Error("another seed makes the same points")
	}
	run := c.send(200, "/runs", "data="+id+"&gen.n=50&test_fraction=0").html()
	if h := run.Find("h1").Text(); !strings.Contains(h, "on moons, 50 points, noise=0.5, seed=3") {
		t.Errorf("the run is called %q", h)
	}
	if set := decode[api.Run](s.client(t, alice).want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"`+id+`"}`)); set.ID == "" {
		t.Error("no run under /api")
	}

	// What is wrong is told beside its control.
	for query, field := range map[string]string{"data=new-moons&gen.n=1": "gen.n", "data=new-moons&gen.noise=much": "gen.noise", "data=new-dna&gen.length=5": "gen.length"} {
		if said := lab(c, query).Find("[data-error-of='" + field + "']").Text(); said == "" {
			t.Errorf("%s: nothing is said of %s", query, field)
		}
	}
	c.page(422, "/lab?data=new-things")

	// A course that fixes the data fixes what they are made of.
	code := c.course("/lab?data="+id, "control.data=frozen")
	if got := lab(other, "course="+code+"&gen.n=99").Find("h1").Text(); got != "moons, 40 points, noise=0.5, seed=3" {
		t.Errorf("under the course the data are %q", got)
	}
}
