package eval

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Grid maps parameters to the values to try; other parameters keep the spec's value.
// Parameters that determine the points and splits cannot be searched: label, target,
// features, positive, test_fraction and seed.
type Grid map[string][]param.Value

// Numbers returns numbers as values of a Grid.
func Numbers(values ...float64) []param.Value {
	return lists.Map(values, param.Of)
}

// maxSettings is the largest number of settings of a design.
const maxSettings = 10000

// Paths returns every distinct combination of the values, with other parameters from base, in
// the order of ml.Params, outermost first, with C innermost as a path. Values that do not apply
// in a combination are ignored there. Errors are param.Problems.
func (g Grid) Paths(base ml.Spec) ([]Path, error) {
	for name := range g {
		if _, known := ml.Param(name); !known {
			return nil, param.Problems{{Field: name, Message: ml.NoParameter(name)}}
		}
	}
	specs, cs := []ml.Spec{base}, []float64{base.Value("C").Number()}
	for _, p := range ml.Params {
		values := g[p.Name]
		if len(values) == 0 {
			continue
		}
		if err := searchable(p, values); err != nil {
			return nil, param.Problems{{Field: p.Name, Message: err.Error()}}
		}
		if len(specs)*len(values)*len(cs) > maxSettings {
			return nil, param.Problems{{Field: p.Name, Message: fmt.Sprintf("%s: the grid has more than %d settings; use fewer values", p.Name, maxSettings)}}
		}
		if p.Name == "C" {
			cs = lists.Map(values, param.Value.Number)
			slices.Sort(cs)
			cs = slices.Compact(cs)
			continue
		}
		var next []ml.Spec
		for _, outer := range specs {
			for _, v := range values {
				s := outer
				if err := s.Set(p.Name, v.Text()); err != nil {
					return nil, err
				}
				next = append(next, s)
			}
		}
		specs = next
	}

	var settings []ml.Spec
	for _, s := range specs {
		for _, c := range cs {
			settings = append(settings, s.With("C", param.Of(c)))
		}
	}
	return groupByC(settings)
}

// notSearchable lists the parameters that determine the points and splits, besides the texts that
// name columns.
var notSearchable = []string{"target", "test_fraction", "seed"}

// searchable returns an error if values of p cannot be tried.
func searchable(p param.Param, values []param.Value) error {
	if p.Kind == param.Text && p.Syntax == nil || slices.Contains(notSearchable, p.Name) {
		return fmt.Errorf("%s cannot be searched: it decides how the settings are scored", p.Name)
	}
	for _, v := range values {
		if err := p.Verify(v); err != nil {
			return err
		}
	}
	return nil
}

// defaultValues is the default number of values of a range.
const defaultValues = 5

// Values parses a value of p or a range of numbers: 0.01..100/5 is five values, evenly spaced on
// a logarithmic scale if p is logarithmic and the range is positive, otherwise on a linear one;
// 0.01..100/5log and 0.01..100/5lin choose the scale. The default number is five. Whole numbers
// are rounded, which may leave fewer. Errors name p.
func Values(p param.Param, text string) ([]param.Value, error) {
	from, rest, ranged := strings.Cut(text, "..")
	if !ranged {
		v, err := p.Parse(text)
		return []param.Value{v}, err
	}
	to, many, _ := strings.Cut(rest, "/")
	low, err := p.Parse(from)
	if err != nil {
		return nil, err
	}
	high, err := p.Parse(to)
	if err != nil {
		return nil, err
	}
	a, b := low.Number(), high.Number()
	if !low.IsNumber() || !high.IsNumber() || a >= b {
		return nil, fmt.Errorf("%s expects an increasing range such as 0.01..100/5, not %q", p.Name, text)
	}
	log := p.Log && a > 0
	for suffix, so := range map[string]bool{"log": true, "lin": false} {
		if number, said := strings.CutSuffix(many, suffix); said {
			many, log = number, so
		}
	}
	n := defaultValues
	if many != "" {
		if n, err = strconv.Atoi(many); err != nil || n < 2 || n > maxSettings {
			return nil, fmt.Errorf("%s expects a range of 2 to %d values, such as 0.01..100/5, not %q", p.Name, maxSettings, text)
		}
	}
	if log && a <= 0 {
		return nil, fmt.Errorf("%s: a logarithmic range must start above 0, not at %s", p.Name, from)
	}
	values := make([]float64, n)
	for i := range values {
		share := float64(i) / float64(n-1)
		if values[i] = a + share*(b-a); log {
			values[i] = a * math.Pow(b/a, share)
		}
		if values[i] = decimal(values[i], 6); p.Kind == param.Integer {
			values[i] = math.Round(values[i])
		}
	}
	values[0], values[n-1] = a, b
	return Numbers(slices.Compact(values)...), nil
}

// maxTries is the largest number of values returned by Tries and Around.
const maxTries = 7

// Tries returns initial values of p for a search, in ascending order: the largest powers of ten in
// the slider range of a logarithmic p, otherwise evenly spaced values, or nil without a slider range.
func Tries(p param.Param) []param.Value {
	var values []float64
	switch {
	case p.Low >= p.High || p.Kind != param.Number && p.Kind != param.Integer:
		return nil
	case p.Log:
		for e := math.Ceil(math.Log10(p.Low) - 1e-9); e <= math.Log10(p.High)+1e-9; e++ {
			values = append(values, decimal(math.Pow(10, e), 3))
		}
		values = values[max(0, len(values)-maxTries):]
	case p.Kind == param.Integer:
		for v := p.Low; v <= p.High && len(values) < maxTries; v++ {
			values = append(values, v)
		}
	default:
		for i := range maxTries {
			values = append(values, decimal(p.Low+(p.High-p.Low)*float64(i)/(maxTries-1), 3))
		}
	}
	return Numbers(values...)
}

// Around returns values of p for a refined search around best, the best of the tried values: from
// its lower to its upper neighbour, including best, evenly spaced on the scale of p. If best is the
// smallest or largest tried value, the missing neighbour is at the distance of the other one. If
// best is not a number, has no neighbour, or leaves nothing new to try, it is the only value.
func Around(p param.Param, tried []param.Value, best param.Value) []param.Value {
	v := lists.Map(lists.Filter(tried, param.Value.IsNumber), param.Value.Number)
	slices.Sort(v)
	v = slices.Compact(v)
	at := slices.Index(v, best.Number())
	if !best.IsNumber() || at < 0 || len(v) < 2 {
		return []param.Value{best}
	}
	log := p.Log && v[max(0, at-1)] > 0
	up, down := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if log {
		up, down = math.Log, math.Exp
	}
	middle := up(v[at])
	var low, high float64
	switch {
	case at == 0:
		high = up(v[1])
		low = 2*middle - high
	case at == len(v)-1:
		low = up(v[at-1])
		high = 2*middle - low
	default:
		low, high = up(v[at-1]), up(v[at+1])
	}
	values := []float64{v[at]}
	for i := 1; i <= maxTries/2; i++ {
		share := float64(i) / (maxTries / 2)
		for _, end := range []float64{low, high} {
			x := decimal(down(middle+share*(end-middle)), 3)
			if p.Kind == param.Integer {
				x = math.Round(x)
			}
			if p.Verify(param.Of(x)) == nil {
				values = append(values, x)
			}
		}
	}
	if !slices.ContainsFunc(values, func(x float64) bool { return !slices.Contains(v, x) }) {
		return []param.Value{best}
	}
	slices.Sort(values)
	return Numbers(slices.Compact(values)...)
}

// decimal rounds x to a number of significant digits.
func decimal(x float64, digits int) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	return short
}
