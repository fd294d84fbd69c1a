package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	runsview "marginlab/views/runs"
)

const (
	mostAxes               = 12 // of parallel coordinates
	plotWidth, plotHeight  = 1000, 460
	narrowPlot             = 320 // height on narrow screens, where equally steep lines can be distinguished
	narrowApart            = 56  // distance between two axes there
	pointWidth, pointHeigh = 640, 420
)

// quantities draws the runs of a comparison by their settings and results.
type quantities struct {
	runs  []store.Run
	pale  []bool // runs that do not match the filter
	axes  []store.Field
	log   []string // names of fields with a logarithmic axis
	x, y  store.Field
	where store.Query
}

// comparable reports whether a field can be an axis.
func comparable(f store.Field) bool {
	return f.Kind != store.TimeField && f.Kind != store.ListField && f.Name != "name" && f.Name != "note" && f.Name != "data_hash"
}

// readQuantities reads from a query the axes (axes, log, x, y) and the runs (where) to show. Errors
// are param.Problems.
func (a *Reader) readQuantities(ctx context.Context, runs []store.Run, q url.Values) (z quantities, err error) {
	z = quantities{runs: runs, pale: make([]bool, len(runs))}
	var ps param.Problems
	lookup := func(key, name string) (store.Field, bool) {
		f, ok := store.LookupField(name)
		if !ok || !comparable(f) {
			ps.Add(key, "%q is not a field of runs%s", name, param.DidYouMean(name, "", results.FieldNames()))
			return f, false
		}
		return f, true
	}
	for name := range strings.SplitSeq(q.Get("axes"), ",") {
		if name == "" {
			continue
		}
		if f, ok := lookup("axes", name); ok && !slices.ContainsFunc(z.axes, func(o store.Field) bool { return o.Name == f.Name }) {
			z.axes = append(z.axes, f)
		}
	}
	if len(z.axes) > mostAxes {
		ps.Add("axes", "at most %d axes fit side by side, not %d", mostAxes, len(z.axes))
	}
	if len(z.axes) == 0 {
		z.axes = z.telling()
	}
	if q.Has("log") {
		z.log = strings.Split(q.Get("log"), ",")
	} else {
		for _, f := range store.Fields() {
			if p, _ := ml.Param(f.Name); p.Log {
				z.log = append(z.log, f.Name)
			}
		}
	}
	numbers := func(fields []store.Field) []store.Field {
		return slices.DeleteFunc(slices.Clone(fields), func(f store.Field) bool { return f.Kind != store.NumberField })
	}
	z.y, _ = store.LookupField("test_accuracy")
	if n := numbers(z.axes); len(n) > 0 {
		z.x = n[0]
		if !slices.ContainsFunc(n, func(f store.Field) bool { return f.Name == z.y.Name }) || z.x.Name == z.y.Name {
			z.y = n[len(n)-1]
		}
	} else {
		z.x, _ = store.LookupField("support_vectors")
	}
	for key, to := range map[string]*store.Field{"x": &z.x, "y": &z.y} {
		if q.Get(key) == "" {
			continue
		}
		if f, ok := lookup(key, q.Get(key)); ok {
			if *to = f; f.Kind != store.NumberField {
				ps.Add(key, "%s is not a number: it can be a parallel axis only", f.Label)
			}
		}
	}
	if z.where, err = store.ParseQuery(q.Get("where")); err != nil {
		ps.Note("where", err)
		return z, ps
	}
	if len(ps) > 0 {
		return z, ps
	}
	if z.where.String() == "" {
		return z, nil
	}
	shown, err := a.Store.Matching(ctx, lists.Map(runs, func(r store.Run) string { return r.ID }), z.where)
	if err != nil {
		return z, err
	}
	for i, r := range runs {
		z.pale[i] = !slices.Contains(shown, r.ID)
	}
	return z, nil
}

// telling returns the default axes: the settings in which the runs differ, then their results.
func (z *quantities) telling() (axes []store.Field) {
	add := func(f store.Field) {
		if len(axes) < mostAxes && !slices.ContainsFunc(axes, func(o store.Field) bool { return o.Name == f.Name }) {
			axes = append(axes, f)
		}
	}
	for _, name := range []string{"data", "learner", "kernel", "conformal", "C"} {
		if f, _ := store.LookupField(name); z.differ(f) {
			add(f)
		}
	}
	for _, f := range store.Fields() {
		setting := slices.ContainsFunc(ml.Params, func(p param.Param) bool { return p.Name == f.Name && !p.Effort })
		if setting && comparable(f) && len(axes) < mostAxes-4 && z.differ(f) {
			add(f)
		}
	}
	for _, name := range []string{"support_vectors", "fit_seconds", "train_accuracy", "test_accuracy"} {
		f, _ := store.LookupField(name)
		if slices.ContainsFunc(z.runs, func(r store.Run) bool { return f.Value(r) != nil }) {
			add(f)
		}
	}
	for _, f := range store.Fields() { // no run has results yet
		if len(axes) < 2 && comparable(f) {
			add(f)
		}
	}
	return axes
}

