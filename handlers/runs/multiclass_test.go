package runs_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// Runs on a set with three classes are shown with their confusion matrices, and compared.
func TestThreeClasses(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	compared := url.Values{}
	for _, way := range ml.Multiclass {
		id := c.Done(`{"dataset":"iris","name":"by ` + way.Name + `","spec":{"multiclass":"` + way.Name + `","test_fraction":0.3,"features":["petal_length","petal_width"]}}`)
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
				cells := handlerstest.Texts(tables.Eq(i).Find("tbody tr").Eq(k).Find("td"))
				for j, n := range row.Predicted {
					require.Equal(t, cells[j], strconv.Itoa(n),
						"%s: row %s, column %d", way.Name, row.Class, j)
				}
				n := row.SupportVectors
				require.Check(t, (n != nil) == (i == 1) && (n == nil || cells[6] == strconv.Itoa(*n)), "%s: row %s: %q", way.Name, row.Class, cells)
			}
		}
		require.Equal(t, page.Find(".machines tbody tr").Length(), 3, "%s: machines", way.Name)
		require.Equal(t, page.Find(".machines th.value").Length(), page.Find(".machines thead th").Length()-1, "%s: columns of numbers", way.Name)
		own := lists.Either(way.Rule == ml.Argmax, 0, 3)
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
	require.Check(t, strings.Contains(list, "SVM, one-vs-rest") && strings.Contains(list, "SVM, Crammer and Singer"), "list: %s", list)
}
