package cmdline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

func TestLog(t *testing.T) {
	t.Parallel()
	written := func(args ...string) (string, error) {
		f := NewFlags("try", "Tries.")
		logger := f.Log()
		err := f.Parse(args)
		var out bytes.Buffer
		log := logger(&out)
		log.Debug("small", "n", 1)
		log.Info("usual", "n", 2)
		log.Warn("odd", "n", 3)
		return out.String(), err
	}
	for want, args := range map[string][]string{
		"usual odd":       {},
		"small usual odd": {"--log-level", "debug"},
		"odd":             {"--log-level", "warn", "--log-format", "json"},
		"":                {"--log-level", "ERROR"},
	} {
		out, err := written(args...)
		require.Equal(t, err, nil, "%q", args)
		var got []string
		for line := range strings.Lines(out) {
			var one struct{ Msg string }
			if len(args) == 4 {
				require.Equal(t, json.Unmarshal([]byte(line), &one), nil, "%q", line)
			} else {
				_, rest, _ := strings.Cut(line, "msg=")
				one.Msg, _, _ = strings.Cut(rest, " ")
			}
			got = append(got, one.Msg)
		}
		require.Check(t, strings.Join(got, " ") == want, "%q writes %q, want %q", args, got, want)
	}
	for _, bad := range [][]string{{"--log-level", "loud"}, {"--log-format", "xml"}} {
		require.Fails(t, require.Err(written(bad...)), bad[1], "%q", bad)
	}
}
