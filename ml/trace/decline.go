package trace

import (
	"math"
	"time"
)

// Decline estimates the remaining time of a solver from the decline of its violation so far, by a
// line on a logarithmic scale, as for methods that converge linearly. The zero value is ready to
// use.
type Decline struct {
	goal  float64 // of the last step
	phase string
	times []float64 // seconds since the start, of the recorded steps
	logs  []float64 // logarithm of the smallest violation so far
	every int       // distance of the recorded steps
	steps int
}

const (
	declineMost  = 128  // maximal number of recorded steps
	declineLeast = 4    // minimal number of steps for an estimate
	declineFit   = 0.5  // fraction of the variance that the line must explain
	declineReach = 20.0 // longest estimate, as a multiple of the observed time
	declineJump  = 30.0 // the estimate restarts at this multiple of the smallest violation
)

// Note records a step of the solver, taken at the given time after the start.
func (d *Decline) Note(after time.Duration, s Step) {
	if s.Phase == Scoring || s.Phase == Drawing {
		*d = Decline{} // the solver has ended
	}
	if !(s.Violation > 0) || math.IsInf(s.Violation, 0) || s.Rows > 0 || s.Trainings > 0 {
		return
	}
	v := math.Log(s.Violation)
	n := len(d.logs)
	if s.Goal != d.goal || s.Phase != d.phase || n > 0 && v > d.logs[n-1]+math.Log(declineJump) {
		*d = Decline{goal: s.Goal, phase: s.Phase, every: 1}
		n = 0
	}
	if d.steps++; d.steps%d.every != 0 {
		return
	}
	if n > 0 {
		v = min(v, d.logs[n-1])
	}
	d.times, d.logs = append(d.times, after.Seconds()), append(d.logs, v)
	if len(d.logs) == declineMost { // keep every second one
		for i := range declineMost / 2 {
			d.times[i], d.logs[i] = d.times[2*i+1], d.logs[2*i+1]
		}
		d.times, d.logs, d.every = d.times[:declineMost/2], d.logs[:declineMost/2], 2*d.every
	}
}

// Left estimates the remaining time after the last recorded step. ok is false if there is no
// estimate: the goal is unknown, there are too few steps, the violation does not decline along a
// line, or the end is too far away.
func (d *Decline) Left() (left time.Duration, ok bool) {
	times, logs := d.times[len(d.times)/2:], d.logs[len(d.logs)/2:] // the later half, as the beginning is faster
	n := float64(len(times))
	if d.goal <= 0 || n < declineLeast {
		return 0, false
	}
	var mt, ml float64
	for i := range times {
		mt, ml = mt+times[i]/n, ml+logs[i]/n
	}
	var tt, tl, ll float64
	for i := range times {
		dt, dl := times[i]-mt, logs[i]-ml
		tt, tl, ll = tt+dt*dt, tl+dt*dl, ll+dl*dl
	}
	if !(tt > 0) || !(tl < 0) || tl*tl < declineFit*tt*ll {
		return 0, false
	}
	last := len(times) - 1
	seconds := (math.Log(d.goal) - logs[last]) * tt / tl
	if watched := times[last] - d.times[0]; seconds < 0 || seconds > declineReach*watched {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
