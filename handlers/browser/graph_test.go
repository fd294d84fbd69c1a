package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"marginlab/ml/mltest/require"
)

// TestDrawAGraph draws a graph with the mouse and with keys, and adds it to its data set.
func TestDrawAGraph(t *testing.T) {
	p := fresh(t)
	p.upload(require.File(t, "graphs.jsonl", `{"n":2,"edges":[[0,1]],"label":"a"}`+"\n"+`{"n":1,"label":"b"}`))
	expect := func(want string) {
		t.Helper()
		p.wait(element("#f-object") + ".value === " + quote(want))
	}
	const svg = ".graph-drawing svg"
	p.click(svg)
	expect(`{"n":1,"edges":[]}`)
	p.keys("n")
	expect(`{"n":2,"edges":[[0,1]]}`)
	at := p.reach(`[data-node="1"]`)
	p.drag(at, point{at.X + 40, at.Y}, point{at.X + 80, at.Y})
	expect(`{"n":3,"edges":[[0,1],[1,2]]}`)
	p.fill("[data-label]", "C")
	expect(`{"n":3,"edges":[[0,1],[1,2]],"labels":["?","?","C"]}`)
	get[bool](p, "("+element(svg)+".focus(), true)")
	p.keys("e" + kb.ArrowRight + "e") // from the last node to the first
	expect(`{"n":3,"edges":[[0,1],[1,2],[0,2]],"labels":["?","?","C"]}`)
	p.keys(kb.ArrowRight + kb.Delete)
	expect(`{"n":2,"edges":[[0,1]],"labels":["?","C"]}`)
	p.fill("#f-object", `{"n":2,"edges":[[0,1]],"labels":["O","C"]}`)
	p.wait(element(`[data-node="0"] text`) + `.textContent === "O"`)
	// Directions and labels of edges stay while one draws on.
	const directed = `{"n":3,"directed":true,"edges":[[1,0],[0,1],[1,2]],"edge_labels":["a","b","c"],"labels":["O","C","?"]}`
	p.fill("#f-object", directed)
	p.wait(`document.querySelectorAll(".graph-drawing polygon").length === 3 && ` + element("[data-directed]") + ".checked")
	get[bool](p, "("+element(svg)+".focus(), true)")
	p.keys(kb.ArrowRight + "n")
	expect(`{"n":4,"directed":true,"edges":[[1,0],[0,1],[1,2],[0,3]],"edge_labels":["a","b","c","?"],"labels":["O","C","?","O"]}`)
	p.keys(kb.Delete)
	expect(directed)
	p.click("[data-directed]")
	expect(`{"n":3,"edges":[[0,1],[1,2]],"edge_labels":["a","c"],"labels":["O","C","?"]}`)
	p.click(`line.reach[data-edge="1"]`)
	p.fill("[data-label]", "b")
	expect(`{"n":3,"edges":[[0,1],[1,2]],"edge_labels":["a","b"],"labels":["O","C","?"]}`)
	get[bool](p, "("+element(svg)+".focus(), true)")
	p.keys("n") // a node, which does not take the label of the edge
	expect(`{"n":4,"edges":[[0,1],[1,2]],"edge_labels":["a","b"],"labels":["O","C","?","?"]}`)
	p.keys(kb.Delete)
	p.fill("#f-object-label", "c")
	p.follow(func() { p.clickText("button", "Add") })
	rows := get[int](p, `document.querySelectorAll("td.drawn img").length`)
	require.Check(t, rows == 3 && strings.Contains(p.text("main"), "3 graphs"), "%d graphs are drawn", rows)
}
