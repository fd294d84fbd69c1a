package teach_test

import (
	"fmt"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
	"marginlab/store/storetest"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

// crowded returns the teacher and the code of a course with n hand-ins, of which number i has a test
// accuracy of i / n. Further statements are executed with the code.
func crowded(t *testing.T, n int, statements ...string) (c *handlerstest.Client, code string) {
	t.Helper()
	s := handlerstest.Serve(t, true)
	c = s.Browse(t, handlerstest.Alice)
	code = c.Course("/lab?data=moons", "")
	c.Follow(c.Train(`{"dataset":"moons","spec":{"test_fraction":0.3},"name":"mine"}`))
	for _, statement := range append([]string{
		fmt.Sprintf(`WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < %d)
			INSERT INTO runs (id, workspace, name, note, tags, dataset_name, hash, spec, axes, status, report, course, created, started, finished)
			SELECT 'copy' || value, 'course ' || ?1, 'student ' || value, '', '[]', dataset_name, hash, spec, axes, status, json_set(report, '$.test_accuracy', value / %[1]d.0), ?1, created + value, started, finished
			FROM n JOIN runs ON name = 'mine'`, n),
		`INSERT INTO handins (run, course, workspace, source, name, number) SELECT id, ?1, 'ws ' || id, id, name, 1 FROM runs WHERE workspace = 'course ' || ?1`,
	}, statements...) {
		storetest.Exec(t, s.App.Store.Path(), statement, code)
	}
	return c, code
}

// TestGalleryPages: a gallery of more than a page says which part it shows and leads to the others, in the
// same order; its file has all of them.
func TestGalleryPages(t *testing.T) {
	t.Parallel()
	c, code := crowded(t, 130)
	first := c.Page(200, "/courses/"+code)
	require.Says(t, first.Find("nav.pages").Text(), "1–100 of 130", "pages")
	names := handlerstest.Texts(first.Find("table.gallery tbody th a"))
	require.Check(t, len(names) == 100 && names[0] == "student 130" && names[99] == "student 31",
		"%d rows, from %q to %q", len(names), names[0], names[len(names)-1])
	next, _ := first.Find("nav.pages a[rel=next]").Attr("href")
	second := c.Page(200, strings.TrimSuffix(next, "#gallery"))
	names = handlerstest.Texts(second.Find("table.gallery tbody th a"))
	require.Check(t, len(names) == 30 && names[0] == "student 30" && names[29] == "student 1", "second page: %q", names)
	require.Check(t, second.Find("nav.pages a[rel=next]").Length() == 0 && second.Find("nav.pages a[rel=prev]").Length() == 1,
		"the links of the last page")
	file := string(c.Want(200, "GET", "/courses/"+code+"/handins.csv", "").Body)
	n := strings.Count(file, "\n")
	require.Check(t, n == 131 && strings.Contains(file, fmt.Sprintf("student %d,", 130)), "%d lines", n)
}
