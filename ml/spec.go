package ml

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/conformal"
	"marginlab/ml/kernel"
	"marginlab/ml/mcm"
	"marginlab/ml/param"
	"marginlab/ml/svm"
)

// Spec is everything a person chooses about a training: which columns, which
// kernel, which machine, how it is judged. With the data it determines the
// result. Values have the names and ranges of Params; those that do not apply
// to the chosen learner, kernel and conformal method are ignored and are left
// out of the JSON form.
type Spec struct {
	Learner string // "svm" or "mcm"
	Kernel  string // a row of kernel.Table
	Gamma   kernel.Gamma
	Coef0   float64
	Degree  int

	C          float64
	HardMargin bool // C is ignored: no slack
	Rho        float64
	RankTol    float64
	Tol        float64
	MaxIter    int // 0: the solver's own limit

	Conformal string       // "none" or a row of conformal.Table
	CoreGamma kernel.Gamma // auto: the kernel's gamma, or 1/d
	CoreRidge float64
	CoreStep  int // every N-th training row as core; 0: the support vectors

	Label       string   // label column; empty: as the data set has it
	Features    []string // nil: all
	Positive    string   // class +1; empty: the last of two
	Standardize bool
	Project     string // "none" or "pca": train on two principal components

	TestFraction float64 // share of rows held out, by class
	Seed         uint64  // of the split

	// CacheBytes is the memory for rows of the kernel matrix that the SVM may take;
	// 0: its default. No parameter, as it decides how fast a result is there and
	// belongs to the machine that trains.
	CacheBytes int64
}

// Group is a heading of the form with the parameters below it.
type Group struct {
	Name   string
	Title  string
	Params []param.Param
}

// Groups lists every parameter in the order pages, JSON and help show them.
var Groups = []Group{
	{"data", "Data", []param.Param{
		{Name: "label", Label: "label column", Kind: param.Text, Help: "Column that holds the class; empty takes the one the file was read with."},
		{Name: "features", Label: "features", Kind: param.Text, Help: "Columns to train on, separated by commas; empty takes all."},
		{Name: "positive", Label: "positive class", Kind: param.Text, Help: "Class on the side f(x) ≥ 0. With more than two classes it is trained against all the others."},
		{Name: "standardize", Label: "standardise", Kind: param.Switch, Default: "true", Help: "Shift and scale every feature to mean 0 and deviation 1, measured on the training rows."},
		{Name: "project", Label: "projection", Kind: param.Choice, Default: "none", Options: []param.Option{
			{Name: "none", Label: "none", Help: "Train on the features as they are."},
			{Name: "pca", Label: "two principal components", Help: "Train on the two directions of largest variance among the training rows."},
		}, Help: "Train on the features themselves or on their two leading principal components."},
	}},
	{"kernel", "Kernel", append([]param.Param{kernelChoice()}, kernelParams()...)},
	{"machine", "Machine", slices.Concat([]param.Param{learnerChoice()}, svm.Params, mcm.Params)},
	{"conformal", "Conformal map", append([]param.Param{conformalChoice()}, conformalParams()...)},
	{"evaluation", "Evaluation", []param.Param{
		{Name: "test_fraction", Label: "held-out share", Kind: param.Number, Default: "0", Min: 0, Max: 0.9, Low: 0, High: 0.9, Help: "Share of every class kept out of training to measure accuracy on unseen points."},
		{Name: "seed", Label: "seed", Kind: param.Integer, Default: "1", Min: 0, Max: 1 << 53, Help: "Decides which points are held out; the same seed gives the same split."},
	}},
}

// Params lists every parameter of Groups.
var Params = func() (all []param.Param) {
	for _, g := range Groups {
		all = append(all, g.Params...)
	}
	return all
}()

func kernelChoice() param.Param {
	p := param.Param{Name: "kernel", Label: "kernel", Kind: param.Choice, Default: "rbf", Help: "How similar two points are; decides which boundaries are possible."}
	for _, r := range kernel.Table {
		p.Options = append(p.Options, param.Option{Name: r.Name, Label: r.Label, Help: r.Help})
	}
	return p
}

// kernelParams is the union of the kernels' parameters, each once.
func kernelParams() (ps []param.Param) {
	for _, r := range kernel.Table {
		ps = union(ps, r.Params)
	}
	return ps
}

func conformalChoice() param.Param {
	p := param.Param{Name: "conformal", Label: "conformal map", Kind: param.Choice, Default: "none", Help: "Reshape the kernel to c(x) c(z) k(x, z) after a first fit, then train again."}
	p.Options = []param.Option{{Name: "none", Label: "None", Help: "Train once, with the kernel as it is."}}
	for _, r := range conformal.Table {
		p.Options = append(p.Options, param.Option{Name: r.Name, Label: r.Label, Help: r.Help})
	}
	return p
}

func conformalParams() (ps []param.Param) {
	for _, r := range conformal.Table {
		ps = union(ps, r.Params)
	}
	return ps
}

func union(ps, more []param.Param) []param.Param {
	for _, p := range more {
		if !slices.ContainsFunc(ps, func(q param.Param) bool { return q.Name == p.Name }) {
			ps = append(ps, p)
		}
	}
	return ps
}

// Param returns the row of a parameter.
func Param(name string) (param.Param, bool) {
	i := slices.IndexFunc(Params, func(p param.Param) bool { return p.Name == name })
	if i < 0 {
		return param.Param{}, false
	}
	return Params[i], true
}

