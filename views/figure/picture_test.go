package figure_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/views/figure"
)

// variants are the pictures that are kept as golden files beside the examples'.
var variants = []struct {
	name string
	draw func() (*figure.Picture, error)
}{
	{"boundary_dark", boundary(func(s *figure.Scene) { s.Dark = true })},
	{"heat", boundary(func(s *figure.Scene) { s.Heat, s.Cores = true, true })},
	{"thumbnail", boundary(func(s *figure.Scene) { s.Width, s.Height, s.Grid = 160, 120, 60 })},
	{"small", boundary(func(s *figure.Scene) { s.Width, s.Height = 320, 280 })},
	{"three_classes", boundary(func(s *figure.Scene) {
		for i := range s.Points {
			if s.Points[i].Y < 0 && s.Points[i].X[0] < 0 {
				s.Points[i].Label = "2"
			}
		}
	})},
	{"slice", boundary(func(s *figure.Scene) { *s = slice() })},
	{"map_signs", func() (*figure.Picture, error) {
		s := scene()
		s.Model.Machines[0].Map = &conformal.Map{Gamma: 1, Alpha0: -0.3, Alpha: []float64{1}, Cores: [][]float64{{0.2, 0.2}}}
		return figure.Conformal(context.Background(), s)
	}},
}

// boundary draws the scene after a change.
func boundary(change func(s *figure.Scene)) func() (*figure.Picture, error) {
	return func() (*figure.Picture, error) {
		s := scene()
		change(&s)
		return figure.Boundary(context.Background(), s)
	}
}

// slice is a scene in three dimensions.
func slice() figure.Scene {
	s := scene()
	m := s.Model
	m.Features = append(m.Features, "x3")
	for i, v := range m.Supports.Vectors {
		m.Supports.Vectors[i] = []float64{v[0], v[1], 0.1}
	}
	for i := range s.Points {
		p := &s.Points[i]
		p.X = []float64{p.X[0], p.X[1], 0.5}
	}
	s.Slack = true
	s.View.Center = []float64{0, 0, 0}
	s.View.To = [2][]float64{{1, 0, 0}, {0, 1, 0}}
	s.View.Axes = s.View.To
	s.View.Exact = false
	return s
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		got := golden(v.name, require.Value(v.draw())(t, "%s", v.name))
		require.Check(t, strings.HasPrefix(got, "as "), "%s: %s", v.name, got)
	}
}

// A picture whose context ends is none, however far its surface got.
func TestPicturesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	s, hill := scene(), hillScene()
	s.Grid, hill.Grid = 40, 40
	narrow := scene() // whose lines need refinement
	narrow.Grid, narrow.Model.Kernel = 40, kernel.RBF(300)
	folded := mapped(scene())
	folded.Grid = 40
	for name, draw := range map[string]func(context.Context) (*figure.Picture, error){
		"boundary":  func(ctx context.Context) (*figure.Picture, error) { return figure.Boundary(ctx, s) },
		"narrow":    func(ctx context.Context) (*figure.Picture, error) { return figure.Boundary(ctx, narrow) },
		"conformal": func(ctx context.Context) (*figure.Picture, error) { return figure.Conformal(ctx, folded) },
		"surface":   func(ctx context.Context) (*figure.Picture, error) { return figure.ValueSurface(ctx, hill) },
		"band": func(ctx context.Context) (*figure.Picture, error) {
			return figure.Band{Scene: s, Sampled: []*ml.Model{s.Model}}.Picture(ctx)
		},
		"overlay": func(ctx context.Context) (*figure.Picture, error) {
			return figure.Overlay(ctx, []figure.Layer{{Name: "a", Scene: s}, {Name: "b", Scene: s}})
		},
	} {
		for looks := int64(0); ; looks++ {
			p, err := draw(mltest.NewLooks(t.Context(), looks))
			if err == nil {
				require.Check(t, looks > 1, "%s: drawn after %d looks", name, looks)
				break
			}
			require.Is(t, err, context.Canceled, "%s after %d looks", name, looks)
			require.Check(t, p == nil, "%s: a picture after %d looks", name, looks)
		}
	}
}

