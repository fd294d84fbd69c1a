package figure

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Limits are the data coordinates of a picture's edges.
type Limits struct {
	XMin float64 `json:"x_min"`
	XMax float64 `json:"x_max"`
	YMin float64 `json:"y_min"`
	YMax float64 `json:"y_max"`
}

// LimitsOf returns limits of the points as the view shows them, plus 8 % of their extent on every
// side. They are never empty: a single point, or points that share a coordinate, get extra room,
// and without points they are -1 to 1.
func LimitsOf(points []ml.Point, v dataset.View) Limits {
	b := newBounds()
	for _, p := range points {
		b.add(v.Point(p.X))
	}
	return b.limits()
}

// Union returns limits that include both; the zero value adds nothing.
func (l Limits) Union(m Limits) Limits {
	switch {
	case l == Limits{}:
		return m
	case m == Limits{}:
		return l
	}
	return Limits{math.Min(l.XMin, m.XMin), math.Max(l.XMax, m.XMax), math.Min(l.YMin, m.YMin), math.Max(l.YMax, m.YMax)}
}

// valid reports whether a picture can be drawn within l.
func (l Limits) valid() bool {
	return spread(l.XMin, l.XMax) && spread(l.YMin, l.YMax)
}

// spread reports whether an axis from lo to hi has room for many distinct numbers.
func spread(lo, hi float64) bool {
	d := hi - lo
	return d > 0 && !math.IsInf(d, 0) && d > 1e-12*math.Max(math.Abs(lo), math.Abs(hi))
}

// bounds holds the extremes of the points added so far.
type bounds struct{ x, y [2]float64 }

func newBounds() *bounds {
	none := [2]float64{math.Inf(1), math.Inf(-1)}
	return &bounds{none, none}
}

func (b *bounds) add(s, t float64) {
	b.x[0], b.x[1] = math.Min(b.x[0], s), math.Max(b.x[1], s)
	b.y[0], b.y[1] = math.Min(b.y[0], t), math.Max(b.y[1], t)
}

func (b *bounds) limits() Limits {
	var l Limits
	l.XMin, l.XMax = pad(b.x[0], b.x[1])
	l.YMin, l.YMax = pad(b.y[0], b.y[1])
	return l
}

// pad widens an interval by 8 % on each side, by more if it is nearly a point.
func pad(lo, hi float64) (float64, float64) {
	const huge = 1e300 // leaves room for hi - lo
	lo, hi = math.Max(lo, -huge), math.Min(hi, huge)
	if !(lo <= hi) { // no points, or NaN
		return -1, 1
	}
	room := 0.08 * (hi - lo)
	if size := math.Max(math.Abs(lo), math.Abs(hi)); hi-lo <= 1e-9*size {
		room = 0.1 * size
	}
	if room < 1e-300 {
		room = 1
	}
	return lo - room, hi + room
}

// tick is a mark on an axis; ticks without a label are shorter.
type tick struct {
	value float64
	label string
}

// length returns the length of the tick mark.
func (t tick) length() vg.Length {
	return lists.Either[vg.Length](t.label == "", 3, 5)
}

// Tick is a labelled position on an axis.
type Tick struct {
	Value float64
	Label string
}

// Ticks returns about n round values from lo to hi with distinct labels; on a logarithmic axis
// powers of ten, if there are some.
func Ticks(lo, hi float64, n int, log bool) (labelled []Tick) {
	all := ticks
	if log {
		lo, hi, all = math.Log10(lo), math.Log10(hi), logTicks
	}
	for _, t := range all(lo, hi, n) {
		if t.label == "" {
			continue
		}
		if log {
			t.value = math.Pow(10, t.value)
		}
		labelled = append(labelled, Tick{t.value, t.label})
	}
	return labelled
}

// ticks returns about n round values from lo to hi, rarely more, with distinct labels.
func ticks(lo, hi float64, n int) []tick {
	raw := (hi - lo) / float64(max(n, 1))
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * mag
	for _, m := range []float64{1, 2, 5} {
		if m*mag >= 0.8*raw {
			step = m * mag
			break
		}
	}
	var ts []tick
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	for k := first; k <= last && len(ts) < 2*n+4; k++ {
		v := k * step
		ts = append(ts, tick{v, number(v, step)})
	}
	if len(ts) == 1 && n > 1 && n < 8 { // one tick shows no scale
		return ticks(lo, hi, n+1)
	}
	return ts
}

// logTicks returns ticks of an axis of log10 values: powers of ten and their multiples, or round
// values if fewer than two powers are in view. The tick values are logarithms, the labels the
// original values.
func logTicks(lo, hi float64, n int) (ts []tick) {
	if hi-lo < 1.3 {
		for _, t := range ticks(math.Pow(10, lo), math.Pow(10, hi), n) {
			if v := math.Log10(t.value); v >= lo-1e-9 && v <= hi+1e-9 {
				ts = append(ts, tick{v, t.label})
			}
		}
		if len(ts) > 0 {
			return ts
		}
	}
	step := math.Max(1, math.Ceil((hi-lo)/float64(max(n, 1))-0.5))
	first, last := math.Floor(lo/step)*step, math.Floor(hi+1e-9)
	for e := first; e <= last; e += step {
		if v := math.Pow(10, e); e >= lo-1e-9 {
			ts = append(ts, tick{e, end(v, v)})
		}
		for m := 2.0; m < 10 && step == 1 && hi-lo < 8; m++ {
			if v := e + math.Log10(m); v > lo && v < hi {
				ts = append(ts, tick{v, ""})
			}
		}
	}
	return ts
}

// number formats v with enough digits to differ from v + step.
func number(v, step float64) string {
	size := math.Max(math.Abs(v), step)
	var s string
	if size >= 1e6 || step < 1e-5 {
		digits := int(math.Ceil(math.Log10(size/step)-1e-9)) + 1
		s = strconv.FormatFloat(v, 'g', min(max(digits, 1), 15), 64)
	} else {
		s = strconv.FormatFloat(v, 'f', max(0, int(-math.Floor(math.Log10(step)+1e-9))), 64)
	}
	if mantissa, _, _ := strings.Cut(s, "e"); strings.Trim(mantissa, "-0.") == "" {
		return "0"
	}
	return param.Typeset(s)
}
