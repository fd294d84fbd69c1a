package figure

import (
	"math"
	"slices"
	"sync"
)

// tracer finds level lines of a function on the nodes of a grid, by marching squares. It joins the
// crossings of grid edges into polylines, so that dash patterns continue along them.
type tracer struct {
	nx   int
	cut  func(a, b int) float64 // position of the crossing on the edge from node a to node b, 0 to 1
	link [][2]int32             // for each crossed edge its neighbours on the line, 1-based
	used []int32                // edges in link, in order of discovery
}

// lines returns the polylines f = level in grid coordinates (node (i, j) is at x = i, y = j);
// closed ones end where they begin. Cells with a value that is not finite are skipped.
func (t *tracer) lines(f []float64, nx, ny int, level float64) (out [][][2]float64) {
	t.begin(nx, ny, func(a, b int) float64 {
		s := (level - f[a]) / (f[b] - f[a])
		if math.IsNaN(s) || math.IsInf(f[b]-f[a], 0) {
			return 0.5
		}
		return s
	})
	for j := range ny - 1 {
		low, high := f[j*nx:(j+1)*nx], f[(j+1)*nx:(j+2)*nx]
		left := btoi(low[0] >= level) | btoi(high[0] >= level)<<3 // the left bits of a cell's code, shared with the previous cell
		for i := range nx - 1 {
			right := btoi(low[i+1] >= level) | btoi(high[i+1] >= level)<<3
			code := left | right&1<<1 | right>>1
			left = right
			if code == 0 || code == 15 {
				continue
			}
			a, b, c, d := low[i], low[i+1], high[i+1], high[i] // counter-clockwise
			if a-a+b-b+c-c+d-d != 0 {                          // not finite
				continue
			}
			t.cell(i, j, code, func() bool { return a/4+b/4+c/4+d/4 >= level })
		}
	}
	return t.joined()
}

// begin allocates the links of a grid.
func (t *tracer) begin(nx, ny int, cut func(a, b int) float64) {
	t.nx, t.cut = nx, cut
	links, _ := linkRoom.Get().(*[][2]int32)
	if n := 2 * nx * ny; links == nil || len(*links) < n {
		room := make([][2]int32, n)
		links = &room
	}
	t.link = *links
	t.used = t.used[:0]
}

// linkRoom holds cleared links for reuse.
var linkRoom sync.Pool // of *[][2]int32

// edges returns the edges of a cell.
func (t *tracer) edges(i, j int) (bottom, right, top, left int) {
	bottom, top = 2*(j*t.nx+i), 2*((j+1)*t.nx+i)
	return bottom, bottom + 3, top, bottom + 1
}

// cell joins the crossed edges of a cell. The bits of code tell which corners are inside.
func (t *tracer) cell(i, j, code int, centre func() bool) {
	bottom, right, top, left := t.edges(i, j)
	switch code {
	case 1, 14:
		t.join(left, bottom)
	case 2, 13:
		t.join(bottom, right)
	case 3, 12:
		t.join(left, right)
	case 4, 11:
		t.join(right, top)
	case 6, 9:
		t.join(bottom, top)
	case 7, 8:
		t.join(left, top)
	case 5, 10: // a saddle: the centre decides which corners are joined
		if centre() == (code == 5) {
			t.join(left, top)
			t.join(bottom, right)
		} else {
			t.join(left, bottom)
			t.join(right, top)
		}
	}
}

// borders returns the polylines between regions of equal class on a grid. cut returns where on an
// edge the class of its first node ends, and middle the class at the centre of four nodes. If three
// or four regions meet in a cell, their lines meet in its middle. Cells with an unknown class are
// skipped.
func (t *tracer) borders(class []int, nx, ny int, cut func(a, b int) float64, middle func(a, b, c, d int) int) (out [][][2]float64) {
	t.begin(nx, ny, cut)
	for j := range ny - 1 {
		for i := range nx - 1 {
			k := j*nx + i
			nodes := [4]int{k, k + 1, k + nx + 1, k + nx} // counter-clockwise
			a, b, c, d := class[nodes[0]], class[nodes[1]], class[nodes[2]], class[nodes[3]]
			if a == b && b == c && c == d || min(a, b, c, d) == unknown {
				continue
			}
			other := b // a second class
			if other == a {
				other = c
			}
			if other == a {
				other = d
			}
			if !slices.ContainsFunc([]int{b, c, d}, func(x int) bool { return x != a && x != other }) {
				code := 1 | btoi(b == a)<<1 | btoi(c == a)<<2 | btoi(d == a)<<3
				t.cell(i, j, code, func() bool { return middle(nodes[0], nodes[1], nodes[2], nodes[3]) == a })
				continue
			}
			out = append(out, t.junction(i, j, [4]bool{a != b, b != c, c != d, d != a})...)
		}
	}
	return append(out, t.joined()...)
}

// junction joins the crossed edges of a cell (bottom, right, top, left) at the mean of their
// crossings.
func (t *tracer) junction(i, j int, crossed [4]bool) (out [][][2]float64) {
	bottom, right, top, left := t.edges(i, j)
	var ends [][2]float64
	var x, y float64
	for k, e := range [4]int{bottom, right, top, left} {
		if crossed[k] {
			p := t.crossing(int32(e))
			ends = append(ends, p)
			x, y = x+p[0], y+p[1]
		}
	}
	hub := [2]float64{x / float64(len(ends)), y / float64(len(ends))}
	out = append(out, [][2]float64{ends[0], hub, ends[1]})
	for _, p := range ends[2:] {
		out = append(out, [][2]float64{p, hub})
	}
	return out
}

// joined returns the lines along the links and clears them.
func (t *tracer) joined() (out [][][2]float64) {
	for pass := range 2 { // open lines first, then rings
		for _, e := range t.used {
			if l := t.link[e]; l == [2]int32{} || (pass == 0 && l[1] != 0) {
				continue
			}
			out = append(out, t.walk(e))
		}
	}
	links := t.link
	t.link = nil
	linkRoom.Put(&links)
	return out
}

// join links two edges that a line crosses consecutively.
func (t *tracer) join(p, q int) {
	for _, e := range [2][2]int{{p, q}, {q, p}} {
		l := &t.link[e[0]]
		if l[0] == 0 {
			t.used = append(t.used, int32(e[0]))
			l[0] = int32(e[1] + 1)
		} else {
			l[1] = int32(e[1] + 1)
		}
	}
}

// walk follows a line from edge e and clears its links.
func (t *tracer) walk(e int32) (line [][2]float64) {
	first, from := e, int32(-1)
	for {
		line = append(line, t.crossing(e))
		l := t.link[e]
		t.link[e] = [2]int32{}
		next := l[0] - 1
		if next == from || next < 0 {
			next = l[1] - 1
		}
		if next < 0 {
			return line
		}
		if next == first && len(line) > 2 {
			return append(line, line[0])
		}
		from, e = e, next
	}
}

// crossing returns the position of a crossed edge's crossing.
func (t *tracer) crossing(e int32) [2]float64 {
	node := int(e) / 2
	i, j := node%t.nx, node/t.nx
	to := node + 1
	if e&1 == 1 {
		to = node + t.nx
	}
	s := t.cut(node, to)
	if e&1 == 1 {
		return [2]float64{float64(i), float64(j) + s}
	}
	return [2]float64{float64(i) + s, float64(j)}
}
