package multiclass

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/lists"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// problem is one of the two formulations.
//
// Both duals have a variable alpha_ic >= 0 for every point i and every wrong class c != y_i, the
// force that pushes f_c(x_i) below f_{y_i}(x_i). With
//
//	u_ic = -alpha_ic for c != y_i,  u_{i,y_i} = sum of all alpha_ic
//
// and w_c = sum_i u_ic phi(x_i), both maximise
//
//	D(u) = sum_ic alpha_ic - 1/2 sum_c u_c'K u_c,
//
// whose derivative by alpha_ic is g_ic = 1 - F_{y_i,i} + F_ci, where F_c = K u_c. They differ in
// the constraints on alpha. They share the iterate, u and F, and shrinking (Joachims 1999): points
// with all variables at bounds, pushed there by g, are set aside until the violation of the others
// has fallen to a tenth. Then F is updated for all points, which shows whether a point was set aside
// too early.
type problem[T rows.Real] interface {
	// violation returns the violation of the KKT conditions, 0 at the solution.
	violation() float64
	// unsettled returns the points that may still change; call it after violation.
	unsettled() []int
	// climb makes at most steps steps, and stops when the violation is at most goal or no step
	// changes anything. It reports false if ctx ended.
	climb(goal float64, steps int) (bool, error)
	// biases returns the biases that fit u best.
	biases() []float64
	// slack returns the slack of point i for given biases.
	slack(i int, b []float64) float64
	// free returns the variables strictly within their bounds, grouped by point.
	free() []variable
	// each returns the minimal number of small steps per point before a Newton step: after fewer,
	// the set of free variables still changes too much.
	each() int
	// bounds returns the bounds of u_ic, infinite if there are none.
	bounds(i, c int) (lo, hi float64)
	// balanced reports whether sum_i u_ic must be 0 for every class.
	balanced() bool
	// on returns the same problem on a part of the machine.
	on(*machine[T]) problem[T]

	base() *machine[T]
}

// monitor is shared by a machine and its parts.
type monitor struct {
	trace.Monitor
	doublings int // of the number of small steps before a Newton step, see climb
	factors   int // factorisations in the last Newton step
	newtons   int // work of all Newton steps, as a number of small steps
}

// machine is an iterate with the data that steps need. Its points are sorted by class, so that each
// class is a range. Its vectors are padded as in package rows.
type machine[T rows.Real] struct {
	*monitor
	k     Matrix // of the sorted points
	n     int    // points
	order []int  // original indices of the points
	start []int  // class c has the points start[c]:start[c+1]
	y     []int
	c     float64
	diag  []float64
	u, f  [][]float64 // by class and point; the f contiguous
	rows  *rows.Cache[T]
	spare rows.Memory[T] // for the rows of a part
	size  float64        // largest |K_ii| of all points
	exact bool           // f was computed from u in double precision, not updated
}

// newMachine returns a machine with u = 0. Half of the memory is for the rows of the whole machine,
// half for the rows of a part. The caller must call free.
func newMachine[T rows.Real](k Matrix, y []int, classes int, c float64, bytes int64, mon *monitor) *machine[T] {
	n := len(y)
	m := emptyMachine[T](n, classes, c, mon)
	for class := range classes {
		for i, v := range y {
			if v == class {
				m.y[len(m.order)], m.diag[len(m.order)] = class, k.Diag(i)
				m.order = append(m.order, i)
			}
		}
		m.start[class+1] = len(m.order)
	}
	m.k = rows.Subset(k, m.order)
	m.size = floats.Norm(m.diag, math.Inf(1))
	m.spare = rows.NewMemory[T](nil, n, bytes/2)
	m.keep(rows.NewMemory[T](nil, n, bytes/2), func(dst []T, i int) error { return compute(m, dst, i) })
	m.exact = true
	return m
}

// free releases the memory.
func (m *machine[T]) free() {
	m.spare.Free()
	m.rows.Memory.Free()
}

// keep sets up a cache of as many rows as fit into memory.
func (m *machine[T]) keep(memory rows.Memory[T], fill func(dst []T, i int) error) {
	m.rows = rows.NewCache(m.n, memory, fill)
	m.rows.Hold(m.n)
}

func emptyMachine[T rows.Real](n, classes int, c float64, mon *monitor) *machine[T] {
	m := &machine[T]{monitor: mon, n: n, c: c, y: make([]int, n), start: make([]int, classes+1), diag: make([]float64, rows.Padded(n))}
	m.u, m.f = byClass(classes, n), byClass(classes, n)
	return m
}

// byClass returns a padded vector for each class, in contiguous memory.
func byClass(classes, n int) [][]float64 {
	size := rows.Padded(n)
	block := make([]float64, classes*size)
	return lists.Make(classes, func(c int) []float64 { return block[c*size:][:size] })
}

// together returns the vectors of byClass as one slice.
func together(vectors [][]float64) []float64 { return vectors[0][:len(vectors)*len(vectors[0])] }

