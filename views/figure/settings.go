package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
)

// Validation draws a score over a number, on held-out points and the training set: a validation
// curve over a parameter or a learning curve over training points. Curves show means with one
// standard deviation.
type Validation struct {
	Format
	X, Score string // axis labels
	Log      bool   // logarithmic X
	Share    bool   // the score is at most 1: nothing is drawn above
	Places   []float64
	// HeldOut and Training hold the score of every fold at each place; Training may be empty.
	HeldOut, Training [][]float64
	Here              *float64 // chosen place; nil: none
}

// Add adds a place to the curve of a score.
func (v *Validation) Add(place float64, folds []eval.Fold, score eval.Score) {
	v.Score, v.Share = score.Label, score.Share
	v.Places, v.HeldOut = append(v.Places, place), append(v.HeldOut, eval.FoldValues(folds, score.Of))
	if score.Trained != nil {
		v.Training = append(v.Training, eval.FoldValues(folds, score.Trained))
	}
}

// Picture draws the curves.
func (v Validation) Picture() (*Picture, error) {
	ch := Chart{Format: v.Format, X: Axis{Name: v.X, Log: v.Log}, Y: Axis{Name: v.Score}}
	for _, of := range []struct {
		name  string
		folds [][]float64
	}{{"held out", v.HeldOut}, {"training", v.Training}} {
		if of.folds == nil {
			continue
		}
		cu := Curve{Name: of.name, Marks: true, X: v.Places}
		for _, folds := range of.folds {
			mean, sd := stat.MeanStdDev(folds, nil)
			low := mean - sd
			if slices.Min(folds) >= 0 { // no room below 0 if no score is negative
				low = max(0, low)
			}
			high := mean + sd
			if v.Share {
				high = min(1, high)
			}
			cu.Y, cu.Lo, cu.Hi = append(cu.Y, mean), append(cu.Lo, low), append(cu.Hi, high)
		}
		ch.Curves = append(ch.Curves, cu)
	}
	if v.Here != nil {
		ch.Rules = []Rule{{Name: "best", At: *v.Here, Upright: true}}
	}
	return ch.Picture()
}

// Sparseness draws settings by their support vectors and score, marking the chosen ones.
type Sparseness struct {
	Format
	Score           string
	Vectors, Scores []float64 // of each setting; those that are not finite are omitted
	Best, Simplest  int       // indices of settings
}

// Picture draws the settings.
func (s Sparseness) Picture() (*Picture, error) {
	order := dataset.Indices(len(s.Vectors))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Vectors[a], s.Vectors[b]) })
	all := Curve{Name: "settings", Marks: true}
	for _, i := range order { // gaps between them, so that they are not joined
		all.X, all.Y = append(all.X, s.Vectors[i], s.Vectors[i]), append(all.Y, s.Scores[i], math.NaN())
	}
	one := func(name string, i int) Curve {
		return Curve{Name: name, Marks: true, X: s.Vectors[i : i+1], Y: s.Scores[i : i+1]}
	}
	ch := Chart{Format: s.Format, X: Axis{Name: "support vectors, mean over the folds"}, Y: Axis{Name: s.Score}, Curves: []Curve{all, one("best", s.Best)}}
	if s.Simplest != s.Best {
		ch.Curves = append(ch.Curves, one("simplest", s.Simplest))
	}
	return ch.Picture()
}