// Decoded pixels are compared: libraries may round differently on other machines.
func TestPNG(t *testing.T) {
	t.Parallel()
	s := scene()
	s.Width, s.Height, s.Slack, s.Cores = 400, 320, true, true
	p := require.Value(figure.Boundary(context.Background(), s))(t)
	var b bytes.Buffer
	require.NoError(t, p.PNG(t.Context(), &b))
	path := filepath.Join("testdata", "boundary.png")
	if *update {
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	f := require.Value(os.Open(path))(t)
	defer f.Close()
	want := require.Value(png.Decode(f))(t)
	got := require.Value(png.Decode(&b))(t)
	require.Must(t, got.Bounds() == want.Bounds() && got.Bounds() == image.Rect(0, 0, 400, 320),
		"bounds %v, want %v", got.Bounds(), want.Bounds())
	off := 0
	for y := range 320 {
		for x := range 400 {
			r1, g1, b1, _ := got.At(x, y).RGBA()
			r2, g2, b2, _ := want.At(x, y).RGBA()
			for _, d := range [3]int{int(r1) - int(r2), int(g1) - int(g2), int(b1) - int(b2)} {
				if d > 4<<8 || d < -4<<8 {
					off++
					break
				}
			}
		}
	}
	require.Check(t, off <= 400*320/1000,
		"%d pixels differ from %s; look at it, and write it anew with go test -update", off, path)
}

// A PNG at twice the scale has the same parts at twice the place.
func TestPNGScale(t *testing.T) {
	t.Parallel()
	s := scene()
	s.Points = nil
	s.Limits = figure.Limits{XMin: -2, XMax: 3, YMin: -2, YMax: 2}
	p, err := figure.Boundary(context.Background(), s)
	require.NoError(t, err)
	var imgs [3]image.Image
	for _, scale := range []int{1, 2} {
		p.Scale = scale
		imgs[scale] = pixels(t, p)
	}
	require.Equal(t, imgs[2].Bounds(), image.Rect(0, 0, 2*p.Width, 2*p.Height), "bounds")
	f := p.Frame
	for _, at := range [][2]float64{{0.02, 0.02}, {0.98, 0.02}, {0.02, 0.98}, {0.98, 0.98}, {0.5, 0.3}} {
		x, y := int(f.Left+at[0]*f.Width), int(f.Top+at[1]*f.Height)
		a, b := imgs[1].At(x, y), imgs[2].At(2*x+1, 2*y+1)
		require.Check(t, a == b, "at %v: %v and %v", at, a, b)
	}
	p.Scale = 9
	require.Check(t, p.PNG(t.Context(), io.Discard) != nil, "a scale of 9 was accepted")
}

type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr(name), 64)
	require.Must(t, err == nil, "%s %s=%q", e.XMLName.Local, name, e.attr(name))
	return v
}

func (e element) all(name string) (found []element) {
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
		found = append(found, c.all(name)...)
	}
	return found
}

// pixels returns the decoded PNG of a picture.
func pixels(t *testing.T, p *figure.Picture) image.Image {
	t.Helper()
	return require.Value(png.Decode(strings.NewReader(require.Drawn(t, p.PNG))))(t)
}

func parse(t *testing.T, p *figure.Picture) element {
	t.Helper()
	b := require.Drawn(t, p.SVG)
	var root element
	require.NoError(t, xml.Unmarshal([]byte(b), &root), "not XML")
	var parts []element
	for _, e := range root.Children {
		parts = append(parts, e.spread()...)
	}
	root.Children = parts
	return root
}

// spread gives each element of a group its own style, and each line of a path its L.
func (e element) spread() (groups []element) {
	if e.XMLName.Local != "g" {
		return []element{e}
	}
	for _, c := range e.Children {
		g, own := element{XMLName: e.XMLName}, []xml.Attr{}
		styles := map[string]string{}
		for _, a := range append(slices.Clone(e.Attrs), c.Attrs...) {
			switch name := a.Name.Local; {
			case name == "d":
				a.Value = straight(a.Value)
				own = append(own, a)
			case name == "fill", name == "fill-opacity", strings.HasPrefix(name, "stroke"):
				styles[name] = a.Value
			default:
				own = append(own, a)
			}
		}
		if styles["stroke-dasharray"] == "none" {
			delete(styles, "stroke-dasharray")
		}
		for _, name := range slices.Sorted(maps.Keys(styles)) {
			g.Attrs = append(g.Attrs, xml.Attr{Name: xml.Name{Local: name}, Value: styles[name]})
		}
		c.Attrs = own
		if last := len(groups) - 1; last >= 0 && slices.Equal(groups[last].Attrs, g.Attrs) {
			groups[last].Children = append(groups[last].Children, c)
			continue
		}
		g.Children = []element{c}
		groups = append(groups, g)
	}
	return groups
}

