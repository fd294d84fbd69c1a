package ml

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// Limits and parameters of Sense.
const (
	MostRemovals = 200               // support vectors left out, one at a time
	Resamples    = 30                // bootstrap samples
	MostSensed   = 2 * MaxRegularise // rows, including held-out ones

	senseTol       = 1e-5 // tight, so that movements exceed the error of the solver
	senseGrid      = 64   // grid points along each axis
	sensePerDecade = 8    // steps of C and gamma per decade; the search spans one decade
	senseHalves    = 6    // bisections of the step in which a prediction flips
	senseStream    = 0x5e45
)

// Sensitivity describes how a trained machine reacts to changes of its settings and training set.
// Scaling and kernel stay as fitted, except for gamma when it is varied.
type Sensitivity struct {
	C       float64   `json:"C"`
	Gamma   *float64  `json:"gamma,omitempty"` // if the kernel has one
	Classes [2]string `json:"classes"`         // the negative one, the positive one

	HeldOut bool   `json:"held_out"` // flips are searched in the test set; otherwise in the training set
	Judged  int    `json:"judged"`   // number of rows examined for flips
	Flips   []Flip `json:"flips"`

	// The movement of a boundary is the fraction of places whose predicted class changes. The
	// places are a grid over the range of the data if the model has a plane, otherwise the rows.
	Plane  bool `json:"plane"`
	Places int  `json:"places"`

	SupportVectors int       `json:"support_vectors"`
	Removals       []Removal `json:"removals"` // in descending order of Moved

	Samples   []float64 `json:"samples"`   // movement of the boundary for each bootstrap sample
	Agreement []float64 `json:"agreement"` // for every row, the fraction of samples that agree with the model

	Model   *Model   `json:"-"` // the original machine
	Sampled []*Model `json:"-"` // the machines of the bootstrap samples, if the model has a view
}

// Flip is the smallest change of a parameter in one direction that changes a prediction, found in
// steps of a factor of 10^(1/8) and bisected to half a per cent.
type Flip struct {
	Parameter string  `json:"parameter"` // "C" or "gamma"
	From      float64 `json:"from"`
	To        float64 `json:"to"`  // value at which a prediction changes, or the end of the search, before a decade if a training failed
	Row       int     `json:"row"` // the first row that changes, from 1; 0: none up to To
	Rows      int     `json:"rows"`
	Was       string  `json:"was,omitempty"`
	Becomes   string  `json:"becomes,omitempty"`
}

// Removal is the effect of training without one support vector.
type Removal struct {
	Row     int     `json:"row"` // from 1
	Label   string  `json:"label"`
	Alpha   float64 `json:"alpha"`
	Moved   float64 `json:"moved"`          // movement of the boundary
	Changed int     `json:"changed"`        // changed predictions among the judged rows
	Only    bool    `json:"only,omitempty"` // the only training row of its class: there is no boundary without it, so Moved is 1 and Changed is Judged
}

