package dataset

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Generator generates data of one kind.
//
// The random numbers of object i depend on the seed only, not on n or the noise: a larger n
// keeps the first objects, and a small change of noise changes them little.
type Generator struct {
	Name, Label, Help string
	Kind              Kind          // kind of the generated objects
	Params            []param.Param // n, the number of objects, first; seed last

	// draw returns valid data for allowed values of all parameters, or param.Problems if they
	// do not fit together.
	draw func(values param.Values) (*Data, error)
}

// Bounds of generators of points.
const (
	maxPoints = 100_000
	maxNoise  = 2
)

// Generators lists the generators. Those of points have features x1 and x2 and alternating
// classes of equal size (up to one): -1 and 1, or 1, 2, … if there are more. Those for
// regression have features x1, or x1 and x2, and a value as label.
var Generators = append([]Generator{
	ofPoints("blobs", "Blobs", pointParams(2, "0.6"), points(blobs),
		"Two round clouds; noise is the spread of each."),
	ofPoints("moons", "Moons", pointParams(2, "0.15"), points(moons),
		"Two interleaved half circles; noise blurs them."),
	ofPoints("circles", "Circles", pointParams(2, "0.1"), points(circles),
		"A ring around a smaller ring; noise blurs them."),
	ofPoints("xor", "XOR", pointParams(2, "0.4"), points(xor),
		"Four clouds, opposite corners of a square in one class; noise is the spread of each."),
	ofPoints("spiral", "Spiral", pointParams(2, "0.08"), points(spiral),
		"Two arms wound one and a half times around each other; noise blurs them."),
	ofPoints("checkerboard", "Checkerboard", pointParams(2, "0.05"), points(checkerboard),
		"Four by four squares of alternating class; noise carries points across the edges."),
	ofPoints("separable", "Linearly separable", pointParams(2, "0.8"), points(separable),
		"Two classes on either side of an empty strip of width 0.5; noise is the depth of each side and never closes the strip."),
	ofPoints("pinwheel", "Pinwheel, three classes", pointParams(3, "0.12"), classPoints([]string{"1", "2", "3"}, pinwheel),
		"Three bent blades about a centre, each a class; noise blurs them."),
	ofPoints("cross", "Cross, five classes", pointParams(5, "0.4"), classPoints([]string{"1", "2", "3", "4", "5"}, cross),
		"A cloud in the middle of four others, each a class; noise is the spread of each."),
	ofPoints("sine", "Sine, for a regression", valueParams("0.2"), valuePoints(sine),
		"Values along a wave over one feature; noise is their error."),
	ofPoints("hill", "Hill and hollow, for a regression", valueParams("0.1"), valuePoints(hill),
		"Heights of a hill beside a hollow in the plane; noise is their error."),
	dnaGenerator,
}, graphGenerators...)

func ofPoints(name, label string, params []param.Param, draw func(param.Values) (*Data, error), help string) Generator {
	return Generator{Name: name, Label: label, Help: help, Kind: KindVectors, Params: params, draw: draw}
}

// seedParam is the seed of every generator.
var seedParam = param.Param{
	Name: "seed", Label: "seed", Kind: param.Integer, Default: "1",
	Min: 0, Max: math.MaxInt32,
	Help: "Random seed: same seed, same data.",
}

// folded marks a parameter as advanced.
func folded(p param.Param) param.Param {
	p.Folded = true
	return p
}

func pointParams(classes float64, noise string) []param.Param {
	return []param.Param{
		{
			Name: "n", Label: "points", Symbol: "n", Kind: param.Integer, Default: "200",
			Min: classes, Max: maxPoints, Low: 10, High: 2000, Log: true,
			Help: "Number of points, split evenly between classes.",
		},
		{
			Name: "noise", Label: "noise", Kind: param.Number, Default: noise,
			Min: 0, Max: maxNoise, Low: 0, High: 1,
			Help: "How far points stray from the pattern, as a standard deviation in the units of the axes.",
		},
		seedParam,
	}
}

