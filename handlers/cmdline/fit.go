package cmdline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
)

var fit = Command{"fit", "train on a file of labelled points and report the numbers", runFit}

// fitOptions is the command line of fit.
type fitOptions struct {
	spec       ml.Spec
	data, test string // data files; test may be empty
	how        *reading
	out, plot  string // output files; may be empty
	on         *paper // size and style of plot
	json       bool
	server     *server // trains and stores the run; nil: trained here
	name       string  // name of the stored run
}

func parseFit(args []string) (*fitOptions, error) {
	f := NewFlags("fit FILE [flags]",
		"Trains a classifier on labelled points, or with --target value a regression on points with values, prints the results, and optionally saves the model and a plot.")
	f.Heading("Files")
	data := f.Data("Labelled points: CSV, TSV, .xlsx (one sheet), LIBSVM, ARFF or JSON, also gzipped, or the name of a built-in set such as wine. With --kernel precomputed, a kernel matrix: M rows of M columns and a label, or LIBSVM lines label 0:i 1:k … M:k. With a string kernel, a column of strings, chosen by --features if there are several, and a label; or FASTA with the label after the name; or text files in a folder or zip archive, one folder per class or with a CSV of names and labels. With a graph kernel, JSON lines, GraphML or a TU Dortmund set. - reads standard input.")
	how := f.Reading()
	test := f.String("test", "FILE", "", "A second file with the same columns, for test accuracy or error.")
	out := f.String("out", "FILE", "", "File for the model, in JSON that predict reads.")
	plot := f.Picture("plot", "File for a plot of the decision boundary, or of the curve or surface of a regression.")
	on := f.Paper()
	asJSON := f.Switch("json", "Print the results as one JSON object, at full precision.")
	f.Heading("Server")
	address := f.String("server", "URL", "", "Train on this Margin Lab server and save the run in a workspace there.")
	token := f.String("token", "KEY", "", "Key of the workspace, from the server's settings page; better given as the environment variable "+tokenVariable+".")
	name := f.String("name", "NAME", "", "Name of the run on the server.")
	spec := f.Spec(nil)
	f.Cache(spec)
	if err := f.Parse(respelled(args), "data"); err != nil {
		return nil, err
	}
	var err error
	if how.notes, err = f.idle(*spec); err != nil {
		return nil, err
	}
	how.multiclass = f.Given("multiclass")
	o := &fitOptions{spec: *spec, data: *data, how: how, test: *test, out: *out, plot: *plot, on: on, json: *asJSON, name: *name}
	if o.server, err = newServer(*address, *token); err != nil {
		return nil, err
	}
	switch {
	case o.server != nil && f.Given("cache"):
		return nil, usage("--cache has no effect with --server: the server has its own")
	case f.Given("cache") && !spec.Caches():
		return nil, usage("--cache has no effect with --learner=%s", spec.Learner)
	case o.server == nil && (*token != "" || *name != ""):
		return nil, usage("--token and --name need --server")
	case o.test != "" && spec.TestFraction > 0:
		return nil, usage("--test and --test-fraction exclude each other: the first names a test file, the second draws test points from --data")
	case o.data == "-" && o.test == "-":
		return nil, usage("--data and --test cannot both be standard input")
	case o.out == "-":
		return nil, usage("--out expects a file name, not -: the results go to standard output")
	case o.out != "" && o.out == o.plot:
		return nil, usage("--out and --plot name the same file")
	case o.plot == "" && *on != paper{}:
		return nil, usage("--width, --height, --font-size and --grey need --plot")
	}
	return o, keep([]string{o.data, o.test}, o.out, o.plot)
}

