//go:build peers

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/views/figure"
)

// svc times LIBSVM as scikit-learn calls it, without a process to start and a file
// to read: the median of five after a warm-up.
const svc = `
import sys, time, statistics, pandas, sklearn.svm
d = pandas.read_csv(sys.argv[1])
X, y = d.iloc[:, :-1].values.astype(float), d.iloc[:, -1].values
took = []
for _ in range(6):
    t = time.perf_counter()
    sklearn.svm.SVC(C=float(sys.argv[2]), gamma=float(sys.argv[3]), tol=1e-3, cache_size=1000).fit(X, y)
    took.append(time.perf_counter() - t)
print(statistics.median(took[1:]))
`

// sklearnTraining compares training alone, in process, where starting a program
// takes longer than that.
func sklearnTraining(t *testing.T, all *table) {
	need(t, python, "-c", "import sklearn, pandas")
	for _, set := range denseSets {
		d, positive := set.data(t)
		n, cols := d.X.Dims()
		if n > 1000 {
			continue
		}
		file := write(t, d, positive)
		d = read(t, file+".csv")
		gamma := strconv.FormatFloat(1/float64(cols), 'g', -1, 64)
		for _, c := range []string{"1", "100"} {
			spec := settings(t, "C", c, "gamma", gamma, "tol", tol, "standardize", "false")
			r := row{group: "scikit-learn, training only", name: fmt.Sprintf("%s d=%d C=%s", set.name, cols, c), n: n}
			all.compare(t, r, sameDual, func() (run, error) {
				return warm(func() error {
					_, err := ml.Train(context.Background(), d, spec, nil)
					return err
				})
			}, func() (run, error) { return printed("-c", svc, file+".csv", c, gamma) })
		}
	}
}

// warm times work in process as the scripts do: the median of five after a warm-up.
func warm(work func() error) (run, error) {
	var took []run
	for range 6 {
		begin := time.Now()
		if err := work(); err != nil {
			return run{}, err
		}
		took = append(took, run{time.Since(begin).Seconds(), math.NaN(), math.NaN()})
	}
	return median(took[1:]), nil
}

// printed runs a script that prints seconds and nothing else.
func printed(args ...string) (run, error) {
	r := run{math.NaN(), math.NaN(), math.NaN()}
	text, err := output(python, args...)
	if err == nil {
		_, err = fmt.Sscan(string(text), &r.seconds)
	}
	return r, err
}

// sklearnPictures compares fit, decision surface and picture, warm and in process.
func sklearnPictures(t *testing.T, all *table) {
	need(t, python, "-c", "import sklearn, matplotlib")
	total := regexp.MustCompile(`(png|svg) .*'total': ([0-9.]+)`)
	for _, n := range []int{300, 3000} {
		data := read(t, points(t, "moons", n)+".csv")
		spec := settings(t, "C", "10", "gamma", "1", "standardize", "false")
		for _, format := range []string{"png", "svg"} {
			write := (*figure.Picture).PNG
			if format == "svg" {
				write = (*figure.Picture).SVG
			}
			all.compare(t, row{group: "scikit-learn and matplotlib", name: format, n: n}, sameDual, func() (run, error) {
				return warm(func() error { return picture(data, spec, write) })
			}, func() (run, error) {
				text, err := output(python, filepath.Join(scripts, "picture_sklearn.py"), strconv.Itoa(n))
				if err != nil {
					return run{}, err
				}
				for _, m := range total.FindAllSubmatch(text, -1) {
					if string(m[1]) == format {
						ms, err := strconv.ParseFloat(string(m[2]), 64)
						return run{ms / 1000, math.NaN(), math.NaN()}, err
					}
				}
				return run{}, errors.New("the script prints no total")
			})
		}
	}
}

func picture(d *dataset.Data, spec ml.Spec, write func(*figure.Picture, context.Context, io.Writer) error) error {
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
	p, err := figure.Boundary(context.Background(), figure.Scene{Model: r.Model, Points: points, View: view, Heat: true, Grid: 200, Format: figure.Format{Width: 600, Height: 500}})
	if err != nil {
		return err
	}
	return write(p, context.Background(), io.Discard)
}

// surface times decision_function on 400 x 400 cells.
const surface = `
import sys, time, numpy, pandas, sklearn.svm
d = pandas.read_csv(sys.argv[1])
X, y = d.iloc[:, :-1].values.astype(float), d.iloc[:, -1].values
m = sklearn.svm.SVC(C=1, gamma=1, tol=1e-3).fit(X, y)
xx, yy = numpy.meshgrid(numpy.linspace(-3, 3, 400), numpy.linspace(-3, 3, 400))
cells = numpy.c_[xx.ravel(), yy.ravel()]
t = time.perf_counter()
m.decision_function(cells)
print(time.perf_counter() - t)
`

// sklearnSurfaces compares the decision function on 400 x 400 cells for a model of
// about 1000 support vectors.
func sklearnSurfaces(t *testing.T, all *table) {
	need(t, python, "-c", "import sklearn, pandas")
	file := points(t, "blobs", 3000)
	d := read(t, file+".csv")
	r := require.Value(ml.Train(context.Background(), d, settings(t, "C", "1", "gamma", "1", "standardize", "false"), nil))(t)
	view, ok := r.Model.View()
	require.Must(t, ok, "the model has no view")
	axis := lists.Make(400, func(i int) float64 { return -3 + 6*float64(i)/399 })
	name := fmt.Sprintf("400 x 400 cells, %d support vectors", r.Report.SupportVectors)
	all.compare(t, row{group: "scikit-learn, surface", name: name, n: 3000}, sameDual, func() (run, error) {
		return warm(func() error { _, _, err := r.Model.Surface(context.Background(), view, axis, axis); return err })
	}, func() (run, error) { return printed("-c", surface, file+".csv") })
}
