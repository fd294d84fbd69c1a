package stepwise_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/svm"
	"marginlab/ml/trace"
)

func gram(x *mat.Dense, name string) svm.Matrix {
	return kernel.NewGram(kernel.New(name, param.Values{"gamma": param.Of(0.5)}, x), x)
}

// clouds returns m points in two clouds at the given distance, the classes in turn.
func clouds(r *rand.Rand, m int, distance float64) (*mat.Dense, []float64) {
	x, y := mat.NewDense(m, 2, nil), make([]float64, m)
	for i := range m {
		y[i] = float64(1 - 2*(i%2))
		x.SetRow(i, []float64{r.NormFloat64() + y[i]*distance/2, r.NormFloat64() + 0.3})
	}
	return x, y
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// near fails unless got and want agree relative to max(1, |want|).
func near(t rapid.TB, what string, got, want, tol float64) {
	t.Helper()
	require.Near(t, got, want, tol*max(1, math.Abs(want)), "%s", what)
}

func last[S any](r *trace.Replay[S]) S { return r.At(r.Len() - 1) }

func dual(k svm.Matrix, y, alpha []float64) (sum float64) {
	row := make([]float64, len(y))
	for i, a := range alpha {
		sum += a
		k.Row(row, i)
		for j, b := range alpha {
			sum -= a * b * y[i] * y[j] * row[j] / 2
		}
	}
	return sum
}

// optimum returns the solution to high accuracy.
func optimum(t rapid.TB, k svm.Matrix, y []float64, c float64) *svm.Result {
	t.Helper()
	r, err := svm.Train(context.Background(), k, y, svm.Settings{C: c, Tol: 1e-10})
	require.Must(t, err == nil && r.Status == trace.Converged, "svm.Train: %v, %v", r, err)
	return r
}

// checkTable recomputes everything in an iterate from alpha, B and the kernel.
func checkTable(t rapid.TB, s *stepwise.Iterate, k svm.Matrix, c float64) {
	t.Helper()
	var square, sum, residual, slacks, largest float64
	row := make([]float64, k.Len())
	u := s.U()
	for i, p := range s.Points {
		k.Row(row, i)
		f := s.B
		for j := range row {
			f += u[j] * row[j]
		}
		near(t, "f", p.F, f, 1e-9)
		square += u[i] * (f - s.B)
		sum += p.Alpha
		residual += u[i]
		margin := p.Y * f
		slacks += max(0, 1-margin)
		near(t, "slack", p.Slack, max(0, 1-margin), 1e-9)
		var violation float64
		switch {
		case p.Alpha < c && margin < 1:
			violation = 1 - margin
		case p.Alpha > 0 && margin > 1:
			violation = margin - 1
		}
		near(t, "violation", p.Violation, violation, 1e-9)
		largest = max(largest, violation)
	}
	near(t, "residual", s.Residual, residual, 1e-9)
	near(t, "largest violation", s.Violation, largest, 1e-9)
	near(t, "dual", s.Dual, sum-square/2, 1e-9)
	near(t, "|w|", s.WNorm*s.WNorm, square, 1e-9)
	if !math.IsInf(c, 1) {
		near(t, "primal", s.Primal, square/2+c*slacks, 1e-9)
		near(t, "gap", s.Gap, square+c*slacks-sum, 1e-9)
	}
}

// run holds what the runs of all procedures have in common.
type run struct {
	states []any
	status trace.Status
	length int
	at     func(int) any
}

func record[S any](r *trace.Replay[S], err error) (*run, error) {
	if err != nil {
		return nil, err
	}
	o := &run{status: r.Status(), length: r.Len(), at: func(i int) any { return r.At(i) }}
	o.states = lists.Make(r.Len(), func(i int) any { return r.At(i) })
	return o, nil
}

var procedures = map[string]func(x *mat.Dense, y []float64, c float64, seed uint64, steps int) (*run, error){
	"perceptron": func(x *mat.Dense, y []float64, _ float64, seed uint64, steps int) (*run, error) {
		return record(stepwise.Perceptron(context.Background(), gram(x, "linear"), y, stepwise.PerceptronSettings{Bias: true, Order: stepwise.Shuffled, Seed: seed, MaxSteps: steps}))
	},
	"primal perceptron": func(x *mat.Dense, y []float64, _ float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.PrimalPerceptron(context.Background(), x, y, stepwise.PrimalPerceptronSettings{MaxSteps: steps}))
	},
	"subgradient": func(x *mat.Dense, y []float64, c float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.SubgradientDescent(context.Background(), x, y, stepwise.SubgradientSettings{C: c, MaxSteps: steps}))
	},
	"batch": func(x *mat.Dense, y []float64, c float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.SubgradientDescent(context.Background(), x, y, stepwise.SubgradientSettings{C: c, Batch: true, Rate: 0.1, MaxSteps: steps}))
	},
	"ascent": func(x *mat.Dense, y []float64, c float64, seed uint64, steps int) (*run, error) {
		return record(stepwise.NaiveAscent(context.Background(), gram(x, "rbf"), y, stepwise.AscentSettings{C: c, Order: stepwise.Shuffled, Seed: seed, MaxSteps: steps}))
	},
	"chunking": func(x *mat.Dense, y []float64, c float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.Chunking(context.Background(), gram(x, "linear"), y, stepwise.ChunkingSettings{C: c, MaxSteps: steps}))
	},
	"smo": func(x *mat.Dense, y []float64, c float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.SMO(context.Background(), gram(x, "linear"), y, stepwise.SMOSettings{C: c, MaxSteps: steps}))
	},
	"smo second order": func(x *mat.Dense, y []float64, c float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.SMO(context.Background(), gram(x, "rbf"), y, stepwise.SMOSettings{C: c, Selection: stepwise.SecondOrder, MaxSteps: steps}))
	},
	"simplex": func(x *mat.Dense, y []float64, c float64, _ uint64, steps int) (*run, error) {
		return record(stepwise.Simplex(context.Background(), x, y, stepwise.SimplexSettings{C: c, MaxSteps: steps}))
	},
}

