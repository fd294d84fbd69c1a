package procedures

import (
	"math"
	"reflect"
	"strconv"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/stepwise"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"
)

// TestNaive compares naive ascent with the machine it actually trains: the one without bias,
// which is the SVM of the points and their reflections through the origin with half of C, whose
// bias is 0 by symmetry.
func TestNaive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"apart", "overlap"} {
		for _, c := range []float64{0.1, 1} {
			p := newProblem(name, "linear", c)
			r := ascend(t.Context(), p, 5000)
			end := r.At(r.Len() - 1)
			best := p.optimum(t.Context())
			both := problem{kernel: p.kernel, c: c / 2}
			for i, x := range p.XY {
				both.XY = append(both.XY, x, [2]float64{-x[0], -x[1]})
				both.Y = append(both.Y, p.Y[i], -p.Y[i])
			}
			mirrored := both.optimum(t.Context())
			require.Check(t, math.Abs(end.Residual) >= 1e-2 && end.Dual >= best.Dual+1e-3 && end.Primal >= best.Primal+1e-3,
				"%s, C = %v: residual %v, dual %v and primal %v beside the optimum %v", name, c, end.Residual, end.Dual, end.Primal, best.Dual)
			require.Check(t, math.Abs(end.Dual-mirrored.Dual) <= 5e-3*mirrored.Dual && math.Abs(end.B) <= 5e-3 && end.Violation <= 5e-3,
				"%s, C = %v: dual %v, b = %v, violation %v; the machine without a bias has %v", name, c, end.Dual, end.B, end.Violation, mirrored.Dual)
		}
	}
}

// TestValley compares the level lines with a search for b.
func TestValley(t *testing.T) {
	t.Parallel()
	p := overlapping(0.7)
	valley := p.valley()
	for _, w := range [][2]float64{{0, 0}, {0.6, 0.2}, {-0.4, 1.3}, {2, -1}} {
		found := math.Inf(1)
		for b := -8.0; b <= 8; b += 1e-3 {
			found = math.Min(found, stepwise.Primal(p.Matrix(), p.Y, p.c, w[:], b))
		}
		v := valley(w[0], w[1])
		require.Check(t, v <= found+1e-12 && v >= found-0.01, "w = %v: %v, a search for b finds %v", w, v, found)
	}
	best := p.optimum(t.Context())
	w := p.Weights(best.U())
	require.Check(t, math.Abs(valley(w[0], w[1])-best.Primal) <= 1e-6, "at the optimum the level is %v, the objective %v", valley(w[0], w[1]), best.Primal)
}

// The printed condition starts like the right one, all hinges active, and ends far from it.
func TestPrinted(t *testing.T) {
	t.Parallel()
	for name := range lessons.StepToys {
		p := newProblem(name, "linear", 0.3)
		right := descend(t.Context(), p, 0.1, false, false)
		printed := descend(t.Context(), p, 0.1, false, true)
		d := math.Hypot(right[1].W[0]-printed[1].W[0], right[1].W[1]-printed[1].W[1])
		require.Check(t, len(right) == len(printed) && d <= 1e-12 && math.Abs(right[1].B-printed[1].B) <= 1e-12,
			"%s: the first step is %+v, printed %+v", name, right[1], printed[1])
		best := p.optimum(t.Context())
		end := func(walk []stepwise.SubgradientState) float64 {
			return walk[len(walk)-1].Primal / best.Primal
		}
		require.Check(t, name == "ring" || end(right) <= 1.2 && end(printed) >= 1.5,
			"%s: the objective ends at %v times the minimum, printed at %v", name, end(right), end(printed))
	}
}

// TestRoads: of the four procedures, only naive ascent misses the optimum.
func TestRoads(t *testing.T) {
	t.Parallel()
	for _, c := range []float64{0.1, 1} {
		p := overlapping(c)
		best := p.optimum(t.Context())
		roads := travel(t.Context(), p)
		for i, within := range []float64{1e-2, math.Inf(1), 1e-5, 1e-5} {
			end := roads[i].cum[len(roads[i].cum)-1]/best.Primal - 1
			require.Check(t, end >= -1e-9 && end <= within && (i != 1 || end >= 1e-2),
				"C = %v, %s ends %v above the minimum", c, roads[i].name, end)
		}
	}
}

// TestBackwards steps through the replays to the end and back.
func TestBackwards(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"subgradient", "naive", "chunking", "smo"} {
		show := func(step int) *lessons.Exhibit {
			return lessonstest.ShowAnew(t, Lesson(), slug, "step", strconv.Itoa(step))
		}
		forwards := lists.Make(show(0).Steps, func(step int) *lessons.Exhibit { return show(step) })
		for step := len(forwards) - 1; step >= 0; step-- {
			e, f := show(step), forwards[step]
			require.Check(t, reflect.DeepEqual(e.Numbers, f.Numbers) && reflect.DeepEqual(e.Tables, f.Tables) && reflect.DeepEqual(e.Notes, f.Notes),
				"%s: step %d is another on the way back", slug, step)
		}
	}
}

// The rounds end at the solution of the whole problem and never include all of its points.
func TestChunkingNeedsLess(t *testing.T) {
	t.Parallel()
	p := cloud("rbf", 3)
	best := p.optimum(t.Context())
	r := require.Value(stepwise.Chunking(t.Context(), p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Start: 6}))(t)
	for i := range r.Len() {
		n := len(r.At(i).Working)
		require.Check(t, 2*n <= len(p.Y), "round %d holds %d of %d points", i, n, len(p.Y))
	}
	end := r.At(r.Len() - 1)
	require.Check(t, math.Abs(end.Dual-best.Dual) <= 1e-3*best.Dual, "it ends at a dual of %v; the maximum is %v", end.Dual, best.Dual)
}
