// Package trace holds the status and progress reports of solvers.
package trace

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Status is the outcome of a solver.
type Status string

const (
	// Converged: the stopping rule of the solver holds.
	Converged Status = "converged"
	// IterationLimit: the iterate is feasible, but the limit was reached first.
	IterationLimit Status = "iteration-limit"
	// Cancelled: the context ended first.
	Cancelled Status = "cancelled"
	// Numerical: rounding kept the solver from satisfying its certificate.
	Numerical Status = "numerical"
)

// Relative returns a duality gap divided by max(1, |objective|) and by |objective|.
func Relative(gap, objective float64) (capped, relative float64) {
	if gap != 0 {
		relative = gap / math.Abs(objective)
	}
	return gap / max(1, math.Abs(objective)), relative
}

// Step is one progress report of a solver.
type Step struct {
	Phase     string  `json:"phase"`     // problem being solved: "svm", "mcm", "ridge", "ww", "cs"; or work being done: "kernel matrix", "mixture", Scoring, Drawing
	Iteration int     `json:"iteration"` // iterations so far
	Objective float64 `json:"objective"` // objective of the current iterate
	Violation float64 `json:"violation"` // largest violation of the stopping rule

	// Goal is the violation at which the solver ends; 0 if unknown or if other parts of the work
	// follow.
	Goal float64 `json:"goal,omitempty"`

	// Machine is the machine being trained, from 1, out of Machines; 0 for a single one.
	Machine  int `json:"machine,omitempty"`
	Machines int `json:"machines,omitempty"`

	// Done and Rows are the rows finished and their total, if known; otherwise 0.
	Done int `json:"done,omitempty"`
	Rows int `json:"rows,omitempty"`

	// C is the last C solved along a path, 0 before the first. Trainings is the largest possible
	// number of trainings on the path, of which Done are finished; 0 for other work.
	C         float64 `json:"C,omitempty"`
	Trainings int     `json:"trainings,omitempty"`

	// Left is the estimated remaining time, 0 if unknown.
	Left time.Duration `json:"-"`
}

// AlongC is the phase of the first pass along C, in ascending order.
const AlongC = "path"

// AtPace estimates the time for the open units of equal work, given that done units took elapsed.
// It returns 0 while done is too small: the first units include other work.
func AtPace(elapsed time.Duration, done, open int) time.Duration {
	if done <= 0 || elapsed <= 0 || done < min(10, 1+(done+open)/100) {
		return 0
	}
	return time.Duration(float64(elapsed) * float64(open) / float64(done))
}

// phaseNames holds the display names of phases that differ from their identifiers.
var phaseNames = map[string]string{"svm": "SVM", "mcm": "MCM", "ww": "Weston and Watkins", "cs": "Crammer and Singer"}

// String formats the step as one line, such as "Kernel matrix: 3400 of 10000 rows".
func (s Step) String() string {
	phase := cmp.Or(phaseNames[s.Phase], s.Phase, "training")
	phase = strings.ToUpper(phase[:1]) + phase[1:]
	switch {
	case s.Trainings > 0 && s.C == 0:
		return fmt.Sprintf("%s: %d of %d trainings", phase, s.Done, s.Trainings)
	case s.Trainings > 0:
		c, _ := strconv.ParseFloat(strconv.FormatFloat(s.C, 'g', 3, 64), 64) // at the displayed precision
		return fmt.Sprintf("%s: C = %s, %d of %d trainings", phase, strconv.FormatFloat(c, 'f', -1, 64), s.Done, s.Trainings)
	case s.Rows > 0:
		return fmt.Sprintf("%s: %d of %d rows", phase, s.Done, s.Rows)
	case s.Machines > 0:
		phase += fmt.Sprintf(", machine %d of %d", s.Machine, s.Machines)
	}
	return fmt.Sprintf("%s: %d iterations, objective %.6g, largest violation %.2g", phase, s.Iteration, s.Objective, s.Violation)
}

// Recorder receives progress; it may be nil. It is called from the solver's goroutine, at most
// every few hundred iterations.
type Recorder func(Step)

// InTurn returns a recorder for concurrent use, which calls r one step at a time.
func (r Recorder) InTurn() Recorder {
	if r == nil {
		return nil
	}
	var mu sync.Mutex
	return func(s Step) {
		mu.Lock()
		defer mu.Unlock()
		r(s)
	}
}
