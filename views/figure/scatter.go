package figure

import (
	"context"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// DataScene returns the scene of a data set without a model. v is over d's features.
func DataScene(d *dataset.Data, v dataset.View) Scene {
	s := Scene{View: v, Classes: d.Classes, Points: make([]ml.Point, len(d.Y))}
	for i, k := range d.Y {
		s.Points[i] = ml.Point{Row: i, X: d.X.RawRowView(i), Label: d.Classes[k]}
	}
	return s
}

// Scatter draws the points of a scene without a model, with a colour and shape for each class.
// Without points the picture is empty. Scatter is a Drawing.
func Scatter(_ context.Context, s Scene) (*Picture, error) {
	s, err := s.ready()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	dots := marks{Scene: &s, theme: sh.theme, radius: s.radius()}
	sh.add(dots.draw)
	if len(s.Points) > 0 {
		sh.legend = append(s.classes(sh.theme), dots.entries()...)
	}
	return sh.picture(), nil
}
