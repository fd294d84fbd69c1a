package lessons

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

// The median of a class counts also those who drew the same, and leaves out what is unreadable.
func TestCrowd(t *testing.T) {
	t.Parallel()
	s := Sketch{X: []float64{0, 1}}
	if got := s.crowd(nil); got != nil {
		t.Errorf("nobody drew %v", got)
	}
	got := s.crowd(map[string]int{"0 9": 3, "1 5": 1, "8 1": 1, "7": 2})
	require.Check(t, len(got) == 4 && !got[0].Pale && got[1].Pale && cmp.Equal(got[0].Y, []float64{0, 9}),
		"of three kinds: %+v", got)
	got = s.crowd(map[string]int{"0 9": 1, "1 5": 1})
	require.Check(t, cmp.Equal(got[0].Y, []float64{0.5, 7}), "between two: %v", got[0].Y)
}

// A curve is told by where it begins, bends and ends, in numbers as one says them.
func TestTold(t *testing.T) {
	t.Parallel()
	number := Sketch{Over: "C", X: []float64{0.001, 0.0316, 0.316, 1, 100, 1e4}, Height: 15}
	bound := Sketch{Over: "M", X: []float64{10, 100, 1000, 1e4}, Height: 5, Log: true}
	for _, c := range []struct {
		s     Sketch
		drawn string
		want  string
	}{
		{number, "14 14 7.002 7.9 8.951 4", "14 at C = 0.001, still at 0.032, down to 7 at 0.32, up to 9 at 100, down to 4 at 10000"},
		{number, "3 3 3.001 3 2.99 3", "3 at C = 0.001, still at 10000"},
		{number, "-0.01 0 0 0 0 -2", "0 at C = 0.001, still at 100, down to −2 at 10000"},
		{bound, "4.68 0.4701 0.0469 0.004712", "4.7 at M = 10, down to 0.0047 at 10000"},
	} {
		require.Equal(t, c.s.display(*c.s.Curve(c.drawn)), c.want, "%s is told as", c.drawn)
	}
}

// A class's median stands for its wrong sketches; numbers and options are listed with counts.
func TestOften(t *testing.T) {
	t.Parallel()
	drawn := Asked{Question: &Question{Sketch: &Sketch{X: []float64{0, 1}, Height: 10}}}
	for _, c := range []struct {
		a    Asked
		in   map[string]int
		want string
		n    int
	}{
		{drawn, map[string]int{"0 9": 2, "1 5": 1}, "the median drawing: 0 at x₁ = 0, up to 9 at 1", 3},
		{drawn, map[string]int{"0 9": 1}, "", 0},
		{drawn, nil, "", 0},
		{Asked{Question: &Question{}}, map[string]int{"10000": 2, "7": 2, "8": 1}, "10000", 2},
		{Asked{Question: &Question{Options: []string{"yes", "no"}}}, map[string]int{"1": 3, "0": 1}, "no", 3},
		{Asked{Question: &Question{Options: []string{"yes", "no"}}}, map[string]int{"1": 1}, "", 0},
	} {
		got, n := c.a.Often(c.in)
		require.Check(t, got == c.want && n == c.n, "%v: %q by %d", c.in, got, n)
	}
}
