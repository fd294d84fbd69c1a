package reports

import (
	"net/http"
	"time"

	"marginlab/handlers/frame"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/web"
)

// Report is a report in JSON.
type Report struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	URL     string    `json:"url,omitempty"` // of the read-only link
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Text    string    `json:"text"`
	Items   []Item    `json:"items,omitempty"` // omitted in lists
}

// Item is an item of a report in JSON.
type Item struct {
	Address string        `json:"address"`
	Title   string        `json:"title"`
	Verdict string        `json:"verdict"`
	Details string        `json:"details"`
	Tables  []study.Table `json:"tables,omitempty"`
	Command string        `json:"command,omitempty"`
	Saved   time.Time     `json:"saved"`
}

func (a *Handler) json(r *http.Request, one store.Report) Report {
	j := Report{ID: one.ID, Title: one.Title, Text: one.Text, Created: one.Created, Updated: one.Updated}
	if one.Share != "" {
		j.URL = a.Links.Origin(r) + "/shared/reports/" + one.Share
	}
	for i, item := range one.Frozen.Items {
		j.Items = append(j.Items, Item{item.Address, item.Title, item.Verdict, item.Details, item.Tables, command(item, i), item.Saved})
	}
	return j
}

// ListJSON sends the reports of the workspace, last changed first, without their items.
func (a *Handler) ListJSON(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Store.Reports(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	return frame.SendList(w, r, "reports", list, func(one store.Report) Report { return a.json(r, one) })
}

// ReportJSON sends one report.
func (a *Handler) ReportJSON(w http.ResponseWriter, r *http.Request) error {
	one, leave, err := a.read(w, r)
	if err != nil {
		return err
	}
	leave()
	return web.JSON(w, http.StatusOK, a.json(r, one))
}

// asked is the body of a request that writes a report.
type asked struct {
	Title   string `json:"title"`
	Text    string `json:"text"`
	Refresh bool   `json:"refresh"` // also refresh existing items
}

// CreateJSON stores a report with the current state of the items in its text.
func (a *Handler) CreateJSON(w http.ResponseWriter, r *http.Request) error {
	var n asked
	if err := web.ReadJSON(w, r, web.FormBytes, &n); err != nil {
		return err
	}
	f, err := a.itemsOf(r.Context(), store.Frozen{}, n.Text, false)
	if err != nil {
		return err
	}
	one, err := a.Store.CreateReport(r.Context(), frame.Workspace(r.Context()), frame.RequestOf(r), n.Title, n.Text, f)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/reports/"+one.ID)
	return web.JSON(w, http.StatusCreated, a.json(r, one))
}

// ReplaceJSON replaces the title and text of a report. Existing items stay frozen unless refreshed.
func (a *Handler) ReplaceJSON(w http.ResponseWriter, r *http.Request) error {
	before, leave, err := a.read(w, r)
	if err != nil {
		return err
	}
	leave()
	var n asked
	if err := web.ReadJSON(w, r, web.FormBytes, &n); err != nil {
		return err
	}
	f, err := a.itemsOf(r.Context(), before.Frozen, n.Text, n.Refresh)
	if err != nil {
		return err
	}
	if err := a.Store.UpdateReport(r.Context(), frame.Workspace(r.Context()), before.ID, n.Title, n.Text, f); err != nil {
		return err
	}
	return a.ReportJSON(w, r)
}
