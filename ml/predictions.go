package ml

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Predictions holds the predictions of a model for the rows of a file.
type Predictions struct {
	Scores     *mat.Dense // f: a row for each row of the file, a column for each machine
	True       []string   // the labels in the file; nil if it has none or they are unreadable
	Unlabelled error      // why the label column is unreadable; nil if it is readable or missing
	Notes      []string   // guesses about the file, and what the model does not know

	model *Model
}

// PredictTable applies m to the rows of a file, labelled or not. Columns are matched by
// name, or by position if none of the names occurs and the number of columns fits. It
// returns a *dataset.Error for an unsuitable file or a decision value that is not finite,
// and ctx.Err().
func (m *Model) PredictTable(ctx context.Context, t *dataset.Table) (*Predictions, error) {
	in, err := inputsOf(t, m)
	if err != nil {
		return nil, err
	}
	scores, err := m.scoresOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(scores.RawMatrix().Data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); i >= 0 {
		i /= len(m.Machines)
		return nil, &dataset.Error{File: t.File, Line: t.Lines[i], Message: "the decision value is not finite: the inputs are too far from the training data"}
	}
	p := &Predictions{scores, in.labels, in.fault, slices.Concat(t.Notes, in.notes), m}
	if p.Unlabelled != nil {
		p.Notes = append(p.Notes, "labels not read: "+p.Unlabelled.Error())
	}
	others := m.Rule == Value || m.Rule == Sign && m.Classes[0] == "not "+m.Classes[1] // any other label is right
	unknown := lists.Filter(p.True, func(l string) bool { return !others && !slices.Contains(m.Classes, l) })
	if slices.Sort(unknown); len(unknown) > 0 {
		p.Notes = append(p.Notes, dataset.Count(len(unknown), "label")+" unknown to the model: "+shortList(slices.Compact(unknown)))
	}
	return p, nil
}

// Rows returns the rows of a file with columns ordered as m.Features, in original units, with NaN
// for missing values that m imputes, and the labels, nil if the file has none. It matches columns as
// PredictTable does. m must be a model of vectors.
func (m *Model) Rows(t *dataset.Table) (x *mat.Dense, labels []string, err error) {
	in, err := inputsOf(t, m)
	if err != nil {
		return nil, nil, err
	}
	return in.x, in.labels, nil
}

// ErrNotCalibrated is returned for a model without probabilities.
var ErrNotCalibrated = param.Refuse("train again with --calibration platt", "the model has no probabilities: it is not calibrated")

