package ml

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Spec holds all settings of a training: columns, kernel, learner and evaluation. Together with
// the data it determines the result. Parameters have the names and ranges of Params; those that do
// not apply to the learner, kernel and conformal method are ignored and omitted from the JSON form.
type Spec struct {
	Learner   string // an entry of Learners
	Kernel    string // an entry of kernel.Table
	Conformal string // "none" or an entry of conformal.Table

	// Values holds the parameters of the learner, kernel and conformal map, such as C and gamma.
	// It is never modified in place: Set and With replace it.
	Values param.Values

	Label       string   // label column; empty: the data set's own
	Target      string   // "class", or "value": the labels are numbers, and f is fitted to them
	Features    []string // nil: all
	Positive    string   // class +1, against all others; empty: the second of two classes, or multiclass
	Multiclass  string   // an entry of Multiclass; empty: the first
	Standardize bool
	Project     string // "none" or "pca": train on two principal components

	TestFraction float64 // fraction of rows held out, stratified by class
	Seed         uint64  // of the split

	// CacheBytes bounds the memory for rows of the kernel matrix, see Caches; 0: the
	// learner's default. It is not a parameter, because it affects speed only and depends on
	// the machine that trains.
	CacheBytes int64
}

// Group is a section of the form with its parameters.
type Group struct {
	Name   string
	Title  string
	Params []param.Param
}

// Groups lists every parameter in the order pages, JSON and help show them.
var Groups = []Group{
	{"data", "Data", []param.Param{
		{Name: "label", Label: "label column", Kind: param.Text, Help: "Column with the class; empty: the label column of the data set."},
		{Name: "target", Label: "target", Kind: param.Choice, Default: "class", Options: []param.Option{
			{Name: "class", Label: "classes", Help: "Predict classes."},
			{Name: "value", Label: "values (regression)", Help: "Fit f(x) to numeric labels."},
		}, Help: "How to read the labels: as classes, or as values for regression (numeric labels only)."},
		{Name: "features", Label: "features", Kind: param.Text, Help: "Columns to train on, separated by commas; empty: all."},
		{Name: "positive", Label: "positive class", Kind: param.Text, When: "target", Is: "class", Help: "Class on the side f(x) ≥ 0, against all others. Empty: the last of two classes; with more classes, all are separated."},
		{Name: "standardize", Label: "standardise", Off: "not standardised", Kind: param.Switch, Default: "true", Help: "Scale every feature to mean 0 and standard deviation 1, computed on the training set."},
		{Name: "project", Label: "projection", Kind: param.Choice, Default: "none", Options: []param.Option{
			{Name: "none", Label: "none", Help: "Train on the features as they are."},
			{Name: "pca", Label: "two principal components", Help: "Train on the two directions of largest variance in the training set."},
		}, Help: "Train on the features themselves or on their two leading principal components."},
	}},
	{"kernel", "Kernel", withOptions(kernelChoice())},
	{"machine", "Machine", append(withOptions(learnerChoice()), multiclassChoice())},
	{"conformal", "Conformal map", withOptions(conformalChoice())},
	{"evaluation", "Evaluation", []param.Param{
		{Name: "test_fraction", Label: "held-out fraction", Kind: param.Number, Default: "0", Min: 0, Max: 0.9, Low: 0, High: 0.9, Help: "Fraction of every class held out as the test set."},
		{Name: "seed", Label: "seed", Kind: param.Integer, Default: "1", Min: 0, Max: 1 << 53, Help: "Random seed of the split: same seed, same split."},
		{Name: "calibration", Label: "calibration", Kind: param.Choice, Default: "none", When: "target", Is: "class", Options: []param.Option{
			{Name: "none", Label: "none", Help: "f(x) only, without probabilities."},
			{Name: "platt", Label: "Platt scaling", Formula: "p(x) = 1/(1 + exp(A f(x) + B))", Help: "A sigmoid of f, fitted by 5-fold cross-validation on the training set. Two classes only."},
		}, Help: "Whether to predict the probability of the positive class in addition to f(x)."},
	}},
}

