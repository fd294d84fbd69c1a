package figure

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/lists"
)

// mostRegions is the most classes distinguished in a picture, limited by the palette.
const mostRegions = 200

// unknown is the class where scores are NaN.
const unknown = -1

// regions are the areas in which a model of several machines predicts the same class. Scores, not
// classes, are interpolated between the nodes of the grid, so that lines between regions are as
// smooth as those of one machine.
type regions struct {
	*surface
	model *ml.Model
	class []int // at the nodes: indices of the model's classes
}

func newRegions(s *surface, m *ml.Model) *regions {
	r := &regions{s, m, make([]int, len(s.f))}
	scores := make([]float64, len(s.scores))
	for i := range r.class {
		r.class[i] = r.mixed(scores, func(f []float64) float64 { return f[i] })
	}
	return r
}

// mixed returns the class for the scores that of returns for the grid of each machine; scores is a
// buffer for them.
func (r *regions) mixed(scores []float64, of func(f []float64) float64) int {
	for k, f := range r.scores {
		scores[k] = of(f)
		if math.IsNaN(scores[k]) {
			return unknown
		}
	}
	return r.model.Class(scores)
}

// claims returns how many classes claim a point: those whose machine against all others has
// f >= 0, or those with the most votes. It is 1 under other rules, whose answer is never
// ambiguous.
func (r *regions) claims(scores []float64) (n int) {
	if slices.ContainsFunc(scores, math.IsNaN) {
		return 1 // nothing is known
	}
	switch r.model.Rule {
	case ml.OneVsRest:
		for _, f := range scores {
			n += btoi(f >= 0)
		}
		return n
	case ml.OneVsOne:
		votes, _ := ml.Votes(len(r.model.Classes), scores)
		most := slices.Max(votes)
		for _, v := range votes {
			n += btoi(v == most)
		}
		return n
	}
	return 1
}

// hatch paints stripes over the image where not exactly one class claims a point: falling
// where none does, rising where several do.
func (r *regions) hatch(img *image.Paletted, stripe uint8) {
	w, h, n := img.Rect.Dx(), img.Rect.Dy(), r.n
	scores := make([]float64, len(r.scores))
	for j := range h {
		y := (1 - (float64(j)+0.5)/float64(h)) * float64(n)
		k := min(int(y), n-1)
		t := y - float64(k)
		for i := range w {
			rises, falls := (i+j)%8 < 2, (i+h-j)%8 < 2
			if !rises && !falls {
				continue
			}
			x := (float64(i) + 0.5) / float64(w) * float64(n)
			cell := min(int(x), n-1)
			s := x - float64(cell)
			for m, f := range r.scores {
				at := f[k*(n+1)+cell:]
				low, high := at[0]+s*(at[1]-at[0]), at[n+1]+s*(at[n+2]-at[n+1])
				scores[m] = low + t*(high-low)
			}
			if c := r.claims(scores); c == 0 && falls || c > 1 && rises {
				img.Pix[j*img.Stride+i] = stripe
			}
		}
	}
}

// shares returns the shares of the area that no class claims, and that several do, sampled at the
// centres of the cells.
func (r *regions) shares() (none, several float64) {
	scores := make([]float64, len(r.scores))
	for j := range r.n {
		for i := range r.n {
			k := j*(r.n+1) + i
			for m, f := range r.scores {
				scores[m] = (f[k] + f[k+1] + f[k+r.n+1] + f[k+r.n+2]) / 4
			}
			switch r.claims(scores) {
			case 0:
				none++
			case 1:
			default:
				several++
			}
		}
	}
	return none / float64(r.n*r.n), several / float64(r.n*r.n)
}

