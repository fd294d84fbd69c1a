// Package pictures draws, caches, links and sends the figures of pages.
package pictures

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

	"github.com/go-chi/chi/v5"
	"gonum.org/v1/gonum/stat"

	"marginlab/handlers/limiter"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/web"
)

// ToJSON returns a value as JSON for a page's script.
func ToJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// Sizes of pictures in CSS pixels.
const (
	MainWidth, MainHeight   = 810, 540
	NarrowWidth             = 400      // of other large pictures on narrow screens
	phoneWidth, phoneHeight = 354, 354 // of the main picture there: letters are 12 pixels high on a phone, and up to half may be legend
	SmallWidth, SmallHeight = 400, 330
	thumbWidth, thumbHeight = 228, 171
)

// pngScale is the number of device pixels per CSS pixel of a PNG, so that it is
// sharp on paper and on a projector.
const pngScale = 2

// TableRows is the number of points in a table on a page.
const TableRows = 300

// Options holds the user's choices for a picture.
type Options struct {
	figure.Format
	Heat, Slack, Cores bool
	Coarse             int // 1, during a drag: fewer cells, no tables; 2: fewer still
	Limits             figure.Limits
	Unit               float64 // as in figure.Picture
	Print              bool    // sizes are lengths on paper
	Layers             bool    // layers can be hidden
	Hidden             string  // hidden layers, in the form of figure.LayerNames
}

// ReadOptions reads the options of a page's main picture from a query.
func ReadOptions(q url.Values) Options {
	return Options{
		Format: figure.Format{Dark: q.Get("dark") == "1", Noted: q.Get("noted") == "1", Width: MainWidth, Height: MainHeight},
		Heat:   q.Get("show") == "heat", Slack: q.Get("slack") == "true", Cores: q.Get("cores") != "false",
		Coarse: limiter.Coarseness(q), Limits: parseLimits(q.Get("limits")), Hidden: strings.Join(figure.LayerNames(q.Get("hide")), ","),
	}
}

// grid returns the number of cells per axis; 0 is the figure's default.
func (o Options) grid() int {
	return [...]int{0, 80, 56}[o.Coarse]
}

// legendRows returns enough rows for every possible mark, so that the frame stays fixed while
// points move, and pictures side by side look alike.
func (o Options) legendRows() int {
	switch {
	case o.Width < 560:
		return 4
	case o.Width < 1000:
		return figure.RowsForAll
	}
	return 0
}

// Sized returns the options of a picture in the size and theme that a request asks for. The default
// is width, height and the light theme.
func Sized(r *http.Request, width, height int) Options {
	o := Options{Format: figure.Format{Width: width, Height: height, Dark: r.FormValue("dark") == "1"}}
	o.Size(r)
	return o
}

// Size reads width and height from a request and clamps them.
func (o *Options) Size(r *http.Request) {
	if w, err := strconv.Atoi(r.FormValue("width")); err == nil {
		o.Width = min(max(w, 80), 2400)
	}
	if h, err := strconv.Atoi(r.FormValue("height")); err == nil {
		o.Height = min(max(h, 60), 2400)
	}
}

// ForPrint reads width, height and font size from a query, as lengths such as 84mm or in pixels,
// and whether the figure is grey.
func (o *Options) ForPrint(q url.Values) error {
	var ps param.Problems
	length := func(name string, lo, hi float64) (pixels float64) {
		text := q.Get(name)
		if text == "" {
			return 0
		}
		v, onPaper, err := figure.Length(text)
		switch {
		case err != nil:
			ps.Add(name, "%s %v", name, err)
			return 0
		case v < lo || v > hi:
			ps.Add(name, "%s expects %g to %g pixels (1/96 inch each), not %s", name, lo, hi, text)
			return 0
		}
		o.Print = o.Print || onPaper
		return v
	}
	width, height, font := length("width", 80, 2400), length("height", 60, 2400), length("font_size", 6, 48)
	switch q.Get("grey") {
	case "":
	case "1":
		o.Grey = true
	default:
		ps.Add("grey", "grey expects 1")
	}
	if err := ps.Err(); err != nil {
		return err
	}
	o.Width, o.Height, o.Unit = figure.SizeInPrint(o.Width, o.Height, width, height, font)
	return nil
}

