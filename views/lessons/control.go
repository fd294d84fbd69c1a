package lessons

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views/figure"
)

// Control is a value of a demo set by the visitor. Each type of control has a method
// Of by which the demo reads it, so that undeclared names do not compile.
type Control interface {
	// Params returns the fields of the form, one for most controls. Their names are unique within a
	// demo; "step" is taken.
	Params() []param.Param
}

// NumberControl is a number with a slider, from Low to High.
type NumberControl param.Param

// Params returns the number's field.
func (c NumberControl) Params() []param.Param { return field(param.Param(c), param.Number) }

// Of returns the number that was set.
func (c NumberControl) Of(in Input) float64 { return in.number(param.Param(c)) }

// Text returns the number as typed, in the notation of specs and the lab.
func (c NumberControl) Text(in Input) string { return in.Text(param.Param(c)) }

// IntegerControl is a whole number with a slider, from Low to High.
type IntegerControl param.Param

// Params returns the number's field.
func (c IntegerControl) Params() []param.Param { return field(param.Param(c), param.Integer) }

// Of returns the number that was set.
func (c IntegerControl) Of(in Input) int { return int(in.number(param.Param(c))) }

// Text returns the number as typed, in the notation of specs and the lab.
func (c IntegerControl) Text(in Input) string { return in.Text(param.Param(c)) }

// SwitchControl is on or off.
type SwitchControl param.Param

// Params returns the switch's field.
func (c SwitchControl) Params() []param.Param { return field(param.Param(c), param.Switch) }

// Of reports whether the switch is on.
func (c SwitchControl) Of(in Input) bool { return in.Text(param.Param(c)) == "true" }

// ChoiceControl is one of Options.
type ChoiceControl param.Param

// Params returns the choice's field.
func (c ChoiceControl) Params() []param.Param { return field(param.Param(c), param.Choice) }

// Of returns the name of the chosen option.
func (c ChoiceControl) Of(in Input) string { return in.Text(param.Param(c)) }

// TextControl is a line of text of at most Max characters.
type TextControl param.Param

// Params returns the field of the line.
func (c TextControl) Params() []param.Param { return field(param.Param(c), param.Text) }

// Of returns the line without spaces at its ends and without unprintable characters.
func (c TextControl) Of(in Input) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, in.Text(param.Param(c))))
}

// PlaceControl is a place on the first figure, two numbers that are dragged by its Handle.
type PlaceControl struct{ X, Y NumberControl }

// NewPlace returns a control that starts at a place; the limits also bound its sliders. Each coordinate
// has a name and a label.
func NewPlace(nameX, labelX, nameY, labelY string, at [2]float64, within figure.Limits) PlaceControl {
	return PlaceControl{
		X: NumberControl{Name: nameX, Label: labelX, Default: Setting(at[0]), Min: within.XMin, Max: within.XMax, Low: within.XMin, High: within.XMax, Folded: true},
		Y: NumberControl{Name: nameY, Label: labelY, Default: Setting(at[1]), Min: within.YMin, Max: within.YMax, Low: within.YMin, High: within.YMax, Folded: true},
	}
}

// Params returns the fields of both numbers.
func (c PlaceControl) Params() []param.Param { return append(c.X.Params(), c.Y.Params()...) }

// Of returns the place that was set.
func (c PlaceControl) Of(in Input) [2]float64 { return [2]float64{c.X.Of(in), c.Y.Of(in)} }

// Handle returns the handle that drags the place.
func (c PlaceControl) Handle(label string, in Input) Handle {
	at := c.Of(in)
	return Handle{Label: label, X: at[0], Y: at[1], XControl: c.X, YControl: c.Y}
}

// PlacesControl holds numbered draggable places.
type PlacesControl []PlaceControl

// NewPlaces returns a control that starts at these places. They stay between -field and +field on
// each axis, their sliders between -slider and +slider.
func NewPlaces(at [][2]float64, field, slider [2]float64) PlacesControl {
	axis := func(i, k int) NumberControl {
		return NumberControl{
			Name: fmt.Sprintf("%c%d", "xy"[k], i+1), Label: fmt.Sprintf("point %d, x%d", i+1, k+1), Default: Setting(at[i][k]),
			Min: -field[k], Max: field[k], Low: -slider[k], High: slider[k], Folded: true,
		}
	}
	return lists.Make(len(at), func(i int) PlaceControl { return PlaceControl{X: axis(i, 0), Y: axis(i, 1)} })
}

