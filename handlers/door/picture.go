package door

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// Sizes of pictures in CSS pixels.
const (
	MainWidth, MainHeight   = 760, 600
	NarrowWidth             = 400 // of the main picture on narrow screens
	narrowHeight            = NarrowWidth * MainHeight / MainWidth
	SmallWidth, SmallHeight = 400, 330
	thumbWidth, thumbHeight = 228, 171
)

// pngScale is the number of device pixels per CSS pixel of a PNG, so that it is
// sharp on paper and on a projector.
const pngScale = 2

// TableRows is how many points a table on a page lists.
const TableRows = 300

// Options are a person's choices about a picture.
type Options struct {
	Heat, Slack, Cores, Dark bool
	Coarse                   bool // while a slider moves: fewer cells, no tables
	Limits                   figure.Limits
	Width, Height            int
}

// grid is the number of cells per axis; 0 is the figure's own default.
func (o Options) grid() int {
	if o.Coarse {
		return 80
	}
	return 0
}

// LegendRows keeps the frame where it is while points move: rows enough for
// every mark there can be.
func (o Options) LegendRows() int {
	switch {
	case o.Width < 560:
		return 3
	case o.Width < 1000:
		return 2
	}
	return 0
}

// Size takes width and height from a request, within reason.
func (o *Options) Size(r *http.Request) {
	if w, err := strconv.Atoi(r.FormValue("width")); err == nil {
		o.Width = min(max(w, 80), 2400)
	}
	if h, err := strconv.Atoi(r.FormValue("height")); err == nil {
		o.Height = min(max(h, 60), 2400)
	}
}

// Display is a trained model with the data it is shown on.
type Display struct {
	Data    *dataset.Data
	Spec    ml.Spec
	Res     *ml.Result
	X, Y    string // columns on the axes; "pca" on x, or empty: the first two
	Options Options
}

// view is the plane that pictures of the model show.
func (d Display) view(cols *dataset.Data) (dataset.View, error) {
	if v, ok := d.Res.Model.View(); ok {
		return v, nil
	}
	return viewOf(cols, d.X, d.Y)
}

// viewOf shows two columns, or the principal components.
func viewOf(d *dataset.Data, x, y string) (dataset.View, error) {
	if x == "pca" {
		return dataset.PCAView(d), nil
	}
	if !slices.Contains(d.Features, x) {
		x = d.Features[0]
	}
	if !slices.Contains(d.Features, y) || y == x {
		y = ""
		for _, f := range d.Features {
			if f != x {
				y = f
				break
			}
		}
	}
	return dataset.ColumnView(d, x, y)
}

// scene is what every figure of the model starts from.
func (d Display) scene(model *ml.Model) (figure.Scene, error) {
	if d.Data.Kind() != dataset.KindVectors {
		return d.decisions(model)
	}
	cols, err := d.Data.Columns(model.Features)
	if err != nil {
		return figure.Scene{}, err
	}
	v, err := d.view(cols)
	if err != nil {
		return figure.Scene{}, err
	}
	points, err := model.Points(d.Data, d.Spec)
	if err != nil {
		return figure.Scene{}, err
	}
	o := d.Options
	lim := figure.LimitsOf(points, v)
	if o.Limits != (figure.Limits{}) {
		lim = union(o.Limits, points, v)
	}
	return figure.Scene{
		Model: model, Points: points, View: v, Classes: d.Data.Classes, Limits: lim,
		Heat: o.Heat, Slack: o.Slack, Cores: o.Cores, Dark: o.Dark, Width: o.Width, Height: o.Height, Grid: o.grid(), LegendRows: o.LegendRows(),
	}, nil
}

// decisions is the scene of a model whose objects have no coordinates.
func (d Display) decisions(model *ml.Model) (figure.Scene, error) {
	points, err := model.Points(d.Data, d.Spec)
	if err != nil {
		return figure.Scene{}, err
	}
	s, o := figure.DecisionScene(model, points, d.Data.Classes), d.Options
	if l := o.Limits; l.YMin == s.Limits.YMin && l.YMax == s.Limits.YMax { // of such a scene as well
		s.Limits = s.Limits.Union(l)
	}
	s.Cores, s.Dark, s.Width, s.Height, s.LegendRows = o.Cores, o.Dark, o.Width, o.Height, o.LegendRows()
	return s, nil
}

// main draws the picture that says most about a model: its boundary, or where there is
// no plane to draw one in, the decision values.
func (d Display) main(s figure.Scene) (*figure.Picture, error) {
	if d.Data.Kind() != dataset.KindVectors {
		return figure.Decisions(s)
	}
	return figure.Boundary(s)
}

