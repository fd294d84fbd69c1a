package lab

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// bench is what the lab works on: the state that its URL holds.
type bench struct {
	course   *store.Course // under which the lab was opened; nil: none
	form     url.Values    // as it was filled in, but for what the course fixes
	id, name string
	data     *dataset.Data // with the edited points, if any; nil: nothing to train on yet
	began    []string      // classes before anything was edited
	hash     string        // of data
	points   string        // the edited points as text; empty: as stored
	spec     ml.Spec
	problems param.Problems
	on       string       // "all", "shown", "pca", "list": what to train on
	x, y     string       // columns on the axes, or "pca" on x
	freely   bool         // nobody has chosen these
	positive string       // class that somebody chose, which points may be drawn of later; "" where nobody did
	look     door.Options // of the picture
	try      string       // an object that was typed, to see what the model says of it
	patient  bool         // somebody has asked to wait for the model
	late     bool         // the model was not there in time
}

// readBench reads the lab's state from a form. What is wrong with a field is
// kept beside it; an error means there is nothing to show.
func (a *Room) readBench(ctx context.Context, form url.Values) (*bench, error) {
	course, form, err := a.Enforce(ctx, "/lab", form)
	if err != nil {
		return nil, err
	}
	b := &bench{course: course, form: form, id: form.Get("data"), points: strings.TrimSpace(form.Get("points")), look: door.ReadOptions(form), try: strings.TrimSpace(form.Get("try")), patient: form.Get("wait") == "1"}
	if b.id == "" {
		b.id = dataset.Builtins[0].Slug
	}
	source, err := a.Source(ctx, b.id)
	if err != nil {
		return nil, err
	}
	b.name, b.data, b.hash = source.Name, source.Data, source.Hash
	b.spec, b.problems = door.ReadSpec(form)
	if b.data != nil && b.points == "" && (untouched(form) || handedIn(course, form)) {
		b.spec.TestFraction = door.HeldOut
	}
	b.began = emptyClasses
	if b.data != nil {
		b.began = b.data.Classes
	}
	if b.points != "" {
		if b.data, err = parsePoints(b.points, b.data); err != nil {
			b.problems = append(b.problems, param.Problem{Field: "points", Message: err.Error()})
		}
		b.hash = ""
		if b.data != nil {
			b.hash = b.data.Hash()
		}
	}
	if w, err := strconv.Atoi(form.Get("stage")); err == nil {
		b.look.Width = min(max(w, door.NarrowWidth), 2*door.MainWidth)
		b.look.Height = b.look.Width * door.MainHeight / door.MainWidth
	}
	switch {
	case b.data == nil:
	case b.data.Kind() == dataset.KindVectors:
		b.chooseColumns(form)
	default:
		b.on, b.spec.Features, b.spec.Project = "all", nil, "none"
	}
	b.positive = b.spec.Positive
	if b.data != nil {
		b.chooseTarget(form)
		b.choosePositive()
		b.chooseKernel()
	}
	return b, nil
}

// untouched tells whether a form says nothing of the training. Links that do are read as
// they were made, before anything was held out by itself.
func untouched(form url.Values) bool {
	return !slices.ContainsFunc(ml.Params, func(p param.Param) bool { return form.Has(p.Name) })
}

// handedIn tells whether a form without a word about the share to hold out comes from a
// lesson of a course, whose runs are compared.
func handedIn(course *store.Course, form url.Values) bool {
	return course != nil && strings.HasPrefix(course.Target, "/lessons/") && !form.Has("test_fraction")
}

// chooseTarget settles whether classes are told apart or values fitted: as the form says,
// without a word as the labels look. Then the learner is one that fits them.
func (b *bench) chooseTarget(form url.Values) {
	if !form.Has("target") && b.data.Measured() {
		b.spec.Target = "value"
	}
	if !b.numeric() {
		b.spec.Target = "class"
	}
	if !b.spec.Regression() {
		return
	}
	b.spec.Positive, b.spec.Conformal = "", "none"
	if fits := b.learners(); !b.spec.Targets() && len(fits) > 0 {
		b.spec.Learner = fits[0]
	}
}

// numeric tells whether every label is a number, so that they may be values.
func (b *bench) numeric() bool {
	if b.data == nil {
		return false
	}
	_, err := b.data.Values()
	return err == nil
}

// values tells whether points are drawn by their values: those of a regression, and those
// that would be too many classes to be told apart by eye.
func (b *bench) values() bool {
	return b.spec.Regression() || b.numeric() && b.data.Scattered()
}