// WriteCSV writes the columns row (from 1), label (the prediction, unless the model predicts
// numbers), f (one for each machine), the probability of the positive class if probability is set,
// and true if the file has labels. It returns ErrNotCalibrated if probability is set but the model
// is not calibrated.
func (p *Predictions) WriteCSV(w io.Writer, probability bool) error {
	platt := p.model.Platt
	if probability && platt == nil {
		return ErrNotCalibrated
	}
	c := csv.NewWriter(w)
	head := []string{"row"}
	if p.model.Rule != Value {
		head = append(head, "label")
	}
	head = append(head, p.model.ScoreNames()...)
	if probability {
		head = append(head, dataset.Guard("probability "+p.model.Classes[1]))
	}
	if p.True != nil {
		head = append(head, "true")
	}
	_ = c.Write(head) // checked by Error at the end
	n, _ := p.Scores.Dims()
	for i := range n {
		f := p.Scores.RawRowView(i)
		rec := append(head[:0], strconv.Itoa(i+1))
		if p.model.Rule != Value {
			rec = append(rec, dataset.Guard(p.model.LabelOf(f...)))
		}
		for _, v := range f {
			rec = append(rec, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if probability {
			rec = append(rec, strconv.FormatFloat(platt.Probability(f[0]), 'g', -1, 64))
		}
		if p.True != nil {
			rec = append(rec, dataset.Guard(p.True[i]))
		}
		_ = c.Write(rec)
	}
	c.Flush()
	return c.Error()
}

// Errors returns the regression errors of a model under Value against the values in the file.
// It returns an error if one is not a number.
func (p *Predictions) Errors() (Errors, error) {
	t := make([]float64, len(p.True))
	for i, label := range p.True {
		values, err := (&dataset.Data{Classes: []string{label}, Y: []int{0}}).Values()
		if err != nil {
			return Errors{}, fmt.Errorf("row %d: %w", i+1, err)
		}
		t[i] = values[0]
	}
	return errorsOf(p.Scores.RawMatrix().Data, t)
}

// WritePoints writes points, as returned by Points, as CSV with the columns row, the label under its
// own name, predicted, f (one for each machine), held_out, role and weight. Under Value, predicted
// is omitted and f is followed by residual, the label minus f.
func (m *Model) WritePoints(w io.Writer, points []Point) error {
	c := csv.NewWriter(w)
	head := []string{"row", dataset.Guard(m.Label)}
	if m.Rule == Value {
		head = append(head, "f", "residual")
	} else {
		head = append(append(head, "predicted"), m.ScoreNames()...)
	}
	_ = c.Write(append(head, "held_out", "role", "weight"))
	for _, p := range points {
		rec := []string{strconv.Itoa(p.Row + 1), dataset.Guard(p.Label)}
		numbers := p.Scores
		if m.Rule == Value {
			numbers = []float64{p.F, p.Y - p.F}
		} else {
			rec = append(rec, dataset.Guard(p.Predicted))
		}
		for _, f := range numbers {
			rec = append(rec, strconv.FormatFloat(f, 'g', -1, 64))
		}
		_ = c.Write(append(rec, strconv.FormatBool(p.HeldOut), string(p.Role), strconv.FormatFloat(p.Weight, 'g', -1, 64)))
	}
	c.Flush()
	return c.Error()
}

// scoresOf is Scores or ScoresOf with a context.
func (m *Model) scoresOf(ctx context.Context, in *inputs) (*mat.Dense, error) {
	if in.objects != nil {
		scores, err := m.ScoresOf(ctx, in.objects)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, &dataset.Error{Message: fmt.Sprintf("%s, %v", in.file, err)}
		}
		return scores, nil
	}
	return m.scores(ctx, in.x)
}

// inputs holds the rows of a file in the form that a model takes.
type inputs struct {
	file    string
	x       *mat.Dense      // n x d
	objects dataset.Objects // instead of x, for a model of other objects
	labels  []string        // nil if the file has none or they are unreadable
	fault   error           // why the label column is unreadable
	notes   []string
}

// inputsOf selects a model's features from a file: by name, or by position if none of the names
// occurs and the number of columns, with or without labels, fits. It ignores other columns.
func inputsOf(t *dataset.Table, m *Model) (*inputs, error) {
	if m.Supports.Objects != nil {
		rows, label, err := t.Alike(m.Supports.Objects, m.Label)
		if err != nil {
			return nil, err
		}
		in := &inputs{file: t.File, objects: rows}
		if label != "" {
			in.labels, in.fault = t.Labels(label)
		}
		return in, nil
	}
	features, label := m.Features, m.Label
	if t.Format == "libsvm" {
		fillZeros(t, features)
	}
	own := len(t.Columns)
	notes := t.AddIndicators(features)
	place := t.Places()
	named := lists.Count(features, func(name string) bool { return place(name) >= 0 })
	switch {
	case named == len(features) && !t.Header && (t.Format == "csv" || t.Format == "xlsx") && t.Place(label) < 0 && len(t.Columns) == len(features)+1:
		// Without a header, the remaining column holds the labels.
		rest, _ := lists.Find(t.Columns, func(c dataset.Column) bool { return !slices.Contains(features, c.Name) })
		label = rest.Name
	case named == len(features):
	case named > 0 && t.Header:
		return nil, missingColumn(t, features)
	case len(t.Columns) == len(features):
		features, label = columnNames(t), ""
	case len(t.Columns) == len(features)+1:
		if t.Place(label) < 0 {
			guess, _ := t.Guess()
			label = guess.Label
		}
		features = slices.DeleteFunc(columnNames(t), func(s string) bool { return strings.EqualFold(s, label) })
	default:
		return nil, missingColumn(t, features)
	}
	if named < len(m.Features) && t.Header && slices.ContainsFunc(t.Columns, func(c dataset.Column) bool { return slices.Contains(features, c.Name) && c.IsText() }) {
		return nil, missingColumn(t, m.Features) // positions do not match
	}
	x, err := t.MatrixWithGaps(features)
	if err != nil {
		return nil, err
	}
	rows := lists.Where(len(t.Lines), func(i int) bool { return slices.ContainsFunc(x.RawRowView(i), math.IsNaN) })
	switch {
	case len(rows) == 0:
	case m.Fill == nil:
		i := rows[0]
		name := features[slices.IndexFunc(x.RawRowView(i), math.IsNaN)]
		var j int
		if dataset.ColumnOf(name, func(column string) bool {
			j = t.Place(column)
			return j >= 0 && j < own && (column == name || !t.Columns[j].Numeric)
		}) == "" {
			return nil, missingColumn(t, features)
		}
		found := "nothing"
		if cell := t.Columns[j].Cell(i); cell != "" {
			found = strconv.Quote(cell)
		}
		return nil, &dataset.Error{File: t.File, Line: t.Lines[i], Column: j + 1, Name: t.Columns[j].Name, Message: "expected a value, found " + found + ": remove the row, or train a model that fills missing values (missing: median)"}
	default:
		notes = append(notes, dataset.Count(len(rows), "row")+" with missing values, filled as in training")
	}
	in := &inputs{file: t.File, x: x, notes: notes}
	if t.Place(label) >= 0 {
		in.labels, in.fault = t.Labels(label)
	}
	return in, nil
}

// missingColumn returns the error for the first feature missing from the file.
func missingColumn(t *dataset.Table, features []string) error {
	place := t.Places()
	missing := slices.IndexFunc(features, func(name string) bool { return place(name) < 0 })
	return &dataset.Error{File: t.File, Message: fmt.Sprintf("no column %q: the model needs %s, the file has %s", features[missing], shortList(features), shortList(columnNames(t)))}
}

// shortList joins the first names.
func shortList(names []string) string {
	const most = 10
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

func columnNames(t *dataset.Table) []string {
	return lists.Map(t.Columns, func(c dataset.Column) string { return c.Name })
}

// fillZeros adds features that a LIBSVM file does not mention: the format omits zeros, so
// trailing features may be absent.
func fillZeros(t *dataset.Table, features []string) {
	place := t.Places()
	for _, name := range features {
		index, ok := strings.CutPrefix(name, "x")
		if _, err := strconv.Atoi(index); !ok || err != nil || place(name) >= 0 {
			continue
		}
		t.AddZeros(name)
	}
}

// Prediction is the prediction of a model for one row of a file.
type Prediction struct {
	Row         int      `json:"row"`                   // 1 is the first
	Label       string   `json:"label,omitempty"`       // empty for a model that predicts numbers
	F           Scores   `json:"f"`                     // of each machine
	Probability *float64 `json:"probability,omitempty"` // of the positive class, if calibrated
	True        *string  `json:"true,omitempty"`        // the label in the file, if any
}

// Scores holds the decision values of one row. In JSON a single value is a number, not a list.
type Scores []float64

// MarshalJSON writes a number or a list of numbers.
func (s Scores) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return json.Marshal(s[0])
	}
	return json.Marshal([]float64(s))
}

