package lessons

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mcm"
	"marginlab/views/figure"
)

// Reshaping is a data set with its basic kernel, for maps with cores at any places.
type Reshaping struct {
	Data   *dataset.Data
	Kernel kernel.Kernel
	X      *mat.Dense
	Y      []float64
	Gram   *kernel.Gram

	// Settings of Machine's trainings, and the preprocessing of its models.
	Settings           mcm.Settings
	Scaler             *dataset.Scaler // nil: X holds the rows of Data unscaled
	Rows               []int           // rows of Data in X; nil: all
	Positive, Negative string
}

// NewReshaping sets up the basic kernel k on the rows x of d with labels y.
func NewReshaping(d *dataset.Data, k kernel.Kernel, x *mat.Dense, y []float64) *Reshaping {
	return &Reshaping{Data: d, Kernel: k, X: x, Y: y, Gram: kernel.NewGram(k, x), Settings: mcm.Settings{C: 1}, Positive: d.Classes[1], Negative: d.Classes[0]}
}

// Scaled returns the kernel matrix with the factors c.
func (p *Reshaping) Scaled(c []float64) *kernel.Gram { return p.Gram.Scaled(c) }

// J returns the Fisher scalar for the factors c.
func (p *Reshaping) J(ctx context.Context, c []float64) float64 {
	return Must(conformal.J(ctx, p.Gram, p.Y, c))
}

// Best returns the map with the best factor for given cores, core width and ridge.
func (p *Reshaping) Best(ctx context.Context, cores [][]float64, gamma, ridge float64) (*conformal.Map, conformal.Stats) {
	m, stats, err := conformal.FitAt(ctx, "eigen", p.Gram, p.X, p.Y, cores, conformal.Settings{Gamma: gamma, Ridge: ridge})
	Check(err)
	return m, stats
}

// Machine trains an MCM on the kernel with a map.
func (p *Reshaping) Machine(ctx context.Context, m *conformal.Map) *ml.Model {
	res := Must(mcm.Train(ctx, p.Scaled(m.Factors(p.X)), p.Y, p.Settings))
	model := &ml.Model{
		Features: p.Data.Features, Label: p.Data.Label, Classes: []string{p.Negative, p.Positive}, Scaler: p.Scaler, Kernel: p.Kernel,
		Machines: []ml.Machine{{Map: m, B: res.B}}, Rule: ml.Sign,
	}
	supports, machine := &model.Supports, &model.Machines[0]
	for i, l := range res.Lambda {
		if l != 0 {
			row := i
			if p.Rows != nil {
				row = p.Rows[i]
			}
			supports.Rows, supports.Vectors = append(supports.Rows, row), append(supports.Vectors, p.X.RawRowView(i))
			machine.Coef = append(machine.Coef, l)
		}
	}
	return model
}

// ClassOrder returns the order of the rows with class -1 first.
func ClassOrder(y []float64) (order []int) {
	for _, label := range []float64{-1, 1} {
		order = append(order, lists.Where(len(y), func(i int) bool { return y[i] == label })...)
	}
	return order
}

// Reordered returns a symmetric matrix with its rows and columns in this order.
func Reordered(a mat.Symmetric, order []int) *mat.SymDense {
	out := mat.NewSymDense(len(order), nil)
	for i, p := range order {
		for j := i; j < len(order); j++ {
			out.SetSym(i, j, a.At(p, order[j]))
		}
	}
	return out
}

// ClassMatrix returns a picture of a symmetric matrix of points with rows and columns in the given
// order, and blocks marked if that sorts them by class. scale is passed to figure.Matrix.
func ClassMatrix(name, caption, entry string, a mat.Symmetric, y []float64, order []int, scale float64) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		m := figure.Matrix{Format: l.Format(0), Name: entry, Values: Reordered(a, order), Scale: scale, ClassNames: []string{"y = −1", "y = +1"}}
		m.Classes = lists.Map(order, func(i int) int { return Class(y[i]) })
		return m.Picture()
	}}
}

// FactorFigure returns the heat map of a model's conformal factor.
func FactorFigure(name, caption string, m *ml.Model, d *dataset.Data, s ml.Spec, change func(*figure.Scene)) Figure {
	return Figure{Name: name, Caption: caption, Draw: func(l Look) (*figure.Picture, error) {
		sc := ReshapedScene(m, d, s, l)
		if change != nil {
			change(&sc)
		}
		return figure.Conformal(l.Context(), sc)
	}}
}

// ReshapedScene returns the scene of a model on its data, over the two most informative columns if
// there are more.
func ReshapedScene(m *ml.Model, d *dataset.Data, s ml.Spec, l Look) figure.Scene {
	points := Must(m.Points(d, s))
	v, ok := m.View()
	if !ok {
		positive, _ := m.Sides(0)
		v = tellingView(d, positive)
	}
	sc := l.Scene(m, points, v, d.Classes, 2)
	sc.Cores = true
	return sc
}

// mostRows is the most rows used in lessons on conformal maps.
const mostRows = 200

// Few is Thin with a note about more than two classes: all but the last are merged.
func Few(d *dataset.Data) (*dataset.Data, []string) {
	thin, notes := Thin(d)
	if len(d.Classes) > 2 {
		notes = append(notes, fmt.Sprintf("%d classes: here the last, %s, against the others together.", len(d.Classes), LastClass(d)))
	}
	return thin, notes
}

// LastClass returns the class +1: the last.
func LastClass(d *dataset.Data) string { return d.Classes[len(d.Classes)-1] }

// Thin draws mostRows rows of a larger data set, stratified and always the same, with a note.
func Thin(d *dataset.Data) (*dataset.Data, []string) {
	n := len(d.Y)
	if n <= mostRows {
		return d, nil
	}
	class := lists.Map(d.Y, func(c int) float64 { return float64(c) })
	keep, _ := dataset.Split(class, 1-float64(mostRows)/float64(n), 1)
	thin := d.Subset(keep)
	Check(thin.Validate())
	return thin, []string{fmt.Sprintf("%d of the %d rows, for speed. The lab takes all.", len(keep), n)}
}

// TellingColumns returns the two columns whose class means are farthest apart in standard
// deviations; one for data with one column.
func TellingColumns(d *dataset.Data, positive string) []int {
	y, _, _, err := d.Binary(positive)
	Check(err)
	z := dataset.FitScaler(d.X).Apply(d.X)
	n := map[float64]float64{}
	for _, v := range y {
		n[v]++
	}
	apart := make([]float64, len(d.Features))
	columns := make([]int, len(apart))
	for j := range apart {
		columns[j] = j
		for i, v := range y {
			apart[j] += v / n[v] * z.At(i, j)
		}
		apart[j] = math.Abs(apart[j])
	}
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(apart[b], apart[a]) })
	columns = columns[:min(2, len(columns))]
	slices.Sort(columns)
	return columns
}

// tellingView returns the view over these columns, with the others at their means.
func tellingView(d *dataset.Data, positive string) dataset.View {
	columns := TellingColumns(d, positive)
	second := ""
	if len(columns) > 1 {
		second = d.Features[columns[1]]
	}
	return Must(dataset.ColumnView(d, d.Features[columns[0]], second))
}