// TestReplay steps forwards, backwards and forwards again, and repeats the run.
func TestReplay(t *testing.T) {
	t.Parallel()
	for name, procedure := range procedures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, y := clouds(random(1), 12, 2)
			first := require.Value(procedure(x, y, 2, 7, 60))(t)
			require.Must(t, first.length >= 2 && first.length <= 61, "%d states", first.length)
			var back []any
			for i := first.length - 1; i >= 0; i-- {
				back = append(back, first.at(i))
			}
			slices.Reverse(back)
			require.Equal(t, cmp.Diff(first.states, back), "", "backwards differs")
			again := require.Value(procedure(x, y, 2, 7, 60))(t)
			d := cmp.Diff(first.states, again.states)
			require.Check(t, d == "" && first.status == again.status, "the second run differs (%s, %s):\n%s", first.status, again.status, d)
			// A shorter run is a prefix of a longer one: recorded states never change.
			for steps := 1; steps < min(first.length, 25); steps++ {
				short := require.Value(procedure(x, y, 2, 7, steps))(t)
				require.Equal(t, cmp.Diff(first.states[:steps+1], short.states), "", "a run of %d steps", steps)
				want := trace.IterationLimit
				require.Check(t, steps >= first.length-1 || short.status == want, "%d steps end as %s, want %s", steps, short.status, want)
			}
		})
	}
}

// TestUglyInput ends with finite numbers and an honest status.
func TestUglyInput(t *testing.T) {
	t.Parallel()
	inputs := map[string]struct {
		x []float64
		y []float64
	}{
		"duplicates":             {[]float64{1, 2, 1, 2, 1, 2, -1, 0, -1, 0, 3, 3}, []float64{1, 1, 1, -1, -1, 1}},
		"conflicting duplicates": {[]float64{1, 1, 1, 1, 1, 1, 2, 2, 2, 2}, []float64{1, -1, 1, -1, 1}},
		"one place":              {[]float64{1, 1, 1, 1, 1, 1}, []float64{1, -1, 1}},
		"origin only":            {[]float64{0, 0, 0, 0, 0, 0}, []float64{1, -1, -1}},
		"constant columns":       {[]float64{5, 1, 5, 2, 5, 3, 5, 4}, []float64{1, 1, -1, -1}},
		"one point a class":      {[]float64{1, 0, -1, 0.5}, []float64{1, -1}},
		"one against many":       {[]float64{1, 0, -1, 0.5, -2, 0, 0, -3, 0.4, 0}, []float64{1, -1, -1, -1, -1}},
		"large":                  {[]float64{1e6, 2e6, -1e6, 3e6, 5e5, -1e6, 2e6, 2e6}, []float64{1, -1, 1, -1}},
		"small":                  {[]float64{1e-7, 2e-7, -1e-7, 3e-7, 5e-8, -1e-7, 2e-7, 2e-7}, []float64{1, -1, 1, -1}},
	}
	for name, in := range inputs {
		for procedureName, procedure := range procedures {
			for _, c := range []float64{1e-6, 1, 1e9} {
				r := require.Value(procedure(mat.NewDense(len(in.y), 2, in.x), in.y, c, 1, 500))(t, "%s, %s, C = %g", name, procedureName, c)
				limited := r.status == trace.IterationLimit && r.length == 501
				require.Check(t, limited || r.status == trace.Converged || r.status == trace.Numerical,
					"%s, %s, C = %g: %s after %d", name, procedureName, c, r.status, r.length-1)
				for i, s := range r.states {
					require.Check(t, !strings.Contains(fmt.Sprint(s), "NaN"),
						"%s, %s, C = %g: step %d is %+v", name, procedureName, c, i, s)
				}
				if r.status != trace.Converged {
					continue
				}
				violation := 0.0
				switch end := r.at(r.length - 1).(type) {
				case stepwise.PerceptronState:
					require.Check(t, end.Worst > 0,
						"%s, %s converged with a margin of %g", name, procedureName, end.Worst)
				case stepwise.AscentState:
					violation = end.OwnViolation
				case stepwise.ChunkingState:
					violation = end.Violation
				case stepwise.SMOState:
					violation = end.Violation
				case stepwise.SimplexState:
					want := require.Value(mcm.Train(t.Context(), gram(mat.NewDense(len(in.y), 2, in.x), "linear"), in.y, mcm.Settings{C: c, RankTol: 1e-11}))(t)
					near(t, name+", objective of the simplex method", end.Objective, want.Objective, 1e-6)
				}
				require.Check(t, violation <= 1e-3, "%s, %s, C = %g converged with a violation of %g", name, procedureName, c, violation)
			}
		}
	}
}

