package handlers

import (
	"net/http"

	"marginlab/handlers/data"
	"marginlab/handlers/door"
	"marginlab/handlers/runs"
	"marginlab/store"
	"marginlab/views"
)

func (a *App) homePage(w http.ResponseWriter, r *http.Request) error {
	latest, _, err := a.Store.Runs(r.Context(), door.Workspace(r.Context()), store.Filter{Sort: "created", Desc: true, Limit: 4})
	if err != nil {
		return err
	}
	const example = "data=moons&C=10&gamma=2"
	p := views.Home{
		Page: a.Frame("Explore, teach and compare margin classifiers", ""), LabHref: "/lab?" + example, Builtins: data.Builtins(a.House),
		Picture: door.Linked("/lab/figures/", "boundary", a.Lasting(example), 640, 520, "Two interleaved half moons of points, the boundary of an SVM between them, its margins dashed and its support vectors ringed.", ""),
	}
	for _, run := range latest {
		p.Runs = append(p.Runs, runs.Row(run))
	}
	return a.Render(w, r, views.HomePage(p))
}
