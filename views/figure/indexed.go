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

// indexed writes paletted images as PNG, with the same bytes as image/png at its best speed but
// three times as fast: image/png packs small palettes pixel by pixel through calls.
type indexed struct{ pool sync.Pool } // of *zlib.Writer, more than a megabyte each

// pngPiece is the length of a chunk of compressed pixels.
const pngPiece = 1 << 15

// write writes the image, which has at least one pixel and from 1 to 256 colours.
func (x *indexed) write(w io.Writer, img *image.Paletted) error {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	depth := 8
	switch n := len(img.Palette); {
	case n <= 2:
		depth = 1
	case n <= 4:
		depth = 2
	case n <= 16:
		depth = 4
	}
	if _, err := io.WriteString(w, "\x89PNG\r\n\x1a\n"); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = binary.BigEndian.AppendUint32(head, uint32(height))
	if err := pngChunk(w, "IHDR", append(head, byte(depth), 3, 0, 0, 0)); err != nil {
		return err
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
	if err := pngChunk(w, "PLTE", colors); err != nil {
		return err
	}
	if last > 0 {
		if err := pngChunk(w, "tRNS", opacities[:last]); err != nil {
			return err
		}
	}
	if err := x.pixels(bufio.NewWriterSize(parts{w}, pngPiece), img, depth); err != nil {
		return err
	}
	return pngChunk(w, "IEND", nil)
}

// pixels writes the image with depth bits per pixel.
func (x *indexed) pixels(w *bufio.Writer, img *image.Paletted, depth int) error {
	z, _ := x.pool.Get().(*zlib.Writer)
	if z == nil {
		z, _ = zlib.NewWriterLevel(w, zlib.BestSpeed) // the level is valid
	} else {
		z.Reset(w)
	}
	defer x.pool.Put(z)
	width, each := img.Rect.Dx(), 8/depth
	line := make([]byte, 1+(width+each-1)/each) // preceded by the number of the filter: none
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride : y*img.Stride+width]
		packed := line[1:]
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
		if _, err := z.Write(line); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return w.Flush()
}

// parts writes each piece as a chunk of compressed pixels.
type parts struct{ w io.Writer }

func (p parts) Write(b []byte) (int, error) {
	if err := pngChunk(p.w, "IDAT", b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// pngChunk writes a chunk of a PNG: length, name, body and checksum.
func pngChunk(w io.Writer, name string, body []byte) error {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, len(body)+12), uint32(len(body)))
	b = append(append(b, name...), body...)
	_, err := w.Write(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
	return err
}