// Sense computes the sensitivity of the machine that Train returns for spec on d: the smallest
// changes of C and gamma that flip a prediction, and the movement of the boundary without each of
// the support vectors with the largest alpha and for bootstrap samples of the training set. recorder,
// which may be nil, receives every training. spec and d must satisfy HasRegularisation, with a
// positive semidefinite kernel and at most MostSensed rows. Sense returns the errors of Regularise.
func Sense(ctx context.Context, d *dataset.Data, spec Spec, recorder trace.Recorder) (*Sensitivity, error) {
	p, err := prepare(d, spec)
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.rows) > MaxRegularise:
		return nil, param.Refuse("hold out more rows", "sensitivity is computed for at most %d training rows, not %d", MaxRegularise, len(p.rows))
	case !HasRegularisation(spec, len(p.rows)):
		return nil, param.Refuse("use an SVM with a finite C and without a conformal map", "sensitivity is not computed for %s", spec.Name(nil))
	case len(p.target.Class) > MostSensed:
		return nil, param.Refuse("use fewer rows", "sensitivity is computed for at most %d rows, including test rows, not %d", MostSensed, len(p.target.Class))
	case !p.kernel.Definite():
		return nil, param.Refuse("use another kernel", "sensitivity needs a positive semidefinite kernel: with this kernel the solution may jump")
	case p.target.Rule != Sign:
		return nil, param.Refuse("choose a positive class", "sensitivity needs two classes, not %d", len(p.target.Classes))
	}
	n := len(p.target.Class)
	s := &sensitivityRun{
		p: p, spec: spec, y: make([]float64, n), weight: make([]float64, n), judged: p.test, recorder: recorder, began: time.Now(),
		settings: svm.Settings{C: spec.Values.Number("C"), Tol: min(senseTol, spec.Values.Number("tol")), MaxIter: spec.Values.Int("max_iter"), CacheBytes: judgeCache},
	}
	for i, class := range p.target.Class {
		s.y[i] = float64(2*class - 1)
	}
	for _, i := range p.rows {
		s.weight[i] = 1
	}
	if len(p.test) == 0 {
		s.judged = p.rows
	}
	if s.k, err = s.matrix(ctx, p); err != nil {
		return nil, err
	}
	if s.base, err = s.train(ctx, s.k); err != nil {
		return nil, err
	}
	r := &Sensitivity{C: s.settings.C, Classes: [2]string(p.target.Classes), HeldOut: len(p.test) > 0, Judged: len(s.judged)}
	r.Model = s.model(s.base)
	s.setPlaces(r)
	vectors := s.supportVectors()
	r.SupportVectors = len(vectors)
	vectors = vectors[:min(len(vectors), MostRemovals)]
	parameters := []string{"C"}
	if g := p.kernel.Values; g.Has("gamma") && g["gamma"].IsNumber() && g.Number("gamma") > 0 {
		gamma := g.Number("gamma")
		r.Gamma, parameters = &gamma, append(parameters, "gamma")
	}
	s.total = len(parameters)*2*(sensePerDecade+senseHalves) + len(vectors) + Resamples

	for _, name := range parameters {
		for _, up := range []bool{true, false} {
			f, err := s.flip(ctx, name, up)
			if err != nil {
				return nil, err
			}
			r.Flips = append(r.Flips, f)
		}
	}
	for _, i := range vectors {
		removal, err := s.remove(ctx, i)
		if err != nil {
			return nil, err
		}
		r.Removals = append(r.Removals, removal)
	}
	slices.SortStableFunc(r.Removals, func(a, b Removal) int {
		return cmp.Or(cmp.Compare(b.Moved, a.Moved), cmp.Compare(b.Changed, a.Changed), cmp.Compare(a.Row, b.Row))
	})
	return r, s.resample(ctx, r)
}

// sensitivityRun is the state of Sense.
type sensitivityRun struct {
	p        *problem
	spec     Spec
	k        svm.Matrix // of all rows
	y        []float64  // of all rows
	weight   []float64  // 1 for training rows, else 0
	judged   []int      // rows examined for flips
	settings svm.Settings
	base     *svm.Result

	view   *dataset.View // the plane; nil: places are rows
	ss, ts []float64     // the grid
	places []bool        // whether the base machine predicts the positive class, by place

	recorder    trace.Recorder
	began       time.Time
	done, total int
}

// matrix returns the kernel matrix of all rows for the kernel of p.
func (s *sensitivityRun) matrix(ctx context.Context, p *problem) (svm.Matrix, error) {
	k, err := p.gram(ctx, p.data)
	if err != nil {
		return nil, err
	}
	return svm.Tabulated(ctx, k, judgeCache)
}

// train trains the base machine.
func (s *sensitivityRun) train(ctx context.Context, k svm.Matrix) (*svm.Result, error) {
	res, err := svm.HeldOut(ctx, k, s.y, s.p.test, []float64{s.settings.C}, s.settings)
	if err != nil {
		return nil, err
	}
	return res[0], checkConverged(ctx, res[0])
}

