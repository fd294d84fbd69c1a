package studies

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views"
	studiesview "marginlab/views/studies"
	"marginlab/web"
)

// NewStudy shows the form of a study: as selected in the query, or as a file.
func (a *Handler) NewStudy(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if q.Get("study") != "" {
		s, err := a.Store.Study(r.Context(), frame.Workspace(r.Context()), q.Get("study"))
		if err != nil {
			return err
		}
		return a.Render(w, r, studiesview.NewStudyPage(studiesview.NewStudy{Page: a.studyFrame("New study"), File: s.File}))
	}
	m, err := a.menu(r, q)
	if err != nil {
		return err
	}
	p := m.form(q, nil)
	p.Page = a.studyFrame("New study")
	if q.Has("as") {
		if p.File, err = m.clicked(q); err != nil {
			return a.studyAgain(w, r, q, err)
		}
	}
	return a.Render(w, r, studiesview.NewStudyPage(p))
}

// studyNumbers lists the numeric fields of the form.
var studyNumbers = []param.Param{
	{Name: "folds", Label: "Folds", Kind: param.Integer, Default: "5", Min: 2, Max: 100, Help: "Number of folds, stratified by class; each is held out once."},
	{Name: "repeats", Label: "Repeats", Kind: param.Integer, Default: "1", Min: 1, Max: 100, Help: "Number of times the folds are drawn."},
	{Name: "max_rows", Label: "Maximum rows", Kind: param.Integer, Default: "200", Min: 0, Max: 1e6, Help: "Larger sets are subsampled, stratified by class (0 = no limit)."},
	{Name: "seed", Label: "Seed", Kind: param.Integer, Default: "1", Min: 0, Max: 1 << 53, Help: "Random seed of the folds and of the subsampling."},
}

// menuKind is a kind of study. Its data sets and learners must match, so each kind has its own
// form.
type menuKind struct {
	name, label string
	studies     []string // of the program, whose data and learners are offered
	takes       func(d store.Dataset) bool
}

var menuKinds = []menuKind{
	{"classes", "Points with classes", []string{"lecture", "classes"}, classesOf(dataset.KindVectors)},
	{"values", "Points with values", []string{"values"}, func(d store.Dataset) bool { return d.Kind == dataset.KindVectors && numeric(d.Classes) }},
	{"strings", "Strings", []string{"strings"}, classesOf(dataset.KindStrings)},
	{"graphs", "Graphs", []string{"graphs"}, classesOf(dataset.KindGraphs)},
	{"matrices", "Kernel matrices", []string{"matrices"}, classesOf(dataset.KindPrecomputed)},
}

// classesOf returns a filter for data sets of a kind with classes.
func classesOf(kind dataset.Kind) func(d store.Dataset) bool {
	return func(d store.Dataset) bool {
		return d.Kind == kind && len(d.Classes) > 1 && !dataset.Measured(d.Classes, d.Rows)
	}
}

// numeric reports whether all labels are numbers, as a regression needs.
func numeric(labels []string) bool {
	return len(labels) > 1 && !slices.ContainsFunc(labels, func(label string) bool {
		_, err := strconv.ParseFloat(label, 64)
		return err != nil
	})
}

// menu holds the choices of the form of a study.
type menu struct {
	kind     menuKind
	study    *study.Study    // built-in study, the first of the kind
	own      []store.Dataset // data sets of the workspace that fit the learners
	sets     []study.Set     // built in
	learners []study.Learner
}

// menu returns the choices for the kind of study in q, by default the first. It updates old names
// in q.
func (a *Handler) menu(r *http.Request, q url.Values) (m menu, err error) {
	at := slices.IndexFunc(menuKinds, func(k menuKind) bool { return k.name == cmp.Or(q.Get("of"), menuKinds[0].name) })
	if at < 0 {
		return m, store.ErrNotFound
	}
	m.kind = menuKinds[at]
	for _, name := range m.kind.studies {
		ready, _ := study.Builtin(name)
		m.study = cmp.Or(m.study, ready)
		for _, set := range ready.Sets {
			if !slices.ContainsFunc(m.sets, func(s study.Set) bool { return s.Name == set.Name }) {
				m.sets = append(m.sets, set)
			}
		}
		for _, l := range ready.Learners {
			if !slices.ContainsFunc(m.learners, func(o study.Learner) bool { return o.Name == l.Name }) {
				m.learners = append(m.learners, l)
			}
		}
	}
	all, err := a.Store.Datasets(r.Context(), frame.Workspace(r.Context()))
	m.own = lists.Filter(all, m.kind.takes)
	m.rename(q)
	return m, err
}

// rename replaces names in q by those of the menu: of learners in other letter case, and of
// generators, for links from before the names of built-in sets included the noise.
func (m menu) rename(q url.Values) {
	for i, asked := range q["learner"] {
		for _, l := range m.learners {
			if strings.EqualFold(l.Name, asked) {
				q["learner"][i] = l.Name
			}
		}
	}
	for _, set := range m.sets {
		if at := slices.Index(q["data"], set.Generator); at >= 0 && set.Generator != "" && set.Generator != set.Name {
			q["data"][at] = set.Name
			if own, ok := q[ownName("data", set.Generator)]; ok {
				q[ownName("data", set.Name)] = own
			}
		}
	}
}