// union widens the limits where a point lies outside; a point inside never moves them.
func union(l figure.Limits, points []ml.Point, v dataset.View) figure.Limits {
	for _, p := range points {
		s, t := v.Point(p.X)
		l.XMin, l.XMax = math.Min(l.XMin, s), math.Max(l.XMax, s)
		l.YMin, l.YMax = math.Min(l.YMin, t), math.Max(l.YMax, t)
	}
	return l
}

// Draw draws the figure of a name: "boundary", "before", one of mapNames, or "kernel",
// the matrix of data that are one.
func (d Display) Draw(name string) (*figure.Picture, error) {
	if p, ok := d.Data.Objects.(*dataset.Precomputed); ok && name == "kernel" {
		return kernelMap(d.Data, p, d.Options)
	}
	model, machine := d.Res.Model, 0
	switch {
	case name == "before":
		model = d.Res.Before
	case strings.HasPrefix(name, "map"):
		machine = slices.Index(mapNames(model), name)
	case name != "boundary":
		model = nil
	}
	if model == nil || machine < 0 {
		return nil, store.ErrNotFound
	}
	s, err := d.scene(model)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(name, "map") {
		s.Machine = machine
		return figure.Conformal(s)
	}
	return d.main(s)
}

// mapNames names the figures of the conformal maps, one a machine: map, map-2, …; empty
// where a machine has none, or one without a plane to show it on.
func mapNames(m *ml.Model) []string {
	names := make([]string, len(m.Machines))
	for k, machine := range m.Machines {
		switch {
		case machine.Map == nil, machine.Map.Cores == nil:
		case k == 0:
			names[k] = "map"
		default:
			names[k] = fmt.Sprintf("map-%d", k+1)
		}
	}
	return names
}

// Answer is what a page shows of the model. Figures are linked below base with
// the query, or, inline, become part of the page itself.
func (d Display) Answer(base, query string, inline bool) (views.Answer, error) {
	var ans views.Answer
	s, err := d.scene(d.Res.Model)
	if err != nil {
		return ans, err
	}
	if ans.Picture, ans.Stage, err = Show(s, d.main, base, query, inline); err != nil {
		return ans, err
	}
	if d.Res.Before != nil {
		if ans.More, err = d.conformal(base, query, inline); err != nil {
			return ans, err
		}
	}
	if d.Data.Kind() == dataset.KindPrecomputed {
		more, err := d.linked("kernel", "The values of the kernel, class by class", base, query, inline)
		if err != nil {
			return ans, err
		}
		ans.More = append(ans.More, more)
		ans.Notes = append(ans.Notes, "There is no boundary to draw: of these objects nothing is known but the values of a kernel, so there is no plane that they lie in. The picture shows f(x) of each instead.")
	}
	ans.Numbers = numbers(&d.Res.Report)
	ans.Notes = append(ans.Notes, remarks(&d.Res.Report, d.Spec)...)
	if !s.View.Exact {
		ans.Notes = append(ans.Notes, fmt.Sprintf("The model uses %d features. The picture is a slice: the boundary as it is where the other directions are at their means, with every point projected onto it; a point may lie on the other side of the drawn line than its prediction.", len(d.Res.Model.Features)))
	}
	if !d.Options.Coarse {
		ans.Points = pointTable(s)
	}
	return ans, nil
}

// conformal are the pictures that tell what the map did.
func (d Display) conformal(base, query string, inline bool) (more []views.Picture, err error) {
	rep := d.Res.Report
	figures := []struct{ name, caption string }{
		{"before", "Before: the kernel as it was" + j(rep.JBefore)},
		{"boundary", "After: the kernel reshaped by c(x)" + j(rep.JAfter)},
	}
	scores := d.Res.Model.ScoreNames()
	for k, name := range mapNames(d.Res.Model) {
		whose := ""
		if len(scores) > 1 {
			whose = " of " + scores[k]
		}
		if name != "" {
			figures = append(figures, struct{ name, caption string }{name, "c(x), the factor of the conformal map" + whose + ", with its cores"})
		}
	}
	for _, f := range figures {
		p, err := d.linked(f.name, f.caption, base, query, inline)
		if err != nil {
			return nil, err
		}
		more = append(more, p)
	}
	return more, nil
}

// linked is one of the smaller figures.
func (d Display) linked(name, caption, base, query string, inline bool) (views.Picture, error) {
	p := Linked(base, name, query, SmallWidth, SmallHeight, caption, caption)
	if !inline {
		return p, nil
	}
	d.Options.Width, d.Options.Height = SmallWidth, SmallHeight
	pic, err := d.Draw(name)
	if err != nil {
		return p, err
	}
	return p, Embed(&p, pic)
}

func j(v *float64) string {
	if v == nil {
		return ""
	}
	return ", J = " + views.Short(*v)
}

