package studies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/door"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/web"
)

// Studies shows the studies of the workspace.
func (a *Room) Studies(w http.ResponseWriter, r *http.Request) error {
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page = min(max(page, 1), 1e6)
	list, total, err := a.Store.Studies(r.Context(), door.Workspace(r.Context()), pageRows, (page-1)*pageRows)
	if err != nil {
		return err
	}
	p := views.Studies{Page: a.Frame("Studies", "runs"), Total: total, First: (page-1)*pageRows + 1, Last: (page-1)*pageRows + len(list)}
	if page > 1 {
		p.Newer = fmt.Sprintf("/studies?page=%d", page-1)
	}
	if p.Last < total {
		p.Older = fmt.Sprintf("/studies?page=%d", page+1)
	}
	for _, s := range list {
		done, all := cells(s)
		p.Rows = append(p.Rows, views.StudyRow{ID: s.ID, Title: s.Title, Status: string(s.Status()), Done: done, Total: all, Created: door.When(s.Created)})
	}
	return a.Render(w, r, views.StudiesPage(p))
}

func cells(s store.Study) (done, total int) {
	for _, one := range s.Searches {
		done, total = done+one.Done, total+one.Total
	}
	return done, total
}

// NewStudy shows the form of a study: clicked together as the query says, or as a file.
func (a *Room) NewStudy(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	p, err := a.studyForm(r, q)
	if err != nil {
		return err
	}
	switch {
	case q.Get("study") != "":
		s, err := a.Store.Study(r.Context(), door.Workspace(r.Context()), q.Get("study"))
		if err != nil {
			return err
		}
		p.File = s.File
	case q.Has("as"):
		if p.File, err = a.clicked(r, q); err != nil {
			return a.studyAgain(w, r, q, "", err)
		}
	}
	return a.Render(w, r, views.NewStudyPage(p))
}

// minus is the sign of a number, for which a page has a longer line than files.
var minus = regexp.MustCompile(`^-(\d)`)

// numbers of a study that the form asks for.
var studyNumbers = []param.Param{
	{Name: "folds", Label: "folds", Kind: param.Integer, Default: "5", Min: 2, Max: 100, Help: "Parts that every data set is dealt into; each is held out once."},
	{Name: "repeats", Label: "repeats", Kind: param.Integer, Default: "1", Min: 1, Max: 100, Help: "How often it is dealt."},
	{Name: "max_rows", Label: "rows at most", Kind: param.Integer, Default: "200", Min: 0, Max: 1e6, Help: "Of a larger data set a share of every class takes part; 0: all of it."},
	{Name: "seed", Label: "seed", Kind: param.Integer, Default: "1", Min: 0, Max: 1 << 53, Help: "Decides how, and which rows take part."},
}

// studyForm is the form with what the query chooses.
func (a *Room) studyForm(r *http.Request, q url.Values) (views.NewStudy, error) {
	p := views.NewStudy{Page: a.Frame("New study", "runs")}
	lecture, _ := study.Builtin("lecture")
	own, err := a.Store.Datasets(r.Context(), door.Workspace(r.Context()))
	if err != nil {
		return p, err
	}
	fresh := !q.Has("data") && !q.Has("learner")
	for _, d := range own {
		if d.Kind == dataset.KindVectors && len(d.Classes) > 1 {
			p.Data = append(p.Data, views.Option{Value: d.ID, Label: d.Name, Help: fmt.Sprintf("%d rows, %d features", d.Rows, d.Dims()), Chosen: slices.Contains(q["data"], d.ID) || fresh})
		}
	}
	for _, s := range lecture.Sets {
		p.Data = append(p.Data, views.Option{Value: s.Name, Label: s.Name, Help: "comes with the program", Chosen: slices.Contains(q["data"], s.Name) || fresh && len(own) == 0})
	}
	for _, l := range lecture.Learners {
		p.Learners = append(p.Learners, views.Option{Value: l.Name, Label: l.Name, Chosen: slices.Contains(q["learner"], l.Name) || fresh})
	}
	for _, n := range studyNumbers {
		value := n.Default
		if q.Has(n.Name) {
			value = q.Get(n.Name)
		}
		p.Numbers = append(p.Numbers, views.Field{Name: n.Name, Form: "study-", Label: n.Label, Help: n.Help, Value: value})
	}
	return p, nil
}

