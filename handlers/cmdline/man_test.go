package cmdline_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/views/manual"
)

// TestHelpTopic prints pages of the manual as plain text of at most 80 columns but for code,
// without breaks in numbers such as 16 384 and without spaces at the ends of lines.
func TestHelpTopic(t *testing.T) {
	t.Parallel()
	broken := regexp.MustCompile(`\d\n *\d{3}\b| \n`)
	for _, topic := range manual.Topics {
		out := must(t, "help", topic.Slug)
		require.Check(t, strings.HasPrefix(out, strings.ToUpper(topic.Title)+"\n\n") && !strings.Contains(out, "\n\n\n") && !strings.Contains(out, "](") && !broken.MatchString(out),
			"help %s:\n%s", topic.Slug, out)
		for line := range strings.Lines(out) {
			require.Check(t, strings.HasPrefix(line, "    ") || strings.Contains(line, "  ") || len([]rune(line)) <= 81,
				"help %s has a long line: %s", topic.Slug, line)
		}
	}
	fails(t, 2, `no command "studeis" (did you mean studies?)`, "help", "studeis")
}

// TestMan writes a page for each command and topic, in which groff finds no fault.
func TestMan(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	must(t, "man", dir)
	pages, err := filepath.Glob(filepath.Join(dir, "marginlab*.[17]"))
	require.Must(t, err == nil && len(pages) >= len(manual.Topics)+10, "%d pages, %v", len(pages), err)
	fit := require.Value(os.ReadFile(filepath.Join(dir, "marginlab-fit.1")))(t)
	for _, want := range []string{".TH \"MARGINLAB\\-FIT\" 1", "\n.SH SYNOPSIS\n.B marginlab\nfit ", "\n.TP\n\\fB\\-\\-data FILE\\fP\n"} {
		require.Check(t, bytes.Contains(fit, []byte(want)), "marginlab-fit.1 lacks %q:\n%s", want, fit)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	for _, page := range pages {
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tascii", page)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		out, err := cmd.CombinedOutput()
		require.Check(t, err == nil, "%s: %v\n%s", filepath.Base(page), err, out)
	}
}

// TestManualCommands checks every command line in the README and the manual: there is such a
// command, and it has the flags.
func TestManualCommands(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	texts["README.md"] = string(require.Value(os.ReadFile("../../README.md"))(t))
	for _, topic := range manual.Topics {
		texts[topic.Slug+".md"] = string(topic.Source())
	}
	flag := regexp.MustCompile(` --([a-zA-Z][a-zA-Z0-9-]*)`)
	examples := regexp.MustCompile(`(?m)^ {4,}marginlab ([a-z]+)(.*)$`)
	seen := 0
	for name, text := range texts {
		for _, m := range examples.FindAllStringSubmatch(text, -1) {
			if m[1] == "serve" { // which is the program's, not of this package
				continue
			}
			seen++
			args := []string{m[1], "--help"}
			if word := strings.Fields(m[2]); m[1] == "generate" {
				args = []string{m[1], word[0], "--help"}
			}
			o := run(t.Context(), "", args...)
			require.Check(t, o.code == 0, "%s: marginlab %s%s: %s", name, m[1], m[2], o.err)
			for _, f := range flag.FindAllStringSubmatch(m[2], -1) {
				require.Says(t, o.out, "\n  --"+f[1], "%s: marginlab %s has no flag --%s", name, m[1], f[1])
			}
		}
	}
	require.Check(t, seen >= 15, "%d command lines in the manual; expected more", seen)
}
