package cmdline

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
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
func plot(ctx context.Context, std Streams, path string, d *dataset.Data, spec ml.Spec, res *ml.Result) error {
	run := figure.Run{Data: d, Spec: spec, Result: res, X: "pca", Look: figure.Scene{Cores: res.Before != nil, Slack: true}}
	scene, err := run.Scene(ctx, res.Model)
	if err != nil {
		return err
	}
	if run.Main() == "fit" {
		note(std, "fit", path+" shows f against the values: there is no plane to draw a surface over")
	} else if d.Kind() != dataset.KindVectors {
		note(std, "fit", path+" shows the decision values: there is no plane to draw a boundary in")
	} else if !scene.View.Exact {
		note(std, "fit", fmt.Sprintf("%s shows a slice through %d features, along their two principal components", path, len(scene.View.Center)))
	}
	picture, err := run.Decision(scene)
	if err != nil {
		return err
	}
	picture.Scale = 2 // a PNG is sharp on paper too
	return writeFile(path, func(w io.Writer) error { return formatOf(path)(picture, w) })
}
