package dataset

import (
	"bytes"
	"compress/gzip"
	"embed"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/param"
)

// Builtin is a data set that comes with the program.
type Builtin struct {
	Slug, Name, Help string
	Source           string // where it comes from
	License          string // under which it may be passed on; empty: drawn by this program
	Kind             Kind   // of its objects

	load func() (*Data, error)
}

// Load returns the data, a copy of the caller's own.
func (b Builtin) Load() (*Data, error) { return b.load() }

const (
	uci         = "CC BY 4.0, UCI Machine Learning Repository"
	irisSource  = "R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7 (1936), 179-188"
	drawnSource = "drawn by the generator of the same name with its default settings, apart from the number of points"
)

// Builtins lists them: iris pairs on two features, all of iris, other sets that were measured,
// generated classics, strings and graphs.
var Builtins = []Builtin{
	{
		Slug: "iris-setosa-versicolor", Name: "Iris: setosa and versicolor",
		Help:   "Two species by length and width of the petal: linearly separable.",
		Source: irisSource, License: uci, Kind: KindVectors,
		load: irisSubset([]string{"setosa", "versicolor"}, "petal_length", "petal_width"),
	},
	{
		Slug: "iris-versicolor-virginica", Name: "Iris: versicolor and virginica, petal",
		Help:   "Two species whose petals overlap a little: a soft margin is needed.",
		Source: irisSource, License: uci, Kind: KindVectors,
		load: irisSubset([]string{"versicolor", "virginica"}, "petal_length", "petal_width"),
	},
	{
		Slug: "iris-sepal", Name: "Iris: versicolor and virginica, sepal",
		Help:   "The same two species by the sepal: hard, as the classes overlap widely.",
		Source: irisSource, License: uci, Kind: KindVectors,
		load: irisSubset([]string{"versicolor", "virginica"}, "sepal_length", "sepal_width"),
	},
	{
		Slug: "iris", Name: "Iris: all",
		Help:   "Three species and four features: choose two features or project, and pick a positive class.",
		Source: irisSource, License: uci, Kind: KindVectors,
		load: iris,
	},
	measured("wine", "Wine: three cultivars", "Thirteen measurements of wines from three cultivars: nearly separable once scaled.",
		"M. Forina et al., PARVUS, University of Genoa (1991); S. Aeberhard et al., UCI Machine Learning Repository (1992)", uci),
	measured("breast-cancer", "Breast cancer, Wisconsin", "Thirty measurements of cell nuclei: benign or malignant.",
		"W. H. Wolberg, W. N. Street and O. L. Mangasarian, UCI Machine Learning Repository (1995)", uci),
	measured("digits", "Digits, 8 × 8", "Images of handwritten digits, 64 pixels each: ten classes.",
		"E. Alpaydin and C. Kaynak, test set of Optical Recognition of Handwritten Digits, UCI Machine Learning Repository (1998)", uci),
	measured("heart", "Heart disease, Statlog", "Thirteen findings, scaled to [-1, 1]: heart disease (1) or none (-1).",
		"Statlog (Heart), UCI Machine Learning Repository; scaled as in LIBSVM's collection", uci),
	measured("pima", "Diabetes, Pima", "Eight findings of 768 women. A zero of glucose, pressure, triceps, insulin or mass is a missing value.",
		"J. W. Smith et al., Using the ADAP learning algorithm to forecast the onset of diabetes mellitus (1988); National Institute of Diabetes and Digestive and Kidney Diseases", "public domain, as listed by OpenML"),
	measured("sonar", "Sonar: mines and rocks", "Sixty energies of an echo: a metal cylinder (M) or a rock (R).",
		"R. P. Gorman and T. J. Sejnowski, Analysis of hidden units in a layered network trained to classify sonar targets, Neural Networks 1 (1988), 75-89", uci),
	measured("ripley", "Ripley's synthetic data", "Two classes in the plane, two clouds each: the best possible rule errs on 8 %.",
		"B. D. Ripley, Pattern Recognition and Neural Networks, Cambridge University Press (1996); the training set synth.tr", "GPL-2 or GPL-3, as part of the R package MASS"),
	drawn("moons", "Moons", "Two interleaved half circles: curved, almost separable.", 200),
	drawn("circles", "Circles", "A ring around a ring: no straight line helps.", 200),
	drawn("xor", "XOR", "Opposite corners share a class: the smallest problem a line cannot solve.", 200),
	drawn("spiral", "Spiral", "Two wound arms: a narrow kernel is needed.", 300),
	drawn("checkerboard", "Checkerboard", "Four by four squares: many bends in one boundary.", 400),
	drawn("blobs", "Blobs", "Two round clouds that overlap: a straight line is nearly the best there is.", 200),
	drawn("sine", "Sine", "A noisy wave over one feature: a curve is fitted to its values.", 60),
	drawn("hill", "Hill and hollow", "Heights in the plane: a surface is fitted to them.", 150),
	drawn("dna", "DNA with motifs", "Strings of four letters: the classes differ in a short word, planted with mutations.", 100),
	drawn("cycles", "Cycles and trees", "Graphs: those of one class have a ring, the others have none.", 100),
	drawn("molecules", "Molecules", "Graphs of atoms C, N and O: the classes differ in one group of three atoms.", 100),
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

// files holds the other sets that were measured, each as Encode writes it, packed by gzip. Wine,
// breast cancer and digits are as scikit-learn passes them on.
//
//go:embed builtin/*.csv.gz
var files embed.FS

// measured is a set that is read from a file of its slug, once.
func measured(slug, name, help, source, license string) Builtin {
	data := sync.OnceValues(func() (*Data, error) {
		f, err := files.Open("builtin/" + slug + ".csv.gz")
		if err != nil {
			return nil, err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		return Decode(z)
	})
	return Builtin{Slug: slug, Name: name, Help: help, Source: source, License: license, Kind: KindVectors, load: func() (*Data, error) {
		d, err := data()
		if err != nil {
			return nil, err
		}
		c := *d
		c.X, c.Y = mat.DenseCopyOf(d.X), slices.Clone(d.Y)
		c.Features, c.Classes = slices.Clone(d.Features), slices.Clone(d.Classes)
		return &c, nil
	}}
}

// drawn is a set of n generated objects, the other parameters as by default.
func drawn(generator, name, help string, n int) Builtin {
	g := Generators[slices.IndexFunc(Generators, func(g Generator) bool { return g.Name == generator })]
	if g.Kind == KindVectors { // studies and the lab draw others by the same generator
		name += ", noise " + g.complete(nil).Text("noise")
	}
	return Builtin{Slug: generator, Name: name, Help: help, Source: drawnSource, Kind: g.Kind, load: func() (*Data, error) {
		return g.Generate(param.Values{"n": param.Of(n)})
	}}
}