func runFit(ctx context.Context, args []string, std Streams) error {
	o, err := parseFit(args)
	if err != nil {
		return err
	}
	data, err := readData(ctx, "fit", o.data, &o.spec, o.how, std)
	if err != nil {
		return err
	}
	var test *dataset.Table
	if o.test != "" {
		if test, err = readTable(ctx, o.test, "", std); err != nil {
			return err
		}
	}

	p := progressOn(std)
	defer p.end()
	res, err := o.train(ctx, std, data, p)
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, errCancelledThere) || err == nil && res.Report.Status == trace.Cancelled && res.Report.Iterations == 0:
		return errors.Join(o.printUntrained(std.Out, data), cmp.Or(err, context.Canceled))
	case err != nil:
		return err
	}
	if test != nil && res.Report.Status != trace.Cancelled {
		if err := evaluate(trace.Follow(ctx, trace.Scoring, p.tell), res, test); err != nil {
			return err
		}
	}
	p.end()
	if err := o.print(std.Out, res.Report); err != nil {
		return err
	}
	switch s := res.Report.Status; s {
	case trace.Converged:
	case trace.Cancelled:
		return fmt.Errorf("interrupted: status %s after %d iterations, nothing was saved", s, res.Report.Iterations)
	default:
		note(std, "fit", fmt.Sprintf("status %s: the numbers describe the last iterate, not the optimum", s))
	}

	if o.out != "" {
		err := writeFile(o.out, func(w io.Writer) error { return json.NewEncoder(w).Encode(res.Model) })
		if err != nil {
			return err
		}
	}
	if o.plot != "" {
		return plot(ctx, std, p, o.plot, o.on, data, o.spec, res)
	}
	return nil
}

// train trains here or on the server.
func (o *fitOptions) train(ctx context.Context, std Streams, d *dataset.Data, p *progress) (*ml.Result, error) {
	if o.server != nil {
		o.server.note = func(text string) { note(std, "fit", text) }
		return o.server.train(ctx, o.data, o.name, d, o.spec)
	}
	return ml.Train(ctx, d, o.spec, p.tell)
}

// note writes a message that does not affect the work.
func note(std Streams, command, text string) {
	fmt.Fprintf(std.Err, "marginlab %s: note: %s\n", command, text)
}

// untrained describes a training that ended before its first step and has no results.
type untrained struct {
	N        int          `json:"n"`
	D        int          `json:"d,omitempty"`
	Classes  []string     `json:"classes,omitempty"`
	Positive string       `json:"positive,omitempty"`
	Learner  string       `json:"learner"`
	Kernel   string       `json:"kernel"`
	Status   trace.Status `json:"status"`
}

func (o *fitOptions) printUntrained(w io.Writer, d *dataset.Data) error {
	if !o.json {
		return nil
	}
	target, err := ml.TargetOf(d, o.spec)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(untrained{d.Len(), len(d.Features), classesOf(d, target), target.Positive(), o.spec.Learner, o.spec.Kernel, trace.Cancelled})
}

// classesOf returns the classes of d, none for a regression.
func classesOf(d *dataset.Data, target ml.Target) []string {
	if target.Rule == ml.Value {
		return nil
	}
	return d.Classes
}

func (o *fitOptions) print(w io.Writer, r ml.Report) error {
	if o.json {
		return json.NewEncoder(w).Encode(r)
	}
	return writeReport(w, r)
}

// evaluate adds the accuracy or error on a second file to the report.
func evaluate(ctx context.Context, res *ml.Result, t *dataset.Table) error {
	p, err := res.Model.PredictTable(ctx, t)
	if err != nil {
		return err
	}
	if p.Unlabelled != nil {
		return p.Unlabelled
	}
	if p.True == nil {
		return fmt.Errorf("%s: no label column %q", t.File, res.Model.Label)
	}
	if res.Model.Rule == ml.Value {
		e, err := p.Errors()
		if err != nil {
			return fmt.Errorf("%s: %w", t.File, err)
		}
		res.Report.TestN, res.Report.TestMSE, res.Report.TestR2 = len(p.True), &e.MSE, e.R2
		return nil
	}
	var right []int
	for i, l := range p.True {
		if !slices.Contains(res.Report.Classes, l) {
			return &dataset.Error{
				File: t.File, Line: t.Lines[i], Name: res.Model.Label,
				Message: fmt.Sprintf("label %q: expected one of %s", l, strings.Join(res.Report.Classes, ", ")),
			}
		}
		right = append(right, res.Model.ClassOf(l))
	}
	res.Report.Judge(res.Model, right, p.Scores)
	return nil
}
