package kernelridge

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dense"
	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/ridge"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// J is minimal at the weights shown; unlike the absorbed bias, a free one equates the means.
func TestSquares(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"0", "5"} {
		e := lessonstest.Show(t, Lesson(), "squares", "level", by)
		targets, fitted := lessonstest.Number(t, e, "mean of the targets"), lessonstest.Number(t, e, "mean of f at the points")
		require.Check(t, by != "5" || targets != fitted,
			"raised by 5, both means are %s: the slip shows nothing", targets)
	}
	// The line fitted to centred targets, as with a free bias, has mean residual 0.
	l := lifted(5)
	m := mean(l.T)
	centred := line{l.X, append([]float64(nil), l.T...)}
	floats.AddConst(-m, centred.T)
	raised := fit(t.Context(), l, powers(3, "100")...)
	centredFit := fit(t.Context(), centred, powers(3, "100")...)
	off := func(c *curve, bias float64) (sum float64) {
		for i, x := range c.X {
			sum += c.T[i] - c.at(x) - bias
		}
		return math.Abs(sum / float64(len(c.X)))
	}
	a, b := off(raised, 0), off(centredFit, 0)
	require.Check(t, a >= 10*b, "with the bias absorbed the mean miss is %g, with centred targets %g", a, b)
}

// TestDualWhereKIsSingular: other coefficients also solve 001's equation K(K + lambda I)a = Kt
// and give the same function; the closed form is one solution.
func TestDualWhereKIsSingular(t *testing.T) {
	t.Parallel()
	l, lambda := few(), 0.5
	k := theory.Gram(kernel.NewGram(kernel.Polynomial(1, 1, 2), l.column()))
	require.Equal(t, rankOf(k), 3, "rank")
	res := require.Value(ridge.Train(t.Context(), kernel.NewGram(kernel.Polynomial(1, 1, 2), l.column()), l.T, ridge.Settings{Lambda: lambda}))(t)
	_, q, ok := dense.Eigen(k, true)
	require.Must(t, ok, "no eigenvalues")
	n := len(l.X)
	other := mat.NewVecDense(n, append([]float64(nil), res.A...))
	other.AddScaledVec(other, 3, q.ColView(0)) // eigenvector of the smallest eigenvalue, 0
	left, right := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	left.MulVec(k, other)
	left.AddScaledVec(left, lambda, other)
	left.MulVec(k, left)
	right.MulVec(k, mat.NewVecDense(n, l.T))
	require.Check(t, mat.EqualApprox(left, right, 1e-9), "%v does not solve the equation", other.RawVector().Data)
	for i := range n {
		lessonstest.Near(t, "f at point "+strconv.Itoa(i+1), mat.Dot(mat.NewVecDense(n, mat.Row(nil, i, k)), other), res.F[i], 1e-9)
	}
}

// TestResidualsAreLambdaA checks several settings, and that no coefficient is 0.
func TestResidualsAreLambdaA(t *testing.T) {
	t.Parallel()
	for _, lambda := range []string{"0.001", "0.1", "10"} {
		for _, gamma := range []string{"0.2", "2", "20"} {
			c := fit(t.Context(), withPulled(2.5), rbf(gamma, lambda)...)
			price, _ := strconv.ParseFloat(lambda, 64)
			for i, a := range c.Coefficients() {
				lessonstest.Near(t, "residual", c.T[i]-c.at(c.X[i]), price*a, 1e-7)
				require.Check(t, a != 0, "lambda %s, gamma %s: point %d has no say", lambda, gamma, i+1)
			}
		}
	}
}

// The closed form agrees with refitting, and no leave-one-out error is below its residual.
func TestLeftOutTwoWays(t *testing.T) {
	t.Parallel()
	l := drawn(14, 1)
	for _, lambda := range []float64{1e-3, 0.1, 100} {
		for _, gamma := range []float64{0.05, 2, 100} {
			pairs := rbf(lessons.Setting(gamma), lessons.Setting(lambda))
			c := fit(t.Context(), l, pairs...)
			shares := influences(t.Context(), l, gamma, lambda)
			closed := require.Value(ridge.Train(t.Context(), kernel.NewGram(kernel.RBF(gamma), l.column()), l.T, ridge.Settings{Lambda: lambda}))(t)
			for i, r := range refitted(t.Context(), l, pairs...) {
				residual, miss := l.T[i]-c.at(l.X[i]), l.T[i]-r.at(l.X[i])
				lessonstest.Near(t, "left-out miss", residual/(1-shares[i]), miss, 1e-6)
				lessonstest.Near(t, "the same by line 7", l.T[i]-closed.LeftOut[i], miss, 1e-6)
				require.Check(t, math.Abs(miss) >= math.Abs(residual)*(1-1e-9),
					"lambda %g, gamma %g, point %d: left out it is missed by %g, otherwise by %g", lambda, gamma, i+1, miss, residual)
			}
		}
	}
}

