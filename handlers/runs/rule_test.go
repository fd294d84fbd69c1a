package runs_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// severalMachines stores a finished run of a model with a machine for every pair of
// three classes, each with a conformal map of its own.
func severalMachines(t *testing.T, s *handlerstest.Server) (run store.Run, m *ml.Model, d *dataset.Data) {
	t.Helper()
	text := require.Value(os.ReadFile("../../ml/testdata/model_format2_ovo.json"))(t)
	m = require.Value(ml.ReadModel(bytes.NewReader(text)))(t)
	// Its rows are not in the file but for the support vectors.
	d = &dataset.Data{Features: m.Features, Label: m.Label, Classes: m.Classes, X: mat.NewDense(30, 2, nil)}
	for i := range 30 {
		d.X.SetRow(i, []float64{float64(i%7) - 3, float64(i%5) - 2})
		d.Y = append(d.Y, i%3)
	}
	for k, i := range m.Supports.Rows {
		d.X.SetRow(i, m.Supports.Vectors[k])
	}
	spec := ml.DefaultSpec()
	spec.Conformal, spec.Standardize = "eigen", false
	accuracy := require.Value(m.Accuracy(d))(t)
	st, ctx := s.App.Store, t.Context()
	run = require.Value(st.CreateRun(ctx, store.WorkspaceOf(handlerstest.Alice), store.NewRun{Name: "trees", Data: d, Spec: spec}))(t)
	_, ok, err := st.ClaimRun(ctx, "test", run.ID)
	require.Must(t, ok && err == nil, "%v %v", ok, err)
	before := *m
	before.Machines = nil
	for _, machine := range m.Machines {
		machine.Map, machine.CoreRows = nil, nil
		before.Machines = append(before.Machines, machine)
	}
	report := ml.Report{N: 30, D: 2, Classes: m.Classes, Rule: m.Rule, Learner: "svm", Kernel: "rbf", Status: "converged", TrainN: 30, TrainAccuracy: &accuracy, SupportVectors: len(m.Supports.Rows)}
	require.NoError(t, st.FinishRun(ctx, "test", run.ID, &ml.Result{Report: report, Model: m, Before: &before}))
	return run, m, d
}

// TestSeveralMachinesThroughEveryDoor follows a model of three classes through lists,
// pages, pictures, the stage, predictions and JSON.
func TestSeveralMachinesThroughEveryDoor(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	run, m, d := severalMachines(t, s)
	c, b := s.As(t, handlerstest.Alice), s.Browse(t, handlerstest.Alice)
	path := "/runs/" + run.ID

	for query, want := range map[string]int{"rule=ovo": 1, "rule=sign": 0, "": 1} {
		got := handlerstest.Decode[struct{ Total int }](c.Want(200, "GET", "/api/runs?"+query, ""))
		require.Check(t, got.Total == want, "%q: %d runs", query, got.Total)
	}
	c.Want(http.StatusUnprocessableEntity, "GET", "/api/runs?rule=vote", "")
	got := handlerstest.Decode[struct{ Report ml.Report }](c.Want(200, "GET", "/api"+path, ""))
	require.Check(t, got.Report.Rule == ml.OneVsOne, "rule %q", got.Report.Rule)
	back, err := ml.ReadModel(bytes.NewReader(c.Want(200, "GET", "/api"+path+"/model.json", "").Body))
	require.Check(t, err == nil && len(back.Machines) == 3 && mat.Equal(back.Scores(d.X), m.Scores(d.X)),
		"%v: another model came back", err)

	names := []string{"f beech vs ash", "f elm vs ash", "f elm vs beech"}
	rows, err := csv.NewReader(bytes.NewReader(b.Fetch("GET", path+"/predictions.csv", "").Body)).ReadAll()
	require.Must(t, err == nil && len(rows) == 31, "%d rows, %v", len(rows), err)
	require.Equal(t, strings.Join(rows[0], "|"), "row|label|predicted|"+strings.Join(names, "|")+"|held_out|role|weight",
		"columns")
	scores := m.Scores(d.X)
	for i, r := range rows[1:] {
		f := scores.RawRowView(i)
		require.Check(t, r[1] == d.Classes[d.Y[i]] && r[2] == m.LabelOf(f...), "row %d: %q", i, r)
		for k, v := range f {
			require.Check(t, r[3+k] == strconv.FormatFloat(v, 'g', -1, 64), "row %d: %s is %s, want %v", i, names[k], r[3+k], v)
		}
	}

	doc := b.Page(200, path)
	var head []string
	numbers := 0
	for i, th := range doc.Find(".points th").EachIter() {
		head = append(head, th.Text())
		cell := doc.Find(".points tbody tr").First().Find("td").Eq(i)
		if numbers += th.Filter(".value").Length(); cell.HasClass("value") != th.HasClass("value") {
			t.Errorf("%s: the cells are not aligned like the heading", th.Text())
		}
	}
	require.Equal(t, numbers, 5, "columns of numbers in the table of points")
	require.Says(t, doc.Find("#h-settings + .numbers").Text(), "iteration limit10⁷ (default)", "the settings")
	require.Equal(t, strings.Join(head, "|"), "Row|Coordinates|Label|Predicted|"+strings.Join(names, "|")+"|Weight|Role",
		"table of points")
	require.Equal(t, doc.Find(".points tbody tr").First().Find("td").Length(), len(head), "cells below the headings")
	stage := require.JSON[struct {
		Scores []string
		Points [][]any
	}](t, doc.Find("[data-stage]").AttrOr("data-stage", ""))
	require.Check(t, fmt.Sprint(stage.Scores) == fmt.Sprint(names) && len(stage.Points) == 30,
		"stage: %v, %d points", stage.Scores, len(stage.Points))
	for i, p := range stage.Points {
		require.Check(t, len(p) == 10 && p[8] == m.LabelOf(scores.RawRowView(i)...) && len(p[9].([]any)) == 3,
			"stage: point %d is %v", i, p)
	}
	if got := doc.Find(".trio figure").Length(); got != 8 { // before, after, and every machine with its map
		t.Errorf("%d small pictures", got)
	}
	for name, says := range map[string]string{
		"boundary": "Regions of ash, beech, elm", "before": "Regions of ash, beech, elm", "map": "c(x) of f beech vs ash", "map-2": "c(x) of f elm vs ash", "map-3": "c(x) of f elm vs beech",
		"machine": "Decision boundary between beech and ash", "machine-3": "Decision boundary between elm and beech",
	} {
		require.Says(t, string(b.Fetch("GET", path+"/figures/"+name+".svg", "").Body), says, "%s does not say", name)
	}
	for _, name := range []string{"machine-4", "map-4", "map-1", "map-", "mapped"} {
		c.Want(http.StatusNotFound, "GET", path+"/figures/"+name+".svg", "")
	}

	// A comparison says what its lines are where there is no single f.
	other, _, _ := severalMachines(t, s)
	compared := b.Page(200, "/compare?run="+run.ID+"&run="+other.ID).Find("figcaption").Text()
	require.Says(t, compared, "where the predicted class of a run changes", "the captions")
	require.Check(t, !strings.Contains(compared, "All boundaries f = 0"), "the captions: %q", compared)
}
