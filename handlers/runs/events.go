package runs

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Events streams the state of a run: its current status, then the progress of the solver
// and every change of status, until the run ends.
func (a *Handler) Events(w http.ResponseWriter, r *http.Request) error {
	events, err := a.Jobs.Subscribe(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	var told store.Status
	return web.Stream(w, r, events, func(e jobs.Event) (string, any) {
		if e.Status != told { // more important than a step that may come with it
			told, e.Step = e.Status, nil
		}
		return e.Message()
	})
}