// straight is a path with L in place of H and V.
func straight(d string) string {
	var out strings.Builder
	var x, y string
	for len(d) > 0 {
		end := strings.IndexAny(d[1:], "MLHVAQCZ") + 1
		if end == 0 {
			end = len(d)
		}
		values := strings.Fields(d[1:end])
		switch d[0] {
		case 'H':
			x = values[0]
			out.WriteString("L" + x + " " + y)
		case 'V':
			y = values[0]
			out.WriteString("L" + x + " " + y)
		default:
			if len(values) > 1 {
				x, y = values[len(values)-2], values[len(values)-1]
			}
			out.WriteString(d[:end])
		}
		d = d[end:]
	}
	return out.String()
}

// The frame says where things are: the picture has the size in pixels that it
// claims, the image of the regions fills the frame whatever its proportions, and
// a point's marker is where the frame puts it.
func TestFrame(t *testing.T) {
	t.Parallel()
	for _, heat := range []bool{false, true} {
		for _, size := range [][2]int{{160, 120}, {333, 277}, {640, 520}, {1000, 700}, {1921, 1080}} {
			s := scene()
			s.Width, s.Height, s.Heat = size[0], size[1], heat
			for i := range s.Points {
				s.Points[i].Role, s.Points[i].HeldOut, s.Points[i].Label = ml.None, false, "0" // circles
			}
			s.Classes = []string{"0", "1"}
			p := require.Value(figure.Boundary(context.Background(), s))(t)
			svg := parse(t, p)
			w, h := strconv.Itoa(size[0]), strconv.Itoa(size[1])
			require.Check(t, svg.attr("width") == w && svg.attr("height") == h,
				"%v: size %s x %s", size, svg.attr("width"), svg.attr("height"))
			var vw, vh float64 // of the view box; large pictures are zoomed
			_, err := fmt.Sscanf(svg.attr("viewBox"), "0 0 %g %g", &vw, &vh)
			require.Check(t, err == nil && math.Abs(vw/vh-float64(size[0])/float64(size[1])) <= 1e-4, "%v: viewBox %s", size, svg.attr("viewBox"))
			zoom := float64(size[0]) / vw
			img := svg.all("image")[0]
			require.Equal(t, img.attr("preserveAspectRatio"), "none", "%v: the image's own proportions", size)
			f := p.Frame
			for name, want := range map[string]float64{"x": f.Left, "y": f.Top, "width": f.Width, "height": f.Height} {
				got := zoom * img.number(t, name)
				require.Check(t, math.Abs(got-want) <= 0.02 && want == math.Trunc(want), "%v: %s of the image is %g, of the frame %g", size, name, got, want)
			}
			require.Check(t, f.Left >= 0 && f.Top >= 0 && f.Left+f.Width <= float64(size[0]) && f.Top+f.Height <= float64(size[1]) && f.Width >= 60 && f.Height >= 60,
				"%v: frame %+v", size, f)
			centres := lists.Map(svg.all("circle"), func(c element) [2]float64 {
				return [2]float64{zoom * c.number(t, "cx"), zoom * c.number(t, "cy")}
			})
			for _, q := range s.Points {
				x := f.Left + f.Width*(q.X[0]-f.Limits.XMin)/(f.Limits.XMax-f.Limits.XMin)
				y := f.Top + f.Height*(f.Limits.YMax-q.X[1])/(f.Limits.YMax-f.Limits.YMin)
				here := func(p [2]float64) bool { return math.Abs(p[0]-x) < 0.02 && math.Abs(p[1]-y) < 0.02 }
				require.Must(t, slices.ContainsFunc(centres, here), "%v: no marker at %.2f, %.2f of row %d", size, x, y, q.Row)
			}
			words := 0
			for _, e := range svg.all("text") {
				words++
				y := zoom * e.number(t, "y")
				require.Check(t, y >= f.Top || y <= f.Top-4, "%v: %q touches the frame", size, e.Text)
			}
			require.Equal(t, size[0] < 240, words == 0, "%v: %d texts", size, words)
		}
	}
}

