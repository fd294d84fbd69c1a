// Package data serves data sets: upload, generation, editing and viewing.
package data

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"gonum.org/v1/gonum/mat"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	dataview "marginlab/views/data"
	"marginlab/views/figure"
	"marginlab/web"
)

// textCells is the maximum number of values of a data set that can be edited as text; textSymbols
// is the maximum number of symbols.
const (
	textCells   = 20_000
	textSymbols = 200_000
)

// previewRows is the number of rows shown when the columns of a file are chosen.
const previewRows = 8

// Handler serves the pages of data sets: new ones, uploads, lists and single sets.
type Handler struct{ *frame.Base }

// List shows all data sets and the forms to create one.
func (a *Handler) List(w http.ResponseWriter, r *http.Request) error {
	p, err := a.datasets(r)
	if err != nil {
		return err
	}
	return a.Render(w, r, dataview.DatasetsPage(p))
}

// datasets returns the page with empty forms.
func (a *Handler) datasets(r *http.Request) (dataview.Datasets, error) {
	undo, err := a.Undo(r)
	if err != nil {
		return dataview.Datasets{}, err
	}
	p := dataview.Datasets{Page: a.Frame("Data", "data"), Undo: undo, Builtins: Builtins(a.Base), Limits: a.limitsText(), Forms: formsText(), Most: a.Limits.Bytes, Request: rand.Text(), Fetches: a.Fetcher != nil}
	sets, err := a.Store.Datasets(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return p, err
	}
	p.Sets = lists.Map(sets, Row)
	for i, g := range dataset.Generators {
		f := dataview.GeneratorForm{
			Name: g.Name, Label: g.Label, Help: g.Help, Open: i == 0,
			Thumb: thumbnail(frame.OfGenerator+g.Name, "", g.Kind, g.Label),
		}
		for _, q := range g.Params {
			field := frame.ParamField(q, q.Default)
			field.Form = g.Name + "-"
			f.Fields = append(f.Fields, field)
		}
		p.Generators = append(p.Generators, f)
	}
	return p, nil
}

func (a *Handler) limitsText() string {
	return fmt.Sprintf("Up to %d MB, %s and %d columns, one of them the label: classes, or numbers for a regression. Separator, header, encoding and number format are detected. Excel: one sheet at a time.", a.Limits.Bytes>>20, dataset.Count(a.Limits.Rows, "row"), a.Limits.Columns)
}

// formsText describes the kinds of files besides tables of numbers.
func formsText() string {
	return `Kernel matrix: as many columns as rows, and a label, as CSV or in LIBSVM's form 0:i 1:K. Strings: a column of a CSV beside the label, FASTA, or a zip of texts, in folders named after their classes or with one CSV of names and labels. Graphs: JSON lines, each {"n":3,"edges":[[0,1],[1,2]],"labels":["C","C","O"],"label":"a"}, with "directed":true and "edge_labels" if you like, GraphML, or a zip of a TU Dortmund set.`
}

// Row returns a data set as a row of a list.
func Row(s store.Dataset) dataview.DatasetRow {
	return dataview.DatasetRow{
		ID: s.ID, Name: s.Name, Size: sizeText(s), Classes: classesText(s.Classes, s.Rows),
		Thumb: thumbnail(s.ID, "", s.Kind, s.Name),
	}
}

func sizeText(s store.Dataset) string {
	switch s.Kind {
	case dataset.KindPrecomputed:
		return fmt.Sprintf("kernel matrix of %d objects", s.Rows)
	case dataset.KindStrings:
		return fmt.Sprintf("%d strings", s.Rows)
	case dataset.KindGraphs:
		return fmt.Sprintf("%d graphs", s.Rows)
	}
	return fmt.Sprintf("%d × %d", s.Rows, s.Dims())
}

// Builtins returns the built-in data sets for lists on pages.
func Builtins(h *frame.Base) (rows []dataview.BuiltinRow) {
	for _, b := range dataset.Builtins {
		source := ""
		if b.License != "" {
			source = b.Source + ". Licence: " + b.License + "."
		}
		rows = append(rows, dataview.BuiltinRow{
			Slug: b.Slug, Name: b.Name, Help: b.Help, Source: source,
			Thumb: thumbnail(b.Slug, h.Lasting(""), b.Kind, b.Name),
		})
	}
	return rows
}

// thumbnail returns the small picture of a data set: its points, objects or kernel matrix.
func thumbnail(id, query string, k dataset.Kind, name string) views.Picture {
	figure, what := "points", "Points"
	switch k {
	case dataset.KindStrings, dataset.KindGraphs:
		figure, what = "objects", "Some "+string(k)
	case dataset.KindPrecomputed:
		what = "Kernel matrix"
	}
	return pictures.Thumbnail("/datasets/"+id+"/figures/", figure, query, what+" of "+name)
}

