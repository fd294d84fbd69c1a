package figure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/study"
)

// Ranks draws a critical-difference diagram: mean ranks over several data sets on an axis, the best
// on the left, with thick bars joining ranks that do not differ significantly. (Demšar:
// "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, figure 1, which
// has the best on the right.)
type Ranks struct {
	Format
	Name  string // may be empty
	Title string
	Names []string  // at least two
	Ranks []float64 // mean ranks, from 1, the best, to the number of names
	// Difference is the critical difference of two mean ranks; 0: no bars.
	Difference float64
}

// StudyRanks returns the rank diagrams of a study, titled like its figures. There are none for one
// data set or one learner.
func StudyRanks(r *study.Result, f Format) (pictures []Ranks) {
	for _, of := range []struct {
		name, title string
		study.Comparison
	}{
		{"accuracy", "Mean ranks by accuracy", r.Accuracy},
		{"support-vectors", "Mean ranks by fewest support vectors", r.Vectors},
		{"variance-left", "Mean ranks by least variance left", r.Left},
	} {
		if of.Friedman != nil {
			pictures = append(pictures, Ranks{Format: f, Name: of.name, Title: of.title, Names: r.Learners, Ranks: of.Friedman.Ranks, Difference: of.CriticalDifference})
		}
	}
	return pictures
}

const (
	rankTop  = 46 // from the top of the frame to the axis
	rankBars = 9  // between the bars
	rankSize = 13 // of letters
)

// Picture draws the ranks. The default height is what the names need.
func (r Ranks) Picture() (*Picture, error) {
	k := len(r.Names)
	if k < 2 || len(r.Ranks) != k {
		return nil, fmt.Errorf("ranks: %d names and %d ranks; give as many, two at least", k, len(r.Ranks))
	}
	if slices.ContainsFunc(r.Ranks, func(v float64) bool { return !(v >= 1 && v <= float64(k)) }) || !(r.Difference >= 0) {
		return nil, errors.New("ranks: a mean rank that is not from 1 to the number of names, or a difference below 0; give those of a ranking")
	}
	order := dataset.Indices(k)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(r.Ranks[i], r.Ranks[j]) })
	groups := r.groups(order)
	r.Height = cmp.Or(r.Height, 130+rankTop+rankBars*len(groups)+r.rowHeight()*((k+1)/2))
	sh, err := r.sheet()
	if err != nil {
		return nil, err
	}
	sh.title, sh.caption, sh.bald = r.Title, r.describe(order, groups), [2]bool{true, true}
	sh.limits = Limits{XMin: 1, XMax: float64(k), YMax: 1}
	sh.labels[0] = "mean rank, 1 is the best"
	if r.Difference > 0 {
		sh.note = fmt.Sprintf("Critical difference %.2f; bars: no significant difference", r.Difference)
	}
	sh.add(func(c *draw.Canvas, _ mapping) { r.draw(sh, c, order, groups) })
	return sh.picture(), nil
}

// stacked reports whether the picture is so narrow that a rank is written below its name.
func (r *Ranks) stacked() bool { return r.Width > 0 && r.Width < 400 }

func (r *Ranks) rowHeight() int {
	return lists.Either(r.stacked(), 36, 24)
}

// groups returns the maximal ranges of the order whose ends do not differ significantly.
func (r *Ranks) groups(order []int) (all [][2]int) {
	last := -1
	for from := range order {
		to := from
		for to+1 < len(order) && r.Ranks[order[to+1]]-r.Ranks[order[from]] < r.Difference {
			to++
		}
		if to > from && to > last {
			all = append(all, [2]int{from, to})
			last = to
		}
	}
	return all
}

