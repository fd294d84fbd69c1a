package handlers

import (
	"math"
	"net/http"
	"net/url"
	"strconv"

	"marginlab/handlers/data"
	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/handlers/runs"
	"marginlab/ml/lists"
	"marginlab/store"
	homeview "marginlab/views/home"
)

// Values of C of the start page's picture, in quarters of a power of ten. There are few, so that
// pictures are shared.
const leastC, firstC, topC = -8, 4, 16

// latest is the number of items of a kind on the start page.
const latest = 4

func (a *App) homePage(w http.ResponseWriter, r *http.Request) error {
	ctx, ws := r.Context(), frame.Workspace(r.Context())
	step, err := strconv.Atoi(r.FormValue("c"))
	if err != nil || step < leastC || step > topC {
		step = firstC
	}
	c := math.Pow(10, float64(step)/4)
	text := strconv.FormatFloat(math.Round(c), 'f', -1, 64)
	if step < 0 {
		c, _ = strconv.ParseFloat(strconv.FormatFloat(c, 'g', 2, 64), 64)
		text = strconv.FormatFloat(c, 'f', -1, 64)
	}
	example := url.Values{"data": {"moons"}, "C": {text}, "gamma": {"2"}}.Encode()
	p := homeview.Home{
		Page: a.Frame("Explore, teach and compare margin classifiers", ""), LabHref: "/lab?" + example, Builtins: data.Builtins(a.Base),
		Step: step, Least: leastC, Top: topC, C: text,
		Picture: pictures.Linked("/lab/figures/", "boundary", a.Lasting(example), 640, 520, "Two interleaved half moons of points, the boundary of an SVM between them, its margins dashed and its support vectors ringed.", ""),
	}
	ran, _, err := a.Store.Runs(ctx, ws, store.Filter{Sort: "created", Desc: true, Limit: latest})
	if err != nil {
		return err
	}
	p.Runs = lists.Map(ran, runs.Row)
	sets, err := a.Store.Datasets(ctx, ws)
	if err != nil {
		return err
	}
	p.Sets = lists.Map(sets[:min(latest, len(sets))], data.Row)
	courses, err := a.Store.Courses(ctx, ws)
	if err != nil {
		return err
	}
	p.Courses = lists.Map(courses[:min(latest, len(courses))], a.teach.Row)
	return a.Render(w, r, homeview.HomePage(p))
}

// JobsPage lists the running and queued jobs.
func (a *App) JobsPage(w http.ResponseWriter, r *http.Request) error {
	list, err := a.UnderWay(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := homeview.Jobs{Page: a.Frame("Running", "runs")}
	for _, j := range list {
		row := homeview.JobRow{ID: j.ID, Kind: j.Kind, Name: j.Name, Data: j.Data, Status: string(j.Status), Progress: j.Progress(), Done: j.Done, Total: j.Total, Href: j.Page, Cancel: j.Page + "/cancel"}
		if j.Kind == "path" {
			row.Kind, row.Cancel = "regularisation path of", "/path/cancel?id="+j.ID
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

// DeletedPage lists the deletions that can be undone.
func (a *App) DeletedPage(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Store.Deletions(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	return a.Render(w, r, homeview.DeletedPage(homeview.Deleted{Page: a.Frame("Recently deleted", ""), Rows: lists.Map(list, frame.ShownDeletion)}))
}

// Restore undoes a deletion and redirects to the list of the items.
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
