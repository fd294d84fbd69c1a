package jobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"marginlab/ml/lists"
	"marginlab/store"
)

// Long work never delays short work, nor many jobs of one user the few of another:
//
//   - Light work, estimated to take about one turn, starts as soon as a place is free and has
//     priority for one turn. If it is not finished, it continues as medium work for ten turns and
//     then as heavy work.
//   - Medium and heavy work shares the places left by light work, at least one. Running jobs take
//     turns: the others pause at the gate of package pace and lose nothing. Light work always
//     leaves them one place and keeps at least one.
//   - Only a few jobs of each weight fit, since paused ones hold their memory. A job without room
//     returns to the queue with its new weight and restarts later: it loses one turn, once. The
//     initial weight is estimated, so most work starts where it belongs.
//   - Time is shared equally at each level: between courses and other work; within each, between
//     network addresses (a course counts under its teacher's); there, between workspaces; and
//     within a workspace, between runs and cells, submissions first. Ties go to shorter work. A
//     sharer with nothing waiting gets a head start of at most one turn, so that a new workspace
//     does not overtake everything at its address.
//
// This affects only the order of work, never a result.

// mediumTurns is the number of turns for which work stays medium.
const mediumTurns = 10

// heavyEach limits heavy work per place. One network may fill all places but one.
const heavyEach = 3

// memoryEach bounds the estimated memory of work per place, in bytes; larger work runs alone. Light
// work has an additional 1/lightShare of that, which medium and heavy work cannot use.
const (
	memoryEach = 768 << 20
	lightShare = 4
)

// MemoryWithin returns the Memory of a Config for a process limited to the given number of bytes,
// reserving memory for pages and other requests.
func MemoryWithin(bytes int64) int64 { return max(1, (bytes-pagesMemory)/(lightShare+1)*lightShare) }

// pagesMemory is the memory of eight concurrent worst-case requests.
const pagesMemory = 512 << 20

// errNoRoom is the cancellation cause of work that returns to the queue for lack of room.
var errNoRoom = errors.New("not enough memory to continue; the work starts again later")

// Load counts the runs and cells of searches that wait for this server and those it is working on,
// by weight. Work computed elsewhere is not counted.
func (q *Queue) Load(ctx context.Context) (waiting, running map[store.Weight]int, err error) {
	if waiting, err = q.store.CountWaiting(ctx, q.owner); err != nil {
		return nil, nil, err
	}
	running = map[store.Weight]int{}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.running {
		if !j.away {
			running[j.as]++
		}
	}
	return waiting, running, nil
}

// several returns the number of places one sharer may fill: all but one, if there are several.
func (q *Queue) several() int { return max(1, q.Workers-1) }

// hasRoom reports whether there is room to start work with a weight, or for a job to continue with
// it. Callers hold q.mu.
func (q *Queue) hasRoom(as store.Weight, w store.Waiting, self *job) bool {
	network := q.networkOf(w)
	var all, near, own int
	others := 0                      // jobs that are not light
	var light, long, nearHeavy int64 // bytes
	for _, j := range q.running {
		if j.away || j == self {
			continue
		}
		if j.as != store.Light {
			others++
		}
		if q.usesLightMemory(j.as, j.work) {
			light += j.work.Memory
		} else {
			long += j.work.Memory
		}
		if j.as != as {
			continue
		}
		all++
		if q.networkOf(j.work) == network {
			near, nearHeavy = near+1, nearHeavy+j.work.Memory
		}
		if j.work.Workspace == w.Workspace {
			own++
		}
	}
	switch {
	case all > 0 && own >= q.several(),
		q.usesLightMemory(as, w) && light > 0 && light+w.Memory > q.Memory/lightShare,
		!q.usesLightMemory(as, w) && long > 0 && long+w.Memory > q.Memory:
		return false
	}
	switch as {
	case store.Light:
		if others > 0 {
			return all < q.several()
		}
		return all < q.Workers
	case store.Medium:
		return all < q.several()
	}
	return all < heavyEach*q.Workers &&
		(near == 0 || near < heavyEach*q.several() && nearHeavy+w.Memory <= q.Memory*int64(q.several())/int64(q.Workers))
}

