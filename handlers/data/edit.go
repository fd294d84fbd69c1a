package data

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	dataview "marginlab/views/data"
	"marginlab/views/figure"
	"marginlab/web"
)

// objectForm returns the form for a new object, or for the object in a row (counted from 1); nil
// if objects of this kind cannot be typed.
func objectForm(d *dataset.Data, row int) *dataview.ObjectForm {
	what := map[dataset.Kind]string{dataset.KindStrings: "string", dataset.KindGraphs: "graph"}[d.Kind()]
	if what == "" || !editable(d) {
		return nil
	}
	f := &dataview.ObjectForm{What: what, Title: results.Capital(what), Total: d.Len(), Classes: d.Classes}
	if row >= 1 && row <= d.Len() {
		f.Row, f.Object, f.Label = row, d.Objects.Text(row-1), d.Classes[d.Y[row-1]]
		if g, ok := d.Objects.(*dataset.Graphs); ok {
			f.Places = pictures.ToJSON(figure.Layout(g.Values[row-1]))
		}
	}
	return f
}

// EditObject adds, changes or deletes an object of a data set. The form carries the version of the
// data it was made for, because rows are identified by position.
func (a *Handler) EditObject(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, a.Limits.Bytes+web.FormBytes); err != nil {
		return err
	}
	set, d, leave, err := a.dataset(w, r)
	if err != nil {
		return err
	}
	defer leave()
	row, _ := strconv.Atoi(r.PostFormValue("row"))
	f := objectForm(d, row)
	if f == nil {
		return web.Errorf(web.Invalid, "The rows of %s cannot be edited one by one.", set.Name)
	}
	act := r.PostFormValue("act")
	if act == "put" {
		f.Object, f.Label = r.PostFormValue("object"), r.PostFormValue("label")
	}
	set.Hash = r.PostFormValue("hash") // the version that was edited
	changed := d
	switch {
	case act == "put" && f.Row > 0:
		changed, err = d.Put(f.Row-1, f.Object, f.Label)
	case act == "put":
		changed, err = d.Put(d.Len(), f.Object, f.Label)
	case act == "drop" && f.Row > 0:
		changed, err = d.Drop(f.Row - 1)
	default:
		return web.Errorf(web.Invalid, "There is no row to delete.")
	}
	if err == nil && (!editable(changed) || changed.Len() > a.Limits.Rows) {
		err = param.Problems{{Field: "object", Message: fmt.Sprintf("the %ss exceed the %d symbols in all, or the %d rows, that can be edited", f.What, textSymbols, a.Limits.Rows)}}
	}
	if problems, ok := errors.AsType[param.Problems](err); ok {
		f.ObjectError, f.LabelError = problems.For("object"), problems.For("label")
		return a.showDataset(w, r, http.StatusUnprocessableEntity, dataview.Dataset{Hash: set.Hash, Objects: f})
	}
	if err != nil {
		return err
	}
	if err = a.ReplaceData(r.Context(), set, changed); errors.Is(err, frame.ErrChanged) {
		f.ObjectError = "the data set has changed since this page was opened. Nothing was saved: check the row, then try again"
		return a.showDataset(w, r, http.StatusConflict, dataview.Dataset{Objects: f})
	}
	return frame.Done(w, r, "/datasets/"+set.ID+"#edit", err)
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
