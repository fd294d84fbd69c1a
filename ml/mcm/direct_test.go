package mcm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// A full step satisfies the equations however far apart multipliers and slacks are, as near an optimum.
func TestDirection(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 7))
	for range 100 {
		m := 20 + rng.IntN(40)
		at := make([]float64, m)
		y := make([]float64, m)
		for i := range m {
			at[i], y[i] = 10*rng.Float64(), float64(2*(i%2)-1)
		}
		k := mltest.Symmetric(m, func(i, j int) float64 { return math.Exp(-math.Pow(at[i]-at[j], 2)) })
		f := require.Value(cholesky(context.Background(), k, 1e-3))(t)
		in, err := newSubspace(context.Background(), f)
		require.Must(t, err == nil && in != nil, "%v %v", in, err)
		x := newInterior(in, y)
		if x.c = 100; x.start(context.Background()) != nil {
			t.Fatal()
		}
		small := func() float64 { return math.Pow(10, -9*rng.Float64()) }
		for i := range m {
			x.p[i], x.n[i], x.s[i], x.q[i], x.t[i] = small(), small(), small(), small(), small()
			x.r[i] = x.c - x.p[i]
		}
		ok, err := x.linearise(context.Background())
		require.Must(t, ok && err == nil, "%v %v", ok, err)
		clear(x.dropS)
		clear(x.dropQ)
		clear(x.dropT)
		x.direct()
		for i := range m {
			z := y[i] * (x.f[i] + x.df[i])
			size := 1 + math.Abs(z) + math.Abs(x.dq[i]) + math.Abs(x.ds[i]) + math.Abs(x.dt[i])
			one, h := z+x.q[i]+x.dq[i]-x.s[i]-x.ds[i], z+x.t[i]+x.dt[i]
			require.Check(t, math.Abs(one-1) <= 1e-9*size && math.Abs(h-1-x.u-x.du) <= 1e-9*size,
				"M=%d: point %d has y f + q - s = %g and y f + t - h = %g", m, i+1, one, h-1-x.u-x.du)
		}
	}
}
