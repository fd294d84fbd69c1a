package runs

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/store"
	runsview "marginlab/views/runs"
)

// SharedRun finds the run of a read-only link.
func (a *Handler) SharedRun(r *http.Request) (store.Run, error) {
	return a.Store.SharedRun(r.Context(), chi.URLParam(r, "token"))
}

// SharedRunWithoutModels is SharedRun without models.
func (a *Handler) SharedRunWithoutModels(r *http.Request) (store.Run, error) {
	return a.Store.SharedRunWithoutModels(r.Context(), chi.URLParam(r, "token"))
}

// Shared shows the run of a read-only link.
func (a *Handler) Shared(w http.ResponseWriter, r *http.Request, run store.Run) error {
	token := chi.URLParam(r, "token")
	p, err := a.view(r, run, "/shared/"+token+"/figures/")
	if err != nil {
		return err
	}
	p.Page = a.Frame(run.Name, "")
	p.Bare, p.TagList, p.Clone = true, run.Tags, copyOf(run, token)
	p.ShareURL = a.Links.Origin(r) + "/shared/" + token
	if p.ShareQR, err = pictures.QR(r.Context(), p.ShareURL); err != nil {
		return err
	}
	return a.Render(w, r, runsview.RunPage(p))
}

// copyOf returns the URL that opens the lab with the settings and points of a shared run.
func copyOf(run store.Run, token string) string {
	q := cloneQuery(run)
	q.Set("data", frame.OfShared+token)
	return "/lab?" + q.Encode()
}

// NewShared returns a Reader of runs identified by the tokens of their read-only links.
func NewShared(h *frame.Base) *Reader {
	by := func(find func(context.Context, string) (store.Run, error)) func(context.Context, store.Workspace, string) (store.Run, error) {
		return func(ctx context.Context, _ store.Workspace, token string) (store.Run, error) {
			r, err := find(ctx, token)
			r.ID = token
			return r, err
		}
	}
	return &Reader{h, func(*http.Request) (results.Collection, error) { return results.Collection{Base: "/shared"}, nil }, by(h.Store.SharedRun), by(h.Store.SharedRunWithoutModels)}
}

// ShareComparison creates read-only links of the compared runs, and thus of the comparison.
func (a *Handler) ShareComparison(w http.ResponseWriter, r *http.Request) error {
	if err := results.ToCompare(r.PostForm["run"]); err != nil {
		return err
	}
	for _, id := range r.PostForm["run"] {
		if _, err := a.Store.ShareRun(r.Context(), frame.Workspace(r.Context()), id); err != nil {
			return err
		}
	}
	return frame.Redirect(w, r, "/compare?"+r.PostForm.Encode()+"#h-share")
}

// sharedComparison returns the path and query of a comparison by tokens, empty unless all runs
// are shared.
func sharedComparison(runs []store.Run, q url.Values) string {
	to := only(q)
	to.Del("folds") // ids of the workspace's searches
	tokens := map[string]string{}
	for _, r := range runs {
		if r.Share == "" {
			return ""
		}
		tokens[r.ID] = r.Share
	}
	for _, key := range []string{"run", "base", "draw"} {
		for i, id := range to[key] {
			to[key][i] = tokens[id]
		}
	}
	return "/shared/compare?" + to.Encode()
}
