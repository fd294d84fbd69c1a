package figure

import (
	"cmp"
	"context"
	"math"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
)

// A surface is refined by blocks of blockCells x blockCells cells, each of which becomes
// finer x finer cells.
const (
	blockCells = 8
	finer      = 4
	// crooked is the largest accepted error of a drawn line, in cells.
	crooked = 0.03
	// bowed is the relative deviation of f from its interpolation from which blocks are refined:
	// elsewhere f is as flat as at a saddle, where lines are rough but few.
	bowed = 0.004
	// mostFine bounds the numbers of a refined surface.
	mostFine = 4 << 20
)

// refined returns the surface with finer cells, so that level lines of kernels narrower than the
// cells are smooth: where lines pass and f is not straight, f is evaluated again, elsewhere
// interpolated. work limits the kernel evaluations; if it does not suffice, the most curved blocks
// come first. A surface that needs no refinement is returned unchanged. The only error is
// ctx.Err().
func (s *surface) refined(ctx context.Context, m *ml.Model, v dataset.View, points []ml.Point, work int) (*surface, error) {
	nodes := s.n*finer + 1
	if nodes*nodes*len(s.scores) > mostFine {
		return s, nil
	}
	blocks := s.bent(m, v, points)
	each := (blockCells*finer + 1) * (blockCells*finer + 1) * max(1, len(m.Supports.Rows)) * len(s.scores)
	blocks = blocks[:min(len(blocks), work/each)]
	if len(blocks) == 0 {
		return s, nil
	}
	fine := &surface{n: s.n * finer, lim: s.lim}
	fine.scores = lists.Map(s.scores, s.magnified)
	fine.f, fine.maps = fine.scores[0], make([][]float64, len(s.scores))
	xs, ys := steps(s.lim.XMin, s.lim.XMax, fine.n), steps(s.lim.YMin, s.lim.YMax, fine.n)
	for _, b := range blocks {
		x0, y0 := b.x*blockCells*finer, b.y*blockCells*finer
		x1, y1 := min(x0+blockCells*finer, fine.n), min(y0+blockCells*finer, fine.n)
		scores, _, err := m.Surface(ctx, v, xs[x0:x1+1], ys[y0:y1+1])
		if err != nil {
			return nil, err
		}
		for k, f := range scores {
			bound(f)
			for j := y0; j <= y1; j++ {
				copy(fine.scores[k][j*nodes+x0:j*nodes+x1+1], f[(j-y0)*(x1-x0+1):])
			}
		}
	}
	return fine, nil
}

// magnified returns f interpolated on the finer grid.
func (s *surface) magnified(f []float64) []float64 {
	n := s.n * finer
	out := make([]float64, 0, (n+1)*(n+1))
	row := make([]float64, s.n+1)
	for j := range n + 1 {
		k := min(j/finer, s.n-1)
		t := float64(j)/finer - float64(k)
		low, high := f[k*(s.n+1):(k+1)*(s.n+1)], f[(k+1)*(s.n+1):(k+2)*(s.n+1)]
		for i := range row {
			row[i] = low[i] + t*(high[i]-low[i])
		}
		for i := range s.n {
			for u := range finer {
				out = append(out, row[i]+float64(u)/finer*(row[i+1]-row[i]))
			}
		}
		out = append(out, row[s.n])
	}
	return out
}

// bentBlock is a block of cells with lines through it, and the error of these lines in cells.
type bentBlock struct {
	x, y int
	by   float64
}

// bent lists the blocks that need refinement, most curved first.
func (s *surface) bent(m *ml.Model, v dataset.View, points []ml.Point) (list []bentBlock) {
	across := (s.n + blockCells - 1) / blockCells
	by := make([]float64, across*across)
	mark := func(i, j int, bend float64) {
		b := &by[j/blockCells*across+i/blockCells]
		*b = max(*b, bend)
	}
	lined := func(_ int, lo, hi float64) bool { return passes(lo, hi) }
	if m.Rule != ml.Sign {
		class := newRegions(s, m).class
		lined = func(k int, _, _ float64) bool {
			c := class[k]
			return class[k+1] != c || class[k+s.n+1] != c || class[k+s.n+2] != c
		}
	}
	bends, next := make([]float64, s.n+1), make([]float64, s.n+1) // of the nodes below and above a line of cells
	for _, f := range s.scores {
		lo, hi, _ := extent(f)
		unfelt := bowed * math.Min(4, math.Max(math.Abs(lo), math.Abs(hi)))
		s.bends(next, f, 0)
		for j := range s.n {
			bends, next = next, bends
			s.bends(next, f, j+1)
			for i := range s.n {
				bend := max(bends[i], bends[i+1], next[i], next[i+1])
				if !(bend > unfelt) {
					continue
				}
				k := j*(s.n+1) + i
				lo, hi := f[k], f[k]
				for _, at := range [3]int{k + 1, k + s.n + 1, k + s.n + 2} {
					lo, hi = min(lo, f[at]), max(hi, f[at])
				}
				if lined(k, lo-2*bend, hi+2*bend) && bend > crooked*(hi-lo) {
					mark(i, j, bend/(hi-lo+bend))
				}
			}
		}
	}
	if v.Exact && m.Rule == ml.Sign { // there may be a peak between the nodes
		for _, p := range points {
			x, y := s.grid(v.Point(p.X))
			if f, ok := s.at(s.f, x, y); ok && math.Abs(f-p.F) > 0.1*math.Max(1, math.Abs(p.F)) && passes(min(f, p.F), max(f, p.F)) {
				mark(min(int(x), s.n-1), min(int(y), s.n-1), 1)
			}
		}
	}
	for k, bend := range by {
		if bend > 0 {
			list = append(list, bentBlock{k % across, k / across, bend})
		}
	}
	slices.SortStableFunc(list, func(a, b bentBlock) int { return cmp.Compare(b.by, a.by) })
	return list
}

// passes reports whether a line f = 0 or ±1 lies between values lo and hi.
func passes(lo, hi float64) bool {
	return lo <= -1 && -1 <= hi || lo <= 0 && 0 <= hi || lo <= 1 && 1 <= hi
}

// bends estimates, for every node of row j, the deviation of f from its interpolation nearby.
func (s *surface) bends(out, f []float64, j int) {
	n := s.n + 1
	row := f[j*n : (j+1)*n]
	v := min(max(j, 1), n-2) * n // the nearest row with neighbours
	below, on, above := f[v-n:v], f[v:v+n], f[v+n:v+2*n]
	for i := range out {
		h := min(max(i, 1), n-2) // the nearest node with neighbours
		out[i] = max(math.Abs(row[h-1]-2*row[h]+row[h+1]), math.Abs(below[i]-2*on[i]+above[i])) / 8
	}
}