// DefaultSpec has every parameter at its default.
func DefaultSpec() Spec {
	var s Spec
	for _, p := range Params {
		if err := assign(s.ref(p.Name), p.Default); err != nil {
			panic("default of " + p.Name + ": " + err.Error()) // a wrong row of the table, not data
		}
	}
	return s
}

// ref is the field that holds a parameter.
func (s *Spec) ref(name string) any {
	switch name {
	case "learner":
		return &s.Learner
	case "kernel":
		return &s.Kernel
	case "gamma":
		return &s.Gamma
	case "coef0":
		return &s.Coef0
	case "degree":
		return &s.Degree
	case "C":
		return &s.C
	case "hard_margin":
		return &s.HardMargin
	case "rho":
		return &s.Rho
	case "rank_tol":
		return &s.RankTol
	case "tol":
		return &s.Tol
	case "max_iter":
		return &s.MaxIter
	case "conformal":
		return &s.Conformal
	case "core_gamma":
		return &s.CoreGamma
	case "core_ridge":
		return &s.CoreRidge
	case "core_step":
		return &s.CoreStep
	case "label":
		return &s.Label
	case "features":
		return &s.Features
	case "positive":
		return &s.Positive
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

// Set gives a parameter the value that text stands for. An unknown name or a
// value outside the parameter's range is a param.Problems error.
func (s *Spec) Set(name, text string) error {
	p, ok := Param(name)
	if !ok {
		return param.Problems{{Field: name, Message: fmt.Sprintf("%s is not a parameter", name)}}
	}
	if err := p.Check(text); err != nil {
		return param.Problems{{Field: name, Message: err.Error()}}
	}
	if err := assign(s.ref(name), text); err != nil {
		return param.Problems{{Field: name, Message: name + ": " + err.Error()}}
	}
	return nil
}

func assign(ref any, text string) (err error) {
	switch v := ref.(type) {
	case *string:
		*v = text
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	case *int:
		var f float64 // 1e4 is a whole number too
		f, err = strconv.ParseFloat(text, 64)
		*v = int(f)
	case *uint64:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		*v = uint64(f)
	case *bool:
		*v, err = strconv.ParseBool(text)
	case *kernel.Gamma:
		*v, err = kernel.ParseGamma(text)
	case *[]string:
		*v, err = splitList(text)
	default:
		err = fmt.Errorf("no field of type %T", ref)
	}
	return err
}

// Text is the value of a parameter in the notation that Set reads.
func (s Spec) Text(name string) string {
	switch v := s.ref(name).(type) {
	case *string:
		return *v
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *int:
		return strconv.Itoa(*v)
	case *uint64:
		return strconv.FormatUint(*v, 10)
	case *bool:
		return strconv.FormatBool(*v)
	case *kernel.Gamma:
		return v.String()
	case *[]string:
		return joinList(*v)
	}
	return ""
}

// A list in text is one CSV record, so that names may hold commas.
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
		return nil, errors.New("expected names separated by commas, in double quotes where they hold commas themselves")
	}
	return list, nil
}

func joinList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(list) // a strings.Builder does not fail
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// Applies tells whether a parameter has a meaning under the chosen learner,
// kernel, conformal method and margin.
func (s Spec) Applies(name string) bool {
	has := func(ps []param.Param) bool {
		return slices.ContainsFunc(ps, func(p param.Param) bool { return p.Name == name })
	}
	switch {
	case name == "C" && s.HardMargin:
		return false
	case name == "rank_tol" && s.Rho > 0:
		return false
	case has(kernelParams()):
		row, _ := kernel.Lookup(s.Kernel)
		return has(row.Params)
	case name != "conformal" && has(conformalParams()):
		row, err := conformal.Lookup(s.Conformal)
		return err == nil && has(row.Params)
	case name != "learner" && (has(svm.Params) || has(mcm.Params)):
		row, err := lookup(s.Learner)
		return err == nil && has(row.Params)
	}
	return true
}

// Title is what tells the spec from its neighbours in few words: "SVM rbf C=10 eigen".
func (s Spec) Title() string {
	words := []string{strings.ToUpper(s.Learner), s.Kernel, "C=" + strconv.FormatFloat(s.C, 'g', 4, 64)}
	if s.HardMargin {
		words[2] = "hard margin"
	}
	if s.Conformal != "none" {
		words = append(words, s.Conformal)
	}
	return strings.Join(words, " ")
}

// Validate reports every applicable parameter that is out of its range, as
// param.Problems.
func (s Spec) Validate() error {
	var ps param.Problems
	for _, p := range Params {
		if !s.Applies(p.Name) {
			continue
		}
		if err := p.Check(s.Text(p.Name)); err != nil {
			ps = append(ps, param.Problem{Field: p.Name, Message: err.Error()})
		}
	}
	return ps.Err()
}

// MarshalJSON writes the parameters that apply, in the order of Params.
func (s Spec) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, p := range Params {
		ref := s.ref(p.Name)
		if !s.Applies(p.Name) || p.Kind == param.Text && s.Text(p.Name) == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		v, err := json.Marshal(ref)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", p.Name, v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON starts from DefaultSpec and sets what is given. Unknown names
// and values out of range come back together as param.Problems.
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

// plain turns a JSON value into the text that Set reads.
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
