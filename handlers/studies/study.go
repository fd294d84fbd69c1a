package studies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	studiesview "marginlab/views/studies"
	"marginlab/web"
)

// Studies shows the studies of the workspace.
func (a *Handler) Studies(w http.ResponseWriter, r *http.Request) error {
	page := pageOf(r)
	list, total, err := a.Store.Studies(r.Context(), frame.Workspace(r.Context()), pageRows, (page-1)*pageRows)
	if err != nil {
		return err
	}
	p := studiesview.Studies{Page: a.studyFrame("Studies")}
	p.Pages = views.PagesOf(page, pageRows, len(list), total, func(page int) string { return fmt.Sprintf("/studies?page=%d", page) })
	for _, s := range list {
		done, _, all := s.Cells()
		p.Rows = append(p.Rows, studiesview.StudyRow{ID: s.ID, Title: s.Title, Status: string(s.Status()), Done: done, Total: all, Created: results.When(s.Created)})
	}
	return a.Render(w, r, studiesview.StudiesPage(p))
}

func (a *Handler) study(r *http.Request) (store.Study, error) {
	return a.Store.Study(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"))
}

// Study shows a study: its progress and results.
func (a *Handler) Study(w http.ResponseWriter, r *http.Request, s store.Study) error {
	asked, err := study.Parse(s.File, "study")
	if err != nil {
		return err
	}
	p := studiesview.Study{Page: a.studyFrame(s.Title), ID: s.ID, Title: s.Title, Status: string(s.Status()), Created: results.When(s.Created), File: s.File}
	p.Done, _, p.Total = s.Cells()
	p.Brought = len(s.Searches) == 0
	p.Folds = results.FoldsText(eval.Scheme{Folds: asked.Folds, Repeats: asked.Repeats}) + ", settings chosen on the training folds"
	left := make(map[string]bool) // data sets whose points are offered as files
	less := func(label string, s *study.Study) error {
		if s == nil || left[label] {
			return nil
		}
		left[label] = true
		file, err := s.Encode()
		p.Less = append(p.Less, views.Option{Value: file, Label: label})
		return err
	}
	p.Learners = lists.Map(asked.Learners, func(l study.Learner) string { return l.Name })
	for i, set := range asked.Sets {
		row := studiesview.StudySet{Name: set.Name}
		for j := range asked.Learners {
			k := i*len(asked.Learners) + j
			if k >= len(s.Searches) {
				continue
			}
			one := s.Searches[k]
			cell := studiesview.StudyCell{Href: "/searches/" + one.ID, Text: string(one.Status)}
			if !one.Status.Ended() && one.Done > 0 {
				cell.Text = fmt.Sprintf("%d of %d", one.Done, one.Total)
			}
			if one.Error != "" {
				p.Message = results.Sentence(fmt.Sprintf("data set %s, learner %s: %s", set.Name, asked.Learners[j].Name, one.Error))
				if err := errors.Join(
					less("Run again without the learner "+asked.Learners[j].Name, asked.Without(asked.Learners[j].Name, "")),
					less("Run again without the data set "+set.Name, asked.Without("", set.Name)),
				); err != nil {
					return err
				}
			}
			if set.File != "" && one.Dataset != "" && j == 0 {
				p.Needs = append(p.Needs, views.Option{Value: "/datasets/" + one.Dataset + ".csv", Label: set.File})
			}
			row.Cells = append(row.Cells, cell)
		}
		p.Sets = append(p.Sets, row)
	}
	if s.Status() == store.Done {
		res, err := a.Store.StudyResult(r.Context(), s)
		if err != nil {
			return err
		}
		p.Verdict = res.Verdict()
		if p.Report, err = a.AddToReport(r.Context(), "/studies/"+s.ID); err != nil {
			return err
		}
		p.Tables = lists.Map(res.Tables(), results.StudyTable)
		for _, e := range study.Exports {
			p.Exports = append(p.Exports, views.Option{Value: "/studies/" + s.ID + "/" + e.File, Label: e.Label})
		}
		for _, ranks := range figure.StudyRanks(res, figure.Format{Width: studyWidth}) {
			drawn, err := ranks.Picture()
			if err != nil {
				return err
			}
			ranks.Width = studyWidthNarrow
			narrow, err := ranks.Picture()
			if err != nil {
				return err
			}
			src := "/studies/" + s.ID + "/figures/" + ranks.Name
			p.Pictures = append(p.Pictures, views.Picture{
				Src: src + ".svg", DarkSrc: src + ".svg?dark=1", Narrow: src + ".svg?narrow=1", NarrowDark: src + ".svg?narrow=1&dark=1", NarrowSize: [2]int{narrow.Width, narrow.Height}, Alt: drawn.Caption,
				Width: drawn.Width, Height: drawn.Height, SVG: src + ".svg", PNG: src + ".png",
			})
		}
	}
	return a.Render(w, r, studiesview.StudyPage(p))
}

// Sizes of the pictures of a study.
const (
	studyWidth       = 640
	studyWidthNarrow = 340
)

// StudyFigure sends a picture of the ranks.
func (a *Handler) StudyFigure(w http.ResponseWriter, r *http.Request) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	res, err := a.studyResult(r)
	if err != nil {
		return err
	}
	f := figure.Format{Width: studyWidth, Dark: r.FormValue("dark") == "1"}
	if r.FormValue("narrow") == "1" {
		f.Width = studyWidthNarrow
	}
	ranks := figure.StudyRanks(res, f)
	at := slices.IndexFunc(ranks, func(p figure.Ranks) bool { return p.Name == name })
	if at < 0 {
		return store.ErrNotFound
	}
	return a.SendPrint(w, r, pictures.Sheet{Format: format, Draw: func(context.Context) (*figure.Picture, error) { return ranks[at].Picture() }})
}

func (a *Handler) studyResult(r *http.Request) (*study.Result, error) {
	s, err := a.study(r)
	if err != nil {
		return nil, err
	}
	if s.Status() != store.Done {
		return nil, web.Errorf(web.Conflict, "This study has no result.")
	}
	return a.Store.StudyResult(r.Context(), s)
}

// StudyFile sends a study as one of its files.
func (a *Handler) StudyFile(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "file")
	if name == "study.toml" {
		s, err := a.study(r)
		if err != nil {
			return err
		}
		frame.Attach(w, name, "application/toml")
		_, err = io.WriteString(w, s.File)
		return err
	}
	at := slices.IndexFunc(study.Exports, func(e study.Export) bool { return e.File == name })
	if at < 0 {
		return store.ErrNotFound
	}
	res, err := a.studyResult(r)
	if err != nil {
		return err
	}
	return frame.Send(w, r, name, study.Exports[at].Type, func(to io.Writer) error { return study.Exports[at].Write(to, res) })
}

// studyFrame returns the frame of a page about studies.
func (a *Handler) studyFrame(title string) views.Page {
	p := a.Frame(title, "runs")
	p.Help = "studies"
	return p
}