// Show makes the main picture of a page, embedded or linked in two sizes, and
// what the page's script needs to know of it.
func Show(s figure.Scene, draw func(figure.Scene) (*figure.Picture, error), base, query string, inline bool) (views.Picture, string, error) {
	pic, err := draw(s)
	if err != nil {
		return views.Picture{}, "", err
	}
	p := Linked(base, "boundary", query, s.Width, s.Height, pic.Caption, pic.Caption)
	frames := map[int]figure.Frame{s.Width: pic.Frame}
	if inline {
		err = Embed(&p, pic)
		return p, stage(frames, s), err
	}
	n := s
	n.Width, n.Height = NarrowWidth, narrowHeight
	if pic, err = draw(n); err != nil {
		return p, "", err
	}
	frames[NarrowWidth] = pic.Frame
	return p, stage(frames, s), nil
}

// Linked is a picture that the browser fetches, in the colours of its theme and,
// if it is large, in a size for narrow screens as well.
func Linked(base, name, query string, width, height int, alt, caption string) views.Picture {
	if query != "" {
		query = "&" + query
	}
	at := func(format string, width, height int, extra string) string {
		return fmt.Sprintf("%s%s.%s?width=%d&height=%d%s%s", base, name, format, width, height, extra, query)
	}
	p := views.Picture{
		Src: at("svg", width, height, ""), DarkSrc: at("svg", width, height, "&dark=1"),
		SVG: at("svg", width, height, ""), PNG: at("png", width, height, ""),
		Alt: alt, Caption: caption, Width: width, Height: height,
	}
	if width > NarrowWidth {
		h := NarrowWidth * height / width
		p.Narrow, p.NarrowDark = at("svg", NarrowWidth, h, ""), at("svg", NarrowWidth, h, "&dark=1")
	}
	return p
}

// Thumbnail is one of many small pictures.
func Thumbnail(base, name, alt string) views.Picture {
	p := Linked(base, name, "", thumbWidth, thumbHeight, alt, "")
	p.Lazy = true
	return p
}

// Embed puts the picture into the page itself.
func Embed(v *views.Picture, pic *figure.Picture) error {
	var b bytes.Buffer
	b.WriteString("data:image/svg+xml;base64,")
	enc := base64.NewEncoder(base64.StdEncoding, &b)
	if err := pic.SVG(enc); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	v.Src, v.DarkSrc, v.Narrow, v.NarrowDark = b.String(), "", "", ""
	return nil
}

// stagePoint is a point in the order s, t, class, f, slack, weight, role, flags
// (1 held out, 2 wrong, 4 core), and where there are several machines, the predicted
// class and a list of their scores; an array keeps the answer small.
type stagePoint []any

// stage is what the page's script needs to lay its own marks over a picture.
// frames are those of every width the picture comes in.
func stage(frames map[int]figure.Frame, s figure.Scene) string {
	if len(s.Points) > LiveRows {
		s.Points = nil // too many to point at one
	}
	pts := make([]stagePoint, len(s.Points))
	signs := make([]float64, len(s.Classes))
	for i, p := range s.Points {
		x, y := s.View.Point(p.X)
		flags := 0
		for bit, on := range []bool{p.HeldOut, p.Wrong, p.Core} {
			if on {
				flags |= 1 << bit
			}
		}
		c := slices.Index(s.Classes, p.Label)
		signs[c] = p.Y
		pts[i] = stagePoint{x, y, c, short(p.F), short(p.Slack), short(p.Weight), string(p.Role), flags}
		if len(p.Scores) > 1 {
			f := make([]float64, len(p.Scores))
			for k, v := range p.Scores {
				f[k] = short(v)
			}
			pts[i] = append(pts[i], p.Predicted, f)
		}
	}
	read := map[string]any{
		"frames": frames, "model": s.Model != nil,
		"classes": s.Classes, "signs": signs, "labels": s.View.Labels, "points": pts,
	}
	if s.Model != nil && len(s.Model.Machines) > 1 {
		read["scores"] = s.Model.ScoreNames()
	}
	return ToJSON(read)
}

// short rounds to six significant digits.
func short(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil || math.IsInf(r, 0) || math.IsNaN(r) {
		return 0
	}
	return r
}

// pointTable is what the scene's model says of its points, the first of them.
func pointTable(s figure.Scene) views.PointTable {
	points := s.Points[:min(len(s.Points), TableRows)]
	t := views.PointTable{Head: []string{"f(x)", "margin y f(x)", "slack"}, Rows: make([]views.PointRow, 0, len(points)), Total: len(s.Points)}
	sides := s.Model.Rule == ml.Sign
	if !sides {
		t.Head = append([]string{"predicted"}, s.Model.ScoreNames()...)
	}
	for _, p := range points {
		coords := make([]string, 0, 4)
		for _, v := range p.X[:min(len(p.X), 4, len(s.Model.Features))] {
			coords = append(coords, views.Short(v))
		}
		if len(p.X) > 4 {
			coords = append(coords, "…")
		}
		values := []string{views.Short(p.F), views.Short(p.Margin), views.Short(p.Slack)}
		if !sides {
			values = []string{p.Predicted}
			for _, f := range p.Scores {
				values = append(values, views.Short(f))
			}
		}
		t.Rows = append(t.Rows, views.PointRow{
			Row: p.Row + 1, Coordinates: strings.Join(coords, ", "), Label: p.Label, Values: values, Weight: views.Short(p.Weight), Role: roleText(p),
		})
	}
	return t
}

