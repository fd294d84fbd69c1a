package figure

import (
	"context"
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"rsc.io/qr"
)

// Pixels per module of a QR code (ISO/IEC 18004), and empty modules around it.
const qrModule, qrQuiet = 8, 4

// QR draws a text of at most some hundred characters, such as a URL, as a QR code that can be read
// with 15 % of it covered. It is black on white in any theme, as cameras expect.
func QR(text, caption string) (*Picture, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("QR code of %d characters: %w", len(text), err)
	}
	side := code.Size + 2*qrQuiet
	return &Picture{
		Width: side * qrModule, Height: side * qrModule, Caption: caption, zoom: qrModule, paper: color.White,
		draw: func(_ context.Context, c vg.Canvas) {
			var p vg.Path // a single path, so that there are no seams
			for y := range code.Size {
				for x := 0; x < code.Size; x++ {
					from := x
					for code.Black(x, y) { // false outside
						x++
					}
					if x == from {
						continue
					}
					left, right := vg.Length(qrQuiet+from), vg.Length(qrQuiet+x)
					top := vg.Length(side - qrQuiet - y)
					p = polygon(p, vg.Point{X: left, Y: top}, vg.Point{X: right, Y: top}, vg.Point{X: right, Y: top - 1}, vg.Point{X: left, Y: top - 1})
				}
			}
			c.SetColor(color.Black)
			c.Fill(p)
		},
	}, nil
}
