// Package reports serves reports: texts with runs, searches, studies and comparisons, frozen when
// they are inserted.
package reports

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/repeat"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	reportsview "marginlab/views/reports"
	"marginlab/web"
	"marginlab/web/cache"
)

// Handler serves the reports of a workspace.
type Handler struct {
	*frame.Base
	runs    Runs
	studies Studies
	recent  *cache.Recent[decoded] // by version, since every figure of a page needs its report
}

// decoded is a report with the size of its text in bytes.
type decoded struct {
	store.Report
	size int
}

// recentBytes bounds the cached reports: one of the largest, or many others.
const recentBytes = store.MaxFrozen

// Runs freezes runs and comparisons.
type Runs interface {
	ReportRun(ctx context.Context, id, figure string) (store.ReportItem, error)
	ReportComparison(ctx context.Context, q url.Values) (store.ReportItem, error)
}

// Studies freezes searches and studies.
type Studies interface {
	ReportSearch(ctx context.Context, id string) (store.ReportItem, error)
	ReportStudy(ctx context.Context, id string) (store.ReportItem, error)
}

// New returns the handlers of reports, whose items runs and studies freeze.
func New(h *frame.Base, runs Runs, studies Studies) *Handler {
	return &Handler{h, runs, studies, cache.NewWeighed(recentBytes, func(d decoded) int { return d.size })}
}

// freeze returns the current state of the item at an address.
func (a *Handler) freeze(ctx context.Context, address string) (item store.ReportItem, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return item, err
	}
	words := strings.Split(u.Path, "/") // "", kind, id, "figures", name
	switch words[1] {
	case "compare":
		item, err = a.runs.ReportComparison(ctx, u.Query())
	case "runs":
		item, err = a.runs.ReportRun(ctx, words[2], strings.Join(words[min(len(words), 4):], ""))
	case "searches":
		item, err = a.studies.ReportSearch(ctx, words[2])
	default:
		item, err = a.studies.ReportStudy(ctx, words[2])
	}
	item.Address, item.Saved = address, a.Store.Now().UTC()
	return item, err
}

