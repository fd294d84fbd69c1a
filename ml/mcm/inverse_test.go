package mcm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// The inverse stays right through exchanges, at a position once or several times, and added and dropped rows.
func TestInverse(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var v inverse
		var basis *mat.Dense // columns are positions
		var slack []bool     // whether the column at a position is one of the identity
		grow := func() {
			m := len(v.rows)
			v.append()
			next := mat.NewDense(m+1, m+1, nil)
			if m > 0 {
				next.Copy(basis)
			}
			next.Set(m, m, 1)
			basis, slack = next, append(slack, true)
		}
		for range 90 {
			grow()
		}
		vectors := func(n int) [][]float64 {
			return lists.Make(n, func(int) []float64 { return make([]float64, len(v.rows)) })
		}
		for k := range 150 {
			switch m := len(v.rows); {
			case k%50 == 20:
				grow()
			case k%50 == 40:
				i, last := slices.Index(slack, true), m-1
				v.drop(i, i)
				basis.SetRow(i, mat.Row(nil, last, basis))
				basis.SetCol(i, mat.Col(nil, last, basis))
				basis, slack[i] = mat.DenseCopyOf(basis.Slice(0, last, 0, last)), slack[last]
				slack = slack[:last]
			}
			x, y := vectors(2), vectors(2)
			for i := range x[0] {
				if rng.IntN(1+k%8) == 0 {
					x[0][i] = rng.NormFloat64()
				}
			}
			r := rng.IntN(1 + rng.IntN(len(v.rows)))
			x[0][r] += 3
			v.row(x[1], r)
			v.mul(y, x...)
			if y[0][r] > 0.5 {
				basis.SetCol(r, x[0])
				slack[r] = false
				if rng.IntN(20) == 0 {
					v.pivot(r, y[0])
				} else {
					v.collect(r, y[0], x[1])
				}
			}
		}
		got := vectors(len(v.rows))
		for i := range got {
			v.row(got[i], i)
		}
		norms := slices.Clone(v.norm)
		v.apply()
		var want mat.Dense
		require.NoError(t, want.Inverse(basis))
		for i, row := range v.rows {
			scale := floats.Norm(want.RawRowView(i), 2)
			require.Check(t, floats.Distance(row, want.RawRowView(i), 2) <= 1e-9*scale && floats.Distance(row, got[i], 2) <= 1e-9*scale,
				"seed %d: row %d: %v, with exchanges left to apply %v, want %v", seed, i, row, got[i], want.RawRowView(i))
			n := floats.Dot(row, row)
			require.Check(t, math.Abs(norms[i]-n) <= 0.1*n && math.Abs(v.norm[i]-n) <= 1e-9*n,
				"seed %d: row %d has squared norm %g, with exchanges left to apply %g, want %g", seed, i, v.norm[i], norms[i], n)
		}
	}
}
