package studies

import (
	"fmt"
	"math"
	"strconv"

	"marginlab/ml/study"
	"marginlab/views"
)

// power describes what a study of this size can show at all: with n data sets the exact p-value of
// Wilcoxon's signed-rank test is at least 2^(1−n), and Holm's correction multiplies the smallest
// one by the number of learners compared with the baseline.
func power(sets, learners int) string {
	pairs := max(1, learners-1)
	least := func(n int) float64 { return min(1, float64(pairs)*math.Ldexp(1, 1-n)) }
	needed := 1
	for least(needed) >= study.Level {
		needed++
	}
	after := ""
	if pairs > 1 {
		after = fmt.Sprintf(" after Holm's correction for %d pairs", pairs)
	}
	level := strconv.FormatFloat(study.Level, 'g', 2, 64)
	bound := strconv.FormatFloat(least(sets), 'g', 2, 64)
	switch {
	case sets == 0:
		return fmt.Sprintf("No data set chosen. With fewer than %d, Wilcoxon's p%s cannot fall below %s.", needed, after, level)
	case learners < 2:
		return views.Counted(sets, "data set") + ", " + views.Counted(learners, "learner") + ": choose two learners to compare."
	case sets < needed:
		return fmt.Sprintf("%s: Wilcoxon's p%s cannot fall below %s; add at least %d.", views.Counted(sets, "data set"), after, bound, needed-sets)
	}
	return fmt.Sprintf("%s, %d learners: Wilcoxon's p%s can fall to %s.", views.Counted(sets, "data set"), learners, after, bound)
}
