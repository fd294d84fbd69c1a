package figure

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"
	"rsc.io/qr"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// grid evaluates f on the nodes of [-1, 1]².
func grid(n int, f func(x, y float64) float64) *surface {
	s := &surface{n: n, lim: Limits{-1, 1, -1, 1}}
	v := steps(-1, 1, n)
	for _, y := range v {
		for _, x := range v {
			s.f = append(s.f, f(x, y))
		}
	}
	return s
}

func TestTracerCircle(t *testing.T) {
	t.Parallel()
	const n, r = 50, 0.6
	s := grid(n, func(x, y float64) float64 { return r*r - x*x - y*y })
	lines := new(tracer).lines(s.f, n+1, n+1, 0)
	require.Must(t, len(lines) == 1, "%d lines, want one ring", len(lines))
	ring := lines[0]
	require.Check(t, ring[0] == ring[len(ring)-1], "the ring is open")
	var length float64
	for i, p := range ring {
		x, y := 2*p[0]/n-1, 2*p[1]/n-1
		d := math.Abs(math.Hypot(x, y) - r)
		require.Must(t, d <= 1e-3, "point %d is %g away from the circle", i, d)
		if i > 0 {
			length += math.Hypot(p[0]-ring[i-1][0], p[1]-ring[i-1][1]) * 2 / n
		}
	}
	require.Near(t, length, 2*math.Pi*r, 0.01, "length")
}

// On any field every edge whose ends lie on different sides is crossed exactly
// once, neighbours on a line are within one cell, and open ends lie on the rim.
func TestTracerRandom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nx, ny := rapid.IntRange(2, 9).Draw(t, "nx"), rapid.IntRange(2, 9).Draw(t, "ny")
		f := rapid.SliceOfN(rapid.SampledFrom([]float64{-2, -1, 0.5, 1, 3}), nx*ny, nx*ny).Draw(t, "f")
		want := 0
		for j := range ny {
			for i := range nx {
				k := j*nx + i
				want += btoi(i+1 < nx && (f[k] >= 0) != (f[k+(i+1)%nx-i] >= 0))
				want += btoi(j+1 < ny && (f[k] >= 0) != (f[(k+nx)%(nx*ny)] >= 0))
			}
		}
		var tr tracer
		for range 2 { // the second time with used memory
			got := 0
			for _, line := range tr.lines(f, nx, ny, 0) {
				got += len(line)
				closed := line[0] == line[len(line)-1] && len(line) > 2
				got -= btoi(closed)
				for i, p := range line {
					rim := p[0] == 0 || p[1] == 0 || p[0] == float64(nx-1) || p[1] == float64(ny-1)
					require.Must(t, closed || i != 0 && i != len(line)-1 || rim, "a line ends inside at %v", p)
					require.Must(t, i == 0 || math.Max(math.Abs(p[0]-line[i-1][0]), math.Abs(p[1]-line[i-1][1])) <= 1,
						"a jump to %v in %v", p, line)
				}
			}
			require.Must(t, got == want, "%d crossings, want %d", got, want)
		}
	})
}

func TestTracerLeavesOutWhatIsNotANumber(t *testing.T) {
	t.Parallel()
	s := grid(20, func(x, y float64) float64 {
		if math.Hypot(x, y) < 0.3 {
			return math.NaN()
		}
		return x
	})
	lines := new(tracer).lines(s.f, 21, 21, 0)
	require.Must(t, len(lines) == 2, "%d lines, want one on each side of the hole", len(lines))
	for _, l := range lines {
		for _, p := range l {
			require.Must(t, math.Abs(p[0]-10) <= 1e-9, "a point at %v", p)
		}
	}
}

