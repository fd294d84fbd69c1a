package theory_test

import (
	"math"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
)

// The fewest errors are the distance to the nearest labelling that ShatterLines realises.
func TestBestLineAgainstShattering(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		for n := 2; n <= theory.MaxShatter; n++ {
			points := lists.Make(n, func(i int) [2]float64 { return [2]float64(random(100*seed+uint64(n), n, 2).RawRowView(i)) })
			s := require.Value(theory.ShatterLines(points))(t)
			for _, labels := range s.Dichotomies {
				want := n
				for _, d := range s.Dichotomies {
					if !d.Realisable {
						continue
					}
					apart := 0
					for i := range labels.Labels {
						if labels.Labels[i] != d.Labels[i] {
							apart++
						}
					}
					want = min(want, apart)
				}
				w, b, got, err := theory.BestLine(points, labels.Labels)
				require.NoError(t, err)
				made := 0
				for i, p := range points {
					if labels.Labels[i]*(w[0]*p[0]+w[1]*p[1]+b) <= 0 {
						made++
					}
				}
				require.Check(t, got == want && made == want,
					"%d points, labels %v: %d errors said, %d made, %d needed", n, labels.Labels, got, made, want)
			}
		}
	}
}

func TestBestLineRefuses(t *testing.T) {
	t.Parallel()
	two := [][2]float64{{0, 0}, {1, 0}}
	for name, c := range map[string]struct {
		points [][2]float64
		y      []float64
	}{
		"no points":        {nil, nil},
		"one point":        {two[:1], []float64{1}},
		"one place":        {[][2]float64{{1, 2}, {1, 2}}, []float64{1, -1}},
		"one label":        {two, []float64{1}},
		"a label of 0":     {two, []float64{1, 0}},
		"a place nowhere":  {[][2]float64{{0, 0}, {math.NaN(), 0}}, []float64{1, -1}},
		"a place far away": {[][2]float64{{0, 0}, {math.Inf(1), 0}}, []float64{1, -1}},
	} {
		_, _, _, err := theory.BestLine(c.points, c.y)
		require.Check(t, err != nil, "a line for %s", name)
	}
}
