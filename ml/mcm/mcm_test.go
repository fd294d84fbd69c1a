package mcm_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"marginlab/ml/mcm"
	"marginlab/ml/mltest/require"
	"marginlab/ml/trace"
)

// full is a kernel matrix in memory.
type full [][]float64

func (k full) Len() int                 { return len(k) }
func (k full) Diag(i int) float64       { return k[i][i] }
func (k full) Row(dst []float64, i int) { copy(dst, k[i]) }

// gram returns the kernel matrix of the rows of x.
func gram(x [][]float64, kernel func(x, z []float64) float64) full {
	k := make(full, len(x))
	for i := range k {
		k[i] = make([]float64, len(x))
		for j := range i + 1 {
			k[i][j] = kernel(x[i], x[j])
			k[j][i] = k[i][j]
		}
	}
	return k
}

func dot(x, z []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * z[i]
	}
	return s
}

func linear(x, z []float64) float64 { return dot(x, z) }

func poly(gamma, coef0 float64, degree int) func(x, z []float64) float64 {
	return func(x, z []float64) float64 {
		v := 1.0
		for range degree {
			v *= gamma*dot(x, z) + coef0
		}
		return v
	}
}

func sigmoid(gamma, coef0 float64) func(x, z []float64) float64 {
	return func(x, z []float64) float64 { return math.Tanh(gamma*dot(x, z) + coef0) }
}

func rbf(gamma float64) func(x, z []float64) float64 {
	return func(x, z []float64) float64 {
		s := 0.0
		for i := range x {
			s += (x[i] - z[i]) * (x[i] - z[i])
		}
		return math.Exp(-gamma * s)
	}
}

// shared returns the path of a reference file: beside the checkout if present, else the copy.
func shared(t testing.TB, dir, name string) string {
	t.Helper()
	p := filepath.Join("..", "..", "..", "shared", dir, name)
	if _, err := os.Stat(p); err == nil {
		return p
	}
	return filepath.Join("..", "testdata", name)
}

// readData reads a data set, standardised by the population deviation.
func readData(t testing.TB, name, positive string) (x [][]float64, y []float64) {
	t.Helper()
	f := require.Value(os.Open(shared(t, "data", name)))(t)
	defer f.Close()
	recs, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	for _, rec := range recs[1:] {
		d := len(rec) - 1
		row := make([]float64, d)
		for j := range row {
			row[j], err = strconv.ParseFloat(rec[j], 64)
			require.NoError(t, err)
		}
		x = append(x, row)
		if rec[d] == positive {
			y = append(y, 1)
		} else {
			y = append(y, -1)
		}
	}
	standardise(x)
	return x, y
}

func standardise(x [][]float64) {
	m := float64(len(x))
	for j := range x[0] {
		mean, v := 0.0, 0.0
		for i := range x {
			mean += x[i][j] / m
		}
		for i := range x {
			v += (x[i][j] - mean) * (x[i][j] - mean) / m
		}
		sd := math.Sqrt(v)
		if sd == 0 {
			sd = 1
		}
		for i := range x {
			x[i][j] = (x[i][j] - mean) / sd
		}
	}
}

// rel returns the difference of a and b relative to max(1, |b|).
func rel(a, b float64) float64 { return math.Abs(a-b) / max(1, math.Abs(b)) }

func TestReference(t *testing.T) {
	t.Parallel()
	raw := require.Value(os.ReadFile(shared(t, "reference", "solutions.json")))(t)
	var rows []struct {
		Data, Learner string
		Kernel        struct {
			Type         string
			Gamma, Coef0 float64
			Degree       int
		}
		C, Rho   float64
		RankTol  float64 `json:"rank_tol"`
		Positive string
		N        int
		Expect   struct {
			Objective, H, L1 float64
			SlackSum         float64 `json:"slack_sum"`
			Rank             int
			Accuracy         float64 `json:"train_accuracy"`
		}
	}
	require.NoError(t, json.Unmarshal(raw, &rows))
	seen := 0
	for _, c := range rows {
		if c.Learner != "mcm" {
			continue
		}
		seen++
		t.Run(fmt.Sprintf("%s/%s/gamma=%g/C=%g/rho=%g", c.Data, c.Kernel.Type, c.Kernel.Gamma, c.C, c.Rho), func(t *testing.T) {
			t.Parallel()
			x, y := readData(t, c.Data, c.Positive)
			kernel := linear
			switch c.Kernel.Type {
			case "poly":
				kernel = poly(c.Kernel.Gamma, c.Kernel.Coef0, c.Kernel.Degree)
			case "rbf":
				kernel = rbf(c.Kernel.Gamma)
			}
			r := require.Value(mcm.Train(context.Background(), gram(x, kernel), y, mcm.Settings{C: c.C, Rho: c.Rho, RankTol: c.RankTol}))(t)
			require.Check(t, r.Status == trace.Converged, "status %s, gap %g", r.Status, r.Gap)
			problem{"", gram(x, kernel), y, mcm.Settings{C: c.C, Rho: c.Rho, RankTol: c.RankTol}}.check(t, r)
			near := func(what string, got, want, tol float64) {
				t.Helper()
				require.Check(t, rel(got, want) <= tol, "%s %.10g, want %.10g", what, got, want)
			}
			near("objective", r.Objective, c.Expect.Objective, 1e-6)
			near("h", r.H, c.Expect.H, 1e-4)
			near("sum of slacks", r.SlackSum, c.Expect.SlackSum, 1e-4)
			if c.Rho > 0 {
				near("sum |lambda|", r.L1, c.Expect.L1, 1e-4)
			} else if r.Rank != c.Expect.Rank {
				t.Errorf("rank %d, want %d", r.Rank, c.Expect.Rank)
			}
			right := 0.0
			for i, f := range r.F {
				if (f >= 0) == (y[i] > 0) {
					right++
				}
			}
			near("accuracy", right/float64(len(y)), c.Expect.Accuracy, 1e-9)
		})
	}
	require.Check(t, seen != 0, "no reference rows")
}
