package figure

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
	"sync"
)

// pngWriter writes images as PNG at best speed. Its zero value is ready to use.
type pngWriter struct{ pool sync.Pool } // of *zlib.Writer, more than a megabyte each

// pngPiece is the length of a chunk of compressed pixels.
const pngPiece = 1 << 15

// write writes an image of this colour type of PNG and bits per sample, with the chunks of a palette
// or nil. row sets the n bytes of a line of pixels.
func (x *pngWriter) write(w io.Writer, size image.Point, depth, kind byte, palette []byte, n int, row func(line []byte, y int)) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	head = append(binary.BigEndian.AppendUint32(head, uint32(size.Y)), depth, kind, 0, 0, 0)
	if _, err := w.Write(append(appendChunk([]byte("\x89PNG\r\n\x1a\n"), "IHDR", head), palette...)); err != nil {
		return err
	}
	body := bufio.NewWriterSize(chunks{w}, pngPiece)
	z, _ := x.pool.Get().(*zlib.Writer)
	if z == nil {
		z, _ = zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is valid
	}
	z.Reset(body)
	defer x.pool.Put(z)
	line := make([]byte, 1+n) // preceded by the number of the filter: none
	for y := range size.Y {
		row(line[1:], y)
		if _, err := z.Write(line); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := body.Flush(); err != nil {
		return err
	}
	_, err := w.Write(appendChunk(nil, "IEND", nil))
	return err
}

// chunks writes each piece as a chunk of compressed pixels.
type chunks struct{ w io.Writer }

func (c chunks) Write(b []byte) (int, error) {
	_, err := c.w.Write(appendChunk(make([]byte, 0, len(b)+12), "IDAT", b))
	return len(b), err
}

// appendChunk appends a chunk of a PNG: length, name, body and checksum.
func appendChunk(b []byte, name string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	from := len(b)
	b = append(append(b, name...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// indexed writes an image that has at least one pixel and from 1 to 256 colours, with the same bytes
// as image/png but three times as fast: image/png packs small palettes pixel by pixel through calls.
func (x *pngWriter) indexed(w io.Writer, img *image.Paletted) error {
	depth := 8
	switch n := len(img.Palette); {
	case n <= 2:
		depth = 1
	case n <= 4:
		depth = 2
	case n <= 16:
		depth = 4
	}
	var colors, opacities []byte
	last := 0 // index after the last colour that is not opaque
	for i, c := range img.Palette {
		n := nrgba(c)
		colors, opacities = append(colors, n.R, n.G, n.B), append(opacities, n.A)
		if n.A != 255 {
			last = i + 1
		}
	}
	palette := appendChunk(nil, "PLTE", colors)
	if last > 0 {
		palette = appendChunk(palette, "tRNS", opacities[:last])
	}
	width, each := img.Rect.Dx(), 8/depth
	return x.write(w, img.Rect.Size(), byte(depth), 3, palette, (width+each-1)/each, func(packed []byte, y int) {
		row := img.Pix[y*img.Stride : y*img.Stride+width]
		switch each {
		case 1:
			copy(packed, row)
		case 4: // the regions of a model with two sides
			for i := range width / 4 {
				p := row[4*i : 4*i+4]
				packed[i] = p[0]<<6 | p[1]<<4 | p[2]<<2 | p[3]
			}
			if rest := row[width&^3:]; len(rest) > 0 {
				packed[width/4] = 0
				for k, at := range rest {
					packed[width/4] |= at << (6 - 2*k)
				}
			}
		default:
			for i := range packed {
				var b byte
				for k := range min(each, width-i*each) {
					b |= row[i*each+k] << (8 - depth - k*depth)
				}
				packed[i] = b
			}
		}
	})
}
