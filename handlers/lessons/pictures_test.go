package lessons_test

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// The pictures of lessons are the same for everybody: a browser keeps them for good, and
// a cache on the way may, because they carry nobody's workspace. Those of a course are
// asked for again, and not sent twice.
func TestPicturesOfLessonsAreKept(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false)
	c := s.Browse(t, handlerstest.Alice)
	code := s.Browse(t, handlerstest.Teacher).Course("/lessons/margins", "")
	for page, policy := range map[string]string{
		"/":                                      "public, max-age=31536000, immutable",
		"/lessons":                               "public, max-age=31536000, immutable",
		"/lessons/margins":                       "public, max-age=31536000, immutable",
		"/lessons/margins/line?w1=2":             "public, max-age=31536000, immutable",
		"/datasets":                              "public, max-age=31536000, immutable",
		"/lab?data=moons":                        "public, max-age=31536000, immutable",
		"/lab?data=drawing&points=0,0,a%0A1,1,b": "private, no-cache",
		"/lessons/margins?course=" + code:        "private, no-cache",
	} {
		images := c.Page(200, page).Find("main img").Map(func(_ int, img *goquery.Selection) string { return img.AttrOr("src", "") })
		require.Check(t, len(images) != 0, "%s has no pictures", page)
		for _, src := range images[:min(len(images), 2)] {
			first := c.Do("GET", src, "")
			got := first.Header.Get("Cache-Control")
			require.Check(t, first.Status == 200 && got == policy, "%s: %d, %q", src, first.Status, got)
			cookie := first.Header.Get("Set-Cookie")
			require.Check(t, (cookie == "") == strings.HasPrefix(policy, "public"), "%s sets the cookie %q", src, cookie)
			again := s.Browse(t, handlerstest.Bob).Do("GET", src, "", "If-None-Match", first.Header.Get("ETag"))
			require.Check(t, again.Status == 304 && len(again.Body) == 0, "%s, asked again: %d", src, again.Status)
		}
	}
	sketch := c.Page(200, "/lessons/procedures/worksheet").Find(".worksheet-sketch").First().AttrOr("src", "")
	require.Says(t, c.Do("GET", sketch, "").Header.Get("Cache-Control"), "public", "%s", sketch)
}
