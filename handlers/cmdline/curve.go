package cmdline

import (
	"bufio"
	"cmp"
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
	"marginlab/ml/lists"
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
		x := make([]float64, len(r.Learning))
		folds := make([][]eval.Fold, len(r.Learning))
		for i, s := range r.Learning {
			x[i], folds[i] = float64(s.N), s.Folds
		}
		if err := o.plotCurve(ctx, curve{"training points", x, folds}, r.Rule); err != nil {
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
	what, head := "Accuracy in %", "accuracy"
	if r.Rule == ml.Value {
		what, head = "Mean squared error", "mse"
	}
	lines := [][]string{{"share", "points", head, "sd", "training", "sd", "support vectors", "status"}}
	for _, s := range r.Learning {
		line := []string{strconv.FormatFloat(s.Share, 'g', 4, 64), strconv.Itoa(s.N)}
		for _, of := range []func(eval.Fold) float64{heldOut, trained} {
			mean, sd := spread(s.Folds, of)
			if r.Rule == ml.Value {
				line = append(line, digits(ml.Plain, mean), digits(ml.Plain, sd))
			} else {
				line = append(line, percent(mean), percent(sd))
			}
		}
		vectors, _ := spread(s.Folds, func(f eval.Fold) float64 { return float64(f.SupportVectors) })
		status := trace.Converged
		for _, f := range s.Folds {
			if f.Status != trace.Converged {
				status = f.Status
			}
		}
		lines = append(lines, append(line, fmt.Sprintf("%.1f", vectors), string(status)))
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s on held-out and training points: mean and standard deviation over %d folds\n\n", what, len(r.Learning[0].Folds))
	study.WriteColumns(b, lines)
	return b.Flush()
}

// heldOut returns the accuracy or error on the held-out points of a fold.
func heldOut(f eval.Fold) float64 {
	if f.Errors != nil {
		return f.MSE
	}
	return f.Accuracy
}

// trained returns the score on the training set.
func trained(f eval.Fold) float64 {
	if f.Errors != nil {
		return f.TrainMSE
	}
	return f.TrainAccuracy
}

func spread(folds []eval.Fold, of func(eval.Fold) float64) (mean, sd float64) {
	return stat.MeanStdDev(lists.Map(folds, of), nil)
}

// curve holds the folds of a validation or learning curve.
type curve struct {
	name  string
	x     []float64
	folds [][]eval.Fold
}

// validationCurve returns the curve over the searched number.
func (o *cvOptions) validationCurve(res *eval.Result) (c curve) {
	for name := range o.axes {
		c.name = name
	}
	settings := slices.Clone(res.Settings)
	slices.SortStableFunc(settings, func(a, b eval.Setting) int {
		return cmp.Compare(a.Values.Number(c.name), b.Values.Number(c.name))
	})
	for _, s := range settings {
		c.x, c.folds = append(c.x, s.Values.Number(c.name)), append(c.folds, s.Folds)
	}
	return c
}

// plotCurve draws a curve to the file.
func (o *cvOptions) plotCurve(ctx context.Context, c curve, rule ml.Rule) error {
	v := figure.Validation{X: c.name, Score: "accuracy", Share: rule != ml.Value, Places: c.x}
	if rule == ml.Value {
		v.Score = "mean squared error"
	}
	// Values such as 0.1, 1, 10 get a logarithmic axis.
	v.Log = c.x[0] > 0 && c.x[len(c.x)-1] >= 20*c.x[0]
	for _, folds := range c.folds {
		v.HeldOut, v.Training = append(v.HeldOut, lists.Map(folds, heldOut)), append(v.Training, lists.Map(folds, trained))
	}
	return writePicture(ctx, *o.plot, v.Picture)
}
