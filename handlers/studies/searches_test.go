package studies_test

import (
	"bufio"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// search begins a search and returns its id.
func search(c *handlerstest.Client, body string) string {
	c.T.Helper()
	return handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches", body)).ID
}

// found is a search once it has ended.
func found(c *handlerstest.Client, id string) api.Search {
	c.T.Helper()
	c.App.Jobs.Wait(c.T.Context(), time.Hour, id)
	return handlerstest.Decode[api.Search](c.Want(200, "GET", "/api/searches/"+id, ""))
}

// A search over HTTP has what one process gets of the same points, its cells come as
// events, and its best becomes a run.
func TestAPISearch(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	a := c.Want(http.StatusAccepted, "POST", "/api/searches", `{"dataset":"moons","spec":{"standardize":false},"grid":{"C":[1,100],"gamma":["auto",2]},"folds":3,"nested":true,"seed":7}`)
	id := handlerstest.Decode[api.RunStatus](a).ID
	require.Equal(t, a.Header.Get("Location"), "/api/searches/"+id, "Location")
	resp := c.Open(t.Context(), "GET", "/api/searches/"+id+"/events", nil)
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	var last handlerstest.Event
	for {
		e, ok := handlerstest.NextEvent(t, events)
		if !ok {
			break
		}
		last = e
		require.Check(t, e.Name != "progress" || strings.Contains(e.Data, `"total":24`), "%+v", e)
	}
	got := found(c, id)
	require.Check(t, last.Name == "status" && last.Data == `{"status":"done"}` && got.Status == store.Done && got.Done == 24 && got.Total == 24,
		"%+v after %+v", got, last)
	d := mltest.Builtin(t, "moons")
	spec := ml.DefaultSpec()
	spec.Standardize = false
	want := require.Value(eval.CrossValidate(t.Context(), d, spec, got.Grid, eval.Scheme{Folds: 3, Repeats: 1, Seed: 7, Nested: true}, nil))(t)
	diff := cmp.Diff(want, &eval.Result{Searched: got.Searched, Score: got.Score, Confusion: got.Confusion, Settings: got.Cells, Best: *got.Best, Nested: got.Nested})
	require.Check(t, diff == "" && *got.OneError == want.WithinOneError() && got.Warning == "", "%s, %+v", diff, got)

	run := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches/"+id+"/runs", `{}`)).ID
	c.App.Jobs.Wait(t.Context(), time.Hour, run)
	saved := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+run, ""))
	for name, v := range want.Settings[want.Best].Values {
		require.Check(t, saved.Spec.Text(name) == v.Text(),
			"the run has %s %s, the best setting %s", name, saved.Spec.Text(name), v.Text())
	}
	require.Check(t, saved.Status == store.Done && saved.Search == id && strings.Contains(saved.Note, "Nested") && !saved.Spec.Standardize,
		"%+v", saved)
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/searches/"+id+"/runs", `{"cell":4}`)

	again := found(c, search(c, `{"dataset":"moons","spec":{"standardize":false},"grid":{"C":[1,100],"gamma":["auto",2]},"folds":3,"seed":7}`))
	require.Check(t, again.Known == 6 && again.Total == 6 && reflect.DeepEqual(again.Cells, got.Cells) && again.Warning != "" && again.Nested == nil,
		"the same without nested folds: %+v", again)
	list := handlerstest.Decode[struct{ Searches []api.Search }](c.Want(200, "GET", "/api/searches", "")).Searches
	require.Check(t, len(list) == 2 && list[0].ID == again.ID && list[0].Cells == nil, "%+v", list)
	three := found(c, search(c, `{"dataset":"moons","grid":{"C":[1,10,100],"gamma":[0.5,1,2]},"folds":3,"score":"mcc"}`)).ID
	c.Pictures(c.Page(200, "/searches/"+three), 3)
	c.Want(404, "GET", "/searches/"+three+"/figures/along-degree.svg", "")
	c.Want(404, "GET", "/searches/"+three+"/figures/roc.svg", "")
	c.Want(http.StatusNoContent, "DELETE", "/api/searches/"+three, "")
	c.Want(http.StatusConflict, "POST", "/api/searches/"+id+"/cancel", "")
	c.Want(http.StatusNoContent, "DELETE", "/api/searches/"+id, "")
	c.Want(404, "GET", "/api/searches/"+id, "")
	c.Want(404, "GET", "/api/searches/"+id+"/events", "")
}

