package runs

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"marginlab/views"
)

// Shared shows the run of a read-only link.
func (a *Room) Shared(w http.ResponseWriter, r *http.Request) error {
	token := chi.URLParam(r, "token")
	run, err := a.Store.SharedRun(r.Context(), token)
	if err != nil {
		return err
	}
	p, err := a.view(r, run, "/shared/"+token+"/figures/")
	if err != nil {
		return err
	}
	p.Page = a.Frame(run.Name, "")
	p.Bare = true
	return a.Render(w, r, views.RunPage(p))
}

// SharedFigure sends a picture of the run of a read-only link.
func (a *Room) SharedFigure(w http.ResponseWriter, r *http.Request) error {
	run, err := a.Store.SharedRun(r.Context(), chi.URLParam(r, "token"))
	if err != nil {
		return err
	}
	return a.send(w, r, run)
}
