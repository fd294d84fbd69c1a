package handlers

import (
	"net/http"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	homeview "marginlab/views/home"
)

// JobsPage shows what is under way.
func (a *App) JobsPage(w http.ResponseWriter, r *http.Request) error {
	list, err := a.UnderWay(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := homeview.Jobs{Page: a.Frame("Running", "runs")}
	for _, j := range list {
		row := homeview.JobRow{ID: j.ID, Kind: j.Kind, Name: j.Name, Data: j.Data, Status: string(j.Status), Progress: j.Progress(), Done: j.Done, Total: j.Total, Href: j.Page, Cancel: j.Page + "/cancel"}
		if j.Kind == "path" {
			row.Kind, row.Cancel = "path over C of", "/path/cancel?id="+j.ID
		} else if j.Kind == "sensitivity" {
			row.Kind = "what would change"
		}
		if j.Elapsed > 0 {
			row.Elapsed = results.Seconds(j.Elapsed)
		}
		if j.Left > 0 {
			row.Left = "about " + results.Seconds(j.Left)
		}
		p.Rows = append(p.Rows, row)
	}
	return a.Render(w, r, homeview.JobsPage(p))
}
