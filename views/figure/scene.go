package figure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Drawing is a function that draws a scene, unless ctx ends.
type Drawing func(ctx context.Context, s Scene) (*Picture, error)

// Scene describes a picture of a model or of data. The zero value of every field but Model and View
// is a good default.
type Scene struct {
	Model  *ml.Model
	Points []ml.Point   // from Model.Points; may be empty
	View   dataset.View // over the model's features; without coordinates as from DecisionScene
	// Classes lists the labels in the data set's order, which determines their colours and shapes;
	// nil: the sorted labels of Points.
	Classes []string
	// Numbers are the places of Classes among the classes of another picture, whose colours and
	// shapes they keep; nil: 0, 1 and so on.
	Numbers []int
	// Hollow names held-out points in the legend; the default is "held out" with their number.
	Hollow string
	// Values marks points by their values Y, named Label, instead of classes, for ValueCurve,
	// ValueSurface and ValueFit.
	Values bool
	Label  string
	// Limits are the edges of the picture; the zero value means LimitsOf.
	Limits Limits

	Heat  bool // draw f as a heat map with a colour bar instead of pale regions; for two sides only
	Slack bool // draw the path from points inside the margin or misclassified to their margin; for two sides only
	Cores bool // mark the cores of the conformal map

	// Targets is as in a Spec: points have residuals instead of slack.
	Targets bool

	// Layers allows readers to hide layers of Boundary and Scatter by their legend entries, which
	// then include the regions. Hidden holds the hidden layers, as from LayerNames.
	Layers bool
	Hidden []string

	Machine int // the machine of Model whose factor Conformal draws

	// Lecture describes the picture in the notation of the lessons: classes -1 and 1 are y = −1 and
	// y = +1, and axes x1 and x2 have subscripts.
	Lecture bool

	// Format's LegendRows may be RowsForAll. While it Waits, the picture hides which points are
	// support vectors.
	Format
	// Grid is the number of cells per axis on which f is evaluated, from 8 to 1000; 0 means 160. 80
	// is enough during a drag.
	Grid int

	thinned *thinned // set once the scene is ready
}

// RowsForAll reserves legend rows for all possible marks of a scene.
const RowsForAll = -1

// ready validates the scene and returns it with defaults filled in.
func (s Scene) ready() (Scene, error) {
	if len(s.View.Center) == 0 {
		return s, errors.New("picture: the view is missing; make one with dataset.ColumnView or dataset.PCAView")
	}
	if s.Model != nil && len(s.Model.Features) > 0 && len(s.Model.Features) != len(s.View.Center) && !s.Values {
		return s, fmt.Errorf("picture: the view has %d features and the model %d; make the view from the model's features", len(s.View.Center), len(s.Model.Features))
	}
	for _, p := range s.Points {
		if len(p.X) != len(s.View.Center) {
			return s, fmt.Errorf("picture: row %d has %d features and the view %d; take both from the same model", p.Row, len(p.X), len(s.View.Center))
		}
	}
	s.Width, s.Height = defaultSize(s.Width, s.Height)
	if s.Lecture {
		for k, l := range s.View.Labels {
			s.View.Labels[k] = Below(l)
		}
	}
	if s.Waits {
		s.Points = slices.Clone(s.Points)
		for i := range s.Points {
			s.Points[i].Role = ml.None
		}
	}
	s.Grid = cmp.Or(s.Grid, 160)
	if err := checkSize(s.Width, s.Height); err != nil {
		return s, err
	}
	if s.Grid < 8 || s.Grid > 1000 {
		return s, fmt.Errorf("picture: the grid has %d cells per axis; use 8 to 1000", s.Grid)
	}
	if (s.Limits == Limits{}) {
		s.Limits = LimitsOf(s.Points, s.View)
	}
	if !s.Limits.valid() {
		return s, param.Refuse("give limits that are farther apart", "picture: nothing fits between x %g and %g, y %g and %g", s.Limits.XMin, s.Limits.XMax, s.Limits.YMin, s.Limits.YMax)
	}
	s.thinned = nil
	drawn := s.thin()
	s.thinned = &drawn
	if s.Values {
		if s.LegendRows != 0 {
			s.LegendRows = 2 // values have few marks
		}
		return s, nil
	}
	if s.Classes == nil {
		seen := map[string]bool{}
		for _, p := range s.Points {
			if !seen[p.Label] {
				seen[p.Label] = true
				s.Classes = append(s.Classes, p.Label)
			}
		}
		if s.Model != nil && len(s.Classes) < 2 {
			s.Classes = slices.Clone(s.Model.Classes)
		}
		sort.Strings(s.Classes)
	}
	if s.Model != nil && !s.sides() {
		if n := len(s.Model.Classes); n == 0 || n > mostRegions {
			return s, fmt.Errorf("picture: the model has %d classes; regions are drawn of 2 to %d", n, mostRegions)
		}
		s.Classes = slices.Clone(s.Classes)
		for _, c := range s.Model.Classes { // each has its own colour
			if !slices.Contains(s.Classes, c) {
				s.Classes = append(s.Classes, c)
			}
		}
	}
	return s, nil
}

// onPlane is ready for pictures over coordinates, which the model's objects must have.
func (s Scene) onPlane() (Scene, error) {
	if s.Model != nil && len(s.Model.Features) == 0 {
		return s, errors.New("picture: the model compares objects without coordinates; Decisions draws what there is to see")
	}
	return s.ready()
}

// sides reports whether the model has a single boundary between two sides.
func (s *Scene) sides() bool { return s.Model != nil && s.Model.Rule == ml.Sign }

// Default size of a picture in CSS pixels.
const (
	DefaultWidth  = 640
	DefaultHeight = 520
)

