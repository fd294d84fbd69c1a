package figure

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Matrix draws a matrix, such as a Gram matrix, with a cell for each entry and the first row at the
// top. Colours range from 0 to the largest entry or, if there are negative ones, diverge at 0.
// Small matrices show their numbers, medium ones a minus sign in negative cells. If there are more
// entries than pixels, a cell is the mean of k x k entries.
type Matrix struct {
	Format
	X, Y   string // labels of columns and rows
	Name   string // meaning of an entry, above the colour bar
	Values mat.Matrix
	// Scale is the magnitude with the strongest colour; 0: the largest entry. Pictures of a series
	// need the same.
	Scale float64
	// Classes are the class indices of the rows, and of the columns if there are as many. Rows of a
	// class should be adjacent: each block has a strip in its colour and its name at the edge,
	// separated by lines.
	Classes    []int
	ClassNames []string // nil: numbers
	// Names are the labels of the rows, and of the columns if there are as many, used if there are
	// no Classes; nil: numbers.
	Names []string
	// Columns are the labels of the columns if they differ from those of the rows.
	Columns   []string
	Stretched bool // the cells fill the frame, as in tables; otherwise they are squares
	// Caption is the text alternative; the default gives the size, the range and, with classes, the
	// means within and between them.
	Caption string
}

// Picture draws the matrix.
func (x Matrix) Picture() (*Picture, error) {
	sh, err := x.sheet()
	if err != nil {
		return nil, err
	}
	if x.Values == nil {
		return nil, errors.New("matrix: there is nothing to draw; give the values")
	}
	rows, cols := x.Values.Dims()
	switch {
	case rows == 0 || cols == 0:
		return nil, fmt.Errorf("matrix: it has %d rows and %d columns; give at least one of each", rows, cols)
	case x.Classes != nil && len(x.Classes) != rows:
		return nil, fmt.Errorf("matrix: %d classes for %d rows; give as many, or none", len(x.Classes), rows)
	case x.Names != nil && len(x.Names) != rows:
		return nil, fmt.Errorf("matrix: %d names for %d rows; give as many, or none", len(x.Names), rows)
	case x.Columns != nil && len(x.Columns) != cols:
		return nil, fmt.Errorf("matrix: %d names for %d columns; give as many, or none", len(x.Columns), cols)
	}
	t := sh.theme
	s := x.survey()
	hi := x.Scale
	if !(hi > 0) || math.IsInf(hi, 0) {
		hi = max(math.Abs(s.lo), math.Abs(s.hi))
	}
	hi = cmp.Or(hi, 1)
	p, lo := ramp(t.Heat[0], t.Zero, t.Heat[1]), -hi
	if s.negative == 0 {
		p, lo = p[40:], 0
	}
	sh.labels, sh.caption = [2]string{x.X, x.Y}, cmp.Or(x.Caption, x.describe(s))
	if !x.Stretched {
		sh.aspect = shrunk
	}
	sh.limits = Limits{XMin: 0.5, XMax: float64(cols) + 0.5, YMin: float64(rows) + 0.5, YMax: 0.5}
	open := max(math.Abs(s.lo), math.Abs(s.hi)) > hi
	sh.bar = &bar{palette: p, lo: lo, hi: hi, name: clip(x.Name, fontSize, 70), open: open}

	runs := blocks(x.Classes)
	square := rows == cols
	sh.ticks[1] = func(n int) []tick { return x.places(rows, n, runs, x.Names) }
	sh.ticks[0] = func(n int) []tick {
		switch {
		case x.Columns != nil:
			return x.places(cols, n, nil, x.Columns)
		case !square:
			return x.places(cols, n, nil, x.Names)
		}
		return x.places(cols, n, runs, x.Names)
	}
	index := scale(p, lo, hi)
	sh.add(cells{rows, cols, func(w, h int) *image.Paletted {
		img := image.NewPaletted(image.Rect(0, 0, w, h), append(slices.Clone(p), t.Paper))
		for i := range h {
			for j := range w {
				v := x.mean(i*rows/h, (i+1)*rows/h, j*cols/w, (j+1)*cols/w)
				k := uint8(len(p)) // NaN
				if !math.IsNaN(v) {
					k = index(v)
				}
				img.Pix[i*img.Stride+j] = k
			}
		}
		return img
	}}.draw)
	sh.add(func(c *draw.Canvas, m mapping) {
		if len(runs) <= mostBlocks {
			part(c, t, m, runs, square)
		}
		if !sh.bare() && !x.write(c, t, m, hi) && s.negative > 0 {
			x.minus(c, t, m, hi)
		}
	})
	if x.Classes != nil {
		sh.edges = func(c *draw.Canvas, in vg.Rectangle) {
			strips(c, t, mapping{frame: in, Limits: sh.limits}, runs, square)
		}
	}
	return sh.picture(), nil
}

