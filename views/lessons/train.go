package lessons

import (
	"context"
	"fmt"
	"math"
	"net/url"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/views/figure"
)

// LabQuery returns the query that opens a data set in the lab with these parameters, given as
// pairs of name and value.
func LabQuery(data string, pairs ...string) string {
	q := url.Values{"data": {data}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

// NewSpec returns the default spec with these parameters, given as pairs of name and value. It
// does not standardise, since lessons refer to the displayed coordinates.
func NewSpec(pairs ...string) (ml.Spec, error) {
	s := ml.DefaultSpec()
	s.Standardize = false
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Train is ml.Train with a cancelled training as an error: partial results are not shown.
func Train(ctx context.Context, d *dataset.Data, s ml.Spec) (*ml.Result, error) {
	res, err := ml.Train(ctx, d, s, nil)
	if err == nil {
		err = ctx.Err()
	}
	return res, err
}

// Fit trains on a data set with these parameters, given as pairs of name and value.
func Fit(ctx context.Context, d *dataset.Data, pairs ...string) (*ml.Result, ml.Spec, error) {
	s, err := NewSpec(pairs...)
	if err != nil {
		return nil, s, err
	}
	res, err := Train(ctx, d, s)
	return res, s, err
}

// LinearMachine is a linear machine with the points that it was trained on.
type LinearMachine struct {
	*ml.Result
	Spec   ml.Spec
	Data   *dataset.Data
	Points []ml.Point // in the order of the toy
	W      [2]float64
	B      float64
}

// TrainLinear trains the linear machine of a toy.
func TrainLinear(ctx context.Context, t Toy, pairs ...string) (*LinearMachine, error) {
	d, err := t.Data()
	if err != nil {
		return nil, err
	}
	res, spec, err := Fit(ctx, d, append([]string{"kernel", "linear", "tol", "1e-6"}, pairs...)...)
	if err != nil {
		return nil, err
	}
	m := &LinearMachine{Result: res, Spec: spec, Data: d}
	w, b, _ := res.Model.Linear()
	m.W, m.B = [2]float64{w[0], w[1]}, b
	m.Points, err = res.Model.Points(d, spec)
	return m, err
}

// TrainHard trains the hard-margin SVM of a toy, to more digits than TrainLinear.
func TrainHard(ctx context.Context, t Toy) (*LinearMachine, error) {
	return TrainLinear(ctx, t, "hard_margin", "true", "tol", "1e-8")
}

// Supports reports whether a point is a support vector.
func (m *LinearMachine) Supports(i int) bool { return m.Points[i].Weight != 0 }

// AlphaSum returns the sum of all alpha.
func (m *LinearMachine) AlphaSum() (sum float64) {
	for _, p := range m.Points {
		sum += math.Abs(p.Weight)
	}
	return sum
}

// FreshSeed is a seed for test points that no training set of a lesson uses.
const FreshSeed = 1 << 20

// FreshMoons returns moons that no machine was trained on.
func FreshMoons(n int, noise float64) (*dataset.Data, error) {
	t, err := Drawn("moons", n, noise, FreshSeed)
	if err != nil {
		return nil, err
	}
	return t.Data()
}

// ErrorRate returns the fraction of rows that a model misclassifies.
func ErrorRate(m *ml.Model, d *dataset.Data) (float64, error) {
	a, err := m.Accuracy(d)
	return 1 - a, err
}

// SelectRows are some rows of a data set, in the order given.
func SelectRows(d *dataset.Data, rows []int) *dataset.Data {
	out := &dataset.Data{Features: d.Features, Label: d.Label, Classes: d.Classes, X: mat.NewDense(len(rows), len(d.Features), nil), Y: make([]int, len(rows))}
	for k, i := range rows {
		out.X.SetRow(k, d.X.RawRowView(i))
		out.Y[k] = d.Y[i]
	}
	return out
}

// LoadData returns a built-in data set, or one of the toys: "separable" or "overlap".
func LoadData(name string) (*dataset.Data, error) {
	switch name {
	case "separable":
		return Separable.Data()
	case "overlap":
		return Overlapping.Data()
	}
	b, ok := dataset.FindBuiltin(name)
	if !ok {
		return nil, fmt.Errorf("lessons: there is no data set %q; choose one of the list", name)
	}
	return b.Load()
}

// Boundary returns the picture of a trained model on its data.
func Boundary(name, caption string, m *ml.Model, d *dataset.Data, s ml.Spec, change func(*figure.Scene)) Figure {
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
		sc := l.Scene(m, points, v, d.Classes, 2)
		sc.Waits = l.Asking
		if change != nil {
			change(&sc)
		}
		return figure.Boundary(sc)
	}}
}
