package figure_test

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

func ExamplePlane() {
	fmt.Println(golden("plane", must(lagrange().Picture())))
	// Output: as testdata/plane.svg
}

func ExampleChart() {
	fmt.Println(golden("chart", must(progress().Picture())))
	// Output: as testdata/chart.svg
}

func ExampleBars() {
	fmt.Println(golden("bars", must(spectrum().Picture())))
	// Output: as testdata/bars.svg
}

func ExampleMatrix() {
	fmt.Println(golden("matrix", must(gram(40).Picture())))
	// Output: as testdata/matrix.svg
}

func ExampleRanks() {
	show("ranks", must(meanRanks().Picture()))
	// Output: as testdata/ranks.svg
	// Mean ranks, 1 is the best: C4.5+m+cf 1.96, C4.5+m 2.00, C4.5+cf 2.89, C4.5 3.14. The critical difference is 1.12. No significant difference: C4.5+m+cf to C4.5+cf. No significant difference: C4.5+cf to C4.5.
}

func ExampleLifted() {
	fmt.Println(golden("lifted", must(xor().Picture())))
	// Output: as testdata/lifted.svg
}

func ExampleParallel() {
	show("parallel", must(settings().Picture()))
	// Output: as testdata/parallel.svg
	// 4 lines across the axes kernel, C, gamma, held out, %. Pale: 1.
}

func ExampleNamed() {
	show("named", must(results().Picture()))
	// Output: as testdata/named.svg
	// held out, % against C. 1: 0.1, 84. 2: 1, 91. 3: 100, 97. 4: 10, 96.5.
}

// meanRanks holds the mean ranks of Demšar's example, table 6, over 14 data sets, with the critical
// difference at the level 0.1, as in the paper.
func meanRanks() figure.Ranks {
	return figure.Ranks{Names: []string{"C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"}, Ranks: []float64{3.143, 2, 2.893, 1.964}, Difference: 1.12}
}

// lagrange is a quadratic objective with one linear constraint, x1 + x2 <= 2.
func lagrange() figure.Plane {
	f := func(x, y float64) float64 { return (x-2)*(x-2) + (y-2)*(y-2) }
	g := figure.Linear([2]float64{1, 1}, 2)
	return figure.Plane{
		Title: "Least distance under one constraint", X: "x1", Y: "x2",
		Limits: figure.Limits{XMin: -1, XMax: 4, YMin: -1, YMax: 4},
		Marks: []figure.Mark{
			figure.Region{F: func(x, y float64) float64 { return -g(x, y) }, Color: figure.Green, Hatch: true, Name: "allowed"},
			figure.Contours{F: f, Levels: []float64{0.5, 2, 4, 8, 12}, Name: "f"},
			figure.Line{A: [2]float64{1, 1}, C: 2, Name: "constraint", Label: "x1 + x2 = 2"},
			figure.Path{Points: [][2]float64{{-0.6, 0.4}, {0, 0.9}, {0.6, 1.0}, {0.9, 1.02}, {1, 1}}, Pen: figure.Pen{Color: figure.Magenta, Dash: figure.Dotted}, Name: "iterates"},
			figure.Arrow{From: [2]float64{1, 1}, To: [2]float64{0, 0}, Pen: figure.Pen{Color: figure.Blue}, Label: "grad f"},
			figure.Arrow{From: [2]float64{1, 1}, To: [2]float64{2, 2}, Pen: figure.Pen{Color: figure.Orange}, Label: "λ grad g"},
			figure.Dot{At: [2]float64{1, 1}, Class: -1, Ring: true, Label: "x*"},
		},
	}
}

