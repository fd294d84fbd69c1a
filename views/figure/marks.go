package figure

import (
	"cmp"
	"context"
	"fmt"
	"image/color"
	"iter"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/lists"
)

// radius returns the radius of a marker: large for few points in a large frame.
func (s *Scene) radius() vg.Length {
	k := zoom(s.Width, s.Height)
	area, side := float64(s.Width*s.Height)/(k*k), float64(min(s.Width, s.Height))/k
	most := 5 * math.Max(1, math.Sqrt(side/520))
	least := math.Min(1.9, side/80)
	r := 0.12 * math.Sqrt(area/float64(max(1, len(s.Points))))
	return vg.Length(math.Min(most*math.Min(1, 0.4+side/500), math.Max(least, r)))
}

// marks draws the points with all their attributes.
type marks struct {
	*Scene
	theme   *Theme
	surface *surface // for drawing slack; nil: not drawn
	rings   bool
	cores   bool
	radius  vg.Length
}

func (ps marks) draw(c *draw.Canvas, m mapping) {
	index := make(map[string]int, len(ps.Classes))
	for i, name := range ps.Classes {
		index[name] = i
	}
	var shown []placed
	for _, i := range ps.Drawn() {
		q := &ps.Points[i]
		class, ok := index[q.Label]
		if !ok {
			class = len(ps.Classes) // not among Classes
		}
		at := m.at(ps.View.Point(q.X))
		if c.Contains(at) && !ps.hidesPoint(*q, class) {
			shown = append(shown, placed{q, at, class})
		}
	}
	if ps.surface != nil {
		ps.slack(c, until(m.ctx, shown))
	}
	for q := range until(m.ctx, shown) { // below all markers, so that the true class stays visible
		if ps.rings && q.Wrong && !ps.hides("wrong") {
			cross(c, q.at, ps.radius, ps.theme.Ink)
		}
	}
	for q := range until(m.ctx, shown) {
		clr := q.class
		if ps.sides() {
			clr = ps.side(q.Y)
		}
		marker{ps.number(q.class), ps.theme.class(clr), ps.theme.Paper, q.HeldOut}.draw(c, q.at, ps.radius)
	}
	heaviest := ps.thin().heaviest
	for q := range until(m.ctx, shown) { // above all markers
		if ps.rings && q.Role != ml.None && q.Role != ml.Weighted && !ps.hides(string(q.Role)) { // rings around all points would mean nothing
			ring(c, ps.theme, q.Role, q.at, ps.radius, math.Abs(q.Weight)/heaviest)
		}
	}
	for q := range until(m.ctx, shown) {
		if ps.cores && q.Core && !ps.hides("cores") {
			core(c, q.at, ps.radius, ps.theme.Ink, ps.theme.Paper)
		}
	}
}

// placed is a point with its position on the canvas.
type placed struct {
	*ml.Point
	at    vg.Point
	class int // index of its class; the number of classes if it has none of them
}

// until yields the points until ctx is done.
func until(ctx context.Context, points []placed) iter.Seq[placed] {
	const block = 256 // points between checks of ctx
	return func(yield func(placed) bool) {
		for i, q := range points {
			if i%block == 0 && ctx.Err() != nil || !yield(q) {
				return
			}
		}
	}
}

// ring marks a support vector; share is its weight over the largest.
func ring(c *draw.Canvas, t *Theme, role ml.Role, at vg.Point, r vg.Length, share float64) {
	if _, moves := c.Canvas.(*listCanvas); moves {
		share = math.Round(8*share) / 8 // few distinct stamps
	}
	style := draw.LineStyle{Color: t.Ink, Width: max(0.8, r*0.3)}
	r = r*(1.5+0.7*vg.Length(share)) + 0.6
	outline := circle
	switch role {
	case ml.Inside:
		style.Width *= 0.75
		style.Dashes = []vg.Length{2.5, 2}
	case ml.Misclassified:
		style.Width *= 0.8
		r *= 0.92
		outline = box
	}
	type key struct {
		role     ml.Role
		r, width vg.Length
		ink      color.NRGBA
	}
	stamp(c, at, square(r+style.Width), key{role, r, style.Width, t.Ink}, func(c *draw.Canvas, at vg.Point) {
		stroke(c, style, outline(at, r))
	})
}

// slack draws the slack of training points as the path to their own margin: along the gradient of f
// if the picture shows the input space, otherwise as a vertical bar of 12 pixels per unit.
func (ps marks) slack(c *draw.Canvas, shown iter.Seq[placed]) {
	size := c.Size()
	n := vg.Length(ps.surface.n)
	var p vg.Path
	for q := range shown {
		if q.HeldOut || !(q.Slack > 1e-6) {
			continue
		}
		p.Move(q.at)
		if !ps.View.Exact {
			p.Line(vg.Point{X: q.at.X, Y: min(q.at.Y+12*vg.Length(q.Slack), c.Max.Y)})
			continue
		}
		x, y := ps.surface.grid(ps.View.Point(q.X))
		for k, w := range ps.surface.climb(x, y, q.Y, float64(size.Y/size.X)) {
			if k > 0 {
				p.Line(vg.Point{X: c.Min.X + vg.Length(w[0])/n*size.X, Y: c.Min.Y + vg.Length(w[1])/n*size.Y})
			}
		}
	}
	if len(p) > 0 {
		stroke(c, ps.slackStyle(), p)
	}
}

func (ps marks) slackStyle() draw.LineStyle {
	return draw.LineStyle{Color: ps.theme.Muted, Width: 1.2}
}

// entries returns the legend entries of the points' attributes other than class.
func (ps marks) entries() (es []entry) {
	t := ps.theme
	count := map[ml.Role]int{}
	var wrong, held, cores int
	for _, q := range ps.Points {
		count[q.Role]++
		wrong += btoi(q.Wrong)
		held += btoi(q.HeldOut)
		cores += btoi(q.Core)
	}
	dot := func(c *draw.Canvas, at vg.Point) {
		c.SetColor(t.Muted)
		c.Fill(circle(at, 2.5))
	}
	if ps.rings {
		for _, r := range []struct {
			role ml.Role
			name string
		}{{ml.Free, "SV on margin"}, {ml.Inside, "SV inside margin"}, {ml.Misclassified, "SV misclassified"}, {ml.Support, "support vector"}} {
			if n := count[r.role]; n > 0 {
				es = append(es, entry{fmt.Sprintf("%s (%d)", r.name, n), func(c *draw.Canvas, at vg.Point) {
					dot(c, at)
					ring(c, t, r.role, at, 3.6, 0.6)
				}})
			}
		}
		if wrong > 0 {
			what := lists.Either(ps.sides(), "wrong side", "misclassified")
			es = append(es, entry{fmt.Sprintf("%s (%d)", what, wrong), func(c *draw.Canvas, at vg.Point) {
				cross(c, at, 3.6, t.Ink)
				marker{0, t.Muted, t.Paper, false}.draw(c, at, 3.6)
			}})
		}
	}
	if held > 0 {
		name := cmp.Or(ps.Hollow, fmt.Sprintf("held out (%d)", held))
		es = append(es, entry{name, func(c *draw.Canvas, at vg.Point) {
			marker{0, t.Muted, t.Paper, true}.draw(c, at, 4.5)
		}})
	}
	if ps.surface != nil {
		es = append(es, entry{"slack", line(ps.slackStyle())})
	}
	if ps.cores && cores > 0 {
		es = append(es, entry{fmt.Sprintf("core (%d)", cores), func(c *draw.Canvas, at vg.Point) { core(c, at, 5, t.Ink, t.Paper) }})
	}
	return es
}