// The way up ends on the margin and goes the shortest way in the picture: for a
// linear f straight, at a right angle to the line.
func TestClimb(t *testing.T) {
	t.Parallel()
	const aspect = 0.5
	s := grid(100, func(x, y float64) float64 { return 2*x + y })
	x, y := s.grid(-0.3, -0.2) // f = -0.8
	way := s.climb(x, y, 1, aspect)
	end := way[len(way)-1]
	f, ok := s.at(s.f, end[0], end[1])
	require.Check(t, ok && math.Abs(f-1) <= 1e-9, "f = %g at the end", f)
	// In pixels, with the height half the width, f rises along (2, 1/aspect).
	dx, dy := end[0]-x, (end[1]-y)*aspect
	require.Check(t, math.Abs(dx*(1/aspect)-dy*2) <= 1e-6*math.Hypot(dx, dy), "direction %g, %g", dx, dy)
	down := s.climb(x, y, -1, aspect)
	f, _ = s.at(s.f, down[len(down)-1][0], down[len(down)-1][1])
	require.Check(t, math.Abs(f+1) <= 1e-9, "f = %g at the other end", f)
	way = s.climb(80, 80, 1, aspect)
	require.Check(t, way == nil, "a way from beyond the margin: %v", way)
	hill := grid(60, func(x, y float64) float64 { return 0.5 - x*x - y*y })
	x, y = hill.grid(0.4, 0.1)
	way = hill.climb(x, y, 1, 1)
	require.Check(t, len(way) <= 60, "%d steps to a top below the margin", len(way))
}

func TestLimits(t *testing.T) {
	t.Parallel()
	axes := [2][]float64{{1, 0}, {0, 1}}
	v := dataset.View{Center: []float64{0, 0}, To: axes, Axes: axes, Exact: true}
	of := func(xs ...float64) Limits {
		var ps []ml.Point
		for i := 0; i < len(xs); i += 2 {
			ps = append(ps, ml.Point{X: xs[i : i+2]})
		}
		return LimitsOf(ps, v)
	}
	require.Equal(t, of(0, 0, 100, 10), Limits{-8, 108, -0.8, 10.8}, "8 %% on every side")
	for _, xs := range [][]float64{
		nil,
		{3, 4},
		{0, 0},
		{1, 5, 1, 9},
		{1e300, -1e300, -1e300, 1e300},
		{1e308, 1e308, -1e308, -1e308},
		{1e-300, 0, 2e-300, 0},
		{1e9, 0, 1e9 + 1e-7, 0},
		{-5e-324, 5e-324},
	} {
		l := of(xs...)
		require.Check(t, l.valid(), "%v: %+v", xs, l)
		for i := 0; i+1 < len(xs); i += 2 {
			require.Check(t, math.Abs(xs[i]) >= 1e300 || xs[i] > l.XMin && xs[i] < l.XMax,
				"%v: %+v leaves a point on or outside the rim", xs, l)
		}
		n := len(ticks(l.XMin, l.XMax, 5))
		require.Check(t, n >= 1 && n <= 14, "%v: %d ticks", xs, n)
	}
	a, b := Limits{0, 1, 0, 1}, Limits{-1, 0.5, 0.5, 3}
	u := a.Union(b)
	require.Check(t, u == (Limits{-1, 1, 0, 3}) && u == b.Union(a) && a.Union(Limits{}) == a && (Limits{}).Union(a) == a, "union %+v", u)
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 10, "0 2 4 6 8 10"},
		{-1.3, 1.2, "−1.0 −0.5 0 0.5 1.0"},
		{0.0011, 0.0052, "0.002 0.003 0.004 0.005"},
		{-3e-8, 3e-8, "−3·10^−8 −2·10^−8 −10^−8 0 10^−8 2·10^−8 3·10^−8"},
		{0, 4.4e7, "0 10^7 2·10^7 3·10^7 4·10^7"},
		{1e9, 1e9 + 5, "1000000000 1000000001 1000000002 1000000003 1000000004 1000000005"},
		{1995, 2023, "1995 2000 2005 2010 2015 2020"},
	} {
		var got []string
		for _, k := range ticks(c.lo, c.hi, 5) {
			require.Check(t, k.value >= c.lo-1e-9*(c.hi-c.lo) && k.value <= c.hi+1e-9*(c.hi-c.lo),
				"%g to %g: tick at %g", c.lo, c.hi, k.value)
			got = append(got, k.label)
		}
		require.Equal(t, strings.Join(got, " "), c.want, "%g to %g", c.lo, c.hi)
	}
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e12, 1e12).Draw(t, "lo")
		hi := lo + math.Pow(10, rapid.Float64Range(-10, 12).Draw(t, "log width"))
		if !spread(lo, hi) {
			return
		}
		seen := map[string]bool{}
		for _, k := range ticks(lo, hi, 5) {
			require.Must(t, !seen[k.label], "%q twice between %g and %g", k.label, lo, hi)
			seen[k.label] = true
		}
	})
}