// A drawn search over HTTP tries what the library draws, goes on around its best, and has what
// is known of the same cells in a grid.
func TestAPIDrawnSearch(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Alice)
	got := found(c, search(c, `{"dataset":"moons","grid":{"C":"0.1..100","gamma":[0.1,10]},"design":"sobol","points":8,"folds":3,"seed":7}`))
	want := &eval.Drawn{
		Design: eval.OfSobol, Points: 8, Seed: 7, Lists: eval.Grid{},
		Ranges: map[string]eval.Range{"C": {Low: 0.1, High: 100, Log: true}, "gamma": {Low: 0.1, High: 10, Log: true}},
	}
	settings := require.Value(want.Settings())(t)
	require.Must(t, got.Status == store.Done && len(got.Cells) == 8 && got.Total == 24 && got.Drawn != nil && cmp.Equal(got.Drawn.Ranges, want.Ranges) && got.Drawn.Seed == 7,
		"%+v", got)
	grid := ""
	for i, cell := range got.Cells {
		require.Check(t, cmp.Equal(cell.Values, settings[i]), "cell %d is %v, want %v", i, cell.Values, settings[i])
		if i == *got.Best {
			grid = fmt.Sprintf(`{"C":[%s],"gamma":[%s]}`, cell.Values.Text("C"), cell.Values.Text("gamma"))
		}
	}
	one := found(c, search(c, `{"dataset":"moons","grid":`+grid+`,"folds":3,"seed":7}`))
	require.Check(t, one.Known == 3 && one.Total == 3, "of the same cells in a grid %d of %d are known", one.Known, one.Total)
	finer := found(c, handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches/"+got.ID+"/again", `{"how":"finer"}`)).ID)
	best := got.Cells[*got.Best]
	require.Check(t, finer.Total == 27 && finer.Known == 3 && cmp.Equal(finer.Cells[0], best) && finer.Cells[*finer.Best].Accuracy >= best.Accuracy,
		"%+v", finer)
	nested := found(c, handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches/"+got.ID+"/again", `{"how":"nested"}`)).ID)
	require.Check(t, nested.Nested != nil && nested.Known == 24 && cmp.Equal(nested.Cells, got.Cells), "%+v", nested)
	page := c.Page(200, "/searches/"+finer.ID).Text()
	require.Check(t, !strings.Contains(page, "run nested cross-validation first") && strings.Contains(page, "not the earlier one that chose where to search"), "%s", page)
	finer = found(c, handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches/"+finer.ID+"/again", `{"how":"nested"}`)).ID)
	if page := c.Page(200, "/searches/"+finer.ID).Text(); finer.Nested == nil || finer.Warning != eval.NestedInPart || !strings.Contains(page, eval.NestedInPart) || strings.Contains(page, "This is the number to report") {
		t.Errorf("a nested search around what another has found is taken for honest: %q\n%s", finer.Warning, page)
	}
	c.Want(422, "POST", "/api/searches/"+got.ID+"/again", `{"how":"larger"}`)
	c.As(t, handlerstest.Bob).Want(404, "POST", "/api/searches/"+got.ID+"/again", `{"how":"finer"}`)
	text := c.Page(200, "/searches/"+got.ID).Text()
	require.Check(t, strings.Contains(text, "--C=0.1..100") && strings.Contains(text, "--design=sobol --points=8") && strings.Contains(text, "8 points of a Sobol sequence"),
		"%s", text)
	text = c.Page(200, "/searches/"+finer.ID).Text()
	require.Check(t, !strings.Contains(text, "marginlab cv --data") && strings.Contains(text, "and the best of the search before"), "%s", text)
}

// A search around the best of a nested one goes on within every fold, search after search, to
// the numbers that the library has for all rounds; and its page says that it may be reported.
func TestAPIFinerNested(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Alice)
	spec := ml.DefaultSpec()
	d := mltest.Builtin(t, "moons")
	for name, values := range map[string]string{"a grid": `"grid":{"kernel":["rbf","linear"],"C":[0.1,1,10],"gamma":[0.2,2]}`, "drawn points": `"grid":{"C":"0.1..100","gamma":[0.1,10]},"design":"random","points":4`} {
		asked := `{"dataset":"moons",` + values + `,"folds":3,"seed":4,"nested":true}`
		one := found(c, search(c, asked))
		var design eval.Design = one.Grid
		if one.Drawn != nil {
			design = one.Drawn
		}
		rounds, err := eval.Refine(t.Context(), d, spec, design, eval.Scheme{Folds: 3, Repeats: 1, Seed: 4, Nested: true}, 2, nil)
		require.Must(t, err == nil && len(rounds) == 3, "%s: %v, %d rounds", name, err, len(rounds))
		for i, want := range rounds {
			if i > 0 {
				one = found(c, handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches/"+one.ID+"/again", `{"how":"finer"}`)).ID)
			}
			if diff := cmp.Diff(want.Nested, one.Nested); one.Status != store.Done || diff != "" || !cmp.Equal(want.Settings[want.Best].Folds, one.Cells[*one.Best].Folds) || one.Warning != "" {
				t.Errorf("%s, search %d: %s %q, %s", name, i+1, one.Status, one.Warning, diff)
			}
		}
		page := c.Page(200, "/searches/"+one.ID)
		if text := page.Text(); !strings.Contains(text, "chosen anew, search by search, in every fold") || !strings.Contains(text, "This is the number to report") || strings.Contains(text, "marginlab cv --data") {
			t.Errorf("%s: %s", name, text)
		}
		run := handlerstest.Decode[api.RunStatus](c.Want(http.StatusAccepted, "POST", "/api/searches/"+one.ID+"/runs", `{}`))
		note := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+run.ID, "")).Note
		require.Check(t, strings.Contains(note, "search by search") && !strings.Contains(note, "optimistic"), "%s: the saved run says %q", name, note)
	}
}