// typedRows takes the place of a file name for rows that were typed instead of uploaded.
const typedRows = "typed rows"

// file holds an uploaded file with its name, or the text typed in its place.
type file struct {
	io.ReadSeeker
	io.Closer
	name string
	size int64
}

// sent returns the file of a form, or the one at the URL in it.
func (a *Handler) sent(r *http.Request) (file, error) {
	if address := r.PostFormValue("url"); address != "" && a.Fetcher != nil {
		f, name, size, err := a.Fetched(r.Context(), address)
		return file{f, f, name, size}, err
	}
	if text := r.PostFormValue("text"); text != "" {
		return file{strings.NewReader(text), io.NopCloser(nil), typedRows, int64(len(text))}, nil
	}
	f, head, err := r.FormFile("file")
	if err != nil {
		return file{}, err
	}
	return file{f, f, head.Filename, head.Size}, nil
}

// originOf describes the source of a data set and how it was read.
func originOf(file string, d *dataset.Data) string {
	origin := "uploaded " + file
	if file == typedRows {
		origin = "typed"
	}
	return frame.OriginOf(origin, d)
}

// Upload takes a file. If its columns are unambiguous, it becomes a data set at once; otherwise it
// is kept until the columns are chosen.
func (a *Handler) Upload(w http.ResponseWriter, r *http.Request) error {
	err := web.ParseForm(w, r, a.Limits.Bytes+web.FormBytes) // the file and the other fields
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return a.uploadAgain(w, r, http.StatusRequestEntityTooLarge, "", fmt.Sprintf("The file is larger than %d MB. Nothing was saved.", a.Limits.Bytes>>20))
	}
	if err != nil {
		return err
	}
	name := r.FormValue("name")
	f, err := a.sent(r)
	switch {
	case web.Status(err) != 0:
		return a.uploadAgain(w, r, web.Status(err), name, err.Error())
	case errors.Is(err, http.ErrMissingFile), errors.Is(err, http.ErrNotMultipart):
		return a.uploadAgain(w, r, http.StatusUnprocessableEntity, name, "Choose a file first, or type rows.")
	case err != nil:
		return err
	}
	defer f.Close()
	packed, err := limiter.IsPacked(f)
	if err != nil {
		return err
	}
	leave, err := a.AdmitFile(r.Context(), w, f.size, packed)
	if err != nil {
		return err
	}
	defer leave()
	table, err := dataset.ParseTable(f, f.name, a.Limits)
	if err != nil {
		return a.refuseFile(w, r, name, err)
	}
	mapping, obvious := table.Guess()
	if !obvious || len(table.Sheets) > 1 {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		id, err := a.Store.SaveUpload(r.Context(), frame.Workspace(r.Context()), f.name, f)
		if err != nil {
			return err
		}
		q := url.Values{}
		if name != "" {
			q.Set("name", name)
		}
		return frame.Redirect(w, r, "/datasets/mapping/"+id+"?"+q.Encode())
	}
	d, err := table.Data(mapping)
	if err != nil {
		return a.refuseFile(w, r, name, err)
	}
	return a.keep(w, r, results.NameOf(name, f.name), originOf(f.name, d), d)
}

// refuseFile shows the form with the error in the file.
func (a *Handler) refuseFile(w http.ResponseWriter, r *http.Request, name string, err error) error {
	message := fileMessage(err)
	switch {
	case errors.Is(err, dataset.ErrTooLarge):
		return a.uploadAgain(w, r, http.StatusRequestEntityTooLarge, name, message)
	case message != "":
		return a.uploadAgain(w, r, http.StatusUnprocessableEntity, name, message)
	}
	return err
}

// fileMessage returns the reader's message about a bad file, "" for any other error.
func fileMessage(err error) string {
	if wrong, ok := errors.AsType[*dataset.Error](err); ok {
		return wrong.Error() + "."
	}
	return ""
}

// uploadAgain shows the submitted form with its error.
func (a *Handler) uploadAgain(w http.ResponseWriter, r *http.Request, status int, name, message string) error {
	p, err := a.datasets(r)
	if err != nil {
		return err
	}
	if text, typed := r.PostForm["text"]; typed {
		p.Typed = dataview.UploadForm{Name: name, Error: message, Text: text[0]}
	} else {
		p.Upload = dataview.UploadForm{Name: name, Error: message, URL: r.PostFormValue("url")}
	}
	w.WriteHeader(status)
	return a.Render(w, r, dataview.DatasetsPage(p))
}

