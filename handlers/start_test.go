package handlers_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// What a package makes when the program starts, every command pays for, marginlab --help as well.
// Expressions, lessons, templates and tables are made when they are first used.
func TestStartMakesLittle(t *testing.T) {
	t.Parallel()
	const most = 300 // allocations of a package
	cmd := exec.CommandContext(t.Context(), require.Value(os.Executable())(t), "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	require.Must(t, err == nil, "%v: %s", err, trace)
	packages := 0
	for _, m := range regexp.MustCompile(`(?m)^init (marginlab/\S+) .* (\d+) allocs$`).FindAllStringSubmatch(string(trace), -1) {
		n := require.Value(strconv.Atoi(m[2]))(t)
		if packages++; n > most && !strings.HasSuffix(m[1], "_test") {
			t.Errorf("%s makes %d allocations at the start, of at most %d: see GODEBUG=inittrace=1", m[1], n, most)
		}
	}
	require.Check(t, packages > 10, "%d packages in\n%s", packages, trace)
}
