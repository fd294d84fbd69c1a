package api

import (
	"net/http"
	"time"

	"marginlab/handlers/frame"
	"marginlab/ml/lists"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/web"
)

// Study is a study in JSON.
type Study struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	Status   store.Status  `json:"status"`
	Error    string        `json:"error,omitempty"`
	Searches []string      `json:"searches"`
	Done     int           `json:"done"`
	Total    int           `json:"total"`
	Known    int           `json:"known"`
	Created  time.Time     `json:"created"`
	Study    string        `json:"study,omitempty"`
	Result   *study.Result `json:"result,omitempty"`
}

func newStudy(s store.Study) Study {
	j := Study{ID: s.ID, Title: s.Title, Status: s.Status(), Created: s.Created, Searches: []string{}}
	j.Done, j.Known, j.Total = s.Cells()
	for _, one := range s.Searches {
		j.Searches = append(j.Searches, one.ID)
		if one.Error != "" {
			j.Error = one.Error
		}
	}
	return j
}

// Studies lists the studies of the workspace, newest first, without their results.
func (a *Handler) Studies(w http.ResponseWriter, r *http.Request) error {
	return part(w, r, "studies", page(a.Store.Studies), newStudy)
}

// CreateStudy queues a study and responds without waiting for it.
func (a *Handler) CreateStudy(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Study string `json:"study"`
	}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	s, err := a.StartStudy(r.Context(), frame.Workspace(r.Context()), frame.RequestOf(r), asked.Study)
	return accepted(w, err, "/api/studies/", RunStatus{s.ID, s.Status()})
}

// Study sends a study: its progress, and its result once done.
func (a *Handler) Study(w http.ResponseWriter, r *http.Request, s store.Study) (err error) {
	if !s.Status().Ended() {
		if err := a.await(r, lists.Map(s.Searches, func(one store.Search) string { return one.ID })...); err != nil {
			return err
		}
		if s, err = a.Store.Study(r.Context(), frame.Workspace(r.Context()), s.ID); err != nil {
			return err
		}
	}
	j := newStudy(s)
	j.Study = s.File
	if j.Status == store.Done {
		if j.Result, err = a.Store.StudyResult(r.Context(), s); err != nil {
			return err
		}
		j.Result.Study = "" // already part of the response
	}
	return web.JSON(w, http.StatusOK, j)
}