// Params lists every parameter of Groups.
var Params = slices.Concat(lists.Map(Groups, func(g Group) []param.Param { return g.Params })...)

// KernelParams lists the names of the kernel and of its parameters.
var KernelParams = names(withOptions(kernelChoice()))

func names(ps []param.Param) []string {
	return lists.Map(ps, func(p param.Param) string { return p.Name })
}

// withOptions returns a choice followed by the parameters of all its options, each once.
func withOptions(choice param.Param) []param.Param {
	ps := []param.Param{choice}
	for _, o := range choice.Options {
		ps = param.Union(ps, o.Params...)
	}
	return ps
}

func kernelChoice() param.Param {
	p := param.Param{Name: "kernel", Label: "kernel", Kind: param.Choice, Default: "rbf", Help: "Similarity of two points; determines which boundaries are possible."}
	for _, r := range kernel.Table {
		p.Options = append(p.Options, param.Option{Name: r.Name, Label: r.Label, Formula: r.Formula, Help: r.Help, Params: r.Params})
	}
	return p
}

func learnerChoice() param.Param {
	p := param.Param{Name: "learner", Label: "learner", Kind: param.Choice, Default: "svm", Help: "The learner to train."}
	for _, l := range Learners {
		p.Options = append(p.Options, param.Option{Name: l.Name, Label: l.Label, Formula: l.Problem, Help: l.Help, Params: l.Params})
	}
	return p
}

func multiclassChoice() param.Param {
	p := param.Param{Name: "multiclass", Label: "several classes", Kind: param.Choice, Default: "ovo", When: "positive", Help: "How to separate more than two classes."}
	for _, e := range Multiclass {
		p.Options = append(p.Options, param.Option{Name: e.Name, Label: e.Label, Formula: e.Formula, Help: e.Help})
	}
	return p
}

func conformalChoice() param.Param {
	p := param.Param{Name: "conformal", Label: "conformal map", Kind: param.Choice, Default: "none", When: "target", Is: "class", Help: "Reshape the kernel to c(x) c(z) k(x, z) after a first fit, then train again."}
	p.Options = []param.Option{{Name: "none", Label: "none", Help: "Train once, with the kernel as it is."}}
	for _, r := range conformal.Table {
		p.Options = append(p.Options, param.Option{Name: r.Name, Label: r.Label, Formula: r.Formula, Help: r.Help, Params: r.Params})
	}
	return p
}

// Param returns the entry of a parameter.
func Param(name string) (found param.Param, ok bool) {
	for i := range Params { // by index: entries are large, and every training looks up hundreds
		if Params[i].Name == name {
			return Params[i], true
		}
	}
	return found, false
}

// NoParameter returns the message for an unknown parameter, with a suggestion.
func NoParameter(name string) string {
	return name + " is not a parameter" + param.DidYouMean(name, "", names(Params))
}

// DefaultSpec returns a Spec with every parameter at its default.
func DefaultSpec() Spec { return defaultSpec() }

// defaultSpec returns the result of DefaultSpec. It is built once; copies share its Values.
var defaultSpec = sync.OnceValue(func() Spec {
	s := Spec{Values: param.Values{}}
	for _, p := range Params {
		if err := s.Set(p.Name, p.Default); err != nil {
			panic("default of " + p.Name + ": " + err.Error()) // a mistake in the table
		}
	}
	return s
})

// field returns a pointer to the field that holds a parameter, nil for a parameter in Values. It is a
// switch because a table of functions would make s escape to the heap.
func (s *Spec) field(name string) any {
	switch name {
	case "learner":
		return &s.Learner
	case "kernel":
		return &s.Kernel
	case "conformal":
		return &s.Conformal
	case "label":
		return &s.Label
	case "target":
		return &s.Target
	case "features":
		return &s.Features
	case "positive":
		return &s.Positive
	case "multiclass":
		return &s.Multiclass
	case "standardize":
		return &s.Standardize
	case "project":
		return &s.Project
	case "test_fraction":
		return &s.TestFraction
	case "seed":
		return &s.Seed
	}
	return nil
}

