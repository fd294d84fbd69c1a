package runs

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/export"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	runsview "marginlab/views/runs"
	"marginlab/web"
)

// ModelExtensions returns the file extensions that Model serves.
func ModelExtensions() []string {
	return append([]string{".json"}, lists.Map(export.Formats, func(f export.Format) string { return f.Extension })...)
}

// Model sends the trained model in the format of the file extension: json or one of
// ModelExtensions.
func (a *Handler) Model(w http.ResponseWriter, r *http.Request, run store.Run) error {
	if run.Model == nil {
		return store.ErrNotFound
	}
	extension := path.Ext(r.URL.Path)
	if web.Unchanged(w, r, web.TagOf([]byte(a.ProgramName()), []byte(run.ID), []byte(extension))) { // models are immutable
		return nil
	}
	i := slices.IndexFunc(export.Formats, func(f export.Format) bool { return f.Extension == extension })
	if i < 0 {
		frame.Attach(w, run.Name+".model.json", "application/json")
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(run.Model)
	}
	f, name := export.Formats[i], run.Name
	if f.Name == "python" {
		name = moduleName(name)
	}
	return frame.Send(w, r, name+f.Extension, f.MediaType, func(to io.Writer) error { return f.Write(to, run.Model) })
}

// moduleName returns a name that Python can import.
func moduleName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return ' '
	}, strings.ToLower(name))
	return "model_" + strings.Join(strings.Fields(clean), "_")
}

// Predict applies a run's model to the rows in the body. The response to a file is CSV, or JSON if
// the request accepts only that; the response to JSON rows is JSON.
func (a *Handler) Predict(w http.ResponseWriter, r *http.Request, run store.Run) error {
	if run.Model == nil {
		return store.ErrNotFound
	}
	body, leave, err := a.Body(w, r)
	if err != nil {
		return err
	}
	leave = sync.OnceFunc(leave)
	defer leave()
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accepted, _, _ := mime.ParseMediaType(r.Header.Get("Accept"))
	asJSON := kind == "application/json"
	if asJSON {
		if body, err = rowsOfJSON(body, run.Model); err != nil {
			return err
		}
	}
	predictions, err := a.predict(r, run, body, "")
	if err != nil {
		return frame.FileError(err)
	}
	leave() // the client may be slow
	if asJSON || accepted == "application/json" {
		set, err := predictions.Set()
		if err != nil {
			return err
		}
		return web.JSON(w, http.StatusOK, set)
	}
	return sendPredictions(w, r, run, func(to io.Writer) error { return predictions.WriteCSV(to, false) })
}

// predict applies the model of a run to a file.
func (a *Handler) predict(r *http.Request, run store.Run, body io.Reader, name string) (*ml.Predictions, error) {
	limits := a.Limits
	limits.Columns += run.Model.Columns() // for a precomputed kernel
	table, err := dataset.ParseTable(body, name, limits)
	if err != nil {
		return nil, err
	}
	return run.Model.PredictTable(r.Context(), table)
}

func sendPredictions(w http.ResponseWriter, r *http.Request, run store.Run, write func(io.Writer) error) error {
	return frame.Send(w, r, run.Name+".predictions.csv", frame.CSV, write)
}

