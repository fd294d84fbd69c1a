package svm

import (
	"context"
	"math"
	"slices"
	"time"

	"marginlab/ml/param"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Part is the role of a training point in a solution.
type Part int

// The parts. Entry points of a regularisation path are where a point goes from one to
// another.
const (
	Outside Part = iota // alpha = 0: beyond its margin, no support vector
	Free                // 0 < alpha < C: on its margin
	Bounded             // alpha = C: within its margin, or on the wrong side
)

// String is the part in JSON.
func (p Part) String() string { return [...]string{"outside", "free", "bounded"}[p] }

// Entry is an entry point: somewhere between Low and High a point goes from one part to
// another. Between two trainings it may have gone there by way of the third.
type Entry struct {
	Point     int
	From, To  Part
	Low, High float64 // C
}

// Regularisation is the solutions along C, and where points change their part.
type Regularisation struct {
	C       []float64 // rising: those that were asked for, and others about the entry points
	Results []*Result // for each C
	Entries []Entry   // by rising C, then by point
}

// How a path over C is followed.
const (
	entryTol   = 1e-6 // stopping rule: parts are to be told
	entryRatio = 1.02 // High / Low of an entry point, unless that takes too many trainings
	entryMost  = 240  // trainings, limited by entryWork
	entryWork  = 120_000
)

// Regularise follows the solution along C, from cs[0] to the last of cs, which rise, with points
// held out as of HeldOut, and brackets the entry points by bisection: where the parts of two
// neighbouring C differ, the one between them, by their logarithm, is trained as well, from the
// solution for a smaller one. alpha is piecewise linear in C (Hastie, Rosset, Tibshirani, Zhu: "The
// entire regularization path for the support vector machine", JMLR 5, 2004), its kinks are the
// entry points. s.Recorder hears of every C that is solved, as of HeldOut, with all trainings that
// there are to be, of entry points at most, and with the time that is left once C has been from end
// to end. It returns the errors of HeldOut, HasPath and ctx.
func Regularise(ctx context.Context, k Matrix, y []float64, held []int, cs []float64, s Settings) (*Regularisation, error) {
	if err := HasPath(k); err != nil {
		return nil, err
	}
	if s.Tol == 0 || s.Tol > entryTol {
		s.Tol = entryTol
	}
	r := &Regularisation{}
	record, most := s.Recorder, MostTrainings(len(y), len(cs))
	took := map[float64]time.Duration{} // by C
	for between := cs; len(between) > 0; between = r.between() {
		expected, room, last := r.expect(between, took), most-len(r.C)-len(between), time.Now()
		if record != nil {
			s.Recorder = func(step trace.Step) {
				if step.Phase != trace.AlongC {
					return
				}
				now := time.Now()
				expected[step.Done-1] = now.Sub(last)
				took[step.C], last = expected[step.Done-1], now
				if len(r.C) > 0 {
					step.Phase, step.Left = "entry points", left(expected, step.Done, r.ratio(between[0]), room)
				}
				step.Done, step.Trainings = len(r.C)+step.Done, most
				record(step)
			}
		}
		results, err := HeldOut(ctx, k, y, held, between, s)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		open := func(r *Result) bool { // the order of the points needs the violation, not the gap
			return r.Status != trace.Converged && !(r.Status == trace.Numerical && r.KKTViolation <= s.Tol)
		}
		if i := slices.IndexFunc(results, open); i >= 0 {
			return nil, param.Refuse(Remedy(results[i].Status), "the training with C = %.3g ended as %s, so that the path is not known there", between[i], results[i].Status)
		}
		r.merge(between, results)
	}
	for a := range len(r.C) - 1 {
		for i := range y {
			from, to := r.Part(a, i), r.Part(a+1, i)
			if from != to {
				r.Entries = append(r.Entries, Entry{i, from, to, r.C[a], r.C[a+1]})
			}
		}
	}
	return r, nil
}

// Remedy says what helps a training that ended so, and not at the optimum.
func Remedy(s trace.Status) string {
	if s == trace.Numerical {
		return "choose a smaller C, or standardise the features"
	}
	return "raise the iteration limit, or standardise the features"
}

// HasPath refuses a kernel that is not known to be positive semidefinite: its solutions may jump
// as C rises.
func HasPath(k Matrix) error {
	if !rows.Definite(k) {
		return param.Refuse("take another kernel", "with a kernel that is not positive semidefinite in general, the solution may jump as C rises: it has no path")
	}
	return nil
}

// expect is about what the trainings between those that are known take: as much as their
// neighbours took. What trainings take differs by orders of magnitude along C.
func (r *Regularisation) expect(between []float64, took map[float64]time.Duration) []time.Duration {
	times := make([]time.Duration, len(between))
	for k, c := range between {
		if at, _ := slices.BinarySearch(r.C, c); at > 0 && at < len(r.C) {
			times[k] = (took[r.C[at-1]] + took[r.C[at]]) / 2
		}
	}
	return times
}

// ratio returns the ratio of the two known C around c.
func (r *Regularisation) ratio(c float64) float64 {
	at, _ := slices.BinarySearch(r.C, c)
	return r.C[at] / r.C[at-1]
}

// left is about how long the path still takes, when of trainings in the middle of C that have a
// ratio, with the times that they take, so many are done, and there is room for others: entry points
// are then on either side of every middle, and the least C go first where not all may be.
func left(times []time.Duration, done int, ratio float64, room int) (sum time.Duration) {
	for _, t := range times[done:] {
		sum += t
	}
	for ratio = math.Sqrt(ratio); ratio > entryRatio && room > 0; ratio = math.Sqrt(ratio) {
		var next []time.Duration
		for _, t := range times {
			next = append(next, t, t)
		}
		times = next[:min(len(next), room)]
		room -= len(times)
		for _, t := range times {
			sum += t
		}
	}
	return sum
}

// MostTrainings is of how many trainings a path of n points is at most, of which so many are asked for.
func MostTrainings(n, asked int) int { return max(asked, min(entryMost, entryWork/max(n, 1))) }

// Part returns the role of point i in the solution for the a-th C.
func (r *Regularisation) Part(a, i int) Part {
	switch alpha := r.Results[a].Alpha[i]; {
	case alpha == 0:
		return Outside
	case alpha >= r.C[a]:
		return Bounded
	}
	return Free
}

// between are the C to train next: in the middle of those that an entry point lies between,
// the widest first where not all may be.
func (r *Regularisation) between() []float64 {
	var places []int
	for a := range len(r.C) - 1 {
		if r.C[a+1]/r.C[a] <= entryRatio {
			continue
		}
		for i := range r.Results[a].Alpha {
			if r.Part(a, i) != r.Part(a+1, i) {
				places = append(places, a)
				break
			}
		}
	}
	if room := MostTrainings(len(r.Results[0].Alpha), len(r.C)) - len(r.C); len(places) > room {
		slices.SortStableFunc(places, func(a, b int) int {
			return -compareRatio(r.C[a+1]/r.C[a], r.C[b+1]/r.C[b])
		})
		places = places[:room]
		slices.Sort(places)
	}
	middle := make([]float64, len(places))
	for k, a := range places {
		middle[k] = math.Sqrt(r.C[a]) * math.Sqrt(r.C[a+1])
	}
	return middle
}

// compareRatio takes what differs by rounding for equal.
func compareRatio(a, b float64) int {
	switch {
	case math.Abs(a-b) <= 1e-9*a:
		return 0
	case a < b:
		return -1
	}
	return 1
}

// merge puts solutions in their places.
func (r *Regularisation) merge(cs []float64, results []*Result) {
	for k, c := range cs {
		at, _ := slices.BinarySearch(r.C, c)
		r.C, r.Results = slices.Insert(r.C, at, c), slices.Insert(r.Results, at, results[k])
	}
}