// The drawn line is where f is zero.
func TestBoundaryLine(t *testing.T) {
	t.Parallel()
	s := scene()
	p := require.Value(figure.Boundary(context.Background(), s))(t)
	var line string
	for _, g := range parse(t, p).Children {
		if g.attr("stroke") == figure.Hex(figure.Light.Ink) && g.attr("stroke-dasharray") == "" && g.attr("stroke-width") == "2.6" {
			line = g.Children[0].attr("d")
			break
		}
	}
	pts := strings.FieldsFunc(strings.TrimRight(line, "Z"), func(r rune) bool { return r == 'M' || r == 'L' || r == 'Z' })
	require.Must(t, len(pts) >= 50, "%d points in %q", len(pts), line)
	f, worst := p.Frame, 0.0
	for _, pt := range pts {
		var x, y float64
		require.Value(fmt.Sscan(pt, &x, &y))(t)
		at := []float64{
			f.Limits.XMin + (x-f.Left)/f.Width*(f.Limits.XMax-f.Limits.XMin),
			f.Limits.YMax - (y-f.Top)/f.Height*(f.Limits.YMax-f.Limits.YMin),
		}
		worst = math.Max(worst, math.Abs(s.Model.Decision(at)))
	}
	require.Check(t, worst <= 5e-3, "|f| is up to %g on the line", worst)
}

