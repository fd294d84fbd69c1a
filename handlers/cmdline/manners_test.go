package cmdline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// The file may stand without its flag, before or behind others; not twice.
func TestFileStandsAlone(t *testing.T) {
	t.Parallel()
	points := file(t, "p.csv", "x,y,label\n1,1,a\n2,3,b\n1,2,a\n4,4,b\n")
	want := must(t, "fit", "--data", points, "--C", "2")
	for _, args := range [][]string{{points, "--C", "2"}, {"--C", "2", points}} {
		got := must(t, append([]string{"fit"}, args...)...)
		require.Check(t, strings.Split(got, "\n")[0] == strings.Split(want, "\n")[0], "%v: %s", args, got)
	}
	must(t, "path", points)
	must(t, "cv", points, "--folds", "2")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fit", points, "--data", points}, "beside --data"},
		{[]string{"fit", points, points}, "unexpected argument"},
		{[]string{"fit", "--standardize", "false"}, "a switch takes its value after ="},
		{[]string{"fit", points, "--width", "84mm"}, "go with --plot"},
		{[]string{"fit", points, "--plot", "p.pdf", "--width", "wide"}, "a length such as 84mm"},
		{[]string{"fit", points, "--iterations", "3"}, "goes with --kernel=wl"},
	} {
		o := run(t.Context(), "", c.args...)
		require.Check(t, o.code == 2 && strings.Contains(o.err, c.want), "%v: exit %d: %s", c.args, o.code, o.err)
	}
	require.Check(t, must(t, "-V") == must(t, "--version"), "-V is not --version")
}

// A plot for a paper is a PDF.
func TestPlotForPaper(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "f.pdf")
	must(t, "fit", "moons", "--plot", at, "--width", "84mm", "--font-size", "8pt", "--grey")
	b, err := os.ReadFile(at)
	require.Check(t, err == nil && bytes.HasPrefix(b, []byte("%PDF-")), "%.20q %v", b, err)
}

// A kernel of graphs or strings trains the same by way of gram and standard input, under each
// name of its parameters.
func TestGramPipesIntoFit(t *testing.T) {
	t.Parallel()
	graphs := file(t, "g.jsonl", strings.Repeat(`{"n":3,"edges":[[0,1],[1,2]],"labels":["C","C","O"],"label":"a"}
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
			if matrix != "" && (k != matrix || objective(direct) != value) {
				t.Errorf("%v: another result than under other names", s)
			}
			matrix, value = k, objective(direct)
			o := run(t.Context(), k, "fit", "--kernel", "precomputed", "-")
			if o.code != 0 || value == "" || objective(o.out) != value {
				t.Errorf("%v: exit %d: %s\n%q, directly %q", s, o.code, o.err, objective(o.out), value)
			}
		}
	}
}

// A slip in the name of a built-in data set is told from a file that is missing.
func TestNoSuchData(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"irsi":          "irsi: there is no such file and no such built-in data set (did you mean iris?)",
		"customers.csv": "open customers.csv: no such file",
	} {
		o := run(t.Context(), "", "fit", name)
		require.Check(t, o.code == 1 && strings.Contains(o.err, want), "%s: %+v", name, o)
	}
}

// A folder of texts, or of the files of a TU Dortmund set, is a file of gram.
func TestGramOfFolders(t *testing.T) {
	t.Parallel()
	texts := folder(t, map[string]string{"a/1.txt": "abab", "a/2.txt": "ababab", "b/1.txt": "cdcd", "b/2.txt": "cdcdcd"})
	k := must(t, "gram", "--csv", "--kernel", "spectrum", "--k", "2", texts)
	require.Check(t, strings.Count(k, "\n") == 4, "%s", k)
	// A path of three nodes and a triangle, twice, with a file that says nothing of the graphs. An edge
	// may be listed in one direction.
	set := folder(t, map[string]string{
		"README.txt": "about", "SET_edge_labels.txt": strings.Repeat("0\n", 11), "SET_graph_labels.txt": "1\n-1\n1\n-1\n",
		"SET_A.txt":               "1, 2\n2, 1\n2, 3\n4, 5\n5, 6\n4, 6\n7, 8\n8, 9\n10, 11\n11, 12\n12, 10\n",
		"SET_graph_indicator.txt": "1\n1\n1\n2\n2\n2\n3\n3\n3\n4\n4\n4\n",
		"SET_node_labels.txt":     "6\n6\n8\n6\n6\n8\n6\n6\n8\n6\n6\n8\n",
	})
	lines := file(t, "set.jsonl", strings.Repeat(`{"n":3,"edges":[[0,1],[1,2]],"edge_labels":[0,0],"labels":["6","6","8"],"label":"1"}
{"n":3,"edges":[[0,1],[1,2],[0,2]],"edge_labels":["0","0","0"],"labels":["6","6","8"],"label":"-1"}
`, 2))
	for _, labels := range []string{"--labels", "--csv"} {
		k := must(t, "gram", "--kernel", "wl", "--rounds", "2", labels, set)
		want := must(t, "gram", "--kernel", "wl", "--rounds", "2", labels, lines)
		require.Check(t, k == want, "%s: %q, as JSON lines %q", labels, k, want)
		if o := run(t.Context(), k, "fit", "--kernel", "precomputed", "-"); labels == "--labels" && (o.code != 0 || objective(o.out) == "") {
			t.Errorf("%+v", o)
		}
	}
	o := run(t.Context(), "", "gram", "--kernel", "wl", filepath.Join(set, "SET_A.txt"))
	if o.code != 1 || !strings.Contains(o.err, "folder or zip archive of a TU Dortmund set") {
		t.Errorf("one of its files: %+v", o)
	}
}

// folder writes files by their names into a new folder and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o600))
	}
	return dir
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
