package eightsteps

import (
	"context"
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// on prepares a built-in data set like a screen.
func on(t *testing.T, name string, change map[string]string) *training {
	t.Helper()
	d := &lessons.Demo{Controls: controls}
	in, wrong := d.NewInput(func(p string) string {
		if p == "data" {
			return name
		}
		return change[p]
	}, lessonstest.Builtins{})
	require.Must(t, len(wrong) == 0, "%v", wrong)
	got, _ := trained(t.Context(), in)
	return got
}

// The eight steps, performed one by one with only the solvers, give the model of ml.Train.
func TestEightStepsByHand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"moons", "xor", "iris-versicolor-virginica", "iris", "checkerboard"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := on(t, name, map[string]string{"gamma": "0.7", "core_gamma": "0.4", "C": "2"})
			// 1: mean and population deviation of the training rows.
			m := float64(len(s.train))
			x := mat.NewDense(len(s.train), len(s.data.Features), nil)
			for j := range s.data.Features {
				var mean, square float64
				for _, i := range s.train {
					mean += s.data.X.At(i, j) / m
				}
				for _, i := range s.train {
					square += math.Pow(s.data.X.At(i, j)-mean, 2) / m
				}
				for k, i := range s.train {
					x.Set(k, j, (s.data.X.At(i, j)-mean)/math.Sqrt(square))
				}
			}
			require.Must(t, mat.EqualApprox(x, s.p.X, 1e-12), "step 1: the standardised rows differ")
			// 2
			settings := mcm.Settings{C: 2, RankTol: s.spec.Values.Number("rank_tol")}
			first := require.Value(mcm.Train(t.Context(), s.p.Gram, s.p.Y, settings))(t)
			top := floats.Norm(first.Lambda, math.Inf(1))
			cores := lists.Where(len(first.Lambda), func(i int) bool { return math.Abs(first.Lambda[i]) > 1e-6*top })
			require.Must(t, len(cores) == len(s.after.Machines[0].Map.Cores), "step 2: %d cores", len(cores))
			// 3 and 4: the definition, entry by entry, and the solver.
			fitted, stats, err := conformal.Fit(t.Context(), "eigen", s.p.Gram, s.p.X, s.p.Y, cores, conformal.Settings{Gamma: 0.4, Ridge: s.spec.Values.Number("core_ridge")})
			require.NoError(t, err)
			_, own := s.best(t.Context())
			b0, w0 := s.scatter(t.Context())
			lessonstest.Near(t, "step 3: J before", mat.Sum(b0)/mat.Sum(w0), stats.JBefore, 1e-9)
			lessonstest.Near(t, "step 4: largest g of the spectrum", own.Spectrum[0], *s.report.Eigenvalue, 1e-8)
			lessonstest.Near(t, "step 4: J after", stats.JAfter, *s.report.JAfter, 1e-12)
			require.Check(t, stats.JAfter >= stats.JBefore, "J fell from %g to %g", stats.JBefore, stats.JAfter)
			// 5
			c := fitted.Factors(s.p.X)
			require.Check(t, floats.EqualApprox(c, s.after.Machines[0].Map.Factors(s.p.X), 1e-9),
				"step 5: the factors differ")
			last := 0.0
			for _, n := range []int{0, 1, 2, 5, len(cores)} {
				j := s.p.J(t.Context(), s.with(t.Context(), n).Machines[0].Map.Factors(s.p.X))
				require.Check(t, j >= last*(1-0.01), "step 5: J falls from %g to %g with %d cores", last, j, n)
				last = j
			}
			lessonstest.Near(t, "step 5: J of all cores", last, stats.JAfter, 1e-6)
			// 6
			k, k0 := theory.Gram(s.p.Scaled(c)), theory.Gram(s.p.Gram)
			for i := range c {
				for j := range i {
					lessonstest.Near(t, "step 6: an entry", k.At(i, j), c[i]*c[j]*k0.At(i, j), 1e-12)
				}
			}
			// 7
			second := require.Value(mcm.Train(t.Context(), s.p.Scaled(c), s.p.Y, settings))(t)
			lessonstest.Near(t, "step 7: objective", second.Objective, *s.report.Objective, 1e-9)
			// 8: f at the held-out rows, by its formula.
			z := s.scaler.Apply(s.data.X)
			right := 0
			for _, row := range s.test {
				at := z.RawRowView(row)
				f := second.B
				for i, l := range second.Lambda {
					f += l * c[i] * fitted.At(at) * math.Exp(-0.7*math.Pow(floats.Distance(s.p.X.RawRowView(i), at, 2), 2))
				}
				lessonstest.Near(t, "step 8: f", s.after.Decision(s.data.X.RawRowView(row)), f, 1e-9)
				if (f >= 0) == (s.y[row] > 0) {
					right++
				}
			}
			lessonstest.Near(t, "step 8: accuracy", *s.report.TestAccuracy, float64(right)/float64(len(s.test)), 1e-12)
			_, after := s.compare()
			lessonstest.Near(t, "step 8: accuracy as shown", share(after), *s.report.TestAccuracy, 1e-12)
			// The screens' machine is the same function.
			model := s.p.Machine(t.Context(), s.after.Machines[0].Map)
			require.Check(t, floats.EqualApprox(model.Decisions(s.data.X), s.after.Decisions(s.data.X), 1e-9),
				"machine and ml.Train differ")
		})
	}
}

