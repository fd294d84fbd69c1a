package cmdline_test

import (
	"encoding/csv"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/kernel"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// TestGramOfPoints prints the matrices of kernels of points, and finds the points in files
// of several forms.
func TestGramOfPoints(t *testing.T) {
	t.Parallel()
	x := mat.NewDense(5, 2, []float64{0, 1, 1, 2, 3, 4, 0.5, 0.5, 2, 2})
	const named = "x,y,z\n0,1,9\n1,2,9\n3,4,9\n0.5,0.5,9\n2,2,9\n"
	plain := require.File(t, "plain.csv", strings.ReplaceAll(strings.ReplaceAll(named, "x,y,z\n", ""), ",9", ""))
	wide := require.File(t, "named.csv", named)
	sparse := require.File(t, "points.libsvm", "1 2:1\n1 1:1 2:2\n2 1:3 2:4\n2 1:0.5 2:0.5\n1 1:2 2:2\n")
	for _, c := range []struct {
		args   string
		kernel string
		values param.Values
	}{
		{"--kernel linear " + plain, "linear", nil},
		{"--kernel rbf " + sparse, "rbf", nil}, // auto
		{"--kernel poly --gamma 2 --coef0 1 --degree 2 --features x,y " + wide, "poly", param.Values{"gamma": param.Of(2.0), "coef0": param.Of(1.0), "degree": param.Of(2)}},
		{"--kernel fisher --components 2 --starts 3 --information=false --variance-floor 0.01 --start-seed 7 " + plain, "fisher", param.Values{
			"components": param.Of(2), "starts": param.Of(3), "information": param.Of(false), "variance_floor": param.Of(0.01), "start_seed": param.Of(7),
		}},
		{"--kernel combined --expression 0.5*linear+rbf(gamma=scale)*fisher(components=1) " + plain, "combined", param.Values{"expression": param.Of("0.5*linear+rbf(gamma=scale)*fisher(components=1)")}},
	} {
		k := require.Value(kernel.New(c.kernel, c.values, x).Fit(t.Context(), x, nil))(t)
		g, row := kernel.NewGram(k, x), make([]float64, 5)
		lines, err := csv.NewReader(strings.NewReader(must(t, append([]string{"gram", "--csv"}, strings.Fields(c.args)...)...))).ReadAll()
		require.Must(t, err == nil && len(lines) == 5, "%s: %d lines, %v", c.args, len(lines), err)
		for i, line := range lines {
			g.Row(row, i)
			for j, cell := range line {
				v, err := strconv.ParseFloat(cell, 64)
				require.Check(t, err == nil && v == row[j], "%s: K[%d,%d] = %s, want %v", c.args, i, j, cell, row[j])
			}
		}
	}
	got := strings.Split(must(t, "gram", "--kernel", "linear", plain), "\n")
	require.Check(t, len(got) >= 5 && got[4] == "4  0.5  1.5  3.5  0.5  2   0.5 0.5", "%q", got)
}

// TestGramOfNoNumbers tells where a value is larger than a number can be.
func TestGramOfNoNumbers(t *testing.T) {
	t.Parallel()
	points := require.File(t, "points.csv", "1,2\n3,4\n")
	for _, form := range []string{"--csv=true", "--csv=false"} {
		want := "the kernel of rows 1 and 1 is +Inf; scale the inputs"
		fails(t, 1, want, "gram", "--kernel", "combined", "--expression", "1e308*rbf*10", form, points)
	}
}
