package browser

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// big makes a data set that takes long to train on, and returns its id.
func (p *page) big() string {
	p.t.Helper()
	p.visit("/datasets")
	p.generator("checkerboard")
	p.fill("#f-checkerboard-n", "20000")
	p.fill("#f-checkerboard-noise", "0.4")
	p.follow(func() { p.clickText(".generator[open] button", "Generate") })
	return p.where()[strings.LastIndex(p.where(), "/")+1:]
}

// generator opens the form of a generator.
func (p *page) generator(name string) {
	p.t.Helper()
	p.click(`.generator:has([value="` + name + `"]) > summary`)
}

// long is a training on it that nobody waits for.
const long = "kernel=rbf&gamma=4&C=10000&tol=0.0000001"

func TestLongTrainingIsCancelled(t *testing.T) {
	t.Parallel()
	p := open(t, start(t, "--patience", "8"))
	id := p.big()

	p.visitStage("/lab?data=" + id + "&" + long)
	if say := p.text("main .problem"); !strings.Contains(say, "takes longer than") || !strings.Contains(say, "in the background") {
		t.Errorf("the lab says %q of a long training", say)
	}
	caption := p.text(".caption")
	require.Check(t, strings.Contains(caption, "20000 points"), "the picture shows %q", caption)
	p.fill("#f-name", "endless")
	p.keep()
	p.follow(func() { p.click("[data-saved] a") })
	p.wait(`document.querySelector("[data-progress]").textContent.includes("iterations")`)
	progress := func() string { return p.text("[data-progress]") }
	was := progress()
	p.wait(`document.querySelector("[data-progress]").textContent.trim() !== ` + quote(was))
	p.follow(func() { p.clickText("button", "Cancel") })
	p.wait(`!document.querySelector(".pending")`)
	say := p.text("main .problem")
	require.Check(t, strings.Contains(say, "cancelled"), "after cancelling: %q", say)
	p.visit("/runs?status=cancelled")
	row := p.text(".runs tbody tr")
	require.Check(t, strings.Contains(row, "endless") && strings.Contains(row, "cancelled"), "the list says %q", row)
}

// A page is there before a long training is: it shows the points, and waits for the model
// beside a button to cancel.
func TestPageIsThereBeforeItsModel(t *testing.T) {
	t.Parallel()
	s := start(t, "--patience", "8")
	base, questions := slowly(t, s)
	p := open(t, s)
	p.base = base
	p.visitStage("/lab?data=" + p.big() + "&" + long)
	caption := p.text(".caption")
	require.Check(t, strings.Contains(caption, "20000 points"), "the picture shows %q", caption)
	q := <-questions
	p.wait(`document.querySelector("[data-status] button")`)
	p.clickText("[data-status] button", "Cancel")
	<-q.left
	p.wait(`document.querySelector("[data-status]").textContent === "Cancelled."`)
	p.picture(".stage img")
}

// Before machines of strings are trained, the page counts the rows of their kernel matrix.
func TestLongKernelMatrixIsCounted(t *testing.T) {
	t.Parallel()
	p := open(t, start(t, "--patience", "8"))
	p.visit("/datasets")
	p.generator("dna")
	p.fill("#f-dna-n", "4000")
	p.follow(func() { p.clickText(".generator[open] button", "Generate") })
	id := p.where()[strings.LastIndex(p.where(), "/")+1:]
	p.visit("/lab?data=" + id + "&kernel=gap-subsequence&k=25&test_fraction=0")
	p.keep()
	p.follow(func() { p.click("[data-saved] a") })
	p.wait(`/^Kernel matrix: \d+ of 4000 rows$/.test(document.querySelector("[data-progress]").textContent)`)
	p.wait(`document.querySelector("[data-bar]").max === 4000 && document.querySelector("[data-bar]").value > 0`)
	p.follow(func() { p.clickText("button", "Cancel") })
	p.wait(`!document.querySelector(".pending")`)
}

// A regularisation path that takes long shows how far it is, follows itself with scripts and without,
// and is cancelled.
func TestPathFollowed(t *testing.T) {
	t.Parallel()
	s := start(t)
	p := open(t, s)
	// Kernels of long strings take minutes, whichever way the path is followed.
	p.visit("/datasets")
	p.generator("dna")
	p.fill("#f-dna-n", "1000")
	p.fill("#f-dna-length", "120")
	p.follow(func() { p.clickText(".generator[open] button", "Generate") })
	set := strings.TrimPrefix(p.where(), p.base+"/datasets/")
	at := "/path?kernel=gap-subsequence&k=25&test_fraction=0&data=" + set
	p.visit(at)
	p.wait(element("#path progress") + ".value > 0")
	now := p.text("#path [data-progress]")
	p.wait(element("#path [data-progress]") + ".textContent !== " + quote(now))
	require.Check(t, !p.query().Has("follow"), "the script leaves the address: %s", p.where())
	p.follow(func() { p.clickText("#path button", "Cancel") })
	text := p.text("main")
	require.Check(t, strings.Contains(text, "The path was cancelled."), "%v", text)
	p.noScript()
	p.follow(func() { p.clickText("a", "Start again") })
	now = p.text("#path [data-progress]")
	p.wait("location.search.includes('follow=1') && (e => e && e.textContent !== " + quote(now) + ")(" + element("#path [data-progress]") + ")")
	p.until("the path is cancelled", func() (bool, error) { // the page comes anew now and then
		return try[bool](p, element("#path button")+"?.click(), "+element("main")+".textContent.includes('The path was cancelled.')")
	})
}
