package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/web"
)

// PathProgress is how far a path over C is, in JSON.
type PathProgress struct {
	Status  string      `json:"status"` // "queued" or "running"
	Text    string      `json:"progress"`
	Done    int         `json:"done"`
	Total   int         `json:"total"` // 0: nobody knows how much there is to do
	Step    *trace.Step `json:"step,omitempty"`
	Elapsed float64     `json:"elapsed_seconds"`
	Left    *float64    `json:"left_seconds"` // estimated; null: not known
}

// pathOf is what a path over C is asked for of.
type pathOf struct {
	Dataset string  `json:"dataset"`
	Spec    ml.Spec `json:"spec"`
}

// Regularise answers with what becomes of a machine as C rises. What takes longer than the
// patience with a page goes on: the answer tells how far it is, and where to look again.
func (a *Room) Regularise(w http.ResponseWriter, r *http.Request) error {
	asked := pathOf{Spec: ml.DefaultSpec()}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	return a.answerPath(w, r, asked, true)
}

// FollowRegularisation answers as Regularise, for a path that is known or under way.
func (a *Room) FollowRegularisation(w http.ResponseWriter, r *http.Request) error {
	asked, err := askedPath(r)
	if err != nil {
		return err
	}
	return a.answerPath(w, r, asked, false)
}

// CancelRegularisation gives up a path that is under way.
func (a *Room) CancelRegularisation(w http.ResponseWriter, r *http.Request) error {
	asked, err := askedPath(r)
	if err != nil {
		return err
	}
	points, err := a.points(r, asked.Dataset)
	if err != nil {
		return err
	}
	if err := a.CancelPath(r.Context(), points.Hash, asked.Spec); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// askedPath reads from the query what Regularise reads from the body.
func askedPath(r *http.Request) (pathOf, error) {
	asked := pathOf{Spec: ml.DefaultSpec()}
	q, err := query(r, "dataset", "spec")
	if err != nil {
		return asked, err
	}
	asked.Dataset = q.Get("dataset")
	if text := q.Get("spec"); text != "" {
		if err := json.Unmarshal([]byte(text), &asked.Spec); err != nil {
			if errors.As(err, new(param.Problems)) {
				return asked, err
			}
			return asked, param.Problems{{Field: "spec", Message: "spec expects the JSON of a spec: " + err.Error()}}
		}
	}
	return asked, nil
}

func (a *Room) answerPath(w http.ResponseWriter, r *http.Request, asked pathOf, begin bool) error {
	points, err := a.points(r, asked.Dataset)
	if err != nil {
		return err
	}
	path, now, err := a.House.Regularise(r.Context(), points.Hash, points.Data, asked.Spec, begin, a.Patience)
	if err != nil {
		return err
	}
	if path != nil {
		return web.JSON(w, http.StatusOK, path)
	}
	spec, err := asked.Spec.MarshalJSON()
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/path?"+url.Values{"dataset": {asked.Dataset}, "spec": {string(spec)}}.Encode())
	w.Header().Set("Retry-After", "1")
	p := PathProgress{Status: "running", Text: now.Text(), Elapsed: now.Elapsed.Round(time.Millisecond).Seconds()}
	p.Done, p.Total = now.Done()
	switch {
	case now.Waiting:
		p.Status = "queued"
	case now.Step != trace.Step{}:
		p.Step = &now.Step
	}
	if left := now.Left.Seconds(); left > 0 {
		p.Left = &left
	}
	return web.JSON(w, http.StatusAccepted, p)
}
