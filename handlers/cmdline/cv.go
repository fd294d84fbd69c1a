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
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

var cv = Command{"cv", "judge settings by cross-validation, over a grid of any numbers", runCV}

// cvOptions is the command line of cv.
type cvOptions struct {
	spec   ml.Spec
	grid   eval.Grid // the flags with more than one value
	scheme eval.Scheme
	data   string
	json   bool

	how   *reading
	notes []string // about flags without effect

	multiclass bool // given on the command line

	learning []float64 // shares of the points that train, for a learning curve; nil: none
	plot     string    // file of a picture of the curve; may be empty
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
	D        int      `json:"d,omitempty"`
	Classes  []string `json:"classes,omitempty"`
	Positive string   `json:"positive,omitempty"`
	Rule     ml.Rule  `json:"rule"`
	Learner  string   `json:"learner"`
	Kernel   string   `json:"kernel"`
	Folds    int      `json:"folds"`
	Repeats  int      `json:"repeats"`
	Seed     uint64   `json:"seed"`
	*eval.Result
	Learning []eval.LearningStep `json:"learning,omitempty"` // in place of Result
	Seconds  float64             `json:"seconds"`            // all trainings: no reading
}

func parseCV(args []string) (*cvOptions, error) {
	f := NewFlags("cv --data FILE [flags]",
		"Cross-validates: deals the points into folds, holds each out in turn while the others train, and prints the accuracy on those held out, or with --target value the mean squared error and R². Every number of a training may be a list; then it does so for every combination.")
	o := cvOptions{grid: make(eval.Grid)}
	f.Heading("Files")
	data := f.String("data", "FILE", "", "Labelled points, as fit reads them. The name - stands for standard input.")
	how := f.Reading()
	asJSON := f.Switch("json", "Print the numbers as one JSON object, at full precision, fold by fold.")
	f.Heading("Folds")
	for _, n := range []struct {
		p   param.Param
		dst *int
	}{{foldsParam, &o.scheme.Folds}, {repeatsParam, &o.scheme.Repeats}} {
		set := func(text string) error {
			v, err := strconv.ParseFloat(text, 64)
			*n.dst = int(v)
			return err
		}
		_ = set(n.p.Default)
		f.Param(n.p, set)
	}
	nested := f.Switch("nested", "Judge the choice, too: in every fold the setting is chosen by folds of the points that train, and meets the held-out ones once.")
	o.curveFlags(f)
	own := map[string]func(p param.Param){
		"test_fraction": func(param.Param) {}, // folds hold points out
	}
	for _, p := range ml.Params {
		if p.Kind == param.Number && own[p.Name] == nil || p.Kind == param.Integer && p.Name != "seed" {
			own[p.Name] = func(p param.Param) { f.List(p, o.try(p)) }
		}
	}
	spec := f.Spec(own)
	f.Cache(spec)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if err := f.Require("data"); err != nil {
		return nil, err
	}
	for name, values := range o.grid {
		if len(values) == 1 {
			if err := spec.Set(name, values[0].Text()); err != nil {
				return nil, err
			}
			delete(o.grid, name)
		}
	}
	paths, err := o.grid.Paths(*spec)
	if err != nil {
		return nil, usage("%s", err)
	}
	var specs []ml.Spec
	settings := 0
	for _, p := range paths {
		specs = append(specs, p.Spec)
		settings += p.Settings()
	}
	if o.notes, err = f.idle(specs...); err != nil {
		return nil, err
	}
	o.data, o.how, o.json, o.spec, o.multiclass = *data, how, *asJSON, *spec, f.Given("multiclass")
	o.scheme.Nested, o.scheme.Seed = *nested, spec.Seed
	switch {
	case f.Given("cache") && !spec.Caches():
		return nil, usage("--cache has no effect with --learner=%s", spec.Learner)
	case *nested && settings < 2:
		return nil, usage("--nested has no effect with a single setting: there is nothing to choose")
	}
	return &o, o.checkCurve(settings)
}

// try takes over a value of p that is to be tried.
func (o *cvOptions) try(p param.Param) func(text string) error {
	return func(text string) error {
		v, err := p.Parse(text)
		if err != nil {
			return err
		}
		if slices.Contains(o.grid[p.Name], v) {
			return fmt.Errorf("--%s names %s twice", p.Flag(), v)
		}
		o.grid[p.Name] = append(o.grid[p.Name], v)
		return nil
	}
}

