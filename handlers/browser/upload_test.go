package browser

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"marginlab/ml/mltest/require"
)

// ripley is a file as people bring it: 250 rows, a header, the label last.
const ripley = "../../ml/testdata/ripley_train.csv"

// pick puts a file into a field for files.
func (p *page) pick(css, path string) {
	p.t.Helper()
	abs := require.Value(filepath.Abs(path))(p.t)
	field := call(p, runtime.Evaluate, runtime.EvaluateParams{Expression: element(css)}).Result
	call(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: []string{abs}, ObjectID: field.ObjectID})
}

var datasetPath = regexp.MustCompile(`/datasets/[^/]+$`)

// upload chooses a file on the page of data sets, which sends it; without scripts a button
// does.
func (p *page) upload(path string) {
	p.t.Helper()
	p.visit("/datasets")
	p.follow(func() {
		p.pick("#f-file", path)
		if p.bare {
			p.click(".upload button")
		}
	})
}

// train opens the data set of this page in the lab with an RBF SVM.
func (p *page) train() {
	p.t.Helper()
	p.follow(func() { p.clickText(".button", "Open in lab") })
	p.picture(".stage img")
	l, k := p.value("#f-learner"), p.value("#f-kernel")
	require.Must(p.t, l == "svm" && k == "rbf", "the lab begins with %s, %s", l, k)
	n := p.number("Support vectors")
	require.Check(p.t, n != "" && n != "0", "%q support vectors", n)
}

// number is the measured value beside a label.
func (p *page) number(label string) string {
	p.t.Helper()
	return get[string](p, `([...document.querySelectorAll(".numbers th")].find((th) => th.textContent.trim() === `+quote(label)+`)?.nextElementSibling.textContent.trim()) ?? ""`)
}

// keep saves the lab's state as a run, which stays where it is.
func (p *page) keep() {
	p.t.Helper()
	was := get[string](p, `document.querySelector("[data-saved] a")?.href ?? ""`)
	p.clickText("button", "Save run")
	p.wait(`![undefined, ` + quote(was) + `].includes(document.querySelector("[data-saved] a")?.href)`)
}

// save saves the lab's state as a run and waits for its picture.
func (p *page) save(name string) (path string) {
	p.t.Helper()
	p.fill("#f-name", name)
	p.keep()
	p.follow(func() { p.click("[data-saved] a") })
	p.wait(`!document.querySelector(".pending")`)
	p.picture(".stage img")
	require.Equal(p.t, p.text("h1"), name, "the run is called")
	return strings.TrimPrefix(p.where(), p.base)
}

func TestFromUploadToComparison(t *testing.T) {
	p := fresh(t)

	p.upload(ripley)
	h, at := p.text("h1"), p.where()
	require.Must(t, h == "ripley_train" && datasetPath.MatchString(at), "the upload leads to %q on %s", h, at)
	p.picture(".figure img")
	require.Equal(t, p.number("points"), "250", "points")
	p.train()
	first := p.save("narrow & <b>first</b>")
	accuracy := p.number("Training accuracy")
	require.Check(t, accuracy != "", "no training accuracy")

	p.server.stop()
	p.server.restart()
	p.visit("/runs")
	n := get[int](p, `document.querySelectorAll(".runs tbody tr").length`)
	require.Must(t, n == 1, "%d runs after a restart", n)
	p.follow(func() { p.click(".runs tbody th a") })
	at = p.where()
	require.Check(t, at == p.base+first, "the list leads to %s, not to %s", at, first)
	p.picture(".stage img")
	require.Equal(t, p.number("Training accuracy"), accuracy, "training accuracy after the restart")

	p.follow(func() { p.clickText(".button", "Open in lab") })
	p.picture(".stage img")
	p.change(func() { p.fill("#f-C", "100") })
	p.wait(`new URLSearchParams(location.search).get("C") === "100"`)
	p.save("wide")

	p.visit("/runs")
	compare := `button[data-needs="2"]`
	for i, ready := range []bool{false, false, true} {
		require.Equal(t, get[bool](p, "!"+element(compare)+".disabled"), ready, "%d chosen: compare offered", i)
		if i < 2 {
			p.click([]string{".runs tbody tr:nth-child(1) input", ".runs tbody tr:nth-child(2) input"}[i])
		}
	}
	p.follow(func() { p.click(compare) })
	for i := range 3 { // the two, and both in one
		p.picture([]string{".side-by-side figure:nth-child(1) img", ".side-by-side figure:nth-child(2) img", "[aria-labelledby=h-overlay] img"}[i])
	}
	require.Says(t, p.text("[aria-labelledby=h-differs]"), "100", "what differs is")
	p.clickText("summary", "All settings and numbers")
	differing := func() []string {
		return get[[]string](p, `[...document.querySelectorAll("[aria-labelledby=h-settings] tr.differs")].map((r) => r.innerText.replace(/\s+/g, " "))`)
	}
	d := differing()
	require.Check(t, len(d) == 1 && strings.Contains(d[0], "≠") && strings.Contains(d[0], "100"), "settings marked as different: %q", d)
	rows := `document.querySelectorAll("[aria-labelledby=h-settings] tbody tr").length`
	all := get[int](p, rows)
	require.Check(t, all >= 5, "%d settings", all)
	p.follow(func() { p.clickText(".button", "Differences only") })
	n = get[int](p, rows)
	require.Check(t, n == 1 && len(differing()) == 1, `%d settings under "differences only"`, n)
	p.follow(func() { p.clickText(".button", "Differences only") })
	n = get[int](p, rows)
	require.Check(t, n >= 5 && p.visible("[aria-labelledby=h-settings] table"), "%d settings after switching back", n)
}

