package handlers

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// Handler is the whole application: every route there is. Those under /api are
// listed in api.go.
func (a *App) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(a.site.Middleware()...)
	r.Use(middleware.GetHead)
	r.NotFound(a.site.NotFound)
	r.MethodNotAllowed(a.site.MethodNotAllowed)

	r.Get("/healthz", a.site.Health(a.store.Ping))
	r.Handle("/metrics", a.site.Metrics)
	r.Handle("/static/*", a.assets)
	r.Handle("/favicon.ico", http.RedirectHandler(a.assets.URL("icon.svg"), http.StatusFound))
	r.Group(func(r chi.Router) {
		r.Use(a.site.Workspace)
		a.pages(r)
		r.Route("/api", func(r chi.Router) { a.API(r, a.site.Handle) })
	})
	return r
}

// pages installs every page.
func (a *App) pages(r chi.Router) {
	h := a.site.Handle
	r.Get("/", h(a.homePage))

	r.Get("/lab", h(a.labPage))
	r.Post("/lab/live", h(a.labLive))
	r.Get("/lab/figures/{figure}", h(a.labFigure))

	r.Get("/lessons", h(a.lessonsPage))
	r.Get("/lessons/index", h(a.lessonIndexPage))
	r.Get("/lessons/{lesson}", h(a.lessonPage))
	r.Post("/lessons/{lesson}/forget", h(a.forgetAnswers))
	r.Get("/lessons/{lesson}/{screen}", h(a.slidePage))
	r.Post("/lessons/{lesson}/{screen}/live", h(a.lessonLive))
	r.Get("/lessons/{lesson}/{screen}/figures/{figure}", h(a.lessonFigure))
	r.Post("/lessons/{lesson}/{screen}/questions/{question}", h(a.answerQuestion))

	r.Get("/datasets", h(a.datasetsPage))
	r.Post("/datasets", h(a.uploadDataset))
	r.Post("/datasets/generate", h(a.generateDataset))
	r.Post("/datasets/points", h(a.savePoints))
	r.Get("/datasets/mapping/{id}", h(a.mappingPage))
	r.Post("/datasets/mapping/{id}", h(a.chooseMapping))
	r.Get("/datasets/{id}", h(a.datasetPage))
	r.Post("/datasets/{id}", h(a.renameDataset))
	r.Get("/datasets/{id}.csv", h(a.downloadDataset))
	r.Post("/datasets/{id}/rows", h(a.replaceRows))
	r.Post("/datasets/{id}/delete", h(a.deleteDataset))
	r.Get("/datasets/{id}/figures/{figure}", h(a.datasetFigure))

	r.Get("/runs", h(a.runsPage))
	r.Post("/runs", h(a.saveRun))
	r.Post("/runs/delete", h(a.deleteChosenRuns))
	r.Get("/runs/{id}", h(a.runPage))
	r.Post("/runs/{id}", h(a.updateRun))
	r.Post("/runs/{id}/cancel", h(a.cancelRun))
	r.Post("/runs/{id}/delete", h(a.deleteRun))
	r.Post("/runs/{id}/share", h(a.shareRun))
	r.Post("/runs/{id}/unshare", h(a.unshareRun))
	r.Get("/runs/{id}/events", h(a.runEvents))
	r.Get("/runs/{id}/model.json", h(a.downloadModel))
	r.Get("/runs/{id}/predictions.csv", h(a.downloadPredictions))
	r.Get("/runs/{id}/figures/{figure}", h(a.runFigure))

	r.Get("/compare", h(a.comparePage))
	r.Post("/compare/versions", h(a.compareVersions))
	r.Get("/compare/figures/{figure}", h(a.compareFigure))

	r.Get("/shared/{token}", h(a.sharedPage))
	r.Get("/shared/{token}/figures/{figure}", h(a.sharedFigure))

	r.Get("/class", h(a.findClass))
	r.Get("/class/{code}", h(a.openClass))
	r.Post("/class/{code}/handins", h(a.handInFromLab))
	r.Post("/class/{code}/withdraw", h(a.withdraw))
	r.Post("/runs/{id}/handin", h(a.handInRun))
	r.Get("/classes", h(a.classesPage))
	r.Post("/classes", h(a.createClass))
	r.Get("/classes/new", h(a.newClassPage))
	r.Post("/classes/new", h(a.newClassPage))
	r.Route("/classes/{code}", a.teaching)
	r.Route("/teach/{token}", a.teaching)

	r.Get("/settings", h(a.settingsPage))
	r.Post("/settings/workspace", h(a.openWorkspace))
}
