package dataset

import (
	"bytes"
	_ "embed"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Builtin is a data set that comes with the program.
type Builtin struct {
	Slug, Name, Help string
	Source           string // where it comes from
	Kind             Kind   // of its objects

	load func() (*Data, error)
}

// Load returns the data, a copy of the caller's own.
func (b Builtin) Load() (*Data, error) { return b.load() }

const (
	irisSource  = "R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7 (1936), 179-188"
	drawnSource = "drawn by this program's generator of the same name, everything but their number as by default"
)

// Builtins lists them: iris pairs on two features, all of iris, generated classics, strings.
var Builtins = []Builtin{
	{
		Slug: "iris-setosa-versicolor", Name: "Iris: setosa and versicolor",
		Help:   "Two species told apart by the petal: linearly separable.",
		Source: irisSource, Kind: KindVectors,
		load: irisSubset([]string{"setosa", "versicolor"}, "petal_length", "petal_width"),
	},
	{
		Slug: "iris-versicolor-virginica", Name: "Iris: versicolor and virginica, petal",
		Help:   "Two species whose petals overlap a little: a soft margin is needed.",
		Source: irisSource, Kind: KindVectors,
		load: irisSubset([]string{"versicolor", "virginica"}, "petal_length", "petal_width"),
	},
	{
		Slug: "iris-sepal", Name: "Iris: versicolor and virginica, sepal",
		Help:   "The same two species by the sepal: hard, for the classes overlap widely.",
		Source: irisSource, Kind: KindVectors,
		load: irisSubset([]string{"versicolor", "virginica"}, "sepal_length", "sepal_width"),
	},
	{
		Slug: "iris", Name: "Iris: all",
		Help:   "Three species and four features: choose two features or project, and pick a positive class.",
		Source: irisSource, Kind: KindVectors,
		load: iris,
	},
	drawn("moons", "Moons", "Two interleaved half circles: curved, almost separable.", 200),
	drawn("circles", "Circles", "A ring around a ring: no straight line helps.", 200),
	drawn("xor", "XOR", "Opposite corners share a class: the smallest problem a line cannot solve.", 200),
	drawn("spiral", "Spiral", "Two wound arms: a narrow kernel is needed.", 300),
	drawn("checkerboard", "Checkerboard", "Four by four squares: many bends in one boundary.", 400),
	drawn("blobs", "Blobs", "Two round clouds that overlap: a straight line is nearly the best there is.", 200),
	drawn("sine", "Sine: values", "A noisy wave over one feature: a curve is fitted to its values.", 60),
	drawn("hill", "Hill and hollow: values", "Heights in the plane: a surface is fitted to them.", 150),
	drawn("dna", "DNA with motifs", "Strings of four letters: a short word, planted with mutations, tells the classes apart.", 100),
	drawn("cycles", "Cycles and trees", "Graphs: those of one class have a ring, the others have none.", 100),
	drawn("molecules", "Molecules", "Graphs of atoms C, N and O: one group of three atoms tells the classes apart.", 100),
}

// FindBuiltin returns the data set of that slug.
func FindBuiltin(slug string) (Builtin, bool) {
	i := slices.IndexFunc(Builtins, func(b Builtin) bool { return b.Slug == slug })
	if i < 0 {
		return Builtin{}, false
	}
	return Builtins[i], true
}

// irisCSV holds Fisher's 150 measurements in centimetres.
//
//go:embed builtin/iris.csv
var irisCSV []byte

func iris() (*Data, error) { return Decode(bytes.NewReader(irisCSV)) }

// irisSubset loads the rows of some species on some features.
func irisSubset(species []string, features ...string) func() (*Data, error) {
	return func() (*Data, error) {
		all, err := iris()
		if err != nil {
			return nil, err
		}
		if all, err = all.Columns(features); err != nil {
			return nil, err
		}
		d := &Data{Features: all.Features, Label: all.Label}
		var values []float64
		var labels []string
		for i, c := range all.Y {
			if label := all.Classes[c]; slices.Contains(species, label) {
				values = append(values, all.X.RawRowView(i)...)
				labels = append(labels, label)
			}
		}
		d.X = mat.NewDense(len(labels), len(features), values)
		d.setLabels(labels)
		return d, nil
	}
}

// drawn is a set of n generated objects, the other parameters as by default.
func drawn(generator, name, help string, n int) Builtin {
	g := Generators[slices.IndexFunc(Generators, func(g Generator) bool { return g.Name == generator })]
	return Builtin{Slug: generator, Name: name, Help: help, Source: drawnSource, Kind: g.Kind, load: func() (*Data, error) {
		return g.Generate(param.Values{"n": param.Of(n)})
	}}
}