// Pictures of odd models and data: no error, no panic, well-formed output.
func TestUgly(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*figure.Scene){
		"no vectors":     func(s *figure.Scene) { s.Model.Supports, s.Model.Machines[0].Coef = ml.Supports{}, nil },
		"constant zero":  func(s *figure.Scene) { s.Model.Supports, s.Model.Machines[0] = ml.Supports{}, ml.Machine{} },
		"one sign":       func(s *figure.Scene) { s.Model.Machines[0].B = 1e6 },
		"not a number":   func(s *figure.Scene) { s.Model.Machines[0].B = math.NaN() },
		"infinite":       func(s *figure.Scene) { s.Model.Machines[0].B = math.Inf(-1) },
		"huge":           func(s *figure.Scene) { s.Model.Machines[0].Coef[0] = 1e300; s.Model.Machines[0].Coef[1] = -1e300 },
		"no points":      func(s *figure.Scene) { s.Points = nil },
		"one point":      func(s *figure.Scene) { s.Points = s.Points[:1] },
		"far away":       func(s *figure.Scene) { s.Limits = figure.Limits{XMin: 1e9, XMax: 1e9 + 1, YMin: -1e-9, YMax: 1e-9} },
		"no labels":      func(s *figure.Scene) { s.View.Labels = [2]string{} },
		"strange label":  func(s *figure.Scene) { s.Points[0].Label = "<&\x00\x1b\xff\">" },
		"unlisted class": func(s *figure.Scene) { s.Classes = []string{"0", "1"}; s.Points[0].Label = "3" },
		"weight zero": func(s *figure.Scene) {
			for i := range s.Points {
				s.Points[i].Weight = 0
			}
		},
		"smallest picture": func(s *figure.Scene) { s.Width, s.Height, s.Grid = 40, 40, 8 },
		"flat picture":     func(s *figure.Scene) { s.Width, s.Height = 2000, 180 },
		"many classes": func(s *figure.Scene) {
			for i := range s.Points {
				s.Points[i].Label = fmt.Sprintf("a class with a long name %d", i)
			}
		},
	} {
		for _, heat := range []bool{false, true} {
			s := scene()
			s.Grid, s.Slack, s.Cores, s.Heat = 30, true, true, heat
			s.Width, s.Height = 320, 240
			change(&s)
			p, err := figure.Boundary(context.Background(), s)
			require.Must(t, err == nil, "%s: %v", name, err)
			f := p.Frame
			require.Check(t, f.Width >= 1 && f.Height >= 1, "%s: frame %+v", name, f)
			parse(t, p)
			var b bytes.Buffer
			require.Equal(t, p.PNG(t.Context(), &b), nil, "%s", name)
			require.Equal(t, require.Err(png.Decode(&b)), nil, "%s", name)
			s.Model.Machines[0].Map = &conformal.Map{Gamma: 1}
			if p, err = figure.Conformal(context.Background(), s); err != nil {
				t.Errorf("%s, conformal: %v", name, err)
			} else {
				parse(t, p)
			}
			if p, err = figure.Overlay(context.Background(), []figure.Layer{{Name: "a", Scene: s}, {Name: "b", Scene: s}}); err != nil {
				t.Errorf("%s, overlay: %v", name, err)
			} else if parse(t, p); p.Disagree != 0 {
				t.Errorf("%s: a model disagrees with itself on %g", name, p.Disagree)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*figure.Scene){
		"no model":         func(s *figure.Scene) { s.Model = nil },
		"no view":          func(s *figure.Scene) { s.View = dataset.View{} },
		"view of others":   func(s *figure.Scene) { s.Model.Features = []string{"a", "b", "c"} },
		"points of others": func(s *figure.Scene) { s.Points[3].X = []float64{1} },
		"too large":        func(s *figure.Scene) { s.Width = 100_000 },
		"fine grid":        func(s *figure.Scene) { s.Grid = 5000 },
		"empty limits":     func(s *figure.Scene) { s.Limits = figure.Limits{XMin: 1, XMax: 1, YMin: 0, YMax: 1} },
		"no such limit":    func(s *figure.Scene) { s.Limits = figure.Limits{XMin: math.NaN(), XMax: 1, YMin: 0, YMax: 1} },
	} {
		s := scene()
		change(&s)
		require.Fails(t, require.Err(figure.Boundary(context.Background(), s)), "", "%s: no error", name)
	}
	require.Fails(t, require.Err(figure.Conformal(context.Background(), scene())), "", "a model without a map was drawn")
	require.Fails(t, require.Err(figure.Overlay(context.Background(), nil)), "", "an overlay of nothing was drawn")
	other := scene()
	other.View.Labels[1] = "x7"
	require.Fails(t, require.Err(figure.Overlay(context.Background(), []figure.Layer{{Name: "a", Scene: scene()}, {Name: "b", Scene: other}})), "x7", "other axes")
}

// linear is a linear model f = w·x + b of the two features.
func linear(w []float64, b float64, positive, negative string) figure.Scene {
	s := scene()
	s.Model = &ml.Model{
		Features: []string{"x1", "x2"}, Classes: []string{negative, positive}, Kernel: kernel.Kernel{Name: "linear"},
		Supports: ml.Supports{Rows: []int{0}, Vectors: [][]float64{w}}, Machines: []ml.Machine{{Coef: []float64{1}, B: b}}, Rule: ml.Sign,
	}
	s.Points = nil
	s.Limits = figure.Limits{XMin: 0, XMax: 1, YMin: 0, YMax: 1}
	return s
}

func TestDisagree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a, b figure.Scene
		want float64
	}{
		{"two upright lines", linear([]float64{1, 0}, -0.25, "1", "0"), linear([]float64{1, 0}, -0.5, "1", "0"), 0.25},
		{"crossing diagonals", linear([]float64{1, 1}, -1, "1", "0"), linear([]float64{1, -1}, 0, "1", "0"), 0.5},
		{"the same with labels exchanged", linear([]float64{1, 0}, -0.3, "1", "0"), linear([]float64{-1, 0}, 0.3, "0", "1"), 0},
		{"opposite", linear([]float64{1, 0}, -0.3, "1", "0"), linear([]float64{-1, 0}, 0.3, "1", "0"), 1},
	} {
		p := require.Value(figure.Overlay(context.Background(), []figure.Layer{{Name: "a", Scene: c.a}, {Name: "b", Scene: c.b}}))(t)
		require.Near(t, p.Disagree, c.want, 0.01, "%s", c.name)
	}
}