// Look returns a Scene with the choices that apply to a picture.
func (o Options) Look() figure.Scene {
	o.LegendRows = o.legendRows()
	return figure.Scene{
		Format: o.Format, Limits: o.Limits, Heat: o.Heat, Slack: o.Slack, Cores: o.Cores, Grid: o.grid(), Layers: o.Layers, Hidden: figure.LayerNames(o.Hidden),
	}
}

// Answer returns the view of a run: its main and other pictures, numbers, notes and, unless coarse,
// its points. Figures are linked below base with the query, or embedded if inline or if the query
// is too long for a URL. key is as for RunSheet.
func (a *Renderer) Answer(ctx context.Context, r figure.Run, key string, o Options, base, query string, inline bool) (views.Answer, error) {
	var ans views.Answer
	r.Look = o.Look()
	s, err := r.Scene(ctx, r.Result.Model)
	if err != nil {
		return ans, err
	}
	ans.Picture = Linked(base, r.Main(), query, o.Width, o.Height, "", "")
	inline = inline || ans.Picture.Src == ""
	if inline {
		ans.Picture, ans.Stage, err = Show(ctx, s, r.Decision, base, r.Main(), query, true)
	} else {
		ans.Stage, err = a.drawMain(ctx, r, s, key, o, &ans.Picture)
	}
	if err != nil {
		return ans, err
	}
	for _, f := range r.Figures() {
		if f.Name == r.Main() && r.Result.Before == nil {
			continue // the main picture, with nothing to compare
		}
		if inline && f.Judges() && o.Coarse > 0 {
			continue
		}
		p := Linked(base, f.Name, query, SmallWidth, SmallHeight, f.Title, f.Title)
		if inline && f.Judges() && p.Src != "" { // below the moving picture: loaded only when visible
			p.Lazy = true
		} else if inline {
			r.Look.Width, r.Look.Height = SmallWidth, SmallHeight
			pic, err := r.Draw(ctx, f.Name)
			if err != nil {
				return ans, err
			}
			if err := Embed(ctx, &p, pic); err != nil {
				return ans, err
			}
		}
		ans.More = append(ans.More, p)
	}
	ans.Headline, ans.Numbers = results.Headline(&r.Result.Report), results.Numbers(&r.Result.Report)
	ans.Confusion, ans.Machines = results.Confusions(&r.Result.Report), results.Machines(&r.Result.Report)
	shown := lists.Either(s.Values, "f(x) against the value", "f(x)")
	if len(r.Result.Model.Machines) > 1 {
		shown = "how strongly the scores favour the class"
	}
	switch r.Data.Kind() {
	case dataset.KindVectors:
	case dataset.KindPrecomputed:
		ans.Notes = append(ans.Notes, "There is no boundary to draw: these objects are given by kernel values alone and have no coordinates. The picture shows "+shown+" of each instead.")
	default:
		ans.Notes = append(ans.Notes, fmt.Sprintf("There is no boundary to draw: %s have no coordinates. The picture shows %s of each instead.", r.Data.Kind().Words(), shown))
	}
	if r.Data.Objects != nil {
		why, err := results.UserMessage(ml.Comparable(r.Result.Model.Kernel, r.Data))
		if err != nil {
			return ans, err
		}
		if why != "" {
			ans.Notes = append(ans.Notes, why)
		}
	}
	ans.Notes = append(ans.Notes, results.Remarks(&r.Result.Report, r.Spec)...)
	if note := offset(s); note != "" {
		ans.Notes = append(ans.Notes, note)
	}
	switch {
	case s.View.Exact:
	case s.Values:
		ans.Notes = append(ans.Notes, fmt.Sprintf("The model uses %d features. The picture is a slice: f with the other directions at their means, and every point projected onto it. The colour of a point may differ from the one around it although f fits its value.", len(r.Result.Model.Features)))
	default:
		ans.Notes = append(ans.Notes, fmt.Sprintf("The model uses %d features. The picture is a slice: the boundary with the other directions at their means, and every point projected onto it. A point may lie on the wrong side of the drawn line for its prediction.", len(r.Result.Model.Features)))
	}
	if o.Coarse == 0 {
		ans.Points = pointTable(s, r.Data.Objects)
	}
	return ans, nil
}