// margins is a line drawn by hand between the points of two classes.
func margins() figure.Plane {
	p := figure.Plane{X: "x1", Y: "x2", Marks: []figure.Mark{
		figure.Region{F: figure.Linear([2]float64{1, 2}, 6), Color: figure.Orange, Hatch: true, Name: "predicted +1"},
		figure.Region{F: figure.Linear([2]float64{-1, -2}, -6), Color: figure.Blue, Name: "predicted −1"},
		figure.Line{A: [2]float64{1, 2}, C: 6, Name: "f = 0"},
		figure.Line{A: [2]float64{1, 2}, C: 7, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Name: "f = ±1"},
		figure.Line{A: [2]float64{1, 2}, C: 5, Pen: figure.Pen{Dash: figure.Dashed, Thin: true}, Name: "f = ±1"},
		figure.Segment{From: [2]float64{3, 3}, To: [2]float64{2.4, 1.8}, Pen: figure.Pen{Color: figure.Muted, Dash: figure.Dotted}, Label: "h"},
		figure.Circle{Center: [2]float64{1, 1}, Radius: 1.2, Pen: figure.Pen{Color: figure.Green, Dash: figure.DashDot}, Name: "ball"},
	}}
	for i, at := range [][2]float64{{1, 1}, {0.5, 2}, {2, 0.6}, {1, 2}, {0.2, 1}} {
		p.Marks = append(p.Marks, figure.Dot{At: at, Class: 0, Name: "class −1", Label: fmt.Sprintf("P%d", i+1), Ring: i == 3})
	}
	for i, at := range [][2]float64{{3, 3}, {4, 1.6}, {3, 2}, {4.5, 3}} {
		p.Marks = append(p.Marks, figure.Dot{At: at, Class: 1, Name: "class +1", Label: fmt.Sprintf("P%d", i+6), Hollow: i == 3})
	}
	return p
}

// realLine is an axis alone: R and the margin of two classes on it.
func realLine() figure.Plane {
	return figure.Plane{X: "x", Limits: figure.Limits{XMin: -4, XMax: 4, YMin: -1, YMax: 1}, Format: figure.Format{Height: 220}, Stretched: true, Marks: []figure.Mark{
		figure.Line{A: [2]float64{0, 1}, C: 0, Pen: figure.Pen{Color: figure.Muted, Thin: true}},
		figure.Arrow{From: [2]float64{-1, 0.45}, To: [2]float64{1, 0.45}},
		figure.Arrow{From: [2]float64{1, 0.45}, To: [2]float64{-1, 0.45}},
		figure.Segment{From: [2]float64{-1, 0.45}, To: [2]float64{1, 0.45}, Label: "Δ"},
		figure.Segment{From: [2]float64{0, -0.5}, To: [2]float64{3, -0.5}, Pen: figure.Pen{Dash: figure.Dashed}, Label: "R"},
		figure.Dot{At: [2]float64{-3, 0}},
		figure.Dot{At: [2]float64{-1, 0}},
		figure.Dot{At: [2]float64{1, 0}, Class: 1},
		figure.Dot{At: [2]float64{3, 0}, Class: 1},
	}}
}

// smoBox is the square of two alphas with the line on which they may move.
func smoBox() figure.Plane {
	const c = 1
	return figure.Plane{X: "α1", Y: "α2", Limits: figure.Limits{XMin: -0.1, XMax: 1.1, YMin: -0.1, YMax: 1.4}, Marks: []figure.Mark{
		figure.Region{F: func(x, y float64) float64 { return math.Min(math.Min(x, c-x), math.Min(y, c-y)) }, Color: figure.Green, Hatch: true, Name: "0 ≤ α ≤ C"},
		figure.Line{A: [2]float64{1, -1}, C: -0.4, Label: "α1 − α2 = −0.4"},
		figure.Dot{At: [2]float64{0.2, 0.6}, Class: -1, Hollow: true, Label: "start"},
		figure.Dot{At: [2]float64{0.9, 1.3}, Class: -1, Hollow: true, Label: "without the box"},
		figure.Arrow{From: [2]float64{0.9, 1.3}, To: [2]float64{0.62, 1.02}, Pen: figure.Pen{Color: figure.Magenta}, Label: "clip"},
		figure.Dot{At: [2]float64{0.6, 1}, Class: -1, Ring: true, Label: "new"},
	}}
}

func progress() figure.Chart {
	ch := figure.Chart{
		X: figure.Axis{Name: "iteration"}, Y: figure.Axis{Name: "value", Log: true},
		Rules: []figure.Rule{{Name: "tolerance", At: 1e-3}}, Here: new(float64),
	}
	*ch.Here = 31
	gap, dual := figure.Curve{Name: "gap"}, figure.Curve{Name: "violation", Stairs: true}
	r := rand.New(rand.NewPCG(5, 6))
	v := 2.0
	for i := range 81 {
		x := float64(i)
		gap.X, gap.Y = append(gap.X, x), append(gap.Y, 12*math.Exp(-x/9)*(1+0.3*r.Float64()))
		if i%5 == 0 {
			v *= 0.45 + 0.3*r.Float64()
			dual.X, dual.Y = append(dual.X, x), append(dual.Y, v)
		}
	}
	ch.Curves = []figure.Curve{gap, dual}
	return ch
}

