package trace

import (
	"context"

	"marginlab/ml/pace"
)

// Monitor counts the work of a solver, checks its context from time to time and reports progress.
type Monitor struct {
	Context  context.Context
	Recorder Recorder // may be nil
	Phase    string   // of the reported steps

	Iterations, Limit int
	Objective         float64 // of the iterate
	Goal              float64 // violation at which the solver ends; 0: not reported
	Ahead             int     // remaining parts of the work after the current one
	Work              int     // numbers touched since the last check

	ended    bool // the context has ended
	reported int  // iterations at the last report
}

// LookEvery is the work between two checks of the context, in numbers touched: one or two
// milliseconds.
const LookEvery = 1 << 20

// Ended adds n to the work and reports whether the context has ended. It checks the context after
// every LookEvery numbers.
func (m *Monitor) Ended(n int) bool {
	m.Work += n
	if m.Work >= LookEvery {
		m.Work = 0
		m.ended = m.ended || pace.Look(m.Context) != nil
	}
	return m.ended
}

// Report reports progress unless there was a report within the last 500 iterations.
func (m *Monitor) Report(violation float64) {
	if m.Recorder == nil || m.Iterations < m.reported+500 {
		return
	}
	m.reported = m.Iterations
	s := Step{Phase: m.Phase, Iteration: m.Iterations, Objective: m.Objective, Violation: violation}
	if m.Ahead == 0 {
		s.Goal = m.Goal
	}
	m.Recorder(s)
}