// Preview returns only the main picture of a run, embedded, for use while zooming.
func (a *Renderer) Preview(ctx context.Context, r figure.Run, base, query string) (ans views.Answer, err error) {
	ctx, leave, err := a.turns.PageTurn(ctx)
	if err != nil {
		return ans, err
	}
	defer leave()
	s, err := r.Scene(ctx, r.Result.Model)
	if err != nil {
		return ans, err
	}
	ans.Picture, ans.Stage, err = Show(ctx, s, r.Decision, base, r.Main(), query, true)
	return ans, err
}

// drawMain draws the picture that the browser will request for p, the linked main picture of a run
// with this scene. It sets p's caption and returns the data for the page's script.
func (a *Renderer) drawMain(ctx context.Context, r figure.Run, s figure.Scene, key string, o Options, p *views.Picture) (string, error) {
	frames, toggles := map[int]figure.Frame{}, map[int][]figure.Toggle{}
	for _, size := range [][2]int{{phoneWidth, phoneHeight}, {o.Width, o.Height}} {
		o.Width, o.Height = size[0], size[1]
		print, err := a.Print(ctx, RunSheet(key, r.Main(), "svg", o, func(context.Context) (figure.Run, error) { return r, nil }))
		if err != nil {
			return "", err
		}
		frames[o.Width], toggles[o.Width] = print.Frame, print.Toggles
		p.Alt, p.Caption = print.Caption, print.Caption
	}
	return stage(frames, toggles, s), nil
}

// RunSheet returns the sheet of a run's figure. key identifies the run and its axes; run is not
// called if the figure is cached.
func RunSheet(key, name, format string, o Options, run func(context.Context) (figure.Run, error)) Sheet {
	return Sheet{Key: fmt.Sprintf("%s %s %+v", key, name, o), Format: format, Draw: func(ctx context.Context) (*figure.Picture, error) {
		r, err := run(ctx)
		if err != nil {
			return nil, err
		}
		r.Look = o.Look()
		pic, err := r.Draw(ctx, name)
		if errors.Is(err, figure.ErrNoFigure) {
			return nil, web.Errorf(web.NotFound, "%s", results.Sentence(err.Error()))
		}
		if err == nil {
			pic.Unit, pic.Print, pic.Greyscale = o.Unit, o.Print, o.Grey
		}
		return pic, err
	}}
}

// offset returns a warning if all values of a regression lie on one side of 0, to which f falls
// back far from all points.
func offset(s figure.Scene) string {
	if !s.Values || len(s.Points) == 0 {
		return ""
	}
	t := lists.Map(s.Points, func(p ml.Point) float64 { return p.Y })
	mean, variance := stat.PopMeanVariance(t, nil)
	if mean*mean <= variance {
		return ""
	}
	return fmt.Sprintf("The values are %s on average, and f has no bias: away from all points it tends to 0 with local kernels such as rbf, and λ shrinks it towards 0 everywhere. Subtract the mean from the values first unless 0 is meaningful.", views.Short(mean))
}

// Show returns the main picture of a page, embedded or linked below base in two sizes, with the
// data for the page's script.
func Show(ctx context.Context, s figure.Scene, draw figure.Drawing, base, name, query string, inline bool) (views.Picture, string, error) {
	pic, err := draw(ctx, s)
	if err != nil {
		return views.Picture{}, "", err
	}
	p := Linked(base, name, query, s.Width, s.Height, pic.Caption, pic.Caption)
	frames, toggles := map[int]figure.Frame{s.Width: pic.Frame}, map[int][]figure.Toggle{s.Width: pic.Toggles}
	if inline || p.Src == "" {
		err = Embed(ctx, &p, pic)
		return p, stage(frames, toggles, s), err
	}
	n := s
	n.Width, n.Height = phoneWidth, phoneHeight
	if pic, err = draw(ctx, n); err != nil {
		return p, "", err
	}
	frames[phoneWidth], toggles[phoneWidth] = pic.Frame, pic.Toggles
	return p, stage(frames, toggles, s), nil
}

