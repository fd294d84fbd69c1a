package figure

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// lengths lists the units of Length in CSS pixels.
var lengths = []struct {
	name    string
	pixels  float64
	onPaper bool
}{{"mm", 96 / 25.4, true}, {"cm", 96 / 2.54, true}, {"in", 96, true}, {"pt", 96.0 / 72, true}, {"px", 1, false}, {"", 1, false}}

// Length parses a length such as 84mm, 3.3in, 9pt or 640 (pixels). onPaper reports whether it has a
// unit of length on paper.
func Length(text string) (pixels float64, onPaper bool, err error) {
	for _, l := range lengths {
		number, ok := strings.CutSuffix(text, l.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			break
		}
		return v * l.pixels, l.onPaper, nil
	}
	return 0, false, errors.New("expects a length such as 84mm, 8.4cm, 3.3in, 240pt or 640, not " + strconv.Quote(text))
}

// SizeInPrint returns the layout size and Unit of a picture with the given final width, height and
// font size in pixels. Zero means the default; for the height, the default proportions.
func SizeInPrint(defaultWidth, defaultHeight int, width, height, font float64) (w, h int, unit float64) {
	unit = 1
	if font > 0 {
		unit = font / fontSize
	}
	if height == 0 && width > 0 {
		height = width * float64(defaultHeight) / float64(defaultWidth)
	}
	w, h = defaultWidth, defaultHeight
	if width > 0 {
		w = int(math.Round(width / unit))
		unit = width / float64(w) // exactly as wide as requested
	}
	if height > 0 {
		h = int(math.Round(height / unit))
	}
	return min(max(w, 40), 4000), min(max(h, 40), 4000), unit
}
