package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	runsview "marginlab/views/runs"
	"marginlab/web"
)

const (
	pageRows   = 25 // runs per page of the list
	groupRows  = 10 // runs shown in an open group
	openGroups = 20 // maximum number of open groups
	mostColumn = 24 // maximum number of columns besides the name
)

// firstColumns lists the default columns besides the name.
var firstColumns = []string{"data", "learner", "kernel", "conformal", "C", "estimate", "support_vectors", "status", "created"}

// headings holds short names of fields with long labels.
var headings = map[string]string{"estimate": "accuracy", "support_vectors": "SVs", "fit_seconds": "time", "conformal": "conformal"}

func heading(f store.Field) string { return results.Capital(cmp.Or(headings[f.Name], f.Label)) }

// lower returns text with a lower-case first letter, unless it starts with an abbreviation.
func lower(text string) string {
	if len(text) > 1 && text[1] >= 'a' && text[1] <= 'z' {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// table holds the query of a list of runs.
type table struct {
	store.Filter
	columns []store.Field
	group   *store.Field
	open    []string // values of open groups
	base    string   // id of the baseline
	page    int
}

// readTable parses a table from a query; kept holds the workspace's columns, used if the query has
// none. Errors are param.Problems.
func readTable(q url.Values, kept []string) (t table, err error) {
	t.Filter, err = results.RunFilter(q)
	var ps param.Problems
	if err != nil && !errors.As(err, &ps) {
		return t, err
	}
	t.page, _ = strconv.Atoi(q.Get("page"))
	t.page = max(t.page, 1)
	names := kept
	if text := q.Get("cols"); text != "" {
		names = strings.Split(text, ",")
	}
	if len(names) == 0 {
		names = firstColumns
	}
	for _, name := range names {
		f, ok := store.LookupField(strings.TrimSpace(name))
		switch {
		case !ok && !q.Has("cols"): // stored before a field was removed
		case !ok:
			ps.Add("cols", "there is no field %q%s", name, param.DidYouMean(name, "", results.FieldNames()))
		case f.Name != "name" && !slices.ContainsFunc(t.columns, func(c store.Field) bool { return c.Name == f.Name }):
			t.columns = append(t.columns, f)
		}
	}
	if len(t.columns) > mostColumn {
		ps.Add("cols", "a list shows at most %d columns, not %d", mostColumn, len(t.columns))
	}
	if name := q.Get("group"); name != "" {
		f, ok := store.LookupField(name)
		if !ok {
			ps.Add("group", "there is no field %q%s", name, param.DidYouMean(name, "", results.FieldNames()))
		}
		t.group = &f
	}
	t.open, t.base = q["open"], q.Get("base")
	return t, ps.Err()
}

// best returns the field by which to choose the best run of a group: the sort field if better is
// defined for it, else the accuracy by the best evidence.
func (t table) best() store.Field {
	if f, ok := store.LookupField(t.Sort); ok && f.Better != 0 {
		return f
	}
	f, _ := store.LookupField("estimate")
	return f
}

// address returns the URL of the list with some query fields replaced; "" removes a field.
func address(q url.Values, pairs ...string) string {
	to := maps.Clone(q)
	for i := 0; i+1 < len(pairs); i += 2 {
		to.Del(pairs[i])
		if pairs[i+1] != "" {
			to.Set(pairs[i], pairs[i+1])
		}
	}
	if len(to) == 0 {
		return "/runs"
	}
	return "/runs?" + to.Encode()
}

// List shows the runs of the workspace that match the query.
func (a *Handler) List(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	q.Del("deleted") // read by Undo
	ws := frame.Workspace(r.Context())
	if q.Get("add") != "" { // a column from the form below the table's
		q.Set("cols", strings.Trim(q.Get("cols")+","+q.Get("add"), ","))
		q.Del("add")
		return frame.Redirect(w, r, address(q, "keep", "1"))
	}
	for name, v := range q { // forms also send empty fields
		if v[0] == "" {
			q.Del(name)
		}
	}
	kept, err := a.Store.Columns(r.Context(), ws)
	if err != nil {
		return err
	}
	t, err := readTable(q, kept)
	var ps param.Problems
	switch {
	case errors.As(err, &ps) && ps.For("where") != "" && len(ps) == 1:
	case err != nil:
		return err
	case q.Has("keep"):
		return frame.Done(w, r, address(q, "keep", ""), a.Store.KeepColumns(r.Context(), ws, names(t.columns)))
	case results.Narrowed(q): // as in links from before where existed
		return frame.Redirect(w, r, address(q, "where", t.Where.String(), "q", "", "learner", "", "kernel", "", "conformal", "", "rule", "", "status", "", "tag", ""))
	}
	p := runsview.Runs{Page: a.Frame("Runs", "runs"), Filtered: q.Get("where") != "", Most: results.MostCompared, Back: address(q)}
	p.Export = "/runs.csv" + strings.TrimPrefix(address(q, "page", "", "open", "", "group", "", "base", "", "cols", strings.Join(names(t.columns), ",")), "/runs")
	p.Where, p.Fields = q.Get("where"), runFields()
	tags, err := a.Store.Tags(r.Context(), ws)
	if err != nil {
		return err
	}
	p.Tags = tags
	if t.group != nil {
		p.Group = t.group.Name
	}
	for _, k := range []string{"sort", "desc", "cols", "base"} {
		if q.Has(k) {
			p.Kept = append(p.Kept, views.Option{Label: k, Value: q.Get(k)})
		}
	}
	a.columns(&p, q, t)
	if p.Undo, err = a.Undo(r); err != nil {
		return err
	}
	p.Undo.Back = p.Back
	if len(ps) > 0 {
		t.Where = store.Query{} // keep all runs in view
	}
	if err := a.rows(r.Context(), ws, &p, q, t); err != nil {
		return err
	}
	if len(ps) > 0 {
		p.Problem, p.Caret = results.Sentence(ps.For("where"))+" All runs are listed.", caret(q.Get("where"))
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.Render(w, r, runsview.RunsPage(p))
}

// runFields returns the fields that a query can name.
func runFields() []runsview.RunField {
	return lists.Map(store.Fields(), func(f store.Field) runsview.RunField {
		return runsview.RunField{Name: f.Name, Label: f.Label, Help: f.Help, Values: f.Values, Kind: int(f.Kind), First: f.Summary}
	})
}

func names(fields []store.Field) []string {
	return lists.Map(fields, func(f store.Field) string { return f.Name })
}

// caret returns the line that points at a mistake in the query above it.
func caret(text string) string {
	var wrong *store.QueryError
	if _, err := store.ParseQuery(text); !errors.As(err, &wrong) {
		return ""
	}
	before := utf8.RuneCountInString(text[:len(text)-len(strings.TrimLeft(text, " \t\n"))]) + wrong.Column - 1
	return strings.Repeat(" ", before) + "^"
}

// columns fills in the headings with their links.
func (a *Handler) columns(p *runsview.Runs, q url.Values, t table) {
	head := func(f store.Field) views.Column {
		c := views.Column{Label: heading(f), Help: f.Help, Name: f.Name, Number: f.Kind == store.NumberField}
		sorted, _ := store.LookupField(t.Sort)
		desc := lists.Either(f.Better > 0, "1", "0")
		if sorted.Name == f.Name && t.Sort != "" {
			c.Sort, desc = "ascending", "1"
			if t.Desc {
				c.Sort, desc = "descending", "0"
			}
		}
		c.Href = address(q, "sort", f.Name, "desc", desc, "page", "")
		return c
	}
	name, _ := store.LookupField("name")
	p.Columns = append(p.Columns, head(name))
	all := names(t.columns)
	for i, f := range t.columns {
		c := head(f)
		c.Left, c.Right, c.Off = moves(all, i, 1, func(list string) string { return address(q, "cols", list, "keep", "1") })
		p.Columns = append(p.Columns, c)
	}
	p.Chosen = strings.Join(all, ",")
	if p.Chosen != strings.Join(firstColumns, ",") {
		p.AsFirst = address(q, "cols", strings.Join(firstColumns, ","), "keep", "1")
	}
}

// moves returns the URLs of a list with item i moved left, moved right and removed. They are empty
// if it cannot move, or if fewer than least items would remain.
func moves(list []string, i, least int, to func(list string) string) (left, right, off string) {
	without := slices.Delete(slices.Clone(list), i, i+1)
	at := func(place int) string {
		return to(strings.Join(slices.Insert(slices.Clone(without), place, list[i]), ","))
	}
	if i > 0 {
		left = at(i - 1)
	}
	if i < len(without) {
		right = at(i + 1)
	}
	if len(without) >= least {
		off = to(strings.Join(without, ","))
	}
	return left, right, off
}

// rows fills in the runs or groups.
func (a *Handler) rows(ctx context.Context, ws store.Workspace, p *runsview.Runs, q url.Values, t table) error {
	var base *store.Run
	if t.base != "" {
		switch run, err := a.Store.RunWithoutModels(ctx, ws, t.base); {
		case err == nil:
			base = &run
		case !errors.Is(err, store.ErrNotFound): // deleted; the others stay
			return err
		}
	}
	row := func(run store.Run) runsview.RunRow {
		v := Row(run)
		v.Baseline = base != nil && base.ID == run.ID
		if v.Pin = address(q, "base", run.ID); v.Baseline {
			v.Pin = address(q, "base", "")
		}
		v.Cells = lists.Map(t.columns, func(f store.Field) runsview.RunCell { return cell(v, f, run, base) })
		return v
	}
	t.Limit, t.Offset = pageRows, (t.page-1)*pageRows
	if t.group != nil {
		t.Limit, t.Offset = 1, 0 // only to count
	}
	runs, total, err := a.Store.Runs(ctx, ws, t.Filter)
	if err != nil {
		return err
	}
	p.Total = total
	if base != nil {
		v := row(*base)
		p.Base = &v
	}
	if t.group != nil {
		return a.groups(ctx, ws, p, q, t, row)
	}
	p.Pages = views.PagesOf(t.page, pageRows, len(runs), total, func(page int) string { return address(q, "page", strconv.Itoa(page)) })
	for _, run := range runs {
		if base == nil || run.ID != base.ID {
			p.Rows = append(p.Rows, row(run))
		}
	}
	return nil
}

// groups fills in the groups, with the runs of open ones.
func (a *Handler) groups(ctx context.Context, ws store.Workspace, p *runsview.Runs, q url.Values, t table, row func(store.Run) runsview.RunRow) error {
	best := t.best()
	groups, err := a.Store.Groups(ctx, ws, t.Where, *t.group, best)
	if err != nil {
		return err
	}
	p.Best = lower(heading(best))
	for _, g := range groups {
		v := runsview.RunGroup{Label: lower(heading(*t.group)) + " " + groupValue(*t.group, g), Runs: g.Runs}
		if g.Best != nil {
			v.Best, v.BestName, v.BestHref = number(best, *g.Best), g.Name, "/runs/"+g.Run
		}
		name := lists.Either(g.None, "none", g.Value)
		where, err := t.Where.In(*t.group, g)
		if err != nil {
			return err
		}
		v.All = address(q, "where", where.String(), "group", "", "open", "")
		others := slices.DeleteFunc(slices.Clone(t.open), func(s string) bool { return s == name })
		to := maps.Clone(q)
		if v.Open = len(others) < len(t.open); v.Open {
			if to["open"] = others; len(others) == 0 {
				to.Del("open")
			}
		} else {
			to["open"] = append(others, name)
		}
		v.Toggle = "/runs?" + to.Encode()
		if v.Open && slices.Index(t.open, name) < openGroups {
			f := t.Filter
			f.Where, f.Limit, f.Offset = where, groupRows, 0
			runs, _, err := a.Store.Runs(ctx, ws, f)
			if err != nil {
				return err
			}
			v.Rows = lists.Map(runs, row)
		}
		p.Groups = append(p.Groups, v)
	}
	p.MoreGroups = len(groups) == store.MaxGroups
	return nil
}

func groupValue(f store.Field, g store.Group) string {
	if g.None {
		return "–"
	}
	if v, err := strconv.ParseFloat(g.Value, 64); err == nil && f.Kind == store.NumberField {
		return number(f, v)
	}
	return g.Value
}

// number formats the value of a field.
func number(f store.Field, v float64) string {
	switch {
	case f.Unit == ml.Share:
		return param.Percent(v)
	case f.Unit == ml.Seconds:
		return results.Duration(v)
	}
	return views.Short(v)
}

// cell formats a field of a run, with its difference from the baseline.
func cell(v runsview.RunRow, f store.Field, run store.Run, base *store.Run) runsview.RunCell {
	c := runsview.RunCell{Value: f.Kind == store.NumberField}
	switch f.Name { // fields shown with more than their value
	case "learner":
		c.Text = v.Learner
	case "kernel":
		c.Text = v.Kernel
	case "C":
		c.Text = v.C
	case "estimate":
		c.Text, c.Under = v.Estimate, v.EstimateOf
	case "test_accuracy":
		c.Text = v.Test
	case "train_accuracy":
		c.Text = v.Train
	default:
		switch x := f.Value(run).(type) {
		case float64:
			c.Text = number(f, x)
		case string:
			c.Text = x
		case time.Time:
			c.Text = results.When(x)
		case []string:
			c.Text = strings.Join(x, ", ")
		}
	}
	if base == nil || base.ID == run.ID {
		return c
	}
	x, ok := f.Value(run).(float64)
	than, has := f.Value(*base).(float64)
	if ok && has {
		c.More = exceeds(f.Unit, x, than)
		c.Better = x != than && f.Better != 0 && x > than == (f.Better > 0)
	} else if !c.Value && c.Text != "" && f.Kind != store.TimeField {
		c.Differs = fmt.Sprint(f.Value(run)) != fmt.Sprint(f.Value(*base))
	}
	return c
}

// exceeds formats the difference of v from another value, in percentage points for fractions,
// empty if they are equal.
func exceeds(u ml.Unit, v, than float64) (text string) {
	if v == than {
		return ""
	}
	if u == ml.Share {
		text = strconv.FormatFloat(100*(v-than), 'f', 1, 64) + "\u00a0pp"
	} else {
		text = views.Short(v - than)
	}
	if text = param.Minus(text); v >= than {
		text = "+" + text
	}
	return text
}

// Export sends all runs of a list with its columns as CSV at full precision. Programs get every
// field unless they select some.
func (a *Handler) Export(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	ws := frame.Workspace(r.Context())
	kept, err := a.Store.Columns(r.Context(), ws)
	if err != nil {
		return err
	}
	t, err := readTable(q, kept)
	if err != nil {
		return err
	}
	if web.ForPrograms(r) && q.Get("cols") == "" {
		t.columns = slices.DeleteFunc(slices.Clone(store.Fields()), func(f store.Field) bool { return f.Name == "name" })
	}
	return frame.StreamRows(w, r, "runs.csv", func(row func(...string) error) error {
		if err := row(append([]string{"id", "name"}, names(t.columns)...)...); err != nil {
			return err
		}
		return a.Store.EachRun(r.Context(), ws, t.Filter, func(run store.Run) error {
			fields := lists.Map(t.columns, func(f store.Field) string { return inFull(f, run) })
			return row(append([]string{run.ID, dataset.Guard(run.Name)}, fields...)...)
		})
	})
}

// inFull formats a field of a run for a file.
func inFull(f store.Field, run store.Run) string {
	switch v := f.Value(run).(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return dataset.Guard(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case []string:
		return dataset.Guard(strings.Join(v, ", "))
	}
	return ""
}

// chosen returns the ids of the runs selected in a form, or of all runs of its list.
func (a *Handler) chosen(r *http.Request) ([]string, error) {
	if r.PostFormValue("all") == "" {
		ids := slices.Clone(r.PostForm["run"]) // duplicated if the baseline is also in an open group
		slices.Sort(ids)
		return slices.Compact(ids), nil
	}
	return a.Store.RunsWhere(r.Context(), frame.Workspace(r.Context()), r.PostFormValue("where"))
}

// Tag adds tags to the selected runs or removes them.
func (a *Handler) Tag(w http.ResponseWriter, r *http.Request) error {
	ids, err := a.chosen(r)
	if err != nil {
		return err
	}
	add, remove := splitTags(r.PostFormValue("tags")), []string(nil)
	if r.PostFormValue("off") != "" {
		add, remove = nil, add
	}
	return frame.Done(w, r, frame.Back(r, "/runs"), a.Store.TagRuns(r.Context(), frame.Workspace(r.Context()), ids, add, remove))
}

// DeleteChosen deletes the selected runs.
func (a *Handler) DeleteChosen(w http.ResponseWriter, r *http.Request) error {
	ids, err := a.chosen(r)
	if err != nil {
		return err
	}
	if err := a.Jobs.Delete(r.Context(), frame.Workspace(r.Context()), ids); err != nil {
		return err
	}
	return a.Deleted(w, r, frame.Back(r, "/runs"))
}
