package kernel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// referenceFisher evaluates the Fisher kernel by its formula.
func referenceFisher(f Fitted, x, z []float64) float64 {
	score := func(x []float64) (u []float64) {
		logs := make([]float64, len(f.Weights)) // far away the densities themselves are 0
		for k, w := range f.Weights {
			logs[k] = math.Log(w)
			for j, v := range f.Variances[k] {
				logs[k] += distuv.Normal{Mu: f.Means[k][j], Sigma: math.Sqrt(v)}.LogProb(x[j])
			}
		}
		p, share := floats.LogSumExp(logs), make([]float64, len(logs))
		for k, v := range logs {
			share[k] = math.Exp(v - p)
		}
		for k, w := range f.Weights {
			u = append(u, share[k]/w)
		}
		for k := range f.Weights {
			for j, v := range f.Variances[k] {
				u = append(u, share[k]*(x[j]-f.Means[k][j])/v)
			}
		}
		for k := range f.Weights {
			for j, v := range f.Variances[k] {
				u = append(u, share[k]*((x[j]-f.Means[k][j])*(x[j]-f.Means[k][j])/(2*v*v)-1/(2*v)))
			}
		}
		return u
	}
	s, ux, uz := 0.0, score(x), score(z)
	for a, u := range ux {
		if f.Information == nil {
			s += u * uz[a]
		} else if f.Information[a] > 0 {
			s += u * uz[a] / f.Information[a]
		}
	}
	return s
}

// fisherOf is the kernel of so many components before it has seen data.
func fisherOf(components int, information bool) Kernel {
	k := New(fisher.Name, defaults(fisher), nil)
	k.Values = k.Values.With("components", param.Of(components)).With("information", param.Of(information))
	return k
}

func defaults(row Entry) param.Values {
	values := param.Values{}
	for _, p := range row.Params {
		values = values.With(p.Name, p.Read(p.Default))
	}
	return values
}

// Under the inverse Fisher matrix the mean of k(x, x) over the rows is the number of parameters.
func TestFisherInformation(t *testing.T) {
	t.Parallel()
	x := mltest.Normal(rand.New(rand.NewPCG(3, 1)), 80, 3)
	k := require.Value(fisherOf(2, true).Fit(t.Context(), x, nil))(t)
	g, mean := NewGram(k, x), 0.0
	for i := range 80 {
		mean += g.Diag(i) / 80
	}
	require.Near(t, mean, float64(2*(1+2*3)), 1e-9, "mean of k(x, x)")
}

// A kernel matrix holds the inner products of scores, also where points are merged.
func TestFisherGramIsLinear(t *testing.T) {
	t.Parallel()
	x := mltest.Normal(rand.New(rand.NewPCG(3, 4)), 90, 2)
	k := require.Value(fisherOf(3, true).Fit(t.Context(), x, nil))(t)
	y, w := make([]float64, 90), make([]float64, 90)
	for i := range y {
		y[i], w[i] = float64(i%2)*2-1, 1
	}
	g, linear := NewGram(k, x), NewGram(Linear(), embed(bind(k), x))
	merged, _, apart := g.Merged(t.Context(), y, w, 4, math.Inf(1))
	mergedLinear, _, apartLinear := linear.Merged(t.Context(), y, w, 4, math.Inf(1))
	require.Check(t, apart == apartLinear, "merged points are %g apart, of the scores %g", apart, apartLinear)
	for _, pair := range [][2]Matrix{{g, linear}, {merged, mergedLinear}} {
		a, b := make([]float64, pair[0].Len()), make([]float64, pair[1].Len())
		for i := range a {
			pair[0].Row(a, i)
			pair[1].Row(b, i)
			require.Equal(t, cmp.Diff(a, b), "", "row %d", i)
		}
	}
}

// What was learnt comes back from JSON to the last bit, and with it every value.
func TestFisherJSON(t *testing.T) {
	t.Parallel()
	x := mltest.Normal(rand.New(rand.NewPCG(3, 2)), 60, 2)
	for _, information := range []bool{true, false} {
		k := require.Value(fisherOf(3, information).Fit(t.Context(), x, nil))(t)
		back := require.Reread(t, k)
		require.NoError(t, errors.Join(back.Validate(), back.Check(2)), "%+v", back)
		if diff := cmp.Diff(k.Fitted, back.Fitted); diff != "" || back.Eval(x.RawRowView(0), x.RawRowView(1)) != k.Eval(x.RawRowView(0), x.RawRowView(1)) {
			t.Errorf("%s", diff)
		}
		again, err := k.Fit(t.Context(), x, nil)
		diff := cmp.Diff(k.Fitted, again.Fitted)
		require.Check(t, diff == "" && err == nil, "fitted again: %v %s", err, diff)
	}
}

func TestFitHearsAndEnds(t *testing.T) {
	t.Parallel()
	x := mltest.Normal(rand.New(rand.NewPCG(3, 3)), 60, 2)
	heard := 0
	_, err := fisherOf(2, true).Fit(t.Context(), x, func(trace.Step) { heard++ })
	require.Check(t, err == nil && heard != 0, "%v after %d steps", err, heard)
	ctx, cancel := context.WithCancel(t.Context())
	require.Is(t, require.Err(fisherOf(2, true).Fit(ctx, x, func(trace.Step) { cancel() })), context.Canceled, "cancelled")
	require.Fails(t, require.Err(fisherOf(61, true).Fit(t.Context(), x, nil)), "at least as many rows",
		"61 components for 60 rows")
	require.Fails(t, require.Err(fisherOf(2, true).Fit(t.Context(), mat.NewDense(4, 1, []float64{1e-90, 3e-90, 5e-90, 9e-90}), nil)),
		"standardise", "a Fisher matrix that is no number")
	// Scores that would fill the memory are refused before EM has begun.
	const n, d = 3000, 60
	x = mat.NewDense(n, d, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64((i*7 + j) % 11) }, x)
	for _, k := range []Kernel{
		New("fisher", param.Values{"components": param.Of(100)}, x),
		New("combined", param.Values{"expression": param.Of("rbf + fisher(components=1) * fisher(components=100)")}, x),
	} {
		_, err := k.Fit(t.Context(), x, nil)
		want := "3000 rows with 60 features have at least 12"
		require.Check(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), "use fewer components"), "%s: %v, want %q", k.Name, err, want)
	}
}

// A kernel that has not learnt, or not for these points, is no number; Check says why.
func TestFisherNotFitted(t *testing.T) {
	t.Parallel()
	k := fisherOf(2, true)
	require.Fails(t, k.Check(2), "fisher: fitted", "Check")
	v := k.Eval([]float64{1, 2}, []float64{1, 2})
	require.Check(t, math.IsNaN(v), "value %g", v)
	k = learnt(t, k, 2)
	for name, wrong := range map[string]Kernel{
		"other coordinates": learnt(t, k, 3),
		"too much":          {Name: "rbf", Values: RBF(1).Values, Fitted: k.Fitted},
		"twice":             {Name: k.Name, Values: k.Values, Fitted: append(k.Fitted, k.Fitted...)},
		"information":       {Name: k.Name, Values: k.Values, Fitted: []Fitted{{Mixture: k.Fitted[0].Mixture, Information: []float64{1}}}},
		"negative":          {Name: k.Name, Values: k.Values, Fitted: []Fitted{{Mixture: k.Fitted[0].Mixture, Information: make([]float64, 9)}}},
	} {
		require.Check(t, wrong.Check(2) != nil, "%s: nothing is wrong", name)
	}
}