func hinge() figure.Chart {
	ch := figure.Chart{X: figure.Axis{Name: "margin y f(x)"}, Y: figure.Axis{Name: "loss"}, Rules: []figure.Rule{{Name: "y f = 1", At: 1, Upright: true}}}
	loss := []struct {
		name string
		f    func(m float64) float64
	}{
		{"hinge", func(m float64) float64 { return max(0, 1-m) }},
		{"0-1", func(m float64) float64 { return lists.Either(m < 0, 1, 0.0) }},
		{"squared hinge", func(m float64) float64 { return max(0, 1-m) * max(0, 1-m) / 2 }},
		{"logistic", func(m float64) float64 { return math.Log2(1 + math.Exp(-m)) }},
	}
	for _, l := range loss {
		cu := figure.Curve{Name: l.name, Stairs: l.name == "0-1"}
		for i := range 161 {
			m := -2 + float64(i)/40
			cu.X, cu.Y = append(cu.X, m), append(cu.Y, l.f(m))
		}
		ch.Curves = append(ch.Curves, cu)
	}
	return ch
}

func accuracy() figure.Chart {
	ch := figure.Chart{X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: "accuracy", Min: 0.5, Max: 1}, Rules: []figure.Rule{{Name: "chosen", At: 10, Upright: true}, {Name: "the larger class", At: 0.55}}}
	train, held := figure.Curve{Name: "training", Marks: true}, figure.Curve{Name: "held out", Marks: true}
	for e := -2.0; e <= 4; e++ {
		x, a, b := math.Pow(10, e), 0.98-0.25*math.Exp(-(e+2)/2), 0.9-0.02*(e-1)*(e-1)
		train.X, train.Y = append(train.X, x), append(train.Y, a)
		held.X, held.Y = append(held.X, x), append(held.Y, b)
		held.Lo, held.Hi = append(held.Lo, b-0.05), append(held.Hi, b+0.05)
	}
	ch.Curves = []figure.Curve{train, held}
	return ch
}

// spectrum has eigenvalues of both signs over many powers of ten.
func spectrum() figure.Bars {
	b := figure.Bars{X: "number", Y: "eigenvalue", Sorted: true}
	for i := range 14 {
		v := 6 * math.Exp(-0.5*float64(i))
		if i%4 == 3 {
			v = -v
		}
		b.Values = append(b.Values, v)
	}
	return b
}

func alphas() figure.Bars {
	b := figure.Bars{X: "point", Y: "α", Rules: []figure.Rule{{Name: "C", At: 1}}, ClassNames: []string{"ash", "beech"}}
	r := rand.New(rand.NewPCG(7, 8))
	for i := range 60 {
		b.Values = append(b.Values, math.Max(0, math.Min(1, 1.6*r.Float64()-0.4)))
		b.Classes = append(b.Classes, i/30)
	}
	return b
}

func counts() figure.Bars {
	return figure.Bars{Y: "points", Values: []float64{12, 30, 7}, Names: []string{"free", "at C", "no support vector"}}
}

// gram is the Gram matrix of an RBF kernel on two classes of n/2 points each.
func gram(n int) figure.Matrix {
	rbf := func(x, z [2]float64) float64 {
		return math.Exp(-0.5 * (math.Pow(x[0]-z[0], 2) + math.Pow(x[1]-z[1], 2)))
	}
	values, classes := products(n, rbf)
	return figure.Matrix{X: "point", Y: "point", Name: "k(x, z)", Values: values, Classes: classes, ClassNames: []string{"ash", "beech"}}
}

// products returns the values of a kernel on n points, and the points' classes.
func products(n int, k func(x, z [2]float64) float64) (*mat.SymDense, []int) {
	x, classes := points(n)
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			g.SetSym(i, j, k(x[i], x[j]))
		}
	}
	return g, classes
}

func points(n int) (x [][2]float64, classes []int) {
	r := rand.New(rand.NewPCG(9, 10))
	for i := range n {
		k := lists.CountTrue(i >= n/2)
		x = append(x, [2]float64{2*float64(k) - 1 + 0.7*r.NormFloat64(), float64(k) - 0.5 + 0.7*r.NormFloat64()})
		classes = append(classes, k)
	}
	return x, classes
}

