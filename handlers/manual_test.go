package handlers_test

import (
	"net/http"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/views/manual"
)

// TestManual follows the ? of pages, the contents and a search of the manual.
func TestManual(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	for page, want := range map[string]string{
		"/": "/manual", "/lab?data=moons": "/manual/lab", "/datasets": "/manual/data", "/runs": "/manual/compare", "/searches": "/manual/compare",
		"/studies": "/manual/studies", "/studies/new": "/manual/studies", "/courses": "/manual/teaching", "/lessons": "/manual/teaching",
		"/settings": "/manual/api", "/manual/api": "/manual",
	} {
		require.Equal(t, c.Page(http.StatusOK, page).Find("a.manual-link").AttrOr("href", ""), want, "%s: ? leads to", page)
		c.Page(http.StatusOK, want)
	}
	contents := c.Page(http.StatusOK, "/manual")
	require.Equal(t, contents.Find("article dt a").Length(), len(manual.Topics), "topics in the contents")
	for _, topic := range manual.Topics {
		page := c.Page(http.StatusOK, "/manual/"+topic.Slug)
		require.Equal(t, page.Find("article h1").Text(), topic.Title, "%s: the title", topic.Slug)
		for _, id := range handlerstest.Attrs(page.Find("nav a[href^='#']"), "href") {
			require.Check(t, page.Find("article "+id).Length() == 1, "%s: %s leads nowhere", topic.Slug, id)
		}
		for _, to := range handlerstest.Attrs(page.Find("article a"), "href") {
			c.Page(http.StatusOK, to)
		}
	}
	href := c.Page(http.StatusOK, "/manual?q=embed").Find("article li a").First().AttrOr("href", "")
	require.Check(t, href == "/manual/teaching#embed-a-demo", "the search finds %q first", href)
	require.Says(t, c.Page(http.StatusOK, "/manual?q=%3Cb%3E").Find("article .empty").Text(), "“<b>”", "nothing found")
	c.Page(http.StatusNotFound, "/manual/nothing")
}
