package api

import (
	"net/http"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/web"
)

// ChangeQuestion returns the question what would change the result of a run.
func (a *Handler) ChangeQuestion(r *http.Request) (background.Question, error) {
	run, err := frame.ByID(a.Store.RunWithoutModels)(r)
	if err != nil {
		return background.Question{}, err
	}
	return a.ChangeOf(r.Context(), run)
}

// CancelChange cancels the computation.
func (a *Handler) CancelChange(w http.ResponseWriter, r *http.Request, of background.Question) error {
	id, err := of.ID()
	if err != nil {
		return err
	}
	a.Senses.Cancel(web.Token(r.Context()), id)
	return web.NoContent(w, r)
}

// Change sends what would change the result of a run. A POST begins to compute it, a GET is for a
// result that is known or being computed. A long computation continues in the background: the
// response then gives its progress and the URL to poll.
func (a *Handler) Change(w http.ResponseWriter, r *http.Request, of background.Question) error {
	s, now, err := a.Sense(r.Context(), of, r.Method == http.MethodPost, a.Patience)
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
