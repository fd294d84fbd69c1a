package svm

import (
	"context"

	"marginlab/ml/trace"
)

// monitor counts what a solver does and looks up now and then: has the context
// ended, does somebody want to hear of the progress.
type monitor struct {
	ctx  context.Context
	tell trace.Recorder

	without           without
	total             int // points of the whole problem
	iterations, limit int
	objective         float64 // dual objective of the iterate
	work              int     // vector entries touched since the last look
	told              int     // iterations at the last report
	doublings         int     // of the price of a Newton step, see newton.go
}

// lookEvery is a millisecond or two of work, in vector entries.
const lookEvery = 1 << 20

// ended notes n entries of work and reports whether the context has ended, which
// it looks at when enough work has been done.
func (m *monitor) ended(n int) bool {
	m.work += n
	if m.work < lookEvery {
		return false
	}
	m.work = 0
	return m.ctx.Err() != nil
}

// report tells the progress unless it was told within 500 iterations.
func (m *monitor) report(violation float64) {
	if m.tell == nil || m.iterations < m.told+500 {
		return
	}
	m.told = m.iterations
	m.tell(trace.Step{Phase: "svm", Iteration: m.iterations, Objective: m.objective, Violation: violation})
}
