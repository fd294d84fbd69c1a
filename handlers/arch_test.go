package handlers

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestArrowsRunDownwards keeps the rooms apart: main > handlers > web, views >
// store > ml. What is below ml has a test there.
func TestArrowsRunDownwards(t *testing.T) {
	t.Parallel()
	// What each room may import of our own, directly; a name ending in / is a prefix.
	may := map[string][]string{
		"marginlab/handlers":         {"web", "web/jobs", "store", "views", "views/", "ml", "ml/"},
		"marginlab/handlers/cmdline": {"views/figure", "ml", "ml/"},
		"marginlab/web":              {"ml/param"},
		"marginlab/web/jobs":         {"store", "ml", "ml/"},
		"marginlab/views":            {"ml/param"},
		"marginlab/views/formula":    {},
		"marginlab/views/lessons":    {"views", "views/", "ml", "ml/"},
		"marginlab/views/figure":     {"ml", "ml/"},
		"marginlab/static":           {},
		"marginlab/store":            {"migrations", "ml", "ml/"},
		"marginlab/migrations":       {},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, "marginlab/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(line, ":")
		rooms, ok := may[pkg]
		if !ok {
			continue
		}
		seen++
		for imp := range strings.FieldsSeq(imports) {
			own, ok := strings.CutPrefix(imp, "marginlab/")
			if ok && !slices.ContainsFunc(rooms, func(r string) bool { return own == r || strings.HasSuffix(r, "/") && strings.HasPrefix(own, r) }) {
				t.Errorf("%s imports %s", pkg, imp)
			}
		}
	}
	if seen != len(may) {
		t.Errorf("saw %d rooms of %d", seen, len(may))
	}
}
