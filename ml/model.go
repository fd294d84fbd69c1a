package ml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/dense"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/rows"
	"marginlab/ml/trace"
)

// Model holds a trained model: machines f(x) = sum_j u_j k(x_j, x) + b over shared supports,
// and the rule that turns their scores into a prediction. Vectors x are imputed, scaled and projected
// before they reach the kernel. A binary classifier is one machine under the rule Sign. A Model
// round-trips through JSON exactly.
type Model struct {
	Features []string // of vectors: columns of a row, in order
	Label    string
	// Classes lists the classes in the order that numbers the machines: under Sign the class of
	// f < 0, then the class of f >= 0; otherwise the order of the data. Empty under Value.
	Classes []string

	Objects    dataset.Kind    // what the kernel compares; empty: vectors
	Fill       dataset.Fill    // of vectors: replaces missing values (NaN); nil: none may be missing
	Scaler     *dataset.Scaler // of vectors; nil: none
	Projection *Projection     // of vectors; nil: none
	Kernel     kernel.Kernel

	Supports Supports
	Machines []Machine // in the number and order that Rule requires
	Rule     Rule
	Platt    *Platt // under Sign: maps f to probabilities; nil: not calibrated
}

// Supports holds the objects over which the machines of a model are expanded.
type Supports struct {
	Rows    []int           // rows of the data set they came from
	Vectors [][]float64     // x_j, preprocessed
	Objects dataset.Objects // x_j other than vectors, as returned by Keep; nil: vectors
}

// Machine is one function over the supports of its model, f(x) = sum_j u_j k(x_j, x) + b. k may
// include the conformal factors of the machine: c(x_j) c(x) k0(x_j, x).
type Machine struct {
	Coef     []float64 // u_j, 0 for supports of other machines only
	B        float64
	Map      *conformal.Map // nil: none
	CoreRows []int          // rows of the data set that are cores

	// With a map, for objects other than vectors:
	Cores   dataset.Objects // as returned by Keep
	Factors []float64       // c at every support
}

// Sides returns the classes that machine k separates: positive for f >= 0 and negative for f < 0,
// empty if that means all other classes. Both are empty under Value.
func (m *Model) Sides(k int) (positive, negative string) {
	s := m.Rule.entry().sides(len(m.Classes))[k]
	return m.class(s.positive), m.class(s.negative)
}

// Versus describes the sides of a machine: "setosa against virginica", or "setosa against
// the rest" if negative is empty.
func Versus(positive, negative string) string {
	return positive + " against " + cmp.Or(negative, "the rest")
}

// Alone returns machine k as a binary model, for a model whose machines were trained separately. It
// shares memory with m.
func (m *Model) Alone(k int) *Model {
	positive, negative := m.Sides(k)
	negative = cmp.Or(negative, "not "+positive)
	one := *m
	one.Rule, one.Classes, one.Machines = Sign, []string{negative, positive}, m.Machines[k:k+1]
	return &one
}

func (m *Model) class(i int) string {
	if i == noClass {
		return ""
	}
	return m.Classes[i]
}

// ScoreNames returns the names of the columns of Scores: "f" for one machine, "f setosa" for one
// against the rest, "f setosa vs virginica" for one-vs-one.
func (m *Model) ScoreNames() []string {
	names := make([]string, len(m.Machines))
	for k := range names {
		names[k] = "f"
		if len(m.Machines) == 1 {
			continue
		}
		positive, negative := m.Sides(k)
		names[k] += " " + positive
		if negative != "" {
			names[k] += " vs " + negative
		}
	}
	return names
}

// Class returns the class predicted from scores (one per machine) as an index into Classes, -1
// under Value.
func (m *Model) Class(scores []float64) int {
	return m.Rule.entry().class(len(m.Classes), scores)
}

// predicted returns Class of every row of scores.
func (m *Model) predicted(scores *mat.Dense) []int {
	n, _ := scores.Dims()
	return lists.Make(n, func(i int) int { return m.Class(scores.RawRowView(i)) })
}

// LabelOf returns the label predicted from scores, empty under Value.
func (m *Model) LabelOf(scores ...float64) string { return m.class(m.Class(scores)) }