// More boundaries than can have a name of their own are drawn all the same.
func TestCrowd(t *testing.T) {
	t.Parallel()
	layers := lists.Make(7, func(i int) figure.Layer {
		return figure.Layer{Name: fmt.Sprintf("model %d", i), Scene: linear([]float64{1, 0}, -0.2-0.1*float64(i), "1", "0")}
	})
	p := require.Value(figure.Overlay(context.Background(), layers))(t)
	require.Near(t, p.Disagree, 0.6, 0.01, "the outermost lines are 0.6 apart, the models disagree on")
	require.Check(t, strings.HasPrefix(p.Caption, "Boundaries of 7 models over x1 and x2."), "%v", p.Caption)
	b := require.Drawn(t, p.SVG)
	require.Check(t, strings.Contains(b, "7 boundaries") && !strings.Contains(b, "model 0"), "the legend does not count the boundaries, or names them")
	// A crowd is thinned out, and the picture says so.
	d := require.Value(dataset.Generate("blobs", 20_000, 0.6, 1))(t)
	p = require.Value(figure.Scatter(t.Context(), figure.DataScene(d, plane(d.Features))))(t)
	var size counter
	require.NoError(t, p.SVG(t.Context(), &size))
	require.Check(t, size <= 1<<20 && strings.Contains(p.Caption, "Drawn: 5000 of 20000 points."),
		"%d bytes, %q", size, p.Caption)
}

func TestCaption(t *testing.T) {
	t.Parallel()
	s := scene()
	for i := range s.Points {
		s.Points[i].Role, s.Points[i].Wrong = ml.None, false
	}
	s.Points[0].Role, s.Points[1].Role, s.Points[2].Role = ml.Free, ml.Inside, ml.Misclassified
	s.Points[2].Wrong, s.Points[5].Wrong = true, true
	want := "Decision boundary between 1 and 0, RBF (Gaussian) kernel, over x1 and x2. 90 points: 45 of class 0, 45 of class 1." +
		" 3 support vectors: 1 on the margin, 1 inside it, 1 misclassified. 1 of 77 training points on the wrong side, 1 of 13 held-out points."
	require.Equal(t, figure.Caption(s), want, "caption")
	require.Says(t, figure.Caption(slice()), "Slice of 3 features", "caption")
}

// What the words say is true: rings in the picture are as many as support vectors.
func TestMarksAreComplete(t *testing.T) {
	t.Parallel()
	s := scene()
	count := func(s figure.Scene) (dashed, crosses int) {
		svg := parse(t, require.Value(figure.Boundary(context.Background(), s))(t))
		for _, g := range svg.all("g") {
			if g.attr("stroke-dasharray") == "2.5 2" {
				dashed += len(g.Children)
			}
		}
		return dashed, lists.Count(svg.all("path"), func(e element) bool {
			d := e.attr("d")
			return strings.Count(d, "M") == 2 && strings.Count(d, "L") == 2 && !strings.Contains(d, "Z")
		})
	}
	inside := lists.Count(s.Points, func(p ml.Point) bool { return p.Role == ml.Inside })
	wrong := lists.Count(s.Points, func(p ml.Point) bool { return p.Wrong })
	dashed, crosses := count(s)
	require.Check(t, dashed == inside+1 && crosses == wrong+1, // one each in the legend
		"%d dashed rings and %d crosses for %d points inside the margin and %d wrong ones", dashed, crosses, inside, wrong)
}

// The marks stand out from what they lie on, by WCAG's measure.
func TestContrast(t *testing.T) {
	t.Parallel()
	for name, th := range map[string]figure.Theme{"light": figure.Light, "dark": figure.Dark} {
		for i, c := range th.Class {
			r := ratio(c, th.Paper)
			require.Check(t, r >= 3, "%s: class %d on paper: %.2f", name, i, r)
			for _, side := range th.Side {
				for _, region := range side {
					r := ratio(c, region)
					require.Check(t, i >= 2 || r >= 3, "%s: class %d on %s: %.2f", name, i, figure.Hex(region), r)
				}
			}
		}
		for i, c := range th.Line {
			for _, bg := range []color.NRGBA{th.Differ[0], th.Side[0][1], th.Side[1][1]} {
				r := ratio(c, bg)
				require.Check(t, r >= 3, "%s: line %d on %s: %.2f", name, i, figure.Hex(bg), r)
			}
		}
		for _, bg := range []color.NRGBA{th.Heat[0], th.Heat[1], th.Zero, th.Factor[0], th.Factor[1]} {
			r := ratio(th.Ink, bg)
			require.Check(t, r >= 3, "%s: boundary on %s: %.2f", name, figure.Hex(bg), r)
		}
		r := ratio(th.Muted, th.Paper)
		require.Check(t, r >= 4.5, "%s: small text: %.2f", name, r)
	}
}