// learners are those that take the target.
func (b *bench) learners() (names []string) {
	for _, l := range ml.Learners {
		if l.Targets || !b.spec.Regression() {
			names = append(names, l.Name)
		}
	}
	return names
}

// among are the options of a form with these names.
func among(options []views.Option, names []string) []views.Option {
	return slices.DeleteFunc(options, func(o views.Option) bool { return !slices.Contains(names, o.Value) })
}

// chooseKernel takes another kernel where the one of the form does not take the data,
// as when another data set was chosen.
func (b *bench) chooseKernel() {
	b.example()
	switch kind := b.spec.Takes(); {
	case kind == b.data.Kind(), kind == "": // which is a fault of the form
		return
	}
	if b.spec.Kernel = ml.DefaultSpec().Kernel; b.data.Kind() == dataset.KindVectors {
		return
	}
	b.spec.Kernel = kernel.For(b.data.Kind()).Name
}

// example puts one that takes the data in the place of an expression that nobody has
// written.
func (b *bench) example() {
	const name = "expression"
	untouched := func(kind dataset.Kind) bool { return b.spec.Text(name) == kernel.Example(kind) }
	if slices.ContainsFunc(dataset.Kinds(), untouched) {
		b.spec = b.spec.With(name, param.Of(kernel.Example(b.data.Kind())))
	}
}

// kernels are the options among those of a form that take the data.
func (b *bench) kernels(options []views.Option) []views.Option {
	kind := dataset.KindVectors
	if b.data != nil {
		kind = b.data.Kind()
	}
	return slices.DeleteFunc(options, func(o views.Option) bool {
		row, err := kernel.Lookup(o.Value)
		return err == nil && row.Takes != "" && row.Takes != kind
	})
}

// chooseColumns settles which points are trained on and what the axes show, and which
// classes are told apart.
func (b *bench) chooseColumns(form url.Values) {
	feats := b.data.Features
	b.x, b.y = form.Get("x"), form.Get("y")
	if len(b.spec.Features) == 2 && b.x == "" && b.y == "" {
		b.x, b.y = b.spec.Features[0], b.spec.Features[1]
	}
	known := func(name string) bool { return slices.Contains(feats, name) }
	if b.x != "pca" && (!known(b.x) || !known(b.y) || b.x == b.y) {
		first, second := dataset.Separating(b.data)
		if !known(b.x) {
			b.x, b.freely = first, !known(b.y) && b.spec.Project != "pca" && form.Get("on") != "pca"
			if b.y == first {
				b.x = second
			}
		}
		if !known(b.y) || b.y == b.x {
			if b.y = second; b.x == second {
				b.y = first
			}
			if b.y == "" {
				b.y = b.x // there is one feature
			}
		}
	}
	b.on = form.Get("on")
	switch {
	case b.on == "" && b.spec.Project == "pca":
		b.on = "pca"
	case b.on == "" && len(b.spec.Features) > 0:
		b.on = "list"
		if len(b.spec.Features) == 2 {
			b.on = "shown"
		}
	}
	if len(feats) <= 2 {
		b.on = "all"
	}
	if b.on != "list" {
		b.spec.Features = nil
	}
	b.spec.Project = "none"
	if b.on == "pca" {
		b.x = "pca" // they are what the model sees
	}
	if b.on == "list" && len(b.spec.Features) == 2 {
		b.x, b.y = b.spec.Features[0], b.spec.Features[1]
	}
	if b.x == "pca" {
		b.y = "pca" // the components come as a pair
	}
	switch b.on {
	case "shown":
		if b.x != "pca" && b.x != b.y {
			b.spec.Features = []string{b.x, b.y}
		} else {
			b.spec.Project = "pca"
		}
	case "pca":
		b.spec.Project = "pca"
	case "list":
	default:
		b.on = "all"
	}
}

// settlePlane shows the principal components of features that nobody chose for the axes,
// where their plane does not meet the boundary of the model.
func (b *bench) settlePlane(ctx context.Context, r figure.Run) error {
	if !b.freely || len(b.data.Features) <= 2 || b.spec.Regression() {
		return nil
	}
	s, err := r.Scene(ctx, r.Result.Model)
	if err == nil && !s.Meets() {
		b.x, b.y = "pca", "pca"
	}
	return err
}

