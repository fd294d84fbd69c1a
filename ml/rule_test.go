package ml_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

var update = flag.Bool("update", false, "write the fixtures of the present format anew")

func three(n int) *dataset.Data {
	rng := rand.New(rand.NewPCG(3, 3))
	x, labels := make([][]float64, n), make([]string, n)
	for i := range x {
		k := i % 3
		labels[i] = []string{"ash", "beech", "elm"}[k]
		a := 2 * math.Pi * float64(k) / 3
		x[i] = []float64{2*math.Cos(a) + 0.9*rng.NormFloat64(), 2*math.Sin(a) + 0.9*rng.NormFloat64()}
	}
	return data(x, labels...)
}

// pair is the rows of two classes of d, and which they are.
func pair(d *dataset.Data, i, j int) (*dataset.Data, []int) {
	at := lists.Where(len(d.Y), func(r int) bool { return d.Y[r] == i || d.Y[r] == j })
	_, cols := d.X.Dims()
	p := &dataset.Data{Features: d.Features, Label: d.Label, Classes: []string{d.Classes[i], d.Classes[j]}, X: mat.NewDense(len(at), cols, nil)}
	for k, r := range at {
		p.X.SetRow(k, d.X.RawRowView(r))
		y := lists.Either(d.Y[r] == j, 1, 0)
		p.Y = append(p.Y, y)
	}
	return p, at
}

// together trains the binary machines that a rule wants and puts them together by hand. Nothing may
// be fitted to the rows of one machine alone, so the spec does not standardise.
func together(t testing.TB, rule ml.Rule, d *dataset.Data, set ...string) (*ml.Model, []*ml.Model) {
	t.Helper()
	set = append(set, "standardize", "false")
	var alone []*ml.Model
	for i, class := range d.Classes {
		switch rule {
		case ml.OneVsRest:
			alone = append(alone, train(t, d, spec(t, append(set, "positive", class)...)).Model)
		case ml.OneVsOne:
			for j := i + 1; j < len(d.Classes); j++ {
				p, at := pair(d, i, j)
				m := train(t, p, spec(t, append(set, "positive", d.Classes[j])...)).Model
				for _, rows := range [][]int{m.Supports.Rows, m.Machines[0].CoreRows} {
					for k, r := range rows {
						rows[k] = at[r]
					}
				}
				alone = append(alone, m)
			}
		}
	}
	m := &ml.Model{Features: d.Features, Label: d.Label, Classes: d.Classes, Objects: dataset.KindVectors, Kernel: alone[0].Kernel, Rule: rule}
	for _, a := range alone {
		m.Supports.Rows = append(m.Supports.Rows, a.Supports.Rows...)
	}
	slices.Sort(m.Supports.Rows)
	m.Supports.Rows = slices.Compact(m.Supports.Rows)
	for _, r := range m.Supports.Rows {
		m.Supports.Vectors = append(m.Supports.Vectors, slices.Clone(d.X.RawRowView(r)))
	}
	for _, a := range alone {
		machine := a.Machines[0]
		machine.Coef = make([]float64, len(m.Supports.Rows))
		for k, r := range a.Supports.Rows {
			machine.Coef[slices.Index(m.Supports.Rows, r)] = a.Machines[0].Coef[k]
		}
		m.Machines = append(m.Machines, machine)
	}
	return m, alone
}

// eachTogether runs a test on models of three classes.
func eachTogether(t *testing.T, test func(t *testing.T, d *dataset.Data, m *ml.Model, alone []*ml.Model)) {
	d := three(60)
	for _, rule := range []ml.Rule{ml.OneVsRest, ml.OneVsOne} {
		for _, set := range [][]string{{"kernel", "linear"}, {"gamma", "0.5"}, {"conformal", "eigen", "gamma", "0.3"}, {"learner", "mcm", "kernel", "poly", "degree", "2", "coef0", "1"}} {
			t.Run(string(rule)+" "+strings.Join(set, " "), func(t *testing.T) {
				m, alone := together(t, rule, d, set...)
				require.NoError(t, m.Validate())
				test(t, d, m, alone)
			})
		}
	}
}

