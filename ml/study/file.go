package study

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Limits of a study file.
const (
	// MostBytes is the maximal size of a file.
	MostBytes = 256 << 10

	maxSets       = 200
	maxLearners   = 50
	maxSettings   = 1000 // per learner
	maxNameLength = 60   // characters
)

// schemeParams lists the numbers of a study that are not training parameters.
var schemeParams = []param.Param{
	{Name: "folds", Kind: param.Integer, Default: "5", Min: 2, Max: 1000},
	{Name: "repeats", Kind: param.Integer, Default: "1", Min: 1, Max: 1000},
	{Name: "seed", Kind: param.Integer, Default: "1", Min: 0, Max: 1 << 53},
	{Name: "max_rows", Kind: param.Integer, Default: "0", Min: 0, Max: 1e7},
}

// sharedParams lists the parameters that the data set or the scheme sets for all learners, so that
// all are evaluated in the same way.
var sharedParams = []string{"label", "features", "positive", "target", "test_fraction", "seed"}

// Parse parses a study; file is its name in messages. Unknown keys are errors. Errors are
// *dataset.Error with the line.
func Parse(text, file string) (*Study, error) {
	return parse(text, file, false)
}

// parse parses a study. If later is set, it may have no data yet.
func parse(text, file string, later bool) (*Study, error) {
	if len(text) > MostBytes {
		return nil, &dataset.Error{File: file, Message: fmt.Sprintf("a study has at most %d KB; this file is not a study", MostBytes>>10)}
	}
	r := reader{file: file, below: make(map[string][]string), later: later, s: &Study{Folds: 5, Repeats: 1, Seed: 1}}
	var top map[string]toml.Primitive
	var err error
	if r.md, err = toml.Decode(text, &top); err != nil {
		return nil, r.decodeError(err)
	}
	r.index()
	if err := r.study(top); err != nil {
		return nil, err
	}
	return r.s, nil
}

// reader parses one file.
type reader struct {
	file  string
	md    toml.MetaData
	below map[string][]string // keys of each table in the order of the file
	later bool                // data are added later
	s     *Study
}

// index collects the keys of all tables of a study.
func (r *reader) index() {
	seen := make(map[string]bool)
	for _, k := range r.md.Keys() {
		for n := range min(len(k), 3) {
			if whole := k[:n+1].String(); !seen[whole] {
				seen[whole] = true
				table := k[:n].String()
				r.below[table] = append(r.below[table], k[n])
			}
		}
	}
}

// decodeError returns an error of the TOML decoder with its position.
func (r *reader) decodeError(err error) error {
	var at toml.ParseError
	if errors.As(err, &at) {
		line := at.Position.Line
		if strings.Contains(at.Message, `to end table name, but got '\n'`) {
			line-- // the decoder is already in the next line
		}
		return &dataset.Error{File: r.file, Line: line, Message: strings.TrimPrefix(at.Message, "toml: ")}
	}
	return &dataset.Error{File: r.file, Message: strings.TrimPrefix(err.Error(), "toml: ")}
}

// unmarshaler is a toml.Unmarshaler, so that the decoder adds the position to its errors.
type unmarshaler func(v any) error

// UnmarshalTOML calls f.
func (f unmarshaler) UnmarshalTOML(v any) error { return f(v) }

// take calls f with the value of a key. Errors of f get the position of the key.
func (r *reader) take(p toml.Primitive, f func(v any) error) error {
	if err := r.md.PrimitiveDecode(p, unmarshaler(f)); err != nil {
		return r.decodeError(err)
	}
	return nil
}

