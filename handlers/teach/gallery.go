package teach

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	teachview "marginlab/views/teach"
	"marginlab/web"
)

// mostOverlaid is the maximum number of boundaries overlaid in one picture.
const mostOverlaid = 60

// Size of that picture in CSS pixels, to fit beside the table.
const overlayWidth, overlayHeight = 560, 460

// Course is a course as its teacher sees it.
type Course struct {
	store.Course
	base   string // prefix of the URLs of its pages
	pollID int64  // the poll named in the URL; 0: none
}

// AsTeacher returns the course that a request may access as its teacher: by the token of the
// teacher's link, or by the code in the workspace that created the course. The second keeps
// the secret out of the URL, which a projector shows.
func (a *Handler) AsTeacher(r *http.Request) (c Course, err error) {
	if token := chi.URLParam(r, "token"); token != "" {
		c.Course, err = a.Store.TaughtCourse(r.Context(), token)
		c.base = "/teach/" + token
	} else {
		c.Course, err = a.Store.CourseOf(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "code"))
		c.base = "/courses/" + c.Code
	}
	if poll := chi.URLParam(r, "poll"); err == nil && poll != "" {
		if c.pollID, err = strconv.ParseInt(poll, 10, 64); err != nil {
			err = store.ErrNotFound
		}
	}
	return c, err
}

// Visited returns the course whose code is in the path.
func (a *Handler) Visited(r *http.Request) (store.Course, error) {
	return a.Course(r.Context(), chi.URLParam(r, "code"))
}

// Collection returns the submitted runs of the request's course.
func (a *Handler) Collection(r *http.Request) (results.Collection, error) {
	g, err := a.AsTeacher(r)
	return results.Collection{Workspace: g.Gallery(), Base: g.base, Title: g.Title, Nameless: g.Nameless}, err
}

