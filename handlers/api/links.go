package api

import (
	"net/http"
	"time"

	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/web"
)

// Link is a view of the lab under an address that others can open.
type Link struct {
	Token   string    `json:"token"`
	URL     string    `json:"url"`
	Title   string    `json:"title"`
	Hash    string    `json:"hash,omitempty"` // of the points stored with it
	Created time.Time `json:"created"`
}

func (a *Handler) newLink(r *http.Request, l store.Link) Link {
	return Link{l.Token, a.Base.Links.Origin(r) + "/l/" + l.Token, l.Title, l.Hash, l.Created}
}

// Links lists the workspace's links.
func (a *Handler) Links(w http.ResponseWriter, r *http.Request) error {
	return all(w, r, "links", a.Store.Links, func(l store.Link) Link { return a.newLink(r, l) })
}

// CreateLink stores the lab with a data set and settings under a link. It is idempotent.
func (a *Handler) CreateLink(w http.ResponseWriter, r *http.Request) error {
	asked, err := readSpecOn(w, r)
	if err != nil {
		return err
	}
	points, err := a.points(r, asked.Dataset)
	if err != nil {
		return err
	}
	n := store.NewLink{Title: asked.Spec.Name(nil) + " · " + points.Name, Target: "/lab?" + asked.query().Encode(), Request: frame.RequestOf(r)}
	if !frame.IsPublic(asked.Dataset) {
		n.Points, n.Data = points.Data, points.Name
	}
	l, err := a.Store.CreateLink(r.Context(), frame.Workspace(r.Context()), n)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusCreated, a.newLink(r, l))
}
