package stringkernels

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

var (
	suffixWord = lessons.TextControl{Name: "x", Label: "a word", Default: "banana", Max: 10}
	suffixK    = lessons.IntegerControl{Name: "k", Label: "length", Symbol: "k", Default: "2", Min: 1, Max: 20, Low: 1, High: 20}
)

// methods lists the compared methods for the spectrum kernel.
var methods = []struct {
	name string
	of   theory.SpectrumMethod
}{{"every pair", theory.SpectrumByPairs}, {"trie", theory.SpectrumByTrie}, {"suffix tree", theory.SpectrumByTree}}

// longest is the length of the longest strings whose steps are counted; each of the others has
// half the length of the next.
const longest, lengths = 2048, 5

func showSuffix(_ context.Context, in lessons.Input) *lessons.Exhibit {
	text, k := suffixWord.Of(in), suffixK.Of(in)
	tree := theory.NewSuffixTree(text)
	cut := tree.KMers(k)
	curves := make([]figure.Curve, len(methods))
	numbers := []lessons.Number{
		{Label: "nodes below the root", Value: strconv.Itoa(len(tree.Nodes) - 1), Help: fmt.Sprintf("%d of them leaves, a suffix each; the others fork", len([]rune(text))+1)},
		{Label: "different k-mers", Value: strconv.Itoa(len(cut)), Help: "edges that the cut goes through"},
	}
	x, z := letterText(1), letterText(2) // long enough for straight lines
	for i, m := range methods {
		curves[i] = figure.Curve{Name: m.name, Marks: true}
		var steps [lengths]int
		for j := range lengths {
			n := longest >> (lengths - 1 - j)
			_, steps[j] = m.of(x[:n], z[:n], k)
			curves[i].X, curves[i].Y = append(curves[i].X, float64(n)), append(curves[i].Y, float64(steps[j]))
		}
		last := float64(steps[lengths-1])
		numbers = append(numbers, lessons.Number{
			Label: m.name + ": twice as long", Value: fmt.Sprintf("× %.2f", last/float64(steps[lengths-2])),
			Help: views.Short(last/(2*longest)) + fmt.Sprintf(" steps a letter for strings of %d letters", longest),
		})
	}
	e := &lessons.Exhibit{Numbers: numbers, Figures: []lessons.Figure{
		{Name: "tree", Caption: "Each way from the left is a substring, each leaf a suffix with its end mark. The cut at depth $k$ meets every k-mer once; the number there is its count: the leaves beyond.", Draw: func(l lessons.Look) (*figure.Picture, error) {
			return drawTree(l, tree, cut, k)
		}},
		{Name: "steps", Caption: "Steps, counted while each method compares two random strings of A, C, G and T. Both axes are logarithmic: $n^2$ has slope 2, $n$ has slope 1.", Draw: lessons.Draws(2, figure.Chart{
			X: figure.Axis{Name: "letters of either string", Log: true}, Y: figure.Axis{Name: "steps", Log: true}, Curves: curves,
		})},
	}}
	if len(cut) == 0 {
		e.Notes = []string{"The word is shorter than $k$: the cut meets no edge."}
	}
	return e
}

// letterText returns a random string of the longest length.
func letterText(seed uint64) string {
	r, b := rand.New(rand.NewPCG(seed, 0)), make([]byte, longest)
	for i := range b {
		b[i] = "ACGT"[r.IntN(4)]
	}
	return string(b)
}

// drawTree draws a suffix tree from left to right, with a unit per symbol and a line per leaf.
func drawTree(l lessons.Look, t *theory.SuffixTree, cut []int, k int) (*figure.Picture, error) {
	below, y := make([][]int, len(t.Nodes)), make([]float64, len(t.Nodes))
	label := func(v int) string { // of the edge to a node, with the end mark
		return strings.ReplaceAll(t.Edge(v), " ", "␣") + lists.Either(t.Nodes[v].Text >= 0, "$", "")
	}
	for v, n := range t.Nodes[1:] {
		below[n.Parent] = append(below[n.Parent], v+1)
	}
	leaves, deepest := 0.0, 0
	var place func(v int)
	place = func(v int) {
		slices.SortFunc(below[v], func(a, b int) int { return strings.Compare(label(a), label(b)) })
		deepest = max(deepest, t.Nodes[v].Depth)
		for _, w := range below[v] {
			place(w)
			y[v] += y[w] / float64(len(below[v]))
		}
		if len(below[v]) == 0 {
			y[v], leaves = -leaves, leaves+1
		}
	}
	place(0)
	p := figure.Plane{Format: l.Format(1), X: "depth", Stretched: true, Limits: figure.Limits{XMin: -0.4, XMax: float64(deepest) + 1.4, YMin: -leaves, YMax: 0.9}}
	p.Caption = fmt.Sprintf("The suffix tree of the word, with %.0f leaves, cut at depth %d.", leaves, k)
	way := make([]bool, len(t.Nodes)) // on a path to a substring
	for _, v := range cut {
		for ; v > 0; v = t.Nodes[v].Parent {
			way[v] = true
		}
	}
	var words []figure.Mark
	for v, n := range t.Nodes[1:] {
		v++
		from, symbols := float64(t.Nodes[n.Parent].Depth), []rune(label(v))
		elbow := func(end float64, c figure.Color, name string) {
			corner, pen := [2]float64{from, y[v]}, figure.Pen{Color: c}
			p.Marks = append(p.Marks, figure.Segment{From: [2]float64{from, y[n.Parent]}, To: corner, Pen: pen}, figure.Segment{From: corner, To: [2]float64{end, y[v]}, Pen: pen, Name: name})
		}
		if elbow(from+float64(len(symbols)), figure.Muted, ""); way[v] {
			elbow(min(float64(n.Depth), float64(k)), figure.Violet, "k-mers")
		}
		for i, s := range symbols {
			words = append(words, figure.Text{At: [2]float64{from + float64(i) + 0.5, y[v] + 0.36}, Text: string(s), Color: figure.Ink})
		}
	}
	if k <= deepest {
		p.Marks = append(p.Marks, figure.Line{A: [2]float64{1, 0}, C: float64(k), Pen: figure.Pen{Color: figure.Magenta, Dash: figure.Dashed}, Name: "cut at k"})
	}
	for _, v := range cut {
		words = append(words, figure.Text{At: [2]float64{float64(k), y[v]}, Text: strconv.Itoa(t.Count(0, v)), Color: figure.Magenta})
	}
	p.Marks = append(p.Marks, words...)
	return p.Picture()
}
