package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Design determines the settings to try: a Grid or a *Drawn. A nil Design tries only the
// spec's own.
type Design interface {
	// Paths returns all distinct settings, with other parameters from base. Errors are
	// param.Problems and *param.Refusal.
	Paths(base ml.Spec) ([]Path, error)
	// Names lists the parameters that are tried, in the order of ml.Params.
	Names() []string
}

// Names returns the parameters with values.
func (g Grid) Names() []string {
	return parameterNames(func(name string) bool { return len(g[name]) > 0 })
}

func parameterNames(tried func(name string) bool) []string {
	return lists.Filter(lists.Map(ml.Params, func(p param.Param) string { return p.Name }), tried)
}

// The designs.
const (
	OfGrid   = "grid"
	OfRandom = "random"
	OfSobol  = "sobol"
)

// DesignParam is the choice of a design.
var DesignParam = param.Param{
	Name: "design", Label: "settings", Kind: param.Choice, Default: OfGrid, Help: "Which settings to try.",
	Options: []param.Option{
		{Name: OfGrid, Label: "every combination", Help: "Every combination of the values."},
		{Name: OfRandom, Label: "drawn at random", Help: "The given number of points, each parameter drawn at random between its smallest and largest value."},
		{Name: OfSobol, Label: "spread evenly (Sobol)", Help: "The given number of points of a Sobol sequence, which leaves no large gaps for any number of parameters."},
	},
}

// PointsParam is the number of settings of a random or Sobol design.
var PointsParam = param.Param{
	Name: "points", Label: "points", Kind: param.Integer, Default: "32", Min: 1, Max: maxSettings,
	Help: "Number of settings in a random or Sobol design. Powers of two suit Sobol best.",
}

// Range is a closed interval to draw a number from.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	Log  bool    `json:"log,omitempty"` // uniform in the logarithm; Low is above 0
}

// Drawn is a random design of points within ranges. With equal ranges and seed, a larger design
// begins with the points of a smaller one.
type Drawn struct {
	Design string           `json:"design"` // OfRandom or OfSobol
	Points int              `json:"points"` // number of points
	Seed   uint64           `json:"seed"`
	Ranges map[string]Range `json:"ranges,omitempty"`
	Lists  Grid             `json:"lists,omitempty"` // values to draw from uniformly
	// Besides is an additional setting, such as the best of an earlier search; may be empty.
	Besides param.Values `json:"besides,omitempty"`
}

// Names returns the parameters with a range or a list.
func (d *Drawn) Names() []string {
	return parameterNames(func(name string) bool { _, ranged := d.Ranges[name]; return ranged || len(d.Lists[name]) > 0 })
}

// drawStream makes the draws of a design independent of the folds with the same seed.
const drawStream = 0xd4a3

// Settings returns the values of the points in drawing order. Errors are param.Problems and
// *param.Refusal.
func (d *Drawn) Settings() ([]param.Values, error) {
	names := d.Names()
	if err := d.check(names); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(d.Seed, drawStream))
	constant := param.Values{}
	names = slices.DeleteFunc(names, func(name string) bool {
		list := slices.Compact(slices.Clone(d.Lists[name]))
		if len(list) == 1 { // uses no random number, like a value in the spec
			constant[name] = list[0]
		}
		return len(list) == 1
	})
	var shares [][]float64
	if d.Design == OfSobol {
		shares = sobol(d.Points, lists.Make(len(names), func(int) uint32 { return r.Uint32() }))
	} else {
		shares = make([][]float64, d.Points)
		for i := range shares {
			for range names {
				shares[i] = append(shares[i], r.Float64())
			}
		}
	}
	var settings []param.Values
	if len(d.Besides) > 0 {
		settings = append(settings, d.Besides)
	}
	for _, share := range shares {
		values := maps.Clone(constant)
		for j, name := range names {
			if list := d.Lists[name]; len(list) > 0 {
				values[name] = list[int(share[j]*float64(len(list)))]
				continue
			}
			p, _ := ml.Param(name)
			values[name] = param.Of(d.Ranges[name].at(share[j], p.Kind == param.Integer))
		}
		settings = append(settings, values)
	}
	return settings, nil
}

