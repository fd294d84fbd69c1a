package ml

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
)

// Model is a trained classifier as data: f(x) = sum_j u_j k(x_j, x) + b, where k
// may carry a conformal factor, c(x_j) c(x) k0(x_j, x), and x is scaled and
// projected before the kernel sees it. It predicts Positive where f(x) >= 0. It
// round-trips through JSON bit for bit.
type Model struct {
	Features []string `json:"features"` // columns of a row, in order
	Label    string   `json:"label"`
	Positive string   `json:"positive"`
	Negative string   `json:"negative"`

	Scaler     *dataset.Scaler `json:"scaler,omitempty"`
	Projection *Projection     `json:"projection,omitempty"`
	Kernel     kernel.Kernel   `json:"kernel"`
	Map        *conformal.Map  `json:"conformal,omitempty"`

	Rows     []int       `json:"rows"`    // row of the data set each vector came from
	Vectors  [][]float64 `json:"vectors"` // x_j as the kernel sees them
	Coef     []float64   `json:"coef"`    // u_j
	B        float64     `json:"b"`
	CoreRows []int       `json:"core_rows,omitempty"` // rows of the data set that are cores
}

// ReadModel reads the JSON form of a model and validates it. Unknown fields are
// an error, and so is anything after the model.
func ReadModel(r io.Reader) (*Model, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var m *Model
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("not a model in JSON: %w", err)
	}
	if m == nil {
		return nil, errors.New("not a model in JSON: null")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("not a model in JSON: something follows the model")
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return m, nil
}

