package handlers

import (
	"net/http"

	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
)

func (a *App) homePage(w http.ResponseWriter, r *http.Request) error {
	runs, _, err := a.store.Runs(r.Context(), workspace(r.Context()), store.Filter{Sort: "created", Desc: true, Limit: 4})
	if err != nil {
		return err
	}
	const example = "data=moons&C=10&gamma=2"
	p := views.Home{
		Page: a.page("Explore, teach and compare margin classifiers", ""), LabHref: "/lab?" + example, Builtins: builtins(),
		Picture: linked("/lab/figures/", "boundary", example, 640, 520, "Two interleaved half moons of points, the boundary of an SVM between them, its margins dashed and its support vectors ringed.", ""),
	}
	for _, run := range runs {
		p.Runs = append(p.Runs, runRow(run))
	}
	return a.render(w, r, views.HomePage(p))
}

func (a *App) settingsPage(w http.ResponseWriter, r *http.Request) error {
	ws := workspace(r.Context())
	sets, err := a.store.Datasets(r.Context(), ws)
	if err != nil {
		return err
	}
	_, total, err := a.store.Runs(r.Context(), ws, store.Filter{Limit: 1})
	if err != nil {
		return err
	}
	return a.render(w, r, views.SettingsPage(views.Settings{
		Page: a.page("Settings", "settings"), Token: web.Token(r.Context()), Origin: web.Origin(r), Sets: len(sets), Runs: total,
	}))
}

// openWorkspace changes to the workspace of a key.
func (a *App) openWorkspace(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	if err := web.SetToken(w, r, r.PostFormValue("token")); err != nil {
		return err
	}
	return redirect(w, r, "/settings")
}