// paint returns an image of w x h pixels that covers the limits: the index of the class at each
// pixel, none where it is unknown.
func (r *regions) paint(w, h int, p color.Palette, none uint8) *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, w, h), p)
	n := r.n
	index := func(class int) uint8 {
		if class == unknown {
			return none
		}
		return uint8(class)
	}
	scores, ends := make([]float64, len(r.scores)), make([]int, n+1) // along one line of pixels
	for j := range h {
		y := (1 - (float64(j)+0.5)/float64(h)) * float64(n)
		k := min(int(y), n-1)
		t := y - float64(k)
		at := func(f []float64, i int) float64 {
			low, high := f[k*(n+1)+i], f[(k+1)*(n+1)+i]
			return low + t*(high-low)
		}
		for i := range ends {
			ends[i] = r.mixed(scores, func(f []float64) float64 { return at(f, i) })
		}
		for i := range w {
			x := (float64(i) + 0.5) / float64(w) * float64(n)
			cell := min(int(x), n-1)
			class := ends[cell]
			if class != ends[cell+1] {
				share := x - float64(cell)
				class = r.mixed(scores, func(f []float64) float64 {
					a, b := at(f, cell), at(f, cell+1)
					return a + share*(b-a)
				})
			}
			img.Pix[j*img.Stride+i] = index(class)
		}
	}
	return img
}

func (r *regions) borders(t *tracer, style draw.LineStyle) level {
	scores := make([]float64, len(r.scores))
	cut := func(a, b int) float64 { // where on the edge from node a to node b the class of a ends
		lo, hi := 0.0, 1.0
		for range 20 {
			mid := (lo + hi) / 2
			if r.mixed(scores, func(f []float64) float64 { return f[a] + mid*(f[b]-f[a]) }) == r.class[a] {
				lo = mid
			} else {
				hi = mid
			}
		}
		return hi
	}
	middle := func(a, b, c, d int) int {
		return r.mixed(scores, func(f []float64) float64 { return f[a]/4 + f[b]/4 + f[c]/4 + f[d]/4 })
	}
	return level{t.borders(r.class, r.n+1, r.n+1, cut, middle), r.n, style}
}

// regionColors returns the pale colours of the model's classes.
func (s *Scene) regionColors(t *Theme) color.Palette {
	return lists.Map(s.Model.Classes, func(name string) color.Color { return t.region(slices.Index(s.Classes, name)) })
}

// regions completes the picture of a model with several machines.
func (s *Scene) regions(sh *sheet, surf *surface) *Picture {
	t := sh.theme
	r := newRegions(surf, s.Model)
	p := append(s.regionColors(t), t.Paper)
	paper := uint8(len(p) - 1)
	none, several := r.shares()
	if none+several > 0 {
		p = append(p, t.Differ[1])
	}
	if !s.hides("regions") {
		sh.add(field{paint: func(w, h int) *image.Paletted {
			img := r.paint(w, h, p, paper)
			if none+several > 0 {
				r.hatch(img, paper+1)
			}
			return img
		}}.draw)
	}
	borders := r.borders(new(tracer), draw.LineStyle{Color: t.Ink, Width: vg.Length(0.75) * s.stroke()})
	dots := marks{Scene: s, theme: t, rings: true, cores: s.Cores, radius: s.radius()}
	if dots.radius < 2.5 { // markers of a crowd would hide the lines
		sh.add(append([]drawing{dots.draw}, s.visible("boundary", borders)...)...)
	} else {
		sh.add(append(s.visible("boundary", borders), dots.draw)...)
	}
	sh.legend = append(s.classes(t), lineEntry("boundary", borders))
	if s.Layers {
		sh.legend = append(sh.legend, regionsEntry(t, p[0], p[1]))
	}
	tied := lists.Either(s.Model.Rule == ml.OneVsOne, "votes are tied", "several claim it")
	for _, doubt := range []struct {
		share float64
		name  string
		rises bool
	}{{none, "nobody claims it", false}, {several, tied, true}} {
		if doubt.share > 0 {
			name := fmt.Sprintf("%s (%s)", doubt.name, percent(doubt.share))
			sh.legend = append(sh.legend, entry{name, hatch(t, t.Paper, doubt.rises)})
			sh.caption += " Hatched: " + name + "."
		}
	}
	sh.legend = append(sh.legend, dots.entries()...)
	return sh.picture()
}