// Validate reports what keeps m from being evaluated: lists whose lengths do not
// agree, numbers that are not finite, a kernel that is not known or whose
// parameters are out of range. Models that Train returns are valid.
func (m *Model) Validate() error {
	if len(m.Features) == 0 {
		return errors.New("model: no features")
	}
	for j, name := range m.Features {
		if name == "" || slices.Contains(m.Features[:j], name) {
			return fmt.Errorf("model: features: expected distinct names, found %q", name)
		}
	}
	if m.Positive == "" || m.Negative == "" || m.Positive == m.Negative {
		return fmt.Errorf("model: expected two classes, found positive %q and negative %q", m.Positive, m.Negative)
	}
	if err := m.Kernel.Validate(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	d := len(m.Features)
	if s := m.Scaler; s != nil {
		if err := checkVectors(d, "scaler", s.Mean, s.Scale); err != nil {
			return err
		}
		if slices.Min(s.Scale) <= 0 {
			return errors.New("model: scaler: expected scales above 0")
		}
	}
	if p := m.Projection; p != nil {
		if err := checkVectors(d, "projection", append([][]float64{p.Mean}, p.Components...)...); err != nil {
			return err
		}
		if d = len(p.Components); d != 2 {
			return fmt.Errorf("model: projection: expected 2 components, found %d", d)
		}
	}
	n := len(m.Vectors)
	if len(m.Rows) != n {
		return fmt.Errorf("model: %d rows for %d vectors", len(m.Rows), n)
	}
	if i := slices.IndexFunc(slices.Concat(m.Rows, m.CoreRows), func(i int) bool { return i < 0 }); i >= 0 {
		return errors.New("model: rows: expected numbers from 0 on")
	}
	if err := checkVectors(n, "coefficients", m.Coef); err != nil {
		return err
	}
	if err := checkVectors(d, "vectors", m.Vectors...); err != nil {
		return err
	}
	if err := checkVectors(1, "b", []float64{m.B}); err != nil {
		return err
	}
	if c := m.Map; c != nil {
		if err := checkVectors(len(c.Cores), "conformal coefficients", c.Alpha); err != nil {
			return err
		}
		if err := checkVectors(d, "cores", c.Cores...); err != nil {
			return err
		}
		if err := checkVectors(2, "conformal map", []float64{c.Alpha0, c.Gamma}); err != nil {
			return err
		}
		if c.Gamma <= 0 {
			return fmt.Errorf("model: conformal map: expected core_gamma above 0, found %g", c.Gamma)
		}
	}
	return nil
}

// checkVectors reports the first vector whose length is not d or that holds a
// number that is not finite.
func checkVectors(d int, what string, vs ...[]float64) error {
	for _, v := range vs {
		if len(v) != d {
			return fmt.Errorf("model: %s: expected %d numbers, found %d", what, d, len(v))
		}
		for _, x := range v {
			if finite(x) == nil {
				return fmt.Errorf("model: %s: expected finite numbers, found %v", what, x)
			}
		}
	}
	return nil
}

// Projection maps a row to two principal components: Components (row - Mean).
type Projection struct {
	Mean       []float64   `json:"mean"`
	Components [][]float64 `json:"components"` // 2 x d, orthonormal rows
}

// fitProjection finds the two leading principal components of the rows of x.
// The sign is fixed so that the largest loading of each is positive.
func fitProjection(x *mat.Dense) (*Projection, error) {
	n, d := x.Dims()
	if d < 2 {
		return nil, fmt.Errorf("project: two principal components need at least two features, the data have %d", d)
	}
	p := &Projection{Mean: make([]float64, d)}
	for j := range p.Mean {
		p.Mean[j] = stat.Mean(mat.Col(nil, j, x), nil)
	}
	centred := mat.NewDense(n, d, nil)
	centred.Apply(func(_, j int, v float64) float64 { return v - p.Mean[j] }, x)
	var gram mat.SymDense
	gram.SymOuterK(1, centred.T())
	var eig mat.EigenSym
	if !eig.Factorize(&gram, true) {
		return nil, errors.New("project: the principal components could not be computed; leave the projection out")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	for k := 1; k <= 2; k++ { // eigenvalues ascend
		c := mat.Col(nil, d-k, &v)
		big := slices.MaxFunc(c, func(a, b float64) int { return cmpAbs(a, b) })
		if big < 0 {
			for j := range c {
				c[j] = -c[j]
			}
		}
		p.Components = append(p.Components, c)
	}
	return p, nil
}

func cmpAbs(a, b float64) int {
	switch a, b = math.Abs(a), math.Abs(b); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
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

// inputs maps rows in original units to what the kernel sees.
func (m *Model) inputs(x *mat.Dense) *mat.Dense {
	if m.Scaler != nil {
		x = m.Scaler.Apply(x)
	}
	if m.Projection != nil {
		x = m.Projection.apply(x)
	}
	return x
}

// sum is the kernel expansion without bias and without the outer factor c(x).
func (m *Model) sum() *kernel.Sum {
	if len(m.Vectors) == 0 {
		return kernel.NewSum(m.Kernel, &mat.Dense{}, nil)
	}
	z := dense(m.Vectors)
	w := m.Coef
	if m.Map != nil {
		w = slices.Clone(w)
		for j, c := range m.Map.Factors(z) {
			w[j] *= c
		}
	}
	return kernel.NewSum(m.Kernel, z, w)
}

// Decisions returns f at every row of x (n x d, original units).
func (m *Model) Decisions(x *mat.Dense) []float64 {
	n, _ := x.Dims()
	in, sum := m.inputs(x), m.sum()
	f := make([]float64, n)
	for i := range f {
		row := in.RawRowView(i)
		v := sum.At(row)
		if m.Map != nil {
			v *= m.Map.At(row)
		}
		f[i] = v + m.B
	}
	return f
}

// Decision returns f(x) for one row in original units.
func (m *Model) Decision(x []float64) float64 {
	return m.Decisions(mat.NewDense(1, len(x), x))[0]
}

// Predict returns the label of one row in original units.
func (m *Model) Predict(x []float64) string { return m.LabelOf(m.Decision(x)) }

// LabelOf returns the label that a decision value stands for.
func (m *Model) LabelOf(f float64) string {
	if f >= 0 {
		return m.Positive
	}
	return m.Negative
}

// Accuracy is the share of rows of d whose prediction is right. d must have the
// model's features; classes other than Positive count as Negative.
func (m *Model) Accuracy(d *dataset.Data) (float64, error) {
	cols, err := d.Columns(m.Features)
	if err != nil {
		return 0, err
	}
	y := make([]float64, len(d.Y))
	for i, c := range d.Y {
		y[i] = -1
		if d.Classes[c] == m.Positive {
			y[i] = 1
		}
	}
	return accuracy(m.Decisions(cols.X), y), nil
}

// Surface returns f on the grid of points (ss[i], ts[j]) of the view's plane,
// row-major with ts as rows, and c on the same grid for conformal models, else nil.
func (m *Model) Surface(v dataset.View, ss, ts []float64) (f, c []float64) {
	plane := m.plane(v)
	f = make([]float64, len(ss)*len(ts))
	m.sum().Grid(f, plane, ss, ts)
	if m.Map != nil {
		c = m.factor(plane, ss, ts)
		for i := range f {
			f[i] *= c[i]
		}
	}
	for i := range f {
		f[i] += m.B
	}
	return f, c
}

func (m *Model) factor(p kernel.Plane, ss, ts []float64) []float64 {
	c := make([]float64, len(ss)*len(ts))
	if len(m.Map.Cores) > 0 {
		kernel.NewSum(kernel.RBF(m.Map.Gamma), dense(m.Map.Cores), m.Map.Alpha).Grid(c, p, ss, ts)
	}
	for i := range c {
		c[i] += m.Map.Alpha0
	}
	return c
}

// plane is the view's plane as the kernel sees it.
func (m *Model) plane(v dataset.View) kernel.Plane {
	d := len(m.Features)
	probe := mat.NewDense(3, d, nil) // centre, one step along each axis
	for j := range d {
		probe.Set(0, j, v.Center[j])
		probe.Set(1, j, v.Center[j]+v.Axes[0][j])
		probe.Set(2, j, v.Center[j]+v.Axes[1][j])
	}
	in := m.inputs(probe)
	o, u, w := in.RawRowView(0), in.RawRowView(1), in.RawRowView(2)
	p := kernel.Plane{Origin: o, U: make([]float64, len(o)), V: make([]float64, len(o))}
	for j := range o {
		p.U[j], p.V[j] = u[j]-o[j], w[j]-o[j]
	}
	return p
}

// Linear returns w and b of f(x) = w·x + b in original units, and false for
// models that are not linear in x.
func (m *Model) Linear() (w []float64, b float64, ok bool) {
	if m.Kernel.Name != "linear" || m.Map != nil {
		return nil, 0, false
	}
	d := len(m.Features)
	in := d
	if m.Projection != nil {
		in = len(m.Projection.Components)
	}
	v := make([]float64, in) // weights in the kernel's space
	for j, z := range m.Vectors {
		for k := range v {
			v[k] += m.Coef[j] * z[k]
		}
	}
	b = m.B
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

func dense(rows [][]float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		x.SetRow(i, r)
	}
	return x
}

// View returns the picture of the space that m itself lives in, and false when
// that has more than two dimensions. Models on one or two features and models on
// two principal components have one: f depends on nothing that it leaves out.
func (m *Model) View() (dataset.View, bool) {
	p := m.Projection
	if p == nil {
		if len(m.Features) > 2 {
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
