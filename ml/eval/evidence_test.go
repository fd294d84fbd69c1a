package eval

import (
	"math"
	"testing"

	"marginlab/ml"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func shares(accuracy ...float64) (folds []Fold) {
	for _, a := range accuracy {
		right := int(math.Round(20 * a))
		folds = append(folds, Fold{Shares: &Shares{Accuracy: a, Confusion: [][]int{{right, 20 - right}}}})
	}
	return folds
}

// The interval is Nadeau and Bengio's by hand, and Wilson's where folds agree.
func TestEvidenceInterval(t *testing.T) {
	t.Parallel()
	e := Evidence{Scheme: Scheme{Folds: 5}}
	require.Must(t, e.estimate(shares(0.9, 0.95, 0.8, 1, 0.85)), "folds come to nothing")
	// sd² = 0.00625, (1/5 + 1/4) sd² = 0.0028125, t(4; 0.975) = 2.7764451
	half := 2.776445105 * math.Sqrt(0.0028125)
	require.Check(t, math.Abs(e.Mean-0.9) <= 1e-12 && math.Abs(e.Low-(0.9-half)) <= 1e-8 && e.High == 1 && e.Points == 100 && e.Score == "accuracy" && len(e.Folds) == 5,
		"%+v, want 0.9 ± %g", e, half)
	certain := Evidence{Scheme: Scheme{Folds: 5, Repeats: 2}}
	certain.estimate(shares(1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
	want, err := ml.Wilson(100, 100, 0.95)
	require.Check(t, err == nil && certain.Interval == want && certain.Points == 100,
		"folds that all agree: %+v, want %v", certain, want)
	failed := (&Evidence{Scheme: Scheme{Folds: 2}})
	require.Check(t, !failed.estimate([]Fold{{Failure: "none"}, {Failure: "none"}}), "folds that failed are evidence")
}

// The best setting has the nested score first, its own folds after; any other has its folds alone.
func TestEvidenceOfSearch(t *testing.T) {
	t.Parallel()
	d := mltest.Builtin(t, "moons")
	grid := Grid{"C": {param.Of(0.01), param.Of(10)}}
	scheme := Scheme{Folds: 3, Repeats: 1, Seed: 3, Nested: true}
	r := require.Value(CrossValidate(t.Context(), d, ml.DefaultSpec(), grid, scheme, nil))(t)
	all := EvidenceOf("s", scheme, r, r.Best)
	require.Must(t, len(all) == 2 && all[0].Scheme.Nested && !all[0].Optimistic && all[0].Mean == r.Nested.Accuracy && !all[1].Scheme.Nested && all[1].Optimistic && all[1].Mean == r.Settings[r.Best].Accuracy && all[0].Settings == 2,
		"%+v", all)
	other := EvidenceOf("s", scheme, r, 1-r.Best)
	require.Must(t, len(other) == 1 && other[0].Optimistic, "%+v", other)
	require.Check(t, all[1].SameFolds(other[0]) && !all[0].SameFolds(other[0]),
		"the folds of one search are the same, the nested ones others")
	want := require.Value(OnFolds([]Setting{r.Settings[r.Best], r.Settings[1-r.Best]}, 3, 0.01))(t)
	got, err := OnSameFolds([]Evidence{all[1], other[0]}, 0.01)
	require.Check(t, err == nil && *got[0].P == *want[0].P && got[0].Interval == want[0].Interval && *got[0].Posterior == *want[0].Posterior,
		"%+v, %v, want %+v", got, err, want)
	scheme.Nested, r.Nested = false, nil
	alone := EvidenceOf("s", scheme, r, r.Best)
	require.Check(t, len(alone) == 1 && alone[0].Optimistic, "without nested folds: %+v", alone)
}
