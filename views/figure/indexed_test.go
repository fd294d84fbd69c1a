package figure

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

// The bytes equal those that image/png writes.
func TestIndexed(t *testing.T) {
	t.Parallel()
	std := png.Encoder{CompressionLevel: png.BestSpeed}
	var own pngWriter
	rapid.Check(t, func(t *rapid.T) {
		colors := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 16, 17, 255, 256}).Draw(t, "colors")
		var p color.Palette
		for range colors {
			p = append(p, color.NRGBA{R: rapid.Byte().Draw(t, "R"), G: 7, B: 200, A: rapid.SampledFrom([]byte{255, 255, 255, 0, 9}).Draw(t, "A")})
		}
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 400).Draw(t, "h")
		img := image.NewPaletted(image.Rect(0, 0, w, h), p)
		seed := rapid.Uint32().Draw(t, "seed")
		for i := range img.Pix {
			seed = seed*1664525 + 1013904223
			img.Pix[i] = uint8(int(seed>>16) % colors)
		}
		var want, got bytes.Buffer
		require.NoError(t, std.Encode(&want, img))
		for range 2 { // also with what is left from before
			got.Reset()
			err := own.indexed(&got, img)
			require.Must(t, err == nil && bytes.Equal(got.Bytes(), want.Bytes()), "%d x %d, %d colours: %v, %d bytes for %d", w, h, colors, err, got.Len(), want.Len())
		}
	})
}

// Pixels that take several parts.
func TestIndexedInParts(t *testing.T) {
	t.Parallel()
	img := image.NewPaletted(image.Rect(0, 0, 1200, 900), make(color.Palette, 256))
	seed := uint32(1)
	for i := range img.Pix {
		seed = seed*1664525 + 1013904223
		img.Pix[i] = uint8(seed >> 24)
	}
	for i := range img.Palette {
		img.Palette[i] = color.Gray{uint8(i)}
	}
	var want, got bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&want, img))
	var own pngWriter
	err := own.indexed(&got, img)
	require.Check(t, err == nil && bytes.Equal(got.Bytes(), want.Bytes()), "%v, %d bytes for %d", err, got.Len(), want.Len())
}

func BenchmarkIndexed(b *testing.B) {
	img := image.NewPaletted(image.Rect(0, 0, 660, 470), color.Palette{color.White, color.Black, color.Transparent})
	for i := range img.Pix {
		img.Pix[i] = uint8(i / 660 / 200)
	}
	var own pngWriter
	std := png.Encoder{CompressionLevel: png.BestSpeed}
	var out bytes.Buffer
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			_ = own.indexed(&out, img)
		}
	})
	b.Run("image/png", func(b *testing.B) {
		for b.Loop() {
			out.Reset()
			_ = std.Encode(&out, img)
		}
	})
}