// keep stores a data set and redirects to it.
func (a *Handler) keep(w http.ResponseWriter, r *http.Request, name, origin string, d *dataset.Data) error {
	set, err := a.Store.CreateDatasetOnce(r.Context(), frame.Workspace(r.Context()), store.Request{Key: r.PostFormValue("request")}, name, origin, d)
	return frame.Done(w, r, "/datasets/"+set.ID, err)
}

// Mapping shows the form in which the columns of an uploaded file are chosen.
func (a *Handler) Mapping(w http.ResponseWriter, r *http.Request) error {
	table, file, leave, message, err := a.upload(w, r)
	if err != nil {
		return err
	}
	defer leave()
	m, _ := table.Guess()
	return a.askMapping(w, r, table, file, m, results.NameOf(r.FormValue("name"), file), message)
}

// upload returns the stored file named in the request's path, once there is memory for it; of a
// workbook, the requested sheet. If that sheet cannot be read, it returns another one with a
// message.
func (a *Handler) upload(w http.ResponseWriter, r *http.Request) (t *dataset.Table, file string, leave func(), message string, err error) {
	file, body, err := a.Store.Upload(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id"))
	if err != nil {
		return nil, "", nil, "", err
	}
	head, _ := body.Peek(2)
	if leave, err = a.AdmitFile(r.Context(), w, int64(body.Len()), limiter.Packed(head)); err != nil {
		return nil, "", nil, "", err
	}
	sheet := r.FormValue("sheet")
	t, err = dataset.ParseSheet(body, file, sheet, a.Limits)
	if message = fileMessage(err); message != "" && sheet != "" {
		if file, body, err = a.Store.Upload(r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id")); err == nil {
			t, err = dataset.ParseTable(body, file, a.Limits)
		}
	}
	if err != nil {
		leave()
	}
	return t, file, leave, message, err
}

// kindOf describes the content of column j.
func kindOf(t *dataset.Table, j int) string {
	c, kind := &t.Columns[j], "text"
	switch {
	case t.Numbering(j):
		kind = "row number"
	case c.Numeric, c.Gappy():
		kind = "numbers"
	case c.Dates():
		kind = "dates"
	case c.Words() != nil:
		kind = fmt.Sprintf("%d words", len(c.Words()))
	}
	if c.Constant() {
		kind += ", constant"
	}
	if n := c.Missing(); n > 0 {
		kind += fmt.Sprintf(", %d missing", n)
	}
	return kind
}

// profileView returns the summary of a column for a page.
func profileView(name string, p dataset.Profile) dataview.Profile {
	v := dataview.Profile{Name: name, Counts: p.Counts, Words: p.Words}
	switch {
	case len(p.Counts) == 0:
		v.Text = "empty"
	case p.Words == nil && p.Least == p.Most:
		v.Counts, v.Text = nil, "always "+views.Short(p.Least)
	case p.Words == nil:
		v.Text = views.Short(p.Least) + " to " + views.Short(p.Most)
	case p.Counts[0] == 1:
		v.Counts, v.Text = nil, "all values distinct"
	default:
		const most = 3
		for k := range min(most, len(p.Words)) {
			v.Text += fmt.Sprintf("%s %d, ", pictures.Clipped(p.Words[k]), p.Counts[k])
		}
		if v.Text = strings.TrimSuffix(v.Text, ", "); len(p.Words) > most {
			v.Text += ", …"
		}
	}
	return v
}

// askMissing returns the choices for rows with missing values. Missing labels are not imputed.
func askMissing(rows, values int, chosen dataset.Missing) []views.Option {
	those, them := fmt.Sprintf("these %d rows", rows), fmt.Sprintf("the %d missing values", values)
	if rows == 1 {
		those = "this row"
	}
	if values == 1 {
		them = "the missing value"
	}
	leave := views.Option{Value: string(dataset.MissingDrop), Label: "Leave out " + those, Help: "The other rows stay as they are."}
	if values == 0 {
		leave.Chosen = true
		return []views.Option{leave}
	}
	return views.Choose([]views.Option{
		leave,
		{Value: string(dataset.MissingMedian), Label: "Fill in the median", Help: "Fills " + them + " with the column's median (or most common word), computed on the training set only. Rows without a label are left out."},
	}, string(cmp.Or(chosen, dataset.MissingDrop)))
}

func (a *Handler) askMapping(w http.ResponseWriter, r *http.Request, t *dataset.Table, file string, m dataset.Mapping, name, message string) error {
	proposal := t.Propose(dataset.Mapping{Label: m.Label, Fixes: m.Fixes})
	raw := t
	t = proposal.Table
	p := dataview.MappingPage{
		Page: a.Frame("Columns of "+file, "data"), Upload: chi.URLParam(r, "id"), File: file, Name: name, Error: message, Reads: reads(raw), Rows: len(t.Lines), Sheet: t.Sheet,
	}
	if p.Label = proposal.Label; p.Label != "" {
		p.What, p.From = proposal.What(), proposal.From()
	}
	p.Labels = views.Choose(pictures.PlainOptions(proposal.Labels...), p.Label)
	if left := proposal.LeftText(); left != "" {
		p.From += "; " + left
	}
	p.Left = lists.Map(proposal.Left, func(l dataset.LeftOut) dataview.Named { return dataview.Named{Name: l.Column, Text: l.Reason} })
	for _, c := range proposal.Checks {
		p.Checks = append(p.Checks, views.Option{Value: c.Fix.String(), Label: c.Do + ":", Help: c.Text, Chosen: c.Applied})
	}
	if len(t.Sheets) > 1 {
		p.Sheets = views.Choose(pictures.PlainOptions(t.Sheets...), t.Sheet)
	}
	words := slices.ContainsFunc(t.Columns, func(c dataset.Column) bool { return c.IsText() && !c.Dates() && c.Name != m.Label })
	kinds := []views.Option{{Value: string(dataset.KindVectors), Label: "features", Help: "Each row is a point."}}
	if t.Square() || t.Kind == dataset.KindPrecomputed {
		kinds = append(kinds, views.Option{Value: string(dataset.KindPrecomputed), Label: "values of a kernel", Help: "A kernel matrix: row i holds the kernel values of object i with every object. All columns but the label belong to it."})
	}
	if words || m.Kind == dataset.KindStrings {
		p.Objects = "strings"
		kinds = append(kinds, views.Option{Value: string(dataset.KindStrings), Label: "strings", Help: "One column holds words, sentences or sequences, which string kernels compare."})
	}
	held, could := []string{t.StringsColumn(m)}, t.GraphColumns()
	if t.Kind == dataset.KindGraphs {
		p.Objects = "graphs"
		kinds = []views.Option{{Value: string(dataset.KindGraphs), Label: "graphs", Help: "If several columns hold graphs, they are the same ones with other labels or directions. Graph kernels compare them."}}
		held = append(slices.Clone(m.Features), could...)
	}
	if len(kinds) > 1 || t.Kind == dataset.KindGraphs {
		p.Kinds = views.Choose(kinds, string(cmp.Or(m.Kind, dataset.KindVectors)))
	}
	for j, c := range t.Columns {
		chosen := slices.Contains(m.Features, c.Name) // even with an invalid number, whose place Data names
		p.Columns = append(p.Columns, dataview.ColumnRow{
			Holds: c.Name == held[0], CanHold: len(could) == 0 || slices.Contains(could, c.Name),
			Name: c.Name, Kind: kindOf(t, j), Label: c.Name == m.Label, CanBeFeature: chosen && m.Kind != dataset.KindStrings || c.Numeric || c.Gappy() || c.Words() != nil,
			Profile: profileView(c.Name, c.Profile()),
			Feature: chosen || m.Features == nil && (c.Numeric || c.Gappy()) && c.Name != m.Label,
		})
	}
	var features []string
	for _, c := range p.Columns {
		if c.Feature && !c.Label {
			features = append(features, c.Name)
		}
	}
	if rows, values := t.Incomplete(m.Label, features); len(rows) > 0 {
		p.Missing = askMissing(len(rows), values, m.Missing)
	}
	for i := range min(previewRows, len(t.Lines)) {
		row := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			if row[j] = c.Cell(i); t.Kind == dataset.KindGraphs {
				row[j] = pictures.Clipped(row[j])
			}
		}
		p.Preview = append(p.Preview, row)
	}
	if message != "" {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.Render(w, r, dataview.MappingView(p))
}

// ChooseMapping makes a data set from a stored file and the chosen columns.
func (a *Handler) ChooseMapping(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	table, file, leave, message, err := a.upload(w, r)
	if err != nil {
		return err
	}
	defer leave()
	if message != "" {
		m, _ := table.Guess()
		return a.askMapping(w, r, table, file, m, results.NameOf(r.PostFormValue("name"), file), message)
	}
	m := dataset.Mapping{Kind: cmp.Or(dataset.Kind(r.PostFormValue("kind")), dataset.KindVectors), Label: r.PostFormValue("label"), Missing: dataset.Missing(r.PostFormValue("missing"))}
	m.Fixes = []dataset.Fix{} // the chosen ones only
	for _, text := range r.PostForm["fix"] {
		fix, err := dataset.ParseFix(text)
		if err != nil {
			return web.Errorf(web.Invalid, "%s", results.Sentence(err.Error()))
		}
		m.Fixes = append(m.Fixes, fix)
	}
	name := results.NameOf(r.PostFormValue("name"), file)
	if before := r.PostFormValue("propose"); before != "" { // the label or the corrections have changed
		if m.Label != before {
			m.Fixes = nil
		}
		return a.askMapping(w, r, table, file, table.Propose(m).Mapping, name, "")
	}
	m.Features = lists.Filter(r.PostForm["feature"], func(f string) bool { return f != m.Label && m.Kind == dataset.KindVectors })
	if column := r.PostFormValue("objects"); column != "" && (m.Kind == dataset.KindStrings || m.Kind == dataset.KindGraphs) {
		m.Features = []string{column}
	}
	if m.Label == "" || len(m.Features) == 0 && m.Kind == dataset.KindVectors {
		return a.askMapping(w, r, table, file, m, name, "Choose one label column and at least one feature.")
	}
	d, err := table.Data(m)
	if message := fileMessage(err); message != "" {
		return a.askMapping(w, r, table, file, m, name, message)
	} else if err != nil {
		return err
	}
	set, err := a.Store.CreateDataset(r.Context(), frame.Workspace(r.Context()), name, originOf(file, d), d)
	if err != nil {
		return err
	}
	return frame.Done(w, r, "/datasets/"+set.ID, a.Store.DeleteUpload(r.Context(), frame.Workspace(r.Context()), id))
}

// Generate stores generated data as a data set.
func (a *Handler) Generate(w http.ResponseWriter, r *http.Request) error {
	g, err := dataset.FindGenerator(r.PostFormValue("generator"))
	if err != nil {
		return err
	}
	values, problems := frame.GeneratorValues(g, func(p param.Param) (string, bool) { return p.Typed(r.PostFormValue(p.Name)), true })
	if len(problems) > 0 {
		return a.generateAgain(w, r, g, problems)
	}
	d, err := g.Generate(values)
	if errors.As(err, &problems) {
		return a.generateAgain(w, r, g, problems)
	}
	if err != nil {
		return err
	}
	return a.keep(w, r, g.Title(values), g.Origin(values), d)
}

func (a *Handler) generateAgain(w http.ResponseWriter, r *http.Request, g dataset.Generator, problems param.Problems) error {
	p, err := a.datasets(r)
	if err != nil {
		return err
	}
	for i := range p.Generators {
		f := &p.Generators[i]
		f.Open = f.Name == g.Name
		for k := range f.Fields {
			if f.Open {
				f.Fields[k].Value, f.Fields[k].Error = r.PostFormValue(f.Fields[k].Name), problems.For(f.Fields[k].Name)
			}
		}
	}
	w.WriteHeader(http.StatusUnprocessableEntity)
	return a.Render(w, r, dataview.DatasetsPage(p))
}

// Page shows a data set.
func (a *Handler) Page(w http.ResponseWriter, r *http.Request) error {
	return a.showDataset(w, r, http.StatusOK, dataview.Dataset{})
}

// showDataset shows the page. form holds the submitted object form, if any.
func (a *Handler) showDataset(w http.ResponseWriter, r *http.Request, status int, form dataview.Dataset) error {
	set, d, leave, err := a.dataset(w, r)
	if err != nil {
		return err
	}
	defer leave()
	q := url.Values{}
	x, y := r.FormValue("x"), r.FormValue("y")
	if x != "" {
		q.Set("x", x)
		q.Set("y", y)
	}
	caption := fmt.Sprintf("%s: %s.", set.Name, counts(d))
	width := pictures.MainWidth
	if d.Kind() == dataset.KindPrecomputed {
		width = pictures.MainHeight + 50 // square, plus its colour bar
	}
	p := dataview.Dataset{
		Page: a.Frame(set.Name, "data"), ID: set.ID, Name: set.Name, Origin: set.Origin, Size: sizeText(set), Hash: cmp.Or(form.Hash, set.Hash), Created: results.When(set.Created), Error: form.Error,
		Text: form.Text, TextError: form.TextError, Editable: len(d.Features) == 2 && set.Rows <= pictures.LiveRows && !d.Measured(),
		Picture: pictures.Linked("/datasets/"+set.ID+"/figures/", "points", q.Encode(), width, pictures.MainHeight, caption, caption),
		Total:   set.Rows,
		Counts: append(objectNumbers(d),
			views.Number{Label: "label", Value: d.Label},
			labelNumber(d),
			views.Number{Label: "fingerprint", Value: set.Hash[:16], Help: "Identical data sets have the same one: the beginning of the SHA-256 of their CSV."},
		),
	}
	if len(d.Features) > 2 {
		p.Axes = pictures.AxisOptions(d.Features)
		p.AxisX, p.AxisY = figure.Axes(d.Features, x, y)
	}
	p.Profiles = lists.Make(len(d.Features), func(k int) dataview.Profile {
		return profileView(d.Features[k], dataset.ProfileOf(mat.Col(nil, k, d.X)))
	})
	names, cells := columns(d)
	p.Header = append(append([]string{"row"}, names...), d.Label)
	for i := range min(pictures.TableRows, set.Rows) {
		p.Rows = append(p.Rows, append(append([]string{strconv.Itoa(i + 1)}, cells(i)...), d.Classes[d.Y[i]]))
	}
	if g, ok := d.Objects.(*dataset.Graphs); ok {
		p.Drawings = lists.Make(len(p.Rows), func(i int) views.Picture { return drawing(set.ID, i, g.Values[i]) })
	}
	if p.Text == "" && editable(d) {
		var text strings.Builder
		if err := d.Encode(&text); err != nil {
			return err
		}
		p.Text = text.String()
	}
	if p.Objects = form.Objects; p.Objects == nil {
		row, _ := strconv.Atoi(r.FormValue("row"))
		p.Objects = objectForm(d, row)
	}
	w.WriteHeader(status)
	return a.Render(w, r, dataview.DatasetPage(p))
}

// labelNumber describes the labels.
func labelNumber(d *dataset.Data) views.Number {
	if d.Measured() {
		return views.Number{Label: "values", Value: between(d.Classes), Help: fmt.Sprintf("%d distinct values: the lab fits a regression.", len(d.Classes))}
	}
	return views.Number{Label: "classes", Value: counts(d)}
}

// objectNumbers returns the number and sizes of the objects.
func objectNumbers(d *dataset.Data) []views.Number {
	n := strconv.Itoa(d.Len())
	if p, ok := d.Objects.(*dataset.Precomputed); ok {
		return []views.Number{
			{Label: "objects", Value: n, Help: "Given by their kernel matrix alone."},
			{Label: "kernel values", Value: views.Short(mat.Min(p.K)) + " to " + views.Short(mat.Max(p.K))},
		}
	}
	if s, ok := d.Objects.(*dataset.Strings); ok {
		symbols := map[rune]bool{}
		for _, v := range s.Values {
			for _, c := range v {
				symbols[c] = true
			}
		}
		return []views.Number{
			{Label: "strings", Value: n},
			{Label: "length", Value: span(lists.Map(s.Values, utf8.RuneCountInString)), Help: "Shortest to longest, in symbols."},
			{Label: "symbols", Value: strconv.Itoa(len(symbols)), Help: "Distinct symbols in all strings."},
		}
	}
	if g, ok := d.Objects.(*dataset.Graphs); ok {
		nodes, edges := make([]int, d.Len()), make([]int, d.Len())
		directed, kinds := 0, map[string]bool{}
		for i, v := range g.Values {
			if nodes[i], edges[i] = v.N, len(v.Edges); v.Directed {
				directed++
			}
			for _, l := range v.EdgeLabels {
				kinds[l] = true
			}
		}
		return []views.Number{
			{Label: "graphs", Value: n},
			{Label: "directed graphs", Value: strconv.Itoa(directed)},
			{Label: "nodes", Value: span(nodes), Help: "Smallest to largest graph."},
			{Label: "edges", Value: span(edges), Help: "Fewest to most in a graph."},
			{Label: "node labels", Value: strconv.Itoa(len(figure.NodeLabels(g.Values...))), Help: "Distinct labels in all graphs; 0: nodes have none."},
			{Label: "edge labels", Value: strconv.Itoa(len(kinds)), Help: "Distinct labels in all graphs; 0: edges have none."},
		}
	}
	features := views.Number{Label: "features", Value: strings.Join(d.Features, ", ")}
	if len(d.Features) > mostNames {
		features.Value, features.Help = strconv.Itoa(len(d.Features)), "Listed under Columns."
	}
	return []views.Number{{Label: "points", Value: n}, features}
}

// span formats the smallest and largest of some numbers.
func span(n []int) string {
	least, largest := slices.Min(n), slices.Max(n)
	if least == largest {
		return strconv.Itoa(least)
	}
	return fmt.Sprintf("%d to %d", least, largest)
}

// drawing returns the small picture of the graph in a row, counted from 0.
func drawing(id string, row int, g dataset.Graph) views.Picture {
	const width, height = 160, 120
	p := pictures.Linked("/datasets/"+id+"/figures/", "graph", url.Values{"row": {strconv.Itoa(row + 1)}}.Encode(), width, height, figure.SizeOf(g), "")
	p.Lazy = true
	return p
}

// tableColumns is the number of kernel values shown per object.
const tableColumns = 10

// columns returns the column names of a table of objects and a function for the cells of a row.
func columns(d *dataset.Data) (names []string, cells func(i int) []string) {
	numbers := func(x *mat.Dense, most int, rest ...string) func(i int) []string {
		return func(i int) (row []string) {
			row = lists.Map(x.RawRowView(i)[:most], func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) })
			return append(row, rest...)
		}
	}
	text := func(i int) []string { return []string{pictures.Clipped(d.Objects.Text(i))} }
	switch o := d.Objects.(type) {
	case *dataset.Strings:
		return []string{o.Name}, text
	case *dataset.Graphs:
		return []string{o.Name}, text
	case nil:
		return d.Features, numbers(d.X, len(d.Features))
	case *dataset.Precomputed:
		shown := min(tableColumns, o.Columns())
		names = lists.Make(shown, func(j int) string { return fmt.Sprintf("K%d", j+1) })
		if o.Columns() > shown {
			return append(names, "…"), numbers(o.K, shown, "…")
		}
		return names, numbers(o.K, shown)
	}
	return []string{"object"}, text
}