// Each score ranks: on the page, in the API, and says so.
func TestEveryScoreRanks(t *testing.T) {
	c := handlerstest.Fresh(t, true).Browse(t, handlerstest.Alice)
	for _, score := range eval.Scores {
		data, spec := "moons", `{"calibration":"platt"}`
		if slices.Contains([]string{"mse", "r2"}, score.Name) {
			data, spec = "sine", `{"target":"value","learner":"ridge"}`
		}
		got := found(c, search(c, `{"dataset":"`+data+`","spec":`+spec+`,"grid":{"gamma":[0.01,1,100]},"folds":3,"score":"`+score.Name+`"}`))
		require.Must(t, got.Status == store.Done && got.Score == score.Name,
			"%s: %s ranked by %s: %s", score.Name, got.Status, got.Score, got.Error)
		best, _, _ := score.Over(got.Cells[*got.Best].Folds)
		for _, cell := range got.Cells {
			if mean, _, ok := score.Over(cell.Folds); !ok || score.Larger && mean > best || !score.Larger && mean < best {
				t.Errorf("%s: %g is better than the best, %g", score.Name, mean, best)
			}
		}
		if text := c.Page(200, "/searches/"+got.ID).Find("#search").Text(); !strings.Contains(strings.ToLower(text), strings.ToLower(score.Label)) {
			t.Errorf("the page does not speak of %s: %s", score.Label, text)
		}
	}
}