// BenchmarkPicture measures the wait after moving a slider: the fit, f on
// a 200 x 200 grid, and all of it with the drawing, as SVG and as PNG.
func BenchmarkPicture(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 3000} {
		d := require.Value(dataset.Generate("moons", n, 0.25, 1))(b)
		spec := ml.DefaultSpec()
		spec = spec.With("C", param.Of(10)).With("gamma", param.Of(1))
		spec.Standardize = false
		fit := func(b *testing.B) *ml.Model {
			return require.Value(ml.Train(context.Background(), d, spec, nil))(b).Model
		}
		b.Run(fmt.Sprintf("fit/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				fit(b)
			}
		})
		b.Run(fmt.Sprintf("surface/n=%d", n), func(b *testing.B) {
			m := fit(b)
			ticks := lists.Make(200, func(i int) float64 { return -1.5 + 4*float64(i)/199 })
			for b.Loop() {
				require.NoError(b, require.Err3(m.Surface(b.Context(), plane(d.Features), ticks, ticks)))
			}
		})
		for _, f := range []struct {
			name  string
			write func(*figure.Picture, context.Context, io.Writer) error
		}{{"svg", (*figure.Picture).SVG}, {"png", (*figure.Picture).PNG}} {
			b.Run(fmt.Sprintf("%s/n=%d", f.name, n), func(b *testing.B) {
				var size counter
				for b.Loop() {
					m := fit(b)
					ps := require.Value(m.Points(d, spec))(b)
					p, err := figure.Boundary(context.Background(), figure.Scene{Model: m, Points: ps, View: plane(d.Features), Grid: 200, Format: figure.Format{Width: 600, Height: 500}})
					require.NoError(b, err)
					size = 0
					require.NoError(b, f.write(p, b.Context(), &size))
				}
				b.ReportMetric(float64(size), "bytes")
			})
		}
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

func ratio(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// A picture of many points whose context ends while it is written, or before, ends with the error of
// the context, soon, and writes nothing.
func TestWritingEndsWithContext(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("circles", 6000, 0.1, 1))(t)
	for format, write := range map[string]func(*figure.Picture, context.Context, io.Writer) error{
		"SVG": (*figure.Picture).SVG, "PNG": (*figure.Picture).PNG, "PDF": (*figure.Picture).PDF,
		"list": func(p *figure.Picture, ctx context.Context, w io.Writer) error { return p.DisplayList(ctx, w, "") },
	} {
		p := require.Value(figure.Scatter(t.Context(), figure.DataScene(d, plane(d.Features))))(t)
		var whole, b bytes.Buffer
		require.NoError(t, write(p, t.Context(), &whole))
		looks := int64(0)
		for ; ; looks++ {
			ctx := mltest.NewLooks(t.Context(), looks)
			err := write(p, ctx, &b)
			if err == nil {
				break
			}
			require.Is(t, err, context.Canceled, "%s after %d looks", format, looks)
			require.Check(t, b.Len() == 0 && ctx.Over() <= 8, "%s after %d looks: %d bytes, %d looks more", format, looks, b.Len(), ctx.Over())
		}
		require.Check(t, looks > 20, "%s: %d looks at the context during 5000 marks", format, looks)
		require.Check(t, bytes.Equal(b.Bytes(), whole.Bytes()), "%s: the context changes the picture", format)
	}
}

// The legend and the caption write a class that is a number with a minus sign.
func TestClassesWithAMinusSign(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.FromPoints([][2]float64{{0, 0}, {1, 1}, {2, 0}}, []string{"-1", "1", "x-1"}))(t)
	s := figure.DataScene(d, plane(d.Features))
	p := require.Value(figure.Scatter(t.Context(), s))(t)
	require.SaysAll(t, require.Drawn(t, p.SVG)+figure.Caption(s), []string{">−1<", ">x-1<", "1 of class −1"}, "the picture")
	run := moonsRun()
	points := require.Value(run.Result.Points(t.Context(), run.Result.Model, run.Data, run.Spec))(t)
	path := &ml.Regularisation{C: 1, Side: []int{0, 1}, Classes: [2]string{"-1", "1"}}
	for _, c := range []float64{0.1, 1} {
		path.Steps = append(path.Steps, ml.RegularisationStep{C: c, Alpha: []float64{0, c}})
	}
	for name, p := range map[string]*figure.Picture{
		"decisions": require.Value(figure.Decisions(figure.DecisionScene(run.Result.Model, points, run.Data.Classes)))(t),
		"alphas":    require.Value(figure.Alphas(path, figure.Format{}))(t),
		"matrix":    require.Value(figure.Matrix{Values: mat.NewDense(2, 2, nil), Classes: []int{0, 1}, ClassNames: run.Data.Classes}.Picture())(t),
	} {
		require.Says(t, require.Drawn(t, p.SVG), ">−1<", "%s", name)
	}
}