// setLabel returns the name of a built-in set with the label of its generator: "XOR, noise 0.6".
func setLabel(s study.Set) string {
	if g, err := dataset.FindGenerator(s.Generator); err == nil && strings.HasPrefix(s.Name, g.Name) {
		return g.Label + strings.TrimPrefix(s.Name, g.Name)
	}
	return results.Capital(s.Name)
}

func (m menu) form(q url.Values, problems param.Problems) studiesview.NewStudy {
	p := studiesview.NewStudy{Of: m.kind.name, Values: m.study.Values, DataError: problems.For("data"), LearnersError: problems.For("learner")}
	for _, k := range menuKinds {
		p.Kinds = append(p.Kinds, views.Option{Value: "/studies/new?of=" + k.name, Label: k.label, Chosen: k.name == m.kind.name})
	}
	fresh := !q.Has("data") && !q.Has("learner") && !q.Has("folds") // a submitted form always has these
	choice := func(field, value, label, help string, first bool) studiesview.StudyChoice {
		own := ownName(field, value)
		return studiesview.StudyChoice{
			Option: views.Option{Value: value, Label: label, Help: help, Chosen: slices.Contains(q[field], value) || fresh && first},
			Named:  views.Field{Name: own, Form: "study-", Label: label, Kind: "text", Value: q.Get(own), Error: problems.For(own)},
		}
	}
	for _, d := range m.own {
		help := views.Counted(d.Rows, "row")
		if slices.ContainsFunc(m.own, func(o store.Dataset) bool { return o.ID != d.ID && o.Name == d.Name }) { // tell apart data sets of the same name
			help = "saved " + results.When(d.Created) + ", " + d.Hash[:8] + ", " + help
		}
		if d.Kind == dataset.KindVectors {
			help += ", " + views.Counted(d.Dims(), "feature")
		}
		if !m.study.Values && len(d.Classes) > 2 {
			help += fmt.Sprintf(", %d classes", len(d.Classes))
		}
		p.Data = append(p.Data, choice("data", d.ID, d.Name, help, false))
	}
	for _, s := range m.sets {
		p.Data = append(p.Data, choice("data", s.Name, setLabel(s), "built in", false))
	}
	baseline := views.Field{Name: "baseline", Form: "study-", Label: "Baseline", Help: "Tests compare all others with this learner.", Kind: "choice", Error: problems.For("baseline"), Options: []views.Option{{Label: "First learner selected"}}}
	for _, l := range m.learners {
		first := slices.ContainsFunc(m.study.Learners, func(o study.Learner) bool { return o.Name == l.Name })
		p.Learners = append(p.Learners, choice("learner", l.Name, l.Name, chosenFrom(l), first))
		baseline.Options = append(baseline.Options, views.Option{Value: l.Name, Label: l.Name, Chosen: q.Get("baseline") == l.Name})
	}
	chosen := func(all []studiesview.StudyChoice) int {
		return lists.Count(all, func(c studiesview.StudyChoice) bool { return c.Chosen })
	}
	p.Power = power(chosen(p.Data), chosen(p.Learners))
	p.Validation = []views.Field{baseline}
	for _, n := range studyNumbers {
		value := n.Default
		if q.Has(n.Name) {
			value = q.Get(n.Name)
		}
		p.Validation = append(p.Validation, views.Field{Name: n.Name, Form: "study-", Label: n.Label, Help: n.Help, Kind: "integer", Value: value, Error: problems.For(n.Name)})
	}
	return p
}

// ownName returns the field with a custom name of a data set or learner.
func ownName(field, value string) string { return field + "-name." + value }

// chosenFrom names the settings that are tuned in every fold.
func chosenFrom(l study.Learner) string {
	var names []string
	for _, p := range ml.Params {
		if len(l.Grid[p.Name]) > 0 {
			names = append(names, cmp.Or(p.Symbol, p.Label))
		}
	}
	if names == nil {
		return ""
	}
	return "tunes " + strings.Join(names, ", ")
}

