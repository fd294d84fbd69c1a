package lessons

import (
	"context"
	"math"
	"net/url"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
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
func NewSpec(pairs ...string) ml.Spec {
	s := ml.DefaultSpec()
	s.Standardize = false
	for i := 0; i+1 < len(pairs); i += 2 {
		Check(s.Set(pairs[i], pairs[i+1]))
	}
	return s
}

// Train is ml.Train with a cancelled training as an error: partial results are not shown.
func Train(ctx context.Context, d *dataset.Data, s ml.Spec) *ml.Result {
	res := Must(ml.Train(ctx, d, s, nil))
	Check(ctx.Err())
	return res
}

// Fitted is the result of a training with what it was trained on.
type Fitted struct {
	*ml.Result
	Data *dataset.Data
	Spec ml.Spec
}

// Fit trains on a data set with these parameters, given as pairs of name and value.
func Fit(ctx context.Context, d *dataset.Data, pairs ...string) *Fitted {
	s := NewSpec(pairs...)
	return &Fitted{Train(ctx, d, s), d, s}
}

// Points describes the rows used for training.
func (f *Fitted) Points() []ml.Point { return Must(f.Model.Points(f.Data, f.Spec)) }

// Coefficients returns the coefficient of every row in the only machine: 0 for rows that are not
// support vectors.
func (f *Fitted) Coefficients() []float64 {
	u := make([]float64, f.Data.Len())
	for k, row := range f.Model.Supports.Rows {
		u[row] = f.Model.Machines[0].Coef[k]
	}
	return u
}

// Boundary returns the picture of the model on its data.
func (f *Fitted) Boundary(name, caption string, change func(*figure.Scene)) Figure {
	return Boundary(name, caption, f.Model, f.Data, f.Spec, change)
}

// LinearMachine is a linear machine with the points that it was trained on.
type LinearMachine struct {
	*Fitted
	Points []ml.Point // in the order of the toy
	W      [2]float64
	B      float64
}

// TrainLinear trains the linear machine of a toy.
func TrainLinear(ctx context.Context, t Toy, pairs ...string) *LinearMachine {
	f := Fit(ctx, t.Data(), append([]string{"kernel", "linear", "tol", "1e-6"}, pairs...)...)
	w, b, _ := f.Model.Linear()
	return &LinearMachine{Fitted: f, Points: f.Points(), W: [2]float64(w), B: b}
}

// TrainHard trains the hard-margin SVM of a toy, to more digits than TrainLinear.
func TrainHard(ctx context.Context, t Toy) *LinearMachine {
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

// Parts generates objects and returns the first n of them, to train on, and the others.
func Parts(generator string, values param.Values, n int) (train, rest *dataset.Data) {
	d := Must(Must(dataset.FindGenerator(generator)).Generate(values))
	rows := dataset.Indices(d.Len())
	return d.Subset(rows[:n]), d.Subset(rows[n:])
}

// FreshSeed is a seed for test points that no training set of a lesson uses.
const FreshSeed = 1 << 20

// FreshMoons returns moons that no machine was trained on.
func FreshMoons(n int, noise float64) *dataset.Data {
	return Drawn("moons", n, noise, FreshSeed).Data()
}

// ErrorRate returns the fraction of rows that a model misclassifies.
func ErrorRate(m *ml.Model, d *dataset.Data) float64 {
	return 1 - Must(m.Accuracy(d))
}

// LoadData returns a built-in data set, or one of the toys: "separable" or "overlap".
func LoadData(name string) *dataset.Data {
	switch name {
	case "separable":
		return Separable.Data()
	case "overlap":
		return Overlapping.Data()
	}
	b, ok := dataset.FindBuiltin(name)
	if !ok {
		panic(Failf("lessons: there is no data set %q; choose one from the list", name))
	}
	return Must(b.Load())
}

// Boundary returns the picture of a trained model on its data.
func Boundary(name, caption string, m *ml.Model, d *dataset.Data, s ml.Spec, change func(*figure.Scene)) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		points := Must(m.Points(d, s))
		v, ok := m.View()
		if !ok {
			cols := Must(d.Columns(m.Features))
			v = Must(dataset.ColumnView(cols, cols.Features[0], cols.Features[1]))
		}
		sc := l.Scene(m, points, v, d.Classes, 2)
		sc.Waits = l.Asking
		if change != nil {
			change(&sc)
		}
		return figure.Boundary(l.Context(), sc)
	}}
}
