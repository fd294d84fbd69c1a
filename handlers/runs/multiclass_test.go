package runs_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
)

// A set with three classes opens in the lab trained on all of them, without a script, is
// saved, shown with its confusion matrices, and compared.
func TestThreeClassesFromTheLabToAComparison(t *testing.T) {
	t.Parallel()
	s := handlerstest.Serve(t, true, dataset.DefaultLimits)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	lab := b.Page(200, "/lab?data=iris&on=shown&x=petal_length&y=petal_width&test_fraction=0.3")
	require.Check(t, lab.Find(".problem").Length() == 0, "the lab opens with %q", lab.Find(".problem").Text())
	var options []string
	for _, o := range lab.Find("#f-positive option").EachIter() {
		options = append(options, o.Text())
	}
	require.Equal(t, strings.Join(options, "|"), "all classes|setosa|versicolor|virginica", "positive class")
	v, chosen := lab.Find("#f-positive option[selected]").Attr("value")
	require.Check(t, chosen && v == "", "%q is chosen", v)
	field := lab.Find("[data-field=multiclass]")
	if _, hidden := field.Attr("hidden"); hidden || field.Find("option").Length() != len(ml.Multiclass) {
		t.Error("the ways to tell several classes apart are not offered")
	}
	require.Says(t, lab.Find(".main-figure figcaption").Text(), "Regions of setosa, versicolor, virginica, one against one",
		"caption")
	for what, query := range map[string]string{"two classes": "/lab?data=moons", "one named": "/lab?data=iris&positive=setosa"} {
		_, hidden := b.Page(200, query).Find("[data-field=multiclass]").Attr("hidden")
		require.Check(t, hidden, "%s: the ways to tell several apart are offered", what)
	}
	live := func(form string) (reply struct {
		Positives []struct {
			Value, Label string
			Chosen       bool
		}
		Hidden []string
		HTML   string
	},
	) {
		require.NoError(t, json.Unmarshal(b.Fetch("POST", "/lab/live", form).Body, &reply))
		return reply
	}
	if r := live("data=iris&positive="); len(r.Positives) != 4 || !r.Positives[0].Chosen || slices.Contains(r.Hidden, "multiclass") || !strings.Contains(r.HTML, "Training confusion matrix") {
		t.Errorf("live: %+v, hidden %v", r.Positives, r.Hidden)
	}
	if r := live("data=iris&positive=virginica"); len(r.Positives) != 4 || !r.Positives[3].Chosen || !slices.Contains(r.Hidden, "multiclass") {
		t.Errorf("live, one named: %+v, hidden %v", r.Positives, r.Hidden)
	}
	if r := live("data=moons"); len(r.Positives) != 2 || !r.Positives[1].Chosen || !slices.Contains(r.Hidden, "multiclass") {
		t.Errorf("live, two classes: %+v, hidden %v", r.Positives, r.Hidden)
	}

	compared := url.Values{}
	for _, way := range ml.Multiclass {
		id := c.Train(`{"dataset":"iris","name":"by ` + way.Name + `","spec":{"multiclass":"` + way.Name + `","test_fraction":0.3,"features":["petal_length","petal_width"]}}`)
		c.Follow(id)
		compared.Add("run", id)
		report := handlerstest.Decode[struct{ Report ml.Report }](c.Want(200, "GET", "/api/runs/"+id, "")).Report
		require.Check(t, report.Rule == way.Rule && len(report.Machines) == 3 && *report.TrainAccuracy >= 0.9 && len(report.TestConfusion) == 3,
			"%s: %+v", way.Name, report)
		page := b.Page(200, "/runs/"+id)
		tables := page.Find(".confusion")
		require.Must(t, tables.Length() == 2 && tables.First().Find("h2").Text() == "Test confusion matrix",
			"%s: %d confusion matrices", way.Name, tables.Length())
		for i, rows := range [][]ml.ClassReport{report.TestConfusion, report.Confusion} {
			for k, row := range rows {
				var cells []string
				for _, td := range tables.Eq(i).Find("tbody tr").Eq(k).Find("td").EachIter() {
					cells = append(cells, td.Text())
				}
				for j, n := range row.Predicted {
					require.Equal(t, cells[j], strconv.Itoa(n),
						"%s: row %s, column %d", way.Name, row.Class, j)
				}
				if n := row.SupportVectors; (n != nil) != (i == 1) || n != nil && cells[6] != strconv.Itoa(*n) {
					t.Errorf("%s: row %s: %q", way.Name, row.Class, cells)
				}
			}
		}
		require.Equal(t, page.Find(".machines tbody tr").Length(), 3, "%s: machines", way.Name)
		own := 3
		if way.Rule == ml.Argmax {
			own = 0
		}
		require.Equal(t, page.Find(".trio figure").Length(), own, "%s: small pictures", way.Name)
	}
	doc := b.Page(200, "/compare?"+compared.Encode())
	n := doc.Find("thead").First().Find("th").Length()
	require.Check(t, n >= len(ml.Multiclass), "%d columns are compared", n)
	text := doc.Text()
	for _, way := range ml.Multiclass {
		require.Check(t, strings.Contains(text, way.Label), "the comparison does not say %s", way.Label)
	}
	list := b.Page(200, "/runs").Find("table.runs tbody").Text()
	require.Check(t, strings.Contains(list, "SVM, ovr") && strings.Contains(list, "SVM, cs"), "list: %s", list)
}
