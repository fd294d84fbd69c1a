package lessons

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	mlconformal "marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	mlmcm "marginlab/ml/mcm"
	"marginlab/ml/theory"
	"marginlab/ml/trace"
	"marginlab/views/figure"
)

// conformalProblem is a data set with the basic kernel on it, for maps whose cores
// may be any places.
type conformalProblem struct {
	d    *dataset.Data
	k    kernel.Kernel
	x    *mat.Dense
	y    []float64
	gram *kernel.Gram
	b, w *mat.SymDense // B0 and W0

	// How machine trains, and what its models are of.
	settings mlmcm.Settings
	scaler   *dataset.Scaler // nil: x are the rows of d as they are
	rows     []int           // rows of d that x are; nil: all
	pos, neg string
}

// newConformalProblem sets up the basic kernel k on the rows x of d with labels y.
func newConformalProblem(d *dataset.Data, k kernel.Kernel, x *mat.Dense, y []float64) *conformalProblem {
	p := &conformalProblem{d: d, k: k, x: x, y: y, gram: kernel.NewGram(k, x), settings: mlmcm.Settings{C: 1}, pos: d.Classes[1], neg: d.Classes[0]}
	p.b, p.w = conformalScatter(theory.Gram(p.gram), y)
	return p
}

// scaled is the kernel matrix with the factors c.
func (p *conformalProblem) scaled(c []float64) *kernel.Gram { return p.gram.Scaled(c) }

// j is the Fisher scalar for the factors c.
func (p *conformalProblem) j(ctx context.Context, c []float64) (float64, error) {
	return mlconformal.J(ctx, p.gram, p.y, c)
}

// quotientOf is the Fisher scalar for the factors c, by B0 and W0.
func (p *conformalProblem) quotientOf(c []float64) float64 {
	v := mat.NewVecDense(len(c), c)
	return mat.Inner(v, p.b, v) / mat.Inner(v, p.w, v)
}

// machine trains an MCM on the kernel with a map.
func (p *conformalProblem) machine(ctx context.Context, m *mlconformal.Map) (*ml.Model, error) {
	res, err := mlmcm.Train(ctx, p.scaled(m.Factors(p.x)), p.y, p.settings)
	if err != nil {
		return nil, err
	}
	model := &ml.Model{Features: p.d.Features, Label: p.d.Label, Positive: p.pos, Negative: p.neg, Scaler: p.scaler, Kernel: p.k, Map: m, B: res.B}
	for i, l := range res.Lambda {
		if l != 0 {
			row := i
			if p.rows != nil {
				row = p.rows[i]
			}
			model.Rows, model.Vectors, model.Coef = append(model.Rows, row), append(model.Vectors, p.x.RawRowView(i)), append(model.Coef, l)
		}
	}
	return model, nil
}

// conformalScatter are B and W of a kernel matrix for labels ±1, entry by entry and
// in the order of the rows: "block" means that both points are of one class.
func conformalScatter(k mat.Symmetric, y []float64) (b, w *mat.SymDense) {
	m := len(y)
	n := map[float64]float64{}
	for _, v := range y {
		n[v]++
	}
	b, w = mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			v, block, diagonal := k.At(i, j), 0.0, 0.0
			if y[i] == y[j] {
				block = v / n[y[i]]
			}
			if i == j {
				diagonal = v
			}
			b.SetSym(i, j, block-v/float64(m))
			w.SetSym(i, j, diagonal-block)
		}
	}
	return b, w
}

// conformalQuotient is the quotient α'Pα / α'Qα of the cores.
type conformalQuotient struct {
	cores [][]float64
	gamma float64
	k1    *mat.Dense // M x (n+1)
	b     *mat.SymDense
	wd    *mat.SymDense // W0 + D I
	p, q  *mat.SymDense
}

// rayleigh sets up P and Q for cores of any place, a core width and a ridge.
func (p *conformalProblem) rayleigh(cores [][]float64, gamma, ridge float64) *conformalQuotient {
	m := len(p.y)
	r := &conformalQuotient{cores: cores, gamma: gamma, k1: mat.NewDense(m, len(cores)+1, nil), b: p.b, wd: mat.NewSymDense(m, nil)}
	core := kernel.RBF(gamma)
	for i := range m {
		r.k1.Set(i, 0, 1)
		for j, a := range cores {
			r.k1.Set(i, j+1, core.Eval(p.x.RawRowView(i), a))
		}
	}
	r.wd.CopySym(p.w)
	for i := range m {
		r.wd.SetSym(i, i, r.wd.At(i, i)+ridge)
	}
	r.p, r.q = conformalWithin(r.k1, r.b), conformalWithin(r.k1, r.wd)
	return r
}

// conformalWithin returns v'av for a symmetric a.
func conformalWithin(v mat.Matrix, a *mat.SymDense) *mat.SymDense {
	var av, vav mat.Dense
	av.Mul(a, v)
	vav.Mul(v.T(), &av)
	return conformalSymmetric(&vav)
}

// conformalSymmetric returns (a + a')/2.
func conformalSymmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}

