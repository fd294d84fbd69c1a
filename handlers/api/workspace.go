package api

import (
	_ "embed"
	"net/http"
	"time"

	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/web"
)

// Workspace describes the contents of the request's workspace, in JSON.
type Workspace struct {
	Datasets int   `json:"datasets"`
	Runs     int   `json:"runs"`
	Searches int   `json:"searches"`
	Courses  int   `json:"courses"`
	Reports  int   `json:"reports"`
	Bytes    int64 `json:"bytes"`

	// Limits, omitted if unlimited.
	MaxDatasets int   `json:"max_datasets,omitempty"`
	MaxRuns     int   `json:"max_runs,omitempty"`
	MaxBytes    int64 `json:"max_bytes,omitempty"`
}

// Workspace sends the contents and limits of the workspace.
func (a *Handler) Workspace(w http.ResponseWriter, r *http.Request) error {
	h, err := a.Store.Holdings(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	q := a.Store.Quota
	return web.JSON(w, http.StatusOK, Workspace{h.Datasets, h.Runs, h.Searches, h.Courses, h.Reports, h.Bytes, q.Datasets, q.Runs, q.Bytes})
}

// Client sends the Python module that speaks to this server.
func (a *Handler) Client(w http.ResponseWriter, _ *http.Request) error {
	frame.Attach(w, "marginlab.py", "text/x-python; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, err := w.Write(client)
	return err
}

//go:embed client.py
var client []byte

// DeleteWorkspace deletes all that the workspace holds.
func (a *Handler) DeleteWorkspace(w http.ResponseWriter, r *http.Request) error {
	if err := a.Store.DeleteWorkspace(r.Context(), frame.Workspace(r.Context())); err != nil {
		return err
	}
	return web.NoContent(w, r)
}

// ImportWorkspace adds the archive in the body to the workspace.
func (a *Handler) ImportWorkspace(w http.ResponseWriter, r *http.Request) error {
	file, size, err := web.Spool(w, r, store.MaxArchive)
	if err != nil {
		return err
	}
	defer file.Close()
	done, err := a.TakeIn(r.Context(), w, file, size)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, done)
}

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
