package figure

import (
	"math"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// farOff is how far from 0 the model's f is in the middle of the pieces of the drawn line f = 0, at most.
func farOff(s *surface, m *ml.Model) (most float64) {
	at := func(p [2]float64) float64 {
		n := float64(s.n)
		return m.Decision([]float64{s.lim.XMin + p[0]/n*(s.lim.XMax-s.lim.XMin), s.lim.YMin + p[1]/n*(s.lim.YMax-s.lim.YMin)})
	}
	var t tracer
	for _, line := range t.lines(s.f, s.n+1, s.n+1, 0) {
		for i := 1; i < len(line); i++ {
			most = max(most, math.Abs(at([2]float64{(line[i-1][0] + line[i][0]) / 2, (line[i-1][1] + line[i][1]) / 2})))
		}
	}
	return most
}

// f = 0 on the lines about kernels narrower than a grid's cells; wide kernels cost no more.
func TestNarrowKernelsHaveSmoothLines(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 200, 0.15, 1))(t)
	for _, tc := range []struct {
		gamma, most float64
		refined     bool
	}{
		{2, 0.01, false},
		{1000, 0.002, true},
		{20000, 0.2, true},
	} {
		res := require.Value(ml.Train(t.Context(), d, ml.DefaultSpec().With("gamma", param.Of(tc.gamma)).With("C", param.Of(10.0)), nil))(t)
		points := require.Value(res.Model.Points(d, ml.DefaultSpec()))(t)
		v, _ := res.Model.View()
		s := require.Value(newSurface(t.Context(), res.Model, v, LimitsOf(points, v), 160))(t)
		r := require.Value(s.refined(t.Context(), res.Model, v, points, 64<<20))(t)
		crude := farOff(s, res.Model)
		fine := farOff(r, res.Model)
		require.Check(t, (r != s) == tc.refined && fine <= tc.most && (!tc.refined || fine <= crude/3),
			"gamma = %g: f is up to %.3g on the line, %.3g on that of the refined surface with %d cells", tc.gamma, crude, fine, r.n)
		require.Check(t, require.Value(s.refined(t.Context(), res.Model, v, points, 1000))(t) == s, "gamma = %g: refined without the means", tc.gamma)
	}
}