func (m *machine[T]) base() *machine[T] { return m }

// compute computes a row in either precision.
func compute[T, R rows.Real](m *machine[T], dst []R, i int) error {
	m.Work += 16 * len(dst) // a kernel value may cost as much as many updates
	rows.Row(m.k, dst[:m.n], i)
	clear(dst[m.n:])
	if j := rows.Infinite(dst); j >= 0 {
		return notFinite(m.order[i], m.order[j], float64(dst[j]))
	}
	return nil
}

// part returns the machine restricted to the given points, in ascending order, with the others
// fixed. There can be only one part at a time.
func (m *machine[T]) part(points []int) *machine[T] {
	p := emptyMachine[T](len(points), len(m.u), m.c, m.monitor)
	p.size = m.size
	for j, i := range points {
		p.y[j], p.diag[j] = m.y[i], m.diag[i]
		p.start[m.y[i]+1] = j + 1
		for c := range m.u {
			p.u[c][j], p.f[c][j] = m.u[c][i], m.f[c][i]
		}
	}
	for c := range m.u { // a class may have no points here
		p.start[c+1] = max(p.start[c+1], p.start[c])
	}
	p.keep(m.spare, func(dst []T, j int) error {
		row, err := m.rows.Row(points[j])
		if err != nil {
			return err
		}
		for k, i := range points {
			dst[k] = row[i]
		}
		clear(dst[len(points):])
		return nil
	})
	return p
}

// take copies the solution of a part back. F is outdated if ctx ends.
func (m *machine[T]) take(p *machine[T], points []int) error {
	for j, i := range points {
		for c := range m.u { // the part's own u are no longer needed
			p.u[c][j], m.u[c][i] = p.u[c][j]-m.u[c][i], p.u[c][j]
		}
	}
	change := make([]float64, len(m.u))
	for j, i := range points {
		for c := range m.u {
			change[c] = p.u[c][j]
		}
		if err := m.add(i, change); err != nil || m.Ended(0) {
			return err
		}
	}
	return nil
}

// add updates F after u_ic has changed by change[c].
func (m *machine[T]) add(i int, change []float64) error {
	if !slices.ContainsFunc(change, func(d float64) bool { return d != 0 }) {
		return nil
	}
	row, err := m.rows.Row(i)
	if err != nil {
		return err
	}
	m.exact = false
	m.Work += len(change) * len(row)
	rows.AddEach(together(m.f), change, row)
	return nil
}

// hold sets alpha_ic.
func (m *machine[T]) hold(i, c int, alpha float64) {
	m.u[c][i] = 0 - alpha // and not -0
	m.own(i)
}

// own sets the coefficient of i's own class to the sum of its alphas.
func (m *machine[T]) own(i int) {
	sum := 0.0
	for c, u := range m.u {
		if c != m.y[i] {
			sum -= u[i]
		}
	}
	m.u[m.y[i]][i] = sum
}

// provePoints is the number of steps per point between checks for progress beyond rounding.
const provePoints = 100

// solve runs rounds until the violation is at most tol, confirmed with F computed from u.
func solve[T rows.Real](p problem[T], tol float64) (trace.Status, error) {
	m := p.base()
	last := math.Inf(1)
	best, checked, vain := math.Inf(-1), m.Iterations+m.newtons, 0 // best objective with an exact F, steps at the last check, and checks without progress
	for {
		violation, rounding := p.violation(), m.rounding()
		if m.Iterations+m.newtons-checked >= provePoints*m.n {
			// The apparent gain of the steps may be a rounding error.
			if done, err := m.refresh(); !done || err != nil {
				return trace.Cancelled, err
			}
			least := 0x1p-50 // relative gain that counts
			if rounding > tol {
				least = tol // convergence cannot be proved
			}
			if vain++; m.Objective-best > least*math.Abs(best) || math.IsInf(best, -1) {
				best, vain = m.Objective, 0
			}
			checked = m.Iterations + m.newtons
			violation = p.violation()
		}
		if math.IsNaN(violation) || math.IsInf(violation, 0) || math.IsNaN(m.Objective) || math.IsInf(m.Objective, 0) {
			return trace.Numerical, ErrOverflow
		}
		before := m.Iterations
		stuck := vain >= 3 || violation >= last && violation <= 4*rounding
		if violation <= tol || stuck || m.Iterations >= m.Limit {
			if !m.exact {
				if done, err := m.refresh(); !done || err != nil {
					return trace.Cancelled, err
				}
				continue
			}
			switch {
			case violation <= tol && rounding <= tol:
				return trace.Converged, nil
			case violation <= tol || stuck:
				return trace.Numerical, nil
			}
			return trace.IterationLimit, nil
		}
		if m.Context.Err() != nil {
			return trace.Cancelled, nil
		}
		if done, err := round(p, max(tol, violation/10)); !done || err != nil {
			return trace.Cancelled, err
		}
		if m.Iterations == before {
			if m.exact {
				return trace.Numerical, nil
			}
			if done, err := m.refresh(); !done || err != nil {
				return trace.Cancelled, err
			}
		}
		last = violation
	}
}

