package svm

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Steps on pairs, with rows computed on demand, solve every problem; everything else saves time.
// This file lists the strategies, their conditions and their thresholds.
//
// The strategies, each disabled by a field of without, and the optional methods of the matrix
// (matrix.go) that they use:
//
//	single  steps on rows in single precision, while their rounding is below tol: Row32
//	parts   settled points are set aside, of many points also those guessed to be settled
//	        (parts.go): Subset, and AddProduct or AddProduct32 for the gradient afterwards
//	wide    of points of many columns, which exceed a processor's cache, all rows are computed
//	        together once many are needed (table.go), as each by itself would read all points
//	        from main memory, which takes up to twenty times as long as computing it: Tile
//	start   from merged points if there are many (coarse.go), by way of smaller C if it is
//	        large (path.go): Merged
//	newton  nearly flat directions: a Newton step on the free points (newton.go), whose matrix
//	        may have low rank (lowrank.go): Subset, and AddProduct32 if their rows do not fit in
//	        memory
//	near    very many free points: one neighbourhood after another (near.go)

// without lists the disabled strategies.
type without struct{ single, wide, parts, start, newton, near bool }

// The thresholds.
const (
	few     = 500         // points from which single precision pays: rows of fewer fit a cache
	oneOf   = 4           // a sample is one point in oneOf; merging leaves one in oneOf, and a neighbourhood has at most that many
	many    = oneOf * few // points from which samples and merged points pay, having at least few; size of a neighbourhood
	batch   = many / 2    // steps between checks for settled points: they move at most many
	fewOf   = 2           // a part has at most one point in fewOf: its shorter rows are computed again
	smaller = 10          // factor by which a part reduces the violation, between successive C, and of a gain that counts as failure
	apart   = 0.02        // largest distance of merged points, see kernel.Gram.Merged; ten times that for neighbours
	rough   = 0.03        // stopping rule before the last C and for merged points

	wideBytes = 1 << 20 // bytes of points of many columns from which rows are computed together: fewer fit a cache
	wideOf    = 16      // after one row in wideOf has been computed by itself

	newtonFree = 4000 // free points for which factorisation is affordable: 160 MB
	newtonHeld = 2500 // free points whose matrix is kept beside its factor: 112 MB together
	newtonRho  = 0.3  // rho, in units of the violation / largest alpha
	newtonLook = 100  // overhead of a Newton step, in rows

	lowFree     = 800   // free points from which a factor of low rank is tried
	lowOf       = 8     // and its rank is at most one in lowOf
	lowLeft     = 0.01  // what it leaves of the diagonal, in units of rho
	lowRounding = 1e-11 // the least it can leave, in units of the largest diagonal

	nearFree = 1500 // free points above which a sweep over the neighbourhoods may be due

	firstDoubt = 2           // initial doubt about Newton steps, as steps on pairs are fast at first
	mostDoubt  = 1           // later: failures cost at most half of the work on pairs
	leastDoubt = -firstDoubt // of a strategy that gains more than pairs do: they get a quarter of its work
)

// precise reports whether the rows are precise enough to solve within tol: rounding errors of
// kernel values, times the largest alpha, are far below it. Of scattered points they need only be
// below it, as few steps correct what the exact gradient shows of them, except under a linear kernel
// and others of low rank, whose diagonal varies; and C may be arbitrarily larger than every alpha: it
// counts where one has come to its bound.
func (o *smo[T]) precise(tol float64) bool {
	if !o.rounded() {
		return true
	}
	most, least := o.c, tol/100
	if o.merged.scattered() {
		if floats.Min(o.diag[:o.m]) == o.size {
			least = tol
		}
		if u := floats.Norm(o.u[:o.m], math.Inf(1)); u > 0 && !o.held() {
			most = min(most, u)
		}
	}
	return most*o.size*0x1p-24 <= least
}

// single reports whether to begin in single precision.
func single(o *state, s Settings) bool {
	return !s.without.single && singleSuits(o.m, o.size) && !math.IsInf(s.C, 1)
}

// singleSuits reports whether there are enough points that memory bandwidth limits the steps, and
// kernel values that do not overflow; most is max |K_ii|.
func singleSuits(m int, most float64) bool { return m >= few && most < 1e30 }

// account counts the work of a training and its parts, to decide when a Newton step, a sweep over
// the neighbourhoods or a guess of settled points is due. Work is counted, not timed, so that the
// result is the same on every machine. A unit is one kernel value, one element that a step on a
// pair reads or changes, two elements of an added row, or six multiplications of a factorisation,
// which take about the same time.
type account struct {
	spent   int // work so far
	newtons turns
	nears   turns
	rank    int // of the last factor of the free points, 0 if it was not low
	lowFrom int // free points from which it may be low
}

// turns schedules one strategy between steps on pairs.
type turns struct {
	at    int     // work after the last turn
	on    float64 // objective after the last turn
	took  int     // work of the last turn
	gain  float64 // of the objective in the last turn
	doubt int     // before a turn, all else gets 2^doubt times its work
}

// due returns the work at which a turn of the given work is due.
func (t *turns) due(work int) int { return t.at + int(math.Ldexp(float64(work), t.doubt)) }

// newtonDue returns the work at which a Newton step is due: a large one waits at least as long as
// one in doubt.
func (a *account) newtonDue(free, m int) int {
	t := a.newtons
	if free > newtonHeld {
		t.doubt = max(t.doubt, mostDoubt)
	}
	return t.due(a.newtonWork(free, m))
}

// newtonWork estimates the work of a Newton step.
func (a *account) newtonWork(free, m int) int {
	work := (newtonLook + free) * m
	if a.rank > 0 && a.mayBeLow(free) {
		return work + free*a.rank*a.rank/3
	}
	return work + free*free*free/24
}

// mayBeLow reports whether a factor of low rank may pay for so many free points.
func (a *account) mayBeLow(free int) bool { return free >= max(lowFree, a.lowFrom) }

// nearWork estimates the work of a sweep as that of the last one, but at least m²/2.
func (a *account) nearWork(m int) int { return max(a.nears.took, m*m/2) }

// end records a turn that started at the given work and objective.
func (m *monitor) end(t *turns, begun int, before float64) {
	t.at, t.on, t.took, t.gain = m.spent, m.Objective, m.spent-begun, m.Objective-before
}

// weigh records a turn like end and compares its gain per work with that of everything else since
// the previous turn. A far smaller gain raises the doubt by one, a larger one lowers it. The doubt
// stays within narrow bounds, so that a strategy that failed early is soon tried again.
func (m *monitor) weigh(t *turns, begun int, before float64) {
	since, rise := begun-t.at, before-t.on
	m.end(t, begun, before)
	gain, others := t.gain*float64(since), rise*float64(t.took)
	switch {
	case gain < others/smaller:
		t.doubt = min(t.doubt+1, mostDoubt)
	case gain > others:
		t.doubt = max(t.doubt-1, leastDoubt)
	}
}
