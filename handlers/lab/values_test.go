package lab_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/mltest/require"
)

// TestValues goes with a target of numbers through every door: it is offered as a
// regression, not as so many classes.
func TestValues(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	sets := map[string]api.Dataset{"curve": c.Upload("name=one", handlerstest.Measurements(61, 1)), "surface": c.Upload("name=two", handlerstest.Measurements(61, 2)), "slice": c.Upload("name=three", handlerstest.Measurements(61, 3))}
	for spec, says := range map[string]string{
		`{}`:                 "use the target value with the learner ridge",
		`{"target":"value"}`: "is a classifier; use ridge for the target value",
		`{"target":"value","learner":"ridge","conformal":"eigen"}`: "use none for the target value",
		`{"target":"number"}`: "target must be one of class, value",
	} {
		c.Says(http.StatusUnprocessableEntity, says, "POST", "/api/runs", `{"dataset":"`+sets["curve"].ID+`","spec":`+spec+`}`)
	}
	c.Says(http.StatusUnprocessableEntity, "is not a number", "POST", "/api/runs", `{"dataset":"iris","spec":{"target":"value","learner":"ridge"}}`)

	ids := map[string][]string{}
	for name, set := range sets {
		require.Check(t, set.Target == "value" && len(set.Classes) == 0, "%s: %+v", name, set)
		figures := map[string]int{"curve": 2, "surface": 3, "slice": 3}[name] // with the main one
		for _, lambda := range []string{"0.01", "1"} {
			id := c.Done(`{"dataset":"` + set.ID + `","spec":{"target":"value","learner":"ridge","lambda":` + lambda + `,"test_fraction":0.25}}`)
			ids[name] = append(ids[name], id)
		}
		id := ids[name][0]
		run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
		require.Check(t, run.Report.Rule == ml.Value && run.Report.TestMSE != nil && *run.Report.TestR2 > 0 && run.Report.TestN == 15 && len(run.Report.Classes) == 0,
			"%s: %+v", name, run.Report)
		m, err := ml.ReadModel(strings.NewReader(string(c.Want(200, "GET", "/api/runs/"+id+"/model.json", "").Body)))
		require.Must(t, err == nil && m.Rule == ml.Value, "%v", err)
		first := strings.Join(strings.Split(handlerstest.Measurements(61, len(set.Features)), "\n")[:2], "\n")
		a := c.Want(200, "POST", "/api/runs/"+id+"/predictions", first+"\n", "Content-Type", "text/csv")
		lines := strings.Split(string(a.Body), "\n")
		require.Check(t, len(lines) == 3 && lines[0] == "row,f,true" && lines[1] == fmt.Sprintf("1,%v,40", m.Decision(make([]float64, len(set.Features)))), "%s: %q", name, a.Body)
		a = c.Do("GET", "/runs/"+id+"/predictions.csv", "")
		require.Check(t, a.Status == 200 && strings.HasPrefix(string(a.Body), "row,height,f,residual,held_out,role,weight\n"), "%s: %d %.100s", name, a.Status, a.Body)

		data := b.Page(200, "/datasets/"+set.ID)
		text := data.Text()
		require.Check(t, strings.Contains(text, "values") && !strings.Contains(text, "of class"), "%s: %s", name, text)
		c.Pictures(data, 1)
		page := b.Page(200, "/runs/"+id)
		if text := page.Text(); !strings.Contains(text, "Test R²") || !strings.Contains(text, "f has no bias") || strings.Contains(text, "Training accuracy") || strings.Contains(text, "Confusion") {
			t.Errorf("%s: %s", name, page.Find("main").Text())
		}
		c.Pictures(page, figures)
		head := page.Find(".points th").Text()
		require.Check(t, strings.Contains(head, "residual") && page.Find(".points tbody tr").Length() == 61, "%s: table of %s", name, head)

		lab := b.Page(200, "/lab?data="+set.ID)
		options := handlerstest.Attrs(lab.Find("#f-learner option"), "value")
		require.Check(t, fmt.Sprint(options) == "[ridge]" && lab.Find("#f-target option[selected]").AttrOr("value", "") == "value" && lab.Find("#f-positive, #f-conformal, #f-show, .problem, [data-editor]").Length() == 0,
			"%s: learners %v, %s", name, options, lab.Find(".problem").Text())
		c.Pictures(lab, figures)
		c.Pictures(b.Page(200, "/lab?lambda=-1&data="+set.ID), 1) // nothing is trained
		text = b.Page(200, "/lab?target=class&data="+set.ID).Find(".problem").Text()
		require.Check(t, strings.Contains(text, "use the target value"), "%s, as classes: %q", name, text)

		compared := b.Page(200, "/compare?"+url.Values{"run": ids[name]}.Encode())
		if text := compared.Text(); !strings.Contains(text, "Test MSE") || strings.Contains(text, "of accuracy") || strings.Contains(text, "hatched") {
			t.Errorf("%s: %s", name, compared.Find("main").Text())
		}
		c.Pictures(compared, map[string]int{"curve": 3, "surface": 2, "slice": 2}[name])
	}
	id := c.Done(`{"dataset":"` + sets["surface"].ID + `","spec":{"positive":"40"}}`)
	clone, _ := b.Page(200, "/runs/"+id).Find(`a[href^="/lab?"]`).Attr("href")
	if lab := b.Page(200, clone); lab.Find("#f-target option[selected]").AttrOr("value", "") != "class" || lab.Find(".problem").Length() > 0 {
		t.Errorf("%s opens as a regression: %s", clone, lab.Find(".problem").Text())
	}
	c.Want(http.StatusNoContent, "DELETE", "/api/runs/"+id, "")
	runs := b.Page(200, "/runs")
	text := runs.Find("table.runs").Text()
	require.Check(t, strings.Count(text, "R²") == 6 && !strings.Contains(text, "%"), "list: %s", text)
	c.Pictures(runs, 6)
	mixed := b.Page(200, "/compare?"+url.Values{"run": {ids["curve"][0], ids["surface"][0]}}.Encode())
	require.Says(t, mixed.Text(), "use the same single feature", "of two features")
}

