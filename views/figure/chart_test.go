package figure_test

import (
	"math"
	"testing"

	"marginlab/views/figure"
)

// On logarithmic axes a mark is where the frame puts the logarithms.
func TestLogarithmicFrame(t *testing.T) {
	t.Parallel()
	p, err := figure.Chart{
		X: figure.Axis{Log: true, Min: 0.1, Max: 1000}, Y: figure.Axis{Log: true, Min: 1e-6, Max: 1},
		Curves: []figure.Curve{{X: []float64{5}, Y: []float64{2e-4}, Marks: true}},
	}.Picture()
	if err != nil {
		t.Fatal(err)
	}
	f := p.Frame
	if !f.LogX || !f.LogY || math.Abs(f.Limits.XMax-1000) > 1e-9 || math.Abs(f.Limits.YMin-1e-6) > 1e-15 {
		t.Fatalf("frame %+v", f)
	}
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
	p, err := figure.Chart{Curves: []figure.Curve{{X: x, Y: y}}}.Picture()
	if err != nil {
		t.Fatal(err)
	}
	var size counter
	if err := p.SVG(&size); err != nil {
		t.Fatal(err)
	}
	if size > 200_000 {
		t.Errorf("%d bytes", size)
	}
	f, top := p.Frame, inf
	for _, e := range polygons(t, p, func(g element) bool { return g.attr("stroke-width") != "1" && g.attr("fill") == "none" }) {
		for _, q := range e {
			top = math.Min(top, math.Abs(q[1]-50))
		}
	}
	if top > 0.01*(f.Limits.YMax-f.Limits.YMin) {
		t.Errorf("nothing is drawn nearer than %g to the spike", top)
	}
}