// chosen is the class that a rule chooses, by its words: votes are counted one by one.
func chosen(rule ml.Rule, k int, f []float64) int {
	votes, margins := make([]float64, k), make([]float64, k)
	if rule != ml.OneVsOne {
		copy(margins, f)
	} else {
		p := 0
		for i := range k {
			for j := i + 1; j < k; j++ {
				winner := lists.Either(f[p] >= 0, j, i)
				votes[winner]++
				margins[i], margins[j] = margins[i]-f[p], margins[j]+f[p]
				p++
			}
		}
	}
	order := dataset.Indices(k)
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case votes[a] > votes[b] || votes[a] == votes[b] && margins[a] > margins[b]:
			return -1
		case votes[a] == votes[b] && margins[a] == margins[b]:
			return 0
		}
		return 1
	})
	return order[0]
}

func TestScoresAreThoseOfTheMachines(t *testing.T) {
	t.Parallel()
	eachTogether(t, func(t *testing.T, d *dataset.Data, m *ml.Model, alone []*ml.Model) {
		scores := m.Scores(d.X)
		n, k := scores.Dims()
		require.Must(t, n == 60 && k == 3, "%d x %d scores", n, k)
		right := 0
		for i := range n {
			f := scores.RawRowView(i)
			for a, one := range alone {
				want := one.Decision(d.X.RawRowView(i))
				require.Must(t, math.Float64bits(f[a]) == math.Float64bits(want), "row %d: %s = %v, of the machine alone %v", i, m.ScoreNames()[a], f[a], want)
			}
			want := d.Classes[chosen(m.Rule, 3, f)]
			if got := m.LabelOf(f...); got != want || m.Predict(d.X.RawRowView(i)) != want || d.Classes[m.Class(f)] != want {
				t.Errorf("row %d: %s for the scores %v, want %s", i, got, f, want)
			}
			if want == d.Classes[d.Y[i]] {
				right++
			}
		}
		a, err := m.Accuracy(d)
		require.Check(t, err == nil && a == float64(right)/60 && a >= 0.85, "accuracy %g (%v), counted %d of 60", a, err, right)
		for a, one := range alone {
			positive, negative := m.Sides(a)
			wantPositive, wantNegative := one.Sides(0)
			if m.Rule == ml.OneVsRest {
				wantNegative = ""
			}
			require.Check(t, positive == wantPositive && negative == wantNegative,
				"machine %d is of %q and %q, want %q and %q", a, positive, negative, wantPositive, wantNegative)
		}
		_, _, ok := m.Linear()
		require.Check(t, !ok, "three machines are one linear function")
	})
}

// A surface whose context has ended is none, however far it got: in f or in c of any machine.
func TestSurfaceEndsWithItsContext(t *testing.T) {
	t.Parallel()
	eachTogether(t, func(t *testing.T, _ *dataset.Data, m *ml.Model, _ []*ml.Model) {
		v, _ := m.View()
		for looks := int64(0); ; looks++ {
			f, c, err := m.Surface(mltest.NewLooks(t.Context(), looks), v, []float64{-3, 0, 2}, []float64{-2, 3})
			if err == nil {
				require.Check(t, looks >= 3, "%d looks at three machines", looks)
				return
			}
			require.Is(t, err, context.Canceled, "after %d looks", looks)
			require.Check(t, f == nil && c == nil, "after %d looks: a surface of %d machines", looks, len(f))
		}
	})
}

func TestSurfaceOfSeveralMachines(t *testing.T) {
	t.Parallel()
	eachTogether(t, func(t *testing.T, d *dataset.Data, m *ml.Model, alone []*ml.Model) {
		v, ok := m.View()
		require.Must(t, ok, "no view of the plane")
		ss, ts := []float64{-3, -1, 0.5, 2}, []float64{-2, 0, 3}
		f, c, err := m.Surface(t.Context(), v, ss, ts)
		require.Must(t, err == nil && len(f) == 3 && len(c) == 3, "%d grids of f and %d of c", len(f), len(c))
		for k, one := range alone {
			require.Check(t, (c[k] != nil) == (m.Machines[k].Map != nil),
				"machine %d: a map %v, its grid %v", k, m.Machines[k].Map != nil, c[k] != nil)
			for j, tv := range ts {
				for i, sv := range ss {
					x := []float64{sv, tv}
					if got, want := f[k][j*len(ss)+i], one.Decision(x); math.Abs(got-want) > 1e-9*math.Abs(want) && math.Abs(got-want) > 1e-9*magnitude(one, x) {
						t.Errorf("machine %d at %v: %g, want %g", k, x, got, want)
					}
				}
			}
		}
	})
}

