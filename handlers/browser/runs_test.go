package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestFilterIsCompleted: the filter of the list of runs offers fields, operators and values,
// and takes them by keys; the runs that it finds are listed.
func TestFilterIsCompleted(t *testing.T) {
	t.Parallel()
	p := open(t, start(t))
	for _, kernel := range []string{"rbf", "linear"} {
		p.visit("/lab?data=moons&kernel=" + kernel)
		p.fill("#f-name", kernel+" run")
		p.follow(func() { p.clickText("button", "Save run") })
	}
	p.visit("/runs")
	p.click("#f-where")
	for _, c := range []struct{ typed, want string }{
		{"nam", "name "}, {"~", "name ~"}, {" run and ker", "name ~ run and kernel "}, {"=", "name ~ run and kernel ="}, {"lin", "name ~ run and kernel =linear "},
	} {
		p.keys(c.typed)
		if c.typed == "~" || c.typed == "=" {
			p.wait(`document.querySelector("#f-where").value === ` + quote(c.want))
			continue
		}
		p.wait(`!document.querySelector(".completions").hidden`)
		p.click(".completions li")
		p.wait(`document.querySelector("#f-where").value === ` + quote(c.want))
	}
	p.keys(kb.Escape)
	p.follow(func() { p.keys(kb.Enter) })
	if got := get[int](p, `document.querySelectorAll(".runs tbody tr").length`); got != 1 || p.text(".runs tbody th a") != "linear run" {
		t.Errorf("%d rows, first %q", got, p.text(".runs tbody th a"))
	}
}
