package figure

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"marginlab/ml/mltest/require"
)

// A figure of 84 mm is a PDF of one page of 84 mm with its fonts, byte for byte the same each
// time, and an SVG of 84 mm, both with the regions as paths.
func TestPrint(t *testing.T) {
	t.Parallel()
	run := trainedRun(t, "moons")
	picture := func() *Picture {
		w, h, unit := SizeInPrint(760, 600, 84*96/25.4, 0, 8*96.0/72)
		run.Look = Scene{Format: Format{Width: w, Height: h}}
		pic := require.Value(run.Draw(t.Context(), "boundary"))(t)
		pic.Unit, pic.Print = unit, true
		return pic
	}
	page := require.Drawn(t, picture().PDF)
	require.Check(t, page == require.Drawn(t, picture().PDF), "two PDFs of one picture differ")
	box := regexp.MustCompile(`/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]`).FindStringSubmatch(page)
	var width float64
	if len(box) == 3 {
		fmt.Sscan(box[1], &width)
	}
	require.Check(t, math.Abs(width-84*72/25.4) <= 0.01, "the page is %g points wide, not 84 mm: %v", width, box)
	require.Check(t, strings.Contains(page, "/FontFile2") && !strings.Contains(page, "/Subtype /Image"),
		"the font is not embedded, or the regions are an image")
	text := require.Drawn(t, picture().SVG)
	require.Check(t, strings.Contains(text, `width="84mm"`) && !strings.Contains(text, "<image"), "SVG: %.200s", text)
	grey := picture()
	grey.Greyscale = true
	for _, c := range regexp.MustCompile(`#([0-9a-f]{6})`).FindAllStringSubmatch(require.Drawn(t, grey.SVG), -1) {
		v := c[1]
		require.Check(t, v[:2] == v[2:4] && v[:2] == v[4:], "a colour among greys: %s", v)
	}
	var b bytes.Buffer
	require.NoError(t, grey.PNG(t.Context(), &b))
	img := require.Value(png.Decode(&b))(t)
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			require.Must(t, r == g && g == b, "a colour among greys at %d, %d", x, y)
		}
	}
}

// The paths of bands cover what the image of the same values covers.
func TestAboveIsThePaintedRegion(t *testing.T) {
	t.Parallel()
	const n, size = 7, 140
	s := &surface{n: n, f: make([]float64, (n+1)*(n+1))}
	for i := range s.f {
		s.f[i] = math.Sin(float64(i*i)) * 2
	}
	path := s.above(vg.Rectangle{Max: vg.Point{X: size, Y: size}}, s.f, 0.1)
	area, last, first := 0.0, vg.Point{}, vg.Point{}
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			first = c.Pos
		case vg.LineComp:
			area += float64(last.X*c.Pos.Y - c.Pos.X*last.Y)
		case vg.CloseComp:
			area += float64(last.X*first.Y - first.X*last.Y)
		}
		if c.Type != vg.CloseComp {
			last = c.Pos
		}
	}
	painted := 0
	img := s.paint(s.f, size, size, nil, func(v float64) uint8 { return uint8(btoi(v >= 0.1)) })
	for _, p := range img.Pix[:image.Rect(0, 0, size, size).Dx()*size] {
		painted += int(p)
	}
	require.Near(t, area/2, float64(painted), 0.02*size*size, "paths cover … of %d, pixels %d", size*size, painted)
}

func TestLength(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"84mm": 84 * 96 / 25.4, "8.4cm": 84 * 96 / 25.4, "1in": 96, "9pt": 12, "640": 640, "640px": 640} {
		got, _, err := Length(text)
		require.Check(t, err == nil && math.Abs(got-want) <= 1e-9, "%s: %g %v", text, got, err)
	}
	for _, text := range []string{"", "mm", "-3mm", "NaN", "Inf", "84 miles", "0"} {
		v, _, err := Length(text)
		require.Check(t, err != nil, "%q: %g", text, v)
	}
}
