// Package ridge implements kernel ridge regression.
//
// Train solves, over a in R^M,
//
//	minimise 1/2 sum_i (t_i - f(x_i))^2 + 1/2 lambda |w|^2,   f(x) = sum_j a_j k(x_j, x)
//
// with |w|^2 = a'Ka, in closed form: a = (K + lambda I)^-1 t (Saunders, Gammerman and Vovk,
// "Ridge regression learning algorithm in dual variables", ICML 1998). There is no bias, and the
// coefficients are not sparse. With targets -1 and +1 the sign of f is a classifier.
//
// # Certificate
//
// The dual maximises lambda (a't - 1/2 lambda |a|^2 - 1/2 a'Ka), and at any a the duality gap is
// 1/2 |r|^2 for the residual r = t - Ka - lambda a of the linear system: a small residual proves
// that the objective is close to the minimum.
//
// # Leave one out
//
// With A = K + lambda I, the function fitted to all points but i has the error a_i / (A^-1)_ii at
// i, so no refitting is needed (Cawley and Talbot, "Fast exact leave-one-out cross-validation of
// sparse least-squares support vector machines", Neural Networks 17, 2004). Its value at i is
// t_i - a_i / (A^-1)_ii or, since t = Aa,
//
//	sum_{j != i} K_ij a_j + a_i (A_ii - 1/(A^-1)_ii).
//
// The first form loses all digits if the values are tiny compared with t, the second if A is
// nearly singular. Each point uses the form with the smaller terms.
//
// # Method and limits
//
// The Cholesky factor U'U = A takes M^3/3 operations and gives a. Its inverse U^-T takes twice as
// many and gives the diagonal of A^-1. Residuals of freshly computed rows of K refine a. Train
// stores M x M numbers, see MaxBytes. The conjugate gradient method would store none, but it does
// not give the diagonal of A^-1, and its number of steps is proportional to the square root of the
// condition number.
//
// The kernel need not be positive semidefinite, but lambda must exceed minus its smallest
// eigenvalue: then A has a factor and a maximises the dual.
package ridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dense"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Params describes the user's parameters.
var Params = []param.Param{{
	Name: "lambda", Label: "regularisation", Symbol: "λ", Kind: param.Number, Default: "1",
	Min: 0, OpenMin: true, Max: 1e12, Low: 1e-6, High: 1e3, Log: true, Telling: true,
	Help: "Price of |w|²: a large λ makes f small and smooth, a small one makes it follow every target.",
}}

// MaxBytes is the largest size of the kernel matrix, in bytes: 11 585 points.
const MaxBytes = 1 << 30

// Matrix is a symmetric M x M kernel matrix given row by row. Its methods must be safe for
// concurrent use.
type Matrix interface {
	Len() int                 // M
	Row(dst []float64, i int) // dst[j] = K_ij, len(dst) = M
}

// Settings configures Train.
type Settings struct {
	Lambda   float64        // weight of 1/2 |w|^2, > 0
	Recorder trace.Recorder // progress, may be nil
}

// Result holds the fitted function.
type Result struct {
	A []float64 // coefficients, length M: f(x) = sum_j a_j k(x_j, x)
	F []float64 // f(x_i) on the training points, length M

	// LeftOut holds, for each point, the value there of the function fitted to all other points.
	LeftOut []float64

	// Status is converged if both RelativeGap and the relative error of A, as estimated from
	// Condition and the residual, are at most 1e-6; otherwise numerical.
	Status    trace.Status
	Objective float64 // 1/2 sum (t_i - f(x_i))^2 + 1/2 lambda |w|^2
	Gap       float64 // 1/2 |r|^2 / max(1, |Objective|): bounds the distance from the minimum
	// RelativeGap is 1/2 |r|^2 / |Objective|.
	RelativeGap float64
	MSE         float64 // mean (t_i - f(x_i))^2
	LOOError    float64 // mean (t_i - LeftOut_i)^2
	WNorm       float64 // |w|; 0 if an indefinite kernel makes a'Ka negative
	Condition   float64 // lower estimate of |A| |A^-1| in the 1-norm, within a small factor
	Shift       float64 // amount added to lambda to obtain a factor; non-zero only if the matrix is singular to working precision
	Iterations  int     // solutions of the system: the first one and its refinements
}

// accuracy is the relative error of the coefficients at which a result counts as converged.
const accuracy = 1e-6

