package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"marginlab/ml/mltest/require"
)

// The metrics of the program itself are those that the manual lists, as Prometheus wants them, and
// a worker that has left is not counted.
func TestMetricsOfTheProgram(t *testing.T) {
	t.Parallel()
	s := start(t, "--nats-listen", "127.0.0.1:0", "--backup-dir", filepath.Join(t.TempDir(), "backups"))
	c := s.client()
	run := c.post(t, "/runs", "data=moons&C=2")
	for !strings.Contains(c.get(t, run).body, "accuracy") { // asks until it is trained
		require.Must(t, t.Context().Err() == nil, "the run is not trained")
	}
	metrics := func() string {
		t.Helper()
		return c.get(t, "/metrics").body
	}
	text := metrics()
	own, _, _ := strings.Cut(text, "\ngo_")
	faults, err := promlint.New(strings.NewReader(own + "\n")).Lint() // the rules of promtool check metrics
	require.Check(t, err == nil && len(faults) <= 0, "Prometheus objects: %v, %v", faults, err)
	manual := require.Value(os.ReadFile("../../views/manual/server.md"))(t)
	_, list, _ := strings.Cut(string(manual), "\n## Metrics\n")
	list, rules, _ := strings.Cut(list, "[A dashboard")
	rules, _, _ = strings.Cut(rules, "\n## ")
	dashboard := c.get(t, "/manual/dashboard.json").body
	panels := require.JSON[struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}](t, dashboard)
	require.Check(t, len(panels.Panels) >= 10, "%d panels", len(panels.Panels))
	for _, p := range panels.Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`\b(marginlab|process|go)_\w+`).FindAllString(target.Expr, -1) {
				require.Check(t, strings.Contains(text, "\n"+name),
					"the dashboard asks for %s, which is not there", name)
			}
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(list, -1) {
		if m[1] == "marginlab_" {
			continue
		}
		named["marginlab_"+m[1]] = true
		require.Check(t, strings.Contains(text, "\n# TYPE marginlab_"+m[1]+" "), "the manual lists %s, which is not there", m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (marginlab_\w+) `).FindAllStringSubmatch(text, -1) {
		require.Check(t, named[m[1]], "the manual does not list %s", m[1])
	}
	used := regexp.MustCompile(`marginlab_\w+`).FindAllString(rules, -1)
	for _, name := range used {
		require.Check(t, named[name], "a rule asks for %s, which is not there", name)
	}
	require.Check(t, len(named) >= 12 && len(used) >= 5, "%d metrics, %d in rules", len(named), len(used))
	for _, lane := range []string{"light", "medium", "heavy"} {
		for _, name := range []string{"waiting", "running"} {
			line := "marginlab_work_" + name + `{lane="` + lane + `"} `
			require.Check(t, strings.Contains(text, line), "no %s", line)
		}
	}

	workers := func(want string) {
		t.Helper()
		limit := time.Now().Add(time.Minute)
		for !strings.Contains(metrics(), "\nmarginlab_workers "+want+"\n") {
			require.Must(t, !time.Now().After(limit), "not %s workers", want)
		}
	}
	workers("0")
	one := hire(t, s.help...)
	workers("1")
	one.stop()
	workers("0")
}
