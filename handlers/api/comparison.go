package api

import (
	"net/http"
	"strings"

	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/store"
	"marginlab/web"
)

// Comparison is what the points that runs held out say of their differences.
type Comparison struct {
	Points   int    `json:"points"`   // that all held out
	Disagree []int  `json:"disagree"` // rows of them, from 1, on which not all give the same answer
	Pairs    []Pair `json:"pairs"`
}

// Pair is two of the runs.
type Pair struct {
	First  string `json:"first"` // ids
	Second string `json:"second"`
	eval.Disagreement
	Holm float64 `json:"p_holm"`
}

// Compare tests which differences between runs are real.
func (a *Room) Compare(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "runs")
	if err != nil {
		return err
	}
	ids := strings.Split(q.Get("runs"), ",")
	if err := door.ToCompare(ids); err != nil {
		return err
	}
	runs := make([]store.Run, len(ids))
	for i, id := range ids {
		if runs[i], err = a.Store.Run(r.Context(), door.Workspace(r.Context()), id); err != nil {
			return err
		}
		if runs[i].Status != store.Done {
			return web.Errorf(web.Conflict, "Run %s is %s: only runs that are done can be compared.", id, runs[i].Status)
		}
	}
	if err := door.Alike(runs); err != nil {
		return err
	}
	data, err := a.Store.Data(r.Context(), runs[0].Hash)
	if err != nil {
		return err
	}
	points := make([][]ml.Point, len(runs))
	for i, run := range runs {
		if points[i], err = door.ResultOf(run).Points(r.Context(), run.Model, data, run.Spec); err != nil {
			return err
		}
	}
	h, err := eval.OnHeldOut(points)
	if err != nil {
		return err
	}
	c := Comparison{Points: h.N, Disagree: make([]int, len(h.Differ))}
	for k, i := range h.Differ {
		c.Disagree[k] = i + 1
	}
	for _, p := range h.Pairs {
		c.Pairs = append(c.Pairs, Pair{First: ids[p.First], Second: ids[p.Second], Disagreement: p.Disagreement, Holm: p.Holm})
	}
	return web.JSON(w, http.StatusOK, c)
}
