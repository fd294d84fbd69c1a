package handlers

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/api"
	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/runs"
	"marginlab/handlers/teach"
	"marginlab/web"
)

// Handler returns the handler of the whole application, with every route.
func (a *App) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(a.site.Middleware()...)
	r.Use(headAsGet, a.first)
	r.NotFound(a.site.NotFound)
	r.MethodNotAllowed(a.site.MethodNotAllowed)

	r.Get("/healthz", a.site.Health(a.Store.Ready))
	r.Get("/readyz", a.site.Health(a.ready))
	if !a.separateMetrics {
		r.Method(http.MethodGet, "/metrics", a.site.Metrics)
	}
	r.Get("/static/*", a.site.Handle(a.Assets.Serve))
	r.Method(http.MethodGet, "/favicon.ico", http.RedirectHandler(a.Assets.URL("icon.svg"), http.StatusFound))
	framed := r.With(a.site.Framed, a.refuseBarred)
	framed.Get("/embed/{lesson}/{screen}", a.site.Handle(web.With(a.lessons.Screen, a.lessons.Framed)))
	framed.Post("/embed/{lesson}/{screen}/live", a.site.Handle(web.With(a.lessons.Screen, a.lessons.Live)))
	framed.Post("/embed/{lesson}/{screen}/states", a.site.Handle(web.With(a.lessons.Screen, a.lessons.States)))
	framed.Get("/embed/{lesson}/{screen}/figures/{figure}", a.site.Handle(web.With(a.lessons.Screen, a.lessons.Figure)))
	// Routes without a workspace.
	r.Get("/oembed", a.site.Handle(a.lessons.OEmbed))
	r.Get("/client.py", a.site.Handle(a.api.Client))
	r.Get("/api/openapi.json", a.site.Handle(api.Tagged(a.api.Describe)))
	r.Get("/api/docs", a.site.Handle(a.api.Checked(a.api.Docs)))
	r.Post("/api/workspaces", a.site.Handle(a.createWorkspace))
	r.Group(func(r chi.Router) {
		r.Use(a.site.Workspace, a.refuseBarred, a.noteUse)
		a.pages(r)
		r.Route("/api", a.programs)
	})
	return r
}

// ready returns nil if the server can store data: the database accepts writes, and the disk has
// room.
func (a *App) ready(ctx context.Context) error {
	if err := a.Store.Ready(ctx); err != nil {
		return err
	}
	return a.Store.Roomy(ctx)
}

// first pauses background work while a request is answered, for at most a second: a longer response
// is mostly waiting for its reader, or a stream of events.
func (a *App) first(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answered := sync.OnceFunc(a.Jobs.Live.Urgent())
		defer answered()
		defer time.AfterFunc(time.Second, answered).Stop()
		next.ServeHTTP(w, r.WithContext(limiter.Answering(r.Context(), answered)))
	})
}

