package teach

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
)

// Export sends the submissions as CSV, a line per run in chronological order: name, time (UTC), a
// number that distinguishes students of the same name (the same as in their answers), the data with
// their hash, the settings, and the numbers at full precision. Numbers named like a setting, such
// as the gamma that "auto" resolved to, begin with result_. Values that do not apply are empty.
// Text that a spreadsheet would evaluate is guarded as in every other file.
func (a *Handler) Export(w http.ResponseWriter, r *http.Request, g Course) error {
	copies, err := a.Store.Copies(r.Context(), g.Course)
	if err != nil {
		return err
	}
	of := map[string]store.Workspace{}
	for _, c := range copies {
		of[c.Run] = c.Workspace
	}
	students, err := a.Store.Numbers(r.Context(), g.Code)
	if err != nil {
		return err
	}
	last := slices.Max(append(slices.Collect(maps.Values(students)), 0))
	names := lists.Map(ml.Params, func(p param.Param) string { return p.Name })
	record := append([]string{"name", "student", "handed_in", "status", "data", "points"}, names...)
	for _, q := range ml.Quantities {
		name := q.Name
		if slices.Contains(record, name) {
			name = "result_" + name
		}
		record = append(record, name)
	}
	return frame.StreamRows(w, r, g.Title+".csv", func(row func(...string) error) error {
		if err := row(record...); err != nil {
			return err
		}
		return a.Store.EachRun(r.Context(), g.Gallery(), store.Filter{}, func(run store.Run) error {
			ws := of[run.ID]
			if students[ws] == 0 {
				last++
				students[ws] = last
			}
			record := append(make([]string, 0, len(record)), dataset.Guard(run.Name), strconv.Itoa(students[ws]), run.Created.UTC().Format(time.RFC3339), string(run.Status), dataset.Guard(run.DatasetName), run.Hash)
			for _, p := range ml.Params {
				text := ""
				if run.Spec.Applies(p.Name) {
					text = dataset.Guard(run.Spec.Text(p.Name))
				}
				record = append(record, text)
			}
			return row(append(record, lists.Map(ml.Quantities, func(q ml.Quantity) string { return quantity(q, run.Report) })...)...)
		})
	})
}

// quantity formats a number or text of a report for programs.
func quantity(q ml.Quantity, r *ml.Report) string {
	if v, ok := results.QuantityNumber(q, r); ok {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if r != nil {
		if text, ok := q.Value(r).(string); ok {
			return dataset.Guard(text)
		}
	}
	return ""
}
