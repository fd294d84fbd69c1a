package api

import (
	"testing"

	"marginlab/ml/mltest/require"
)

// The events of the jobs report every change except elapsed time.
func TestSameJob(t *testing.T) {
	t.Parallel()
	job := Job{ID: "a", Status: "running", Done: 1, Total: 5, Text: "fold 1", Elapsed: 2}
	for name, change := range map[string]func(j *Job){
		"id":       func(j *Job) { j.ID = "b" },
		"status":   func(j *Job) { j.Status = "done" },
		"done":     func(j *Job) { j.Done = 2 },
		"total":    func(j *Job) { j.Total = 6 },
		"progress": func(j *Job) { j.Text = "fold 2" },
	} {
		other := job
		change(&other)
		require.Check(t, !sameJob(job, other), "another %s is the same job", name)
	}
	later := job
	later.Elapsed = 3
	require.Check(t, sameJob(job, later), "the same job a second later is another")
}
