package cmdline

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/study"
	"marginlab/ml/trace"
	"marginlab/views/figure"
)

// curveFlags adds the flags of the two curves of cv: over a searched number, and over the size of
// the training set.
func (o *cvOptions) curveFlags(f *Flags) {
	f.Func("learning", "FRACTION,...", "Compute a learning curve instead of a search: train on these fractions of the training set, above 0 and at most 1, and score on the test folds, as in 0.1,0.2,0.5,1.", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil || !(v > 0 && v <= 1) {
				return fmt.Errorf("expects fractions above 0 and at most 1, not %q", part)
			}
			o.learning = append(o.learning, v)
		}
		slices.Sort(o.learning)
		o.learning = slices.Compact(o.learning)
		return nil
	})
	o.plot = f.Picture("plot", "File for a plot of the curve: test and training scores with one standard deviation, over the one parameter that is a list, or over the number of training points.")
}

// checkCurve returns an error if the command line does not define a curve.
func (o *cvOptions) checkCurve(settings int) error {
	switch {
	case o.learning != nil && settings > 1:
		return usage("--learning needs a single setting: give every other flag one value")
	case o.learning == nil && *o.plot != "" && len(o.axes) != 1:
		return usage("--plot needs one numeric flag with a list of values, not %d, or --learning", len(o.axes))
	}
	for name, axis := range o.axes {
		if i := slices.IndexFunc(axis.Values, func(v param.Value) bool { return !v.IsNumber() }); *o.plot != "" && i >= 0 {
			return usage("--plot draws a curve over numbers, but --%s includes %s", name, axis.Values[i])
		}
	}
	return keep([]string{o.data}, *o.plot)
}

// runLearning computes, prints and draws a learning curve.
func (o *cvOptions) runLearning(ctx context.Context, d *dataset.Data, std Streams) error {
	start := time.Now()
	r, err := o.report(d)
	if err != nil {
		return err
	}
	p := progressOn(std)
	r.Learning, err = eval.LearningCurve(ctx, d, o.spec, o.scheme, o.learning, p.cells())
	p.end()
	if err != nil {
		return err
	}
	r.Seconds = time.Since(start).Seconds()
	if *o.plot != "" {
		v := figure.Validation{X: "training points"}
		for _, s := range r.Learning {
			v.Add(float64(s.N), s.Folds, r.curveScore())
		}
		if err := o.plotCurve(ctx, v); err != nil {
			return err
		}
	}
	if o.json {
		return json.NewEncoder(std.Out).Encode(r)
	}
	return writeLearning(std.Out, r)
}

// writeLearning writes a line per training share.
func writeLearning(w io.Writer, r cvReport) error {
	score := r.curveScore()
	lines := [][]string{{"share", "points", score.Name, "sd", "training", "sd", "support vectors", "status"}}
	for _, s := range r.Learning {
		line := []string{strconv.FormatFloat(s.Share, 'g', 4, 64), strconv.Itoa(s.N)}
		for _, of := range []func(eval.Fold) *float64{score.Of, score.Trained} {
			mean, sd := stat.MeanStdDev(eval.FoldValues(s.Folds, of), nil)
			line = append(line, amount(score, mean), amount(score, sd))
		}
		vectors, status := 0, trace.Converged
		for _, f := range s.Folds {
			vectors += f.SupportVectors
			if f.Status != trace.Converged {
				status = f.Status
			}
		}
		lines = append(lines, append(line, fmt.Sprintf("%.1f", float64(vectors)/float64(len(s.Folds))), string(status)))
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s on held-out and training points: mean and standard deviation over %d folds\n\n", score.Title(), len(r.Learning[0].Folds))
	study.WriteColumns(b, lines)
	return b.Flush()
}

// curveScore returns the score of a curve: accuracy or mean squared error.
func (r cvReport) curveScore() eval.Score { return eval.RankedBy("", r.Rule == ml.Value) }

// validationCurve returns the curve over the searched number.
func (o *cvOptions) validationCurve(r cvReport) (v figure.Validation) {
	for v.X = range o.axes { // one
	}
	for _, i := range r.Along(v.X) {
		v.Add(r.Settings[i].Values.Number(v.X), r.Settings[i].Folds, r.curveScore())
	}
	return v
}

// plotCurve draws a curve to the file. Values such as 0.1, 1, 10 get a logarithmic axis.
func (o *cvOptions) plotCurve(ctx context.Context, v figure.Validation) error {
	first, last := v.Places[0], v.Places[len(v.Places)-1]
	v.Log = first > 0 && last >= 20*first
	return writePicture(ctx, *o.plot, v.Picture)
}
