package background

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/study"
	"marginlab/store"
)

// StartStudy queues the study described by text. Its files are data sets of the workspace, by name.
// Mistakes in the text are param.Problems for the field study; other errors come from
// store.CreateStudy.
func (a *Work) StartStudy(ctx context.Context, ws store.Workspace, asks store.Request, text string) (store.Study, error) {
	s, err := a.startStudy(ctx, ws, asks, text)
	var problems param.Problems
	_, told := param.ForPerson(err)
	ofStudy := told && !errors.As(err, new(*store.Error)) && (!errors.As(err, &problems) || problems.For("study") == "")
	if ofStudy || errors.As(err, new(*dataset.Error)) {
		err = param.Problems{{Field: "study", Message: "study: " + err.Error()}}
	}
	return s, err
}

func (a *Work) startStudy(ctx context.Context, ws store.Workspace, asks store.Request, text string) (store.Study, error) {
	s, err := study.Parse(text, "the file")
	if err != nil {
		return store.Study{}, err
	}
	ids, err := a.bring(ctx, ws, s)
	if err != nil {
		return store.Study{}, err
	}
	samples, err := s.Load(nil)
	if err != nil {
		return store.Study{}, err
	}
	n := store.NewStudy{Title: cmp.Or(s.Title, results.StudyTitle(s)), Request: asks}
	for i, sample := range samples {
		set := &s.Sets[i]
		set.SHA256 = sample.SHA256
		n.Sizes = append(n.Sizes, sample.Of)
		for j := range s.Learners {
			search := store.NewSearch{Dataset: ids[i], Data: sample.Data, DatasetName: set.Name}
			search.Spec, search.Grid, search.Scheme = s.Search(i, j)
			n.Searches = append(n.Searches, search)
		}
	}
	if n.File, err = s.Encode(); err != nil {
		return store.Study{}, err
	}
	created, err := a.store.CreateStudy(ctx, ws, n)
	if err == nil {
		a.queue.Notify()
	}
	return created, err
}

// bring loads those data sets of a study that are files, by name from the workspace, and returns
// the ids of the data sets, empty for others.
func (a *Work) bring(ctx context.Context, ws store.Workspace, s *study.Study) (ids []string, err error) {
	own, err := a.store.Datasets(ctx, ws)
	if err != nil {
		return nil, err
	}
	ids = make([]string, len(s.Sets))
	for i := range s.Sets {
		set := &s.Sets[i]
		if set.File == "" {
			continue
		}
		at, file := -1, path.Base(set.File)
		for k, d := range own {
			switch {
			case d.Name != file && results.FileOf(d) != file:
			case at >= 0 && d.Hash != own[at].Hash:
				return nil, param.Problems{{Field: "study", Message: fmt.Sprintf("study: several data sets of this workspace are called %s; give each its own name", file)}}
			default:
				at = k
			}
		}
		if at < 0 {
			return nil, param.Problems{{Field: "study", Message: fmt.Sprintf("study: this workspace has no data set called %s; upload it first, or rename a data set", file)}}
		}
		if own[at], set.Data, err = a.store.DatasetWithData(ctx, ws, own[at].ID); err != nil {
			return nil, err
		}
		if set.Label != "" && set.Label != set.Data.Label || set.Features != nil && !slices.Equal(set.Features, set.Data.Features) {
			return nil, param.Problems{{Field: "study", Message: fmt.Sprintf("study: data set %s: label and features differ from the columns chosen at upload; leave them out, or upload the file again", set.Name)}}
		}
		set.File, set.Label, ids[i] = results.FileOf(own[at]), set.Data.Label, own[at].ID
		if set.Missing = ""; set.Data.Given != nil {
			set.Missing = dataset.MissingMedian // as when it was stored
		}
	}
	return ids, nil
}
