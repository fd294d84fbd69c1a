package svm

import "math"

// Steps on pairs, with rows computed as they are asked for, solve every problem; all else
// saves time. This file names what there is, when it is used, and at what thresholds.
//
// What a matrix can do, found by its methods (matrix.go); a bare matrix has none of it:
//
//	single    Row32         rows in single precision: half the memory to wait for
//	subset    Subset        rows of some points only, when the others have settled
//	product   AddProduct    the gradient afresh, without rows in between, on all processors
//	          AddProduct32  the same in single precision, where that is what the rows have
//	merge     Merged        fewer points that stand for all
//
// What the solver does, each to be turned off by a field of without:
//
//	single    steps on rows in single precision, as long as their rounding is below tol
//	parts     settled points are set aside (smo.go)
//	sample    many active points: first steps on one in four of them (smo.go)
//	doubt     then on those that the bias found by these leaves in doubt (smo.go)
//	coarse    many points: the start is the solution for merged ones (coarse.go)
//	path      large C: from the solutions for smaller ones (path.go)
//	newton    nearly flat directions: a Newton step on the free points (newton.go)
//	near      many free points: neighbourhoods, one after the other, in between (near.go)
//
// without says which of the solver's strategies are off.
type without struct{ single, parts, sample, doubt, coarse, path, newton, near bool }

// Rows in single precision: with fewer points the rows of all fit a cache, and there is
// nothing to wait for.
const singleFrom = 500

// single tells whether rows in single precision do: when there are so many points
// that memory is what steps wait for, and when the rounding of a value, times C,
// is far below tol.
func single(o *state, s Settings) bool {
	return !s.without.single && singleSuits(o.m, o.size) && s.C*o.size*0x1p-24 <= s.Tol/100
}

// singleSuits tells whether single does for some C; most is max |K_ii|.
func singleSuits(m int, most float64) bool { return m >= singleFrom && most < 1e30 }

// What several strategies share.
const (
	many    = 2000 // points from which samples and merged points pay; a neighbourhood has so many
	oneOf   = 4    // a sample is one point in so many, and so many are merged into one
	smaller = 10   // times smaller: the violation that any other part leaves, and a C before the next
)

// Parts: a round makes so many steps before it looks for points that have settled, and a
// part so many for each of its points before the others are looked at. A part of all active
// points leaves this share of the violation: to look at the others costs as much as
// thousands of steps on it.
const (
	batch     = 1000
	partSteps = 20
	partGain  = 100
)

// partOf is how many of m points may be active for a part to pay: its rows are computed
// anew, shorter.
func partOf(m int) int { return m / 2 }

// Starts.
const (
	coarseApart = 0.02 // how far merged points may be apart, see kernel.Gram.Merged
	coarseTol   = 0.3  // stopping rule for merged points
	pathTol     = 1e-2 // stopping rule before the last C
)

// Newton steps.
const (
	newtonFree  = 2500 // free points for which the factorisation is affordable: 50 MB
	newtonRho   = 0.3  // rho, in units of the violation / largest alpha
	newtonLook  = 100  // work of a Newton step on few points, in rows
	newtonFirst = 2    // doubt at the beginning, as pairs are quick there
)

// Doubt.
const (
	mostDoubt  = 1 // but for the beginning
	leastDoubt = -2
	farLess    = 10 // times less than all else, for the same work, is what a turn must not gain
)

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

// weigh compares what a turn, begun at that work and objective, gained by its work with what
// all else had gained by its own since the one before. Far less raises the doubt and more
// lowers it, by one: doubt stays between narrow bounds, so that a turn that failed early is
// soon tried again, and those that fail cost half of what pairs do at most.
func (m *monitor) weigh(t *turns, begun int, before float64) {
	took, since := float64(m.spent-begun), float64(begun-t.at)
	gain, others := (m.Objective-before)*since, (before-t.on)*took
	switch {
	case gain < others/farLess:
		t.doubt = min(t.doubt+1, mostDoubt)
	case gain > others:
		t.doubt = max(t.doubt-1, leastDoubt)
	}
	t.at, t.on = m.spent, m.Objective
}

// Neighbourhoods.
const (
	nearFree  = 1500 // free points beyond which a turn may be due
	nearApart = 0.2  // how far apart the nearest may be, see kernel.Gram.Merged
)

// nearWork estimates the work of a turn: that of the last one, and a quarter of a step on a
// pair for each of m points at least.
func (a *account) nearWork(m int) int { return max(a.nearSpent, m*m/2) }