// mean returns the mean of the entries in a block of rows and columns.
func (x *Matrix) mean(top, bottom, left, right int) float64 {
	var sum float64
	for i := top; i < max(bottom, top+1); i++ {
		for j := left; j < max(right, left+1); j++ {
			sum += x.Values.At(i, j)
		}
	}
	return sum / float64(max(bottom-top, 1)*max(right-left, 1))
}

// survey holds statistics of the entries for the caption and the colours.
type survey struct {
	rows, cols        int
	lo, hi            float64
	negative, missing int // missing: NaN or infinite
	within, between   float64
	nWithin, nBetween int
}

func (x *Matrix) survey() survey {
	s := survey{lo: math.Inf(1), hi: math.Inf(-1)}
	s.rows, s.cols = x.Values.Dims()
	for i := range s.rows {
		for j := range s.cols {
			v := x.Values.At(i, j)
			if !finite(v) {
				s.missing++
				continue
			}
			s.lo, s.hi = min(s.lo, v), max(s.hi, v)
			s.negative += btoi(v < 0)
			if x.Classes == nil || s.rows != s.cols {
				continue
			}
			if x.Classes[i] == x.Classes[j] {
				s.within += v
				s.nWithin++
			} else {
				s.between += v
				s.nBetween++
			}
		}
	}
	if s.lo > s.hi {
		s.lo, s.hi = 0, 0
	}
	return s
}

func (x *Matrix) describe(s survey) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Matrix. %s and %s, entries from %s to %s", plural(s.rows, "row"), plural(s.cols, "column"), short(s.lo), short(s.hi))
	if s.negative > 0 {
		fmt.Fprintf(&b, ", %d negative", s.negative)
	}
	if s.missing > 0 {
		fmt.Fprintf(&b, ", %d not numbers", s.missing)
	}
	b.WriteString(".")
	if s.nWithin > 0 && s.nBetween > 0 {
		fmt.Fprintf(&b, " Mean within classes %s, between classes %s.", short(s.within/float64(s.nWithin)), short(s.between/float64(s.nBetween)))
	}
	return b.String()
}

// block is a run of rows of the same class.
type block struct{ class, from, to int } // to is past the end

func blocks(classes []int) (bs []block) {
	for i, k := range classes {
		if n := len(bs); n > 0 && bs[n-1].class == k {
			bs[n-1].to = i + 1
		} else {
			bs = append(bs, block{k, i, i + 1})
		}
	}
	return bs
}

// mostBlocks is the most blocks that are named and separated; more means that the rows
// are not sorted by class.
const mostBlocks = 12

// places returns the ticks of an axis with n cells: the names of the blocks, the given
// names if there are as many, or numbers.
func (x *Matrix) places(n, most int, runs []block, names []string) (ts []tick) {
	if len(runs) > 0 && len(runs) <= mostBlocks {
		for _, b := range runs {
			name := strconv.Itoa(b.class)
			if b.class >= 0 && b.class < len(x.ClassNames) {
				name = param.ClassText(x.ClassNames[b.class])
			}
			ts = append(ts, tick{float64(b.from+b.to+1) / 2, clip(name, fontSize, 90)})
		}
		return ts
	}
	if n == len(names) {
		return lists.Make(n, func(k int) tick { return tick{float64(k + 1), clip(names[k], fontSize, 90)} })
	}
	return counted(n, most)
}

// counted returns ticks at about most of the numbers 1 to n, or at all if they are
// few.
func counted(n, most int) []tick {
	if n <= 2*most {
		return lists.Make(n, func(k int) tick { return tick{float64(k + 1), strconv.Itoa(k + 1)} })
	}
	return lists.Filter(ticks(0.5, float64(n)+0.5, most), func(t tick) bool { return t.value >= 1 && t.value == math.Round(t.value) })
}

// part draws lines between blocks.
func part(c *draw.Canvas, t *Theme, m mapping, runs []block, square bool) {
	var p vg.Path
	for _, b := range runs[min(1, len(runs)):] {
		at := float64(b.from) + 0.5
		p = polyline(p, m.at(m.XMin, at), m.at(m.XMax, at))
		if square {
			p = polyline(p, m.at(at, m.YMin), m.at(at, m.YMax))
		}
	}
	if len(p) > 0 {
		stroke(c, draw.LineStyle{Color: t.Ink, Width: 1}, p)
	}
}