func TestSeveralMachinesRoundTripBitForBit(t *testing.T) {
	t.Parallel()
	eachTogether(t, func(t *testing.T, d *dataset.Data, m *ml.Model, _ []*ml.Model) {
		text := asJSON(t, m)
		file := require.Value(ml.ReadModel(strings.NewReader(text)))(t)
		stored := require.Value(ml.ReadStoredModel([]byte(text)))(t)
		for _, back := range []*ml.Model{file, stored} {
			require.Equal(t, asJSON(t, back), text, "was written again")
			a, b := m.Scores(d.X), back.Scores(d.X)
			require.Check(t, slices.Equal(a.RawMatrix().Data, b.RawMatrix().Data), "scores %v, read again %v", a, b)
		}
	})
}

func TestPointsOfSeveralMachines(t *testing.T) {
	t.Parallel()
	eachTogether(t, func(t *testing.T, d *dataset.Data, m *ml.Model, alone []*ml.Model) {
		s := spec(t, "test_fraction", "0")
		ps := require.Value(m.Points(d, s))(t)
		accuracy, _ := m.Accuracy(d)
		wrong := 0
		for i, p := range ps {
			f := m.Scores(d.X).RawRowView(i)
			require.Check(t, p.Row == i && p.Label == d.Classes[d.Y[i]] && p.Predicted == m.LabelOf(f...) && slices.Equal(p.Scores, f),
				"point %d is %+v", i, p)
			require.Check(t, p.Wrong == (p.Predicted != p.Label) && !p.HeldOut && p.Y == 0 && p.F == 0 && p.Margin == 0 && p.Slack == 0,
				"point %d is %+v: no sides, no margin", i, p)
			if p.Wrong {
				wrong++
			}
			role, core, weight := ml.None, false, 0.0
			for _, one := range alone {
				if k := slices.Index(one.Supports.Rows, i); k >= 0 {
					role, weight = ml.Support, math.Max(weight, math.Abs(one.Machines[0].Coef[k]))
				}
				core = core || slices.Contains(one.Machines[0].CoreRows, i)
			}
			require.Check(t, p.Role == role && p.Core == core && math.Abs(p.Weight) == weight,
				"point %d is %+v, want role %q, core %v, weight %g", i, p, role, core, weight)
		}
		require.Near(t, accuracy, 1-float64(wrong)/60, 1e-12, "%d wrong points, accuracy", wrong)
		// The split is by class.
		s = spec(t, "test_fraction", "0.25", "seed", "2")
		ps = require.Value(m.Points(d, s))(t)
		held := map[string]int{}
		for _, p := range ps {
			if p.HeldOut {
				held[p.Label]++
			}
		}
		for _, c := range d.Classes {
			require.Equal(t, held[c], 5, "… of class %s held out", c)
		}
	})
}

func TestRulesByHand(t *testing.T) {
	t.Parallel()
	model := func(rule ml.Rule, classes string) *ml.Model {
		return &ml.Model{Rule: rule, Classes: strings.Fields(classes)}
	}
	nan := math.NaN()
	for _, c := range []struct {
		m    *ml.Model
		f    []float64
		want string
	}{
		{model(ml.Sign, "no yes"), []float64{0}, "yes"},
		{model(ml.Sign, "no yes"), []float64{-1e-300}, "no"},
		{model(ml.Sign, "no yes"), []float64{nan}, "no"},
		{model(ml.OneVsRest, "a b c"), []float64{-3, -1, -2}, "b"},
		{model(ml.OneVsRest, "a b c"), []float64{2, 1, 2}, "a"},
		{model(ml.OneVsRest, "a b"), []float64{-1, 1}, "b"},
		{model(ml.Argmax, "a b c"), []float64{0, 0, 1e-9}, "c"},
		{model(ml.OneVsOne, "a b"), []float64{0}, "b"},
		{model(ml.OneVsOne, "a b"), []float64{-1}, "a"},
		// b against a, c against a, c against b.
		{model(ml.OneVsOne, "a b c"), []float64{-1, -1, 9}, "a"},
		{model(ml.OneVsOne, "a b c"), []float64{1, -1, -1}, "b"},
		{model(ml.OneVsOne, "a b c"), []float64{1, 1, 1}, "c"},
		// One vote each: a has -1+3 = 2, b has 1-2 = -1, c has -3+2 = -1.
		{model(ml.OneVsOne, "a b c"), []float64{1, -3, 2}, "a"},
		// One vote each: a has -3+1 = -2, b has 3-1 = 2, c has -1+1 = 0.
		{model(ml.OneVsOne, "a b c"), []float64{3, -1, 1}, "b"},
		{model(ml.OneVsOne, "a b c"), []float64{5, -6, 1}, "b"}, // margins 1, 4, -5
		{model(ml.OneVsOne, "a b c"), []float64{1, -1, 1}, "a"}, // and no margin differs: the first
		{model(ml.Value, ""), []float64{7}, ""},
	} {
		require.Equal(t, c.m.LabelOf(c.f...), c.want, "%s of %v", c.m.Rule, c.f)
	}
	require.Equal(t, model(ml.Value, "").Class([]float64{1}), -1, "a value is class")
	require.Fails(t, require.Err(model(ml.Value, "").Accuracy(toy())), "", "numbers have an accuracy")
}

