package frame

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/results"
	"marginlab/store"
	"marginlab/views"
)

// Deleted redirects to a list that offers to undo the deletion just made.
func (a *Base) Deleted(w http.ResponseWriter, r *http.Request, to string) error {
	list, err := a.Store.Deletions(r.Context(), Workspace(r.Context()))
	if err != nil {
		return err
	}
	if len(list) > 0 {
		u, err := url.Parse(to)
		if err != nil {
			return err
		}
		q := u.Query()
		q.Set("deleted", DeletionID(list[0]))
		u.RawQuery = q.Encode()
		to = u.String()
	}
	return Redirect(w, r, to)
}

// DeletionID names a deletion in addresses.
func DeletionID(d store.Deletion) string { return strconv.FormatInt(d.At.UnixMilli(), 10) }

// Undo returns the deletion named in the URL, to be shown in a list, and whether the workspace has
// any.
func (a *Base) Undo(r *http.Request) (u views.Undo, err error) {
	list, err := a.Store.Deletions(r.Context(), Workspace(r.Context()))
	if err != nil {
		return u, err
	}
	u.Any = len(list) > 0
	for _, d := range list {
		if DeletionID(d) == r.URL.Query().Get("deleted") {
			latest := ShownDeletion(d)
			u.Latest = &latest
		}
	}
	return u, nil
}

// ShownDeletion returns the view of a deletion.
func ShownDeletion(d store.Deletion) views.Deletion {
	v := views.Deletion{ID: DeletionID(d), What: d.String(), Until: results.When(d.At.Add(store.UndoFor))}
	if v.Names = strings.Join(d.Names, ", "); d.Runs+d.Datasets+d.Courses+d.Reports > len(d.Names) {
		v.Names += ", …"
	}
	return v
}

// Restored restores the deletion named in the path of a request.
func (a *Base) Restored(r *http.Request) (store.Deletion, error) {
	ms, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil {
		return store.Deletion{}, store.ErrNotFound
	}
	return a.Store.Restore(r.Context(), Workspace(r.Context()), time.UnixMilli(ms))
}

// Back returns the URL of the list that a form came from, with its query.
func Back(r *http.Request, list string) string {
	if to := r.PostFormValue("back"); strings.HasPrefix(to, list+"?") {
		return to
	}
	return list
}
