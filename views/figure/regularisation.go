package figure

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// alphaLines is the maximum number of points with a line, evenly spaced among all.
const alphaLines = 200

// Alphas draws alpha / C of every point over C: 1 for a point at its bound, 0 for one that is no
// support vector. Ticks at the lower edge mark where a point begins or ceases to be a support
// vector, those at the upper edge where it reaches or leaves its bound.
func Alphas(r *ml.Regularisation, f Format) (*Picture, error) {
	if len(r.Steps) < 2 || len(r.Side) == 0 {
		return nil, errors.New("alphas: expected two values of C, and a point with its side, at least")
	}
	sh, err := f.sheet()
	if err != nil {
		return nil, err
	}
	t := sh.theme
	axis := Axis{Log: true}
	from, to := r.Steps[0].C, r.Steps[len(r.Steps)-1].C
	low, high := axis.scaled(from), axis.scaled(to)
	if !finite(low, high) || low >= high {
		return nil, fmt.Errorf("alphas: C from %g to %g has no logarithmic axis", from, to)
	}
	sh.labels, sh.log, sh.limits = [2]string{"C", "alpha / C"}, [2]bool{true, false}, Limits{XMin: low, XMax: high, YMin: -0.05, YMax: 1.05}
	style := func(side int, thick vg.Length) draw.LineStyle {
		return draw.LineStyle{Color: t.class(side), Width: thick, Dashes: dashes[side]}
	}
	for side, name := range r.Classes {
		sh.legend = append(sh.legend, entry{param.ClassText(name), line(style(side, 1.4))})
	}
	every := (len(r.Side) + alphaLines - 1) / alphaLines
	sh.caption = fmt.Sprintf("alpha / C of %d training points as C rises from %s to %s: 1 at the bound, 0 outside the margin.", len(r.Side), short(from), short(to))
	if every > 1 {
		sh.caption += fmt.Sprintf(" One point in %d has a line.", every)
	}
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		for i := 0; i < len(r.Side); i += every {
			s := style(r.Side[i], 0.9)
			s.Color = translucent(t.class(r.Side[i]), 0.55)
			ps := lists.Map(r.Steps, func(at ml.RegularisationStep) vg.Point { return m.at(axis.scaled(at.C), at.Alpha[i]/at.C) })
			e.line(s, 0, thin(ps)...)
		}
		tick := draw.LineStyle{Color: translucent(t.Ink, 0.6), Width: 0.8}
		const long = 7
		for k, next := range r.Steps[1:] {
			last := r.Steps[k]
			x := (axis.scaled(last.C) + axis.scaled(next.C)) / 2
			enters, bounds := false, false
			for i := range r.Side {
				enters = enters || (last.Alpha[i] == 0) != (next.Alpha[i] == 0)
				bounds = bounds || (last.Alpha[i] >= last.C) != (next.Alpha[i] >= next.C)
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
		e.rule(Rule{Name: "C", At: r.C, Upright: true}, axis, Axis{})
		e.write()
	})
	return sh.picture(), nil
}

// Regularised draws a regularisation path: test and training accuracy, and the fractions of the
// points that are support vectors or at their bound.
func Regularised(r *ml.Regularisation, f Format) (*Picture, error) {
	held, training := Curve{Name: "cross-validated accuracy"}, Curve{Name: "training accuracy"}
	vectors, bounded := Curve{Name: "support vectors"}, Curve{Name: "at the bound C"}
	n := float64(len(r.Rows))
	for _, s := range r.Steps {
		training.add(s.C, s.TrainAccuracy)
		vectors.add(s.C, float64(s.SupportVectors)/n)
		bounded.add(s.C, float64(s.Bounded)/n)
		if s.Accuracy != nil {
			held.add(s.C, *s.Accuracy)
			held.Lo, held.Hi = append(held.Lo, max(0, *s.Accuracy-*s.Deviation)), append(held.Hi, min(1, *s.Accuracy+*s.Deviation))
		}
	}
	curves := []Curve{held, training, vectors, bounded}
	if held.X == nil {
		curves = curves[1:]
	}
	return Chart{Format: f, X: Axis{Name: "C", Log: true}, Y: Axis{Name: "share of points", Min: -0.02, Max: 1.02}, Here: &r.C, Curves: curves}.Picture()
}

func (cu *Curve) add(x, y float64) { cu.X, cu.Y = append(cu.X, x), append(cu.Y, y) }
