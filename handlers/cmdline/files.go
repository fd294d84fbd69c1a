package cmdline

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// readFile calls decode with a file, or standard input for "-", and its name for messages. It shows
// how much has been read, and can be interrupted even while waiting for a pipe or a terminal.
func readFile[T any](ctx context.Context, path string, std Streams, decode func(r io.Reader, name string) (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	in := source{Reader: std.In}
	go func() {
		name := "standard input"
		if path != "-" {
			f, err := os.Open(path)
			if err != nil {
				done <- outcome{err: err} // the error names the file
				return
			}
			defer f.Close()
			in.Reader, name = f, path
		}
		if info, err := in.Stat(); err == nil {
			in.size.Store(info.Size())
		}
		v, err := decode(&in, name)
		done <- outcome{v, err}
	}()
	p, often := progressOn(std), time.NewTicker(time.Second/10)
	defer p.end()
	defer often.Stop()
	for {
		select {
		case o := <-done:
			return o.v, o.err
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		case <-often.C:
			if n := int(in.read.Load()); n > 0 {
				p.show(n, int(in.size.Load()), 0, fmt.Sprintf("%d MB read", n/1e6))
			}
		}
	}
}

// source counts the bytes read of a file.
type source struct {
	io.Reader
	read atomic.Int64
	size atomic.Int64 // 0: unknown
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read.Add(int64(n))
	return n, err
}

// Stat describes the file.
func (s *source) Stat() (fs.FileInfo, error) {
	if f, ok := s.Reader.(*os.File); ok {
		return f.Stat()
	}
	return nil, errors.ErrUnsupported
}

// memoryLimits holds the limits for files on the terminal: on a user's own machine only memory
// counts, eight bytes per value.
var memoryLimits = dataset.Limits{Bytes: 2 << 30, Rows: math.MaxInt32, Columns: 1 << 20}

// parseTable reads a file or a directory of texts; sheet selects the sheet of a workbook.
func parseTable(r io.Reader, name, sheet string) (*dataset.Table, error) {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return dataset.ParseFolder(os.DirFS(name), name, memoryLimits)
		}
	}
	return dataset.ParseSheet(r, name, sheet, memoryLimits)
}

// readTable reads a file for a model; sheet selects the sheet of a workbook, by default the first.
func readTable(ctx context.Context, path, sheet string, std Streams) (*dataset.Table, error) {
	return readFile(ctx, path, std, func(r io.Reader, name string) (*dataset.Table, error) { return parseTable(r, name, sheet) })
}

// readData reads labelled points with the columns chosen by spec, and clears that choice in spec,
// since the data then hold only those columns. It prints notes about how the file was read.
func readData(ctx context.Context, command, path string, spec *ml.Spec, how *reading, std Streams) (d *dataset.Data, err error) {
	for _, n := range how.notes {
		note(std, command, n)
	}
	defer func() {
		if err == nil && how.multiclass && len(d.Classes) == 2 {
			note(std, command, "--multiclass has no effect with two classes")
		}
	}()
	m := dataset.Mapping{Label: spec.Label, Features: spec.Features, Proposed: how.proposed, Missing: how.missing}
	if kind := spec.Takes(); kind != dataset.KindVectors {
		m.Kind = kind
	}
	spec.Label, spec.Features = "", nil
	if _, err := os.Stat(path); err != nil {
		if b, ok := dataset.FindBuiltin(path); ok {
			return loadBuiltin(b, m)
		}
		names := lists.Map(dataset.Builtins, func(b dataset.Builtin) string { return b.Slug })
		if meant := param.DidYouMean(path, "", names); meant != "" {
			return nil, fmt.Errorf("%s: no such file or built-in data set%s", path, meant)
		}
	}
	var t *dataset.Table
	var p *dataset.Proposal
	d, err = readFile(ctx, path, std, func(r io.Reader, name string) (d *dataset.Data, err error) {
		if t, err = parseTable(r, name, *how.sheet); err != nil {
			return nil, err
		}
		if !m.Proposed {
			return t.Data(m)
		}
		p = t.Propose(m)
		return t.Data(p.Complete(m))
	})
	if err != nil {
		return nil, err
	}
	if p != nil && m.Features == nil {
		if m.Label == "" && p.Regression() && !spec.Regression() {
			return nil, fmt.Errorf("%s: the proposed label %s holds %s; use --target value --learner ridge, or choose a column of classes with --label", t.File, p.Label, p.What())
		}
		for _, text := range p.Remarks(spec.Regression()) {
			note(std, command, t.File+": "+text)
		}
	}
	for _, n := range d.Notes {
		note(std, command, t.File+": "+n)
	}
	return d, nil
}

// points parses the command line of a command that draws pictures, and reads its labelled points.
func (f *Flags) points(ctx context.Context, command string, args []string, data *string, spec *ml.Spec, how *reading, std Streams, plots ...*string) (*dataset.Data, error) {
	if err := f.Parse(respelled(args), "data"); err != nil {
		return nil, err
	}
	var files []string
	for _, plot := range plots {
		if *plot != "" && slices.Contains(files, *plot) {
			return nil, usage("--plot and --plot-shares name the same file")
		}
		files = append(files, *plot)
	}
	if err := keep([]string{*data}, files...); err != nil {
		return nil, err
	}
	var err error
	if how.notes, err = f.idle(*spec); err != nil {
		return nil, err
	}
	return readData(ctx, command, *data, spec, how, std)
}

// loadBuiltin returns a built-in data set with the named features.
func loadBuiltin(b dataset.Builtin, m dataset.Mapping) (*dataset.Data, error) {
	d, err := b.Load()
	if err != nil {
		return nil, err
	}
	if m.Label != "" && m.Label != d.Label {
		return nil, fmt.Errorf("%s: no label %q: the label of this data set is %s", b.Slug, m.Label, d.Label)
	}
	if m.Features == nil {
		return d, nil
	}
	return d.Columns(m.Features)
}

// keep returns an error if an output file is also an input file or cannot be written.
func keep(read []string, write ...string) error {
	for _, w := range write {
		if w == "" || w == "-" {
			continue
		}
		for _, r := range read {
			if r != "" && sameFile(w, r) {
				return usage("%s is an input file and cannot be overwritten", w)
			}
		}
		if err := checkTarget(w); err != nil {
			return err
		}
	}
	return nil
}

// sameFile reports whether two paths name the same file, also through links or from other folders.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && one.Mode().IsRegular() && os.SameFile(one, other)
}

// checkTarget reports before the work starts that a file cannot be written.
func checkTarget(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s cannot be written: it is a folder", path)
	}
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", path, err)
	case !info.IsDir():
		return fmt.Errorf("%s cannot be written: %s is not a folder", path, dir)
	}
	return nil
}

// writeFile writes a file atomically, by renaming a temporary file. It writes files that are not
// regular, such as /dev/stdout, directly.
func writeFile(path string, write func(w io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s was not written: %w", path, err)
		}
	}()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // preserve a symbolic link
	}
	temp := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		temp, flags = path, os.O_WRONLY
	}
	f, err := os.OpenFile(temp, flags, 0o666)
	if err != nil {
		return err
	}
	if temp != path {
		defer os.Remove(temp) // no effect after the rename
	}
	b := bufio.NewWriter(f)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil && temp != path {
		err = f.Sync()
	}
	err = cmp.Or(err, f.Close())
	if err == nil && temp != path {
		err = os.Rename(temp, path)
	}
	return err
}
