package cmdline_test

import (
	"os/exec"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// The notices name every module that is linked into the program, in its version.
func TestLicenses(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "marginlab")
	out := require.Value(list.Output())(t)
	text := must(t, "licenses")
	for module := range strings.Lines(string(out)) {
		module = strings.TrimSpace(module)
		require.Check(t, module == "" || strings.Contains(text, "\n======== "+module+"\n"), "no %s: run .ci/notices and commit its result", module)
	}
}
