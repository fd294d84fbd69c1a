package conformal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dense"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

// Entry is a row of the table of methods.
type Entry struct {
	Name    string        // identifier in specs: "eigen"
	Label   string        // shown on a page
	Formula string        // plain text with Unicode, shown beside the controls
	Help    string        // one or two plain sentences
	Params  []param.Param // core_gamma, core_ridge, core_step as they apply

	// fit returns alpha = (alpha_0, ..., alpha_n) and the stats of the method.
	fit func(ctx context.Context, p *problem) ([]float64, Stats, error)
}

var (
	coreGamma = param.Param{
		Name: "core_gamma", Label: "core width", Symbol: "γ_c", Kind: param.Number, Default: "auto", Words: []string{"auto"},
		Min: 0, OpenMin: true, Max: 1e9, Low: 1e-3, High: 1e3, Log: true, Telling: true,
		Help: "How fast the influence of a core fades with distance. auto is the kernel's own gamma, or 1/d if it has none; for objects without coordinates, 1 over their variance in feature space.",
	}
	coreRidge = param.Param{
		Name: "core_ridge", Label: "ridge", Symbol: "D", Kind: param.Number, Default: "1e-3",
		Min: 0, Max: 1e3, Low: 1e-6, High: 1, Log: true,
		Help: "Added to the within-class scatter to keep it away from zero. Larger: a flatter map.",
	}
	coreStep = param.Param{
		Name: "core_step", Label: "cores", Symbol: "N", Kind: param.Integer, Default: "0",
		Min: 0, Max: 100_000,
		Help: "0 uses the support vectors of a first fit as cores; N uses every N-th training row.",
	}
)

// Table lists the methods in the order shown on pages. Training without a map is not a row.
var Table = []Entry{
	{
		Name: "eigen", Label: "eigenvalue (Badge et al. 2021)", Formula: "P α = g Q α,  P = K₁ᵀB₀K₁,  Q = K₁ᵀ(W₀ + D I)K₁,  largest g",
		Help:   "Finds the map that separates the classes best, in the sense of the Fisher scalar, in one step.",
		Params: []param.Param{coreGamma, coreRidge, coreStep},
		fit:    eigen,
	},
	{
		Name: "gradient", Label: "gradient (Xiong et al. 2005)", Formula: "α ← α + η₀ (1 − t/N) ∇J(α),  J = cᵀB₀c / cᵀW₀c",
		Help:   "Climbs the Fisher scalar step by step from the unchanged kernel and stops on the way to the top.",
		Params: []param.Param{coreGamma, coreRidge, coreStep},
		fit:    gradient,
	},
	{
		Name: "amari", Label: "Amari–Wu (1999)", Formula: "c(x) = Σⱼ exp(−γ_c |x − aⱼ|²),  γ_c = 1/(2τ²)",
		Help:   "Magnifies the space around the cores, which lie near the boundary. Nothing is optimised or rescaled, so C is not comparable.",
		Params: []param.Param{coreGamma, coreStep},
		fit:    amari,
	},
}

// Lookup returns the row of a method, or an error that lists the methods.
func Lookup(name string) (Entry, error) {
	if i := slices.IndexFunc(Table, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return Table[i], nil
	}
	names := lists.Map(Table, func(e Entry) string { return e.Name })
	return Entry{}, fmt.Errorf("conformal method %q is not known; use %s", name, strings.Join(names, ", "))
}

const (
	rankCut = 1e-8 // smaller singular values of K1, relative to the largest, count as zero

	// condition is the largest accepted condition number of U'(W0 + D I)U: beyond it the
	// eigenvalue would be rounding error.
	condition = 1e13
)

// reduce returns the small factor R of K1 = Q R, the scatter of the columns of Q, and the Fisher
// scalar of the unchanged kernel.
func (p *problem) reduce(ctx context.Context) (r *mat.Dense, s *scatter, stats Stats, err error) {
	q, r, err := p.coreFactors(ctx)
	if err == nil {
		s, err = p.scatter(ctx, q)
	}
	if err == nil {
		stats.JBefore, err = s.j(mat.Col(nil, 0, r))
	}
	return r, s, stats, err
}

