package svm

import "math"

// Steps on pairs, with rows computed as they are asked for, solve every problem; all else
// saves time. This file names what there is, when it is used, and at what thresholds.
//
// What the solver does, each to be turned off by a field of without, and the methods of the
// matrix that it takes (matrix.go), where a bare matrix has none:
//
//	single  steps on rows in single precision, as long as their rounding is below tol: Row32
//	parts   settled points are set aside, of many also those that a guess takes for settled
//	        (smo.go): Subset, and AddProduct or AddProduct32 for the gradient afterwards
//	start   from merged points where there are many (coarse.go), by way of smaller C where it
//	        is large (path.go): Merged
//	newton  nearly flat directions: a Newton step on the free points (newton.go)
//	near    very many free points: neighbourhoods, one after the other, in between (near.go)

// without says which of the solver's strategies are off.
type without struct{ single, parts, start, newton, near bool }

// The numbers behind them.
const (
	few     = 500  // points from which single precision pays: the rows of fewer fit a cache
	many    = 2000 // points from which samples and merged points pay; a neighbourhood has so many
	batch   = 1000 // steps until settled points are looked for
	oneOf   = 4    // a sample is one point in so many, and so many are merged into one
	fewOf   = 2    // a part is at most one point in so many: its rows are computed anew, shorter
	smaller = 10   // times smaller: the violation that a part leaves, a C before the next, a gain that is a failure
	apart   = 0.02 // how far merged points may be apart, see kernel.Gram.Merged; neighbours may be ten times as far
	merging = 0.3  // stopping rule for merged points
	rough   = 0.03 // stopping rule before the last C, and for merged points of more than smaller*many

	newtonFree = 2500 // free points for which the factorisation is affordable: 50 MB
	newtonRho  = 0.3  // rho, in units of the violation / largest alpha
	newtonLook = 100  // work of a Newton step on few points, in rows

	nearFree = 1500 // free points beyond which a turn through the neighbourhoods may be due

	firstDoubt = 2  // of Newton steps at the beginning, as pairs are quick there
	mostDoubt  = 1  // later: failures cost half of what pairs do at most
	leastDoubt = -2 // of what gains more than pairs do: a quarter of the work is theirs
)

// single tells whether rows in single precision do: when there are so many points
// that memory is what steps wait for, and when the rounding of a value, times C,
// is far below tol.
func single(o *state, s Settings) bool {
	return !s.without.single && singleSuits(o.m, o.size) && s.C*o.size*0x1p-24 <= s.Tol/100
}

// singleSuits tells whether single does for some C; most is max |K_ii|.
func singleSuits(m int, most float64) bool { return m >= few && most < 1e30 }

// An account of the work of a training, its parts included, tells when a Newton step or a
// turn through the neighbourhoods is due. Work is counted, not timed, so that it is the same
// on every machine. A unit is a value of the kernel, an element that a step on a pair looks
// at or changes, two that a row is added to, or six multiplications of a factorisation: they
// take about as long.
type account struct {
	spent     int // work so far
	newtons   turns
	nears     turns
	nearSpent int // work of the last turn through the neighbourhoods
}

// turns schedules one strategy between steps on pairs.
type turns struct {
	at    int     // work after the last one
	on    float64 // objective then
	doubt int     // all else has 2^doubt times the work of a turn before it is made
}

// due returns the work at which a turn of so much work is made.
func (t *turns) due(work int) int { return t.at + int(math.Ldexp(float64(work), t.doubt)) }

// newtonWork estimates the work of a Newton step.
func newtonWork(free, m int) int { return (newtonLook+free)*m + free*free*free/24 }

// nearWork estimates the work of a turn: that of the last one, and a quarter of a step on a
// pair for each of m points at least.
func (a *account) nearWork(m int) int { return max(a.nearSpent, m*m/2) }

// weigh compares what a turn, begun at that work and objective, gained by its work with what
// all else had gained by its own since the one before. Far less raises the doubt and more
// lowers it, by one: it stays between narrow bounds, so that a turn that failed early is soon
// tried again.
func (m *monitor) weigh(t *turns, begun int, before float64) {
	took, since := float64(m.spent-begun), float64(begun-t.at)
	gain, others := (m.Objective-before)*since, (before-t.on)*took
	switch {
	case gain < others/smaller:
		t.doubt = min(t.doubt+1, mostDoubt)
	case gain > others:
		t.doubt = max(t.doubt-1, leastDoubt)
	}
	t.at, t.on = m.spent, m.Objective
}
