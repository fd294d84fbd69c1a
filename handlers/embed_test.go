package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"marginlab/ml/dataset"
)

// A demo is offered for pages of other sites as it is now, and answers there without a
// cookie, live too; nothing of a workspace or of a course can be had in a frame, and
// nothing but the demos can be framed.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c, none := s.browse(t, alice), s.browse(t, "")
	doc := c.page(200, "/lessons/margins?screen=line&b=0.75")
	html := doc.Find("#line .embed textarea").Text()
	_, address, _ := strings.Cut(html, `src="`)
	address, _, _ = strings.Cut(address, `"`)
	if want := s.URL + "/embed/margins/line?b=0.75"; address != want || !strings.HasPrefix(html, "<iframe ") || !strings.HasSuffix(html, "></iframe>") {
		t.Fatalf("the HTML is %s, not of %s", html, want)
	}
	path := strings.TrimPrefix(address, s.URL)
	page := none.want(200, "GET", path, "")
	frame := page.html()
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
	picture := none.want(200, "GET", strings.TrimPrefix(svg, s.URL), "")
	if !strings.Contains(string(picture.body), "<svg") || svg != s.URL+"/embed/margins/line/figures/line.svg?b=0.75" {
		t.Errorf("the picture at %s is %.40s", svg, picture.body)
	}
	live := none.want(200, "POST", "/embed/margins/line/live", "b=0.25", "Content-Type", "application/x-www-form-urlencoded")
	if text := string(live.body); !strings.Contains(text, `"query":"b=0.25"`) || strings.Contains(text, "/lessons/") {
		t.Errorf("live: %.300s", text)
	}
	for name, a := range map[string]answer{"page": page, "picture": picture, "live": live} {
		policy := a.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors *") || !strings.Contains(policy, "default-src 'none'") || a.header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", name, a.header)
		}
	}
	for _, path := range []string{"/lessons/margins/line", "/lessons/margins", "/lab", "/lessons/margins/line/figures/line.svg"} {
		if a := none.want(200, "GET", path, ""); strings.Contains(a.header.Get("Content-Security-Policy"), "frame-ancestors *") {
			t.Errorf("%s can be framed", path)
		}
	}
	none.page(404, "/embed/margins/nothing")
	none.page(404, "/embed/nothing/line")
	if a := none.do("POST", "/embed/margins/line/live", "b=1", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
		t.Errorf("another site's own question is answered with %d", a.status)
	}

	// What belongs to somebody is not offered, and not shown when it is asked for.
	c.send(200, "/datasets/generate", "generator=moons&n=40&noise=0.1&seed=3")
	own, _ := c.page(200, "/datasets").Find(`a[href^="/datasets/"]`).Attr("href")
	own = strings.TrimPrefix(own, "/datasets/")
	if n := c.page(200, "/lessons/mercer?screen=combine&data="+own).Find("#combine .embed").Length(); n != 0 {
		t.Error("a demo of one's own data is offered to others")
	}
	code := s.browse(t, teacher).course("/lessons/margins?b=0.9", "control.b=hidden")
	if n := c.page(200, "/course/"+code).Find(".embed").Length(); n != 0 {
		t.Error("a demo of a course is offered to others")
	}
	if v := none.page(200, "/embed/margins/line?course="+code+"&data=course-"+code+"&run=x&"+url.Values{"class": {code}}.Encode()).Find("[name=b]").AttrOr("value", ""); v == "0.9" || v == "" {
		t.Errorf("in a frame of a course b = %q", v)
	}
}
