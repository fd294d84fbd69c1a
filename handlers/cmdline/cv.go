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

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/study"
	"marginlab/ml/trace"
)

var cv = Command{"cv", "score settings by cross-validation and search for the best", runCV}

// cvOptions is the command line of cv.
type cvOptions struct {
	spec   ml.Spec
	axes   eval.Axes   // values to try, by parameter
	design eval.Design // the resulting design, without single-valued parameters
	refine int         // rounds of refinement
	scheme eval.Scheme
	data   string
	json   bool

	how *reading

	learning []float64 // shares of the training points, for a learning curve; nil: none
	plot     *string   // file for a picture of the curve; may be empty
}

// Numeric flags of cv that are not training parameters.
var (
	foldsParam = param.Param{
		Name: "folds", Kind: param.Integer, Default: "5", Min: 2, Max: 1e5,
		Words: []string{"loo"},
		Help:  "Number of folds, stratified by class; each is held out once. loo: leave-one-out.",
	}
	repeatsParam = param.Param{
		Name: "repeats", Kind: param.Integer, Default: "1", Min: 1, Max: 1000,
		Help: "Number of times to repeat the folds.",
	}
	holdOutParam = param.Param{
		Name: "hold_out", Kind: param.Number, Default: "0", Min: 0, Max: 0.9,
		Help: "Instead of folds: hold out this fraction of every class, drawn --repeats times.",
	}
	refineParam = param.Param{
		Name: "refine", Kind: param.Integer, Default: "0", Min: 0, Max: 10,
		Help: "Number of rounds after the first, each finer and around the best setting of the previous one.",
	}
)

// cvReport is the output of cv --json.
type cvReport struct {
	N            int                 `json:"n"`
	D            int                 `json:"d,omitempty"`
	Classes      []string            `json:"classes,omitempty"`
	Positive     string              `json:"positive,omitempty"`
	Rule         ml.Rule             `json:"rule"`
	Learner      string              `json:"learner,omitempty"` // common to all settings
	Kernel       string              `json:"kernel,omitempty"`
	Folds        int                 `json:"folds"`
	Repeats      int                 `json:"repeats"`
	Seed         uint64              `json:"seed"`
	*eval.Result                     // of the last round
	OneError     *int                `json:"one_standard_error,omitempty"` // index of the simplest setting about as good as the best
	Warning      string              `json:"warning,omitempty"`
	Rounds       []*eval.Result      `json:"rounds,omitempty"`   // earlier rounds
	Learning     []eval.LearningStep `json:"learning,omitempty"` // instead of Result
	Seconds      float64             `json:"seconds"`            // all trainings, without reading
}