// TestPathFalls: as lambda falls, the training error falls and the degrees of freedom grow for
// any width; and leave-one-out chooses a lambda close to the best on the screen.
func TestPathFalls(t *testing.T) {
	t.Parallel()
	for _, gamma := range []string{"0.05", "2", "100"} {
		c := fit(t.Context(), many(), rbf(gamma, "1")...)
		p := require.Value(ml.Path(t.Context(), c.Data, c.Spec))(t)
		var before ridge.Point
		for i, v := range lambdas() {
			at, ok := p.At(v)
			require.Must(t, ok, "gamma %s, lambda %g: singular", gamma, v)
			require.Check(t, i == 0 || at.MSE >= before.MSE && at.Freedom <= before.Freedom,
				"gamma %s, lambda %g: training error %g after %g, freedom %g after %g", gamma, v, at.MSE, before.MSE, at.Freedom, before.Freedom)
			before = at
		}
	}
	all := lambdas()
	rows := path(t.Context(), many(), "2", all)
	_, chosen := lowest(all, rows, func(e errorsAt) float64 { return e.leftOut })
	_, best := lowest(all, rows, func(e errorsAt) float64 { return e.fresh })
	require.Check(t, chosen.fresh <= 1.5*best.fresh,
		"leaving out chooses an error of %g, the best has %g", chosen.fresh, best.fresh)
	// Errors along the path equal those of single fits.
	rows = path(t.Context(), many(), "2", []float64{0.01, 1})
	for k, lambda := range []string{"0.01", "1"} {
		c := fit(t.Context(), many(), rbf("2", lambda)...)
		lessonstest.Near(t, "training error", rows[k].training, *c.Report.MSE, 1e-9)
		lessonstest.Near(t, "left-out error", rows[k].leftOut, *c.Report.LOOError, 1e-8)
	}
}

// TestBesideTheSVM: on every pattern ridge needs all points and the SVM fewer; on average over
// the draws their errors on new points are similar, and each sometimes wins.
func TestBesideTheSVM(t *testing.T) {
	t.Parallel()
	const draws = 8
	ahead := map[bool]int{}
	for pattern, noise := range noises {
		data := lessons.Drawn(pattern, 1000, noise, lessons.FreshSeed).Data()
		difference := 0.0
		for k := range draws {
			d := compare(t.Context(), pattern, k+1, "1", "0.5", "1")
			a := lessons.ErrorRate(d.ridge.Model, data)
			b := lessons.ErrorRate(d.svm.Model, data)
			difference += (a - b) / draws
			ahead[a < b]++
			r, s := d.ridge.Report.SupportVectors, d.svm.Report.SupportVectors
			require.Check(t, r == 60 && s < 45, "%s, draw %d: points %d and %d", pattern, k+1, r, s)
		}
		require.Near(t, difference, 0, 0.015, "%s: mean difference of errors", pattern)
	}
	require.Check(t, min(ahead[true], ahead[false]) >= 5, "ridge is ahead in %d of %d draws", ahead[true], 3*draws)
}

// TestTooRight: as the far points move away, the ridge line follows them and the SVM line does
// not; the line from the weights equals that of the lab's learner.
func TestTooRight(t *testing.T) {
	t.Parallel()
	crossing := math.Inf(-1)
	var first [2]float64
	for i, x := range []float64{3.5, 5, 7, 9, 12} {
		p := afar([2]float64{x, 0.8})
		w, b := affine(p, 0.1)
		c := -b / w[0]
		require.Check(t, c >= crossing, "far points at %g: the line crosses at %g, before at %g", x, c, crossing)
		crossing = -b / w[0]
		s := lessons.TrainLinear(t.Context(), p, "C", "1")
		if i == 0 {
			first = s.W
		}
		lessonstest.Near(t, "w of the SVM", lessons.Norm([2]float64{s.W[0] - first[0], s.W[1] - first[1]}), 0, 1e-4)
		d := p.Data()
		res := lessons.Fit(t.Context(), d, "learner", "ridge", "kernel", "poly", "degree", "1", "gamma", "1", "coef0", "1", "lambda", "0.1")
		for _, q := range p.XY {
			lessonstest.Near(t, "f", w[0]*q[0]+w[1]*q[1]+b, res.Model.Decision(q[:]), 1e-8)
		}
	}
}

// The note on the ridge line is correct for every lambda.
func TestTooRightSaysWhereTheLineGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, lambda, says string
	}{{"12", "0.1", "towards the far points"}, {"3.5", "100", "stays small everywhere"}, {"3.5", "0.1", ""}} {
		e := lessonstest.Show(t, Lesson(), "too-right", "fx", c.x, "lambda", c.lambda)
		notes := strings.Join(slices.Concat(e.Notes, e.After), " ")
		require.Check(t, strings.Contains(notes, c.says) && (c.says != "" || notes == ""), "far points at %s, lambda %s: %q", c.x, c.lambda, notes)
	}
}
