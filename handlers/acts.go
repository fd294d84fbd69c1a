package handlers

import (
	"context"
	"net/http"
	"path"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/api"
	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/web"
)

// act returns a handler that does something to what {id} of an address names, in the workspace of
// the request, and then answers.
func act(do func(ctx context.Context, ws store.Workspace, id string) error, answer web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := do(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id")); err != nil {
			return err
		}
		return answer(w, r)
	}
}

// share returns what act does with a function that makes a read-only link, which the page shows.
func share(make func(ctx context.Context, ws store.Workspace, id string) (token string, err error)) func(context.Context, store.Workspace, string) error {
	return func(ctx context.Context, ws store.Workspace, id string) error {
		_, err := make(ctx, ws, id)
		return err
	}
}

// deleteRun deletes a run and stops its training.
func (a *App) deleteRun(ctx context.Context, ws store.Workspace, id string) error {
	return a.Jobs.Delete(ctx, ws, []string{id})
}

// toCancelled leads from /LIST/ID/cancel to the page of what was cancelled.
func toCancelled(w http.ResponseWriter, r *http.Request) error {
	return frame.Cancelled(w, r, path.Dir(r.URL.Path))
}

// toShared leads from /LIST/ID/share to the read-only link on the page.
func toShared(w http.ResponseWriter, r *http.Request) error {
	return frame.Redirect(w, r, path.Dir(r.URL.Path)+"#h-share")
}

// toUndo leads from /LIST/ID/delete to the list, which offers to undo that.
func (a *App) toUndo(w http.ResponseWriter, r *http.Request) error {
	return a.Deleted(w, r, listOf(r))
}

// toList leads from /LIST/ID/delete to the list.
func toList(w http.ResponseWriter, r *http.Request) error {
	return frame.Redirect(w, r, listOf(r))
}

func listOf(r *http.Request) string { return path.Dir(path.Dir(r.URL.Path)) }

// sendCancelled answers a program that cancelled something.
func sendCancelled(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, http.StatusAccepted, api.RunStatus{ID: chi.URLParam(r, "id"), Status: store.Cancelled})
}