func (r *Ranks) draw(sh *sheet, c *draw.Canvas, order []int, groups [][2]int) {
	t, k := sh.theme, len(order)
	ink := func(width vg.Length) draw.LineStyle { return draw.LineStyle{Color: t.Ink, Width: width} }
	line := func(style draw.LineStyle, ps ...vg.Point) {
		stroke(c, style, clipped(c.Rectangle, ps))
	}
	wide, half := c.Size().X, (k+1)/2
	names := make([][]string, k) // lines
	lengths := make([]vg.Length, k)
	var room vg.Length = 16 // on either side of the axis: no name reaches below its rank
	if !sh.bare() {
		for a, i := range order {
			rank := fmt.Sprintf("%.2f", r.Ranks[i])
			if r.stacked() {
				names[a] = twoLines(r.Names[i], rank, 0.3*wide)
			} else {
				names[a] = []string{clip(r.Names[i], rankSize, 0.32*wide-width("  "+rank, rankSize)) + "  " + rank}
			}
			for _, l := range names[a] {
				lengths[a] = max(lengths[a], width(l, rankSize))
			}
			share := vg.Length((r.Ranks[i] - 1) / float64(k-1)) // of the axis on the side of the name
			if a >= half {
				share = 1 - share
			}
			if share < 0.5 {
				room = max(room, (lengths[a]+24-share*wide)/(1-2*share))
			}
		}
	}
	left, long := c.Min.X+room, wide-2*room
	axis := lists.Either(sh.bare(), c.Max.Y-14, c.Max.Y-rankTop)
	x := func(rank float64) vg.Length { return left + long*vg.Length((rank-1)/float64(k-1)) }
	line(ink(1), vg.Point{X: left, Y: axis}, vg.Point{X: left + long, Y: axis})
	for n := 1; n <= k; n++ {
		at := x(float64(n))
		line(ink(1), vg.Point{X: at, Y: axis}, vg.Point{X: at, Y: axis + 6})
		if label := fmt.Sprint(n); !sh.bare() {
			text(c, t.Muted, fontSize, false, vg.Point{X: at - width(label, fontSize)/2, Y: axis + 9}, label)
		}
	}
	if !sh.bare() && r.Difference > 0 {
		y, to := c.Max.Y-12, min(x(1+r.Difference), left+long)
		line(ink(1.5), vg.Point{X: left, Y: y}, vg.Point{X: to, Y: y})
		for _, at := range []vg.Length{left, to} {
			line(ink(1.5), vg.Point{X: at, Y: y - 4}, vg.Point{X: at, Y: y + 4})
		}
	}
	for a, g := range groups {
		y := axis - rankBars*vg.Length(a+1)
		line(draw.LineStyle{Color: t.color(Orange), Width: 4}, vg.Point{X: x(r.Ranks[order[g[0]]]) - 3, Y: y}, vg.Point{X: x(r.Ranks[order[g[1]]]) + 3, Y: y})
	}
	top := axis - rankBars*vg.Length(len(groups)+1)
	step := (top - c.Min.Y - 8) / vg.Length(half)
	for a, i := range order {
		row, at := a, x(r.Ranks[i])
		if a >= half {
			row = k - 1 - a
		}
		y := top - step*(vg.Length(row)+0.5)
		from := c.Min.X + 8
		end := from + lengths[a] + 6
		if a >= half {
			from = c.Max.X - 8 - lengths[a]
			end = from - 6
		}
		line(ink(1), vg.Point{X: at, Y: axis}, vg.Point{X: at, Y: y}, vg.Point{X: end, Y: y})
		for l, s := range names[a] {
			text(c, t.Ink, rankSize, false, vg.Point{X: from, Y: y - 4.5 + 7.5*vg.Length(len(names[a])-1-2*l)}, s)
		}
	}
}

// twoLines breaks a name and its rank between words, as late as room allows. A name that does not
// fit so is clipped.
func twoLines(name, rank string, room vg.Length) []string {
	words := strings.Fields(name)
	for n := len(words); n > 0; n-- {
		first, second := strings.Join(words[:n], " "), strings.Join(append(words[n:], rank), " ")
		if max(width(first, rankSize), width(second, rankSize)) <= room {
			return []string{first, second}
		}
	}
	return []string{clip(name, rankSize, room), rank}
}

func (r *Ranks) describe(order []int, groups [][2]int) string {
	name := func(a int) string { return fmt.Sprintf("%s %.2f", r.Names[order[a]], r.Ranks[order[a]]) }
	var b strings.Builder
	b.WriteString("Mean ranks, 1 is the best: ")
	for a := range order {
		if a > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name(a))
	}
	b.WriteString(".")
	if r.Difference > 0 {
		fmt.Fprintf(&b, " The critical difference is %.2f.", math.Round(100*r.Difference)/100)
	}
	for _, g := range groups {
		fmt.Fprintf(&b, " No significant difference: %s to %s.", r.Names[order[g[0]]], r.Names[order[g[1]]])
	}
	return b.String()
}