func TestDroppedFile(t *testing.T) {
	p := fresh(t)
	path := require.Value(filepath.Abs(ripley))(t)
	p.visit("/datasets")
	at := p.reach("#h-builtin") // anywhere on the page
	drag := func(kind input.DispatchDragEventType) {
		call(p, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: at.X, Y: at.Y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{path}, DragOperationsMask: 1},
		})
	}
	drag(input.DispatchDragEventTypeDragEnter)
	drag(input.DispatchDragEventTypeDragOver)
	p.wait(`document.querySelector(".upload.over")`)
	p.follow(func() { drag(input.DispatchDragEventTypeDrop) })
	require.Equal(t, p.text("h1"), "ripley_train", "the drop leads to")
}

func TestColumnsAreChosen(t *testing.T) {
	p := fresh(t)
	p.upload(require.File(t, "people.csv", "name;height;weight;member\nAda;1,65;55;yes\nBob;1,80;82;no\nCyd;1,71;60;yes\nDan;1,90;95;no\n"))
	if h := p.text("h1"); !strings.Contains(h, "people.csv") || !strings.Contains(p.where(), "/datasets/mapping/") {
		t.Fatalf("a doubtful file leads to %q on %s", h, p.where())
	}
	require.SaysAll(t, p.text("table.mapping"), []string{"Ada", "1.65"}, "the preview does not show the rows")
	words := `document.querySelector('input[name=feature][value=name]')`
	require.Check(t, !get[bool](p, words+`.checked`) && !get[bool](p, words+`.disabled`),
		"a column of few words is chosen as a feature by itself, or may not be chosen")
	for _, label := range []string{"weight", "member"} { // each has the rest proposed anew
		p.follow(func() { p.choose("#f-label", label) })
	}
	for _, f := range []string{"height", "weight"} {
		if !get[bool](p, `document.querySelector('input[name=feature][value=`+f+`]').checked`) {
			p.click(`input[name=feature][value=` + f + `]`)
		}
	}
	p.fill("#f-mapping-name", "People")
	p.follow(func() { p.clickText("button", "Use these columns") })
	h, c, f := p.text("h1"), p.number("classes"), p.number("features")
	require.Check(t, h == "People" && strings.Contains(c, "yes: 2") && f == "height, weight", "saved as %q with classes %q and features %q", h, c, f)
}

func TestBrokenFile(t *testing.T) {
	p := fresh(t)
	p.visit("/datasets")
	p.fill("#f-upload-name", "My points")
	p.expect("422")
	broken := require.File(t, "broken.csv", "x,y,label\n1,2,a\n3,four,b\n5,6,a\n")
	p.follow(func() { p.pick("#f-file", broken) })
	require.SaysAll(t, p.text(".upload [role=alert]"), []string{"roken.csv", "line 3", "column 2", "four"}, "the message")
	require.Equal(t, p.value("#f-upload-name"), "My points", "the name came back as")
	p.visit("/datasets")
	require.Check(t, p.visible("[aria-labelledby=h-own] .empty"), "something was saved")
}

// Rows of a spreadsheet that are pasted outside a field become a data set, on every page that has data.
func TestRowsArePasted(t *testing.T) {
	p := fresh(t)
	paste := func(at, text string) string {
		return `(() => {
			const data = new DataTransfer();
			data.setData("text/plain", ` + strconv.Quote(text) + `);
			return ` + at + `.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
		})()`
	}
	const rows = "x1\tx2\tkind\n1\t2.5\ta\n2\t3\tb\n3\t1\ta\n4\t2\tb\n"
	for _, path := range []string{"/datasets", "/lab", "/"} {
		p.visit(path)
		taken := !get[bool](p, paste("document.body", "just a line, of words"))
		require.Check(t, !taken, "%s: a sentence is taken for rows", path)
		require.Check(t, path != "/datasets" || get[bool](p, paste(`document.querySelector("#f-typed")`, rows)),
			"what is pasted into a field does not stay there")
		p.follow(func() { get[bool](p, paste("document.body", rows)) })
		h, n := p.text("h1"), p.number("points")
		require.Check(t, h == "Pasted rows" && n == "4", "%s: %q with %s points on %s", path, h, n, p.where())
	}
}
