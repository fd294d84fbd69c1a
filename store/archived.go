package store

import (
	"bytes"
	"encoding/json"
	"time"

	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/study"
)

// Archives hold the settings and results of searches and studies. The plan of a search is rebuilt
// from the points. The results of its cells are left out, because they are shared between
// workspaces, which could not trust imported ones.

type archivedSearch struct {
	ID          string          `json:"id"`
	Dataset     string          `json:"dataset,omitempty"` // id
	DatasetName string          `json:"dataset_name"`
	Points      string          `json:"points"` // hash
	Spec        json.RawMessage `json:"spec"`
	Grid        eval.Grid       `json:"grid"`
	Drawn       *eval.Drawn     `json:"drawn,omitempty"` // instead of Grid
	Scheme      eval.Scheme     `json:"scheme"`
	Axes        [2]string       `json:"axes"`
	Created     time.Time       `json:"created"`
	Started     time.Time       `json:"started,omitzero"`
	Finished    time.Time       `json:"finished,omitzero"`
}

type archivedStudy struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	File    string    `json:"file"`
	Sizes   []int     `json:"sizes"`
	Created time.Time `json:"created"`
}

func searchName(id string) string { return "searches/" + id + ".json" }
func studyName(id string) string  { return "studies/" + id + ".json" }

// addJSON adds a file to an archive.
func (x *exporter) addJSON(name string, v any) error {
	f, err := x.zip.Create(name)
	if err != nil {
		return err
	}
	return json.NewEncoder(f).Encode(v)
}

func (x *exporter) search(id string) (archivedSearch, error) {
	var spec string
	one, err := result(x.ctx, x.view, func(tx *transaction) Search {
		spec = value[string](tx, `SELECT spec FROM searches WHERE id = ?`, id)
		return findSearch(tx, `workspace = ? AND id = ?`, x.ws, id)
	})
	if err == nil {
		err = x.addPoints(known(one.Hash))
	}
	if err == nil {
		err = x.addJSON(searchName(id), one.Result)
	}
	return archivedSearch{
		ID: id, Dataset: one.Dataset, DatasetName: one.DatasetName, Points: one.Hash, Spec: json.RawMessage(spec), Grid: one.Grid, Drawn: one.Drawn, Scheme: one.Scheme, Axes: one.Axes,
		Created: one.Created, Started: one.Started, Finished: one.Finished,
	}, err
}

func (x *exporter) study(id string) (a archivedStudy, err error) {
	one, err := x.Study(x.ctx, x.ws, id)
	if err == nil && one.Status() != Done {
		err = ErrNotFound
	}
	if err != nil {
		return a, err
	}
	res, err := x.StudyResult(x.ctx, one)
	if err == nil {
		err = x.addJSON(studyName(id), res)
	}
	return archivedStudy{ID: id, Title: one.Title, File: one.File, Sizes: one.Sizes, Created: one.Created}, err
}

func (x *exporter) report(id string) (archivedReport, error) {
	r, err := x.Report(x.ctx, x.ws, id)
	if err == nil {
		err = x.addJSON(reportName(id), r.Frozen)
	}
	return archivedReport{r.ID, r.Title, r.Text, r.Created, r.Updated}, err
}

// result reads the file of a result into v.
func (a *archive) result(name string, v any) {
	text := a.values(name, maxResult)
	if a.fault != nil {
		return
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(v); err != nil {
		a.fail(archiveError("%q: %v", name, err))
	}
}

// search validates a search, rebuilds its plan and reads its result.
func (a *archive) search(s archivedSearch) (p plannedSearch, res *eval.Result) {
	points := a.encoded(s.Points)
	n := NewSearch{Data: points.Data, DatasetName: oneLine(s.DatasetName), Grid: s.Grid, Drawn: s.Drawn, Scheme: s.Scheme, Axes: s.Axes}
	var ps param.Problems
	limited(&ps, "name of the data set", n.DatasetName, maxName)
	for _, axis := range n.Axes {
		limited(&ps, "axis", axis, maxNote)
	}
	a.fail(ps.Err())
	var err error
	n.Spec, err = readSettings(s.Spec)
	if a.fail(err); a.fault != nil {
		return p, nil
	}
	p, plan, err := planned(n, points)
	a.fail(err)
	var r eval.Result
	if a.result(searchName(s.ID), &r); a.fault != nil {
		return p, nil
	}
	res, err = plan.Restore(&r)
	a.fail(err)
	return p, res
}

func (s *Store) importSearch(tx *transaction, ws Workspace, from archivedSearch, p plannedSearch, res *eval.Result) {
	writePoints(tx, p.points)
	id := s.insert(tx, ws, "", p)
	zipped, err := zipJSON(res)
	tx.fail(err)
	tx.exec(`UPDATE cells SET done = 1 WHERE search = ?`, id)
	tx.exec(`UPDATE searches SET status = 'done', result = ?, dataset_name = ?, created = ?, started = ?, finished = ? WHERE id = ?`,
		zipped, p.DatasetName, from.Created.UnixMilli(), from.Started.UnixMilli(), from.Finished.UnixMilli(), id)
}

// study checks a study and reads its result.
func (a *archive) study(s archivedStudy) *study.Result {
	asked, err := study.Parse(s.File, "study")
	a.fail(err)
	r := new(study.Result)
	if a.result(studyName(s.ID), r); a.fault != nil {
		return nil
	}
	a.fail(asked.Restore(r))
	r.Study = s.File
	return r
}
