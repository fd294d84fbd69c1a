package runs

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/door"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// Events sends the state of a run as it changes: the status as it is first,
// then the progress of the solver and every change of the status. It ends with
// the status that ends the run.
func (a *Handler) Events(w http.ResponseWriter, r *http.Request) error {
	events, err := a.Jobs.Subscribe(r.Context(), door.Workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	var told store.Status
	return web.Stream(w, r, events, func(e jobs.Event) (string, any) {
		if e.Status != told { // worth more than the step that may come with it
			told, e.Step = e.Status, nil
		}
		return e.Message()
	})
}
