package handlers

import (
	"math"
	"net/http"
	"net/url"
	"strconv"

	"marginlab/handlers/data"
	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/runs"
	"marginlab/handlers/teach"
	"marginlab/store"
	homeview "marginlab/views/home"
)

// The C of the first picture of all: a few values, in quarters of a power of ten, so that one
// picture serves all who drag to it.
const leastC, firstC, topC = -8, 4, 16

// latest is the number of objects of a kind on the start page.
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
	for _, run := range ran {
		p.Runs = append(p.Runs, runs.Row(run))
	}
	sets, err := a.Store.Datasets(ctx, ws)
	if err != nil {
		return err
	}
	for _, s := range sets[:min(latest, len(sets))] {
		p.Sets = append(p.Sets, data.Row(s))
	}
	courses, err := a.Store.Courses(ctx, ws)
	if err != nil {
		return err
	}
	for _, c := range courses[:min(latest, len(courses))] {
		p.Courses = append(p.Courses, teach.Row(c, a.Store.Now()))
	}
	return a.Render(w, r, homeview.HomePage(p))
}