// round makes steps until the violation is at most goal. If few enough points may still change, it
// makes them on these points only.
func round[T rows.Real](p problem[T], goal float64) (bool, error) {
	m := p.base()
	points := p.unsettled()
	if 4*len(points) > 3*len(m.y) {
		return climb(p, goal, max(1000, 4*len(m.y)))
	}
	part := m.part(points)
	done, err := climb(p.on(part), goal, max(1000, 20*len(points)))
	if err != nil {
		return false, err
	}
	if err := m.take(part, points); err != nil {
		return false, err
	}
	return done && !m.Ended(0), nil
}

// climb makes at most about steps steps. It inserts a Newton step whenever the small steps have
// together taken as long as one.
func climb[T rows.Real](p problem[T], goal float64, steps int) (bool, error) {
	m := p.base()
	end := m.Iterations + steps
	for m.Iterations < end {
		before, start := m.Iterations, m.Objective
		free := p.free()
		batch := min(max(1, m.factors/8)*newtonSteps(len(free), m.n, p.each())<<m.doublings, end-m.Iterations)
		done, err := p.climb(goal, batch)
		if !done || err != nil {
			return done, err
		}
		if m.Iterations < before+batch || m.Iterations >= m.Limit {
			return true, nil
		}
		if free = p.free(); len(free) < 2 || len(free) > newtonFree {
			continue
		}
		small := m.Objective - start
		gain, err := newton(p, free, p.violation())
		if err != nil || m.Ended(0) {
			return false, err
		}
		m.newtons += m.factors * newtonSteps(len(free), m.n, p.each())
		if gain*float64(int(1)<<m.doublings) < small/10 {
			m.doublings = min(m.doublings+1, 6)
		} else {
			m.doublings = 0
		}
	}
	return true, nil
}

// refresh computes F and the objective from u in double precision. If ctx ends, it reports false and
// leaves F unchanged.
func (m *machine[T]) refresh() (bool, error) {
	f := byClass(len(m.u), m.n)
	u := make([]float64, len(m.u))
	buffer := make([]float64, rows.Padded(m.n))
	for i := range m.y {
		for c := range u {
			u[c] = m.u[c][i]
		}
		if u[m.y[i]] == 0 {
			continue
		}
		row, err := exactly(m, buffer, i)
		if err != nil {
			return false, err
		}
		rows.AddEach(together(f), u, row)
		if m.Ended(len(u) * len(row)) {
			return false, nil
		}
	}
	m.f = f
	sum, square := m.dual()
	m.Objective = sum - square/2
	m.exact = true
	return true, nil
}

// exactly returns row i in double precision, from the cache or computed into buffer.
func exactly[T rows.Real](m *machine[T], buffer []float64, i int) ([]float64, error) {
	if held, ok := any(m.rows).(*rows.Cache[float64]); ok {
		return held.Row(i)
	}
	return buffer, compute(m, buffer, i)
}

// dual returns the terms of the dual objective: sum of alpha and sum_c u_c'K u_c.
func (m *machine[T]) dual() (sum, square float64) {
	for c := range m.u {
		for _, u := range m.u[c][m.start[c]:m.start[c+1]] {
			sum += u
		}
		square += floats.Dot(m.u[c], m.f[c])
	}
	return sum, square
}

// rounding estimates the error of F from rounding of the kernel values and their sums.
func (m *machine[T]) rounding() float64 {
	length := 0.0
	for i, c := range m.y {
		if u := m.u[c][i]; u != 0 {
			length += u * math.Sqrt(math.Abs(m.diag[i]))
		}
	}
	return 0x1p-53 * math.Sqrt(m.size) * length
}

// result returns the result for u and F.
func (m *machine[T]) result(p problem[T], status trace.Status) *Result {
	n := len(m.y)
	r := &Result{Status: status, Iterations: m.Iterations, KKTViolation: p.violation(), B: p.biases()}
	if status == trace.Numerical {
		r.KKTViolation = max(r.KKTViolation, m.rounding())
	}
	for c, b := range r.B {
		coef, f := make([]float64, n), make([]float64, n)
		for i, at := range m.order {
			coef[at], f[at] = m.u[c][i], m.f[c][i]+b
		}
		r.Coef, r.F = append(r.Coef, coef), append(r.F, f)
	}
	for i, c := range m.y {
		r.SlackSum += p.slack(i, r.B)
		if m.u[c][i] != 0 {
			r.SupportVectors++
		}
	}
	sum, square := m.dual()
	r.DualObjective = sum - square/2
	r.Objective = square/2 + m.c*r.SlackSum
	r.Gap, r.RelativeGap = trace.Relative(r.Objective-r.DualObjective, r.Objective)
	return r
}
