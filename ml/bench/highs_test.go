//go:build peers

package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
)

// sameProgram is how far the objectives of two solutions of one linear program
// may differ, relatively. HiGHS lets constraints be off by 1e-7, which moves its
// objective by |lambda|_1 times as much; asked for 1e-10 it gives our digits.
const sameProgram = 1e-6

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
			programs(t, all, "HiGHS", "dual", file, data, rho)
		}
	}
}

// highsFull compares with the form that the handout writes, over all samples, which
// takes minutes or fails.
func highsFull(t *testing.T, all *table) {
	need(t, python, "-c", "import scipy.optimize, pandas, sklearn")
	file := points(t, "moons", 250)
	programs(t, all, "HiGHS, full form", "full", file, read(t, file+".csv"), "0")
}

// highsUnscaled compares on features far larger than the width of the kernel, where the
// kernel matrix is nearly the identity or, with a linear term, has columns that are nearly parallel.
func highsUnscaled(t *testing.T, all *table) {
	need(t, python, "-c", "import scipy.optimize, pandas, sklearn")
	for _, n := range []int{250, 1000} {
		file := points(t, "moons", n)
		data := read(t, file+".csv")
		data.X.Scale(30, data.X)
		for _, kernel := range []string{"linear", "rbf(gamma=1)", "linear + rbf(gamma=1)"} {
			for _, rho := range []string{"0.001", "0.05"} {
				for _, c := range []string{"1", "100"} {
					spec := settings(t, "learner", "mcm", "standardize", "false", "kernel", "combined", "expression", kernel, "C", c, "rho", rho)
					name := strings.ReplaceAll(kernel, "(gamma=1)", "")
					r := row{group: "HiGHS, unscaled", name: fmt.Sprintf("%s rho=%s C=%s", name, rho, c), n: n}
					program(t, all, r, sameProgram, data, spec, file, "--spread", "30", "--kernel", strings.ReplaceAll(name, " ", ""), "--gamma", "1", "--C", c, "--rho", rho)
				}
			}
		}
	}
}

func programs(t *testing.T, all *table, group, form, file string, data *dataset.Data, rho string) {
	n, _ := data.X.Dims()
	for _, gamma := range []string{"0.1", "1"} {
		for _, c := range []string{"0.001", "1", "100"} {
			spec := settings(t, "learner", "mcm", "gamma", gamma, "C", c, "rho", rho, "rank_tol", "1e-3")
			same := sameProgram
			if form == "full" {
				same = math.Inf(1) // the rank cut makes it another program
			}
			r := row{group: group, name: fmt.Sprintf("rho=%s gamma=%s C=%s", rho, gamma, c), n: n}
			program(t, all, r, same, data, spec, file, "--gamma", gamma, "--C", c, "--rho", rho, "--form", form)
		}
	}
}

// program compares one fit with the script called with args.
func program(t *testing.T, all *table, r row, same float64, data *dataset.Data, spec ml.Spec, file string, args ...string) {
	all.compare(t, r, same, func() (run, error) {
		var objective float64
		r, err := warm(func() error {
			r, err := ml.Train(context.Background(), data, spec, nil)
			if err == nil {
				objective = *r.Report.Objective
			}
			return err
		})
		r.objective = objective
		return r, err
	}, func() (run, error) {
		var v struct {
			Seconds   float64
			Objective *float64
			Message   string
		}
		_, err := decode(&v, python, append([]string{filepath.Join(scripts, "mcm_highs.py"), file + ".csv"}, args...)...)
		switch {
		case err != nil:
			return run{}, err
		case v.Objective == nil:
			return run{}, errors.New(v.Message)
		}
		return run{v.Seconds, *v.Objective, math.NaN()}, nil
	})
}
