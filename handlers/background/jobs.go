package background

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"marginlab/handlers/results"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Job is an unfinished run, search, study, regularisation path or sensitivity.
type Job struct {
	Kind    string // "run", "search", "study", "path" or "sensitivity"
	ID      string
	Name    string
	Data    string
	Page    string // URL of its page
	Status  store.Status
	Created time.Time
	Elapsed time.Duration // since its start; 0 while it waits
	// Done of Total units, such as cells, are done; both are 0 if the total is unknown.
	Done, Total int
	Unit        string
	Step        *trace.Step   // last report of a solver; nil: none yet
	Left        time.Duration // estimated from its pace while computed; 0: unknown
	Waits       bool          // paused while other work has its turn
	Queue       string        // position of a waiting run, as in Work.Waits
}

// UnderWay lists the unfinished jobs of a workspace: running ones, then waiting ones, oldest
// first.
func (a *Work) UnderWay(ctx context.Context, ws store.Workspace) ([]Job, error) {
	runs, _, err := a.store.Runs(ctx, ws, store.Filter{Where: store.MustQuery("status = queued or status = running")})
	if err != nil {
		return nil, err
	}
	searches, err := a.store.UnderWay(ctx, ws)
	if err != nil {
		return nil, err
	}
	now := a.store.Now()
	elapsed := func(started time.Time) time.Duration {
		if started.IsZero() {
			return 0
		}
		return max(now.Sub(started), 0)
	}
	var list []Job
	for _, r := range runs {
		j := Job{Kind: "run", ID: r.ID, Name: r.Name, Data: r.DatasetName, Page: "/runs/" + r.ID, Status: r.Status, Created: r.Created, Elapsed: elapsed(r.Started)}
		if r.Status == store.Queued {
			if j.Queue, err = a.Waits(ctx, r.ID); err != nil {
				return nil, err
			}
		}
		if e, ok := a.queue.Latest(r.ID); ok && e.Step != nil {
			j.Step = e.Step
			switch s := e.Step; {
			case s.Rows > 0:
				j.Done, j.Total, j.Unit = s.Done, s.Rows, "rows"
			case s.Machines > 0:
				j.Done, j.Total, j.Unit = s.Machine-1, s.Machines, "machines"
				j.Left = trace.AtPace(j.Elapsed, j.Done, s.Machines-j.Done)
			default:
				j.Left = e.Left
			}
		}
		list = append(list, j)
	}
	for _, s := range searches {
		j := Job{Kind: "search", ID: s.ID, Name: results.SearchTitle(s), Data: s.DatasetName, Page: "/searches/" + s.ID, Status: s.Status, Created: s.Created, Elapsed: elapsed(s.Started), Done: s.Done, Total: s.Total, Unit: "cells"}
		j.Left, j.Waits = a.Left(s)
		list = append(list, j)
	}
	studies, err := a.store.StudiesUnderWay(ctx, ws)
	if err != nil {
		return nil, err
	}
	for _, s := range studies {
		j := Job{Kind: "study", ID: s.ID, Name: s.Title, Page: "/studies/" + s.ID, Status: store.Running, Created: s.Created, Unit: "cells"}
		if s.Status() == store.Queued {
			j.Status = store.Queued
		}
		j.Done, _, j.Total = s.Cells()
		var started time.Time
		for _, one := range s.Searches {
			if !one.Started.IsZero() && (started.IsZero() || one.Started.Before(started)) {
				started = one.Started
			}
		}
		j.Elapsed = elapsed(started)
		j.Left, j.Waits = a.Left(s.Searches...)
		list = append(list, j)
	}
	list = append(list, append(a.Paths.UnderWay(web.Token(ctx)), a.Senses.UnderWay(web.Token(ctx))...)...)
	slices.SortStableFunc(list, func(x, y Job) int {
		if c := cmp.Compare(x.Status, y.Status); c != 0 { // queued jobs last
			return -c
		}
		return x.Created.Compare(y.Created)
	})
	return list, nil
}

// turned is how long a search must be without a running cell to be shown as paused, because there
// are short gaps between cells.
const turned = 2 * time.Second

// Left estimates the remaining computing time of started searches from the time their cells took,
// excluding pauses; 0 if unknown. waits reports that they are paused for other work.
func (a *Work) Left(searches ...store.Search) (left time.Duration, waits bool) {
	var all jobs.Work
	var open int
	idle := time.Duration(-1) // the shortest of all searches
	for _, s := range searches {
		if !s.Status.Ended() {
			open += s.Total - s.Done
		}
		if w, ok := a.queue.Worked(s.ID); ok {
			all.Took, all.Cells = all.Took+w.Took, all.Cells+w.Cells
			if idle < 0 || w.Idle < idle {
				idle = w.Idle
			}
		}
	}
	if idle > turned {
		return 0, true
	}
	return trace.AtPace(all.Took, all.Cells, open), false
}

// Progress describes the progress of a job in its units.
func (j Job) Progress() string {
	switch {
	case j.Status == store.Queued:
		return "Waiting for its turn" + j.Queue
	case j.Waits:
		return fmt.Sprintf("%d of %d cells, waiting for its turn", j.Done, j.Total)
	case j.Unit == "cells":
		return fmt.Sprintf("%d of %d cells", j.Done, j.Total)
	case j.Step == nil && j.Kind == "run":
		return "Training"
	case j.Step == nil:
		return "Starting"
	}
	return j.Step.String()
}

// Waits describes the position of a queued run and, for a long one, why others go first. It is
// empty for a run that is next or has just been queued.
func (a *Work) Waits(ctx context.Context, run string) (text string, err error) {
	all, err := a.places.get(ctx, a.store)
	p, ok := all[run]
	if err != nil || !ok {
		return "", err
	}
	if p.Weight > store.Light {
		text = "; shorter runs go first"
	}
	switch p.Before {
	case 0:
		return text, nil
	case 1:
		return text + "; 1 run before it", nil
	}
	return fmt.Sprintf("%s; about %d runs before it", text, p.Before), nil
}

// places caches the positions of queued runs for a second, because a full queue is long and polled
// often.
type places struct {
	mu sync.Mutex
	at time.Time
	of map[string]store.Place
}

func (p *places) get(ctx context.Context, st *store.Store) (map[string]store.Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of != nil && time.Since(p.at) < time.Second {
		return p.of, nil
	}
	of, err := st.Places(ctx)
	if err == nil {
		p.at, p.of = time.Now(), of
	}
	return of, err
}
