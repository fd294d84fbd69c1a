package handlers

import (
	"strings"
	"testing"

	"marginlab/ml/dataset"
)

// A page whose form was refused shows the points alone, also in the picture that it
// fetches: no boundary of a default in place of what was refused.
func TestRefusedValueIsNotDrawn(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).browse(t, teacher)
	for form, trained := range map[string]bool{"gamma=2": true, "gamma=abc": false, "hard_margin=on": false} {
		doc := c.page(200, "/lab?data=moons&"+form)
		if got := doc.Find(`[role="alert"]`).Length() == 0; got != trained {
			t.Errorf("%s: accepted is %v", form, got)
		}
		if form == "hard_margin=on" { // as the page calls it
			if got := doc.Find(`[role="alert"]`).Text(); !strings.Contains(got, "Hard margin must be true or false") {
				t.Errorf("%s: %q", form, got)
			}
		}
		src, ok := doc.Find("figcaption a[download]").Attr("href")
		if !ok {
			t.Fatalf("%s: no picture", form)
		}
		svg := string(c.fetch("GET", src, "").body)
		if got := strings.Contains(svg, "f = 0"); got != trained {
			t.Errorf("%s: the picture at %s shows a boundary: %v", form, src, got)
		}
	}
}

// Edges between which nothing can be drawn are the visitor's matter, not a fault.
func TestLimitsWithoutRoom(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).browse(t, alice)
	for _, limits := range []string{"NaN,NaN,NaN,NaN", "NaN,1,2,3", "-1e308,1e308,-1,1"} {
		for _, path := range []string{"/lab?data=moons&limits=", "/lab/figures/boundary.svg?data=moons&limits=", "/lab?data=drawing&limits="} {
			a := c.fetch("GET", path+limits, "")
			if got := string(a.body); a.status != 422 || !strings.Contains(got, "give limits that are farther apart") {
				t.Errorf("%s%s: %d %.200s", path, limits, a.status, got)
			}
		}
	}
}