// Train fits f to the M points of k with finite targets t.
//
// If A is singular to working precision, Train adds a small Shift to lambda to obtain a factor, and
// the status is numerical. It returns an error for invalid input (lengths, settings out of range,
// entries or targets that are not finite, more points than MaxBytes allows), for a lambda that does
// not exceed minus the smallest eigenvalue of K, and ctx.Err() if ctx ends.
func Train(ctx context.Context, k Matrix, t []float64, s Settings) (*Result, error) {
	if err := check(k, t, s); err != nil {
		return nil, err
	}
	u, err := decompose(ctx, k, s.Lambda)
	if err != nil {
		return nil, err
	}
	res := &Result{Shift: u.shift}
	if res.Condition, err = u.condition(ctx); err != nil {
		return nil, err
	}
	r, err := res.solve(ctx, u, k, t, s)
	if err != nil {
		return nil, err
	}
	if err := res.leaveOut(ctx, u, k, t); err != nil {
		return nil, err
	}
	if v := res.Objective + res.LOOError + floats.Norm(res.A, 1); math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, param.Refuse("scale the inputs and targets, or raise lambda", "sums of kernel values are too large for floating-point numbers")
	}
	res.Status = trace.Converged
	relativeError := max(floats.Norm(r, 1)/(u.norm*floats.Norm(res.A, 1)), epsilon) * res.Condition
	if floats.Norm(res.A, 1) > 0 && !(relativeError <= accuracy) || res.Shift > 0 || res.RelativeGap > accuracy {
		res.Status = trace.Numerical
	}
	return res, nil
}

func check(k Matrix, t []float64, s Settings) error {
	m := k.Len()
	switch {
	case m == 0:
		return errors.New("ridge: there are no training points")
	case len(t) != m:
		return fmt.Errorf("ridge: %d targets for %d training points", len(t), m)
	case !(s.Lambda > 0) || math.IsInf(s.Lambda, 1):
		return fmt.Errorf("ridge: lambda must be above 0 and finite, not %g", s.Lambda)
	}
	if bytes := 8 * float64(m) * float64(m); bytes > MaxBytes {
		return param.Refuse("train on fewer rows, or for classification use a learner that does not store the matrix, such as the SVM",
			"kernel ridge stores the kernel matrix: %d training points need %.1f GiB, and the limit is %.1f GiB or %d points", m, bytes/(1<<30), float64(MaxBytes)/(1<<30), int(math.Sqrt(MaxBytes/8)))
	}
	for i, v := range t {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("ridge: target %d is %g; targets must be finite", i+1, v)
		}
	}
	return nil
}

// epsilon is the spacing of floating-point numbers at 1.
const epsilon = 0x1p-52

// factor is the Cholesky factor of K + (lambda + shift) I.
type factor struct {
	u     blas64.General // upper triangle; undefined below
	norm  float64        // of the matrix: largest absolute row sum
	shift float64
}

// rounding bounds how far, in units of epsilon times the norm, rounding moves the eigenvalues of
// a positive semidefinite matrix below zero.
const rounding = 1e3

// decompose factors K + (lambda + shift) I for the first shift of an increasing sequence, from 0,
// that makes it positive definite. If that exceeds rounding, it returns an error that names a
// sufficient lambda.
func decompose(ctx context.Context, k Matrix, lambda float64) (*factor, error) {
	m := k.Len()
	f := &factor{u: blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}}
	try := func(shift float64) (bool, error) {
		f.shift = shift
		if err := f.fill(ctx, k, lambda+shift); err != nil {
			return false, err
		}
		return dense.Cholesky(ctx, f.u)
	}
	ok, err := try(0)
	for shift := epsilon * f.norm; !ok && err == nil; shift *= 10 {
		ok, err = try(shift)
	}
	if err != nil {
		return nil, err
	}
	if f.shift <= rounding*epsilon*f.norm {
		return f, nil
	}
	low, enough := f.shift/10, f.shift
	for range 3 {
		middle := math.Sqrt(low * enough)
		if ok, err = try(middle); err != nil {
			return nil, err
		}
		if ok {
			enough = middle
		} else {
			low = middle
		}
	}
	return nil, param.Refuse(fmt.Sprintf("raise lambda to %g, or use a kernel that is positive semidefinite", round(lambda+1.05*enough)),
		"lambda is %g, but the kernel matrix has an eigenvalue below −lambda: K + lambda I is not positive definite", lambda)
}

// round rounds v to two significant digits.
func round(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64)
	if err != nil {
		return v // the largest numbers overflow
	}
	return r
}

// fill writes K + lambda I to f.u and sets f.norm.
func (f *factor) fill(ctx context.Context, k Matrix, lambda float64) error {
	sums := make([]float64, k.Len())
	err := dense.Parallel(ctx, len(sums), func(from, to int) {
		for i := from; i < to; i++ {
			row := f.u.Data[i*f.u.Stride:][:f.u.Cols]
			k.Row(row, i)
			row[i] += lambda
			sums[i] = floats.Norm(row, 1)
		}
	})
	if err != nil {
		return err
	}
	for i, sum := range sums {
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return param.Refuse("check the kernel's parameters and the scale of the data", "the kernel matrix has entries in row %d that are not finite", i+1)
		}
	}
	f.norm = floats.Max(sums)
	return nil
}

