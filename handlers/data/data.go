// Package data serves data sets: upload, generation, editing and viewing.
package data

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	dataview "marginlab/views/data"
	"marginlab/web"
)

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
		source := lists.Either(b.License == "", "", b.Source+". Licence: "+b.License+".")
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