// valueParams returns the parameters of generators of points with values.
func valueParams(noise string) []param.Param {
	ps := pointParams(2, noise)
	ps[0].Help = "Number of points."
	ps[1].Help = "How far values stray from the pattern, as a standard deviation in their own unit."
	return ps
}

// FindGenerator returns the generator with the given name. An error is param.Problems with the
// field generator.
func FindGenerator(name string) (Generator, error) {
	i := slices.IndexFunc(Generators, func(g Generator) bool { return g.Name == name })
	if i < 0 {
		names := lists.Map(Generators, func(g Generator) string { return g.Name })
		return Generator{}, param.Problems{{Field: "generator", Message: fmt.Sprintf("no generator %s: expected one of %s", quote(name), strings.Join(names, ", "))}}
	}
	return Generators[i], nil
}

// Generate returns generated data. Parameters without a value take their defaults. Mistakes
// are param.Problems.
func (g Generator) Generate(values param.Values) (*Data, error) {
	var problems param.Problems
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !param.Contains(g.Params, name) {
			problems.Add(name, "%s is not a parameter of the generator %s", name, g.Name)
		}
	}
	all := g.complete(values)
	for _, p := range g.Params {
		problems.Note(p.Name, p.Verify(all[p.Name]))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return g.draw(all)
}

// Title describes the generated data: "moons, 200 points".
func (g Generator) Title(values param.Values) string {
	n := g.Params[0]
	return fmt.Sprintf("%s, %s %s", g.Label, g.complete(values).Text(n.Name), n.Label)
}

// Origin describes how data were generated.
func (g Generator) Origin(values param.Values) string {
	b := "generated: " + g.Name
	for _, p := range g.Params {
		b += ", " + p.Name + " = " + g.complete(values).Text(p.Name)
	}
	return b
}

// complete returns the values with defaults for those missing.
func (g Generator) complete(values param.Values) param.Values {
	all := make(param.Values, len(g.Params))
	for _, p := range g.Params {
		all[p.Name] = p.Read(p.Default)
	}
	maps.Copy(all, values)
	return all
}

// Generate makes n points with the named generator: n from the number of classes to
// 100 000, noise from 0 to 2. Faults are returned as param.Problems with the fields generator, n
// and noise.
func Generate(name string, n int, noise float64, seed uint64) (*Data, error) {
	g, err := FindGenerator(name)
	if err != nil {
		return nil, err
	}
	return g.Generate(param.Values{"n": param.Of(n), "noise": param.Of(noise), "seed": param.Of(float64(seed))})
}

// generatorStream separates these random numbers from others with the same seed.
const generatorStream = 0x9e4e7a

// random returns the source of random numbers of a generator.
func random(values param.Values) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(values.Number("seed")), generatorStream))
}

// points returns a generator of points of two classes. point draws a point for the sign of its
// class; its draws do not depend on the noise.
func points(point func(rng *rand.Rand, sign, noise float64) (x1, x2 float64)) func(param.Values) (*Data, error) {
	return classPoints([]string{"-1", "1"}, func(rng *rand.Rand, class int, noise float64) (x1, x2 float64) {
		return point(rng, float64(2*class-1), noise)
	})
}

// classPoints returns a generator of points of these classes. point draws a point for a class
// index; its draws do not depend on the noise.
func classPoints(classes []string, point func(rng *rand.Rand, class int, noise float64) (x1, x2 float64)) func(param.Values) (*Data, error) {
	return func(values param.Values) (*Data, error) {
		rng, n, noise := random(values), values.Int("n"), values.Number("noise")
		x := mat.NewDense(n, 2, nil)
		y := make([]int, n)
		for i := range n {
			y[i] = i % len(classes)
			a, b := point(rng, y[i], noise)
			x.SetRow(i, []float64{a, b})
		}
		return &Data{Features: []string{"x1", "x2"}, Label: "label", X: x, Classes: slices.Clone(classes), Y: y}, nil
	}
}

