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

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

var cv = Command{"cv", "judge settings by cross-validation, over a grid of C and gamma", runCV}

// cvOptions is the command line of cv.
type cvOptions struct {
	spec     ml.Spec
	settings eval.Settings
	data     string
	json     bool
	notes    []string // about flags without effect
}

// The flags of cv that are numbers but no parameters of a training.
var (
	foldsParam = param.Param{
		Name: "folds", Kind: param.Integer, Default: "5", Min: 2, Max: 1e5,
		Help: "Number of parts that the points are dealt into, every class evenly; each is held out once.",
	}
	repeatsParam = param.Param{
		Name: "repeats", Kind: param.Integer, Default: "1", Min: 1, Max: 1000,
		Help: "How often the points are dealt anew.",
	}
)

// cvReport is what cv --json prints.
type cvReport struct {
	N        int      `json:"n"`
	D        int      `json:"d"`
	Classes  []string `json:"classes"`
	Positive string   `json:"positive"`
	Learner  string   `json:"learner"`
	Kernel   string   `json:"kernel"`
	Folds    int      `json:"folds"`
	Repeats  int      `json:"repeats"`
	Seed     uint64   `json:"seed"`
	*eval.Result
	Seconds float64 `json:"seconds"` // all trainings: no reading
}

func parseCV(args []string) (*cvOptions, error) {
	f := NewFlags("cv --data FILE [flags]",
		"Cross-validates: deals the points into folds, holds each out in turn while the others train, and prints the accuracy on those held out, for every pair of C and gamma.")
	var o cvOptions
	f.Heading("Files")
	data := f.String("data", "FILE", "", "Labelled points, as fit reads them. The name - stands for standard input.")
	asJSON := f.Switch("json", "Print the numbers as one JSON object, at full precision, fold by fold.")
	f.Heading("Folds")
	for _, n := range []struct {
		p   param.Param
		dst *int
	}{{foldsParam, &o.settings.Folds}, {repeatsParam, &o.settings.Repeats}} {
		set := func(text string) error {
			v, err := strconv.ParseFloat(text, 64)
			*n.dst = int(v)
			return err
		}
		_ = set(n.p.Default)
		f.Param(n.p, set)
	}
	nested := f.Switch("nested", "Judge the choice, too: in every fold C and gamma are chosen by folds of the points that train, and meet the held-out ones once.")
	spec := f.Spec(map[string]func(p param.Param){
		"C": func(p param.Param) {
			f.List(p, func(text string) error {
				v, err := strconv.ParseFloat(text, 64)
				o.settings.C = append(o.settings.C, v)
				return err
			})
		},
		"gamma": func(p param.Param) {
			f.List(p, func(text string) error {
				v, err := p.Parse(text)
				o.settings.Gamma = append(o.settings.Gamma, v)
				return err
			})
		},
		"test_fraction": func(param.Param) {}, // folds hold points out
	})
	f.Cache(spec)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if err := f.Require("data"); err != nil {
		return nil, err
	}
	var err error
	if o.notes, err = f.idle(*spec); err != nil {
		return nil, err
	}
	o.data, o.json, o.spec = *data, *asJSON, *spec
	o.settings.Nested, o.settings.Seed = *nested, spec.Seed
	if c, ok := twice(o.settings.C); ok {
		return nil, usage("--C names %g twice", c)
	}
	if g, ok := twice(o.settings.Gamma); ok {
		return nil, usage("--gamma names %s twice", g)
	}
	switch {
	case spec.Learner != "svm" && f.Given("cache"):
		return nil, usage("--cache has no effect with --learner=%s", spec.Learner)
	case *nested && len(o.settings.C) < 2 && len(o.settings.Gamma) < 2:
		return nil, usage("--nested has no effect with a single C and gamma: there is nothing to choose")
	}
	return &o, nil
}

// twice finds a value that is there more than once.
func twice[T comparable](values []T) (v T, ok bool) {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return v, true
		}
	}
	return v, false
}

func runCV(ctx context.Context, args []string, std Streams) error {
	o, err := parseCV(args)
	if err != nil {
		return err
	}
	for _, n := range o.notes {
		note(std, "cv", n)
	}
	data, err := readData(ctx, o.data, &o.spec, std)
	if err != nil {
		return err
	}
	start := time.Now()
	res, err := eval.CrossValidate(ctx, data, o.spec, o.settings)
	if err != nil {
		return err
	}
	r := cvReport{
		Classes: data.Classes, Learner: o.spec.Learner, Kernel: o.spec.Kernel,
		Folds: o.settings.Folds, Repeats: o.settings.Repeats, Seed: o.settings.Seed,
		Result: res, Seconds: time.Since(start).Seconds(),
	}
	r.N, r.D = data.X.Dims()
	if _, r.Positive, _, err = data.Binary(o.spec.Positive); err != nil {
		return err
	}
	if o.json {
		err = json.NewEncoder(std.Out).Encode(r)
	} else {
		err = writeCV(std.Out, r)
	}
	if err != nil {
		return err
	}
	short := 0
	for _, c := range res.Cells {
		if !c.Converged() {
			short++
		}
	}
	if short > 0 {
		note(std, "cv", fmt.Sprintf("trainings of %d of %d settings did not converge: their numbers are those of the last iterate, not of the optimum", short, len(res.Cells)))
	}
	return nil
}

// writeCV writes a line for each cell, and the best one in words.
func writeCV(w io.Writer, r cvReport) error {
	lines := [][]string{{"C", "gamma", "accuracy", "sd", "support vectors", "status"}}
	for i, c := range r.Cells {
		vectors := 0
		status := trace.Converged
		for _, f := range c.Folds {
			vectors += f.SupportVectors
			if f.Status != trace.Converged {
				status = f.Status
			}
		}
		line := []string{setting(c.C), setting(c.Gamma), percent(c.Accuracy), percent(c.Deviation), fmt.Sprintf("%.1f", float64(vectors)/float64(len(c.Folds))), string(status)}
		if i == r.Best && len(r.Cells) > 1 {
			line = append(line, "best")
		}
		lines = append(lines, line)
	}
	widths := make([]int, len(lines[0])+1)
	for _, line := range lines {
		for j, s := range line {
			widths[j] = max(widths[j], len(s))
		}
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Accuracy in %% on the points held out: mean and standard deviation over %d folds\n\n", len(r.Cells[0].Folds))
	for _, line := range lines {
		var text strings.Builder
		for j, s := range line {
			fmt.Fprintf(&text, "%-*s  ", widths[j], s)
		}
		fmt.Fprintln(b, strings.TrimRight(text.String(), " "))
	}
	if n := r.Nested; n != nil {
		fmt.Fprintf(b, "\nNested: %s %% (sd %s) with C and gamma chosen anew in every fold\n", percent(n.Accuracy), percent(n.Deviation))
	}
	return b.Flush()
}

// setting is the value of C or gamma, - for what does not apply.
func setting[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) }
