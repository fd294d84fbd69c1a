package cmdline

import (
	"bufio"
	"context"
	"io"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

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

// writeMatrix writes a line for each row. Some rows at a time are computed by all
// processors.
func writeMatrix(ctx context.Context, w io.Writer, k kernel.Matrix) error {
	lines := make([][]byte, 8*runtime.GOMAXPROCS(0))
	for first := 0; first < k.Len(); first += len(lines) {
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		some := lines[:min(len(lines), k.Len()-first)]
		for a := range some {
			group.Go(func() error {
				row := make([]float64, k.Len())
				k.Row(row, first+a)
				line := some[a][:0]
				for _, v := range row {
					if i := int64(v); float64(i) == v {
						line = strconv.AppendInt(line, i, 10)
					} else {
						line = strconv.AppendFloat(line, v, 'g', -1, 64)
					}
					line = append(line, ',')
				}
				line[len(line)-1] = '\n'
				some[a] = line
				return ctx.Err()
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, line := range some {
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}
