package data_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// sequences is a CSV of random DNA, of which every other string has a motif planted.
func sequences(n int) string {
	r := rand.New(rand.NewPCG(7, 1))
	var b strings.Builder
	b.WriteString("sequence,class\n")
	for i := range n {
		s := lists.Make(30+r.IntN(10), func(j int) byte { return "ACGT"[r.IntN(4)] })
		class := "plain"
		if i%2 == 1 {
			class = "planted"
			copy(s[r.IntN(20):], "GATTACA")
		}
		fmt.Fprintf(&b, "%s,%s\n", s, class)
	}
	return b.String()
}

// journey is what one kind of object meets at every door that points go through.
type journey struct {
	rows            int
	header          string            // of the CSV that is downloaded, behind the kind
	refused         map[string]string // specs, and what is said of them
	specs           []string          // that are trained
	fresh           string            // objects to predict, with their type
	freshType       string
	predicted       string   // the first prediction
	data            []string // what its page says
	kernels         string   // that the lab offers
	boundary        string   // what is said in its place
	onData, onLab   int      // pictures
	onRun, compared int
}

var journeys = map[string]journey{
	"strings": {
		rows: 60, header: "sequence,class\n",
		refused: map[string]string{
			`{}`:                                     "use spectrum, gap-subsequence",
			`{"kernel":"spectrum","k":0}`:            "k must be a whole number from 1",
			`{"kernel":"spectrum","k":0.5}`:          "k must be a whole number",
			`{"kernel":"gap-subsequence","decay":2}`: "decay must be a number above 0",
		},
		specs: []string{
			`{"kernel":"spectrum","k":4,"test_fraction":0.25}`,
			`{"kernel":"gap-subsequence","k":3,"normalize":true,"conformal":"amari","C":10}`,
		},
		fresh: "sequence\nGATTACAGATTACA\nCCCCCCCCCCC\n", freshType: "text/csv", predicted: "1,planted,",
		data:    []string{"60 strings", "symbols", "#strings"},
		kernels: "[spectrum gap-subsequence combined]", boundary: "strings have no coordinates",
		onData: 1, onLab: 5, onRun: 5, compared: 2,
	},
	"graphs": {
		rows: 40, header: "graph,label\n",
		refused: map[string]string{
			`{}`:                          "use wl, random-walk",
			`{"kernel":"wl","rounds":-1}`: "rounds must be a whole number from 0",
			`{"kernel":"spectrum"}`:       "graphs",
			`{"kernel":"random-walk","walk_weight":0}`: "walk_weight must be a number above 0",
		},
		specs: []string{
			`{"kernel":"wl","rounds":2,"normalize":true,"C":10,"test_fraction":0.25}`,
			`{"kernel":"random-walk","walk_weight":0.02,"labelled":true,"normalize":true,"conformal":"amari","C":100}`,
		},
		fresh: `{"n":4,"edges":[[0,1],[1,2],[1,3]],"labels":["C","C","O","O"]}` + "\n" + `{"n":1,"edges":[],"labels":["C"]}`, freshType: "text/plain", predicted: "1,acid,",
		data:    []string{"40 graphs", "node labels", "#graphs"},
		kernels: "[wl random-walk combined]", boundary: "graphs have no coordinates",
		onData: 41, onLab: 2, onRun: 3, compared: 2,
	},
	"precomputed": {
		rows:    40,
		refused: map[string]string{`{}`: "use precomputed"},
		specs:   []string{`{"kernel":"precomputed","test_fraction":0.25}`, `{"kernel":"precomputed","conformal":"eigen","C":10}`},
		data:    []string{"kernel matrix of 40 objects", "kernel values"},
		kernels: "[precomputed combined]", boundary: "There is no boundary to draw",
		onData: 1, onLab: 3, onRun: 3, compared: 2,
	},
}

