package kernel

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
)

// Merged returns the Gram matrix of fewer, representative points: each is the weighted
// mean (with w of length M, positive) of at most size neighbours with the same sign of y.
// group[i] is the representative of point i. apart measures the loss: the mean squared
// distance of a point from its representative in feature space, divided by the mean of
// K_ii. If apart exceeds most, there is no matrix; if ctx ends, apart is +Inf.
func (g *Gram) Merged(ctx context.Context, y, w []float64, size int, most float64) (merged Matrix, group []int, apart float64) {
	m, d := g.n, g.p.d
	points, keys, ends := make([]int, 0, m), make([]float64, m), make([]float64, 2*d)
	var groups [][]int
	for _, sign := range []bool{true, false} {
		first := len(points)
		points = append(points, lists.Where(len(y), func(i int) bool { return y[i] > 0 == sign })...)
		divide(ctx, g.z, d, points[first:], keys, ends, size, func(near []int) {
			slices.Sort(near)
			groups = append(groups, near)
		})
	}
	if ctx.Err() != nil {
		return nil, nil, math.Inf(1)
	}

	// mean adds the mean of a group to x, zeros before, and returns the mean factor.
	mean := func(members []int, x []float64) (c float64) {
		weight := 0.0
		for _, i := range members {
			weight += w[i]
		}
		for _, i := range members {
			share := w[i] / weight
			g.z.addTo(x, share, i)
			c += share * g.factor(i)
		}
		return c
	}

	var distance, scale float64
	x, values := make([]float64, d), make([]float64, size+1)
	near := packed{d: d, v: make([]float64, (size+lanes)/lanes*lanes*d)}
	for _, members := range groups {
		clear(x)
		c, values := mean(members, x), values[:len(members)+1]
		for a, i := range members {
			near.set(a, g.point(i))
		}
		near.set(len(members), x)
		g.f.row(values, near, x) // the last one belongs to the mean itself
		for a, i := range members {
			distance += g.Diag(i) - 2*g.factor(i)*c*values[a] + c*c*values[len(members)]
			scale += g.Diag(i)
		}
	}
	if apart = distance / scale; !(apart <= most) {
		return nil, nil, apart
	}
	group = make([]int, m)
	means, c := mat.NewDense(len(groups), d, nil), make([]float64, len(groups))
	for k, members := range groups {
		c[k] = mean(members, means.RawRowView(k))
		for _, i := range members {
			group[i] = k
		}
	}
	small := newGram(g.k, g.f, means)
	if g.c != nil {
		small.c = c
	}
	return small, group, apart
}

// divide halves the points, some of z in d dimensions, across their widest coordinate until at most
// size are left, and calls near with each such group, until ctx ends. keys and ends are scratch, one
// number for each point and two for each column.
func divide(ctx context.Context, z listed, d int, points []int, keys, ends []float64, size int, near func(points []int)) {
	const many = 1000 // points between checks of ctx
	switch {
	case len(points) == 0 || len(points) > many && ctx.Err() != nil:
		return
	case len(points) <= size:
		near(points)
		return
	}
	low, high := ends[:d], ends[d:]
	copy(low, z.row(d, points[0]))
	copy(high, low)
	widen := func(k int, v float64) {
		if v < low[k] {
			low[k] = v
		} else if v > high[k] {
			high[k] = v
		}
	}
	for _, i := range points[1:] {
		x := z.row(d, i)
		if z.some == nil {
			for k, v := range x {
				widen(k, v)
			}
			continue
		}
		first := z.bits(d, points[0])
		for w, some := range z.bits(d, i) { // where both are 0, nothing changes
			for some |= first[w]; some != 0; some &= some - 1 {
				k := w*64 + bits.TrailingZeros64(some)
				widen(k, x[k])
			}
		}
	}
	axis := 0
	for k := range low {
		if high[k]-low[k] > high[axis]-low[axis] {
			axis = k
		}
	}
	half, keys := len(points)/2, keys[:len(points)]
	for k, i := range points {
		keys[k] = z.row(d, i)[axis]
	}
	sortAround(points, keys, half)
	divide(ctx, z, d, points[:half], keys, ends, size, near)
	divide(ctx, z, d, points[half:], keys, ends, size, near)
}

// sortAround partially sorts points by their keys, so that no key of the first half exceeds one
// of the second (Hoare's selection).
func sortAround(points []int, keys []float64, half int) {
	for low, high := 0, len(points)-1; low < high; {
		pivot := keys[(low+high)/2]
		i, j := low, high
		for i <= j {
			for keys[i] < pivot {
				i++
			}
			for keys[j] > pivot {
				j--
			}
			if i <= j {
				points[i], points[j] = points[j], points[i]
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}
		switch {
		case half <= j:
			high = j
		case half >= i:
			low = i
		default:
			return
		}
	}
}
