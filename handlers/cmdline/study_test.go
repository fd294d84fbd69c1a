package cmdline_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/study"
)

// smallStudy is a study of a file beside it, and the folder of both.
func smallStudy(t *testing.T) (dir, path string) {
	t.Helper()
	_, points := moons(t, 60)
	path = filepath.Join(filepath.Dir(points), "small.toml")
	const text = `
[scheme]
folds = 3
[data.own]
file = "moons.csv"
[data.xor]
generator = "xor"
n = 40
[learner.SVM]
C = [1, 10]
[learner.MCM]
learner = "mcm"
`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return filepath.Dir(path), path
}

// without takes the times out of what study --json prints.
func without(t *testing.T, text string) study.Result {
	t.Helper()
	var r study.Result
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&r), "%s", text)
	for _, set := range r.Sets {
		for j := range set.Outcomes {
			set.Outcomes[j].Seconds = 0
		}
	}
	return r
}

func TestStudy(t *testing.T) {
	t.Parallel()
	dir, path := smallStudy(t)
	out := filepath.Join(dir, "new", "out")
	text := must(t, "study", path, "--out-dir", out)
	for _, want := range []string{"Accuracy in %", "Support vectors", "Training time in ms", "Mean rank", "Accuracy against SVM"} {
		require.Check(t, strings.Contains(text, want), "no %q in\n%s", want, text)
	}
	// Every form is what is in the folder, and there is nothing left to compute.
	for flag, file := range map[string]string{"--csv": "results.csv", "--markdown": "tables.md", "--latex": "tables.tex", "--json": "results.json"} {
		before := require.Value(os.ReadFile(filepath.Join(out, file)))(t)
		diff := cmp.Diff(string(before), must(t, "study", path, "--out-dir", out, flag))
		require.Equal(t, diff, "", "%s", flag) // times as well
	}
	for _, file := range []string{"accuracy.svg", "support-vectors.svg"} {
		picture, err := os.ReadFile(filepath.Join(out, file))
		require.Check(t, err == nil && strings.Contains(string(picture), "SVM"), "%s: %v", file, err)
	}
	// The study that was written gives the same, from its own folder.
	again := must(t, "study", filepath.Join(out, "study.toml"), "--json")
	kept := must(t, "study", path, "--out-dir", out, "--json")
	a, b := without(t, kept), without(t, again)
	require.Check(t, strings.Contains(a.Study, "sha256 = \""+a.Sets[0].SHA256) && a.Version != "", "%s", a.Study)
	a.Study, b.Study = "", ""
	diff := cmp.Diff(a.Sets, b.Sets)
	require.Check(t, diff == "" && len(a.Sets) == 2, "%v", diff)
	// One more set, and other data than those of the study.
	_, points := moons(t, 30)
	rows, err := csv.NewReader(strings.NewReader(must(t, "study", path, "--data", points, "--csv"))).ReadAll()
	require.Check(t, err == nil && len(rows) == 7 && rows[5][0] == "moons" && rows[5][2] == "30", "%v: %q", err, rows)
	require.NoError(t, os.Rename(points, filepath.Join(dir, "moons.csv")))
	fails(t, 1, "data set own: the objects have the SHA-256", "study", filepath.Join(out, "study.toml"))
}

// TestStudyGoesOn goes on with what an interruption left, the last line of which was cut.
func TestStudyGoesOn(t *testing.T) {
	t.Parallel()
	_, path := smallStudy(t)
	out := filepath.Join(t.TempDir(), "out")
	want := without(t, must(t, "study", path, "--out-dir", out, "--json"))
	all, err := os.ReadFile(filepath.Join(out, "cells.jsonl"))
	lines := strings.SplitAfter(string(all), "\n")
	require.Must(t, err == nil && len(lines) == 31, "%v: %d lines", err, len(lines))
	left := strings.Join(lines[:10], "") + lines[10][:20]
	require.NoError(t, os.WriteFile(filepath.Join(out, "cells.jsonl"), []byte(left), 0o600))
	require.Equal(t, cmp.Diff(want.Sets, without(t, must(t, "study", path, "--out-dir", out, "--json")).Sets), "", "diff")
	cells, err := os.ReadFile(filepath.Join(out, "cells.jsonl"))
	require.Check(t, err == nil && strings.Count(string(cells), "\n") == 30 && strings.HasPrefix(string(cells), strings.Join(lines[:10], "")),
		"%v: %d lines", err, strings.Count(string(cells), "\n"))
	require.NoError(t, os.WriteFile(filepath.Join(out, "cells.jsonl"), []byte("{}\nx\n"), 0o600))
	fails(t, 1, "cells.jsonl, line 2: expected the result of a cell", "study", path, "--out-dir", out)
}

// TestStudyInterrupted tells what an interruption leaves.
func TestStudyInterrupted(t *testing.T) {
	t.Parallel()
	ctx := mltest.Ended()
	out := t.TempDir()
	for said, args := range map[string][]string{
		"nothing was kept; use --out-dir to keep finished cells":                         {"study", "lecture"},
		"0 of 9600 cells are kept in " + out + "; the same command continues from there": {"study", "lecture", "--out-dir", out},
	} {
		if o := run(ctx, "", args...); o.code != 1 || o.err != "marginlab study: interrupted: "+said+"\n" || o.out != "" {
			t.Errorf("exit %d: %s%s, want %s", o.code, o.out, o.err, said)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "study.toml"))
	require.Check(t, err == nil && strings.Contains(string(text), "sha256"), "%v: %s", err, text)
}
