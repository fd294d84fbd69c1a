package figure

import (
	"math"

	"marginlab/ml"
	"marginlab/ml/lists"
)

// Part is a named mark of a picture that pages can point out.
type Part struct {
	Names []string     `json:"names"`
	Line  [][2]float64 `json:"line"` // in data coordinates; a single point for a dot
}

// Parts returns the named marks of the picture, if known.
func (p *Picture) Parts() []Part {
	if p.parts == nil {
		return nil
	}
	return p.parts()
}

// longest is the maximum number of points in a line of a Part.
const longest = 80

// called returns the part with the name or label.
func called(name, label string, line ...[2]float64) (parts []Part) {
	p := Part{}
	p.Names = lists.Filter([]string{name, label}, func(n string) bool { return n != "" })
	if len(p.Names) == 0 || len(line) == 0 {
		return nil
	}
	every := (len(line) + longest - 1) / longest
	for i, at := range line {
		if !finite(at[:]...) {
			continue
		}
		if i%every == 0 || i == len(line)-1 {
			p.Line = append(p.Line, [2]float64{brief(at[0]), brief(at[1])})
		}
	}
	if len(p.Line) == 0 {
		return nil
	}
	return []Part{p}
}

// brief rounds v to four digits.
func brief(v float64) float64 {
	if v == 0 {
		return 0
	}
	k := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*k) / k
}

func (Region) parts(Limits) []Part    { return nil }
func (Contours) parts(Limits) []Part  { return nil }
func (Text) parts(Limits) []Part      { return nil }
func (k Segment) parts(Limits) []Part { return called(k.Name, k.Label, k.From, k.To) }
func (k Arrow) parts(Limits) []Part   { return called(k.Name, k.Label, k.From, k.To) }
func (k Path) parts(Limits) []Part    { return called(k.Name, "", k.Points...) }

// parts returns the point as a part, without a name if it is an unmarked one of a class.
func (k Dot) parts(Limits) []Part {
	if k.Class >= 0 && !k.Ring {
		return called("", k.Label, k.At)
	}
	return called(k.Name, k.Label, k.At)
}

func (k Line) parts(l Limits) []Part {
	w := math.Hypot(k.A[0], k.A[1])
	foot := [2]float64{k.A[0] * k.C / w / w, k.A[1] * k.C / w / w}
	far := 10 * (l.XMax - l.XMin + l.YMax - l.YMin + math.Abs(foot[0]) + math.Abs(foot[1])) / w
	return called(k.Name, k.Label, [2]float64{foot[0] - far*k.A[1], foot[1] + far*k.A[0]}, [2]float64{foot[0] + far*k.A[1], foot[1] - far*k.A[0]})
}

func (k Circle) parts(Limits) []Part {
	var round [][2]float64
	for i := range 49 {
		sin, cos := math.Sincos(float64(i) / 24 * math.Pi)
		round = append(round, [2]float64{k.Center[0] + k.Radius*cos, k.Center[1] + k.Radius*sin})
	}
	return called(k.Name, "", round...)
}

// parts returns the curves and rules of a chart.
func (ch *Chart) parts(l Limits) (parts []Part) {
	for _, cu := range ch.Curves {
		line := lists.Make(len(cu.X), func(i int) [2]float64 { return [2]float64{cu.X[i], cu.Y[i]} })
		parts = append(parts, called(cu.Name, "", line...)...)
	}
	for _, r := range ch.Rules {
		back := func(v float64, log bool) float64 {
			if log {
				return math.Pow(10, v)
			}
			return v
		}
		line := [][2]float64{{back(l.XMin, ch.X.Log), r.At}, {back(l.XMax, ch.X.Log), r.At}}
		if r.Upright {
			line = [][2]float64{{r.At, back(l.YMin, ch.Y.Log)}, {r.At, back(l.YMax, ch.Y.Log)}}
		}
		parts = append(parts, called(r.Name, "", line...)...)
	}
	return parts
}

// parts returns the level line within limits.
func (l level) parts(name string, within Limits) (parts []Part) {
	for _, line := range l.lines {
		var places [][2]float64
		for _, q := range line {
			places = append(places, [2]float64{
				within.XMin + float64(q[0])/float64(l.n)*(within.XMax-within.XMin),
				within.YMin + float64(q[1])/float64(l.n)*(within.YMax-within.YMin),
			})
		}
		parts = append(parts, called(name, "", places...)...)
	}
	return parts
}

// kind describes the kind of a support vector; those at the bound may be inside the margin or
// misclassified.
func kind(r ml.Role) string {
	switch r {
	case ml.Free:
		return "free"
	case ml.Inside, ml.Misclassified:
		return "bounded"
	}
	return ""
}

func (s *Scene) supports() (parts []Part) {
	for _, p := range s.Points {
		if p.Weight == 0 || len(parts) == longest {
			continue
		}
		x, y := s.View.Point(p.X)
		parts = append(parts, called("support vector", kind(p.Role), [2]float64{x, y})...)
	}
	return parts
}