// through sends a data set through the API and pages, and returns its runs and the pages of the data
// set and of the lab.
func (j journey) through(t *testing.T, c *handlerstest.Client, kind string, set api.Dataset) (runs []string, data, lab *goquery.Document) {
	t.Helper()
	c.Cookie = &http.Cookie{Name: "marginlab_workspace", Value: handlerstest.Alice}
	require.Must(t, set.Kind == kind && set.Rows == j.rows && len(set.Features) == 0, "%+v", set)
	csv := string(c.Want(200, "GET", "/api/datasets/"+set.ID+".csv", "").Body)
	require.Check(t, strings.HasPrefix(csv, "#"+kind+"\n"+j.header) && c.Upload("", csv).Hash == set.Hash, "what is downloaded is not what was uploaded")
	for spec, says := range j.refused { // kernels that do not take them, and values out of range
		c.Says(http.StatusUnprocessableEntity, says, "POST", "/api/runs", `{"dataset":"`+set.ID+`","spec":`+spec+`}`)
	}
	for _, spec := range j.specs {
		id := c.Done(`{"dataset":"` + set.ID + `","spec":` + spec + `}`)
		run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
		require.Must(t, run.Status == "done" && run.Report != nil && *run.Report.TrainAccuracy >= 0.8 && run.Report.D == 0, "%+v", run)
		m := require.Value(ml.ReadModel(strings.NewReader(string(c.Want(200, "GET", "/api/runs/"+id+"/model.json", "").Body))))(t)
		require.Equal(t, string(m.Objects), kind, "objects of the model")
		if j.fresh != "" {
			a := c.Want(200, "POST", "/api/runs/"+id+"/predictions", j.fresh, "Content-Type", j.freshType)
			lines := strings.Split(string(a.Body), "\n")
			require.Check(t, len(lines) == 4 && strings.HasPrefix(lines[1], j.predicted), "%s", a.Body)
		}
		runs = append(runs, id)
	}
	c.Pictures(c.Page(200, "/runs"), 2)
	data = c.Page(200, "/datasets/"+set.ID)
	require.SaysAll(t, data.Text(), j.data, "the data set")
	c.Pictures(data, j.onData)
	c.Pictures(c.Page(200, "/datasets"), 1)
	lab = c.Page(200, "/lab?data="+set.ID)
	options := handlerstest.Attrs(lab.Find("#f-kernel option"), "value")
	require.Equal(t, fmt.Sprint(options), j.kernels, "kernels")
	require.Says(t, lab.Text(), j.boundary, "the lab")
	c.Pictures(lab, j.onLab)
	for _, id := range runs {
		run := c.Page(200, "/runs/"+id)
		require.Says(t, run.Text(), j.boundary, "the run")
		c.Pictures(run, j.onRun)
		a := c.Want(200, "GET", "/runs/"+id+"/predictions.csv", "")
		require.Equal(t, strings.Count(string(a.Body), "\n"), j.rows+1, "lines of predictions")
	}
	compared := c.Page(200, "/compare?"+url.Values{"run": runs}.Encode())
	require.Says(t, compared.Text(), "no boundaries to draw in one picture", "the comparison")
	c.Pictures(compared, j.compared)
	return runs, data, lab
}

