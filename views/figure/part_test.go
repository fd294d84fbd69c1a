package figure_test

import (
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// What has a name can be pointed out where it is; points of a class and unnamed marks cannot.
func TestParts(t *testing.T) {
	t.Parallel()
	p := require.Value(figure.Plane{Format: figure.Format{Width: 400, Height: 300}, Limits: figure.Limits{XMin: -2, XMax: 2, YMin: -1, YMax: 1}, Marks: []figure.Mark{
		figure.Region{F: figure.Linear([2]float64{1, 0}, 0), Name: "f ≥ 0"},
		figure.Line{A: [2]float64{2, 0}, C: 1, Name: "f = 0"},
		figure.Arrow{To: [2]float64{1, 0.5}, Name: "step", Label: "w"},
		figure.Segment{To: [2]float64{1, 1}},
		figure.Dot{At: [2]float64{1, 0}, Class: 1, Name: "y = +1"},
		figure.Dot{At: [2]float64{-1, 0}, Class: 0, Ring: true, Name: "support vector"},
	}}.Picture())(t)
	parts := p.Parts()
	require.Must(t, len(parts) == 3, "%d parts: %+v", len(parts), parts)
	line := parts[0].Line
	require.Check(t, len(line) == 2 && line[0][0] == 0.5 && line[1][0] == 0.5 && (line[0][1] < -1) != (line[1][1] < -1) && (line[0][1] > 1) != (line[1][1] > 1),
		"the line x = 0.5 goes through %v", line)
	a := parts[1]
	require.Check(t, len(a.Names) == 2 && a.Names[1] == "w" && a.Line[1] == [2]float64{1, 0.5}, "the arrow is %+v", a)
	d := parts[2]
	require.Check(t, len(d.Line) == 1 && d.Line[0] == [2]float64{-1, 0}, "the ringed point is %+v", d)
	x := lists.Make(1000, func(i int) float64 { return float64(i + 1) })
	ch, err := figure.Chart{Format: figure.Format{Width: 400, Height: 300}, X: figure.Axis{Log: true}, Curves: []figure.Curve{{Name: "gap", X: x, Y: x}}}.Picture()
	require.NoError(t, err)
	if c := ch.Parts(); len(c) != 1 || len(c[0].Line) > 100 || c[0].Line[0] != [2]float64{1, 1} || c[0].Line[len(c[0].Line)-1] != [2]float64{1000, 1000} {
		t.Errorf("the curve is %+v", c)
	}
}
