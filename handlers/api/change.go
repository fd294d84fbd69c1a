package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/web"
)

// BeginChange sends what would change the result of a run. A long computation continues in the
// background: the response then gives its progress and the URL to poll.
func (a *Handler) BeginChange(w http.ResponseWriter, r *http.Request) error {
	return a.answerChange(w, r, true)
}

// Change is BeginChange for a result that is known or being computed.
func (a *Handler) Change(w http.ResponseWriter, r *http.Request) error {
	return a.answerChange(w, r, false)
}

// CancelChange cancels the computation.
func (a *Handler) CancelChange(w http.ResponseWriter, r *http.Request) error {
	of, err := a.changeOf(r)
	if err != nil {
		return err
	}
	id, err := of.ID()
	if err != nil {
		return err
	}
	a.Senses.Cancel(web.Token(r.Context()), id)
	return web.NoContent(w, r)
}

func (a *Handler) changeOf(r *http.Request) (background.Question, error) {
	run, err := a.Store.RunWithoutModels(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return background.Question{}, err
	}
	return a.ChangeOf(r.Context(), run)
}

func (a *Handler) answerChange(w http.ResponseWriter, r *http.Request, begin bool) error {
	of, err := a.changeOf(r)
	if err != nil {
		return err
	}
	s, now, err := a.Sense(r.Context(), of, begin, a.Patience)
	if err != nil {
		return err
	}
	if s != nil {
		return web.JSON(w, http.StatusOK, s)
	}
	w.Header().Set("Location", r.URL.Path)
	w.Header().Set("Retry-After", "1")
	return web.JSON(w, http.StatusAccepted, newJob(*now))
}
