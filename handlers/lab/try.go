package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/views"
)

const (
	triedSymbols = 10_000 // characters of a typed string
	triedNear    = 3      // support vectors shown beside it
)

// tries returns the kind of object that can be typed and predicted; "" for none.
func (b *bench) tries() string {
	if b.data == nil {
		return ""
	}
	return map[dataset.Kind]string{dataset.KindStrings: "string", dataset.KindGraphs: "graph"}[b.data.Kind()]
}

// tried returns the prediction for the typed object, and its nearest support vectors.
func (a *Handler) tried(ctx context.Context, b *bench, m *ml.Model) (views.Tried, error) {
	var t views.Tried
	if b.try == "" || b.tries() == "" {
		return t, nil
	}
	if n := utf8.RuneCountInString(b.try); n > triedSymbols {
		t.Problem = fmt.Sprintf("%d symbols exceed the %d that are tried live.", n, triedSymbols)
		return t, nil
	}
	last := b.data.Len()
	with, err := b.data.Put(last, b.try, b.data.Classes[0]) // the label has no effect
	if problems, ok := errors.AsType[param.Problems](err); ok {
		t.Problem = results.Sentence(problems.For("object"))
		return t, nil
	}
	if err != nil {
		return t, err
	}
	type found struct {
		scores *mat.Dense
		near   []ml.Neighbour
	}
	rows := append(slices.Clone(m.Supports.Rows), last)
	f, err := limiter.Within(ctx, a.Patience, "Try a shorter one.", func(ctx context.Context) (f found, err error) {
		if f.scores, err = m.ScoresOf(ctx, with.Objects.Subset([]int{last})); err != nil {
			return f, err
		}
		f.near, _, err = ml.Nearest(ctx, m.Kernel, with.Subset(rows), len(rows)-1, triedNear)
		return f, err
	})
	if err != nil {
		t.Problem, err = results.UserMessage(err)
		return t, err
	}
	t.Class = m.LabelOf(f.scores.RawRowView(0)...)
	for k, name := range m.ScoreNames() {
		t.Scores = append(t.Scores, views.Number{Label: name, Value: views.Short(f.scores.At(0, k))})
	}
	for _, n := range f.near {
		row := rows[n.Row]
		t.Near = append(t.Near, views.NearRow{
			Row: row + 1, Text: pictures.Clipped(b.data.Objects.Text(row)), Label: b.data.Classes[b.data.Y[row]], Distance: views.Short(n.Distance),
		})
	}
	return t, nil
}