// Numbers as programs write them have their exponent above the line; names and words stay.
func TestScientific(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][2]string{
		"1e-12": {"10", "−12"}, "-1e-08": {"−10", "−8"}, "2e+07": {"2·10", "7"}, "2.51e-03": {"2.51·10", "−3"}, "-11.5e6": {"−11.5·10", "6"},
		"0": {"0", ""}, "100000": {"100000", ""}, "-0.25": {"−0.25", ""},
	} {
		base, exponent := scientific(tens(s))
		require.Equal(t, [2]string{base, exponent}, want, "%q", s)
	}
	for _, s := range []string{"", "3e8", "the 2", "10^n", "x^2"} {
		base, exponent := scientific(s)
		require.Check(t, base == s && exponent == "", "%q has the exponent %q", s, exponent)
	}
	require.Equal(t, Ticks(1e-12, 1, 3, true)[0].Label, "10⁻¹²", "the first label")
	wide, plain := width("2·10^−12", 13), width("2·10−12", 13)
	require.Check(t, wide < plain && wide > width("2·10", 13), "an exponent takes %g of %g", wide, plain)
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("wide ", 50), strings.Repeat("i", 100_000), "Ünïcødé 標籤 \x00"} {
		got := clip(s, 12, 100)
		require.Check(t, width(got, 12) <= 100, "%.20q is %g wide", got, width(got, 12))
		require.Check(t, width(s, 12) > 100 || got == s, "%q was cut to %q", s, got)
		require.Check(t, got == s || width(string([]rune(s)[:len([]rune(got))])+"…", 12) > 100, "%.20q has room for more than %q", s, got)
	}
}

// Shapes have about the same area, so that no class looks heavier.
func TestShapeAreas(t *testing.T) {
	t.Parallel()
	for i := 1; i < len(Shapes); i++ {
		p := shape(i, vg.Point{}, 1)
		var area float64
		for k := range len(p) - 1 {
			a, b := p[k].Pos, p[(k+1)%(len(p)-1)].Pos
			area += float64(a.X*b.Y-a.Y*b.X) / 2
		}
		require.Check(t, area >= 0.9*math.Pi && area <= 1.25*math.Pi,
			"%s: area %g of a circle's", Shapes[i], area/math.Pi)
	}
	require.Check(t, len(Shapes) == len(polygons), "%d names for %d shapes", len(Shapes), len(polygons))
}

func TestAppendNumber(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e5, 1e5).Draw(t, "v")
		s := string(appendNumber(nil, v))
		got, err := strconv.ParseFloat(s, 64)
		require.Must(t, err == nil && math.Abs(got-v) <= 0.005001 && s != "-0" && !strings.HasSuffix(s, "."),
			"%v as %q", v, s)
	})
}

// The SVG canvas keeps gonum's conventions: y upwards, transformations that nest.
func TestSVGTransforms(t *testing.T) {
	t.Parallel()
	c := newSVG(100, 50, 1)
	near := func(x, y, wx, wy float64) {
		t.Helper()
		require.Check(t, math.Hypot(x-wx, y-wy) <= 1e-9, "at %g, %g, want %g, %g", x, y, wx, wy)
	}
	x, y := c.at(vg.Point{X: 10, Y: 20})
	near(x, y, 10, 30)
	c.Push()
	c.Translate(vg.Point{X: 10, Y: 10})
	c.Rotate(math.Pi / 2)
	c.Scale(2, 1)
	x, y = c.at(vg.Point{X: 3, Y: 1}) // (6, 1), turned (-1, 6), moved (9, 16)
	near(x, y, 9, 34)
	c.Pop()
	x, y = c.at(vg.Point{})
	near(x, y, 0, 50)
}

