package ml

import (
	"math"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/svm"
)

// Cost is a rough estimate of the time and memory of a training on one processor, for scheduling.
type Cost struct {
	Time  time.Duration
	Bytes int64
}

// maxTime is the largest estimate.
const maxTime = 24 * time.Hour

// CostOf estimates the cost of training a spec on data. For an unknown learner it returns maxTime
// and no memory.
func CostOf(d *dataset.Data, s Spec) Cost {
	learner, err := lookup(s.Learner)
	if err != nil {
		return Cost{Time: maxTime}
	}
	n := float64(len(d.Y))
	value := 1.0 // nanoseconds per kernel value
	if d.X == nil {
		value = max(100, kernel.Steps(s.kernel(), d.Objects)/10)
	} else {
		_, columns := d.X.Dims()
		value += float64(columns) / 4
	}
	seconds, bytes := learner.cost(n, s)
	seconds += n * n * value * 1e-9
	if s.Conformal != "" && s.Conformal != "none" {
		seconds *= 3 // original kernel, map, modified kernel
	}
	if k := len(d.Classes); k > 2 && !s.Regression() {
		seconds *= float64(k) / 2
	}
	return Cost{time.Duration(min(seconds*float64(time.Second), float64(maxTime))), int64(bytes)}
}

// The costs of the learners are fitted to trainings on 500 to 12 000 rows of noise, a slow case.

func costSVM(n float64, s Spec) (seconds, bytes float64) {
	c := 1e6
	if !s.Values.Switch("hard_margin") {
		c = s.Values.Number("C")
	}
	return 3e-8 * n * n * (1 + 1.5*math.Log10(1+max(c, 0))), min(4*n*n, svm.DefaultCache)
}

func costMCM(n float64, s Spec) (seconds, bytes float64) {
	square := 5.0
	if s.Values.Number("rho") > 0 {
		square = 32 // the rows of K, as features, and the inverse of a basis, should all points be needed
	}
	return 2.5e-10 * n * n * n, min(square*n*n, 800<<20)
}

func costRidge(n float64, _ Spec) (seconds, bytes float64) {
	return 5e-8*n*n + 5e-11*n*n*n, 8 * n * n
}