func parseCV(args []string) (*cvOptions, error) {
	f := NewFlags("cv FILE [flags]",
		"Cross-validates: splits the points into folds, holds out each in turn while training on the others, and prints the accuracy on the held-out points, or with --target value the mean squared error and R². Flags shown with ,... take lists such as --C 1,10,100 and ranges: 0.01..100/5 means five values from 0.01 to 100, on a logarithmic scale where usual; 5lin and 5log choose the scale. Every combination is scored, or with --design points drawn between the values.")
	o := cvOptions{axes: eval.Axes{}}
	f.Heading("Files")
	data := f.Data("Labelled points in any format that fit reads; - reads standard input.")
	how := f.Reading()
	asJSON := f.Switch("json", "Print the results as one JSON object, at full precision, fold by fold.")
	f.Heading("Folds")
	f.Value(foldsParam, func(v param.Value) {
		if o.scheme.LeaveOneOut = !v.IsNumber(); v.IsNumber() {
			o.scheme.Folds = v.Int()
		}
	})
	f.Value(repeatsParam, func(v param.Value) { o.scheme.Repeats = v.Int() })
	f.Value(holdOutParam, func(v param.Value) { o.scheme.HoldOut = v.Number() })
	column := f.String("fold-column", "NAME", "", "Instead of folds: each value of this numeric column is a fold. The column is not trained on.")
	f.Param(eval.ScoreParam, func(text string) error { o.scheme.Score = text; return nil })
	nested := f.Switch("nested", "Nested cross-validation: in every fold the setting is chosen by folds of its training set and scored once on its test set. An unbiased number to report.")
	f.Heading("Search")
	design, points := eval.OfGrid, 0
	f.Param(eval.DesignParam, func(text string) error { design = text; return nil })
	f.Value(eval.PointsParam, func(v param.Value) { points = v.Int() })
	f.Value(refineParam, func(v param.Value) { o.refine = v.Int() })
	o.curveFlags(f)
	own := map[string]func(p param.Param){
		"test_fraction": func(param.Param) {}, // folds hold points out
	}
	for _, p := range ml.Params {
		if _, fixed := own[p.Name]; !fixed && p.Kind != param.Text && p.Name != "seed" && p.Name != "target" {
			own[p.Name] = func(p param.Param) { f.List(p, o.try(p)) }
		}
	}
	spec := f.Spec(own)
	f.Cache(spec)
	if err := f.Parse(respelled(args), "data"); err != nil {
		return nil, err
	}
	grid, _ := o.axes.Design(eval.OfGrid, 0, 0) // o.axes has been validated
	for _, name := range grid.Names() {
		// The first value determines how the data are read, for example as strings.
		if err := spec.Set(name, o.axes[name].Values[0].Text()); err != nil {
			return nil, err
		}
		if len(o.axes[name].Values) == 1 {
			delete(o.axes, name)
		}
	}
	var err error
	switch {
	case len(o.axes) > 0 || design == eval.OfGrid:
		o.design, err = o.axes.Design(design, points, spec.Seed)
	default:
		err = usage("--design=%s has nothing to draw from: give a numeric flag a range, such as --C 0.01..100", design)
	}
	if err != nil {
		return nil, usage("%s", err)
	}
	paths, err := o.design.Paths(*spec)
	if err != nil {
		return nil, usage("%s", err)
	}
	var specs []ml.Spec
	settings := 0
	for _, p := range paths {
		specs = append(specs, p.Spec)
		settings += p.Settings()
	}
	if how.notes, err = f.idle(specs...); err != nil {
		return nil, err
	}
	how.multiclass = f.Given("multiclass")
	o.data, o.how, o.json, o.spec = *data, how, *asJSON, *spec
	o.scheme.Nested, o.scheme.Seed, o.scheme.Column = *nested, spec.Seed, *column
	switch {
	case f.Given("cache") && !spec.Caches():
		return nil, usage("--cache has no effect with --learner=%s", spec.Learner)
	case *nested && settings < 2:
		return nil, usage("--nested has no effect with a single setting: there is nothing to choose")
	case o.refine > 0 && settings < 2:
		return nil, usage("--refine has no effect with a single setting: there is nothing to search around")
	case f.Given("points") && design == eval.OfGrid:
		return nil, usage("--points has no effect with --design=%s", design)
	}
	return &o, o.checkCurve(settings)
}

// try returns a function that adds a value or range of p to try.
func (o *cvOptions) try(p param.Param) func(text string) error {
	return func(text string) error {
		flag := p
		flag.Name = "--" + p.Flag() // messages name the flag
		before := o.axes[p.Name].Values
		if v, err := p.Parse(text); err == nil && slices.Contains(before, v) {
			return fmt.Errorf("%s names %s twice", flag.Name, v)
		}
		return o.axes.Add(p.Name, flag, text)
	}
}

