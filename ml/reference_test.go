package ml_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// reference opens reference values or their data: beside the checkout, or the copy in testdata.
func reference(t testing.TB, folder, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", folder, name))
	if err != nil {
		text, err = os.ReadFile(filepath.Join("testdata", name))
	}
	require.NoError(t, err)
	return text
}

type referenceKernel struct {
	Type   string
	Gamma  float64
	Coef0  float64
	Degree int
}

// set puts the kernel into a spec.
func (k referenceKernel) set(t *testing.T, s *ml.Spec) {
	t.Helper()
	for name, v := range map[string]string{
		"kernel": k.Type, "gamma": strconv.FormatFloat(k.Gamma, 'g', -1, 64),
		"coef0": strconv.FormatFloat(k.Coef0, 'g', -1, 64), "degree": strconv.Itoa(k.Degree),
	} {
		if v == "0" {
			continue
		}
		require.NoError(t, s.Set(name, v))
	}
}

// referenceData reads each data set once.
func referenceData(t *testing.T) func(name string) *dataset.Data {
	sets := map[string]*dataset.Data{}
	for _, name := range []string{"ripley_train.csv", "heart.csv", "sonar.csv"} {
		var err error
		sets[name], err = dataset.Decode(bytes.NewReader(reference(t, "data", name)))
		require.Must(t, err == nil, "%s: %v", name, err)
	}
	return func(name string) *dataset.Data {
		require.Must(t, sets[name] != nil, "reference values for %s, which is not among the data", name)
		return sets[name]
	}
}

// TestReferenceSolutions trains what others have solved: the SVMs with LIBSVM at
// tolerance 1e-9, the MCMs as general linear programs with HiGHS.
func TestReferenceSolutions(t *testing.T) {
	t.Parallel()
	rows := require.JSON[[]struct {
		Data, Learner, Positive string
		Kernel                  referenceKernel
		C, Rho                  float64
		RankTol                 float64 `json:"rank_tol"`
		N                       int
		Expect                  struct {
			Objective      float64
			B              float64
			SupportVectors int `json:"support_vectors"`
			Bounded        int
			WNorm          float64 `json:"w_norm"`
			SlackSum       float64 `json:"slack_sum"`
			TrainAccuracy  float64 `json:"train_accuracy"`
			H, L1          float64
			Rank           int
		}
	}](t, reference(t, "reference", "solutions.json"))
	load := referenceData(t)
	for _, row := range rows {
		d := load(row.Data)
		s := ml.DefaultSpec()
		s.Learner, s.Positive = row.Learner, row.Positive
		s = s.With("C", param.Of(row.C)).With("tol", param.Of(1e-6)).With("rho", param.Of(row.Rho))
		if row.RankTol > 0 {
			s = s.With("rank_tol", param.Of(row.RankTol))
		}
		row.Kernel.set(t, &s)
		t.Run(fmt.Sprintf("%s %s %s %g C=%g rho=%g", row.Data, row.Learner, row.Kernel.Type, row.Kernel.Gamma, row.C, row.Rho), func(t *testing.T) {
			t.Parallel()
			r, want := train(t, d, s).Report, row.Expect
			require.Check(t, r.Status == trace.Converged && r.N == row.N, "status %s, n = %d", r.Status, r.N)
			require.Near(t, *r.Objective, want.Objective, map[string]float64{"svm": 1e-8, "mcm": 1e-6}[row.Learner]*math.Max(1, want.Objective), "objective")
			require.Near(t, *r.SlackSum, want.SlackSum, 1e-4*math.Max(1, want.SlackSum), "slack")
			require.Near(t, *r.TrainAccuracy, want.TrainAccuracy, 1e-9, "training accuracy")
			if row.Learner != "svm" {
				require.Check(t, math.Abs(*r.Gap) <= 1e-8, "certificate: gap %g", *r.Gap)
				require.Near(t, *r.H, want.H, 1e-4*math.Max(1, want.H), "h")
				require.Check(t, row.Rho > 0 || *r.Rank == want.Rank, "rank %d, want %d", *r.Rank, want.Rank)
				require.Check(t, row.Rho == 0 || near(want.L1, *r.L1, 1e-4), "sum |lambda| %g, want %g", *r.L1, want.L1)
				return
			}
			require.Near(t, *r.WNorm, want.WNorm, 1e-5*want.WNorm, "|w|")
			require.Near(t, *r.B, want.B, 1e-4, "b")
			require.Equal(t, r.SupportVectors, want.SupportVectors, "support vectors")
			require.Equal(t, *r.BoundedInside+*r.BoundedMisclassified, want.Bounded, "bounded support vectors")
		})
	}
}

