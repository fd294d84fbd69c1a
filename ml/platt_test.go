package ml_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// plattLoss returns the loss that A and B minimise, summed directly.
func plattLoss(p ml.Platt, f []float64, positive []bool) (sum float64) {
	var plus, minus float64
	for _, y := range positive {
		if y {
			plus++
		} else {
			minus++
		}
	}
	for i, v := range f {
		t := 1 / (minus + 2)
		if positive[i] {
			t = (plus + 1) / (plus + 2)
		}
		not := ml.Platt{A: -p.A, B: -p.B} // 1 − p to all digits
		sum -= t*math.Log(p.Probability(v)) + (1-t)*math.Log(not.Probability(v))
	}
	return sum
}

// The sigmoid is scikit-learn 1.2.1's, sklearn.calibration._sigmoid_calibration, which
// stops at a gradient of 1e-5; and to more digits that of scipy.optimize on the same loss.
func TestPlattIsThatOfScikitLearn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		scale, shift float64
		sklearn      ml.Platt
		scipy        ml.Platt
	}{
		{40, 1, 0, ml.Platt{A: -2.2862859976289043, B: 0.35615437322968213}, ml.Platt{A: -2.2862843346928905, B: 0.35615480871370064}},
		{200, 30, 0.5, ml.Platt{A: -0.11653114001775135, B: 2.1666438794891256}, ml.Platt{A: -0.11653113823272063, B: 2.1666438545362174}},
		{57, 1e-3, -1, ml.Platt{A: -2717.9610822256122, B: -2.2822957421525336}, ml.Platt{A: -2717.9561263575188, B: -2.282290816521991}},
		{30, 1, 0, ml.Platt{A: -2.1162306801797937, B: 0.31014877971540794}, ml.Platt{A: -2.116229145999572, B: 0.3101489721011397}},
	} {
		f, positive := make([]float64, c.n), make([]bool, c.n)
		for i := range f {
			positive[i] = i*7%10 < 4
			f[i] = math.Sin(1.3*float64(i)) - 0.8 + c.shift
			if positive[i] {
				f[i] += 1.6
			}
			f[i] *= c.scale
		}
		got := require.Value(ml.FitPlatt(f, positive))(t)
		for want, tol := range map[ml.Platt]float64{c.sklearn: 1e-5, c.scipy: 1e-7} {
			require.Check(t, math.Abs(got.A-want.A) <= tol*math.Abs(want.A) && math.Abs(got.B-want.B) <= tol*math.Abs(want.B),
				"%d points: %+v, want %+v", c.n, got, want)
		}
	}
}

// No A and B near those found are likelier, whatever the values: separated, equal, huge, tiny.
func TestPlattIsTheOptimum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		scale := rapid.SampledFrom([]float64{1, 1e-9, 1e6}).Draw(t, "scale")
		f := rapid.SliceOfN(rapid.SampledFrom([]float64{-2, -1, -0.3, 0, 0, 0.1, 1, 3, 50}), n, n).Draw(t, "f")
		positive := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "classes")
		positive[0], positive[1] = true, false
		if rapid.Bool().Draw(t, "separated") {
			for i := range f {
				if f[i] = math.Abs(f[i]) + 0.1; !positive[i] {
					f[i] *= -1
				}
			}
		}
		p := require.Value(ml.FitPlatt(f, positive))(t)
		q, err := ml.FitPlatt(floats.ScaleTo(make([]float64, n), scale, f), positive)
		require.Must(t, err == nil && math.Abs(q.A*scale-p.A) <= 1e-6*(1e-6+math.Abs(p.A)) && math.Abs(q.B-p.B) <= 1e-6*(1+math.Abs(p.B)),
			"%+v, and of %g times the values %+v, %v", p, scale, q, err)
		least := plattLoss(p, f, positive)
		for _, step := range []float64{1e-3, 1e-2, 0.1, 1} {
			for _, d := range []ml.Platt{{A: step}, {A: -step}, {B: step}, {B: -step}, {A: step, B: step}, {A: step, B: -step}, {A: -step, B: step}, {A: -step, B: -step}} {
				other := plattLoss(ml.Platt{A: p.A + d.A, B: p.B + d.B}, f, positive)
				require.Must(t, other >= least-1e-9*(1+least), "%+v has the loss %g, %g away it is %g", p, least, step, other)
			}
		}
	})
	for name, f := range map[string][]float64{"not finite": {1, math.Inf(1)}, "one class": {1}} {
		if _, err := ml.FitPlatt(f, []bool{true, false}[:len(f)]); err == nil {
			t.Errorf("%s has probabilities", name)
		} else if _, ok := param.ForPerson(err); !ok {
			t.Errorf("%s: %v is for noClass", name, err)
		}
	}
	for _, f := range []float64{-1e300, -800, 0, 800, 1e300} {
		p := (ml.Platt{A: -2, B: 0.1}).Probability(f)
		require.Check(t, (p >= 0 && p <= 1), "the probability at %g is %g", f, p)
	}
}

