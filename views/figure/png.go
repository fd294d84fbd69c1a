package figure

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngCanvas is gonum's image canvas except that
// images are copied pixel by pixel: they come in the size they have here.
type pngCanvas struct {
	*vgimg.Canvas
	zoom float64 // device pixels per point
}

// newPNG returns a canvas of w x h CSS pixels with scale device pixels each. A
// point is zoom device pixels, a multiple of 1/8.
func newPNG(w, h int, zoom float64, scale int) *pngCanvas {
	width, height := vg.Length(float64(w*scale)/zoom), vg.Length(float64(h*scale)/zoom)
	return &pngCanvas{vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(int(72*zoom))), zoom}
}

// dots is a length in whole device pixels.
func (c *pngCanvas) dots(l vg.Length) int { return int(math.Round(float64(l) * c.zoom)) }

// DrawImage takes opaque images only. It has a short way for the one kind that
// pictures consist of, which image/draw converts pixel by pixel.
func (c *pngCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	at := image.Pt(c.dots(r.Min.X), c.Image().Bounds().Dy()-c.dots(r.Max.Y))
	dst, okDst := c.Image().(*image.RGBA)
	src, okSrc := img.(*image.Paletted)
	if !okDst || !okSrc || !src.Rect.Add(at).In(dst.Rect) {
		draw.Draw(c.Image(), img.Bounds().Add(at), img, image.Point{}, draw.Src)
		return
	}
	var table [256][4]uint8
	for i, p := range src.Palette {
		v := color.RGBAModel.Convert(p).(color.RGBA)
		table[i] = [4]uint8{v.R, v.G, v.B, v.A}
	}
	for y := range src.Rect.Dy() {
		out := dst.Pix[dst.PixOffset(at.X, at.Y+y):]
		for x, k := range src.Pix[y*src.Stride : y*src.Stride+src.Rect.Dx()] {
			copy(out[4*x:4*x+4], table[k][:])
		}
	}
}

// writeTo encodes the pixels without alpha, every row as its difference to the
// one above (PNG's filter Up). Pictures are flat or smooth, so that this
// compresses as well as choosing among the five filters for every row, which is
// what image/png does and what would take half of the whole drawing.
func (c *pngCanvas) writeTo(w io.Writer) error {
	img, ok := c.Image().(*image.RGBA)
	if !ok {
		return encoder.Encode(w, c.Image())
	}
	width, height := img.Rect.Dx(), img.Rect.Dy()
	if _, err := io.WriteString(w, "\x89PNG\r\n\x1a\n"); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = binary.BigEndian.AppendUint32(head, uint32(height))
	head = append(head, 8, 2, 0, 0, 0) // 8 bits each of red, green, blue
	if err := writeChunk(w, "IHDR", head); err != nil {
		return err
	}
	body := bufio.NewWriterSize(chunks{w}, 1<<16)
	z, err := zlib.NewWriterLevel(body, zlib.BestSpeed)
	if err != nil {
		return err
	}
	row := make([]byte, 1+3*width)
	row[0] = 2 // filter Up
	above := make([]byte, 4*width)
	for y := range height {
		line := img.Pix[y*img.Stride : y*img.Stride+4*width]
		for i, j := 0, 1; i < len(line); i, j = i+4, j+3 {
			row[j] = line[i] - above[i]
			row[j+1] = line[i+1] - above[i+1]
			row[j+2] = line[i+2] - above[i+2]
		}
		if _, err := z.Write(row); err != nil {
			return err
		}
		above = line
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := body.Flush(); err != nil {
		return err
	}
	return writeChunk(w, "IEND", nil)
}

// chunks makes one IDAT chunk of every write.
type chunks struct{ w io.Writer }

func (c chunks) Write(p []byte) (int, error) { return len(p), writeChunk(c.w, "IDAT", p) }

func writeChunk(w io.Writer, kind string, data []byte) error {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, len(data)+12), uint32(len(data)))
	b = append(b, kind...)
	b = append(b, data...)
	_, err := w.Write(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
	return err
}
