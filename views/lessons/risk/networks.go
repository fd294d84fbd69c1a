package risk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"marginlab/views/figure"
	"marginlab/views/lessons"
)

var (
	hidden = lessons.IntegerControl{Name: "hidden", Label: "hidden units", Default: "2", Min: 1, Max: 12, Low: 1, High: 12}
	begun  = lessons.IntegerControl{Name: "seed", Label: "other starts", Default: "1", Min: 1, Max: 1000, Low: 1, High: 20}
)

// starts is the number of trainings of a network, from random weights each time.
const starts = 20

// xorLoss trains a network with one layer of tanh units on the four points of XOR by gradient
// descent, and returns its mean logistic loss and the number of correct points.
func xorLoss(units int, r *rand.Rand) (loss float64, right int) {
	const steps, rate = 2000, 0.5
	points := [4][3]float64{{-1, -1, -1}, {1, 1, -1}, {-1, 1, 1}, {1, -1, 1}} // x1, x2, y
	weights := make([][4]float64, units)                                      // for x1, x2 and 1, and of the unit's output
	for h := range weights {
		weights[h] = [4]float64{2*r.Float64() - 1, 2*r.Float64() - 1, 2*r.Float64() - 1, 2*r.Float64() - 1}
	}
	bias, active, slope := 0.0, make([]float64, units), make([][4]float64, units)
	for range steps {
		loss, right = 0, 0
		clear(slope)
		lift := 0.0
		for _, p := range points {
			f := bias
			for h, w := range weights {
				active[h] = math.Tanh(w[0]*p[0] + w[1]*p[1] + w[2])
				f += w[3] * active[h]
			}
			loss += math.Log1p(math.Exp(-p[2]*f)) / 4
			if p[2]*f > 0 {
				right++
			}
			g := -p[2] / (1 + math.Exp(p[2]*f)) / 4
			lift += g
			for h, w := range weights {
				inner := g * w[3] * (1 - active[h]*active[h])
				for k, v := range [3]float64{p[0], p[1], 1} {
					slope[h][k] += inner * v
				}
				slope[h][3] += g * active[h]
			}
		}
		bias -= rate * lift
		for h := range weights {
			for k := range weights[h] {
				weights[h][k] -= rate * slope[h][k]
			}
		}
	}
	return loss, right
}

func showNetworks(_ context.Context, in lessons.Input) *lessons.Exhibit {
	units := hidden.Of(in)
	r := rand.New(rand.NewPCG(uint64(begun.Of(in)), 0))
	ends, solved := figure.Curve{Name: "training loss", Marks: true}, 0
	for i := range starts {
		loss, right := xorLoss(units, r)
		ends.X, ends.Y = append(ends.X, float64(i+1)), append(ends.Y, loss)
		if right == 4 {
			solved++
		}
	}
	slices.Sort(ends.Y)
	others := "the others are not solved after 2000 steps"
	switch {
	case units == 1:
		others = "One unit cannot separate XOR."
	case solved == starts:
		others = "all solved"
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{Name: "ends", Caption: fmt.Sprintf("A network learns XOR from %d random starts: its loss after 2000 steps of gradient descent, best start first. The loss of guessing is dashed.", starts), Draw: lessons.Draws(1, figure.Chart{
			X: figure.Axis{Name: "start, by final loss"}, Y: figure.Axis{Name: "training loss", Min: 0, Max: 0.75},
			Curves: []figure.Curve{ends}, Rules: []figure.Rule{{Name: "guessing", At: math.Ln2}},
		})}},
		Numbers: []lessons.Number{
			{Label: "starts with all four points right", Value: fmt.Sprintf("%d of %d", solved, starts), Help: others},
			{Label: "parameters", Value: strconv.Itoa(4*units + 1), Help: "for four points"},
		},
	}
}

// components draws the components of learning from examples and their exchange.
func components() figure.Plane {
	p := figure.Plane{Stretched: true, Bald: true, Limits: figure.Limits{XMin: -0.9, XMax: 5.3, YMin: -0.5, YMax: 2.5}}
	p.Caption = "The generator gives x to the supervisor and to the learning machine; the supervisor gives y, also to the machine, which answers f of x."
	for _, a := range [][4]float64{{0.5, 1.25, 2, 1.9}, {0.5, 0.75, 2, 0.1}, {3.4, 2, 4.6, 2}, {2.7, 1.75, 2.7, 0.25}, {3.4, 0, 4.6, 0}} {
		p.Marks = append(p.Marks, figure.Arrow{From: [2]float64{a[0], a[1]}, To: [2]float64{a[2], a[3]}, Pen: figure.Pen{Color: figure.Muted}})
	}
	for _, w := range []figure.Text{
		{At: [2]float64{0, 1}, Text: "generator", Color: figure.Violet},
		{At: [2]float64{2.7, 2}, Text: "supervisor", Color: figure.Violet},
		{At: [2]float64{2.7, 0}, Text: "machine", Color: figure.Violet},
		{At: [2]float64{1.1, 1.8}, Text: "x"},
		{At: [2]float64{1.1, 0.2}, Text: "x"},
		{At: [2]float64{4.8, 2}, Text: "y"},
		{At: [2]float64{2.9, 1}, Text: "y"},
		{At: [2]float64{4.9, 0}, Text: "f(x)"},
	} {
		p.Marks = append(p.Marks, w)
	}
	return p
}
