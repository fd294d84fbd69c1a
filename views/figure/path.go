package figure

import (
	"context"
	"fmt"
	"math"

	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/ml/ridge"
)

// hasPath reports a figure if the errors along lambda come from one factorisation.
func hasPath(r Run) []int {
	return when(len(r.Result.Model.Machines) == 1 && ml.HasPath(r.Spec, r.Result.Report.TrainN))
}

// pathPlaces is the number of values of lambda, over the range of the slider, at which the curves
// are computed.
const pathPlaces = 91

// drawPath draws the leave-one-out and training errors over lambda, marking the run's lambda.
func drawPath(ctx context.Context, r Run, _ int) (*Picture, error) {
	path, err := ml.Path(ctx, r.Data, r.Spec)
	if err != nil {
		return nil, err
	}
	p := ridge.Params[0]
	here := r.Spec.Values.Number(p.Name)
	low, high := math.Log(math.Min(p.Low, here)), math.Log(math.Max(p.High, here))
	places := make([]float64, pathPlaces)
	left, fit := make([]float64, pathPlaces), make([]float64, pathPlaces)
	least := ridge.Point{LOOError: math.Inf(1)}
	for i := range places {
		places[i] = math.Exp(low + (high-low)*float64(i)/(pathPlaces-1))
		left[i], fit[i] = math.NaN(), math.NaN()
		if at, ok := path.At(places[i]); ok {
			left[i], fit[i] = at.LOOError, at.MSE
			if at.LOOError < least.LOOError {
				least = at
			}
		}
	}
	caption := fmt.Sprintf("Mean squared error against λ, in training and with each point left out; f = 0 has %s.", short(path.Null))
	if at, ok := path.At(here); ok {
		caption += fmt.Sprintf(" At λ = %s: %s in training, %s left out, %s degrees of freedom.", short(here), short(at.MSE), short(at.LOOError), short(at.Freedom))
	}
	ch := Chart{
		Format: Format{Dark: r.Look.Dark, Width: r.Look.Width, Height: r.Look.Height},
		X:      Axis{Name: "λ", Log: true}, Y: Axis{Name: "mean squared error", Min: 0, Max: pathTop * path.Null},
		Curves: []Curve{{Name: "left out", X: places, Y: left}, {Name: "training", X: places, Y: fit}},
		Here:   &here,
	}
	if !math.IsInf(least.LOOError, 1) {
		ch.Rules = []Rule{{Name: "least, λ = " + param.Digits(least.Lambda, 2), At: least.Lambda, Upright: true}}
		caption += fmt.Sprintf(" Left out, it is least at λ = %s: %s.", short(least.Lambda), short(least.LOOError))
	}
	ch.Caption = caption
	return ch.Picture()
}

// pathTop is the largest error shown, as a multiple of that of f = 0.
const pathTop = 1.4
