package figure

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// Networks draws graphs side by side, with the labels or the state of an algorithm in their nodes.
type Networks struct {
	Format
	Networks []Network
	Labels   []string // labels in the order of their colours; nil: those of the graphs
	Sides    Sides    // meaning of the colours of Speaking's nodes; without names: omitted
}

// Network is a graph of Networks.
type Network struct {
	Name   string
	Graph  dataset.Graph
	Nodes  []Node       // one for each node; nil: labelled, each label with its colour
	Strong [][2]int     // highlighted edges, in the graph's order of nodes
	Places [][2]float64 // of the nodes; nil: those of Layout. Nodes at places that are not finite are omitted
}

// Node is the style of a node.
type Node struct {
	Text  string  // drawn if there is room
	Color Color   // of the rim and, paler, of the inside
	Shade float64 // opacity of the inside, 0 to 1
	Ring  bool    // highlighted
}

// Picture draws the graphs.
func (x Networks) Picture() (*Picture, error) {
	sh, err := x.sheet()
	if err != nil {
		return nil, err
	}
	if len(x.Networks) == 0 {
		return nil, errors.New("networks: there is nothing to draw; give at least one graph")
	}
	for n, w := range x.Networks {
		if w.Nodes != nil && len(w.Nodes) != w.Graph.N || w.Places != nil && len(w.Places) != w.Graph.N {
			return nil, fmt.Errorf("networks: %d nodes and %d places for the %d nodes of graph %d; give as many", len(w.Nodes), len(w.Places), w.Graph.N, n+1)
		}
	}
	x.Networks = slices.Clone(x.Networks)
	labels := x.Labels
	if labels == nil {
		labels = NodeLabels(lists.Map(x.Networks, func(w Network) dataset.Graph { return w.Graph })...)
	}
	largest := [2]float64{1, 1} // of all graphs, in edge lengths
	for n := range x.Networks {
		w := &x.Networks[n]
		if w.Places == nil {
			w.Places = Layout(w.Graph)
		}
		_, size := reach(w.Places)
		for k := range size {
			largest[k] = math.Max(largest[k], size[k])
		}
		if w.Nodes == nil {
			w.Nodes = labelled(w.Graph, labels)
			for i, l := range labels[:min(len(labels), mostMeant)] {
				sh.mean(l, i)
			}
		}
	}
	for k, name := range x.Sides.Names {
		if name != "" {
			n := speaking("", x.Sides, float64(1-2*k), 1)
			sh.legend = append(sh.legend, entry{"for " + name, func(c *draw.Canvas, at vg.Point) { n.draw(c, sh.theme, at, 7) }})
		}
	}
	sh.caption, sh.bald = x.describe(), [2]bool{true, true}
	across := x.across(float64(sh.width)/float64(sh.height), largest)
	down := (len(x.Networks) + across - 1) / across
	sh.limits = Limits{XMax: float64(across), YMin: float64(down)} // first row at the top
	sh.add(func(c *draw.Canvas, m mapping) {
		for n, w := range x.Networks {
			a, b := m.at(float64(n%across), float64(n/across+1)), m.at(float64(n%across+1), float64(n/across))
			w.draw(c, sh.theme, vg.Rectangle{Min: a, Max: b}, largest, sh.bare())
		}
	})
	return sh.picture(), nil
}

