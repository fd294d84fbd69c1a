package figure_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// grove is three classes with a model made by hand: every training point pulls with
// the same weight in every machine that knows its class.
func grove(rule ml.Rule) figure.Scene {
	const n = 75
	r := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(n, 2, nil)
	m := &ml.Model{
		Features: []string{"length", "width"}, Label: "kind", Classes: []string{"ash", "beech", "elm"},
		Kernel: kernel.RBF(0.8), Machines: make([]ml.Machine, 3), Rule: rule,
	}
	for i := range n {
		class := i % 3
		a := 2*math.Pi*float64(class)/3 + 0.4
		x.SetRow(i, []float64{1.5*math.Cos(a) + 0.75*r.NormFloat64(), 1.5*math.Sin(a) + 0.75*r.NormFloat64()})
		if i%7 == 5 {
			continue // held out
		}
		m.Supports.Rows = append(m.Supports.Rows, i)
		m.Supports.Vectors = append(m.Supports.Vectors, x.RawRowView(i))
		for k := range m.Machines {
			var u float64
			switch positive, negative := m.Sides(k); m.Classes[class] {
			case positive:
				u = 0.2
			case negative:
				u = -0.2
			default:
				if negative == "" {
					u = -0.1
				}
			}
			m.Machines[k].Coef = append(m.Machines[k].Coef, u)
		}
	}
	ps := make([]ml.Point, n)
	for i := range ps {
		f := m.Scores(x).RawRowView(i)
		p := ml.Point{Row: i, X: x.RawRowView(i), Label: m.Classes[i%3], Scores: f, Predicted: m.LabelOf(f...), HeldOut: i%7 == 5}
		p.Wrong = p.Predicted != p.Label
		if !p.HeldOut && i%4 == 0 {
			p.Role, p.Weight = ml.Support, 0.1+0.1*float64(i%5)
		}
		ps[i] = p
	}
	return figure.Scene{Model: m, Points: ps, View: plane(m.Features), Classes: m.Classes}
}

func ExampleBoundary_regions() {
	show("regions", must(figure.Boundary(context.Background(), grove(ml.OneVsRest))))
	// Output: as testdata/regions.svg
	// Regions of ash, beech, elm, one-vs-rest, RBF (Gaussian) kernel, over length and width. 75 points: 25 of class ash, 25 of class beech, 25 of class elm. 16 support vectors. 0 of 65 training points misclassified, 1 of 10 held-out points. Hatched: several claim it (11.4 %).
}

// mapped gives every machine of a scene a conformal map of its own.
func mapped(s figure.Scene) figure.Scene {
	for k := range s.Model.Machines {
		for i := k; i < len(s.Points); i += 9 {
			s.Model.Machines[k].CoreRows = append(s.Model.Machines[k].CoreRows, i)
		}
		s.Model.Machines[k].Map = &conformal.Map{Gamma: 1, Alpha0: 0.5, Alpha: []float64{1, 0.3}, Cores: [][]float64{{float64(k) - 1, 0.5}, {0, -1}}}
	}
	for i := range s.Points {
		s.Points[i].Core = i%9 < 3
	}
	s.Cores = true
	return s
}

var regionVariants = []struct {
	name string
	draw func() (*figure.Picture, error)
}{
	{"regions_dark", func() (*figure.Picture, error) {
		s := grove(ml.OneVsOne)
		s.Dark = true
		return figure.Boundary(context.Background(), s)
	}},
	{"regions_mapped", func() (*figure.Picture, error) {
		return figure.Boundary(context.Background(), mapped(grove(ml.OneVsOne)))
	}},
	{"regions_map", func() (*figure.Picture, error) {
		s := mapped(grove(ml.OneVsOne))
		s.Machine = 1
		return figure.Conformal(context.Background(), s)
	}},
	{"regions_overlay", func() (*figure.Picture, error) {
		a, b := grove(ml.OneVsRest), grove(ml.OneVsOne)
		b.Model.Kernel = kernel.RBF(0.1)
		return figure.Overlay(context.Background(), []figure.Layer{{Name: "narrow", Scene: a}, {Name: "wide", Scene: b}})
	}},
}

