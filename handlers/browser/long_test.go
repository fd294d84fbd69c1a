package browser

import (
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// big makes a data set that takes long to train on, and returns its id.
func (p *page) big() string {
	p.t.Helper()
	return p.generate("checkerboard", "n", "20000", "noise", "0.4")
}

// generate makes a data set with the form of a generator, whose fields are given as names and values,
// and returns its id.
func (p *page) generate(name string, fields ...string) string {
	p.t.Helper()
	p.visit("/datasets")
	p.click(`.generator:has([value="` + name + `"]) > summary`)
	for i := 0; i < len(fields); i += 2 {
		p.fill("#f-"+name+"-"+fields[i], fields[i+1])
	}
	p.follow(func() { p.clickText(".generator[open] button", "Generate") })
	return p.where()[strings.LastIndex(p.where(), "/")+1:]
}

// long is a training on it that nobody waits for.
const long = "kernel=rbf&gamma=4&C=10000&tol=0.0000001"

func TestLongTrainingIsCancelled(t *testing.T) {
	p := fresh(t, "--patience", "8")
	id := p.big()

	p.visitStage("/lab?data=" + id + "&" + long)
	if say := p.text("main .problem"); !strings.Contains(say, "takes longer than") || !strings.Contains(say, "in the background") {
		t.Errorf("the lab says %q of a long training", say)
	}
	require.Says(t, p.text(".caption"), "20000 points", "the picture shows")
	p.fill("#f-name", "endless")
	p.keep()
	p.follow(func() { p.click("[data-saved] a") })
	p.wait(`document.querySelector("[data-progress]").textContent.includes("iterations")`)
	progress := func() string { return p.text("[data-progress]") }
	was := progress()
	p.wait(`document.querySelector("[data-progress]").textContent.trim() !== ` + quote(was))
	p.follow(func() { p.clickText("button", "Cancel") })
	p.wait(`!document.querySelector(".pending")`)
	require.Says(t, p.text("main .problem"), "cancelled", "after cancelling")
	p.visit("/runs?status=cancelled")
	require.SaysAll(t, p.text(".runs tbody tr"), []string{"endless", "cancelled"}, "the list says")
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
	require.Says(t, p.text(".caption"), "20000 points", "the picture shows")
	q := <-questions
	p.wait(`document.querySelector("[data-status] button")`)
	p.clickText("[data-status] button", "Cancel")
	<-q.left
	p.wait(`document.querySelector("[data-status]").textContent === "Cancelled."`)
	p.picture(".stage img")
}

// Before machines of strings are trained, the page counts the rows of their kernel matrix. It is
// loaded anew when the training ends elsewhere, and not before the server can be reached.
func TestLongKernelMatrixIsCounted(t *testing.T) {
	p := fresh(t, "--patience", "8")
	p.visit("/lab?data=" + p.generate("dna", "n", "4000") + "&kernel=gap-subsequence&k=25&test_fraction=0")
	p.keep()
	p.follow(func() { p.click("[data-saved] a") })
	p.wait(`/^Kernel matrix: \d+ of 4000 rows$/.test(document.querySelector("[data-progress]").textContent)`)
	p.wait(`document.querySelector("[data-bar]").max === 4000 && document.querySelector("[data-bar]").value > 0`)
	refuseLast(p)
	get[bool](p, `(fetch(document.querySelector("form[action$='/cancel']").action, { method: "POST" }), true)`)
	p.wait(`!document.querySelector(".pending")`)
	require.Check(t, get[bool](p, `sessionStorage.refused === "true"`), "the page is loaded anew although the server cannot be reached")
}

// A regularisation path that takes long shows how far it is, follows itself with scripts and without,
// and is cancelled.
func TestPathFollowed(t *testing.T) {
	p := fresh(t)
	// Kernels of long strings take minutes, whichever way the path is followed.
	at := "/path?kernel=gap-subsequence&k=25&test_fraction=0&data=" + p.generate("dna", "n", "1000", "length", "120")
	p.visit(at)
	get[bool](p, `((real) => { // a proxy does not reach the server, then a reply breaks off
		const replies = [new Response("", { status: 502 }), { text: () => Promise.reject(new TypeError("broken off")) }];
		window.fetch = (...args) => replies.length ? Promise.resolve(replies.shift()) : (window.fetch = real, real(...args));
		return true;
	})(window.fetch)`)
	p.wait("window.fetch.toString().includes('native code')")
	p.wait(element("#path progress") + ".value > 0")
	now := p.text("#path [data-progress]")
	p.wait(element("#path [data-progress]") + ".textContent !== " + quote(now))
	require.Check(t, !p.query().Has("follow"), "the script leaves the address: %s", p.where())
	p.follow(func() { p.clickText("#path button", "Cancel") })
	require.Says(t, p.text("main"), "The path was cancelled.", "the page says")
	p.noScript()
	p.follow(func() { p.clickText("a", "Start again") })
	now = p.text("#path [data-progress]")
	p.wait("location.search.includes('follow=1') && (e => e && e.textContent !== " + quote(now) + ")(" + element("#path [data-progress]") + ")")
	p.until("the path is cancelled", func() (bool, error) { // the page comes anew now and then
		return try[bool](p, element("#path button")+"?.click(), "+element("main")+".textContent.includes('The path was cancelled.')")
	})
}