// Set sets a parameter from text. It returns param.Problems for an unknown name or a
// value out of range.
func (s *Spec) Set(name, text string) error {
	p, ok := Param(name)
	if !ok {
		return param.Problems{{Field: name, Message: NoParameter(name)}}
	}
	v, err := p.Parse(text)
	if err != nil {
		return param.Problems{{Field: name, Message: err.Error()}}
	}
	if field := s.field(name); field == nil {
		s.Values = s.Values.With(name, v)
	} else if err := assign(field, v); err != nil {
		return param.Problems{{Field: name, Message: name + ": " + err.Error()}}
	}
	return nil
}

// With returns s with another value of a parameter in Values, such as C or gamma. The value
// is not checked until Validate.
func (s Spec) With(name string, v param.Value) Spec {
	s.Values = s.Values.With(name, v)
	return s
}

func assign(field any, v param.Value) (err error) {
	switch f := field.(type) {
	case *string:
		*f = v.Text()
	case *float64:
		*f = v.Number()
	case *uint64:
		*f = uint64(min(max(0, v.Number()), 1<<53))
	case *bool:
		*f = v.Switch()
	case *[]string:
		*f, err = splitList(v.Text())
	}
	return err
}

// Value returns the value of a parameter; a list of names is a text.
func (s Spec) Value(name string) param.Value {
	switch f := s.field(name).(type) {
	case *string:
		return param.Of(*f)
	case *float64:
		return param.Of(*f)
	case *uint64:
		return param.Of(float64(*f))
	case *bool:
		return param.Of(*f)
	case *[]string:
		return param.Of(joinList(*f))
	}
	return s.Values[name]
}

// Text returns the value of a parameter in the notation of Set.
func (s Spec) Text(name string) string {
	if text, ok := s.field(name).(*string); ok {
		return *text // without a Value, which would be allocated
	}
	return s.Value(name).Text()
}

// splitList reads a list written as one CSV record, so that names may contain commas.
func splitList(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	list, err := r.Read()
	if err == nil {
		_, err = r.Read()
	}
	if err != io.EOF || len(list) == 0 {
		return nil, errors.New("expected names separated by commas; put names that contain commas in double quotes")
	}
	return list, nil
}

func joinList(list []string) string {
	var b strings.Builder
	_ = csv.NewWriter(&b).WriteAll([][]string{list}) // a strings.Builder never fails
	return strings.TrimSuffix(b.String(), "\n")
}

// Caches reports whether the learner uses CacheBytes.
func (s Spec) Caches() bool {
	learner, err := lookup(s.Learner)
	return err == nil && learner.Cache
}

// Regression reports whether the target is numeric.
func (s Spec) Regression() bool { return s.Target == "value" }

// Targets reports whether the learner fits f to the targets (±1 or values) by least squares: there
// is no margin, and every training point has a weight.
func (s Spec) Targets() bool {
	learner, err := lookup(s.Learner)
	return err == nil && learner.Targets
}

// Quicker returns advice for a shorter training: "a smaller C or gamma".
func (s Spec) Quicker() string {
	learner, _ := lookup(s.Learner)
	return learner.Quicker
}

// Applies reports whether a parameter is used with the chosen learner, kernel, conformal
// method and other values. If a choice is unknown, as in a spec stored by an earlier
// version, every parameter with a value applies.
func (s Spec) Applies(name string) bool {
	p, ok := Param(name)
	if !ok {
		return s.Values.Has(name)
	}
	if slices.Contains(vectorParams, name) {
		takes, err := s.kernel().Takes()
		return err != nil || takes == dataset.KindVectors
	}
	if choice, ok := choices[name]; ok {
		switch o, known := s.option(choice); {
		case known && !param.Contains(o.Params, name), !known && !s.Values.Has(name):
			return false
		}
	}
	if p.When == "" {
		return true
	}
	beside, ok := Param(p.When)
	v := s.Value(p.When)
	return !ok || v == (param.Value{}) || s.Applies(p.When) && v == beside.Read(p.Is)
}

// kernel returns the chosen kernel, not yet fitted to rows.
func (s Spec) kernel() kernel.Kernel { return kernel.Kernel{Name: s.Kernel, Values: s.Values} }