// ClassOf returns the class of a label of the data as an index into Classes, -1 if it is unknown.
// Under Sign every label but the positive one is negative.
func (m *Model) ClassOf(label string) int {
	i := slices.Index(m.Classes, label)
	if i < 0 && m.Rule == Sign {
		return 0
	}
	return i
}

// Projection maps a row to two principal components: Components (row - Mean).
type Projection struct {
	Mean       []float64   `json:"mean"`
	Components [][]float64 `json:"components"` // 2 x d, orthonormal rows
}

// fitProjection computes the two leading principal components of the rows of x.
// Signs are fixed so that the largest loading of each is positive.
func fitProjection(x *mat.Dense) (*Projection, error) {
	n, d := x.Dims()
	if d < 2 {
		return nil, fmt.Errorf("project: two principal components need at least two features, not %d", d)
	}
	p := &Projection{Mean: make([]float64, d)}
	for j := range p.Mean {
		p.Mean[j] = stat.Mean(mat.Col(nil, j, x), nil)
	}
	centred := mat.NewDense(n, d, nil)
	centred.Apply(func(_, j int, v float64) float64 { return v - p.Mean[j] }, x)
	var gram mat.SymDense
	gram.SymOuterK(1, centred.T())
	_, v, ok := dense.Eigen(&gram, true)
	if !ok {
		return nil, errors.New("project: the principal components could not be computed; leave the projection out")
	}
	for k := 1; k <= 2; k++ { // eigenvalues are in ascending order
		c := mat.Col(nil, d-k, v)
		big := slices.MaxFunc(c, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
		if big < 0 {
			for j := range c {
				c[j] = -c[j]
			}
		}
		p.Components = append(p.Components, c)
	}
	return p, nil
}

func (p *Projection) apply(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, len(p.Components), nil)
	for i := range n {
		row := x.RawRowView(i)
		for k, c := range p.Components {
			var s float64
			for j := range d {
				s += c[j] * (row[j] - p.Mean[j])
			}
			out.Set(i, k, s)
		}
	}
	return out
}

// Inputs preprocesses rows of the model's features in original units (n x d) for its kernel:
// imputed, scaled and projected as configured.
func (m *Model) Inputs(x *mat.Dense) *mat.Dense {
	if m.Fill != nil {
		x = m.Fill.Apply(x)
	}
	if m.Scaler != nil {
		x = m.Scaler.Apply(x)
	}
	if m.Projection != nil {
		x = m.Projection.apply(x)
	}
	return x
}

// expansions are the functions of a model's machines without their biases and outer factors c(x),
// prepared for many rows.
type expansions struct {
	model    *Model
	together *kernel.Sums  // of all machines, nil if that is not faster
	sums     []*kernel.Sum // otherwise, of at most two: each has copies of its support vectors
}

// expansions prepares the functions of the machines.
func (m *Model) expansions() expansions {
	e := expansions{model: m}
	few := len(m.Machines) <= 2
	if !few && len(m.Supports.Vectors) > 0 && !slices.ContainsFunc(m.Machines, func(c Machine) bool { return c.Map != nil }) {
		coef := lists.Map(m.Machines, func(c Machine) []float64 { return c.Coef })
		e.together = kernel.NewSums(m.Kernel, denseOf(m.Supports.Vectors), coef)
	}
	if e.together == nil && few {
		e.sums = lists.Make(len(m.Machines), m.sum)
	}
	return e
}

// sum returns the function of machine k.
func (e expansions) sum(k int) *kernel.Sum {
	if e.sums != nil {
		return e.sums[k]
	}
	return e.model.sum(k)
}

// sum returns machine k's expansion without bias and without the outer factor c(x).
func (m *Model) sum(k int) *kernel.Sum {
	z, w := m.terms(k)
	return kernel.NewSum(m.Kernel, z, w)
}

// terms returns the support vectors and weights of sum.
func (m *Model) terms(k int) (x *mat.Dense, w []float64) {
	var z [][]float64
	for j, u := range m.Machines[k].Coef {
		if u != 0 {
			z, w = append(z, m.Supports.Vectors[j]), append(w, u)
		}
	}
	if len(w) == 0 {
		return &mat.Dense{}, nil
	}
	x = denseOf(z)
	if c := m.Machines[k].Map; c != nil {
		for j, c := range c.Factors(x) {
			w[j] *= c
		}
	}
	return x, w
}

