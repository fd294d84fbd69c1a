package figure_test

import (
	"math"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// On logarithmic axes a mark is where the frame puts the logarithms.
func TestLogarithmicFrame(t *testing.T) {
	t.Parallel()
	p := require.Value(figure.Chart{
		X: figure.Axis{Log: true, Min: 0.1, Max: 1000}, Y: figure.Axis{Log: true, Min: 1e-6, Max: 1},
		Curves: []figure.Curve{{X: []float64{5}, Y: []float64{2e-4}, Marks: true}},
	}.Picture())(t)
	f := p.Frame
	require.Must(t, f.LogX && f.LogY && math.Abs(f.Limits.XMax-1000) <= 1e-9 && math.Abs(f.Limits.YMin-1e-6) <= 1e-15,
		"frame %+v", f)
	x := f.Left + f.Width*math.Log(5/f.Limits.XMin)/math.Log(f.Limits.XMax/f.Limits.XMin)
	y := f.Top + f.Height*math.Log(f.Limits.YMax/2e-4)/math.Log(f.Limits.YMax/f.Limits.YMin)
	for _, c := range parse(t, p).all("circle") {
		if math.Hypot(c.number(t, "cx")-x, c.number(t, "cy")-y) < 0.02 {
			return
		}
	}
	t.Errorf("no marker at %g, %g", x, y)
}

// A crowd of values is thinned out, but its one spike stays.
func TestSpike(t *testing.T) {
	t.Parallel()
	const n = 200_000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), math.Sin(float64(i))
	}
	y[123_457] = 50
	p := require.Value(figure.Chart{Curves: []figure.Curve{{X: x, Y: y}}}.Picture())(t)
	var size counter
	require.NoError(t, p.SVG(t.Context(), &size))
	require.Check(t, size <= 200_000, "%d bytes", size)
	f, top := p.Frame, inf
	for _, e := range polygons(t, p, func(g element) bool { return g.attr("stroke-width") != "1" && g.attr("fill") == "none" }) {
		for _, q := range e {
			top = math.Min(top, math.Abs(q[1]-50))
		}
	}
	require.Check(t, top <= 0.01*(f.Limits.YMax-f.Limits.YMin), "nothing is drawn nearer than %g to the spike", top)
}

// A chart that is drawn as far as its replay has the axes of the whole, and nothing of what
// is to come: not in the picture, not in its words.
func TestSoFar(t *testing.T) {
	t.Parallel()
	curve := figure.Curve{Name: "gap", X: []float64{0, 1, 2, 3}, Y: []float64{8, 4, 2, 1}, Marks: true}
	at := func(step float64, soFar bool) *figure.Picture {
		t.Helper()
		p, err := figure.Chart{X: figure.Axis{Name: "step"}, Y: figure.Axis{Name: "value"}, Curves: []figure.Curve{curve}, Here: &step, SoFar: soFar}.Picture()
		require.NoError(t, err)
		return p
	}
	whole, first, none := at(1, false), at(1, true), at(-1, true)
	require.Equal(t, first.Frame, whole.Frame, "the frame of the first step")
	a, b := len(parse(t, whole).all("circle")), len(parse(t, first).all("circle"))
	require.Check(t, b == a-2, "%d markers of the whole, %d after two of four values", a, b)
	require.Check(t, strings.Contains(first.Caption, "to 4 at 1") && strings.Contains(whole.Caption, "to 1 at 3"),
		"the words are %q, of the whole %q", first.Caption, whole.Caption)
	require.Says(t, none.Caption, "no values", "before the first value the words")
}

// Of curves that need not be distinguished there may be any number; the legend has them once.
func TestManyCurves(t *testing.T) {
	t.Parallel()
	ch := figure.Chart{X: figure.Axis{Name: "x"}, Y: figure.Axis{Name: "y"}, Curves: []figure.Curve{{Name: "middle", X: []float64{0, 1}, Y: []float64{3, 4}}}}
	for i := range 30 {
		ch.Curves = append(ch.Curves, figure.Curve{Name: "one", X: []float64{0, 1}, Y: []float64{float64(i), 1}, Pale: true})
	}
	p := require.Value(ch.Picture())(t)
	require.Check(t, p.Frame.Limits.YMax >= 29, "the axis ends at %g, the highest curve at 29", p.Frame.Limits.YMax)
	require.Check(t, strings.Contains(p.Caption, "middle: from 3") && strings.HasSuffix(p.Caption, " one: 30."),
		"the words are %q", p.Caption)
	require.Equal(t, strings.Count(require.Drawn(t, p.SVG), ">one<"), 1, "the legend has them … times")
	// The last curves of a chart that waits for an answer are left out, also of its caption.
	for _, waits := range []bool{true, false} {
		ch := figure.Chart{Format: figure.Format{Waits: waits}, Hidden: 1, Curves: []figure.Curve{
			{Name: "known", X: []float64{0, 1}, Y: []float64{0, 1}}, {Name: "asked for", X: []float64{0, 1}, Y: []float64{1, 0}},
		}}
		p := require.Value(ch.Picture())(t)
		svg := require.Drawn(t, p.SVG)
		require.Says(t, svg, ">known<", "waiting: %t", waits)
		require.Check(t, strings.Contains(svg, ">asked for<") != waits && strings.Contains(p.Caption, "asked for") != waits,
			"waiting: %t: %s", waits, p.Caption)
	}
	// A name too long for its line is broken, one too long for two is cut; its rank is not.
	r := figure.Ranks{Format: figure.Format{Width: 300}, Names: []string{"sparse MCM, map", strings.Repeat("long ", 9)}, Ranks: []float64{1.25, 1.75}}
	svg := require.Drawn(t, require.Value(r.Picture())(t).SVG)
	require.Check(t, strings.Contains(svg, ">map 1.25<") && strings.Contains(svg, "…") && strings.Contains(svg, "1.75<"), "%s", svg)
}
