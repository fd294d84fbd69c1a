package browser

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// TestSecondServerIsRefused starts the program twice on one data directory: the second says
// who holds it and what to do. One that was killed holds nothing.
func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	said, err := exec.CommandContext(t.Context(), binary, "serve", "--addr", "127.0.0.1:0", "--data-dir", s.dir).CombinedOutput()
	var exit *exec.ExitError
	require.Check(t, errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Count(string(said), "\n") == 1, "%v: %s", err, said)
	for _, want := range []string{s.dir, s.url, "marginlab serve", "stop it first", "--data-dir"} {
		require.Check(t, strings.Contains(string(said), want), "%s does not say %q", said, want)
	}
	s.kill()
	s.restart()
}