// editable reports whether the rows can be edited as text.
func editable(d *dataset.Data) bool {
	switch d.Kind() {
	case dataset.KindVectors:
		return d.Len()*len(d.Features) <= textCells
	case dataset.KindStrings, dataset.KindGraphs:
		symbols := 0
		for i := 0; i < d.Len() && symbols <= textSymbols; i++ {
			symbols += len(d.Objects.Text(i))
		}
		return symbols <= textSymbols
	}
	return false
}

// dataset returns the data set named in the request's path, once there is memory for it.
func (a *Handler) dataset(w http.ResponseWriter, r *http.Request) (set store.Dataset, d *dataset.Data, leave func(), err error) {
	ctx, ws, id := r.Context(), frame.Workspace(r.Context()), chi.URLParam(r, "id")
	if set, err = a.Store.Dataset(ctx, ws, id); err != nil {
		return set, nil, nil, err
	}
	if leave, err = a.AdmitData(ctx, w, set); err != nil {
		return set, nil, nil, err
	}
	if set, d, err = a.Store.DatasetWithData(ctx, ws, id); err != nil {
		leave()
	}
	return set, d, leave, err
}

// mostNames is how many classes or features are listed by name.
const mostNames = 6

// classesText lists the classes, or the range of numeric targets; rows is the number of rows.
func classesText(classes []string, rows int) string {
	if dataset.Measured(classes, rows) {
		return "values " + between(classes)
	}
	if len(classes) > mostNames {
		return fmt.Sprintf("%d classes", len(classes))
	}
	return strings.Join(classes, ", ")
}