// A mark that is copied looks like one that is drawn where it stands, whole, and
// wherever it stands within its pixel.
func TestStamps(t *testing.T) {
	t.Parallel()
	const w, h = 100, 90
	theme := themeOf(false, false)
	marks := map[string]func(c *draw.Canvas, at vg.Point, r vg.Length){
		"cross": func(c *draw.Canvas, at vg.Point, r vg.Length) { cross(c, at, r, theme.Ink) },
		"text":  func(c *draw.Canvas, at vg.Point, r vg.Length) { text(c, theme.Ink, 2*r, true, at, "Åj") },
		"core":  func(c *draw.Canvas, at vg.Point, r vg.Length) { core(c, at, r, theme.Ink, theme.Paper) },
	}
	for i, name := range Shapes {
		for _, hollow := range []bool{false, true} {
			marks[name+strconv.FormatBool(hollow)] = marker{i, theme.class(i), theme.Paper, hollow}.draw
		}
	}
	for _, role := range []ml.Role{ml.Free, ml.Inside, ml.Misclassified, ml.Support} {
		marks["ring "+string(role)] = func(c *draw.Canvas, at vg.Point, r vg.Length) { ring(c, theme, role, at, r, 1) }
	}
	rapid.Check(t, func(t *rapid.T) {
		zoom := rapid.SampledFrom([]float64{1, 1.5, 2}).Draw(t, "zoom")
		r := vg.Length(rapid.SampledFrom([]float64{1.9, 3.8, 5}).Draw(t, "r"))
		quarter := func(lo, hi int, name string) vg.Length {
			return vg.Length(float64(rapid.IntRange(4*lo, 4*hi).Draw(t, name)) / 4 / zoom)
		}
		at := vg.Point{X: quarter(35, w-35, "x"), Y: quarter(35, h-35, "y")}
		for name, mark := range marks {
			drawn, copied := newImage(w, h, zoom), newPNG(w, h, zoom, color.Transparent)
			mark(&draw.Canvas{Canvas: drawn}, at, r)
			mark(&draw.Canvas{Canvas: copied}, at, r)
			a, b := drawn.Image().(*image.RGBA).Pix, copied.Image().(*image.RGBA).Pix
			for i := range a {
				if d := int(a[i]) - int(b[i]); d < -3 || d > 3 { // boxing what a message needs takes longer than the drawing
					t.Fatalf("%s: byte %d is %d where it is drawn and %d copied", name, i, a[i], b[i])
				}
			}
		}
	})
}

// Every path has the style it was drawn with, in whatever order styles come: its own
// attributes, and where it has none those of its group.
func TestStyles(t *testing.T) {
	t.Parallel()
	colors := []color.NRGBA{{0, 98, 168, 255}, {184, 80, 10, 255}, {22, 24, 29, 128}}
	rapid.Check(t, func(t *rapid.T) {
		c := newSVG(100, 100, 1)
		var want []map[string]string
		path := func(i int) vg.Path {
			return vg.Path{{Type: vg.MoveComp}, {Type: vg.LineComp, Pos: vg.Point{X: vg.Length(i), Y: 7}}}
		}
		for i := range rapid.IntRange(1, 60).Draw(t, "paths") {
			style, p := map[string]string{"fill": "none"}, path(i+1)
			fills := rapid.Bool().Draw(t, "fills")
			if fills {
				c.SetColor(rapid.SampledFrom(colors).Draw(t, "fill"))
				c.Fill(p)
				style["fill"] = Hex(c.state.color)
				if c.state.color.A < 255 {
					style["fill-opacity"] = "0.502"
				}
			}
			if !fills || rapid.Bool().Draw(t, "strokes") {
				c.SetColor(rapid.SampledFrom(colors).Draw(t, "stroke"))
				c.SetLineWidth(vg.Length(rapid.IntRange(1, 2).Draw(t, "width")))
				c.SetLineDash(rapid.SampledFrom([][]vg.Length{nil, {2, 1}}).Draw(t, "dash"), 0)
				c.Stroke(p)
				style["stroke"], style["stroke-width"] = Hex(c.state.color), strconv.FormatFloat(c.state.width, 'g', -1, 64)
				if c.state.color.A < 255 {
					style["stroke-opacity"] = "0.502"
				}
				if c.state.dash != "" {
					style["stroke-dasharray"] = "2 1"
				}
			}
			want = append(want, style)
		}
		var b bytes.Buffer
		require.NoError(t, c.writeTo(&b, ""))
		var root struct {
			Groups []struct {
				Attrs []xml.Attr `xml:",any,attr"`
				Paths []struct {
					Attrs []xml.Attr `xml:",any,attr"`
				} `xml:"path"`
			} `xml:"g"`
		}
		require.NoError(t, xml.Unmarshal(b.Bytes(), &root))
		var got []map[string]string
		for _, g := range root.Groups {
			for _, p := range g.Paths {
				style := map[string]string{}
				for _, a := range append(slices.Clone(g.Attrs), p.Attrs...) {
					style[a.Name.Local] = a.Value
				}
				if style["stroke"] == "none" {
					maps.DeleteFunc(style, func(name, _ string) bool { return strings.HasPrefix(name, "stroke") })
				}
				if style["stroke-dasharray"] == "none" {
					delete(style, "stroke-dasharray")
				}
				delete(style, "d")
				got = append(got, style)
			}
		}
		diff := cmp.Diff(want, got)
		require.Must(t, diff == "", "styles (-want +got):\n%s\n%s", diff, b.String())
	})
}

