package cmdline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/study"
	"marginlab/ml/trace"
)

var gram = Command{"gram", "print the kernel matrix of a file of points, strings or graphs", runGram}

// gramReaders holds the readers of objects for gram; points are read with chosen columns.
var gramReaders = map[dataset.Kind]func(r io.Reader, file string) (dataset.Objects, error){
	dataset.KindStrings: func(r io.Reader, file string) (dataset.Objects, error) {
		return dataset.ReadLines(r, file, memoryLimits)
	},
	dataset.KindGraphs: func(r io.Reader, file string) (dataset.Objects, error) {
		return dataset.ReadGraphs(r, file, memoryLimits)
	},
}

// gramOptions is the command line of gram.
type gramOptions struct {
	kernel   kernel.Kernel // with words such as auto, until the data are read
	takes    dataset.Kind
	features []string // for points; nil: all columns
	file     string
	csv      bool
	labels   bool
}

func parseGram(args []string) (*gramOptions, error) {
	f := NewFlags("gram --kernel NAME [flags] FILE",
		"Prints the kernel matrix of the objects in a file: row i holds k(x_i, x_1) … k(x_i, x_M). Points are rows of numbers without labels and are not standardised. Strings are given one per line, in FASTA, or in a zip archive or folder of texts; normalised strings without anything the kernel counts have 0 with all others. Graphs are JSON lines such as {\"n\":3,\"edges\":[[0,1],[1,2]],\"labels\":[\"C\",\"C\",\"O\"]}, with \"edge_labels\" and \"directed\" if needed, GraphML, or the folder or zip archive of a TU Dortmund set. - reads standard input.")
	file := f.Argument()
	labels := f.Switch("labels", "Print CSV with the label of each object in the last column, for fit --kernel precomputed. The file must have labels, as for fit.")
	asCSV := f.Switch("csv", "Print M lines of M numbers at full precision, separated by commas, and nothing else.")
	var spec ml.Spec
	f.Param(param.Param{Name: "features", Kind: param.Text, Help: "For points: columns to compare, separated by commas. (default all)"}, func(text string) error { return spec.Set("features", text) })
	f.Heading("Kernel")
	choice := param.Param{Name: "kernel", Kind: param.Choice, Help: "Kernel that compares two objects."}
	var params []param.Param
	for _, row := range kernel.Table {
		if _, ok := gramReaders[row.Takes]; ok || row.Takes == dataset.KindVectors || row.Takes == "" {
			choice.Options = append(choice.Options, param.Option{Name: row.Name, Help: row.Help})
			params = param.Union(params, row.Params...)
		}
	}
	var name string
	values := param.Values{}
	f.Param(choice, func(text string) error { name = text; return nil })
	given := map[string]string{} // values of the flags on the command line
	for _, p := range params {
		values = values.With(p.Name, p.Read(p.Default))
		f.Param(p, func(text string) error { given[p.Name] = text; return nil })
	}
	f.otherNames()
	f.Func("lambda", "NUMBER", "Same as --decay for gap-subsequence and --walk-weight for random-walk.", func(string) error {
		return errors.New("needs --kernel=gap-subsequence or --kernel=random-walk")
	})
	if err := f.Parse(respelled(args)); err != nil {
		return nil, err
	}
	switch {
	case name == "":
		return nil, usage("--kernel is missing")
	case *file == "":
		return nil, usage("FILE is missing")
	}
	row, err := kernel.Lookup(name)
	if err != nil {
		return nil, err
	}
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		if !param.Contains(row.Params, flag) {
			return nil, usage("--%s has no effect with --kernel=%s", param.Param{Name: flag}.Flag(), name)
		}
	}
	for _, p := range row.Params {
		if text, ok := given[p.Name]; ok {
			values = values.With(p.Name, p.Read(text))
		}
	}
	o := &gramOptions{kernel.Kernel{Name: name, Values: values}, "", spec.Features, *file, *asCSV, *labels}
	if o.takes, err = o.kernel.Takes(); err != nil {
		return nil, err
	}
	if _, ok := gramReaders[o.takes]; !ok && o.takes != dataset.KindVectors {
		return nil, usage("--kernel=%s compares %s, which gram does not read", name, o.takes.Words())
	}
	if len(o.features) > 0 && o.takes != dataset.KindVectors {
		return nil, usage("--features has no effect with --kernel=%s", name)
	}
	return o, nil
}

// read reads the file: objects that have labels, or come from a folder, as fit does.
func (o *gramOptions) read(ctx context.Context, std Streams) (*dataset.Data, error) {
	info, err := os.Stat(o.file)
	if o.labels || o.takes != dataset.KindVectors && err == nil && info.IsDir() {
		spec := ml.DefaultSpec()
		spec.Kernel, spec.Features = o.kernel.Name, o.features
		return readData(ctx, "gram", o.file, &spec, &reading{proposed: true, sheet: new(string)}, std)
	}
	if o.takes == dataset.KindVectors {
		x, err := o.points(ctx, std)
		return &dataset.Data{X: x}, err
	}
	objects, err := readFile(ctx, o.file, std, gramReaders[o.takes])
	return &dataset.Data{Objects: objects}, err
}