// rowsOfJSON converts {"rows": […]} to CSV with the features of m and the label if present. A row
// is a list of numbers in the order of the features, or an object with a value for each, where the
// word of a category may stand for its features; null is a missing value.
func rowsOfJSON(body io.Reader, m *ml.Model) (io.Reader, error) {
	var sent struct {
		Rows json.RawMessage `json:"rows"` // read row by row: a list of all takes many times their length
	}
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&sent); err != nil {
		fault := strings.TrimPrefix(err.Error(), "json: ")
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			fault = "found " + wrong.Value + " instead of an object"
		}
		return nil, web.Errorf(web.Malformed, "The body must be JSON with rows, {\"rows\": [[…], …]}: %s", fault)
	}
	refuse := func(i int, format string, args ...any) error {
		return param.Problems{{Field: "rows", Message: fmt.Sprintf("row %d: ", i+1) + fmt.Sprintf(format, args...)}}
	}
	if len(m.Features) == 0 {
		return nil, param.Problems{{Field: "rows", Message: "rows in JSON need a model with numeric features; send a file instead"}}
	}
	rows := json.NewDecoder(bytes.NewReader(sent.Rows))
	if begin, _ := rows.Token(); begin != json.Delim('[') {
		return nil, web.Errorf(web.Malformed, "The body must be JSON with rows, {\"rows\": [[…], …]}: rows is not a list")
	}
	var table, head bytes.Buffer
	lines, labelled := csv.NewWriter(&table), false
	columns := m.Features
	line := make([]string, len(columns)+1)
	var text json.RawMessage
	for i := 0; rows.More(); i++ {
		if err := rows.Decode(&text); err != nil {
			return nil, err
		}
		clear(line)
		var row any
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(text, &row)); ok {
			return nil, refuse(i, "expected numbers of at most 1.8e308, found %s", strings.TrimPrefix(wrong.Value, "number "))
		}
		list, isList := row.([]any)
		named, isObject := row.(map[string]any)
		switch {
		case isList && slices.Equal(columns, m.Features):
			if len(list) != len(m.Features) {
				return nil, refuse(i, "expected %d numbers, found %d; the model takes %s", len(m.Features), len(list), strings.Join(m.Features, ", "))
			}
			for j, v := range list {
				var ok bool
				if line[j], ok = numberOfJSON(v); !ok {
					return nil, refuse(i, "%s: expected a number, found %v", m.Features[j], v)
				}
			}
		case isObject:
			if i == 0 {
				columns = columnsOf(m.Features, func(_ int, column string) bool { _, ok := named[column]; return ok })
				line = line[:len(columns)+1]
			}
			for j, name := range columns {
				v, found := named[name]
				text, ok := numberOfJSON(v)
				if word, is := v.(string); is && !slices.Contains(m.Features, name) {
					text, ok = word, true
				}
				switch {
				case !found:
					return nil, refuse(i, "no value for %q; the model takes %s", name, strings.Join(m.Features, ", "))
				case !ok:
					return nil, refuse(i, "%s: expected a number, found %v", name, v)
				}
				line[j] = text
			}
			if v, ok := named[m.Label]; ok {
				line[len(columns)], labelled = fmt.Sprint(v), true
			}
		default:
			return nil, refuse(i, "expected a list of numbers or an object, all with the same columns, found %.40s", text)
		}
		if err := lines.Write(line); err != nil {
			return nil, err
		}
	}
	lines.Flush()
	if clear(line); labelled {
		line[len(columns)] = m.Label
	}
	copy(line, columns) // a last column without name and values is no column
	head.WriteString(dataset.NamesBelow + "\n")
	return io.MultiReader(&head, &table), csv.NewWriter(&head).WriteAll([][]string{line})
}

// columnsOf returns the columns with values for the features; has reports whether feature i is the
// word of a column, or one itself, of that name. Features without a column stand for themselves.
func columnsOf(features []string, has func(i int, column string) bool) (columns []string) {
	known := make(map[string]bool)
	for i, name := range features {
		name = cmp.Or(dataset.ColumnOf(name, func(column string) bool { return has(i, column) }), name)
		if !known[name] {
			known[name], columns = true, append(columns, name)
		}
	}
	return columns
}

// isWord reports whether feature i is named like the word of a column, and is 0 or 1 at all supports
// of m, or unknown there.
func isWord(m *ml.Model, i int) bool {
	return strings.Contains(m.Features[i], "=") && (m.Projection != nil || !slices.ContainsFunc(m.Supports.Vectors, func(v []float64) bool {
		x := v[i]
		if m.Scaler != nil {
			x = x*m.Scaler.Scale[i] + m.Scaler.Mean[i]
		}
		return math.Abs(x*(1-x)) > 1e-9
	}))
}

// numberOfJSON formats a JSON value for CSV, empty if it is missing.
func numberOfJSON(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case bool:
		return map[bool]string{true: "1", false: "0"}[v], true
	}
	return "", false
}

// shownRows is the number of predictions shown on a page.
const shownRows = 200