// usesLightMemory reports whether work uses the memory reserved for light work.
func (q *Queue) usesLightMemory(as store.Weight, w store.Waiting) bool {
	return as == store.Light && w.Memory <= q.Memory/lightShare
}

// next chooses the waiting work to start.
func (q *Queue) next(list []store.Waiting) (w store.Waiting, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.inTurn(slices.DeleteFunc(list, func(w store.Waiting) bool { return !q.hasRoom(w.Weight, w, nil) }))
}

// account records the processor time given to a sharer, in virtual time, which passes more slowly
// the more sharers there are.
type account struct {
	begins time.Duration // start of its next work
	now    time.Duration // virtual time among its own sharers, when the last work started
	asked  time.Time     // its work is accounted for up to this time; later work came after a pause
}

// inTurn returns the next of the work that may start: among the lightest, by start-time fair
// queueing at each level. The work with the earliest expected end in virtual time goes first, so
// among equals the shorter one. A workspace that had nothing waiting gets a head start of one
// turn. Callers hold q.mu.
func (q *Queue) inTurn(list []store.Waiting) (next store.Waiting, ok bool) {
	if len(list) == 0 {
		return next, false
	}
	lightest := slices.MinFunc(list, func(v, w store.Waiting) int { return cmp.Compare(v.Weight, w.Weight) }).Weight
	var some []candidate
	for _, w := range list {
		if w.Weight == lightest {
			some = append(some, candidate{w, q.sharers(w)})
		}
	}
	return q.choose(some, 1).Waiting, true
}

// candidate is work that may start, with the sharers it counts towards.
type candidate struct {
	store.Waiting
	sharers
}

// choose returns the next work among the sharers below one sharer of the level above.
func (q *Queue) choose(list []candidate, level int) (next candidate) {
	if level > levels {
		return list[0] // in the store's order
	}
	groups := map[string][]candidate{}
	for _, c := range list {
		groups[c.sharers[level]] = append(groups[c.sharers[level]], c)
	}
	var earliest time.Duration
	for _, c := range list { // in their order
		group := groups[c.sharers[level]]
		if group == nil {
			continue // already considered
		}
		delete(groups, c.sharers[level])
		oldest := slices.MinFunc(group, func(c, d candidate) int { return c.Since.Compare(d.Since) })
		begins := q.begins(c.sharers[level], c.sharers[level-1], oldest.Since)
		c = q.choose(group, level+1)
		if ends := begins + q.expected(c.Waiting); next.ID == "" || ends < earliest {
			next, earliest = c, ends
		}
	}
	return next
}

// begins returns the virtual start time of the next work of a sharer below above, whose oldest work
// has waited since a time.
func (q *Queue) begins(key, above string, since time.Time) time.Duration {
	a := q.account(key)
	if since.After(a.asked) {
		a.begins, a.asked = max(a.begins, q.account(above).now-q.Turn), since
	}
	return a.begins
}

func (q *Queue) account(key string) *account {
	a := q.accounts[key]
	if a == nil {
		a = &account{}
		q.accounts[key] = a
	}
	return a
}

// expected returns the expected time for which work continues with its weight.
func (q *Queue) expected(w store.Waiting) time.Duration {
	most := w.Work
	switch w.Weight {
	case store.Light:
		most = q.Turn
	case store.Medium:
		most = mediumTurns * q.Turn
	}
	return max(time.Millisecond, min(w.Work, most))
}

// levels is the number of levels at which processor time is shared.
const levels = 4

// sharers names the sharers that work counts towards, one per level, starting with its weight.
type sharers [1 + levels]string

func (q *Queue) sharers(w store.Waiting) (keys sharers) {
	lane, kind := lists.Either(w.Teacher == "", "others", "courses"), lists.Either(w.Search, "cells", "runs")
	keys[0] = w.Weight.String()
	for i, name := range [levels]string{lane, q.networkOf(w), string(w.Workspace), kind} {
		keys[i+1] = keys[i] + " " + name
	}
	return keys
}