// pages registers the routes of pages.
func (a *App) pages(r chi.Router) {
	h := a.site.Handle
	form := func(f web.Handler) http.HandlerFunc { return h(web.Form(f)) }
	r.Get("/", h(a.homePage))

	r.Get("/lab", h(web.With(a.lab.Addressed, a.lab.Page)))
	r.Post("/lab/live", h(a.lab.Live))
	r.Post("/lab/at", h(a.lab.At))
	r.Get("/lab/figures/{figure}", h(web.With(a.lab.Addressed, a.lab.Figure)))
	r.Get("/path", h(web.With(a.lab.Addressed, a.lab.Regularisation)))
	r.Post("/path/cancel", h(a.lab.CancelRegularisation))
	r.Get("/path/figures/{figure}", h(web.With(a.lab.Addressed, a.lab.RegularisationFigure)))
	r.Get("/links", h(a.lab.ListLinks))
	r.Post("/links", h(a.lab.Stated(a.lab.MakeLink)))
	r.Post("/links/{id}/delete", h(act(a.Store.DeleteLink, toList)))
	r.Get("/l/{token}", h(a.lab.OpenLink))

	r.Get("/lessons", h(a.lessons.List))
	r.Get("/lessons/index", h(a.lessons.Index))
	r.Get("/lessons/teachers", h(a.lessons.Teachers))
	r.Get("/lessons/{lesson}", h(web.With(a.lessons.Lesson, a.lessons.Page)))
	r.Get("/lessons/{lesson}/guide", h(web.With(a.lessons.Lesson, a.lessons.Guide)))
	r.Get("/lessons/{lesson}/deck", h(web.With(a.lessons.Lesson, a.lessons.Deck)))
	r.Get("/lessons/{lesson}/worksheet", h(web.With(a.lessons.Lesson, a.lessons.Worksheet)))
	r.Get("/lessons/{lesson}/worksheet/answers", h(web.With(a.lessons.Taught, a.lessons.WorksheetAnswers)))
	r.Get("/lessons/{lesson}/questions.gift", h(web.With(a.lessons.Taught, a.lessons.GIFT)))
	r.Get("/lessons/{lesson}/questions.csv", h(web.With(a.lessons.Taught, a.lessons.QuestionsCSV)))
	r.Post("/lessons/{lesson}/forget", form(web.With(a.lessons.Lesson, a.lessons.Forget)))
	r.Get("/lessons/{lesson}/{screen}", h(web.With(a.lessons.Screen, a.lessons.Slide)))
	r.Get("/lessons/{lesson}/{screen}/notes", h(web.With(a.lessons.Screen, a.lessons.Notes)))
	r.Post("/lessons/{lesson}/{screen}/live", h(web.With(a.lessons.Screen, a.lessons.Live)))
	r.Post("/lessons/{lesson}/{screen}/states", h(web.With(a.lessons.Screen, a.lessons.States)))
	r.Get("/lessons/{lesson}/{screen}/figures/{figure}", h(web.With(a.lessons.Screen, a.lessons.Figure)))
	r.Post("/lessons/{lesson}/{screen}/questions/{question}", form(web.With(a.lessons.Screen, a.lessons.Answer)))
	r.Get("/lessons/{lesson}/{screen}/questions/{question}/{figure}", h(web.With(a.lessons.Screen, a.lessons.Sketch)))

	r.Get("/datasets", h(a.data.List))
	r.Post("/datasets", h(a.data.Upload))
	r.Post("/datasets/generate", form(a.data.Generate))
	r.Post("/datasets/points", h(a.lab.OnPoints(a.lab.SavePoints)))
	r.Get("/datasets/mapping/{id}", h(a.data.Mapping))
	r.Post("/datasets/mapping/{id}", form(a.data.ChooseMapping))
	r.Get("/datasets/{id}", h(a.data.Page))
	r.Post("/datasets/{id}", form(a.data.Rename))
	r.Get("/datasets/{id}.csv", h(a.data.Download))
	r.Post("/datasets/{id}/rows", form(a.data.ReplaceRows))
	r.Post("/datasets/{id}/objects", h(a.data.EditObject))
	r.Post("/datasets/{id}/delete", h(act(a.Store.DeleteDataset, a.toUndo)))
	r.Get("/datasets/{id}/figures/{figure}", h(a.data.Figure))

	r.Get("/runs", h(a.runs.List))
	r.Post("/runs", h(a.lab.OnPoints(a.lab.SaveRun)))
	r.Get("/runs.csv", h(a.runs.Export))
	r.Post("/runs/tag", form(a.runs.Tag))
	r.Post("/runs/delete", form(a.runs.DeleteChosen))
	r.Get("/runs/{id}", h(web.With(a.runs.Run, a.runs.Page)))
	r.Post("/runs/{id}", form(web.With(a.runs.Run, a.runs.Update)))
	r.Post("/runs/{id}/cancel", h(act(a.Jobs.Cancel, toCancelled)))
	r.Post("/runs/{id}/delete", h(act(a.deleteRun, a.toUndo)))
	r.Post("/runs/{id}/share", h(act(share(a.Store.ShareRun), toShared)))
	r.Post("/runs/{id}/unshare", h(act(a.Store.UnshareRun, toShared)))
	r.Get("/runs/{id}/events", h(a.runs.Events))
	for _, extension := range runs.ModelExtensions() {
		r.Get("/runs/{id}/model"+extension, h(web.With(a.runs.Run, a.runs.Model)))
	}
	r.Get("/runs/{id}/predictions.csv", h(web.With(a.runs.Run, a.runs.Predictions)))
	r.Post("/runs/{id}/predict", h(web.With(a.runs.Run, a.runs.PredictRows)))
	r.Get("/runs/{id}/figures/{figure}", h(web.With(a.runs.RunWithoutModels, a.runs.Figure)))
	r.Get("/runs/{id}/at", h(web.With(a.runs.Run, a.runs.At)))
	r.Get("/runs/{id}/change", h(web.With(a.runs.Run, a.runs.Change)))
	r.Post("/runs/{id}/change/cancel", h(a.runs.CancelChange))
	r.Get("/runs/{id}/change/figures/{figure}", h(web.With(a.runs.Run, a.runs.ChangeFigure)))

	r.Get("/compare", h(a.runs.Compare))
	r.Get("/compare.csv", h(a.runs.CompareTable))
	r.Post("/compare/versions", h(a.lab.OnPoints(a.lab.CompareVersions)))
	r.Post("/compare/rules", h(a.lab.OnPoints(a.lab.CompareRules)))
	r.Post("/compare/share", form(a.runs.ShareComparison))
	r.Post("/compare/folds", form(a.runs.CompareOnFolds))
	r.Get("/compare/tests.csv", h(a.runs.CompareTests))
	r.Get("/compare/disagreement.csv", h(a.runs.ComparePoints))
	r.Get("/compare/figures/{figure}", h(a.runs.CompareFigure))

	r.Get("/jobs", h(a.JobsPage))
	r.Get("/jobs/events", h(a.api.JobEvents))
	r.Get("/searches", h(a.studies.List))
	r.Post("/searches", h(a.lab.OnPoints(a.lab.Search)))
	r.Get("/searches/{id}", h(web.With(frame.ByID(a.FindSearch), a.studies.Page)))
	r.Post("/searches/{id}/cancel", h(act(a.Jobs.CancelSearch, toCancelled)))
	r.Post("/searches/{id}/delete", h(act(a.Jobs.DeleteSearch, toList)))
	r.Post("/searches/{id}/runs", form(web.With(frame.ByID(a.Store.Search), a.studies.Save)))
	r.Post("/searches/{id}/again", form(web.With(frame.ByID(a.Store.Search), a.studies.Again)))
	r.Get("/searches/{id}/events", h(a.studies.Events))
	r.Get("/searches/{id}/figures/{figure}", h(web.With(frame.ByID(a.FindSearch), a.studies.Figure)))

	r.Get("/studies", h(a.studies.Studies))
	r.Post("/studies", h(a.studies.CreateStudy))
	r.Get("/studies/new", h(a.studies.NewStudy))
	r.Get("/studies/{id}", h(web.With(frame.ByID(a.Store.Study), a.studies.Study)))
	r.Get("/studies/{id}/{file}", h(a.studies.StudyFile))
	r.Get("/studies/{id}/figures/{figure}", h(a.studies.StudyFigure))
	r.Post("/studies/{id}/cancel", h(act(a.Jobs.CancelStudy, toCancelled)))
	r.Post("/studies/{id}/delete", h(act(a.Jobs.DeleteStudy, toList)))

	r.Get("/reports", h(a.reports.List))
	r.Post("/reports", form(a.reports.Save))
	r.Get("/reports/new", h(a.reports.Edit))
	r.Post("/reports/add", form(a.reports.Add))
	r.Get("/reports/{id}", h(a.reports.Page))
	r.Post("/reports/{id}", form(a.reports.Save))
	r.Get("/reports/{id}/edit", h(a.reports.Edit))
	r.Get("/reports/{id}/{file}", h(a.reports.File))
	r.Get("/reports/{id}/figures/{figure}", h(a.reports.Figure))
	r.Post("/reports/{id}/delete", h(act(a.Store.DeleteReport, a.toUndo)))
	r.Post("/reports/{id}/share", h(act(share(a.Store.ShareReport), toShared)))
	r.Post("/reports/{id}/unshare", h(act(a.Store.UnshareReport, toShared)))

	r.Get("/shared/reports/{token}", h(a.reports.Shared))
	r.Get("/shared/reports/{token}/{file}", h(a.reports.File))
	r.Get("/shared/reports/{token}/figures/{figure}", h(a.reports.Figure))
	r.Get("/shared/compare", h(a.shared.Compare))
	r.Get("/shared/compare.csv", h(a.shared.CompareTable))
	r.Get("/shared/compare/tests.csv", h(a.shared.CompareTests))
	r.Get("/shared/compare/disagreement.csv", h(a.shared.ComparePoints))
	r.Get("/shared/compare/figures/{figure}", h(a.shared.CompareFigure))
	for _, run := range []string{"/shared/runs/{token}", "/shared/{token}"} {
		r.Get(run, h(web.With(a.runs.SharedRun, a.runs.Shared)))
		r.Get(run+"/at", h(web.With(a.runs.SharedRun, a.runs.At)))
		r.Get(run+"/figures/{figure}", h(web.With(a.runs.SharedRunWithoutModels, a.runs.Figure)))
	}

	r.Get("/course", h(a.teach.Find))
	r.Get("/course/{code}", h(web.With(a.teach.Visited, a.teach.Open)))
	r.Get("/course/{code}/poll", h(web.With(a.teach.Visited, a.teach.Poll)))
	r.Post("/course/{code}/poll", form(web.With(a.teach.Visited, a.teach.Vote)))
	r.Get("/course/{code}/poll/events", h(web.With(a.teach.Visited, a.teach.PollEvents)))
	r.Get("/course/{code}/follow", h(web.With(a.teach.Visited, a.teach.Follow)))
	r.Get("/course/{code}/follow/events", h(web.With(a.teach.Visited, a.teach.FollowEvents)))
	r.Post("/course/{code}/name", form(web.With(a.teach.Visited, a.teach.NameStudent)))
	r.Post("/course/{code}/handins", h(a.lab.OnPoints(a.lab.HandIn)))
	r.Post("/course/{code}/withdraw", form(a.lab.Withdraw))
	r.Post("/runs/{id}/handin", form(a.runs.HandIn))
	r.Get("/courses", h(a.teach.List))
	r.Post("/courses", form(a.teach.Create))
	r.Get("/courses/new", h(a.teach.New))
	r.Post("/courses/new", h(a.teach.NewOfLab))
	r.Post("/courses/import", h(a.teach.Import))
	r.Route("/courses/{code}", a.teaching)
	r.Route("/teach/{token}", a.teaching)
	for old, now := range map[string]string{"/class": "/course", "/classes": "/courses"} {
		r.Handle(old, moved(old, now))
		r.Handle(old+"/*", moved(old, now))
	}

	r.Get("/deleted", h(a.DeletedPage))
	r.Post("/deleted/{id}", form(a.Restore))

	r.Get("/manual", h(a.manualList))
	r.Get("/manual/dashboard.json", h(a.manualDashboard))
	r.Get("/manual/{topic}", h(a.manualTopic))

	r.Get("/settings", h(a.settingsPage))
	r.Post("/settings/workspace", form(a.openWorkspace))
	r.Get("/settings/workspace.zip", h(a.SendWorkspace))
	r.Post("/settings/import", h(a.importWorkspace))
	r.Post("/settings/delete", form(a.deleteWorkspace))
}