// each calls f for the keys of a table in the order of the file.
func (r *reader) each(p toml.Primitive, path toml.Key, f func(name string, p toml.Primitive) error) error {
	err := r.take(p, func(v any) error {
		switch v.(type) {
		case map[string]any:
			return nil
		case []map[string]any, []any:
			return fmt.Errorf("%s is a list of tables: name each one, as in [%s.first]", path, path[0])
		}
		return fmt.Errorf("%s is not a table: expected [%s]", path, path)
	})
	if err != nil {
		return err
	}
	var own map[string]toml.Primitive
	if err := r.md.PrimitiveDecode(p, &own); err != nil {
		return r.decodeError(err)
	}
	for _, name := range r.below[path.String()] {
		if err := f(name, own[name]); err != nil {
			return err
		}
	}
	return nil
}

// study reads the whole file: shared settings before the learners.
func (r *reader) study(top map[string]toml.Primitive) error {
	tables := map[string]func(p toml.Primitive) error{
		"title":    func(p toml.Primitive) error { return r.take(p, text(&r.s.Title)) },
		"version":  func(p toml.Primitive) error { return r.take(p, text(&r.s.Version)) },
		"baseline": func(p toml.Primitive) error { return r.take(p, text(&r.s.Baseline)) },
		"scheme":   nil, // read first
		"data":     r.data,
		"shared":   nil, // read with the learners
		"learner":  func(p toml.Primitive) error { return r.learners(p, top) },
	}
	if p, there := top["scheme"]; there { // first, as it determines the task of the learners
		if err := r.scheme(p); err != nil {
			return err
		}
	}
	for _, key := range r.below[""] {
		read, known := tables[key]
		switch {
		case !known:
			return r.take(top[key], func(any) error { return unknown(key, slices.Sorted(maps.Keys(tables))) })
		case read != nil:
			if err := read(top[key]); err != nil {
				return err
			}
		}
	}
	return r.checkComplete(top)
}

// checkComplete returns an error if the study is incomplete.
func (r *reader) checkComplete(top map[string]toml.Primitive) error {
	names := lists.Map(r.s.Learners, func(l Learner) string { return l.Name })
	for _, set := range r.s.Sets {
		if r.s.Values && set.Positive != "" {
			return &dataset.Error{File: r.file, Message: fmt.Sprintf("data set %s: positive has no effect with target = \"value\"; leave it out", set.Name)}
		}
	}
	switch {
	case len(r.s.Sets) == 0 && !r.later:
		return &dataset.Error{File: r.file, Message: "a study needs data: expected a table such as [data.moons] with generator = \"moons\""}
	case len(names) == 0:
		return &dataset.Error{File: r.file, Message: "a study needs learners: expected a table such as [learner.SVM] with learner = \"svm\""}
	case r.s.Baseline == "":
		r.s.Baseline = names[0]
	case !slices.Contains(names, r.s.Baseline):
		return r.take(top["baseline"], func(any) error {
			return fmt.Errorf("baseline %q is not a learner of the study: expected one of %s", r.s.Baseline, strings.Join(names, ", "))
		})
	}
	return nil
}

func unknown(key string, known []string) error {
	return fmt.Errorf("unknown key %s%s: expected one of %s", key, param.DidYouMean(key, "", known), strings.Join(known, ", "))
}

// text stores a string.
func text(to *string) func(v any) error {
	return func(v any) error {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("expected a string in quotes, found %v", v)
		}
		*to = s
		return nil
	}
}

// CheckName returns an error for an invalid name of a set or a learner, which is a column
// heading.
func CheckName(s string) error {
	if n := len([]rune(s)); n == 0 || n > maxNameLength || strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return fmt.Errorf("name %q: expected 1 to %d characters without surrounding spaces", s, maxNameLength)
	}
	return nil
}

func (r *reader) scheme(p toml.Primitive) error {
	return r.each(p, toml.Key{"scheme"}, func(key string, p toml.Primitive) error {
		i := slices.IndexFunc(schemeParams, func(q param.Param) bool { return q.Name == key })
		return r.take(p, func(v any) error {
			if key == "target" {
				target, _ := ml.Param(key)
				value, err := singleValue(target, v)
				r.s.Values = value.Text() == "value"
				return err
			}
			if i < 0 {
				return unknown(key, append(lists.Map(schemeParams, func(q param.Param) string { return q.Name }), "target"))
			}
			value, err := singleValue(schemeParams[i], v)
			n := value.Number()
			switch key {
			case "folds":
				r.s.Folds = int(n)
			case "repeats":
				r.s.Repeats = int(n)
			case "seed":
				r.s.Seed = uint64(n)
			case "max_rows":
				r.s.MaxRows = int(n)
			}
			return err
		})
	})
}

