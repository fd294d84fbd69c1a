package ml_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// ugly lists data that a solver can trip over.
func ugly() map[string]*dataset.Data {
	r := rand.New(rand.NewPCG(11, 13))
	sets := map[string]*dataset.Data{}
	add := func(name string, m, d int, at func(i, j int) float64) {
		set := &dataset.Data{Label: "y", Classes: []string{"-1", "1"}, X: mat.NewDense(m, d, nil), Y: make([]int, m)}
		set.Features = lists.Make(d, func(j int) string { return fmt.Sprint("x", j) })
		for i := range m {
			set.Y[i] = i % 2
			for j := range d {
				set.X.Set(i, j, at(i, j))
			}
		}
		sets[name] = set
	}
	normal := func(int, int) float64 { return r.NormFloat64() }
	add("one point of each class", 2, 1, func(i, _ int) float64 { return float64(i) })
	add("all alike", 8, 2, func(int, int) float64 { return 0 })
	add("copies", 20, 2, func(i, j int) float64 { return float64(i / 2 * (1 + j)) })
	add("copies of opposite label", 12, 2, func(i, j int) float64 { return float64((i / 4) * (1 - 2*j)) })
	add("constant columns", 15, 3, func(i, j int) float64 { return []float64{3, -1e6, r.NormFloat64()}[j] })
	add("huge", 12, 2, func(int, int) float64 { return 1e150 * r.NormFloat64() })
	add("enormous", 12, 2, func(int, int) float64 { return 1e300 * r.NormFloat64() })
	add("tiny", 30, 2, func(int, int) float64 { return 1e-9 * r.NormFloat64() })
	add("far off", 30, 2, func(int, int) float64 { return 1e8 + r.NormFloat64() })
	add("of every size", 14, 3, func(i, _ int) float64 { return math.Pow(10, float64(3*i-20)) * r.NormFloat64() })
	for m := range 6 {
		add(fmt.Sprint(4+m, " at random"), 4+m, 2, normal)
	}
	rows := [][]float64{{-0.639, 0.414}, {1.17, 0.734}, {0.349, -1.055}, {-0.038, -0.744}, {1.341, 0.565}, {0.861, 1.108}}
	add("one against five", 6, 2, func(i, j int) float64 { return rows[i][j] })
	sets["one against five"].Y = []int{1, 0, 0, 0, 0, 0}
	return sets
}

// TestWatchdog trains every learner with every kernel and every conformal method, soft
// and hard, on ugly data, as given and standardised. No training may look at its
// context more often than a deadline of work allows, whatever is said in the end, and
// one whose context ends has to notice at its next looks.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	const deadline, after = 200_000, 100
	for _, learner := range ml.Learners {
		for _, row := range kernel.Table {
			t.Run(learner.Name+"/"+row.Name, func(t *testing.T) {
				t.Parallel()
				specs := harsh(learner.Name, row.Name)
				for name, data := range ugly() {
					// What is not beyond all numbers trains, and gives numbers.
					ordinary := row.Takes == dataset.KindVectors && row.PSD && row.Name != "fisher" && !slices.Contains([]string{"huge", "enormous", "of every size"}, name)
					switch row.Takes {
					case dataset.KindPrecomputed:
						data = given(data, kernel.Sigmoid(1, 0.5)) // indefinite
					case dataset.KindStrings:
						data = spelt(data)
					case dataset.KindGraphs:
						data = joined(data)
					}
					for _, spec := range specs {
						at := setup{name, spec}
						ctx := mltest.NewLooks(t.Context(), deadline)
						res, err := ml.Train(ctx, data, spec, nil)
						switch {
						case ctx.Over() > 0:
							t.Errorf("%s: still at work after %d looks at its context", at, deadline)
						case err != nil && res != nil, err == nil && res == nil:
							t.Errorf("%s: %v, %v", at, res, err)
						case err != nil:
							refusal := (*param.Refusal)(nil)
							require.Check(t, errors.As(err, &refusal) && refusal.Remedy != "", "%s: %v does not say what to do about it", at, err)
							require.Check(t, !ordinary || spec.Conformal != "none" || spec.Values.Switch("hard_margin") || spec.Values.Number("coef0") < 0, "%s: %v", name, err)
						default:
							sound(t, at, res)
							for i := range data.Len() {
								require.Check(t, !ordinary || isFinite(res.Model.Decision(data.X.RawRowView(i))),
									"%s: f is not finite at row %d", at, i)
							}
						}
						for _, n := range []int64{0, 1, 3, 10} {
							ctx := mltest.NewLooks(t.Context(), n)
							res, err := ml.Train(ctx, data, spec, nil)
							require.Check(t, ctx.Over() <= after, "%s: %d looks at a context that had ended", at, ctx.Over())
							if err == nil {
								sound(t, at, res)
							}
						}
					}
				}
			})
		}
	}
}

// harsh lists settings that are hard on solvers.
func harsh(learner, kern string) (specs []ml.Spec) {
	for _, standardize := range []bool{true, false} {
		for _, c := range []float64{1e-6, 1, 1e9, math.Inf(1)} {
			for _, coef0 := range []float64{0, 1, -1} {
				for _, method := range methods {
					spec := ml.DefaultSpec()
					spec.Learner, spec.Kernel, spec.Standardize, spec.Conformal = learner, kern, standardize, method
					spec = spec.With("coef0", param.Of(coef0)).With("max_iter", param.Of(20_000))
					if math.IsInf(c, 1) {
						spec = spec.With("hard_margin", param.Of(true))
					} else {
						spec = spec.With("C", param.Of(c))
					}
					if !spec.Applies("coef0") && coef0 != 0 || !spec.Applies("standardize") && !standardize || method != "none" && c != 1 {
						continue
					}
					specs = append(specs, spec)
					if spec.Applies("rho") && method == "none" {
						spec = spec.With("rho", param.Of(0.01))
						specs = append(specs, spec)
					}
				}
			}
		}
	}
	return specs
}

// setup is a training on the data of a name. It is written out when a message needs it.
type setup struct {
	data string
	spec ml.Spec
}

func (s setup) String() string {
	text, err := json.Marshal(s.spec)
	return fmt.Sprintf("%s: %s (%v)", s.data, text, err)
}

// sound checks that a result is made of finite numbers and says how it came about.
func sound(t *testing.T, at setup, res *ml.Result) {
	t.Helper()
	require.Check(t, slices.Contains([]trace.Status{trace.Converged, trace.IterationLimit, trace.Cancelled, trace.Numerical}, res.Report.Status),
		"%s: status %q", at, res.Report.Status)
	require.Equal(t, require.Err(json.Marshal(res.Report)), nil, "%s: the report", at)
	require.Equal(t, require.Err(json.Marshal(res.Model)), nil, "%s: the model", at)
}
