package cmdline

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"marginlab/ml"
	"marginlab/ml/study"
	"marginlab/views/figure"
)

var path = Command{"path", "compute the regularisation path of a two-class SVM, with its entry points", runPath}

func runPath(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("path FILE [flags]",
		"Computes the regularisation path of a two-class SVM, each solution starting from the previous one, and prints its support vectors, |w| and accuracy, and the entry points: the pairs of neighbouring values of C between which a row becomes or stops being a support vector, or reaches or leaves its bound. Held-out accuracies are means over 5 folds of the training rows.")
	f.Heading("Files")
	data := f.Data("Labelled points in any format that fit reads; - reads standard input.")
	how := f.Reading()
	plot := f.Picture("plot", "File for a plot of alpha / C of every point over C.")
	shares := f.Picture("plot-shares", "File for a plot of accuracy and the share of support vectors over C.")
	asJSON := f.Switch("json", "Print everything as one JSON object, at full precision, with every alpha.")
	spec := f.Spec(nil)
	d, err := f.points(ctx, "path", args, data, spec, how, std, plot, shares)
	if err != nil {
		return err
	}
	start := time.Now()
	p := progressOn(std)
	r, err := ml.Regularise(ctx, d, *spec, p.tell)
	p.end()
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	for _, p := range []struct {
		file string
		draw func(*ml.Regularisation, figure.Format) (*figure.Picture, error)
	}{{*plot, figure.Alphas}, {*shares, figure.Regularised}} {
		if p.file == "" {
			continue
		}
		if err := writePicture(ctx, p.file, func() (*figure.Picture, error) { return p.draw(r, figure.Format{}) }); err != nil {
			return err
		}
	}
	if *asJSON {
		return json.NewEncoder(std.Out).Encode(struct {
			*ml.Regularisation
			Seconds float64 `json:"seconds"`
		}{r, seconds})
	}
	return writePath(std.Out, r)
}

// writePath writes a line for each scored step and each entry point.
func writePath(w io.Writer, r *ml.Regularisation) error {
	lines := [][]string{{"C", "support vectors", "at the bound", "|w|", "training", "held out", "sd"}}
	for _, s := range r.Steps {
		line := []string{short(s.C), strconv.Itoa(s.SupportVectors), strconv.Itoa(s.Bounded), strconv.FormatFloat(s.WNorm, 'g', 4, 64), percent(s.TrainAccuracy), "-", "-"}
		if s.Accuracy != nil {
			line[5], line[6] = percent(*s.Accuracy), percent(*s.Deviation)
		}
		if s.Accuracy != nil || r.Folds == 0 {
			lines = append(lines, line)
		}
	}
	entries := [][]string{{"C from", "to", "row", "was", "is"}}
	for _, e := range r.Entries {
		entries = append(entries, []string{strconv.FormatFloat(e.Low, 'g', 5, 64), strconv.FormatFloat(e.High, 'g', 5, 64), strconv.Itoa(e.Row), e.From, e.To})
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%d training rows along C; accuracy in %%, held out: mean and standard deviation over %d folds\n\n", len(r.Rows), r.Folds)
	study.WriteColumns(b, lines)
	fmt.Fprintf(b, "\nEntry points: %d. outside: no support vector; free: on its margin; bounded: alpha is C\n\n", len(r.Entries))
	study.WriteColumns(b, entries)
	return b.Flush()
}
