package ml

import (
	"strings"
	"testing"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// Cost tells small trainings from long ones, by learner, C and rows.
func TestCostOf(t *testing.T) {
	t.Parallel()
	points := func(n int) *dataset.Data {
		xy, labels := make([][2]float64, n), make([]string, n)
		for i := range xy {
			xy[i], labels[i] = [2]float64{float64(i), float64(i * i % 7)}, []string{"a", "b"}[i%2]
		}
		return require.Value(dataset.FromPoints(xy, labels))(t)
	}
	small, large := points(200), points(12_000)
	for _, l := range Learners {
		s := DefaultSpec()
		s.Learner = l.Name
		short, long := CostOf(small, s), CostOf(large, s)
		require.Check(t, short.Time > 0 && short.Time <= time.Second && long.Time >= time.Second && short.Bytes > 0 && long.Bytes >= short.Bytes,
			"%s: %v of 200 rows, %v of 12 000", l.Name, short, long)
		s.Conformal = "eigen"
		require.Check(t, CostOf(small, s).Time > short.Time, "%s: a conformal kernel costs nothing", l.Name)
	}
	s := DefaultSpec()
	one := CostOf(large, s)
	require.NoError(t, s.Set("C", "1000"))
	require.Check(t, CostOf(large, s).Time > one.Time, "a larger C costs nothing")
	s.Kernel = "gap-subsequence"
	texts := func(length int) *dataset.Data {
		d := &dataset.Data{Classes: []string{"a", "b"}, Objects: &dataset.Strings{Values: []string{}}}
		for i := range 300 {
			d.Objects.(*dataset.Strings).Values = append(d.Objects.(*dataset.Strings).Values, strings.Repeat("ab", length/2))
			d.Y = append(d.Y, i%2)
		}
		return d
	}
	short, long := CostOf(texts(20), s).Time, CostOf(texts(2000), s).Time
	require.Check(t, short <= time.Second && long >= 10*time.Second, "comparing 300 strings of 20 symbols takes %v, of 2000 %v", short, long)
	s.Learner = "noClass knows"
	require.Check(t, CostOf(small, s).Time >= time.Hour, "what is not known is taken for short")
}