// qValues are the eigenvalues of Q, ascending.
func (r *conformalQuotient) qValues() ([]float64, error) {
	var es mat.EigenSym
	if !es.Factorize(r.q, false) {
		return nil, errors.New("the eigenvalues of Q did not converge")
	}
	return es.Values(nil), nil
}

// quotient is α'Pα / α'Qα.
func (r *conformalQuotient) quotient(alpha []float64) float64 {
	v := mat.NewVecDense(len(alpha), alpha)
	return mat.Inner(v, r.p, v) / mat.Inner(v, r.q, v)
}

// conformalVectors are the solution of P α = g Q α on the range of K1.
type conformalVectors struct {
	values []float64 // g, descending, one for each dimension of range(K1)
	top    []float64 // α of the largest g; mean |c| over the rows is 1, Σc >= 0
}

// solve follows the steps of the lesson: an orthonormal basis of the range of K1,
// the symmetric problem in it, α by least squares.
func (r *conformalQuotient) solve() (*conformalVectors, error) {
	var svd mat.SVD
	if !svd.Factorize(r.k1, mat.SVDThin) {
		return nil, errors.New("the singular values of the core matrix did not converge")
	}
	sigma := svd.Values(nil)
	rank := 0
	for rank < len(sigma) && sigma[rank] > 1e-8*sigma[0] {
		rank++
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	rows, _ := left.Dims()
	cols, _ := right.Dims()
	u := left.Slice(0, rows, 0, rank)
	// With Q = LL' on the basis, L⁻¹ P L⁻ᵀ is symmetric and has the same values.
	var chol mat.Cholesky
	if !chol.Factorize(conformalWithin(u, r.wd)) {
		return nil, errors.New("the scatter within the classes is 0 in some direction of the cores; raise the ridge D")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var half, whole mat.Dense
	if err := half.Solve(&l, conformalWithin(u, r.b)); err != nil {
		return nil, err
	}
	if err := whole.Solve(&l, half.T()); err != nil {
		return nil, err
	}
	var es mat.EigenSym
	if !es.Factorize(conformalSymmetric(&whole), true) {
		return nil, errors.New("the eigenvalues did not converge")
	}
	e := &conformalVectors{values: es.Values(nil)}
	slices.Reverse(e.values)
	var vectors mat.Dense
	es.VectorsTo(&vectors)
	var z, alpha mat.VecDense
	if err := z.SolveVec(l.T(), vectors.ColView(rank-1)); err != nil {
		return nil, err
	}
	for i := range rank {
		z.SetVec(i, z.AtVec(i)/sigma[i])
	}
	alpha.MulVec(right.Slice(0, cols, 0, rank), &z)
	e.top = r.normed(alpha.RawVector().Data)
	return e, nil
}

// normed scales α to mean |c| = 1 over the rows and turns its sign to Σc >= 0.
func (r *conformalQuotient) normed(alpha []float64) []float64 {
	c := r.factors(alpha)
	if size := floats.Norm(c, 1); size > 0 {
		f := math.Copysign(float64(len(c))/size, floats.Sum(c))
		return floats.ScaleTo(make([]float64, len(alpha)), f, alpha)
	}
	return alpha
}

// factors are c = K1 α at the rows.
func (r *conformalQuotient) factors(alpha []float64) []float64 {
	var c mat.VecDense
	c.MulVec(r.k1, mat.NewVecDense(len(alpha), alpha))
	return c.RawVector().Data
}

// mapOf is the conformal map of these coefficients.
func (r *conformalQuotient) mapOf(alpha []float64) *mlconformal.Map {
	return &mlconformal.Map{Gamma: r.gamma, Alpha0: alpha[0], Alpha: alpha[1:], Cores: r.cores}
}

// climb records gradient ascent on the quotient from α = (1, 0, ..., 0), the kernel
// as it is: unit steps along the gradient, times η₀ (1 - t/N), α brought back to
// length one (Xiong et al. 2005, with the step relative to α as in package
// conformal).
func (r *conformalQuotient) climb(ctx context.Context, steps int, rate float64) *trace.Replay[[]float64] {
	return trace.Record(ctx, steps, func(yield func([]float64) bool) trace.Status {
		n := len(r.cores) + 1
		alpha := mat.NewVecDense(n, nil)
		alpha.SetVec(0, 1)
		var up, qa mat.VecDense
		for t := range steps + 1 {
			if !yield(mat.Col(nil, 0, alpha)) {
				return trace.IterationLimit
			}
			up.MulVec(r.p, alpha)
			qa.MulVec(r.q, alpha)
			up.AddScaledVec(&up, -mat.Dot(alpha, &up)/mat.Dot(alpha, &qa), &qa)
			size := mat.Norm(&up, 2)
			if size == 0 {
				return trace.Converged
			}
			alpha.AddScaledVec(alpha, rate*(1-float64(t)/float64(steps))/size, &up)
			alpha.ScaleVec(1/mat.Norm(alpha, 2), alpha)
		}
		return trace.IterationLimit
	})
}

// conformalByClass is the order of the rows with the class -1 first.
func conformalByClass(y []float64) (order []int) {
	for _, label := range []float64{-1, 1} {
		for i, v := range y {
			if v == label {
				order = append(order, i)
			}
		}
	}
	return order
}

// conformalReordered is a symmetric matrix with its rows and columns in this order.
func conformalReordered(a mat.Symmetric, order []int) *mat.SymDense {
	out := mat.NewSymDense(len(order), nil)
	for i, p := range order {
		for j := i; j < len(order); j++ {
			out.SetSym(i, j, a.At(p, order[j]))
		}
	}
	return out
}

// conformalSquare is a picture of a symmetric matrix of points, rows and columns in
// the given order, blocks marked where that sorts them by class. scale is that of
// figure.Matrix.
func conformalSquare(name, caption, entry string, a mat.Symmetric, y []float64, order []int, scale float64) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		m := figure.Matrix{Format: l.Format(0), Name: entry, Values: conformalReordered(a, order), Scale: scale, ClassNames: []string{"y = −1", "y = +1"}}
		for _, i := range order {
			m.Classes = append(m.Classes, class(y[i]))
		}
		return m.Picture()
	}}
}

