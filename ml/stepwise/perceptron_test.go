package stepwise_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/stepwise"
	"marginlab/ml/trace"
)

// TestPerceptronNovikoff compares the number of mistakes with Novikoff's bound, in
// which gamma is known because the points were moved away from a given plane, and
// the states with a perceptron that keeps weights.
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
		if err != nil || replay.Status() != trace.Converged {
			t.Fatalf("%s, %v", replay.Status(), err)
		}
		bound := math.Pow(radius/gamma, 2)
		if bias {
			bound *= 4
		}
		end := last(replay)
		if end.Mistakes == 0 || float64(end.Mistakes) > bound {
			t.Errorf("%d mistakes, the bound is %g", end.Mistakes, bound)
		}
		if end.Worst <= 0 {
			t.Errorf("converged with a margin of %g", end.Worst)
		}

		w, b, mistakes := make([]float64, 2), 0.0, 0
		for i := 1; i < replay.Len(); i++ {
			s := replay.At(i)
			n := s.Looked
			margin := y[n] * (w[0]*x.At(n, 0) + w[1]*x.At(n, 1) + b)
			near(t, "margin", s.Margin, margin, 1e-9)
			if s.Updated != (s.Margin <= 0) {
				t.Fatalf("step %d: updated is %t at a margin of %g", i, s.Updated, s.Margin)
			}
			if s.Updated {
				mistakes++
				w[0] += y[n] * x.At(n, 0)
				w[1] += y[n] * x.At(n, 1)
				if bias {
					b += y[n] * radius * radius
				}
			}
			if s.Mistakes != mistakes {
				t.Fatalf("step %d: %d mistakes, want %d", i, s.Mistakes, mistakes)
			}
			near(t, "|w|", s.WNorm, math.Hypot(w[0], w[1]), 1e-7)
			near(t, "b", s.B, b, 1e-9)
		}
		checkTable(t, &end.Iterate, k, math.Inf(1))
	})
}

// TestPerceptronStrict shows that the test of the slides never starts to learn.
func TestPerceptronStrict(t *testing.T) {
	t.Parallel()
	x, y := clouds(random(3), 8, 6)
	k := gram(x, "linear")
	for _, bias := range []bool{false, true} {
		r, err := stepwise.Perceptron(t.Context(), k, y, stepwise.PerceptronSettings{Strict: true, Bias: bias})
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != 1+len(y) || r.Status() != trace.Converged {
			t.Errorf("%d states, %s; want one pass", r.Len(), r.Status())
		}
		for i := range r.Len() {
			s := r.At(i)
			if s.Mistakes != 0 || s.Worst != 0 || s.WNorm != 0 || s.B != 0 || s.Updated {
				t.Errorf("step %d has learned: %+v", i, s)
			}
		}
	}
}

// TestPerceptronNotSeparable goes on to the limit.
func TestPerceptronNotSeparable(t *testing.T) {
	t.Parallel()
	// Exclusive or: no line separates it, the RBF kernel does.
	x := mat.NewDense(4, 2, []float64{0, 0, 1, 1, 0, 1, 1, 0})
	y := []float64{1, 1, -1, -1}
	for name, want := range map[string]trace.Status{"linear": trace.IterationLimit, "rbf": trace.Converged} {
		for _, bias := range []bool{false, true} {
			r, err := stepwise.Perceptron(t.Context(), gram(x, name), y, stepwise.PerceptronSettings{Bias: bias})
			if err != nil || r.Status() != want {
				t.Errorf("%s, bias %t: %s, %v; want %s", name, bias, r.Status(), err, want)
			}
		}
	}
}
