package figure

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"gonum.org/v1/plot/vg"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

type list struct {
	Width, Height int
	Zoom          float64
	Font          string
	Frame         Frame
	Ops, Stamps   [][]any
	Runs          []string
}

func displayList(t *testing.T, p *Picture, have string) (l list, size int) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.DisplayList(t.Context(), &b, have))
	require.NoError(t, json.Unmarshal(b.Bytes(), &l), "%s", b.Bytes())
	return l, b.Len()
}

func marksOf(l list) []string {
	marks := lists.Filter(l.Ops, func(op []any) bool { return op[0] == "m" })
	return lists.Map(marks, func(op []any) string { return op[1].(string) })
}

func TestDisplayList(t *testing.T) {
	t.Parallel()
	d := require.Value(dataset.Generate("moons", 400, 0.1, 1))(t)
	spec := ml.DefaultSpec()
	res := require.Value(ml.Train(t.Context(), d, spec, nil))(t)
	r := Run{Data: d, Spec: spec, Result: res, X: "x1", Y: "x2", Look: Scene{Grid: 80, Format: Format{Width: 760, Height: 600}}}
	s := require.Value(r.Scene(t.Context(), res.Model))(t)
	pic := require.Value(Boundary(t.Context(), s))(t)

	whole, size := displayList(t, pic, "")
	require.Check(t, whole.Width == 760 && whole.Height == 600 && whole.Font == fontFamily,
		"%d x %d in %s", whole.Width, whole.Height, whole.Font)
	require.Equal(t, cmp.Diff(pic.Frame, whole.Frame), "", "frame")
	require.Check(t, size <= 16<<10, "%d bytes for 400 points", size)
	var points []byte
	for _, m := range marksOf(whole) {
		if b, err := base64.StdEncoding.DecodeString(m); err != nil || len(b)%5 != 0 {
			t.Errorf("a run of %d bytes: %v", len(b), err)
		} else if len(b) > len(points) {
			points = b
		}
	}
	require.Equal(t, len(points), 5*len(s.Points), "bytes in the longest run of marks")
	for i := 0; i < len(points); i += 5 {
		require.Must(t, int(points[i]) < len(whole.Stamps),
			"mark %d is stamp %d of %d", i/5, points[i], len(whole.Stamps))
	}

	require.Must(t, len(whole.Runs) != 0, "no run can be left out")
	rest, less := displayList(t, pic, whole.Runs[0])
	require.Check(t, marksOf(rest)[0] != marksOf(whole)[0] || less < size,
		"%d bytes with what the reader has, %d without", less, size)
	again, _ := displayList(t, pic, "unknown")
	require.Check(t, cmp.Diff(whole, again) == "", "an unknown hash changes the list")
}

// A path without places is left out: "" stands for the path before.
func TestEmptyPathsAreNotListed(t *testing.T) {
	t.Parallel()
	ops := func(draw func(c vg.Canvas)) int {
		p := require.Value(Networks{Networks: []Network{{Graph: dataset.Graph{N: 1}}}}.Picture())(t)
		p.draw = func(_ context.Context, c vg.Canvas) { draw(c) }
		l, _ := displayList(t, p, "")
		return len(l.Ops)
	}
	square := vg.Rectangle{Max: vg.Point{X: 9, Y: 9}}.Path()
	want := ops(func(c vg.Canvas) { c.Fill(square) })
	require.Equal(t, ops(func(c vg.Canvas) { c.Fill(square); c.Fill(nil); c.Stroke(nil) }), want, "operations")
}

// Long lines come in quarters, relative to the place before, and lose neither ends nor corners.
func TestPolyline(t *testing.T) {
	t.Parallel()
	c := &listCanvas{svgCanvas: newSVG(100, 100, 1)}
	var p vg.Path
	p.Move(vg.Point{})
	for i := 1; i <= 100; i++ { // a tenth of a unit apart in each direction
		p.Line(vg.Point{X: vg.Length(i) / 10, Y: vg.Length(i) / 10})
	}
	for i := 9; i >= 0; i-- { // down
		p.Line(vg.Point{X: 10, Y: vg.Length(i)})
	}
	p.Close()
	packed := require.Value(base64.StdEncoding.DecodeString(string(c.polyline(nil, p))[1:]))(t)
	var got []int64
	for len(packed) > 0 {
		lines, n := binary.Uvarint(packed)
		packed = packed[n:]
		got = append(got, int64(lines))
		for range 2 * (lines / 2) {
			v, n := binary.Varint(packed)
			packed = packed[n:]
			got = append(got, v)
		}
	}
	want := []int64{2*3 + 1, 0, 400, 40, -40, 0, 40}
	require.Check(t, slices.Equal(got, want), "%v, want %v", got, want)
}

// unpackCells reads what packCells writes, as a page does.
func unpackCells(b []byte, columns, rows int) []uint8 {
	all := make([]uint8, columns*(rows+1))
	number := func() int {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return int(n)
	}
	for at := columns; len(b) > 0 && at < len(all); {
		same, next := int(b[0]>>2), b[0]&3
		if b = b[1:]; same == 63 {
			same = number()
		}
		for ; same > 0; same-- {
			all[at] = all[at-columns]
			at++
		}
		if at == len(all) {
			break
		}
		n, from := 1, at-1
		if next >= 2 {
			n = number()
		}
		if next == 1 {
			from = at - columns + 1
		}
		c := all[from]
		if next == 3 {
			c, b = b[0], b[1:]
		}
		for ; n > 0; n-- {
			all[at] = c
			at++
		}
	}
	return all[columns:]
}

// Any image comes back from its cells, and one of few regions takes few bytes.
func TestPackCells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 20).Draw(t, "height")
		img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White, color.Transparent, color.Opaque})
		colors := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "colours")
		long := rapid.SampledFrom([]int{1, 5, 300}).Draw(t, "longest stretch")
		for i := 0; i < len(img.Pix); {
			c := uint8(rapid.IntRange(0, colors-1).Draw(t, "colour"))
			for n := rapid.IntRange(1, long).Draw(t, "stretch"); n > 0 && i < len(img.Pix); n-- {
				img.Pix[i] = c
				i++
			}
		}
		got := unpackCells(packCells(img), w, h)
		require.Must(t, bytes.Equal(got, img.Pix), "%v is %v", img.Pix, got)
	})
	disc := image.NewPaletted(image.Rect(0, 0, 400, 300), color.Palette{color.Black, color.White})
	for i := range disc.Pix {
		if x, y := i%400-200, i/400-150; x*x+y*y < 100*100 {
			disc.Pix[i] = 1
		}
	}
	n := len(packCells(disc))
	require.Check(t, n <= 1000, "a disc 200 cells high takes %d bytes", n)
}
