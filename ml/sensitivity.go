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
	MostSensed   = 2 * MaxRegularise // rows, held-out ones included

	senseTol    = 1e-5 // tight, so that movements are not the solver's slack
	senseGrid   = 64   // grid points along each axis
	senseDecade = 8    // steps of C and gamma per decade; the search spans one
	senseHalves = 6    // bisections of the step in which a prediction flips
	senseStream = 0x5e45
)

// Sensitivity describes what would change the result of a training. Scaling and kernel stay as
// fitted, except for gamma when it is varied; every machine is trained again to the optimum.
type Sensitivity struct {
	C       float64   `json:"C"`
	Gamma   *float64  `json:"gamma,omitempty"` // if the kernel has one
	Classes [2]string `json:"classes"`         // the negative one, the positive one

	HeldOut bool   `json:"held_out"` // flips are looked for among held-out rows; otherwise in the training set
	Judged  int    `json:"judged"`   // number of rows examined for flips
	Flips   []Flip `json:"flips"`

	// The movement of a boundary is the fraction of places whose predicted class changes: of a
	// grid over the range of the data if the model has a plane, otherwise of the rows.
	Plane  bool `json:"plane"`
	Places int  `json:"places"`

	SupportVectors int       `json:"support_vectors"`
	Removals       []Removal `json:"removals"` // those tried, in descending order of Moved

	Samples   []float64 `json:"samples"`   // movement of the boundary for each bootstrap sample
	Agreement []float64 `json:"agreement"` // for every row, the fraction of samples that agree with the model

	Model   *Model   `json:"-"` // the machine compared with
	Sampled []*Model `json:"-"` // the machines of the samples, if there is a plane to draw them on
}

// Flip is the smallest change of a parameter in one direction that changes a prediction, found in
// steps of a factor of 10^(1/8) and bisected to half a per cent.
type Flip struct {
	Parameter string  `json:"parameter"` // "C" or "gamma"
	From      float64 `json:"from"`
	To        float64 `json:"to"`  // value at which a prediction changes; the end of the search if none does
	Row       int     `json:"row"` // the first row that changes, from 1; 0: none up to To, less than a decade away if a training failed
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
	Only    bool    `json:"only,omitempty"` // the only row of its class that is trained on: no boundary without it, Moved is 1 and Changed all
}