func singleValue(p param.Param, v any) (value param.Value, err error) {
	switch v := v.(type) {
	case int64:
		value = param.Of(float64(v))
	case float64:
		value = param.Of(v)
	case bool:
		value = param.Of(v)
	case string:
		value = param.Of(v)
	default:
		return value, fmt.Errorf("%s: expected a single value", p.Name)
	}
	return value, p.Verify(value)
}

func (r *reader) data(p toml.Primitive) error {
	return r.each(p, toml.Key{"data"}, func(own string, p toml.Primitive) error {
		set := Set{Name: own}
		err := r.take(p, func(any) error {
			if len(r.s.Sets) == maxSets {
				return fmt.Errorf("a study has at most %d data sets", maxSets)
			}
			return CheckName(own)
		})
		if err != nil {
			return err
		}
		rest := make(map[string]toml.Primitive) // for the generator
		err = r.each(p, toml.Key{"data", own}, func(key string, p toml.Primitive) error {
			texts := map[string]*string{"file": &set.File, "generator": &set.Generator, "builtin": &set.Builtin, "label": &set.Label, "missing": (*string)(&set.Missing), "positive": &set.Positive, "sha256": &set.SHA256}
			switch {
			case texts[key] != nil:
				return r.take(p, func(v any) error {
					if err := text(texts[key])(v); err != nil {
						return err
					}
					return set.checkSource()
				})
			case key == "features":
				return r.take(p, func(v any) error {
					list, ok := v.([]any)
					for _, e := range list {
						s, text := e.(string)
						ok = ok && text
						set.Features = append(set.Features, s)
					}
					if !ok || len(list) == 0 {
						return errors.New("features: expected a list of columns such as [\"height\", \"weight\"]")
					}
					return nil
				})
			}
			rest[key] = p
			return nil
		})
		if err != nil {
			return err
		}
		if err := r.take(p, func(any) error { return set.check() }); err != nil {
			return err
		}
		if err := r.generated(&set, rest); err != nil {
			return err
		}
		r.s.Sets = append(r.s.Sets, set)
		return nil
	})
}

// check returns an error for a set without exactly one valid source.
func (s Set) check() error {
	sources := lists.CountTrue(s.File != "", s.Generator != "", s.Builtin != "")
	switch {
	case sources != 1:
		return fmt.Errorf("data set %s: expected one of file, generator and builtin", s.Name)
	case s.File == "" && (s.Label != "" || s.Features != nil || s.Missing != ""):
		return fmt.Errorf("data set %s: label, features and missing need a file", s.Name)
	case s.Missing != "" && !slices.Contains(dataset.Missings, s.Missing):
		return fmt.Errorf("data set %s: missing expects error, drop or median, not %q", s.Name, s.Missing)
	}
	return s.checkSource()
}

// checkSource returns an error if there is no built-in data set or generator of that name.
func (s Set) checkSource() error {
	if _, ok := dataset.FindBuiltin(s.Builtin); s.Builtin != "" && !ok {
		return unknownBuiltin(s.Builtin)
	}
	if s.Generator != "" {
		_, err := dataset.FindGenerator(s.Generator)
		return err
	}
	return nil
}

func unknownBuiltin(slug string) error {
	slugs := lists.Map(dataset.Builtins, func(b dataset.Builtin) string { return b.Slug })
	return fmt.Errorf("no built-in data set %q: expected one of %s", slug, strings.Join(slugs, ", "))
}

