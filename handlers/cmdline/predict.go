package cmdline

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

var predict = Command{"predict", "apply a saved model to a file of points", runPredict}

func runPredict(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("predict --model FILE --data FILE [--out FILE]",
		"Applies a model that fit wrote to points, labelled or not, and writes CSV: row (1 is the first), label (the prediction), f (the decision value; one column a machine when the model has several), and true (the label in the file) when the file has labels.")
	f.Heading("Files")
	model := f.String("model", "FILE", "", "The model, as fit --out wrote it.")
	data := f.String("data", "FILE", "", "Points in any format that fit reads. Columns are found by their names in the header, or by position when the names do not occur and the number of columns fits. For a model of a kernel matrix a row holds k(x, x_1) … k(x, x_M), in LIBSVM's form 0:any 1:k …; a column self (the index M+1) adds k(x, x). The name - stands for standard input.")
	out := f.String("out", "FILE", "-", "Where to write the predictions; without it, standard output.")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := f.Require("model", "data"); err != nil {
		return err
	}
	if *model == "-" && *data == "-" {
		return usage("--model and --data cannot both be standard input")
	}

	if err := keep([]string{*model, *data}, *out); err != nil {
		return err
	}
	if *out != "-" {
		if err := checkTarget(*out); err != nil {
			return err
		}
	}
	m, err := readFile(ctx, *model, std, func(r io.Reader, name string) (*ml.Model, error) {
		m, err := ml.ReadModel(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return m, nil
	})
	if err != nil {
		return err
	}
	t, err := readTable(ctx, *data, std)
	if err != nil {
		return err
	}
	in, err := inputsOf(t, m)
	if err != nil {
		return err
	}
	scores, err := scoresOf(ctx, m, in)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(scores.RawMatrix().Data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); i >= 0 {
		i /= len(m.Machines)
		return &dataset.Error{File: t.File, Line: t.Lines[i], Message: "the decision value is not finite: the numbers are too far from those the model was trained on"}
	}
	if in.fault != nil {
		note(std, "predict", "no column true: "+oneLine(in.fault))
	}
	write := func(w io.Writer) error { return writePredictions(w, m, scores, in.labels) }
	if *out == "-" {
		return write(std.Out)
	}
	return writeFile(*out, write)
}

func writePredictions(w io.Writer, m *ml.Model, scores *mat.Dense, labels []string) error {
	c := csv.NewWriter(w)
	head := []string{"row"}
	if m.Rule != ml.Value {
		head = append(head, "label")
	}
	head = append(head, m.ScoreNames()...)
	if labels != nil {
		head = append(head, "true")
	}
	_ = c.Write(head) // Error tells at the end
	n, _ := scores.Dims()
	for i := range n {
		f := scores.RawRowView(i)
		rec := append(head[:0], strconv.Itoa(i+1))
		if m.Rule != ml.Value {
			rec = append(rec, m.LabelOf(f...))
		}
		for _, v := range f {
			rec = append(rec, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if labels != nil {
			rec = append(rec, labels[i])
		}
		_ = c.Write(rec)
	}
	c.Flush()
	return c.Error()
}

// scoresOf is m.Scores or m.ScoresOf that heeds an interrupt.
func scoresOf(ctx context.Context, m *ml.Model, in *inputs) (*mat.Dense, error) {
	const block = 256
	if in.objects != nil {
		scores, err := m.ScoresOf(in.objects)
		if err != nil {
			return nil, fmt.Errorf("%s, %w", in.file, err)
		}
		return scores, ctx.Err()
	}
	x := in.x
	n, d := x.Dims()
	scores := mat.NewDense(n, len(m.Machines), nil)
	for i := 0; i < n; i += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		j := min(i+block, n)
		scores.Slice(i, j, 0, len(m.Machines)).(*mat.Dense).Copy(m.Scores(x.Slice(i, j, 0, d).(*mat.Dense)))
	}
	return scores, nil
}

// inputs are the rows of a file as a model takes them.
type inputs struct {
	file    string
	x       *mat.Dense      // n x d
	objects dataset.Objects // instead of x, for a model that takes no vectors
	labels  []string        // nil: the file has none that can be read
	fault   error           // what is wrong with the label column, where there is one
}

// inputsOf picks a model's features out of a file: by name, or by position when
// none of the names occurs and the columns are as many as the features, with or
// without the labels. Columns that the model does not know may hold anything.
func inputsOf(t *dataset.Table, m *ml.Model) (*inputs, error) {
	if m.Objects == dataset.KindPrecomputed {
		rows, label, err := t.KernelRows(m.Columns, m.Label)
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
	switch named := countNamed(t, features); {
	case named == len(features) && !t.Header && t.Format == "csv" && !hasColumn(t, label) && len(t.Columns) == len(features)+1:
		// Without a header, the column that is left over is where labels are.
		label = unused(t, features)
	case named == len(features):
	case named > 0 && t.Header: // Matrix names the one that is missing
	case len(t.Columns) == len(features):
		features, label = columnNames(t), ""
	case len(t.Columns) == len(features)+1:
		if !hasColumn(t, label) {
			guess, _ := t.Guess()
			label = guess.Label
		}
		features = slices.DeleteFunc(columnNames(t), func(s string) bool { return strings.EqualFold(s, label) })
	}
	x, err := t.Matrix(features)
	if err != nil {
		return nil, err
	}
	in := &inputs{file: t.File, x: x}
	if hasColumn(t, label) {
		in.labels, in.fault = t.Labels(label)
	}
	return in, nil
}

func columnNames(t *dataset.Table) []string {
	names := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		names[j] = c.Name
	}
	return names
}

// hasColumn finds names as Table does, regardless of case.
func hasColumn(t *dataset.Table, name string) bool {
	return slices.ContainsFunc(t.Columns, func(c dataset.Column) bool { return strings.EqualFold(c.Name, name) })
}

func countNamed(t *dataset.Table, names []string) (n int) {
	for _, name := range names {
		if hasColumn(t, name) {
			n++
		}
	}
	return n
}

// unused is the first column that is not among names.
func unused(t *dataset.Table, names []string) string {
	for _, c := range t.Columns {
		if !slices.Contains(names, c.Name) {
			return c.Name
		}
	}
	return ""
}

// fillZeros adds the features that a LIBSVM file does not mention: the format
// leaves zeros out, so a file may stop short of the last features.
func fillZeros(t *dataset.Table, features []string) {
	for _, name := range features {
		index, ok := strings.CutPrefix(name, "x")
		if _, err := strconv.Atoi(index); !ok || err != nil || hasColumn(t, name) {
			continue
		}
		c := dataset.Column{Name: name, Numeric: true, Cells: make([]string, len(t.Lines))}
		for i := range c.Cells {
			c.Cells[i] = "0"
		}
		t.Columns = append(t.Columns, c)
	}
}
