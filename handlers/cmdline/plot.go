package cmdline

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/views/figure"
)

// formatOf tells by its extension how a picture is written, nil for unknown ones.
func formatOf(path string) func(p *figure.Picture, w io.Writer) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		return (*figure.Picture).SVG
	case ".png":
		return (*figure.Picture).PNG
	}
	return nil
}

// plot draws the decision boundary of a model with the points of its data.
func plot(std Streams, path string, d *dataset.Data, spec ml.Spec, res *ml.Result) error {
	points, err := res.Model.Points(d, spec)
	if err != nil {
		return err
	}
	scene, draw := figure.Scene{Model: res.Model, Points: points, Classes: d.Classes}, figure.Boundary
	if d.Kind() != dataset.KindVectors {
		scene, draw = figure.DecisionScene(res.Model, points, d.Classes), figure.Decisions
		note(std, "fit", path+" shows the decision values: there is no plane to draw a boundary in")
	} else if scene.View, err = viewOf(d, res.Model); err != nil {
		return err
	}
	if !scene.View.Exact {
		note(std, "fit", fmt.Sprintf("%s shows a slice through %d features, along their two principal components", path, len(scene.View.Center)))
	}
	scene.Cores, scene.Slack = slices.ContainsFunc(res.Model.Machines, func(m ml.Machine) bool { return m.Map != nil }), true
	picture, err := draw(scene)
	if err != nil {
		return err
	}
	picture.Scale = 2 // a PNG is sharp on paper too
	return writeFile(path, func(w io.Writer) error { return formatOf(path)(picture, w) })
}

// viewOf is the space of the model's features itself, or where these are more
// than two, the plane of their principal components.
func viewOf(d *dataset.Data, m *ml.Model) (dataset.View, error) {
	cols, err := d.Columns(m.Features)
	if err != nil {
		return dataset.View{}, err
	}
	switch f := m.Features; len(f) {
	case 1:
		return dataset.ColumnView(cols, f[0], "")
	case 2:
		return dataset.ColumnView(cols, f[0], f[1])
	}
	return dataset.PCAView(cols), nil
}
