package runs_test

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// rowsOf are the names in the list of runs, in its order.
func rowsOf(doc *goquery.Document) (names []string) {
	for _, row := range doc.Find(".runs tbody tr:not(.group) th > a.cut").EachIter() {
		names = append(names, row.Text())
	}
	return names
}

// TestRunsTable filters, sorts, groups, pins, chooses columns and exports the list of runs
// through the page and the interface for programs.
func TestRunsTable(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	ids := map[string]string{}
	for i, kernel := range []string{"rbf", "linear"} {
		for _, C := range []string{"0.1", "10"} {
			name := fmt.Sprintf("%s %s", kernel, C)
			ids[name] = c.Train(fmt.Sprintf(`{"dataset":"moons","name":%q,"spec":{"kernel":%q,"C":%s,"test_fraction":0.3},"tags":["k%d"]}`, name, kernel, C, i))
		}
	}
	for _, id := range ids {
		c.Follow(id)
	}
	list := func(query string) []string { return rowsOf(b.Page(200, "/runs?"+query)) }
	for query, want := range map[string]string{
		"where=" + url.QueryEscape("C > 1 and kernel = rbf"):       "rbf 10",
		"where=" + url.QueryEscape("not (C > 1) and tag = k1"):     "linear 0.1",
		"where=accuracy+%3E%3D+0%25&sort=name":                     "linear 0.1,linear 10,rbf 0.1,rbf 10",
		"sort=C&desc=1&where=kernel+%3D+linear":                    "linear 10,linear 0.1",
		"where=nothing":                                            "",
		"group=kernel":                                             "",
		"group=kernel&open=rbf&sort=name":                          "rbf 0.1,rbf 10",
		"base=" + ids["rbf 0.1"] + "&sort=name&where=kernel%3Drbf": "rbf 0.1,rbf 10",
		"base=gone&where=rbf&sort=name":                            "rbf 0.1,rbf 10",
	} {
		require.Equal(t, strings.Join(list(query), ","), want, "%s", query)
	}

	// The error is marked; the field keeps the typed text.
	wrong := b.Page(422, "/runs?where="+url.QueryEscape("C > 1 and gama < 2"))
	at, say := wrong.Find("pre.place").Text(), wrong.Find("#f-where-error").Text()
	require.Check(t, strings.HasSuffix(at, "\n          ^") && strings.Contains(say, "did you mean gamma?"), "the place %q and %q", at, say)
	v, _ := wrong.Find("#f-where").Attr("value")
	require.Check(t, v == "C > 1 and gama < 2", "the filter is %q", v)
	if all := b.Page(200, "/runs").Find("table.runs tbody tr").Length(); all == 0 || wrong.Find("table.runs tbody tr").Length() != all {
		t.Errorf("a filter that is wrong leaves %d of %d runs in sight", wrong.Find("table.runs tbody tr").Length(), all)
	}
	none := b.Page(422, "/compare")
	require.Check(t, none.Find(`main a[href="/runs"]`).Length() != 0, "a comparison of nothing leads to no runs")
	c.Want(422, "GET", "/api/runs?where=C%20%3E", "")

	// Groups tell how many and which is best; links of before there was a filter lead to it.
	groups := b.Page(200, "/runs?group=kernel").Find("tr.group")
	require.Check(t, groups.Length() == 2 && strings.Contains(groups.Text(), "2 runs") && strings.Contains(groups.Text(), "best accuracy"),
		"groups %q", groups.Text())
	require.Slices(t, list("kernel=rbf&q=10&status=done"), []string{"rbf 10"}, "an old link shows")

	// Against the baseline: the same number tells nothing, C is 9.9 more.
	cells := b.Page(200, "/runs?cols=C,kernel&where=C%3D10&base="+ids["rbf 0.1"]).Find(".runs .exceeds").Text()
	require.Check(t, strings.Join(strings.Fields(cells), " ") == "+9.9 +9.9", "differences %q", cells)

	// Columns stay as placed, also on the next visit, and the file has them.
	first := func() string {
		var heads []string
		for _, th := range b.Page(200, "/runs").Find(".runs thead th[data-column]").EachIter() {
			name, _ := th.Attr("data-column")
			heads = append(heads, name)
		}
		return strings.Join(heads, ",")
	}
	was := first()
	b.Page(200, "/runs?cols=gamma,C&keep=1")
	b.Page(200, "/runs?cols=gamma,C&add=test_auc")
	require.Equal(t, first(), "name,gamma,C,test_auc", "columns, after %q", was)
	b.Page(422, "/runs?cols=gamma,colour")
	file, err := csv.NewReader(strings.NewReader(string(b.Want(200, "GET", "/runs.csv?where=kernel%3Drbf&sort=C", "").Body))).ReadAll()
	require.Check(t, err == nil && len(file) == 3 && strings.Join(file[0], ",") == "id,name,gamma,C,test_auc" && file[1][3] == "0.1" && file[2][1] == "rbf 10",
		"the file: %q, %v", file, err)
	whole, _, _ := strings.Cut(string(c.Want(200, "GET", "/api/runs.csv", "").Body), "\n")
	for _, name := range []string{"gamma", "rho", "seed", "data_hash", "test_accuracy", "note"} {
		require.Check(t, slices.Contains(strings.Split(whole, ","), name), "no column %s in %s", name, whole)
	}
	got := c.Want(200, "GET", "/api/runs.csv?where=C%3E1&cols=C", "").Body
	require.Check(t, strings.Count(string(got), "\n") == 3, "the file of programs: %q", got)

	// Many at once.
	b.Send(200, "/runs/tag", url.Values{"run": {ids["rbf 10"], ids["linear 10"], ids["rbf 10"]}, "tags": {"large, k0"}}.Encode())
	b.Send(200, "/runs/tag", url.Values{"all": {"1"}, "where": {"tag = k0"}, "tags": {"k0"}, "off": {"1"}}.Encode())
	c.Want(200, "POST", "/api/runs/tags", `{"where":"tag = large and kernel = rbf","add":["best"],"remove":["large"]}`)
	c.Want(422, "POST", "/api/runs/tags", `{"add":["best"]}`)
	c.Want(404, "POST", "/api/runs/tags", `{"runs":["gone"],"add":["best"]}`)
	for where, want := range map[string]int{"tag = large": 1, "tag = k0": 0, "tag = best": 1, "tag = k1": 2, "tag = none": 1} {
		got := handlerstest.Decode[struct{ Runs []api.Run }](c.Want(200, "GET", "/api/runs?where="+url.QueryEscape(where), "")).Runs
		require.Check(t, len(got) == want, "%s: %d runs, want %d", where, len(got), want)
	}
	filtered := "/runs?sort=C&where=kernel+%3D+rbf"
	gone := b.Send(200, "/runs/delete", url.Values{"all": {"1"}, "where": {"kernel = rbf"}, "back": {filtered}}.Encode()).HTML()
	from, _ := gone.Find(`form.undo [name="back"]`).Attr("value")
	require.Check(t, from == filtered, "what was deleted from %q comes back to %q", filtered, from)
	undo, _ := gone.Find("form.undo").Attr("action")
	where, _ := b.Send(200, undo, url.Values{"back": {filtered}}.Encode()).HTML().Find("#f-where").Attr("value")
	require.Check(t, where == "kernel = rbf", "after Undo the list has the filter %q", where)
	b.Send(200, "/runs/delete", url.Values{"all": {"1"}, "where": {"kernel = rbf"}, "back": {"//elsewhere"}}.Encode())
	c.Want(200, "POST", "/api/runs/delete", `{"where":"C = 10"}`)
	require.Slices(t, list("cols=C"), []string{"linear 0.1"}, "left")
}

