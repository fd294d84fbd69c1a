package handlers_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/web"
)

// TestLinksHandedOn sets up a course and shares a run at the teacher's own computer: the
// links are for other people's.
func TestLinksHandedOn(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Teacher)
	course := "/courses/" + c.Course("/lab?data=moons", "")
	c.Send(200, "/runs", "data=moons")
	run := c.Page(200, "/runs").Find("tbody a[href^='/runs/']").AttrOr("href", "")
	c.Send(200, run+"/share", "")

	anywhere := &net.TCPAddr{IP: net.IPv4zero, Port: 8080}
	at := func(links web.Links, host, path string) *goquery.Document {
		t.Helper()
		c.App.Links = links
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		r.AddCookie(c.Cookie)
		w := httptest.NewRecorder()
		c.App.Handler().ServeHTTP(w, r)
		doc, err := goquery.NewDocumentFromReader(w.Body)
		require.Must(t, err == nil && w.Code == 200, "%s: %d %v", path, w.Code, err)
		return doc
	}
	network := web.Links{Addr: anywhere}.Here()
	for _, test := range []struct {
		links      web.Links
		host, want string
	}{
		{web.Links{Addr: anywhere}, "localhost:8080", network},
		{web.Links{Addr: anywhere}, "lab.local:8080", "http://lab.local:8080"},
		{web.Links{Addr: anywhere, Public: "https://lab.example.org"}, "localhost:8080", "https://lab.example.org"},
		{web.Links{Addr: c.Listener.Addr()}, "localhost:8080", "http://localhost:8080"},
	} {
		gallery := at(test.links, test.host, course)
		for what, got := range map[string]string{
			"course":   gallery.Find(".course-link").Text(),
			"teacher":  gallery.Find(".share").AttrOr("value", ""),
			"run":      at(test.links, test.host, run).Find(".share").AttrOr("value", ""),
			"settings": strings.TrimPrefix(at(test.links, test.host, "/settings").Find("pre").First().Text(), `curl -H "Authorization: Bearer $KEY" `),
		} {
			u, err := url.Parse(got)
			require.Check(t, err == nil && u.Scheme+"://"+u.Host == test.want,
				"%v, asked as %s: the %s's link is %q, want one of %s", test.links, test.host, what, got, test.want)
		}
	}
}
