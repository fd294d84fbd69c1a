package svm

import (
	"context"
	"math"
	"slices"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Part is the role of a training point in a solution.
type Part int

// The parts. At an entry point of a regularisation path a point changes from one to another.
const (
	Outside Part = iota // alpha = 0: beyond its margin, no support vector
	Free                // 0 < alpha < C: on its margin
	Bounded             // alpha = C: inside the margin or misclassified
)

// String returns the part as in JSON.
func (p Part) String() string { return [...]string{"outside", "free", "bounded"}[p] }

// Entry is an entry point: a point changes its part at some C between Low and High. Between two
// trainings it may pass through the third part.
type Entry struct {
	Point     int
	From, To  Part
	Low, High float64 // C
}

// Regularisation holds the solutions along C and the entry points.
type Regularisation struct {
	C       []float64 // ascending: the requested ones and those around entry points
	Results []*Result // for each C
	Entries []Entry   // by rising C, then by point
}

// Limits of a regularisation path.
const (
	entryTol   = 1e-6 // stopping rule, tight enough to identify the parts
	entryRatio = 1.02 // High / Low of an entry point, unless that takes too many trainings
	entryMost  = 240  // trainings, limited by entryWork
	entryWork  = 120_000
)

// Regularise follows the solution along cs, which must ascend, with points held out as in
// HeldOut, and brackets the entry points by bisection: where the parts differ between two
// neighbouring C, it also trains at their geometric mean, warm-started from a smaller C. alpha is
// piecewise linear in C (Hastie, Rosset, Tibshirani, Zhu: "The entire regularization path for the
// support vector machine", JMLR 5, 2004); its kinks are the entry points. s.Recorder gets a step
// after each C, as in HeldOut, with the maximal number of trainings and, while entry points are
// bracketed, the estimated time left. It returns the errors of HeldOut, HasPath and ctx.
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
		open := func(r *Result) bool { // parts depend on the violation, not on the gap
			return r.Status != trace.Converged && !(r.Status == trace.Numerical && r.KKTViolation <= s.Tol)
		}
		if i := slices.IndexFunc(results, open); i >= 0 {
			return nil, param.Refuse(Remedy(results[i].Status), "the path is unknown at C = %.3g: the training did not converge (%s)", between[i], results[i].Status)
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

// Remedy returns advice for a training that ended with this status short of the optimum.
func Remedy(s trace.Status) string {
	return lists.Either(s == trace.Numerical, "choose a smaller C", "raise the iteration limit") + ", or standardise the features"
}

// HasPath returns an error if the kernel is not known to be positive semidefinite: its solutions
// may jump as C rises.
func HasPath(k Matrix) error {
	if !rows.Definite(k) {
		return param.Refuse("use another kernel", "the regularisation path needs a positive semidefinite kernel: with this kernel the solution may jump as C rises")
	}
	return nil
}

// expect estimates the time of each training in between as the mean of its neighbours' times;
// times differ by orders of magnitude along C.
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

// left estimates the remaining time of the path. times holds those of the current trainings, of
// which done have finished, between C of the given ratio. It assumes entry points on both sides
// of each of them, in all later rounds, until room trainings are used up, smallest C first.
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

// MostTrainings returns the maximal number of trainings on a path of n points with so many
// requested C.
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

// between returns the C to train next: the geometric mean of each pair with an entry point in
// between, widest pairs first if there is no room for all.
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
	return lists.Map(places, func(a int) float64 { return math.Sqrt(r.C[a]) * math.Sqrt(r.C[a+1]) })
}

// compareRatio compares a and b, treating values within a relative 1e-9 as equal.
func compareRatio(a, b float64) int {
	switch {
	case math.Abs(a-b) <= 1e-9*a:
		return 0
	case a < b:
		return -1
	}
	return 1
}

// merge inserts solutions in the order of C.
func (r *Regularisation) merge(cs []float64, results []*Result) {
	for k, c := range cs {
		at, _ := slices.BinarySearch(r.C, c)
		r.C, r.Results = slices.Insert(r.C, at, c), slices.Insert(r.Results, at, results[k])
	}
}