// TestDeletedComesBack: a list offers to undo what was deleted from it, the page of all
// that was deleted lately does so later, and programs do it too.
func TestDeletedComesBack(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, false, dataset.DefaultLimits)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	set := c.Upload("name=mine", "a,b,class\n0,0,x\n1,1,y\n0,1,x\n1,0,y\n").ID
	run := c.Train(`{"name":"kept","dataset":"` + set + `","spec":{}}`)

	there := func() (n int) {
		for _, path := range []string{"/datasets/" + set, "/runs/" + run} {
			if b.Do("GET", path, "").Status == 200 {
				n++
			}
		}
		return n
	}
	for _, path := range []string{"/runs/" + run, "/datasets/" + set} {
		page := b.Send(200, path+"/delete", "").HTML()
		note := page.Find("form.undo")
		require.Must(t, there() == 1 && strings.Contains(note.Text(), "Deleted: 1 "),
			"after %s is deleted: %q", path, page.Find("main").Text())
		undo, _ := note.Attr("action")
		b.Send(200, undo, "")
		require.Check(t, there() == 2, "%s did not come back", path)
	}

	c.Want(204, "DELETE", "/api/runs/"+run, "")
	c.Want(204, "DELETE", "/api/datasets/"+set, "")
	rows := b.Page(200, "/deleted").Find("tbody tr")
	require.Check(t, rows.Length() == 2, "recently deleted: %q", rows.Text())
	list := handlerstest.Decode[struct{ Deleted []api.Deletion }](c.Want(200, "GET", "/api/deleted", "")).Deleted
	require.Must(t, len(list) == 2 && list[0].Datasets == 1 && list[1].Runs == 1 && list[1].Names[0] == "kept",
		"deleted: %+v", list)
	s.Browse(t, handlerstest.Bob).Send(404, "/deleted/"+list[1].ID, "")
	for _, d := range list {
		c.Want(200, "POST", "/api/deleted/"+d.ID+"/restore", "")
		c.Want(404, "POST", "/api/deleted/"+d.ID+"/restore", "")
	}
	require.Check(t, there() == 2, "not all came back")
}