// programs registers the routes of the API, as described in openapi.json.
func (a *App) programs(r chi.Router) {
	h := func(f web.Handler) http.HandlerFunc { return a.site.Handle(a.api.Checked(f)) }
	dataset, run := web.With(frame.ByID(a.Store.Dataset), a.api.Dataset), web.With(frame.ByID(a.Store.RunWithoutModels), a.api.Run)
	r.Get("/workspace", h(a.api.Workspace))
	r.Delete("/workspace", h(a.api.DeleteWorkspace))
	r.Get("/workspace.zip", h(a.SendWorkspace))
	r.Post("/workspace.zip", h(a.api.ImportWorkspace))

	r.Get("/deleted", h(a.api.Deleted))
	r.Post("/deleted/{id}/restore", h(a.api.Restore))

	r.Get("/datasets", h(a.api.Datasets))
	r.Post("/datasets", h(a.api.CreateDataset))
	r.Post("/datasets/generate", h(a.api.GenerateDataset))
	r.Get("/datasets/{id}", h(api.Tagged(dataset)))
	r.Get("/datasets/{id}.csv", h(a.data.Download))
	r.Put("/datasets/{id}", h(api.Matching(dataset, web.With(frame.ByID(a.Store.Dataset), a.api.ReplaceRows))))
	r.Patch("/datasets/{id}", h(api.Matching(dataset, a.api.UpdateDataset)))
	r.Delete("/datasets/{id}", h(api.Matching(dataset, act(a.Store.DeleteDataset, web.NoContent))))

	r.Get("/runs", h(a.api.Runs))
	r.Post("/runs", h(a.api.CreateRun))
	r.Get("/runs.csv", h(a.runs.Export))
	r.Post("/runs/tags", h(a.api.TagRuns))
	r.Post("/runs/delete", h(a.api.DeleteRuns))
	r.Get("/comparison", h(a.api.Compare))
	r.Get("/comparison/folds", h(a.api.OnFolds))
	r.Post("/comparison/folds", h(a.api.CompareOnFolds))
	r.Get("/comparison.csv", h(a.runs.CompareTable))
	r.Get("/comparison/tests.csv", h(a.runs.CompareTests))
	r.Get("/comparison/disagreement.csv", h(a.runs.ComparePoints))
	r.Get("/runs/{id}", h(api.Tagged(run)))
	r.Patch("/runs/{id}", h(api.Matching(run, web.With(frame.ByID(a.Store.RunWithoutModels), a.api.UpdateRun))))
	r.Delete("/runs/{id}", h(api.Matching(run, act(a.deleteRun, web.NoContent))))
	for _, extension := range runs.ModelExtensions() {
		r.Get("/runs/{id}/model"+extension, h(web.With(a.runs.Run, a.runs.Model)))
	}
	r.Post("/runs/{id}/predictions", h(web.With(a.runs.Run, a.runs.Predict)))
	r.Get("/runs/{id}/predictions.csv", h(web.With(a.runs.Run, a.runs.Predictions)))
	r.Get("/runs/{id}/figures/{figure}", h(web.With(a.runs.RunWithoutModels, a.runs.Figure)))
	r.Get("/runs/{id}/at", h(web.With(a.runs.Run, a.runs.At)))
	r.Get("/runs/{id}/events", h(a.runs.Events))
	r.Post("/runs/{id}/cancel", h(act(a.Jobs.Cancel, sendCancelled)))
	r.Get("/runs/{id}/change", h(web.With(a.api.ChangeQuestion, a.api.Change)))
	r.Post("/runs/{id}/change", h(web.With(a.api.ChangeQuestion, a.api.Change)))
	r.Delete("/runs/{id}/change", h(web.With(a.api.ChangeQuestion, a.api.CancelChange)))

	asTeacher := func(f func(http.ResponseWriter, *http.Request, teach.Course) error) http.HandlerFunc {
		return h(web.With(a.teach.AsTeacher, f))
	}
	r.Get("/courses", h(a.teach.ListJSON))
	r.Post("/courses", h(a.teach.CreateJSON))
	r.Get("/courses/{code}", asTeacher(a.teach.CourseJSON))
	r.Patch("/courses/{code}", asTeacher(a.teach.ChangeJSON))
	r.Delete("/courses/{code}", asTeacher(a.teach.DeleteJSON))
	r.Get("/courses/{code}/course.json", asTeacher(a.teach.SendCourse))
	r.Get("/courses/{code}/handins.csv", asTeacher(a.teach.Export))
	r.Get("/courses/{code}/answers.csv", asTeacher(a.teach.ExportAnswers))
	r.Get("/courses/{code}/polls", asTeacher(a.teach.PollsJSON))
	r.Post("/courses/{code}/polls", asTeacher(a.teach.AskJSON))
	r.Get("/courses/{code}/polls/{poll}", asTeacher(a.teach.PollJSON))
	r.Post("/courses/{code}/polls/{poll}", asTeacher(a.teach.ConductJSON))
	r.Delete("/courses/{code}/polls/{poll}", asTeacher(a.teach.DeletePollJSON))
	r.Get("/course/{code}/poll", h(web.With(a.teach.Visited, a.teach.CurrentJSON)))
	r.Post("/course/{code}/poll", h(web.With(a.teach.Visited, a.teach.VoteJSON)))

	r.Get("/links", h(a.api.Links))
	r.Post("/links", h(a.api.CreateLink))
	r.Delete("/links/{id}", h(act(a.Store.DeleteLink, web.NoContent)))

	r.Get("/path", h(a.api.FollowRegularisation))
	r.Post("/path", h(a.api.Regularise))
	r.Delete("/path", h(a.api.CancelRegularisation))

	r.Get("/jobs", h(a.api.ListJobs))
	r.Get("/jobs/events", h(a.api.JobEvents))
	r.Get("/searches", h(a.api.Searches))
	r.Post("/searches", h(a.api.CreateSearch))
	r.Get("/searches/{id}", h(web.With(frame.ByID(a.Store.Search), a.api.Search)))
	r.Delete("/searches/{id}", h(act(a.Jobs.DeleteSearch, web.NoContent)))
	r.Get("/searches/{id}/events", h(a.studies.Events))
	r.Post("/searches/{id}/cancel", h(act(a.Jobs.CancelSearch, sendCancelled)))
	r.Post("/searches/{id}/again", h(web.With(frame.ByID(a.Store.Search), a.api.SearchAgain)))
	r.Post("/searches/{id}/runs", h(web.With(frame.ByID(a.Store.Search), a.api.SaveCell)))

	r.Get("/studies", h(a.api.Studies))
	r.Post("/studies", h(a.api.CreateStudy))
	r.Get("/studies/{id}", h(web.With(frame.ByID(a.Store.Study), a.api.Study)))
	r.Delete("/studies/{id}", h(act(a.Jobs.DeleteStudy, web.NoContent)))
	r.Post("/studies/{id}/cancel", h(act(a.Jobs.CancelStudy, sendCancelled)))
	r.Get("/studies/{id}/{file}", h(a.studies.StudyFile))

	r.Get("/reports", h(a.reports.ListJSON))
	r.Post("/reports", h(a.reports.CreateJSON))
	r.Get("/reports/{id}", h(api.Tagged(a.reports.ReportJSON)))
	r.Put("/reports/{id}", h(api.Matching(a.reports.ReportJSON, a.reports.ReplaceJSON)))
	r.Delete("/reports/{id}", h(api.Matching(a.reports.ReportJSON, act(a.Store.DeleteReport, web.NoContent))))
	r.Get("/reports/{id}/{file}", h(a.reports.File))
}

