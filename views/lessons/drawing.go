package lessons

import (
	"cmp"
	"slices"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/trace"
	"marginlab/views/figure"
)

// Format returns the size and theme of a drawing. The legend reserves the given number of rows, so
// that the frame stays fixed. While an answer is awaited, the picture notes that part of it is
// hidden.
func (l Look) Format(rows int) figure.Format {
	return figure.Format{Dark: l.Dark, Grey: l.Grey, Width: l.Width, Height: l.Height, LegendRows: rows, Waits: l.Asking, Paper: l.Paper, Panel: l.Panel}
}

// Scene returns the base of a picture of a model and points, with the names of the lecture; while
// something is dragged it is coarser. The legend reserves the given number of rows.
func (l Look) Scene(m *ml.Model, points []ml.Point, v dataset.View, classes []string, rows int) figure.Scene {
	s := figure.Scene{Lecture: true, Model: m, Points: points, View: v, Classes: classes, Format: l.answered().Format(rows)}
	if l.Coarse {
		s.Grid = 80
	}
	return s
}

// answered returns the look of a figure that hides nothing.
func (l Look) answered() Look {
	l.Asking = false
	return l
}

// Draws returns the function that draws a drawing in the format of a look, with the given number of
// legend rows.
func Draws[D interface {
	Picture() (*figure.Picture, error)
}, P interface {
	*D
	SetFormat(figure.Format)
}](rows int, drawing D) func(Look) (*figure.Picture, error) {
	return func(l Look) (*figure.Picture, error) {
		d := drawing
		P(&d).SetFormat(l.Format(rows))
		return d.Picture()
	}
}

// Plane returns a drawing of marks over x1 and x2.
func Plane(name, caption string, limits figure.Limits, rows int, marks ...[]figure.Mark) Figure {
	return Figure{Name: name, Caption: caption, Draw: Draws(rows, figure.Plane{X: "x₁", Y: "x₂", Limits: limits, Marks: slices.Concat(marks...)})}
}

// Beside returns the figure combined with a second one at the right or below. The first gets a
// fraction of the width or height, and has the handles.
func (f Figure) Beside(share float64, below bool, second Figure) Figure {
	first := f.Draw
	f.Draw = func(l Look) (*figure.Picture, error) {
		panel := func(draw func(Look) (*figure.Picture, error)) func(int, int, *figure.Panel) (*figure.Picture, error) {
			return func(width, height int, at *figure.Panel) (*figure.Picture, error) {
				l := l
				l.Width, l.Height, l.Panel = width, height, at
				return draw(l)
			}
		}
		return figure.Beside(l.Width, l.Height, share, below, panel(first), panel(second.Draw))
	}
	return f
}

// Overlay returns the picture of the boundaries of several models, with the name and scene of each.
func Overlay(name, caption string, names []string, scene func(l Look, i int) figure.Scene) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		layer := func(i int) figure.Layer { return figure.Layer{Name: names[i], Scene: scene(l, i)} }
		return figure.Overlay(l.Context(), lists.Make(len(names), layer))
	}}
}

// Strip returns the picture of the values of a model at points without coordinates, class by class.
func Strip(caption string, m *ml.Model, points []ml.Point, classes []string) Figure {
	return Figure{Name: "strip", Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		s := figure.DecisionScene(m, points, classes)
		s.Format = l.answered().Format(2)
		return figure.Decisions(s)
	}}
}

// Halves returns the regions on the two sides of f = 0.
func Halves(f func(x, y float64) float64) []figure.Mark {
	return []figure.Mark{
		figure.Region{F: func(x, y float64) float64 { return -f(x, y) }, Color: figure.ClassColor(0), Name: "f < 0"},
		figure.Region{F: f, Color: figure.ClassColor(1), Name: "f ≥ 0"},
	}
}

// Sides returns the two half-planes of a line and the line itself.
func Sides(w [2]float64, b float64) []figure.Mark {
	return append(Halves(figure.Linear(w, -b)), figure.Line{A: w, C: -b, Name: "f = 0"})
}

// MarginLines returns the lines f = ±1.
func MarginLines(w [2]float64, b float64) []figure.Mark {
	pen := figure.Pen{Dash: figure.Dashed, Thin: true}
	return []figure.Mark{
		figure.Line{A: w, C: 1 - b, Pen: pen, Name: "f = ±1"},
		figure.Line{A: w, C: -1 - b, Pen: pen, Name: "f = ±1"},
	}
}

// Foot returns the point of the line w·x + b = 0 nearest to p.
func Foot(w [2]float64, b float64, p [2]float64) [2]float64 {
	k := (w[0]*p[0] + w[1]*p[1] + b) / (w[0]*w[0] + w[1]*w[1])
	return [2]float64{p[0] - k*w[0], p[1] - k*w[1]}
}

// Slacks returns the segments from points inside the margin to their margin line, of length
// slack/|w|.
func Slacks(t Toy, w [2]float64, b float64) (marks []figure.Mark) {
	for i, p := range t.XY {
		if t.Y[i]*(w[0]*p[0]+w[1]*p[1]+b) < 1-1e-5 {
			marks = append(marks, figure.Segment{From: p, To: Foot(w, b-t.Y[i], p), Pen: figure.Pen{Color: figure.Magenta}, Name: "slack"})
		}
	}
	return marks
}

// NoLine is the note shown if the two ends of a line coincide.
const NoLine = "A line needs two different points: pull the ends apart."

// StepCurve returns the curve of a value over the steps of a replay.
func StepCurve[S any](name string, r *trace.Replay[S], value func(S) float64) figure.Curve {
	c := figure.Curve{Name: name}
	for i := range r.Len() {
		c.X, c.Y = append(c.X, float64(i)), append(c.Y, value(r.At(i)))
	}
	return c
}

// StepChart returns a chart over the steps of a replay at a given step; its curves grow with the
// steps.
func StepChart(name, caption string, step int, ch figure.Chart) Figure {
	return Figure{Name: name, Caption: caption, Grows: true, Draw: func(l Look) (*figure.Picture, error) {
		c := ch
		c.Format, c.Here, c.SoFar = l.Format(2), new(float64(step)), !l.Paper || l.Asking
		c.X.Name = cmp.Or(c.X.Name, "step")
		return c.Picture()
	}}
}