// TestStrings goes with labelled strings through every door that points go through.
func TestStrings(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	file := sequences(60)
	set := c.Upload("name=DNA", file)
	require.Equal(t, set.Label, "class", "label")
	ids, data, lab := journeys["strings"].through(t, c, "strings", set)
	beside := "id,class,text,note\n1,a,cat,x\n2,b,cart,y\n3,a,bar,x\n"
	chosen := c.Upload("kind=strings&label=class&features=text", beside)
	require.Check(t, chosen.Kind == "strings" && chosen.Hash != set.Hash, "%+v", chosen)
	for query, says := range map[string]string{
		"kind=strings&features=text&label=text":     "is the label and cannot be the strings as well",
		"kind=strings&features=text,note&label=id":  "expected one column of strings",
		"kind=strings&features=nothing&label=class": "no column",
	} {
		c.Says(http.StatusUnprocessableEntity, says, "POST", "/api/datasets?"+query, beside)
	}
	c.Says(422, "line 3, column 1 (s): expected a string, found nothing", "POST", "/api/datasets?kind=strings", "s,class\nab,x\n,y\n")
	if text := c.Page(200, "/runs").Find("table").Text(); !strings.Contains(text, "spectrum, k 4") || !strings.Contains(text, "normalise") || strings.Contains(text, " false") || strings.Contains(text, ",  ") {
		t.Errorf("the table tells of kernels %s", text)
	}
	row := func(i int) string { return strings.Split(strings.Split(file, "\n")[i], ",")[0] }
	require.Check(t, strings.Contains(data.Find("td").Text(), row(1)) && strings.Contains(data.Find("textarea").Text(), "#strings"), "%s", data.Text())
	require.Check(t, strings.Contains(lab.Find("td").Text(), row(1)) && lab.Find("#f-k").Length() == 1, "the lab does not show the strings")
	// An expression that nobody wrote becomes one that takes strings; one that is wrong says so.
	sums := c.Page(200, "/lab?kernel=combined&data="+set.ID)
	require.Equal(t, sums.Find("#f-expression").AttrOr("value", ""), "spectrum + gap-subsequence", "expression")
	require.Equal(t, sums.Find("#f-kernel option[selected]").AttrOr("value", ""), "combined", "kernel")
	require.Says(t, sums.Text(), "Combined (sums and products) kernel", "the lab")
	wrong := c.Page(200, "/lab?kernel=combined&expression=spectrum*(&data="+set.ID).Find("#f-expression-error").Text()
	require.Equal(t, wrong, "Expression: character 11: expected a kernel, a number or (, found the end.", "a wrong expression")
	c.Pictures(c.Page(200, "/lab?conformal=eigen&kernel=gap-subsequence&normalize=true&data="+set.ID), 7)
	c.Pictures(c.Page(200, "/lab?k=0&data="+set.ID), 1) // nothing is trained
	for _, id := range ids {
		run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, ""))
		require.Check(t, run.Report.Values.Number("k") >= 3, "%+v", run)
		page := c.Page(200, "/runs/"+id)
		link, _ := page.Find(".points td a").Eq(4).Attr("href")
		require.Check(t, link == "?near=5#near" && page.Find("#near tr").Length() == 0, "row 5 leads to its neighbours by %q", link)
		near := c.Page(200, "/runs/"+id+"?near=5")
		c.Pictures(near, 6)
		rows := near.Find("#near tbody tr")
		require.Check(t, rows.Length() == 13 && rows.First().Find("th").Text() == "5" && rows.Find(".object").Eq(0).Text() == row(5),
			"neighbours of row 5: %s", rows.Text())
		for _, wrong := range []string{"0", "61", "x", "-1", "5.5"} {
			require.Says(t, c.Page(200, "/runs/"+id+"?near="+wrong).Find("#near").Text(), "rows 1 to 60", "near %s", wrong)
		}
	}
	require.Says(t, c.Page(200, "/compare?"+url.Values{"run": ids}.Encode()).Text(), "gap-subsequence", "the comparison")
}

