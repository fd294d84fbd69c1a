package multiclass

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

func TestReferenceSolutions(t *testing.T) {
	t.Parallel()
	var rows []struct {
		Data, Method     string
		Classes, Columns []string
		Kernel           struct {
			Type  string
			Gamma float64
		}
		C      float64
		Expect struct {
			Objective     float64
			TrainAccuracy float64 `json:"train_accuracy"`
		}
	}
	require.NoError(t, json.NewDecoder(mltest.OpenShared(t, "reference", "multiclass.json")).Decode(&rows))
	solved := 0
	for _, row := range rows {
		var f Formulation
		switch {
		case strings.HasPrefix(row.Method, "weston-watkins"):
			f = WestonWatkins
		case strings.HasPrefix(row.Method, "crammer-singer"):
			f = CrammerSinger
		default:
			continue
		}
		solved++
		t.Run(fmt.Sprintf("%s/%d columns/%s/C=%g", f, len(row.Columns), row.Kernel.Type, row.C), func(t *testing.T) {
			t.Parallel()
			x, labels := mltest.Table(t, row.Data, row.Columns...)
			mltest.Standardise(x)
			y := lists.Map(labels, func(label string) int { return slices.Index(row.Classes, label) })
			k := kernel.Linear()
			if row.Kernel.Type == "rbf" {
				k = kernel.RBF(row.Kernel.Gamma)
			}
			for _, tol := range []float64{1e-4, 1e-7} {
				gram := kernel.NewGram(k, x)
				r := require.Value(Train(t.Context(), gram, y, len(row.Classes), Settings{Formulation: f, C: row.C, Tol: tol}))(t)
				require.Equal(t, r.Status, trace.Converged, "tol %g", tol)
				want := row.Expect.Objective
				for name, got := range map[string]float64{"objective": r.Objective, "dual objective": r.DualObjective} {
					require.Check(t, math.Abs(got-want) <= max(1e-7, 10*tol)*want,
						"tol %g: %s %.10g, want %.10g", tol, name, got, want)
				}
				if tol > 1e-6 {
					continue
				}
				right := 0
				for i, c := range y {
					best := 0
					for d := range r.F {
						if r.F[d][i] > r.F[best][i] {
							best = d
						}
					}
					if best == c {
						right++
					}
				}
				require.Near(t, float64(right)/float64(len(y)), row.Expect.TrainAccuracy, 1e-9, "accuracy")
			}
		})
	}
	require.Equal(t, solved, 6, "reference solutions")
}