// points reads the chosen columns of a file of points.
func (o *gramOptions) points(ctx context.Context, std Streams) (*mat.Dense, error) {
	t, err := readTable(ctx, o.file, "", std)
	if err != nil {
		return nil, err
	}
	features := o.features
	if features == nil {
		label := ""
		if t.Format == "libsvm" { // the format always has labels
			m, _ := t.Guess()
			label = m.Label
		}
		for _, c := range t.Columns {
			if c.Name != label {
				features = append(features, c.Name)
			}
		}
	}
	return t.Matrix(features)
}

// matrix returns the kernel matrix of data. Values such as gamma auto are determined from all rows.
func (o *gramOptions) matrix(ctx context.Context, std Streams, d *dataset.Data) (kernel.Matrix, error) {
	p := progressOn(std)
	defer p.end()
	if d.Objects != nil {
		return kernel.GramOf(ctx, kernel.New(o.kernel.Name, o.kernel.Values, nil), d.Objects, p.tell)
	}
	f, err := kernel.New(o.kernel.Name, o.kernel.Values, d.X).Fit(ctx, d.X, p.tell)
	if err != nil {
		return nil, err
	}
	return kernel.NewGram(f, d.X), nil
}

func runGram(ctx context.Context, args []string, std Streams) error {
	o, err := parseGram(args)
	if err != nil {
		return err
	}
	d, err := o.read(ctx, std)
	if err != nil {
		return err
	}
	k, err := o.matrix(ctx, std, d)
	if err != nil {
		return err
	}
	if o.labels {
		return writeMatrix(ctx, std, k, func(line []byte, i int) []byte {
			return strconv.AppendQuote(append(line, ','), strings.ReplaceAll(d.Classes[d.Y[i]], `"`, "'"))
		})
	}
	if o.csv {
		return writeMatrix(ctx, std, k, nil)
	}
	text := func(i int) string { return strings.Trim(fmt.Sprintf("%.4g", d.X.RawRowView(i)), "[]") }
	if d.Objects != nil {
		text = d.Objects.Text
	}
	head := lists.Make(k.Len(), func(j int) string { return strconv.Itoa(j + 1) })
	lines := [][]string{slices.Concat([]string{""}, head, []string{""})}
	row := make([]float64, k.Len())
	for i := range k.Len() {
		if err := finiteRow(k, row, i); err != nil {
			return err
		}
		line := lists.Map(row, func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) })
		lines = append(lines, slices.Concat([]string{strconv.Itoa(i + 1)}, line, []string{text(i)}))
	}
	b := bufio.NewWriter(std.Out)
	study.WriteColumns(b, lines)
	return b.Flush()
}

// finiteRow writes row i of k into dst. It returns an error for a value that is not finite, on
// which no program could train.
func finiteRow(k kernel.Matrix, dst []float64, i int) error {
	k.Row(dst, i)
	if j := slices.IndexFunc(dst, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); j >= 0 {
		return param.Refuse("scale the inputs or lower the kernel's parameters", "the kernel of rows %d and %d is %v", i+1, j+1, dst[j])
	}
	return nil
}

// writeMatrix writes a line per row, followed by the output of more. Rows are computed in blocks
// on all processors.
func writeMatrix(ctx context.Context, std Streams, k kernel.Matrix, more func(line []byte, i int) []byte) error {
	p := progressOn(std)
	if isTerminal(std.Out) { // the rows show the progress
		p.w = nil
	}
	defer p.end()
	lines := make([][]byte, 8*runtime.GOMAXPROCS(0))
	faults := make([]error, len(lines))
	for first := 0; first < k.Len(); first += len(lines) {
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		some := lines[:min(len(lines), k.Len()-first)]
		for a := range some {
			group.Go(func() error {
				row := make([]float64, k.Len())
				if faults[a] = finiteRow(k, row, first+a); faults[a] != nil {
					return nil // reported for the first row
				}
				line := some[a][:0]
				for _, v := range row {
					if i := int64(v); float64(i) == v {
						line = strconv.AppendInt(line, i, 10)
					} else {
						line = strconv.AppendFloat(line, v, 'g', -1, 64)
					}
					line = append(line, ',')
				}
				line = line[:len(line)-1]
				if more != nil {
					line = more(line, first+a)
				}
				some[a] = append(line, '\n')
				return ctx.Err()
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for a, line := range some {
			if faults[a] != nil {
				return faults[a]
			}
			if _, err := std.Out.Write(line); err != nil {
				return err
			}
		}
		p.tell(trace.Step{Phase: "writing", Done: first + len(some), Rows: k.Len()})
	}
	return nil
}
