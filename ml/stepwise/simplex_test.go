package stepwise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

// grid returns points at few positions, so that there are duplicates and ties.
func grid(r *rand.Rand, m int) (*mat.Dense, []float64) {
	x, y := mat.NewDense(m, 2, nil), make([]float64, m)
	for i := range m {
		y[i] = float64(1 - 2*(i%2))
		x.SetRow(i, []float64{float64(r.IntN(3)), float64(r.IntN(3))})
	}
	return x, y
}

func rows(k svm.Matrix) *mat.Dense {
	full := mat.NewDense(k.Len(), k.Len(), nil)
	for i := range k.Len() {
		k.Row(full.RawRowView(i), i)
	}
	return full
}

// TestSimplex reaches the optimum certified by another solver, through vertices that never get worse.
func TestSimplex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := random(rapid.Uint64().Draw(t, "seed"))
		m := rapid.IntRange(2, 10).Draw(t, "m")
		x, y := clouds(r, m, 1)
		if rapid.Bool().Draw(t, "grid") {
			x, y = grid(r, m)
		}
		c := rapid.SampledFrom([]float64{0.05, 1, 50}).Draw(t, "C")
		k, columns := kernel.NewGram(kernel.Kernel{Name: "linear"}, x), x
		if rapid.Bool().Draw(t, "lambda") {
			columns = rows(k)
		}
		replay, err := stepwise.Simplex(t.Context(), columns, y, stepwise.SimplexSettings{C: c})
		require.Must(t, err == nil && replay.Status() == trace.Converged, "%s after %d, %v", replay.Status(), replay.Len(), err)
		want, err := mcm.Train(t.Context(), k, y, mcm.Settings{C: c, RankTol: 1e-11})
		require.Must(t, err == nil && want.Status == trace.Converged, "mcm.Train: %v, %v", want, err)
		end := last(replay)
		near(t, "objective", end.Objective, want.Objective, 1e-8)
		require.Check(t, end.Entering == -1 && end.Leaving == -1 && end.Ratios == nil,
			"there is a pivot at the optimum: %+v", end)
		first := replay.At(0)
		for i := range replay.Len() {
			s := replay.At(i)
			checkVertex(t, s, columns, y, c)
			checkRows(t, s, first)
			if i == 0 {
				continue
			}
			before := replay.At(i - 1)
			entered, left := before.Nonbasic[before.Entering], before.Basic[before.Leaving]
			require.Check(t, slices.Contains(s.Basic, entered) && slices.Contains(s.Nonbasic, left),
				"pivot %d: %s has not entered for %s", i, entered, left)
			ratio := slices.Min(before.Ratios)
			near(t, "least ratio", before.Ratios[before.Leaving], ratio, 1e-9)
			near(t, "objective after the pivot", s.Objective, before.Objective+before.Direction*before.Cost[before.Entering]*ratio, 1e-8)
			require.Check(t, s.Objective <= before.Objective+1e-9,
				"pivot %d rises from %g to %g", i, before.Objective, s.Objective)
		}
	})
}

// checkVertex compares the point of a state with the program.
func checkVertex(t rapid.TB, s stepwise.SimplexState, x mat.Matrix, y []float64, c float64) {
	t.Helper()
	objective := s.H
	for i, q := range s.Q {
		f := s.B
		for k, w := range s.Weights {
			f += w * x.At(i, k)
		}
		near(t, "f", s.F[i], f, 1e-9)
		z := y[i]*f + q
		require.Check(t, q >= 0 && z >= 1-1e-7 && z <= s.H+1e-7, "point %d: q = %g, y f + q = %g, h = %g", i, q, z, s.H)
		objective += c * q
	}
	near(t, "objective of the vertex", s.Objective, objective, 1e-7)
}

// checkRows substitutes solutions of the first tableau into a later one: each nonbasic variable
// of the first in turn is 1, the others are 0.
func checkRows(t rapid.TB, s, first stepwise.SimplexState) {
	t.Helper()
	for col, name := range first.Nonbasic {
		values := map[string]float64{name: 1}
		for r, basic := range first.Basic {
			values[basic] = first.Value[r] - first.Table[r][col]
		}
		objective := s.Objective
		for c, v := range s.Nonbasic {
			objective += s.Cost[c] * values[v]
		}
		near(t, "objective of a solution", objective, first.Objective+first.Cost[col], 1e-6)
		for r, row := range s.Table {
			left := values[s.Basic[r]]
			for c, v := range s.Nonbasic {
				left += row[c] * values[v]
			}
			near(t, "row "+s.Basic[r], left, s.Value[r], 1e-6)
		}
	}
}

// TestSimplexStart checks the first tableau of the documentation.
func TestSimplexStart(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(2, 2, []float64{3, 1, -2, 5})
	s := require.Value(stepwise.Simplex(t.Context(), x, []float64{1, -1}, stepwise.SimplexSettings{C: 2}))(t).At(0)
	want := map[string][]string{
		"basic":    {"q1", "q2", "t1", "t2"},
		"nonbasic": {"w1", "w2", "b", "h−1", "s1", "s2"},
	}
	require.Check(t, slices.Equal(s.Basic, want["basic"]) && slices.Equal(s.Nonbasic, want["nonbasic"]),
		"variables %v and %v", s.Basic, s.Nonbasic)
	table := [][]float64{
		{3, 1, 1, 0, -1, 0},
		{2, -5, -1, 0, 0, -1},
		{0, 0, 0, -1, 1, 0},
		{0, 0, 0, -1, 0, 1},
	}
	for i, row := range table {
		require.Slices(t, s.Table[i], row, "row %s", s.Basic[i])
	}
	cost := []float64{-10, 8, 0, 1, 2, 2}
	require.Check(t, slices.Equal(s.Cost, cost) && s.Objective == 5, "costs %v, objective %g", s.Cost, s.Objective)
	require.Check(t, s.Entering == 0 && s.Direction == 1 && s.Leaving == 0 && !s.Bland,
		"pivot on column %d (%g), row %d", s.Entering, s.Direction, s.Leaving)
	require.Check(t, s.Ratios[0] == 1.0/3 && s.Ratios[1] == 0.5 && math.IsInf(s.Ratios[2], 1) && math.IsInf(s.Ratios[3], 1),
		"ratios %v", s.Ratios)
}

// Every point several times: there are many steps of length 0, but no basis recurs.
func TestSimplexDegenerate(t *testing.T) {
	t.Parallel()
	bland := 0
	for seed := range uint64(200) {
		x, y := grid(random(seed), 12)
		replay, err := stepwise.Simplex(t.Context(), x, y, stepwise.SimplexSettings{C: []float64{0.1, 1, 10}[seed%3]})
		require.Must(t, err == nil && replay.Status() == trace.Converged, "seed %d: %s, %v", seed, replay.Status(), err)
		seen := map[string]int{}
		for i := range replay.Len() {
			s := replay.At(i)
			if s.Bland {
				bland++
			}
			key := ""
			for _, name := range slices.Sorted(slices.Values(s.Basic)) {
				key += name + " "
			}
			at, ok := seen[key]
			require.Check(t, !ok, "seed %d: step %d has the basis of step %d", seed, i, at)
			seen[key] = i
		}
	}
	require.Check(t, bland != 0, "no step needed Bland's rule")
}
