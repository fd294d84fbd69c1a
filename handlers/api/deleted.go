package api

import (
	"net/http"
	"time"

	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/web"
)

// Deletion describes the items deleted in one step, in JSON.
type Deletion struct {
	ID       string    `json:"id"`
	Deleted  time.Time `json:"deleted"`
	Until    time.Time `json:"until"` // it can be undone until then
	Runs     int       `json:"runs"`
	Datasets int       `json:"datasets"`
	Courses  int       `json:"courses"`
	Reports  int       `json:"reports"`
	Names    []string  `json:"names"` // the first of them
}

func newDeletion(d store.Deletion) Deletion {
	return Deletion{frame.DeletionID(d), d.At, d.At.Add(store.UndoFor), d.Runs, d.Datasets, d.Courses, d.Reports, d.Names}
}

// Deleted lists what can be restored.
func (a *Handler) Deleted(w http.ResponseWriter, r *http.Request) error {
	return all(w, r, "deleted", a.Store.Deletions, newDeletion)
}

// Restore undoes a deletion.
func (a *Handler) Restore(w http.ResponseWriter, r *http.Request) error {
	d, err := a.Restored(r)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, newDeletion(d))
}
