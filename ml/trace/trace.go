// Package trace holds what solvers say about themselves: how they ended and,
// while they work, how far they have come.
package trace

import (
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Status tells how a solver ended.
type Status string

const (
	// Converged: the stopping rule of the solver holds.
	Converged Status = "converged"
	// IterationLimit: the iterate is feasible, but the limit came first.
	IterationLimit Status = "iteration-limit"
	// Cancelled: the context ended first.
	Cancelled Status = "cancelled"
	// Numerical: rounding kept the solver from meeting its own certificate.
	Numerical Status = "numerical"
)

// Step is one progress report of a solver.
type Step struct {
	Phase     string  `json:"phase"`     // what is being solved: "svm", "mcm", "ridge", "ww", "cs"; or made: "kernel matrix", "mixture"
	Iteration int     `json:"iteration"` // iterations so far
	Objective float64 `json:"objective"` // objective of the current iterate
	Violation float64 `json:"violation"` // largest violation of the stopping rule

	// Goal is the violation at which the solver ends; 0 where it does not tell, or where
	// other parts of the work follow this one.
	Goal float64 `json:"goal,omitempty"`

	// Where several machines are trained, which one this is about, from 1, and of how
	// many; otherwise both are 0.
	Machine  int `json:"machine,omitempty"`
	Machines int `json:"machines,omitempty"`

	// Where it is known how much there is to do, how many rows are done and of how many;
	// otherwise both are 0.
	Done int `json:"done,omitempty"`
	Rows int `json:"rows,omitempty"`

	// Where a solution is followed along C, the C that was solved last, 0 before, and of how
	// many trainings, at most, Done are done; otherwise both are 0.
	C         float64 `json:"C,omitempty"`
	Trainings int     `json:"trainings,omitempty"`

	// Left is about how long the work still takes, by the clock; 0 where that is not known.
	Left time.Duration `json:"-"`
}

// AlongC is the phase of the first way along C, from its least value to its greatest.
const AlongC = "path"

// AtPace is about how long the rest takes of what is done in equal units, of which so many were
// done in a time; 0 where that cannot be told: the first units begin with more than their own work.
func AtPace(elapsed time.Duration, done, open int) time.Duration {
	if done <= 0 || elapsed <= 0 || done < min(10, 1+(done+open)/100) {
		return 0
	}
	return time.Duration(float64(elapsed) * float64(open) / float64(done))
}

// String is the step in a line: "kernel matrix: 3400 of 10000 rows".
func (s Step) String() string {
	switch {
	case s.Trainings > 0 && s.C == 0:
		return fmt.Sprintf("%s: %d of %d trainings", s.Phase, s.Done, s.Trainings)
	case s.Trainings > 0:
		c, _ := strconv.ParseFloat(strconv.FormatFloat(s.C, 'g', 3, 64), 64) // which it is
		return fmt.Sprintf("%s: C = %s, %d of %d trainings", s.Phase, strconv.FormatFloat(c, 'f', -1, 64), s.Done, s.Trainings)
	case s.Rows > 0:
		return fmt.Sprintf("%s: %d of %d rows", s.Phase, s.Done, s.Rows)
	case s.Machines > 0:
		return fmt.Sprintf("%s, machine %d of %d: %d iterations, objective %.6g", s.Phase, s.Machine, s.Machines, s.Iteration, s.Objective)
	}
	return fmt.Sprintf("%s: %d iterations, objective %.6g", s.Phase, s.Iteration, s.Objective)
}

// Recorder receives progress. A nil Recorder is allowed and means nobody listens.
// It is called from the solver's goroutine, at most every few hundred iterations.
type Recorder func(Step)

// InTurn is r for several goroutines, which it hears one at a time.
func (r Recorder) InTurn() Recorder {
	if r == nil {
		return nil
	}
	var turn sync.Mutex
	return func(s Step) {
		turn.Lock()
		defer turn.Unlock()
		r(s)
	}
}
