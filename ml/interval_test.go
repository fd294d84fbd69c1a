package ml_test

import (
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

func TestWilson(t *testing.T) {
	t.Parallel()
	scipy := require.JSON[struct {
		Wilson []struct {
			Right, N         int
			Level, Low, High float64
		}
	}](t, require.Value(os.ReadFile("eval/testdata/statistics.json"))(t))
	for _, c := range scipy.Wilson {
		got, err := ml.Wilson(c.Right, c.N, c.Level)
		require.Check(t, err == nil && math.Abs(got.Low-c.Low) <= 1e-9 && math.Abs(got.High-c.High) <= 1e-9,
			"%d of %d at %g: %v (%v), want %g to %g", c.Right, c.N, c.Level, got, err, c.Low, c.High)
	}
	// Newcombe 1998, table I, method 3.
	for _, c := range []struct {
		right, n  int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		if got, err := ml.Wilson(c.right, c.n, 0.95); err != nil || math.Abs(got.Low-c.low) > 5e-5 || math.Abs(got.High-c.high) > 5e-5 {
			t.Errorf("%d of %d: %v (%v), published %g to %g", c.right, c.n, got, err, c.low, c.high)
		}
	}
	got, err := ml.Wilson(0, 0, 0.95)
	require.Check(t, err == nil && got == (ml.Interval{Low: 0, High: 1}), "no points: %v (%v)", got, err)
	for _, c := range []struct {
		right, n int
		level    float64
	}{{-1, 3, 0.95}, {4, 3, 0.95}, {1, -1, 0.95}, {1, 3, 0}, {1, 3, 1}, {1, 3, math.NaN()}} {
		got, err := ml.Wilson(c.right, c.n, c.level)
		require.Check(t, err != nil, "%+v: %v", c, got)
	}
}

// The interval holds the share seen, lies within [0, 1], and mirrors.
func TestWilsonBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		right := rapid.IntRange(0, n).Draw(t, "right")
		in, err := ml.Wilson(right, n, 0.95)
		other, _ := ml.Wilson(n-right, n, 0.95)
		share := float64(right) / float64(n)
		require.Must(t, err == nil && in.Low >= 0 && in.High <= 1 && in.Low <= share && in.High >= share && in.High > in.Low,
			"%d of %d: %v (%v)", right, n, in, err)
		require.Near(t, in.Low, 1-other.High, 1e-12, "%d of %d: bound, and the bound of the wrong ones", right, n)
	})
}
