package figure

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"io"
	"math"
	"reflect"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// DisplayList writes the picture as JSON for a script that paints it on a canvas while something
// moves: a tenth of the size of the SVG, with nothing to parse but paths. It is an object with
// width and height in CSS pixels, zoom (CSS pixels per unit), font and frame, and
//
//	ops     what to paint, in order:
//	        ["f", color, path]                           fill
//	        ["s", color, path, width, dashes]            stroke
//	        ["t", color, x, y, size, bold, turn, text]   text, turned by radians
//	        ["p", x, y, width, height, columns, rows, colours, cells]    image of few colours
//	        ["m", run] or ["m", hash]                    marks
//	stamps  the marks, each a list of "f" and "s" around the origin
//	runs    hash of every run of many marks, in the order of ops
//	toggles as Picture.Toggles; null if there are none
//
// A path is SVG path data, in units, or, after a #, lines packed by polyline, in base64. An empty
// color or path repeats the last one that was not empty. Cells are packed by packCells, in base64: a
// browser unpacks them at once, while it would wait for another thread to decode a PNG. A run holds
// five bytes per mark in base64: its index in stamps, and its position in sixteenths of a unit from
// the top left as two 16-bit little-endian numbers. A run of many marks whose hash is have is
// omitted: the reader has kept it from the previous picture.
func (p *Picture) DisplayList(ctx context.Context, w io.Writer, have string) error {
	c := &listCanvas{svgCanvas: newSVG(p.Width, p.Height, p.zoom), have: have, index: map[any]int{}}
	defer svgTexts.Put(c.buf)
	p.fillPaper(c)
	return p.write(ctx, "a display list", c, func() error {
		c.endRun()
		frame, err := json.Marshal(p.Frame)
		toggles, wrong := json.Marshal(p.Toggles)
		if err := cmp.Or(c.err, err, wrong); err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, `{"width":%d,"height":%d,"zoom":%g,"font":%q,"frame":%s,"toggles":%s,"ops":[%s],"stamps":[%s],"runs":[%s]}`,
			p.Width, p.Height, p.zoom, fontFamily, frame, toggles, bytes.TrimSuffix(c.buf.Bytes(), comma), bytes.TrimSuffix(c.stamps, comma), bytes.TrimSuffix(c.runs, comma))
		return err
	})
}

var comma = []byte(",")

// listCanvas is a vg.Canvas that writes a display list. The state matches the SVG's.
type listCanvas struct {
	*svgCanvas
	have   string
	index  map[any]int // indices of the stamps
	stamps []byte      // JSON, each stamp followed by a comma
	runs   []byte
	run    []byte       // marks placed since the last operation of another kind
	kind   reflect.Type // of their marks
	color  string       // last colour written
	shape  string       // last path written
}

// manyMarks is the length from which a run is worth keeping.
const manyMarks = 64

func (c *listCanvas) op(kind byte, clr color.NRGBA) {
	c.endRun()
	c.buf.WriteString(`["`)
	c.buf.WriteByte(kind)
	c.buf.WriteString(`","`)
	if css := cssColor(clr); css != c.color {
		c.color = css
		c.buf.WriteString(css)
	}
	c.buf.WriteByte('"')
}

func (c *listCanvas) Fill(p vg.Path) {
	if len(p) == 0 { // "" in the list means the previous path
		return
	}
	c.op('f', c.state.color)
	c.path(p)
	c.buf.WriteString("],")
}

func (c *listCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 || len(p) == 0 {
		return
	}
	c.op('s', c.state.color)
	c.path(p)
	c.buf.WriteByte(',')
	c.buf.Write(appendNumber(nil, c.state.width))
	c.buf.WriteString(`,"` + c.state.dash + `"],`)
}

func (c *listCanvas) path(p vg.Path) {
	if len(p) > 8 {
		c.room = c.polyline(c.room[:0], p)
	} else {
		c.room = c.outline(c.room[:0], p)
	}
	c.buf.WriteString(`,"`)
	if string(c.room) != c.shape {
		c.shape = string(c.room)
		c.buf.Write(c.room)
	}
	c.buf.WriteByte('"')
}

