package lessons_test

import (
	"fmt"
	"slices"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/lessons"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	q := &lessons.Question{Slug: "which", Options: []string{"one", "two", "Neither."}}
	first := map[int]int{}
	for n := range 200 {
		seed := fmt.Sprint(n)
		order := q.Order(seed)
		again := q.Order(seed)
		require.Must(t, slices.Equal(order, again), "seed %s: %v, and then %v", seed, order, again)
		require.Must(t, order[2] == 2, "seed %s: %v has %q before others", seed, order, q.Options[2])
		require.Must(t, order[0]+order[1] == 1, "seed %s: %v", seed, order)
		first[order[0]]++
	}
	require.Check(t, min(first[0], first[1]) >= 60, // 5.6 standard deviations
		"of 200 orders %d begin with the first option and %d with the second", first[0], first[1])
	order := (&lessons.Question{}).Order("a")
	require.Check(t, len(order) == 0, "a question without options has the order %v", order)
}
