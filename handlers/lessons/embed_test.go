package lessons_test

import (
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons/all"
)

// Teachers find every demo on one page.
func teachers(t *testing.T, s *handlerstest.Server) {
	c := s.Browse(t, handlerstest.Alice)
	require.Check(t, c.Page(200, "/lessons").Find(`a[href="/lessons/teachers"]`).Length() == 1,
		"the list of lessons does not link to the page for teachers")
	doc := c.Page(200, "/lessons/teachers")
	for _, l := range all.Lessons() {
		for _, screen := range l.Screens {
			path := l.Slug + "/" + screen.Slug
			item := doc.Find(`li:has(a[href="/lessons/` + path + `"])`)
			if screen.Demo == nil {
				continue
			}
			require.Check(t, item.Find("img").Length() == 1 && item.Find(`a[href="`+s.URL+"/embed/"+path+`"]`).Length() == 1 && strings.Contains(item.Find("textarea").Text(), `src="`+s.URL+"/embed/"+path+`"`),
				"%s is not listed with picture, address and HTML", path)
		}
	}
}
