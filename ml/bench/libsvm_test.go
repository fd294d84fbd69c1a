//go:build peers

package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// Both sides stop at the same violation of the KKT conditions, 1e-3.
const tol, sameDual = "1e-3", 1e-4

// libsvm compares whole processes, reading included.
func libsvm(t *testing.T, all *table) {
	need(t, "svm-train", "--help")
	need(t, python, "-c", "import sklearn") // makes the points
	ours := build(t)
	sizes := []int{1000, 10_000}
	if *full {
		sizes = append(sizes, 50_000, 100_000)
	}
	for _, n := range sizes {
		for _, kind := range []string{"blobs", "moons", "chess"} {
			file := points(t, kind, n)
			for _, c := range []string{"1", "100"} {
				for _, gamma := range []string{"1", "10"} {
					r := row{group: "LIBSVM", name: fmt.Sprintf("%s C=%s gamma=%s", kind, c, gamma), n: n}
					all.compare(t, r, sameDual, fit(ours, file, c, gamma), svmTrain(file, c, gamma))
				}
			}
		}
	}
}

// libsvmDense is libsvm with more features: sets that many have used, and normal
// deviates with a curved boundary.
func libsvmDense(t *testing.T, all *table) {
	need(t, "svm-train", "--help")
	ours := build(t)
	for _, set := range denseSets {
		d, positive := set.data(t)
		n, cols := d.X.Dims()
		file := write(t, d, positive)
		for _, c := range []string{"1", "100"} {
			gamma := strconv.FormatFloat(1/float64(cols), 'g', -1, 64)
			r := row{group: "LIBSVM, more features", name: fmt.Sprintf("%s d=%d C=%s", set.name, cols, c), n: n}
			all.compare(t, r, sameDual, fit(ours, file, c, gamma), svmTrain(file, c, gamma))
		}
	}
}

var denseSets = []struct {
	name string
	data func(t *testing.T) (d *dataset.Data, positive string)
}{
	{"iris", sample("iris", "virginica")},
	{"heart", sample("heart", "")},
	{"sonar", sample("sonar", "")},
	{"pima", sample("pima", "")},
	{"normal", func(*testing.T) (*dataset.Data, string) { return normal(10_000, 50), "" }},
}

func sample(name, positive string) func(*testing.T) (*dataset.Data, string) {
	return func(t *testing.T) (*dataset.Data, string) {
		return read(t, filepath.Join(samples, name+".csv")), positive
	}
}

// normal is n points of d normal deviates, of which the label depends on two in a
// curved way and on all of them a little.
func normal(n, d int) *dataset.Data {
	r := rand.New(rand.NewPCG(7, 50))
	w := lists.Make(d, func(int) float64 { return r.NormFloat64() / math.Sqrt(float64(d)) })
	data := &dataset.Data{Label: "label", X: mat.NewDense(n, d, nil), Classes: []string{"-1", "1"}, Y: make([]int, n)}
	for j := range d {
		data.Features = append(data.Features, fmt.Sprintf("x%d", j+1))
	}
	for i := range n {
		x := data.X.RawRowView(i)
		s := 0.3 * r.NormFloat64()
		for j := range x {
			x[j] = math.Round(1e6*r.NormFloat64()) / 1e6
			s += w[j] * x[j]
		}
		if s+0.5*math.Sin(2*x[0])*x[1] > 0 {
			data.Y[i] = 1
		}
	}
	return data
}

// libsvmPairs is libsvm with five classes, one-vs-one on both sides: 10 machines.
func libsvmPairs(t *testing.T, all *table) {
	need(t, "svm-train", "--help")
	ours := build(t)
	const n, classes = 10_000, 5
	for _, d := range []int{2, 10} {
		_, _, file := wheel(t, 1, n, classes, d)
		for _, c := range []string{"1", "10", "100"} {
			for _, gamma := range []float64{1 / float64(d), 10 / float64(d)} {
				g := strconv.FormatFloat(gamma, 'g', -1, 64)
				r := row{group: "LIBSVM, five classes one-vs-one", name: fmt.Sprintf("d=%d C=%s gamma=%s", d, c, g), n: n}
				all.compare(t, r, sameDual, fit(ours, file, c, g), svmTrain(file, c, g))
			}
		}
	}
}

