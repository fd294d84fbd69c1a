package studies

import (
	"testing"
	"time"

	"marginlab/ml/mltest/require"
)

// What a study can show is what Wilcoxon's exact test can: 2^(1−n), times the pairs after Holm.
func TestPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sets, learners int
		want           string
	}{
		{0, 2, "No data set chosen. With fewer than 6, Wilcoxon's p cannot fall below 0.05."},
		{3, 2, "3 data sets: Wilcoxon's p cannot fall below 0.25; add at least 3."},
		{1, 1, "1 data set, 1 learner: choose two learners to compare."},
		{6, 2, "6 data sets, 2 learners: Wilcoxon's p can fall to 0.031."},
		{6, 3, "6 data sets: Wilcoxon's p after Holm's correction for 2 pairs cannot fall below 0.062; add at least 1."},
	} {
		require.Equal(t, power(c.sets, c.learners), c.want, "power(c.sets, c.learners)")
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{-1: "0 ms", 12 * time.Millisecond: "12 ms", 50 * time.Millisecond: "0.1 s", 12 * time.Second: "12 s"} {
		require.Equal(t, duration(d), want, "duration")
	}
}
