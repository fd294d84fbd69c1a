//go:build peers

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/views/figure"
)

var full = flag.Bool("full", false, "measure the large cases, too: hours rather than minutes")

const (
	python  = "/usr/bin/python3" // Debian's, which has the packages
	scripts = "../../../shared/peers"
	patient = 20 * time.Minute // for one run of a peer
)

// run is one run of a program: what it took and the objective it reached.
type run struct {
	seconds, objective float64
}

// row is a line of the table: the medians of both sides.
type row struct {
	group, name  string
	ours, theirs run
	runs         int
	failure      string // of the peer
}

// table collects the rows of all comparisons; it is printed once, at the end.
type table struct{ rows []row }

// compare measures a case: both sides in turn, the median of five after a
// warm-up, or one run where both together take over three seconds.
func (all *table) compare(t *testing.T, group, name string, ours, theirs func() (run, error)) {
	t.Helper()
	r := row{group: group, name: name}
	var left, right []run
	for wanted := 1; len(left) < wanted; {
		begin := time.Now()
		a, err := ours()
		if err != nil {
			t.Errorf("%s %s: %v", group, name, err)
			return
		}
		b, err := theirs()
		if err != nil {
			r.failure = err.Error()
			b = run{math.NaN(), math.NaN()}
		}
		if wanted == 1 && err == nil && time.Since(begin) < 3*time.Second {
			wanted = 5 // this was the warm-up
			continue
		}
		left, right = append(left, a), append(right, b)
	}
	r.ours, r.theirs, r.runs = median(left), median(right), len(left)
	all.rows = append(all.rows, r)
	t.Logf("%s %s: %.4f s against %.4f s %s", group, name, r.ours.seconds, r.theirs.seconds, r.failure)
}

func median(runs []run) run {
	slices.SortFunc(runs, func(a, b run) int { return int(math.Copysign(1, a.seconds-b.seconds)) })
	return runs[len(runs)/2]
}

// String is the table, with the geometric mean of the ratios of each group last.
func (all *table) String() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tours s\ttheirs s\tratio\tour objective\ttheir objective\truns\t")
	var groups []string
	logs, counts, slower := map[string]float64{}, map[string]int{}, map[string]int{}
	for _, r := range all.rows {
		if !slices.Contains(groups, r.group) {
			groups = append(groups, r.group)
		}
		if r.failure != "" {
			fmt.Fprintf(w, "%s %s\t%.4f\t%s\t\t%.9g\t\t%d\t\n", r.group, r.name, r.ours.seconds, r.failure, r.ours.objective, r.runs)
			continue
		}
		ratio := r.ours.seconds / r.theirs.seconds
		fmt.Fprintf(w, "%s %s\t%.4f\t%.4f\t%.4f\t%.9g\t%.9g\t%d\t\n", r.group, r.name,
			r.ours.seconds, r.theirs.seconds, ratio, r.ours.objective, r.theirs.objective, r.runs)
		logs[r.group] += math.Log(ratio)
		counts[r.group]++
		if ratio > 1 {
			slower[r.group]++
		}
	}
	for _, g := range groups {
		fmt.Fprintf(w, "%s, geometric mean of %d, %d slower\t\t\t%.4f\t\t\t\t\n", g, counts[g], slower[g], math.Exp(logs[g]/float64(counts[g])))
	}
	w.Flush()
	return text.String()
}

func TestPeers(t *testing.T) {
	var all table
	t.Run("LIBSVM", func(t *testing.T) { libsvm(t, &all) })
	t.Run("HiGHS", func(t *testing.T) { highs(t, &all) })
	t.Run("scikit-learn", func(t *testing.T) { sklearn(t, &all) })
	t.Logf("medians of five runs after a warm-up; one run without where both sides took over 3 s\n%s", &all)
}

// libsvm compares whole processes, reading included.
func libsvm(t *testing.T, all *table) {
	need(t, "svm-train", "--help")
	need(t, python, "-c", "import sklearn")
	ours := filepath.Join(t.TempDir(), "marginlab")
	if _, err := output("go", "build", "-o", ours, "marginlab"); err != nil {
		t.Fatal(err)
	}
	sizes := []int{1000, 10_000}
	if *full {
		sizes = append(sizes, 50_000, 100_000)
	}
	objective := regexp.MustCompile(`obj = (\S+),`)
	for _, kind := range []string{"blobs", "moons", "chess"} {
		for _, n := range sizes {
			file := points(t, kind, n)
			for _, c := range []string{"1", "100"} {
				for _, gamma := range []string{"1", "10"} {
					all.compare(t, "LIBSVM", fmt.Sprintf("%s n=%d C=%s gamma=%s", kind, n, c, gamma), func() (run, error) {
						var r struct {
							Objective float64 `json:"dual_objective"`
						}
						took, err := decode(&r, ours, "fit", "--data", file+".csv", "--standardize=false", "--C", c, "--gamma", gamma, "--tol", "1e-3", "--json")
						return run{took, r.Objective}, err
					}, func() (run, error) {
						begin := time.Now()
						text, err := output("svm-train", "-m", "1000", "-c", c, "-g", gamma, "-e", "1e-3", file+".svm", file+".model")
						took := time.Since(begin).Seconds()
						if err != nil {
							return run{}, err
						}
						m := objective.FindSubmatch(text)
						if m == nil {
							return run{}, errors.New("svm-train prints no objective")
						}
						obj, err := strconv.ParseFloat(string(m[1]), 64)
						return run{took, -obj}, err
					})
				}
			}
		}
	}
}