// signed is a matrix of linear products, of both signs.
func signed(n int) figure.Matrix {
	values, classes := products(n, func(x, z [2]float64) float64 { return x[0]*z[0] + x[1]*z[1] })
	return figure.Matrix{Name: "B", Values: values, Classes: classes}
}

// xor is the four corners of XOR with their product as third feature.
func xor() figure.Lifted {
	l := figure.Lifted{
		X: "x1", Y: "x2", Z: "x1 x2", Yaw: 25, Pitch: 20,
		Cut: &figure.Cut{W: [3]float64{0, 0, 1}, Name: "plane x1 x2 = 0"}, ClassNames: []string{"−1", "+1"},
		Min: [3]float64{-1.4, -1.4, -1.4}, Max: [3]float64{1.4, 1.4, 1.4},
	}
	for _, x := range []float64{-1, 1} {
		for _, y := range []float64{-1, 1} {
			l.Points = append(l.Points, figure.Dot3{At: [3]float64{x, y, x * y}, Class: lists.CountTrue(x*y > 0), Label: strings.ReplaceAll(fmt.Sprintf("(%g, %g)", x, y), "-", "−")})
		}
	}
	return l
}

// bump lifts the inner of two rings.
func bump() figure.Lifted {
	g := func(x, y float64) float64 { return math.Exp(-x*x - y*y) }
	l := figure.Lifted{
		X: "x1", Y: "x2", Z: "exp(−|x|²)", Cut: &figure.Cut{W: [3]float64{0, 0, 1}, C: 0.4, Name: "plane"},
		Surface: g, SurfaceName: "bump", ClassNames: []string{"ring", "core"},
	}
	r := rand.New(rand.NewPCG(11, 12))
	for i := range 60 {
		a, d := 2*math.Pi*r.Float64(), 0.15+0.5*r.Float64()
		if i%2 == 0 {
			d += 1.1
		}
		x, y := d*math.Cos(a), d*math.Sin(a)
		l.Points = append(l.Points, figure.Dot3{At: [3]float64{x, y, g(x, y)}, Class: i % 2})
	}
	return l
}

// tilted is a plane that leans on all axes.
func tilted() figure.Lifted {
	l := bump()
	l.Surface, l.Yaw, l.Pitch = nil, 130, 40
	l.Cut = &figure.Cut{W: [3]float64{0.4, 0.3, 1}, C: 0.4}
	return l
}

type drawing interface {
	Picture() (*figure.Picture, error)
}

// drawings are the figures of the lessons, each in the format that it is given.
var drawings = []struct {
	name string
	draw func(figure.Format) (*figure.Picture, error)
}{
	{"plane", in(lagrange(), func(p *figure.Plane) *figure.Format { return &p.Format })},
	{"margins", in(margins(), func(p *figure.Plane) *figure.Format { return &p.Format })},
	{"real_line", in(realLine(), func(p *figure.Plane) *figure.Format { return &p.Format })},
	{"smo_box", in(smoBox(), func(p *figure.Plane) *figure.Format { return &p.Format })},
	{"chart", in(progress(), func(c *figure.Chart) *figure.Format { return &c.Format })},
	{"losses", in(hinge(), func(c *figure.Chart) *figure.Format { return &c.Format })},
	{"accuracy", in(accuracy(), func(c *figure.Chart) *figure.Format { return &c.Format })},
	{"bars", in(spectrum(), func(b *figure.Bars) *figure.Format { return &b.Format })},
	{"spectrum_log", in(logarithmic(spectrum()), func(b *figure.Bars) *figure.Format { return &b.Format })},
	{"alphas", in(alphas(), func(b *figure.Bars) *figure.Format { return &b.Format })},
	{"matrix", in(gram(40), func(m *figure.Matrix) *figure.Format { return &m.Format })},
	{"matrix_numbers", in(signed(6), func(m *figure.Matrix) *figure.Format { return &m.Format })},
	{"matrix_signs", in(signed(30), func(m *figure.Matrix) *figure.Format { return &m.Format })},
	{"lifted", in(xor(), func(l *figure.Lifted) *figure.Format { return &l.Format })},
	{"bump", in(bump(), func(l *figure.Lifted) *figure.Format { return &l.Format })},
	{"tilted", in(tilted(), func(l *figure.Lifted) *figure.Format { return &l.Format })},
	{"networks", in(molecules(), func(x *figure.Networks) *figure.Format { return &x.Format })},
	{"tables", in(entries(), func(x *figure.Tables) *figure.Format { return &x.Format })},
	{"ranks", in(meanRanks(), func(r *figure.Ranks) *figure.Format { return &r.Format })},
	{"parallel", in(settings(), func(p *figure.Parallel) *figure.Format { return &p.Format })},
	{"named", in(results(), func(p *figure.Named) *figure.Format { return &p.Format })},
	{"counts", in(counts(), func(b *figure.Bars) *figure.Format { return &b.Format })},
}

