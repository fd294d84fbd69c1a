package figure

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/lists"
)

// Alphas draws alpha / C of every point over C: 1 for a point at its bound, 0 for one that is no
// support vector. Ticks at the lower edge mark where a point begins or ceases to be a support
// vector, those at the upper edge where it reaches or leaves its bound.
type Alphas struct {
	Format
	C       []float64   // ascending
	Alpha   [][]float64 // of every point, for each C
	Side    []int       // of every point: 0 or 1
	Classes [2]string   // names of the sides
	Here    *float64    // chosen C; nil: none
}

// alphaLines is the maximum number of points with a line, evenly spaced among all.
const alphaLines = 200

// Picture draws the lines.
func (a Alphas) Picture() (*Picture, error) {
	if len(a.C) < 2 || len(a.Alpha) == 0 || len(a.Side) != len(a.Alpha) {
		return nil, errors.New("alphas: expected two values of C, and a point with its side, at least")
	}
	sh, err := a.sheet()
	if err != nil {
		return nil, err
	}
	t := sh.theme
	axis := Axis{Log: true}
	low, high := axis.scaled(a.C[0]), axis.scaled(a.C[len(a.C)-1])
	if !finite(low, high) || low >= high {
		return nil, fmt.Errorf("alphas: C from %g to %g has no logarithmic axis", a.C[0], a.C[len(a.C)-1])
	}
	sh.labels, sh.log, sh.limits = [2]string{"C", "alpha / C"}, [2]bool{true, false}, Limits{XMin: low, XMax: high, YMin: -0.05, YMax: 1.05}
	style := func(side int, thick vg.Length) draw.LineStyle {
		return draw.LineStyle{Color: t.class(side), Width: thick, Dashes: dashes[side]}
	}
	for side, name := range a.Classes {
		sh.legend = append(sh.legend, entry{name, line(style(side, 1.4))})
	}
	every := (len(a.Alpha) + alphaLines - 1) / alphaLines
	sh.caption = fmt.Sprintf("alpha / C of %d training points as C rises from %s to %s: 1 at the bound, 0 outside the margin.", len(a.Alpha), short(a.C[0]), short(a.C[len(a.C)-1]))
	if every > 1 {
		sh.caption += fmt.Sprintf(" One point in %d has a line.", every)
	}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		for i := 0; i < len(a.Alpha); i += every {
			s := style(a.Side[i], 0.9)
			s.Color = translucent(t.class(a.Side[i]), 0.55)
			ps := lists.Make(len(a.C), func(k int) vg.Point { return m.at(axis.scaled(a.C[k]), a.Alpha[i][k]/a.C[k]) })
			e.line(s, 0, thin(ps)...)
		}
		tick := draw.LineStyle{Color: translucent(t.Ink, 0.6), Width: 0.8}
		const long = 7
		for k := range len(a.C) - 1 {
			x := (axis.scaled(a.C[k]) + axis.scaled(a.C[k+1])) / 2
			enters, bounds := false, false
			for _, alpha := range a.Alpha {
				enters = enters || (alpha[k] == 0) != (alpha[k+1] == 0)
				bounds = bounds || (alpha[k] >= a.C[k]) != (alpha[k+1] >= a.C[k+1])
			}
			if enters {
				at := vg.Point{X: m.at(x, 0).X, Y: m.frame.Min.Y}
				e.line(tick, 0, at, at.Add(vg.Point{Y: long}))
			}
			if bounds {
				at := vg.Point{X: m.at(x, 0).X, Y: m.frame.Max.Y}
				e.line(tick, 0, at, at.Sub(vg.Point{Y: long}))
			}
		}
		if a.Here != nil {
			e.rule(Rule{Name: "C", At: *a.Here, Upright: true}, axis, Axis{})
		}
		e.write()
	})
	return sh.picture(), nil
}

// Regularised draws a regularisation path: test and training accuracy, and the fractions of the
// points that are support vectors or at their bound.
type Regularised struct {
	Format
	C, Training, Vectors, Bounded []float64
	Judged, Accuracy, Deviation   []float64 // on held-out points, at some values of C; empty: no such curve
	Here                          *float64  // chosen C; nil: none
}

// Picture draws the curves.
func (r Regularised) Picture() (*Picture, error) {
	ch := Chart{Format: r.Format, X: Axis{Name: "C", Log: true}, Y: Axis{Name: "share of points", Min: -0.02, Max: 1.02}, Here: r.Here}
	held := Curve{Name: "cross-validated accuracy", X: r.Judged, Y: r.Accuracy}
	for i, mean := range r.Accuracy {
		held.Lo, held.Hi = append(held.Lo, max(0, mean-r.Deviation[i])), append(held.Hi, min(1, mean+r.Deviation[i]))
	}
	if len(r.Judged) > 0 {
		ch.Curves = append(ch.Curves, held)
	}
	ch.Curves = append(
		ch.Curves, Curve{Name: "training accuracy", X: r.C, Y: r.Training},
		Curve{Name: "support vectors", X: r.C, Y: r.Vectors}, Curve{Name: "at the bound C", X: r.C, Y: r.Bounded},
	)
	return ch.Picture()
}

// AlphasOf returns the Alphas of a path.
func AlphasOf(r *ml.Regularisation, f Format) Alphas {
	a := Alphas{Format: f, Alpha: make([][]float64, len(r.Rows)), Side: r.Side, Classes: r.Classes, Here: &r.C}
	for _, s := range r.Steps {
		a.C = append(a.C, s.C)
		for i, v := range s.Alpha {
			a.Alpha[i] = append(a.Alpha[i], v)
		}
	}
	return a
}

// RegularisedOf returns the Regularised of a path.
func RegularisedOf(r *ml.Regularisation, f Format) Regularised {
	p := Regularised{Format: f, Here: &r.C}
	n := float64(len(r.Rows))
	for _, s := range r.Steps {
		p.C, p.Training = append(p.C, s.C), append(p.Training, s.TrainAccuracy)
		p.Vectors, p.Bounded = append(p.Vectors, float64(s.SupportVectors)/n), append(p.Bounded, float64(s.Bounded)/n)
		if s.Accuracy != nil {
			p.Judged, p.Accuracy, p.Deviation = append(p.Judged, s.C), append(p.Accuracy, *s.Accuracy), append(p.Deviation, *s.Deviation)
		}
	}
	return p
}
