package mercer

import (
	"context"
	"strconv"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// The controls of the four kernels side by side.
var (
	sideSet = lessons.ChoiceControl{Name: "set", Label: "data", Default: "xor", Options: []param.Option{
		{Name: "xor", Label: "four clouds"}, {Name: "moons", Label: "moons"}, {Name: "circles", Label: "circles"}, {Name: "blobs", Label: "two clouds"},
	}}
	sideGamma = lessons.NumberControl{Name: "gamma", Label: "γ", Symbol: "γ", Default: "0.5", Min: 0.01, Max: 20, Low: 0.01, High: 20, Log: true, Help: "Of all but the linear kernel."}
	sideC     = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 0.01, Max: 1000, Low: 0.01, High: 1000, Log: true}
)

// four lists the kernels compared, as settings of a machine.
var four = []struct {
	name, formula string
	settings      []string
}{
	{"linear", `$\mathbf x^\top\mathbf z$`, []string{"kernel", "linear"}},
	{"polynomial", `$(\gamma\,\mathbf x^\top\mathbf z + 1)^3$`, []string{"kernel", "poly", "degree", "3", "coef0", "1"}},
	{"RBF", `$e^{-\gamma\lVert\mathbf x-\mathbf z\rVert^2}$`, []string{"kernel", "rbf"}},
	{"sigmoid", `$\tanh(\gamma\,\mathbf x^\top\mathbf z)$`, []string{"kernel", "sigmoid", "coef0", "0"}},
}

// settings returns the settings of a machine with the k-th kernel.
func settings(k int, gamma, c string) []string {
	s := append([]string{"C", c}, four[k].settings...)
	if k > 0 {
		s = append(s, "gamma", gamma)
	}
	return s
}

// sideData returns eighty training points and a thousand new ones of a pattern.
func sideData(pattern string) (lessons.Toy, *dataset.Data, *dataset.Data) {
	t := lessons.Drawn(pattern, 80, 0.25, 1)
	return t, t.Data(), lessons.Drawn(pattern, 1000, 0.25, 2).Data()
}

func showSideBySide(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t, d, fresh := sideData(sideSet.Of(in))
	table := lessons.Table{Caption: "The same points, the same C", Head: []string{"kernel", "$k(\\mathbf x, \\mathbf z)$", "support vectors", "right in training", "right on new points"}, After: true}
	e := &lessons.Exhibit{Lab: t.Lab(settings(2, sideGamma.Text(in), sideC.Text(in))...)}
	var names []string
	var models []*ml.Model
	var points [][]ml.Point
	var each []lessons.Figure
	for k, l := range four {
		res := lessons.Fit(ctx, d, settings(k, sideGamma.Text(in), sideC.Text(in))...)
		wrong := lessons.ErrorRate(res.Model, fresh)
		table.Rows = append(table.Rows, []string{l.name, l.formula, strconv.Itoa(res.Report.SupportVectors), lessons.Percent(*res.Report.TrainAccuracy), lessons.Percent(1 - wrong)})
		seen := res.Points()
		for i := range seen { // ringed support vectors belong to one machine
			seen[i].Role, seen[i].Weight = ml.None, 0
		}
		names, models, points = append(names, l.name), append(models, res.Model), append(points, seen)
		one := res.Boundary(l.name, "The "+l.name+" kernel, "+l.formula+".", func(s *figure.Scene) { s.LegendRows = 2 })
		each = append(each, one.Afterwards())
	}
	whole := lessons.Overlay("all", "Four boundaries on the same points. Where the machines disagree the plane is hatched.", names, func(l lessons.Look, i int) figure.Scene {
		v, _ := models[i].View()
		s := l.Scene(models[i], points[i], v, d.Classes, 2)
		s.Limits = t.Limits()
		if l.Coarse {
			s.Grid = 60
		}
		return s
	})
	whole = whole.Instead(lessons.Plane("all", "", t.Limits(), 2, t.Dots(nil)), "The points. Where would each of the four kernels lay its boundary?")
	e.Figures = append([]lessons.Figure{whole}, each...)
	e.Tables = []lessons.Table{table}
	return e
}

// worst finds the kernel with the largest error on new points of the four clouds.
func worst(ctx context.Context) float64 {
	_, d, fresh := sideData(sideSet.Default)
	found, most := 0, -1.0
	for k := range four {
		wrong := lessons.ErrorRate(lessons.Fit(ctx, d, settings(k, sideGamma.Default, sideC.Default)...).Model, fresh)
		if wrong > most {
			found, most = k, wrong
		}
	}
	return float64(found)
}
