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

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// bench holds the state of the lab, as its URL encodes it.
type bench struct {
	course    *store.Course // course in which the lab was opened; nil: none
	form      url.Values    // as submitted, with the course's fixed values
	id, name  string
	generator *dataset.Generator // generator of the data; nil: not generated
	chosen    param.Values       // chosen by the user
	data      *dataset.Data      // with the edited points, if any; nil: nothing to train on yet
	began     []string           // classes before any edits
	hash      string             // of data
	stored    string             // hash of the data without edits
	version   string             // hash of the data that were edited
	points    string             // edited points as text; empty: as stored
	spec      ml.Spec
	problems  param.Problems
	on        string           // features to train on: "all", "shown", "pca", "list"
	x, y      string           // columns on the axes, or "pca" on x
	freely    bool             // the axes were not chosen by the user
	positive  string           // class chosen as positive, which may have no points yet; empty: not chosen
	look      pictures.Options // of the picture
	try       string           // object typed for prediction
	patient   bool             // the user asked to wait for the model
	late      bool             // training exceeded the patience
	refused   string           // why the course refuses the submission; empty: it accepts
	badName   string           // what is wrong with the name of the submission; empty: nothing
}

// readBench reads the lab's state from a form. Invalid values are reported beside their fields; an
// error means that there is nothing to show.
func (a *Handler) readBench(ctx context.Context, form url.Values) (*bench, error) {
	course, form, err := a.Enforce(ctx, "/lab", form)
	if err != nil {
		return nil, err
	}
	b := &bench{course: course, form: form, id: form.Get("data"), points: strings.TrimSpace(form.Get("points")), look: pictures.ReadOptions(form), try: strings.TrimSpace(form.Get("try")), patient: form.Get("wait") == "1"}
	b.look.Layers = true
	b.id = cmp.Or(b.id, dataset.Builtins[0].Slug)
	var problems param.Problems
	if strings.HasPrefix(b.id, frame.OfGenerator) {
		if problems, err = b.chooseGenerator(); err != nil {
			return nil, err
		}
	}
	source, err := a.Source(ctx, b.id)
	var apart param.Problems // incompatible values
	if b.generator != nil && errors.As(err, &apart) {
		source.Name, err = b.generator.Label, nil
		for _, p := range apart {
			problems = append(problems, param.Problem{Field: frame.OfValue + p.Field, Message: p.Message})
		}
	}
	if err != nil {
		return nil, err
	}
	b.name, b.data, b.hash, b.stored, b.version = source.Name, source.Data, source.Hash, source.Hash, source.Hash
	b.spec, b.problems = frame.ReadSpec(form)
	b.problems = append(b.problems, problems...)
	if b.data != nil && b.points == "" && !form.Has("test_fraction") {
		b.spec.TestFraction = frame.HeldOut
	}
	b.began = emptyClasses
	if b.data != nil {
		b.began = b.data.Classes
	}
	if b.points != "" {
		b.data, err = parsePoints(b.points, b.data)
		b.problems.Note("points", err)
		loaded := form.Get("hash") // in every link of the page
		b.hash, b.version = "", cmp.Or(loaded[:min(len(loaded), len(b.stored))], b.stored)
		if b.data != nil {
			b.hash = b.data.Hash()
		}
	}
	if w, err := strconv.Atoi(form.Get("stage")); err == nil {
		b.look.Width, b.look.Height = pictures.MainSize(w)
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
	if b.spec.Positive == "" && len(b.positive) > longestClass {
		b.positive = ""
	}
	return b, nil
}

// longestClass bounds the bytes of the name of a class without points, which is repeated in every
// link of the page.
const longestClass = 1000

// chooseGenerator sets the generator from the controls, unless the course fixes it. Invalid values
// are reported and ignored.
func (b *bench) chooseGenerator() (problems param.Problems, err error) {
	form := lists.Either(b.fixes("data"), nil, b.form)
	g, values, err := frame.Generated(b.id, form)
	if g.Name == "" || err != nil && !errors.As(err, &problems) {
		return nil, err
	}
	b.generator, b.chosen, b.id = &g, values, frame.GeneratedID(g, values)
	return problems, nil
}

// makes returns the basic and the advanced controls of the generator.
func (b *bench) makes() (fields, more []views.Field) {
	if b.generator == nil {
		return nil, nil
	}
	for _, p := range b.generator.Params {
		f := frame.ParamField(p, p.Default)
		if v, ok := b.chosen[p.Name]; ok {
			f.Value = v.Text()
		}
		f.Name = frame.OfValue + p.Name
		if f.Error = b.problems.For(f.Name); f.Error != "" {
			f.Value = b.form.Get(f.Name)
		}
		f.Hidden = b.points != "" // edited points no longer come from the generator
		if p.Folded {
			more = append(more, f)
		} else {
			fields = append(fields, f)
		}
	}
	return fields, more
}

// chooseTarget chooses between classification and regression, from the form or, by default, from
// the labels, and a learner for it.
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

// numeric reports whether every label is a number, so that regression is possible.
func (b *bench) numeric() bool {
	if b.data == nil {
		return false
	}
	_, err := b.data.Values()
	return err == nil
}

// values reports whether points are coloured by value: for a regression, and if there would be too
// many classes to distinguish.
func (b *bench) values() bool {
	return b.spec.Regression() || b.numeric() && b.data.Scattered()
}

func (b *bench) learners() []string {
	fit := lists.Filter(ml.Learners, func(l ml.Learner) bool { return l.Targets || !b.spec.Regression() })
	return lists.Map(fit, func(l ml.Learner) string { return l.Name })
}

// among returns the options whose values are in names.
func among(options []views.Option, names []string) []views.Option {
	return slices.DeleteFunc(options, func(o views.Option) bool { return !slices.Contains(names, o.Value) })
}

// chooseKernel chooses another kernel if the form's does not fit the data, for example after
// another data set was chosen.
func (b *bench) chooseKernel() {
	b.example()
	switch kind := b.spec.Takes(); {
	case kind == b.data.Kind(), kind == "": // a mistake in the form
		return
	}
	if b.spec.Kernel = ml.DefaultSpec().Kernel; b.data.Kind() == dataset.KindVectors {
		return
	}
	b.spec.Kernel = kernel.For(b.data.Kind()).Name
}

// example replaces an expression that the user did not write by one that fits the data.
func (b *bench) example() {
	const name = "expression"
	untouched := func(kind dataset.Kind) bool { return b.spec.Text(name) == kernel.Example(kind) }
	if slices.ContainsFunc(dataset.Kinds(), untouched) {
		b.spec = b.spec.With(name, param.Of(kernel.Example(b.data.Kind())))
	}
}

// kernels returns the options whose kernels fit the data.
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

// chooseColumns sets the features, the axes and the classes.
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
			b.y = cmp.Or(b.y, b.x) // there is one feature
		}
	}
	b.on = form.Get("on")
	switch {
	case b.on == "" && b.spec.Project == "pca":
		b.on = "pca"
	case b.on == "" && len(b.spec.Features) > 0:
		b.on = lists.Either(len(b.spec.Features) == 2, "shown", "list")
	}
	if len(feats) <= 2 {
		b.on = "all"
	}
	if b.on != "list" {
		b.spec.Features = nil
	}
	b.spec.Project = "none"
	if b.on == "pca" {
		b.x = "pca" // the model sees these
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

// settlePlane switches axes that the user did not choose to the principal components if the
// boundary does not cross their plane.
func (b *bench) settlePlane(ctx context.Context, r figure.Run) error {
	if !b.freely || len(b.data.Features) <= 2 || b.spec.Regression() {
		return nil
	}
	s, err := r.Scene(ctx, r.Result.Model)
	if err != nil {
		return err
	}
	meets, err := s.Meets(ctx)
	if err == nil && !meets {
		b.x, b.y = "pca", "pca"
	}
	return err
}

// axes lists the choices for an axis, without constant features.
func (b *bench) axes() []views.Option {
	d := b.data
	return slices.DeleteFunc(pictures.AxisOptions(d.Features), func(o views.Option) bool {
		j := slices.Index(d.Features, o.Value)
		return j >= 0 && o.Value != b.x && o.Value != b.y && d.Constant(j)
	})
}

// choosePositive chooses the classes to separate: one against all others
// or, of more than two, all.
func (b *bench) choosePositive() {
	if !b.editable() && !slices.Contains(b.data.Classes, b.positive) {
		b.positive = ""
	}
	if b.spec.Positive != "" && !slices.Contains(b.data.Classes, b.spec.Positive) {
		b.spec.Positive = ""
	}
	if len(b.data.Classes) <= 2 {
		b.spec.Multiclass = ml.DefaultSpec().Multiclass // does not apply
	}
}

// positives returns the choices of the positive class, preceded by "all classes" if there are more
// than two.
func (b *bench) positives() []views.Option {
	if b.data == nil {
		return views.Choose(classOptions(b.began), cmp.Or(b.positive, b.began[len(b.began)-1]))
	}
	classes, chosen := b.data.Classes, b.spec.Positive
	if b.data.Scattered() { // too many to choose from
		classes = slices.DeleteFunc(slices.Clone(classes), func(c string) bool { return c != chosen })
	}
	if b.positive != "" && !slices.Contains(classes, b.positive) { // has no points yet
		chosen, classes = b.positive, append(slices.Clone(classes), b.positive)
		dataset.SortLabels(classes)
	}
	options := classOptions(classes)
	if len(b.data.Classes) > 2 {
		options = append([]views.Option{{Label: "all classes"}}, options...)
	} else if chosen == "" {
		chosen = options[len(options)-1].Value
	}
	return views.Choose(options, chosen)
}

func classOptions(names []string) []views.Option {
	return lists.Map(names, func(c string) views.Option { return views.Option{Value: c, Label: param.ClassText(c)} })
}

// hidden names the parameters that do not apply to the other choices or to the data.
func (b *bench) hidden() []string {
	names := frame.HiddenFields(b.spec)
	if b.data == nil || len(b.data.Classes) <= 2 {
		names = append(names, "multiclass")
	}
	if !b.numeric() {
		names = append(names, "target")
	}
	if b.data != nil && (b.data.Kind() != dataset.KindVectors || len(b.data.Classes) > 2 && b.spec.Positive == "") {
		names = append(names, "show", "slack") // need a single boundary in a plane
	}
	makes, more := b.makes()
	for _, f := range append(makes, more...) {
		if f.Hidden {
			names = append(names, f.Name)
		}
	}
	return names
}

// query returns the state as the shortest equivalent query.
func (b *bench) query() url.Values {
	q := frame.SpecQuery(b.spec)
	q.Set("data", b.id)
	if b.data != nil && b.data.Measured() { // otherwise numeric labels mean a regression
		q.Set("target", b.spec.Target)
	}
	if b.positive != "" {
		q.Set("positive", b.positive)
	}
	if b.data != nil && b.points == "" && len(b.data.Classes) == 2 && b.spec.Positive == b.data.Classes[1] { // edited points may gain classes
		q.Del("positive")
	}
	if b.points != "" {
		q.Set("points", b.points)
		if frame.IsStored(b.id) {
			q.Set("hash", b.version)
		}
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
	if b.look.Hidden != "" {
		q.Set("hide", b.look.Hidden)
	}
	if b.course != nil {
		q.Set("course", b.course.Code)
	}
	return q
}

// movable reports whether the picture can be zoomed and panned.
func (b *bench) movable() bool { return b.data == nil || b.data.Kind() == dataset.KindVectors }

// limits returns the chosen limits of the picture in the notation of pictures.Options.
func (b *bench) limits() string {
	l := b.look.Limits
	if l == (figure.Limits{}) || !b.movable() {
		return ""
	}
	return fmt.Sprintf("%g,%g,%g,%g", l.XMin, l.XMax, l.YMin, l.YMax)
}

// key returns a cache key of the bench's model and axes.
func (b *bench) key() (string, error) {
	spec, err := b.spec.MarshalJSON()
	return fmt.Sprintf("lab %s %s %q %q", b.hash, spec, b.x, b.y), err
}

// public reports whether the bench shows no private data.
func (b *bench) public() bool { return b.course == nil && b.points == "" && frame.IsPublic(b.id) }

// fixes reports whether the course, if any, fixes one of these controls.
func (b *bench) fixes(controls ...string) bool {
	return b.course != nil && slices.ContainsFunc(controls, b.course.Fixes)
}

// editable reports whether the points can be moved on the picture.
func (b *bench) editable() bool {
	return !b.values() && !b.fixes("points") && (b.data == nil || len(b.data.Features) == 2 && len(b.data.Y) <= pictures.LiveRows)
}

// typed reports whether the points can be edited as text, which includes those of a regression.
func (b *bench) typed() bool { return b.editable() || b.points != "" && !b.fixes("points") }

// columns returns the header of the edited text.
func (b *bench) columns() string {
	if b.data == nil {
		return "x1, x2, label"
	}
	return strings.Join(append(slices.Clone(b.data.Features), b.data.Label), ", ")
}

// background returns the name of the picture's background.
func (b *bench) background() string {
	return lists.Either(b.look.Heat, "heat", "regions")
}

// run returns the run from which the figures of the bench's model are drawn.
func (a *Handler) run(b *bench, res *ml.Result, o pictures.Options) figure.Run {
	return figure.Run{Data: b.data, Spec: b.spec, Result: res, X: b.x, Y: b.y, Compare: a.Compare(b.hash), Look: o.Look()}
}

// parsePoints parses edited points: CSV lines of one or two coordinates and a label, with an
// optional header. Column names are taken from like, the set they started from.
func parsePoints(text string, like *dataset.Data) (*dataset.Data, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace, r.Comment = true, '#'
	records, err := r.ReadAll()
	if err != nil {
		if pe, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, fmt.Errorf("points, line %d: expected two numbers and a label, or one and a label as in the lines before, separated by commas", pe.Line)
		}
		return nil, err
	}
	if len(records) > 0 && len(records[0]) > 1 { // a single word is no header
		if _, err := strconv.ParseFloat(records[0][0], 64); err != nil {
			records = records[1:] // drop the header
		}
	}
	if len(records) > pictures.LiveRows {
		return nil, fmt.Errorf("points: %d points exceed the %d that can be edited", len(records), pictures.LiveRows)
	}
	if len(records) == 0 {
		return nil, nil
	}
	features := []string{"x1", "x2"}[:min(max(len(records[0])-1, 1), 2)]
	rows, labels := make([][]float64, len(records)), make([]string, len(records))
	wrong := func(i int) error {
		return fmt.Errorf("points, point %d: expected one or two numbers and a label, found %q", i+1, pictures.Clipped(strings.Join(records[i], ",")))
	}
	for i, rec := range records {
		if len(rec) != len(features)+1 {
			return nil, wrong(i)
		}
		for j := range features {
			v, err := strconv.ParseFloat(strings.TrimSpace(rec[j]), 64)
			if err != nil {
				return nil, wrong(i)
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

// dataName returns the name under which the bench's points are stored.
func (b *bench) dataName() string {
	if b.points != "" && b.id != frame.Drawing {
		return b.name + " (edited)"
	}
	return b.name
}

func (b *bench) origin() string {
	switch {
	case b.id == frame.Drawing:
		return "drawn"
	case b.points != "":
		return "edited from " + b.name
	}
	return "built in: " + b.name
}

// bare returns the scene of the bench's data without a model, and the figure that draws it.
func (a *Handler) bare(b *bench, o pictures.Options) (figure.Scene, figure.Drawing, error) {
	if b.data == nil {
		return emptyScene(o), figure.Scatter, nil
	}
	if b.data.Kind() != dataset.KindVectors {
		return figure.Scene{Classes: b.data.Classes, Format: o.Format}, func(ctx context.Context, s figure.Scene) (*figure.Picture, error) {
			o.Format = s.Format
			return a.DataPicture(ctx, b.data, b.hash, "", "", o)
		}, nil
	}
	s, draw, err := pictures.BareScene(b.data, b.values(), b.x, b.y, o)
	if len(b.data.Classes) == 1 && b.points != "" && slices.Contains(b.began, b.data.Classes[0]) {
		s.Classes = b.began // keeps colours stable when classes are added
	}
	return s, draw, err
}