func (z *quantities) differ(f store.Field) bool {
	return slices.ContainsFunc(z.runs, func(r store.Run) bool { return f.Value(r) != f.Value(z.runs[0]) })
}

// logarithmic reports whether a logarithmic axis was requested for a field, and is possible.
func (z *quantities) logarithmic(f store.Field) (asked, can bool) {
	can = f.Kind == store.NumberField
	for _, r := range z.runs {
		if v, ok := f.Value(r).(float64); ok && !(v > 0) {
			can = false
		}
	}
	return can && slices.Contains(z.log, f.Name), can
}

// scale returns the display factor of a field and its name in that unit.
func scale(f store.Field) (by float64, name string) {
	switch f.Unit {
	case ml.Share:
		return 100, heading(f) + ", %"
	case ml.Seconds:
		return 1, heading(f) + ", s"
	}
	return 1, heading(f)
}

// upright returns the axis of a field and the positions of the runs on it.
func (z *quantities) upright(f store.Field) (u figure.Upright, values []float64) {
	by, name := scale(f)
	u.Name = name
	u.Log, _ = z.logarithmic(f)
	values = make([]float64, len(z.runs))
	if f.Kind != store.NumberField {
		u.Words = []string{}
		for _, r := range z.runs {
			if v := f.Value(r); v != nil {
				u.Words = append(u.Words, fmt.Sprint(v))
			}
		}
		slices.Sort(u.Words)
		u.Words = slices.Compact(u.Words)
		u.Max = float64(max(len(u.Words)-1, 0))
		for i, r := range z.runs {
			if v := f.Value(r); v == nil {
				values[i] = math.NaN()
			} else {
				values[i] = float64(slices.Index(u.Words, fmt.Sprint(v)))
			}
		}
		return u, values
	}
	u.Min, u.Max = math.Inf(1), math.Inf(-1)
	for i, r := range z.runs {
		v, ok := f.Value(r).(float64)
		if values[i] = by * v; !ok || math.IsInf(v, 0) || math.IsNaN(v) {
			values[i] = math.NaN()
			continue
		}
		u.Min, u.Max = min(u.Min, values[i]), max(u.Max, values[i])
	}
	if u.Min > u.Max { // no run has a value
		u.Min, u.Max, u.Log = 0, 0, false
	}
	return u, values
}

// numbered returns the number of a run in pictures and tables, from 1.
func numbered(i int) string { return strconv.Itoa(i + 1) }

// parallel returns the parallel coordinates of the runs.
func (z *quantities) parallel(f figure.Format) figure.Parallel {
	p := figure.Parallel{Format: f}
	p.Lines = lists.Make(len(z.runs), func(i int) figure.Thread { return figure.Thread{Name: numbered(i), Pale: z.pale[i]} })
	for _, f := range z.axes {
		u, values := z.upright(f)
		p.Axes = append(p.Axes, u)
		for i, v := range values {
			p.Lines[i].Values = append(p.Lines[i].Values, v)
		}
	}
	if len(p.Axes) == 1 { // a picture needs two
		p.Axes = append(p.Axes, p.Axes[0])
		for i := range p.Lines {
			p.Lines[i].Values = append(p.Lines[i].Values, p.Lines[i].Values[0])
		}
	}
	return p
}

// plot returns the scatter plot of the runs over two quantities.
func (z *quantities) plot(f figure.Format) figure.Named {
	p := figure.Named{Format: f}
	axis := func(f store.Field) (figure.Axis, []float64) {
		u, values := z.upright(f)
		return figure.Axis{Name: u.Name, Log: u.Log}, values
	}
	x, xs := axis(z.x)
	y, ys := axis(z.y)
	p.X, p.Y = x, y
	p.Dots = lists.Make(len(z.runs), func(i int) figure.NamedDot {
		return figure.NamedDot{Name: numbered(i), X: xs[i], Y: ys[i], Pale: z.pale[i]}
	})
	return p
}

func (a *Reader) sendQuantities(w http.ResponseWriter, r *http.Request, runs []store.Run, name, format string) error {
	z, err := a.readQuantities(r.Context(), runs, r.URL.Query())
	if err != nil {
		return err
	}
	f := pictures.Sized(r, plotWidth, plotHeight).Format
	return a.SendPrint(w, r, pictures.Sheet{Format: format, Draw: func(context.Context) (*figure.Picture, error) {
		if name == "plot" {
			return z.plot(f).Picture()
		}
		return z.parallel(f).Picture()
	}})
}

