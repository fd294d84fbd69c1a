package fisher

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mixture"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/ml/trace"
	"marginlab/views/lessons/lessonstest"
)

// TestEndsOfEM: on every data set some start converges within the replay.
func TestEndsOfEM(t *testing.T) {
	t.Parallel()
	for set := range noises {
		x := points(set).Matrix()
		for k := 1; k <= 5; k++ {
			converged := 0
			for s := 1; s <= starts; s++ {
				if climb(t.Context(), x, k, s).Status() == trace.Converged {
					converged++
				}
			}
			require.Check(t, converged != 0, "%s, K = %d: no start converges within the replay", set, k)
		}
	}
}

// The screen on restarts has results below the best, including the first start shown.
func TestOtherStartsOtherEnds(t *testing.T) {
	t.Parallel()
	e := lessonstest.Show(t, Lesson(), "restarts")
	mine, top, worst := lessonstest.Number(t, e, "your start ends at"), lessonstest.Number(t, e, "the best"), lessonstest.Number(t, e, "the worst")
	require.Check(t, mine != top && top != worst, "yours %s, best %s, worst %s", mine, top, worst)
	// No start on the four clouds exceeds the likelihood of the mixture on the other screens.
	p, s := four(t.Context())
	all := ends(t.Context(), p.Matrix(), 4)
	lessonstest.Near(t, "best end", all[best(all)].LogLikelihood, s.LogLikelihood, 1e-4)
}

// For every floor the small component collapses to its point, and a tenth of the floor gains ln 10.
func TestCollapse(t *testing.T) {
	t.Parallel()
	var before float64
	for i, f := range slices.Backward(floors()) {
		c := collapsing(t.Context(), f)
		last := end(c.replay)
		require.Check(t, c.replay.Status() == trace.Converged && slices.Contains(last.AtFloor, 0),
			"floor %g: %s, at the floor %v", f, c.replay.Status(), last.AtFloor)
		lessonstest.Near(t, "weight in points", last.Mixture.Weights[0]*float64(len(c.Y)), 1, 0.01)
		lessonstest.Near(t, "distance from the point", floats.Distance(last.Mixture.Means[0], c.XY[c.point][:], 2), 0, 1e-3)
		if i < len(floors())-1 {
			lessonstest.Near(t, fmt.Sprintf("gain at floor %g", f), last.LogLikelihood-before, math.Ln10, 0.01)
		}
		before = last.LogLikelihood
	}
}

// After EM the scores of means and variances sum to 0, the free ones of weights have mean 1.
func TestPullsBalance(t *testing.T) {
	t.Parallel()
	p, s := four(t.Context())
	for j, v := range theory.ColumnMeans(theory.Scores(&s.Mixture, p.Matrix()), false) {
		want := 0.0
		if j < 4 {
			want = 1
		}
		require.Near(t, v, want, 0.01, "entry %d has the mean", j)
	}
	begin := mixture.Begin(p.Matrix(), settings(4), 0)
	v := floats.Norm(theory.ColumnMeans(theory.Scores(&begin, p.Matrix()), false)[4:], 2)
	require.Check(t, v >= 0.1, "the gradient at the start is %g already", v)
}

// With the inverse Fisher matrix units do not matter and parameters count alike; without, they do.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, unit := range []float64{0.1, 7} {
		for _, information := range []bool{false, true} {
			before := score(t.Context(), 1, information)
			now := score(t.Context(), unit, information)
			by := change(before.gram, now.gram)
			require.Check(t, information == (by < 1e-6), "unit %g, with the matrix: %v: the kernel changes by %g", unit, information, by)
			if information {
				lessonstest.Near(t, "mean of k(x, x)", now.self(), 20, 1e-9)
			}
		}
	}
	simple := score(t.Context(), 1, false)
	require.Check(t, simple.outdone() != 0,
		"no point is less like itself than like another: the slip's example is gone")
}

// The last screen's statements on one to five components and the RBF kernel.
func TestHowManyComponents(t *testing.T) {
	t.Parallel()
	var wrong [6]float64
	for k := 1; k <= 5; k++ {
		wrong[k] = train(t.Context(), "xor", fisherPairs(strconv.Itoa(k), "true", "1")...).wrong
	}
	rbf := train(t.Context(), "xor", "kernel", "rbf", "gamma", "1", "C", "1")
	require.Check(t, wrong[1] >= 0.2 && max(wrong[2], wrong[3], wrong[4]) <= 0.03 && wrong[5] >= 2*wrong[4] && math.Abs(wrong[4]-rbf.wrong) <= 0.01,
		"wrong with one to five components %v, with RBF %g", wrong[1:], rbf.wrong)
}

// TestTugged: the dashed ellipses result from a round of EM over the eighty points and the
// weighted probe, and an arrow at a mean points to the probe, scaled by the responsibility.
func TestTugged(t *testing.T) {
	t.Parallel()
	p, s := four(t.Context())
	at := [2]float64{0.2, 0.9}
	share := make([]float64, 4)
	s.Mixture.Density().At(share, at[:])
	got := tugged(&s.Mixture, float64(len(p.Y)), at, share)
	for range crowd {
		p.XY, p.Y = append(p.XY, at), append(p.Y, 1)
	}
	how := settings(4)
	how.MaxIter = 1
	want := end(require.Value(stepwise.EM(t.Context(), p.Matrix(), s.Mixture, how))(t)).Mixture
	u := tug(&s.Mixture, at)
	for k := range 4 {
		lessonstest.Near(t, "weight", got.Weights[k], want.Weights[k], 1e-3)
		for j := range 2 {
			lessonstest.Near(t, "mean", got.Means[k][j], want.Means[k][j], 1e-2)
			lessonstest.Near(t, "variance", got.Variances[k][j], want.Variances[k][j], 1e-2)
			lessonstest.Near(t, "tug", u[k][j], share[k]*(at[j]-s.Mixture.Means[k][j])/s.Mixture.Variances[k][j], 1e-9)
		}
	}
}

// Two points half a deviation from a mean would both narrow the ellipse, as is explained.
func TestBothNarrower(t *testing.T) {
	t.Parallel()
	_, s := four(t.Context())
	m, k := &s.Mixture, 3
	for _, side := range []float64{-0.5, 0.5} {
		at := []float64{m.Means[k][0] + side*math.Sqrt(m.Variances[k][0]), m.Means[k][1]}
		u := theory.Scores(m, mat.NewDense(1, 2, at)).RawRowView(0)[3*m.Len()+2*k:]
		require.Check(t, u[0] < 0 && u[1] < 0, "at %v the scores of the variances are %v", at, u[:2])
	}
}
