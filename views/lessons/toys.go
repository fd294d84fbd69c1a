package lessons

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/views/figure"
)

// toy is a small data set of a lesson: points of the plane with labels ±1.
type toy struct {
	xy [][2]float64
	y  []float64
}

// separable are twelve points that a line can tell apart.
var separable = toy{
	[][2]float64{{-2.2, 0.4}, {-1.6, -1.1}, {-1.1, 0.9}, {-2.8, -0.6}, {-0.7, -1.9}, {-1.9, 1.8}, {1.1, 0.3}, {1.9, 1.4}, {0.7, 1.7}, {2.6, 0.1}, {1.6, -1.0}, {2.9, 1.9}},
	[]float64{-1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1},
}

// overlapping are seven points of each class that no line tells apart.
var overlapping = toy{
	[][2]float64{{-2.2, 0.4}, {-1.6, -1.1}, {-1.1, 0.9}, {-2.8, -0.6}, {-0.7, -1.9}, {-1.9, 1.8}, {1.2, -0.4}, {1.1, 0.3}, {1.9, 1.4}, {0.7, 1.7}, {2.6, 0.1}, {1.6, -1.0}, {2.9, 1.9}, {-0.7, 0.2}},
	[]float64{-1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1},
}

// toyLimits are the axes on which separable and overlapping are drawn.
var toyLimits = figure.Limits{XMin: -3.5, XMax: 3.5, YMin: -2.6, YMax: 2.6}

// stepToys are the points of the lessons that train step by step, by name. No line
// through the origin tells those that are apart from each other: they need a bias.
var stepToys = map[string]toy{
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

// drawn are n points of a generator, rounded to two places so that they fit into an
// address.
func drawn(generator string, n int, noise float64, seed uint64) (toy, error) {
	d, err := dataset.Generate(generator, n, noise, seed)
	if err != nil {
		return toy{}, err
	}
	t := toy{xy: make([][2]float64, n), y: make([]float64, n)}
	for i := range n {
		for j, v := range d.X.RawRowView(i) {
			t.xy[i][j] = math.Round(100*v) / 100
		}
		t.y[i] = float64(2*d.Y[i] - 1)
	}
	return t, nil
}

// data is the toy as a data set with the classes -1 and 1.
func (t toy) data() (*dataset.Data, error) {
	labels := make([]string, len(t.y))
	for i, y := range t.y {
		labels[i] = strconv.Itoa(int(y))
	}
	return dataset.FromPoints(t.xy, labels)
}

// matrix is the M x 2 matrix of the points.
func (t toy) matrix() *mat.Dense {
	x := mat.NewDense(len(t.xy), 2, nil)
	for i, p := range t.xy {
		x.SetRow(i, p[:])
	}
	return x
}

// lab is the query that opens the toy in the lab with these parameters, given as
// pairs of name and value. It does not standardise, as newSpec does not.
func (t toy) lab(pairs ...string) string {
	pairs = append([]string{"standardize", "false"}, pairs...)
	return labQuery("drawing", append(pairs, "points", t.csv())...)
}

// csv is the toy as the lab's points.
func (t toy) csv() string {
	var b strings.Builder
	for i, p := range t.xy {
		fmt.Fprintf(&b, "%g,%g,%g\n", p[0], p[1], t.y[i])
	}
	return b.String()
}

// without is the toy without point k.
func (t toy) without(k int) (rest toy) {
	for i := range t.y {
		if i != k {
			rest.xy, rest.y = append(rest.xy, t.xy[i]), append(rest.y, t.y[i])
		}
	}
	return rest
}

// byClass is the toy with the points of a class next to each other, those with this
// label first.
func (t toy) byClass(first float64) (sorted toy) {
	for _, label := range []float64{first, -first} {
		for i, y := range t.y {
			if y == label {
				sorted.xy, sorted.y = append(sorted.xy, t.xy[i]), append(sorted.y, y)
			}
		}
	}
	return sorted
}

// classes are the classes of the points as figures number them.
func (t toy) classes() (c []int) {
	for _, y := range t.y {
		c = append(c, class(y))
	}
	return c
}

// errors counts the points on the wrong side of f = 0, those on it included.
func (t toy) errors(f func(x, y float64) float64) (n int) {
	for i, p := range t.xy {
		if t.y[i]*f(p[0], p[1]) <= 0 {
			n++
		}
	}
	return n
}

// edges are the largest w·x of the negative class and the smallest of the positive
// one.
func (t toy) edges(w [2]float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for i, p := range t.xy {
		if s := w[0]*p[0] + w[1]*p[1]; t.y[i] > 0 {
			high = math.Min(high, s)
		} else {
			low = math.Max(low, s)
		}
	}
	return low, high
}

// middle is the bias that puts the line half-way between the classes.
func (t toy) middle(w [2]float64) float64 {
	low, high := t.edges(w)
	return -(low + high) / 2
}

// limits are the edges of a picture of the points.
func (t toy) limits() figure.Limits {
	l := figure.Limits{XMin: math.Inf(1), XMax: math.Inf(-1), YMin: math.Inf(1), YMax: math.Inf(-1)}
	for _, q := range t.xy {
		l = figure.Limits{XMin: min(l.XMin, q[0]-0.6), XMax: max(l.XMax, q[0]+0.6), YMin: min(l.YMin, q[1]-0.6), YMax: max(l.YMax, q[1]+0.6)}
	}
	return l
}

// dots are the points as marks of a drawing; ring tells which are ringed.
func (t toy) dots(ring func(i int) bool) (marks []figure.Mark) {
	for i, p := range t.xy {
		marks = append(marks, figure.Dot{At: p, Class: class(t.y[i]), Name: className(t.y[i])})
	}
	for i, p := range t.xy { // apart, for rings do not belong in the legend of a class
		if ring != nil && ring(i) {
			marks = append(marks, figure.Dot{At: p, Class: class(t.y[i]), Ring: true})
		}
	}
	return marks
}

// class is the colour and shape of a label.
func class(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// className is a class in a legend.
func className(y float64) string { return "y = " + signed(y) }

// classNames are the names of the classes that figures number 0 and 1.
func classNames() []string { return []string{className(-1), className(1)} }
