package cmdline

import (
	"context"
	"errors"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

var generate = Command{"generate", "generate a data set", runGenerate}

func runGenerate(_ context.Context, args []string, std Streams) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		f := NewFlags("generate NAME [flags]", "Generates labelled objects and writes a file that fit reads. The flags depend on the generator: see marginlab generate NAME --help.")
		f.Heading("Generators")
		for _, g := range dataset.Generators {
			f.describe(func(p printer) { p.Term(g.Name, g.Help) })
			f.args = append(f.args, g.Name)
		}
		if err := f.Parse(args); err != nil {
			return err
		}
		return usage("the name of a generator is missing")
	}
	g, err := dataset.FindGenerator(args[0])
	if err != nil {
		return usage("%s", err)
	}
	f := NewFlags("generate "+g.Name+" [flags]", g.Help)
	values := param.Values{}
	for _, p := range g.Params {
		f.Param(p, func(text string) error {
			values = values.With(p.Name, p.Read(text))
			return nil
		})
	}
	f.Heading("Files")
	out := f.String("out", "FILE", "-", "File for the data. (default standard output)")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	d, err := g.Generate(values)
	if problems, ok := errors.AsType[param.Problems](err); ok {
		return usage("%s", problems)
	}
	if err != nil {
		return err
	}
	if *out == "-" {
		return d.Encode(std.Out)
	}
	if err := checkTarget(*out); err != nil {
		return err
	}
	return writeFile(*out, d.Encode)
}
