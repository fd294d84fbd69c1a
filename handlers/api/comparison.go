package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/web"
)

// Comparison holds the differences between runs on the points that all of them held out.
type Comparison struct {
	Points   int    `json:"points"`   // held out by all runs
	Disagree []int  `json:"disagree"` // rows (from 1) on which the runs' predictions differ
	Pairs    []Pair `json:"pairs"`
}

// Pair holds the comparison of two runs.
type Pair struct {
	First  string `json:"first"` // ids
	Second string `json:"second"`
	eval.Disagreement
	Holm float64 `json:"p_holm"`
}

// Compare tests which differences between runs are real.
func (a *Handler) Compare(w http.ResponseWriter, r *http.Request) error {
	runs, err := a.compared(r.Context(), strings.Split(r.URL.Query().Get("runs"), ","))
	if err != nil {
		return err
	}
	data, err := a.Store.Data(r.Context(), runs[0].Hash)
	if err != nil {
		return err
	}
	points := make([][]ml.Point, len(runs))
	for i, run := range runs {
		if run, err = a.Store.WithModels(r.Context(), run); err != nil {
			return err
		}
		if points[i], err = results.ResultOf(run).Points(r.Context(), run.Model, data, run.Spec); err != nil {
			return err
		}
	}
	h, err := eval.OnHeldOut(points)
	if err != nil {
		return err
	}
	pairs := lists.Map(h.Pairs, func(p eval.HeldOutPair) Pair {
		return Pair{First: runs[p.First].ID, Second: runs[p.Second].ID, Disagreement: p.Disagreement, Holm: p.Holm}
	})
	return web.JSON(w, http.StatusOK, Comparison{Points: h.N, Disagree: lists.Map(h.Differ, func(i int) int { return i + 1 }), Pairs: pairs})
}

// compared returns runs of the workspace without models; they must be done and share their points.
func (a *Handler) compared(ctx context.Context, ids []string) ([]store.Run, error) {
	if err := results.ToCompare(ids); err != nil {
		return nil, err
	}
	runs := make([]store.Run, len(ids))
	for i, id := range ids {
		run, err := a.Store.RunWithoutModels(ctx, frame.Workspace(ctx), id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, web.Errorf(web.NotFound, "There is no run %q in this workspace: it may have been deleted.", id)
		}
		if runs[i] = run; err != nil {
			return nil, err
		}
		if runs[i].Status != store.Done {
			return nil, web.Errorf(web.Conflict, "Run %s is %s: only runs that are done can be compared.", id, runs[i].Status)
		}
	}
	return runs, results.Comparable(runs)
}

// FoldComparison holds the differences between runs on common folds.
type FoldComparison struct {
	Folds   int        `json:"folds"`
	Repeats int        `json:"repeats"`
	Done    int        `json:"done"`
	Total   int        `json:"total"`
	Pairs   []FoldPair `json:"pairs,omitempty"` // once all are done

	Optimistic bool `json:"optimistic,omitempty"` // the folds chose the settings of a run
}

// FoldPair holds the comparison of two runs.
type FoldPair struct {
	First  string `json:"first"` // ids
	Second string `json:"second"`
	eval.TTest
	Holm      *float64        `json:"p_holm,omitempty"`
	Posterior *eval.Posterior `json:"posterior,omitempty"`
}

// CompareOnFolds starts cross-validating runs on the same folds and sends the ids of the searches.
func (a *Handler) CompareOnFolds(w http.ResponseWriter, r *http.Request) error {
	asked := struct {
		Runs    []string `json:"runs"`
		Folds   int      `json:"folds"`
		Repeats int      `json:"repeats"`
	}{Folds: 10, Repeats: 3}
	if err := web.ReadJSON(w, r, BodyBytes, &asked); err != nil {
		return err
	}
	runs, err := a.compared(r.Context(), asked.Runs)
	if err != nil {
		return err
	}
	ids, err := a.BeginFolds(r.Context(), frame.Workspace(r.Context()), frame.RequestOf(r), runs, asked.Folds, asked.Repeats)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/comparison/folds?runs="+strings.Join(asked.Runs, ",")+"&searches="+strings.Join(ids, ","))
	return web.JSON(w, http.StatusAccepted, map[string][]string{"searches": ids})
}

// OnFolds tests which differences between runs are real, using the searches of CompareOnFolds or,
// if the query names none, common folds of the searches that the runs come from.
func (a *Handler) OnFolds(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	runs, err := a.compared(r.Context(), strings.Split(q.Get("runs"), ","))
	if err != nil {
		return err
	}
	if !q.Has("searches") {
		return onKeptFolds(w, runs)
	}
	f, err := results.FoldsOf(r.Context(), a.Store, frame.Workspace(r.Context()), runs, strings.Split(q.Get("searches"), ","))
	if err != nil {
		return err
	}
	c := FoldComparison{Folds: f.Scheme.Folds, Repeats: f.Scheme.Repeats, Done: f.Done, Total: f.Total, Pairs: foldPairs(runs, f.Pairs)}
	return web.JSON(w, http.StatusOK, c)
}

// onKeptFolds sends the tests on common folds stored with the runs.
func onKeptFolds(w http.ResponseWriter, runs []store.Run) error {
	kept, pairs, ok := results.KeptFolds(runs)
	if !ok {
		return web.Errorf(web.Conflict, "The runs have no common folds from their searches: cross-validate them with a POST to this address.")
	}
	c := FoldComparison{Folds: kept[0].Scheme.Folds, Repeats: max(1, kept[0].Scheme.Repeats), Pairs: foldPairs(runs, pairs)}
	for _, k := range kept {
		c.Done += len(k.Folds)
		c.Optimistic = c.Optimistic || k.Optimistic
	}
	c.Total = c.Done
	return web.JSON(w, http.StatusOK, c)
}

func foldPairs(runs []store.Run, pairs []eval.FoldPair) (all []FoldPair) {
	for _, p := range pairs {
		all = append(all, FoldPair{First: runs[p.First].ID, Second: runs[p.Second].ID, TTest: p.TTest, Holm: p.Holm, Posterior: p.Posterior})
	}
	return all
}