// TestReferenceRidge solves the linear systems of kernel ridge regression.
func TestReferenceRidge(t *testing.T) {
	t.Parallel()
	rows := require.JSON[[]struct {
		Data, Positive string
		Kernel         referenceKernel
		Lam            float64
		Expect         struct {
			Objective, MSE float64
			TrainAccuracy  float64 `json:"train_accuracy"`
		}
	}](t, reference(t, "reference", "ridge.json"))
	load := referenceData(t)
	for _, row := range rows {
		d := load(row.Data)
		s := spec(t, "learner", "ridge", "positive", row.Positive).With("lambda", param.Of(row.Lam))
		row.Kernel.set(t, &s)
		t.Run(fmt.Sprintf("%s %s %g lambda=%g", row.Data, row.Kernel.Type, row.Kernel.Gamma, row.Lam), func(t *testing.T) {
			t.Parallel()
			r := train(t, d, s).Report
			require.Check(t, r.Status == trace.Converged && r.SupportVectors == r.TrainN && *r.B == 0,
				"status %s, %d of %d support vectors, b = %g", r.Status, r.SupportVectors, r.TrainN, *r.B)
			for what, v := range map[string][2]float64{
				"objective":         {*r.Objective, row.Expect.Objective},
				"mse":               {*r.MSE, row.Expect.MSE},
				"training accuracy": {*r.TrainAccuracy, row.Expect.TrainAccuracy},
			} {
				require.Near(t, v[0], v[1], 1e-9*math.Abs(v[1]), "%s", what)
			}
		})
	}
	require.Check(t, len(rows) != 0, "there are no reference values")
}

// TestReferenceConformal fits eigen maps on every N-th row as cores.
func TestReferenceConformal(t *testing.T) {
	t.Parallel()
	rows := require.JSON[[]struct {
		Data, Positive string
		Kernel         referenceKernel
		CoreGamma      float64 `json:"core_gamma"`
		D              float64
		CoreStep       int `json:"core_step"`
		Expect         struct {
			JBefore    float64 `json:"J_before"`
			JAfter     float64 `json:"J_after"`
			Eigenvalue float64 `json:"max_eigenvalue"`
			Cores      int
		}
	}](t, reference(t, "reference", "conformal.json"))
	load := referenceData(t)
	for _, row := range rows {
		d := load(row.Data)
		for _, l := range ml.Learners {
			s := spec(t, "learner", l.Name, "conformal", "eigen", "positive", row.Positive, "core_gamma", fmt.Sprint(row.CoreGamma))
			s = s.With("core_ridge", param.Of(row.D)).With("core_step", param.Of(row.CoreStep))
			row.Kernel.set(t, &s)
			t.Run(fmt.Sprintf("%s %s %s %g", row.Data, l.Name, row.Kernel.Type, row.CoreGamma), func(t *testing.T) {
				t.Parallel()
				r := train(t, d, s).Report
				require.Equal(t, *r.Cores, row.Expect.Cores, "cores")
				for what, v := range map[string][2]float64{
					"J before":   {*r.JBefore, row.Expect.JBefore},
					"J after":    {*r.JAfter, row.Expect.JAfter},
					"eigenvalue": {*r.Eigenvalue, row.Expect.Eigenvalue},
				} {
					require.Near(t, v[0], v[1], 1e-6*math.Abs(v[1]), "%s", what)
				}
			})
		}
	}
}

// TestHeartUnscaled compares with LIBSVM 3.37 on unscaled data, C = 1.
func TestHeartUnscaled(t *testing.T) {
	t.Parallel()
	d := referenceData(t)("heart.csv")
	for _, c := range []struct {
		set         []string
		objective   float64
		sv, bounded int // -1: not known
	}{
		{[]string{"kernel", "rbf", "gamma", "auto"}, 100.877292, 132, 107},
		{[]string{"kernel", "linear"}, 92.473359, 101, -1},
		{[]string{"kernel", "poly", "gamma", "0.1", "coef0", "1", "degree", "3"}, 75.330138, 118, -1},
	} {
		r := train(t, d, spec(t, append(c.set, "standardize", "false", "tol", "1e-6")...)).Report
		require.Check(t, math.Abs(*r.Objective-c.objective) <= 1e-6*c.objective && r.SupportVectors == c.sv,
			"%v: objective %.9g with %d support vectors, want %.9g with %d", c.set, *r.Objective, r.SupportVectors, c.objective, c.sv)
		require.Check(t, c.bounded < 0 || *r.BoundedInside+*r.BoundedMisclassified == c.bounded, "%v: bounded: %+v", c.set, r)
	}
}
