package studies

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"marginlab/handlers/door"
	"marginlab/ml/eval"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// learningName is that of the picture of a learning curve.
const learningName = "learning"

// learning is a learning curve that is done, as the page shows it.
func learning(s store.Search) *views.Learning {
	score := door.RankedBy(s)
	title := "Learning curve: " + score.Label + " over the number of points that train"
	l := &views.Learning{
		Score:   score.Label,
		Picture: door.Linked("/searches/"+s.ID+"/figures/", learningName, "", door.SmallWidth, door.SmallHeight, title, title),
	}
	of := trained(score)
	l.Trained = of != nil
	for _, step := range s.Result.Learning {
		row := views.LearningRow{N: step.N, Share: door.Percent(step.Share), HeldOut: withSpread(score, values(step.Folds, score.Of)), Vectors: views.Short(door.Vectors(eval.Setting{Folds: step.Folds}))}
		if l.Trained {
			row.Training = withSpread(score, values(step.Folds, of))
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// withSpread is a mean with its standard deviation, for reading.
func withSpread(score eval.Score, v []float64) string {
	mean, deviation := stat.MeanStdDev(v, nil)
	return fmt.Sprintf("%s (sd %s)", door.ScoreAmount(score, mean), door.ScoreAmount(score, deviation))
}

// drawLearning draws a learning curve.
func drawLearning(res *eval.Result, score eval.Score, f figure.Format) (*figure.Picture, error) {
	first, last := res.Learning[0], res.Learning[len(res.Learning)-1]
	v := figure.Validation{Format: f, X: "points that train", Score: score.Label, Share: score.Share, Log: first.N > 0 && last.N >= 20*first.N}
	of := trained(score)
	for _, step := range res.Learning {
		v.Places, v.HeldOut = append(v.Places, float64(step.N)), append(v.HeldOut, values(step.Folds, score.Of))
		if of != nil {
			v.Training = append(v.Training, values(step.Folds, of))
		}
	}
	return v.Picture()
}
