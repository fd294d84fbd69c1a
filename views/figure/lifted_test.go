package figure

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

// The projection turns and tilts: it keeps lengths but for the height of the box.
func TestProjectionIsARotation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Lifted{
			Yaw: rapid.Float64Range(-400, 400).Draw(t, "yaw"), Pitch: rapid.Float64Range(0, 90).Draw(t, "pitch"),
			Min: [3]float64{-1, -1, -1}, Max: [3]float64{1, 1, 1},
		}
		v := require.Value(l.view())(t)
		coordinate := rapid.Float64Range(-1, 1)
		q := [3]float64{coordinate.Draw(t, "x"), coordinate.Draw(t, "y"), coordinate.Draw(t, "z")}
		p := v.project(q)
		got := p[0]*p[0] + p[1]*p[1] + p[2]*p[2]
		want := q[0]*q[0] + q[1]*q[1] + upright*upright*q[2]*q[2]
		require.Must(t, math.Abs(got-want) <= 1e-12, "squared length %g, want %g", got, want)
		lower := v.project([3]float64{q[0], q[1], q[2] - 0.5})
		require.Must(t, lower[1] <= p[1] && math.Abs(lower[0]-p[0]) <= 1e-12, "what is lower is drawn at %v, above or beside %v", lower, p)
	})
}

// From the front and a little above, what is behind is farther and higher up.
func TestDepth(t *testing.T) {
	t.Parallel()
	l := Lifted{Pitch: 20}
	v := require.Value(l.view())(t)
	front, back := v.project([3]float64{0, -1, 0}), v.project([3]float64{0, 1, 0})
	require.Check(t, (back[2] > front[2] && back[1] > front[1]), "front %v, back %v", front, back)
	high, low := v.project([3]float64{0, 0, 1}), v.project([3]float64{0, 0, -1})
	require.Check(t, high[2] < low[2], "seen from above, the top %v is not nearer than the bottom %v", high, low)
}

// Corners of a plane's cells lie on it, within the box; the cells are as large as the section.
func TestCut(t *testing.T) {
	t.Parallel()
	cut := func(w [3]float64, c float64) (cells [][][3]float64, v view3) {
		l := Lifted{Min: [3]float64{0, -2, 10}, Max: [3]float64{4, 2, 14}, Cut: &Cut{W: w, C: c}}
		v = require.Value(l.view())(t)
		s := &stage{view: v, of: &l}
		return s.cut(), v
	}
	for _, k := range []struct {
		name string
		w    [3]float64
		c    float64
		area float64 // in the box [-1, 1]³
	}{
		{"level", [3]float64{0, 0, 2}, 24, 4},
		{"upright", [3]float64{1, 0, 0}, 1, 4},
		{"diagonal", [3]float64{1, 1, 0}, 2, 4 * math.Sqrt2},
		{"through six sides", [3]float64{1, 1, 1}, 14, 3 * math.Sqrt(3)},
		{"beside the box", [3]float64{0, 0, 1}, 9, 0},
	} {
		cells, v := cut(k.w, k.c)
		var area float64
		for _, qs := range cells {
			var sum [3]float64
			for i, q := range qs {
				p := v.data(q)
				off := k.w[0]*p[0] + k.w[1]*p[1] + k.w[2]*p[2] - k.c
				require.Must(t, math.Abs(off) <= 1e-9, "%s: %v is off the plane by %g", k.name, p, off)
				require.Must(t, math.Max(math.Max(math.Abs(q[0]), math.Abs(q[1])), math.Abs(q[2])) <= 1+1e-9,
					"%s: %v is outside of the box", k.name, q)
				r := qs[(i+1)%len(qs)]
				sum[0] += (q[1]*r[2] - q[2]*r[1]) / 2
				sum[1] += (q[2]*r[0] - q[0]*r[2]) / 2
				sum[2] += (q[0]*r[1] - q[1]*r[0]) / 2
			}
			area += math.Sqrt(sum[0]*sum[0] + sum[1]*sum[1] + sum[2]*sum[2])
		}
		require.Near(t, area, k.area, 1e-9, "%s: area", k.name)
	}
}
