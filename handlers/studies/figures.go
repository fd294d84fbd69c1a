package studies

import (
	"context"
	"math"
	"net/http"
	"strings"

	"marginlab/handlers/background"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
)

// along is the prefix of the names of the pictures of the score over a parameter.
const along = "along-"

// picturesOf returns the pictures of a finished search: the score over each searched number, and
// the support vectors of the settings.
func picturesOf(s store.Search) (list []views.Picture) {
	if s.Result == nil || len(s.Result.Settings) < 2 {
		return nil
	}
	label := results.RankedBy(s).Label
	add := func(name, title string) {
		list = append(list, pictures.Linked("/searches/"+s.ID+"/figures/", name, "", pictures.SmallWidth, pictures.SmallHeight, title, title))
	}
	for _, name := range results.Searched(s) {
		if len(s.Result.Along(name)) > 2 {
			title := "Validation curve: " + label + " over " + results.Symbol(name)
			if len(results.Searched(s)) > 1 {
				title += ", other settings as in the best"
			}
			add(along+name, title)
		}
	}
	if results.Vectors(s.Result.Settings[s.Result.Best]) > 0 {
		add("vectors", "Support vectors against "+label+", one mark per setting")
	}
	return list
}

// Figure sends a picture of a search.
func (a *Handler) Figure(w http.ResponseWriter, r *http.Request, s background.Found) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	if s.Result == nil && len(s.Learning) == 0 {
		return store.ErrNotFound
	}
	f := pictures.Sized(r, pictures.SmallWidth, pictures.SmallHeight).Format
	return a.SendPrint(w, r, pictures.Sheet{Format: format, Draw: func(context.Context) (*figure.Picture, error) { return draw(s, name, f) }})
}

func draw(s background.Found, name string, f figure.Format) (*figure.Picture, error) {
	res, score := s.Result, results.RankedBy(s.Search)
	if name == learningName && len(s.Learning) > 0 {
		return drawLearning(s.Learning, score, f)
	}
	if res == nil {
		return nil, store.ErrNotFound
	}
	if of, ok := strings.CutPrefix(name, along); ok {
		p, known := ml.Param(of)
		places := res.Along(of)
		if !known || len(places) < 3 {
			return nil, store.ErrNotFound
		}
		best := res.Settings[res.Best].Values.Number(of)
		v := figure.Validation{Format: f, X: results.Symbol(of), Log: p.Log, Here: &best}
		for _, i := range places {
			v.Add(res.Settings[i].Values.Number(of), res.Settings[i].Folds, score)
		}
		return v.Picture()
	}
	if name != "vectors" {
		return nil, store.ErrNotFound
	}
	v := figure.Sparseness{Format: f, Score: score.Label, Best: res.Best, Simplest: res.WithinOneError()}
	for _, setting := range res.Settings {
		mean, _, ok := score.Over(setting.Folds)
		if !ok {
			mean = math.NaN()
		}
		v.Vectors, v.Scores = append(v.Vectors, results.Vectors(setting)), append(v.Scores, mean)
	}
	return v.Picture()
}
