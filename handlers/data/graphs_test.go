package data_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// TestGraphs goes with labelled graphs through every door that points go through.
func TestGraphs(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	set := handlerstest.Decode[api.Dataset](c.Want(http.StatusCreated, "POST", "/api/datasets/generate", `{"generator":"molecules","parameters":{"n":40}}`))
	require.Must(t, set.Name == "molecules, 40 graphs" && set.Kind == "graphs" && set.Rows == 40 && len(set.Classes) == 2,
		"%+v", set)
	csv := string(c.Want(200, "GET", "/api/datasets/"+set.ID+".csv", "").Body)
	require.Check(t, strings.HasPrefix(csv, "#graphs\ngraph,label\n") && c.Upload("", csv).Hash == set.Hash,
		"what is downloaded is not what was uploaded")
	a := c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets", `{"n":2,"edges":[[0,1]],"label":"a"}`+"\n"+`{"n":2,"edges":[[0,2]],"label":"b"}`)
	require.Check(t, strings.Contains(string(a.Body), "line 2: edge [0,2]: there is no node 2"), "%s", a.Body)
	for spec, says := range map[string]string{
		`{}`:                          "use wl, random-walk",
		`{"kernel":"wl","rounds":-1}`: "rounds must be a whole number from 0",
		`{"kernel":"spectrum"}`:       "graphs",
		`{"kernel":"random-walk","walk_weight":0}`: "walk_weight must be a number above 0",
	} {
		a := c.Want(http.StatusUnprocessableEntity, "POST", "/api/runs", `{"dataset":"`+set.ID+`","spec":`+spec+`}`)
		require.Check(t, strings.Contains(string(a.Body), says), "%s: %s", spec, a.Body)
	}
	var ids []string
	for _, spec := range []string{`{"kernel":"wl","rounds":2,"normalize":true,"C":10,"test_fraction":0.25}`, `{"kernel":"random-walk","walk_weight":0.02,"labelled":true,"normalize":true,"conformal":"amari","C":100}`} {
		id := c.Train(`{"dataset":"` + set.ID + `","spec":` + spec + `}`)
		c.Follow(id)
		run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
		require.Must(t, run.Status == "done" && run.Report != nil && *run.Report.TrainAccuracy >= 0.8, "%+v", run)
		m, err := ml.ReadModel(strings.NewReader(string(c.Want(200, "GET", "/api/runs/"+id+"/model.json", "").Body)))
		require.Check(t, err == nil && m.Objects == dataset.KindGraphs, "%v", err)
		a := c.Want(200, "POST", "/api/runs/"+id+"/predictions", `{"n":4,"edges":[[0,1],[1,2],[1,3]],"labels":["C","C","O","O"]}`+"\n"+`{"n":1,"edges":[],"labels":["C"]}`, "Content-Type", "text/plain")
		lines := strings.Split(string(a.Body), "\n")
		require.Check(t, len(lines) == 4 && strings.HasPrefix(lines[1], "1,acid,"), "%s", a.Body)
		ids = append(ids, id)
	}
	diverging := c.Train(`{"dataset":"` + set.ID + `","spec":{"kernel":"random-walk","walk_weight":0.9}}`)
	c.Follow(diverging)
	run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+diverging, ""))
	require.Check(t, run.Status == "failed" && strings.Contains(run.Error, "diverges for 40 of 40 graphs"), "%+v", run)

	// Directions and labels of edges go the same way.
	const flow = `{"n":3,"directed":true,"edges":[[0,1],[2,1]],"edge_labels":["x","y"],"label":"a"}` + "\n" + `{"n":3,"directed":true,"edges":[[0,1],[1,2]],"edge_labels":["x","y"],"label":"b"}` + "\n"
	first := handlerstest.Decode[api.Dataset](c.Want(http.StatusCreated, "POST", "/api/datasets?name=flow.jsonl", strings.Repeat(flow, 8)))
	csv = string(c.Want(200, "GET", "/api/datasets/"+first.ID+".csv", "").Body)
	if again := c.Upload("", csv); again.Hash != first.Hash || !strings.Contains(csv, `""edges"":[[0,1],[2,1]],""edge_labels"":[""x"",""y""]`) {
		t.Errorf("downloaded %s", csv)
	}
	trained := c.Train(`{"dataset":"` + first.ID + `","spec":{"kernel":"wl","rounds":1}}`)
	c.Follow(trained)
	a = c.Want(200, "POST", "/api/runs/"+trained+"/predictions", flow, "Content-Type", "text/plain")
	require.Check(t, strings.Contains(string(a.Body), "1,a,") && strings.Contains(string(a.Body), "2,b,"), "%s", a.Body)

	data := c.Page(200, "/datasets/"+set.ID)
	if text := data.Text(); !strings.Contains(text, "40 graphs") || !strings.Contains(text, "node labels") || !strings.Contains(data.Find("textarea#f-rows").Text(), "#graphs") || data.Find("td.drawn img").Length() != 40 {
		t.Error(data.Find("main").Text())
	}
	drawn := data.Find("td.drawn img").First()
	require.Says(t, drawn.AttrOr("alt", ""), " nodes, ", "the drawing of a graph is called")
	c.Pictures(data, 41)
	c.Want(404, "GET", "/datasets/"+set.ID+"/figures/graph.svg?row=41", "")
	c.Want(404, "GET", "/datasets/moons/figures/graph.svg?row=1", "")
	c.Pictures(c.Page(200, "/datasets"), 1)

	lab := c.Page(200, "/lab?data="+set.ID)
	options := lab.Find("#f-kernel option").Map(func(_ int, o *goquery.Selection) string { v, _ := o.Attr("value"); return v })
	if fmt.Sprint(options) != "[wl random-walk combined]" || !strings.Contains(lab.Text(), "graphs have no coordinates") || lab.Find("#f-rounds").Length() != 1 {
		t.Errorf("kernels %v: %s", options, lab.Find("main").Text())
	}
	c.Pictures(lab, 2)
	tried := c.Page(200, "/lab?"+url.Values{"data": {set.ID}, "try": {`{"n":4,"edges":[[0,1],[1,2],[1,3]],"labels":["C","C","O","N"]}`}}.Encode())
	text := tried.Find("main").Text()
	require.Check(t, strings.Contains(text, "amide"), "%v", text)
	text = c.Page(200, "/lab?kernel=random-walk&walk_weight=0.9&data="+set.ID).Text()
	require.Check(t, strings.Contains(text, "take a weight below"), "%v", text)
	for _, id := range ids {
		c.Pictures(c.Page(200, "/runs/"+id), 3)
	}
	near := c.Page(200, "/runs/"+ids[0]+"?near=7") // where the subtrees are weighed, each graph is drawn
	n := near.Find("#near td img").Length()
	require.Check(t, n == 13 && near.Find("#near figure").Length() == 1, "%d graphs: %s", n, near.Find("#near").Text())
	c.Pictures(near, 6+13)
	if walks := c.Page(200, "/runs/"+ids[1]+"?near=7"); walks.Find("#near img").Length() != 0 || !strings.Contains(walks.Find("#near").Text(), "Without the conformal map") || !strings.Contains(walks.Find("#near .object").Text(), "edges") {
		t.Errorf("by walks: %s", walks.Find("#near").Text())
	}
	text = c.Page(200, "/compare?"+url.Values{"run": ids}.Encode()).Find("main").Text()
	require.Check(t, strings.Contains(text, "random-walk"), "%v", text)
}

