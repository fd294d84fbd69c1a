package cmdline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
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
		if err != nil {
			t.Errorf("%q: %v", args, err)
		}
		var got []string
		for line := range strings.Lines(out) {
			var one struct{ Msg string }
			if len(args) == 4 {
				if err := json.Unmarshal([]byte(line), &one); err != nil {
					t.Errorf("%q: %v", line, err)
				}
			} else {
				_, rest, _ := strings.Cut(line, "msg=")
				one.Msg, _, _ = strings.Cut(rest, " ")
			}
			got = append(got, one.Msg)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q writes %q, want %q", args, got, want)
		}
	}
	for _, bad := range [][]string{{"--log-level", "loud"}, {"--log-format", "xml"}} {
		if _, err := written(bad...); err == nil || !strings.Contains(err.Error(), bad[1]) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