func TestScoreNames(t *testing.T) {
	t.Parallel()
	d := three(30)
	ovr, _ := together(t, ml.OneVsRest, d)
	ovo, _ := together(t, ml.OneVsOne, d)
	for want, m := range map[string]*ml.Model{
		"f ash|f beech|f elm":                        ovr,
		"f beech vs ash|f elm vs ash|f elm vs beech": ovo,
		"f": train(t, toy(), spec(t)).Model,
	} {
		require.Equal(t, strings.Join(m.ScoreNames(), "|"), want, "strings.Join")
	}
	// A class has a vote and a margin from every other.
	votes, margins := ml.Votes(4, []float64{1, -2, 0.5, 3, -1, -4}) // ab ac ad bc bd cd
	require.Slices(t, votes, []int{1, 2, 2, 1}, "votes")
	require.Slices(t, margins, []float64{0.5, -1, 5, -4.5}, "margins")
}

// TestFormat2IsReadForEver reads models of the present format as they were recorded when it was new.
func TestFormat2IsReadForEver(t *testing.T) {
	t.Parallel()
	d := three(30)
	for _, rule := range []ml.Rule{ml.OneVsRest, ml.OneVsOne} {
		path := filepath.Join("testdata", fmt.Sprintf("model_format2_%s.json", rule))
		if *update {
			m, _ := together(t, rule, d, "conformal", "eigen", "gamma", "0.3")
			require.NoError(t, os.WriteFile(path, []byte(asJSON(t, m)), 0o644))
		}
		text := require.Value(os.ReadFile(path))(t)
		m := require.Value(ml.ReadModel(strings.NewReader(string(text))))(t)
		require.Equal(t, asJSON(t, m), string(text), "%s is written again as", text)
		a, err := m.Accuracy(d)
		require.Check(t, err == nil && a >= 0.9 && m.Machines[2].Map != nil, "%s: accuracy %g (%v)", rule, a, err)
	}
	// Reads models as a released version wrote them, of vectors and of a kernel matrix, and writes
	// them byte for byte.
	for name, kind := range map[string]dataset.Kind{"conformal": dataset.KindVectors, "precomputed": dataset.KindPrecomputed, "precomputed_conformal": dataset.KindPrecomputed} {
		text := fixture(t, "model_format2_"+name+".json")
		m := require.Value(ml.ReadModel(strings.NewReader(text)))(t, "%s", name)
		require.Equal(t, asJSON(t, m), strings.TrimSpace(text), "%s: %s is written again as", name, text)
		stored, err := ml.ReadStoredModel([]byte(text))
		require.Check(t, err == nil && asJSON(t, stored) == strings.TrimSpace(text),
			"%s: read from the store: %v", name, err)
		require.Check(t, m.Objects == kind && (m.Supports.Objects == nil) == (kind == dataset.KindVectors) && len(m.Supports.Rows) == len(m.Machines[0].Coef),
			"%s: %s, %d supports", name, m.Objects, len(m.Supports.Rows))
	}
}

