package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"marginlab/handlers/background"
	"marginlab/handlers/frame"
	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/web"
)

// specOn is a spec on a data set, the body of links and regularisation paths.
type specOn struct {
	Dataset string  `json:"dataset"`
	Spec    ml.Spec `json:"spec"`
}

// readSpecOn reads a body; omitted parameters take their defaults.
func readSpecOn(w http.ResponseWriter, r *http.Request) (specOn, error) {
	asked := specOn{Spec: ml.DefaultSpec()}
	return asked, web.ReadJSON(w, r, BodyBytes, &asked)
}

// query returns the query of the lab, or of its regularisation path, for the data set and spec.
func (s specOn) query() url.Values {
	q := frame.SpecQuery(s.Spec)
	q.Set("data", s.Dataset)
	return q
}

// Regularise sends the regularisation path of a machine. A long computation continues in the
// background: the response then gives its progress and the URL to poll.
func (a *Handler) Regularise(w http.ResponseWriter, r *http.Request) error {
	asked, err := readSpecOn(w, r)
	if err != nil {
		return err
	}
	return a.answerPath(w, r, asked, true)
}

// FollowRegularisation is Regularise for a path that is known or being computed.
func (a *Handler) FollowRegularisation(w http.ResponseWriter, r *http.Request) error {
	asked, err := askedPath(r.URL.Query())
	if err != nil {
		return err
	}
	return a.answerPath(w, r, asked, false)
}

// CancelRegularisation cancels a running path, given by its job id or by its data set and spec.
func (a *Handler) CancelRegularisation(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	id := q.Get("id")
	if id == "" {
		asked, err := askedPath(q)
		if err != nil {
			return err
		}
		of, err := a.pathOf(r, asked)
		if err != nil {
			return err
		}
		if id, err = of.ID(); err != nil {
			return err
		}
	}
	a.Paths.Cancel(web.Token(r.Context()), id)
	return web.NoContent(w, r)
}

// askedPath reads a specOn from a query.
func askedPath(q url.Values) (specOn, error) {
	asked := specOn{Dataset: q.Get("dataset"), Spec: ml.DefaultSpec()}
	if text := q.Get("spec"); text != "" {
		if err := json.Unmarshal([]byte(text), &asked.Spec); err != nil {
			if errors.As(err, new(param.Problems)) {
				return asked, err
			}
			return asked, param.Problems{{Field: "spec", Message: "spec expects a spec as JSON: " + err.Error()}}
		}
	}
	return asked, nil
}

func (a *Handler) pathOf(r *http.Request, asked specOn) (background.Question, error) {
	points, err := a.points(r, asked.Dataset)
	return background.Question{From: points.Name, Data: points.Data, Hash: points.Hash, Spec: asked.Spec, Page: "/path?" + asked.query().Encode()}, err
}

func (a *Handler) answerPath(w http.ResponseWriter, r *http.Request, asked specOn, begin bool) error {
	of, err := a.pathOf(r, asked)
	if err != nil {
		return err
	}
	spec, err := asked.Spec.MarshalJSON()
	if err != nil {
		return err
	}
	path, now, err := a.Base.Regularise(r.Context(), of, begin, a.Patience)
	return sendResult(w, path, now, err, "/api/path?"+url.Values{"dataset": {asked.Dataset}, "spec": {string(spec)}}.Encode())
}

// sendResult sends a result of background work or, while there is none, its progress and the URL to poll.
func sendResult[R any](w http.ResponseWriter, result *R, now *background.Job, err error, poll string) error {
	switch {
	case err != nil:
		return err
	case result != nil:
		return web.JSON(w, http.StatusOK, result)
	}
	w.Header().Set("Location", poll)
	w.Header().Set("Retry-After", "1")
	return web.JSON(w, http.StatusAccepted, newJob(*now))
}

// ChangeQuestion returns the question of what would change the result of a run.
func (a *Handler) ChangeQuestion(r *http.Request) (background.Question, error) {
	run, err := frame.ByID(a.Store.RunWithoutModels)(r)
	if err != nil {
		return background.Question{}, err
	}
	return a.ChangeOf(r.Context(), run)
}

// CancelChange cancels the computation of what would change a result.
func (a *Handler) CancelChange(w http.ResponseWriter, r *http.Request, of background.Question) error {
	id, err := of.ID()
	if err != nil {
		return err
	}
	a.Senses.Cancel(web.Token(r.Context()), id)
	return web.NoContent(w, r)
}

// Change sends what would change the result of a run. A POST starts the computation; a GET requires
// a result that is known or being computed. A long computation continues in the background: the
// response then gives its progress and the URL to poll.
func (a *Handler) Change(w http.ResponseWriter, r *http.Request, of background.Question) error {
	s, now, err := a.Senses.Result(r.Context(), of, r.Method == http.MethodPost, a.Patience)
	return sendResult(w, s, now, err, r.URL.Path)
}