func TestGoldenRegions(t *testing.T) {
	t.Parallel()
	for _, v := range regionVariants {
		p := require.Value(v.draw())(t, "%s", v.name)
		parse(t, p)
		got := golden(v.name, p)
		require.Check(t, strings.HasPrefix(got, "as "), "%s: %s", v.name, got)
	}
	// The caption tells what the picture of several machines shows.
	s := mapped(grove(ml.OneVsOne))
	wrong := lists.Count(s.Points, func(p ml.Point) bool { return p.Wrong && !p.HeldOut })
	for _, want := range []string{"Regions of ash, beech, elm, one-vs-one, ", "with 3 conformal maps", "25 of class ash, 25 of class beech, 25 of class elm", fmt.Sprintf("%d of 65 training points misclassified", wrong)} {
		require.Says(t, figure.Caption(s), want, "does not say")
	}
}

const hatched = "{180 184 192 255}"

// TestRegionsAreThePredictions looks at pixels far from lines and points: each has the colour of the
// class that the model predicts there, or where one-vs-rest is in doubt that of a stripe.
func TestRegionsAreThePredictions(t *testing.T) {
	t.Parallel()
	for _, rule := range []ml.Rule{ml.OneVsRest, ml.OneVsOne} {
		s := grove(rule)
		s.Limits = figure.LimitsOf(s.Points, s.View)
		s.Points = nil
		p := require.Value(figure.Boundary(context.Background(), s))(t)
		img := pixels(t, p)
		f := p.Frame
		// predicted is the class, and how many machines claim the place for theirs.
		predicted := func(px, py int) string {
			x := f.Limits.XMin + (float64(px)+0.5-f.Left)/f.Width*(f.Limits.XMax-f.Limits.XMin)
			y := f.Limits.YMax - (float64(py)+0.5-f.Top)/f.Height*(f.Limits.YMax-f.Limits.YMin)
			if rule != ml.OneVsRest {
				return s.Model.Predict([]float64{x, y})
			}
			scores := s.Model.Scores(mat.NewDense(1, 2, []float64{x, y})).RawRowView(0)
			claims := lists.Count(scores, func(f float64) bool { return f >= 0 })
			return fmt.Sprint(s.Model.LabelOf(scores...), " ", min(claims, 2))
		}
		colors, stripes, seen := map[string]string{}, map[string]int{}, 0
		for py := int(f.Top) + 8; py < int(f.Top+f.Height)-8; py += 8 {
			for px := int(f.Left) + 8; px < int(f.Left+f.Width)-8; px += 8 {
				class := predicted(px, py)
				if predicted(px-7, py) != class || predicted(px+7, py) != class || predicted(px, py-7) != class || predicted(px, py+7) != class {
					continue
				}
				c := fmt.Sprint(img.At(px, py))
				class, claims, several := strings.Cut(class, " ")
				if several && claims != "1" && c == hatched {
					stripes[claims]++
					continue
				}
				if colors[class] == "" {
					colors[class] = c
				}
				require.Equal(t, c, colors[class], "%s: colour of %s at pixel %d, %d", rule, class, px, py)
				seen++
			}
		}
		require.Check(t, (stripes["2"] > 20) == (rule == ml.OneVsRest) && (rule != ml.OneVsOne || len(stripes) == 0),
			"%s: stripes %v", rule, stripes)
		require.Check(t, len(colors) == 3 && colors["ash"] != colors["beech"] && colors["ash"] != colors["elm"] && colors["beech"] != colors["elm"] && seen >= 2000,
			"%s: %d pixels in %v", rule, seen, colors)
	}
}

