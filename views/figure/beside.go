package figure

import (
	"context"
	"math"

	"gonum.org/v1/plot/vg"
)

// Panel is the place of a picture within a larger one; nil if it stands alone.
type Panel struct {
	width, height int      // of the whole, CSS pixels
	at            vg.Point // of the part's lower left corner, in units
}

// Beside combines two pictures into one of a size in CSS pixels: the first gets a fraction of the
// width, at the left, or of the height, at the top; a second one at the right is about square. Each
// is drawn for its given size and panel. Draggable handles are on the first. If there is no room
// for text, only the first is drawn.
func Beside(width, height int, share float64, below bool, first, second func(width, height int, at *Panel) (*Picture, error)) (*Picture, error) {
	width, height = defaultSize(width, height)
	if (&sheet{width: width, height: height}).bare() {
		return first(width, height, nil)
	}
	k := zoom(width, height)
	w1, h1, w2, h2 := int(math.Round(share*float64(width))), height, width, height
	one, two := &Panel{width: width, height: height}, &Panel{width: width, height: height}
	where := " Beside it: "
	if w2 = width - w1; below {
		where = " Below it: "
		w1, h1, w2 = width, int(math.Round(share*float64(height))), width
		h2 = height - h1
		one.at.Y = vg.Length(float64(h2) / k)
	} else {
		h2 = min(height, w2*11/10)
		two.at = vg.Point{X: vg.Length(float64(w1) / k), Y: vg.Length(float64(height-h2) / k)}
	}
	p, err := first(w1, h1, one)
	if err != nil {
		return nil, err
	}
	q, err := second(w2, h2, two)
	if err != nil {
		return nil, err
	}
	draw := p.draw
	p.Width, p.Height, p.Caption = width, height, p.Caption+where+q.Caption
	p.draw = func(ctx context.Context, c vg.Canvas) {
		draw(ctx, c)
		q.draw(ctx, c)
	}
	return p, nil
}
