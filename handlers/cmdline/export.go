package cmdline

import (
	"context"
	"fmt"
	"io"

	"marginlab/ml"
	"marginlab/ml/export"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

var exportModel = Command{"export", "write a saved model for another program", runExport}

func runExport(ctx context.Context, args []string, std Streams) error {
	f := NewFlags("export --model FILE --format python|onnx|libsvm [--data FILE] --out FILE",
		"Converts a model saved by fit to a format that other programs read. The result gives the same classes and decision values without Margin Lab.")
	f.Heading("Files")
	model := f.String("model", "FILE", "", "Model file written by fit --out.")
	formats := lists.Map(export.Formats, func(e export.Format) param.Option { return param.Option{Name: e.Name, Help: e.Help} })
	format := param.Param{Name: "format", Kind: param.Choice, Help: "Output format.", Options: formats}
	var chosen string
	f.Param(format, func(text string) error {
		chosen = text
		return nil
	})
	out := f.String("out", "FILE", "", "File for the model; - writes to standard output.")
	data := f.String("data", "FILE", "", "With --format libsvm: rows to write next to the model, to FILE.data, scaled as the model expects.")
	sheet := f.Sheet()
	if err := f.Parse(args, "model", "out"); err != nil {
		return err
	}
	switch {
	case chosen == "":
		return usage("--format is missing: expected python, onnx or libsvm")
	case *data != "" && chosen != "libsvm":
		return usage("--data needs --format libsvm: the other formats scale the rows themselves")
	case *data != "" && *out == "-":
		return usage("--data needs a file name after --out: the rows are written next to it")
	case *data == "-" && *model == "-":
		return usage("--model and --data cannot both be standard input")
	}
	beside := ""
	if *data != "" {
		beside = *out + ".data"
	}
	if err := keep([]string{*model, *data}, *out, beside); err != nil {
		return err
	}
	m, err := readModel(ctx, *model, std)
	if err != nil {
		return err
	}
	to, err := export.Find(chosen)
	if err != nil {
		return err
	}
	if err := to.Check(m); err != nil {
		return fmt.Errorf("%s: %w", *model, err)
	}
	if beside != "" {
		t, err := readTable(ctx, *data, *sheet, std)
		if err != nil {
			return err
		}
		x, labels, err := m.Rows(t)
		if err != nil {
			return err
		}
		if err := writeFile(beside, func(w io.Writer) error { return export.WriteLIBSVMData(w, m, x, labels) }); err != nil {
			return err
		}
	}
	write := func(w io.Writer) error { return to.Write(w, m) }
	if *out == "-" {
		return write(std.Out)
	}
	if err := writeFile(*out, write); err != nil {
		return err
	}
	if chosen == "libsvm" {
		for _, text := range export.LIBSVMNotes(m, beside != "") {
			note(std, "export", text)
		}
	}
	return nil
}

// readModel reads a model that fit wrote.
func readModel(ctx context.Context, path string, std Streams) (*ml.Model, error) {
	return readFile(ctx, path, std, func(r io.Reader, name string) (*ml.Model, error) {
		m, err := ml.ReadModel(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return m, nil
	})
}