// What a report counts is what the model predicts for the same rows, also where nothing but rounding
// tells classes apart: machines that are constant, classes whose functions are equal.
func TestReportCountsWhatTheModelTells(t *testing.T) {
	t.Parallel()
	tied, trained := 0, 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 9))
		n, d, k := 20+rng.IntN(130), 1+rng.IntN(6), 2+rng.IntN(4)
		all := clouds(n, d, seed)
		all.Classes = []string{"a", "b", "c", "d", "e"}[:k]
		whole := rng.IntN(3) == 0
		for i := range n {
			all.Y[i] = i % k
			for j, v := range all.X.RawRowView(i) {
				if v += float64(all.Y[i]*(j%2)) * 0.7; whole {
					v = math.Round(v)
				}
				all.X.Set(i, j, v)
			}
		}
		if half := n / 2; rng.IntN(3) == 0 { // points again, and opposite ones
			for i := range half {
				for j, v := range all.X.RawRowView(i) {
					all.X.Set(half+i, j, v*float64(1-2*(i/2%2)))
				}
				all.Y[half+i] = (all.Y[i] + i%2) % k
			}
		}
		pick := func(words ...string) string { return words[rng.IntN(len(words))] }
		set := []string{
			"C", fmt.Sprint(math.Pow(10, rng.Float64()*8-4)), "gamma", fmt.Sprint(math.Pow(10, rng.Float64()*6-3)),
			"kernel", pick("rbf", "linear", "poly", "laplacian"), "learner", pick("svm", "svm", "mcm", "ridge"),
			"multiclass", pick("ww", "cs", "ovr", "ovo"), "conformal", pick("none", "none", "none", "amari", "eigen"),
			"test_fraction", "0", "max_iter", "20000",
		}
		res, err := ml.Train(context.Background(), all, spec(t, set...), nil)
		var refused *param.Refusal
		var problems param.Problems
		switch {
		case errors.As(err, &refused) || errors.As(err, &problems):
			continue
		case err != nil:
			t.Fatalf("%v: %v", set, err)
		}
		trained++
		if res.Report.Tied > 0 {
			tied++
		}
		saved := require.Value(ml.ReadModel(strings.NewReader(asJSON(t, res.Model))))(t)
		right := 0
		predictions := lists.Map(saved.Classes, func(string) []int { return make([]int, len(saved.Classes)) })
		scores := saved.Scores(all.X)
		for i, y := range all.Y {
			c, predicted := saved.ClassOf(all.Classes[y]), saved.Class(scores.RawRowView(i))
			predictions[c][predicted]++
			if c == predicted {
				right++
			}
		}
		for c, row := range res.Report.Confusion {
			require.Check(t, slices.Equal(row.Predicted, predictions[c]) && float64(right)/float64(n) == *res.Report.TrainAccuracy,
				"%v on %d points of %d classes: of %s the report counts %v, the saved model tells %v; %d rows tied", set, n, k, row.Class, row.Predicted, predictions[c], res.Report.Tied)
		}
	}
	require.Check(t, trained >= 200 && tied >= 20,
		"of %d trainings %d have rows that tie: the test sees too few", trained, tied)
}

// Of classes whose scores differ by rounding alone, the first wins, whichever is larger.
func TestTies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule   ml.Rule
		scores []float64
		want   int
	}{
		{ml.Argmax, []float64{-1 - 4e-16, -1, -1 + 2e-16}, 0},
		{ml.OneVsRest, []float64{-2, 5, 5 + 1e-12}, 1},
		{ml.OneVsRest, []float64{-2, 5, 5 + 1e-6}, 2},
		{ml.Argmax, []float64{1e-30, 3e-30, 2e-30}, 1}, // small is not tied
		{ml.Argmax, []float64{0, 0, 0}, 0},
		{ml.OneVsOne, []float64{1, -1 - 1e-13, 1}, 0}, // a cycle: 0 over 2, 2 over 1, 1 over 0
		{ml.OneVsOne, []float64{1, -1, 1 + 1e-3}, 2},
	} {
		m := ml.Model{Rule: c.rule, Classes: []string{"a", "b", "c"}}
		require.Equal(t, m.Class(c.scores), c.want, "%s of %v", c.rule, c.scores)
	}
	// Rows where f is 0 but for rounding are tied, those where it is small beside other rows are not.
	for x, want := range map[float64]int{0: 2, 1e10: 0} {
		d := data([][]float64{{-1}, {1}, {x}, {-x}}, "a", "b", "b", "a")
		r := train(t, d, spec(t, "kernel", "linear", "standardize", "false")).Report
		require.Equal(t, r.Tied, want, "tied rows of -1, 1, %g, %g", x, -x)
	}
	// On the line between two opposite points, whichever way rounding goes, f is 0.
	m := train(t, data([][]float64{{-0.1, -0.3}, {0.1, 0.3}}, "a", "b"), spec(t, "kernel", "linear", "standardize", "false")).Model
	for k := range 40 {
		by := 1.1 * float64(k)
		require.Equal(t, m.Decision([]float64{0.3 * by, -0.1 * by}), 0, "f at %g times a point in the middle", by)
		require.Check(t, m.Decision([]float64{0.3 * by, -0.1*by - 1e-9}) < 0, "f below")
	}
}
