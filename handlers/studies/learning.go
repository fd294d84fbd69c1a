package studies

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"marginlab/handlers/background"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/views"
	"marginlab/views/figure"
	studiesview "marginlab/views/studies"
)

// learningName is the name of the picture of a learning curve.
const learningName = "learning"

// learning returns the view of a learning curve.
func learning(s background.Found) *studiesview.Learning {
	score := results.RankedBy(s.Search)
	l := &studiesview.Learning{Score: score.Label}
	if n := len(s.Learning); n > 1 || s.Result != nil {
		title, query := "Learning curve: "+score.Label+" over training points", ""
		if s.Result == nil {
			query = fmt.Sprintf("places=%d", n) // a new URL once there are more points
		}
		picture := pictures.Linked("/searches/"+s.ID+"/figures/", learningName, query, pictures.SmallWidth, pictures.SmallHeight, title, title)
		l.Picture = &picture
	}
	l.Trained = score.Trained != nil
	for _, step := range s.Learning {
		row := studiesview.LearningRow{N: step.N, Share: param.Percent(step.Share), HeldOut: withSpread(score, eval.FoldValues(step.Folds, score.Of)), Vectors: views.Short(results.Vectors(eval.Setting{Folds: step.Folds}))}
		if l.Trained {
			row.Training = withSpread(score, eval.FoldValues(step.Folds, score.Trained))
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}

// withSpread formats a mean with its standard deviation.
func withSpread(score eval.Score, v []float64) string {
	mean, deviation := stat.MeanStdDev(v, nil)
	return fmt.Sprintf("%s (sd %s)", results.ScoreAmount(score, mean), results.ScoreAmount(score, deviation))
}

func drawLearning(steps []eval.LearningStep, score eval.Score, f figure.Format) (*figure.Picture, error) {
	first, last := steps[0], steps[len(steps)-1]
	v := figure.Validation{Format: f, X: "training points", Log: first.N > 0 && last.N >= 20*first.N}
	for _, step := range steps {
		v.Add(float64(step.N), step.Folds, score)
	}
	return v.Picture()
}
