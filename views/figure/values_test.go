package figure_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// hills is a sum of two bumps over one variable or two, with points about; a fourth is held out.
func hills(features int) (*ml.Model, []ml.Point) {
	m := &ml.Model{
		Label: "height", Kernel: kernel.RBF(0.8), Rule: ml.Value,
		Supports: ml.Supports{Rows: []int{0, 1}, Vectors: [][]float64{{-1, 0.5}, {1.2, -0.4}}},
		Machines: []ml.Machine{{Coef: []float64{30, -18}}},
	}
	m.Features = []string{"east", "north"}[:features]
	for j := range m.Supports.Vectors {
		m.Supports.Vectors[j] = m.Supports.Vectors[j][:features]
	}
	var points []ml.Point
	for i := range 24 {
		x := []float64{-2.4 + 0.2*float64(i), 1.8 * math.Sin(2.5*float64(i))}[:features]
		p := ml.Point{Row: i, X: x, Role: ml.Weighted, HeldOut: i%4 == 3}
		p.F = m.Decision(x)
		p.Y = p.F + 4*math.Cos(7*float64(i))
		p.Label = fmt.Sprint(p.Y)
		points = append(points, p)
	}
	return m, points
}

func ExampleValueCurve() {
	m, points := hills(1)
	show("curve", must(figure.ValueCurve(figure.CurveScene(m, points, "east", "height"))))
	// Output: as testdata/curve.svg
	// Curve of f(x), RBF (Gaussian) kernel, over east and height. 24 points, height from −16.61 to 31.73. Mean squared error 10.1 over 18 training points, the largest residual 4. Held out: 3.2 over 6 points, the largest 2.85.
}

func ExampleValueSurface() {
	fmt.Println(golden("surface", must(figure.ValueSurface(context.Background(), hillScene()))))
	// Output: as testdata/surface.svg
}

func ExampleValueFit() {
	m, points := hills(2)
	fmt.Println(golden("fit", must(figure.ValueFit(figure.FitScene(m, points, "height")))))
	// Output: as testdata/fit.svg
}

func hillScene() figure.Scene {
	m, points := hills(2)
	return figure.Scene{Model: m, Points: points, View: plane(m.Features), Values: true, Label: "height"}
}

// Pictures of values stand what data can do to them, and say what they are not for.
func TestUglyValues(t *testing.T) {
	t.Parallel()
	m, points := hills(1)
	two, over := hills(2)
	same := append([]ml.Point(nil), points[:1]...)
	huge := append([]ml.Point(nil), points...)
	huge[3].Y, huge[4].Y = 1e308, -1e308
	many := append([]ml.Point(nil), points...)
	for len(many) < 6000 {
		many = append(many, points...)
	}
	draw := func(p *figure.Picture, err error) error {
		if err != nil {
			return err
		}
		var b strings.Builder
		if err := p.SVG(t.Context(), &b); err != nil {
			return err
		}
		if p.Caption == "" || strings.Contains(b.String(), "NaN") {
			return fmt.Errorf("caption %q, or a coordinate that is no number", p.Caption)
		}
		return nil
	}
	surface := func(points []ml.Point, m *ml.Model) (*figure.Picture, error) {
		s := hillScene()
		s.Points, s.Model, s.Grid = points, m, 12
		return figure.ValueSurface(context.Background(), s)
	}
	for name, c := range map[string]struct {
		err     error
		refused bool
	}{
		"one point":              {draw(figure.ValueCurve(figure.CurveScene(m, same, "x", "y"))), false},
		"no points":              {draw(figure.ValueCurve(figure.CurveScene(m, nil, "x", "y"))), false},
		"no model":               {draw(figure.ValueCurve(figure.CurveScene(nil, points, "x", "y"))), false},
		"huge values":            {draw(figure.ValueCurve(figure.CurveScene(m, huge, "x", "y"))), false},
		"a crowd":                {draw(figure.ValueCurve(figure.CurveScene(m, many, "x", "y"))), false},
		"a curve of two":         {draw(figure.ValueCurve(figure.CurveScene(two, over, "x", "y"))), true},
		"a surface of one":       {draw(surface(points, m)), true},
		"one point on a surface": {draw(surface(over[:1], two)), false},
		"an empty surface":       {draw(surface(nil, two)), false},
		"a surface of points":    {draw(surface(over, nil)), false},
		"a fit of nothing":       {draw(figure.ValueFit(figure.FitScene(two, nil, "y"))), false},
		"a fit without a model":  {draw(figure.ValueFit(figure.FitScene(nil, over, "y"))), true},
	} {
		require.Check(t, (c.err != nil) == c.refused, "%s: %v", name, c.err)
	}
}

// A run of values has the figures that its features allow.
func TestFiguresOfValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns, want string
	}{{"a", "curve path"}, {"a,b", "surface fit path"}, {"a,b,c", "surface fit path"}} {
		var text strings.Builder
		text.WriteString(c.columns + ",y\n")
		for i := range 40 {
			for k := range strings.Count(c.columns, ",") + 1 {
				fmt.Fprintf(&text, "%g,", math.Sin(float64(i*(k+3))))
			}
			fmt.Fprintf(&text, "%g\n", math.Cos(float64(i)))
		}
		d := require.Value(dataset.Read(strings.NewReader(text.String()), "f", dataset.Mapping{}, dataset.DefaultLimits))(t)
		spec := ml.DefaultSpec()
		spec.Target, spec.Learner = "value", "ridge"
		res := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
		r := figure.Run{Data: d, Spec: spec, Result: res, Look: figure.Scene{Grid: 20, Format: figure.Format{Width: 200, Height: 160}}}
		var names []string
		for _, f := range r.Figures() {
			names = append(names, f.Name)
			_, err := r.Draw(t.Context(), f.Name)
			require.Check(t, err == nil && f.Title != "", "%s: %q: %v", f.Name, f.Title, err)
		}
		got := strings.Join(names, " ")
		require.Check(t, got == c.want && names[0] == r.Main(), "%s: %s, and above all %s", c.columns, got, r.Main())
		for _, look := range []figure.Format{{Width: 810, Height: 540, LegendRows: figure.RowsForAll}, {Width: 354, Height: 354, LegendRows: 4}} {
			r.Look.Format = look
			pic, err := r.Draw(t.Context(), r.Main())
			require.Check(t, err == nil && pic.Frame.Height > 0.64*float64(look.Height), "%s: %v, %+v", c.columns, err, pic.Frame)
		}
		pic, err := r.Draw(t.Context(), "path")
		want := fmt.Sprintf(": %.3g in training, %.3g left out,", *res.Report.MSE, *res.Report.LOOError)
		require.Check(t, err == nil && strings.Contains(pic.Caption, want), "%s: %v, %q", c.columns, err, pic.Caption)
	}
}