// A note that does not fit ends with a whole clause.
func TestClauses(t *testing.T) {
	t.Parallel()
	const slice = "Slice of 4 features: points are projected onto it, colours and lines hold on the slice."
	const drawn = "Drawn: 5000 of 20000 points, all 677 support vectors. "
	for want, note := range map[string]string{
		slice: slice, "Slice of 4 features: points are projected onto it.": slice, "Slice of 4 features.": slice,
		drawn + "Slice of 4 features: points are projected onto it.": drawn + slice,
		"Drawn: 5000 of 20000 points.":                               drawn + slice,
		"Drawn: 5000 of 200…":                                        drawn,
		"Critical difference 2.30.":                                  "Critical difference 2.30; bars: no significant difference",
	} {
		require.Equal(t, clauses(note, fontSize, width(want, fontSize)+1), want, "the note %q", note)
	}
}

// TestOneTypeface: text in figures looks like that of the pages around them.
func TestOneTypeface(t *testing.T) {
	t.Parallel()
	css := require.Value(os.ReadFile("../../static/app.css"))(t)
	want := "--sans: " + strings.ReplaceAll(strings.ReplaceAll(fontFamily, "'", `"`), ",", ", ") + ";"
	require.Check(t, strings.Contains(string(css), want), "app.css does not say %s", want)
}

// Two pictures in one: each is drawn in its part alone, and the frame is where the first has its data.
func TestBeside(t *testing.T) {
	t.Parallel()
	draw := func(name string, x float64) func(int, int, *Panel) (*Picture, error) {
		return func(w, h int, at *Panel) (*Picture, error) {
			return Plane{Format: Format{Width: w, Height: h, Panel: at}, X: name, Limits: Limits{XMin: 0, XMax: 1, YMin: 0, YMax: 1}, Stretched: true, Marks: []Mark{Dot{At: [2]float64{x, 0.5}, Class: -1, Label: name}}}.Picture()
		}
	}
	for _, below := range []bool{false, true} {
		p := require.Value(Beside(500, 446, 0.6, below, draw("one", 0.5), draw("two", 0.5)))(t)
		alone := require.Value(draw("one", 0.5)(500, 446, nil))(t)
		wide, high := 300.0, 446.0
		if below {
			wide, high = 500, 268
		}
		if f := p.Frame; p.Width != 500 || p.Height != 446 || f.Left != alone.Frame.Left || f.Top != alone.Frame.Top || f.Left+f.Width > wide || f.Top+f.Height > high {
			t.Errorf("below %t: the frame %+v is not within %g x %g", below, f, wide, high)
		}
		require.Check(t, strings.Contains(p.Caption, "Below it:") == below && strings.Contains(p.Caption, "Beside it:") != below,
			"below %t: the caption is %q", below, p.Caption)
		svg := require.Drawn(t, p.SVG)
		for _, name := range []string{">one<", ">two<"} {
			require.Check(t, strings.Contains(svg, name), "below %t: %s is not in the picture", below, name)
		}
	}
	small := require.Value(Beside(200, 150, 0.6, false, draw("one", 0.5), draw("two", 0.5)))(t)
	require.Check(t, small.Frame == require.Value(draw("one", 0.5)(200, 150, nil))(t).Frame,
		"where there is no room for words the first picture is not all")
}

