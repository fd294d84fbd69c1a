package kernel

import (
	"context"

	"marginlab/ml/pace"
)

// featureCount is the number of a feature and its count in an object.
type featureCount struct {
	number int
	times  float64
}

// numberOf returns the number of a key. It numbers new keys consecutively.
func numberOf[K comparable](numbers map[K]int, key K) int {
	n, ok := numbers[key]
	if !ok {
		n = len(numbers)
		numbers[key] = n
	}
	return n
}

// spectra compares objects by their common features. The cost of a row is the number of pairs
// of equal features.
type spectra struct {
	x     [][]featureCount // of each x_i
	first []int            // occurrences of feature u are found[first[u]:first[u+1]]
	found []occurrence     // ascending by index in z
}

// occurrence holds the index of a z_j and the count of a feature in it. It is small, since a row
// reads many of them.
type occurrence struct{ in, times uint32 }

// compareCounts prepares sum_u #_u(x_i) #_u(z_j) over the features u, whose numbers are below n. The
// error is ctx.Err().
func compareCounts(ctx context.Context, n int, x, z [][]featureCount) (comparison, error) {
	s := spectra{x: x, first: make([]int, n+1)}
	all := 0
	for _, pieces := range z {
		for _, p := range pieces {
			s.first[p.number]++
		}
		all += len(pieces)
	}
	for u := range n {
		s.first[u+1] += s.first[u] // the end of each
	}
	s.found = make([]occurrence, all)
	for j := len(z) - 1; j >= 0; j-- {
		if err := pace.Look(ctx); err != nil {
			return nil, err
		}
		for _, p := range z[j] {
			s.first[p.number]--
			s.found[s.first[p.number]] = occurrence{uint32(j), uint32(p.times)}
		}
	}
	return s, nil
}

func (s spectra) row(dst []float64, i int) {
	clear(dst)
	for _, p := range s.x[i] {
		for _, o := range s.found[s.first[p.number]:s.first[p.number+1]] {
			j := int(o.in)
			if j >= len(dst) {
				break
			}
			dst[j] += p.times * float64(o.times)
		}
	}
}
