package handlers_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"marginlab/handlers/handlerstest"
	"marginlab/ml/mltest/require"
)

// Files of CSV begin with a byte order mark where a spreadsheet needs one, and never for
// programs; what was sent is taken again.
func TestByteOrderMark(t *testing.T) {
	s := handlerstest.Fresh(t, true)
	tc, a := s.Browse(t, handlerstest.Teacher), s.Browse(t, handlerstest.Ada)
	const mark = "\ufeff"
	var wide strings.Builder
	wide.WriteString("Größe,Höhe,Art\n")
	for range 6 {
		wide.WriteString("1,2,süß\n-1,-2,bitter\n1.5,2,süß\n-1,-2.5,bitter\n")
	}
	set, plain := tc.Upload("name=fr%C3%BCchte", wide.String()), tc.Upload("name=plain", strings.NewReplacer("ö", "o", "ü", "u", "ß", "s").Replace(wide.String()))
	code := tc.Course("/lab?data=moons&test_fraction=0.3", "")
	a.Send(200, "/course/"+code+"/handins", "course="+code+"&data=moons&test_fraction=0.3&who=J%C3%BCrgen")
	run := tc.Done(`{"dataset":"` + set.ID + `"}`)
	for path, marked := range map[string]bool{
		"/datasets/" + set.ID + ".csv": true, "/datasets/" + plain.ID + ".csv": false,
		"/courses/" + code + "/handins.csv":       true,
		"/runs/" + run + "/predictions.csv":       true,
		"/runs.csv":                               true,
		"/compare.csv?run=" + run + "&run=" + run: true,
		"/api/datasets/" + set.ID + ".csv":        false,
		"/api/courses/" + code + "/handins.csv":   false,
		"/api/runs/" + run + "/predictions.csv":   false,
		"/api/runs.csv":                           false,
	} {
		body := string(tc.Want(200, "GET", path, "").Body)
		got := strings.HasPrefix(body, mark)
		require.Check(t, got == marked && strings.Count(body, mark) <= 1, "%s: a mark: %t\n%.200s", path, got, body)
		_, err := csv.NewReader(bytes.NewReader([]byte(strings.TrimPrefix(body, mark)))).ReadAll()
		require.Check(t, err == nil, "%s: %v", path, err)
	}
	again := tc.Upload("name=again", string(tc.Want(200, "GET", "/datasets/"+set.ID+".csv", "").Body))
	require.Check(t, strings.Join(again.Features, " ") == "Größe Höhe" && again.Rows == set.Rows,
		"taken again: %+v, not %+v", again, set)
}