// TestGraphs goes with labelled graphs through every door that points go through.
func TestGraphs(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	set := handlerstest.Decode[api.Dataset](c.Want(http.StatusCreated, "POST", "/api/datasets/generate", `{"generator":"molecules","parameters":{"n":40}}`))
	require.Check(t, set.Name == "Molecules, 40 graphs" && len(set.Classes) == 2, "%+v", set)
	ids, data, lab := journeys["graphs"].through(t, c, "graphs", set)
	c.Says(422, "line 2: edge [0,2]: no node 2", "POST", "/api/datasets", `{"n":2,"edges":[[0,1]],"label":"a"}`+"\n"+`{"n":2,"edges":[[0,2]],"label":"b"}`)
	diverging := c.Done(`{"dataset":"` + set.ID + `","spec":{"kernel":"random-walk","walk_weight":0.9}}`)
	run := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+diverging, ""))
	require.Check(t, run.Status == "failed" && strings.Contains(run.Error, "diverges for 40 of 40 graphs"), "%+v", run)

	// Directions and labels of edges go the same way.
	const flow = `{"n":3,"directed":true,"edges":[[0,1],[2,1]],"edge_labels":["x","y"],"label":"a"}` + "\n" + `{"n":3,"directed":true,"edges":[[0,1],[1,2]],"edge_labels":["x","y"],"label":"b"}` + "\n"
	first := handlerstest.Decode[api.Dataset](c.Want(http.StatusCreated, "POST", "/api/datasets?name=flow.jsonl", strings.Repeat(flow, 8)))
	csv := string(c.Want(200, "GET", "/api/datasets/"+first.ID+".csv", "").Body)
	require.Check(t, c.Upload("", csv).Hash == first.Hash && strings.Contains(csv, `""edges"":[[0,1],[2,1]],""edge_labels"":[""x"",""y""]`),
		"downloaded %s", csv)
	trained := c.Done(`{"dataset":"` + first.ID + `","spec":{"kernel":"wl","rounds":1}}`)
	a := c.Want(200, "POST", "/api/runs/"+trained+"/predictions", flow, "Content-Type", "text/plain")
	require.Check(t, strings.Contains(string(a.Body), "1,a,") && strings.Contains(string(a.Body), "2,b,"), "%s", a.Body)

	require.Says(t, data.Find("textarea#f-rows").Text(), "#graphs", "the rows")
	drawn := data.Find("td.drawn img")
	require.Equal(t, drawn.Length(), 40, "drawings")
	require.Says(t, drawn.First().AttrOr("alt", ""), " nodes, ", "the drawing of a graph is called")
	c.Want(404, "GET", "/datasets/"+set.ID+"/figures/graph.svg?row=41", "")
	c.Want(404, "GET", "/datasets/moons/figures/graph.svg?row=1", "")
	require.Equal(t, lab.Find("#f-rounds").Length(), 1, "fields of the rounds")
	tried := c.Page(200, "/lab?"+url.Values{"data": {set.ID}, "try": {`{"n":4,"edges":[[0,1],[1,2],[1,3]],"labels":["C","C","O","N"]}`}}.Encode())
	require.Says(t, tried.Find("main").Text(), "amide", "a graph of one's own")
	require.Says(t, c.Page(200, "/lab?kernel=random-walk&walk_weight=0.9&data="+set.ID).Text(), "use a weight below", "diverging walks")
	near := c.Page(200, "/runs/"+ids[0]+"?near=7") // where the subtrees are weighed, each graph is drawn
	n := near.Find("#near td img").Length()
	require.Check(t, n == 13 && near.Find("#near figure").Length() == 1, "%d graphs: %s", n, near.Find("#near").Text())
	c.Pictures(near, 6+13)
	if walks := c.Page(200, "/runs/"+ids[1]+"?near=7"); walks.Find("#near img").Length() != 0 || !strings.Contains(walks.Find("#near").Text(), "Without the conformal map") || !strings.Contains(walks.Find("#near .object").Text(), "edges") {
		t.Errorf("by walks: %s", walks.Find("#near").Text())
	}
	require.Says(t, c.Page(200, "/compare?"+url.Values{"run": ids}.Encode()).Find("main").Text(), "random-walk", "the comparison")
}

// TestKernelMatrix goes with a kernel matrix through every door that points go through.
func TestKernelMatrix(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	moons := require.Value(dataset.Generate("moons", 40, 0.2, 3))(t)
	libsvm, plain, _, _ := handlerstest.Gram(moons, kernel.RBF(2), 40)
	set := c.Upload("name=K.libsvm", libsvm)
	_, data, _ := journeys["precomputed"].through(t, c, "precomputed", set)
	require.Check(t, !strings.Contains(data.Text(), "Edit rows"), "a matrix can be edited")
	require.Equal(t, c.Upload("kind=precomputed", plain).Hash, set.Hash, "hash of the same matrix as CSV")
	guessed := c.Upload("", plain)
	require.Check(t, guessed.Kind == "vectors" && len(guessed.Features) == 40, "nobody said that these are no points: %+v", guessed)
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?kind=sounds", plain)
	c.Want(http.StatusUnprocessableEntity, "POST", "/api/datasets?kind=precomputed", handlerstest.Square)
	c.Says(422, "use linear", "POST", "/api/runs", `{"dataset":"moons","spec":{"kernel":"precomputed"}}`)
	c.Pictures(c.Page(200, "/lab?conformal=eigen&data="+set.ID), 5)
	c.Pictures(c.Page(200, "/lab?C=-1&data="+set.ID), 1) // nothing is trained
	points := c.Page(200, "/lab?kernel=precomputed&data=moons")
	v, _ := points.Find("#f-kernel option[selected]").Attr("value")
	require.Check(t, v == "rbf" && points.Find(`#f-kernel option[value="precomputed"]`).Length() == 0, "points with the kernel %q", v)
}
