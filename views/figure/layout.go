package figure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"marginlab/ml/dataset"
)

// MostDrawn is the maximum number of nodes of a graph that is drawn.
const MostDrawn = 300

// Layout places the nodes of a graph in the plane so that distances approximate path lengths.
// Connected components stand side by side. Equal graphs have equal layouts; a graph of more than
// MostDrawn nodes has none.
func Layout(g dataset.Graph) [][2]float64 {
	if g.N > MostDrawn {
		return nil
	}
	at := make([][2]float64, g.N)
	distance := distances(g)
	done := make([]bool, g.N)
	var parts []piece
	for v := range g.N {
		if done[v] {
			continue
		}
		b := piece{}
		for u, d := range distance[v] {
			if d >= 0 {
				b.nodes, done[u] = append(b.nodes, u), true
			}
		}
		b.untangle(at, distance)
		parts = append(parts, b)
	}
	pack(parts, at)
	return at
}

// distances returns the lengths of shortest paths, -1 if there is none.
func distances(g dataset.Graph) [][]int {
	neighbours := g.Neighbours()
	all := make([][]int, g.N)
	for v := range all {
		d := slices.Repeat([]int{-1}, g.N)
		d[v] = 0
		for queue := []int{v}; len(queue) > 0; queue = queue[1:] {
			for _, u := range neighbours[queue[0]] {
				if d[u] < 0 {
					d[u] = d[queue[0]] + 1
					queue = append(queue, u)
				}
			}
		}
		all[v] = d
	}
	return all
}

// piece is a connected component with its place and size.
type piece struct {
	nodes         []int
	width, height float64
}

// untangle places the nodes of a component by stochastic gradient descent on the stress, the sum of
// (|at_u - at_v| - d_uv)^2 / d_uv^2.
//
// Source: Zheng, Pawar and Goodman, IEEE Transactions on Visualization and Computer Graphics 25
// (2019).
func (b *piece) untangle(at [][2]float64, distance [][]int) {
	r := rand.New(rand.NewPCG(1, uint64(len(b.nodes))))
	type pair struct{ u, v int }
	var pairs []pair
	longest := 1
	for i, v := range b.nodes {
		at[v] = [2]float64{r.Float64(), r.Float64()}
		for _, u := range b.nodes[:i] {
			pairs = append(pairs, pair{u, v})
			longest = max(longest, distance[u][v])
		}
	}
	// A pair moves by its whole error at first, and by a tenth of it in the end.
	const rounds = 60
	first, last := float64(longest*longest), 0.1
	for round := range rounds {
		eta := first * math.Pow(last/first, float64(round)/(rounds-1))
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, p := range pairs {
			d := float64(distance[p.u][p.v])
			dx, dy := at[p.u][0]-at[p.v][0], at[p.u][1]-at[p.v][1]
			length := math.Max(math.Hypot(dx, dy), 1e-9)
			move := math.Min(1, eta/(d*d)) * (length - d) / 2 / length
			at[p.u][0] -= move * dx
			at[p.u][1] -= move * dy
			at[p.v][0] += move * dx
			at[p.v][1] += move * dy
		}
	}
	b.lay(at)
}

// lay rotates the component so that it is widest horizontally, with its first node on the left and
// above the middle, and moves it to 0, 0.
func (b *piece) lay(at [][2]float64) {
	var mx, my, xx, xy, yy float64
	n := float64(len(b.nodes))
	for _, v := range b.nodes {
		mx += at[v][0] / n
		my += at[v][1] / n
	}
	for _, v := range b.nodes {
		dx, dy := at[v][0]-mx, at[v][1]-my
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	sin, cos := math.Sincos(math.Atan2(2*xy, xx-yy) / 2)
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	var flip [2]float64
	for i, v := range b.nodes {
		dx, dy := at[v][0]-mx, at[v][1]-my
		p := [2]float64{cos*dx + sin*dy, cos*dy - sin*dx}
		for k := range p {
			if i == 0 {
				flip[k] = 1
				if p[k] > 0 {
					flip[k] = -1
				}
			}
			p[k] *= flip[k]
			low[k], high[k] = math.Min(low[k], p[k]), math.Max(high[k], p[k])
		}
		at[v] = p
	}
	for _, v := range b.nodes {
		at[v][0] -= low[0]
		at[v][1] -= low[1]
	}
	b.width, b.height = high[0]-low[0], high[1]-low[1]
}

// pack arranges the components in rows, highest first.
func pack(parts []piece, at [][2]float64) {
	const apart = 1
	area, widest := 0.0, 0.0
	for _, b := range parts {
		area += (b.width + apart) * (b.height + apart)
		widest = math.Max(widest, b.width)
	}
	slices.SortStableFunc(parts, func(a, b piece) int { return cmp.Compare(b.height, a.height) })
	room := math.Max(widest, 1.4*math.Sqrt(area))
	x, y, row := 0.0, 0.0, 0.0
	for _, b := range parts {
		if x > 0 && x+b.width > room {
			x, y, row = 0, y+row+apart, 0
		}
		for _, v := range b.nodes {
			at[v][0] += x
			at[v][1] += y
		}
		x += b.width + apart
		row = math.Max(row, b.height)
	}
}
