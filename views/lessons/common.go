package lessons

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/views/figure"
)

// Format is the size and theme of a drawing that is no Scene. The legend keeps
// the given number of rows, so that the frame stays where it is.
func (l Look) Format(rows int) figure.Format {
	return figure.Format{Dark: l.Dark, Width: l.Width, Height: l.Height, LegendRows: rows}
}

// toy is a small data set of a lesson: points of the plane with labels ±1.
type toy struct {
	xy [][2]float64
	y  []float64
}

// data is the toy as a data set with the classes -1 and 1.
func (t toy) data() (*dataset.Data, error) {
	labels := make([]string, len(t.y))
	for i, y := range t.y {
		labels[i] = strconv.Itoa(int(y))
	}
	return dataset.FromPoints(t.xy, labels)
}

// matrix is the M x 2 matrix of the points.
func (t toy) matrix() *mat.Dense {
	x := mat.NewDense(len(t.xy), 2, nil)
	for i, p := range t.xy {
		x.SetRow(i, p[:])
	}
	return x
}

// csv is the toy as the lab's points.
func (t toy) csv() string {
	var b strings.Builder
	for i, p := range t.xy {
		fmt.Fprintf(&b, "%g,%g,%g\n", p[0], p[1], t.y[i])
	}
	return b.String()
}

// lab is the query that opens the toy in the lab with these parameters, given as
// pairs of name and value.
func (t toy) lab(pairs ...string) string {
	return labQuery("drawing", append(pairs, "points", t.csv())...)
}

// labQuery is the query that opens a data set in the lab with these parameters,
// given as pairs of name and value.
func labQuery(data string, pairs ...string) string {
	q := url.Values{"data": {data}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

// dots are the points of a toy as marks of a drawing; ring tells which are ringed.
func (t toy) dots(ring func(i int) bool) (marks []figure.Mark) {
	for i, p := range t.xy {
		marks = append(marks, figure.Dot{At: p, Class: class(t.y[i]), Name: className(t.y[i])})
	}
	for i, p := range t.xy { // apart, for rings do not belong in the legend of a class
		if ring != nil && ring(i) {
			marks = append(marks, figure.Dot{At: p, Class: class(t.y[i]), Ring: true})
		}
	}
	return marks
}

// class is the colour and shape of a label.
func class(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

func className(y float64) string {
	if y > 0 {
		return "y = +1"
	}
	return "y = −1"
}

// newSpec is the default spec with these parameters, given as pairs of name and
// value. It does not standardise: lessons speak of the coordinates that they show.
func newSpec(pairs ...string) (ml.Spec, error) {
	s := ml.DefaultSpec()
	s.Standardize = false
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// fit trains on a data set with these parameters, given as pairs of name and value.
func fit(ctx context.Context, d *dataset.Data, pairs ...string) (*ml.Result, ml.Spec, error) {
	s, err := newSpec(pairs...)
	if err != nil {
		return nil, s, err
	}
	res, err := ml.Train(ctx, d, s, nil)
	return res, s, err
}

// boundary is the picture of a trained model on its data.
func boundary(name, caption string, m *ml.Model, d *dataset.Data, s ml.Spec, change func(*figure.Scene)) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		points, err := m.Points(d, s)
		if err != nil {
			return nil, err
		}
		v, ok := m.View()
		if !ok {
			cols, err := d.Columns(m.Features)
			if err != nil {
				return nil, err
			}
			if v, err = dataset.ColumnView(cols, cols.Features[0], cols.Features[1]); err != nil {
				return nil, err
			}
		}
		sc := figure.Scene{Model: m, Points: points, View: v, Classes: d.Classes, Dark: l.Dark, Width: l.Width, Height: l.Height, LegendRows: 2}
		if l.Coarse {
			sc.Grid = 80
		}
		if change != nil {
			change(&sc)
		}
		return figure.Boundary(sc)
	}}
}

func norm(w [2]float64) float64 { return math.Hypot(w[0], w[1]) }

// yes is 0 for true and 1 for false: the index of the answers "yes" and "no".
func yes(b bool) float64 {
	if b {
		return 0
	}
	return 1
}
