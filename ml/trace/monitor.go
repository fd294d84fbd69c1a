package trace

import (
	"context"

	"marginlab/ml/pace"
)

// Monitor counts what a solver does and looks up now and then: has the context ended,
// does somebody want to hear of the progress.
type Monitor struct {
	Context  context.Context
	Recorder Recorder // may be nil
	Phase    string   // of the steps that it is told

	Iterations, Limit int
	Objective         float64 // of the iterate
	Goal              float64 // of the violation; 0: not told
	Ahead             int     // parts of the work that follow the one under way
	Work              int     // numbers touched since the last look

	over bool // the context has ended
	told int  // iterations at the last report
}

// LookEvery is a millisecond or two of work, in numbers touched.
const LookEvery = 1 << 20

// Ended notes n numbers of work and reports whether the context has ended, which it
// looks at when enough work has been done.
func (m *Monitor) Ended(n int) bool {
	m.Work += n
	if m.Work >= LookEvery {
		m.Work = 0
		m.over = m.over || pace.Look(m.Context) != nil
	}
	return m.over
}

// Report tells the progress unless it was told within 500 iterations.
func (m *Monitor) Report(violation float64) {
	if m.Recorder == nil || m.Iterations < m.told+500 {
		return
	}
	m.told = m.Iterations
	s := Step{Phase: m.Phase, Iteration: m.Iterations, Objective: m.Objective, Violation: violation}
	if m.Ahead == 0 {
		s.Goal = m.Goal
	}
	m.Recorder(s)
}
