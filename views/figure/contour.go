package figure

import "math"

// tracer finds the level lines of a function given on the nodes of a grid, by
// marching squares. Crossings of grid edges are joined into polylines, so that
// dashes run along them.
type tracer struct {
	nx, ny int
	link   [][2]int32 // for every crossed edge its neighbours on the line, 1-based
	used   []int32    // edges in link, in the order met
}

// lines returns the polylines of f = level in grid coordinates (node (i, j) is
// at x = i, y = j); closed ones end where they began. Cells with a value that is
// not finite are left out.
func (t *tracer) lines(f []float64, nx, ny int, level float64) (out [][][2]float64) {
	t.nx, t.ny = nx, ny
	if n := 2 * nx * ny; len(t.link) < n {
		t.link = make([][2]int32, n)
	}
	t.used = t.used[:0]
	for j := range ny - 1 {
		low, high := f[j*nx:(j+1)*nx], f[(j+1)*nx:(j+2)*nx]
		for i := range nx - 1 {
			a, b, c, d := low[i], low[i+1], high[i+1], high[i] // counter-clockwise
			code := btoi(a >= level) | btoi(b >= level)<<1 | btoi(c >= level)<<2 | btoi(d >= level)<<3
			if code == 0 || code == 15 || a-a+b-b+c-c+d-d != 0 { // the last: not finite
				continue
			}
			bottom, top := 2*(j*nx+i), 2*((j+1)*nx+i)
			left, right := bottom+1, bottom+3
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
				if (a/4+b/4+c/4+d/4 >= level) == (code == 5) {
					t.join(left, top)
					t.join(bottom, right)
				} else {
					t.join(left, bottom)
					t.join(right, top)
				}
			}
		}
	}
	for pass := range 2 { // open lines first, then what is left: rings
		for _, e := range t.used {
			if l := t.link[e]; l == [2]int32{} || (pass == 0 && l[1] != 0) {
				continue
			}
			out = append(out, t.walk(f, level, e))
		}
	}
	return out
}

// join links two edges that a line crosses one after the other.
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

// walk follows a line from edge e and takes its links away.
func (t *tracer) walk(f []float64, level float64, e int32) (line [][2]float64) {
	first, from := e, int32(-1)
	for {
		line = append(line, t.crossing(f, level, e))
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

// crossing is the place on an edge where f = level.
func (t *tracer) crossing(f []float64, level float64, e int32) [2]float64 {
	node := int(e) / 2
	i, j := node%t.nx, node/t.nx
	to := node + 1
	if e&1 == 1 {
		to = node + t.nx
	}
	a, b := f[node], f[to]
	s := (level - a) / (b - a)
	if math.IsNaN(s) || math.IsInf(b-a, 0) {
		s = 0.5
	}
	if e&1 == 1 {
		return [2]float64{float64(i), float64(j) + s}
	}
	return [2]float64{float64(i) + s, float64(j)}
}