// clicked returns the study file for the selection of q.
func (m menu) clicked(q url.Values) (string, error) {
	s := study.Study{Values: m.study.Values}
	var problems param.Problems
	for _, n := range studyNumbers {
		text := n.Default
		if q.Has(n.Name) {
			text = strings.TrimSpace(q.Get(n.Name))
		}
		v, err := n.Labelled().Parse(text)
		if err != nil {
			problems.Note(n.Name, err)
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
	// called returns the custom name, or the usual one, with a number if it is taken.
	called := func(field, value, usual string, taken func(name string) bool) string {
		given := strings.TrimSpace(q.Get(ownName(field, value)))
		name := cmp.Or(given, usual)
		if err := study.CheckName(name); err != nil {
			problems.Note(ownName(field, value), err)
		}
		if given != "" && taken(name) {
			problems.Add(ownName(field, value), "two are called %s; give each its own name", name)
		}
		for n := 2; taken(name); n++ {
			name = fmt.Sprintf("%s %d", usual, n)
		}
		return name
	}
	for _, asked := range q["data"] {
		var set study.Set
		var usual string
		if at := slices.IndexFunc(m.sets, func(set study.Set) bool { return set.Name == asked }); at >= 0 {
			set, usual = m.sets[at], setLabel(m.sets[at])
		} else if at := slices.IndexFunc(m.own, func(d store.Dataset) bool { return d.ID == asked }); at >= 0 {
			set, usual = study.Set{File: results.FileOf(m.own[at])}, m.own[at].Name
		} else {
			return "", store.ErrNotFound
		}
		set.Name = called("data", asked, usual, func(name string) bool {
			return slices.ContainsFunc(s.Sets, func(o study.Set) bool { return o.Name == name })
		})
		s.Sets = append(s.Sets, set)
	}
	baseline := ""
	for _, l := range m.learners {
		if !slices.Contains(q["learner"], l.Name) {
			continue
		}
		asked := l.Name
		l.Name = called("learner", asked, asked, func(name string) bool {
			return slices.ContainsFunc(s.Learners, func(o study.Learner) bool { return o.Name == name })
		})
		s.Learners = append(s.Learners, l)
		if q.Get("baseline") == asked {
			baseline = l.Name
		}
	}
	if len(s.Sets) == 0 {
		problems.Add("data", "choose at least one data set")
	}
	if len(s.Learners) == 0 {
		problems.Add("learner", "choose at least one learner")
	} else if baseline == "" && q.Get("baseline") != "" {
		problems.Add("baseline", "%s is not among the chosen learners; choose it too, or another baseline", q.Get("baseline"))
	}
	if len(problems) > 0 {
		return "", problems
	}
	s.Baseline, s.Title = cmp.Or(baseline, s.Learners[0].Name), results.StudyTitle(&s)
	return s.Encode()
}

// CreateStudy starts a study from a file or from the selection in the form.
func (a *Handler) CreateStudy(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, web.FormBytes+study.MostBytes); err != nil {
		return err
	}
	text := r.PostFormValue("study")
	if !r.PostForm.Has("study") {
		m, err := a.menu(r, r.PostForm)
		if err != nil {
			return err
		}
		if text, err = m.clicked(r.PostForm); err != nil {
			return a.studyAgain(w, r, r.PostForm, err)
		}
	}
	s, err := a.StartStudy(r.Context(), frame.Workspace(r.Context()), store.Request{}, text)
	if err != nil {
		return a.studyAgain(w, r, r.PostForm, err)
	}
	return frame.Redirect(w, r, "/studies/"+s.ID)
}

// studyAgain shows the form with its problems: beneath their fields or, if they concern the whole
// study, above the form. It returns other errors.
func (a *Handler) studyAgain(w http.ResponseWriter, r *http.Request, q url.Values, wrong error) error {
	message, err := results.UserMessage(wrong)
	if err != nil {
		return err
	}
	if _, ok := errors.AsType[*store.Error](wrong); ok {
		return wrong
	}
	m, err := a.menu(r, q)
	if err != nil {
		return err
	}
	problems, _ := errors.AsType[param.Problems](wrong)
	p := m.form(q, problems)
	p.Page, p.File = a.studyFrame("New study"), q.Get("study")
	switch ofStudy := results.FieldMessage(problems, "study"); {
	case q.Has("study"):
		p.FileError = cmp.Or(ofStudy, message)
	case ofStudy != "" || problems == nil:
		p.Problem = cmp.Or(ofStudy, message)
	}
	w.WriteHeader(http.StatusUnprocessableEntity)
	return a.Render(w, r, studiesview.NewStudyPage(p))
}

// power describes the smallest p-value that a study of this size can reach: for n data sets,
// Wilcoxon's exact signed-rank test reaches 2^(1−n), and Holm's correction multiplies it by the
// number of learners compared with the baseline.
func power(sets, learners int) string {
	pairs := max(1, learners-1)
	least := func(n int) float64 { return min(1, float64(pairs)*math.Ldexp(1, 1-n)) }
	needed := 1
	for least(needed) >= study.Level {
		needed++
	}
	after := ""
	if pairs > 1 {
		after = fmt.Sprintf(" after Holm's correction for %d pairs", pairs)
	}
	level := strconv.FormatFloat(study.Level, 'g', 2, 64)
	bound := strconv.FormatFloat(least(sets), 'g', 2, 64)
	switch {
	case sets == 0:
		return fmt.Sprintf("No data set chosen. With fewer than %d, Wilcoxon's p%s cannot fall below %s.", needed, after, level)
	case learners < 2:
		return views.Counted(sets, "data set") + ", " + views.Counted(learners, "learner") + ": choose two learners to compare."
	case sets < needed:
		return fmt.Sprintf("%s: Wilcoxon's p%s cannot fall below %s; add at least %d.", views.Counted(sets, "data set"), after, bound, needed-sets)
	}
	return fmt.Sprintf("%s, %d learners: Wilcoxon's p%s can fall to %s.", views.Counted(sets, "data set"), learners, after, bound)
}
