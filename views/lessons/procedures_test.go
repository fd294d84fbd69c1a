package lessons

import (
	"math"
	"reflect"
	"strconv"
	"testing"

	"marginlab/ml/kernel"
	"marginlab/ml/stepwise"
)

// eachProceduresProblem runs a test for toys, kernels and values of C.
func eachProceduresProblem(t *testing.T, f func(t *testing.T, p proceduresProblem)) {
	t.Parallel()
	for name, points := range StepToys {
		for _, k := range []kernel.Kernel{{Name: "linear"}, kernel.RBF(proceduresGamma)} {
			for _, c := range []float64{0.1, 1, 10} {
				t.Run(name+"/"+k.Name+"/"+Setting(c), func(t *testing.T) {
					t.Parallel()
					f(t, proceduresProblem{points, k, c})
				})
			}
		}
	}
}

// TestProceduresPair checks the picture of every step of SMO: the equality is kept,
// the new place is in the box, and nothing on the allowed segment is better.
func TestProceduresPair(t *testing.T) {
	eachProceduresProblem(t, func(t *testing.T, p proceduresProblem) {
		for _, selection := range []stepwise.Selection{stepwise.MaximalViolation, stepwise.SecondOrder} {
			r, err := stepwise.SMO(t.Context(), p.gram(), p.Y, stepwise.SMOSettings{C: p.c, Selection: selection, MaxSteps: 60})
			if err != nil {
				t.Fatal(err)
			}
			for step := 1; step < r.Len(); step++ {
				before, s := r.At(step-1), *r.At(step).Pair
				two := proceduresPairOf(p, before.Iterate, s.I, s.J)
				if a, b := two.y1*s.BeforeI+two.y2*s.BeforeJ, two.y1*s.AlphaI+two.y2*s.AlphaJ; math.Abs(a-b) > 1e-12*(1+p.c) {
					t.Fatalf("step %d: y1 a1 + y2 a2 goes from %v to %v", step, a, b)
				}
				for _, a := range []float64{s.AlphaI, s.AlphaJ, s.L, s.H} {
					if a < 0 || a > p.c {
						t.Fatalf("step %d: %v is outside of [0, %v]", step, a, p.c)
					}
				}
				own := two.solve(s.BeforeI, s.BeforeJ)
				if math.Abs(own.AlphaI-s.AlphaI)+math.Abs(own.AlphaJ-s.AlphaJ)+math.Abs(own.L-s.L)+math.Abs(own.H-s.H) > 1e-9*(1+p.c) || math.Abs(own.Unclipped-s.Unclipped) > 1e-6*(1+math.Abs(s.Unclipped)) {
					t.Fatalf("step %d: the picture has %+v, the solver %+v", step, own, s)
				}
				best := two.q(s.AlphaI, s.AlphaJ)
				for k := range 101 {
					a2 := s.L + (s.H-s.L)*float64(k)/100
					if q := two.q(two.first(s.BeforeI, s.BeforeJ, a2), a2); q > best+1e-9*(1+math.Abs(best)) {
						t.Fatalf("step %d: the dual is %v at alpha_2 = %v and %v where the step ends", step, q, a2, best)
					}
				}
				if gain := best - two.q(s.BeforeI, s.BeforeJ); math.Abs(gain-(r.At(step).Dual-before.Dual)) > 1e-9*(1+p.c) {
					t.Fatalf("step %d: the dual gains %v, the picture %v", step, r.At(step).Dual-before.Dual, gain)
				}
			}
		}
	})
}

// TestProceduresGuard: where the dual is a valley or straight along the line, the
// step ends at the better end.
func TestProceduresGuard(t *testing.T) {
	t.Parallel()
	for _, k12 := range []float64{1, 1.2, 1.5} {
		for _, y2 := range []float64{-1, 1} {
			for _, start := range [][2]float64{{0.1, 0.35}, {0.8, 0.3}, {0.5, 0.5}} {
				p := proceduresTwo{y1: 1, y2: y2, k11: 1, k22: 1, k12: k12, h1: 0.75, h2: 0.2, c: 1}
				s := p.solve(start[0], start[1])
				now := p.q(start[0], start[1])
				end := p.q(s.AlphaI, s.AlphaJ)
				if s.AlphaJ != s.L && s.AlphaJ != s.H || end < now {
					t.Errorf("K12 = %v, y2 = %v from %v: to %v on [%v, %v], dual from %v to %v", k12, y2, start, s.AlphaJ, s.L, s.H, now, end)
				}
			}
		}
	}
}

