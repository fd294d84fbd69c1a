package ml_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func TestPointsAgreeWithTheReport(t *testing.T) {
	t.Parallel()
	eachSetup(t, func(t *testing.T, set ...string) {
		for _, more := range [][]string{{"C", "0.1"}, {"C", "1"}, {"C", "100"}, {"kernel", "linear"}, {"gamma", "20", "core_step", "5"}} {
			if set[3] == "none" && more[0] == "gamma" {
				more = more[:2]
			}
			s := spec(t, append(append(set, more...), "test_fraction", "0.25", "seed", "3")...)
			if s.Applies("tol") {
				s = s.With("tol", param.Of(1e-8))
			}
			d := clouds(90, 2, 21)
			res := train(t, d, s)
			r := res.Report
			ps := require.Value(res.Model.Points(d, s))(t)
			require.Must(t, len(ps) == 90, "%d points", len(ps))
			roles := map[ml.Role]int{}
			var held, cores, wrong, wrongHeld int
			var slack float64
			for i, p := range ps {
				roles[p.Role]++
				require.Check(t, p.Row == i && p.Label == d.Classes[d.Y[i]] && p.F == res.Model.Decision(d.X.RawRowView(i)) && p.Margin == p.Y*p.F,
					"point %d is %+v", i, p)
				require.Check(t, p.Wrong == (res.Model.LabelOf(p.F) != p.Label) && p.Slack == math.Max(0, 1-p.Margin),
					"point %d is %+v", i, p)
				require.Check(t, !p.HeldOut || p.Role == ml.None && !p.Core && p.Weight == 0,
					"held-out point %d is %+v", i, p)
				if p.Core {
					cores++
				}
				if p.HeldOut {
					held++
					if p.Wrong {
						wrongHeld++
					}
					continue
				}
				slack += p.Slack
				if p.Wrong {
					wrong++
				}
			}
			require.Check(t, held == r.TestN && 90-held == r.TrainN, "%d held out, the report says %d", held, r.TestN)
			if got := 1 - float64(wrong)/float64(r.TrainN); math.Abs(got-*r.TrainAccuracy) > 1e-12 {
				t.Errorf("training accuracy %g, the report says %g", got, *r.TrainAccuracy)
			}
			got := 1 - float64(wrongHeld)/float64(r.TestN)
			require.Check(t, math.Abs(got-*r.TestAccuracy) <= 1e-12, "test accuracy %g, the report says %g", got, *r.TestAccuracy)
			require.Check(t, (r.SlackSum == nil) == s.Targets(), "slack %v, with targets %t", r.SlackSum, s.Targets())
			require.Check(t, r.SlackSum == nil || near(slack, *r.SlackSum, 1e-6),
				"slack %g, the report says %+v", slack, r)
			require.Check(t, r.Cores == nil || cores == *r.Cores, "%d cores, the report says %+v", cores, r)
			require.Equal(t, len(ps)-roles[ml.None], r.SupportVectors, "%v: support vectors by roles and by the report", more)
			if r.Free == nil {
				kind := lists.Either(s.Targets(), ml.Weighted, ml.Support)
				require.Check(t, roles[kind] == r.SupportVectors, "roles %v", roles)
				continue
			}
			require.Check(t, roles[ml.Free] == *r.Free && roles[ml.Inside] == *r.BoundedInside && roles[ml.Misclassified] == *r.BoundedMisclassified,
				"%v: roles %v, the report says %d free, %d inside, %d misclassified", more, roles, *r.Free, *r.BoundedInside, *r.BoundedMisclassified)
		}
	})
}