// What the lab's script is told of values: the points with them, no classes; and a set of
// classes goes on being one when the form says nothing.
func TestValuesLive(t *testing.T) {
	b := handlerstest.Fresh(t, true).Browse(t, handlerstest.Alice)
	live := func(form string) (hidden []string, query string, stage map[string]any) {
		reply := require.JSON[struct {
			Hidden      []string
			Query, HTML string
		}](t, b.Fetch("POST", "/lab/live", form).Body)
		doc := require.Value(goquery.NewDocumentFromReader(strings.NewReader(reply.HTML)))(t)
		require.NoError(t, json.Unmarshal([]byte(doc.Find("[data-stage]").AttrOr("data-stage", "")), &stage))
		return reply.Hidden, reply.Query, stage
	}
	hidden, query, stage := live("data=sine&learner=svm&target=value")
	points := stage["points"].([]any)
	require.Check(t, slices.Contains(hidden, "conformal") && slices.Contains(hidden, "positive") && !slices.Contains(hidden, "target") && stage["value"] == "value" && len(points) == 60,
		"hidden %v, %d points, %v", hidden, len(points), stage["value"])
	p := points[0].([]any)
	q, _ := url.ParseQuery(query)
	require.Check(t, q.Get("learner") == "ridge" && q.Get("target") == "value" && p[1] == p[2], "%s, point %v", query, p)
	if hidden, query, stage := live("data=moons"); slices.Contains(hidden, "target") || strings.Contains(query, "target") || stage["value"] != nil {
		t.Errorf("moons: hidden %v, %s", hidden, query)
	}
	hidden, _, _ = live("data=iris&target=value&learner=ridge")
	require.Check(t, slices.Contains(hidden, "target") && !slices.Contains(hidden, "positive"), "iris: hidden %v", hidden)
	_, query, _ = live("data=iris&on=pca")
	require.Check(t, strings.Contains(query, "on=pca") && !strings.Contains(query, "project"), "iris on its components: %s", query)
	_, query, stage = live("data=moons&target=value&conformal=eigen")
	require.Check(t, strings.Contains(query, "target=value") && !strings.Contains(query, "conformal") && stage["value"] == "label", "moons with values: %s", query)
}
