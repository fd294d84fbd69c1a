package study_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"

	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/study"
)

const regressions = `
[scheme]
folds = 4
seed = 3
max_rows = 60
target = "value"
[data.sine]
generator = "sine"
[data.hill]
generator = "hill"
n = 90
[learner.flat]
learner = "ridge"
kernel = "linear"
[learner.bent]
learner = "ridge"
lambda = [0.01, 1]
`

// Regressions match cross-validation, errors are shares of the variance, and studies survive text.
func TestValues(t *testing.T) {
	t.Parallel()
	s := parse(t, regressions)
	samples := load(t, s)
	res := require.Value(study.Run(t.Context(), s, samples, study.Keeper{}, nil))(t)
	for i, set := range res.Sets {
		values := require.Value(samples[i].Values())(t)
		require.Check(t, set.Rows == 60 && set.Classes == 0, "%+v", set)
		spec := ml.DefaultSpec()
		spec.Learner, spec.Target = "ridge", "value"
		want, err := eval.CrossValidate(t.Context(), samples[i].Data, spec, eval.Grid{"lambda": eval.Numbers(0.01, 1)}, eval.Scheme{Folds: 4, Repeats: 1, Seed: 3, Nested: true}, nil)
		require.NoError(t, err)
		mean, sd := stat.MeanStdDev(lists.Map(want.NestedFolds(), func(f eval.Fold) float64 { return f.MSE }), nil)
		got, variance := set.Outcomes[1], stat.PopVariance(values, nil)
		require.Check(t, got.MSE == mean && got.MSEDeviation == sd && math.Abs(got.Left-mean/variance) <= 1e-12 && math.Abs(got.LeftDeviation-sd/variance) <= 1e-12 && got.Accuracy == 0,
			"%s: %+v, want %g ± %g of %g", set.Name, got.Errors, mean, sd, variance)
		flat := set.Outcomes[0]
		require.Check(t, flat.Left > got.Left, "%s: a plane leaves %g, a surface %g", set.Name, flat.Left, got.Left)
	}
	require.Check(t, res.Left.Friedman != nil && len(res.Left.Against) == 1 && res.Left.Against[0].Better == 2 && res.Accuracy.Friedman == nil && res.Vectors.Friedman == nil,
		"%+v", res)
	for _, e := range study.Exports {
		var b bytes.Buffer
		err := e.Write(&b, res)
		require.Check(t, err == nil && b.Len() >= 100 && !strings.Contains(b.String(), "ccuracy"), "%s: %v\n%s", e.File, err, b.String())
	}
	text := require.Value(s.Encode())(t)
	require.Equal(t, cmp.Diff(s, parse(t, text), cmpopts.EquateEmpty()), "", "read back from\n%s\n", text)
}

// Impossible regressions are reported before any work.
func TestValueFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Replace(regressions, `learner = "ridge"`, `learner = "svm"`, 1):                `learner flat: svm is a classifier; use learner = "ridge" with target = "value"`,
		strings.Replace(regressions, `"value"`, `"worth"`, 1):                                  "target must be one of class, value",
		strings.Replace(regressions, "[data.hill]\n", "[data.hill]\npositive = \"1\"\n", 1):    "data set hill: positive has no effect",
		strings.Replace(regressions, `generator = "hill"`+"\nn = 90", "builtin = \"iris\"", 1): "data set hill: target",
	} {
		s, err := study.Parse(text, "s.toml")
		if err == nil {
			_, err = s.Load(nil)
		}
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%v, want %s", err, want)
	}
}

// Every test in the tables is in the file, at full precision, and those on single sets add up.
func TestTestsCSV(t *testing.T) {
	t.Parallel()
	r := made()
	require.NoError(t, r.Compare())
	var b bytes.Buffer
	require.NoError(t, r.TestsCSV(&b))
	rows := require.Value(csv.NewReader(&b).ReadAll())(t)
	at := map[string]int{}
	for j, name := range rows[0] {
		at[name] = j
	}
	number := func(row []string, name string) float64 {
		v, err := strconv.ParseFloat(row[at[name]], 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	count, better, sure := map[string]int{}, 0, 0
	for _, row := range rows[1:] {
		count[row[at["test"]]]++
		if row[at["quantity"]] != "accuracy" {
			continue
		}
		c := r.Accuracy
		switch row[at["test"]] {
		case "Friedman":
			require.Check(t, number(row, "statistic") == c.Friedman.ChiSquared && number(row, "p") == c.Friedman.ChiP && row[at["freedom"]] == "2",
				"%q", row)
		case "Wilcoxon":
			i := count["Wilcoxon"] - 1
			v := c.Against[i]
			require.Check(t, number(row, "p") == v.Wilcoxon.P && number(row, "p_holm") == v.Holm && number(row, "difference") == v.Difference, "%q, want %+v", row, v)
		case "corrected t":
			if row[at["learner"]] == "[c] & <d>" && number(row, "difference") > 0 {
				if better++; number(row, "p") < study.Level {
					sure++
				}
			}
		}
	}
	want := (map[string]int{"Friedman": 2, "Iman-Davenport": 1, "Nemenyi": 6, "Wilcoxon": 4, "corrected t": 12})
	require.Check(t, cmp.Equal(count, want), "%v, want %v", count, want)
	v := r.Accuracy.Against[1]
	require.Check(t, better == v.Better && sure == v.SurelyBetter, "better on %d, surely on %d: want %+v", better, sure, v)
	require.Says(t, rows[len(rows)-1][at["baseline"]], "'=1+1",
		"a name that a spreadsheet would compute: %q", rows[len(rows)-1])
}