// MainSize returns the size of a main picture of about the given width.
func MainSize(width int) (w, h int) {
	if width <= phoneWidth {
		return phoneWidth, phoneHeight
	}
	w = min(max(width, NarrowWidth), 2*MainWidth)
	return w, w * MainHeight / MainWidth
}

// Linkable reports whether a query fits in a URL.
func Linkable(query string) bool { return len(query) < web.HeaderBytes }

// Linked returns a picture that the browser fetches in the colours of its theme and, if large, also
// in a size for narrow screens. If the query is too long for a URL, the picture has none and must
// be embedded.
func Linked(base, name, query string, width, height int, alt, caption string) views.Picture {
	if !Linkable(query) {
		return views.Picture{Alt: alt, Caption: caption, Width: width, Height: height}
	}
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
		w, h := NarrowWidth, NarrowWidth*height/width
		if width == MainWidth && height == MainHeight {
			w, h = phoneWidth, phoneHeight
			p.NarrowSize = [2]int{w, h}
		}
		p.Narrow, p.NarrowDark = at("svg", w, h, ""), at("svg", w, h, "&dark=1")
	}
	return p
}

// ListFigure returns the name of the figure that represents a run in a list, and a text
// alternative: its model or, if that has no plane, its strings or graphs.
func ListFigure(r *ml.Report) (name, what string) {
	if k, err := kernel.Lookup(r.Kernel); err == nil && (k.Takes == dataset.KindStrings || k.Takes == dataset.KindGraphs) {
		return "objects", "Some of the " + k.Takes.Words()
	}
	return MainFigure(r)
}

// MainFigure returns the name of the figure that shows the model of a run, and a text alternative.
func MainFigure(r *ml.Report) (name, what string) {
	name = figure.Main(r.Rule, r.D)
	return name, map[string]string{"boundary": "Boundary", "curve": "Curve", "surface": "Surface", "fit": "f(x) against the values"}[name]
}

// Thumbnail is one of many small pictures.
func Thumbnail(base, name, query, alt string) views.Picture {
	p := Linked(base, name, query, thumbWidth, thumbHeight, alt, "")
	p.Lazy = true
	return p
}

// Embed embeds a picture in the page.
func Embed(ctx context.Context, v *views.Picture, pic *figure.Picture) error {
	var uri dataURI
	uri.text.WriteString("data:image/svg+xml,")
	if err := pic.SVG(ctx, &uri); err != nil {
		return err
	}
	v.Src, v.DarkSrc, v.Narrow, v.NarrowDark = uri.text.String(), "", "", ""
	return nil
}

// dataURI writes text as the content of a data URI. It escapes only what HTML and JSON would
// escape again, which compresses better than base64.
type dataURI struct{ text strings.Builder }

// plainText holds whether a byte needs no escape in a data URI.
var plainText = func() (plain [256]bool) {
	const marked = "\"#%&'+<>\\"
	for c := ' '; c <= '~'; c++ {
		plain[c] = !strings.ContainsRune(marked, c)
	}
	return plain
}()

func (u *dataURI) Write(text []byte) (int, error) {
	const hex = "0123456789ABCDEF"
	u.text.Grow(len(text) + len(text)/2)
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && plainText[text[to]] {
			to++
		}
		u.text.Write(text[from:to])
		if to < len(text) {
			u.text.WriteByte('%')
			u.text.WriteByte(hex[text[to]>>4])
			u.text.WriteByte(hex[text[to]&15])
		}
		from = to + 1
	}
	return len(text), nil
}

