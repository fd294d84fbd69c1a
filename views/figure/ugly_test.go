package figure_test

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// Odd content: no error, no panic, well-formed output, and coordinates near the picture.
func TestUglyDrawings(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("wide <&\x00\xff ", 60)
	holes := func(x, y float64) float64 {
		if x > 0 {
			return nan
		}
		return 1e300 * x * y
	}
	flat := func(float64, float64) float64 { return 0 }
	up := lists.Make(30_000, func(i int) float64 { return float64(i) })
	cases := map[string]func(figure.Format) drawing{
		"empty plane": func(f figure.Format) drawing { return figure.Plane{Format: f} },
		"plane of odd marks": func(f figure.Format) drawing {
			return figure.Plane{Format: f, Title: wide, X: wide, Y: wide, Marks: []figure.Mark{
				figure.Region{F: holes, Hatch: true, Name: wide},
				figure.Region{F: flat, Color: 99},
				figure.Region{F: func(x, y float64) float64 { return -1 }, Hatch: true},
				figure.Contours{F: holes},
				figure.Contours{F: flat},
				figure.Contours{F: flat, Levels: []float64{0, nan, inf}},
				figure.Line{A: [2]float64{1e200, 1}, C: 1e300, Label: "far"},
				figure.Line{A: [2]float64{nan, 1}, Label: "none"},
				figure.Segment{From: [2]float64{nan, 0}, To: [2]float64{1, inf}, Label: "none"},
				figure.Segment{Label: "a point"},
				figure.Arrow{From: [2]float64{1, 1}, To: [2]float64{1, 1}, Label: "nothing"},
				figure.Arrow{To: [2]float64{inf, 0}, Label: "x"},
				figure.Path{},
				figure.Path{Points: [][2]float64{{1, 1}, {nan, 2}, {3, 3}}},
				figure.Circle{Radius: nan},
				figure.Circle{Center: [2]float64{1, 2}},
				figure.Dot{At: [2]float64{nan, 0}, Label: "none"},
				figure.Dot{Class: 99, Ring: true, Label: wide},
				figure.Dot{Class: -7},
				figure.Text{Text: wide},
				figure.Text{At: [2]float64{inf, inf}, Text: "none"},
			}}
		},
		"plane of extremes": func(f figure.Format) drawing {
			return figure.Plane{Format: f, Marks: []figure.Mark{figure.Dot{At: [2]float64{1e300, -1e300}}, figure.Dot{At: [2]float64{-1e300, 1}}, figure.Line{A: [2]float64{1, 1}}}}
		},
		"far plane": func(f figure.Format) drawing {
			return figure.Plane{Format: f, Limits: figure.Limits{XMin: 1e9, XMax: 1e9 + 1, YMin: -1e-9, YMax: 1e-9}, Stretched: true, Marks: []figure.Mark{figure.Line{A: [2]float64{1, 0}, C: 1e9 + 0.5}}}
		},
		"curve without values": func(f figure.Format) drawing {
			return figure.Chart{Format: f, Curves: []figure.Curve{{Name: wide}}, Here: new(float64)}
		},
		"curve of odd values": func(f figure.Format) drawing {
			y := []float64{nan, inf, -inf, 1, 2, nan, -1e300, 1e300}
			return figure.Chart{Format: f, Here: &nan, Curves: []figure.Curve{{X: up[:8], Y: y, Lo: y, Hi: y, Stairs: true, Marks: true}}, Rules: []figure.Rule{{At: nan}, {At: inf, Upright: true, Name: wide}}}
		},
		"logarithms of nothing": func(f figure.Format) drawing {
			return figure.Chart{Format: f, X: figure.Axis{Log: true}, Y: figure.Axis{Log: true}, Curves: []figure.Curve{{X: []float64{-1, 0, 5}, Y: []float64{1, 2, 0}, Lo: []float64{0, 0, 0}, Hi: []float64{1, 1, 1}}}}
		},
		"one place": func(f figure.Format) drawing {
			return figure.Chart{Format: f, X: figure.Axis{Log: true}, Curves: []figure.Curve{{X: []float64{3}, Y: []float64{0}, Marks: true}}}
		},
		"the widest logarithm": func(f figure.Format) drawing {
			return figure.Chart{Format: f, Y: figure.Axis{Log: true}, Curves: []figure.Curve{{X: up[:2], Y: []float64{1e-308, 1e308}}}}
		},
		"a crowd of values": func(f figure.Format) drawing {
			return figure.Chart{Format: f, Curves: []figure.Curve{{X: up, Y: up, Lo: up, Hi: up, Marks: true}}}
		},
		"bars of nothing": func(f figure.Format) drawing {
			return figure.Bars{Format: f, Values: []float64{0, 0}, Log: true, Sorted: true}
		},
		"bars of odd values": func(f figure.Format) drawing {
			return figure.Bars{Format: f, Values: []float64{nan, inf, -inf, 1e300, -1e-300, 0}, Names: []string{wide, "", "a", "b", "c", "d"}, Sorted: true, Classes: []int{0, -5, 99, 1, 2, 3}}
		},
		"negative logarithms": func(f figure.Format) drawing {
			return figure.Bars{Format: f, Values: []float64{-3, -1e-12, 2, inf, nan}, Log: true, Rules: []figure.Rule{{At: 0}, {At: 1, Name: wide}}}
		},
		"a crowd of bars": func(f figure.Format) drawing { return figure.Bars{Format: f, Values: up} },
		"no weights":      func(f figure.Format) drawing { return figure.Weights{Format: f} },
		"weights of nothing": func(f figure.Format) drawing {
			return figure.Weights{Format: f, Features: []kernel.Feature{{Name: wide}}}
		},
		"odd weights": func(f figure.Format) drawing {
			return figure.Weights{Format: f, Sides: figure.Sides{Names: [2]string{wide, ""}, Colors: [2]figure.Color{-5, 99}}, Features: []kernel.Feature{{Weight: inf}, {Name: wide, Weight: 1e300}, {Weight: nan}, {Weight: -1e-300}, {Weight: -inf}}}
		},
		"strings of nothing": func(f figure.Format) drawing {
			return figure.Strings{Format: f, Texts: []figure.Spelt{{}, {Head: wide, Text: "a", Parts: []float64{0}}}}
		},
		"odd strings": func(f figure.Format) drawing {
			return figure.Strings{Format: f, Sides: figure.Sides{Names: [2]string{wide, ""}, Colors: [2]figure.Color{-5, 99}}, Texts: []figure.Spelt{
				{Text: "a\t∑<&", Parts: []float64{inf, nan, -inf, 1e300, -1e-300}}, {Text: strings.Repeat("x", 30_000), Parts: up},
			}}
		},
		"matrix of one": func(f figure.Format) drawing {
			return figure.Matrix{Format: f, Values: mat.NewDense(1, 1, []float64{nan})}
		},
		"matrix of odd values": func(f figure.Format) drawing {
			return figure.Matrix{Format: f, Values: mat.NewDense(3, 2, []float64{nan, inf, -inf, 1e300, -1e300, 0}), Classes: []int{0, 99, -3}, X: wide, Name: wide, Scale: inf}
		},
		"odd tables": func(f figure.Format) drawing {
			return figure.Tables{
				Format: f, Now: &figure.Cell{Table: 9}, From: []figure.Cell{{Row: -1}, {Col: 99}},
				Tables: []figure.Grid{{Name: wide, Rows: []string{wide}, Cols: []string{wide, ""}, Values: [][]float64{{inf, -1e300}}}, {}},
			}
		},
		"odd graphs": func(f figure.Format) drawing {
			crowd := dataset.Graph{N: figure.MostDrawn}
			crowd.Edges = lists.Make(200, func(v int) [2]int { return [2]int{0, v + 1} })
			return figure.Networks{
				Format: f, Labels: []string{wide},
				Networks: []figure.Network{
					{Name: wide, Graph: dataset.Graph{N: 1, Labels: []string{wide}}, Places: [][2]float64{{nan, inf}}},
					{Graph: dataset.Graph{N: 2, Labels: []string{wide, "x"}}, Nodes: []figure.Node{{Color: 99, Shade: inf}, {Color: -1, Shade: nan}}, Places: [][2]float64{{1e300, 0}, {-1e300, 0}}},
					{Graph: crowd},
				},
			}
		},
		"matrix of zeros": func(f figure.Format) drawing { return figure.Matrix{Format: f, Values: mat.NewDense(5, 90, nil)} },
		"unsorted classes": func(f figure.Format) drawing {
			m := signed(40)
			m.Format = f
			for i := range m.Classes {
				m.Classes[i] = i % 2
			}
			return m
		},
		"empty box": func(f figure.Format) drawing { return figure.Lifted{Format: f} },
		"box of odd things": func(f figure.Format) drawing {
			return figure.Lifted{
				Format: f, X: wide, Y: wide, Z: wide, Yaw: -1e6, Pitch: 400, Surface: holes, Cut: &figure.Cut{W: [3]float64{1e200, 0, 1}, C: 1e300, Name: wide},
				Points: []figure.Dot3{{At: [3]float64{nan, 0, 0}}, {At: [3]float64{1, 1, 1}, Class: 99, Label: wide}, {Class: -1, Ring: true}},
			}
		},
		"box from above":    func(f figure.Format) drawing { l := bump(); l.Format, l.Pitch = f, 90; return l },
		"box from the side": func(f figure.Format) drawing { l := bump(); l.Format, l.Yaw, l.Pitch = f, 90, 0; return l },
	}
	for name, draw := range cases {
		for _, size := range [][2]int{{0, 0}, {360, 320}, {40, 40}, {2000, 180}, {1921, 1080}} {
			d := draw(figure.Format{Width: size[0], Height: size[1], LegendRows: 1})
			p, err := d.Picture()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			if f := p.Frame; !(f.Width >= 1 && f.Height >= 1) || f.Left < 0 || f.Left+f.Width > float64(p.Width) || f.Top < 0 || f.Top+f.Height > float64(p.Height) {
				t.Errorf("%s, %v: frame %+v", name, size, f)
			}
			require.Check(t, p.Caption != "", "%s has no caption", name)
			for _, at := range coordinates(t, parse(t, p)) {
				if math.Abs(at) > 3000 {
					t.Errorf("%s, %v: something is drawn at %g", name, size, at)
					break
				}
			}
			if size[0] > 1000 {
				continue // the drawing is the same, and PNGs of this size take long
			}
			var b bytes.Buffer
			if err := p.PNG(t.Context(), &b); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if _, err := png.Decode(&b); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func coordinates(t *testing.T, svg element) (all []float64) {
	t.Helper()
	for _, e := range svg.all("path") {
		for _, w := range strings.FieldsFunc(e.attr("d"), func(r rune) bool { return strings.ContainsRune("MLAZ ", r) }) {
			var v float64
			_, err := fmt.Sscan(w, &v)
			require.Must(t, err == nil, "%q in %q", w, e.attr("d"))
			all = append(all, v)
		}
	}
	return all
}

func TestDrawingErrors(t *testing.T) {
	t.Parallel()
	f := func(x, y float64) float64 { return x }
	for name, d := range map[string]drawing{
		"large plane":        figure.Plane{Format: figure.Format{Width: 9000}},
		"limits without":     figure.Plane{Limits: figure.Limits{XMin: 1, XMax: 1}},
		"a mark is missing":  figure.Plane{Marks: []figure.Mark{nil}},
		"region without F":   figure.Plane{Marks: []figure.Mark{figure.Region{}}},
		"contours without F": figure.Plane{Marks: []figure.Mark{figure.Contours{}}},
		"line without A":     figure.Plane{Marks: []figure.Mark{figure.Region{F: f}, figure.Line{}}},
		"empty chart":        figure.Chart{},
		"too many curves":    figure.Chart{Curves: make([]figure.Curve, 7)},
		"x without y":        figure.Chart{Curves: []figure.Curve{{X: []float64{1}}}},
		"half a band":        figure.Chart{Curves: []figure.Curve{{X: []float64{1}, Y: []float64{1}, Lo: []float64{1}}}},
		"ends of nothing":    figure.Chart{Y: figure.Axis{Log: true, Max: 1}, Curves: []figure.Curve{{}}},
		"no bars":            figure.Bars{},
		"rank of nothing":    figure.Ranks{Names: []string{"a", "b"}, Ranks: []float64{1}},
		"rank of nobody":     figure.Ranks{Names: []string{"a", "b"}, Ranks: []float64{0, nan}},
		"one rank":           figure.Ranks{Names: []string{"a"}, Ranks: []float64{1}},
		"no difference":      figure.Ranks{Names: []string{"a", "b"}, Ranks: []float64{1, 2}, Difference: nan},
		"one axis":           figure.Parallel{Axes: make([]figure.Upright, 1)},
		"log of nothing":     figure.Parallel{Axes: []figure.Upright{{}, {Log: true, Max: 1}}},
		"values of others":   figure.Parallel{Axes: make([]figure.Upright, 2), Lines: []figure.Thread{{Values: []float64{1}}}},
		"no strings":         figure.Strings{},
		"parts of others":    figure.Strings{Texts: []figure.Spelt{{Text: "ab", Parts: []float64{1}}}},
		"names of others":    figure.Bars{Values: []float64{1}, Names: []string{"a", "b"}},
		"classes of others":  figure.Bars{Values: []float64{1}, Classes: []int{}},
		"no matrix":          figure.Matrix{},
		"matrix of nothing":  figure.Matrix{Values: &mat.Dense{}},
		"names of rows":      figure.Matrix{Values: mat.NewDense(2, 2, nil), Names: []string{"a"}},
		"names of columns":   figure.Matrix{Values: mat.NewDense(2, 3, nil), Columns: []string{"a", "b"}},
		"classes of rows":    figure.Matrix{Values: mat.NewDense(2, 2, nil), Classes: []int{1}},
		"no tables":          figure.Tables{},
		"rows of others":     figure.Tables{Tables: []figure.Grid{{Rows: []string{"a"}}}},
		"columns of others":  figure.Tables{Tables: []figure.Grid{{Rows: []string{"a"}, Cols: []string{"a"}, Values: [][]float64{{}}}}},
		"no graphs":          figure.Networks{},
		"nodes of others":    figure.Networks{Networks: []figure.Network{{Graph: dataset.Graph{N: 2}, Nodes: make([]figure.Node, 1)}}},
		"places of others":   figure.Networks{Networks: []figure.Network{{Graph: dataset.Graph{N: 2}, Places: make([][2]float64, 3)}}},
		"no direction":       figure.Lifted{Cut: &figure.Cut{}},
		"no view":            figure.Lifted{Yaw: nan},
		"flat box":           figure.Lifted{Min: [3]float64{1, 0, 0}},
	} {
		require.Fails(t, require.Err(d.Picture()), ";", "%s", name)
	}
}

// The captions tell what the eye would see.
func TestDrawingCaptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    drawing
		want string
	}{
		{figure.Weights{}, "No feature has any weight."},
		{smoBox(), "Drawing, over α1 and α2. Shaded: 0 ≤ α ≤ C. Line α1 − α2 = −0.4: (1, −1)·x = −0.4."},
		{accuracy(), "Chart, accuracy over C. training: from 0.73 at 0.01 to 0.968 at 10000. held out:"},
		{spectrum(), "14 values: 11 positive, 0 zero, 3 negative, from −1.34 to 6."},
		{signed(6), "Matrix. 6 rows and 6 columns, entries from −2.14 to 2.41, 18 negative."},
		{xor(), "2 points of −1, 0 on the side of the plane to which its normal points. 2 points of +1, 2 on"},
		{figure.Plane{Caption: "my own words"}, "my own words"},
	} {
		p := require.Value(c.d.Picture())(t)
		require.Check(t, strings.Contains(p.Caption, c.want), "%q, want %q in it", p.Caption, c.want)
	}
}