// TestLead is above 0 where the own class is predicted, under every rule.
func TestLead(t *testing.T) {
	t.Parallel()
	machines := make([]ml.Machine, 3)
	for _, rule := range []ml.Rule{ml.OneVsRest, ml.OneVsOne, ml.Argmax} {
		m := &ml.Model{Classes: []string{"a", "b", "c"}, Machines: machines, Rule: rule}
		for _, f := range [][]float64{{2, 1, -1}, {-1, 2, 3}, {0.5, -2, 0.1}, {-2, -1, -3}} {
			class := m.Class(f)
			ahead := 0
			for _, label := range m.Classes {
				l := leads(m)(ml.Point{Label: label, Scores: f})
				if l > 0 {
					ahead++
					require.Check(t, m.Classes[class] == label,
						"%s, %v: %s leads by %g, predicted is %s", rule, f, label, l, m.Classes[class])
				}
			}
			require.Check(t, ahead == 1 || rule == ml.OneVsOne, // where all may beat each other in a ring
				"%s, %v: %d classes lead", rule, f, ahead)
		}
	}
}

func TestObjectsAreOfEveryClass(t *testing.T) {
	t.Parallel()
	for _, b := range dataset.Builtins {
		d := require.Value(b.Load())(t)
		pic := require.Value(Objects(d, Format{Width: 228, Height: 171}))(t)
		drawn := b.Kind == dataset.KindStrings || b.Kind == dataset.KindGraphs
		require.Check(t, drawn == (pic != nil), "%s: a picture of objects: %v", b.Name, pic != nil)
		if b.Kind != dataset.KindStrings {
			continue
		}
		svg := require.Drawn(t, pic.SVG)
		for k, class := range d.Classes {
			row := inTurn(d, sampledStrings)[k]
			require.Check(t, d.Classes[d.Y[row]] == class && strings.Contains(svg, d.Objects.Text(row)[:3]),
				"%s: no string of class %s is drawn", b.Name, class)
		}
	}
}

// The modules are where the standard has them: three finders with their light rims, dark
// and light by turns between them, and every other one as it was encoded.
func TestQR(t *testing.T) {
	t.Parallel()
	const address = "https://lab.example.org:8443/course/BCDFGH"
	pic := require.Value(QR(address, "QR code of "+address))(t)
	var b bytes.Buffer
	require.NoError(t, pic.PNG(t.Context(), &b))
	img := require.Value(png.Decode(&b))(t)
	n := img.Bounds().Dx()/qrModule - 2*qrQuiet
	dark := func(x, y int) bool {
		r, _, _, _ := img.At((x+qrQuiet)*qrModule+qrModule/2, (y+qrQuiet)*qrModule+qrModule/2).RGBA()
		return r < 1<<15
	}
	const finder = "#######.\n#.....#.\n#.###.#.\n#.###.#.\n#.###.#.\n#.....#.\n#######.\n........"
	for _, corner := range [][2]int{{0, 0}, {1, 0}, {0, 1}} { // not at the lower right
		for y, line := range strings.Split(finder, "\n") {
			for x := range line {
				at := [2]int{x, y}
				for i, far := range corner {
					if far == 1 {
						at[i] = n - 1 - at[i]
					}
				}
				require.Must(t, dark(at[0], at[1]) == (line[x] == '#'),
					"module %v of the finder at %v is wrong", at, corner)
			}
		}
	}
	for i := 8; i < n-8; i++ {
		require.Check(t, dark(i, 6) == (i%2 == 0) && dark(6, i) == (i%2 == 0), "timing at %d", i)
	}
	code, err := qr.Encode(address, qr.M)
	require.Must(t, err == nil && code.Size == n, "%v %v %v", err, code.Size, n)
	for y := -qrQuiet; y < n+qrQuiet; y++ {
		for x := -qrQuiet; x < n+qrQuiet; x++ {
			require.Must(t, dark(x, y) == code.Black(x, y), "module %d, %d", x, y)
		}
	}
	require.Fails(t, require.Err(QR(strings.Repeat("x", 5000), "")), "", "a text that no code holds")
}

