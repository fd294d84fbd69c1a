package stepwise_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestPerceptronNovikoff compares the number of mistakes with Novikoff's bound, with gamma known
// because the points are moved away from a given plane, and the states with a perceptron on weights.
func TestPerceptronNovikoff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := random(rapid.Uint64().Draw(t, "seed"))
		m := rapid.IntRange(2, 40).Draw(t, "m")
		bias := rapid.Bool().Draw(t, "bias")
		const gamma = 0.3
		angle, offset := r.Float64()*2*math.Pi, 0.0
		if bias {
			offset = r.Float64() - 0.5
		}
		normal := []float64{math.Cos(angle), math.Sin(angle)}
		x, y := mat.NewDense(m, 2, nil), make([]float64, m)
		var radius float64
		for i := range m {
			y[i] = float64(1 - 2*(i%2))
			along, across := r.NormFloat64(), y[i]*(gamma+math.Abs(r.NormFloat64()))-offset
			p := []float64{across*normal[0] - along*normal[1], across*normal[1] + along*normal[0]}
			x.SetRow(i, p)
			radius = max(radius, math.Hypot(p[0], p[1]))
		}
		k := gram(x, "linear")
		order := rapid.SampledFrom([]stepwise.Order{stepwise.Cyclic, stepwise.Shuffled, stepwise.Descending}).Draw(t, "order")
		replay, err := stepwise.Perceptron(t.Context(), k, y, stepwise.PerceptronSettings{Bias: bias, Order: order, MaxSteps: 100_000})
		require.Must(t, err == nil && replay.Status() == trace.Converged, "%s, %v", replay.Status(), err)
		bound := math.Pow(radius/gamma, 2)
		if bias {
			bound *= 4
		}
		end := last(replay)
		require.Check(t, end.Mistakes != 0 && float64(end.Mistakes) <= bound,
			"%d mistakes, the bound is %g", end.Mistakes, bound)
		require.Check(t, end.Worst > 0, "converged with a margin of %g", end.Worst)

		w, b, mistakes := make([]float64, 2), 0.0, 0
		for i := 1; i < replay.Len(); i++ {
			s := replay.At(i)
			n := s.Looked
			margin := y[n] * (w[0]*x.At(n, 0) + w[1]*x.At(n, 1) + b)
			near(t, "margin", s.Margin, margin, 1e-9)
			require.Must(t, s.Updated == (s.Margin <= 0),
				"step %d: updated is %t at a margin of %g", i, s.Updated, s.Margin)
			if s.Updated {
				mistakes++
				w[0] += y[n] * x.At(n, 0)
				w[1] += y[n] * x.At(n, 1)
				if bias {
					b += y[n] * radius * radius
				}
			}
			require.Must(t, s.Mistakes == mistakes, "step %d: %d mistakes, want %d", i, s.Mistakes, mistakes)
			near(t, "|w|", s.WNorm, math.Hypot(w[0], w[1]), 1e-7)
			near(t, "b", s.B, b, 1e-9)
		}
		checkTable(t, &end.Iterate, k, math.Inf(1))
	})
}

// TestPerceptronStrict shows that with the slides' test nothing is learned.
func TestPerceptronStrict(t *testing.T) {
	t.Parallel()
	x, y := clouds(random(3), 8, 6)
	k := gram(x, "linear")
	for _, bias := range []bool{false, true} {
		r := require.Value(stepwise.Perceptron(t.Context(), k, y, stepwise.PerceptronSettings{Strict: true, Bias: bias}))(t)
		require.Check(t, r.Len() == 1+len(y) && r.Status() == trace.Converged,
			"%d states, %s; want one pass", r.Len(), r.Status())
		for i := range r.Len() {
			s := r.At(i)
			require.Check(t, s.Mistakes == 0 && s.Worst == 0 && s.WNorm == 0 && s.B == 0 && !s.Updated,
				"step %d has learned: %+v", i, s)
		}
	}
	// Classes that no line separates: it runs until the limit.
	// XOR: no line separates it, but the RBF kernel does.
	x = mat.NewDense(4, 2, []float64{0, 0, 1, 1, 0, 1, 1, 0})
	y = []float64{1, 1, -1, -1}
	for name, want := range map[string]trace.Status{"linear": trace.IterationLimit, "rbf": trace.Converged} {
		for _, bias := range []bool{false, true} {
			r, err := stepwise.Perceptron(t.Context(), gram(x, name), y, stepwise.PerceptronSettings{Bias: bias})
			require.Check(t, err == nil && r.Status() == want,
				"%s, bias %t: %s, %v; want %s", name, bias, r.Status(), err, want)
		}
	}
}

// The dual form makes the same mistakes; the weights are the rate times sum alpha_i y_i x_i.
func TestPrimalPerceptron(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := random(rapid.Uint64().Draw(t, "seed"))
		x, y := clouds(r, rapid.IntRange(2, 20).Draw(t, "m"), 3)
		rate := rapid.SampledFrom([]float64{0, 0.25, 0.5, 4}).Draw(t, "rate") // powers of two, which do not add rounding
		dual := require.Value(stepwise.Perceptron(t.Context(), gram(x, "linear"), y, stepwise.PerceptronSettings{MaxSteps: 400}))(t)
		primal := require.Value(stepwise.PrimalPerceptron(t.Context(), x, y, stepwise.PrimalPerceptronSettings{Rate: rate, MaxSteps: 400 + len(y)}))(t)
		require.Must(t, dual.Status() != trace.Converged || primal.Status() == trace.Converged, // at most a pass later
			"%s after %d, the dual form %s after %d", primal.Status(), primal.Len()-1, dual.Status(), dual.Len()-1)
		if rate == 0 {
			rate = 1
		}
		for i := range dual.Len() {
			a, b := dual.At(i), primal.At(i)
			require.Must(t, a.Looked == b.Looked && a.Updated == b.Updated && a.Mistakes == b.Mistakes && a.Pass == b.Pass,
				"step %d: %+v, the dual form %+v", i, b, a)
			for j := range b.W {
				var want float64
				for n, u := range a.U() {
					want += rate * u * x.At(n, j)
				}
				near(t, "w", b.W[j], want, 1e-9)
			}
		}
		if end := last(primal); primal.Status() == trace.Converged && (end.Updated || end.Mistakes != last(dual).Mistakes) {
			t.Errorf("the end is %+v, of the dual form %+v", end, last(dual))
		}
	})
}

// TestPerceptronUpdate adds only points that are misclassified or on the line.
func TestPerceptronUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w, x, want [2]float64
		y          float64
		mistake    bool
	}{
		{[2]float64{1, 2}, [2]float64{1, 1}, [2]float64{1, 2}, 1, false},
		{[2]float64{1, 2}, [2]float64{1, 1}, [2]float64{0.5, 1.5}, -1, true},
		{[2]float64{1, -1}, [2]float64{1, 1}, [2]float64{1.5, -0.5}, 1, true},
	} {
		w := c.w
		mistake := stepwise.PerceptronUpdate(w[:], c.x[:], c.y, 0.5)
		require.Check(t, mistake == c.mistake && w == c.want, "%v with label %g at %v: %v, mistake %t; want %v, %t", c.w, c.y, c.x, w, mistake, c.want, c.mistake)
	}
}