// polyline appends a path of lines in packed form, without points that nobody would miss. Every
// line is twice the number of its points, plus one if it is closed, as an unsigned varint, followed
// by its points in quarters of a unit, each relative to the previous one, as signed varints. Any
// other path is appended as in an SVG.
func (c *listCanvas) polyline(b []byte, p vg.Path) []byte {
	at := make([]vg.Point, len(p))
	kept := make([]bool, len(p))
	from := 0 // start of the lines not yet simplified
	for i, q := range p {
		switch q.Type {
		case vg.MoveComp, vg.LineComp:
			x, y := c.at(q.Pos)
			at[i] = vg.Point{X: vg.Length(x), Y: vg.Length(y)}
		case vg.CloseComp:
		default:
			return c.outline(b[:0], p)
		}
		kept[i] = true
		if i+1 == len(p) || p[i+1].Type != vg.LineComp {
			if q.Type == vg.LineComp {
				simplify(at[from:i+1], kept[from:i+1])
			}
			from = i + 1
		}
	}
	var lastX, lastY int64
	packed := []byte{}
	for i := 0; i < len(p); {
		if p[i].Type != vg.MoveComp {
			return c.outline(b[:0], p)
		}
		n, end := 1, i+1 // a line, and what follows it
		for ; end < len(p) && p[end].Type == vg.LineComp; end++ {
			n += btoi(kept[end])
		}
		closed := end < len(p) && p[end].Type == vg.CloseComp
		packed = binary.AppendUvarint(packed, uint64(n)<<1|uint64(btoi(closed)))
		for ; i < end; i++ {
			if kept[i] {
				x, y := int64(math.Round(4*float64(at[i].X))), int64(math.Round(4*float64(at[i].Y)))
				packed = binary.AppendVarint(binary.AppendVarint(packed, x-lastX), y-lastY)
				lastX, lastY = x, y
			}
		}
		i += btoi(closed)
	}
	return base64.StdEncoding.AppendEncode(append(b, '#'), packed)
}

// nearLine is the largest error of a line during a drag, in units.
const nearLine = 0.25

// simplify clears kept for the inner points of a line that are at most nearLine from the rest of it
// (Douglas and Peucker's algorithm).
func simplify(at []vg.Point, kept []bool) {
	n := len(at) - 1
	if n < 2 {
		return
	}
	dx, dy := at[n].X-at[0].X, at[n].Y-at[0].Y
	long := dx*dx + dy*dy
	farthest, worst := 0, vg.Length(nearLine*nearLine)
	for i := 1; i < n; i++ {
		x, y := at[i].X-at[0].X, at[i].Y-at[0].Y
		if long > 0 {
			t := min(max((x*dx+y*dy)/long, 0), 1)
			x, y = x-t*dx, y-t*dy
		}
		if far := x*x + y*y; far > worst {
			farthest, worst = i, far
		}
	}
	if farthest == 0 {
		clear(kept[1:n])
		return
	}
	simplify(at[:farthest+1], kept[:farthest+1])
	simplify(at[farthest:], kept[farthest:])
}

func (c *listCanvas) FillString(f font.Face, p vg.Point, s string) {
	c.op('t', c.state.color)
	x, y := c.at(p)
	m := &c.state.affine
	text, _ := json.Marshal(s) // strings always encode
	fmt.Fprintf(c.buf, ",%s,%s,%s,%d,%.4g,%s],", appendNumber(nil, x), appendNumber(nil, y), appendNumber(nil, float64(f.Font.Size)), btoi(f.Font.Weight > 0), -math.Atan2(m[1], m[0]), text)
}

func (c *listCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	c.endRun()
	x, y := c.at(vg.Point{X: r.Min.X, Y: r.Max.Y})
	few := img.(*image.Paletted)
	fmt.Fprintf(c.buf, `["p",%s,%s,%s,%s,%d,%d,"`, appendNumber(nil, x), appendNumber(nil, y), appendNumber(nil, float64(r.Size().X)), appendNumber(nil, float64(r.Size().Y)), few.Rect.Dx(), few.Rect.Dy())
	for _, clr := range few.Palette {
		n := nrgba(clr)
		fmt.Fprintf(c.buf, "%02x%02x%02x%02x", n.R, n.G, n.B, n.A)
	}
	c.buf.WriteString(`","` + base64.StdEncoding.EncodeToString(packCells(few)) + `"],`)
}

