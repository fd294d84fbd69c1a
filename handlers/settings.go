package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml/param"
	"marginlab/store"
	homeview "marginlab/views/home"
	"marginlab/web"
)

func (a *App) settingsPage(w http.ResponseWriter, r *http.Request) error {
	return a.showSettings(w, r, http.StatusOK, homeview.Settings{})
}

// showSettings shows the page of settings; p holds what is specific to the request.
func (a *App) showSettings(w http.ResponseWriter, r *http.Request, status int, p homeview.Settings) error {
	holds, err := a.Store.Holdings(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p.Page, p.Token, p.Origin = a.Frame("Settings", "settings"), web.Token(r.Context()), a.Links.Origin(r)
	p.Holds, p.Quota, p.MaxArchive = holds.String(), quotaText(a.Store.Quota), store.MaxArchive>>20
	w.WriteHeader(status)
	return a.Render(w, r, homeview.SettingsPage(p))
}

// quotaText describes the limits of a workspace, empty if there are none.
func quotaText(q store.Quota) string {
	var parts []string
	if q.Datasets > 0 {
		parts = append(parts, fmt.Sprintf("%d data sets", q.Datasets))
	}
	if q.Runs > 0 {
		parts = append(parts, fmt.Sprintf("%d runs", q.Runs))
	}
	if q.Bytes > 0 {
		parts = append(parts, param.Bytes(q.Bytes))
	}
	if n := len(parts); n > 1 {
		parts = []string{strings.Join(parts[:n-1], ", "), parts[n-1]}
	}
	return strings.Join(parts, " and ")
}

// openWorkspace switches the browser to the workspace of a key.
func (a *App) openWorkspace(w http.ResponseWriter, r *http.Request) error {
	key := r.PostFormValue("token")
	err := web.SetToken(w, r, key)
	if err == nil && !a.site.Keys.Known(r.Context(), key) {
		w.Header().Del("Set-Cookie")
		err = param.Problems{{Field: "token", Message: "This server does not know the key: a digit may be wrong, or it belongs to another server."}}
	}
	if ps, ok := errors.AsType[param.Problems](err); ok {
		return a.showSettings(w, r, http.StatusUnprocessableEntity, homeview.Settings{KeyError: results.Sentence(ps.Error())})
	}
	if err != nil {
		return err
	}
	return frame.Redirect(w, r, "/settings")
}

// importWorkspace imports an archive into the workspace. It responds with a page instead of a
// redirect, since repeating the request changes nothing.
func (a *App) importWorkspace(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, store.MaxArchive+web.FormBytes); err != nil {
		return err
	}
	file, head, err := r.FormFile("file")
	if err != nil {
		return a.showSettings(w, r, http.StatusUnprocessableEntity, homeview.Settings{ImportError: "Choose a file first."})
	}
	defer file.Close()
	done, err := a.TakeIn(r.Context(), w, file, head.Size)
	if ps, ok := errors.AsType[param.Problems](err); ok {
		return a.showSettings(w, r, http.StatusUnprocessableEntity, homeview.Settings{ImportError: results.Sentence(ps.Error())})
	}
	if err != nil {
		return err
	}
	return a.showSettings(w, r, http.StatusOK, homeview.Settings{Done: done.String()})
}

// deleteWorkspace deletes the workspace after confirmation.
func (a *App) deleteWorkspace(w http.ResponseWriter, r *http.Request) error {
	if r.PostFormValue("sure") != "yes" {
		return a.showSettings(w, r, http.StatusUnprocessableEntity, homeview.Settings{DeleteError: "Nothing was deleted: tick the box first."})
	}
	if err := a.Store.DeleteWorkspace(r.Context(), frame.Workspace(r.Context())); err != nil {
		return err
	}
	return a.showSettings(w, r, http.StatusOK, homeview.Settings{Done: "Everything in this workspace was deleted."})
}
