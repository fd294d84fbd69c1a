package ml

import (
	"math"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/svm"
)

// Cost is about what a training takes on one processor. It orders work before anything is
// known of it, and is right to within a factor of a few.
type Cost struct {
	Time  time.Duration
	Bytes int64
}

// mostTime bounds an estimate: a day is as good as for ever.
const mostTime = 24 * time.Hour

// CostOf estimates what it takes to train a spec on data. A spec that is not known costs the most.
func CostOf(d *dataset.Data, s Spec) Cost {
	learner, err := lookup(s.Learner)
	if err != nil {
		return Cost{Time: mostTime}
	}
	n := float64(len(d.Y))
	value := 1.0 // of a value of the kernel, in nanoseconds
	if d.X == nil {
		value = max(100, kernel.Steps(s.kernel(), d.Objects)/10)
	} else {
		_, columns := d.X.Dims()
		value += float64(columns) / 4
	}
	seconds, bytes := learner.cost(n, s)
	seconds += n * n * value * 1e-9
	if s.Conformal != "" && s.Conformal != "none" {
		seconds *= 3 // the kernel as it was, the map, the kernel as it is then
	}
	if k := len(d.Classes); k > 2 && !s.Regression() {
		seconds *= float64(k) / 2
	}
	return Cost{time.Duration(min(seconds*float64(time.Second), float64(mostTime))), int64(bytes)}
}

// The learners' costs are fitted to trainings of 500 to 12 000 rows of noise, which are slow.

func costSVM(n float64, s Spec) (seconds, bytes float64) {
	c := 1e6
	if !s.Values.Switch("hard_margin") {
		c = s.Values.Number("C")
	}
	return 3e-8 * n * n * (1 + 1.5*math.Log10(1+max(c, 0))), min(4*n*n, svm.DefaultCache)
}

func costMCM(n float64, _ Spec) (seconds, bytes float64) {
	return 2.5e-10 * n * n * n, min(5*n*n, 800<<20)
}

func costRidge(n float64, _ Spec) (seconds, bytes float64) {
	return 5e-8*n*n + 5e-11*n*n*n, 8 * n * n
}