func TestWrongInput(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	bad := mat.NewDense(3, 2, []float64{1, 2, 3, math.NaN(), 5, 6})
	for name, procedure := range procedures {
		for want, call := range map[string]func() (*run, error){
			"same label":     func() (*run, error) { return procedure(x, []float64{1, 1, 1}, 1, 1, 9) },
			"2 labels":       func() (*run, error) { return procedure(x, []float64{1, -1}, 1, 1, 9) },
			"point 3 is 2":   func() (*run, error) { return procedure(x, []float64{1, -1, 2}, 1, 1, 9) },
			"NaN":            func() (*run, error) { return procedure(bad, []float64{1, -1, 1}, 1, 1, 9) },
			"MaxSteps is -1": func() (*run, error) { return procedure(x, []float64{1, -1, 1}, 1, 1, -1) },
			"C is 0":         func() (*run, error) { return procedure(x, []float64{1, -1, 1}, 0, 1, 9) },
		} {
			if strings.HasSuffix(name, "perceptron") && want == "C is 0" {
				continue
			}
			require.Fails(t, require.Err(call()), want, "%s", name)
		}
	}
}

// TestOptimum solves the toy problem of scikit-learn's documentation.
func TestOptimum(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(6, 2, []float64{-2, -1, -1, -1, -1, -2, 1, 1, 1, 2, 2, 1})
	y := []float64{-1, -1, -1, 1, 1, 1}
	s := require.Value(stepwise.Optimum(t.Context(), gram(x, "linear"), y, 1))(t)
	for i, want := range []float64{0, -0.25, 0, 0.25, 0, 0} {
		near(t, "u", s.U()[i], want, 1e-9)
	}
	near(t, "b", s.B, 0, 1e-9)
	near(t, "gap", s.Gap, 0, 1e-9)
	checkTable(t, s, gram(x, "linear"), 1)
	x, y = clouds(random(1), 4, 1)
	k := gram(x, "rbf")
	for want, err := range map[string]error{
		"Rate is -1":                 require.Err(stepwise.PrimalPerceptron(t.Context(), x, y, stepwise.PrimalPerceptronSettings{Rate: -1})),
		"unknown order \"up\"":       require.Err(stepwise.Perceptron(t.Context(), k, y, stepwise.PerceptronSettings{Order: "up"})),
		"unknown selection \"best\"": require.Err(stepwise.SMO(t.Context(), k, y, stepwise.SMOSettings{C: 1, Selection: "best"})),
		"Tol is -1":                  require.Err(stepwise.NaiveAscent(t.Context(), k, y, stepwise.AscentSettings{C: 1, Tol: -1})),
		"Add is -2":                  require.Err(stepwise.Chunking(t.Context(), k, y, stepwise.ChunkingSettings{C: 1, Add: -2})),
		"C is +Inf":                  require.Err(stepwise.SMO(t.Context(), k, y, stepwise.SMOSettings{C: math.Inf(1)})),
	} {
		require.Fails(t, err, want, "the error")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx := mltest.Ended()
	x, y := clouds(random(1), 20, 1)
	k := gram(x, "rbf")
	chunking, err := stepwise.Chunking(ctx, k, y, stepwise.ChunkingSettings{C: 1})
	require.Check(t, err == nil && chunking.Status() == trace.Cancelled && chunking.Len() == 1,
		"chunking: %s after %d, %v", chunking.Status(), chunking.Len(), err)
	require.Is(t, require.Err(stepwise.Optimum(ctx, k, y, 1)), context.Canceled, "optimum")
}
