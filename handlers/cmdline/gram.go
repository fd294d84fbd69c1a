package cmdline

import (
	"bufio"
	"context"
	"io"
	"strconv"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
)

var gram = Command{"gram", "print the kernel matrix of a file of strings", runGram}

// gramOptions is the command line of gram.
type gramOptions struct {
	kernel kernel.Kernel
	file   string
	csv    bool
}

func parseGram(args []string) (*gramOptions, error) {
	f := NewFlags("gram --kernel NAME [flags] FILE",
		"Prints the values of a kernel among the strings of a file, one a line: row i holds k(x_i, x_1) … k(x_i, x_M). A string without any piece that the kernel counts has 0 with all. The name - stands for standard input.")
	file := f.Argument()
	asCSV := f.Switch("csv", "Print M lines of M numbers at full precision, separated by commas, and nothing else.")
	f.Heading("Kernel")
	choice := param.Param{Name: "kernel", Kind: param.Choice, Help: "How two strings are compared."}
	var params []param.Param
	for _, row := range kernel.Table {
		if row.Takes == dataset.KindStrings {
			choice.Options = append(choice.Options, param.Option{Name: row.Name, Help: row.Help})
			params = param.Union(params, row.Params...)
		}
	}
	var name string
	values := param.Values{}
	f.Param(choice, func(text string) error { name = text; return nil })
	given := map[string]string{} // the flag of each parameter that was given
	for _, p := range params {
		values = values.With(p.Name, p.Read(p.Default))
		flags := []string{p.Name}
		if p.Name == "decay" {
			flags = append(flags, "lambda") // as it is called where nothing else is
		}
		for _, flag := range flags {
			q := p
			q.Name = flag
			f.Param(q, func(text string) error {
				values, given[p.Name] = values.With(p.Name, p.Read(text)), q.Flag()
				return nil
			})
		}
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case name == "":
		return nil, usage("--kernel is missing")
	case *file == "":
		return nil, usage("the name of a file is missing")
	}
	row, err := kernel.Lookup(name)
	if err != nil {
		return nil, err
	}
	for _, p := range params {
		if flag, ok := given[p.Name]; ok && !param.Contains(row.Params, p.Name) {
			return nil, usage("--%s has no effect with --kernel=%s", flag, name)
		}
	}
	return &gramOptions{kernel.New(name, values, nil), *file, *asCSV}, nil
}

func runGram(ctx context.Context, args []string, std Streams) error {
	o, err := parseGram(args)
	if err != nil {
		return err
	}
	x, err := readFile(ctx, o.file, std, func(r io.Reader, name string) (*dataset.Strings, error) {
		return dataset.ReadLines(r, name, memoryLimits)
	})
	if err != nil {
		return err
	}
	k, err := kernel.GramOf(ctx, o.kernel, x)
	if err != nil {
		return err
	}
	if o.csv {
		return writeMatrix(ctx, std.Out, k)
	}
	head := []string{""}
	for j := range x.Len() {
		head = append(head, strconv.Itoa(j+1))
	}
	lines := [][]string{append(head, "")}
	row := make([]float64, k.Len())
	for i := range k.Len() {
		k.Row(row, i)
		line := []string{strconv.Itoa(i + 1)}
		for _, v := range row {
			line = append(line, strconv.FormatFloat(v, 'g', 6, 64))
		}
		lines = append(lines, append(line, x.Text(i)))
	}
	b := bufio.NewWriter(std.Out)
	writeTable(b, lines)
	return b.Flush()
}

// writeMatrix writes a line for each row.
func writeMatrix(ctx context.Context, w io.Writer, k kernel.Matrix) error {
	b := bufio.NewWriter(w)
	row := make([]float64, k.Len())
	var line []byte
	for i := range k.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		k.Row(row, i)
		line = line[:0]
		for j, v := range row {
			if j > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}
