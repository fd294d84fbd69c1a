package lessons

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/views/figure"
)

// Toy is a small data set of a lesson: points of the plane with labels ±1.
type Toy struct {
	XY [][2]float64
	Y  []float64
}

// Separable holds twelve linearly separable points.
var Separable = Toy{
	[][2]float64{{-2.2, 0.4}, {-1.6, -1.1}, {-1.1, 0.9}, {-2.8, -0.6}, {-0.7, -1.9}, {-1.9, 1.8}, {1.1, 0.3}, {1.9, 1.4}, {0.7, 1.7}, {2.6, 0.1}, {1.6, -1.0}, {2.9, 1.9}},
	[]float64{-1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1},
}

// Overlapping holds seven points per class that no line separates.
var Overlapping = Toy{
	[][2]float64{{-2.2, 0.4}, {-1.6, -1.1}, {-1.1, 0.9}, {-2.8, -0.6}, {-0.7, -1.9}, {-1.9, 1.8}, {1.2, -0.4}, {1.1, 0.3}, {1.9, 1.4}, {0.7, 1.7}, {2.6, 0.1}, {1.6, -1.0}, {2.9, 1.9}, {-0.7, 0.2}},
	[]float64{-1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1},
}

// ToyLimits holds the axes on which Separable and Overlapping are drawn.
var ToyLimits = figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.6, YMax: 2.6}

// StepToys holds the points of the lessons that train step by step, by name. No line through the
// origin separates the separable ones: they need a bias.
var StepToys = map[string]Toy{
	"apart": {
		[][2]float64{{-0.6, 0.2}, {0.2, -0.8}, {-1.0, 1.5}, {0.5, 0.9}, {-0.2, 2.1}, {1.9, 1.1}, {2.6, 0.3}, {1.6, 2.4}, {2.9, 1.9}, {2.1, -0.7}},
		[]float64{-1, -1, -1, -1, -1, 1, 1, 1, 1, 1},
	},
	"overlap": {
		[][2]float64{{-1.9, 0.5}, {-1.2, -1.1}, {-0.7, 1.3}, {-1.6, 1.9}, {1.0, -0.3}, {-0.2, -1.7}, {1.8, 0.7}, {0.8, 1.6}, {2.3, -1.0}, {1.5, -1.8}, {-0.5, 0.2}, {2.4, 1.9}},
		[]float64{-1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1},
	},
	"ring": {
		[][2]float64{{1.7, 0.3}, {0.9, 1.6}, {-0.6, 1.8}, {-1.7, 0.7}, {-1.5, -1.0}, {-0.1, -1.8}, {1.4, -1.2}, {0.1, 0.2}, {0.7, -0.4}, {-0.6, -0.4}, {0.4, 0.8}, {-0.5, 0.6}},
		[]float64{-1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1},
	},
}

// ToyOf returns the rows of a data set with two features and two classes.
func ToyOf(d *dataset.Data) (t Toy) {
	for i, y := range d.Y {
		t.XY, t.Y = append(t.XY, [2]float64(d.X.RawRowView(i))), append(t.Y, float64(2*y-1))
	}
	return t
}

// Drawn returns n generated points, rounded to two decimals so that they fit into a URL.
func Drawn(generator string, n int, noise float64, seed uint64) Toy {
	t := ToyOf(Must(dataset.Generate(generator, n, noise, seed)))
	for i := range t.XY {
		for j, v := range t.XY[i] {
			t.XY[i][j] = math.Round(100*v) / 100
		}
	}
	return t
}

// Data returns the toy as a data set with the classes -1 and 1.
func (t Toy) Data() *dataset.Data {
	return Must(dataset.FromPoints(t.XY, lists.Map(t.Y, func(y float64) string { return strconv.Itoa(int(y)) })))
}

// Matrix returns the M x 2 matrix of the points.
func (t Toy) Matrix() *mat.Dense {
	x := mat.NewDense(len(t.XY), 2, nil)
	for i, p := range t.XY {
		x.SetRow(i, p[:])
	}
	return x
}

// Lab returns the query that opens the toy in the lab with these parameters, given as pairs of
// name and value. Like NewSpec, it does not standardise.
func (t Toy) Lab(pairs ...string) string {
	pairs = append([]string{"standardize", "false"}, pairs...)
	return LabQuery("drawing", append(pairs, "points", t.CSV())...)
}

// CSV returns the toy in the notation of the lab's points.
func (t Toy) CSV() string {
	var b strings.Builder
	for i, p := range t.XY {
		fmt.Fprintf(&b, "%g,%g,%g\n", p[0], p[1], t.Y[i])
	}
	return b.String()
}

