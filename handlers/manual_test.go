package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/views/manual"
)

// TestManual follows the ? of pages, the contents and a search of the manual.
func TestManual(t *testing.T) {
	t.Parallel()
	c := handlerstest.Serve(t, false, dataset.DefaultLimits).Browse(t, handlerstest.Alice)
	for page, want := range map[string]string{
		"/": "/manual", "/lab?data=moons": "/manual/lab", "/datasets": "/manual/data", "/runs": "/manual/compare", "/searches": "/manual/compare",
		"/studies": "/manual/studies", "/studies/new": "/manual/studies", "/courses": "/manual/teaching", "/lessons": "/manual/teaching",
		"/settings": "/manual/api", "/manual/api": "/manual",
	} {
		ask := c.Page(http.StatusOK, page).Find("a.manual-link")
		if href := ask.AttrOr("href", ""); href != want {
			t.Errorf("%s: ? leads to %q, want %q", page, href, want)
		}
		c.Page(http.StatusOK, want)
	}
	contents := c.Page(http.StatusOK, "/manual")
	if n := contents.Find("article dt a").Length(); n != len(manual.Topics) {
		t.Errorf("%d topics in the contents, want %d", n, len(manual.Topics))
	}
	for _, topic := range manual.Topics {
		page := c.Page(http.StatusOK, "/manual/"+topic.Slug)
		if got := page.Find("article h1").Text(); got != topic.Title {
			t.Errorf("%s: the title is %q", topic.Slug, got)
		}
		for _, a := range page.Find("nav a[href^='#']").EachIter() {
			if id := a.AttrOr("href", ""); page.Find("article "+id).Length() != 1 {
				t.Errorf("%s: %s leads nowhere", topic.Slug, id)
			}
		}
		for _, a := range page.Find("article a").EachIter() {
			c.Page(http.StatusOK, a.AttrOr("href", ""))
		}
	}
	found := c.Page(http.StatusOK, "/manual?q=embed")
	if href := found.Find("article li a").First().AttrOr("href", ""); href != "/manual/teaching#embed-a-demo" {
		t.Errorf("the search finds %q first", href)
	}
	if text := c.Page(http.StatusOK, "/manual?q=%3Cb%3E").Find("article .empty").Text(); !strings.Contains(text, "“<b>”") {
		t.Errorf("nothing found: %q", text)
	}
	c.Page(http.StatusNotFound, "/manual/nothing")
}