func TestFreePointsLieOnTheMargin(t *testing.T) {
	t.Parallel()
	d := clouds(90, 2, 22)
	for _, s := range []ml.Spec{spec(t, "tol", "1e-9"), spec(t, "tol", "1e-9", "hard_margin", "true", "gamma", "50"), spec(t, "tol", "1e-9", "conformal", "eigen")} {
		ps := require.Value(train(t, d, s).Model.Points(d, s))(t)
		free := 0
		for _, p := range ps {
			switch {
			case p.Role == ml.Free:
				free++
				require.Near(t, p.Margin, 1, 1e-6, "a free point has margin")
			case p.Role == ml.None && p.Margin < 1-1e-6:
				t.Errorf("a point without weight has margin %g", p.Margin)
			case p.Role == ml.Misclassified && !p.Wrong, p.Role == ml.Inside && p.Margin < -1e-6:
				t.Errorf("%s with margin %g", p.Role, p.Margin)
			}
		}
		require.Check(t, free != 0, "no free points")
	}
}

func TestPointsRefuseOtherData(t *testing.T) {
	t.Parallel()
	s := spec(t)
	m := train(t, clouds(90, 2, 23), s).Model
	require.Fails(t, require.Err(m.Points(toy(), s)), "", "data without the classes of the model are taken")
	require.Fails(t, require.Err(m.Points(clouds(20, 2, 23), s)), "row", "data with fewer rows than the model remembers")
	require.Fails(t, require.Err(m.Points(data([][]float64{{1}, {2}}, "a", "b"), s)), "", "data without the features of the model are taken")
	// Many points look at the context even if their scores are known: a million take a second.
	many := clouds(9000, 2, 21)
	known := &ml.Result{Model: m, Scores: m.Scores(many.X)}
	ps := require.Value(known.Points(t.Context(), m, many, s))(t)
	require.Equal(t, len(ps), 9000, "points")
	ps, err := known.Points(mltest.Ended(), m, many, s)
	require.Is(t, err, context.Canceled, "points")
	require.Check(t, ps == nil, "%d points", len(ps))
}

// Support vectors are counted by one definition: the number of a training, its parts, and
// the roles of the points that pictures ring and legends count are the same.
func TestSupportVectorsAreCountedOnce(t *testing.T) {
	t.Parallel()
	sets := map[string]*dataset.Data{}
	for _, b := range dataset.Builtins {
		d := require.Value(b.Load())(t)
		if !d.Scattered() && d.Len() <= 400 {
			sets[b.Slug] = d
		}
	}
	i := slices.IndexFunc(dataset.Generators, func(g dataset.Generator) bool { return g.Name == "checkerboard" })
	noisy := require.Value(dataset.Generators[i].Generate(param.Values{}.With("n", param.Of(4000.0)).With("noise", param.Of(0.4))))(t)
	sets["4000 points of which many coincide nearly"] = noisy
	for name, d := range sets {
		for _, learner := range []string{"svm", "mcm", "ridge"} {
			if learner != "svm" && d.Len() > 1000 {
				continue // the others take long
			}
			for _, c := range []float64{0.01, 1, 100} {
				spec := ml.DefaultSpec().With("C", param.Of(c)).With("gamma", param.Of(5.0))
				spec.Learner, spec.TestFraction = learner, 0.3
				if spec.Kernel = kernel.For(d.Kind()).Name; d.Kind() == dataset.KindVectors {
					spec.Kernel = "rbf"
				}
				res := require.Value(ml.Train(t.Context(), d, spec, nil))(t, "%v %v", name, learner)
				points := require.Value(res.Points(t.Context(), res.Model, d, spec))(t)
				n := map[ml.Role]int{}
				for _, p := range points {
					n[p.Role]++
				}
				r := res.Report
				require.Equal(t, len(points)-n[ml.None], r.SupportVectors,
					"%s, %s, C = %g: points with a part and support vectors: %v", name, learner, c, n)
				if r.Free != nil && (*r.Free != n[ml.Free] || *r.BoundedInside != n[ml.Inside] || *r.BoundedMisclassified != n[ml.Misclassified]) {
					t.Errorf("%s, %s, C = %g: %d free, %d inside, %d on the wrong side; the points: %v", name, learner, c, *r.Free, *r.BoundedInside, *r.BoundedMisclassified, n)
				}
			}
		}
	}
}