func runCV(ctx context.Context, args []string, std Streams) error {
	o, err := parseCV(args)
	if err != nil {
		return err
	}
	for _, n := range o.notes {
		note(std, "cv", n)
	}
	if o.plot != "" {
		if err := checkTarget(o.plot); err != nil {
			return err
		}
	}
	data, err := readData(ctx, "cv", o.data, &o.spec, o.how, std)
	if err != nil {
		return err
	}
	if o.multiclass {
		noteTwoClasses(std, "cv", data)
	}
	if o.learning != nil {
		return o.runLearning(ctx, data, std)
	}
	start := time.Now()
	p := progressOn(std)
	res, err := eval.CrossValidate(ctx, data, o.spec, o.grid, o.scheme, p.cells())
	p.end()
	if err != nil {
		return err
	}
	r, err := o.report(data)
	if err != nil {
		return err
	}
	r.Result, r.Seconds = res, time.Since(start).Seconds()
	if o.plot != "" {
		if err := o.plotCurve(o.validationCurve(res), r.Rule); err != nil {
			return err
		}
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
	for _, s := range res.Settings {
		if !s.Converged() {
			short++
		}
	}
	if short > 0 {
		note(std, "cv", fmt.Sprintf("trainings of %d of %d settings did not converge: their numbers are those of the last iterate, not of the optimum", short, len(res.Settings)))
	}
	return nil
}

// report is what is known before the work.
func (o *cvOptions) report(data *dataset.Data) (r cvReport, err error) {
	r = cvReport{
		N: data.Len(), D: len(data.Features), Learner: o.spec.Learner, Kernel: o.spec.Kernel,
		Folds: o.scheme.Folds, Repeats: o.scheme.Repeats, Seed: o.scheme.Seed,
	}
	target, err := ml.TargetOf(data, o.spec)
	if err != nil {
		return r, err
	}
	r.Classes, r.Positive, r.Rule = classesOf(data, target), target.Positive(), target.Rule
	return r, nil
}

// writeCV writes a line for each setting, and the best one in words.
func writeCV(w io.Writer, r cvReport) error {
	head := []string{"accuracy", "sd"}
	if r.Rule == ml.Value {
		head = []string{"mse", "sd", "R²"}
	}
	lines := [][]string{slices.Concat(r.Searched, head, []string{"support vectors", "status"})}
	for i, s := range r.Settings {
		vectors := 0
		status := trace.Converged
		for _, f := range s.Folds {
			vectors += f.SupportVectors
			if f.Status != trace.Converged {
				status = f.Status
			}
		}
		var line []string
		for _, name := range r.Searched {
			line = append(line, cmp.Or(s.Values.Text(name), "-"))
		}
		if e := s.MeanErrors; e != nil {
			line = append(line, digits(ml.Plain, e.MSE), digits(ml.Plain, e.MSEDeviation), "-")
			if e.R2 != nil {
				line[len(line)-1] = digits(ml.Plain, *e.R2)
			}
		} else {
			line = append(line, percent(s.Accuracy), percent(s.Deviation))
		}
		line = append(line, fmt.Sprintf("%.1f", float64(vectors)/float64(len(s.Folds))), string(status))
		if i == r.Best && len(r.Settings) > 1 {
			line = append(line, "best")
		}
		lines = append(lines, line)
	}
	b := bufio.NewWriter(w)
	what := "Accuracy in %"
	if r.Rule == ml.Value {
		what = "Mean squared error"
	}
	fmt.Fprintf(b, "%s on the points held out: mean and standard deviation over %d folds\n\n", what, len(r.Settings[0].Folds))
	writeTable(b, lines)
	switch n := r.Nested; {
	case n == nil:
	case n.MeanErrors != nil:
		fmt.Fprintf(b, "\nNested: %s (sd %s) with the setting chosen anew in every fold\n", digits(ml.Plain, n.MSE), digits(ml.Plain, n.MSEDeviation))
	default:
		fmt.Fprintf(b, "\nNested: %s %% (sd %s) with the setting chosen anew in every fold\n", percent(n.Accuracy), percent(n.Deviation))
	}
	return b.Flush()
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) }
