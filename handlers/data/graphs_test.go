package data_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

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
	doc := post(200, "row", "0", "act", "put", "object", ring, "label", "c")
	require.Check(t, strings.Contains(doc.Text(), "3 graphs"), "%v", doc.Find("main").Text())
	got := c.Page(200, "/datasets/"+set.ID+"?row=3").Find("#f-object").Text()
	require.Check(t, got == `{"n":3,"edges":[[0,1],[0,2],[1,2]],"labels":["x","y","z"]}`, "the graph came back as %s", got)
	doc = post(422, "row", "3", "act", "put", "object", `{"n":3,"edges":[[0,3]]}`, "label", "c")
	require.Check(t, strings.Contains(doc.Find("#f-object-error").Text(), "there is no node 3"), "%v", doc.Find("main").Text())
	doc = post(200, "row", "3", "act", "drop", "object", "", "label", "")
	require.Check(t, strings.Contains(doc.Text(), "2 graphs"), "%v", doc.Find("main").Text())
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