// roleText says in words what a point is.
func roleText(p ml.Point) string {
	var words []string
	switch p.Role {
	case ml.Free:
		words = append(words, "free support vector")
	case ml.Inside:
		words = append(words, "bounded support vector inside the margin")
	case ml.Misclassified:
		words = append(words, "bounded support vector on the wrong side")
	case ml.Support:
		words = append(words, "support vector")
	}
	if p.HeldOut {
		words = append(words, "held out")
	}
	if p.Wrong && p.Role != ml.Misclassified {
		words = append(words, "misclassified")
	}
	if p.Core {
		words = append(words, "core")
	}
	return strings.Join(words, ", ")
}

// BareScene is the scene of a data set without a model.
func BareScene(d *dataset.Data, x, y string, o Options) (figure.Scene, error) {
	v, err := viewOf(d, x, y)
	if err != nil {
		return figure.Scene{}, err
	}
	s := figure.DataScene(d, v)
	s.Dark, s.Width, s.Height, s.LegendRows = o.Dark, o.Width, o.Height, o.LegendRows()
	s.Limits = figure.LimitsOf(s.Points, v)
	if o.Limits != (figure.Limits{}) {
		s.Limits = union(o.Limits, s.Points, v)
	}
	return s, nil
}

// DataPicture shows a data set without a model: points on two axes, or the values
// of a kernel as a map, class by class.
func DataPicture(d *dataset.Data, x, y string, o Options) (*figure.Picture, error) {
	if p, ok := d.Objects.(*dataset.Precomputed); ok {
		return kernelMap(d, p, o)
	}
	s, err := BareScene(d, x, y, o)
	if err != nil {
		return nil, err
	}
	return figure.Scatter(s)
}

// kernelMap shows a kernel matrix with the objects of a class side by side.
func kernelMap(d *dataset.Data, p *dataset.Precomputed, o Options) (*figure.Picture, error) {
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return d.Y[i] - d.Y[j] })
	m := figure.Matrix{
		X: "object", Y: "object", Name: "k", Values: mat.NewDense(len(order), len(order), nil), ClassNames: d.Classes,
	}
	m.Dark, m.Width, m.Height = o.Dark, o.Width, o.Height
	for a, i := range order {
		m.Classes = append(m.Classes, d.Y[i])
		for b, j := range order {
			m.Values.(*mat.Dense).Set(a, b, p.K.At(i, p.Number[j]-1))
		}
	}
	return m.Picture()
}

// FigureName takes a figure's name and format apart: boundary.svg.
func FigureName(r *http.Request) (name, format string, err error) {
	name, format, _ = strings.Cut(chi.URLParam(r, "figure"), ".")
	if format != "svg" && format != "png" {
		return "", "", store.ErrNotFound
	}
	return name, format, nil
}

// WriteFigure sends a picture.
func WriteFigure(w http.ResponseWriter, pic *figure.Picture, format string) error {
	var b bytes.Buffer
	var err error
	kind := "image/svg+xml"
	if format == "png" {
		kind = "image/png"
		pic.Scale = pngScale
		err = pic.PNG(&b)
	} else {
		err = pic.SVG(&b)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, no-cache")
	_, err = io.Copy(w, &b)
	return err
}

// PlainOptions are choices that are called what they are.
func PlainOptions(values ...string) (opts []views.Option) {
	for _, v := range values {
		opts = append(opts, views.Option{Value: v, Label: v})
	}
	return opts
}

// ParseLimits reads "xmin,xmax,ymin,ymax"; anything else is no limits.
func ParseLimits(text string) (l figure.Limits) {
	var v [4]float64
	for i, part := range strings.SplitN(text, ",", 5) {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || i > 3 {
			return figure.Limits{}
		}
		v[i] = f
	}
	if v[0] >= v[1] || v[2] >= v[3] {
		return figure.Limits{}
	}
	return figure.Limits{XMin: v[0], XMax: v[1], YMin: v[2], YMax: v[3]}
}

// AxisOptions lists what an axis can show.
func AxisOptions(features []string) []views.Option {
	opts := []views.Option{{Value: "pca", Label: "principal components"}}
	for _, f := range features {
		opts = append(opts, views.Option{Value: f, Label: f})
	}
	return opts
}