// clicked is the file of what was clicked together.
func (a *Room) clicked(r *http.Request, q url.Values) (string, error) {
	lecture, _ := study.Builtin("lecture")
	s := study.Study{Folds: 5, Repeats: 1, Seed: 1}
	var problems param.Problems
	for _, n := range studyNumbers {
		text := n.Default
		if q.Has(n.Name) {
			text = strings.TrimSpace(q.Get(n.Name))
		}
		v, err := n.Parse(text)
		if err != nil {
			problems = append(problems, param.Problem{Field: n.Name, Message: err.Error()})
			continue
		}
		switch whole := int(v.Number()); n.Name {
		case "folds":
			s.Folds = whole
		case "repeats":
			s.Repeats = whole
		case "max_rows":
			s.MaxRows = whole
		case "seed":
			s.Seed = uint64(v.Number())
		}
	}
	if len(problems) > 0 {
		return "", problems
	}
	own, err := a.Store.Datasets(r.Context(), door.Workspace(r.Context()))
	if err != nil {
		return "", err
	}
	for _, asked := range q["data"] {
		at := slices.IndexFunc(lecture.Sets, func(set study.Set) bool { return set.Name == asked })
		if at >= 0 {
			s.Sets = append(s.Sets, lecture.Sets[at])
			continue
		}
		at = slices.IndexFunc(own, func(d store.Dataset) bool { return d.ID == asked })
		if at < 0 {
			return "", store.ErrNotFound
		}
		name := own[at].Name
		for n := 2; slices.ContainsFunc(s.Sets, func(set study.Set) bool { return set.Name == name }); n++ {
			name = fmt.Sprintf("%s %d", own[at].Name, n)
		}
		s.Sets = append(s.Sets, study.Set{Name: name, File: door.FileOf(own[at])})
	}
	for _, l := range lecture.Learners {
		if slices.Contains(q["learner"], l.Name) {
			s.Learners = append(s.Learners, l)
		}
	}
	switch {
	case len(s.Sets) == 0:
		return "", param.Problems{{Field: "data", Message: "data: choose one data set at least"}}
	case len(s.Learners) == 0:
		return "", param.Problems{{Field: "learner", Message: "learner: choose one learner at least"}}
	}
	s.Baseline, s.Title = s.Learners[0].Name, door.StudyTitle(&s)
	return s.Encode()
}

// CreateStudy begins a study: that of the file, or what was clicked together.
func (a *Room) CreateStudy(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, door.FormBytes+study.MostBytes); err != nil {
		return err
	}
	text := r.PostFormValue("study")
	if !r.PostForm.Has("study") {
		var err error
		if text, err = a.clicked(r, r.PostForm); err != nil {
			return a.studyAgain(w, r, r.PostForm, "", err)
		}
	}
	s, err := a.StartStudy(r.Context(), text)
	if err != nil {
		return a.studyAgain(w, r, r.PostForm, text, err)
	}
	return door.Redirect(w, r, "/studies/"+s.ID)
}

// studyAgain shows the form with what is wrong; other errors it hands on.
func (a *Room) studyAgain(w http.ResponseWriter, r *http.Request, q url.Values, file string, wrong error) error {
	message, err := door.Told(wrong)
	if err != nil {
		return err
	}
	var stored *store.Error
	if errors.As(wrong, &stored) {
		return wrong
	}
	p, err := a.studyForm(r, q)
	if err != nil {
		return err
	}
	p.File, p.Problem = file, message
	w.WriteHeader(http.StatusUnprocessableEntity)
	return a.Render(w, r, views.NewStudyPage(p))
}

func (a *Room) study(r *http.Request) (store.Study, error) {
	return a.Store.Study(r.Context(), door.Workspace(r.Context()), chi.URLParam(r, "id"))
}

