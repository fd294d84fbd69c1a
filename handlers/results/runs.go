package results

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
)

// Collection is a set of stored runs: a workspace, or the gallery of a course.
type Collection struct {
	Workspace store.Workspace
	Base      string // prefix of the URLs of its pages; empty for the request's own workspace
	Title     string // title of the gallery
	Nameless  bool   // the names of its runs are hidden
}

// Nameless returns the placeholder of a hidden name.
func Nameless(run string) string { return "Hand-in " + run[:min(4, len(run))] }

// Shown returns the run as the collection shows it.
func (c Collection) Shown(run store.Run) store.Run {
	if c.Nameless {
		run.Name = Nameless(run.ID)
	}
	return run
}

// ResultOf returns the result of a finished run.
func ResultOf(run store.Run) *ml.Result {
	return &ml.Result{Report: *run.Report, Model: run.Model, Before: run.Before, Scores: run.Scores, ScoresBefore: run.ScoresBefore}
}

// Limits of the rows of a run list in one response.
const (
	ListRows     = 25
	mostListRows = 200
)

// narrow lists the parameters of a run list that add conditions to its query.
var narrow = []string{"learner", "kernel", "conformal", "rule", "status", "tag"}

// RunFilter reads the filter of a run list: where, a store.Query, further restricted by q,
// learner, kernel, conformal, rule, status and tag; sort, desc, limit (1 to 200, default 25) and
// offset. The default order is latest first. It returns param.Problems for invalid values.
func RunFilter(q url.Values) (store.Filter, error) {
	var ps param.Problems
	where, err := store.ParseQuery(q.Get("where"))
	ps.Note("where", err)
	and := func(field, condition string) {
		more, err := where.And(condition)
		if err != nil {
			if f, ok := store.LookupField(field); ok && f.Values != nil && !slices.Contains(f.Values, q.Get(field)) {
				err = Choice(field, f.Values).Check(q.Get(field))
			}
		} else {
			where = more
		}
		ps.Note(field, err)
	}
	for _, name := range narrow {
		if v := q.Get(name); v != "" {
			and(name, name+" = "+store.Quoted(v))
		}
	}
	if words := strings.TrimSpace(q.Get("q")); words != "" {
		and("q", store.Quoted(words))
	}
	if s := q.Get("sort"); s != "" {
		if _, ok := store.LookupField(s); !ok {
			ps.Note("sort", Choice("sort", FieldNames()).Check(s))
		}
	}
	f := store.Filter{Where: where, Sort: cmp.Or(q.Get("sort"), "created"), Desc: q.Get("sort") == ""}
	f.Limit, f.Offset = Window(q, &ps, ListRows)
	if text := q.Get("desc"); text != "" {
		var err error
		if f.Desc, err = strconv.ParseBool(text); err != nil {
			ps.Note("desc", fmt.Errorf("desc expects true or false, not %q", text))
		}
	}
	return f, ps.Err()
}

// Window reads limit (1 to 200) and offset, which select the rows of a list.
func Window(q url.Values, ps *param.Problems, defaultLimit int) (limit, offset int) {
	whole := func(name string, otherwise int, low, high float64) int {
		text := q.Get(name)
		if text == "" {
			return otherwise
		}
		ps.Note(name, param.Param{Name: name, Kind: param.Integer, Min: low, Max: high}.Check(text))
		v, _ := strconv.ParseFloat(text, 64) // validated by Check
		return int(v)
	}
	return whole("limit", defaultLimit, 1, mostListRows), whole("offset", 0, 0, 1e9)
}

// Narrowed reports whether a query restricts where further.
func Narrowed(q url.Values) bool {
	return q.Has("q") || slices.ContainsFunc(narrow, q.Has)
}

// FieldNames returns the names of store.Fields(), with accuracy for test_accuracy.
func FieldNames() []string {
	return append([]string{"accuracy", "dataset"}, lists.Map(store.Fields(), func(f store.Field) string { return f.Name })...)
}

// RunStatuses lists the statuses in the order of a run's life.
var RunStatuses = []store.Status{store.Queued, store.Running, store.Done, store.Failed, store.Cancelled}

// Choice returns a parameter with the given values.
func Choice[T ~string](name string, values []T) param.Param {
	options := lists.Map(values, func(v T) param.Option { return param.Option{Name: string(v)} })
	return param.Param{Name: name, Kind: param.Choice, Options: options}
}

// KernelText returns a kernel with its parameters, as used if known.
func KernelText(s ml.Spec, rep *ml.Report) string {
	row, err := kernel.Lookup(s.Kernel)
	if err != nil {
		return s.Kernel
	}
	text := row.Name
	for _, p := range row.Params {
		v := s.Text(p.Name)
		if rep != nil && rep.Values[p.Name].IsNumber() {
			v = views.Short(rep.Values.Number(p.Name))
		}
		switch {
		case p.Kind != param.Switch:
			text += ", " + cmp.Or(p.Symbol, p.Label) + " " + v
		case s.Value(p.Name).Switch():
			text += ", " + p.Label
		}
	}
	return text
}
