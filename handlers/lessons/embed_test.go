package lessons_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
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
	if want := s.URL + "/embed/margins/line?b=0.75"; address != want || !strings.HasPrefix(html, "<iframe ") || !strings.HasSuffix(html, "></iframe>") {
		t.Fatalf("the HTML is %s, not of %s", html, want)
	}
	path := strings.TrimPrefix(address, s.URL)
	page := none.Want(200, "GET", path, "")
	frame := page.HTML()
	if v := frame.Find("[name=b]").AttrOr("value", ""); v != "0.75" {
		t.Errorf("in the frame b = %s", v)
	}
	if n := frame.Find("header.site:not([hidden]), .embed, .to-lab, .questions").Length(); n != 0 {
		t.Errorf("%d parts of a page around the frame", n)
	}
	if src := frame.Find(".stage img").AttrOr("src", ""); !strings.HasPrefix(src, "/embed/margins/line/figures/") {
		t.Errorf("in the frame the picture is at %s", src)
	}
	svg, _ := doc.Find("#line .embed a").Attr("href")
	picture := none.Want(200, "GET", strings.TrimPrefix(svg, s.URL), "")
	if !strings.Contains(string(picture.Body), "<svg") || svg != s.URL+"/embed/margins/line/figures/line.svg?b=0.75" {
		t.Errorf("the picture at %s is %.40s", svg, picture.Body)
	}
	live := none.Want(200, "POST", "/embed/margins/line/live", "b=0.25", "Content-Type", "application/x-www-form-urlencoded")
	if text := string(live.Body); !strings.Contains(text, `"query":"b=0.25"`) || strings.Contains(text, "/lessons/") {
		t.Errorf("live: %.300s", text)
	}
	for name, a := range map[string]handlerstest.Answer{"page": page, "picture": picture, "live": live} {
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors *") || !strings.Contains(policy, "default-src 'none'") || a.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", name, a.Header)
		}
	}
	for _, path := range []string{"/lessons/margins/line", "/lessons/margins", "/lab", "/lessons/margins/line/figures/line.svg"} {
		if a := none.Want(200, "GET", path, ""); strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors *") {
			t.Errorf("%s can be framed", path)
		}
	}
	none.Page(404, "/embed/margins/nothing")
	none.Page(404, "/embed/nothing/line")
	if a := none.Do("POST", "/embed/margins/line/live", "b=1", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"); a.Status != http.StatusForbidden {
		t.Errorf("another site's own question is answered with %d", a.Status)
	}

	// What belongs to somebody is not offered, and not shown when it is asked for.
	c.Send(200, "/datasets/generate", "generator=moons&n=40&noise=0.1&seed=3")
	own, _ := c.Page(200, "/datasets").Find(`a[href^="/datasets/"]`).Attr("href")
	own = strings.TrimPrefix(own, "/datasets/")
	if n := c.Page(200, "/lessons/mercer?screen=combine&data="+own).Find("#combine .embed").Length(); n != 0 {
		t.Error("a demo of one's own data is offered to others")
	}
	code := s.Browse(t, handlerstest.Teacher).Course("/lessons/margins?b=0.9", "control.b=hidden")
	if n := c.Page(200, "/course/"+code).Find(".embed").Length(); n != 0 {
		t.Error("a demo of a course is offered to others")
	}
	if v := none.Page(200, "/embed/margins/line?course="+code+"&data=course-"+code+"&run=x&"+url.Values{"class": {code}}.Encode()).Find("[name=b]").AttrOr("value", ""); v == "0.9" || v == "" {
		t.Errorf("in a frame of a course b = %q", v)
	}
}