// between returns the range of sorted values in words.
func between(values []string) string {
	return views.Minus(fmt.Sprintf("%s to %s", values[0], values[len(values)-1]))
}

func counts(d *dataset.Data) string {
	if d.Measured() {
		return fmt.Sprintf("%d with %s", d.Len(), classesText(d.Classes, d.Len()))
	}
	n := make([]int, len(d.Classes))
	for _, c := range d.Y {
		n[c]++
	}
	parts := lists.Make(len(n), func(c int) string { return fmt.Sprintf("%s: %d", d.Classes[c], n[c]) })
	return strings.Join(parts, ", ")
}

// Figure sends the picture of the data, or of one of the graphs.
func (a *Handler) Figure(w http.ResponseWriter, r *http.Request) error {
	name, format, err := pictures.FigureName(r)
	if err != nil || !slices.Contains([]string{"points", "graph", "objects"}, name) {
		return store.ErrNotFound
	}
	id := chi.URLParam(r, "id")
	if frame.IsStored(id) {
		set, err := a.Store.Dataset(r.Context(), frame.Workspace(r.Context()), id)
		if err != nil {
			return err
		}
		leave, err := a.AdmitData(r.Context(), w, set)
		if err != nil {
			return err
		}
		defer leave()
	}
	points, err := a.Source(r.Context(), id)
	if err != nil {
		return err
	}
	if points.Data == nil {
		return store.ErrNotFound
	}
	o := pictures.Sized(r, pictures.MainWidth, pictures.MainHeight)
	row, x, y := r.FormValue("row"), r.FormValue("x"), r.FormValue("y")
	if x == "" && len(points.Data.Features) > 2 { // the first two of many columns may show little
		x = "pca"
	}
	return a.SendPrint(w, r, pictures.Sheet{
		Key: fmt.Sprintf("%s %s %q %q %q %+v", name, points.Hash, row, x, y, o), Public: frame.IsPublic(id), Format: format,
		Draw: func(ctx context.Context) (*figure.Picture, error) {
			switch name {
			case "graph":
				return graphPicture(points.Data, row, o.Format)
			case "objects":
				if pic, err := figure.Objects(points.Data, o.Format); pic != nil || err != nil {
					return pic, err
				}
			}
			return a.DataPicture(ctx, points.Data, points.Hash, x, y, o)
		},
	})
}

