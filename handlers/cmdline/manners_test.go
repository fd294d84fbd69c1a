package cmdline_test

import (
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// A kernel of graphs or strings trains the same by way of gram and standard input, under each
// name of its parameters.
func TestGramPipesIntoFit(t *testing.T) {
	t.Parallel()
	graphs := require.File(t, "g.jsonl", strings.Repeat(`{"n":3,"edges":[[0,1],[1,2]],"labels":["C","C","O"],"label":"a"}
{"n":3,"edges":[[0,1],[1,2],[0,2]],"labels":["C","C","C"],"label":"b"}
{"n":2,"edges":[[0,1]],"labels":["O","C"],"label":"a"}
`, 3))
	for _, spellings := range [][][]string{
		{{"--kernel", "wl", "--rounds", "2"}, {"--kernel=wl", "--iterations=2"}},
		{{"--kernel", "random-walk", "--walk-weight", "0.1"}, {"--kernel", "random-walk", "--decay", "0.1"}, {"--kernel", "random-walk", "--lambda", "0.1"}},
	} {
		var matrix, value string
		for _, s := range spellings {
			k := must(t, append([]string{"gram", "--labels", graphs}, s...)...)
			direct := must(t, append([]string{"fit", graphs}, s...)...)
			require.Check(t, matrix == "" || k == matrix && objective(direct) == value,
				"%v: another result than under other names", s)
			matrix, value = k, objective(direct)
			o := run(t.Context(), k, "fit", "--kernel", "precomputed", "-")
			require.Check(t, o.code == 0 && value != "" && objective(o.out) == value,
				"%v: exit %d: %s\n%q, directly %q", s, o.code, o.err, objective(o.out), value)
		}
	}
}

// objective is the objective in a report, to three digits.
func objective(report string) string {
	for line := range strings.Lines(report) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "objective" {
			v, _ := strconv.ParseFloat(words[1], 64)
			return strconv.FormatFloat(v, 'g', 3, 64)
		}
	}
	return ""
}
