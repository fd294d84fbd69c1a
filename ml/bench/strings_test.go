//go:build peers

package bench

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// sequences are n strings of DNA with the motifs of two classes.
func sequences(t *testing.T, n, length int) (s []string, labels []string) {
	t.Helper()
	g := require.Value(dataset.FindGenerator("dna"))(t)
	d := require.Value(g.Generate(param.Values{"n": param.Of(n), "length": param.Of(length)}))(t)
	for i, c := range d.Y {
		s, labels = append(s, d.Objects.Text(i)), append(labels, d.Classes[c])
	}
	return s, labels
}

// kernlabStrings compares the kernel matrix of substrings; kernlab has no kernel of
// subsequences with gaps to compare with.
func kernlabStrings(t *testing.T, all *table) {
	need(t, "Rscript", "-e", "library(kernlab)")
	const length, k = 200, 5
	sizes := []int{200, 1000}
	if *full {
		sizes = append(sizes, 4000)
	}
	for _, n := range sizes {
		plain, _ := sequences(t, n, length)
		marked := lists.Map(plain, func(s string) string { return s + "$" }) // which kernlab's spectrum adds by itself
		for _, kind := range []struct {
			name    string
			strings []string
		}{{"spectrum", marked}, {"string", plain}} {
			if kind.name == "string" && n > 200 {
				continue
			}
			r := row{group: "kernlab, strings, processor time", name: fmt.Sprintf("substrings of %d in strings of %d, theirs by %q", k, length, kind.name), n: n}
			in := require.File(t, "strings", strings.Join(plain, "\n")+"\n")
			ours := kernel.New("spectrum", param.Values{"k": param.Of(k), "normalize": param.Of(false)}, nil)
			all.grams(t, r, ours, &dataset.Strings{Name: "s", Values: kind.strings}, "Rscript", filepath.Join(scripts, "strings_kernlab.R"), in, kind.name, strconv.Itoa(k))
		}
	}
}

// TestGramIsRead has scikit-learn train on the kernel matrix that gram prints. Its machine is
// the one that fit trains on the same matrix, and the one that it trains on the strings.
func TestGramIsRead(t *testing.T) {
	need(t, python, "-c", "import sklearn")
	program := build(t)
	const n, train = 240, 160
	values, labels := sequences(t, n, 60)
	strung := func(from, to int) string {
		text := "#strings\nsequence,motif\n"
		for i := from; i < to; i++ {
			text += values[i] + "," + labels[i] + "\n"
		}
		return require.File(t, "strings.csv", text)
	}
	marginlab := func(args ...string) string {
		t.Helper()
		text, err := output(program, args...)
		require.Must(t, err == nil, "%v: %v", args, err)
		return string(text)
	}
	lines, names := require.File(t, "lines", strings.Join(values, "\n")+"\n"), require.File(t, "labels", strings.Join(labels, "\n")+"\n")
	for _, flags := range [][]string{
		{"--kernel", "spectrum", "--k", "4"},
		{"--kernel", "gap-subsequence", "--k", "3", "--decay", "0.5", "--normalize"},
	} {
		gram := marginlab(append([]string{"gram", "--csv", lines}, flags...)...)
		var theirs struct {
			Objective float64
			Values    []float64
			Labels    []string
		}
		require.Value(decode(&theirs, python, filepath.Join(scripts, "gram_sklearn.py"), require.File(t, "gram.csv", gram), names, strconv.Itoa(train), "2"))(t)
		// The rows and columns trained on with their labels, and the other rows to be predicted.
		var known, rest strings.Builder
		for i, line := range strings.Split(strings.TrimSpace(gram), "\n") {
			row := strings.Join(strings.Split(line, ",")[:train], ",")
			if i < train {
				fmt.Fprintf(&known, "%s,%s\n", row, labels[i])
			} else {
				fmt.Fprintln(&rest, row)
			}
		}
		for _, way := range []struct {
			flags          []string
			train, predict string
		}{
			{[]string{"--kernel", "precomputed"}, require.File(t, "train.csv", known.String()), require.File(t, "rest.csv", rest.String())},
			{flags, strung(0, train), strung(train, n)},
		} {
			model := filepath.Join(t.TempDir(), "model.json")
			args := append([]string{"fit", "--json", "--C", "2", "--tol", "1e-9", "--data", way.train, "--out", model}, way.flags...)
			ours := require.JSON[struct{ Objective float64 }](t, marginlab(args...))
			require.Check(t, agree(ours.Objective, theirs.Objective, 1e-8),
				"%v: dual objective %.12g, scikit-learn has %.12g", way.flags, ours.Objective, theirs.Objective)
			told, err := csv.NewReader(strings.NewReader(marginlab("predict", "--model", model, "--data", way.predict))).ReadAll()
			require.Must(t, err == nil && len(told) == 1+n-train, "%d rows, %v", len(told), err)
			for i, rec := range told[1:] {
				f, err := strconv.ParseFloat(rec[2], 64)
				require.Check(t, err == nil && agree(f, theirs.Values[i], 1e-5) && rec[1] == theirs.Labels[i],
					"%v, row %d: %s, f = %s; scikit-learn has %s, %g", way.flags, i+1, rec[1], rec[2], theirs.Labels[i], theirs.Values[i])
			}
		}
	}
}
