package figure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/kernel"
)

// Weights draws what a machine on strings or graphs weighs: a bar for each feature that its
// kernel counts, to the right where it speaks for one side, and hatched to the left where it
// speaks for the other.
type Weights struct {
	Format
	Features []kernel.Feature // from the top, as kernel.Weights.Heaviest lists them
	Sides    Sides
	Caption  string // what the picture shows, for readers who do not see it; "" lists the features
}

// Sides are what a function speaks for where it is above 0, and below.
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
	if len(w.Features) == 0 {
		return nil, errors.New("weights: there is no feature to draw; give at least one")
	}
	n := float64(len(w.Features))
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
		for i, f := range w.Features {
			ts = append(ts, tick{-float64(i) - 0.5, clip(f.Name, fontSize, 110)})
		}
		return ts
	}
	sh.legend = w.Sides.legend(sh.theme)
	sh.caption = w.Caption
	if sh.caption == "" {
		sh.caption = w.describe()
	}
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

func (s Sides) legend(t *Theme) (es []entry) {
	for k, name := range s.Names {
		es = append(es, entry{"for " + name, swatch(t, s.Colors[k], k == 1)})
	}
	return es
}

func (w Weights) describe() string {
	var lists [2][]string
	for _, f := range w.Features {
		k := btoi(f.Weight < 0)
		lists[k] = append(lists[k], fmt.Sprintf("%s %.3g", f.Name, math.Abs(f.Weight)))
	}
	slices.Reverse(lists[1])
	var b strings.Builder
	b.WriteString("What weighs most in f.")
	for k, list := range lists {
		if len(list) > 0 {
			fmt.Fprintf(&b, " For %s: %s.", w.Sides.Names[k], strings.Join(list, ", "))
		}
	}
	return b.String()
}

// mostFeatures is how many features of either sign a picture of their weights shows.
const mostFeatures = 8

// weighed are the machines whose weights have names: those that weigh anything, unless they
// are too many for a picture each.
func weighed(r Run) (machines []int) {
	m := r.Result.Model
	if r.Data.Objects == nil || len(m.Machines) > mostOwn || !kernel.CanWeigh(m.Kernel, r.Data.Objects) {
		return nil
	}
	for k, machine := range m.Machines {
		if slices.ContainsFunc(machine.Coef, func(u float64) bool { return u != 0 }) {
			machines = append(machines, k)
		}
	}
	return machines
}

// ofMachine is the machine in words, where there are several.
func ofMachine(r Run, machine int) string {
	if len(r.Result.Model.Machines) == 1 {
		return ""
	}
	return ", " + ml.Versus(r.Result.Model.Sides(machine))
}

func weightsTitle(r Run, machine int) string {
	return "What weighs most in f" + ofMachine(r, machine)
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

// sides are those of a machine, in the colours of their classes.
func (r Run) sides(machine int) Sides {
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
