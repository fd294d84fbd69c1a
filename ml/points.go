package ml

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
)

// Role is the role of a training point in a model.
type Role string

// The roles. The MCM uses only Support and None, a learner that fits targets only Weighted and None.
const (
	None          Role = ""              // weight zero
	Free          Role = "free"          // 0 < alpha < C: on the margin
	Inside        Role = "inside"        // alpha = C, slack at most 1: inside the margin
	Misclassified Role = "misclassified" // alpha = C, slack above 1: on the wrong side
	Support       Role = "support"       // nonzero weight, for learners without free and bounded ones
	Weighted      Role = "weighted"      // nonzero weight, for learners where every training point has one
)

// Point is one row of the data as a trained model sees it.
type Point struct {
	Row       int
	X         []float64 // the model's features in original units, imputed; nil: no coordinates
	Label     string
	Predicted string    // label, empty under Value
	Scores    []float64 // f of each machine
	Weight    float64   // u: alpha y, or lambda; of several machines the largest in magnitude
	Role      Role      // of several machines: Support, or Weighted, in any of them
	Core      bool      // a core of a conformal map
	HeldOut   bool
	Wrong     bool // predicted as another class

	// Under Sign and Value there is one score:
	Y float64 // ±1, or the value
	F float64 // f(x)

	// Only under Sign:
	Margin float64 // y f(x)
	Slack  float64 // max(0, 1 - y f(x))
}

// Points describes every row of the data set that m was trained on. spec must be the spec of the
// training, because it determines the split.
func (m *Model) Points(d *dataset.Data, spec Spec) ([]Point, error) {
	ctx := context.Background()
	scores, err := m.scoresOn(ctx, d)
	if err != nil {
		return nil, err
	}
	return m.points(ctx, d, spec, scores)
}

// points is Points with a context and the scores of all rows.
func (m *Model) points(ctx context.Context, d *dataset.Data, spec Spec, scores *mat.Dense) ([]Point, error) {
	var x *mat.Dense
	if d.Objects == nil {
		var err error
		if x, err = m.columns(d); err != nil {
			return nil, err
		}
	}
	target, err := TargetOf(d, spec)
	if err != nil {
		return nil, err
	}
	if n, _ := scores.Dims(); n != d.Len() {
		return nil, fmt.Errorf("the model was trained on data of %d rows, not %d", n, d.Len())
	}
	ps := make([]Point, d.Len())
	const block = 4096 // rows between checks of ctx
	for i := range ps {
		if i%block == block-1 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		f, label := scores.RawRowView(i), d.Classes[d.Y[i]]
		class := m.Class(f)
		p := Point{Row: i, Label: label, Predicted: m.class(class), Scores: f, Wrong: m.Rule != Value && class != m.ClassOf(label)}
		if m.Rule == Sign {
			p.Y, p.F = float64(2*m.ClassOf(label)-1), f[0]
			p.Margin = p.Y * p.F
			p.Slack = math.Max(0, 1-p.Margin)
		}
		if m.Rule == Value {
			p.Y, p.F = target.Values[i], f[0]
		}
		if x != nil {
			p.X = x.RawRowView(i)
		}
		ps[i] = p
	}
	_, test := dataset.Split(target.Strata(), spec.TestFraction, spec.Seed)
	for _, i := range test {
		ps[i].HeldOut = true
	}
	for _, machine := range m.Machines {
		for _, i := range slices.Concat(m.Supports.Rows, machine.CoreRows) {
			if i >= len(ps) {
				return nil, fmt.Errorf("the model was trained on row %d, but the data have %d rows", i, len(ps))
			}
		}
		for _, i := range machine.CoreRows {
			ps[i].Core = true
		}
		for k, i := range m.Supports.Rows {
			if u := machine.Coef[k]; math.Abs(u) > math.Abs(ps[i].Weight) {
				ps[i].Weight = u
			}
		}
		for _, k := range supports(machine.Coef) {
			p := &ps[m.Supports.Rows[k]]
			p.Role = spec.role(m.Rule, machine.Coef[k], p.Slack)
		}
	}
	return ps, nil
}

// role classifies a point by its coefficient and slack.
func (s Spec) role(rule Rule, u, slack float64) Role {
	learner, err := lookup(s.Learner)
	switch {
	case err == nil && learner.Targets:
		return Weighted
	case err != nil || !learner.Box || rule != Sign:
		return Support
	case math.Abs(u) < s.penalty():
		return Free
	case slack > 1:
		return Misclassified
	}
	return Inside
}