// Scores returns f of every machine at every row of x (n x d, original units), as a
// matrix with n rows and a column per machine. Ties but for rounding are exact, see Noise.
func (m *Model) Scores(x *mat.Dense) *mat.Dense {
	scores, _ := m.scores(context.Background(), x)
	return scores
}

// scores is Scores with a context. It preprocesses rows in blocks to save memory.
func (m *Model) scores(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	n, d := x.Dims()
	e := m.expansions()
	block := max(256, blockBytes/8/max(1, d))
	trace.Report(ctx, 0, n)
	if n <= block {
		return e.blockScores(ctx, x)
	}
	scores := mat.NewDense(n, len(m.Machines), nil)
	for first := 0; first < n; first += block {
		end := min(n, first+block)
		some, err := e.blockScores(trace.Part(ctx, first, n), x.Slice(first, end, 0, d).(*mat.Dense))
		if err != nil {
			return nil, err
		}
		scores.Slice(first, end, 0, len(m.Machines)).(*mat.Dense).Copy(some)
	}
	return scores, nil
}

// blockBytes bounds the memory of the rows of a block.
const blockBytes = 16 << 20

// blockScores returns the scores of a block of rows, with ties made exact. It may use a fast
// approximation, with an error of about 2^-49 of the sum of the weights, and then computes the scores
// again for rows whose prediction the error could change. So predictions do not depend on the number
// of rows.
func (e expansions) blockScores(ctx context.Context, x *mat.Dense) (*mat.Dense, error) {
	m, in := e.model, e.model.Inputs(x)
	scores, by, err := e.scoresAt(ctx, in, true)
	if m.Rule == Value || err != nil {
		return scores, err
	}
	sizes := m.largestSizes(in)
	open := lists.Where(len(sizes), func(i int) bool {
		return !m.Rule.settled(noClass, len(m.Classes), scores.RawRowView(i), by+2*Noise*sizes[i])
	})
	if len(open) == 0 {
		return scores, nil
	}
	near := dataset.PickRows(in, open)
	exact := dataset.PickRows(scores, open)
	if by > 0 {
		if exact, _, err = e.scoresAt(ctx, near, false); err != nil {
			return scores, err
		}
	}
	own := m.sizes(near)
	for a, i := range open {
		m.Rule.level(exact.RawRowView(a), own.RawRowView(a))
		scores.SetRow(i, exact.RawRowView(a))
	}
	return scores, nil
}

// sizes returns the sums of the magnitudes of the terms of the scores at preprocessed rows.
func (m *Model) sizes(in *mat.Dense) *mat.Dense {
	n, _ := in.Dims()
	sizes := mat.NewDense(n, len(m.Machines), nil)
	for k, machine := range m.Machines {
		z, w := m.terms(k)
		size := kernel.Magnitudes(m.Kernel, z, w, in)
		if machine.Map != nil {
			for i := range size {
				size[i] *= math.Abs(machine.Map.At(in.RawRowView(i)))
			}
		}
		floats.AddConst(math.Abs(machine.B), size)
		sizes.SetCol(k, size)
	}
	return sizes
}

// largestSizes returns a bound of each row of sizes that takes no kernel values.
func (m *Model) largestSizes(in *mat.Dense) []float64 {
	longest, terms, b := 0.0, 0.0, 0.0
	for _, z := range m.Supports.Vectors {
		longest = max(longest, floats.Dot(z, z))
	}
	for _, machine := range m.Machines {
		factor := 1.0 // of a map, at x and at every support
		if c := machine.Map; c != nil {
			factor = math.Abs(c.Alpha0) + floats.Norm(c.Alpha, 1)
		}
		terms, b = max(terms, factor*factor*floats.Norm(machine.Coef, 1)), max(b, math.Abs(machine.B))
	}
	largest := kernel.LargestMagnitude(m.Kernel)
	return lists.Make(in.RawMatrix().Rows, func(i int) float64 {
		x := in.RawRowView(i)
		return terms*largest(math.Sqrt(longest*floats.Dot(x, x))) + b
	})
}