// retrain trains with the given C and weights of the rows, starting from another result.
func (s *sensitivityRun) retrain(ctx context.Context, k svm.Matrix, from *svm.Result, c float64, weight []float64) (*svm.Result, error) {
	settings := s.settings
	settings.C = c
	res, err := svm.Reweigh(ctx, k, s.y, from.Alpha, weight, settings)
	if err != nil {
		return nil, err
	}
	return res, checkConverged(ctx, res)
}

// checkConverged returns ctx.Err(), or an error if a training did not converge.
func checkConverged(ctx context.Context, res *svm.Result) error {
	if err := ctx.Err(); err != nil || res.Status == trace.Converged {
		return err
	}
	return param.Refuse(svm.Remedy(res.Status), "a training did not converge (%s), so the change cannot be measured", res.Status)
}

// report reports progress after a training.
func (s *sensitivityRun) report(phase string, trainings int) {
	s.done += trainings
	if s.recorder != nil {
		s.recorder(trace.Step{Phase: phase, Done: s.done, Trainings: s.total, Left: trace.AtPace(time.Since(s.began), s.done, s.total-s.done)})
	}
}

func (s *sensitivityRun) model(res *svm.Result) *Model {
	sol := &solution{u: make([]float64, len(s.p.rows)), b: res.B}
	for a, i := range s.p.rows {
		sol.u[a] = res.Alpha[i] * s.y[i]
	}
	return s.p.model([]*fitted{{solution: sol}})
}

// setPlaces sets the places where boundaries are compared.
func (s *sensitivityRun) setPlaces(r *Sensitivity) {
	if v, ok := r.Model.View(); ok && len(r.Model.Features) > 1 {
		s.view = &v
		var at [2][]float64
		n, _ := s.p.data.X.Dims()
		for i := range n {
			x, y := v.Point(s.p.data.X.RawRowView(i))
			at[0], at[1] = append(at[0], x), append(at[1], y)
		}
		axis := func(v []float64) []float64 {
			grid := make([]float64, senseGrid)
			low, high := slices.Min(v), slices.Max(v)
			for i := range grid {
				grid[i] = low + (high-low)*float64(i)/(senseGrid-1)
			}
			return grid
		}
		s.ss, s.ts = axis(at[0]), axis(at[1])
	}
	s.places = s.sides(r.Model, s.base)
	r.Plane, r.Places = s.view != nil, len(s.places)
}

// sides returns, for every place, whether a machine predicts the positive class.
func (s *sensitivityRun) sides(m *Model, res *svm.Result) []bool {
	f := res.F
	if s.view != nil {
		scores, _, _ := m.Surface(context.Background(), *s.view, s.ss, s.ts) // of few rows: done at once
		f = scores[0]
	}
	return lists.Map(f, func(v float64) bool { return v >= 0 })
}

// moved returns the movement of a machine's boundary.
func (s *sensitivityRun) moved(m *Model, res *svm.Result) float64 {
	sides := s.sides(m, res)
	moved := lists.Where(len(sides), func(i int) bool { return sides[i] != s.places[i] })
	return float64(len(moved)) / float64(len(s.places))
}

// changed returns the judged rows that res predicts differently from the base machine, in the order
// of the data.
func (s *sensitivityRun) changed(res *svm.Result) []int {
	rows := lists.Filter(s.judged, func(i int) bool { return (res.F[i] >= 0) != (s.base.F[i] >= 0) })
	slices.Sort(rows)
	return rows
}

// supportVectors returns the support vectors in descending order of alpha, then of slack.
func (s *sensitivityRun) supportVectors() []int {
	rows := lists.Where(len(s.base.Alpha), func(i int) bool { return s.base.Alpha[i] > 0 })
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.base.Alpha[b], s.base.Alpha[a]), cmp.Compare(s.y[a]*s.base.F[a], s.y[b]*s.base.F[b]))
	})
	return rows
}