func runCV(ctx context.Context, args []string, std Streams) error {
	o, err := parseCV(args)
	if err != nil {
		return err
	}
	data, err := readData(ctx, "cv", o.data, &o.spec, o.how, std)
	if err != nil {
		return err
	}
	if o.learning != nil {
		return o.runLearning(ctx, data, std)
	}
	start := time.Now()
	p := progressOn(std)
	rounds, err := eval.Refine(ctx, data, o.spec, o.design, o.scheme, o.refine, p.cells()) // the last result is the finest
	p.end()
	if err != nil {
		return err
	}
	r, err := o.report(data)
	if err != nil {
		return err
	}
	res := rounds[len(rounds)-1]
	r.Result, r.Rounds, r.Seconds = res, rounds[:len(rounds)-1], time.Since(start).Seconds()
	if len(res.Settings) > 1 {
		one := res.WithinOneError()
		r.OneError = &one
		r.Warning = o.scheme.Warning(res)
	}
	if *o.plot != "" {
		if err := o.plotCurve(ctx, o.validationCurve(r)); err != nil {
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
	short, failed := 0, 0
	why := ""
	for _, s := range res.Settings {
		switch failure := s.Failure(); {
		case failure != "":
			failed++
			why = cmp.Or(why, failure)
		case !s.Converged():
			short++
		}
	}
	if failed > 0 {
		note(std, "cv", fmt.Sprintf("%d of %d settings cannot be trained on every fold and are left out of the choice: %s", failed, len(res.Settings), why))
	}
	if short > 0 {
		note(std, "cv", fmt.Sprintf("%d of %d settings did not converge: their numbers describe the last iterate, not the optimum", short, len(res.Settings)))
	}
	return nil
}

// report returns the part of the report known before the work.
func (o *cvOptions) report(data *dataset.Data) (r cvReport, err error) {
	r = cvReport{
		N: data.Len(), D: len(data.Features), Learner: o.spec.Learner, Kernel: o.spec.Kernel,
		Folds: o.scheme.Folds, Repeats: o.scheme.Repeats, Seed: o.scheme.Seed,
	}
	target, err := ml.TargetOf(data, o.spec)
	if err != nil {
		return r, err
	}
	if len(o.axes["learner"].Values) > 0 {
		r.Learner = ""
	}
	if len(o.axes["kernel"].Values) > 0 {
		r.Kernel = ""
	}
	r.Classes, r.Positive, r.Rule = classesOf(data, target), target.Positive(), target.Rule
	return r, nil
}

// writeCV writes a line per setting and a sentence about the best one. The first number is the
// ranking score.
func writeCV(w io.Writer, r cvReport) error {
	for i, earlier := range r.Rounds {
		one := r
		one.Result, one.Rounds, one.OneError, one.Warning = earlier, nil, nil, ""
		fmt.Fprintf(w, "Round %d\n\n", i+1)
		if err := writeCV(w, one); err != nil {
			return err
		}
		if fmt.Fprintln(w); i == len(r.Rounds)-1 {
			fmt.Fprintf(w, "Round %d\n\n", i+2)
		}
	}
	score := r.RankedBy()
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s on held-out points: mean and standard deviation over %d folds\n\n", score.Title(), len(r.Settings[0].Folds))
	study.WriteColumns(b, r.table())
	if r.Nested != nil {
		mean, deviation, _ := score.Over(r.NestedFolds())
		unit := ""
		if score.Share {
			unit = " %"
		} else if score.Name != "mse" {
			unit = " of " + score.Label
		}
		anew := lists.Either(r.Nested.Settings == nil, "", ", round by round,")
		fmt.Fprintf(b, "\nNested: %s%s (sd %s) with the setting chosen anew%s in every fold\n", amount(score, mean), unit, amount(score, deviation), anew)
	}
	if r.OneError != nil {
		fmt.Fprint(b, "\nsimplest: fewest support vectors within one standard error of the best\n")
	}
	if r.Warning != "" {
		fmt.Fprintln(b)
		terminal{b, columns(w)}.Paragraph(r.Warning)
	}
	writeConfusion(b, "confusion", "held-out", r.Confusion)
	return b.Flush()
}

// table returns a heading and a line per setting.
func (r cvReport) table() [][]string {
	score := r.RankedBy()
	shown := []eval.Score{score}
	for _, name := range []string{"accuracy", "r2"} {
		if other := eval.RankedBy(name, r.Rule == ml.Value); other.Name == name && name != score.Name && (name == "r2") == (r.Rule == ml.Value) {
			shown = append(shown, other)
		}
	}
	head := r.Searched
	for i, s := range shown {
		name := lists.Either(s.Name == "r2", s.Label, s.Name)
		if head = append(slices.Clip(head), name); i == 0 {
			head = append(head, "sd")
		}
	}
	lines := [][]string{append(slices.Clip(head), "support vectors", "status")}
	return append(lines, lists.Make(len(r.Settings), func(i int) []string { return r.line(i, shown) })...)
}

// line returns the table's line for setting i.
func (r cvReport) line(i int, shown []eval.Score) []string {
	s := r.Settings[i]
	line := lists.Map(r.Searched, func(name string) string { return cmp.Or(s.Values.Text(name), "-") })
	for k, score := range shown {
		numbers := []string{"-", "-"}
		if mean, deviation, ok := score.Over(s.Folds); ok {
			numbers = []string{amount(score, mean), amount(score, deviation)}
		}
		if k > 0 {
			numbers = numbers[:1]
		}
		line = append(line, numbers...)
	}
	sum, status := 0, trace.Converged
	for _, f := range s.Folds {
		sum += f.SupportVectors
		if f.Status != trace.Converged && status != "failed" {
			status = f.Status
		}
	}
	vectors := "-"
	if s.Failure() == "" {
		vectors = fmt.Sprintf("%.1f", float64(sum)/float64(len(s.Folds)))
	}
	line = append(line, vectors, string(status))
	var marks []string
	if i == r.Best && len(r.Settings) > 1 {
		marks = append(marks, "best")
	}
	if r.OneError != nil && i == *r.OneError {
		marks = append(marks, "simplest")
	}
	if len(marks) > 0 {
		line = append(line, strings.Join(marks, ", "))
	}
	return line
}

// amount formats a value of a score.
func amount(s eval.Score, v float64) string {
	switch {
	case s.Share:
		return percent(v)
	case s.Name == "mse" || s.Name == "r2": // of any magnitude
		return digits(ml.Plain, v)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 2, 64) }