// generated sets the parameters of the generator: all remaining keys.
func (r *reader) generated(set *Set, rest map[string]toml.Primitive) error {
	g, _ := dataset.FindGenerator(set.Generator) // validated by check; without one there are no parameters
	for _, key := range r.below[toml.Key{"data", set.Name}.String()] {
		p, left := rest[key]
		if !left {
			continue
		}
		err := r.take(p, func(v any) error {
			known := []string{"file", "generator", "builtin", "label", "features", "missing", "positive", "sha256"}
			for _, q := range g.Params {
				known = append(known, q.Name)
				if q.Name == key {
					value, err := singleValue(q, v)
					set.Values = set.Values.With(key, value)
					return err
				}
			}
			return unknown(key, known)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// setting is a parameter of a learner with one value, or several to choose from.
type setting struct {
	p      param.Param
	values []param.Value
}

// settings reads the keys of a table that are training parameters.
func (r *reader) settings(p toml.Primitive, path toml.Key) (all []setting, err error) {
	err = r.each(p, path, func(key string, p toml.Primitive) error {
		return r.take(p, func(v any) error {
			q, ok := ml.Param(key)
			switch {
			case !ok:
				return fmt.Errorf("%s; marginlab fit --help lists the parameters, written here with _ instead of -", ml.NoParameter(key))
			case slices.Contains(sharedParams, key):
				return fmt.Errorf("%s cannot differ between learners: set it for the data or the scheme, if it can be set there", key)
			}
			list, several := v.([]any)
			if !several {
				list = []any{v}
			}
			s := setting{p: q}
			for _, e := range list {
				value, err := singleValue(q, e)
				if err != nil {
					return err
				}
				if slices.Contains(s.values, value) {
					return fmt.Errorf("%s names %s twice", key, value)
				}
				s.values = append(s.values, value)
			}
			if len(s.values) == 0 {
				return fmt.Errorf("%s: expected a value, or several in brackets", key)
			}
			all = append(all, s)
			return nil
		})
	})
	return all, err
}

func (r *reader) learners(p toml.Primitive, top map[string]toml.Primitive) error {
	var shared []setting
	if all, ok := top["shared"]; ok {
		var err error
		if shared, err = r.settings(all, toml.Key{"shared"}); err != nil {
			return err
		}
	}
	useful := make(map[string]bool) // shared settings used by some learner
	err := r.each(p, toml.Key{"learner"}, func(own string, p toml.Primitive) error {
		given, err := r.settings(p, toml.Key{"learner", own})
		if err != nil {
			return err
		}
		return r.take(p, func(any) error {
			if len(r.s.Learners) == maxLearners {
				return fmt.Errorf("a study has at most %d learners", maxLearners)
			}
			l, err := newLearner(own, r.s.Values, shared, given, useful)
			if err != nil {
				return err
			}
			r.s.Learners = append(r.s.Learners, l)
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, s := range shared {
		if !useful[s.p.Name] {
			return &dataset.Error{File: r.file, Message: fmt.Sprintf("[shared]: %s has no effect with any learner; leave it out", s.p.Name)}
		}
	}
	return nil
}

// newLearner returns a learner with its given settings and those shared that apply to it, which it
// adds to useful; values tells that the study is one of regressions.
func newLearner(name string, values bool, shared, given []setting, useful map[string]bool) (Learner, error) {
	l := Learner{Name: name, Spec: ml.DefaultSpec(), Grid: make(eval.Grid)}
	if err := CheckName(name); err != nil {
		return l, err
	}
	if values {
		l.Spec.Target = "value"
	}
	for _, s := range slices.Concat(shared, given) {
		delete(l.Grid, s.p.Name)
		if err := l.Spec.Set(s.p.Name, s.values[0].Text()); err != nil {
			return l, err
		}
		if len(s.values) > 1 {
			l.Grid[s.p.Name] = s.values
		}
	}
	settings := 1
	for _, values := range l.Grid {
		if settings *= len(values); settings > maxSettings {
			return l, fmt.Errorf("learner %s has more than %d settings; use fewer values", name, maxSettings)
		}
	}
	specs, err := l.specs()
	if err != nil {
		return l, err
	}
	if values && slices.ContainsFunc(specs, func(q ml.Spec) bool { return !q.Targets() }) {
		return l, fmt.Errorf("learner %s: %s is a classifier; use learner = \"ridge\" with target = \"value\"", name, l.Spec.Learner)
	}
	applies := func(s setting) bool {
		return slices.ContainsFunc(specs, func(q ml.Spec) bool { return q.Applies(s.p.Name) })
	}
	for _, s := range given {
		if !applies(s) {
			return l, fmt.Errorf("learner %s: %s has no effect with its other settings; leave it out", name, s.p.Name)
		}
	}
	for _, s := range shared {
		if applies(s) {
			useful[s.p.Name] = true
			continue
		}
		delete(l.Grid, s.p.Name)
		if err := l.Spec.Set(s.p.Name, s.p.Default); err != nil {
			return l, err
		}
	}
	return l, nil
}

// specs returns the specs of all settings except for C, or an error if one is invalid.
func (l Learner) specs() (specs []ml.Spec, err error) {
	paths, err := l.Grid.Paths(l.Spec)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if err := p.Spec.Validate(); err != nil {
			return nil, err
		}
		specs = append(specs, p.Spec)
	}
	return specs, nil
}

// Encode writes the study for Parse: equal studies have equal texts.
func (s *Study) Encode() (string, error) {
	var b bytes.Buffer
	table := func(heading toml.Key, values map[string]any) error {
		if heading != nil {
			fmt.Fprintf(&b, "\n[%s]\n", heading)
		}
		return toml.NewEncoder(&b).Encode(values)
	}
	// put omits empty values.
	put := func(values map[string]any, key, text string) {
		if text != "" {
			values[key] = text
		}
	}
	top := map[string]any{"baseline": s.Baseline}
	put(top, "title", s.Title)
	put(top, "version", s.Version)
	if err := table(nil, top); err != nil {
		return "", err
	}
	scheme := map[string]any{"folds": s.Folds, "repeats": s.Repeats, "seed": s.Seed, "max_rows": s.MaxRows}
	if s.Values {
		scheme["target"] = "value"
	}
	if err := table(toml.Key{"scheme"}, scheme); err != nil {
		return "", err
	}
	for _, set := range s.Sets {
		values := make(map[string]any)
		for name, v := range set.Values {
			values[name] = plain(v)
		}
		for key, text := range map[string]string{"file": set.File, "builtin": set.Builtin, "generator": set.Generator, "label": set.Label, "missing": string(set.Missing), "positive": set.Positive, "sha256": set.SHA256} {
			put(values, key, text)
		}
		if set.Features != nil {
			values["features"] = set.Features
		}
		if err := table(toml.Key{"data", set.Name}, values); err != nil {
			return "", err
		}
	}
	for _, l := range s.Learners {
		specs, err := l.specs()
		if err != nil {
			return "", err
		}
		values := make(map[string]any)
		for _, p := range ml.Params {
			applies := func(q ml.Spec) bool { return q.Applies(p.Name) }
			switch {
			case slices.Contains(sharedParams, p.Name) || !slices.ContainsFunc(specs, applies):
			case len(l.Grid[p.Name]) > 0:
				values[p.Name] = lists.Map(l.Grid[p.Name], plain)
			case p.Name == "learner" || l.Spec.Value(p.Name) != p.Read(p.Default):
				values[p.Name] = plain(l.Spec.Value(p.Name))
			}
		}
		if err := table(toml.Key{"learner", l.Name}, values); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// plain converts a value for the TOML encoder.
func plain(v param.Value) any {
	switch n := v.Number(); {
	case v.IsNumber() && n == math.Trunc(n) && math.Abs(n) < 1e15:
		return int64(n)
	case v.IsNumber():
		return n
	case v == param.Of(v.Switch()):
		return v.Switch()
	}
	return v.Text()
}
