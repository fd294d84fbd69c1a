package theory_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/svm"
	"marginlab/ml/theory"
)

// Statements about machines are tested on trained ones.

// A dichotomy's function is the hard-margin machine; there is none if training says inseparable.
func TestWitnessIsTheHardMarginMachine(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		x := random(40+seed, 5, 2)
		k := []kernel.Kernel{linear, quadratic, rbf(0.6), rbf(3)}[seed]
		s := require.Value(theory.ShatterKernel(gram(k, x)))(t)
		for _, d := range s.Dichotomies[1 : len(s.Dichotomies)-1] {
			got, err := svm.Train(context.Background(), kernel.NewGram(k, x), d.Labels, svm.Settings{C: math.Inf(1), Tol: 1e-10})
			if errors.Is(err, svm.ErrNotSeparable) {
				require.Check(t, !d.Realisable,
					"%s, labels %v: a witness for what training cannot separate", k.Name, d.Labels)
				continue
			}
			require.NoError(t, err)
			require.Must(t, d.Realisable, "%s, labels %v: no witness, but a margin of %g", k.Name, d.Labels, got.Margin)
			near(t, "margin", d.Margin, got.Margin, 1e-6)
			near(t, "b", d.B, got.B, 1e-5)
		}
	}
}

// The leave-one-out bound, checked by retraining without each point: for the SVM, hard or soft,
// by its support vectors, for the MCM only if points with v_j != 0 are counted.
func TestLeaveOneOutBoundHolds(t *testing.T) {
	t.Parallel()
	type machine struct {
		u         []float64
		b         float64
		essential int // points whose removal may change the machine
		vectors   int // support vectors
	}
	train := func(c float64) func(kernel.Matrix, []float64) (machine, error) {
		return func(g kernel.Matrix, y []float64) (machine, error) {
			r, err := svm.Train(context.Background(), g, y, svm.Settings{C: c, Tol: 1e-9})
			if err != nil {
				return machine{}, err
			}
			m := machine{make([]float64, len(y)), r.B, r.SupportVectors, r.SupportVectors}
			for i, a := range r.Alpha {
				m.u[i] = a * y[i]
			}
			return m, nil
		}
	}
	simple := func(g kernel.Matrix, y []float64) (machine, error) {
		r, err := mcm.Train(context.Background(), g, y, mcm.Settings{C: 1, RankTol: 1e-9})
		if err != nil {
			return machine{}, err
		}
		m := machine{u: r.Lambda, b: r.B, vectors: r.SupportVectors}
		for i := range y {
			if r.Lambda[i] != 0 || math.Abs(r.V[i]) > 1e-9 {
				m.essential++
			}
		}
		return m, nil
	}
	for _, c := range []struct {
		name  string
		k     kernel.Kernel
		apart float64
		train func(kernel.Matrix, []float64) (machine, error)
	}{
		{"hard margin", rbf(0.5), 1.2, train(math.Inf(1))},
		{"soft margin", linear, 0.6, train(1)},
		{"MCM", linear, 0.6, simple},
	} {
		rng := rand.New(rand.NewPCG(50, 50))
		for range 5 {
			const n = 24
			x, y := mat.NewDense(n, 2, nil), make([]float64, n)
			for i := range n {
				y[i] = float64(2*(i%2) - 1)
				x.SetRow(i, []float64{rng.NormFloat64() + c.apart*y[i], rng.NormFloat64()})
			}
			g := kernel.NewGram(c.k, x)
			full := require.Value(c.train(g, y))(t)
			wrong := 0
			for out := range n {
				var keep []int
				var labels []float64
				for i := range n {
					if i != out {
						keep, labels = append(keep, i), append(labels, y[i])
					}
				}
				part := require.Value(c.train(g.Subset(keep), labels))(t)
				row := make([]float64, n)
				g.Row(row, out)
				f := part.b
				for a, i := range keep {
					f += part.u[a] * row[i]
				}
				if (f >= 0) != (y[out] > 0) {
					wrong++
				}
			}
			share := float64(wrong) / n
			b := theory.LeaveOneOutBound(full.essential, n)
			require.Check(t, share <= b.Value, "%s: %d of %d left-out points wrong, bound %+v", c.name, wrong, n, b)
			require.Check(t, c.name != "MCM" || share > theory.LeaveOneOutBound(full.vectors, n).Value,
				"%s: %d of %d left-out points wrong, and only %d support vectors: one would think that the bound holds", c.name, wrong, n, full.vectors)
		}
	}
}

// No separating machine in the space has a smaller h_MCM than the MCM, whose h it is.
func TestMCMHasTheSmallestHMCM(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(60, 60))
	const n = 30
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		y[i] = float64(2*(i%2) - 1)
		x.SetRow(i, []float64{0.5*rng.NormFloat64() + 2*y[i], rng.NormFloat64()})
	}
	g := kernel.NewGram(linear, x)
	full := theory.Gram(g)
	of := func(u []float64, b float64) theory.Capacity {
		c := require.Value(theory.NewCapacity(full, u, b, y))(t)
		require.Check(t, c.Separates && c.HMCM <= c.Radius/c.Margin, "%+v", c)
		return c
	}
	simple := require.Value(mcm.Train(context.Background(), g, y, mcm.Settings{C: math.Inf(1), RankTol: 1e-9}))(t)
	wide := require.Value(svm.Train(context.Background(), g, y, svm.Settings{C: math.Inf(1), Tol: 1e-9}))(t)
	u := lists.Make(n, func(i int) float64 { return wide.Alpha[i] * y[i] })
	m, s := of(simple.Lambda, simple.B), of(u, wide.B)
	near(t, "h of the MCM", m.HMCM, simple.H, 1e-6)
	require.Check(t, m.HMCM <= s.HMCM, "h_MCM = %g of the MCM, %g of the SVM", m.HMCM, s.HMCM)
	near(t, "|w| of the SVM", s.Norm, wide.WNorm, 1e-9)
	require.Check(t, m.Norm >= s.Norm, "|w| = %g of the MCM is below %g of the SVM", m.Norm, s.Norm)
	// scaled alike, the SVM has the larger margin
	near(t, "margin of the SVM", 1/s.Norm, wide.Margin, 1e-9)
}