// at returns the value at a fraction in [0, 1) of the range, rounded to four digits or to a whole
// number. Whole numbers get equal parts of the range.
func (r Range) at(share float64, whole bool) float64 {
	low, high := r.Low, r.High
	if whole {
		low, high = low-0.5, high+0.5
	}
	var v float64
	if r.Log {
		v = low * math.Pow(high/low, share)
	} else {
		v = low + share*(high-low)
	}
	if whole {
		v = math.Round(v)
	} else {
		v = decimal(v, 4)
	}
	return min(max(v, r.Low), r.High)
}

func (d *Drawn) check(names []string) error {
	var problems param.Problems
	switch {
	case d.Design != OfRandom && d.Design != OfSobol:
		problems.Add("design", "design expects %s, %s or %s, not %q", OfGrid, OfRandom, OfSobol, d.Design)
	case len(d.Ranges) == 0 && !slices.ContainsFunc(names, func(name string) bool { return len(d.Lists[name]) > 1 }):
		problems.Add("design", "design: no parameter has a range to draw from; give one a range or several values, such as 0.01..100")
	case d.Design == OfSobol && len(names) > len(directions):
		problems.Add("design", "design: Sobol supports at most %d parameters, not %d; use random, or fewer parameters", len(directions), len(names))
	}
	problems.Note("points", PointsParam.Check(fmt.Sprint(d.Points)))
	for _, name := range slices.Sorted(maps.Keys(d.Ranges)) {
		r := d.Ranges[name]
		p, known := ml.Param(name)
		switch {
		case !known:
			problems.Add(name, "%s", ml.NoParameter(name))
		case p.Kind != param.Number && p.Kind != param.Integer:
			problems.Add(name, "%s has no range: it is not a number", name)
		case !(r.Low < r.High):
			problems.Add(name, "%s expects an increasing range such as 0.01..100, not %v..%v", name, r.Low, r.High)
		case r.Log && r.Low <= 0:
			problems.Add(name, "%s: a logarithmic range must start above 0, not at %v", name, r.Low)
		default:
			problems.Note(name, searchable(p, Numbers(r.Low, r.High)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Lists)) {
		if p, known := ml.Param(name); !known {
			problems.Add(name, "%s", ml.NoParameter(name))
		} else if err := searchable(p, d.Lists[name]); err != nil {
			problems.Note(name, err)
		}
	}
	return problems.Err()
}

// Paths returns the points in drawing order; those that differ only in C form one path.
// Duplicates, possible with whole numbers, are tried once.
func (d *Drawn) Paths(base ml.Spec) ([]Path, error) {
	settings, err := d.Settings()
	if err != nil {
		return nil, err
	}
	specs := make([]ml.Spec, len(settings))
	for i, values := range settings {
		specs[i] = base
		for _, name := range parameterNames(values.Has) {
			if err := specs[i].Set(name, values.Text(name)); err != nil {
				return nil, err
			}
		}
	}
	return groupByC(specs)
}

// Settled returns an equivalent search with the parameters of a single value moved to the spec, so
// that the design has only parameters with several values. design must be valid or nil.
func Settled(base ml.Spec, design Design) (ml.Spec, Design) {
	lists := func(lists Grid) Grid {
		left := Grid{}
		for _, name := range lists.Names() {
			if values := lists[name]; len(slices.Compact(slices.Clone(values))) > 1 {
				left[name] = values
			} else {
				_ = base.Set(name, values[0].Text()) // it is in its range
			}
		}
		return left
	}
	switch d := design.(type) {
	case Grid:
		return base, lists(d)
	case *Drawn:
		next := *d
		next.Lists = lists(d.Lists)
		return base, &next
	}
	return base, Grid{}
}

// groupByC returns the paths of settings without duplicates. Settings that differ only in C form a
// path, at the position of the first.
func groupByC(specs []ml.Spec) (paths []Path, err error) {
	found := map[string]int{} // index of the path, by the settings its members share
	for _, s := range specs {
		c := s.Value("C").Number()
		applies := s.Applies("C")
		if applies {
			s = s.With("C", param.Of(1))
		}
		text, err := json.Marshal(s) // omits what does not apply
		if err != nil {
			return nil, err
		}
		at, there := found[string(text)]
		if !there {
			at = len(paths)
			found[string(text)] = at
			paths = append(paths, Path{})
			if err := json.Unmarshal(text, &paths[at].Spec); err != nil {
				return nil, err
			}
		}
		if applies {
			paths[at].C = append(paths[at].C, c)
		}
	}
	for i := range paths {
		if p := &paths[i]; len(p.C) > 0 {
			slices.Sort(p.C)
			p.C = slices.Compact(p.C)
			p.Spec = p.Spec.With("C", param.Of(p.C[0]))
		}
	}
	return paths, nil
}

// Axis lists the values to try for one parameter.
type Axis struct {
	Values []param.Value
	Scale  string // of a range: "log", "lin" or empty, as the parameter's
}

// Axes maps parameters to the values to try. In JSON each is a text as for Add, or a list of values
// and such texts.
type Axes map[string]Axis

// Add adds the values of a text, a value or a range as read by Values, without duplicates. Errors
// name p.
func (a Axes) Add(name string, p param.Param, text string) error {
	values, err := Values(p, text)
	if err != nil {
		return err
	}
	axis := a[name]
	for _, v := range values {
		if !slices.Contains(axis.Values, v) {
			axis.Values = append(axis.Values, v)
		}
	}
	for _, scale := range []string{"log", "lin"} {
		if strings.HasSuffix(text, scale) && strings.Contains(text, "..") {
			axis.Scale = scale
		}
	}
	a[name] = axis
	return nil
}

// UnmarshalJSON reads user input; errors are param.Problems.
func (a *Axes) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	*a = Axes{}
	var problems param.Problems
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p, known := ml.Param(name)
		if !known {
			problems.Add(name, "%s", ml.NoParameter(name))
			continue
		}
		var values []param.Value
		if err := json.Unmarshal(all[name], &values); err != nil || len(values) == 0 {
			var one param.Value
			if json.Unmarshal(all[name], &one) != nil {
				problems.Add(name, "%s expects a list of values, or a range such as \"0.01..100/5\", not %s", name, all[name])
				continue
			}
			values = []param.Value{one}
		}
		for _, v := range values {
			var err error
			if text := v.Text(); strings.Contains(text, "..") {
				err = a.Add(name, p, text)
			} else if err = p.Verify(v); err == nil {
				axis := (*a)[name]
				axis.Values = append(axis.Values, v)
				(*a)[name] = axis
			}
			if err != nil {
				problems.Note(name, err)
				break
			}
		}
	}
	return problems.Err()
}

