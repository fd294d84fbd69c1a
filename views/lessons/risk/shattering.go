package risk

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// squares lists labellings of the corners of a square.
var squares = []string{"++−−", "+−−+", "+−−−", "+−+−"}

// corners holds the initial points to shatter: four corners and one inside.
var corners = [][2]float64{{-2, -1}, {2, -1}, {0, 2}, {0, -2}, {0.5, 0.25}}

// snap is the grid of the points, so that three can be made collinear by hand.
const snap = 0.25

// labellings computes the labellings of some points realised by a family of functions.
func labellings(family string, places [][2]float64) (theory.Shattering, kernel.Kernel, *mat.Dense) {
	x := lessons.Toy{XY: places}.Matrix()
	k := kernel.Kernel{Name: "linear"}
	switch family {
	case "quadratic":
		k = kernel.Polynomial(1, 1, 2)
	case "rbf":
		k = kernel.RBF(1)
	default:
		return lessons.Must(theory.ShatterLines(places)), k, x
	}
	return lessons.Must(theory.ShatterKernel(theory.Gram(kernel.NewGram(k, x)))), k, x
}

func showShattering(_ context.Context, in lessons.Input) *lessons.Exhibit {
	n, family := number.Of(in), family.Of(in)
	places := spots[:n].Of(in)
	for i, p := range places {
		places[i] = [2]float64{snap * math.Round(p[0]/snap), snap * math.Round(p[1]/snap)}
	}
	e := &lessons.Exhibit{Handles: spots.Handles(places)}
	s, k, x := labellings(family, places)
	e.Steps = len(s.Dichotomies)
	e.Step = min(in.Step, e.Steps-1)
	d := labelling(s, e.Step)
	done := len(lists.Where(e.Step+1, func(k int) bool { return labelling(s, k).Realisable }))
	marks := judged(d, places)
	if d.Realisable && family != "lines" {
		sum := kernel.NewSum(k, x, d.W)
		f := func(x, y float64) float64 { return sum.At([]float64{x, y}) + d.B }
		marks = []figure.Mark{
			figure.Region{F: func(x, y float64) float64 { return -f(x, y) }, Color: figure.ClassColor(0), Name: "f < 0"},
			figure.Region{F: f, Color: figure.ClassColor(1), Name: "f ≥ 0"},
			figure.Contours{F: f, Levels: []float64{0}, Pen: figure.Pen{Dash: figure.LongDash}, Plain: true, Name: "f = 0"},
		}
	}
	e.Figures = []lessons.Figure{lessons.Plane("shattering", "One labelling at a time. ~Drag the points (they keep to a grid); Step or Run to see all labellings.~", placeLimits, 2, marks, numbered(places, d.Labels, false))}
	e.Notes = []string{shatterNote(d, family)}
	e.Numbers = []lessons.Number{
		{Label: "realised so far", After: n > 3, Value: fmt.Sprintf("%d of %d", done, e.Step+1)},
		{Label: "realised in all", After: true, Value: fmt.Sprintf("%d of %d", s.Realisable, e.Steps), Help: lists.Either(s.Shattered(), "every labelling: these points are shattered", "not every labelling: these points are not shattered")},
		{Label: "rank", Value: strconv.Itoa(s.Rank), Help: fmt.Sprintf("independent directions of $(\\phi(\\mathbf x), 1)$; shattered exactly when it is %d, the number of points", n)},
	}
	t := lessons.Table{Caption: "The first points, one more in each row", Head: []string{"points", "labellings", "realised"}, Marked: []int{n - 1}}
	if family == "lines" {
		t.Head = append(t.Head, "Cover's count")
		if n > 2 && !theory.GeneralPosition(places) {
			t.Caption += " (two coincide or three lie on one line: Cover's count is for general position)"
		}
	}
	for size := 1; size <= n; size++ {
		part, _, _ := labellings(family, places[:size])
		row := []string{strconv.Itoa(size), strconv.Itoa(len(part.Dichotomies)), strconv.Itoa(part.Realisable)}
		if family == "lines" {
			row = append(row, views.Short(theory.CoverCount(size, 2)))
		}
		t.Rows = append(t.Rows, row)
	}
	t.After = true
	e.Tables = []lessons.Table{t}
	return e
}

var placeLimits = figure.Limits{XMin: -3.4, XMax: 3.4, YMin: -2.6, YMax: 2.6}

// judged draws the line of a labelling, or shows why there is none.
func judged(d theory.Dichotomy, places [][2]float64) (marks []figure.Mark) {
	if d.Realisable {
		return lessons.Sides([2]float64{d.W[0], d.W[1]}, d.B)
	}
	for i := range places {
		for j := range i {
			if d.Labels[i] == d.Labels[j] {
				marks = append(marks, figure.Segment{From: places[j], To: places[i], Pen: figure.Pen{Color: figure.ClassColor(lessons.Class(d.Labels[i]))}})
			}
		}
	}
	if d.Common != nil {
		marks = append(marks, figure.Dot{At: [2]float64{d.Common[0], d.Common[1]}, Class: -1, Ring: true, Label: "in both hulls"})
	}
	return marks
}