// eigen maximises alpha'P alpha / alpha'Q alpha (Badge et al. 2021). Q is singular if K1 has
// dependent columns, as with repeated or close cores, and the ridge inside Q does not help. So
// the problem is solved for c = U z in an orthonormal basis U of range(K1),
//
//	U'B0U z = g (U'W0U + D I) z,
//
// by Cholesky reduction to an ordinary symmetric problem; alpha is the minimum-norm solution of
// K1 alpha = c. Both use the small factor R of K1 = Q R.
func eigen(ctx context.Context, p *problem) ([]float64, Stats, error) {
	r, s, stats, err := p.reduce(ctx)
	if err != nil {
		return nil, Stats{}, err
	}
	u, shortest, err := span(r)
	if err != nil {
		return nil, Stats{}, err
	}
	_, rank := u.Dims()
	stats.BasisRank = rank

	b, w := congruent(u, s.b), congruent(u, s.w)
	for i := range rank {
		w.SetSym(i, i, w.At(i, i)+p.Ridge)
	}
	values, z, err := spectrum(b, w)
	if err != nil {
		return nil, Stats{}, err
	}
	g := values[0]
	stats.Eigenvalue, stats.Spectrum, stats.Residual = g, values, residual(b, w, g, z)
	var c mat.VecDense // in the basis Q
	c.MulVec(u, mat.NewVecDense(rank, z))
	if stats.JAfter, err = jAfter(s, c.RawVector().Data); err != nil {
		return nil, Stats{}, err
	}
	alpha, err := shortest(z)
	if err != nil {
		return nil, Stats{}, err
	}
	stats.SignChange, err = p.normalize(alpha)
	return alpha, stats, err
}

// span returns an orthonormal basis U of the numerical range of r, and a function that returns
// the minimum-norm alpha with r alpha = U z.
func span(r *mat.Dense) (u *mat.Dense, shortest func(z []float64) ([]float64, error), err error) {
	rows, cols := r.Dims()
	alpha := mat.NewVecDense(cols, nil)
	// If the condition number, in the 1-norm, is this small, no singular value is below the cut:
	// r has full rank, and alpha is unique.
	if rows == cols {
		var lu mat.LU
		if lu.Factorize(r); lu.Cond()*float64(rows) < 1/rankCut {
			u = mat.NewDense(rows, rows, nil)
			for i := range rows {
				u.Set(i, i, 1)
			}
			return u, func(z []float64) ([]float64, error) {
				err := lu.SolveVecTo(alpha, false, mat.NewVecDense(rows, z))
				return alpha.RawVector().Data, err
			}, nil
		}
	}
	var svd mat.SVD
	if !svd.Factorize(r, mat.SVDThin) {
		return nil, nil, errNoSVD
	}
	sigma := svd.Values(nil)
	rank := 0
	for rank < len(sigma) && sigma[rank] > rankCut*sigma[0] {
		rank++
	}
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	return left.Slice(0, rows, 0, rank).(*mat.Dense), func(z []float64) ([]float64, error) {
		scaled := mat.NewVecDense(rank, nil)
		floats.DivTo(scaled.RawVector().Data, z, sigma[:rank])
		alpha.MulVec(right.Slice(0, cols, 0, rank), scaled)
		return alpha.RawVector().Data, nil
	}, nil
}

var errNoSVD = param.Refuse("use another core_gamma", "the singular values of the core matrix did not converge")

// congruent returns u'au.
func congruent(u *mat.Dense, a *mat.SymDense) *mat.SymDense {
	return symmetric(product(blas.Trans, u, product(blas.NoTrans, mat.DenseCopyOf(a), u)))
}

// symmetric returns (a + a')/2.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}

// jAfter returns the Fisher scalar of the fitted c = V z. The scalar of c = 1 is defined, so the map
// is the cause of a zero scatter.
func jAfter(s *scatter, z []float64) (float64, error) {
	j, err := s.j(z)
	if errors.Is(err, errNoScatter) {
		err = param.Refuse("add rows to the class, use fewer cores or a smaller core_gamma", "the fitted map leaves no scatter within the classes, so the Fisher scalar grows without bound; this happens when a class has a single row or only equal rows")
	}
	return j, err
}

// spectrum returns the eigenvalues g of b z = g q z, q positive definite, in descending order,
// and the eigenvector of the first. With q = LL' it is the eigenproblem of the symmetric L⁻¹ b
// L⁻ᵀ.
func spectrum(b, q *mat.SymDense) ([]float64, []float64, error) {
	n := b.SymmetricDim()
	var chol mat.Cholesky
	if !chol.Factorize(q) || chol.Cond() > condition {
		return nil, nil, param.Refuse("raise core_ridge", "the within-class scatter is singular on the span of the cores (or, for a kernel that is not positive semidefinite, indefinite)")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var c mat.Dense
	c.CloneFrom(b)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, l.RawTriangular(), c.RawMatrix())
	blas64.Trsm(blas.Right, blas.Trans, 1, l.RawTriangular(), c.RawMatrix())
	values, vectors, ok := dense.Eigen(symmetric(&c), true)
	if !ok {
		return nil, nil, param.Refuse("raise core_ridge", "the eigenvalues did not converge")
	}
	z := mat.Col(nil, n-1, vectors)
	blas64.Trsv(blas.Trans, l.RawTriangular(), blas64.Vector{N: n, Data: z, Inc: 1})
	slices.Reverse(values)
	return values, z, nil
}

