package lessons_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/views/lessons/all"
)

// A demo is offered for pages of other sites as it is now, and answers there without a
// cookie, live too; nothing of a workspace or of a course can be had in a frame, and
// nothing but the demos can be framed.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c, none := s.Browse(t, handlerstest.Alice), s.Browse(t, "")
	doc := c.Page(200, "/lessons/margins?screen=line&b=0.75")
	html := doc.Find("#line .embed textarea").Text()
	_, address, _ := strings.Cut(html, `src="`)
	address, _, _ = strings.Cut(address, `"`)
	if want := s.URL + "/embed/margins/line?b=0.75"; address != want || !strings.HasPrefix(html, "<iframe ") || !strings.Contains(html, "></iframe>\n<script>") {
		t.Fatalf("the HTML is %s, not of %s", html, want)
	}
	path := strings.TrimPrefix(address, s.URL)
	page := none.Want(200, "GET", path, "")
	frame := page.HTML()
	require.Equal(t, frame.Find("[name=b]").AttrOr("value", ""), "0.75", "in the frame b")
	n := frame.Find("header.site:not([hidden]), .embed, .to-lab, .questions").Length()
	require.Check(t, n == 0, "%d parts of a page around the frame", n)
	src := frame.Find(".stage img").AttrOr("src", "")
	require.Check(t, strings.HasPrefix(src, "/embed/margins/line/figures/"), "in the frame the picture is at %s", src)
	svg, _ := doc.Find("#line .embed a").Attr("href")
	picture := none.Want(200, "GET", strings.TrimPrefix(svg, s.URL), "")
	require.Check(t, strings.Contains(string(picture.Body), "<svg") && svg == s.URL+"/embed/margins/line/figures/line.svg?b=0.75",
		"the picture at %s is %.40s", svg, picture.Body)
	live := none.Want(200, "POST", "/embed/margins/line/live", "b=0.25", "Content-Type", "application/x-www-form-urlencoded")
	text := string(live.Body)
	require.Check(t, strings.Contains(text, `"query":"b=0.25"`) && !strings.Contains(text, "/lessons/"), "live: %.300s", text)
	for name, a := range map[string]handlerstest.Answer{"page": page, "picture": picture, "live": live} {
		policy := a.Header.Get("Content-Security-Policy")
		require.Check(t, strings.Contains(policy, "frame-ancestors *") && strings.Contains(policy, "default-src 'none'") && a.Header.Get("Cross-Origin-Resource-Policy") == "cross-origin" && a.Header.Get("Set-Cookie") == "",
			"%s: %v", name, a.Header)
	}
	for _, path := range []string{"/lessons/margins/line", "/lessons/margins", "/lab", "/lessons/margins/line/figures/line.svg"} {
		require.Check(t, !strings.Contains(none.Want(200, "GET", path, "").Header.Get("Content-Security-Policy"), "frame-ancestors *"),
			"%s can be framed", path)
	}
	none.Page(404, "/embed/margins/nothing")
	none.Page(404, "/embed/nothing/line")
	for path, want := range map[string]int{"/embed/margins/line/live": http.StatusOK, "/lessons/margins/line/live": http.StatusForbidden} { // a sandbox has no origin
		a := none.Do("POST", path, "b=1", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site")
		require.Check(t, a.Status == want, "another site's request of %s is answered with %d, not %d", path, a.Status, want)
	}

	// What belongs to somebody is not offered, and not shown when it is asked for.
	c.Send(200, "/datasets/generate", "generator=moons&n=40&noise=0.1&seed=3")
	own, _ := c.Page(200, "/datasets").Find(`a[href^="/datasets/"]`).Attr("href")
	own = strings.TrimPrefix(own, "/datasets/")
	n = c.Page(200, "/lessons/mercer?screen=combine&data="+own).Find("#combine .embed").Length()
	require.Check(t, n == 0, "a demo of one's own data is offered to others")
	code := s.Browse(t, handlerstest.Teacher).Course("/lessons/margins?b=0.9", "control.b=hidden")
	require.Equal(t, c.Page(200, "/course/"+code).Find(".embed").Length(), 0, "a demo of a course is offered to others")
	v := none.Page(200, "/embed/margins/line?course="+code+"&data=course-"+code+"&run=x&"+url.Values{"class": {code}}.Encode()).Find("[name=b]").AttrOr("value", "")
	require.Check(t, v != "0.9" && v != "", "in a frame of a course b = %q", v)
}

// The address of a slide, with its state, turns into its demo by oEmbed, and the slide
// says where.
func TestOEmbed(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c, none := s.Browse(t, handlerstest.Alice), s.Browse(t, "")
	link := c.Page(200, "/lessons/margins/line").Find(`link[type="application/json+oembed"]`).AttrOr("href", "")
	link, ok := strings.CutPrefix(link, s.URL)
	require.Must(t, ok, "the slide names %q", link)
	type answer struct {
		Version, Type, Title, HTML string
		Width, Height              int
	}
	ask := func(path string) (a answer) {
		t.Helper()
		require.NoError(t, json.Unmarshal(none.Want(200, "GET", path, "").Body, &a))
		return a
	}
	if a := ask(link); a.Version != "1.0" || a.Type != "rich" || a.Title == "" || !strings.Contains(a.HTML, `src="`+s.URL+`/embed/margins/line"`) || a.Width <= 0 || a.Height <= 0 {
		t.Errorf("%s is answered by %+v", link, a)
	}
	of := func(address string) string { return "/oembed?" + url.Values{"url": {address}}.Encode() }
	slide := s.URL + "/lessons/margins/line"
	if a := ask(of(slide+`?b=0.75&course=abc&x="><script>`) + "&format=json&maxwidth=300&maxheight=200"); !strings.Contains(a.HTML, `/embed/margins/line?b=0.75" `) || a.Width != 300 || a.Height != 200 || !strings.Contains(a.HTML, `width="300" height="200"`) {
		t.Errorf("with a state: %+v", a)
	}
	if a := ask(of(slide + "?b=0.75&controls=hidden")); !strings.Contains(a.HTML, `/embed/margins/line?b=0.75&amp;controls=hidden"`) {
		t.Errorf("without controls: %+v", a)
	}
	for path, want := range map[string]int{"/embed/margins/line": 0, "/embed/margins/line?controls=hidden": 1} {
		require.Equal(t, none.Page(200, path).Find("article.fixed-demo").Length(), want, "%s: figures without controls", path)
	}
	for _, address := range []string{"", "nonsense", "https://example.org/lessons/margins/line", s.URL + "/lab", s.URL + "/lessons/margins", s.URL + "/lessons/margins/nothing", s.URL + "/lessons/nothing/line"} {
		require.Equal(t, none.Do("GET", of(address), "").Status, http.StatusNotFound, "%q is answered with", address)
	}
	a := none.Do("GET", of(slide)+"&format=xml", "")
	require.Check(t, a.Status == http.StatusNotImplemented, "xml is answered with %d", a.Status)
}

// Teachers find every demo on one page.
func TestTeachers(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
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