// farOff is how far from 0 the model's f is in the middle of the pieces of the drawn line f = 0, at most.
func farOff(s *surface, m *ml.Model) (most float64) {
	at := func(p [2]float64) float64 {
		n := float64(s.n)
		return m.Decision([]float64{s.lim.XMin + p[0]/n*(s.lim.XMax-s.lim.XMin), s.lim.YMin + p[1]/n*(s.lim.YMax-s.lim.YMin)})
	}
	var t tracer
	for _, line := range t.lines(s.f, s.n+1, s.n+1, 0) {
		for i := 1; i < len(line); i++ {
			most = max(most, math.Abs(at([2]float64{(line[i-1][0] + line[i][0]) / 2, (line[i-1][1] + line[i][1]) / 2})))
		}
	}
	return most
}

// Lines about kernels narrower than the cells of the grid are drawn where f = 0 is, and lines
// of wide kernels cost what they did.
func TestNarrowKernelsHaveSmoothLines(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 200, 0.15, 1))(t)
	for _, tc := range []struct {
		gamma, most float64
		refined     bool
	}{
		{2, 0.01, false},
		{1000, 0.002, true},
		{20000, 0.2, true},
	} {
		res := require.Value(ml.Train(t.Context(), d, ml.DefaultSpec().With("gamma", param.Of(tc.gamma)).With("C", param.Of(10.0)), nil))(t)
		points := require.Value(res.Model.Points(d, ml.DefaultSpec()))(t)
		v, _ := res.Model.View()
		s := require.Value(newSurface(t.Context(), res.Model, v, LimitsOf(points, v), 160))(t)
		r := require.Value(s.refined(t.Context(), res.Model, v, points, 64<<20))(t)
		crude := farOff(s, res.Model)
		fine := farOff(r, res.Model)
		require.Check(t, (r != s) == tc.refined && fine <= tc.most && (!tc.refined || fine <= crude/3),
			"gamma = %g: f is up to %.3g on the line, %.3g on that of the refined surface with %d cells", tc.gamma, crude, fine, r.n)
		require.Check(t, require.Value(s.refined(t.Context(), res.Model, v, points, 1000))(t) == s, "gamma = %g: refined without the means", tc.gamma)
	}
}

// The bytes equal those that image/png writes.
func TestIndexed(t *testing.T) {
	t.Parallel()
	std := png.Encoder{CompressionLevel: png.BestSpeed}
	var own indexed
	rapid.Check(t, func(t *rapid.T) {
		colors := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 16, 17, 255, 256}).Draw(t, "colors")
		var p color.Palette
		for range colors {
			p = append(p, color.NRGBA{R: rapid.Byte().Draw(t, "R"), G: 7, B: 200, A: rapid.SampledFrom([]byte{255, 255, 255, 0, 9}).Draw(t, "A")})
		}
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 400).Draw(t, "h")
		img := image.NewPaletted(image.Rect(0, 0, w, h), p)
		seed := rapid.Uint32().Draw(t, "seed")
		for i := range img.Pix {
			seed = seed*1664525 + 1013904223
			img.Pix[i] = uint8(int(seed>>16) % colors)
		}
		var want, got bytes.Buffer
		require.NoError(t, std.Encode(&want, img))
		for range 2 { // also with what is left from before
			got.Reset()
			err := own.write(&got, img)
			require.Must(t, err == nil && bytes.Equal(got.Bytes(), want.Bytes()), "%d x %d, %d colours: %v, %d bytes for %d", w, h, colors, err, got.Len(), want.Len())
		}
	})
}

// Pixels that take several parts.
func TestIndexedInParts(t *testing.T) {
	t.Parallel()
	img := image.NewPaletted(image.Rect(0, 0, 1200, 900), make(color.Palette, 256))
	seed := uint32(1)
	for i := range img.Pix {
		seed = seed*1664525 + 1013904223
		img.Pix[i] = uint8(seed >> 24)
	}
	for i := range img.Palette {
		img.Palette[i] = color.Gray{uint8(i)}
	}
	var want, got bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&want, img))
	var own indexed
	err := own.write(&got, img)
	require.Check(t, err == nil && bytes.Equal(got.Bytes(), want.Bytes()), "%v, %d bytes for %d", err, got.Len(), want.Len())
}

func BenchmarkIndexed(b *testing.B) {
	img := image.NewPaletted(image.Rect(0, 0, 660, 470), color.Palette{color.White, color.Black, color.Transparent})
	for i := range img.Pix {
		img.Pix[i] = uint8(i / 660 / 200)
	}
	var own indexed
	std := png.Encoder{CompressionLevel: png.BestSpeed}
	var out bytes.Buffer
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			_ = own.write(&out, img)
		}
	})
	b.Run("image/png", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			_ = std.Encode(&out, img)
		}
	})
}

