package cmdline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// TestStrings goes through fit, predict and cv with strings, and to their kernel matrix
// and back.
func TestStrings(t *testing.T) {
	t.Parallel()
	words := []string{"GATTACA", "TTGATTACATT", "CCGATTACAC", "AGATTACAGG", "CCCTTTGGG", "TGTGTGTG", "ACGTACGTAC", "CATCATCAT"}
	var labelled, bare, noted strings.Builder
	labelled.WriteString("sequence,class\n")
	noted.WriteString("note,sequence,class\n")
	for i, w := range words {
		class := lists.Either(i > 3, "plain", "planted")
		labelled.WriteString(w + "," + class + "\n")
		noted.WriteString("none," + w + "," + class + "\n")
		bare.WriteString(w + "\n")
	}
	data, lines := require.File(t, "dna.csv", labelled.String()), require.File(t, "dna.txt", bare.String())
	model := filepath.Join(t.TempDir(), "m.json")
	type report struct {
		N         int
		D         *int
		K         float64
		Objective float64
		Train     float64 `json:"train_accuracy"`
		Local     *bool
	}
	want := printed[report](t, "fit", "--kernel", "spectrum", "--k", "4", "--tol", "1e-9", "--data", data, "--out", model)
	require.Check(t, want.N == 8 && want.D == nil && want.K == 4 && want.Train == 1 && want.Local == nil, "%+v", want)
	for _, in := range []string{data, lines} {
		head, rows := predictions(t, must(t, "predict", "--model", model, "--data", in))
		require.Check(t, len(rows) == 8 && rows[0][1] == "planted" && rows[7][1] == "plain" && (len(head) == 4) == (in == data),
			"%s: %v %v", in, head, rows)
	}
	must(t, "fit", "--kernel", "spectrum", "--data", require.File(t, "noted.csv", noted.String()), "--features", "sequence")
	out := must(t, "cv", "--kernel", "gap-subsequence", "--k", "2,3", "--decay", "0.3,0.9", "--normalize", "--folds", "4", "--data", data)
	require.Check(t, strings.Count(out, "converged") == 4, "%v", out)
	o := run(t.Context(), "", "fit", "--kernel", "spectrum", "--conformal", "amari", "--data", data, "--plot", filepath.Join(t.TempDir(), "p.svg"))
	require.Check(t, o.code == 0 && strings.Contains(o.err, "decision values"), "exit %d: %s", o.code, o.err)

	// The matrix that gram prints is one that fit takes.
	var matrix strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(must(t, "gram", "--kernel", "spectrum", lines, "--k", "4", "--csv")), "\n") {
		matrix.WriteString(line + "," + strings.Split(strings.Split(labelled.String(), "\n")[i+1], ",")[1] + "\n")
	}
	values := require.File(t, "K.csv", matrix.String())
	given := printed[report](t, "fit", "--kernel", "precomputed", "--tol", "1e-9", "--data", values)
	d := given.Objective - want.Objective
	require.Check(t, d <= 1e-8 && d >= -1e-8, "objective %g by the matrix, %g by the strings", given.Objective, want.Objective)
}

// TestGramFails asks for the matrix of strings that have none.
func TestGramFails(t *testing.T) {
	t.Parallel()
	long := require.File(t, "long", strings.Repeat("a", 530))
	for want, args := range map[string]string{
		"line 2: expected UTF-8 text, found byte 0x81": "gram --kernel spectrum " + require.File(t, "bytes", "cat\nc\x81\x9dr\n"),
		"row 1: k(x, x) overflows":                     "gram --kernel gap-subsequence --k 265 --lambda 1 " + long,
	} {
		fails(t, 1, want, strings.Fields(args)...)
	}
}