func (a *Handler) sourceExists(ctx context.Context, address string) (bool, error) {
	u, err := url.Parse(address)
	if err != nil {
		return false, nil
	}
	ids, kind := u.Query()["run"], "runs"
	if words := strings.Split(u.Path, "/"); len(words) > 2 {
		ids, kind = words[2:3], words[1]
	}
	ws := frame.Workspace(ctx)
	for _, id := range ids {
		switch kind {
		case "runs":
			_, err = a.Store.RunWithoutModels(ctx, ws, id)
		case "searches":
			_, err = a.Store.Search(ctx, ws, id)
		default:
			_, err = a.Store.Study(ctx, ws, id)
		}
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// itemsOf returns the items of a text: existing ones unchanged, unless refreshed and still
// available, and new ones in their current state. Errors in the text are param.Problems.
func (a *Handler) itemsOf(ctx context.Context, before store.Frozen, text string, refresh bool) (f store.Frozen, err error) {
	addresses, err := addressesOf(text)
	if err != nil {
		return f, err
	}
	ctx, leave, err := a.PageTurn(ctx)
	if err != nil {
		return f, err
	}
	defer leave()
	return limiter.Within(ctx, a.Patience, "Place fewer items at once, or smaller data sets.", func(ctx context.Context) (store.Frozen, error) {
		f.Points = map[string]string{}
		for _, address := range addresses {
			at := slices.IndexFunc(before.Items, func(i store.ReportItem) bool { return i.Address == address })
			if at >= 0 && !refresh {
				f.Items = append(f.Items, before.Items[at])
				continue
			}
			item, err := a.freeze(ctx, address)
			switch {
			case errors.Is(err, store.ErrNotFound) && at >= 0:
				item = before.Items[at]
			case errors.Is(err, store.ErrNotFound):
				return f, param.Problems{{Field: "text", Message: "text: " + address + " is not a page of this workspace"}}
			case err != nil:
				return f, err
			}
			f.Items = append(f.Items, item)
		}
		return f, a.addPoints(ctx, &f, before)
	})
}

// addressesOf returns the addresses of the items of a text, each once, or param.Problems.
func addressesOf(text string) (addresses []string, err error) {
	if n := utf8.RuneCountInString(text); n > store.MaxReportText {
		return nil, param.Problems{{Field: "text", Message: fmt.Sprintf("text: it has %d characters; at most %d are allowed", n, store.MaxReportText)}}
	}
	places := 0
	for _, p := range split(text) {
		if p.address == "" {
			if _, err := lessons.Prose(p.prose); err != nil {
				return nil, param.Problems{{Field: "text", Message: "text: " + err.Error()}}
			}
			continue
		}
		places++
		if !slices.Contains(addresses, p.address) {
			addresses = append(addresses, p.address)
		}
	}
	if places > store.MaxReportItems {
		return nil, param.Problems{{Field: "text", Message: fmt.Sprintf("text: it shows more than %d items; remove some, or write a second report", store.MaxReportItems)}}
	}
	return addresses, nil
}

// addPoints adds the points of the items of f, from before or the store.
func (a *Handler) addPoints(ctx context.Context, f *store.Frozen, before store.Frozen) error {
	size := 0
	for _, item := range f.Items {
		for _, hash := range item.Task.Hashes() {
			if f.Points[hash] = cmp.Or(f.Points[hash], before.Points[hash]); f.Points[hash] != "" {
				continue
			}
			d, err := a.Store.Data(ctx, hash)
			if err != nil {
				return err
			}
			var b strings.Builder
			if err := d.Encode(&b); err != nil {
				return err
			}
			f.Points[hash] = b.String()
			if size += b.Len(); size > store.MaxFrozen {
				return param.Problems{{Field: "text", Message: fmt.Sprintf("The data of these items exceed %d MB. Place fewer items, or some in another report.", store.MaxFrozen>>20)}}
			}
		}
	}
	return nil
}

// List shows the reports of the workspace.
func (a *Handler) List(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Store.Reports(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := reportsview.Reports{Page: a.frame("Reports")}
	if p.Undo, err = a.Undo(r); err != nil {
		return err
	}
	for _, one := range list {
		row := reportsview.Row{ID: one.ID, Title: one.Title, Updated: results.When(one.Updated), Shared: one.Share != ""}
		row.Items = lists.Count(split(one.Text), func(p part) bool { return p.address != "" })
		p.Rows = append(p.Rows, row)
	}
	return a.Render(w, r, reportsview.ReportsPage(p))
}

// Page shows a report.
func (a *Handler) Page(w http.ResponseWriter, r *http.Request) error {
	one, p, err := a.shown(w, r)
	if err != nil {
		return err
	}
	for _, part := range p.Parts {
		if item := part.Item; item != nil {
			exists, err := a.sourceExists(r.Context(), item.Source)
			if err != nil {
				return err
			}
			item.Gone = !exists
		}
	}
	if one.Share != "" {
		p.ShareURL = a.Links.Origin(r) + "/shared/reports/" + one.Share
		if p.ShareQR, err = pictures.QR(r.Context(), p.ShareURL); err != nil {
			return err
		}
	}
	return a.Render(w, r, reportsview.ReportPage(p))
}

// Shared shows the report of a read-only link.
func (a *Handler) Shared(w http.ResponseWriter, r *http.Request) error {
	_, p, err := a.shown(w, r)
	if err != nil {
		return err
	}
	p.Bare = true
	for _, part := range p.Parts {
		if part.Item != nil {
			part.Item.Source = ""
		}
	}
	return a.Render(w, r, reportsview.ReportPage(p))
}

// shown returns the requested report and its page.
func (a *Handler) shown(w http.ResponseWriter, r *http.Request) (one store.Report, p reportsview.Report, err error) {
	one, leave, err := a.read(w, r)
	if err != nil {
		return one, p, err
	}
	defer leave()
	base := "/reports/" + one.ID
	if chi.URLParam(r, "token") != "" {
		base = "/shared/reports/" + one.Share
	}
	p, err = a.view(one, base)
	p.Page = a.frame(one.Title)
	return one, p, err
}

// read returns the requested report, by id or by its read-only link, from the cache or once there is
// memory for it. The report is shared and must not be modified. leave releases the memory and must be
// called before anything is sent to a possibly slow client.
func (a *Handler) read(w http.ResponseWriter, r *http.Request) (one store.Report, leave func(), err error) {
	return a.find(w, r, chi.URLParam(r, "id"), chi.URLParam(r, "token"))
}

// find is read for the report with an id or the token of a read-only link.
func (a *Handler) find(w http.ResponseWriter, r *http.Request, id, token string) (one store.Report, leave func(), err error) {
	ctx := r.Context()
	found, err := a.Store.ReportWithoutItems(ctx, frame.Workspace(ctx), id, token)
	if err != nil {
		return one, nil, err
	}
	key := found.ID + " " + version(found)
	if d, ok := a.recent.Find(key); ok {
		d.Share = found.Share // sharing makes no new version
		return d.Report, func() {}, nil
	}
	size, err := a.Store.ReportBytes(ctx, found.ID)
	if err != nil {
		return one, nil, err
	}
	if leave, err = a.Admit(ctx, w, size); err != nil {
		return one, nil, err
	}
	d, err := a.recent.Get(ctx, key, func(ctx context.Context) (decoded, error) {
		report, err := a.Store.ReportVersion(ctx, found)
		return decoded{report, int(size / 4)}, err
	})
	leave = sync.OnceFunc(leave)
	if err != nil {
		leave()
	}
	if errors.Is(err, store.ErrNotFound) { // changed meanwhile
		return a.find(w, r, id, token)
	}
	d.Share = found.Share
	return d.Report, leave, err
}

// day is the date format.
const day = "2 January 2006"

// view returns a report for a page. Without a base its figures are embedded.
func (a *Handler) view(one store.Report, base string) (p reportsview.Report, err error) {
	p = reportsview.Report{ID: one.ID, Title: one.Title, Base: base}
	if !one.Updated.IsZero() {
		p.Updated = one.Updated.Format(day)
	}
	figures, tables := 0, 0
	err = eachPart(one, func(prose string) error {
		html, err := lessons.Prose(prose)
		if err != nil {
			return param.Problems{{Field: "text", Message: "text: " + err.Error()}}
		}
		p.Parts = append(p.Parts, reportsview.Part{Prose: html})
		return nil
	}, func(caption string, item store.ReportItem, at int) error {
		v := &reportsview.Item{Caption: caption, Verdict: item.Verdict, Details: item.Details, Saved: item.Saved.Format(day), Source: item.Address}
		for i, f := range item.Figures {
			figures++
			pic := views.Picture{Alt: f.Caption, Caption: f.Title, Width: f.Width, Height: f.Height, NarrowSize: [2]int{f.NarrowWidth, f.NarrowHeight}}
			if base == "" {
				pic.Src, pic.DarkSrc, pic.Narrow, pic.NarrowDark = inline(f.SVG), inline(f.Dark), inline(f.Narrow), inline(f.NarrowDark)
			} else {
				pic.Src = fmt.Sprintf("%s/figures/%d-%d.svg", base, at+1, i+1)
				pic.DarkSrc, pic.Narrow, pic.NarrowDark = pic.Src+"?dark=1", pic.Src+"?narrow=1", pic.Src+"?narrow=1&dark=1"
			}
			v.Figures = append(v.Figures, reportsview.Figure{Number: figures, Picture: pic})
		}
		for _, t := range item.Tables {
			tables++
			v.Tables = append(v.Tables, reportsview.Table{Number: tables, StudyTable: results.StudyTable(t)})
		}
		if c := command(item, at); c != "" {
			p.Repeat = append(p.Repeat, views.Option{Label: caption, Value: c})
		}
		p.Parts = append(p.Parts, reportsview.Part{Item: v})
		return nil
	})
	if err != nil {
		return p, err
	}
	p.Points = base != "" && slices.ContainsFunc(one.Frozen.Items, func(i store.ReportItem) bool { return repeats(i.Task) })
	return p, nil
}

func inline(svg []byte) string {
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg)
}

// command returns the terminal command that repeats an item; the file of a study is the
// downloaded one.
func command(item store.ReportItem, at int) string {
	if item.Task.Study != nil {
		return "marginlab study " + studyFile(at)
	}
	return item.Command
}

func studyFile(at int) string { return fmt.Sprintf("study-%d.toml", at+1) }

// repeats reports whether a task can be repeated.
func repeats(t repeat.Task) bool { return t.Spec != nil || t.Study != nil || t.Runs != nil }

// Edit shows the editor of a report; without an id, of a new one.
func (a *Handler) Edit(w http.ResponseWriter, r *http.Request) error {
	p := reportsview.Editor{Request: rand.Text()}
	if chi.URLParam(r, "id") != "" {
		one, leave, err := a.read(w, r)
		if err != nil {
			return err
		}
		leave()
		p.ID, p.Title, p.Text, p.Updated = one.ID, one.Title, one.Text, version(one)
	}
	return a.editor(w, r, p)
}

// version returns a string that changes with every change of a report.
func version(one store.Report) string {
	if one.ID == "" {
		return ""
	}
	return strconv.FormatInt(one.Updated.UnixMilli(), 10)
}

// choices is the number of items of a kind that the editor offers.
const choices = 12

func (a *Handler) editor(w http.ResponseWriter, r *http.Request, p reportsview.Editor) error {
	ctx, ws := r.Context(), frame.Workspace(r.Context())
	p.Page = a.frame("Report")
	done, err := store.ParseQuery("status = done")
	if err != nil {
		return err
	}
	runs, _, err := a.Store.Runs(ctx, ws, store.Filter{Where: done, Sort: "created", Desc: true, Limit: choices})
	if err != nil {
		return err
	}
	searches, _, err := a.Store.Searches(ctx, ws, choices, 0)
	if err != nil {
		return err
	}
	studies, _, err := a.Store.Studies(ctx, ws, choices, 0)
	if err != nil {
		return err
	}
	kinds := []reportsview.Choices{{Kind: "Runs"}, {Kind: "Searches"}, {Kind: "Studies"}}
	for _, run := range runs {
		kinds[0].Items = append(kinds[0].Items, views.Option{Value: placed(run.Name, "/runs/"+run.ID), Label: run.Name})
	}
	for _, s := range searches {
		if s.Status == store.Done {
			title := results.SearchAndData(s)
			kinds[1].Items = append(kinds[1].Items, views.Option{Value: placed(title, "/searches/"+s.ID), Label: title})
		}
	}
	for _, s := range studies {
		if s.Status() == store.Done {
			kinds[2].Items = append(kinds[2].Items, views.Option{Value: placed(s.Title, "/studies/"+s.ID), Label: s.Title})
		}
	}
	p.Choices = kinds
	return a.Render(w, r, reportsview.EditorPage(p))
}

// Save stores a report, shows its preview, or inserts an item at the end of its text.
func (a *Handler) Save(w http.ResponseWriter, r *http.Request) error {
	ctx, ws := r.Context(), frame.Workspace(r.Context())
	p := reportsview.Editor{
		ID: chi.URLParam(r, "id"), Title: r.PostFormValue("title"), Text: strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n"),
		Request: r.PostFormValue("request"), Updated: r.PostFormValue("updated"), Refresh: r.PostFormValue("refresh") == "1",
	}
	var before store.Report
	if p.ID != "" {
		var err error
		var leave func()
		if before, leave, err = a.read(w, r); err != nil {
			return err
		}
		leave()
	}
	if line := r.PostFormValue("place"); line != "" {
		p.Text = strings.TrimRight(p.Text, "\n") + "\n\n" + line + "\n"
		return a.editor(w, r, p)
	}
	id := p.ID
	f, err := a.itemsOf(ctx, before.Frozen, p.Text, p.Refresh)
	switch {
	case err != nil:
	case r.PostFormValue("act") == "preview":
		var shown reportsview.Report
		if shown, err = a.view(store.Report{Title: p.Title, Text: p.Text, Frozen: f}, ""); err == nil {
			p.Preview = &shown
			return a.editor(w, r, p)
		}
	case p.Updated != "" && p.Updated != version(before):
		p.Updated = version(before)
		err = param.Problems{{Field: "text", Message: "The report was changed elsewhere in the meantime. Save again to replace it with this text."}}
	case id == "":
		before, err = a.Store.CreateReport(ctx, ws, store.Request{Key: p.Request}, p.Title, p.Text, f)
		id = before.ID
	default:
		if err = a.Store.UpdateReport(a.unchanged(ctx, before), ws, id, p.Title, p.Text, f); errors.Is(err, errChanged) {
			p.Updated = "" // saving again replaces it
		}
	}
	if err == nil {
		return frame.Redirect(w, r, "/reports/"+id)
	}
	if problems, ok := errors.AsType[param.Problems](err); ok {
		p.TitleError, p.TextError = results.FieldMessage(problems, "title"), results.FieldMessage(problems, "text")
	} else if p.Problem, err = results.UserMessage(err); err != nil {
		return err
	}
	w.WriteHeader(http.StatusUnprocessableEntity)
	return a.editor(w, r, p)
}

var errChanged = web.Errorf(web.Conflict, "The report was changed elsewhere at the same moment. Nothing was saved; try again.")

// unchanged returns a context whose change returns errChanged if a report has changed since it was
// read.
func (a *Handler) unchanged(ctx context.Context, read store.Report) context.Context {
	return store.OnlyIf(ctx, func(ctx context.Context) error {
		now, err := a.Store.ReportWithoutItems(ctx, frame.Workspace(ctx), read.ID, "")
		if err == nil && !now.Updated.Equal(read.Updated) {
			err = errChanged
		}
		return err
	})
}

// Add appends an item to a report, or to a new one.
func (a *Handler) Add(w http.ResponseWriter, r *http.Request) error {
	ctx, ws := r.Context(), frame.Workspace(r.Context())
	address, ok := addressOf(r.PostFormValue("address"))
	if !ok {
		return param.Problems{{Field: "address", Message: "give the address of a run, a search, a study or a comparison"}}
	}
	var one store.Report
	var err error
	if id := r.PostFormValue("report"); id != "" {
		var leave func()
		if one, leave, err = a.find(w, r, id, ""); err != nil {
			return err
		}
		leave()
	}
	f, err := a.itemsOf(ctx, one.Frozen, one.Text+"\n\n"+placed("", address), false)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(f.Items, func(i store.ReportItem) bool { return i.Address == address })
	if at < 0 {
		return param.Problems{{Field: "report", Message: "report: its text ends inside a code block, where items cannot be placed; close the block with ``` first"}}
	}
	text := one.Text + "\n\n" + placed(f.Items[at].Title, address)
	if one.ID == "" {
		one, err = a.Store.CreateReport(ctx, ws, store.Request{}, "Report of "+a.Store.Now().UTC().Format(day), text, f)
	} else {
		err = a.Store.UpdateReport(a.unchanged(ctx, one), ws, one.ID, one.Title, text, f)
	}
	return frame.Done(w, r, "/reports/"+one.ID+"/edit", err)
}

func (a *Handler) frame(title string) views.Page {
	p := a.Frame(title, "runs")
	p.Help = "reports"
	return p
}

// Figure sends a figure of a report.
func (a *Handler) Figure(w http.ResponseWriter, r *http.Request) error {
	one, leave, err := a.read(w, r)
	if err != nil {
		return err
	}
	leave()
	name, ok := strings.CutSuffix(chi.URLParam(r, "figure"), ".svg")
	first, second, _ := strings.Cut(name, "-")
	i, wrong := strconv.Atoi(first)
	k, wrongToo := strconv.Atoi(second)
	if items := one.Frozen.Items; !ok || wrong != nil || wrongToo != nil || i < 1 || i > len(items) || k < 1 || k > len(items[i-1].Figures) {
		return store.ErrNotFound
	}
	f := one.Frozen.Items[i-1].Figures[k-1]
	svg := f.SVG
	switch dark, narrow := r.FormValue("dark") == "1", r.FormValue("narrow") == "1"; {
	case dark && narrow:
		svg = f.NarrowDark
	case narrow:
		svg = f.Narrow
	case dark:
		svg = f.Dark
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	// It may come from an imported archive: allow no scripts.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
	if web.Unchanged(w, r, web.TagOf(svg)) {
		return nil
	}
	return web.NewContent("image/svg+xml", bytes.Clone(svg)).Send(w, r)
}