// strips marks the classes at the edges.
func strips(c *draw.Canvas, t *Theme, m mapping, runs []block, square bool) {
	const near, far = 1, 5.5
	for _, b := range runs {
		lo, hi := float64(b.from)+0.5, float64(b.to)+0.5
		c.SetColor(t.color(ClassColor(b.class)))
		c.Fill(vg.Rectangle{
			Min: vg.Point{X: m.frame.Min.X - far, Y: m.at(m.XMin, hi).Y},
			Max: vg.Point{X: m.frame.Min.X - near, Y: m.at(m.XMin, lo).Y},
		}.Path())
		if square {
			c.Fill(vg.Rectangle{
				Min: vg.Point{X: m.at(lo, m.YMin).X, Y: m.frame.Min.Y - far},
				Max: vg.Point{X: m.at(hi, m.YMin).X, Y: m.frame.Min.Y - near},
			}.Path())
		}
	}
}

// write writes the numbers into the cells of a small matrix; it returns false if they do not
// fit.
func (x *Matrix) write(c *draw.Canvas, t *Theme, m mapping, hi float64) bool {
	const most = 8
	rows, cols := x.Values.Dims()
	if max(rows, cols) > most {
		return false
	}
	cell := c.Size().X / vg.Length(cols)
	for _, digits := range []float64{100, 10} {
		step := math.Pow(10, math.Floor(math.Log10(hi))) / digits
		if x.whole() {
			step = 1
		}
		words := make([]string, 0, rows*cols)
		var widest vg.Length
		for i := range rows {
			for j := range cols {
				s := "–"
				if v := x.Values.At(i, j); finite(v) {
					s = number(v, step)
				}
				words = append(words, s)
				widest = max(widest, width(s, fontSize))
			}
		}
		if widest > cell-3 || cell < 14 {
			continue
		}
		for k, s := range words {
			at := m.at(float64(k%cols+1), float64(k/cols+1))
			text(c, t.Ink, fontSize, false, vg.Point{X: at.X - width(s, fontSize)/2, Y: at.Y - 4}, s)
		}
		return true
	}
	return false
}

// whole reports whether all entries are whole numbers.
func (x *Matrix) whole() bool {
	rows, cols := x.Values.Dims()
	for i := range rows {
		for j := range cols {
			if v := x.Values.At(i, j); v != math.Trunc(v) {
				return false
			}
		}
	}
	return true
}

// minus marks negative cells, so that their sign does not depend on colour.
func (x *Matrix) minus(c *draw.Canvas, t *Theme, m mapping, hi float64) {
	rows, cols := x.Values.Dims()
	half := c.Size().X / vg.Length(cols) / 4
	if half < 2 {
		return
	}
	half = min(half, 5)
	var p vg.Path
	for i := range rows {
		for j := range cols {
			if x.Values.At(i, j) < -hi/80 { // smaller values have the colour of 0
				at := m.at(float64(j+1), float64(i+1))
				p = polyline(p, vg.Point{X: at.X - half, Y: at.Y}, vg.Point{X: at.X + half, Y: at.Y})
			}
		}
	}
	if len(p) > 0 {
		stroke(c, draw.LineStyle{Color: t.Ink, Width: 1}, p)
	}
}

// cells is an image of rows x cols cells with sharp edges.
type cells struct {
	rows, cols int
	paint      func(w, h int) *image.Paletted
}

func (f cells) draw(c *draw.Canvas, _ mapping) {
	size := c.Size()
	w, h := fewer(f.cols, int(size.X)), fewer(f.rows, int(size.Y))
	small := f.paint(w, h)
	switch b := c.Canvas.(type) {
	case *svgCanvas:
		b.crisp = true
		c.DrawImage(c.Rectangle, small)
		b.crisp = false
	case *pdfCanvas:
		c.DrawImage(c.Rectangle, small)
	case *pngCanvas:
		dx, dy := b.dots(c.Max.X)-b.dots(c.Min.X), b.dots(c.Max.Y)-b.dots(c.Min.Y)
		large := image.NewPaletted(image.Rect(0, 0, dx, dy), small.Palette)
		for y := range dy {
			for x := range dx {
				large.Pix[y*large.Stride+x] = small.Pix[(2*y+1)*h/(2*dy)*small.Stride+(2*x+1)*w/(2*dx)]
			}
		}
		c.DrawImage(c.Rectangle, large)
	}
}

// fewer returns n divided by the smallest whole number such that the result fits.
func fewer(n, room int) int {
	k := (n + max(room, 1) - 1) / max(room, 1)
	return (n + k - 1) / k
}
