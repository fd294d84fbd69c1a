package figure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Weights draws the weights of a machine on strings or graphs: a bar for each feature counted by
// its kernel, to the right if it speaks for one side, hatched and to the left if it speaks for the
// other.
type Weights struct {
	Format
	// Features are in order from the top, as listed by kernel.Weights.Heaviest. It is empty if no
	// object has any feature, or if those of equal objects cancel.
	Features []kernel.Feature
	Sides    Sides
}

// Sides names the classes for which f speaks above and below 0.
type Sides struct {
	Names  [2]string // above, below
	Colors [2]Color
}

// Picture draws the bars.
func (w Weights) Picture() (*Picture, error) {
	sh, err := w.sheet()
	if err != nil {
		return nil, err
	}
	n := max(1, float64(len(w.Features)))
	values := []float64{0}
	for _, f := range w.Features {
		if finite(f.Weight) {
			values = append(values, f.Weight)
		}
	}
	lo, hi, _ := extent(values)
	far := 1.06 * max(-lo, hi)
	sh.limits = Limits{XMin: -far * float64(btoi(lo < 0)), XMax: far * float64(btoi(hi > 0)), YMin: -n, YMax: 0}
	if far == 0 {
		sh.limits.XMax = 1
	}
	sh.labels = [2]string{"weight in f", ""}
	sh.ticks[1] = func(int) (ts []tick) {
		if len(w.Features) == 0 {
			return []tick{{-0.5, "nothing"}}
		}
		for i, f := range w.Features {
			ts = append(ts, tick{-float64(i) - 0.5, clip(f.Name, fontSize, 110)})
		}
		return ts
	}
	sh.legend = w.Sides.legend(sh.theme)
	sh.caption = w.describe()
	sh.add(func(c *draw.Canvas, m mapping) {
		for i, f := range w.Features {
			if !finite(f.Weight) {
				continue
			}
			at := -float64(i)
			r := vg.Rectangle{Min: m.at(min(0, f.Weight), at-0.85), Max: m.at(max(0, f.Weight), at-0.15)}
			k := btoi(f.Weight < 0)
			filled(c, sh.theme, w.Sides.Colors[k], k == 1, r)
		}
		m.stroke(c, draw.LineStyle{Color: sh.theme.Ink, Width: 1}, []vg.Point{m.at(0, m.YMin), m.at(0, m.YMax)})
	})
	return sh.picture(), nil
}

func (s Sides) legend(t *Theme) []entry {
	return lists.Make(len(s.Names), func(k int) entry { return entry{"for " + s.Names[k], swatch(t, s.Colors[k], k == 1)} })
}

func (w Weights) describe() string {
	if len(w.Features) == 0 {
		return "No feature has any weight."
	}
	var lists [2][]string
	for _, f := range w.Features {
		k := btoi(f.Weight < 0)
		lists[k] = append(lists[k], f.Name+" "+short(math.Abs(f.Weight)))
	}
	slices.Reverse(lists[1])
	var b strings.Builder
	b.WriteString("Largest feature weights.")
	for k, list := range lists {
		if len(list) > 0 {
			fmt.Fprintf(&b, " For %s: %s.", w.Sides.Names[k], strings.Join(list, ", "))
		}
	}
	return b.String()
}

// mostFeatures is the maximum number of features of either sign in a picture.
const mostFeatures = 8

// weighed returns the machines whose weights have names. There are none if there are too many for a
// picture each.
func weighed(r Run) []int {
	m := r.Result.Model
	if r.Data.Objects == nil || len(m.Machines) > mostOwn || !kernel.CanWeigh(m.Kernel, r.Data.Objects) {
		return nil
	}
	return lists.Where(len(m.Machines), func(k int) bool {
		return slices.ContainsFunc(m.Machines[k].Coef, func(u float64) bool { return u != 0 })
	})
}

// ofMachine names the machine if there are several.
func ofMachine(r Run, machine int) string {
	if len(r.Result.Model.Machines) == 1 {
		return ""
	}
	return ", " + ml.Versus(r.Result.Model.Sides(machine))
}

