package trace

import (
	"math"
	"time"
)

// Decline tells about how long a solver still works, by how its violation has declined so
// far: on a logarithmic scale along a line, as it is for methods that converge linearly. The
// zero value is ready for use.
type Decline struct {
	goal  float64 // of the last step
	phase string
	times []float64 // seconds since the work began, of the steps that brought the violation down or kept it
	logs  []float64 // of the least violation until then
	every int       // steps to one that is noted
	steps int
}

const (
	declineMost  = 128  // places that are kept
	declineLeast = 4    // places that tell something
	declineFit   = 0.5  // share of the variance that the line has to explain
	declineReach = 20.0 // times as long as it has been watched, beyond which nothing is told
	declineJump  = 30.0 // a violation so many times the least begins anew
)

// Note takes a step of the solver, so long after the work began.
func (d *Decline) Note(after time.Duration, s Step) {
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
	if len(d.logs) == declineMost { // every second one is enough
		for i := range declineMost / 2 {
			d.times[i], d.logs[i] = d.times[2*i+1], d.logs[2*i+1]
		}
		d.times, d.logs, d.every = d.times[:declineMost/2], d.logs[:declineMost/2], 2*d.every
	}
}

// Left is about how long the work still takes, from the last step that was noted; ok is false
// where that cannot be told: the goal is not known, there are few steps, the violation does not
// decline, or not along a line, or the end is too far for so few.
func (d *Decline) Left() (left time.Duration, ok bool) {
	times, logs := d.times[len(d.times)/2:], d.logs[len(d.logs)/2:] // the later half: the beginning is quicker
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