// NodeLabels returns the labels of all nodes, sorted.
func NodeLabels(graphs ...dataset.Graph) []string {
	found := map[string]bool{}
	for _, g := range graphs {
		for _, l := range g.Labels {
			found[l] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// lettered is the radius of a node with room for a letter of the usual size.
const lettered = 0.7 * fontSize

// plain is the shade of nodes that only show their label.
const plain = 0.4

// labelled returns nodes with their labels. Nodes without a label in the list have no colour.
func labelled(g dataset.Graph, labels []string) []Node {
	nodes := make([]Node, g.N)
	for v := range nodes {
		nodes[v] = Node{Text: g.Label(v), Color: Muted, Shade: plain}
		if i := slices.Index(labels, g.Label(v)); i >= 0 {
			nodes[v].Color = ClassColor(i)
		}
	}
	return nodes
}

// mostMeant is the maximum number of labels explained in a legend.
const mostMeant = 24

// Speaking returns nodes that show what each adds to f: the colour is stronger the larger its share
// of most, and the label has a sign unless the share is small.
func Speaking(g dataset.Graph, adds []float64, most float64, s Sides) []Node {
	return lists.Make(g.N, func(v int) Node { return speaking(g.Label(v), s, adds[v], most) })
}

func speaking(label string, s Sides, adds, most float64) Node {
	n := Node{Text: label, Color: Muted}
	share := math.Abs(adds) / most
	if !(share > 0) { // also if most is 0
		return n
	}
	n.Color, n.Shade = s.Colors[btoi(adds < 0)], share
	if share > 0.15 {
		n.Text += []string{"+", "−"}[btoi(adds < 0)]
	}
	return n
}

// mean adds the meaning of class i's colour to the legend, once.
func (s *sheet) mean(name string, i int) {
	if slices.ContainsFunc(s.legend, func(e entry) bool { return e.name == name }) {
		return
	}
	n := Node{Text: name, Color: ClassColor(i), Shade: plain}
	s.legend = append(s.legend, entry{name, func(c *draw.Canvas, at vg.Point) { n.draw(c, s.theme, at, 6) }})
}

// reach returns the corner and size of the bounding rectangle of places.
func reach(places [][2]float64) (low, size [2]float64) {
	for k := range 2 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, p := range places {
			if finite(p[k]) {
				lo, hi = math.Min(lo, p[k]), math.Max(hi, p[k])
			}
		}
		if lo <= hi {
			low[k], size[k] = lo, hi-lo
		}
	}
	return low, size
}

// across returns the number of graphs side by side that makes them largest.
func (x Networks) across(shape float64, largest [2]float64) int {
	best, widest := 1, 0.0
	for n := 1; n <= len(x.Networks); n++ {
		down := float64((len(x.Networks) + n - 1) / n)
		if unit := math.Min(shape/float64(n)/(largest[0]+1), 1/down/(largest[1]+1)); unit > widest*1.001 {
			best, widest = n, unit
		}
	}
	return best
}

// draw draws a graph into a cell, scaled as the largest graph needs.
func (w *Network) draw(c *draw.Canvas, t *Theme, cell vg.Rectangle, largest [2]float64, bare bool) {
	if name := clip(w.Name, fontSize, cell.Size().X-8); !bare && w.Name != "" {
		cell.Max.Y -= lineStep
		text(c, t.Ink, fontSize, false, vg.Point{X: (cell.Min.X+cell.Max.X)/2 - width(name, fontSize)/2, Y: cell.Max.Y + 4}, name)
	}
	middle := vg.Point{X: (cell.Min.X + cell.Max.X) / 2, Y: (cell.Min.Y + cell.Max.Y) / 2}
	if len(w.Places) == 0 {
		s := clip(SizeOf(w.Graph), fontSize, cell.Size().X-4)
		text(c, t.Muted, fontSize, false, vg.Point{X: middle.X - width(s, fontSize)/2, Y: middle.Y - 4}, s)
		return
	}
	// The outermost nodes' rims are a third of an edge away from their centres.
	unit := min(cell.Size().X/vg.Length(largest[0]+0.9), cell.Size().Y/vg.Length(largest[1]+0.9), 120)
	share := vg.Length(0.33)
	if w.Graph.Directed || w.Graph.EdgeLabels != nil { // room for edge labels
		share = 0.22
	}
	widest := vg.Length(0.44) // rather closer nodes than no letters
	if w.Graph.Directed {     // rather no letters than no arrows
		widest = 0.3
	}
	radius := max(min(share*unit, max(13, 0.18*unit)), min(widest*unit, lettered), 1.5)
	low, wide := reach(w.Places)
	at := make([]vg.Point, w.Graph.N)
	for v, p := range w.Places {
		at[v] = vg.Point{X: middle.X + unit*vg.Length(p[0]-low[0]-wide[0]/2), Y: middle.Y - unit*vg.Length(p[1]-low[1]-wide[1]/2)}
	}
	seen := func(v int) bool { return v >= 0 && v < len(at) && finite(float64(at[v].X)) && finite(float64(at[v].Y)) }
	lines := func(edges [][2]int, style draw.LineStyle) {
		var p vg.Path
		for _, e := range edges {
			if !seen(e[0]) || !seen(e[1]) {
				continue
			}
			if from, to, ok := w.shaft(at, e, radius); w.Graph.Directed && ok {
				arrow(c, style, from, to)
				continue
			}
			p = polyline(p, at[e[0]], at[e[1]])
		}
		stroke(c, style, p)
	}
	thin := draw.LineStyle{Color: t.Rule, Width: max(min(radius/6, 1.6), 0.7)}
	if w.Graph.Directed { // arrowheads must be visible
		thin.Color = t.Muted
	}
	lines(w.Graph.Edges, thin)
	lines(w.Strong, draw.LineStyle{Color: t.Ink, Width: max(radius/3, 1.6)})
	for k, l := range w.Graph.EdgeLabels {
		e := w.Graph.Edges[k]
		if !seen(e[0]) || !seen(e[1]) || radius <= 0.75*lettered {
			continue
		}
		from, to, ok := w.shaft(at, e, radius)
		s := clip(l, fontSize, vg.Length(math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y)))/2)
		if !ok || s == "" {
			continue
		}
		share := vg.Length(0.5)
		if w.Graph.Directed { // clear of the arrowhead and of the label of the opposite edge
			share = 0.36
		}
		middle, half := vg.Point{X: from.X + share*(to.X-from.X), Y: from.Y + share*(to.Y-from.Y)}, width(s, fontSize)/2
		c.SetColor(t.Paper)
		c.Fill(vg.Rectangle{Min: middle.Sub(vg.Point{X: half + 1, Y: 0.5 * fontSize}), Max: middle.Add(vg.Point{X: half + 1, Y: 0.5 * fontSize})}.Path())
		text(c, t.Ink, fontSize, false, vg.Point{X: middle.X - half, Y: middle.Y - 0.35*fontSize}, s)
	}
	for v, n := range w.Nodes {
		if seen(v) {
			n.draw(c, t, at[v], radius)
		}
	}
}

