package ml_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"marginlab/ml/mltest/require"
)

// TestArrowsRunDownwards keeps the numeric packages usable as a library: nothing
// here knows the web, the database or the pages, no part imports the whole, the
// leaves import nothing, and solvers see numbers, not kernels.
func TestArrowsRunDownwards(t *testing.T) {
	t.Parallel()
	out := require.Value(exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Deps " "}}`, "marginlab/ml/...").Output())(t, "go list")
	solvers := []string{"marginlab/ml/svm", "marginlab/ml/mcm", "marginlab/ml/ridge", "marginlab/ml/multiclass"}
	judges := []string{"marginlab/ml/eval", "marginlab/ml/study", "marginlab/ml/repeat", "marginlab/ml/export"} // of what the facade trains, or its writer
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		pkg, deps, _ := strings.Cut(line, ":")
		seen[pkg] = true
		for dep := range strings.FieldsSeq(deps) {
			own := strings.HasPrefix(dep, "marginlab")
			switch {
			case dep == "net/http" || dep == "database/sql" || strings.HasPrefix(dep, "github.com/a-h/templ"):
				t.Errorf("%s depends on %s", pkg, dep)
			case dep == "marginlab/ml/eval" && pkg != "marginlab/ml/study" && pkg != "marginlab/ml/repeat", dep == "marginlab/ml/study" && pkg != "marginlab/ml/repeat":
				t.Errorf("%s depends on %s, which lies above", pkg, dep)
			case own && !strings.HasPrefix(dep, "marginlab/ml"):
				t.Errorf("%s depends on %s, which lies above", pkg, dep)
			case dep == "marginlab/ml" && !slices.Contains(judges, pkg):
				t.Errorf("%s depends on the facade", pkg)
			case own && (pkg == "marginlab/ml/param" || pkg == "marginlab/ml/lists" || pkg == "marginlab/ml/pace" || pkg == "marginlab/ml/trace" && dep != "marginlab/ml/pace"):
				t.Errorf("the leaf %s depends on %s", pkg, dep)
			case own && pkg == "marginlab/ml/rows" && dep != "marginlab/ml/simd":
				t.Errorf("%s, which solvers share, depends on %s", pkg, dep)
			case dep == "marginlab/ml/kernel" && slices.Contains(solvers, pkg):
				t.Errorf("%s depends on %s: solvers see numbers, not kernels", pkg, dep)
			}
		}
	}
	for _, pkg := range append(solvers, "marginlab/ml", "marginlab/ml/rows", "marginlab/ml/param", "marginlab/ml/trace") {
		require.Check(t, seen[pkg], "%s was not looked at", pkg)
	}
}

// TestOneKindIsNamed keeps the facade ignorant of what objects there are beside vectors:
// a kind is a file of ml/dataset, and the kernels that take it.
func TestOneKindIsNamed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.Must(t, err == nil && len(files) != 0, "%v", err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := require.Value(os.ReadFile(file))(t)
		for word := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			require.Check(t, (!strings.HasPrefix(word, "Kind") || word == "Kind" || word == "KindVectors") && word != "Precomputed" && word != "Strings",
				"%s names %s", file, word)
		}
	}
}
