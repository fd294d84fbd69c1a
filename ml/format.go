package ml

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
)

// Format is the newest version of the JSON form of models. A model is written in the lowest
// version that can hold it, so that older programs can read it: 2, or 3 with probabilities, 4 with
// imputation, 5 with directed or edge-labelled graphs, 6 with vectors of many columns that are mostly
// 0. All versions stay readable; the first had no number.
const Format = 6

// ReadModel reads the JSON form of a model, of any version up to Format, and validates
// it. Unknown fields and trailing data are errors.
func ReadModel(r io.Reader) (*Model, error) {
	var text bytes.Buffer
	if _, err := text.ReadFrom(r); err != nil {
		return nil, fmt.Errorf("not a model in JSON: %w", err)
	}
	m := new(Model)
	if err := m.UnmarshalJSON(text.Bytes()); err != nil {
		return nil, err
	}
	return m, nil
}

// UnmarshalJSON reads the JSON form of a model as ReadModel does.
func (m *Model) UnmarshalJSON(text []byte) error {
	read, err := decode(text, true)
	if err != nil {
		return err
	}
	if err := read.Validate(); err != nil {
		return err
	}
	*m = *read
	return nil
}

// ReadStoredModel reads a model from the database, of any version up to Format. It is lenient:
// unknown fields are ignored, and kernel parameters may be outside bounds that have changed
// since. Only a model that cannot be evaluated is an error.
func ReadStoredModel(text []byte) (*Model, error) {
	m, err := decode(text, false)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// MarshalJSON writes the model with its format version. Empty lists are written as [].
func (m Model) MarshalJSON() ([]byte, error) {
	shape, kept := dataset.KeptOf(m.Supports.Objects)
	shape.Objects = m.kind()
	f := format2{
		Format: 2, Features: nonNil(m.Features), Label: m.Label, Classes: nonNil(m.Classes),
		Shape: shape, Scaler: m.Scaler, Projection: m.Projection, Kernel: m.Kernel,
		Supports: supports2{Rows: nonNil(m.Supports.Rows), Sparse: sparseOf(m.Supports.Vectors), Kept: kept},
		Machines: make([]machine2, len(m.Machines)), Rule: m.Rule,
	}
	if m.kind() == dataset.KindVectors && f.Supports.Sparse == nil {
		f.Supports.Vectors = nonNil(m.Supports.Vectors)
	}
	for k, machine := range m.Machines {
		_, cores := dataset.KeptOf(machine.Cores)
		f.Machines[k] = machine2{nonNil(machine.Coef), machine.B, machine.Map, machine.CoreRows, dataset.KeptCores(cores), machine.Factors}
	}
	f.Fill, f.Platt = m.Fill, m.Platt
	switch {
	case f.Supports.Sparse != nil:
		f.Format = 6
	case m.needsFormat5():
		f.Format = 5
	case m.Fill != nil:
		f.Format = 4
	case m.Platt != nil:
		f.Format = 3
	}
	return json.Marshal(f)
}

// nonNil returns v, or an empty slice if it is nil, so that JSON has [] rather than null.
func nonNil[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

// format2 is the JSON form of models with a version number.
type format2 struct {
	Format   int      `json:"format"`
	Features []string `json:"features"`
	Label    string   `json:"label"`
	Classes  []string `json:"classes"`
	dataset.Shape
	Scaler     *dataset.Scaler `json:"scaler,omitempty"`
	Projection *Projection     `json:"projection,omitempty"`
	Kernel     kernel.Kernel   `json:"kernel"`
	Supports   supports2       `json:"supports"`
	Machines   []machine2      `json:"machines"`
	Rule       Rule            `json:"rule"`
	Fill       dataset.Fill    `json:"fill,omitempty"`  // formats 4 and 6
	Platt      *Platt          `json:"platt,omitempty"` // formats 3 to 6
}

type supports2 struct {
	Rows    []int   `json:"rows"`
	Vectors vectors `json:"vectors,omitzero"`
	Sparse  *sparse `json:"sparse,omitempty"` // format 6, in place of vectors
	dataset.Kept
}

// sparse are vectors without their zeros.
type sparse struct {
	Columns [][]int `json:"columns"` // of the values of each vector, rising from 0
	Values  vectors `json:"values"`
}

// mostSparse bounds the numbers of sparse vectors, zeros counted: 2 GiB.
const mostSparse = 1 << 28

// sparseOf returns v without zeros, or nil if it has few columns or is not much longer with them.
func sparseOf(v vectors) *sparse {
	const many = 1000 // columns: as of texts
	if len(v) == 0 || len(v[0]) < many || len(v)*len(v[0]) > mostSparse {
		return nil
	}
	s, few := &sparse{}, 0
	for _, x := range v {
		at := lists.Where(len(x), func(k int) bool { return x[k] != 0 })
		if few += len(at); few > len(v)*len(x)/4 {
			return nil
		}
		s.Columns, s.Values = append(s.Columns, nonNil(at)), append(s.Values, nonNil(lists.At(x, at)))
	}
	return s
}

// vectors returns the vectors of length d.
func (s *sparse) vectors(d int) (vectors, error) {
	if len(s.Columns) != len(s.Values) || len(s.Columns) > mostSparse/max(1, d) {
		return nil, fmt.Errorf("model: sparse: expected as many lists of columns as of values, with %d columns at most %d, found %d and %d", d, mostSparse/max(1, d), len(s.Columns), len(s.Values))
	}
	v, all := make(vectors, len(s.Values)), make([]float64, len(s.Values)*d)
	for i, at := range s.Columns {
		v[i] = all[i*d:][:d]
		if len(at) != len(s.Values[i]) {
			return nil, fmt.Errorf("model: sparse: vector %d: expected as many values as columns, found %d and %d", i, len(s.Values[i]), len(at))
		}
		for k, column := range at {
			if column < 0 || column >= d || k > 0 && column <= at[k-1] {
				return nil, fmt.Errorf("model: sparse: vector %d: expected rising columns from 0 to %d, found %d", i, d-1, column)
			}
			v[i][column] = s.Values[i][k]
		}
	}
	return v, nil
}

// vectors are lists of numbers, read in one pass: those of texts have millions.
type vectors [][]float64

// UnmarshalJSON reads v as a [][]float64.
func (v *vectors) UnmarshalJSON(text []byte) error {
	if !v.plain(text) {
		return json.Unmarshal(text, (*[][]float64)(v))
	}
	return nil
}

// plain reads v from JSON without errors and null.
func (v *vectors) plain(text []byte) bool {
	text, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("["))
	*v = vectors{}
	all := make([]float64, 0, bytes.Count(text, []byte(","))+1)
	for ok {
		begin, end := bytes.IndexByte(text, '['), bytes.IndexByte(text, ']')
		if begin < 0 || end < begin {
			return end >= 0 && len(bytes.TrimSpace(text[:end])) == 0
		}
		if len(bytes.Trim(text[:begin], ", \t\r\n")) > 0 {
			return false
		}
		list := text[begin+1 : end]
		begun := len(all)
		for number := range bytes.SplitSeq(list, []byte(",")) {
			x := 0.0
			if !bytes.Equal(number, []byte("0")) {
				var err error
				if x, err = strconv.ParseFloat(string(bytes.TrimSpace(number)), 64); err != nil {
					return false
				}
			}
			all = append(all, x)
		}
		*v, text = append(*v, all[begun:]), text[end+1:]
	}
	return false
}

type machine2 struct {
	Coef     []float64      `json:"coef"`
	B        float64        `json:"b"`
	Map      *conformal.Map `json:"conformal,omitempty"`
	CoreRows []int          `json:"core_rows,omitempty"`
	dataset.KeptCores
	Factors []float64 `json:"factors,omitempty"`
}

// needsFormat5 reports whether a graph in m is directed or has edge labels.
func (m *Model) needsFormat5() bool {
	_, kept := dataset.KeptOf(m.Supports.Objects)
	return kept.TellEdges() || slices.ContainsFunc(m.Machines, func(machine Machine) bool {
		_, cores := dataset.KeptOf(machine.Cores)
		return cores.TellEdges()
	})
}

// model returns the model. It returns an error if a field that its format requires is missing and,
// if strict is set, if it has a field that its format does not define.
func (f format2) model(strict bool) (*Model, error) {
	switch {
	case strict && f.Fill != nil && f.Format != 4 && f.Format != 6:
		return nil, fmt.Errorf("not a model in JSON: format %d has no field fill", f.Format)
	case strict && f.Platt != nil && f.Format == 2:
		return nil, fmt.Errorf("not a model in JSON: format %d has no field platt", f.Format)
	case strict && f.Supports.Sparse != nil && f.Format != 6:
		return nil, fmt.Errorf("not a model in JSON: format %d has no field sparse", f.Format)
	case f.Format == 6 && (f.Supports.Sparse == nil || f.Supports.Vectors != nil):
		return nil, errors.New("model: supports: format 6 requires sparse in place of vectors")
	case f.Format == 3 && f.Platt == nil:
		return nil, errors.New("model: platt: missing, but required by format 3")
	case f.Format == 4 && f.Fill == nil:
		return nil, errors.New("model: fill: missing, but required by format 4")
	}
	m := &Model{
		Features: f.Features, Label: f.Label, Classes: f.Classes,
		Objects: f.Objects, Scaler: f.Scaler, Projection: f.Projection, Kernel: f.Kernel,
		Supports: Supports{Rows: f.Supports.Rows, Vectors: f.Supports.Vectors}, Rule: f.Rule,
	}
	f.Objects = m.kind()
	var err error
	if f.Format == 6 {
		if m.Supports.Vectors, err = f.Supports.Sparse.vectors(len(f.Features)); err != nil {
			return nil, err
		}
	}
	if m.Supports.Objects, err = f.Restore(f.Supports.Kept); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	for _, in := range f.Machines {
		machine := Machine{Coef: in.Coef, B: in.B, Map: in.Map, CoreRows: in.CoreRows, Factors: in.Factors}
		if in.Map != nil {
			if machine.Cores, err = f.Restore(dataset.Kept(in.KeptCores)); err != nil {
				return nil, fmt.Errorf("model: core %w", err)
			}
		}
		m.Machines = append(m.Machines, machine)
	}
	if f.Format == 4 || f.Format == 6 {
		m.Fill = f.Fill
	}
	if f.Format != 2 {
		m.Platt = f.Platt
	}
	if f.Format == 5 && !m.needsFormat5() {
		return nil, errors.New("model: graphs: format 5 requires a directed graph or edge labels")
	}
	return m, nil
}

// format1 is the JSON form of models without a version number, which are binary.
type format1 struct {
	Features   []string        `json:"features"`
	Label      string          `json:"label"`
	Positive   string          `json:"positive"`
	Negative   string          `json:"negative"`
	Scaler     *dataset.Scaler `json:"scaler"`
	Projection *Projection     `json:"projection"`
	Kernel     kernel.Kernel   `json:"kernel"`
	Map        *conformal.Map  `json:"conformal"`
	Rows       []int           `json:"rows"`
	Vectors    [][]float64     `json:"vectors"`
	Coef       []float64       `json:"coef"`
	B          float64         `json:"b"`
	CoreRows   []int           `json:"core_rows"`
}

func (f format1) model() *Model {
	return &Model{
		Features: f.Features, Label: f.Label, Classes: []string{f.Negative, f.Positive},
		Objects: dataset.KindVectors, Scaler: f.Scaler, Projection: f.Projection, Kernel: f.Kernel,
		Supports: Supports{Rows: f.Rows, Vectors: f.Vectors},
		Machines: []Machine{{Coef: f.Coef, B: f.B, Map: f.Map, CoreRows: f.CoreRows}}, Rule: Sign,
	}
}

// decode reads a model of any version. If strict is set, unknown fields are errors.
func decode(text []byte, strict bool) (*Model, error) {
	read := func(v any) error {
		dec := json.NewDecoder(bytes.NewReader(text))
		if strict {
			dec.DisallowUnknownFields()
		}
		err := dec.Decode(v)
		switch end := dec.InputOffset(); { // 0 if the first value is not JSON
		case end > 0 && len(bytes.TrimSpace(text[end:])) > 0:
			return errors.New("not a model in JSON: unexpected data after the model")
		case err != nil:
			return fmt.Errorf("not a model in JSON: %w", err)
		}
		return nil
	}
	if string(bytes.TrimSpace(text)) == "null" {
		return nil, errors.New("not a model in JSON: null")
	}
	var f format2
	err := read(&f)
	if err == nil && 2 <= f.Format && f.Format <= Format {
		return f.model(strict)
	}
	var head struct {
		Format *int `json:"format"`
	}
	if json.Unmarshal(text, &head) != nil {
		return nil, err
	}
	switch n := head.Format; {
	case n == nil:
		var f format1
		if err := read(&f); err != nil {
			return nil, err
		}
		return f.model(), nil
	case *n > Format:
		return nil, fmt.Errorf("model: format %d is newer than this version of Margin Lab, which reads formats up to %d: use the version that wrote the model, or a later one", *n, Format)
	case *n < 2:
		return nil, fmt.Errorf("model: format: expected 2 to %d, or none in models of older versions, found %d", Format, *n)
	}
	return nil, err
}

// Validate returns an error if m cannot be evaluated or has kernel parameters out of range.
// Models returned by Train are valid.
func (m *Model) Validate() error {
	if err := m.check(); err != nil {
		return err
	}
	if err := m.Kernel.Validate(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// check returns an error if m cannot be evaluated: lists of inconsistent lengths, numbers that
// are not finite, an unknown rule, kind of objects or kernel.
func (m *Model) check() error {
	if m.kind() == dataset.KindVectors && len(m.Features) == 0 {
		return errors.New("model: no features")
	}
	if err := cmp.Or(distinct("features", m.Features), m.checkRule()); err != nil {
		return err
	}
	if p := m.Platt; p != nil {
		if m.Rule != Sign {
			return fmt.Errorf("model: platt: probabilities need the rule sign, not %s", m.Rule)
		}
		if err := checkVectors(2, "platt", []float64{p.A, p.B}); err != nil {
			return err
		}
	}
	takes, err := m.Kernel.Takes()
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if m.kind() != takes {
		return fmt.Errorf("model: objects: the kernel %s takes %s, not %q", m.Kernel.Name, takes, m.Objects)
	}
	supports := lists.Either(m.kind() == dataset.KindVectors, m.checkPoints, m.checkObjects)
	if err := cmp.Or(checkRows(m.Supports.Rows), supports()); err != nil {
		return err
	}
	for k := range m.Machines {
		if err := m.Machines[k].check(len(m.Supports.Rows)); err != nil {
			return err
		}
	}
	return nil
}

// checkPoints is check for a model of vectors.
func (m *Model) checkPoints() error {
	d := len(m.Features)
	if m.Fill != nil {
		if err := checkVectors(d, "fill", m.Fill); err != nil {
			return err
		}
	}
	if s := m.Scaler; s != nil {
		if err := checkVectors(d, "scaler", s.Mean, s.Scale); err != nil {
			return err
		}
		if slices.Min(s.Scale) <= 0 {
			return errors.New("model: scaler: expected scales above 0")
		}
	}
	if p := m.Projection; p != nil {
		if err := checkVectors(d, "projection", append([][]float64{p.Mean}, p.Components...)...); err != nil {
			return err
		}
		if d = len(p.Components); d != 2 {
			return fmt.Errorf("model: projection: expected 2 components, found %d", d)
		}
	}
	if err := m.Kernel.Check(d); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	n := len(m.Supports.Vectors)
	if len(m.Supports.Rows) != n {
		return fmt.Errorf("model: %d rows for %d vectors", len(m.Supports.Rows), n)
	}
	if err := checkVectors(d, "vectors", m.Supports.Vectors...); err != nil {
		return err
	}
	for _, machine := range m.Machines {
		c := machine.Map
		if c == nil {
			continue
		}
		if err := cmp.Or(checkVectors(len(c.Cores), "conformal coefficients", c.Alpha), checkVectors(d, "cores", c.Cores...)); err != nil {
			return err
		}
	}
	return nil
}

// checkObjects is check for a model of objects other than vectors.
func (m *Model) checkObjects() error {
	if len(m.Features) > 0 || m.Fill != nil || m.Scaler != nil || m.Projection != nil || len(m.Supports.Vectors) > 0 {
		return fmt.Errorf("model: objects of kind %s have no features, scaler, projection, fill or vectors", m.kind())
	}
	kept := func(what string, n int, o dataset.Objects) error {
		switch {
		case o == nil || o.Kind() != m.kind():
			return fmt.Errorf("model: %s: expected objects of kind %s", what, m.kind())
		case o.Len() != n:
			return fmt.Errorf("model: %s: expected %d objects, found %d", what, n, o.Len())
		}
		return nil
	}
	n := len(m.Supports.Rows)
	if err := kept("supports", n, m.Supports.Objects); err != nil {
		return err
	}
	for _, machine := range m.Machines {
		c := machine.Map
		if c == nil {
			continue
		}
		err := cmp.Or(
			checkVectors(len(c.Alpha), "conformal coefficients", c.Alpha, c.Self),
			kept("cores", len(c.Alpha), machine.Cores),
			checkVectors(n, "factors", machine.Factors),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRule returns an error if the classes or machines do not fit the rule.
func (m *Model) checkRule() error {
	entry := m.Rule.entry()
	if entry == nil {
		return fmt.Errorf("model: rule %q is not known", m.Rule)
	}
	k := len(m.Classes)
	switch {
	case entry.Name == Sign && (k != 2 || m.Classes[0] == m.Classes[1]):
		return fmt.Errorf("model: expected two classes, found %q", m.Classes)
	case k < entry.least:
		return fmt.Errorf("model: rule %s: expected at least %d classes, found %d", entry.Name, entry.least, k)
	case entry.least == 0 && k > 0:
		return fmt.Errorf("model: rule %s: expected no classes, found %d", entry.Name, k)
	}
	if err := distinct("classes", m.Classes); err != nil {
		return err
	}
	if want := entry.machines(k); len(m.Machines) != want {
		return fmt.Errorf("model: rule %s: expected %d machines for %d classes, found %d", entry.Name, want, k, len(m.Machines))
	}
	return nil
}

// check returns an error if a machine over n supports of any kind cannot be evaluated.
func (m *Machine) check(n int) error {
	err := cmp.Or(checkVectors(n, "coefficients", m.Coef), checkVectors(1, "b", []float64{m.B}), checkRows(m.CoreRows))
	c := m.Map
	if err != nil || c == nil {
		return err
	}
	if err := checkVectors(2, "conformal map", []float64{c.Alpha0, c.Gamma}); err != nil {
		return err
	}
	if c.Gamma <= 0 {
		return fmt.Errorf("model: conformal map: expected core_gamma above 0, found %g", c.Gamma)
	}
	return nil
}

func distinct(what string, names []string) error {
	for j, name := range names {
		if name == "" || slices.Contains(names[:j], name) {
			return fmt.Errorf("model: %s: expected distinct names, found %q", what, name)
		}
	}
	return nil
}

func checkRows(rows []int) error {
	if slices.ContainsFunc(rows, func(i int) bool { return i < 0 }) {
		return errors.New("model: rows: expected numbers of at least 0")
	}
	return nil
}

// checkVectors returns an error for the first vector whose length is not d or that holds
// a number that is not finite.
func checkVectors(d int, what string, vs ...[]float64) error {
	for _, v := range vs {
		if len(v) != d {
			return fmt.Errorf("model: %s: expected %d numbers, found %d", what, d, len(v))
		}
		for _, x := range v {
			if finite(x) == nil {
				return fmt.Errorf("model: %s: expected finite numbers, found %v", what, x)
			}
		}
	}
	return nil
}

// Fits returns an error if an imported result does not match d: a model of other objects, columns
// or rows, or a report on another number of rows.
func (r *Result) Fits(d *dataset.Data) error {
	models := []*Model{r.Model}
	if r.Before != nil {
		models = append(models, r.Before)
	}
	for _, m := range models {
		if m.kind() != d.Kind() {
			return fmt.Errorf("the model takes objects of kind %s, not %s", m.kind(), d.Kind())
		}
		if d.Objects == nil {
			for _, name := range m.Features {
				if !slices.Contains(d.Features, name) {
					return fmt.Errorf("the model needs the feature %q, which the data do not have", name)
				}
			}
		} else if shape, _ := dataset.KeptOf(d.Objects); shape.Columns != m.Columns() {
			return fmt.Errorf("the model needs %d columns, the data have %d", m.Columns(), shape.Columns)
		}
		rows := slices.Clone(m.Supports.Rows)
		for _, machine := range m.Machines {
			rows = append(rows, machine.CoreRows...)
		}
		if n := d.Len(); len(rows) > 0 && slices.Max(rows) >= n {
			return fmt.Errorf("the model was trained on row %d, but the data have %d rows", slices.Max(rows), n)
		}
		if m.Rule != r.Model.Rule || len(m.Machines) != len(r.Model.Machines) {
			return errors.New("the model and the one before it have different machines")
		}
	}
	rep := &r.Report
	switch {
	case rep.N != d.Len():
		return fmt.Errorf("the report covers %d rows, the data have %d", rep.N, d.Len())
	case cmp.Or(rep.Rule, Sign) != r.Model.Rule:
		return fmt.Errorf("the report has the rule %q, the model %q", rep.Rule, r.Model.Rule)
	case len(rep.Machines) > 0 && len(rep.Machines) != len(r.Model.Machines):
		return fmt.Errorf("the report has %d machines, the model %d", len(rep.Machines), len(r.Model.Machines))
	case len(rep.Weights) > 0 && len(rep.Weights) != len(r.Model.Features):
		return fmt.Errorf("the report has %d weights, the model %d features", len(rep.Weights), len(r.Model.Features))
	}
	for _, rows := range [][]ClassReport{rep.Confusion, rep.TestConfusion} {
		for _, row := range rows {
			if len(row.Predicted) != len(rows) {
				return errors.New("a confusion matrix of the report is not square")
			}
		}
	}
	return nil
}
