package data_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/web"
)

// Strings are generated from a program as from the page, and trained on.
func TestGenerateStrings(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	set := handlerstest.Decode[api.Dataset](c.Want(http.StatusCreated, "POST", "/api/datasets/generate", `{"generator":"dna","parameters":{"n":40,"length":30}}`))
	require.Check(t, set.Name == "DNA with motifs, 40 strings" && set.Kind == "strings" && set.Rows == 40 && len(set.Classes) == 2 && strings.HasPrefix(set.Origin, "generated: dna, n = 40, length = 30, classes = 2"),
		"%+v", set)
	c.Follow(c.Train(`{"dataset":"` + set.ID + `","spec":{"kernel":"spectrum"}}`))
	form := url.Values{"generator": {"dna"}, "n": {"40"}, "length": {"30"}, "classes": {"2"}, "motif": {"6"}, "copies": {"2"}, "noise": {"0.1"}, "share": {"1"}, "seed": {"1"}}
	c.Send(http.StatusOK, "/datasets/generate", form.Encode())
	sets := handlerstest.Decode[struct{ Datasets []api.Dataset }](c.Want(200, "GET", "/api/datasets", "")).Datasets
	require.Check(t, len(sets) == 2 && sets[0].Hash == sets[1].Hash && sets[0].Name == sets[1].Name && sets[0].Origin == sets[1].Origin,
		"%+v", sets)
	form.Set("length", "5")
	if refused := c.Send(http.StatusUnprocessableEntity, "/datasets/generate", form.Encode()).HTML(); !strings.Contains(refused.Find("#f-dna-length-error").Text(), "at least 12") || refused.Find("details[open] #f-dna-length").AttrOr("value", "") != "5" {
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
		p := handlerstest.Decode[web.Problem](c.Want(422, "POST", "/api/datasets/generate", body))
		require.Check(t, p.Errors.For(field) != "", "%s: %+v", body, p)
	}
}

// A form that is sent twice, by a double click or after a line broke, makes one data set; the
// page that is opened anew makes another.
func TestFormsAreSentTwice(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Alice)
	for path, form := range map[string]url.Values{
		"/datasets":          {"text": {handlerstest.Square}, "name": {"typed"}},
		"/datasets/generate": {"generator": {"moons"}, "n": {"100"}, "noise": {"0.1"}, "seed": {"1"}},
	} {
		before := len(handlerstest.Decode[struct{ Datasets []api.Dataset }](c.Want(200, "GET", "/api/datasets", "")).Datasets)
		for range 2 {
			requests := c.Page(http.StatusOK, "/datasets").Find("form[action='" + path + "'] input[name=request]")
			form.Set("request", requests.First().AttrOr("value", ""))
			for range 3 {
				c.Send(http.StatusOK, path, form.Encode())
			}
		}
		made := len(handlerstest.Decode[struct{ Datasets []api.Dataset }](c.Want(200, "GET", "/api/datasets", "")).Datasets) - before
		require.Check(t, made == 2, "%s: %d data sets, want 2", path, made)
	}
}