// Probabilities come with the model, from points that are not those held out, and are no f.
func TestCalibration(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 200, 0.4, 2))(t)
	for _, learner := range []string{"svm", "mcm", "ridge"} {
		s := spec(t, "calibration", "platt", "test_fraction", "0.3", "seed", "2", "learner", learner)
		res := train(t, d, s)
		plain := train(t, d, spec(t, "test_fraction", "0.3", "seed", "2", "learner", learner))
		m := res.Model
		require.Must(t, m.Platt != nil && m.Platt.A < 0 && plain.Model.Platt == nil && plain.Report.TestBrier == nil,
			"%s: %+v and, uncalibrated, %+v", learner, m.Platt, plain.Model.Platt)
		points := require.Value(m.Points(d, s))(t)
		var logLoss, brier, n float64
		for _, p := range points {
			if !p.HeldOut {
				continue
			}
			q := 1 / (1 + math.Exp(m.Platt.A*p.F+m.Platt.B))
			if p.Y < 0 {
				q = 1 - q
			}
			logLoss, brier, n = logLoss-math.Log(q), brier+(1-q)*(1-q), n+1
		}
		if r := res.Report; math.Abs(*r.TestLogLoss-logLoss/n) > 1e-9 || math.Abs(*r.TestBrier-brier/n) > 1e-9 || *r.TestLogLoss > math.Ln2 || *r.TestBrier > 0.25 {
			t.Errorf("%s: log loss %g and Brier score %g, by hand %g and %g", learner, *r.TestLogLoss, *r.TestBrier, logLoss/n, brier/n)
		}
		// f has not changed, and the model is the same after a journey.
		require.Check(t, *plain.Report.TestAccuracy == *res.Report.TestAccuracy && plain.Model.Decision([]float64{0.3, 0.2}) == m.Decision([]float64{0.3, 0.2}),
			"%s: calibration changed f", learner)
		text := asJSON(t, m)
		back, err := ml.ReadModel(strings.NewReader(text))
		require.Check(t, err == nil && *back.Platt == *m.Platt && asJSON(t, back) == text && strings.Contains(text, `"format":3`),
			"%v: %s", err, text)
		text = asJSON(t, plain.Model)
		require.Check(t, !strings.Contains(text, "platt") && strings.Contains(text, `"format":2`), "%s", text)
	}
	// Held-out points are not used.
	s := spec(t, "calibration", "platt", "test_fraction", "0.3", "seed", "2")
	before := train(t, d, s)
	_, held := dataset.Split(func() []float64 {
		return require.Value(ml.TargetOf(d, s))(t).Strata()
	}(), 0.3, 2)
	for _, i := range held {
		d.X.Set(i, 0, 100-d.X.At(i, 0))
	}
	after := train(t, d, s)
	require.Check(t, *after.Model.Platt == *before.Model.Platt, "held-out points changed the sigmoid: %+v, %+v", before.Model.Platt, after.Model.Platt)

	// Of several classes there is no one probability; of two points none can be held out.
	three := mltest.Builtin(t, "iris")
	few := d.Subset([]int{0, 1, 2, 3})
	few.Y = []int{0, 1, 1, 1}
	for says, c := range map[string]*dataset.Data{"choose a positive class": three, "only 1": few} {
		_, err := ml.Train(t.Context(), c, spec(t, "calibration", "platt"), nil)
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%v, want something about %q", err, says)
	}
	require.Equal(t, require.Err(ml.Train(t.Context(), three, spec(t, "calibration", "platt", "positive", "setosa"), nil)), nil, "the error")
	m := require.JSON[map[string]any](t, asJSON(t, before.Model))
	m["rule"] = "ovo"
	text := require.Value(json.Marshal(m))(t)
	require.Fails(t, require.Err(ml.ReadModel(strings.NewReader(string(text)))), "", "a model of pairs has a probability")
}