// in draws d in any format; its own height stays unless another one is given.
func in[D drawing](d D, format func(*D) *figure.Format) func(figure.Format) (*figure.Picture, error) {
	return func(f figure.Format) (*figure.Picture, error) {
		d := d
		if f.Height == 0 {
			f.Height = format(&d).Height
		}
		*format(&d) = f
		return d.Picture()
	}
}

func logarithmic(b figure.Bars) figure.Bars {
	b.Log = true
	return b
}

// The same drawings in the dark, and as narrow as a telephone. A dark picture is the light one in
// the colours of the other theme; where colours are mixed it is kept as a file of its own.
func TestGoldenDrawings(t *testing.T) {
	t.Parallel()
	for _, d := range drawings {
		for suffix, f := range map[string]figure.Format{"": {}, "_narrow": {Width: 360, Height: 320}} {
			got := golden(d.name+suffix, require.Value(d.draw(f))(t))
			require.Check(t, strings.HasPrefix(got, "as "), "%s: %s", d.name+suffix, got)
		}
		p := require.Value(d.draw(figure.Format{Dark: true}))(t)
		if want, ok := darkened(require.Value(os.ReadFile(filepath.Join("testdata", d.name+".svg")))(t)); ok {
			require.Check(t, require.Drawn(t, p.SVG) == want, "%s: not the light picture in dark colours", d.name)
			continue
		}
		got := golden(d.name+"_dark", p)
		require.Check(t, strings.HasPrefix(got, "as "), "%s: %s", d.name, got)
	}
}

// darkened is a light picture in the dark theme; false for bitmaps and colours it has not.
func darkened(svg []byte) (string, bool) {
	colors := func(t figure.Theme) []color.NRGBA {
		return slices.Concat([]color.NRGBA{t.Paper, t.Ink, t.Muted, t.Rule, t.Zero}, t.Class, t.Side[0][:], t.Side[1][:], t.Heat[:], t.Factor[:], t.Value[:], t.Line, t.Differ[:])
	}
	dark := map[string]string{}
	for i, c := range colors(figure.Light) {
		dark[figure.Hex(c)] = figure.Hex(colors(figure.Dark)[i])
	}
	ok := !bytes.Contains(svg, []byte("data:image"))
	return regexp.MustCompile(`#[0-9a-f]{6}`).ReplaceAllStringFunc(string(svg), func(c string) string {
		ok = ok && dark[c] != ""
		return dark[c]
	}), ok
}

// settings are four runs by three of their settings and what came of them.
func settings() figure.Parallel {
	nan := math.NaN()
	return figure.Parallel{
		Axes: []figure.Upright{
			{Name: "kernel", Words: []string{"linear", "rbf"}, Max: 1}, {Name: "C", Log: true, Min: 0.1, Max: 100}, {Name: "gamma", Log: true, Min: 0.5, Max: 8}, {Name: "held out, %", Min: 84, Max: 97},
		},
		Lines: []figure.Thread{
			{Name: "1", Values: []float64{0, 0.1, nan, 84}},
			{Name: "2", Values: []float64{1, 1, 0.5, 91}},
			{Name: "3", Values: []float64{1, 100, 8, 97}, Pale: true},
			{Name: "4", Values: []float64{1, 10, 2, 96.5}},
		},
	}
}

// results are the runs of settings by two of their quantities.
func results() figure.Named {
	return figure.Named{X: figure.Axis{Name: "C", Log: true}, Y: figure.Axis{Name: "held out, %"}, Dots: []figure.NamedDot{
		{Name: "1", X: 0.1, Y: 84}, {Name: "2", X: 1, Y: 91}, {Name: "3", X: 100, Y: 97, Pale: true}, {Name: "4", X: 10, Y: 96.5}, {Name: "5", X: 0, Y: 90},
	}}
}