// Design returns the named design: every combination of all values, or drawn points. Numbers with
// several values are drawn between the smallest and the largest. If all are positive, the scale is
// logarithmic if the range says so or, by default, if the parameter is logarithmic. Words, possibly
// mixed with numbers, are drawn uniformly. Errors are param.Problems.
func (a Axes) Design(design string, points int, seed uint64) (Design, error) {
	if design != "" {
		if err := DesignParam.Check(design); err != nil {
			return nil, param.Problems{{Field: DesignParam.Name, Message: err.Error()}}
		}
	}
	grid := Grid{}
	for name, axis := range a {
		if len(axis.Values) > 0 {
			grid[name] = axis.Values
		}
	}
	if design == "" || design == OfGrid {
		return grid, nil
	}
	d := &Drawn{Design: design, Points: points, Seed: seed, Ranges: map[string]Range{}, Lists: Grid{}}
	for name, values := range grid {
		if len(values) < 2 || slices.ContainsFunc(values, func(v param.Value) bool { return !v.IsNumber() }) {
			d.Lists[name] = values
			continue
		}
		p, _ := ml.Param(name)
		r := Range{Low: math.Inf(1), High: math.Inf(-1)}
		for _, v := range values {
			r.Low, r.High = min(r.Low, v.Number()), max(r.High, v.Number())
		}
		r.Log = r.Low > 0 && (p.Log && a[name].Scale == "" || a[name].Scale == "log")
		d.Ranges[name] = r
	}
	return d, d.check(d.Names())
}
