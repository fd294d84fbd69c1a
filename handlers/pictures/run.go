package pictures

import (
	"context"
	"math"
	"net/url"
	"strconv"

	"marginlab/handlers/limiter"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views/figure"
)

// Compare returns ml.Compare for data with a hash, shared by their pictures.
func (a *Renderer) Compare(hash string) func(context.Context, kernel.Kernel, *dataset.Data) (*ml.Compared, error) {
	return func(ctx context.Context, k kernel.Kernel, d *dataset.Data) (*ml.Compared, error) {
		name, err := k.MarshalJSON()
		if err != nil {
			return nil, err
		}
		return limiter.Within(ctx, a.patience, "Choose a faster kernel, or smaller objects.", func(ctx context.Context) (*ml.Compared, error) {
			return a.compared.Get(ctx, hash+string(name), func(ctx context.Context) (*ml.Compared, error) { return ml.Compare(ctx, k, d) })
		})
	}
}

// Place holds a model's prediction at a place in its picture. It has no scores if there is no model
// or the picture does not show its inputs.
type Place struct {
	Class  string  `json:"class,omitempty"` // predicted class; empty for a regression
	Scores []Score `json:"scores"`
}

// Score is the value of one machine.
type Score struct {
	Name  string   `json:"name"`  // "f(x)", or the name of one of several machines
	Value *float64 `json:"value"` // null if not finite
}

// At returns the prediction of a run's model at a place in its main picture. The form gives the
// place; names are the fields of its coordinates.
func At(ctx context.Context, r figure.Run, form url.Values, names [2]string) (Place, error) {
	at, err := ReadPlace(form, names)
	if err != nil {
		return Place{}, err
	}
	p := Place{Scores: []Score{}}
	scores, err := r.At(ctx, at[0], at[1])
	if err != nil || scores == nil {
		return p, err
	}
	m := r.Result.Model
	for k, v := range scores {
		s := Score{Name: "f(x)"}
		if len(scores) > 1 {
			s.Name = m.ScoreNames()[k]
		}
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Value = &v
		}
		p.Scores = append(p.Scores, s)
	}
	if m.Rule != ml.Value {
		p.Class = m.LabelOf(scores...)
	}
	return p, nil
}

// ReadPlace reads two coordinates from the fields with these names.
func ReadPlace(form url.Values, names [2]string) (at [2]float64, err error) {
	for i, name := range names {
		if at[i], err = strconv.ParseFloat(form.Get(name), 64); err != nil || math.IsNaN(at[i]) || math.IsInf(at[i], 0) {
			return at, param.Problems{{Field: name, Message: name + " must be a number"}}
		}
	}
	return at, nil
}

// Run returns a finished run with its data for its figures. The query may choose the columns on
// the axes; the default is the run's own.
func (a *Renderer) Run(ctx context.Context, run store.Run, q url.Values, o Options) (figure.Run, error) {
	if run.Status != store.Done {
		return figure.Run{}, store.ErrNotFound
	}
	data, err := a.stored(ctx, run.Hash)
	if err != nil {
		return figure.Run{}, err
	}
	x, y := q.Get("x"), q.Get("y")
	if x == "" {
		x, y = run.Axes[0], run.Axes[1]
	}
	object, _ := strconv.Atoi(q.Get("near")) // 0: none
	return figure.Run{Data: data, Spec: run.Spec, Result: results.ResultOf(run), X: x, Y: y, Object: object, Compare: a.Compare(run.Hash), Look: o.Look()}, nil
}