// TestGraphsAreEdited adds a graph to a data set, changes one and deletes it, by the form.
func TestGraphsAreEdited(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	set := c.Upload("", `{"n":2,"edges":[[0,1]],"label":"a"}`+"\n"+`{"n":1,"label":"b"}`)
	post := func(status int, values ...string) *goquery.Document {
		t.Helper()
		form := url.Values{"hash": {c.Page(200, "/datasets/"+set.ID).Find("input[name=hash]").AttrOr("value", "")}}
		for i := 0; i < len(values); i += 2 {
			form.Set(values[i], values[i+1])
		}
		return c.Send(status, "/datasets/"+set.ID+"/objects", form.Encode()).HTML()
	}
	ring := `{"n":3,"edges":[[2,0],[0,1],[1,2]],"labels":["x","y","z"]}`
	if doc := post(200, "row", "0", "act", "put", "object", ring, "label", "c"); !strings.Contains(doc.Text(), "3 graphs") {
		t.Error(doc.Find("main").Text())
	}
	if got := c.Page(200, "/datasets/"+set.ID+"?row=3").Find("#f-object").Text(); got != `{"n":3,"edges":[[0,1],[0,2],[1,2]],"labels":["x","y","z"]}` {
		t.Errorf("the graph came back as %s", got)
	}
	if doc := post(422, "row", "3", "act", "put", "object", `{"n":3,"edges":[[0,3]]}`, "label", "c"); !strings.Contains(doc.Find("#f-object-error").Text(), "there is no node 3") {
		t.Error(doc.Find("main").Text())
	}
	if doc := post(200, "row", "3", "act", "drop", "object", "", "label", ""); !strings.Contains(doc.Text(), "2 graphs") {
		t.Error(doc.Find("main").Text())
	}
}

// TestUploadOfGraphs uploads GraphML by the page, which asks for the attribute that labels
// the nodes.
func TestUploadOfGraphs(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c := s.As(t, handlerstest.Alice)
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	const file = `<graphml><key id="e" for="node" attr.name="element"/><key id="k" for="graph" attr.name="kind"/>
<graph><data key="k">a</data><node id="1"><data key="e">C</data></node></graph>
<graph><data key="k">b</data><node id="1"><data key="e">O</data></node></graph></graphml>`
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part := require.Value(w.CreateFormFile("file", "two.graphml"))(t)
	_, _ = part.Write([]byte(file))
	w.Close()
	a := c.Do("POST", "/datasets", body.String(), "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
	require.Must(t, a.Status == http.StatusOK, "%d: %s", a.Status, a.Body)
	doc := a.HTML()
	form := doc.Find(`form[action*="/datasets/mapping/"]`)
	action, _ := form.Attr("action")
	if v := form.Find(`input[name="objects"][checked]`).AttrOr("value", ""); v != "graph by element" || form.Find(`input[name="kind"][value="graphs"][checked]`).Length() != 1 || form.Find(`input[name="objects"]:not([disabled])`).Length() != 2 {
		t.Errorf("the graphs are said to stand in %q: %s", v, form.Text())
	}
	doc = c.Send(http.StatusOK, action, "name=Two&kind=graphs&label=kind&objects=graph+without+labels").HTML()
	text := doc.Find("main").Text()
	require.Check(t, strings.Contains(text, "2 graphs") && strings.Contains(text, "graph without labels"), "%v", text)
}
