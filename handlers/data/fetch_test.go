package data_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Without --allow-url no address is fetched, and no form asks for one.
func TestAddressesAreNotFetched(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	require.Check(t, c.Want(http.StatusOK, "GET", "/datasets", "").HTML().Find("[name=url]").Length() == 0,
		"the page asks for an address")
	const address = "url=https%3A%2F%2Fexample.org%2Fx.csv"
	doc := c.Send(http.StatusUnprocessableEntity, "/datasets", address).HTML()
	require.Says(t, doc.Text(), "Choose a file first, or type rows.", "the refusal")
	c.Says(http.StatusForbidden, "--allow-url", "POST", "/api/datasets?"+address, "")
}

// With it the page and programs get the file, by the rules of a file that is uploaded, and neither
// is led to a server on this machine.
func TestAddressesAreFetched(t *testing.T) {
	t.Parallel()
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a private server was reached") }))
	defer inner.Close()
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/square.csv":
			fmt.Fprint(w, handlerstest.Square)
		case "/plane.csv":
			fmt.Fprint(w, "x,y,label\n0,0,a\n1,1,b\n0,1,a\n1,0,b\n2,2,a\n")
		case "/people.csv":
			fmt.Fprint(w, "name,height,age,member\nAda,1.65,31,yes\nBob,1.80,44,no\nCyd,1.71,27,yes\n")
		case "/private.csv":
			http.Redirect(w, r, inner.URL, http.StatusFound)
		case "/text.csv":
			fmt.Fprint(w, "\x00\x01\x02")
		case "/large.csv":
			for range 3000 {
				fmt.Fprintln(w, "0.123,0.456,a")
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer outer.Close()
	allowed := netip.MustParseAddrPort(strings.TrimPrefix(outer.URL, "http://"))
	limits := dataset.DefaultLimits
	limits.Bytes = 20_000
	s := handlerstest.ServeWith(t, false, handlers.Config{
		Limits: limits, Patience: time.Hour,
		Fetcher: web.NewFetcher(func(a netip.AddrPort) bool { return a == allowed }),
	}, jobs.Config{})
	c := s.Browse(t, handlerstest.Alice)
	require.Check(t, c.Want(http.StatusOK, "GET", "/datasets", "").HTML().Find("input[name=url]").Length() == 1,
		"the page asks for no address")
	at := func(address string) string { return "url=" + url.QueryEscape(address) }

	text := c.Send(http.StatusOK, "/datasets", at(outer.URL+"/plane.csv")).HTML().Find("h1").Text()
	require.Check(t, strings.Contains(text, "plane"), "the page shows %q", text)
	text = c.Send(http.StatusOK, "/datasets", at(outer.URL+"/people.csv")).HTML().Find("h1").Text()
	require.Check(t, text == "Check the columns of people.csv", "columns in doubt: the page shows %q", text)
	set := c.Upload(at(outer.URL+"/square.csv"), "")
	require.Check(t, set.Name == "square" && set.Rows == 6 && set.Origin == "uploaded square.csv", "%+v", set)
	named := c.Upload("name=other&"+at(outer.URL+"/square.csv"), "")
	require.Check(t, named.Name == "other" && named.Hash == set.Hash, "%+v", named)
	replaced := handlerstest.Decode[struct{ Rows int }](c.Want(http.StatusOK, "PUT", "/api/datasets/"+set.ID+"?"+at(outer.URL+"/plane.csv"), ""))
	require.Equal(t, replaced.Rows, 5, "rows in place of those before")
	for address, want := range map[string]struct {
		status int
		text   string
	}{
		outer.URL + "/private.csv": {422, "public addresses on ports 80 and 443 only"},
		inner.URL + "/x.csv":       {422, "public addresses on ports 80 and 443 only"},
		outer.URL + "/nothing.csv": {422, "404 Not Found"},
		outer.URL + "/text.csv":    {422, "text.csv"},
		outer.URL + "/large.csv":   {413, "is larger than"},
		"/etc/passwd":              {422, "https:// or http://"},
	} {
		c.Says(want.status, want.text, "POST", "/api/datasets?"+at(address), "")
		require.Says(t, c.Send(want.status, "/datasets", at(address)).HTML().Text(), want.text, "%s", address)
	}
	c.Says(422, "either an address or a file", "POST", "/api/datasets?"+at(outer.URL+"/square.csv"), handlerstest.Square)
}
