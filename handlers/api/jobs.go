package api

import (
	"net/http"
	"time"

	"marginlab/handlers/door"
	"marginlab/ml/trace"
	"marginlab/store"
)

// Job is a run or a search that has not ended, in JSON.
type Job struct {
	Kind    string       `json:"kind"` // "run" or "search"
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Dataset string       `json:"dataset_name"`
	Status  store.Status `json:"status"`
	Created time.Time    `json:"created"`
	Done    int          `json:"done"`
	Total   int          `json:"total"` // 0: nobody knows how much there is to do
	Unit    string       `json:"unit,omitempty"`
	Step    *trace.Step  `json:"step,omitempty"`
	Elapsed float64      `json:"elapsed_seconds"`
	Left    *float64     `json:"left_seconds"` // estimated; null: not known
}

func newJob(j door.Job) Job {
	job := Job{j.Kind, j.ID, j.Name, j.Data, j.Status, j.Created, j.Done, j.Total, j.Unit, j.Step, j.Elapsed.Seconds(), nil}
	if left := j.Left.Seconds(); left > 0 {
		job.Left = &left
	}
	return job
}

// ListJobs lists what is under way.
func (a *Room) ListJobs(w http.ResponseWriter, r *http.Request) error {
	return all(w, r, "jobs", a.UnderWay, newJob)
}