// scoresAt returns the scores of preprocessed rows and a bound of their error, 0 unless fast is set.
func (e expansions) scoresAt(ctx context.Context, in *mat.Dense, fast bool) (scores *mat.Dense, by float64, err error) {
	n, _ := in.Dims()
	scores = mat.NewDense(n, len(e.model.Machines), nil)
	if e.together != nil {
		e.together.AtRows(ctx, scores, in)
		biases := lists.Map(e.model.Machines, func(c Machine) float64 { return c.B })
		for i := range n {
			floats.Add(scores.RawRowView(i), biases)
		}
		return scores, 0, ctx.Err()
	}
	f, factors := make([]float64, n), make([]float64, n)
	for k, machine := range e.model.Machines {
		sum, off, ok := e.sum(k), 0.0, false
		if fast {
			off, ok = sum.AtRowsFast(ctx, f, in)
		}
		if !ok {
			sum.AtRows(ctx, f, in)
		}
		if err := ctx.Err(); err != nil {
			return scores, by, err
		}
		if machine.Map != nil {
			err := dense.Parallel(ctx, n, func(from, to int) {
				for i := from; i < to && pace.Look(ctx) == nil; i++ {
					factors[i] = machine.Map.At(in.RawRowView(i))
				}
			})
			if err != nil {
				return scores, by, err
			}
			floats.Mul(f, factors)
			off *= floats.Norm(factors, math.Inf(1))
		}
		by = max(by, off)
		floats.AddConst(machine.B, f)
		scores.SetCol(k, f)
	}
	return scores, by, nil
}