// flip finds the smallest change of a parameter that flips a prediction. It stops if a training
// fails.
func (s *sensitivityRun) flip(ctx context.Context, name string, up bool) (Flip, error) {
	from := s.settings.C
	if name == "gamma" {
		from = s.p.kernel.Values.Number("gamma")
	}
	at := func(steps float64) float64 { // steps of the search from the base
		if !up {
			steps = -steps
		}
		return from * math.Pow(10, steps/sensePerDecade)
	}
	last := s.base
	solve := func(value float64) (*svm.Result, error) {
		defer s.report("along "+name, 1)
		if name == "C" {
			return s.retrain(ctx, s.k, last, value, s.weight)
		}
		q := *s.p
		q.kernel.Values = q.kernel.Values.With("gamma", param.Of(value))
		k, err := s.matrix(ctx, &q)
		if err != nil {
			return nil, err
		}
		return s.retrain(ctx, k, last, s.settings.C, s.weight)
	}
	f := Flip{Parameter: name, From: from, To: at(sensePerDecade)}
	for step := range sensePerDecade {
		res, err := solve(at(float64(step + 1)))
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		if err != nil {
			s.done += sensePerDecade - 1 - step
			f.To = at(float64(step))
			break
		}
		if len(s.changed(res)) == 0 {
			last = res
			continue
		}
		s.done += sensePerDecade - 1 - step
		same, differs := float64(step), float64(step+1)
		for half := range senseHalves {
			middle := (same + differs) / 2
			between, err := solve(at(middle))
			if ctx.Err() != nil {
				return f, ctx.Err()
			}
			if err != nil {
				s.done += senseHalves - 1 - half
				break
			}
			if len(s.changed(between)) == 0 {
				same, last = middle, between
			} else {
				differs, res = middle, between
			}
		}
		rows := s.changed(res)
		f.To, f.Row, f.Rows = at(differs), rows[0]+1, len(rows)
		f.Was, f.Becomes = s.class(s.base.F[rows[0]]), s.class(res.F[rows[0]])
		return f, nil
	}
	s.done += senseHalves
	return f, nil
}

func (s *sensitivityRun) class(f float64) string {
	if f >= 0 {
		return s.p.target.Classes[1]
	}
	return s.p.target.Classes[0]
}

// remove trains without a support vector, unless it is the only training row of its class.
func (s *sensitivityRun) remove(ctx context.Context, i int) (Removal, error) {
	defer s.report("without one support vector", 1)
	r := Removal{Row: i + 1, Label: s.p.target.Classes[s.p.target.Class[i]], Alpha: s.base.Alpha[i], Moved: 1, Changed: len(s.judged)}
	weight := slices.Clone(s.weight)
	if weight[i] = 0; !s.both(weight) {
		r.Only = true
		return r, nil
	}
	res, err := s.retrain(ctx, s.k, s.base, s.settings.C, weight)
	if err != nil {
		return r, err
	}
	r.Moved, r.Changed = s.moved(s.model(res), res), len(s.changed(res))
	return r, nil
}

// both reports whether both classes have positive weight.
func (s *sensitivityRun) both(weight []float64) bool {
	var there [2]bool
	for i, w := range weight {
		there[s.p.target.Class[i]] = there[s.p.target.Class[i]] || w > 0
	}
	return there[0] && there[1]
}

// resample trains on bootstrap samples of the training set. It draws a sample again until both
// classes occur.
func (s *sensitivityRun) resample(ctx context.Context, r *Sensitivity) error {
	random := rand.New(rand.NewPCG(s.spec.Seed, senseStream))
	r.Agreement = make([]float64, len(s.y))
	for k := range Resamples {
		weight := make([]float64, len(s.y))
		for !s.both(weight) {
			clear(weight)
			for range s.p.rows {
				weight[s.p.rows[random.IntN(len(s.p.rows))]]++
			}
		}
		res, err := s.retrain(ctx, s.k, s.base, s.settings.C, weight)
		if err != nil {
			return err
		}
		m := s.model(res)
		r.Samples = append(r.Samples, s.moved(m, res))
		if _, ok := r.Model.View(); ok {
			r.Sampled = append(r.Sampled, m)
		}
		for i, f := range res.F {
			if (f >= 0) == (s.base.F[i] >= 0) {
				r.Agreement[i] += 1.0 / Resamples
			}
		}
		s.report(fmt.Sprintf("bootstrap sample %d of %d", k+1, Resamples), 1)
	}
	return nil
}
