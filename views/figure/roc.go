package figure

import (
	"context"
	"fmt"

	"marginlab/ml"
	"marginlab/ml/param"
)

// hasROC reports a figure if points of two classes were held out.
func hasROC(r Run) []int {
	rows := r.Result.Report.TestConfusion
	return when(r.Result.Model.Rule == ml.Sign && len(rows) == 2 && rows[0].N > 0 && rows[1].N > 0)
}

func rocTitle(r Run, _ int) string {
	title := "ROC on held-out points"
	if a := r.Result.Report.TestAUC; a != nil { // nil for runs saved before it was measured: the picture states it
		title += fmt.Sprintf(", area %.3f", *a)
	}
	return title
}

// roc returns the ROC curve of the held-out points.
func (r Run) roc(ctx context.Context) (*ml.ROC, error) {
	points, err := r.Result.Points(ctx, r.Result.Model, r.Data, r.Spec)
	if err != nil {
		return nil, err
	}
	var f []float64
	var positive []bool
	for _, p := range points {
		if p.HeldOut {
			f, positive = append(f, p.F), append(positive, p.Y > 0)
		}
	}
	curve := ml.ROCOf(f, positive)
	if curve == nil {
		return nil, ErrNoFigure
	}
	return curve, nil
}

// format returns the format of a run's charts. Their legends are as high as those of the pictures
// before and after a map, if any.
func (r Run) format() Format {
	f := Format{Dark: r.Look.Dark, Width: r.Look.Width, Height: r.Look.Height, LegendRows: 2}
	if r.Result.Before != nil {
		f.LegendRows, f.Noted = r.Look.LegendRows, r.Look.Noted
	}
	return f
}

// shares returns a chart of one rate over another, with the point of f = 0 and the curve of random
// guessing.
func (r Run) shares(x, y string, curve, blind Curve, here int) Chart {
	ends := Axis{Min: -0.02, Max: 1.02}
	ch := Chart{Format: r.format(), X: ends, Y: ends}
	ch.X.Name, ch.Y.Name = x, y
	ch.Curves = []Curve{curve, blind, {Name: "f = 0", X: curve.X[here : here+1], Y: curve.Y[here : here+1], Marks: true}}
	return ch
}

func drawROC(ctx context.Context, r Run, _ int) (*Picture, error) {
	roc, err := r.roc(ctx)
	if err != nil {
		return nil, err
	}
	negative, positive := param.ClassText(r.Result.Model.Classes[0]), param.ClassText(r.Result.Model.Classes[1])
	ch := r.shares("false positive rate", "true positive rate",
		Curve{Name: fmt.Sprintf("area %.3f", roc.Area), X: roc.False, Y: roc.True}, Curve{Name: "guessing, 0.500", X: []float64{0, 1}, Y: []float64{0, 1}}, roc.Here)
	ch.Caption = fmt.Sprintf("Receiver operating characteristic on %d held-out points, as the threshold of f falls: the area below is %.3f, the probability that f is larger at a point of %s than at one of %s. At f = 0, %s of %s and %s of %s are predicted as %s.",
		r.Result.Report.TestN, roc.Area, positive, negative, short(roc.True[roc.Here]), positive, short(roc.False[roc.Here]), negative, positive)
	return ch.Picture()
}

// drawPrecision draws the precision-recall curve.
func drawPrecision(ctx context.Context, r Run, _ int) (*Picture, error) {
	roc, err := r.roc(ctx)
	if err != nil {
		return nil, err
	}
	positive := param.ClassText(r.Result.Model.Classes[1])
	last := len(roc.Precision) - 1
	ch := r.shares("recall of "+positive, "precision of "+positive,
		Curve{Name: fmt.Sprintf("average precision %.3f", roc.Average), X: roc.True, Y: roc.Precision},
		Curve{Name: fmt.Sprintf("guessing, %.3f", roc.Precision[last]), X: []float64{0, 1}, Y: []float64{roc.Precision[last], roc.Precision[last]}}, roc.Here)
	ch.Caption = fmt.Sprintf("Precision over recall of %s on %d held-out points, as the threshold of f falls: on average over the points of the class the precision is %.3f, by guessing %.3f.",
		positive, r.Result.Report.TestN, roc.Average, roc.Precision[last])
	if roc.Here > 0 {
		ch.Caption += fmt.Sprintf(" At f = 0 it is %s with recall %s.", short(roc.Precision[roc.Here]), short(roc.True[roc.Here]))
	}
	return ch.Picture()
}
