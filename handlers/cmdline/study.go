package cmdline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/study"
	"marginlab/views/figure"
)

var studies = Command{"study", "compare learners on several data sets, as described in a file", runStudy}

// studyOptions is the command line of study.
type studyOptions struct {
	source string // a file, or the name of a built-in study
	outDir string // may be empty
	data   []string
	format studyFormat
	server *server // computes and stores the study; nil: computed here
}

// studyFormat is one way to write a result.
type studyFormat struct {
	name, help string
	write      func(w io.Writer, r study.Result) error
}

// studyFormats lists the output formats, the default first.
var studyFormats = []studyFormat{
	{"", "", func(w io.Writer, r study.Result) error { return study.Text(w, r.Tables()) }},
	{"csv", "Print a row for each data set and learner, at full precision.", func(w io.Writer, r study.Result) error { return r.CSV(w) }},
	{"markdown", "Print the tables as Markdown.", func(w io.Writer, r study.Result) error { return study.Markdown(w, r.Tables()) }},
	{"latex", "Print the tables as LaTeX.", func(w io.Writer, r study.Result) error { return study.LaTeX(w, r.Tables()) }},
	{"json", "Print everything as one JSON object, fold by fold, with the study itself.", func(w io.Writer, r study.Result) error { return json.NewEncoder(w).Encode(r) }},
}

// Files of --out-dir.
const (
	studyFile = "study.toml"
	cellsFile = "cells.jsonl"
)

func parseStudy(args []string) (*studyOptions, error) {
	f := NewFlags("study FILE|NAME [flags]",
		"Compares learners on several data sets: tuned on the training folds, scored on the same test folds. Prints accuracies, support vectors, times, mean ranks and tests of significance. FILE describes the study. Built-in studies: "+ready()+".")
	source := f.Argument(lists.Map(study.Builtins, func(r study.Ready) string { return r.Name })...)
	f.Heading("Files")
	o := studyOptions{format: studyFormats[0]}
	f.Func("data", "FILE", "Additional data set, a file in any format that fit reads or a built-in set such as wine; may be given several times.", func(text string) error {
		o.data = append(o.data, text)
		return nil
	})
	outDir := f.String("out-dir", "DIR", "", "Write the study with seeds and hashes to "+studyFile+" in this folder, which is created if missing, with the results in every format and plots of the ranks. Finished cells are kept in "+cellsFile+": after an interruption, the same command continues.")
	f.Heading("Server")
	address := f.String("server", "URL", "", "Compute the study on this Margin Lab server, with all of its workers, and save it in a workspace there; data files are uploaded.")
	token := f.String("token", "KEY", "", "Key of the workspace, from the server's settings page; better given as the environment variable "+tokenVariable+".")
	f.Heading("Output")
	chosen := lists.Map(studyFormats[1:], func(format studyFormat) *bool { return f.Switch(format.name, format.help) })
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if *source == "" {
		return nil, usage("the study is missing: expected a file or one of %s", strings.Join(lists.Map(study.Builtins, func(r study.Ready) string { return r.Name }), ", "))
	}
	o.source, o.outDir = *source, *outDir
	var err error
	if o.server, err = newServer(*address, *token); err != nil {
		return nil, err
	}
	if o.server == nil && *token != "" {
		return nil, usage("--token needs --server")
	}
	for i, on := range chosen {
		if *on && o.format.name != "" {
			return nil, usage("--%s and --%s exclude each other", o.format.name, studyFormats[i+1].name)
		}
		if *on {
			o.format = studyFormats[i+1]
		}
	}
	return &o, nil
}

func ready() string {
	return strings.Join(lists.Map(study.Builtins, func(r study.Ready) string { return r.Name + " (" + r.Help + ")" }), "; ")
}

