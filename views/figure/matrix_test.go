package figure_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

func embedded(t *testing.T, p *figure.Picture) (image.Image, element) {
	t.Helper()
	e := parse(t, p).all("image")[0]
	raw := require.Value(base64.StdEncoding.DecodeString(strings.TrimPrefix(e.attr("href"), "data:image/png;base64,")))(t)
	return require.Value(png.Decode(bytes.NewReader(raw)))(t), e
}

// The first row is at the top, every entry has one crisp cell, and cells are square.
func TestMatrixCells(t *testing.T) {
	t.Parallel()
	p := require.Value(figure.Matrix{Values: mat.NewDense(2, 3, []float64{-4, 0, 4, 4, -4, nan})}.Picture())(t)
	img, e := embedded(t, p)
	require.Must(t, img.Bounds() == image.Rect(0, 0, 3, 2) && e.attr("image-rendering") == "pixelated",
		"%v, image-rendering %q", img.Bounds(), e.attr("image-rendering"))
	th := figure.Light
	low, zero, high, none := figure.Hex(th.Heat[0]), figure.Hex(th.Zero), figure.Hex(th.Heat[1]), figure.Hex(th.Paper)
	for i, row := range [2][3]string{{low, zero, high}, {high, low, none}} {
		for j, want := range row {
			r, g, b, _ := img.At(j, i).RGBA()
			require.Equal(t, fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8), want, "row %d, column %d", i+1, j+1)
		}
	}
	f := p.Frame
	require.Check(t, math.Abs(f.Width/3-f.Height/2) <= 1e-9 && f.Limits == (figure.Limits{XMin: 0.5, XMax: 3.5, YMin: 2.5, YMax: 0.5}), "frame %+v", f)
}

// Rows and columns of a table have names of their own.
func TestMatrixColumns(t *testing.T) {
	t.Parallel()
	p, err := figure.Matrix{Values: mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), Names: []string{"ash", "beech"}, Columns: []string{"spring", "summer", "autumn"}}.Picture()
	require.NoError(t, err)
	svg := require.Drawn(t, p.SVG)
	for _, name := range []string{"ash", "beech", "spring", "summer", "autumn"} {
		require.Check(t, strings.Contains(svg, ">"+name+"<"), "%s does not stand at the edge", name)
	}
	// A matrix that has more rows than there are pixels is drawn by the means of blocks.
	m := gram(500)
	m.Width, m.Height = 360, 320
	p = require.Value(m.Picture())(t)
	img, _ := embedded(t, p)
	n := img.Bounds().Dx()
	require.Check(t, n == 167 && img.Bounds().Dy() == n, "%v", img.Bounds())
	var size counter
	err = p.SVG(t.Context(), &size)
	require.Check(t, err == nil && size <= 200_000, "%d bytes, %v", size, err)
	require.Check(t, strings.Contains(p.Caption, "500 rows and 500 columns") && strings.Contains(p.Caption, "within classes"),
		"caption %q", p.Caption)
}
