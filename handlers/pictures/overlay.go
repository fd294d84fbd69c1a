package pictures

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views/figure"
)

// Layers returns the named scenes of finished runs.
func (a *Renderer) Layers(ctx context.Context, runs []store.Run, o Options) (layers []figure.Layer, err error) {
	for _, run := range runs {
		if run.Status != store.Done {
			continue
		}
		r, err := a.Run(ctx, run, nil, o)
		if err != nil {
			return nil, err
		}
		s, err := r.Scene(ctx, run.Model)
		if err != nil {
			return nil, err
		}
		layers = append(layers, figure.Layer{Name: run.Name, Scene: s})
	}
	return layers, nil
}

// SendOverlay sends a picture of the layers of runs. It calls layersOf only if the picture is not
// cached.
func (a *Renderer) SendOverlay(w http.ResponseWriter, r *http.Request, runs []store.Run, o Options, format string, layersOf func(context.Context) ([]figure.Layer, error)) error {
	key := fmt.Sprintf("overlay %+v", o)
	for _, run := range runs {
		key += fmt.Sprintf(" %s %s %q", run.ID, run.Status, run.Name)
	}
	return a.SendPrint(w, r, Sheet{Key: key, Format: format, Draw: func(ctx context.Context) (*figure.Picture, error) {
		layers, err := layersOf(ctx)
		if err != nil {
			return nil, err
		}
		return Overlay(ctx, layers, CommonLimits(layers))
	}})
}

// CommonLimits returns limits that show the points of all layers on the same two
// features, or zero if they do not share them.
func CommonLimits(layers []figure.Layer) (l figure.Limits) {
	for _, layer := range layers {
		if layer.Scene.View.Labels != layers[0].Scene.View.Labels {
			return figure.Limits{}
		}
		l = l.Union(layer.Scene.Limits)
	}
	return l
}

// Overlay draws all boundaries in one picture. It returns an error if they cannot be combined.
func Overlay(ctx context.Context, layers []figure.Layer, limits figure.Limits) (*figure.Picture, error) {
	if len(layers) < 2 {
		return nil, param.Problems{{Field: "run", Message: "at least two of the runs must be finished to draw them in one picture"}}
	}
	if slices.ContainsFunc(layers, func(l figure.Layer) bool { return len(l.Scene.Model.Features) == 0 }) {
		return nil, param.Problems{{Field: "run", Message: "the objects have no coordinates, so there are no boundaries to draw in one picture: compare the decision values below and the numbers"}}
	}
	if slices.ContainsFunc(layers, func(l figure.Layer) bool { return l.Scene.Values }) {
		return curves(layers, limits)
	}
	if limits == (figure.Limits{}) {
		return nil, param.Problems{{Field: "run", Message: "the runs show different features, so they have no common axes"}}
	}
	for i := range layers {
		layers[i].Scene.Limits = limits
	}
	return figure.Overlay(ctx, layers)
}

// curves draws regressions of one variable in one picture.
func curves(layers []figure.Layer, limits figure.Limits) (*figure.Picture, error) {
	if limits == (figure.Limits{}) || slices.ContainsFunc(layers, func(l figure.Layer) bool { return !l.Scene.Values || len(l.Scene.Model.Features) != 1 }) {
		return nil, param.Problems{{Field: "run", Message: "regressions are drawn in one picture only if all use the same single feature: compare the pictures below and the numbers"}}
	}
	layers[0].Scene.Limits = limits
	return figure.ValueOverlay(layers)
}