// stage returns the data with which the page's script draws marks over a picture: frames by width
// of the picture, and toggles, the legend entries that hide layers. To keep the answer small a
// point is a list: s, t, class or value, f, slack or residual, weight, role, flags (1 held out, 2
// wrong, 4 core) and, if there are several machines, the predicted class and a list of their
// scores.
func stage(frames map[int]figure.Frame, toggles map[int][]figure.Toggle, s figure.Scene) string {
	all := s.Points
	if len(all) > LiveRows { // the others are neither visible nor editable
		var drawn []ml.Point
		if s.Grid == 0 { // not during a drag
			drawn = lists.At(all, s.Drawn())
		}
		s.Points = drawn
	}
	pts := append(make([]byte, 0, 2+80*len(s.Points)), '[')
	signs := make([]float64, len(s.Classes))
	var rows []int // rows of the points, if some are omitted
	for i, p := range s.Points {
		x, y := s.View.Point(p.X)
		flags := 0
		for bit, on := range []bool{p.HeldOut, p.Wrong, p.Core} {
			if on {
				flags |= 1 << bit
			}
		}
		miss := lists.Either(s.Targets || s.Values, p.Y-p.F, p.Slack)
		what := p.Y
		if !s.Values {
			c := slices.Index(s.Classes, p.Label)
			signs[c], what = p.Y, float64(c)
		}
		digits := -1 // all digits
		if len(s.Points) < len(all) {
			digits = sixDigits
			rows = append(rows, p.Row)
		}
		if i > 0 {
			pts = append(pts, ',')
		}
		pts = append(appendJSON(append(pts, '['), digits, x, y), ',')
		pts = append(appendJSON(pts, sixDigits, what, p.F, miss, p.Weight), ',')
		pts = strconv.AppendInt(append(append(append(pts, '"'), p.Role...), `",`...), int64(flags), 10)
		if len(p.Scores) > 1 {
			pts = append(append(append(pts, ','), ToJSON(p.Predicted)...), ",["...)
			pts = append(appendJSON(pts, sixDigits, p.Scores...), ']')
		}
		pts = append(pts, ']')
	}
	pts = append(pts, ']')
	read := map[string]any{
		"frames": frames, "model": s.Model != nil, "targets": s.Targets,
		"classes": s.Classes, "signs": signs, "labels": s.View.Labels,
	}
	if s.Layers {
		read["toggles"] = toggles
	}
	if rows != nil {
		read["rows"] = rows
	}
	if s.Values {
		read["value"] = s.Label // of the points; there is no class
	}
	if s.Model != nil && len(s.Model.Machines) > 1 {
		read["scores"] = s.Model.ScoreNames()
	}
	return strings.TrimSuffix(ToJSON(read), "}") + `,"points":` + string(pts) + "}"
}

// sixDigits is the number of digits of a model's values on pages.
const sixDigits = 6

// appendJSON appends comma-separated numbers with the given significant digits (-1: all), and 0 for
// those that JSON cannot represent.
func appendJSON(b []byte, digits int, values ...float64) []byte {
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsInf(v, 0) || math.IsNaN(v) {
			v = 0
		}
		b = strconv.AppendFloat(b, v, 'g', digits, 64)
	}
	return b
}

// pointTable returns the predictions of the scene's model for its first points; objects holds the
// points if they are not vectors.
func pointTable(s figure.Scene, objects dataset.Objects) views.PointTable {
	points := s.Points[:min(len(s.Points), TableRows)]
	t := views.PointTable{What: "Coordinates", Rows: make([]views.PointRow, 0, len(points)), Total: len(s.Points)}
	if objects != nil {
		t.What = "Object"
	}
	sides := s.Model.Rule == ml.Sign
	switch {
	case s.Values:
		t.Head = views.NumberHeadings("Label", "f(x)", "residual t − f(x)")
	case !sides:
		t.Head = append(views.Headings("Label", "Predicted"), views.NumberHeadings(s.Model.ScoreNames()...)...)
	case s.Targets:
		t.Head = append(views.Headings("Label"), views.NumberHeadings("f(x)", "margin y f(x)", "residual y − f(x)")...)
	default:
		t.Head = append(views.Headings("Label"), views.NumberHeadings("f(x)", "margin y f(x)", "slack")...)
	}
	for _, p := range points {
		where := Coordinates(p.X[:min(len(p.X), len(s.Model.Features))])
		if objects != nil {
			where = Clipped(objects.Text(p.Row))
		}
		label := param.ClassText(p.Label)
		values := []string{label, views.Short(p.F), views.Short(p.Margin), views.Short(p.Slack)}
		if s.Targets {
			values[3] = views.Short(p.Y - p.F)
		}
		switch {
		case s.Values:
			values = []string{label, views.Short(p.F), views.Short(p.Y - p.F)}
		case !sides:
			values = append([]string{label, param.ClassText(p.Predicted)}, lists.Map(p.Scores, views.Short)...)
		}
		t.Rows = append(t.Rows, views.PointRow{
			Row: p.Row + 1, Coordinates: where, Values: values, Weight: views.Short(p.Weight), Role: RoleText(p),
		})
	}
	return t
}

