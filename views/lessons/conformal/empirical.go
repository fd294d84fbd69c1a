package conformal

import (
	"context"

	mlconformal "marginlab/ml/conformal"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

// The controls of the empirical feature space.
var (
	harmSet = lessons.ChoiceControl{Name: "set", Label: "points", Default: "opposite", Options: []param.Option{
		{Name: "opposite", Label: "two opposite clouds"}, {Name: "beside", Label: "two clouds abreast"}, {Name: "ring", Label: "a ring around a cloud"},
	}}
	harmKernel = lessons.ChoiceControl{Name: "kernel", Label: "kernel", Default: "linear", Options: harmOptions()}
)

// harming lists kernels of which one is good and another bad for each set.
var harming = []struct {
	name, label string
	kernel      kernel.Kernel
}{
	{"linear", "x·z", kernel.Kernel{Name: "linear"}},
	{"square", "(x·z)²", kernel.Kernel{Name: "poly", Values: param.Values{"gamma": param.Of(1), "coef0": param.Of(0), "degree": param.Of(2)}}},
	{"poly", "(1 + x·z)²", kernel.Kernel{Name: "poly", Values: param.Values{"gamma": param.Of(1), "coef0": param.Of(1), "degree": param.Of(2)}}},
	{"rbf", "RBF, γ = 0.5", kernel.RBF(0.5)},
	{"narrow", "RBF, γ = 50", kernel.RBF(50)},
}

func harmOptions() (all []param.Option) {
	for _, h := range harming {
		all = append(all, param.Option{Name: h.name, Label: h.label})
	}
	return all
}

func harmed(set string) lessons.Toy {
	switch set {
	case "ring":
		return lessons.Drawn("circles", 40, 0.15, 3)
	case "beside":
		return clouds([2]float64{1.2, 1.6}, [2]float64{2.4, 0.4})
	}
	return clouds([2]float64{-1.2, -0.6}, [2]float64{1.2, 0.6})
}

// clouds returns twenty points around each of two centres.
func clouds(a, b [2]float64) lessons.Toy {
	t := lessons.Drawn("blobs", 40, 0.4, 5)
	var mean [2][2]float64
	n := [2]float64{}
	for i, p := range t.XY {
		k := lessons.Class(t.Y[i])
		mean[k][0], mean[k][1], n[k] = mean[k][0]+p[0], mean[k][1]+p[1], n[k]+1
	}
	for i, p := range t.XY {
		k := lessons.Class(t.Y[i])
		to := [2][2]float64{a, b}[k]
		for j := range 2 {
			t.XY[i][j] = to[j] + 0.7*(p[j]-mean[k][j]/n[k])
		}
	}
	return t
}

// separability returns J of all kernels on the points.
func separability(ctx context.Context, t lessons.Toy) (js []float64) {
	for _, h := range harming {
		j := lessons.Must(mlconformal.J(ctx, kernel.NewGram(h.kernel, t.Matrix()), t.Y, ones(len(t.Y))))
		js = append(js, j)
	}
	return js
}

func showEmpirical(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	t := harmed(harmSet.Of(in))
	js := separability(ctx, t)
	chosen := harming[0]
	j := js[0]
	table := lessons.Table{Caption: "The Fisher scalar of these points in the feature space of each kernel", Head: []string{"kernel", "$J$", "against the plane"}, After: true}
	for k, h := range harming {
		if h.name == harmKernel.Of(in) {
			chosen, j, table.Marked = h, js[k], []int{k}
		}
		table.Rows = append(table.Rows, []string{h.label, views.Short(js[k]), lists.Either(k == 0, "the plane itself", lists.Either(js[k] < js[0], "worse", "better"))})
	}
	c := lessons.Must(theory.KernelPCA(theory.Gram(kernel.NewGram(chosen.kernel, t.Matrix())), 2))
	_, found := c.Scores.Dims()
	seen := lessons.Toy{Y: t.Y}
	for i := range t.Y {
		at := [2]float64{}
		for k := range min(2, found) {
			at[k] = c.Scores.At(i, k)
		}
		seen.XY = append(seen.XY, at)
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "empirical", Caption: "The points in the empirical feature space of the kernel, along the two directions in which they spread most.", Draw: func(l lessons.Look) (*figure.Picture, error) {
				p := figure.Plane{Format: l.Format(1), X: "first direction", Y: "second direction", Marks: seen.Dots(nil)}
				if l.Asking {
					p.Marks, p.Limits = nil, seen.Limits()
				}
				return p.Picture()
			}},
			lessons.Plane("input", "The points themselves.", t.Limits(), 1, t.Dots(nil)),
		},
		Numbers: []lessons.Number{{Label: "$J$", Value: views.Short(j), Help: "of the kernel that is chosen: " + chosen.label}},
		Tables:  []lessons.Table{table},
	}
	if harmSet.Of(in) == harmSet.Default && chosen.name != harmKernel.Default { // the question's setting
		e.Figures[0].Asks, e.Numbers[0].After = "Where are the clouds in the feature space of this kernel?", true
	}
	return e
}

// harms returns the kernel with the smallest J on the opposite clouds.
func harms(ctx context.Context) float64 {
	js := separability(ctx, harmed(harmSet.Default))
	least := 0
	for k, j := range js {
		if j < js[least] {
			least = k
		}
	}
	if js[least] >= js[0] {
		panic(lessons.Failf("no kernel separates less than the plane: %v", js))
	}
	return float64(least)
}
