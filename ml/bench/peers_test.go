//go:build peers

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

var (
	full    = flag.Bool("full", false, "measure the large cases, too: hours rather than minutes")
	patient = flag.Duration("patience", 20*time.Minute, "how long a program may take for one run")
)

const (
	python  = "/usr/bin/python3" // Debian's, which has the packages
	scripts = "peers"
	samples = "../testdata"
)

func TestPeers(t *testing.T) {
	var all table
	for _, peer := range []struct {
		name    string
		compare func(t *testing.T, all *table)
	}{
		{"LIBSVM", libsvm},
		{"LIBSVM on more features", libsvmDense},
		{"LIBSVM on five classes", libsvmPairs},
		{"LIBSVM on a grid", libsvmGrid},
		{"scikit-learn training", sklearnTraining},
		{"scikit-learn pictures", sklearnPictures},
		{"scikit-learn surfaces", sklearnSurfaces},
		{"kernlab", kernlab},
		{"kernlab on strings", kernlabStrings},
		{"networkx", networkx},
		{"HiGHS", highs},
		{"HiGHS on the full form", highsFull},
		{"HiGHS on unscaled features", highsUnscaled},
	} {
		t.Run(peer.name, func(t *testing.T) { peer.compare(t, &all) })
	}
	t.Logf("%s, %d cores of %s\n%s\nmedians of five runs after a warm-up; one run without where both sides took over 3 s\n\n%s",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), processor(), versions(), &all)
}

// points makes a data set of a kind with the peers' own script and returns its path
// without extension: .csv and .svm.
func points(t *testing.T, kind string, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "points")
	require.Value(output(python, filepath.Join(scripts, "make_points.py"), kind, strconv.Itoa(n), file+".csv"))(t)
	return file
}

// write writes data in both formats, labels ±1, and returns the path as points does.
func write(t *testing.T, d *dataset.Data, positive string) string {
	t.Helper()
	y, _, _, err := d.Binary(positive)
	require.NoError(t, err)
	return writeFiles(t, d.X, y, d.Features, "label")
}

// writeFiles writes points in both formats and returns the path as points does.
func writeFiles[L any](t *testing.T, x *mat.Dense, labels []L, columns []string, label string) string {
	t.Helper()
	var csv, svm strings.Builder
	fmt.Fprintf(&csv, "%s,%s\n", strings.Join(columns, ","), label)
	for i, l := range labels {
		fmt.Fprint(&svm, l)
		for j, v := range x.RawRowView(i) {
			fmt.Fprintf(&csv, "%v,", v)
			fmt.Fprintf(&svm, " %d:%v", j+1, v)
		}
		fmt.Fprintln(&csv, l)
		fmt.Fprintln(&svm)
	}
	file := filepath.Join(t.TempDir(), "points")
	for ending, text := range map[string]string{".csv": csv.String(), ".svm": svm.String()} {
		require.NoError(t, os.WriteFile(file+ending, []byte(text), 0o600))
	}
	return file
}

// read reads a file as fit does.
func read(t *testing.T, path string) *dataset.Data {
	t.Helper()
	f := require.Value(os.Open(path))(t)
	defer f.Close()
	return require.Value(dataset.Read(f, path, dataset.Mapping{}, dataset.Limits{}))(t)
}

// settings is the spec that differs from the default by pairs of name and value.
func settings(t *testing.T, pairs ...string) ml.Spec {
	t.Helper()
	s := ml.DefaultSpec()
	for p := range slices.Chunk(pairs, 2) {
		require.NoError(t, s.Set(p[0], p[1]))
	}
	return s
}

// build makes the program and returns its path.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "marginlab")
	text, err := exec.Command("go", "build", "-o", program, "marginlab").CombinedOutput()
	require.Must(t, err == nil, "%v: %s", err, text)
	return program
}

// need skips the test when the program, or what the arguments ask of it, is not
// there. svm-train has no way to be asked that succeeds, so its exit does not count.
func need(t *testing.T, program string, args ...string) {
	t.Helper()
	_, err := output(program, args...)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || err != nil && program != "svm-train" {
		t.Skipf("not installed: %s (%v)", strings.Join(append([]string{program}, args...), " "), err)
	}
}

// output runs a program and returns what it prints.
func output(program string, args ...string) ([]byte, error) {
	text, _, err := timed(program, args...)
	return text, err
}

// timed runs a program to its end, or for as long as one is patient, and returns
// what it prints, the seconds it took and its peak memory in MB.
func timed(program string, args ...string) ([]byte, run, error) {
	ctx, cancel := context.WithTimeout(context.Background(), *patient)
	defer cancel()
	var r run
	cmd := exec.CommandContext(ctx, program, args...)
	begin := time.Now()
	text, err := cmd.Output()
	r.seconds = time.Since(begin).Seconds()
	if ctx.Err() != nil {
		return nil, r, errSlow(*patient)
	}
	if cmd.ProcessState != nil {
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.megabytes = float64(usage.Maxrss) / 1024 // Linux counts in kB
		}
	}
	return text, r, err
}

// decode runs a program and reads the JSON that it prints into v.
func decode(v any, program string, args ...string) (run, error) {
	text, r, err := timed(program, args...)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, v)
}

// versions names what is compared.
func versions() string {
	var lines []string
	for _, ask := range [][]string{
		{"go", "version"},
		{"dpkg-query", "-W", "-f", "${Package} ${Version}\n", "libsvm-tools", "python3-sklearn", "python3-scipy", "python3-matplotlib", "r-cran-kernlab", "python3-networkx"},
		{python, "-c", "from scipy.optimize._highs import _highs_wrapper as h; import scipy; print('scipy', scipy.__version__, 'with its HiGHS')"},
	} {
		if text, err := output(ask[0], ask[1:]...); err == nil {
			lines = append(lines, strings.TrimSpace(string(text)))
		}
	}
	return strings.Join(lines, "\n")
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range bytes.Lines(text) {
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && bytes.HasPrefix(name, []byte("model name")) {
			return string(bytes.TrimSpace(value))
		}
	}
	return runtime.GOARCH
}
