package data_test

import (
	"net/http"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
)

// Without --allow-url no address is fetched, and no form asks for one.
func TestAddressesAreNotFetched(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	if c.Want(http.StatusOK, "GET", "/datasets", "").HTML().Find("[name=url]").Length() > 0 {
		t.Error("the page asks for an address")
	}
	doc := c.Send(http.StatusUnprocessableEntity, "/datasets", "url=https%3A%2F%2Fexample.org%2Fx.csv").HTML()
	if text := doc.Text(); !strings.Contains(text, "Choose a file first, or type rows.") {
		t.Errorf("%.300s", text)
	}
}