// TestProceduresNaive compares naive ascent with the machine that it trains in
// fact: the one without a bias, which is the SVM of the points together with their
// mirror images at half of C, whose bias is 0 by symmetry.
func TestProceduresNaive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"apart", "overlap"} {
		for _, c := range []float64{0.1, 1} {
			p := proceduresProblem{StepToys[name], kernel.Kernel{Name: "linear"}, c}
			r, err := proceduresAscent(t.Context(), p, 5000)
			if err != nil {
				t.Fatal(err)
			}
			end := r.At(r.Len() - 1)
			best, err := p.optimum(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			both := proceduresProblem{kernel: p.kernel, c: c / 2}
			for i, x := range p.XY {
				both.XY = append(both.XY, x, [2]float64{-x[0], -x[1]})
				both.Y = append(both.Y, p.Y[i], -p.Y[i])
			}
			mirrored, err := both.optimum(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(end.Residual) < 1e-2 || end.Dual < best.Dual+1e-3 || end.Primal < best.Primal+1e-3 {
				t.Errorf("%s, C = %v: residual %v, dual %v and primal %v beside the optimum %v", name, c, end.Residual, end.Dual, end.Primal, best.Dual)
			}
			if math.Abs(end.Dual-mirrored.Dual) > 5e-3*mirrored.Dual || math.Abs(end.B) > 5e-3 || end.Violation > 5e-3 {
				t.Errorf("%s, C = %v: dual %v, b = %v, violation %v; the machine without a bias has %v", name, c, end.Dual, end.B, end.Violation, mirrored.Dual)
			}
		}
	}
}

// TestProceduresValley compares the level lines with a search for b.
func TestProceduresValley(t *testing.T) {
	t.Parallel()
	p := proceduresOverlapping(0.7)
	for _, w := range [][2]float64{{0, 0}, {0.6, 0.2}, {-0.4, 1.3}, {2, -1}} {
		found := math.Inf(1)
		for b := -8.0; b <= 8; b += 1e-3 {
			found = math.Min(found, p.primal(w, b))
		}
		if v := p.valley(w[0], w[1]); v > found+1e-12 || v < found-0.01 {
			t.Errorf("w = %v: %v, a search for b finds %v", w, v, found)
		}
	}
	best, err := p.optimum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w := p.weights(*best); math.Abs(p.valley(w[0], w[1])-best.Primal) > 1e-6 {
		t.Errorf("at the optimum the level is %v, the objective %v", p.valley(w[0], w[1]), best.Primal)
	}
}

// TestProceduresPrinted: the condition as printed begins as the right one, since all
// hinges are active at 0, and ends far from the optimum where the right one does
// not.
func TestProceduresPrinted(t *testing.T) {
	t.Parallel()
	for name := range StepToys {
		p := proceduresProblem{StepToys[name], kernel.Kernel{Name: "linear"}, 0.3}
		right, err := proceduresWalk(t.Context(), p, 0.1, false, false)
		if err != nil {
			t.Fatal(err)
		}
		printed, err := proceduresWalk(t.Context(), p, 0.1, false, true)
		if err != nil {
			t.Fatal(err)
		}
		if d := Norm([2]float64{right[1].w[0] - printed[1].w[0], right[1].w[1] - printed[1].w[1]}); len(right) != len(printed) || d > 1e-12 || math.Abs(right[1].b-printed[1].b) > 1e-12 {
			t.Errorf("%s: the first step is %+v, printed %+v", name, right[1], printed[1])
		}
		best, err := p.optimum(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		end := func(walk []proceduresStep) float64 {
			s := walk[len(walk)-1]
			return p.primal(s.w, s.b) / best.Primal
		}
		if name != "ring" && (end(right) > 1.2 || end(printed) < 1.5) {
			t.Errorf("%s: the objective ends at %v times the minimum, printed at %v", name, end(right), end(printed))
		}
	}
}

// TestProceduresRoads: of the four, only naive ascent stays away from the optimum.
func TestProceduresRoads(t *testing.T) {
	t.Parallel()
	for _, c := range []float64{0.1, 1} {
		p := proceduresOverlapping(c)
		best, err := p.optimum(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		roads, err := proceduresRoads(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for i, within := range []float64{1e-2, math.Inf(1), 1e-5, 1e-5} {
			end := roads[i].cum[len(roads[i].cum)-1]/best.Primal - 1
			if end < -1e-9 || end > within || i == 1 && end < 1e-2 {
				t.Errorf("C = %v, %s ends %v above the minimum", c, roads[i].name, end)
			}
		}
	}
}

// TestProceduresBackwards goes through the replays to the end and back.
func TestProceduresBackwards(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{"subgradient", "naive", "chunking", "smo"} {
		s, _ := (&Procedures).Screen(slug)
		show := func(step int) *Exhibit {
			in, _ := s.Demo.NewInput(func(name string) string {
				if name == stepName {
					return strconv.Itoa(step)
				}
				return ""
			}, builtinSource{})
			e, err := s.Demo.Show(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		var forwards []*Exhibit
		for step := range show(0).Steps {
			forwards = append(forwards, show(step))
		}
		for step := len(forwards) - 1; step >= 0; step-- {
			e, f := show(step), forwards[step]
			if !reflect.DeepEqual(e.Numbers, f.Numbers) || !reflect.DeepEqual(e.Tables, f.Tables) || !reflect.DeepEqual(e.Notes, f.Notes) {
				t.Errorf("%s: step %d is another on the way back", slug, step)
			}
		}
	}
}

// TestProceduresChunkingNeedsLess: the rounds end at the solution of the whole
// problem and never hold all of its points.
func TestProceduresChunkingNeedsLess(t *testing.T) {
	t.Parallel()
	p, err := proceduresCloud("rbf", 3)
	if err != nil {
		t.Fatal(err)
	}
	best, err := p.optimum(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := stepwise.Chunking(t.Context(), p.gram(), p.Y, stepwise.ChunkingSettings{C: p.c, Start: 6})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Len() {
		if n := len(r.At(i).Working); 2*n > len(p.Y) {
			t.Errorf("round %d holds %d of %d points", i, n, len(p.Y))
		}
	}
	if end := r.At(r.Len() - 1); math.Abs(end.Dual-best.Dual) > 1e-3*best.Dual {
		t.Errorf("it ends at a dual of %v; the maximum is %v", end.Dual, best.Dual)
	}
}
