package kernelridge

import (
	"context"
	"math"
	"strconv"

	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// tube is the largest residual without loss.
var (
	tube     = lessons.NumberControl{Name: "epsilon", Label: "half width of the tube", Symbol: "ε", Default: "0.4", Min: 0, Max: 2, Low: 0, High: 2}
	tubeMiss = lessons.NumberControl{Name: "miss", Label: "a miss", Symbol: "t − f", Default: "1.1", Min: -3, Max: 3, Low: -3, High: 3}
)

// insensitive returns the epsilon-insensitive loss of a residual.
func insensitive(miss, epsilon float64) float64 { return math.Max(0, math.Abs(miss)-epsilon) }

func showTube(_ context.Context, in lessons.Input) *lessons.Exhibit {
	eps, miss := tube.Of(in), tubeMiss.Of(in)
	losses := func(x float64) []float64 { return []float64{insensitive(x, eps), x * x / 2} }
	rules := []figure.Rule{{Name: "−ε", At: -eps, Upright: true}, {Name: "ε", At: eps, Upright: true}}
	if eps < 0.15 { // one label for both, which would overlap
		rules[0].Name, rules[1].Name = "", "±ε"
	}
	slope := lists.Either(insensitive(miss, eps) > 0, strconv.Itoa(lessons.Sign(miss)), "0")
	return &lessons.Exhibit{
		Figures: []lessons.Figure{{Name: "losses", Caption: "What a miss costs. Inside of the tube nothing; outside in proportion, where the square grows faster and faster.", Draw: lessons.Draws(1, figure.Chart{
			X: figure.Axis{Name: "t − f(x)", Min: -3, Max: 3}, Y: figure.Axis{Name: "loss", Min: 0, Max: 3},
			Curves: lessons.CurvesOf(lessons.Linspace(-3, 3, 121), losses, "ε-insensitive", "½ square"), Rules: rules, Here: &miss,
		})}},
		Numbers: []lessons.Number{
			{Label: `$\max(0, \lvert t - f\rvert - \varepsilon)$`, Value: views.Short(insensitive(miss, eps)), Help: lists.Either(insensitive(miss, eps) == 0, "inside of the tube: $a_i = 0$", "outside: a support vector")},
			{Label: "half the square", Value: views.Short(miss * miss / 2), Help: "kernel ridge: every miss costs"},
			{Label: "pull on the curve", Value: param.Minus(slope) + " and " + views.Short(miss), Help: "slope of the two losses: bounded, and not"},
		},
	}
}