// highs compares the fit on data that is already read: the whole training on our
// side, factoring and solving the dual, its better form, on the other.
func highs(t *testing.T, all *table) {
	need(t, python, "-c", "import scipy.optimize, pandas, sklearn")
	sizes := []int{250, 1000}
	if *full {
		sizes = append(sizes, 2000, 5000, 10_000)
	}
	for _, n := range sizes {
		file := points(t, "moons", n)
		data := read(t, file+".csv")
		for _, rho := range []string{"0", "0.001", "0.01", "0.1"} {
			if rho != "0" && n > 2000 || rho == "0" && n == 2000 {
				continue
			}
			for _, gamma := range []string{"0.1", "1"} {
				for _, c := range []string{"0.001", "1", "100"} {
					spec := settings(t, "learner", "mcm", "gamma", gamma, "C", c, "rho", rho, "rank_tol", "1e-3")
					all.compare(t, "HiGHS", fmt.Sprintf("n=%d rho=%s gamma=%s C=%s", n, rho, gamma, c), func() (run, error) {
						begin := time.Now()
						r, err := ml.Train(context.Background(), data, spec, nil)
						if err != nil {
							return run{}, err
						}
						return run{time.Since(begin).Seconds(), r.Report.Objective}, nil
					}, func() (run, error) {
						var r struct {
							Seconds   float64
							Objective *float64
							Message   string
						}
						_, err := decode(&r, python, filepath.Join(scripts, "mcm_highs.py"), file+".csv", "--gamma", gamma, "--C", c, "--rho", rho, "--form", "dual")
						switch {
						case err != nil:
							return run{}, err
						case r.Objective == nil:
							return run{}, errors.New(r.Message)
						}
						return run{r.Seconds, *r.Objective}, nil
					})
				}
			}
		}
	}
}

// sklearn compares fit, decision surface and picture, warm and in process.
func sklearn(t *testing.T, all *table) {
	need(t, python, "-c", "import sklearn, matplotlib")
	total := regexp.MustCompile(`(png|svg) .*'total': ([0-9.]+)`)
	for _, n := range []int{300, 3000} {
		theirs := map[string]run{}
		text, err := output(python, filepath.Join(scripts, "picture_sklearn.py"), strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range total.FindAllSubmatch(text, -1) {
			ms, err := strconv.ParseFloat(string(m[2]), 64)
			if err != nil {
				t.Fatal(err)
			}
			theirs[string(m[1])] = run{ms / 1000, math.NaN()}
		}
		data := read(t, points(t, "moons", n)+".csv")
		spec := settings(t, "C", "10", "gamma", "1", "standardize", "false")
		for _, format := range []string{"png", "svg"} {
			write := (*figure.Picture).PNG
			if format == "svg" {
				write = (*figure.Picture).SVG
			}
			all.compare(t, "scikit-learn", fmt.Sprintf("n=%d %s", n, format), func() (run, error) {
				begin := time.Now()
				err := picture(data, spec, write)
				return run{time.Since(begin).Seconds(), math.NaN()}, err
			}, func() (run, error) { return theirs[format], nil })
		}
	}
}

func picture(d *dataset.Data, spec ml.Spec, write func(*figure.Picture, io.Writer) error) error {
	r, err := ml.Train(context.Background(), d, spec, nil)
	if err != nil {
		return err
	}
	view, ok := r.Model.View()
	if !ok {
		return errors.New("the model has no view")
	}
	points, err := r.Model.Points(d, spec)
	if err != nil {
		return err
	}
	p, err := figure.Boundary(figure.Scene{Model: r.Model, Points: points, View: view, Heat: true, Width: 600, Height: 500, Grid: 200})
	if err != nil {
		return err
	}
	return write(p, io.Discard)
}

// points makes a data set and returns its path without extension.
func points(t *testing.T, kind string, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "points")
	if _, err := output(python, filepath.Join(scripts, "make_points.py"), kind, strconv.Itoa(n), file+".csv"); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t *testing.T, path string) *dataset.Data {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func settings(t *testing.T, pairs ...string) ml.Spec {
	t.Helper()
	s := ml.DefaultSpec()
	for p := range slices.Chunk(pairs, 2) {
		if err := s.Set(p[0], p[1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// need skips the test when the program, or what the arguments ask of it, is not
// there. svm-train has no way to be asked that succeeds, so its exit does not count.
func need(t *testing.T, program string, args ...string) {
	t.Helper()
	if _, err := os.Stat(scripts); err != nil {
		t.Skipf("the scripts of the peers are not in %s", scripts)
	}
	_, err := output(program, args...)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) || err != nil && program == python {
		t.Skipf("not installed: %s (%v)", strings.Join(append([]string{program}, args...), " "), err)
	}
}

// output runs a program and returns what it prints.
func output(program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	text, err := exec.CommandContext(ctx, program, args...).Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("not done after %v", patient)
	}
	return text, err
}

// decode runs a program, reads the JSON it prints into v and returns the seconds
// the process took.
func decode(v any, program string, args ...string) (float64, error) {
	begin := time.Now()
	text, err := output(program, args...)
	took := time.Since(begin).Seconds()
	if err != nil {
		return took, err
	}
	return took, json.Unmarshal(text, v)
}