// axes are what can be on an axis: nothing that is the same of all points.
func (b *bench) axes() []views.Option {
	d := b.data
	return slices.DeleteFunc(door.AxisOptions(d.Features), func(o views.Option) bool {
		j := slices.Index(d.Features, o.Value)
		if j < 0 || o.Value == b.x || o.Value == b.y {
			return false
		}
		for i := range d.Len() {
			if d.X.At(i, j) != d.X.At(0, j) {
				return false
			}
		}
		return true
	})
}

// choosePositive settles which classes are told apart: one of them against all others
// or, of more than two, all.
func (b *bench) choosePositive() {
	if !b.editable() && !slices.Contains(b.data.Classes, b.positive) {
		b.positive = ""
	}
	if b.spec.Positive != "" && !slices.Contains(b.data.Classes, b.spec.Positive) {
		b.spec.Positive = ""
	}
	if len(b.data.Classes) <= 2 {
		b.spec.Multiclass = ml.DefaultSpec().Multiclass // it makes no difference
	}
}

// positives are the classes that may be on the positive side, after all of them together
// where there are more than two.
func (b *bench) positives() []views.Option {
	if b.data == nil {
		return views.Choose(door.PlainOptions(b.began...), cmp.Or(b.positive, b.began[len(b.began)-1]))
	}
	classes, chosen := b.data.Classes, b.spec.Positive
	if b.data.Scattered() { // too many to choose among
		classes = slices.DeleteFunc(slices.Clone(classes), func(c string) bool { return c != chosen })
	}
	if b.positive != "" && !slices.Contains(classes, b.positive) { // there are no points of it yet
		chosen, classes = b.positive, append(slices.Clone(classes), b.positive)
		dataset.SortLabels(classes)
	}
	options := door.PlainOptions(classes...)
	if len(b.data.Classes) > 2 {
		options = append([]views.Option{{Label: "all classes"}}, options...)
	} else if chosen == "" {
		chosen = options[len(options)-1].Value
	}
	return views.Choose(options, chosen)
}

// hidden names the parameters without a meaning under the other choices and for the data.
func (b *bench) hidden() []string {
	names := door.HiddenFields(b.spec)
	if b.data == nil || len(b.data.Classes) <= 2 {
		names = append(names, "multiclass")
	}
	if !b.numeric() {
		names = append(names, "target")
	}
	return names
}

// query is the state as a query, as short as it can be.
func (b *bench) query() url.Values {
	q := door.SpecQuery(b.spec)
	q.Set("data", b.id)
	if b.data != nil && b.data.Measured() { // which would be values without a word
		q.Set("target", b.spec.Target)
	}
	if b.positive != "" {
		q.Set("positive", b.positive)
	}
	if b.data != nil && b.points == "" && len(b.data.Classes) == 2 && b.spec.Positive == b.data.Classes[1] { // to edited points classes may be added
		q.Del("positive")
	}
	if b.points != "" {
		q.Set("points", b.points)
	}
	if b.data != nil && len(b.data.Features) > 2 {
		q.Set("x", b.x)
		if b.x != "pca" {
			q.Set("y", b.y)
		}
		q.Set("on", b.on)
		q.Del("project")
		if b.on != "list" {
			q.Del("features")
		}
	}
	if b.look.Heat {
		q.Set("show", "heat")
	}
	if b.look.Slack {
		q.Set("slack", "true")
	}
	if !b.look.Cores {
		q.Set("cores", "false")
	}
	if limits := b.limits(); limits != "" {
		q.Set("limits", limits)
	}
	if b.course != nil {
		q.Set("course", b.course.Code)
	}
	return q
}

// movable tells whether the picture can be zoomed and moved.
func (b *bench) movable() bool { return b.data == nil || b.data.Kind() == dataset.KindVectors }

// limits are those that somebody chose for the picture, as door.ParseLimits reads them.
func (b *bench) limits() string {
	l := b.look.Limits
	if l == (figure.Limits{}) || !b.movable() {
		return ""
	}
	return fmt.Sprintf("%g,%g,%g,%g", l.XMin, l.XMax, l.YMin, l.YMax)
}

// key stands for the model of the bench and what is on its axes.
func (b *bench) key() (string, error) {
	spec, err := b.spec.MarshalJSON()
	return fmt.Sprintf("lab %s %s %q %q", b.hash, spec, b.x, b.y), err
}

// public tells whether nothing on the bench is anybody's own.
func (b *bench) public() bool { return b.course == nil && b.points == "" && door.IsPublic(b.id) }