// Takes returns the kind of objects that the chosen kernel compares, empty if it is unknown.
func (s Spec) Takes() dataset.Kind {
	kind, _ := s.kernel().Takes() // empty with an error
	return kind
}

// vectorParams lists the parameters that apply to vectors only.
var vectorParams = []string{"features", "standardize", "project"}

// choices maps each parameter of an option to the choice it belongs to.
var choices = func() map[string]*param.Param {
	of := map[string]*param.Param{}
	for i := range Params {
		for _, o := range Params[i].Options {
			for _, p := range o.Params {
				of[p.Name] = &Params[i]
			}
		}
	}
	return of
}()

// option returns the option of a choice that s selects, or false if it is unknown.
func (s Spec) option(choice *param.Param) (*param.Option, bool) {
	name := s.Text(choice.Name)
	for i := range choice.Options {
		if o := &choice.Options[i]; o.Name == name {
			return o, true
		}
	}
	return nil, false
}

// Name returns a short name of the spec: the learner, then the differences from last, then other
// settings, such as "MCM, ρ 0.01, γ 3". last may be nil. It leaves out the parameters in omit; if no
// word remains, it returns "several machines".
func (s Spec) Name(last *Spec, omit ...string) string {
	var words, differing, others []string
	if !slices.Contains(omit, "learner") {
		words = append(words, s.learnerLabel())
	}
	switch kernel := s.kernelLabel(); {
	case slices.Contains(omit, "kernel"):
	case last != nil && last.kernelLabel() != kernel:
		differing = append(differing, kernel)
	case kernel != DefaultSpec().Kernel:
		others = append(others, kernel)
	}
	for _, c := range s.chosen(last) {
		if slices.Contains(omit, c.param.Name) {
			continue
		}
		text := c.text
		if c.named {
			text = cmp.Or(c.param.Symbol, c.param.Label) + " " + text
		}
		if last != nil && s.differs(*last, c.param) {
			differing = append(differing, text)
		} else {
			others = append(others, text)
		}
	}
	if s.Regression() {
		others = append(others, "regression")
	}
	return cmp.Or(strings.Join(slices.Concat(words, differing, others), ", "), "several machines")
}

// differs reports whether a parameter differs between two specs.
func (s Spec) differs(o Spec, p param.Param) bool {
	return !o.Applies(p.Name) || o.Text(p.Name) != s.Text(p.Name)
}

func (s Spec) learnerLabel() string {
	row, err := lookup(s.Learner)
	if err != nil {
		return strings.ToUpper(s.Learner)
	}
	return row.Label
}

func (s Spec) kernelLabel() string {
	if text := s.Text("expression"); s.Applies("expression") && len(text) <= maxNameText {
		return text
	}
	return s.Kernel
}

// chosenParam is a parameter to mention in a name.
type chosenParam struct {
	param param.Param
	text  string
	named bool // text needs the name
}

// chosen returns the parameters for a name: the main parameters of the learner, and all that differ
// from their default or from last.
func (s Spec) chosen(last *Spec) (all []chosenParam) {
	ordinary := DefaultSpec()
	for _, p := range Params {
		changed := last != nil && last.Applies(p.Name) && s.Applies(p.Name) && s.differs(*last, p)
		split := p.Name == "test_fraction" || p.Name == "seed"
		if slices.Contains(notInName, p.Name) && !(split && changed) || !s.Applies(p.Name) {
			continue
		}
		v := s.Value(p.Name)
		text := v.Text()
		owner := choices[p.Name]
		always := p.Telling && owner != nil && owner.Name == "learner"
		switch {
		case p.Name == "test_fraction" && s.TestFraction == 0:
			all = append(all, chosenParam{p, "nothing held out", false})
		case p.Name == "test_fraction":
			all = append(all, chosenParam{p, param.Digits(100*s.TestFraction, 3) + " % held out", false})
		case text == ordinary.Text(p.Name) && !always && !changed || len(text) > maxNameText:
		case p.Kind == param.Switch && v.Switch():
			all = append(all, chosenParam{p, p.Label, false})
		case p.Kind == param.Switch && always && !changed:
		case p.Kind == param.Switch:
			all = append(all, chosenParam{p, cmp.Or(p.Off, "not "+p.Label), false})
		case v.IsNumber():
			all = append(all, chosenParam{p, param.Digits(v.Number(), 4), true})
		case p.Kind == param.Choice: // its value is enough
			if o, ok := s.option(&p); text == "none" {
				text = "no " + p.Label
			} else if ok {
				text, _, _ = strings.Cut(o.Label, " (") // without the source of a method
				if p.Name == "conformal" {
					text += " map"
				}
			}
			all = append(all, chosenParam{p, text, false})
		default:
			all = append(all, chosenParam{p, text, true})
		}
	}
	return all
}