// A learning curve is computed by the queue, on the page and for programs, and equals that of one
// process; its last place is cross-validation, whose cells are known then.
func TestLearningCurves(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	id := search(c, `{"dataset":"moons","spec":{"C":10},"shares":[0.1,0.5,1],"folds":3,"repeats":2,"seed":7}`)
	got := found(c, id)
	d := mltest.Builtin(t, "moons")
	want := require.Value(eval.LearningCurve(t.Context(), d, got.Spec, eval.Scheme{Folds: 3, Repeats: 2, Seed: 7}, []float64{0.1, 0.5, 1}, nil))(t)
	if diff := cmp.Diff(want, got.Learning); diff != "" || got.Total != 18 || got.Warning != "" || !slices.Equal(got.Shares, []float64{0.1, 0.5, 1}) {
		t.Errorf("%s, %+v", diff, got)
	}
	whole := found(c, search(c, `{"dataset":"moons","spec":{"C":10},"grid":{},"folds":3,"repeats":2,"seed":7}`))
	diff := cmp.Diff(whole.Cells[0].Folds, got.Learning[2].Folds)
	require.Check(t, diff == "" && whole.Known == 6, "%s; %d cells were known", diff, whole.Known)

	p := c.Browse(t, handlerstest.Alice)
	doc := p.Page(200, "/searches/"+id)
	require.Check(t, doc.Find(".heat-map").Length() == 0 && doc.Find(`img[src*="/figures/learning"], svg`).Length() != 0 && strings.Contains(doc.Find("table tbody tr").First().Text(), "10"),
		"%s", doc.Find("main").Text())
	line := doc.Find(".reproduce code").Text()
	require.Check(t, strings.Contains(line, "--learning=0.1,0.5,1") && strings.Contains(line, "--repeats=2"), "%q", line)
	a := p.Fetch("GET", "/searches/"+id+"/figures/learning.svg", "")
	require.Check(t, a.Status == 200 && strings.Contains(string(a.Body), "training points"), "%d", a.Status)
	pressed := p.Fetch("POST", "/searches", "data=moons&search.learning=true&search.folds=3&search.C=1,2").HTML()
	if got := pressed.Find("h1").Text(); !strings.HasPrefix(got, "Learning curve of SVM") {
		t.Errorf("%q", got)
	}
}

// The places of a learning curve are there as soon as their folds are computed, with a picture
// from two on that is another one when there are more.
func TestLearningCurvesArrive(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	c, p := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	id := search(c, `{"dataset":"moons","spec":{"C":10},"shares":[0.1,0.5,1],"folds":2,"seed":7}`)
	plan, d, err := s.App.Store.PlanOf(t.Context(), id)
	require.NoError(t, err)
	worker := eval.NewWorker(d, 0)
	seen := map[string]bool{}
	for done, cell := range append(plan.Cells(), eval.Cell{}) {
		whole := done / 2
		doc := p.Page(200, "/searches/"+id)
		picture := doc.Find(`img[src*="/figures/learning"]`)
		if got := doc.Find("#search table tbody tr").Length(); got != whole || (picture.Length() == 1) != (whole > 1) {
			t.Errorf("%d cells: %d places, %d pictures", done, got, picture.Length())
		}
		if src, ok := picture.Attr("src"); ok {
			seen[src] = true
			require.Equal(t, p.Fetch("GET", src, "").Status, 200, "%s", src)
		}
		got := handlerstest.Decode[api.Search](c.Want(200, "GET", "/api/searches/"+id, ""))
		require.Check(t, len(got.Learning) == whole && (len(got.Cells) == 1) == (whole == 3),
			"%d cells: %d places for programs", done, len(got.Learning))
		a := p.Fetch("GET", "/searches/"+id+"/figures/learning.svg", "")
		require.Check(t, whole != 0 || a.Status == 404, "a picture of nothing: %d", a.Status)
		if done == 6 {
			break
		}
		res := require.Value(worker.Compute(t.Context(), cell))(t)
		require.Value(s.App.Store.FinishCells(t.Context(), res))(t)
	}
	require.Check(t, len(seen) == 2, "pictures %v", seen)
}
