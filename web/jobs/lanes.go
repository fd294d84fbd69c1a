package jobs

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"marginlab/store"
)

// Long work never keeps short work waiting, nor much work of one person little of another:
//
//   - Light work, by estimate about as long as a turn, begins as soon as one of the places is
//     free, and goes before all else for one turn. Whatever is left of it then goes on as medium
//     work, for ten turns, and then as heavy work, for as long as it takes.
//   - Medium and heavy work shares the places that light work leaves, at least one. Those under
//     way take turns: the others hold where they are, by the gate of package pace, and lose
//     nothing. Light work, for its part, leaves them one place and keeps at least one.
//   - There is room for a few of each weight, since they hold their memory. What finds none goes
//     back into the queue with its new weight, and begins anew when there is room: a turn is
//     lost, once. Estimates decide where work begins, so that most begin where they belong.
//   - Who is next: the work of courses and other work in turn; among them one network address
//     after the other, where a course counts as that of its teacher; there one workspace after
//     the other; of one workspace runs and cells for as long as each other, and hand-ins first.
//     A workspace that is new at an address does not come before those that wait there.
//
// Only the order depends on this, and never a result.

// mediumTurns is for how many turns medium work goes on as such.
const mediumTurns = 10

// What is held of heavy work, for each place. Of all places but one it may be of one network.
const (
	heavyEach   = 3
	heavyMemory = 768 << 20 // bytes, by estimate
)

// errNoRoom is why work ends that goes back into the queue for lack of room.
var errNoRoom = errors.New("there is no room for the work to go on; it begins anew later")

// several is all places but one, where there are several: the last one is for others.
func (q *Queue) several() int { return max(1, q.workers-1) }

// room tells whether there is room to begin work as one of a weight, or for a job to go on as
// such. Callers hold q.mu.
func (q *Queue) room(as store.Weight, w store.Waiting) bool {
	network := q.networkOf(w)
	var all, near, own int
	var memory, nearMemory int64
	others := 0 // of another weight than light
	for _, j := range q.running {
		if j.away {
			continue
		}
		if j.as != store.Light {
			others++
		}
		if j.as != as {
			continue
		}
		all, memory = all+1, memory+j.work.Memory
		if q.networkOf(j.work) == network {
			near, nearMemory = near+1, nearMemory+j.work.Memory
		}
		if j.work.Workspace == w.Workspace {
			own++
		}
	}
	if all > 0 && own >= q.several() {
		return false
	}
	places := int64(q.workers)
	switch as {
	case store.Light:
		if others > 0 {
			return all < q.several()
		}
		return all < q.workers
	case store.Medium:
		return all < q.several()
	}
	memory, nearMemory = memory+w.Memory, nearMemory+w.Memory
	return all == 0 || all < heavyEach*q.workers && memory <= places*heavyMemory &&
		(near == 0 || near < heavyEach*q.several() && nearMemory <= int64(q.several())*heavyMemory)
}

// next chooses what begins of what waits.
func (q *Queue) next(list []store.Waiting) (w store.Waiting, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.inTurn(slices.DeleteFunc(list, func(w store.Waiting) bool { return !q.room(w.Weight, w) }))
}

// inTurn chooses what is next of what may begin: the lightest, of those whose turn it is.
// Callers hold q.mu.
func (q *Queue) inTurn(list []store.Waiting) (next store.Waiting, ok bool) {
	if len(list) == 0 {
		return next, false
	}
	since := map[store.Workspace]time.Time{}
	for _, w := range list {
		if first, ok := since[w.Workspace]; !ok || w.Since.Before(first) {
			since[w.Workspace] = w.Since
		}
	}
	served := func(w store.Waiting) (times [4]time.Time) {
		for i, key := range q.sharers(w) {
			times[i] = q.served[key]
		}
		if first := since[w.Workspace]; times[2].Before(first) {
			times[2] = first
		}
		return times
	}
	return slices.MinFunc(list, func(v, w store.Waiting) int { // the first of equals, as the store lists them
		if c := cmp.Compare(v.Weight, w.Weight); c != 0 {
			return c
		}
		one, other := served(v), served(w)
		return slices.CompareFunc(one[:], other[:], time.Time.Compare)
	}), true
}