// Sense computes what would change the result that Train has for spec on d: the nearest flips of
// a prediction along C and gamma, how far the boundary moves without each of the support vectors
// of largest alpha, and how far under bootstrap samples of the training rows. recorder, which may be
// nil, receives every training. It takes what HasRegularisation allows, of up to MostSensed rows in all,
// with a kernel that is positive semidefinite, and returns the errors of Regularise.
func Sense(ctx context.Context, d *dataset.Data, spec Spec, recorder trace.Recorder) (*Sensitivity, error) {
	p, err := prepare(d, spec)
	if err != nil {
		return nil, err
	}
	switch {
	case len(p.rows) > MaxRegularise:
		return nil, param.Refuse("hold out more rows", "sensitivity is computed for at most %d training rows, not %d", MaxRegularise, len(p.rows))
	case !HasRegularisation(spec, len(p.rows)):
		return nil, param.Refuse("use an SVM with a finite C and without a conformal map", "sensitivity is not computed for %s", spec.Title())
	case len(p.target.Class) > MostSensed:
		return nil, param.Refuse("use fewer rows", "sensitivity is computed for at most %d rows, including test rows, not %d", MostSensed, len(p.target.Class))
	case !p.kernel.Definite():
		return nil, param.Refuse("use another kernel", "sensitivity needs a positive semidefinite kernel: with this kernel the solution may jump")
	case p.target.Rule != Sign:
		return nil, param.Refuse("choose a positive class", "sensitivity needs two classes, not %d", len(p.target.Classes))
	}
	n := len(p.target.Class)
	s := &sensing{
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
	if s.base, err = s.first(ctx, s.k); err != nil {
		return nil, err
	}
	r := &Sensitivity{C: s.settings.C, Classes: [2]string(p.target.Classes), HeldOut: len(p.test) > 0, Judged: len(s.judged)}
	r.Model = s.model(s.base)
	s.lay(r)
	vectors := s.strongest()
	r.SupportVectors = len(vectors)
	vectors = vectors[:min(len(vectors), MostRemovals)]
	parameters := []string{"C"}
	if g := p.kernel.Values; g.Has("gamma") && g["gamma"].IsNumber() && g.Number("gamma") > 0 {
		gamma := g.Number("gamma")
		r.Gamma, parameters = &gamma, append(parameters, "gamma")
	}
	s.total = len(parameters)*2*(senseDecade+senseHalves) + len(vectors) + Resamples

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

// sensing is the work of Sense.
type sensing struct {
	p        *problem
	spec     Spec
	k        svm.Matrix // of all rows
	y        []float64  // of all rows
	weight   []float64  // 1 of those trained on
	judged   []int      // rows whose predictions count
	settings svm.Settings
	base     *svm.Result

	view   *dataset.View // of the plane; nil: places are rows
	ss, ts []float64     // of the grid
	places []bool        // which of them the base predicts positive

	recorder    trace.Recorder
	began       time.Time
	done, total int
}

// matrix is the kernel matrix of all rows, as p has it.
func (s *sensing) matrix(ctx context.Context, p *problem) (svm.Matrix, error) {
	k, err := p.gram(ctx, p.data)
	if err != nil {
		return nil, err
	}
	return svm.Tabulated(ctx, k, judgeCache)
}

// first trains from nothing.
func (s *sensing) first(ctx context.Context, k svm.Matrix) (*svm.Result, error) {
	res, err := svm.HeldOut(ctx, k, s.y, s.p.test, []float64{s.settings.C}, s.settings)
	if err != nil {
		return nil, err
	}
	return res[0], ended(ctx, res[0])
}

// again trains from the alphas of another result.
func (s *sensing) again(ctx context.Context, k svm.Matrix, from *svm.Result, c float64, weight []float64) (*svm.Result, error) {
	settings := s.settings
	settings.C = c
	res, err := svm.Reweigh(ctx, k, s.y, from.Alpha, weight, settings)
	if err != nil {
		return nil, err
	}
	return res, ended(ctx, res)
}

// ended is what keeps the result of a training from being compared: the end of ctx, or that it is
// not the optimum.
func ended(ctx context.Context, res *svm.Result) error {
	if err := ctx.Err(); err != nil || res.Status == trace.Converged {
		return err
	}
	return param.Refuse(svm.Remedy(res.Status), "a training did not converge (%s), so the change cannot be measured", res.Status)
}

// tell reports progress after a training.
func (s *sensing) tell(phase string, trainings int) {
	s.done += trainings
	if s.recorder != nil {
		s.recorder(trace.Step{Phase: phase, Done: s.done, Trainings: s.total, Left: trace.AtPace(time.Since(s.began), s.done, s.total-s.done)})
	}
}

// model returns a result as a Model.
func (s *sensing) model(res *svm.Result) *Model {
	sol := &solution{u: make([]float64, len(s.p.rows)), b: res.B}
	for a, i := range s.p.rows {
		sol.u[a] = res.Alpha[i] * s.y[i]
	}
	return s.p.model([]*fitted{{solution: sol}})
}

// lay sets the places at which boundaries are compared.
func (s *sensing) lay(r *Sensitivity) {
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
func (s *sensing) sides(m *Model, res *svm.Result) []bool {
	f := res.F
	if s.view != nil {
		scores, _, _ := m.Surface(context.Background(), *s.view, s.ss, s.ts) // of few rows: done at once
		f = scores[0]
	}
	return lists.Map(f, func(v float64) bool { return v >= 0 })
}

// moved returns the movement of a machine's boundary.
func (s *sensing) moved(m *Model, res *svm.Result) float64 {
	n := 0
	for i, side := range s.sides(m, res) {
		if side != s.places[i] {
			n++
		}
	}
	return float64(n) / float64(len(s.places))
}

// changed returns the judged rows predicted differently from the base, in the order of the
// data.
func (s *sensing) changed(res *svm.Result) []int {
	rows := lists.Filter(s.judged, func(i int) bool { return (res.F[i] >= 0) != (s.base.F[i] >= 0) })
	slices.Sort(rows)
	return rows
}

// strongest returns the support vectors in descending order of alpha, then of slack.
func (s *sensing) strongest() []int {
	rows := lists.Where(len(s.base.Alpha), func(i int) bool { return s.base.Alpha[i] > 0 })
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.base.Alpha[b], s.base.Alpha[a]), cmp.Compare(s.y[a]*s.base.F[a], s.y[b]*s.base.F[b]))
	})
	return rows
}

