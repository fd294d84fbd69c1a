package data

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views"
	dataview "marginlab/views/data"
	"marginlab/web"
)

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
	origin := lists.Either(file == typedRows, "typed", "uploaded "+file)
	return frame.OriginOf(origin, d)
}

// Upload takes a file. If its columns are unambiguous, it becomes a data set at once; otherwise it
// is kept until the columns are chosen.
func (a *Handler) Upload(w http.ResponseWriter, r *http.Request) error {
	err := web.ParseForm(w, r, a.Limits.Bytes+web.FormBytes) // the file and the other fields
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		what := lists.Either(isMultipart(r), "The file is", "The rows are")
		return a.uploadAgain(w, r, http.StatusRequestEntityTooLarge, "", fmt.Sprintf("%s larger than %d MB. Nothing was saved.", what, a.Limits.Bytes>>20))
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

// isMultipart reports whether a request is of the form for files, which alone is multipart: one
// that is too large is refused before its fields are known.
func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}

// uploadAgain shows the submitted form with its error.
func (a *Handler) uploadAgain(w http.ResponseWriter, r *http.Request, status int, name, message string) error {
	p, err := a.datasets(r)
	if err != nil {
		return err
	}
	if status == http.StatusRequestEntityTooLarge && !isMultipart(r) && !r.PostForm.Has("url") || r.PostForm.Has("text") {
		p.Typed = dataview.UploadForm{Name: name, Error: message, Text: r.PostForm.Get("text")}
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
	if errors.Is(err, store.ErrNotFound) {
		err = web.Errorf(web.NotFound, "This uploaded file is not in your workspace: its columns were chosen before, or it is more than a day old. Upload it again.")
	}
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
