package kernel

import "context"

// occurrence tells how often a piece stands in an object.
type occurrence struct {
	in    int // of z
	times float64
}

// spectra compare objects by the pieces that they have in common. They hold the pieces of
// x, and where in z each of them is found: a row costs as much as there are pairs of equal
// pieces.
type spectra struct {
	pieces [][]piece // of each x_i, those that z has as well
}

type piece struct {
	times float64
	found []occurrence // by place in z
}

// compareCounts prepares sum_u #_u(x_i) #_u(z_j) for n objects x_i and m objects z_j, of
// which the functions count the pieces u. The one of x may be called from several
// goroutines at once.
func compareCounts[P comparable](ctx context.Context, n, m int, x, z func(i int) map[P]float64) (comparison, error) {
	index := make(map[P]int)
	var found [][]occurrence
	for j := range m {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for u, times := range z(j) {
			at, ok := index[u]
			if !ok {
				at = len(found)
				index[u], found = at, append(found, nil)
			}
			found[at] = append(found[at], occurrence{j, times})
		}
	}
	s := spectra{make([][]piece, n)}
	return s, rows(ctx, n, func(i int) {
		for u, times := range x(i) {
			if at, ok := index[u]; ok {
				s.pieces[i] = append(s.pieces[i], piece{times, found[at]})
			}
		}
	})
}

func (s spectra) row(dst []float64, i int) {
	clear(dst)
	for _, u := range s.pieces[i] {
		for _, o := range u.found {
			if o.in >= len(dst) {
				break
			}
			dst[o.in] += u.times * o.times
		}
	}
}

// squares is sum_u #_u(x)^2.
func squares[P comparable](counts map[P]float64) (sum float64) {
	for _, n := range counts {
		sum += n * n
	}
	return sum
}
