package multiclass

import (
	"context"

	"marginlab/ml/trace"
)

// monitor counts what a solver does and looks up now and then: has the context ended,
// does somebody want to hear of the progress.
type monitor struct {
	ctx   context.Context
	tell  trace.Recorder
	phase string

	total             int // points of the whole problem
	iterations, limit int
	objective         float64 // of the dual, at the iterate
	work              int     // numbers touched since the last look
	over              bool    // the context has ended
	told              int     // iterations at the last report
	doublings         int     // of the small steps before a Newton step, see climb
}

// lookEvery is a millisecond or two of work, in numbers touched.
const lookEvery = 1 << 20

// ended notes n numbers of work and reports whether the context has ended, which it
// looks at when enough work has been done.
func (m *monitor) ended(n int) bool {
	m.work += n
	if m.work >= lookEvery {
		m.work = 0
		m.over = m.over || m.ctx.Err() != nil
	}
	return m.over
}

// report tells the progress unless it was told within 500 iterations.
func (m *monitor) report(violation float64) {
	if m.tell == nil || m.iterations < m.told+500 {
		return
	}
	m.told = m.iterations
	m.tell(trace.Step{Phase: m.phase, Iteration: m.iterations, Objective: m.objective, Violation: violation})
}