// Pictures of odd models of several machines: no error, no panic, well-formed output.
func TestUglyRegions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*figure.Scene){
		"as it is":         func(*figure.Scene) {},
		"no vectors":       func(s *figure.Scene) { s.Model.Supports, s.Model.Machines = ml.Supports{}, make([]ml.Machine, 3) },
		"one class":        func(s *figure.Scene) { s.Model.Machines[1].B = 1e6; s.Model.Machines[0].B = -1e6 },
		"not a number":     func(s *figure.Scene) { s.Model.Machines[0].B = math.NaN() },
		"infinite":         func(s *figure.Scene) { s.Model.Machines[2].B = math.Inf(1) },
		"no points":        func(s *figure.Scene) { s.Points, s.Classes = nil, nil },
		"classes unknown":  func(s *figure.Scene) { s.Classes = []string{"ash", "oak"} },
		"heat and slack":   func(s *figure.Scene) { s.Heat, s.Slack = true, true },
		"smallest picture": func(s *figure.Scene) { s.Width, s.Height, s.Grid = 40, 40, 8 },
		"two machines of two classes": func(s *figure.Scene) {
			s.Model.Classes, s.Model.Machines, s.Model.Rule = s.Model.Classes[:2], s.Model.Machines[:2], ml.OneVsRest
		},
	} {
		for _, rule := range []ml.Rule{ml.OneVsRest, ml.OneVsOne} {
			s := grove(rule)
			s.Width, s.Height, s.Grid = 320, 260, 40
			change(&s)
			p, err := figure.Boundary(context.Background(), s)
			require.Must(t, err == nil, "%s, %s: %v", name, rule, err)
			parse(t, p)
			if p, err = figure.Overlay(context.Background(), []figure.Layer{{Name: "a", Scene: s}, {Name: "b", Scene: s}, {Name: "c", Scene: grove(rule)}}); err != nil {
				t.Errorf("%s, %s, overlay: %v", name, rule, err)
				continue
			}
			parse(t, p)
		}
	}
	s := grove(ml.OneVsRest)
	s.Model.Rule, s.Model.Classes, s.Model.Machines = ml.Value, nil, s.Model.Machines[:1]
	require.Fails(t, require.Err(figure.Boundary(context.Background(), s)), "", "regions of numbers were drawn")
	s = grove(ml.OneVsRest)
	s.Machine = 3
	require.Fails(t, require.Err(figure.Conformal(context.Background(), s)), "", "the map of a machine that is not there was drawn")
	// A model of two classes beside one of three, trained on the same points.
	p, err := figure.Overlay(context.Background(), []figure.Layer{{Name: "all", Scene: grove(ml.OneVsOne)}, {Name: "two", Scene: func() figure.Scene {
		s := grove(ml.OneVsRest)
		s.Model.Machines, s.Model.Rule, s.Model.Classes = s.Model.Machines[:1], ml.Sign, []string{"not ash", "ash"}
		return s
	}()}})
	require.Check(t, err == nil && (p.Disagree > 0.3 && p.Disagree < 0.9), "%v: they disagree on %g", err, p.Disagree)
}

// Where three classes beat each other in a ring the picture is hatched, and says so.
func TestTiedVotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    [3]float64 // ash or beech, ash or elm, beech or elm; the later one where it is positive
		tied bool
	}{
		"ring":       {[3]float64{-1, 1, -1}, true},
		"other way":  {[3]float64{1, -1, 1}, true},
		"ash wins":   {[3]float64{-1, -1, 1}, false},
		"not known":  {[3]float64{-1, math.NaN(), -1}, false},
		"elm on top": {[3]float64{1, 1, 1}, false},
	} {
		s := grove(ml.OneVsOne)
		s.Model.Supports, s.Model.Machines = ml.Supports{}, []ml.Machine{{B: c.f[0]}, {B: c.f[1]}, {B: c.f[2]}}
		p := require.Value(figure.Boundary(context.Background(), s))(t)
		got := strings.Contains(p.Caption, "votes are tied (100\u00a0%)")
		require.Check(t, got == c.tied && strings.Contains(p.Caption, "Hatched") == c.tied, "%s: %s", name, p.Caption)
	}
}
