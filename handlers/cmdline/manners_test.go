package cmdline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The file may stand without its flag, before or behind others; not twice.
func TestFileStandsAlone(t *testing.T) {
	t.Parallel()
	points := file(t, "p.csv", "x,y,label\n1,1,a\n2,3,b\n1,2,a\n4,4,b\n")
	want := must(t, "fit", "--data", points, "--C", "2")
	for _, args := range [][]string{{points, "--C", "2"}, {"--C", "2", points}} {
		if got := must(t, append([]string{"fit"}, args...)...); strings.Split(got, "\n")[0] != strings.Split(want, "\n")[0] {
			t.Errorf("%v: %s", args, got)
		}
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
		if o := run(t.Context(), "", c.args...); o.code != 2 || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
	if must(t, "-V") != must(t, "--version") {
		t.Error("-V is not --version")
	}
}

// A plot for a paper is a PDF.
func TestPlotForPaper(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "f.pdf")
	must(t, "fit", "moons", "--plot", at, "--width", "84mm", "--font-size", "8pt", "--grey")
	b, err := os.ReadFile(at)
	if err != nil || !bytes.HasPrefix(b, []byte("%PDF-")) {
		t.Errorf("%.20q %v", b, err)
	}
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
		var matrix, numbers string
		for _, s := range spellings {
			k := must(t, append([]string{"gram", "--labels", graphs}, s...)...)
			direct := must(t, append([]string{"fit", graphs}, s...)...)
			if matrix != "" && (k != matrix || vectors(direct) != numbers) {
				t.Errorf("%v: another result than under other names", s)
			}
			matrix, numbers = k, vectors(direct)
			o := run(t.Context(), k, "fit", "--kernel", "precomputed", "-")
			if o.code != 0 || vectors(o.out) != numbers {
				t.Errorf("%v: exit %d: %s\n%q, directly %q", s, o.code, o.err, vectors(o.out), numbers)
			}
		}
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"a/1.txt": "abab", "a/2.txt": "ababab", "b/1.txt": "cdcd", "b/2.txt": "cdcdcd"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if k := must(t, "gram", "--csv", "--kernel", "spectrum", "--k", "2", folder); strings.Count(k, "\n") != 4 {
		t.Errorf("%s", k)
	}
}

// vectors is the line of a report that counts support vectors.
func vectors(report string) string {
	for line := range strings.Lines(report) {
		if strings.Contains(line, "support vectors") {
			return line
		}
	}
	return ""
}
