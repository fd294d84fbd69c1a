package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func TestGenerators(t *testing.T) {
	t.Parallel()
	released := []string{"blobs", "moons", "circles", "xor", "spiral", "checkerboard", "separable", "pinwheel", "cross", "sine", "hill", "dna", "cycles", "rings", "molecules"}
	var names []string
	for _, g := range Generators {
		require.Check(t, !slices.Contains(names, g.Name), "two generators are called %s", g.Name)
		names = append(names, g.Name)
	}
	kept := slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(released, name) })
	if diff := cmp.Diff(released, kept); diff != "" { // stored specifications and links name them
		t.Errorf("generators of a release are missing or in another order (-want +got):\n%s", diff)
	}
	for _, g := range Generators {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			require.Check(t, g.Label != "" && g.Help != "", "no label or help")
			if first, last := g.Params[0].Name, g.Params[len(g.Params)-1].Name; first != "n" || last != "seed" {
				t.Errorf("parameters from %s to %s", first, last)
			}
			make := func(n int, others param.Values) *Data {
				d := require.Value(g.Generate(others.With("n", param.Of(n))))(t)
				require.NoError(t, d.Validate())
				require.Must(t, d.Kind() == g.Kind && d.Len() == n,
					"%d objects of kind %s, want %d of kind %s", d.Len(), d.Kind(), n, g.Kind)
				return d
			}
			for _, p := range g.Params {
				require.Equal(t, p.Check(p.Default), nil, "default")
				if p.Name == "n" || p.Name == "seed" {
					continue
				}
				for _, v := range []float64{p.Low, p.High} {
					make(101, param.Values{p.Name: param.Of(v)})
				}
			}
			k := len(make(10, nil).Classes)
			if make(10, nil).Measured() { // values, not classes
				k = 2
			}
			for _, n := range []int{k, k + 1, 10, 101} {
				d := make(n, nil)
				counts := map[int]int{}
				for _, c := range d.Y {
					counts[c]++
				}
				for _, c := range counts {
					if d.Measured() {
						break
					}
					require.Check(t, len(counts) == k && c >= n/k && c <= n/k+1,
						"%d objects in classes of %v", n, counts)
				}
			}
			require.Fails(t, require.Err(g.Generate(param.Values{"n": param.Of(k - 1)})), "", "%d objects of %d classes", k-1, k)
			few := make(50, nil)
			require.Check(t, show(few) == show(make(50, nil)), "one seed draws two sets")
			require.Check(t, show(few) != show(make(50, param.Values{"seed": param.Of(6)})), "two seeds draw one set")
			first := slices.Collect(func(yield func(int) bool) {
				for i := range 50 {
					if !yield(i) {
						return
					}
				}
			})
			require.Check(t, show(few) == show(make(90, nil).Subset(first)), "more objects change the first ones")
		})
	}
}

// TestPoints checks what generators of points promise beyond that.
func TestPoints(t *testing.T) {
	t.Parallel()
	for _, g := range Generators {
		if g.Kind != KindVectors {
			continue
		}
		for _, noise := range []float64{0, 0.3, maxNoise} {
			d := require.Value(Generate(g.Name, 51, noise, 5))(t)
			require.Equal(t, cmp.Diff([]string{"x1", "x2"}[:len(d.Features)], d.Features), "", "%s", g.Name)
		}
		d, _ := Generate(g.Name, 50, 0.3, 5)
		quiet, _ := Generate(g.Name, 50, 0.3+1e-9, 5)
		require.Check(t, mat.EqualApprox(d.X, quiet.X, 1e-7), "%s: a little more noise moves points far", g.Name)
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	side := func(positive bool) int {
		if positive {
			return 1
		}
		return 0
	}
	for name, class := range map[string]func(x, y float64) int{
		"blobs":   func(x, y float64) int { return side(x+y > 0) },
		"circles": func(x, y float64) int { return side(math.Hypot(x, y) < 0.75) },
		"xor":     func(x, y float64) int { return side(x*y > 0) },
		"checkerboard": func(x, y float64) int {
			return side(int(math.Floor(x)+math.Floor(y))%2 == 0)
		},
		"separable": func(x, y float64) int { return side(0.6*x+0.8*y > 0) },
		"moons":     func(x, y float64) int { return side(math.Abs(math.Hypot(x-1, y-0.5)-1) < 1e-9 && y <= 0.5) },
		"spiral": func(x, y float64) int {
			r := math.Hypot(x, y)
			turn := 3 * math.Pi * (r - 0.2) / 1.8
			return side(x*math.Cos(turn)+y*math.Sin(turn) > 0)
		},
		"pinwheel": func(x, y float64) int {
			return int(math.Round(math.Mod((math.Atan2(y, x)-0.9*math.Hypot(x, y))/(2*math.Pi)+3, 1)*3)) % 3
		},
		"cross": func(x, y float64) int {
			if math.Hypot(x, y) < 0.8 {
				return 0
			}
			return 1 + (int(math.Round(math.Atan2(y, x)/(math.Pi/2)))+4)%4
		},
	} {
		d := require.Value(Generate(name, 500, 0, 3))(t)
		for i, c := range d.Y {
			x, y := d.X.At(i, 0), d.X.At(i, 1)
			if got := class(x, y); got != c {
				t.Errorf("%s: (%g, %g) is of class %d, the pattern says %d", name, x, y, c, got)
				break
			}
		}
	}
}

func TestSeparableKeepsItsGap(t *testing.T) {
	t.Parallel()
	for _, noise := range []float64{0, 0.8, 2} {
		for seed := range uint64(20) {
			d := require.Value(Generate("separable", 300, noise, seed))(t)
			lowest, highest := math.Inf(1), math.Inf(-1)
			for i, c := range d.Y {
				across := 0.6*d.X.At(i, 0) + 0.8*d.X.At(i, 1)
				if c == 1 {
					lowest = min(lowest, across)
				} else {
					highest = max(highest, across)
				}
			}
			gap := lowest - highest
			require.Check(t, gap >= 0.5-1e-12, "noise %g, seed %d: the classes are %g apart", noise, seed, gap)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	t.Parallel()
	names := lists.Map(Generators, func(g Generator) string { return g.Name })
	for _, tt := range []struct {
		name  string
		n     int
		noise float64
		want  param.Problems
	}{
		{"ovals", 100, 0, param.Problems{{Field: "generator", Message: `no generator "ovals": expected one of ` + strings.Join(names, ", ")}}},
		{"moons", 1, 0, param.Problems{{Field: "n", Message: "n must be a whole number from 2 to 100000, not 1"}}},
		{"moons", 100_001, 3, param.Problems{
			{Field: "n", Message: "n must be a whole number from 2 to 100000, not 100001"},
			{Field: "noise", Message: "noise must be a number from 0 to 2, not 3"},
		}},
		{"moons", 10, math.NaN(), param.Problems{{Field: "noise", Message: `noise must be a number from 0 to 2, not "NaN"`}}},
	} {
		_, err := Generate(tt.name, tt.n, tt.noise, 1)
		require.Equal(t, cmp.Diff(error(tt.want), err), "", "(-want +got)")
	}
}
