package cmdline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"marginlab/ml"
	"marginlab/ml/trace"
)

var predict = Command{"predict", "apply a saved model to a file of points", runPredict}

func runPredict(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("predict FILE --model FILE [--probability] [--json] [--out FILE]",
		"Applies a model saved by fit to points, labelled or not, and writes CSV: row (from 1), label (the prediction; for a regression, f is the prediction), f (the decision value; one column per machine if the model has several), and true (the label in the file) if the file has labels. With --out, it prints the accuracy on them.")
	f.Heading("Files")
	model := f.String("model", "FILE", "", "Model file written by fit --out.")
	data := f.Data("Points in any format that fit reads. Columns are matched by name, or by position if the header has none of the names and the number of columns fits. For a kernel-matrix model, a row holds k(x, x_1) … k(x, x_M), in LIBSVM format 0:any 1:k …; a column self (index M+1) adds k(x, x). Strings are read from the column with the same name, or one per line, from FASTA, or from the files of a folder or zip archive. - reads standard input.")
	sheet := f.Sheet()
	out := f.String("out", "FILE", "-", "File for the predictions. (default standard output)")
	probability := f.Switch("probability", "Add a column after f with the probability of the positive class. For models trained with --calibration platt.")
	asJSON := f.Switch("json", "Write one JSON object instead of CSV: the predictions, with probabilities if the model is calibrated, and the accuracy if the file has labels.")
	if err := f.Parse(args, "model", "data"); err != nil {
		return err
	}
	if *model == "-" && *data == "-" {
		return usage("--model and --data cannot both be standard input")
	}

	if err := keep([]string{*model, *data}, *out); err != nil {
		return err
	}
	m, err := readModel(ctx, *model, std)
	if err != nil {
		return err
	}
	t, err := readTable(ctx, *data, *sheet, std)
	if err != nil {
		return err
	}
	line := progressOn(std)
	defer line.end()
	p, err := m.PredictTable(trace.Follow(ctx, trace.Scoring, line.tell), t)
	if err != nil {
		return err
	}
	line.end()
	for _, n := range p.Notes {
		note(std, "predict", n)
	}
	if *probability && m.Platt == nil {
		return fmt.Errorf("%s: %w", *model, ml.ErrNotCalibrated)
	}
	write := func(w io.Writer) error { return p.WriteCSV(w, *probability) }
	said := ""
	if *asJSON || p.True != nil && *out != "-" {
		set, err := p.Set()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", *data, err)
		case set.Accuracy != nil:
			said = fmt.Sprintf("accuracy  %.4g  of %d rows\n", *set.Accuracy, set.N)
		case set.MSE != nil:
			said = fmt.Sprintf("mse  %.4g  of %d rows\n", *set.MSE, set.N)
		}
		if *asJSON {
			write = func(w io.Writer) error { return json.NewEncoder(w).Encode(set) }
		}
	}
	if *out == "-" {
		return write(std.Out)
	}
	if err := writeFile(*out, write); err != nil {
		return err
	}
	_, err = io.WriteString(std.Out, said)
	return err
}