// graphPicture draws the graph in a row, counted from 1. Label colours are consistent over all
// graphs of the data.
func graphPicture(d *dataset.Data, row string, f figure.Format) (*figure.Picture, error) {
	g, ok := d.Objects.(*dataset.Graphs)
	i, err := strconv.Atoi(row)
	if !ok || err != nil || i < 1 || i > d.Len() {
		return nil, store.ErrNotFound
	}
	return figure.Networks{
		Format:   f,
		Networks: []figure.Network{{Graph: g.Values[i-1]}}, Labels: figure.NodeLabels(g.Values...),
	}.Picture()
}

// Download sends a data set as CSV, from a temporary file because the client may be slow.
func (a *Handler) Download(w http.ResponseWriter, r *http.Request) error {
	file, err := web.TempFile()
	if err != nil {
		return err
	}
	defer file.Close()
	set, err := a.export(w, r, file)
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return frame.SendCSV(w, r, results.CSVName(set.Name), file)
}

func (a *Handler) export(w http.ResponseWriter, r *http.Request, to io.Writer) (store.Dataset, error) {
	set, d, leave, err := a.dataset(w, r)
	if err != nil {
		return set, err
	}
	defer leave()
	return set, d.Export(to)
}

// Rename renames a data set.
func (a *Handler) Rename(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	err := a.Store.RenameDataset(r.Context(), frame.Workspace(r.Context()), id, r.PostFormValue("name"))
	if ps, ok := errors.AsType[param.Problems](err); ok {
		return a.showDataset(w, r, http.StatusUnprocessableEntity, dataview.Dataset{Error: ps.Error()})
	}
	return frame.Done(w, r, "/datasets/"+id, err)
}