// teaching registers the teacher's routes below the path of a course.
func (a *App) teaching(r chi.Router) {
	h := a.site.Handle
	asTeacher := func(f func(http.ResponseWriter, *http.Request, teach.Course) error) http.HandlerFunc {
		return h(web.With(a.teach.AsTeacher, f))
	}
	form := func(f func(http.ResponseWriter, *http.Request, teach.Course) error) http.HandlerFunc {
		return h(web.Form(web.With(a.teach.AsTeacher, f)))
	}
	r.Get("/", asTeacher(a.teach.Gallery))
	r.Post("/close", form(a.teach.Close))
	r.Post("/end", form(a.teach.End))
	r.Post("/block", form(a.teach.Block))
	r.Post("/unblock", form(a.teach.Unblock))
	r.Get("/polls", asTeacher(a.teach.Polls))
	r.Post("/polls", form(a.teach.Ask))
	r.Get("/polls/{poll}", asTeacher(a.teach.Results))
	r.Post("/polls/{poll}", form(a.teach.Conduct))
	r.Get("/polls/{poll}/events", asTeacher(a.teach.ResultsEvents))
	r.Post("/names", form(a.teach.HideNames))
	r.Get("/questions", asTeacher(a.teach.Questions))
	r.Post("/questions", form(a.teach.SaveQuestion))
	r.Get("/questions/new", asTeacher(a.teach.WriteQuestion))
	r.Post("/questions/take", form(a.teach.TakeQuestions))
	r.Get("/questions/{question}", asTeacher(a.teach.WriteQuestion))
	r.Post("/questions/{question}", form(a.teach.SaveQuestion))
	r.Post("/present", form(a.teach.Present))
	r.Get("/remote", asTeacher(a.teach.Remote))
	r.Post("/remote", form(a.teach.Press))
	r.Post("/point", form(a.teach.Point))
	r.Get("/remote/events", asTeacher(a.teach.RemoteEvents))
	r.Get("/screen", asTeacher(a.teach.Screen))
	r.Get("/edit", asTeacher(a.teach.Edit))
	r.Post("/edit", form(a.teach.Save))
	r.Get("/copy", asTeacher(a.teach.Copy))
	r.Get("/course.json", asTeacher(a.teach.SendCourse))
	r.Get("/answers", asTeacher(a.teach.Answers))
	r.Get("/answers.csv", asTeacher(a.teach.ExportAnswers))
	r.Get("/handins.csv", asTeacher(a.teach.Export))
	r.Post("/delete", asTeacher(a.teach.Delete))
	r.Post("/runs/delete", form(a.teach.DeleteHandins))
	r.Get("/figures/{figure}", asTeacher(a.teach.GalleryFigure))

	r.Get("/runs/{id}", h(web.With(a.handins.Run, a.handins.Page)))
	r.Get("/runs/{id}/figures/{figure}", h(web.With(a.handins.RunWithoutModels, a.handins.Figure)))
	r.Get("/runs/{id}/at", h(web.With(a.handins.Run, a.handins.At)))
	r.Get("/compare", h(a.handins.Compare))
	r.Get("/compare.csv", h(a.handins.CompareTable))
	r.Get("/compare/tests.csv", h(a.handins.CompareTests))
	r.Get("/compare/disagreement.csv", h(a.handins.ComparePoints))
	r.Get("/compare/figures/{figure}", h(a.handins.CompareFigure))
}

// headAsGet handles HEAD as GET, including in sub-routers; the server omits the body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}

// moved redirects from paths below old, which users may have kept, to those below now. Forms are
// resent.
func moved(old, now string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to := *r.URL
		to.Path, to.RawPath = now+strings.TrimPrefix(to.Path, old), ""
		http.Redirect(w, r, to.RequestURI(), http.StatusPermanentRedirect)
	}
}