// shaft returns the line of an edge between the rims of its nodes, beside an opposite edge if there
// is one; ok is false if there is no room.
func (w *Network) shaft(at []vg.Point, e [2]int, radius vg.Length) (from, to vg.Point, ok bool) {
	from, to = at[e[0]], at[e[1]]
	long := vg.Length(math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y)))
	if long <= 2*radius+2 {
		return from, to, false
	}
	along := vg.Point{X: (to.X - from.X) / long, Y: (to.Y - from.Y) / long}
	var aside vg.Point
	_, both := slices.BinarySearchFunc(w.Graph.Edges, [2]int{e[1], e[0]}, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	if w.Graph.Directed && both {
		aside = vg.Point{X: -along.Y, Y: along.X}.Scale(0.4 * radius)
	}
	return from.Add(along.Scale(radius)).Add(aside), to.Sub(along.Scale(radius)).Add(aside), true
}

func (n Node) draw(c *draw.Canvas, t *Theme, at vg.Point, radius vg.Length) {
	clr := t.color(n.Color)
	c.SetColor(mix(t.Paper, clr, 0.55*min(max(n.Shade, 0), 1)))
	c.Fill(circle(at, radius))
	style := draw.LineStyle{Color: clr, Width: max(radius/9, 0.8)}
	if n.Ring {
		style = draw.LineStyle{Color: t.Ink, Width: max(radius/4, 1.6)}
	}
	stroke(c, style, circle(at, radius))
	if radius > 0.75*lettered { // a letter fits
		s := n.Text
		if room := 2 * radius; width(s, fontSize) > room {
			s = clip(s, fontSize, room)
		}
		text(c, t.Ink, fontSize, false, vg.Point{X: at.X - width(s, fontSize)/2, Y: at.Y - 0.35*fontSize}, s)
	}
}

// SizeOf describes the size of a graph: "7 nodes, 6 edges".
func SizeOf(g dataset.Graph) string {
	return plural(g.N, "node") + ", " + plural(len(g.Edges), "edge")
}

func (x Networks) describe() string {
	var b strings.Builder
	b.WriteString("Graphs.")
	const graphs, most = 8, 24
	for n, w := range x.Networks {
		if n == graphs {
			fmt.Fprintf(&b, " And %d more.", len(x.Networks)-n)
			break
		}
		b.WriteString(" ")
		if w.Name != "" {
			b.WriteString(w.Name + ": ")
		}
		b.WriteString(SizeOf(w.Graph))
		if w.Graph.N <= most {
			b.WriteString(":")
			for v, n := range w.Nodes {
				fmt.Fprintf(&b, " %d", v)
				if n.Text != "" {
					b.WriteString(" " + n.Text)
				}
				if n.Ring {
					b.WriteString(" (stands out)")
				}
				b.WriteString(",")
			}
			join := lists.Either(w.Graph.Directed, "→", "–")
			for k, e := range w.Graph.Edges[:min(most, len(w.Graph.Edges))] {
				fmt.Fprintf(&b, " %d%s%d", e[0], join, e[1])
				if l := w.Graph.EdgeLabel(k); l != "" {
					b.WriteString(" (" + l + ")")
				}
			}
			if len(w.Graph.Edges) > most {
				b.WriteString(" …")
			}
		}
		b.WriteString(".")
	}
	return b.String()
}
