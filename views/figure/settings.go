package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml/dataset"
)

// Validation draws a score over a number, held out and in training: a validation curve over a
// parameter, a learning curve over points. Curves show means with one standard deviation.
type Validation struct {
	Format
	X, Score string // names of the axes
	Log      bool   // of X
	Share    bool   // the score is 1 at most: nothing is drawn above
	Places   []float64
	// HeldOut and Training have the score of every fold at each place; without Training there
	// is one curve.
	HeldOut, Training [][]float64
	Here              *float64 // the place that is chosen; nil: none
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
			if slices.Min(folds) >= 0 { // where no score is below 0, none is expected there
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

// Sparseness draws settings by their support vectors and their score, with those chosen.
type Sparseness struct {
	Format
	Score           string
	Vectors, Scores []float64 // of each setting; those that are not finite are left out
	Best, Simplest  int       // places among them
}

// Picture draws the settings.
func (s Sparseness) Picture() (*Picture, error) {
	order := dataset.Indices(len(s.Vectors))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Vectors[a], s.Vectors[b]) })
	all := Curve{Name: "settings", Marks: true}
	for _, i := range order { // gaps between them: they are no curve
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