func runStudy(ctx context.Context, args []string, std Streams) error {
	o, err := parseStudy(args)
	if err != nil {
		return err
	}
	s, err := o.read(ctx, std)
	if err != nil {
		return err
	}
	if now := version(); s.Version != "" && s.Version != now {
		note(std, "study", fmt.Sprintf("the study was made with %s, but this is %s: the last digits may differ", s.Version, now))
	}
	s.Version = version()
	samples, err := s.Load(func(path string) (*dataset.Table, error) { return readTable(ctx, path, "", std) })
	if err != nil {
		return err
	}
	for i := range s.Sets {
		s.Sets[i].SHA256 = samples[i].SHA256
	}
	var keeper study.Keeper
	if o.outDir != "" {
		if err := o.prepare(s); err != nil {
			return err
		}
	}
	if o.outDir != "" && o.server == nil {
		cells, err := openCells(filepath.Join(o.outDir, cellsFile))
		if err != nil {
			return err
		}
		defer cells.file.Close()
		keeper = study.Keeper{Known: cells.known, Keep: cells.keep}
	}
	p := progressOn(std)
	show := p.cells()
	var kept, all int
	tell := func(done, known, total int) {
		if kept, all = done, total; done > known {
			show(done-known, total-known) // cells still to compute
		}
	}
	var res *study.Result
	if o.server != nil {
		o.server.note = func(text string) { note(std, "study", text) }
		res, err = o.server.study(ctx, s, samples, tell)
	} else {
		res, err = study.Run(ctx, s, samples, keeper, tell)
	}
	p.end()
	switch {
	case errors.Is(err, context.Canceled) && o.server != nil:
		return fmt.Errorf("interrupted: the study was cancelled on the server after %d of %d cells, which the server keeps", kept, all)
	case errors.Is(err, context.Canceled) && o.outDir != "":
		return fmt.Errorf("interrupted: %d of %d cells are kept in %s; the same command continues from there", kept, all, o.outDir)
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted: nothing was kept; use --out-dir to keep finished cells")
	case err != nil:
		return err
	}
	if res.Study, err = s.Encode(); err != nil {
		return err
	}
	if o.outDir != "" {
		if err := o.write(ctx, *res); err != nil {
			return err
		}
	}
	return o.format.write(std.Out, *res)
}

// read reads the study and adds the data sets of the command line.
func (o *studyOptions) read(ctx context.Context, std Streams) (*study.Study, error) {
	s, builtin := study.Builtin(o.source)
	if !builtin {
		var err error
		s, err = readFile(ctx, o.source, std, func(r io.Reader, name string) (*study.Study, error) {
			text, err := io.ReadAll(io.LimitReader(r, study.MostBytes+1))
			if err != nil {
				return nil, err
			}
			return study.Parse(string(text), name)
		})
		if err != nil {
			return nil, err
		}
		s.Dir = filepath.Dir(o.source)
	}
	if len(s.Sets)+len(o.data) == 0 {
		return nil, usage("the study %s needs data: --data FILE", o.source)
	}
	for _, path := range o.data {
		if err := s.Add(path); err != nil {
			return nil, usage("--data %s", err)
		}
	}
	return s, nil
}

// prepare creates the output directory and writes the study file there.
func (o *studyOptions) prepare(s *study.Study) error {
	if err := os.MkdirAll(o.outDir, 0o777); err != nil {
		return err
	}
	moved, err := s.Moved(o.outDir)
	if err != nil {
		return err
	}
	text, err := moved.Encode()
	if err != nil {
		return err
	}
	if path := filepath.Join(o.outDir, studyFile); filepath.Clean(o.source) != path { // source is that file
		return writeFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
	}
	return nil
}

// write writes the result in every format, and the pictures.
func (o *studyOptions) write(ctx context.Context, r study.Result) error {
	for _, e := range study.Exports {
		if err := writeFile(filepath.Join(o.outDir, e.File), func(w io.Writer) error { return e.Write(w, &r) }); err != nil {
			return err
		}
	}
	for _, ranks := range figure.StudyRanks(&r, figure.Format{}) {
		picture, err := ranks.Picture()
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(o.outDir, ranks.Name+".svg"), func(w io.Writer) error { return picture.SVG(ctx, w) }); err != nil {
			return err
		}
	}
	return nil
}

// cells holds computed cells, one per line of a file.
type cells struct {
	file  *os.File
	known map[string]eval.CellResult
}

// openCells reads the cells in a file and opens it for appending. It truncates an incomplete last
// line.
func openCells(path string) (*cells, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	c := &cells{known: make(map[string]eval.CellResult)}
	for i, line := range slices.Collect(bytes.Lines(text[:whole])) {
		var one eval.CellResult
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, &dataset.Error{File: path, Line: i + 1, Message: "expected the result of a cell in JSON; remove the line, or remove the file to recompute everything"}
		}
		c.known[one.Cell] = one
	}
	if c.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	if err := c.file.Truncate(int64(whole)); err != nil {
		return nil, errors.Join(err, c.file.Close())
	}
	return c, nil
}

func (c *cells) keep(one eval.CellResult) error {
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, err = c.file.Write(append(line, '\n'))
	return err
}