// Params returns the fields of all places.
func (c PlacesControl) Params() []param.Param {
	return slices.Concat(lists.Map(c, PlaceControl.Params)...)
}

// Of returns the places.
func (c PlacesControl) Of(in Input) [][2]float64 {
	return lists.Map(c, func(p PlaceControl) [2]float64 { return p.Of(in) })
}

// Handles returns the handles that drag the places, at their displayed positions.
func (c PlacesControl) Handles(shown [][2]float64) []Handle {
	return lists.Make(len(shown), func(i int) Handle {
		return Handle{Label: fmt.Sprintf("point %d", i+1), X: shown[i][0], Y: shown[i][1], XControl: c[i].X, YControl: c[i].Y}
	})
}

// EndsControl is a line through two draggable places.
type EndsControl struct{ A, B PlaceControl }

// Params returns the fields of both places.
func (c EndsControl) Params() []param.Param { return append(c.A.Params(), c.B.Params()...) }

// Line returns the line w'x + b = 0 through the two places; false if they coincide.
func (c EndsControl) Line(in Input) (w [2]float64, b float64, ok bool) {
	p, q := c.A.Of(in), c.B.Of(in)
	w = [2]float64{q[1] - p[1], p[0] - q[0]} // at a right angle to the line
	return w, -(w[0]*p[0] + w[1]*p[1]), Norm(w) >= 1e-6
}

// Handles returns the handles that drag the two places.
func (c EndsControl) Handles(in Input) []Handle {
	return []Handle{c.A.Handle("first end of the line", in), c.B.Handle("second end of the line", in)}
}

// TurnControl rotates a lifted picture, starting at these two angles in degrees.
type TurnControl struct{ Yaw, Pitch string }

// Params returns the fields of both angles.
func (c TurnControl) Params() []param.Param { return append(c.yaw().Params(), c.pitch().Params()...) }

// Of returns the angles in degrees: rotation about the vertical axis, and elevation.
func (c TurnControl) Of(in Input) (yaw, pitch float64) { return c.yaw().Of(in), c.pitch().Of(in) }

func (c TurnControl) yaw() NumberControl {
	return NumberControl{Name: "yaw", Label: "turn", Default: c.Yaw, Min: -180, Max: 180, Low: -180, High: 180, Help: "Degrees about the upright axis."}
}

func (c TurnControl) pitch() NumberControl {
	return NumberControl{Name: "pitch", Label: "tilt", Default: c.Pitch, Min: 1, Max: 90, Low: 1, High: 90, Help: "Degrees from above: 90 looks straight down."}
}

// DataControl offers the built-in data sets and those of the workspace.
type DataControl struct{ Default string }

// Params returns the field of the choice.
func (c DataControl) Params() []param.Param { return []param.Param{c.field()} }

func (c DataControl) field() param.Param {
	return param.Param{Name: dataName, Label: "data", Kind: param.Text, Default: c.Default, Help: "Built-in sets, and those of your workspace."}
}

// Of loads the chosen data set.
func (c DataControl) Of(ctx context.Context, in Input) (name string, d *dataset.Data) {
	name, d, err := in.source.Data(ctx, c.Text(in))
	Check(err)
	return name, d
}

// Text returns the id of the chosen data set for the lab.
func (c DataControl) Text(in Input) string { return in.Text(c.field()) }

// RunControl offers the finished runs of the workspace.
type RunControl struct{}

// Params returns the field of the choice.
func (c RunControl) Params() []param.Param { return []param.Param{c.field()} }

func (RunControl) field() param.Param {
	return param.Param{Name: runName, Label: "your run", Kind: param.Text, Help: "Any run that you have saved in the lab."}
}

// Of loads the chosen run; nil if there is none.
func (c RunControl) Of(ctx context.Context, in Input) *Run {
	id := in.Text(c.field())
	if id == "" {
		return nil
	}
	return Must(in.source.Run(ctx, id))
}

// field returns a control's parameter with its kind.
func field(p param.Param, k param.Kind) []param.Param {
	p.Kind = k
	return []param.Param{p}
}

// Text returns the value of a field as in forms and URLs, or its default if the demo does not list
// it. Demos read their controls by the controls' own methods.
func (in Input) Text(p param.Param) string {
	v, ok := in.values[p.Name]
	if ok {
		return v
	}
	if in.Unlisted != nil {
		in.Unlisted(p.Name)
	}
	return p.Default
}

// number returns the value of a numeric field; 0 for words.
func (in Input) number(p param.Param) float64 {
	v, _ := strconv.ParseFloat(in.Text(p), 64)
	return v
}