// notInName lists the parameters that a name omits or words differently.
var notInName = []string{"learner", "kernel", "expression", "target", "label", "positive", "test_fraction", "seed"}

// maxNameText is the longest text shown in a name, in bytes.
const maxNameText = 40

// Validate returns param.Problems with every applicable parameter that is out of range. For an
// unknown choice it reports only the choice.
func (s Spec) Validate() error {
	var ps param.Problems
	for _, p := range Params {
		if !s.Applies(p.Name) {
			continue
		}
		if choice, ok := choices[p.Name]; ok {
			if _, known := s.option(choice); !known {
				continue
			}
		}
		ps.Note(p.Name, p.Verify(s.Value(p.Name)))
	}
	return ps.Err()
}

// newParams lists parameters introduced after specs were stored under a hash of their JSON form. To
// keep the hashes, MarshalJSON omits them at their defaults.
var newParams = []string{"calibration"}

// MarshalJSON writes the parameters that apply, in the order of Params.
func (s Spec) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	write := func(name string, value any) error {
		v, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", name, v)
		return nil
	}
	for _, p := range Params {
		value := any(s.Value(p.Name))
		switch {
		case !s.Applies(p.Name) || p.Kind == param.Text && s.Text(p.Name) == "":
			continue
		case slices.Contains(newParams, p.Name) && s.Text(p.Name) == p.Default:
			continue
		case p.Name == "features":
			value = s.Features
		}
		if err := write(p.Name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		if _, ok := Param(name); ok {
			continue
		}
		if err := write(name, s.Values[name]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON starts from DefaultSpec and sets the given parameters, as for requests. It
// returns all unknown names and values out of range together as param.Problems.
func (s *Spec) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return param.Problems{{Field: "spec", Message: "spec must be a JSON object"}}
	}
	*s = DefaultSpec()
	var ps param.Problems
	for name, v := range raw {
		if err := s.Set(name, plain(v)); err != nil {
			ps = append(ps, err.(param.Problems)...)
		}
	}
	slices.SortFunc(ps, func(a, b param.Problem) int { return strings.Compare(a.Field, b.Field) })
	return ps.Err()
}

// ReadStoredSpec reads a spec written by MarshalJSON, possibly of an earlier version. It keeps
// values out of bounds and unknown parameters, for Validate to report. It returns an error only for
// text that is not a JSON object.
func ReadStoredSpec(data []byte) (Spec, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil || raw == nil {
		return DefaultSpec(), errors.New("a stored spec must be a JSON object")
	}
	s := DefaultSpec()
	for name, text := range raw {
		p, ok := Param(name)
		v := p.Read(plain(text))
		if !ok && json.Unmarshal(text, &v) != nil {
			v = param.Of(string(text))
		}
		if field := s.field(name); field == nil {
			s.Values = s.Values.With(name, v)
		} else {
			_ = assign(field, v) // an unreadable list stays empty
		}
	}
	for _, p := range Params { // defaults mean nothing for an unknown choice
		if choice, ok := choices[p.Name]; ok {
			_, known := s.option(choice)
			if _, stored := raw[p.Name]; !known && !stored {
				s.Values = s.Values.Without(p.Name)
			}
		}
	}
	return s, nil
}

// plain converts a JSON value to the notation of Set.
func plain(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(v, &list) == nil {
		return joinList(list)
	}
	return string(v)
}