// game returns the labellings of the first three corners, then of four, to be judged one by one:
// one of each pair of opposites, which have the same line, and none with equal labels.
func game() (rounds []theory.Dichotomy) {
	for n := 3; n <= 4; n++ {
		s := lessons.Must(theory.ShatterLines(corners[:n]))
		rounds = append(rounds, s.Dichotomies[1:len(s.Dichotomies)/2]...)
	}
	return rounds
}

func showShatter(_ context.Context, in lessons.Input) *lessons.Exhibit {
	rounds := game()
	said, done, right, verdict := "", 0, 0, ""
	for _, c := range calls.Of(in) {
		switch {
		case c == '.' && done > 0 && !strings.HasSuffix(said, "."):
		case (c == 'y' || c == 'n') && done < len(rounds):
			verdict = "Wrong. "
			if (c == 'y') == rounds[done].Realisable {
				right++
				verdict = "Right. "
			}
			done++
		default:
			continue // not valid
		}
		said += string(c)
	}
	at, asking := done, done == 0 || strings.HasSuffix(said, ".") && done < len(rounds)
	if !asking {
		at--
	}
	d := rounds[at]
	places := corners[:len(d.Labels)]
	e := &lessons.Exhibit{Notes: []string{fmt.Sprintf("%s%s Score: %d of %d.", verdict, shatterNote(d, "lines"), right, done)}}
	marks := judged(d, places)
	switch {
	case asking:
		marks = nil
		e.Notes = []string{fmt.Sprintf("%d points, labelling %d of %d. Is there a line with one class on each side?", len(places), at+1, len(rounds))}
		e.Moves = []lessons.Move{{Label: "A line does it", Control: calls, Value: said + "y"}, {Label: "No line does", Control: calls, Value: said + "n"}}
	case done < len(rounds):
		e.Moves = []lessons.Move{{Label: "Next labelling", Control: calls, Value: said + "."}}
	default:
		e.Moves = []lessons.Move{{Label: "Play again", Control: calls}}
	}
	e.Figures = []lessons.Figure{lessons.Plane("shatter", "Call it before the line is drawn. The opposite labelling has the same line.", placeLimits, 2, marks, numbered(places, d.Labels, true))}
	return e
}

// beyondLines finds the option that no line realises, for the corners of a square.
func beyondLines(context.Context) float64 {
	s := lessons.Must(theory.ShatterLines([][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}}))
	beyond := slices.IndexFunc(s.Dichotomies, func(d theory.Dichotomy) bool { return !d.Realisable && d.Labels[0] > 0 })
	return float64(slices.Index(squares, signs(s.Dichotomies[beyond])))
}

// labelling returns the labelling of a step: those with both classes first, as equal labels are
// not interesting.
func labelling(s theory.Shattering, step int) theory.Dichotomy {
	return s.Dichotomies[(step+1)%len(s.Dichotomies)]
}

// signs returns the labels in the order of the points.
func signs(d theory.Dichotomy) (signs string) {
	for _, y := range d.Labels {
		signs += lists.Either(y > 0, "+", "−")
	}
	return signs
}

// numbered draws the points of a labelling with their numbers; for points with handles large is
// false.
func numbered(places [][2]float64, labels []float64, large bool) (marks []figure.Mark) {
	for _, y := range []float64{-1, 1} { // fixed order of the legend
		for i, p := range places {
			if labels[i] == y {
				marks = append(marks, figure.Dot{At: p, Class: lessons.Class(y), Large: large, Name: lessons.ClassName(y)})
			}
		}
	}
	var middle [2]float64
	for _, p := range places {
		middle[0] += p[0] / float64(len(places))
		middle[1] += p[1] / float64(len(places))
	}
	for i, p := range places { // beside the handle, away from the others
		out := [2]float64{p[0] - middle[0], p[1] - middle[1]}
		if n := lessons.Norm(out); n > 1e-9 {
			out = [2]float64{0.55 * out[0] / n, 0.55 * out[1] / n}
		} else {
			out = [2]float64{0.4, 0.4}
		}
		marks = append(marks, figure.Text{At: [2]float64{p[0] + out[0], p[1] + out[1]}, Text: strconv.Itoa(i + 1)})
	}
	return marks
}

// shatterNote describes a labelling and why it is or is not realisable.
func shatterNote(d theory.Dichotomy, family string) string {
	head := "Labelling " + signs(d) + ". "
	switch {
	case d.Realisable && math.IsInf(d.Margin, 1):
		return head + "All alike: a function with no point on its other side does it."
	case d.Realisable && family == "lines":
		return head + "Realised; this is the line with the widest margin."
	case d.Realisable:
		return head + "Realised; the curve has the widest margin in feature space."
	case d.Common != nil:
		return head + "Not realised: the ringed place lies between points of one class and between points of the other, so a line would have to have it on both sides."
	}
	return head + "Not realised: in feature space the hulls of the two classes meet."
}