func drawWeights(ctx context.Context, r Run, machine int) (*Picture, error) {
	w, err := r.Result.Model.Weights(ctx, machine)
	if err != nil {
		return nil, err
	}
	p := Weights{Features: w.Heaviest(mostFeatures), Sides: r.sides(machine)}
	p.Dark, p.Width, p.Height = r.Look.Dark, r.Look.Width, r.Look.Height
	return p.Picture()
}

// sides returns the sides of a machine, in the colours of their classes.
func (r Run) sides(machine int) Sides {
	if r.Result.Model.Rule == ml.Value {
		return Sides{[2]string{"a larger value", "a smaller one"}, [2]Color{Orange, Blue}}
	}
	var s Sides
	positive, negative := r.Result.Model.Sides(machine)
	for k, name := range []string{positive, negative} {
		i := slices.Index(r.Data.Classes, name)
		s.Names[k], s.Colors[k] = name, ClassColor(i)
		switch {
		case name == "":
			s.Names[k], s.Colors[k] = "the rest", Muted
		case i < 0:
			s.Colors[k] = Muted
		}
	}
	return s
}

func partsTitle(r Run, machine int) string {
	what := "What each symbol adds to the score f(x)"
	if r.Data.Kind() == dataset.KindGraphs {
		what = "What each node adds to the score f(x)"
	}
	return what + ofMachine(r, machine)
}

func drawParts(ctx context.Context, r Run, machine int) (*Picture, error) {
	points, err := r.Result.Points(ctx, r.Result.Model, r.Data, r.Spec)
	if err != nil {
		return nil, err
	}
	rows := []int{r.Object - 1}
	if r.Object < 1 || r.Object > len(points) {
		rows = r.telling(points, machine)
	}
	parts, err := r.Result.Model.Parts(ctx, machine, r.Data.Objects.Subset(rows))
	if err != nil {
		return nil, err
	}
	heads := make([]string, len(rows))
	for a, i := range rows {
		p := points[i]
		heads[a] = fmt.Sprintf("row %d · %s · f = %s", i+1, p.Label, param.Digits(p.Scores[machine], 2))
		if p.Wrong {
			heads[a] += " · wrong"
		}
		if p.HeldOut {
			heads[a] += " · held out"
		}
	}
	format := Format{Dark: r.Look.Dark, Width: r.Look.Width, Height: r.Look.Height}
	if graphs, ok := r.Data.Objects.(*dataset.Graphs); ok {
		n := Networks{Format: format, Sides: r.sides(machine)}
		most := floats.Norm(slices.Concat(parts...), math.Inf(1))
		for a, i := range rows {
			g := graphs.Values[i]
			n.Networks = append(n.Networks, Network{Name: heads[a], Graph: g, Nodes: Speaking(g, parts[a], most, n.Sides)})
		}
		return n.Picture()
	}
	s := Strings{Format: format, Sides: r.sides(machine)}
	for a, i := range rows {
		s.Texts = append(s.Texts, Spelt{Head: heads[a], Text: r.Data.Objects.Text(i), Parts: parts[a]})
	}
	return s.Picture()
}

// telling returns the rows at which a machine is surest of either side, and those at which it is
// least sure or most wrong: the largest f, the smallest f on the same side, the largest on the
// other side and the smallest.
func (r Run) telling(points []ml.Point, machine int) (rows []int) {
	positive, negative := r.Result.Model.Sides(machine)
	var ends [2][2]int // on the sides above and below 0: the rows of the largest and smallest f
	for i := range ends {
		ends[i] = [2]int{-1, -1}
	}
	for i, p := range points {
		side := btoi(p.Label != positive)
		switch {
		case r.Result.Model.Rule == ml.Value:
			side = 0
		case r.Result.Model.Rule != ml.Sign && side == 1 && negative != "" && p.Label != negative:
			continue
		}
		f := p.Scores[machine]
		e := &ends[side]
		if e[0] < 0 || f > points[e[0]].Scores[machine] {
			e[0] = i
		}
		if e[1] < 0 || f < points[e[1]].Scores[machine] {
			e[1] = i
		}
	}
	for _, i := range []int{ends[0][0], ends[0][1], ends[1][0], ends[1][1]} {
		if i >= 0 && !slices.Contains(rows, i) {
			rows = append(rows, i)
		}
	}
	return rows
}