func defaultSize(w, h int) (int, int) {
	return cmp.Or(w, DefaultWidth), cmp.Or(h, DefaultHeight)
}

func checkSize(w, h int) error {
	if min(w, h) < 40 || max(w, h) > 4000 {
		return fmt.Errorf("picture: the size is %d x %d pixels; use 40 to 4000 each way", w, h)
	}
	return nil
}

func (s *Scene) sheet() *sheet {
	t := themeOf(s.Dark, s.Grey)
	if len(s.Numbers) == 2 {
		t = t.of(s.Numbers[0], s.Numbers[1])
	}
	sh, _ := s.Format.sheet() // ready has checked the size
	sh.theme, sh.limits, sh.labels, sh.bald[1] = t, s.Limits, s.View.Labels, s.View.Labels[1] == ""
	sh.own, sh.note, sh.caption = len(s.Classes), s.note(), Caption(*s)
	if s.LegendRows == RowsForAll {
		sh.possible = s.possible()
		if s.Heat {
			sh.beside = heatBar(nil).room() // a third class would remove the heat map
		}
	}
	if s.Layers && !s.Values && (s.Model == nil || len(s.Model.Features) > 0) {
		sh.layer = s.layer
	}
	sh.hidden = s.Hidden
	sh.noted = s.Noted || s.LegendRows != 0 && len(s.Points) > mostMarks // some of them may be out of view
	return sh
}

// Below writes the index of an axis name as a subscript: x₁ for x1, and x₁, standardised for x1,
// standardised.
func Below(name string) string {
	for i, index := range []string{"₁", "₂"} {
		if plain := "x" + strconv.Itoa(i+1); name == plain || strings.HasPrefix(name, plain+",") {
			return "x" + index + name[len(plain):]
		}
	}
	return name
}

// say writes why the scene is incomplete where there are the fewest points and lines.
func (s *Scene) say(sh *sheet, lines ...level) {
	sh.add(func(c *draw.Canvas, m mapping) {
		e := sh.easel(c, m)
		for _, i := range s.Drawn() {
			e.ink = append(e.ink, blot{m.at(s.View.Point(s.Points[i].X)), 5})
		}
		for _, l := range lines {
			e.remember(l.path(c), 1)
		}
		e.write()
	})
}

// possible returns the names that the legend may need, whatever the points: for two classes, and
// for more.
func (s *Scene) possible() (legends [][]string) {
	cores := s.Model != nil && s.Cores && slices.ContainsFunc(s.Model.Machines, func(m ml.Machine) bool { return m.Map != nil })
	for _, l := range []struct{ lines, marks []string }{
		{[]string{"f = 0", "f = ±1"}, []string{"SV on margin", "SV inside margin", "SV misclassified", "wrong side"}},
		{[]string{"boundary"}, []string{"support vector", "misclassified"}},
	} {
		names := slices.Concat(lists.Map(s.Classes, param.ClassText), l.lines)
		if s.Layers {
			names = append(names, regionsName)
		}
		marks := append(l.marks, "held out")
		if cores {
			marks = append(marks, "core")
		}
		for _, m := range marks {
			names = append(names, fmt.Sprintf("%s (%d)", m, max(len(s.Points), 100)))
		}
		if s.Slack {
			names = append(names, "slack")
		}
		legends = append(legends, names)
	}
	return legends
}

// note returns a note if the picture does not show everything.
func (s *Scene) note() string {
	var notes []string
	if n := s.thin().note(len(s.Points)); n != "" {
		notes = append(notes, n)
	}
	if d := len(s.View.Center); !s.View.Exact && s.Model == nil {
		notes = append(notes, fmt.Sprintf("Projection of %d features.", d))
	} else if !s.View.Exact {
		notes = append(notes, fmt.Sprintf("Slice of %d features: points are projected onto it, colours and lines hold on the slice.", d))
	}
	return strings.Join(notes, " ")
}

// positive returns the colour index of the side f >= 0. Two classes keep their colours from a
// picture of the data alone; with more, orange is the positive class and blue all others.
func (s *Scene) positive() int {
	return lists.Either(len(s.Classes) == 2 && s.Model.ClassOf(s.Classes[0]) == 1, 0, 1)
}

// side returns the colour index of a label ±1.
func (s *Scene) side(y float64) int {
	if y > 0 {
		return s.positive()
	}
	return 1 - s.positive()
}

// colorOf returns the colour index of class i.
func (s *Scene) colorOf(i int) int {
	if !s.sides() {
		return i
	}
	if s.Model.ClassOf(s.Classes[i]) == 1 {
		return s.positive()
	}
	return 1 - s.positive()
}

// number returns the place of class i among the classes of all pictures.
func (s *Scene) number(i int) int {
	if i < len(s.Numbers) {
		return s.Numbers[i]
	}
	return i
}

// classes returns the legend entries of the classes.
func (s *Scene) classes(t *Theme) (es []entry) {
	signs := s.Lecture && slices.Equal(s.Classes, []string{"-1", "1"})
	for i, name := range s.Classes {
		if signs {
			name = [...]string{"y = −1", "y = +1"}[i]
		}
		text := param.ClassText(name)
		if s.sides() && len(s.Classes) > 2 && s.Model.ClassOf(name) == 1 {
			text += " (against the others)"
		}
		m := marker{class: s.number(i), color: t.class(s.colorOf(i)), paper: t.Paper}
		es = append(es, entry{text, func(c *draw.Canvas, at vg.Point) { m.draw(c, at, 5) }})
	}
	return es
}

// oriented returns two colours in the order of low and high f.
func oriented[T any](s *Scene, byClass [2]T) (low, high T) {
	k := s.positive()
	return byClass[1-k], byClass[k]
}