// valuePoints returns a generator of points with values, rounded to four decimals. The draws of
// point do not depend on the noise.
func valuePoints(point func(rng *rand.Rand, noise float64) (x []float64, value float64)) func(param.Values) (*Data, error) {
	return func(values param.Values) (*Data, error) {
		rng, n, noise := random(values), values.Int("n"), values.Number("noise")
		var cells []float64
		labels := make([]string, n)
		for i := range labels {
			x, value := point(rng, noise)
			cells, labels[i] = append(cells, x...), strconv.FormatFloat(value, 'f', 4, 64)
		}
		d := &Data{Features: []string{"x1", "x2"}[:len(cells)/n], Label: "value", X: mat.NewDense(n, len(cells)/n, cells)}
		d.setLabels(tidyLabels(labels))
		return d, nil
	}
}

func blobs(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	return sign + noise*rng.NormFloat64(), sign + noise*rng.NormFloat64()
}

func moons(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	sin, cos := math.Sincos(math.Pi * rng.Float64())
	if sign > 0 {
		x1, x2 = 1-cos, 0.5-sin
	} else {
		x1, x2 = cos, sin
	}
	return x1 + noise*rng.NormFloat64(), x2 + noise*rng.NormFloat64()
}

func circles(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	r := 1.0
	if sign > 0 {
		r = 0.5
	}
	return r*cos + noise*rng.NormFloat64(), r*sin + noise*rng.NormFloat64()
}

func xor(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	x1, x2 = 1, sign // the class is the sign of x1 x2
	if rng.IntN(2) == 0 {
		x1, x2 = -x1, -x2
	}
	return x1 + noise*rng.NormFloat64(), x2 + noise*rng.NormFloat64()
}

func spiral(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	// The square root spreads points evenly along the arm of radius 0.2 to 2.
	r := math.Sqrt(rng.Float64())
	sin, cos := math.Sincos(3 * math.Pi * r)
	r = sign * (0.2 + 1.8*r)
	return r*cos + noise*rng.NormFloat64(), r*sin + noise*rng.NormFloat64()
}

func checkerboard(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	column := rng.IntN(4)
	row := 2 * rng.IntN(2) // rows 0 and 2, or 1 and 3
	if (column%2 == 0) != (sign > 0) {
		row++
	}
	x1, x2 = float64(column-2)+rng.Float64(), float64(row-2)+rng.Float64()
	return x1 + noise*rng.NormFloat64(), x2 + noise*rng.NormFloat64()
}

func separable(rng *rand.Rand, sign, noise float64) (x1, x2 float64) {
	const normal1, normal2, gap = 0.6, 0.8, 0.25 // a unit normal; half the strip
	along := 4*rng.Float64() - 2
	across := sign * (gap + noise*math.Abs(rng.NormFloat64()))
	return across*normal1 - along*normal2, across*normal2 + along*normal1
}

func pinwheel(rng *rand.Rand, class int, noise float64) (x1, x2 float64) {
	r := 0.3 + 1.7*rng.Float64()
	sin, cos := math.Sincos(2*math.Pi*float64(class)/3 + 0.9*r) // blades bend towards the outside
	return r*cos + noise*rng.NormFloat64(), r*sin + noise*rng.NormFloat64()
}

func cross(rng *rand.Rand, class int, noise float64) (x1, x2 float64) {
	const arm = 1.6
	if class > 0 { // the first is in the middle
		x2, x1 = math.Sincos(math.Pi / 2 * float64(class-1))
	}
	return arm*x1 + noise*rng.NormFloat64(), arm*x2 + noise*rng.NormFloat64()
}

func sine(rng *rand.Rand, noise float64) (x []float64, value float64) {
	at := 6 * rng.Float64()
	return []float64{at}, math.Sin(2*at) + noise*rng.NormFloat64()
}

func hill(rng *rand.Rand, noise float64) (x []float64, value float64) {
	x1, x2 := 6*rng.Float64()-3, 6*rng.Float64()-3
	bump := func(a, b float64) float64 { return math.Exp(-((x1-a)*(x1-a) + (x2-b)*(x2-b)) / 1.5) }
	return []float64{x1, x2}, 2*bump(-0.8, -0.5) - bump(1.5, 1.2) + noise*rng.NormFloat64()
}
