package theory_test

import (
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
					apart := lists.Where(n, func(i int) bool { return labels.Labels[i] != d.Labels[i] })
					want = min(want, len(apart))
				}
				w, b, got, err := theory.BestLine(points, labels.Labels)
				require.NoError(t, err)
				made := lists.Where(n, func(i int) bool {
					return labels.Labels[i]*(w[0]*points[i][0]+w[1]*points[i][1]+b) <= 0
				})
				require.Check(t, got == want && len(made) == want,
					"%d points, labels %v: %d errors said, %d made, %d needed", n, labels.Labels, got, len(made), want)
			}
		}
	}
}
