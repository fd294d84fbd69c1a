package figure

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
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

// The way up ends on the margin and is the shortest in the picture: straight for a linear f.
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
		{-3e-8, 3e-8, "−3·10⁻⁸ −2·10⁻⁸ −10⁻⁸ 0 10⁻⁸ 2·10⁻⁸ 3·10⁻⁸"},
		{0, 4.4e7, "0 10⁷ 2·10⁷ 3·10⁷ 4·10⁷"},
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
		base, exponent := scientific(param.Typeset(s))
		require.Equal(t, [2]string{base, exponent}, want, "%q", s)
	}
	for _, s := range []string{"", "3e8", "the 2", "10^n", "x²", "0.10"} {
		base, exponent := scientific(s)
		require.Check(t, base == s && exponent == "", "%q has the exponent %q", s, exponent)
	}
	require.Equal(t, Ticks(1e-12, 1, 3, true)[0].Label, "10⁻¹²", "the first label")
	require.Check(t, len(ticks(0.8175, 0.8997, 3)) > 1, "an axis has a single mark")
	wide, plain := width("2·10⁻¹²", 13), width("2·10−12", 13)
	require.Check(t, wide < plain && wide > width("2·10", 13), "an exponent takes %g of %g", wide, plain)
}

func TestSmallHelpers(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "short", strings.Repeat("wide ", 50), strings.Repeat("i", 100_000), "Ünïcødé 標籤 \x00"} {
		got := clip(s, 12, 100)
		require.Check(t, width(got, 12) <= 100, "%.20q is %g wide", got, width(got, 12))
		require.Check(t, width(s, 12) > 100 || got == s, "%q was cut to %q", s, got)
		require.Check(t, got == s || width(string([]rune(s)[:len([]rune(got))])+"…", 12) > 100, "%.20q has room for more than %q", s, got)
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-1e5, 1e5).Draw(t, "v")
		s := string(appendNumber(nil, v))
		got, err := strconv.ParseFloat(s, 64)
		require.Must(t, err == nil && math.Abs(got-v) <= 0.005001 && s != "-0" && !strings.HasSuffix(s, "."),
			"%v as %q", v, s)
	})
	// A note that does not fit ends with a whole clause.
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

// A copied mark looks like a drawn one, whole, wherever it stands within its pixel.
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

// Every path has the style it was drawn with, whatever the order: its own, or its group's.
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
		require.Equal(t, cmp.Diff(want, got), "", "styles of\n%s\n(-want +got)", b.String())
	})
}

// TestOneTypeface: text in figures looks like that of the pages around them.
func TestOneTypeface(t *testing.T) {
	t.Parallel()
	css := require.Value(os.ReadFile("../../static/app.css"))(t)
	want := "--sans: " + strings.ReplaceAll(strings.ReplaceAll(fontFamily, "'", `"`), ",", ", ") + ";"
	require.Check(t, strings.Contains(string(css), want), "app.css does not say %s", want)
}