// conformalFactorFigure is the heat map of the conformal factor of a model.
func conformalFactorFigure(name, caption string, m *ml.Model, d *dataset.Data, s ml.Spec, change func(*figure.Scene)) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		sc, err := conformalScene(m, d, s, l)
		if err != nil {
			return nil, err
		}
		if change != nil {
			change(&sc)
		}
		return figure.Conformal(sc)
	}}
}

// conformalScene is the scene of a model on its data, over the two most telling columns
// where there are more.
func conformalScene(m *ml.Model, d *dataset.Data, s ml.Spec, l Look) (figure.Scene, error) {
	points, err := m.Points(d, s)
	if err != nil {
		return figure.Scene{}, err
	}
	v, ok := m.View()
	if !ok {
		if v, err = conformalView(d, m.Positive); err != nil {
			return figure.Scene{}, err
		}
	}
	sc := figure.Scene{Model: m, Points: points, View: v, Classes: d.Classes, Dark: l.Dark, Width: l.Width, Height: l.Height, LegendRows: 2, Cores: true}
	if l.Coarse {
		sc.Grid = 80
	}
	return sc, nil
}

// conformalMost is the largest number of rows that the lessons on conformal maps
// work on.
const conformalMost = 200

// conformalLoad is the data set that was chosen, with at most conformalMost rows,
// and remarks about what was left out.
func conformalLoad(ctx context.Context, in Input) (*dataset.Data, []string, error) {
	_, d, err := in.Data(ctx)
	if err != nil {
		return nil, nil, err
	}
	thin, notes, err := conformalThin(d)
	if err != nil {
		return nil, nil, err
	}
	if len(d.Classes) > 2 {
		notes = append(notes, fmt.Sprintf("%d classes: here the last, %s, against the others together.", len(d.Classes), conformalPositive(d)))
	}
	return thin, notes, nil
}

// conformalPositive is the class +1: the last.
func conformalPositive(d *dataset.Data) string { return d.Classes[len(d.Classes)-1] }

// conformalThin draws conformalMost rows of a larger data set, about the same share
// of every class and always the same rows.
func conformalThin(d *dataset.Data) (*dataset.Data, []string, error) {
	n := len(d.Y)
	if n <= conformalMost {
		return d, nil, nil
	}
	class := make([]float64, n)
	for i, c := range d.Y {
		class[i] = float64(c)
	}
	keep, _ := dataset.Split(class, 1-float64(conformalMost)/float64(n), 1)
	thin := selectRows(d, keep)
	return thin, []string{fmt.Sprintf("%d of the %d rows, for speed. The lab takes all.", len(keep), n)}, thin.Validate()
}

// conformalColumns are the two columns whose class means are furthest apart, in
// deviations; one for data with one.
func conformalColumns(d *dataset.Data, positive string) ([]int, error) {
	y, _, _, err := d.Binary(positive)
	if err != nil {
		return nil, err
	}
	z := dataset.FitScaler(d.X).Apply(d.X)
	n := map[float64]float64{}
	for _, v := range y {
		n[v]++
	}
	apart := make([]float64, len(d.Features))
	columns := make([]int, len(apart))
	for j := range apart {
		columns[j] = j
		for i, v := range y {
			apart[j] += v / n[v] * z.At(i, j)
		}
		apart[j] = math.Abs(apart[j])
	}
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(apart[b], apart[a]) })
	columns = columns[:min(2, len(columns))]
	slices.Sort(columns)
	return columns, nil
}

// conformalView is the picture over these columns, the others at their means.
func conformalView(d *dataset.Data, positive string) (dataset.View, error) {
	columns, err := conformalColumns(d, positive)
	if err != nil {
		return dataset.View{}, err
	}
	second := ""
	if len(columns) > 1 {
		second = d.Features[columns[1]]
	}
	return dataset.ColumnView(d, d.Features[columns[0]], second)
}
