//go:build load

package teach_test

import (
	"net/http"
	"testing"
	"time"

	"marginlab/ml/mltest/require"
)

// TestLargeGallery measures the pages of a course with 20 000 hand-ins, and how soon the first bytes of
// its files come.
func TestLargeGallery(t *testing.T) {
	c, code := crowded(t, 20_000, `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 4900)
		INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, created, started, finished)
		SELECT 'run' || value, workspace, 'run ' || value, '', '[]', dataset_name, hash, spec, axes, status, report, created + value, started, finished FROM n JOIN runs ON name = 'mine' WHERE ?1 <> ''`)
	for _, path := range []string{
		"/courses/" + code, "/courses/" + code + "?page=150", "/courses/" + code + "?sort=created", "/courses/" + code + "?sort=support_vectors&desc=1", "/courses/" + code + "/answers",
		"/courses/" + code + "/handins.csv", "/courses/" + code + "/answers.csv", "/runs.csv", "/runs", "/runs?sort=test_accuracy&desc=1",
	} {
		for range 2 {
			begin := time.Now()
			res := c.Open(t.Context(), "GET", path, nil)
			first := make([]byte, 1)
			_, _ = res.Body.Read(first)
			toFirst := time.Since(begin)
			n := int64(1)
			buf := make([]byte, 1<<16)
			for {
				m, err := res.Body.Read(buf)
				n += int64(m)
				if err != nil {
					break
				}
			}
			res.Body.Close()
			t.Logf("%-45s %d: first byte %v, all %d bytes %v", path, res.StatusCode, toFirst.Round(time.Millisecond), n, time.Since(begin).Round(time.Millisecond))
			require.Check(t, res.StatusCode == http.StatusOK && toFirst <= 300*time.Millisecond,
				"%s: %d after %v", path, res.StatusCode, toFirst)
		}
	}
}
