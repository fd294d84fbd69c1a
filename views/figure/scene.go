package figure

import (
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
	"marginlab/ml/param"
)

// Drawing is a function that draws a scene, unless ctx ends.
type Drawing func(ctx context.Context, s Scene) (*Picture, error)

// Scene says what a picture shows. The zero value of every field but Model and
// View is a good choice.
type Scene struct {
	Model  *ml.Model
	Points []ml.Point   // of Model.Points; may be empty
	View   dataset.View // over the model's features; of a model without: as DecisionScene lays out
	// Classes lists the labels in the data set's order, which decides their colours
	// and shapes; their names are the labels, whatever a legend might rather say.
	// nil: the labels of Points, sorted.
	Classes []string
	// Hollow names held-out points in the legend; "": held out, with their number.
	Hollow string
	// Values marks points with values Y, named by Label, rather than classes: a scene for
	// ValueCurve, ValueSurface or ValueFit.
	Values bool
	Label  string
	// Limits are the edges of the picture; the zero value takes LimitsOf.
	Limits Limits

	Heat  bool // f as a heat map with a colour bar, rather than pale regions; only between two sides
	Slack bool // the way from points inside the margin or beyond to their own margin; only between two sides
	Cores bool // the cores of the conformal map

	// Targets is as in the spec: points have a residual in place of a slack.
	Targets bool

	// Layers says that a page lets its reader hide layers by their entries in the legend, of Boundary
	// and Scatter; the regions have an entry then, too. Hidden names those that are, as LayerNames.
	Layers bool
	Hidden []string

	Machine int // the machine of Model whose factor Conformal draws

	// Lecture describes the picture in the notation of the lessons' drawings: classes -1 and 1 are
	// y = −1 and y = +1, and axes x1 and x2 have their indices below.
	Lecture bool
	// Waits leaves out which points are support vectors until a question is answered, and says so.
	Waits bool

	Title string
	Panel *Panel // as of a Format
	Dark  bool
	Grey  bool // for paper, as of a Format
	// LegendRows reserves rows for the legend even if it needs fewer, so that the frame
	// stays fixed while points come and go; RowsForAll reserves enough for all marks that
	// points may take.
	LegendRows int
	// Noted reserves a line for a note, for pictures side by side of which some have one.
	Noted bool
	// Width and Height are in CSS pixels, 40 to 4000; 0 takes 640 and 520. Below
	// 240 x 180 the picture is all frame, without axes and legend.
	Width, Height int
	// Grid is the number of cells per axis on which f is evaluated, 8 to 1000; 0
	// takes 160. 80 is enough while something is being dragged.
	Grid int

	thinned *thinned // once the scene is ready
}

// RowsForAll keeps rows for whatever the legend of a scene may have to name.
const RowsForAll = -1

// ready checks the scene and fills in what was left open.
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
	if s.Grid == 0 {
		s.Grid = 160
	}
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

// onPlane is ready for a picture over coordinates, which the objects of the model must
// have.
func (s Scene) onPlane() (Scene, error) {
	if s.Model != nil && len(s.Model.Features) == 0 {
		return s, errors.New("picture: the model compares objects without coordinates; Decisions draws what there is to see")
	}
	return s.ready()
}

// sides reports whether the model has one boundary with a class on either side.
func (s *Scene) sides() bool { return s.Model != nil && s.Model.Rule == ml.Sign }

// The size of a picture that has none, in CSS pixels.
const (
	DefaultWidth  = 640
	DefaultHeight = 520
)

func defaultSize(w, h int) (int, int) {
	if w == 0 {
		w = DefaultWidth
	}
	if h == 0 {
		h = DefaultHeight
	}
	return w, h
}

func checkSize(w, h int) error {
	if min(w, h) < 40 || max(w, h) > 4000 {
		return fmt.Errorf("picture: the size is %d x %d pixels; use 40 to 4000 each way", w, h)
	}
	return nil
}

func (s *Scene) sheet() *sheet {
	sh := &sheet{
		panel: s.Panel,
		width: s.Width, height: s.Height, theme: themeOf(s.Dark, s.Grey), limits: s.Limits,
		labels: s.View.Labels, bald: [2]bool{1: s.View.Labels[1] == ""}, title: s.Title, own: len(s.Classes), legendRows: s.LegendRows, note: s.note(), caption: Caption(*s),
	}
	if s.LegendRows == RowsForAll {
		sh.possible = s.possible()
		if s.Heat && !s.Values {
			sh.beside = heatBar(nil).room() // a third class takes the heat map away
		}
	}
	if s.Waits {
		sh.waits = waiting
	}
	if s.Layers && !s.Values && (s.Model == nil || len(s.Model.Features) > 0) {
		sh.layer = s.layer
	}
	sh.hidden = s.Hidden
	sh.noted = s.Noted || s.LegendRows != 0 && len(s.Points) > mostMarks // of which only some may be in view
	return sh
}

// Below is the name of an axis with its index below the line: x₁ of x1, and x₁, standardised of
// x1, standardised.
func Below(name string) string {
	for i, index := range []string{"₁", "₂"} {
		if plain := "x" + strconv.Itoa(i+1); name == plain || strings.HasPrefix(name, plain+",") {
			return "x" + index + name[len(plain):]
		}
	}
	return name
}

// say writes why the scene is incomplete, at the place with the fewest points and lines.
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

// possible names what the legend may have to name, whatever becomes of the points: with two
// classes, and with more.
func (s *Scene) possible() (legends [][]string) {
	cores := s.Model != nil && s.Cores && slices.ContainsFunc(s.Model.Machines, func(m ml.Machine) bool { return m.Map != nil })
	for _, l := range []struct{ lines, marks []string }{
		{[]string{"f = 0", "f = ±1"}, []string{"SV on margin", "SV inside margin", "SV misclassified", "wrong side"}},
		{[]string{"boundary"}, []string{"support vector", "misclassified"}},
	} {
		names := slices.Concat(s.Classes, l.lines)
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

// note warns where the picture is less than the whole.
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

// positive is the colour index of the side f >= 0. With two classes both keep
// the colour that they have in a picture of the data alone; with more, orange is
// the positive class and blue all the others.
func (s *Scene) positive() int {
	if len(s.Classes) == 2 && s.Model.ClassOf(s.Classes[0]) == 1 {
		return 0
	}
	return 1
}

// side is the colour index of a label ±1.
func (s *Scene) side(y float64) int {
	if y > 0 {
		return s.positive()
	}
	return 1 - s.positive()
}

// colorOf is the colour index of class i.
func (s *Scene) colorOf(i int) int {
	if !s.sides() {
		return i
	}
	if s.Model.ClassOf(s.Classes[i]) == 1 {
		return s.positive()
	}
	return 1 - s.positive()
}

// classes are the legend's entries of the classes.
func (s *Scene) classes(t *Theme) (es []entry) {
	signs := s.Lecture && slices.Equal(s.Classes, []string{"-1", "1"})
	for i, name := range s.Classes {
		if signs {
			name = [...]string{"y = −1", "y = +1"}[i]
		}
		if s.sides() && len(s.Classes) > 2 && s.Model.ClassOf(name) == 1 {
			name += " (against the others)"
		}
		m := marker{class: i, color: t.class(s.colorOf(i)), paper: t.Paper}
		es = append(es, entry{name, func(c *draw.Canvas, at vg.Point) { m.draw(c, at, 5) }})
	}
	return es
}

// oriented returns the two colours as low end, high end of f.
func oriented[T any](s *Scene, byClass [2]T) (low, high T) {
	k := s.positive()
	return byClass[1-k], byClass[k]
}