// PredictionSet holds the predictions for the rows of a file and, if it has labels, their
// accuracy.
type PredictionSet struct {
	N           int          `json:"n"`
	Classes     []string     `json:"classes,omitempty"`
	Positive    string       `json:"positive,omitempty"` // of a model of two classes: where f >= 0
	Machines    []string     `json:"machines,omitempty"` // names of the values in f, if several
	Accuracy    *float64     `json:"accuracy,omitempty"`
	MSE         *float64     `json:"mse,omitempty"`
	R2          *float64     `json:"r2,omitempty"`
	Notes       []string     `json:"notes,omitempty"` // guesses about the file, and what the model does not know
	Predictions []Prediction `json:"predictions"`
}

// Set returns the predictions as a PredictionSet. It returns an error for a regression if a
// label in the file is not a number.
func (p *Predictions) Set() (*PredictionSet, error) {
	m := p.model
	n, _ := p.Scores.Dims()
	s := &PredictionSet{N: n, Classes: m.Classes, Notes: p.Notes, Predictions: make([]Prediction, n)}
	if len(m.Machines) > 1 {
		s.Machines = m.ScoreNames()
	}
	if m.Rule == Sign {
		s.Positive = m.Classes[1]
	}
	right := 0
	for i := range s.Predictions {
		f := p.Scores.RawRowView(i)
		one := Prediction{Row: i + 1, Label: m.LabelOf(f...), F: f}
		if m.Platt != nil {
			v := m.Platt.Probability(f[0])
			one.Probability = &v
		}
		if p.True != nil {
			one.True = &p.True[i]
			if m.Class(f) == m.ClassOf(p.True[i]) {
				right++
			}
		}
		s.Predictions[i] = one
	}
	switch {
	case p.True == nil || n == 0:
	case m.Rule == Value:
		e, err := p.Errors()
		if err != nil {
			return nil, err
		}
		s.MSE, s.R2 = &e.MSE, e.R2
	default:
		accuracy := float64(right) / float64(n)
		s.Accuracy = &accuracy
	}
	return s, nil
}
