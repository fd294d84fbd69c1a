//go:build load

package teach_test

import (
	"database/sql"
	"net/http"
	"testing"
	"time"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// TestLargeGallery measures the pages of a course with 20 000 hand-ins, and how soon the first bytes of
// its files come.
func TestLargeGallery(t *testing.T) {
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.Browse(t, handlerstest.Alice)
	code := c.Course("/lab?data=moons", "")
	c.Follow(c.Train(`{"dataset":"moons","spec":{"test_fraction":0.3},"name":"mine"}`))
	db := require.Value(sql.Open("sqlite3", s.App.Store.Path()))(t)
	defer db.Close()
	for _, statement := range []string{
		`WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000)
			INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, course, created, started, finished)
			SELECT 'copy' || value, 'course ' || ?1, 'student ' || value, '', '[]', dataset_name, hash, spec, axes, status, json_set(report, '$.test_accuracy', (value % 997) / 997.0), ?1, created + value, started, finished
			FROM n JOIN runs ON name = 'mine'`,
		`INSERT INTO handins (run, course, workspace, source, name, number) SELECT id, ?1, 'ws ' || id, id, name, 1 FROM runs WHERE workspace = 'course ' || ?1`,
		`WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 4900)
			INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, created, started, finished)
			SELECT 'run' || value, workspace, 'run ' || value, '', '[]', dataset_name, hash, spec, axes, status, report, created + value, started, finished FROM n JOIN runs ON name = 'mine' WHERE ?1 <> ''`,
	} {
		require.Value(db.Exec(statement, code))(t)
	}
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
