package figure

import (
	"fmt"
	"math"
	"slices"

	"marginlab/ml"
)

// mostMarks is the maximum number of points in a picture: more would hide the boundary and take
// longer to load than to look at.
const mostMarks = 5000

// mostMoving is the maximum while something is being dragged, that is, in scenes with at most
// coarseGrid cells per axis.
const (
	mostMoving = 2000
	coarseGrid = 80
)

// thinned holds the points that a picture draws.
type thinned struct {
	at             []int   // indices of the points, ascending
	inView         int     // points within the limits
	supports, kept int     // support vectors of the scene, and those among the points drawn
	heaviest       float64 // the largest weight of the scene
}

// Drawn returns the ascending indices of the points that the scene's picture draws: those within
// the limits or, if they are too many, always the same selection. Support vectors and cores take
// precedence while they leave room for others. Of the rest, every part of the plane keeps points of
// all its classes, and crowded parts are thinned most.
func (s *Scene) Drawn() []int { return s.thin().at }

// thin returns Drawn with its counts.
func (s *Scene) thin() thinned {
	if s.thinned != nil {
		return *s.thinned
	}
	l, all := s.Limits, s.Limits == Limits{}
	var t thinned
	var first, others []int
	for i := range s.Points {
		p := &s.Points[i]
		supports := p.Role != ml.None && p.Role != ml.Weighted
		t.supports += btoi(supports)
		t.heaviest = math.Max(t.heaviest, math.Abs(p.Weight))
		if x, y := s.View.Point(p.X); !all && !(x >= l.XMin && x <= l.XMax && y >= l.YMin && y <= l.YMax) {
			continue
		}
		if supports || p.Core {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	t.inView = len(first) + len(others)
	most := mostMarks
	if s.Width > 0 && s.Width < bareBelow {
		most /= 5
	}
	if t.inView > most {
		if s.Grid > 0 && s.Grid <= coarseGrid { // during a drag
			most = min(most, mostMoving)
		}
		first = s.some(first, max(most*3/5, most-len(others)))
		others = s.some(others, most-len(first))
	}
	for _, i := range first {
		t.kept += btoi(s.Points[i].Role != ml.None && s.Points[i].Role != ml.Weighted)
	}
	t.at = append(first, others...)
	slices.Sort(t.at)
	return t
}

// some returns at most n of the points with these indices: one of every class in every part of the
// plane, and the others in proportion.
func (s *Scene) some(at []int, n int) []int {
	if len(at) <= n {
		return at
	}
	grouped, ends, groups := s.group(at, n/2)
	return choose(grouped, ends, groups, n)
}

// group orders the points with these indices by group, that is by class and part of the plane. The
// parts are as small as possible with at most most non-empty groups. ends holds the end of each
// group.
func (s *Scene) group(at []int, most int) (grouped, ends []int, groups int) {
	l := s.Limits
	if (l == Limits{}) {
		l = LimitsOf(s.Points, s.View)
	}
	classes := map[string]int{}
	if !s.Values {
		for _, i := range at {
			if _, ok := classes[s.Points[i].Label]; !ok {
				classes[s.Points[i].Label] = len(classes)
			}
		}
	}
	const mostCounted = 1 << 20 // groups, including empty ones
	parts := 64                 // per axis
	for parts > 1 && len(classes)*parts*parts > mostCounted {
		parts /= 2
	}
	group := make([]int, len(at)) // group of each point
	for ; ; parts /= 2 {          // ends first holds the number of points
		cell := func(v, lo, hi float64) int {
			return min(max(int((v-lo)/(hi-lo)*float64(parts)), 0), parts-1)
		}
		ends, groups = make([]int, max(1, len(classes))*parts*parts), 0
		for k, i := range at {
			x, y := s.View.Point(s.Points[i].X)
			g := (classes[s.Points[i].Label]*parts+cell(y, l.YMin, l.YMax))*parts + cell(x, l.XMin, l.XMax)
			group[k] = g
			groups += btoi(ends[g] == 0)
			ends[g]++
		}
		if groups <= most || parts == 1 {
			break
		}
	}
	before := 0
	for g, points := range ends {
		ends[g] = before
		before += points
	}
	grouped = make([]int, len(at)) // a counting sort takes a tenth of the time of a stable sort
	for k, i := range at {
		grouped[ends[group[k]]] = i
		ends[group[k]]++
	}
	return grouped, ends, groups
}

// choose returns at most n points: one of every non-empty group and the others in proportion,
// evenly spaced within their group.
func choose(grouped, ends []int, groups, n int) []int {
	least := min(groups, n)
	share := float64(n-least) / float64(max(len(grouped)-groups, 1)) // fraction of the points beyond the first of each group
	var kept []int
	beyond, taken, from := 0, 0, 0
	for _, to := range ends {
		if from == to {
			continue
		}
		if len(kept) >= n {
			break
		}
		beyond += to - from - 1
		quota := 1 + int(share*float64(beyond)+1e-9) - taken
		taken += quota - 1
		for j := range quota {
			kept = append(kept, grouped[from+(2*j+1)*(to-from)/(2*quota)])
		}
		from = to
	}
	return kept
}

// note says how many points are drawn if not all are.
func (t thinned) note(points int) string {
	if len(t.at) == t.inView {
		return ""
	}
	note := fmt.Sprintf("Drawn: %d of %d points", len(t.at), points)
	switch {
	case t.supports == 0:
	case t.kept == t.supports:
		note += fmt.Sprintf(", all %d support vectors", t.supports)
	default:
		note += fmt.Sprintf(", %d of %d support vectors", t.kept, t.supports)
	}
	return note + "."
}
