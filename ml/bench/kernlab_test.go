//go:build peers

package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/multiclass"
	"marginlab/ml/param"
)

// kernlab compares the machines that learn all classes as one problem with kernlab's,
// training alone, in process.
func kernlab(t *testing.T, all *table) {
	need(t, "Rscript", "-e", "library(kernlab)")
	const n, classes = 2000, 5
	x, y, file := wheel(t, 1, n, classes, 2)
	prices := []float64{1, 10}
	if *full {
		prices = append(prices, 100)
	}
	for _, f := range []multiclass.Formulation{multiclass.WestonWatkins, multiclass.CrammerSinger} {
		for _, c := range prices {
			for _, gamma := range []float64{0.5, 5} {
				k := kernel.Kernel{Name: "rbf", Values: param.Values{"gamma": param.Of(gamma)}}
				r := row{group: "kernlab, training only", name: fmt.Sprintf("%d classes, %s C=%g gamma=%g", classes, f, c, gamma), n: n}
				all.compare(t, r, sameDual, func() (run, error) {
					objective := math.NaN()
					took, err := warm(func() error {
						res, err := multiclass.Train(t.Context(), kernel.NewGram(k, x), y, classes, multiclass.Settings{Formulation: f, C: c, Tol: 1e-3})
						if err == nil {
							objective = res.DualObjective
						}
						return err
					})
					took.objective = objective
					return took, err
				}, func() (run, error) {
					var printed struct{ Seconds, Objective float64 }
					_, err := decode(&printed, "Rscript", filepath.Join(scripts, "multiclass_kernlab.R"), file+".csv", string(f), fmt.Sprint(c), fmt.Sprint(gamma))
					return run{printed.Seconds, printed.Objective, math.NaN()}, err
				})
			}
		}
	}
}

// wheel is n points of clouds on a circle, one for each class, which overlap; coordinates
// beyond two are noise. It returns the path of files of them as points does.
func wheel(t *testing.T, seed uint64, n, classes, d int) (x *mat.Dense, y []int, file string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 5))
	x, y = mat.NewDense(n, d, nil), make([]int, n)
	var columns []string
	for j := range d {
		columns = append(columns, fmt.Sprint("x", j+1))
	}
	for i := range n {
		y[i] = i % classes
		row := x.RawRowView(i)
		for j := range row {
			row[j] = r.NormFloat64()
		}
		sin, cos := math.Sincos(2 * math.Pi * float64(y[i]) / float64(classes))
		row[0], row[1] = row[0]+2*cos, row[1]+2*sin
	}
	return x, y, writeFiles(t, x, y, columns, "class")
}