// Away from ties the votes of one-vs-one are LIBSVM's. Where they are tied, LIBSVM
// takes the first class of its file, and the sum of margins decides here.
func TestVotesAreThoseOfLIBSVM(t *testing.T) {
	need(t, "svm-train", "--help")
	const n, classes, exact = 1000, 5, "1e-6"
	_, _, train := wheel(t, 1, n, classes, 2)
	fresh, _, test := wheel(t, 2, n, classes, 2)
	ties := 0
	for _, c := range []string{"0.1", "100"} {
		for _, gamma := range []string{"0.01", "0.5", "5"} {
			require.Value(output("svm-train", "-q", "-c", c, "-g", gamma, "-e", exact, train+".svm", train+".model"))(t)
			require.Value(output("svm-predict", test+".svm", train+".model", test+".out"))(t)
			text := require.Value(os.ReadFile(test + ".out"))(t)
			theirs := strings.Fields(string(text))
			res := require.Value(ml.Train(t.Context(), read(t, train+".csv"), settings(t, "C", c, "gamma", gamma, "tol", exact, "standardize", "false"), nil))(t)
			scores := res.Model.Scores(fresh)
			for i := range n {
				f := scores.RawRowView(i)
				if slices.ContainsFunc(f, func(v float64) bool { return math.Abs(v) < 1e-4 }) {
					continue // either may round it to the other side
				}
				votes, _ := ml.Votes(classes, f)
				most := slices.Max(votes)
				first := slices.Index(votes, most)
				require.Equal(t, theirs[i], res.Model.Classes[first],
					"C=%s gamma=%s, point %d: the vote of LIBSVM, with our votes %v", c, gamma, i+1, votes)
				if slices.Contains(votes[first+1:], most) {
					ties++
				} else if got := res.Model.LabelOf(f...); got != theirs[i] {
					t.Errorf("C=%s gamma=%s, point %d: %s, LIBSVM says %s", c, gamma, i+1, got, theirs[i])
				}
			}
		}
	}
	require.Check(t, ties != 0, "no votes were tied: the test does not see what it should")
	t.Logf("%d of %d votes were tied", ties, 6*n)
}

// fit is marginlab fit on raw coordinates.
func fit(program, file, c, gamma string) func() (run, error) {
	return func() (run, error) {
		var v struct {
			Objective float64 `json:"dual_objective"`
			Machines  []struct{ Objective float64 }
		}
		r, err := decode(&v, program, "fit", "--data", file+".csv", "--standardize=false", "--C", c, "--gamma", gamma, "--tol", tol, "--json")
		r.objective = v.Objective
		for _, m := range v.Machines {
			r.objective += m.Objective
		}
		return r, err
	}
}

var objectiveOf = regexp.MustCompile(`obj = (\S+),`)

// svmTrain is svm-train with a cache that holds what it can.
func svmTrain(file, c, gamma string) func() (run, error) {
	return func() (run, error) {
		text, r, err := timed("svm-train", "-m", "1000", "-c", c, "-g", gamma, "-e", tol, file+".svm", file+".model")
		if err != nil {
			return r, err
		}
		all := objectiveOf.FindAllSubmatch(text, -1) // one for each machine
		if all == nil {
			return r, errors.New("svm-train prints no objective")
		}
		for _, m := range all {
			v, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return r, err
			}
			r.objective -= v
		}
		return r, nil
	}
}

// libsvmGrid compares five-fold cross-validation over 7 x 7 pairs of C and gamma:
// one call on our side, one of svm-train for every cell on the other.
func libsvmGrid(t *testing.T, all *table) {
	need(t, "svm-train", "--help")
	need(t, python, "-c", "import sklearn")
	ours := build(t)
	values := strings.Split("0.01,0.1,1,10,100,1000,10000", ",")
	for _, kind := range []string{"blobs", "moons", "chess"} {
		file := points(t, kind, 1000)
		all.compare(t, row{group: "LIBSVM, grid of 49 cells, 5 folds", name: kind, n: 1000}, sameDual, func() (run, error) {
			list := strings.Join(values, ",")
			_, r, err := timed(ours, "cv", "--data", file+".csv", "--standardize=false", "--C", list, "--gamma", list, "--folds", "5", "--tol", tol, "--json")
			r.objective = math.NaN()
			return r, err
		}, func() (run, error) {
			sum := run{objective: math.NaN()}
			for _, gamma := range values {
				for _, c := range values {
					_, r, err := timed("svm-train", "-v", "5", "-m", "1000", "-c", c, "-g", gamma, "-e", tol, file+".svm")
					if err != nil {
						return sum, err
					}
					sum.seconds += r.seconds
					sum.megabytes = max(sum.megabytes, r.megabytes)
				}
			}
			return sum, nil
		})
	}
}
