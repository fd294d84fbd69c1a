package lab

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/store"
	labview "marginlab/views/lab"
	"marginlab/web"
)

// MakeLink stores the lab's state under a short link and shows it in the list of links.
func (a *Handler) MakeLink(w http.ResponseWriter, r *http.Request, b *bench) error {
	if b.course != nil {
		return web.Errorf(web.Forbidden, "A view of a course cannot be linked: share the code of the course.")
	}
	_, err := a.Store.CreateLink(r.Context(), frame.Workspace(r.Context()), b.newLink())
	return frame.Done(w, r, "/links", err)
}

// newLink returns the bench as a view to store under a link.
func (b *bench) newLink() store.NewLink {
	s := b.setting()
	s.Query.Del("points") // stored separately
	return store.NewLink{Title: s.Title, Target: s.Path + "?" + s.Query.Encode(), Points: s.Points, Data: s.Data}
}

// ListLinks lists the links of the workspace.
func (a *Handler) ListLinks(w http.ResponseWriter, r *http.Request) error {
	links, err := a.Store.Links(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := labview.Links{Page: a.Frame("Your links", "")}
	for i, l := range links {
		row := labview.LinkRow{Token: l.Token, Title: l.Title, Address: a.Links.Origin(r) + "/l/" + l.Token, Data: l.Data, Created: l.Created}
		if i == 0 {
			if row.QR, err = pictures.QR(r.Context(), row.Address); err != nil {
				return err
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return a.Render(w, r, labview.LinksPage(p))
}

// OpenLink redirects to the lab in the state stored under a link.
func (a *Handler) OpenLink(w http.ResponseWriter, r *http.Request) error {
	l, err := a.Store.Link(r.Context(), chi.URLParam(r, "token"))
	if err != nil {
		return err
	}
	page, query, _ := strings.Cut(l.Target, "?")
	q, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	if l.Hash != "" {
		q.Set("data", frame.OfLink+l.Token)
	}
	return frame.Redirect(w, r, page+"?"+q.Encode())
}
