package handlers

import (
	"net/http"

	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// stream sends the state of a run as it changes: the status as it is first, then
// the progress of the solver and every change of the status. It ends with the
// status that ends the run.
func (a *App) stream(w http.ResponseWriter, r *http.Request, id string) error {
	events, err := a.jobs.Subscribe(r.Context(), workspace(r.Context()), id)
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