// ScoresOf is Scores for objects other than vectors. It returns an error for objects of another
// kind than the model's or with missing attributes, and ctx.Err().
func (m *Model) ScoresOf(ctx context.Context, x dataset.Objects) (*mat.Dense, error) {
	scores := mat.NewDense(x.Len(), len(m.Machines), nil)
	const block = 256 // rows whose kernel values are held at a time
	for first := 0; first < x.Len(); first += block {
		some := dataset.Range(first, min(block, x.Len()-first))
		trace.Report(ctx, first, x.Len())
		if err := m.scoreBlock(ctx, scores.Slice(first, first+len(some), 0, len(m.Machines)).(*mat.Dense), x.Subset(some)); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// scoreBlock writes the scores of x into scores, with ties made exact.
func (m *Model) scoreBlock(ctx context.Context, scores *mat.Dense, x dataset.Objects) error {
	var values *mat.Dense
	if len(m.Supports.Rows) > 0 {
		var err error
		if values, err = kernel.Cross(ctx, m.Kernel, x, m.Supports.Objects); err != nil {
			return err
		}
	}
	sizes := mat.NewDense(x.Len(), len(m.Machines), nil)
	f, size := make([]float64, x.Len()), make([]float64, x.Len())
	for k, machine := range m.Machines {
		clear(f)
		clear(size)
		if values != nil {
			u := machine.mapped()
			term := make([]float64, len(u))
			for i := range f {
				f[i] = floats.Dot(values.RawRowView(i), u)
				size[i] = floats.Norm(floats.MulTo(term, values.RawRowView(i), u), 1)
			}
		}
		if machine.Map != nil {
			c, err := factorsOf(ctx, m.Kernel, machine.Map, x, machine.Cores)
			if err != nil {
				return err
			}
			floats.Mul(f, c)
			floats.Mul(size, c)
		}
		floats.AddConst(machine.B, f)
		scores.SetCol(k, f)
		for i := range size {
			sizes.Set(i, k, math.Abs(size[i])+math.Abs(machine.B))
		}
	}
	for i := range f {
		m.Rule.level(scores.RawRowView(i), sizes.RawRowView(i))
	}
	return nil
}

// mapped returns the coefficients times c at the supports, for objects other than vectors.
func (m *Machine) mapped() []float64 {
	if m.Map == nil {
		return m.Coef
	}
	return floats.MulTo(make([]float64, len(m.Coef)), m.Coef, m.Factors)
}

// factorsOf returns c of a conformal map at every x, for objects other than vectors.
func factorsOf(ctx context.Context, k kernel.Kernel, m *conformal.Map, x, cores dataset.Objects) ([]float64, error) {
	c := make([]float64, x.Len())
	if cores.Len() == 0 {
		floats.AddConst(m.Alpha0, c)
		return c, nil
	}
	self, err := kernel.Self(ctx, k, x)
	if err != nil {
		return nil, err
	}
	near, err := kernel.Cross(ctx, k, x, cores)
	if err != nil {
		return nil, err
	}
	for i := range c {
		c[i] = m.AtKernel(self[i], near.RawRowView(i))
	}
	return c, nil
}

// scoresOn returns the scores at the rows of d, which has the inputs of m.
func (m *Model) scoresOn(ctx context.Context, d *dataset.Data) (*mat.Dense, error) {
	if m.kind() != d.Kind() {
		return nil, fmt.Errorf("the model takes objects of kind %s, not %s", m.kind(), d.Kind())
	}
	if d.Objects != nil {
		return m.ScoresOf(ctx, d.Objects)
	}
	x, err := m.columns(d)
	if err != nil {
		return nil, err
	}
	return m.scores(ctx, x)
}

// columns returns the rows of d, which are vectors, with the features of m in original units,
// imputed with its fill.
func (m *Model) columns(d *dataset.Data) (*mat.Dense, error) {
	cols, err := d.Columns(m.Features)
	if err != nil {
		return nil, err
	}
	if m.Fill != nil {
		cols = cols.Filled(m.Fill)
	}
	return cols.X, nil
}

// kind returns the kind of objects that the kernel compares.
func (m *Model) kind() dataset.Kind { return cmp.Or(m.Objects, dataset.KindVectors) }

// Columns returns the number of kernel values that a row must hold for a model with a
// precomputed kernel, 0 for other models.
func (m *Model) Columns() int {
	shape, _ := dataset.KeptOf(m.Supports.Objects)
	return shape.Columns
}

// Decisions returns f at every row of x (n x d, original units) for a model of one machine. It
// panics if there are several; see Scores.
func (m *Model) Decisions(x *mat.Dense) []float64 {
	if len(m.Machines) != 1 {
		panic(fmt.Sprintf("ml: Decisions of a model with %d machines, which has Scores", len(m.Machines)))
	}
	return m.Scores(x).RawMatrix().Data
}

// Decision returns f(x) for one row in original units, for a model of one machine.
func (m *Model) Decision(x []float64) float64 {
	return m.Decisions(mat.NewDense(1, len(x), x))[0]
}

// Predict returns the label of one row in original units, empty under Value.
func (m *Model) Predict(x []float64) string {
	return m.LabelOf(m.Scores(mat.NewDense(1, len(x), x)).RawRowView(0)...)
}

// Accuracy returns the fraction of rows of d predicted correctly. d must have the model's
// features; under Sign classes other than the positive one count as negative. It is an
// error under Value.
func (m *Model) Accuracy(d *dataset.Data) (float64, error) {
	if m.Rule == Value {
		return 0, errors.New("a regression model has no accuracy: its rule is value")
	}
	scores, err := m.scoresOn(context.Background(), d)
	if err != nil {
		return 0, err
	}
	classes := lists.Map(d.Y, func(c int) int { return m.ClassOf(d.Classes[c]) })
	return agreement(m.predicted(scores), classes), nil
}

// Surface returns f of every machine at the grid points (ss[i], ts[j]) of the view's plane, in
// element j*len(ss)+i, and c of every machine on the same grid, nil for machines without a conformal
// map. The error is ctx.Err().
func (m *Model) Surface(ctx context.Context, v dataset.View, ss, ts []float64) (f, c [][]float64, err error) {
	plane := m.plane(v)
	f, c = make([][]float64, len(m.Machines)), make([][]float64, len(m.Machines))
	for k, machine := range m.Machines {
		f[k] = make([]float64, len(ss)*len(ts))
		if err := m.sum(k).Grid(ctx, f[k], plane, ss, ts); err != nil {
			return nil, nil, err
		}
		if machine.Map != nil {
			if c[k], err = factor(ctx, machine.Map, plane, ss, ts); err != nil {
				return nil, nil, err
			}
			for i := range f[k] {
				f[k][i] *= c[k][i]
			}
		}
		for i := range f[k] {
			f[k][i] += machine.B
		}
	}
	return f, c, nil
}

// factor returns c of a conformal map at the grid points of a plane. The error is ctx.Err().
func factor(ctx context.Context, m *conformal.Map, p kernel.Plane, ss, ts []float64) ([]float64, error) {
	c := make([]float64, len(ss)*len(ts))
	if len(m.Cores) > 0 {
		if err := kernel.NewSum(kernel.RBF(m.Gamma), denseOf(m.Cores), m.Alpha).Grid(ctx, c, p, ss, ts); err != nil {
			return nil, err
		}
	}
	floats.AddConst(m.Alpha0, c)
	return c, nil
}

// plane returns the view's plane in the preprocessed space.
func (m *Model) plane(v dataset.View) kernel.Plane {
	d := len(m.Features)
	probe := mat.NewDense(3, d, nil) // origin and one step along each axis
	for j := range d {
		probe.Set(0, j, v.Center[j])
		probe.Set(1, j, v.Center[j]+v.Axes[0][j])
		probe.Set(2, j, v.Center[j]+v.Axes[1][j])
	}
	in := m.Inputs(probe)
	o, u, w := in.RawRowView(0), in.RawRowView(1), in.RawRowView(2)
	p := kernel.Plane{Origin: o, U: make([]float64, len(o)), V: make([]float64, len(o))}
	for j := range o {
		p.U[j], p.V[j] = u[j]-o[j], w[j]-o[j]
	}
	return p
}

// Linear returns w and b of f(x) = w·x + b in original units. ok is false for models that are not
// linear in x or have several machines.
func (m *Model) Linear() (w []float64, b float64, ok bool) {
	if len(m.Machines) != 1 || m.Kernel.Name != "linear" || m.Machines[0].Map != nil {
		return nil, 0, false
	}
	machine := m.Machines[0]
	d := len(m.Features)
	in := d
	if m.Projection != nil {
		in = len(m.Projection.Components)
	}
	v := make([]float64, in) // weights in the preprocessed space
	for j, z := range m.Supports.Vectors {
		for k := range v {
			v[k] += machine.Coef[j] * z[k]
		}
	}
	b = machine.B
	w = v
	if p := m.Projection; p != nil {
		w = make([]float64, d)
		for k, c := range p.Components {
			for j := range w {
				w[j] += v[k] * c[j]
				b -= v[k] * c[j] * p.Mean[j]
			}
		}
	}
	if s := m.Scaler; s != nil {
		for j := range w {
			w[j] /= s.Scale[j]
			b -= w[j] * s.Mean[j]
		}
	}
	return w, b, true
}

// denseOf returns the points as a matrix, without a copy if they are consecutive rows of one.
func denseOf(points [][]float64) *mat.Dense {
	n, d := len(points), len(points[0])
	all, consecutive := points[0][:cap(points[0])], true
	for i := 0; consecutive && i < n; i++ {
		consecutive = len(points[i]) == d && len(all) >= n*d && &points[i][0] == &all[i*d]
	}
	if consecutive {
		return mat.NewDense(n, d, all[:n*d])
	}
	x := mat.NewDense(n, d, rows.Zeros[float64](n*d))
	for i, p := range points {
		x.SetRow(i, p)
	}
	return x
}

// View returns the line or plane that f depends on, for models on one or two features or on two
// principal components, and false for other models.
func (m *Model) View() (dataset.View, bool) {
	p := m.Projection
	if p == nil {
		if len(m.Features) > 2 || m.kind() != dataset.KindVectors {
			return dataset.View{}, false
		}
		v := dataset.View{Center: make([]float64, len(m.Features)), Exact: true}
		for k := range v.To {
			v.To[k], v.Axes[k] = make([]float64, len(m.Features)), make([]float64, len(m.Features))
			if k < len(m.Features) {
				v.Labels[k] = m.Features[k]
				v.To[k][k], v.Axes[k][k] = 1, 1
			}
		}
		return v, true
	}
	v := dataset.View{Center: slices.Clone(p.Mean), Labels: [2]string{"PC 1", "PC 2"}, Exact: true}
	for k, c := range p.Components {
		v.To[k], v.Axes[k] = slices.Clone(c), slices.Clone(c)
	}
	if s := m.Scaler; s != nil {
		for j := range v.Center {
			v.Center[j] = s.Mean[j] + s.Scale[j]*v.Center[j]
			for k := range v.To {
				v.To[k][j] /= s.Scale[j]
				v.Axes[k][j] *= s.Scale[j]
			}
		}
	}
	return v, true
}