// PredictRows applies a run's model to the rows in a form and responds with a page or CSV.
func (a *Handler) PredictRows(w http.ResponseWriter, r *http.Request, run store.Run) error {
	if err := web.ParseForm(w, r, a.Limits.Bytes+web.FormBytes); err != nil {
		return err
	}
	if run.Model == nil {
		return store.ErrNotFound
	}
	shown := &runsview.Predicted{Text: r.PostFormValue("text")}
	again := func(message string) error {
		shown.Error = results.Sentence(message)
		return a.show(w, r, run, nil, shown)
	}
	body, size, name := io.ReadSeeker(strings.NewReader(shown.Text)), int64(len(shown.Text)), "pasted rows"
	if strings.TrimSpace(shown.Text) == "" {
		f, head, err := r.FormFile("file")
		if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
			return again("Choose a file or paste rows first.")
		}
		if err != nil {
			return err
		}
		defer f.Close()
		body, size, name = f, head.Size, head.Filename
	}
	packed, err := limiter.IsPacked(body)
	if err != nil {
		return err
	}
	leave, err := a.AdmitFile(r.Context(), w, size, packed)
	if err != nil {
		return err
	}
	leave = sync.OnceFunc(leave)
	defer leave()
	predictions, err := a.predict(r, run, body, name)
	if err != nil {
		if message, ok := param.ForPerson(frame.FileError(err)); ok {
			return again(message)
		}
		return err
	}
	leave() // the client may be slow
	if r.PostFormValue("as") == "csv" {
		return sendPredictions(w, r, run, func(to io.Writer) error { return predictions.WriteCSV(to, run.Model.Platt != nil) })
	}
	set, err := predictions.Set()
	if err != nil {
		return again(err.Error())
	}
	predictedRows(shown, set, run.Model.ScoreNames())
	return a.show(w, r, run, nil, shown)
}

// predictedRows fills in the first predictions.
func predictedRows(p *runsview.Predicted, s *ml.PredictionSet, scores []string) {
	p.Summary = views.Counted(s.N, "row")
	p.Notes = lists.Map(s.Notes, results.Sentence)
	switch {
	case s.Accuracy != nil:
		p.Summary += " · accuracy " + param.Percent(*s.Accuracy)
	case s.MSE != nil:
		p.Summary += " · mean squared error " + views.Short(*s.MSE)
	}
	classes, probability, labelled := len(s.Classes) > 0, false, false
	if len(s.Predictions) > 0 {
		probability, labelled = s.Predictions[0].Probability != nil, s.Predictions[0].True != nil
	}
	p.Head = views.Headings("Row")
	if classes {
		p.Head = append(p.Head, views.Headings("Class")...)
	}
	p.Head = append(p.Head, views.NumberHeadings(scores...)...)
	if probability {
		p.Head = append(p.Head, views.NumberHeadings("Probability of "+param.ClassText(s.Positive))...)
	}
	if labelled {
		p.Head = append(p.Head, views.Headings("Actual")...)
	}
	p.More = max(0, s.N-shownRows)
	for _, one := range s.Predictions[:min(shownRows, s.N)] {
		row := []string{strconv.Itoa(one.Row)}
		if classes {
			row = append(row, param.ClassText(one.Label))
		}
		row = append(row, lists.Map(one.F, views.Short)...)
		if probability {
			row = append(row, views.Short(*one.Probability))
		}
		if labelled {
			row = append(row, param.ClassText(*one.True))
		}
		p.Rows = append(p.Rows, row)
	}
}

// use returns the ways to use a run's model elsewhere; origin is the server's.
func (a *Handler) use(run store.Run, origin string) *runsview.Use {
	m := run.Model
	u := &runsview.Use{ID: run.ID, Takes: columnsOf(m.Features, func(i int, column string) bool { return column != m.Features[i] || !isWord(m, i) })}
	for _, f := range export.Formats {
		d := runsview.Download{Label: f.Label, Href: "/runs/" + run.ID + "/model" + f.Extension, Help: f.Help}
		if err := f.Check(m); err != nil {
			d.Href, d.Help = "", results.Sentence(err.Error())
			if slices.ContainsFunc(u.Formats, func(other runsview.Download) bool { return other.Help == d.Help }) {
				continue // one reason for several formats
			}
		}
		u.Formats = append(u.Formats, d)
	}
	u.Formats = append(u.Formats, runsview.Download{Label: "JSON", Href: "/runs/" + run.ID + "/model.json", Help: "The model as marginlab predict reads it."})
	u.Copies = append(u.Copies, runsview.Copied{Title: "Terminal", Text: results.CommandLine(run.Spec, run.DatasetName)})
	if text := sklearnCode(run); text != "" {
		u.Copies = append(u.Copies, runsview.Copied{Title: "scikit-learn", Text: text})
	}
	u.Copies = append(u.Copies, runsview.Copied{Title: "Python client", Text: clientCode(run, origin)})
	return u
}
