package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"marginlab/ml/mltest/require"
)

func TestWithoutJavaScript(t *testing.T) {
	p := fresh(t)
	p.noScript()

	// Data: a doubtful file, its columns chosen.
	p.upload(require.File(t, "people.csv", "name,height,weight,member\nAda,1.65,55,yes\nBob,1.80,82,no\nCyd,1.71,60,yes\nDan,1.90,95,no\nEve,1.60,50,yes\nFay,1.85,90,no\n"))
	p.choose("#f-label", "height")
	p.follow(func() { p.clickText("button", "Update") })
	require.Says(t, p.text(".sentence"), "a regression) from 2 columns", "another label")
	p.choose("#f-label", "member")
	p.follow(func() { p.clickText("button", "Update") })
	p.follow(func() { p.clickText("button", "Use these columns") })
	p.picture(".figure img")
	set := strings.TrimPrefix(p.where(), p.base)

	// The lab: another kernel, another C, a held-out part, a button.
	p.follow(func() { p.clickText(".button", "Open in lab") })
	p.picture(".stage img")
	require.Check(t, p.number("Training accuracy") != "", "no numbers")
	p.choose("#f-kernel", "linear")
	p.fill("#f-C", "7")
	p.follow(func() { p.clickText(".save button", "Train") })
	p.picture(".stage img")
	q := p.query()
	require.Check(t, q.Get("kernel") == "linear" && q.Get("C") == "7", "the address says %v", q)
	k, c := p.value("#f-kernel"), p.value("#f-C")
	require.Check(t, k == "linear" && c == "7", "the form comes back with kernel %s and C %s", k, c)
	require.Check(t, !p.visible("[data-field=gamma]"), "a linear kernel has a gamma")
	p.fill("#f-C", "many")
	p.follow(func() { p.clickText(".save button", "Train") })
	require.Says(t, p.text("#f-C-error"), "many", "beside C")
	require.Equal(t, p.value("#f-C"), "many", "C came back as")

	// Runs: save two, look, edit, compare.
	save := func(c, name string) string {
		t.Helper()
		p.fill("#f-C", c)
		p.fill("#f-name", name)
		p.follow(func() { p.clickText("button", "Save run") })
		p.lookAgain()
		p.picture(".stage img")
		return strings.TrimPrefix(p.where(), p.base)
	}
	first := save("7", "first")
	p.fill("#f-tags", "demo, second try")
	p.fill("#f-note", "a note")
	p.follow(func() { p.clickText("button", "Save changes") })
	tags, note := p.value("#f-tags"), p.value("#f-note")
	require.Check(t, tags == "demo, second try" && note == "a note", "saved tags %q and note %q", tags, note)
	p.follow(func() { p.clickText("button", "Make a read-only link") })
	link := p.value(".share")
	p.follow(func() { p.clickText(".button", "Open in lab") })
	require.Equal(t, p.value("#f-C"), "7", "the lab opens with C")
	save("70", "second")
	p.visit("/runs?tag=demo")
	require.Equal(t, get[int](p, `document.querySelectorAll(".runs tbody tr").length`), 1, "runs with the tag")
	p.visit("/runs")
	p.click(".runs tbody tr:nth-child(1) input")
	p.click(".runs tbody tr:nth-child(2) input")
	p.follow(func() { p.clickText("button", "Compare selected") })
	p.picture("[aria-labelledby=h-overlay] img")
	p.click("#tables summary")
	p.follow(func() { p.clickText(".button", "Differences only") })
	n := get[int](p, `document.querySelectorAll("[aria-labelledby=h-settings] tbody tr").length`)
	require.Check(t, n == 1, "%d settings differ", n)

	// The link shows the run and nothing that changes it.
	p.do(chromedp.Navigate(link))
	p.picture(".stage img")
	n = get[int](p, `[...document.querySelectorAll("main form, main button")].filter((e) => e.checkVisibility()).length`)
	require.Check(t, n == 0, "a shared run has %d forms and buttons", n)

	// All versions at once: every learner, with and without a map.
	p.visit("/lab?data=moons")
	learners := get[int](p, `document.querySelectorAll("#f-learner option").length`)
	p.click(".more summary")
	p.follow(func() { p.click(`button[formaction="/compare/versions"]`) })
	p.lookAgain()
	n = get[int](p, `document.querySelectorAll(".side-by-side figure").length`)
	require.Check(t, n == 2*learners && n >= 4, "%d versions of %d learners compared", n, learners)

	// Delete: one run, the others, the data.
	p.visit(first)
	p.follow(func() { p.clickText("button", "Delete this run") })
	p.expect("404")
	p.visit(first)
	h := p.text("h1")
	require.Check(t, strings.Contains(strings.ToLower(h), "not found"), "a deleted run shows %q", h)
	p.visit("/runs?q=second")
	p.click(".runs tbody tr:nth-child(1) input")
	p.follow(func() { p.clickText("button", "Delete selected") })
	p.visit(set)
	p.follow(func() { p.clickText("button", "Delete this data set") })
	require.Check(t, p.visible("[aria-labelledby=h-own] .empty"), "the data set is still listed")
}

// lookAgain follows the link that a page offers in place of a script, until what it
// waits for has ended.
func (p *page) lookAgain() {
	p.t.Helper()
	const link = ".pending a, [data-refresh] a"
	for p.visible(link) {
		p.follow(func() { p.click(link) })
	}
}
