package ml

import (
	"fmt"
	"math"
	"slices"

	"marginlab/ml/dataset"
)

// Role is the part a training point plays in a model.
type Role string

// The roles. An MCM has only Support and None.
const (
	None          Role = ""              // weight zero
	Free          Role = "free"          // 0 < alpha < C: on the margin
	Inside        Role = "inside"        // alpha = C, slack at most 1: inside the margin
	Misclassified Role = "misclassified" // alpha = C, slack above 1: on the wrong side
	Support       Role = "support"       // weight not zero, where no box tells the kinds apart
)

// Point is one row of the data as a trained model sees it.
type Point struct {
	Row     int
	X       []float64 // original units, the model's features
	Label   string
	Y       float64 // ±1
	F       float64 // f(x)
	Margin  float64 // y f(x)
	Slack   float64 // max(0, 1 - y f(x))
	Weight  float64 // u: alpha y, or lambda
	Role    Role
	Core    bool // a core of the conformal map
	HeldOut bool
	Wrong   bool // predicted on the other side
}

// Points tells, for every row of the data set that m was trained on, what part
// it plays. spec must be the one that m was trained with: it repeats the split.
func (m *Model) Points(d *dataset.Data, spec Spec) ([]Point, error) {
	cols, err := d.Columns(m.Features)
	if err != nil {
		return nil, err
	}
	y, _, _, err := d.Binary(m.Positive)
	if err != nil {
		return nil, err
	}
	f := m.Decisions(cols.X)
	ps := make([]Point, len(y))
	for i := range ps {
		ps[i] = Point{
			Row: i, X: cols.X.RawRowView(i), Label: d.Classes[d.Y[i]], Y: y[i], F: f[i], Margin: y[i] * f[i],
			Slack: math.Max(0, 1-y[i]*f[i]), Wrong: (f[i] >= 0) != (y[i] > 0),
		}
	}
	for _, i := range slices.Concat(m.Rows, m.CoreRows) {
		if i < 0 || i >= len(ps) {
			return nil, fmt.Errorf("the model was trained on row %d of its data, these have %d rows", i, len(ps))
		}
	}
	_, test := dataset.Split(y, spec.TestFraction, spec.Seed)
	for _, i := range test {
		ps[i].HeldOut = true
	}
	for _, i := range m.CoreRows {
		ps[i].Core = true
	}
	for _, k := range supports(m.Coef) {
		p := &ps[m.Rows[k]]
		p.Role = spec.role(m.Coef[k], p.Slack)
	}
	for k, i := range m.Rows {
		ps[i].Weight = m.Coef[k]
	}
	return ps, nil
}

// role tells the kinds of support vectors apart.
func (s Spec) role(u, slack float64) Role {
	switch {
	case s.Learner != "svm":
		return Support
	case math.Abs(u) < s.penalty()*(1-1e-12):
		return Free
	case slack > 1:
		return Misclassified
	}
	return Inside
}