// fixes tells whether the course, if there is one, keeps a control as it is.
func (b *bench) fixes(controls ...string) bool {
	return b.course != nil && slices.ContainsFunc(controls, b.course.Fixes)
}

// editable tells whether the points can be moved on the picture.
func (b *bench) editable() bool {
	return !b.values() && !b.fixes("points") && (b.data == nil || len(b.data.Features) == 2 && len(b.data.Y) <= door.LiveRows)
}

// typed tells whether the points stand as text, in which they can be changed: also those of
// a regression, which cannot be moved.
func (b *bench) typed() bool { return b.editable() || b.points != "" && !b.fixes("points") }

// columns are the names of the columns of that text.
func (b *bench) columns() string {
	if b.data == nil {
		return "x1, x2, label"
	}
	return strings.Join(append(slices.Clone(b.data.Features), b.data.Label), ", ")
}

// background is what the picture shows behind the points.
func (b *bench) background() string {
	if b.look.Heat {
		return "heat"
	}
	return "regions"
}

// run is what the figures of the bench's model are drawn from.
func (a *Room) run(b *bench, res *ml.Result, o door.Options) figure.Run {
	return figure.Run{Data: b.data, Spec: b.spec, Result: res, X: b.x, Y: b.y, Compare: a.Compare(b.hash), Look: o.Look()}
}

// parsePoints reads edited points: CSV lines of two coordinates and a label, or of one
// coordinate and a label, a header is allowed. The names of the columns are those of the
// set they began as.
func parsePoints(text string, like *dataset.Data) (*dataset.Data, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace, r.Comment = true, '#'
	records, err := r.ReadAll()
	if err != nil {
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf("points, line %d: expected two numbers and a label, or one and a label as in the lines before, separated by commas", pe.Line)
		}
		return nil, err
	}
	if len(records) > 0 {
		if _, err := strconv.ParseFloat(records[0][0], 64); err != nil {
			records = records[1:] // the header
		}
	}
	if len(records) > door.LiveRows {
		return nil, fmt.Errorf("points: %d points are more than the %d that can be edited", len(records), door.LiveRows)
	}
	if len(records) == 0 {
		return nil, nil
	}
	features := []string{"x1", "x2"}[:min(max(len(records[0])-1, 1), 2)]
	rows, labels := make([][]float64, len(records)), make([]string, len(records))
	for i, rec := range records {
		if len(rec) != len(features)+1 {
			return nil, fmt.Errorf("points, point %d: expected one or two numbers and a label, found %q", i+1, strings.Join(rec, ","))
		}
		for j := range features {
			v, err := strconv.ParseFloat(strings.TrimSpace(rec[j]), 64)
			if err != nil {
				return nil, fmt.Errorf("points, point %d: expected one or two numbers and a label, found %q", i+1, strings.Join(rec, ","))
			}
			rows[i] = append(rows[i], v)
		}
		labels[i] = rec[len(features)]
	}
	d, err := dataset.FromRows(features, rows, labels)
	if err == nil && like != nil && len(like.Features) == len(features) {
		d.Features, d.Label = like.Features, like.Label
	}
	return d, err
}

// dataName names the points of the bench once they are stored.
func (b *bench) dataName() string {
	if b.points != "" && b.id != door.Drawing {
		return b.name + " (edited)"
	}
	return b.name
}

func (b *bench) origin() string {
	switch {
	case b.id == door.Drawing:
		return "drawn"
	case b.points != "":
		return "edited from " + b.name
	}
	return "built in: " + b.name
}

// bare is the scene of the bench's data without a model, and what draws it.
func (a *Room) bare(ctx context.Context, b *bench, o door.Options) (figure.Scene, func(figure.Scene) (*figure.Picture, error), error) {
	if b.data == nil {
		return emptyScene(o), figure.Scatter, nil
	}
	if b.data.Kind() != dataset.KindVectors {
		return figure.Scene{Width: o.Width, Height: o.Height, Dark: o.Dark, Classes: b.data.Classes}, func(s figure.Scene) (*figure.Picture, error) {
			o.Width, o.Height, o.Dark = s.Width, s.Height, s.Dark
			return a.DataPicture(ctx, b.data, b.hash, "", "", o)
		}, nil
	}
	s, draw, err := door.BareScene(b.data, b.values(), b.x, b.y, o)
	if len(b.data.Classes) == 1 && b.points != "" && slices.Contains(b.began, b.data.Classes[0]) {
		s.Classes = b.began // each in the colour that it keeps once there are points of others
	}
	return s, draw, err
}