// condition estimates the condition number of the matrix by a few solves (Hager 1984; the
// alternating vector is Higham's).
func (f *factor) condition(ctx context.Context) (float64, error) {
	m := f.u.Rows
	x, signs := slices.Repeat([]float64{1 / float64(m)}, m), make([]float64, m)
	inverse := 0.0
	for range 5 {
		if err := pace.Look(ctx); err != nil {
			return 0, err
		}
		dense.Solve(f.u, x)
		now := floats.Norm(x, 1)
		if now <= inverse {
			break
		}
		inverse = now
		for i, v := range x {
			signs[i] = math.Copysign(1, v)
		}
		dense.Solve(f.u, signs)
		steepest := 0
		for i, v := range signs {
			if math.Abs(v) > math.Abs(signs[steepest]) {
				steepest = i
			}
		}
		clear(x)
		x[steepest] = 1
	}
	for i := range x {
		x[i] = float64(1-2*(i%2)) * (1 + float64(i)/float64(max(1, m-1)))
	}
	dense.Solve(f.u, x)
	return f.norm * max(inverse, 2*floats.Norm(x, 1)/float64(3*m)), nil
}

// refinements is the maximal number of iterative refinements.
const refinements = 5

// solve sets A, F and the fields that depend on them, and returns the residual of A. With a shift,
// A is the solution for lambda + shift, but the residual and the objective are those for lambda.
func (res *Result) solve(ctx context.Context, u *factor, k Matrix, t []float64, s Settings) (r []float64, err error) {
	a := make([]float64, len(t))
	step := t
	for {
		next, d := make([]float64, len(t)), slices.Clone(step)
		dense.Solve(u.u, d)
		floats.AddTo(next, a, d)
		f, err := product(ctx, k, next)
		if err != nil {
			return nil, err
		}
		residual := make([]float64, len(t))
		for i := range residual {
			residual[i] = t[i] - f[i] - s.Lambda*next[i]
		}
		if r != nil && !(floats.Norm(residual, 2) < floats.Norm(r, 2)/2) {
			break // no further improvement
		}
		a, r, step = next, residual, residual
		res.Iterations++
		res.A, res.F = a, f
		res.measure(t, r, s.Lambda)
		if s.Recorder != nil {
			s.Recorder(trace.Step{Phase: "ridge", Iteration: res.Iterations, Objective: res.Objective, Violation: floats.Norm(r, math.Inf(1))})
		}
		if u.shift > 0 || res.Iterations > refinements {
			break
		}
	}
	return r, nil
}

// measure sets the fields that depend on A and F, given the residual r.
func (res *Result) measure(t, r []float64, lambda float64) {
	w, distance := floats.Dot(res.A, res.F), floats.Distance(t, res.F, 2)
	res.WNorm = math.Sqrt(max(0, w))
	res.MSE = distance * distance / float64(len(t))
	res.Objective = distance*distance/2 + lambda*w/2
	res.Gap, res.RelativeGap = trace.Relative(floats.Dot(r, r)/2, res.Objective)
}

// product returns K a.
func product(ctx context.Context, k Matrix, a []float64) ([]float64, error) {
	f := make([]float64, len(a))
	err := dense.Parallel(ctx, len(a), func(from, to int) {
		row := make([]float64, len(a))
		for i := from; i < to; i++ {
			k.Row(row, i)
			f[i] = floats.Dot(row, a)
		}
	})
	return f, err
}

// columns is the number of columns of U^-T computed at a time.
const columns = 128

// leaveOut sets LeftOut and LOOError. (A^-1)_ii is the squared length of column i of U^-T, which
// is zero above the diagonal. As A_ii is the squared length of column i of U, A_ii (A^-1)_ii - 1
// is a sum of squares, without cancellation.
func (res *Result) leaveOut(ctx context.Context, u *factor, k Matrix, t []float64) error {
	m := len(t)
	others := make([]float64, m) // sum_{j != i} K_ij a_j
	err := dense.Parallel(ctx, m, func(from, to int) {
		row := make([]float64, m)
		for i := from; i < to; i++ {
			k.Row(row, i)
			row[i] = 0
			others[i] = floats.Dot(row, res.A)
		}
	})
	if err != nil {
		return err
	}
	above := make([]float64, m) // sum_{j < i} U_ji²
	for j := range m {
		for i, v := range u.u.Data[j*u.u.Stride:][j+1 : m] {
			above[j+1+i] += v * v
		}
	}
	res.LeftOut = make([]float64, m)
	data := make([]float64, m*min(m, columns))
	sum := 0.0
	for from := 0; from < m; from += columns {
		to := min(from+columns, m)
		x := blas64.General{Rows: m - from, Cols: to - from, Stride: to - from, Data: data[:(m-from)*(to-from)]}
		clear(x.Data)
		for i := range x.Cols {
			x.Data[i*x.Stride+i] = 1
		}
		if err := dense.Divide(ctx, blas.Trans, dense.Block(u.u, from, m, from, m), x); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			below := 0.0
			for j := i - from + 1; j < x.Rows; j++ {
				v := x.Data[j*x.Stride+i-from]
				below += v * v
			}
			pivot := u.u.Data[i*u.u.Stride+i] * u.u.Data[i*u.u.Stride+i]
			residual := res.A[i] / (1/pivot + below)
			correction := residual * (above[i]/pivot + (pivot+above[i])*below)
			res.LeftOut[i] = t[i] - residual
			if math.Abs(others[i])+math.Abs(correction) < math.Abs(t[i])+math.Abs(residual) {
				res.LeftOut[i] = others[i] + correction
			}
			sum += residual * residual
		}
	}
	res.LOOError = sum / float64(m)
	return nil
}
