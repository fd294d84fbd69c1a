package figure

import (
	"marginlab/ml"
	"marginlab/ml/dataset"
)

// Points says what a picture of a data set without a model shows.
type Points struct {
	Data *dataset.Data // nil: an empty picture
	View dataset.View  // over the features of Data
	// Limits are the edges of the picture; the zero value takes DataLimits.
	Limits Limits
	Title  string
	Dark   bool
	// LegendRows are kept for the legend even when it needs fewer.
	LegendRows int
	// Width and Height are in CSS pixels, 40 to 4000; 0 takes 640 and 520. Below
	// 240 x 180 the picture is all frame, without axes and legend.
	Width, Height int
}

// Scatter draws the points of a data set of any number of classes, each with a
// colour and a shape.
func Scatter(p Points) (*Picture, error) {
	s := Scene{View: p.View, Limits: p.Limits, Title: p.Title, Dark: p.Dark, LegendRows: p.LegendRows, Width: p.Width, Height: p.Height}
	if p.Data == nil {
		s.View = dataset.View{Labels: p.View.Labels, Center: make([]float64, 2), Exact: true}
	} else {
		s.Classes = p.Data.Classes
		s.Points = make([]ml.Point, len(p.Data.Y))
		for i, k := range p.Data.Y {
			s.Points[i] = ml.Point{Row: i, X: p.Data.X.RawRowView(i), Label: p.Data.Classes[k]}
		}
	}
	s, err := s.ready()
	if err != nil {
		return nil, err
	}
	sh := s.sheet()
	dots := marks{Scene: &s, theme: sh.theme, radius: s.radius()}
	sh.plotters = append(sh.plotters, dots)
	sh.legend = append(s.classes(sh.theme), dots.entries()...)
	return sh.picture(), nil
}