// DrawGraphs replaces the text of each graph in a table by its drawing: the figure called name
// below base, with query followed by the row.
func DrawGraphs(t *views.PointTable, base, name, query string) {
	for i := range t.Rows {
		row := strconv.Itoa(t.Rows[i].Row)
		t.Rows[i].Drawn = Thumbnail(base, name, query+row, "the graph of row "+row)
	}
}

// Coordinates formats the coordinates of a point; only the first ones if there are many.
func Coordinates(x []float64) string {
	coords := lists.Map(x[:min(len(x), 4)], views.Short)
	if len(x) > 4 {
		coords = append(coords, "…")
	}
	return strings.Join(coords, ", ")
}

// Clipped truncates text for a table cell.
func Clipped(text string) string {
	const most = 60 // characters
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// RoleText describes the role of a point.
func RoleText(p ml.Point) string {
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

// BareScene returns the scene of a data set without a model, and the function that draws it. values
// reports whether labels are numbers.
func BareScene(d *dataset.Data, values bool, x, y string, o Options) (figure.Scene, figure.Drawing, error) {
	v, err := figure.ViewOf(d, x, y)
	if err != nil {
		return figure.Scene{}, nil, err
	}
	s, draw, look := figure.DataScene(d, v), figure.Drawing(figure.Scatter), o.Look()
	if values {
		if s, draw, err = figure.ValueScene(d, v); err != nil {
			return s, nil, err
		}
	}
	s.Format, s.Heat, s.Limits = look.Format, look.Heat, look.Limits
	return s, draw, nil
}

// DataPicture returns the picture of a data set without a model: points over two axes, or a kernel
// matrix ordered by class.
func (a *Renderer) DataPicture(ctx context.Context, d *dataset.Data, hash, x, y string, o Options) (*figure.Picture, error) {
	if d.Kind() != dataset.KindVectors {
		c, err := a.Compare(hash)(ctx, kernel.For(d.Kind()), d)
		if err != nil {
			return nil, err
		}
		return figure.KernelMatrix(c, d, o.Look())
	}
	s, draw, err := BareScene(d, d.Measured(), x, y, o)
	if err != nil {
		return nil, err
	}
	return draw(ctx, s)
}

// FigureName splits the file name of a figure, such as boundary.svg, into name and format.
func FigureName(r *http.Request) (name, format string, err error) {
	name, format, _ = strings.Cut(chi.URLParam(r, "figure"), ".")
	if format != "svg" && format != "png" && format != "pdf" {
		return "", "", web.Errorf(web.NotFound, "Figures end in .svg, .png or .pdf, such as %s.svg.", name)
	}
	return name, format, nil
}

// PlainOptions returns options whose labels are their values.
func PlainOptions(values ...string) []views.Option {
	return lists.Map(values, func(v string) views.Option { return views.Option{Value: v, Label: v} })
}

// parseLimits parses "xmin,xmax,ymin,ymax"; anything else means no limits.
func parseLimits(text string) (l figure.Limits) {
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
	return append([]views.Option{{Value: "pca", Label: "principal components"}}, PlainOptions(features...)...)
}

// QR returns the QR code of a link as a data URI.
func QR(ctx context.Context, link string) (string, error) {
	code, err := figure.QR(link, "QR code of "+link)
	if err != nil {
		return "", err
	}
	var p views.Picture
	err = Embed(ctx, &p, code)
	return p.Src, err
}

// LiveRows is the maximum number of points that can be edited on a picture. For larger sets a page
// receives only the points that its picture draws.
const LiveRows = 2000
