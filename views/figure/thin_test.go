package figure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// crowd is a scene of n points whose labels alternate, two of three in a tight crowd, with
// one far from all others, and so many support vectors.
func crowd(n, supports int) Scene {
	r := rand.New(rand.NewPCG(3, 4))
	axes := [2][]float64{{1, 0}, {0, 1}}
	view := dataset.View{Center: []float64{0, 0}, To: axes, Axes: axes, Labels: [2]string{"a", "b"}, Exact: true}
	s := Scene{View: view, Points: make([]ml.Point, n)}
	for i := range s.Points {
		wide := lists.Either(i%3 > 0, 0.5, 10.0)
		s.Points[i] = ml.Point{Row: i, X: []float64{wide * r.Float64(), wide * r.Float64()}, Label: string("ab"[i%2])}
	}
	for k := range supports {
		s.Points[k*n/supports].Role = ml.Inside
	}
	s.Points[n-1].X = []float64{40, 40}
	return s
}

func TestThinnedPicturesKeepClassesAndSupportVectors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n, supports int
		note        string
	}{
		{5000, 600, ""},
		{20000, 677, "Drawn: 5000 of 20000 points, all 677 support vectors."},
		{20000, 0, "Drawn: 5000 of 20000 points."},
		{20000, 12000, "Drawn: 5000 of 20000 points, 3000 of 12000 support vectors."},
		{12000, 12000, "Drawn: 5000 of 12000 points, 5000 of 12000 support vectors."},
	} {
		s := crowd(tc.n, tc.supports)
		s.Limits = LimitsOf(s.Points, s.View)
		at := s.Drawn()
		note := s.note()
		require.Check(t, note == tc.note && strings.Contains(Caption(s), tc.note), "%d points: %q", tc.n, note)
		require.Check(t, slices.IsSorted(at) && len(slices.Compact(slices.Clone(at))) == len(at) && slices.Equal(at, s.Drawn()),
			"%d points: not the same ones every time, once each", tc.n)
		classes := map[string]int{}
		crowded := 0
		for _, i := range at {
			p := s.Points[i]
			classes[p.Label]++
			crowded += btoi(p.X[0] < 0.5 && p.X[1] < 0.5)
		}
		a, b := classes["a"], classes["b"]
		require.Check(t, a >= len(at)*2/5 && b >= len(at)*2/5, "%d points of labels that alternate, drawn: %v", tc.n, classes)
		require.Check(t, at[len(at)-1] == tc.n-1, "%d points: the one far from all others is left out", tc.n)
		require.Check(t, tc.supports >= 1000 || tc.n <= 5000 || crowded <= len(at)*2/3 && crowded >= len(at)/3,
			"%d points: %d of %d drawn are of the crowd, which has two of three", tc.n, crowded, len(at))
	}
}

// Of what lies outside a frame nothing is drawn, and what lies in it is thinned for itself.
func TestThinningLooksAtTheFrame(t *testing.T) {
	t.Parallel()
	s := crowd(30000, 300)
	s.Limits = Limits{1, 9, 1, 9}
	inside := 0
	for _, p := range s.Points {
		inside += btoi(p.X[0] >= 1 && p.X[0] <= 9 && p.X[1] >= 1 && p.X[1] <= 9)
	}
	if at := s.Drawn(); inside <= 5000 || len(at) != 5000 {
		t.Errorf("%d of %d points are drawn", len(at), inside)
	}
	s.Limits = Limits{5, 6, 5, 6}
	at := s.Drawn()
	if caption := Caption(s); len(at) == 0 || len(at) > 1000 || !strings.Contains(caption, fmt.Sprintf("In view: %d of them.", len(at))) || strings.Contains(caption, "Drawn") {
		t.Errorf("%d points: %s", len(at), caption)
	}
	for _, i := range at {
		x := s.Points[i].X
		require.Must(t, x[0] >= 5 && x[0] <= 6 && x[1] >= 5 && x[1] <= 6, "drawn outside the frame: %v", x)
	}
}

// Many classes, each with a part of the plane of its own: none is lost.
func TestThinningKeepsManyClasses(t *testing.T) {
	t.Parallel()
	s := crowd(20000, 0)
	for i := range s.Points {
		s.Points[i].Label = fmt.Sprint(i % 150)
	}
	seen := map[string]bool{}
	for _, i := range s.Drawn() {
		seen[s.Points[i].Label] = true
	}
	require.Equal(t, len(seen), 150, "… of 150 classes are drawn")
}