// ReplaceRows stores rows edited as text.
func (a *Handler) ReplaceRows(w http.ResponseWriter, r *http.Request) error {
	set, was, leave, err := a.dataset(w, r)
	if err != nil {
		return err
	}
	leave()
	m := dataset.Mapping{Label: set.Label}
	if was.Given != nil {
		m.Missing = dataset.MissingMedian // keep missing values as they are
	}
	text := r.PostFormValue("rows")
	set.Hash = r.PostFormValue("hash") // the version that was edited
	d, err := dataset.Read(strings.NewReader(text), typedRows, m, a.Limits)
	if message := fileMessage(err); message != "" {
		return a.showDataset(w, r, http.StatusUnprocessableEntity, dataview.Dataset{Hash: set.Hash, Text: text, TextError: message})
	} else if err != nil {
		return err
	}
	if err = a.ReplaceData(r.Context(), set, d); errors.Is(err, frame.ErrChanged) {
		return a.showDataset(w, r, http.StatusConflict, dataview.Dataset{Text: text, TextError: "The rows have changed since this page was opened: “Rows as a table” shows those stored now. Save again to replace them with this text."})
	}
	return frame.Done(w, r, "/datasets/"+set.ID, err)
}

// reads describes how a file was parsed.
func reads(t *dataset.Table) string {
	text := map[string]string{"xlsx": "Read as a workbook", "csv": "Read as text", "libsvm": "Read as LIBSVM", "arff": "Read as ARFF", "fasta": "Read as FASTA", "zip": "Read as texts", "json": "Read as JSON", "jsonl": "Read as JSON lines", "graphml": "Read as GraphML", "tu": "Read as a TU Dortmund set"}[t.Format]
	if t.Separator != "" {
		text += " with columns separated by " + strings.TrimSuffix(t.Separator, "s") + "s"
	}
	if t.DecimalComma {
		text += ", numbers with a decimal comma"
	}
	if (t.Format == "csv" || t.Format == "xlsx") && !t.Header {
		text += ", without a header"
	}
	for _, n := range t.Notes {
		text += "; " + n
	}
	if text += "."; t.Kind == dataset.KindPrecomputed {
		text += " All columns but the label are kernel values."
	}
	return text
}
