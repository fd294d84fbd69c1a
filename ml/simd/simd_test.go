package simd_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
	"marginlab/ml/simd"
)

func TestParse(t *testing.T) {
	t.Parallel()
	has := simd.Levels()
	require.Must(t, len(has) != 0 && has[0] == simd.Plain, "levels %v", has)
	for _, l := range has {
		got, err := simd.Parse(l.String())
		require.Check(t, err == nil && got == l, "%s: %s, %v", l, got, err)
	}
	best := has[len(has)-1]
	l, err := simd.Parse("")
	require.Check(t, err == nil && l == best, "no name: %s, %v; want %s", l, err, best)
	if l, err := simd.Parse("sse"); err == nil || !strings.Contains(err.Error(), `MARGINLAB_SIMD is "sse"; use plain`) || l != best {
		t.Errorf("sse: %s, %v", l, err)
	}
	for _, l := range []simd.Level{simd.AVX2, simd.AVX512} {
		_, err := simd.Parse(l.String())
		require.Check(t, (err == nil) == (l <= best), "%s on a machine with %s: %v", l, best, err)
	}
}

// TestVariable reruns this test with each level in the environment.
func TestVariable(t *testing.T) {
	if want := os.Getenv("SIMD_TEST_EXPECTS"); want != "" {
		l, err := simd.Chosen()
		require.Check(t, err == nil && l.String() == want && simd.Current() == l, "%s, %v; want %s", l, err, want)
		return
	}
	t.Parallel()
	for _, l := range simd.Levels() {
		c := exec.Command(os.Args[0], "-test.run=^TestVariable$")
		c.Env = append(os.Environ(), simd.Variable+"="+l.String(), "SIMD_TEST_EXPECTS="+l.String())
		out, err := c.CombinedOutput()
		require.Check(t, err == nil, "%s: %v\n%s", l, err, out)
	}
}
