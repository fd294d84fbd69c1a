package theory

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/multiclass"
)

func TestClassSlacks(t *testing.T) {
	t.Parallel()
	each, sum, largest := ClassSlacks([]float64{1.25, 0.5, 1.75}, 0)
	require.Check(t, slices.Equal(each, []float64{0, 0.25, 1.5}) && sum == 1.75 && largest == 1.5,
		"%v, sum %g, largest %g", each, sum, largest)
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SliceOfN(rapid.Float64Range(-3, 3), 2, 6).Draw(t, "f")
		y := rapid.IntRange(0, len(f)-1).Draw(t, "y")
		each, sum, largest := ClassSlacks(f, y)
		wrong := slices.IndexFunc(f, func(v float64) bool { return v > f[y] }) >= 0
		require.Check(t, !wrong || largest >= 1 && sum >= 1, "f %v, class %d: an error, but slacks %v", f, y, each)
		require.Check(t, len(f) != 2 || sum == largest, "of two classes there is one slack")
		require.Check(t, largest <= sum && sum <= float64(len(f)-1)*largest+1e-12, "sum %g, largest %g", sum, largest)
	})
}

// The solvers penalise exactly these slacks.
func TestClassSlacksAreThoseOfTheMachines(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(7, 2, []float64{0, 0, 1, 0.2, 2, 1, 0.3, 1.4, -1, 0.1, 1.2, 1.1, 0.1, -1})
	y := []int{0, 1, 2, 0, 1, 2, 1}
	for _, way := range []multiclass.Formulation{multiclass.WestonWatkins, multiclass.CrammerSinger} {
		r, err := multiclass.Train(context.Background(), kernel.NewGram(kernel.Kernel{Name: "linear"}, x), y, 3, multiclass.Settings{Formulation: way, C: 0.3, Tol: 1e-9})
		require.NoError(t, err)
		total := 0.0
		for i, class := range y {
			_, sum, largest := ClassSlacks([]float64{r.F[0][i], r.F[1][i], r.F[2][i]}, class)
			if way == multiclass.WestonWatkins {
				total += sum
			} else {
				total += largest
			}
		}
		require.Near(t, total, r.SlackSum, 1e-7, "%s: slacks", way)
	}
}

func TestMulticlassWork(t *testing.T) {
	t.Parallel()
	rest, pairs, joint := MulticlassWork(1000, 5)
	require.Check(t, rest == (ClassWork{5, 5000, 1000, 5}) && joint == (ClassWork{1, 4000, 4000, 1}),
		"rest %+v, joint %+v", rest, joint)
	require.Check(t, pairs.Problems == 10 && math.Abs(pairs.Variables-4000) <= 1e-9 && math.Abs(pairs.Largest-400) <= 1e-9 && math.Abs(pairs.Products-1.6) <= 1e-12,
		"pairs %+v", pairs)
	if rest, pairs, joint := MulticlassWork(60, 2); pairs.Variables != 60 || joint.Variables != 60 || rest.Variables != 120 || pairs.Products != 1 {
		t.Errorf("two classes: %+v %+v %+v", rest, pairs, joint)
	}
}