// flip finds the nearest change of a prediction along a parameter. It stops where a training
// fails.
func (s *sensing) flip(ctx context.Context, name string, up bool) (Flip, error) {
	from := s.settings.C
	if name == "gamma" {
		from = s.p.kernel.Values.Number("gamma")
	}
	at := func(steps float64) float64 { // steps of the search from the base
		if !up {
			steps = -steps
		}
		return from * math.Pow(10, steps/senseDecade)
	}
	last := s.base
	solve := func(value float64) (*svm.Result, error) {
		defer s.tell("along "+name, 1)
		if name == "C" {
			return s.again(ctx, s.k, last, value, s.weight)
		}
		q := *s.p
		q.kernel.Values = q.kernel.Values.With("gamma", param.Of(value))
		k, err := s.matrix(ctx, &q)
		if err != nil {
			return nil, err
		}
		return s.again(ctx, k, last, s.settings.C, s.weight)
	}
	f := Flip{Parameter: name, From: from, To: at(senseDecade)}
	for step := range senseDecade {
		res, err := solve(at(float64(step + 1)))
		if ctx.Err() != nil {
			return f, ctx.Err()
		}
		if err != nil {
			s.done += senseDecade - 1 - step
			f.To = at(float64(step))
			break
		}
		if len(s.changed(res)) == 0 {
			last = res
			continue
		}
		s.done += senseDecade - 1 - step
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

func (s *sensing) class(f float64) string {
	if f >= 0 {
		return s.p.target.Classes[1]
	}
	return s.p.target.Classes[0]
}

// remove trains without a support vector, unless it is the only row of its class, since there
// would be no boundary.
func (s *sensing) remove(ctx context.Context, i int) (Removal, error) {
	defer s.tell("without one support vector", 1)
	r := Removal{Row: i + 1, Label: s.p.target.Classes[s.p.target.Class[i]], Alpha: s.base.Alpha[i], Moved: 1, Changed: len(s.judged)}
	weight := slices.Clone(s.weight)
	if weight[i] = 0; !s.both(weight) {
		r.Only = true
		return r, nil
	}
	res, err := s.again(ctx, s.k, s.base, s.settings.C, weight)
	if err != nil {
		return r, err
	}
	r.Moved, r.Changed = s.moved(s.model(res), res), len(s.changed(res))
	return r, nil
}

// both reports whether both classes have positive weight.
func (s *sensing) both(weight []float64) bool {
	var there [2]bool
	for i, w := range weight {
		there[s.p.target.Class[i]] = there[s.p.target.Class[i]] || w > 0
	}
	return there[0] && there[1]
}

// resample trains on bootstrap samples: as many rows as the training set, drawn with
// replacement until both classes occur.
func (s *sensing) resample(ctx context.Context, r *Sensitivity) error {
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
		res, err := s.again(ctx, s.k, s.base, s.settings.C, weight)
		if err != nil {
			return err
		}
		m := s.model(res)
		r.Samples = append(r.Samples, s.moved(m, res))
		if _, flat := r.Model.View(); flat { // they can be drawn
			r.Sampled = append(r.Sampled, m)
		}
		for i, f := range res.F {
			if (f >= 0) == (s.base.F[i] >= 0) {
				r.Agreement[i] += 1.0 / Resamples
			}
		}
		s.tell(fmt.Sprintf("bootstrap sample %d of %d", k+1, Resamples), 1)
	}
	return nil
}
