package handlers

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// shared are the packages that those of a purpose share.
const shared = "handlers/frame handlers/pictures handlers/results handlers/background handlers/limiter web/cache "

// arrows lists the packages of our own that each package may import directly: main > handlers >
// web, views, store > ml > leaves. A name that ends in / stands for every package
// below it, on the left for those without a row of their own.
var arrows = map[string]string{
	"":                 "handlers handlers/cmdline web web/jobs web/jobs/fleet static store ml/",
	"handlers":         "handlers/ web web/jobs store views views/home views/manual ml/",
	"handlers/lab":     shared + "web store views views/lab views/figure ml ml/",
	"handlers/data":    shared + "web store views views/data views/figure ml/",
	"handlers/runs":    shared + "web web/jobs store views views/runs views/figure ml ml/",
	"handlers/studies": shared + "web web/jobs store views views/studies views/figure ml ml/",
	"handlers/reports": shared + "web store views views/reports views/lessons ml/",
	"handlers/teach":   shared + "web store views views/teach views/lessons views/lessons/ views/figure ml ml/",
	"handlers/lessons": shared + "web store views views/lessons views/lessons/ views/figure ml/",
	"handlers/api":     shared + "web store views/api views/manual ml ml/",
	"handlers/cmdline": "web/jobs/fleet store views/figure views/manual ml ml/",
	"handlers/browser": "",

	"handlers/frame":      "handlers/pictures handlers/results handlers/background handlers/limiter web/cache web web/jobs store views ml ml/",
	"handlers/pictures":   "handlers/results handlers/limiter web/cache web store views views/figure ml ml/",
	"handlers/background": "handlers/results handlers/limiter web/cache web web/jobs store views ml ml/",
	"handlers/results":    "store views ml ml/",
	"handlers/limiter":    "web store ml/dataset ml/pace",

	"handlers/handlerstest": "handlers handlers/api static store store/storetest web web/jobs ml ml/",

	"web":               "ml/param",
	"web/cache":         "",
	"web/jobs":          "web/cache store ml ml/",
	"web/jobs/fleet":    "web web/cache web/jobs store ml/",
	"views":             "views/formula ml/param",
	"views/home":        "views views/data views/runs views/teach",
	"views/lab":         "views",
	"views/data":        "views",
	"views/runs":        "views",
	"views/studies":     "views",
	"views/reports":     "views",
	"views/teach":       "views",
	"views/api":         "views",
	"views/formula":     "",
	"views/manual":      "",
	"views/figure":      "ml ml/",
	"views/lessons":     "views views/figure views/formula ml ml/",
	"views/lessons/":    "views/lessons views views/figure ml ml/",
	"views/lessons/all": "views/lessons views/lessons/",
	"static":            "",
	"store":             "migrations ml ml/",
	"store/storetest":   "ml/mltest/",
	"migrations":        "",

	"ml":            "ml/",
	"ml/bench":      "ml ml/",
	"ml/eval":       "ml ml/",
	"ml/study":      "ml ml/",
	"ml/repeat":     "ml ml/",
	"ml/export":     "ml ml/dataset ml/kernel ml/param ml/lists",
	"ml/svm":        "ml/rows ml/dense ml/trace ml/param ml/lists",
	"ml/mcm":        "ml/dense ml/pace ml/trace ml/param ml/lists",
	"ml/ridge":      "ml/dense ml/pace ml/trace ml/param",
	"ml/multiclass": "ml/rows ml/dense ml/trace ml/param ml/lists",
	"ml/conformal":  "ml/dense ml/pace ml/param ml/lists",
	"ml/stepwise":   "ml/",
	"ml/theory":     "ml/",
	"ml/kernel":     "ml/dataset ml/dense ml/mixture ml/rows ml/simd ml/pace ml/trace ml/param ml/lists",
	"ml/mixture":    "ml/trace ml/param",
	"ml/dataset":    "ml/dense ml/param ml/lists",
	"ml/dense":      "ml/pace ml/simd",
	"ml/rows":       "ml/simd",
	"ml/param":      "",
	"ml/lists":      "",
	"ml/simd":       "",
	"ml/trace":      "ml/pace",
	"ml/pace":       "",
	"ml/mltest":     "ml/dataset ml/mltest/",
	"ml/mltest/":    "",
}

// TestArrowsRunDownwards keeps the packages apart. A package that the table does not
// know has no place yet. None uses text/template: as it calls methods by name, the linker keeps
// all exported ones, a tenth of the binary and of its start.
func TestArrowsRunDownwards(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}: {{join .Imports " "}}{{end}}`, "marginlab/...").Output()
	require.Must(t, err == nil, "go list: %v", err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		pkg, ok := ours(path)
		if !ok {
			continue
		}
		row, ok := rowOf(pkg)
		if !ok {
			t.Errorf("%s is in no row of the table", path)
			continue
		}
		seen[row] = true
		for path := range strings.FieldsSeq(imports) {
			dep, ok := ours(path)
			require.Check(t, !ok || allows(arrows[row], dep), "%s imports %s", pkg, dep)
			require.Check(t, path != "text/template" && path != "html/template", "%s imports %s", pkg, path)
		}
	}
	guide := require.Value(os.ReadFile("../.github/CONTRIBUTING.md"))(t)
	for row := range arrows {
		require.Check(t, row == "" || strings.Contains(string(guide), "`"+strings.TrimSuffix(row, "/")+"`"),
			".github/CONTRIBUTING.md does not say what %s is", row)
		require.Check(t, seen[row] || strings.HasSuffix(row, "/"), "there is no package %s any more", row)
	}
}

// ours is the path below the module's own name.
func ours(path string) (string, bool) {
	if path == "marginlab" {
		return "", true
	}
	return strings.CutPrefix(path, "marginlab/")
}

// rowOf finds the row of a package.
func rowOf(pkg string) (string, bool) {
	if _, ok := arrows[pkg]; ok {
		return pkg, true
	}
	above := pkg[:strings.LastIndex(pkg, "/")+1]
	_, ok := arrows[above]
	return above, ok && above != ""
}

func allows(row, dep string) bool {
	for r := range strings.FieldsSeq(row) {
		if dep == r || strings.HasSuffix(r, "/") && strings.HasPrefix(dep, r) {
			return true
		}
	}
	return false
}

// A package that nobody has placed must not pass.
func TestArrowsKnowEveryPackage(t *testing.T) {
	t.Parallel()
	for pkg, want := range map[string]bool{"handlers/utils": false, "ml/new": false, "new": false, "views/lessons/mercer": true, "views/lessons/mercer/deep": false, "ml/svm": true} {
		_, ok := rowOf(pkg)
		require.Check(t, ok == want, "%s: known %v", pkg, ok)
	}
	for row, deps := range map[string]map[string]bool{
		"views/lessons":  {"views/figure": true, "views/lessons/all": false},
		"views/lessons/": {"views/lessons": true, "views": true, "ml/svm": true, "views/lessons/other": false, "store": false, "handlers/lessons": false},
		"handlers/lab":   {"handlers/frame": true, "handlers/runs": false, "views/lab": true, "views/runs": false, "web/jobs": false},
	} {
		for dep, want := range deps {
			require.Check(t, allows(arrows[row], dep) == want, "%s may import %s: %v", row, dep, !want)
		}
	}
}