// Every screen works on all kinds of data sets and without held-out rows.
func TestEightStepsOnAnyData(t *testing.T) {
	t.Parallel()
	for _, b := range dataset.Builtins {
		if b.Kind != dataset.KindVectors || b.Slug == "digits" || b.Slug == "breast-cancer" || b.Slug == "pima" {
			continue // lessons offer those with features alone
		}
		t.Run(b.Slug, func(t *testing.T) {
			t.Parallel()
			for _, s := range Lesson().Screens {
				in, _ := s.Demo.NewInput(func(p string) string {
					return map[string]string{"data": b.Slug, "test_fraction": "0"}[p]
				}, lessonstest.Builtins{})
				lessonstest.CheckExhibit(t, require.Value(s.Demo.Show(t.Context(), in))(t, "%s", s.Slug))
			}
		})
	}
}

// Unusual workspace data: one feature, a constant one, a class of one row.
func TestEightStepsOnOddData(t *testing.T) {
	t.Parallel()
	odd := map[string]*dataset.Data{
		"one feature": {Features: []string{"x"}, Label: "label", Classes: []string{"-1", "1"}, X: mat.NewDense(8, 1, []float64{1, 2, 3, 4, 6, 7, 8, 9}), Y: []int{0, 0, 0, 0, 1, 1, 1, 1}},
		"a constant":  {Features: []string{"x $1", "k*"}, Label: "label", Classes: []string{"-1", "1"}, X: mat.NewDense(6, 2, []float64{1, 5, 2, 5, 3, 5, 6, 5, 7, 5, 8, 5}), Y: []int{0, 0, 0, 1, 1, 1}},
		"a lone row":  {Features: []string{"a", "b"}, Label: "label", Classes: []string{"-1", "1"}, X: mat.NewDense(5, 2, []float64{1, 5, 2, 1, 3, 5, 6, 2, 7, 5}), Y: []int{0, 0, 0, 0, 1}},
	}
	for name, d := range odd {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range Lesson().Screens {
				in, _ := s.Demo.NewInput(func(string) string { return "" }, source{d})
				e, err := s.Demo.Show(t.Context(), in)
				if err != nil {
					t.Logf("%s: %v", s.Slug, err) // an error message, not a panic
					continue
				}
				lessonstest.CheckExhibit(t, e)
			}
		})
	}
}

type source struct{ d *dataset.Data }

func (s source) Data(context.Context, string) (string, *dataset.Data, error) {
	return "odd", s.d, nil
}

func (source) Run(context.Context, string) (*lessons.Run, error) { return nil, nil }

// A control has the same meaning on all screens.
func TestEightStepsCarry(t *testing.T) {
	t.Parallel()
	require.Check(t, Lesson().Carry && len(Lesson().Screens) == 8, "values do not go along, or there are not eight screens")
	for i, s := range Lesson().Screens {
		want := "Step " + strconv.Itoa(i+1)
		require.Check(t, len(s.Title) >= len(want) && s.Title[:len(want)] == want, "screen %d is called %q", i+1, s.Title)
	}
}

// From the constant 1 to the best factor J only rises, from that of the basic kernel to that of
// the new one, and the replay takes the sign for which it rises faster at first.
func TestClimb(t *testing.T) {
	t.Parallel()
	wide := map[string]string{"core_gamma": "0.05", "seed": "3"}
	for _, c := range []struct {
		set    string
		change map[string]string
		turned bool
	}{{"moons", nil, false}, {"wine", nil, false}, {"heart", nil, false}, {"iris-sepal", wide, true}, {"checkerboard", wide, true}} {
		s := on(t, c.set, c.change)
		best, _ := s.best(t.Context())
		way := func(share float64) float64 {
			return s.p.J(t.Context(), onTheWay(best, share).Factors(s.p.X))
		}
		other := way(0.125)
		got := s.uphill(t.Context(), best, 0.125)
		require.Check(t, got == c.turned && got == (way(0.125) > other), "%s: the sign has turned: %v, J after a step: %g after %g", c.set, got, way(0.125), other)
		for k := range 8 {
			from, to := way(float64(k)/8), way(float64(k+1)/8)
			require.Check(t, to >= from, "%s: J falls to %g after %g in step %d", c.set, to, from, k)
		}
		lessonstest.Near(t, "J of the constant", way(0), *s.report.JBefore, 1e-9)
		lessonstest.Near(t, "J of the best", way(1), *s.report.JAfter, 1e-9)
	}
}

// The frame of the last step fits standardised points, whatever the units of the raw data.
func TestScaledFrame(t *testing.T) {
	t.Parallel()
	heart := &dataset.Data{Features: []string{"age", "cholesterol"}, Label: "label", Classes: []string{"-1", "1"}, X: mat.NewDense(6, 2, []float64{29, 126, 41, 180, 50, 240, 58, 564, 63, 300, 77, 260}), Y: []int{0, 0, 0, 1, 1, 1}}
	in, _ := (&lessons.Demo{Controls: controls}).NewInput(func(name string) string { return map[string]string{"test_fraction": "0"}[name] }, source{heart})
	for step, least := range map[int]float64{0: 564, moves / 2: 564, moves: 2} {
		in.Step = step
		e := showStandardise(t.Context(), in)
		l := require.Value(e.Figures[0].Draw(lessons.Look{Width: 600, Height: 400}))(t).Frame.Limits
		require.Check(t, l.YMax >= least && l.YMax <= 1.5*least && l.XMin <= -2, "step %d: the frame is %v", step, l)
	}
}
