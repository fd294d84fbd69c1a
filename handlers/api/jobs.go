package api

import (
	"net/http"
	"slices"
	"time"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/ml/lists"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/web"
)

// Job is a running or queued run, search, study, regularisation path or sensitivity in JSON.
type Job struct {
	Kind    string       `json:"kind"` // "run", "search", "study", "path" or "sensitivity"
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Dataset string       `json:"dataset_name"`
	Status  store.Status `json:"status"`
	Created time.Time    `json:"created"`
	Done    int          `json:"done"`
	Total   int          `json:"total"` // 0: unknown
	Unit    string       `json:"unit,omitempty"`
	Text    string       `json:"progress"` // in words
	Step    *trace.Step  `json:"step,omitempty"`
	Elapsed float64      `json:"elapsed_seconds"`
	Left    *float64     `json:"left_seconds"` // estimated; null: unknown
}

func newJob(j background.Job) Job {
	job := Job{j.Kind, j.ID, j.Name, j.Data, j.Status, j.Created, j.Done, j.Total, j.Unit, j.Progress(), j.Step, j.Elapsed.Round(time.Millisecond).Seconds(), nil}
	if left := j.Left.Seconds(); left > 0 {
		job.Left = &left
	}
	return job
}

// ListJobs lists the queued and running jobs.
func (a *Handler) ListJobs(w http.ResponseWriter, r *http.Request) error {
	return all(w, r, "jobs", a.UnderWay, newJob)
}

// jobsPause is the interval at which JobEvents checks the jobs for changes.
const jobsPause = 500 * time.Millisecond

// JobEvents sends the jobs in the form of ListJobs, at the start and after every change.
func (a *Handler) JobEvents(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	look := func() ([]Job, error) {
		list, err := a.UnderWay(ctx, frame.Workspace(ctx))
		return lists.Map(list, newJob), err
	}
	last, err := look()
	if err != nil {
		return err
	}
	events := make(chan []Job, 1)
	events <- last
	go func() {
		defer close(events)
		tick := time.NewTicker(jobsPause)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			now, err := look()
			if err != nil {
				return // the client reconnects
			}
			if slices.EqualFunc(now, last, sameJob) {
				continue
			}
			select {
			case events <- now:
				last = now
			case <-ctx.Done():
				return
			}
		}
	}()
	return web.Stream(w, r, events, func(jobs []Job) (string, any) {
		return "jobs", struct {
			Jobs []Job `json:"jobs"`
		}{jobs}
	})
}

// sameJob reports whether two states of a job differ at most in the elapsed time.
func sameJob(a, b Job) bool {
	return a.ID == b.ID && a.Status == b.Status && a.Done == b.Done && a.Total == b.Total && a.Text == b.Text
}
