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
		if module = strings.TrimSpace(module); module != "" && !strings.Contains(text, "\n======== "+module+"\n") {
			t.Errorf("no %s: run .ci/notices and commit its result", module)
		}
	}
}
