package cmdline

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
	"marginlab/views/figure"
)

// formatOf returns the writer of a picture format by file extension, nil if unknown.
func formatOf(path string) func(*figure.Picture, context.Context, io.Writer) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		return (*figure.Picture).SVG
	case ".png":
		return (*figure.Picture).PNG
	case ".pdf":
		return (*figure.Picture).PDF
	}
	return nil
}

// pictureFiles lists the extensions of formatOf for messages, pictureNames for help.
const (
	pictureFiles = ".svg, .png or .pdf"
	pictureNames = "FILE.svg|FILE.png|FILE.pdf"
)

// Picture adds a flag for a picture file.
func (f *Flags) Picture(name, help string) *string {
	path := new(string)
	f.Func(name, pictureNames, help, func(text string) error {
		if *path = text; formatOf(text) == nil {
			return fmt.Errorf("expects a file name ending in %s, not %q", pictureFiles, text)
		}
		return nil
	})
	return path
}

// writePicture draws a picture to a file, sharp in print, unless ctx ends.
func writePicture(ctx context.Context, path string, draw func() (*figure.Picture, error)) error {
	p, err := draw()
	if err != nil {
		return err
	}
	p.Scale = 2
	return writeFile(path, func(w io.Writer) error { return formatOf(path)(p, ctx, w) })
}

// paper holds the output options of a picture: its size and font size in CSS pixels (0: the
// default), whether it is for paper, and whether it is grey.
type paper struct {
	width, height, font float64
	onPaper, grey       bool
}

// Paper adds the flags for the size and style of a picture.
func (f *Flags) Paper() *paper {
	p := &paper{}
	length := func(name, help string, lo, hi float64, to *float64) {
		f.Func(name, "LENGTH", help, func(text string) error {
			v, onPaper, err := figure.Length(text)
			if err == nil && (v < lo || v > hi) {
				err = fmt.Errorf("expects %g to %g pixels of 1/96 inch, not %s", lo, hi, text)
			}
			*to, p.onPaper = v, p.onPaper || onPaper
			return err
		})
	}
	length("width", "Width of the plot: 84mm, 3.3in, or 640 for pixels.", 80, 2400, &p.width)
	length("height", "Height of the plot. (default in proportion)", 60, 2400, &p.height)
	length("font-size", "Font size of the axes, such as 8pt.", 6, 48, &p.font)
	f.set.BoolVar(&p.grey, "grey", false, "Draw in shades of grey.")
	f.describe(func(to printer) { to.Term("--grey", "Draw in shades of grey.") })
	return p
}

// plot draws the decision boundary of a model with its data, showing progress until the file is
// written.
func plot(ctx context.Context, std Streams, p *progress, path string, on *paper, d *dataset.Data, spec ml.Spec, res *ml.Result) error {
	width, height, unit := figure.SizeInPrint(figure.DefaultWidth, figure.DefaultHeight, on.width, on.height, on.font)
	run := figure.Run{Data: d, Spec: spec, Result: res, X: "pca", Look: figure.Scene{Cores: res.Before != nil, Slack: true, Format: figure.Format{Grey: on.grey, Width: width, Height: height}}}
	scene, err := run.Scene(trace.Follow(ctx, trace.Scoring, p.tell), res.Model)
	if err != nil {
		return err
	}
	say := func(text string) {
		p.end()
		note(std, "fit", text)
	}
	if run.Main() == "fit" {
		say(path + " shows f against the values: the data have no plane to draw a surface over")
	} else if d.Kind() != dataset.KindVectors {
		say(path + " shows the decision values: the data have no plane to draw a boundary in")
	} else if !scene.View.Exact {
		say(fmt.Sprintf("%s shows a slice through %d features, along their two principal components", path, len(scene.View.Center)))
	}
	return writePicture(ctx, path, func() (*figure.Picture, error) {
		picture, err := run.Decision(trace.Follow(ctx, trace.Drawing, p.tell), scene)
		if err == nil {
			picture.Unit, picture.Print, picture.Greyscale = unit, on.onPaper, on.grey
		}
		return picture, err
	})
}
