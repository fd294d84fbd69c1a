package data

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"gonum.org/v1/gonum/mat"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	dataview "marginlab/views/data"
	"marginlab/views/figure"
)

// textCells is the maximum number of values of a data set that can be edited as text; textSymbols
// is the maximum number of symbols.
const (
	textCells   = 20_000
	textSymbols = 200_000
)

// previewRows is the number of rows shown when the columns of a file are chosen.
const previewRows = 8

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
		p.AxisX, p.AxisY = figure.Axes(d.Features, cmp.Or(x, "pca"), y) // as the picture does
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

func labelNumber(d *dataset.Data) views.Number {
	if d.Measured() {
		return views.Number{Label: "values", Value: between(d.Classes), Help: fmt.Sprintf("%d distinct values: the lab fits a regression.", len(d.Classes))}
	}
	return views.Number{Label: "classes", Value: counts(d)}
}

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
	return param.Minus(fmt.Sprintf("%s to %s", values[0], values[len(values)-1]))
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
