package handlers

import (
	"net/http"

	"marginlab/handlers/frame"
	homeview "marginlab/views/home"
)

// DeletedPage lists what can be restored.
func (a *App) DeletedPage(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Store.Deletions(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := homeview.Deleted{Page: a.Frame("Recently deleted", "")}
	for _, d := range list {
		p.Rows = append(p.Rows, *frame.ShownDeletion(d))
	}
	return a.Render(w, r, homeview.DeletedPage(p))
}

// Restore is Restored for a page.
func (a *App) Restore(w http.ResponseWriter, r *http.Request) error {
	d, err := a.Restored(r)
	if err != nil {
		return err
	}
	switch {
	case d.Courses > 0:
		return frame.Redirect(w, r, "/courses")
	case d.Datasets > 0:
		return frame.Redirect(w, r, "/datasets")
	case d.Reports > 0:
		return frame.Redirect(w, r, "/reports")
	}
	return frame.Redirect(w, r, frame.Back(r, "/runs"))
}