// The projection turns and tilts: it keeps lengths but for the height of the box.
func TestProjectionIsARotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Lifted{
			Yaw: rapid.Float64Range(-400, 400).Draw(t, "yaw"), Pitch: rapid.Float64Range(0, 90).Draw(t, "pitch"),
			Min: [3]float64{-1, -1, -1}, Max: [3]float64{1, 1, 1},
		}
		v := require.Value(l.view())(t)
		coordinate := rapid.Float64Range(-1, 1)
		q := [3]float64{coordinate.Draw(t, "x"), coordinate.Draw(t, "y"), coordinate.Draw(t, "z")}
		p := v.project(q)
		got := p[0]*p[0] + p[1]*p[1] + p[2]*p[2]
		want := q[0]*q[0] + q[1]*q[1] + upright*upright*q[2]*q[2]
		require.Must(t, math.Abs(got-want) <= 1e-12, "squared length %g, want %g", got, want)
		lower := v.project([3]float64{q[0], q[1], q[2] - 0.5})
		require.Must(t, lower[1] <= p[1] && math.Abs(lower[0]-p[0]) <= 1e-12, "what is lower is drawn at %v, above or beside %v", lower, p)
	})
}

// From the front and a little above, what is behind is farther and higher up.
func TestDepth(t *testing.T) {
	t.Parallel()
	l := Lifted{Pitch: 20}
	v := require.Value(l.view())(t)
	front, back := v.project([3]float64{0, -1, 0}), v.project([3]float64{0, 1, 0})
	require.Check(t, (back[2] > front[2] && back[1] > front[1]), "front %v, back %v", front, back)
	high, low := v.project([3]float64{0, 0, 1}), v.project([3]float64{0, 0, -1})
	require.Check(t, high[2] < low[2], "seen from above, the top %v is not nearer than the bottom %v", high, low)
}

// Every corner of the cells of a plane lies on it and within the box, and together
// they are as large as the section of the box.
func TestCut(t *testing.T) {
	t.Parallel()
	cut := func(w [3]float64, c float64) (cells [][][3]float64, v view3) {
		l := Lifted{Min: [3]float64{0, -2, 10}, Max: [3]float64{4, 2, 14}, Cut: &Cut{W: w, C: c}}
		v = require.Value(l.view())(t)
		s := &stage{view: v, of: &l}
		return s.cut(), v
	}
	for _, k := range []struct {
		name string
		w    [3]float64
		c    float64
		area float64 // in the box [-1, 1]³
	}{
		{"level", [3]float64{0, 0, 2}, 24, 4},
		{"upright", [3]float64{1, 0, 0}, 1, 4},
		{"diagonal", [3]float64{1, 1, 0}, 2, 4 * math.Sqrt2},
		{"through six sides", [3]float64{1, 1, 1}, 14, 3 * math.Sqrt(3)},
		{"beside the box", [3]float64{0, 0, 1}, 9, 0},
	} {
		cells, v := cut(k.w, k.c)
		var area float64
		for _, qs := range cells {
			var sum [3]float64
			for i, q := range qs {
				p := v.data(q)
				off := k.w[0]*p[0] + k.w[1]*p[1] + k.w[2]*p[2] - k.c
				require.Must(t, math.Abs(off) <= 1e-9, "%s: %v is off the plane by %g", k.name, p, off)
				require.Must(t, math.Max(math.Max(math.Abs(q[0]), math.Abs(q[1])), math.Abs(q[2])) <= 1+1e-9,
					"%s: %v is outside of the box", k.name, q)
				r := qs[(i+1)%len(qs)]
				sum[0] += (q[1]*r[2] - q[2]*r[1]) / 2
				sum[1] += (q[2]*r[0] - q[0]*r[2]) / 2
				sum[2] += (q[0]*r[1] - q[1]*r[0]) / 2
			}
			area += math.Sqrt(sum[0]*sum[0] + sum[1]*sum[1] + sum[2]*sum[2])
		}
		require.Near(t, area, k.area, 1e-9, "%s: area", k.name)
	}
}