// quantities fills in the section of a comparison's page on settings and numbers as pictures.
func (a *Reader) quantities(ctx context.Context, p *runsview.Compare, runs []store.Run, from results.Collection, q url.Values) error {
	z, err := a.readQuantities(ctx, runs, q)
	if ps, ok := errors.AsType[param.Problems](err); ok {
		p.Problem, p.Caret = results.Sentence(ps[0].Message), ""
		if text := ps.For("where"); text != "" {
			p.Problem, p.Caret = results.Sentence(text), caret(q.Get("where"))
		}
		z, err = a.readQuantities(ctx, runs, url.Values{"run": q["run"]})
	}
	if err != nil {
		return err
	}
	p.Where = q.Get("where")
	if p.Where != "" && p.Problem == "" {
		p.Matching = z.matching()
	}
	p.Fields = runFields()
	for _, f := range store.Fields() {
		if f.Kind == store.NumberField && slices.ContainsFunc(runs, func(r store.Run) bool { return f.Value(r) != nil }) {
			p.Numeric = append(p.Numeric, views.Option{Value: f.Name, Label: heading(f)})
		}
		if comparable(f) && !slices.ContainsFunc(z.axes, func(o store.Field) bool { return o.Name == f.Name }) {
			p.More = append(p.More, views.Option{Value: f.Name, Label: heading(f)})
		}
	}
	p.X, p.Y = z.x.Name, z.y.Name
	p.Chosen = strings.Join(names(z.axes), ",")
	z.arrange(p, from, q)

	// axis is what the page's script needs for brushing.
	type axis struct {
		Name  string   `json:"name"`
		Label string   `json:"label"`
		Log   bool     `json:"log"`
		Min   float64  `json:"min"`
		Max   float64  `json:"max"`
		By    float64  `json:"by"` // factor from filter values to drawn values
		Words []string `json:"words,omitempty"`
	}
	var stage struct {
		Axes   []axis                  `json:"axes"`
		Frames map[string]figure.Frame `json:"frames"` // by width of the picture
	}
	picture := z.parallel(figure.Format{})
	for i, f := range z.axes {
		u := picture.Axes[i]
		by, _ := scale(f)
		stage.Axes = append(stage.Axes, axis{f.Name, u.Name, u.Log, u.Min, u.Max, by, u.Words})
	}
	stage.Frames = map[string]figure.Frame{}
	narrow := [2]int{max(pictures.NarrowWidth, narrowApart*(len(z.axes)+2)), narrowPlot} // scrolls if too wide
	for _, size := range [][2]int{{plotWidth, plotHeight}, narrow} {
		picture.Width, picture.Height = size[0], size[1]
		drawn, err := picture.Picture()
		if err != nil {
			return err
		}
		stage.Frames[strconv.Itoa(size[0])] = drawn.Frame
		if size[0] == plotWidth {
			p.Parallel.Caption = drawn.Caption
		}
	}
	text, err := json.Marshal(stage)
	if err != nil {
		return err
	}
	p.Brush = string(text)
	drawn, err := z.plot(figure.Format{Width: pointWidth, Height: pointHeigh}).Picture()
	if err != nil {
		return err
	}
	query := only(q, "run", "axes", "log", "where", "x", "y")
	if p.Problem != "" {
		query = only(q, "run")
	}
	p.Parallel = pictures.Linked(from.Base+"/compare/figures/", "parallel", query.Encode(), plotWidth, plotHeight, p.Parallel.Caption, "")
	linked := pictures.Linked(from.Base+"/compare/figures/", "parallel", query.Encode(), narrow[0], narrow[1], "", "")
	p.Parallel.Narrow, p.Parallel.NarrowDark, p.Parallel.NarrowSize = linked.Src, linked.DarkSrc, narrow
	p.Plot = pictures.Linked(from.Base+"/compare/figures/", "plot", query.Encode(), pointWidth, pointHeigh, drawn.Caption, "")
	return nil
}

// matching describes which runs the filter matches.
func (z *quantities) matching() string {
	found := lists.Map(lists.Where(len(z.pale), func(i int) bool { return !z.pale[i] }), numbered)
	switch n := len(z.runs); len(found) {
	case 0:
		return fmt.Sprintf("0 of %d runs are drawn; all are pale.", n)
	case n:
		return fmt.Sprintf("%d of %d runs are drawn: all.", n, n)
	}
	return fmt.Sprintf("%d of %d runs are drawn: %s; the others are pale.", len(found), len(z.runs), strings.Join(found, ", "))
}

// arrange fills in the axes with the links that move them.
func (z *quantities) arrange(p *runsview.Compare, from results.Collection, q url.Values) {
	all := names(z.axes)
	to := func(key, list string) string {
		other := only(q)
		other.Set(key, list)
		return from.Base + "/compare?" + other.Encode() + "#h-quantities"
	}
	for i, f := range z.axes {
		c := runsview.CompareAxis{Name: f.Name, Label: heading(f), Help: f.Help}
		c.Left, c.Right, c.Off = moves(all, i, 2, func(list string) string { return to("axes", list) })
		on, can := z.logarithmic(f)
		if c.Log = on; can {
			list := slices.DeleteFunc(slices.Clone(z.log), func(name string) bool { return name == f.Name })
			if !on {
				list = append(list, f.Name)
			}
			c.Scale = to("log", strings.Join(list, ","))
		}
		p.Axes = append(p.Axes, c)
	}
}

// only returns a copy of some fields of a query, or of all if no keys are given.
func only(q url.Values, keys ...string) url.Values {
	out := url.Values{}
	for k, v := range q {
		if len(keys) == 0 || slices.Contains(keys, k) {
			out[k] = slices.Clone(v)
		}
	}
	return out
}