// Gallery shows a teacher the submissions.
func (a *Handler) Gallery(w http.ResponseWriter, r *http.Request, g Course) error {
	copies, err := a.Store.Copies(r.Context(), g.Course)
	if err != nil {
		return err
	}
	blocks, err := a.Store.Blocks(r.Context(), g.Code)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	if g.Nameless {
		for i := range copies {
			copies[i].Name = results.Nameless(copies[i].Run)
		}
		for i := range blocks {
			blocks[i].Names = "a student"
		}
	}
	origin := a.Links.Origin(r)
	over := g.Over(a.Store.Now())
	state := g.state(a.Assets.Prefix(), origin, q, copies, over, blocks)
	if web.Unchanged(w, r, `"`+state+`"`) { // the page polls for changes
		return nil
	}
	p := teachview.Gallery{
		Most: results.MostCompared,
		Page: a.Frame(g.Title, "courses"), Base: g.base, State: state, Title: g.Title, Code: g.Code, Closed: g.Closed, Ends: g.Ends, Over: over,
		Link: origin + "/course/" + g.Code, Secret: origin + "/teach/" + g.Token, Preset: frame.Entrance(g.Course), Nameless: g.Nameless,
		Hidden: controlLabels(g.Target, g.Hidden), Frozen: controlLabels(g.Target, g.Frozen),
	}
	p.Total = len(copies)
	p.Blocked = lists.Map(blocks, func(b store.Blocked) teachview.Blocked { return teachview.Blocked(b) })
	p.Overlay = g.overlay(copies, q["run"])
	runs, list, err := a.pageOf(r.Context(), g, q)
	if err != nil {
		return err
	}
	if g.Nameless {
		for i := range runs {
			runs[i].Name = results.Nameless(runs[i].ID)
		}
	}
	columns := galleryColumns(runs)
	rank, words := ranking(columns, runs)
	if i := slices.IndexFunc(columns, func(c galleryColumn) bool { return c.key == rank }); i > 0 { // shown on phones, too
		ranked := columns[i]
		columns = slices.Insert(slices.Delete(columns, i, i+1), 1, ranked)
	}
	if q.Get("sort") == "" {
		p.Ranking = words
	}
	if len(copies) > galleryPage {
		p.Pages = views.PagesOf(1+list.Offset/galleryPage, galleryPage, len(runs), len(copies), func(page int) string {
			v := maps.Clone(q)
			v.Set("page", strconv.Itoa(page))
			return g.base + "?" + v.Encode() + "#gallery"
		})
	}
	with, twins := namesakes(copies)
	for _, c := range columns {
		col := views.Column{Label: c.label, Number: c.number}
		v := url.Values{"sort": {c.key}, "run": q["run"]}
		if c.key == list.Sort {
			col.Sort = map[bool]string{true: "descending", false: "ascending"}[list.Desc]
			if !list.Desc {
				v.Set("desc", "1")
			}
		}
		col.Href = g.base + "?" + v.Encode() + "#gallery"
		p.Columns = append(p.Columns, col)
	}
	p.Training = lists.Count(copies, func(c store.Copy) bool { return !c.Status.Ended() })
	for _, run := range runs {
		row := teachview.GalleryRow{ID: run.ID, Name: run.Name, Twin: twins[run.ID], With: with[run.ID], Chosen: slices.Contains(q["run"], run.ID)}
		if run.Status.Ended() {
			row.Href = g.base + "/runs/" + run.ID
		}
		if run.Status == store.Done {
			name, what := pictures.ListFigure(run.Report)
			row.Thumb = pictures.Thumbnail(g.base+"/runs/"+run.ID+"/figures/", name, "", what+" of "+run.Name)
		}
		for _, c := range columns[1:] {
			if c.key == handedIn {
				row.Cells = append(row.Cells, teachview.GalleryCell{At: run.Created})
			} else {
				row.Cells = append(row.Cells, teachview.GalleryCell{Text: c.text(run)})
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return a.Render(w, r, teachview.GalleryPage(p))
}

// galleryPage is the number of submissions on one page of a gallery.
const galleryPage = 100

// pageOf reads the runs of one page and returns their order: by default by the score on held-out
// points, best first, or by time if nothing was held out.
func (a *Handler) pageOf(ctx context.Context, g Course, q url.Values) (runs []store.Run, list store.Filter, err error) {
	page, _ := strconv.Atoi(q.Get("page")) // the first if invalid
	list = store.Filter{Sort: q.Get("sort"), Desc: q.Get("desc") == "1", Fair: true, Limit: galleryPage, Offset: (min(max(page, 1), 1e6) - 1) * galleryPage}
	asked := list.Sort
	for _, rank := range []string{"test_accuracy", "test_r2", ""} {
		if asked == "" {
			list.Sort, list.Desc = rank, rank != ""
		}
		if runs, _, err = a.Store.Runs(ctx, g.Gallery(), list); err != nil || asked != "" || rank == "" {
			break
		}
		// Runs without the value sort last, so the first shows whether any has it.
		first := runs
		if list.Offset > 0 {
			if first, _, err = a.Store.Runs(ctx, g.Gallery(), store.Filter{Sort: rank, Desc: true, Limit: 1}); err != nil {
				break
			}
		}
		if len(having(rank, first[:min(1, len(first))])) > 0 {
			break
		}
	}
	return runs, list, err
}

// state returns a string that changes whenever the page does.
func (g Course) state(prefix, origin string, q url.Values, copies []store.Copy, over bool, blocks []store.Blocked) string {
	h := sha256.New()
	fmt.Fprintln(h, prefix, origin, g.base, g.Course, over, blocks, q.Encode()) // the whole course, since it can be edited
	for _, c := range copies {
		fmt.Fprintln(h, c.Run, c.Status)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// overlay returns the picture of the chosen boundaries, or of all if none is chosen.
func (g Course) overlay(copies []store.Copy, chosen []string) (p views.Picture) {
	ids := finished(copies, chosen)
	if len(ids) < 2 {
		return p
	}
	caption := fmt.Sprintf("The boundaries of %d hand-ins on common axes. Hatched: the predictions disagree.", len(ids))
	if done := finished(copies, nil); len(ids) < len(done) {
		caption += fmt.Sprintf(" %d of %d are drawn.", len(ids), len(done))
	}
	if slices.ContainsFunc(copies, func(c store.Copy) bool { return c.Hash != copies[0].Hash }) {
		caption += " Not all were trained on the same points: those of the first are shown."
	}
	return pictures.Linked(g.base+"/figures/", "overlay", url.Values{"run": ids}.Encode(), overlayWidth, overlayHeight, caption, caption)
}

// finished returns the ids of finished runs, the latest if there are too many.
func finished(copies []store.Copy, chosen []string) (ids []string) {
	for _, c := range copies {
		if c.Status == store.Done && (len(chosen) == 0 || slices.Contains(chosen, c.Run)) {
			ids = append(ids, c.Run)
		}
	}
	return ids[max(0, len(ids)-mostOverlaid):]
}

func differ(runs []store.Run, f func(store.Run) string) bool {
	return slices.ContainsFunc(runs, func(r store.Run) bool { return f(r) != f(runs[0]) })
}

func having(field string, runs []store.Run) []store.Run {
	f, _ := store.LookupField(field)
	return lists.Filter(runs, func(r store.Run) bool { return f.Value(r) != nil })
}

// galleryColumn is a column of the table, with its text for a run and its sort key.
type galleryColumn struct {
	key, label string
	number     bool
	text       func(store.Run) string
}

// galleryNumbers lists the quantities worth comparing at a glance, with short
// headings.
var galleryNumbers = []struct{ name, label string }{
	{"test_accuracy", "Test accuracy"}, {"train_accuracy", "Training accuracy"}, {"test_r2", "Test R²"}, {"r2", "Training R²"}, {"support_vectors", "SVs"}, {"margin", "Margin 1/|w|"}, {"h", "h"},
}

// handedIn is the key of the column with the times.
const handedIn = "created"

// galleryColumns returns the columns: name, time, the settings in which the runs differ, and
// their numbers.
func galleryColumns(runs []store.Run) []galleryColumn {
	columns := []galleryColumn{
		{key: "name", label: "Name", text: func(r store.Run) string { return r.Name }},
		{key: handedIn, label: "Handed in"},
	}
	add := func(c galleryColumn) { columns = append(columns, c) }
	if differ(runs, func(r store.Run) string { return string(r.Status) }) || len(runs) > 0 && runs[0].Status != store.Done {
		add(galleryColumn{key: "status", label: "Status", text: func(r store.Run) string { return string(r.Status) }})
	}
	if differ(runs, func(r store.Run) string { return r.DatasetName }) {
		add(galleryColumn{key: "data", label: "Data", text: func(r store.Run) string { return r.DatasetName }})
	}
	for _, p := range ml.Params {
		value := func(r store.Run) string {
			if !r.Spec.Applies(p.Name) {
				return ""
			}
			return results.OptionLabel(p, r.Spec.Text(p.Name))
		}
		if !differ(runs, value) {
			continue
		}
		number := p.Kind == param.Number || p.Kind == param.Integer
		add(galleryColumn{key: p.Name, label: cmp.Or(p.Symbol, p.Label), number: number, text: func(r store.Run) string {
			v, err := strconv.ParseFloat(r.Spec.Text(p.Name), 64) // its label may have a minus sign
			if err == nil && number && value(r) != "" {
				return views.Short(v)
			}
			return cmp.Or(value(r), "–")
		}})
	}
	for _, n := range galleryNumbers {
		if len(having(n.name, runs)) == 0 {
			continue
		}
		f, _ := store.LookupField(n.name)
		add(galleryColumn{key: n.name, label: n.label, number: true, text: func(r store.Run) string {
			v, ok := f.Value(r).(float64)
			switch {
			case !ok:
				return "–"
			case f.Unit == ml.Share:
				return param.Percent(v)
			}
			return views.Short(v)
		}})
	}
	return columns
}

// ranking returns the default sort column of a gallery, best first, with its description.
// Training accuracy rewards memorising, so without held-out points the order is by time.
func ranking(columns []galleryColumn, runs []store.Run) (key, words string) {
	if len(runs) == 0 {
		return "", ""
	}
	for _, c := range columns {
		if c.key != "test_accuracy" && c.key != "test_r2" {
			continue
		}
		ranked := having(c.key, runs)
		words = "Ranked by held-out points only."
		if differ(ranked, func(r store.Run) string { return r.Hash + r.Spec.Text("test_fraction") + " " + r.Spec.Text("seed") }) {
			words += " Not all held out the same points: small differences say little."
		}
		if len(ranked) < len(runs) {
			words += " Runs without such a value come last."
		}
		return c.key, words
	}
	return "", "Not ranked: no run has a value on held-out points."
}

// namesakes returns, by run id, the other names used by the same student, and the runs under a
// name that another student also uses.
func namesakes(copies []store.Copy) (with map[string]string, twins map[string]bool) {
	names, called := map[store.Workspace][]string{}, map[string]map[store.Workspace]bool{}
	for _, c := range copies {
		name := folded(c.Name)
		names[c.Workspace] = append(names[c.Workspace], c.Name)
		if called[name] == nil {
			called[name] = map[store.Workspace]bool{}
		}
		called[name][c.Workspace] = true
	}
	with, twins = map[string]string{}, map[string]bool{}
	for _, c := range copies {
		others := slices.DeleteFunc(slices.Clone(names[c.Workspace]), func(name string) bool { return name == c.Name })
		with[c.Run], twins[c.Run] = strings.Join(others, ", "), len(called[folded(c.Name)]) > 1
	}
	return with, twins
}

// folded normalises names that look the same, ignoring case, spaces and invisible characters.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// controlLabels returns the labels of controls as on the course's page.
func controlLabels(target string, names []string) []string {
	own := map[string]string{}
	if l := lessonOf(store.Course{Target: target}); l != nil {
		for _, sc := range l.Screens {
			if sc.Demo == nil {
				continue
			}
			for _, p := range sc.Demo.Params() {
				own[p.Name] = cmp.Or(own[p.Name], p.Label)
			}
		}
	}
	return lists.Map(names, func(n string) string { return cmp.Or(own[n], frame.ControlLabel(n)) })
}

// Close closes a course for submissions or reopens it.
func (a *Handler) Close(w http.ResponseWriter, r *http.Request, g Course) error {
	return frame.Done(w, r, g.base, a.Store.CloseCourse(r.Context(), g.Code, r.PostFormValue("closed") == "1"))
}

// End sets the end of the course, in UTC, or removes it.
func (a *Handler) End(w http.ResponseWriter, r *http.Request, g Course) error {
	var ends time.Time
	if typed := r.PostFormValue("ends"); r.PostFormValue("lift") != "1" {
		var err error
		if ends, err = time.Parse("2006-01-02T15:04", typed); err != nil || ends.Year() < 1971 || ends.Year() > 9999 {
			return param.Problems{{Field: "ends", Message: fmt.Sprintf("The end %q is not a date and time: write it like 2030-01-31T18:00.", typed)}}
		}
	}
	return frame.Done(w, r, g.base, a.Store.EndCourse(r.Context(), g.Code, ends))
}

// Block deletes all submissions of the students of the ticked runs and refuses further ones.
func (a *Handler) Block(w http.ResponseWriter, r *http.Request, g Course) error {
	return frame.Done(w, r, g.base+"#gallery", a.Store.Block(r.Context(), g.Code, r.PostForm["run"]))
}

// Unblock accepts submissions of a blocked student again.
func (a *Handler) Unblock(w http.ResponseWriter, r *http.Request, g Course) error {
	id, err := strconv.ParseInt(r.PostFormValue("block"), 10, 64)
	if err != nil {
		return store.ErrNotFound
	}
	return frame.Done(w, r, g.base, a.Store.Unblock(r.Context(), g.Code, id))
}

// Delete deletes the course with its gallery. Its trainings continue, because it can be restored.
func (a *Handler) Delete(w http.ResponseWriter, r *http.Request, g Course) error {
	_, err := a.Store.CourseOf(r.Context(), frame.Workspace(r.Context()), g.Code)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := a.Store.DeleteCourse(r.Context(), g.Code); err != nil {
		return err
	}
	if err != nil { // via the teacher's link; the course's workspace has the undo
		return frame.Redirect(w, r, "/courses")
	}
	return a.Deleted(w, r, "/courses")
}

// DeleteHandins deletes the selected submissions.
func (a *Handler) DeleteHandins(w http.ResponseWriter, r *http.Request, g Course) error {
	return frame.Done(w, r, g.base+"#gallery", a.Jobs.Delete(r.Context(), g.Gallery(), r.PostForm["run"]))
}

// GalleryFigure sends the picture of the boundaries of the runs in the query. It omits withdrawn
// runs and those on other axes than most.
func (a *Handler) GalleryFigure(w http.ResponseWriter, r *http.Request, g Course) error {
	name, format, err := pictures.FigureName(r)
	if err != nil || name != "overlay" {
		return store.ErrNotFound
	}
	all, err := a.Store.Copies(r.Context(), g.Course)
	if err != nil {
		return err
	}
	ids := finished(all, r.URL.Query()["run"])
	if len(ids) < 2 {
		return store.ErrNotFound
	}
	read := func(ctx context.Context, find func(context.Context, store.Workspace, string) (store.Run, error)) (runs []store.Run, err error) {
		for _, id := range ids {
			run, err := find(ctx, g.Gallery(), id)
			if errors.Is(err, store.ErrNotFound) { // withdrawn at this moment
				continue
			} else if err != nil {
				return nil, err
			}
			if g.Nameless {
				run.Name = results.Nameless(run.ID)
			}
			runs = append(runs, run)
		}
		return runs, nil
	}
	o := pictures.Sized(r, pictures.MainWidth, pictures.MainHeight)
	runs, err := read(r.Context(), a.Store.RunWithoutModels)
	if err != nil {
		return err
	}
	return a.SendOverlay(w, r, runs, o, format, func(ctx context.Context) ([]figure.Layer, error) {
		whole, err := read(ctx, a.Store.Run)
		if err != nil {
			return nil, err
		}
		layers, err := a.Layers(ctx, whole, o)
		return sameAxes(layers), err
	})
}

// sameAxes returns the layers on the most common axes.
func sameAxes(layers []figure.Layer) []figure.Layer {
	count := map[[2]string]int{}
	var most [2]string
	for _, l := range layers {
		axes := l.Scene.View.Labels
		if count[axes]++; count[axes] > count[most] {
			most = axes
		}
	}
	return slices.DeleteFunc(layers, func(l figure.Layer) bool { return l.Scene.View.Labels != most })
}