// sharers names who has a share in the processors by some work: at each level those who share
// what one of the level before has.
func (q *Queue) sharers(w store.Waiting) [4]string {
	lane, kind := "others", " runs"
	if w.Teacher != "" {
		lane = "courses"
	}
	if w.Search {
		kind = " cells"
	}
	return [4]string{lane, q.networkOf(w), string(w.Workspace), string(w.Workspace) + kind}
}

func (q *Queue) networkOf(w store.Waiting) string {
	if w.Teacher != "" {
		return "course " + q.store.NetworkOf(w.Teacher)
	}
	return q.store.NetworkOf(w.Workspace)
}

// mostServed is for how many sharers it is kept when they were served.
const mostServed = 20_000

// serve notes that work begins. Callers hold q.mu.
func (q *Queue) serve(w store.Waiting) {
	if len(q.served) > mostServed {
		clear(q.served)
	}
	for _, key := range q.sharers(w) {
		q.served[key] = q.store.Now()
	}
}

// pay notes that work has ended which took so long: that kind of work of the workspace waits
// for as long, if the other kind has something to do. Callers hold q.mu.
func (q *Queue) pay(w store.Waiting, took time.Duration) {
	q.served[q.sharers(w)[3]] = q.store.Now().Add(took)
}

// overdue ends the turn of light work.
func (q *Queue) overdue(j *job) {
	q.mu.Lock()
	if q.running[j.key] == j && !j.over {
		switch {
		case q.room(store.Medium, j.work):
			q.goOn(j, store.Medium)
		case q.room(store.Heavy, j.work):
			q.goOn(j, store.Heavy)
		default:
			q.giveBack(j, store.Medium)
		}
	}
	q.mu.Unlock()
	q.Notify() // there may be a place
}

// goOn makes a job one of a weight. Callers hold q.mu.
func (q *Queue) goOn(j *job, as store.Weight) {
	if j.as == store.Light {
		q.shared = append(q.shared, j)
	}
	j.as = as
	q.share()
}

// giveBack ends a job that is to begin anew as one of a weight. Callers hold q.mu.
func (q *Queue) giveBack(j *job, as store.Weight) {
	j.over, j.backAs = true, as
	j.cancel(errNoRoom)
}

// rotate begins the next turn of medium and heavy work.
func (q *Queue) rotate() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.shared {
		if j.as == store.Medium && !j.over && j.worked() >= mediumTurns*q.turn {
			if q.room(store.Heavy, j.work) {
				j.as = store.Heavy
			} else {
				q.giveBack(j, store.Heavy)
			}
			q.Notify()
		}
	}
	if n := q.left(); n < len(q.shared) {
		q.shared = slices.Concat(q.shared[n:], q.shared[:n])
	}
	q.share()
}

// left is how many places light work leaves to other work. Callers hold q.mu.
func (q *Queue) left() int {
	n := q.workers
	for _, j := range q.running {
		if !j.away && j.as == store.Light {
			n--
		}
	}
	return max(1, n)
}

// share lets as much medium and heavy work go on as there are places, and holds the rest.
// Callers hold q.mu.
func (q *Queue) share() {
	n := q.left()
	for i, j := range q.shared {
		j.hold(i >= n)
	}
}

// hold lets a job wait, or go on. The time in which it waits is not time that it worked.
// Callers hold the queue's mu.
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

// worked is for how long a job was not held. Callers hold the queue's mu.
func (j *job) worked() time.Duration {
	if j.since.IsZero() {
		return j.before
	}
	return j.before + time.Since(j.since)
}

// Held tells whether a run that is under way waits while other work has its turn.
func (q *Queue) Held(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.running[id]
	return j != nil && j.resume != nil
}