// Where returns the toy of the points that f selects.
func (t Toy) Where(f func(i int) bool) Toy {
	rows := lists.Where(len(t.Y), f)
	return Toy{XY: lists.At(t.XY, rows), Y: lists.At(t.Y, rows)}
}

// Without returns the toy without point k.
func (t Toy) Without(k int) Toy {
	return t.Where(func(i int) bool { return i != k })
}

// ByClass returns the toy sorted by class, points with label first first.
func (t Toy) ByClass(first float64) Toy {
	a := t.Where(func(i int) bool { return t.Y[i] == first })
	b := t.Where(func(i int) bool { return t.Y[i] != first })
	return Toy{XY: append(a.XY, b.XY...), Y: append(a.Y, b.Y...)}
}

// Classes returns the class numbers of the points for figures.
func (t Toy) Classes() []int { return lists.Map(t.Y, Class) }

// Weights returns w = sum u_j x_j.
func (t Toy) Weights(u []float64) (w [2]float64) {
	for i, v := range u {
		w[0] += v * t.XY[i][0]
		w[1] += v * t.XY[i][1]
	}
	return w
}

// Errors counts the points on the wrong side of f = 0, including those on it.
func (t Toy) Errors(f func(x, y float64) float64) int {
	return len(lists.Where(len(t.Y), func(i int) bool { return t.Y[i]*f(t.XY[i][0], t.XY[i][1]) <= 0 }))
}

// Edges returns the largest w·x of the negative class and the smallest of the positive
// one.
func (t Toy) Edges(w [2]float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for i, p := range t.XY {
		if s := w[0]*p[0] + w[1]*p[1]; t.Y[i] > 0 {
			high = math.Min(high, s)
		} else {
			low = math.Max(low, s)
		}
	}
	return low, high
}

// Middle returns the bias that puts the line half-way between the classes.
func (t Toy) Middle(w [2]float64) float64 {
	low, high := t.Edges(w)
	return -(low + high) / 2
}

// Limits returns the limits of a picture of the points.
func (t Toy) Limits() figure.Limits {
	l := figure.Limits{XMin: math.Inf(1), XMax: math.Inf(-1), YMin: math.Inf(1), YMax: math.Inf(-1)}
	for _, q := range t.XY {
		l = figure.Limits{XMin: min(l.XMin, q[0]-0.6), XMax: max(l.XMax, q[0]+0.6), YMin: min(l.YMin, q[1]-0.6), YMax: max(l.YMax, q[1]+0.6)}
	}
	return l
}

// Dots returns the points as marks of a drawing; ring selects those with a ring.
func (t Toy) Dots(ring func(i int) bool) []figure.Mark { return t.Ringed("", ring) }

// Ringed returns the points as marks of a drawing, those that ring selects with a ring and, unless
// name is empty, an entry in the legend.
func (t Toy) Ringed(name string, ring func(i int) bool) (marks []figure.Mark) {
	for i, p := range t.XY {
		marks = append(marks, figure.Dot{At: p, Class: Class(t.Y[i]), Name: ClassName(t.Y[i])})
	}
	for i, p := range t.XY { // separate marks: rings do not belong in the legend of a class
		if ring != nil && ring(i) {
			marks = append(marks, figure.Dot{At: p, Class: Class(t.Y[i]), Ring: true, Name: name})
		}
	}
	return marks
}

// Numbered returns the points as Dots does, with their numbers.
func (t Toy) Numbered(ring func(i int) bool) []figure.Mark {
	marks := t.Dots(ring)
	for i := range t.XY {
		dot := marks[i].(figure.Dot)
		dot.Label = strconv.Itoa(i + 1)
		marks[i] = dot
	}
	return marks
}

// Class returns the class number of a label, for its colour and shape.
func Class(y float64) int {
	return lists.CountTrue(y > 0)
}

// ClassName returns the name of a class in a legend.
func ClassName(y float64) string { return "y = " + Signed(y) }

// Named returns the names of classes for legends: the classes -1 and 1 of a toy become y = −1 and y = +1.
// Do not pass them to a Scene, which finds its points by their labels.
func Named(classes []string) []string {
	if slices.Equal(classes, []string{"-1", "1"}) {
		return ClassNames()
	}
	return classes
}

// ClassNames returns the names of classes 0 and 1.
func ClassNames() []string { return []string{ClassName(-1), ClassName(1)} }
