package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/views"
	"marginlab/views/figure"
)

// previewRows is the number of rows sampled from a larger data set during a drag.
const previewRows = pictures.LiveRows

// motion returns the reply during a drag, limited to what changes. A nil map means that a complete
// answer is needed.
func (a *Handler) motion(ctx context.Context, form url.Values, b bench) (map[string]any, error) {
	if len(b.problems) > 0 || b.data == nil || b.try != "" {
		return nil, nil
	}
	whole := b.data
	said := b.preview()
	res, problem, err := a.train(ctx, &b)
	if err != nil || problem != "" || res == nil {
		return nil, err
	}
	run := a.run(&b, res, b.look)
	if err := b.settlePlane(ctx, run); err != nil {
		return nil, err
	}
	run.X, run.Y = b.x, b.y
	s, err := run.Scene(ctx, res.Model)
	if err != nil {
		return nil, err
	}
	if said != "" && s.Limits == (figure.Limits{}) && len(s.View.Center) == len(whole.Features) {
		points := lists.Make(whole.Len(), func(i int) ml.Point { return ml.Point{X: whole.X.RawRowView(i)} })
		s.Limits = figure.LimitsOf(points, s.View) // of all rows, so that the frame stays fixed
	}
	pic, err := run.Decision(ctx, s)
	if err != nil {
		return nil, err
	}
	var list bytes.Buffer
	if err := pic.DisplayList(ctx, &list, form.Get("have")); err != nil {
		return nil, err
	}
	return map[string]any{
		"motion": json.RawMessage(list.Bytes()), "headline": lists.Map(results.Headline(&res.Report), func(h views.Headline) [2]string { return [2]string{h.Value, h.Note} }), "preview": said,
		"hidden": b.hidden(), "resolved": resolved(&res.Report), "took": res.Report.FitSeconds, "live": views.Answer{Took: res.Report.FitSeconds}.Live(),
	}, nil
}

// preview samples a large data set and returns a note about it.
func (b *bench) preview() string {
	n := b.data.Len()
	if n <= previewRows {
		return ""
	}
	b.data, b.hash = sample(b.data, previewRows), b.hash+" preview"
	return "Preview: trained on " + strconv.Itoa(b.data.Len()) + " of " + strconv.Itoa(n) + " points. All of them once you let go."
}

// sample returns about n of the rows, stratified by class or, for a regression, evenly spaced.
func sample(d *dataset.Data, n int) *dataset.Data {
	if d.Scattered() {
		return d.Sample(lists.Spaced(dataset.Indices(d.Len()), n))
	}
	rows, _ := dataset.Split(lists.Map(d.Y, func(c int) float64 { return float64(c) }), 1-float64(n)/float64(d.Len()), 1)
	return d.Subset(rows)
}
