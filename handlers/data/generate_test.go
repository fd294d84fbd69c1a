package data_test

import (
	"net/http"
	"net/url"
	"testing"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// A form that is sent twice, by a double click or after a line broke, makes one data set; the
// page that is opened anew makes another.
func TestFormsAreSentTwice(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
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
