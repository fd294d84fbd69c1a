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

// act returns a handler that calls do with the {id} of the path in the request's workspace, and then
// answer.
func act(do func(ctx context.Context, ws store.Workspace, id string) error, answer web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := do(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id")); err != nil {
			return err
		}
		return answer(w, r)
	}
}

// share adapts a function that creates a read-only link for act.
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

// toCancelled redirects from /LIST/ID/cancel to the page of the cancelled item.
func toCancelled(w http.ResponseWriter, r *http.Request) error {
	return frame.Cancelled(w, r, path.Dir(r.URL.Path))
}

// toShared redirects from /LIST/ID/share to the read-only link on the page.
func toShared(w http.ResponseWriter, r *http.Request) error {
	return frame.Redirect(w, r, path.Dir(r.URL.Path)+"#h-share")
}

// toUndo redirects from /LIST/ID/delete to the list, which offers to undo the deletion.
func (a *App) toUndo(w http.ResponseWriter, r *http.Request) error {
	return a.Deleted(w, r, listOf(r))
}

// toList redirects from /LIST/ID/delete to the list.
func toList(w http.ResponseWriter, r *http.Request) error {
	return frame.Redirect(w, r, listOf(r))
}

func listOf(r *http.Request) string { return path.Dir(path.Dir(r.URL.Path)) }

// sendCancelled responds to a program's cancellation.
func sendCancelled(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, http.StatusAccepted, api.RunStatus{ID: chi.URLParam(r, "id"), Status: store.Cancelled})
}