// TestGrey: on paper the two sides of a boundary differ without their colours, and the legend
// names every line, for which the picture is made higher.
func TestGrey(t *testing.T) {
	t.Parallel()
	lightness := func(c color.Color) float64 { return float64(color.GrayModel.Convert(c).(color.Gray).Y) }
	for i := range 2 {
		d := math.Abs(lightness(figure.Grey.Side[0][i]) - lightness(figure.Grey.Side[1][i]))
		require.Check(t, d >= 20, "side %d: lightness differs by %g of 255", i, d)
	}
	names := []string{"one-vs-rest", "one-vs-one", "Weston and Watkins", "Crammer and Singer"}
	c := figure.Chart{Format: figure.Format{Grey: true, Width: 320, Height: 213}, X: figure.Axis{Name: "x"}, Y: figure.Axis{Name: "y"}}
	for i, n := range names {
		c.Curves = append(c.Curves, figure.Curve{Name: n, X: []float64{0, 1}, Y: []float64{float64(i), 1}})
	}
	p := require.Value(c.Picture())(t)
	svg := require.Drawn(t, p.SVG)
	for _, n := range names {
		require.Check(t, strings.Contains(svg, ">"+n+"<"), "the legend has no %q", n)
	}
	require.Check(t, p.Height > 213 && p.Frame.Height >= 100,
		"the picture is %d high, its frame %g", p.Height, p.Frame.Height)
}

// A picture that leaves out a part until a question is answered says so, where no ink is.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const says = "Answer to see more"
	axis := func(name string) figure.Axis { return figure.Axis{Name: name, Min: 0, Max: 1} }
	level := figure.Curve{Name: "level", X: []float64{0, 1}, Y: []float64{0.5, 0.5}}
	draw := map[string]func(f figure.Format) (*figure.Picture, error){
		"empty chart": func(f figure.Format) (*figure.Picture, error) {
			return figure.Chart{Format: f, X: axis("a"), Y: axis("b")}.Picture()
		},
		"chart": func(f figure.Format) (*figure.Picture, error) {
			return figure.Chart{Format: f, X: axis("a"), Y: axis("b"), Curves: []figure.Curve{level}}.Picture()
		},
		"plane": func(f figure.Format) (*figure.Picture, error) {
			return figure.Plane{Format: f, Limits: figure.Limits{XMin: -1, XMax: 1, YMin: -1, YMax: 1}, Marks: []figure.Mark{figure.Dot{}}}.Picture()
		},
	}
	for name, picture := range draw {
		for _, size := range [][2]int{{640, 520}, {420, 494}, {300, 300}} {
			for _, f := range []figure.Format{{}, {Waits: true}, {Waits: true, Grey: true}, {Waits: true, Paper: true}} {
				f.Width, f.Height = size[0], size[1]
				waits := f.Waits && !f.Grey && !f.Paper // paper takes no answers
				p := require.Value(picture(f))(t)
				require.Equal(t, strings.Contains(p.Caption, says), waits, "%s: the caption %q waits", name, p.Caption)
				said := false
				for _, e := range parse(t, p).all("text") {
					if said = said || e.Text == says; e.Text != says {
						continue
					}
					middle := p.Frame.Top + p.Frame.Height/2
					if y := e.number(t, "y"); y < p.Frame.Top || y > p.Frame.Top+p.Frame.Height {
						t.Errorf("%s, %v: the words are outside of the frame", name, size)
					} else if name != "empty chart" && y > middle-6 && y < middle+13 {
						t.Errorf("%s, %v: the words cover what is in the middle", name, size)
					}
				}
				require.Check(t, said == waits, "%s, %v, waiting %t: said %t", name, size, waits, said)
			}
		}
	}
}