// Study shows a study: how far it is, and what it has come to.
func (a *Room) Study(w http.ResponseWriter, r *http.Request) error {
	s, err := a.study(r)
	if err != nil {
		return err
	}
	asked, err := study.Parse(s.File, "study")
	if err != nil {
		return err
	}
	p := views.Study{Page: a.Frame(s.Title, "runs"), ID: s.ID, Title: s.Title, Status: string(s.Status()), Created: door.When(s.Created), File: s.File}
	p.Done, p.Total = cells(s)
	p.Brought = len(s.Searches) == 0
	p.Folds = fmt.Sprintf("%d folds", asked.Folds)
	if asked.Repeats > 1 {
		p.Folds += fmt.Sprintf(", dealt %d times", asked.Repeats)
	}
	p.Folds += ", settings chosen within the points that train"
	for _, l := range asked.Learners {
		p.Learners = append(p.Learners, l.Name)
	}
	for i, set := range asked.Sets {
		row := views.StudySet{Name: set.Name}
		for j := range asked.Learners {
			k := i*len(asked.Learners) + j
			if k >= len(s.Searches) {
				continue
			}
			one := s.Searches[k]
			cell := views.StudyCell{Href: "/searches/" + one.ID, Text: string(one.Status)}
			if !one.Status.Ended() && one.Done > 0 {
				cell.Text = fmt.Sprintf("%d of %d", one.Done, one.Total)
			}
			if one.Error != "" {
				p.Message = door.Sentence(fmt.Sprintf("data set %s, learner %s: %s", set.Name, asked.Learners[j].Name, one.Error))
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
		for _, t := range res.Tables() {
			table := views.StudyTable{Title: t.Title, Head: t.Head, Notes: t.Notes}
			for i, row := range t.Rows {
				var texts []views.StudyText
				for j, text := range row {
					texts = append(texts, views.StudyText{Text: minus.ReplaceAllString(text, "−$1"), Best: slices.Contains(t.Best, [2]int{i, j})})
				}
				table.Rows = append(table.Rows, texts)
			}
			p.Tables = append(p.Tables, table)
		}
		for _, e := range study.Exports {
			p.Exports = append(p.Exports, views.Option{Value: "/studies/" + s.ID + "/" + e.File, Label: e.Label})
		}
		for _, ranks := range figure.StudyRanks(res, figure.Format{Width: studyWidth}) {
			drawn, err := ranks.Picture()
			if err != nil {
				return err
			}
			src := "/studies/" + s.ID + "/figures/" + ranks.Name
			p.Pictures = append(p.Pictures, views.Picture{
				Src: src + ".svg", DarkSrc: src + ".svg?dark=1", Narrow: src + ".svg?narrow=1", NarrowDark: src + ".svg?narrow=1&dark=1", Alt: drawn.Caption, Caption: ranks.Title,
				Width: drawn.Width, Height: drawn.Height, SVG: src + ".svg", PNG: src + ".png",
			})
		}
	}
	return a.Render(w, r, views.StudyPage(p))
}

// Widths of the pictures of a study.
const (
	studyWidth       = 760
	studyWidthNarrow = 420
)

// StudyFigure sends a picture of the ranks.
func (a *Room) StudyFigure(w http.ResponseWriter, r *http.Request) error {
	name, format, err := door.FigureName(r)
	if err != nil {
		return err
	}
	res, err := a.studyResult(r)
	if err != nil {
		return err
	}
	f := figure.Format{Width: studyWidth}
	f.Dark = r.FormValue("dark") == "1"
	if r.FormValue("narrow") == "1" {
		f.Width = studyWidthNarrow
	}
	pictures := figure.StudyRanks(res, f)
	at := slices.IndexFunc(pictures, func(p figure.Ranks) bool { return p.Name == name })
	if at < 0 {
		return store.ErrNotFound
	}
	drawn, err := pictures[at].Picture()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	write, kind := drawn.SVG, "image/svg+xml"
	if format == "png" {
		write, kind = drawn.PNG, "image/png"
	}
	if err := write(&b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	_, err = b.WriteTo(w)
	return err
}

func (a *Room) studyResult(r *http.Request) (*study.Result, error) {
	s, err := a.study(r)
	if err != nil {
		return nil, err
	}
	if s.Status() != store.Done {
		return nil, web.Errorf(web.Conflict, "This study has not ended with a result.")
	}
	return a.Store.StudyResult(r.Context(), s)
}

// StudyFile sends a study as one of its files.
func (a *Room) StudyFile(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "file")
	if name == "study.toml" {
		s, err := a.study(r)
		if err != nil {
			return err
		}
		door.Attach(w, name, "application/toml")
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
	var b bytes.Buffer
	if err := study.Exports[at].Write(&b, res); err != nil {
		return err
	}
	door.Attach(w, name, study.Exports[at].Type)
	_, err = b.WriteTo(w)
	return err
}

// CancelStudy ends a study that is under way.
func (a *Room) CancelStudy(w http.ResponseWriter, r *http.Request) error {
	s, err := a.study(r)
	if err != nil {
		return err
	}
	if err := a.StopStudy(r.Context(), s); err != nil {
		return err
	}
	return door.Cancelled(w, r, "/studies/"+s.ID)
}

// DeleteStudy deletes a study and stops it.
func (a *Room) DeleteStudy(w http.ResponseWriter, r *http.Request) error {
	if err := a.RemoveStudy(r.Context(), chi.URLParam(r, "id")); err != nil {
		return err
	}
	return door.Redirect(w, r, "/studies")
}