// packCells packs the colours of an image row by row, as if a row of colour 0 preceded the first.
// The upper six bits of each byte count the cells equal to those above them; 63 means that the
// count follows as a number. The lower two bits say what comes next:
//
//	0  one cell equal to the previous one
//	1  one cell equal to the one above and to the right
//	2  a number of cells equal to the previous one
//	3  a number of cells of a colour; both follow
//
// Nothing comes after the last cell. Numbers are unsigned varints.
func packCells(img *image.Paletted) (b []byte) {
	w := img.Rect.Dx()
	cells := make([]uint8, w, w*(img.Rect.Dy()+1))
	for y := range img.Rect.Dy() {
		cells = append(cells, img.Pix[y*img.Stride:][:w]...)
	}
	for i := w; i < len(cells); {
		from := i
		for i < len(cells) && cells[i] == cells[i-w] {
			i++
		}
		same, n := i-from, 0
		for i+n < len(cells) && cells[i+n] == cells[i] && cells[i+n] != cells[i+n-w] {
			n++
		}
		next := byte(3)
		switch {
		case n == 0: // at the end
			next = 0
		case cells[i] == cells[i-1] && n == 1:
			next = 0
		case cells[i] == cells[i-1]:
			next = 2
		case w > 1 && cells[i] == cells[i-w+1]:
			next, n = 1, 1
		}
		b = append(b, byte(min(same, 63))<<2|next)
		if same >= 63 {
			b = binary.AppendUvarint(b, uint64(same))
		}
		if next >= 2 {
			b = binary.AppendUvarint(b, uint64(n))
		}
		if next == 3 {
			b = append(b, cells[i])
		}
		i += n
	}
	return b
}

// stamp places a mark. Consecutive marks of one kind form a run.
func (c *listCanvas) stamp(at vg.Point, mark any, paint func(*draw.Canvas, vg.Point)) {
	if kind := reflect.TypeOf(mark); kind != c.kind {
		c.endRun()
		c.kind = kind
	}
	id, ok := c.index[mark]
	if !ok {
		if id = len(c.index); id > math.MaxUint8 { // painted individually
			paint(&draw.Canvas{Canvas: c}, at)
			return
		}
		c.index[mark] = id
		own := &listCanvas{svgCanvas: &svgCanvas{buf: new(bytes.Buffer)}}
		own.state.affine = [6]float64{1, 0, 0, 1, 0, 0}
		paint(&draw.Canvas{Canvas: own}, vg.Point{})
		c.stamps = append(append(append(append(c.stamps, '['), bytes.TrimSuffix(own.buf.Bytes(), comma)...), ']'), ',')
	}
	x, y := c.at(at)
	c.run = append(c.run, byte(id))
	c.run = binary.LittleEndian.AppendUint16(c.run, uint16(math.Round(16*x)))
	c.run = binary.LittleEndian.AppendUint16(c.run, uint16(math.Round(16*y)))
}

// endRun writes the current run, or its hash if the reader has it.
func (c *listCanvas) endRun() {
	c.kind = nil
	if len(c.run) == 0 {
		return
	}
	text := base64.StdEncoding.EncodeToString(c.run)
	if len(c.run) >= 5*manyMarks {
		h := fnv.New64a()
		h.Write(c.run)
		hash := strconv.FormatUint(h.Sum64(), 36)
		c.runs = append(append(append(c.runs, '"'), hash...), '"', ',')
		if hash == c.have {
			text = "#" + hash
		}
	}
	c.run = c.run[:0]
	c.buf.WriteString(`["m","` + text + `"],`)
}

// cssColor returns a colour in CSS notation.
func cssColor(c color.NRGBA) string {
	if c.A == 255 {
		return Hex(c)
	}
	return fmt.Sprintf("%s%02x", Hex(c), c.A)
}