// residual returns |b z - g q z| / |b z|.
func residual(b, q *mat.SymDense, g float64, z []float64) float64 {
	zv := mat.NewVecDense(len(z), z)
	var bz, qz mat.VecDense
	bz.MulVec(b, zv)
	qz.MulVec(q, zv)
	size := mat.Norm(&bz, 2)
	bz.AddScaledVec(&bz, -g, &qz)
	if size == 0 {
		return 0 // only if g = 0: no direction separates the classes
	}
	return mat.Norm(&bz, 2) / size
}

const (
	defaultSteps = 200
	defaultRate  = 0.1
)

// gradient maximises J(alpha) = alpha'P alpha / alpha'Q alpha from alpha = (1, 0, ..., 0), the
// unchanged kernel (Xiong et al. 2005). Its gradient is
//
//	∇J = 2 (P alpha - J Q alpha) / alpha'Q alpha.
//
// Unlike in the paper, Q includes the ridge D, and steps are relative: the gradient is normalised,
// and so is alpha after each step (J does not depend on its length), so that eta(t) = eta0 (1 - t/N)
// has the same effect for every kernel and number of cores. gradient returns the iterate, possibly
// the start, with the largest Fisher scalar without ridge, so that J never decreases.
func gradient(ctx context.Context, p *problem) ([]float64, Stats, error) {
	r, s, stats, err := p.reduce(ctx)
	if err != nil {
		return nil, Stats{}, err
	}
	rank, n := r.Dims()
	alpha := mat.NewVecDense(n, nil)
	alpha.SetVec(0, 1)
	best := mat.VecDenseCopyOf(alpha)
	stats.JAfter = stats.JBefore

	steps, rate := cmp.Or(p.Steps, defaultSteps), cmp.Or(p.Rate, defaultRate)
	// c = Q z with z = R alpha, and P alpha = R' bz, Q alpha = R' wz.
	z, bz, wz := mat.NewVecDense(rank, nil), mat.NewVecDense(rank, nil), mat.NewVecDense(rank, nil)
	up := mat.NewVecDense(n, nil)
	for {
		if p.Visit != nil {
			p.Visit(mat.Col(nil, 0, alpha))
		}
		z.MulVec(r, alpha)
		bz.MulVec(s.b, z)
		wz.MulVec(s.w, z)
		if j := mat.Dot(z, bz) / mat.Dot(z, wz); mat.Dot(z, wz) > 0 && j > stats.JAfter {
			stats.JAfter = j
			best.CopyVec(alpha)
		}
		wz.AddScaledVec(wz, p.Ridge, z)
		scatter := mat.Dot(z, wz)
		if stats.Steps == steps || !(scatter > 0) { // negative for an indefinite kernel
			break
		}
		if err := pace.Look(ctx); err != nil {
			return nil, Stats{}, err
		}
		bz.AddScaledVec(bz, -mat.Dot(z, bz)/scatter, wz)
		up.MulVec(r.T(), bz) // along ∇J
		size := mat.Norm(up, 2)
		if !(size > 0) || math.IsInf(size, 1) {
			break
		}
		eta := rate * (1 - float64(stats.Steps)/float64(steps))
		alpha.AddScaledVec(alpha, eta/size, up)
		alpha.ScaleVec(1/mat.Norm(alpha, 2), alpha)
		stats.Steps++
	}
	z.MulVec(r, best)
	if stats.JAfter, err = jAfter(s, z.RawVector().Data); err != nil {
		return nil, Stats{}, err
	}
	stats.SignChange, err = p.normalize(best.RawVector().Data)
	return best.RawVector().Data, stats, err
}

// amari returns c(x) = sum_j exp(-gamma |x - a_j|²) with gamma = 1/(2 tau²), the original formula
// of Amari and Wu (1999), without optimisation and, unlike the other methods, without scaling c
// to mean 1.
func amari(ctx context.Context, p *problem) ([]float64, Stats, error) {
	alpha := append([]float64{0}, slices.Repeat([]float64{1}, p.number())...)
	v := mat.NewDense(len(p.order), 2, nil) // [1 | c]
	for i, c := range p.factors(alpha) {
		v.Set(i, 0, 1)
		v.Set(i, 1, c)
	}
	s, err := p.scatter(ctx, v)
	if err != nil {
		return nil, Stats{}, err
	}
	stats := Stats{}
	if stats.JBefore, err = s.j([]float64{1, 0}); err != nil {
		return nil, Stats{}, err
	}
	if stats.JAfter, err = jAfter(s, []float64{0, 1}); err != nil {
		return nil, Stats{}, err
	}
	return alpha, stats, nil
}