func (q *Queue) networkOf(w store.Waiting) string {
	if w.Teacher != "" {
		return "course " + q.store.NetworkOf(w.Teacher)
	}
	return q.store.NetworkOf(w.Workspace)
}

// mostAccounts is the largest number of accounts kept.
const mostAccounts = 100_000

// serve notes that work begins. Callers hold q.mu.
func (q *Queue) serve(w store.Waiting) {
	if len(q.accounts) > mostAccounts {
		clear(q.accounts)
	}
	keys, now := q.sharers(w), q.store.Now()
	for i, key := range keys[1:] {
		a, above := q.account(key), q.account(keys[i])
		above.now = max(above.now, a.begins)
		a.begins, a.asked = a.begins+q.expected(w), now
	}
}

// pay corrects the accounts when work has ended, replacing the expected by the actual time. If its
// weight has changed, it counts only within its workspace. Callers hold q.mu.
func (q *Queue) pay(w store.Waiting, took time.Duration) {
	keys := q.sharers(w)
	for i, key := range keys[1:] {
		used := took
		if i < levels-1 {
			used = q.expected(store.Waiting{Weight: w.Weight, Work: took})
		}
		q.account(key).begins += used - q.expected(w)
	}
}

// endTurn ends the turn of light work.
func (q *Queue) endTurn(j *job) {
	q.mu.Lock()
	if q.running[j.key] == j && !j.over {
		switch {
		case q.hasRoom(store.Medium, j.work, j):
			q.continueAs(j, store.Medium)
		case q.hasRoom(store.Heavy, j.work, j):
			q.continueAs(j, store.Heavy)
		default:
			q.requeue(j, store.Medium)
		}
	}
	q.mu.Unlock()
	q.Notify() // a place may be free
}

// continueAs continues a job with a weight. Callers hold q.mu.
func (q *Queue) continueAs(j *job, as store.Weight) {
	if j.as == store.Light {
		q.shared = append(q.shared, j)
	}
	j.as = as
	q.share()
}

// requeue ends a job that will restart with another weight. Callers hold q.mu.
func (q *Queue) requeue(j *job, as store.Weight) {
	j.over, j.requeueAs = true, as
	j.cancel(errNoRoom)
}

// rotate begins the next turn of medium and heavy work.
func (q *Queue) rotate() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.shared {
		if j.as == store.Medium && !j.over && j.worked() >= mediumTurns*q.Turn {
			if q.hasRoom(store.Heavy, j.work, j) {
				j.as = store.Heavy
			} else {
				q.requeue(j, store.Heavy)
			}
			q.Notify()
		}
	}
	if n := q.longPlaces(); n < len(q.shared) {
		q.shared = slices.Concat(q.shared[n:], q.shared[:n])
	}
	q.share()
}

// longPlaces returns the number of places that light work leaves to other work. Callers hold q.mu.
func (q *Queue) longPlaces() int {
	n := q.Workers
	for _, j := range q.running {
		if !j.away && j.as == store.Light {
			n--
		}
	}
	return max(1, n)
}

// share resumes as many medium and heavy jobs as there are places and pauses the rest. Callers
// hold q.mu.
func (q *Queue) share() {
	n := q.longPlaces()
	for i, j := range q.shared {
		j.hold(i >= n)
	}
}

// hold pauses or resumes a job. Paused time does not count as working time. Callers hold the
// queue's mu.
func (j *job) hold(wait bool) {
	if wait == (j.resume != nil) {
		return
	}
	if wait {
		j.resume = j.gate.Urgent()
		j.before, j.since = j.worked(), time.Time{}
		j.tooLong.Stop()
		return
	}
	j.resume()
	j.resume, j.since = nil, time.Now()
	if j.limit > 0 {
		j.tooLong.Reset(max(0, j.limit-j.before))
	}
}

// worked returns the working time of a job, without pauses. Callers hold the queue's mu.
func (j *job) worked() time.Duration {
	if j.since.IsZero() {
		return j.before
	}
	return j.before + time.Since(j.since)
}
